//! A text of a shell as lists of plain commands: `a && b; c | d`. Only so much that it can be said whether it may fail.

use std::iter::Peekable;
use std::str::Chars;

/// What stands between a command and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    And,
    Or,
    Pipe,
}

/// One command of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) joint: Joint,
    pub(crate) words: Vec<String>,
}

/// Words by which a shell decides what runs.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "!", "{",
    "}", "[[",
];

/// The lists of a text; `None` where it has more than plain commands.
pub(crate) fn lists_of(text: &str) -> Option<Vec<Vec<Command>>> {
    read(text, false)
}

/// As [`lists_of`], with each group as a command of two words: `(` or `{`, and what stands in it.
pub(crate) fn lists_with_groups(text: &str) -> Option<Vec<Vec<Command>>> {
    read(text, true)
}

fn read(text: &str, has_groups: bool) -> Option<Vec<Vec<Command>>> {
    let mut reader = Reader {
        has_groups,
        letters: text.chars().peekable(),
        lists: vec![Vec::new()],
        joint: Joint::And,
        words: Vec::new(),
        word: None,
        is_redirected: false,
    };
    while let Some(letter) = reader.letters.next() {
        reader.take(letter)?;
    }
    reader.end_command()?;
    reader.lists.retain(|list| !list.is_empty());
    Some(reader.lists)
}

struct Reader<'text> {
    has_groups: bool,
    letters: Peekable<Chars<'text>>,
    lists: Vec<Vec<Command>>,
    joint: Joint,
    words: Vec<String>,
    word: Option<String>,
    /// Whether the next word is a file that output goes to.
    is_redirected: bool,
}

impl Reader<'_> {
    fn take(&mut self, letter: char) -> Option<()> {
        match letter {
            '\'' | '"' => self.quoted(letter),
            '\\' => match self.letters.next() {
                Some('\n') | None => {}
                Some(next) => self.add(next),
            },
            '(' | '{' if self.begins_group(letter) => return self.group(letter),
            // What is read by `<` has to be there.
            '(' | ')' | '`' | '<' => return None,
            '$' if self.letters.peek() == Some(&'(') => return None,
            '#' if self.word.is_none() => {
                while self.letters.peek().is_some_and(|next| *next != '\n') {
                    self.letters.next();
                }
            }
            '>' => self.redirected(),
            ';' | '\n' | '&' | '|' => return self.joined(letter),
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.add(letter),
        }
        Some(())
    }

    fn begins_group(&mut self, letter: char) -> bool {
        let is_first = self.has_groups && self.word.is_none() && self.words.is_empty();
        is_first && (letter == '(' || self.letters.peek().is_some_and(|next| next.is_whitespace()))
    }

    /// Reads to the end of a group.
    fn group(&mut self, open: char) -> Option<()> {
        let close = if open == '(' { ')' } else { '}' };
        let (mut depth, mut quote, mut inside) = (1, None, String::new());
        for next in self.letters.by_ref() {
            match quote {
                Some(mark) if next == mark => quote = None,
                None if matches!(next, '\'' | '"') => quote = Some(next),
                None if next == open => depth += 1,
                None if next == close => depth -= 1,
                Some(_) | None => {}
            }
            if depth == 0 {
                self.words = vec![open.to_string(), inside];
                return Some(());
            }
            inside.push(next);
        }
        None
    }

    fn add(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn quoted(&mut self, quote: char) {
        let word = self.word.get_or_insert_default();
        while let Some(next) = self.letters.next() {
            match next {
                '\\' if quote == '"' => word.extend(self.letters.next()),
                next if next == quote => break,
                next => word.push(next),
            }
        }
    }

    fn redirected(&mut self) {
        // `2>&1`
        self.word.take_if(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()));
        self.end_word();
        while self.letters.next_if(|next| matches!(next, '>' | '&')).is_some() {}
        self.is_redirected = true;
    }

    fn joined(&mut self, letter: char) -> Option<()> {
        self.end_command()?;
        let is_double = matches!(letter, '&' | '|') && self.letters.next_if_eq(&letter).is_some();
        self.joint = match (letter, is_double) {
            ('&', true) => Joint::And,
            ('|', true) => Joint::Or,
            ('|', false) => Joint::Pipe,
            // What goes on beside it has no result.
            ('&', false) => return None,
            _ => {
                self.lists.push(Vec::new());
                Joint::And
            }
        };
        Some(())
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            // Where output goes is no argument.
            if !std::mem::take(&mut self.is_redirected) {
                self.words.push(word);
            }
        }
    }

    fn end_command(&mut self) -> Option<()> {
        self.end_word();
        self.is_redirected = false;
        let is_group = self.has_groups && matches!(self.words.as_slice(), [open, _] if open == "{");
        if !is_group && self.words.first().is_some_and(|first| KEYWORDS.contains(&first.as_str())) {
            return None;
        }
        if !self.words.is_empty() {
            let command = Command { joint: self.joint, words: std::mem::take(&mut self.words) };
            self.lists.last_mut()?.push(command);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let list = |list: &Vec<Command>| {
            let command = |command: &Command| format!("{:?} {}", command.joint, command.words.join(","));
            list.iter().map(command).collect::<Vec<_>>().join(" / ")
        };
        Some(lists_of(text)?.iter().map(list).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn plain_commands_are_read_and_everything_else_is_refused() {
        for (text, expected) in [
            ("a 'b c' && d || e", "And a,b c / And d / Or e"),
            ("a > out.txt 2>&1 | b; c", "And a / Pipe b\nAnd c"),
            ("a \\\n b # c; d\n\ne \"f\\\"g\" ''", "And a,b\nAnd e,f\"g,"),
            ("", ""),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        let group = lists_with_groups("(a; (b)) && { c \"}\" || d; }; e").unwrap();
        let words: Vec<&str> = group.iter().flatten().flat_map(|command| &command.words).map(String::as_str).collect();
        assert_eq!(words, ["(", "a; (b)", "{", " c \"}\" || d; ", "e"]);
        for text in ["(a", "{ a", "f() { a; }"] {
            assert_eq!(lists_with_groups(text), None, "{text}");
        }
        for text in ["a $(b)", "(a)", "a < b", "a <<E", "a & b", "if a; then b; fi", "! a", "`a`"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
