//! Where the work is, in the words that the session start and the status line show.

use super::HookProject;
use crate::library;
use crate::project::auto_run::AutoRun;
use crate::project::next::{Around, Next};
use crate::project::standing;
use crate::project::state::names_phase;
use crate::project::up_next::UpNext;
use crate::text::front_matter::FrontMatter;

/// The position of a project; each part may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PositionWords {
    pub(super) milestone: Option<String>,
    /// The number of the phase and its name.
    pub(super) phase: Option<String>,
    pub(super) phase_name: Option<String>,
    pub(super) status: Option<String>,
    pub(super) stopped_at: Option<String>,
    pub(super) paused_at: Option<String>,
    /// The run of `auto` that holds the project, or waits for a person.
    pub(super) run: Option<AutoRun>,
    /// The command to type next.
    pub(super) next: Option<String>,
}

fn is_installed(name: &str) -> bool {
    library::command_names().any(|known| known == name)
}

impl PositionWords {
    /// Reads the position from the front matter of STATE.md; `None` without front matter.
    pub(super) fn of_state(state: &str) -> Option<Self> {
        let front = FrontMatter::parse(state)?;
        Some(Self {
            milestone: front.text("milestone"),
            phase: front.text("current_phase").filter(|written| names_phase(written)),
            phase_name: front.text("current_phase_name"),
            status: front.text("status"),
            stopped_at: front.text("stopped_at"),
            paused_at: front.text("paused_at"),
            run: None,
            next: None,
        })
    }

    /// The position as every command answers it: if the phase is done, the first open one, whose status is not in
    /// STATE.md yet; and the next command, with its name as `spelled` writes it. Unreadable files change nothing.
    pub(super) fn in_project(self, project: &HookProject, around: &Around, spelled: impl Fn(&str) -> String) -> Self {
        let view = project.view();
        let moved = self.phase.as_deref().map(|stated| standing::moved_on(view, stated));
        let here = match moved {
            Some(Ok(Some(open))) => {
                Self { phase: Some(open.number), phase_name: open.name, status: None, stopped_at: None, ..self }
            }
            Some(Ok(None) | Err(_)) | None => self,
        };
        let Ok(next) = Next::of(view, around) else { return here };
        let here = match next.phase() {
            Some(phase) if here.phase.is_none() => {
                Self { phase: Some(phase.number.clone()), phase_name: phase.name.clone(), ..here }
            }
            _ => here,
        };
        let paused_at = match next.documents() {
            Some(UpNext::Paused(pause)) => {
                here.paused_at.or_else(|| Some(pause.note.clone().unwrap_or(pause.file.clone())))
            }
            _ => here.paused_at,
        };
        let run = match &next {
            Next::Run(run) => Some(run.clone()),
            _ => None,
        };
        Self { next: Some(next.call(is_installed).typed(spelled)), run, paused_at, ..here }
    }

    /// The position in a project of milestones, which has no STATE.md.
    pub(super) fn in_milestones(next: &Next) -> Self {
        let (milestone, run) = match next {
            Next::Milestones(milestones) => (milestones.at(), None),
            Next::Run(run) => (Some(run.milestone.clone()), Some(run.clone())),
            _ => (None, None),
        };
        let next = next.call(is_installed).typed(str::to_owned);
        Self { milestone, run, next: Some(next), ..Self::default() }
    }

    /// One line per fact, for an agent: `- At: phase 2, Notes`.
    pub(super) fn lines(&self) -> Vec<String> {
        let phase = self.phase.as_ref().map(|number| match &self.phase_name {
            Some(name) => format!("phase {number}, {name}"),
            None => format!("phase {number}"),
        });
        let run = self.run.as_ref().map(AutoRun::why);
        let facts = [
            ("Milestone", self.milestone.as_ref()),
            ("At", phase.as_ref()),
            ("Status", self.status.as_ref()),
            ("Stopped at", self.stopped_at.as_ref()),
            ("Paused at", self.paused_at.as_ref()),
            ("Run", run.as_ref()),
            ("Next", self.next.as_ref()),
        ];
        facts.into_iter().filter_map(|(label, value)| Some(format!("- {label}: {}", value?))).collect()
    }

    /// A few words for a screen, `Phase 2 Notes · executing → /gsd-execute-phase 2`; short, `Phase 2`.
    pub(super) fn brief(&self, short: bool) -> Option<String> {
        let phase = self.phase.as_ref().map(|number| match &self.phase_name {
            Some(name) if !short => format!("Phase {number} {name}"),
            _ => format!("Phase {number}"),
        });
        let place = self.run.as_ref().map(AutoRun::brief).or(phase).or_else(|| self.milestone.clone());
        let facts = [place, self.status.clone().filter(|_| !short && self.run.is_none())];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let next = self.next.as_ref().filter(|_| !short).map(|next| format!("→ {next}"));
        let words: Vec<String> =
            Some(facts.join(" · ")).filter(|facts| !facts.is_empty()).into_iter().chain(next).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}
