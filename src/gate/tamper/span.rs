//! Queries on tokens by their indexes and lines.

use super::lexer::{Kind, Token};

/// The tokens of a source, or a part of them.
pub(super) trait Span<'text> {
    /// The token that is `by` places before the one at `at`.
    fn before(&self, at: usize, by: usize) -> Option<&Token<'text>>;
    fn word(&self, at: usize) -> Option<&Token<'text>>;
    fn is_mark(&self, at: usize, mark: &str) -> bool;
    fn is_word(&self, at: usize, word: &str) -> bool;
    /// True if a token is the first of its line.
    fn begins_line(&self, at: usize) -> bool;
    /// The index of the first token of a line, or of the next line that has one.
    fn start_of(&self, line: usize) -> usize;
    /// The first token of a line, or of the next line that has one.
    fn first_of(&self, line: usize) -> Option<&Token<'text>>;
    /// How far a line is indented.
    fn column_of(&self, line: usize) -> usize;
    fn on_line(&self, line: usize) -> &[Token<'text>];
    fn place_of(&self, token: &Token<'_>) -> usize;
    /// The tokens from an index on that are indented deeper than `column`, the column of what began on `line`.
    fn block(&self, from: usize, line: usize, column: usize) -> &[Token<'text>];
    fn has_word(&self, word: &str) -> bool;
    fn has_mark(&self, mark: &str) -> bool;
    /// The indexes at which consecutive tokens are words or marks with these texts.
    fn find(&self, pattern: &[&str]) -> impl Iterator<Item = usize>;
    fn has(&self, pattern: &[&str]) -> bool {
        self.find(pattern).next().is_some()
    }
    /// The words that are followed by an opening bracket.
    fn called(&self) -> impl Iterator<Item = &'text str>;
    /// The texts of the tokens, separated.
    fn said(&self) -> String;
}

impl<'text> Span<'text> for [Token<'text>] {
    fn before(&self, at: usize, by: usize) -> Option<&Token<'text>> {
        self.get(at.checked_sub(by)?)
    }

    fn word(&self, at: usize) -> Option<&Token<'text>> {
        self.get(at).filter(|token| token.kind == Kind::Word)
    }

    fn is_mark(&self, at: usize, mark: &str) -> bool {
        self.get(at).is_some_and(|token| token.is_mark(mark))
    }

    fn is_word(&self, at: usize, word: &str) -> bool {
        self.get(at).is_some_and(|token| token.is_word(word))
    }

    fn begins_line(&self, at: usize) -> bool {
        self.before(at, 1).map(|before| before.line) != self.get(at).map(|token| token.line)
    }

    fn start_of(&self, line: usize) -> usize {
        self.partition_point(|token| token.line < line)
    }

    fn first_of(&self, line: usize) -> Option<&Token<'text>> {
        self.get(self.start_of(line))
    }

    fn column_of(&self, line: usize) -> usize {
        self.first_of(line).map_or(0, |first| first.column)
    }

    fn on_line(&self, line: usize) -> &[Token<'text>] {
        self.get(self.start_of(line)..self.start_of(line + 1)).unwrap_or_default()
    }

    fn place_of(&self, token: &Token<'_>) -> usize {
        self.partition_point(|other| (other.line, other.column) < (token.line, token.column))
    }

    fn block(&self, from: usize, line: usize, column: usize) -> &[Token<'text>] {
        let rest = self.get(from..).unwrap_or_default();
        let end = rest.iter().position(|token| token.line > line && token.column <= column && !token.closes());
        rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
    }

    fn has_word(&self, word: &str) -> bool {
        self.iter().any(|token| token.is_word(word))
    }

    fn has_mark(&self, mark: &str) -> bool {
        self.iter().any(|token| token.is_mark(mark))
    }

    fn find(&self, pattern: &[&str]) -> impl Iterator<Item = usize> {
        let is_it = |(token, part): (&Token<'_>, &&str)| token.is_mark(part) || token.is_word(part);
        let places = self.windows(pattern.len().max(1)).enumerate();
        places.filter(move |(_, tokens)| tokens.iter().zip(pattern).all(is_it)).map(|(at, _)| at)
    }

    fn called(&self) -> impl Iterator<Item = &'text str> {
        self.windows(2).filter(|pair| pair[0].kind == Kind::Word && pair[1].is_mark("(")).map(|pair| pair[0].text)
    }

    fn said(&self) -> String {
        self.iter().map(|token| token.text).collect::<Vec<_>>().join("\u{1}")
    }
}
