//! Printing a value as an entry.

use std::fmt::Write as _;

use super::Value;
use super::read::split_key;

/// Longest inline list: up to three texts of less than this many characters together, separators included.
const INLINE_LENGTH: usize = 60;

/// The value of a printed entry, if it stands on one line.
pub(super) fn one_line<'text>(printed: &'text str, key: &str) -> Option<&'text str> {
    let value = printed.strip_prefix(&print_key(key))?.strip_prefix(": ")?.trim_end_matches(['\n', '\r']);
    (!value.contains('\n')).then_some(value)
}

/// `key: value` with its line ends.
pub(super) fn print_entry(key: &str, value: &Value, newline: &str) -> String {
    let mut text = String::new();
    print_into(&mut text, key, value, 0, newline);
    text
}

fn add(text: &mut String, printed: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(printed);
}

/// A key, quoted where it would not be read back as it is.
fn print_key(key: &str) -> String {
    let plain = split_key(&format!("{key}: x")) == Some((key, "x")) && !key.starts_with(['-', '#', '"', '\'', '?']);
    if plain { key.to_owned() } else { format!("\"{key}\"") }
}

fn print_into(text: &mut String, key: &str, value: &Value, indent: usize, newline: &str) {
    let margin = " ".repeat(indent);
    let key = print_key(key);
    match value {
        Value::Empty => add(text, format_args!("{margin}{key}:{newline}")),
        Value::Text(scalar) => add(text, format_args!("{margin}{key}: {}{newline}", print_scalar(scalar))),
        Value::List(items) => {
            if let Some(inline) = inline_list(items) {
                add(text, format_args!("{margin}{key}: {inline}{newline}"));
                return;
            }
            add(text, format_args!("{margin}{key}:{newline}"));
            for item in items {
                print_item(text, item, indent + 2, newline);
            }
        }
        Value::Map(entries) => {
            add(text, format_args!("{margin}{key}:{newline}"));
            for (name, inner) in entries {
                print_into(text, name, inner, indent + 2, newline);
            }
        }
    }
}

fn print_item(text: &mut String, item: &Value, indent: usize, newline: &str) {
    let margin = " ".repeat(indent);
    match item {
        Value::Map(entries) if entries.is_empty() => add(text, format_args!("{margin}- {{}}{newline}")),
        Value::Map(entries) => {
            let mut inner = String::new();
            for (name, value) in entries {
                print_into(&mut inner, name, value, indent + 2, newline);
            }
            add(text, format_args!("{margin}- {}", inner.trim_start_matches(' ')));
        }
        Value::List(items) => {
            if let Some(inline) = inline_list(items) {
                add(text, format_args!("{margin}- {inline}{newline}"));
                return;
            }
            let mut inner = String::new();
            for item in items {
                print_item(&mut inner, item, indent + 2, newline);
            }
            add(text, format_args!("{margin}- {}", inner.trim_start_matches(' ')));
        }
        Value::Text(scalar) => add(text, format_args!("{margin}- {}{newline}", print_scalar(scalar))),
        Value::Empty => add(text, format_args!("{margin}-{newline}")),
    }
}

fn inline_list(items: &[Value]) -> Option<String> {
    let texts: Vec<&str> = items.iter().map(Value::as_text).collect::<Option<_>>()?;
    let length: usize = texts.iter().map(|text| text.chars().count() + 2).sum();
    (texts.len() <= 3 && length < INLINE_LENGTH + 2).then(|| flow(&texts))
}

fn flow(texts: &[&str]) -> String {
    let printed: Vec<String> = texts
        .iter()
        .map(|text| if text.contains([',', '[', ']', '{', '}']) { print_quoted(text) } else { print_scalar(text) })
        .collect();
    format!("[{}]", printed.join(", "))
}

/// A scalar, quoted where a reader could take it for something else.
fn print_scalar(text: &str) -> String {
    const INDICATORS: &[char] =
        &['-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`'];
    let risky = text.is_empty()
        || text.contains([':', '#'])
        || text.starts_with(INDICATORS)
        || text.trim() != text
        || text.chars().any(|letter| letter.is_control() || u32::from(letter) > 0xffff)
        || (text.parse::<f64>().is_ok() && text.parse::<i64>().is_err());
    let risky = risky && !is_negative_integer(text);
    if risky { print_quoted(text) } else { text.to_owned() }
}

fn is_negative_integer(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn print_quoted(text: &str) -> String {
    let mut printed = String::with_capacity(text.len() + 2);
    printed.push('"');
    for letter in text.chars() {
        match letter {
            '"' => printed.push_str("\\\""),
            '\\' => printed.push_str("\\\\"),
            '\n' => printed.push_str("\\n"),
            '\r' => printed.push_str("\\r"),
            '\t' => printed.push_str("\\t"),
            control if control.is_control() => add(&mut printed, format_args!("\\u{:04x}", u32::from(control))),
            other => printed.push(other),
        }
    }
    printed.push('"');
    printed
}
