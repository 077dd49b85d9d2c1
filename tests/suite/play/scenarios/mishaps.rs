//! Mishaps: the client is killed in the middle of a wave; STATE.md is garbled by hand.

use std::process::Command;
use std::time::{Duration, Instant};

use super::Stage;
use super::agents;
use super::chain::{self, PLANS};
use super::hooks::hooks;
use super::next;
use super::plans::{FAREWELL_PLAN, README_PLAN, SWITCH_PLAN};
use crate::play::actor::Actor;

/// The client is killed when one plan of the first wave is finished and the other has its first commit.
pub(crate) fn killed(stage: &mut Stage) {
    stage.has("greet");
    stage.has_approved_gates();
    stage.is_planned("01-say-goodbye", PLANS);
    stage.types_and_dies("execute-phase", "1", |it| {
        let folder = chain::load_phase(it, "1", PLANS);
        chain::begin_phase(it);
        chain::run_wave_with(it, &folder, &[&FAREWELL_PLAN, &README_PLAN], |it, plan, folder, worktree| {
            if plan.id == FAREWELL_PLAN.id {
                dies_on_the_way(it, folder)
            } else {
                agents::executor(it, plan, folder, worktree)
            }
        });
        unreachable!("the client is dead")
    });
    stage.types("execute-phase", "1", |it| {
        let folder = chain::load_phase(it, "1", PLANS);
        it.by("`git worktree list` shows a worktree besides this one");
        it.reads("workflows/execute-phase/steps/before-work.md").done();
        let first = it.even_if_it_fails().runs("gsd-tools worktree cleanup-wave --keep-work", &[]);
        if first.text.contains("wave_in_use") {
            it.by("`wave_in_use`: ask whether that session still works").asks(
                "Another session changed something a moment ago.\n1. It has ended\n2. It still works",
                "1. It has ended",
            );
            it.runs("gsd-tools worktree cleanup-wave --keep-work --take-over", &[]).is("ok", true).done();
        } else {
            first.is("ok", true).done();
        }
        let open = [("open plans", "01-01 01-02 01-03")];
        let checked = it.runs("gsd-tools plan check {open plans}", &open);
        let left = checked.expects("say goodbye").json();
        for plan in left["plans"].as_array().unwrap().iter().filter(|plan| plan["finished"] == true) {
            let id = plan["plan"].as_str().unwrap();
            it.runs("gsd-tools plan close {id}", &[("id", id)]).expects("\"committed\": true").done();
        }
        it.by("**An open plan that already has commits** was interrupted")
            .asks("01-01 has a commit and no SUMMARY.\n1. Continue\n2. Close out\n3. Skip", "1. Continue");
        chain::begin_phase(it);
        let wave = it.runs("gsd-tools worktree create-wave", &[("ids, with commas", "01-01")]).is("ok", true);
        wave.expects("01-01").done();
        let commits = it.by("hashes and subjects").shell("git log --oneline --grep '(01-01)'").text.trim().to_owned();
        let done = format!("Commits made before: {commits}. Check them, do the rest.");
        let into = folder.clone();
        let spawn = chain::executor_with(it, &FAREWELL_PLAN, None, &done, move |it| goes_on(it, &into));
        it.sends(spawn).expects("## PLAN COMPLETE").done();
        chain::judge(it, &["01-01"]);
        chain::after_wave(it, &folder, &[&FAREWELL_PLAN, &README_PLAN], true);
        chain::run_wave(it, &folder, &[&SWITCH_PLAN]);
        chain::after_wave(it, &folder, &[&SWITCH_PLAN], false);
        it.reads("workflows/execute-phase/steps/close.md").done();
        chain::close_phase(it, "1", &folder, PLANS)
    });
    assert_eq!(stage.shell("git log --format=%s --grep '^feat(01-01)' | wc -l").trim(), "1", "a task was done twice");
    assert_eq!(stage.shell("python3 greet.py --goodbye Ada"), "Goodbye, Ada!");
    stage.expect_tidy();
    stage.expect_agreement();
}

/// The executor of the first plan: makes one commit, then the client is killed, once the other plan is finished.
fn dies_on_the_way(it: &mut Actor, _folder: &str) -> String {
    it.works_in_its_worktree();
    agents::executor_begins(it);
    agents::tasks(it, FAREWELL_PLAN.id, FAREWELL_PLAN.tasks);
    let end = Instant::now() + Duration::from_secs(120);
    let finished = |project: &str| {
        let log =
            Command::new("git").args(["-C", project, "log", "--all", "--oneline", "--grep=^docs(01-02): "]).output();
        String::from_utf8_lossy(&log.unwrap().stdout).contains("summar")
    };
    while !finished(&it.project()) {
        assert!(Instant::now() < end, "the other plan was never finished");
        std::thread::sleep(Duration::from_millis(200));
    }
    it.dies()
}

/// A fresh executor on a plan whose tasks are all committed.
fn goes_on(it: &mut Actor, folder: &str) -> String {
    agents::executor_begins(it);
    it.knows("id", "01-01");
    it.knows("dir", folder);
    it.by("every hash given is in `git log`");
    let hash = it.by("redo nothing").shell("git log -1 --format=%h --grep '(01-01): say'").text.trim().to_owned();
    it.by("run the verification of those tasks").shell(FAREWELL_PLAN.tasks[0].check).expects("OK").done();
    let before = it.by("`plan_head_before` is the parent of the first").shell(&format!("git rev-parse {hash}~1"));
    it.reads("templates/summary.md").done();
    let summary = format!("{folder}/01-01-SUMMARY.md");
    let text = FAREWELL_PLAN.summary("01-say-goodbye", before.text.trim(), &[hash]);
    it.by("write `{dir}/{id}-SUMMARY.md`").writes(&summary, &text);
    it.runs("gsd-tools plan close {id}", &[]).expects("\"committed\": true").done();
    "## PLAN COMPLETE\nPlan: 01-01   Self-Check: PASSED".to_owned()
}

/// STATE.md is garbled twice, then missing: `/gsd-progress` restores it as the person chooses, and the loop continues.
pub(crate) fn garbled(stage: &mut Stage) {
    stage.has("greet");
    stage.is_planned("01-say-goodbye", PLANS);
    let garble = "head -c 900 /dev/urandom | base64 > .planning/STATE.md";
    for (mishap, choice) in [(garble, "2. Create new"), (garble, "1. Restore"), ("rm .planning/STATE.md", "1. Restore")]
    {
        stage.shell(mishap);
        stage.types("progress", "", move |it| {
            it.runs("gsd-tools init progress", &[]).done();
            it.runs("gsd-tools roadmap analyze", &[]).done();
            it.by("STATE.md comes first").shell("ls .planning").done();
            let is_there = it.has_file(".planning/STATE.md");
            if is_there {
                it.runs("gsd-tools state validate", &[]).expects("S001").expects("--set-aside").done();
            }
            it.by("first ask").asks("Nothing in it can be used.\n1. Restore\n2. Create new\n3. Stop", choice);
            if choice == "1. Restore" {
                if is_there {
                    it.runs("mv {planning}/STATE.md", &[]).done();
                }
                it.runs("git restore --source=HEAD", &[]).done();
            }
            let flag = if choice == "2. Create new" { "--set-aside" } else { "" };
            it.runs_with("gsd-tools state rebuild", &[], flag).done();
            it.runs("gsd-tools commit \"docs: rebuild STATE.md\"", &[]).done();
            next::report(it, 3, "0%");
            it.by("| `workflow` | ");
            "Next Up: /gsd-execute-phase 1".to_owned()
        });
        if mishap == garble {
            let kept = stage.shell("git status --porcelain");
            assert!(kept.starts_with("?? .planning/STATE.md.broken") && kept.lines().count() == 1, "{kept}");
            stage.shell("rm .planning/STATE.md.broken*");
        }
        stage.expect_clean();
        stage.expect_agreement();
    }
    stage.types("next", "", |it| {
        next::take_next_step(it, "Continue executing phase 1");
        it.reads("workflows/execute-phase.md").done();
        chain::load_phase(it, "1", PLANS);
        chain::begin_phase(it);
        hooks(it, "execute:wave:post");
        "Stopped here: the rest is another play.".to_owned()
    });
}
