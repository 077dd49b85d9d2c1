//! Interprets the record of a task's checks.

use super::records::TaskRecords;
use crate::project::milestone_layout::evidence::TaskEvidence;
use crate::text::screen::counted;

/// The result of a task's checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TaskProof {
    /// This many checks passed.
    Passed { checks: usize },
    /// The failed checks, each in one line.
    Failed { faults: Vec<String> },
    /// A person decided that the task is done nevertheless.
    Overridden { reason: String },
    /// The record declares, with a reason, that there is nothing to check.
    Declared { reason: String },
    /// Nothing was run, without a reason.
    NothingRun,
    /// The record is missing.
    Missing,
    /// The record cannot be parsed.
    Corrupt { message: String },
}

impl TaskProof {
    pub(super) fn of(task: &TaskRecords) -> Self {
        match task.evidence() {
            None => Self::Missing,
            Some(Err(error)) => Self::Corrupt { message: error.to_string() },
            Some(Ok(evidence)) => Self::of_evidence(&evidence),
        }
    }

    fn of_evidence(evidence: &TaskEvidence) -> Self {
        if let Some(reason) = evidence.decision() {
            return Self::Overridden { reason: reason.to_owned() };
        }
        let faults = evidence.faults();
        if !faults.is_empty() {
            return Self::Failed { faults };
        }
        let reason = evidence.no_checks_reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
        match (evidence.has_no_checks(), reason) {
            (false, _) => Self::Passed { checks: evidence.checks.len() },
            (true, Some(reason)) => Self::Declared { reason: reason.to_owned() },
            (true, None) => Self::NothingRun,
        }
    }

    /// True if checks were run and all of them passed.
    pub(super) fn is_passed(&self) -> bool {
        matches!(self, Self::Passed { .. })
    }

    /// True if a milestone can pass with it. A declaration counts only next to a task of the same slice that was
    /// checked.
    pub(super) fn is_enough(&self, beside_checked: bool, requires_evidence: bool) -> bool {
        match self {
            Self::Passed { .. } | Self::Overridden { .. } => true,
            Self::Declared { .. } => beside_checked || !requires_evidence,
            Self::NothingRun | Self::Missing => !requires_evidence,
            Self::Failed { .. } | Self::Corrupt { .. } => false,
        }
    }

    /// Returns the word for a table.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Passed { .. } => "pass",
            Self::Failed { .. } => "fail",
            Self::Overridden { .. } => "overridden",
            Self::Declared { .. } | Self::NothingRun => "no host checks",
            Self::Missing => "unverified",
            Self::Corrupt { .. } => "unreadable",
        }
    }

    pub(super) fn detail(&self) -> String {
        match self {
            Self::Passed { checks } => format!("{} passed", counted(*checks, "check")),
            Self::Failed { faults } => faults.join("; "),
            Self::Overridden { reason } | Self::Declared { reason } => reason.clone(),
            Self::NothingRun => "no command was found to run".to_owned(),
            Self::Missing => "there is no VERIFY record".to_owned(),
            Self::Corrupt { message } => message.clone(),
        }
    }
}

/// Returns `passed` if every task was checked and passed, `failed` if one failed, else `untested`.
pub(super) fn result_of(proofs: &[TaskProof]) -> &'static str {
    let is_failed = |proof: &TaskProof| matches!(proof, TaskProof::Failed { .. } | TaskProof::Corrupt { .. });
    if proofs.iter().any(is_failed) {
        "failed"
    } else if !proofs.is_empty() && proofs.iter().all(TaskProof::is_passed) {
        "passed"
    } else {
        crate::project::milestone_layout::summary::UNTESTED
    }
}
