//! Work that a person pauses in the middle of a plan, and that another session resumes: `/gsd-pause-work`,
//! `/gsd-resume-work`.

use super::Stage;
use super::agents::{self, Plan};
use super::chain::{self, TRACKING};
use super::plans::{FAREWELL_PLAN, SHOWN_SWITCH_PLAN};
use super::repairs;
use crate::play::actor::Actor;

/// Only the switch, next to the function; a person looks at it before it is tested.
const SWITCH: Plan =
    Plan { id: "01-02", depends_on: &["01-01"], requirements: &["FARE-02", "FARE-03"], ..SHOWN_SWITCH_PLAN };

const PLANS: &[&Plan] = &[&FAREWELL_PLAN, &SWITCH];
const PHASE: &str = "01-say-goodbye";
const HANDOFF: &str = ".planning/phases/01-say-goodbye/.continue-here.md";
const NEXT: &str = "Run `python3 greet.py --goodbye Ada` and judge the goodbye";

/// Asked to look at what was built, the person pauses; the next session shows it again, and completes the phase.
pub(crate) fn pause(stage: &mut Stage) {
    stage.has("greet");
    stage.has_approved_gates();
    stage.is_planned(PHASE, PLANS);
    stage.types("execute-phase", "1", |it| {
        let folder = chain::load_phase(it, "1", PLANS);
        chain::begin_phase(it);
        chain::run_wave(it, &folder, &[&FAREWELL_PLAN]);
        chain::after_wave(it, &folder, &[&FAREWELL_PLAN], true);
        let stop = repairs::run_plan_to_checkpoint(it, &folder, &SWITCH, "", agents::executor_to_checkpoint);
        it.by("show the checkpoint box of").is_told(&stop.shown, "pause-work", "");
        pause_work(it, &folder)
    });
    stage.expect_clean();
    let handoff: serde_json::Value =
        serde_json::from_str(&stage.context.read(".planning/HANDOFF.json")).expect("HANDOFF.json parses");
    assert_eq!(handoff["status"], "paused", "{handoff:#}");
    let position = stage.context.read(".planning/STATE.md");
    assert!(position.contains(&format!("Resume file: {HANDOFF}")), "{position}");
    stage.types("resume-work", "", |it| {
        let folder = resume_work(it);
        it.reads("workflows/execute-phase.md").done();
        go_on(it, &folder);
        chain::close_phase(it, "1", &folder, PLANS)
    });
    assert_eq!(stage.shell("git log --format=%s --grep '^feat(01-02)' | wc -l").trim(), "1", "a task was done twice");
    assert_eq!(stage.shell("python3 greet.py --goodbye Ada"), "Goodbye, Ada!");
    assert_eq!(stage.asks_program("handoff read")["found"], false);
    assert!(!stage.context.read(".planning/STATE.md").contains("continue-here"), "STATE.md still sends to the handoff");
    stage.expect_tidy();
    stage.expect_agreement();
}

/// `/gsd-pause-work`, in the session that executed the phase.
fn pause_work(it: &mut Actor, folder: &str) -> String {
    it.runs("gsd-tools init pause-work", &[]).is("phase_dir", folder).done();
    it.by("| a phase: its talk, plans, execution, tests | phase | `phase_dir`");
    it.runs("git status --short", &[]).done();
    it.runs("git log --oneline -10", &[]).expects("feat(01-02)").done();
    it.reads("templates/continue-here.md").done();
    let commit = it.by("what is done, with its commit").shell("git log -1 --format=%h --grep '^feat(01-02)'").text;
    let text = format!(
        "---\ncontext: phase\ntask: 2\nstatus: paused\n---\n\n<required_reading>\n- greet.py: the switch\n</required_reading>\n\n\
         ## Critical Anti-Patterns\n\n| Pattern | How it showed | What prevents it | Severity |\n|---|---|---|---|\n\
         | Taking the first word for the name | `--goodbye` was greeted | take the switch out first | blocking |\n\n\
         <current_state>\nPlan 01-02 waits at its second task for a person\n</current_state>\n\n<completed_work>\n\
         - Task 1: `--goodbye` before or after the name ({})\n</completed_work>\n\n<remaining_work>\n- Task 2: the person's \
         judgement\n- Task 3: a test of both calls\n</remaining_work>\n\n<decisions_made>\n- Parsing by hand: one switch\n\
         </decisions_made>\n\n<blockers>\nNone\n</blockers>\n\n<human_actions>\n- Judge how the goodbye reads\n\
         </human_actions>\n\n<async_jobs>\nNone\n</async_jobs>\n\n<context>\nThe switch is taken out of the words first.\n\
         </context>\n\n<next_action>\n{NEXT}\n</next_action>\n",
        commit.trim(),
    );
    it.by("write `{handoff file}` by it").writes(HANDOFF, &text);
    let file = [("handoff file", HANDOFF)];
    it.runs("gsd-tools handoff write {handoff file}", &file).is("task", 2).is("total_tasks", 3).done();
    let session = [("next action", "judge the goodbye"), file[0]];
    it.runs("gsd-tools state record-session --stopped-at '{next action", &session).done();
    it.knows("work", &it.field("phase_name"));
    it.runs("gsd-tools commit 'wip: {work} paused at", &[file[0], ("tracking", TRACKING)]).is("committed", true).done();
    it.by("the next action, a line each").by("Next Up: `");
    "Next Up: /gsd-resume-work".to_owned()
}

/// `/gsd-resume-work`, in a session without any context; returns the phase's folder.
fn resume_work(it: &mut Actor) -> String {
    let noted = |mark: &str| {
        format!("Paused: `.planning/HANDOFF.json` says where the work stopped. Continue with `{mark}gsd-resume-work`.")
    };
    assert!(
        ["/", "$"].iter().any(|mark| it.is_ordered(&noted(mark))),
        "the session does not begin with {}",
        noted("/")
    );
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init resume", &[]).is("planning_exists", true).is("state_exists", true).done();
    let read = it.runs("gsd-tools handoff read", &[]).is("found", true);
    read.is("commits_since", 1).expects(NEXT).done();
    it.runs("gsd-tools list-todos --pick count", &[]).expects("0").done();
    it.runs("gsd-tools state-snapshot", &[]).done();
    it.by("of PROJECT.md What This Is and Core Value").reads_file(".planning/PROJECT.md").done();
    it.by("the `continue_files` that are not `resumed`").reads_file(HANDOFF).expects("blocking").done();
    it.by("Anti-patterns marked `blocking`: say for each how you keep clear of it");
    it.by("Ask \"Next\": the next action (recommended)")
        .asks(&format!("Next\n1. {NEXT}\n2. Progress\n3. Something else"), "1. Run it, and I judge");
    let cleared = it.runs("gsd-tools handoff clear", &[]).json();
    let quoted = |list: &serde_json::Value| {
        let paths = list.as_array().into_iter().flatten().filter_map(|path| path.as_str());
        paths.map(|path| format!("'{path}'")).collect::<Vec<_>>().join(" ")
    };
    let (kept, removed) = (quoted(&cleared["kept"]), quoted(&cleared["removed"]));
    assert!(kept.contains(HANDOFF) && removed.contains("HANDOFF.json"), "{cleared:#}");
    it.runs("gsd-tools state record-session --stopped-at 'Resumed: ", &[("next action", "judge the goodbye")]).done();
    let files = [("tracking", TRACKING), ("kept", &*kept), ("removed", &*removed)];
    it.runs("gsd-tools commit 'docs: resume work'", &files).is("committed", true).done();
    it.by("It is an edit or a check inside a plan: the plan is executed by");
    format!(".planning/phases/{PHASE}")
}

/// `/gsd-execute-phase`, from the plan that stopped at its checkpoint to the last gate.
fn go_on(it: &mut Actor, folder: &str) {
    let _ = chain::load_phase(it, "1", PLANS);
    it.by("an open plan has `commits`").by("`{dir}/.continue-here.md` exists");
    it.reads("workflows/execute-phase/steps/before-work.md").done();
    it.by("- **`{dir}/.continue-here.md`**: read it").reads_file(HANDOFF).done();
    it.by("**An open plan that already has commits** was interrupted")
        .asks("01-02 has a commit and no SUMMARY.\n1. Continue\n2. Close out\n3. Skip", "1. Continue");
    chain::begin_phase(it);
    let commits = it.by("hashes and subjects").shell("git log --oneline --grep '(01-02)'").text.trim().to_owned();
    let done = format!("Commits made before: {commits}. Check them, do the rest.");
    let stop = repairs::run_plan_to_checkpoint(it, folder, &SWITCH, &done, |it, plan, folder, _| {
        executor_back_at_checkpoint(it, plan, folder)
    });
    it.by("Otherwise show the checkpoint box of").asks(&stop.shown, "approved");
    repairs::run_plan_from_checkpoint(it, folder, &SWITCH, stop);
    chain::after_wave(it, folder, &[&SWITCH], false);
    it.reads("workflows/execute-phase/steps/close.md").done();
}

/// gsd-executor on a plan that stopped at its checkpoint: nothing is redone, and the person is asked again.
fn executor_back_at_checkpoint(it: &mut Actor, plan: &'static Plan, folder: &str) -> String {
    agents::executor_begins(it);
    it.knows("id", plan.id);
    it.knows("dir", folder);
    it.by("every hash given is in `git log`");
    let hash = it.by("redo nothing").shell("git log -1 --format=%h --grep '^feat(01-02)'").text.trim().to_owned();
    it.by("run the verification of those tasks").shell(plan.tasks[0].check).done();
    it.runs("gsd-tools check auto-mode --pick active", &[]).expects("false").done();
    it.reads("references/checkpoints.md").done();
    it.by("prepare what the person needs, return `CHECKPOINT REACHED`");
    agents::checkpoint_return(plan, &[hash])
}
