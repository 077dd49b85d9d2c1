//! Checks whether a project's documents agree with each other and with the disk, and repairs what is safe to repair.
//!
//! [`consistency()`] compares the roadmap with the folders, [`check()`] checks everything, and [`repair()`] repairs
//! what it can without losing anything. A finding has a code that scripts match, and a fix.

pub(crate) mod check;
pub(crate) mod consistency;
mod repair;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::answers::finding::Finding;
use crate::text::screen::{Mark, Screen};

pub(crate) use check::{HealthFacts, Worktree, WrittenAt, check};
pub(crate) use consistency::consistency;
pub(crate) use repair::{Repairs, repair};

/// The command that adds missing parts of the configuration.
pub(crate) const REPAIR: &str = "gsd-tools validate health --repair";

/// The command that adds missing milestone entries.
const BACKFILL: &str = "gsd-tools validate health --backfill";

/// A finding in the form that scripts expect from these commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct HealthFinding {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) fix: String,
    /// True if `repair` can fix it.
    pub(crate) repairable: bool,
}

impl HealthFinding {
    /// The finding and its fix, for a person at a terminal. For findings that `repair` fixes, the page names that
    /// command once.
    fn shown(&self, screen: Screen, mark: Mark) -> String {
        let is_said = self.repairable || self.fix.is_empty();
        let cure = if is_said { String::new() } else { screen.prose("         ", "         ", &self.fix) };
        screen.item("  ", mark, &format!("{} {}", self.code, self.message)) + &cure
    }
}

/// The first findings of a kind, and the number of the others.
fn listed(findings: &[HealthFinding], screen: Screen, mark: Mark, all: &str) -> String {
    let mut page: String = findings.iter().take(SHOWN).map(|finding| finding.shown(screen, mark)).collect();
    if let Some(more) = findings.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        page += &screen.prose("  ", "  ", &format!("and {more} more: `{all}` lists them all"));
    }
    page
}

/// The number of findings of a kind that are shown to a person.
const SHOWN: usize = 12;

impl From<Finding> for HealthFinding {
    fn from(Finding { code, what, cure, fix, .. }: Finding) -> Self {
        Self { code, message: what, fix: cure.unwrap_or_default(), repairable: fix.is_some() }
    }
}

fn error(code: &'static str, what: impl Into<String>, cure: impl Into<String>) -> Finding {
    Finding::error(code, what).cure(cure)
}

fn warning(code: &'static str, what: impl Into<String>, cure: impl Into<String>) -> Finding {
    Finding::warning(code, what).cure(cure)
}

/// One thing that was repaired, or could not be.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RepairReport {
    pub(crate) action: &'static str,
    pub(crate) success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// A repair that would be made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlannedRepair {
    pub(crate) action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<&'static str>,
    /// Why it would be refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl From<RepairReport> for PlannedRepair {
    fn from(RepairReport { action, path, error, .. }: RepairReport) -> Self {
        Self { action, path, error }
    }
}

impl RepairReport {
    /// The repair or its failure, for a person at a terminal.
    fn shown(&self, screen: Screen) -> String {
        let mark = if self.success { Mark::Done } else { Mark::Failed };
        let what = match self.action {
            "createConfig" => "created config.json",
            "addNyquistKey" => "set workflow.nyquist_validation in config.json",
            "addAiIntegrationPhaseKey" => "set workflow.ai_integration_phase in config.json",
            "regenerateState" => "STATE.md was not created: `gsd-tools state rebuild` does it",
            "resetConfig" => "config.json was not changed: correct it by hand, so that no setting is lost",
            action => self.detail.as_deref().unwrap_or(action),
        };
        screen.item("  ", mark, what)
    }

    fn done(action: &'static str, path: &'static str) -> Self {
        Self { action, success: true, path: Some(path), detail: None, error: None }
    }

    fn refused(action: &'static str) -> Self {
        let error = format!("`{action}` would lose data, so --repair does not do it");
        Self { action, success: false, path: None, detail: None, error: Some(error) }
    }
}
