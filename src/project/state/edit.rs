//! Named edits of STATE.md. Each changes the lines it names; everything else keeps its bytes.

use std::ops::Range;

use super::{Field, METRICS, POSITION, SESSION, Section, State, is_placeholder, meaningful};
use crate::project::phase::PhaseId;
use crate::text::front_matter::Value;
use crate::text::splice::Splices;
use crate::text::table::Table;

/// A section for missing fields, and the order of its fields.
struct FieldSection {
    titles: &'static [&'static str],
    fields: &'static [&'static str],
    /// The section itself is added if it is missing.
    made: bool,
}

const POSITION_HOME: FieldSection =
    FieldSection { titles: POSITION, fields: &["Phase", "Plan", "Status", "Last activity", "Progress"], made: true };
const SESSION_HOME: FieldSection =
    FieldSection { titles: SESSION, fields: &["Last session", "Stopped at", "Resume file"], made: false };
const HOMES: [&FieldSection; 2] = [&POSITION_HOME, &SESSION_HOME];

/// The title and the head of the table of plans.
const PLAN_TABLE: &[&str] =
    &["**Per-Plan Metrics:**", "", "| Plan | Duration | Tasks | Files |", "|------|----------|-------|-------|"];

/// Edits of one STATE.md, collected to be made at once.
#[derive(Debug)]
pub(crate) struct StateEdit<'state, 'text> {
    pub(super) state: &'state State<'text>,
    pub(super) splices: Splices,
    /// Lines for fields that were missing: the index of their home, their rank in it, and their text.
    missing: Vec<(usize, usize, String)>,
    /// The names of the changed items, for reports, in the order of the edits.
    pub(crate) updated: Vec<String>,
}

/// The result of setting a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// The field does not exist.
    Absent,
    /// The field already has that value.
    Same,
    Changed,
}

impl<'state, 'text> StateEdit<'state, 'text> {
    pub(crate) fn new(state: &'state State<'text>) -> Self {
        Self { state, splices: Splices::default(), missing: Vec::new(), updated: Vec::new() }
    }

    pub(crate) fn state(&self) -> &'state State<'text> {
        self.state
    }

    /// The edited text.
    pub(crate) fn finish(mut self) -> String {
        self.insert_missing();
        self.splices.apply(self.state.text())
    }

    /// Sets an existing field.
    pub(crate) fn set(&mut self, label: &str, value: &str) -> Set {
        match self.state.field(label) {
            Some(field) => self.set_field(&field, value),
            None => Set::Absent,
        }
    }

    /// As [`Self::set`], and adds `name` to the updated names if the value changed.
    pub(crate) fn set_noted(&mut self, label: &str, value: &str, name: &str) -> Set {
        let set = self.set(label, value);
        if set == Set::Changed {
            self.note(name);
        }
        set
    }

    /// Sets a field. A missing field is added to its home section; a missing position section is added too.
    pub(crate) fn put(&mut self, label: &str, value: &str) -> Set {
        let set = self.set(label, value);
        if set != Set::Absent {
            return set;
        }
        let home = HOMES.iter().enumerate().find_map(|(index, home)| {
            let rank = home.fields.iter().position(|field| *field == label)?;
            (home.made || self.state.section(home.titles).is_some()).then_some((index, rank))
        });
        let Some((home, rank)) = home else { return Set::Absent };
        self.missing.retain(|(known_home, known_rank, _)| (*known_home, *known_rank) != (home, rank));
        let line = if self.labels_are_bold(HOMES[home]) {
            format!("**{label}:** {}", one_line(value))
        } else {
            format!("{label}: {}", one_line(value))
        };
        self.missing.push((home, rank, line));
        Set::Changed
    }

    /// Whether the labels of the fields in a section are bold.
    fn labels_are_bold(&self, home: &FieldSection) -> bool {
        let Some(section) = self.state.section(home.titles) else { return false };
        let fields = home.fields.iter().filter_map(|label| self.state.field(label));
        let mut lines = fields.filter(|field| section.lines.contains(&field.line) && !field.in_table);
        lines.any(|field| self.state.markdown().line(field.line).contains("**"))
    }

    /// Sets the fields that repeat a field of the position, and adds `name` to the updated names if a value changed.
    pub(crate) fn set_echoes(&mut self, label: &str, value: &str, name: &str) {
        self.set_echoes_where(label, value, name, |_| true);
    }

    /// As [`Self::set_echoes`], only for fields whose current value fits.
    pub(crate) fn set_echoes_where(&mut self, label: &str, value: &str, name: &str, fits: impl Fn(&str) -> bool) {
        for field in self.state.echoes(label).into_iter().filter(|field| fits(field.value)) {
            if self.set_field(&field, value) == Set::Changed {
                self.note(name);
            }
        }
    }

    pub(crate) fn note(&mut self, name: &str) {
        if !self.updated.iter().any(|known| known == name) {
            self.updated.push(name.to_owned());
        }
    }

    fn set_field(&mut self, field: &Field<'_>, value: &str) -> Set {
        let value = one_line(value);
        let value = if field.in_table { value.replace('|', "\\|") } else { value };
        if field.value == value {
            return Set::Same;
        }
        let value = if field.value.is_empty() { format!(" {value}") } else { value };
        self.splices.replace(field.span.clone(), value);
        Set::Changed
    }

    /// Inserts the missing fields between the existing ones, or else at the end of their section.
    fn insert_missing(&mut self) {
        let mut missing = std::mem::take(&mut self.missing);
        missing.sort();
        for (index, home) in HOMES.iter().enumerate() {
            let lines: Vec<(usize, String)> = missing
                .iter()
                .filter(|(home, _, _)| *home == index)
                .map(|(_, rank, line)| (*rank, line.clone()))
                .collect();
            if !lines.is_empty() {
                self.insert_fields(home, lines);
            }
        }
    }

    fn insert_fields(&mut self, home: &FieldSection, lines: Vec<(usize, String)>) {
        let Some(section) = self.state.section(home.titles) else {
            let mut block = vec![format!("## {}", home.titles[0]), String::new()];
            block.extend(lines.into_iter().map(|(_, line)| line));
            self.insert_after_text(0..self.state.markdown().lines().len(), &block);
            return;
        };
        let place = |label: &&str| {
            let field = self.state.field(label).filter(|field| section.lines.contains(&field.line));
            field.filter(|field| !field.in_table).map(|field| field.line)
        };
        let places: Vec<Option<usize>> = home.fields.iter().map(place).collect();
        if places.iter().all(Option::is_none) {
            let block: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
            return self.insert_block(&section, &block);
        }
        for (rank, line) in lines {
            let before = places[..rank].iter().rev().find_map(|place| place.map(|line| line + 1));
            let after = places[rank + 1..].iter().find_map(|place| *place);
            if let Some(index) = before.or(after) {
                self.insert_line(index, &line);
            }
        }
    }

    /// Sets a key of the front matter, if there is front matter.
    pub(crate) fn set_front(&mut self, key: &str, value: &str) -> Set {
        let Some(front) = self.state.front() else { return Set::Absent };
        if front.get(key).is_some_and(|known| known.as_text() == Some(value)) {
            return Set::Same;
        }
        front.set(key, &Value::Text(one_line(value)), &mut self.splices);
        Set::Changed
    }

    /// Sets a key inside a map of the front matter, if that map exists.
    pub(crate) fn set_front_inner(&mut self, key: &str, inner: &str, value: &str) {
        if let Some(front) = self.state.front()
            && matches!(front.get(key), Some(Value::Map(_)))
        {
            // The path only leads through maps, so this is never refused.
            drop(front.set_path(&[key, inner], &Value::Text(value.to_owned()), &mut self.splices));
        }
    }

    /// Whether anything in a section was edited.
    pub(crate) fn touches(&self, titles: &[&str]) -> bool {
        let section = self.state.section(titles);
        self.missing.iter().any(|(home, _, _)| HOMES[*home].titles == titles)
            || section.is_some_and(|section| self.splices.touch(&self.state.markdown().span(section.lines)))
    }

    /// Adds an item to the list of a section; removes a line that only states that the list is empty. Returns false if
    /// the section is missing.
    pub(crate) fn add_item(&mut self, titles: &[&str], text: &str) -> bool {
        let section = self.state.section(titles);
        section.map(|section| self.add_item_to(&section, text)).is_some()
    }

    /// As [`Self::add_item`], for a section that was already found.
    pub(crate) fn add_item_to(&mut self, section: &Section<'_>, text: &str) {
        let line = format!("- {}", one_line(text));
        let items = self.state.items(section);
        let (empty, full): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| self.is_placeholder(item.start));
        let mut placeholders = empty;
        placeholders.extend(
            section
                .own
                .clone()
                .filter(|line| self.state.markdown().is_prose(*line) && self.is_placeholder(*line))
                .filter(|line| !placeholders.iter().any(|known| known.contains(line)))
                .map(|line| line..line + 1)
                .collect::<Vec<_>>(),
        );
        if let Some(last) = full.last() {
            self.insert_line(last.end, &line);
        } else if let Some(first) = placeholders.pop() {
            self.replace_lines(first, Some(&line));
        } else {
            self.insert_block(section, &[line]);
        }
        for placeholder in placeholders {
            self.replace_lines(placeholder, None);
        }
    }

    /// Removes the items that contain `text`, ignoring case, from every section with one of the titles; a list that
    /// becomes empty gets the line `None`. Returns how many items were removed; `None` if no such section exists.
    pub(crate) fn remove_items(&mut self, titles: &[&str], text: &str) -> Option<usize> {
        let sections = self.state.sections(titles);
        let needle = text.trim().to_lowercase();
        let mut count = 0;
        for section in &sections {
            let items = self.state.items(section);
            let (gone, kept): (Vec<_>, Vec<_>) = items
                .into_iter()
                .filter(|item| !self.is_placeholder(item.start))
                .partition(|item| !needle.is_empty() && self.state.item_text(item).to_lowercase().contains(&needle));
            for (index, item) in gone.iter().enumerate() {
                let stand_in = (index == 0 && kept.is_empty()).then_some("None");
                self.replace_lines(item.clone(), stand_in);
            }
            count += gone.len();
        }
        (!sections.is_empty()).then_some(count)
    }

    /// Sets a field of the metrics that is in a list: `- Total plans completed: 3`.
    pub(crate) fn set_metric(&mut self, label: &str, value: &str) -> Set {
        let Some(section) = self.state.section(METRICS) else { return Set::Absent };
        let markdown = self.state.markdown();
        let found = section.own.clone().filter(|line| markdown.is_prose(*line)).find_map(|line| {
            let text = markdown.line(line);
            let rest = super::plain_field(super::without_mark(text).trim_start(), label)
                .or_else(|| super::bold_field(text, label))?;
            let shown = rest.trim();
            let margin = if shown.is_empty() { 0 } else { rest.len() - rest.trim_start().len() };
            let at = markdown.lines()[line].start + super::offset_in(text, rest) + margin;
            Some(Field { line, value: shown, span: at..at + shown.len(), in_table: false })
        });
        found.map_or(Set::Absent, |field| self.set_field(&field, value))
    }

    /// Puts a row into the table of plans; creates the table if it is missing, and replaces the row of the same plan.
    /// Returns whether the metrics section was created too.
    pub(crate) fn put_plan_row(&mut self, cells: &[&str; 4]) -> bool {
        let cells = cells.map(one_line);
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let Some(section) = self.state.section(METRICS) else {
            let mut block: Vec<String> = PLAN_TABLE[2..].iter().map(ToString::to_string).collect();
            block.push(plain_row(&cells));
            self.append_entry(METRICS[0], &block);
            return true;
        };
        let Some(table) = self.table_of(&section, "Plan") else {
            let mut block: Vec<String> = PLAN_TABLE.iter().map(ToString::to_string).collect();
            block.push(plain_row(&cells));
            let empty: Vec<usize> = section.lines.clone().filter(|line| self.is_placeholder(*line)).collect();
            for line in empty {
                self.replace_lines(line..line + 1, None);
            }
            self.insert_after_text(section.heading.line..section.lines.end, &block);
            return false;
        };
        if let Some(row) = table.find_row(0, |label| label == cells[0]) {
            for (column, cell) in cells.iter().enumerate() {
                table.set_cell(row, column, cell, &mut self.splices);
            }
        } else {
            self.insert_line(table.lines().end, &plain_row(&cells));
            self.remove_placeholder_at(table.lines().end, section.lines.end);
        }
        false
    }

    /// Removes the first line with text from `start` on, if it only states that nothing is there yet.
    fn remove_placeholder_at(&mut self, start: usize, end: usize) {
        let mut lines = start..end;
        let text = lines.find(|line| !self.state.markdown().line(*line).trim().is_empty());
        if let Some(line) = text.filter(|line| self.is_placeholder(*line)) {
            self.replace_lines(line..line + 1, None);
        }
    }

    /// Puts the number of plans of a phase and their recorded times into the table of phases, and updates the sum in
    /// `Total plans completed`. Times that a person wrote stay unless every plan has a recorded one. Returns false if
    /// that table does not exist.
    pub(crate) fn put_phase_row(&mut self, phase: &str, plans: usize) -> bool {
        let Some(section) = self.state.section(METRICS) else { return false };
        let Some(table) = self.table_of(&section, "Phase") else { return false };
        let id = PhaseId::new(phase);
        let row = table.find_row(0, |label| id.matches(label));
        // A row of dashes is a placeholder for the first one.
        let is_dashes =
            |row: usize| (0..table.columns().len()).all(|column| meaningful(table.cell(row, column)).is_none());
        for empty in (0..table.row_count()).filter(|row| is_dashes(*row)) {
            table.delete_row(empty, &mut self.splices);
        }
        let others = (0..table.row_count()).filter(|other| Some(*other) != row);
        let sum: usize = others.filter_map(|row| table.cell(row, 1).parse::<usize>().ok()).sum();
        let count = plans.to_string();
        let minutes = self.noted_minutes(&section, &id);
        let times = (!minutes.is_empty()).then(|| {
            let total: u64 = minutes.iter().sum();
            let noted = u64::try_from(minutes.len()).unwrap_or(1);
            [("total", total), ("avg/plan", (total + noted / 2) / noted)]
        });
        let columns: Vec<String> = table.columns().iter().map(|column| column.trim().to_lowercase()).collect();
        let time_of = |column: usize| {
            let times = times.as_ref()?;
            times.iter().find(|(name, _)| columns.get(column).is_some_and(|known| known == name)).map(|(_, time)| *time)
        };
        if let Some(row) = row {
            table.set_cell(row, 1, &count, &mut self.splices);
            for column in 2..columns.len() {
                let is_free = meaningful(table.cell(row, column)).is_none() || minutes.len() == plans;
                if let Some(time) = time_of(column).filter(|_| is_free) {
                    table.set_cell(row, column, &format!("{time}min"), &mut self.splices);
                }
            }
        } else {
            let mut cells = vec![phase.to_owned(), count];
            cells.extend((2..columns.len()).map(|column| match time_of(column) {
                Some(time) => format!("{time}min"),
                None => "-".to_owned(),
            }));
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            self.insert_line(table.lines().end, &plain_row(&cells));
        }
        self.set_metric("Total plans completed", &(sum + plans).to_string());
        true
    }

    /// The recorded times of the plans of a phase, from the table of plans: `| Phase 2 P1 | 15min | ...`.
    fn noted_minutes(&self, section: &Section<'_>, phase: &PhaseId) -> Vec<u64> {
        let Some(table) = self.table_of(section, "Plan") else { return Vec::new() };
        let Some(column) = table.column("Duration") else { return Vec::new() };
        let is_of = |row: &usize| {
            let label = table.cell(*row, 0).strip_prefix("Phase ").and_then(|label| label.rsplit_once(" P"));
            label.is_some_and(|(of, _)| phase.matches(of))
        };
        (0..table.row_count()).filter(is_of).filter_map(|row| minutes_in(table.cell(row, column))).collect()
    }

    /// The table of a section whose first column has this title.
    pub(super) fn table_of(&self, section: &Section<'_>, column: &str) -> Option<Table<'text>> {
        let in_section = |table: &Table<'_>| section.lines.contains(&table.lines().start);
        Table::all(self.state.markdown()).into_iter().find(|table| {
            in_section(table) && table.columns().first().is_some_and(|first| first.eq_ignore_ascii_case(column))
        })
    }

    pub(super) fn is_placeholder(&self, line: usize) -> bool {
        is_placeholder(self.state.markdown().line(line))
    }

    /// Inserts a line before line `index`.
    pub(super) fn insert_line(&mut self, index: usize, text: &str) {
        let markdown = self.state.markdown();
        let newline = markdown.newline();
        match (markdown.lines().get(index), index.checked_sub(1).and_then(|last| markdown.lines().get(last))) {
            (Some(line), _) => self.splices.insert(line.start, format!("{text}{newline}")),
            (None, Some(last)) if last.end == last.next => self.splices.insert(last.end, format!("{newline}{text}")),
            (None, last) => self.splices.insert(last.map_or(0, |last| last.next), format!("{text}{newline}")),
        }
    }

    /// Replaces lines by one, or removes them.
    pub(super) fn replace_lines(&mut self, lines: Range<usize>, text: Option<&str>) {
        let all = self.state.markdown().lines();
        let (Some(first), Some(last)) = (all.get(lines.start), all.get(lines.end.saturating_sub(1))) else { return };
        match text {
            Some(text) => self.splices.replace(first.start..last.end, text),
            None => self.splices.remove(first.start..last.next),
        }
    }

    /// Adds lines at the end of a section's own text.
    fn insert_block(&mut self, section: &Section<'_>, block: &[String]) {
        self.insert_after_text(section.heading.line..section.own.end, block);
    }

    /// Inserts lines after the last non-blank line of a range, with blank lines around them.
    pub(super) fn insert_after_text(&mut self, lines: Range<usize>, block: &[String]) {
        let markdown = self.state.markdown();
        let newline = markdown.newline();
        let blank = |line: usize| markdown.line(line).trim().is_empty();
        let last = lines.clone().rev().find(|line| !blank(*line)).unwrap_or(lines.start);
        let text = block.join(newline);
        let follows = last + 1 < markdown.lines().len();
        let gap = if follows && !blank(last + 1) { newline } else { "" };
        match markdown.lines().get(last) {
            Some(line) if line.end == line.next => {
                self.splices.insert(line.end, format!("{newline}{newline}{text}"));
            }
            Some(line) => self.splices.insert(line.next, format!("{newline}{text}{newline}{gap}")),
            None => self.splices.insert(0, format!("{text}{newline}")),
        }
    }
}

/// `[███░░░░░░░] 30%`: ten cells, full only at 100.
pub(crate) fn progress_bar(percent: u64) -> String {
    format!("{} {}%", bar(percent), percent.min(100))
}

/// A bar of ten cells, full only at 100.
pub(crate) fn bar(percent: u64) -> String {
    let cells = ((percent.min(100) + 5) / 10).min(if percent < 100 { 9 } else { 10 });
    let cells: String = (0..10).map(|cell| if cell < cells { '█' } else { '░' }).collect();
    format!("[{cells}]")
}

/// The percentage shown in `value`, and its byte range: a number and `%`, including the bar before it.
pub(crate) fn shown_percent(value: &str) -> Option<(Range<usize>, u64)> {
    let end = value.find('%')?;
    let digits = value[..end].bytes().rev().take_while(u8::is_ascii_digit).count();
    let percent = value[end - digits..end].parse().ok()?;
    let start = if value.starts_with('[') { 0 } else { end - digits };
    Some((start..end + 1, percent))
}

/// A duration as people and programs write it, in whole minutes: `15min`, `1h 20m`, `2 hours`, `90s`, `1:30`.
fn minutes_in(text: &str) -> Option<u64> {
    let mut seconds: u64 = 0;
    let mut rest = text.trim();
    if let Some((hours, minutes)) = rest.split_once(':') {
        return hours.parse::<u64>().ok()?.checked_mul(60)?.checked_add(minutes.parse().ok()?);
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].trim_start();
        let letters = unit.bytes().take_while(u8::is_ascii_alphabetic).count();
        let each = match unit[..letters].to_ascii_lowercase().as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" => 1,
            "m" | "min" | "mins" | "minute" | "minutes" => 60,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
            _ => return None,
        };
        seconds = seconds.checked_add(number.checked_mul(each)?)?;
        rest = unit[letters..].trim_start();
    }
    (!text.trim().is_empty()).then_some(seconds.div_ceil(60))
}

/// A row without padding: rows are added to these tables one by one and never aligned.
pub(super) fn plain_row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}

/// The text on one line: line breaks and the white space around them become one space.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// The text of STATE.md after an edit.
#[cfg(test)]
pub(super) fn edited(text: &str, edit: impl FnOnce(&mut StateEdit<'_, '_>)) -> String {
    let state = State::parse(text);
    let mut edits = StateEdit::new(&state);
    edit(&mut edits);
    edits.finish()
}

#[cfg(test)]
mod tests {
    use super::super::{BLOCKERS, DECISIONS};
    use super::*;

    #[test]
    fn only_the_value_of_a_field_is_replaced() {
        let text = "**Status:**  In progress  \r\n| Plan | 1 |\r\nResume file:\r\n";
        assert_eq!(
            edited(text, |edit| {
                assert_eq!(edit.set("status", "Paused\nfor now"), Set::Changed);
                assert_eq!(edit.set("Plan", "a|b"), Set::Changed);
                assert_eq!(edit.set("Resume file", "x.md"), Set::Changed);
                assert_eq!(edit.set("Nope", "x"), Set::Absent);
            }),
            "**Status:**  Paused for now  \r\n| Plan | a\\|b |\r\nResume file: x.md\r\n"
        );
    }

    #[test]
    fn a_missing_field_of_a_known_section_is_added_in_its_place() {
        let put = |edit: &mut StateEdit<'_, '_>| {
            edit.put("Status", "Paused");
            edit.put("Plan", "1 of 2");
            edit.put("Stopped at", "here");
            edit.put("Nope", "x");
        };
        assert_eq!(
            edited("## Current Position\n\nPhase: 1\nLast activity: x\n\n## Session\n\n## End\n", put),
            "## Current Position\n\nPhase: 1\nPlan: 1 of 2\nStatus: Paused\nLast activity: x\n\n## Session\n\nStopped at: here\n\n## End\n"
        );
        assert_eq!(
            edited("# S\r\n\r\nText", put),
            "# S\r\n\r\nText\r\n\r\n## Current Position\r\n\r\nPlan: 1 of 2\r\nStatus: Paused"
        );
        assert_eq!(edited("", put), "## Current Position\n\nPlan: 1 of 2\nStatus: Paused\n");
    }

    #[test]
    fn items_are_added_after_the_last_one_or_replace_none() {
        for (before, after) in [
            (
                "### Decisions\n\nText.\n\n- a\n  more\n\n### B\n",
                "### Decisions\n\nText.\n\n- a\n  more\n- new\n\n### B\n",
            ),
            ("### Decisions\n\nNone yet.\n\n### B\n", "### Decisions\n\n- new\n\n### B\n"),
            ("### Decisions\n\n- None\n", "### Decisions\n\n- new\n"),
            ("### Decisions\n### B\n", "### Decisions\n\n- new\n\n### B\n"),
            ("### Decisions\n\nText.\n\n### B\n", "### Decisions\n\nText.\n\n- new\n\n### B\n"),
            ("### Decisions\n\nNone yet.\n\n- a\n", "### Decisions\n\n\n- a\n- new\n"),
            ("### Decisions", "### Decisions\n\n- new"),
            ("### Decisions\r\n\r\n- a", "### Decisions\r\n\r\n- a\r\n- new"),
        ] {
            let got = edited(before, |edit| assert!(edit.add_item(DECISIONS, "new")));
            assert_eq!(got, after, "{before:?}");
        }
        assert_eq!(edited("# S\n", |edit| assert!(!edit.add_item(DECISIONS, "new"))), "# S\n");
    }

    #[test]
    fn items_are_removed_with_their_continuation_and_the_last_one_becomes_none() {
        let text = "## Blockers\n\n- API is\n  down\n- Rate limit\n- api slow\n\n## End\n";
        let removed = |needle: &str, count: usize| {
            edited(text, |edit| assert_eq!(edit.remove_items(BLOCKERS, needle), Some(count)))
        };
        assert_eq!(removed("API", 2), "## Blockers\n\n- Rate limit\n\n## End\n");
        assert_eq!(removed("is down", 1), "## Blockers\n\n- Rate limit\n- api slow\n\n## End\n");
        assert_eq!(removed("nope", 0), text);
        let last = edited("## Blockers\n\n- x\n", |edit| assert_eq!(edit.remove_items(BLOCKERS, "x"), Some(1)));
        assert_eq!(last, "## Blockers\n\nNone\n");
    }

    #[test]
    fn the_table_of_plans_is_created_extended_and_corrected() {
        let text = "## Performance Metrics\n\n- Trend: Stable\n\n## End\n";
        let one = edited(text, |edit| assert!(!edit.put_plan_row(&["Phase 2 P1", "15min", "3 tasks", "4 files"])));
        assert_eq!(
            one,
            "## Performance Metrics\n\n- Trend: Stable\n\n**Per-Plan Metrics:**\n\n| Plan | Duration | Tasks | Files |\n\
             |------|----------|-------|-------|\n| Phase 2 P1 | 15min | 3 tasks | 4 files |\n\n## End\n"
        );
        let none = edited(&text.replace("- Trend: Stable", "No metrics yet."), |edit| {
            edit.put_plan_row(&["Phase 2 P1", "15min", "3 tasks", "4 files"]);
        });
        assert!(!none.contains("No metrics") && none.contains("| Phase 2 P1 |"), "{none}");
        let two = edited(&one, |edit| assert!(!edit.put_plan_row(&["Phase 2 P2", "1min", "1 tasks", "1 files"])));
        assert!(two.contains("| 4 files |\n| Phase 2 P2 | 1min | 1 tasks | 1 files |\n\n## End\n"), "{two}");
        let same = edited(&two, |edit| assert!(!edit.put_plan_row(&["Phase 2 P1", "9min", "1 tasks", "1 files"])));
        assert!(same.contains("| Phase 2 P1 | 9min | 1 tasks | 1 files |\n| Phase 2 P2"), "{same}");
    }

    #[test]
    fn the_table_of_phases_keeps_its_other_cells_and_sums_up() {
        let text = "## Performance Metrics\n\n- Total plans completed: 9\n\n| Phase | Plans | Total | Avg/Plan |\n|---|---|---|---|\n| 1 | 1 | 20min | 10min |\n\n## End\n";
        let known = edited(text, |edit| assert!(edit.put_phase_row("01", 2)));
        assert!(known.contains("completed: 2\n") && known.contains("| 1 | 2 | 20min | 10min |\n\n"), "{known}");
        let dashes = text.replace("| 1 | 1 | 20min | 10min |", "| - | - | - | - |");
        let first = edited(&dashes, |edit| assert!(edit.put_phase_row("1", 2)));
        assert!(first.contains("|---|---|---|---|\n| 1 | 2 | - | - |\n\n## End"), "{first}");
        let new = edited(text, |edit| assert!(edit.put_phase_row("2.1", 3)));
        assert!(new.contains("completed: 4\n") && new.contains("10min |\n| 2.1 | 3 | - | - |\n\n"), "{new}");
    }

    #[test]
    fn the_table_of_phases_gets_the_recorded_times() {
        let text = "## Performance Metrics\n\n| Phase | Plans | Total | Avg/Plan |\n|---|---|---|---|\n| 1 | 2 | - | - |\n| 2 | 3 | about a day | - |\n\n\
                    | Plan | Duration | Tasks | Files |\n|---|---|---|---|\n| Phase 01 P1 | 15min | 1 tasks | 1 files |\n\
                    | Phase 1 P2 | 1h 20m | 1 tasks | 1 files |\n| Phase 2 P1 | 90s | 1 tasks | 1 files |\n| Phase 3 P1 | soon | - | - |\n";
        let of = |phase: &str, plans: usize| edited(text, |edit| assert!(edit.put_phase_row(phase, plans)));
        assert!(of("1", 2).contains("| 1 | 2 | 95min | 48min |"), "{}", of("1", 2));
        assert!(of("02", 3).contains("| 2 | 3 | about a day | 2min |"), "{}", of("02", 3));
        assert!(of("3", 1).contains("| 3 | 1 | - | - |"), "{}", of("3", 1));
        for (written, minutes) in [("2 hours", Some(120)), ("1:30", Some(90)), ("", None), ("5", None), ("a min", None)]
        {
            assert_eq!(minutes_in(written), minutes, "{written}");
        }
    }

    #[test]
    fn a_bar_is_full_only_at_a_hundred() {
        assert_eq!(progress_bar(0), "[░░░░░░░░░░] 0%");
        assert_eq!(progress_bar(60), "[██████░░░░] 60%");
        assert_eq!(progress_bar(99), "[█████████░] 99%");
        assert_eq!(progress_bar(250), "[██████████] 100%");
        assert_eq!(shown_percent("[██] 60% (3/5)"), Some((0.."[██] 60%".len(), 60)));
        assert_eq!(shown_percent("about 60%"), Some((6..9, 60)));
        assert_eq!(shown_percent("[██] soon"), None);
    }
}
