//! The house rules that a compiler does not hold: direction between rooms, no host names in Rust, no forgotten test.

use std::path::{Path, PathBuf};

use crate::kit::repository;

/// Rooms and the rooms each may name in a `crate::…` path.
const MAY_USE: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("disk", &[]),
    ("world", &[]),
    ("library", &["text"]),
    ("runtime", &["library", "text", "disk"]),
    ("emit", &["library", "runtime", "text"]),
    ("install", &["emit", "library", "runtime", "disk", "text", "world"]),
    ("project", &["text", "disk"]),
    ("operations", &["project", "text"]),
    ("hooks", &["text", "project", "library", "runtime", "disk", "world"]),
    ("fuzzing", &["text", "project", "operations", "hooks"]),
    ("commands", &["install", "operations", "emit", "project", "library", "runtime", "text", "disk", "world", "hooks"]),
];

#[test]
fn rooms_use_only_the_rooms_below() {
    let mut trespasses = Vec::new();
    for (file, text) in rust_files("src") {
        let Some(room) = room_of(&file) else { continue };
        let allowed = MAY_USE
            .iter()
            .find(|(name, _)| *name == room)
            .unwrap_or_else(|| panic!("room `{room}` has no row in MAY_USE"))
            .1;
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for used in line
                .split("crate::")
                .skip(1)
                .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
            {
                let known = MAY_USE.iter().any(|(name, _)| *name == used);
                if known && used != room && !allowed.contains(&used) {
                    trespasses.push(format!("{}:{}: {room} uses {used}", file.display(), number + 1));
                }
            }
        }
    }
    assert_eq!(trespasses, Vec::<String>::new());
}

#[test]
fn no_host_is_named_in_rust() {
    let hosts: Vec<String> = std::fs::read_dir(repository().join("src/runtime/descriptors"))
        .map(|entries| {
            entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect()
        })
        .unwrap_or_default();
    let mut named = Vec::new();
    for (file, text) in rust_files("src") {
        for (number, line) in text.lines().enumerate() {
            for host in &hosts {
                if line.contains(&format!("\"{host}\"")) {
                    named.push(format!("{}:{}: \"{host}\"", file.display(), number + 1));
                }
            }
        }
    }
    assert_eq!(named, Vec::<String>::new());
}

#[test]
fn every_file_of_the_suite_is_compiled() {
    let main = std::fs::read_to_string(repository().join("tests/suite/main.rs")).unwrap();
    let forgotten: Vec<PathBuf> = std::fs::read_dir(repository().join("tests/suite"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| {
            let stem = path.file_stem().unwrap().to_string_lossy();
            stem != "main" && !main.lines().any(|line| line.trim() == format!("mod {stem};"))
        })
        .collect();
    assert_eq!(forgotten, Vec::<PathBuf>::new());
}

fn room_of(file: &Path) -> Option<String> {
    let inside = file.strip_prefix(repository().join("src")).ok()?;
    let first = inside.components().next()?.as_os_str().to_string_lossy().into_owned();
    let room = first.strip_suffix(".rs").unwrap_or(&first).to_owned();
    (room != "lib" && room != "main").then_some(room)
}

fn rust_files(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![repository().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}
