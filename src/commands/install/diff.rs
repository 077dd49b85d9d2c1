//! The changes of an install, for a person to read: by kind of file and by key of settings, or with every line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::disk::{self, Change};
use crate::emit::with_short_program;
use crate::install::{Act, FileStep, InstallError, InstallPlan, KeyEdit, Target};
use crate::library::ItemKind;
use crate::text::diff::LineDiff;
use crate::text::screen::{Screen, Tone, counted};

/// The maximum width of a row about a key, in columns: values may be long.
const ROW: usize = 120;

/// How many keys of one object are shown separately; fewer than this are needed for hooks at all events.
const KEYS: usize = 15;

/// How many entries of one list are shown separately.
const ENTRIES: usize = 3;

/// A line for each file that is added or removed, and the changed lines of each file that stays.
pub(super) fn text(target: &Target, plan: &InstallPlan, screen: Screen) -> Result<String, InstallError> {
    let mut text = String::new();
    for change in plan.changes.iter() {
        let path = target.shown(change.path());
        let path = if change.path().is_within(&target.image_folder()) {
            format!("{path} (copy of your settings, to restore them)")
        } else {
            path
        };
        // Writing to a string cannot fail.
        let _ = match change {
            Change::WriteFile { path: file, bytes, .. } => match disk::read_text(file)? {
                None => writeln!(text, "{}", painted(&format!("+ {path}"), screen)),
                Some(before) => {
                    let after = String::from_utf8_lossy(bytes);
                    let diff = LineDiff::new(&before, &after).unified(&path, &path);
                    diff.lines().try_for_each(|line| writeln!(text, "{}", painted(line, screen)))
                }
            },
            Change::LinkProgram { .. } => writeln!(text, "{}", painted(&format!("+ {path} (this program)"), screen)),
            Change::RemoveFile { .. } => writeln!(text, "{}", painted(&format!("- {path}"), screen)),
            Change::MakeFolder { .. } | Change::RemoveFolder { .. } => Ok(()),
        };
    }
    Ok(text)
}

/// The files by kind, then each settings file with its keys.
pub(super) fn groups(target: &Target, plan: &InstallPlan) -> Vec<Group> {
    let mut groups = Vec::new();
    for (sign, wanted) in [('+', &[Act::Create] as &[Act]), ('~', &[Act::Update]), ('-', &[Act::Remove])] {
        let steps: Vec<&FileStep> =
            plan.steps.iter().filter(|step| step.is_whole() && wanted.contains(&step.act)).collect();
        if !steps.is_empty() {
            groups.push(Group {
                title: None,
                rows: vec![SettingsRow::alone(format!("{sign} {}", kinds(&steps, target)))],
            });
        }
    }
    let report = plan.report(target);
    for settings in &plan.settings {
        let shown = target.shown(&settings.path);
        let keys: Vec<&KeyEdit> = report.keys_of(&shown).collect();
        let block = || vec![SettingsRow::alone("~ a block of lines between two markers".to_owned())];
        let rows = if keys.is_empty() { block() } else { rows(&keys) };
        groups.push(Group { title: Some(shown), rows });
    }
    groups
}

/// Rows about one file, or about many.
#[derive(Debug)]
pub(super) struct Group {
    title: Option<String>,
    rows: Vec<SettingsRow>,
}

/// One row, and the object that contains its key.
#[derive(Debug)]
struct SettingsRow {
    text: String,
    above: String,
}

impl SettingsRow {
    fn alone(text: String) -> Self {
        Self { text, above: String::new() }
    }
}

impl Group {
    /// The rows, each cut to one line. If an object has many keys, only the first are shown, unless `all` is set.
    pub(super) fn text(&self, screen: Screen, all: bool) -> String {
        let indent = if self.title.is_some() { "      " } else { "    " };
        let width = screen.width.min(ROW) - indent.len();
        let title = self.title.as_ref().map(|title| format!("    {title}\n")).unwrap_or_default();
        let row = |SettingsRow { text: row, .. }: &SettingsRow| {
            if self.title.is_none() {
                let (sign, text) = row.split_at(2);
                return screen.prose(&format!("{indent}{sign}"), "      ", text);
            }
            format!("{indent}{}\n", painted(&screen.fitted(row, width), screen))
        };
        let keys = |keys: &[SettingsRow]| {
            if all || keys.len() <= KEYS {
                return keys.iter().map(row).collect::<String>();
            }
            let more = format!("and {} more of `{}`; `--verbose` lists them", keys.len() - ENTRIES, keys[0].above);
            keys.iter().take(ENTRIES).map(row).collect::<String>()
                + &screen.commands(&screen.prose(&format!("{indent}  "), &format!("{indent}  "), &more))
        };
        title + &self.rows.chunk_by(|one, other| one.above == other.above).map(keys).collect::<String>()
    }
}

/// `13 commands, 9 agents`: the number of files of each kind.
fn kinds(steps: &[&FileStep], target: &Target) -> String {
    let mut counts: BTreeMap<(u8, &str), usize> = BTreeMap::new();
    // A command may have a small file next to it.
    let command = if target.descriptor.typed_only.sidecar.is_some() { "command file" } else { "command" };
    for step in steps {
        let kind = match step.kind() {
            Some(ItemKind::Command) => (0, command),
            Some(ItemKind::Router) => (1, "router"),
            Some(ItemKind::Agent) => (2, "agent"),
            Some(ItemKind::Workflow) => (3, "workflow file"),
            Some(ItemKind::Template) => (4, "template"),
            Some(ItemKind::Reference) => (5, "reference"),
            Some(ItemKind::Hook) => (6, "hook file"),
            Some(ItemKind::Settings) => (7, "settings file"),
            Some(ItemKind::Program) => (8, "program file"),
            None => (9, "file"),
        };
        *counts.entry(kind).or_default() += 1;
    }
    let counts: Vec<String> = counts.into_iter().map(|((_, noun), count)| counted(count, noun)).collect();
    counts.join(", ")
}

/// A row for each key; many entries of one list are one row.
fn rows(keys: &[&KeyEdit]) -> Vec<SettingsRow> {
    keys.chunk_by(|one, other| one.head() == other.head())
        .flat_map(|entries| {
            let row = |edit: &KeyEdit, text| SettingsRow { text, above: edit.above().to_owned() };
            let whole = |edit: &KeyEdit| match edit.value() {
                Some(value) => format!("{}: {}", edit.head(), brief(value)),
                None => edit.head(),
            };
            match entries {
                [first, _, ..] if entries.len() > ENTRIES => {
                    let example = first.value().map(|value| format!(", such as {}", brief(value)));
                    let text = format!("{}: {} entries{}", first.head(), entries.len(), example.unwrap_or_default());
                    vec![row(first, text)]
                }
                _ => entries.iter().map(|edit| row(edit, whole(edit))).collect(),
            }
        })
        .collect()
}

/// The command in a value and its purpose, else the value.
fn brief(value: &Value) -> String {
    fn command(value: &Value) -> Option<&str> {
        match value {
            Value::Object(keys) => {
                let own = ["command", "bash"].iter().find_map(|key| keys.get(*key)?.as_str());
                own.or_else(|| keys.values().find_map(command))
            }
            Value::Array(values) => values.iter().find_map(command),
            _ => None,
        }
    }
    match command(value) {
        Some(command) => with_short_program(match value["matcher"].as_str() {
            Some(matcher) => format!("{command} (for {matcher})"),
            None => command.to_owned(),
        }),
        None => with_short_program(value.to_string()),
    }
}

fn painted(line: &str, screen: Screen) -> String {
    match line.as_bytes().first() {
        Some(b'+') => screen.paint(Tone::Good, line),
        Some(b'-') => screen.paint(Tone::Bad, line),
        Some(b'~') => screen.paint(Tone::Warning, line),
        _ => line.to_owned(),
    }
}
