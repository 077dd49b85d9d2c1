//! Finds the checks of a unit: the first source that names any.

use super::cannot_fail::{cannot_fail, line_cannot_fail};
use super::check::{Check, Refused, Source};
use crate::project::declared_commands::{self, Aim, Declared, DeclaredBy, scripts};
use crate::project::files::{FileError, Files};

/// The sources of a unit's checks that come before the files of the project.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    /// The preference `verification_commands`.
    pub(crate) preference: &'a [String],
    /// What the plan says checks the work: a `Verify:` line, or several commands.
    pub(crate) verify: &'a [String],
}

/// The checks of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Discovery {
    pub(crate) source: Source,
    pub(crate) checks: Vec<Check>,
    /// Commands that this source or an earlier one names and that are not run.
    pub(crate) refused: Vec<Refused>,
}

/// The scripts of a `package.json` that are checks but not tests, in the order in which they run.
const LOOKING: &[&str] = &["typecheck", "lint"];

/// Finds the checks: from the preference, then the task's plan, then the files of the project.
pub(crate) fn discover(files: &dyn Files, wanted: Wanted<'_>) -> Result<Discovery, FileError> {
    let mut refused = Vec::new();
    let preference: Vec<_> = wanted.preference.iter().flat_map(|line| Check::all_of(line)).collect();
    let checks = accepted(preference, &mut refused);
    if !checks.is_empty() {
        return Ok(Discovery { source: Source::Preference, checks, refused });
    }
    let mut planned = Vec::new();
    for check in wanted.verify.iter().flat_map(|line| Check::all_of(line)) {
        planned.push(match check {
            Ok(check) if !check.looks_like_one() => Err(Refused::sentence(check.command())),
            Ok(check) => match cannot_fail(&check, files)? {
                Some(why) => Err(Refused::idle(check.command(), &why)),
                None => Ok(check),
            },
            // Even if a line needs a shell, it may be clear that it checks nothing.
            Err(refused) if !refused.command.contains('|') => {
                let why = line_cannot_fail(&refused.command);
                Err(why.map_or_else(|| refused.clone(), |why| Refused::idle(&refused.command, &why)))
            }
            refused => refused,
        });
    }
    let checks = accepted(planned, &mut refused);
    if !checks.is_empty() {
        return Ok(Discovery { source: Source::TaskPlan, checks, refused });
    }
    for (source, commands) in declared(files)? {
        let checks = accepted(commands.iter().flat_map(|command| Check::all_of(command)).collect(), &mut refused);
        if !checks.is_empty() {
            return Ok(Discovery { source, checks, refused });
        }
    }
    Ok(Discovery { source: Source::None, checks: Vec::new(), refused })
}

fn accepted(checks: Vec<Result<Check, Refused>>, refused: &mut Vec<Refused>) -> Vec<Check> {
    let mut kept: Vec<Check> = Vec::new();
    for check in checks {
        match check {
            Ok(check) if kept.contains(&check) => {}
            Ok(check) => kept.push(check),
            Err(why) => refused.push(why),
        }
    }
    kept
}

/// The checks that the files of the project declare, best first: those that examine the sources, then those that test
/// them.
fn declared(files: &dyn Files) -> Result<Vec<(Source, Vec<String>)>, FileError> {
    let looking = scripts(files, LOOKING)?.map(|scripts| scripts.commands).unwrap_or_default();
    let with_tests = |tests: Declared| {
        let source = match tests.by {
            DeclaredBy::Make => Source::Make,
            DeclaredBy::Just => Source::Just,
            DeclaredBy::Package => Source::PackageJson,
            DeclaredBy::Python => Source::PythonProject,
            DeclaredBy::NodeTestFiles => Source::NodeTestFile,
            DeclaredBy::Cargo => Source::Cargo,
            DeclaredBy::Go => Source::Go,
        };
        (source, looking.iter().cloned().chain(tests.commands).collect())
    };
    let mut declared: Vec<(Source, Vec<String>)> =
        declared_commands::declared(files, Aim::Test)?.into_iter().map(with_tests).collect();
    declared.push((Source::PackageJson, looking.clone()));
    Ok(declared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    fn found(wanted: Wanted<'_>, files: &[(&str, &str)]) -> (Source, Vec<String>, usize) {
        let found = discover(&MemoryFiles::new(files.iter().copied()), wanted).unwrap();
        (found.source, found.checks.iter().map(ToString::to_string).collect(), found.refused.len())
    }

    fn declared(files: &[(&str, &str)]) -> (Source, Vec<String>) {
        let (source, checks, _) = found(Wanted::default(), files);
        (source, checks)
    }

    #[test]
    fn the_first_source_that_names_a_check_wins() {
        let files = [("Cargo.toml", ""), ("package.json", r#"{"scripts": {"test": "node --test"}}"#)];
        let preference = ["just check".to_owned()];
        let verify = ["cargo test index".to_owned()];
        let both = Wanted { preference: &preference, verify: &verify };
        assert_eq!(found(both, &files), (Source::Preference, vec!["just check".to_owned()], 0));
        let verify = ["cargo test index".to_owned(), "`cargo clippy`".to_owned()];
        let plan = Wanted { preference: &[], verify: &verify };
        assert_eq!(
            found(plan, &files),
            (Source::TaskPlan, vec!["cargo test index".to_owned(), "cargo clippy".to_owned()], 0)
        );
        assert_eq!(found(Wanted::default(), &files).0, Source::PackageJson);
    }

    #[test]
    fn a_plan_with_only_refused_commands_is_skipped_and_they_are_named() {
        let files = [("go.mod", "")];
        let verify = ["All tests pass && cat x | grep y".to_owned()];
        let plan = Wanted { preference: &[], verify: &verify };
        assert_eq!(found(plan, &files), (Source::Go, vec!["go test ./...".to_owned()], 2));
        assert_eq!(found(Wanted::default(), &[]), (Source::None, vec![], 0));
    }

    #[test]
    fn a_planned_command_that_cannot_fail_is_skipped_and_named() {
        let files = [("go.mod", ""), ("package.json", r#"{"scripts": {"ok": "true"}}"#)];
        for verify in ["true", "echo ok && npm run ok", "make -n test"] {
            let lines = [verify.to_owned()];
            let plan = Wanted { preference: &[], verify: &lines };
            let discovery = discover(&MemoryFiles::new(files.iter().copied()), plan).unwrap();
            assert_eq!((discovery.source, discovery.checks.len()), (Source::Go, 1), "{verify}");
            assert!(discovery.refused.iter().all(|refused| refused.to_string().contains("it cannot fail")), "{verify}");
        }
        let verify = ["echo ok && go vet ./...".to_owned()];
        let both = Wanted { preference: &[], verify: &verify };
        assert_eq!(found(both, &files), (Source::TaskPlan, vec!["go vet ./...".to_owned()], 1));
    }

    #[test]
    fn a_planned_command_that_cannot_fail_is_named_in_every_spelling() {
        for verify in ["timeout 5 true", "python3 -c \"import sys; sys.exit(0)\"", "sh -c 'true; true'"] {
            let lines = [verify.to_owned()];
            let plan = Wanted { preference: &[], verify: &lines };
            let discovery = discover(&MemoryFiles::new([("go.mod", "")]), plan).unwrap();
            assert!(discovery.refused.iter().all(Refused::is_idle), "{verify}: {:?}", discovery.refused);
            assert_eq!((discovery.source, discovery.refused.len()), (Source::Go, 1), "{verify}");
        }
        let lines = ["timeout 60 make test".to_owned(), "python3 -c \"import a; a.run()\"".to_owned()];
        let discovery = discover(&MemoryFiles::new([]), Wanted { preference: &[], verify: &lines }).unwrap();
        assert_eq!(discovery.checks.len(), 1);
        assert!(discovery.refused.iter().all(|refused| !refused.is_idle()), "{:?}", discovery.refused);
    }

    #[test]
    fn files_declare_checks_in_a_fixed_order() {
        let all = r#"{"scripts": {"test": "vitest", "lint": "eslint .", "typecheck": "tsc --noEmit", "build": "x"}}"#;
        let scripts = ["npm run typecheck", "npm run lint", "CI=true npm test"].map(str::to_owned).to_vec();
        assert_eq!(declared(&[("package.json", all), ("Cargo.toml", "")]), (Source::PackageJson, scripts));
        let pytest = vec!["python3 -m pytest".to_owned()];
        for file in ["tests/test_a.py", "tests/a_test.py", "pytest.ini"] {
            assert_eq!(declared(&[(file, ""), ("Cargo.toml", "")]), (Source::PythonProject, pytest.clone()), "{file}");
        }
        assert_eq!(declared(&[("pyproject.toml", "[tool.pytest.ini_options]")]), (Source::PythonProject, pytest));
        let unittest = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n";
        for (files, command) in [
            (vec![("tests/test_a.py", unittest)], "python3 -m unittest discover -s tests"),
            (
                vec![("tests/test_a.py", unittest), ("tests/__init__.py", "")],
                "python3 -m unittest discover -s tests -t .",
            ),
            (
                vec![("tests/test_a.py", unittest), ("tests/test_b.py", "def test_b():\n    pass\n")],
                "python3 -m pytest",
            ),
            (vec![("tests/test_a.py", unittest), ("tests/b_test.py", unittest)], "python3 -m pytest"),
            (vec![("tests/test_a.py", unittest), ("tests/conftest.py", "")], "python3 -m pytest"),
            (vec![("tests/test_a.py", unittest), ("tests/unit/test_b.py", unittest)], "python3 -m pytest"),
        ] {
            assert_eq!(declared(&files), (Source::PythonProject, vec![command.to_owned()]), "{files:?}");
        }
        let node = vec!["node a.test.js".to_owned(), "node test-b.mjs".to_owned()];
        let files = [("a.test.js", ""), ("test-b.mjs", ""), ("c.js", ""), ("package.json", "{}")];
        assert_eq!(declared(&files), (Source::NodeTestFile, node));
        assert_eq!(declared(&[("Makefile", "test: all\n")]), (Source::Make, vec!["make test".to_owned()]));
        assert_eq!(declared(&[("Makefile", "tests:\n")]), (Source::None, vec![]));
        let linted = ("package.json", r#"{"scripts": {"lint": "eslint .", "test": "tape"}}"#);
        let commands = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let make = declared(&[("Makefile", "test: all\n"), linted]);
        assert_eq!(make, (Source::Make, commands(&["npm run lint", "make test"])));
        assert_eq!(declared(&[("justfile", "test:\n  a\n")]), (Source::Just, commands(&["just test"])));
        let only_linted = ("package.json", r#"{"scripts": {"lint": "eslint ."}}"#);
        assert_eq!(declared(&[only_linted]), (Source::PackageJson, commands(&["npm run lint"])));
    }
}
