//! Where a project is, on one screen: progress, phases, what is next, what is open.

use std::fmt::Write as _;

use super::stats::{PhaseStats, StatsReport};
use crate::operations::notes::todos;
use crate::operations::state::situation::EntryReport;
use crate::project::files::FileError;
use crate::project::milestone::MilestoneScope;
use crate::project::phase;
use crate::project::view::ProjectView;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};

/// How wide the bar of progress is.
const BAR: u64 = 20;

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
        let mut page = headline(screen, &self.title, &self.stats);
        page += "\n";
        page += &progress(screen, &self.stats, "  ");
        page += "\n";
        page += &phases(screen, &self.stats.phases, self.entry.signals.current_phase.as_deref());
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

/// Title, version and name of the milestone.
pub(super) fn headline(screen: Screen, title: &str, stats: &StatsReport) -> String {
    let mut words = vec![screen.paint(Tone::Strong, title)];
    let milestone = [stats.milestone_version.as_deref(), stats.milestone_name.as_deref()];
    words.extend(milestone.into_iter().flatten().map(str::to_owned));
    words.join("  ") + "\n"
}

/// The bar with its percentage and counts; where there is no percentage, why, and what gives one.
pub(super) fn progress(screen: Screen, stats: &StatsReport, indent: &str) -> String {
    let plans = format!("{} of {}", stats.total_summaries, counted(stats.total_plans, "plan"));
    let phases = format!("{} of {}", stats.phases_completed, counted(stats.phases_total, "phase"));
    let counts = format!("{plans}, {phases} done");
    let Some(percent) = stats.percent else {
        let version = stats.milestone_version.as_deref();
        let why = match (stats.phase_scope, version) {
            (MilestoneScope::Unreadable, _) => "there is no ROADMAP.md".to_owned(),
            (MilestoneScope::Truncated, Some(version)) => {
                format!("ROADMAP.md has no phases below the heading of {version}; move its phases there")
            }
            (_, Some(version)) => {
                format!("ROADMAP.md has no heading for {version}; add one, such as `## {version}`, above its phases")
            }
            (_, None) => {
                "STATE.md names no milestone; `gsd-tools state milestone-switch --milestone v1.0` sets one".to_owned()
            }
        };
        return format!("{indent}{counts}\n")
            + &screen.prose(&format!("{indent}No percentage: "), &format!("{indent}  "), &why);
    };
    format!("{indent}{} {percent}%  {}\n", screen.bar(percent, 100, BAR), screen.paint(Tone::Faint, &counts))
}

/// A row for each phase, the current one marked.
pub(super) fn phases(screen: Screen, phases: &[PhaseStats], current: Option<&str>) -> String {
    let row = |row: &PhaseStats| {
        let is_done = row.status == "Complete";
        let is_current = !is_done && current.is_some_and(|current| phase::compare(current, &row.number).is_eq());
        let (mark, tone) = match () {
            () if is_done => (Mark::Done, Tone::Plain),
            () if is_current => (Mark::Current, Tone::Strong),
            () if row.summaries > 0 => (Mark::Current, Tone::Plain),
            () => (Mark::Open, Tone::Plain),
        };
        let plans = if row.plans == 0 { String::new() } else { format!("{}/{} plans", row.summaries, row.plans) };
        vec![
            screen.mark(mark),
            Cell::from(row.number.as_str()),
            Cell::new(tone, row.name.as_str()),
            Cell::from(plans),
            Cell::new(if is_done { Tone::Good } else { Tone::Faint }, row.status.to_lowercase()),
        ]
    };
    screen.table("  ", &phases.iter().map(row).collect::<Vec<_>>())
}
