//! A problem in a plan, and its weight.

use crate::project::plan::PhasePlan;

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Must be fixed before the plan is executed.
    Error,
    /// Like an error, but `verify plan-structure` only warns about it for a phase's plan, as it always did.
    Unsound,
    /// May be intended.
    Warning,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The line in the plan, if known.
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

    /// A finding at an offset in the plan's text.
    pub(super) fn at(weight: Weight, plan: &PhasePlan<'_>, at: usize, sentence: impl Into<String>) -> Self {
        Self::new(weight, plan.line_at(at), sentence)
    }

    pub(super) fn is_error(&self) -> bool {
        self.weight != Weight::Warning
    }
}

/// A text on one line, cut if it is long.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 140;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}
