//! Commands of a plan that say nothing about the work: sentences, checks of existing files, tests that no plan writes.

use super::looks;
use super::missing;
use super::needed::whole;
use super::wording::is_code;
use crate::gate::runners::is_python;
use crate::operations::plans::calls::{Call, calls_of, started, unmarked};
use crate::operations::plans::commands::{self, PlannedTree, simple_commands};
use crate::operations::plans::directions;
use crate::operations::plans::found::{Found, Weight, quoted};
use crate::project::files::FileError;
use crate::project::plan::{PhasePlan, PlanCheck};
use crate::text::words::word_list;

/// The problems with the checks of a plan, apart from checks that cannot fail.
pub(super) fn findings(plan: &PhasePlan<'_>, tree: &PlannedTree<'_>) -> Result<Vec<Found>, FileError> {
    let mut found = Vec::new();
    for check in plan.checks() {
        let line = plan.line_at(check.at);
        found.extend(directions::finding(&check, line));
        let Some(command) = check.command.as_deref().filter(|command| !commands::is_sentinel(command)) else {
            continue;
        };
        let command = unmarked(command);
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

fn run_wrong(check: &PlanCheck, tree: &PlannedTree<'_>, line: usize) -> Result<Vec<Found>, FileError> {
    let command = unmarked(check.command.as_deref().unwrap_or_default());
    let mut found: Vec<Found> = commands::finding(check, tree, line)?.into_iter().collect();
    if found.is_empty() {
        found.extend(missing::finding(command, tree, line)?);
    }
    found.extend(looks::only_looks(command, tree, line));
    found.extend(looks::lost(command, line));
    if found.is_empty() {
        found.extend(missing_test(command, tree, line));
    }
    Ok(found)
}

/// True if a text that should be a command is a sentence.
fn is_prose(command: &str) -> bool {
    // Words that occur in sentences but are not arguments of a program.
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

/// How a program accepts the test files it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Paths,
    /// As a part of a path, anywhere.
    Parts,
}

/// Options without a value.
const ALONE: &[&str] = word_list!(
    "--run --test --silent --verbose --coverage --no-coverage --quiet --bail --ci --forceExit --runInBand
     --passWithNoTests --no-header --tb=short --lf --ff --cov --no-cov --watch=false --exitfirst"
);
/// Options of one letter with a value.
const WITH_VALUE: &[&str] = &["-k", "-m", "-n", "-p", "-c", "-t", "-o", "-W", "-g", "-r", "-u"];

/// Reports a test that a command names but that neither exists nor is written before.
fn missing_test(command: &str, tree: &PlannedTree<'_>, line: usize) -> Option<Found> {
    calls_of(command).iter().find_map(|call| {
        let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
        let (takes, arguments) = runner_of(&words)?;
        let missing = missing_path(takes, arguments, call, tree)?;
        // A part of a path may occur anywhere.
        let weight = if takes == Takes::Paths { Weight::Error } else { Weight::Warning };
        let sentence = format!(
            "`{}` runs the test `{missing}`, which does not exist, and neither this plan nor an earlier one writes it",
            quoted(command)
        );
        Some(Found::new(weight, line, sentence))
    })
}

/// The first argument of a test runner that is not an existing test.
fn missing_path<'a>(takes: Takes, arguments: &'a [&'a str], call: &Call, tree: &PlannedTree<'_>) -> Option<&'a str> {
    let is_there = |path: &str| {
        let Some(whole) = whole(path, call) else { return true };
        tree.has(&whole) || tree.is_folder(&whole) || tree.plans_inside(&whole)
    };
    let part = |path: &'a str| path.trim_start_matches("./");
    let paths = test_paths(arguments).find(|path| {
        !is_there(path) && !(takes == Takes::Parts && (tree.plans_any(part(path)) || has_part(part(path), tree)))
    });
    // `jest notes`
    let is_name = |word: &&&str| {
        word.chars().all(|letter| letter.is_alphanumeric() || "-_/.".contains(letter))
            && !is_code(word)
            && word.len() > 2
    };
    let names = arguments.first().filter(|_| takes == Takes::Parts).filter(is_name).copied();
    paths.or_else(|| {
        names.filter(|name| {
            !VERBS.contains(name) && !is_there(name) && !tree.plans_any(part(name)) && !has_part(part(name), tree)
        })
    })
}

/// Words of test runners that are not part of a path.
const VERBS: &[&str] = &["run", "watch", "related", "bench", "list", "dev", "typecheck", "test", "init", "complete"];

/// True if the path of some file of the project contains `part`.
fn has_part(part: &str, tree: &PlannedTree<'_>) -> bool {
    let part = part.to_lowercase();
    tree.paths().is_none_or(|paths| paths.iter().any(|path| path.to_lowercase().contains(&part)))
}

/// The arguments of a test runner, and how it accepts them.
fn runner_of<'a, 'w>(words: &'a [&'w str]) -> Option<(Takes, &'a [&'w str])> {
    if let Some(rest) = started(words) {
        return runner_of(rest);
    }
    let (program, arguments) = words.split_first()?;
    match program.rsplit('/').next()? {
        "pytest" | "py.test" | "rspec" | "phpunit" | "bats" | "mocha" => Some((Takes::Paths, arguments)),
        "vitest" => {
            let is_verb = arguments.first().is_some_and(|first| VERBS.contains(first));
            Some((Takes::Parts, &arguments[usize::from(is_verb)..]))
        }
        "jest" => Some((Takes::Parts, arguments)),
        "playwright" | "bun" if arguments.first() == Some(&"test") => Some((Takes::Parts, &arguments[1..])),
        "node" if arguments.contains(&"--test") => Some((Takes::Paths, arguments)),
        "npm" | "pnpm" | "yarn" | "bun" => {
            let is_verb = |word: &&&str| matches!(**word, "run" | "exec" | "x" | "dlx" | "--" | "-s" | "--silent");
            let at = arguments.iter().take_while(is_verb).count();
            let rest = &arguments[at..];
            rest.first().filter(|name| matches!(**name, "vitest" | "jest" | "mocha" | "playwright"))?;
            runner_of(rest)
        }
        name if is_python(name) && arguments.first() == Some(&"-m") && arguments.get(1) == Some(&"pytest") => {
            Some((Takes::Paths, &arguments[2..]))
        }
        _ => None,
    }
}

/// The file paths among the arguments of a test runner.
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
    fn a_sentence_is_not_a_command() {
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
    fn test_files_are_found_among_arguments() {
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
