//! Reading the lines of one entry into a value.

use super::Value;

/// The value of an entry: `text` begins with the line of its key.
pub(super) fn entry(text: &str) -> Value {
    let mut reader = Reader { lines: text.lines().map(Source::new).collect(), next: 0 };
    match reader.block(0) {
        Value::Map(entries) => entries.into_iter().next().map_or(Value::Empty, |(_, value)| value),
        other => other,
    }
}

/// Whether the value on the line of the key opens a bracket or a quote that the entry does not close.
pub(super) fn stays_open(entry: &str) -> bool {
    let first = entry.lines().next().unwrap_or_default();
    let Some((_, rest)) = split_key(first).filter(|(_, rest)| rest.starts_with(['[', '{', '"', '\''])) else {
        return false;
    };
    let mut balance = Balance::default();
    balance.feed(rest);
    for line in entry.lines().skip(1) {
        balance.feed(line.trim());
    }
    balance.is_open()
}

/// A key at the start of a line: `key:` followed by a space or the end.
pub(super) fn top_level_key(line: &str) -> Option<&str> {
    if line.starts_with([' ', '\t', '#', '-']) {
        return None;
    }
    split_key(line).map(|(key, _)| key)
}

/// `key: value` split at the first colon that ends a key.
pub(super) fn split_key(content: &str) -> Option<(&str, &str)> {
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
struct Reader<'text> {
    lines: Vec<Source<'text>>,
    next: usize,
}

/// Deeper nesting than people write is read as text.
const DEEPEST: usize = 64;

impl<'text> Reader<'text> {
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
            if (inner == "-" || inner.starts_with("- ")) && depth < DEEPEST {
                // A list within the list: its first dash stands behind ours.
                self.lines[self.next] = Source { indent: inner_indent, content: inner, ..line };
                items.push(self.list(inner_indent, depth + 1));
                continue;
            }
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
        } else {
            balance.ended = true;
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
        let texts = lines.iter().map(|line| line.raw.get(margin..).unwrap_or("").trim_end());
        let mut text = String::new();
        for line in texts {
            if folded && !line.is_empty() && !text.is_empty() && !text.ends_with('\n') {
                text.push(' ');
            }
            text.push_str(line);
            if !folded || line.is_empty() {
                text.push('\n');
            }
        }
        text.truncate(text.trim_end().len());
        if !text.is_empty() && !header.contains('-') {
            text.push('\n');
        }
        Value::Text(text)
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

/// The bytes of a value that is written on one line, without a comment behind it.
pub(super) fn value_without_comment(text: &str) -> &str {
    if text.starts_with(['[', '{', '"', '\'']) {
        return Balance::default().feed(text).map_or(text, |length| &text[..length]);
    }
    without_comment(text)
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

/// Whether the brackets or the quote that a value begins with are closed, fed piece by piece so that a long open value
/// costs one pass. What follows the end, such as a comment, does not count.
#[derive(Debug, Default)]
struct Balance {
    depth: usize,
    quote: Option<char>,
    escaped: bool,
    previous: Option<char>,
    ended: bool,
}

impl Balance {
    /// Takes more text and gives the length up to the end of the value, if that is in it.
    fn feed(&mut self, text: &str) -> Option<usize> {
        for (at, letter) in text.char_indices() {
            if self.ended {
                return None;
            }
            let previous = self.previous;
            if !letter.is_whitespace() {
                self.previous = Some(letter);
            }
            if std::mem::take(&mut self.escaped) {
                continue;
            }
            match (self.quote, letter) {
                (Some('"'), '\\') => self.escaped = true,
                (Some(open), _) if letter == open => {
                    self.quote = None;
                    // A doubled single quote is one quote of the text.
                    self.ended = self.depth == 0 && !(open == '\'' && text[at + 1..].starts_with('\''));
                }
                (None, '"' | '\'') if previous.is_none_or(|before| matches!(before, '[' | '{' | ',' | ':' | '\'')) => {
                    self.quote = Some(letter);
                }
                (None, '[' | '{') => self.depth += 1,
                (None, ']' | '}') => {
                    self.depth = self.depth.saturating_sub(1);
                    self.ended = self.depth == 0;
                }
                _ => {}
            }
            if self.ended {
                return Some(at + letter.len_utf8());
            }
        }
        None
    }

    fn is_open(&self) -> bool {
        !self.ended
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
