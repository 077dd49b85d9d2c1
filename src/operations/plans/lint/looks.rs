//! Checks that only look at existing files, and checks whose result is lost.

use super::needed::whole;
use crate::gate::lists::{Joint, lists_of};
use crate::operations::plans::calls::{Call, calls_of};
use crate::operations::plans::commands::PlannedTree;
use crate::operations::plans::found::{Found, quoted};
use crate::text::words::word_list;

/// Programs that only look at files, with the options of `test` that do the same.
const LOOKS: &[&str] =
    &["ls", "cat", "stat", "file", "head", "tail", "wc", "find", "tree", "du", "realpath", "readlink"];
const TESTS: &[&str] = &["-e", "-f", "-d", "-r", "-s"];

/// What a program looks at.
enum Look {
    /// Files and folders.
    Paths(Vec<String>),
    /// A text in files; without paths, in the input from a pipe.
    Text { pattern: String, any_case: bool, paths: Vec<String> },
    /// An installed program or package.
    Installed,
    /// Proves nothing.
    Nothing,
}

/// Reports a check that only finds that something exists.
pub(super) fn only_looks(command: &str, tree: &PlannedTree<'_>, line: usize) -> Option<Found> {
    let is_chosen = |word: &str| matches!(word, "!" | "if" | "for" | "while" | "until" | "case");
    if command.contains(['$', '`', '*', '?']) || command.split_whitespace().any(is_chosen) {
        return None;
    }
    let calls = calls_of(command);
    let (mut seen, mut all_there, mut is_installed, mut has_text) = (Vec::new(), true, false, false);
    for call in &calls {
        match look(call)? {
            Look::Nothing => {}
            Look::Installed => is_installed = true,
            Look::Paths(paths) => {
                for path in paths {
                    let is_there = is_there(&path, call, tree);
                    // `test -s` of a new file proves something.
                    if !is_there && call.words.iter().any(|word| word == "-s") {
                        return None;
                    }
                    all_there &= is_there;
                    seen.push(whole(&path, call).unwrap_or_default());
                }
            }
            Look::Text { pattern, any_case, paths } if paths.is_empty() => {
                let is_named = tree.paths()?.iter().any(|path| {
                    let is_inside = seen.iter().any(|folder| path.starts_with(folder.as_str()));
                    is_inside && holds(path, &pattern, any_case)
                });
                all_there &= is_named;
            }
            Look::Text { pattern, any_case, paths } => {
                has_text = true;
                if !finds(&pattern, any_case, &paths, call, tree)? {
                    return None;
                }
            }
        }
    }
    let told = quoted(command);
    let sentence = if has_text {
        format!("`{told}` passes before the work is begun, since what it searches for is there: check what is new")
    } else if seen.is_empty() && is_installed {
        format!("`{told}` only sees that something is installed, and says nothing of the work: run what was made")
    } else if seen.is_empty() {
        return None;
    } else if all_there {
        let why = "passes before the work is begun, since all it looks for is there: check what is new";
        return Some(Found::error(line, format!("`{told}` {why}")));
    } else {
        format!("`{told}` only sees that something is there, and an empty file passes: check what is in it")
    };
    Some(Found::warning(line, sentence))
}

/// What a call looks at; `None` if it does more.
fn look(call: &Call) -> Option<Look> {
    let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
    let (program, arguments) = words.split_first()?;
    if program.contains('/') && !program.starts_with('/') {
        return None;
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = || arguments.iter().filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned());
    Some(match (name, arguments) {
        ("test", [option, path]) | ("[" | "[[", [option, path, "]" | "]]"]) if TESTS.contains(option) => {
            Look::Paths(vec![(*path).to_owned()])
        }
        ("command", ["-v", ..]) | ("which" | "type" | "hash", _) => Look::Installed,
        ("npm" | "pnpm" | "yarn", ["ls" | "list" | "why", ..]) | ("pip" | "pip3", ["show" | "list" | "freeze", ..]) => {
            Look::Installed
        }
        (name, _) if LOOKS.contains(&name) && arguments.iter().any(|word| word.starts_with("-exec")) => return None,
        ("find", _) => {
            let paths = arguments.iter().take_while(|word| !word.starts_with(['-', '(', '!']));
            Look::Paths(paths.map(|word| (*word).to_owned()).collect())
        }
        (name, _) if LOOKS.contains(&name) => {
            let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
            Look::Paths(plain().filter(|word| !is_number(word)).collect())
        }
        ("grep" | "egrep" | "fgrep" | "rg", _) => searched(name, arguments)?,
        ("echo" | "printf" | "true" | "exit", _) => Look::Nothing,
        _ => return None,
    })
}

/// What `grep` searches for, if its pattern is plain text.
fn searched(name: &str, arguments: &[&str]) -> Option<Look> {
    let options: Vec<&str> = arguments.iter().copied().take_while(|word| word.starts_with('-')).collect();
    let known = |option: &&str| {
        matches!(*option, "--quiet" | "--recursive" | "--ignore-case" | "--fixed-strings")
            || (!option.starts_with("--") && option[1..].chars().all(|letter| "qrRnilEFHhs".contains(letter)))
    };
    if !options.iter().all(known) {
        return None;
    }
    let (pattern, paths) = arguments.get(options.len()..)?.split_first()?;
    let has = |letters: &[char], long: &str| {
        options.iter().any(|option| *option == long || (!option.starts_with("--") && option.contains(letters)))
    };
    let is_literal = !pattern.contains(['.', '*', '+', '?', '[', ']', '^', '|', '(', ')', '{', '}', '\\']);
    if !is_literal || pattern.is_empty() || paths.iter().any(|path| path.starts_with('-')) {
        return None;
    }
    let goes_down = name == "rg" || has(&['r', 'R'], "--recursive");
    let mut paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    if paths.is_empty() && goes_down {
        paths.push(".".to_owned());
    }
    Some(Look::Text { pattern: (*pattern).to_owned(), any_case: has(&['i'], "--ignore-case"), paths })
}

fn is_there(path: &str, call: &Call, tree: &PlannedTree<'_>) -> bool {
    match whole(path, call) {
        Some(path) => tree.is_file(&path) || tree.is_folder(&path),
        // The folder itself, or a place outside the project.
        None => !path.starts_with('/') || tree.is_file(path) || tree.is_folder(path),
    }
}

fn holds(text: &str, pattern: &str, any_case: bool) -> bool {
    if any_case { text.to_lowercase().contains(&pattern.to_lowercase()) } else { text.contains(pattern) }
}

/// True if a text is in one of these files, or in a file below these folders; `None` if that is not looked up.
fn finds(pattern: &str, any_case: bool, paths: &[String], call: &Call, tree: &PlannedTree<'_>) -> Option<bool> {
    const MOST: usize = 500;
    let mut files: Vec<String> = Vec::new();
    for path in paths {
        match whole(path, call) {
            Some(path) if tree.is_file(&path) => files.push(path),
            Some(path) if tree.is_folder(&path) => {
                files.extend(tree.paths()?.into_iter().filter(|file| file.starts_with(&format!("{path}/"))));
            }
            None if path == "." && call.folder.is_empty() => files.extend(tree.paths()?),
            _ => return None,
        }
    }
    if files.len() > MOST {
        return None;
    }
    Some(files.iter().any(|file| tree.text(file).ok().flatten().is_some_and(|text| holds(&text, pattern, any_case))))
}

/// Reports a check whose result is lost, or that does not run what it names.
pub(super) fn lost(command: &str, line: usize) -> Option<Found> {
    let calls = calls_of(command);
    let mut words = calls.iter().flat_map(|call| call.words.iter().map(String::as_str));
    let idle = words.find(|word| {
        matches!(*word, "--passWithNoTests" | "--pass-with-no-tests" | "--if-present" | "--allowEmptySuite")
    });
    let told = quoted(command);
    if let Some(option) = idle {
        let sentence = format!("`{told}` passes where there is nothing to run: leave out `{option}`");
        return Some(Found::warning(line, sentence));
    }
    let is_cargo = |call: &Call, options: &[&str]| {
        call.words.first().is_some_and(|first| first == "cargo")
            && call.words.iter().any(|word| matches!(word.as_str(), "test" | "t" | "nextest"))
            && call.words.iter().any(|word| options.contains(&word.as_str()))
    };
    if let Some(call) = calls.last()
        && is_cargo(call, &["--no-run", "--list"])
    {
        return Some(Found::warning(line, format!("`{told}` builds the tests and runs none of them: run them")));
    }
    if command.contains("pipefail") || command.contains("PIPESTATUS") {
        return None;
    }
    for list in lists_of(command)? {
        for pair in list.windows(2) {
            let filter = pair[1].words.first().map(String::as_str).unwrap_or_default();
            let is_lost = pair[1].joint == Joint::Pipe && matches!(filter, "grep" | "egrep" | "rg" | "awk" | "sed");
            if is_lost && runs_tests(&pair[0].words) {
                let sentence = format!(
                    "`{told}` passes where `{}` fails, since only `{filter}` decides: run it without the pipe",
                    pair[0].words.join(" ")
                );
                return Some(Found::warning(line, sentence));
            }
        }
    }
    None
}

/// True if a command runs tests, judged by its words.
fn runs_tests(words: &[String]) -> bool {
    const WORDS: &[&str] =
        word_list!("test tests pytest vitest jest mocha nextest unittest ctest rspec phpunit check playwright bats");
    words.iter().take(5).any(|word| WORDS.contains(&word.as_str()) || word.starts_with("test:"))
        && !matches!(words.first().map(String::as_str), Some("ls" | "cat" | "find" | "git" | "echo" | "curl" | "test"))
}
