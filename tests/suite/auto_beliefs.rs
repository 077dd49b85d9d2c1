//! What the engine trusts: its own records, and from a session only what its prompt lets it write. Each row of a table
//! is a session that writes something else in its first attempt; the second attempt is honest.

use serde_json::{Value, json};

use crate::auto::{git, project, report};
use crate::kit::{Ran, TestContext, binary};
use crate::scripted::{self, also};

const MILESTONE: &str = ".gsd/milestones/M001";

fn run(context: &TestContext, words: &[&str], rows: &[Value]) -> Ran {
    scripted::run(context, words, rows, &[("FAKE_SHAPE", "2x2")])
}

const TASK: &str = "execute-task M001/S01/T01";

/// A session that tries to decide what is done, or what to do: the unit, the script, and the file that the refusal
/// names.
const DECIDING: &[(&str, &str, &str)] = &[
    (
        TASK,
        "printf -- '---\\nstatus: complete\\n---\\n' > $M/M001-SUMMARY.md; printf -- '---\\nverdict: pass\\n---\\n' > $M/M001-VALIDATION.md",
        "M001-SUMMARY.md",
    ),
    (
        TASK,
        "cp $T/T01-SUMMARY.md $T/T02-SUMMARY.md; printf '{\"passed\": true}' > $T/T02-VERIFY.json",
        "T02-SUMMARY.md",
    ),
    (TASK, "printf '{\"passed\": true}' > $T/T01-VERIFY.json", "T01-VERIFY.json"),
    (TASK, "sed -i 's/- \\[ \\] \\*\\*T02/- [x] **T02/' $M/slices/S01/S01-PLAN.md", "S01-PLAN.md"),
    (TASK, "sed -i '/T02/d' $M/slices/S01/S01-PLAN.md", "S01-PLAN.md"),
    (TASK, "sed -i '/S02/,$d' $M/M001-ROADMAP.md", "M001-ROADMAP.md"),
    (TASK, "sed -i 's/- \\[ \\] \\*\\*S0/- [x] **S0/' $M/M001-ROADMAP.md", "M001-ROADMAP.md"),
    (TASK, "rm -r $M/slices/S01/tasks/T02-PLAN.md", "T02-PLAN.md"),
    (TASK, "printf -- '---\\nverification_commands: [\"true\"]\\n---\\n' > .gsd/PREFERENCES.md", ".gsd/PREFERENCES.md"),
    (TASK, "printf 'later\\n' > $M/M001-PARKED.md", "M001-PARKED.md"),
    (
        TASK,
        "printf '## Override: 2026-01-01T00:00:00Z\\n**Change:** less\\n**Scope:** active\\n' > .gsd/OVERRIDES.md",
        ".gsd/OVERRIDES.md",
    ),
    (TASK, "printf -- '---\\nverdict: PASS\\n---\\n' > $M/slices/S01/S01-UAT-RESULT.md", "S01-UAT-RESULT.md"),
    // Files that git ignores are read too.
    (
        TASK,
        "printf '*\\n' > $M/.gitignore; printf -- '---\\nstatus: complete\\n---\\n' > $M/M001-SUMMARY.md",
        "M001-SUMMARY.md",
    ),
    (
        TASK,
        "printf '.gsd/**/M001-*\\n' > .gitignore; printf -- '---\\nstatus: complete\\n---\\n' > $M/M001-SUMMARY.md",
        "M001-SUMMARY.md",
    ),
    (TASK, "ln -s T01-SUMMARY.md $T/T02-SUMMARY.md", "T02-SUMMARY.md"),
    (TASK, "rm -rf ./* .gsd", "M001-ROADMAP.md"),
    (
        "plan-slice M001/S02",
        "sed -i 's/- \\[ \\] \\*\\*T01/- [x] **T01/' $M/slices/S02/S02-PLAN.md",
        "S02-PLAN.md (T01 is ticked)",
    ),
    ("plan-slice M001/S02", "printf 'x' > $M/slices/S02/tasks/T01-SUMMARY.md", "T01-SUMMARY.md"),
    ("plan-slice M001/S02", "sed -i 's/sh checks/true checks/' $M/slices/S01/S01-PLAN.md", "S01-PLAN.md"),
    (
        "plan-milestone M001",
        "sed -i 's/- \\[ \\] \\*\\*S02/- [x] **S02/' $M/M001-ROADMAP.md",
        "M001-ROADMAP.md (S02 is ticked)",
    ),
];

#[test]
fn a_session_that_writes_a_deciding_document_does_not_count_and_the_file_is_named() {
    for (unit, script, named) in DECIDING {
        let context = project();
        let script = format!("M={MILESTONE}; T=$M/slices/S01/tasks; {script}");
        let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[also(unit, Some(1), &script)]);
        let report = report(&ran);
        assert_eq!(
            (ran.code, &report["stop"]["cause"]),
            (0, &json!("complete")),
            "{script}: {report:#}\n{}",
            ran.stderr
        );
        let refused: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("does not count")).collect();
        let is_named = refused.len() == 1 && refused[0].contains("may not change") && refused[0].contains(named);
        assert!(is_named, "{script}: {refused:?}\n{}", ran.stderr);
        assert!(ran.stderr.contains("taken back, and kept in refs/gsd/checkpoint/"), "{script}: {}", ran.stderr);
        assert_eq!(report["sessions"], 8, "{script}: one attempt more");
        let files = git(&context, &["ls-tree", "-r", "--name-only", "main"]);
        let verified = files.lines().filter(|path| path.ends_with("-VERIFY.json")).count();
        assert_eq!(verified, 4, "{script}: {files}");
        let odd = ["PREFERENCES", "PARKED", "OVERRIDES", "UAT-RESULT", ".gitignore"];
        assert!(!odd.iter().any(|name| files.contains(name)), "{script}: {files}");
        assert_eq!(git(&context, &["status", "--porcelain"]), "", "{script}");
    }
}

/// The run is killed in a session that has written which checks count. The run that continues ignores it.
#[test]
fn preferences_written_by_a_killed_session_apply_to_no_unit() {
    let context = project();
    let marker = context.home().join("killed");
    let status = format!("{} --cwd {} auto status", binary().display(), context.project().display());
    let script = format!(
        "[ -e {0} ] || {{ touch {0}; printf -- '---\\nverification_commands: [\"test -f README.md\"]\\n---\\n' > .gsd/PREFERENCES.md; \
         kill -9 $({status} | sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p'); sleep 60; }}",
        marker.display()
    );
    let rows = [also(TASK, Some(1), &script)];
    let first = run(&context, &["auto", "run", "--brief", "BRIEF", "--no-fence"], &rows);
    assert!(marker.exists() && first.stdout.is_empty(), "{}\n{}", first.stdout, first.stderr);
    let second = run(&context, &["auto", "run"], &rows);
    assert_eq!((second.code, &report(&second)["stop"]["cause"]), (0, &json!("complete")), "{}", second.stderr);
    for task in ["S01/tasks/T01", "S01/tasks/T02", "S02/tasks/T02"] {
        let record = git(&context, &["show", &format!("main:{MILESTONE}/slices/{task}-VERIFY.json")]);
        assert!(record.contains("sh checks/") && !record.contains("README.md"), "{task}: {record}\n{}", second.stderr);
    }
}

#[test]
fn other_documents_are_put_back_and_the_work_counts() {
    for script in
        ["echo x > .gsd/notes.md", "mkdir .gsd/x && echo '*' > .gsd/x/.gitignore", "echo x > $M/M001-RESEARCH.md"]
    {
        let context = project();
        let script = format!("M={MILESTONE}; {script}");
        let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[also(TASK, None, &script)]);
        let report = report(&ran);
        assert_eq!(
            (&report["stop"]["cause"], &report["sessions"]),
            (&json!("complete"), &json!(7)),
            "{script}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains("put back, since the unit may not change it: .gsd/"), "{script}: {}", ran.stderr);
        let files = git(&context, &["ls-tree", "-r", "--name-only", "main"]);
        assert!(!["notes.md", "/x/", "RESEARCH"].iter().any(|name| files.contains(name)), "{script}: {files}");
    }
}

#[test]
fn doing_nothing_twice_is_not_enough() {
    let context = project();
    let preferences = "---\nversion: 1\nverification_commands: [\"sh -c true\", \"test -f README.md\"]\n---\n";
    context.write(".gsd/PREFERENCES.md", preferences);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=preferences"]);
    let lazy = json!({ "match": { "unit": "execute-task M001/S01/T02" }, "steps": [
        { "ideal": true }, { "sh": "rm src/s01_t02.txt checks/s01_t02.sh" }
    ] });
    let before = git(&context, &["rev-parse", "main"]);
    let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[lazy]);
    let report = report(&ran);
    assert_eq!((ran.code, &report["stop"]["cause"]), (12, &json!("no-progress")), "{report:#}\n{}", ran.stderr);
    assert_eq!(ran.stderr.matches("no file outside the planning folder was changed").count(), 2, "{}", ran.stderr);
    assert_eq!(git(&context, &["rev-parse", "main"]), before);
}

#[test]
fn the_work_of_a_refused_attempt_can_be_restored_as_the_next_prompt_says() {
    let context = project();
    // The second attempt restores what the first one left, as its prompt says, and only corrects it.
    let (first, second) = (
        also(TASK, Some(1), "echo wrong > src/s01_t01.txt"),
        json!({ "match": { "unit": TASK, "attempt": 2 }, "steps": [{ "sh":
            "test ! -e src/s01_t01.txt || exit 1; \
             ref=$(git for-each-ref --format='%(refname)' refs/gsd/checkpoint | grep attempt-); \
             git diff --binary HEAD $ref | git apply; echo 'S01 T01 ready' > src/s01_t01.txt" }] }),
    );
    let ran = run(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "3"], &[first, second]);
    let found = report(&ran);
    assert_eq!((ran.code, &found["stop"]["cause"]), (0, &json!("units-done")), "{found:#}\n{}", ran.stderr);
    assert_eq!(git(&context, &["show", "milestone/M001:src/s01_t01.txt"]), "S01 T01 ready");
    let log = context.gsd(["auto", "log", "M001/S01/T01"]).success();
    assert!(log.contains("taken back, and kept in refs/gsd/checkpoint/"), "{log}");
}

#[test]
fn a_person_who_overrules_a_refusal_gets_the_work_of_the_last_attempt() {
    let context = project();
    let wrong = also(TASK, None, "echo \"wrong $GSD_UNIT_ATTEMPT\" > src/s01_t01.txt");
    let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[wrong]);
    assert_eq!(report(&ran)["stop"]["cause"], "checks-failed", "{}", ran.stderr);
    let worktree = context.project().join(".gsd/worktrees/M001");
    assert!(!worktree.join("src/s01_t01.txt").exists());
    context.gsd(["auto", "verdict", "M001/S01/T01", "pass", "--rationale", "good enough"]).success();
    let ran = run(&context, &["auto", "run", "--max-units", "1"], &[]);
    assert_eq!(report(&ran)["stop"]["cause"], "units-done", "{}", ran.stderr);
    assert_eq!(git(&context, &["show", "milestone/M001:src/s01_t01.txt"]), "wrong 3");
}

#[test]
fn a_change_by_a_person_between_two_units_is_reported_and_counts() {
    let context = project();
    let first = run(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "2"], &[]);
    assert_eq!(report(&first)["stop"]["cause"], "units-done", "{}", first.stderr);
    let plan = context.project().join(".gsd/worktrees/M001").join(MILESTONE).join("slices/S01/S01-PLAN.md");
    let text = std::fs::read_to_string(&plan).unwrap();
    std::fs::write(&plan, text.replace("**Goal:** ", "**Goal:** (by hand) ")).unwrap();
    let rest = run(&context, &["auto", "run"], &[]);
    assert_eq!(report(&rest)["stop"]["cause"], "complete", "{}", rest.stderr);
    let told = format!("Changed while no session ran, and accepted: {MILESTONE}/slices/S01/S01-PLAN.md");
    assert!(rest.stderr.contains(&told), "{}", rest.stderr);
    assert!(git(&context, &["show", &format!("main:{MILESTONE}/slices/S01/S01-PLAN.md")]).contains("(by hand)"));
}

#[test]
fn a_slice_that_a_session_closes_is_ticked_by_the_engine() {
    let context = project();
    context.write(".gsd/PREFERENCES.md", "---\nversion: 1\nmechanical:\n  enabled: false\n---\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=preferences"]);
    let ran = run(&context, &["auto", "run", "--brief", "BRIEF"], &[]);
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}", ran.stderr);
    assert!(ran.stderr.contains("complete-slice M001/S01") && !ran.stderr.contains("does not count"), "{}", ran.stderr);
    let roadmap = git(&context, &["show", &format!("main:{MILESTONE}/M001-ROADMAP.md")]);
    assert!(roadmap.contains("- [x] **S01") && roadmap.contains("- [x] **S02"), "{roadmap}");
}
