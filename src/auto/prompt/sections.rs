//! Parts of documents: one section, an excerpt, a text cut to a size.

use std::ops::Range;

use crate::failure::Explain;
use crate::text::markdown::{Heading, LineKind, Markdown};
use crate::text::nearest::nearest;

/// The error for a section that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no section is called `{heading}`")]
pub(crate) struct SectionError {
    pub(super) heading: String,
    /// The existing titles.
    pub(crate) titles: Vec<String>,
}

impl Explain for SectionError {
    fn hint(&self) -> Option<String> {
        let titles = self.titles.iter().map(String::as_str);
        match nearest(&self.heading, titles) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if self.titles.is_empty() => None,
            None => Some(format!("the sections are: {}", self.titles.join(", "))),
        }
    }
}

/// Returns the section of `document` under `heading`, with its heading line: up to the next heading of its level or
/// above. The heading is given as its title, in any case, with or without `#` marks; its first word is enough if that
/// is an identifier, such as `R007` for `R007 — Search`.
pub(crate) fn section_of<'text>(document: &'text str, heading: &str) -> Result<&'text str, SectionError> {
    let wanted = heading.trim().trim_start_matches('#').trim();
    let markdown = Markdown::parse(document);
    let found = markdown.section_named(wanted).or_else(|| by_identifier(&markdown, wanted));
    let section = found.and_then(|(heading, lines)| document.get(markdown.span(heading.line..lines.end)));
    section.ok_or_else(|| SectionError {
        heading: wanted.to_owned(),
        titles: markdown.headings().map(|heading| heading.title.to_owned()).collect(),
    })
}

fn by_identifier<'text>(markdown: &Markdown<'text>, wanted: &str) -> Option<(Heading<'text>, Range<usize>)> {
    if !wanted.ends_with(|last: char| last.is_ascii_digit()) || wanted.contains(char::is_whitespace) {
        return None;
    }
    let starts = |title: &str| {
        let word = title.split_whitespace().next().unwrap_or_default();
        word.trim_end_matches([':', ',', '.']).eq_ignore_ascii_case(wanted)
    };
    let heading = markdown.headings().find(|heading| starts(heading.title))?;
    let lines = markdown.section(&heading);
    Some((heading, lines))
}

/// Returns the titles of a document's sections: those of its second level, or else of the first level that it has.
pub(crate) fn titles_of(document: &str) -> Vec<&str> {
    let markdown = Markdown::parse(document);
    let at = |level: u8| markdown.headings().filter(move |heading| heading.level == level);
    let level = (2..=6).chain([1]).find(|level| at(*level).next().is_some());
    level.into_iter().flat_map(|level| at(level).map(|heading| heading.title).collect::<Vec<_>>()).collect()
}

/// Returns what an executor needs of a slice plan: the part before its first section, and its verification.
pub(crate) fn slice_excerpt(plan: &str) -> String {
    let markdown = Markdown::parse(plan);
    let first = markdown.headings().find(|heading| heading.level == 2);
    let top = markdown.body_line()..first.map_or(markdown.lines().len(), |heading| heading.line);
    let verification = markdown.section_named("Verification").map(|(heading, lines)| heading.line..lines.end);
    let parts = [Some(top), verification].into_iter().flatten();
    let texts = parts.filter_map(|lines| plan.get(markdown.span(lines))).map(str::trim_end);
    let kept = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    let body = plan.get(markdown.span(markdown.body_line()..markdown.lines().len())).unwrap_or_default();
    if kept.len() < body.trim().len() { format!("{kept}\n[...the rest is left out]") } else { kept }
}

/// A text cut to a size, and how many sections are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) text: String,
    pub(crate) missing: usize,
}

/// Cuts `text` to at most `limit` bytes, only before a heading of the first three levels or a `---` line. The first
/// section stays, whatever its size; it includes front matter and the title below it.
pub(crate) fn cut(text: &str, limit: usize) -> Cut {
    let whole = || Cut { text: text.to_owned(), missing: 0 };
    if text.len() <= limit {
        return whole();
    }
    let ends = boundaries(text);
    let marker = |missing: usize| format!("[...truncated {missing} sections]\n");
    let room = limit.saturating_sub(marker(ends.len()).len());
    let last = ends.iter().rposition(|end| *end <= room).unwrap_or(0);
    let Some(kept) = ends.get(last).and_then(|end| text.get(..*end)) else { return whole() };
    let missing = ends.len() - last;
    Cut { text: kept.to_owned() + &marker(missing), missing }
}

/// Returns where each section except the first starts.
fn boundaries(text: &str) -> Vec<usize> {
    let markdown = Markdown::parse(text);
    let is_rule = |line: &str| line.trim_end().len() >= 3 && line.trim_end().bytes().all(|byte| byte == b'-');
    let begins = |index: usize, kind: LineKind| match kind {
        LineKind::Heading(level) => level <= 3,
        LineKind::Text => is_rule(markdown.line(index)),
        _ => false,
    };
    let lines = markdown.lines().iter().enumerate();
    let body = lines.skip_while(|(_, line)| matches!(line.kind, LineKind::FrontMatter | LineKind::Blank));
    // The first line of the body is the title, or text before the first heading.
    body.skip(1).filter(|(index, line)| begins(*index, line.kind)).map(|(_, line)| line.start).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SUMMARY: &str = "---\nid: T01\n---\n# T01: A\n**one**\n## What Happened\ntext\n### Part\nmore\n---\nlast section of all of them\n";

    #[test]
    fn a_section_is_found_by_its_title_or_its_identifier() {
        let text = "# Requirements\n## Active\n### R001 — Save\na\n### R002 — Find\nb\n## Deferred\nc\n";
        let found = |heading| section_of(text, heading);
        assert_eq!(found("r002").unwrap(), "### R002 — Find\nb\n");
        assert_eq!(found("### R001 — Save").unwrap(), "### R001 — Save\na\n");
        assert_eq!(found(" deferred ").unwrap(), "## Deferred\nc\n");
        assert!(found("Active").unwrap().ends_with("b\n"));
        let error = found("R00").unwrap_err();
        assert_eq!(error.to_string(), "no section is called `R00`");
        assert!(error.hint().unwrap().starts_with("the sections are: Requirements, Active, R001 — Save"));
        assert_eq!(found("Activ").unwrap_err().hint().unwrap(), "did you mean `Active`?");
        assert_eq!(section_of("", "x").unwrap_err().hint(), None);
        assert_eq!(titles_of(text), ["Active", "Deferred"]);
        assert_eq!(titles_of("# A\n### B\n"), ["B"]);
        assert_eq!(titles_of("text\n"), [""; 0]);
    }

    #[test]
    fn a_text_is_cut_only_between_sections() {
        let cut_at = |limit| cut(SUMMARY, limit);
        assert_eq!(cut_at(SUMMARY.len()), Cut { text: SUMMARY.to_owned(), missing: 0 });
        assert_eq!(cut_at(0).text, "---\nid: T01\n---\n# T01: A\n**one**\n[...truncated 3 sections]\n");
        let some = cut_at(SUMMARY.len() - 1);
        assert_eq!(some.missing, 1);
        assert!(some.text.ends_with("### Part\nmore\n[...truncated 1 sections]\n"), "{}", some.text);
        // Without a second section there is nothing to cut.
        assert_eq!(cut("# A\nlong text\n", 3).missing, 0);
        // A heading in code does not start a section.
        assert_eq!(cut("# A\n```\n### x\n```\n", 3).missing, 0);
    }

    #[test]
    fn an_excerpt_has_goal_demo_and_verification() {
        let plan = "# S02: Search\n**Goal:** g  **Demo:** d\n\n## Must-Haves\n- a\n## Verification\n- `x`\n## Tasks\n- [ ] **T01: A**\n";
        assert_eq!(
            slice_excerpt(plan),
            "# S02: Search\n**Goal:** g  **Demo:** d\n\n## Verification\n- `x`\n[...the rest is left out]"
        );
        assert_eq!(slice_excerpt("# S02\n"), "# S02");
        assert_eq!(slice_excerpt(""), "");
    }

    proptest! {
        #[test]
        fn any_text_is_cut_at_a_line_and_keeps_its_start(
            lines in prop::collection::vec("(#{1,4} |---|```|)[a-zé]{0,6}", 0..30),
            limit in 0_usize..200,
        ) {
            let text = lines.join("\n");
            let cut = cut(&text, limit);
            let kept = cut.text.split_once("[...truncated").map_or(cut.text.as_str(), |(kept, _)| kept);
            prop_assert!(text.starts_with(kept));
            if cut.missing == 0 {
                prop_assert_eq!(&cut.text, &text);
            } else {
                prop_assert!(kept.ends_with('\n'));
                let next = text[kept.len()..].lines().next().unwrap();
                prop_assert!(next.starts_with('#') || next.starts_with("---"), "{:?}", next);
                let first = boundaries(&text)[0];
                prop_assert!(cut.text.len() <= limit || kept.len() == first);
            }
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in "(?s).{0,200}", heading in ".{0,20}") {
            let _ = (section_of(&text, &heading), titles_of(&text), slice_excerpt(&text), cut(&text, 20));
        }
    }
}
