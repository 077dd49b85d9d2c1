//! The vocabulary of all parts of a descriptor: scopes, places, features, values.

use crate::text::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// Whether an installation serves one user everywhere or one project.
    #[derive(PartialOrd, Ord, Hash, Serialize, JsonSchema)]
    pub(crate) enum Scope {
        Global = "global",
        Local = "local",
    }
}

/// The folder of our files below the host's folder.
pub(crate) const CONTENT_FOLDER: &str = "gsd-core";

/// What a place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PlaceItem {
    Command,
    Router,
    Agent,
}

impl PlaceItem {
    /// The plural name for people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            PlaceItem::Command => "commands",
            PlaceItem::Router => "routers",
            PlaceItem::Agent => "agents",
        }
    }
}

/// Where the host looks for items of some kinds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Place {
    pub(crate) items: Vec<PlaceItem>,
    #[serde(default = "both_scopes")]
    pub(crate) scopes: Vec<Scope>,
    #[serde(default)]
    pub(crate) anchor: PlaceAnchor,
    /// With `{name}`, the name without `gsd-`.
    pub(crate) path: String,
    pub(crate) encoding: Encoding,
}

pub(super) fn both_scopes() -> Vec<Scope> {
    vec![Scope::Global, Scope::Local]
}

/// The base folder of a place: `root`, `project`, or a folder of the user's home such as `~/.agents`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum PlaceAnchor {
    #[default]
    Root,
    Project,
    Home(String),
}

impl TryFrom<String> for PlaceAnchor {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match (text.as_str(), text.strip_prefix("~/")) {
            ("root", _) => Ok(PlaceAnchor::Root),
            ("project", _) => Ok(PlaceAnchor::Project),
            (_, Some(folder)) => Ok(PlaceAnchor::Home(folder.to_owned())),
            _ => Err(format!("`{text}` is not an anchor: `root`, `project`, or a folder that begins with `~/`")),
        }
    }
}

/// How the file of an item is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    /// Front matter, then the body.
    Markdown,
    /// Keys, one of which contains the body.
    Toml,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Flag(bool),
    Number(i64),
    Text(String),
}

words! {
    /// A feature that people look for in a host.
    #[derive(PartialOrd, Ord, Serialize, JsonSchema)]
    pub(crate) enum Feature {
        /// Commands can be typed.
        Commands = "commands",
        /// The few commands that the model sees, and that lead to the others.
        Routers = "routers",
        /// Agents that are started by name.
        Agents = "agents",
        /// A command is kept out of the model's list, but can be typed.
        TypedOnly = "typed-only",
        /// A command brings another file into the prompt.
        Include = "include",
        /// All events at once: only used in `[[lacks]]` rows.
        Hooks = "hooks",
        SessionStart = "session-start",
        BeforeTool = "before-tool",
        AfterTool = "after-tool",
        BeforeCompact = "before-compact",
        StatusLine = "status-line",
        /// A list of commands that may run without asking.
        Permissions = "permissions",
        /// An install for one project.
        Local = "local",
        /// A worktree for an agent.
        Worktrees = "worktrees",
    }
}

impl Feature {
    /// The features of the matrix, in the order of its columns.
    pub(crate) const ALL: [Feature; 13] = [
        Feature::Commands,
        Feature::Routers,
        Feature::Agents,
        Feature::TypedOnly,
        Feature::Include,
        Feature::SessionStart,
        Feature::BeforeTool,
        Feature::AfterTool,
        Feature::BeforeCompact,
        Feature::StatusLine,
        Feature::Permissions,
        Feature::Local,
        Feature::Worktrees,
    ];

    pub(super) fn is_event(self) -> bool {
        matches!(self, Feature::SessionStart | Feature::BeforeTool | Feature::AfterTool | Feature::BeforeCompact)
    }
}

/// Something that a host does not have, or has in another way than other hosts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Lack {
    pub(crate) what: Feature,
    /// For people, as the end of a sentence: no capital letter, no full stop.
    pub(crate) why: String,
}
