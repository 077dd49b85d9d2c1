//! The input of the rules for a project in slices.

use super::derive::State;
use super::snapshot::{Milestone, Slice, Snapshot};
use crate::auto::memory::Memory;
use crate::auto::preferences::Preferences;

/// Everything that rules look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) state: &'a State,
    pub(crate) preferences: &'a Preferences,
    pub(crate) memory: &'a Memory,
    pub(crate) facts: OutsideFacts,
}

/// Facts that are not in the documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutsideFacts {
    /// Whether the milestone changed files outside the planning folder; `None` if unknown.
    pub(crate) has_implementation: Option<bool>,
    /// Whether the last slice gets no acceptance test, as in an older program.
    pub(crate) last_slice_has_no_uat: bool,
    /// Whether the roadmap is assessed after the last slice as well.
    pub(crate) reassesses_last: bool,
    /// Whether a brief describes the milestone.
    pub(crate) has_brief: bool,
}

impl<'a> Look<'a> {
    /// The active milestone.
    pub(crate) fn milestone(&self) -> Option<&'a Milestone> {
        self.snapshot.milestone(&self.state.milestone.as_ref()?.id)
    }

    pub(super) fn slices(&self) -> &'a [Slice] {
        self.milestone().and_then(|milestone| milestone.roadmap.as_deref()).unwrap_or_default()
    }

    pub(super) fn has_open_slice(&self) -> bool {
        self.slices().iter().any(|slice| !slice.done)
    }

    pub(super) fn last_done(&self) -> Option<&'a Slice> {
        self.slices().iter().rfind(|slice| slice.done && !slice.skipped)
    }

    /// The id of the active slice with its milestone: `M001/S02`.
    pub(crate) fn slice_id(&self) -> Option<String> {
        let (milestone, slice) = (self.state.milestone.as_ref()?, self.state.slice.as_ref()?);
        Some(format!("{}/{}", milestone.id, slice.id))
    }

    /// Returns the slice whose acceptance test is due. Slices need not be done in the order of the roadmap.
    pub(crate) fn due_uat(&self) -> Option<&'a Slice> {
        if !self.preferences.uat_dispatch || self.facts.last_slice_has_no_uat && !self.has_open_slice() {
            return None;
        }
        let is_due = |slice: &&Slice| slice.uat.as_ref().is_some_and(|uat| uat.verdict.is_none());
        self.slices().iter().filter(|slice| slice.done && !slice.skipped).rfind(is_due)
    }
}
