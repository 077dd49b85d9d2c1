//! `init new-workspace`, `list-workspaces` and `remove-workspace`: folders outside the project with worktrees or clones
//! of several repositories for one piece of work.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::roadmap::table_cells;

use crate::operations::facts::{FactBasis, Given, facts};

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

/// Facts for a new workspace.
#[derive(Default)]
pub(crate) struct NewWorkspace {
    pub(crate) base: String,
    pub(crate) repositories: Vec<ChildRepository>,
    pub(crate) has_git: bool,
    pub(crate) is_repository: bool,
    /// The name of the project's folder.
    pub(crate) name: String,
}

/// A repository in a folder of the project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ChildRepository {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) has_uncommitted: bool,
}

/// An existing workspace.
#[derive(Default)]
pub(crate) struct OldWorkspace {
    pub(crate) name: String,
    pub(crate) path: String,
    /// Absent without a WORKSPACE.md: then nothing is known about the workspace.
    pub(crate) workspace: Option<Workspace>,
    /// Members with uncommitted changes.
    pub(crate) dirty: Vec<String>,
}

/// A workspace as described in its WORKSPACE.md.
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

/// True for the header of the table of members and the line below it.
fn is_frame(cells: &[&str]) -> bool {
    let first = cells.first().copied().unwrap_or_default();
    // A repository may have the same name as its column.
    let is_head = cells.iter().zip(["repo", "source"]).all(|(cell, head)| cell.eq_ignore_ascii_case(head));
    is_head || first.bytes().all(|byte| matches!(byte, b'-' | b':' | b' '))
}

impl Workspace {
    /// How the members were created, or `unknown`.
    pub(crate) fn strategy(&self) -> String {
        self.strategy.clone().unwrap_or_else(|| "unknown".to_owned())
    }
}

impl FactBasis for NewWorkspace {
    fn of(_: &Given<'_>) -> Result<Self, FileError> {
        Ok(Self::default())
    }
}

impl FactBasis for OldWorkspace {
    fn of(_: &Given<'_>) -> Result<Self, FileError> {
        Ok(Self::default())
    }
}

impl OldWorkspace {
    fn workspace(&self) -> Workspace {
        self.workspace.clone().unwrap_or_default()
    }
}

/// Facts about a workspace to be created.
pub(super) mod new {
    use super::{ChildRepository, NewWorkspace, facts};

    facts! { |given, new: NewWorkspace|
        /// The folder that workspaces are created in.
        default_workspace_base: String = new.base.clone();
        /// The repositories in folders of the project.
        child_repos: Vec<ChildRepository> = new.repositories.clone();
        /// The number of these repositories.
        child_repo_count: usize = new.repositories.len();
        /// True if git can create worktrees.
        worktree_available: bool = new.has_git;
        /// True if the project is in a repository.
        is_git_repo: bool = new.is_repository;
        /// The name of the project's folder.
        cwd_repo_name: String = new.name.clone();
    }
}

facts! { |given, old: OldWorkspace|
    /// The name of the workspace.
    workspace_name: String = old.name.clone();
    /// The folder of the workspace.
    workspace_path: String = old.path.clone();
    /// True if the workspace has a WORKSPACE.md.
    has_manifest: bool = old.workspace.is_some();
    /// How the members were created: `worktree`, `clone` or `unknown`.
    strategy: String = old.workspace().strategy();
    /// The members of the workspace.
    repos: Vec<Member> = old.workspace().members;
    /// The number of members.
    repo_count: usize = old.workspace().members.len();
    /// Members with uncommitted changes.
    dirty_repos: Vec<String> = old.dirty.clone();
    /// True if a member has uncommitted changes.
    has_dirty_repos: bool = !old.dirty.is_empty();
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
