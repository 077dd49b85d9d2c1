//! Pipe tables in Markdown: their positions, the contents of their cells, and edits of a cell or a row.
//!
//! A table is a line with a pipe, a line of dashes with a pipe, and the lines with a pipe below it. An edit changes one
//! cell or one line; aligned columns stay aligned if the new text fits.

use std::ops::Range;

use super::markdown::{Line, LineKind, Markdown};
use super::splice::Splices;

/// A table in a text. Borrows the text; edits are splices over it.
#[derive(Clone, Debug)]
pub(crate) struct Table<'text> {
    text: &'text str,
    newline: &'static str,
    header: Row,
    rows: Vec<Row>,
    /// The end of the line of dashes, without and with its line break.
    dashes: (usize, usize),
    /// Per column: how many characters are between its pipes, if the number is the same on each line.
    widths: Vec<Option<usize>>,
}

/// One line of a table.
#[derive(Clone, Debug)]
struct Row {
    /// Its index among the lines of the document.
    line: usize,
    start: usize,
    end: usize,
    next: usize,
    /// The ranges between the pipes, including blank space.
    cells: Vec<Range<usize>>,
    /// Whether it begins with a pipe, and whether it ends with one.
    opened: bool,
    closed: bool,
}

impl<'text> Table<'text> {
    /// The tables of a document, in order, except those in front matter and code.
    pub(crate) fn all(markdown: &Markdown<'text>) -> Vec<Self> {
        let lines = markdown.lines();
        let mut tables = Vec::new();
        let mut index = 0;
        while index + 1 < lines.len() {
            match Self::at(markdown, index) {
                Some(table) => {
                    index = table.lines().end;
                    tables.push(table);
                }
                None => index += 1,
            }
        }
        tables
    }

    /// The first table whose header line begins in this range of bytes, for example in that of a section.
    pub(crate) fn first_in(markdown: &Markdown<'text>, bytes: &Range<usize>) -> Option<Self> {
        let lines = markdown.lines();
        let first = lines.partition_point(|line| line.start < bytes.start);
        (first..lines.len())
            .take_while(|index| lines[*index].start < bytes.end)
            .find_map(|index| Self::at(markdown, index))
    }

    fn at(markdown: &Markdown<'text>, index: usize) -> Option<Self> {
        let text = markdown.text();
        let lines = markdown.lines();
        let header = Row::read(text, index, lines.get(index)?)?;
        let dashes = lines.get(index + 1)?;
        let below = Row::read(text, index + 1, dashes)?;
        let is_dashed = !below.cells.is_empty() && below.cells.iter().all(|cell| is_dashes(text[cell.clone()].trim()));
        if header.cells.is_empty() || !is_dashed {
            return None;
        }
        let rows: Vec<Row> = lines[index + 2..]
            .iter()
            .enumerate()
            .map_while(|(offset, line)| Row::read(text, index + 2 + offset, line))
            .collect();
        let width = |row: &Row, column: usize| row.cells.get(column).map(|cell| text[cell.clone()].chars().count());
        let widths = (0..header.cells.len())
            .map(|column| {
                width(&header, column)
                    .filter(|first| rows.iter().chain([&below]).all(|row| width(row, column) == Some(*first)))
            })
            .collect();
        Some(Self { text, newline: markdown.newline(), header, rows, dashes: (dashes.end, dashes.next), widths })
    }

    /// The indexes of its lines in the document, beginning with the header.
    pub(crate) fn lines(&self) -> Range<usize> {
        self.header.line..self.header.line + 2 + self.rows.len()
    }

    /// Its bytes, including the last line break.
    pub(crate) fn span(&self) -> Range<usize> {
        self.header.start..self.rows.last().map_or(self.dashes.1, |row| row.next)
    }

    /// The texts of the header.
    pub(crate) fn columns(&self) -> Vec<&'text str> {
        self.header.cells.iter().map(|cell| self.text[cell.clone()].trim()).collect()
    }

    /// The column with this name, ignoring case.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        let name = name.to_lowercase();
        self.columns().iter().position(|column| column.to_lowercase() == name)
    }

    /// How many rows there are below the header.
    pub(crate) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The cell as written, trimmed; empty if the row is too short.
    pub(crate) fn cell(&self, row: usize, column: usize) -> &'text str {
        let cell = self.rows.get(row).and_then(|row| row.cells.get(column));
        cell.map_or("", |cell| self.text[cell.clone()].trim())
    }

    /// How many cells a row has; this may differ from the number of columns.
    pub(crate) fn cell_count(&self, row: usize) -> usize {
        self.rows.get(row).map_or(0, |row| row.cells.len())
    }

    /// The cell with `\|` read as a pipe.
    pub(crate) fn cell_text(&self, row: usize, column: usize) -> String {
        self.cell(row, column).replace("\\|", "|")
    }

    /// The index of a row's line in the document.
    pub(crate) fn line_of(&self, row: usize) -> Option<usize> {
        self.rows.get(row).map(|row| row.line)
    }

    /// The first row whose cell in `column` satisfies `wanted`.
    pub(crate) fn find_row(&self, column: usize, mut wanted: impl FnMut(&str) -> bool) -> Option<usize> {
        (0..self.rows.len()).find(|row| wanted(self.cell(*row, column)))
    }

    /// Sets a cell to `value`. A row that is too short gets the missing cells; a row that does not exist is not made.
    pub(crate) fn set_cell(&self, row: usize, column: usize, value: &str, splices: &mut Splices) {
        let Some(row) = self.rows.get(row) else { return };
        let value = escaped(value);
        let Some(cell) = row.cells.get(column) else {
            let missing = column - row.cells.len();
            let place = row.content_end(self.text);
            let added = if row.closed {
                format!("{} {value} |", "  |".repeat(missing))
            } else {
                format!("{} | {value}", " |".repeat(missing))
            };
            splices.insert(place, added);
            return;
        };
        let raw = &self.text[cell.clone()];
        if raw.trim() != value {
            let width = self.widths.get(column).copied().flatten();
            let changed = in_place_of(raw, &value, width);
            // An empty first cell with nothing before it would not count as a cell, and its new text could open a code
            // block that the old text had prevented.
            let first = &row.cells[0];
            let opening = if column == 0 { &changed } else { &self.text[first.clone()] };
            let pipe = if !row.opened && (opening.trim().is_empty() || is_fence(opening)) { "|" } else { "" };
            if column > 0 && !pipe.is_empty() {
                splices.insert(first.start, pipe);
                splices.replace(cell.clone(), changed);
            } else {
                splices.replace(cell.clone(), format!("{pipe}{changed}"));
            }
        }
    }

    /// Adds a row at the end.
    pub(crate) fn push_row(&self, cells: &[&str], splices: &mut Splices) {
        self.insert_row(self.rows.len(), cells, splices);
    }

    /// Adds a row before the row `index`, or at the end. Missing cells are empty.
    pub(crate) fn insert_row(&self, index: usize, cells: &[&str], splices: &mut Splices) {
        let (end, next) = match index.min(self.rows.len()).checked_sub(1) {
            Some(above) => (self.rows[above].end, self.rows[above].next),
            None => self.dashes,
        };
        let count = cells.len().max(self.header.cells.len());
        let head = &self.text[self.header.start..self.header.end];
        let mut line = head[..head.len() - head.trim_start().len()].to_owned();
        line.push('|');
        for column in 0..count {
            let value = escaped(cells.get(column).copied().unwrap_or_default());
            line.push_str(&padded(&value, self.widths.get(column).copied().flatten().unwrap_or(0)));
            line.push('|');
        }
        if next > end {
            splices.insert(next, format!("{line}{}", self.newline));
        } else {
            splices.insert(end, format!("{}{line}", self.newline));
        }
    }

    /// Removes a row with its line.
    pub(crate) fn delete_row(&self, row: usize, splices: &mut Splices) {
        let Some(row) = self.rows.get(row) else { return };
        let start = if row.next > row.end {
            row.start
        } else {
            // The last line of a text without a final line break is removed with the break before it.
            let before = &self.text[..row.start];
            before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).map_or(row.start, str::len)
        };
        splices.remove(start..row.next);
    }
}

impl Row {
    /// Reads a line that has a pipe and is neither code nor a heading.
    fn read(text: &str, index: usize, line: &Line) -> Option<Self> {
        if line.kind != LineKind::Text {
            return None;
        }
        let whole = &text[line.start..line.end];
        let content = whole.trim_end();
        let from = whole.len() - whole.trim_start().len();
        let pipes = pipes(content);
        let (first, last) = (*pipes.first()?, *pipes.last()?);
        let closed = last + 1 == content.len();
        let mut cells = Vec::with_capacity(pipes.len() + 1);
        let mut start = line.start + from;
        for pipe in pipes {
            let end = line.start + pipe;
            if pipe > from {
                cells.push(start..end);
            }
            start = end + 1;
        }
        if !closed {
            cells.push(start..line.start + content.len());
        }
        Some(Self {
            line: index,
            start: line.start,
            end: line.end,
            next: line.next,
            cells,
            opened: first == from,
            closed,
        })
    }

    fn content_end(&self, text: &str) -> usize {
        self.start + text[self.start..self.end].trim_end().len()
    }
}

/// True if a line with this start may open a code block.
fn is_fence(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("```") || text.starts_with("~~~")
}

/// The positions of the pipes that are not escaped.
fn pipes(line: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'|' => found.push(at),
            _ => {}
        }
    }
    found
}

fn is_dashes(cell: &str) -> bool {
    let inner = cell.strip_prefix(':').unwrap_or(cell);
    let inner = inner.strip_suffix(':').unwrap_or(inner);
    !inner.is_empty() && inner.bytes().all(|byte| byte == b'-')
}

/// A value as written in a cell: on one line, with its pipes escaped.
fn escaped(value: &str) -> String {
    let mut cell = String::with_capacity(value.len());
    let mut backslashes = 0;
    for letter in value.trim().chars() {
        match letter {
            '\n' | '\r' => cell.push(' '),
            // A backslash before the pipe would escape our backslash instead.
            '|' if backslashes % 2 == 1 => cell.push_str("&#124;"),
            '|' => cell.push_str("\\|"),
            other => cell.push(other),
        }
        backslashes = if letter == '\\' { backslashes + 1 } else { 0 };
    }
    cell
}

/// A value with a space on each side, at least `width` characters wide.
fn padded(value: &str, width: usize) -> String {
    let blank = width.saturating_sub(value.chars().count() + 1).max(1);
    format!(" {value}{}", " ".repeat(blank))
}

/// A value with the blank space of the old cell, reduced so that the cell stays `width` characters wide if possible.
fn in_place_of(raw: &str, value: &str, width: Option<usize>) -> String {
    let content = raw.trim();
    if content.is_empty() {
        return padded(value, width.unwrap_or(0));
    }
    let before = raw.len() - raw.trim_start().len();
    let (mut left, mut right) = (raw[..before].to_owned(), raw[before + content.len()..].to_owned());
    if let Some(width) = width {
        let blank = width.saturating_sub(value.chars().count());
        let (on_left, on_right) = (left.chars().count(), right.chars().count());
        if on_left > on_right {
            left = " ".repeat(blank.saturating_sub(on_right).max(1));
        } else {
            right = " ".repeat(blank.saturating_sub(on_left).max(on_right.min(1)));
        }
    }
    format!("{left}{value}{}", guarded(value, &right))
}

/// A space after a value that ends with a backslash, which would otherwise escape the pipe.
fn guarded<'blank>(value: &str, right: &'blank str) -> &'blank str {
    if right.is_empty() && value.ends_with('\\') { " " } else { right }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROGRESS: &str = "# Title\n\n| Phase | Plans | Status |\n|-------|:-----:|---|\n| 1. A | 1/1 | Complete   |\n\
        | 2. B \\| C | 1/3 | In Progress|\n|3|\n\nafter | text\n";

    fn edit(source: &str, change: impl FnOnce(&Table<'_>, &mut Splices)) -> String {
        let markdown = Markdown::parse(source);
        let mut splices = Splices::default();
        change(&Table::all(&markdown)[0], &mut splices);
        splices.apply(source)
    }

    #[test]
    fn replacing_a_cell_opens_no_code_block() {
        let text = "| a | b |\n|---|---|\n``` x | y ``` |\n";
        let document = Markdown::parse(text);
        let table = &Table::all(&document)[0];
        for (column, value) in [(1, "z"), (0, "~~~")] {
            let mut splices = Splices::default();
            table.set_cell(0, column, value, &mut splices);
            let edited = splices.apply(text);
            let again = Markdown::parse(&edited);
            let tables = Table::all(&again);
            assert_eq!((tables[0].row_count(), tables[0].cell(0, column)), (1, value), "{edited}");
        }
    }

    #[test]
    fn a_table_is_read_by_rows_and_columns() {
        let markdown = Markdown::parse(PROGRESS);
        let tables = Table::all(&markdown);
        assert_eq!(tables.len(), 1);
        let table = &tables[0];
        assert_eq!(table.columns(), ["Phase", "Plans", "Status"]);
        assert_eq!((table.column("status"), table.column("none")), (Some(2), None));
        assert_eq!((table.lines(), table.row_count()), (2..7, 3));
        assert_eq!(&PROGRESS[table.span()], &PROGRESS[9..PROGRESS.len() - "\nafter | text\n".len()]);
        assert_eq!((table.cell(1, 0), table.cell_text(1, 0).as_str()), ("2. B \\| C", "2. B | C"));
        assert_eq!((table.cell(2, 0), table.cell(2, 2), table.cell(9, 0)), ("3", "", ""));
        assert_eq!(table.find_row(1, |cell| cell == "1/3"), Some(1));
        assert_eq!((table.line_of(1), table.line_of(3)), (Some(5), None));
        assert!(Table::first_in(&markdown, &(0..9)).is_none());
        assert_eq!(Table::first_in(&markdown, &(5..40)).unwrap().lines(), 2..7);
    }

    #[test]
    fn tables_need_dashes_and_are_not_in_code() {
        let count = |text: &str| Table::all(&Markdown::parse(text)).len();
        assert_eq!(count("```\n| a |\n|---|\n```\n"), 0);
        assert_eq!(count("---\n| a |\n|---|\n---\n"), 0);
        assert_eq!(count("| a |\n| b |\n"), 0);
        assert_eq!(count("a | b\n---\n"), 0);
        assert_eq!(count("a | b\n--|--\n1 | 2\n\n| c |\n|-|"), 2);
        assert_eq!(count("|\n|\n| |\n"), 0);
    }

    #[test]
    fn a_cell_is_changed_and_nothing_else() {
        assert_eq!(
            edit(PROGRESS, |table, splices| table.set_cell(1, 1, "3/3", splices)),
            PROGRESS.replace("1/3", "3/3")
        );
        assert_eq!(
            edit(PROGRESS, |table, splices| table.set_cell(0, 2, "Done", splices)),
            PROGRESS.replace("Complete   |", "Done   |")
        );
        assert_eq!(
            edit(PROGRESS, |table, splices| table.set_cell(1, 0, "x|y\nz", splices)),
            PROGRESS.replace("2. B \\| C", "x\\|y z")
        );
        assert_eq!(
            edit(PROGRESS, |table, splices| table.set_cell(2, 2, "New", splices)),
            PROGRESS.replace("|3|", "|3|  | New |")
        );
        assert_eq!(edit(PROGRESS, |table, splices| table.set_cell(0, 1, "1/1", splices)), PROGRESS);
        assert_eq!(edit(PROGRESS, |table, splices| table.set_cell(7, 1, "x", splices)), PROGRESS);
        let open = "a | b | c\r\n-|-|-\r\n1 | 2\r\n";
        assert_eq!(edit(open, |table, splices| table.set_cell(0, 2, "3", splices)), open.replace("1 | 2", "1 | 2 | 3"));
        assert_eq!(edit("|a|\n|-|\n|x|", |table, splices| table.set_cell(0, 0, "y\\", splices)), "|a|\n|-|\n|y\\ |");
        assert_eq!(edit("|a|\n|--|\n||", |table, splices| table.set_cell(0, 0, "y", splices)), "|a|\n|--|\n| y |");
    }

    #[test]
    fn aligned_columns_stay_aligned() {
        let aligned = "| a    | b |\n| ---- | - |\n| 1    | 2 |\n| 333  | 4 |\n";
        assert_eq!(
            edit(aligned, |table, splices| table.set_cell(0, 0, "22", splices)),
            aligned.replace("| 1  ", "| 22 ")
        );
        assert_eq!(edit(aligned, |table, splices| table.push_row(&["5"], splices)), format!("{aligned}| 5    |   |\n"));
        let right = "|  a |\n|---:|\n|  1 |\n";
        assert_eq!(
            edit(right, |table, splices| table.set_cell(0, 0, "22", splices)),
            right.replace("|  1 |", "| 22 |")
        );
        assert_eq!(
            edit(aligned, |table, splices| table.set_cell(0, 0, "too long", splices)),
            aligned.replace("| 1    |", "| too long |")
        );
    }

    #[test]
    fn rows_are_added_and_removed_by_lines() {
        let with =
            |source: &str, index: usize| edit(source, |table, splices| table.insert_row(index, &["x", "y|"], splices));
        assert_eq!(with(PROGRESS, 0), PROGRESS.replace("|---|\n", "|---|\n| x | y\\| |  |\n"));
        assert_eq!(with(PROGRESS, 1), PROGRESS.replace("Complete   |\n", "Complete   |\n| x | y\\| |  |\n"));
        assert_eq!(with(PROGRESS, 9), PROGRESS.replace("|3|\n", "|3|\n| x | y\\| |  |\n"));
        assert_eq!(with("  | a |\r\n  |--|", 0), "  | a |\r\n  |--|\r\n  | x | y\\| |");
        let without = |source: &str, row: usize| edit(source, |table, splices| table.delete_row(row, splices));
        assert_eq!(without(PROGRESS, 2), PROGRESS.replace("|3|\n", ""));
        assert_eq!(without(PROGRESS, 3), PROGRESS);
        assert_eq!(without("|a|\r\n|-|\r\n|x|", 0), "|a|\r\n|-|");
    }

    #[test]
    fn large_tables_are_read_in_one_pass() {
        for line in ["| a | b |\n", "|-|\n", "|\n", "a\n", "|||||||||||||\n", "\\|\n"] {
            let source = format!("| a | b |\n|---|---|\n{}", line.repeat(400_000 / line.len()));
            let markdown = Markdown::parse(&source);
            let tables = Table::all(&markdown);
            let mut splices = Splices::default();
            for row in 0..tables[0].row_count() {
                tables[0].set_cell(row, 1, "x", &mut splices);
            }
            assert!(splices.apply(&source).len() >= source.len());
        }
    }

    fn messy_document() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            3 => "(\\|[ ab1\\\\]{0,4}){1,4}\\|?[ ]{0,2}",
            2 => "[ ]{0,2}\\|( ?:?-{1,4}:? ?\\|){1,3}",
            2 => "[a-c1 ]{1,3}(\\|[a-c1 ]{0,2}){1,3}",
            1 => "[a-c| ]{0,8}",
            1 => Just("```".to_owned()),
            1 => Just("# h".to_owned()),
            1 => Just(String::new()),
        ];
        (prop::collection::vec(line, 0..14), "\r?\n", any::<bool>())
            .prop_map(|(lines, newline, closed)| lines.join(&newline) + if closed { &newline } else { "" })
    }

    /// All cells of all tables, with as many cells per row as the header has.
    fn cells(source: &str) -> Vec<Vec<Vec<String>>> {
        let markdown = Markdown::parse(source);
        let rows = |table: &Table<'_>| {
            let columns = table.columns().len();
            (0..table.row_count())
                .map(|row| (0..columns).map(|column| table.cell_text(row, column)).collect())
                .collect()
        };
        Table::all(&markdown).iter().map(rows).collect()
    }

    proptest! {
        #[test]
        fn an_edit_changes_only_what_it_names(
            source in messy_document(), table in 0..3usize, row in 0..4usize, column in 0..4usize, value in "[ -\\[\\]-~é\n]{0,8}",
        ) {
            let markdown = Markdown::parse(&source);
            let tables = Table::all(&markdown);
            let Some(found) = tables.get(table) else { return Ok(()) };
            let before = cells(&source);
            let said = value.trim().replace('\n', " ");

            let mut splices = Splices::default();
            found.set_cell(row, column, &value, &mut splices);
            let mut expected = before.clone();
            if let Some(cell) = expected[table].get_mut(row).and_then(|row| row.get_mut(column)) {
                cell.clone_from(&said);
            }
            let edited = splices.apply(&source);
            prop_assert_eq!(cells(&edited), expected, "{:?}", edited);
            prop_assert_eq!(edited.lines().count(), source.lines().count());

            let mut splices = Splices::default();
            found.insert_row(row, &["x", &value], &mut splices);
            let longer = splices.apply(&source);
            let mut made = vec!["x".to_owned(), said];
            made.resize(found.columns().len(), String::new());
            let mut expected = before.clone();
            let place = row.min(expected[table].len());
            expected[table].insert(place, made);
            prop_assert_eq!(cells(&longer), expected, "{:?}", longer);

            let markdown = Markdown::parse(&longer);
            let mut splices = Splices::default();
            Table::all(&markdown)[table].delete_row(place, &mut splices);
            prop_assert_eq!(splices.apply(&longer), source);
        }
    }
}
