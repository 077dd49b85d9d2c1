//! Where a project is, on one screen: progress, phases, what is next, what is open.

use std::fmt::Write as _;

use super::stats::{self, StatsReport};
use crate::operations::notes::todos;
use crate::operations::state::situation::EntryReport;
use crate::project::files::FileError;
use crate::project::view::ProjectView;
use crate::text::screen::{Mark, Screen, Tone, counted};

/// What the screen shows.
#[derive(Debug)]
pub(crate) struct Dashboard {
    title: String,
    stats: StatsReport,
    entry: EntryReport,
    todos: usize,
    acceptances: usize,
}

impl Dashboard {
    /// The dashboard of the project; `folder` is its name where PROJECT.md gives none.
    pub(crate) fn of(
        view: &ProjectView,
        stats: StatsReport,
        entry: EntryReport,
        folder: &str,
    ) -> Result<Self, FileError> {
        Ok(Self {
            title: view.project_title()?.unwrap_or_else(|| folder.to_owned()),
            stats,
            entry,
            todos: todos::list(view, None)?.count,
            acceptances: view.open_acceptances()?.len(),
        })
    }

    pub(crate) fn shown(&self, screen: Screen) -> String {
        let mut page = stats::headline(screen, &self.title, &self.stats);
        page += "\n";
        page += &stats::progress_of(screen, &self.stats, "  ");
        page += "\n";
        page += &stats::rows(screen, &self.stats.phases, self.entry.signals.current_phase.as_deref());
        if !self.stats.phases.is_empty() {
            page += "\n";
        }
        page += &self.next(screen);
        page
    }

    /// The next command, and what is open besides.
    fn next(&self, screen: Screen) -> String {
        let entry = &self.entry;
        let action = entry.recommended_action();
        let command = screen.paint(Tone::Command, &action.command);
        let mut lines = format!("  {}  {command}\n", screen.paint(Tone::Strong, "Next"));
        lines += &screen.prose("        ", "        ", &entry.reason_beside_progress());
        let mut open = Vec::new();
        let mut note = |count: usize, noun: &str| {
            if count > 0 {
                open.push(counted(count, noun));
            }
        };
        note(self.todos, "todo");
        note(self.acceptances, "open acceptance test");
        note(entry.signals.blockers.len(), "blocker");
        if !open.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "  {}  {}", screen.paint(Tone::Strong, "Open"), open.join(", "));
        }
        for blocker in &entry.signals.blockers {
            lines += &screen.item("        ", Mark::Warning, blocker);
        }
        lines
    }
}
