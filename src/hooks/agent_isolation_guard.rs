//! Refuses to start an executor without a worktree of its own where it is to have one, and where nobody can tell.

use serde::Deserialize;

use super::checkout::Checkout;
use super::scene::Scene;
use super::verdict::{Block, Finding};
use crate::library::ToolSet;
use crate::runtime::Isolation;

/// The agent that changes code.
const EXECUTOR: &str = "gsd-executor";

/// Where it is noted who gives agents worktrees.
const NOTE: &str = ".gsd/dispatch-isolation-sentinel.json";

/// How long the note counts, in milliseconds.
const HOLDS: i64 = 10 * 60 * 1000;

pub(super) fn look(scene: &Scene<'_>) -> Finding {
    let payload = scene.payload;
    // Hosts put the name of a plugin before an agent's.
    let is_executor = |agent: &str| agent.rsplit(':').next() == Some(EXECUTOR);
    if payload.tool() != Some(ToolSet::Agent) || !payload.agent().is_some_and(is_executor) {
        return Finding::Nothing;
    }
    let facts = Facts {
        config_is_readable: scene.project.config_is_readable(),
        wants_worktrees: scene.project.flag("workflow.use_worktrees", true),
        in_git: Checkout::of(&scene.project.root).is_some(),
        noted: noted(scene),
        of_host: of_host(scene),
    };
    let given = |key: &str| payload.input(&[key]).and_then(serde_json::Value::as_str).map(str::to_owned);
    refused(&facts, given).map_or(Finding::Nothing, Finding::Block)
}

/// Who gives agents worktrees, and what a call says to get one, such as `isolation="worktree"`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Given {
    isolation: Isolation,
    #[serde(rename = "harness_flag")]
    flag: Option<String>,
    #[serde(default)]
    written_at: i64,
}

struct Facts {
    config_is_readable: bool,
    wants_worktrees: bool,
    in_git: bool,
    /// What the workflow noted just now.
    noted: Option<Given>,
    of_host: Option<Given>,
}

fn refused(facts: &Facts, given: impl Fn(&str) -> Option<String>) -> Option<Block> {
    if !facts.config_is_readable {
        return Some(Block {
            code: "ISOLATION_UNKNOWN",
            reason: format!(
                "`.planning/config.json` cannot be read, so nobody can tell whether {EXECUTOR} is to have a worktree of its \
                 own. Repair the file (`gsd-tools validate health` tells what is wrong), then start the agent again."
            ),
        });
    }
    if !facts.wants_worktrees || !facts.in_git {
        return None;
    }
    let holding = facts.noted.as_ref().or(facts.of_host.as_ref())?;
    if holding.isolation != Isolation::HarnessWorktree {
        return None;
    }
    let flag = holding.flag.as_ref().or_else(|| facts.of_host.as_ref()?.flag.as_ref())?;
    // Where it is no argument of the call, the call does not tell.
    let (key, value) = flag.split_once('=')?;
    let is_argument = key.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let missing = is_argument && given(key).as_deref() != Some(value.trim_matches(['"', '\'']));
    missing.then(|| Block {
        code: "ISOLATION_MISSING",
        reason: format!(
            "{EXECUTOR} is to work in a worktree of its own here, and this call would let it work in the user's checkout. \
             Add `{flag}` to the call. If it is to work here, note that first: \
             `gsd-tools record-dispatch-isolation --isolation none`."
        ),
    })
}

fn noted(scene: &Scene<'_>) -> Option<Given> {
    let text = crate::disk::read_text(scene.project.root.join(NOTE)).ok()??;
    let noted: Given = serde_json::from_str(&text).ok()?;
    (scene.now() - noted.written_at < HOLDS).then_some(noted)
}

fn of_host(scene: &Scene<'_>) -> Option<Given> {
    let dispatch = scene.host()?.dispatch?;
    Some(Given { isolation: dispatch.isolation?, flag: dispatch.isolation_flag, written_at: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(isolation: Isolation, flag: &str) -> Given {
        Given { isolation, flag: Some(flag.to_owned()), written_at: 0 }
    }

    fn facts() -> Facts {
        let of_host = Some(host(Isolation::HarnessWorktree, "isolation=\"worktree\""));
        Facts { config_is_readable: true, wants_worktrees: true, in_git: true, noted: None, of_host }
    }

    fn code(facts: &Facts, given: &[(&str, &str)]) -> Option<&'static str> {
        let given = |key: &str| given.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned());
        refused(facts, given).map(|block| block.code)
    }

    #[test]
    fn a_call_without_the_flag_is_refused() {
        assert_eq!(code(&facts(), &[]), Some("ISOLATION_MISSING"));
        assert_eq!(code(&facts(), &[("isolation", "none")]), Some("ISOLATION_MISSING"));
        assert_eq!(code(&facts(), &[("isolation", "worktree")]), None);
    }

    #[test]
    fn without_settings_nobody_can_tell() {
        let facts = Facts { config_is_readable: false, ..facts() };
        assert_eq!(code(&facts, &[("isolation", "worktree")]), Some("ISOLATION_UNKNOWN"));
    }

    #[test]
    fn nobody_needs_a_flag_where_no_worktree_is_given_by_it() {
        let with = |change: fn(&mut Facts)| {
            let mut facts = facts();
            change(&mut facts);
            code(&facts, &[])
        };
        assert_eq!(with(|facts| facts.wants_worktrees = false), None);
        assert_eq!(with(|facts| facts.in_git = false), None);
        assert_eq!(with(|facts| facts.of_host = None), None);
        assert_eq!(with(|facts| facts.noted = Some(host(Isolation::None, ""))), None);
        assert_eq!(with(|facts| facts.noted = Some(host(Isolation::OrchestratorWorktree, ""))), None);
        assert_eq!(with(|facts| facts.of_host = Some(host(Isolation::HarnessWorktree, "--worktree"))), None);
        let noted = with(|facts| {
            facts.of_host = None;
            facts.noted = Some(host(Isolation::HarnessWorktree, "isolation=\"worktree\""));
        });
        assert_eq!(noted, Some("ISOLATION_MISSING"));
    }
}
