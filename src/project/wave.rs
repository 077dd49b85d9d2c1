//! The manifest of a wave: the worktrees of its agents, their branches, and the commit they start from.
//!
//! The caller that starts the agents creates the file, at any path; it is not a document below `.planning/`.
//! `worktree create-wave` keeps one in the project's local notes, with its decision: [`WaveNote`].

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::local_state::LocalState;
use crate::disk::AbsolutePath;
use crate::text::edit::{EditError, JsonDialect, ParseError};
use crate::text::json::{JsonDocument, JsonEdit};

const WORKTREES: &str = "worktrees";

/// The possible prefixes of an agent's branch.
const BRANCH_STARTS: &[&str] = &["agent-", "worktree-agent-", "worktree-wf_"];

/// One worktree of a wave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct WaveEntry {
    pub(crate) agent_id: Option<String>,
    pub(crate) worktree_path: String,
    pub(crate) branch: String,
    /// The commit that the branch was made from.
    pub(crate) expected_base: String,
    /// The files that the agent should change, if they were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files_modified: Option<Vec<String>>,
    /// The files that the agent should remove.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) declared_deletions: Option<Vec<String>>,
}

impl WaveEntry {
    /// Whether the entry can be used: its path and base are not empty, and the branch belongs to an agent.
    pub(crate) fn is_sound(&self) -> bool {
        !self.worktree_path.is_empty() && !self.expected_base.is_empty() && is_agent_branch(&self.branch)
    }

    fn is_same_worktree(&self, other: &Self) -> bool {
        (&self.worktree_path, &self.branch) == (&other.worktree_path, &other.branch)
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let texts = |key: &str| {
            let items = value.get(key)?.as_array()?;
            Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        };
        Some(Self {
            agent_id: text("agent_id"),
            worktree_path: text("worktree_path")?,
            branch: text("branch")?,
            expected_base: text("expected_base")?,
            files_modified: texts("files_modified"),
            declared_deletions: texts("declared_deletions"),
        })
    }
}

/// Whether `branch` has the name of an agent's branch.
pub(crate) fn is_agent_branch(branch: &str) -> bool {
    let sound = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '/' | '-');
    BRANCH_STARTS
        .iter()
        .filter_map(|start| branch.strip_prefix(start))
        .any(|rest| !rest.is_empty() && rest.chars().all(sound))
}

/// The local note about how the executors of the current wave work; also a manifest of their worktrees.
pub(crate) const WAVE_NOTE: &str = "wave.json";

/// How the executors of a wave work: decided once, read by `worktree cleanup-wave` and by the guard of executors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WaveNote {
    /// Who creates the worktrees: `harness-worktree`, `orchestrator-worktree` or `none`.
    pub(crate) isolation: String,
    /// The argument that requests a worktree in a call, such as `isolation="worktree"`.
    pub(crate) harness_flag: Option<String>,
    pub(crate) phase: Option<String>,
    pub(crate) plan: Option<String>,
    /// Milliseconds since 1970.
    pub(crate) written_at: i64,
    /// The commit that the worktrees should start from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    /// The branch that the wave began on and is merged into, such as `refs/heads/main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// The root of the project in the working tree that the wave began in: linked worktrees share this note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<String>,
    /// The prefix of the branches of worktrees that the host creates itself. Another host may do the merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch_start: Option<String>,
    /// The session that began the wave: a [`super::workstream::session_key`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// The plans that are executed in parallel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) plans: Vec<WavePlan>,
    #[serde(default)]
    pub(crate) worktrees: Vec<Value>,
}

impl WaveNote {
    /// The note of a project; `None` also if it cannot be read.
    pub(crate) fn of_project(state_folder: &Path, project: &AbsolutePath) -> Option<Self> {
        LocalState::of(state_folder, project).ok()?.read(WAVE_NOTE).ok()?
    }

    /// Whether plans are executed in parallel, which only a merge ends. Otherwise the note only records who creates
    /// worktrees.
    pub(crate) fn is_open(&self) -> bool {
        !self.plans.is_empty() || !self.worktrees.is_empty()
    }
}

/// A plan of a wave that is executed in a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WavePlan {
    /// Its number, such as `02-01`, whatever else its file name contains: the scope of its commits.
    pub(crate) id: String,
    /// The files that the plan removes; no other file may be missing after the merge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) deletes: Vec<String>,
}

/// A manifest that parses, with its bytes.
#[derive(Clone, Debug)]
pub(crate) struct WaveManifest {
    document: JsonDocument,
    /// The usable entries, each worktree once.
    pub(crate) entries: Vec<WaveEntry>,
    /// How many entries are unusable.
    pub(crate) unsound: usize,
}

/// Why a worktree cannot be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoteError {
    #[error("the worktree is noted already")]
    Twice,
    #[error(transparent)]
    Edit(#[from] EditError),
}

impl WaveManifest {
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let document = JsonDocument::parse(text, JsonDialect::Strict)?;
        let found = document.value(&[WORKTREES.to_owned()]);
        let values = found.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut entries: Vec<WaveEntry> = Vec::new();
        let mut unsound = 0;
        for value in values {
            match WaveEntry::read(value).filter(WaveEntry::is_sound) {
                Some(entry) if entries.iter().any(|known| known.is_same_worktree(&entry)) => {}
                Some(entry) => entries.push(entry),
                None => unsound += 1,
            }
        }
        Ok(Self { document, entries, unsound })
    }

    /// The text of the manifest with one more entry.
    pub(crate) fn with(mut self, entry: &WaveEntry) -> Result<String, NoteError> {
        if self.entries.iter().any(|known| known.is_same_worktree(entry)) {
            return Err(NoteError::Twice);
        }
        let value = serde_json::to_value(entry).unwrap_or_default();
        self.document.apply(&JsonEdit::Append { path: vec![WORKTREES.to_owned()], value })?;
        Ok(self.document.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(branch: &str) -> WaveEntry {
        WaveEntry {
            agent_id: Some("a1".to_owned()),
            worktree_path: "/w/a1".to_owned(),
            branch: branch.to_owned(),
            expected_base: "abc".to_owned(),
            files_modified: None,
            declared_deletions: Some(vec!["x".to_owned()]),
        }
    }

    #[test]
    fn branches_of_agents_are_recognised_by_their_names() {
        for branch in ["agent-1", "worktree-agent-a/b", "worktree-wf_1.x"] {
            assert!(is_agent_branch(branch), "{branch}");
        }
        for branch in ["main", "agent-", "agent-a b", "my-agent-1", "worktree-x", "agent-$(x)"] {
            assert!(!is_agent_branch(branch), "{branch}");
        }
    }

    #[test]
    fn a_recorded_worktree_is_read_back_and_the_rest_keeps_its_bytes() {
        let text = "{\r\n  \"note\" : 1.0,\r\n  \"worktrees\": []\r\n}\r\n";
        let noted = WaveManifest::parse(text).unwrap().with(&entry("agent-1")).unwrap();
        assert!(noted.starts_with("{\r\n  \"note\" : 1.0,\r\n"), "{noted}");
        let read = WaveManifest::parse(&noted).unwrap();
        assert_eq!(read.entries, [entry("agent-1")]);
        assert_eq!(read.with(&entry("agent-1")), Err(NoteError::Twice));
    }

    #[test]
    fn a_file_that_is_not_a_list_of_worktrees_is_never_overwritten() {
        for text in ["[]", "{\"worktrees\": 3}", "\"x\""] {
            let manifest = WaveManifest::parse(text).unwrap();
            assert!(manifest.entries.is_empty());
            assert!(matches!(manifest.with(&entry("agent-1")), Err(NoteError::Edit(_))), "{text}");
        }
        assert!(WaveManifest::parse("{bad").is_err());
    }

    #[test]
    fn unusable_entries_are_counted() {
        let text = "{\"worktrees\":[{\"worktree_path\":\"/w\",\"branch\":\"main\",\"expected_base\":\"a\"}, 7]}";
        let manifest = WaveManifest::parse(text).unwrap();
        assert_eq!((manifest.entries.len(), manifest.unsound), (0, 2));
    }
}
