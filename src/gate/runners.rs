//! Programs that run tests, as commands name them.

use super::check::Check;
use crate::project::check_files::fits;
pub(crate) use crate::project::declared_commands::python::is_python;
use crate::text::words::word_list;

/// What runs the tests of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestsRun {
    /// The program is a test runner.
    Itself,
    /// Its name says that it runs tests through another program: `npm test`, `make test`.
    ByOthers,
    /// Nothing is known.
    Unknown,
}

/// Programs that run tests and nothing else.
pub(super) const RUNNERS: &[&str] =
    &["pytest", "py.test", "nose2", "jest", "vitest", "mocha", "ava", "rspec", "phpunit", "bats", "karma", "ctest"];

/// Modules of Python that run tests.
pub(super) const MODULES: &[&str] = &["unittest", "pytest", "nose2", "nose", "green", "ward"];

/// Programs with a subcommand that runs tests.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("cargo", &["test", "t", "nextest"]),
    ("go", &["test"]),
    ("deno", &["test"]),
    ("bun", &["test"]),
    ("mix", &["test"]),
    ("swift", &["test"]),
    ("dotnet", &["test"]),
    ("playwright", &["test"]),
    ("zig", &["test"]),
];

/// Programs that start another one, which is named after them.
pub(crate) const STARTERS: &[&str] =
    &["npx", "bunx", "pnpx", "poetry", "uv", "uvx", "pipenv", "hatch", "pdm", "rye", "bundle", "env", "time", "nice"];

/// Package managers and others that run the project's tasks by name.
const BY_NAME: &[&str] =
    &["npm", "pnpm", "yarn", "bun", "make", "just", "task", "rake", "tox", "nox", "composer", "gradle", "mvn", "ant"];

/// Environment variables that change what runners, interpreters and loaders do.
const VARIABLES: &[&str] = word_list!(
    "BASH_ENV CARGO_* COVERAGE_PROCESS_START ENV GNUMAKEFLAGS GOFLAGS GRADLE_OPTS JAVA_TOOL_OPTIONS JEST_* LD_PRELOAD
     LD_LIBRARY_PATH MAKEFLAGS MAVEN_OPTS MOCHA_* NODE_OPTIONS NODE_PATH NODE_TEST_* PATH PERL5LIB PERL5OPT PYTEST_*
     PYTHONBREAKPOINT PYTHONHOME PYTHONOPTIMIZE PYTHONPATH PYTHONSTARTUP RUBYLIB RUBYOPT RUSTC_* RUSTDOCFLAGS RUSTFLAGS
     RUSTC SHELL TOX_* VITEST_* npm_config_*"
);

/// True if a variable of this name changes what a runner does.
pub(super) fn is_variable_of_runners(name: &str) -> bool {
    VARIABLES.iter().any(|pattern| fits(pattern, name))
}

/// Libraries that run tests or make assertions.
const LIBRARIES: &[&str] = word_list!(
    "ava chai check expect fast-check ginkgo go-cmp gomega hypothesis insta jasmine jest jsdom junit karma minitest
     mocha nose2 nock phpunit playwright pluggy proptest pytest quicktest rspec rstest sinon supertest tap testify tox
     ts-jest ts-node tsx uvu vitest"
);

/// True if a package of this name runs tests, or asserts in them.
pub(super) fn is_test_library(name: &str) -> bool {
    let name = name.trim_start_matches('@');
    let (scope, name) = name.rsplit_once('/').unwrap_or(("", name));
    let scope = scope.rsplit('/').next().unwrap_or_default();
    LIBRARIES.contains(&name)
        || LIBRARIES.contains(&scope)
        || name.starts_with("pytest-")
        || name.starts_with("pytest_")
}

/// Tools whose settings count only if a check runs them.
const LINTERS: &[&str] =
    &["ruff", "mypy", "eslint", "biome", "golangci-lint", "flake8", "pylint", "coverage", "tox", "hatch"];

/// The tools that are named in some lines, which decides whose settings count.
pub(super) fn tools_in<'a>(lines: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let words = lines
        .into_iter()
        .flat_map(|line| line.split(|letter: char| !(letter.is_alphanumeric() || "-_.".contains(letter))));
    words.filter(|word| {
        RUNNERS.contains(word)
            || MODULES.contains(word)
            || LINTERS.contains(word)
            || matches!(*word, "cargo" | "go" | "node" | "npm" | "pnpm" | "yarn" | "bun" | "--test")
    })
}

/// What runs the tests of a command, given as words.
pub(super) fn tests_run(words: &[&str]) -> TestsRun {
    let Some((program, arguments)) = words.split_first() else { return TestsRun::Unknown };
    let name = program.rsplit('/').next().unwrap_or_default();
    let has = |word: &str| arguments.contains(&word);
    if RUNNERS.contains(&name) {
        return TestsRun::Itself;
    }
    if is_python(program) {
        let module = arguments.iter().position(|word| *word == "-m").and_then(|at| arguments.get(at + 1));
        let is_runner = module.is_some_and(|module| MODULES.contains(module));
        return if is_runner { TestsRun::Itself } else { TestsRun::Unknown };
    }
    if name == "node" && arguments.iter().take_while(|word| word.starts_with('-')).any(|word| *word == "--test") {
        return TestsRun::Itself;
    }
    let first = arguments.iter().find(|word| !word.starts_with(['-', '+']));
    if let Some((_, subcommands)) = SUBCOMMANDS.iter().find(|(program, _)| *program == name)
        && first.is_some_and(|first| subcommands.contains(first))
    {
        // Without running the tests it is only a build.
        let only_builds = name == "cargo" && (has("--no-run") || has("list"));
        return if only_builds { TestsRun::Unknown } else { TestsRun::Itself };
    }
    // `hatch` has its own word for its tests; scripts of the project have any.
    if name == "hatch" && matches!(arguments, ["test" | "run", rest @ ..] if rest.is_empty() || rest == ["test"]) {
        return TestsRun::ByOthers;
    }
    if STARTERS.contains(&name) {
        let at = arguments.iter().position(|word| !word.starts_with('-') && !matches!(*word, "run" | "exec" | "x"));
        return at.and_then(|at| arguments.get(at..)).map_or(TestsRun::Unknown, tests_run);
    }
    let is_test = |word: &&&str| {
        **word == "t"
            || word.split(|letter: char| !letter.is_alphanumeric()).any(|part| part == "test" || part == "tests")
    };
    if BY_NAME.contains(&name) && (arguments.iter().any(|word| is_test(&word)) || matches!(name, "tox" | "nox")) {
        return TestsRun::ByOthers;
    }
    TestsRun::Unknown
}

/// What runs the tests of a command that was read before.
pub(super) fn tests_run_by(command: &str) -> TestsRun {
    let Some(Ok(check)) = Check::all_of(command).into_iter().next() else { return TestsRun::Unknown };
    tests_run(&check.words())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_are_distinguished_from_programs_that_call_them_and_from_others() {
        for (command, expected) in [
            ("pytest -q tests/a.py", TestsRun::Itself),
            ("python3.12 -B -m unittest tests.a", TestsRun::Itself),
            (".venv/bin/python -m pytest", TestsRun::Itself),
            ("uv run --frozen pytest", TestsRun::Itself),
            ("bundle exec rspec", TestsRun::Itself),
            ("./node_modules/.bin/vitest run", TestsRun::Itself),
            ("cargo +nightly test", TestsRun::Itself),
            ("cargo nextest run", TestsRun::Itself),
            ("node --test test/a.js", TestsRun::Itself),
            ("npm test", TestsRun::ByOthers),
            ("npm run test:unit", TestsRun::ByOthers),
            ("yarn t", TestsRun::ByOthers),
            ("make -s test", TestsRun::ByOthers),
            ("tox -e py", TestsRun::ByOthers),
            ("hatch test", TestsRun::ByOthers),
            ("hatch run test", TestsRun::ByOthers),
            ("cargo test --no-run", TestsRun::Unknown),
            ("cargo build", TestsRun::Unknown),
            ("node a.js --test", TestsRun::Unknown),
            ("python3 -m py_compile a.py", TestsRun::Unknown),
            ("python3 pytest.py", TestsRun::Unknown),
            ("npm run build", TestsRun::Unknown),
            ("make latest", TestsRun::Unknown),
            ("sh test.sh", TestsRun::Unknown),
        ] {
            assert_eq!(tests_run_by(command), expected, "{command}");
        }
    }
}
