//! What git knows about a milestone: the tags of the repository, and where the milestone begins.

use crate::acts::Call;
use crate::failure::Failure;
use crate::operations::facts::MilestoneHistory;
use crate::world::Finished;

/// The history of the open milestone, if git has one.
pub(crate) fn milestone_history(call: &Call) -> Result<MilestoneHistory, Failure> {
    let view = call.view();
    let roadmap = view.layout().roadmap();
    let version = match view.roadmap()? {
        Some(_) => view.milestone()?.version,
        None => None,
    };
    let since = version.and_then(|version| first_with(call, &version, &roadmap)).or_else(|| added(call, &roadmap));
    let commits = since.as_ref().and_then(|since| {
        let counted = git_lines(call, &["rev-list", "--count", &format!("{since}..HEAD")])?;
        counted.first()?.parse().ok()
    });
    Ok(MilestoneHistory { tags: git_lines(call, &["tag", "--list"]), since, commits })
}

/// The first commit that changed how often `version` occurs in the roadmap.
fn first_with(call: &Call, version: &str, roadmap: &str) -> Option<String> {
    // When git searches for a text, it would otherwise convert each version with a program that the repository may
    // name.
    let plain = ["log", "--no-textconv", "--no-ext-diff", "--reverse", "--format=%h"];
    let lines = git_lines(call, &[&plain[..], &[&format!("-S{version}"), "--", roadmap]].concat())?;
    lines.into_iter().next()
}

/// The last commit that added the roadmap.
fn added(call: &Call, roadmap: &str) -> Option<String> {
    let lines = git_lines(call, &["log", "-1", "--diff-filter=A", "--format=%h", "--", roadmap])?;
    lines.into_iter().next()
}

/// The lines of git's output; `None` if it fails.
fn git_lines(call: &Call, arguments: &[&str]) -> Option<Vec<String>> {
    let finished = call.world().git(call.root().as_path(), arguments).ok().filter(Finished::success)?;
    Some(finished.text().lines().map(str::to_owned).filter(|line| !line.is_empty()).collect())
}
