//! `KNOWLEDGE.md`: rules, patterns and lessons, to which rows are added.

use std::collections::BTreeSet;

use super::ids::number;
use super::lines::{folded, one_line, split_mark};
use crate::text::markdown::{Markdown, newline_of};
use crate::text::splice::Splices;
use crate::text::table::Table;
use crate::text::words::words;

words! {
    /// The kinds of knowledge.
    pub(crate) enum KnowledgeKind {
        Rule = "rule",
        Pattern = "pattern",
        Lesson = "lesson",
    }
}

impl KnowledgeKind {
    fn letter(self) -> char {
        match self {
            Self::Rule => 'K',
            Self::Pattern => 'P',
            Self::Lesson => 'L',
        }
    }

    fn section(self) -> &'static str {
        match self {
            Self::Rule => "Rules",
            Self::Pattern => "Patterns",
            Self::Lesson => "Lessons Learned",
        }
    }

    fn heads(self) -> &'static [&'static str] {
        match self {
            Self::Rule => &["#", "Scope", "Rule", "Why", "Added"],
            Self::Pattern => &["#", "Pattern", "Where", "Notes"],
            Self::Lesson => &["#", "What Happened", "Root Cause", "Fix", "Scope"],
        }
    }

    /// The column with the knowledge itself.
    fn subject(self) -> usize {
        if self == Self::Rule { 2 } else { 1 }
    }
}

/// A row to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewKnowledge<'text> {
    pub(crate) kind: KnowledgeKind,
    /// The rule, the pattern, or what happened.
    pub(crate) what: &'text str,
    /// Why, notes, or the root cause.
    pub(crate) why: &'text str,
    /// Where it applies, such as `M001/S02` or `project`.
    pub(crate) scope: &'text str,
}

/// The text with one more row under the next number; `None` if that knowledge is already there, or if no table can be
/// read or added.
pub(crate) fn append(text: &str, new: &NewKnowledge<'_>) -> Option<String> {
    let (mark, own) = split_mark(text);
    let markdown = Markdown::parse(own);
    let changed = if Table::all(&markdown).iter().any(|table| is_of(table, &markdown, new.kind)) {
        with_row(own, new)
    } else {
        with_row(&with_table(own, new.kind), new)
    };
    changed.map(|changed| format!("{mark}{changed}"))
}

fn with_row(text: &str, new: &NewKnowledge<'_>) -> Option<String> {
    let markdown = Markdown::parse(text);
    let letter = new.kind.letter();
    let table = Table::all(&markdown).into_iter().find(|table| is_of(table, &markdown, new.kind))?;
    let subject = new.kind.subject();
    let known: BTreeSet<String> = (0..table.row_count()).map(|row| folded(&table.cell_text(row, subject))).collect();
    if known.contains(&folded(new.what)) {
        return None;
    }
    let highest = (0..table.row_count()).filter_map(|row| number(table.cell(row, 0), letter)).max().unwrap_or(0);
    let id = format!("{letter}{:03}", highest.saturating_add(1));
    let (what, why, scope) = (one_line(new.what), one_line(new.why), one_line(new.scope));
    let cells = match new.kind {
        KnowledgeKind::Rule => [&id, &scope, &what, &why, &String::new()],
        KnowledgeKind::Pattern => [&id, &what, &scope, &why, &String::new()],
        KnowledgeKind::Lesson => [&id, &what, &why, &String::new(), &scope],
    };
    let cells: Vec<&str> = cells.into_iter().map(String::as_str).take(new.kind.heads().len()).collect();
    let mut splices = Splices::default();
    table.push_row(&cells, &mut splices);
    Some(splices.apply(text))
}

/// Whether a table is of this kind: its subject column has the right heading, and its rows are numbered that way, it is
/// below a heading of this kind, or it is empty.
fn is_of(table: &Table<'_>, markdown: &Markdown<'_>, kind: KnowledgeKind) -> bool {
    let has_rows = table.find_row(0, |cell| number(cell, kind.letter()).is_some()).is_some();
    let heads = kind.heads();
    let has_heads =
        table.columns().get(kind.subject()).is_some_and(|head| head.eq_ignore_ascii_case(heads[kind.subject()]));
    let first = table.lines().start;
    let above = markdown.headings().take_while(|heading| heading.line < first).last();
    let is_below = above.is_some_and(|heading| heading.title.to_lowercase().starts_with(&format!("{}s", kind.word())));
    has_heads && (has_rows || is_below || table.row_count() == 0)
}

/// The text with an empty table of this kind at its end.
fn with_table(text: &str, kind: KnowledgeKind) -> String {
    let newline = newline_of(text);
    let head = if text.trim().is_empty() { format!("# Project Knowledge{newline}") } else { String::new() };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let heads = kind.heads();
    let dashes = "|---".repeat(heads.len());
    format!(
        "{text}{gap}{head}{newline}## {}{newline}{newline}| {} |{newline}{dashes}|{newline}",
        kind.section(),
        heads.join(" | ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_table_and_numbers() {
        let rule = NewKnowledge { kind: KnowledgeKind::Rule, what: "Never block", why: "it hangs", scope: "project" };
        let pattern = NewKnowledge { kind: KnowledgeKind::Pattern, what: "Ports | adapters", why: "", scope: "src/" };
        let lesson = NewKnowledge { kind: KnowledgeKind::Lesson, what: "It broke", why: "a race", scope: "S01" };
        let mut text = String::new();
        for new in [rule, pattern, lesson, NewKnowledge { what: "Second rule", ..rule }] {
            text = append(&text, &new).unwrap();
            assert_eq!(append(&text, &new), None, "{new:?}");
        }
        for row in [
            "| K001 | project | Never block | it hangs |",
            "| K002 | project | Second rule |",
            "| P001 | Ports \\| adapters | src/ |",
            "| L001 | It broke | a race |  | S01 |",
        ] {
            assert!(text.contains(row), "{text}");
        }
        assert!(text.starts_with("# Project Knowledge\n\n## Rules\n\n| # |"), "{text}");
    }

    #[test]
    fn existing_text_is_unchanged() {
        let text = "\u{feff}# K\r\n\r\n## Rules\r\n\r\n| # | Scope | Rule | Why | Added |\r\n|---|---|---|---|---|\r\n| K004 | x | y | z | m |\r\n\r\nEnd";
        let new = NewKnowledge { kind: KnowledgeKind::Rule, what: "b", why: "c", scope: "a" };
        let after = append(text, &new).unwrap();
        assert_eq!(after, text.replace("| m |\r\n", "| m |\r\n| K005 | a | b | c |  |\r\n"));
    }
}
