//! Detects that a command tested nothing because a program it needs is not installed.

use super::python::is_python;
use crate::text::terminal::without_colours;
use crate::text::test_output::TestOutput;
use crate::text::words::word_list;

/// A program or module that a command needs and that is not installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// A program, or a module of the runner.
    pub(crate) what: String,
    /// How to install it.
    pub(crate) cure: String,
}

/// Python modules that are run with `-m` and that a project does not have in its own folder.
const MODULES: &[&str] = word_list!(
    "behave coverage green hatch nose nose2 nox pdm pipenv poetry pytest robot stestr testtools tox trial twisted
     unittest2 ward xdist"
);

/// How programs report that they cannot find another one: the text before its name, and the text after it.
const SAYINGS: &[(&str, &str)] = &[
    ("error: Failed to spawn: `", "`"),
    ("bun: command not found: ", ""),
    ("Error: the command ", " could not be found"),
    ("error Command \"", "\" not found."),
    ("ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL\u{2009} Command \"", "\" not found"),
    ("ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL  Command \"", "\" not found"),
    ("error: no such command: `", "`"),
];

/// Messages that other programs print too: they count if the command contains the name, or the exit code confirms it.
const PLAIN_SAYINGS: &[(&str, &str)] = &[("Command not found: ", ""), ("command not found: ", "")];

/// Package managers, and the command of each that installs the project's packages.
const INSTALLS: &[(&str, &str)] = &[
    ("uv", "`uv sync`, with the group or extra that has it"),
    ("poetry", "`poetry install`, with the group that has it"),
    ("pdm", "`pdm install`"),
    ("pipenv", "`pipenv install --dev`"),
    ("pnpm", "`pnpm install`"),
    ("yarn", "`yarn install`"),
    ("bun", "`bun install`"),
    ("npm", "`npm install`"),
    ("npx", "`npm install`"),
    ("node", "`npm install`"),
];

/// The program or module a command did not find, if nothing was tested because of that. A test that cannot import
/// something is a failure, and so is a missing file of the project.
pub(crate) fn missing(command: &str, exit_code: Option<i32>, output: &str) -> Option<Missing> {
    if exit_code == Some(0) {
        return None;
    }
    let seen = TestOutput::read(output);
    if seen.ran() > 0 || !seen.failing.is_empty() || seen.is_unloaded {
        return None;
    }
    let output = without_colours(output);
    let lines: Vec<&str> = output.lines().map(str::trim).collect();
    let said_127 = |line: &&str| line.ends_with("Error 127") || line.contains("exit code 127");
    let is_127 = exit_code == Some(127) || lines.iter().any(said_127);
    let in_shell = || lines.iter().rev().find_map(|line| of_shell(line)).filter(|_| is_127);
    let is_meant = |name: &String| is_127 || command.split_whitespace().any(|word| word == name);
    let said_plainly = || lines.iter().find_map(|line| of_saying(line, PLAIN_SAYINGS)).filter(is_meant);
    let said = || lines.iter().find_map(|line| of_saying(line, SAYINGS)).or_else(said_plainly);
    let program = || said().or_else(in_shell).filter(|what| !is_of_project(what));
    let what = lines.iter().find_map(|line| of_python(line)).or_else(|| of_node(&lines)).or_else(program)?;
    Some(Missing { cure: cure(command, &what), what })
}

/// Reads `/usr/bin/python3: No module named pytest`, Python's message for a missing `-m` module; for an import it
/// quotes `'pytest'`.
fn of_python(line: &str) -> Option<String> {
    let (program, module) = line.split_once(": No module named ")?;
    let is_runner = MODULES.contains(&module.split('.').next()?);
    (is_python(program.trim_end_matches(".exe")) && is_runner).then(|| module.to_owned())
}

/// Reads `sh: 1: vitest: not found`, `make: pytest: No such file or directory`,
/// `env: 'node': No such file or directory`.
fn of_shell(line: &str) -> Option<String> {
    let endings = [": command not found", ": not found", ": No such file or directory"];
    let before = endings.iter().find_map(|ending| line.strip_suffix(ending))?;
    let (_, name) = before.rsplit_once(": ")?;
    plain(name)
}

fn of_saying(line: &str, sayings: &[(&str, &str)]) -> Option<String> {
    sayings.iter().find_map(|(before, after)| {
        let rest = line.split_once(before).filter(|(left, _)| left.is_empty() || left.ends_with(' '))?.1;
        plain(if after.is_empty() { rest } else { rest.split_once(after)?.0 })
    })
}

/// A module of a package that is not installed, if only files of packages asked for it or no file did.
fn of_node(lines: &[&str]) -> Option<String> {
    let package = lines.iter().find_map(|line| {
        let (_, rest) = line.split_once("Cannot find package '")?;
        let (name, rest) = rest.split_once('\'')?;
        let from = rest.strip_prefix(" imported from ")?;
        (from.ends_with('/') || from.contains("/node_modules/")).then(|| name.to_owned())
    });
    if package.is_some() {
        return package;
    }
    let at = lines.iter().position(|line| line.contains("Cannot find module '"))?;
    let (_, rest) = lines.get(at)?.split_once("Cannot find module '")?;
    let (module, _) = rest.split_once('\'')?;
    let stack = lines.iter().position(|line| line.starts_with("requireStack:")).and_then(|start| {
        let end = lines[start..].iter().position(|line| line.contains(']'))?;
        Some(lines[start..=start + end].join(" "))
    })?;
    let asked: Vec<&str> = stack.split('\'').skip(1).step_by(2).collect();
    let is_of_packages = |path: &&str| path.contains("node_modules") || **path == *"internal/preload";
    let is_there = if asked.is_empty() { module.contains("node_modules") } else { asked.iter().all(is_of_packages) };
    let is_path = module.starts_with(['.', '/']) && !module.contains("node_modules");
    let name = module.rsplit_once("node_modules/").map_or(module, |(_, name)| name.trim_start_matches(".bin/"));
    (is_there && !is_path).then(|| name.to_owned())
}

/// The package that a program looked for and did not find, if it says so: by its name, without the part of it.
pub(crate) fn unfound(output: &str) -> Option<String> {
    let output = without_colours(output);
    let of_line = |line: &str| {
        let after = |before: &str| {
            let (_, rest) = line.split_once(before)?;
            Some(rest.split_once('\'')?.0.to_owned())
        };
        if let Some(name) = after("Cannot find module '").or_else(|| after("Cannot find package '")) {
            let parts = if name.starts_with('@') { 2 } else { 1 };
            let is_path = name.is_empty() || name.starts_with(['.', '/', '#']) || name.starts_with("node:");
            return (!is_path).then(|| name.split('/').take(parts).collect::<Vec<_>>().join("/"));
        }
        after("ModuleNotFoundError: No module named '")?.split('.').next().map(str::to_owned)
    };
    output.lines().find_map(of_line)
}

/// True if a file in which a project names its packages has this name as a whole word. Python spells one name in
/// several ways.
pub(crate) fn is_declared(manifest: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "@/-_.".contains(letter);
    let same = |text: &str| text.to_ascii_lowercase().replace(['_', '.'], "-");
    let name = same(name);
    !name.is_empty() && manifest.split(|letter| !is_part(letter)).any(|word| same(word) == name)
}

/// The name of a program without its quotes.
fn plain(name: &str) -> Option<String> {
    let name = name.trim().trim_matches(['\'', '`', '"', '\u{2018}', '\u{2019}']);
    (!name.is_empty() && !name.contains(char::is_whitespace)).then(|| name.to_owned())
}

/// Whether this is a file of the project, which the work may have lost, and not a program of an environment.
fn is_of_project(what: &str) -> bool {
    let of_packages = ["node_modules/", ".venv/", "venv/", "env/"];
    what.contains('/') && !what.starts_with('/') && !of_packages.iter().any(|folder| what.contains(folder))
}

fn cure(command: &str, what: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_manager = INSTALLS.iter().any(|(manager, _)| *manager == what);
    let install = INSTALLS.iter().find(|(manager, _)| !is_manager && words.contains(manager)).map(|(_, call)| *call);
    if what.contains('/') && is_python(what) {
        return "make the environment of the project, and install its packages into it".to_owned();
    }
    let is_of_node = what.contains("node_modules") || command.contains("node_modules");
    match install.or_else(|| is_of_node.then_some("`npm install`")) {
        Some(call) => format!("install the packages of the project ({call})"),
        None if words.first().is_some_and(|word| is_python(word)) => {
            format!("install `{what}` for the Python that the command starts")
        }
        None => format!("install `{what}`, so that it is in PATH"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(command: &str, code: i32, output: &str) -> Option<String> {
        missing(command, Some(code), output).map(|missing| missing.what)
    }

    #[test]
    fn a_missing_runner_is_named_with_its_fix() {
        let stack = "Error: Cannot find module '/p/node_modules/.bin/tape'\n    at x\n  code: 'MODULE_NOT_FOUND',\n  \
                     requireStack: []\n}";
        let preload = "Error: Cannot find module 'ts-node/register'\n  requireStack: [ 'internal/preload' ]\n";
        let inner = "Error: Cannot find module 'yargs'\n  requireStack: [\n    '/p/node_modules/jest/bin.js'\n  ]\n";
        for (command, code, output, name, cure) in [
            ("python3 -m pytest", 1, "/usr/bin/python3: No module named pytest\n", "pytest", "for the Python"),
            ("uv run python -m pytest", 1, "/p/.venv/bin/python3: No module named pytest", "pytest", "uv sync"),
            ("uv run pytest", 2, "error: Failed to spawn: `pytest`\n  Caused by: No such file", "pytest", "uv sync"),
            ("uv run pytest", 127, "sh: 1: uv: not found", "uv", "install `uv`"),
            ("poetry run pytest", 1, "Command not found: pytest", "pytest", "poetry install"),
            ("npm test", 127, "> t\n> vitest\n\nsh: 1: vitest: not found\n", "vitest", "npm install"),
            ("pnpm test", 1, "sh: vitest: command not found\n ELIFECYCLE  exit code 127", "vitest", "pnpm install"),
            ("yarn jest", 1, "error Command \"jest\" not found.", "jest", "yarn install"),
            ("make test", 2, "make: pytest: No such file or directory\nmake: *** [test] Error 127", "pytest", "PATH"),
            ("just test", 127, "sh: tape: not found\nerror: Recipe `test` failed with exit code 127", "tape", "PATH"),
            (".venv/bin/python -m pytest", 127, "sh: 1: .venv/bin/python: not found", ".venv/bin/python", "install"),
            ("node node_modules/.bin/tape", 1, stack, "tape", "npm install"),
            ("node -r ts-node/register a.js", 1, preload, "ts-node/register", "npm install"),
            ("npx jest", 1, inner, "yargs", "npm install"),
            ("cargo nextest run", 101, "error: no such command: `nextest`", "nextest", "install `nextest`"),
        ] {
            let found = missing(command, Some(code), output).unwrap_or_else(|| panic!("{command}: {output}"));
            assert_eq!(found.what, name, "{command}");
            assert!(found.cure.contains(cure), "{command}: {}", found.cure);
        }
    }

    #[test]
    fn a_failure_of_the_project_stays_a_failure() {
        let stack = "Error: Cannot find module 'tape'\n  requireStack: [ '/p/test/index.js' ]\n";
        let own = "Error: Cannot find module '/p/lib/a.js'\n  requireStack: []\n";
        for (command, code, output) in [
            ("python3 -m pytest", 2, "E   ModuleNotFoundError: No module named 'requests'\n=== 1 error in 0.1s ==="),
            ("python3 -m unittest", 1, "ModuleNotFoundError: No module named 'pytest'\n"),
            ("python3 -m mine.tests", 1, "/usr/bin/python3: No module named mine.tests"),
            ("python3 -m pytest", 1, "FAILED tests/a.py::b - x\nsh: 1: vitest: not found\n=== 1 failed in 0.1s ==="),
            ("npm test", 1, "sh: 1: tool: not found\n"),
            ("sh run.sh", 1, "Command not found: greet\n"),
            ("sh run.sh", 127, "run.sh: 3: ./build/tool: not found\n"),
            ("make test", 2, "make: ./run: No such file or directory\nmake: *** [test] Error 127"),
            ("node test", 1, stack),
            ("node lib/a.js", 1, own),
            ("npm test", 127, "exit"),
            ("npm test", 0, "sh: 1: vitest: not found"),
        ] {
            assert_eq!(what(command, code, output), None, "{command}: {output}");
        }
    }

    #[test]
    fn a_package_that_was_not_found_is_compared_with_those_that_the_project_names() {
        for (output, name) in [
            ("Error: Cannot find module '@a/b/lib/c'", Some("@a/b")),
            ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'tape' imported from /p/t.js", Some("tape")),
            ("E   ModuleNotFoundError: No module named 'ruamel.yaml'", Some("ruamel")),
            ("Error: Cannot find module './shelf'", None),
            ("all well", None),
        ] {
            assert_eq!(unfound(output).as_deref(), name, "{output}");
        }
        assert!(is_declared("dependencies = [\"Typing_Extensions>=4\"]", "typing_extensions"));
        assert!(is_declared("{\"@a/b\": \"1\"}", "@a/b") && !is_declared("requests-mock>=1", "requests"));
    }

    proptest::proptest! {
        #[test]
        fn any_output_is_read(text in "(?s)([a-z:' /\n`\\[\\]]|No module named|not found|requireStack:|Cannot find module '){0,40}") {
            let _ = missing(&text, Some(127), &text);
            let _ = unfound(&text);
        }
    }
}
