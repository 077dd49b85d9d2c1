//! `REQUIREMENTS.md`: the requirements, the slice that owns each, and whether it is proved.

use std::ops::Range;

use super::ids::{is_id, milestone_of};
use super::lines::{after_id, bare, is_nothing, labelled, one_line, split_mark};
use super::milestone_summary::RequirementOutcome;
use crate::text::markdown::{Heading, LineKind, Markdown};
use crate::text::splice::Splices;
use crate::text::table::Table;
use crate::text::words::words;

words! {
    /// The section that an entry is in.
    pub(crate) enum RequirementSection {
        Active = "active",
        Validated = "validated",
        Deferred = "deferred",
        OutOfScope = "out of scope",
    }
}

impl RequirementSection {
    fn of(title: &str) -> Option<Self> {
        let title = title.to_lowercase().replace('-', " ");
        let all = [Self::Active, Self::Validated, Self::Deferred, Self::OutOfScope];
        all.into_iter().find(|section| title == section.word() || title == format!("{} requirements", section.word()))
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Active => "Active",
            Self::Validated => "Validated",
            Self::Deferred => "Deferred",
            Self::OutOfScope => "Out of Scope",
        }
    }
}

/// A requirement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) section: Option<RequirementSection>,
    pub(crate) class: String,
    pub(crate) status: String,
    pub(crate) owner: Option<Owner>,
    pub(crate) supporting: Vec<Owner>,
    /// `unmapped`, `mapped`, `partial`, `validated`, or words of the user.
    pub(crate) validation: String,
    pub(crate) notes: String,
    /// Counts from one.
    pub(crate) line: usize,
}

/// Who delivers a requirement: a slice, or a whole milestone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) milestone: String,
    pub(crate) slice: Option<String>,
}

/// Entries of REQUIREMENTS.md by section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "Requirements")]
pub(crate) struct RequirementCounts {
    pub(crate) active: usize,
    pub(crate) validated: usize,
    pub(crate) deferred: usize,
    pub(crate) out_of_scope: usize,
    // Entries with the status `blocked`, in any section.
    pub(crate) blocked: usize,
    pub(crate) total: usize,
}

/// The requirements of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirements {
    pub(crate) entries: Vec<Requirement>,
}

/// New values for an entry; `None` leaves a value unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequirementChange {
    pub(crate) id: String,
    pub(crate) status: Option<RequirementSection>,
    pub(crate) validation: Option<String>,
    pub(crate) notes: Option<String>,
}

impl Owner {
    /// `M001/S02`, `M001/all`, `M001`, `M001 (provisional)`.
    fn parse(text: &str) -> Option<Self> {
        let word = text.trim().split([' ', '(']).next().unwrap_or_default().trim_matches(['`', '*']);
        let (milestone, slice) =
            word.split_once('/').map_or((word, None), |(milestone, slice)| (milestone, Some(slice)));
        let slice = slice.filter(|slice| !slice.eq_ignore_ascii_case("all"));
        let is_whole = milestone_of(milestone) == Some(milestone) && slice.is_none_or(|slice| is_id(slice, 'S'));
        is_whole.then(|| Self { milestone: milestone.to_owned(), slice: slice.map(str::to_owned) })
    }
}

impl Requirements {
    pub(crate) fn parse(text: &str) -> Self {
        let markdown = Markdown::parse(bare(text));
        Self { entries: entries(&markdown).into_iter().map(|entry| read(&markdown, &entry)).collect() }
    }

    pub(crate) fn counts(&self) -> RequirementCounts {
        let of = |section| self.entries.iter().filter(|entry| entry.section == Some(section)).count();
        RequirementCounts {
            active: of(RequirementSection::Active),
            validated: of(RequirementSection::Validated),
            deferred: of(RequirementSection::Deferred),
            out_of_scope: of(RequirementSection::OutOfScope),
            blocked: self.entries.iter().filter(|entry| entry.status.eq_ignore_ascii_case("blocked")).count(),
            total: self.entries.len(),
        }
    }

    /// The changes since `before`, in the current order of the entries.
    pub(crate) fn outcomes_since(&self, before: &Self) -> Vec<RequirementOutcome> {
        let changed = self.entries.iter().filter_map(|entry| {
            let old = before.entries.iter().find(|old| old.id.eq_ignore_ascii_case(&entry.id));
            let from = old.map_or("new", |old| old.status.as_str());
            (!from.eq_ignore_ascii_case(&entry.status)).then(|| RequirementOutcome {
                id: entry.id.clone(),
                from_status: from.to_owned(),
                to_status: entry.status.clone(),
                proof: entry.validation.clone(),
            })
        });
        changed.collect()
    }
}

/// An entry by its lines.
struct RequirementLines<'text> {
    heading: Heading<'text>,
    id: &'text str,
    section: Option<RequirementSection>,
    lines: Range<usize>,
}

fn entries<'text>(markdown: &Markdown<'text>) -> Vec<RequirementLines<'text>> {
    let headings: Vec<Heading<'text>> = markdown.headings().collect();
    let mut section = None;
    let mut found = Vec::new();
    for (index, heading) in headings.iter().enumerate() {
        if heading.level <= 2 {
            section = RequirementSection::of(heading.title);
        }
        if heading.level != 3 {
            continue;
        }
        let Some(id) = requirement_id(heading.title) else { continue };
        let next = headings[index + 1..].iter().find(|next| next.level <= 3);
        let end = next.map_or(markdown.lines().len(), |next| next.line);
        found.push(RequirementLines { heading: *heading, id, section, lines: heading.line + 1..end });
    }
    found
}

/// `R001` of `R001 — Title`: letters, digits and dashes, a digit last.
fn requirement_id(title: &str) -> Option<&str> {
    let end = title.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'));
    let (id, rest) = title.split_at(end.unwrap_or(title.len()));
    let is_id =
        id.starts_with(|first: char| first.is_ascii_uppercase()) && id.ends_with(|last: char| last.is_ascii_digit());
    (is_id && rest.trim_start().starts_with(['—', '–', '-', ':'])).then_some(id)
}

fn read(markdown: &Markdown<'_>, entry: &RequirementLines<'_>) -> Requirement {
    let value = |label: &str| {
        let lines = entry.lines.clone().filter(|line| markdown.is_prose(*line));
        lines.into_iter().find_map(|line| labelled(markdown.line(line), label)).unwrap_or_default()
    };
    let supporting = value("Supporting slices").split([',', ';']).filter_map(Owner::parse).collect();
    Requirement {
        id: entry.id.to_owned(),
        title: after_id(&entry.heading.title[entry.id.len()..]).to_owned(),
        section: entry.section,
        class: value("Class").to_owned(),
        status: value("Status").to_owned(),
        owner: Owner::parse(value("Primary owning slice")),
        supporting,
        validation: value("Validation").to_owned(),
        notes: value("Notes").to_owned(),
        line: entry.heading.line + 1,
    }
}

/// The text with changed entries: each moves to the section of its status, and its row of the traceability table and
/// the counts are updated. All other bytes stay.
pub(crate) fn change(text: &str, changes: &[RequirementChange]) -> String {
    let (mark, own) = split_mark(text);
    let mut edited = own.to_owned();
    // One at a time, since each change may move its entry.
    for change in changes {
        edited = change_one(&edited, change);
    }
    if edited != own {
        edited = with_counts(&edited);
    }
    format!("{mark}{edited}")
}

fn change_one(text: &str, change: &RequirementChange) -> String {
    let markdown = Markdown::parse(text);
    let entries = entries(&markdown);
    let Some(entry) = entries.iter().find(|entry| entry.id.eq_ignore_ascii_case(&change.id)) else {
        return text.to_owned();
    };
    let status = change
        .status
        .map(|status| if status == RequirementSection::OutOfScope { "out-of-scope" } else { status.word() });
    let values = [("Status", status), ("Validation", change.validation.as_deref()), ("Notes", change.notes.as_deref())];
    let mut splices = Splices::default();
    for (label, value) in values {
        if let Some(value) = value {
            set(&markdown, entry, label, value, &mut splices);
        }
    }
    trace(&markdown, entry.id, status, change.validation.as_deref(), &mut splices);
    let text = splices.apply(text);
    match change.status {
        Some(status) if entry.section != Some(status) => {
            let after = moved(&text, &change.id, status);
            // An unclosed code block could swallow an entry that is moved after it: the entry then stays in its
            // section.
            if ids(&after) == ids(&text) { after } else { text }
        }
        _ => text,
    }
}

fn ids(text: &str) -> Vec<String> {
    let mut ids: Vec<String> = Requirements::parse(text).entries.into_iter().map(|entry| entry.id).collect();
    ids.sort_unstable();
    ids
}

/// Sets the bullet `label` of an entry to `value`; a missing bullet goes below the last one.
fn set(markdown: &Markdown<'_>, entry: &RequirementLines<'_>, label: &str, value: &str, splices: &mut Splices) {
    let value = one_line(value);
    let bullets: Vec<usize> = entry
        .lines
        .clone()
        .filter(|line| markdown.is_prose(*line) && markdown.line(*line).starts_with(['-', '*']))
        .collect();
    let told = bullets.iter().find_map(|line| Some((*line, labelled(markdown.line(*line), label)?)));
    if let Some((line, old)) = told {
        if old == value {
            return;
        }
        let start = old.as_ptr() as usize - markdown.text().as_ptr() as usize;
        let gap = if markdown.text()[..start].ends_with([' ', '\t']) || !old.is_empty() { "" } else { " " };
        let start =
            if old.is_empty() { markdown.lines()[line].start + markdown.line(line).trim_end().len() } else { start };
        let gap = if old.is_empty() { " " } else { gap };
        splices.replace(start..start + old.len(), format!("{gap}{value}"));
        return;
    }
    let newline = markdown.newline();
    let above = bullets.last().copied().unwrap_or(entry.heading.line);
    let Some(line) = markdown.lines().get(above) else { return };
    let bullet = format!("- {label}: {value}");
    if line.next > line.end {
        splices.insert(line.next, format!("{bullet}{newline}"));
    } else {
        splices.insert(line.end, format!("{newline}{bullet}"));
    }
}

/// Updates the row of a requirement in the traceability table.
fn trace(markdown: &Markdown<'_>, id: &str, status: Option<&str>, proof: Option<&str>, splices: &mut Splices) {
    let Some((_, lines)) = markdown.section_named("Traceability") else { return };
    let Some(table) = Table::first_in(markdown, &markdown.span(lines)) else { return };
    let Some(row) = table.column("ID").and_then(|column| table.find_row(column, |cell| cell.eq_ignore_ascii_case(id)))
    else {
        return;
    };
    for (column, value) in [("Status", status), ("Proof", proof)] {
        if let (Some(column), Some(value)) = (table.column(column), value) {
            table.set_cell(row, column, value, splices);
        }
    }
}

/// Moves an entry to the end of the section of its status; creates the section if it is missing.
fn moved(text: &str, id: &str, status: RequirementSection) -> String {
    let markdown = Markdown::parse(text);
    let newline = markdown.newline();
    let entries = entries(&markdown);
    let Some(entry) = entries.iter().find(|entry| entry.id.eq_ignore_ascii_case(id)) else { return text.to_owned() };
    let whole = markdown.span(entry.heading.line..entry.lines.end);
    let own = text[whole.clone()].trim_end();
    let mut splices = Splices::default();
    splices.remove(whole.clone());
    let target =
        markdown.headings().find(|heading| heading.level <= 2 && RequirementSection::of(heading.title) == Some(status));
    if let Some(heading) = target {
        let lines = markdown.section(&heading);
        let blank = lines.clone().rev().take_while(|line| markdown.line(*line).trim().is_empty()).count();
        let at = markdown.span(lines.end - blank..lines.end).start;
        let gap = if text[..at].ends_with('\n') { newline.to_owned() } else { newline.repeat(2) };
        let after = if blank == 0 && lines.end < markdown.lines().len() { newline } else { "" };
        splices.insert(at, format!("{gap}{own}{newline}{after}"));
    } else {
        // After the section it leaves.
        let mut lines = entry.heading.line + 1..markdown.lines().len();
        let is_end = |line: &usize| matches!(markdown.lines()[*line].kind, LineKind::Heading(level) if level <= 2);
        let end = lines.find(is_end).unwrap_or(markdown.lines().len());
        let at = markdown.span(end..end).start;
        let gap = if text[..at].ends_with('\n') { "" } else { newline };
        let heading = status.heading();
        splices.insert(at, format!("{gap}## {heading}{newline}{newline}{own}{newline}{newline}"));
    }
    splices.apply(text)
}

/// The text with the counts of its coverage updated.
fn with_counts(text: &str) -> String {
    let markdown = Markdown::parse(text);
    let requirements = Requirements::parse(text);
    let ids = |keep: &dyn Fn(&Requirement) -> bool| {
        let kept = requirements.entries.iter().filter(|entry| keep(entry)).map(|entry| entry.id.as_str());
        kept.collect::<Vec<_>>()
    };
    let active = |entry: &Requirement| entry.section == Some(RequirementSection::Active);
    let counts = [
        ("Active requirements", ids(&active)),
        ("Mapped to slices", ids(&|entry| active(entry) && entry.owner.is_some())),
        ("Validated", ids(&|entry| entry.section == Some(RequirementSection::Validated))),
        ("Unmapped active requirements", ids(&|entry| active(entry) && entry.owner.is_none())),
    ];
    let section = ["Coverage Summary", "Coverage"].iter().find_map(|name| markdown.section_named(name));
    let mut splices = Splices::default();
    for line in section.map_or(0..0, |(_, lines)| lines).filter(|line| markdown.is_prose(*line)) {
        let known = counts.iter().find_map(|(label, ids)| Some((labelled(markdown.line(line), label)?, ids)));
        let Some((old, ids)) = known else { continue };
        let digits = old.bytes().take_while(u8::is_ascii_digit).count();
        let start = old.as_ptr() as usize - text.as_ptr() as usize;
        let has_list = old[digits..].trim_start().starts_with('(');
        let list = if has_list && !ids.is_empty() { format!(" ({})", ids.join(", ")) } else { String::new() };
        let end = if has_list { old.len() } else { digits };
        // A list that is already correct keeps its form, for example a range.
        if digits > 0 && old.get(..digits) != Some(&ids.len().to_string()) {
            splices.replace(start..start + end, format!("{}{list}", ids.len()));
        }
    }
    splices.apply(text)
}

impl Requirement {
    /// Whether its proof is still missing: the field has only a placeholder word.
    pub(crate) fn is_unproved(&self) -> bool {
        let open = ["unmapped", "mapped", "partial", "pending"];
        is_nothing(&self.validation) || open.iter().any(|word| self.validation.eq_ignore_ascii_case(word))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "# Requirements\n\n## Active\n\n### R001 — Save a recipe\n- Class: core\n- Status: active\n- Description: a | b\n- Primary \
        owning slice: M001/S01\n- Supporting slices: M001/S02, M001/S03\n- Validation: mapped\n- Notes: as told\n\n### R-MVP-02 — Find it\n- Status: \
        blocked\n- Primary owning slice: M001/all\n- Validation: unmapped\n\n## Validated\n\n## Deferred\n\n### R003 — Later\n- Status: deferred\n\n## \
        Out of Scope\n\n## Traceability\n\n| ID | Class | Status | Primary owner | Supporting | Proof |\n|---|---|---|---|---|---|\n| R001 | core | active | \
        M001/S01 | none | mapped |\n| R003 | x | deferred | none | none | unmapped |\n\n## Coverage Summary\n\n- Active requirements: 2 (R001, \
        R-MVP-02)\n- Mapped to slices: 2\n- Validated: 0\n- Unmapped active requirements: 0\n";

    #[test]
    fn entries_are_counted_by_section() {
        let requirements = Requirements::parse(TEXT);
        let counts = requirements.counts();
        let expected =
            RequirementCounts { active: 2, deferred: 1, blocked: 1, total: 3, ..RequirementCounts::default() };
        assert_eq!(counts, expected);
        let first = &requirements.entries[0];
        let slice = |slice: &str| Owner { milestone: "M001".to_owned(), slice: Some(slice.to_owned()) };
        assert_eq!(
            (first.owner.clone(), &first.supporting[..]),
            (Some(slice("S01")), &[slice("S02"), slice("S03")][..])
        );
        assert_eq!(requirements.entries[1].owner, Some(Owner { milestone: "M001".to_owned(), slice: None }));
        assert_eq!(
            (first.title.as_str(), first.validation.as_str(), first.is_unproved()),
            ("Save a recipe", "mapped", true)
        );
        assert_eq!(Owner::parse("M002 (provisional)"), Some(Owner { milestone: "M002".to_owned(), slice: None }));
        assert_eq!((Owner::parse("none"), Owner::parse("baseline")), (None, None));
    }

    fn validated(id: &str) -> RequirementChange {
        RequirementChange {
            id: id.to_owned(),
            status: Some(RequirementSection::Validated),
            validation: Some("M001/S01: 3 checks".to_owned()),
            notes: None,
        }
    }

    #[test]
    fn a_validated_entry_moves_with_all_its_other_bytes() {
        let after = change(TEXT, &[validated("R001")]);
        let moved = "## Validated\n\n### R001 — Save a recipe\n- Class: core\n- Status: validated\n- Description: a | b\n- Primary owning slice: \
            M001/S01\n- Supporting slices: M001/S02, M001/S03\n- Validation: M001/S01: 3 checks\n- Notes: as told\n\n## Deferred\n";
        assert!(after.contains(moved), "{after}");
        assert!(after.contains("## Active\n\n### R-MVP-02"), "{after}");
        assert!(after.contains("| R001 | core | validated | M001/S01 | none | M001/S01: 3 checks |\n"), "{after}");
        assert!(after.ends_with("- Active requirements: 1 (R-MVP-02)\n- Mapped to slices: 1\n- Validated: 1\n- Unmapped active requirements: 0\n"));
        assert_eq!(change(&after, &[validated("R001")]), after, "again changes nothing");
        let both = change(&after, &[validated("R-MVP-02")]);
        assert!(
            both.contains("- Active requirements: 0\n") && both.contains("## Active\n\n## Validated\n\n### R001"),
            "{both}"
        );
    }

    #[test]
    fn a_missing_section_is_created() {
        let text = "## Active\r\n### R001 — a\r\n- Notes:\r\n## Traceability\r\n";
        let change_of = RequirementChange { notes: Some("n".to_owned()), ..validated("r001") };
        let after = change(text, &[change_of]);
        assert_eq!(
            after,
            "## Active\r\n## Validated\r\n\r\n### R001 — a\r\n- Notes: n\r\n- Status: validated\r\n- Validation: M001/S01: 3 \
             checks\r\n\r\n## Traceability\r\n"
        );
        assert_eq!(change(text, &[validated("R009")]), text);
        let partial = RequirementChange {
            id: "R001".to_owned(),
            validation: Some("partial".to_owned()),
            ..RequirementChange::default()
        };
        assert_eq!(
            change(TEXT, &[partial]),
            TEXT.replacen("Validation: mapped", "Validation: partial", 1).replace("| mapped |", "| partial |")
        );
    }

    #[test]
    fn outcomes_are_the_changes_since_a_snapshot() {
        let (before, after) = (Requirements::parse(TEXT), Requirements::parse(&change(TEXT, &[validated("R001")])));
        let outcomes = after.outcomes_since(&before);
        assert_eq!(outcomes.len(), 1);
        assert_eq!((outcomes[0].from_status.as_str(), outcomes[0].to_status.as_str()), ("active", "validated"));
    }

    proptest! {
        #[test]
        fn no_entry_is_lost_by_a_change(
            text in "\u{feff}?(## (Active|Validated|Deferred|Traceability|Coverage)\r?\n|### R00[1-4] — a\n|- Status: active\n|- Validation: x\n|- Validated: 1\n|\n|text\n|```\n|\\| ID \\| Status \\|\n|\\|---\\|---\\|\n|\\| R001 \\| x \\|\n){0,16}",
            id in "R00[1-4]",
        ) {
            let after = change(&text, &[validated(&id)]);
            prop_assert_eq!(ids(&after), ids(&text));
            let read = Requirements::parse(&after);
            let entry = read.entries.iter().find(|entry| entry.id == id);
            if entry.is_some() && !text.contains("```") && ids(&text).windows(2).all(|pair| !pair[0].eq_ignore_ascii_case(&pair[1])) {
                let is_moved = entry.is_some_and(|entry| entry.section == Some(RequirementSection::Validated));
                prop_assert!(is_moved && entry.is_some_and(|entry| entry.status == "validated"));
                prop_assert_eq!(change(&after, &[validated(&id)]), after);
            }
        }
    }
}
