//! The content library, embedded: commands, workflows, agents, references, templates and the hook table.
//!
//! Nothing here is read at program start; a [`Library`] is made when something is installed. Tests of this module and
//! of `emit` check that every item parses and every reference resolves.

mod front_matter;
mod hooks;
mod item;
mod profile;

pub(crate) use front_matter::{FrontMatter, FrontMatterError, Value, is_plain};
pub(crate) use hooks::{Event, HookEvent, HookTable, ToolSet};
pub(crate) use item::{Item, ItemKind, ItemName, NameError};
pub(crate) use profile::{CommandProfile, FeatureParts, ProfileError, Profiles};

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use include_dir::{Dir, include_dir};

use crate::failure::unexplained;

static FOLDERS: [(&str, Dir<'static>); 6] = [
    ("commands", include_dir!("$CARGO_MANIFEST_DIR/commands")),
    ("workflows", include_dir!("$CARGO_MANIFEST_DIR/workflows")),
    ("agents", include_dir!("$CARGO_MANIFEST_DIR/agents")),
    ("references", include_dir!("$CARGO_MANIFEST_DIR/references")),
    ("templates", include_dir!("$CARGO_MANIFEST_DIR/templates")),
    ("hooks", include_dir!("$CARGO_MANIFEST_DIR/hooks")),
];

/// Returns the names of the agents, sorted, without reading them.
pub(crate) fn agent_names() -> impl Iterator<Item = &'static str> {
    names_in("agents")
}

/// Returns the names of the commands and routers, sorted, without reading them.
pub(crate) fn command_names() -> impl Iterator<Item = &'static str> {
    names_in("commands")
}

/// Returns the names of the workflows, sorted, without reading them.
pub(crate) fn workflow_names() -> impl Iterator<Item = &'static str> {
    names_in("workflows")
}

fn names_in(folder: &'static str) -> impl Iterator<Item = &'static str> {
    let files = FOLDERS.iter().filter(|(name, _)| *name == folder).flat_map(|(_, content)| content.files());
    let mut names: Vec<&str> = files.filter_map(|file| file.path().to_str()?.strip_suffix(".md")).collect();
    names.sort_unstable();
    names.into_iter()
}

/// Returns the front matter of one content file, such as `workflows/x.md`, without reading others. `None` if it does
/// not exist; a test checks that each existing one can be parsed.
pub(crate) fn front_matter_of(path: &str) -> Option<FrontMatter> {
    let (folder, inside) = path.split_once('/')?;
    let (_, content) = FOLDERS.iter().find(|(name, _)| *name == folder)?;
    let (front_matter, _) = split(key_of(path)?.0, content.get_file(inside)?.contents_utf8()?).ok()?;
    Some(front_matter)
}

/// All content, in the order of kinds and names.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    items: BTreeMap<(ItemKind, ItemName), Item>,
    /// What a profile leaves out; its names are still known.
    left_out: BTreeSet<(ItemKind, ItemName)>,
    hooks: HookTable,
}

/// Why some files are not a valid library.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LibraryError {
    #[error("`{path}` has no good front matter")]
    FrontMatter { path: String, source: FrontMatterError },
    #[error("`{path}` has no good name")]
    Name { path: String, source: NameError },
    #[error("`{path}` is not text")]
    NotText { path: String },
    #[error("`hooks/hooks.toml` does not parse")]
    Hooks { source: Box<toml_edit::de::Error> },
    #[error("`{path}` has the name of another item")]
    Twice { path: String },
}

unexplained!(LibraryError);

impl Library {
    /// Returns the content in the program.
    pub(crate) fn embedded() -> Result<Library, LibraryError> {
        let mut files = Vec::new();
        for (folder, content) in &FOLDERS {
            collect(folder, content, &mut files)?;
        }
        Library::from_files(files)
    }

    /// Makes a library from files with their path, such as `commands/x.md`, and their text. Skips files outside the six
    /// folders, prompts of the pipeline, the demo, pages about hooks, and files whose name starts with a dot.
    pub(crate) fn from_files(files: impl IntoIterator<Item = (String, String)>) -> Result<Library, LibraryError> {
        let mut items = BTreeMap::new();
        let mut hooks = HookTable::default();
        for (path, text) in files {
            if path == "hooks/hooks.toml" {
                hooks = HookTable::parse(&text).map_err(|source| LibraryError::Hooks { source: Box::new(source) })?;
                continue;
            }
            let Some(item) = read_item(&path, &text)? else { continue };
            if items.insert((item.kind, item.name.clone()), item).is_some() {
                return Err(LibraryError::Twice { path });
            }
        }
        Ok(Library { items, left_out: BTreeSet::new(), hooks })
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.values()
    }

    pub(crate) fn of_kind(&self, kind: ItemKind) -> impl Iterator<Item = &Item> {
        self.beginning_with(kind, "")
    }

    fn beginning_with(&self, kind: ItemKind, prefix: &str) -> impl Iterator<Item = &Item> {
        let items = self.items.range((kind, ItemName::before_all(prefix))..).map(|(_, item)| item);
        items.take_while(move |item| item.kind == kind)
    }

    /// Returns the item at this path of the library, such as `workflows/x.md`.
    pub(crate) fn at(&self, path: &str) -> Option<&Item> {
        let (kind, name) = key_of(path)?;
        let name: ItemName = name.parse().ok()?;
        let items = kinds_beside(kind).iter().filter_map(|kind| self.items.get(&(*kind, name.clone())));
        items.into_iter().find(|item| item.path == path)
    }

    /// True if items exist below this folder, such as `workflows/x/steps`.
    pub(crate) fn has_folder(&self, folder: &str) -> bool {
        let path = format!("{folder}/");
        let Some((kind, prefix)) = key_of(&path) else { return false };
        let first = |kind: &ItemKind| self.beginning_with(*kind, prefix).next();
        kinds_beside(kind).iter().filter_map(first).any(|item| item.path.starts_with(&path))
    }

    /// True if `/gsd-<name>` is a command or a router.
    pub(crate) fn has_command(&self, name: &str) -> bool {
        let Ok(name) = name.parse::<ItemName>() else { return false };
        [ItemKind::Command, ItemKind::Router].into_iter().any(|kind| {
            let key = (kind, name.clone());
            self.items.contains_key(&key) || self.left_out.contains(&key)
        })
    }

    /// The names of all items of a kind, including those that a profile leaves out.
    pub(crate) fn names(&self, kind: ItemKind) -> impl Iterator<Item = &str> {
        let there = self.of_kind(kind).map(|item| item.name.as_str());
        there.chain(self.left_out(kind))
    }

    /// The names of the items of a kind that a profile leaves out.
    pub(crate) fn left_out(&self, kind: ItemKind) -> impl Iterator<Item = &str> {
        self.left_out.iter().filter(move |(of, _)| *of == kind).map(|(_, name)| name.as_str())
    }

    pub(crate) fn hooks(&self) -> &HookTable {
        &self.hooks
    }
}

/// Returns a text from which prompts of the pipeline are made. These are in no install, and not in a [`Library`].
pub(crate) fn prompt_text(name: &str) -> Option<&'static str> {
    prompts()?.get_file(format!("{PROMPTS}/{name}.md"))?.contents_utf8()
}

/// Returns every text of the prompts, with its path.
#[cfg(test)]
pub(crate) fn prompt_texts() -> Vec<(String, &'static str)> {
    let files = prompts().into_iter().flat_map(Dir::files);
    files.filter_map(|file| Some((format!("templates/{}", with_slashes(file.path())), file.contents_utf8()?))).collect()
}

/// The folder with the pipeline's templates.
const PROMPTS: &str = "auto";

/// The folder with the demo's templates.
const DEMO: &str = "demo";

fn prompts() -> Option<&'static Dir<'static>> {
    templates()?.get_dir(PROMPTS)
}

fn templates() -> Option<&'static Dir<'static>> {
    FOLDERS.iter().find(|(name, _)| *name == "templates").map(|(_, templates)| templates)
}

/// Returns a text of the demo, by its path. Like prompts, these are in no install, and not in a [`Library`].
pub(crate) fn demo_text(path: &str) -> Option<&'static str> {
    templates()?.get_file(format!("{DEMO}/{path}"))?.contents_utf8()
}

/// Returns every file below a folder of the demo, by its path in that folder.
pub(crate) fn demo_files(folder: &str) -> Vec<(String, &'static str)> {
    let root = format!("{DEMO}/{folder}");
    let mut folders: Vec<&Dir<'static>> =
        templates().and_then(|templates| templates.get_dir(&root)).into_iter().collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        folders.extend(folder.dirs());
        found.extend(folder.files().filter_map(|file| {
            let path = file.path().strip_prefix(&root).ok()?;
            Some((with_slashes(path), file.contents_utf8()?))
        }));
    }
    found.sort_unstable();
    found
}

/// Returns the text of a page of the guide as it is printed for a person, without reading other content.
pub(crate) fn guide_page(name: &str) -> Option<&'static str> {
    guide()?.get_file(format!("guide/{name}.md"))?.contents_utf8()
}

/// Returns the names of the guide's pages.
pub(crate) fn guide_pages() -> Vec<String> {
    let files = guide().into_iter().flat_map(Dir::files);
    files.filter_map(|file| Some(file.path().file_stem()?.to_string_lossy().into_owned())).collect()
}

fn guide() -> Option<&'static Dir<'static>> {
    templates()?.get_dir("guide")
}

fn collect(folder: &str, content: &Dir<'_>, files: &mut Vec<(String, String)>) -> Result<(), LibraryError> {
    for file in content.files() {
        let path = format!("{folder}/{}", with_slashes(file.path()));
        let text = file.contents_utf8().ok_or_else(|| LibraryError::NotText { path: path.clone() })?;
        files.push((path, text.to_owned()));
    }
    for below in content.dirs() {
        collect(folder, below, files)?;
    }
    Ok(())
}

fn with_slashes(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn read_item(path: &str, text: &str) -> Result<Option<Item>, LibraryError> {
    let Some((kind, name)) = key_of(path) else { return Ok(None) };
    let is_ours = kind == ItemKind::Template && matches!(name.split('/').next(), Some(PROMPTS | DEMO));
    if is_ours || path.split('/').any(|part| part.starts_with('.')) {
        return Ok(None);
    }
    let name = name.parse().map_err(|source| LibraryError::Name { path: path.to_owned(), source })?;
    let (front_matter, body) =
        split(kind, text).map_err(|source| LibraryError::FrontMatter { path: path.to_owned(), source })?;
    let kind = if front_matter.flag("router") { ItemKind::Router } else { kind };
    Ok(Some(Item { kind, name, path: path.to_owned(), front_matter, body: body.to_owned() }))
}

/// The kind and the name of the item at a path of the library; a router counts as a command.
fn key_of(path: &str) -> Option<(ItemKind, &str)> {
    let (folder, inside) = path.split_once('/')?;
    let kind = match folder {
        "commands" => ItemKind::Command,
        "workflows" => ItemKind::Workflow,
        "agents" => ItemKind::Agent,
        "references" => ItemKind::Reference,
        "templates" => ItemKind::Template,
        _ => return None,
    };
    Some((kind, inside.strip_suffix(".md").unwrap_or(inside)))
}

/// The kinds of the items in the folder of `kind`.
fn kinds_beside(kind: ItemKind) -> &'static [ItemKind] {
    match kind {
        ItemKind::Command | ItemKind::Router => &[ItemKind::Command, ItemKind::Router],
        ItemKind::Workflow => &[ItemKind::Workflow],
        ItemKind::Agent => &[ItemKind::Agent],
        ItemKind::Reference => &[ItemKind::Reference],
        ItemKind::Template => &[ItemKind::Template],
        ItemKind::Program | ItemKind::Hook | ItemKind::Settings => &[],
    }
}

/// Splits a text into its front matter and the text to install. Commands and agents need front matter; that of a
/// workflow is only for gsd-tools; that of a reference or a template is part of its text.
fn split(kind: ItemKind, text: &str) -> Result<(FrontMatter, &str), FrontMatterError> {
    match kind {
        ItemKind::Command | ItemKind::Agent => FrontMatter::split(text),
        ItemKind::Workflow if text.starts_with("---\n") => {
            let (front_matter, body) = FrontMatter::split(text)?;
            Ok((front_matter, body.strip_prefix('\n').unwrap_or(body)))
        }
        _ => Ok((FrontMatter::default(), text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(files: &[(&str, &str)]) -> Result<Library, LibraryError> {
        Library::from_files(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())))
    }

    #[test]
    fn files_become_items_by_their_folder() {
        let library = library(&[
            ("commands/plan-phase.md", "---\nname: gsd-plan-phase\n---\nbody\n"),
            ("commands/ns-project.md", "---\nname: gsd-ns-project\nrouter: true\n---\nbody\n"),
            ("workflows/plan-phase/steps/gaps.md", "Gaps.\n---\nnot front matter\n---\n"),
            ("workflows/plan-phase.md", "---\nsections:\n  gaps: closes-gaps\n---\n\n# Plan\n"),
            ("templates/config.json", "{}\n"),
            ("templates/plan.md", "---\nphase: {N}\n---\nbody\n"),
            ("workflows/.gitkeep", ""),
            ("templates/auto/common.md", "passed over"),
            ("README.md", "passed over"),
            ("hooks/read-guard.md", "passed over"),
        ])
        .unwrap();
        let found: Vec<String> = library.items().map(|item| format!("{:?} {}", item.kind, item.name)).collect();
        assert_eq!(
            found,
            [
                "Command plan-phase",
                "Router ns-project",
                "Workflow plan-phase",
                "Workflow plan-phase/steps/gaps",
                "Template config.json",
                "Template plan"
            ]
        );
        assert!(library.has_command("plan-phase") && library.has_command("ns-project") && !library.has_command("x"));
        assert!(library.has_folder("workflows/plan-phase/steps") && !library.has_folder("workflows/plan"));
        let at = |path| library.at(path).unwrap();
        assert_eq!(at("workflows/plan-phase/steps/gaps.md").body, "Gaps.\n---\nnot front matter\n---\n");
        assert_eq!(at("templates/plan.md").body, "---\nphase: {N}\n---\nbody\n");
        assert_eq!(at("workflows/plan-phase.md").body, "# Plan\n");
        assert_eq!(
            at("workflows/plan-phase.md").front_matter.pairs("sections"),
            [("gaps".into(), "closes-gaps".into())]
        );
    }

    #[test]
    fn a_bad_file_is_reported_by_name() {
        let error = |path: &str, text: &str| library(&[(path, text)]).unwrap_err().to_string();
        assert_eq!(error("commands/x.md", "no front matter"), "`commands/x.md` has no good front matter");
        assert_eq!(error("workflows/x.md", "---\nsections: a\n"), "`workflows/x.md` has no good front matter");
        assert_eq!(error("workflows/a b.md", ""), "`workflows/a b.md` has no good name");
        assert_eq!(error("hooks/hooks.toml", "x = 1"), "`hooks/hooks.toml` does not parse");
        let same = [("templates/x.md", ""), ("templates/x", "")];
        assert_eq!(library(&same).unwrap_err().to_string(), "`templates/x` has the name of another item");
    }

    #[test]
    fn the_embedded_content_is_a_library() {
        let library = Library::embedded().unwrap();
        let agents: Vec<&str> = library.of_kind(ItemKind::Agent).map(|item| item.name.as_str()).collect();
        assert!(!agents.is_empty());
        assert_eq!(agent_names().collect::<Vec<_>>(), agents);
        for item in library.items() {
            assert_eq!(front_matter_of(&item.path).as_ref(), Some(&item.front_matter), "{}", item.path);
        }
        assert_eq!(front_matter_of("workflows/no-such.md"), None);
    }
}
