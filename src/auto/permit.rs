//! What a unit may write below the planning folder: only what the list in its prompt names.
//!
//! Documents decide what is done, so anyone who may write them decides it too. After each session the changes there are
//! compared with the list in its prompt: all others are reverted and named.

use serde::{Deserialize, Serialize};

use crate::text::words::read_words;

read_words! {
    /// Which changes to a document are allowed.
    #[derive(Serialize, Default)]
    pub(crate) enum Rule {
        /// Any change.
        #[default]
        Whole = "whole",
        /// In a roadmap: changes to slices that were not begun.
        OpenSlices = "open-slices",
        /// As for `OpenSlices`, and the purpose of the milestone, as a person asked.
        Course = "course",
        /// In a slice plan: changes to tasks that were not begun.
        OpenTasks = "open-tasks",
        /// The plan of a task that was not begun.
        OpenTask = "open-task",
        /// In the requirements: which slice owns each.
        Owners = "owners",
        /// In the changes of course: whether the documents follow each.
        Scopes = "scopes",
        /// In the captures: the classes of those without one.
        Classes = "classes",
        /// The text of a question, but not its answer.
        Question = "question",
        /// In a roadmap of phases: the parts about the phase of the unit.
        OwnPhase = "own-phase",
        /// Lines may be added, and none changed.
        Appended = "appended",
    }
}

/// One entry of the list: a document, or a pattern for several ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Permit {
    /// Relative to the root of the worktree. `##` and `###` match ids that the agent chooses; a path that ends with `/`
    /// or `-` matches every path with that prefix.
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) rule: Rule,
}

/// A document before and after a session; `None` if it does not exist.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DocumentTexts<'a> {
    pub(crate) before: Option<&'a str>,
    pub(crate) after: Option<&'a str>,
}

/// A change that the unit may not make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trespass {
    pub(crate) path: String,
    /// What is wrong with the change, if the path is on the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// Whether the unit does not count because of it: the change would decide what is done or what is to be done.
    pub(crate) decides: bool,
}

impl Permit {
    pub(crate) fn new(path: impl Into<String>, rule: Rule) -> Self {
        Self { path: path.into(), rule }
    }

    /// True if this entry covers the file.
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
            // The end of a name, such as `.md`, does not belong to the id.
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

/// Returns the paths of trespasses in one line.
pub(crate) fn named(trespasses: &[Trespass]) -> String {
    listed(&trespasses.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// Returns paths in one line; only the first few are named.
pub(crate) fn listed(paths: &[String]) -> String {
    const LISTED: usize = 5;
    let shown: Vec<&str> = paths.iter().take(LISTED).map(String::as_str).collect();
    let more = paths.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}

/// The kinds of documents that decide what is done or what is to be done, as written in file names.
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

/// Documents in the planning folder itself that do the same.
const DECIDING_ROOT: &[&str] = &["PREFERENCES.md", "OVERRIDES.md", "QUEUE-ORDER.json", "config.json"];

/// True if a document decides what is done or what is to be done, judging by its name.
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
    fn an_entry_covers_its_path_with_any_id_instead_of_the_marks() {
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
    fn deciding_documents_are_recognized_by_all_their_names() {
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
