//! Reads entries and nested blocks by indentation, with their byte ranges.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::markdown;
use super::scalar::{DEEPEST, Quotes, opens_comment, quoted, read_scalar, without_comment};
use super::{Problem, Value};

/// `key: value` with the byte ranges of its parts.
#[derive(Clone, Debug)]
pub(super) struct ParsedEntry {
    pub(super) key: String,
    pub(super) indent: usize,
    /// From the start of the key's line to the end of its last line; comments after it do not belong to it.
    pub(super) lines: Range<usize>,
    /// The first byte after the colon.
    pub(super) colon: usize,
    /// The value on the key's line, or its first part; empty and at the colon if the line has none.
    pub(super) inline: Range<usize>,
    /// The lines below the key that belong to the value.
    pub(super) children: Range<usize>,
    pub(super) node: Node,
}

/// A map whose entries can be edited, or any other value.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Value(Value),
    /// A map in block form; never empty.
    Map(Vec<ParsedEntry>),
}

impl Node {
    pub(super) fn to_value(&self) -> Value {
        match self {
            Node::Value(value) => value.clone(),
            Node::Map(entries) => {
                Value::Map(entries.iter().map(|entry| (entry.key.clone(), entry.node.to_value())).collect())
            }
        }
    }
}

/// The entry with this key. If a key is repeated, the last one counts.
pub(super) fn find<'tree>(entries: &'tree [ParsedEntry], key: &str) -> Option<&'tree ParsedEntry> {
    entries.iter().rfind(|entry| entry.key == key)
}

/// Reads the lines between the two `---` lines.
pub(super) fn read(text: &str, lines: &[markdown::Line], quotes: Quotes) -> (Vec<ParsedEntry>, Vec<Problem>) {
    read_keys(text, lines, quotes, None)
}

/// Like [`read`], with only the values of these keys.
pub(super) fn read_keys(
    text: &str,
    lines: &[markdown::Line],
    quotes: Quotes,
    wanted: Option<&[&str]>,
) -> (Vec<ParsedEntry>, Vec<Problem>) {
    let mut own: Vec<EntryLine> = lines.iter().map(|line| EntryLine::new(text, line)).collect();
    let mut reader = EntryReader { text, quotes, problems: Vec::new() };
    let mut entries = Vec::new();
    let mut keys = BTreeSet::new();
    let mut index = 0;
    while index < own.len() {
        let line = own[index];
        if line.is_skipped(text) {
            index += 1;
            continue;
        }
        let Some(key) = split_key(line.content(text)).filter(|_| line.indent == 0) else {
            reader.problems.push((line.start, "a line that is not `key: value`"));
            index += 1;
            continue;
        };
        if !keys.insert(key.name.clone()) {
            reader.problems.push((line.start, "a duplicate key"));
        }
        let end = reader.end_of_entry(&own, index, &key);
        if wanted.is_none_or(|wanted| wanted.contains(&key.name.as_str())) {
            entries.push(reader.entry(&mut own[index..end], key, 0));
        }
        index = end;
    }
    reader.problems.sort_by_key(|(offset, _)| *offset);
    (entries, number(text, &reader.problems))
}

/// Converts the offsets of problems to line numbers.
fn number(text: &str, problems: &[(usize, &'static str)]) -> Vec<Problem> {
    let mut line = 1;
    let mut position = 0;
    let numbered = problems.iter().map(|(offset, what)| {
        line += text[position..*offset].bytes().filter(|byte| *byte == b'\n').count();
        position = *offset;
        Problem { line, what }
    });
    numbered.collect()
}

/// A line, or the rest of one after a dash.
#[derive(Clone, Copy, Debug)]
struct EntryLine {
    start: usize,
    /// Where the content begins.
    content: usize,
    /// The column of the content.
    indent: usize,
    end: usize,
    next: usize,
}

impl EntryLine {
    fn new(text: &str, line: &markdown::Line) -> Self {
        let whole = &text[line.start..line.end];
        let indent = whole.len() - whole.trim_start_matches([' ', '\t']).len();
        let end = line.start + whole.trim_end().len();
        let content = (line.start + indent).min(end);
        EntryLine { start: line.start, content, indent, end, next: line.next }
    }

    fn content<'text>(&self, text: &'text str) -> &'text str {
        &text[self.content..self.end]
    }

    fn is_blank(&self) -> bool {
        self.content == self.end
    }

    fn is_skipped(&self, text: &str) -> bool {
        self.is_blank() || self.content(text).starts_with('#')
    }

    fn is_item(&self, text: &str) -> bool {
        let content = self.content(text);
        content == "-" || content.starts_with("- ") || content.starts_with("-\t")
    }
}

/// A key found at the start of the content.
struct LeadingKey {
    name: String,
    /// The length up to and including the colon.
    colon: usize,
    /// The length up to the value.
    value: usize,
    opens: Opens,
}

/// What comes after the colon.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opens {
    /// Nothing: the value is in the lines below, if anywhere.
    Nothing,
    /// `|` or `>`: all lines below are text.
    BlockScalar,
    /// A `[` or `{` that is not closed on the line.
    OpenFlow,
    Scalar,
}

/// Splits `key:` from the start of `content`; a space or the end must follow.
fn split_key(content: &str) -> Option<LeadingKey> {
    if content.starts_with("- ") {
        return None;
    }
    let (name, colon) = if let Some((name, rest)) = quoted(content) {
        let gap = rest.len() - rest.trim_start().len();
        rest[gap..].strip_prefix(':').filter(|after| starts_blank(after))?;
        (name, content.len() - rest.len() + gap + 1)
    } else {
        const NOT_PLAIN: &[char] = &['"', '\'', '[', '{', '&', '*', '!', '|', '>', '%', '@', '`', ',', '#', ']', '}'];
        let colon = content.match_indices(':').map(|(at, _)| at).find(|at| starts_blank(&content[at + 1..]))?;
        let name = content[..colon].trim_end();
        if name.is_empty() || name.starts_with(NOT_PLAIN) || without_comment(name).len() < name.len() {
            return None;
        }
        (name.to_owned(), colon + 1)
    };
    let rest = &content[colon..];
    let value = content.len() - rest.trim_start().len();
    let opens = opens(&content[value..]);
    Some(LeadingKey { name, colon, value, opens })
}

fn starts_blank(text: &str) -> bool {
    text.is_empty() || text.starts_with([' ', '\t'])
}

fn opens(rest: &str) -> Opens {
    if rest.is_empty() || (rest.starts_with('#') && opens_comment(rest, 0)) {
        return Opens::Nothing;
    }
    match rest.strip_prefix(['|', '>']).map(without_comment) {
        Some(header) if header.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9')) => Opens::BlockScalar,
        None if rest.starts_with(['[', '{']) && read_scalar(rest, Quotes::Removed).stays_open => Opens::OpenFlow,
        _ => Opens::Scalar,
    }
}

/// Reads the lines of one entry. The depth is limited, and no line is read more than a few times on each level.
struct EntryReader<'text> {
    text: &'text str,
    quotes: Quotes,
    /// The offset and the kind of each problem.
    problems: Vec<(usize, &'static str)>,
}

impl EntryReader<'_> {
    /// The index after the last line that belongs to the entry at `index`.
    fn end_of_entry(&self, lines: &[EntryLine], index: usize, key: &LeadingKey) -> usize {
        self.end_of_value(lines, index, lines[index].indent, key.opens, key.opens == Opens::Nothing)
    }

    /// The index after the last line of the value that begins on line `index`: its lines are indented more than
    /// `indent` or are closing brackets; with `with_items`, a list at `indent` belongs to it too.
    fn end_of_value(&self, lines: &[EntryLine], index: usize, indent: usize, opens: Opens, with_items: bool) -> usize {
        let mut end = index + 1;
        let mut is_list = false;
        for (offset, line) in lines[index + 1..].iter().enumerate() {
            if line.is_blank() || (opens != Opens::BlockScalar && line.is_skipped(self.text)) {
                continue;
            }
            if end == index + 1 {
                is_list = with_items && line.indent == indent && line.is_item(self.text);
            }
            let item = is_list && line.indent == indent && line.is_item(self.text);
            let closes =
                opens == Opens::OpenFlow && line.indent == indent && line.content(self.text).starts_with([']', '}']);
            if !(line.indent > indent || item || closes) {
                break;
            }
            end = index + offset + 2;
        }
        end
    }

    /// Reads the entry whose key is at the start of the first line.
    fn entry(&mut self, lines: &mut [EntryLine], key: LeadingKey, depth: usize) -> ParsedEntry {
        let first = lines[0];
        let last = lines[lines.len() - 1];
        let colon = first.content + key.colon;
        let value_start = first.content + key.value;
        let (node, inline) = self.value(lines, value_start, key.opens, depth);
        ParsedEntry {
            key: key.name,
            indent: first.indent,
            lines: first.start..last.next,
            colon,
            inline: if inline.is_empty() { colon..colon } else { inline },
            children: first.next..last.next,
            node,
        }
    }

    /// Reads the value that begins at `start` on the first line, or below it; returns it with its range on that line.
    fn value(&mut self, lines: &mut [EntryLine], start: usize, opens: Opens, depth: usize) -> (Node, Range<usize>) {
        let (first, below) = (lines[0], &mut lines[1..]);
        match opens {
            Opens::Nothing if below.is_empty() => (Node::Value(Value::Empty), start..start),
            Opens::Nothing => (self.block(below, depth + 1), start..start),
            Opens::BlockScalar => {
                let header = without_comment(&self.text[start..first.end]);
                (Node::Value(self.block_scalar(header, below)), start..start + header.len())
            }
            Opens::OpenFlow | Opens::Scalar => {
                let end = below.last().map_or(first.end, |last| last.end);
                let piece = &self.text[start..end];
                if piece.starts_with(['&', '*']) && !starts_blank(&piece[1..]) {
                    self.problems.push((start, "an anchor or alias"));
                }
                let scalar = read_scalar(piece, self.quotes);
                if scalar.stays_open {
                    self.problems.push((start, "a bracket or quote that stays open"));
                }
                (Node::Value(scalar.value), start..(start + scalar.length).min(first.end))
            }
        }
    }

    /// Reads a block of lines: a list, a map, or text over several lines.
    fn block(&mut self, lines: &mut [EntryLine], depth: usize) -> Node {
        let Some(skipped) = lines.iter().position(|line| !line.is_skipped(self.text)) else {
            return Node::Value(Value::Empty);
        };
        let lines = &mut lines[skipped..];
        let (first, last) = (lines[0], lines[lines.len() - 1]);
        if depth <= DEEPEST {
            if first.is_item(self.text) {
                return Node::Value(self.list(lines, depth));
            }
            if let Some(entries) = self.map(lines, depth) {
                return Node::Map(entries);
            }
        }
        Node::Value(read_scalar(&self.text[first.content..last.end], self.quotes).value)
    }

    /// Reads the entries of a map whose keys are all in the column of the first line; `None` if it is not a map.
    fn map(&mut self, lines: &mut [EntryLine], depth: usize) -> Option<Vec<ParsedEntry>> {
        let indent = lines.first()?.indent;
        let is_key = |line: &EntryLine| line.indent == indent && split_key(line.content(self.text)).is_some();
        // Checked before anything is read, so that a text that is not a map costs one pass.
        let mut index = 0;
        let mut starts = Vec::new();
        while index < lines.len() {
            if lines[index].is_skipped(self.text) {
                index += 1;
                continue;
            }
            if !is_key(&lines[index]) {
                return None;
            }
            let key = split_key(lines[index].content(self.text))?;
            let end = self.end_of_entry(lines, index, &key);
            starts.push((index..end, key));
            index = end;
        }
        Some(starts.into_iter().map(|(range, key)| self.entry(&mut lines[range], key, depth)).collect())
    }

    fn list(&mut self, lines: &mut [EntryLine], depth: usize) -> Value {
        let indent = lines[0].indent;
        let mut items = Vec::new();
        let mut index = 0;
        while index < lines.len() {
            let line = lines[index];
            if line.is_skipped(self.text) || line.indent != indent || !line.is_item(self.text) {
                index += 1;
                continue;
            }
            let rest = &self.text[line.content + 1..line.end];
            let gap = 1 + rest.len() - rest.trim_start().len();
            let inner = EntryLine { content: line.content + gap, indent: line.indent + gap, ..line };
            let opens = opens(inner.content(self.text));
            let end = self.end_of_value(lines, index, indent, opens, false);
            lines[index] = inner;
            let item = &mut lines[index..end];
            let content = inner.content(self.text);
            let is_block = inner.is_item(self.text) || split_key(content).is_some();
            items.push(if opens != Opens::Nothing && is_block && opens != Opens::BlockScalar {
                self.block(item, depth + 1).to_value()
            } else {
                self.value(item, inner.content, opens, depth).0.to_value()
            });
            index = end;
        }
        Value::List(items)
    }

    /// The text of the lines below a `|` or `>`, without their common indentation. It ends in a line break, unless the
    /// header has a `-`.
    fn block_scalar(&self, header: &str, lines: &[EntryLine]) -> Value {
        let margin = lines.iter().filter(|line| !line.is_blank()).map(|line| line.indent).min().unwrap_or(0);
        let line = |line: &EntryLine| if line.is_blank() { "" } else { &self.text[line.start + margin..line.end] };
        let mut text = String::new();
        for (index, content) in lines.iter().map(line).enumerate() {
            if header.starts_with('>') {
                let joins = !content.is_empty() && !text.is_empty() && !text.ends_with('\n');
                text.push_str(if content.is_empty() {
                    "\n"
                } else if joins {
                    " "
                } else {
                    ""
                });
            } else if index > 0 {
                text.push('\n');
            }
            text.push_str(content);
        }
        text.truncate(text.trim_end_matches('\n').len());
        if !text.is_empty() && !header.contains('-') {
            text.push('\n');
        }
        Value::Text(text)
    }
}
