//! Everything a workflow needs at its start, in one answer: lists of facts by workflow, and facts used only here.
//!
//! The lists are in `answers.toml`. `init WORKFLOW` answers from the front matter of the workflow (`workflow`), so a
//! new workflow needs no Rust; workflows of the compatible program with an `init` verb keep it. When a section of a
//! workflow runs is in its front matter too: by flag, setting, document or fact.

mod answers;
mod docs;
mod manager;
mod onboard;
mod progress;
mod sections;
pub(crate) mod workflow;
pub(crate) mod workspaces;
mod yolo;

use serde::Serialize;
use serde_json::{Map, Value};

use answers::Answers;

use crate::operations::facts::{self, Fact, Given};
use crate::project::files::FileError;

pub(crate) use onboard::FoundDocuments;
pub(crate) use workspaces::{
    ChildRepository, NewWorkspace, OldWorkspace, Workspace, WorkspaceReport, WorkspacesReport,
};
pub(crate) use yolo::{Blocker, ChainFacts, ChainPlan};

/// The tables of facts in this folder.
const TABLES: &[&[Fact]] = &[
    docs::FACTS,
    manager::FACTS,
    onboard::FACTS,
    progress::FACTS,
    sections::FACTS,
    workspaces::FACTS,
    workspaces::new::FACTS,
    yolo::FACTS,
];

/// An answer: facts by their keys.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct BundleAnswer(Map<String, Value>);

impl BundleAnswer {
    /// The answer of a verb. The last word of the verb is the workflow of the call.
    pub(crate) fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let list = Answers::embedded().verbs.get(&given.call.workflow);
        Self::listed(list.into_iter().map(String::as_str).chain(["@common"]), given)
    }

    /// The answer for a workflow without a verb: the facts that all workflows get, and those that its front matter
    /// requests.
    pub(crate) fn of_workflow(given: &Given<'_>) -> Result<Self, FileError> {
        let needs = given.call.front_matter.names("needs");
        let lists = ["always"].into_iter().chain(needs).filter_map(|name| Answers::embedded().workflow.get(name));
        Self::listed(lists.map(String::as_str).chain(["section_manifest @common"]), given)
    }

    /// The facts named by these lists.
    fn listed<'list>(lists: impl Iterator<Item = &'list str>, given: &Given<'_>) -> Result<Self, FileError> {
        let mut answer = Map::new();
        for list in lists {
            for (key, fact) in Answers::embedded().rows(list) {
                if let Some(value) = (fact.value)(given)? {
                    answer.insert(key.to_owned(), value);
                }
            }
        }
        Ok(Self(answer))
    }
}

/// The fact of this name.
fn find(name: &str) -> Option<&'static Fact> {
    facts::TABLES.iter().chain(TABLES).flat_map(|table| *table).find(|fact| fact.name == name)
}

#[cfg(test)]
const DESCRIBED: &[&[facts::Described]] = &[
    docs::DESCRIBED,
    manager::DESCRIBED,
    onboard::DESCRIBED,
    progress::DESCRIBED,
    sections::DESCRIBED,
    workspaces::DESCRIBED,
    workspaces::new::DESCRIBED,
    yolo::DESCRIBED,
];

#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use schema_tests::schema_of;
