//! Critical findings of code reviews, and whether they are settled.
//!
//! A finding `### CR-01: title` of `NN-REVIEW.md` is settled if `NN-REVIEW-FIX.md` lists it under `Fixed`, or if the
//! section `Review Findings` of `NN-VERIFICATION.md` calls it fixed or refuted.

use std::collections::BTreeSet;

use super::files::FileError;
use super::folder::PhaseFolder;
use super::view::ProjectView;
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::Markdown;

/// The unsettled critical findings of one review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenReview {
    /// The review file in the folder of its phase.
    pub(crate) file: String,
    /// Ids and titles.
    pub(crate) findings: Vec<String>,
}

/// The reviews of a phase with open critical findings.
pub(crate) fn open_critical(view: &ProjectView, folder: &PhaseFolder) -> Result<Vec<OpenReview>, FileError> {
    let mut open = Vec::new();
    let reviews = folder.artifacts("REVIEW").filter(|file| is_code_review(file));
    for file in reviews {
        let text = view.text(&folder.join(file))?.unwrap_or_default();
        let found = critical(&text);
        if found.is_empty() {
            continue;
        }
        let settled = settled(view, folder)?;
        let findings: Vec<String> = found.into_iter().filter(|finding| !settled.contains(id_of(finding))).collect();
        if !findings.is_empty() {
            open.push(OpenReview { file: file.to_owned(), findings });
        }
    }
    Ok(open)
}

/// The critical findings of a review, ids and titles. If its front matter counts more of them than there are headings,
/// an extra line reports the rest.
pub(crate) fn critical(text: &str) -> Vec<String> {
    let markdown = Markdown::parse(text);
    let mut found: Vec<String> = markdown
        .headings()
        .filter(|heading| heading.level >= 2 && finding_id(heading.title).is_some_and(|id| id.starts_with("CR-")))
        .map(|heading| heading.title.trim().to_owned())
        .collect();
    let counted = FrontMatter::of(&markdown).and_then(|front| front.get_path(&["findings", "critical"]));
    let counted = counted.as_ref().and_then(Value::as_text).and_then(|count| count.trim().parse::<usize>().ok());
    let missing = counted.unwrap_or(0).saturating_sub(found.len());
    if missing > 0 {
        found.push(format!("{missing} critical by its front matter, without a heading such as `### CR-01: ...`"));
    }
    found
}

/// The ids of the findings that documents of the phase call fixed or refuted.
fn settled(view: &ProjectView, folder: &PhaseFolder) -> Result<BTreeSet<String>, FileError> {
    let mut ids = BTreeSet::new();
    for file in folder.artifacts("REVIEW-FIX") {
        let text = view.text(&folder.join(file))?.unwrap_or_default();
        let markdown = Markdown::parse(&text);
        let mut is_fixed = false;
        for heading in markdown.headings() {
            match finding_id(heading.title) {
                Some(id) if is_fixed => drop(ids.insert(id.to_owned())),
                Some(_) => {}
                None => is_fixed = heading.title.trim().to_lowercase().starts_with("fixed"),
            }
        }
    }
    for file in folder.artifacts("VERIFICATION") {
        let text = view.text(&folder.join(file))?.unwrap_or_default();
        let markdown = Markdown::parse(&text);
        let Some((_, lines)) = markdown.section_named("Review Findings") else { continue };
        for line in lines.map(|line| markdown.line(line)) {
            let words = line.trim_start_matches(['|', '-', '*', ' ', '`']);
            let Some(id) = finding_id(words) else { continue };
            // The verdict is in a separate cell, or after the id.
            let bare = |cell: &str| cell.trim_matches(['|', ':', '*', '`', ' ', '\u{2014}', '-']).to_lowercase();
            let mut cells = words[id.len()..].split('|').map(bare);
            if cells.any(|cell| ["refuted", "fixed"].iter().any(|word| cell.starts_with(word))) {
                ids.insert(id.to_owned());
            }
        }
    }
    Ok(ids)
}

/// Whether a file is the code review of a phase: `01-UI-REVIEW.md` is the review of its screens.
fn is_code_review(file: &str) -> bool {
    let before = file.strip_suffix("REVIEW.md").unwrap_or_default().trim_end_matches('-');
    let last = before.rsplit('-').next().unwrap_or_default();
    last.is_empty() || last.starts_with(|first: char| first.is_ascii_digit())
}

fn id_of(finding: &str) -> &str {
    finding_id(finding).unwrap_or(finding)
}

/// `CR-01` at the beginning of a text.
fn finding_id(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let (letters, rest) = text.split_once('-')?;
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    (matches!(letters, "CR" | "WR" | "IN") && digits > 0).then(|| &text[..letters.len() + 1 + digits])
}

#[cfg(test)]
mod tests {
    use super::*;

    const REVIEW: &str = "---\nfindings:\n  critical: 2\nstatus: issues_found\n---\n# R\n\n## Critical Issues\n\n### CR-01: the token is \
        never checked\n\n### CR-02: data is lost\n\n## Warnings\n\n### WR-01: x\n";

    fn open(more: &[(&str, &str)]) -> Vec<String> {
        let files = [
            (".planning/ROADMAP.md", "### Phase 1: A\n"),
            (".planning/phases/01-a/01-01-PLAN.md", "x"),
            (".planning/phases/01-a/01-REVIEW.md", REVIEW),
            (".planning/phases/01-a/01-UI-REVIEW.md", "### CR-09: of the screens\n"),
        ];
        let view = ProjectView::of(files.into_iter().chain(more.iter().copied()));
        let folder = view.find_phase("1").unwrap().folder.unwrap();
        open_critical(&view, &folder).unwrap().into_iter().flat_map(|review| review.findings).collect()
    }

    #[test]
    fn a_critical_finding_is_open_until_it_is_fixed_or_refuted() {
        let (first, second) = ("CR-01: the token is never checked", "CR-02: data is lost");
        assert_eq!(open(&[]), [first, second]);
        let fixed = "# F\n\n## Fixed\n\n### CR-01: the token\n\n## Skipped\n\n### CR-02: data\n";
        let fix = (".planning/phases/01-a/01-REVIEW-FIX.md", fixed);
        assert_eq!(open(&[fix]), [second]);
        for (said, left) in [
            ("| CR-02 | `a.rs:3` | refuted: the guard is there |\n", 0),
            ("| `CR-02` | `a.rs:3` | **Fixed** |\n", 0),
            ("- CR-02: fixed in abc1234\n", 0),
            ("| CR-02 | holds | gap |\n", 1),
            ("CR-02 is not refuted\n", 1),
        ] {
            let report = format!("# V\n\n## Review Findings\n\n{said}\n## Gaps\n");
            let verification = (".planning/phases/01-a/01-VERIFICATION.md", report.as_str());
            assert_eq!(open(&[fix, verification]).len(), left, "{said}");
        }
    }

    #[test]
    fn findings_that_are_only_counted_are_open() {
        let found = critical("---\nfindings:\n  critical: 3\n---\n## CR-01: a\n");
        assert_eq!(found.len(), 2);
        assert!(found[1].starts_with("2 critical"), "{found:?}");
        assert!(critical("---\nfindings:\n  critical: 0\n---\n### WR-01: a\n").is_empty());
    }
}
