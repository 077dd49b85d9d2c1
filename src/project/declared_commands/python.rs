//! The test command of a Python project.

use super::{Declared, DeclaredBy};
use crate::project::files::{FileError, Files};

/// Lock files that show how a project starts Python: the file, and the words before the program.
const STARTERS: &[(&str, &str)] =
    &[("uv.lock", "uv run"), ("poetry.lock", "poetry run"), ("pdm.lock", "pdm run"), ("Pipfile", "pipenv run")];

/// Tables of a `pyproject.toml` that show the same without a lock file.
const TABLES: &[(&str, &str)] = &[("[tool.uv", "uv run"), ("[tool.poetry", "poetry run"), ("[tool.pdm", "pdm run")];

/// The Python of an environment in the project's folder: the file, and the path to type.
const ENVIRONMENTS: &[(&str, &str)] = &[
    (".venv/bin/python", ".venv/bin/python"),
    ("venv/bin/python", "venv/bin/python"),
    (".venv/Scripts/python.exe", "\".venv/Scripts/python.exe\""),
    ("venv/Scripts/python.exe", "\"venv/Scripts/python.exe\""),
];

/// Files that only pytest reads.
const OF_PYTEST: &[&str] = &["pytest.ini", ".pytest.ini", "pytest.toml", "conftest.py", "tests/conftest.py"];

/// Files with a section for pytest: the file, and the first line of the section.
const PART_OF_PYTEST: &[(&str, &str)] = &[("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")];

/// Files that list the packages a project needs for its tests.
const REQUIREMENTS: &[&str] =
    &["requirements-dev.txt", "requirements-test.txt", "dev-requirements.txt", "test-requirements.txt"];

/// Folders that may contain tests.
const FOLDERS: &[&str] = &["tests", "test"];

/// The most test files that are read to decide which runner they need.
const MOST_READ: usize = 40;

/// The pytest command, if the project is set up for pytest or has test files that pytest finds. If all of these are
/// written for `unittest`, which is part of Python, the command of `unittest`.
pub(super) fn test(files: &dyn Files) -> Result<Option<Declared>, FileError> {
    let pyproject = files.read("pyproject.toml")?.unwrap_or_default();
    let starter = Starter::of(files, &pyproject);
    let declared = |file: &str, command: String| Ok(Some(Declared::new(DeclaredBy::Python, file, command)));
    if let Some(command) = hatch(&pyproject) {
        return declared("pyproject.toml", command.to_owned());
    }
    if pyproject.contains("pytest") {
        return declared("pyproject.toml", starter.pytest());
    }
    for (file, part) in PART_OF_PYTEST {
        if files.read(file)?.is_some_and(|text| text.lines().any(|line| line.trim_end() == *part)) {
            return declared(file, starter.pytest());
        }
    }
    // A `conftest.py` shows which program runs tests, not that there are any.
    if let Some(file) = OF_PYTEST.iter().find(|file| !file.ends_with("conftest.py") && files.exists(file)) {
        return declared(file, starter.pytest());
    }
    let is_set_up = OF_PYTEST.iter().any(|file| files.exists(file));
    for folder in FOLDERS.iter().copied().chain([""]) {
        let tests = tests_in(files, folder)?;
        if tests.is_empty() {
            continue;
        }
        let is_of_unittest = !is_set_up && are_of_unittest(files, folder, &tests)?;
        let command = if is_of_unittest { starter.unittest(files, folder) } else { starter.pytest() };
        let of_root = || tests.first().map(String::as_str).unwrap_or_default();
        return declared(if folder.is_empty() { of_root() } else { folder }, command);
    }
    for file in REQUIREMENTS {
        if files.read(file)?.is_some_and(|text| text.lines().any(|line| line.trim().starts_with("pytest"))) {
            return declared(file, starter.pytest());
        }
    }
    Ok(None)
}

/// The command that runs the tests in environments it creates itself, for a project that declares nothing else.
pub(super) fn environments(files: &dyn Files) -> Result<Option<Declared>, FileError> {
    if files.read("tox.ini")?.is_some_and(|text| text.lines().any(|line| line.starts_with("[testenv"))) {
        return Ok(Some(Declared::new(DeclaredBy::Python, "tox.ini", "tox".to_owned())));
    }
    let nox = files.exists("noxfile.py").then(|| Declared::new(DeclaredBy::Python, "noxfile.py", "nox".to_owned()));
    Ok(nox)
}

/// How the Python of a project is started.
#[derive(Clone, Copy, Debug)]
enum Starter {
    /// A program that knows the environment: `uv run`.
    Manager(&'static str),
    /// The path of a Python.
    Python(&'static str),
}

impl Starter {
    fn of(files: &dyn Files, pyproject: &str) -> Self {
        let locked = STARTERS.iter().find(|(file, _)| files.exists(file));
        let has_table = |table: &str| pyproject.lines().any(|line| line.starts_with(table));
        let manager = locked.or_else(|| TABLES.iter().find(|(table, _)| has_table(table))).map(|(_, manager)| *manager);
        let environment = || ENVIRONMENTS.iter().find(|(path, _)| files.exists(path)).map(|(_, python)| *python);
        manager.map_or_else(|| Self::Python(environment().unwrap_or("python3")), Self::Manager)
    }

    fn python(self) -> String {
        match self {
            Self::Manager(manager) => format!("{manager} python"),
            Self::Python(python) => python.to_owned(),
        }
    }

    /// `python -m` makes the project's folder importable; other managers install the project.
    fn pytest(self) -> String {
        match self {
            Self::Manager(manager) if manager != "uv run" => format!("{manager} pytest"),
            starter => format!("{} -m pytest", starter.python()),
        }
    }

    fn unittest(self, files: &dyn Files, folder: &str) -> String {
        let python = self.python();
        if folder.is_empty() {
            return format!("{python} -m unittest discover");
        }
        let top = if files.exists(&format!("{folder}/__init__.py")) { " -t ." } else { "" };
        format!("{python} -m unittest discover -s {folder}{top}")
    }
}

/// The command that `hatch` has for tests.
fn hatch(pyproject: &str) -> Option<&'static str> {
    if pyproject.lines().any(|line| line.starts_with("[tool.hatch.envs.hatch-test")) {
        return Some("hatch test");
    }
    let scripts = pyproject.lines().skip_while(|line| line.trim_end() != "[tool.hatch.envs.default.scripts]").skip(1);
    let is_test = |line: &str| line.split_once('=').is_some_and(|(name, _)| name.trim() == "test");
    scripts.take_while(|line| !line.starts_with('[')).any(is_test).then_some("hatch run test")
}

/// The test files of a folder, by the names that pytest looks for.
fn tests_in(files: &dyn Files, folder: &str) -> Result<Vec<String>, FileError> {
    let is_test =
        |name: &str| name.strip_suffix(".py").is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"));
    let entries = files.list(folder)?.unwrap_or_default();
    Ok(entries.into_iter().filter(|entry| !entry.is_folder && is_test(&entry.name)).map(|entry| entry.name).collect())
}

/// Whether all tests of a folder are written for `unittest`, which finds tests in subfolders only if they are packages.
fn are_of_unittest(files: &dyn Files, folder: &str, tests: &[String]) -> Result<bool, FileError> {
    let can_be = tests.len() <= MOST_READ && tests.iter().all(|name| name.starts_with("test"));
    if !can_be || (!folder.is_empty() && has_tests_below(files, folder)?) {
        return Ok(false);
    }
    for name in tests {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if !files.read(&path)?.is_some_and(|text| is_of_unittest(&text)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a subfolder has Python tests.
fn has_tests_below(files: &dyn Files, folder: &str) -> Result<bool, FileError> {
    for entry in files.list(folder)?.unwrap_or_default().into_iter().filter(|entry| entry.is_folder) {
        let inside = files.list(&format!("{folder}/{}", entry.name))?.unwrap_or_default();
        if inside.iter().any(|entry| entry.name.strip_suffix(".py").is_some_and(|name| name.starts_with("test"))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a test is written for `unittest` and for no other runner.
fn is_of_unittest(text: &str) -> bool {
    let has_module = text.lines().any(|line| line.starts_with("import unittest") || line.starts_with("from unittest "));
    let is_of_pytest = |line: &str| line.starts_with("def test") || line.starts_with("async def test");
    has_module && !text.contains("pytest") && !text.lines().any(is_of_pytest)
}

/// Whether a word names a Python, with or without a version or a path.
pub(crate) fn is_python(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|version| version.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const UNITTEST: &str = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n";

    fn found(files: &[(&str, &str)]) -> Option<(String, String)> {
        let files = MemoryFiles::new(files.iter().copied());
        let declared = test(&files).unwrap().or(environments(&files).unwrap())?;
        Some((declared.commands.join(" && "), declared.file))
    }

    #[test]
    fn the_lock_file_or_the_environment_decides_how_python_is_started() {
        for (file, command) in [
            ("uv.lock", "uv run python -m pytest"),
            ("poetry.lock", "poetry run pytest"),
            ("pdm.lock", "pdm run pytest"),
            ("Pipfile", "pipenv run pytest"),
            (".venv/bin/python", ".venv/bin/python -m pytest"),
            ("venv/bin/python", "venv/bin/python -m pytest"),
            ("README.md", "python3 -m pytest"),
        ] {
            let files = [(file, ""), ("pytest.ini", "")];
            assert_eq!(found(&files), Some((command.to_owned(), "pytest.ini".to_owned())), "{file}");
        }
        let both = [("uv.lock", ""), (".venv/bin/python", ""), ("tests/test_a.py", UNITTEST)];
        assert_eq!(found(&both).unwrap().0, "uv run python -m unittest discover -s tests");
        let table = [("pyproject.toml", "[tool.poetry]\nname = 'a'\n[tool.pytest.ini_options]\n")];
        assert_eq!(found(&table).unwrap().0, "poetry run pytest");
    }

    #[test]
    fn each_place_where_pytest_is_set_up_counts() {
        for (file, text) in [
            ("pytest.ini", ""),
            ("setup.cfg", "[metadata]\nname = a\n[tool:pytest]\n"),
            ("tox.ini", "[tox]\n[testenv]\ncommands = x\n[pytest]\n"),
            ("pyproject.toml", "[tool.pytest.ini_options]\n"),
            ("requirements-dev.txt", "ruff\npytest>=8\n"),
        ] {
            assert_eq!(found(&[(file, text)]), Some(("python3 -m pytest".to_owned(), file.to_owned())), "{file}");
        }
        for (file, text) in [("setup.cfg", "[metadata]"), ("pyproject.toml", "[project]"), ("conftest.py", "")] {
            assert_eq!(found(&[(file, text)]), None, "{file}");
        }
    }

    #[test]
    fn test_files_without_settings_decide_their_runner() {
        for (files, command) in [
            (vec![("tests/test_a.py", "def test_a(): pass")], "python3 -m pytest"),
            (vec![("test/test_a.py", UNITTEST)], "python3 -m unittest discover -s test"),
            (vec![("test_a.py", UNITTEST)], "python3 -m unittest discover"),
            (vec![("test_a.py", UNITTEST), ("conftest.py", "")], "python3 -m pytest"),
            (vec![("test_a.py", "def test_a(): pass")], "python3 -m pytest"),
        ] {
            assert_eq!(found(&files).unwrap().0, command, "{files:?}");
        }
    }

    #[test]
    fn tox_nox_and_hatch_are_used_if_the_project_has_nothing_else() {
        let tox = ("tox.ini", "[tox]\n[testenv]\ncommands = x\n");
        assert_eq!(found(&[tox]).unwrap().0, "tox");
        assert_eq!(found(&[("noxfile.py", "")]).unwrap().0, "nox");
        assert_eq!(found(&[tox, ("tests/test_a.py", UNITTEST)]).unwrap().0, "python3 -m unittest discover -s tests");
        let scripts = "[tool.hatch.envs.default.scripts]\nlint = 'a'\ntest = 'pytest {args}'\n";
        assert_eq!(found(&[("pyproject.toml", scripts)]).unwrap().0, "hatch run test");
        assert_eq!(found(&[("pyproject.toml", "[tool.hatch.envs.hatch-test]\n")]).unwrap().0, "hatch test");
        let other = "[tool.hatch.envs.default.scripts]\nlint = 'a'\n[tool.other]\ntest = 'b'\n";
        assert_eq!(found(&[("pyproject.toml", other)]), None);
    }
}
