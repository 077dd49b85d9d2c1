//! What is not committed: one answer for everything that needs to know whether work would be lost or left out.

use crate::acts::facts;
use crate::acts::worktree::git::uncommitted_in;
use crate::disk::AbsolutePath;
use crate::failure::{Failure, Reason};
use crate::project::repository::repository_of;
use crate::text::screen::counted;
use crate::world::Finished;
use schemars::JsonSchema;
use serde::Serialize;

use super::phase_work::no_answer;
use crate::acts::Call;
use crate::install;
use crate::project::git_settings::names_no_filter;

/// What `git uncommitted` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Uncommitted {
    /// Files of the project other than planning files, relative to its root; in a larger repository, files outside of
    /// the project are relative to the top.
    pub(crate) files: Vec<String>,
    /// Planning files, relative to the project's root.
    pub(crate) planning: Vec<String>,
    /// How many files that an install put here are not tracked by git. They do not matter.
    installed: usize,
}

impl Uncommitted {
    /// Queries git.
    pub(crate) fn of(call: &Call) -> Result<Self, Failure> {
        let root = call.root();
        let line = ["--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"];
        let status = call.world().git_differences(root.as_path(), names_no_filter, line)?;
        let prefix = call.world().git(root.as_path(), ["rev-parse", "--show-prefix"])?;
        if !status.success() || !prefix.success() {
            return Err(no_answer(if status.success() { &prefix } else { &status }));
        }
        let (told, prefix) = (String::from_utf8_lossy(&status.stdout).into_owned(), prefix.text());
        let planning = format!("{}/", call.layout().planning());
        let owned = if told.contains("?? ") { install::owned_in(root) } else { std::collections::BTreeSet::new() };
        let mut answer = Self::default();
        for record in told.split('\0') {
            let Some((mark, path)) = record.get(..2).zip(record.get(3..)) else { continue };
            let path = path.strip_prefix(prefix.as_str()).unwrap_or(path).to_owned();
            if mark == "??" && owned.contains(&path) {
                answer.installed += 1;
            } else if path.starts_with(&planning) {
                answer.planning.push(path);
            } else {
                answer.files.push(path);
            }
        }
        Ok(answer)
    }
}

/// The files that differ from the last commit, relative to the project's root. Empty outside of a repository; if git
/// fails inside one, there is a warning.
pub(crate) fn listed(call: &Call) -> Vec<String> {
    let line = ["--no-optional-locks", "status", "--porcelain", "-z", "--untracked-files=all"];
    let complaint = match call.world().git_differences(call.layout().root(), names_no_filter, line) {
        Ok(status) if status.success() => {
            return uncommitted_in(&status.text()).into_iter().map(|file| file.path).collect();
        }
        Ok(status) => status.error_text(),
        Err(error) => error.to_string(),
    };
    if facts::commit(call).is_some() {
        call.warn(format!("uncommitted files are left out, since git does not list them: {}", complaint.trim()));
    }
    Vec::new()
}

/// Refuses while git reports a change in a folder that is to be moved or removed: the following commit would mix the
/// two, and untracked files would be lost. Also refuses if git fails. `ignored` is git's flag for whether ignored files
/// count.
pub(crate) fn refuse_uncommitted(call: &Call, folder: &str, done: &str, ignored: &str) -> Result<(), Failure> {
    let line = ["--no-optional-locks", "status", "--porcelain", "--untracked-files=all", ignored, "--", folder];
    let root = call.layout().root();
    if AbsolutePath::parse(root).ok().and_then(|root| repository_of(&root)).is_none() {
        return Ok(());
    }
    let asked = call.world().git_differences(root, names_no_filter, line).ok().filter(Finished::success);
    let Some(status) = asked else {
        let refused = format!("git does not show what changed in `{folder}`; nothing was {done}");
        return Err(Failure::new(Reason::Unknown, refused).hint("see what `git status` says, or pass `--force`"));
    };
    let changes = status.text().lines().count();
    if changes == 0 {
        return Ok(());
    }
    let changes = counted(changes, "uncommitted change");
    let refused = format!("git reports {changes} in `{folder}`; nothing was {done}");
    Err(Failure::new(Reason::Unknown, refused).hint("commit them first, or pass `--force`"))
}

/// True if all tracked files but the configuration, which the start and the stop of a chain change themselves, are
/// unchanged since the last commit. Untracked files, such as the idea of the project, do not count. `None` if git fails.
pub(crate) fn is_clean(call: &Call) -> Option<bool> {
    let except = [call.layout().config(), call.layout().root_config()].map(|path| format!(":(exclude){path}"));
    let line = ["status", "--porcelain", "--", ":/", &except[0], &except[1]];
    let status = call.world().git_differences(call.root().as_path(), names_no_filter, line).ok();
    let status = status.filter(Finished::success)?;
    Some(status.text().lines().all(|line| line.starts_with("?? ")))
}
