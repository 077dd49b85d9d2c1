//! Refuses a call of this program on a line with something else that the host would run with it without asking.
//!
//! `install` lets a host run calls of this program unasked. The rules of some hosts cover more of a line than the call:
//! each host's descriptor lists the parts that it does not see. On such a host a line with a call is read strictly
//! ([`PlainLine`]), and a line that cannot be read so is refused: a list of dangerous constructs would always be
//! incomplete.

use std::path::{Component, Path, PathBuf};

use super::payload::Payload;
use super::scene::{self, Scene};
use super::verdict::Reaction;
use crate::disk::{self, AbsolutePath};
use crate::runtime::LinePart;
use crate::text::shell::{NotPlain, PlainLine, PlainWord};
use crate::world::World;

/// The name of our program.
const PROGRAM: &str = "gsd-tools";

/// Programs and keywords of shells that may set a variable, run text passed to them, or change what a later word means:
/// all of bash's and zsh's except a few that only print, compare or change the folder.
const CHANGING: &[&str] = &[
    "-",
    ".",
    "alias",
    "autoload",
    "bg",
    "bind",
    "bindkey",
    "break",
    "builtin",
    "bye",
    "caller",
    "case",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disable",
    "disown",
    "emulate",
    "enable",
    "end",
    "env",
    "esac",
    "eval",
    "exec",
    "export",
    "fc",
    "fg",
    "float",
    "for",
    "foreach",
    "function",
    "functions",
    "getln",
    "getopts",
    "hash",
    "help",
    "history",
    "in",
    "integer",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "nameref",
    "nocorrect",
    "noglob",
    "print",
    "private",
    "pushln",
    "r",
    "read",
    "readarray",
    "readonly",
    "rehash",
    "repeat",
    "return",
    "sched",
    "select",
    "set",
    "setopt",
    "shift",
    "shopt",
    "source",
    "suspend",
    "time",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unfunction",
    "unhash",
    "unset",
    "unsetopt",
    "vared",
    "wait",
    "zcompile",
    "zformat",
    "zle",
    "zmodload",
    "zparseopts",
    "zpty",
    "zstyle",
    "zsystem",
    "[[",
    "]]",
];

/// Programs of shells that change nothing but evaluate arithmetic: `a[$(...)]` among their words runs its contents.
const CALCULATING: &[&str] = &["[", "exit", "printf", "test"];

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    look_in(scene.world, scene.payload, &[scene.here, &scene.project.root])
}

/// As [`look`], outside of projects: a host allows calls of this program everywhere.
pub(super) fn look_in(world: &World, payload: &Payload, folders: &[&Path]) -> Reaction {
    let Some(line) = payload.command().filter(|line| may_call(line)) else { return Reaction::Nothing };
    let Some(host) = scene::host(world) else { return Reaction::Nothing };
    if payload.permission_mode().is_some_and(|mode| host.asking.silent_modes.iter().any(|silent| silent == mode)) {
        return Reaction::Nothing;
    }
    let kept = folders.iter().map(|folder| folder.to_path_buf()).chain(world.home());
    let kept = kept.chain([world.private_temporary_folder()]).filter_map(real).collect();
    let places = OutputPlaces { temporary: real(world.temporary_folder()), kept };
    let blind_to = host.asking.blind_in(payload.permission_mode());
    let Some(what) = found(&line, &blind_to, &places) else { return Reaction::Nothing };
    Reaction::block(
        "UNASKED_LINE",
        format!(
            "`{PROGRAM}` runs without asking here, and {what}. Instead, write only this call on one line, with its \
             values in single quotes and without redirecting its output."
        ),
    )
}

/// Where output may go: below the folder for temporary files, but not in a folder with files that matter.
struct OutputPlaces {
    temporary: Option<PathBuf>,
    kept: Vec<PathBuf>,
}

fn real(folder: PathBuf) -> Option<PathBuf> {
    Some(disk::canonical(&AbsolutePath::parse(folder).ok()?).ok()?.as_path().to_path_buf())
}

/// True if a call of this program may be in the text, quoted or not: the program's path, or its name at the start of a
/// command.
fn may_call(text: &str) -> bool {
    let joined = text.replace("\\\n", "").replace(['\'', '"'], "");
    [joined.replace('\\', ""), joined.replace('\\', "/")].iter().any(|text| {
        text.match_indices(PROGRAM).any(|(at, _)| {
            let (before, behind) = (&text[..at], &text[at + PROGRAM.len()..]);
            let goes_on = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/' | '.');
            let is_whole = behind.starts_with(".exe") || !behind.starts_with(goes_on);
            let begins = before.trim_end_matches([' ', '\t']);
            let is_first = begins.is_empty() || begins.ends_with(['\n', ';', '&', '|', '(', '{', '!', '`']);
            is_whole && (before.ends_with('/') || is_first || is_behind_assignment(begins))
        })
    })
}

/// True if the last word of a text sets a variable.
fn is_behind_assignment(text: &str) -> bool {
    text.rsplit([' ', '\t', '\n', ';', '&', '|', '(']).next().is_some_and(|word| word.contains('='))
}

/// What the host would let through together with a call of this program.
fn found(line: &str, blind_to: &[LinePart], places: &OutputPlaces) -> Option<String> {
    if blind_to.is_empty() || !may_call(line) {
        return None;
    }
    let line = match PlainLine::read(line) {
        Ok(line) => line,
        Err(NotPlain(what)) => return Some(format!("{what} on the same line cannot be checked")),
    };
    let changing = || line.commands.iter().find_map(|words| changing(words));
    blind_to.iter().find_map(|part| match part {
        LinePart::Substitution if line.substitutes => Some("a command inside its words would run too".to_owned()),
        LinePart::Substitution => changing(),
        LinePart::LineBreak => line.has_lines.then(|| "other lines would run too".to_owned()),
        LinePart::Assignment => {
            let set = line
                .assigned
                .first()
                .map(|set| format!("`{}` would be set for it, which may change what it runs", set.name));
            set.or_else(changing)
        }
        LinePart::Redirection => {
            let file = line.written.iter().find(|file| !is_harmless(file, places))?;
            Some(format!("a write to `{}` would happen too", file.text))
        }
    })
}

/// The word of a command that may change what the others are.
fn changing(words: &[PlainWord]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let name = first.text.rsplit('/').next().unwrap_or_default();
    let runs_text = CALCULATING.contains(&name) && rest.iter().any(|word| word.text.contains('['))
        // `printf -v NAME` sets a variable.
        || name == "printf" && rest.first().is_some_and(|word| word.is_made || word.text.starts_with('-'));
    if first.is_made || first.text.is_empty() {
        return Some("the name of a command on the same line is not spelled out".to_owned());
    }
    let changes = runs_text || CHANGING.contains(&name) || first.text.contains('=');
    changes.then(|| format!("`{name}` on the same line may change what it runs"))
}

/// True if a file that a line writes to is of no value.
fn is_harmless(file: &PlainWord, places: &OutputPlaces) -> bool {
    if file.is_made || file.text.starts_with('~') {
        return false;
    }
    let path = Path::new(&file.text);
    if path == Path::new("/dev/null") {
        return true;
    }
    let (Some(temporary), Some(folder), Some(name)) = (&places.temporary, path.parent(), path.file_name()) else {
        return false;
    };
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return false;
    }
    let Some(path) = real(folder.to_path_buf()).map(|folder| folder.join(name)) else { return false };
    let is_kept = |kept: &PathBuf| kept.starts_with(temporary) && path.starts_with(kept);
    path.starts_with(temporary) && !disk::is_link(&path) && !places.kept.iter().any(is_kept)
}

#[cfg(test)]
mod tests;
