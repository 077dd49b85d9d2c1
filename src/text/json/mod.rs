//! JSON files of another owner: read, edited in place, and written back.
//!
//! [`JsonDocument`] keeps the text itself; an edit splices new text into it at byte spans found by the parser. Nothing
//! is printed again, so comments, order, indentation, number spellings, trailing commas, line endings and a byte order
//! mark stay as their owner wrote them. An empty text counts as an object that still has to be made.
//! [`super::brackets`] decides where new entries go, and what is removed with them when an edit is undone.

mod characters;
mod excerpt;
mod print;
#[cfg(test)]
mod tests;

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use self::characters::check_characters;
use self::characters::readable;
pub(crate) use self::excerpt::Excerpt;
use self::print::Printer;
use super::brackets::{Brackets, Comments};
use super::edit::{
    Applied, EditError, JsonDialect, ParseError, Reverted, Undo, dotted, indentation, line_of, line_start,
    printed_with_mark, starts_line, unsafe_at, without_mark,
};
use super::leaf::{LineNumbers, SettingsLeaf};
use super::markdown::newline_of;
use super::splice::Splices;

/// A wanted change of a JSON file. Paths are keys of objects from the root; missing objects are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JsonEdit {
    /// `value` is an element of the array at `path`; appended unless an equal one exists.
    Append { path: Vec<String>, value: Value },
    /// `path` has `value`, unless it already has any value.
    SetIfAbsent { path: Vec<String>, value: Value },
    /// `path` has `value`, whatever it had before.
    Set { path: Vec<String>, value: Value },
}

impl JsonEdit {
    pub(crate) fn path(&self) -> &[String] {
        match self {
            JsonEdit::Append { path, .. } | JsonEdit::SetIfAbsent { path, .. } | JsonEdit::Set { path, .. } => path,
        }
    }

    pub(crate) fn value(&self) -> &Value {
        match self {
            JsonEdit::Append { value, .. } | JsonEdit::SetIfAbsent { value, .. } | JsonEdit::Set { value, .. } => value,
        }
    }
}

/// A JSON text that parses, with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonDocument {
    byte_order_mark: bool,
    text: String,
    dialect: JsonDialect,
}

impl JsonDocument {
    pub(crate) fn parse(text: &str, dialect: JsonDialect) -> Result<Self, ParseError> {
        let (bare, mark) = without_mark(text);
        tree(&readable(bare), dialect)?;
        Ok(JsonDocument { byte_order_mark: mark > 0, text: bare.to_owned(), dialect })
    }

    /// Reads the value of a text that will not be edited; `None` if it has no value.
    pub(crate) fn read(text: &str, dialect: JsonDialect) -> Result<Option<Value>, ParseError> {
        Ok(tree(&readable(without_mark(text).0), dialect)?.as_ref().map(to_value))
    }

    /// The value at this path of keys; the whole document for an empty path. If a key is repeated, the last one counts.
    pub(crate) fn value(&self, path: &[String]) -> Option<Value> {
        let readable = readable(&self.text);
        let root = tree(&readable, self.dialect).ok()??;
        value_in(&root, path)
    }

    /// Every value with its key and line.
    pub(crate) fn leaves(&self) -> Vec<SettingsLeaf> {
        let readable = readable(&self.text);
        let Ok(Some(root)) = tree(&readable, self.dialect) else { return Vec::new() };
        let (lines, mut found) = (LineNumbers::of(&self.text), Vec::new());
        push_leaves(&root, &mut Vec::new(), &lines, &mut found);
        found
    }

    /// The line of the value at this path of keys, counted from 1.
    pub(crate) fn line(&self, path: &[String]) -> Option<usize> {
        let readable = readable(&self.text);
        let root = tree(&readable, self.dialect).ok()??;
        match descend(Some(&root), path) {
            Ok(Descent::Found(node)) => Some(line_of(&self.text, span(node).start)),
            _ => None,
        }
    }

    /// Makes the change, unless it is already there. On an error the document is unchanged.
    pub(crate) fn apply(&mut self, edit: &JsonEdit) -> Result<Applied, EditError> {
        let readable = readable(&self.text);
        let root = self.tree(&readable, edit.path())?;
        let (edited, undo) = match self.descend(root.as_ref(), edit.path())? {
            Descent::Found(node) => match edit {
                JsonEdit::Append { path, value } => {
                    let array = node.as_array().ok_or_else(|| self.wrong_kind(path, "a list", node))?;
                    if array.elements.iter().any(|element| to_value(element) == *value) {
                        return Ok(Applied::AlreadyThere);
                    }
                    let undo = Undo { blank: of_array(array).blank(&self.text), ..Undo::default() };
                    (self.insert(&of_array(array), root.as_ref(), node, None, value), undo)
                }
                JsonEdit::SetIfAbsent { value, .. } | JsonEdit::Set { value, .. } => {
                    let existing = to_value(node);
                    if existing == *value {
                        return Ok(Applied::AlreadyThere);
                    }
                    if matches!(edit, JsonEdit::SetIfAbsent { .. }) {
                        return Ok(Applied::Kept(existing));
                    }
                    let mut splices = Splices::default();
                    splices.replace(span(node), self.replacement(&span(node), value));
                    let undo = Undo { previous: Some(self.text[span(node)].to_owned()), ..Undo::default() };
                    (splices.apply(&self.text), undo)
                }
            },
            Descent::Missing { object, key, rest } => {
                let wrapped = wrap(edit, rest);
                let created = rest.len() + usize::from(matches!(edit, JsonEdit::Append { .. }));
                match object {
                    Some((object, node)) => {
                        let blank = of_object(object).blank(&self.text);
                        let undo = Undo { created_parents: created, blank, previous: None };
                        (self.insert(&of_object(object), root.as_ref(), node, Some(key), &wrapped), undo)
                    }
                    None => self.with_root(created, key, wrapped),
                }
            }
        };
        let is_there = match tree(&characters::readable(&edited), self.dialect) {
            Ok(root) => has(edit, root.and_then(|root| value_in(&root, edit.path()))),
            Err(_) => false,
        };
        if !is_there {
            return Err(unsafe_at(edit.path()));
        }
        self.text = edited;
        Ok(Applied::Changed(undo))
    }

    /// Undoes exactly what `edit` did: removes the value if an equal one is still there, removes the objects and arrays
    /// made for it if they are now empty, and restores the value it had replaced. Edits must be undone in reverse
    /// order.
    pub(crate) fn revert(&mut self, edit: &JsonEdit, applied: &Applied) -> Result<Reverted, EditError> {
        let Applied::Changed(undo) = applied else {
            return Ok(Reverted::NotThere);
        };
        let path = edit.path();
        let readable = readable(&self.text);
        let root = self.tree(&readable, path)?;
        let found = match self.descend(root.as_ref(), path) {
            Ok(Descent::Found(node)) => node,
            Ok(Descent::Missing { .. }) | Err(EditError::WrongKind { .. }) => return Ok(Reverted::NotThere),
            Err(error) => return Err(error),
        };
        let mut edited = JsonDocument { text: String::new(), ..*self };
        let mut depth = path.len();
        if let JsonEdit::Append { value, .. } = edit {
            let Some(array) = found.as_array() else { return Ok(Reverted::NotThere) };
            let Some(index) = array.elements.iter().rposition(|element| to_value(element) == *value) else {
                return Ok(Reverted::NotThere);
            };
            edited.text = of_array(array).remove(&self.text, index);
        } else {
            if to_value(found) != *edit.value() {
                return Ok(Reverted::NotThere);
            }
            if let Some(previous) = &undo.previous {
                let mut splices = Splices::default();
                splices.replace(span(found), previous.as_str());
                edited.text = splices.apply(&self.text);
                // Only a single value may be restored, because the ledger is a file that others can write.
                let start = span(found).start;
                let readable = characters::readable(&edited.text);
                let restored = edited.tree(&readable, path)?;
                let is_one_value = matches!(
                    descend(restored.as_ref(), path), Ok(Descent::Found(node)) if span(node) == (start..start + previous.len())
                );
                if !is_one_value {
                    return Err(unsafe_at(path));
                }
            } else {
                depth -= 1;
                edited.text = without_property(&self.text, root.as_ref(), &path[..depth], &path[depth])
                    .ok_or_else(|| unsafe_at(path))?;
            }
        }
        if undo.previous.is_none() {
            edited.close_empty(path, depth, undo);
        }
        self.replace_text(edited.text).ok_or_else(|| unsafe_at(path))?;
        Ok(Reverted::Removed)
    }

    /// Removes the key at `path` with its value, even if others wrote it; returns whether it existed.
    pub(crate) fn remove(&mut self, path: &[String]) -> Result<bool, EditError> {
        let readable = readable(&self.text);
        let root = self.tree(&readable, path)?;
        match self.descend(root.as_ref(), path) {
            Ok(Descent::Found(_)) => {}
            Ok(Descent::Missing { .. }) | Err(EditError::WrongKind { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
        let (key, parents) = path.split_last().ok_or_else(|| EditError::BadPath { path: String::new() })?;
        let edited = without_property(&self.text, root.as_ref(), parents, key);
        edited.and_then(|edited| self.replace_text(edited)).ok_or_else(|| unsafe_at(path))?;
        Ok(true)
    }

    /// Removes the elements of the array at `path` that satisfy `unwanted`, even if others wrote them; returns them.
    /// Does nothing without an array there.
    pub(crate) fn remove_elements(
        &mut self,
        path: &[String],
        unwanted: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Value>, EditError> {
        let Some(Value::Array(elements)) = self.value(path) else { return Ok(Vec::new()) };
        let removed: Vec<Value> = elements.into_iter().filter(|element| unwanted(element)).collect();
        let put = Applied::Changed(Undo { blank: Some(String::new()), ..Undo::default() });
        let mut edited = self.clone();
        for value in removed.iter().rev() {
            edited.revert(&JsonEdit::Append { path: path.to_vec(), value: value.clone() }, &put)?;
        }
        *self = edited;
        Ok(removed)
    }

    /// Removes the containers that were made for a value and are now empty, from the one at `path[..depth]` upwards,
    /// and restores the blank text in the container that existed before.
    fn close_empty(&mut self, path: &[String], mut depth: usize, undo: &Undo) {
        let mut created = undo.created_parents;
        loop {
            let readable = readable(&self.text).into_owned();
            let Ok(Some(root)) = tree(&readable, self.dialect) else { return };
            let Ok(Descent::Found(node)) = descend(Some(&root), &path[..depth]) else { return };
            let Some(container) = brackets(node) else { return };
            if !container.is_blank(&self.text) {
                return;
            }
            if created == 0 {
                self.text = container.with_interior(&self.text, undo.blank());
                return;
            }
            created -= 1;
            if depth == 0 {
                self.text = without_root(&self.text, &span(node), undo.blank());
                return;
            }
            depth -= 1;
            match without_property(&self.text, Some(&root), &path[..depth], &path[depth]) {
                Some(text) => self.text = text,
                None => return,
            }
        }
    }

    /// The text with a root object that contains `key`, and what is needed to undo that.
    fn with_root(&self, created: usize, key: &str, value: Value) -> (String, Undo) {
        let mut root = Map::new();
        root.insert(key.to_owned(), value);
        let printed = Printer::plain(newline_of(&self.text)).print(&Value::Object(root), "");
        let blank = self.text.trim().is_empty().then(|| self.text.clone());
        let undo = Undo { created_parents: created + 1, blank, previous: None };
        (with_root(&self.text, &printed), undo)
    }

    /// Parses the text, as [`readable`] gives it.
    fn tree<'text>(&self, readable: &'text str, path: &[String]) -> Result<Option<ast::Value<'text>>, EditError> {
        if path.is_empty() {
            return Err(EditError::BadPath { path: String::new() });
        }
        tree(readable, self.dialect).map_err(|_| unsafe_at(path))
    }

    fn descend<'tree, 'text, 'path>(
        &self,
        root: Option<&'tree ast::Value<'text>>,
        path: &'path [String],
    ) -> Result<Descent<'tree, 'text, 'path>, EditError> {
        descend(root, path).map_err(|obstacle| match obstacle {
            Obstacle::NoPath => EditError::BadPath { path: String::new() },
            Obstacle::Twice { depth, again } => {
                EditError::DuplicateKey { path: dotted(&path[..=depth]), line: line_of(&self.text, again) }
            }
            Obstacle::NoObject { depth, node } => self.wrong_kind(&path[..depth], "an object", node),
        })
    }

    fn wrong_kind(&self, path: &[String], expected: &'static str, node: &ast::Value<'_>) -> EditError {
        let found = match node {
            ast::Value::Object(_) => "an object",
            ast::Value::Array(_) => "a list",
            ast::Value::StringLit(_) => "a string",
            ast::Value::NumberLit(_) => "a number",
            ast::Value::BooleanLit(_) => "true or false",
            ast::Value::NullKeyword(_) => "null",
        };
        let line = Some(line_of(&self.text, span(node).start));
        EditError::WrongKind { path: dotted(path), line, expected, found }
    }

    /// The text with a new last entry in `node`. In an empty `node`, the entry gets a separate line if `node` has one.
    fn insert(
        &self,
        brackets: &Brackets,
        root: Option<&ast::Value<'_>>,
        node: &ast::Value<'_>,
        key: Option<&str>,
        value: &Value,
    ) -> String {
        let is_root = root.is_some_and(|root| span(root) == span(node));
        let printer = Printer::of(&self.text, is_root || begins_line(&self.text, span(node).start));
        brackets.insert(&self.text, &printer.style(), |place| printer.print_entry(key, value, place))
    }

    /// Prints a value that replaces the one at `range`.
    fn replacement(&self, range: &Range<usize>, value: &Value) -> String {
        let in_lines = self.text[range.clone()].contains('\n') || begins_line(&self.text, range.start);
        Printer::of(&self.text, in_lines).print(value, indentation(&self.text, range.start))
    }

    fn replace_text(&mut self, edited: String) -> Option<()> {
        tree(&readable(&edited), self.dialect).ok()?;
        self.text = edited;
        Some(())
    }
}

printed_with_mark!(JsonDocument);

/// The value at this path of keys below `root`. If a key is repeated, the last one counts.
fn value_in(root: &ast::Value<'_>, path: &[String]) -> Option<Value> {
    let mut node = root;
    for key in path {
        node = &node.as_object()?.properties.iter().rfind(|property| property.name.as_str() == key)?.value;
    }
    Some(to_value(node))
}

/// True if what was found at the path of the edit is what it wants; any value is enough for
/// [`JsonEdit::SetIfAbsent`].
fn has(edit: &JsonEdit, found: Option<Value>) -> bool {
    match (edit, found) {
        (JsonEdit::Append { value, .. }, Some(Value::Array(elements))) => elements.contains(value),
        (JsonEdit::Set { value, .. }, Some(found)) => found == *value,
        (JsonEdit::SetIfAbsent { .. }, Some(_)) => true,
        _ => false,
    }
}

fn tree(text: &str, dialect: JsonDialect) -> Result<Option<ast::Value<'_>>, ParseError> {
    let options = ParseOptions {
        allow_comments: dialect != JsonDialect::Strict,
        allow_trailing_commas: dialect == JsonDialect::CommentsAndTrailingCommas,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(text, &CollectOptions::default(), &options) {
        Ok(parsed) => Ok(parsed.value),
        Err(error) => {
            let message = error.kind().to_string();
            let mut rest = message.chars();
            let lowered = rest.next().map(|first| first.to_lowercase().chain(rest).collect::<String>());
            Err(ParseError::at(text, error.range().start, lowered.unwrap_or_default()))
        }
    }
}

enum Descent<'tree, 'text, 'path> {
    Found(&'tree ast::Value<'text>),
    /// The deepest object on the path (`None` without a root), the key it lacks, and the keys after that.
    Missing {
        object: Option<(&'tree ast::Object<'text>, &'tree ast::Value<'text>)>,
        key: &'path str,
        rest: &'path [String],
    },
}

/// Why a path leads nowhere, with the number of keys before.
enum Obstacle<'tree, 'text> {
    NoPath,
    /// The key is there twice, the second time at this byte.
    Twice {
        depth: usize,
        again: usize,
    },
    NoObject {
        depth: usize,
        node: &'tree ast::Value<'text>,
    },
}

fn descend<'tree, 'text, 'path>(
    root: Option<&'tree ast::Value<'text>>,
    path: &'path [String],
) -> Result<Descent<'tree, 'text, 'path>, Obstacle<'tree, 'text>> {
    let mut node = match (root, path) {
        (Some(root), _) => root,
        (None, [key, rest @ ..]) => return Ok(Descent::Missing { object: None, key, rest }),
        (None, []) => return Err(Obstacle::NoPath),
    };
    for (depth, key) in path.iter().enumerate() {
        let object = node.as_object().ok_or(Obstacle::NoObject { depth, node })?;
        let mut named = object.properties.iter().filter(|property| property.name.as_str() == key);
        match (named.next(), named.next()) {
            (Some(property), None) => node = &property.value,
            (Some(_), Some(again)) => return Err(Obstacle::Twice { depth, again: span(again).start }),
            (None, _) => return Ok(Descent::Missing { object: Some((object, node)), key, rest: &path[depth + 1..] }),
        }
    }
    Ok(Descent::Found(node))
}

/// The value for the first missing key, with the edit's value at the end of `rest`.
fn wrap(edit: &JsonEdit, rest: &[String]) -> Value {
    let innermost = match edit {
        JsonEdit::Append { value, .. } => Value::Array(vec![value.clone()]),
        JsonEdit::SetIfAbsent { value, .. } | JsonEdit::Set { value, .. } => value.clone(),
    };
    rest.iter().rev().fold(innermost, |inner, key| {
        let mut object = Map::new();
        object.insert(key.clone(), inner);
        Value::Object(object)
    })
}

fn without_property(text: &str, root: Option<&ast::Value<'_>>, parent: &[String], key: &str) -> Option<String> {
    let Ok(Descent::Found(node)) = descend(root, parent) else { return None };
    let object = node.as_object()?;
    let index = object.properties.iter().position(|property| property.name.as_str() == key)?;
    Some(of_object(object).remove(text, index))
}

fn of_object(object: &ast::Object<'_>) -> Brackets {
    let entries = object.properties.iter().map(span).collect();
    Brackets { interior: object.range.start + 1..object.range.end - 1, entries, comments: Comments::Slashes }
}

fn of_array(array: &ast::Array<'_>) -> Brackets {
    let entries = array.elements.iter().map(span).collect();
    Brackets { interior: array.range.start + 1..array.range.end - 1, entries, comments: Comments::Slashes }
}

fn brackets(node: &ast::Value<'_>) -> Option<Brackets> {
    match node {
        ast::Value::Object(object) => Some(of_object(object)),
        ast::Value::Array(array) => Some(of_array(array)),
        _ => None,
    }
}

/// A text without a value, with `root` after its contents.
fn with_root(text: &str, root: &str) -> String {
    let ending = newline_of(text);
    if text.trim().is_empty() {
        return format!("{root}{ending}");
    }
    if text.ends_with('\n') { format!("{text}{root}{ending}") } else { format!("{text}{ending}{root}") }
}

/// The inverse of [`with_root`]; `blank` is the text if it was all whitespace.
fn without_root(text: &str, root: &Range<usize>, blank: &str) -> String {
    let (before, after) = (&text[..root.start], &text[root.end..]);
    if before.trim().is_empty() && after.trim().is_empty() {
        return blank.to_owned();
    }
    if let Some(rest) = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')) {
        return format!("{before}{rest}");
    }
    let before = before.strip_suffix('\n').map_or(before, |line| line.strip_suffix('\r').unwrap_or(line));
    format!("{before}{after}")
}

/// True if the value at `offset` is the first on its line, with or without its key.
fn begins_line(text: &str, offset: usize) -> bool {
    let start = line_start(text, offset);
    starts_line(text, offset) || (start > 0 && is_key(text[start..offset].trim()))
}

/// True if this is one key with its colon.
fn is_key(line: &str) -> bool {
    let mut escaped = false;
    let mut quotes = 0;
    for byte in line.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quotes += 1,
            _ => {}
        }
    }
    quotes == 2 && line.starts_with('"') && line.ends_with(':')
}

fn push_leaves(node: &ast::Value<'_>, path: &mut Vec<String>, lines: &LineNumbers, found: &mut Vec<SettingsLeaf>) {
    let mut push = |value: &ast::Value<'_>, path: &[String], is_element| {
        let line = Some(lines.at(span(value).start));
        found.push(SettingsLeaf { path: path.to_vec(), is_element, value: to_value(value), line });
    };
    match node {
        ast::Value::Object(object) if !object.properties.is_empty() => {
            for property in &object.properties {
                path.push(property.name.as_str().to_owned());
                push_leaves(&property.value, path, lines, found);
                path.pop();
            }
        }
        ast::Value::Array(array) if !array.elements.is_empty() => {
            array.elements.iter().for_each(|element| push(element, path, true));
        }
        other => push(other, path, false),
    }
}

fn span(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

fn to_value(node: &ast::Value<'_>) -> Value {
    match node {
        ast::Value::Object(object) => Value::Object(
            object
                .properties
                .iter()
                .map(|property| (property.name.as_str().to_owned(), to_value(&property.value)))
                .collect(),
        ),
        ast::Value::Array(array) => Value::Array(array.elements.iter().map(to_value).collect()),
        ast::Value::StringLit(literal) => Value::String(literal.value.clone().into_owned()),
        ast::Value::NumberLit(literal) => {
            serde_json::from_str(literal.value).unwrap_or_else(|_| Value::String(literal.value.to_owned()))
        }
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::NullKeyword(_) => Value::Null,
    }
}
