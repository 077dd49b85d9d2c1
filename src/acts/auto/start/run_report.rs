//! What a call for a run answers.

use schemars::JsonSchema;
use serde::Serialize;

use super::card::StartCard;
use crate::auto::account::summary::RunSummary;
use crate::auto::memory::Memory;
use crate::auto::stop::Stop;

/// The result of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunReport {
    pub(crate) milestone: String,
    /// Why it stopped, and the command that continues.
    pub(crate) stop: Stop,
    pub(crate) sessions: u32,
    /// Output tokens and uncached input.
    pub(crate) tokens: u64,
    /// In US dollars, as reported by the client; omitted if it reports nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    /// The commit that landed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) landed: Option<String>,
    /// What it did and took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<RunSummary>,
    /// What a run would do; only if it was not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) card: Option<StartCard>,
    /// Milestones that landed before it in the same call; only with `--all`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) landed_before: Vec<LandedMilestone>,
    /// The process that runs it; only with `--detach`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detached: Option<DetachedRun>,
    /// Present and true with `--dry-run`: nothing was started.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dry_run: bool,
}

/// A milestone that landed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LandedMilestone {
    pub(crate) milestone: String,
    pub(crate) commit: String,
}

/// The process that runs a milestone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct DetachedRun {
    pub(crate) process: u32,
    /// The file with what it prints.
    pub(crate) output: String,
}

/// The report of a run that stopped like this.
pub(in crate::acts::auto) fn report(milestone: &str, stop: Stop, memory: &Memory) -> RunReport {
    RunReport {
        milestone: milestone.to_owned(),
        sessions: memory.spent.sessions,
        tokens: memory.spent.tokens,
        usd: memory.spent.money,
        landed: memory.landed.clone(),
        stop,
        summary: None,
        card: None,
        landed_before: Vec::new(),
        detached: None,
        dry_run: false,
    }
}
