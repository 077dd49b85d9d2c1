//! Front matter: the `---` block that opens a Markdown file, read tolerantly and edited by span.
//!
//! The block is a subset of YAML as people write it: nested maps, block and inline lists, quoted and plain scalars,
//! block scalars, comments. Everything is text: `1`, `true` and `null` are what stands there. A plain value that holds a
//! colon is text. Anchors and aliases are text too: they are never followed. Lines that fit nothing belong to the entry
//! above them and keep their bytes.

use std::fmt::Write as _;
use std::ops::Range;

use super::markdown::{LineKind, Markdown};
use super::splice::Splices;

/// A value as written, without types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing after the colon.
    Empty,
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list; one text is a list of one; empty is none.
    pub(crate) fn items(&self) -> &[Value] {
        match self {
            Self::List(items) => items,
            Self::Empty => &[],
            single => std::slice::from_ref(single),
        }
    }

    /// The texts among the items of a list.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.items().iter().filter_map(Value::as_text).collect()
    }

    /// The value of a key of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

/// A top-level entry and the bytes it stands in, its line ends included.
#[derive(Clone, Debug)]
struct Entry {
    key: String,
    span: Range<usize>,
}

/// The front matter of a text. Borrows the text.
#[derive(Clone, Debug)]
pub(crate) struct FrontMatter<'text> {
    text: &'text str,
    /// Between the two `---` lines.
    inside: Range<usize>,
    /// The first byte after the closing line.
    body: usize,
    entries: Vec<Entry>,
    newline: &'static str,
}

impl<'text> FrontMatter<'text> {
    /// Finds the front matter of `text`; `None` where there is none or it is not closed.
    pub(crate) fn parse(text: &'text str) -> Option<Self> {
        Self::of(&Markdown::parse(text))
    }

    /// As [`Self::parse`], for a text that is scanned already.
    pub(crate) fn of(markdown: &Markdown<'text>) -> Option<Self> {
        let close =
            markdown.lines().iter().take_while(|line| line.kind == LineKind::FrontMatter).count().checked_sub(1)?;
        let lines = markdown.lines();
        let inside = lines[0].next..lines[close].start;
        let text = markdown.text();
        let mut entries: Vec<Entry> = Vec::new();
        for line in &lines[1..close] {
            match top_level_key(&text[line.start..line.end]) {
                Some(key) => entries.push(Entry { key: key.to_owned(), span: line.start..line.next }),
                None => {
                    if let Some(last) = entries.last_mut() {
                        last.span.end = line.next;
                    }
                }
            }
        }
        Some(Self { text, inside, body: lines[close].next, entries, newline: markdown.newline() })
    }

    /// The keys in order of appearance.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }

    /// The value of a top-level key.
    pub(crate) fn get(&self, key: &str) -> Option<Value> {
        self.entry(key).map(|entry| self.value_of(entry))
    }

    /// The text of a top-level key, if it is a non-empty scalar.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_text().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The value at a path of keys.
    pub(crate) fn get_path(&self, path: &[&str]) -> Option<Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.get(first)?, |value, key| value.get(key).cloned())
    }

    /// Every entry, in order.
    pub(crate) fn entries(&self) -> Vec<(String, Value)> {
        self.entries.iter().map(|entry| (entry.key.clone(), self.value_of(entry))).collect()
    }

    /// The text after the closing line.
    pub(crate) fn body(&self) -> &'text str {
        &self.text[self.body..]
    }

    /// The first byte of the body.
    pub(crate) fn body_start(&self) -> usize {
        self.body
    }

    /// The whole text with `key` set to `value`. A key that already has that value keeps its bytes; a new key goes to
    /// the end of the block.
    pub(crate) fn with(&self, key: &str, value: &Value) -> String {
        let mut splices = Splices::default();
        self.set(key, value, &mut splices);
        splices.apply(self.text)
    }

    /// As [`Self::with`], as splices, so that several keys can be set at once.
    pub(crate) fn set(&self, key: &str, value: &Value, splices: &mut Splices) {
        let printed = print_entry(key, value, self.newline);
        match self.entry(key) {
            Some(entry) if self.value_of(entry) == *value => {}
            Some(entry) => splices.replace(self.own_lines(entry), printed),
            None => splices.insert(self.inside.end, printed),
        }
    }

    /// Removes a key with its lines, as splices.
    pub(crate) fn remove(&self, key: &str, splices: &mut Splices) {
        if let Some(entry) = self.entry(key) {
            splices.remove(entry.span.clone());
        }
    }

    /// A key that stands twice counts with its last value, as YAML readers take it.
    fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    /// The lines of an entry without blank and comment lines at its end, which belong to what follows.
    fn own_lines(&self, entry: &Entry) -> Range<usize> {
        let mut end = entry.span.start;
        let mut position = entry.span.start;
        for line in self.text[entry.span.clone()].split_inclusive('\n') {
            position += line.len();
            let content = line.trim();
            if !content.is_empty() && !content.starts_with('#') {
                end = position;
            }
        }
        entry.span.start..end
    }

    fn value_of(&self, entry: &Entry) -> Value {
        let text = &self.text[entry.span.clone()];
        let lines: Vec<Source<'_>> = text.lines().map(Source::new).collect();
        let mut reader = Reader { lines: &lines, next: 0 };
        match reader.block(0) {
            Value::Map(entries) => entries.into_iter().next().map_or(Value::Empty, |(_, value)| value),
            other => other,
        }
    }
}

/// A text with a front matter that holds `entries`, before `body`.
pub(crate) fn compose(entries: &[(String, Value)], body: &str, newline: &str) -> String {
    let mut text = format!("---{newline}");
    for (key, value) in entries {
        text.push_str(&print_entry(key, value, newline));
    }
    text.push_str("---");
    text.push_str(newline);
    text.push_str(body);
    text
}

/// A key at the start of a line: `key:` followed by a space or the end.
fn top_level_key(line: &str) -> Option<&str> {
    if line.starts_with([' ', '\t', '#', '-']) {
        return None;
    }
    split_key(line).map(|(key, _)| key)
}

/// `key: value` split at the first colon that ends a key.
fn split_key(content: &str) -> Option<(&str, &str)> {
    if let Some(quote) = content.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let close = content[1..].find(quote)? + 1;
        let rest = content[close + 1..].trim_start().strip_prefix(':')?;
        return Some((&content[1..close], rest.trim()));
    }
    let colon = content
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| content.as_bytes().get(at + 1).is_none_or(|next| matches!(next, b' ' | b'\t' | b'\r')))?;
    let key = content[..colon].trim_end();
    let plain = !key.is_empty() && !key.starts_with(['[', '{', '&', '*', '!', '|', '>', '%', '@', '`', ',']);
    plain.then(|| (key, content[colon + 1..].trim()))
}

/// A line with its indentation.
#[derive(Clone, Copy, Debug)]
struct Source<'text> {
    raw: &'text str,
    indent: usize,
    content: &'text str,
}

impl<'text> Source<'text> {
    fn new(raw: &'text str) -> Self {
        let content = raw.trim_start_matches(' ');
        Self { raw, indent: raw.len() - content.len(), content: content.trim_end() }
    }

    fn is_blank(&self) -> bool {
        self.content.trim().is_empty() || self.content.starts_with('#')
    }
}

/// Reads lines of one entry. Depth is bounded by indentation, which grows with each level.
struct Reader<'lines, 'text> {
    lines: &'lines [Source<'text>],
    next: usize,
}

/// Deeper nesting than people write is read as text.
const DEEPEST: usize = 64;

impl<'text> Reader<'_, 'text> {
    fn peek(&mut self) -> Option<Source<'text>> {
        while self.lines.get(self.next).is_some_and(Source::is_blank) {
            self.next += 1;
        }
        self.lines.get(self.next).copied()
    }

    /// The block of lines that are indented by at least `indent`.
    fn block(&mut self, depth: usize) -> Value {
        let Some(first) = self.peek() else { return Value::Empty };
        if depth > DEEPEST {
            self.next = self.lines.len();
            return Value::Text(first.content.to_owned());
        }
        if first.content == "-" || first.content.starts_with("- ") {
            self.list(first.indent, depth)
        } else if split_key(first.content).is_some() {
            self.map(first.indent, depth)
        } else {
            self.next += 1;
            let mut text = first.content.to_owned();
            while let Some(line) =
                self.peek().filter(|line| line.indent >= first.indent && split_key(line.content).is_none())
            {
                self.next += 1;
                text.push(' ');
                text.push_str(line.content);
            }
            scalar(&text)
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Value {
        let mut items = Vec::new();
        while let Some(line) = self.peek() {
            let Some(rest) = line.content.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' '))
            else {
                break;
            };
            if line.indent != indent {
                break;
            }
            let inner = rest.trim_start();
            let inner_indent = indent + 1 + (rest.len() - inner.len());
            self.next += 1;
            if inner.is_empty() || inner.starts_with('#') {
                items.push(self.nested(indent, depth));
            } else if split_key(inner).is_some() && !inner.starts_with(['"', '\'', '[', '{']) {
                items.push(self.item_map(inner, inner_indent, depth));
            } else {
                items.push(self.value_after(inner, indent));
            }
        }
        Value::List(items)
    }

    /// A map whose first key stands on the line of its dash.
    fn item_map(&mut self, first: &'text str, indent: usize, depth: usize) -> Value {
        let mut entries = Vec::new();
        if let Some((key, rest)) = split_key(first) {
            entries.push((key.to_owned(), self.entry_value(rest, indent, depth)));
        }
        if let Some(line) = self.peek().filter(|line| line.indent == indent && !line.content.starts_with("- "))
            && let Value::Map(more) = self.map(line.indent, depth + 1)
        {
            entries.extend(more);
        }
        Value::Map(entries)
    }

    fn map(&mut self, indent: usize, depth: usize) -> Value {
        let mut entries = Vec::new();
        while let Some(line) = self.peek() {
            if line.indent != indent {
                if line.indent > indent {
                    self.next += 1;
                    continue;
                }
                break;
            }
            let Some((key, rest)) = split_key(line.content) else {
                if line.content.starts_with("- ") {
                    break;
                }
                self.next += 1;
                continue;
            };
            self.next += 1;
            entries.push((key.to_owned(), self.entry_value(rest, indent, depth)));
        }
        Value::Map(entries)
    }

    /// The value behind `key:`: on the line, or in the lines below.
    fn entry_value(&mut self, rest: &str, indent: usize, depth: usize) -> Value {
        if rest.is_empty() || rest.starts_with('#') {
            return self.nested(indent, depth);
        }
        self.value_after(rest, indent)
    }

    /// A value that starts on the line of its key or dash: a block scalar, an inline value over one or more lines, or text.
    fn value_after(&mut self, rest: &str, indent: usize) -> Value {
        if rest.starts_with(['|', '>']) {
            return self.block_scalar(rest, indent);
        }
        let mut text = rest.to_owned();
        let opens = rest.starts_with(['[', '{']);
        let mut balance = Balance::default();
        if opens || rest.starts_with(['"', '\'']) {
            balance.feed(rest);
        }
        while balance.is_open() {
            let inside =
                |line: &&Source<'_>| line.is_blank() || line.indent > indent || line.content.starts_with([']', '}']);
            let Some(line) = self.lines.get(self.next).filter(inside) else { break };
            self.next += 1;
            text.push(' ');
            text.push_str(line.content);
            balance.feed(line.content);
        }
        if !opens && !text.starts_with(['"', '\'']) {
            while let Some(line) = self.peek().filter(|line| {
                line.indent > indent && split_key(line.content).is_none() && !line.content.starts_with("- ")
            }) {
                self.next += 1;
                text.push(' ');
                text.push_str(line.content);
            }
        }
        scalar(&text)
    }

    /// What stands below a key or dash that has nothing on its line. A list may stand at the key's own indentation.
    fn nested(&mut self, indent: usize, depth: usize) -> Value {
        match self.peek() {
            Some(line) if line.indent > indent => self.block(depth + 1),
            Some(line) if line.indent == indent && line.content.starts_with("- ") && !self.inside_list(indent) => {
                self.list(indent, depth + 1)
            }
            _ => Value::Empty,
        }
    }

    /// Whether the line before is a list item of this indentation, so that a dash is its sibling.
    fn inside_list(&self, indent: usize) -> bool {
        self.next
            .checked_sub(1)
            .and_then(|index| self.lines.get(index))
            .is_some_and(|line| line.indent == indent && line.content.starts_with('-'))
    }

    fn block_scalar(&mut self, header: &str, indent: usize) -> Value {
        let folded = header.starts_with('>');
        let start = self.next;
        while self.lines.get(self.next).is_some_and(|line| line.content.is_empty() || line.indent > indent) {
            self.next += 1;
        }
        let lines = &self.lines[start..self.next];
        let margin = lines.iter().filter(|line| !line.content.is_empty()).map(|line| line.indent).min().unwrap_or(0);
        let texts: Vec<&str> = lines.iter().map(|line| line.raw.get(margin..).unwrap_or("").trim_end()).collect();
        let joined = texts.join(if folded { " " } else { "\n" });
        let kept = joined.trim_end();
        Value::Text(
            if header.contains('-') || folded { kept.to_owned() } else { format!("{kept}\n") }.trim_end().to_owned(),
        )
    }
}

/// A value written on one line.
fn scalar(text: &str) -> Value {
    let text = text.trim();
    if text.starts_with(['[', '{']) {
        let mut flow = Flow { rest: text, depth: 0 };
        if let Some(value) = flow.value() {
            let tail = flow.rest.trim_start();
            if tail.is_empty() || tail.starts_with('#') {
                return value;
            }
        }
        return Value::Text(without_comment(text).to_owned());
    }
    if let Some((value, rest)) = quoted(text)
        && (rest.trim().is_empty() || rest.trim_start().starts_with('#'))
    {
        return Value::Text(value);
    }
    Value::Text(without_comment(text).to_owned())
}

/// Text up to a comment: a `#` at the start or behind white space.
fn without_comment(text: &str) -> &str {
    let comment = text.match_indices('#').map(|(at, _)| at).find(|at| *at == 0 || text[..*at].ends_with([' ', '\t']));
    comment.map_or(text, |at| &text[..at]).trim_end()
}

/// The content of a quoted text at the start, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let mut value = String::new();
    let mut letters = text[1..].char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == quote {
            if quote == '\'' && text[1 + at + 1..].starts_with('\'') {
                value.push('\'');
                letters.next();
                continue;
            }
            return Some((value, &text[1 + at + 1..]));
        }
        if letter == '\\' && quote == '"' {
            match letters.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                '0' => value.push('\0'),
                'u' => {
                    let digits: String = letters.by_ref().take(4).map(|(_, digit)| digit).collect();
                    value.push(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}'));
                }
                other => value.push(other),
            }
            continue;
        }
        value.push(letter);
    }
    None
}

/// Whether brackets and quotes are closed, fed piece by piece so that a long open value costs one pass.
#[derive(Debug, Default)]
struct Balance {
    depth: i64,
    quote: Option<char>,
    escaped: bool,
}

impl Balance {
    fn feed(&mut self, text: &str) {
        for letter in text.chars() {
            if std::mem::take(&mut self.escaped) {
                continue;
            }
            match (self.quote, letter) {
                (Some('"'), '\\') => self.escaped = true,
                (Some(open), _) if letter == open => self.quote = None,
                (None, '"' | '\'') => self.quote = Some(letter),
                (None, '[' | '{') => self.depth += 1,
                (None, ']' | '}') => self.depth -= 1,
                _ => {}
            }
        }
    }

    fn is_open(&self) -> bool {
        self.depth > 0 || self.quote.is_some()
    }
}

/// Inline lists and maps.
struct Flow<'text> {
    rest: &'text str,
    depth: usize,
}

impl<'text> Flow<'text> {
    fn value(&mut self) -> Option<Value> {
        self.rest = self.rest.trim_start();
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = match self.rest.chars().next() {
            Some('[') => self.list(),
            Some('{') => self.map(),
            Some('"' | '\'') => {
                let (text, rest) = quoted(self.rest)?;
                self.rest = rest;
                Some(Value::Text(text))
            }
            _ => Some(Value::Text(self.plain(&[',', ']', '}']).to_owned())),
        };
        self.depth -= 1;
        value
    }

    fn plain(&mut self, ends: &[char]) -> &'text str {
        let end = self.rest.find(|letter| ends.contains(&letter)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text.trim()
    }

    fn list(&mut self) -> Option<Value> {
        self.rest = &self.rest[1..];
        let mut items = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(']') {
                self.rest = rest;
                return Some(Value::List(items));
            }
            if self.rest.is_empty() {
                return None;
            }
            items.push(self.value()?);
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix(',') {
                Some(rest) => self.rest = rest,
                None if self.rest.starts_with(']') => {}
                None => return None,
            }
        }
    }

    fn map(&mut self) -> Option<Value> {
        self.rest = &self.rest[1..];
        let mut entries = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix('}') {
                self.rest = rest;
                return Some(Value::Map(entries));
            }
            let key = match quoted(self.rest) {
                Some((key, rest)) => {
                    self.rest = rest;
                    key
                }
                None => self.plain(&[':', ',', '}']).to_owned(),
            };
            self.rest = self.rest.trim_start().strip_prefix(':')?;
            let value = self.value()?;
            entries.push((key, value));
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix(',') {
                Some(rest) => self.rest = rest,
                None if self.rest.starts_with('}') => {}
                None => return None,
            }
        }
    }
}

/// Longest inline list: up to three texts of less than this many characters together.
const INLINE_LENGTH: usize = 60;

/// `key: value` with its line ends.
fn print_entry(key: &str, value: &Value, newline: &str) -> String {
    let mut text = String::new();
    print_into(&mut text, key, value, 0, newline);
    text
}

fn add(text: &mut String, printed: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(printed);
}

fn print_into(text: &mut String, key: &str, value: &Value, indent: usize, newline: &str) {
    let margin = " ".repeat(indent);
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
        Value::Map(entries) => {
            let mut inner = String::new();
            for (name, value) in entries {
                print_into(&mut inner, name, value, indent + 2, newline);
            }
            add(text, format_args!("{margin}- {}", inner.trim_start_matches(' ')));
        }
        Value::List(items) => {
            add(text, format_args!("{margin}- {}{newline}", inline_list(items).unwrap_or_else(|| flow(items))));
        }
        Value::Text(scalar) => add(text, format_args!("{margin}- {}{newline}", print_scalar(scalar))),
        Value::Empty => add(text, format_args!("{margin}-{newline}")),
    }
}

fn inline_list(items: &[Value]) -> Option<String> {
    let texts: Vec<&str> = items.iter().map(Value::as_text).collect::<Option<_>>()?;
    let length: usize = texts.iter().map(|text| text.chars().count() + 2).sum();
    (texts.len() <= 3 && length < INLINE_LENGTH).then(|| flow(items))
}

fn flow(items: &[Value]) -> String {
    let printed: Vec<String> = items
        .iter()
        .map(|item| match item {
            Value::Text(text) if text.contains([',', '[', ']', '{', '}']) => print_quoted(text),
            Value::Text(text) => print_scalar(text),
            Value::List(items) => flow(items),
            Value::Map(_) | Value::Empty => String::new(),
        })
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
    if risky { print_quoted(text) } else { text.to_owned() }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(value: &str) -> Value {
        Value::Text(value.to_owned())
    }

    fn get(source: &str, path: &[&str]) -> Option<Value> {
        FrontMatter::parse(source).unwrap().get_path(path)
    }

    #[test]
    fn values_are_read_as_people_write_them() {
        let source = "---\nphase: 01-foundation\nwave: 1 # first\nquoted: \"a: b\"\nlist: [a, 'b, c', \"d\"]\nempty:\nnone: []\n\
            block:\n  - x\n  - path: src/a.ts\n    exports: [foo]\n    provides: A: module\nmap:\n  a: 1\n  b:\n    c: d\n\
            flush:\n- one\n- two\ntext: |\n  line 1\n  line 2\nurl: http://x.y/z#frag\n---\nbody\n";
        assert_eq!(get(source, &["phase"]), Some(text("01-foundation")));
        assert_eq!(get(source, &["wave"]), Some(text("1")));
        assert_eq!(get(source, &["quoted"]), Some(text("a: b")));
        assert_eq!(get(source, &["list"]), Some(Value::List(vec![text("a"), text("b, c"), text("d")])));
        assert_eq!(get(source, &["empty"]), Some(Value::Empty));
        assert_eq!(get(source, &["none"]), Some(Value::List(vec![])));
        let Some(Value::List(items)) = get(source, &["block"]) else { panic!() };
        assert_eq!(items[0], text("x"));
        assert_eq!(items[1].get("exports"), Some(&Value::List(vec![text("foo")])));
        assert_eq!(items[1].get("provides"), Some(&text("A: module")));
        assert_eq!(get(source, &["map", "b", "c"]), Some(text("d")));
        assert_eq!(get(source, &["flush"]), Some(Value::List(vec![text("one"), text("two")])));
        assert_eq!(get(source, &["text"]), Some(text("line 1\nline 2")));
        assert_eq!(get(source, &["url"]), Some(text("http://x.y/z#frag")));
        assert_eq!(FrontMatter::parse(source).unwrap().body(), "body\n");
    }

    #[test]
    fn an_unclosed_block_is_no_front_matter() {
        assert!(FrontMatter::parse("---\na: 1\n").is_none());
        assert!(FrontMatter::parse("a: 1\n---\n").is_none());
    }

    #[test]
    fn a_key_is_set_without_touching_its_neighbours() {
        let source = "\u{feff}---\r\n# about\r\na:   1   # one\r\nb: [x,y]\r\nc:\r\n  - 1\r\n\r\n# tail\r\n---\r\nbody";
        let front = FrontMatter::parse(source).unwrap();
        assert_eq!(front.with("a", &text("1")), source, "the same value keeps its bytes");
        assert_eq!(front.with("b", &text("2")), source.replace("b: [x,y]", "b: 2"));
        assert_eq!(front.with("c", &Value::List(vec![text("z")])), source.replace("c:\r\n  - 1\r\n", "c: [z]\r\n"));
        assert_eq!(front.with("d", &text("x: y")), source.replace("# tail\r\n---", "# tail\r\nd: \"x: y\"\r\n---"));
    }

    proptest! {
        #[test]
        fn what_is_set_is_read_back_and_nothing_else_changes(
            head in "(k[0-9]: [ -~]{0,10}\n|  - [a-z: ]{0,6}\n|#[a-z]{0,4}\n|\n){0,6}",
            value in "[ -~é🚀]{0,20}",
        ) {
            let source = format!("---\n{head}---\nbody\n");
            let Some(front) = FrontMatter::parse(&source) else { return Ok(()) };
            prop_assume!(front.body() == "body\n");
            let edited = front.with("new", &Value::Text(value.clone()));
            let after = FrontMatter::parse(&edited).unwrap();
            prop_assert_eq!(after.get("new"), Some(Value::Text(value)));
            let start = format!("---\n{head}");
            prop_assert!(edited.starts_with(&start));
            prop_assert!(edited.ends_with("---\nbody\n"));
        }

        #[test]
        fn any_text_is_read(source in "---\n(\\PC{0,10}|[-\\[{\"'|>:# a]{0,12})(\n[-\\[{\"'|>:# a]{0,12}){0,8}\n---\n") {
            if let Some(front) = FrontMatter::parse(&source) {
                let _ = front.entries();
            }
        }
    }
}
