//! Prints values in the shortest form that every YAML reader reads back unchanged.

use super::super::quoted::quoted;
use super::Value;

/// A value in two parts: after the colon, and in the lines below, with line ends.
pub(super) struct Printed {
    pub(super) inline: String,
    pub(super) lines: String,
}

/// The longest inline list: up to three texts with fewer than this many characters together.
const INLINE_LENGTH: usize = 60;

/// Prints `key: value` at this indentation, with its line ends.
pub(super) fn print_entry(key: &str, value: &Value, indent: usize, newline: &str) -> String {
    let Printed { inline, lines } = print_value(value, indent, newline);
    let space = if inline.is_empty() { "" } else { " " };
    format!("{}{}:{space}{inline}{newline}{lines}", " ".repeat(indent), print_scalar(key))
}

/// Prints the value of a key at this indentation.
pub(super) fn print_value(value: &Value, indent: usize, newline: &str) -> Printed {
    let inner = indent + 2;
    let (inline, lines) = match value {
        Value::Empty => (String::new(), String::new()),
        Value::Text(text) => (print_scalar(text), String::new()),
        Value::List(items) => match inline_list(items) {
            Some(inline) => (inline, String::new()),
            None => (String::new(), items.iter().map(|item| print_item(item, inner, newline)).collect()),
        },
        Value::Map(entries) if entries.is_empty() => ("{}".to_owned(), String::new()),
        Value::Map(entries) => {
            (String::new(), entries.iter().map(|(key, value)| print_entry(key, value, inner, newline)).collect())
        }
    };
    Printed { inline, lines }
}

fn print_item(item: &Value, indent: usize, newline: &str) -> String {
    let margin = " ".repeat(indent);
    match item {
        Value::Map(entries) if !entries.is_empty() => {
            let lines: String =
                entries.iter().map(|(key, value)| print_entry(key, value, indent + 2, newline)).collect();
            format!("{margin}- {}", lines.trim_start_matches(' '))
        }
        other => {
            let Printed { inline, lines } = print_value(other, indent, newline);
            let space = if inline.is_empty() { "" } else { " " };
            format!("{margin}-{space}{inline}{newline}{lines}")
        }
    }
}

fn inline_list(items: &[Value]) -> Option<String> {
    let texts: Vec<&str> = items.iter().map(Value::as_text).collect::<Option<_>>()?;
    let length = texts.iter().map(|text| text.chars().count()).sum::<usize>() + 2 * texts.len().saturating_sub(1);
    if texts.len() > 3 || length >= INLINE_LENGTH {
        return None;
    }
    let printed = texts
        .into_iter()
        .map(|text| if text.contains([',', '[', ']', '{', '}']) { print_quoted(text) } else { print_scalar(text) });
    Some(format!("[{}]", printed.collect::<Vec<_>>().join(", ")))
}

/// Prints a scalar, quoted if a reader could misread it.
fn print_scalar(text: &str) -> String {
    const INDICATORS: &[char] =
        &['-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`'];
    let risky = text.is_empty()
        || text.contains([':', '#'])
        || text.starts_with(INDICATORS)
        || text.trim() != text
        || text.chars().any(|letter| needs_escape(letter) || u32::from(letter) > 0xffff)
        || (text.parse::<f64>().is_ok() && text.parse::<i64>().is_err());
    if risky { print_quoted(text) } else { text.to_owned() }
}

fn needs_escape(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn print_quoted(text: &str) -> String {
    quoted(text, |letter| needs_escape(letter).then(|| format!("\\u{:04x}", u32::from(letter))))
}
