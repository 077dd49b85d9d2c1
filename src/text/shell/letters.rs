//! Words of a shell, taken letter by letter. What ends a command, and what cannot be read, is for the callers to know.

use std::iter::Peekable;
use std::str::Chars;

/// A text of a shell, and the words that were taken from it.
pub(crate) struct Letters<'text> {
    rest: Peekable<Chars<'text>>,
    /// The words of the command so far, but for one that has not ended.
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

    /// Takes a letter that was next: of a word, a quote, what a backslash stands before, a comment, or a blank.
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

    /// Begins a redirection: neither the number before it nor the file behind it is a word of the command. `marks` may follow
    /// the first mark.
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

    /// Ends the command, and hands its words over.
    pub(crate) fn end_command(&mut self) -> Vec<String> {
        self.end_word();
        self.is_redirected = false;
        std::mem::take(&mut self.words)
    }
}
