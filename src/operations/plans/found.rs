//! What is wrong with a plan, and how much it weighs.

use crate::project::plan::PhasePlan;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Has to be repaired before the plan is executed.
    Error,
    /// As an error; `verify plan-structure` of a phase's plan only warns of it, as it always did.
    Unsound,
    /// May be meant so.
    Warning,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Where it stands in the plan, as far as that is known.
    pub(super) line: Option<usize>,
    pub(super) weight: Weight,
    pub(super) sentence: String,
}

impl Found {
    pub(super) fn new(weight: Weight, line: impl Into<Option<usize>>, sentence: impl Into<String>) -> Self {
        Self { line: line.into(), weight, sentence: sentence.into() }
    }

    pub(super) fn error(line: impl Into<Option<usize>>, sentence: impl Into<String>) -> Self {
        Self::new(Weight::Error, line, sentence)
    }

    pub(super) fn unsound(line: impl Into<Option<usize>>, sentence: impl Into<String>) -> Self {
        Self::new(Weight::Unsound, line, sentence)
    }

    pub(super) fn warning(line: impl Into<Option<usize>>, sentence: impl Into<String>) -> Self {
        Self::new(Weight::Warning, line, sentence)
    }

    /// At a place of the plan's text.
    pub(super) fn at(weight: Weight, plan: &PhasePlan<'_>, at: usize, sentence: impl Into<String>) -> Self {
        Self::new(weight, plan.line_at(at), sentence)
    }

    pub(super) fn is_error(&self) -> bool {
        self.weight != Weight::Warning
    }
}

/// A text in one line, cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 140;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}
