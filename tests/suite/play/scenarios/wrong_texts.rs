//! Texts that are wrong: a play that passes with them would prove nothing.

use super::Stage;
use super::agents::Plan;
use super::chain::{self, PLANS};
use super::plans::{FAREWELL_PLAN, README_PLAN};

/// A call in a workflow that the program does not know.
pub(crate) fn wrong_call(stage: &mut Stage) {
    first_wave(stage, ("create-wave --phase {N}", "create-wave --number {N}"), "unexpected argument `--number`");
}

/// Agents that are sent into the main tree in parallel: our hook refuses them.
pub(crate) fn no_isolation(stage: &mut Stage) {
    first_wave(stage, ("model={executor_model}, {argument}, ", "model={executor_model}, "), "ISOLATION_MISSING");
}

fn first_wave(stage: &mut Stage, (old, new): (&str, &str), reason: &str) {
    stage.has("greet");
    stage.is_planned("01-say-goodbye", PLANS);
    stage.changes_workflow("execute-phase", old, new);
    stage.types_and_fails("execute-phase", "1", reason, |it| {
        let folder = chain::load_phase(it, "1", PLANS);
        chain::begin_phase(it);
        let beside: &[&Plan] = &[&FAREWELL_PLAN, &README_PLAN];
        chain::run_wave(it, &folder, beside);
        "Nobody noticed.".to_owned()
    });
}
