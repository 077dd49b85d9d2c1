//! Lines of TOML: where a key goes in its table, where a new table goes, and what is removed together with a line.
//!
//! A line is removed with its line break, but a comment on it stays. Inserting and removing are inverse operations.

use std::ops::Range;

use toml_edit::{Item, Table, TableLike};

use super::super::edit::{indentation, line_start};
use super::super::markdown::newline_of;
use super::super::splice::Splices;

/// The header of a table that has one, such as `[a.b]`.
pub(super) fn header(table: &Table) -> Option<Range<usize>> {
    if table.is_implicit() || table.is_dotted() {
        return None;
    }
    table.span().filter(|span| !span.is_empty())
}

/// The range from key to end of value, for each value below the table's own header or in its own braces, including
/// those of dotted keys.
pub(super) fn own_values(table: &dyn TableLike) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (key, item) in table.iter() {
        match item {
            Item::Value(toml_edit::Value::InlineTable(inline)) if inline.is_dotted() => {
                found.extend(own_values(inline));
            }
            Item::Value(value) => {
                if let (Some(key), Some(value)) = (table.key(key).and_then(toml_edit::Key::span), value.span()) {
                    found.push(key.start..value.end);
                }
            }
            Item::Table(inner) if inner.is_dotted() => found.extend(own_values(inner)),
            _ => {}
        }
    }
    found
}

/// Returns the text with `line` at the end of this table, and the blank text inserted after it, if any.
pub(super) fn in_table(text: &str, table: &Table, line: &str, is_root: bool) -> (String, Option<String>) {
    if let Some(last) = own_values(table).into_iter().max_by_key(|value| value.end) {
        let line = format!("{}{line}", indentation(text, last.start));
        return (after_line(text, last.end, &line), None);
    }
    match header(table) {
        Some(header) if !is_root => {
            let line = format!("{}{line}", indentation(text, header.start));
            (after_line(text, header.end, &line), None)
        }
        _ => at_top(text, line),
    }
}

/// The text with `line` after the last line of a table made by dotted keys; `line` lacks the keys up to that table.
pub(super) fn after_dotted(text: &str, table: &Table, line: &str) -> Option<String> {
    let last = own_values(table).into_iter().max_by_key(|value| value.end)?;
    let (key, _) = table.iter().find(|(_, item)| item.is_value() || item.as_table().is_some_and(Table::is_dotted))?;
    let start = table.key(key)?.span()?.start;
    let line = format!("{}{line}", &text[line_start(text, start)..start]);
    Some(after_line(text, last.end, &line))
}

/// Returns the text with this block of lines at the end, after a blank line, and the line breaks inserted to separate
/// it.
pub(super) fn at_end(text: &str, block: &[String]) -> (String, String) {
    let ending = newline_of(text);
    let closed = text.is_empty() || text.ends_with('\n');
    let parted = text.trim().is_empty() || text.ends_with("\n\n") || text.ends_with("\n\r\n");
    let breaks = match (closed, parted) {
        (true, true) => String::new(),
        (false, false) => format!("{ending}{ending}"),
        _ => ending.to_owned(),
    };
    let mut edited = format!("{text}{breaks}");
    for line in block {
        edited.push_str(line);
        edited.push_str(ending);
    }
    (edited, breaks)
}

/// True if nothing is below the table's own header: only such a header may be removed.
pub(super) fn is_bare_header(table: &Table) -> bool {
    header(table).is_some() && own_values(table).is_empty()
}

/// The text without the table's header and own lines, and without the line breaks that had separated it.
pub(super) fn without_table(text: &str, table: &Table, breaks: &str) -> Option<String> {
    let mut values = own_values(table);
    values.sort_by_key(|value| value.start);
    let mut cuts = vec![line_cut(text, &header(table)?)];
    cuts.extend(values.iter().map(|value| line_cut(text, value)));
    let start = cuts[0].start;
    if let Some(before) = text[..start].strip_suffix(breaks) {
        // A last line that had no line break keeps the new one if something now follows.
        let was_closed = before.is_empty() || before.ends_with('\n');
        let nothing_follows = cuts.last().is_some_and(|cut| cut.end == text.len());
        let kept = if was_closed || nothing_follows { 0 } else { newline_of(breaks).len() };
        cuts.insert(0, before.len() + kept.min(breaks.len())..start);
    }
    let mut splices = Splices::default();
    let mut position = 0;
    for cut in cuts {
        splices.remove(cut.start.max(position)..cut.end.max(position));
        position = position.max(cut.end);
    }
    Some(splices.apply(text))
}

/// The text without the line of this key and value.
pub(super) fn without_line(text: &str, entry: &Range<usize>) -> String {
    let mut splices = Splices::default();
    splices.remove(line_cut(text, entry));
    splices.apply(text)
}

/// Removes the blank line inserted between a first root key and what follows, if no other root key was added.
pub(super) fn close_up_top(text: &mut String, blank: &str) {
    let mut offset = 0;
    let mut last_blank = None;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if line == blank {
            last_blank = Some(offset..offset + line.len());
        } else if content.starts_with('[') {
            if let Some(last_blank) = last_blank {
                text.replace_range(last_blank, "");
            }
            return;
        } else if !content.is_empty() && !content.starts_with('#') {
            return;
        }
        offset += line.len();
    }
}

/// The text with `line` after the line of `offset`. A last line without a line break still has none.
fn after_line(text: &str, offset: usize, line: &str) -> String {
    let ending = newline_of(text);
    let mut splices = Splices::default();
    match text[offset..].find('\n') {
        Some(newline) => splices.insert(offset + newline + 1, format!("{line}{ending}")),
        None => splices.insert(text.len(), format!("{ending}{line}")),
    }
    splices.apply(text)
}

/// Inserts the first root key before all tables, after the comment at the start of the file.
fn at_top(text: &str, line: &str) -> (String, Option<String>) {
    let ending = newline_of(text);
    let mut offset = 0;
    let mut after_comment = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        offset += line.len();
        if content.is_empty() {
            after_comment = offset;
        } else if !content.starts_with('#') {
            break;
        }
    }
    if offset == text.len() && text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        let closed = text.is_empty() || text.ends_with('\n');
        let text = if closed { format!("{text}{line}{ending}") } else { format!("{text}{ending}{line}") };
        return (text, None);
    }
    let mut splices = Splices::default();
    splices.insert(after_comment, format!("{line}{ending}{ending}"));
    (splices.apply(text), Some(ending.to_owned()))
}

/// The bytes removed with the line of `range`. A comment after it stays, together with the line's indentation.
fn line_cut(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = line_start(text, range.start);
    let rest = &text[range.end..];
    let after = rest.trim_start_matches([' ', '\t']);
    let end = text.len() - after.len();
    if after.starts_with("\r\n") {
        start..end + 2
    } else if after.starts_with('\n') {
        start..end + 1
    } else if after.is_empty() {
        let before = &text[..start];
        let before = before.strip_suffix('\n').map_or(before, |line| line.strip_suffix('\r').unwrap_or(line));
        before.len()..end
    } else {
        start + indentation(text, range.start).len()..end
    }
}
