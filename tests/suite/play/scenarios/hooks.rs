//! A point of a workflow where capabilities may have work: `loop enter` and `references/loop-hooks.md`.

use crate::play::actor::Actor;

/// Asks what is to be done at `point`, and does it by the table of the reference. Answers with the contributions.
///
/// A step would fail the play: those of the workflows' own agents are not listed, others are not installed.
pub(crate) fn hooks(it: &mut Actor, point: &str) -> String {
    let answer = it.runs(&format!("gsd-tools loop enter {point}"), &[]).json();
    let named = |key: &str| answer[key].as_array().is_some_and(|list| !list.is_empty());
    let contributions = answer["contributions"].as_object().cloned().unwrap_or_default();
    if !named("gates") && !named("steps") && contributions.is_empty() {
        return String::new();
    }
    if !it.has_read("references/loop-hooks.md") {
        it.reads("references/loop-hooks.md").done();
    }
    assert!(answer["block"] != true, "the gates of {point} stop the play: {answer:#}");
    assert!(!named("steps"), "a step that the play does not know: {answer:#}");
    if named("gates") {
        it.by("in one ⚠ line, go on");
    }
    if contributions.is_empty() {
        return String::new();
    }
    it.by("Put the texts under a role unchanged");
    let texts = contributions.values().flat_map(|texts| texts.as_array().cloned().unwrap_or_default());
    texts.filter_map(|text| text.as_str().map(str::to_owned)).collect::<Vec<_>>().join("\n")
}
