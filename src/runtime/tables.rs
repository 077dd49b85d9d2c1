//! The part of a descriptor that is about hooks and the status line: files, shapes, events, tool names, units.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::terms::Scope;
use crate::library::{Event, ToolSet};
use crate::text::words::words;

/// How the host runs programs at its events.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HookTable {
    /// What the host writes to a hook and understands as its answer.
    pub(crate) dialect: Dialect,
    pub(crate) form: HookForm,
    /// Where the host looks for hooks; some look into the home alone.
    #[serde(default = "super::terms::both_scopes")]
    pub(crate) scopes: Vec<Scope>,
    pub(crate) timeout: TimeUnit,
    /// How a command of a local installation finds the project: a shell word, or nothing where it starts there.
    pub(crate) project: Option<String>,
    /// The host's names of the events we know. An event without a name is not registered.
    pub(crate) events: BTreeMap<Event, EventName>,
    /// The host's names of its tools, by what they do. Matchers are made of them.
    #[serde(default)]
    pub(crate) tools: BTreeMap<ToolSet, Vec<String>>,
    /// The matcher of the tools of MCP servers, where one expression finds them all. They are registered by themselves:
    /// on some hosts, an expression beside plain names would make expressions of those.
    pub(crate) mcp: Option<String>,
    /// Events about tools say how much context is left, as a status line hears elsewhere.
    #[serde(default)]
    pub(crate) tells_context: bool,
    /// Hooks of ours that the host makes needless, because it demands the same itself.
    #[serde(default)]
    pub(crate) without: Vec<String>,
}

words! {
    /// The conversation between host and hook. The word stands in the registered command line, so it never changes.
    pub(crate) enum Dialect {
        /// `hook_event_name`, `tool_name`, `tool_input`; context of any event as `hookSpecificOutput.additionalContext`.
        Standard = "standard",
        /// The same keys; context is taken after a tool only, before a tool there is `decision` alone.
        BeforeAfter = "before-after",
        /// `sessionId`, `toolName`, `toolArgs`; `additionalContext` and `permissionDecision` at the top level.
        Camel = "camel",
        /// `conversation_id`, `workspace_roots`; `additional_context` and `permission` at the top level.
        Conversation = "conversation",
        /// The keys of `standard`; `{"decision": "block", "reason"}` and `{"context"}` at the top level.
        Decision = "decision",
        /// `hookName`, `preToolUse.{toolName, parameters}`; `{"cancel", "overrideInput", "contextModification"}`.
        Cancel = "cancel",
        /// `agent_action_name`, `tool_info`; exit code 2 refuses, the reason is on standard error; no context.
        ExitCode = "exit-code",
        /// What our own adapters speak: `{event, cwd, session_id, tool_name, tool_input, tool_response}` and
        /// `{"context", "block", "tell"}`.
        Plugin = "plugin",
    }
}

/// Where and in what shape hooks are registered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub(crate) enum HookForm {
    /// In one of `files`: `hooks.<Event>[] = {matcher, hooks: [{type, command, timeout}]}`.
    Nested { file: String },
    /// In one of `files`, with `version` where the host asks for one: `hooks.<event>[] = {command, matcher, timeout}`.
    Flat { file: String, version: Option<u32> },
    /// In one of `files`: tables `[[hooks]]` with `event`, `matcher`, `command`, `timeout`.
    Tables { file: String },
    /// A file of our own at `path`, with `version`: `hooks.<event>[] = {type, matcher, bash, powershell, timeoutSec}`.
    Shells { path: String, version: u32 },
    /// A program of the host's own kind at `path`, which calls ours.
    Adapter { path: String, adapter: Adapter },
    /// Executables in `folder`, each with the name of its event.
    Executables { folder: String },
}

impl HookForm {
    /// The one of `files` the hooks stand in.
    pub(crate) fn file(&self) -> Option<&String> {
        match self {
            HookForm::Nested { file } | HookForm::Flat { file, .. } | HookForm::Tables { file } => Some(file),
            HookForm::Shells { .. } | HookForm::Adapter { .. } | HookForm::Executables { .. } => None,
        }
    }
}

/// The programs that stand between a host and ours, by what the host offers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Adapter {
    /// A module that gives functions by the names of events; what they change in their arguments counts.
    PluginEvents,
    /// A module that is given a place to ask for events at; what its functions give back counts.
    ExtensionEvents,
}

impl Adapter {
    /// Its text, with `__program__`, `__calls__`, `__tools__` and `__timeout__` to be filled in.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Adapter::PluginEvents => {
                concat!(include_str!("adapters/ask.js"), "\n", include_str!("adapters/plugin-events.js"))
            }
            Adapter::ExtensionEvents => {
                concat!(include_str!("adapters/ask.js"), "\n", include_str!("adapters/extension-events.js"))
            }
        }
    }
}

/// What an executable of one event does, with `__program__` and `__call__` to be filled in.
pub(crate) const EVENT_SCRIPT: &str = include_str!("adapters/event-script.sh");

/// What the host counts a timeout in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TimeUnit {
    Seconds,
    Milliseconds,
    /// It knows no timeouts of single hooks.
    None,
}

/// How a host calls one of our events.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum EventName {
    /// One event, told apart by a matcher where the host's tools are known.
    Whole(String),
    /// An event a tool; none has a matcher.
    ByTool(Vec<ToolEvent>),
}

/// An event of the host about some tools alone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ToolEvent {
    pub(crate) name: String,
    pub(crate) tools: Vec<ToolSet>,
}

/// A line of the screen that a program writes: `<path> = {type: "command", command}` in one of `files`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct StatusLine {
    pub(crate) file: String,
    pub(crate) path: Vec<String>,
}
