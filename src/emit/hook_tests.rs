//! The hook registrations of each host, as text under `tests/golden/hooks/`. On some hosts a person trusts a hook by
//! its text, so a change here makes them ask again.
//!
//! `SNAPSHOTS=overwrite cargo test` overwrites the files.

#![allow(clippy::disallowed_methods, reason = "tests read and write their own files")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::library::{Event, Library};
use crate::runtime::{Descriptor, Feature, Means, Registry, Scope, UNREGISTERED};

use super::golden_tests::{options, shown};
use super::*;

/// A library with nothing but hooks.
fn hooks_alone() -> Library {
    let table = include_str!("../../hooks/hooks.toml");
    Library::from_files(BTreeMap::from([("hooks/hooks.toml".into(), table.into())])).unwrap()
}

/// The files that exist, or differ, because of hooks and the status line.
fn told(library: &Library, descriptor: &Descriptor, scope: Scope) -> String {
    let files = |hooks: bool| -> BTreeMap<String, String> {
        let mut options = options(descriptor, scope);
        (options.permissions, options.hooks, options.status_line) = (false, hooks, hooks);
        let artifacts = emit_all(library, descriptor, scope, &options);
        artifacts.iter().map(|artifact| (artifact.path.clone(), shown(artifact))).collect()
    };
    let without = files(false);
    let mut text = String::new();
    for (path, shown) in files(true) {
        if without.get(&path) != Some(&shown) {
            let _ = writeln!(text, "==> {path}\n{shown}");
        }
    }
    text
}

/// Every host in each of its scopes, with the text of its registrations.
fn hosts() -> Vec<(String, &'static str, String)> {
    let library = hooks_alone();
    let mut found = Vec::new();
    for descriptor in Registry::embedded().all().unwrap() {
        for (scope, word) in [(Scope::Global, "global"), (Scope::Local, "local")] {
            if scope == Scope::Global || descriptor.home.local.folder().is_some() {
                found.push((descriptor.id.to_string(), word, told(&library, &descriptor, scope)));
            }
        }
    }
    found
}

#[test]
fn the_registrations_of_each_host_are_unchanged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/hooks");
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite");
    let mut names = Vec::new();
    for (host, scope, text) in hosts() {
        if text.is_empty() {
            continue;
        }
        let name = format!("{host}-{scope}.txt");
        let file = folder.join(&name);
        if overwrite {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &text).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        snapbox::assert_data_eq!(snapbox::Data::text(text).raw(), snapbox::Data::text(expected).raw());
        names.push(name);
    }
    let mut kept: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    kept.sort();
    names.sort();
    assert_eq!(kept, names);
}

#[test]
fn the_table_of_hosts_says_at_which_events_nothing_is_registered() {
    let (library, mut not_registered) = (hooks_alone(), 0);
    let events = [
        (Feature::SessionStart, Event::SessionStart),
        (Feature::BeforeTool, Event::BeforeTool),
        (Feature::AfterTool, Event::AfterTool),
        (Feature::BeforeCompact, Event::BeforeCompact),
    ];
    for descriptor in Registry::embedded().all().unwrap() {
        for (feature, event) in events {
            let support = descriptor.support(feature);
            let is_registered = hooks::is_registered(event, library.hooks(), &descriptor);
            let is_told = support.means == Means::Native && !support.note.ends_with(UNREGISTERED);
            assert_eq!(is_registered, is_told, "{} {event:?}: {}", descriptor.id, support.note);
            not_registered += usize::from(support.note.ends_with(UNREGISTERED));
        }
    }
    assert!(not_registered > 0);
}

#[test]
fn no_command_of_a_hook_needs_another_program_or_changes_with_a_version() {
    let mut seen = 0;
    for (host, scope, text) in hosts() {
        assert!(!text.contains("1.2.3") && !text.contains(env!("CARGO_PKG_VERSION")), "{host} {scope}: {text}");
        for line in text.lines().filter(|line| line.contains("gsd-tools") && line.contains(" hook ")) {
            // One host has a key of that name for the line that is meant for such a shell.
            let line = line.replace("\"bash\":", "");
            let words: Vec<&str> = line.split(|letter: char| !letter.is_alphanumeric()).collect();
            assert!(!words.contains(&"node") && !words.contains(&"bash"), "{host} {scope}: {line}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} lines");
}
