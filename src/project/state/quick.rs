//! The table of quick tasks in STATE.md.

use super::QUICK_TASKS;
use super::edit::{StateEdit, one_line};
use super::sections::Taken;
use crate::failure::Explain;
use crate::text::table::Table;

/// The columns of the table as this program writes it.
const COLUMNS: [&str; 6] = ["#", "Description", "Date", "Commit", "Status", "Directory"];
/// The placeholder for an empty cell.
const NOTHING: &str = "—";

/// The forms of the table that rows are added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QuickVariant {
    NoStatus,
    WithStatus,
}

/// Why no row can be added to the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QuickTableError {
    #[error("STATE.md has no section `Quick Tasks Completed`")]
    NoSection,
    #[error("the section `Quick Tasks Completed` of STATE.md has no table")]
    NoTable,
    #[error("the table `Quick Tasks Completed` has unknown columns: {}", columns.join(" | "))]
    Schema { columns: Vec<String> },
}

impl Explain for QuickTableError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Schema { .. } => {
                "`gsd-tools quick-tasks-migrate` converts older tables; rename other columns by hand"
            }
            _ => {
                "add the section `### Quick Tasks Completed` with a table to STATE.md, or run `gsd-tools state rebuild`"
            }
        };
        Some(hint.to_owned())
    }
}

/// A quick task, as the cells of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuickRow<'text> {
    /// `None`: the next number is used.
    pub(crate) id: Option<&'text str>,
    pub(crate) description: &'text str,
    pub(crate) date: &'text str,
    pub(crate) commit: Option<&'text str>,
    pub(crate) status: Option<&'text str>,
    pub(crate) directory: Option<&'text str>,
}

/// A table converted to the columns of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Migrated {
    /// The columns it had before.
    pub(crate) from: Vec<String>,
    pub(crate) rows: usize,
}

impl<'text> StateEdit<'_, 'text> {
    fn quick_table(&self) -> Result<Table<'text>, QuickTableError> {
        let section = self.state.section(QUICK_TASKS).ok_or(QuickTableError::NoSection)?;
        let tables = Table::all(self.state.markdown()).into_iter();
        tables
            .filter(|table| section.own.contains(&table.lines().start))
            .min_by_key(|table| table.lines().start)
            .ok_or(QuickTableError::NoTable)
    }

    /// Adds a row. Returns the row as written, and the form of the table.
    pub(crate) fn push_quick_row(&mut self, row: &QuickRow<'_>) -> Result<(String, QuickVariant), QuickTableError> {
        let table = self.quick_table()?;
        let variant = variant(&table).ok_or_else(|| QuickTableError::Schema {
            columns: table.columns().into_iter().map(str::to_owned).collect(),
        })?;
        let numbers = (0..table.row_count()).filter_map(|row| table.cell(row, 0).parse::<usize>().ok());
        let next = numbers.max().unwrap_or(0).max(table.row_count()).saturating_add(1).to_string();
        let some = |text: Option<&str>| {
            text.map(one_line).filter(|text| !text.is_empty()).unwrap_or_else(|| NOTHING.to_owned())
        };
        let mut cells =
            vec![row.id.map_or(next, one_line), one_line(row.description), row.date.to_owned(), some(row.commit)];
        if variant == QuickVariant::WithStatus {
            cells.push(some(row.status));
        }
        cells.push(some(row.directory));
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        table.push_row(&cells, &mut self.splices);
        Ok((super::edit::plain_row(&cells), variant))
    }

    /// Converts a table with other columns to the form with six. Cells without a matching column go into the
    /// description, after their column's name. `None` if rows can already be added to the table.
    pub(crate) fn migrate_quick_table(&mut self) -> Result<Option<Migrated>, QuickTableError> {
        let table = self.quick_table()?;
        if variant(&table).is_some() {
            return Ok(None);
        }
        let markdown = self.state.markdown();
        let newline = markdown.newline();
        let columns = table.columns();
        let mut lines = vec![
            format!("| {} |", COLUMNS.join(" | ")),
            "| --- | ------------- | ------ | -------- | -------- | ----------- |".to_owned(),
        ];
        for row in 0..table.row_count() {
            lines.push(migrated_row(&table, &columns, row));
        }
        let span = table.span();
        let ended = self.state.text()[span.clone()].ends_with('\n');
        let text = lines.join(newline) + if ended { newline } else { "" };
        self.splices.replace(span, text);
        let from = columns.into_iter().map(str::to_owned).collect();
        Ok(Some(Migrated { from, rows: table.row_count() }))
    }

    /// Removes all rows and returns them.
    pub(crate) fn take_quick_rows(&mut self) -> Taken {
        let Ok(table) = self.quick_table() else { return Taken::default() };
        let markdown = self.state.markdown();
        let lines: Vec<usize> = (0..table.row_count()).filter_map(|row| table.line_of(row)).collect();
        if lines.is_empty() {
            return Taken::default();
        }
        for row in 0..table.row_count() {
            table.delete_row(row, &mut self.splices);
        }
        let start = table.lines().start;
        let text: Vec<&str> = [start, start + 1].iter().chain(&lines).map(|line| markdown.line(*line)).collect();
        Taken { count: lines.len(), text: text.join("\n") }
    }
}

fn variant(table: &Table<'_>) -> Option<QuickVariant> {
    let columns = table.columns();
    let same = |wanted: &[&str]| {
        columns.len() == wanted.len() && columns.iter().zip(wanted).all(|(one, other)| one.eq_ignore_ascii_case(other))
    };
    if same(&COLUMNS) {
        Some(QuickVariant::WithStatus)
    } else if same(&["#", "Description", "Date", "Commit", "Directory"]) {
        Some(QuickVariant::NoStatus)
    } else {
        None
    }
}

fn migrated_row(table: &Table<'_>, columns: &[&str], row: usize) -> String {
    let mut cells: [String; 6] = Default::default();
    let mut more = Vec::new();
    for column in 0..table.cell_count(row) {
        let value = table.cell(row, column);
        let name = columns.get(column).copied().unwrap_or_default();
        match home(name).filter(|home| cells[*home].is_empty()) {
            Some(home) => value.clone_into(&mut cells[home]),
            None if value.is_empty() => {}
            None if name.is_empty() => more.push(value.to_owned()),
            None => more.push(format!("{name}: {value}")),
        }
    }
    if !cells[1].is_empty() {
        more.insert(0, std::mem::take(&mut cells[1]));
    }
    cells[1] = more.join(" · ");
    if cells[0].is_empty() {
        cells[0] = (row + 1).to_string();
    }
    let cells: Vec<&str> = cells.iter().map(|cell| if cell.is_empty() { NOTHING } else { cell }).collect();
    // The cells are as written before, so their pipes are already escaped.
    format!("| {} |", cells.join(" | "))
}

/// The index of the column, among the six, for a column with this name.
fn home(name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let known = |column: &str| match column {
        "id" => "#".to_owned(),
        "task" => "description".to_owned(),
        "dir" => "directory".to_owned(),
        other => other.to_owned(),
    };
    COLUMNS.iter().position(|column| column.to_lowercase() == known(&name))
}

#[cfg(test)]
mod tests {
    use super::super::edit::edited;
    use super::*;

    const ROW: QuickRow<'_> = QuickRow {
        id: None,
        description: "a|b\nc",
        date: "2026-01-02",
        commit: Some("abc1234"),
        status: Some("done"),
        directory: None,
    };

    #[test]
    fn a_row_is_added_in_the_form_of_the_table() {
        let text = "### Quick Tasks Completed\r\n\r\n| # | Description | Date | Commit | Directory |\r\n|---|---|---|---|---|\r\n| 7 | x | d | c | - |\r\n\r\n## End";
        let after = edited(text, |edit| {
            let (row, variant) = edit.push_quick_row(&ROW).unwrap();
            assert_eq!(row, "| 8 | a\\|b c | 2026-01-02 | abc1234 | — |");
            assert_eq!(variant, QuickVariant::NoStatus);
        });
        assert!(
            after.contains("| 7 | x | d | c | - |\r\n| 8 | a\\|b c | 2026-01-02 | abc1234 | — |\r\n\r\n## End"),
            "{after}"
        );
        for (text, error) in [
            ("# S\n", QuickTableError::NoSection),
            ("### Quick Tasks Completed\n\nNone yet.\n\n### B\n\n| a |\n|---|\n", QuickTableError::NoTable),
            ("### Quick Tasks Completed\n\n| a |\n|---|\n", QuickTableError::Schema { columns: vec!["a".into()] }),
        ] {
            edited(text, |edit| assert_eq!(edit.push_quick_row(&ROW), Err(error)));
        }
    }

    #[test]
    fn a_migrated_table_keeps_every_cell() {
        let text = "### Quick Tasks Completed\n\n| Task | Owner | ID | Status |\n|---|---|---|---|\n| a\\|b | me | 9 | ok | surplus |\n| c |\n\nEnd";
        let after = edited(text, |edit| {
            let migrated = edit.migrate_quick_table().unwrap().unwrap();
            assert_eq!((migrated.from.len(), migrated.rows), (4, 2));
        });
        assert_eq!(
            after,
            "### Quick Tasks Completed\n\n| # | Description | Date | Commit | Status | Directory |\n\
             | --- | ------------- | ------ | -------- | -------- | ----------- |\n\
             | 9 | a\\|b · Owner: me · surplus | — | — | ok | — |\n| 2 | c | — | — | — | — |\n\nEnd"
        );
        assert_eq!(edited(&after, |edit| assert_eq!(edit.migrate_quick_table(), Ok(None))), after);
    }
}
