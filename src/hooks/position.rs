//! Where the work is, in the words that session start and status line show.

use super::HookProject;
use crate::library;
use crate::project::standing;
use crate::project::up_next::UpNext;
use crate::text::front_matter::FrontMatter;

/// The words for the position of a project; each may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) milestone: Option<String>,
    /// The number of the phase and its name.
    pub(super) phase: Option<String>,
    pub(super) phase_name: Option<String>,
    pub(super) status: Option<String>,
    pub(super) stopped_at: Option<String>,
    pub(super) paused_at: Option<String>,
    /// The command to type next.
    pub(super) next: Option<String>,
}

impl Position {
    /// The position that the front matter of STATE.md gives; `None` without front matter.
    pub(super) fn of_state(state: &str) -> Option<Self> {
        let front = FrontMatter::parse(state)?;
        Some(Self {
            milestone: front.text("milestone"),
            phase: front.text("current_phase"),
            phase_name: front.text("current_phase_name"),
            status: front.text("status"),
            stopped_at: front.text("stopped_at"),
            paused_at: front.text("paused_at"),
            next: None,
        })
    }

    /// The same as every command answers: where the phase is done, the first one that is open, of which STATE.md knows no
    /// status yet; and the next command, as `spelled` writes its name. What cannot be read changes nothing.
    pub(super) fn in_project(self, project: &HookProject, spelled: impl Fn(&str) -> String) -> Self {
        let view = project.view();
        let moved = self.phase.as_deref().map(|stated| standing::moved_on(&view, stated));
        let here = match moved {
            Some(Ok(Some(open))) => {
                Self { phase: Some(open.number), phase_name: open.name, status: None, stopped_at: None, ..self }
            }
            Some(Ok(None) | Err(_)) | None => self,
        };
        let Ok(next) = UpNext::of(&view, project.flag("workflow.skip_discuss", false)) else { return here };
        let here = match next.phase() {
            Some(phase) if here.phase.is_none() => {
                Self { phase: Some(phase.number.clone()), phase_name: phase.name.clone(), ..here }
            }
            _ => here,
        };
        let paused_at = match &next {
            UpNext::Paused(pause) => here.paused_at.or_else(|| Some(pause.note.clone().unwrap_or(pause.file.clone()))),
            _ => here.paused_at,
        };
        let is_installed = |name: &str| library::command_names().any(|known| known == name);
        Self { next: Some(next.command(spelled, is_installed)), paused_at, ..here }
    }

    /// One line a fact, for an agent: `- At: phase 2, Notes`.
    pub(super) fn lines(&self) -> Vec<String> {
        let phase = self.phase.as_ref().map(|number| match &self.phase_name {
            Some(name) => format!("phase {number}, {name}"),
            None => format!("phase {number}"),
        });
        let facts = [
            ("Milestone", self.milestone.as_ref()),
            ("At", phase.as_ref()),
            ("Status", self.status.as_ref()),
            ("Stopped at", self.stopped_at.as_ref()),
            ("Paused at", self.paused_at.as_ref()),
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
        let facts = [phase.or_else(|| self.milestone.clone()), self.status.clone().filter(|_| !short)];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let next = self.next.as_ref().filter(|_| !short).map(|next| format!("→ {next}"));
        let words: Vec<String> =
            Some(facts.join(" · ")).filter(|facts| !facts.is_empty()).into_iter().chain(next).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}
