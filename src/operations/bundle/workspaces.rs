//! `init new-workspace`, `list-workspaces` and `remove-workspace`: folders outside the project that hold worktrees or
//! clones of several repositories for one piece of work.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::roadmap::table_cells;

use super::{Bundle, Complete};

/// What `init list-workspaces` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WorkspacesReport {
    pub(crate) workspace_base: String,
    pub(crate) workspaces: Vec<WorkspaceReport>,
    pub(crate) workspace_count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WorkspaceReport {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) repo_count: usize,
    pub(crate) strategy: String,
    pub(crate) has_project: bool,
}

/// What `init new-workspace` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NewWorkspaceReport {
    pub(crate) default_workspace_base: String,
    pub(crate) child_repos: Vec<ChildRepository>,
    pub(crate) child_repo_count: usize,
    pub(crate) worktree_available: bool,
    pub(crate) is_git_repo: bool,
    pub(crate) cwd_repo_name: String,
}

/// A repository in a folder of the project.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChildRepository {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) has_uncommitted: bool,
}

/// What `init remove-workspace` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RemoveWorkspaceReport {
    pub(crate) workspace_name: String,
    pub(crate) workspace_path: String,
    pub(crate) has_manifest: bool,
    pub(crate) strategy: String,
    pub(crate) repos: Vec<Member>,
    pub(crate) repo_count: usize,
    /// Members with changes that are committed nowhere.
    pub(crate) dirty_repos: Vec<String>,
    pub(crate) has_dirty_repos: bool,
}

/// A workspace as its WORKSPACE.md tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// `worktree` or `clone`.
    pub(crate) strategy: Option<String>,
    pub(crate) members: Vec<Member>,
}

/// A repository of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) branch: String,
    pub(crate) strategy: String,
}

impl Workspace {
    pub(crate) fn parse(text: &str) -> Self {
        let strategy =
            text.lines().find_map(|line| line.strip_prefix("Strategy:")).map(|value| value.trim().to_owned());
        let rows = text.lines().filter(|line| line.trim_start().starts_with('|')).map(table_cells);
        let members = rows.filter(|cells| !is_frame(cells)).filter_map(|cells| {
            let [name, source, branch, strategy] = cells.get(..4)?.try_into().ok()?;
            let owned = |cell: &str| cell.to_owned();
            let (source, branch, strategy) = (owned(source), owned(branch), owned(strategy));
            Some(Member { name: owned(name), source, branch, strategy })
        });
        Self { strategy: strategy.filter(|strategy| !strategy.is_empty()), members: members.collect() }
    }
}

/// The header of the table of members, or the line below it.
fn is_frame(cells: &[&str]) -> bool {
    let first = cells.first().copied().unwrap_or_default();
    // A repository may be called as its column is.
    let is_head = cells.iter().zip(["repo", "source"]).all(|(cell, head)| cell.eq_ignore_ascii_case(head));
    is_head || first.bytes().all(|byte| matches!(byte, b'-' | b':' | b' '))
}

impl Bundle<'_> {
    /// Ends a report about workspaces as all bundles end.
    pub(crate) fn workspace<R>(&self, report: R) -> Result<Complete<R>, FileError> {
        self.complete(report)
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn a_workspace_is_read_from_its_document() {
        let text = "# Workspace: feat\n\nStrategy: worktree\n\n| Repo | Source | Branch | Strategy |\n|---|:--|---|---|\n\
            | a | /src/a | workspace/feat | worktree |\n| repo | /src/repo | b | clone |\n| broken |\n";
        let workspace = Workspace::parse(text);
        assert_eq!(workspace.strategy.as_deref(), Some("worktree"));
        assert_eq!(workspace.members.len(), 2, "a repository named as its column");
        assert_eq!((workspace.members[0].name.as_str(), workspace.members[0].source.as_str()), ("a", "/src/a"));
        assert_eq!(Workspace::parse(""), Workspace::default());
    }
}
