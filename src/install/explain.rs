//! Explains a file of a host: which of its keys and lines are ours, another program's or the user's, and since when.
//! Read-only.
//!
//! What is ours, the manifests and their ledgers say; when it came, the history: the newest call before which the
//! manifest did not list it. What belongs to another program of the family is what a takeover would remove.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::manifest::{self, Holdings, Ledger, Manifest, Section};
use super::predecessor::{self, Recogniser};
use super::registered::runs_our_program;
use super::shared::MadeEdit;
use super::target::SET_ASIDE;
use super::undo::{PastCall, past_calls};
use super::{InstallError, Target, custom, vouch};
use crate::disk::history::History;
use crate::disk::{self, AbsolutePath, Found, RelativePath, Snapshot};
use crate::emit::{Anchor, SharedEdit};
use crate::runtime::{HostFormat, PlaceAnchor, Scope};
use crate::text::edit::{FileFormat, JsonDialect};
use crate::text::json::{JsonDocument, JsonEdit};
use crate::text::leaf::SettingsLeaf;
use crate::text::toml::{TomlDocument, TomlEdit};
use crate::text::yaml::{YamlDocument, YamlEdit};
use crate::world::World;

/// A file of a host, and whose it is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Explanation {
    /// As a person would name it.
    pub(crate) path: String,
    /// The host's id.
    pub(crate) runtime: String,
    /// The host's name.
    #[serde(skip)]
    pub(crate) host: String,
    pub(crate) scope: Scope,
    pub(crate) what: HostFileKind,
    /// Whose it is, as a whole; a settings file that others have entries in too is the user's.
    pub(crate) whose: Whose,
    /// The program that wrote it, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// Since when it is installed, or since when our entries are in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<OwnedSince>,
    /// Our other installs that have a part in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) shared_with: Vec<String>,
    /// The keys and lines of a file that others have entries in too.
    pub(crate) rows: Vec<ExplainedRow>,
}

/// What a file of a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HostFileKind {
    /// An installed file, as it was written.
    Installed,
    /// An installed file that was edited since.
    Edited,
    /// An installed file that is not there.
    Missing,
    /// Settings or instructions of the host, in which others have entries too.
    Settings,
    /// The list of what is installed.
    Manifest,
    /// Your version of an installed file, which an install moved.
    SetAside,
    /// A file that we did not install.
    Other,
}

/// Whose a file, a key or a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Whose {
    Ours,
    Yours,
    /// Another program's of this family.
    Another,
}

/// When one of our entries or files came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OwnedSince {
    /// The version that wrote it, or of the install if no record of the call is left.
    pub(crate) version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<String>,
    /// The number of the call in `gsd-tools history`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<u64>,
}

/// A key, an entry of a list, or some lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ExplainedRow {
    /// The first line, counted from 1; `None` if it cannot be determined.
    pub(crate) line: Option<usize>,
    /// The last line, of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_line: Option<usize>,
    /// The path of the key, with dots between its parts; `[]` at the end means an entry of that list. Empty for a text.
    pub(crate) key: String,
    /// The value, shortened; of a hook, its command.
    pub(crate) value: String,
    pub(crate) whose: Whose,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<OwnedSince>,
}

/// One install's part in the file.
struct ExplainedPart<'a> {
    target: &'a Target,
    section: Section,
    /// The key of the section, and the folder of its manifest.
    key: String,
    folder: AbsolutePath,
    is_of_project: bool,
    relative: RelativePath,
}

impl ExplainedPart<'_> {
    fn holdings<'section>(&self, section: &'section Section) -> &'section Holdings {
        if self.is_of_project { &section.project } else { &section.holdings }
    }

    fn ledger(&self) -> Option<&Ledger> {
        self.holdings(&self.section).shared.get(&self.relative)
    }

    fn name(&self) -> String {
        format!("{} ({})", self.target.descriptor.name, self.target.scope.word())
    }
}

/// The file as one of the installs or hosts has it; `None` if it is below no host's folder.
pub(crate) fn explain(
    targets: &[Target],
    path: &AbsolutePath,
    world: &World,
) -> Result<Option<Explanation>, InstallError> {
    let mut snapshot = Snapshot::default();
    let path = &placed(path)?;
    let mut parts = Vec::new();
    for target in targets {
        match parts_of(target, path, &mut snapshot) {
            Ok(found) => parts.extend(found),
            // What is wrong with another host's install is not asked here.
            Err(_) if !has_in_its_folder(target, path) => {}
            Err(error) => return Err(target.explain(error)),
        }
    }
    // The first install is described; the others that have a part in the file are named.
    if let Some(first) = parts.first() {
        let explained = match first.ledger() {
            Some(ledger) => shared(path, first, &parts, ledger.format, world, &mut snapshot),
            None => whole(path, first, &parts, world, &mut snapshot),
        };
        return explained.map(Some).map_err(|error| first.target.explain(error));
    }
    let mut holders = targets.iter().filter(|target| has_in_its_folder(target, path)).collect::<Vec<_>>();
    holders.sort_by_key(|target| std::cmp::Reverse(target.root.as_path().components().count()));
    let Some(target) = holders.first() else { return Ok(None) };
    not_listed(path, target, &mut snapshot).map(Some).map_err(|error| target.explain(error))
}

/// The path with the links of its folder resolved: installs name their files so.
fn placed(path: &AbsolutePath) -> Result<AbsolutePath, InstallError> {
    let Some(folder) = path.parent() else { return Ok(path.clone()) };
    Ok(disk::canonical(&folder)?.resolve(path.name()))
}

/// The parts that an install has in the file: in the host's folder, a folder of the home, or the project.
fn parts_of<'a>(
    target: &'a Target,
    path: &AbsolutePath,
    snapshot: &mut Snapshot,
) -> Result<Vec<ExplainedPart<'a>>, InstallError> {
    let mut found = Vec::new();
    let homes = target.descriptor.places.iter().filter_map(|place| match &place.anchor {
        PlaceAnchor::Home(folder) => Some(Anchor::Home(folder.clone())),
        PlaceAnchor::Root | PlaceAnchor::Project => None,
    });
    let mut anchors: Vec<Anchor> = [Anchor::Root, Anchor::Project].into_iter().chain(homes).collect();
    anchors.dedup();
    let real = disk::canonical(path)?;
    for anchor in anchors {
        let base = target.folder(&anchor);
        let is_of_project = anchor == Anchor::Project;
        if is_of_project && target.scope == Scope::Global {
            continue;
        }
        let (folder, key) = (target.manifest_folder(&anchor), target.section_key(&anchor));
        let manifest = vouch::read(target, &folder, snapshot)?.manifest;
        let Some(section) = manifest.installs.get(&key).cloned() else { continue };
        let holdings = if is_of_project { &section.project } else { &section.holdings };
        let named = path.relative_to(&base).filter(|below| holdings.owns(below));
        // Settings may be named by the target of a link.
        let linked = || {
            let mut shared = holdings.shared.keys();
            shared.find(|name| disk::canonical(&base.join(name)).is_ok_and(|it| it == real)).cloned()
        };
        if let Some(relative) = named.or_else(linked) {
            found.push(ExplainedPart { target, section, key, folder, is_of_project, relative });
        }
    }
    Ok(found)
}

fn has_in_its_folder(target: &Target, path: &AbsolutePath) -> bool {
    let homes = target.descriptor.places.iter().filter_map(|place| match &place.anchor {
        PlaceAnchor::Home(folder) => Some(target.user.resolve(folder)),
        PlaceAnchor::Root | PlaceAnchor::Project => None,
    });
    std::iter::once(target.root.clone()).chain(homes).any(|folder| path.is_within(&folder))
}

fn explanation(path: &AbsolutePath, target: &Target, what: HostFileKind, whose: Whose) -> Explanation {
    Explanation {
        path: target.shown(path),
        runtime: target.descriptor.id.to_string(),
        host: target.descriptor.name.clone(),
        scope: target.scope,
        what,
        whose,
        program: None,
        since: None,
        shared_with: Vec::new(),
        rows: Vec::new(),
    }
}

/// A file that only we own.
fn whole(
    path: &AbsolutePath,
    part: &ExplainedPart<'_>,
    parts: &[ExplainedPart<'_>],
    world: &World,
    snapshot: &mut Snapshot,
) -> Result<Explanation, InstallError> {
    let written = part.holdings(&part.section).files.get(&part.relative);
    let what = match (snapshot.look(path)?, written) {
        (Found::Absent, _) => HostFileKind::Missing,
        (Found::File(file), Some(written)) if file.is_as_written(*written) => HostFileKind::Installed,
        _ => HostFileKind::Edited,
    };
    let since = Past::of(part, world)?.since(|section| part.holdings(section).owns(&part.relative));
    let shared_with = parts.iter().skip(1).map(ExplainedPart::name).collect();
    Ok(Explanation { since: Some(since), shared_with, ..explanation(path, part.target, what, Whose::Ours) })
}

/// A file in which others have entries too.
fn shared(
    path: &AbsolutePath,
    part: &ExplainedPart<'_>,
    parts: &[ExplainedPart<'_>],
    format: FileFormat,
    world: &World,
    snapshot: &mut Snapshot,
) -> Result<Explanation, InstallError> {
    let Some(text) = snapshot.read_text(path)? else {
        return Ok(explanation(path, part.target, HostFileKind::Missing, Whose::Ours));
    };
    let mut edits: Vec<(MadeEdit, OwnedSince)> = Vec::new();
    for part in parts {
        let calls = Past::of(part, world)?;
        for made in part.ledger().into_iter().flat_map(|ledger| &ledger.edits).filter(|made| made.applied.changed()) {
            let has = |ledger: &Ledger| ledger.edits.iter().any(|it| is_same(&it.edit, &made.edit));
            let since = calls.since(|section| part.holdings(section).shared.get(&part.relative).is_some_and(has));
            edits.push((made.clone(), since));
        }
    }
    let mut explained = explanation(path, part.target, HostFileKind::Settings, Whose::Yours);
    explained.since = edits.first().map(|(_, since)| since.clone());
    explained.shared_with = parts.iter().skip(1).map(ExplainedPart::name).collect();
    explained.rows = rows(path, part.target, format, &text, &edits, snapshot)?;
    Ok(explained)
}

/// A file in a host's folder that our manifests do not list.
fn not_listed(path: &AbsolutePath, target: &Target, snapshot: &mut Snapshot) -> Result<Explanation, InstallError> {
    if path.name() == manifest::FILE {
        return Ok(explanation(path, target, HostFileKind::Manifest, Whose::Ours));
    }
    let is_below = |name: &str| path.is_within(&target.root.resolve(name));
    if is_below(SET_ASIDE) || is_below(custom::BACKUP) {
        return Ok(explanation(path, target, HostFileKind::SetAside, Whose::Yours));
    }
    let below = path.relative_to(&target.root);
    let is_named = |name: &String| below.as_ref().is_some_and(|below| below.as_str() == name);
    let settings = target.descriptor.files.values().find(|file| {
        let names = [Some(&file.path), file.instead.as_ref(), file.local_path.as_ref()];
        names.into_iter().flatten().any(is_named)
    });
    if let Some(file) = settings
        && let Some(text) = snapshot.read_text(path)?
    {
        let mut explained = explanation(path, target, HostFileKind::Settings, Whose::Yours);
        explained.rows = rows(path, target, file.format.to_file_format(), &text, &[], snapshot)?;
        return Ok(explained);
    }
    let mut explained = explanation(path, target, HostFileKind::Other, Whose::Yours);
    for other in predecessor::find(target, snapshot)? {
        if other.files.contains_key(path) {
            let version = other.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
            explained.whose = Whose::Another;
            explained.program = Some(format!("{}{version}", other.program));
        }
    }
    Ok(explained)
}

/// One row for each value of settings, or for each part of a text.
fn rows(
    path: &AbsolutePath,
    target: &Target,
    format: FileFormat,
    text: &str,
    edits: &[(MadeEdit, OwnedSince)],
    snapshot: &mut Snapshot,
) -> Result<Vec<ExplainedRow>, InstallError> {
    let recogniser = Recogniser::of(target, snapshot)?;
    let leaves = |text: &str| {
        let leaves = match format {
            FileFormat::Json(_) => JsonDocument::parse(text, JsonDialect::CommentsAndTrailingCommas)?.leaves(),
            FileFormat::Toml => TomlDocument::parse(text)?.leaves(),
            FileFormat::Yaml => YamlDocument::parse(text)?.leaves(),
            FileFormat::Markdown | FileFormat::Lines => Vec::new(),
        };
        Ok::<_, crate::text::edit::ParseError>(leaves)
    };
    let host_format = match format {
        FileFormat::Json(_) => HostFormat::JsonWithCommentsAndTrailingCommas,
        FileFormat::Toml => HostFormat::Toml,
        FileFormat::Yaml => HostFormat::Yaml,
        FileFormat::Markdown | FileFormat::Lines => return Ok(text_rows(text, edits, &recogniser)),
    };
    let unparsable = |source| InstallError::Unparsable { path: path.clone(), source };
    let all = leaves(text).map_err(unparsable)?;
    let left = recogniser.without(host_format, text);
    // What a takeover would remove is theirs.
    let mut left = if left == text { None } else { leaves(&left).ok() };
    let mut is_theirs = |leaf: &SettingsLeaf| {
        let Some(left) = &mut left else { return false };
        let is_it = |other: &SettingsLeaf| other.path == leaf.path && other.value == leaf.value;
        left.iter().position(is_it).map(|at| left.swap_remove(at)).is_none()
    };
    let explained = all.into_iter().map(|leaf| {
        let theirs = is_theirs(&leaf);
        let since = edits.iter().find(|(made, _)| is_of(&made.edit, &leaf)).map(|(_, since)| since.clone());
        let whose = match (&since, theirs) {
            (Some(_), _) => Whose::Ours,
            (None, true) => Whose::Another,
            (None, false) if command_of(&leaf.value).is_some_and(runs_our_program) => Whose::Ours,
            (None, false) => Whose::Yours,
        };
        ExplainedRow {
            line: leaf.line,
            last_line: None,
            key: dotted(&leaf),
            value: shown_value(&leaf.value),
            whose,
            program: (whose == Whose::Another).then(|| recogniser.program.clone()),
            since,
        }
    });
    Ok(explained.collect())
}

/// The blocks of a text, and the lines between them.
fn text_rows(text: &str, edits: &[(MadeEdit, OwnedSince)], recogniser: &Recogniser) -> Vec<ExplainedRow> {
    let mut blocks: Vec<(usize, usize, Whose, Option<OwnedSince>)> = Vec::new();
    for (made, since) in edits {
        if let SharedEdit::Marked(block) = &made.edit {
            let ranges = block.marked().ranges(text).into_iter();
            blocks.extend(ranges.map(|(first, last)| (first, last, Whose::Ours, Some(since.clone()))));
        }
    }
    let theirs = recogniser.blocks(text).into_iter();
    blocks.extend(theirs.map(|(first, last)| (first, last, Whose::Another, None)));
    blocks.sort_by_key(|(first, ..)| *first);
    let lines: Vec<&str> = text.lines().collect();
    let row = |first: usize, last: usize, whose, since| ExplainedRow {
        line: Some(first),
        last_line: Some(last),
        key: String::new(),
        value: short(lines.iter().skip(first - 1).find(|line| !line.trim().is_empty()).unwrap_or(&"").trim()),
        whose,
        program: (whose == Whose::Another).then(|| recogniser.program.clone()),
        since,
    };
    let has_text =
        |first: usize, last: usize| lines.iter().take(last).skip(first - 1).any(|line| !line.trim().is_empty());
    let (mut found, mut next) = (Vec::new(), 1);
    for (first, last, whose, since) in blocks {
        if has_text(next, first - 1) {
            found.push(row(next, first - 1, Whose::Yours, None));
        }
        found.push(row(first, last, whose, since));
        next = last + 1;
    }
    if has_text(next, lines.len()) {
        found.push(row(next, lines.len(), Whose::Yours, None));
    }
    found
}

/// True if two edits are for the same value, or for the same block.
fn is_same(one: &SharedEdit, other: &SharedEdit) -> bool {
    match (one, other) {
        (SharedEdit::Marked(one), SharedEdit::Marked(other)) => one.open == other.open,
        (one, other) => one == other,
    }
}

/// True if the edit made this value.
fn is_of(edit: &SharedEdit, leaf: &SettingsLeaf) -> bool {
    let is_element = |path: &[String], value: &Value| leaf.is_element && leaf.path == path && leaf.value == *value;
    let is_value = |path: &[String], value: &Value| {
        let below = leaf.path.strip_prefix(path);
        let found = below.and_then(|below| below.iter().try_fold(value, |value, key| value.get(key)));
        match found {
            Some(Value::Array(list)) if leaf.is_element => list.contains(&leaf.value),
            found => found == Some(&leaf.value),
        }
    };
    match edit {
        SharedEdit::Json(JsonEdit::Append { path, value }) | SharedEdit::Yaml(YamlEdit::Append { path, value }) => {
            is_element(path, value)
        }
        SharedEdit::Json(JsonEdit::SetIfAbsent { path, value } | JsonEdit::Set { path, value })
        | SharedEdit::Toml(TomlEdit::SetIfAbsent { path, value } | TomlEdit::Set { path, value }) => {
            is_value(path, value)
        }
        SharedEdit::Toml(TomlEdit::AppendTable { path, table }) => is_element(path, &Value::Object(table.clone())),
        SharedEdit::Marked(_) => false,
    }
}

/// The first line of a text, cut to a readable length.
fn short(text: &str) -> String {
    const MOST: usize = 100;
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(MOST).collect();
    if cut.len() < text.trim_end().len() { cut + "…" } else { cut }
}

fn dotted(leaf: &SettingsLeaf) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let part = |key: &String| {
        let is_plain = !key.is_empty() && key.chars().all(is_word);
        if is_plain { key.clone() } else { Value::from(key.as_str()).to_string() }
    };
    let key = leaf.path.iter().map(part).collect::<Vec<_>>().join(".");
    key + if leaf.is_element { "[]" } else { "" }
}

/// The first command in a registration of a hook.
fn command_of(value: &Value) -> Option<&str> {
    match value {
        Value::Object(keys) => {
            let command = ["command", "bash"].iter().find_map(|key| keys.get(*key)?.as_str());
            command.or_else(|| keys.values().find_map(command_of))
        }
        Value::Array(list) => list.iter().find_map(command_of),
        _ => None,
    }
}

fn shown_value(value: &Value) -> String {
    let text = command_of(value).map_or_else(|| value.to_string(), str::to_owned);
    short(&text)
}

/// The calls that changed a manifest, newest first, each with the manifest as it was before.
struct Past<'a> {
    part: &'a ExplainedPart<'a>,
    calls: Vec<(PastCall, Option<Manifest>)>,
}

impl<'a> Past<'a> {
    fn of(part: &'a ExplainedPart<'a>, world: &World) -> Result<Self, InstallError> {
        let history = History::in_state(&super::state(world)?);
        let file = part.folder.resolve(manifest::FILE);
        let mut calls = Vec::new();
        // A history that cannot be read leaves only what the manifest says.
        let all = past_calls(world).map(|(calls, _)| calls).unwrap_or_default();
        for call in all.into_iter().rev() {
            let before = match history.before(call.number, &file) {
                Ok(None) => continue,
                Ok(Some(bytes)) => {
                    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                    Manifest::parse(text.as_deref()).ok()
                }
                Err(_) => None,
            };
            calls.push((call, before));
        }
        Ok(Self { part, calls })
    }

    /// The newest call before which the install did not have this.
    fn since(&self, has: impl Fn(&Section) -> bool) -> OwnedSince {
        for (call, before) in &self.calls {
            let Some(before) = before else { break };
            if !before.installs.get(&self.part.key).is_some_and(&has) {
                let root = self.part.target.root.to_string();
                let mut installs = call.record.installs.iter();
                let version = installs.find(|install| install.root == root).and_then(|install| install.to.clone());
                return OwnedSince {
                    version: version.unwrap_or_else(|| call.record.program.clone()),
                    at: Some(call.at.clone()),
                    call: Some(call.number),
                };
            }
        }
        OwnedSince { version: self.part.section.version.clone(), at: None, call: None }
    }
}
