//! Workspaces: folders in the user's home, outside any project.

use super::answer;
use super::arguments::WorkspaceArgs;
use crate::commands::frame::Context;
use crate::disk::{self, AbsolutePath};
use crate::failure::{Failure, Reason};
use crate::operations::bundle::{
    ChildRepository, NewWorkspaceReport, RemoveWorkspaceReport, Workspace, WorkspaceReport, WorkspacesReport,
};
use crate::project::git_settings::names_no_filter;
use crate::project::repository;
use crate::world::Program;

const BASE: &str = "gsd-workspaces";
const DOCUMENT: &str = "WORKSPACE.md";

/// What making a workspace starts from.
pub(super) fn new(context: &mut Context) -> Result<(), Failure> {
    let root = context.root();
    let entries = disk::list(root)?.unwrap_or_default();
    let mut child_repos = Vec::new();
    for entry in entries.iter().filter(|entry| entry.is_folder() && entry.name != ".git") {
        let folder = root.resolve(&entry.name);
        if repository::is_repository(&folder) {
            let path = shown(&folder);
            child_repos.push(ChildRepository {
                name: entry.name.clone(),
                path,
                has_uncommitted: is_dirty(context, &folder),
            });
        }
    }
    child_repos.sort_by(|left, right| left.name.cmp(&right.name));
    let report = NewWorkspaceReport {
        default_workspace_base: shown(&base(context)?),
        child_repo_count: child_repos.len(),
        child_repos,
        worktree_available: context.world().run(&Program::new("git").arguments(["--version"])).is_ok(),
        is_git_repo: repository::repository_of(root).is_some(),
        cwd_repo_name: root.name(),
    };
    answer(context, |bundle| bundle.workspace(report))
}

/// The workspaces there are.
pub(super) fn list(context: &mut Context) -> Result<(), Failure> {
    let base = base(context)?;
    let mut workspaces = Vec::new();
    for entry in disk::list(&base)?.unwrap_or_default().into_iter().filter(disk::Entry::is_folder) {
        let folder = base.resolve(&entry.name);
        let Some(text) = disk::read_text(folder.resolve(DOCUMENT))? else { continue };
        let workspace = Workspace::parse(&text);
        workspaces.push(WorkspaceReport {
            name: entry.name,
            repo_count: workspace.members.len(),
            strategy: workspace.strategy.unwrap_or_else(unknown),
            has_project: disk::exists(folder.resolve(".planning/PROJECT.md")),
            path: shown(&folder),
        });
    }
    workspaces.sort_by(|left, right| left.name.cmp(&right.name));
    let workspace_count = workspaces.len();
    context.emit(&WorkspacesReport { workspace_base: shown(&base), workspaces, workspace_count })
}

/// What removing a workspace starts from.
pub(super) fn remove(context: &mut Context, arguments: &WorkspaceArgs) -> Result<(), Failure> {
    let name: &str = &arguments.name;
    let base = base(context)?;
    let folder = base.resolve(name);
    // A name that leads elsewhere names no workspace.
    if folder.parent().as_ref() != Some(&base) || !disk::is_folder(&folder) {
        return Err(Failure::new(Reason::Usage, format!("there is no workspace `{name}`"))
            .hint("`gsd-tools init list-workspaces` lists them"));
    }
    let text = disk::read_text(folder.resolve(DOCUMENT))?;
    let workspace = text.as_deref().map(Workspace::parse).unwrap_or_default();
    let members = workspace.members.iter().map(|member| member.name.as_str());
    let dirty: Vec<String> =
        members.filter(|name| is_dirty(context, &folder.resolve(name))).map(str::to_owned).collect();
    let report = RemoveWorkspaceReport {
        workspace_name: name.to_owned(),
        workspace_path: shown(&folder),
        has_manifest: text.is_some(),
        strategy: workspace.strategy.unwrap_or_else(unknown),
        repo_count: workspace.members.len(),
        repos: workspace.members,
        has_dirty_repos: !dirty.is_empty(),
        dirty_repos: dirty,
    };
    answer(context, |bundle| bundle.workspace(report))
}

fn base(context: &Context) -> Result<AbsolutePath, Failure> {
    let home = context.world().home().ok_or_else(|| Failure::usage("there is no home folder"))?;
    Ok(AbsolutePath::parse(home.join(BASE))?)
}

/// Whether a repository has changes that are committed nowhere. A folder that is none has not.
fn is_dirty(context: &Context, folder: &AbsolutePath) -> bool {
    if !repository::is_repository(folder) {
        return false;
    }
    let status = context.world().git_differences(folder.as_path(), names_no_filter, ["status", "--porcelain"]);
    // What git cannot tell may well be lost.
    status.map_or(true, |finished| !finished.success() || !finished.stdout.is_empty())
}

fn shown(path: &AbsolutePath) -> String {
    path.as_path().to_string_lossy().replace('\\', "/")
}

fn unknown() -> String {
    "unknown".to_owned()
}
