//! What a unit may write below the planning folder: the list in its prompt, and nothing else.
//!
//! Documents decide what is done, so whoever may write them decides it too. After each session the changes there are held
//! against the list that its prompt has: the rest is put back and named.

use serde::{Deserialize, Serialize};

use crate::text::words::read_words;

read_words! {
    /// What may change in a document.
    #[derive(Serialize, Default)]
    pub(crate) enum Rule {
        /// All of it.
        #[default]
        Whole = "whole",
        /// In a roadmap: slices that were not begun.
        OpenSlices = "open-slices",
        /// The same, and what the milestone is for, as a person asked.
        Course = "course",
        /// In a slice plan: tasks that were not begun.
        OpenTasks = "open-tasks",
        /// The plan of a task that was not begun.
        OpenTask = "open-task",
        /// In the requirements: which slice owns them.
        Owners = "owners",
        /// In the changes of course: whether the documents follow them.
        Scopes = "scopes",
        /// A question, without its answer.
        Question = "question",
        /// In a roadmap of phases: what is about the phase of the unit.
        OwnPhase = "own-phase",
        /// Lines are added, and none is changed.
        Appended = "appended",
    }
}

/// One entry of the list: a document, or one for each of several ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Permit {
    /// From the root of the worktree. `##` and `###` stand for ids that the agent gives; with `/` or `-` at its end it is all
    /// that begins so.
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) rule: Rule,
}

/// A document before a session and after it; `None` where it is not there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Texts<'a> {
    pub(crate) before: Option<&'a str>,
    pub(crate) after: Option<&'a str>,
}

/// A change that the unit may not make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trespass {
    pub(crate) path: String,
    /// What is wrong with it, where the path is on the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// Whether the unit does not count because of it: it would decide what is done, or what is to be done.
    pub(crate) decides: bool,
}

impl Permit {
    pub(crate) fn new(path: impl Into<String>, rule: Rule) -> Self {
        Self { path: path.into(), rule }
    }

    /// Whether this entry is about the file.
    pub(crate) fn covers(&self, path: &str) -> bool {
        if self.path.ends_with(['/', '-']) {
            return path.starts_with(&self.path);
        }
        let mut rest = path;
        let mut parts = self.path.split('#').peekable();
        if let Some(first) = parts.next() {
            let Some(behind) = rest.strip_prefix(first) else { return false };
            rest = behind;
        }
        while let Some(part) = parts.next() {
            if part.is_empty() && parts.peek().is_some() {
                continue;
            }
            let length =
                rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.').unwrap_or(rest.len());
            // The end of a name, such as `.md`, is no part of the id.
            let id = &rest[..length];
            let Some(at) =
                (1..=id.len()).rev().find(|at| rest.get(*at..).is_some_and(|behind| behind.starts_with(part)))
            else {
                return false;
            };
            rest = &rest[at + part.len()..];
        }
        rest.is_empty()
    }
}

impl std::fmt::Display for Trespass {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.why {
            Some(why) => write!(formatter, "{} ({why})", self.path),
            None => formatter.write_str(&self.path),
        }
    }
}

/// The paths of trespasses in a line.
pub(crate) fn named(trespasses: &[Trespass]) -> String {
    listed(&trespasses.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// Paths in a line, the first few by name.
pub(crate) fn listed(paths: &[String]) -> String {
    const LISTED: usize = 5;
    let shown: Vec<&str> = paths.iter().take(LISTED).map(String::as_str).collect();
    let more = paths.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}

/// The kinds of documents that decide what is done or what is to be done, as they stand in file names.
const DECIDING: &[&str] = &[
    "VERIFY",
    "GATES",
    "SUMMARY",
    "VALIDATION",
    "UAT-RESULT",
    "ASSESSMENT",
    "PLAN",
    "ROADMAP",
    "REPLAN",
    "PARKED",
    "ESCALATION",
    "VERIFICATION",
    "UAT",
];

/// Documents of the planning folder itself that do.
const DECIDING_ROOT: &[&str] = &["PREFERENCES.md", "OVERRIDES.md", "QUEUE-ORDER.json", "config.json"];

/// Whether a document decides what is done, or what is to be done, by its name.
pub(crate) fn decides(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_ascii_uppercase();
    let is_kind = |kind: &&str| stem == **kind || stem.ends_with(&format!("-{kind}"));
    DECIDING.iter().any(is_kind) || DECIDING_ROOT.iter().any(|root| root.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_about_its_path_with_any_id_in_the_place_of_marks() {
        let covers = |pattern: &str, path: &str| Permit::new(pattern, Rule::Whole).covers(path);
        assert!(covers(".gsd/a/S01-PLAN.md", ".gsd/a/S01-PLAN.md"));
        assert!(!covers(".gsd/a/S01-PLAN.md", ".gsd/a/S01-PLAN.md.bak"));
        assert!(covers(".gsd/t/T##-PLAN.md", ".gsd/t/T07-PLAN.md"));
        assert!(covers(".gsd/t/T##-PLAN.md", ".gsd/t/T02.A1-PLAN.md"));
        for other in [".gsd/t/T-PLAN.md", ".gsd/t/T01/x-PLAN.md", ".gsd/t/T01-x-PLAN.md", ".gsd/t/T01-SUMMARY.md"] {
            assert!(!covers(".gsd/t/T##-PLAN.md", other), "{other}");
        }
        let drafts = ".gsd/milestones/M###/M###-CONTEXT-DRAFT.md";
        assert!(covers(drafts, ".gsd/milestones/M002/M002-CONTEXT-DRAFT.md"));
        assert!(!covers(drafts, ".gsd/milestones/M002/M002-CONTEXT.md"));
    }

    #[test]
    fn documents_that_decide_are_known_by_any_of_their_names() {
        for path in [
            ".gsd/milestones/M001/slices/S01/tasks/T02-VERIFY.json",
            ".gsd/milestones/M001/M001-words-summary.md",
            ".gsd/milestones/M001/roadmap.md",
            ".gsd/preferences.md",
            ".gsd/QUEUE-ORDER.json",
            ".planning/phases/02-x/02-VERIFICATION.md",
        ] {
            assert!(decides(path), "{path}");
        }
        for path in [".gsd/KNOWLEDGE.md", ".gsd/notes.md", ".gsd/milestones/M001/M001-RESEARCH.md", ".gsd/PROJECT.md"] {
            assert!(!decides(path), "{path}");
        }
    }
}
