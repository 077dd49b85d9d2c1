//! The files that each host gets from a small library, as real files under `tests/golden/<host>/<scope>/`.
//!
//! `SNAPSHOTS=overwrite cargo test` writes them and lists the changes. Folders show the anchor: `root`, `home`,
//! `project`.

#![allow(clippy::disallowed_methods, reason = "tests read and write their own trees")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::library::Library;
use crate::runtime::{Descriptor, Registry, Scope, made_up};
use crate::text::edit::FileFormat;
use crate::text::json::JsonDocument;
use crate::text::toml::TomlDocument;
use crate::text::yaml::YamlDocument;

use super::*;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The small library, with the real hook table.
pub(crate) fn small_library() -> Library {
    let mut files = files_below(&golden().join("library"));
    files.insert("hooks/hooks.toml".into(), include_str!("../../hooks/hooks.toml").into());
    Library::from_files(files).unwrap()
}

fn files_below(root: &Path) -> BTreeMap<String, String> {
    walkdir::WalkDir::new(root)
        .into_iter()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            (path, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

pub(super) fn options(descriptor: &Descriptor, scope: Scope) -> EmitOptions {
    let root = match scope {
        Scope::Global => descriptor.home.global.replace('~', "/home/u"),
        Scope::Local => format!("/srv/p/{}", descriptor.home.local.folder().expect("a host with a place in a project")),
    };
    EmitOptions {
        version: "1.2.3".into(),
        root,
        user: "/home/u".into(),
        permissions: true,
        unasked: ["state", "gate run"].map(str::to_owned).to_vec(),
        hooks: true,
        status_line: true,
        program_ending: "",
        nested: false,
        existing: BTreeSet::new(),
        profile: None,
        replaces_status_line: false,
        portable_hooks: false,
    }
}

/// The scopes of a host, with their words.
pub(super) fn scopes(descriptor: &Descriptor) -> Vec<(Scope, &'static str)> {
    let local = descriptor.home.local.folder().map(|_| (Scope::Local, "local"));
    std::iter::once((Scope::Global, "global")).chain(local).collect()
}

fn tree(library: &Library, descriptor: &Descriptor, scope: Scope, options: &EmitOptions) -> BTreeMap<String, String> {
    let mut tree = BTreeMap::new();
    for artifact in emit_all(library, descriptor, scope, options) {
        let folder = match &artifact.anchor {
            Anchor::Root => "root".to_owned(),
            Anchor::Home(folder) => format!("home/{folder}"),
            Anchor::Project => "project".to_owned(),
        };
        // A dot file named `.gitignore` in a golden tree would hide its neighbours from git.
        let path = format!("{folder}/{}", artifact.path).replace("/.gitignore", "/dot-gitignore");
        assert!(tree.insert(path, shown(&artifact)).is_none(), "{} twice", artifact.path);
    }
    tree
}

/// The file as it would be in an empty place.
pub(super) fn shown(artifact: &Artifact) -> String {
    let shared = match &artifact.contents {
        Contents::Whole(text) => return text.clone(),
        Contents::Binary => return format!("(this program; executable: {})\n", artifact.executable),
        Contents::Shared(shared) => shared,
    };
    match shared.format {
        FileFormat::Json(dialect) => {
            let mut document = JsonDocument::parse("", dialect).unwrap();
            for edit in &shared.edits {
                let SharedEdit::Json(edit) = edit else { panic!("{edit:?} in a JSON file") };
                assert!(document.apply(edit).unwrap().changed(), "{edit:?} does nothing");
            }
            document.to_string()
        }
        FileFormat::Toml => {
            let mut document = TomlDocument::parse("").unwrap();
            for edit in &shared.edits {
                let SharedEdit::Toml(edit) = edit else { panic!("{edit:?} in a TOML file") };
                assert!(document.apply(edit).unwrap().changed(), "{edit:?} does nothing");
            }
            document.to_string()
        }
        FileFormat::Yaml => {
            let mut document = YamlDocument::parse("").unwrap();
            for edit in &shared.edits {
                let SharedEdit::Yaml(edit) = edit else { panic!("{edit:?} in a YAML file") };
                assert!(document.apply(edit).unwrap().changed(), "{edit:?} does nothing");
            }
            document.to_string()
        }
        FileFormat::Markdown | FileFormat::Lines => {
            let mut text = String::new();
            for edit in &shared.edits {
                let SharedEdit::Marked(marked) = edit else { panic!("{edit:?} in a text file") };
                text = marked.marked().put(&text, &marked.body).unwrap();
            }
            text
        }
    }
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

#[test]
fn each_host_gets_its_tree() {
    let library = small_library();
    let mut trees = BTreeMap::new();
    for descriptor in Registry::embedded().all().unwrap() {
        for (scope, word) in scopes(&descriptor) {
            let actual = tree(&library, &descriptor, scope, &options(&descriptor, scope));
            trees.insert(format!("{}/{word}", descriptor.id), actual);
        }
    }
    compare(&trees);
}

/// The folders that are not trees of a host: answers of hooks, the small library, commands below their routers.
const OTHER_TREES: [&str; 3] = ["hooks", "library", "nested"];

#[test]
fn every_golden_tree_belongs_to_an_existing_host_and_scope() {
    let folders = |folder: &Path| -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
    };
    let files: Vec<String> = files_below(&golden().join("hooks")).into_keys().collect();
    let (mut known, mut hooked) = (BTreeSet::new(), BTreeSet::new());
    for descriptor in Registry::embedded().all().unwrap() {
        let id = descriptor.id.to_string();
        let words: BTreeSet<String> = scopes(&descriptor).into_iter().map(|(_, word)| word.to_owned()).collect();
        assert_eq!(folders(&golden().join(&id)), words, "{id}");
        hooked.extend(words.iter().map(|word| format!("{id}-{word}.txt")));
        known.insert(id);
    }
    known.extend(OTHER_TREES.map(str::to_owned));
    assert_eq!(folders(&golden()), known, "left: the folders; right: the hosts");
    let gone: Vec<&String> = files.iter().filter(|file| !hooked.contains(*file)).collect();
    assert_eq!(gone, Vec::<&String>::new(), "answers of hooks in hosts that are gone");
}

#[test]
fn commands_can_be_below_their_routers() {
    let library = small_library();
    let descriptor = made_up("");
    let options = EmitOptions { nested: true, ..options(&descriptor, Scope::Global) };
    compare(&BTreeMap::from([("nested".to_owned(), tree(&library, &descriptor, Scope::Global, &options))]));
    // A host whose commands are not skills has nothing to put below another.
    let without =
        made_up("place = [{ items = [\"command\", \"router\"], path = \"c/{name}.md\", encoding = \"markdown\" }]");
    let flat = EmitOptions { nested: false, ..options.clone() };
    let emitted = |options: &EmitOptions| emit_all(&library, &without, Scope::Global, options);
    assert_eq!(emitted(&options), emitted(&flat));
}

/// Paths and texts.
type GoldenTree = BTreeMap<String, String>;

/// Compares each tree with the golden one in its folder, or overwrites those. In both cases it lists the changed files
/// by folder, before it shows the first of them.
fn compare(trees: &BTreeMap<String, GoldenTree>) {
    let golden_tree = |folder: &str| {
        let root = golden().join(folder);
        if root.is_dir() { files_below(&root) } else { GoldenTree::new() }
    };
    let changes: BTreeMap<&str, Vec<String>> = trees
        .iter()
        .map(|(folder, actual)| (folder.as_str(), changed(&golden_tree(folder), actual)))
        .filter(|(_, changes)| !changes.is_empty())
        .collect();
    if let Some(summary) = summary(&changes) {
        // Bypasses the capture of the test harness: writing goldens makes no test fail.
        std::io::stderr().write_all(summary.as_bytes()).unwrap();
    }
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        for folder in changes.keys() {
            let root = golden().join(folder);
            let _ = std::fs::remove_dir_all(&root);
            for (path, text) in &trees[*folder] {
                let file = root.join(path);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, text).unwrap();
            }
        }
        return;
    }
    for folder in changes.keys() {
        let expected = golden_tree(folder);
        for (path, text) in &trees[*folder] {
            let Some(expected) = expected.get(path).filter(|expected| *expected != text) else { continue };
            snapbox::assert_data_eq!(snapbox::Data::text(text).raw(), snapbox::Data::text(expected).raw());
        }
    }
    assert_eq!(changes, BTreeMap::new(), "files that are missing, or are there and should not be");
}

/// The differing files: `+` for new, `-` for removed, `~` for changed ones.
fn changed(golden: &GoldenTree, actual: &GoldenTree) -> Vec<String> {
    let paths: BTreeSet<&String> = golden.keys().chain(actual.keys()).collect();
    let change = |path: &String| match (golden.get(path), actual.get(path)) {
        (None, _) => Some(format!("+ {path}")),
        (_, None) => Some(format!("- {path}")),
        (before, after) => (before != after).then(|| format!("~ {path}")),
    };
    paths.into_iter().filter_map(change).collect()
}

fn summary(changes: &BTreeMap<&str, Vec<String>>) -> Option<String> {
    let files: usize = changes.values().map(Vec::len).sum();
    let hosts: BTreeSet<&str> = changes.keys().map(|folder| folder.split('/').next().unwrap_or(folder)).collect();
    let folders = changes.iter().flat_map(|(folder, files)| {
        let files = files.iter().map(|file| format!("    {file}"));
        std::iter::once(format!("  {folder}: {}", files.len())).chain(files)
    });
    let head = format!("golden trees: {files} files changed, of {}: {}", hosts.len(), Vec::from_iter(hosts).join(", "));
    (files > 0).then(|| lines(std::iter::once(head).chain(folders)))
}

#[test]
fn changed_goldens_are_summarized_by_host_and_file() {
    let tree = |files: &[(&str, &str)]| -> GoldenTree {
        files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect()
    };
    let golden = tree(&[("same.md", "1"), ("other.md", "2"), ("gone.md", "3")]);
    let files = changed(&golden, &tree(&[("same.md", "1"), ("other.md", "4"), ("added.md", "5")]));
    let changes =
        BTreeMap::from([("b/global", files), ("b/local", vec!["~ x.md".into()]), ("c/global", vec!["- y".into()])]);
    let wanted = "golden trees: 5 files changed, of 2: b, c\n  b/global: 3\n    + added.md\n    - gone.md\n    ~ other.md\n  \
                  b/local: 1\n    ~ x.md\n  c/global: 1\n    - y\n";
    assert_eq!(summary(&changes).as_deref(), Some(wanted));
    assert_eq!(changed(&golden, &golden), Vec::<String>::new());
    assert_eq!(summary(&BTreeMap::new()), None);
}

#[test]
fn the_same_input_gives_the_same_artifacts() {
    let library = small_library();
    for descriptor in Registry::embedded().all().unwrap() {
        let options = options(&descriptor, Scope::Global);
        let once = emit_all(&library, &descriptor, Scope::Global, &options);
        assert_eq!(once, emit_all(&library, &descriptor, Scope::Global, &options));
    }
}

#[test]
fn features_that_are_switched_off_are_left_out() {
    let library = small_library();
    let off = |descriptor: &Descriptor, change: fn(&mut EmitOptions)| {
        let mut options = options(descriptor, Scope::Global);
        change(&mut options);
        let artifacts = emit_all(&library, descriptor, Scope::Global, &options);
        lines(artifacts.iter().map(|artifact| format!("{}\n{}", artifact.path, shown(artifact))))
    };
    for descriptor in Registry::embedded().all().unwrap() {
        let without_hooks = off(&descriptor, |options| (options.hooks, options.status_line) = (false, false));
        assert!(!without_hooks.contains("gsd-tools hook"), "{}", descriptor.id);
        let without_permissions = off(&descriptor, |options| options.permissions = false);
        for word in ["\"permissions\"", "\"read\":", "external_directory", "policies/"] {
            assert!(!without_permissions.contains(word), "{} {word}", descriptor.id);
        }
    }
}

#[test]
fn no_two_hosts_write_one_file_with_different_text() {
    let library = small_library();
    let mut written: BTreeMap<String, (String, Artifact)> = BTreeMap::new();
    for descriptor in Registry::embedded().all().unwrap() {
        for (scope, _) in scopes(&descriptor) {
            let options = options(&descriptor, scope);
            for artifact in emit_all(&library, &descriptor, scope, &options) {
                let place = match &artifact.anchor {
                    Anchor::Root => format!("{}/{}", options.root, artifact.path),
                    Anchor::Home(folder) => format!("/home/u/{folder}/{}", artifact.path),
                    Anchor::Project => format!("/srv/p/{}", artifact.path),
                };
                if let Some((other, earlier)) = written.get(&place) {
                    assert_eq!(earlier.contents, artifact.contents, "{place} of {other} and {}", descriptor.id);
                }
                written.insert(place, (descriptor.id.to_string(), artifact));
            }
        }
    }
}

#[test]
fn a_file_of_the_user_is_used_instead_of_the_usual_one() {
    let library = small_library();
    for descriptor in Registry::embedded().all().unwrap() {
        let mut options = options(&descriptor, Scope::Global);
        options.existing = alternatives(&descriptor).map(str::to_owned).collect();
        let paths: Vec<String> = emit_all(&library, &descriptor, Scope::Global, &options)
            .into_iter()
            .map(|artifact| artifact.path)
            .collect();
        for file in descriptor.files.values() {
            if let Some(instead) = &file.instead {
                assert!(paths.contains(instead) && !paths.contains(&file.path), "{}", descriptor.id);
            }
        }
    }
}
