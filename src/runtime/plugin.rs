//! The part of a descriptor about plugins: a folder of content that the host loads as a whole.

use serde::Deserialize;

use super::terms::{Lack, Place};

/// The form in which the host expects a plugin.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PluginForm {
    /// The file that makes a folder a plugin, relative to it; JSON with `name`, `version`, `description`.
    pub(crate) manifest: String,
    /// The file that makes the same folder a marketplace; JSON with `name`, `owner`, `plugins`.
    pub(crate) marketplace: Option<String>,
    /// How commands and agents refer to the plugin's folder: a variable that the host replaces by the folder, or the
    /// fixed folder in which it puts the plugin, which begins with `~/`. Absent if the host only gives the model the
    /// path of the command's file.
    pub(crate) root: Option<String>,
    /// The text that the host replaces by the plugin's folder in command lines of hooks.
    pub(crate) hook_root: String,
    /// The folder whose programs the model's shell finds by name; if absent, ours is called by its path.
    pub(crate) programs: Option<String>,
    /// The file of hook registrations, in the host's form.
    pub(crate) hooks: String,
    /// How a person types one of our commands, with `{name}`.
    pub(crate) command: String,
    /// Set if routers are typed in another way.
    pub(crate) router: Option<String>,
    pub(crate) agent: PluginAgent,
    #[serde(rename = "place")]
    pub(crate) places: Vec<Place>,
    pub(crate) in_use: Option<PluginsInUse>,
    /// What a person runs or does to make the host load `{folder}`.
    pub(crate) load: Vec<String>,
    /// Features of an install that a plugin does not have.
    #[serde(default)]
    pub(crate) lacks: Vec<Lack>,
}

impl PluginForm {
    /// The folder that contains all our plugins, if the host has one.
    pub(crate) fn fixed_root(&self) -> Option<&str> {
        self.root.as_deref().filter(|root| root.starts_with("~/"))
    }
}

/// How a call starts one of our agents.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PluginAgent {
    /// By this name, with `{name}`.
    Named(String),
    /// For hosts whose plugins contain no agents: the start of a prompt that makes the agent read its role in `{file}`.
    Role(String),
}

/// Where the host records which plugins are in use.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub(crate) enum PluginsInUse {
    /// An object in one of `files` with a flag for each plugin, or an object with the flag `enabled`.
    Flags {
        file: String,
        path: Vec<String>,
        /// The prefix of our plugin's key.
        begins: String,
    },
    /// The plugin is in this folder, below the host's folder.
    Folder {
        folder: String,
        /// A JSON file, below the host's folder, and its list of where the plugin is in use; an entry that begins with
        /// `!` is an exception.
        rules: Option<PluginRules>,
    },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PluginRules {
    pub(crate) file: String,
    pub(crate) path: Vec<String>,
}
