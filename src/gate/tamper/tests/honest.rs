//! Edits of tests as honest people make them.

use super::Honest::{Allowed, Free, Told};
use super::{Edit, Honest, Start, node, packaged, put, python, replace, shell};

/// The edit's name, the project, the plan, the expected result, and the edit.
pub(super) type HonestEdit = (&'static str, Start, &'static str, Honest, Edit);

const T_PY: &str = "tests/test_calc.py";
const T_JS: &str = "test/calc.test.js";

/// Edits in a project in Python.
pub(super) const IN_PYTHON: &[HonestEdit] = &[
    ("renames a test", python, "", Free, |tree| replace(tree, T_PY, "test_add_negative", "test_adds_below_zero")),
    ("moves a test file", python, "", Free, |tree| {
        let text = tree.remove(T_PY).unwrap();
        put(tree, "tests/test_sums.py", &text);
    }),
    (
        "updates an expectation that the plan names",
        python,
        "- Allowed test changes: `tests/test_calc.py` (half rounds up)",
        Allowed,
        |tree| {
            replace(tree, "calc.py", "a // 2", "-(-a // 2)");
            replace(tree, T_PY, "half(9), 4", "half(9), 5");
        },
    ),
    ("updates an expectation that no plan names", python, "", Told, |tree| {
        replace(tree, "calc.py", "a // 2", "-(-a // 2)");
        replace(tree, T_PY, "half(9), 4", "half(9), 5");
    }),
    ("makes a table of cases", python, "", Free, |tree| {
        let text = tree[T_PY].clone();
        let (from, to) = (text.find("    def test_add(").unwrap(), text.find("    def test_half").unwrap());
        let table = "    def test_add(self):\n        for a, b, expected in [(1, 2, 3), (-1, 1, 0)]:\n            with self.subTest(a=a):\n                self.assertEqual(add(a, b), expected)\n\n";
        put(tree, T_PY, &format!("{}{table}{}", &text[..from], &text[to..]));
    }),
    ("adds a test file and a helper beside it", python, "", Free, |tree| {
        put(tree, "tests/helpers.py", "def pairs():\n    return [(1, 1)]\n");
        put(
            tree,
            "tests/test_pairs.py",
            "import unittest\n\nfrom calc import add\nfrom tests.helpers import pairs\n\n\nclass T(unittest.TestCase):\n    def test_pairs(self):\n        for a, b in pairs():\n            self.assertEqual(add(a, b), 2)\n",
        );
    }),
    ("prepares values in a method", python, "", Free, |tree| {
        replace(
            tree,
            T_PY,
            "    def test_add(self):",
            "    def setUp(self):\n        self.one = 1\n\n    def test_add(self):",
        );
    }),
    ("moves the program", python, "", Free, |tree| {
        let text = tree.remove("calc.py").unwrap();
        put(tree, "lib/__init__.py", "");
        put(tree, "lib/calc.py", &text);
        replace(tree, T_PY, "from calc import", "from lib.calc import");
    }),
    ("explains tests", python, "", Free, |tree| {
        replace(
            tree,
            T_PY,
            "    def test_half(self):\n",
            "    def test_half(self):\n        \"\"\"Rounds down.\"\"\"\n        # As floor division does.\n",
        );
        replace(tree, T_PY, "half(8), 4)", "half(8), 4, \"half of eight\")");
    }),
    (
        "removes a test that the plan names",
        python,
        "Allowed test changes:\n- tests/test_calc.py (half goes)\n",
        Allowed,
        |tree| {
            replace(tree, "calc.py", "\n\ndef half(a):\n    return a // 2\n", "");
            let text = tree[T_PY].clone();
            let at = text.find("\n    def test_half").unwrap();
            put(tree, T_PY, &text[..at].replace("add, half", "add"));
        },
    ),
    ("says assertions in other words", python, "", Free, |tree| {
        replace(tree, T_PY, "self.assertEqual(add(1, 2), 3)", "assert add(1, 2) == 3");
    }),
    ("merges two tests", python, "", Told, |tree| {
        replace(tree, T_PY, "\n    def test_add_negative(self):\n", "");
    }),
];

/// Edits in a project in Node.
pub(super) const IN_NODE: &[HonestEdit] = &[
    ("adds a case to a test and a test", node, "", Free, |tree| {
        replace(
            tree,
            T_JS,
            "  assert.strictEqual(half(9), 4)\n})",
            "  assert.strictEqual(half(9), 4)\n  assert.strictEqual(half(0), 0)\n})\n\ntest('more', () => {\n  assert.strictEqual(add(2, 2), 4)\n})",
        );
    }),
    ("writes a helper that asserts", node, "", Free, |tree| {
        replace(
            tree,
            T_JS,
            "test('adds', () => {\n  assert.strictEqual(add(1, 2), 3)",
            "function sum(a, b, expected) {\n  assert.strictEqual(add(a, b), expected)\n}\n\ntest('adds', () => {\n  sum(1, 2, 3)",
        );
        replace(tree, T_JS, "assert.strictEqual(add(-1, 1), 0)", "sum(-1, 1, 0)");
    }),
    ("sets the code anew", node, "", Free, |tree| {
        replace(tree, T_JS, "'", "\"");
        replace(tree, T_JS, "strictEqual(add(1, 2), 3)", "strictEqual(\n    add(1, 2),\n    3,\n  );");
    }),
    ("makes tests of a loop", node, "", Free, |tree| {
        let text = tree[T_JS].clone();
        let (from, to) = (text.find("test('adds'").unwrap(), text.find("test('halves'").unwrap());
        let table = "for (const [a, b, sum] of [[1, 2, 3], [-1, 1, 0]]) {\n  test(`adds ${a} and ${b}`, () => {\n    assert.strictEqual(add(a, b), sum)\n  })\n}\n\n";
        put(tree, T_JS, &format!("{}{table}{}", &text[..from], &text[to..]));
    }),
    ("splits a file", node, "", Free, |tree| {
        let text = tree[T_JS].clone();
        let (head, at) = (text.find("test('adds'").unwrap(), text.find("test('halves'").unwrap());
        put(tree, T_JS, &text[..at].replace("add, half", "add"));
        put(tree, "test/half.test.js", &format!("{}{}", text[..head].replace("add, half", "half"), &text[at..]));
    }),
    ("calls the program by another name", node, "", Free, |tree| {
        replace(tree, T_JS, "const { add, half } =", "const calc =");
        replace(tree, T_JS, "(add(", "(calc.add(");
        replace(tree, T_JS, "(half(", "(calc.half(");
    }),
    ("adds scripts and dependencies to the package", packaged, "", Free, |tree| {
        replace(
            tree,
            "package.json",
            "\"scripts\": {",
            "\"dependencies\": {},\n  \"scripts\": {\n    \"build\": \"echo x\",",
        );
        replace(tree, "package.json", "node src/calc.js", "node src/calc.js --all");
    }),
    ("puts tests in another order", node, "", Free, |tree| {
        let text = tree[T_JS].clone();
        let (head, at) = (text.find("test('adds'").unwrap(), text.find("test('halves'").unwrap());
        put(tree, T_JS, &format!("{}{}\n{}", &text[..head], &text[at..], &text[head..at]));
    }),
    ("wraps tests in a group", node, "", Free, |tree| {
        let text = tree[T_JS].clone();
        let head = text.find("test('adds'").unwrap();
        put(tree, T_JS, &format!("{}test.describe('calc', () => {{\n{}}})\n", &text[..head], &text[head..]));
    }),
    ("skips a test that the plan names", node, "Allowed test changes: `test/` (needs a server)", Allowed, |tree| {
        replace(tree, T_JS, "test('halves'", "test.skip('halves'");
    }),
];

/// Edits in a project in a shell.
pub(super) const IN_SHELL: &[HonestEdit] = &[
    ("adds to recorded answers", shell, "", Free, |tree| {
        replace(tree, "tests/data/sums.golden", "2 2 4\n", "2 2 4\n3 3 6\n");
    }),
    ("records answers again as the plan says", shell, "Allowed test changes: tests/data/*.golden", Allowed, |tree| {
        put(tree, "tests/data/sums.golden", "1 2 = 3\n2 2 = 4\n");
    }),
    ("adds a check to a script", shell, "", Free, |tree| {
        let text = format!(
            "{}[ \"$(sh calc.sh 0 0)\" = 0 ]\necho ok 3 - zero\n",
            tree["tests/run.sh"].replace("1..2", "1..3")
        );
        put(tree, "tests/run.sh", &text);
    }),
    ("adds targets that no check makes", shell, "", Free, |tree| put(tree, "Makefile", "build:\n\techo built\n")),
];
