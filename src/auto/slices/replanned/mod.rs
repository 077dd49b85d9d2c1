//! Judges what a session did to the slices of a roadmap: whether it is sound, and a description in one line.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::snapshot::Snapshot;
use crate::auto::unit::Unit;
use crate::project::milestone_layout::ids;
use crate::project::milestone_layout::requirements::{Owner, Requirement, RequirementSection, Requirements};
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::slice_rows::SliceRow;
use crate::text::terminal::one_line;

/// The parts of a milestone's plans that are fixed when a unit starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Fixed {
    /// The slices of the milestone, and the tasks of the unit's slice, that were begun.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) begun: Vec<String>,
    /// The slices with a plan, which repeats their row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) planned: Vec<String>,
    /// The slices with a folder whose row was removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unlisted: Vec<String>,
}

impl Fixed {
    pub(crate) fn of(snapshot: &Snapshot, unit: &Unit) -> Self {
        let (milestone, slice, _) = unit.parts();
        let is_begun =
            |task: &&super::snapshot::SliceTask| task.is_ticked || task.summary.is_some() || task.check.is_some();
        let tasks_of = |slice: &str| {
            let detail = snapshot.detail(milestone, slice);
            detail.and_then(|detail| detail.tasks.as_deref()).unwrap_or_default().iter().filter(is_begun)
        };
        let found = snapshot.milestone(milestone);
        let rows = found.and_then(|found| found.roadmap.as_deref()).unwrap_or_default();
        let slices = rows.iter().filter(|row| row.done || tasks_of(&row.id).next().is_some());
        let tasks = slice.into_iter().flat_map(tasks_of).map(|task| task.id.clone());
        Self {
            begun: slices.map(|row| row.id.clone()).chain(tasks).collect(),
            planned: rows.iter().filter(|row| row.has_plan).map(|row| row.id.clone()).collect(),
            unlisted: found.map(|found| found.unlisted.clone()).unwrap_or_default(),
        }
    }

    pub(crate) fn is_begun(&self, id: &str) -> bool {
        has(&self.begun, id)
    }

    fn is_planned(&self, id: &str) -> bool {
        has(&self.planned, id)
    }
}

fn has(ids: &[String], id: &str) -> bool {
    ids.iter().any(|known| known.eq_ignore_ascii_case(id))
}

/// Returns what is wrong with a planner's change of a roadmap: it changes a slice that was begun, that has a plan or
/// that the unit is about, it changes the goal of the milestone, or it makes slices impossible to work on.
pub(crate) fn open_slices(old: &Roadmap, new: &Roadmap, fixed: &Fixed, unit: &Unit) -> Option<String> {
    let own = unit.parts().1.unwrap_or_default();
    let why = |row: &SliceRow| match &row.id {
        id if fixed.is_begun(id) => Some("was begun"),
        id if id.eq_ignore_ascii_case(own) => Some("is the slice of this unit"),
        id if fixed.is_planned(id) => Some("has a plan"),
        _ if row.deferred => Some("was put off by a person"),
        _ => None,
    };
    changed(old, new, why)
        .or_else(|| ticked(new, fixed))
        .or_else(|| put_off(old, new))
        .or_else(|| put_first(old, new, fixed, own))
        .or_else(|| unsound(old, new, fixed))
        .or_else(|| other_goal(old, new))
}

/// Returns what is wrong with a change of a roadmap that a person asked for, which may change everything that was not
/// begun.
pub(crate) fn course(old: &Roadmap, new: &Roadmap, fixed: &Fixed) -> Option<String> {
    let why = |row: &SliceRow| fixed.is_begun(&row.id).then_some("was begun");
    changed(old, new, why).or_else(|| ticked(new, fixed)).or_else(|| unsound(old, new, fixed))
}

fn changed(old: &Roadmap, new: &Roadmap, why: impl Fn(&SliceRow) -> Option<&'static str>) -> Option<String> {
    old.slices.iter().find_map(|row| {
        let why = why(row)?;
        match new.slice(&row.id) {
            None => Some(format!("{} {why} and is gone", row.id)),
            Some(now) => (!is_same(row, now)).then(|| format!("{} {why}", row.id)),
        }
    })
}

/// True if a row has the same content, at any position.
fn is_same(old: &SliceRow, new: &SliceRow) -> bool {
    SliceRow { line: old.line, ..new.clone() } == *old
}

fn ticked(new: &Roadmap, fixed: &Fixed) -> Option<String> {
    let ticked = new.slices.iter().find(|row| row.done && !row.skipped && !fixed.is_begun(&row.id));
    ticked.map(|row| format!("{} is ticked", row.id))
}

/// Returns a slice that was deferred. A run does not work on deferred slices, so it would end there.
fn put_off(old: &Roadmap, new: &Roadmap) -> Option<String> {
    let is_new = |row: &&SliceRow| row.deferred && !old.slice(&row.id).is_some_and(|old| old.deferred);
    let found = new.slices.iter().find(is_new).filter(|_| !old.slices.is_empty())?;
    Some(format!("{} is put off, which only a person does", found.id))
}

/// Returns a violation of the order: the planned slice must come next, and slices that were begun must keep their
/// order.
fn put_first(old: &Roadmap, new: &Roadmap, fixed: &Fixed, own: &str) -> Option<String> {
    let begun = |roadmap: &Roadmap| -> Vec<String> {
        roadmap.slices.iter().filter(|row| fixed.is_begun(&row.id)).map(|row| row.id.clone()).collect()
    };
    let moved = begun(old).into_iter().zip(begun(new)).find(|(was, is)| was != is);
    if let Some((was, _)) = moved {
        return Some(format!("{was} was begun and has moved"));
    }
    let before = |roadmap: &Roadmap| -> Option<Vec<String>> {
        let at = roadmap.slices.iter().position(|row| row.id.eq_ignore_ascii_case(own) && !row.done)?;
        let open = roadmap.slices[..at].iter().filter(|row| !row.done);
        Some(open.map(|row| row.id.clone()).collect())
    };
    let known = before(old)?;
    let first = before(new)?.into_iter().find(|id| !has(&known, id))?;
    Some(format!("{first} comes before {own}, which this unit plans"))
}

/// Returns a new problem that keeps the slices of a roadmap from being worked on.
fn unsound(old: &Roadmap, new: &Roadmap, fixed: &Fixed) -> Option<String> {
    let is_new = |what: &String| !old.problems.iter().any(|problem| problem.what == *what);
    let problem = new.problems.iter().map(|problem| problem.what.clone()).find(is_new);
    problem.or_else(|| used_number(old, new, fixed)).or_else(|| missing(old, new)).or_else(|| circle(old, new))
}

/// Returns a new slice with a number that another slice has or had.
fn used_number(old: &Roadmap, new: &Roadmap, fixed: &Fixed) -> Option<String> {
    if old.slices.is_empty() {
        return None;
    }
    let known = || old.slices.iter().map(|row| row.id.as_str()).chain(fixed.unlisted.iter().map(String::as_str));
    let highest = known().filter_map(|id| ids::number(id, 'S')).max().unwrap_or_default();
    let is_used = |id: &str| ids::number(id, 'S').is_none_or(|number| number <= highest);
    let row = new.slices.iter().find(|row| old.slice(&row.id).is_none() && is_used(&row.id))?;
    Some(format!("{} is new and takes a used number: the next is {}", row.id, ids::next(known(), 'S', 2)))
}

fn missing(old: &Roadmap, new: &Roadmap) -> Option<String> {
    let lacks = |roadmap: &Roadmap, row: &SliceRow| -> Vec<String> {
        row.depends.iter().filter(|id| roadmap.slice(id).is_none()).cloned().collect()
    };
    new.slices.iter().filter(|row| !row.done).find_map(|row| {
        let known = old.slice(&row.id).map(|row| lacks(old, row)).unwrap_or_default();
        let gone = lacks(new, row).into_iter().find(|id| !has(&known, id))?;
        Some(format!("{} depends on {gone}, which is not in the roadmap", row.id))
    })
}

fn circle(old: &Roadmap, new: &Roadmap) -> Option<String> {
    let known = in_circles(old);
    let new: Vec<String> = in_circles(new).into_iter().filter(|id| !known.contains(id)).collect();
    (!new.is_empty()).then(|| format!("the dependencies of {} form a circle", new.join(", ")))
}

/// Returns the open slices that depend on themselves, in capital letters.
fn in_circles(roadmap: &Roadmap) -> BTreeSet<String> {
    let open: Vec<&SliceRow> = roadmap.slices.iter().filter(|row| !row.done).collect();
    let needs = |row: &SliceRow, id: &str| row.depends.iter().any(|other| other.eq_ignore_ascii_case(id));
    let mut left: BTreeSet<usize> = (0..open.len()).collect();
    loop {
        // A slice in a cycle needs another one there, and is needed by one.
        let is_inside = |at: &&usize| {
            let is_needed = left.iter().any(|other| needs(open[*other], &open[**at].id));
            is_needed && left.iter().any(|other| needs(open[**at], &open[*other].id))
        };
        let inside: BTreeSet<usize> = left.iter().filter(is_inside).copied().collect();
        if inside.len() == left.len() {
            return inside.into_iter().map(|at| open[at].id.to_uppercase()).collect();
        }
        left = inside;
    }
}

/// Returns a change of the milestone's goal, which is settled once it was planned.
fn other_goal(old: &Roadmap, new: &Roadmap) -> Option<String> {
    let goal = |roadmap: &Roadmap| {
        let Roadmap { vision, success_criteria, verification, definition_of_done, .. } = roadmap.clone();
        (vision, success_criteria, verification, definition_of_done)
    };
    let is_planned = !old.slices.is_empty();
    (is_planned && goal(old) != goal(new)).then(|| "what the milestone is for has changed".to_owned())
}

/// A document before and after a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Both<'a> {
    pub(crate) before: &'a str,
    pub(crate) after: &'a str,
}

/// Returns an active requirement whose slice of the milestone was removed: nothing would deliver it.
pub(crate) fn without_owner(milestone: &str, roadmap: Both<'_>, requirements: Both<'_>) -> Option<String> {
    let (old, new) = (Roadmap::parse(roadmap.before), Roadmap::parse(roadmap.after));
    let known = if old.slices.is_empty() {
        Vec::new()
    } else {
        unowned(milestone, &old, &Requirements::parse(requirements.before))
    };
    let found = unowned(milestone, &new, &Requirements::parse(requirements.after));
    let (id, slice) = found.into_iter().find(|found| !known.contains(found))?;
    Some(format!("{id} names {milestone}/{slice}, which the roadmap does not have"))
}

fn unowned(milestone: &str, roadmap: &Roadmap, requirements: &Requirements) -> Vec<(String, String)> {
    let own = |owner: &Owner| -> Option<String> {
        owner.slice.clone().filter(|_| owner.milestone.eq_ignore_ascii_case(milestone))
    };
    let is_gone = |id: &String| roadmap.slice(id).is_none();
    // A skipped slice delivers nothing, and nothing waits for it.
    let is_idle = |id: &String| roadmap.slice(id).is_none_or(|row| row.skipped);
    let active = |entry: &&Requirement| entry.section == Some(RequirementSection::Active);
    let entries = requirements.entries.iter().filter(active).filter(|_| !roadmap.slices.is_empty());
    let gone = entries.flat_map(|entry| {
        let owner = entry.owner.as_ref().and_then(own).filter(is_idle);
        let supporting = entry.supporting.iter().filter_map(own).filter(is_gone);
        owner.into_iter().chain(supporting).map(|slice| (entry.id.clone(), slice)).collect::<Vec<_>>()
    });
    gone.collect()
}

/// Describes the changes to the slices of an existing roadmap, in one line; `None` without changes.
pub(crate) fn in_words(Both { before, after }: Both<'_>) -> Option<String> {
    let (old, new) = (Roadmap::parse(before), Roadmap::parse(after));
    if old.slices.is_empty() || before == after {
        return None;
    }
    let titled = |row: &SliceRow| format!("{} ({})", row.id, one_line(&row.title));
    let plain = |row: &SliceRow| row.id.clone();
    let now = |row: &SliceRow| new.slice(&row.id).cloned();
    let list = |rows: Vec<String>, word: &str| (!rows.is_empty()).then(|| format!("{word} {}", rows.join(", ")));
    let is_skipped = |row: &&SliceRow| !row.skipped && now(row).is_some_and(|now| now.skipped);
    let is_other = |row: &&SliceRow| !is_skipped(row) && now(row).is_some_and(|now| !is_same(row, &now));
    let parts = [
        list(new.slices.iter().filter(|row| old.slice(&row.id).is_none()).map(titled).collect(), "added"),
        list(old.slices.iter().filter(|row| now(row).is_none()).map(titled).collect(), "dropped"),
        list(old.slices.iter().filter(is_skipped).map(titled).collect(), "skipped"),
        list(old.slices.iter().filter(is_other).map(plain).collect(), "changed"),
        is_reordered(&old, &new).then(|| {
            let open = new.slices.iter().filter(|row| !row.done).map(plain).collect::<Vec<_>>();
            format!("reordered to {}", open.join(", "))
        }),
    ];
    let mut line = String::new();
    for part in parts.into_iter().flatten() {
        let _ = write!(line, "{}{part}", if line.is_empty() { "" } else { "; " });
    }
    Some(if line.is_empty() { "changed in its text, with the same slices".to_owned() } else { line })
}

/// True if the slices that both have are in a different order.
fn is_reordered(old: &Roadmap, new: &Roadmap) -> bool {
    let both = |one: &Roadmap, other: &Roadmap| -> Vec<String> {
        one.slices.iter().filter(|row| other.slice(&row.id).is_some()).map(|row| row.id.to_uppercase()).collect()
    };
    both(old, new) != both(new, old)
}

#[cfg(test)]
mod tests;
