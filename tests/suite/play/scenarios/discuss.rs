//! `/gsd-discuss-phase N`: the discussion before a phase is planned.

use crate::play::actor::Actor;

use super::chain::{TRACKING, expected_folder};
use super::hooks::hooks;

/// The topic of the discussion, and the person's decision.
pub(crate) struct Talk {
    pub(crate) area: &'static str,
    pub(crate) question: &'static str,
    pub(crate) answer: &'static str,
}

/// From the first step to the hand-over; the person decides one thing.
pub(crate) fn discuss_phase(it: &mut Actor, phase: &str, talk: &Talk) -> String {
    it.knows("phase", phase);
    if !it.has_read("references/ui.md") {
        it.reads("references/ui.md").done();
    }
    it.runs("gsd-tools init discuss-phase {phase}", &[]).is("phase_found", true).is("has_context", false).done();
    it.runs("gsd-tools roadmap get-phase {phase}", &[]).done();
    hooks(it, "discuss:pre");
    it.learns("N", "number");
    let number = it.learns("NN", "padded_phase");
    let name = it.field("name");
    let folder = expected_folder(it);
    it.knows("dir", &folder);
    it.by("The answer of `roadmap get-phase` has the texts of the requirements");
    it.runs("gsd-tools todo match-phase {N}", &[]).is("matches", serde_json::json!([])).done();
    it.by("a few searches and at most five files").reads_file("greet.py").done();
    let areas = format!("1. {}\n2. Nothing of this", talk.area);
    it.by("Multi-select of the areas").asks(&areas, "1");
    it.by("About four questions, one after another").asks(talk.question, talk.answer);
    it.by("Ask *More on {area}* or *Next area*").asks("1. Next area\n2. More of it", "1. Next area");
    let checkpoint = format!("{folder}/{number}-DISCUSS-CHECKPOINT.json");
    let left = format!("{{\"phase\":\"{phase}\",\"areas_done\":[\"{}\"],\"areas_open\":[]}}", talk.area);
    it.by("Write `{dir}/{NN}-DISCUSS-CHECKPOINT.json`").writes(&checkpoint, &left);
    it.by("or *Write it down*").asks("1. Write it down\n2. One more area", "1. Write it down");
    it.reads("templates/context.md").done();
    it.reads("templates/discussion-log.md").done();
    let context = format!(
        "# Phase {phase}: {name} - Context\n\n**Gathered:** 2026-01-05\n**Status:** Ready for planning\n\n<domain>\n\
         ## Phase Boundary\n\n{name}, and nothing beyond it.\n</domain>\n\n<decisions>\n## Implementation Decisions\n\n\
         ### {area}\n- **D-01:** {answer} — **Reversibility:** reversible — one function\n\n### Claude's Discretion\n- None\n\
         </decisions>\n\n<canonical_refs>\n## Canonical References\n\nNone: the decisions above say everything\n\
         </canonical_refs>\n\n<code_context>\n## Existing Code Insights\n\n### Integration Points\n- `greet.py` — main\n\
         </code_context>\n\n<specifics>\n## Specific Ideas\n\n- None\n</specifics>\n\n<deferred>\n## Deferred Ideas\n\n- None\n\
         </deferred>\n\n*Phase {phase}: {name}, context gathered 2026-01-05*\n",
        area = talk.area,
        answer = talk.answer,
    );
    it.by("write `{dir}/{NN}-CONTEXT.md`").writes(&format!("{folder}/{number}-CONTEXT.md"), &context);
    let log = format!(
        "# Phase {phase}: {name} - Discussion Log\n\n**Mode:** interactive\n\n## {}\n\n| Question | Options | Answer |\n\
         |---|---|---|\n| {} | two | {} |\n",
        talk.area,
        talk.question.replace('\n', " "),
        talk.answer,
    );
    it.by("`{dir}/{NN}-DISCUSSION-LOG.md`").writes(&format!("{folder}/{number}-DISCUSSION-LOG.md"), &log);
    it.runs("rm {dir}/{NN}-DISCUSS-CHECKPOINT.json", &[]).done();
    it.runs("context gathered\" --resume-file", &[]).is("recorded", true).done();
    it.runs("capture phase context", &[("tracking", TRACKING)]).is("committed", true).done();
    hooks(it, "discuss:post");
    it.by("Next Up: `");
    format!("Next Up: /gsd-plan-phase {phase}")
}
