//! `DECISIONS.md`: a table of decisions to which rows are added.

use std::collections::BTreeSet;

use super::ids::number;
use super::lines::{bare, folded, one_line, split_mark};
use crate::text::markdown::{Markdown, newline_of};
use crate::text::splice::Splices;
use crate::text::table::Table;

const HEADS: [&str; 8] = ["#", "When", "Scope", "Decision", "Choice", "Rationale", "Revisable?", "Made By"];

/// A row of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DecisionRow {
    /// `D001`
    pub(crate) id: String,
    pub(crate) when: String,
    pub(crate) scope: String,
    pub(crate) decision: String,
    pub(crate) choice: String,
    pub(crate) rationale: String,
    pub(crate) revisable: String,
    pub(crate) made_by: String,
}

/// All rows, in order.
pub(crate) fn read(text: &str) -> Vec<DecisionRow> {
    let markdown = Markdown::parse(bare(text));
    let tables: Vec<Table<'_>> = Table::all(&markdown).into_iter().filter(is_of_decisions).collect();
    let rows = tables.iter().flat_map(|table| {
        let columns = HEADS.map(|head| table.column(head));
        (0..table.row_count()).map(move |row| {
            // A pipe after a backslash is written as its entity.
            let text = |column: usize| table.cell_text(row, column).replace("&#124;", "|");
            let cell = |at: usize| columns.get(at).copied().flatten().map(text).unwrap_or_default();
            DecisionRow {
                id: cell(0),
                when: cell(1),
                scope: cell(2),
                decision: cell(3),
                choice: cell(4),
                rationale: cell(5),
                revisable: cell(6),
                made_by: cell(7),
            }
        })
    });
    rows.collect()
}

fn is_of_decisions(table: &Table<'_>) -> bool {
    table.column("Decision").is_some()
}

/// The text with those of `rows` that are new, each under the next number: a row is left out if its decision is already
/// there, as a decision or as a choice. The identifier of a row is not used. `None` if no row is new, or if no table
/// can be read or added.
pub(crate) fn append(text: &str, rows: &[DecisionRow]) -> Option<String> {
    let there = read(text);
    let mut known: BTreeSet<String> =
        there.iter().flat_map(|row| [folded(&row.decision), folded(&row.choice)]).collect();
    let mut next = there.iter().filter_map(|row| number(&row.id, 'D')).max().unwrap_or(0);
    let mut new: Vec<DecisionRow> = Vec::new();
    for row in rows {
        let words = folded(&row.decision);
        if !words.is_empty() && known.insert(words) {
            next = next.saturating_add(1);
            new.push(DecisionRow { id: format!("D{next:03}"), ..row.clone() });
        }
    }
    let (mark, own) = split_mark(text);
    let rows = if new.is_empty() { None } else { with_rows(own, &new).or_else(|| with_rows(&with_table(own), &new)) };
    rows.map(|changed| format!("{mark}{changed}"))
}

/// The text with an empty table at its end.
fn with_table(text: &str) -> String {
    let newline = newline_of(text);
    let head = if text.trim().is_empty() { format!("# Decisions{newline}{newline}") } else { String::new() };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let gap = if head.is_empty() { format!("{gap}{newline}") } else { gap.to_owned() };
    let dashes = "|---".repeat(HEADS.len());
    format!("{text}{gap}{head}| {} |{newline}{dashes}|{newline}", HEADS.join(" | "))
}

/// The text with more rows in its last table; `None` if it has no table, for example because a code block is never
/// closed.
fn with_rows(text: &str, rows: &[DecisionRow]) -> Option<String> {
    let markdown = Markdown::parse(text);
    let mut splices = Splices::default();
    let table = Table::all(&markdown).into_iter().rfind(is_of_decisions)?;
    let columns: Vec<String> = table.columns().iter().map(|head| head.to_lowercase()).collect();
    for row in rows {
        let value = |head: &String| match head.as_str() {
            "#" | "id" => row.id.as_str(),
            "when" => &row.when,
            "scope" => &row.scope,
            "decision" => &row.decision,
            "choice" => &row.choice,
            "rationale" => &row.rationale,
            "revisable?" | "revisable" => &row.revisable,
            "made by" => &row.made_by,
            _ => "",
        };
        let cells: Vec<String> = columns.iter().map(|head| one_line(value(head))).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        table.push_row(&cells, &mut splices);
    }
    Some(splices.apply(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(decision: &str) -> DecisionRow {
        DecisionRow {
            scope: "S01".to_owned(),
            decision: decision.to_owned(),
            made_by: "agent".to_owned(),
            ..DecisionRow::default()
        }
    }

    const TABLE: &str = "# Decisions\r\n\r\n| # | When | Scope | Decision | Choice | Rationale | Revisable? | Made By |\r\n|---|---|---|---|---|---|---|---|\r\n\
        | D007 | M001 | S01 | Store | Use `SQLite` | small | Yes | human |\r\n\r\nMore.\r\n";

    #[test]
    fn a_decision_is_added_once_under_the_next_number() {
        let rows = [row("use sqlite!"), row("Index on  write | always"), row("index on write, always"), row(" ")];
        let text = append(TABLE, &rows).unwrap();
        let added = "| D008 |  | S01 | Index on write \\| always |  |  |  | agent |\r\n";
        assert_eq!(text, TABLE.replace("human |\r\n", &format!("human |\r\n{added}")));
        assert_eq!(append(&text, &rows), None);
        assert_eq!(read(&text)[1].decision, "Index on write | always");
        let new = append("", &[row("a"), row("b")]).unwrap();
        assert_eq!(read(&new).iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["D001", "D002"]);
        assert!(new.starts_with("# Decisions\n\n| # | When |"), "{new}");
        let prose = append("Notes", &[row("a")]).unwrap();
        assert!(prose.starts_with("Notes\n\n| # |"), "{prose}");
    }

    proptest! {
        #[test]
        fn appending_twice_adds_nothing(
            text in "(# D\n|\\| # \\| Decision \\|\n|\\|---\\|---\\|\n|\\| D00[1-9] \\| [a-c] \\|\n|\n|[a-c|]){0,12}",
            decisions in proptest::collection::vec("[a-c|\\\\ ]{0,6}", 0..5),
        ) {
            let rows: Vec<DecisionRow> = decisions.iter().map(|decision| row(decision)).collect();
            if let Some(after) = append(&text, &rows) {
                prop_assert_eq!(append(&after, &rows), None);
                prop_assert!(read(&after).len() > read(&text).len());
            }
        }
    }
}
