//! Converts canonical hook events to a host's registrations: one process for each event, however many hooks handle it.
//!
//! The command line contains the path of our program, the dialect and the event, and nothing that changes with a
//! version: some hosts trust a registration by its text.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::library::{Event, HookEvent, HookTable, ItemKind, ToolSet};
use crate::runtime::{self, Descriptor, EventName, HookForm, HostFormat, Scope, TimeUnit};
use crate::text::json::JsonEdit;
use crate::text::toml::TomlEdit;
use crate::text::yaml::YamlEdit;

use super::EmitOptions;
use super::adapters::{self, EventCall, ProgramPlace};
use super::artifact::{Anchor, Artifact, SharedEdit};
use super::spelling::Spelling;

/// How the hooks of a host are registered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HookArtifacts {
    /// Changes to one of the host's files, named by its key in the descriptor.
    Edits { file: String, edits: Vec<SharedEdit> },
    /// Separate files that are entirely ours.
    Own(Vec<Artifact>),
}

/// The number of registrations.
pub(crate) fn count(table: &HookTable, descriptor: &Descriptor, scope: Scope) -> usize {
    let hooks = descriptor.hooks.as_ref().filter(|hooks| hooks.scopes.contains(&scope));
    let of =
        |hooks| table.events.iter().map(move |event| registrations_of(event, table, descriptor, hooks).len()).sum();
    hooks.map_or(0, of)
}

/// The registrations of our events with the host.
pub(crate) fn registrations(
    table: &HookTable,
    descriptor: &Descriptor,
    scope: Scope,
    spelling: &Spelling,
    portable: bool,
) -> Option<HookArtifacts> {
    let hooks = descriptor.hooks.as_ref().filter(|hooks| hooks.scopes.contains(&scope))?;
    let private = hooks.form.file().and_then(|file| descriptor.files.get(file)).is_some_and(|file| file.local_private);
    let guarded = scope == Scope::Local && !private;
    let commands = CommandLines { table, hooks, scope, spelling, guarded, portable };
    let events: Vec<Registration> =
        table.events.iter().flat_map(|event| registrations_of(event, table, descriptor, hooks)).collect();
    if events.is_empty() {
        return None;
    }
    let timeout = match hooks.timeout {
        TimeUnit::Seconds => Some(Value::from(table.timeout)),
        TimeUnit::Milliseconds => Some(Value::from(table.timeout * 1000)),
        TimeUnit::None => None,
    };
    let timeout = |key: &'static str| timeout.clone().map(|timeout| (key, timeout));
    let path = |event: &Registration| vec!["hooks".to_owned(), event.host_name.clone()];
    Some(match &hooks.form {
        HookForm::Nested { file } => {
            let value = |event: &Registration| {
                let pairs = [("type", Value::from("command")), ("command", Value::from(commands.shell(event.name)))];
                let command = object(pairs.into_iter().chain(timeout("timeout")));
                with_matcher(event, [("hooks", Value::from(vec![command]))])
            };
            let edits = events.iter().map(|event| JsonEdit::Append { path: path(event), value: value(event) });
            HookArtifacts::Edits { file: file.clone(), edits: edits.map(SharedEdit::Json).collect() }
        }
        HookForm::Flat { file, version } => {
            let value = |event: &Registration| {
                let command = ("command", Value::from(commands.shell(event.name)));
                with_matcher(event, [command].into_iter().chain(timeout("timeout")))
            };
            let entry = |event: &Registration| match descriptor.files.get(file).map(|file| file.format) {
                Some(HostFormat::Yaml) => SharedEdit::Yaml(YamlEdit::Append { path: path(event), value: value(event) }),
                _ => SharedEdit::Json(JsonEdit::Append { path: path(event), value: value(event) }),
            };
            let version = version.map(|version| {
                SharedEdit::Json(JsonEdit::SetIfAbsent {
                    path: vec!["version".to_owned()],
                    value: Value::from(version),
                })
            });
            HookArtifacts::Edits {
                file: file.clone(),
                edits: version.into_iter().chain(events.iter().map(entry)).collect(),
            }
        }
        HookForm::Tables { file } => {
            let table = |event: &Registration| {
                let matcher = event.matcher.as_ref().map(|matcher| ("matcher", Value::from(matcher.as_str())));
                let event_name = ("event", Value::from(event.host_name.as_str()));
                let command = ("command", Value::from(commands.shell(event.name)));
                let pairs = std::iter::once(event_name).chain(matcher).chain([command]).chain(timeout("timeout"));
                pairs.map(|(key, value)| (key.to_owned(), value)).collect()
            };
            let path = vec!["hooks".to_owned()];
            let edits = events.iter().map(|event| TomlEdit::AppendTable { path: path.clone(), table: table(event) });
            HookArtifacts::Edits { file: file.clone(), edits: edits.map(SharedEdit::Toml).collect() }
        }
        HookForm::Shells { path, version } => {
            let entry = |event: &Registration| {
                let command = with_matcher(
                    event,
                    [
                        ("type", Value::from("command")),
                        ("bash", Value::from(commands.shell(event.name))),
                        ("powershell", Value::from(commands.powershell(event.name))),
                    ]
                    .into_iter()
                    .chain(timeout("timeoutSec")),
                );
                (event.host_name.clone(), Value::from(vec![command]))
            };
            let events = Value::from(events.iter().map(entry).collect::<Map<_, _>>());
            let whole = object([("version", Value::from(*version)), ("hooks", events)]);
            let text = format!("{whole:#}\n");
            HookArtifacts::Own(vec![super::whole(Anchor::Root, path.clone(), text, ItemKind::Hook)])
        }
        HookForm::Adapter { path, adapter } => {
            let calls: Vec<EventCall> = events.into_iter().map(|event| commands.call(event)).collect();
            let module = adapters::module(*adapter, path, &calls, table.timeout * 1000, commands.place(), spelling);
            HookArtifacts::Own(vec![module])
        }
        HookForm::Executables { folder } => {
            let calls: Vec<EventCall> = events.into_iter().map(|event| commands.call(event)).collect();
            HookArtifacts::Own(adapters::executables(folder, &calls, commands.place(), spelling))
        }
    })
}

/// The edit that sets the host's status line to ours, if it has one. That of the user is kept, unless the
/// options replace it.
pub(crate) fn status_line(
    table: &HookTable,
    descriptor: &Descriptor,
    scope: Scope,
    spelling: &Spelling,
    options: &EmitOptions,
) -> Option<(String, JsonEdit)> {
    let (hooks, line) = (descriptor.hooks.as_ref()?, descriptor.status_line.as_ref()?);
    let portable = options.portable_hooks;
    let commands = CommandLines { table, hooks, scope, spelling, guarded: false, portable };
    let value = object([("type", Value::from("command")), ("command", Value::from(commands.shell(Event::StatusLine)))]);
    let path = line.path.clone();
    let edit = if options.replaces_status_line {
        JsonEdit::Set { path, value }
    } else {
        JsonEdit::SetIfAbsent { path, value }
    };
    Some((line.file.clone(), edit))
}

/// An event under the host's name.
struct Registration {
    name: Event,
    host_name: String,
    matcher: Option<String>,
}

/// The registrations of `event`, if the host has it and at least one hook could use it there.
fn registrations_of(
    event: &HookEvent,
    table: &HookTable,
    descriptor: &Descriptor,
    hooks: &runtime::HookTable,
) -> Vec<Registration> {
    let is_to_be_had = |needed: Option<Event>| match needed {
        Some(Event::StatusLine) => descriptor.status_line.is_some() || hooks.tells_context,
        Some(other) => hooks.events.contains_key(&other),
        None => true,
    };
    let useful = table
        .rows
        .iter()
        .any(|row| row.events.contains(&event.name) && is_to_be_had(row.needs) && !hooks.without.contains(&row.name));
    let Some(name) = hooks.events.get(&event.name).filter(|_| useful && event.name != Event::StatusLine) else {
        return Vec::new();
    };
    let registration =
        |host_name: &String, matcher| Registration { name: event.name, host_name: host_name.clone(), matcher };
    match name {
        EventName::Whole(name) => {
            // Such tools are recognised by their input; those that read are among them.
            let mcp = hooks.mcp.as_ref().filter(|_| event.tools.contains(&ToolSet::Read));
            let of_mcp = mcp.map(|matcher| registration(name, Some(matcher.clone())));
            std::iter::once(registration(name, matcher(event, &hooks.tools))).chain(of_mcp).collect()
        }
        EventName::ByTool(names) => {
            let wanted = names.iter().filter(|of_tools| of_tools.tools.iter().any(|tool| event.tools.contains(tool)));
            wanted.map(|of_tools| registration(&of_tools.name, None)).collect()
        }
    }
}

/// Whether the event is registered with the host.
#[cfg(test)]
pub(super) fn is_registered(event: Event, table: &HookTable, descriptor: &Descriptor) -> bool {
    let events = table.events.iter().filter(|row| row.name == event);
    let of = |hooks| events.flat_map(|event| registrations_of(event, table, descriptor, hooks)).count();
    descriptor.hooks.as_ref().map_or(0, of) > 0
}

/// The pattern that the event is registered for: files, or the host's names of some tools, each once.
fn matcher(event: &HookEvent, names: &BTreeMap<ToolSet, Vec<String>>) -> Option<String> {
    let mut found: Vec<&str> = Vec::new();
    let tools = event.tools.iter().filter_map(|tool| names.get(tool)).flatten();
    for name in event.files.iter().chain(tools) {
        if !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    (!found.is_empty()).then(|| found.join("|"))
}

/// The command lines that a host runs for our events.
struct CommandLines<'a> {
    table: &'a HookTable,
    hooks: &'a runtime::HookTable,
    scope: Scope,
    spelling: &'a Spelling,
    /// The file is shared with people who may not have our program: without it the command does nothing.
    guarded: bool,
    /// Name the program by what the shell knows as the home.
    portable: bool,
}

impl CommandLines<'_> {
    fn shell(&self, event: Event) -> String {
        let word = match (self.scope, &self.hooks.project) {
            (Scope::Local, Some(project)) => format!("{project}/{}", self.spelling.binary()),
            (Scope::Local, None) => self.spelling.binary_word(),
            (Scope::Global, _) => self.portable_word().unwrap_or_else(|| self.spelling.absolute_binary_word()),
        };
        let call = format!("{word} {}", self.arguments(event));
        if self.guarded { format!("if [ -x {word} ]; then {call}; fi") } else { call }
    }

    fn powershell(&self, event: Event) -> String {
        // The other shell knows the home by the same variable.
        let portable = self.portable_word().filter(|word| !word.contains('\\'));
        let word = format!("'{}'", self.spelling.absolute_binary().replace('\'', "''"));
        let word = portable.unwrap_or(word);
        let call = format!("& {word} {}", self.arguments(event));
        if self.guarded { format!("if (Get-Command {word} -ErrorAction Ignore) {{ {call} }}") } else { call }
    }

    fn portable_word(&self) -> Option<String> {
        self.spelling
            .portable_binary_word()
            .filter(|_| self.portable && self.hooks.shell && self.scope == Scope::Global)
    }

    /// How our modules and executables find the program.
    fn place(&self) -> ProgramPlace {
        if self.portable || self.scope == Scope::Local { ProgramPlace::Relative } else { ProgramPlace::Absolute }
    }

    fn call(&self, event: Registration) -> EventCall {
        let arguments = self.arguments(event.name);
        EventCall { event: event.name, host_name: event.host_name, tools: event.matcher, arguments }
    }

    fn arguments(&self, event: Event) -> String {
        let call = format!("hook {} {}", self.hooks.dialect.word(), event.word());
        let needless =
            self.table.rows.iter().filter(|row| row.events.contains(&event) && self.hooks.without.contains(&row.name));
        needless.fold(call, |call, row| format!("{call} --without {}", row.name))
    }
}

fn with_matcher<'a>(event: &Registration, pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let matcher = event.matcher.as_ref().map(|matcher| ("matcher", Value::from(matcher.as_str())));
    object(matcher.into_iter().chain(pairs))
}

fn object<'a>(pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;
    use crate::runtime::made_up;

    /// The registrations of a host with these hooks: the event's name and its matcher.
    fn registered(hooks: &str) -> Vec<(String, Option<String>)> {
        let library = Library::embedded().unwrap();
        let form = "dialect = \"standard\"\ntimeout = \"seconds\"\nform = { nested = { file = \"settings\" } }";
        let host = made_up(&format!("[hooks]\n{form}\n{hooks}"));
        let table = host.hooks.as_ref().unwrap();
        let events = library.hooks().events.iter();
        events
            .flat_map(|event| registrations_of(event, library.hooks(), &host, table))
            .map(|registration| (registration.host_name, registration.matcher))
            .collect()
    }

    #[test]
    fn an_event_per_tool_is_registered_without_matchers_for_the_tools_we_handle() {
        let hooks = r#"
            [hooks.events]
            before-tool = [{ name = "PreShell", tools = ["shell"] }, { name = "PreWeb", tools = ["web"] }]
            [hooks.tools]
            shell = ["sh"]
        "#;
        assert_eq!(registered(hooks), [("PreShell".to_owned(), None)]);
    }

    #[test]
    fn a_matcher_names_each_tool_once_and_unused_events_are_not_registered() {
        let hooks = r#"
            [hooks.events]
            before-tool = "Pre"
            stop = "Stop"
            [hooks.tools]
            edit = ["patch"]
            shell = ["sh"]
            write = ["patch", "create"]
        "#;
        assert_eq!(registered(hooks), [("Pre".to_owned(), Some("sh|patch|create".to_owned()))]);
        assert_eq!(registered("[hooks.events]\nbefore-tool = \"Pre\""), [("Pre".to_owned(), None)]);
        let with_mcp = registered(
            "mcp = \"mcp__.*\"\n[hooks.events]\nbefore-tool = \"Pre\"\nsession-start = \"S\"\n[hooks.tools]\nread = [\"view\"]",
        );
        let matchers: Vec<_> = with_mcp.iter().map(|(_, matcher)| matcher.as_deref()).collect();
        assert_eq!(matchers, [None, Some("view"), Some("mcp__.*")], "tools of MCP servers stand by themselves");
    }
}
