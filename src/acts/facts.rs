//! Facts that operations need besides the documents: the time, the session, the current commit, the installed commands.

use std::collections::BTreeSet;

use super::Call;
use super::auto::place::lacking;
use super::history::History;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::library;
use crate::operations::health::WrittenAt;
use crate::operations::overview::stats::Commits;
use crate::operations::state::{Commands, Facts};
use crate::project::auto_run::Runs;
use crate::project::head::Head;
use crate::project::view::ProjectView;
use crate::project::workstream;
use crate::world::Finished;

/// The commit at which STATE.md was written, according to its text, and how many came after it.
pub(crate) fn written_at(call: &Call, view: &ProjectView) -> Option<WrittenAt> {
    let state = view.state().ok().flatten()?;
    let is_hash = |head: &String| head.len() >= 7 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    let head = state.front_text("state_head").filter(is_hash)?;
    Some(WrittenAt { commits: commits_since(call, &head)?, head })
}

/// The facts of a state operation that need neither another program nor the configuration.
pub(crate) fn moment(call: &Call) -> Facts {
    let world = call.world();
    let now = world.now();
    Facts {
        now: now.to_string(),
        milliseconds: now.milliseconds(),
        today: world.today(),
        head: None,
        session: workstream::session_key(|name| world.variable(name)),
        process: world.process(),
        is_unit: world.is_unit(),
        commands: Commands::default(),
        runs: Runs::default(),
    }
}

/// The facts of an answer that shows the next step.
pub(crate) fn next_facts(call: &Call) -> Result<Facts, Failure> {
    Ok(Facts { commands: commands(call)?, runs: runs(call, call.root()), ..moment(call) })
}

/// The runs of `auto` in the project at `root`; a session of a run looks for none.
pub(crate) fn runs(call: &Call, root: &AbsolutePath) -> Runs {
    let world = call.world();
    if world.is_unit() {
        return Runs::default();
    }
    let runs = Runs::of(world.state_folder().as_deref(), &world.lock_folders(), root);
    // The log may also have landings of another repository that was here before.
    let is_here = |commit: &str| lacking(world, root, &BTreeSet::from([commit])).is_ok_and(|none| none.is_empty());
    Runs { landed: runs.landed.filter(|landed| is_here(&landed.commit)), ..runs }
}

/// The commands in which the next step is named.
pub(crate) fn commands(call: &Call) -> Result<Commands, Failure> {
    Ok(Commands {
        prefix: call.command_prefix()?.to_owned(),
        installed: library::command_names().map(str::to_owned).collect(),
        skip_discussion: call.config()?.flag("workflow.skip_discuss"),
    })
}

/// As [`moment`], with the commands, and with the current commit if the project is a single repository.
pub(crate) fn state_facts(call: &Call) -> Result<Facts, Failure> {
    let own = disk::exists(call.root().resolve(".git")) && call.config()?.sub_repositories().is_empty();
    let head = own.then(|| commit(call)).flatten();
    Ok(Facts { head, commands: commands(call)?, ..moment(call) })
}

/// The commit that is checked out in the project; `None` outside of a repository, and before its first commit.
pub(crate) fn commit(call: &Call) -> Option<String> {
    Head::commit_at(call.root(), |arguments| git_answer(call, arguments))
}

/// The branch that is checked out in the project; `None` if HEAD is detached.
pub(crate) fn branch(call: &Call) -> Option<String> {
    Head::branch_at(call.root(), |arguments| git_answer(call, arguments))
}

fn git_answer(call: &Call, arguments: &[&str]) -> Option<String> {
    let finished = call.world().git(call.root().as_path(), arguments).ok()?;
    Some(finished.text()).filter(|text| finished.success() && !text.is_empty())
}

/// True if `name` names a commit of the project's repository.
pub(crate) fn is_commit(call: &Call, name: &str) -> bool {
    let answer = call.world().git(call.root().as_path(), ["cat-file", "-t", name]);
    answer.is_ok_and(|answer| answer.success() && answer.text() == "commit")
}

/// How many commits led here, and the day of the first; empty outside of a repository.
pub(crate) fn commits(call: &Call) -> Commits {
    let counted = History::of(call.world(), call.layout()).and_then(|(history, _)| history.commits());
    let (count, first) = counted.unwrap_or_default();
    Commits { count: usize::try_from(count).unwrap_or(usize::MAX), first }
}

/// How many commits came after `commit`; `None` if git does not know it.
pub(crate) fn commits_since(call: &Call, commit: &str) -> Option<u64> {
    History::of(call.world(), call.layout())?.0.since(commit)
}

/// The files that were added to the repository since `commit`.
pub(crate) fn added_since(call: &Call, commit: &str) -> Result<Vec<String>, Failure> {
    let range = format!("{commit}..HEAD");
    let arguments = ["-c", "core.quotePath=false", "diff", "--name-only", "--diff-filter=A", &range];
    let told = call.world().git(call.root().as_path(), arguments)?;
    if !told.success() {
        let message = format!("cannot compare with the mapped commit `{commit}`: {}", told.error_text());
        return Err(Failure::usage(message).hint("map the codebase again, then run `gsd-tools stamp-codebase-map`"));
    }
    Ok(told.text().lines().map(str::to_owned).collect())
}

/// The abbreviated hash of the commit that is checked out.
pub(crate) fn short_commit(call: &Call) -> Option<String> {
    let finished = call.world().git(call.root().as_path(), ["rev-parse", "--short", "HEAD"]).ok();
    finished.filter(Finished::success).map(|finished| finished.text().trim().to_owned())
}

/// The subjects of all commits, the newest first.
pub(crate) fn subjects(call: &Call) -> Vec<String> {
    let log = call.world().git(call.root().as_path(), ["log", "--format=%s"]).ok();
    let log = log.filter(Finished::success).map(|log| log.text()).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}
