//! Several milestones one after the other, and a question that keeps only its dependants waiting.

use serde_json::{Value, json};

use crate::auto::{git, project, report};
use crate::auto_ways_on::{BEGIN, also, follow, run, stopped};
use crate::kit::TestContext;

/// A project whose first two milestones have a context, and whose third has only a draft.
fn queued() -> TestContext {
    let context = project();
    for (milestone, kind, depends) in
        [("M001", "CONTEXT", ""), ("M002", "CONTEXT", "M001"), ("M003", "CONTEXT-DRAFT", "")]
    {
        let text = format!("---\ndepends_on: [{depends}]\n---\n# {milestone}: Shelf of {milestone}\n\nFiles.\n");
        context.write(&format!(".gsd/milestones/{milestone}/{milestone}-{kind}.md"), &text);
    }
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=documents"]);
    context
}

#[test]
fn queued_milestones_land_one_after_the_other_until_one_needs_a_person() {
    let context = queued();
    let dry = report(&run(&context, &["auto", "run", "--all", "--dry-run"], &[]));
    let queue = dry["card"]["queued"].to_string();
    assert!(queue.contains("M002 Shelf of M002: waits for M001") && queue.contains("auto discuss M003"), "{dry:#}");
    let ran = run(&context, &["auto", "run", "--all"], &[]);
    let answer = report(&ran);
    assert_eq!(answer["stop"]["cause"], "needs-discussion", "{answer:#}\n{}", ran.stderr);
    assert_eq!(answer["stop"]["next"], "gsd-tools auto discuss M003", "{answer:#}");
    let landed: Vec<&str> =
        answer["landed_before"].as_array().unwrap().iter().map(|row| row["milestone"].as_str().unwrap()).collect();
    assert_eq!(landed, ["M001", "M002"], "{answer:#}");
    assert!(ran.stderr.contains("Queued: M003"), "{}", ran.stderr);
    let subjects = git(&context, &["log", "--format=%s", "main"]);
    assert!(subjects.contains("feat(M001)") && subjects.contains("feat(M002)"), "{subjects}");
}

#[test]
fn without_the_flag_one_milestone_lands() {
    let context = queued();
    let answer = report(&run(&context, &["auto", "run"], &[]));
    assert_eq!((&answer["stop"]["cause"], &answer["milestone"]), (&"complete".into(), &"M001".into()), "{answer:#}");
    assert!(answer["landed_before"].is_null(), "{answer:#}");
}

/// Sessions of two slices that do not depend on each other; one task of the first asks.
fn asking() -> Vec<Value> {
    let asks = json!({
        "version": 1, "taskId": "T02", "sliceId": "S01", "milestoneId": "M001", "question": "Which?",
        "options": [{ "id": "a", "label": "one" }, { "id": "b", "label": "two" }], "recommendation": "a",
        "continueWithDefault": false, "createdAt": "2026-01-05T10:00:00Z",
    });
    let path = ".gsd/milestones/M001/slices/S01/tasks/T02-ESCALATION.json";
    let free = "sed -i 's/depends:\\[S01\\]/depends:[]/' .gsd/milestones/M001/M001-ROADMAP.md \
                .gsd/milestones/M001/slices/*/*-PLAN.md";
    vec![
        json!({
            "match": { "unit": "execute-task M001/S01/T02", "attempt": 1 },
            "steps": [{ "write": { "path": path, "content": asks.to_string() } }]
        }),
        also("plan-*", free),
    ]
}

#[test]
fn a_question_keeps_only_what_depends_on_it_waiting() {
    let context = project();
    let ran = run(&context, BEGIN, &asking());
    let stop = stopped(&ran, "escalation");
    assert_eq!(stop["next"], "gsd-tools auto answer M001/S01/T02 a", "{stop:#}");
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!(status["progress"]["slices"], json!([1, 2]), "the second slice is done: {status:#}");
    assert_eq!(status["active"]["slice"], "S01", "{status:#}");
    let causes = follow(&context, &stop, |line| run(&context, line, &asking()[1..]));
    assert_eq!(causes, ["escalation"]);
    // With a slice that depends on it there is nothing else to do.
    let context = project();
    stopped(&run(&context, BEGIN, &asking()[..1]), "escalation");
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!(status["progress"]["slices"], json!([0, 2]), "{status:#}");
}
