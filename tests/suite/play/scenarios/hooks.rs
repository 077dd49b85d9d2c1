//! A point of a workflow where capabilities may have work: `loop render-hooks` and `references/loop-hooks.md`.

use crate::play::actor::Actor;

/// Asks what is to be done at `point`, and does it by the table of the reference. Answers with the contributions.
///
/// Steps that spawn agents are the workflow's own or not installed; any other would fail the play.
pub(crate) fn hooks(it: &mut Actor, point: &str, folder: &str) -> String {
    let answer = it.runs(&format!("gsd-tools loop render-hooks {point}"), &[]).json();
    let active = answer["activeHooks"].as_array().cloned().unwrap_or_default();
    if active.is_empty() {
        return String::new();
    }
    if !it.has_read("references/loop-hooks.md") {
        it.reads("references/loop-hooks.md").done();
    }
    let missing = answer["notInstalled"].to_string();
    let mut contributions = Vec::new();
    for hook in active {
        let name = hook["ref"]["skill"].as_str().or_else(|| hook["ref"]["agent"].as_str()).unwrap_or_default();
        match hook["kind"].as_str().unwrap() {
            "contribution" => {
                it.by("Put `fragment.inline` (or the text of `fragment.path`) unchanged");
                contributions.push(hook["fragment"]["inline"].as_str().unwrap().to_owned());
            }
            "gate" => {
                let query = hook["check"]["query"].as_str().unwrap();
                let gate = it.runs("gsd-tools check {check.query}", &[("check.query", query), ("phase_dir", folder)]);
                if gate.json()["block"] == true {
                    assert!(hook["blocking"] != true, "the gate {query} stops the play: {}", gate.text);
                    it.by("show `message`, go on");
                }
            }
            _ if missing.contains(&format!("\"{name}\"")) => {
                it.by("a step that `notInstalled` names");
            }
            _ => {
                let own = ["gsd-phase-researcher"].contains(&name);
                assert!(own, "a step that the play does not know: {name}");
                it.by("a step whose agent the workflow spawns itself");
            }
        }
    }
    contributions.join("\n")
}
