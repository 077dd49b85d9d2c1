//! A point of a workflow at which capabilities may have work: `loop enter` and `references/loop-hooks.md`.

use serde_json::Value;

use crate::play::actor::Actor;

use super::agents::Plan;
use super::reviewers::{Finding, LOUD_SWITCH};
use super::steps;

/// A phase whose loop is at a point, with the data that the steps need.
pub(crate) struct Phase {
    pub(crate) folder: String,
    pub(crate) plans: &'static [&'static Plan],
    /// What the person decides about threats that nothing in the code mitigates.
    pub(crate) threats: Threats,
    /// The findings of the code reviewer.
    pub(crate) findings: &'static [Finding],
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threats {
    Checked,
    Accepted,
}

impl Phase {
    pub(crate) fn new(folder: &str, plans: &'static [&'static Plan]) -> Self {
        Self { folder: folder.to_owned(), plans, threats: Threats::Checked, findings: &[LOUD_SWITCH] }
    }
}

/// Asks what to do at `point` and does it as the table of the reference says, for a point without steps. Returns the
/// contributions.
pub(crate) fn hooks(it: &mut Actor, point: &str) -> String {
    let answer = enter(it, point);
    assert_eq!(steps_of(&answer), Vec::<Value>::new(), "steps at {point}");
    contributions_of(it, &answer)
}

/// As [`hooks`], and carries out the steps for `phase`.
pub(crate) fn hooks_of(it: &mut Actor, point: &str, phase: &Phase) -> String {
    let answer = enter(it, point);
    for step in steps_of(&answer) {
        steps::step(it, &step, phase);
    }
    contributions_of(it, &answer)
}

/// As [`hooks`], if the text needs only the contributions.
pub(crate) fn contributions(it: &mut Actor, point: &str) -> String {
    let answer = enter(it, point);
    it.by("only the `contributions` for the planner count here");
    contributions_of(it, &answer)
}

/// Returns the answer of `loop enter`; its gates must not block.
fn enter(it: &mut Actor, point: &str) -> Value {
    let answer = it.runs(&format!("gsd-tools loop enter {point}"), &[]).json();
    let has_gates = answer["gates"].as_array().is_some_and(|gates| !gates.is_empty());
    let has_contributions = answer["contributions"].as_object().is_some_and(|texts| !texts.is_empty());
    if !has_gates && !has_contributions && steps_of(&answer).is_empty() {
        return answer;
    }
    if !it.has_read("references/loop-hooks.md") {
        it.reads("references/loop-hooks.md").done();
    }
    assert!(answer["block"] != true, "the gates of {point} stop the play: {answer:#}");
    if has_gates {
        it.by("show `message` and `cure` in one ⚠ line, continue");
    }
    answer
}

fn steps_of(answer: &Value) -> Vec<Value> {
    answer["steps"].as_array().cloned().unwrap_or_default()
}

fn contributions_of(it: &mut Actor, answer: &Value) -> String {
    let contributions = answer["contributions"].as_object().cloned().unwrap_or_default();
    if contributions.is_empty() {
        return String::new();
    }
    it.by("Put the texts under a role unchanged");
    let texts = contributions.values().flat_map(|texts| texts.as_array().cloned().unwrap_or_default());
    texts.filter_map(|text| text.as_str().map(str::to_owned)).collect::<Vec<_>>().join("\n")
}
