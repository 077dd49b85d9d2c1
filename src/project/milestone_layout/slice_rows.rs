//! The slices listed in a roadmap: as a checklist, as a table, or as headings.

use std::collections::BTreeSet;
use std::ops::Range;

use super::ids::{identifier, leading};
use super::lines::{Problem, after_id, expanded, folded, item, labelled, words};
use crate::text::markdown::{Heading, LineKind, Markdown, heading_title};
use crate::text::splice::Splices;
use crate::text::table::Table;

/// A slice as its milestone's roadmap lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SliceRow {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) risk: String,
    /// Slices of the same milestone; a range is expanded.
    pub(crate) depends: Vec<String>,
    /// Skipped slices count as done.
    pub(crate) done: bool,
    /// Closed without being built: it has no summary.
    pub(crate) skipped: bool,
    /// Deferred: not done, and not to be started.
    pub(crate) deferred: bool,
    /// Not planned in detail yet.
    pub(crate) sketch: bool,
    /// What works after the slice is done.
    pub(crate) after: Option<String>,
    /// Counts from one.
    pub(crate) line: usize,
}

/// The place in a row that shows whether it is done. Positions are bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DoneMark {
    /// The byte in a checkbox.
    Box(usize),
    /// A cell with the status in words.
    Status { header: usize, row: usize, column: usize },
    /// A cell that gets a mark at its end.
    Title { header: usize, row: usize, column: usize },
    /// The end of a heading's title.
    Heading(usize),
}

/// A row with its mark.
#[derive(Clone, Debug)]
pub(super) struct MarkedRow {
    pub(super) row: SliceRow,
    pub(super) mark: DoneMark,
}

/// Marks that mean done.
const CHECKS: &[char] = &['✅', '✓', '✔', '☑'];

const DONE_WORDS: &[&str] = &["done", "complete", "completed"];

/// The slices of a roadmap, in the order of the document, each once.
pub(super) fn read(markdown: &Markdown<'_>) -> (Vec<MarkedRow>, Vec<Problem>) {
    let all = 0..markdown.lines().len();
    let section = markdown.headings().find(is_slices).map(|heading| markdown.section(&heading));
    for (lines, is_section) in section.map(|lines| (lines, true)).into_iter().chain([(all, false)]) {
        let (mut found, mut problems) = checklist(markdown, lines.clone(), is_section);
        if found.is_empty() {
            (found, problems) = (table(markdown, lines.clone()), Vec::new());
        }
        if found.is_empty() {
            found = headings(markdown, lines);
        }
        if !found.is_empty() {
            let mut known = BTreeSet::new();
            found.retain(|found| {
                let is_new = known.insert(found.row.id.to_uppercase());
                if !is_new {
                    let what = format!("slice `{}` is listed twice; the first entry counts", found.row.id);
                    problems.push(Problem { line: found.row.line, what });
                }
                is_new
            });
            return (found, problems);
        }
    }
    (Vec::new(), Vec::new())
}

/// Marks the row at this place as done.
pub(super) fn mark_done(markdown: &Markdown<'_>, mark: &DoneMark, splices: &mut Splices) {
    match mark {
        DoneMark::Box(at) => splices.replace(*at..at + 1, "x"),
        DoneMark::Status { header, row, column } | DoneMark::Title { header, row, column } => {
            let start = markdown.lines().get(*header).map_or(0, |line| line.start);
            let Some(table) = Table::first_in(markdown, &(start..start + 1)) else { return };
            let value = match mark {
                DoneMark::Title { .. } => format!("{} ✅", table.cell_text(*row, *column)),
                _ => "done".to_owned(),
            };
            table.set_cell(*row, *column, &value, splices);
        }
        DoneMark::Heading(at) => splices.insert(*at, " (Complete)"),
    }
}

/// `## Slices`, `## Slice Overview` and the like.
fn is_slices(heading: &Heading<'_>) -> bool {
    const NAMES: &[&str] =
        &["slices", "slice overview", "slice table", "slice summary", "slice status", "slice roadmap"];
    heading.level == 2 && NAMES.contains(&folded(heading.title).as_str())
}

/// Rows `- [ ] **S01: Title** tags`, with a quote below that names what works after them.
fn checklist(markdown: &Markdown<'_>, lines: Range<usize>, is_section: bool) -> (Vec<MarkedRow>, Vec<Problem>) {
    let (mut found, mut problems): (Vec<MarkedRow>, Vec<Problem>) = (Vec::new(), Vec::new());
    for line in lines.filter(|line| markdown.is_prose(*line)) {
        let text = markdown.line(line);
        if let Some((row, at)) = entry(text, line, is_section) {
            if let Some(odd) = row.depends.iter().find(|id| identifier(id) != id.as_str()) {
                problems.push(Problem { line: line + 1, what: format!("`{odd}` is not a slice") });
            }
            let start = markdown.lines()[line].start;
            found.push(MarkedRow { row, mark: DoneMark::Box(start + at) });
        } else if let Some(last) = found.last_mut()
            && last.row.after.is_none()
        {
            last.row.after = told_after(text);
        }
    }
    (found, problems)
}

/// Reads what works after a slice from a line below it.
fn told_after(line: &str) -> Option<String> {
    let quoted = line.trim_start().strip_prefix('>').map(str::trim);
    let told = match quoted {
        Some(quoted) => labelled(quoted, "After this").unwrap_or(quoted),
        None => labelled(line, "After this")?,
    };
    (!told.is_empty()).then(|| told.to_owned())
}

fn entry(text: &str, line: usize, is_section: bool) -> Option<(SliceRow, usize)> {
    let found = item(text)?;
    let (ticked, at) = found.tick?;
    let bold = found.text.strip_prefix("**");
    let (id, rest) = leading(bold.unwrap_or(found.text), 'S')?;
    let separated = rest.trim_start().starts_with([':', '-', '—', '–']) || rest.starts_with("**");
    // In other sections, a criterion may begin with the name of a slice.
    if bold.is_none() && !(is_section && separated) {
        return None;
    }
    let (title, tags) = match bold.and_then(|_| rest.split_once("**")) {
        Some((inside, tags)) if !after_id(inside).is_empty() => (after_id(inside), tags),
        Some((_, after)) => (after_id(&after[..tags_start(after)]), after),
        None => (after_id(&rest[..tags_start(rest)]), rest),
    };
    let status = tag(tags, "status").unwrap_or_default().to_lowercase();
    let skipped = status == "skipped";
    let row = SliceRow {
        id: id.to_owned(),
        title: title.trim_matches('*').trim().to_owned(),
        risk: tag(tags, "risk").filter(|risk| !risk.is_empty()).unwrap_or("low").to_lowercase(),
        depends: expanded(tag(tags, "depends").unwrap_or_default(), 'S'),
        done: ticked || skipped,
        skipped,
        deferred: status == "deferred",
        sketch: text.contains("[sketch]"),
        after: None,
        line: line + 1,
    };
    Some((row, at))
}

/// The start of the tags in a row.
fn tags_start(text: &str) -> usize {
    let marks = ["`", "risk:", "depends:", "status:", "[sketch]"];
    marks.iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len())
}

/// The value of a tag such as `` `risk:high` `` or `depends:[S01, S02]`.
fn tag<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    let is_start = |at: &usize| !text[..*at].ends_with(|before: char| before.is_alphanumeric());
    let mut places = text.match_indices(name).map(|(at, _)| at).filter(is_start);
    let value = places.find_map(|at| text[at + name.len()..].strip_prefix(':'))?.trim_start();
    match value.strip_prefix('[') {
        Some(list) => Some(list.split(']').next().unwrap_or(list)),
        None => value.split(|letter: char| letter.is_whitespace() || letter == '`' || letter == ']').next(),
    }
}

/// The rows of the first table with slices in its rows.
fn table(markdown: &Markdown<'_>, lines: Range<usize>) -> Vec<MarkedRow> {
    let tables = Table::all(markdown).into_iter().filter(|table| lines.contains(&table.lines().start));
    tables.map(|table| rows(markdown, &table)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The columns of a table of slices, found by their heads.
struct Columns {
    title: Option<usize>,
    status: Option<usize>,
    risk: Option<usize>,
    depends: Option<usize>,
    after: Option<usize>,
}

impl Columns {
    fn of(table: &Table<'_>) -> Self {
        let heads: Vec<String> = table.columns().iter().map(|head| head.to_lowercase()).collect();
        let find = |names: &[&str]| {
            heads.iter().position(|head| names.iter().any(|name| words(head).any(|word| word == *name)))
        };
        Self {
            title: find(&["title", "name"]),
            status: find(&["status", "state", "done", "progress"]),
            risk: find(&["risk"]),
            depends: find(&["depends", "deps", "dependencies", "dependency"]),
            after: find(&["after", "demo", "outcome"]),
        }
    }
}

fn rows(markdown: &Markdown<'_>, table: &Table<'_>) -> Vec<MarkedRow> {
    let columns = Columns::of(table);
    (0..table.row_count()).filter_map(|row| table_row(markdown, table, &columns, row)).collect()
}

fn table_row(markdown: &Markdown<'_>, table: &Table<'_>, columns: &Columns, row: usize) -> Option<MarkedRow> {
    let count = table.cell_count(row);
    let cell = |column: usize| table.cell(row, column);
    let (at, id, rest) = (0..count).find_map(|column| {
        let (id, rest) = leading(unmarked(cell(column)), 'S')?;
        Some((column, id, rest))
    })?;
    let own = clean_title(rest);
    let beside = columns.title.filter(|title| *title != at).or(Some(at + 1)).filter(|column| *column < count);
    let titled = if own.is_empty() { beside.unwrap_or(at) } else { at };
    let title = if own.is_empty() { beside.map(|column| clean_title(cell(column))).unwrap_or_default() } else { own };
    let line = table.line_of(row)?;
    let text = markdown.line(line);
    let status = columns.status.map(|column| folded(cell(column)));
    let is_done_word = |text: &str| DONE_WORDS.contains(&text);
    let says_done = match &status {
        Some(status) => status.split(' ').next().is_some_and(is_done_word),
        None => (0..count).any(|column| column != at && column != titled && is_done_word(&folded(cell(column)))),
    };
    let says = |word: &str| {
        status.as_deref().is_some_and(|status| status.starts_with(word)) || tag(text, "status") == Some(word)
    };
    let skipped = says("skipped");
    let depends_cell = columns.depends.map(cell).or_else(|| (0..count).map(cell).find_map(said_depends));
    let risk = columns.risk.and_then(|column| words(cell(column)).next()).or_else(|| tag(text, "risk"));
    let mark = match (box_of(text), columns.status) {
        (Some(byte), _) => DoneMark::Box(markdown.lines()[line].start + byte),
        (None, Some(column)) => DoneMark::Status { header: table.lines().start, row, column },
        (None, None) => DoneMark::Title { header: table.lines().start, row, column: titled },
    };
    let after = columns.after.map(cell).filter(|text| !super::lines::is_nothing(text)).map(str::to_owned);
    let ticked = text.contains("[x]") || text.contains("[X]") || text.contains(CHECKS);
    let row = SliceRow {
        id: id.to_owned(),
        title,
        risk: risk.unwrap_or("medium").to_lowercase(),
        depends: expanded(tag(text, "depends").or(depends_cell).unwrap_or_default(), 'S'),
        done: ticked || says_done || skipped,
        skipped,
        deferred: says("deferred"),
        sketch: text.contains("[sketch]"),
        after,
        line: line + 1,
    };
    Some(MarkedRow { row, mark })
}

/// The rest of a cell that begins `Depends on`.
fn said_depends(cell: &str) -> Option<&str> {
    let head = cell.get(..7).filter(|head| head.eq_ignore_ascii_case("depends"))?;
    let rest = cell[head.len()..].trim_start().trim_start_matches("on");
    Some(rest.trim_start_matches([':', ' ']))
}

/// The byte in the first checkbox of a line, wherever it is.
fn box_of(line: &str) -> Option<usize> {
    ["[ ]", "[x]", "[X]"].iter().filter_map(|mark| line.find(mark)).min().map(|at| at + 1)
}

/// A text without the boxes, check marks and bold marks before its first word.
fn unmarked(text: &str) -> &str {
    let mut rest = text.trim();
    loop {
        let bare = rest.trim_start_matches(['*', '`', ' ']).trim_start_matches(CHECKS);
        let bare = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare);
        let bare = bare.strip_prefix('[').unwrap_or(bare);
        if bare.len() == rest.len() {
            return rest;
        }
        rest = bare;
    }
}

/// A title without the marks around it and without a word such as `(done)`.
fn clean_title(text: &str) -> String {
    let marks = |letter: char| letter.is_whitespace() || CHECKS.contains(&letter) || "*`\u{fe0f}".contains(letter);
    let without_link = text.strip_prefix(']').unwrap_or(text);
    let text = after_id(without_link.trim_matches(marks)).trim_matches(marks);
    let text = text.trim_end_matches("[x]").trim_end_matches("[X]").trim_end_matches("[ ]").trim_matches(marks);
    without_done(text).trim_matches(marks).to_owned()
}

/// The title before `(Complete)` or `(done)`, or all of it.
fn without_done(text: &str) -> &str {
    let suffix = text.strip_suffix(')').and_then(|inside| inside.rsplit_once('('));
    suffix.filter(|(_, word)| DONE_WORDS.contains(&folded(word).as_str())).map_or(text, |(title, _)| title.trim_end())
}

/// The slices that have their own heading.
fn headings(markdown: &Markdown<'_>, lines: Range<usize>) -> Vec<MarkedRow> {
    let mut found: Vec<MarkedRow> = Vec::new();
    for line in lines.filter(|line| markdown.is_prose(*line)) {
        let text = markdown.line(line);
        let LineKind::Heading(level) = markdown.lines()[line].kind else {
            if let Some(last) = found.last_mut() {
                read_below(&mut last.row, text);
            }
            continue;
        };
        if level <= 4
            && let Some(heading) = heading_row(markdown, line)
        {
            found.push(heading);
        }
    }
    found
}

fn heading_row(markdown: &Markdown<'_>, line: usize) -> Option<MarkedRow> {
    let (text, start) = (markdown.line(line), markdown.lines().get(line)?.start);
    let title = heading_title(text);
    let named = unmarked(title);
    let named = named.strip_prefix("Slice ").or_else(|| named.strip_prefix("slice ")).unwrap_or(named);
    let (id, rest) = leading(unmarked(named), 'S')?;
    // `S01 → S02` is a boundary between two slices.
    if rest.trim_start().starts_with(['→', '➜']) || rest.trim_start().starts_with("->") {
        return None;
    }
    let plain = title.trim_end_matches(['*', ' ']);
    let status = tag(text, "status");
    let mark = match box_of(text) {
        Some(byte) => DoneMark::Box(start + byte),
        None => DoneMark::Heading(start + text.rfind(title)? + title.len()),
    };
    let shown = clean_title(&rest[..tags_start(rest)]);
    let row = SliceRow {
        id: id.to_owned(),
        title: shown,
        risk: tag(text, "risk").unwrap_or("medium").to_lowercase(),
        depends: expanded(tag(text, "depends").unwrap_or_default(), 'S'),
        done: text.contains(CHECKS)
            || text.contains("[x]")
            || text.contains("[X]")
            || without_done(plain).len() < plain.len()
            || status == Some("skipped"),
        skipped: status == Some("skipped"),
        deferred: status == Some("deferred"),
        sketch: text.contains("[sketch]"),
        after: None,
        line: line + 1,
    };
    Some(MarkedRow { row, mark })
}

/// Reads a line below a heading into its slice.
fn read_below(row: &mut SliceRow, line: &str) {
    if let Some(list) = labelled(line, "Depends on").or_else(|| labelled(line, "Depends")) {
        row.depends.extend(expanded(list, 'S').into_iter().filter(|id| leading(id, 'S').is_some()));
        row.depends.dedup();
    } else if let Some(risk) = labelled(line, "Risk").and_then(|risk| words(risk).next()) {
        row.risk = risk.to_lowercase();
    } else if row.after.is_none() {
        row.after = told_after(line);
    }
}
