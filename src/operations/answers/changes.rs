//! Describes what edits do to the documents, for the person and the program that asked for them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::project::config::{self, without_secrets};
use crate::project::files::FileError;
use crate::project::layout::Layout;
use crate::project::view::{Edits, ProjectView};
use crate::text::checklist::ListItem;
use crate::text::diff::LineDiff;
use crate::text::front_matter::{self, FrontMatter};

/// One field that a command changed, or one file that was created or removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ChangedField {
    /// Relative to the project's root.
    pub(crate) file: String,
    /// The label of the line: `Status` of `Status: Executing`, the first cell of a table's row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    /// The old value; absent if the line is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old: Option<String>,
    /// The new value; absent if the line was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) created: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) removed: bool,
    /// The new path of a file or folder that was moved unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) moved_to: Option<String>,
    /// For a folder that was moved unchanged: the number of files in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<usize>,
}

/// The fields that `edits` change, in the order of the files and their lines. Content derived from other documents is
/// left out: the front matter of STATE.md except its figures, its mirror, the claim of the milestone.
pub(crate) fn changed_fields(view: &ProjectView, edits: &Edits) -> Result<Vec<ChangedField>, FileError> {
    let layout = view.layout();
    let mut changed = Vec::new();
    for (path, after) in &edits.texts {
        if is_derived(layout, path) {
            continue;
        }
        match if edits.leaves(path) { None } else { view.text(path)? } {
            None => changed.push(ChangedField { file: path.clone(), created: true, ..ChangedField::default() }),
            Some(before) if *path == layout.state() => {
                compare(path, body(&before), body(after), &mut changed);
                compare_figures(path, &before, after, &mut changed);
            }
            Some(before) => match (serde_json::from_str(&before), serde_json::from_str(after)) {
                (Ok(old), Ok(new)) => compare_values(path, "", Some(&old), Some(&new), &mut changed),
                _ => compare(path, &without_secrets(&before), &without_secrets(after), &mut changed),
            },
        }
    }
    for path in edits.removals.iter().filter(|path| !is_derived(layout, path)) {
        if view.exists(path) {
            changed.push(ChangedField { file: path.clone(), removed: true, ..ChangedField::default() });
        }
    }
    let (folders, files) = moved(edits);
    for ((from, to), count) in folders {
        let (moved_to, files) = (Some(to.to_owned()), Some(count));
        changed.push(ChangedField { file: from.to_owned(), moved_to, files, ..ChangedField::default() });
    }
    for (from, to) in files {
        let (from, to) = (from.to_owned(), to.to_owned());
        let moved_to = Some(to.clone());
        changed.push(ChangedField { file: from, removed: true, moved_to, ..ChangedField::default() });
        changed.push(ChangedField { file: to, created: true, ..ChangedField::default() });
    }
    Ok(changed)
}

/// The changes that a new text makes to one JSON file outside the project, also as a unified diff.
pub(crate) fn of_json_file(file: &str, before: Option<&str>, after: &str) -> (Vec<ChangedField>, String) {
    let mut changed = Vec::new();
    match before {
        None => changed.push(ChangedField { file: file.to_owned(), created: true, ..ChangedField::default() }),
        Some(before) => {
            let (old, new) = (serde_json::from_str(before).ok(), serde_json::from_str(after).ok());
            compare_values(file, "", old.as_ref(), new.as_ref(), &mut changed);
        }
    }
    let old = before.map_or(NOTHING, |_| file);
    (changed, lines_that_change(before.unwrap_or_default(), after, old, file))
}

/// The lines that `edits` change, file by file, as a unified diff.
pub(crate) fn diff(view: &ProjectView, edits: &Edits) -> Result<String, FileError> {
    let mut text = String::new();
    for (path, after) in &edits.texts {
        let before = if edits.leaves(path) { None } else { view.text(path)? };
        text.push_str(&WholeFile { path, before: before.as_deref(), after: Some(after) }.diff());
    }
    let mut whole = Vec::new();
    for path in &edits.removals {
        match view.text(path) {
            Ok(Some(before)) => text.push_str(&WholeFile { path, before: Some(&before), after: None }.diff()),
            Ok(None) => {}
            // The file is not text, so no lines can be shown.
            Err(_) => whole.extend(["--- a/", path, "\n+++ ", NOTHING, "\n"]),
        }
    }
    text.extend(whole);
    let (folders, files) = moved(edits);
    for ((from, to), count) in folders {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "rename from {from}/ ({count} files)\nrename to {to}/");
    }
    for (from, to) in files {
        text.extend(["rename from ", from, "\nrename to ", to, "\n"]);
    }
    Ok(text)
}

/// Old and new path, and the number of files moved that way.
type MovedFolders<'edits> = BTreeMap<(&'edits str, &'edits str), usize>;

/// The folders that are moved unchanged, and the files that are moved singly or renamed.
fn moved(edits: &Edits) -> (MovedFolders<'_>, Vec<(&str, &str)>) {
    let (mut folders, mut files) = (BTreeMap::new(), Vec::new());
    for (to, from) in &edits.moves {
        match folder_of_move(edits, from, to) {
            Some(way) => *folders.entry(way).or_insert(0) += 1,
            None => files.push((from.as_str(), to.as_str())),
        }
    }
    (folders, files)
}

/// The outermost folder that this move and others empty, and its new path.
fn folder_of_move<'edits>(edits: &Edits, from: &'edits str, to: &'edits str) -> Option<(&'edits str, &'edits str)> {
    let above = |emptied: &&String| from.strip_prefix(emptied.as_str()).is_some_and(|rest| rest.starts_with('/'));
    let folder = edits.emptied.iter().filter(above).min_by_key(|folder| folder.len())?;
    let (folder, inside) = from.split_at(folder.len());
    Some((folder, to.strip_suffix(inside)?))
}

/// A file before and after, for which there is nothing finer to report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeFile<'text> {
    /// The path to show.
    pub(crate) path: &'text str,
    pub(crate) before: Option<&'text str>,
    pub(crate) after: Option<&'text str>,
}

impl WholeFile<'_> {
    pub(crate) fn changed(self) -> ChangedField {
        let told = |text: Option<&str>| text.map(|text| shortened(text.trim_end()));
        ChangedField {
            file: self.path.to_owned(),
            old: told(self.before),
            new: told(self.after),
            created: self.before.is_none(),
            removed: self.after.is_none(),
            ..ChangedField::default()
        }
    }

    /// The changed lines, as a unified diff.
    pub(crate) fn diff(self) -> String {
        let side = |text: Option<&str>, letter: char| match text {
            Some(_) => format!("{letter}/{}", self.path),
            None => NOTHING.to_owned(),
        };
        lines_that_change(
            self.before.unwrap_or_default(),
            self.after.unwrap_or_default(),
            &side(self.before, 'a'),
            &side(self.after, 'b'),
        )
    }
}

/// The name of a missing file in a diff.
const NOTHING: &str = "/dev/null";

fn lines_that_change(before: &str, after: &str, old: &str, new: &str) -> String {
    without_secrets(&LineDiff::new(before, after).unified(old, new))
}

fn is_derived(layout: &Layout, path: &str) -> bool {
    [layout.state_mirror(), layout.milestone_claim()].iter().any(|derived| derived == path)
}

fn body(text: &str) -> &str {
    FrontMatter::parse(text).map_or(text, |front| front.body())
}

/// Reports the figures in the front matter of STATE.md that differ, as one field.
fn compare_figures(file: &str, before: &str, after: &str, changed: &mut Vec<ChangedField>) {
    let figures = |text: &str| -> Vec<(String, String)> {
        let Some(front_matter::Value::Map(entries)) = FrontMatter::parse(text).and_then(|front| front.get(FIGURES))
        else {
            return Vec::new();
        };
        entries.iter().map(|(key, value)| (key.clone(), value.flat())).collect()
    };
    let (old, new) = (figures(before), figures(after));
    let differ = |own: &[(String, String)], other: &[(String, String)]| {
        let lines = own.iter().filter(|entry| !other.contains(entry)).map(|(key, value)| format!("{key}: {value}"));
        Some(lines.collect::<Vec<_>>().join(", ")).filter(|lines| !lines.is_empty())
    };
    let (old, new) = (differ(&old, &new), differ(&new, &old));
    if old != new {
        let field = Some(FIGURES.to_owned());
        changed.push(ChangedField { file: file.to_owned(), field, old, new, ..ChangedField::default() });
    }
}

/// The key of the figures in the front matter of STATE.md.
const FIGURES: &str = "progress";

/// Reports the leaves of two JSON documents that differ, by paths such as `workflow.research`.
fn compare_values(file: &str, path: &str, old: Option<&Value>, new: Option<&Value>, changed: &mut Vec<ChangedField>) {
    let (old_map, new_map) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
    if old == new {
    } else if old_map.is_some() || new_map.is_some() {
        let keys = |map: Option<&Map<String, Value>>| map.into_iter().flat_map(Map::keys).cloned().collect::<Vec<_>>();
        let mut names = keys(old_map);
        names.extend(keys(new_map).into_iter().filter(|name| old_map.is_none_or(|old| !old.contains_key(name))));
        for name in names {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let at = |map: Option<&'_ Map<String, Value>>| map.and_then(|map| map.get(&name)).cloned();
            compare_values(file, &path, at(old_map).as_ref(), at(new_map).as_ref(), changed);
        }
    } else {
        let shown = |value: &Value| shortened(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let told = |value: Option<&Value>| {
            value.map(|value| match value.as_str() {
                Some(text) if config::is_secret(path) => config::masked(text),
                _ => shown(value),
            })
        };
        changed.push(ChangedField {
            file: file.to_owned(),
            field: Some(path.to_owned()),
            old: told(old),
            new: told(new),
            ..ChangedField::default()
        });
    }
}

fn compare(file: &str, before: &str, after: &str, changed: &mut Vec<ChangedField>) {
    // A byte order mark is part of the file, not of its first line: a new front matter goes after it.
    let (before, after) = (before.trim_start_matches('\u{feff}'), after.trim_start_matches('\u{feff}'));
    for (old, new) in LineDiff::new(before, after).changes() {
        pair(file, old, new, changed);
    }
}

/// An old and a new line with the same label are one change; other lines are added or removed.
fn pair(file: &str, old: &[&str], new: &[&str], changed: &mut Vec<ChangedField>) {
    let mut news: Vec<Option<LabelledLine<'_>>> = new.iter().map(|line| LabelledLine::parse(line)).collect();
    let change = |field: Option<&str>, old: Option<&str>, new: Option<&str>| ChangedField {
        file: file.to_owned(),
        field: field.map(shortened),
        old: old.map(shortened),
        new: new.map(shortened),
        ..ChangedField::default()
    };
    for line in old.iter().filter_map(|line| LabelledLine::parse(line)) {
        let partner = line.label.and_then(|label| {
            news.iter_mut().find(|slot| slot.is_some_and(|candidate| candidate.label == Some(label)))?.take()
        });
        match partner {
            Some(partner) if partner.value == line.value => {}
            partner => changed.push(change(line.label, Some(line.value), partner.map(|partner| partner.value))),
        }
    }
    changed.extend(news.into_iter().flatten().map(|line| change(line.label, None, Some(line.value))));
}

/// A line as a label and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LabelledLine<'text> {
    label: Option<&'text str>,
    value: &'text str,
}

impl<'text> LabelledLine<'text> {
    /// Splits a line; `None` if it has no text.
    fn parse(line: &'text str) -> Option<Self> {
        let line = line.trim();
        if line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ')) {
            return None;
        }
        Some(task(line).or_else(|| row(line)).or_else(|| field(line)).unwrap_or(Self { label: None, value: line }))
    }
}

/// `- [x] text`: the text is the label, the box the value.
fn task(line: &str) -> Option<LabelledLine<'_>> {
    let item = ListItem::read(line).filter(|item| item.tick.is_some())?;
    let after = line[item.mark.len()..].trim_start();
    let close = after.find(']')?;
    let text = after[close + 1..].trim();
    // A note after the name, such as the completion date, belongs to the value.
    let name = text.rfind("** ").map_or(text, |end| &text[..end + 2]);
    let value = if name.len() < text.len() { line } else { &after[..=close] };
    (close <= 4).then_some(LabelledLine { label: Some(name), value })
}

/// `| cell | cell |`: the first cell is the label.
fn row(line: &str) -> Option<LabelledLine<'_>> {
    let first = line.strip_prefix('|')?.split('|').next()?.trim();
    Some(LabelledLine { label: Some(first), value: line })
}

/// `Label: value`, `**Label**: value`, `"key": value,`.
fn field(line: &str) -> Option<LabelledLine<'_>> {
    const LONGEST_LABEL: usize = 40;
    let (label, value) = line.split_once(':')?;
    let is_mark = |mark: char| matches!(mark, '*' | '"' | '-' | ' ');
    let label = label.trim_matches(is_mark);
    let fits = !label.is_empty()
        && label.chars().count() <= LONGEST_LABEL
        && label.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '_' | '-' | '.' | '(' | ')'));
    let value = value.trim_start_matches("**").trim().trim_end_matches(',');
    fits.then_some(LabelledLine { label: Some(label), value })
}

/// A value shortened to be read at a glance.
fn shortened(value: &str) -> String {
    const LONGEST: usize = 120;
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    fn changes(path: &str, before: &str, after: &str) -> Vec<(Option<String>, Option<String>, Option<String>)> {
        let view = ProjectView::new(Layout::new("/project", None, None), Box::new(MemoryFiles::new([(path, before)])));
        let mut edits = Edits::default();
        edits.write(&view, path, after.to_owned()).unwrap();
        let changed = changed_fields(&view, &edits).unwrap();
        changed.into_iter().map(|change| (change.field, change.old, change.new)).collect()
    }

    fn change(field: &str, old: &str, new: &str) -> (Option<String>, Option<String>, Option<String>) {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        (some(field), some(old), some(new))
    }

    #[test]
    fn a_field_is_reported_with_its_values() {
        let before = "---\nstatus: a\n---\n\nPhase: 1 of 5\n**Plans**: 2 plans\n- [ ] one\n| 1. Base | 0/2 |\n";
        let after =
            "---\nstatus: b\n---\n\nPhase: 2 of 5\n**Plans**: 3 plans\n- [x] one\n| 1. Base | 2/2 |\nnew line\n";
        assert_eq!(
            changes(".planning/STATE.md", before, after),
            [
                change("Phase", "1 of 5", "2 of 5"),
                change("Plans", "2 plans", "3 plans"),
                change("one", "[ ]", "[x]"),
                change("1. Base", "| 1. Base | 0/2 |", "| 1. Base | 2/2 |"),
                change("", "", "new line"),
            ]
        );
    }

    #[test]
    fn the_front_matter_of_state_md_is_left_out_and_that_of_a_plan_is_not() {
        let (before, after) = ("---\nwave: 1\n---\nx\n", "---\nwave: 2\n---\nx\n");
        assert_eq!(changes(".planning/STATE.md", before, after), []);
        let figures = |text: &str| format!("---\nstatus: x\nprogress:\n{text}---\nx\n");
        assert_eq!(
            changes(".planning/STATE.md", &figures("  percent: 50\n  total_plans: 2\n"), &figures("  percent: 100\n")),
            [change("progress", "percent: 50, total_plans: 2", "percent: 100")],
            "its figures are no secret"
        );
        assert_eq!(changes(".planning/phases/01-a/01-01-PLAN.md", before, after), [change("wave", "1", "2")]);
        assert_eq!(
            changes(".planning/config.json", "{\"a\": {\"b\": 1, \"c\": true}}", "{\"a\": {\"b\": 2}, \"d\": \"x\"}"),
            [change("a.b", "1", "2"), change("a.c", "true", ""), change("d", "", "x")]
        );
        assert_eq!(
            changes(".planning/config.json", "{\n  \"mode\": 1,\n}", "{\n  \"mode\": 2,\n}"),
            [change("mode", "1", "2")]
        );
    }

    #[test]
    fn a_dry_run_shows_created_and_removed_files() {
        let view = ProjectView::new(
            Layout::new("/project", None, None),
            Box::new(MemoryFiles::new([(".planning/a.md", "one\n")])),
        );
        let mut edits = Edits::default();
        edits.write(&view, ".planning/b.md", "two\n".to_owned()).unwrap();
        edits.removals.push(".planning/a.md".to_owned());
        let text = diff(&view, &edits).unwrap();
        assert!(text.contains("--- /dev/null\n+++ b/.planning/b.md\n"), "{text}");
        assert!(text.contains("--- a/.planning/a.md\n+++ /dev/null\n"), "{text}");
        let changed = changed_fields(&view, &edits).unwrap();
        assert!(changed[0].created && changed[1].removed);
    }

    proptest::proptest! {
        #[test]
        fn any_two_texts_are_compared(before in "(\\PC{0,9}:?\n?){0,6}", after in "(\\PC{0,9}:?\n?){0,6}") {
            let changed = changes(".planning/x.md", &before, &after);
            proptest::prop_assert!(before != after || changed.is_empty());
        }
    }
}
