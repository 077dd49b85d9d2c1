//! Refuses to start an executor in the main tree if its plan is to be executed in a worktree.
//!
//! The decision is made elsewhere: `worktree create-wave` and `dispatch-isolation` make it and write a note. Without a
//! note nothing is refused.

use super::scene::Scene;
use super::verdict::{Block, Reaction};
use crate::library::ToolSet;
use crate::project::folder::canonical_id;
use crate::project::wave::WaveNote;
use crate::runtime::Isolation;

/// The agent that changes code.
const EXECUTOR: &str = "gsd-executor";

/// How the prompt of an agent that executes a plan begins: a plan may name another agent for that.
const MARK: &str = "[gsd:dispatch ";

/// How long a note without plans is valid, in milliseconds: nothing reports when its agents are done.
const HOLDS: i64 = 10 * 60 * 1000;

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    let payload = scene.payload;
    // Hosts put the name of a plugin before an agent's name.
    let is_executor = |agent: &str| agent.rsplit(':').next() == Some(EXECUTOR);
    if payload.tool() != Some(ToolSet::Agent) {
        return Reaction::Nothing;
    }
    let text = |key: &str| payload.input(&[key]).and_then(serde_json::Value::as_str).map(str::to_owned);
    let prompt = text("prompt").unwrap_or_default();
    if !payload.agent().is_some_and(is_executor) && !prompt.trim_start().starts_with(MARK) {
        return Reaction::Nothing;
    }
    if !scene.project.flag("workflow.use_worktrees", true) {
        return Reaction::Nothing;
    }
    let Some(note) = scene.wave() else { return Reaction::Nothing };
    refused(&note, scene.now(), &prompt, text).map_or(Reaction::Nothing, Reaction::Block)
}

fn refused(note: &WaveNote, now: i64, prompt: &str, given: impl Fn(&str) -> Option<String>) -> Option<Block> {
    if note.isolation != Isolation::HarnessWorktree.word() {
        return None;
    }
    let whose = if note.plans.is_empty() {
        (now - note.written_at < HOLDS).then(|| EXECUTOR.to_owned())?
    } else {
        let named: Vec<&str> = named_plans(prompt).map(canonical_id).collect();
        format!("plan {}", note.plans.iter().find(|plan| named.contains(&canonical_id(&plan.id)))?.id)
    };
    let flag = note.harness_flag.as_ref()?;
    // A flag that is not an argument of the call cannot be checked here.
    let (key, value) = flag.split_once('=')?;
    let is_argument = key.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let missing = is_argument && given(key).as_deref() != Some(value.trim_matches(['"', '\'']));
    missing.then(|| Block {
        code: "ISOLATION_MISSING",
        reason: format!(
            "this wave executes {whose} in its own worktree, but this call would start it in the main tree. Instead, \
             add `{flag}` to the call."
        ),
    })
}

/// The plans that a prompt names in its dispatch mark: `plan=02-01]`.
fn named_plans(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.split("plan=").skip(1).filter_map(|rest| rest.split_once([']', ' ']).map(|(id, _)| id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::wave::WavePlan;

    fn note(isolation: Isolation, plans: &[&str]) -> WaveNote {
        WaveNote {
            isolation: isolation.word().to_owned(),
            harness_flag: Some("isolation=\"worktree\"".to_owned()),
            written_at: 1000,
            plans: plans.iter().map(|id| WavePlan { id: (*id).to_owned(), deletes: Vec::new() }).collect(),
            ..WaveNote::default()
        }
    }

    fn is_refused(note: &WaveNote, now: i64, prompt: &str, given: &[(&str, &str)]) -> bool {
        let given = |key: &str| given.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned());
        refused(note, now, prompt, given).is_some()
    }

    #[test]
    fn an_executor_of_a_plan_in_a_worktree_needs_the_flag() {
        let note = note(Isolation::HarnessWorktree, &["01-01", "01-02"]);
        let prompt = "[gsd:dispatch phase=1 plan=01-02]\nExecute plan 01-02";
        assert!(is_refused(&note, i64::MAX, prompt, &[]));
        assert!(is_refused(&note, 0, "[gsd:dispatch phase=1 plan=01-02-store]\nExecute plan 01-02-store", &[]));
        assert!(is_refused(&note, 0, prompt, &[("isolation", "remote")]));
        assert!(!is_refused(&note, 0, prompt, &[("isolation", "worktree")]));
    }

    #[test]
    fn other_executors_are_started_in_the_main_tree() {
        let wave = note(Isolation::HarnessWorktree, &["01-01"]);
        assert!(!is_refused(&wave, 0, "[gsd:dispatch phase=1 plan=01-03]", &[]));
        assert!(!is_refused(&wave, 0, "[gsd:dispatch phase=1 plan=01-010]", &[]));
        assert!(!is_refused(&wave, 0, "A quick task", &[]));
        for isolation in [Isolation::None, Isolation::OrchestratorWorktree] {
            assert!(!is_refused(&note(isolation, &["01-01"]), 0, "plan=01-01]", &[]));
        }
    }

    #[test]
    fn a_note_without_plans_expires() {
        let note = note(Isolation::HarnessWorktree, &[]);
        assert!(is_refused(&note, 1000, "anything", &[]));
        assert!(!is_refused(&note, 1000 + HOLDS, "anything", &[]));
    }
}
