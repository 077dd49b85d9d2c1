//! Finds the documents: names in a folder listing, and paths for new documents.
//!
//! People and older programs name folders and files in several ways; new ones have one name.

use super::ids::{identifier, milestone_of, number, order_of, without_team};
use crate::project::files::FolderEntry;

/// The root folder of a project in this layout.
pub(crate) const FOLDER: &str = ".gsd";

/// The folder of the milestones.
pub(crate) const MILESTONES: &str = ".gsd/milestones";

/// The database of another program that owns the folder, relative to the root.
pub(crate) const DATABASE: &str = ".gsd/gsd.db";

/// The folder of `id` among `entries`: by exact name, else ignoring case, else with more words after the identifier.
pub(crate) fn folder<'entries>(entries: &'entries [FolderEntry], id: &str) -> Option<&'entries str> {
    let folders = || entries.iter().filter(|entry| entry.is_folder).map(|entry| entry.name.as_str());
    let worded = |name: &str| {
        let head = name.get(..id.len()).is_some_and(|head| head.eq_ignore_ascii_case(id));
        head && name[id.len()..].starts_with('-') && milestone_of(name).is_none_or(|own| own.len() == id.len())
    };
    let exact = folders().find(|name| *name == id);
    exact
        .or_else(|| folders().find(|name| name.eq_ignore_ascii_case(id)))
        .or_else(|| folders().find(|name| worded(name)))
}

/// The document of `id` of this kind, such as `PLAN`: `ID-KIND.md`, else `ID-words-KIND.md`, else `kind.md`, but not
/// the last for tasks, since they share a folder.
pub(crate) fn file<'entries>(entries: &'entries [FolderEntry], id: &str, kind: &str) -> Option<&'entries str> {
    named(entries, id, kind, ".md").or_else(|| {
        let short = without_team(id);
        (short.len() < id.len()).then(|| named(entries, short, kind, ".md"))?
    })
}

/// As [`file()`], for records such as `VERIFY`, whose names end in `.json`.
pub(crate) fn record<'entries>(entries: &'entries [FolderEntry], id: &str, kind: &str) -> Option<&'entries str> {
    named(entries, id, kind, ".json")
}

fn named<'entries>(entries: &'entries [FolderEntry], id: &str, kind: &str, extension: &str) -> Option<&'entries str> {
    let files = || entries.iter().filter(|entry| !entry.is_folder).map(|entry| entry.name.as_str());
    let ending = format!("-{kind}{extension}");
    let exact = format!("{id}{ending}");
    let worded = |name: &str| {
        let (head, tail) = (name.get(..id.len()), name.len().checked_sub(ending.len()));
        let ends = tail.filter(|tail| *tail > id.len()).and_then(|tail| name.get(tail..));
        head.is_some_and(|head| head.eq_ignore_ascii_case(id))
            && name.as_bytes().get(id.len()) == Some(&b'-')
            && ends.is_some_and(|tail| tail.eq_ignore_ascii_case(&ending))
    };
    let is_bare = |name: &str| number(id, 'T').is_none() && name.eq_ignore_ascii_case(&ending[1..]);
    files()
        .find(|name| name.eq_ignore_ascii_case(&exact))
        .or_else(|| files().find(|name| worded(name)))
        .or_else(|| files().find(|name| is_bare(name)))
}

/// The files of this kind, such as `PLAN` and `.md`, for all tasks in a `tasks` folder, with their identifiers, in
/// their order.
pub(crate) fn task_files<'entries>(
    entries: &'entries [FolderEntry],
    kind: &str,
    extension: &str,
) -> Vec<(&'entries str, &'entries str)> {
    let ending = format!("-{kind}{extension}");
    let is_kind = |name: &str| {
        let tail = name.len().checked_sub(ending.len()).and_then(|tail| name.get(tail..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(&ending))
    };
    let files = entries.iter().filter(|entry| !entry.is_folder && is_kind(&entry.name));
    let files = files.map(|entry| entry.name.as_str()).filter(|name| number(name, 'T').is_some());
    let mut found: Vec<(&str, &str)> = files.map(|name| (identifier(name), name)).collect();
    found.sort_by_key(|(id, name)| (number(id, 'T'), *id, *name));
    found
}

/// A document directly in `.gsd`, such as `DECISIONS.md`, ignoring the case of its name.
pub(crate) fn root_file<'entries>(entries: &'entries [FolderEntry], name: &str) -> Option<&'entries str> {
    let files = || entries.iter().filter(|entry| !entry.is_folder).map(|entry| entry.name.as_str());
    files().find(|file| *file == name).or_else(|| files().find(|file| file.eq_ignore_ascii_case(name)))
}

/// The milestones among the entries of their folder: those that `queue` names first, then the others by number.
pub(crate) fn milestones(entries: &[FolderEntry], queue: &[String]) -> Vec<String> {
    let folders = entries.iter().filter(|entry| entry.is_folder);
    let mut there: Vec<&str> = folders.filter_map(|entry| milestone_of(&entry.name)).collect();
    there.sort_by_key(|id| order_of(id));
    there.dedup();
    let mut ordered: Vec<String> = Vec::with_capacity(there.len());
    for id in queue.iter().map(String::as_str).chain(there.iter().copied()) {
        if there.contains(&id) && !ordered.iter().any(|known| known == id) {
            ordered.push(id.to_owned());
        }
    }
    ordered
}

/// The folder of a slice's tasks.
pub(crate) fn tasks_folder(slice_folder: &str) -> String {
    format!("{slice_folder}/tasks")
}

/// The path of a new document: `FOLDER/ID-KIND.md`.
pub(crate) fn document(folder: &str, id: &str, kind: &str) -> String {
    format!("{folder}/{id}-{kind}.md")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entries(names: &[&str]) -> Vec<FolderEntry> {
        let entry =
            |name: &&str| FolderEntry { name: name.trim_end_matches('/').to_owned(), is_folder: name.ends_with('/') };
        names.iter().map(entry).collect()
    }

    #[test]
    fn a_folder_is_found_by_name_then_case_then_words() {
        let all = entries(&["M001-abc123/", "M001-some-words/", "m001/", "M001"]);
        assert_eq!(folder(&all, "M001"), Some("m001"));
        assert_eq!(folder(&all[..2], "M001"), Some("M001-some-words"), "a team's milestone is another one");
        assert_eq!(folder(&all, "M001-abc123"), Some("M001-abc123"));
        assert_eq!(folder(&entries(&["S01-é/", "S01/"]), "S01"), Some("S01"));
        assert_eq!(folder(&all, "M002"), None);
    }

    #[test]
    fn a_document_is_found_by_name_then_words_then_kind() {
        let all = entries(&["plan.md", "S01-words-PLAN.md", "s01-plan.md", "S01-PLAN.md/"]);
        assert_eq!(file(&all, "S01", "PLAN"), Some("s01-plan.md"));
        assert_eq!(file(&all[..2], "S01", "PLAN"), Some("S01-words-PLAN.md"));
        assert_eq!(file(&all[..1], "S01", "PLAN"), Some("plan.md"));
        assert_eq!(file(&all[..1], "T01", "PLAN"), None, "tasks share a folder");
        assert_eq!(file(&entries(&["S01-UAT-RESULT.md"]), "S01", "UAT"), None);
        assert_eq!(file(&entries(&["M001-ROADMAP.md"]), "M001-abc123", "ROADMAP"), Some("M001-ROADMAP.md"));
        assert_eq!(record(&entries(&["T01-VERIFY.json"]), "T01", "VERIFY"), Some("T01-VERIFY.json"));
    }

    #[test]
    fn task_files_come_in_the_order_of_their_numbers() {
        let all = entries(&[
            "T10-PLAN.md",
            "T02-index-PLAN.md",
            "T02.A1-PLAN.md",
            "T01-SUMMARY.md",
            "PLAN.md",
            "T03-PLAN.json",
        ]);
        let found = [("T02", "T02-index-PLAN.md"), ("T02.A1", "T02.A1-PLAN.md"), ("T10", "T10-PLAN.md")];
        assert_eq!(task_files(&all, "PLAN", ".md"), found);
    }

    #[test]
    fn the_queue_comes_before_the_numbers() {
        let all = entries(&["M001/", "M002-abc123/", "M003/", "M010/", "notes/", "M004"]);
        let queue = ["M010".to_owned(), "M099".to_owned(), "M010".to_owned(), "M003".to_owned()];
        assert_eq!(milestones(&all, &queue), ["M010", "M003", "M001", "M002-abc123"]);
        assert_eq!(root_file(&entries(&["decisions.md"]), "DECISIONS.md"), Some("decisions.md"));
    }

    proptest! {
        #[test]
        fn any_listing_is_read(names in proptest::collection::vec("[MSTé0-9a-zPLAN.md/-]{0,14}", 0..8), id in "[MST][0-9é]{0,3}") {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let all = entries(&names);
            let _ = (folder(&all, &id), file(&all, &id, "PLAN"), record(&all, &id, "VERIFY"), milestones(&all, &[]));
            let _ = task_files(&all, "PLAN", ".md");
        }
    }
}
