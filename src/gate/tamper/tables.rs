//! Tables of cases: each row is a test. A missing row is rewritten, changed, or lost.

use std::collections::HashSet;

use super::facts::Facts;
use super::file::{TestFile, TestRole};
use super::finding::{Finding, Weakening};
use super::lexer::{Kind, Language, Token};
use super::span::Span as _;

/// One row of a table.
#[derive(Debug)]
struct CaseRow<'text> {
    line: usize,
    key: String,
    shape: String,
    shown: String,
    literals: Vec<&'text str>,
    /// The table of the file that it belongs to.
    table: usize,
}

/// The rows that are gone.
pub(super) fn lost(files: &[TestFile<'_>]) -> Vec<Finding> {
    let after: Vec<Vec<CaseRow<'_>>> =
        files.iter().map(|file| file.after.as_ref().map(rows_of).unwrap_or_default()).collect();
    let there: HashSet<&str> = after.iter().flatten().map(|row| row.key.as_str()).collect();
    let new: Vec<Vec<&str>> = files.iter().map(new_literals).collect();
    let mut found = Vec::new();
    for (number, file) in files.iter().enumerate().filter(|(_, file)| file.role != TestRole::Setup) {
        let before = file.before.as_ref().map(rows_of).unwrap_or_default();
        let known: HashSet<&str> = before.iter().map(|row| row.key.as_str()).collect();
        let is_new = |row: &&CaseRow<'_>| !known.contains(row.key.as_str());
        let fresh = |number: usize| after.get(number).into_iter().flatten().filter(is_new);
        for row in before.iter().filter(|row| !there.contains(row.key.as_str())) {
            if new.iter().any(|all| stands_in(all, &row.literals))
                || has_other_columns(row, &before, &there, fresh(number))
            {
                continue;
            }
            let moved = (0..files.len())
                .filter(|other| *other == number || file.after.is_none() && files[*other].before.is_none());
            let is_changed = moved.into_iter().any(|other| fresh(other).any(|other| other.shape == row.shape));
            let (kind, what) = if is_changed {
                (Weakening::ChangedExpectation, format!("the case `{}` is another one now", row.shown))
            } else {
                (Weakening::RemovedAssertion, format!("the case `{}` is gone", row.shown))
            };
            found.push(Finding::new(file.path, row.line, kind, what));
        }
    }
    found
}

/// True if all rows of a table now have more or fewer columns.
fn has_other_columns<'a>(
    row: &CaseRow<'_>,
    before: &[CaseRow<'_>],
    there: &HashSet<&str>,
    fresh: impl Iterator<Item = &'a CaseRow<'a>>,
) -> bool {
    let mut own = before.iter().filter(|other| other.table == row.table);
    let count = own.clone().count();
    own.all(|other| !there.contains(other.key.as_str()))
        && fresh.filter(|other| other.literals.len() != row.literals.len()).count() >= count
}

fn new_literals<'text>(file: &TestFile<'text>) -> Vec<&'text str> {
    file.new_tokens().filter(|token| token.is_literal()).map(|token| token.text).collect()
}

/// True if values are next to each other, in their order.
fn stands_in(all: &[&str], wanted: &[&str]) -> bool {
    all.windows(wanted.len().max(1)).any(|window| window == wanted)
}

/// The rows of all tables of a source.
fn rows_of<'text>(facts: &Facts<'text>) -> Vec<CaseRow<'text>> {
    let mut rows = Vec::new();
    for at in 0..facts.tokens.len() {
        facts.table_at(at, &mut rows);
    }
    rows
}

/// Marks of a test, each of which is one case.
const MARKS: &[&str] = &["InlineData", "TestCase", "DataRow", "case", "test_case"];

impl<'text> Facts<'text> {
    /// Adds the rows of the table that the word at `at` begins.
    fn table_at(&self, at: usize, rows: &mut Vec<CaseRow<'text>>) {
        let tokens = &self.tokens;
        let Some(token) = tokens.word(at) else { return };
        let language = self.language;
        let is_method = at > 0 && self.tokens.is_mark(at - 1, ".");
        let list = match (language, token.text) {
            (Language::Script, "each") if is_method => match tokens.get(at + 1) {
                Some(text) if text.kind == Kind::Text => return tagged(text, at, rows),
                _ if self.tokens.is_mark(at + 1, "(") => self.list_from(at + 2),
                _ => None,
            },
            (Language::Script, "forEach") | (Language::Ruby, "each") if is_method && at > 1 => {
                let close =
                    if self.tokens.is_mark(at - 2, "]") { self.partner(at - 2) } else { self.list_from(at - 2) };
                close.filter(|list| self.asserts_below(at, self.partner(*list).unwrap_or(at).max(at)))
            }
            (Language::Python, "parametrize") if self.tokens.is_mark(at + 1, "(") => {
                let close = self.partner(at + 1).unwrap_or(at);
                let comma = (at + 2..close).find(|index| self.tokens.is_mark(*index, ","));
                comma.and_then(|comma| self.list_from(comma + 1))
            }
            (Language::Go, "struct") if self.tokens.is_mark(at + 1, "{") => {
                self.partner(at + 1).map(|close| close + 1).filter(|open| self.tokens.is_mark(*open, "{"))
            }
            (Language::Script | Language::Python | Language::Rust, "of" | "in") => {
                // `x in ["a", "b"]` only asks for one of several.
                let is_loop = tokens[tokens.start_of(token.line)..at].has_word("for");
                let is_list = self.tokens.is_mark(at + 1, "[") || self.tokens.is_mark(at + 1, "(");
                let behind = if is_list { self.partner(at + 1).unwrap_or(at) } else { at + 1 };
                self.list_from(at + 1).filter(|_| is_loop && self.asserts_below(at, behind))
            }
            (Language::Braces, "CsvSource" | "ValueSource") if self.tokens.is_mark(at + 1, "(") => {
                let close = self.partner(at + 1).unwrap_or(at);
                let values = (at + 2..close).filter(|index| tokens[*index].is_literal());
                rows.extend(values.map(|index| row(&tokens[index..=index], at)));
                return;
            }
            (Language::Braces | Language::Rust, name) if MARKS.contains(&name) && self.tokens.is_mark(at + 1, "(") => {
                let is_mark = at > 0 && (self.tokens.is_mark(at - 1, "[") || self.tokens.is_mark(at - 1, ":"));
                let inside = tokens.get(at + 2..self.partner(at + 1).unwrap_or(at));
                rows.extend(inside.filter(|inside| is_mark && !inside.is_empty()).map(|inside| row(inside, at)));
                return;
            }
            _ => None,
        };
        if let Some(open) = list {
            self.elements(open, at, rows);
        }
    }

    /// The opening bracket of the list at `at`, or of the list assigned to the name there.
    fn list_from(&self, at: usize) -> Option<usize> {
        let at = if self.tokens.is_mark(at, "&") { at + 1 } else { at };
        if self.tokens.is_mark(at, "[") || self.language == Language::Python && self.tokens.is_mark(at, "(") {
            return Some(at);
        }
        let tokens = &self.tokens;
        let name = tokens.word(at)?;
        // A part of a list is not the list.
        if self.tokens.is_mark(at + 1, ".")
            && !tokens.get(at + 2).is_some_and(|next| matches!(next.text, "each" | "forEach" | "iter" | "into_iter"))
        {
            return None;
        }
        let given = (0..tokens.len()).find(|index| {
            tokens[*index].is_word(name.text)
                && (index + 1..(index + 24).min(tokens.len()))
                    .take_while(|next| tokens[*next].line == tokens[*index].line)
                    .find(|next| self.tokens.is_mark(*next, "="))
                    .is_some_and(|equals| {
                        self.tokens.is_mark(equals + 1, "[")
                            && (equals == index + 1 || self.tokens.is_mark(index + 1, ":"))
                    })
        })?;
        (given..given + 26).find(|index| self.tokens.is_mark(*index, "=")).map(|equals| equals + 1)
    }

    /// True if the body of a loop asserts or tests something: after the token at `behind`, and indented deeper than the
    /// line of `at`.
    fn asserts_below(&self, at: usize, behind: usize) -> bool {
        let tokens = &self.tokens;
        let (Some(begin), Some(end)) = (tokens.get(at), tokens.get(behind)) else { return false };
        let column = tokens.column_of(begin.line);
        let ends = |at: &usize| {
            let token = &tokens[*at];
            let is_bracket = ["]", ")", "{"].iter().any(|mark| token.is_mark(mark));
            token.line > end.line && tokens.begins_line(*at) && token.column <= column && !is_bracket
        };
        let last = (behind..tokens.len()).find(ends).map_or(usize::MAX, |at| tokens[at].line);
        self.asserts_in(end.line..last) || self.tests.iter().any(|one| (end.line..last).contains(&one.line))
    }

    /// Adds the elements of a list, each as a row.
    fn elements(&self, open: usize, table: usize, rows: &mut Vec<CaseRow<'text>>) {
        let Some(close) = self.partner(open) else { return };
        let tokens = &self.tokens;
        let (mut from, mut at) = (open + 1, open + 1);
        while at <= close {
            if at == close || self.tokens.is_mark(at, ",") {
                let inside = tokens.get(from..at).unwrap_or_default();
                if inside.iter().any(Token::is_literal) {
                    rows.push(row(inside, table));
                }
                from = at + 1;
            } else if let Some(other) = self.partner(at).filter(|other| *other > at) {
                at = other;
            }
            at += 1;
        }
    }
}

fn row<'text>(tokens: &[Token<'text>], table: usize) -> CaseRow<'text> {
    let closes = |at: usize| tokens.get(at + 1).is_none_or(|next| matches!(next.text, ")" | "]" | "}"));
    let counted =
        tokens.iter().enumerate().filter(|(at, token)| !(token.is_mark(",") && closes(*at))).map(|(_, token)| token);
    let (mut key, mut shape, mut shown) = (String::new(), String::new(), String::new());
    for token in counted {
        key.extend([token.text, "\u{1}"]);
        shape.extend([if token.is_literal() { "\u{2}" } else { token.text }, "\u{1}"]);
        let (before, behind) = if token.kind == Kind::Text { ("\"", "\"") } else { ("", "") };
        let is_tight = shown.is_empty() || shown.ends_with(['(', '[', '{']) || ",)]}:.".contains(token.text);
        shown.extend([if is_tight { "" } else { " " }, before, token.text, behind]);
    }
    CaseRow {
        line: tokens.first().map_or(0, |token| token.line),
        key,
        shape,
        shown: shown.lines().next().unwrap_or_default().replace('`', "'").chars().take(100).collect(),
        literals: tokens.iter().filter(|token| token.is_literal()).map(|token| token.text).collect(),
        table,
    }
}

/// Adds the rows of a table that is one text, below the names of its columns.
fn tagged<'text>(text: &Token<'text>, table: usize, rows: &mut Vec<CaseRow<'text>>) {
    for (number, line) in text.text.lines().enumerate().filter(|(_, line)| line.contains("${")) {
        let literals: Vec<&str> =
            line.split("${").skip(1).filter_map(|cell| cell.split('}').next()).map(str::trim).collect();
        rows.push(CaseRow {
            line: text.line + number,
            key: literals.join("\u{1}"),
            shape: format!("{}", literals.len()),
            shown: line.trim().replace('`', "'"),
            literals,
            table,
        });
    }
}
