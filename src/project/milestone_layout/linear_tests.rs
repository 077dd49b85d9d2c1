//! Large documents that repeat one piece are read in linear time.

use std::time::{Duration, Instant};

use super::requirements::{RequirementChange, Requirements};
use super::{
    assessment, captures, context, decisions, knowledge, lines, milestone_summary, overrides, preferences, roadmap,
    slice_plan, summary, task_plan, uat, validation,
};

fn repeated(piece: &str, length: usize) -> String {
    piece.repeat(length / piece.len())
}

fn took(text: &str) -> Duration {
    let started = Instant::now();
    everything(text);
    started.elapsed()
}

/// Runs every function that reads or edits a text.
fn everything(text: &str) {
    let row = decisions::DecisionRow { decision: "new".to_owned(), ..decisions::DecisionRow::default() };
    let known = knowledge::NewKnowledge { kind: knowledge::KnowledgeKind::Rule, what: "a", why: "b", scope: "c" };
    let change =
        RequirementChange { id: "R1".to_owned(), validation: Some("x".to_owned()), ..RequirementChange::default() };
    drop((roadmap::Roadmap::parse(text), roadmap::tick(text, "S01")));
    drop((slice_plan::SlicePlan::parse(text), slice_plan::tick(text, "T01")));
    drop((task_plan::TaskPlan::parse(text), summary::Summary::parse(text), uat::UatMode::of(text)));
    drop((uat::UatVerdict::parse(text), assessment::Assessment::parse(text), validation::Validation::parse(text)));
    let _ = (milestone_summary::Ending::of(text), validation::proves_operational(text));
    drop((Requirements::parse(text), super::requirements::change(text, &[change])));
    drop((decisions::append(text, &[row]), knowledge::append(text, &known), overrides::resolve_all(text)));
    drop((overrides::read(text), context::Context::parse(text, "M001")));
    drop((captures::read(text), captures::set(text, "CAP-00000001", &[(captures::STATUS, "x".to_owned())])));
    drop((captures::beyond_triage(text, text), slice_plan::append_task(text, "- [ ] **T99: x**")));
    drop((preferences::Preferences::read(Some(text), Some(text)), lines::field(text, "Goal")));
}

#[test]
fn any_input_is_read_in_linear_time() {
    let pieces = [
        "- [ ] **S01: A** `depends:[S01-S99]`\n",
        "- [ ] **T01: A** `est:1h`\n",
        "| S01 | T01 | R1 | done |\n",
        "### S01: A\n",
        "### T01: A\n",
        "### R1 — A\n- Status: active\n",
        "## Slices\n## Tasks\n## Override: x\n**Scope:** active\n### CAP-00000001\n**Status:** pending\n",
        "**",
        "**Goal:**",
        "`",
        "[",
        "(",
        "|",
        "---\n",
        "- ",
        "#",
        "depends:[",
        "a: [\n",
        "é\r\n",
        "\u{feff}",
        "| Verdict | PASS |\n|---|---|\n",
    ];
    for piece in pieces {
        for head in ["", "## Slices\n| ID | Decision |\n|---|---|\n"] {
            let measured = || {
                let short = took(&format!("{head}{}", repeated(piece, 1 << 13)));
                (short, took(&format!("{head}{}", repeated(piece, 1 << 16))))
            };
            // Eight times the text. A quadratic reader takes sixty-four times as long in every try; a busy machine may
            // slow down only some of them.
            let is_linear = |(short, long): (Duration, Duration)| long < 24 * short + Duration::from_millis(100);
            assert!((0..4).any(|_| is_linear(measured())), "{head:?} {piece:?}: {:?}", measured());
        }
    }
}
