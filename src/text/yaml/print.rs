//! Prints keys and values as a person writes them in block style.

use serde_json::Value as Json;

use super::super::edit::{EditError, dotted};

/// An entry of a list: a scalar, or a map of scalars with a line for each key. Without indentation.
pub(super) fn entry(value: &Json, path: &[String]) -> Result<Vec<String>, EditError> {
    let not_writable = || EditError::NotWritable { path: dotted(path) };
    let Json::Object(map) = value else {
        return Ok(vec![format!("- {}", scalar(value).ok_or_else(not_writable)?)]);
    };
    let mut lines = Vec::new();
    for (name, value) in map {
        let start = if lines.is_empty() { "- " } else { "  " };
        lines.push(format!("{start}{}: {}", key(name), scalar(value).ok_or_else(not_writable)?));
    }
    if lines.is_empty() { Err(not_writable()) } else { Ok(lines) }
}

pub(super) fn key(name: &str) -> String {
    text(name)
}

fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::Bool(flag) => Some(flag.to_string()),
        Json::Number(number) => Some(number.to_string()),
        Json::String(string) => Some(text(string)),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// Plain if every YAML reader reads it as this text, otherwise in the form of JSON.
fn text(text: &str) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || "_/.- ".contains(c);
    let words = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    let plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '/')
        && !text.ends_with(' ')
        && text.chars().all(simple)
        && !words.contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_owned() } else { Json::from(text).to_string() }
}
