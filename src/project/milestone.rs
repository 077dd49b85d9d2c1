//! The window of the current milestone in a roadmap: which phases belong to it, and how certain that is.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use crate::text::markdown::Heading;
use crate::text::splice::Splices;

use super::phase::{PhaseId, PhaseIndex, normal_key};
use super::roadmap::{PhaseSection, ProgressTableRow, Roadmap, name_without_tag};
pub(crate) use super::version::{is_same_version, is_version, version_in};

/// How clearly the roadmap shows which phases belong to the milestone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MilestoneScope {
    /// The window is known and contains phases, or the project has no milestones at all.
    Complete,
    /// A version without a heading, or headings without a version: every phase counts, but no percentages are given.
    Unscoped,
    /// The heading exists, but its window contains no phases while the document does.
    Truncated,
    /// The roadmap does not exist.
    Unreadable,
}

/// The current milestone of a project.
#[derive(Clone, Debug)]
pub(crate) struct Milestone {
    pub(crate) version: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) scope: MilestoneScope,
    /// The roadmap has milestones, but STATE.md names none of them: it is unclear which phases belong to the current
    /// one.
    pub(crate) is_unmatched: bool,
    /// A heading or a block of the roadmap belongs to this milestone: other milestones may have theirs.
    pub(crate) has_own_lines: bool,
    /// The lines of the roadmap that belong to it, in order.
    pub(crate) window: Vec<Range<usize>>,
    held: Lines,
}

/// A phase as the roadmap lists it in the window of a milestone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedPhase<'text> {
    /// As written at the first place that names the phase.
    pub(crate) id: &'text str,
    /// With its tag, if it has one; empty if no place gives a name.
    pub(crate) name: &'text str,
}

/// A heading that opens a milestone.
#[derive(Clone, Debug)]
pub(crate) struct MilestoneHeading<'text> {
    pub(crate) heading: Heading<'text>,
    pub(crate) version: Option<&'text str>,
    pub(crate) closed: bool,
}

impl MilestoneHeading<'_> {
    /// Whether the heading names the milestone `version`.
    pub(crate) fn names(&self, version: &str) -> bool {
        self.version.is_some_and(|found| is_same_version(found, version))
    }
}

impl Milestone {
    /// The milestone of a project without a roadmap.
    pub(crate) fn without_roadmap(version: Option<&str>) -> Self {
        Self {
            version: version.map(str::to_owned),
            name: None,
            scope: MilestoneScope::Unreadable,
            is_unmatched: false,
            has_own_lines: false,
            window: Vec::new(),
            held: Lines::default(),
        }
    }

    /// Finds the milestone `state_version` (the `milestone:` line of STATE.md), or else the one the roadmap marks as
    /// open.
    pub(crate) fn find(roadmap: &Roadmap<'_>, state_version: Option<&str>) -> Self {
        let version = state_version
            .map(str::trim)
            .filter(|version| !version.is_empty())
            .map(str::to_owned)
            .or_else(|| marked_open(roadmap));
        let headings = milestone_headings(roadmap);
        let versioned: Vec<_> = headings.iter().filter(|heading| heading.version.is_some()).collect();
        let selected = version.as_deref().and_then(|wanted| {
            let same = headings.iter().filter(|heading| heading.names(wanted));
            // Many headings may contain the version; the milestone's own heading has its phases below it.
            same.min_by_key(|heading| {
                (!holds_phases(roadmap, &[own_lines(roadmap, &headings, heading)]), heading.closed)
            })
        });
        let everything = || open_lines(roadmap, std::iter::once(0..roadmap.markdown().lines().len()));
        let (window, scope) = match selected {
            Some(selected) => {
                let window = window_of(roadmap, &headings, selected);
                let scope = if holds_phases(roadmap, &window) {
                    MilestoneScope::Complete
                } else if holds_phases(roadmap, &everything()) {
                    MilestoneScope::Truncated
                } else {
                    MilestoneScope::Complete
                };
                (window, scope)
            }
            None if version.is_none() && versioned.is_empty() => (everything(), MilestoneScope::Complete),
            None if let Some(window) = version.as_deref().and_then(|version| window_of_block(roadmap, version)) => {
                (window, MilestoneScope::Complete)
            }
            None => (everything(), MilestoneScope::Unscoped),
        };
        let name = version.as_deref().and_then(|version| milestone_name(roadmap, version, selected));
        let markdown = roadmap.markdown();
        let mut blocks = roadmap.folded_blocks().filter_map(|block| version_in(markdown.line(block.summary?)));
        let is_divided = !versioned.is_empty() || numbered_milestones(roadmap) > 1 || blocks.next().is_some();
        let is_unmatched = scope == MilestoneScope::Unscoped && version.is_some() && is_divided;
        let has_own_lines = version.is_some() && scope == MilestoneScope::Complete;
        Self { version, name, scope, is_unmatched, has_own_lines, held: Lines::new(&window), window }
    }

    pub(crate) fn holds(&self, line: usize) -> bool {
        self.held.contain(line)
    }

    /// The phases in the window, in order of appearance, without shelved or abandoned phases and without repeats. They
    /// are named in headings, in the checklist and in tables that list phases.
    pub(crate) fn phases<'text>(&self, roadmap: &Roadmap<'text>) -> Vec<ListedPhase<'text>> {
        let mut found: Vec<(usize, &str, &str)> = roadmap
            .sections()
            .iter()
            .map(|section| (section.heading_line, section.id, section.name))
            .chain(roadmap.bullets().iter().map(|bullet| (bullet.line, bullet.id, bullet.name)))
            .chain(roadmap.rows().iter().filter(|row| row.lists).map(|row| (row.line, row.id, row.name)))
            .filter(|(line, id, _)| self.holds(*line) && !PhaseId::names_sentinel(id))
            .collect();
        found.retain(|(_, id, _)| !roadmap.is_retired(id));
        found.sort_by_key(|(line, _, _)| *line);
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut listed: Vec<ListedPhase<'text>> = Vec::new();
        for (_, id, name) in found {
            match known.entry(normal_key(id)) {
                Entry::Occupied(first) if listed[*first.get()].name.is_empty() => listed[*first.get()].name = name,
                Entry::Occupied(_) => {}
                Entry::Vacant(new) => {
                    new.insert(listed.len());
                    listed.push(ListedPhase { id, name });
                }
            }
        }
        listed
    }

    /// Sets aside the parts of the roadmap about phases of other milestones with the same numbers as phases of this
    /// one: numbers may start over. A row of a table that reports on phases belongs to another milestone if its
    /// milestone or its name differs.
    pub(super) fn set_others_aside(&self, roadmap: &mut Roadmap<'_>) {
        let own = self.phases(roadmap);
        let index = PhaseIndex::new(own.iter().map(|phase| phase.id).enumerate());
        let is_other_row = |row: &ProgressTableRow<'_>| {
            let Some(at) = index.find(row.id).filter(|_| !row.lists || !self.holds(row.line)) else { return false };
            match (row.cell("milestone").and_then(version_in), self.version.as_deref()) {
                (Some(said), Some(version)) => !is_same_version(said, version),
                _ => !is_called_alike(own[at].name, row.name),
            }
        };
        let wrong = self.sections_of_others(roadmap);
        roadmap.set_aside(
            |line, id| wrong.contains(&line) || (!self.holds(line) && index.find(id).is_some()),
            is_other_row,
        );
    }

    /// The sections in its window that belong to another milestone: the details of a shipped one may be among its own.
    /// If several sections have the same number, those whose names differ from the checklist belong to others.
    fn sections_of_others(&self, roadmap: &Roadmap<'_>) -> Vec<usize> {
        let own = || roadmap.sections().iter().filter(|section| !section.shipped && self.holds(section.heading_line));
        let mut numbers: HashMap<String, Vec<&PhaseSection<'_>>> = HashMap::new();
        for section in own() {
            numbers.entry(normal_key(section.id)).or_default().push(section);
        }
        let mut others = Vec::new();
        for sections in numbers.into_values().filter(|sections| sections.len() > 1) {
            let id = PhaseId::new(sections[0].id);
            let bullets = roadmap.bullets().iter().filter(|bullet| self.holds(bullet.line) && id.matches(bullet.id));
            let names: Vec<&str> = bullets.map(|bullet| bullet.name).collect();
            let is_called_so =
                |section: &&&PhaseSection<'_>| names.iter().any(|name| is_called_alike(name, section.name));
            if sections.iter().any(|section| is_called_so(&section)) {
                let wrong = sections.iter().filter(|section| !is_called_so(section));
                others.extend(wrong.map(|section| section.heading_line));
            }
        }
        others
    }

    /// The identifiers of [`Self::phases`].
    pub(crate) fn phase_ids<'text>(&self, roadmap: &Roadmap<'text>) -> Vec<&'text str> {
        self.phases(roadmap).into_iter().map(|phase| phase.id).collect()
    }
}

/// Whether two names may be of the same phase: compares letters and digits, and one name may be the beginning of the
/// other. A missing name matches any.
pub(super) fn is_called_alike(one: &str, other: &str) -> bool {
    let letters = |name: &str| letters(name_without_tag(name));
    let (one, other) = (letters(one), letters(other));
    one.starts_with(&other) || other.starts_with(&one)
}

/// The letters and digits of a name, in lower case.
pub(super) fn letters(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Ranges of lines, sorted and disjoint, so that a line is found without checking each range.
#[derive(Clone, Debug, Default)]
struct Lines(Vec<Range<usize>>);

impl Lines {
    fn new(ranges: &[Range<usize>]) -> Self {
        let mut sorted = ranges.to_vec();
        sorted.sort_by_key(|lines| lines.start);
        let mut apart: Vec<Range<usize>> = Vec::new();
        for lines in sorted {
            match apart.last_mut() {
                Some(last) if lines.start <= last.end => last.end = last.end.max(lines.end),
                _ => apart.push(lines),
            }
        }
        Self(apart)
    }

    fn contain(&self, line: usize) -> bool {
        let after = self.0.partition_point(|lines| lines.end <= line);
        self.0.get(after).is_some_and(|lines| lines.contains(&line))
    }
}

/// Headings of level 1 to 3 with a version or a milestone mark, outside folded blocks and without headings of phases.
pub(crate) fn milestone_headings<'text>(roadmap: &Roadmap<'text>) -> Vec<MilestoneHeading<'text>> {
    let markdown = roadmap.markdown();
    markdown
        .headings()
        .filter(|heading| heading.level <= 3 && !roadmap.is_shipped(heading.line))
        .filter(|heading| !roadmap.opens_section(heading.line))
        .filter_map(|heading| {
            let version = version_in(heading.title);
            let marked = heading.title.contains(['✅', '📋', '🚧']);
            (version.is_some() || marked).then(|| MilestoneHeading {
                heading,
                version,
                closed: is_closed(heading.title),
            })
        })
        .collect()
}

/// The milestone that the roadmap marks as open, if it marks `version` as shipped.
pub(crate) fn opened_after(roadmap: &Roadmap<'_>, version: &str) -> Option<String> {
    let markdown = roadmap.markdown();
    let mut blocks = roadmap.folded_blocks().filter_map(|block| version_in(markdown.line(block.summary?)));
    let headings = milestone_headings(roadmap);
    let is_shipped = headings.iter().any(|heading| heading.closed && heading.names(version))
        || blocks.any(|known| is_same_version(known, version));
    let is_active = |heading: &&MilestoneHeading<'_>| heading.heading.title.contains(['🚧', '🔄']);
    let heading = || Some(headings.iter().find(is_active)?.version?.to_owned());
    marked_open(roadmap).or_else(heading).filter(|open| is_shipped && !is_same_version(open, version))
}

/// How many headings name a milestone by its number only: `## Milestone 2: Name`.
fn numbered_milestones(roadmap: &Roadmap<'_>) -> usize {
    let markdown = roadmap.markdown();
    let is_numbered = |heading: &Heading<'_>| {
        let words = heading.title.trim_start_matches(|sign: char| !sign.is_alphanumeric());
        let number =
            words.get(..9).filter(|word| word.eq_ignore_ascii_case("milestone")).map(|_| words[9..].trim_start());
        heading.level <= 3 && number.is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit()))
    };
    markdown.headings().filter(is_numbered).count()
}

/// The text of the roadmap with a milestone marked as shipped on `day`: in its heading, and in its line in the list of
/// milestones.
pub(crate) fn with_shipped(roadmap: &Roadmap<'_>, version: &str, day: &str) -> String {
    let markdown = roadmap.markdown();
    let is_it = |text: &str| version_in(text).is_some_and(|found| is_same_version(found, version));
    let mut headings = milestone_headings(roadmap);
    headings.retain(|heading| !heading.closed && is_it(heading.heading.title));
    let is_heading = |line: usize| headings.iter().any(|heading| heading.heading.line == line);
    let says_open = |text: &str| text.contains(OPEN_MARKS) || in_progress(text).is_some();
    let mut splices = Splices::default();
    for line in (0..markdown.lines().len()).filter(|line| !roadmap.is_shipped(*line) && markdown.is_prose(*line)) {
        let text = markdown.line(line);
        let is_item = text.trim_start().starts_with(['-', '*']) && is_it(text) && says_open(text);
        if !is_heading(line) && !is_item {
            continue;
        }
        let marked = text.replace(OPEN_MARKS, "✅");
        // Parentheses in a heading would be read as a part of the name.
        let said = if is_item { format!("(shipped {day})") } else { String::new() };
        let shipped = match in_progress(&marked) {
            Some(place) => format!("{}{said}{}", &marked[..place.start], &marked[place.end..]),
            None => format!("{} {said}", marked.trim_end()),
        };
        let shipped = shipped.trim_end();
        let shipped = match shipped.split_once(' ') {
            Some((signs, title)) if !is_item && !title.contains('✅') => format!("{signs} ✅ {title}"),
            _ => shipped.to_owned(),
        };
        let start = markdown.lines()[line].start;
        splices.replace(start..start + text.len(), shipped);
    }
    splices.apply(markdown.text())
}

/// The marks of a milestone that is planned or in progress.
const OPEN_MARKS: [char; 3] = ['🚧', '📋', '🔄'];

/// The range of `(in progress)` in a text.
fn in_progress(text: &str) -> Option<Range<usize>> {
    const WORDS: &str = "(in progress)";
    let start = text.to_ascii_lowercase().find(WORDS)?;
    Some(start..start + WORDS.len())
}

fn is_closed(title: &str) -> bool {
    const CLOSED: &[&str] = &["CLOSED", "ARCHIVED", "ABANDONED", "SHIPPED", "FAILED", "✅", "🗄"];
    const ACTIVE: &[&str] = &["STARTED", "ACTIVE", "WIP", "IN PROGRESS", "🚧", "🔄"];
    let upper = title.to_uppercase();
    let has = |marks: &[&str]| marks.iter().any(|mark| upper.contains(mark));
    has(CLOSED) && !has(ACTIVE)
}

/// The version of the first list line that is marked as open: `- 🚧 **v1.1 Sync** - …`.
fn marked_open(roadmap: &Roadmap<'_>) -> Option<String> {
    (0..roadmap.markdown().lines().len()).filter(|line| roadmap.markdown().is_prose(*line)).find_map(|line| {
        let (_, rest) = open_mark(roadmap.markdown().line(line))?;
        version_in(rest).map(str::to_owned)
    })
}

/// The text before and after an open mark that is followed by bold text.
fn open_mark(line: &str) -> Option<(&str, &str)> {
    if line.is_ascii() {
        return None;
    }
    let position = line.find(['🚧', '🔄'])?;
    let mark = line[position..].chars().next()?;
    let rest = line[position + mark.len_utf8()..].trim_start();
    rest.starts_with("**v").then(|| (&line[..position], rest))
}

/// The lines of a milestone's heading and its section.
fn own_lines(roadmap: &Roadmap<'_>, headings: &[MilestoneHeading<'_>], of: &MilestoneHeading<'_>) -> Range<usize> {
    let next = headings
        .iter()
        .find(|next| next.heading.line > of.heading.line && next.heading.level <= of.heading.level)
        .map_or(roadmap.markdown().lines().len(), |next| next.heading.line);
    of.heading.line..next
}

fn window_of(
    roadmap: &Roadmap<'_>,
    headings: &[MilestoneHeading<'_>],
    selected: &MilestoneHeading<'_>,
) -> Vec<Range<usize>> {
    let first = headings.first().map_or(selected.heading.line, |heading| heading.heading.line);
    let preamble = preamble_lines(roadmap, first);
    // A milestone may continue below another heading, and so may the details of its phases.
    let is_more = |heading: &&MilestoneHeading<'_>| {
        let is_details = heading.heading.title.to_lowercase().contains("(phase details)");
        let holds = || holds_phases(roadmap, &[own_lines(roadmap, headings, heading)]);
        heading.heading.line > selected.heading.line
            && selected.version.is_some_and(|version| heading.names(version))
            && (is_details || (!heading.closed && holds()))
    };
    let more = headings.iter().filter(is_more);
    let own = std::iter::once(selected).chain(more).map(|heading| own_lines(roadmap, headings, heading));
    open_lines(roadmap, preamble.into_iter().chain(own))
}

/// The lines of the block whose summary names `version`, and those before the first milestone; `None` if it has no
/// phases.
fn window_of_block(roadmap: &Roadmap<'_>, version: &str) -> Option<Vec<Range<usize>>> {
    let block = roadmap.open_block_of(version)?;
    let lines = block.lines.clone();
    let first = milestone_headings(roadmap).first().map_or(lines.start, |heading| heading.heading.line);
    let preamble = preamble_lines(roadmap, first.min(lines.start));
    let held = open_lines(roadmap, std::iter::once(lines.clone()));
    holds_phases(roadmap, &held).then(|| open_lines(roadmap, preamble.into_iter().chain(std::iter::once(lines))))
}

/// The lines before the first milestone heading, without sections called "Phase Details".
fn preamble_lines(roadmap: &Roadmap<'_>, first: usize) -> Vec<Range<usize>> {
    let markdown = roadmap.markdown();
    let mut kept = Vec::new();
    let mut start = 0;
    for heading in markdown
        .headings()
        .filter(|heading| heading.line < first && heading.title.eq_ignore_ascii_case("Phase Details"))
    {
        kept.push(start..heading.line);
        start = markdown.section(&heading).end.min(first);
    }
    kept.push(start..first);
    kept.retain(|lines| lines.start < lines.end);
    kept
}

/// The ranges without the lines of folded blocks.
fn open_lines(roadmap: &Roadmap<'_>, ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut open: Vec<Range<usize>> = Vec::new();
    for line in ranges.flatten().filter(|line| !roadmap.is_shipped(*line)) {
        match open.last_mut() {
            Some(last) if last.end == line => last.end = line + 1,
            _ => open.push(line..line + 1),
        }
    }
    open
}

fn holds_phases(roadmap: &Roadmap<'_>, window: &[Range<usize>]) -> bool {
    let lines = Lines::new(window);
    let holds = |line: usize| lines.contain(line);
    roadmap.sections().iter().any(|section| holds(section.heading_line) && !PhaseId::new(section.id).is_sentinel())
        || roadmap.bullets().iter().any(|bullet| holds(bullet.line) && !bullet.is_sentinel())
        || roadmap.rows().iter().any(|row| row.lists && holds(row.line))
}

/// The name after the version on its list line or heading; the placeholder word `milestone` does not count.
fn milestone_name(roadmap: &Roadmap<'_>, version: &str, selected: Option<&MilestoneHeading<'_>>) -> Option<String> {
    let in_bold = |rest: &str| {
        let inside = rest.strip_prefix("**")?;
        let inside = &inside[..inside.find("**")?];
        is_same_version(version_in(inside)?, version).then(|| named_with(inside, version)).flatten()
    };
    let prose = || (0..roadmap.markdown().lines().len()).filter(|line| roadmap.markdown().is_prose(*line));
    let lines = || prose().map(|line| roadmap.markdown().line(line));
    let open = lines().find_map(|line| in_bold(open_mark(line)?.1));
    // A milestone that is shipped or planned has another mark before its name.
    let listed = || lines().find_map(|line| in_bold(&line[line.find("**").filter(|_| is_item(line))?..]));
    let from_heading = || selected.and_then(|selected| named_with(selected.heading.title, version));
    open.or_else(from_heading).or_else(listed)
}

/// Whether a line is an item of a list.
fn is_item(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*', '+'])
}

/// The name of a milestone in a text with its version: the text after the version, or before it if the version is in
/// parentheses or comes last. A status mark is not part of the name.
fn named_with(text: &str, version: &str) -> Option<String> {
    let at = text.find(version)?;
    let (before, behind) = (&text[..at], &text[at + version.len()..]);
    let is_enclosed = before.trim_end().ends_with('(') && behind.trim_start().starts_with(')');
    let signs = |letter: char| {
        matches!(letter, ':' | '—' | '–' | '-' | '(' | '✅' | '🚧' | '📋' | '🔄') || letter.is_whitespace()
    };
    let name = if is_enclosed {
        before.trim_matches(signs)
    } else {
        without_status(behind.trim_start_matches([':', '—', '–', '-', ' ']))
    };
    // A part in parentheses belongs to the name, which is used in branch names. A text that is only parentheses is a
    // remark.
    let is_remark = name.starts_with('(') && name.ends_with(')');
    (!name.is_empty() && !is_remark && !name.eq_ignore_ascii_case("milestone")).then(|| name.to_owned())
}

/// A name without the status after a dash or a mark: `Core` of `Core — ✅ SHIPPED 2026-07-31`.
fn without_status(text: &str) -> &str {
    let marked = text.find(['✅', '🚧', '📋', '🔄']).map_or(text, |at| &text[..at]);
    let status = |part: &str| {
        let word =
            part.split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
        let words = ["shipped", "complete", "completed", "closed", "archived", "abandoned", "active", "planned"];
        words.contains(&word.to_lowercase().as_str()) || part.to_lowercase().starts_with("in progress")
    };
    let dashes = [" — ", " – ", " - "];
    let end = dashes.iter().filter_map(|dash| marked.rfind(dash).filter(|at| status(marked[at + dash.len()..].trim())));
    let kept = end.min().map_or(marked, |at| &marked[..at]);
    kept.trim().trim_end_matches(['—', '–', '-']).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shipped_milestone_is_marked_everywhere_it_was_open() {
        let text = "# R\n\n- 🚧 **v1.0 A** - Phases 1-3 (in progress)\n- 📋 **v2.0 B** - Phases 4-5\n- v1.0 was an idea\n\n\
                    ## 🚧 v1.0 A (In Progress)\n\n- [x] **Phase 1: X** - x\n\n## v2.0 B\n";
        let shipped = "# R\n\n- ✅ **v1.0 A** - Phases 1-3 (shipped 2026-01-02)\n- 📋 **v2.0 B** - Phases 4-5\n- v1.0 was an \
                       idea\n\n## ✅ v1.0 A\n\n- [x] **Phase 1: X** - x\n\n## v2.0 B\n";
        assert_eq!(with_shipped(&Roadmap::parse(text), "v1.0", "2026-01-02"), shipped);
        assert_eq!(with_shipped(&Roadmap::parse(shipped), "v1.0", "2026-02-03"), shipped);
        assert_eq!(with_shipped(&Roadmap::parse("## v1.0 A\n"), "v1.0", "2026-01-02"), "## ✅ v1.0 A\n");
    }

    const GROUPED: &str = "# R\n\n## Milestones\n\n- ✅ **v1.0 MVP** - x\n- 🚧 **v1.1 Sync** - y\n\n## Phases\n\n<details>\n\
        <summary>✅ v1.0</summary>\n\n### Phase 1: Old\n</details>\n\n### 🚧 v1.1 Sync (In Progress)\n\n- [ ] **Phase 3: A** - a\n\n\
        #### Phase 3: A\n#### Phase 4: B\n\n### 📋 v2.0 Teams (Planned)\n\n#### Phase 5: C\n";

    fn ids(text: &str, version: Option<&str>) -> (MilestoneScope, Vec<String>, Option<String>) {
        let roadmap = Roadmap::parse(text);
        let milestone = Milestone::find(&roadmap, version);
        (milestone.scope, milestone.phase_ids(&roadmap).iter().map(ToString::to_string).collect(), milestone.name)
    }

    #[test]
    fn the_window_contains_the_phases_of_the_open_milestone() {
        assert_eq!(ids(GROUPED, None), (MilestoneScope::Complete, vec!["3".into(), "4".into()], Some("Sync".into())));
        assert_eq!(ids(GROUPED, Some("v2.0")).1, ["5"]);
        assert_eq!(ids(GROUPED, Some("v1.0")).2, Some("MVP".into()), "one that is shipped has its name too");
    }

    #[test]
    fn a_milestone_continues_below_a_second_heading_of_its_version() {
        let text = "## v1.1 A\n\n- [x] **Phase 1: A**\n\n## v2.0 B\n\n- [ ] **Phase 9: C**\n\n## v1.1 A, part 2\n\n- [ ] **Phase 2: B**\n";
        assert_eq!(ids(text, Some("v1.1")).1, ["1", "2"]);
        assert_eq!(ids(&text.replace("- [ ] **Phase 2: B**", "Notes."), Some("v1.1")).1, ["1"]);
    }

    #[test]
    fn details_of_a_shipped_milestone_do_not_belong_to_the_current_one() {
        let text = "<details>\n<summary>✅ v1.0 Old</summary>\n\n- [x] **Phase 1: Sync**\n\n</details>\n\n## 🚧 v1.1 New\n\n\
                    - [ ] **Phase 1: Alpha**\n\n### Phase 1: Sync\n**Goal**: old\n\n### Phase 1: Alpha\n**Goal**: new\n";
        let state = (".planning/STATE.md", "---\nmilestone: v1.1\n---\n");
        let view = super::super::view::ProjectView::of([(".planning/ROADMAP.md", text), state]);
        let roadmap = view.parse_roadmap(text);
        assert_eq!(roadmap.section("1").and_then(|section| roadmap.field(section, "Goal")), Some("new"));
        // If the list does not name the phase, the first section counts as before.
        let unlisted = text.replace("- [ ] **Phase 1: Alpha**\n\n", "");
        let roadmap = view.parse_roadmap(&unlisted);
        assert_eq!(roadmap.section("1").and_then(|section| roadmap.field(section, "Goal")), Some("old"));
    }

    #[test]
    fn a_heading_that_only_mentions_a_version_is_not_that_of_the_milestone() {
        let own = "## 🚧 v1.0 — New (In Progress)\n\n- [x] **Phase 3: C**\n- [ ] **Phase 4: D**\n";
        for other in [
            "## Notes for v1.0\n\ntext\n\n",
            "### Progress (v1.0)\n\n| Phase | Plans | Status |\n|---|---|---|\n| 3 | 1/1 | Complete |\n\n",
            "## Decisions behind v1.0 ✅\n\n- one\n\n",
            "<details>\n<summary>✅ v0.9 Old</summary>\n\n### Phase 1: A\n### Phase 2: B\n\n### Progress (v1.0)\n\n</details>\n\n",
        ] {
            for text in [format!("# R\n\n{other}{own}"), format!("# R\n\n{own}\n{other}")] {
                let (scope, found, _) = ids(&text, Some("v1.0"));
                assert_eq!((scope, found), (MilestoneScope::Complete, vec!["3".to_owned(), "4".to_owned()]), "{text}");
            }
        }
    }

    #[test]
    fn the_name_of_a_milestone_has_no_version_or_status() {
        for (heading, name) in [
            ("### Fleet Tail (v5.14) — SHIPPED", Some("Fleet Tail")),
            ("## v5.14 Fleet Tail — ✅ SHIPPED 2026-07-31", Some("Fleet Tail")),
            ("## v5.14: Fleet Tail ✅", Some("Fleet Tail")),
            ("## 🚧 v5.14 — Fleet Tail (In Progress)", Some("Fleet Tail (In Progress)")),
            ("## v5.14 Ship - to space", Some("Ship - to space")),
            ("## v5.14 (Phase Details)", None),
            ("## v5.14", None),
        ] {
            assert_eq!(ids(&format!("{heading}\n\n### Phase 1: A\n"), Some("v5.14")).2.as_deref(), name, "{heading}");
        }
    }

    #[test]
    fn a_version_without_heading_is_unscoped() {
        let flat = "## Phases\n- [ ] **Phase 1: A** - a\n\n## Phase Details\n### Phase 1: A\n";
        assert_eq!(ids(flat, Some("v1.0")).0, MilestoneScope::Unscoped);
        assert_eq!(ids(flat, None), (MilestoneScope::Complete, vec!["1".into()], None));
    }
}
