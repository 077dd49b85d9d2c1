//! Completing milestones with the binary: everything moves with all its bytes, or nothing does.

use std::fmt::Write as _;

use crate::kit::TestContext;

const ROADMAP: &str = ".planning/ROADMAP.md";

/// A milestone of one phase, with a file that is not text, and a quick task.
fn project() -> TestContext {
    let context = TestContext::new();
    context.write(ROADMAP, "# R\r\n\r\n### Phase 1: A\r\n");
    context.write(".planning/STATE.md", "# S\r\n\r\n## Current Position\r\n\r\nPhase: 1 of 1 (A)  \r\nStatus: x\r\n");
    context.write(".planning/phases/01-a/01-01-PLAN.md", "one");
    context.write(".planning/phases/01-a/view.png", "");
    std::fs::write(context.project().join(".planning/phases/01-a/view.png"), b"\x89PNG\r\n\0\xff").unwrap();
    context.write(".planning/quick/260101-abc-fix/note.md", "n");
    context
}

fn there(context: &TestContext, path: &str) -> bool {
    context.project().join(path).exists()
}

#[test]
fn a_milestone_is_shipped_only_after_confirmation() {
    let context = project();
    let before = context.read(".planning/STATE.md");
    assert!(context.gsd(["milestone", "complete"]).failure(1).contains("needs <VERSION>"));
    assert!(context.gsd(["milestone", "complete", "v1.0"]).failure(1).contains("--confirm"));
    assert!(context.gsd(["milestone", "complete", "../x", "--confirm"]).failure(1).contains("../x"));
    let shown =
        context.gsd(["milestone", "complete", "v1.0", "--dry-run", "--force", "--diff", "--archive-quick"]).json();
    assert_eq!(shown["dry_run"], true);
    assert_eq!(shown["would_archive"]["phases"][0], "01-a");
    assert_eq!(shown["would_archive"]["quick"][0], "260101-abc-fix");
    assert!(shown["diff"].as_str().unwrap().contains("Awaiting next milestone"));
    assert_eq!(context.read(".planning/STATE.md"), before);
    assert!(there(&context, ".planning/phases/01-a/view.png") && !there(&context, ".planning/milestones"));
}

#[test]
fn a_shipped_milestone_keeps_every_byte() {
    let context = project();
    let report =
        context.gsd(["milestone", "complete", "v1.0", "--force", "--name", "First", "light", "--confirm"]).json();
    assert_eq!((report["name"].as_str(), report["phases"].as_u64()), (Some("First light"), Some(1)));
    let shot = std::fs::read(context.project().join(".planning/milestones/v1.0-phases/01-a/view.png")).unwrap();
    assert_eq!(shot, b"\x89PNG\r\n\0\xff");
    assert_eq!(context.read(".planning/milestones/v1.0-ROADMAP.md"), context.read(ROADMAP));
    assert!(context.read(".planning/STATE.md").contains("Phase: Milestone v1.0 complete  \r\n"));
    assert!(there(&context, ".planning/quick/260101-abc-fix/note.md") && !there(&context, ".planning/phases/01-a"));
    let again = context.gsd(["milestone", "complete", "v1.0", "--confirm", "--force"]).failure(1);
    assert!(again.contains("already archived"), "{again}");
    assert_eq!(context.gsd(["milestone", "archive-quick", "v1.0"]).json()["archived"], 1);
    let nothing = context.gsd(["milestone", "archive-quick", "v1.0"]).json();
    assert_eq!((nothing["archived"].as_u64(), nothing["updated"].as_bool()), (Some(0), Some(false)));
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_move_keeps_everything_in_its_place() {
    let context = project();
    let link = context.project().join(".planning/phases/01-a/link.md");
    std::os::unix::fs::symlink(context.project().join("elsewhere.md"), link).unwrap();
    context.gsd(["milestone", "complete", "v1.0", "--confirm"]).failure(1);
    assert!(there(&context, ".planning/phases/01-a/01-01-PLAN.md") && !there(&context, ".planning/milestones"));
    assert!(context.read(".planning/STATE.md").contains("Phase: 1 of 1 (A)"));
}

#[test]
fn a_milestone_needs_a_roadmap() {
    let context = TestContext::new();
    assert!(context.gsd(["milestone", "complete", "v1.0", "--confirm"]).failure(1).contains("ROADMAP.md"));
    assert!(!there(&context, ".planning"));
}

#[test]
fn the_answers_of_a_closed_milestone_are_short_however_many_files_move() {
    let context = TestContext::new();
    let mut roadmap = "# Roadmap\n\n## v1.0 First\n\n".to_owned();
    for phase in 1..=8 {
        writeln!(roadmap, "- [x] **Phase {phase}: Part {phase}** (completed 2026-01-02)").unwrap();
    }
    for phase in 1..=8 {
        writeln!(roadmap, "\n### Phase {phase}: Part {phase}\n**Goal**: g").unwrap();
        let folder = format!(".planning/phases/0{phase}-part-{phase}");
        for plan in 1..=3 {
            context.write(&format!("{folder}/0{phase}-0{plan}-PLAN.md"), "---\n---\n");
            context.write(
                &format!("{folder}/0{phase}-0{plan}-SUMMARY.md"),
                &format!("---\nstatus: complete\n---\n\n# Phase {phase} Plan {plan}: Part Summary\n\n**Part {phase}.{plan} works now**\n"),
            );
        }
        for kind in ["CONTEXT", "RESEARCH", "VERIFICATION", "UAT"] {
            context.write(&format!("{folder}/0{phase}-{kind}.md"), "---\nstatus: passed\n---\n");
        }
    }
    context.write(".planning/ROADMAP.md", &roadmap);
    context.write(".planning/REQUIREMENTS.md", "# R\n\n- [x] **A-1**: one\n");
    context.write(
        ".planning/STATE.md",
        "---\nmilestone: v1.0\nstatus: completed\n---\n\n# Project State\n\n## Current Position\n\nPhase: 8 of 8 (Part 8) — COMPLETE\n",
    );
    let rehearsed = context.gsd(["milestone", "complete", "v1.0", "--name", "First", "--dry-run"]).success();
    let with_diff = context.gsd(["milestone", "complete", "v1.0", "--name", "First", "--dry-run", "--diff"]).json();
    assert!(with_diff["diff"].as_str().unwrap().contains("rename from .planning/phases/01-part-1/ (10 files)"));
    let done = context.gsd(["milestone", "complete", "v1.0", "--name", "First", "--confirm"]).success();
    for (call, answer) in [("--dry-run", &rehearsed), ("--confirm", &done)] {
        assert!(answer.len() < 4096, "{call}: {} bytes: {answer}", answer.len());
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        let changed = answer["changed"].as_array().unwrap();
        let folders: Vec<_> = changed.iter().filter(|entry| entry["files"] == 10).collect();
        assert_eq!(folders.len(), 8, "{changed:?}");
        assert_eq!(folders[0]["moved_to"], ".planning/milestones/v1.0-phases/01-part-1");
        assert_eq!(answer["accomplishments"].as_array().unwrap().len(), 24);
    }
}

#[test]
fn a_milestone_counts_from_the_commit_that_brought_it_into_the_roadmap() {
    let context = project();
    let git = |line: &[&str]| {
        let output = context.command("git").args(line).output().unwrap();
        assert!(output.status.success(), "git {line:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let commit = |message: &str| {
        git(&["add", "-A"]);
        git(&["commit", "-q", "--allow-empty", "-m", message]);
    };
    git(&["init", "-q"]);
    commit("start");
    git(&["tag", "v2.13.1"]);
    commit("a release later");
    context.write(ROADMAP, "# R\n\n## v1.1 Sync\n\n### Phase 2: B\n");
    context.write(".planning/STATE.md", "---\nmilestone: v1.1\n---\n# S\n");
    commit("roadmap");
    let since = git(&["rev-parse", "--short", "HEAD"]);
    commit("work");
    commit("more work");
    let told = context.gsd(["init", "complete-milestone"]).json();
    assert_eq!((&told["since"], &told["commits"]), (&since.as_str().into(), &2.into()), "{told}");
    assert_eq!(told["foreign_tags"], 1);
    assert_eq!(told["tag"], serde_json::json!({"name": "v1.1", "ask": true}));
    git(&["tag", "-d", "v2.13.1"]);
    assert_eq!(context.gsd(["init", "complete-milestone"]).json()["tag"]["ask"], false);
}
