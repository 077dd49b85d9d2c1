//! The schema of a descriptor: what a user of a host could check in the host's manual.
//!
//! Places, spellings, formats, names. Never what *we* do with them: no key may be called `skip-…` or `legacy-…`.
//! A key that one descriptor alone uses is listed with its reason in the tests of this room.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agents::{Dispatch, Spawn};
use super::files::{FileEdit, HostFile, OwnFile};
use super::plugin::PluginForm;
use super::tables::{HookTable, StatusLine};
use super::terms::{Lack, Place, PlaceItem, Scalar, Scope};

/// Everything we believe about one host.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Descriptor {
    pub(crate) id: RuntimeId,
    /// As its maker writes it.
    pub(crate) name: String,
    /// Other words a person may use for it.
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    pub(crate) verified: Verified,
    /// Absent where none is known: the host is then found by its folder alone.
    pub(crate) programs: Option<Programs>,
    pub(crate) home: HomeTable,
    #[serde(rename = "place")]
    pub(crate) places: Vec<Place>,
    pub(crate) mention: Mentions,
    pub(crate) arguments: ArgumentForm,
    pub(crate) include: IncludeForm,
    #[serde(default)]
    pub(crate) file_tools: FileReach,
    /// The file a project keeps its standing instructions in.
    pub(crate) instruction_file: String,
    /// Variables in which it names its session to what it runs; the first that is set counts. They are gathered when the
    /// program is built, since every call and every hook asks for them.
    #[serde(default)]
    pub(crate) session_variables: Vec<String>,
    pub(crate) command: Form,
    /// Routers look like commands unless this says otherwise.
    pub(crate) router: Option<Form>,
    pub(crate) agent: Form,
    #[serde(default)]
    pub(crate) typed_only: TypedOnly,
    #[serde(default)]
    pub(crate) spawn: Spawn,
    /// How agents run; absent where nobody knows.
    pub(crate) dispatch: Option<Dispatch>,
    /// Tool names of the canonical content, and the host's own. A tool that is not here has the same name.
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, String>,
    /// Files of the host that we edit, by a name used below.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, HostFile>,
    #[serde(default, rename = "edit")]
    pub(crate) edits: Vec<FileEdit>,
    /// Small files of our own that only this host needs.
    #[serde(default, rename = "own-file")]
    pub(crate) own_files: Vec<OwnFile>,
    pub(crate) hooks: Option<HookTable>,
    #[serde(default)]
    pub(crate) asking: Asking,
    pub(crate) status_line: Option<StatusLine>,
    /// Absent where the host has none, or its form is not known.
    pub(crate) plugin: Option<PluginForm>,
    pub(crate) instructions: Option<Instructions>,
    /// What people look for and do not find here.
    #[serde(default)]
    pub(crate) lacks: Vec<Lack>,
    /// What an agent is told to do to load a skill of a plugin, `{skill}` standing for its name; absent where the host
    /// loads none by name.
    pub(crate) plugin_skill: Option<String>,
    /// Variables that the host sets for the programs its agents run.
    #[serde(default)]
    pub(crate) shell_variables: Vec<String>,
    /// Where the host keeps what was said; absent where its form is not known.
    pub(crate) sessions: Option<Sessions>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check the content against these limits"))]
    pub(crate) limits: Limits,
}

impl Descriptor {
    pub(crate) fn parse(text: &str) -> Result<Descriptor, toml_edit::de::Error> {
        toml_edit::de::from_str(text)
    }

    /// The place of items of this kind in this scope, if the host has one.
    pub(crate) fn place(&self, item: PlaceItem, scope: Scope) -> Option<&Place> {
        self.places.iter().find(|place| place.items.contains(&item) && place.scopes.contains(&scope))
    }

    /// How items of this kind are written down.
    pub(crate) fn form(&self, item: PlaceItem) -> &Form {
        match item {
            PlaceItem::Command => &self.command,
            PlaceItem::Router => self.router.as_ref().unwrap_or(&self.command),
            PlaceItem::Agent => &self.agent,
        }
    }
}

/// What a host keeps of its conversations: a folder a project in it, a file a session, a line of JSON for each thing
/// that happened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Sessions {
    /// Below the host's folder.
    pub(crate) folder: String,
    /// How messages begin that nobody typed.
    #[serde(default)]
    pub(crate) untyped: Vec<String>,
}

/// The word for a host on the command line: `a-z`, digits and `-`. It has no variants, so no code can match on it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct RuntimeId(String);

/// A text that cannot name a host.
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

/// The programs in `PATH` by which the client is found, and which start it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Programs {
    /// The best first.
    pub(crate) names: Vec<String>,
    /// Where other programs have these names too: words of which one is in the path that the name leads to, or in the
    /// first lines of the script. A program without them is another one.
    #[serde(default)]
    pub(crate) marks: Vec<String>,
    /// The day that this was checked: `2026-11-21`.
    pub(crate) date: String,
    /// Where it is from.
    pub(crate) source: String,
}

/// What a descriptor rests on, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Evidence {
    /// The client itself was run and watched.
    Client,
    /// Its maker's documents.
    VendorDoc,
    /// What others say of it.
    Secondary,
}

/// What the host asks about before it runs a command line with an allowed call on it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Asking {
    /// What of a line its rules do not see, so that it runs unasked with the call.
    pub(crate) blind_to: Vec<LinePart>,
    /// What more they do not see in a mode, by its word for the mode in what it tells hooks.
    pub(crate) modes: BTreeMap<String, Vec<LinePart>>,
    /// Its words for modes in which it asks about no command, in what it tells hooks.
    pub(crate) silent_modes: Vec<String>,
}

impl Asking {
    /// What its rules do not see in a mode; in any of them where the host does not say which one it is in.
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

/// A part of a command line beside the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LinePart {
    /// `$(...)`, backticks, `<(...)`.
    Substitution,
    /// `NAME=value`, `export NAME=value`.
    Assignment,
    /// `> file`.
    Redirection,
    /// A further line.
    LineBreak,
}

/// Where the host keeps its files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HomeTable {
    /// Begins with `~/`.
    pub(crate) global: String,
    pub(crate) local: LocalHome,
    /// The first one that is set wins over `global`.
    #[serde(default)]
    pub(crate) environment: Vec<HomeVariable>,
    /// Where its maker tells people to keep skills of their own, if that is not where ours are. Begins with `~/`.
    pub(crate) skills: Option<String>,
    /// Whether texts call our program by its whole path, and not by one that begins with `~`: for hosts whose rules for
    /// commands have no way to tell `~` from another letter, or from a home that the command line itself sets.
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
    /// Nowhere; `none` tells a person why, as a clause of its own.
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

/// What such a variable names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum VariableHolds {
    /// The folder itself.
    #[default]
    Folder,
    /// A file in the folder.
    File,
    /// The folder above one of this name.
    ParentOf(String),
}

/// How a person, or a text for a person, names a command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Mentions {
    /// With `{name}`, which is the name without `gsd-`.
    pub(crate) command: String,
    /// Where routers are typed in another way.
    pub(crate) router: Option<String>,
}

/// How the text a person types after a command reaches the model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ArgumentForm {
    /// The host puts it where this placeholder stands.
    Placeholder(String),
    /// The host does not touch the body; the model sees what was typed beside it.
    Beside,
}

/// How a command gets another file into the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IncludeForm {
    /// The host sends the file that `@path` names.
    At,
    /// The model is told to read it.
    Read,
    /// The model's file tools do not reach it, so its text stands in the command itself.
    Inline,
}

/// Where the model's file tools can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileReach {
    #[default]
    Anywhere,
    /// In the project only; a shell reaches further.
    Workspace,
}

/// What is written on top of the files of one kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Form {
    /// Canonical keys the host knows, in the order they are written.
    pub(crate) keep: Vec<String>,
    /// Canonical keys the host calls otherwise.
    #[serde(default)]
    pub(crate) rename: BTreeMap<String, String>,
    /// Keys with the same value in every file.
    #[serde(default)]
    pub(crate) add: BTreeMap<String, Scalar>,
    /// The key of the body where the file has no body of its own.
    pub(crate) body_key: Option<String>,
    /// How the tools of an agent are granted; without this they are written as they are.
    pub(crate) tools: Option<AgentTools>,
    /// The host puts values where `${name}` stands in the text, and refuses the text where it has none.
    #[serde(default)]
    pub(crate) template: bool,
    /// How the host marks an agent that must not change files.
    pub(crate) read_only: Option<ReadOnlyMark>,
}

/// The host's way to say which tools an agent has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub(crate) enum AgentTools {
    /// A list of the host's names. A canonical tool that is not in `names` is left out.
    List {
        key: String,
        names: BTreeMap<String, String>,
        /// A tool of an MCP server, with `{server}` and `{tool}`; without this such tools are left out.
        mcp: Option<String>,
    },
    /// A map of the host's permissions; one is denied if the agent has none of the canonical tools it covers.
    Denials { key: String, covers: BTreeMap<String, Vec<String>> },
}

/// A key that says whether an agent may change files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ReadOnlyMark {
    pub(crate) key: String,
    pub(crate) value: Scalar,
    /// The value for all other agents; without this they do not get the key.
    pub(crate) otherwise: Option<Scalar>,
}

/// How a command stays out of the list the model gets, and can still be typed.
///
/// Empty where the host never lists command files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TypedOnly {
    /// A front matter key that is set to `true`.
    pub(crate) key: Option<String>,
    /// Lines of front matter, where a key that is `true` does not do it.
    pub(crate) lines: Option<String>,
    pub(crate) sidecar: Option<Sidecar>,
}

/// A second file beside the first one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Sidecar {
    /// Below the folder of the first file.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The host's file of standing instructions in which we keep a block.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Instructions {
    /// One of `files`.
    pub(crate) file: String,
}

/// Lengths the host enforces.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(not(test), expect(dead_code, reason = "tests check the content against these limits"))]
pub(crate) struct Limits {
    /// Characters of a description.
    pub(crate) description: Option<usize>,
}
