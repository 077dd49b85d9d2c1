//! `M001-SUMMARY.md`: the document that ends a milestone.

#[cfg(test)]
use super::lines::list;
use super::lines::{bare, document, map, scalar, text, texts};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::Markdown;

/// The result of a milestone, as its summary reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Success,
    Failure,
    /// Unclear: it ends the milestone just as a success does.
    Unknown,
}

impl Ending {
    pub(crate) fn of(text: &str) -> Self {
        const SUCCESS: &[&str] = &["complete", "completed", "done", "closed", "skipped"];
        const FAILURE: &[&str] = &["active", "pending", "blocked", "failed", "failure", "incomplete"];
        const SIGNS: &[&str] = &["auto-mode recovery failed", "verification failed", "status: not complete"];
        let own = bare(text);
        let front = FrontMatter::of_keys(own, &["status"]);
        if let Some(status) = scalar(front.as_ref(), "status") {
            let is = |known: &&str| status.eq_ignore_ascii_case(known);
            if SUCCESS.iter().any(&is) {
                return Self::Success;
            }
            if FAILURE.iter().any(is) {
                return Self::Failure;
            }
        }
        let lower = own.to_lowercase();
        let markdown = Markdown::parse(own);
        let is_blocker = markdown.headings().any(|heading| {
            let word = heading.title.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
            heading.level == 1 && word == "BLOCKER"
        });
        if is_blocker || SIGNS.iter().any(|sign| lower.contains(sign)) { Self::Failure } else { Self::Unknown }
    }

    /// Whether the milestone is over.
    pub(crate) fn is_terminal(self) -> bool {
        self != Self::Failure
    }
}

/// A change of a requirement during the milestone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequirementOutcome {
    pub(crate) id: String,
    pub(crate) from_status: String,
    pub(crate) to_status: String,
    pub(crate) proof: String,
}

/// The front matter of a milestone's summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MilestoneSummary {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) status: String,
    pub(crate) completed_at: Option<String>,
    pub(crate) provides: Vec<String>,
    pub(crate) key_files: Vec<String>,
    pub(crate) key_decisions: Vec<String>,
    pub(crate) patterns_established: Vec<String>,
    pub(crate) requirement_outcomes: Vec<RequirementOutcome>,
    pub(crate) verification_result: String,
}

impl MilestoneSummary {
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Self {
        let front = FrontMatter::parse(bare(text));
        let front = front.as_ref();
        let text_of = |key: &str| scalar(front, key).unwrap_or_default();
        let outcomes = front.and_then(|front| front.get("requirement_outcomes"));
        let outcome = |value: &Value| {
            let text = |key: &str| value.get(key).map(Value::flat).unwrap_or_default();
            RequirementOutcome {
                id: text("id"),
                from_status: text("from_status"),
                to_status: text("to_status"),
                proof: text("proof"),
            }
        };
        let outcomes = outcomes.as_ref().map(Value::items).unwrap_or_default().iter().map(outcome);
        Self {
            id: text_of("id"),
            title: text_of("title"),
            status: text_of("status"),
            completed_at: scalar(front, "completed_at"),
            provides: list(front, "provides"),
            key_files: list(front, "key_files"),
            key_decisions: list(front, "key_decisions"),
            patterns_established: list(front, "patterns_established"),
            requirement_outcomes: outcomes.filter(|outcome| !outcome.id.is_empty()).collect(),
            verification_result: text_of("verification_result"),
        }
    }

    /// The whole document: the front matter, then `body`.
    pub(crate) fn render(&self, body: &str) -> String {
        let outcome = |outcome: &RequirementOutcome| {
            map([
                ("id", &outcome.id),
                ("from_status", &outcome.from_status),
                ("to_status", &outcome.to_status),
                ("proof", &outcome.proof),
            ])
        };
        let entries = vec![
            ("id", text(&self.id)),
            ("title", text(&self.title)),
            ("status", text(&self.status)),
            ("completed_at", text(self.completed_at.as_deref().unwrap_or_default())),
            ("provides", texts(&self.provides)),
            ("key_files", texts(&self.key_files)),
            ("key_decisions", texts(&self.key_decisions)),
            ("patterns_established", texts(&self.patterns_established)),
            ("requirement_outcomes", Value::List(self.requirement_outcomes.iter().map(outcome).collect())),
            ("verification_result", text(&self.verification_result)),
        ];
        document(entries, body)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_a_summary_that_says_so_is_a_failure() {
        for (text, ending) in [
            ("---\nstatus: complete\n---\nverification failed once, then passed\n", Ending::Success),
            ("---\nstatus: Skipped\n---\n", Ending::Success),
            ("\u{feff}---\r\nstatus: blocked\r\n---\r\n", Ending::Failure),
            ("---\nstatus: odd\n---\n# Done\n", Ending::Unknown),
            ("# BLOCKER — no network\n", Ending::Failure),
            ("# M001\n\nAuto-mode recovery failed.\n", Ending::Failure),
            ("# M001\n\n**Status: not complete**\n", Ending::Failure),
            ("# M001: Recipes\n", Ending::Unknown),
            ("# BLOCKERS of the past\n", Ending::Unknown),
            ("", Ending::Unknown),
        ] {
            assert_eq!(Ending::of(text), ending, "{text}");
        }
        assert!(Ending::Unknown.is_terminal() && !Ending::Failure.is_terminal());
    }

    proptest! {
        #[test]
        fn a_written_summary_is_read_back(
            title in "[a-z][a-z:#' ]{0,10}[a-z]", decisions in proptest::collection::vec("[b-m][a-z:,# ]{0,14}[a-z]", 0..4),
            outcomes in proptest::collection::vec(("R00[1-9]", "[b-m]{1,8}", "[a-z: #]{0,8}[b-m]"), 0..3),
        ) {
            let outcomes = outcomes.into_iter().map(|(id, to_status, proof)| RequirementOutcome {
                id, from_status: "active".to_owned(), to_status, proof: proof.trim().to_owned(),
            });
            let summary = MilestoneSummary {
                id: "M001".to_owned(), title, status: "complete".to_owned(), key_decisions: decisions,
                requirement_outcomes: outcomes.collect(), ..MilestoneSummary::default()
            };
            let text = summary.render("# M001\n");
            prop_assert_eq!(Ending::of(&text), Ending::Success);
            prop_assert_eq!(MilestoneSummary::parse(&text), summary);
        }
    }
}
