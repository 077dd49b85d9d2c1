//! Deliverables that a summary leaves to a person (`human_judgment: true`), until an acceptance test or a verification
//! shows that a person checked them.

use super::files::FileError;
use super::folder::PhaseFolder;
use super::human_checks::{HumanCheck, same_name};
use super::plan::PhaseSummary;
use super::uat_report::UatReport;
use super::view::ProjectView;
use crate::text::front_matter::{FrontMatter, Value};

/// A deliverable that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deliverable {
    /// The name of the summary.
    pub(crate) file: String,
    pub(crate) description: String,
    /// Why a person has to judge.
    pub(crate) rationale: Option<String>,
}

/// The deliverables of an executed phase that wait for a person. While plans are still open, the verification is still
/// to come.
pub(crate) fn unchecked(view: &ProjectView, folder: &PhaseFolder) -> Result<Vec<Deliverable>, FileError> {
    let mut left = Vec::new();
    for file in folder.summaries() {
        let path = folder.join(file);
        if view.told(b'j', &path, |text| u8::from(text.is_some_and(|text| text.contains(JUDGED))))? > 0 {
            left.extend(left_to_a_person(file, &view.text(&path)?.unwrap_or_default()));
        }
    }
    if left.is_empty() || !view.plans_to_do(folder)?.is_empty() {
        return Ok(Vec::new());
    }
    let texts = |kind: &str| -> Result<Vec<String>, FileError> {
        let read = |file| Ok(view.text(&folder.join(file))?.map(|text| text.as_ref().to_owned()));
        Ok(folder.artifacts(kind).map(read).collect::<Result<Vec<_>, FileError>>()?.into_iter().flatten().collect())
    };
    let (acceptances, verifications) = (texts("UAT")?, texts("VERIFICATION")?);
    left.retain(|deliverable| {
        !acceptances.iter().any(|text| is_in_acceptance(text, deliverable))
            && !verifications.iter().any(|text| is_in_verification(text, deliverable))
    });
    Ok(left)
}

/// The key that marks such a deliverable. Every summary of a project is searched for it, and most do not contain it.
const JUDGED: &str = "human_judgment";

fn left_to_a_person(file: &str, text: &str) -> Vec<Deliverable> {
    let listed = PhaseSummary::parse(text).value("coverage");
    let field = |entry: &Value, key: &str| {
        let text = entry.get(key)?.as_text()?.trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    let entries = listed.iter().flat_map(Value::items);
    // Quotes around the value are a mistake that does not change its meaning.
    let judged = entries.filter(|entry| field(entry, JUDGED).as_deref() == Some("true"));
    let deliverable = |entry: &Value| {
        let description = field(entry, "description").or_else(|| field(entry, "id"))?;
        Some(Deliverable { file: file.to_owned(), description, rationale: field(entry, "rationale") })
    };
    judged.filter_map(deliverable).collect()
}

/// Whether the acceptance tests cover a deliverable: they were made from the summary, or one has its name.
fn is_in_acceptance(text: &str, deliverable: &Deliverable) -> bool {
    let report = UatReport::parse(text);
    let named = |test: &super::uat_report::UatTest| {
        same_name(&test.name, &deliverable.description)
            || test.expected.as_deref().is_some_and(|expected| same_name(expected, &deliverable.description))
    };
    if report.tests.iter().any(named) {
        return true;
    }
    match FrontMatter::parse(text).and_then(|front| front.get("source")) {
        Some(source) => source.flat().split([',', '[', ']', ' ']).any(|item| item.ends_with(deliverable.file.as_str())),
        // The report does not name its source, and nothing in it is open.
        None => matches!(report.status.as_str(), "complete" | "resolved"),
    }
}

/// Whether a verification covers a deliverable: leaves it to a person, or passed and names it.
fn is_in_verification(text: &str, deliverable: &Deliverable) -> bool {
    let description = &deliverable.description;
    let is_it = |check: &HumanCheck| check.is_named(description) || same_name(&check.expected, description);
    if HumanCheck::all(text).iter().any(is_it) {
        return true;
    }
    let words = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let passed = UatReport::parse(text).status == "passed";
    passed && words(text).contains(words(description).trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "---\ncoverage:\n  - id: D1\n    description: The list scrolls smoothly.\n    \
                           human_judgment: JUDGED\n    rationale: eyes\n---\n";

    fn left(judged: &str, more: &[(&str, &str)]) -> Vec<String> {
        let summary = SUMMARY.replace("JUDGED", judged);
        let files = [
            (".planning/ROADMAP.md", "### Phase 1: A\n"),
            (".planning/phases/01-a/01-01-PLAN.md", "---\n---\n"),
            (".planning/phases/01-a/01-01-SUMMARY.md", summary.as_str()),
        ];
        let more = more.iter().map(|(name, text)| (format!(".planning/phases/01-a/{name}"), (*text).to_owned()));
        let all = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into_iter().chain(more);
        let all: Vec<(String, String)> = all.collect();
        let view = ProjectView::of(all.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let folder = view.find_phase("1").unwrap().folder.unwrap();
        unchecked(&view, &folder).unwrap().into_iter().map(|left| left.description).collect()
    }

    #[test]
    fn a_deliverable_waits_until_a_test_or_a_verification_covers_it() {
        let waits = ["The list scrolls smoothly."];
        let uat = |head: &str, test: &str| format!("---\n{head}\n---\n\n## Tests\n\n{test}\n");
        for judged in ["true", "\"true\""] {
            assert_eq!(left(judged, &[]), waits);
        }
        assert_eq!(left("false", &[]), [""; 0]);
        let open = [
            ("01-VERIFICATION.md", "---\nstatus: passed\n---\n| 1 | A list | VERIFIED |\n".to_owned()),
            ("01-VERIFICATION.md", "---\nstatus: gaps_found\n---\nThe list scrolls smoothly: no\n".to_owned()),
            ("01-UAT.md", uat("status: complete\nsource: [01-VERIFICATION.md]", "### 1. Other\nresult: pass")),
            ("01-UAT.md", uat("status: testing", "### 1. Other\nresult: [pending]")),
        ];
        for (name, text) in &open {
            assert_eq!(left("true", &[(name, text)]), waits, "{name}: {text}");
        }
        let settled = [
            (
                "01-VERIFICATION.md",
                "---\nstatus: passed\n---\n| 1 | the list  scrolls smoothly | VERIFIED |\n".to_owned(),
            ),
            (
                "01-VERIFICATION.md",
                "---\nstatus: human_needed\nhuman_verification:\n  - test: The list scrolls smoothly\n---\n".to_owned(),
            ),
            ("01-UAT.md", uat("status: testing\nsource: [01-01-SUMMARY.md]", "### 1. Other\nresult: [pending]")),
            ("01-UAT.md", uat("status: testing", "### 1. The list scrolls smoothly\nresult: [pending]")),
            ("01-UAT.md", uat("status: complete", "### 1. Scrolling\nresult: pass")),
        ];
        for (name, text) in &settled {
            assert_eq!(left("true", &[(name, text)]), [""; 0], "{name}: {text}");
        }
    }

    #[test]
    fn a_phase_still_being_executed_is_not_asked_about() {
        assert_eq!(left("true", &[("01-02-PLAN.md", "---\n---\n")]), [""; 0]);
    }
}
