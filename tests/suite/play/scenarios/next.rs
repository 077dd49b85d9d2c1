//! The position of the project: `/gsd-next` and `/gsd-progress`.

use crate::play::actor::Actor;

/// `/gsd-next` up to the workflow of the next step; `offered` is another of its actions.
pub(crate) fn take_next_step(it: &mut Actor, offered: &str) {
    it.runs("gsd-tools smart-entry --json", &[]).expects(offered).done();
    it.by("Show `summary`").asks(&format!("1. Take the next step\n2. {offered}"), "1. Take the next step");
    it.reads("workflows/progress.md").done();
    it.runs("gsd-tools init progress", &[]).done();
    it.runs("gsd-tools roadmap analyze", &[]).done();
    it.by("With `--next`: Read");
    it.reads("workflows/progress/steps/advance.md").done();
    it.runs("gsd-tools state get Status", &[]).lacks("failed").done();
}

/// The report of `/gsd-progress`, with its own calls.
pub(crate) fn report(it: &mut Actor, plans: u32, percent: &str) {
    it.runs("gsd-tools init progress", &[]).done();
    it.runs("gsd-tools roadmap analyze", &[]).is("phases.0.plan_count", plans).done();
    it.runs("gsd-tools state get Progress", &[]).expects(percent).done();
    it.runs("gsd-tools state get Decisions", &[]).done();
    it.runs("gsd-tools state get \"Blockers", &[]).done();
    it.runs("gsd-tools list-todos", &[]).expects("0").done();
    it.even_if_it_fails().runs("ls {planning}/debug", &[]).done();
    it.even_if_it_fails().runs("ls -t {planning}/phases", &[]).done();
}
