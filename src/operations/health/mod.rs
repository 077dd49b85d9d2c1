//! Whether a project's documents agree with each other and with the disk, and what can be mended without asking.
//!
//! [`consistency`] holds the roadmap against the folders, [`check`] looks at everything, [`repair`] makes good what can
//! be made good without losing anything. A finding has a code that scripts match, and a cure.

pub(crate) mod check;
pub(crate) mod consistency;
mod repair;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::answers::finding::Finding;
use crate::text::screen::{Mark, Screen};

pub(crate) use check::{HealthFacts, HealthReport, Worktree, WrittenAt, check};
pub(crate) use consistency::consistency;
pub(crate) use repair::{Repairs, repair};

/// The command that makes a configuration whole.
const REPAIR: &str = "gsd-tools validate health --repair";

/// The command that adds missing entries of milestones.
const BACKFILL: &str = "gsd-tools validate health --backfill";

/// A finding as scripts know it from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct HealthFinding {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) fix: String,
    /// Whether [`repair`] can make it good.
    pub(crate) repairable: bool,
}

impl HealthFinding {
    /// What it is and what to do about it, for a person at a terminal.
    fn shown(&self, screen: Screen, mark: Mark) -> String {
        let cure = if self.fix.is_empty() { String::new() } else { screen.prose("    ", "    ", &self.fix) };
        screen.item("", mark, &format!("{} {}", self.code, self.message)) + &cure
    }
}

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

/// One thing that was made good, or was not.
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

impl RepairReport {
    fn done(action: &'static str, path: &'static str) -> Self {
        Self { action, success: true, path: Some(path), detail: None, error: None }
    }

    fn refused(action: &'static str) -> Self {
        let error = format!("refused: '{action}' is a destructive remedy and is not auto-applied by --repair");
        Self { action, success: false, path: None, detail: None, error: Some(error) }
    }
}
