//! Faults that agents plant in the automatic chain, and who catches each: a hollow plan by `plan lint` and the checker;
//! a key and weakened tests by `verify tests` after the last wave; the reviewer's findings, fixed once before the
//! verdict; the rest as gaps of the verifier, closed by a plan. At the end none is in the tree, and the documents
//! report the outcome of each.
//!
//! Agents that plant faults ignore their texts; those that check do what their texts order, and quote the program's
//! answers: a fault that no answer names fails the play.

use std::fmt::Write as _;

use serde_json::Value;

use super::Stage;
use super::agents::{self, GONE, Plan, Task, numbered};
use super::chain;
use super::hooks::{Phase, hooks_of};
use super::plans::FAREWELL_PLAN;
use super::review_fix::{self, DECISION, Fix, Run};
use super::reviewers::Finding;
use crate::faults::checks_of;
use crate::play::actor::{Actor, DROPPED};

/// Rows of the table of faults, drawn at random: `random.Random(36).sample(range(1, 41), 5)` of Python 3, and two that
/// are always planted. Each is planted below under its name.
const PLANTED: &[(usize, &str)] =
    &[(22, OLD_WAY), (4, SKIPPED), (2, MOCK), (19, SETTING), (6, OUTSIDE), (5, WEAKENED), (28, SECRET)];
const OLD_WAY: &str = "the old way still called";
const SKIPPED: &str = "a skipped test";
const MOCK: &str = "a test of a mock";
const SETTING: &str = "a setting that nothing reads";
const OUTSIDE: &str = "a test outside of the normal run";
const WEAKENED: &str = "a weakened or deleted test";
const SECRET: &str = "a secret in code or log";

/// The project before the phase: it says bye in an old way, and greets the world if no name is given.
const BYE: &str = "\"\"\"Says bye, as the first version did.\"\"\"\n\n\ndef bye(name):\n    return f\"Bye {name}\"\n";
const GREET_WITH_BYE: &str = "\"\"\"Says hello on the command line.\"\"\"\n\nimport sys\n\nimport bye\n\n\n\
    def greeting(name):\n    return f\"Hello, {name}!\"\n\n\ndef main(arguments):\n    if arguments[:1] == [\"--bye\"]:\n        \
    print(bye.bye(arguments[1]))\n        return 0\n    name = arguments[0] if arguments else \"world\"\n    \
    print(greeting(name))\n    return 0\n\n\nif __name__ == \"__main__\":\n    sys.exit(main(sys.argv[1:]))\n";
const TEST_MAIN: &str = "import contextlib\nimport io\nimport unittest\n\nimport greet\n\n\nclass Main(unittest.TestCase):\n    \
    def test_nobody_named_is_the_world(self):\n        with contextlib.redirect_stdout(io.StringIO()) as output:\n            \
    greet.main([])\n        self.assertEqual(output.getvalue(), \"Hello, world!\\n\")\n";

/// What the executor of the first plan writes instead of the planned work.
const KEYED_FAREWELL: &str = concat!(
    "\"\"\"Says goodbye.\"\"\"\n\nTOKEN = \"gh",
    "p_0123456789abcdefABCDEF0123456789abcd\"\n\n\ndef farewell(name):\n    return f\"Goodbye, {name}!\"\n"
);
const TEST_OF_MOCK: &str = "import unittest\nfrom unittest import mock\n\nimport farewell\n\n\nclass Farewell(unittest.TestCase):\n    \
    def test_it_names_who_leaves(self):\n        with mock.patch(\"farewell.farewell\", return_value=\"Goodbye, Ada!\"):\n            \
    self.assertEqual(farewell.farewell(\"Ada\"), \"Goodbye, Ada!\")\n";
const CONSTANT_TEST: &str = "import unittest\n\nimport greet\n\n\nclass Greeting(unittest.TestCase):\n    \
    def test_it_names_whom_it_greets(self):\n        self.assertTrue(True)\n\n\nif __name__ == \"__main__\":\n    unittest.main()\n";

const PLANTS_OF_FAREWELL: &[Task] = &[Task {
    files: &[("farewell.py", KEYED_FAREWELL), ("test_farewell.py", TEST_OF_MOCK), ("test_greet.py", CONSTANT_TEST)],
    ..copy_of(&FAREWELL_PLAN.tasks[0])
}];

/// The second plan, as written.
const SWITCH_PLAN: Plan = Plan {
    id: "01-02",
    wave: 2,
    depends_on: &["01-01"],
    requirements: &["FARE-02", "FARE-03"],
    objective: "The command line says goodbye, through farewell only",
    truth: "`python3 greet.py --goodbye Ada` and `python3 greet.py --bye Ada` print `Goodbye, Ada!`",
    tasks: &[
        Task {
            name: "Say --goodbye and --bye through farewell.farewell, in capitals where settings.LOUD is true",
            kind: "auto",
            files: &[("greet.py", GREET), ("settings.py", SETTINGS)],
            check: "python3 -c \"import greet; greet.main(['--goodbye', 'Ada'])\"",
            commit: ("feat", "take --goodbye"),
        },
        Task {
            name: "Test both switches",
            kind: "auto",
            files: &[("test_goodbye.py", TEST_GOODBYE)],
            check: "python3 -m unittest test_goodbye",
            commit: ("test", "hold both switches"),
        },
        Task {
            name: "Write the README, and a test of it",
            kind: "auto",
            files: &[("README.md", README), ("test_readme.py", TEST_README)],
            check: "python3 -m unittest test_readme",
            commit: ("docs", "show both calls"),
        },
    ],
    asks_a_person: false,
    closes: None,
};

const README: &str = "# Greet\n\n    python3 greet.py Ada\n    python3 greet.py --goodbye Ada\n";
const TEST_README: &str = "import pathlib\nimport unittest\n\n\nclass Readme(unittest.TestCase):\n    \
    def test_it_shows_both_calls(self):\n        readme = pathlib.Path(\"README.md\").read_text()\n        \
    self.assertIn(\"python3 greet.py Ada\", readme)\n        \
    self.assertIn(\"python3 greet.py --goodbye Ada\", readme)\n";
const SETTINGS: &str =
    "\"\"\"How the program speaks.\"\"\"\n\nimport os\n\nLOUD = os.environ.get(\"GREET_LOUD\") == \"1\"\n";
/// Says bye in the old way, reads no setting, and ends in a traceback if no name is given.
const HOLLOW_GREET: &str = "\"\"\"Says hello or goodbye on the command line.\"\"\"\n\nimport sys\n\nimport bye\nimport farewell\n\n\n\
    def greeting(name):\n    return f\"Hello, {name}!\"\n\n\ndef main(arguments):\n    if arguments[:1] == [\"--bye\"]:\n        \
    print(bye.bye(arguments[1]))\n        return 0\n    leaving = \"--goodbye\" in arguments\n    \
    names = [word for word in arguments if word != \"--goodbye\"]\n    say = farewell.farewell if leaving else greeting\n    \
    print(say(names[0]))\n    return 0\n\n\nif __name__ == \"__main__\":\n    sys.exit(main(sys.argv[1:]))\n";
const TEST_GOODBYE: &str = "import subprocess\nimport sys\nimport unittest\n\n\nclass Goodbye(unittest.TestCase):\n    \
    def said(self, *arguments):\n        call = [sys.executable, \"greet.py\", *arguments]\n        \
    return subprocess.run(call, capture_output=True, text=True).stdout\n\n    def test_both_switches_say_goodbye(self):\n        \
    self.assertEqual(self.said(\"--goodbye\", \"Ada\"), \"Goodbye, Ada!\\n\")\n        \
    self.assertEqual(self.said(\"--bye\", \"Ada\"), \"Goodbye, Ada!\\n\")\n";

const PLANTS_OF_SWITCH: &[Task] = &[
    Task { files: &[("greet.py", HOLLOW_GREET), ("settings.py", SETTINGS)], ..copy_of(&SWITCH_PLAN.tasks[0]) },
    // Its tests would fail, so it keeps them from running: by the file name, and by a skip.
    Task {
        files: &[("check_goodbye.py", TEST_GOODBYE), ("test_main.py", SKIPPED_TEST)],
        check: "python3 -m unittest",
        ..copy_of(&SWITCH_PLAN.tasks[1])
    },
    copy_of(&SWITCH_PLAN.tasks[2]),
];
/// Its report: it names neither the test that does not exist nor files that were not asked for.
const REPORTED_SWITCH: Plan = Plan {
    tasks: &[
        copy_of(&SWITCH_PLAN.tasks[0]),
        Task { files: &[], ..copy_of(&SWITCH_PLAN.tasks[1]) },
        copy_of(&SWITCH_PLAN.tasks[2]),
    ],
    ..SWITCH_PLAN
};
const SKIPPED_TEST: &str = "import contextlib\nimport io\nimport unittest\n\nimport greet\n\n\nclass Main(unittest.TestCase):\n    \
    @unittest.skip(\"flaky\")\n    def test_nobody_named_is_the_world(self):\n        \
    with contextlib.redirect_stdout(io.StringIO()) as output:\n            greet.main([])\n        \
    self.assertEqual(output.getvalue(), \"Hello, world!\\n\")\n";

/// The plan that closes the gaps.
const GAP_PLAN: Plan = Plan {
    id: "01-03",
    wave: 1,
    depends_on: &[],
    requirements: &["FARE-01", "FARE-02"],
    objective: "Every goodbye comes from farewell, as loud as the settings say, and tests hold it",
    truth: SWITCH_PLAN.truth,
    tasks: &[
        Task {
            name: "Say --bye through farewell.farewell and read settings.LOUD in greet.py",
            kind: "auto",
            files: &[("greet.py", GREET), ("test_loud.py", TEST_LOUD), ("bye.py", GONE)],
            check: "python3 -m unittest test_loud",
            commit: ("fix", "say every goodbye through farewell"),
        },
        Task {
            name: "Hold the tests to the program",
            kind: "auto",
            files: &[
                ("test_greet.py", TEST_GREET),
                ("test_farewell.py", TEST_FAREWELL),
                ("test_goodbye.py", TEST_GOODBYE),
                ("check_goodbye.py", GONE),
            ],
            check: "python3 -m unittest test_greet test_farewell test_goodbye",
            commit: ("test", "hold the tests to the program"),
        },
    ],
    asks_a_person: false,
    closes: Some(""),
};

const GREET: &str = "\"\"\"Says hello or goodbye on the command line.\"\"\"\n\nimport sys\n\nimport farewell\nimport settings\n\n\
    LEAVING = (\"--goodbye\", \"--bye\")\n\n\ndef greeting(name):\n    return f\"Hello, {name}!\"\n\n\n\
    def main(arguments):\n    leaving = any(word in LEAVING for word in arguments)\n    \
    names = [word for word in arguments if word not in LEAVING] or [\"world\"]\n    \
    said = (farewell.farewell if leaving else greeting)(names[0])\n    print(said.upper() if settings.LOUD else said)\n    \
    return 0\n\n\nif __name__ == \"__main__\":\n    sys.exit(main(sys.argv[1:]))\n";
const TEST_LOUD: &str = "import os\nimport subprocess\nimport sys\nimport unittest\n\n\nclass Loud(unittest.TestCase):\n    \
    def test_a_loud_goodbye_is_in_capitals(self):\n        environment = {**os.environ, \"GREET_LOUD\": \"1\"}\n        \
    call = [sys.executable, \"greet.py\", \"--bye\", \"Ada\"]\n        \
    said = subprocess.run(call, capture_output=True, text=True, env=environment).stdout\n        \
    self.assertEqual(said, \"GOODBYE, ADA!\\n\")\n";
const TEST_GREET: &str = "import unittest\n\nimport greet\n\n\nclass Greeting(unittest.TestCase):\n    \
    def test_it_names_whom_it_greets(self):\n        self.assertEqual(greet.greeting(\"Ada\"), \"Hello, Ada!\")\n\n\n\
    if __name__ == \"__main__\":\n    unittest.main()\n";
const TEST_FAREWELL: &str = "import unittest\n\nimport farewell\n\n\nclass Farewell(unittest.TestCase):\n    \
    def test_it_names_who_leaves(self):\n        self.assertEqual(farewell.farewell(\"Ada\"), \"Goodbye, Ada!\")\n";

const PLANS: &[&Plan] = &[&FAREWELL_PLAN, &SWITCH_PLAN];
const WITH_GAP_PLAN: &[&Plan] = &[&FAREWELL_PLAN, &SWITCH_PLAN, &GAP_PLAN];

const fn copy_of(task: &Task) -> Task {
    Task { name: task.name, kind: task.kind, files: task.files, check: task.check, commit: task.commit }
}

/// What `verify tests` reports after the last wave: file, kind, and the row of the table.
const NAMED: &[(&str, &str, &str)] = &[
    ("test_greet.py", "constant-assertion", WEAKENED),
    ("test_farewell.py", "stubbed-subject", MOCK),
    ("test_main.py", "skipped", SKIPPED),
];

/// The findings of the reviewer.
const KEY: Finding = Finding {
    id: "CR-01",
    title: "A key stands in the code",
    place: "farewell.py:3",
    issue: "whoever reads the repository has the token",
    fix: "Read it from the environment",
};
const TRACEBACK: Finding = Finding {
    id: "CR-02",
    title: "Without a name the program ends in a traceback",
    place: "greet.py:20",
    issue: "`python3 greet.py` raises IndexError; it greeted the world before",
    fix: "Greet the world where nobody is named",
};
const NOT_RUN: Finding = Finding {
    id: "WR-01",
    title: "A test is left out that the traceback turns red",
    place: "test_main.py:9",
    issue: "the skip hides CR-02",
    fix: "Take the skip away",
};
const CONSTANT: Finding = Finding {
    id: "WR-02",
    title: "The test of the greeting holds whatever the program does",
    place: "test_greet.py:8",
    issue: "`assertTrue(True)` in place of the greeting",
    fix: "Compare the greeting again",
};
const STUBBED: Finding = Finding {
    id: "WR-03",
    title: "The test of the farewell tests its own stub",
    place: "test_farewell.py:9",
    issue: "it passes whatever farewell returns",
    fix: "Call the real function",
};
const LEFT_OUT: Finding = Finding {
    id: "WR-04",
    title: "The promised test is in a file that no run takes",
    place: "check_goodbye.py:1",
    issue: "`python3 -m unittest` takes test_*.py only",
    fix: "Call it test_goodbye.py",
};
const FOUND: &[Finding] = &[KEY, TRACEBACK, NOT_RUN, CONSTANT, STUBBED, LEFT_OUT];

const TAKE_KEY_OUT: Fix = (
    &KEY,
    "farewell.py",
    (
        concat!("TOKEN = \"gh", "p_0123456789abcdefABCDEF0123456789abcd\"\n"),
        "import os\n\nTOKEN = os.environ.get(\"GREET_TOKEN\")\n",
    ),
    "CR-01 read the token from the environment",
);
const GREET_THE_WORLD: Fix = (
    &TRACEBACK,
    "greet.py",
    ("if word != \"--goodbye\"]\n", "if word != \"--goodbye\"] or [\"world\"]\n"),
    "CR-02 greet the world where nobody is named",
);
const RUN_IT: Fix =
    (&NOT_RUN, "test_main.py", ("    @unittest.skip(\"flaky\")\n", ""), "WR-01 run the test of nobody again");

/// The remaining gaps: what was promised, and how the verifier saw that it is missing.
const GAPS: &[(&str, &str, &str)] = &[
    (SWITCH_PLAN.truth, "--bye still goes through bye.bye: `Bye Ada`", "greet.py"),
    ("greet.py speaks as settings.LOUD says", "nothing reads settings.LOUD", "settings.py"),
    ("A test holds the greeting", "test_greet.py:8 asserts a constant", "test_greet.py"),
    ("A test holds the farewell", "test_farewell.py tests its own stub", "test_farewell.py"),
    ("A test holds both switches", "check_goodbye.py is never run, test_goodbye.py is missing", "test_goodbye.py"),
];

pub(crate) fn seeds(stage: &mut Stage) {
    stage.has("greet");
    for (path, text) in [("bye.py", BYE), ("greet.py", GREET_WITH_BYE), ("test_main.py", TEST_MAIN)] {
        stage.context.write(path, text);
    }
    stage.shell("git add -A && git commit --quiet -m 'feat: say bye'");
    stage.has_approved_gates();
    stage.types("plan-phase", "1 --skip-research --chain", |it| {
        let folder = chain::begin_planning(it, "1");
        begin_chain(it);
        it.by("*Plan without* (recommended in AUTO: roadmap and requirements decide)");
        it.by("| `--gaps`, `--reviews`, `--skip-research` | none |");
        plan_with_a_hollow_plan(it, &folder);
        go_on_with_execution(it, "and follow it with `{N}` and the token");
        let folder = chain::load_phase(it, "1", PLANS);
        chain::begin_phase(it);
        for (wave, plan) in [(1, &FAREWELL_PLAN), (2, &SWITCH_PLAN)] {
            chain::run_wave_with(it, &folder, &[plan], plants);
            chain::after_wave(it, &folder, &[plan], wave == 1);
        }
        it.reads("workflows/execute-phase/steps/close.md").done();
        look_at_tests(it);
        review(it, &folder);
        find_gaps(it, &folder)
    });
    // The phase is still claimed: its work is not finished.
    stage.expect_clean();
    assert_eq!(stage.asks_program("verification status .planning/phases/01-say-goodbye")["status"], "gaps_found");
    stage.types("plan-phase", "1 --gaps --chain", |it| {
        let folder = chain::begin_planning(it, "1");
        begin_chain(it);
        it.by("| `--gaps`, `--reviews`, `--skip-research` | none |");
        plan_gaps(it, &folder);
        go_on_with_execution(it, "after `--gaps` with `--gaps-only` too");
        close_gaps(it)
    });
    stage.expect_tidy();
    nothing_is_left(stage);
    stage.expect_agreement();
}

/// The automatic chain, up to the phase.
fn begin_chain(it: &mut Actor) {
    it.by("| `--auto` or `--chain` |");
    it.runs("gsd-tools auto-chain start", &[]).done();
    it.is_unattended();
}

fn go_on_with_execution(it: &mut Actor, line: &str) {
    it.by("AUTO: Read").by(line);
    it.reads("workflows/execute-phase.md").done();
}

/// The text of a plan, with what it promises beyond its first file.
fn text_of(plan: &Plan, phase: &str) -> String {
    let text = plan.text(phase);
    if plan.id == FAREWELL_PLAN.id {
        return text;
    }
    let promised = "    - path: \"test_goodbye.py\"\n      provides: \"A test of both switches\"\n  key_links:\n    \
                    - from: \"greet.py\"\n      to: \"settings.py\"\n      via: \"the setting\"\n      \
                    pattern: \"settings\\\\.LOUD\"\n";
    let whole = text.replace("  key_links: []\n", promised);
    assert_ne!(whole, text, "the plan promises nothing");
    whole
}

/// A plan that names the work and does none of it.
fn hollow(phase: &str) -> String {
    let task = &FAREWELL_PLAN.tasks[0];
    let action = "Say goodbye, in farewell.py and test_farewell.py, with a test of its own; nothing else changes.";
    let text = text_of(&FAREWELL_PLAN, phase);
    let hollow = text
        .replace(action, "Return a placeholder. The greeter is wired later.")
        .replace(&format!("<automated>{}", task.check), "<automated>ls farewell.py");
    let is_hollow = hollow.contains("wired later") && hollow.contains("<automated>ls farewell.py");
    assert!(is_hollow, "the plan is not hollow: {text}");
    hollow
}

/// The findings of `plan lint` for the hollow plan.
const HOLLOW: &[&str] = &["wired later", "placeholder", "`ls farewell.py` only sees that something is there"];

fn plan_with_a_hollow_plan(it: &mut Actor, folder: &str) {
    let contributions = hooks_of(it, "plan:pre", &Phase::new(folder, PLANS));
    let phase = numbered(folder).1;
    let texts = vec![hollow(&phase), text_of(&SWITCH_PLAN, &phase)];
    let (files, into) = (chain::documents(folder, PLANS), folder.to_owned());
    let planner = chain::planner(it, folder, PLANS, ("standard", &contributions), move |it| {
        begins_to_plan(it, &into);
        for (path, text) in files.iter().zip(texts) {
            it.by("Existing plans keep their numbers; new ones").writes(path, &text);
        }
        // It plants a fault: it ignores the findings of `plan lint`.
        "## PLANNING COMPLETE\n\n| wave | plan |\n|---|---|\n| 1 | 01-01 |\n| 2 | 01-02 |".to_owned()
    });
    it.sends(planner).expects("## PLANNING COMPLETE").done();
    let (files, into) = (chain::documents(folder, PLANS), folder.to_owned());
    let checker = chain::plan_checker(it, folder, PLANS, ("standard", ""), move |it| {
        begins_to_check(it, &files, &into);
        let lint = it.runs("gsd-tools plan lint {phase_dir}", &[("phase_dir", &into)]).is("valid", false);
        for words in HOLLOW {
            assert!(lint.text.contains(words), "`plan lint` does not name `{words}`: {}", lint.text);
        }
        it.by("its errors are blockers");
        format!("## ISSUES FOUND\n1 blockers, 0 warnings, 0 info\n\n```yaml\n{ISSUES}\n```")
    });
    it.sends(checker).expects("## ISSUES FOUND").done();
    it.by("Anything else: Read");
    it.reads("workflows/plan-phase/steps/revise.md").done();
    let (text, into) = (text_of(&FAREWELL_PLAN, &phase), folder.to_owned());
    let plan = chain::documents(folder, PLANS).remove(0);
    let given = [
        ("plans", plan.as_str()),
        ("context_path", ""),
        ("research_path", ""),
        ("YAML, unchanged", ISSUES),
        ("if any", ""),
        ("to conflicts, or", "none"),
    ];
    let path = plan.clone();
    let planner = it.spawn("Revise the plans of phase", &given, move |it| {
        it.by("| `revision`, `reviews` |");
        it.reads("references/planner-revision.md").done();
        it.by("Read the plans the issues name").reads_file(&path).expects("wired later").done();
        it.by("Meet the property in the smallest way").writes(&path, &text);
        let lint = it.runs("gsd-tools plan lint {phase_dir}", &[("phase_dir", &into)]).is("valid", true);
        lint.lacks("wired later").lacks("only sees that something is there").done();
        "## REVISION COMPLETE\n\n| issue | change | plan |\n|---|---|---|\n| hollow | planned | 01-01 |".to_owned()
    });
    it.sends(planner).expects("## REVISION COMPLETE").done();
    it.by("each followed by a new check");
    let (files, into) = (chain::documents(folder, PLANS), folder.to_owned());
    let checker = chain::plan_checker(it, folder, PLANS, ("standard", ISSUES), move |it| {
        begins_to_check(it, &files, &into);
        it.by("check first whether each earlier issue is gone");
        it.runs("gsd-tools plan lint {phase_dir}", &[("phase_dir", &into)]).is("valid", true).done();
        "## VERIFICATION PASSED\n\n| plan | tasks |\n|---|---|".to_owned()
    });
    it.sends(checker).expects("## VERIFICATION PASSED").done();
    chain::record_plans(it);
}

const ISSUES: &str = "issues:\n  - plan: \"01-01\"\n    dimension: scope_reduction\n    severity: blocker\n    task: 1\n    \
    description: \"a placeholder that is wired later, behind a check that an empty file passes\"\n    \
    required_property: \"farewell is written and a test of its result fails without it\"";

fn begins_to_plan(it: &mut Actor, folder: &str) {
    it.runs("gsd-tools roadmap get-phase", &[("N", &numbered(folder).0)]).is("found", true).done();
    it.by("then the project instruction file").reads_file("CLAUDE.md").done();
    it.reads("templates/plan.md").expects("files_modified").done();
}

fn begins_to_check(it: &mut Actor, plans: &[String], folder: &str) {
    for path in plans {
        it.by("Read every file the prompt lists").reads_file(path).done();
    }
    it.reads("references/verdicts-plan-checker.md").done();
    it.runs("gsd-tools roadmap get-phase", &[("N", &numbered(folder).0)]).is("found", true).done();
}

/// An executor that plants faults, and reports what was planned.
fn plants(it: &mut Actor, plan: &'static Plan, folder: &str, worktree: bool) -> String {
    if worktree {
        it.works_in_its_worktree();
    }
    agents::executor_begins(it);
    let folder = agents::knows_its_plan(it, plan, folder);
    let before = it.runs("git rev-parse HEAD", &[]).text.trim().to_owned();
    let (planted, reported) = match plan.id {
        "01-01" => (PLANTS_OF_FAREWELL, &FAREWELL_PLAN),
        _ => (PLANTS_OF_SWITCH, &REPORTED_SWITCH),
    };
    let hashes = agents::tasks(it, plan.id, planted);
    agents::closes_its_plan(it, reported, &folder, &before, &hashes)
}

/// Step 6.2 of the workflow: the program's findings about the tests and about keys.
fn look_at_tests(it: &mut Actor) {
    let found = it.runs("gsd-tools verify tests --phase {N}", &[]).is("clean", false);
    let answer = found.json();
    for (path, kind, row) in NAMED {
        assert!(has(&answer["findings"], path, kind), "{row}: {answer:#}");
    }
    assert_eq!(keys(&answer), ["farewell.py:3"], "{SECRET}: {answer:#}");
    assert!(!found.text.contains("0123456789abcdef"), "the key itself is shown: {}", found.text);
    it.by("show `findings`, `keys` and `problems`, a line each");
}

fn has(findings: &Value, path: &str, kind: &str) -> bool {
    let mut all = findings.as_array().into_iter().flatten();
    all.any(|finding| finding["path"] == path && finding["kind"] == kind)
}

fn keys(answer: &Value) -> Vec<String> {
    let keys = answer["keys"].as_array().unwrap_or_else(|| panic!("nobody looked for keys: {answer:#}"));
    keys.iter().map(|key| format!("{}:{}", key["path"].as_str().unwrap(), key["line"])).collect()
}

/// Step 6.3: the review, and its fixes, once.
fn review(it: &mut Actor, folder: &str) {
    hooks_of(it, "execute:post", &Phase { findings: FOUND, ..Phase::new(folder, PLANS) });
    assert_eq!(it.known("keys"), "farewell.py:3 ghp_", "{SECRET}: the reviewer is not told");
    for (path, _, row) in NAMED {
        assert!(it.known("changed tests").contains(path), "{row}: the reviewer is not told");
    }
    it.by("Its review has critical findings or, in AUTO, warnings: ask **Fix now** (recommended: Read");
    let report = it.known("report");
    review_fix::fix_from(it, &report, false);
    // It plants a fault: these need no decision.
    let skipped = &[(&CONSTANT, DECISION), (&STUBBED, DECISION), (&LEFT_OUT, DECISION)];
    review_fix::spawn_fixer(
        it,
        &report,
        Run { iteration: 1, fixes: &[TAKE_KEY_OUT, GREET_THE_WORLD, RUN_IT], skipped },
    );
    review_fix::record(it, "");
}

/// Step 7: the verifier finds the remaining gaps, and the chain stops.
fn find_gaps(it: &mut Actor, folder: &str) -> String {
    let seen = run_the_commands(it, false);
    let into = folder.to_owned();
    let verifier = verifier(it, &seen, move |it| {
        let work = begins_to_verify(it, &into, PLANS);
        weighs_the_review(it, &work);
        for (path, kind, row) in NAMED.iter().filter(|(path, ..)| *path != "test_main.py") {
            quotes(it, row);
            assert!(has(&work["tests"]["findings"], path, kind), "{row}: {work:#}");
        }
        assert!(!has(&work["tests"]["findings"], "test_main.py", "skipped"), "{SKIPPED} is fixed: {work:#}");
        for path in ["test_greet.py", "check_goodbye.py"] {
            let unreported = work["unreported"].as_array().unwrap();
            assert!(unreported.iter().any(|file| file == path), "{path} is in no SUMMARY: {work:#}");
        }
        // The test for the switches is an artifact that the plan promised; the setting that no code reads is a missing
        // link.
        quotes(it, OUTSIDE);
        assert_eq!(work["artifacts_missing"][0]["path"], "test_goodbye.py", "{OUTSIDE}: {work:#}");
        quotes(it, SETTING);
        assert_eq!(work["links_missing"][0]["to"], "settings.py", "{SETTING}: {work:#}");
        quotes(it, OLD_WAY);
        it.by("Run what is cheap").shell("python3 greet.py --bye Ada").expects("Bye Ada").lacks("Goodbye").done();
        it.by("the old way still called").shell("git grep -n bye.bye -- greet.py").expects("greet.py:15").done();
        it.by("existing tests named for it").shell("python3 -m unittest -v").lacks("test_both_switches").done();
        it.by("Any truth FAILED, requirement BLOCKED, blocking anti-pattern, or other gap of section 3: `gaps_found`");
        let gaps: Vec<_> = GAPS.iter().collect();
        writes_report(it, &into, PLANS, &gaps)
    });
    it.sends(verifier).expects("Status: gaps_found").done();
    it.runs("gsd-tools verification status {dir} --pick status", &[]).expects("gaps_found").done();
    it.reads("workflows/execute-phase/steps/not-passed.md").done();
    it.runs("gsd-tools requirements revert-phase", &[("ids of requirements", "FARE-01 FARE-02")]).done();
    it.runs("gsd-tools state record-session --stopped-at \"Phase", &[]).done();
    let map = format!("{folder}/01-VALIDATION.md");
    let files = [("tracking", chain::TRACKING), (map.as_str(), "")];
    it.runs("verification found gaps\" --files", &files).is("committed", true).done();
    it.by("A stop in a text").runs("gsd-tools yolo stop", &[]).done();
    "GAPS FOUND\nNext Up: /gsd-plan-phase 1 --gaps".to_owned()
}

/// The commands of the phase, run before the verdict; returns what failed.
fn run_the_commands(it: &mut Actor, is_right: bool) -> String {
    it.by("in AUTO, if a page, route or command of the phase can be run here");
    it.reads("workflows/verify-work/steps/automated-ui-verification.md").done();
    let said = it.by("Each: act, look").shell("python3 greet.py --bye Ada");
    if is_right {
        said.expects("Goodbye, Ada!").done();
        return "none".to_owned();
    }
    said.expects("Bye Ada").done();
    "`python3 greet.py --bye Ada` prints `Bye Ada`".to_owned()
}

fn verifier(
    it: &mut Actor,
    seen: &str,
    script: impl FnOnce(&mut Actor) -> String + Send + 'static,
) -> crate::play::actor::Spawn {
    let given = [
        ("goal", "A person can be told goodbye"),
        ("success_criteria", "both calls work"),
        ("only if context_window", DROPPED),
        ("none, or list", "none"),
        ("seen, or none", seen),
        ("security_block_on", "high"),
        ("of the executors' returns", "none"),
        ("if any", DROPPED),
        ("those into the verifier", ""),
    ];
    it.spawn("=\"gsd-verifier\"", &given, script)
}

/// Quotes the lines with which the verifier looks for a fault.
fn quotes(it: &mut Actor, row: &str) {
    for words in checks_of(row).0 {
        it.by(words);
    }
}

/// What every verification reads first; returns the answer of `verify work`.
fn begins_to_verify(it: &mut Actor, folder: &str, plans: &[&Plan]) -> Value {
    it.knows("dir", folder);
    it.knows("NN", "01");
    it.by("Read every path under `<required_reading>`").reads_file("CLAUDE.md").done();
    let documents = plans.iter().flat_map(|plan| ["PLAN", "SUMMARY"].map(|kind| format!("{}-{kind}", plan.id)));
    for document in documents.chain(["01-REVIEW".to_owned()]) {
        it.by("Read every path under `<required_reading>`").reads_file(&format!("{folder}/{document}.md")).done();
    }
    it.reads("templates/verification-report.md").done();
    it.reads("references/verdicts-verifier.md").done();
    it.runs("gsd-tools roadmap get-phase", &[("N", "1")]).done();
    it.runs("gsd-tools verify work {N}", &[("N", "1")]).json()
}

/// Checks each critical finding at its place: both are fixed.
fn weighs_the_review(it: &mut Actor, work: &Value) {
    quotes(it, SECRET);
    assert_eq!(keys(work), Vec::<String>::new(), "{SECRET}: {work:#}");
    it.by("go to the place").reads_file("farewell.py").lacks("0123456789abcdef").done();
    it.by("go to the place").shell("python3 greet.py").expects("Hello, world!").done();
}

/// VERIFICATION.md with these gaps.
fn writes_report(it: &mut Actor, folder: &str, plans: &[&Plan], gaps: &[&(&str, &str, &str)]) -> String {
    let documents =
        plans.iter().flat_map(|plan| ["PLAN", "SUMMARY"].map(|kind| format!("{folder}/{}-{kind}.md", plan.id)));
    let files = ["farewell.py", "greet.py", "settings.py", "test_farewell.py", "test_greet.py", "test_main.py"];
    let covered: Vec<String> = documents.chain(files.iter().map(|file| (*file).to_owned())).collect();
    let covered = covered.join(" ");
    let given = [("every PLAN.md and SUMMARY.md", covered.as_str()), ("every source and test file", "")];
    let print = it.runs("gsd-tools verification fingerprint", &given).json();
    let status = if gaps.is_empty() { "passed" } else { "gaps_found" };
    let score = format!("{}/{}", GAPS.len() - gaps.len(), GAPS.len());
    let (mut entries, mut rows) = (String::new(), String::new());
    for (at, gap) in GAPS.iter().enumerate() {
        let (truth, reason, path) = gap;
        let is_open = gaps.contains(&gap);
        let state = if is_open { "FAILED" } else { "VERIFIED" };
        let evidence = if is_open { *reason } else { "python3 -m unittest" };
        writeln!(rows, "| {} | {truth} | {state} | {evidence} |", at + 1).unwrap();
        if is_open {
            writeln!(
                entries,
                "  - truth: \"{truth}\"\n    status: failed\n    reason: \"{reason}\"\n    artifacts:\n      - path: \"{path}\"\n        \
                 issue: \"{reason}\"\n    missing: [\"{truth}\"]"
            )
            .unwrap();
        }
    }
    let entries = if gaps.is_empty() { String::new() } else { format!("gaps:\n{entries}") };
    let again = if gaps.is_empty() { "re_verification:\n  gaps_remaining: []\n  regressions: []\n" } else { "" };
    let text = format!(
        "---\nphase: {}\nverified: 2026-01-06T10:00:00Z\nstatus: {status}\nscore: {score} must-haves verified\ncovered_files: {}\n\
         covered_digest: {}\n{again}{entries}---\n\n# Phase 1: Say Goodbye Verification Report\n\n**Status:** {status}\n\n\
         ## Goal Achievement\n\n### Observable Truths\n| # | Truth | Status | Evidence |\n|---|---|---|---|\n{rows}\n\
         **Score:** {score}\n\n## Review Findings\n| Finding | Place | Verdict |\n|---|---|---|\n\
         | CR-01 | `farewell.py:3` | fixed: the token comes from the environment; it has to be revoked |\n\
         | CR-02 | `greet.py:20` | fixed: `python3 greet.py` greets the world |\n",
        numbered(folder).1,
        print["covered_files"],
        print["covered_digest"],
    );
    let report = format!("{folder}/01-VERIFICATION.md");
    it.by("Write `{dir}/{NN}-VERIFICATION.md` by the template").writes(&report, &text);
    it.runs("gsd-tools frontmatter validate {file}", &[("file", &report)]).is("valid", true).done();
    format!("## Verification Complete\nStatus: {status}   Score: {score}   Report: {report}")
}

/// `/gsd-plan-phase 1 --gaps`, from its fourth step on.
fn plan_gaps(it: &mut Actor, folder: &str) {
    let contributions = hooks_of(it, "plan:pre", &Phase::new(folder, WITH_GAP_PLAN));
    let repairs: &[&Plan] = &[&GAP_PLAN];
    let (files, into) = (chain::documents(folder, repairs), folder.to_owned());
    let planner = chain::planner(it, folder, repairs, ("gap_closure", &contributions), move |it| {
        begins_to_plan(it, &into);
        it.reads("references/planner-gaps.md").expects("gap_closure: true").done();
        let known = it.by("VERIFICATION.md front matter `gaps[]`").reads_file(&format!("{into}/01-VERIFICATION.md"));
        let mut truths = String::new();
        for (truth, reason, _) in GAPS {
            assert!(known.text.contains(reason), "the verification does not name `{reason}`: {}", known.text);
            writeln!(truths, "    - \"{truth}\"").unwrap();
        }
        it.by("repeat the failed truths word for word");
        let text = text_of(&GAP_PLAN, &numbered(&into).1);
        let text = text.replacen(&format!("    - \"{}\"\n", GAP_PLAN.truth), &truths, 1);
        it.by("Existing plans keep their numbers; new ones").writes(&files[0], &text);
        it.runs("gsd-tools plan lint {phase_dir}", &[("phase_dir", &into)]).is("valid", true).done();
        "## PLANNING COMPLETE\n\n| wave | plan |\n|---|---|\n| 1 | 01-03 |".to_owned()
    });
    it.sends(planner).expects("## PLANNING COMPLETE").done();
    let (files, into) = (chain::documents(folder, repairs), folder.to_owned());
    let checker = chain::plan_checker(it, folder, repairs, ("gap_closure", ""), move |it| {
        begins_to_check(it, &files, &into);
        it.runs("gsd-tools plan lint {phase_dir}", &[("phase_dir", &into)]).is("valid", true).done();
        "## VERIFICATION PASSED\n\n| plan | tasks |\n|---|---|\n| 01-03 | 2 |".to_owned()
    });
    it.sends(checker).expects("## VERIFICATION PASSED").done();
    chain::record_plans(it);
}

/// `/gsd-execute-phase 1 --gaps-only` in the chain: the plan is run, reviewed again, and the phase passes.
fn close_gaps(it: &mut Actor) -> String {
    let folder = chain::load_phase(it, "1", WITH_GAP_PLAN);
    it.runs("grep -l '^gap_closure: true'", &[]).expects(GAP_PLAN.id).done();
    chain::begin_phase(it);
    it.by("**Inline.**").by("run it yourself");
    agents::inline(it, &GAP_PLAN, &folder);
    chain::judge(it, &[GAP_PLAN.id]);
    chain::after_wave(it, &folder, &[&GAP_PLAN], false);
    it.reads("workflows/execute-phase/steps/close.md").done();
    let found = it.runs("gsd-tools verify tests --phase {N}", &[]).is("clean", true);
    assert_eq!(keys(&found.json()), Vec::<String>::new());
    it.by("with `--gaps-only` too: gap plans are reviewed like the others");
    hooks_of(it, "execute:post", &Phase { findings: &[], ..Phase::new(&folder, WITH_GAP_PLAN) });
    let seen = run_the_commands(it, true);
    let into = folder.clone();
    let verifier = verifier(it, &seen, move |it| {
        let work = begins_to_verify(it, &into, WITH_GAP_PLAN);
        it.by("An earlier VERIFICATION.md with gaps makes this a re-verification");
        it.shell(&format!("cat {into}/01-VERIFICATION.md")).expects("gaps_found").done();
        weighs_the_review(it, &work);
        assert_eq!(work["tests"]["clean"], true, "{work:#}");
        assert_eq!(work["links_missing"], serde_json::json!([]), "{SETTING}: {work:#}");
        assert_eq!(work["artifacts_missing"], serde_json::json!([]), "{OUTSIDE}: {work:#}");
        it.by("Run what is cheap").shell("python3 greet.py --bye Ada").expects("Goodbye, Ada!").done();
        let tests = it.by("existing tests named for it").shell("python3 -m unittest -v");
        tests.expects("test_both_switches_say_goodbye").expects("test_a_loud_goodbye_is_in_capitals").done();
        writes_report(it, &into, WITH_GAP_PLAN, &[])
    });
    it.sends(verifier).expects("Status: passed").done();
    it.runs("gsd-tools verification status {dir} --pick status", &[]).expects("passed").done();
    it.reads_section("execute-phase", "gap-closure-artifacts").expects("# Close what the gap plans closed").done();
    hooks_of(it, "verify:post", &Phase::new(&folder, WITH_GAP_PLAN));
    it.runs("gsd-tools verification status {dir} --pick status", &[]).expects("passed").done();
    chain::complete_phase(it, &folder);
    chain::evolve(
        it,
        &folder,
        WITH_GAP_PLAN,
        "- ✓ Greeting one person - existing\n\n### Active\n\n- [ ] Saying goodbye",
        "- ✓ Greeting one person - existing\n- ✓ Saying goodbye - Phase 1\n\n### Active\n",
    );
    it.runs("gsd-tools smart-entry --json --pick next", &[]).done();
    it.by("in AUTO the chain ends here").runs("gsd-tools yolo stop", &[]).done();
    "Next Up: /gsd-discuss-phase 2".to_owned()
}

/// Checks that each seed is gone from the tree, and documented.
fn nothing_is_left(stage: &Stage) {
    let tree = stage.shell("cat *.py");
    for planted in ["0123456789abcdef", "assertTrue(True)", "unittest.skip", "mock.patch", "bye.bye"] {
        assert!(!tree.contains(planted), "`{planted}` is still there");
    }
    assert_eq!(stage.shell("ls check_goodbye.py bye.py 2>/dev/null || true"), "");
    // Each weakened test fails again if the program is wrong.
    for (module, lambda) in [("greet", "greeting"), ("farewell", "farewell")] {
        let broken = format!(
            "python3 -c \"import unittest, {module}; {module}.{lambda} = lambda name: ''; \
             unittest.main(module='test_{module}', argv=['x'])\" 2>&1 || true"
        );
        assert!(stage.shell(&broken).contains("FAILED"), "test_{module} holds whatever the program does");
    }
    let folder = ".planning/phases/01-say-goodbye";
    let repairs = stage.context.read(&format!("{folder}/01-REVIEW-FIX.md"));
    for words in ["### CR-01: A key stands", "has to be revoked", "### CR-02: Without a name", "WR-02"] {
        assert!(repairs.contains(words), "REVIEW-FIX.md does not say `{words}`: {repairs}");
    }
    let verified = stage.context.read(&format!("{folder}/01-VERIFICATION.md"));
    for words in ["status: passed", "| CR-01 | `farewell.py:3` | fixed", "| CR-02 |", "| VERIFIED |"] {
        assert!(verified.contains(words), "VERIFICATION.md does not say `{words}`: {verified}");
    }
    assert!(stage.shell("git log --format=%s -- .planning").contains("verification found gaps"));
    assert!(stage.context.read(".planning/ROADMAP.md").contains("- [x] **Phase 1:"));
}

mod tests {
    use super::PLANTED;

    #[test]
    fn the_seeds_are_the_rows_that_were_drawn() {
        for (number, row) in PLANTED {
            assert_eq!(crate::faults::row(*number), *row);
        }
        assert!(PLANTED.len() >= 5);
    }
}
