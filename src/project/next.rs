//! The next step of a project, decided in one place. Every view uses it: the dashboard, `smart-entry`, `state json`,
//! `init`, the status line, the start of a session, and the texts of commands through these.
//!
//! The order: a run of `auto` that is active or waits, milestones of `auto` without a planning folder, roadmaps that
//! are only in workstreams of which none is active, and what the documents say (`UpNext`). It is spelled as the host
//! of the call has it, or else an installed one (`Call::command_prefix`); the workflows read `next` and have no table
//! of their own. `tests/suite/one_answer.rs` has a row for each state. Checks that a person put off hold nothing up
//! until the milestone is done.

use super::auto_run::{AutoRun, Runs};
use super::deferred_checks;
use super::files::FileError;
use super::gsd2::{self, ImportedMilestone};
use super::milestone_layout::lookup::MILESTONES;
use super::phase::short;
use super::standing::first_few;
use super::up_next::{NextCall, PhaseNext, UpNext};
use super::view::ProjectView;
use crate::text::screen::counted;
use crate::text::shell::typed;

/// Facts outside the documents that decide the next step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Around {
    /// Phases are planned without a discussion.
    pub(crate) skips_discussion: bool,
    /// The runs of `auto` here; empty if a run itself asks.
    pub(crate) runs: Runs,
}

/// The next step; the first case that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    NoProject,
    /// A run of `auto` is at work or waits for a person: no other step is offered.
    Run(AutoRun),
    /// The project has only milestones of `auto`.
    Milestones(InMilestones),
    /// Every roadmap is in a workstream, and none is active.
    ChooseWorkstream(Vec<String>),
    /// The next step according to the project's documents.
    Documents(UpNext),
}

/// The progress of a project in milestones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InMilestones {
    pub(crate) milestones: Vec<ImportedMilestone>,
    /// The commit of the last milestone, if a run merged it into its branch.
    landed: Option<String>,
}

impl Next {
    pub(crate) fn of(view: &ProjectView, around: &Around) -> Result<Self, FileError> {
        if let Some(run) = &around.runs.unfinished {
            return Ok(Self::Run(run.clone()));
        }
        let layout = view.layout();
        if !view.folder_exists(layout.planning()) {
            let milestones = gsd2::outline(view)?;
            if milestones.is_empty() && !view.folder_exists(MILESTONES) {
                return Ok(Self::NoProject);
            }
            return Ok(Self::Milestones(InMilestones::of(milestones, &around.runs)));
        }
        let streams = streams(view)?;
        if !streams.is_empty() {
            return Ok(Self::ChooseWorkstream(streams));
        }
        Ok(Self::Documents(UpNext::of(view, around.skips_discussion)?))
    }

    /// The next step from the documents, if nothing else comes first.
    pub(crate) fn documents(&self) -> Option<&UpNext> {
        match self {
            Self::Documents(next) => Some(next),
            _ => None,
        }
    }

    /// The next step of a phase, if a phase is next.
    pub(crate) fn phase(&self) -> Option<&PhaseNext> {
        self.documents()?.phase()
    }

    /// The phase that the command is about.
    pub(crate) fn phase_number(&self) -> Option<&str> {
        match self.documents()? {
            UpNext::Phase(phase) => Some(&phase.number),
            UpNext::Accept(open) => Some(short(&open.phase)),
            UpNext::Deferred(phase) => Some(short(phase)),
            _ => None,
        }
    }

    /// The call for this step; of several commands, the first that is installed.
    pub(crate) fn call(&self, is_installed: impl Fn(&str) -> bool) -> NextCall {
        match self {
            Self::NoProject => NextCall::host("new-project", ""),
            Self::Run(run) => NextCall::Program(run.command()),
            Self::Milestones(milestones) => NextCall::Program(milestones.command()),
            Self::ChooseWorkstream(names) => {
                let usual = names.iter().find(|name| *name == USUAL).or_else(|| names.first());
                NextCall::Program(
                    typed!("gsd-tools workstream set {}", usual.map_or(USUAL, String::as_str)).to_string(),
                )
            }
            Self::Documents(next) => next.call(is_installed),
        }
    }

    /// Why this step is next, in a sentence.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::NoProject => "There is no project yet".to_owned(),
            Self::Run(run) => run.why(),
            Self::Milestones(milestones) => milestones.why(),
            Self::ChooseWorkstream(names) => {
                let streams = counted(names.len(), "workstream");
                format!("No workstream is active; the roadmap is in {streams}: {}", first_few(names))
            }
            Self::Documents(next) => next.why(),
        }
    }

    /// Deferred checks that wait for a person without blocking the next step.
    pub(crate) fn waits_for_a_person(&self, view: &ProjectView) -> Result<Option<String>, FileError> {
        if !matches!(self, Self::Documents(UpNext::Phase(_) | UpNext::Paused(_) | UpNext::Accept(_))) {
            return Ok(None);
        }
        let mut phases: Vec<String> = Vec::new();
        for check in deferred_checks::deferred_in(view, &view.milestone_folders()?)? {
            let phase = short(&view.label(&check.phase)?.number).to_owned();
            if !phases.contains(&phase) {
                phases.push(phase);
            }
        }
        Ok((!phases.is_empty()).then(|| format!("deferred checks of phase {}", phases.join(", "))))
    }
}

/// The name of the workstream that a project's own documents become.
const USUAL: &str = "default";

/// The workstreams that have a roadmap; empty if a workstream is active or the project itself has a roadmap.
fn streams(view: &ProjectView) -> Result<Vec<String>, FileError> {
    let layout = view.layout();
    if layout.workstream().is_some() || view.exists(&layout.roadmap()) {
        return Ok(Vec::new());
    }
    let names = view.folder_names(&layout.workstreams())?;
    Ok(names.into_iter().filter(|name| view.exists(&layout.scoped(Some(name)).roadmap())).collect())
}

impl InMilestones {
    fn of(milestones: Vec<ImportedMilestone>, runs: &Runs) -> Self {
        let last = milestones.iter().rfind(|milestone| milestone.is_over).map(|milestone| milestone.id.as_str());
        let landed = runs.landed.iter().find(|landed| last.is_some_and(|last| landed.milestone.starts_with(last)));
        Self { landed: landed.map(|landed| landed.commit.clone()), milestones }
    }

    /// The milestone in progress.
    pub(crate) fn active(&self) -> Option<&ImportedMilestone> {
        self.milestones.iter().find(|milestone| !milestone.is_over && !milestone.is_parked)
    }

    /// The milestone to show as current: the one in progress, else the last.
    pub(crate) fn at(&self) -> Option<String> {
        Some(self.active().or_else(|| self.milestones.last())?.id.clone())
    }

    fn parked(&self) -> Option<&ImportedMilestone> {
        self.milestones.iter().find(|milestone| milestone.is_parked && !milestone.is_over)
    }

    fn command(&self) -> String {
        match (self.active(), self.parked()) {
            (Some(active), _) if active.needs_discussion => typed!("gsd-tools auto discuss {}", active.id).to_string(),
            (Some(_), _) => "gsd-tools auto run".to_owned(),
            (None, Some(parked)) => typed!("gsd-tools auto unpark {}", parked.id).to_string(),
            (None, None) => "gsd-tools auto run --brief BRIEF.md".to_owned(),
        }
    }

    fn why(&self) -> String {
        let named = |milestone: &ImportedMilestone| {
            let ImportedMilestone { id, title, .. } = milestone;
            if title == id { id.clone() } else { format!("{id} ({title})") }
        };
        if let Some(active) = self.active() {
            let done = active.slices.iter().filter(|slice| slice.done).count();
            return match active.slices.len() {
                0 if active.needs_discussion => format!("{} is not discussed yet", named(active)),
                0 => format!("{} is not planned yet", named(active)),
                all => format!("{} has {done} of {} done", named(active), counted(all, "slice")),
            };
        }
        if let Some(parked) = self.parked() {
            return format!("{} is parked", named(parked));
        }
        let Some(last) = self.milestones.last() else { return "There is no milestone yet".to_owned() };
        let landed = self.landed.as_ref().map(|commit| format!(" as {}", commit.get(..12).unwrap_or(commit)));
        match landed {
            Some(landed) => format!("{} has landed{landed}; describe the next milestone in BRIEF.md", named(last)),
            None => format!("{} is complete; describe the next milestone in BRIEF.md", named(last)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::auto_run::{Landing, RunStage};
    use crate::project::files::MemoryFiles;

    fn next(files: &[(&str, &str)], runs: Runs) -> (String, String) {
        let view = MemoryFiles::new(files.iter().copied()).view();
        let next = Next::of(&view, &Around { skips_discussion: false, runs }).unwrap();
        (next.call(|_| true).typed(|name| format!("/{name}")), next.why())
    }

    #[test]
    fn milestones_of_auto_are_a_project() {
        let roadmap = (
            ".gsd/milestones/M001/M001-ROADMAP.md",
            "# M001: Small functions\n\n## Slices\n\n- [x] **S01: Add**\n- [ ] **S02: Sub**\n",
        );
        let over = (".gsd/milestones/M001/M001-SUMMARY.md", "---\nstatus: complete\n---\n# M001\n");
        let parked = (".gsd/milestones/M001/M001-PARKED.md", "later\n");
        let told = |command: &str, why: &str| (command.to_owned(), why.to_owned());
        let run = "gsd-tools auto run";
        assert_eq!(next(&[], Runs::default()).0, "/new-project");
        assert_eq!(next(&[roadmap], Runs::default()), told(run, "M001 (Small functions) has 1 of 2 slices done"));
        let brief = "gsd-tools auto run --brief BRIEF.md";
        let describe = "describe the next milestone in BRIEF.md";
        assert_eq!(
            next(&[roadmap, over], Runs::default()),
            told(brief, &format!("M001 (Small functions) is complete; {describe}"))
        );
        let landed = Some(Landing { milestone: "M001".into(), commit: "0123456789abcdef".into(), at: 0 });
        assert_eq!(
            next(&[roadmap, over], Runs { landed, unfinished: None }),
            told(brief, &format!("M001 (Small functions) has landed as 0123456789ab; {describe}"))
        );
        assert_eq!(
            next(&[roadmap, parked], Runs::default()),
            told("gsd-tools auto unpark M001", "M001 (Small functions) is parked")
        );
    }

    #[test]
    fn a_run_comes_before_the_documents() {
        let run = AutoRun { milestone: "v1.0".into(), unit: None, stage: RunStage::Active };
        let files = [(".planning/ROADMAP.md", "# R\n"), (".planning/STATE.md", "# S\n")];
        let runs = Runs { unfinished: Some(run), landed: None };
        assert_eq!(next(&files, runs).0, "gsd-tools auto status");
    }

    #[test]
    fn a_project_with_roadmaps_only_in_workstreams_asks_to_choose_one() {
        let stream = |name: &str| format!(".planning/workstreams/{name}/ROADMAP.md");
        let (usual, api) = (stream("default"), stream("api"));
        let files = [(usual.as_str(), "# R\n"), (api.as_str(), "# R\n"), (".planning/PROJECT.md", "# P\n")];
        assert_eq!(
            next(&files, Runs::default()),
            (
                "gsd-tools workstream set default".to_owned(),
                "No workstream is active; the roadmap is in 2 workstreams: api, default".to_owned()
            )
        );
        assert_eq!(next(&files[1..], Runs::default()).0, "gsd-tools workstream set api");
        let own = (".planning/ROADMAP.md", "# R\n");
        assert_eq!(next(&[files[0], own], Runs::default()).0, "gsd-tools state rebuild", "it has a roadmap of its own");
    }
}
