//! TOML files of another owner: read, edited in place, and written back.
//!
//! [`TomlDocument`] keeps the text itself; an edit splices new lines, or new entries of an inline table, into it at
//! byte spans found by the parser. So everything else stays as its owner wrote it, including line endings and a byte
//! order mark. New text is plain TOML 1.0: no line breaks or trailing commas in inline tables.

mod lines;
mod print;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table};

use self::print::{print_entry, print_value};
use super::brackets::{Brackets, Comments, Style};
use super::edit::{
    Applied, EditError, ParseError, Reverted, Undo, dotted, line_of, printed_with_mark, unsafe_at, without_mark,
};
use super::leaf::{LineNumbers, SettingsLeaf};
use super::markdown::newline_of;
use super::splice::Splices;

/// A wanted change of a TOML file. Paths are keys of tables from the root; missing tables are made.
///
/// Values are given as JSON so that an edit can be stored anywhere; `null` and dates cannot be written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TomlEdit {
    /// `path` has `value`, unless it already has any value.
    SetIfAbsent { path: Vec<String>, value: Value },
    /// `path` has `value`, whatever it had before.
    Set { path: Vec<String>, value: Value },
    /// `table` is one of the `[[path]]` tables; appended unless an equal one exists.
    AppendTable { path: Vec<String>, table: Map<String, Value> },
}

impl TomlEdit {
    pub(crate) fn path(&self) -> &[String] {
        match self {
            TomlEdit::SetIfAbsent { path, .. } | TomlEdit::Set { path, .. } | TomlEdit::AppendTable { path, .. } => {
                path
            }
        }
    }

    /// The value at the path after the edit, if there was none before.
    fn fresh_value(&self) -> Value {
        match self {
            TomlEdit::SetIfAbsent { value, .. } | TomlEdit::Set { value, .. } => value.clone(),
            TomlEdit::AppendTable { table, .. } => Value::Array(vec![Value::Object(table.clone())]),
        }
    }
}

/// A TOML text that parses, with its bytes.
#[derive(Clone, Debug)]
pub(crate) struct TomlDocument {
    byte_order_mark: bool,
    text: String,
    /// The parsed text, kept because parsing is most of the cost for a large file; `None` if the text was just changed.
    root: Item,
}

impl TomlDocument {
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let (bare, mark) = without_mark(text);
        match tree(bare) {
            Ok(root) => Ok(TomlDocument { byte_order_mark: mark > 0, text: bare.to_owned(), root }),
            Err(error) => {
                let message = error.message().lines().next().unwrap_or_default();
                Err(ParseError::at(bare, error.span().map_or(0, |span| span.start), message))
            }
        }
    }

    /// The value at this path of keys as JSON, dates as text; the whole document for an empty path.
    pub(crate) fn value(&self, path: &[String]) -> Option<Value> {
        match descend(&self.root, path) {
            Ok(Descent::Found(item)) => to_json(item),
            _ => None,
        }
    }

    /// Every value with its key and line.
    pub(crate) fn leaves(&self) -> Vec<SettingsLeaf> {
        let (lines, mut found) = (LineNumbers::of(&self.text), Vec::new());
        push_leaves(&self.root, None, &mut Vec::new(), &lines, &mut found);
        found
    }

    /// The whole document as `serde` reads it.
    pub(crate) fn into_json(self) -> Option<Value> {
        toml_edit::de::from_document(DocumentMut::from(self.root.into_table().ok()?)).ok()
    }

    /// True if the document already has what the edit wants; any value is enough for [`TomlEdit::SetIfAbsent`].
    pub(crate) fn holds(&self, edit: &TomlEdit) -> bool {
        match (edit, self.value(edit.path())) {
            (TomlEdit::AppendTable { table, .. }, Some(Value::Array(elements))) => {
                elements.iter().any(|element| element.as_object() == Some(table))
            }
            (TomlEdit::Set { value, .. }, Some(found)) => found == *value,
            (TomlEdit::SetIfAbsent { .. }, Some(_)) => true,
            _ => false,
        }
    }

    /// Makes the change, unless it is already there. On an error the document is unchanged.
    pub(crate) fn apply(&mut self, edit: &TomlEdit) -> Result<Applied, EditError> {
        let path = edit.path();
        let (edited, undo) = match self.descend(path)? {
            Descent::Found(item) => match edit {
                TomlEdit::AppendTable { table, .. } => {
                    let existing = to_json(item).and_then(|value| value.as_array().cloned()).unwrap_or_default();
                    if existing.iter().any(|element| element.as_object() == Some(table)) {
                        return Ok(Applied::AlreadyThere);
                    }
                    match item {
                        Item::ArrayOfTables(_) => self.with_table_element(path, table, 0)?,
                        Item::Value(toml_edit::Value::Array(array)) => {
                            let brackets = array_brackets(array).ok_or_else(|| unsafe_at(path))?;
                            let element = print_value(&Value::Object(table.clone()), path)?;
                            let undo = Undo { blank: brackets.blank(&self.text), ..Undo::default() };
                            (brackets.insert(&self.text, &self.style(""), |_| element), undo)
                        }
                        other => return Err(self.wrong_kind(path, "a list of tables", other)),
                    }
                }
                TomlEdit::SetIfAbsent { value, .. } | TomlEdit::Set { value, .. } => {
                    let existing = to_json(item).unwrap_or_default();
                    if existing == *value {
                        return Ok(Applied::AlreadyThere);
                    }
                    if matches!(edit, TomlEdit::SetIfAbsent { .. }) {
                        return Ok(Applied::Kept(existing));
                    }
                    let span = value_span(item).ok_or_else(|| self.wrong_kind(path, "a value", item))?;
                    let mut splices = Splices::default();
                    splices.replace(span.clone(), print_value(value, path)?);
                    let undo = Undo { previous: Some(self.text[span].to_owned()), ..Undo::default() };
                    (splices.apply(&self.text), undo)
                }
            },
            Descent::Missing { parent, depth } => self.with_new_key(parent, edit, depth)?,
        };
        let before = std::mem::replace(&mut self.text, edited);
        // The tree of a large file takes a lot of memory: the old one is dropped first.
        self.root = Item::None;
        if self.parse_again() && self.holds(edit) {
            return Ok(Applied::Changed(undo));
        }
        self.text = before;
        self.root = Item::None;
        self.parse_again();
        Err(unsafe_at(path))
    }

    /// Undoes exactly what `edit` did: removes the value if an equal one is still there, removes the tables made for it
    /// if they are now empty, and restores the value it had replaced. Edits must be undone in reverse order.
    pub(crate) fn revert(&mut self, edit: &TomlEdit, applied: &Applied) -> Result<Reverted, EditError> {
        let Applied::Changed(undo) = applied else {
            return Ok(Reverted::NotThere);
        };
        let path = edit.path();
        let item = match self.descend(path) {
            Ok(Descent::Found(item)) => item,
            Ok(Descent::Missing { .. }) | Err(EditError::WrongKind { .. }) => return Ok(Reverted::NotThere),
            Err(error) => return Err(error),
        };
        let mut depth = path.len();
        let byte_order_mark = self.byte_order_mark;
        let mut edited = TomlDocument { byte_order_mark, text: String::new(), root: Item::None };
        match edit {
            TomlEdit::AppendTable { table, .. } => match item {
                Item::ArrayOfTables(tables) => {
                    let Some(element) = tables.iter().filter(|element| is_plainly(element, table)).last() else {
                        return Ok(Reverted::NotThere);
                    };
                    edited.text =
                        lines::without_table(&self.text, element, undo.blank()).ok_or_else(|| unsafe_at(path))?;
                    depth = 0;
                }
                Item::Value(toml_edit::Value::Array(array)) => {
                    let brackets = array_brackets(array).ok_or_else(|| unsafe_at(path))?;
                    let values: Vec<Value> = array.iter().map(print::from_value).collect();
                    let Some(index) = values.iter().rposition(|element| element.as_object() == Some(table)) else {
                        return Ok(Reverted::NotThere);
                    };
                    edited.text = brackets.remove(&self.text, index);
                }
                _ => return Ok(Reverted::NotThere),
            },
            TomlEdit::SetIfAbsent { value, .. } | TomlEdit::Set { value, .. } => {
                let Some(span) = value_span(item).filter(|_| to_json(item).as_ref() == Some(value)) else {
                    return Ok(Reverted::NotThere);
                };
                if let Some(previous) = &undo.previous {
                    let mut splices = Splices::default();
                    splices.replace(span.clone(), previous.as_str());
                    edited.text = splices.apply(&self.text);
                    // Only a single value may be restored, because the ledger is a file that others can write.
                    edited.parse_again();
                    let is_one_value = matches!(
                        descend(&edited.root, path),
                        Ok(Descent::Found(item)) if value_span(item) == Some(span.start..span.start + previous.len())
                    );
                    if !is_one_value {
                        return Err(unsafe_at(path));
                    }
                } else {
                    depth -= 1;
                    edited.text = without_key(&self.text, &self.root, path).ok_or_else(|| unsafe_at(path))?;
                }
            }
        }
        if undo.previous.is_none() && depth > 0 {
            edited.close_empty(path, depth, undo);
        } else if undo.previous.is_none() && path.len() == 1 && matches!(item, Item::Value(_)) {
            lines::close_up_top(&mut edited.text, undo.blank());
        }
        if !edited.parse_again() {
            return Err(unsafe_at(path));
        }
        *self = edited;
        Ok(Reverted::Removed)
    }

    /// Inserts the edit's value at its path; `depth` keys of the path lead to `parent`, the deepest existing table.
    fn with_new_key(&self, parent: &Item, edit: &TomlEdit, depth: usize) -> Result<(String, Undo), EditError> {
        let path = edit.path();
        let missing = &path[depth..];
        let created = missing.len() - 1 + usize::from(matches!(edit, TomlEdit::AppendTable { .. }));
        let table = match parent {
            Item::Value(toml_edit::Value::InlineTable(inline)) => {
                let brackets = inline_brackets(inline).ok_or_else(|| unsafe_at(path))?;
                let value = missing[1..]
                    .iter()
                    .rev()
                    .fold(edit.fresh_value(), |inner, key| Value::Object(Map::from_iter([(key.clone(), inner)])));
                let entry = print_entry(&missing[0], &value, path)?;
                let undo = Undo { created_parents: created, blank: brackets.blank(&self.text), previous: None };
                return Ok((brackets.insert(&self.text, &self.style(" "), |_| entry), undo));
            }
            Item::Table(table) => table,
            other => return Err(self.wrong_kind(&path[..depth], "a table", other)),
        };
        if table.is_dotted() {
            let line = format!("{} = {}", print::print_path(missing), print_value(&edit.fresh_value(), path)?);
            let undo = Undo { created_parents: created, ..Undo::default() };
            return Ok((lines::after_dotted(&self.text, table, &line).ok_or_else(|| unsafe_at(path))?, undo));
        }
        match edit {
            TomlEdit::AppendTable { table, .. } => self.with_table_element(path, table, created),
            TomlEdit::SetIfAbsent { value, .. } | TomlEdit::Set { value, .. } => {
                let line = print_entry(&path[path.len() - 1], value, path)?;
                if created == 0 && (depth == 0 || lines::header(table).is_some()) {
                    let (text, blank) = lines::in_table(&self.text, table, &line, depth == 0);
                    return Ok((text, Undo { blank, ..Undo::default() }));
                }
                let header = format!("[{}]", print::print_path(&path[..path.len() - 1]));
                let (text, blank) = lines::at_end(&self.text, &[header, line]);
                Ok((text, Undo { created_parents: created.max(1), blank: Some(blank), previous: None }))
            }
        }
    }

    fn with_table_element(
        &self,
        path: &[String],
        table: &Map<String, Value>,
        created: usize,
    ) -> Result<(String, Undo), EditError> {
        let mut block = vec![format!("[[{}]]", print::print_path(path))];
        for (key, value) in table {
            block.push(print_entry(key, value, path)?);
        }
        let (text, blank) = lines::at_end(&self.text, &block);
        Ok((text, Undo { created_parents: created, blank: Some(blank), previous: None }))
    }

    /// Removes the tables that were made for a value and are now empty, from the one at `path[..depth]` upwards, and
    /// restores the blank text in the table that existed before.
    fn close_empty(&mut self, path: &[String], mut depth: usize, undo: &Undo) {
        let mut created = undo.created_parents;
        while depth > 0 {
            if !self.parse_again() {
                return;
            }
            let Ok(Descent::Found(item)) = descend(&self.root, &path[..depth]) else { return };
            let brackets = match item {
                Item::Value(toml_edit::Value::InlineTable(inline)) => inline_brackets(inline),
                Item::Value(toml_edit::Value::Array(array)) => array_brackets(array),
                Item::Table(table) if created > 0 && lines::is_bare_header(table) => {
                    if let Some(text) = lines::without_table(&self.text, table, undo.blank()) {
                        self.text = text;
                        self.root = Item::None;
                    }
                    return;
                }
                _ => return,
            };
            let Some(brackets) = brackets.filter(|brackets| brackets.is_blank(&self.text)) else { return };
            if created == 0 {
                self.text = brackets.with_interior(&self.text, undo.blank());
                self.root = Item::None;
                return;
            }
            let Some(text) = without_key(&self.text, &self.root, &path[..depth]) else { return };
            self.text = text;
            self.root = Item::None;
            created -= 1;
            depth -= 1;
        }
    }

    fn style(&self, padding: &'static str) -> Style<'static> {
        Style { line_ending: newline_of(&self.text), unit: "  ", separator: " ", padding, first_in_lines: false }
    }

    fn descend(&self, path: &[String]) -> Result<Descent<'_>, EditError> {
        if path.is_empty() {
            return Err(EditError::BadPath { path: String::new() });
        }
        descend(&self.root, path).map_err(|(depth, item)| self.wrong_kind(&path[..depth], "a table", item))
    }

    fn wrong_kind(&self, path: &[String], expected: &'static str, item: &Item) -> EditError {
        let found = match item {
            Item::None => "nothing",
            Item::Table(_) | Item::Value(toml_edit::Value::InlineTable(_)) => "a table",
            Item::ArrayOfTables(_) => "a list of tables",
            Item::Value(toml_edit::Value::Array(_)) => "a list",
            Item::Value(_) => "a value",
        };
        let line = item.span().map(|span| line_of(&self.text, span.start));
        EditError::WrongKind { path: dotted(path), line, expected, found }
    }

    /// True if the text parses; it is only parsed again after a change.
    fn parse_again(&mut self) -> bool {
        if self.root.is_none() {
            self.root = tree(&self.text).unwrap_or_default();
        }
        !self.root.is_none()
    }
}

fn tree(text: &str) -> Result<Item, toml_edit::TomlError> {
    Ok(Document::parse(text)?.into_item())
}

printed_with_mark!(TomlDocument);

enum Descent<'tree> {
    Found(&'tree Item),
    /// The deepest table on the path, and how many keys lead to it.
    Missing {
        parent: &'tree Item,
        depth: usize,
    },
}

/// Fails with an item that is not a table, and the number of keys that lead to it.
fn descend<'tree>(root: &'tree Item, path: &[String]) -> Result<Descent<'tree>, (usize, &'tree Item)> {
    let mut item = root;
    for (depth, key) in path.iter().enumerate() {
        let table = item.as_table_like().ok_or((depth, item))?;
        match table.get(key) {
            Some(next) if !next.is_none() => item = next,
            _ => return Ok(Descent::Missing { parent: item, depth }),
        }
    }
    Ok(Descent::Found(item))
}

/// `line` is that of the key.
fn push_leaves(
    item: &Item,
    line: Option<usize>,
    path: &mut Vec<String>,
    lines: &LineNumbers,
    found: &mut Vec<SettingsLeaf>,
) {
    let line_of = |span: Option<Range<usize>>| span.map(|span| lines.at(span.start)).or(line);
    if let Some(table) = item.as_table_like().filter(|table| !table.is_empty()) {
        for (key, item) in table.iter() {
            let line = line_of(table.key(key).and_then(toml_edit::Key::span));
            path.push(key.to_owned());
            push_leaves(item, line, path, lines, found);
            path.pop();
        }
        return;
    }
    let mut push = |value: Value, line: Option<usize>, is_element| {
        found.push(SettingsLeaf { path: path.clone(), is_element, value, line });
    };
    match item {
        Item::ArrayOfTables(tables) => {
            tables.iter().for_each(|table| push(print::from_table(table), line_of(table.span()), true));
        }
        Item::Value(toml_edit::Value::Array(array)) if !array.is_empty() => {
            array.iter().for_each(|value| push(print::from_value(value), line_of(value.span()), true));
        }
        item => drop(to_json(item).map(|value| push(value, line_of(item.span()), false))),
    }
}

/// The text without the key at `path` and its value.
fn without_key(text: &str, root: &Item, path: &[String]) -> Option<String> {
    let (key, parents) = path.split_last()?;
    let Ok(Descent::Found(parent)) = descend(root, parents) else { return None };
    let table = parent.as_table_like()?;
    let value = value_span(table.get(key)?)?;
    if let Some(inline) = parent.as_inline_table() {
        let brackets = inline_brackets(inline)?;
        let index = brackets.entries.iter().position(|entry| entry.end == value.end)?;
        return Some(brackets.remove(text, index));
    }
    let start = table.key(key)?.span()?.start;
    Some(lines::without_line(text, &(start..value.end)))
}

/// True if `element` is this table, with all of it below its own header.
fn is_plainly(element: &Table, table: &Map<String, Value>) -> bool {
    let own = element.iter().all(|(_, item)| item.is_value());
    own && print::from_table(element).as_object() == Some(table)
}

fn to_json(item: &Item) -> Option<Value> {
    match item {
        Item::None => None,
        Item::Value(value) => Some(print::from_value(value)),
        Item::Table(table) => Some(print::from_table(table)),
        Item::ArrayOfTables(tables) => Some(Value::Array(tables.iter().map(print::from_table).collect())),
    }
}

/// The byte range of a value; `None` for tables that are spread over lines or dotted keys.
fn value_span(item: &Item) -> Option<Range<usize>> {
    match item {
        Item::Value(toml_edit::Value::InlineTable(inline)) if inline.is_dotted() => None,
        Item::Value(value) => value.span(),
        _ => None,
    }
}

fn array_brackets(array: &Array) -> Option<Brackets> {
    let span = array.span()?;
    let entries = array.iter().map(toml_edit::Value::span).collect::<Option<Vec<_>>>()?;
    Some(Brackets { interior: span.start + 1..span.end - 1, entries, comments: Comments::Hash })
}

fn inline_brackets(inline: &InlineTable) -> Option<Brackets> {
    if inline.is_dotted() {
        return None;
    }
    let span = inline.span()?;
    let mut entries = lines::own_values(inline);
    entries.sort_by_key(|entry| entry.start);
    Some(Brackets { interior: span.start + 1..span.end - 1, entries, comments: Comments::Hash })
}
