//! STATE.md: the current state of a project, for people and for programs.
//!
//! The body is for people: sections with lists and tables, and fields in three spellings, `**Status:** text`,
//! `Status: text` at the start of a line, and a table row `| Status | text |`. Labels match in any case. The front
//! matter is an index of the body ([`index`]); every write updates it. Reading never fails; [`State::problem`] reports
//! where a text is too broken to be written to. Edits are in [`edit`].
//!
//! A command changes only its own fields of the body. Each write brings the keys of the front matter up to date and
//! keeps unknown keys, comments, order, and the bytes of lines whose value is unchanged. `state.json` mirrors the same
//! for programs. Number and name of a phase are those of the roadmap, whatever was typed (`label`), and the `Phase:`
//! line has one shape: `2 of 5 (Notes Core) — EXECUTING`. Which session works on which phase is a note of this
//! computer (`LocalState`), written in the same transaction. The percentage of a milestone comes from `Counts` only,
//! and `overview::Measure` is how people see it. The milestone decides which phases count: its section of the roadmap
//! is found by the version in STATE.md or the mark in the roadmap; if it cannot be found, percentages are left out.

pub(crate) mod deferred;
pub(crate) mod edit;
pub(crate) mod index;
mod position;
pub(crate) mod quick;
pub(crate) mod sections;
mod status;

use std::ops::Range;
use std::sync::OnceLock;

use crate::text::front_matter::{self, FrontMatter};
use crate::text::markdown::{Heading, LineKind, Markdown};
use crate::text::table::Table;

pub(crate) use position::Position;
pub(crate) use status::{
    AWAITING_MILESTONE, DEFINING, is_awaiting_milestone, is_between_milestones, is_of_programs, is_phase_complete,
    normal_status,
};

/// Sections in which fields are looked up before the rest of the text, with the labels that belong there.
const HOMES: &[(&[&str], &[&str])] = &[
    (
        POSITION,
        &[
            "Phase",
            "Plan",
            "Status",
            "Progress",
            "Current Phase",
            "Current Phase Name",
            "Current Plan",
            "Total Phases",
            "Total Plans in Phase",
            "Last Activity",
            "Last Activity Description",
        ],
    ),
    (SESSION, &["Last session", "Last Date", "Stopped at", "Resume file", PAUSED_AT]),
    (&["Project Reference"], &["Core value", "Current focus"]),
];

/// The label of the field for a pause. If there is a section about the last session, one anywhere else is of an old
/// pause.
const PAUSED_AT: &str = "Paused At";
/// Titles of the section about the last session of work, a heading of level two.
pub(crate) const SESSION: &[&str] = &["Session", "Session Continuity"];
/// Titles of the section that lists decisions.
pub(crate) const DECISIONS: &[&str] = &["Decisions", "Decisions Made"];
/// Titles of the section that lists blockers.
pub(crate) const BLOCKERS: &[&str] = &["Blockers/Concerns", "Blockers", "Concerns"];
/// The titles among them whose items always block, whatever else the text lists.
pub(crate) const BLOCKING: &[&str] = &["Blockers/Concerns", "Blockers"];
/// Title of the section with the lessons learned during the work.
pub(crate) const CONTEXT: &str = "Accumulated Context";
/// Title of the section that records how the roadmap changed.
pub(crate) const EVOLUTION: &[&str] = &["Roadmap Evolution"];
/// Title of the section that lists recently completed phases.
pub(crate) const COMPLETED: &[&str] = &["Recently Completed"];
/// Title of the section with the table of quick tasks.
pub(crate) const QUICK_TASKS: &[&str] = &["Quick Tasks Completed"];
/// Title of the section with the next steps for a person.
pub(crate) const NEXT_STEPS: &str = "Operator Next Steps";
/// Title of the section with times and tables.
pub(crate) const METRICS: &[&str] = &["Performance Metrics"];
/// Title of a section of older files that repeats some fields of the position.
const CONFIGURATION: &[&str] = &["Configuration"];
/// Title of the section with the current position of the work.
pub(crate) const POSITION: &[&str] = &["Current Position"];

/// A parsed STATE.md. Borrows its text.
#[derive(Clone, Debug)]
pub(crate) struct State<'text> {
    markdown: Markdown<'text>,
    front: Option<FrontMatter<'text>>,
    /// The first line of the body.
    body: usize,
    /// The lines by their first letter, `a` to `z`: the line of a field begins with the first letter of its label.
    by_letter: OnceLock<Vec<Vec<usize>>>,
}

/// A field of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field<'text> {
    pub(crate) line: usize,
    /// Trimmed.
    pub(crate) value: &'text str,
    /// The bytes of the value; an empty range after the colon if it is missing.
    pub(crate) span: Range<usize>,
    /// The value is in a cell of a table.
    pub(crate) in_table: bool,
}

/// A section: its heading and its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section<'text> {
    pub(crate) heading: Heading<'text>,
    /// Including the sections below it.
    pub(crate) lines: Range<usize>,
    /// Up to the next heading of any level.
    pub(crate) own: Range<usize>,
}

/// Why a text cannot be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateProblem {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) what: &'static str,
    /// No line can be repaired: the text is not a STATE.md.
    pub(crate) is_lost: bool,
}

/// Whether a value of `current_phase` names a phase.
pub(crate) fn names_phase(value: &str) -> bool {
    position::Position::parse(value).is_some_and(|position| position.phase.is_some())
}

impl<'text> State<'text> {
    pub(crate) fn parse(text: &'text str) -> Self {
        let markdown = Markdown::parse(text);
        let front = FrontMatter::of(&markdown);
        let body = match front {
            Some(_) => markdown.body_line(),
            None if front_matter::is_unclosed(text) => markdown.headings().next().map_or(0, |heading| heading.line),
            None => 0,
        };
        Self { markdown, front, body, by_letter: OnceLock::new() }
    }

    pub(crate) fn text(&self) -> &'text str {
        self.markdown.text()
    }

    pub(crate) fn markdown(&self) -> &Markdown<'text> {
        &self.markdown
    }

    pub(crate) fn front(&self) -> Option<&FrontMatter<'text>> {
        self.front.as_ref()
    }

    /// The current phase in the front matter; a value that does not name a phase, such as a number in words, is
    /// ignored.
    pub(crate) fn front_phase(&self) -> Option<String> {
        self.front_text("current_phase").filter(|written| names_phase(written))
    }

    /// The text of a key of the front matter.
    pub(crate) fn front_text(&self, key: &str) -> Option<String> {
        self.front.as_ref()?.text(key)
    }

    /// The first problem that would make writing to this text a guess.
    pub(crate) fn problem(&self) -> Option<StateProblem> {
        let conflict = (0..self.markdown.lines().len())
            .find(|line| ["<<<<<<< ", ">>>>>>> "].iter().any(|mark| self.markdown.line(*line).starts_with(mark)))
            .map(|line| StateProblem { line: line + 1, what: "an unresolved merge conflict", is_lost: false });
        let unclosed = || {
            let what = "front matter that is not closed by a line `---`";
            front_matter::is_unclosed(self.text()).then_some(StateProblem { line: 1, what, is_lost: false })
        };
        let in_front = || {
            let problem = self.front.as_ref()?.problem()?;
            Some(StateProblem { line: problem.line, what: problem.what, is_lost: false })
        };
        self.loss().or(conflict).or_else(unclosed).or_else(in_front)
    }

    /// Why the text cannot be a state: its bytes are not text, or its body has nothing that can be found.
    fn loss(&self) -> Option<StateProblem> {
        let markdown = &self.markdown;
        let lines = || 0..markdown.lines().len();
        if let Some(line) = lines().find(|line| markdown.line(*line).contains('\0')) {
            return Some(StateProblem { line: line + 1, what: "binary (a NUL byte)", is_lost: true });
        }
        let first = lines()
            .skip(self.body)
            .find(|line| !markdown.line(*line).trim_matches([' ', '\t', '\u{feff}']).is_empty())?;
        let has_field = || HOMES.iter().flat_map(|(_, labels)| *labels).any(|label| self.field(label).is_some());
        let is_state = self.headings().next().is_some() || has_field();
        let what = "text without any heading or field of a state";
        (!is_state).then_some(StateProblem { line: first + 1, what, is_lost: true })
    }

    /// The field with this label: in its home section, else anywhere in the body. If the position section has its own
    /// lines, a subsection of it belongs to the user, and nothing in it is a field.
    pub(crate) fn field(&self, label: &str) -> Option<Field<'text>> {
        let home = HOMES
            .iter()
            .find(|(_, labels)| labels.iter().any(|known| known.eq_ignore_ascii_case(label)))
            .and_then(|(titles, labels)| Some((self.section(titles)?, *titles == POSITION, labels)));
        let body = self.body..self.markdown.lines().len();
        let Some((section, is_position, labels)) = home else { return self.field_in(body, label) };
        let own = is_position && labels.iter().any(|label| self.field_in(section.own.clone(), label).is_some());
        if own {
            self.field_in(section.own.clone(), label)
                .or_else(|| self.field_in(body.start..section.heading.line.max(body.start), label))
                .or_else(|| self.field_in(section.lines.end..body.end, label))
        } else {
            let elsewhere = || (!label.eq_ignore_ascii_case(PAUSED_AT)).then(|| self.field_in(body, label)).flatten();
            self.field_in(section.lines, label).or_else(elsewhere)
        }
    }

    /// The text of a field in the section about the last session of work, if it has any.
    pub(crate) fn session_text(&self, label: &str) -> Option<&'text str> {
        let field = self.field_in(self.section(SESSION)?.lines, label)?;
        Some(field.value).filter(|value| !value.is_empty())
    }

    /// Other fields with this label at the top of the body and in its configuration section: older files repeat fields
    /// of the position there.
    pub(crate) fn echoes(&self, label: &str) -> Vec<Field<'text>> {
        let Some(own) = self.field(label) else { return Vec::new() };
        let all = self.markdown.lines().len();
        let top = self.body..self.headings().find(|heading| heading.level > 1).map_or(all, |heading| heading.line);
        let places = std::iter::once(top).chain(self.section(CONFIGURATION).map(|section| section.own));
        places.filter_map(|lines| self.field_in(lines, label)).filter(|field| field.line != own.line).collect()
    }

    fn field_in(&self, mut lines: Range<usize>, label: &str) -> Option<Field<'text>> {
        let letter = label.bytes().next().filter(|first| first.is_ascii_alphabetic() && label.is_ascii());
        let Some(letter) = letter else {
            return lines.find_map(|line| self.field_at(line, label));
        };
        let fitting = &self.by_letter.get_or_init(|| by_letter(&self.markdown))[place_of(letter)];
        let first = fitting.partition_point(|line| *line < lines.start);
        let fitting = fitting[first..].iter().take_while(|line| **line < lines.end);
        fitting.copied().find_map(|line| self.field_at(line, label))
    }

    fn field_at(&self, line: usize, label: &str) -> Option<Field<'text>> {
        if line < self.body || self.markdown.lines()[line].kind != LineKind::Text {
            return None;
        }
        let text = self.markdown.line(line);
        let (rest, in_table) = match bold_field(text, label).or_else(|| plain_field(text, label)) {
            Some(rest) => (rest, false),
            None => (self.row_field(line, label)?, true),
        };
        let value = rest.trim();
        let start = self.markdown.lines()[line].start;
        let margin = if value.is_empty() { 0 } else { rest.len() - rest.trim_start().len() };
        let at = start + offset_in(text, rest) + margin;
        Some(Field { line, value, span: at..at + value.len(), in_table })
    }

    /// The second cell of a table row whose first cell is `label`; a table's head is not a field.
    fn row_field(&self, line: usize, label: &str) -> Option<&'text str> {
        let text = self.markdown.line(line);
        if !text.trim_start().starts_with('|') || is_delimiter_row(self.markdown.line(line + 1)) {
            return None;
        }
        let inside = text.trim_start().strip_prefix('|')?;
        let first = cell_at_start(inside);
        let found = first.trim().trim_matches('*').trim().trim_end_matches(':');
        let second = cell_at_start(inside.get(first.len() + 1..)?);
        found.eq_ignore_ascii_case(label).then_some(second)
    }

    /// The value of a field, if it means something: not empty, `None`, `N/A` or a dash.
    pub(crate) fn value(&self, label: &str) -> Option<&'text str> {
        meaningful(self.field(label)?.value)
    }

    /// The first section with one of these titles; earlier titles take precedence.
    pub(crate) fn section(&self, titles: &[&str]) -> Option<Section<'text>> {
        let fits = |heading: &Heading<'_>| titles != SESSION || heading.level == 2;
        titles.iter().find_map(|title| {
            let heading = self.headings().find(|heading| heading.title.eq_ignore_ascii_case(title) && fits(heading))?;
            Some(self.section_of(heading))
        })
    }

    /// Every section with one of these titles, in the order of the text.
    pub(crate) fn sections(&self, titles: &[&str]) -> Vec<Section<'text>> {
        let fits = |heading: &Heading<'_>| titles.iter().any(|title| heading.title.eq_ignore_ascii_case(title));
        self.headings().filter(fits).map(|heading| self.section_of(heading)).collect()
    }

    /// The first section with one of these titles inside another section.
    pub(crate) fn section_inside(&self, outer: &Section<'_>, titles: &[&str]) -> Option<Section<'text>> {
        let is_it = |heading: &Heading<'_>| {
            outer.lines.contains(&heading.line) && titles.iter().any(|title| heading.title.eq_ignore_ascii_case(title))
        };
        self.headings().find(is_it).map(|heading| self.section_of(heading))
    }

    fn section_of(&self, heading: Heading<'text>) -> Section<'text> {
        let lines = self.markdown.section(&heading);
        let own = self.headings().find(|next| next.line > heading.line).map_or(lines.end, |next| next.line);
        Section { heading, own: lines.start..own.min(lines.end), lines }
    }

    fn headings(&self) -> impl Iterator<Item = Heading<'text>> + '_ {
        self.markdown.headings().filter(|heading| heading.line >= self.body)
    }

    /// The text of a section without its heading, trimmed.
    pub(crate) fn section_text(&self, section: &Section<'_>) -> &'text str {
        self.text()[self.markdown.span(section.lines.clone())].trim()
    }

    /// The items of the list of a section, each with the lines that continue it.
    pub(crate) fn items(&self, section: &Section<'_>) -> Vec<Range<usize>> {
        let mut items: Vec<Range<usize>> = Vec::new();
        for line in section.own.clone().filter(|line| self.markdown.is_prose(*line)) {
            let text = self.markdown.line(line);
            if is_item(text) && !text.starts_with([' ', '\t']) {
                items.push(line..line + 1);
            } else if let Some(last) = items.last_mut()
                && last.end == line
                && text.starts_with([' ', '\t'])
                && !text.trim().is_empty()
            {
                last.end = line + 1;
            }
        }
        items
    }

    /// The text of an item without its mark.
    pub(crate) fn item_text(&self, item: &Range<usize>) -> String {
        let lines: Vec<&str> = item.clone().map(|line| self.markdown.line(line).trim()).collect();
        without_mark(&lines.join(" ")).trim().to_owned()
    }

    /// The first table of a section's own text.
    pub(crate) fn table(&self, section: &Section<'_>) -> Option<Table<'text>> {
        Table::first_in(&self.markdown, &self.markdown.span(section.own.clone()))
    }

    /// The position of the work in the body.
    pub(crate) fn position(&self) -> Position<'text> {
        let mut position = self.value("Phase").and_then(Position::parse).unwrap_or_default();
        if let Some(explicit) = self.value("Current Phase").and_then(Position::parse) {
            position = Position { total: explicit.total.or(position.total), ..explicit };
        }
        if let Some(name) = self.value("Current Phase Name") {
            position.name = Some(name);
        }
        position
    }
}

/// The lines of text by their first letter, ignoring marks before it.
fn by_letter(markdown: &Markdown<'_>) -> Vec<Vec<usize>> {
    let mut lines = vec![Vec::new(); 26];
    for (index, line) in markdown.lines().iter().enumerate().filter(|(_, line)| line.kind == LineKind::Text) {
        if let Some(letter) = markdown.text()[line.start..line.end].bytes().find(u8::is_ascii_alphabetic) {
            lines[place_of(letter)].push(index);
        }
    }
    lines
}

fn place_of(letter: u8) -> usize {
    usize::from(letter.to_ascii_lowercase() - b'a')
}

/// The value, unless it means `none`.
pub(crate) fn meaningful(value: &str) -> Option<&str> {
    let value = value.trim();
    let nothing = ["none", "n/a", "null", "tbd", "—", "–", "-", "--", "*(none)*"];
    (!value.is_empty() && !nothing.contains(&value.to_lowercase().as_str())).then_some(value)
}

/// Whether a line only states that a list is empty: `None`, `None yet.`, `- None`.
pub(crate) fn is_placeholder(line: &str) -> bool {
    let bare = without_mark(line.trim()).trim().trim_matches(['*', '_', '(', ')', '.', '[', ']']).to_lowercase();
    let nothing = |noun: &str| {
        let yet = bare.strip_prefix("no ").and_then(|rest| rest.strip_prefix(noun));
        yet.is_some_and(|rest| matches!(rest, "" | " yet" | " recorded yet"))
    };
    matches!(bare.as_str(), "none" | "none yet" | "n/a" | "nothing yet")
        || ["decisions", "blockers", "concerns", "blockers/concerns", "metrics", "plans"].into_iter().any(nothing)
}

fn is_delimiter_row(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '))
}

/// The text up to the next unescaped bar.
fn cell_at_start(text: &str) -> &str {
    let bar = text.match_indices('|').map(|(at, _)| at).find(|at| !text[..*at].ends_with('\\'));
    bar.map_or(text, |at| &text[..at])
}

/// The offset of `part`, a slice of `whole`.
fn offset_in(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

fn is_item(line: &str) -> bool {
    without_mark(line).len() < line.len()
}

/// The text after a list mark; the line itself if it has none.
fn without_mark(line: &str) -> &str {
    let bare = line.trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let after = match digits {
        0 => bare.strip_prefix(['-', '*', '+']),
        _ => bare[digits..].strip_prefix(['.', ')']),
    };
    after.filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t'])).unwrap_or(line)
}

/// The text after `**Label:**` or `**Label**:`, with or without a list mark before it.
fn bold_field<'text>(line: &'text str, label: &str) -> Option<&'text str> {
    let rest = without_mark(line).trim_start().strip_prefix("**")?;
    let rest = strip_label(rest, label)?;
    rest.strip_prefix(":**").or_else(|| rest.strip_prefix("**")?.trim_start().strip_prefix(':'))
}

/// The text after `Label:` at the start of a line.
fn plain_field<'text>(line: &'text str, label: &str) -> Option<&'text str> {
    let rest = strip_label(line, label)?.strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest)
}

fn strip_label<'text>(text: &'text str, label: &str) -> Option<&'text str> {
    let head = text.get(..label.len())?;
    let same = head.eq_ignore_ascii_case(label) || head.to_lowercase() == label.to_lowercase();
    same.then(|| &text[label.len()..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_field_is_found_in_three_spellings() {
        for body in [
            "**Status:** In progress",
            "**Status**: In progress  ",
            "- **status:** In progress",
            "Status: In progress",
            "STATUS:\tIn progress",
            "| Status | In progress |",
            "| **Status:** | In progress | x |",
            "|Status|In progress|",
        ] {
            let text = format!("# Project State\n\n## Current Position\n\n{body}\n");
            let state = State::parse(&text);
            let field = state.field("Status").unwrap_or_else(|| panic!("{body}"));
            assert_eq!((field.value, &text[field.span]), ("In progress", "In progress"), "{body}");
        }
        for body in ["My Status: x", " Status: x", "Status:x", "| Status | Notes |\n|---|---|", "```\nStatus: x\n```"] {
            assert_eq!(State::parse(&format!("# S\n\n{body}\n")).field("Status"), None, "{body}");
        }
    }

    #[test]
    fn a_field_is_looked_up_in_its_home_section_first() {
        let text = "# S\n\nStatus: of something else\n\n## Current Position\n\n| Phase | Plans |\n|---|---|\n\nStatus: Paused\n";
        let state = State::parse(text);
        assert_eq!(state.value("Status"), Some("Paused"));
        assert_eq!(state.field("Phase"), None, "the head of a table is no field");
    }

    #[test]
    fn the_session_is_a_section_of_level_two_and_the_shorter_title_comes_first() {
        let both = State::parse("# S\n\n## Session Continuity\n\nStopped at: a\n\n## Session\n\nStopped at: b\n");
        assert_eq!(both.value("Stopped at"), Some("b"));
        assert_eq!(State::parse("# S\n\n### Session Continuity\n\nStopped at: a\n").section(SESSION), None);
    }

    #[test]
    fn a_pause_counts_in_the_session_section_or_anywhere_without_one() {
        let paused = |text: &str| State::parse(text).value("Paused At").map(str::to_owned);
        let old =
            "## Old Session Notes\n\nPaused At: long ago\n\n## Current Position\n\nPhase: 2\nPaused At: old too\n";
        assert_eq!(paused(&format!("# S\n\n{old}\n## Session Continuity\n\nStopped at: x\n")), None);
        assert_eq!(paused(&format!("# S\n\n{old}\n## Session\n\nPaused At: now\n")).as_deref(), Some("now"));
        assert_eq!(paused("# S\n\n## Current Position\n\nPaused At: now\n").as_deref(), Some("now"));
    }

    #[test]
    fn a_field_of_the_position_may_be_repeated_at_the_top() {
        let text = "# S\n\n| Status | Complete |\n\n## Current Position\n\nStatus: Paused\n\n## Notes\n\nStatus: mine\n\n## Configuration\n\n**Status:** Old\n";
        let echoes: Vec<&str> = State::parse(text).echoes("Status").iter().map(|field| field.value).collect();
        assert_eq!(echoes, ["Complete", "Old"]);
    }

    #[test]
    fn an_empty_field_has_a_place_for_its_value() {
        let text = "Resume file:\nStopped at:   \n";
        let state = State::parse(text);
        assert_eq!(state.field("Resume file").unwrap().span, 12..12);
        assert_eq!(state.field("Stopped at").unwrap().span, 24..24);
        assert_eq!(state.value("Resume file"), None);
    }

    #[test]
    fn items_include_their_continuation() {
        let text = "## Blockers\n\n- one\n  more\n- two\n\ntail\n### Sub\n- not ours\n";
        let state = State::parse(text);
        let section = state.section(BLOCKERS).unwrap();
        let items: Vec<String> = state.items(&section).iter().map(|item| state.item_text(item)).collect();
        assert_eq!(items, ["one more", "two"]);
    }

    #[test]
    fn a_text_that_cannot_be_written_to_is_reported_with_its_line() {
        let problem = |text: &str| State::parse(text).problem().map(|problem| problem.line);
        assert_eq!(problem("---\na: 1\n---\n# S\n"), None);
        assert_eq!(problem("# S\n"), None);
        assert_eq!(problem("---\na: 1\n# S\n"), Some(1));
        assert_eq!(problem("---\na: 1\nbroken\n---\n"), Some(3));
        assert_eq!(problem("# S\n<<<<<<< HEAD\n"), Some(2));
    }

    #[test]
    fn fields_of_broken_front_matter_are_not_those_of_the_body() {
        let state = State::parse("---\nstatus: wrong\n# Project State\nStatus: right\n");
        assert_eq!(state.value("Status"), Some("right"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_state(
            text in "(---\r?\n)?((\\*\\*|- |\\| ?)?(Status|Phase|Plan|Ünï):?(\\*\\*)? ?\\|?[ \\PC]{0,8}\r?\n|## Current Position\n|- None\n|---\n){0,12}",
        ) {
            let state = State::parse(&text);
            for label in ["Status", "Phase", "Ünï"] {
                if let Some(field) = state.field(label) {
                    prop_assert_eq!(&text[field.span], field.value);
                }
            }
            let _ = (state.position(), state.problem());
        }
    }
}
