//! The part of a descriptor that is about plugins: a folder of content that the host loads as a whole.

use serde::Deserialize;

use super::descriptor::Place;

/// How the host wants a plugin to look.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PluginForm {
    /// The file that makes a folder a plugin, below that folder; JSON with `name`, `version`, `description`.
    pub(crate) manifest: String,
    /// What the host puts the plugin's folder in the place of, in commands, agents and command lines of hooks.
    pub(crate) root: String,
    /// The folder whose programs the model's shell finds by their names.
    pub(crate) programs: String,
    /// The file of hook registrations, in the form of the host's own.
    pub(crate) hooks: String,
    /// How a person types a command of ours, with `{name}`.
    pub(crate) command: String,
    /// How a call names an agent of ours, with `{name}`.
    pub(crate) agent: String,
    #[serde(rename = "place")]
    pub(crate) places: Vec<Place>,
    pub(crate) in_use: Option<PluginsInUse>,
}

/// Where the host notes which plugins are in use: an object with a flag for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PluginsInUse {
    /// One of `files`.
    pub(crate) file: String,
    pub(crate) path: Vec<String>,
    /// How the key of ours begins.
    pub(crate) begins: String,
}
