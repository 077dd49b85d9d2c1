//! The schema of a descriptor: facts that a user could check in the host's manual.
//!
//! Paths, spellings, formats, names. Never what *we* do with them: a key must not be called `skip-…` or `legacy-…`. A
//! key used by only one descriptor is listed with its reason in the tests of this module.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agents::{Dispatch, Spawn};
use super::files::{FileEdit, HostFile, OwnFile};
use super::managed::ManagedForm;
use super::plugin::PluginForm;
use super::tables::{HookTable, StatusLine};
use super::terms::{Lack, Place, PlaceItem, Scalar, Scope};

/// All facts about one host.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Descriptor {
    pub(crate) id: RuntimeId,
    /// As its maker spells it.
    pub(crate) name: String,
    /// Other names people may use for it.
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    pub(crate) verified: Verified,
    /// Absent if none is known: the host is then only found by its folder.
    pub(crate) programs: Option<Programs>,
    pub(crate) home: HomeTable,
    #[serde(rename = "place")]
    pub(crate) places: Vec<Place>,
    pub(crate) mention: Mentions,
    pub(crate) arguments: ArgumentForm,
    pub(crate) include: IncludeForm,
    #[serde(default)]
    pub(crate) file_tools: FileReach,
    /// The file in which a project keeps its permanent instructions.
    pub(crate) instruction_file: String,
    /// Variables that identify the session in the programs the host runs; the first one set counts. They are collected
    /// at build time, because every call and every hook needs them.
    #[serde(default)]
    pub(crate) session_variables: Vec<String>,
    pub(crate) command: Form,
    /// Like commands if absent.
    pub(crate) router: Option<Form>,
    pub(crate) agent: Form,
    #[serde(default)]
    pub(crate) typed_only: TypedOnly,
    #[serde(default)]
    pub(crate) spawn: Spawn,
    /// How agents run; absent if unknown.
    pub(crate) dispatch: Option<Dispatch>,
    /// Tool names of the canonical content, and the host's names for them. A tool not listed here has the same name.
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, String>,
    /// Files of the host that we edit, by the names used below.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, HostFile>,
    #[serde(default, rename = "edit")]
    pub(crate) edits: Vec<FileEdit>,
    /// Our own small files that only this host needs.
    #[serde(default, rename = "own-file")]
    pub(crate) own_files: Vec<OwnFile>,
    pub(crate) hooks: Option<HookTable>,
    #[serde(default)]
    pub(crate) asking: Asking,
    pub(crate) status_line: Option<StatusLine>,
    /// Absent if the host has no plugins, or their form is not known.
    pub(crate) plugin: Option<PluginForm>,
    /// Absent if an administrator cannot place anything for everyone on a computer, or its places are not known.
    pub(crate) managed: Option<ManagedForm>,
    pub(crate) instructions: Option<Instructions>,
    /// Features that people look for but that are missing here.
    #[serde(default)]
    pub(crate) lacks: Vec<Lack>,
    /// A folder, below that of the host, whose files are commands of the user that the host lists like skills. Ours are
    /// not there.
    pub(crate) user_commands: Option<String>,
    /// The instruction that makes an agent load a skill of a plugin, with `{skill}` for its name; absent if the host
    /// does not load skills by name.
    pub(crate) plugin_skill: Option<String>,
    /// Variables that the host sets for the programs its agents run.
    #[serde(default)]
    pub(crate) shell_variables: Vec<String>,
    /// Where the host keeps transcripts; absent if their form is not known.
    pub(crate) sessions: Option<Sessions>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check the content against these limits"))]
    pub(crate) limits: Limits,
}

impl Descriptor {
    pub(crate) fn parse(text: &str) -> Result<Descriptor, toml_edit::de::Error> {
        toml_edit::de::from_str(text)
    }

    /// The place for items of this kind in this scope, if the host has one.
    pub(crate) fn place(&self, item: PlaceItem, scope: Scope) -> Option<&Place> {
        self.places.iter().find(|place| place.items.contains(&item) && place.scopes.contains(&scope))
    }

    /// How items of this kind are written.
    pub(crate) fn form(&self, item: PlaceItem) -> &Form {
        match item {
            PlaceItem::Command => &self.command,
            PlaceItem::Router => self.router.as_ref().unwrap_or(&self.command),
            PlaceItem::Agent => &self.agent,
        }
    }
}

/// How a host keeps its conversations: a folder per project, a file per session in it, a line of JSON per event.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Sessions {
    /// Below the host's folder.
    pub(crate) folder: String,
    /// The prefixes of messages that no person typed.
    #[serde(default)]
    pub(crate) untyped: Vec<String>,
}

/// The id of a host on the command line: `a-z`, digits and `-`. It is not an enum, so no code can match on it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct RuntimeId(String);

/// A text that is not a valid host id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot name a host: use small letters, digits and `-`")]
pub(crate) struct RuntimeIdError(pub(super) String);

impl FromStr for RuntimeId {
    type Err = RuntimeIdError;

    fn from_str(text: &str) -> Result<Self, RuntimeIdError> {
        RuntimeId::try_from(text.to_owned())
    }
}

impl TryFrom<String> for RuntimeId {
    type Error = RuntimeIdError;

    fn try_from(text: String) -> Result<Self, RuntimeIdError> {
        let good = text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if good { Ok(RuntimeId(text)) } else { Err(RuntimeIdError(text)) }
    }
}

impl From<RuntimeId> for String {
    fn from(id: RuntimeId) -> String {
        id.0
    }
}

impl RuntimeId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuntimeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// When the facts were last checked, and against what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Verified {
    /// `2026-11-21`
    pub(crate) date: String,
    pub(crate) by: Evidence,
    /// The version of the client that was run.
    pub(crate) version: Option<String>,
}

/// The programs in `PATH` that show that the client is installed, and that start it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Programs {
    /// Best first.
    pub(crate) names: Vec<String>,
    /// Needed if other programs have these names too: one of these words is in the path, with links resolved or not, or
    /// in the first lines of the script. A program without any of them is a different one.
    #[serde(default)]
    pub(crate) marks: Vec<String>,
    /// The date of the check: `2026-11-21`.
    pub(crate) date: String,
    /// The source of these facts.
    pub(crate) source: String,
}

/// The evidence for a descriptor, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Evidence {
    /// The client was run and observed.
    Client,
    /// The vendor's documents.
    VendorDoc,
    /// Third-party sources.
    Secondary,
}

/// What the host asks about before it runs a command line that contains an allowed call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Asking {
    /// Parts of a line that its rules ignore, so that they run with the call without asking.
    pub(crate) blind_to: Vec<LinePart>,
    /// Further parts that they ignore in a mode, keyed by the name of the mode that hooks get.
    pub(crate) modes: BTreeMap<String, Vec<LinePart>>,
    /// The names, as hooks get them, of the modes in which it never asks about commands.
    pub(crate) silent_modes: Vec<String>,
}

impl Asking {
    /// The parts that its rules ignore in a mode; those of all modes if the host does not report its mode.
    pub(crate) fn blind_in(&self, mode: Option<&str>) -> Vec<LinePart> {
        let of_modes = self.modes.iter().filter(|(name, _)| mode.is_none_or(|mode| mode == name.as_str()));
        let mut blind = self.blind_to.clone();
        for part in of_modes.flat_map(|(_, parts)| parts) {
            if !blind.contains(part) {
                blind.push(*part);
            }
        }
        blind
    }
}

/// A part of a command line other than the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LinePart {
    /// `$(...)`, backticks, `<(...)`.
    Substitution,
    /// `NAME=value`, `export NAME=value`.
    Assignment,
    /// `> file`.
    Redirection,
    /// Another line.
    LineBreak,
}

/// Where the host keeps its files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HomeTable {
    /// Begins with `~/`.
    pub(crate) global: String,
    pub(crate) local: LocalHome,
    /// The first one that is set overrides `global`.
    #[serde(default)]
    pub(crate) environment: Vec<HomeVariable>,
    /// Where the vendor's documents ask people to put their skills, if that differs from where ours are. Begins with
    /// `~/`.
    pub(crate) skills: Option<String>,
    /// Whether texts call our program by its absolute path instead of one that begins with `~`: for hosts whose command
    /// rules cannot distinguish `~` from another letter, or from a home set in the command line itself.
    #[serde(default)]
    pub(crate) absolute_program: bool,
}

/// Where the host looks in a project.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a folder below the project such as `.x`, or `{ none = \"why the host has none\" }`"
)]
pub(crate) enum LocalHome {
    /// Below the project's folder.
    Folder(String),
    /// Nowhere; `none` gives the reason for people, as a separate clause.
    None { none: String },
}

impl LocalHome {
    pub(crate) fn folder(&self) -> Option<&str> {
        match self {
            LocalHome::Folder(folder) => Some(folder),
            LocalHome::None { .. } => None,
        }
    }
}

/// A variable that moves the global folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HomeVariable {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) holds: VariableHolds,
}

/// What the value of such a variable names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum VariableHolds {
    /// The folder itself.
    #[default]
    Folder,
    /// A file in the folder.
    File,
    /// The parent of a folder with this name.
    ParentOf(String),
}

/// How a person, or a text for people, names a command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Mentions {
    /// With `{name}`, the name without `gsd-`.
    pub(crate) command: String,
    /// Set if routers are typed in another way.
    pub(crate) router: Option<String>,
}

/// How the text a person types after a command reaches the model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ArgumentForm {
    /// The host inserts it at this placeholder.
    Placeholder(String),
    /// The host does not change the body; the model sees the typed text separately.
    Beside,
}

/// How a command brings another file into the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IncludeForm {
    /// The host sends the file that `@path` names.
    At,
    /// The text asks the model to read it.
    Read,
    /// The model's file tools cannot reach it, so the command contains its text.
    Inline,
}

/// What the model's file tools can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileReach {
    #[default]
    Anywhere,
    /// Only the project; a shell can reach more.
    Workspace,
}

/// What is written at the top of files of one kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Form {
    /// Canonical keys the host supports, in the order they are written.
    pub(crate) keep: Vec<String>,
    /// Canonical keys that have other names on the host.
    #[serde(default)]
    pub(crate) rename: BTreeMap<String, String>,
    /// Keys with the same value in every file.
    #[serde(default)]
    pub(crate) add: BTreeMap<String, Scalar>,
    /// The key for the body, if the file has no separate body.
    pub(crate) body_key: Option<String>,
    /// How the tools of an agent are granted; if absent, they are written unchanged.
    pub(crate) tools: Option<AgentTools>,
    /// The host replaces `${name}` in the text by values, and refuses the text if it has no such value.
    #[serde(default)]
    pub(crate) template: bool,
    /// How the host marks an agent that must not change files.
    pub(crate) read_only: Option<ReadOnlyMark>,
}

/// How the host lists the tools of an agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub(crate) enum AgentTools {
    /// A list of the host's tool names. A canonical tool that is not in `names` is left out.
    List {
        key: String,
        names: BTreeMap<String, String>,
        /// A tool of an MCP server, with `{server}` and `{tool}`; if absent, such tools are left out.
        mcp: Option<String>,
    },
    /// A map of the host's permissions; one is denied if the agent has none of the canonical tools it covers.
    Denials { key: String, covers: BTreeMap<String, Vec<String>> },
}

/// A key that states whether an agent may change files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ReadOnlyMark {
    pub(crate) key: String,
    pub(crate) value: Scalar,
    /// The value for all other agents; if absent, they do not get the key.
    pub(crate) otherwise: Option<Scalar>,
}

/// How a command is kept out of the model's list but can still be typed.
///
/// Empty if the host never lists command files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TypedOnly {
    /// A front matter key that is set to `true`.
    pub(crate) key: Option<String>,
    /// Lines of front matter, if a key with `true` is not enough.
    pub(crate) lines: Option<String>,
    pub(crate) sidecar: Option<Sidecar>,
}

/// A second file next to the first one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Sidecar {
    /// Below the folder of the first file.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The host's file of permanent instructions in which we keep a block.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Instructions {
    /// One of `files`.
    pub(crate) file: String,
}

/// Lengths that the host enforces.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(not(test), expect(dead_code, reason = "tests check the content against these limits"))]
pub(crate) struct Limits {
    /// Characters of a description.
    pub(crate) description: Option<usize>,
}
