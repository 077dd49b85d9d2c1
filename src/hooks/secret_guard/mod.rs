//! Refuses to read files with secrets, because text that was read stays in the conversation.
//!
//! A table lists these files, [`names`]. A command line is read as a shell would read it: a name in a message or in a
//! list of ignored files does not read the file. An unknown program is assumed to show the files it is given; loading
//! values into a program's environment is allowed unless something in the same line shows them.

mod code;
mod command;
mod environment;
#[cfg(test)]
mod figures;
mod filters;
mod ignored;
mod judge;
mod names;
mod place;
mod programs;
mod search;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::BTreeSet;
use std::path::Path;

use self::judge::Judge;
use self::names::{GuardedNames, SecretKind};
use self::place::{Reach, WorkingFolder};
use self::search::Hit;
use super::payload::Payload;
use super::scene::{HookProject, Scene};
use super::verdict::Reaction;
use crate::disk;
use crate::library::ToolSet;
use crate::text::shell::{Spelling, shell_word};
use crate::world::World;

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    let payload = scene.payload;
    let Some(tool @ (ToolSet::Read | ToolSet::Search | ToolSet::Shell)) = payload.tool() else {
        return Reaction::Nothing;
    };
    let project = scene.project;
    let names = GuardedNames::with(project.user().written(SETTING), project.setting(SETTING));
    let judge = Judge::new(&names, Some(WorkingFolder::new(scene.here, scene.world.home())));
    let hit = match tool {
        ToolSet::Shell => payload.command().and_then(|command| command::shown_by(&command, judge)),
        ToolSet::Read => read_by_tool(scene, &judge),
        _ => read_by_tool(scene, &judge).or_else(|| searched(scene, &judge)),
    };
    hit.map_or(Reaction::Nothing, |hit| {
        Reaction::block("SECRET_READ", reason(&hit, names.row(&hit.file).map(|row| row.kind)))
    })
}

/// The projects with the files that a tool or a command line names, for work outside of every project.
pub(super) fn projects_named(world: &World, payload: &Payload) -> Vec<HookProject> {
    const MOST: usize = 16;
    let line = match payload.tool() {
        Some(ToolSet::Shell) => payload.command(),
        Some(ToolSet::Read | ToolSet::Search) => Some(payload.paths().join("\n")),
        _ => None,
    };
    let place = WorkingFolder::new(Path::new("/"), world.home());
    let line = line.unwrap_or_default();
    let ends_name = |letter: char| letter.is_whitespace() || "'\"=;&|()<>$`:,".contains(letter);
    let named: BTreeSet<&str> = line.split(ends_name).filter(|word| word.starts_with(['/', '~'])).collect();
    let mut projects: Vec<HookProject> = Vec::new();
    for path in named.into_iter().take(MOST).filter_map(|name| place.path(name)) {
        let folder = if disk::is_folder(&path) { Some(path.as_path()) } else { path.parent() };
        let project = folder.and_then(|folder| HookProject::find(folder, world, payload.session()));
        let Some(project) = project else { continue };
        if projects.iter().all(|known| known.root != project.root) {
            projects.push(project);
        }
    }
    projects
}

/// Patterns of file names that the user adds to the table or excepts from it.
const SETTING: &str = "security.secret_files";

/// The secret file that a script would show, judged only by names.
#[cfg(any(test, fuzzing))]
pub(super) fn read_by(script: &str) -> Option<String> {
    command::shown_by(script, Judge::new(&GuardedNames::default(), None)).map(|hit| hit.file)
}

fn read_by_tool(scene: &Scene<'_>, judge: &Judge<'_>) -> Option<Hit> {
    let file = scene.payload.paths().into_iter().find(|path| judge.is_secret(path))?;
    Some(Hit { file, found: false })
}

/// What a search tool shows of secret files: those of a kind that it is asked for, or those in the folder it searches.
fn searched(scene: &Scene<'_>, judge: &Judge<'_>) -> Option<Hit> {
    let payload = scene.payload;
    let text = |keys: &[&str]| payload.input(keys).and_then(serde_json::Value::as_str).map(str::to_owned);
    let glob = text(GLOB_KEYS);
    if let Some(glob) = &glob {
        let pattern = Spelling::pattern(glob);
        if judge.names.searches(&pattern) {
            return Some(Hit { file: glob.clone(), found: false });
        }
    }
    // A list of names shows no text; neither does the default mode of some tools, which needs no argument.
    let pattern = text(&["pattern", "regex", "query"])?;
    let mode = text(&["output_mode"]);
    let is_quiet = if payload.tool_name() == Some("Grep") {
        mode.as_deref() != Some("content")
    } else {
        mode.is_some_and(|mode| mode != "content")
    };
    if is_quiet || payload.tool_name().is_some_and(lists_names) {
        return None;
    }
    let folder = payload.paths().into_iter().next().unwrap_or_else(|| ".".to_owned());
    let found = judge.secrets_below(&folder, Reach { hidden: true, ignored: false });
    let globs = glob.map(|glob| Spelling::pattern(&glob));
    let is_looked_at = |name: &str| {
        let file = name.rsplit('/').next().unwrap_or_default();
        globs.as_ref().is_none_or(|glob| match glob.behind('!').filter(|_| glob.starts_with("!")) {
            Some(left_out) => !left_out.names().iter().any(|name| name.file_name().fits(file)),
            None => glob.names().iter().any(|name| name.file_name().fits(file)),
        })
    };
    let mut found = found.into_iter().filter(|(name, _)| is_looked_at(name));
    let file = found.find(|(name, content)| search::shows(&pattern, content, judge.is_environment(name)))?.0;
    Some(Hit { file, found: true })
}

/// True if a search tool lists only names of files.
fn lists_names(tool: &str) -> bool {
    let name = tool.to_lowercase();
    ["glob", "find_by_name", "file_search", "list_dir", "list_files", "list_directory", "ls"].contains(&name.as_str())
}

fn reason(hit: &Hit, kind: Option<SecretKind>) -> String {
    let file = &hit.file;
    let why = format!("`{file}` holds secrets, and what is read here stays in the conversation.");
    if hit.found {
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        return format!(
            "this would show values of `{file}`, which holds secrets, and what is read here stays in the conversation. \
             Instead, leave it out (`--exclude={name}` of grep, `-g '!{name}'` of rg, `-not -name {name}` of find, the glob \
             `!{name}` of a tool), or ask the user."
        );
    }
    match loads(file, kind) {
        Some(script) => format!(
            "{why} Instead, load the values without showing them (`{script}`) in the command that needs them, read an \
             example such as `.env.example` for their names, or ask the user."
        ),
        None => {
            format!("{why} Instead, give its name to the program that needs it, or ask the user to run the command.")
        }
    }
}

/// The script that loads the values of a file into shell variables; for a pattern, the one for the usual file.
fn loads(file: &str, kind: Option<SecretKind>) -> Option<String> {
    let name = Path::new(file).file_name()?.to_string_lossy();
    let is_environment = kind == Some(SecretKind::Environment) || kind.is_none() && name.starts_with(".env");
    if !is_environment || file.split(['/', '\\']).any(|part| part == ".secrets") {
        return None;
    }
    let is_path = !file.contains(['*', '?', '[', '{', ':', '$', '`', '…']);
    let path = match file {
        _ if !is_path => "./.env".to_owned(),
        file if file.starts_with(['/', '~', '.']) && file.contains('/') => file.to_owned(),
        file => format!("./{file}"),
    };
    Some(format!("set -a; . {}; set +a", shell_word(&path)))
}

/// The keys under which hosts put the names of the files that a search examines.
const GLOB_KEYS: &[&str] = &["glob", "include", "include_pattern", "includes", "file_pattern", "glob_pattern"];
