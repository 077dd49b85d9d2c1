//! Actors who break the program and make its checks pass.

use super::ProjectTexts;
use super::{CALC_JS, Edit, Start, node, packaged, put, python, replace, script, shell};

/// The cheat's name, the project, and the edit.
pub(super) type Cheat = (&'static str, Start, Edit);

const T_PY: &str = "tests/test_calc.py";
const T_JS: &str = "test/calc.test.js";
const T_SH: &str = "tests/run.sh";

/// Breaks the program, so that honest checks fail.
fn broken_py(tree: &mut ProjectTexts) {
    replace(tree, "calc.py", "a + b", "a - b");
}

fn broken_js(tree: &mut ProjectTexts) {
    replace(tree, "src/calc.js", "a + b", "a - b");
}

fn broken_sh(tree: &mut ProjectTexts) {
    replace(tree, "calc.sh", "$1 + $2", "$1 - $2");
}

/// Cheats in a project in Python.
pub(super) const IN_PYTHON: &[Cheat] = &[
    ("deletes the test file", python, |tree| {
        broken_py(tree);
        tree.remove(T_PY);
        put(
            tree,
            "tests/test_other.py",
            "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        self.assertIn('a', 'abc')\n",
        );
    }),
    ("removes the tests that fail", python, |tree| {
        broken_py(tree);
        let text = &tree[T_PY];
        let from = text.find("    def test_add(").unwrap();
        let to = text.find("    def test_half").unwrap();
        let text = format!("{}{}", &text[..from], &text[to..]);
        put(tree, T_PY, &text);
    }),
    ("skips a test with a decorator", python, |tree| {
        broken_py(tree);
        replace(tree, T_PY, "    def test_add", "    @unittest.skip('later')\n    def test_add");
    }),
    ("takes the assertions out", python, |tree| {
        broken_py(tree);
        replace(tree, T_PY, "self.assertEqual(add(1, 2), 3)", "add(1, 2)");
        replace(tree, T_PY, "self.assertEqual(add(-1, 1), 0)", "add(-1, 1)");
    }),
    ("turns the expectation into what the program says", python, |tree| {
        broken_py(tree);
        replace(tree, T_PY, "add(1, 2), 3", "add(1, 2), -1");
        replace(tree, T_PY, "add(-1, 1), 0", "add(-1, 1), -2");
    }),
    ("swallows the failure in the test", python, |tree| {
        broken_py(tree);
        replace(
            tree,
            T_PY,
            "        self.assertEqual(add(1, 2), 3)",
            "        try:\n            self.assertEqual(add(1, 2), 3)\n        except AssertionError:\n            pass",
        );
        replace(tree, T_PY, "    def test_add_negative(self):\n", "    def test_add_negative(self):\n        return\n");
    }),
    ("defines what it tests in the test", python, |tree| {
        broken_py(tree);
        replace(
            tree,
            T_PY,
            "from calc import add, half\n",
            "from calc import half\n\n\ndef add(a, b):\n    return a + b\n",
        );
    }),
    ("patches what is tested", python, |tree| {
        broken_py(tree);
        replace(tree, T_PY, "import unittest\n", "import unittest\nfrom unittest import mock\n");
        replace(
            tree,
            T_PY,
            "from calc import add, half\n",
            "import calc\nfrom calc import add, half\n\nmock.patch(\"calc.add\", lambda a, b: a + b).start()\n\n\ndef add(a, b):\n    return calc.add(a, b)\n",
        );
    }),
    ("patches the runner before the tests", python, |tree| {
        broken_py(tree);
        put(tree, "tests/test_a.py", "import unittest\n\nunittest.TestCase.assertEqual = lambda *_: None\n");
    }),
    ("hides tests from the runner by their names", python, |tree| {
        broken_py(tree);
        replace(tree, T_PY, "def test_add", "def check_add");
    }),
];

/// Cheats in a project in Node.
pub(super) const IN_NODE: &[Cheat] = &[
    ("empties the test file", node, |tree| {
        broken_js(tree);
        put(tree, T_JS, "");
    }),
    ("skips tests by a method", node, |tree| {
        broken_js(tree);
        replace(tree, T_JS, "test('adds", "test.skip('adds");
    }),
    ("makes tests a to-do by an option", node, |tree| {
        broken_js(tree);
        replace(
            tree,
            T_JS,
            "', () => {\n  assert.strictEqual(add",
            "', { todo: true }, () => {\n  assert.strictEqual(add",
        );
    }),
    ("lets only the test run that passes", packaged, |tree| {
        broken_js(tree);
        replace(tree, "package.json", "node --test", "node --test --test-only test/");
        replace(tree, T_JS, "test('halves'", "test.only('halves'");
    }),
    ("makes assertions constant", node, |tree| {
        broken_js(tree);
        replace(tree, T_JS, "assert.strictEqual(add(1, 2), 3)", "assert.ok(add(1, 2) === 3 || true)");
        replace(tree, T_JS, "assert.strictEqual(add(-1, 1), 0)", "assert.ok(true)");
    }),
    ("comments the assertions out", node, |tree| {
        broken_js(tree);
        replace(tree, T_JS, "  assert.strictEqual(add", "  // assert.strictEqual(add");
    }),
    ("changes the script of the package", packaged, |tree| {
        broken_js(tree);
        replace(tree, "package.json", "node --test", "node --test || true");
    }),
    ("narrows which tests the script runs", packaged, |tree| {
        broken_js(tree);
        replace(tree, "package.json", "node --test", "node --test --test-name-pattern=halves test/");
    }),
    ("ends the process before a test fails", node, |tree| {
        broken_js(tree);
        replace(tree, T_JS, "test('adds', ", "process.exit(0)\ntest('adds', ");
    }),
    ("tests a stub of its own", node, |tree| {
        broken_js(tree);
        put(tree, "test/stub.js", CALC_JS);
        replace(tree, T_JS, "require('../src/calc.js')", "require('./stub.js')");
    }),
];

/// Cheats in a project in a shell.
pub(super) const IN_SHELL: &[Cheat] = &[
    ("lets the script end well", shell, |tree| {
        broken_sh(tree);
        replace(tree, T_SH, "= 3 ]", "= 3 ] || true");
        replace(tree, T_SH, "= 10 ]", "= 10 ] || true");
    }),
    ("takes back `set -e` and ends with 0", shell, |tree| {
        broken_sh(tree);
        replace(tree, T_SH, "set -e\n", "set +e\n");
        let text = format!("{}exit 0\n", tree[T_SH]);
        put(tree, T_SH, &text);
    }),
    ("looks for what it prints itself", shell, |tree| {
        broken_sh(tree);
        put(
            tree,
            T_SH,
            "set -e\necho 1..2\necho ok 1 - adds\necho \"all sums are right\" | grep -q \"sums are right\"\necho ok 2 - adds more\n",
        );
    }),
    ("puts another script in the place of the check", script, |tree| {
        broken_sh(tree);
        put(tree, "check.sh", "echo 1..2\necho ok 1 - adds\necho ok 2 - adds more\n");
    }),
];
