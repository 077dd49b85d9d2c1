//! A project in the milestone layout of `auto` on one screen: what is done, and what is next.

use crate::operations::state::next::NextReport;
use crate::project::files::FileError;
use crate::project::gsd2::{self, ImportedMilestone};
use crate::project::view::ProjectView;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};

/// The page of the project with this title.
pub(crate) fn page(view: &ProjectView, title: &str, next: &NextReport, screen: Screen) -> Result<String, FileError> {
    let milestones = gsd2::outline(view)?;
    let current = milestones.iter().find(|milestone| !milestone.is_over && !milestone.is_parked);
    let rows: Vec<Vec<Cell>> = milestones
        .iter()
        .map(|milestone| row(screen, milestone, current.is_some_and(|current| current.id == milestone.id)))
        .collect();
    let mut page = screen.heading(&[Cell::new(Tone::Strong, title)]);
    page += "\n";
    if !rows.is_empty() {
        page = page + &screen.table("  ", &rows) + "\n";
    }
    Ok(page + &next.shown(screen, &[]))
}

fn row(screen: Screen, milestone: &ImportedMilestone, is_current: bool) -> Vec<Cell> {
    let done = milestone.slices.iter().filter(|slice| slice.done).count();
    let (mark, tone, word) = match () {
        () if milestone.is_over => (Mark::Done, Tone::Good, "complete".to_owned()),
        () if milestone.is_parked => (Mark::Open, Tone::Faint, "parked".to_owned()),
        () if milestone.slices.is_empty() => (Mark::Open, Tone::Faint, "not planned yet".to_owned()),
        () => {
            let mark = if is_current { Mark::Current } else { Mark::Open };
            (mark, Tone::Plain, format!("{done} of {} done", counted(milestone.slices.len(), "slice")))
        }
    };
    let title = if milestone.title == milestone.id { String::new() } else { milestone.title.clone() };
    vec![screen.mark(mark), Cell::from(milestone.id.as_str()), Cell::from(title), Cell::new(tone, word)]
}
