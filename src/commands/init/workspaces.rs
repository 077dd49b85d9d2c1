//! Workspaces: folders in the user's home, outside any project.

use super::answer;
use super::arguments::WorkspaceArgs;
use crate::commands::frame::Context;
use crate::disk::{self, AbsolutePath};
use crate::failure::{Failure, Reason};
use crate::operations::bundle::{
    ChildRepository, NewWorkspace, OldWorkspace, Workspace, WorkspaceReport, WorkspacesReport,
};
use crate::operations::facts::Call;
use crate::project::git_settings::names_no_filter;
use crate::project::repository;
use crate::world::Program;

const BASE: &str = "gsd-workspaces";
const DOCUMENT: &str = "WORKSPACE.md";

/// What making a workspace starts from.
pub(super) fn new(context: &mut Context) -> Result<(), Failure> {
    let root = context.root();
    let entries = disk::list(root)?.unwrap_or_default();
    let mut repositories = Vec::new();
    for entry in entries.iter().filter(|entry| entry.is_folder() && entry.name != ".git") {
        let folder = root.resolve(&entry.name);
        if repository::is_repository(&folder) {
            let (path, has_uncommitted) = (shown(&folder), is_dirty(context, &folder));
            repositories.push(ChildRepository { name: entry.name.clone(), path, has_uncommitted });
        }
    }
    repositories.sort_by(|left, right| left.name.cmp(&right.name));
    let new = NewWorkspace {
        base: shown(&base(context)?),
        repositories,
        has_git: context.world().run(&Program::new("git").arguments(["--version"])).is_ok(),
        is_repository: repository::repository_of(root).is_some(),
        name: root.name(),
    };
    answer(context, Call::of("new-workspace").with(new))
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
            strategy: workspace.strategy(),
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
    let workspace = text.as_deref().map(Workspace::parse);
    let members = workspace.iter().flat_map(|workspace| &workspace.members).map(|member| member.name.as_str());
    let dirty = members.filter(|name| is_dirty(context, &folder.resolve(name))).map(str::to_owned).collect();
    let old = OldWorkspace { name: name.to_owned(), path: shown(&folder), workspace, dirty };
    answer(context, Call::of("remove-workspace").with(old))
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
