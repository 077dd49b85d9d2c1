//! The library covers what the peer program has: each row of `tests/roster.txt` is one of our files or calls, or
//! `docs/differences.md` names its replacement.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const CONTENT: [&str; 6] = ["commands", "workflows", "agents", "references", "templates", "src/operations/capability"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of the content: its path in lower case, and its text.
fn content() -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut open: Vec<_> = CONTENT.map(|folder| root().join(folder)).into();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if let Ok(text) = fs::read_to_string(&path) {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
            files.push((name.to_lowercase(), text));
        }
    }
    files
}

/// The names in the first column of the tables of `docs/differences.md`. `-x` means the first word of the cell with
/// another ending.
fn replaced() -> BTreeSet<String> {
    let page = fs::read_to_string(root().join("docs/differences.md")).unwrap();
    let mut names = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert!(cells.len() == 5 && cells[1..4].iter().all(|cell| !cell.is_empty()), "three cells: {row}");
        let mut stem = "";
        for name in cells[1].split(',').map(|name| name.trim().trim_matches('`')) {
            if let Some(ending) = name.strip_prefix('-') {
                names.insert(format!("{stem}-{ending}"));
            } else {
                stem = name.split('-').next().unwrap_or(name);
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// True if a row of the roster is one of our files or calls.
fn is_there(kind: &str, name: &str, content: &[(String, String)]) -> bool {
    let lower = name.to_lowercase();
    let has = |path: &str| content.iter().any(|(there, _)| there == path);
    match kind {
        "command" | "workflow" | "agent" | "reference" | "template" => has(&format!("{kind}s/{lower}.md")),
        "step" => {
            let (workflow, file) = lower.split_once('/').unwrap_or((&lower, ""));
            let file = file.rsplit('/').next().unwrap_or(file);
            has(&format!("workflows/{workflow}/steps/{file}.md"))
        }
        "call" => {
            let called = |text: &str, form: &str| {
                text.match_indices(form).any(|(at, _)| {
                    !text[at + form.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '-')
                })
            };
            let dotted = name.replacen(' ', ".", 1);
            content.iter().any(|(_, text)| {
                called(text, &format!("gsd-tools {name}")) || called(text, &format!("query = \"{dotted}"))
            })
        }
        _ => panic!("the roster has no `{kind}`"),
    }
}

#[test]
fn everything_in_the_peer_library_is_here_or_has_a_named_replacement() {
    let roster = fs::read_to_string(root().join("tests/roster.txt")).unwrap();
    let (content, replaced) = (content(), replaced());
    let rows: Vec<(&str, &str)> = roster
        .lines()
        .filter_map(|row| row.split_once(' '))
        .filter(|(kind, _)| *kind != "#" && !kind.is_empty())
        .collect();
    assert!(rows.len() > 500, "{}", rows.len());
    let missing: Vec<String> = rows
        .iter()
        .filter(|(kind, name)| !is_there(kind, name, &content) && !replaced.contains(*name))
        .map(|(kind, name)| format!("{kind} {name}"))
        .collect();
    assert!(missing.is_empty(), "{} rows have neither:\n{}", missing.len(), missing.join("\n"));
    // A replacement row for a name that exists here is useless.
    let idle = |name: &&String| {
        let mut same = rows.iter().filter(|(_, row)| row == name).peekable();
        same.peek().is_some() && same.all(|(kind, row)| is_there(kind, row, &content))
    };
    let idle: Vec<&String> = replaced.iter().filter(idle).collect();
    assert!(idle.is_empty(), "these are here by their own name: {idle:?}");
}
