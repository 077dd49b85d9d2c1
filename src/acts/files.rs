//! Files that a call names by path: reading and writing them, and the answer if one does not exist.
//!
//! A command that acts through git, or on files that are not documents, takes `--dry-run` as well: [`change`] then
//! takes no lock, checks whether the changes could be made, and shows them. Git runs the same steps on a separate
//! index and object store (`GitScratch`). Hooks of the repository, servers and other programs are not called.

use std::path::{Path, PathBuf};

use super::Call;
use super::writing::Target;
use crate::disk::{self, AbsolutePath, Change, ChangeSet, Digest, DiskError, RelativePath};
use crate::failure::Failure;
use crate::operations::answers::changes::WholeFile;
use crate::project::repository;

/// The text of a file that a call names: in the project as its documents are read, elsewhere any file that a person
/// means, including a pipe of their shell.
pub(crate) fn read(call: &Call, path: &AbsolutePath) -> Result<Option<String>, Failure> {
    let boundary = call.project().boundary()?;
    if !boundary.is_about(path) {
        hold_agents_off(call, path)?;
        return Ok(disk::read_input(path)?);
    }
    boundary.check(path)?;
    Ok(disk::read_text(path)?)
}

/// Refuses an agent a file of the user's: a host's rules cannot forbid what this program reads without asking. Everyone
/// may use the folder for temporary files, a shell's own pipes, and other worktrees of the project.
pub(crate) fn hold_agents_off(call: &Call, path: &AbsolutePath) -> Result<(), Failure> {
    const PIPES: [&str; 3] = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"];
    let typed = path.to_string();
    if PIPES.iter().any(|pipe| typed.starts_with(pipe)) {
        return Ok(());
    }
    let real = disk::real(path)?;
    let folder = |path: PathBuf| disk::canonical(&AbsolutePath::parse(path)?);
    let main =
        |folder: &AbsolutePath| disk::canonical(&repository::main_worktree(folder).unwrap_or_else(|| folder.clone()));
    let of_project = match repository::repository_of(&real) {
        Some(repository) => main(&repository)? == main(call.root())?,
        None => false,
    };
    // Some agents do not know the user's folder for temporary files.
    let everybodys = cfg!(unix).then(|| PathBuf::from("/tmp"));
    let temporary = [Some(call.world().temporary_folder()), everybodys].into_iter().flatten();
    let temporary: Vec<AbsolutePath> = temporary.map(folder).collect::<Result<_, DiskError>>()?;
    if of_project || temporary.iter().any(|temporary| real.is_within(temporary)) {
        return Ok(());
    }
    let Some(name) = call.agent_session()? else { return Ok(()) };
    let refused = format!("`{path}` is outside the project, and an agent runs this call: {name} is set");
    Err(Failure::usage(refused).exits(77).hint("copy what it needs into the project, or ask the user to run the call"))
}

/// Refuses an agent to write outside the project, to `typed`: hosts run such calls without asking.
pub(crate) fn hold_agents_to_project(call: &Call, typed: &str) -> Result<(), Failure> {
    let Some(name) = call.agent_session()? else { return Ok(()) };
    let refused = format!("`{typed}` is outside the project, and an agent runs this call: {name} is set");
    let told = Failure::usage(refused).exits(77);
    Err(told.hint(format!("name a file below `{}`, or ask the user to run the call", call.root())))
}

/// The path of a file that a call is to write, which has to be in the project.
pub(crate) fn output(call: &Call, path: AbsolutePath) -> Result<AbsolutePath, Failure> {
    let boundary = call.project().boundary()?;
    if !boundary.is_about(&path) {
        return Err(Failure::usage(format!("`{path}` is outside the project"))
            .hint(format!("name a file below `{}`", call.root())));
    }
    boundary.check(&path)?;
    Ok(path)
}

/// The text of a file by its path from the current folder.
pub(crate) fn text_from_here(call: &Call, path: &str) -> Result<Option<String>, Failure> {
    read(call, &call.here().resolve(path))
}

/// The text of a file by its path from the project's root.
pub(crate) fn text_from_root(call: &Call, path: &str) -> Result<Option<String>, Failure> {
    read(call, &call.root().resolve(path))
}

/// What is answered about a file that a call names and that is not there.
pub(crate) fn not_there(path: &str) -> Failure {
    let missing = Failure::usage(format!("there is no file `{path}`"));
    missing.hint("check the path; it is relative to the current folder").answered_about("File not found", "path", path)
}

/// As [`text_from_root`], for calls that cannot do without the file.
pub(crate) fn needed_from_root(call: &Call, path: &str) -> Result<String, Failure> {
    text_from_root(call, path)?.ok_or_else(|| {
        let missing = Failure::usage(format!("there is no file `{path}`"));
        missing.hint("check the path; a relative one starts at the project's root")
    })
}

/// As [`Call::write`], for one file that is not a document of the project: `edit` gets its text and returns the new
/// one, if it is to change.
pub(crate) fn edit<R>(
    call: &Call,
    path: &AbsolutePath,
    edit: impl FnOnce(Option<&str>) -> Result<(R, Option<String>), Failure>,
) -> Result<R, Failure> {
    edit_text(call, path, || read(call, path), edit)
}

/// As [`edit`], for this program's notes outside the project, whose paths no call can name.
pub(crate) fn edit_note<R>(
    call: &Call,
    path: &AbsolutePath,
    edit: impl FnOnce(Option<&str>) -> Result<(R, Option<String>), Failure>,
) -> Result<R, Failure> {
    edit_text(call, path, || Ok(disk::read_text(path)?), edit)
}

fn edit_text<R>(
    call: &Call,
    path: &AbsolutePath,
    read: impl FnOnce() -> Result<Option<String>, Failure>,
    edit: impl FnOnce(Option<&str>) -> Result<(R, Option<String>), Failure>,
) -> Result<R, Failure> {
    change(call, &[&path.parent().unwrap_or_else(|| path.clone())], |changes| {
        let text = read()?;
        let (report, edited) = edit(text.as_deref())?;
        if let Some(edited) = edited {
            changes.write(path.clone(), edited, text.map(|text| Digest::of(text.as_bytes())));
        }
        Ok(report)
    })
}

/// Makes the changes in `trees` that `decide` asks for, all of them or none. A rehearsal checks whether they could be
/// made and shows them, without a lock, since a lock is a file.
pub(crate) fn change<R>(
    call: &Call,
    trees: &[&AbsolutePath],
    decide: impl FnOnce(&mut ChangeSet) -> Result<R, Failure>,
) -> Result<R, Failure> {
    if call.is_rehearsal() {
        let mut changes = ChangeSet::default();
        let report = decide(&mut changes)?;
        call.project().boundary()?.check_all(&changes)?;
        disk::check(trees, &changes)?;
        for change in changes.iter() {
            call.note_rehearsed(&diff_of(call, change)?);
        }
        return Ok(report);
    }
    call.disk().transact(trees, |_, changes| {
        let report = decide(changes)?;
        if !changes.is_empty() {
            call.project().boundary()?.check_all(changes)?;
        }
        Ok(report)
    })
}

/// The lines of a file that a change affects, as a diff.
fn diff_of(call: &Call, change: &Change) -> Result<String, Failure> {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let after = match change {
        Change::WriteFile { bytes, .. } => Some(lossy(bytes)),
        Change::RemoveFile { .. } => None,
        Change::LinkProgram { .. } | Change::MakeFolder { .. } | Change::RemoveFolder { .. } => {
            return Ok(String::new());
        }
    };
    let path = change.path();
    let shown = path.relative_to(call.root()).map_or_else(|| path.to_string(), |path| path.to_string());
    let before = disk::read_bytes(path)?.map(|bytes| lossy(&bytes));
    Ok(WholeFile { path: &shown, before: before.as_deref(), after: after.as_deref() }.diff())
}

/// Refuses an agent a file that other programs execute or obey, such as a git hook, a script or the settings of a host:
/// a host's rules cannot forbid what this program writes without asking.
fn hold_agents_to_documents(call: &Call, typed: &str, inside: &RelativePath) -> Result<(), Failure> {
    let planned = inside.as_str().strip_prefix(".planning/");
    let folders = planned.unwrap_or(inside.as_str()).rsplit_once('/').map_or("", |(folders, _)| folders);
    let is_hidden = folders.split('/').any(|part| part.starts_with('.') && part != ".planning");
    let extension = Path::new(inside.as_str()).extension().and_then(|extension| extension.to_str());
    let is_document = match extension {
        Some("md") => true,
        Some("json") => planned.is_some(),
        _ => false,
    };
    let is_read_by_a_host = || {
        let hosts = call.registry()?.all()?;
        let name = inside.segments().last();
        // A host looks for it in its own folder as well.
        let is_named = |file: &str| file.rsplit('/').next() == name;
        Ok::<_, Failure>(hosts.iter().any(|host| is_named(&host.instruction_file)))
    };
    if (is_document && !is_hidden) || is_read_by_a_host()? {
        return Ok(());
    }
    let Some(name) = call.agent_session()? else { return Ok(()) };
    let refused = format!("`{typed}` is not a document, and an agent runs this call: {name} is set");
    Err(Failure::usage(refused).exits(77).hint("name a Markdown file, or ask the user to run the call"))
}

/// What [`Call::write`] has to lock for one file of the project, named by its path from the current folder, and its
/// path in the project. The file need not be a document of the project; outside of the project nothing is written.
pub(crate) fn target(call: &Call, path: &str) -> Result<(Target, String), Failure> {
    let file = call.here().resolve(path);
    let Some(inside) = file.relative_to(call.root()) else {
        return Err(Failure::usage(format!("`{path}` is outside the project"))
            .hint(format!("the project is `{}`", call.root())));
    };
    hold_agents_to_documents(call, path, &inside)?;
    let planning = call.project().locked_tree();
    let tree = if file.as_path().starts_with(&planning) { planning } else { call.root().as_path().to_path_buf() };
    Ok((Target::Tree(tree), inside.as_str().to_owned()))
}

/// Refuses a folder that a call names if it is outside of the project: an agent may use none of them, and a person none
/// that seems to be inside but is outside because of a link.
pub(crate) fn hold_to_project(call: &Call, folder: &AbsolutePath) -> Result<(), Failure> {
    let boundary = call.project().boundary()?;
    if boundary.is_about(folder) {
        return Ok(boundary.check(folder)?);
    }
    hold_agents_off(call, folder)
}

/// The error for a missing file that a call names; a relative path was read from `start`.
pub(crate) fn file_not_found(path: &AbsolutePath, start: &AbsolutePath) -> Failure {
    Failure::usage(format!("file not found: `{path}`"))
        .hint(format!("check the path; a relative one starts at `{start}`"))
}
