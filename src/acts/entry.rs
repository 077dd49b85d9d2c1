//! The situation of a project, for the verb that greets its user: its documents, its runs, and git.

use crate::acts::Call;
use crate::acts::facts;
use crate::acts::git::uncommitted::Uncommitted;
use crate::acts::project;
use crate::failure::Failure;
use crate::operations::state::Facts;
use crate::operations::state::situation;
use crate::operations::state::situation::EntryReport;
use crate::operations::state::situation::Surroundings;
use crate::project::git_settings::names_no_filter;
use crate::project::view::ProjectView;
use crate::world::Finished;

/// The situation of the project, and what to do next.
pub(crate) fn entry(call: &Call, view: &ProjectView) -> Result<EntryReport, Failure> {
    let facts = facts::next_facts(call)?;
    if let Some((root, runs)) = project::milestones(call) {
        let view = project::view_at(call, &root)();
        return Ok(situation::smart_entry(&view, &surroundings(call, &view), &Facts { runs, ..facts })?);
    }
    Ok(situation::smart_entry(view, &surroundings(call, view), &facts)?)
}

/// True if a change is not committed, other than files that an install put here and git does not track.
fn is_dirty(call: &Call, status: &str) -> bool {
    let mut lines = status.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let Some(first) = lines.next() else { return false };
    let is_known = |line: &str| !line.starts_with("? ");
    is_known(first)
        || lines.any(is_known)
        || Uncommitted::of(call).map_or(true, |found| !found.files.is_empty() || !found.planning.is_empty())
}

/// The git facts about the folder; one run of git, two if STATE.md names a commit.
fn surroundings(call: &Call, view: &ProjectView) -> Surroundings {
    let root = view.layout().root();
    let has_planning = call.has_a_project();
    let asked = call.world().git_differences(root, names_no_filter, ["status", "--porcelain=v2", "--branch"]);
    let Some(status) = asked.ok().filter(Finished::success).map(|finished| finished.text()) else {
        return Surroundings { has_planning, ..Surroundings::default() };
    };
    let ahead = status.lines().find_map(|line| line.strip_prefix("# branch.ab +"));
    Surroundings {
        has_planning,
        has_git: true,
        dirty: is_dirty(call, &status),
        unpushed: ahead.is_some_and(|ahead| !ahead.starts_with("0 ")),
        behind: facts::written_at(call, view).map(|written| written.commits),
    }
}
