//! Computes which keys of a settings file a plan adds, changes and removes. Pure.

use std::collections::HashMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::disk::AbsolutePath;
use crate::text::edit::{FileFormat, JsonDialect};
use crate::text::json::JsonDocument;
use crate::text::toml::TomlDocument;
use crate::text::yaml::YamlDocument;

/// A settings file that we share with others, before and after a plan; `None` means no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedSettings {
    pub(crate) path: AbsolutePath,
    pub(crate) format: FileFormat,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// One key of a settings file that is added, changed or removed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct KeyEdit {
    /// The settings file.
    file: String,
    /// The path of the key, with dots between its parts; `[]` at the end means an element of that list. A part that is
    /// not a plain word is quoted as in JSON.
    key: String,
    what: KeyChange,
    /// The new value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum KeyChange {
    Add,
    Change,
    Remove,
}

impl ChangedSettings {
    /// Every key that differs; empty for a format without keys. `shown` is the file as a person would name it.
    pub(crate) fn keys(&self, shown: &str) -> Vec<KeyEdit> {
        let values = (self.value_of(self.before.as_deref()), self.value_of(self.after.as_deref()));
        let (before, after) = (object_of(values.0), object_of(values.1));
        let mut found = Differences { file: shown, at: Vec::new(), edits: Vec::new() };
        found.objects(&before, &after);
        found.edits
    }

    fn value_of(&self, text: Option<&str>) -> Option<Value> {
        let text = text?;
        match self.format {
            // The file's own reader may accept less; the code that edits the file has already checked that.
            FileFormat::Json(_) => JsonDocument::read(text, JsonDialect::CommentsAndTrailingCommas).ok()?,
            FileFormat::Toml => TomlDocument::parse(text).ok()?.into_json(),
            FileFormat::Yaml => YamlDocument::parse(text).ok()?.to_json(),
            FileFormat::Markdown | FileFormat::Lines => None,
        }
    }
}

fn object_of(value: Option<Value>) -> Map<String, Value> {
    if let Some(Value::Object(object)) = value { object } else { Map::new() }
}

impl KeyEdit {
    /// The object that contains the key, or the list that contains the element.
    pub(crate) fn above(&self) -> &str {
        let (mut quoted, mut escaped, mut end) = (false, false, 0);
        for (at, letter) in self.key.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '.' if !quoted => end = at,
                _ => {}
            }
        }
        &self.key[..end]
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The kind of change and the key.
    pub(crate) fn head(&self) -> String {
        let mark = match self.what {
            KeyChange::Add => '+',
            KeyChange::Change => '~',
            KeyChange::Remove => '-',
        };
        format!("{mark} {}", self.key)
    }

    /// The new value.
    pub(crate) fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }
}

impl fmt::Display for KeyEdit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.head())?;
        self.value.as_ref().map_or(Ok(()), |value| write!(formatter, ": {value}"))
    }
}

struct Differences<'a> {
    file: &'a str,
    at: Vec<String>,
    edits: Vec<KeyEdit>,
}

impl Differences<'_> {
    fn objects(&mut self, before: &Map<String, Value>, after: &Map<String, Value>) {
        for (key, value) in after {
            self.below(key, |it| it.values(before.get(key), Some(value)));
        }
        for (key, value) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
            self.below(key, |it| it.values(Some(value), None));
        }
    }

    fn values(&mut self, before: Option<&Value>, after: Option<&Value>) {
        if before == after {
            return;
        }
        let none = (Map::new(), Vec::new());
        match (before, after) {
            (Some(Value::Object(before)), Some(Value::Object(after))) => self.objects(before, after),
            (None, Some(Value::Object(after))) if !after.is_empty() => self.objects(&none.0, after),
            (Some(Value::Object(before)), None) if !before.is_empty() => self.objects(before, &none.0),
            (Some(Value::Array(before)), Some(Value::Array(after))) => self.lists(before, after),
            (None, Some(Value::Array(after))) if !after.is_empty() => self.lists(&none.1, after),
            (Some(Value::Array(before)), None) if !before.is_empty() => self.lists(before, &none.1),
            (None, _) => self.note("", KeyChange::Add, after),
            (_, None) => self.note("", KeyChange::Remove, None),
            _ => self.note("", KeyChange::Change, after),
        }
    }

    fn lists(&mut self, before: &[Value], after: &[Value]) {
        // A list may contain thousands of entries, so each is looked up by its text.
        let mut left: HashMap<String, usize> = HashMap::new();
        for value in before {
            *left.entry(value.to_string()).or_default() += 1;
        }
        let count = self.edits.len();
        for value in after {
            match left.get_mut(&value.to_string()) {
                Some(number) if *number > 0 => *number -= 1,
                _ => self.note("[]", KeyChange::Add, Some(value)),
            }
        }
        for value in before {
            if let Some(number) = left.get_mut(&value.to_string()).filter(|number| **number > 0) {
                *number -= 1;
                self.note("[]", KeyChange::Remove, Some(value));
            }
        }
        if self.edits.len() == count {
            let value = Value::Array(after.to_vec());
            self.note("", KeyChange::Change, Some(&value));
        }
    }

    fn below(&mut self, key: &str, look: impl FnOnce(&mut Self)) {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_plain = !key.is_empty() && key.chars().all(is_word);
        self.at.push(if is_plain { key.to_owned() } else { Value::from(key).to_string() });
        look(self);
        self.at.pop();
    }

    fn note(&mut self, ending: &str, what: KeyChange, value: Option<&Value>) {
        let key = format!("{}{ending}", self.at.join("."));
        self.edits.push(KeyEdit { file: self.file.to_owned(), key, what, value: value.cloned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(format: FileFormat, before: Option<&str>, after: Option<&str>) -> Vec<String> {
        let path = AbsolutePath::parse(std::env::temp_dir()).unwrap();
        let (before, after) = (before.map(str::to_owned), after.map(str::to_owned));
        let changed = ChangedSettings { path, format, before, after };
        changed.keys("f").iter().map(ToString::to_string).collect()
    }

    const JSON: FileFormat = FileFormat::Json(JsonDialect::Comments);

    #[test]
    fn each_json_key_is_one_row() {
        let before = "{\"a\": 1, // mine\n \"b\": {\"c\": [1, 2, 2]}, \"gone\": {\"x\": []}, \"same\": [1]}";
        let after = r#"{"a": 2, "b": {"c": [2, 3, 1], "d e": {"f": "g"}}, "same": [1], "new": {}}"#;
        let expected = ["~ a: 2", "+ b.c[]: 3", "- b.c[]: 2", "+ b.\"d e\".f: \"g\"", "+ new: {}", "- gone.x"];
        assert_eq!(keys(JSON, Some(before), Some(after)), expected);
        assert_eq!(keys(JSON, Some(after), Some(after)), [""; 0]);
        assert_eq!(keys(JSON, Some("{\"a\": [1, 2]}"), Some("{\"a\": [2, 1]}")), ["~ a: [2,1]"]);
    }

    #[test]
    fn a_created_or_removed_file_has_all_its_keys_as_rows() {
        let text = r#"{"hooks": {"Stop": [{"command": "x"}]}}"#;
        let element = r#"hooks.Stop[]: {"command":"x"}"#;
        assert_eq!(keys(JSON, None, Some(text)), [format!("+ {element}")]);
        assert_eq!(keys(JSON, Some(text), None), [format!("- {element}")]);
    }

    #[test]
    fn toml_and_yaml_have_keys_and_markdown_has_none() {
        let toml = keys(FileFormat::Toml, Some("a = 1\n"), Some("a = 1\n[b]\nc = true\n"));
        assert_eq!(toml, ["+ b.c: true"]);
        assert_eq!(keys(FileFormat::Yaml, Some("a:\n  - x\n"), Some("a:\n  - x\n  - y\n")), ["+ a[]: \"y\""]);
        assert_eq!(keys(FileFormat::Markdown, None, Some("# a: 1\n")), [""; 0]);
    }
}
