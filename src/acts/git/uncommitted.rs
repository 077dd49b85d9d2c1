//! What is in no commit: one answer for everything that asks whether work would be lost or left out.

use schemars::JsonSchema;
use serde::Serialize;

use super::phase_work::no_answer;
use crate::acts::Call;
use crate::failure::Failure;
use crate::install;
use crate::project::git_settings::names_no_filter;

/// What `git uncommitted` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Uncommitted {
    /// Files of the project, from its root; in a repository that is larger, those outside of it from the top.
    pub(crate) files: Vec<String>,
    /// Planning files.
    pub(crate) planning: Vec<String>,
    /// How many files that an install put here git does not know. They are in nobody's way.
    installed: usize,
}

impl Uncommitted {
    /// Asks git.
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
