//! The part of a descriptor about hooks and the status line: files, shapes, events, tool names, units.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::terms::Scope;
use crate::library::{Event, ToolSet};
use crate::text::words::words;

/// How the host runs programs at its events.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HookTable {
    /// The format of the host's input to a hook and of the answer it expects.
    pub(crate) dialect: Dialect,
    pub(crate) form: HookForm,
    /// The scopes in which the host looks for hooks; some only look in the home.
    #[serde(default = "super::terms::both_scopes")]
    pub(crate) scopes: Vec<Scope>,
    pub(crate) timeout: TimeUnit,
    /// Whether a shell runs the commands, so that they may name the home by a variable.
    #[serde(default = "by_a_shell")]
    pub(crate) shell: bool,
    /// How a command of a local installation finds the project: a shell word, or nothing if it starts there.
    pub(crate) project: Option<String>,
    /// The host's names of our events. An event without a name is not registered.
    pub(crate) events: BTreeMap<Event, EventName>,
    /// The host's names of its tools, by what they do. Matchers are built from them.
    #[serde(default)]
    pub(crate) tools: BTreeMap<ToolSet, Vec<String>>,
    /// The matcher for the tools of MCP servers, if one expression matches them all. They are registered separately: on
    /// some hosts, an expression next to plain names would turn those into expressions.
    pub(crate) mcp: Option<String>,
    /// Events about tools report how much context is left, which elsewhere only a status line gets.
    #[serde(default)]
    pub(crate) tells_context: bool,
    /// Our hooks that are unnecessary here, because the host enforces the same itself.
    #[serde(default)]
    pub(crate) without: Vec<String>,
}

fn by_a_shell() -> bool {
    true
}

words! {
    /// The protocol between host and hook. The word is in the registered command line, so it never changes.
    pub(crate) enum Dialect {
        /// `hook_event_name`, `tool_name`, `tool_input`; context of any event as `hookSpecificOutput.additionalContext`.
        Standard = "standard",
        /// The same keys; context is accepted only after a tool, before a tool only `decision`.
        BeforeAfter = "before-after",
        /// `sessionId`, `toolName`, `toolArgs`; `additionalContext` and `permissionDecision` at the top level.
        Camel = "camel",
        /// `conversation_id`, `workspace_roots`; `additional_context` and `permission` at the top level.
        Conversation = "conversation",
        /// The keys of `standard`; `{"decision": "block", "reason"}` and `{"context"}` at the top level.
        Decision = "decision",
        /// `hookName`, `preToolUse.{toolName, parameters}`; `{"cancel", "overrideInput", "contextModification"}`.
        Cancel = "cancel",
        /// `agent_action_name`, `tool_info`; exit code 2 refuses, with the reason on standard error; no context.
        ExitCode = "exit-code",
        /// The protocol of our own adapters: `{event, cwd, session_id, tool_name, tool_input, tool_response}` and
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
    /// In one of `files`, with `version` if the host requires one: `hooks.<event>[] = {command, matcher, timeout}`.
    Flat { file: String, version: Option<u32> },
    /// In one of `files`: tables `[[hooks]]` with `event`, `matcher`, `command`, `timeout`.
    Tables { file: String },
    /// In our own file at `path`, with `version`: `hooks.<event>[] = {type, matcher, bash, powershell, timeoutSec}`.
    Shells { path: String, version: u32 },
    /// A program at `path`, of a kind that the host loads, which calls ours.
    Adapter { path: String, adapter: Adapter },
    /// Executables in `folder`, each named after its event.
    Executables { folder: String },
}

impl HookForm {
    /// The one of `files` that contains the hooks.
    pub(crate) fn file(&self) -> Option<&String> {
        match self {
            HookForm::Nested { file } | HookForm::Flat { file, .. } | HookForm::Tables { file } => Some(file),
            HookForm::Shells { .. } | HookForm::Adapter { .. } | HookForm::Executables { .. } => None,
        }
    }
}

/// The programs between a host and ours, by the interface that the host offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Adapter {
    /// A module that returns functions by the names of events; they act by changing their arguments.
    PluginEvents,
    /// A module that gets an object to subscribe to events; the return values of its functions count.
    ExtensionEvents,
}

impl Adapter {
    /// The source of the adapter, with `__program__`, `__calls__`, `__tools__` and `__timeout__` to be filled in.
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

/// The script of an executable for one event, with `__program__` and `__call__` to be filled in.
pub(crate) const EVENT_SCRIPT: &str = include_str!("adapters/event-script.sh");

/// The unit of the host's timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TimeUnit {
    Seconds,
    Milliseconds,
    /// It has no timeouts for single hooks.
    None,
}

/// The host's name of one of our events.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum EventName {
    /// One event, narrowed by a matcher if the host's tools are known.
    Whole(String),
    /// One event per tool; none has a matcher.
    ByTool(Vec<ToolEvent>),
}

/// An event of the host about only some tools.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ToolEvent {
    pub(crate) name: String,
    pub(crate) tools: Vec<ToolSet>,
}

/// A screen line that a program writes: `<path> = {type: "command", command}` in one of `files`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct StatusLine {
    pub(crate) file: String,
    pub(crate) path: Vec<String>,
}
