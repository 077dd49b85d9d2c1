//! The figures of the milestone: how many phases and plans it has, and how many of them are done. Every answer and STATE.md
//! take them from here.

use std::collections::BTreeSet;

use super::files::FileError;
use super::milestone::{Milestone, MilestoneScope};
use super::phase::PhaseId;
use super::scope::PhaseScope;
use super::standing::PhaseWork;
use super::state::index::Progress;
use super::verification;
use super::view::ProjectView;

/// Phases and plans of the milestone, counted from the disk and the roadmap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MilestoneCounts {
    pub(crate) total_phases: u64,
    pub(crate) completed_phases: u64,
    pub(crate) total_plans: u64,
    pub(crate) completed_plans: u64,
    /// Completed phases that are verified but not closed in the roadmap yet.
    pub(crate) unclosed_phases: u64,
}

impl MilestoneCounts {
    pub(crate) fn of(view: &ProjectView) -> Result<Self, FileError> {
        let mut counts = Self::default();
        let folders = view.milestone_folders()?;
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut works = Vec::new();
        // If a phase has two folders, the first one counts.
        for folder in &folders {
            if seen.insert(key(&folder.id())) {
                works.push((folder, PhaseWork::of(view, folder.token(), Some(folder))?));
            }
        }
        let asking = works.iter().filter(|(_, work)| work.asks_verification());
        verification::look_ahead(view, asking.map(|(folder, _)| *folder))?;
        for (folder, work) in works {
            counts.total_plans += count(work.plans.iter());
            counts.completed_plans += count(work.plans.iter()) - count(work.open_plans.iter());
            counts.total_phases += 1;
            let verified = work.asks_verification() && verification::status(view, folder)?.passed();
            let is_complete = work.is_complete(verified);
            counts.completed_phases += u64::from(is_complete);
            counts.unclosed_phases += u64::from(is_complete && work.is_open());
        }
        for id in view.milestone()?.phase_ids(view.roadmap_or_empty()?) {
            if seen.insert(key(&PhaseId::new(id))) {
                let work = PhaseWork::of(view, id, None)?;
                counts.completed_phases += u64::from(work.is_complete(false));
                counts.total_phases += 1;
            }
        }
        Ok(counts)
    }

    /// Whether files that were counted for `written` are gone. Work in them stays counted. If no file is gone, the
    /// counts are lower only because a phase was opened again.
    pub(crate) fn has_lost_work(self, written: &Progress) -> bool {
        let totals = [(written.total_phases, self.total_phases), (written.total_plans, self.total_plans)];
        totals.iter().any(|(written, counted)| written.is_some_and(|written| written > *counted))
    }

    /// The counts as shown to a person: a phase is complete once it is closed.
    pub(crate) fn closed(self) -> Self {
        let completed_phases = self.completed_phases.saturating_sub(self.unclosed_phases);
        Self { completed_phases, unclosed_phases: 0, ..self }
    }

    /// How much of the milestone is done: the smaller percentage of plans and phases, at most 100. Without plans, it is
    /// the percentage of phases.
    pub(crate) fn percent(self) -> u64 {
        let share = |done: u64, all: u64| (all > 0).then(|| (200 * done.min(all) + all) / (2 * all));
        let shares = [share(self.completed_plans, self.total_plans), share(self.completed_phases, self.total_phases)];
        shares.into_iter().flatten().min().unwrap_or(0)
    }
}

/// The progress of the milestone, and what makes it uncertain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) counts: MilestoneCounts,
    /// Whether it is clear which phases the milestone has. If the roadmap is not divided into milestones, it has all.
    pub(crate) is_known: bool,
    /// How much of the milestone is done; `None` if its phases are not clear, or if its version has no heading: programs
    /// expect none there, while people see a percentage.
    pub(crate) percent: Option<u64>,
    /// Problems that may hide phases of the milestone, each with its fix.
    pub(crate) problems: Vec<String>,
}

impl Measured {
    pub(crate) fn of(view: &ProjectView, milestone: &Milestone) -> Result<Self, FileError> {
        let counts = MilestoneCounts::of(view)?;
        let scope = view.scope()?;
        let hides = scope.unseen.is_some() || (scope.fewer.is_some() && counts.percent() == 100);
        let is_complete = milestone.scope == MilestoneScope::Complete;
        let is_only_one = milestone.scope == MilestoneScope::Unscoped && milestone.version.is_some();
        let is_known = (is_complete || is_only_one) && !hides;
        let percent = (is_known && is_complete).then(|| counts.percent());
        Ok(Self { counts, is_known, percent, problems: problems(scope) })
    }
}

/// The problems that may hide phases, each with its fix.
fn problems(scope: PhaseScope) -> Vec<String> {
    scope.unseen.or(scope.fewer).map(|unseen| format!("{unseen}; {}", unseen.cure())).into_iter().collect()
}

impl ProjectView {
    /// The problems that may hide phases of the milestone, each with its fix.
    pub(crate) fn problems(&self) -> Result<Vec<String>, FileError> {
        Ok(problems(self.scope()?))
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> u64 {
    items.fold(0, |count, _| count + 1)
}

/// The spelling of an identifier that makes sure a phase is counted once.
fn key(id: &PhaseId) -> String {
    id.as_str().to_lowercase()
}
