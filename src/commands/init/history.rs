//! What git knows of a milestone: the tags of the repository, and where the milestone begins.

use crate::commands::frame::Context;
use crate::failure::Failure;
use crate::operations::bundle::MilestoneHistory;

impl Context {
    /// The history behind the open milestone, as far as git has one.
    pub(super) fn milestone_history(&self) -> Result<MilestoneHistory, Failure> {
        let view = self.view();
        let roadmap = view.layout().roadmap();
        let version = match view.roadmap_text()? {
            Some(_) => view.milestone()?.version,
            None => None,
        };
        let since = version.and_then(|version| self.first_with(&version, &roadmap)).or_else(|| self.added(&roadmap));
        let commits = since.as_ref().and_then(|since| {
            let counted = self.git_lines(&["rev-list", "--count", &format!("{since}..HEAD")])?;
            counted.first()?.parse().ok()
        });
        Ok(MilestoneHistory { tags: self.git_lines(&["tag", "--list"]), since, commits })
    }

    /// The first commit that changed how often the roadmap says `version`.
    fn first_with(&self, version: &str, roadmap: &str) -> Option<String> {
        // To look for a text, git else turns each version into one by a program that the repository may name.
        let plain = ["log", "--no-textconv", "--no-ext-diff", "--reverse", "--format=%h"];
        let lines = self.git_lines(&[&plain[..], &[&format!("-S{version}"), "--", roadmap]].concat())?;
        lines.into_iter().next()
    }

    /// The last commit that made the roadmap.
    fn added(&self, roadmap: &str) -> Option<String> {
        let lines = self.git_lines(&["log", "-1", "--diff-filter=A", "--format=%h", "--", roadmap])?;
        lines.into_iter().next()
    }

    /// The lines that git answers; `None` where it cannot.
    fn git_lines(&self, arguments: &[&str]) -> Option<Vec<String>> {
        let finished = self.world().git(self.root().as_path(), arguments).ok().filter(|ended| ended.success())?;
        Some(finished.text().lines().map(str::to_owned).filter(|line| !line.is_empty()).collect())
    }
}
