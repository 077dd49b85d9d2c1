//! What the check of a project needs to know besides its documents.

use crate::acts::Call;
use crate::acts::facts;
use crate::acts::hosts;
use crate::failure::Failure;
use crate::operations::health::HealthFacts;
use crate::operations::health::Worktree;
use crate::{disk, library};

pub(crate) fn health_facts(call: &Call) -> Result<HealthFacts, Failure> {
    let host = call.host()?;
    let missing = hosts::agents(call, host.descriptor.as_ref()).missing;
    // If not a single agent is there, none was installed, and nothing is broken.
    let lost_agents = if missing.len() < library::agent_names().count() { missing } else { Vec::new() };
    Ok(HealthFacts {
        command_prefix: call.command_prefix()?.to_owned(),
        lost_agents,
        tracked_but_ignored: is_tracked_but_ignored(call),
        worktrees: worktrees(call),
        written_at: facts::written_at(call, &call.view()),
    })
}

/// True if git ignores the planning folder and also tracks files in it. False without git.
fn is_tracked_but_ignored(call: &Call) -> bool {
    let folder = call.root().as_path();
    let planning = format!("{}/", call.layout().planning());
    let ignored = call.world().git(folder, ["check-ignore", "-q", "--no-index", &planning]);
    if !ignored.is_ok_and(|finished| finished.success()) {
        return false;
    }
    let tracked = call.world().git(folder, ["ls-files", "--", &planning]);
    tracked.is_ok_and(|finished| finished.success() && !finished.text().is_empty())
}

/// The linked working trees of the repository.
fn worktrees(call: &Call) -> Vec<Worktree> {
    if !disk::exists(call.root().resolve(".git")) {
        return Vec::new();
    }
    let Ok(listed) = call.world().git(call.root().as_path(), ["worktree", "list", "--porcelain"]) else {
        return Vec::new();
    };
    let now = call.world().now().milliseconds();
    let text = listed.text();
    let paths = text.lines().filter_map(|line| line.strip_prefix("worktree ")).skip(1);
    paths
        .map(|path| Worktree {
            path: path.to_owned(),
            minutes: disk::modified(path).map(|changed| (now - changed) / 60_000),
        })
        .collect()
}
