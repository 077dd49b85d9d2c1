//! A run at a glance, for its end, for the status, and at the head of its report.

use schemars::JsonSchema;
use serde::Serialize;

use super::{RunAccount, SessionEnding, Totals};
use crate::auto::expected::Estimate;

/// A run at a glance.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RunSummary {
    /// The identifier of the run.
    pub(crate) run: String,
    pub(crate) milestone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The branch that the work is for.
    pub(crate) target: String,
    /// The branch with the work, and its worktree.
    pub(crate) branch: String,
    pub(crate) worktree: String,
    /// The first and the last entry in its log, in milliseconds since 1970.
    pub(crate) began: i64,
    pub(crate) latest: i64,
    #[serde(flatten)]
    pub(crate) totals: Totals,
    /// How long it waited, in milliseconds.
    pub(crate) waited: u64,
    /// Sessions that did not count or were interrupted.
    pub(crate) lost_sessions: usize,
    /// Units whose work is committed, by their first words: plans, tasks, and others.
    pub(crate) closed: ClosedUnits,
    /// The forecast number of sessions.
    pub(crate) forecast: u32,
    /// What earlier runs made likely when it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<Estimate>,
    /// How many decisions a person made.
    pub(crate) decisions: usize,
    /// Messages that did not arrive, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) undelivered: Vec<String>,
    /// What landed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) landing: Option<LandingSummary>,
}

/// Units whose work is committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ClosedUnits {
    pub(crate) tasks: usize,
    pub(crate) phases: usize,
    pub(crate) others: usize,
}

/// A landing at a glance.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LandingSummary {
    pub(crate) commit: String,
    /// The subject of its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    /// How many files it changes; left out if the commit cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<ChangedLines>,
    /// How many of its checks passed, and how many ran.
    pub(crate) checks: [usize; 2],
    /// `signed`, `unsigned` or `missing`.
    pub(crate) proof: &'static str,
}

/// How much a commit changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ChangedLines {
    pub(crate) files: u64,
    pub(crate) insertions: u64,
    pub(crate) deletions: u64,
}

impl ChangedLines {
    /// Reads the answer of `git diff-tree --numstat`. A file that is not text counts no lines.
    pub(crate) fn of_numstat(text: &str) -> Self {
        text.lines().filter(|line| line.contains('\t')).fold(Self::default(), |sum, line| {
            let mut numbers = line.splitn(3, '\t').map(|part| part.parse::<u64>().unwrap_or_default());
            Self {
                files: sum.files + 1,
                insertions: sum.insertions + numbers.next().unwrap_or_default(),
                deletions: sum.deletions + numbers.next().unwrap_or_default(),
            }
        })
    }
}

impl RunSummary {
    /// Returns the summary of a run; what git knows of its landing is added by the caller.
    pub(crate) fn of(account: &RunAccount, title: Option<String>) -> Self {
        let run = &account.run;
        let sessions = account.units.iter().flat_map(|unit| &unit.sessions);
        let is_lost = |outcome: SessionEnding| {
            matches!(outcome, SessionEnding::Refused | SessionEnding::Interrupted | SessionEnding::Asked)
        };
        let mut closed = ClosedUnits::default();
        for unit in account.units.iter().filter(|unit| unit.commit.is_some()) {
            let count = match unit.unit.kind.word() {
                "execute-task" => &mut closed.tasks,
                "execute-phase" => &mut closed.phases,
                _ => &mut closed.others,
            };
            *count += 1;
        }
        Self {
            run: run.id.clone(),
            milestone: run.milestone.clone(),
            title: title.or_else(|| run.expected.as_ref()?.title.clone()),
            target: run.target.clone(),
            branch: run.branch.clone(),
            worktree: run.worktree.clone(),
            began: account.began,
            latest: account.latest,
            totals: account.totals(),
            waited: account.waited,
            lost_sessions: sessions.filter(|session| is_lost(session.outcome)).count(),
            closed,
            forecast: run.forecast,
            estimate: run.expected.as_ref().and_then(|expected| expected.estimate),
            decisions: account.decisions.len(),
            undelivered: account.lost_messages(),
            landing: account.landing.as_ref().map(|landing| LandingSummary {
                commit: landing.commit.clone(),
                subject: None,
                changes: None,
                checks: [landing.checks.iter().filter(|check| check.passed).count(), landing.checks.len()],
                proof: landing.proof,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_counted_also_of_files_that_are_not_text() {
        let counted = ChangedLines::of_numstat("3\t1\tsrc/a b.rs\n-\t-\tlogo.png\n10\t0\tx\n");
        assert_eq!(counted, ChangedLines { files: 3, insertions: 13, deletions: 1 });
        assert_eq!(ChangedLines::of_numstat(""), ChangedLines::default());
    }
}
