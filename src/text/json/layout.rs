//! Which bytes an entry of an object or array takes, with its comma, its line and the comments beside it.
//!
//! Putting an entry in and taking it out are each other's inverse: an entry is put after the last one, its comma right
//! behind that one, its line after the comments that follow it on the same line. Comments are never removed.

use std::ops::Range;

use jsonc_parser::ast;
use serde_json::Value;

use super::super::edit::line_ending;
use super::super::splice::Splices;
use super::print::Printer;
use super::span;

/// An object or an array in the text.
#[derive(Clone, Debug)]
pub(super) struct Container {
    /// Between the brackets.
    interior: Range<usize>,
    /// Members with their keys, or elements.
    entries: Vec<Range<usize>>,
    /// Whether entries of this container, were it empty, stand on lines of their own.
    in_lines: bool,
}

impl Container {
    pub(super) fn object(object: &ast::Object<'_>, in_lines: bool) -> Self {
        let entries = object.properties.iter().map(span).collect();
        Container { interior: object.range.start + 1..object.range.end - 1, entries, in_lines }
    }

    pub(super) fn array(array: &ast::Array<'_>, in_lines: bool) -> Self {
        let entries = array.elements.iter().map(span).collect();
        Container { interior: array.range.start + 1..array.range.end - 1, entries, in_lines }
    }

    pub(super) fn of(node: &ast::Value<'_>) -> Option<Self> {
        match node {
            ast::Value::Object(object) => Some(Container::object(object, false)),
            ast::Value::Array(array) => Some(Container::array(array, false)),
            _ => None,
        }
    }

    /// Whether there is nothing but whitespace between the brackets.
    pub(super) fn is_blank(&self, text: &str) -> bool {
        text[self.interior.clone()].trim().is_empty()
    }

    /// The whitespace between the brackets if there is nothing else.
    pub(super) fn blank(&self, text: &str) -> Option<String> {
        (self.is_blank(text) && !self.interior.is_empty()).then(|| text[self.interior.clone()].to_owned())
    }

    pub(super) fn with_interior(&self, text: &str, interior: &str) -> String {
        let mut splices = Splices::default();
        splices.replace(self.interior.clone(), interior);
        splices.apply(text)
    }

    /// The text with one more entry at the end of this container.
    pub(super) fn insert(&self, text: &str, key: Option<&str>, value: &Value) -> String {
        match self.entries.last() {
            Some(last) => self.insert_after(text, last, key, value),
            None => self.insert_first(text, key, value),
        }
    }

    fn insert_after(&self, text: &str, last: &Range<usize>, key: Option<&str>, value: &Value) -> String {
        let gap = Gap::new(text, last.end..self.interior.end);
        let trailing_comma = gap.comma();
        let (place, after_line_comment) = gap.end_of_line_comments(trailing_comma.map_or(last.end, |comma| comma + 1));
        let in_lines = begins_line(text, last.start) || after_line_comment;
        let printer = Printer::of(text, in_lines || text[last.clone()].contains('\n'));
        let indentation = indentation(text, last.start);
        let mut entry = if in_lines {
            format!("{}{indentation}", printer.line_ending)
        } else {
            self.separation(text, &printer).to_owned()
        };
        entry.push_str(&print_entry(&printer, key, value, indentation));
        let mut splices = Splices::default();
        if trailing_comma.is_some() {
            entry.push(',');
        } else {
            splices.insert(last.end, ",");
        }
        splices.insert(place, entry);
        splices.apply(text)
    }

    fn insert_first(&self, text: &str, key: Option<&str>, value: &Value) -> String {
        let open = self.interior.start - 1;
        let printer = Printer::of(text, self.in_lines);
        let outer = indentation(text, open);
        let indentation = format!("{outer}{}", printer.unit);
        let entry = print_entry(&printer, key, value, &indentation);
        let comments = Gap::new(text, self.interior.clone());
        let mut splices = Splices::default();
        if let Some(last) = comments.pieces.last() {
            let newline_follows = text[last.range.end..self.interior.end].contains(['\n', '\r']);
            let separation =
                if newline_follows { format!("{}{indentation}", printer.line_ending) } else { " ".to_owned() };
            splices.insert(last.range.end, format!("{separation}{entry}"));
        } else if self.in_lines {
            let ending = printer.line_ending;
            splices.replace(self.interior.clone(), format!("{ending}{indentation}{entry}{ending}{outer}"));
        } else {
            splices.replace(self.interior.clone(), entry);
        }
        splices.apply(text)
    }

    /// The text without entry `index`: its line, and the comma it needed.
    pub(super) fn remove(&self, text: &str, index: usize) -> String {
        let entry = &self.entries[index];
        let next = self.entries.get(index + 1).map_or(self.interior.end, |next| next.start);
        let following = Gap::new(text, entry.end..next);
        let previous = match index.checked_sub(1) {
            Some(before) => self.entries[before].end,
            None => self.interior.start,
        };
        let preceding = Gap::new(text, previous..entry.start);
        let mut splices = Splices::default();
        let mut end = entry.end;
        match following.comma() {
            Some(comma) if text[entry.end..comma].trim().is_empty() => end = comma + 1,
            Some(comma) => splices.remove(comma..comma + 1),
            None => {
                if let Some(comma) = preceding.comma() {
                    splices.remove(comma..comma + 1);
                }
            }
        }
        let blank_start = preceding.pieces.last().map_or(previous, |piece| piece.range.end);
        let rest = text[end..].trim_start_matches([' ', '\t']);
        let ends_line = rest.is_empty() || rest.starts_with(['\n', '\r']);
        let start = if preceding.ends_in_line_comment() && !ends_line { entry.start } else { blank_start };
        splices.remove(start..end);
        splices.apply(text)
    }

    /// What stands between two entries on one line here.
    fn separation<'text>(&self, text: &'text str, printer: &Printer<'_>) -> &'text str {
        if let [.., before, last] = self.entries.as_slice() {
            let gap = &text[before.end..last.start];
            if let Some(blank) = gap.strip_prefix(',')
                && blank.trim().is_empty()
            {
                return blank;
            }
        }
        printer.separator()
    }
}

/// The text of a value that takes the place of the one at `range`.
pub(super) fn replacement(text: &str, range: &Range<usize>, value: &Value) -> String {
    let in_lines = text[range.clone()].contains('\n') || begins_line(text, range.start);
    Printer::of(text, in_lines).print(value, indentation(text, range.start))
}

/// A text without a value, with `root` after what there is.
pub(super) fn with_root(text: &str, root: &str) -> String {
    let ending = line_ending(text);
    if text.trim().is_empty() {
        return format!("{root}{ending}");
    }
    if text.ends_with('\n') { format!("{text}{root}{ending}") } else { format!("{text}{ending}{root}") }
}

/// The inverse of [`with_root`]; `blank` is the text if it was all whitespace.
pub(super) fn without_root(text: &str, root: &Range<usize>, blank: Option<&str>) -> String {
    let (before, after) = (&text[..root.start], &text[root.end..]);
    if before.trim().is_empty() && after.trim().is_empty() {
        return blank.unwrap_or_default().to_owned();
    }
    if let Some(rest) = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')) {
        return format!("{before}{rest}");
    }
    let before = before.strip_suffix('\n').map_or(before, |line| line.strip_suffix('\r').unwrap_or(line));
    format!("{before}{after}")
}

/// Whether the entry that holds the value at `offset` is the first thing on its line.
pub(super) fn begins_line(text: &str, offset: usize) -> bool {
    let line = &text[text[..offset].rfind('\n').map_or(0, |newline| newline + 1)..offset];
    line.len() < offset && is_entry_start(line)
}

/// Whether `line` holds at most whitespace and one key with its colon.
fn is_entry_start(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || (line.starts_with('"') && line.ends_with(':') && is_one_key(line))
}

fn is_one_key(line: &str) -> bool {
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
    quotes == 2
}

/// The whitespace that the line of `offset` begins with.
fn indentation(text: &str, offset: usize) -> &str {
    let line = &text[text[..offset].rfind('\n').map_or(0, |newline| newline + 1)..offset];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn print_entry(printer: &Printer<'_>, key: Option<&str>, value: &Value, indentation: &str) -> String {
    let mut entry = key.map(|key| printer.print_key(key)).unwrap_or_default();
    entry.push_str(&printer.print(value, indentation));
    entry
}

/// What stands between two entries: whitespace, comments, at most one comma.
struct Gap<'text> {
    text: &'text str,
    pieces: Vec<Piece>,
}

struct Piece {
    range: Range<usize>,
    kind: PieceKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    Comma,
    LineComment,
    BlockComment,
}

impl<'text> Gap<'text> {
    /// `range` is known to hold nothing else, because the whole text was parsed.
    fn new(text: &'text str, range: Range<usize>) -> Self {
        let mut pieces = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let rest = &text[at..range.end];
            let (length, kind) = if rest.starts_with("//") {
                (rest.find(['\n', '\r']).unwrap_or(rest.len()), Some(PieceKind::LineComment))
            } else if let Some(comment) = rest.strip_prefix("/*") {
                (comment.find("*/").map_or(rest.len(), |end| end + 4), Some(PieceKind::BlockComment))
            } else if rest.starts_with(',') {
                (1, Some(PieceKind::Comma))
            } else {
                (rest.chars().next().map_or(1, char::len_utf8), None)
            };
            if let Some(kind) = kind {
                pieces.push(Piece { range: at..at + length, kind });
            }
            at += length;
        }
        Gap { text, pieces }
    }

    fn comma(&self) -> Option<usize> {
        self.pieces.iter().find(|piece| piece.kind == PieceKind::Comma).map(|piece| piece.range.start)
    }

    fn ends_in_line_comment(&self) -> bool {
        self.pieces.last().is_some_and(|piece| piece.kind == PieceKind::LineComment)
    }

    /// The end of the comments that begin on the line of `from`, and whether the last of them runs to the line's end.
    fn end_of_line_comments(&self, from: usize) -> (usize, bool) {
        let mut end = from;
        let mut runs_to_line_end = false;
        for piece in self.pieces.iter().filter(|piece| piece.range.start >= from && piece.kind != PieceKind::Comma) {
            if self.text[end..piece.range.start].contains('\n') {
                break;
            }
            end = piece.range.end;
            runs_to_line_end = piece.kind == PieceKind::LineComment;
        }
        (end, runs_to_line_end)
    }
}
