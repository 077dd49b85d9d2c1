//! Where a project is, on one screen: progress, phases, what is half done, what is next, what is open.

use super::stats::{self, StatsReport};
use crate::operations::notes::todos;
use crate::operations::state::situation::EntryReport;
use crate::project::files::FileError;
use crate::project::standing::first_few;
use crate::project::view::ProjectView;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};

/// What the screen shows.
#[derive(Debug)]
pub(crate) struct Dashboard {
    title: String,
    stats: StatsReport,
    entry: EntryReport,
    /// What was begun and is half done, in a session that ended or in one that still runs.
    unfinished: Option<String>,
    /// Those of a project of which none is active.
    workstreams: Vec<String>,
    todos: usize,
    acceptances: usize,
}

impl Dashboard {
    /// The dashboard of the project; `folder` is its name where PROJECT.md gives none.
    pub(crate) fn of(
        view: &ProjectView,
        stats: StatsReport,
        entry: EntryReport,
        unfinished: Option<String>,
        workstreams: Vec<String>,
        folder: &str,
    ) -> Result<Self, FileError> {
        Ok(Self {
            title: view.project_title()?.unwrap_or_else(|| folder.to_owned()),
            stats,
            entry,
            unfinished,
            workstreams,
            todos: todos::list(view, None)?.count,
            acceptances: view.open_acceptances()?.len(),
        })
    }

    pub(crate) fn shown(&self, screen: Screen) -> String {
        let mut page = self.stats.head(screen, &self.title);
        page += &stats::rows(screen, &self.stats.phases, self.entry.signals.current_phase.as_deref());
        if !self.stats.phases.is_empty() {
            page += "\n";
        }
        let unfinished = self.unfinished.as_deref().map(|what| ("Unfinished", Cell::new(Tone::Warning, what)));
        page + &self.entry.advice.shown(screen, unfinished.as_slice()) + &self.open(screen)
    }

    /// What is open besides.
    fn open(&self, screen: Screen) -> String {
        let blockers = &self.entry.signals.blockers;
        let counts = [(self.todos, "todo"), (self.acceptances, "open acceptance test"), (blockers.len(), "blocker")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let open: Vec<String> = counts.map(|(count, noun)| counted(count, noun)).collect();
        let mut lines = String::new();
        if !open.is_empty() {
            lines = format!("\n{}\n", open.join(screen.between()));
        }
        for blocker in blockers.iter().take(BLOCKERS) {
            lines += &screen.item("  ", Mark::Warning, blocker);
        }
        if !self.workstreams.is_empty() {
            let names = first_few(&self.workstreams);
            let what = format!("{}: {names}; `--ws NAME` shows one", counted(self.workstreams.len(), "workstream"));
            lines += &screen.prose("\n", "  ", &what);
        }
        lines
    }
}

/// How many blockers are shown.
const BLOCKERS: usize = 5;
