//! What an install adds to a host in addition to files: hooks, permissions, a status line.

use schemars::JsonSchema;
use serde::Serialize;

use super::{NotLoaded, OtherInstall};
use crate::disk::AbsolutePath;

/// What an install adds to a host, and what prevents it from working.
#[derive(Debug, Default)]
pub(crate) struct Adds {
    /// How many hooks the host runs for us.
    pub(crate) hooks: usize,
    /// The files that let our program run without asking.
    pub(crate) permissions: Vec<AbsolutePath>,
    /// `None` if the host has no status line that can be set.
    pub(crate) status_line: Option<StatusLine>,
    /// Settings of the user that leave no room for our entries: the file, the key and its value.
    pub(crate) kept_out: Vec<(AbsolutePath, String, String)>,
    /// Settings files that the host does not load.
    pub(crate) not_loaded: Vec<NotLoaded>,
    /// The host's folder in the other scope, if it is installed there too: hooks then run twice.
    pub(crate) other_scope: Option<AbsolutePath>,
    /// Enabled plugins of other programs with the same commands.
    pub(crate) other_plugins: Vec<OtherInstall>,
    /// Installs of other programs that were left in place on request.
    pub(crate) left_in_place: Vec<OtherInstall>,
    /// What was requested and has no effect in this host, with the reason.
    pub(crate) without_effect: Vec<String>,
}

/// Whose status line the host shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StatusLine {
    Ours,
    /// The user already had one, which is kept.
    Kept,
}
