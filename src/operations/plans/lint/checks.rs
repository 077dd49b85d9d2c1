//! Commands of a plan that say nothing of the work: sentences, looks at what is there anyway, tests that nobody writes.

use super::wording::is_code;
use crate::gate::lists::lists_of;
use crate::gate::runners::{STARTERS, is_python};
use crate::operations::plans::commands::{self, Tree, place_of, simple_commands};
use crate::operations::plans::directions;
use crate::operations::plans::found::{Found, Weight, quoted};
use crate::project::files::FileError;
use crate::project::plan::{PhasePlan, PlanCheck};

/// What is wrong with the checks of a plan, beyond those that cannot fail.
pub(super) fn findings(plan: &PhasePlan<'_>, tree: &Tree<'_>) -> Result<Vec<Found>, FileError> {
    let mut found = Vec::new();
    for check in plan.checks() {
        let line = plan.line_at(check.at);
        found.extend(directions::finding(&check, line));
        let Some(command) = check.command.as_deref().filter(|command| !commands::is_sentinel(command)) else {
            continue;
        };
        if is_prose(command) {
            let sentence = format!(
                "`{}` is not a command: write one that fails where the work is not right, and what a person looks at into \
                 <human-check>",
                quoted(command)
            );
            found.push(Found::error(line, sentence));
            continue;
        }
        found.extend(run_wrong(&check, tree, line)?);
    }
    Ok(found)
}

fn run_wrong(check: &PlanCheck, tree: &Tree<'_>, line: usize) -> Result<Vec<Found>, FileError> {
    let command = check.command.as_deref().unwrap_or_default();
    let mut found: Vec<Found> = commands::finding(check, tree, line)?.into_iter().collect();
    found.extend(only_looks(command, tree, line));
    if found.is_empty() {
        found.extend(missing_test(command, tree, line));
    }
    Ok(found)
}

/// Whether a text that should be a command is a sentence.
fn is_prose(command: &str) -> bool {
    // Words that stand between others in a sentence and are no arguments of a program.
    const BETWEEN: &[&str] =
        &["the", "that", "it", "is", "are", "by", "and", "a", "an", "with", "should", "looks", "works"];
    let first = simple_commands(command).into_iter().next().unwrap_or_default();
    let Some(program) = first.iter().find(|word| !word.contains('=')) else { return false };
    let is_plain = |word: &str| word.chars().all(|letter| letter.is_alphabetic() || "'’,;:.()".contains(letter));
    let plain = first.iter().filter(|word| is_plain(word)).count();
    let is_marked = first.iter().any(|word| word.starts_with('-') || word.contains(['$', '`', '|', '*']));
    if program.starts_with(char::is_uppercase) {
        // `Check by hand that it works`, but not `R CMD check` and `Rscript a.R`.
        let is_word = program.chars().skip(1).any(char::is_lowercase) && is_plain(program);
        return is_word && !is_marked && plain >= 2 && plain * 2 >= first.len();
    }
    first.len() >= 4 && plain == first.len() && first.iter().any(|word| BETWEEN.contains(&word.as_str()))
}

/// Programs that only look at files, with the options of `test` that do.
const LOOKS: &[&str] = &["ls", "cat", "stat", "file", "head", "tail", "wc", "find", "tree", "du"];
const TESTS: &[&str] = &["-e", "-f", "-d", "-r"];

/// A check that only sees that files are there.
fn only_looks(command: &str, tree: &Tree<'_>, line: usize) -> Option<Found> {
    let lists = lists_of(command)?;
    let mut paths: Vec<String> = Vec::new();
    for command in lists.iter().flatten() {
        let (program, arguments) = command.words.split_first()?;
        match (program.as_str(), arguments) {
            ("test", [option, path]) if TESTS.contains(&option.as_str()) => paths.push(path.clone()),
            ("[", [option, path, end]) if TESTS.contains(&option.as_str()) && end == "]" => paths.push(path.clone()),
            (name, _) if LOOKS.contains(&name) && arguments.iter().any(|word| word.starts_with("-exec")) => {
                return None;
            }
            ("find", _) => {
                paths.extend(arguments.iter().take_while(|word| !word.starts_with(['-', '(', '!'])).cloned());
            }
            (name, _) if LOOKS.contains(&name) => {
                let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
                paths.extend(arguments.iter().filter(|word| !word.starts_with('-') && !is_number(word)).cloned());
            }
            ("echo" | "printf" | "true", _) => {}
            _ => return None,
        }
    }
    if paths.is_empty() || paths.iter().any(|path| path.contains(['$', '*', '?'])) {
        return None;
    }
    let is_there = |path: &String| tree.is_file(path) || tree.is_folder(path);
    let told = quoted(command);
    Some(if paths.iter().all(is_there) {
        let sentence =
            format!("`{told}` passes before the work is begun, since all it looks for is there: check what is new");
        Found::error(line, sentence)
    } else {
        let sentence =
            format!("`{told}` only sees that something is there, and an empty file passes: check what is in it");
        Found::warning(line, sentence)
    })
}

/// How a program takes the files of tests it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Paths,
    /// A part of a path, wherever it is.
    Parts,
}

/// Options without a value behind them.
const ALONE: &[&str] = &[
    "--run",
    "--test",
    "--silent",
    "--verbose",
    "--coverage",
    "--no-coverage",
    "--quiet",
    "--bail",
    "--ci",
    "--forceExit",
    "--runInBand",
    "--passWithNoTests",
    "--no-header",
    "--tb=short",
    "--lf",
    "--ff",
    "--cov",
    "--no-cov",
    "--watch=false",
    "--exitfirst",
];
/// Options of one letter with a value behind them.
const WITH_VALUE: &[&str] = &["-k", "-m", "-n", "-p", "-c", "-t", "-o", "-W", "-g", "-r", "-u"];

/// A test that is run by name and that neither is there nor is written before.
fn missing_test(command: &str, tree: &Tree<'_>, line: usize) -> Option<Found> {
    let (folder, commands) = match place_of(command) {
        Some(place) if place.is_entered() && !place.raw.contains(['$', '`', '~', '"', '\'']) => {
            (format!("{}/", place.raw.trim_end_matches('/')), place.rest)
        }
        Some(_) => return None,
        None => (String::new(), simple_commands(command)),
    };
    for words in commands {
        let words: Vec<&str> = words.iter().map(String::as_str).skip_while(|word| word.contains('=')).collect();
        let Some((takes, arguments)) = runner_of(&words) else { continue };
        for path in test_paths(arguments) {
            let whole = format!("{folder}{path}");
            let is_there = tree.has(&whole) || tree.is_folder(&whole) || tree.plans_inside(&whole);
            let fits = is_there || (takes == Takes::Parts && tree.plans_any(path.trim_start_matches("./")));
            if !fits {
                // A part of a path may be anywhere.
                let weight = if takes == Takes::Paths { Weight::Error } else { Weight::Warning };
                let sentence = format!(
                    "`{}` runs the test `{path}`, which does not exist, and neither this plan nor an earlier one writes it",
                    quoted(command)
                );
                return Some(Found::new(weight, line, sentence));
            }
        }
    }
    None
}

/// The arguments of a test runner, and how it takes them.
fn runner_of<'a, 'w>(words: &'a [&'w str]) -> Option<(Takes, &'a [&'w str])> {
    let (program, arguments) = words.split_first()?;
    match *program {
        "pytest" | "py.test" | "rspec" | "phpunit" | "bats" | "mocha" => Some((Takes::Paths, arguments)),
        "vitest" | "jest" => Some((Takes::Parts, arguments)),
        "playwright" | "bun" if arguments.first() == Some(&"test") => Some((Takes::Parts, &arguments[1..])),
        "node" if arguments.contains(&"--test") => Some((Takes::Paths, arguments)),
        name if is_python(name) && arguments.first() == Some(&"-m") && arguments.get(1) == Some(&"pytest") => {
            Some((Takes::Paths, &arguments[2..]))
        }
        name if STARTERS.contains(&name) && name != "env" => {
            let at =
                arguments.iter().position(|word| !word.starts_with('-') && !matches!(*word, "run" | "exec" | "x"))?;
            // An option that leads elsewhere: `uv --directory app run pytest`.
            if arguments[..at].iter().any(|word| word.starts_with("--") && !matches!(*word, "--yes" | "--no-install")) {
                return None;
            }
            runner_of(&arguments[at..])
        }
        _ => None,
    }
}

/// The paths of files among the arguments of a test runner.
fn test_paths<'a>(arguments: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let has_value = |option: &str| {
        (option.starts_with("--") && !option.contains('=') && !ALONE.contains(&option)) || WITH_VALUE.contains(&option)
    };
    let words = arguments.iter().enumerate().filter(move |(at, word)| {
        !word.starts_with('-') && at.checked_sub(1).is_none_or(|before| !has_value(arguments[before]))
    });
    let paths = words.map(|(_, word)| word.trim_matches(['"', '\'']).split("::").next().unwrap_or_default());
    let paths = paths.take_while(|word| !word.contains(['<', '>']));
    paths.filter(|path| {
        (is_code(path) || path.rsplit_once('.').is_some_and(|(_, end)| end == "bats"))
            && !path.contains(['*', '?', '{', '$', '[', '(', ',', '|'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_no_command() {
        for prose in [
            "Check by hand that it works",
            "Run npm test and see that it passes",
            "Manual verification of the page",
            "see that the page looks right",
            "Visual inspection, then approve",
            "open the page and look at it",
        ] {
            assert!(is_prose(prose), "{prose}");
        }
        for command in [
            "npm test",
            "npm run test:unit",
            "R CMD check .",
            "Rscript tests/run.R",
            "go vet ./...",
            "cargo test notes store",
            "make check lint build test",
            "python3 -m unittest discover",
            "Get-ChildItem src | Measure-Object",
            "CI=1 npx vitest run notes",
            "node --test",
            "test -f a && grep -q b a",
            "bundle exec rake spec",
            "./gradlew test",
            "docker compose run web pytest",
            "! grep -q x y",
        ] {
            assert!(!is_prose(command), "{command}");
        }
    }

    #[test]
    fn the_files_of_tests_are_found_among_arguments() {
        let paths = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            runner_of(&words).map(|(_, arguments)| test_paths(arguments).map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(paths("npx vitest run src/a.test.ts --reporter x.js").unwrap(), ["src/a.test.ts"]);
        assert_eq!(paths("uv run pytest -q tests/a.py::test_b -k c.py").unwrap(), ["tests/a.py"]);
        assert_eq!(paths("node --test test/a.js").unwrap(), ["test/a.js"]);
        assert_eq!(paths("pytest tests").unwrap(), Vec::<String>::new());
        assert_eq!(paths("jest --config jest.config.js src/*.ts").unwrap(), Vec::<String>::new());
        assert_eq!(paths("cargo test"), None);
        assert_eq!(paths("uv --directory app run pytest a.py"), None);
    }
}
