//! One test and one edit of it: which edits are found, and which are accepted.

use super::deciding::found;
use crate::gate::tamper::Weakening;

/// The edit's name, the file, its text, the replaced text and its replacement, and the expected findings.
type WeakeningCase<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, &'a [Weakening]);

const CLI_RS: &str = "use assert_cmd::Command;\n\nfn hexyl() -> Command {\n    Command::cargo_bin(\"hexyl\").unwrap()\n}\n\n#[test]\nfn ascii() {\n    hexyl().arg(\"ascii\").assert().success().stdout(\"41\\n\");\n}\n\n#[test]\nfn is_near() {\n    assert!((half() - 0.3).abs() < 1e-9);\n}\n";
const NEAR_JS: &str = "const { add } = require('../src/add')\n\nit('is near', () => {\n  expect(add(1, 2)).toBeCloseTo(0.3, 2)\n})\n\nit('throws', () => {\n  expect(() => add()).toThrow('no')\n})\n";
const RAISES_PY: &str = "import sys\n\nimport pytest\n\nfrom app.notes import parse\n\n\ndef test_error():\n    with pytest.raises(ValueError, match=\"empty\"):\n        parse(\"\")\n\n\ndef test_parse():\n    assert parse(\"a\") == 1\n";
const BATS: &str = "setup() {\n  load helper\n}\n\n@test \"adds\" {\n  run ./notes add 1 2\n  [ \"$status\" -eq 0 ]\n  [ \"$output\" = \"3\" ]\n}\n\n@test \"lists\" {\n  run ./notes list\n  [ \"$output\" = \"a\" ]\n}\n";
const SPEC_RB: &str = "RSpec.describe Notes do\n  it \"adds\" do\n    expect(Notes.add(1, 2)).to eq(3)\n  end\n\n  it \"lists\" do\n    expect(Notes.list).to eq([1])\n  end\nend\n";

const EACH_JS: &str = "const { add } = require('../src/add')\nconst EXPECTED = 3\nconst cases = [\n  [4, 5, 9],\n  [5, 6, 11],\n]\n\nit.each([\n  [1, 2, 3],\n  [2, 3, 5],\n])('adds %i and %i', (a, b, sum) => {\n  expect(add(a, b)).toBe(sum)\n})\n\nit.each(cases)('sums %i', (a, b, sum) => {\n  expect(add(a, b)).toEqual(sum)\n})\n\nit('is three', async () => {\n  expect(add(1, 2)).toBe(EXPECTED)\n  await expect(load()).resolves.toBe(1)\n  expect(() => add()).toThrow(TypeError)\n})\n";
const TABLE_PY: &str = "import pytest\n\nfrom calc import add\n\n\n@pytest.mark.parametrize(\"a,b,want\", [\n    (1, 2, 3),\n    (2, 3, 5),\n])\ndef test_add(a, b, want):\n    assert add(a, b) == want\n\n\ndef test_more():\n    for name in [\"a\", \"b\"]:\n        prepare(name)\n    for a, b, want in [(4, 5, 9), (5, 6, 11)]:\n        assert add(a, b) == want\n    assert add(7, 7) == 14\n\n\ndef test_error():\n    with pytest.raises(ValueError):\n        add(None, 1)\n";
const TABLE_RS: &str = "use calc::add;\n\n#[test]\nfn table() {\n    for (a, b, want) in [(1, 2, 3), (2, 3, 5)] {\n        assert_eq!(add(a, b), want);\n    }\n}\n\n#[test]\n#[should_panic(expected = \"empty\")]\nfn panics() {\n    add(0, 0);\n}\n";
const TABLE_GO: &str = "package calc\n\nfunc TestTable(t *testing.T) {\n\tcases := []struct {\n\t\tname string\n\t\ta, b, want int\n\t}{\n\t\t{\"one\", 1, 2, 3},\n\t\t{\"two\", 2, 3, 5},\n\t}\n\tfor _, c := range cases {\n\t\tif got := Add(c.a, c.b); got != c.want {\n\t\t\tt.Fatal(c.name)\n\t\t}\n\t}\n}\n";
const TABLE_JAVA: &str = "class NotesTest {\n    @ParameterizedTest\n    @CsvSource({\"1,2,3\", \"2,3,5\"})\n    void table(int a, int b, int want) {\n        assertEquals(want, Notes.add(a, b));\n    }\n\n    @Test\n    void throwsOnEmpty() {\n        assertThrows(IllegalArgumentException.class, () -> Notes.parse(\"\"));\n    }\n}\n";
const TABLE_CS: &str = "public class NotesTests\n{\n    [Theory]\n    [InlineData(1, 2, 3)]\n    [InlineData(2, 3, 5)]\n    public void Table(int a, int b, int want)\n    {\n        Assert.Equal(want, Notes.Add(a, b));\n    }\n\n    [Fact]\n    public void Adds()\n    {\n        Assert.Equal(3, Notes.Add(1, 2));\n    }\n}\n";
const TABLE_RB: &str = "RSpec.describe Notes do\n  [[1, 2, 3], [2, 3, 5]].each do |a, b, want|\n    it \"adds #{a}\" do\n      expect(Notes.add(a, b)).to eq(want)\n    end\n  end\n\n  it \"raises\" do\n    expect { Notes.parse(\"\") }.to raise_error(Empty)\n  end\nend\n";

use Weakening::{ChangedExpectation, OnlyOthersSkipped, RemovedAssertion, Skipped, SwallowedFailure};

/// Rows of tables, and assertions whose failure is less visible.
const TABLES: &[WeakeningCase<'_>] = &[
    ("a row is gone", "test/a.test.js", EACH_JS, "  [2, 3, 5],\n", "", &[RemovedAssertion]),
    ("a row is a comment", "test/a.test.js", EACH_JS, "  [2, 3, 5],\n", "  // [2, 3, 5],\n", &[RemovedAssertion]),
    ("a row expects something else", "test/a.test.js", EACH_JS, "[2, 3, 5]", "[2, 3, 6]", &[ChangedExpectation]),
    ("a row of a named table is gone", "test/a.test.js", EACH_JS, "  [5, 6, 11],\n", "", &[RemovedAssertion]),
    (
        "only some rows are run",
        "test/a.test.js",
        EACH_JS,
        "each(cases)",
        "each(cases.slice(0, 1))",
        &[RemovedAssertion],
    ),
    ("a row is new", "test/a.test.js", EACH_JS, "  [2, 3, 5],\n", "  [2, 3, 5],\n  [0, 0, 0],\n", &[]),
    (
        "rows change places",
        "test/a.test.js",
        EACH_JS,
        "  [1, 2, 3],\n  [2, 3, 5],\n",
        "  [2, 3, 5],\n  [1, 2, 3]\n",
        &[],
    ),
    (
        "rows get names",
        "test/a.test.js",
        EACH_JS,
        "  [1, 2, 3],\n  [2, 3, 5],\n",
        "  ['one', 1, 2, 3],\n  ['two', 2, 3, 5],\n",
        &[],
    ),
    (
        "a table gets a name",
        "test/a.test.js",
        EACH_JS,
        "it.each([\n  [1, 2, 3],\n  [2, 3, 5],\n])",
        "const sums = [\n  [1, 2, 3],\n  [2, 3, 5],\n]\nit.each(sums)",
        &[],
    ),
    (
        "a row becomes a test",
        "test/a.test.js",
        EACH_JS,
        "  [2, 3, 5],\n])('adds %i and %i', (a, b, sum) => {\n  expect(add(a, b)).toBe(sum)\n})\n",
        "])('adds %i and %i', (a, b, sum) => {\n  expect(add(a, b)).toBe(sum)\n})\n\nit('adds two', () => {\n  expect(add(2, 3)).toBe(5)\n})\n",
        &[],
    ),
    ("a named value is another one", "test/a.test.js", EACH_JS, "EXPECTED = 3", "EXPECTED = 4", &[ChangedExpectation]),
    ("an assertion is not waited for", "test/a.test.js", EACH_JS, "await expect", "expect", &[SwallowedFailure]),
    ("an assertion is returned", "test/a.test.js", EACH_JS, "await expect", "return expect", &[]),
    ("any error will do", "test/a.test.js", EACH_JS, "toThrow(TypeError)", "toThrow()", &[ChangedExpectation]),
    ("a message is asked for too", "test/a.test.js", EACH_JS, "toThrow(TypeError)", "toThrow(TypeError, 'no')", &[]),
    (
        "an assertion gets a condition",
        "test/a.test.js",
        EACH_JS,
        "  expect(add(1, 2)).toBe(EXPECTED)",
        "  if (add(1, 2)) expect(add(1, 2)).toBe(EXPECTED)",
        &[SwallowedFailure],
    ),
    (
        "a handler prints",
        "test/a.test.js",
        EACH_JS,
        "  expect(add(1, 2)).toBe(EXPECTED)",
        "  try {\n    expect(add(1, 2)).toBe(EXPECTED)\n  } catch (e) {\n    console.log(e)\n  }",
        &[SwallowedFailure],
    ),
    (
        "a handler throws on",
        "test/a.test.js",
        EACH_JS,
        "  expect(add(1, 2)).toBe(EXPECTED)",
        "  try {\n    expect(add(1, 2)).toBe(EXPECTED)\n  } catch (e) {\n    console.log(e)\n    throw e\n  }",
        &[],
    ),
    ("a row of parameters is gone", "tests/test_a.py", TABLE_PY, "    (2, 3, 5),\n", "", &[RemovedAssertion]),
    (
        "a row of parameters is another one",
        "tests/test_a.py",
        TABLE_PY,
        "(2, 3, 5)",
        "(2, 3, 6)",
        &[ChangedExpectation],
    ),
    (
        "a row of parameters gets an id",
        "tests/test_a.py",
        TABLE_PY,
        "(2, 3, 5)",
        "pytest.param(2, 3, 5, id=\"two\")",
        &[],
    ),
    ("a round of a loop is gone", "tests/test_a.py", TABLE_PY, ", (5, 6, 11)", "", &[RemovedAssertion]),
    ("what is prepared changes", "tests/test_a.py", TABLE_PY, "[\"a\", \"b\"]", "[\"a\", \"c\"]", &[]),
    (
        "any exception will do",
        "tests/test_a.py",
        TABLE_PY,
        "raises(ValueError)",
        "raises(Exception)",
        &[ChangedExpectation],
    ),
    (
        "an assertion in Python gets a condition",
        "tests/test_a.py",
        TABLE_PY,
        "    assert add(7, 7) == 14",
        "    if add(7, 7):\n        assert add(7, 7) == 14",
        &[SwallowedFailure],
    ),
    (
        "a handler in Python prints",
        "tests/test_a.py",
        TABLE_PY,
        "    assert add(7, 7) == 14",
        "    try:\n        assert add(7, 7) == 14\n    except Exception as e:\n        print(e)",
        &[SwallowedFailure],
    ),
    ("a row of Rust is gone", "tests/a.rs", TABLE_RS, ", (2, 3, 5)", "", &[RemovedAssertion]),
    ("a row of Rust is another one", "tests/a.rs", TABLE_RS, "(2, 3, 5)", "(2, 3, 6)", &[ChangedExpectation]),
    ("any panic will do", "tests/a.rs", TABLE_RS, "(expected = \"empty\")", "", &[ChangedExpectation]),
    ("more of a panic is asked for", "tests/a.rs", TABLE_RS, "\"empty\"", "\"empty note\"", &[]),
    ("a case of Go is gone", "a_test.go", TABLE_GO, "\t\t{\"two\", 2, 3, 5},\n", "", &[RemovedAssertion]),
    ("a case of Go is another one", "a_test.go", TABLE_GO, "2, 3, 5}", "2, 3, 6}", &[ChangedExpectation]),
    ("a case of Go is new", "a_test.go", TABLE_GO, "2, 3, 5},", "2, 3, 5},\n\t\t{\"three\", 3, 3, 6},", &[]),
    (
        "a line of a source in CSV is gone",
        "src/test/java/NotesTest.java",
        TABLE_JAVA,
        ", \"2,3,5\"",
        "",
        &[RemovedAssertion],
    ),
    (
        "any throwable will do",
        "src/test/java/NotesTest.java",
        TABLE_JAVA,
        "IllegalArgumentException",
        "Exception",
        &[ChangedExpectation],
    ),
    ("data of a theory are gone", "NotesTests.cs", TABLE_CS, "    [InlineData(2, 3, 5)]\n", "", &[RemovedAssertion]),
    ("a fact is left out", "NotesTests.cs", TABLE_CS, "[Fact]", "[Fact(Skip = \"flaky\")]", &[Skipped]),
    ("a row of Ruby is gone", "spec/a_spec.rb", TABLE_RB, ", [2, 3, 5]", "", &[RemovedAssertion]),
    ("an example of Ruby is left out", "spec/a_spec.rb", TABLE_RB, "it \"raises\"", "xit \"raises\"", &[Skipped]),
    (
        "an example of Ruby runs alone",
        "spec/a_spec.rb",
        TABLE_RB,
        "it \"raises\"",
        "fit \"raises\"",
        &[OnlyOthersSkipped],
    ),
    (
        "an example of Ruby is pending",
        "spec/a_spec.rb",
        TABLE_RB,
        "it \"raises\" do",
        "it \"raises\", :skip do",
        &[Skipped],
    ),
    (
        "a test of bats is left out",
        "test/a.bats",
        BATS,
        "  run ./notes list",
        "  skip \"later\"\n  run ./notes list",
        &[Skipped],
    ),
];

const ROWS: &[WeakeningCase<'_>] = &[
    (
        "more of a command's output is asserted",
        "tests/cli.rs",
        CLI_RS,
        "#[test]\nfn ascii",
        "#[test]\nfn utf8() {\n    hexyl().arg(\"utf8\").assert().success().stdout(\"c3\\n\");\n}\n\n#[test]\nfn ascii",
        &[],
    ),
    (
        "another output of a command is expected",
        "tests/cli.rs",
        CLI_RS,
        "stdout(\"41",
        "stdout(\"42",
        &[Weakening::ChangedExpectation],
    ),
    (
        "what a command says is not asserted any more",
        "tests/cli.rs",
        CLI_RS,
        "assert().success().stdout(\"41\\n\")",
        "assert()",
        &[Weakening::RemovedAssertion],
    ),
    ("a smaller distance is asked for", "tests/cli.rs", CLI_RS, "1e-9", "1e-12", &[]),
    ("a larger distance will do", "tests/cli.rs", CLI_RS, "1e-9", "1e-2", &[Weakening::ChangedExpectation]),
    ("more digits are asked for", "test/a.test.js", NEAR_JS, "0.3, 2", "0.3, 10", &[]),
    ("fewer digits will do", "test/a.test.js", NEAR_JS, "0.3, 2", "0.3, 1", &[Weakening::ChangedExpectation]),
    ("more of a message is asked for", "test/a.test.js", NEAR_JS, "toThrow('no')", "toThrow('no note')", &[]),
    (
        "less of a message will do",
        "test/a.test.js",
        NEAR_JS,
        "toThrow('no')",
        "toThrow('o')",
        &[Weakening::ChangedExpectation],
    ),
    ("more of an error is asked for", "tests/test_a.py", RAISES_PY, "\"empty\"", "\"empty note\"", &[]),
    (
        "another pattern is asked for",
        "tests/test_a.py",
        RAISES_PY,
        "\"empty\"",
        "\"empty|.*\"",
        &[Weakening::ChangedExpectation],
    ),
    (
        "a new test is for one system",
        "tests/test_a.py",
        RAISES_PY,
        "def test_parse",
        "@pytest.mark.skipif(sys.platform == \"win32\", reason=\"posix\")\ndef test_posix():\n    assert parse(\"b\") == 2\n\n\ndef test_parse",
        &[],
    ),
    (
        "a test that was there is for one system",
        "tests/test_a.py",
        RAISES_PY,
        "def test_parse",
        "@pytest.mark.skipif(sys.platform == \"linux\", reason=\"x\")\ndef test_parse",
        &[Weakening::Skipped],
    ),
    (
        "a new test is never run",
        "tests/test_a.py",
        RAISES_PY,
        "def test_parse",
        "@pytest.mark.skip\ndef test_posix():\n    assert parse(\"b\") == 2\n\n\ndef test_parse",
        &[Weakening::Skipped],
    ),
    ("a test of bats is renamed", "test/a.bats", BATS, "@test \"adds\"", "@test \"adds numbers\"", &[]),
    (
        "bats compares by the other bracket",
        "test/a.bats",
        BATS,
        "[ \"$output\" = \"3\" ]",
        "[[ \"$output\" == \"3\" ]]",
        &[],
    ),
    (
        "bats compares with another value",
        "test/a.bats",
        BATS,
        "[ \"$output\" = \"3\" ]",
        "[[ \"$output\" == \"4\" ]]",
        &[Weakening::RemovedAssertion],
    ),
    ("a value is the same object", "spec/a_spec.rb", SPEC_RB, "eq(3)", "be(3)", &[]),
];

fn kinds(texts: &[(&str, &str, &str)]) -> Vec<Weakening> {
    let path = texts.first().map_or("", |first| first.0);
    let command = match path.rsplit('.').next().unwrap_or_default() {
        "rs" => "cargo test",
        "py" => "pytest",
        "go" => "go test ./...",
        "rb" => "bundle exec rspec",
        "bats" => "bats test",
        "java" | "kt" => "mvn test",
        "cs" => "dotnet test",
        "Makefile" => "make test",
        _ => "npx jest",
    };
    let mut kinds: Vec<Weakening> = found(&("", command, &[], texts)).into_iter().map(|finding| finding.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[test]
fn an_edit_of_a_test_is_found_only_if_the_test_sees_less() {
    let mut wrong = Vec::new();
    for (what, path, text, from, to, expected) in ROWS.iter().chain(TABLES) {
        assert!(text.contains(from), "{what}: `{from}`");
        let after = text.replacen(from, to, 1);
        let seen = kinds(&[(path, text, &after)]);
        if seen != *expected {
            wrong.push(format!("{what}: {seen:?}, expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), ROWS.len() + TABLES.len());
}

#[test]
fn tests_removed_together_with_their_subject_are_not_missed() {
    let test = "const { old } = require('../src/old')\n\ntest('old', () => {\n  expect(old()).toBe(1)\n})\n";
    let source = "exports.old = () => 1;\n";
    let gone = [("test/old.test.js", test, "-"), ("src/old.js", source, "-")];
    assert_eq!(kinds(&gone), []);
    // The subject only moved, another subject of the test stays, or the subject stays.
    let moved = [gone[0], gone[1], ("src/new.js", "-", "exports.old = () => 2;\n")];
    assert_eq!(kinds(&moved), [Weakening::DeletedTests]);
    let two = format!("const {{ a }} = require('../src/a')\n{test}");
    assert_eq!(kinds(&[("test/old.test.js", &two, "-"), gone[1]]), [Weakening::DeletedTests]);
    assert_eq!(kinds(&gone[..1]), [Weakening::DeletedTests]);

    let test = "from app.old import old\n\n\ndef test_old():\n    assert old() == 1\n";
    let source = "def old():\n    return 1\n";
    assert_eq!(kinds(&[("tests/test_old.py", test, "-"), ("app/old.py", source, "-")]), []);
    let two = test.replace("import old\n", "import old\nfrom app.notes import add\n");
    assert_eq!(kinds(&[("tests/test_old.py", &two, "-"), ("app/old.py", source, "-")]), [Weakening::DeletedTests]);

    let inside = "pub fn add(a: i32) -> i32 {\n    a\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1), 1);\n    }\n}\n";
    assert_eq!(kinds(&[("src/old.rs", inside, "-"), ("src/lib.rs", "mod old;\n", "")]), []);
    let elsewhere = ("src/new.rs", "-", "pub fn add(a: i32) -> i32 {\n    a + 1\n}\n");
    assert_eq!(kinds(&[("src/old.rs", inside, "-"), elsewhere]), [Weakening::DeletedTests]);
}

#[test]
fn settings_that_check_more_are_accepted() {
    let test = ("test/a.test.js", NEAR_JS, NEAR_JS);
    let config = |body: &str| format!("export default defineConfig({{ test: {{ {body} }} }});\n");
    let base = config("include: ['src/**/*.test.ts']");
    for (body, expected) in [
        ("include: ['src/**/*.test.ts', 'test/**/*.test.ts']", &[][..]),
        ("coverage: { thresholds: { lines: 90 } }, include: ['src/**/*.test.ts']", &[]),
        ("setupFiles: ['./setup.ts'], include: ['src/**/*.test.ts']", &[]),
        ("include: ['src/**/*.test.ts', '!src/a.test.ts']", &[Weakening::ChangedSettings]),
        ("exclude: ['src/b.test.ts'], include: ['src/**/*.test.ts']", &[Weakening::ChangedSettings]),
        ("passWithNoTests: true, include: ['src/**/*.test.ts']", &[Weakening::ChangedSettings]),
    ] {
        let after = config(body);
        assert_eq!(kinds(&[test, ("vitest.config.ts", &base, &after)]), expected, "{body}");
    }
    let after = config("setupFiles: ['./setup.ts'], include: ['src/**/*.test.ts']");
    let setup = ("setup.ts", "-", "vi.mock('../src/add', () => ({ add: () => 0.3 }))\n");
    assert_eq!(kinds(&[test, ("vitest.config.ts", &base, &after), setup]), [Weakening::ChangedSettings]);

    let package = |script: &str| format!("{{\"scripts\": {{\"test\": \"{script}\"}}}}\n");
    let (then, kinds) = (package("jest"), |after: &str| {
        let after = package(after);
        found(&("", "npm test", &[], &[test, ("package.json", &package("jest"), &after)])).len()
    });
    assert!(then.contains("jest"));
    assert_eq!((kinds("tsc --noEmit && jest"), kinds("jest --coverage")), (0, 0));
    assert!(kinds("jest --passWithNoTests") > 0 && kinds("tsc --noEmit; jest") > 0);

    let make = |recipe: &str| format!("test:\n\t{recipe}\n");
    let then = make("go test ./...");
    let go = ("a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tif A() != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n");
    let with = |recipe: &str| {
        let after = make(recipe);
        found(&("", "make test", &[], &[("Makefile", &then, &after), (go.0, go.1, go.1)])).len()
    };
    assert_eq!((with("go test -race ./..."), with("go vet ./... && go test ./a")), (0, 1));

    let steps = |step: &str| format!("jobs:\n  a:\n    steps:\n      - run: npm test\n      - run: codecov\n{step}");
    let then = steps("");
    let after = steps("        continue-on-error: true\n");
    // Every change of a workflow is reported, because it runs automatically.
    let path = ".github/workflows/ci.yml";
    assert_eq!(self::kinds(&[(path, &then, &after)]), [Weakening::RunsByItself]);
    let after = then.replace("npm test\n", "npm test\n        continue-on-error: true\n");
    assert_eq!(self::kinds(&[(path, &then, &after)]), [Weakening::ChangedPipeline]);
}
