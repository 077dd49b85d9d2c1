//! Compares STATE.md with the roadmap for a phase, and rates the severity of differences between a plan and the source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::project::files::FileError;
use crate::project::phase::PhaseId;
use crate::project::state::normal_status;
use crate::project::view::ProjectView;
use crate::text::words::{self, words};

/// The result of looking up something that a plan names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Grounding {
    Verified,
    Missing,
    Ambiguous,
    Uncheckable,
}

impl Grounding {
    pub(crate) fn named(word: &str) -> Option<Self> {
        words::of_word(word)
    }

    /// The severity of the finding if `authority` did the lookup.
    pub(crate) fn severity(self, authority: Authority) -> SeverityReport {
        let severity = match self {
            Self::Verified => "none",
            Self::Missing if authority.is_conclusive() => "HIGH",
            Self::Missing => "needs-acknowledgement",
            Self::Ambiguous => "MEDIUM",
            Self::Uncheckable => "INFO",
        };
        SeverityReport { severity, hard_block: self == Self::Missing && authority.is_conclusive() }
    }
}

words! {
    /// What looks up symbols in the source, the least reliable first.
    pub(crate) enum Authority {
        Grep = "grep",
        Intel = "intel",
        Treesitter = "treesitter",
        Lsp = "lsp",
        Scip = "scip",
    }
}

impl Authority {
    pub(crate) const ALL: &[Self] = &[Self::Grep, Self::Intel, Self::Treesitter, Self::Lsp, Self::Scip];

    pub(crate) fn named(word: &str) -> Option<Self> {
        words::of_word(word)
    }

    /// The words of all of them, separated by commas.
    pub(crate) fn listed() -> String {
        Self::ALL.iter().map(|authority| authority.word()).collect::<Vec<_>>().join(", ")
    }

    /// The authority to use if there is a code index: the index knows more than a text search.
    pub(crate) fn with_index(self) -> Self {
        if self == Self::Grep { Self::Intel } else { self }
    }

    /// True if a symbol that it does not find does not exist.
    fn is_conclusive(self) -> bool {
        matches!(self, Self::Lsp | Self::Scip)
    }
}

/// What `drift-guard severity` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SeverityReport {
    severity: &'static str,
    #[serde(rename = "hardBlock")]
    hard_block: bool,
}

/// What `drift-guard phase-status` answers.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PhaseDriftReport {
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    phase: Option<String>,
    state_status: Option<String>,
    roadmap_status: Option<String>,
    state_rank: Option<u8>,
    roadmap_rank: Option<u8>,
    /// Which document to trust.
    authority: &'static str,
}

/// Compares the status in STATE.md with that in the roadmap's row of a phase, by default the current one.
pub(crate) fn phase_status(view: &ProjectView, typed: Option<&str>) -> Result<PhaseDriftReport, FileError> {
    let mut report = PhaseDriftReport { verdict: "uncheckable", authority: "STATE.md", ..PhaseDriftReport::default() };
    let told = |phase: &str| {
        Some(PhaseId::new(phase)).filter(|id| id.integer().is_some()).map(|id| id.as_str().to_ascii_uppercase())
    };
    report.phase = typed.and_then(told);
    let Some(state) = view.state()? else {
        report.reason = Some("missing_state");
        return Ok(report);
    };
    let phase = typed.or_else(|| state.position().phase).unwrap_or_default();
    report.phase = told(phase);
    let Some(roadmap) = view.roadmap()? else {
        report.reason = Some("missing_roadmap");
        return Ok(report);
    };
    let written = state.value("Status").map(str::to_owned).or_else(|| state.front_text("status"));
    report.state_rank = written.as_deref().and_then(rank);
    report.state_status = written;
    let Some(told) = roadmap.progress_row(phase).and_then(|row| row.cell("status")) else {
        report.reason = Some("phase_not_in_roadmap");
        return Ok(report);
    };
    report.roadmap_rank = rank(told);
    report.roadmap_status = Some(told.to_owned());
    report.verdict = match (report.state_rank, report.roadmap_rank) {
        (None, _) | (_, None) => "uncheckable",
        (Some(state), Some(roadmap)) if state == roadmap => "consistent",
        // The roadmap is updated only when a plan is done, so it may lag while the first plan is in progress.
        (Some(1), Some(0)) => "lag",
        _ => "drifted",
    };
    Ok(report)
}

/// The rank of a status: 0 not started, 1 in progress, 2 complete.
fn rank(status: &str) -> Option<u8> {
    match status.trim().to_lowercase().as_str() {
        "not started" | "pending" | "planned" | "ready to plan" | "planning complete" | "ready to execute" => {
            return Some(0);
        }
        "in progress" | "in_progress" | "partial" | "executed" | "needs review" => return Some(1),
        _ => {}
    }
    match normal_status(status).as_str() {
        "completed" => Some(2),
        "executing" | "verifying" | "paused" => Some(1),
        "planning" | "discussing" => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_documents_are_compared_by_the_rank_of_their_status() {
        let verdict = |status: &str, told: &str, phase: Option<&str>| {
            let state = format!("## Current Position\nPhase: 2 of 3 (B)\nStatus: {status}\n");
            let roadmap = format!("| Phase | Plans Complete | Status |\n|---|---|---|\n| 2. B | 1/3 | {told} |\n");
            let files = [(".planning/STATE.md", state.as_str()), (".planning/ROADMAP.md", roadmap.as_str())];
            let view = ProjectView::of(files);
            let report = phase_status(&view, phase).unwrap();
            (report.verdict, report.reason)
        };
        assert_eq!(verdict("In progress", "In Progress", None), ("consistent", None));
        assert_eq!(verdict("In progress", "Not started", Some("02")), ("lag", None));
        assert_eq!(verdict("Phase complete", "In Progress", None), ("drifted", None));
        assert_eq!(verdict("In progress", "Complete", None), ("drifted", None));
        assert_eq!(verdict("zzz", "In Progress", None), ("uncheckable", None));
        assert_eq!(verdict("In progress", "Complete", Some("9")), ("uncheckable", Some("phase_not_in_roadmap")));
    }

    #[test]
    fn a_symbol_not_found_by_a_conclusive_authority_blocks() {
        for authority in Authority::ALL {
            let told = |found: Grounding| {
                let report = found.severity(*authority);
                (report.severity, report.hard_block)
            };
            let conclusive = ["lsp", "scip"].contains(&authority.word());
            let missing = if conclusive { ("HIGH", true) } else { ("needs-acknowledgement", false) };
            assert_eq!(told(Grounding::Missing), missing, "{authority:?}");
            assert_eq!(told(Grounding::Verified), ("none", false));
            assert_eq!(told(Grounding::Ambiguous), ("MEDIUM", false));
            assert_eq!(told(Grounding::Uncheckable), ("INFO", false));
            let stays = *authority != Authority::Grep;
            assert_eq!(authority.with_index() == *authority, stays, "{authority:?}");
        }
    }

    #[test]
    fn a_missing_document_is_reported() {
        let reason = |files: &[(&str, &str)]| {
            let view = ProjectView::of(files.iter().copied());
            phase_status(&view, None).unwrap().reason
        };
        assert_eq!(reason(&[]), Some("missing_state"));
        assert_eq!(reason(&[(".planning/STATE.md", "Phase: 2\n")]), Some("missing_roadmap"));
        assert_eq!(reason(&[(".planning/STATE.md", "x\n")]), Some("missing_roadmap"));
    }
}
