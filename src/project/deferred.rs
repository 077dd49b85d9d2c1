//! `deferred-items.md` of a phase: problems found during the work and left for later.
//!
//! An item is an entry of a list, a row of a table, or a heading with fields such as `Found during:` below it. It is
//! settled if its box is ticked, if its text is struck through or marked as resolved, or if a line `status:` below says
//! so.

use std::ops::Range;

use super::noted::{SETTLED, is_marked_settled, noted};
use crate::text::checklist::{COLONS, ListItem};
use crate::text::markdown::{Heading, Markdown};
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
    /// On one line, without marks.
    pub(crate) text: String,
    pub(crate) state: ItemState,
    /// Its lines; `None` for a row of a table.
    lines: Option<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemState {
    Open,
    Acknowledged,
    Settled,
}

/// The word that marks an item as known.
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

    /// Adds a note below the item with this text that it is known. `None` if no open item outside of tables has that
    /// text.
    pub(crate) fn acknowledge(&self, text: &str) -> Option<String> {
        let item = self.items.iter().find(|item| item.state == ItemState::Open && item.text == text.trim())?;
        let lines = item.lines.clone()?;
        let line = &self.markdown.lines()[lines.end - 1];
        let newline = self.markdown.newline();
        let own = self.markdown.line(lines.start);
        let note = if list_entry(own).is_some() {
            let mark = own.find(' ').map_or(2, |at| at + 1);
            format!("{}status: {ACKNOWLEDGED}", " ".repeat(mark))
        } else {
            format!("- status: {ACKNOWLEDGED}")
        };
        let mut splices = Splices::default();
        if line.next > line.end {
            splices.insert(line.next, format!("{note}{newline}"));
        } else {
            splices.insert(line.end, format!("{newline}{note}"));
        }
        Some(splices.apply(self.markdown.text()))
    }
}

/// The sections that are one item each, and the unindented list entries elsewhere, each with the indented lines below
/// it.
fn entries(markdown: &Markdown<'_>) -> Vec<DeferredItem> {
    let sections = sections(markdown);
    let is_apart = |line: usize| !sections.iter().any(|(_, lines)| lines.contains(&line));
    let mut found: Vec<Range<usize>> = Vec::new();
    for line in (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line) && is_apart(*line)) {
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
    let entry = |lines: Range<usize>| {
        let (ticked, first) = list_entry(markdown.line(lines.start))?;
        let mut words = vec![first];
        let mut state = if ticked || is_marked_settled(first) { ItemState::Settled } else { ItemState::Open };
        for line in lines.start + 1..lines.end {
            let text = markdown.line(line).trim();
            match status(text) {
                Some(word) => state = settled(word, state),
                None => words.push(text),
            }
        }
        let text = words.join(" ").trim().to_owned();
        (!text.is_empty()).then_some(DeferredItem { text, state, lines: Some(lines) })
    };
    let section = |(heading, lines): &(Heading<'_>, Range<usize>)| {
        let ticked = heading.title.strip_prefix('[').and_then(|inside| Some(inside.split_once(']')?.0.trim() == "x"));
        let is_settled = ticked.unwrap_or(false) || is_marked_settled(heading.title);
        let state = if is_settled { ItemState::Settled } else { ItemState::Open };
        let own = lines.clone().filter(|line| markdown.is_prose(*line));
        let state =
            own.filter_map(|line| status(markdown.line(line).trim())).fold(state, |state, word| settled(word, state));
        DeferredItem { text: heading.title.to_owned(), state, lines: Some(lines.clone()) }
    };
    let mut items: Vec<(usize, DeferredItem)> =
        found.into_iter().filter_map(|lines| Some((lines.start, entry(lines)?))).collect();
    items.extend(sections.iter().map(|found| (found.1.start, section(found))));
    items.sort_by_key(|(line, _)| *line);
    items.into_iter().map(|(_, item)| item).collect()
}

/// The labels of the fields of one item, each on its own line.
const FIELDS: &[&str] = &[
    "found during",
    "found in",
    "found by",
    "found",
    "discovered during",
    "discovered in",
    "discovered by",
    "discovered",
    "observed",
    "status",
    "severity",
    "impact",
    "scope",
    "follow-up",
    "follow up",
    "out of scope because",
    "why deferred",
    "reason deferred",
    "deferred because",
    "deferred to",
    "suggested fix",
    "resolution",
    "root cause",
    "repro",
    "evidence",
];

/// The headings below the title whose lines are fields of one item, with their lines up to the last non-empty one.
fn sections<'text>(markdown: &Markdown<'text>) -> Vec<(Heading<'text>, Range<usize>)> {
    let headings: Vec<Heading<'text>> = markdown.headings().collect();
    let mut found: Vec<(Heading<'text>, Range<usize>)> = Vec::new();
    for (index, heading) in headings.iter().enumerate().filter(|(_, heading)| heading.level > 1) {
        let section = markdown.section(heading);
        if found.last().is_some_and(|(_, lines)| lines.contains(&heading.line)) {
            continue;
        }
        let end = headings.get(index + 1).map_or(section.end, |next| next.line.min(section.end));
        let own = || (section.start..end).filter(|line| markdown.is_prose(*line)).map(|line| markdown.line(line));
        let labels = || own().filter_map(label);
        let is_of_fields = own().filter(|line| list_entry(line).is_some()).all(|line| label(line).is_some());
        if is_of_fields && labels().any(|label| FIELDS.contains(&label.to_lowercase().as_str())) {
            let last = section.clone().rev().find(|line| !markdown.line(*line).trim().is_empty());
            found.push((*heading, heading.line..last.map_or(section.start, |last| last + 1)));
        }
    }
    found
}

/// The label of a line `- **Label:** text`, `**Label**: text` or `Label: text`.
fn label(line: &str) -> Option<&str> {
    const LONGEST: usize = 40;
    let line = list_entry(line).map_or(line, |(_, text)| text).trim();
    let (label, _) = line.split_once(COLONS)?;
    let label = label.trim_matches(['*', '_', ' ']);
    (!label.is_empty() && label.len() <= LONGEST).then_some(label)
}

/// Whether the box of an unindented list entry is ticked, and the text of the entry.
pub(super) fn list_entry(line: &str) -> Option<(bool, &str)> {
    let item = ListItem::read(line).filter(|item| item.indent == 0)?;
    Some((item.is_ticked(), item.text))
}

/// The status in a line `status: resolved`, in any of the ways people write it.
fn status(line: &str) -> Option<&str> {
    label(line).filter(|label| label.eq_ignore_ascii_case("status"))?;
    Some(line.split_once(COLONS)?.1)
}

fn settled(value: &str, state: ItemState) -> ItemState {
    match noted(value, &[ACKNOWLEDGED]) {
        Some(_) => ItemState::Acknowledged,
        None if noted(value, SETTLED).is_some() => ItemState::Settled,
        None => state,
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
    fn a_heading_with_fields_below_is_one_item() {
        for mark in ["- ", "* ", "", "1. "] {
            for (open, close) in [("**", ":**"), ("**", "**:"), ("", ":"), ("**", "：**")] {
                for heading in ["##", "###"] {
                    let field = |label: &str, value: &str| format!("{mark}{open}{label}{close} {value}\n");
                    let body = field("Found during", "Plan 02-01") + &field("Observed", "17px") + &field("Scope", "no");
                    for (status, state) in [
                        (String::new(), ItemState::Open),
                        (field("Status", "open — later"), ItemState::Open),
                        (field("Status", "**RESOLVED** in 02-03"), ItemState::Settled),
                        (field("status", "✅ fixed (2026-08-17)"), ItemState::Settled),
                        (field("Status", "acknowledged"), ItemState::Acknowledged),
                    ] {
                        let text = format!(
                            "# Deferred Items\n\n## Group\n\n- one\n\n{heading} Overflow at 375px\n\n{body}{status}\n{heading} Next\n\n{body}"
                        );
                        let expected = [
                            ("one".into(), ItemState::Open),
                            ("Overflow at 375px".into(), state),
                            ("Next".into(), ItemState::Open),
                        ];
                        assert_eq!(told(&text), expected, "{text}");
                        if state == ItemState::Open {
                            let edited = DeferredItems::parse(&text).acknowledge("Overflow at 375px").unwrap();
                            assert_eq!(told(&edited)[1].1, ItemState::Acknowledged, "{edited}");
                            assert_eq!(told(&edited)[2], expected[2], "{edited}");
                        }
                    }
                }
            }
        }
        let listed = "## Plan 02\n\n- **Login:** broken\n- **Search:** slow\n";
        assert_eq!(told(listed).len(), 2, "labels that are no fields are items");
    }

    #[test]
    fn an_item_that_is_struck_through_or_marked_is_settled() {
        for text in ["- ~~a~~", "- ~~a~~ — see 02-01", "- a — RESOLVED 2026-08-17", "## ~~A~~\n- Found during: x\n"]
        {
            assert_eq!(told(text)[0].1, ItemState::Settled, "{text}");
        }
        assert_eq!(told("- a — resolved once b is")[0].1, ItemState::Open);
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
        fn an_acknowledged_item_is_not_open_any_more_and_nothing_else_changes(
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
