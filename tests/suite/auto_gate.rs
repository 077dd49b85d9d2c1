//! What the checks of a run are worth: which failures the target excuses, how many tests ran, and what decides a check.
//! The sessions are scripted, and the checks are real.

use serde_json::{Value, json};

use crate::auto::{git, report};
use crate::kit::{Ran, TestContext, binary};
use crate::scripted::{self, also};

/// A repository with these files in one commit, and a brief.
fn project(files: &[(&str, &str)]) -> TestContext {
    let context = TestContext::new();
    context.write("README.md", "# P\n");
    for (path, text) in files {
        context.write(path, text);
    }
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    std::fs::write(context.home().join("brief.md"), "Make a shelf of files.\n").unwrap();
    context
}

fn run(context: &TestContext, words: &[&str], rows: &[Value]) -> Ran {
    let program = binary().to_string_lossy().into_owned();
    let variables = [("FAKE_SHAPE", "1x2"), ("FAKE_GSD_TOOLS", &*program), ("PYTHONDONTWRITEBYTECODE", "1")];
    scripted::run(context, words, rows, &variables)
}

const PLAN: &str = ".gsd/milestones/M001/slices/S01/S01-PLAN.md";
const FIRST: &str = "execute-task M001/S01/T01";
const SECOND: &str = "execute-task M001/S01/T02";

/// Replaces the check of the first task in the plan.
fn planned(command: &str) -> Value {
    also("plan-milestone M001", None, &format!("sed -i 's|sh checks/s01_t01.sh|{command}|' {PLAN}"))
}

fn landed(context: &TestContext, ran: &Ran) {
    assert_eq!((ran.code, &report(ran)["stop"]["cause"]), (0, &json!("complete")), "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(git(context, &["status", "--porcelain"]), "");
}

#[test]
fn work_that_a_change_of_the_target_broke_does_not_land() {
    let python = "printf 'import unittest\\nfrom lib.base import add\\n\\n\\nclass T(unittest.TestCase):\\n    def test_it(self):\\n        \
                  self.assertEqual(add(1, 2), 3)\\n' > tests/test_new.py";
    let node = "printf \"const test = require('node:test')\\nconst { add } = require('../lib/base.js')\\ntest('adds', () => { if (add(1, 2) !== 3) throw new Error() })\\n\" > tests/new.test.js";
    let shell = "printf '. ./lib/base.sh\\ntest $(add 1 2) = 3\\n' > tests/new.sh";
    for (command, write, path, before, after) in [
        (
            "python3 -m unittest tests.test_new",
            python,
            "lib/base.py",
            "def add(a, b):\n    return a + b\n",
            "def plus(a, b):\n    return a + b\n",
        ),
        (
            "node --test tests/new.test.js",
            node,
            "lib/base.js",
            "exports.add = (a, b) => a + b\n",
            "exports.plus = (a, b) => a + b\n",
        ),
        ("sh tests/new.sh", shell, "lib/base.sh", "add() { echo $(($1 + $2)); }\n", "plus() { echo $(($1 + $2)); }\n"),
    ] {
        let context = project(&[(path, before), ("tests/__init__.py", "")]);
        let rows = [planned(command), also(FIRST, None, write)];
        let ran = run(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "2"], &rows);
        assert_eq!(report(&ran)["stop"]["cause"], "units-done", "{command}: {}", ran.stderr);
        context.write(path, after);
        git(&context, &["commit", "--quiet", "--all", "--message=another name"]);
        let before = git(&context, &["rev-parse", "main"]);
        let ran = run(&context, &["auto", "run"], &rows);
        let report = report(&ran);
        assert_eq!(report["stop"]["cause"], "candidate-refused", "{command}: {report:#}\n{}", ran.stderr);
        assert!(report.to_string().contains(command), "{command}: {report:#}");
        assert_eq!(git(&context, &["rev-parse", "main"]), before, "{command}");
    }
}

#[test]
fn failures_on_the_target_are_reported_first_and_do_not_keep_the_work_from_landing() {
    let red = "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_old(self):\n        self.assertEqual(1, 2)\n\n    \
               def test_fine(self):\n        pass\n";
    let context = project(&[
        ("Makefile", "test:\n\tpython3 -m unittest discover -s t\n"),
        ("t/__init__.py", ""),
        ("t/test_old.py", red),
    ]);
    let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[]);
    let named = "Red before the first session: `make test` (exit 2, 1 failing test)";
    let first = ran.stderr.find("plan-milestone M001").unwrap_or_default();
    assert!(ran.stderr.find(named).is_some_and(|at| at < first), "{}", ran.stderr);
    landed(&context, &ran);
    // The target's failure does not excuse another test that fails in the work.
    let context = project(&[
        ("Makefile", "test:\n\tpython3 -m unittest discover -s t\n"),
        ("t/__init__.py", ""),
        ("t/test_old.py", red),
        ("lib.py", "A = 1\n"),
        (
            "t/test_lib.py",
            "import unittest\nimport lib\n\n\nclass L(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(lib.A, 1)\n",
        ),
    ]);
    let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[also(FIRST, None, "echo 'A = 2' > lib.py")]);
    assert_eq!(report(&ran)["stop"]["cause"], "candidate-refused", "{}", ran.stderr);
}

#[test]
fn a_task_that_makes_a_check_run_fewer_tests_does_not_count() {
    let suite = "#!/bin/sh\necho \"1..$(wc -l < cases.txt)\"\nwhile read -r a b; do\n  [ \"$(sh lib.sh $a)\" = \"$b\" ] || { echo \"not ok $a\"; exit 1; }\n  \
                 echo \"ok $a - case $a\"\ndone < cases.txt\n";
    let files = [
        ("Makefile", "test:\n\t@sh run.sh\n"),
        ("run.sh", suite),
        ("cases.txt", "1 2\n2 4\n3 6\n"),
        ("lib.sh", "echo $(($1 * 2))\n"),
    ];
    let context = project(&files);
    let script = "printf '1 2\\n2 4\\n' > cases.txt";
    let rows = [planned("make test"), also(FIRST, Some(1), script)];
    let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &rows);
    assert!(ran.stderr.contains("does not count: `make test` ran 2 tests, and 3 before"), "{}", ran.stderr);
    landed(&context, &ran);
    assert_eq!(git(&context, &["show", "main:cases.txt"]), "1 2\n2 4\n3 6");
    // More tests are allowed, and count from then on.
    let context = project(&files);
    let more = also(FIRST, None, "printf '1 2\\n2 4\\n3 6\\n4 8\\n' > cases.txt");
    let rows = [planned("make test"), more, also(SECOND, Some(1), "printf '1 2\\n2 4\\n3 6\\n' > cases.txt")];
    let both = also("plan-milestone M001", None, &format!("sed -i 's|sh checks/s01_t0[12].sh|make test|' {PLAN}"));
    let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[both, rows[1].clone(), rows[2].clone()]);
    assert!(ran.stderr.contains("does not count: `make test` ran 3 tests, and 4 before"), "{}", ran.stderr);
    landed(&context, &ran);
}

/// The reason why the first attempt at a task was refused, in a run that landed.
fn refused(context: &TestContext, unit: &str, script: &str) -> String {
    let ran = run(context, &["auto", "run", "--brief", "BRIEF"], &[also(unit, Some(1), script)]);
    landed(context, &ran);
    let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
    let refusals = log["entries"].as_array().unwrap().iter().map(|row| &row["entry"]);
    let refusals: Vec<String> = refusals.filter(|entry| entry["event"] == "refused").map(Value::to_string).collect();
    assert_eq!(refusals.len(), 1, "{refusals:#?}");
    refusals[0].clone()
}

#[test]
fn a_task_that_weakens_the_check_of_an_earlier_one_does_not_count() {
    let context = project(&[]);
    let script = "rm src/s01_t01.txt; printf '#!/bin/sh\ntest -f README.md\n' > checks/s01_t01.sh";
    let why = refused(&context, SECOND, script);
    assert!(why.contains("checks/s01_t01.sh"), "{why}");
    assert!(context.project().join("src/s01_t01.txt").is_file());
}

#[test]
fn work_that_its_own_checks_change_does_not_count() {
    let context = project(&[]);
    let script = "printf '#!/bin/sh\necho right > src/s01_t01.txt\ngrep -q right src/s01_t01.txt\n' > checks/s01_t01.sh; \
                  echo wrong > src/s01_t01.txt";
    let why = refused(&context, FIRST, script);
    assert!(why.contains("src/s01_t01.txt: the checks changed this file"), "{why}");
    // A file that the checks already wrote before the work is a habit of the project.
    let context = project(&[("Makefile", "test:\n\tdate > built.txt\n"), ("built.txt", "")]);
    landed(&context, &run(&context, &["auto", "run", "--brief", "BRIEF"], &[]));
}

#[test]
fn checks_of_two_clones_have_different_marks() {
    // A run ends every process with the mark of its checks. Two clones begin with the same commit.
    let context = project(&[("Makefile", "test:\n\techo $$GSD_PROCESS >> $$HOME/marks\n")]);
    let other = context.home().join("other").to_string_lossy().into_owned();
    git(&context, &["clone", "--quiet", ".", &other]);
    let words = ["auto", "run", "--brief", "BRIEF", "--no-fence", "--max-units", "1"];
    for ran in [run(&context, &words, &[]), run(&context, &[&["--cwd", &other][..], &words].concat(), &[])] {
        assert_eq!(report(&ran)["stop"]["cause"], "units-done", "{}", ran.stderr);
    }
    let marks = std::fs::read_to_string(context.home().join("marks")).unwrap();
    let marks: Vec<&str> = marks.lines().collect();
    assert_eq!(marks.len(), 2, "{marks:?}");
    assert_ne!(marks[0], marks[1]);
}

#[test]
fn a_plan_whose_check_cannot_fail_is_refused_when_it_is_written() {
    let context = project(&[]);
    let script = format!("sed -i 's|Verify: sh checks/s01_t01.sh|Verify: true|' {PLAN}");
    let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[also("plan-milestone M001", Some(1), &script)]);
    let named = format!("does not count: `{PLAN}`: `true` is not run as a check: it cannot fail");
    assert!(ran.stderr.contains(&named), "{}", ran.stderr);
    landed(&context, &ran);
}

#[test]
fn a_link_that_leads_out_of_the_project_does_not_count() {
    for (script, named) in [
        (
            "mkdir -p lib && ln -s /etc/passwd lib/pw",
            "`lib/pw` is a link that leads out of the project, to `/etc/passwd`",
        ),
        ("ln -s ../../.. up && ln -s up/x y", "`up` is a link that leads out of the project, to `../../..`"),
    ] {
        let context = project(&[]);
        let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[also(FIRST, Some(1), script)]);
        assert!(ran.stderr.contains(&format!("does not count: {named}")), "{}", ran.stderr);
        landed(&context, &ran);
    }
    let context = project(&[("lib/a.txt", "a\n")]);
    let ran = run(
        &context,
        &["auto", "run", "--brief", "BRIEF"],
        &[also(FIRST, None, "ln -s lib/a.txt a && ln -s ../a lib/b")],
    );
    landed(&context, &ran);
    assert!(!ran.stderr.contains("does not count"), "{}", ran.stderr);
}

const ROADMAP: &str = "# Roadmap\n\n## v1.0 Shelf\n\n- [ ] **Phase 1: Base** - the first file\n- [ ] **Phase 2: Top** - the second file\n\n\
                       ### Phase 1: Base\n**Goal**: one file\n\n### Phase 2: Top\n**Goal**: another file\n";
const STATE: &str = "---\nmilestone: v1.0\n---\n# State\n\n## Current Position\n\nPhase: 1 of 2 (Base)\n";

#[test]
fn a_phase_that_weakens_tests_or_fails_its_checks_does_not_count() {
    let test = "import unittest\n\n\nclass Old(unittest.TestCase):\n    def test_old(self):\n        self.assertEqual(1 + 1, 2)\n";
    for (script, named) in [
        ("git rm -q tests/test_old.py && git commit -qm less", "tests/test_old.py"),
        ("sed -i 's/(1 + 1, 2)/(True, True)/' tests/test_old.py && git commit -qam less", "tests/test_old.py"),
        ("rm src/p01_01.txt && git commit -qam less", "sh checks/p01_01.sh"),
    ] {
        let context = project(&[
            (".planning/ROADMAP.md", ROADMAP),
            (".planning/STATE.md", STATE),
            ("tests/__init__.py", ""),
            ("tests/test_old.py", test),
        ]);
        context.gsd(["install", "--global", "--claude"]).success();
        let ran = run(&context, &["auto", "run"], &[also("execute-phase 1", Some(1), script)]);
        let refused: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("does not count")).collect();
        assert!(refused.len() == 1 && refused[0].contains(named), "{script}: {}", ran.stderr);
        landed(&context, &ran);
        assert_eq!(git(&context, &["show", "main:tests/test_old.py"]), test.trim());
    }
}
