//! Workspaces: folders in the user's home, outside any project.

use crate::acts::Call;
use crate::disk::{self, AbsolutePath};
use crate::failure::{Failure, Reason};
use crate::operations::bundle::{
    ChildRepository, NewWorkspace, OldWorkspace, Workspace, WorkspaceReport, WorkspacesReport,
};
use crate::project::git_settings::names_no_filter;
use crate::project::repository;
use crate::world::Program;

const BASE: &str = "gsd-workspaces";
const DOCUMENT: &str = "WORKSPACE.md";

/// The starting point for making a workspace.
pub(crate) fn new(call: &Call) -> Result<NewWorkspace, Failure> {
    let root = call.root();
    let entries = disk::list(root)?.unwrap_or_default();
    let mut repositories = Vec::new();
    for entry in entries.iter().filter(|entry| entry.is_folder() && entry.name != ".git") {
        let folder = root.resolve(&entry.name);
        if repository::is_repository(&folder) {
            let (path, has_uncommitted) = (shown(&folder), is_dirty(call, &folder));
            repositories.push(ChildRepository { name: entry.name.clone(), path, has_uncommitted });
        }
    }
    repositories.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(NewWorkspace {
        base: shown(&base(call)?),
        repositories,
        has_git: call.world().run(&Program::new("git").arguments(["--version"])).is_ok(),
        is_repository: repository::repository_of(root).is_some(),
        name: root.name(),
    })
}

/// The existing workspaces.
pub(crate) fn list(call: &Call) -> Result<WorkspacesReport, Failure> {
    let base = base(call)?;
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
    Ok(WorkspacesReport { workspace_base: shown(&base), workspaces, workspace_count })
}

/// The starting point for removing a workspace.
pub(crate) fn remove(call: &Call, name: &str) -> Result<OldWorkspace, Failure> {
    let base = base(call)?;
    let folder = base.resolve(name);
    // A name that leads elsewhere does not name a workspace.
    if folder.parent().as_ref() != Some(&base) || !disk::is_folder(&folder) {
        return Err(Failure::new(Reason::Usage, format!("there is no workspace `{name}`"))
            .hint("`gsd-tools init list-workspaces` lists them"));
    }
    let text = disk::read_text(folder.resolve(DOCUMENT))?;
    let workspace = text.as_deref().map(Workspace::parse);
    let members = workspace.iter().flat_map(|workspace| &workspace.members).map(|member| member.name.as_str());
    let dirty = members.filter(|name| is_dirty(call, &folder.resolve(name))).map(str::to_owned).collect();
    Ok(OldWorkspace { name: name.to_owned(), path: shown(&folder), workspace, dirty })
}

fn base(call: &Call) -> Result<AbsolutePath, Failure> {
    let home = call.world().home().ok_or_else(|| Failure::usage("there is no home folder"))?;
    Ok(AbsolutePath::parse(home.join(BASE))?)
}

/// True if a repository has uncommitted changes. False for a folder that is not a repository.
fn is_dirty(call: &Call, folder: &AbsolutePath) -> bool {
    if !repository::is_repository(folder) {
        return false;
    }
    let status = call.world().git_differences(folder.as_path(), names_no_filter, ["status", "--porcelain"]);
    // If git fails, work may well be lost.
    status.map_or(true, |finished| !finished.success() || !finished.stdout.is_empty())
}

fn shown(path: &AbsolutePath) -> String {
    path.as_path().to_string_lossy().replace('\\', "/")
}
