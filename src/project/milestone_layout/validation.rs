//! `M001-VALIDATION.md`: whether a milestone fulfils its purpose.

use super::lines::{bare, document, is_true, labelled, list, scalar, text, texts, words as words_of};
use super::verdict;
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;
use crate::text::words::{of_word, words};

words! {
    /// The verdict of a validation. Each of them ends the validation.
    pub(crate) enum ValidationVerdict {
        Pass = "pass",
        NeedsAttention = "needs-attention",
        NeedsRemediation = "needs-remediation",
    }
}

words! {
    /// Who validated.
    pub(crate) enum ValidatedBy {
        Agent = "agent",
        Mechanical = "mechanical",
        /// A person overruled the verdict.
        Person = "person",
    }
}

/// The parts of a validation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validation {
    pub(crate) id: String,
    /// `None` if the verdict is missing or unknown.
    pub(crate) verdict: Option<ValidationVerdict>,
    pub(crate) remediation_round: u32,
    pub(crate) slices_added: Vec<String>,
    pub(crate) human_required: Vec<String>,
    pub(crate) validated_at: Option<String>,
    /// An agent, unless a person is named.
    pub(crate) validated_by: Option<ValidatedBy>,
    /// The hash of the records it was made from.
    pub(crate) evidence_hash: Option<String>,
    /// The reason, if the validation was skipped.
    pub(crate) skipped: Option<String>,
}

impl Validation {
    pub(crate) fn parse(text: &str) -> Self {
        let own = bare(text);
        let front = FrontMatter::parse(own);
        let front = front.as_ref();
        let word = verdict::written(own);
        let verdict = word.as_deref().and_then(|word| verdict_of(verdict::bare_word(word)));
        let reason = || scalar(front, "skip_validation_reason").unwrap_or_default();
        let by = scalar(front, "validated_by");
        Self {
            id: scalar(front, "id").unwrap_or_default(),
            verdict,
            remediation_round: scalar(front, "remediation_round").and_then(|text| text.parse().ok()).unwrap_or(0),
            slices_added: list(front, "slices_added"),
            human_required: list(front, "human_required_items").into_iter().filter(|item| item != "0").collect(),
            validated_at: scalar(front, "validated_at"),
            validated_by: by.as_deref().and_then(of_word),
            evidence_hash: scalar(front, "evidence_hash"),
            skipped: is_true(front, "skip_validation").then(reason),
        }
    }

    /// The verdict in effect: a skipped validation passes unless it has another verdict.
    pub(crate) fn outcome(&self) -> Option<ValidationVerdict> {
        self.verdict.or_else(|| self.skipped.as_ref().map(|_| ValidationVerdict::Pass))
    }

    /// Whether it ends the validation: it has a known verdict, or it was skipped.
    pub(crate) fn is_terminal(&self) -> bool {
        self.outcome().is_some()
    }

    /// The whole document: the front matter, then `body`.
    pub(crate) fn render(&self, body: &str) -> String {
        let mut entries = vec![("id", text(&self.id))];
        entries.push(("remediation_round", text(&self.remediation_round.to_string())));
        entries.extend(self.verdict.map(|verdict| ("verdict", text(verdict.word()))));
        if let Some(reason) = &self.skipped {
            entries.push(("skip_validation", text("true")));
            entries.push(("skip_validation_reason", text(reason)));
        }
        entries.push(("slices_added", texts(&self.slices_added)));
        entries.push(("human_required_items", texts(&self.human_required)));
        entries.extend(self.validated_at.as_deref().map(|at| ("validated_at", text(at))));
        entries.extend(self.validated_by.map(|by| ("validated_by", text(by.word()))));
        entries.extend(self.evidence_hash.as_deref().map(|hash| ("evidence_hash", text(hash))));
        document(entries, body)
    }
}

/// `PASSED` is `pass`; case and underscores do not matter.
fn verdict_of(word: &str) -> Option<ValidationVerdict> {
    let word = word.to_lowercase().replace('_', "-");
    of_word(if word == "passed" { "pass" } else { &word })
}

/// Whether a validation confirms the operational verification: a row or line that names it contains one of the words,
/// or one of the next two lines does.
pub(crate) fn proves_operational(text: &str) -> bool {
    const WORDS: &[&str] = &["met", "n/a", "satisfied", "deferred"];
    const NEGATIONS: &[&str] = &["not", "un", "never", "no"];
    let markdown = Markdown::parse(bare(text));
    let says = |line: usize| {
        let lower = markdown.line(line).to_lowercase();
        let mut words: Vec<&str> = words_of(&lower).collect();
        words.extend(lower.contains("n/a").then_some("n/a"));
        let proves = words.iter().any(|word| WORDS.contains(word));
        proves && !words.windows(2).any(|pair| NEGATIONS.contains(&pair[0]) && WORDS.contains(&pair[1]))
    };
    let names = |line: usize| words_of(markdown.line(line)).any(|word| word.eq_ignore_ascii_case("operational"));
    let lines = markdown.body_line()..markdown.lines().len();
    let is_row = |line: usize| {
        markdown.line(line).trim_start().starts_with('|') || labelled(markdown.line(line), "Operational").is_some()
    };
    lines.filter(|line| markdown.is_prose(*line) && names(*line)).any(|line| {
        let near = if is_row(line) { line..line + 1 } else { line..line + 3 };
        near.into_iter().any(says)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_verdict_ends_a_validation_wherever_it_is_written() {
        let read = |text: &str| Validation::parse(text).verdict;
        assert_eq!(read("---\nverdict: Passed\n---\n"), Some(ValidationVerdict::Pass));
        assert_eq!(read("---\nverdict: needs_attention\n---\n"), Some(ValidationVerdict::NeedsAttention));
        assert_eq!(read("# V\n\n**Verdict:** needs-remediation\n"), Some(ValidationVerdict::NeedsRemediation));
        let odd = Validation::parse("\u{feff}---\r\nid: M001\r\nverdict: fine\r\n---\r\n");
        assert!(!odd.is_terminal());
        assert!(!Validation::parse("").is_terminal());
        let skipped = Validation::parse("---\nskip_validation: true\nskip_validation_reason: preference\n---\n");
        assert!(skipped.is_terminal() && skipped.skipped.as_deref() == Some("preference"));
    }

    #[test]
    fn operational_evidence_is_a_row_with_a_confirming_word() {
        for (text, proves) in [
            ("| Operational | restart | MET |\n", true),
            ("| Operational | restart | not met |\n", false),
            ("- Operational: N/A\n", true),
            ("| Operational | restart | missing |\n| Contract | x | met |\n", false),
            ("### Operational verification\n\nAll of it is satisfied.\n", true),
            ("### Operational verification\n\n\n\nsatisfied\n", false),
            ("| Contract | x | MET |\n", false),
            ("| Operational | x | unmet |\n", false),
            ("", false),
        ] {
            assert_eq!(proves_operational(text), proves, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_validation_is_read_back(
            verdict in 0_usize..4, round in 0_u32..9, slices in proptest::collection::vec("S0[1-9]", 0..3),
            items in proptest::collection::vec("[a-z][a-z:# ]{0,12}[a-z]", 0..4), skipped: bool, hash in "[0-9a-f]{8}",
        ) {
            use ValidationVerdict::{NeedsAttention, NeedsRemediation, Pass};
            let verdicts = [Some(Pass), Some(NeedsAttention), Some(NeedsRemediation), None];
            prop_assume!(!items.iter().any(|item| super::super::lines::is_nothing(item)));
            let validation = Validation {
                id: "M001".to_owned(), verdict: verdicts[verdict], remediation_round: round, slices_added: slices,
                human_required: items, skipped: skipped.then(|| "preference".to_owned()), evidence_hash: Some(hash),
                validated_by: Some(ValidatedBy::Mechanical), ..Validation::default()
            };
            prop_assert_eq!(Validation::parse(&validation.render("# V\n")), validation);
        }

        #[test]
        fn any_validation_is_read(text in "(---\n|verdict: |pass|\\*\\*Verdict:\\*\\* |Operational|met|not |\\| |\n|\r\n|[ a:é-]){0,24}") {
            let _ = (Validation::parse(&text), proves_operational(&text));
        }
    }
}
