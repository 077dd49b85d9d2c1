//! ROADMAP.md: phases as headings, checklist lines and tables, and the window of the current milestone.
//!
//! Phases appear in three places: the detail section (`### Phase 2: Name` with fields), the checklist line
//! (`- [ ] **Phase 2: Name** - text`, bold or not, with or without a name), and rows of tables. The places may
//! disagree; this file reports the content of each and leaves the decision to the operations. Reading never fails.
//! Edits are splices that change only the lines they name.
//!
//! A `<details>` block folds shipped milestones away. One that is `open`, or that names the milestone the project works
//! on, is read like any other part.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::text::checklist::{COLONS, ListItem};
use crate::text::markdown::{Heading, Markdown};

use super::phase::{self, PhaseId, PhaseIndex};
use super::requirements;
use super::version::version_in;

/// A parsed roadmap. Borrows the text.
#[derive(Clone, Debug)]
pub(crate) struct Roadmap<'text> {
    markdown: Markdown<'text>,
    sections: Vec<PhaseSection<'text>>,
    bullets: Vec<PhaseBullet<'text>>,
    rows: Vec<ProgressTableRow<'text>>,
    /// Per line: inside a folded `<details>` block.
    shipped: Vec<bool>,
    blocks: Vec<DetailsBlock>,
    /// The checklist marks some phase as abandoned.
    has_retired: bool,
    found: PartsByPhase,
}

/// The parts of a roadmap by the phases that they are about, each found when it is first asked for.
#[derive(Clone, Debug, Default)]
struct PartsByPhase {
    open_sections: OnceLock<PhaseIndex>,
    open_bullets: OnceLock<PhaseIndex>,
    all_rows: OnceLock<PhaseIndex>,
}

/// The detail section of a phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseSection<'text> {
    /// The identifier as written.
    pub(crate) id: &'text str,
    /// The name as written, including a tag such as `(INSERTED)`.
    pub(crate) name: &'text str,
    pub(crate) heading_line: usize,
    /// The lines after the heading.
    pub(crate) lines: Range<usize>,
    pub(crate) shipped: bool,
}

/// The checklist line of a phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseBullet<'text> {
    pub(crate) id: &'text str,
    pub(crate) name: &'text str,
    pub(crate) line: usize,
    /// The byte position of the character between the brackets, if the line has a checkbox.
    pub(crate) mark: Option<usize>,
    /// Ticked.
    pub(crate) checked: bool,
    pub(crate) is_bold: bool,
    /// Struck through: the phase is abandoned and does not count as work.
    pub(crate) is_retired: bool,
    pub(crate) shipped: bool,
}

/// A row of a table whose first column is the phase.
#[derive(Clone, Debug)]
pub(crate) struct ProgressTableRow<'text> {
    pub(crate) id: &'text str,
    /// From a name column, or after the number in the first cell.
    pub(crate) name: &'text str,
    pub(crate) line: usize,
    /// The table has a column for names: it lists phases.
    pub(crate) lists: bool,
    /// The table reports the progress of phases: of the tables that do not list phases, those with a column for plans
    /// or for the completion date; all of them if none has such a column.
    pub(crate) reports: bool,
    /// The columns, lower case, with their trimmed cells.
    pub(crate) cells: Vec<(Arc<str>, &'text str)>,
    pub(crate) shipped: bool,
}

/// A `<details>` block.
#[derive(Clone, Debug)]
pub(crate) struct DetailsBlock {
    /// The lines of the block, including both tags.
    pub(crate) lines: Range<usize>,
    /// The line with the `<summary>`, if there is one.
    pub(crate) summary: Option<usize>,
    is_folded: bool,
    /// Its end tag is in the document.
    is_closed: bool,
}

impl<'text> Roadmap<'text> {
    /// Reads a roadmap of which no milestone is known to be the current one. Commands ask `ProjectView::roadmap`.
    #[cfg(test)]
    pub(crate) fn parse(text: &'text str) -> Self {
        Self::parse_for(text, None)
    }

    /// Reads a roadmap in which the block of the milestone `version` is open, marked so or not.
    pub(crate) fn parse_for(text: &'text str, version: Option<&str>) -> Self {
        let markdown = Markdown::parse(text);
        let blocks = details_blocks(&markdown, version);
        let folded = blocks.iter().filter(|block| block.is_folded).map(|block| &block.lines);
        let shipped = covered(markdown.lines().len(), folded);
        let sections: Vec<PhaseSection<'text>> = markdown
            .headings()
            .filter_map(|heading| {
                let (id, name) = phase_heading(&heading)?;
                let lines = markdown.section(&heading);
                Some(PhaseSection { id, name, heading_line: heading.line, lines, shipped: shipped[heading.line] })
            })
            .collect();
        let in_section = covered(markdown.lines().len(), sections.iter().map(|section| &section.lines));
        let bullets: Vec<PhaseBullet<'text>> = (0..markdown.lines().len())
            .filter(|line| markdown.is_prose(*line))
            .filter_map(|line| phase_bullet(&markdown, line, shipped[line]))
            // In the section of a phase, a task may begin with the word `Phase`.
            .filter(|bullet| bullet.is_bold || !in_section[bullet.line])
            .collect();
        let rows = table_rows(&markdown, &shipped);
        let has_retired = bullets.iter().any(|bullet| bullet.is_retired);
        Self { markdown, sections, bullets, rows, shipped, blocks, has_retired, found: PartsByPhase::default() }
    }

    /// Sets aside the sections, checklist lines and rows that are about phases of other milestones, so that they are
    /// not read for phases with the same number. `is_other` gets a line and the identifier on it.
    pub(super) fn set_aside(
        &mut self,
        is_other: impl Fn(usize, &str) -> bool,
        is_other_row: impl Fn(&ProgressTableRow<'text>) -> bool,
    ) {
        for section in &mut self.sections {
            section.shipped |= is_other(section.heading_line, section.id);
        }
        for bullet in &mut self.bullets {
            bullet.shipped |= is_other(bullet.line, bullet.id);
        }
        for row in &mut self.rows {
            row.shipped |= is_other_row(row);
        }
        // Results found by number so far may belong to another milestone.
        self.found = PartsByPhase::default();
    }

    pub(crate) fn markdown(&self) -> &Markdown<'text> {
        &self.markdown
    }

    pub(crate) fn text(&self) -> &'text str {
        self.markdown.text()
    }

    pub(crate) fn sections(&self) -> &[PhaseSection<'text>] {
        &self.sections
    }

    pub(crate) fn bullets(&self) -> &[PhaseBullet<'text>] {
        &self.bullets
    }

    pub(crate) fn rows(&self) -> &[ProgressTableRow<'text>] {
        &self.rows
    }

    /// The identifiers of phases as they are written in headings, checklist and tables, repeats included.
    pub(crate) fn named_phases(&self) -> impl Iterator<Item = &'text str> {
        let sections = self.sections.iter().map(|section| section.id);
        sections.chain(self.bullets.iter().map(|bullet| bullet.id)).chain(self.rows.iter().map(|row| row.id))
    }

    /// As [`Self::named_phases`], without those that only a table of reports names.
    pub(super) fn listed_phases(&self) -> impl Iterator<Item = &'text str> {
        let sections = self.sections.iter().map(|section| section.id);
        let rows = self.rows.iter().filter(|row| row.lists).map(|row| row.id);
        sections.chain(self.bullets.iter().map(|bullet| bullet.id)).chain(rows)
    }

    /// As [`Self::named_phases`], without those of milestones that are folded away or set aside.
    pub(crate) fn open_phases(&self) -> impl Iterator<Item = &'text str> {
        let sections = self.sections.iter().filter(|section| !section.shipped).map(|section| section.id);
        let bullets = self.bullets.iter().filter(|bullet| !bullet.shipped).map(|bullet| bullet.id);
        let rows = self.rows.iter().filter(|row| !row.shipped).map(|row| row.id);
        sections.chain(bullets).chain(rows)
    }

    /// Whether line `index` is folded away in a `<details>` block.
    pub(crate) fn is_shipped(&self, index: usize) -> bool {
        self.shipped.get(index).copied().unwrap_or(false)
    }

    /// The blocks that are folded.
    pub(crate) fn folded_blocks(&self) -> impl Iterator<Item = &DetailsBlock> {
        self.blocks.iter().filter(|block| block.is_folded)
    }

    /// The line of the first folded block that is not closed: everything below it counts as folded away.
    pub(crate) fn unclosed_block(&self) -> Option<usize> {
        self.folded_blocks().find(|block| !block.is_closed).map(|block| block.lines.start)
    }

    /// The block whose summary names the milestone `version`, if it is not folded.
    pub(crate) fn open_block_of(&self, version: &str) -> Option<&DetailsBlock> {
        let names =
            |block: &&DetailsBlock| block.summary.is_some_and(|line| names_version(self.markdown.line(line), version));
        self.blocks.iter().filter(|block| !block.is_folded).find(names)
    }

    /// The open detail section of `typed`: one with exactly this spelling wins over one with the same normal form.
    pub(crate) fn section(&self, typed: &str) -> Option<&PhaseSection<'text>> {
        let index = self.found.open_sections.get_or_init(|| {
            let all = self.sections.iter().enumerate();
            PhaseIndex::new(all.filter(|(_, section)| !section.shipped).map(|(at, section)| (at, section.id)))
        });
        Some(&self.sections[index.find_spelled(typed)?])
    }

    /// The identifiers of phases in checklist lines, including those in the section of a phase: a plan for later that
    /// has no section yet.
    pub(crate) fn listed_ids(&self) -> impl Iterator<Item = &'text str> + '_ {
        let lines = (0..self.markdown.lines().len()).filter(|line| self.markdown.is_prose(*line));
        lines.filter_map(|line| phase_bullet(&self.markdown, line, false)).map(|bullet| bullet.id)
    }

    /// The open checklist line of `typed`.
    pub(crate) fn bullet(&self, typed: &str) -> Option<&PhaseBullet<'text>> {
        let index = self.found.open_bullets.get_or_init(|| {
            let all = self.bullets.iter().enumerate();
            PhaseIndex::new(all.filter(|(_, bullet)| !bullet.shipped).map(|(at, bullet)| (at, bullet.id)))
        });
        Some(&self.bullets[index.find_spelled(typed)?])
    }

    /// Whether the checklist line of `typed` is struck through: the phase is abandoned.
    pub(crate) fn is_retired(&self, typed: &str) -> bool {
        self.has_retired && self.bullet(typed).is_some_and(|bullet| bullet.is_retired)
    }

    /// Whether line `index` is the heading of a phase.
    pub(crate) fn opens_section(&self, index: usize) -> bool {
        self.sections.binary_search_by_key(&index, |section| section.heading_line).is_ok()
    }

    /// The rows of `typed` in all tables.
    pub(crate) fn rows_of(&self, typed: &str) -> impl Iterator<Item = &ProgressTableRow<'text>> {
        let index = self.found.all_rows.get_or_init(|| PhaseIndex::new(self.rows.iter().map(|row| row.id).enumerate()));
        index.find_all(typed).map(|at| &self.rows[at])
    }

    /// The row of `typed` in a table that reports progress.
    pub(crate) fn progress_row(&self, typed: &str) -> Option<&ProgressTableRow<'text>> {
        self.rows_of(typed).find(|row| row.reports && !row.shipped)
    }

    /// The status of `typed` in its open rows, in tables that list phases or report on them.
    pub(crate) fn statuses(&self, typed: &str) -> impl Iterator<Item = &str> {
        self.rows_of(typed)
            .filter(|row| !row.shipped && (row.lists || row.reports))
            .filter_map(|row| row.cell("status"))
    }

    /// The text of a detail section from its heading on, without trailing blank lines.
    pub(crate) fn section_text(&self, section: &PhaseSection<'_>) -> &'text str {
        let span = self.markdown.span(section.heading_line..section.lines.end);
        self.markdown.text()[span].trim_end()
    }

    /// The value of a field of a section, such as `Goal`, written `**Goal**: text` or `**Goal:** text`.
    pub(crate) fn field(&self, section: &PhaseSection<'_>, label: &str) -> Option<&'text str> {
        self.field_line(section, label).map(|(_, value)| value)
    }

    /// The line and the trimmed value of a field of a section.
    pub(crate) fn field_line(&self, section: &PhaseSection<'_>, label: &str) -> Option<(usize, &'text str)> {
        let lines = || section.lines.clone().filter(|line| self.markdown.is_prose(*line));
        let read = |line: usize| Some((line, bold_field(self.markdown.line(line), label)?));
        let read_plain = |line: usize| Some((line, plain_field(self.markdown.line(line), label)?));
        // `Plans:` is the line above the list of plans.
        let plain = || lines().find_map(read_plain).filter(|_| label != "Plans");
        lines().find_map(read).or_else(plain)
    }

    /// The identifiers in the field `Requirements` of a section; empty if they are still open.
    pub(crate) fn requirement_ids(&self, section: &PhaseSection<'_>) -> Vec<String> {
        let field = without_comments(self.field(section, "Requirements").unwrap_or_default());
        let words = requirements::typed_ids(&[field]).into_iter().filter(|word| word.contains(char::is_alphanumeric));
        words.filter(|word| !requirements::is_open_word(word)).collect()
    }

    /// The way a phase is worked on, from its field `Mode`, in lower case.
    pub(crate) fn mode(&self, section: &PhaseSection<'_>) -> Option<String> {
        self.field(section, "Mode").map(str::trim).filter(|mode| !mode.is_empty()).map(str::to_lowercase)
    }

    /// The numbered items under `**Success Criteria**`, each with the lines that continue it. Blank lines between items
    /// do not end the list.
    pub(crate) fn success_criteria(&self, section: &PhaseSection<'_>) -> Vec<String> {
        let Some((start, _)) = self.field_line(section, "Success Criteria") else { return Vec::new() };
        let mut criteria: Vec<String> = Vec::new();
        let mut after_blank = false;
        for line in start + 1..section.lines.end {
            let (whole, text) = (self.markdown.line(line), self.markdown.line(line).trim());
            let is_indented = whole.starts_with([' ', '\t']);
            let is_block = text.starts_with(['#', '|', '<', '-', '*', '+', '`']) || text.starts_with("Plans:");
            let is_other = is_block && !is_indented;
            match (numbered_item(text), criteria.last_mut()) {
                (Some(item), _) => criteria.push(item.to_owned()),
                (None, _) if text.is_empty() => {}
                (None, Some(last)) if !is_other && text != "---" && (!after_blank || is_indented) => {
                    last.push(' ');
                    last.push_str(text);
                }
                (None, _) => break,
            }
            after_blank = text.is_empty();
        }
        criteria
    }
}

impl PhaseBullet<'_> {
    pub(crate) fn is_sentinel(&self) -> bool {
        PhaseId::new(self.id).is_sentinel()
    }
}

/// A name without a trailing tag such as `(INSERTED)`.
pub(crate) fn name_without_tag(name: &str) -> &str {
    let trimmed = name.trim_end();
    match trimmed.rfind('(') {
        Some(open)
            if trimmed.ends_with(')') && trimmed[open + 1..trimmed.len() - 1].eq_ignore_ascii_case("inserted") =>
        {
            trimmed[..open].trim_end()
        }
        _ => trimmed,
    }
}

/// For each line, whether one of `ranges` contains it. The ranges are in the order of their first lines.
pub(super) fn covered<'range>(lines: usize, ranges: impl Iterator<Item = &'range Range<usize>>) -> Vec<bool> {
    let mut covered = vec![false; lines];
    let mut end = 0;
    for range in ranges {
        covered[range.start.max(end).min(range.end)..range.end].fill(true);
        end = end.max(range.end);
    }
    covered
}

/// The `<details>` blocks, in the order of their first lines. A block inside a folded one is folded too.
fn details_blocks(markdown: &Markdown<'_>, version: Option<&str>) -> Vec<DetailsBlock> {
    let mut blocks: Vec<DetailsBlock> = Vec::new();
    let mut around: Vec<usize> = Vec::new();
    for line in (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line)) {
        let text = markdown.line(line);
        if around.is_empty() && !text.contains('<') {
            continue;
        }
        let lower = text.to_ascii_lowercase();
        if lower.trim_start().starts_with("<details") {
            around.push(blocks.len());
            let is_folded = !is_marked_open(&lower);
            let lines = line..markdown.lines().len();
            blocks.push(DetailsBlock { lines, summary: None, is_folded, is_closed: false });
        }
        if let Some(block) = around.last().and_then(|block| blocks.get_mut(*block)) {
            if lower.contains("<summary") {
                block.summary.get_or_insert(line);
            }
            // A summary with a version names the milestone of the block; a heading inside may mention any other.
            let is_said = block.summary.is_some_and(|line| version_in(markdown.line(line)).is_some());
            let is_named = || {
                let heading = text.trim_start().starts_with('#') && !is_said;
                (heading || lower.contains("<summary")) && version.is_some_and(|version| names_version(text, version))
            };
            block.is_folded = block.is_folded && !is_named();
        }
        if lower.contains("</details>")
            && let Some(block) = around.pop().and_then(|block| blocks.get_mut(block))
        {
            block.lines.end = line + 1;
            block.is_closed = true;
        }
    }
    blocks
}

/// Whether the tag of a block, in lower case, has the attribute `open`.
fn is_marked_open(tag: &str) -> bool {
    let inside = tag.split('>').next().unwrap_or(tag);
    inside.split_whitespace().skip(1).any(|word| word == "open" || word.starts_with("open="))
}

/// Whether `text` contains `version` as a word: `v1.10` does not contain `v1.1`.
fn names_version(text: &str, version: &str) -> bool {
    let (text, version) = (text.to_ascii_lowercase(), version.trim().to_ascii_lowercase());
    !version.is_empty()
        && text.match_indices(&version).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + version.len()..]);
            let goes_on = after.strip_prefix('.').unwrap_or(after).starts_with(|next: char| next.is_ascii_digit())
                || after.starts_with(|next: char| next.is_alphanumeric());
            !before.ends_with(|last: char| last.is_alphanumeric() || last == '.') && !goes_on
        })
}

/// Identifier and name in a heading `### Phase 2.1 (TAG): Name` of level 2 to 4, with the signs that people put around
/// it.
fn phase_heading<'text>(heading: &Heading<'text>) -> Option<(&'text str, &'text str)> {
    if !(2..=4).contains(&heading.level) {
        return None;
    }
    let (title, is_bold) = undecorated(heading.title);
    let (id, rest) = identifier(phase_word(title)?)?;
    let closed = rest.trim_start().strip_prefix(BOLD).filter(|_| is_bold);
    let is_bold = is_bold && closed.is_none();
    let name = behind_sign(skip_tag(closed.unwrap_or(rest).trim_start()))?.trim();
    let name = match (is_bold, name.split_once(BOLD)) {
        (true, Some(("", behind))) => behind,
        (true, Some((name, _))) => name,
        _ => name,
    };
    Some((id, name.split("<!--").next().unwrap_or(name).trim()))
}

/// A title without the decoration before its first word: brackets, emoji, arrows, bold marks. Also returns whether
/// there was a bold mark.
pub(super) fn undecorated(title: &str) -> (&str, bool) {
    let (mut rest, mut is_bold) = (title, false);
    if let Some(close) = rest.strip_prefix('[').and_then(|inside| inside.find(']')) {
        rest = &rest[close + 2..];
    }
    loop {
        rest = behind_emoji(rest);
        match rest.strip_prefix(BOLD) {
            Some(inside) => (rest, is_bold) = (inside, true),
            None => return (rest, is_bold),
        }
    }
}

/// A text without leading white space, emoji and arrows.
fn behind_emoji(text: &str) -> &str {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_sign = first.is_whitespace() || !first.is_ascii() && !first.is_alphanumeric();
        // A keycap emoji is a digit followed by combining marks.
        if !(is_sign || first.is_ascii_digit() && rest[1..].starts_with(['\u{fe0f}', '\u{20e3}'])) {
            break;
        }
        rest = &rest[first.len_utf8()..];
    }
    rest
}

pub(super) const BOLD: &str = "**";

/// The rest after the word `Phase`.
pub(super) fn phase_word(text: &str) -> Option<&str> {
    let rest = strip_word(text, "Phase")?;
    Some(rest.strip_prefix('#').unwrap_or(rest))
}

/// The text after the sign between the identifier of a phase and its name. A dash between two numbers is a range.
fn behind_sign(text: &str) -> Option<&str> {
    let inside = text.trim_start();
    let sign = inside.chars().next()?;
    let behind = &inside[sign.len_utf8()..];
    let is_apart = behind.is_empty() || behind.starts_with(char::is_whitespace);
    let is_dash = sign == '-' || DASHES.contains(&sign);
    let is_sign = is_dash || COLONS.contains(&sign) || is_apart && matches!(sign, '.' | ')');
    let behind = behind.strip_prefix('-').filter(|_| sign == '-').unwrap_or(behind);
    let is_name = !(is_dash && (behind.starts_with('>') || begins_with_identifier(behind)));
    (is_sign && is_name).then_some(behind)
}

/// Whether a text is an identifier followed by a sign: `3: Name`.
fn begins_with_identifier(text: &str) -> bool {
    let inside = text.trim_start();
    let length = inside.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let behind = inside[length..].trim_start();
    length > 0
        && (behind.is_empty()
            || behind.starts_with(COLONS)
            || behind.starts_with(['-', '('])
            || behind.starts_with(DASHES))
}

/// Dashes other than the hyphen.
const DASHES: [char; 6] = ['—', '–', '―', '‒', '−', '－'];

/// Reads `- [ ] **Phase 2: Name** - text`, with any list mark. The sign after the identifier is any of those in
/// headings, and the name may be missing. In a bold line, the checkbox may be missing too.
fn phase_bullet<'text>(markdown: &Markdown<'text>, line: usize, shipped: bool) -> Option<PhaseBullet<'text>> {
    let item = ListItem::read(markdown.line(line))?;
    let start = markdown.lines()[line].start;
    let (mark, checked) = (item.tick.map(|tick| start + tick.at), item.is_ticked());
    let rest = behind_emoji(item.text);
    let unstruck = rest.strip_prefix("~~").unwrap_or(rest);
    let bold = unstruck.strip_prefix(BOLD);
    let is_bold = bold.is_some();
    let bare = bold.unwrap_or(unstruck);
    let plain = bare.strip_prefix("~~").unwrap_or(bare);
    let is_retired = unstruck.len() < rest.len() || plain.len() < bare.len();
    let (id, rest) = identifier(phase_word(undecorated(plain).0)?)?;
    let rest = skip_tag(rest.trim_start());
    let end = rest.strip_prefix("~~").filter(|_| is_retired).unwrap_or(rest);
    let name = match (is_bold, end.strip_prefix(BOLD)) {
        (true, Some(behind)) => behind.trim_start().strip_prefix(COLONS).map_or("", bare_name),
        (true, None) => {
            let rest = behind_sign(rest)?;
            match rest.find(BOLD)? {
                0 => bare_name(&rest[BOLD.len()..]),
                close => rest[..close].trim(),
            }
        }
        (false, _) => {
            mark?;
            match behind_sign(end) {
                Some(rest) => bare_name(rest),
                None if end.is_empty() => "",
                None => return None,
            }
        }
    };
    let name = if is_retired { name.split("~~").next().unwrap_or(name).trim() } else { name };
    Some(PhaseBullet { id, name, line, mark, checked, is_bold, is_retired, shipped })
}

/// The name at the start of a text, before a description or the completion date.
pub(super) fn bare_name(text: &str) -> &str {
    let ends = [" - ", " — ", " – ", " (completed ", "<!--"];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    text[..end].trim()
}

/// The rest after `word` (any case) and at least one space.
fn strip_word<'text>(text: &'text str, word: &str) -> Option<&'text str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    (head.eq_ignore_ascii_case(word) && rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// A phase identifier at the start of `text`, and the rest.
pub(super) fn identifier(text: &str) -> Option<(&str, &str)> {
    let length = text
        .char_indices()
        .find(|(_, letter)| !(letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_')))
        .map_or(text.len(), |(index, _)| index);
    let id = text[..length].trim_end_matches(['.', '-']);
    (id.bytes().any(|byte| byte.is_ascii_digit())).then(|| (id, &text[id.len()..]))
}

fn skip_tag(text: &str) -> &str {
    let inside = text.strip_prefix(['(', '（']);
    inside.and_then(|inside| inside.split_once([')', '）'])).map_or(text, |(_, rest)| rest.trim_start())
}

/// The text without its HTML comments; an unclosed comment ends with the line.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| shown + part.split_once("-->").map_or("", |(_, behind)| behind))
}

/// The value of `**Label**: value` or `**Label:** value`, in a list item or not, with the colon of any script. Text in
/// parentheses between label and colon is skipped.
fn bold_field<'text>(line: &'text str, label: &str) -> Option<&'text str> {
    let rest = strip_label(without_marker(line).strip_prefix("**")?, label)?;
    if let Some(value) = behind_colon(rest).and_then(|rest| rest.strip_prefix("**")) {
        return Some(value.trim());
    }
    behind_colon(skip_tag(rest.strip_prefix("**")?.trim_start())).map(str::trim)
}

/// The value of a line `Label: value`.
fn plain_field<'text>(line: &'text str, label: &str) -> Option<&'text str> {
    behind_colon(strip_label(without_marker(line), label)?).map(str::trim)
}

fn without_marker(line: &str) -> &str {
    let line = line.trim_start();
    line.strip_prefix(['-', '*', '+']).and_then(|rest| rest.strip_prefix(' ')).map_or(line, str::trim_start)
}

fn strip_label<'text>(text: &'text str, label: &str) -> Option<&'text str> {
    let head = text.get(..label.len())?;
    head.eq_ignore_ascii_case(label).then(|| &text[label.len()..])
}

fn behind_colon(text: &str) -> Option<&str> {
    text.strip_prefix(COLONS)
}

fn numbered_item(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| text[digits..].strip_prefix('.').or_else(|| text[digits..].strip_prefix(')')))?.map(str::trim)
}

/// The rows of every table whose first column is `Phase`, `Phase #` or `Phase No.`.
fn table_rows<'text>(markdown: &Markdown<'text>, shipped: &[bool]) -> Vec<ProgressTableRow<'text>> {
    let mut rows = Vec::new();
    let mut columns: Option<Vec<Arc<str>>> = None;
    for (line, folded) in shipped.iter().enumerate() {
        let text = markdown.line(line);
        if !markdown.is_prose(line) || !text.trim_start().starts_with('|') {
            columns = None;
            continue;
        }
        let cells = table_cells(text);
        match &columns {
            None => columns = Some(cells.iter().map(|cell| cell.to_lowercase().into()).collect()),
            Some(columns) if is_phase_table(columns) => rows.extend(phase_row(columns, &cells, line, *folded)),
            Some(_) => {}
        }
    }
    let tells_progress = |row: &ProgressTableRow<'_>| {
        !row.lists && row.cells.iter().any(|(column, _)| column.contains("plans") || column.contains("completed"))
    };
    let is_told = rows.iter().any(tells_progress);
    for row in &mut rows {
        row.reports = if is_told { tells_progress(row) } else { !row.lists };
    }
    rows
}

/// The trimmed cells of a pipe-table line.
pub(crate) fn table_cells(line: &str) -> Vec<&str> {
    let inside = line.trim().strip_prefix('|').unwrap_or(line.trim());
    let inside = inside.strip_suffix('|').filter(|inside| !inside.ends_with('\\')).unwrap_or(inside);
    bars(inside).scan(0, |start, end| Some(inside[std::mem::replace(start, end + 1)..end].trim())).collect()
}

/// The positions of the unescaped bars in a line of a table, and the end of the line.
pub(super) fn bars(line: &str) -> impl Iterator<Item = usize> {
    let bars = line.match_indices('|').map(|(at, _)| at);
    bars.filter(|at| !line[..*at].ends_with('\\')).chain(std::iter::once(line.len()))
}

fn is_phase_table(columns: &[Arc<str>]) -> bool {
    columns.first().is_some_and(|first| matches!(&**first, "phase" | "phase #" | "phase no." | "phase no"))
}

fn phase_row<'text>(
    columns: &[Arc<str>],
    cells: &[&'text str],
    line: usize,
    shipped: bool,
) -> Option<ProgressTableRow<'text>> {
    let first = *cells.first()?;
    if first.bytes().all(|byte| matches!(byte, b'-' | b':' | b' ')) {
        return None;
    }
    let name_column = columns.iter().position(|column| matches!(&**column, "name" | "phase name"));
    let (id, inline_name) = if name_column.is_some() {
        (first, "")
    } else {
        let (plain, is_bold) = undecorated(first);
        let plain = if is_bold { plain.strip_suffix(BOLD).unwrap_or(plain) } else { plain };
        let (id, rest) = identifier(phase_word(plain).unwrap_or(plain))?;
        let rest = if is_bold { rest.strip_prefix(BOLD).unwrap_or(rest) } else { rest };
        (id, behind_sign(rest).unwrap_or(rest).trim_start_matches(['.', ':', ' ']))
    };
    if !is_table_identifier(id) {
        return None;
    }
    let name = name_column.and_then(|column| cells.get(column).copied()).unwrap_or(inline_name);
    let cells = columns.iter().cloned().zip(cells.iter().copied()).collect();
    Some(ProgressTableRow { id, name, line, lists: name_column.is_some(), reports: false, cells, shipped })
}

/// Checks for an optional letter, a digit, then word characters, dots and dashes.
fn is_table_identifier(id: &str) -> bool {
    let bare = phase::without_code(id);
    let after_letter = bare.strip_prefix(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(bare);
    after_letter.starts_with(|first: char| first.is_ascii_digit())
        && after_letter.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_'))
}

impl ProgressTableRow<'_> {
    /// The cell of the first column whose title contains `word`.
    pub(crate) fn cell(&self, word: &str) -> Option<&str> {
        self.cells.iter().find(|(column, _)| column.contains(word)).map(|(_, cell)| *cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Roadmap\n\n- [x] **Phase 1: Base** - b (completed 2026-01-10)\n- [ ] **Phase 2.1: Fix (INSERTED)** - f\n\
        \n<details>\n<summary>v0</summary>\n\n### Phase 9: Old\n</details>\n\n### Phase 1: Base\n**Goal**: stand\n**Mode:** mvp\n\
        **Success Criteria** (what must be TRUE):\n  1. one\n  2. two\n**Plans**: 2 plans\n\n```\n### Phase 7: code\n```\n\n\
        ### Phase 2.1: Fix (INSERTED)\n**Goal:** mend\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n\
        | 1. Base | 2/2 | Complete | 2026-01-10 |\n";

    #[test]
    fn a_criterion_continues_over_lines_and_the_list_over_blank_ones() {
        let text = "### Phase 1: A\n**Success Criteria** (what must be TRUE):\n  1. User can\n     create a\nnote\n\n  2. Second\n     - detail\n\n     more\n  3. Third\n\nloose text\n  4. Fourth\n**Plans**: TBD\n";
        let roadmap = Roadmap::parse(text);
        let criteria = roadmap.success_criteria(&roadmap.sections()[0]);
        assert_eq!(criteria, ["User can create a note", "Second - detail more", "Third"]);
    }

    #[test]
    fn the_row_of_a_table_that_does_not_report_progress_is_unchanged() {
        let text = "- [x] **Phase 2: B** - b\n\n| Phase | Risk | Status |\n|---|---|---|\n| 2. B | high | Open |\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 2. B | 1/1 | Complete | 2026-01-02 |\n";
        let roadmap = Roadmap::parse(text);
        assert_eq!(roadmap.progress_row("2").unwrap().cell("plans"), Some("1/1"));
        assert_eq!(roadmap.statuses("2").collect::<Vec<_>>(), ["Complete"]);
        let alone = Roadmap::parse("| Phase | Status |\n|---|---|\n| 2. B | Done |\n");
        assert_eq!(alone.progress_row("2").unwrap().cell("status"), Some("Done"), "where it is the only table");
    }

    #[test]
    fn a_phase_that_is_struck_through_is_retired() {
        for line in [
            "- [ ] ~~**Phase 2: B**~~ - b",
            "- [ ] **~~Phase 2: B~~** - b",
            "- [x] ~~Phase 2: B~~",
            "- ~~**Phase PROJ-02: B**~~",
        ] {
            let text = format!("{line}\n- [ ] **Phase 3: C** - ~~not~~ this\n");
            let roadmap = Roadmap::parse(&text);
            assert!(roadmap.is_retired("2") && !roadmap.is_retired("3"), "{line}");
            assert_eq!(roadmap.bullet("2").unwrap().name, "B", "{line}");
        }
    }

    /// The signs that people put between number and name, before the word, and around it.
    const SIGNS: &[&str] = &[
        ": ",
        ":",
        "： ",
        "：",
        " — ",
        " – ",
        " - ",
        "- ",
        "—",
        ". ",
        " : ",
        " -- ",
        " − ",
        "﹕",
        ") ",
        " (INSERTED): ",
    ];
    const FRONTS: &[&str] = &["", "✅ ", "🚧", "[x] ", "⚠️ ", "1️⃣ ", "→ "];

    #[test]
    fn a_heading_names_its_phase_with_any_sign() {
        for mark in ["##", "###", "####", "\u{feff}###"] {
            for front in FRONTS {
                for sign in SIGNS {
                    for title in [
                        format!("Phase 2{sign}Beta one"),
                        format!("**Phase 2{sign}Beta one**"),
                        format!("**Phase 2**{sign}Beta one"),
                        format!("PHASE 2{sign}Beta one <!-- soon -->"),
                    ] {
                        let text = format!("{mark} {front}{title}\n**Goal**: g\n");
                        let roadmap = Roadmap::parse(&text);
                        let read: Vec<_> =
                            roadmap.sections().iter().map(|section| (section.id, section.name)).collect();
                        assert_eq!(read, [("2", "Beta one")], "{text}");
                        assert!(roadmap.unread_phases().is_empty(), "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_checklist_line_names_its_phase_with_any_mark_and_sign() {
        for mark in ["-", "*", "+", "1.", "12)"] {
            for front in FRONTS.iter().filter(|front| !front.starts_with('[')) {
                for sign in SIGNS {
                    for (line, checked) in [
                        (format!("[x] {front}**Phase 2{sign}Beta** - b"), true),
                        (format!("[X] {front}**Phase 2{sign}Beta** - b"), true),
                        (format!("[ ] {front}**Phase 2{sign}Beta**"), false),
                        (format!("[X] {front}Phase 2{sign}Beta — b"), true),
                        (format!("{front}**Phase 2{sign}Beta**"), false),
                    ] {
                        let text = format!("{mark} {line}\n");
                        let roadmap = Roadmap::parse(&text);
                        let read: Vec<_> =
                            roadmap.bullets().iter().map(|bullet| (bullet.id, bullet.name, bullet.checked)).collect();
                        assert_eq!(read, [("2", "Beta", checked)], "{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_names_its_phase_with_any_sign_and_bars_in_names_are_escaped() {
        for (cell, name) in [
            ("2. Beta", "Beta"),
            ("2 — Beta", "Beta"),
            ("Phase 2: Beta", "Beta"),
            ("**2. Beta**", "Beta"),
            ("✅ 2： Beta", "Beta"),
            ("2. A \\| B", "A \\| B"),
        ] {
            let text = format!("| Phase | Plans Complete | Status |\n|---|---|---|\n| {cell} | 0/1 | Open |\n");
            let roadmap = Roadmap::parse(&text);
            let row = roadmap.progress_row("2").unwrap();
            assert_eq!((row.name, row.cell("status")), (name, Some("Open")), "{cell}");
        }
    }

    #[test]
    fn a_line_that_names_a_phase_in_another_form_is_noticed_if_nothing_else_names_it() {
        for line in [
            "### Phase 2 Beta",
            "### Phase 2",
            "# Phase 2: Beta",
            "##### Phase 2: Beta",
            "### Phase 2–3: Beta",
            "**Phase 2: Beta**",
            "- [ ] Phase 2 Beta",
            "3. [X] **Phase 2** / Beta",
        ] {
            let text = format!("### Phase 1: Alpha\ntext\n## Rest\n{line}\n");
            let found: Vec<(usize, String)> = Roadmap::parse(&text)
                .unread_phases()
                .iter()
                .map(|unread| (unread.line, unread.id.to_owned()))
                .collect();
            let is_read = Roadmap::parse(&text).named_phases().any(|id| id == "2");
            assert!(is_read || found == [(3, "2".to_owned())], "{line}: {found:?}");
            let named = format!("{text}- [ ] **Phase 2: Beta**\n");
            assert!(Roadmap::parse(&named).unread_phases().is_empty(), "{line}");
        }
        for line in [
            "## Phase Details",
            "## Phases",
            "Phase 2 is next",
            "- Phase 2 Beta",
            "~~### Phase 2 x~~",
            "### ~~Phase 2 x~~",
        ] {
            assert!(Roadmap::parse(&format!("{line}\n")).unread_phases().is_empty(), "{line}");
        }
    }

    #[test]
    fn commented_out_lines_do_not_name_a_phase() {
        let inside = "### Phase 9: X\n- [ ] **Phase 9: X** - x\n\n| Phase | Plans | Status |\n|---|---|---|\n| 9. X | 0/1 | Open |\n";
        for text in [
            format!("<!--\n{inside}-->\n"),
            format!("note <!-- old:\n{inside}--> end\n"),
            "<!-- ### Phase 9: X -->\n".into(),
        ] {
            let text = format!("{text}### Phase 1: A\n");
            assert_eq!(Roadmap::parse(&text).named_phases().collect::<Vec<_>>(), ["1"], "{text}");
        }
    }

    #[test]
    fn comments_and_open_words_are_not_requirements() {
        let text = "### Phase 1: A\n**Requirements**: [A-1, TBD] <!-- B-2, see\n";
        let roadmap = Roadmap::parse(text);
        assert_eq!(roadmap.requirement_ids(&roadmap.sections()[0]), ["A-1"]);
    }

    #[test]
    fn the_three_places_of_a_phase_are_read() {
        let roadmap = Roadmap::parse(TEXT);
        let open: Vec<_> =
            roadmap.sections().iter().filter(|section| !section.shipped).map(|section| section.id).collect();
        assert_eq!(open, ["1", "2.1"]);
        let section = roadmap.section("01").unwrap();
        assert_eq!(roadmap.field(section, "Goal"), Some("stand"));
        for line in
            ["**Goal**：stand", "- **Goal**: stand", "* **Goal:** stand", "Goal: stand", "**Goal**（v2）：stand"]
        {
            let text = format!("### Phase 1: A\nA goal: none.\n{line}\n");
            let roadmap = Roadmap::parse(&text);
            let section = roadmap.section("1").unwrap();
            assert_eq!(roadmap.field(section, "Goal"), Some("stand"), "{line}");
        }
        assert_eq!(roadmap.field(section, "Mode"), Some("mvp"));
        assert_eq!(roadmap.success_criteria(section), ["one", "two"]);
        assert!(roadmap.bullet("1").unwrap().checked);
        assert_eq!(name_without_tag(roadmap.bullet("2.1").unwrap().name), "Fix");
        let row = roadmap.progress_row("1").unwrap();
        assert_eq!((row.name, row.cell("status")), ("Base", Some("Complete")));
    }

    #[test]
    fn a_folded_phase_is_not_found() {
        assert!(Roadmap::parse(TEXT).section("9").is_none());
    }

    #[test]
    fn a_table_with_a_name_column_lists_phases() {
        let roadmap = Roadmap::parse("| Phase | Name | Goal |\n|---|---|---|\n| 01 | Foundation | x |\n");
        assert_eq!(roadmap.rows().len(), 1);
        assert!(roadmap.rows()[0].lists);
        assert_eq!(roadmap.rows()[0].name, "Foundation");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_roadmap(text in "([-*#|] ?(\\[.\\] )?(\\*\\*)?Phase [0-9A-Z.-]{0,4}(\\(\\w\\))?[:—-]?[ \\PC]{0,6}(\\*\\*)?\\|?\n){0,12}") {
            let roadmap = Roadmap::parse(&text);
            for section in roadmap.sections() {
                let _ = (roadmap.section_text(section), roadmap.success_criteria(section));
            }
        }
    }
}
