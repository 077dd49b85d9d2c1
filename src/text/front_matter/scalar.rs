//! Values in one piece: plain, quoted, inline lists and maps.

use super::Value;

/// Deeper nesting than people write is read as text.
pub(super) const DEEPEST: usize = 64;

/// The result of reading a piece of text.
pub(super) struct Scalar {
    pub(super) value: Value,
    /// Its length in bytes; only a comment may follow.
    pub(super) length: usize,
    /// True if it begins with a bracket or quote that is never closed, so that it is read as plain text.
    pub(super) stays_open: bool,
}

/// Whether the quotes around a text are part of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    Removed,
    Kept,
}

impl Quotes {
    /// The text of a quotation at the start of `whole`; `rest` is what follows it.
    fn of(self, whole: &str, text: String, rest: &str) -> String {
        match self {
            Self::Removed => text,
            Self::Kept => whole[..whole.len() - rest.len()].to_owned(),
        }
    }
}

/// Reads a piece of text. Line breaks inside count as spaces.
pub(super) fn read_scalar(text: &str, quotes: Quotes) -> Scalar {
    let mut flow = Flow { rest: text, depth: 0, quotes };
    let (whole, stays_open) = match text.chars().next() {
        Some('[' | '{') => {
            let value = flow.value();
            let stays_open = value.is_none() && flow.rest.trim().is_empty();
            (value.map(|value| (value, flow.rest)), stays_open)
        }
        Some('"' | '\'') => {
            let found = quoted(text);
            let stays_open = found.is_none();
            (found.map(|(value, rest)| (Value::Text(quotes.of(text, value, rest)), rest)), stays_open)
        }
        _ => (None, false),
    };
    match whole {
        Some((value, rest)) if is_comment(rest) => Scalar { value, length: text.len() - rest.len(), stays_open: false },
        _ => Scalar { stays_open, ..plain(text) },
    }
}

fn is_comment(rest: &str) -> bool {
    let trimmed = rest.trim_start();
    trimmed.is_empty() || (trimmed.starts_with('#') && trimmed.len() < rest.len())
}

fn plain(text: &str) -> Scalar {
    let mut value = String::new();
    let mut end = 0;
    let mut position = 0;
    for line in text.split_inclusive('\n') {
        let content = without_comment(line);
        let piece = content.trim();
        if !piece.is_empty() {
            if !value.is_empty() {
                value.push(' ');
            }
            value.push_str(piece);
            end = position + content.trim_end().len();
        }
        position += line.len();
    }
    Scalar { value: Value::Text(value), length: end, stays_open: false }
}

/// The text up to a comment.
pub(super) fn without_comment(text: &str) -> &str {
    let comment = text.match_indices('#').map(|(at, _)| at).find(|at| opens_comment(text, *at));
    comment.map_or(text, |at| &text[..at]).trim_end()
}

/// True if the `#` at this byte opens a comment: it is at the start or after white space. That is enough in YAML, but
/// people and programs write `PR #152` and `asked in #general` without quotes and mean text. So a `#` before a digit is
/// text, and a `#` before another letter is text if more than one word precedes it.
pub(super) fn opens_comment(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let is_apart = before.is_empty() || before.ends_with([' ', '\t', '\r', '\n']);
    let begins_word = match text[at + 1..].chars().next() {
        Some(next) if next.is_ascii_digit() => true,
        Some(next) => next.is_alphanumeric() && before.trim().contains([' ', '\t']),
        None => false,
    };
    is_apart && !begins_word
}

/// The content of a quoted text at the start, and the rest.
pub(super) fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == quote => {
                if quote == '"' || letters.next_if(|(_, next)| *next == '\'').is_none() {
                    return Some((value, &text[at + 1..]));
                }
                value.push('\'');
            }
            '\n' => {
                // A line break and the white space around it are one space.
                value.truncate(value.trim_end_matches([' ', '\t', '\r']).len());
                while letters.next_if(|(_, next)| matches!(next, ' ' | '\t' | '\r' | '\n')).is_some() {}
                value.push(' ');
            }
            '\\' if quote == '"' => {
                let escaped = letters.next()?.1;
                match escaped {
                    'x' => value.push(from_hex(&mut letters, 2)),
                    'u' => value.push(from_hex(&mut letters, 4)),
                    'U' => value.push(from_hex(&mut letters, 8)),
                    other => value.push(unescaped(other)),
                }
            }
            other => value.push(other),
        }
    }
    None
}

fn unescaped(letter: char) -> char {
    match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        other => other,
    }
}

type Letters<'text> = std::iter::Peekable<std::iter::Skip<std::str::CharIndices<'text>>>;

fn from_hex(letters: &mut Letters<'_>, digits: usize) -> char {
    let mut code = 0;
    for _ in 0..digits {
        let Some(digit) = letters.peek().and_then(|(_, letter)| letter.to_digit(16)) else { break };
        letters.next();
        code = code * 16 + digit;
    }
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Inline lists and maps.
struct Flow<'text> {
    rest: &'text str,
    depth: usize,
    quotes: Quotes,
}

impl Flow<'_> {
    fn value(&mut self) -> Option<Value> {
        self.skip_blank();
        if self.depth > DEEPEST {
            return None;
        }
        self.depth += 1;
        let value = match self.rest.chars().next() {
            Some('[') => self.list(),
            Some('{') => self.map(),
            Some('"' | '\'') => {
                let (text, rest) = quoted(self.rest)?;
                let text = self.quotes.of(self.rest, text, rest);
                self.rest = rest;
                Some(Value::Text(text))
            }
            _ => Some(match self.plain(false) {
                text if text.is_empty() => Value::Empty,
                text => Value::Text(text),
            }),
        };
        self.depth -= 1;
        value
    }

    /// Skips white space and comments.
    fn skip_blank(&mut self) {
        loop {
            let trimmed = self.rest.trim_start();
            let behind_blank = trimmed.len() < self.rest.len();
            self.rest = trimmed;
            if !(behind_blank && trimmed.starts_with('#') && opens_comment(trimmed, 0)) {
                return;
            }
            self.rest = trimmed.find('\n').map_or("", |newline| &trimmed[newline..]);
        }
    }

    /// Reads plain text up to a mark of the list or map; a key also ends at its colon.
    fn plain(&mut self, is_key: bool) -> String {
        let ends = |(at, letter): &(usize, char)| {
            matches!(letter, ',' | '[' | ']' | '{' | '}')
                || (*letter == '#' && *at > 0 && opens_comment(self.rest, *at))
                || (is_key && *letter == ':')
        };
        let end = self.rest.char_indices().find(ends).map_or(self.rest.len(), |(at, _)| at);
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// After an item: skips a comma; otherwise the closing mark must be next.
    fn separator(&mut self, close: char) -> Option<()> {
        self.skip_blank();
        match self.rest.strip_prefix(',') {
            Some(rest) => self.rest = rest,
            None if self.rest.starts_with(close) => {}
            None => return None,
        }
        Some(())
    }

    fn list(&mut self) -> Option<Value> {
        self.rest = &self.rest[1..];
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            if let Some(rest) = self.rest.strip_prefix(']') {
                self.rest = rest;
                return Some(Value::List(items));
            }
            if self.rest.is_empty() || self.rest.starts_with(',') {
                return None;
            }
            items.push(self.value()?);
            self.separator(']')?;
        }
    }

    fn map(&mut self) -> Option<Value> {
        self.rest = &self.rest[1..];
        let mut entries = Vec::new();
        loop {
            self.skip_blank();
            if let Some(rest) = self.rest.strip_prefix('}') {
                self.rest = rest;
                return Some(Value::Map(entries));
            }
            let key = match quoted(self.rest) {
                Some((key, rest)) => {
                    self.rest = rest;
                    key
                }
                None => self.plain(true),
            };
            self.skip_blank();
            self.rest = self.rest.strip_prefix(':')?;
            let value = self.value()?;
            entries.push((key, value));
            self.separator('}')?;
        }
    }
}
