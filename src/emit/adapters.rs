//! Modules and executables that call our program for hosts whose extension point requires them.

use serde_json::{Map, Value};

use crate::library::{Event, ItemKind};
use crate::runtime::{Adapter, EVENT_SCRIPT};

use super::artifact::{Anchor, Artifact, Contents};
use super::spelling::{CONTENT_FOLDER, Spelling};

/// One of our events, with the call that the host is to make.
#[derive(Clone, Debug)]
pub(super) struct EventCall {
    pub(super) event: Event,
    pub(super) host_name: String,
    /// The host's names of the tools that it applies to, separated by `|`; `None` for all.
    pub(super) tools: Option<String>,
    /// The arguments for our program.
    pub(super) arguments: String,
}

/// How one of our files that the host runs finds the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramPlace {
    Absolute,
    /// Relative to its own path, which a project or another home does not change.
    Relative,
}

/// A module in the host's language.
pub(super) fn module(
    adapter: Adapter,
    path: &str,
    calls: &[EventCall],
    timeout: u32,
    place: ProgramPlace,
    spelling: &Spelling,
) -> Artifact {
    let program = match place {
        ProgramPlace::Absolute => Value::from(spelling.absolute_binary()).to_string(),
        ProgramPlace::Relative => {
            let up = "../".repeat(path.matches('/').count());
            format!("fileURLToPath(new URL(\"{up}{CONTENT_FOLDER}/bin/gsd-tools\", import.meta.url))")
        }
    };
    let mut arguments = Map::new();
    let mut tools = Map::new();
    for call in calls {
        let words: Vec<&str> = call.arguments.split(' ').collect();
        arguments.insert(call.event.word().to_owned(), Value::from(words));
        let names = call.tools.iter().flat_map(|names| names.split('|')).map(Value::from);
        let known = tools.entry(call.event.word()).or_insert_with(|| Value::from(Vec::<Value>::new()));
        known.as_array_mut().into_iter().for_each(|known| known.extend(names.clone()));
    }
    tools.retain(|_, names| names.as_array().is_some_and(|names| !names.is_empty()));
    let text = adapter
        .text()
        .replace("__program__", &program)
        .replace("__calls__", &lines(&arguments))
        .replace("__tools__", &lines(&tools))
        .replace("__timeout__", &timeout.to_string());
    hook_file(path.to_owned(), text, false)
}

/// An executable for each event, named after the event.
pub(super) fn executables(
    folder: &str,
    calls: &[EventCall],
    place: ProgramPlace,
    spelling: &Spelling,
) -> Vec<Artifact> {
    let program = match place {
        ProgramPlace::Absolute => spelling.absolute_binary_word(),
        ProgramPlace::Relative => {
            let up = "../".repeat(folder.split('/').count());
            format!("\"${{0%/*}}\"/{up}{CONTENT_FOLDER}/bin/gsd-tools")
        }
    };
    let script = |call: &EventCall| {
        let text = EVENT_SCRIPT.replace("__program__", &program).replace("__call__", &call.arguments);
        hook_file(format!("{folder}/{}", call.host_name), text, true)
    };
    calls.iter().map(script).collect()
}

fn hook_file(path: String, text: String, executable: bool) -> Artifact {
    Artifact { anchor: Anchor::Root, path, contents: Contents::Whole(text), executable, kind: ItemKind::Hook }
}

/// A JSON object with one line per key.
fn lines(pairs: &Map<String, Value>) -> String {
    let line = |(key, value): (&String, &Value)| format!("  {}: {value},\n", Value::from(key.as_str()));
    format!("{{\n{}}}", pairs.iter().map(line).collect::<String>())
}
