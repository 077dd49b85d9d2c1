//! YAML files of another owner: entries of lists are inserted and removed, all other bytes stay.
//!
//! [`YamlDocument`] keeps the text itself and supports just enough of YAML to find a key by its indentation. It refuses
//! what it cannot do safely, with the line: a place in braces, an anchor, an alias, a tag. It also checks
//! itself: a full parser reads the text before and after, and the two must differ by exactly the wanted entry. An empty
//! text counts as a map that still has to be made.

mod lines;
mod print;
mod tabs;
#[cfg(test)]
mod tests;
mod value;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use self::lines::Lines;
use self::value::AnyValue;
use super::edit::{
    Applied, EditError, ParseError, Reverted, Undo, dotted, line_of, printed_with_mark, unsafe_at, without_mark,
};
use super::leaf::{LineNumbers, SettingsLeaf};

/// A wanted change of a YAML file. Paths are keys of maps from the root; missing maps are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum YamlEdit {
    /// `value`, a scalar or a map of scalars, is an entry of the list at `path`; appended unless an equal one exists.
    Append { path: Vec<String>, value: Json },
}

impl YamlEdit {
    pub(crate) fn path(&self) -> &[String] {
        self.parts().0
    }

    fn parts(&self) -> (&[String], &Json) {
        match self {
            YamlEdit::Append { path, value } => (path, value),
        }
    }
}

/// A YAML text that parses, with its bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct YamlDocument {
    byte_order_mark: bool,
    text: String,
    /// The parsed text, kept because parsing is most of the cost for a large file.
    value: Value,
}

impl YamlDocument {
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let (bare, mark) = without_mark(text);
        if let Some(offset) = Lines::new(bare).second_document() {
            let message = "a second document begins here, and which one counts is not known; keep one in the file";
            return Err(ParseError::at(bare, offset, message));
        }
        let value = read(bare).map_err(|error| {
            let offset = error.location().map_or(0, |location| location.index());
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            match value::repeated(message) {
                Some(key) => {
                    let again = repetition(bare, key).unwrap_or(offset);
                    ParseError::at(bare, again, format!("duplicate key `{key}`"))
                }
                None => ParseError::at(bare, offset, message),
            }
        })?;
        if let Some(offset) = tabs::between_values(bare) {
            return Err(ParseError::at(bare, offset, "a tab between values; replace it by spaces"));
        }
        Ok(YamlDocument { byte_order_mark: mark > 0, text: bare.to_owned(), value })
    }

    /// The whole document as JSON, if JSON can express it.
    pub(crate) fn to_json(&self) -> Option<Json> {
        serde_json::to_value(&self.value).ok()
    }

    /// Every value with its key and line.
    pub(crate) fn leaves(&self) -> Vec<SettingsLeaf> {
        let numbers = LineNumbers::of(&self.text);
        let (lines, mut found) = (Lines::new(&self.text), Vec::new());
        push_leaves(&self.value, &mut Vec::new(), None, &|path| lines.start_of(path), &mut found);
        let mut entries: (Vec<String>, std::vec::IntoIter<usize>) = (Vec::new(), Vec::new().into_iter());
        for (offset, leaf) in &mut found {
            if leaf.is_element {
                if entries.0 != leaf.path {
                    entries = (leaf.path.clone(), lines.entries_of(&leaf.path).into_iter());
                }
                *offset = entries.1.next().or(*offset);
            }
            leaf.line = offset.map(|offset| numbers.at(offset));
        }
        found.into_iter().map(|(_, leaf)| leaf).collect()
    }

    /// Makes the change, unless it is already there. On an error the document is unchanged.
    pub(crate) fn apply(&mut self, edit: &YamlEdit) -> Result<Applied, EditError> {
        let (path, value) = edit.parts();
        if path.is_empty() || path.iter().any(String::is_empty) {
            return Err(EditError::BadPath { path: dotted(path) });
        }
        let entry = serde_yaml::to_value(value).map_err(|_| EditError::NotWritable { path: dotted(path) })?;
        if self.entries(path)?.contains(&entry) {
            return Ok(Applied::AlreadyThere);
        }
        let mut wanted = self.value.clone();
        put(&mut wanted, path, entry).ok_or_else(|| unsafe_at(path))?;
        let made = Lines::new(&self.text).with_entry(path, value)?;
        for (text, undo) in made {
            let Some(found) = read(&text).ok().filter(|found| *found == wanted) else { continue };
            let changed = YamlDocument { byte_order_mark: self.byte_order_mark, text, value: found };
            // A change that could not be undone to the byte is not made.
            if changed.without(path, value, &undo, Some(self))?.is_some_and(|back| back.text == self.text) {
                *self = changed;
                return Ok(Applied::Changed(undo));
            }
        }
        Err(unsafe_at(path))
    }

    /// Undoes exactly what `edit` did: removes the entry if an equal one is still there, removes the list and the maps
    /// made for it if they are now empty, and restores what they had replaced. Edits must be undone in reverse order.
    pub(crate) fn revert(&mut self, edit: &YamlEdit, applied: &Applied) -> Result<Reverted, EditError> {
        let (Applied::Changed(undo), (path, value)) = (applied, edit.parts()) else {
            return Ok(Reverted::NotThere);
        };
        let Some(left) = self.without(path, value, undo, None)? else { return Ok(Reverted::NotThere) };
        *self = left;
        Ok(Reverted::Removed)
    }

    /// The entries of the list at `path`; empty if it does not exist.
    fn entries(&self, path: &[String]) -> Result<Vec<Value>, EditError> {
        entries(&self.value, path).map_err(|(depth, expected, found)| {
            let found = match found {
                Value::Null => "nothing",
                Value::Sequence(_) => "a list",
                Value::Mapping(_) => "a map",
                Value::Tagged(_) => "a value with a tag",
                Value::Bool(_) | Value::Number(_) | Value::String(_) => "a value",
            };
            let line = Lines::new(&self.text).start_of(&path[..depth]).map(|offset| line_of(&self.text, offset));
            EditError::WrongKind { path: dotted(&path[..depth]), line, expected, found }
        })
    }

    /// The document without an entry; `None` if the entry does not exist. The value of `known` is reused if its text is
    /// the result.
    fn without(
        &self,
        path: &[String],
        value: &Json,
        undo: &Undo,
        known: Option<&Self>,
    ) -> Result<Option<Self>, EditError> {
        let entry = serde_yaml::to_value(value).map_err(|_| unsafe_at(path))?;
        let Ok(found) = entries(&self.value, path) else { return Ok(None) };
        let Some(index) = found.iter().rposition(|found| *found == entry) else { return Ok(None) };
        let text = Lines::new(&self.text).without_entry(path, index, undo)?;
        let after = match known {
            Some(known) if known.text == text => known.value.clone(),
            _ => read(&text).map_err(|_| unsafe_at(path))?,
        };
        let mut left = self.value.clone();
        remove(&mut left, path, index);
        let same_list = entries_or_none(&left, path) == entries_or_none(&after, path);
        if !same_list || strip(left, path) != strip(after.clone(), path) {
            return Err(unsafe_at(path));
        }
        Ok(Some(Self { byte_order_mark: self.byte_order_mark, text, value: after }))
    }
}

printed_with_mark!(YamlDocument);

fn read(text: &str) -> Result<Value, serde_yaml::Error> {
    if text.trim().is_empty() { Ok(Value::Null) } else { Ok(serde_yaml::from_str::<AnyValue>(text)?.0) }
}

/// Each leaf with the offset of its key, or of the nearest key above it that has a line.
fn push_leaves(
    value: &Value,
    path: &mut Vec<String>,
    above: Option<usize>,
    start_of: &dyn Fn(&[String]) -> Option<usize>,
    found: &mut Vec<(Option<usize>, SettingsLeaf)>,
) {
    let offset = (!path.is_empty()).then(|| start_of(path)).flatten().or(above);
    let mut push = |value: &Value, is_element| {
        let value = serde_json::to_value(value).unwrap_or_default();
        found.push((offset, SettingsLeaf { path: path.clone(), is_element, value, line: None }));
    };
    match value {
        Value::Mapping(map) if !map.is_empty() => {
            for (key, value) in map {
                path.push(match key {
                    Value::String(text) => text.clone(),
                    other => serde_json::to_value(other).unwrap_or_default().to_string(),
                });
                push_leaves(value, path, offset, start_of, found);
                path.pop();
            }
        }
        Value::Sequence(list) if !list.is_empty() => list.iter().for_each(|value| push(value, true)),
        Value::Null if path.is_empty() => {}
        other => push(other, false),
    }
}

/// The byte at which a key is repeated for the first time.
fn repetition(text: &str, key: &str) -> Option<usize> {
    /// How many lines are tried: each means that the text before it is parsed.
    const MOST: usize = 64;
    let lines = Lines::new(text);
    let is_it = |end: usize| {
        let found = read(&text[..end]).err().map(|error| error.to_string());
        found.is_some_and(|message| value::repeated(&message) == Some(key))
    };
    lines.keys(key).skip(1).take(MOST).find(|(_, end)| is_it(*end)).map(|(start, _)| start)
}

/// The entries of the list at `path`; empty if it does not exist. Fails with how many keys lead to a value of another
/// kind, and what is needed there.
fn entries<'value>(root: &'value Value, path: &[String]) -> Result<Vec<Value>, (usize, &'static str, &'value Value)> {
    let mut value = root;
    for (depth, key) in path.iter().enumerate() {
        value = match value {
            Value::Null => return Ok(Vec::new()),
            Value::Mapping(map) => match map.get(key.as_str()) {
                Some(below) => below,
                None => return Ok(Vec::new()),
            },
            other => return Err((depth, "a map", other)),
        };
    }
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Sequence(list) => Ok(list.clone()),
        other => Err((path.len(), "a list", other)),
    }
}

/// The same, with empty, null and missing values treated as equal.
fn entries_or_none(root: &Value, path: &[String]) -> Vec<Value> {
    entries(root, path).unwrap_or_default()
}

/// Appends `entry` to the list at `path`.
fn put(root: &mut Value, path: &[String], entry: Value) -> Option<()> {
    let mut value = root;
    for key in path {
        if value.is_null() {
            *value = Value::Mapping(Mapping::new());
        }
        value = value.as_mapping_mut()?.entry(Value::String(key.clone())).or_insert(Value::Null);
    }
    if value.is_null() {
        *value = Value::Sequence(Vec::new());
    }
    value.as_sequence_mut()?.push(entry);
    Some(())
}

fn remove(root: &mut Value, path: &[String], index: usize) {
    let mut value = root;
    for key in path {
        let Some(below) = value.get_mut(key.as_str()) else { return };
        value = below;
    }
    if let Some(list) = value.as_sequence_mut() {
        list.remove(index);
    }
}

/// The document without the value at `path`, and without maps on the way that are then empty.
fn strip(root: Value, path: &[String]) -> Value {
    let (Some((key, below)), Value::Mapping(mut map)) = (path.split_first(), root) else { return Value::Null };
    if let Some(value) = map.get_mut(key.as_str()) {
        *value = strip(std::mem::take(value), below);
        if value.is_null() {
            map.remove(key.as_str());
        }
    }
    if map.is_empty() { Value::Null } else { Value::Mapping(map) }
}
