//! Text for a person at a terminal: colour by meaning, columns, and lines that fit the width.

use textwrap::Options;
use unicode_width::UnicodeWidthStr;

use super::terminal::plain;

/// The widest text that is comfortable to read; tables may be wider.
const MEASURE: usize = 100;

/// The least width that a text needs.
const NARROW: usize = 20;

/// How many rows of a long list are shown.
const LISTED: usize = 20;

/// The capabilities of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// In columns.
    pub(crate) width: usize,
    pub(crate) color: bool,
    /// Whether characters beyond ASCII can be shown.
    pub(crate) signs: bool,
}

/// The meaning of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// A heading, or what a reader should see first.
    Strong,
    /// The least important text.
    Faint,
    Good,
    /// Needs attention.
    Warning,
    Bad,
    /// Something to type.
    Command,
}

impl Tone {
    /// The escape sequence that turns it on; `text::terminal` lets these through.
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\u{1b}[1m",
            Self::Faint => "\u{1b}[2m",
            Self::Good => "\u{1b}[32m",
            Self::Warning => "\u{1b}[33m",
            Self::Bad => "\u{1b}[31m",
            Self::Command => "\u{1b}[36m",
        }
    }
}

/// A sign at the start of a line that shows a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Done,
    Current,
    Open,
    Warning,
    Failed,
}

/// One cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
    /// Whether a text that is too wide is cut at its beginning.
    keeps_end: bool,
}

impl Cell {
    pub(crate) fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { text: text.into(), tone, keeps_end: false }
    }

    /// A text of which the end matters, such as a path: in a column that is too narrow it is cut at its beginning.
    pub(crate) fn with_its_end(tone: Tone, text: impl Into<String>) -> Self {
        Self { keeps_end: true, ..Self::new(tone, text) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(Tone::Plain, text)
    }
}

impl Screen {
    /// Paints text in a colour, if the terminal has colours.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if self.color && tone != Tone::Plain && !text.is_empty() {
            format!("{}{text}\u{1b}[0m", tone.code())
        } else {
            text.to_owned()
        }
    }

    /// Paints each line in a colour.
    pub(crate) fn paint_lines(self, tone: Tone, lines: &str) -> String {
        lines.lines().map(|line| self.paint(tone, line) + "\n").collect()
    }

    /// Paints the commands in a text, which are between backticks.
    pub(crate) fn commands(self, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let parts = text.split('`').enumerate();
        let painted = parts.map(|(number, part)| match number % 2 {
            0 => part.to_owned(),
            _ => self.paint(Tone::Command, &format!("`{part}`")),
        });
        painted.collect()
    }

    /// The sign for a mark, one column wide.
    pub(crate) fn mark(self, mark: Mark) -> Cell {
        let (sign, plain, tone) = match mark {
            Mark::Done => ("✓", "+", Tone::Good),
            Mark::Current => ("▸", ">", Tone::Command),
            Mark::Open => ("○", "-", Tone::Faint),
            Mark::Warning => ("!", "!", Tone::Warning),
            Mark::Failed => ("✗", "X", Tone::Bad),
        };
        Cell::new(tone, if self.signs { sign } else { plain })
    }

    /// The sign for a mark, as text.
    pub(crate) fn sign(self, mark: Mark) -> String {
        self.mark(mark).text
    }

    /// A bar of `columns` columns; it is full only if everything is done.
    pub(crate) fn bar(self, done: u64, all: u64, columns: u64) -> String {
        let full = (columns * done.min(all)).checked_div(all).unwrap_or_default();
        let times = |sign: &str, count: u64| sign.repeat(usize::try_from(count).unwrap_or_default());
        let (filled, empty) = if self.signs { ("█", "░") } else { ("#", ".") };
        self.paint(Tone::Good, &times(filled, full)) + &self.paint(Tone::Faint, &times(empty, columns - full))
    }

    /// The same without a width limit, for text that is piped.
    pub(crate) fn unwrapped(self) -> Self {
        Self { width: usize::MAX, ..self }
    }

    /// Wraps prose to the width: the first line after `first`, the others after `indent`. Ends in a line break.
    pub(crate) fn prose(self, first: &str, indent: &str, text: &str) -> String {
        if self.width == usize::MAX {
            return format!("{first}{text}\n");
        }
        let width = self.width.clamp(NARROW, MEASURE);
        // A deep indent leaves no room for the text on a narrow terminal.
        let shallow = |indent| if self.is_too_deep(width_of(indent)) { "  " } else { indent };
        let first = if first.trim().is_empty() { shallow(first) } else { first };
        let indent = shallow(indent);
        let beside = text.split_whitespace().next().map_or(0, |word| width_of(first) + width_of(word));
        if beside > width && !first.trim().is_empty() && width_of(first) > width_of(indent) {
            return format!("{}\n{}", first.trim_end(), self.prose(indent, indent, text));
        }
        // A long path or command stays whole, so that it can be copied.
        let options = Options::new(width).initial_indent(first).subsequent_indent(indent).break_words(false);
        textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation)) + "\n"
    }

    /// True if text that begins in this column has too little room.
    fn is_too_deep(self, column: usize) -> bool {
        column.saturating_add(NARROW) > self.width
    }

    /// The lines of a text, each wrapped below its start.
    pub(crate) fn lines(self, indent: &str, text: &str) -> String {
        let line = |line: &str| {
            let line = plain(line);
            let start = format!("{indent}{}", &line[..line.len() - line.trim_start().len()]);
            if line.trim().is_empty() { "\n".to_owned() } else { self.prose(&start, &start, line.trim()) }
        };
        text.trim_matches('\n').lines().map(line).collect()
    }

    /// A sign followed by wrapped prose.
    pub(crate) fn item(self, indent: &str, mark: Mark, text: &str) -> String {
        let Cell { text: sign, tone, .. } = self.mark(mark);
        let lines = self.prose(&format!("{indent}{sign} "), &format!("{indent}  "), text);
        lines.replacen(&sign, &self.paint(tone, &sign), 1)
    }

    /// A line of cells, two spaces apart; cells that do not fit continue below the second cell.
    pub(crate) fn heading(self, cells: &[Cell]) -> String {
        let second = cells.first().map_or(0, |cell| width_of(&cell.text) + 1);
        let (mut text, mut column) = (String::new(), 0);
        for (number, cell) in cells.iter().enumerate() {
            let gap = if number == 1 { 1 } else { 2 };
            if number > 0 && column + gap + width_of(&cell.text) > self.width {
                text += "\n";
                text.extend(std::iter::repeat_n(' ', second));
                column = second;
            } else if number > 0 {
                text.extend(std::iter::repeat_n(' ', gap));
                column += gap;
            }
            if column + width_of(&cell.text) <= self.width {
                text += &self.paint(cell.tone, &cell.text);
                column += width_of(&cell.text);
                continue;
            }
            // Too wide even for a separate line.
            let below = " ".repeat(second);
            let lines = self.prose(&below, &below, &cell.text);
            let lines: Vec<&str> = lines.lines().map(str::trim_start).collect();
            let painted: Vec<String> = lines.iter().map(|line| self.paint(cell.tone, line)).collect();
            text += &painted.join(&format!("\n{below}"));
            column = second + lines.last().map_or(0, |line| width_of(line));
        }
        text + "\n"
    }

    /// Prints rows in columns, two spaces apart. If the rows are wider than the screen, the widest column is cut.
    pub(crate) fn table(self, indent: &str, rows: &[Vec<Cell>]) -> String {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let widest =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width_of(&cell.text)).max();
        let mut widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or_default()).collect();
        let gaps = width_of(indent) + 2 * columns.saturating_sub(1);
        let over = |widths: &[usize]| (widths.iter().sum::<usize>() + gaps).saturating_sub(self.width);
        // The order of cutting: the widest column, then the others, and last the first one, which names the row.
        let widest = widths.iter().enumerate().max_by_key(|(_, width)| **width).map(|(number, _)| number);
        let mut others: Vec<usize> = (1..columns).collect();
        others.sort_by_key(|number| std::cmp::Reverse(widths[*number]));
        let order: Vec<usize> = widest.into_iter().chain(others).chain([0]).collect();
        // A part of a word is better than nothing: columns are cut below eight only if nothing else helps.
        for (least, number) in [8, 4].into_iter().flat_map(|least| order.iter().map(move |number| (least, *number))) {
            let too_much = over(&widths);
            if let Some(width) = widths.get_mut(number) {
                *width = width.saturating_sub(too_much).max(least.min(*width));
            }
        }
        let mut table = String::new();
        for row in rows {
            let mut line = indent.to_owned();
            for (cell, width) in row.iter().zip(&widths) {
                let text =
                    if cell.keeps_end { self.fitted_end(&cell.text, *width) } else { self.fitted(&cell.text, *width) };
                line.push_str(&self.paint(cell.tone, &text));
                line.extend(std::iter::repeat_n(' ', width - width_of(&text).min(*width) + 2));
            }
            table.push_str(line.trim_end());
            table.push('\n');
        }
        table
    }

    /// Like [`Self::table`], but only the first rows of a long list; `all` is the command that prints the others.
    pub(crate) fn list(self, indent: &str, rows: &[Vec<Cell>], all: &str) -> String {
        match rows.len().checked_sub(LISTED) {
            Some(more) if more > 0 => {
                let rest = format!("and {more} more: `{all}` lists them all");
                self.table(indent, &rows[..LISTED]) + &self.prose(indent, indent, &rest)
            }
            _ => self.table(indent, rows),
        }
    }

    /// Prints labels, each followed by its wrapped text. A row without a label continues the one before.
    pub(crate) fn fields(self, indent: &str, rows: &[(&str, Cell)]) -> String {
        let column = rows.iter().map(|(label, _)| width_of(label)).max().unwrap_or_default();
        let hanging = " ".repeat(width_of(indent) + column + 2);
        // The text goes below the labels if it does not fit next to them.
        let below = self.is_too_deep(hanging.len()).then(|| format!("{indent}  "));
        let hanging = below.clone().unwrap_or(hanging);
        let mut page = String::new();
        for (label, value) in rows {
            let prose = self.prose(&hanging, &hanging, &value.text);
            let lines = prose.lines().map(|line| self.paint(value.tone, line.trim_start()));
            let lines = lines.collect::<Vec<_>>().join(&format!("\n{hanging}"));
            let space = match &below {
                Some(_) if label.is_empty() => "  ".to_owned(),
                Some(below) => format!("\n{below}"),
                None => " ".repeat(column - width_of(label) + 2),
            };
            page = page + indent + &self.paint(Tone::Strong, label) + &space + &lines + "\n";
        }
        page
    }

    /// The separator between facts on one line.
    pub(crate) fn between(self) -> &'static str {
        if self.signs { " · " } else { ", " }
    }

    /// A line cut to `width` columns.
    pub(crate) fn fitted(self, text: &str, width: usize) -> String {
        let text = text.split(['\n', '\r']).next().unwrap_or_default();
        if width_of(text) <= width {
            return text.to_owned();
        }
        let ellipsis = if self.signs { "…" } else { "." };
        let mut cut = String::new();
        for letter in text.chars() {
            if width_of(&cut) + unicode_width::UnicodeWidthChar::width(letter).unwrap_or_default() + 1 > width {
                break;
            }
            cut.push(letter);
        }
        cut.trim_end().to_owned() + ellipsis
    }

    /// A line cut to `width` columns at its beginning.
    pub(crate) fn fitted_end(self, text: &str, width: usize) -> String {
        let text = text.split(['\n', '\r']).next().unwrap_or_default();
        if width_of(text) <= width {
            return text.to_owned();
        }
        let ellipsis = if self.signs { "…" } else { "." };
        let starts = text.char_indices().map(|(at, _)| at);
        let end = starts.map(|at| text[at..].trim_start()).find(|end| width_of(end) < width);
        format!("{ellipsis}{}", end.unwrap_or_default())
    }
}

/// Wraps each line of a page that is too wide below its second column, as in lists of flags and commands. If that
/// column has little room, it moves below the first one.
pub(crate) fn two_columns(page: &str, width: usize) -> String {
    let filled = |first: &str, indent: &str, text: &str| {
        let options = Options::new(width).initial_indent(first).subsequent_indent(indent).break_words(false);
        textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation))
    };
    let wrapped = |line: &str| {
        let start = line.len() - line.trim_start().len();
        let gap = line[start..].find("  ").map(|gap| start + gap);
        let column = gap.map_or(start, |gap| line.len() - line[gap..].trim_start().len());
        let below = " ".repeat(6.min(start + 4));
        match gap {
            _ if width_of(line) <= width => line.to_owned(),
            _ if column + 20 <= width => filled(&line[..column], &" ".repeat(column), &line[column..]),
            Some(gap) => format!("{}\n{}", &line[..gap], filled(&below, &below, &line[column..])),
            None => filled(&below, &below, &line[start..]),
        }
    };
    page.split('\n').map(wrapped).collect::<Vec<_>>().join("\n")
}

/// Wraps the paragraphs of a page that are too wide. Indented lines are lists and stay.
pub(crate) fn paragraphs(page: &str, width: usize) -> String {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with([' ', '-', '=', '/', '$']);
    let mut lines: Vec<String> = Vec::new();
    let mut rest = page.split('\n').peekable();
    while let Some(line) = rest.next() {
        let mut paragraph = vec![line];
        while is_prose(line) && rest.peek().is_some_and(|next| is_prose(next)) {
            paragraph.extend(rest.next());
        }
        if paragraph.iter().all(|line| width_of(line) <= width) {
            lines.extend(paragraph.into_iter().map(str::to_owned));
        } else {
            lines.push(two_columns(&paragraph.join(" "), width));
        }
    }
    lines.join("\n")
}

/// The width of a text in columns.
pub(crate) fn width_of(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// `1 plan`, `2 plans`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Screen = Screen { width: 40, color: false, signs: true };

    fn rows() -> Vec<Vec<Cell>> {
        let row = |number: &str, name: &str| vec![Cell::from(number), Cell::new(Tone::Good, name), Cell::from("done")];
        vec![row("1", "Foundation"), row("2.1", "検索 search and something that is long"), row("3", "")]
    }

    #[test]
    fn a_table_is_aligned_whatever_is_in_it() {
        for width in [20, 40, 80] {
            for color in [false, true] {
                let screen = Screen { width, color, signs: true };
                let table = screen.table("  ", &rows());
                let starts = table.lines().map(|line| {
                    let plain = line.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
                    plain.find("done").map(|at| width_of(&plain[..at]))
                });
                let starts: Vec<_> = starts.collect();
                assert_eq!(starts.len(), 3);
                assert!(starts.iter().all(|start| *start == starts[0] && start.is_some()), "{table}");
                let widest =
                    table.lines().map(|line| width_of(&line.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "")));
                assert!(widest.max().unwrap_or_default() <= width.max(25), "{width}: {table}");
            }
        }
    }

    #[test]
    fn a_table_of_wide_columns_fits_a_narrow_screen() {
        let row = ["a.key.with.a.long.name", "a value of some length", "default", "a default of some length"];
        let rows = vec![row.iter().map(|text| Cell::from(*text)).collect::<Vec<Cell>>()];
        for (width, key) in [(30, "a.key…"), (60, row[0]), (70, row[0])] {
            let table = Screen { width, ..PLAIN }.table("", &rows);
            assert!(width_of(table.trim_end()) <= width, "{width}: {table}");
            assert!(table.starts_with(key.trim_end_matches('…')), "{width}: {table}");
        }
    }

    #[test]
    fn a_cell_that_keeps_its_end_is_cut_at_its_beginning() {
        let path = "~/.claude/gsd-core/workflows/検索/plan-phase.md";
        let table = PLAIN.table("  ", &[vec![Cell::from("file"), Cell::with_its_end(Tone::Plain, path)]]);
        assert_eq!(table, "  file  …re/workflows/検索/plan-phase.md\n");
        assert_eq!(PLAIN.fitted_end("one two", 7), "one two");
        assert_eq!(PLAIN.fitted_end("one two", 5), "…two");
        assert_eq!(Screen { signs: false, ..PLAIN }.fitted_end("one two", 3), ".wo");
    }

    #[test]
    fn text_goes_below_its_label_if_it_does_not_fit_next_to_it() {
        let narrow = Screen { width: 30, ..PLAIN };
        let shown = narrow.fields("", &[("A long label of it", Cell::from("what belongs to it, in words"))]);
        assert_eq!(shown, "A long label of it\n  what belongs to it, in words\n");
        assert!(
            narrow
                .prose(&" ".repeat(25), &" ".repeat(25), "some words in a row")
                .lines()
                .all(|line| width_of(line) <= 30)
        );
        let heading = narrow.heading(&[Cell::from("Next"), Cell::from("gsd-tools validate health --repair")]);
        assert!(heading.lines().all(|line| width_of(line) <= 30), "{heading}");
    }

    #[test]
    fn prose_wraps_between_words_and_keeps_commands_whole() {
        let text = "run `gsd-tools install --claude --global` and then open a new session of the host";
        let told = PLAIN.prose("  hint: ", "        ", text);
        assert!(told.lines().all(|line| width_of(line) <= 40), "{told}");
        assert_eq!(told.split_whitespace().collect::<Vec<_>>().join(" "), format!("hint: {text}"));
        assert!(PLAIN.prose("", "", &"x".repeat(60)).starts_with(&"x".repeat(60)));
    }

    #[test]
    fn labels_are_aligned_and_their_text_wraps_next_to_them() {
        let rows = [
            ("Next", Cell::new(Tone::Command, "/gsd-execute-phase 2")),
            ("", Cell::from("Phase 2 has 2 plans to execute, 02-02 and 02-03")),
            ("Interrupted", Cell::from("")),
        ];
        let shown = PLAIN.fields("  ", &rows);
        let expected = "  Next         /gsd-execute-phase 2\n               Phase 2 has 2 plans to\n               execute, 02-02 and 02-03\n";
        assert!(shown.starts_with(expected), "{shown}");
    }

    #[test]
    fn a_long_list_shows_how_much_is_left_out() {
        let rows: Vec<Vec<Cell>> = (1..=23).map(|number| vec![Cell::from(number.to_string())]).collect();
        let shown = PLAIN.list("  ", &rows, "gsd-tools x --json");
        assert!(shown.ends_with("\n  20\n  and 3 more: `gsd-tools x --json` lists\n  them all\n"), "{shown}");
        assert_eq!(PLAIN.list("", &rows[..20], "x").lines().count(), 20);
    }

    #[test]
    fn lists_wrap_below_their_second_column() {
        let page = "Flags:\n  --raw    Print a plain value instead of JSON, where a command has one\n  -x  Short\n";
        let told = two_columns(page, 40);
        assert!(told.lines().all(|line| width_of(line) <= 40) && told.ends_with("\n  -x  Short\n"), "{told}");
        assert!(told.contains("\n           of JSON"), "{told}");
        assert_eq!(two_columns(page, 100), page);
        let narrow = two_columns("  a-long-name-of-a-flag    What the flag does\n", 30);
        assert_eq!(narrow, "  a-long-name-of-a-flag\n      What the flag does\n");
        let prose = "One two three four five\nsix seven.\n\n  a  b\n";
        assert_eq!(paragraphs(prose, 20), "One two three four\nfive six seven.\n\n  a  b\n");
        assert_eq!(paragraphs(prose, 40), prose);
    }

    #[test]
    fn a_bar_is_full_only_if_everything_is_done() {
        assert_eq!(PLAIN.bar(9, 10, 5), "████░");
        assert_eq!(PLAIN.bar(10, 10, 5), "█████");
        assert_eq!(PLAIN.bar(0, 0, 3), "░░░");
        assert_eq!(Screen { signs: false, ..PLAIN }.bar(1, 2, 4), "##..");
    }

    #[test]
    fn colour_is_only_used_when_wanted() {
        assert_eq!(PLAIN.paint(Tone::Bad, "x"), "x");
        let colored = Screen { color: true, ..PLAIN }.paint(Tone::Bad, "x");
        assert_eq!(crate::text::terminal::shown(&colored), colored, "the terminal shows it as it is");
    }
}
