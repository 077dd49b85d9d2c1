//! Each command as a value: a project, a request, and the report with the lines it changes. `lossless` checks for all
//! of them that nothing else changes.

#![allow(clippy::disallowed_methods, reason = "tests read their projects by hand")]

mod lossless;
mod notes;
mod older;
mod position;
mod update;
mod upkeep;

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use snapbox::assert_data_eq;

use super::position::PhaseRequest;
use super::*;
use crate::failure::Failure;
use crate::project::files::MemoryFiles;
use crate::project::view::Edited;

const STATE: &str = ".planning/STATE.md";

fn facts() -> Facts {
    Facts {
        now: "2026-01-15T18:00:00.000Z".into(),
        milliseconds: 1_768_500_000_000,
        today: "2026-01-15".into(),
        head: Some("0123456789abcdef0123456789abcdef01234567".into()),
        session: Some("session-a".into()),
        process: 7,
        is_unit: false,
        commands: Commands { prefix: "/gsd-".into(), installed: vec!["progress".into()], skip_discussion: false },
        ..Facts::default()
    }
}

/// The files of a fixture project.
fn fixture(name: &str) -> MemoryFiles {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/projects").join(name);
    let mut files = MemoryFiles::default();
    for entry in walkdir::WalkDir::new(&root) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            files.texts.insert(path, std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    files
}

fn view(files: MemoryFiles) -> ProjectView {
    files.view()
}

fn of_text(state: &str) -> ProjectView {
    view(MemoryFiles::new([(STATE, state)]))
}

type StateEdited = Edited<String, Failure>;

/// The answer of an operation, with its report serialized.
fn printed<R: Serialize>(result: Edited<R, Failure>) -> StateEdited {
    result.map(|(report, edits)| (serde_json::to_string(&report).unwrap(), edits))
}

fn printed_found<R: Serialize>(result: EditedState<R>) -> StateEdited {
    printed(result.map(|found| match found {
        Some((report, edits)) => (Some(report), edits),
        None => (None, Edits::default()),
    }))
}

/// The report, and the changed lines of STATE.md without the time in the front matter.
fn shown(view: &ProjectView, outcome: StateEdited) -> String {
    let (report, edits) = outcome.unwrap();
    let mut text = format!("{report}\n");
    let before = view.text(STATE).unwrap().unwrap_or_default();
    let after = edits.texts.get(STATE).map_or(before.as_ref(), String::as_str);
    for change in TextDiff::from_lines(before.as_ref(), after).iter_all_changes() {
        let line = change.value().trim_end_matches('\n');
        match change.tag() {
            ChangeTag::Equal => {}
            _ if line.starts_with("last_updated:") || line.starts_with("state_head:") => {}
            ChangeTag::Delete => writeln!(text, "-{line}").unwrap(),
            ChangeTag::Insert => writeln!(text, "+{line}").unwrap(),
        }
    }
    text
}

fn check(project: &str, request: impl FnOnce(&ProjectView) -> StateEdited, expected: impl snapbox::IntoData) {
    let view = view(fixture(project));
    assert_data_eq!(shown(&view, request(&view)), expected);
}

fn phase<'a>(phase: &'a str, name: &'a str, plans: u64) -> PhaseRequest<'a> {
    PhaseRequest { phase, name: Some(name), plans: Some(plans) }
}
