//! The standing of a phase: its one computed status, which every command shows in its own words.
//!
//! Closed and verified are two separate facts. A phase is closed when the roadmap marks it as done; its verification is
//! the result in its report, and whether that result is still valid. Counts, percentages, the current phase and the
//! next one depend on `closed` for a closed phase, and on plans and verification for others. An open plan in a closed
//! phase reopens it.
//!
//! A phase is verified when its VERIFICATION.md says `passed` and nothing it covers has changed since: by its
//! fingerprint, or else by the commit times of the summaries. It is complete when it is closed, or executed and
//! verified. Summaries make it executed, except one that says `halted`: its plan has to be planned again, tried again
//! or superseded. What git says of the history is remembered by commit, in the notes of the project (`acts::history`),
//! and what one document says of itself, by what the system notes of its file (`project::told`); only reading calls
//! use these. `tests/suite/standing.rs` compares every verb.

use std::borrow::Cow;

use super::files::FileError;
use super::folder::{FolderIndex, PhaseFolder};
use super::label::PhaseLabel;
use super::phase::PhaseId;
use super::roadmap::Roadmap;
use super::verification::{self, Verification, VerificationState};
use super::view::ProjectView;

/// The work done on a phase, from its plans, their summaries and the roadmap. Computed without git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhaseWork {
    pub(crate) has_folder: bool,
    pub(crate) has_context: bool,
    pub(crate) has_research: bool,
    /// The plans that count, in order.
    pub(crate) plans: Vec<String>,
    /// The plans that are not done, see [`ProjectView::open_plans`].
    pub(crate) open_plans: Vec<String>,
    /// One of the open plans is to be executed.
    pub(crate) has_plan_to_do: bool,
    pub(crate) summaries: usize,
    /// The roadmap marks the phase as done, or its milestone is archived; if the roadmap has no place for the mark, the
    /// report of a verification passed.
    pub(crate) closed: bool,
    is_closed_by_report: bool,
    is_archived: bool,
}

/// A phase's work together with its verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhaseStanding {
    pub(crate) work: PhaseWork,
    pub(crate) verification: Verification,
}

/// The progress of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    NoDirectory,
    Empty,
    Discussed,
    Researched,
    /// It has plans, but no summary.
    Planned,
    /// Some plans have a summary, but not every plan is done.
    Partial,
    /// Every plan is done.
    Executed,
    /// Closed by the roadmap, or executed and verified; no plan is open.
    Complete,
}

/// The next step for a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    Discuss,
    Plan,
    Execute,
    /// Plan how to close the gaps that the verification found.
    PlanGaps,
    Verify,
    /// Everything is done except the mark in the roadmap.
    Close,
}

impl PhaseWork {
    /// Finds the work on the phase with the identifier `id` in the roadmap, and its folder if there is one.
    pub(crate) fn of(view: &ProjectView, id: &str, folder: Option<&PhaseFolder>) -> Result<Self, FileError> {
        let roadmap = view.roadmap()?;
        let plans = folder.map(|folder| view.current_plans(folder)).transpose()?.unwrap_or_default();
        let has = |kind| folder.is_some_and(|folder| folder.artifact(kind).is_some());
        // A folder in the archive of the current milestone does not show the progress of its phase.
        let is_archived = match folder.filter(|folder| folder.archived.is_some()) {
            Some(folder) => !view.is_in_own_archive(folder)?,
            None => false,
        };
        let mut work = Self {
            has_folder: folder.is_some(),
            has_context: has("CONTEXT"),
            has_research: has("RESEARCH"),
            open_plans: folder.map(|folder| view.open_plans(folder)).transpose()?.unwrap_or_default(),
            has_plan_to_do: match folder {
                Some(folder) => !view.plans_to_do(folder)?.is_empty(),
                None => false,
            },
            plans,
            summaries: folder.map_or(0, |folder| folder.summaries().count()),
            closed: is_archived || roadmap.is_some_and(|roadmap| is_closed(roadmap, id)),
            is_closed_by_report: false,
            is_archived,
        };
        // If the roadmap has neither a box nor a row to mark it, the verification report decides.
        if let Some(folder) =
            folder.filter(|_| !work.closed && !roadmap.is_some_and(|roadmap| can_be_closed(roadmap, id)))
            && work.is_executed()
        {
            work.is_closed_by_report = verification::status(view, folder)?.passed();
            work.closed = work.is_closed_by_report;
        }
        Ok(work)
    }

    /// The roadmap marks the phase as done, or its milestone is archived.
    pub(crate) fn is_closed_by_roadmap(&self) -> bool {
        self.closed && !self.is_closed_by_report
    }

    /// Every plan is done.
    pub(crate) fn is_executed(&self) -> bool {
        self.open_plans.is_empty() && (!self.plans.is_empty() || self.summaries > 0)
    }

    /// There is something left to do, even if only closing the phase. A person who closed a phase with a halted plan
    /// knew about it.
    pub(crate) fn is_open(&self) -> bool {
        !self.closed || (self.has_plan_to_do && !self.is_archived)
    }

    /// Whether its verification decides if the phase counts as done.
    pub(crate) fn asks_verification(&self) -> bool {
        !self.closed && self.is_executed()
    }

    /// Whether the phase counts as done, given whether it is verified.
    pub(crate) fn is_complete(&self, verified: bool) -> bool {
        !self.is_open() || (self.asks_verification() && verified)
    }
}

impl PhaseStanding {
    /// The standing of the phase with the identifier `id` in the roadmap, and its folder if there is one.
    pub(crate) fn of(view: &ProjectView, id: &str, folder: Option<&PhaseFolder>) -> Result<Self, FileError> {
        let verification = match folder {
            Some(folder) => verification::status(view, folder)?,
            None => Verification { is_unplanned: true, ..Verification::missing(id) },
        };
        Ok(Self { work: PhaseWork::of(view, id, folder)?, verification })
    }

    /// The standing of the phase of a folder.
    pub(crate) fn of_folder(view: &ProjectView, folder: &PhaseFolder) -> Result<Self, FileError> {
        Self::of(view, folder.token(), Some(folder))
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.work.is_complete(self.verification.passed())
    }

    /// Files covered by its report have changed since. That needs no new verification: later phases change the files of
    /// earlier ones.
    fn is_outdated(&self) -> bool {
        self.is_complete() && self.verification.is_stale()
    }

    /// The next action for its verification, in a sentence.
    pub(crate) fn verification_action(&self) -> Cow<'static, str> {
        if self.is_outdated() {
            return "The phase is complete; files that its report covers have changed since.".into();
        }
        self.verification.next_action()
    }

    /// The command for that action, with the phase as `number` and in `spelling`; empty if nothing is left to do.
    pub(crate) fn verification_command(&self, number: &str, spelling: &str) -> String {
        if self.is_outdated() {
            return String::new();
        }
        self.verification.next_command_for(number, spelling)
    }

    pub(crate) fn stage(&self) -> Stage {
        let work = &self.work;
        match () {
            () if self.is_complete() => Stage::Complete,
            () if work.is_executed() => Stage::Executed,
            () if work.summaries > 0 => Stage::Partial,
            () if !work.plans.is_empty() => Stage::Planned,
            () if work.has_research => Stage::Researched,
            () if work.has_context => Stage::Discussed,
            () if work.has_folder => Stage::Empty,
            () => Stage::NoDirectory,
        }
    }

    /// The next step; `None` if nothing is left. If phases are planned without a discussion, a phase without a
    /// CONTEXT.md is planned.
    pub(crate) fn next_step(&self, skips_discussion: bool) -> Option<NextStep> {
        let work = &self.work;
        if !work.is_open() {
            return None;
        }
        Some(match (self.stage(), &self.verification.state) {
            (Stage::Complete, _) => NextStep::Close,
            (Stage::Executed, VerificationState::GapsFound) => NextStep::PlanGaps,
            (Stage::Executed, VerificationState::HumanNeeded) => NextStep::Verify,
            // Executing an executed phase continues with its verification.
            (Stage::Planned | Stage::Partial | Stage::Executed, _) => NextStep::Execute,
            _ if work.has_context || skips_discussion => NextStep::Plan,
            _ => NextStep::Discuss,
        })
    }
}

/// Whether the roadmap marks a phase as done: its line in the checklist and the status of its rows in tables; if there
/// are several marks, all of them must agree.
pub(crate) fn is_closed(roadmap: &Roadmap<'_>, id: &str) -> bool {
    let ticked = roadmap.bullet(id).filter(|bullet| bullet.mark.is_some()).map(|bullet| bullet.checked);
    let mut said = ticked.into_iter().chain(roadmap.statuses(id).filter_map(says_done)).peekable();
    said.peek().is_some() && said.all(|done| done)
}

/// The row of a table that contradicts the checklist box of a phase, with its status.
pub(crate) fn contradiction<'text>(roadmap: &'text Roadmap<'_>, id: &str) -> Option<(usize, &'text str)> {
    let bullet = roadmap.bullet(id).filter(|bullet| bullet.mark.is_some())?;
    let rows = roadmap.rows_of(id).filter(|row| !row.shipped && (row.lists || row.reports));
    let said = rows.filter_map(|row| Some((row.line, row.cell("status")?)));
    said.into_iter().find(|(_, status)| says_done(status).is_some_and(|done| done != bullet.checked))
}

/// Whether the roadmap has a place to mark a phase as done: a box in the checklist, or a status in a table. A phase
/// that the roadmap does not name gets one with its entry.
fn can_be_closed(roadmap: &Roadmap<'_>, id: &str) -> bool {
    can_say_done(roadmap, id) || roadmap.section(id).is_none()
}

/// Whether the roadmap has a box or a status for the phase.
pub(crate) fn can_say_done(roadmap: &Roadmap<'_>, id: &str) -> bool {
    let has_box = roadmap.bullet(id).is_some_and(|bullet| bullet.mark.is_some());
    has_box || roadmap.statuses(id).next().is_some()
}

/// The first words of a phase's status while there is something left to do.
const OPEN: &[&str] = &[
    "active",
    "blocked",
    "deferred",
    "discussed",
    "executed",
    "executing",
    "gaps",
    "halted",
    "in",
    "incomplete",
    "next",
    "not",
    "open",
    "partial",
    "partially",
    "paused",
    "pending",
    "planned",
    "planning",
    "ready",
    "reopened",
    "researched",
    "started",
    "tbd",
    "to",
    "todo",
    "upcoming",
    "verifying",
    "waiting",
    "wip",
];

/// Whether the status of a row means that the phase is done.
pub(super) fn is_done_word(status: &str) -> bool {
    says_done(status) == Some(true)
}

/// Whether the status of a row means that the phase is done, by its first word; `None` for an unknown word.
fn says_done(status: &str) -> Option<bool> {
    let status = status.to_lowercase();
    let word = status.split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty())?;
    match word {
        "complete" | "completed" | "done" | "shipped" | "closed" | "finished" => Some(true),
        _ if OPEN.contains(&word) => Some(false),
        _ => None,
    }
}

/// The phase to show when STATE.md names `stated`: the first open phase of the milestone. `None` while `stated` itself
/// is open.
pub(crate) fn moved_on(view: &ProjectView, stated: &str) -> Result<Option<PhaseLabel>, FileError> {
    first_open(view, Some(stated))
}

/// The first open phase of the milestone; `None` if `stated` is open itself.
pub(super) fn first_open(view: &ProjectView, stated: Option<&str>) -> Result<Option<PhaseLabel>, FileError> {
    let roadmap = view.roadmap()?;
    let folders = view.phase_folders()?;
    let folder_index = FolderIndex::new(&folders);
    let is_open = |id: &str| {
        let phase = PhaseId::new(id);
        let folder = folder_index.find(&phase);
        PhaseWork::of(view, id, folder).map(|work| work.is_open())
    };
    if stated.map(is_open).transpose()? == Some(true) {
        return Ok(None);
    }
    let mut ids = match roadmap {
        Some(roadmap) => view.milestone()?.phase_ids(roadmap),
        None => folders.iter().map(PhaseFolder::token).filter(|id| !PhaseId::names_sentinel(id)).collect(),
    };
    ids.sort_by(|left, right| super::phase::compare(left, right));
    for id in ids {
        if is_open(id)? {
            return Ok(match roadmap {
                Some(roadmap) => PhaseLabel::in_roadmap(roadmap, id),
                None => Some(view.label(id)?),
            });
        }
    }
    Ok(None)
}

/// The first few of many names, and how many more there are.
pub(crate) fn first_few(names: &[String]) -> String {
    const SHOWN: usize = 4;
    match names.len().checked_sub(SHOWN) {
        Some(more) if more > 1 => format!("{} and {more} more", names[..SHOWN].join(", ")),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(roadmap: &str) -> bool {
        is_closed(&Roadmap::parse(roadmap), "1")
    }

    #[test]
    fn marks_of_another_milestone_do_not_close_a_phase() {
        let row = "## Progress\n\n| Phase | Milestone | Status |\n|---|---|---|\n| 1. Old | v1.0 | Complete |\n";
        let open = "| 1. New | v1.1 | Not started |\n";
        let roadmap = |own: &str, table: &str| {
            format!(
                "## ✅ v1.0 Before\n\n- [x] **Phase 1: Old**\n- [x] **Phase 3: Third**\n\n## v1.1 Now\n\n{own}\n{table}"
            )
        };
        let closed = |text: &str, id: &str| {
            let view = ProjectView::of([(".planning/STATE.md", "---\nmilestone: v1.1\n---\n# S\n")]);
            is_closed(&view.parse_roadmap(text), id)
        };
        for own in [
            "- [ ] **Phase 1: New**\n",
            "### Phase 1: New\n",
            "| Phase | Name | Status |\n|---|---|---|\n| 1 | New | Planned |\n",
        ] {
            for table in [String::new(), row.to_owned(), format!("{row}{open}")] {
                let text = roadmap(own, &table);
                assert!(!closed(&text, "1"), "{text}");
                assert!(closed(&text, "3"), "this milestone has no phase 3: {text}");
            }
        }
        assert!(closed(&roadmap("- [x] **Phase 1: New**\n", row), "1"));
    }

    #[test]
    fn a_passed_report_closes_a_phase_without_a_place_to_tick() {
        let of = |roadmap: &str, report: &str| {
            let files = [
                (".planning/ROADMAP.md", roadmap),
                (".planning/phases/01-a/01-01-PLAN.md", ""),
                (".planning/phases/01-a/01-01-SUMMARY.md", "---\nstatus: complete\n---\n"),
                (".planning/phases/01-a/01-VERIFICATION.md", report),
            ];
            let view = ProjectView::of(files);
            let folder = view.find_phase("1").unwrap().folder;
            let work = PhaseStanding::of(&view, "1", folder.as_ref()).unwrap().work;
            (work.closed, work.is_closed_by_roadmap())
        };
        let passed = "---\nstatus: passed\n---\n";
        assert_eq!(of("### Phase 1: A\n", passed), (true, false));
        assert_eq!(of("### Phase 2: B\n", passed), (false, false), "a phase that the roadmap does not name");
        assert_eq!(of("### Phase 1: A\n", "---\nstatus: gaps_found\n---\n"), (false, false));
        assert_eq!(of("- [ ] **Phase 1: A**\n", passed), (false, false));
        assert_eq!(of("| Phase | Name | Status |\n|---|---|---|\n| 1 | A | Planned |\n", passed), (false, false));
    }

    #[test]
    fn a_roadmap_closes_a_phase_if_all_its_marks_agree() {
        let (ticked, open) = ("- [x] **Phase 1: A** - a\n", "- [ ] **Phase 1: A** - a\n");
        let row = |status: &str| format!("\n| Phase | Status |\n|---|---|\n| 1. A | {status} |\n");
        assert!(closed(ticked) && !closed(open));
        assert!(closed(&row("Complete")) && closed(&row("**Done**")) && closed(&(ticked.to_owned() + &row("-"))));
        assert!(closed(&(ticked.to_owned() + &row("Completed"))));
        assert!(!closed(&(ticked.to_owned() + &row("In Progress"))));
        assert!(
            !closed(&(ticked.to_owned() + &row("Not complete"))) && !closed(&(ticked.to_owned() + &row("Planned")))
        );
        for status in ["Complete (2026-01-01)", "Complete ✓ (1/1)", "✅ Shipped", "Closed", "Verified", "v1.0", "1/1"]
        {
            assert!(closed(&(ticked.to_owned() + &row(status))), "{status}");
            assert!(!closed(&(open.to_owned() + &row(status))), "{status}");
        }
        assert!(!closed(&row("Verified")), "whose status is of neither kind is closed by its box alone");
        assert!(!closed(&(open.to_owned() + &row("Complete"))));
        assert!(!closed("### Phase 1: A\n") && !closed("- **Phase 1: A** - no box\n"));
    }

    #[test]
    fn the_phase_shown_moves_on_once_the_stated_one_is_closed() {
        let roadmap = "- [x] **Phase 1: A** - a\n- [ ] **Phase 2: B (INSERTED)** - b\n";
        let at = |stated: &str, more: &[(&str, &str)]| {
            let files = more.iter().copied().chain([(".planning/ROADMAP.md", roadmap)]);
            let view = ProjectView::of(files);
            moved_on(&view, stated).unwrap().map(|phase| (phase.number, phase.name))
        };
        assert_eq!(at("2", &[]), None);
        assert_eq!(at("01", &[]), Some(("2".to_owned(), Some("B".to_owned()))));
        let gap = (".planning/phases/01-a/01-02-PLAN.md", "");
        assert_eq!(at("1", &[gap]), None, "an open plan opens the phase again");
    }
}
