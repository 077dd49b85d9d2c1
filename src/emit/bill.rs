//! What texts cost a session of a host, in bytes: the rows of commands and agents that the model always gets, and what
//! is loaded with a command or an agent. Pure: the texts are arguments, as they are emitted or as they are on a disk.
//!
//! Which kinds of texts a host lists follows from the features in its descriptor. A row is counted as `- name:
//! description`; hosts write it in several ways, which differ by a few bytes.

use std::collections::{BTreeMap, BTreeSet};

use crate::library::ItemKind;
use crate::runtime::{Descriptor, Feature, Means};
use crate::text::yaml::YamlDocument;

use super::spelling::CONTENT_FOLDER;

/// A command, a router or an agent of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostText {
    pub(crate) kind: ItemKind,
    /// The name by its file, such as `gsd-planner`.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// One row of the lists that the model always gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedText {
    pub(crate) kind: ItemKind,
    pub(crate) name: String,
    pub(crate) bytes: usize,
}

/// The bytes that a command or an agent loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoadedText {
    /// Its own text, and the files that it includes.
    pub(crate) included: usize,
    /// Further files that those texts order to be read first.
    pub(crate) first: usize,
    /// Files that are read only when a step names them.
    pub(crate) later: usize,
}

impl LoadedText {
    /// What is loaded before the work begins.
    pub(crate) fn at_once(self) -> usize {
        self.included + self.first
    }
}

/// Whether the host lists texts of this kind to the model.
fn is_listed(descriptor: &Descriptor, kind: ItemKind) -> bool {
    match kind {
        ItemKind::Router => true,
        ItemKind::Command => descriptor.support(Feature::TypedOnly).means == Means::Absent,
        ItemKind::Agent => descriptor.support(Feature::Agents).means == Means::Native,
        _ => false,
    }
}

/// The row of a text in the host's list; `None` if the host does not list it.
pub(crate) fn listed(descriptor: &Descriptor, text: &HostText) -> Option<ListedText> {
    let (front_matter, body) = parts(&text.text);
    let keys = front_matter.map(keys_of).unwrap_or_default();
    let is_hidden = |key: &String| keys.get(key).and_then(serde_json::Value::as_bool) == Some(true);
    if !is_listed(descriptor, text.kind) || descriptor.typed_only.key.as_ref().is_some_and(is_hidden) {
        return None;
    }
    let word = |key: &str| keys.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
    let name = word("name").unwrap_or_else(|| text.name.clone());
    // Hosts list the first line of a text without a description.
    let first = || body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned();
    let description = word("description").unwrap_or_else(first);
    Some(ListedText { kind: text.kind, bytes: format!("- {name}: {description}\n").len(), name })
}

/// What a text loads. `library` has the texts of the installed content by their paths, such as `workflows/x.md`.
pub(crate) fn loaded(kind: ItemKind, text: &str, library: &BTreeMap<&str, &str>) -> LoadedText {
    let (_, body) = parts(text);
    let (mut bill, mut read) = (LoadedText { included: body.len(), ..LoadedText::default() }, BTreeSet::new());
    let mut texts = vec![body];
    for (path, included) in paths_of_includes(body).filter_map(|path| library.get_key_value(path)) {
        if read.insert(*path) {
            bill.included += included.len();
            texts.push(*included);
        }
    }
    let includes: Vec<&str> = read.iter().copied().collect();
    for path in texts.iter().copied().flat_map(|text| paths_in(beginning(text))) {
        let Some((path, first)) = library.get_key_value(path) else { continue };
        if !is_workflow(path) && read.insert(*path) {
            bill.first += first.len();
        }
    }
    // The steps of the workflow, and the pages that these texts name; a command may choose among workflows.
    let steps = includes.iter().filter_map(|path| path.strip_suffix(".md"));
    let folders: Vec<String> = steps.map(|workflow| format!("{workflow}/")).collect();
    let of_steps = |path: &&str| folders.iter().any(|folder| path.starts_with(folder.as_str()));
    let mut named: Vec<&str> = library.keys().copied().filter(of_steps).collect();
    let chooses = kind == ItemKind::Command;
    named.extend(paths_in(body).filter(|path| chooses || !is_workflow(path)));
    texts.extend(named.iter().filter_map(|path| library.get(path)).copied());
    named.extend(texts.iter().copied().flat_map(paths_in).filter(|path| !is_workflow(path)));
    for path in named {
        if let Some((path, later)) = library.get_key_value(path)
            && read.insert(*path)
        {
            bill.later += later.len();
        }
    }
    bill
}

fn is_workflow(path: &str) -> bool {
    path.starts_with("workflows/")
}

/// The front matter and the text below it.
fn parts(text: &str) -> (Option<&str>, &str) {
    let split = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    split.map_or((None, text), |(front_matter, body)| (Some(front_matter), body))
}

fn keys_of(front_matter: &str) -> serde_json::Map<String, serde_json::Value> {
    let parsed = YamlDocument::parse(&format!("{front_matter}\n")).ok().and_then(|document| document.to_json());
    match parsed {
        Some(serde_json::Value::Object(keys)) => keys,
        // A host may be more tolerant than we are.
        _ => front_matter
            .lines()
            .filter_map(|line| line.split_once(": "))
            .map(|(key, value)| (key.to_owned(), value.trim().trim_matches('"').into()))
            .collect(),
    }
}

/// The library paths of lines that bring another file into the text, or order it to be read: `@path`, or a line that
/// the content has instead on this host.
fn paths_of_includes(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let read = || line.strip_prefix("Read `")?.strip_suffix("`.");
        let follow = || line.strip_prefix("Read `")?.strip_suffix("` to its last line and follow it.");
        library_path(line.strip_prefix('@').or_else(follow).or_else(read)?)
    })
}

/// The path in the library of an installed file.
fn library_path(path: &str) -> Option<&str> {
    let (_, below) = path.rsplit_once(&format!("{CONTENT_FOLDER}/")).unwrap_or(("", path));
    ["workflows/", "references/", "templates/"].iter().any(|folder| below.starts_with(folder)).then_some(below)
}

/// The library paths in a text.
fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "`\"'()[]|,;:@".contains(c));
    words.filter_map(|word| library_path(word.trim_end_matches('.')))
}

/// The part of a text that orders what is read first: what is before its first section, and a section `Start`.
/// Tables choose what is read later.
fn beginning(text: &str) -> &str {
    let headings = text.match_indices("\n## ").map(|(at, _)| at + 1);
    let starts = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with("## Start\n"));
    let end = headings.into_iter().find(|at| !starts(*at)).unwrap_or(text.len());
    let whole = text.get(..end).unwrap_or(text);
    whole.find("\n|").and_then(|table| whole.get(..table)).unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::made_up;

    fn host_text(kind: ItemKind, text: &str) -> HostText {
        HostText { kind, name: "by-file".into(), text: text.into() }
    }

    #[test]
    fn a_row_has_name_and_description_and_a_hidden_command_has_none() {
        let host = made_up("typed-only = { key = \"hidden\" }");
        let text = "---\nname: gsd-x\ndescription: Do it\n---\nBody\n";
        let row = |kind, text: &str| listed(&host, &host_text(kind, text)).map(|row| (row.name, row.bytes));
        assert_eq!(row(ItemKind::Router, text), Some(("gsd-x".into(), "- gsd-x: Do it\n".len())));
        assert_eq!(row(ItemKind::Command, text), None);
        assert_eq!(row(ItemKind::Router, "---\nhidden: true\n---\n"), None);
        assert_eq!(
            row(ItemKind::Router, "\nFirst line.\n"),
            Some(("by-file".into(), "- by-file: First line.\n".len()))
        );
        assert_eq!(row(ItemKind::Workflow, text), None);
    }

    #[test]
    fn a_command_loads_its_includes_at_once_and_what_it_names_later() {
        let library = BTreeMap::from([
            ("workflows/x.md", "Read `~/.h/gsd-core/references/ui.md` first.\n\n## 1\n\nRead `references/late.md`.\n"),
            ("workflows/x/steps/a.md", "step, `references/deep.md`\n"),
            ("workflows/y.md", "another\n"),
            ("references/ui.md", "123"),
            ("references/late.md", "12345"),
            ("references/deep.md", "1"),
        ]);
        let workflow = library["workflows/x.md"].len();
        for include in
            ["@~/.h/gsd-core/workflows/x.md", "Read `.h/gsd-core/workflows/x.md` to its last line and follow it."]
        {
            let body = format!("Do it.\n\n{include}\n");
            let bill = loaded(ItemKind::Command, &format!("---\nname: x\n---\n{body}"), &library);
            assert_eq!(bill.included, body.len() + workflow);
            assert_eq!((bill.first, bill.later), (3, "step, `references/deep.md`\n".len() + 5 + 1));
        }
        let chooses = "| a | Read `workflows/y.md` |\n";
        assert_eq!(loaded(ItemKind::Command, chooses, &library).later, "another\n".len());
        assert_eq!(loaded(ItemKind::Router, chooses, &library).later, 0, "one of many");
        let agent = "You.\n\n## Start\n\nRead `references/ui.md`.\n\n| m | `references/late.md` |\n\n## Then\n";
        let bill = loaded(ItemKind::Agent, agent, &library);
        assert_eq!((bill.included, bill.first, bill.later), (agent.len() + 3, 0, 5), "a whole line is an include");
    }
}
