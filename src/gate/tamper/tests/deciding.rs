//! Edits of settings that decide a check, and of names by which runners find tests: cheats, and honest edits.

use super::super::{Finding, Weakening, Work, inspect};
use super::text::{EditedFile, changes, discovery};
use crate::gate::pins::{Pins, Planned};
use crate::project::files::MemoryFiles;
use crate::project::self_running::SelfRunning;

/// The edit's name, the check, the files that the plan names, and the files before and after.
pub(super) type Case<'a> = (&'a str, &'a str, &'a [&'a str], &'a [EditedFile<'a>]);

pub(super) fn found((_, command, expected, texts): &Case<'_>) -> Vec<Finding> {
    let before: Vec<_> =
        texts.iter().filter(|(_, before, _)| *before != "-").map(|(path, before, _)| (*path, *before)).collect();
    let memory = MemoryFiles::new(before.iter().copied());
    let paths: Vec<String> = before.iter().map(|(path, _)| (*path).to_owned()).collect();
    let (allowed, expected): (Vec<&str>, Vec<&str>) = expected.iter().partition(|path| path.starts_with("allowed:"));
    let plan: Vec<String> = allowed.iter().map(|path| path.replace("allowed:", "Allowed test changes: ")).collect();
    let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
    let discovery = discovery(command);
    let planned = Planned {
        discovery: &discovery,
        earlier: &[],
        paths: &paths,
        expected: &expected,
        plan: &plan.join("\n"),
        is_fix: false,
    };
    let pins = Pins::of(&memory, planned).unwrap();
    inspect(Work { pins: &pins, changes: &changes(texts), now: None, absent: &[], running: &SelfRunning::default() })
        .findings
}

const UNIT: &str = "python3 -m unittest discover -s tests";
const A_PY: &str = "import unittest\n\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n";
const P_PY: &str = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";
const CHECK_PY: &str = "from calc import add\n\n\ndef check_add():\n    assert add(1, 2) == 3\n\n\ndef test_other():\n    assert add(0, 0) == 0\n";
const C_PY: &str =
    "from calc import add\n\n\nclass TestCalc:\n    def test_add(self):\n        assert add(1, 2) == 3\n";
const A_JS: &str = "const { add } = require('../src/add')\n\nit('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\n";
const A_GO: &str = "package a\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"sum\")\n\t}\n}\n";
const A_RS: &str = "use a::add;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
const L_RS: &str = "pub mod calc;\n\n#[cfg(test)]\nmod calc_checks;\n";

const T_PY: EditedFile<'_> = ("tests/test_a.py", A_PY, A_PY);
const T_JS: EditedFile<'_> = ("test/a.test.js", A_JS, A_JS);
const T_RS: EditedFile<'_> = ("tests/a.rs", A_RS, A_RS);
const PACKAGE: &str = r##"{"scripts": {"test": "node --test"}, "imports": {"#add": "./src/add.js"}, "devDependencies": {"jest": "^29.0.0"}}"##;
const MAKE: &str =
    "PY = python3\nFLAGS = -q\n\ntest: unit\n\nunit:\n\t$(PY) -m unittest $(FLAGS)\n\nbuild:\n\techo a\n";

const CHEATS: &[Case<'_>] = &[
    // Tests that are renamed so that they do not run.
    ("a function is no test any more", "pytest", &[], &[("tests/test_a.py", P_PY, CHECK_PY)]),
    (
        "a function is no test any more, and another one is",
        UNIT,
        &[],
        &[(
            "tests/test_a.py",
            A_PY,
            "import unittest\n\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n    def check_add(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n",
        )],
    ),
    (
        "a file of tests is called otherwise",
        UNIT,
        &[],
        &[("tests/test_a.py", A_PY, "-"), ("tests/a_check.py", "-", A_PY)],
    ),
    (
        "a file of tests is called otherwise for pytest",
        "pytest",
        &[],
        &[("tests/test_a.py", P_PY, "-"), ("tests/testa.py", "-", P_PY)],
    ),
    (
        "a file of tests goes where no check looks",
        UNIT,
        &[],
        &[("tests/test_a.py", A_PY, "-"), ("other/tests/test_a.py", "-", A_PY), ("tests/test_b.py", "", "")],
    ),
    (
        "a file of tests goes into a hidden folder",
        "pytest",
        &[],
        &[("tests/test_a.py", P_PY, "-"), ("tests/.old/test_a.py", "-", P_PY)],
    ),
    (
        "a test in JavaScript is called otherwise",
        "npx jest",
        &[],
        &[("test/a.test.js", A_JS, "-"), ("test/a.checks.js", "-", A_JS)],
    ),
    (
        "a test in JavaScript leaves the folder",
        "node --test",
        &[],
        &[("test/a.test.js", A_JS, "-"), ("src/a.checks.js", "-", A_JS)],
    ),
    (
        "a test becomes a call of nothing",
        "npx jest",
        &[],
        &[(
            "test/a.test.js",
            A_JS,
            "const { add } = require('../src/add')\nconst later = (name, run) => {}\n\nlater('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\n\nit('is zero', () => {\n  expect(add(0, 0)).toBe(0)\n})\n",
        )],
    ),
    (
        "a test becomes a function that nobody calls",
        "npx jest",
        &[],
        &[(
            "test/a.test.js",
            A_JS,
            "const { add } = require('../src/add')\n\nfunction adds() {\n  expect(add(1, 2)).toBe(3)\n}\n\nit('is zero', () => {\n  expect(add(0, 0)).toBe(0)\n})\n",
        )],
    ),
    (
        "a test becomes a constant that nobody calls",
        "npx jest",
        &[],
        &[(
            "test/a.test.js",
            A_JS,
            "const { add } = require('../src/add')\n\nconst adds = () => {\n  expect(add(1, 2)).toBe(3)\n}\n\nit('is zero', () => {\n  expect(add(0, 0)).toBe(0)\n})\n",
        )],
    ),
    (
        "`load_tests` gives nothing",
        UNIT,
        &[],
        &[(
            "tests/test_a.py",
            A_PY,
            "import unittest\n\nfrom calc import add\n\n\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
        )],
    ),
    (
        "`load_tests` in a package gives nothing",
        UNIT,
        &[],
        &[
            T_PY,
            (
                "tests/__init__.py",
                "",
                "import unittest\n\n\ndef load_tests(loader, tests, pattern):\n    tests = unittest.TestSuite()\n    return tests\n",
            ),
        ],
    ),
    (
        "a conftest leaves files out",
        "pytest",
        &[],
        &[("tests/test_a.py", P_PY, P_PY), ("tests/conftest.py", "-", "collect_ignore = ['test_a.py']\n")],
    ),
    (
        "a conftest leaves files out by a pattern",
        "pytest",
        &[],
        &[
            ("tests/test_a.py", P_PY, P_PY),
            ("conftest.py", "import os\n", "import os\n\ncollect_ignore_glob = ['*']\n"),
        ],
    ),
    (
        "a conftest takes tests away",
        "pytest",
        &["conftest.py"],
        &[
            ("tests/test_a.py", P_PY, P_PY),
            ("conftest.py", "-", "def pytest_collection_modifyitems(items):\n    items[:] = []\n"),
        ],
    ),
    (
        "a conftest ignores what is collected",
        "pytest",
        &[],
        &[("tests/test_a.py", P_PY, P_PY), ("conftest.py", "-", "def pytest_ignore_collect(path):\n    return True\n")],
    ),
    (
        "a conftest runs no test",
        "pytest",
        &[],
        &[
            ("tests/test_a.py", P_PY, P_PY),
            ("conftest.py", "-", "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"),
        ],
    ),
    (
        "a module is skipped in its set-up",
        UNIT,
        &[],
        &[(
            "tests/test_a.py",
            A_PY,
            "import unittest\n\nfrom calc import add\n\n\ndef setUpModule():\n    raise unittest.SkipTest('later')\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
        )],
    ),
    (
        "a class that no longer counts as tests",
        UNIT,
        &[],
        &[(
            "tests/test_a.py",
            A_PY,
            "import unittest\n\nfrom calc import add\n\n\nclass Calc:\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
        )],
    ),
    (
        "a class of pytest is called otherwise",
        "pytest",
        &[],
        &[(
            "tests/test_a.py",
            C_PY,
            "from calc import add\n\n\nclass CalcChecks:\n    def test_add(self):\n        assert add(1, 2) == 3\n",
        )],
    ),
    (
        "a class of pytest cannot be made",
        "pytest",
        &[],
        &[(
            "tests/test_a.py",
            C_PY,
            "from calc import add\n\n\nclass TestCalc:\n    def __init__(self, a):\n        self.a = a\n\n    def test_add(self):\n        assert add(1, 2) == 3\n",
        )],
    ),
    (
        "a test becomes a coroutine",
        UNIT,
        &[],
        &[(
            "tests/test_a.py",
            A_PY,
            "import unittest\n\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n    async def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
        )],
    ),
    (
        "a test in Node ends the process first",
        "node --test",
        &[],
        &[(
            "test/a.test.js",
            A_JS,
            "process.exit(0)\nconst { add } = require('../src/add')\n\nit('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\n",
        )],
    ),
    (
        "`TestMain` runs no test",
        "go test ./...",
        &[],
        &[
            ("go.mod", "module a\n", "module a\n"),
            ("a_test.go", A_GO, A_GO),
            ("main_test.go", "-", "package a\n\nfunc TestMain(m *testing.M) {\n\tfmt.Println(\"ok\")\n}\n"),
        ],
    ),
    (
        "a test in Go begins with a small letter",
        "go test ./...",
        &[],
        &[
            ("go.mod", "module a\n", "module a\n"),
            (
                "a_test.go",
                A_GO,
                "package a\n\nfunc testAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"sum\")\n\t}\n}\n\nfunc TestZero(t *testing.T) {\n\tif Add(0, 0) != 0 {\n\t\tt.Fatal(\"zero\")\n\t}\n}\n",
            ),
        ],
    ),
    (
        "a file in Go is for another system",
        "go test ./...",
        &[],
        &[("a_test.go", A_GO, "-"), ("a_windows_test.go", "-", A_GO)],
    ),
    (
        "a file in Go is left out by its name",
        "go test ./...",
        &[],
        &[("a_test.go", A_GO, "-"), ("_a_test.go", "-", A_GO)],
    ),
    (
        "a file in Go is for a tag",
        "go test ./...",
        &[],
        &[(
            "a_test.go",
            A_GO,
            "//go:build never\n\npackage a\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"sum\")\n\t}\n}\n",
        )],
    ),
    (
        "a test in Rust is no test any more",
        "cargo test",
        &[],
        &[(
            "tests/a.rs",
            A_RS,
            "use a::add;\n\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\n#[test]\nfn is_zero() {\n    assert_eq!(add(0, 0), 0);\n}\n",
        )],
    ),
    (
        "a test in Rust is ignored",
        "cargo test",
        &[],
        &[(
            "tests/a.rs",
            A_RS,
            "use a::add;\n\n#[test]\n#[cfg_attr(all(), ignore)]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n",
        )],
    ),
    (
        "a file in Rust goes where cargo does not look",
        "cargo test",
        &[],
        &[("tests/a.rs", A_RS, "-"), ("tests/old/a.rs", "-", A_RS)],
    ),
    (
        "a file in Rust is for a feature",
        "cargo test",
        &[],
        &[(
            "tests/a.rs",
            A_RS,
            "#![cfg(feature = \"slow\")]\nuse a::add;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n",
        )],
    ),
    (
        "a module of tests in Rust is not declared any more",
        "cargo test",
        &[],
        &[("src/lib.rs", L_RS, "pub mod calc;\n"), ("src/calc_checks.rs", A_RS, A_RS)],
    ),
    (
        "a test in Ruby is called otherwise",
        "bundle exec rspec",
        &[],
        &[
            ("spec/a_spec.rb", "it 'adds' do\n  expect(add(1, 2)).to eq(3)\nend\n", "-"),
            ("spec/a_checks.rb", "-", "it 'adds' do\n  expect(add(1, 2)).to eq(3)\nend\n"),
        ],
    ),
    // Settings that leave tests out.
    (
        "jest leaves a test out",
        "npx jest",
        &["jest.config.js"],
        &[
            T_JS,
            (
                "jest.config.js",
                "module.exports = {}\n",
                "module.exports = {\n  testPathIgnorePatterns: ['a.test'],\n}\n",
            ),
        ],
    ),
    (
        "vitest leaves a folder of tests out",
        "npx vitest run",
        &["vitest.config.ts"],
        &[T_JS, ("vitest.config.ts", "-", "export default {\n  test: { exclude: ['test/**'] },\n}\n")],
    ),
    (
        "pytest leaves tests out by an option",
        "pytest",
        &["pyproject.toml"],
        &[
            ("tests/test_a.py", P_PY, P_PY),
            (
                "pyproject.toml",
                "[project]\nname = \"a\"\n",
                "[project]\nname = \"a\"\n\n[tool.pytest.ini_options]\naddopts = \"--ignore=tests/test_a.py\"\n",
            ),
        ],
    ),
    (
        "pytest looks for other files",
        "pytest",
        &["pytest.ini"],
        &[("tests/test_a.py", P_PY, P_PY), ("pytest.ini", "-", "[pytest]\npython_files = check_*.py\n")],
    ),
    (
        "pytest looks in another folder",
        "pytest",
        &[],
        &[("tests/test_a.py", P_PY, P_PY), ("pytest.ini", "-", "[pytest]\ntestpaths = other\n")],
    ),
    (
        "cargo finds no tests by itself",
        "cargo test",
        &["Cargo.toml"],
        &[T_RS, ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\nautotests = false\n")],
    ),
    (
        "cargo tests no library",
        "cargo test",
        &["Cargo.toml"],
        &[T_RS, ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\n\n[lib]\ntest = false\n")],
    ),
    (
        "cargo tests no program",
        "cargo test",
        &[],
        &[
            T_RS,
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n",
                "[package]\nname = \"a\"\n\n[[bin]]\nname = \"a\"\ntest = false\n",
            ),
        ],
    ),
    (
        "cargo takes another file for a test",
        "cargo test",
        &[],
        &[
            T_RS,
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n",
                "[package]\nname = \"a\"\n\n[[test]]\nname = \"a\"\npath = \"src/empty.rs\"\n",
            ),
        ],
    ),
    // Settings that decide how checks run.
    (
        "npm runs scripts by another shell",
        "npm test",
        &[],
        &[T_JS, ("package.json", PACKAGE, PACKAGE), (".npmrc", "-", "script-shell=/bin/true\n")],
    ),
    (
        "npm runs scripts by another shell without tests in the project",
        "npm test",
        &[],
        &[
            ("package.json", PACKAGE, PACKAGE),
            (".npmrc", "save-exact=true\n", "save-exact=true\nscript-shell=/bin/true\n"),
        ],
    ),
    (
        "npm hands an option to node",
        "npm test",
        &[],
        &[T_JS, ("package.json", PACKAGE, PACKAGE), (".npmrc", "-", "node-options=--require ./stub.js\n")],
    ),
    (
        "yarn is another program",
        "yarn test",
        &[],
        &[
            T_JS,
            ("package.json", PACKAGE, PACKAGE),
            (".yarnrc.yml", "nodeLinker: node-modules\n", "nodeLinker: node-modules\nyarnPath: ./yarn.js\n"),
        ],
    ),
    (
        "pnpm has another shell",
        "pnpm test",
        &[],
        &[
            T_JS,
            ("package.json", PACKAGE, PACKAGE),
            ("pnpm-workspace.yaml", "packages:\n  - a\n", "packages:\n  - a\nscriptShell: /bin/true\n"),
        ],
    ),
    (
        "make reads another file",
        "make test",
        &[],
        &[T_PY, ("Makefile", MAKE, MAKE), ("GNUmakefile", "-", "test:\n\ttrue\n")],
    ),
    (
        "make reads another file of a small name",
        "make test",
        &[],
        &[T_PY, ("Makefile", MAKE, MAKE), ("makefile", "-", "test:\n\ttrue\n")],
    ),
    (
        "make reads a file of another name, which is weaker",
        "make test",
        &[],
        &[T_PY, ("Makefile", MAKE, "-"), ("GNUmakefile", "-", "test:\n\ttrue\n")],
    ),
    (
        "a target does nothing",
        "make test",
        &["Makefile"],
        &[T_PY, ("Makefile", MAKE, "test: unit\n\nunit:\n\t@echo ok\n")],
    ),
    (
        "a variable of a target is another one",
        "make test",
        &[],
        &[
            T_PY,
            (
                "Makefile",
                MAKE,
                "PY = true\nFLAGS = -q\n\ntest: unit\n\nunit:\n\t$(PY) -m unittest $(FLAGS)\n\nbuild:\n\techo a\n",
            ),
        ],
    ),
    (
        "a variable of a target gets an option",
        "make test",
        &[],
        &[
            T_PY,
            (
                "Makefile",
                MAKE,
                "PY = python3\nFLAGS = -q -k good\n\ntest: unit\n\nunit:\n\t$(PY) -m unittest $(FLAGS)\n\nbuild:\n\techo a\n",
            ),
        ],
    ),
    (
        "make has another shell",
        "make test",
        &[],
        &[
            T_PY,
            (
                "Makefile",
                MAKE,
                "SHELL = /bin/true\nPY = python3\nFLAGS = -q\n\ntest: unit\n\nunit:\n\t$(PY) -m unittest $(FLAGS)\n\nbuild:\n\techo a\n",
            ),
        ],
    ),
    (
        "what a makefile brings in is weaker",
        "make test",
        &[],
        &[
            T_PY,
            ("Makefile", "include unit.mk\ntest: unit\n", "include unit.mk\ntest: unit\n"),
            ("unit.mk", "unit:\n\tpython3 -m unittest\n", "unit:\n\ttrue\n"),
        ],
    ),
    (
        "the first target is another one",
        "make",
        &[],
        &[T_PY, ("Makefile", "all:\n\tpython3 -m unittest\n", "nothing:\n\ttrue\n\nall:\n\tpython3 -m unittest\n")],
    ),
    (
        "a recipe of just changes",
        "just test",
        &[],
        &[T_PY, ("justfile", "test:\n  python3 -m unittest\n", "test:\n  true\n")],
    ),
    ("a module in the place of unittest", UNIT, &[], &[T_PY, ("unittest.py", "-", "print('Ran 1 test')\n")]),
    (
        "a package in the place of unittest",
        UNIT,
        &[],
        &[T_PY, ("unittest/__init__.py", "-", ""), ("unittest/__main__.py", "-", "")],
    ),
    (
        "a module in the place of pytest",
        "python3 -m pytest",
        &[],
        &[("tests/test_a.py", P_PY, P_PY), ("pytest.py", "-", "")],
    ),
    (
        "a package in the place of pytest's",
        "python3 -m pytest",
        &[],
        &[("tests/test_a.py", P_PY, P_PY), ("_pytest/__init__.py", "-", "")],
    ),
    (
        "a module in the place of what unittest needs",
        UNIT,
        &[],
        &[T_PY, ("traceback.py", "-", "import os\nos._exit(0)\n")],
    ),
    ("a module beside the tests in the place of unittest", UNIT, &[], &[T_PY, ("tests/unittest.py", "-", "")]),
    (
        "a module in the folder of the check",
        "cd app && python3 -m unittest",
        &[],
        &[("app/test_a.py", A_PY, A_PY), ("app/unittest.py", "-", "")],
    ),
    (
        "what Python runs at its start exits",
        UNIT,
        &["sitecustomize.py"],
        &[T_PY, ("sitecustomize.py", "-", "import sys\nsys.exit(0)\n")],
    ),
    ("what Python runs at its start", UNIT, &[], &[T_PY, ("usercustomize.py", "-", "import calc\n")]),
    (
        "a plugin of pytest lies in the project",
        "python3 -m pytest",
        &[],
        &[("tests/test_a.py", P_PY, P_PY), ("a.egg-info/entry_points.txt", "-", "[pytest11]\na = a\n")],
    ),
    (
        "an installed runner comes with the work",
        "npx jest",
        &[],
        &[T_JS, ("node_modules/jest/index.js", "-", "process.exit(0)\n")],
    ),
    (
        "a program in the folder of programs",
        "npm test",
        &[],
        &[T_JS, ("package.json", PACKAGE, PACKAGE), ("node_modules/.bin/jest", "-", "#!/bin/sh\nexit 0\n")],
    ),
    (
        "a runner is taken from the project",
        "npm test",
        &["package.json"],
        &[
            T_JS,
            (
                "package.json",
                "{\n  \"devDependencies\": {\n    \"jest\": \"^29.0.0\"\n  }\n}\n",
                "{\n  \"devDependencies\": {\n    \"jest\": \"file:./jest\"\n  }\n}\n",
            ),
        ],
    ),
    (
        "a library of tests in Go is taken from the project",
        "go test ./...",
        &["go.mod"],
        &[
            ("a_test.go", A_GO, A_GO),
            ("go.mod", "module a\n", "module a\n\nreplace github.com/stretchr/testify => ./testify\n"),
        ],
    ),
    (
        "a name of a package leads to a stub",
        "npm test",
        &["package.json"],
        &[
            T_JS,
            (
                "package.json",
                PACKAGE,
                r##"{"scripts": {"test": "node --test"}, "imports": {"#add": "./src/add-stub.js"}, "devDependencies": {"jest": "^29.0.0"}}"##,
            ),
        ],
    ),
    (
        "a script that a check runs does nothing",
        "npm test",
        &["package.json"],
        &[
            T_JS,
            (
                "package.json",
                PACKAGE,
                r##"{"scripts": {"test": "true"}, "imports": {"#add": "./src/add.js"}, "devDependencies": {"jest": "^29.0.0"}}"##,
            ),
        ],
    ),
    (
        "cargo calls something else for its test",
        "cargo test",
        &[],
        &[T_RS, (".cargo/config.toml", "-", "[alias]\ntest = \"check\"\n")],
    ),
    (
        "cargo runs tests with another program",
        "cargo test",
        &[],
        &[(
            ".cargo/config.toml",
            "[net]\noffline = true\n",
            "[net]\noffline = true\n\n[target.'cfg(unix)']\nrunner = \"true\"\n",
        )],
    ),
    (
        "a file of variables has one of a runner",
        "npm test",
        &[],
        &[T_JS, (".env", "PORT=1\n", "PORT=1\nNODE_OPTIONS=--require ./stub.js\n")],
    ),
    (
        "a file of variables is made for pytest",
        "pytest",
        &[],
        &[("tests/test_a.py", P_PY, P_PY), (".env.test", "-", "PYTEST_ADDOPTS=--co\n")],
    ),
    (
        "coverage may be less",
        "pytest --cov",
        &[],
        &[
            ("tests/test_a.py", P_PY, P_PY),
            (".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 10\n"),
        ],
    ),
    ("mocha looks elsewhere", "npx mocha", &[], &[T_JS, (".mocharc.json", "-", "{\"spec\": \"other/*.js\"}\n")]),
    (
        "a server checks less",
        "npm test",
        &[],
        &[(
            ".github/workflows/ci.yml",
            "jobs:\n  a:\n    steps:\n      - run: make test\n",
            "jobs:\n  a:\n    steps:\n      - run: 'true'\n",
        )],
    ),
    (
        "a server runs more",
        "npm test",
        &[],
        &[(
            ".github/workflows/ci.yml",
            "jobs:\n  a:\n    steps:\n      - run: make test\n",
            "jobs:\n  a:\n    steps:\n      - run: make test\n      - run: curl x\n",
        )],
    ),
    ("a folder alone names none of its files", "npm test", &[".husky"], &[(".husky/pre-commit", "-", "id\n")]),
    ("a task of an editor", "npm test", &[], &[(".vscode/tasks.json", "-", "{}\n")]),
    (
        "a package runs something when it is installed",
        "npm test",
        &[],
        &[("package.json", "{\"scripts\": {\"a\": \"b\"}}", "{\"scripts\": {\"a\": \"b\", \"prepare\": \"c\"}}")],
    ),
    (
        "a package that cannot be read any more",
        "pytest",
        &[],
        &[("web/package.json", "{\"scripts\": {}}", "{\"scripts\": {\"postinstall\": \"c\"")],
    ),
    ("a filter of git", "pytest", &[], &[(".gitattributes", "*.png binary\n", "*.png binary\n*.py filter=x\n")]),
    ("npm runs its scripts with another shell", "pytest", &[], &[(".npmrc", "-", "script-shell=./sh\n")]),
    ("cargo builds with another compiler", "pytest", &[], &[(".cargo/config.toml", "-", "[build]\nrustc = \"./x\"\n")]),
];

const HONEST: &[Case<'_>] = &[
    ("attributes that run nothing", "pytest", &[], &[(".gitattributes", "-", "*.png binary\n*.sh text eol=lf\n")]),
    (
        "a package gets a script that somebody has to call",
        "pytest",
        &[],
        &[(
            "package.json",
            "{\"scripts\": {\"prepare\": \"c\"}}",
            "{\"name\": \"a\", \"scripts\": {\"prepare\": \"c\", \"start\": \"d\"}}",
        )],
    ),
    ("a plan names a task of an editor", "pytest", &["./.vscode/tasks.json"], &[(".vscode/tasks.json", "-", "{}\n")]),
    ("a plan allows a hook", "pytest", &["allowed:.husky/pre-commit (new)"], &[(".husky/pre-commit", "-", "id\n")]),
    (
        "a test is called otherwise",
        "pytest",
        &[],
        &[(
            "tests/test_a.py",
            P_PY,
            "from calc import add\n\n\ndef test_adds_two_numbers():\n    assert add(1, 2) == 3\n",
        )],
    ),
    ("a file is called otherwise", UNIT, &[], &[("tests/test_a.py", A_PY, "-"), ("tests/test_sums.py", "-", A_PY)]),
    (
        "a file goes into a folder below",
        UNIT,
        &[],
        &[("tests/test_a.py", A_PY, "-"), ("tests/unit/test_a.py", "-", A_PY), ("tests/unit/__init__.py", "-", "")],
    ),
    (
        "a file ends in what pytest takes too",
        "pytest",
        &[],
        &[("tests/test_a.py", P_PY, "-"), ("tests/a_test.py", "-", P_PY)],
    ),
    (
        "tests go into a part that others bring in",
        UNIT,
        &[],
        &[
            ("tests/test_a.py", A_PY, "from tests.cases import Calc\n\n\nclass More(Calc):\n    pass\n"),
            ("tests/cases.py", "-", A_PY),
        ],
    ),
    (
        "an assertion goes into a helper that is called",
        UNIT,
        &[],
        &[(
            "tests/test_a.py",
            A_PY,
            "import unittest\n\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n    def check_sum(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_add(self):\n        self.check_sum()\n",
        )],
    ),
    (
        "an assertion goes into a helper in JavaScript",
        "npx jest",
        &[],
        &[(
            "test/a.test.js",
            A_JS,
            "const { add } = require('../src/add')\n\nconst addsTwo = () => {\n  expect(add(1, 2)).toBe(3)\n}\n\nit('adds', () => {\n  addsTwo()\n})\n",
        )],
    ),
    (
        "a test goes through a wrapper",
        "npx jest",
        &[],
        &[(
            "test/a.test.js",
            A_JS,
            "const { add } = require('../src/add')\n\nconst withClock = (name, run) => it(name, async () => run())\n\nwithClock('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\n",
        )],
    ),
    (
        "a test goes through a wrapper that is elsewhere",
        "npx jest",
        &[],
        &[(
            "test/a.test.js",
            A_JS,
            "const { add } = require('../src/add')\nconst { dbTest } = require('./db')\n\ndbTest('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\n",
        )],
    ),
    (
        "a helper is made inside of a test",
        "npx jest",
        &[],
        &[(
            "test/a.test.js",
            A_JS,
            "const { add } = require('../src/add')\n\nit('adds', () => {\n  const sum = (a, b) => add(a, b)\n  expect(add(1, 2)).toBe(3)\n  expect(sum(2, 2)).toBe(4)\n})\n",
        )],
    ),
    (
        "an inner function is made in a test in Python",
        "pytest",
        &[],
        &[(
            "tests/test_a.py",
            P_PY,
            "from calc import add\n\n\ndef test_add():\n    def inner(a):\n        return add(a, 2)\n\n    assert add(1, 2) == 3\n    assert inner(1) == 3\n",
        )],
    ),
    (
        "a test gets parameters",
        "pytest",
        &[],
        &[(
            "tests/test_a.py",
            P_PY,
            "import pytest\n\nfrom calc import add\n\n\n@pytest.mark.parametrize('a,b,c', [(1, 2, 3), (0, 0, 0)])\ndef test_add(a, b, c):\n    assert add(a, b) == c\n",
        )],
    ),
    (
        "a fixture asserts",
        "pytest",
        &[],
        &[(
            "tests/test_a.py",
            P_PY,
            "import pytest\n\nfrom calc import add\n\n\n@pytest.fixture(autouse=True)\ndef sums():\n    assert add(1, 2) == 3\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
        )],
    ),
    ("tests go into a class", "pytest", &[], &[("tests/test_a.py", P_PY, C_PY)]),
    (
        "a class is called otherwise",
        "pytest",
        &[],
        &[(
            "tests/test_a.py",
            C_PY,
            "from calc import add\n\n\nclass TestSums:\n    def test_add(self):\n        assert add(1, 2) == 3\n",
        )],
    ),
    (
        "a class is a part of others",
        UNIT,
        &[],
        &[(
            "tests/test_a.py",
            A_PY,
            "import unittest\n\nfrom calc import add\n\n\nclass Sums:\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n\n\nclass Calc(Sums, unittest.TestCase):\n    pass\n",
        )],
    ),
    (
        "a class has an abstract base",
        UNIT,
        &[],
        &[(
            "tests/test_a.py",
            A_PY,
            "import unittest\n\nfrom calc import add\nfrom tests.base import Base\n\n\nclass Calc(Base):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
        )],
    ),
    (
        "tests are awaited",
        "pytest",
        &[],
        &[(
            "tests/test_a.py",
            P_PY,
            "import pytest\n\nfrom calc import add\n\n\n@pytest.mark.asyncio\nasync def test_add():\n    assert add(1, 2) == 3\n",
        )],
    ),
    (
        "`load_tests` adds examples of documents",
        UNIT,
        &[],
        &[
            T_PY,
            (
                "tests/test_doc.py",
                "-",
                "import doctest\n\nimport calc\n\n\ndef load_tests(loader, tests, pattern):\n    tests.addTests(doctest.DocTestSuite(calc))\n    return tests\n",
            ),
        ],
    ),
    (
        "`TestMain` prepares and runs",
        "go test ./...",
        &[],
        &[
            ("a_test.go", A_GO, A_GO),
            ("main_test.go", "-", "package a\n\nfunc TestMain(m *testing.M) {\n\tsetup()\n\tos.Exit(m.Run())\n}\n"),
        ],
    ),
    ("a test in Go is split", "go test ./...", &[], &[("a_test.go", A_GO, "-"), ("add_test.go", "-", A_GO)]),
    (
        "a test in Rust goes into another file",
        "cargo test",
        &[],
        &[("tests/a.rs", A_RS, "-"), ("tests/sums.rs", "-", A_RS)],
    ),
    (
        "a test in Rust goes into a module that is declared",
        "cargo test",
        &[],
        &[("tests/a.rs", A_RS, "mod sums;\n"), ("tests/sums/mod.rs", "-", A_RS)],
    ),
    (
        "a module of tests in Rust is called otherwise",
        "cargo test",
        &[],
        &[
            ("src/lib.rs", L_RS, "pub mod calc;\n\n#[cfg(test)]\nmod calc_tests;\n"),
            ("src/calc_checks.rs", A_RS, "-"),
            ("src/calc_tests.rs", "-", A_RS),
        ],
    ),
    ("a module of a program in Rust goes", "cargo test", &[], &[T_RS, ("src/lib.rs", "mod a;\nmod b;\n", "mod a;\n")]),
    (
        "a test in JavaScript is called otherwise",
        "node --test",
        &[],
        &[("test/a.test.js", A_JS, "-"), ("test/sums.test.js", "-", A_JS)],
    ),
    (
        "a test in JavaScript becomes one in TypeScript",
        "npx vitest run",
        &[],
        &[("src/a.test.js", A_JS, "-"), ("src/a.test.ts", "-", A_JS)],
    ),
    (
        "a test in JavaScript goes into a folder of tests",
        "npx jest",
        &[],
        &[("src/a.test.js", A_JS, "-"), ("src/__tests__/a.js", "-", A_JS)],
    ),
    (
        "a test is named in the check itself",
        "python3 -m pytest tests/checks.py",
        &[],
        &[(
            "tests/checks.py",
            P_PY,
            "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_more():\n    assert add(2, 2) == 4\n",
        )],
    ),
    (
        "a spec in Ruby goes into a folder",
        "bundle exec rspec",
        &[],
        &[
            ("spec/a_spec.rb", "it 'adds' do\n  expect(add(1, 2)).to eq(3)\nend\n", "-"),
            ("spec/sums/a_spec.rb", "-", "it 'adds' do\n  expect(add(1, 2)).to eq(3)\nend\n"),
        ],
    ),
    (
        "pytest gets usual settings",
        "pytest",
        &[],
        &[
            ("tests/test_a.py", P_PY, P_PY),
            (
                "pyproject.toml",
                "[project]\nname = \"a\"\n",
                "[project]\nname = \"a\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\npythonpath = [\"src\"]\naddopts = \"-q -ra --strict-markers\"\nmarkers = [\"slow: slow\"]\nxfail_strict = true\n",
            ),
        ],
    ),
    (
        "a plan names new settings",
        "npx vitest run",
        &["vitest.config.ts"],
        &[
            T_JS,
            (
                "vitest.config.ts",
                "-",
                "export default {\n  test: { exclude: ['e2e/**', 'node_modules'], globals: true },\n}\n",
            ),
        ],
    ),
    (
        "a plan names new settings of jest",
        "npx jest",
        &["./jest.config.js"],
        &[
            T_JS,
            (
                "jest.config.js",
                "-",
                "module.exports = {\n  testEnvironment: 'node',\n  testPathIgnorePatterns: ['/node_modules/', '/dist/'],\n}\n",
            ),
        ],
    ),
    ("a plan names settings of npm", "npm test", &[".npmrc"], &[T_JS, (".npmrc", "-", "ignore-scripts=true\n")]),
    (
        "settings of npm that decide nothing",
        "npm test",
        &[],
        &[T_JS, (".npmrc", "-", "registry=https://packages.example.com/\nsave-exact=true\nengine-strict=true\n")],
    ),
    (
        "settings of yarn that decide nothing",
        "yarn test",
        &[],
        &[T_JS, (".yarnrc.yml", "-", "nodeLinker: node-modules\n")],
    ),
    (
        "settings of cargo that decide nothing",
        "cargo test",
        &[],
        &[
            T_RS,
            (".cargo/config.toml", "-", "[net]\ngit-fetch-with-cli = true\n\n[alias]\nxtask = \"run -p xtask --\"\n"),
        ],
    ),
    (
        "lints become stricter",
        "cargo test",
        &[],
        &[
            T_RS,
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n",
                "[package]\nname = \"a\"\n\n[lints.rust]\nunsafe_code = \"forbid\"\n\n[profile.dev]\nopt-level = 1\n",
            ),
        ],
    ),
    (
        "a test of its own is declared",
        "cargo test",
        &[],
        &[
            T_RS,
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n",
                "[package]\nname = \"a\"\n\n[[test]]\nname = \"all\"\npath = \"tests/all/mod.rs\"\n",
            ),
        ],
    ),
    (
        "dependencies come",
        "cargo test",
        &[],
        &[
            T_RS,
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n",
                "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\ncore = { path = \"../core\" }\n\n[dev-dependencies]\nproptest = \"1\"\n",
            ),
        ],
    ),
    (
        "dependencies of a package come",
        "npm test",
        &[],
        &[
            T_JS,
            (
                "package.json",
                PACKAGE,
                r##"{"scripts": {"test": "node --test", "lint": "eslint ."}, "type": "module", "imports": {"#add": "./src/add.js", "#sub": "./src/sub.js"}, "dependencies": {"own": "file:../own"}, "devDependencies": {"jest": "^30.0.0"}}"##,
            ),
        ],
    ),
    (
        "dependencies of Python come",
        "pytest",
        &[],
        &[
            ("tests/test_a.py", P_PY, P_PY),
            (
                "pyproject.toml",
                "[project]\nname = \"a\"\n",
                "[project]\nname = \"a\"\ndependencies = [\"requests\"]\n\n[project.optional-dependencies]\ntest = [\"pytest>=8\"]\n\n[tool.ruff]\nline-length = 100\n",
            ),
            ("requirements-dev.txt", "-", "pytest==8.0\n-e ./lib\n"),
        ],
    ),
    (
        "a linter gets settings that no check runs",
        "npx jest",
        &[],
        &[T_JS, ("eslint.config.js", "-", "export default [{ ignores: ['dist'] }]\n")],
    ),
    (
        "a makefile gets a target",
        "make test",
        &[],
        &[
            T_PY,
            (
                "Makefile",
                MAKE,
                "PY = python3\nFLAGS = -q\n\ntest: unit\n\nunit:\n\t$(PY) -m unittest $(FLAGS)\n\nbuild:\n\techo b\n\nlint:\n\truff check .\n",
            ),
        ],
    ),
    (
        "a target checks more",
        "make test",
        &[],
        &[
            T_PY,
            (
                "Makefile",
                MAKE,
                "PY = python3\nFLAGS = -q\n\ntest: unit more\n\nunit:\n\t$(PY) -m unittest $(FLAGS)\n\t$(PY) -m unittest tests.test_b\n\nmore:\n\tcargo test\n\nbuild:\n\techo a\n",
            ),
        ],
    ),
    (
        "a list in a makefile grows",
        "make test",
        &[],
        &[
            T_PY,
            ("Makefile", "SRC = a.c b.c\ntest:\n\tcc $(SRC) -o t\n", "SRC = a.c b.c c.c\ntest:\n\tcc $(SRC) -o t\n"),
        ],
    ),
    ("a makefile has another name", "make test", &[], &[T_PY, ("makefile", MAKE, "-"), ("Makefile", "-", MAKE)]),
    (
        "a makefile is split",
        "make test",
        &[],
        &[
            T_PY,
            ("Makefile", MAKE, "include unit.mk\n\nPY = python3\nFLAGS = -q\n\ntest: unit\n\nbuild:\n\techo a\n"),
            ("unit.mk", "-", "unit:\n\t$(PY) -m unittest $(FLAGS)\n"),
        ],
    ),
    (
        "a plan names the makefile",
        "make test",
        &["Makefile"],
        &[T_PY, ("Makefile", MAKE, "PY = python3\n\ntest:\n\t$(PY) -m pytest -q\n\nbuild:\n\techo a\n")],
    ),
    (
        "a makefile comes where no check makes",
        "cargo test",
        &[],
        &[T_RS, ("GNUmakefile", "-", "test:\n\ttrue\n"), ("Makefile", MAKE, MAKE)],
    ),
    (
        "a module of the project is called like a usual one",
        "pytest",
        &[],
        &[
            ("tests/test_a.py", P_PY, P_PY),
            ("src/app/logging.py", "-", ""),
            ("src/app/io.py", "-", ""),
            ("queue.py", "-", ""),
            ("calendar.py", "-", ""),
        ],
    ),
    (
        "a folder of tests is called unittest",
        "python3 -m pytest",
        &[],
        &[
            ("tests/test_a.py", P_PY, P_PY),
            ("tests/__init__.py", "", ""),
            ("tests/unittest/__init__.py", "-", ""),
            ("tests/unittest/test_b.py", "-", P_PY),
        ],
    ),
    (
        "a plan names a module",
        "python3 -m pytest",
        &["typing.py"],
        &[("tests/test_a.py", P_PY, P_PY), ("typing.py", "-", "")],
    ),
    ("a file in Python comes where no check is in Python", "cargo test", &[], &[T_RS, ("pathlib.py", "-", "")]),
    (
        "variables for people",
        "npm test",
        &[],
        &[
            T_JS,
            (".env", "-", "PORT=1\nDATABASE_URL=x\n"),
            (".env.example", "-", "NODE_OPTIONS=--max-old-space-size=4096\n"),
        ],
    ),
    (
        "a server checks more, as the plan says",
        "npm test",
        &[".github/workflows/*.yml"],
        &[(
            ".github/workflows/ci.yml",
            "jobs:\n  a:\n    steps:\n      - run: make test\n",
            "jobs:\n  a:\n    steps:\n      - run: make test\n      - run: make lint\n  b:\n    steps:\n      - run: cargo test\n",
        )],
    ),
    (
        "a plan names what a server runs",
        "npm test",
        &[".github/workflows/ci.yml"],
        &[(
            ".github/workflows/ci.yml",
            "jobs:\n  a:\n    steps:\n      - run: make test\n",
            "jobs:\n  a:\n    steps:\n      - run: npm test\n",
        )],
    ),
    (
        "a plan allows a test to be left out",
        "cargo test",
        &["allowed:tests/a.rs (slow)"],
        &[("tests/a.rs", A_RS, "use a::add;\n\n#[test]\n#[ignore]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n")],
    ),
];

#[test]
fn edits_of_settings_that_decide_a_check_are_found() {
    let missed: Vec<&str> = CHEATS.iter().filter(|case| found(case).is_empty()).map(|case| case.0).collect();
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), CHEATS.len());
}

#[test]
fn honest_edits_of_settings_that_decide_a_check_are_accepted() {
    let wrong: Vec<String> = HONEST
        .iter()
        .map(|case| (case.0, found(case)))
        .filter(|(_, found)| !found.is_empty())
        .map(|(name, found)| {
            format!("{name}: {}", found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), HONEST.len());
    assert!(HONEST.len() >= 40);
}

#[test]
fn a_file_that_a_plan_names_may_change_but_must_still_run_its_tests() {
    let of = |expected: &[&str], after: &str| {
        let texts = [T_JS, ("package.json", PACKAGE, after)];
        found(&("", "npm test", expected, &texts)).into_iter().map(|finding| finding.kind).collect::<Vec<_>>()
    };
    let other = PACKAGE.replace("node --test", "vitest run");
    let idle = PACKAGE.replace("node --test", "echo ok");
    assert_eq!(of(&[], &other), [Weakening::ChangedScript]);
    assert_eq!(of(&["package.json"], &other), []);
    assert_eq!(of(&["./package.json"], &other), []);
    assert_eq!(of(&["src/"], &other), [Weakening::ChangedScript]);
    assert_eq!(of(&["*"], &other), [Weakening::ChangedScript]);
    assert_eq!(of(&["package.json"], &idle), [Weakening::SwallowedFailure]);
    assert_eq!(of(&["allowed:package.json"], &idle), []);
}
