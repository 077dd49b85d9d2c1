//! UAT.md: the test that a person should run now.

use super::uat_report::{UatReport, field};
use crate::failure::unexplained;
use crate::text::markdown::Markdown;

/// The test of the section `Current Test`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CurrentTest {
    pub(crate) number: u64,
    pub(crate) name: String,
    /// The result that the person should see, over any number of lines.
    pub(crate) expected: String,
}

/// Why no test can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CurrentTestError {
    #[error("the file has no section `Current Test`")]
    NoSection,
    #[error("all tests are done; there is no current one")]
    Complete,
    #[error("testing is paused, and no test is pending")]
    Paused,
    #[error("the section `Current Test` needs `number:`, `name:` and `expected:`")]
    Malformed,
}

unexplained!(CurrentTestError);

impl CurrentTest {
    /// The test to run now: if the section reports that all tests are done, or that testing is paused, the first
    /// pending one.
    pub(crate) fn next(text: &str) -> Result<Self, CurrentTestError> {
        Self::parse(text).or_else(|error| {
            let tests = UatReport::parse(text).tests;
            let pending = tests.into_iter().find(|test| test.result.as_deref() == Some("pending"));
            let names_none = matches!(error, CurrentTestError::Complete | CurrentTestError::Paused);
            let pending = pending.filter(|_| names_none).ok_or(error)?;
            let expected = pending.expected.ok_or(CurrentTestError::Malformed)?;
            Ok(Self { number: pending.number, name: pending.name, expected })
        })
    }

    pub(crate) fn parse(text: &str) -> Result<Self, CurrentTestError> {
        let markdown = Markdown::parse(text);
        let (_, lines) = markdown.section_named("Current Test").ok_or(CurrentTestError::NoSection)?;
        let lines: Vec<&str> = lines.map(|line| markdown.line(line)).collect();
        let notes = |note: &str| lines.iter().any(|line| line.trim().to_ascii_lowercase().starts_with(note));
        if notes("[testing complete") {
            return Err(CurrentTestError::Complete);
        }
        if notes("[testing paused") || notes("testing paused") {
            return Err(CurrentTestError::Paused);
        }
        let field = |key: &str| field(&lines, key);
        let number = field("number").and_then(|number| number.parse().ok()).ok_or(CurrentTestError::Malformed)?;
        let name = field("name").ok_or(CurrentTestError::Malformed)?;
        let expected = field("expected").ok_or(CurrentTestError::Malformed)?;
        Ok(Self { number, name, expected })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn current(section: &str) -> Result<CurrentTest, CurrentTestError> {
        CurrentTest::parse(&format!(
            "---\nstatus: testing\n---\n\n## Current Test\n\n{section}\n## Tests\n\nnumber: 9\n"
        ))
    }

    #[test]
    fn the_expectation_may_be_one_line_or_many() {
        let expected = |text: &str| {
            current(&format!("number: 2\nname: N: x\nexpected: {text}\nawaiting: user\n")).unwrap().expected
        };
        assert_eq!(expected("one line"), "one line");
        assert_eq!(expected("|\n  a\n    b\n\n  c"), "a\n  b\n\nc");
        assert_eq!(expected("|-\r\n  a\r\n  b\r"), "a\nb");
        assert_eq!(expected("a\n  b"), "a\nb");
        let test = current("<!-- note -->\nnumber: 3\nname: \"Log in\"\nexpected: x\n").unwrap();
        assert_eq!((test.number, test.name.as_str()), (3, "Log in"));
    }

    #[test]
    fn paused_testing_continues_with_the_first_pending_test() {
        let text = "## Current Test\n\n[testing paused - 1 item outstanding]\n\n## Tests\n\n\
                    ### 1. A\nexpected: a\nresult: pass\n\n### 2. B\nexpected: b\nresult: pending\n";
        assert_eq!(CurrentTest::next(text).unwrap().number, 2);
        let done = text.replace("result: pending", "result: pass");
        assert_eq!(CurrentTest::next(&done), Err(CurrentTestError::Paused));
    }

    #[test]
    fn a_test_that_was_reset_is_run_again() {
        let text = "## Current Test\n\n[testing complete]\n\n## Tests\n\n### 1. A\nexpected: a\nresult: pass\n\n\
                    ### 2. B\nexpected: b\nresult: [pending]\n";
        let next = CurrentTest::next(text).unwrap();
        assert_eq!((next.number, next.name.as_str(), next.expected.as_str()), (2, "B", "b"));
        assert_eq!(CurrentTest::next(&text.replace("[pending]", "issue")), Err(CurrentTestError::Complete));
        assert_eq!(CurrentTest::next("## Current Test\n\nx\n"), Err(CurrentTestError::Malformed));
    }

    #[test]
    fn missing_parts_are_reported() {
        assert_eq!(CurrentTest::parse("# x"), Err(CurrentTestError::NoSection));
        assert_eq!(current("[testing complete]\n"), Err(CurrentTestError::Complete));
        for section in [
            "name: a\nexpected: b\n",
            "number: x\nname: a\nexpected: b\n",
            "number: 1\nname: a\nexpected:\nawaiting: x\n",
        ] {
            assert_eq!(current(section), Err(CurrentTestError::Malformed), "{section}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_accepted(text in "(## Current Test\n|number: 1\n|name: |expected: |[|>]|<|>|\\[|INST\\]|system>|  |é|\u{200b}|\n){0,24}") {
            let _ = CurrentTest::parse(&text);
        }
    }
}
