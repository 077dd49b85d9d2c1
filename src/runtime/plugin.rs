//! The part of a descriptor that is about plugins: a folder of content that the host loads as a whole.

use serde::Deserialize;

use super::terms::{Lack, Place};

/// How the host wants a plugin to look.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PluginForm {
    /// The file that makes a folder a plugin, below that folder; JSON with `name`, `version`, `description`.
    pub(crate) manifest: String,
    /// The file that makes the same folder a place to install plugins from; JSON with `name`, `owner`, `plugins`.
    pub(crate) marketplace: Option<String>,
    /// What stands for the plugin's folder in commands and agents: a variable that the host puts the folder in the
    /// place of, or the one folder it ever puts the plugin into, which begins with `~/`. Absent where the host only
    /// tells the model where the file of a command is.
    pub(crate) root: Option<String>,
    /// What the host puts the plugin's folder in the place of in command lines of hooks.
    pub(crate) hook_root: String,
    /// The folder whose programs the model's shell finds by their names; without it ours is called by its path.
    pub(crate) programs: Option<String>,
    /// The file of hook registrations, in the form of the host's own.
    pub(crate) hooks: String,
    /// How a person types a command of ours, with `{name}`.
    pub(crate) command: String,
    /// Where routers are typed in another way.
    pub(crate) router: Option<String>,
    pub(crate) agent: PluginAgent,
    #[serde(rename = "place")]
    pub(crate) places: Vec<Place>,
    pub(crate) in_use: Option<PluginsInUse>,
    /// What a person runs, or does, to have the host load `{folder}`.
    pub(crate) load: Vec<String>,
    /// What an install has and a plugin has not.
    #[serde(default)]
    pub(crate) lacks: Vec<Lack>,
}

impl PluginForm {
    /// The folder in which every plugin of ours is, if the host has one.
    pub(crate) fn fixed_root(&self) -> Option<&str> {
        self.root.as_deref().filter(|root| root.starts_with("~/"))
    }
}

/// How a call starts an agent of ours.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PluginAgent {
    /// By this name, with `{name}`.
    Named(String),
    /// Plugins hold no agents: a prompt begins with these words, which make the agent read its role in `{file}`.
    Role(String),
}

/// Where the host notes which plugins are in use.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub(crate) enum PluginsInUse {
    /// An object in one of `files` with a flag for each, or an object for each with the flag `enabled`.
    Flags {
        file: String,
        path: Vec<String>,
        /// How the key of ours begins.
        begins: String,
    },
    /// The plugin is in this folder, below the host's.
    Folder {
        folder: String,
        /// A JSON file, below the host's folder, and the list in it of where the plugin is in use; one that begins with
        /// `!` says where not.
        rules: Option<PluginRules>,
    },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PluginRules {
    pub(crate) file: String,
    pub(crate) path: Vec<String>,
}
