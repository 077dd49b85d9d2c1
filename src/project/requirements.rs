//! REQUIREMENTS.md: checkbox lines and the traceability table, the two places that show whether a requirement is met.

use std::cmp::Ordering;
use std::ops::Range;

use crate::project::phase::PhaseId;
use crate::text::checklist::{COLONS, ListItem};
use crate::text::markdown::{Heading, Markdown};
use crate::text::splice::{Splices, with_parts};

/// The requirements of a project. Borrows the text.
#[derive(Clone, Debug)]
pub(crate) struct Requirements<'text> {
    text: &'text str,
    boxes: Vec<RequirementBox<'text>>,
    rows: Vec<TraceRow<'text>>,
    has_table: bool,
    /// Every line that begins with a bold identifier, with or without a checkbox.
    named: Vec<NamedRequirement<'text>>,
    /// The identifiers in the first column of any table.
    tabled: Vec<&'text str>,
}

/// A line such as `- **AUTH-01**: text`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedRequirement<'text> {
    id: &'text str,
    /// The titles of the sections that contain it.
    titles: Vec<&'text str>,
}

/// A line `- [ ] **AUTH-01**: text`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RequirementBox<'text> {
    id: &'text str,
    /// The text of the requirement.
    asks: &'text str,
    /// The bytes of the character between the brackets.
    mark: Range<usize>,
    ticked: bool,
}

/// A row of the traceability table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TraceRow<'text> {
    id: &'text str,
    /// The phase that should meet it.
    phase: Option<&'text str>,
    /// The bytes between the two bars of the status cell.
    status: Range<usize>,
}

impl<'text> TraceRow<'text> {
    /// The identifiers of the phases that should meet it.
    fn phases(&self) -> impl Iterator<Item = &'text str> + use<'text> {
        let cells = self.phase.unwrap_or_default().split(',');
        let bare = cells.map(|cell| cell.trim().trim_start_matches("Phase ").trim());
        bare.filter(|id| id.starts_with(|first: char| first.is_ascii_alphanumeric()))
    }
}

/// A requirement with the phases that the table maps it to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequirementEntry<'text> {
    pub(crate) id: &'text str,
    pub(crate) text: &'text str,
    pub(crate) ticked: bool,
    pub(crate) phases: Vec<&'text str>,
}

/// The result of a change to one requirement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequirementEdit {
    pub(crate) checkbox: PlaceChange,
    pub(crate) row: PlaceChange,
}

/// The result of a change in one of the places that show a requirement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PlaceChange {
    #[default]
    Absent,
    /// The value was already there.
    Kept,
    Changed,
}

impl RequirementEdit {
    pub(crate) fn is_found(self) -> bool {
        self.checkbox.max(self.row) > PlaceChange::Absent
    }

    pub(crate) fn is_changed(self) -> bool {
        self.checkbox.max(self.row) == PlaceChange::Changed
    }

    /// The result of making the same change again.
    pub(crate) fn again(self) -> Self {
        Self { checkbox: self.checkbox.min(PlaceChange::Kept), row: self.row.min(PlaceChange::Kept) }
    }
}

const COMPLETE: &str = "Complete";
/// The status of a requirement whose work has gaps.
const REOPENED: &str = "Gaps Found";

/// Which words of the traceability table may be replaced by `Complete`. Every other word, such as `Blocked` or
/// `Deferred`, is a decision of the user: its requirement is not changed, including its checkbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// No work has begun, or the work has gaps.
    Pending,
    /// As [`Self::Pending`], and work in progress.
    Started,
}

impl Open {
    fn holds(self, word: &str) -> bool {
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        word.is_empty() || is("Pending") || is(REOPENED) || (self == Self::Started && is("In Progress"))
    }
}

impl<'text> Requirements<'text> {
    pub(crate) fn parse(text: &'text str) -> Self {
        let markdown = Markdown::parse(text);
        let mut requirements =
            Self { text, boxes: Vec::new(), rows: Vec::new(), has_table: false, named: Vec::new(), tabled: Vec::new() };
        let mut table = CurrentTable::None;
        let mut headings = markdown.headings().peekable();
        let mut above: Vec<Heading<'text>> = Vec::new();
        for (index, line) in markdown.lines().iter().enumerate() {
            if !markdown.is_prose(index) || !markdown.line(index).trim_start().starts_with('|') {
                table = CurrentTable::None;
            } else {
                table = requirements.read_row(table, line.start..line.end);
            }
            while let Some(heading) = headings.next_if(|heading| heading.line <= index) {
                above.retain(|other| other.level < heading.level);
                above.push(heading);
            }
            if markdown.is_prose(index) {
                requirements.boxes.extend(requirement_box(markdown.line(index), line.start));
                let titles = || above.iter().map(|heading| heading.title).collect();
                let named = bold_id(markdown.line(index)).map(|id| NamedRequirement { id, titles: titles() });
                requirements.named.extend(named);
            }
        }
        requirements
    }

    /// The requirements that have a checkbox or begin the row of a table, in order, each once.
    pub(crate) fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for id in self.boxes.iter().map(|line| line.id).chain(self.tabled.iter().copied()) {
            if !ids.iter().any(|known| known.eq_ignore_ascii_case(id)) {
                ids.push(id.to_owned());
            }
        }
        ids
    }

    /// The requirements that have a checkbox, in order, with their phases.
    pub(crate) fn entries(&self) -> Vec<RequirementEntry<'text>> {
        let phases = |id: &str| {
            let rows = self.rows.iter().filter(|row| row.id.eq_ignore_ascii_case(id));
            rows.flat_map(TraceRow::phases).collect()
        };
        let entry = |line: &RequirementBox<'text>| RequirementEntry {
            id: line.id,
            text: line.asks,
            ticked: line.ticked,
            phases: phases(line.id),
        };
        self.boxes.iter().map(entry).collect()
    }

    /// The requirements that the traceability table maps to a phase, in order, each once.
    pub(crate) fn of_phase(&self, phase: &str) -> Vec<&'text str> {
        let id = PhaseId::new(phase);
        let mut found: Vec<&str> = Vec::new();
        for row in &self.rows {
            if row.phases().any(|phase| id.matches(phase)) && !found.contains(&row.id) {
                found.push(row.id);
            }
        }
        found
    }

    /// The text with the phases of its table renamed; `new` gives the new name of a phase, if it has one.
    pub(crate) fn with_phases(&self, new: impl Fn(&str) -> Option<String>) -> String {
        let phases = self.rows.iter().flat_map(TraceRow::phases);
        let parts: Vec<_> = phases.filter_map(|phase| Some((phase, new(phase)?))).collect();
        with_parts(self.text, &parts)
    }

    /// The text of a requirement, with the indented lines that continue it; `None` if no list contains it.
    pub(crate) fn whole_text(&self, id: &str) -> Option<String> {
        let mut lines =
            self.text.lines().skip_while(|line| !bold_id(line).is_some_and(|known| known.eq_ignore_ascii_case(id)));
        let (_, asks) = lines.next()?.split_once("**")?.1.split_once("**")?;
        let mut text = asks.trim().trim_start_matches(COLONS).trim().to_owned();
        let continues =
            |line: &&str| line.starts_with([' ', '\t']) && !line.trim().is_empty() && bold_id(line).is_none();
        for line in lines.take_while(continues) {
            text.push(' ');
            text.push_str(line.trim());
        }
        Some(text)
    }

    /// How many requirements have a checkbox, and how many of those are ticked.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.boxes.len(), self.boxes.iter().filter(|line| line.ticked).count())
    }

    /// The requirements of the milestone `version` without a row in the traceability table, each once. Those below a
    /// heading for later or no work need no row; without a table none do.
    pub(crate) fn untraced(&self, version: Option<&str>) -> Vec<&'text str> {
        let has_row = |id: &str| self.rows.iter().any(|row| row.id.eq_ignore_ascii_case(id));
        let mut untraced: Vec<&str> = Vec::new();
        for line in self.named.iter().filter(|_| self.has_table) {
            let is_new = !untraced.contains(&line.id) && !has_row(line.id);
            if is_new && !line.titles.iter().any(|title| is_for_later(title, version)) {
                untraced.push(line.id);
            }
        }
        untraced
    }

    /// Whether a line or a row is about the requirement.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.named
            .iter()
            .map(|line| line.id)
            .chain(self.rows.iter().map(|row| row.id))
            .chain(self.tabled.iter().copied())
            .any(|own| own.eq_ignore_ascii_case(id))
    }

    /// Whether there is a traceability table.
    pub(crate) fn has_table(&self) -> bool {
        self.has_table
    }

    /// Ticks the line and completes the rows of a requirement. A requirement with a row that has any word other than
    /// `Complete` and the words of `open` counts as absent.
    pub(crate) fn complete(&self, id: &str, open: Open, splices: &mut Splices) -> RequirementEdit {
        let word = |row: &TraceRow<'_>| self.text[row.status.clone()].trim();
        let rows = self.rows.iter().filter(|row| row.id.eq_ignore_ascii_case(id));
        let mut words = rows.map(word).filter(|word| !word.eq_ignore_ascii_case(COMPLETE));
        if words.any(|word| !open.holds(word)) {
            return RequirementEdit::default();
        }
        self.set(id, true, splices)
    }

    /// Unticks the line of a requirement and reopens its complete rows.
    pub(crate) fn reopen(&self, id: &str, splices: &mut Splices) -> RequirementEdit {
        self.set(id, false, splices)
    }

    fn set(&self, id: &str, done: bool, splices: &mut Splices) -> RequirementEdit {
        let mut outcome = RequirementEdit::default();
        for line in self.boxes.iter().filter(|line| line.id.eq_ignore_ascii_case(id)) {
            outcome.checkbox = outcome.checkbox.max(PlaceChange::Kept);
            if line.ticked != done {
                splices.replace(line.mark.clone(), if done { "x" } else { " " });
                outcome.checkbox = PlaceChange::Changed;
            }
        }
        for row in self.rows.iter().filter(|row| row.id.eq_ignore_ascii_case(id)) {
            outcome.row = outcome.row.max(PlaceChange::Kept);
            let cell = &self.text[row.status.clone()];
            if cell.trim().eq_ignore_ascii_case(COMPLETE) != done {
                let word = if done { COMPLETE } else { REOPENED };
                splices.replace(row.status.clone(), with_word(cell, word));
                outcome.row = PlaceChange::Changed;
            }
        }
        outcome
    }

    fn read_row(&mut self, table: CurrentTable, line: Range<usize>) -> CurrentTable {
        let cells = cells(self.text, line);
        let words = |cell: &Range<usize>| self.text[cell.clone()].trim().to_ascii_lowercase();
        let first = cells.first().map(|cell| self.text[cell.clone()].trim().trim_matches(['*', '`']).trim());
        // The first line of a table is its header.
        self.tabled.extend(first.filter(|id| table != CurrentTable::None && is_id(id)));
        match table {
            CurrentTable::None => {
                let status = cells.iter().position(|cell| words(cell) == "status");
                match status.filter(|_| cells.first().is_some_and(|cell| words(cell).starts_with("req"))) {
                    Some(column) => {
                        self.has_table = true;
                        CurrentTable::Traceability {
                            column,
                            phase: cells.iter().position(|cell| words(cell) == "phase"),
                        }
                    }
                    None => CurrentTable::Other,
                }
            }
            CurrentTable::Traceability { column, phase } => {
                if let (Some(id), Some(status)) = (first, cells.get(column)) {
                    let rules = id.bytes().all(|byte| matches!(byte, b'-' | b':' | b' '));
                    if !rules {
                        let phase = phase.and_then(|phase| cells.get(phase)).map(|cell| self.text[cell.clone()].trim());
                        self.rows.push(TraceRow { id, phase, status: status.clone() });
                    }
                }
                table
            }
            CurrentTable::Other => table,
        }
    }
}

/// The table that the previous lines belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CurrentTable {
    None,
    Traceability { column: usize, phase: Option<usize> },
    Other,
}

/// The bytes of each cell of a table line, between its bars.
fn cells(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = None;
    let bytes = text.as_bytes();
    for at in line.clone() {
        if bytes[at] == b'|' && (at == line.start || bytes[at - 1] != b'\\') {
            if let Some(start) = start {
                cells.push(start..at);
            }
            start = Some(at + 1);
        }
    }
    if let Some(start) = start.filter(|start| !text[*start..line.end].trim().is_empty()) {
        cells.push(start..line.end);
    }
    cells
}

/// Replaces the word of a cell and keeps the white space around it.
fn with_word(cell: &str, word: &str) -> String {
    let inside = cell.trim();
    if inside.is_empty() {
        return format!(" {word} ");
    }
    let start = cell.len() - cell.trim_start().len();
    format!("{}{word}{}", &cell[..start], &cell[start + inside.len()..])
}

fn requirement_box(line: &str, start: usize) -> Option<RequirementBox<'_>> {
    let item = ListItem::read(line)?;
    let tick = item.tick.filter(|tick| tick.is_ticked() || tick.sign == ' ')?;
    let (id, asks) = item.text.strip_prefix("**")?.split_once("**")?;
    let (id, asks) = (id.trim().trim_end_matches(COLONS).trim_end(), asks.trim_start_matches(COLONS).trim());
    let place = tick.place();
    let mark = start + place.start..start + place.end;
    (!id.is_empty()).then(|| RequirementBox { id, asks, mark, ticked: tick.is_ticked() })
}

/// The bold identifier at the start of a list item, with or without a checkbox before it.
fn bold_id(line: &str) -> Option<&str> {
    let item = ListItem::read(line)?;
    // A link or a tag in brackets may be there instead of the checkbox.
    let rest = item.text.strip_prefix('[').and_then(|inside| Some(inside.split_once(']')?.1)).unwrap_or(item.text);
    let (id, _) = rest.trim_start().strip_prefix("**")?.split_once("**")?;
    Some(id.trim().trim_end_matches(COLONS).trim_end()).filter(|id| is_id(id))
}

/// Whether a text has the form of an identifier: letters, a dash, a number, such as `AUTH-01`.
pub(crate) fn is_id(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && text.rsplit_once('-').is_some_and(|(_, number)| number.starts_with(|first: char| first.is_ascii_digit()))
}

/// Whether a heading is for work that is deferred, left out, or in a later major version than the milestone's.
fn is_for_later(title: &str, version: Option<&str>) -> bool {
    const LATER: &[&str] = &["deferred", "future", "backlog", "later", "someday", "out of scope", "out-of-scope"];
    let title = title.to_lowercase();
    let major = |text: &str| -> Option<u64> {
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '.');
        words.filter_map(|word| word.strip_prefix('v')).find_map(|word| word.split('.').next()?.parse().ok())
    };
    let current = version.and_then(|version| major(&version.to_lowercase())).unwrap_or(1);
    LATER.iter().any(|word| title.contains(word)) || major(&title).is_some_and(|major| major > current)
}

/// The identifiers that a person typed, separated by commas or white space; brackets and quotes are dropped. A range
/// such as `AUTH-01..AUTH-04` is expanded.
pub(crate) fn typed_ids<T: AsRef<str>>(words: &[T]) -> Vec<String> {
    let apart = |letter: char| letter.is_whitespace() || matches!(letter, ',' | '[' | ']' | '"' | '\'');
    let words = words.iter().flat_map(|word| word.as_ref().split(apart)).filter(|word| !word.is_empty());
    let mut joined: Vec<String> = Vec::new();
    for word in words {
        // Joins the parts of a range with white space around the dots.
        match joined.last_mut() {
            Some(last) if last.ends_with("..") || word.starts_with("..") => last.push_str(word),
            _ => joined.push(word.to_owned()),
        }
    }
    joined.into_iter().flat_map(|word| range(&word).unwrap_or_else(|| vec![word])).collect()
}

/// The largest number of identifiers in a range: a larger one is a typing error.
const RANGE: u64 = 999;

/// The identifiers from `AUTH-01` to `AUTH-04` for `AUTH-01..AUTH-04` or `AUTH-01..04`.
fn range(word: &str) -> Option<Vec<String>> {
    let (first, last) = word.split_once("..")?;
    let (name, from) = first.rsplit_once('-')?;
    let to = match last.rsplit_once('-') {
        Some((other, to)) => Some(to).filter(|_| other.eq_ignore_ascii_case(name))?,
        None => last,
    };
    let number = |digits: &str| -> Option<u64> {
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
        digits.parse().ok()
    };
    let (start, end) = (number(from)?, number(to)?);
    let fits = start <= end && end - start < RANGE;
    fits.then(|| (start..=end).map(|at| format!("{name}-{at:0width$}", width = from.len())).collect())
}

/// Whether a word in a list of identifiers means that the list is empty, or still open.
pub(crate) fn is_open_word(word: &str) -> bool {
    ["tbd", "none", "null", "n/a"].contains(&word.to_lowercase().as_str())
}

/// As `left.cmp(right)`, with each run of digits compared as a number: `X-2` comes before `X-10`.
pub(crate) fn by_number(left: &str, right: &str) -> Ordering {
    let (mut left_rest, mut right_rest) = (left, right);
    loop {
        let (left_run, right_run) = (digits(left_rest), digits(right_rest));
        let order = if left_run.is_empty() || right_run.is_empty() {
            let (one, other) = (left_rest.chars().next(), right_rest.chars().next());
            let (Some(letter), true) = (one, one == other) else {
                return one.cmp(&other).then_with(|| left.cmp(right));
            };
            left_rest = &left_rest[letter.len_utf8()..];
            right_rest = &right_rest[letter.len_utf8()..];
            continue;
        } else {
            let (one, other) = (left_run.trim_start_matches('0'), right_run.trim_start_matches('0'));
            one.len().cmp(&other.len()).then_with(|| one.cmp(other))
        };
        if order.is_ne() {
            return order;
        }
        left_rest = &left_rest[left_run.len()..];
        right_rest = &right_rest[right_run.len()..];
    }
}

/// The digits at the start of a text.
fn digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "\u{feff}# R\r\n\r\n- [ ] **A-1**: one\r\n* [X] **A-2:** two\r\n- **A-3**: later\r\n\r\n```\r\n- [ ] **A-9**: code\r\n```\r\n\r\n\
        | Requirement | Phase | Status |\r\n|---|---|---|\r\n| A-1 | Phase 1 \\| 2 | Pending |\r\n| **A-2** | 1 |Complete|\r\n\
        | A-4 | 1 |   |\r\n\r\n| Other | Status |\r\n|---|---|\r\n| A-1 | Pending |\r\n";

    fn changed(text: &str, id: &str, done: bool) -> (RequirementEdit, String) {
        let requirements = Requirements::parse(text);
        let mut splices = Splices::default();
        let outcome = requirements.set(id, done, &mut splices);
        (outcome, splices.apply(text))
    }

    #[test]
    fn both_places_are_completed_and_nothing_else() {
        let (outcome, text) = changed(TEXT, "a-1", true);
        assert_eq!(outcome, RequirementEdit { checkbox: PlaceChange::Changed, row: PlaceChange::Changed });
        assert_eq!(text, TEXT.replace("[ ] **A-1**", "[x] **A-1**").replace("2 | Pending |", "2 | Complete |"));
        let (outcome, text) = changed(TEXT, "A-2", true);
        assert_eq!(outcome, RequirementEdit { checkbox: PlaceChange::Kept, row: PlaceChange::Kept });
        assert_eq!(text, TEXT);
        assert_eq!(changed(TEXT, "A-4", true).1, TEXT.replace("|   |", "| Complete |"));
    }

    #[test]
    fn a_word_of_the_user_protects_row_and_checkbox() {
        let completed = |word: &str, open: Open| {
            let text = format!("- [ ] **A-1**: one\n\n| Requirement | Status |\n|---|---|\n| A-1 | {word} |\n");
            let requirements = Requirements::parse(&text);
            let mut splices = Splices::default();
            let outcome = requirements.complete("A-1", open, &mut splices);
            assert_eq!(outcome.is_changed(), splices.apply(&text) != text);
            outcome.is_found()
        };
        for word in ["Blocked", "Deferred", "Out of Scope", "Pending review"] {
            assert!(!completed(word, Open::Pending) && !completed(word, Open::Started), "{word}");
        }
        for word in ["Pending", "pending", "", "Gaps Found", "Complete"] {
            assert!(completed(word, Open::Pending) && completed(word, Open::Started), "{word}");
        }
        assert!(!completed("In Progress", Open::Pending) && completed("In Progress", Open::Started));
    }

    #[test]
    fn current_requirements_need_a_row_and_later_ones_do_not() {
        let text = "# R\n\n## v1 Requirements\n\n- [ ] **A-1**: one\n- [ ] **A-2**: two\n- **A-3**: three\n- [ ] **Note**: x\n\n\
            ## v2 Requirements\n\n### Sub\n\n- **B-1**: x\n\n## Deferred\n\n- [ ] **C-1**: x\n\n## Out of Scope\n\n- **D-1**: x\n\n";
        let table = "| Requirement | Status |\n|---|---|\n| A-1 | Pending |\n";
        let whole = format!("{text}{table}");
        let requirements = Requirements::parse(&whole);
        assert_eq!(requirements.untraced(Some("v1.0")), ["A-2", "A-3"]);
        assert_eq!(requirements.untraced(Some("v2.0")), ["A-2", "A-3", "B-1"]);
        assert_eq!(Requirements::parse(text).untraced(None), [""; 0], "nothing is traced");
        assert!(requirements.knows("a-3") && requirements.knows("A-1") && !requirements.knows("Z-9"));
    }

    #[test]
    fn a_reopened_requirement_has_gaps() {
        let (outcome, text) = changed(TEXT, "A-2", false);
        assert_eq!(outcome, RequirementEdit { checkbox: PlaceChange::Changed, row: PlaceChange::Changed });
        assert_eq!(text, TEXT.replace("[X]", "[ ]").replace("|Complete|", "|Gaps Found|"));
        assert_eq!(changed(TEXT, "A-9", false).0, RequirementEdit::default(), "code is no requirement");
        assert_eq!(changed(TEXT, "A-3", true).0, RequirementEdit::default(), "a line without a box cannot be ticked");
    }

    #[test]
    fn identifiers_are_read_as_people_type_them() {
        let typed = ["[A-1, A-2]".to_owned(), "\"B-1\",C-1".to_owned()];
        assert_eq!(typed_ids(&typed), ["A-1", "A-2", "B-1", "C-1"]);
        assert_eq!(typed_ids(&["AUTH-09..AUTH-11\nX-1"]), ["AUTH-09", "AUTH-10", "AUTH-11", "X-1"]);
        assert_eq!(typed_ids(&["A-1 .. A-2", "[B-1..2]"]), ["A-1", "A-2", "B-1", "B-2"]);
        for slip in ["A-1..B-2", "A-3..A-1", "A-1..A-5000", "A-1..", "..", "a..b", "A-1..A-18446744073709551615"] {
            assert_eq!(typed_ids(&[slip]), [slip], "a range that says nothing sound stays as it was typed");
        }
    }

    #[test]
    fn tables_name_requirements_in_their_first_column() {
        let text = "- [ ] **A-1**: one\n\n| R-9 | Text |\n|---|---|\n| **B-1** | needs C-7 |\n| a-1 | again |\n| Total | 2 |\n\n\
            text\n\n```\n| ID |\n|---|\n| D-1 |\n```\n";
        assert_eq!(Requirements::parse(text).ids(), ["A-1", "B-1"]);
        assert!(Requirements::parse(text).knows("b-1") && !Requirements::parse(text).knows("C-7"));
    }

    #[test]
    fn identifiers_are_sorted_by_their_numbers() {
        let mut ids = ["X-10", "X-2", "A-1", "X-02", "X-2a", "X", "é-1"];
        ids.sort_by(|left, right| by_number(left, right));
        assert_eq!(ids, ["A-1", "X", "X-02", "X-2", "X-2a", "X-10", "é-1"]);
    }

    proptest! {
        #[test]
        fn completing_then_reopening_changes_only_marks_and_cells(
            text in "(- \\[[ xX]\\] \\*\\*A-1\\*\\*: é|\\| Requirement \\| Status \\||\\| A-1 \\| [a-zA-Z]{0,4} ?\\||\\|-\\|-\\||[ -~é]{0,12}|\r?\n){0,20}",
        ) {
            let (outcome, done) = changed(&text, "A-1", true);
            let (again, twice) = changed(&done, "A-1", true);
            prop_assert_eq!(again, outcome.again());
            prop_assert_eq!(&twice, &done);
            if !outcome.is_changed() {
                prop_assert_eq!(&done, &text);
            }
            prop_assert_eq!(done.lines().count(), text.lines().count());
        }
    }
}
