//! The checks of `doctor` that no other command makes, or that it takes from several: whether hooks answer, the clients
//! of hosts, the project, its runs.

mod answers;
mod clients;
mod project;
mod runs;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::operations::answers::finding::Finding;

pub(crate) use answers::answers;
pub(crate) use clients::clients;
pub(crate) use project::{project, repair};
pub(crate) use runs::runs;

/// What a group of checks is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CheckedArea {
    Installs,
    Hooks,
    Clients,
    Project,
    Runs,
}

/// What a group of checks looked at and what it found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Examined {
    pub(crate) area: CheckedArea,
    /// What was looked at; empty if there is nothing of this kind here.
    pub(crate) looked_at: Vec<String>,
    pub(crate) findings: Vec<Ailment>,
}

/// A finding of `doctor`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Ailment {
    #[serde(flatten)]
    pub(crate) finding: Finding,
    /// Whether `doctor --fix` repairs it.
    pub(crate) fixable: bool,
}

impl Examined {
    pub(crate) fn new(area: CheckedArea) -> Self {
        Self { area, looked_at: Vec::new(), findings: Vec::new() }
    }

    /// The result of a group of checks; one that could not be made is an error, and the others are made all the same.
    pub(crate) fn of(area: CheckedArea, result: Result<Self, Failure>) -> Self {
        result.unwrap_or_else(|failure| {
            let mut examined = Self::new(area);
            let finding = Finding::error("not-checked", format!("this could not be checked: {}", failure.message));
            let hint = failure.hints.into_iter().next();
            examined.push(hint.map_or(finding.clone(), |hint| finding.cure(hint)));
            examined
        })
    }

    /// Adds what a person has to look after.
    pub(crate) fn push(&mut self, finding: Finding) {
        self.findings.push(Ailment { finding, fixable: false });
    }

    /// Adds what `doctor --fix` repairs.
    pub(crate) fn push_fixable(&mut self, finding: Finding) {
        self.findings.push(Ailment { finding, fixable: true });
    }
}
