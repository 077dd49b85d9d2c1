//! Values between TOML and JSON.

use serde_json::{Map, Number, Value};
use toml_edit::Table;

use super::super::edit::{EditError, dotted};
use super::super::quoted::quoted;

/// `key = value`
pub(super) fn print_entry(key: &str, value: &Value, path: &[String]) -> Result<String, EditError> {
    Ok(format!("{} = {}", print_key(key), print_value(value, path)?))
}

/// Prints the value on one line. `path` is for the error.
pub(super) fn print_value(value: &Value, path: &[String]) -> Result<String, EditError> {
    let refused = || EditError::NotWritable { path: dotted(path) };
    Ok(match value {
        Value::Null => return Err(refused()),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_u64() && !number.is_i64() => return Err(refused()),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text, escaped),
        Value::Array(elements) => {
            let elements = elements.iter().map(|element| print_value(element, path)).collect::<Result<Vec<_>, _>>()?;
            format!("[{}]", elements.join(", "))
        }
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members =
                members.iter().map(|(key, value)| print_entry(key, value, path)).collect::<Result<Vec<_>, _>>()?;
            format!("{{ {} }}", members.join(", "))
        }
    })
}

pub(super) fn print_key(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare { key.to_owned() } else { quoted(key, escaped) }
}

pub(super) fn print_path(path: &[String]) -> String {
    path.iter().map(|key| print_key(key)).collect::<Vec<_>>().join(".")
}

fn escaped(letter: char) -> Option<String> {
    letter.is_control().then(|| format!("\\u{:04X}", u32::from(letter)))
}

pub(super) fn from_table(table: &Table) -> Value {
    let mut members = Map::new();
    for (key, item) in table {
        if let Some(value) = super::to_json(item) {
            members.insert(key.to_owned(), value);
        }
    }
    Value::Object(members)
}

pub(super) fn from_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::String(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => {
            Number::from_f64(*number.value()).map_or_else(|| Value::String(number.value().to_string()), Value::Number)
        }
        toml_edit::Value::Boolean(flag) => Value::Bool(*flag.value()),
        toml_edit::Value::Datetime(moment) => Value::String(moment.value().to_string()),
        toml_edit::Value::Array(array) => Value::Array(array.iter().map(from_value).collect()),
        toml_edit::Value::InlineTable(inline) => {
            Value::Object(inline.iter().map(|(key, value)| (key.to_owned(), from_value(value))).collect())
        }
    }
}
