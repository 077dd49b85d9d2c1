//! Refuses to read files that hold secrets: `.env`, `.env.<name>`, `.secrets`. What is read stays in the conversation.
//!
//! A command line is read as a shell would read it: a name in a message or in a list of ignored files is no reading.
//! A program that nobody here knows is taken to show what it is given; loading values into a program's environment is
//! let go, as long as nothing in the same line shows them.

mod code;
mod command;
mod names;
#[cfg(test)]
mod tests;

use std::path::Path;

pub(super) use self::command::read_by;
use self::names::{is_secret, searches};
use super::scene::Scene;
use super::verdict::Finding;
use crate::library::ToolSet;
use crate::text::shell::{Spelling, shell_word};

pub(super) fn look(scene: &Scene<'_>) -> Finding {
    let payload = scene.payload;
    let found = match payload.tool() {
        Some(ToolSet::Read) => payload.paths().into_iter().find(|path| is_secret(&Spelling::quoted(path))),
        Some(ToolSet::Search) => {
            let texts = |keys: &[&str]| payload.input(keys).and_then(serde_json::Value::as_str).map(str::to_owned);
            let path = payload.paths().into_iter().find(|path| is_secret(&Spelling::quoted(path)));
            path.or_else(|| texts(GLOB_KEYS).filter(|glob| searches(&Spelling::pattern(glob))))
        }
        Some(ToolSet::Shell) => payload.command().and_then(|command| read_by(&command)),
        _ => None,
    };
    found.map_or(Finding::Nothing, |file| Finding::block("SECRET_READ", reason(&file)))
}

fn reason(file: &str) -> String {
    let why = format!("`{file}` holds secrets, and what is read here stays in the conversation.");
    match loads(file) {
        Some(script) => format!(
            "{why} Instead, load the values without showing them (`{script}`) in the command that needs them, read an \
             example such as `.env.example` for their names, or ask the user."
        ),
        None => format!("{why} Instead, ask the user to run the command that needs it."),
    }
}

/// The script that makes the values of a file variables of the shell; of a pattern, that of the usual file.
fn loads(file: &str) -> Option<String> {
    let name = Path::new(file).file_name()?.to_string_lossy();
    if !name.starts_with(".env") || file.split(['/', '\\']).any(|part| part == ".secrets") {
        return None;
    }
    let is_path = !file.contains(['*', '?', '[', '{', ':', '$', '`']);
    let path = match file {
        _ if !is_path => "./.env".to_owned(),
        file if file.starts_with(['/', '~', '.']) && file.contains('/') => file.to_owned(),
        file => format!("./{file}"),
    };
    Some(format!("set -a; . {}; set +a", shell_word(&path)))
}

/// Where hosts put the names of the files that a search looks into.
const GLOB_KEYS: &[&str] = &["glob", "include", "include_pattern", "includes", "file_pattern", "glob_pattern"];
