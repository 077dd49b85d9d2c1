//! Branches and worktrees that earlier runs have left, and branches of the same form that no run made.

use std::collections::BTreeMap;

use crate::acts::auto::place::{BEGINNING, RunPlace};
use crate::acts::auto::start::places::{checkout_of, scratch_of};
use crate::auto::event::{Entry, Run};
use crate::auto::phases;
use crate::auto::status::LeftoverRow;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::project::milestone_layout::lookup;
use crate::text::shell::typed;
use crate::world::World;

/// The prefix of the branches of runs.
pub(crate) const BRANCHES: &str = "milestone/";

/// The milestone of a branch that has the form of those of runs.
pub(crate) fn milestone_of_branch(branch: &str) -> &str {
    let milestone = branch.strip_prefix(BRANCHES).unwrap_or(branch);
    milestone.strip_suffix("/work").unwrap_or(milestone)
}

/// The branch that a call was about to make when it died, before a run was in the log.
pub(crate) fn noted(place: &RunPlace) -> Result<Option<String>, Failure> {
    let noted = disk::read_text(place.folder().resolve(BEGINNING))?;
    Ok(noted.filter(|branch| branch.starts_with(BRANCHES)))
}

/// The folder of the worktree for a branch.
pub(crate) fn folder_of(place: &RunPlace, branch: &str) -> AbsolutePath {
    let documents = if branch.ends_with("/work") { phases::FOLDER } else { lookup::FOLDER };
    place.root.resolve(format!("{documents}/worktrees/{}", milestone_of_branch(branch)))
}

/// Those folders of a run that exist: its worktree, and the checkouts next to it.
pub(crate) fn folders_at(worktree: &AbsolutePath) -> Vec<AbsolutePath> {
    let all = [worktree.clone(), scratch_of(worktree), checkout_of(worktree)];
    all.into_iter().filter(|folder| disk::exists(folder)).collect()
}

/// The branches that have the form of those of runs; none if there is no repository to ask.
pub(crate) fn branches(world: &World, place: &RunPlace) -> Result<Vec<String>, Failure> {
    let line = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/milestone/"];
    let told = world.git(place.root.as_path(), line)?;
    Ok(if told.success() { told.text().lines().map(str::to_owned).collect() } else { Vec::new() })
}

/// What does not belong to `unfinished`: branches of the form of those of runs, and worktrees of earlier runs in the
/// log; and how many of its entries are about another repository.
pub(crate) fn leftovers(
    world: &World,
    place: &RunPlace,
    (entries, unfinished): (&[Entry], Option<&Run>),
) -> Result<(Vec<LeftoverRow>, usize), Failure> {
    let (runs, of_others) = place.runs_here(entries)?;
    let noted = noted(place)?;
    let known = |branch: &str| runs.iter().any(|run| run.run.branch == branch) || noted.as_deref() == Some(branch);
    let mut rows: BTreeMap<String, LeftoverRow> = BTreeMap::new();
    let row = |branch: &str, ours: bool| {
        let milestone = milestone_of_branch(branch).to_owned();
        let remove = ours.then(|| typed!("gsd-tools auto abandon {}", milestone));
        LeftoverRow { milestone, branch: None, folders: Vec::new(), ours, remove }
    };
    for branch in branches(world, place)? {
        if unfinished.is_none_or(|run| run.branch != branch) {
            let ours = known(&branch);
            rows.entry(branch.clone()).or_insert_with(|| row(&branch, ours)).branch = Some(branch.clone());
        }
    }
    let of_runs = runs.iter().map(|run| (run.run.branch.clone(), AbsolutePath::parse(&run.run.worktree).ok()));
    let of_note = noted.iter().map(|branch| (branch.clone(), Some(folder_of(place, branch))));
    for (branch, worktree) in of_runs.chain(of_note) {
        let Some(worktree) = worktree.filter(|_| unfinished.is_none_or(|run| run.branch != branch)) else { continue };
        for folder in folders_at(&worktree) {
            let shown = folder.relative_to(&place.root).map_or_else(|| folder.to_string(), |path| path.to_string());
            let row = rows.entry(branch.clone()).or_insert_with(|| row(&branch, true));
            if !row.folders.contains(&shown) {
                row.folders.push(shown);
            }
        }
    }
    Ok((rows.into_values().collect(), of_others))
}
