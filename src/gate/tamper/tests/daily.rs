//! What people do to tests on an ordinary day, in languages whose tools are not installed everywhere. None of it may be
//! refused.

use super::deciding::{Case, found};

const A_GO: &str = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n\nfunc TestZero(t *testing.T) {\n\tif got := Add(0, 0); got != 0 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n";
const A_RS: &str = "use calc::add;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\n#[test]\nfn adds_zero() {\n    assert_eq!(add(0, 0), 0);\n}\n";
const L_RS: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n";
const A_TS: &str = "import { describe, expect, it } from 'vitest'\nimport { add, sub } from '../src/calc'\n\ndescribe('add', () => {\n  it('adds', () => {\n    expect(add(1, 2)).toBe(3)\n  })\n\n  it('adds zero', () => {\n    expect(add(0, 0)).toBe(0)\n  })\n})\n\nit('subtracts', () => {\n  expect(sub(3, 1)).toBe(2)\n})\n";
const P_PY: &str = "import json\n\nimport pytest\n\nfrom app import client\nfrom calc import add, sub\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_sub():\n    assert sub(3, 1) == 2\n\n\ndef test_page():\n    assert client.get(\"/\").status == 200\n    assert json.loads(client.get(\"/a\").text) == {}\n";
const PARSER: &str = "export class Parser {\n  pair() {\n    this.expect('(').at(0)\n    const key = this.word()\n    this.expect(',').at(1)\n    return [key, this.word()]\n  }\n}\n";
const GUARD: &str = "from app.errors import Wrong\n\n\ndef assert_valid(user):\n    if not user:\n        raise Wrong()\n\n\ndef save(user):\n    assert_valid(user)\n    assert_valid(user.name)\n    return user\n";

const EDITS: &[Case<'_>] = &[
    // Go
    (
        "tests become a table",
        "go test ./...",
        &[],
        &[(
            "calc_test.go",
            A_GO,
            "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tfor _, c := range []struct {\n\t\tname string\n\t\ta, b, want int\n\t}{\n\t\t{\"small\", 1, 2, 3},\n\t\t{\"zero\", 0, 0, 0},\n\t} {\n\t\tt.Run(c.name, func(t *testing.T) {\n\t\t\tif got := Add(c.a, c.b); got != c.want {\n\t\t\t\tt.Errorf(\"got %d\", got)\n\t\t\t}\n\t\t})\n\t}\n}\n",
        )],
    ),
    (
        "tests run beside each other and get a helper",
        "go test ./...",
        &[],
        &[(
            "calc_test.go",
            A_GO,
            "package calc\n\nimport \"testing\"\n\nfunc temp(t *testing.T) string {\n\tt.Helper()\n\treturn t.TempDir()\n}\n\nfunc TestAdd(t *testing.T) {\n\tt.Parallel()\n\t_ = temp(t)\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"got %d, want 3\", got)\n\t}\n}\n\nfunc TestZero(t *testing.T) {\n\tt.Parallel()\n\tif got := Add(0, 0); got != 0 {\n\t\tt.Fatalf(\"got %d\", got)\n\t}\n}\n",
        )],
    ),
    (
        "tests go into the package that calls from outside",
        "go test ./...",
        &[],
        &[(
            "calc_test.go",
            A_GO,
            "package calc_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/calc\"\n)\n\nfunc TestAdd(t *testing.T) {\n\tif got := calc.Add(1, 2); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n\nfunc TestZero(t *testing.T) {\n\tif got := calc.Add(0, 0); got != 0 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
        )],
    ),
    (
        "a file of tests is split",
        "go test ./...",
        &[],
        &[
            (
                "calc_test.go",
                A_GO,
                "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
            ),
            (
                "zero_test.go",
                "-",
                "package calc\n\nimport \"testing\"\n\nfunc TestZero(t *testing.T) {\n\tif got := Add(0, 0); got != 0 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
            ),
        ],
    ),
    (
        "a benchmark, an example and a test for short runs are added",
        "go test ./...",
        &[],
        &[(
            "more_test.go",
            "-",
            "package calc\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc BenchmarkAdd(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tAdd(i, i)\n\t}\n}\n\nfunc ExampleAdd() {\n\tfmt.Println(Add(1, 2))\n\t// Output: 3\n}\n\nfunc TestMore(t *testing.T) {\n\tif got := Add(2, 2); got != 4 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
        )],
    ),
    // Rust
    (
        "tests become a table of cases",
        "cargo test",
        &[],
        &[(
            "tests/calc.rs",
            A_RS,
            "use calc::add;\n\n#[test]\nfn adds() {\n    for (a, b, sum) in [(1, 2, 3), (0, 0, 0), (2, 2, 4)] {\n        assert_eq!(add(a, b), sum, \"{a} + {b}\");\n    }\n}\n",
        )],
    ),
    (
        "tests give their errors back",
        "cargo test",
        &[],
        &[(
            "tests/calc.rs",
            A_RS,
            "use calc::add;\n\ntype Outcome = Result<(), Box<dyn std::error::Error>>;\n\n#[test]\nfn adds() -> Outcome {\n    assert_eq!(add(1, \"2\".parse()?), 3);\n    assert_eq!(add(1, 2), 3);\n    Ok(())\n}\n\n#[test]\nfn adds_zero() {\n    assert_eq!(add(0, 0), 0);\n}\n",
        )],
    ),
    (
        "the tests inside a source go into a file of their own",
        "cargo test",
        &[],
        &[
            ("src/calc.rs", L_RS, "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests;\n"),
            ("src/calc/tests.rs", "-", "use super::*;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"),
        ],
    ),
    (
        "the function gets another name, and its tests too",
        "cargo test",
        &[],
        &[(
            "src/calc.rs",
            L_RS,
            "pub fn sum(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn sums() {\n        assert_eq!(sum(1, 2), 3);\n    }\n}\n",
        )],
    ),
    (
        "a closure of the test checks for it",
        "cargo test",
        &[],
        &[(
            "tests/calc.rs",
            A_RS,
            "use calc::add;\n\n#[test]\nfn adds() {\n    let check = |a, b, sum| {\n        assert_eq!(add(a, b), sum);\n    };\n    check(1, 2, 3);\n    check(0, 0, 0);\n}\n\n#[test]\nfn adds_zero() {\n    assert_eq!(add(0, 0), 0);\n}\n",
        )],
    ),
    (
        "a test for another system and a slow one are added beside new ones",
        "cargo test",
        &[],
        &[(
            "tests/more.rs",
            "-",
            "use calc::add;\n\n#[test]\nfn adds_more() {\n    assert_eq!(add(2, 2), 4);\n}\n\n#[cfg(windows)]\n#[test]\nfn adds_there() {\n    assert_eq!(add(2, 3), 5);\n}\n",
        )],
    ),
    // TypeScript
    (
        "the tests are formatted otherwise",
        "npx vitest run",
        &[],
        &[(
            "test/calc.test.ts",
            A_TS,
            "import { describe, expect, it } from \"vitest\";\nimport { add, sub } from \"../src/calc\";\n\ndescribe(\"add\", () => {\n  it(\"adds\", () => {\n    expect(\n      add(1, 2),\n    ).toBe(3);\n  });\n\n  it(\"adds zero\", () => {\n    expect(add(0, 0)).toBe(0);\n  });\n});\n\nit(\"subtracts\", () => {\n  expect(sub(3, 1)).toBe(2);\n});\n",
        )],
    ),
    (
        "the tests become those of each case",
        "npx vitest run",
        &[],
        &[(
            "test/calc.test.ts",
            A_TS,
            "import { describe, expect, it } from 'vitest'\nimport { add, sub } from '../src/calc'\n\ndescribe('add', () => {\n  it.each([\n    [1, 2, 3],\n    [0, 0, 0],\n    [2, 2, 4],\n  ])('adds %i and %i', (a, b, sum) => {\n    expect(add(a, b)).toBe(sum)\n  })\n})\n\nit('subtracts', () => {\n  expect(sub(3, 1)).toBe(2)\n})\n",
        )],
    ),
    (
        "a type, a constant and a function around them",
        "npx vitest run",
        &[],
        &[(
            "test/calc.test.ts",
            A_TS,
            "import { beforeEach, describe, expect, it, vi } from 'vitest'\nimport type { Sum } from '../src/calc'\nimport { add, sub } from '../src/calc'\n\nconst one: Sum = 1\n\nbeforeEach(() => {\n  vi.useFakeTimers()\n})\n\nafterEach(() => {\n  vi.useRealTimers()\n  vi.restoreAllMocks()\n})\n\ndescribe('add', () => {\n  it('adds', () => {\n    expect(add(one, 2)).toBe(3)\n  })\n\n  it('adds zero', () => {\n    expect(add(0, 0)).toBe(0)\n  })\n})\n\nit('subtracts', () => {\n  expect(sub(3, 1)).toBe(2)\n})\n",
        )],
    ),
    (
        "the tests bring in their program by a shorter path",
        "npx vitest run",
        &[],
        &[(
            "test/calc.test.ts",
            A_TS,
            "import { describe, expect, it } from 'vitest'\nimport { add, sub } from '@/calc'\n\ndescribe('add', () => {\n  it('adds', () => {\n    expect(add(1, 2)).toBe(3)\n  })\n\n  it('adds zero', () => {\n    expect(add(0, 0)).toBe(0)\n  })\n})\n\nit('subtracts', () => {\n  expect(sub(3, 1)).toBe(2)\n})\n",
        )],
    ),
    (
        "a new test replaces what the program leans on",
        "npx vitest run",
        &[],
        &[
            (
                "src/total.ts",
                "-",
                "import { rates } from './rates'\nexport const total = async (a: number) => a * (await rates()).eur\n",
            ),
            (
                "test/total.test.ts",
                "-",
                "import { expect, it, vi } from 'vitest'\nimport { total } from '../src/total'\n\nvi.mock('../src/rates', () => ({ rates: async () => ({ eur: 2 }) }))\n\nit('counts in euros', async () => {\n  await expect(total(3)).resolves.toBe(6)\n})\n",
            ),
        ],
    ),
    (
        "a parser that expects letters changes",
        "npx vitest run",
        &[],
        &[
            (
                "test/parser.test.ts",
                "import { expect, it } from 'vitest'\nimport { Parser } from '../src/parser.ts'\n\nit('reads', () => {\n  expect(new Parser('(a,b)').pair()).toEqual(['a', 'b'])\n})\n",
                "import { expect, it } from 'vitest'\nimport { Parser } from '../src/parser.ts'\n\nit('reads', () => {\n  expect(new Parser('(a,b)').pair()).toEqual(['a', 'b'])\n})\n\nit('reads again', () => {\n  expect(new Parser('(c,d)').pair()).toEqual(['c', 'd'])\n})\n",
            ),
            (
                "src/parser.ts",
                PARSER,
                "export class Parser {\n  pair() {\n    this.skip('(')\n    const key = this.word()\n    this.skip(',')\n    return [key, this.word()]\n  }\n}\n",
            ),
        ],
    ),
    // Python
    (
        "a client that was brought in becomes a fixture",
        "pytest",
        &[],
        &[
            ("app.py", "client = 1\n", "client = 1\n"),
            ("calc.py", "", ""),
            (
                "tests/test_a.py",
                P_PY,
                "import json\n\nimport pytest\n\nfrom calc import add, sub\n\n\n@pytest.mark.parametrize(\"sub, sum\", [(1, 2), (2, 3)])\ndef test_more(sub, sum):\n    assert add(sub, 1) == sum\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_sub():\n    assert sub(3, 1) == 2\n\n\ndef test_page(client):\n    assert client.get(\"/\").status == 200\n    assert json.loads(client.get(\"/a\").text) == {}\n",
            ),
            (
                "tests/conftest.py",
                "-",
                "import pytest\n\nimport app\n\n\n@pytest.fixture\ndef client():\n    with app.client as one:\n        yield one\n\n\n@pytest.fixture(scope=\"session\")\ndef test_numbers():\n    yield [1, 2, 3]\n",
            ),
        ],
    ),
    (
        "tests bring in their tools from elsewhere",
        "pytest",
        &[],
        &[
            ("app.py", "client = 1\n", "client = 1\n"),
            ("calc.py", "", ""),
            (
                "tests/test_a.py",
                P_PY,
                "import pytest\nimport simplejson as json\n\nfrom app import client\nfrom calc import add, sub\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_sub():\n    assert sub(3, 1) == 2\n\n\ndef test_page():\n    assert client.get(\"/\").status == 200\n    assert json.loads(client.get(\"/a\").text) == {}\n",
            ),
        ],
    ),
    (
        "a program with assertions of its own changes",
        "pytest",
        &[],
        &[
            (
                "tests/test_guard.py",
                "from app.guard import save\n\n\ndef test_save():\n    assert save(user()) is not None\n",
                "from app.guard import save\n\n\ndef test_save():\n    assert save(user()) is not None\n\n\ndef test_again():\n    assert save(user()).name == \"a\"\n",
            ),
            (
                "app/guard.py",
                GUARD,
                "from app.errors import Wrong\n\n\ndef save(user):\n    if not user or not user.name:\n        raise Wrong()\n    return user\n",
            ),
        ],
    ),
    (
        "a new test keeps the folder in which it was, and hides nothing",
        "pytest",
        &[],
        &[(
            "tests/test_b.py",
            "-",
            "import os\n\nimport pytest\n\nfrom calc import mul\n\n\n@pytest.fixture(autouse=True)\ndef folder(tmp_path):\n    before = os.getcwd()\n    os.chdir(tmp_path)\n    yield tmp_path\n    os.chdir(before)\n\n\n@pytest.mark.parametrize(\"a, b, product\", [(2, 3, 6), (0, 3, 0)])\ndef test_mul(a, b, product):\n    assert mul(a, b) == product\n\n\ndef test_wrong():\n    with pytest.raises(TypeError, match=\"unsupported\"):\n        mul({}, {})\n",
        )],
    ),
];

#[test]
fn edits_of_an_ordinary_day_are_accepted() {
    let wrong: Vec<String> = EDITS
        .iter()
        .map(|case| (case.0, found(case)))
        .filter(|(_, found)| !found.is_empty())
        .map(|(name, found)| {
            format!("{name}: {}", found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), EDITS.len());
}
