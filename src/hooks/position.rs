//! Where the work is, in the words that session start and status line show.

use super::HookProject;
use crate::project::standing::{self, UpNext};
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
    pub(super) fn in_project(self, project: &HookProject, spelled: impl FnOnce(&str) -> String) -> Self {
        let view = project.view();
        let moved = self.phase.as_deref().map(|stated| standing::moved_on(&view, stated));
        let here = match moved {
            Some(Ok(Some(open))) => {
                Self { phase: Some(open.number), phase_name: open.name, status: None, stopped_at: None, ..self }
            }
            Some(Ok(None) | Err(_)) | None => self,
        };
        let skips_discussion = project.flag("workflow.skip_discuss", false);
        let Ok(Some(next)) = UpNext::of(&view, here.phase.as_deref(), skips_discussion) else { return here };
        let here = if here.phase.is_none() {
            Self { phase: Some(next.number.clone()), phase_name: next.name.clone(), ..here }
        } else {
            here
        };
        Self { next: here.paused_at.is_none().then(|| next.command(spelled)), ..here }
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
