//! What we own in a folder: `gsd-file-manifest.json`, with one section for each host and scope that is installed there.
//!
//! Files and folders are relative to the folder of the manifest. The section of a host in a project also lists what it
//! owns in the project itself. The manifest only changes if the install does: it contains no date and no absolute path.
//! Keys of another program that uses a manifest with the same name are preserved.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::shared::MadeEdit;
use crate::disk::{Digest, RelativePath};
use crate::emit::{Anchor, SharedEdit};
use crate::library::CommandProfile;
use crate::runtime::{RuntimeId, Scope};
use crate::text::edit::FileFormat;

/// The name of the file, in each folder that contains our files.
pub(crate) const FILE: &str = "gsd-file-manifest.json";

/// One manifest file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// By host and scope, such as `name/global`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) installs: BTreeMap<String, Section>,
    /// Keys that are not ours.
    #[serde(flatten)]
    foreign: Map<String, Value>,
}

/// What one host in one scope owns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Section {
    /// The version of this structure.
    pub(crate) format: u32,
    /// The version of the program that wrote the files.
    pub(crate) version: String,
    pub(crate) runtime: RuntimeId,
    pub(crate) scope: Scope,
    #[serde(flatten)]
    pub(crate) options: InstallOptions,
    #[serde(flatten)]
    pub(crate) holdings: Holdings,
    /// What it owns in the project that its folder is part of.
    #[serde(default, skip_serializing_if = "Holdings::is_empty")]
    pub(crate) project: Holdings,
    /// Folders of the user's home, shared between hosts, whose manifests have a section of this install.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) homes: BTreeSet<String>,
}

/// What was requested of an install; later installs keep it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstallOptions {
    /// Commands are below routers.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) nested: bool,
    /// The host's permission list is left unchanged.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) without_permissions: bool,
    /// The commands that are installed; absent for all.
    #[serde(default, skip_serializing_if = "CommandProfile::is_full")]
    pub(crate) profile: CommandProfile,
    /// Ours replaces the user's status line.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) replaces_status_line: bool,
    /// Hooks name our program by the home that the shell knows.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) portable_hooks: bool,
    /// Updates leave installs of other programs in place. An install decides it each time.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) keeps_others: bool,
}

/// Files, folders and edits below one folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Holdings {
    /// Files that only we own, as we wrote them.
    #[serde(default)]
    pub(crate) files: BTreeMap<RelativePath, Digest>,
    /// Folders that were made for them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) folders: BTreeSet<RelativePath>,
    /// How many folders were made from this one upwards; 1 is this folder itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) folders_above: usize,
    /// Files that we share with others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) shared: BTreeMap<RelativePath, Ledger>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What was done to a file that we share with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ledger {
    pub(crate) format: FileFormat,
    /// The digest of the file before our edits, whose bytes are kept; `None` if it did not exist, or its bytes are not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Digest>,
    /// The digest of the file after our edits.
    pub(crate) after: Digest,
    /// True if the file did not exist.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) created: bool,
    pub(crate) edits: Vec<MadeEdit>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Ledger {
    /// True if these are the edits that were asked for.
    pub(crate) fn is_of(&self, edits: &[SharedEdit]) -> bool {
        self.edits.iter().map(|made| &made.edit).eq(edits)
    }
}

impl Holdings {
    pub(crate) fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Drops listed files that are shared or are the manifest itself: they are not ours to remove.
    fn settle(&mut self) {
        let shared = &self.shared;
        self.files.retain(|path, _| !shared.contains_key(path) && path.as_str() != FILE);
    }

    /// True if it owns the file, in whole or in part.
    pub(crate) fn owns(&self, path: &RelativePath) -> bool {
        self.files.contains_key(path) || self.shared.contains_key(path)
    }
}

impl Section {
    pub(crate) const FORMAT: u32 = 1;

    pub(crate) fn new(runtime: RuntimeId, scope: Scope, version: &str) -> Self {
        Self {
            format: Self::FORMAT,
            version: version.to_owned(),
            runtime,
            scope,
            options: InstallOptions::default(),
            holdings: Holdings::default(),
            project: Holdings::default(),
            homes: BTreeSet::new(),
        }
    }
}

impl Manifest {
    /// Parses the text of a manifest; `None` gives an empty manifest.
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, ManifestProblem> {
        let Some(text) = text else { return Ok(Self::default()) };
        // The format is checked first: a section of a newer program may look different.
        let outline: Outline =
            serde_json::from_str(text).map_err(|error| ManifestProblem::Broken(error.to_string()))?;
        if let Some(newer) = outline.installs.values().map(|section| section.format).find(|it| *it > Section::FORMAT) {
            return Err(ManifestProblem::Newer { found: newer, known: Section::FORMAT });
        }
        let mut manifest: Self =
            serde_json::from_str(text).map_err(|error| ManifestProblem::Broken(error.to_string()))?;
        for section in manifest.installs.values_mut() {
            section.holdings.settle();
            section.project.settle();
        }
        Ok(manifest)
    }

    /// The same manifest without our sections.
    pub(crate) fn without_installs(&self) -> Self {
        Self { installs: BTreeMap::new(), foreign: self.foreign.clone() }
    }

    /// The text of the file; `None` if the manifest is empty.
    pub(crate) fn to_text(&self) -> Option<String> {
        if self.installs.is_empty() && self.foreign.is_empty() {
            return None;
        }
        let mut text = serde_json::to_string_pretty(self).ok()?;
        // The other program writes its manifest without a final newline.
        if !self.installs.is_empty() {
            text.push('\n');
        }
        Some(text)
    }

    /// The other sections, which may own the same files.
    pub(crate) fn others(&self, key: &str) -> impl Iterator<Item = &Section> {
        self.installs.iter().filter(move |(other, _)| *other != key).map(|(_, section)| section)
    }

    /// Records the new digest of a file that several installs own: it is the same file for all of them.
    pub(crate) fn renew(&mut self, except: &str, anchor: &Anchor, path: &RelativePath, digest: Digest) {
        for (_, section) in self.installs.iter_mut().filter(|(key, _)| *key != except) {
            let holdings = if *anchor == Anchor::Project { &mut section.project } else { &mut section.holdings };
            holdings.files.entry(path.clone()).and_modify(|known| *known = digest);
        }
    }

    /// Every file listed in this manifest, by any program.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let ours = self.installs.values().map(|section| &section.holdings);
        let ours = ours.flat_map(|holdings| holdings.files.keys().chain(holdings.shared.keys()));
        let theirs = self.foreign_files();
        ours.map(RelativePath::as_str).chain(theirs.into_iter().flat_map(Map::keys).map(String::as_str))
    }

    /// True if it has a list of files by any program, even an empty one.
    pub(crate) fn has_files(&self) -> bool {
        !self.installs.is_empty() || self.foreign_files().is_some()
    }

    /// The version of the program whose files are listed.
    pub(crate) fn version(&self) -> Option<&str> {
        let ours = self.installs.values().next().map(|section| section.version.as_str());
        ours.or_else(|| self.foreign.get("version").and_then(Value::as_str))
    }

    /// The files that another program lists here, with their digests, if it does.
    pub(crate) fn foreign_files(&self) -> Option<&Map<String, Value>> {
        self.foreign.get("files").and_then(Value::as_object)
    }

    /// A text that another program keeps here.
    pub(crate) fn foreign_text(&self, key: &str) -> Option<&str> {
        self.foreign.get(key).and_then(Value::as_str)
    }

    /// Removes keys of another program.
    pub(crate) fn drop_foreign(&mut self, keys: &[String]) {
        self.foreign.retain(|key, _| !keys.contains(key));
    }
}

#[derive(Deserialize)]
struct Outline {
    #[serde(default)]
    installs: BTreeMap<String, SectionOutline>,
}

#[derive(Deserialize)]
struct SectionOutline {
    format: u32,
}

/// Why a manifest cannot be used. The caller adds the name of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ManifestProblem {
    #[error("it does not parse: {0}")]
    Broken(String),
    #[error("it was written by a newer version (format {found}, this one knows {known})")]
    Newer { found: u32, known: u32 },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section() -> Section {
        let mut section = Section::new("some-host".parse().unwrap(), Scope::Global, "1.2.3");
        section.holdings.files.insert(RelativePath::parse("a/b.md").unwrap(), Digest::of(b"x"));
        section.holdings.folders.insert(RelativePath::parse("a").unwrap());
        section.homes.insert(".shared".into());
        section
    }

    #[test]
    fn a_manifest_reads_back_what_it_wrote() {
        let mut manifest = Manifest::default();
        assert_eq!(manifest.to_text(), None);
        manifest.installs.insert("some-host/global".into(), section());
        let text = manifest.to_text().unwrap();
        assert!(text.ends_with("}\n"));
        assert_eq!(Manifest::parse(Some(&text)).unwrap(), manifest);
    }

    #[test]
    fn a_shared_file_listed_as_only_ours_is_a_shared_file() {
        let ledger = r#"{"format": "markdown", "after": "DIGEST", "edits": []}"#;
        let text = r#"{"installs": {"x/global": {"format": 1, "version": "1", "runtime": "x", "scope": "global",
            "files": {"a.md": "DIGEST", "b.md": "DIGEST", "gsd-file-manifest.json": "DIGEST"}, "shared": {"a.md": LEDGER}}}}"#;
        let text = text.replace("LEDGER", ledger).replace("DIGEST", &Digest::of(b"x").to_string());
        let manifest = Manifest::parse(Some(&text)).unwrap();
        let holdings = &manifest.installs["x/global"].holdings;
        assert_eq!(holdings.files.keys().map(RelativePath::as_str).collect::<Vec<_>>(), ["b.md"]);
        assert_eq!(holdings.shared.len(), 1);
    }

    #[test]
    fn another_programs_manifest_is_written_back_unchanged() {
        let theirs = "{\n  \"manifestVersion\": 2,\n  \"files\": {\n    \"x\": \"00\"\n  }\n}";
        let mut manifest = Manifest::parse(Some(theirs)).unwrap();
        assert!(manifest.foreign_files().is_some());
        manifest.installs.insert("some-host/global".into(), section());
        let both = Manifest::parse(manifest.to_text().as_deref()).unwrap();
        assert_eq!(both, manifest);
        manifest.installs.clear();
        assert_eq!(manifest.to_text().as_deref(), Some(theirs));
    }

    #[test]
    fn a_newer_or_broken_manifest_is_refused() {
        let newer = r#"{"installs": {"x/global": {"format": 9, "else": true}}}"#;
        assert_eq!(Manifest::parse(Some(newer)), Err(ManifestProblem::Newer { found: 9, known: 1 }));
        let escaping = r#"{"installs": {"x/global": {"format": 1, "version": "1", "runtime": "x", "scope": "global",
            "files": {"../out": "00"}}}}"#;
        for broken in ["", "[]", "{\"installs\": 3}", escaping] {
            assert!(matches!(Manifest::parse(Some(broken)), Err(ManifestProblem::Broken(_))), "{broken}");
        }
    }
}
