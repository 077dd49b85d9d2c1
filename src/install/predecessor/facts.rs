//! The names and texts by which we recognise what the other program left, read from `facts.toml`.

use serde::Deserialize;

use crate::disk::Digest;
use crate::runtime::{HostFormat, RuntimeId, Scope};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PredecessorFacts {
    /// The manifest keys of that program.
    pub(super) manifest_keys: Vec<String>,
    /// With `{name}`: files that it makes, whether its manifest lists them or not.
    pub(super) surfaces: Vec<String>,
    /// Names of commands that the manifest may not list.
    pub(super) names: Vec<String>,
    pub(super) folders: Vec<String>,
    pub(super) empty_folders: Vec<String>,
    /// With `{root}`.
    pub(super) permissions: Vec<String>,
    pub(super) permission_keys: Vec<String>,
    pub(super) server: String,
    pub(super) scripts: Vec<String>,
    pub(super) texts: Vec<Digest>,
    elsewhere: Vec<Elsewhere>,
    home: Vec<HomeFolder>,
    settings: Vec<SettingsFiles>,
    pub(super) unsure: Vec<UnsureSetting>,
    pub(super) block: Vec<Block>,
    pub(super) toml: TomlFacts,
    pub(super) bookkeeping: Vec<Bookkeeping>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Elsewhere {
    runtime: RuntimeId,
    scope: Scope,
    folders: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct HomeFolder {
    runtime: RuntimeId,
    folder: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct SettingsFiles {
    format: HostFormat,
    runtime: Option<RuntimeId>,
    scope: Option<Scope>,
    paths: Vec<String>,
}

/// A setting that a person may have made too.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct UnsureSetting {
    pub(super) path: Vec<String>,
    /// Its value, or one element of the list.
    pub(super) value: serde_json::Value,
}

/// The lines around a block.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Block {
    pub(super) open: String,
    pub(super) close: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TomlFacts {
    pub(super) comments: Vec<String>,
    pub(super) tables: Vec<String>,
    pub(super) lines: Vec<TableLine>,
    pub(super) agents: String,
    pub(super) hooks: String,
    /// The ends of the paths that such a table runs.
    pub(super) hook_files: Vec<String>,
    /// What it puts on top of the file, where the keys of the user that follow become part of its table.
    pub(super) top: String,
    /// The comment, anywhere in the file, that marks [`Self::top`] as theirs.
    pub(super) top_comment: String,
}

/// A line in a table of the user that may belong to the other program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TableLine {
    pub(super) table: String,
    pub(super) line: String,
    /// The comment, anywhere in the file, that marks the line as theirs.
    pub(super) comment: String,
}

/// A small file whose bytes differ between installs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Bookkeeping {
    /// A file, or a folder of such files.
    pub(super) path: String,
    runtime: Option<RuntimeId>,
    begins: Option<String>,
    ends: Option<String>,
    lines: Option<usize>,
}

impl Bookkeeping {
    pub(super) fn is_of(&self, runtime: &RuntimeId) -> bool {
        self.runtime.as_ref().is_none_or(|only| only == runtime)
    }

    /// True if the text looks like such a file.
    pub(super) fn is_like(&self, text: &str) -> bool {
        self.begins.as_ref().is_none_or(|begins| text.starts_with(begins))
            && self.ends.as_ref().is_none_or(|ends| text.trim_end().replace('\\', "/").ends_with(ends))
            && self.lines.is_none_or(|lines| text.lines().count() == lines)
    }
}

impl PredecessorFacts {
    pub(super) fn embedded() -> Result<Self, toml_edit::de::Error> {
        toml_edit::de::from_str(include_str!("facts.toml"))
    }

    /// Other folders than the host's own that may contain a manifest for this host; with `~/` or below the project.
    pub(super) fn elsewhere(&self, runtime: &RuntimeId, scope: Scope) -> impl Iterator<Item = &str> {
        let rows = self.elsewhere.iter().filter(move |row| row.runtime == *runtime && row.scope == scope);
        rows.flat_map(|row| &row.folders).map(String::as_str)
    }

    /// Folders of the home with files that the manifest lists as if they were next to it.
    pub(super) fn homes(&self, runtime: &RuntimeId, scope: Scope) -> impl Iterator<Item = &str> {
        let rows = self.home.iter().filter(move |row| row.runtime == *runtime && scope == Scope::Global);
        rows.map(|row| row.folder.as_str())
    }

    /// The files it edits for this host.
    pub(super) fn settings(&self, runtime: &RuntimeId, scope: Scope) -> impl Iterator<Item = (&str, HostFormat)> {
        let rows = self.settings.iter().filter(move |row| {
            row.runtime.as_ref().is_none_or(|only| only == runtime) && row.scope.is_none_or(|only| only == scope)
        });
        rows.flat_map(|row| row.paths.iter().map(|path| (path.as_str(), row.format)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_parse_and_the_small_files_are_recognised_by_their_contents() {
        let facts = PredecessorFacts::embedded().unwrap();
        let file = |path: &str| facts.bookkeeping.iter().find(|file| file.path == path).unwrap();
        assert!(file(".gsd-profile").is_like("full\n") && !file(".gsd-profile").is_like("full\nmine\n"));
        assert!(file(".gsd-source").is_like("/home/u/.x/gsd-core/commands/gsd\n"));
        assert!(!file(".gsd-source").is_like("my notes\n"));
        assert!(!file("gsd-install-state.json").is_like("{}"));
    }
}
