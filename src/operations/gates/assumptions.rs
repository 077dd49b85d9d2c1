//! Detects whether a phase breaks an assumption of the code: a single thing becomes several, or something fixed becomes
//! a choice. Detected by words in the roadmap.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::view::ProjectView;

const PLURAL: &[&str] = &[
    "second",
    "alternative",
    "alternate",
    "fallback",
    "also",
    "additional",
    "another",
    "supplementary",
    "alongside",
    "multiple",
    "plural",
    "2nd",
];
const OPTIONAL: &[&str] = &["optional", "optionally"];
const CHOSEN: &[&str] = &[
    "chosen",
    "choose",
    "selectable",
    "configurable",
    "parameterized",
    "parameterised",
    "parameterize",
    "parameterise",
    "custom",
];

/// What `assumption-delta scan` answers for a phase of the roadmap.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScanReport {
    detected: bool,
    signals: Vec<AssumptionSignal>,
}

/// What `assumption-delta scan` answers if the phase does not exist.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkippedScan {
    skipped: bool,
    reason: &'static str,
}

/// A word that was found, and its location.
#[derive(Debug, Serialize, JsonSchema)]
struct AssumptionSignal {
    kind: AssumptionKind,
    term: String,
    /// The line that contains the word.
    snippet: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AssumptionKind {
    /// A single thing becomes several.
    Pluralization,
    /// Something required becomes optional.
    Optional,
    /// Something fixed becomes a choice.
    Chosen,
}

/// The words to search for.
#[derive(Debug)]
pub(crate) struct Terms {
    pluralization: Vec<String>,
    optional: Vec<String>,
    chosen: Vec<String>,
}

impl Terms {
    /// The default words; `given`, separated by commas, replaces those for pluralization.
    pub(crate) fn of(given: Option<&str>) -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let given: Vec<String> = given
            .into_iter()
            .flat_map(|list| list.split(','))
            .map(|word| word.trim().to_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        let pluralization = if given.is_empty() { words(PLURAL) } else { given };
        Self { pluralization, optional: words(OPTIONAL), chosen: words(CHOSEN) }
    }
}

/// Scans the section of a phase; `None` if the roadmap does not have the phase.
pub(crate) fn scan(view: &ProjectView, typed: &str, terms: &Terms) -> Result<Option<ScanReport>, FileError> {
    let roadmap = view.roadmap_or_empty()?;
    let Some(section) = roadmap.section(typed) else { return Ok(None) };
    let section = roadmap.section_text(section);
    let builds_on_nothing = builds_on_nothing(view)?;
    let lists = [
        (AssumptionKind::Pluralization, &terms.pluralization),
        (AssumptionKind::Optional, &terms.optional),
        (AssumptionKind::Chosen, &terms.chosen),
    ];
    let mut signals = Vec::new();
    for (kind, words) in lists {
        for word in words {
            let is_signal = |line: &&str| says(line, word, builds_on_nothing && kind == AssumptionKind::Chosen);
            let line = section.lines().find(is_signal);
            signals.extend(line.map(|line| AssumptionSignal {
                kind,
                term: word.clone(),
                snippet: line.trim().to_owned(),
            }));
        }
    }
    Ok(Some(ScanReport { detected: !signals.is_empty(), signals }))
}

/// True if nothing exists to build on: no plan was executed, and the code map is missing.
fn builds_on_nothing(view: &ProjectView) -> Result<bool, FileError> {
    let has_work = view.phase_folders()?.iter().any(|folder| folder.summaries().next().is_some());
    Ok(!has_work && !view.folder_exists(&view.layout().codebase()) && view.archives()?.is_empty())
}

/// The answer for a phase that the roadmap does not have.
pub(crate) fn unresolved() -> SkippedScan {
    SkippedScan { skipped: true, reason: "phase_unresolved" }
}

/// True if a line contains `word` as a whole word, in any case. With `without_passive`, a passive that only describes
/// new code is ignored: `the path can be chosen by a flag`.
fn says(line: &str, word: &str, without_passive: bool) -> bool {
    const TO_BE: &[&str] = &["be", "is", "are", "was", "were", "been", "being"];
    let lower = line.to_lowercase();
    let is_passive = |before: &str| {
        let last = before.trim_end_matches(['*', '_', '`', ' ']).split_whitespace().next_back();
        last.is_some_and(|last| TO_BE.contains(&last))
    };
    let is_letter = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    lower.match_indices(word).any(|(at, found)| {
        let (before, after) = (&lower[..at], &lower[at + found.len()..]);
        let is_word = !is_letter(before.chars().next_back()) && !is_letter(after.chars().next());
        is_word && (!without_passive || !is_passive(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, given: Option<&str>) -> Vec<String> {
        let roadmap = format!("### Phase 1: A\n{line}\n\n### Phase 2: Another\n");
        let files = [(".planning/ROADMAP.md", roadmap.as_str())];
        let view = ProjectView::of(files);
        let report = scan(&view, "1", &Terms::of(given)).unwrap().unwrap();
        assert_eq!(report.detected, !report.signals.is_empty());
        report.signals.iter().map(|signal| format!("{:?} {}", signal.kind, signal.term)).collect()
    }

    #[test]
    fn words_show_which_assumption_is_broken() {
        assert_eq!(
            found("Add a SECOND provider, also `optional`", None),
            ["Pluralization second", "Pluralization also", "Optional optional"]
        );
        assert_eq!(found("custom-made", None), ["Chosen custom"]);
        for line in ["within 5 seconds", "choosing", "customised", "optionals"] {
            assert_eq!(found(line, None), [""; 0], "{line}");
        }
    }

    #[test]
    fn a_passive_is_ignored_if_nothing_was_built() {
        let detected = |line: &str, more: &[(&str, &str)]| {
            let roadmap = format!("### Phase 2: A\n{line}\n");
            let files = [&[(".planning/ROADMAP.md", roadmap.as_str())], more].concat();
            let view = ProjectView::of(files);
            scan(&view, "2", &Terms::of(None)).unwrap().unwrap().detected
        };
        let built = [(".planning/phases/01-a/01-01-SUMMARY.md", "")];
        let mapped = [(".planning/codebase/STACK.md", "")];
        let passive = "The path can be **chosen** by a flag";
        assert!(!detected(passive, &[]));
        assert!(detected(passive, &built) && detected(passive, &mapped));
        assert!(detected("Users choose the provider", &[]));
    }

    #[test]
    fn a_person_can_name_the_words_for_many() {
        assert_eq!(found("a second foo bar", Some(" Foo , ,bar")), ["Pluralization foo", "Pluralization bar"]);
        assert_eq!(found("second", Some(" ")), ["Pluralization second"]);
        assert_eq!(found("größe", Some("gr")), [""; 0]);
    }
}
