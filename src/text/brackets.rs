//! Entries between brackets, separated by commas: the bytes of an entry, with its comma, its line and its comments.
//!
//! Inserting an entry and removing it are inverse operations: an entry is inserted after the last one, with its comma
//! directly after that one and its line after the comments on the same line. Comments are never removed.

use std::ops::Range;

use super::edit::{indentation, starts_line};
use super::splice::Splices;

/// A bracketed list in a text that was parsed.
#[derive(Clone, Debug)]
pub(super) struct Brackets {
    /// The bytes between the brackets.
    pub(super) interior: Range<usize>,
    /// In text order.
    pub(super) entries: Vec<Range<usize>>,
    pub(super) comments: Comments,
}

/// How the format writes comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comments {
    /// `//` and `/* */`
    Slashes,
    /// `#`
    Hash,
}

/// The style of new entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style<'text> {
    pub(super) line_ending: &'static str,
    /// One step of indentation.
    pub(super) unit: &'text str,
    /// Between two entries on one line.
    pub(super) separator: &'static str,
    /// Between the brackets and a single entry on the same line.
    pub(super) padding: &'static str,
    /// Whether the first entry gets a separate line.
    pub(super) first_in_lines: bool,
}

/// The position of a new entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPosition<'text> {
    pub(super) in_lines: bool,
    /// The indentation of the line on which the entry begins.
    pub(super) indentation: &'text str,
}

impl Brackets {
    /// True if there is only whitespace between the brackets.
    pub(super) fn is_blank(&self, text: &str) -> bool {
        text[self.interior.clone()].trim().is_empty()
    }

    /// The whitespace between the brackets, if there is nothing else.
    pub(super) fn blank(&self, text: &str) -> Option<String> {
        (self.is_blank(text) && !self.interior.is_empty()).then(|| text[self.interior.clone()].to_owned())
    }

    pub(super) fn with_interior(&self, text: &str, interior: &str) -> String {
        let mut splices = Splices::default();
        splices.replace(self.interior.clone(), interior);
        splices.apply(text)
    }

    /// Inserts an entry at the end of the list, printed for its position; returns the new text.
    pub(super) fn insert(
        &self,
        text: &str,
        style: &Style<'_>,
        print: impl FnOnce(EntryPosition<'_>) -> String,
    ) -> String {
        match self.entries.last() {
            Some(last) => self.insert_after(text, last, style, print),
            None => self.insert_first(text, style, print),
        }
    }

    fn insert_after(
        &self,
        text: &str,
        last: &Range<usize>,
        style: &Style<'_>,
        print: impl FnOnce(EntryPosition<'_>) -> String,
    ) -> String {
        let gap = self.gap(text, last.end..self.interior.end);
        let trailing_comma = gap.comma();
        let (place, after_line_comment) = gap.end_of_line_comments(trailing_comma.map_or(last.end, |comma| comma + 1));
        let in_lines = starts_line(text, last.start) || after_line_comment;
        let indentation = indentation(text, last.start);
        let mut entry = if in_lines {
            format!("{}{indentation}", style.line_ending)
        } else {
            self.separator(text).unwrap_or(style.separator).to_owned()
        };
        entry.push_str(&print(EntryPosition { in_lines: in_lines || text[last.clone()].contains('\n'), indentation }));
        let mut splices = Splices::default();
        if trailing_comma.is_some() {
            entry.push(',');
        } else {
            splices.insert(last.end, ",");
        }
        splices.insert(place, entry);
        splices.apply(text)
    }

    fn insert_first(&self, text: &str, style: &Style<'_>, print: impl FnOnce(EntryPosition<'_>) -> String) -> String {
        let ending = style.line_ending;
        let outer = indentation(text, self.interior.start);
        let inner = format!("{outer}{}", style.unit);
        let mut splices = Splices::default();
        if let Some(last) = self.gap(text, self.interior.clone()).pieces.last() {
            let in_lines = text[last.range.end..self.interior.end].contains(['\n', '\r']);
            let separation = if in_lines { format!("{ending}{inner}") } else { " ".to_owned() };
            let entry = print(EntryPosition { in_lines, indentation: &inner });
            splices.insert(last.range.end, format!("{separation}{entry}"));
        } else if style.first_in_lines {
            let entry = print(EntryPosition { in_lines: true, indentation: &inner });
            splices.replace(self.interior.clone(), format!("{ending}{inner}{entry}{ending}{outer}"));
        } else {
            let entry = print(EntryPosition { in_lines: false, indentation: outer });
            splices.replace(self.interior.clone(), format!("{0}{entry}{0}", style.padding));
        }
        splices.apply(text)
    }

    /// Removes entry `index` with its line and the comma it needed; returns the new text.
    pub(super) fn remove(&self, text: &str, index: usize) -> String {
        let entry = &self.entries[index];
        let next = self.entries.get(index + 1).map_or(self.interior.end, |next| next.start);
        let following = self.gap(text, entry.end..next);
        let previous = match index.checked_sub(1) {
            Some(before) => self.entries[before].end,
            None => self.interior.start,
        };
        let preceding = self.gap(text, previous..entry.start);
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
        let mut start = blank_start;
        if preceding.ends_in_line_comment() && !ends_line {
            start = entry.start;
        } else if index == 0 && self.entries.len() > 1 && !ends_line && !text[blank_start..entry.start].contains('\n') {
            // The next entry becomes the first one on the line of the bracket.
            start = entry.start;
            end = text.len() - rest.len();
        }
        splices.remove(start..end);
        splices.apply(text)
    }

    /// The separator between the last two entries, if it is on one line.
    fn separator<'text>(&self, text: &'text str) -> Option<&'text str> {
        let [.., before, last] = self.entries.as_slice() else { return None };
        let blank = text[before.end..last.start].strip_prefix(',')?;
        blank.trim().is_empty().then_some(blank)
    }

    /// The gap in `range`, which must contain only whitespace, comments and commas before the next entry.
    fn gap<'text>(&self, text: &'text str, range: Range<usize>) -> Gap<'text> {
        Gap::new(text, range, self.comments)
    }
}

/// The text between two entries: whitespace, comments, at most one comma.
struct Gap<'text> {
    text: &'text str,
    pieces: Vec<BracketPiece>,
}

struct BracketPiece {
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
    /// Reads `range` up to the first byte that does not belong to a gap.
    fn new(text: &'text str, range: Range<usize>, comments: Comments) -> Self {
        let mut pieces = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let rest = &text[at..range.end];
            let line = || rest.find(['\n', '\r']).unwrap_or(rest.len());
            let (length, kind) = match (rest.chars().next(), comments) {
                (Some(','), _) => (1, Some(PieceKind::Comma)),
                (Some('#'), Comments::Hash) => (line(), Some(PieceKind::LineComment)),
                (Some('/'), Comments::Slashes) => match rest.strip_prefix("/*") {
                    Some(comment) => {
                        (comment.find("*/").map_or(rest.len(), |end| end + 4), Some(PieceKind::BlockComment))
                    }
                    None => (line(), Some(PieceKind::LineComment)),
                },
                (Some(blank), _) if blank.is_whitespace() => (blank.len_utf8(), None),
                _ => break,
            };
            if let Some(kind) = kind {
                pieces.push(BracketPiece { range: at..at + length, kind });
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

    /// The end of the comments that begin on the line of `from`, and whether the last of them extends to the end of the
    /// line.
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
