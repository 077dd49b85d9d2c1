//! Native hooks: one process for one event of a host.
//!
//! `gsd-tools hook <dialect> <event> [--without <hook>]`: reads the host's JSON, lets the hooks of the event look at it,
//! prints one answer. A hook never breaks the host: on any error of our own nothing is printed and the exit code is 0.
//! Outside projects that use us there is silence; only the status line shows what it can everywhere.
//!
//! This file reads and writes; the hooks themselves are functions of what it found.

mod context_monitor;
mod payload;
mod prompt_guard;
mod read_guard;
mod session_state;
mod statusline;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::disk::{self, AbsolutePath};
use crate::library::Event;
use crate::project::config;
use crate::runtime::Dialect;
use crate::world::World;

use context_monitor::{ContextUse, Memory};
pub(crate) use payload::Payload;

/// How long a host may take to hand over its event. Longer, and the event is let go.
const PATIENCE: Duration = Duration::from_secs(3);

/// More than any host sends; what is longer is not an event.
const LONGEST_EVENT: u64 = 32 * 1024 * 1024;

/// Answers one event of a host: `arguments` are the host's dialect and the event.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    if let Some(answer) = respond(arguments, &World::real()) {
        // A host that stopped listening is no failure of ours.
        let _ = std::io::stdout().write_all(answer.as_bytes());
    }
    ExitCode::SUCCESS
}

fn respond(arguments: &[OsString], world: &World) -> Option<String> {
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    let (dialect, event, options) = match words.as_slice() {
        [dialect, event, options @ ..] => (Dialect::of_word(dialect)?, Event::of_word(event)?, options),
        _ => return None,
    };
    let payload = Payload::parse(&read_event(world)?)?;
    let here = payload.folder().map(PathBuf::from).or_else(|| world.folder().ok())?;
    let project = HookProject::find(&here, world);
    let scene = Scene { world, event, payload, here, project, without: options };
    match event {
        Event::StatusLine => Some(scene.status_line()),
        Event::SessionStart => scene.session_start(),
        Event::BeforeTool => scene.before_tool(),
        Event::AfterTool => scene.after_tool(),
    }
    .map(|text| if event == Event::StatusLine { text } else { answer(dialect, event, &scene.payload, &text) })
}

/// What the host wrote, unless nothing comes.
fn read_event(world: &World) -> Option<String> {
    if world.terminal().stdin {
        return None;
    }
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(LONGEST_EVENT).read_to_string(&mut text);
        // Nobody listens any more once patience has run out.
        let _ = send.send(read.ok().map(|_| text));
    });
    receive.recv_timeout(PATIENCE).ok()?
}

/// The project an event happened in.
#[derive(Debug)]
struct HookProject {
    root: PathBuf,
    config: Map<String, Value>,
}

impl HookProject {
    /// Looks for `.planning` in `here` and above it, never in or above the home folder.
    fn find(here: &Path, world: &World) -> Option<Self> {
        let home = world.home();
        let inside = |folder: &&Path| Some(*folder) != home.as_deref() || *folder == here;
        let mut folders = here.ancestors().take(10).take_while(inside);
        let root = folders.find(|folder| disk::is_folder(folder.join(".planning")))?;
        let text = disk::read_text(root.join(".planning").join("config.json")).ok().flatten();
        let config = text.and_then(|text| config::parse(&text).ok()).unwrap_or_default();
        Some(Self { root: root.to_path_buf(), config })
    }

    fn flag(&self, key: &str, default: bool) -> bool {
        config::at(&self.config, key).and_then(Value::as_bool).unwrap_or(default)
    }

    fn number(&self, key: &str, default: f64) -> f64 {
        config::at(&self.config, key).and_then(Value::as_f64).unwrap_or(default)
    }

    fn state(&self) -> Option<String> {
        disk::read_text(self.root.join(".planning").join("STATE.md")).ok().flatten()
    }
}

/// Everything one event is about.
struct Scene<'a> {
    world: &'a World,
    event: Event,
    payload: Payload,
    here: PathBuf,
    project: Option<HookProject>,
    /// `--without` and names of hooks that the host makes needless.
    without: &'a [&'a str],
}

impl Scene<'_> {
    fn status_line(&self) -> String {
        let used = self.payload.context_use(self.world.now().milliseconds());
        if let (Some(used), Some(file)) = (&used, self.session_file("context")) {
            leave(&file, used);
        }
        let state = self.project.as_ref().and_then(HookProject::state);
        let color = self.world.variable("NO_COLOR").is_none();
        statusline::line(&self.payload, state.as_deref(), used.as_ref(), color)
    }

    fn session_start(&self) -> Option<String> {
        let project = self.project.as_ref()?;
        if !project.flag("hooks.community", false) {
            return None;
        }
        Some(session_state::note(project.state().as_deref()))
    }

    fn before_tool(&self) -> Option<String> {
        self.project.as_ref()?;
        let writes = self.payload.writes();
        let mut notes = Vec::new();
        if self.wants("prompt-guard") {
            notes.extend(prompt_guard::note(&writes, &self.here));
        }
        if self.wants("read-guard") {
            notes.extend(read_guard::note(&writes, |path| disk::is_file(self.here.join(path))));
        }
        (!notes.is_empty()).then(|| notes.join("\n\n"))
    }

    fn after_tool(&self) -> Option<String> {
        let project = self.project.as_ref()?;
        if !project.flag("hooks.context_warnings", true) {
            return None;
        }
        let limits = context_monitor::Limits {
            warning: project.number("hooks.context_warning_threshold", 35.0),
            critical: project.number("hooks.context_critical_threshold", 25.0),
        };
        let used: ContextUse = find(&self.session_file("context")?)?;
        let memory_file = self.session_file("warned")?;
        let memory: Memory = find(&memory_file).unwrap_or_default();
        let (note, memory) = context_monitor::note(&used, &memory, limits, self.world.now().milliseconds());
        if let Some(memory) = memory {
            leave(&memory_file, &memory);
        }
        note
    }

    /// Whether the host leaves this hook anything to do.
    fn wants(&self, hook: &str) -> bool {
        !self.without.windows(2).any(|pair| pair[0] == "--without" && pair[1] == hook)
    }

    /// A small file of this session; none for a session name that could lead elsewhere.
    fn session_file(&self, kind: &str) -> Option<AbsolutePath> {
        let session = self.payload.session()?;
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if session.is_empty() || session.len() > 128 || !session.chars().all(plain) {
            return None;
        }
        let folder = self.world.private_temporary_folder();
        AbsolutePath::parse(folder.join(format!("{session}.{kind}.json"))).ok()
    }
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Scene").field("event", &self.event).field("here", &self.here).finish_non_exhaustive()
    }
}

fn find<T: serde::de::DeserializeOwned>(file: &AbsolutePath) -> Option<T> {
    serde_json::from_str(&disk::read_text(file).ok().flatten()?).ok()
}

/// Leaves a note for a later event. That it could not be left only means that nobody finds it.
fn leave(file: &AbsolutePath, note: &impl serde::Serialize) {
    if let Ok(text) = serde_json::to_string(note) {
        let _ = disk::write_fleeting(file, text.as_bytes());
    }
}

/// A note for the agent in the host's own form.
fn answer(dialect: Dialect, event: Event, payload: &Payload, note: &str) -> String {
    let text = |text: &str| Value::String(text.to_owned());
    let object = |pairs: Vec<(&str, Value)>| -> Value {
        Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    };
    let specific = || {
        let name = payload.event_name().unwrap_or_default();
        object(vec![("hookEventName", text(name)), ("additionalContext", text(note))])
    };
    let value = match (dialect, event) {
        (Dialect::Standard, _) | (Dialect::BeforeAfter, Event::AfterTool) => {
            object(vec![("hookSpecificOutput", specific())])
        }
        // Before a tool this dialect takes no context for the agent; the person sees the note.
        (Dialect::BeforeAfter, _) => object(vec![("systemMessage", text(note))]),
        (Dialect::Camel, _) => object(vec![("additionalContext", text(note))]),
        (Dialect::Conversation, Event::BeforeTool) => {
            object(vec![("permission", text("allow")), ("agent_message", text(note))])
        }
        (Dialect::Conversation, _) => object(vec![("additional_context", text(note))]),
    };
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the pages are read as they stand in the repository")]
    fn every_hook_of_the_table_has_its_code_and_its_page() {
        let library = Library::embedded().unwrap();
        let listed: Vec<&str> = library.hooks().rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(listed, ["statusline", "context-monitor", "session-state", "prompt-guard", "read-guard"]);
        for row in &library.hooks().rows {
            let page = format!("{}/hooks/{}.md", env!("CARGO_MANIFEST_DIR"), row.name);
            let page = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{page}: {error}"));
            let settings = row.opt_in.iter().chain(&row.opt_out);
            for key in settings {
                assert!(page.contains(&format!("`{key}")), "{}: {key}", row.name);
                assert!(crate::project::config::key_names().contains(key), "{key}");
            }
        }
    }

    #[test]
    fn each_dialect_gets_its_own_answer() {
        let payload = Payload::parse(r#"{"hook_event_name":"PostToolUse"}"#).unwrap();
        let said = |dialect, event| answer(dialect, event, &payload, "x");
        assert_eq!(
            said(Dialect::Standard, Event::AfterTool),
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"x"}}"#
        );
        assert_eq!(said(Dialect::BeforeAfter, Event::BeforeTool), r#"{"systemMessage":"x"}"#);
        assert_eq!(said(Dialect::Camel, Event::SessionStart), r#"{"additionalContext":"x"}"#);
        assert_eq!(said(Dialect::Conversation, Event::AfterTool), r#"{"additional_context":"x"}"#);
        assert_eq!(said(Dialect::Conversation, Event::BeforeTool), r#"{"permission":"allow","agent_message":"x"}"#);
    }
}
