//! The whole loop, from the first discussion of a phase to the discussion of the next: with a checkpoint, a failed
//! gate, and a gap that the person reports.

use super::Stage;
use super::agents::Plan;
use super::chain;
use super::discuss::{Talk, discuss_phase};
use super::next;
use super::plans::{EVERYBODY_PLAN, FAREWELL_PLAN, HELD_README_PLAN, MENDED_README, SHOWN_SWITCH_PLAN};
use super::repairs::{self, Gap, RedGate};
use crate::play::actor::Actor;

const PLANS: &[&Plan] = &[&FAREWELL_PLAN, &HELD_README_PLAN, &SHOWN_SWITCH_PLAN];
const WITH_FIX: &[&Plan] = &[&FAREWELL_PLAN, &HELD_README_PLAN, &SHOWN_SWITCH_PLAN, &EVERYBODY_PLAN];

const PLACE_OF_THE_SWITCH: Talk = Talk {
    area: "Where the switch is written",
    question: "1. Before or after the name\n2. Before the name\n3. You decide",
    answer: "1. Before or after the name",
};

const ORDER_OF_NAMES: Talk = Talk {
    area: "Order of the names",
    question: "1. As they are typed\n2. By the alphabet",
    answer: "1. As they are typed",
};

const NOBODY_NAMED: Gap = Gap {
    id: "G-01-1",
    words: "Without a name it says world, that is wrong: it must say everybody",
    truth: EVERYBODY_PLAN.truth,
    cause: "greet.py:15 takes one default name for both calls",
    reproduction: "python3 greet.py --goodbye",
};

pub(crate) fn whole_loop(stage: &mut Stage) {
    stage.has("greet");
    stage.context.write(".planning/config.json", "{\"workflow\": {\"human_verify_mode\": \"mid-flight\"}}\n");
    stage.shell("git add -A && git commit --quiet -m 'chore: show work on the way'");
    stage.has_approved_gates();
    stage.types("discuss-phase", "1", |it| discuss_phase(it, "1", &PLACE_OF_THE_SWITCH));
    stage.expect_tidy();
    stage.types("plan-phase", "1", |it| {
        let folder = chain::begin_planning(it, "1");
        repairs::research(it, &folder);
        chain::plan_phase(it, &folder, PLANS)
    });
    stage.expect_tidy();
    stage.types("execute-phase", "1", execute_phase);
    stage.expect_tidy();
    assert_eq!(stage.shell("python3 greet.py Ada --goodbye"), "Goodbye, Ada!");
    stage.expect_agreement();
    stage.types("verify-work", "1", |it| {
        repairs::verify_work_with_gap(it, "1", PLANS, &NOBODY_NAMED, &[&EVERYBODY_PLAN])
    });
    stage.expect_tidy();
    stage.expect_agreement();
    stage.types("execute-phase", "1 --gaps-only", |it| {
        repairs::execute_gaps(it, "1", WITH_FIX, &EVERYBODY_PLAN, &NOBODY_NAMED)
    });
    assert_eq!(stage.shell("python3 greet.py --goodbye"), "Goodbye, everybody!");
    stage.expect_tidy();
    stage.expect_agreement();
    stage.types("verify-work", "1", |it| repairs::verify_work_again(it, "1", WITH_FIX, &EVERYBODY_PLAN, &NOBODY_NAMED));
    stage.expect_tidy();
    stage.expect_agreement();
    assert_eq!(stage.asks_program("phase uat-passed 1 --require-verification")["passed"], true);
    assert_eq!(stage.asks_program("audit-uat")["summary"]["total_items"], 0);
    stage.types("next", "", |it| {
        next::take_next_step(it, "Discuss phase 2");
        it.reads("workflows/discuss-phase.md").done();
        discuss_phase(it, "2", &ORDER_OF_NAMES)
    });
    stage.expect_tidy();
    stage.types("progress", "", |it| {
        next::report(it, 4, "50%");
        it.by("STATE.md comes first").runs("gsd-tools state validate", &[]).lacks("S00").done();
        it.by("| `workflow` | ");
        "Next Up: /gsd-plan-phase 2".to_owned()
    });
    stage.expect_tidy();
    stage.expect_agreement();
}

fn execute_phase(it: &mut Actor) -> String {
    let folder = chain::load_phase(it, "1", PLANS);
    chain::begin_phase(it);
    let beside: &[&Plan] = &[&FAREWELL_PLAN, &HELD_README_PLAN];
    chain::run_wave(it, &folder, beside);
    let (old, new) = MENDED_README;
    repairs::fix_red_gate(it, &folder, beside, &RedGate { wave: 1, mend: ("README.md", old, new) });
    repairs::run_plan_with_checkpoint(it, &folder, &SHOWN_SWITCH_PLAN);
    chain::after_wave(it, &folder, &[&SHOWN_SWITCH_PLAN], false);
    it.reads("workflows/execute-phase/steps/close.md").expects("## 7. Verify the goal").done();
    chain::close_phase(it, "1", &folder, PLANS)
}
