//! A shell text as lists of plain commands: `a && b; c | d`. It is read just enough to decide whether it may fail.

use crate::text::shell::Letters;
use crate::text::words::word_list;

/// How a command is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    And,
    Or,
    Pipe,
}

/// One command of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedCommand {
    pub(crate) joint: Joint,
    pub(crate) words: Vec<String>,
}

/// Words with which a shell decides what runs.
const KEYWORDS: &[&str] = word_list!("if then else elif fi for while until do done case esac function ! { } [[");

/// The lists of a text; `None` if it has more than plain commands.
pub(crate) fn lists_of(text: &str) -> Option<Vec<Vec<ListedCommand>>> {
    read(text, false)
}

/// As [`lists_of`], with each group as a command of two words: `(` or `{`, and its contents.
pub(crate) fn lists_with_groups(text: &str) -> Option<Vec<Vec<ListedCommand>>> {
    read(text, true)
}

fn read(text: &str, has_groups: bool) -> Option<Vec<Vec<ListedCommand>>> {
    let letters = Letters::of(text);
    let mut reader = ListReader { has_groups, letters, lists: vec![Vec::new()], joint: Joint::And };
    while let Some(letter) = reader.letters.next() {
        reader.take(letter)?;
    }
    reader.end_command()?;
    reader.lists.retain(|list| !list.is_empty());
    Some(reader.lists)
}

struct ListReader<'text> {
    has_groups: bool,
    letters: Letters<'text>,
    lists: Vec<Vec<ListedCommand>>,
    joint: Joint,
}

impl ListReader<'_> {
    fn take(&mut self, letter: char) -> Option<()> {
        match letter {
            '(' | '{' if self.begins_group(letter) => return self.group(letter),
            // A file read with `<` has to exist.
            '(' | ')' | '`' | '<' => return None,
            '$' if self.letters.peek() == Some('(') => return None,
            // `2>&1`
            '>' => self.letters.redirect(&['>', '&']),
            ';' | '\n' | '&' | '|' => return self.joined(letter),
            letter => self.letters.take(letter),
        }
        Some(())
    }

    fn begins_group(&mut self, letter: char) -> bool {
        let is_first = self.has_groups && !self.letters.is_in_word() && self.letters.words.is_empty();
        is_first && (letter == '(' || self.letters.peek().is_some_and(char::is_whitespace))
    }

    /// Reads to the end of a group.
    fn group(&mut self, open: char) -> Option<()> {
        let close = if open == '(' { ')' } else { '}' };
        let (mut depth, mut quote, mut inside) = (1, None, String::new());
        while let Some(next) = self.letters.next() {
            match quote {
                Some(mark) if next == mark => quote = None,
                None if matches!(next, '\'' | '"') => quote = Some(next),
                None if next == open => depth += 1,
                None if next == close => depth -= 1,
                Some(_) | None => {}
            }
            if depth == 0 {
                self.letters.words = vec![open.to_string(), inside];
                return Some(());
            }
            inside.push(next);
        }
        None
    }

    fn joined(&mut self, letter: char) -> Option<()> {
        self.end_command()?;
        let is_double = matches!(letter, '&' | '|') && self.letters.next_if(|next| *next == letter).is_some();
        self.joint = match (letter, is_double) {
            ('&', true) => Joint::And,
            ('|', true) => Joint::Or,
            ('|', false) => Joint::Pipe,
            // The result of a background command is lost.
            ('&', false) => return None,
            _ => {
                self.lists.push(Vec::new());
                Joint::And
            }
        };
        Some(())
    }

    fn end_command(&mut self) -> Option<()> {
        let words = self.letters.end_command();
        let is_group = self.has_groups && matches!(words.as_slice(), [open, _] if open == "{");
        if !is_group && words.first().is_some_and(|first| KEYWORDS.contains(&first.as_str())) {
            return None;
        }
        if !words.is_empty() {
            self.lists.last_mut()?.push(ListedCommand { joint: self.joint, words });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let list = |list: &Vec<ListedCommand>| {
            let command = |command: &ListedCommand| format!("{:?} {}", command.joint, command.words.join(","));
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
