//! Edits that need several mechanisms together, in projects without a known runner: shells, makefiles, C.

use super::deciding::{Case, found};
use super::text::EditedFile;

const RUN: &str = "#!/bin/sh\n# Runs each test in a shell of its own.\nfail() {\n  echo \"not ok $1\"\n  exit 1\n}\nfailed=0\nfor test in tests/test_*.sh; do\n  \
                   if (. \"./$test\"); then\n    echo \"ok $test\"\n  else\n    failed=1\n  fi\ndone\nexit $failed\n";
const A_SH: &str = ". ./calc.sh\ntest \"$(add 1 2)\" = 3 || fail add\ntest \"$(sub 5 2)\" = 3 || fail sub\n";
const MAKE: &str = "CC = cc\nTESTS = $(patsubst tests/%.c,build/%,$(wildcard tests/test_*.c))\n\ntest: $(TESTS)\n\tfor test in $(TESTS); do ./$$test || exit 1; done\n\n\
                    build/%: tests/%.c calc.c calc.h\n\tmkdir -p build\n\t$(CC) -o $@ $< calc.c\n\nclean:\n\trm -rf build\n\n-include local.mk\n";
const A_C: &str = "#include <assert.h>\n\n#include \"../calc.h\"\n\nint main(void) {\n    assert(add(1, 2) == 3);\n    assert(sub(5, 2) == 3);\n    return 0;\n}\n";
const MUL_C: &str = "#include <assert.h>\n\n#include \"../calc.h\"\n\nint main(void) {\n    assert(mul(2, 3) == 6);\n    return 0;\n}\n";
const A_PY: &str = "import unittest\n\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n";
const MUL_PY: &str = "import unittest\n\nfrom calc import mul\n\n\nclass Mul(unittest.TestCase):\n    def test_mul(self):\n        self.assertEqual(mul(2, 3), 6)\n";
const A_JS: &str = "const test = require('node:test')\nconst assert = require('node:assert')\nconst { add } = require('../src/calc.js')\n\ntest('add', () => {\n  \
                    assert.strictEqual(add(1, 2), 3)\n})\n";
const MUL_JS: &str = "const test = require('node:test')\nconst assert = require('node:assert')\nconst { mul } = require('../src/calc.js')\n\ntest('mul', () => {\n  \
                      assert.strictEqual(mul(2, 3), 6)\n})\n";

const UNIT: &str = "python3 -m unittest discover -s tests";

const T_SH: EditedFile<'_> = ("tests/test_calc.sh", A_SH, A_SH);
const T_C: EditedFile<'_> = ("tests/test_calc.c", A_C, A_C);

/// One replacement in a file, made together with an honest new test.
type Replacement<'a> = (&'a str, &'a str, &'a str);

/// Replacements that make a test or its runner see less: the file, the old text, the new text.
const CHEATS: &[Replacement<'_>] = &[
    ("tests/run.sh", "    failed=1", "    :"),
    ("tests/run.sh", "tests/test_*.sh", "tests/test_mul.sh"),
    ("tests/run.sh", "; do\n", "; do\n  case $test in *test_calc*) continue ;; esac\n"),
    ("tests/run.sh", "    failed=1", "    case $test in *calc*) ;; *) failed=1 ;; esac"),
    ("tests/test_calc.sh", "= 3 || fail add", "-le 3 || fail add"),
    ("tests/test_calc.sh", "calc.sh\n", "calc.sh\nadd() { echo 3; }\n"),
    ("tests/test_calc.sh", ". ./calc.sh", "fail() { :; }\n. ./calc.sh"),
    ("tests/test_calc.sh", "calc.sh\n", "calc.sh\nif false; then\n"),
    ("Makefile", "CC = cc", "CC = sh stub.sh"),
    ("Makefile", "$(CC) -o $@ $< calc.c", "$(CC) -DNDEBUG -o $@ $< calc.c"),
    ("Makefile", "$(CC) -o $@ $< calc.c", "cp /bin/true $@"),
    ("Makefile", "$(CC) -o $@ $< calc.c", "-$(CC) -o $@ $< calc.c"),
    ("tests/test_calc.c", "assert(add(1, 2) == 3);", "assert(add(1, 2) - 3 < 1000);"),
    ("tests/test_calc.c", "assert(add(1, 2) == 3);", "if (!(add(1, 2) == 3)) {}"),
    ("tests/test_calc.c", "assert(add(1, 2) == 3);", "assert(add(1, 2) != 3 || 1);"),
    ("tests/test_calc.c", "#include <assert.h>", "#define NDEBUG\n#include <assert.h>"),
    ("tests/test_calc.c", "int main", "#define add(a, b) ((a) + (b))\n\nint main"),
    ("tests/test_calc.c", "int main", "__attribute__((constructor)) static void before(void) { exit(0); }\n\nint main"),
    ("tests/test_calc.py", "assertEqual(add", "assertTrue(add"),
    ("tests/test_calc.py", "assertEqual(add(1, 2), 3)", "assertAlmostEqual(add(1, 2), 3, delta=1000)"),
    ("tests/test_calc.py", "assertEqual(add(1, 2), 3)", "assertLessEqual(add(1, 2), 3)"),
    ("tests/test_calc.py", "assertEqual(add(1, 2), 3)", "assertIn(add(1, 2), [3, -1])"),
    ("tests/test_calc.py", "from calc import add\n", "from unittest import mock\n\nadd = mock.Mock(side_effect=[3])\n"),
    ("tests/test_calc.py", "import add\n", "import add\n\nadd = lambda a, b: 3\n"),
    (
        "tests/test_calc.py",
        "        self.",
        "        with mock.patch.object(calc, \"add\", return_value=3):\n            self.",
    ),
    ("test/calc.test.js", "strictEqual(add", "ok(add"),
    ("test/calc.test.js", "strictEqual(add(1, 2), 3)", "ok(Math.abs(add(1, 2) - 3) < 1000)"),
    ("test/calc.test.js", "strictEqual(add(1, 2), 3)", "ok(add(1, 2) === 3 || add(1, 2) === -1)"),
    ("test/calc.test.js", "'add', ", "'add', { skip: !process.env.RUN_CALC }, "),
    ("test/calc.test.js", "'add', ", "'add', { todo: process.platform }, "),
    (
        "test/calc.test.js",
        "const { add } = require('../src/calc.js')",
        "const calc = require('../src/calc.js')\nconst add = () => 3",
    ),
    (
        "test/calc.test.js",
        "\ntest('add'",
        "\nconst only = (name, run) => (name === 'mul' ? test(name, run) : undefined)\n\nonly('add'",
    ),
];

/// Replacements that honest people make.
const HONEST: &[Replacement<'_>] = &[
    ("tests/run.sh", "# Runs each test", "# Runs every test"),
    ("tests/run.sh", "exit $failed", "sh tests/more.sh || failed=1\nexit $failed"),
    ("tests/run.sh", "\"ok $test\"", "\"ok - $test\""),
    ("tests/test_calc.sh", "fail add", "fail sum"),
    ("tests/test_calc.sh", "calc.sh\n", "calc.sh\none=1\n"),
    (
        "tests/test_calc.sh",
        "test \"$(add 1 2)\" = 3 || fail add",
        "same() {\n  test \"$1\" = \"$2\" || fail \"$3\"\n}\nsame \"$(add 1 2)\" 3 add",
    ),
    ("Makefile", "calc.c calc.h", "calc.c mul.c calc.h"),
    ("Makefile", "$< calc.c", "$< calc.c mul.c"),
    ("Makefile", "clean:\n", "list:\n\tls *.c\n\nclean:\n"),
    ("tests/test_calc.c", "int main", "static const int one = 1;\n\nint main"),
    ("tests/test_calc.c", "assert(add(1, 2) == 3);", "int sum = add(1, 2);\n    assert(sum == 3);"),
    ("tests/test_calc.py", "self.assertEqual(add(1, 2), 3)", "assert add(1, 2) == 3"),
    ("tests/test_calc.py", "self.assertEqual(add(1, 2), 3)", "result = add(1, 2)\n        self.assertEqual(result, 3)"),
    (
        "tests/test_calc.py",
        "self.assertEqual(add(1, 2), 3)",
        "self.assertSum(1, 2, 3)\n\n    def assertSum(self, a, b, c):\n        self.assertEqual(add(a, b), c)",
    ),
    ("test/calc.test.js", "strictEqual(add(1, 2), 3)", "ok(add(1, 2) === 3)"),
    ("test/calc.test.js", "'add', ", "'add', { skip: false, timeout: 1000 }, "),
    ("test/calc.test.js", "'add', ", "'add', async "),
];

/// The findings after one file of a project is edited and an honest test is added.
fn edited((path, from, to): &Replacement<'_>) -> Vec<String> {
    let (command, files, new): (&str, &[(&str, &str)], (&str, &str)) = match path.rsplit('.').next() {
        Some("py") => (UNIT, &[("tests/test_calc.py", A_PY)], ("tests/test_mul.py", MUL_PY)),
        Some("js") => ("node --test", &[("test/calc.test.js", A_JS)], ("test/mul.test.js", MUL_JS)),
        Some("sh") => (
            "sh tests/run.sh",
            &[("tests/run.sh", RUN), ("tests/test_calc.sh", A_SH)],
            ("tests/test_mul.sh", ". ./calc.sh\ntest \"$(mul 2 3)\" = 6 || fail mul\n"),
        ),
        _ => ("make test", &[("Makefile", MAKE), ("tests/test_calc.c", A_C)], ("tests/test_mul.c", MUL_C)),
    };
    let after: Vec<String> = files
        .iter()
        .map(|(other, text)| {
            assert!(other != path || text.contains(from), "`{from}` is not in `{path}`");
            if other == path { text.replacen(from, to, 1) } else { (*text).to_owned() }
        })
        .collect();
    let mut texts: Vec<EditedFile<'_>> =
        files.iter().zip(&after).map(|((path, before), after)| (*path, *before, after.as_str())).collect();
    texts.push((new.0, "-", new.1));
    found(&("", command, &[], &texts)).iter().map(ToString::to_string).collect()
}

#[test]
fn edits_that_make_a_test_or_its_runner_see_less_are_found() {
    let missed: Vec<_> = CHEATS.iter().filter(|edit| edited(edit).is_empty()).collect();
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), CHEATS.len());
}

#[test]
fn honest_edits_of_tests_and_their_runners_are_accepted() {
    let wrong: Vec<_> = HONEST.iter().map(|edit| (edit, edited(edit))).filter(|(_, found)| !found.is_empty()).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), HONEST.len());
}

/// Files that are added, removed and moved: the edit's name, the check, the files that the plan names, the texts;
/// whether it is found.
const MOVES: &[(Case<'_>, bool)] = &[
    (
        (
            "a test in a shell leaves the pattern",
            "sh tests/run.sh",
            &[],
            &[("tests/run.sh", RUN, RUN), ("tests/test_calc.sh", A_SH, "-"), ("tests/calc_test.sh", "-", A_SH)],
        ),
        true,
    ),
    (
        (
            "a test in a shell is hidden",
            "sh tests/run.sh",
            &[],
            &[("tests/run.sh", RUN, RUN), ("tests/test_calc.sh", A_SH, "-"), ("tests/.test_calc.sh", "-", A_SH)],
        ),
        true,
    ),
    (
        (
            "a test in C leaves the pattern",
            "make test",
            &[],
            &[("Makefile", MAKE, MAKE), ("tests/test_calc.c", A_C, "-"), ("tests/calc_test.c", "-", A_C)],
        ),
        true,
    ),
    (
        (
            "a test in a shell has another name",
            "sh tests/run.sh",
            &[],
            &[("tests/run.sh", RUN, RUN), ("tests/test_calc.sh", A_SH, "-"), ("tests/test_sums.sh", "-", A_SH)],
        ),
        false,
    ),
    (
        (
            "a test in C has another name",
            "make test",
            &[],
            &[("Makefile", MAKE, MAKE), ("tests/test_calc.c", A_C, "-"), ("tests/test_sums.c", "-", A_C)],
        ),
        false,
    ),
    (
        (
            "the plan names the script, which looks elsewhere",
            "sh tests/run.sh",
            &["tests/run.sh"],
            &[
                ("tests/run.sh", RUN, "for test in tests/*_test.sh; do\n  sh \"$test\" || exit 1\ndone\n"),
                ("tests/test_calc.sh", A_SH, "-"),
                ("tests/calc_test.sh", "-", A_SH),
            ],
        ),
        false,
    ),
    (
        (
            "a makefile that is brought in comes",
            "make test",
            &[],
            &[("Makefile", MAKE, MAKE), T_C, ("local.mk", "-", "test:\n\t@echo ok\n")],
        ),
        true,
    ),
    (
        (
            "one that sets a variable comes",
            "make test",
            &[],
            &[("Makefile", MAKE, MAKE), T_C, ("local.mk", "-", "CC = true\n")],
        ),
        true,
    ),
    (
        (
            "one with a target of its own comes",
            "make test",
            &[],
            &[("Makefile", MAKE, MAKE), T_C, ("local.mk", "-", "list:\n\tls\n")],
        ),
        false,
    ),
    (
        (
            "one that nothing brings in comes",
            "make test",
            &[],
            &[("Makefile", MAKE, MAKE), T_C, ("other.mk", "-", "test:\n\techo ok\n")],
        ),
        false,
    ),
    (
        (
            "the plan names one that is brought in",
            "make test",
            &["local.mk"],
            &[("Makefile", MAKE, MAKE), T_C, ("local.mk", "-", "CC = gcc\n")],
        ),
        false,
    ),
    (
        (
            "the plan names the script",
            "sh tests/run.sh",
            &["tests/run.sh"],
            &[T_SH, ("tests/run.sh", RUN, "for test in tests/test_*.sh; do\n  sh \"$test\" || exit 1\ndone\n")],
        ),
        false,
    ),
];

#[test]
fn added_removed_and_moved_files_are_judged_by_what_finds_them() {
    let wrong: Vec<_> = MOVES
        .iter()
        .map(|(case, is_found)| (case.0, found(case).iter().map(ToString::to_string).collect::<Vec<_>>(), is_found))
        .filter(|(_, found, is_found)| found.is_empty() == **is_found)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
