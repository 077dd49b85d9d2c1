//! `deferred-items.md` of a phase: what was seen on the way and left for later.
//!
//! An item is an entry of a list or a row of a table. A box that is ticked, or a line `status:` below an entry, says
//! that it is settled.

use std::ops::Range;

use crate::text::markdown::Markdown;
use crate::text::splice::Splices;
use crate::text::table::Table;

/// The items of a text. Borrows it.
#[derive(Clone, Debug)]
pub(crate) struct DeferredItems<'text> {
    markdown: Markdown<'text>,
    items: Vec<DeferredItem>,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeferredItem {
    /// In one line, without marks.
    pub(crate) text: String,
    pub(crate) state: ItemState,
    /// Its lines, where it is an entry of a list.
    lines: Option<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemState {
    Open,
    Acknowledged,
    Settled,
}

/// The word that says that an item is known.
const ACKNOWLEDGED: &str = "acknowledged";

impl<'text> DeferredItems<'text> {
    pub(crate) fn parse(text: &'text str) -> Self {
        let markdown = Markdown::parse(text);
        let mut items = entries(&markdown);
        for table in Table::all(&markdown) {
            for row in 0..table.row_count() {
                let cells = (0..table.columns().len()).map(|column| table.cell_text(row, column));
                let cells: Vec<String> = cells.filter(|cell| !cell.trim().is_empty()).collect();
                if !cells.is_empty() {
                    items.push(DeferredItem { text: cells.join(" — "), state: ItemState::Open, lines: None });
                }
            }
        }
        Self { markdown, items }
    }

    pub(crate) fn items(&self) -> &[DeferredItem] {
        &self.items
    }

    /// Notes below the item with this text that it is known. `None` where there is no open entry of that text.
    pub(crate) fn acknowledge(&self, text: &str) -> Option<String> {
        let item = self.items.iter().find(|item| item.state == ItemState::Open && item.text == text.trim())?;
        let lines = item.lines.clone()?;
        let line = &self.markdown.lines()[lines.end - 1];
        let newline = self.markdown.newline();
        let own = self.markdown.line(lines.start);
        let mark = own.find(' ').map_or(2, |at| at + 1);
        let note = format!("{}status: {ACKNOWLEDGED}", " ".repeat(mark));
        let mut splices = Splices::default();
        if line.next > line.end {
            splices.insert(line.next, format!("{note}{newline}"));
        } else {
            splices.insert(line.end, format!("{newline}{note}"));
        }
        Some(splices.apply(self.markdown.text()))
    }
}

/// The entries of lists that stand at the margin, each with the indented lines below it.
fn entries(markdown: &Markdown<'_>) -> Vec<DeferredItem> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for line in (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line)) {
        let text = markdown.line(line);
        if list_entry(text).is_some() {
            found.push(line..line + 1);
        } else if let Some(last) = found.last_mut()
            && last.end == line
            && text.starts_with([' ', '\t'])
            && !text.trim().is_empty()
        {
            last.end = line + 1;
        }
    }
    found
        .into_iter()
        .filter_map(|lines| {
            let (ticked, first) = list_entry(markdown.line(lines.start))?;
            let mut words = vec![first];
            let mut state = if ticked { ItemState::Settled } else { ItemState::Open };
            for line in lines.start + 1..lines.end {
                let text = markdown.line(line).trim();
                match status(text) {
                    Some(word) => state = settled(&word, state),
                    None => words.push(text),
                }
            }
            let text = words.join(" ").trim().to_owned();
            (!text.is_empty()).then_some(DeferredItem { text, state, lines: Some(lines) })
        })
        .collect()
}

/// Whether the box of a list's entry at the margin is ticked, and the text of the entry.
pub(super) fn list_entry(line: &str) -> Option<(bool, &str)> {
    let rest = match line.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => line.trim_start_matches(|first: char| first.is_ascii_digit()).strip_prefix(['.', ')'])?,
    };
    let numbered = line.starts_with(|first: char| first.is_ascii_digit());
    let bulleted = line.starts_with(['-', '*', '+']);
    let rest = rest.strip_prefix([' ', '\t']).filter(|_| numbered || bulleted)?.trim();
    let boxed = ["[x]", "[X]", "[ ]"].into_iter().find_map(|mark| Some((mark, rest.strip_prefix(mark)?)));
    Some(boxed.map_or((false, rest), |(mark, text)| (mark != "[ ]", text.trim())))
}

/// The word of a line `status: resolved`, in any of the ways people write it.
fn status(line: &str) -> Option<String> {
    let bare = line.trim_start_matches(['-', '*', ' ']);
    let rest = bare.get(..6).filter(|word| word.eq_ignore_ascii_case("status")).map(|_| &bare[6..])?;
    let word = rest.trim_start_matches('*').strip_prefix(':')?.trim_matches(['*', ' ']);
    Some(word.to_lowercase())
}

fn settled(word: &str, state: ItemState) -> ItemState {
    match word {
        ACKNOWLEDGED => ItemState::Acknowledged,
        "resolved" | "done" | "complete" | "completed" | "closed" | "fixed" | "wontfix" => ItemState::Settled,
        _ => state,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(text: &str) -> Vec<(String, ItemState)> {
        DeferredItems::parse(text).items().iter().map(|item| (item.text.clone(), item.state)).collect()
    }

    #[test]
    fn entries_and_rows_are_items() {
        let text = "# Later\n\n- one\n  more\n- [x] two\n* [ ] three\n  - **Status:** resolved\n1. four\n  status: acknowledged\n\n\
            ```\n- code\n```\n\n| a | b |\n|---|---|\n| c | d |\n";
        assert_eq!(
            told(text),
            [
                ("one more".into(), ItemState::Open),
                ("two".into(), ItemState::Settled),
                ("three".into(), ItemState::Settled),
                ("four".into(), ItemState::Acknowledged),
                ("c — d".into(), ItemState::Open)
            ]
        );
    }

    #[test]
    fn an_acknowledgement_is_one_line_below_its_entry() {
        let edited = |text: &str, item: &str| DeferredItems::parse(text).acknowledge(item);
        assert_eq!(
            edited("- a\r\n  b\r\n- c  \r\n", "a b").unwrap(),
            "- a\r\n  b\r\n  status: acknowledged\r\n- c  \r\n"
        );
        assert_eq!(edited("1. a", "a").unwrap(), "1. a\n   status: acknowledged");
        for (text, item) in [("- a\n  status: done\n", "a"), ("- a\n", "b"), ("| a |\n|---|\n| c |\n", "c"), ("", "")] {
            assert_eq!(edited(text, item), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_acknowledged_is_no_longer_open_and_nothing_else_changes(
            text in "(- |\\* |1\\. |\\[x\\] |  |a|b|\n|\r\n|status: done|```\n|\\| a \\|\n)*"
        ) {
            let items = DeferredItems::parse(&text);
            for item in items.items() {
                let Some(edited) = items.acknowledge(&item.text) else { continue };
                prop_assert_eq!(edited.lines().count(), text.lines().count() + 1);
                let open = |text: &str| told(text).iter().filter(|(_, state)| *state == ItemState::Open).count();
                prop_assert_eq!(open(&edited) + 1, open(&text));
            }
        }
    }
}
