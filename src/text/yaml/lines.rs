//! Lines of YAML: which line has a key, which lines are below it, the place of a new line and what is removed with an
//! old one.
//!
//! Only block style is supported, one key or entry per line. A line that only looks like a key, inside a quoted text,
//! leads to an edit that the caller's parser refuses.

use std::ops::Range;

use serde_json::Value as Json;

use super::super::edit::{EditError, Undo, dotted};
use super::super::markdown::newline_of;
use super::print;

/// The lines of a text, for finding positions in it.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    list: Vec<YamlLine>,
}

#[derive(Debug)]
struct YamlLine {
    start: usize,
    /// After its line break.
    end: usize,
    indent: usize,
    kind: YamlLineKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum YamlLineKind {
    Blank,
    Comment,
    /// `---`, `...` or a directive.
    Marker,
    Content,
}

/// A line with a key, and what is below it.
#[derive(Debug)]
struct YamlKey {
    line: usize,
    /// The position after the colon.
    colon: usize,
    /// The value after the colon on the same line, without blanks and a comment.
    value: Range<usize>,
    /// The lines up to the next key on its level or above.
    below: Range<usize>,
}

/// How the value of a key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// On the lines below.
    Block,
    /// Nothing, `null`, `{}` or `[]`.
    Empty,
    Other(&'static str),
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut start = 0;
        let list = text
            .split_inclusive('\n')
            .map(|line| {
                let content = line.trim_start_matches(' ');
                let (indent, bare) = (line.len() - content.len(), content.trim_end());
                let is_marker = indent == 0
                    && (bare.starts_with('%')
                        || ["---", "..."].iter().any(|marker| {
                            bare.strip_prefix(marker)
                                .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
                        }));
                let kind = match bare.trim_start().chars().next() {
                    None => YamlLineKind::Blank,
                    Some('#') => YamlLineKind::Comment,
                    Some(_) if is_marker => YamlLineKind::Marker,
                    Some(_) => YamlLineKind::Content,
                };
                start += line.len();
                YamlLine { start: start - line.len(), end: start, indent, kind }
            })
            .collect();
        Lines { text, list }
    }

    /// Where a second document begins.
    pub(super) fn second_document(&self) -> Option<usize> {
        let begins = |line: &&YamlLine| line.kind == YamlLineKind::Marker && self.content(line).starts_with("---");
        let first = self.list.iter().position(|line| begins(&line));
        let before = &self.list[..first?];
        let is_first = before.iter().all(|line| line.kind != YamlLineKind::Content);
        self.list.iter().filter(begins).nth(usize::from(is_first)).map(|line| line.start)
    }

    /// The possible texts with the entry at the end of the list at `path`, likeliest first, and how to undo each.
    pub(super) fn with_entry(&self, path: &[String], value: &Json) -> Result<Vec<(String, Undo)>, EditError> {
        let entry = print::entry(value, path)?;
        let mut range = self.document()?;
        if let Some(empty) = self.empty_map(&range) {
            let block = Self::block(path, 0, &entry).join(newline_of(self.text));
            let undo =
                Undo { created_parents: path.len(), previous: Some(self.text[empty.clone()].to_owned()), blank: None };
            let mut text = self.text.to_owned();
            text.replace_range(empty, &block);
            return Ok(vec![(text, undo)]);
        }
        let mut indent = self.first(&range).map_or(0, |line| self.list[line].indent);
        for depth in 0..path.len() {
            let Some(key) = self.key(&range, indent, &path[depth]) else {
                let undo = Undo { created_parents: path.len() - depth, ..Undo::default() };
                let block = Self::block(&path[depth..], indent, &entry);
                return Ok(self
                    .places(&range, depth == 0)
                    .map(|at| (self.inserted(at, &block), undo.clone()))
                    .collect());
            };
            match self.style(&key) {
                Style::Other(found) => return Err(Self::refused(&key, &path[..=depth], found)),
                Style::Empty => {
                    let below = self.first(&key.below).map_or(indent + 2, |line| self.list[line].indent);
                    let block = Self::block(&path[depth + 1..], below, &entry);
                    let previous = (!key.value.is_empty()).then(|| self.text[key.colon..key.value.end].to_owned());
                    let created_parents = path.len() - 1 - depth;
                    let undo = Undo { created_parents, previous, blank: None };
                    let mut text = self.inserted(self.list[key.line].end, &block);
                    text.replace_range(key.colon..key.value.end, "");
                    return Ok(vec![(text, undo)]);
                }
                Style::Block => {
                    let first = self.first(&key.below).unwrap_or(key.line);
                    indent = self.list[first].indent;
                    range = key.below;
                }
            }
        }
        let block = Self::block(&[], indent, &entry);
        Ok(self.places(&range, false).map(|at| (self.inserted(at, &block), Undo::default())).collect())
    }

    /// The text without entry number `index` of the list at `path`, and without what was made for it.
    pub(super) fn without_entry(&self, path: &[String], index: usize, undo: &Undo) -> Result<String, EditError> {
        let unsafe_here = || EditError::Unsafe { path: dotted(path) };
        let list = self.walk(path)?.ok_or_else(unsafe_here)?;
        if let Style::Other(found) = self.style(&list) {
            return Err(Self::refused(&list, path, found));
        }
        let first = self.first(&list.below).ok_or_else(unsafe_here)?;
        let indent = self.list[first].indent;
        let starts: Vec<usize> = list
            .below
            .clone()
            .filter(|line| self.list[*line].indent == indent && self.is_entry(&self.list[*line]))
            .collect();
        let start = *starts.get(index).ok_or_else(unsafe_here)?;
        let end = starts.get(index + 1).copied().unwrap_or(list.below.end);
        let behind = self.last(&(start..end)).unwrap_or(start) + 1;
        let mut text = self.without(&(start..behind));
        if starts.len() > 1 {
            return Ok(text);
        }
        for made in (path.len() - undo.created_parents.min(path.len())..path.len()).rev() {
            let lines = Lines::new(&text);
            let Some(key) = lines.walk(&path[..=made])? else { return Ok(text) };
            if lines.first(&key.below).is_some() || !key.value.is_empty() {
                return Ok(text);
            }
            let document = lines.document()?;
            let is_alone = lines.first(&document) == Some(key.line) && lines.last(&document) == Some(key.line);
            if let (0, true, Some(previous)) = (made, is_alone, &undo.previous) {
                // It was in the place of an empty document.
                let line = &lines.list[key.line];
                let content = line.start..line.start + text[line.start..line.end].trim_end().len();
                if !EMPTY.contains(&previous.as_str()) {
                    return Err(unsafe_here());
                }
                text.replace_range(content, previous);
                return Ok(text);
            }
            text = lines.without(&(key.line..key.line + 1));
        }
        if let (Some(previous), Some(above)) = (&undo.previous, path.len().checked_sub(undo.created_parents)) {
            let lines = Lines::new(&text);
            if let Some(key) = lines.walk(&path[..above])?
                && lines.first(&key.below).is_none()
                && key.value.is_empty()
            {
                let (line, colon) = (key.line, key.colon);
                text.insert_str(colon, previous);
                // Only an empty value may be restored, because the ledger is a file that others can write.
                let lines = Lines::new(&text);
                let key = lines.walk(&path[..above])?.filter(|key| key.line == line && !previous.contains('\n'));
                if !key.is_some_and(|key| {
                    text[key.colon..key.value.end] == **previous && matches!(lines.style(&key), Style::Empty)
                }) {
                    return Err(unsafe_here());
                }
            }
        }
        Ok(text)
    }

    /// Finds the key at the end of `path`.
    fn walk(&self, path: &[String]) -> Result<Option<YamlKey>, EditError> {
        let mut range = self.document()?;
        let mut found = None;
        for (depth, name) in path.iter().enumerate() {
            let Some(first) = self.first(&range) else { return Ok(None) };
            let Some(key) = self.key(&range, self.list[first].indent, name) else { return Ok(None) };
            if let (Style::Other(found), true) = (self.style(&key), depth + 1 < path.len()) {
                return Err(Self::refused(&key, &path[..=depth], found));
            }
            range = key.below.clone();
            found = Some(key);
        }
        Ok(found)
    }

    /// The lines of the document, without its markers.
    fn document(&self) -> Result<Range<usize>, EditError> {
        let whole = |line: usize, found| Err(EditError::Style { path: String::new(), line: line + 1, found });
        let begin = self
            .list
            .iter()
            .rposition(|line| line.kind == YamlLineKind::Marker && self.content(line).starts_with("---"));
        if let Some(marker) = begin
            && self.content(&self.list[marker]).trim_end() != "---"
        {
            return whole(marker, "begins on the line of `---`");
        }
        let start = begin.map_or(0, |marker| marker + 1);
        let end = self.list[start..]
            .iter()
            .position(|line| line.kind == YamlLineKind::Marker && begin.is_some() || self.ends(line));
        let range = start..end.map_or(self.list.len(), |end| start + end);
        if let Some(first) = self.first(&range)
            && self.empty_map(&range).is_none()
            && let Some(found) = unreadable(self.content(&self.list[first]))
        {
            return whole(first, found);
        }
        Ok(range)
    }

    /// The place of the map without entries that is all the content of these lines.
    fn empty_map(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let first = self.first(range)?;
        let line = &self.list[first];
        let content = self.content(line).trim_end();
        (self.last(range) == Some(first) && line.indent == 0 && EMPTY.contains(&content))
            .then(|| line.start..line.start + content.len())
    }

    /// Where the line of the key at the end of `path` begins, or the content for an empty path.
    pub(super) fn start_of(&self, path: &[String]) -> Option<usize> {
        let line = match path {
            [] => self.first(&self.document().ok()?)?,
            path => self.walk(path).ok()??.line,
        };
        self.list.get(line).map(|line| line.start)
    }

    /// Where the entries of the list at `path` begin.
    pub(super) fn entries_of(&self, path: &[String]) -> Vec<usize> {
        let Ok(Some(list)) = self.walk(path) else { return Vec::new() };
        let Some(first) = self.first(&list.below) else { return Vec::new() };
        let indent = self.list[first].indent;
        let lines = list.below.map(|line| &self.list[line]);
        lines.filter(|line| line.indent == indent && self.is_entry(line)).map(|line| line.start).collect()
    }

    /// The lines with this key, on any level: where the key begins, and where the line ends.
    pub(super) fn keys(&self, key: &str) -> impl Iterator<Item = (usize, usize)> {
        let is_it = move |line: &YamlLine| {
            let content = self.content(line);
            let bare = content.trim_start_matches(['-', ' ']);
            named(bare)
                .is_some_and(|(name, _)| name == key)
                .then_some((line.start + line.indent + content.len() - bare.len(), line.end))
        };
        self.list.iter().filter(|line| line.kind == YamlLineKind::Content).filter_map(is_it)
    }

    fn ends(&self, line: &YamlLine) -> bool {
        line.kind == YamlLineKind::Marker && self.content(line).starts_with("...")
    }

    fn refused(key: &YamlKey, path: &[String], found: &'static str) -> EditError {
        EditError::Style { path: dotted(path), line: key.line + 1, found }
    }

    /// The line of `name` among those of `range` at this indentation.
    fn key(&self, range: &Range<usize>, indent: usize, name: &str) -> Option<YamlKey> {
        let beside = |line: &YamlLine| line.kind == YamlLineKind::Content && line.indent <= indent;
        let (line, behind) = range.clone().find_map(|number| {
            let line = &self.list[number];
            let is_here = line.kind == YamlLineKind::Content && line.indent == indent;
            let (found, behind) = is_here.then(|| named(self.content(line))).flatten()?;
            (found == name).then_some((number, line.start + line.indent + behind))
        })?;
        let is_list = |number: usize| self.list[number].indent == indent && self.is_entry(&self.list[number]);
        let end = (line + 1..range.end).find(|number| beside(&self.list[*number]) && !is_list(*number));
        let rest = &self.text[behind..self.list[line].end];
        let value = rest.trim_start();
        let start = behind + rest.len() - value.len();
        let value = if value.starts_with('#') { "" } else { value.split(" #").next().unwrap_or_default().trim_end() };
        let value = if value.is_empty() { behind..behind } else { start..start + value.len() };
        Some(YamlKey { line, colon: behind, value, below: line + 1..end.unwrap_or(range.end) })
    }

    fn style(&self, key: &YamlKey) -> Style {
        match (&self.text[key.value.clone()], self.first(&key.below)) {
            ("" | "[]", None) => Style::Empty,
            (empty, None) if EMPTY.contains(&empty) => Style::Empty,
            ("", Some(first)) => match unreadable(self.content(&self.list[first])) {
                Some(found) => Style::Other(found),
                None => Style::Block,
            },
            (value, _) => Style::Other(unreadable(value).unwrap_or("is not a block of lines")),
        }
    }

    fn content(&self, line: &YamlLine) -> &'a str {
        &self.text[line.start + line.indent..line.end]
    }

    fn is_entry(&self, line: &YamlLine) -> bool {
        let rest = self.content(line).strip_prefix('-');
        line.kind == YamlLineKind::Content
            && rest.is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with(' '))
    }

    fn first(&self, range: &Range<usize>) -> Option<usize> {
        range.clone().find(|line| self.list[*line].kind == YamlLineKind::Content)
    }

    fn last(&self, range: &Range<usize>) -> Option<usize> {
        range.clone().rfind(|line| self.list[*line].kind == YamlLineKind::Content)
    }

    /// Positions where lines can be inserted after those in `range`: after the content, after the comments, at the end.
    fn places(&self, range: &Range<usize>, at_end: bool) -> impl Iterator<Item = usize> {
        let behind = |line: usize| self.list[line].end;
        let end = match range.end {
            0 => 0,
            end => self.list[end - 1].end,
        };
        let content = self.last(range).map(behind);
        let comment = range.clone().rfind(|line| self.list[*line].kind != YamlLineKind::Blank).map(behind);
        let mut places = vec![content.unwrap_or(end), comment.unwrap_or(end), end];
        if at_end {
            places.reverse();
            // Lines at the end may become part of a text there.
            places.extend(self.list.get(range.start).map(|line| line.start));
        }
        places.dedup();
        places.into_iter()
    }

    /// Makes the lines for the nested keys, with the entry in the last one.
    fn block(keys: &[String], indent: usize, entry: &[String]) -> Vec<String> {
        let keys_and_places = keys.iter().enumerate();
        let mut block: Vec<String> =
            keys_and_places.map(|(depth, key)| format!("{:1$}{2}:", "", indent + 2 * depth, print::key(key))).collect();
        block.extend(entry.iter().map(|line| format!("{:1$}{line}", "", indent + 2 * keys.len())));
        block
    }

    /// The text with these lines before the byte `at`. A last line without a line break still has none.
    fn inserted(&self, at: usize, block: &[String]) -> String {
        let ending = newline_of(self.text);
        let lines = block.join(ending);
        let (before, after) = self.text.split_at(at);
        if before.is_empty() || before.ends_with('\n') {
            format!("{before}{lines}{ending}{after}")
        } else {
            format!("{before}{ending}{lines}{after}")
        }
    }

    /// The text without these lines. If the removed last line had no line break, the new last line has none either.
    fn without(&self, lines: &Range<usize>) -> String {
        let (start, end) = (self.list[lines.start].start, self.list[lines.end - 1].end);
        let (mut before, after) = (&self.text[..start], &self.text[end..]);
        if after.is_empty() && !self.text.ends_with('\n') {
            before = before.strip_suffix('\n').unwrap_or(before);
            before = before.strip_suffix('\r').unwrap_or(before);
        }
        format!("{before}{after}")
    }
}

/// Maps without entries.
const EMPTY: [&str; 5] = ["{}", "~", "null", "Null", "NULL"];

/// The key that a line begins with, and the position after its colon.
fn named(content: &str) -> Option<(&str, usize)> {
    let quote = content.chars().next().filter(|first| "\"'".contains(*first));
    let (name, behind) = if let Some(quote) = quote {
        let inner = &content[1..];
        let end = inner.find(quote)?;
        (&inner[..end], end + 2)
    } else {
        let colons = content.match_indices(':').map(|(at, _)| at);
        let ends = |at: &usize| content[at + 1..].chars().next().is_none_or(char::is_whitespace);
        let end = colons.into_iter().find(ends)?;
        (&content[..end], end)
    };
    let rest = content[behind..].trim_start_matches(' ');
    let colon = content.len() - rest.len();
    (rest.starts_with(':') && !name.contains('\\')).then_some((name.trim_end(), colon + 1))
}

/// Why lines cannot be inserted into a value that begins like this.
fn unreadable(value: &str) -> Option<&'static str> {
    match value.chars().next()? {
        '{' | '[' => Some("is written in braces or brackets"),
        '&' => Some("has an anchor"),
        '*' => Some("is an alias"),
        '!' => Some("has a tag"),
        '?' => Some("has keys that are not words"),
        _ => None,
    }
}
