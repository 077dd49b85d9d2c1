//! `S01-UAT.md`, the acceptance test of a slice, and `S01-UAT-RESULT.md`, its result.

use std::fmt::Write as _;

use super::lines::{bare, labelled, one_line};
use super::verdict;
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;
use crate::text::words::{of_word, words};

words! {
    /// Who can run a test.
    pub(crate) enum UatMode {
        ArtifactDriven = "artifact-driven",
        BrowserExecutable = "browser-executable",
        RuntimeExecutable = "runtime-executable",
        LiveRuntime = "live-runtime",
        HumanExperience = "human-experience",
        Mixed = "mixed",
    }
}

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UatVerdict {
    Pass,
    Fail,
    Partial,
    /// An unknown word.
    Other(String),
}

impl UatMode {
    /// Finds out who can run the test in this document.
    pub(crate) fn of(text: &str) -> Self {
        let markdown = Markdown::parse(bare(text));
        let lines = || (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line));
        let told = lines().find_map(|line| labelled(markdown.line(line), "UAT mode"));
        let word = told.map(verdict::bare_word).unwrap_or_default().to_lowercase();
        of_word(&word).unwrap_or(Self::ArtifactDriven)
    }
}

/// The source of a new acceptance test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewUat<'text> {
    pub(crate) slice: &'text str,
    pub(crate) milestone: &'text str,
    pub(crate) title: &'text str,
    /// What can be demonstrated, such as the demo of the slice.
    pub(crate) smoke: Option<&'text str>,
    /// The verifications, each of which becomes a case.
    pub(crate) verification: &'text [String],
}

impl NewUat<'_> {
    /// If all cases are commands, an agent can run them; other cases may need a person.
    pub(crate) fn mode(&self) -> UatMode {
        let all = !self.verification.is_empty() && self.verification.iter().all(|case| is_command(case));
        if all { UatMode::ArtifactDriven } else { UatMode::Mixed }
    }

    pub(crate) fn render(&self) -> String {
        let Self { slice, milestone, title, smoke, verification } = self;
        let mode = self.mode();
        let smoke = smoke.map_or_else(|| "Carry out the first test case.".to_owned(), one_line);
        let mut text = format!(
            "# {slice}: {} — UAT\n\n**Milestone:** {milestone}\n\n## UAT Type\n\n- UAT mode: {}\n\n## Preconditions\n\nThe work of all tasks \
             of {slice} is in the tree.\n\n## Smoke Test\n\n{smoke}\n\n## Test Cases\n",
            one_line(title),
            mode.word()
        );
        for (index, case) in verification.iter().enumerate() {
            let case = one_line(case);
            let expected = if is_command(&case) { "The command succeeds." } else { "It is as described." };
            // Writing to a string cannot fail.
            let _ = write!(text, "\n### {}. {case}\n\n- **Expected:** {expected}\n", index + 1);
        }
        if verification.is_empty() {
            text.push_str("\nThe plan of the slice lists no verification.\n");
        }
        text.push_str(
            "\n## Edge Cases\n\nNone recorded.\n\n## Not Proven\n\nWhat the plan does not list under Verification.\n",
        );
        text
    }
}

/// Whether a case is just a command in back-ticks.
fn is_command(case: &str) -> bool {
    let inside = case.trim().strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    inside.is_some_and(|inside| !inside.trim().is_empty() && !inside.contains('`'))
}

impl UatVerdict {
    fn of_word(word: &str) -> Self {
        match word.to_lowercase().as_str() {
            "pass" | "passed" => Self::Pass,
            "fail" | "failed" => Self::Fail,
            "partial" => Self::Partial,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The verdict of a result; `None` if it has none. Without a written verdict and without front matter, a failed row
    /// counts as a failure; passed rows do not count as a verdict.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(word) = verdict::written(text) {
            return Some(Self::of_word(verdict::bare_word(&word)));
        }
        if FrontMatter::parse(bare(text)).is_some() {
            return None;
        }
        let failed = verdict::in_tables(text).iter().any(|word| Self::of_word(word) == Self::Fail);
        failed.then_some(Self::Fail)
    }

    /// Whether work may continue: `partial` is accepted only if the mode leaves some cases to people and
    /// `accept_partial` is set.
    pub(crate) fn is_accepted(&self, mode: UatMode, accept_partial: bool) -> bool {
        match self {
            Self::Pass => true,
            Self::Partial => {
                accept_partial && matches!(mode, UatMode::Mixed | UatMode::HumanExperience | UatMode::LiveRuntime)
            }
            Self::Fail | Self::Other(_) => false,
        }
    }

    pub(crate) fn word(&self) -> &str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Partial => "partial",
            Self::Other(word) => word,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_leading_word_is_the_mode() {
        let mode = |line: &str| UatMode::of(&format!("# S01\n\n## UAT Type\n\n{line}\n"));
        assert_eq!(mode("- UAT mode: mixed (artifact-driven + human-experience)"), UatMode::Mixed);
        assert_eq!(mode("- **UAT mode:** `live-runtime`"), UatMode::LiveRuntime);
        assert_eq!(mode("- UAT mode: whatever"), UatMode::ArtifactDriven);
        assert_eq!(mode(""), UatMode::ArtifactDriven);
    }

    #[test]
    fn verification_becomes_numbered_cases() {
        let commands = ["`cargo test search`".to_owned(), "`recipes find soup`".to_owned()];
        let uat = NewUat {
            slice: "S02",
            milestone: "M001",
            title: "Search",
            smoke: Some("two hits"),
            verification: &commands,
        };
        let text = uat.render();
        assert_eq!(UatMode::of(&text), UatMode::ArtifactDriven);
        assert!(
            text.contains("## Smoke Test\n\ntwo hits\n") && text.contains("### 2. `recipes find soup`\n"),
            "{text}"
        );
        let prose = ["`cargo test` is green".to_owned()];
        assert_eq!(UatMode::of(&NewUat { verification: &prose, ..uat.clone() }.render()), UatMode::Mixed);
        assert_eq!(UatMode::of(&NewUat { verification: &[], ..uat }.render()), UatMode::Mixed);
    }

    #[test]
    fn a_verdict_is_read_where_it_is_written() {
        let read = UatVerdict::parse;
        assert_eq!(
            read("---\nverdict: PASSED\n---\n0 FAIL\n| T | Result |\n|---|---|\n| a | FAIL |\n"),
            Some(UatVerdict::Pass)
        );
        assert_eq!(read("---\na: 1\n---\n**Verdict:** PASS\n"), None, "with front matter the body does not count");
        assert_eq!(read("# R\n\n**Verdict:** PASS — all 3\n"), Some(UatVerdict::Pass));
        assert_eq!(read("## Verdict: partial\n"), Some(UatVerdict::Partial));
        assert_eq!(read("```\n**Verdict:** PASS\n```\n"), None);
        assert_eq!(read("**Verdict:** unsure\n"), Some(UatVerdict::Other("unsure".to_owned())));
        assert_eq!(read("Everything is fine: 0 FAIL, no FAILURE signals\n"), None);
        assert_eq!(read("| Case | Result |\n|---|---|\n| failure of x | PASS |\n"), None);
        assert_eq!(read("| Case | Result |\n|---|---|\n| x | FAIL |\n"), Some(UatVerdict::Fail));
        assert_eq!(read("| Case | Result |\n|---|---|\n| x | ❌ |\n"), Some(UatVerdict::Fail));
        assert_eq!(read(""), None);
    }

    #[test]
    fn partial_is_accepted_only_if_it_is_allowed() {
        assert!(UatVerdict::Pass.is_accepted(UatMode::ArtifactDriven, false));
        assert!(!UatVerdict::Partial.is_accepted(UatMode::Mixed, false));
        assert!(UatVerdict::Partial.is_accepted(UatMode::Mixed, true));
        assert!(!UatVerdict::Partial.is_accepted(UatMode::ArtifactDriven, true));
        assert!(!UatVerdict::Other("ok".to_owned()).is_accepted(UatMode::Mixed, true));
    }

    proptest! {
        #[test]
        fn any_result_is_read(text in "(---\n|verdict: |\\*\\*Verdict:\\*\\* |PASS|FAIL|\\| |\\|---\\|---\\|\n|Result|❌|\n|\r\n|[ a:é-]){0,30}") {
            let _ = (UatVerdict::parse(&text), UatMode::of(&text));
        }
    }
}
