//! The demo: a small project, and a script that plays the agent of its run.
//!
//! The demo is defined by data. `templates/demo/script.toml` has a row for each session and the text that is shown
//! about it; the files that a session writes are in `templates/demo/steps`, and the initial files of the project in
//! `templates/demo/project`.

pub(crate) mod agent;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::auto::unit::Unit;
use crate::failure::unexplained;
use crate::library;

/// The name of the agent in the table of clients.
pub(crate) const RUNNER: &str = "demo";

/// The variable that marks a session as part of a demo: the demo agent works in no other project.
pub(crate) const VARIABLE: &str = "GSD_DEMO";

/// The actions and texts of the demo.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// Shown before anything happens, by paragraphs.
    pub(crate) opening: Vec<String>,
    /// The file of the project that is the brief.
    pub(crate) brief: String,
    /// The subject of the project's first commit.
    pub(crate) subject: String,
    /// How it would work with a real agent.
    pub(crate) yours: String,
    #[serde(rename = "session")]
    sessions: Vec<DemoSession>,
    pub(crate) show: Vec<Show>,
    pub(crate) look: Vec<DemoCommand>,
    pub(crate) next: Vec<DemoCommand>,
}

/// One session of the agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DemoSession {
    /// Kind and identifier of the unit, as printed.
    unit: String,
    /// The attempt that the row applies to; all if unset.
    #[serde(default)]
    attempt: Option<u32>,
    /// The folders of `steps` with the files that it writes; if several have the same file, the last one counts.
    files: Vec<String>,
    /// The text shown when it starts.
    pub(crate) told: String,
    /// What the agent says at its end.
    says: String,
}

/// A command that is run in the project at the end, with its output shown.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Show {
    pub(crate) command: Vec<String>,
}

/// A command to type, and its purpose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DemoCommand {
    pub(crate) command: String,
    pub(crate) about: String,
}

/// The script is invalid.
#[derive(Debug, thiserror::Error)]
#[error("the script of the demo is invalid: {0}")]
pub(crate) struct ScriptError(#[from] toml_edit::de::Error);

unexplained!(ScriptError);

impl Script {
    pub(crate) fn builtin() -> Result<Self, ScriptError> {
        Ok(toml_edit::de::from_str(library::demo_text("script.toml").unwrap_or_default())?)
    }

    /// Returns the session for an attempt at a unit.
    pub(crate) fn session(&self, unit: &str, attempt: u32) -> Option<&DemoSession> {
        let is_it = |session: &&DemoSession| session.unit == unit && session.attempt.is_none_or(|only| only == attempt);
        self.sessions.iter().find(is_it)
    }

    /// Like [`Self::session`].
    pub(crate) fn session_of(&self, unit: &Unit, attempt: u32) -> Option<&DemoSession> {
        self.session(&unit.to_string(), attempt)
    }
}

/// Returns the initial files of the project, by their path in it.
pub(crate) fn project_files() -> Vec<(String, &'static str)> {
    library::demo_files("project")
}

impl DemoSession {
    /// Returns the files that the session writes, by their path in the project.
    fn files(&self) -> BTreeMap<String, &'static str> {
        self.files.iter().flat_map(|folder| library::demo_files(&format!("steps/{folder}"))).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests inspect what is there")]
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_session_writes_files_and_every_file_belongs_to_a_session() {
        let script = Script::builtin().unwrap();
        let (mut all, mut used) = (BTreeSet::new(), BTreeSet::new());
        all.extend(library::demo_files("steps").into_iter().map(|(path, _)| path));
        for session in &script.sessions {
            assert!(!session.files().is_empty(), "{}", session.unit);
            for folder in &session.files {
                let files = library::demo_files(&format!("steps/{folder}"));
                used.extend(files.into_iter().map(|(path, _)| format!("{folder}/{path}")));
            }
        }
        assert_eq!(all, used);
        assert!(project_files().iter().any(|(path, _)| *path == script.brief));
    }

    #[test]
    fn a_session_of_one_attempt_is_only_for_that_attempt() {
        let mut script = Script::builtin().unwrap();
        let first = script.sessions.first_mut().unwrap();
        first.attempt = Some(2);
        let unit = first.unit.clone();
        assert!(script.session(&unit, 1).is_none() && script.session(&unit, 2).is_some());
        assert!(script.session("execute-task M001/S01/T01", 7).is_some());
    }
}
