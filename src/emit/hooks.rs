//! Canonical hook events to a host's registrations: one process for one event, whatever hooks look at it.
//!
//! The command line holds the place of our program, the dialect and the event, and nothing that changes with a
//! version: some hosts trust a registration by its text.

use serde_json::{Map, Value};

use crate::library::{Event, HookEvent, HookTable, ItemKind, ToolSet};
use crate::runtime::{self, Descriptor, HookForm, Scope, TimeUnit};
use crate::text::json::JsonEdit;

use super::artifact::{Anchor, Artifact, Contents};
use super::spelling::Spelling;

/// What the hooks of a host come to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HookArtifacts {
    /// Changes of one of the host's files, named by its key in the descriptor.
    Edits { file: String, edits: Vec<JsonEdit> },
    /// A file of our own.
    Own(Artifact),
}

/// The registrations of our events with the host.
pub(crate) fn registrations(
    table: &HookTable,
    descriptor: &Descriptor,
    scope: Scope,
    spelling: &Spelling,
) -> Option<HookArtifacts> {
    let hooks = descriptor.hooks.as_ref()?;
    let private = hooks.form.file().and_then(|file| descriptor.files.get(file)).is_some_and(|file| file.local_private);
    let commands = CommandLines { table, hooks, scope, spelling, guarded: scope == Scope::Local && !private };
    let events: Vec<Registration> =
        table.events.iter().filter_map(|event| registration(event, table, descriptor, hooks)).collect();
    if events.is_empty() {
        return None;
    }
    let timeout = match hooks.timeout {
        TimeUnit::Seconds => Value::from(table.timeout),
        TimeUnit::Milliseconds => Value::from(table.timeout * 1000),
    };
    let path = |event: &Registration| vec!["hooks".to_owned(), event.host_name.clone()];
    Some(match &hooks.form {
        HookForm::Nested { file } => {
            let value = |event: &Registration| {
                let command = object([
                    ("type", Value::from("command")),
                    ("command", Value::from(commands.shell(event.name))),
                    ("timeout", timeout.clone()),
                ]);
                with_matcher(event, [("hooks", Value::from(vec![command]))])
            };
            let edits = events.iter().map(|event| JsonEdit::Append { path: path(event), value: value(event) });
            HookArtifacts::Edits { file: file.clone(), edits: edits.collect() }
        }
        HookForm::Flat { file, version } => {
            let value = |event: &Registration| {
                let command = Value::from(commands.shell(event.name));
                with_matcher(event, [("command", command), ("timeout", timeout.clone())])
            };
            let version = JsonEdit::SetIfAbsent { path: vec!["version".to_owned()], value: Value::from(*version) };
            let edits = events.iter().map(|event| JsonEdit::Append { path: path(event), value: value(event) });
            HookArtifacts::Edits { file: file.clone(), edits: std::iter::once(version).chain(edits).collect() }
        }
        HookForm::Shells { path, version } => {
            let entry = |event: &Registration| {
                let command = with_matcher(
                    event,
                    [
                        ("type", Value::from("command")),
                        ("bash", Value::from(commands.shell(event.name))),
                        ("powershell", Value::from(commands.powershell(event.name))),
                        ("timeoutSec", timeout.clone()),
                    ],
                );
                (event.host_name.clone(), Value::from(vec![command]))
            };
            let events = Value::from(events.iter().map(entry).collect::<Map<_, _>>());
            let whole = object([("version", Value::from(*version)), ("hooks", events)]);
            HookArtifacts::Own(Artifact {
                anchor: Anchor::Root,
                path: path.clone(),
                contents: Contents::Whole(format!("{whole:#}\n")),
                executable: false,
                kind: ItemKind::Hook,
            })
        }
    })
}

/// The change that makes the host's status line ours, where it has one and the user has set none.
pub(crate) fn status_line(
    table: &HookTable,
    descriptor: &Descriptor,
    scope: Scope,
    spelling: &Spelling,
) -> Option<(String, JsonEdit)> {
    let (hooks, line) = (descriptor.hooks.as_ref()?, descriptor.status_line.as_ref()?);
    let commands = CommandLines { table, hooks, scope, spelling, guarded: false };
    let value = object([("type", Value::from("command")), ("command", Value::from(commands.shell(Event::StatusLine)))]);
    Some((line.file.clone(), JsonEdit::SetIfAbsent { path: line.path.clone(), value }))
}

/// An event as the host knows it.
struct Registration {
    name: Event,
    host_name: String,
    matcher: Option<String>,
}

/// The registration of `event`, if the host has it and any hook could use it there.
fn registration(
    event: &HookEvent,
    table: &HookTable,
    descriptor: &Descriptor,
    hooks: &runtime::HookTable,
) -> Option<Registration> {
    let host_name = match event.name {
        Event::SessionStart => hooks.events.session_start.clone()?,
        Event::BeforeTool => hooks.events.before_tool.clone()?,
        Event::AfterTool => hooks.events.after_tool.clone()?,
        Event::StatusLine => return None,
    };
    let is_to_be_had = |needed: Option<Event>| match needed {
        Some(Event::StatusLine) => descriptor.status_line.is_some(),
        Some(_) | None => true,
    };
    let useful = table.rows.iter().any(|row| row.event == event.name && is_to_be_had(row.needs));
    useful.then(|| Registration { name: event.name, host_name, matcher: matcher(&event.tools, &hooks.tools) })
}

/// The host's names of some tools, each once.
fn matcher(tools: &[ToolSet], names: &runtime::ToolNames) -> Option<String> {
    let mut found: Vec<&str> = Vec::new();
    for tool in tools {
        let of_host = match tool {
            ToolSet::Shell => &names.shell,
            ToolSet::Write => &names.write,
            ToolSet::Edit => &names.edit,
            ToolSet::Read => &names.read,
            ToolSet::Search => &names.search,
            ToolSet::Agent => &names.agent,
        };
        for name in of_host {
            if !found.contains(&name.as_str()) {
                found.push(name);
            }
        }
    }
    (!found.is_empty()).then(|| found.join("|"))
}

/// The command lines a host runs at our events.
struct CommandLines<'a> {
    table: &'a HookTable,
    hooks: &'a runtime::HookTable,
    scope: Scope,
    spelling: &'a Spelling,
    /// The file is shared with people who may not have our program: then the command does nothing.
    guarded: bool,
}

impl CommandLines<'_> {
    fn shell(&self, event: Event) -> String {
        let word = match (self.scope, &self.hooks.project) {
            (Scope::Local, Some(project)) => format!("{project}/{}", self.spelling.binary()),
            (Scope::Local, None) => self.spelling.binary_word(),
            (Scope::Global, _) => self.spelling.absolute_binary_word(),
        };
        let call = format!("{word} {}", self.arguments(event));
        if self.guarded { format!("if [ -x {word} ]; then {call}; fi") } else { call }
    }

    fn powershell(&self, event: Event) -> String {
        let word = format!("'{}'", self.spelling.absolute_binary().replace('\'', "''"));
        let call = format!("& {word} {}", self.arguments(event));
        if self.guarded { format!("if (Get-Command {word} -ErrorAction Ignore) {{ {call} }}") } else { call }
    }

    fn arguments(&self, event: Event) -> String {
        let call = format!("hook {} {}", self.hooks.dialect.word(), event.word());
        let needless =
            self.table.rows.iter().filter(|row| row.event == event && self.hooks.without.contains(&row.name));
        needless.fold(call, |call, row| format!("{call} --without {}", row.name))
    }
}

fn with_matcher<const N: usize>(event: &Registration, pairs: [(&str, Value); N]) -> Value {
    let matcher = event.matcher.as_ref().map(|matcher| ("matcher", Value::from(matcher.as_str())));
    object(matcher.into_iter().chain(pairs))
}

fn object<'a>(pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
