//! The table of deferred items in STATE.md: `Deferred Items`.

use super::State;
use super::edit::{StateEdit, one_line, plain_row};
use crate::text::table::Table;

/// Titles of the section.
const DEFERRED: &[&str] = &["Deferred Items"];

/// The columns of the table as this program writes it.
const COLUMNS: [&str; 5] = ["Category", "Item", "Status", "Deferred At", "Milestone"];

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeferredRow {
    pub(crate) category: String,
    pub(crate) item: String,
    pub(crate) status: String,
    pub(crate) deferred_at: String,
    pub(crate) milestone: String,
}

impl State<'_> {
    /// The deferred items in the table.
    pub(crate) fn deferred(&self) -> Vec<DeferredRow> {
        let Some(table) = self.deferred_table() else { return Vec::new() };
        let cell =
            |row: usize, name: &str| table.column(name).map(|column| table.cell_text(row, column)).unwrap_or_default();
        (0..table.row_count())
            .map(|row| DeferredRow {
                category: cell(row, COLUMNS[0]),
                item: cell(row, COLUMNS[1]),
                status: cell(row, COLUMNS[2]),
                deferred_at: cell(row, COLUMNS[3]),
                milestone: cell(row, COLUMNS[4]),
            })
            .filter(|row| !row.item.is_empty())
            .collect()
    }
}

impl<'text> State<'text> {
    fn deferred_table(&self) -> Option<Table<'text>> {
        let section = self.section(DEFERRED)?;
        let tables = Table::all(self.markdown()).into_iter();
        tables
            .filter(|table| section.own.contains(&table.lines().start))
            .find(|table| table.column(COLUMNS[1]).is_some())
    }
}

impl StateEdit<'_, '_> {
    /// Adds rows to the table; creates the table if it is missing. Removes the row that only states that there are
    /// none.
    pub(crate) fn add_deferred(&mut self, rows: &[DeferredRow]) {
        if rows.is_empty() {
            return;
        }
        let Some(table) = self.state.deferred_table() else {
            let mut block = vec![plain_row(&COLUMNS), format!("|{}", "---|".repeat(COLUMNS.len()))];
            block.extend(rows.iter().map(|row| plain_row(&row.cells().map(|(_, cell)| cell))));
            return self.append_entry(DEFERRED[0], &block);
        };
        for row in 0..table.row_count() {
            let says_something = |column| !table.cell(row, column).trim_matches(['*', '(', ')', ' ', '-']).is_empty();
            let filled: Vec<usize> = (0..table.cell_count(row)).filter(|column| says_something(*column)).collect();
            if let [only] = filled[..]
                && table.cell(row, only).trim_matches(['*', '(', ')', '_']).eq_ignore_ascii_case("none")
            {
                table.delete_row(row, &mut self.splices);
            }
        }
        for row in rows {
            let cells = row.cells();
            let of_column = |column: &&str| {
                cells.iter().find(|(name, _)| name.eq_ignore_ascii_case(column)).map_or("", |(_, cell)| *cell)
            };
            let cells: Vec<&str> = table.columns().iter().map(of_column).collect();
            table.push_row(&cells, &mut self.splices);
        }
    }

    /// Sets the status of the rows for which `settled` returns one.
    pub(crate) fn settle_deferred(&mut self, settled: impl Fn(&DeferredRow) -> Option<&'static str>) {
        let Some(table) = self.state.deferred_table() else { return };
        let Some(column) = table.column(COLUMNS[2]) else { return };
        let item = table.column(COLUMNS[1]).unwrap_or_default();
        let known = self.state.deferred();
        for row in 0..table.row_count() {
            let text = table.cell_text(row, item);
            let word = known.iter().find(|known| known.item == text).and_then(&settled);
            if let Some(word) = word {
                table.set_cell(row, column, word, &mut self.splices);
            }
        }
    }
}

impl DeferredRow {
    /// A row with each text on one line.
    pub(crate) fn new(category: &str, item: &str, status: &str, deferred_at: &str, milestone: &str) -> Self {
        Self {
            category: one_line(category),
            item: one_line(item),
            status: one_line(status),
            deferred_at: one_line(deferred_at),
            milestone: one_line(milestone),
        }
    }

    fn cells(&self) -> [(&'static str, &str); 5] {
        let [category, item, status, deferred_at, milestone] = COLUMNS;
        [
            (category, self.category.as_str()),
            (item, &self.item),
            (status, &self.status),
            (deferred_at, &self.deferred_at),
            (milestone, &self.milestone),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::edit::edited;
    use super::*;

    fn row(item: &str) -> DeferredRow {
        DeferredRow::new("human check", item, "open", "2026-01-02", "v1.0")
    }

    #[test]
    fn a_row_replaces_the_row_that_says_none() {
        let text = "## Deferred Items\r\n\r\n| Category | Item | Status | Deferred At | Milestone |\r\n|---|---|---|---|---|\r\n\
            | *(none)* | | | | |\r\n\r\n## Session\r\n";
        let added = edited(text, |edit| edit.add_deferred(&[row("a | b")]));
        assert_eq!(added, text.replace("| *(none)* | | | | |", "| human check | a \\| b | open | 2026-01-02 | v1.0 |"));
        assert_eq!(State::parse(&added).deferred(), [row("a | b")]);
        let more = edited(&added, |edit| edit.add_deferred(&[row("c")]));
        assert_eq!(State::parse(&more).deferred(), [row("a | b"), row("c")]);
    }

    #[test]
    fn a_missing_table_is_created() {
        for text in [
            "# S\n",
            "# S\n\n## Deferred Items\n\nNothing.\n",
            "# S\n\n## Deferred Items\n\n| A | B |\n|---|---|\n| x | |\n",
        ] {
            let added = edited(text, |edit| edit.add_deferred(&[row("a")]));
            assert!(added.starts_with(text.trim_end()), "{added}");
            assert!(
                added.ends_with(
                    "\n\n| Category | Item | Status | Deferred At | Milestone |\n|---|---|---|---|---|\n\
                     | human check | a | open | 2026-01-02 | v1.0 |\n"
                ),
                "{added}"
            );
        }
        let own = "## Deferred Items\n\n| Item | Why |\n|---|---|\n| x | later |\n";
        assert!(edited(own, |edit| edit.add_deferred(&[row("a")])).ends_with("| x | later |\n| a |  |\n"));
    }

    #[test]
    fn a_settled_row_only_changes_its_status() {
        let text = edited("# S\n", |edit| edit.add_deferred(&[row("a"), row("b")]));
        let settled = edited(&text, |edit| edit.settle_deferred(|row| (row.item == "b").then_some("passed")));
        assert_eq!(settled, text.replace("b | open", "b | passed"));
    }
}
