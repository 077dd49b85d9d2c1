//! A word of a command, in the parts that a shell makes it of.

use super::read::Command;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text {
        text: String,
        quoted: bool,
    },
    /// `$NAME`; with a fallback, `${NAME:-fallback}`. Only without quotes the shell splits the value at blanks.
    Variable {
        name: String,
        fallback: Vec<Part>,
        quoted: bool,
    },
    /// `$(...)` and what is like it.
    Substitution {
        commands: Vec<Command>,
        quoted: bool,
    },
    /// `<(...)` and `>(...)`: a file through which the commands are heard.
    Process(Vec<Command>),
    /// What `${NAME%...}` and the like make of a variable.
    Made(String),
    /// Something that only the shell knows.
    Unknown,
}

impl Word {
    pub(super) fn push(&mut self, letter: char, quoted: bool) {
        match self.parts.last_mut() {
            Some(Part::Text { text, quoted: last }) if *last == quoted => text.push(letter),
            _ => self.parts.push(Part::Text { text: letter.into(), quoted }),
        }
    }

    /// Empty quotes are a word too.
    pub(super) fn open_quotes(&mut self) {
        if self.parts.is_empty() {
            self.parts.push(Part::Text { text: String::new(), quoted: true });
        }
    }

    /// The text of a word that is nothing but text.
    pub(super) fn plain(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Whether the word is this one, without quotes.
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(self.parts.as_slice(), [Part::Text { text, quoted: false }] if text == name)
    }

    pub(super) fn digits(&self) -> bool {
        matches!(self.parts.as_slice(), [Part::Text { text, quoted: false }]
            if text.chars().all(|letter| letter.is_ascii_digit()))
    }

    /// `NAME=value` as its two sides. What is assigned is not split at blanks, with or without quotes.
    pub(super) fn assignment(&self) -> Option<(String, Word)> {
        let Some(Part::Text { text, quoted: false }) = self.parts.first() else { return None };
        let (name, value) = text.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) || !name.chars().all(is_of_name) {
            return None;
        }
        let mut parts = vec![Part::Text { text: value.to_owned(), quoted: false }];
        parts.extend(self.parts[1..].iter().cloned().map(|mut part| {
            if let Part::Variable { quoted, .. } | Part::Substitution { quoted, .. } = &mut part {
                *quoted = true;
            }
            part
        }));
        Some((name.to_owned(), Word { parts }))
    }
}

/// Whether a letter may be in the name of a variable.
pub(super) fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
