//! `T01-SUMMARY.md` and `S01-SUMMARY.md`: what a task or a slice hands to those that follow.

use super::ids::identifier;
use super::lines::{bare, document, is_nothing, is_true, list, map, scalar, text, texts};
use super::slice_plan::minutes;
use crate::text::front_matter::{FrontMatter, Value, is_unclosed};
use crate::text::markdown::{LineKind, Markdown};
use crate::text::terminal::plain;

/// The default result of checks in a summary.
pub(crate) const UNTESTED: &str = "untested";

/// The summary of a task or a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) id: String,
    pub(crate) parent: String,
    pub(crate) milestone: String,
    pub(crate) provides: Vec<String>,
    pub(crate) requires: Vec<Required>,
    pub(crate) affects: Vec<String>,
    pub(crate) key_files: Vec<String>,
    pub(crate) key_decisions: Vec<String>,
    pub(crate) patterns_established: Vec<String>,
    pub(crate) drill_down_paths: Vec<String>,
    pub(crate) observability_surfaces: Vec<String>,
    pub(crate) duration: Option<String>,
    /// `passed`, `failed` or [`UNTESTED`], as the author claims: it does not count as evidence.
    pub(crate) verification_result: String,
    pub(crate) completed_at: Option<String>,
    /// The plan of the slice does not work and must be changed.
    pub(crate) blocker_discovered: bool,
    /// Why nothing had to be changed, if that was the finding.
    pub(crate) no_change: Option<String>,
    pub(crate) title: Option<String>,
    /// The bold line below the title.
    pub(crate) one_liner: Option<String>,
}

/// A result of another slice that was used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Required {
    pub(crate) slice: String,
    pub(crate) provides: String,
}

impl Summary {
    pub(crate) fn parse(text: &str) -> Self {
        let own = bare(text);
        let markdown = Markdown::parse(own);
        let front = FrontMatter::of(&markdown);
        let front = front.as_ref();
        let text_of = |key: &str| scalar(front, key);
        let requires = front.and_then(|front| front.get("requires"));
        let requires = requires.as_ref().map(Value::items).unwrap_or_default().iter().filter_map(required);
        Self {
            id: text_of("id").unwrap_or_default(),
            parent: text_of("parent").unwrap_or_default(),
            milestone: text_of("milestone").unwrap_or_default(),
            provides: list(front, "provides"),
            requires: requires.collect(),
            affects: list(front, "affects"),
            key_files: list(front, "key_files"),
            key_decisions: list(front, "key_decisions"),
            patterns_established: list(front, "patterns_established"),
            drill_down_paths: list(front, "drill_down_paths"),
            observability_surfaces: list(front, "observability_surfaces"),
            duration: text_of("duration"),
            verification_result: text_of("verification_result").unwrap_or_else(|| UNTESTED.to_owned()),
            completed_at: text_of("completed_at"),
            blocker_discovered: is_true(front, "blocker_discovered"),
            no_change: text_of("no_change").filter(|reason| !is_nothing(reason)),
            title: heading(&markdown),
            one_liner: one_liner(&markdown),
        }
    }

    /// How long it took, if the duration can be read.
    pub(crate) fn minutes(&self) -> Option<u32> {
        minutes(self.duration.as_deref()?)
    }

    /// The whole document: front matter with every key, then the body.
    pub(crate) fn render(&self, body: &str) -> String {
        let required = |required: &Required| map([("slice", &required.slice), ("provides", &required.provides)]);
        let mut entries = vec![("id", text(&self.id)), ("parent", text(&self.parent))];
        if !self.milestone.is_empty() {
            entries.push(("milestone", text(&self.milestone)));
        }
        entries.extend([
            ("provides", texts(&self.provides)),
            ("requires", Value::List(self.requires.iter().map(required).collect())),
            ("affects", texts(&self.affects)),
            ("key_files", texts(&self.key_files)),
            ("key_decisions", texts(&self.key_decisions)),
            ("patterns_established", texts(&self.patterns_established)),
            ("drill_down_paths", texts(&self.drill_down_paths)),
            ("observability_surfaces", texts(&self.observability_surfaces)),
            ("duration", text(self.duration.as_deref().unwrap_or_default())),
            ("verification_result", text(&self.verification_result)),
            ("completed_at", text(self.completed_at.as_deref().unwrap_or_default())),
            ("blocker_discovered", text(if self.blocker_discovered { "true" } else { "false" })),
        ]);
        document(entries, body)
    }
}

/// Whether the document is still empty: its front matter is not closed, or nothing follows it.
pub(crate) fn is_unfinished(text: &str) -> bool {
    let text = bare(text);
    let body = FrontMatter::parse(text).map_or(text, |front| front.body());
    is_unclosed(text) || body.trim().is_empty()
}

/// The text below a heading of a document; headings in code fences do not count. `None` if the section is missing or
/// empty.
pub(crate) fn section(text: &str, title: &str) -> Option<String> {
    let markdown = Markdown::parse(bare(text));
    let (_, lines) = markdown.section_named(title)?;
    let inside = markdown.text()[markdown.span(lines)].trim();
    (!is_nothing(inside)).then(|| inside.to_owned())
}

/// `1h 5m` for 65 minutes.
pub(crate) fn duration(minutes: u32) -> String {
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes}m"),
        (hours, 0) => format!("{hours}h"),
        (hours, minutes) => format!("{hours}h {minutes}m"),
    }
}

fn required(value: &Value) -> Option<Required> {
    let (slice, provides) = match value {
        Value::Map(_) => {
            let text = |key: &str| value.get(key).map(Value::flat).unwrap_or_default();
            (text("slice"), text("provides"))
        }
        other => {
            let text = other.flat();
            match text.split_once(':').filter(|(slice, _)| super::ids::is_id(slice.trim(), 'S')) {
                Some((slice, provides)) => (slice.to_owned(), provides.to_owned()),
                None if super::ids::is_id(text.trim(), 'S') => (text, String::new()),
                None => (String::new(), text),
            }
        }
    };
    let (slice, provides) = (slice.trim().to_owned(), provides.trim().to_owned());
    (!(is_nothing(&slice) && is_nothing(&provides))).then_some(Required { slice, provides })
}

/// The title, without an identifier at the start.
fn heading(markdown: &Markdown<'_>) -> Option<String> {
    let title = markdown.headings().find(|heading| heading.level == 1)?.title;
    let id = identifier(title);
    let is_id = ['M', 'S', 'T'].iter().any(|letter| super::ids::is_id(id, *letter));
    let title = if is_id { super::lines::after_id(&title[id.len()..]) } else { title };
    (!title.is_empty()).then(|| title.to_owned())
}

/// `Words` from a line `**Words**` before the first section; `None` without such a line.
fn one_liner(markdown: &Markdown<'_>) -> Option<String> {
    let lines = (markdown.body_line()..markdown.lines().len())
        .take_while(|line| !matches!(markdown.lines()[*line].kind, LineKind::Heading(level) if level > 1));
    let bold = |line: usize| {
        let inside = markdown.line(line).trim().strip_prefix("**")?.strip_suffix("**")?.trim();
        (!inside.is_empty() && !inside.contains("**")).then(|| plain(inside))
    };
    lines.into_iter().filter(|line| markdown.is_prose(*line)).find_map(bold)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_document_is_unfinished() {
        for text in ["", " \n", "---\nid: T01\n", "---\nid: T01\n---\n\n"] {
            assert!(is_unfinished(text), "{text}");
        }
        for text in ["Done.\n", "---\nid: T01\n---\n# T01: A\n"] {
            assert!(!is_unfinished(text), "{text}");
        }
    }

    #[test]
    fn the_line_of_a_summary_has_no_terminal_escapes() {
        let summary = Summary::parse("# T01: A\n\n**done \u{1b}[31mred\u{1b}[0m \u{7}bell \u{202e}turned \rback**\n");
        assert_eq!(summary.one_liner.as_deref(), Some("done red bell turned back"));
    }

    #[test]
    fn a_summary_is_read_with_scalars_as_lists_of_one() {
        let text = "\u{feff}---\r\nid: T01\r\nparent: S02\r\nmilestone: M001\r\nprovides: search index API\r\nrequires:\r\n  - slice: S01\r\n    \
            provides: store\r\naffects: none\r\nkey_files: [src/index.rs]\r\nkey_decisions: [\"tantivy, not postings\"]\r\nduration: 38m\r\n\
            blocker_discovered: true\r\n---\r\n# T01: Index on write\r\n\r\n**Writes update the index**\r\n\r\n## What Happened\r\n**Not this**\r\n";
        let summary = Summary::parse(text);
        assert_eq!((summary.id.as_str(), summary.parent.as_str(), summary.milestone.as_str()), ("T01", "S02", "M001"));
        assert_eq!((summary.provides, summary.affects), (vec!["search index API".to_owned()], Vec::new()));
        assert_eq!(summary.requires, [Required { slice: "S01".to_owned(), provides: "store".to_owned() }]);
        assert_eq!(summary.key_decisions, ["tantivy, not postings"]);
        assert_eq!((summary.verification_result.as_str(), summary.blocker_discovered), (UNTESTED, true));
        assert_eq!(summary.title.as_deref(), Some("Index on write"));
        assert_eq!(summary.one_liner.as_deref(), Some("Writes update the index"));
        assert_eq!(section(text, "what happened").as_deref(), Some("**Not this**"));
        let bare = Summary::parse("# T01\n\n## X\n**late**\n");
        assert_eq!((bare.one_liner, bare.title, bare.provides.len()), (None, None, 0));
    }

    #[test]
    fn durations_are_shown_in_the_form_they_are_read() {
        for minutes in [0, 5, 60, 65, 600] {
            assert_eq!(super::minutes(&duration(minutes)), Some(minutes));
        }
    }

    fn words() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[a-z][-a-z:#`'\"\\[\\]{},/é ]{0,20}[a-z]", 0..5)
    }

    proptest! {
        #[test]
        fn a_written_summary_is_read_back(
            provides in words(), affects in words(), key_files in words(), key_decisions in words(),
            slices in proptest::collection::vec("S0[1-9]", 0..3), blocker_discovered: bool, minutes in 0_u32..500,
        ) {
            let requires = slices.into_iter().map(|slice| Required { slice, provides: "api: one".to_owned() }).collect();
            let summary = Summary {
                id: "S01".to_owned(), parent: "M001".to_owned(), provides, requires, affects, key_files, key_decisions,
                blocker_discovered, duration: Some(duration(minutes)), verification_result: "passed".to_owned(),
                title: Some("A".to_owned()), one_liner: Some("b".to_owned()), ..Summary::default()
            };
            let is_nothing = |values: &[String]| values.iter().any(|value| super::is_nothing(value));
            prop_assume!(![&summary.provides, &summary.affects, &summary.key_files, &summary.key_decisions].into_iter().any(|values| is_nothing(values)));
            prop_assert_eq!(Summary::parse(&summary.render("# S01: A\n\n**b**\n")), summary);
        }

        #[test]
        fn any_summary_is_read(text in "(---\n|id: |requires:\n|  - slice: S01\n|    provides: |provides: |\\[|\\]|\\{|\\}|\"|'|# |\\*\\*|\n|\r\n|\u{feff}|[ a:é,-]){0,30}") {
            let _ = (Summary::parse(&text), section(&text, "a"));
        }
    }
}
