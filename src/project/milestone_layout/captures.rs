//! `CAPTURES.md`: thoughts of a person during the work, each with its class and what followed.

use std::collections::BTreeSet;

use super::lines::{bare, one_line, split_mark, words};
use crate::project::files::sha256;
use crate::text::markdown::{Heading, Markdown, newline_of};
use crate::text::splice::Splices;
use crate::text::words::{of_word, words as word_enum};

word_enum! {
    /// How a capture is handled.
    #[derive(Hash)]
    pub(crate) enum CaptureClass {
        /// A small change, done at once in a session.
        QuickTask = "quick-task",
        /// A new task of the slice.
        Inject = "inject",
        /// For a later plan.
        Defer = "defer",
        /// The open tasks of the slice are planned again.
        Replan = "replan",
        /// Nothing has to be done.
        Note = "note",
        /// The run stops, and a person decides.
        Stop = "stop",
        /// The same, since earlier work is wrong.
        Backtrack = "backtrack",
    }
}

word_enum! {
    /// How far a capture is.
    pub(crate) enum CaptureStatus {
        Pending = "pending",
        /// It is classified, and what follows from that is not done yet.
        Triaged = "triaged",
        Resolved = "resolved",
    }
}

/// The name of the document.
pub(crate) const FILE: &str = "CAPTURES.md";

/// All classes as a sentence lists them.
pub(crate) const CLASSES: &str = "quick-task, inject, defer, replan, note, stop, backtrack";

/// The labels of a capture's lines.
pub(crate) const STATUS: &str = "Status";
pub(crate) const CLASSIFICATION: &str = "Classification";
pub(crate) const RESOLUTION: &str = "Resolution";
pub(crate) const RATIONALE: &str = "Rationale";
pub(crate) const RESOLVED: &str = "Resolved";
pub(crate) const MILESTONE: &str = "Milestone";
pub(crate) const EXECUTED: &str = "Executed";

/// The labels whose lines a triage writes.
const OF_TRIAGE: &[&str] = &[STATUS, CLASSIFICATION, RESOLUTION, RATIONALE];

/// First words of a capture that pause a run.
const STOP_WORDS: &[&str] = &["stop", "halt", "pause", "abort", "wait"];

/// A captured thought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capture {
    /// Such as `CAP-1a2b3c4d`.
    pub(crate) id: String,
    pub(crate) text: String,
    /// When it was captured, as written.
    pub(crate) captured: String,
    pub(crate) status: CaptureStatus,
    /// As written.
    pub(crate) classification: Option<String>,
    pub(crate) rationale: Option<String>,
    /// The milestone in which it was resolved.
    pub(crate) milestone: Option<String>,
}

impl Capture {
    /// Its class, once it is classified.
    pub(crate) fn class(&self) -> Option<CaptureClass> {
        let word = self.classification.as_deref()?.trim_matches(['`', '*', ' ']).to_ascii_lowercase();
        of_word(&word)
    }

    /// True if it has no known class yet, unless it is resolved.
    pub(crate) fn needs_triage(&self) -> bool {
        match self.status {
            CaptureStatus::Pending => true,
            CaptureStatus::Triaged => self.class().is_none(),
            CaptureStatus::Resolved => false,
        }
    }

    pub(crate) fn is_resolved(&self) -> bool {
        self.status == CaptureStatus::Resolved
    }

    /// Its class, if what follows from that is not done yet.
    pub(crate) fn open_class(&self) -> Option<CaptureClass> {
        self.class().filter(|_| self.status == CaptureStatus::Triaged)
    }

    /// True if it is pending and its first word asks the run to stop.
    pub(crate) fn asks_to_stop(&self) -> bool {
        let first = words(&self.text).next();
        self.status == CaptureStatus::Pending
            && first.is_some_and(|first| STOP_WORDS.iter().any(|word| first.eq_ignore_ascii_case(word)))
    }
}

/// All captures in order; of two with the same identifier the first counts.
pub(crate) fn read(text: &str) -> Vec<Capture> {
    let markdown = Markdown::parse(bare(text));
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for (heading, id) in blocks(&markdown) {
        if !known.insert(id.to_ascii_lowercase()) {
            continue;
        }
        let value = |label: &str| {
            let mut lines = markdown.section(&heading).filter(|line| markdown.is_prose(*line));
            let value = lines.find_map(|line| labelled(markdown.line(line), label));
            value.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned)
        };
        let status = value(STATUS).and_then(|status| of_word(words(&status).next()?.to_ascii_lowercase().as_str()));
        found.push(Capture {
            id: id.to_owned(),
            text: value("Text").unwrap_or_default(),
            captured: value("Captured").unwrap_or_default(),
            status: status.unwrap_or(CaptureStatus::Pending),
            classification: value(CLASSIFICATION),
            rationale: value(RATIONALE),
            milestone: value(MILESTONE),
        });
    }
    found
}

/// The headings of captures, with their identifiers.
fn blocks<'text>(markdown: &Markdown<'text>) -> Vec<(Heading<'text>, &'text str)> {
    let headings = markdown.headings().filter(|heading| heading.level == 3);
    headings.filter_map(|heading| Some((heading, leading_id(heading.title)?))).collect()
}

/// The identifier that a line begins with: `CAP-1a2b3c4d` of `CAP-1a2b3c4d: text`.
pub(crate) fn leading_id(line: &str) -> Option<&str> {
    const LENGTH: usize = "CAP-".len() + 8;
    let id = line.get(..LENGTH)?;
    let digits = id.strip_prefix("CAP-").or_else(|| id.strip_prefix("cap-"))?;
    let ends = line.get(LENGTH..).is_none_or(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()));
    (ends && digits.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(id)
}

/// The text after `**Label:**` at the start of a line.
fn labelled<'line>(line: &'line str, label: &str) -> Option<&'line str> {
    let rest = line.trim_start().trim_start_matches("- ").strip_prefix("**")?;
    let name = rest.get(..label.len()).filter(|name| name.eq_ignore_ascii_case(label))?;
    let rest = &rest[name.len()..];
    rest.strip_prefix(":**").or_else(|| rest.strip_prefix("**:"))
}

/// The block of a capture, with its heading; `None` if there is no such capture.
pub(crate) fn block<'text>(text: &'text str, id: &str) -> Option<&'text str> {
    let markdown = Markdown::parse(bare(text));
    let (heading, _) = blocks(&markdown).into_iter().find(|(_, found)| found.eq_ignore_ascii_case(id))?;
    let lines = markdown.section(&heading);
    markdown.text().get(markdown.span(heading.line..lines.end))
}

/// The text with these lines of a capture, each a label and its value; all other bytes stay. `None` if there is no such
/// capture.
pub(crate) fn set(text: &str, id: &str, fields: &[(&str, String)]) -> Option<String> {
    let (mark, own) = split_mark(text);
    let markdown = Markdown::parse(own);
    let (heading, _) = blocks(&markdown).into_iter().find(|(_, found)| found.eq_ignore_ascii_case(id))?;
    let lines: Vec<usize> = markdown.section(&heading).filter(|line| markdown.is_prose(*line)).collect();
    let is_labelled = |line: &&usize| markdown.line(**line).trim_start().trim_start_matches("- ").starts_with("**");
    let last = lines.iter().rev().find(is_labelled).copied().unwrap_or(heading.line);
    let end = markdown.lines().get(last).copied()?;
    let (newline, mut splices, mut added) = (newline_of(own), Splices::default(), String::new());
    for (label, value) in fields {
        let value = one_line(value);
        let found = lines.iter().find_map(|line| labelled(markdown.line(*line), label));
        if let Some(found) = found {
            let start = found.as_ptr() as usize - own.as_ptr() as usize;
            splices.replace(start..start + found.len(), format!(" {value}"));
        } else {
            added = added + newline + "**" + label + ":** " + &value;
        }
    }
    if !added.is_empty() {
        splices.insert(end.end, added);
    }
    Some(format!("{mark}{}", splices.apply(own)))
}

/// The text with one more capture.
pub(crate) fn append(text: &str, id: &str, captured: &str, what: &str) -> String {
    let newline = newline_of(text);
    let head = if bare(text).trim().is_empty() { format!("# Captures{newline}{newline}") } else { String::new() };
    let gap = match text {
        _ if !head.is_empty() || text.ends_with("\n\n") || text.ends_with("\r\n\r\n") => String::new(),
        ended if ended.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    let lines = [
        format!("### {id}"),
        format!("**Text:** {}", one_line(what)),
        format!("**Captured:** {captured}"),
        format!("**{STATUS}:** {}", CaptureStatus::Pending.word()),
    ];
    format!("{text}{head}{gap}{}{newline}", lines.join(newline))
}

/// The identifier for a new capture; `None` if the text has it already.
pub(crate) fn new_id(text: &str, captured: &str, what: &str) -> Option<String> {
    const TRIES: usize = 100;
    let (known, what) = (read(text), one_line(what));
    for number in 0..TRIES {
        let digest = sha256(format!("{captured}\n{what}\n{number}").as_bytes());
        let id = format!("CAP-{}", digest.get(..8)?);
        match known.iter().find(|capture| capture.id.eq_ignore_ascii_case(&id)) {
            None => return Some(id),
            Some(capture) if capture.captured == captured && capture.text == what => return None,
            Some(_) => {}
        }
    }
    None
}

/// What a change of the document does that no triage may do; `None` if it only classifies captures that need it.
pub(crate) fn beyond_triage(old: &str, new: &str) -> Option<String> {
    let open = read(old).into_iter().filter(Capture::needs_triage).map(|capture| capture.id.to_ascii_lowercase());
    let open: BTreeSet<String> = open.collect();
    let is_open = |id: &str| open.contains(&id.to_ascii_lowercase());
    let resolved = |capture: &Capture| capture.status == CaptureStatus::Resolved && is_open(&capture.id);
    if let Some(resolved) = read(new).into_iter().find(resolved) {
        return Some(format!("{} is resolved, which only the program does", resolved.id));
    }
    (fixed(old, is_open) != fixed(new, is_open)).then(|| "more than the classification has changed".to_owned())
}

/// The lines that a triage keeps.
fn fixed(text: &str, is_open: impl Fn(&str) -> bool) -> Vec<&str> {
    let markdown = Markdown::parse(bare(text));
    let mut free = BTreeSet::new();
    for (heading, _) in blocks(&markdown).into_iter().filter(|(_, id)| is_open(id)) {
        let is_of_triage = |line: &usize| {
            let text = markdown.line(*line);
            markdown.is_prose(*line) && OF_TRIAGE.iter().any(|label| labelled(text, label).is_some())
        };
        free.extend(markdown.section(&heading).filter(is_of_triage));
    }
    let lines = (0..markdown.lines().len()).filter(|line| !free.contains(line));
    lines.map(|line| markdown.line(line).trim_end()).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "# Captures\r\n\r\n### CAP-1a2b3c4d\r\n**Text:** add **Status:** a flag\r\n**Captured:** 2026-01-02T03:04:05Z\r\n\
        **Status:** pending\r\n\r\n### CAP-00000001\r\n**Text:** x\r\n**Status:** triaged\r\n**Classification:** quick-task\r\n\r\n\
        ### CAP-00000002\r\n**Text:** stop: wrong API\r\n**Status:** pending\r\n\r\n### CAP-short\r\n**Text:** none\r\n";

    #[test]
    fn captures_are_read_with_their_state() {
        let found = read(TEXT);
        assert_eq!(found.len(), 3, "a heading without eight digits does not count");
        assert_eq!(found[0].text, "add **Status:** a flag");
        let needs: Vec<bool> = found.iter().map(Capture::needs_triage).collect();
        assert_eq!(needs, [true, false, true]);
        assert_eq!(found[1].open_class(), Some(CaptureClass::QuickTask));
        let stops: Vec<bool> = found.iter().map(Capture::asks_to_stop).collect();
        assert_eq!(stops, [false, false, true]);
        for (text, stops) in [("Wait, no", true), ("waiting is slow", false), ("do not stop", false), ("HALT", true)] {
            let text = append("", "CAP-1a2b3c4d", "x", text);
            assert_eq!(read(&text)[0].asks_to_stop(), stops, "{text}");
        }
        let unknown = read(&TEXT.replace("quick-task", "later"));
        assert!(unknown[1].needs_triage());
    }

    #[test]
    fn an_edit_changes_only_the_lines_of_its_capture() {
        let fields = [(STATUS, "triaged".to_owned()), (CLASSIFICATION, "note".to_owned())];
        let after = set(TEXT, "cap-1A2B3C4D", &fields).unwrap();
        let expected = TEXT.replacen("**Status:** pending", "**Status:** triaged\r\n**Classification:** note", 1);
        assert_eq!(after, expected);
        assert_eq!(beyond_triage(TEXT, &after), None);
        assert_eq!(set(TEXT, "CAP-ffffffff", &fields), None);
        let resolved = set(TEXT, "CAP-1a2b3c4d", &[(STATUS, "resolved".to_owned())]).unwrap();
        assert!(beyond_triage(TEXT, &resolved).unwrap().contains("CAP-1a2b3c4d"));
        for other in [
            TEXT.replace("quick-task", "note"),
            TEXT.replace("wrong API", "right API"),
            TEXT.replace("### CAP-00000002", "### CAP-00000003"),
            append(TEXT, "CAP-ffffffff", "x", "more"),
            String::new(),
        ] {
            assert!(beyond_triage(TEXT, &other).is_some(), "{other}");
        }
    }

    #[test]
    fn the_same_capture_is_not_added_twice() {
        let id = new_id("", "2026", "a  b").unwrap();
        assert_eq!(leading_id(&id), Some(id.as_str()));
        let text = append("", &id, "2026", "a  b");
        assert_eq!(new_id(&text, "2026", "a b"), None);
        assert_ne!(new_id(&text, "2026", "c"), Some(id));
        assert_eq!(block(&text, "CAP-00000000"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_edited_within_its_block(
            text in "\u{feff}?(### CAP-0000000[12]\r?\n|\\*\\*(Text|Status|Classification):\\*\\* ?(pending|resolved|stop|é)?\r?\n|```\n|## B\n|a\n|\n){0,14}",
            value in "[a-z*:é ]{0,12}",
        ) {
            let before = read(&text);
            prop_assert_eq!(beyond_triage(&text, &text), None);
            let edited = set(&text, "CAP-00000001", &[(CLASSIFICATION, value.clone())]);
            prop_assert_eq!(edited.is_some(), before.iter().any(|capture| capture.id == "CAP-00000001"));
            if let Some(edited) = edited {
                let after = read(&edited);
                prop_assert_eq!(before.len(), after.len());
                for (before, after) in before.iter().zip(&after) {
                    let expected = if before.id == "CAP-00000001" {
                        Capture { classification: Some(one_line(&value)).filter(|value| !value.is_empty()), ..before.clone() }
                    } else {
                        before.clone()
                    };
                    prop_assert_eq!(&expected, after);
                }
            }
            let added = append(&text, "CAP-0000000a", "2026", "new");
            prop_assert!(added.starts_with(&text));
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in "(?s).{0,80}") {
            let _ = (read(&text), block(&text, "CAP-1a2b3c4d"), set(&text, "CAP-1a2b3c4d", &[]), leading_id(&text));
        }
    }
}
