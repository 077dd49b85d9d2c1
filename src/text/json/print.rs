//! Prints new values in the style of the values around them.

use serde_json::Value;

use super::super::brackets::{EntryPosition, Style};
use super::super::markdown::newline_of;

/// The style of new values: on separate indented lines, or all on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Printer<'text> {
    line_ending: &'static str,
    /// One step of indentation.
    unit: &'text str,
    /// Between key and value.
    colon: &'static str,
    in_lines: bool,
}

impl<'text> Printer<'text> {
    /// The style for a file that has none yet.
    pub(super) fn plain(line_ending: &'static str) -> Self {
        Printer { line_ending, unit: "  ", colon: ": ", in_lines: true }
    }

    /// The style of a file.
    pub(super) fn of(text: &'text str, in_lines: bool) -> Self {
        let plain = Printer::plain(newline_of(text));
        Printer { unit: unit(text).unwrap_or(plain.unit), colon: colon(text), in_lines, ..plain }
    }

    /// Between two entries on one line.
    fn separator(&self) -> &'static str {
        if self.colon == ":" { "" } else { " " }
    }

    /// The same style for entries between brackets; the first one gets a separate line if `in_lines` is set here.
    pub(super) fn style(&self) -> Style<'text> {
        Style {
            line_ending: self.line_ending,
            unit: self.unit,
            separator: self.separator(),
            padding: "",
            first_in_lines: self.in_lines,
        }
    }

    pub(super) fn print(&self, value: &Value, indentation: &str) -> String {
        let mut printed = String::new();
        self.push(&mut printed, value, indentation);
        printed
    }

    /// Prints an entry of an object, or of an array if it has no key.
    pub(super) fn print_entry(&self, key: Option<&str>, value: &Value, place: EntryPosition<'_>) -> String {
        let in_place = Printer { in_lines: place.in_lines, ..*self };
        let mut printed = String::new();
        if let Some(key) = key {
            in_place.push_key(&mut printed, key);
        }
        in_place.push(&mut printed, value, place.indentation);
        printed
    }

    fn push_key(&self, printed: &mut String, key: &str) {
        printed.push_str(&quoted(key));
        printed.push_str(self.colon);
    }

    fn push(&self, printed: &mut String, value: &Value, indentation: &str) {
        match value {
            Value::Object(object) if !object.is_empty() => {
                let entries = object.iter().map(|(key, value)| (Some(key.as_str()), value));
                self.push_entries(printed, ['{', '}'], entries, indentation);
            }
            Value::Array(array) if !array.is_empty() => {
                let entries = array.iter().map(|value| (None, value));
                self.push_entries(printed, ['[', ']'], entries, indentation);
            }
            Value::String(text) => printed.push_str(&quoted(text)),
            scalar_or_empty => printed.push_str(&scalar_or_empty.to_string()),
        }
    }

    fn push_entries<'value>(
        &self,
        printed: &mut String,
        [open, close]: [char; 2],
        entries: impl Iterator<Item = (Option<&'value str>, &'value Value)>,
        indentation: &str,
    ) {
        let inner = format!("{indentation}{}", self.unit);
        printed.push(open);
        for (index, (key, value)) in entries.enumerate() {
            if index > 0 {
                printed.push(',');
            }
            if self.in_lines {
                printed.push_str(self.line_ending);
                printed.push_str(&inner);
            } else if index > 0 {
                printed.push_str(self.separator());
            }
            if let Some(key) = key {
                self.push_key(printed, key);
            }
            self.push(printed, value, &inner);
        }
        if self.in_lines {
            printed.push_str(self.line_ending);
            printed.push_str(indentation);
        }
        printed.push(close);
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// One step of indentation: how much the first indented line is indented more than the line before it.
fn unit(text: &str) -> Option<&str> {
    let mut outer = "";
    for (index, line) in text.split('\n').enumerate() {
        let content = line.trim_start_matches([' ', '\t']);
        if content.trim_end().is_empty() || content.starts_with(['/', '*']) {
            continue;
        }
        let indentation = &line[..line.len() - content.len()];
        if index > 0
            && let Some(step) = indentation.strip_prefix(outer)
            && !step.is_empty()
        {
            return Some(step);
        }
        outer = indentation;
    }
    None
}

fn colon(text: &str) -> &'static str {
    let compact = !text.trim_end().contains('\n') && !text.contains("\": ");
    if compact && text.contains("\":") { ":" } else { ": " }
}
