//! A test command as a program can run it: once, without watching for changes.

use serde_json::Value;

/// Package managers. If one of their scripts watches, an environment variable disables the interactive mode.
const MANAGERS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// The command, changed so that it ends on its own if a way is known; each part of a chain separately. `package` is the
/// text of the package.json with its scripts.
pub(crate) fn once(command: &str, package: Option<&str>) -> String {
    let package: Option<Value> = package.and_then(|text| serde_json::from_str(text).ok());
    let scripts = package.as_ref().and_then(|package| package.get("scripts"));
    let script = |name: &str| scripts?.get(name)?.as_str();
    let mut made = String::new();
    let mut rest = command;
    while let Some(at) = rest.find("&&") {
        made.push_str(&part_once(&rest[..at], script));
        made.push_str("&&");
        rest = &rest[at + 2..];
    }
    made.push_str(&part_once(rest, script));
    made
}

/// Changes one part of a chain; the blanks around it stay.
fn part_once<'text>(part: &str, script: impl Fn(&str) -> Option<&'text str>) -> String {
    let bare = part.trim();
    let (before, after) = (&part[..part.len() - part.trim_start().len()], &part[part.trim_end().len()..]);
    let words: Vec<&str> = bare.split_whitespace().collect();
    let position = |name: &str| words.iter().position(|word| *word == name);
    let made = if let Some(at) = position("vitest").filter(|at| leads_to(&words[..*at])) {
        vitest_once(&words, at)
    } else if let Some(at) = position("jest").filter(|at| leads_to(&words[..*at])) {
        jest_once(&words, at)
    } else if script_of(&words).and_then(script).is_some_and(watches) {
        Some(format!("CI=true {bare}"))
    } else {
        None
    };
    made.map_or_else(|| part.to_owned(), |made| format!("{before}{made}{after}"))
}

/// Whether the words before a runner only start it: a package manager, `npx`, and their flags.
fn leads_to(words: &[&str]) -> bool {
    words.iter().enumerate().all(|(at, word)| match at {
        0 => MANAGERS.contains(word) || matches!(*word, "npx" | "bunx" | "pnpx"),
        _ => word.starts_with('-') || matches!(*word, "exec" | "run" | "x" | "dlx"),
    })
}

/// The script of a package.json that a package manager should run.
fn script_of<'a>(words: &[&'a str]) -> Option<&'a str> {
    match words {
        [manager, "test" | "t", ..] if MANAGERS.contains(manager) => Some("test"),
        [manager, "run", name, ..] if MANAGERS.contains(manager) => Some(name),
        _ => None,
    }
}

/// Whether a script keeps running and watches for changes unless its environment is set to non-interactive.
fn watches(script: &str) -> bool {
    let words: Vec<&str> = script.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| match *word {
        "vitest" => vitest_once(&words, at).is_some(),
        "jest" => jest_once(&words, at).is_some(),
        "react-scripts" => words.get(at + 1) == Some(&"test") && !script.contains("--watchAll=false"),
        _ => false,
    })
}

/// `vitest` watches unless it gets an argument to run once.
fn vitest_once(words: &[&str], at: usize) -> Option<String> {
    const TOLD: &[&str] = &["run", "bench", "list", "related", "--run", "--no-watch", "--watch=false"];
    const WATCH: &[&str] = &["--watch", "-w", "--watch=true"];
    let arguments = &words[at + 1..];
    if arguments.iter().any(|word| TOLD.contains(word)) {
        return None;
    }
    let arguments = match arguments {
        ["watch" | "dev", rest @ ..] => rest,
        all => all,
    };
    let kept = arguments.iter().filter(|word| !WATCH.contains(word));
    let words = words[..=at].iter().chain(&["run"]).chain(kept);
    Some(words.copied().collect::<Vec<_>>().join(" "))
}

/// `jest` watches if it is asked to.
fn jest_once(words: &[&str], at: usize) -> Option<String> {
    let is_watch = |word: &str| word.starts_with("--watch") && !word.ends_with("=false");
    if !words[at + 1..].iter().any(|word| is_watch(word)) {
        return None;
    }
    let kept = words.iter().enumerate().filter(|(index, word)| *index <= at || !is_watch(word)).map(|(_, word)| *word);
    Some(kept.chain(["--watchAll=false"]).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::once;

    const WATCHING: &str =
        r#"{"scripts": {"test": "cross-env X=1 vitest", "test:unit": "jest --watch", "lint": "eslint ."}}"#;

    #[test]
    fn watchers_are_made_to_run_once() {
        for (command, made) in [
            ("vitest", "vitest run"),
            ("npx --yes vitest", "npx --yes vitest run"),
            ("pnpm exec vitest --coverage", "pnpm exec vitest run --coverage"),
            ("vitest --watch src/a.test.ts", "vitest run src/a.test.ts"),
            ("vitest watch", "vitest run"),
            ("cd app && vitest && echo x", "cd app && vitest run && echo x"),
            ("npx jest --watch=true -i", "npx jest -i --watchAll=false"),
            ("yarn jest --watchAll", "yarn jest --watchAll=false"),
            ("npm test", "CI=true npm test"),
            ("npm run test:unit", "CI=true npm run test:unit"),
            ("cd app && npm test", "cd app && CI=true npm test"),
        ] {
            assert_eq!(once(command, Some(WATCHING)), made, "{command}");
        }
    }

    #[test]
    fn a_command_that_ends_on_its_own_is_unchanged() {
        for command in [
            "",
            " ",
            "cargo test",
            "pytest -q",
            "jest",
            "jest --watch=false",
            "vitest run",
            "vitest --run",
            "vitest bench",
            "npm run build",
            "npm test",
            "npm  install",
            "echo vitest",
            "CI=1 vitest",
            "go test ./...",
            "grep -r  'vitest' .",
            "vitest --watch=false",
            "a  &&  b",
            "&&",
            "é && ü",
        ] {
            assert_eq!(once(command, None), command, "{command}");
        }
    }

    #[test]
    fn a_script_is_judged_by_what_it_runs() {
        let made = |script: &str| once("npm test", Some(&format!(r#"{{"scripts": {{"test": "{script}"}}}}"#)));
        for script in ["vitest", "tsc && vitest", "jest --watchAll", "react-scripts test"] {
            assert_eq!(made(script), "CI=true npm test", "{script}");
        }
        for script in ["vitest run", "vitest --run", "jest", "node --test", "mocha", "", "jest --watch=false"] {
            assert_eq!(made(script), "npm test", "{script}");
        }
        for package in ["{bad", "[]", "{}", r#"{"scripts": {"test": 1}}"#] {
            assert_eq!(once("npm test", Some(package)), "npm test", "{package}");
        }
    }
}
