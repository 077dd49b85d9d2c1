//! A word of a command, in the parts from which a shell builds it.

use super::read::Command;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<WordPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WordPart {
    Text {
        text: String,
        quoted: bool,
    },
    /// `$NAME`; with a fallback, `${NAME:-fallback}`. The shell splits the value at blanks only if it is not quoted.
    Variable {
        name: String,
        fallback: Vec<WordPart>,
        quoted: bool,
    },
    /// `$(...)` and similar forms.
    Substitution {
        commands: Vec<Command>,
        quoted: bool,
    },
    /// `<(...)` and `>(...)`: a file connected to the commands.
    Process(Vec<Command>),
    /// The result of `${NAME%...}` and similar forms.
    Made(String),
    /// Something that only the shell knows.
    Unknown,
}

impl Word {
    pub(super) fn push(&mut self, letter: char, quoted: bool) {
        match self.parts.last_mut() {
            Some(WordPart::Text { text, quoted: last }) if *last == quoted => text.push(letter),
            _ => self.parts.push(WordPart::Text { text: letter.into(), quoted }),
        }
    }

    /// Empty quotes are a word too.
    pub(super) fn open_quotes(&mut self) {
        if self.parts.is_empty() {
            self.parts.push(WordPart::Text { text: String::new(), quoted: true });
        }
    }

    /// The text of a word that consists only of text.
    pub(super) fn plain(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|part| match part {
                WordPart::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// True if the word is `name`, without quotes.
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(self.parts.as_slice(), [WordPart::Text { text, quoted: false }] if text == name)
    }

    pub(super) fn digits(&self) -> bool {
        matches!(self.parts.as_slice(), [WordPart::Text { text, quoted: false }]
            if text.chars().all(|letter| letter.is_ascii_digit()))
    }

    /// Splits `NAME=value` into its two sides. An assigned value is not split at blanks, with or without quotes.
    pub(super) fn assignment(&self) -> Option<(String, Word)> {
        let Some(WordPart::Text { text, quoted: false }) = self.parts.first() else { return None };
        let (name, value) = text.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) || !name.chars().all(is_of_name) {
            return None;
        }
        let mut parts = vec![WordPart::Text { text: value.to_owned(), quoted: false }];
        parts.extend(self.parts[1..].iter().cloned().map(|mut part| {
            if let WordPart::Variable { quoted, .. } | WordPart::Substitution { quoted, .. } = &mut part {
                *quoted = true;
            }
            part
        }));
        Some((name.to_owned(), Word { parts }))
    }
}

/// True if a letter may be in the name of a variable.
pub(super) fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
