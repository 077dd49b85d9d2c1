//! A session that plans a slice and changes the slices after it in the roadmap.

use serde_json::{Value, json};

use crate::auto::{project, report};
use crate::kit::{Ran, TestContext};
use crate::scripted;

const ROADMAP: &str = ".gsd/milestones/M001/M001-ROADMAP.md";
const BEGIN: &[&str] = &["auto", "run", "--brief", "BRIEF"];

fn run(context: &TestContext, words: &[&str], rows: &[Value], shape: &str) -> Ran {
    scripted::run(context, words, rows, &[("FAKE_SHAPE", shape)])
}

/// A session that does its work and then edits files: the end of each path, the old text, and the new one.
fn and_edits(unit: &str, attempt: Option<u32>, edits: &[(&str, &str, &str)]) -> Value {
    let edit = |(path, from, to): &(&str, &str, &str)| json!({ "edit": { "path": path, "from": from, "to": to } });
    let steps: Vec<Value> = [json!({ "ideal": true })].into_iter().chain(edits.iter().map(edit)).collect();
    scripted::row(unit, attempt, &steps)
}

fn complete(ran: &Ran) {
    assert_eq!((ran.code, &report(ran)["stop"]["cause"]), (0, &Value::from("complete")), "{}", ran.stderr);
}

#[test]
fn a_planner_of_a_slice_adds_one_and_drops_another_that_was_not_begun() {
    let context = project();
    let requirements = "# Requirements\n\n## Active\n\n### R001 — Shelves\n- Class: core\n- Status: active\n- Description: all are full\n\
        - Primary owning slice: M001/S03\n- Supporting slices: none\n- Validation: mapped\n";
    let write = json!({ "write": { "path": ".gsd/REQUIREMENTS.md", "content": requirements } });
    let row = (ROADMAP, "**S03: Shelf 3**", "**S04: Shelf 4**");
    let cited = (".gsd/milestones/M001/slices/S04/S04-PLAN.md", "depends:[S03]", "depends:[S02]");
    let rows = [
        scripted::row("discuss-milestone M001", None, &[json!({ "ideal": true }), write]),
        // The first attempt forgets the requirement of the dropped slice.
        and_edits("plan-slice M001/S02", Some(1), &[row]),
        and_edits("plan-slice M001/S02", Some(2), &[row, (".gsd/REQUIREMENTS.md", "M001/S03", "M001/S04")]),
        and_edits("plan-slice M001/S04", None, &[cited]),
    ];
    let first = run(&context, &[BEGIN, &["--max-units", "3"]].concat(), &rows, "3x1");
    assert_eq!(report(&first)["stop"]["cause"], "units-done", "{}", first.stderr);
    // A person has written about the slice that will be dropped.
    let worktree = context.gsd(["auto", "status"]).json()["session"]["worktree"].as_str().unwrap().to_owned();
    let mine = ".gsd/milestones/M001/slices/S03/S03-CONTEXT.md";
    let path = context.project().join(worktree).join(mine);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "# S03: what I want of it\n").unwrap();
    let ran = run(&context, &["auto", "run"], &rows, "3x1");
    complete(&ran);
    let why = format!(
        "does not count: plan-slice may not change {ROADMAP} (R001 names M001/S03, which the roadmap does not have)"
    );
    let line = "  roadmap: added S04 (Shelf 4); dropped S03 (Shelf 3)";
    assert!(ran.stderr.contains(&why) && ran.stderr.contains(line), "{}", ran.stderr);
    let log = context.gsd(["auto", "log", "M001/S02"]).json();
    let accepted = log["entries"].as_array().unwrap().iter().find(|row| row["text"] == line);
    let accepted = accepted.unwrap_or_else(|| panic!("{log:#}"));
    assert_eq!(accepted["entry"]["roadmap"], line.trim().strip_prefix("roadmap: ").unwrap());
    let roadmap = context.read(ROADMAP);
    assert!(roadmap.contains("- [x] **S04: Shelf 4**") && !roadmap.contains("S03"), "{roadmap}");
    assert!(context.read(".gsd/REQUIREMENTS.md").contains("validated by M001/S04"), "the new owner delivers it");
    assert_eq!(context.read(mine), "# S03: what I want of it\n", "nothing is deleted");
    assert!(context.project().join("src/s04_t01.txt").exists() && !context.project().join("src/s03_t01.txt").exists());
}

#[test]
fn a_planner_that_changes_a_row_that_was_begun_does_not_count() {
    for (from, to, why) in [
        ("**S01: Shelf 1**", "**S01: Other**", "S01 was begun"),
        ("**S02: Shelf 2**", "**S02: Other**", "S02 is the slice of this unit"),
        (
            "- [ ] **S02",
            "- [ ] **S03: New** `risk:low` `depends:[]`\n- [ ] **S02",
            "S03 comes before S02, which this unit plans",
        ),
    ] {
        let context = project();
        let rows = [and_edits("plan-slice M001/S02", Some(1), &[(ROADMAP, from, to)])];
        let ran = run(&context, BEGIN, &rows, "2x1");
        complete(&ran);
        let refused = format!("  does not count: plan-slice may not change {ROADMAP} ({why})");
        for line in [&refused, "  taken back, and kept in refs/gsd/checkpoint/", "plan-slice M001/S02: attempt 2"] {
            assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
        }
        assert!(!ran.stderr.contains("  roadmap: "), "{}", ran.stderr);
        let roadmap = context.read(ROADMAP);
        for row in ["- [x] **S01: Shelf 1**", "- [x] **S02: Shelf 2**"] {
            assert!(roadmap.contains(row) && !roadmap.contains("S03"), "{why}: {roadmap}");
        }
    }
}
