//! Shell words, read letter by letter. The callers decide what ends a command and what cannot be read.

use std::iter::Peekable;
use std::str::Chars;

/// A shell text, and the words read from it so far.
pub(crate) struct Letters<'text> {
    rest: Peekable<Chars<'text>>,
    /// The finished words of the command so far.
    pub(crate) words: Vec<String>,
    word: Option<String>,
    /// The next word is the file of a redirection.
    is_redirected: bool,
}

impl<'text> Letters<'text> {
    pub(crate) fn of(text: &'text str) -> Self {
        Self { rest: text.chars().peekable(), words: Vec::new(), word: None, is_redirected: false }
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        self.rest.next()
    }

    pub(crate) fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    pub(crate) fn next_if(&mut self, is_wanted: impl FnOnce(&char) -> bool) -> Option<char> {
        self.rest.next_if(is_wanted)
    }

    pub(crate) fn is_in_word(&self) -> bool {
        self.word.is_some()
    }

    /// Takes the next letter: part of a word, a quote, a backslash with the letter it escapes, a comment, or a blank.
    pub(crate) fn take(&mut self, letter: char) {
        match letter {
            '\'' | '"' => self.quoted(letter),
            '\\' => match self.rest.next() {
                Some('\n') | None => {}
                Some(next) => self.add(next),
            },
            '#' if self.word.is_none() => while self.rest.next_if(|next| *next != '\n').is_some() {},
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.add(letter),
        }
    }

    pub(crate) fn add(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn quoted(&mut self, quote: char) {
        let word = self.word.get_or_insert_default();
        while let Some(next) = self.rest.next() {
            match next {
                '\\' if quote == '"' => word.extend(self.rest.next()),
                next if next == quote => break,
                next => word.push(next),
            }
        }
    }

    /// Begins a redirection: the number before it and the file after it are not words of the command. `marks` may
    /// follow the first mark.
    pub(crate) fn redirect(&mut self, marks: &[char]) {
        self.word.take_if(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()));
        self.end_word();
        while self.rest.next_if(|next| marks.contains(next)).is_some() {}
        self.is_redirected = true;
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.is_redirected)
        {
            self.words.push(word);
        }
    }

    /// Ends the command and returns its words.
    pub(crate) fn end_command(&mut self) -> Vec<String> {
        self.end_word();
        self.is_redirected = false;
        std::mem::take(&mut self.words)
    }
}
