//! Tasks outside the roadmap: `/gsd-fast` and `/gsd-quick`.

use super::Stage;
use super::agents::{self, Plan, Task};
use super::hooks;

/// A trivial change: read, edit, check, commit, record.
pub(crate) fn fast(stage: &mut Stage) {
    stage.has("greet");
    stage.types("fast", "print two exclamation marks", |it| {
        it.by("At most three files").by("Read before you edit").reads_file("greet.py").done();
        it.by("match the code around").edits("greet.py", "Hello, {name}!", "Hello, {name}!!");
        it.by("match the code around").edits("test_greet.py", "Hello, Ada!", "Hello, Ada!!");
        it.by("**Check** with the narrowest test").shell("python3 -m unittest").expects("OK").done();
        it.by("**Commit** only the files you changed");
        it.runs("git add -- FILES", &[("FILES", "greet.py test_greet.py")]).done();
        let message = [("type", "feat"), ("what", "greet twice as loud"), ("FILES", "greet.py test_greet.py")];
        it.runs("git commit -m", &message).done();
        it.by("only if there is a `.planning/`");
        it.runs("gsd-tools quick-tasks-append", &[("task", "greet twice as loud")]).done();
        it.runs("gsd-tools commit \"docs: record fast task\"", &[("file", &it.field("changed.0.file"))])
            .is("committed", true)
            .done();
        "Greets twice as loud; tests pass; committed.".to_owned()
    });
    assert_eq!(stage.shell("python3 greet.py Ada"), "Hello, Ada!!");
    assert_eq!(stage.shell("git rev-list --count HEAD"), "3");
    stage.expect_tidy();
    stage.expect_agreement();
}

const SHOUT: Plan = Plan {
    id: "01-01",
    wave: 1,
    depends_on: &[],
    requirements: &[],
    objective: "A greeting can be shouted",
    truth: "`python3 -c 'import shout'` offers a shouted greeting",
    tasks: &[Task {
        name: "Shout a greeting",
        kind: "auto",
        files: &[
            ("shout.py", "import greet\n\n\ndef shouted(name):\n    return greet.greeting(name).upper()\n"),
            (
                "test_shout.py",
                "import unittest\n\nimport shout\n\n\nclass Shout(unittest.TestCase):\n    def test_it_is_loud(self):\n        \
                 self.assertEqual(shout.shouted(\"Ada\"), \"HELLO, ADA!\")\n",
            ),
        ],
        check: "python3 -m unittest test_shout",
        commit: ("feat", "shout a greeting"),
    }],
    asks_a_person: false,
    closes: None,
};

/// A small task with plan, executor and record.
pub(crate) fn quick(stage: &mut Stage) {
    stage.has("greet");
    stage.types("quick", "shout a greeting", |it| {
        it.reads("references/ui.md").expects("House rules").done();
        it.runs("gsd-tools init quick", &[("task", "shout a greeting")]).is("roadmap_exists", true).done();
        it.was_not_told("# Discussion");
        let id = it.field("quick_id");
        let folder = it.field("task_dir");
        let (plan, summary) = (format!("{folder}/{id}-PLAN.md"), format!("{folder}/{id}-SUMMARY.md"));
        let phase = format!("quick-{id}");
        it.by("`mkdir -p` the payload's `task_dir`").shell(&format!("mkdir -p {folder}")).done();
        let contributions = hooks::contributions(it, "plan:pre");
        let prompt = format!(
            "mode: quick\nTask: shout a greeting\n{contributions}\nRead: .planning/STATE.md, CLAUDE.md\n\
             Write: {plan}, with `phase: {phase}` and `plan: 01`"
        );
        let planner = it.by("Spawn `gsd-planner` (model `planner_model`) with").spawn_in_words(
            ("gsd-planner", "planner_model"),
            "Plan the quick task",
            &prompt,
            agents::planner_of_a_quick_task(&SHOUT, plan.clone(), phase.clone()),
        );
        it.sends(planner).expects("## PLANNING COMPLETE").done();
        it.by("PLAN.md on disk decides").shell(&format!("ls {plan}")).done();
        let prompt = format!(
            "<required_reading>\n{plan}\n.planning/STATE.md\nCLAUDE.md\n</required_reading>\nTracking: off. Commit scope: \
             {phase}. The caller commits planning files, SUMMARY.md too\nWrite: {summary} with `status: complete`, or \
             `halted` and why"
        );
        let executor = it.by("Spawn `gsd-executor` (model `executor_model`) with").spawn_in_words(
            ("gsd-executor", "executor_model"),
            "Execute the quick task",
            &prompt,
            agents::executor_of_a_quick_task(&SHOUT, phase.clone(), summary.clone(), phase.clone()),
        );
        it.sends(executor).expects("## PLAN COMPLETE").done();
        it.knows("task", "shout a greeting");
        it.runs("gsd-tools quick-tasks-append", &[("verification status", "Done")]).done();
        it.runs("gsd-tools state update \"Last activity\"", &[]).is("updated", true).done();
        it.runs("gsd-tools commit 'docs(quick-", &[("the task's files", &format!("{plan} {summary}"))])
            .is("committed", true)
            .done();
        "Shouts now.".to_owned()
    });
    assert_eq!(stage.shell("python3 -c 'import shout; print(shout.shouted(\"Ada\"))'"), "HELLO, ADA!");
    assert_eq!(stage.shell("git log -2 --format=%s | wc -l").trim(), "2");
    stage.expect_tidy();
    stage.expect_agreement();
}
