//! Lines of ROADMAP.md that look like phases but are not read: another word, digits of another script, a number in
//! words, a checklist item that is not a phase.

use std::cell::LazyCell;

use crate::text::checklist::{COLONS, ListItem};
use crate::text::markdown::{self, LineKind};

use super::phase::{PhaseId, PhaseIndex};
use super::roadmap::{BOLD, Roadmap, covered, identifier, phase_word, undecorated};

/// A line that seems to name a phase, at a place for phases, but in a form that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnreadPhase<'text> {
    pub(crate) line: usize,
    /// The identifier as written; empty if the line has none.
    pub(crate) id: &'text str,
    /// The line without white space around it.
    pub(crate) text: &'text str,
}

impl UnreadPhase<'_> {
    pub(crate) fn message(&self) -> String {
        let Self { line, id, text } = self;
        let line = line + 1;
        if id.is_empty() {
            return format!("line {line} of ROADMAP.md is an open item among the phases and names none: `{text}`");
        }
        format!("line {line} of ROADMAP.md names phase {id} in a form that is not read: `{text}`")
    }

    pub(crate) fn cure(&self) -> String {
        // Identifiers are written with ASCII digits.
        let id = if self.id.is_ascii() && !self.id.is_empty() { self.id } else { "N" };
        format!("Write it as a heading `### Phase {id}: Name`")
    }
}

impl<'text> Roadmap<'text> {
    /// The open lines that seem to name a phase that no other line names: headings of any level, checkbox items outside
    /// the sections of phases, and bold lines; also numbered headings between those of phases, and open items in the
    /// checklist of phases.
    pub(crate) fn unread_phases(&self) -> Vec<UnreadPhase<'text>> {
        let markdown = self.markdown();
        let known = LazyCell::new(|| PhaseIndex::new(self.listed_phases().map(|id| (0, id))));
        let in_section =
            LazyCell::new(|| covered(markdown.lines().len(), self.sections().iter().map(|section| &section.lines)));
        let is_unknown = |id: &str| known.find(id).is_none();
        let look = |line: usize| {
            let text = markdown.line(line).trim();
            let (named, is_sibling) = match markdown.lines()[line].kind {
                LineKind::Heading(level) => (markdown::heading_title(text), self.has_section_of(level)),
                LineKind::Text if text.starts_with(BOLD) && text.ends_with(BOLD) => (text, false),
                LineKind::Text => (ListItem::read(text).filter(|item| item.tick.is_some())?.text, false),
                _ => return None,
            };
            if self.is_shipped(line) || self.opens_section(line) || in_section[line] {
                return None;
            }
            let named = undecorated(named).0;
            if let Some((id, behind)) = phase_word(named).or_else(|| glued_phase(named)).and_then(identifier) {
                // A range names phases that have their own lines elsewhere.
                let is_phase = !PhaseId::names_sentinel(id) && !behind.starts_with(char::is_alphabetic);
                return (is_phase && is_unknown(id)).then_some(UnreadPhase { line, id, text });
            }
            if is_sibling && let Some(id) = numbered_otherwise(named) {
                return value(id).is_none_or(|number| is_unknown(&number)).then_some(UnreadPhase { line, id, text });
            }
            self.is_open_item_among_phases(line).then_some(UnreadPhase { line, id: "", text })
        };
        (0..markdown.lines().len()).filter_map(look).collect()
    }

    fn has_section_of(&self, level: u8) -> bool {
        let markdown = self.markdown();
        let level_of = |line: usize| match markdown.lines()[line].kind {
            LineKind::Heading(level) => level,
            _ => 0,
        };
        self.sections().iter().any(|section| !section.shipped && level_of(section.heading_line) == level)
    }

    /// Whether a line is an item with an empty box in a list of phases, without being one itself.
    fn is_open_item_among_phases(&self, line: usize) -> bool {
        let markdown = self.markdown();
        let item = |line: usize| ListItem::read(markdown.line(line)).filter(|item| item.tick.is_some());
        let Some(own) = item(line).filter(|own| own.tick.is_some_and(|tick| tick.sign == ' ')) else { return false };
        let is_phase = |line: usize| self.bullets().iter().any(|bullet| bullet.line == line);
        if is_phase(line) {
            return false;
        }
        // The neighbours in the list: indented lines belong to the item above them.
        let is_inside = |line: &usize| {
            let text = markdown.line(*line);
            !text.trim().is_empty() && (ListItem::read(text).is_some() || text.starts_with([' ', '\t']))
        };
        let is_neighbour = |line: usize| is_phase(line) && item(line).is_some_and(|other| other.indent == own.indent);
        let above = (0..line).rev().take_while(is_inside).any(is_neighbour);
        above || (line + 1..markdown.lines().len()).take_while(is_inside).any(is_neighbour)
    }
}

/// The text after the word `Phase` if no space separates them: `Phase2: Name`.
fn glued_phase(text: &str) -> Option<&str> {
    let word = text.get(..5).filter(|word| word.eq_ignore_ascii_case("phase"))?;
    Some(&text[word.len()..]).filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// Words for numbered parts of a roadmap that are not phases.
const OTHERS: &[&str] = &[
    "appendix",
    "chapter",
    "day",
    "decision",
    "epic",
    "figure",
    "goal",
    "iteration",
    "milestone",
    "note",
    "option",
    "part",
    "plan",
    "plans",
    "quarter",
    "release",
    "requirement",
    "section",
    "sprint",
    "step",
    "story",
    "table",
    "task",
    "version",
    "wave",
    "week",
];

const CHINESE: &str = "一二三四五六七八九十";

/// The number of a heading such as `阶段 2：Name`, `第二阶段`, `Etappe 2: Name`, `Phase II: Name` or `2. Name`.
fn numbered_otherwise(title: &str) -> Option<&str> {
    let end = title.find(|sign: char| COLONS.contains(&sign) || matches!(sign, '—' | '–' | '、'));
    let dot = title.find(". ").or_else(|| title.find(") ")).or_else(|| title.find(" - "));
    let end = end.into_iter().chain(dot).min().unwrap_or(title.len());
    let head = title[..end].trim();
    let words: Vec<&str> = head.split_whitespace().collect();
    match words.as_slice() {
        [one] => glued_number(one),
        [word, number] if !OTHERS.contains(&word.to_lowercase().as_str()) => {
            let is_word = word.chars().all(char::is_alphabetic);
            let is_named = word.eq_ignore_ascii_case("phase") && end < title.len();
            let is_number = is_digits(number) || is_in_letters(number) && end < title.len();
            Some(*number).filter(|_| is_word && (is_number || is_named))
        }
        _ => None,
    }
}

/// The number in a word of another script: `阶段2`, `第二阶段`, `フェーズ２`; or the word itself if it is a number.
fn glued_number(word: &str) -> Option<&str> {
    if is_digits(word) {
        return Some(word);
    }
    let is_of_number = |letter: char| letter.is_numeric() || CHINESE.contains(letter);
    let start = word.find(is_of_number).filter(|_| !word.is_ascii())?;
    let rest = &word[start..];
    let end = rest.find(|letter| !is_of_number(letter)).unwrap_or(rest.len());
    let around = word[..start].chars().chain(rest[end..].chars());
    around.clone().all(char::is_alphabetic).then_some(&rest[..end]).filter(|_| around.count() > 0)
}

fn is_digits(text: &str) -> bool {
    text.starts_with(char::is_numeric) && text.chars().all(|letter| letter.is_numeric() || letter == '.')
}

/// Whether a number is written in letters: `II`, `二`.
fn is_in_letters(text: &str) -> bool {
    let is_roman = text.chars().all(|letter| matches!(letter, 'I' | 'V' | 'X'));
    !text.is_empty() && (is_roman || text.chars().all(|letter| CHINESE.contains(letter)))
}

/// A number converted to ASCII digits, if its value is known.
fn value(number: &str) -> Option<String> {
    let digit = |letter: char| {
        let code = u32::from(letter);
        let zeros = [0x30, 0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xFF10];
        let zero = zeros.into_iter().find(|zero| (*zero..zero + 10).contains(&code))?;
        char::from_digit(code - zero, 10)
    };
    if number == "." || number.is_empty() {
        return None;
    }
    number.chars().map(|letter| if letter == '.' { Some('.') } else { digit(letter) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_among_phases_that_has_a_number_in_another_form_is_not_read() {
        for heading in [
            "阶段 2：同步",
            "阶段2：同步",
            "第2阶段：同步",
            "第二阶段",
            "Phase ٢: Sync",
            "Phase ２：Sync",
            "Phase 二：Sync",
            "Phase II: Sync",
            "Phase Zwei: Sync",
            "Etappe 2: Sync",
            "Fase 2: Sync",
            "フェーズ2：同期",
            "المرحلة 2: م",
            "2. Sync",
            "2) Sync",
            "🚀 Étape 2 — Sync",
        ] {
            let text = format!("## Phase Details\n\n### Phase 1: Alpha\ntext\n\n### {heading}\ntext\n");
            let roadmap = Roadmap::parse(&text);
            let found: Vec<usize> = roadmap.unread_phases().iter().map(|unread| unread.line).collect();
            assert_eq!(found, [5], "{heading}");
        }
        for heading in [
            "Progress",
            "1. Overview",
            "Phases 1-3",
            "Wave 2: Later",
            "Milestone 2: More",
            "阶段 1：存储",
            "v2.0 Later",
            "Phase ١: Alpha",
            "Why 2 of them: text",
            "Out of Scope",
            "Notes - more",
            "Plan 02: x",
        ] {
            let text = format!("### Phase 1: Alpha\ntext\n\n### {heading}\ntext\n");
            assert_eq!(Roadmap::parse(&text).unread_phases(), [], "{heading}");
        }
    }

    #[test]
    fn an_open_item_in_the_list_of_phases_is_taken_as_a_phase() {
        let lines = |text: &str| -> Vec<usize> {
            Roadmap::parse(text).unread_phases().iter().map(|unread| unread.line).collect()
        };
        assert_eq!(lines("- [x] **Phase 1: A** - a\n- [ ] **4. Docs** - d\n"), [1]);
        assert_eq!(lines("- [ ] **阶段 2：B**\n- [x] **Phase 1: A**\n"), [0]);
        assert_eq!(lines("- [x] **Phase 1: A**\n  - [ ] a part of it\n  more\n- [ ] B\n"), [3]);
        for other in [
            "- [x] **Phase 1: A**\n- [x] done beside it\n",
            "- [x] **Phase 1: A**\n\n- [ ] another list\n",
            "### Phase 1: A\n\n- [ ] 01-01-PLAN.md\n",
            "- [ ] a thing\n- [ ] another\n",
        ] {
            assert_eq!(lines(other), Vec::<usize>::new(), "{other}");
        }
    }
}
