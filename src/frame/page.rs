//! The page of an answer that has no special view: labels with their values, lists and tables, made from its JSON.

use serde_json::{Map, Value};

use crate::text::screen::{Cell, Screen, Tone, width_of};
use crate::text::terminal::{one_line, plain};

/// What a page leaves out: the diff comes last, and the others say what the rest of the page shows.
const LEFT_OUT: &[&str] = &["ok", "found", "token", "diff", "dry_run", "dryRun", "would_update", "schema_version"];

/// The words of keys that are not spelled in small letters.
const SPELLED: &[(&str, &str)] =
    &[("id", "ID"), ("uat", "UAT"), ("url", "URL"), ("cli", "CLI"), ("mvp", "MVP"), ("gsd", "GSD")];

/// How many objects of a list that is too wide for a table are shown one after the other.
const BLOCKS: usize = 8;

/// The page of an answer; `None` if the answer is not JSON.
pub(crate) fn of_answer(answer: &str, screen: Screen) -> Option<String> {
    let value: Value = serde_json::from_str(answer).ok()?;
    let page = Page { screen };
    Some(match &value {
        Value::Object(fields) => page.whole(fields),
        Value::Array(items) if items.is_empty() => "none\n".to_owned(),
        Value::Array(items) => page.items(items, ""),
        scalar => text_of(scalar) + "\n",
    })
}

#[derive(Clone, Copy)]
struct Page {
    screen: Screen,
}

impl Page {
    fn whole(self, fields: &Map<String, Value>) -> String {
        let is_rehearsal = ["dry_run", "dryRun"].iter().any(|key| fields.get(*key) == Some(&Value::Bool(true)));
        let mut page = String::new();
        if is_rehearsal {
            page += &(self.screen.paint(Tone::Warning, "Dry run: nothing was changed") + "\n\n");
        }
        page += &self.object(fields, "");
        if let Some(diff) = fields.get("diff").and_then(Value::as_str).filter(|diff| !diff.is_empty()) {
            page.push('\n');
            for line in diff.lines() {
                let tone = match line.as_bytes() {
                    [b'+', ..] => Tone::Good,
                    [b'-', ..] => Tone::Bad,
                    _ => Tone::Faint,
                };
                page += &(self.screen.paint(tone, &plain(line)) + "\n");
            }
        }
        if page.is_empty() { "nothing to show\n".to_owned() } else { page }
    }

    /// The fields of an object: first those that fit on a line, then the others, each below its label.
    fn object(self, fields: &Map<String, Value>, indent: &str) -> String {
        let mut rows: Vec<(String, Cell)> = Vec::new();
        let mut blocks = String::new();
        let deeper = format!("{indent}  ");
        for (key, value) in fields.iter().filter(|(key, value)| says_something(key, value)) {
            let label = label(key);
            let block = match value {
                Value::Array(changes) if key == "changed" && changes.iter().all(Value::is_object) => {
                    rows.extend(listed(label, &files_of(changes)));
                    continue;
                }
                Value::Array(items) if items.iter().all(is_scalar) => {
                    rows.extend(listed(label, &items.iter().map(text_of).collect::<Vec<_>>()));
                    continue;
                }
                Value::Array(items) => self.items(items, &deeper),
                Value::Object(named) if is_table(named) => self.items(&with_names(named), &deeper),
                Value::Object(inner) => self.object(inner, &deeper),
                Value::String(text) if text.trim().contains('\n') => self.screen.lines(&deeper, text),
                scalar => {
                    let tone = if key.ends_with("command") { Tone::Command } else { Tone::Plain };
                    rows.push((label, Cell::new(tone, text_of(scalar))));
                    continue;
                }
            };
            if !block.is_empty() {
                let gap = if indent.is_empty() { "\n" } else { "" };
                blocks = blocks + gap + indent + &self.screen.paint(Tone::Strong, &label) + "\n" + &block;
            }
        }
        let rows: Vec<(&str, Cell)> = rows.iter().map(|(label, cell)| (label.as_str(), cell.clone())).collect();
        let page = self.screen.fields(indent, &rows) + &blocks;
        if rows.is_empty() { page.trim_start_matches('\n').to_owned() } else { page }
    }

    /// The items of a list: as a table if they fit in one, else one after the other.
    fn items(self, items: &[Value], indent: &str) -> String {
        if items.iter().all(is_scalar) {
            return items.iter().map(|item| indent.to_owned() + &text_of(item) + "\n").collect();
        }
        match table_of(items) {
            Some(rows) if self.fits(&rows, indent) => self.screen.table(indent, &rows),
            Some(rows) => {
                let short = varying(&rows);
                if self.fits(&short, indent) || items.len() > BLOCKS {
                    return self.screen.table(indent, &short);
                }
                self.one_by_one(items, indent)
            }
            None => self.one_by_one(items, indent),
        }
    }

    fn fits(self, rows: &[Vec<Cell>], indent: &str) -> bool {
        let unbound = self.screen.unwrapped();
        let table = Screen { color: false, ..unbound }.table(indent, rows);
        table.lines().all(|line| width_of(line) <= self.screen.width)
    }

    fn one_by_one(self, items: &[Value], indent: &str) -> String {
        let deeper = format!("{indent}  ");
        let block = |item: &Value| match item {
            Value::Object(fields) => {
                let mut rest = fields.clone();
                let first = fields.iter().find(|(_, value)| is_scalar(value) && !is_blank(value));
                let heading = first.map(|(key, value)| {
                    rest.shift_remove(key);
                    self.screen.prose(indent, &deeper, &text_of(value))
                });
                self.screen.paint_lines(Tone::Strong, &heading.unwrap_or_default()) + &self.object(&rest, &deeper)
            }
            Value::Array(inner) => self.items(inner, &deeper),
            scalar => self.screen.prose(indent, &deeper, &text_of(scalar)),
        };
        items.iter().map(block).collect()
    }
}

/// A field whose value is a list: on one line if it is short, else a line for each item.
fn listed(label: String, items: &[String]) -> Vec<(String, Cell)> {
    let one = items.join(", ");
    if items.is_empty() {
        return vec![(label, Cell::new(Tone::Faint, "none"))];
    }
    if one.len() <= 48 {
        return vec![(label, Cell::from(one))];
    }
    let labels = std::iter::once(label).chain(std::iter::repeat(String::new()));
    labels.zip(items.iter().map(|item| Cell::from(item.as_str()))).collect()
}

/// The files of a list of changed fields, each once.
fn files_of(changes: &[Value]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for file in changes.iter().filter_map(|change| change.get("file")).map(text_of) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// The rows of a table with a heading; `None` if an item is not an object or has a value that is too deep for a cell.
fn table_of(items: &[Value]) -> Option<Vec<Vec<Cell>>> {
    let objects: Vec<&Map<String, Value>> = items.iter().map(Value::as_object).collect::<Option<_>>()?;
    let mut columns: Vec<&String> = Vec::new();
    for (key, _) in objects.iter().flat_map(|object| object.iter()).filter(|(_, value)| !is_blank(value)) {
        if !columns.contains(&key) {
            columns.push(key);
        }
    }
    let heading = columns.iter().map(|key| Cell::new(Tone::Faint, label(key))).collect();
    let mut rows = vec![heading];
    for object in objects {
        let cells = columns.iter().map(|key| cell_of(object.get(key.as_str())));
        rows.push(cells.collect::<Option<_>>()?);
    }
    Some(rows)
}

fn cell_of(value: Option<&Value>) -> Option<Cell> {
    match value.filter(|value| !is_blank(value)) {
        None => Some(Cell::default()),
        Some(Value::Array(items)) if items.iter().all(is_scalar) => {
            Some(Cell::from(items.iter().map(text_of).collect::<Vec<_>>().join(", ")))
        }
        Some(scalar) if is_scalar(scalar) => Some(Cell::from(text_of(scalar))),
        Some(_) => None,
    }
}

/// The table without the columns that have the same value in every row.
fn varying(rows: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let [_, first, rest @ ..] = rows else { return rows.to_vec() };
    if rest.is_empty() {
        return rows.to_vec();
    }
    let varies = |column: usize| rest.iter().any(|row| row.get(column) != first.get(column));
    let kept: Vec<usize> = (0..first.len()).filter(|column| *column == 0 || varies(*column)).collect();
    rows.iter().map(|row| kept.iter().filter_map(|column| row.get(*column).cloned()).collect()).collect()
}

/// True for objects whose keys are names and whose values are all objects.
fn is_table(named: &Map<String, Value>) -> bool {
    let is_name = |key: &String| !key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    named.values().all(Value::is_object) && named.keys().any(is_name)
}

/// Named objects as a list, with the name as the first field.
fn with_names(named: &Map<String, Value>) -> Vec<Value> {
    let item = |(name, value): (&String, &Value)| {
        let mut item = Map::from_iter([("-".to_owned(), Value::from(name.as_str()))]);
        item.extend(value.as_object().cloned().unwrap_or_default());
        Value::Object(item)
    };
    named.iter().map(item).collect()
}

fn says_something(key: &str, value: &Value) -> bool {
    // Only an uncertain scope is worth a line.
    let is_usual = key.ends_with("scope") && value == "complete";
    !LEFT_OUT.contains(&key) && !is_blank(value) && !is_usual
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// True for values that say nothing. An empty list says that there is none.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Object(fields) => fields.values().all(is_blank),
        _ => false,
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => one_line(text),
        other => other.to_string(),
    }
}

/// The words of a key: `phaseNumber` and `phase_number` are `Phase number`. A name, such as `01-storage`, stays as it is.
fn label(key: &str) -> String {
    if !key.starts_with(|first: char| first.is_ascii_lowercase()) || key.contains(['-', '.', '/', ' ']) {
        return one_line(key.trim_start_matches('-'));
    }
    let mut spaced = String::new();
    for letter in key.chars() {
        match letter {
            '_' => spaced.push(' '),
            letter if letter.is_ascii_uppercase() => spaced.extend([' ', letter.to_ascii_lowercase()]),
            letter => spaced.push(letter),
        }
    }
    let spelled = |word| SPELLED.iter().find(|(plain, _)| *plain == word).map_or(word, |(_, spelled)| *spelled);
    let words = spaced.split_whitespace().map(spelled).collect::<Vec<_>>().join(" ");
    let first = words.chars().next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(words.chars().skip(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen { width: 60, color: false, signs: true };

    fn page(answer: &Value) -> String {
        of_answer(&answer.to_string(), SCREEN).unwrap()
    }

    #[test]
    fn fields_are_labels_with_values_and_lists_are_short() {
        let answer = serde_json::json!({
            "found": true, "phase_number": "2", "isActive": false, "id": 4, "note": null, "tags": [], "plans": ["a", "b"],
            "steps": ["one that is long enough", "two that is long enough", "three"],
        });
        let expected = "Phase number  2\nIs active     no\nID            4\nTags          none\nPlans         a, b\n\
                        Steps         one that is long enough\n              two that is long enough\n              three\n";
        assert_eq!(page(&answer), expected);
    }

    #[test]
    fn objects_in_a_list_are_a_table_and_deep_ones_come_one_by_one() {
        let rows = serde_json::json!([{ "name": "a", "done": true }, { "name": "b", "done": false, "why": "x" }]);
        assert_eq!(page(&rows), "Name  Done  Why\na     yes\nb     no    x\n");
        let deep = serde_json::json!([{ "name": "a", "parts": [{ "path": "p", "of": { "x": 1 } }] }]);
        assert_eq!(page(&deep), "a\n  Parts\n    p\n      Of\n        X  1\n");
        let named = serde_json::json!({ "phases": { "01-a": { "name": "a" }, "02-b": { "name": "b" } } });
        assert_eq!(page(&named), "Phases\n        Name\n  01-a  a\n  02-b  b\n");
    }

    #[test]
    fn a_table_that_is_too_wide_leaves_out_what_is_the_same_everywhere() {
        let row =
            |name: &str| serde_json::json!({ "name": name, "source": "a".repeat(50), "title": "t".repeat(10) + name });
        let told = page(&Value::from(vec![row("one"), row("two")]));
        assert!(told.starts_with("Name  Title\none   tttttttttt") && !told.contains("aaa"), "{told}");
    }

    #[test]
    fn a_dry_run_says_so_and_ends_with_the_diff() {
        let answer = serde_json::json!({
            "name": "A", "dry_run": true, "diff": "--- a\n+++ b\n+x\u{1b}[2J\n",
            "changed": [{ "file": "R.md", "new": "x" }, { "file": "R.md", "new": "y" }, { "file": "S.md" }],
        });
        let expected = "Dry run: nothing was changed\n\nName     A\nChanged  R.md, S.md\n\n--- a\n+++ b\n+x\n";
        assert_eq!(page(&answer), expected);
    }

    #[test]
    fn no_line_is_wider_than_the_screen_and_nothing_acts_on_a_terminal() {
        let answer = serde_json::json!({
            "text": "word ".repeat(40), "lines": format!("# A\n  - {}\n\u{1b}[2Jb", "word ".repeat(20)),
            "rows": [{ "a": "word ".repeat(9), "b": "word ".repeat(9) }, { "a": "x", "b": "y" }],
        });
        let told = page(&answer);
        assert!(told.lines().all(|line| width_of(line) <= 60) && !told.contains('\u{1b}'), "{told}");
        assert!(told.contains("\nLines\n  # A\n    - word"), "{told}");
    }

    #[test]
    fn text_is_not_a_report() {
        assert_eq!(of_answer("# A page", SCREEN), None);
        assert_eq!(of_answer("\"opus\"", SCREEN).unwrap(), "opus\n");
        assert_eq!(page(&serde_json::json!([])), "none\n");
    }
}
