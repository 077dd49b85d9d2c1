//! The checks that a verification leaves to a person, and their tests in UAT.md.

use super::state::edit::one_line;
use super::uat_report::UatReport;
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::Markdown;
use crate::text::splice::Splices;

/// One entry of `human_verification`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HumanCheck {
    /// The action, on one line; also the name of its test.
    pub(crate) name: String,
    /// The expected result, on one line.
    pub(crate) expected: String,
}

impl HumanCheck {
    /// The entries of a verification report.
    pub(crate) fn all(report: &str) -> Vec<Self> {
        let listed = FrontMatter::parse(report).and_then(|front| front.get("human_verification"));
        let mut checks: Vec<Self> = listed.iter().flat_map(Value::items).filter_map(Self::of).collect();
        if checks.is_empty() {
            let named = UatReport::parse(report).human;
            checks = named.iter().filter_map(|name| Self::new(name, None)).collect();
        }
        checks
    }

    fn of(entry: &Value) -> Option<Self> {
        let text = |key: &str| Some(entry.get(key)?.flat());
        match text("test").or_else(|| text("name")) {
            Some(name) => Self::new(&name, text("expected")),
            None => Self::new(&entry.flat(), text("expected")),
        }
    }

    fn new(name: &str, expected: Option<String>) -> Option<Self> {
        // Hash marks at the end of a heading are not part of its text.
        let name = one_line(name).trim_end_matches(['#', ' ']).to_owned();
        if name.is_empty() {
            return None;
        }
        let expected = expected.map(|text| one_line(&text)).filter(|text| !text.is_empty());
        Some(Self { expected: expected.unwrap_or_else(|| name.clone()), name })
    }

    /// Whether this check has the given name, ignoring case, blank space and a final full stop.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        same_name(&self.name, name)
    }

    /// `expected:` with its value in a form that keeps it unchanged: a value that starts with a quote or a `|` gets its
    /// own line.
    fn expectation(&self, newline: &str) -> String {
        if self.expected.starts_with(['"', '\'', '|', '>']) {
            format!("expected: |{newline}  {}", self.expected)
        } else {
            format!("expected: {}", self.expected)
        }
    }
}

/// Whether two texts name the same check.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    let words = |text: &str| text.trim_end_matches('.').to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    words(one) == words(other)
}

/// The text of a new UAT.md with these tests. `phase` is the name of the phase's folder, `source` the report.
pub(crate) fn new_uat(phase: &str, source: &str, now: &str, checks: &[&HumanCheck]) -> String {
    let head = format!(
        "---\nstatus: testing\nphase: {phase}\nsource: [{source}]\nstarted: {now}\nupdated: {now}\n---\n\n\
         ## Current Test\n\n[testing complete]\n\n## Tests\n\n\
         ## Summary\n\ntotal: 0\npassed: 0\nissues: 0\npending: 0\nskipped: 0\nblocked: 0\n\n\
         ## Gaps\n\n## Deferred Follow-Ups\n"
    );
    with_tests(&head, now, checks)
}

/// Adds tests that wait for a person to a UAT.md, and updates its counters and its current test.
pub(crate) fn with_tests(text: &str, now: &str, checks: &[&HumanCheck]) -> String {
    let text = with_entries(text, checks);
    let markdown = Markdown::parse(&text);
    let report = UatReport::parse(&text);
    let mut splices = Splices::default();
    if let Some(front) = FrontMatter::of(&markdown) {
        if matches!(report.status.as_str(), "complete" | "resolved" | "unknown") {
            front.set("status", &Value::from("testing"), &mut splices);
        }
        front.set("updated", &Value::from(now), &mut splices);
    }
    set_counters(&markdown, &report, &mut splices);
    set_current_test(&markdown, &report, checks, &mut splices);
    splices.apply(&text)
}

/// Adds the tests after the last one.
fn with_entries(text: &str, checks: &[&HumanCheck]) -> String {
    let markdown = Markdown::parse(text);
    let newline = markdown.newline();
    let last = UatReport::parse(text).tests.iter().map(|test| test.number).max().unwrap_or(0);
    let entries: Vec<String> = (last + 1..)
        .zip(checks)
        .map(|(number, check)| {
            let lines = [
                format!("### {number}. {}", check.name),
                check.expectation(newline),
                "result: [pending]".to_owned(),
                "source: verification".to_owned(),
            ];
            lines.join(newline)
        })
        .collect();
    let block = entries.join(&format!("{newline}{newline}"));
    let (lines, block) = match markdown.section_named("Tests") {
        Some((heading, lines)) => (heading.line..lines.end, block),
        None => (0..markdown.lines().len(), format!("## Tests{newline}{newline}{block}")),
    };
    let filled = lines.rev().find(|line| !markdown.line(*line).trim().is_empty());
    let mut splices = Splices::default();
    match filled.and_then(|line| markdown.lines().get(line)) {
        Some(line) => splices.insert(line.end, format!("{newline}{newline}{block}")),
        None => splices.insert(0, format!("{block}{newline}")),
    }
    splices.apply(text)
}

fn set_counters(markdown: &Markdown<'_>, report: &UatReport, splices: &mut Splices) {
    let Some((_, lines)) = markdown.section_named("Summary") else { return };
    let count = |results: &[&str]| {
        let of = |result: &Option<String>| result.as_deref().is_some_and(|result| results.contains(&result));
        report.tests.iter().filter(|test| of(&test.result)).count()
    };
    let counters = [
        ("total", report.tests.len()),
        ("passed", count(&["pass", "passed"])),
        ("issues", count(&["issue"])),
        ("pending", count(&["pending"])),
        ("skipped", count(&["skipped"])),
        ("blocked", count(&["blocked"])),
    ];
    for line in lines {
        let text = markdown.line(line);
        let counter = text.split_once(':').and_then(|(key, value)| {
            value.trim().parse::<usize>().ok()?;
            counters.iter().find(|(name, _)| *name == key.trim())
        });
        if let (Some((name, count)), Some(place)) = (counter, markdown.lines().get(line)) {
            splices.replace(place.start..place.end, format!("{name}: {count}"));
        }
    }
}

/// If all earlier tests are done, the first new one becomes the current test.
fn set_current_test(markdown: &Markdown<'_>, report: &UatReport, checks: &[&HumanCheck], splices: &mut Splices) {
    let Some((_, mut lines)) = markdown.section_named("Current Test") else { return };
    let complete = lines.find(|line| markdown.line(*line).trim().to_lowercase().starts_with("[testing complete"));
    let first =
        checks.first().and_then(|check| Some((check, report.tests.iter().find(|test| test.name == check.name)?)));
    if let (Some(line), Some((check, test))) = (complete.and_then(|line| markdown.lines().get(line)), first) {
        let newline = markdown.newline();
        let fields = [
            format!("number: {}", test.number),
            format!("name: {}", check.name),
            check.expectation(newline),
            "awaiting: user response".to_owned(),
        ];
        splices.replace(line.start..line.end, fields.join(newline));
    }
}

/// The text of a report that waited for a person, after all its `checks` passed: updates the status, and the score if
/// only these checks were missing. `front` is the report's front matter.
pub(crate) fn accepted(text: &str, front: &FrontMatter<'_>, checks: usize) -> String {
    let mut splices = Splices::default();
    front.set("status", &Value::from("passed"), &mut splices);
    if let Some(score) = front.text("score").and_then(|score| full_score(&score, checks)) {
        front.set("score", &Value::from(score.as_str()), &mut splices);
    }
    let markdown = Markdown::parse(text);
    for line in (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line)) {
        let (start, text) = (markdown.lines()[line].start, markdown.line(line));
        let said = |label: &str| text.strip_prefix(label).map(str::trim);
        let now = match (said("**Status:**"), said("**Score:**")) {
            (Some("human_needed"), _) => Some("**Status:** passed".to_owned()),
            (_, Some(score)) => full_score(score, checks).map(|score| format!("**Score:** {score}")),
            _ => None,
        };
        if let Some(now) = now {
            splices.replace(start..start + text.len(), now);
        }
    }
    splices.apply(text)
}

/// `5/5 verified` for `3/5 verified`, if at most `checks` are missing.
fn full_score(score: &str, checks: usize) -> Option<String> {
    let (reached, rest) = score.split_once('/')?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (of, rest) = rest.split_at(end);
    let missing = of.parse::<usize>().ok()?.checked_sub(reached.trim().parse().ok()?)?;
    (missing <= checks).then(|| format!("{of}/{of}{rest}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::project::uat::CurrentTest;

    fn check(name: &str, expected: &str) -> HumanCheck {
        HumanCheck::new(name, Some(expected.to_owned())).unwrap()
    }

    #[test]
    fn entries_are_maps_or_texts_and_else_headings() {
        let front = "---\nhuman_verification:\n  - test: \"Look at it\"\n    expected: \"It is\n      blue\"\n    why_human: \"eyes\"\n  - Listen\n---\n";
        assert_eq!(HumanCheck::all(front), [check("Look at it", "It is blue"), check("Listen", "Listen")]);
        let body = "---\nstatus: human_needed\n---\n\n## Human Verification Required\n\n### 1. Look\n**Test:** x\n";
        assert_eq!(HumanCheck::all(body), [check("Look", "Look")]);
        assert_eq!(HumanCheck::all("# x\n"), []);
    }

    #[test]
    fn names_are_compared_without_case_and_full_stop() {
        assert!(check("Look  at it.", "x").is_named("look at It"));
        assert!(!check("Look at it", "x").is_named("Look at that"));
    }

    #[test]
    fn a_new_file_starts_with_the_first_check() {
        let checks = [check("Look", "\"Done\" is blue"), check("Listen", "a tone")];
        let text = new_uat("01-base", "01-VERIFICATION.md", "2026-01-02T03:04:05Z", &checks.iter().collect::<Vec<_>>());
        let current = CurrentTest::parse(&text).unwrap();
        assert_eq!((current.number, current.name.as_str(), current.expected.as_str()), (1, "Look", "\"Done\" is blue"));
        let report = UatReport::parse(&text);
        assert_eq!((report.status.as_str(), report.pending(), report.tests.len()), ("testing", 2, 2));
        assert!(text.contains("\ntotal: 2\npassed: 0\nissues: 0\npending: 2\n"), "{text}");
        assert!(text.ends_with("## Deferred Follow-Ups\n"), "{text}");
    }

    #[test]
    fn tests_are_added_after_those_that_are_done() {
        let text = "---\r\nstatus: complete\r\nupdated: x\r\n---\r\n\r\n## Current Test\r\n\r\n[testing complete]\r\n\r\n## Tests\r\n\r\n\
            ### 1. Old\r\nexpected: a\r\nresult: pass\r\n\r\n## Summary\r\n\r\ntotal: 1\r\npassed: 1\r\nissues: 0\r\npending: 0\r\n";
        let added = with_tests(text, "now", &[&check("New", "b")]);
        let expected = text
            .replace("complete\r\nupdated: x", "testing\r\nupdated: now")
            .replace("[testing complete]", "number: 2\r\nname: New\r\nexpected: b\r\nawaiting: user response")
            .replace(
                "result: pass\r\n",
                "result: pass\r\n\r\n### 2. New\r\nexpected: b\r\nresult: [pending]\r\nsource: verification\r\n",
            )
            .replace("total: 1", "total: 2")
            .replace("pending: 0", "pending: 1");
        assert_eq!(added, expected);
    }

    #[test]
    fn a_session_with_failed_tests_keeps_its_status_and_its_current_test() {
        let text = "---\nstatus: diagnosed\n---\n\n## Current Test\n\nnumber: 1\nname: A\nexpected: b\n\n## Tests\n\n### 1. A\nresult: issue\n";
        let added = with_tests(text, "now", &[&check("New", "b")]);
        assert!(
            added.contains("status: diagnosed\n") && added.contains("## Current Test\n\nnumber: 1\nname: A\n"),
            "{added}"
        );
        assert!(added.ends_with("\n### 2. New\nexpected: b\nresult: [pending]\nsource: verification\n"), "{added}");
    }

    proptest! {
        #[test]
        fn every_added_test_is_read_back(
            text in "(## Tests\n|## Summary\n|total: 0\n|### 1. A\n|result: pass\n|a|\r\n|\n){0,12}",
            name in "[a-z\"|>#: ]{1,12}"
        ) {
            let Some(check) = HumanCheck::new(&name, None) else { return Ok(()) };
            let before = UatReport::parse(&text).tests.len();
            let added = UatReport::parse(&with_tests(&text, "now", &[&check])).tests;
            prop_assert_eq!(added.len(), before + 1);
            let is_new = |test: &crate::project::uat_report::UatTest| {
                check.is_named(&test.name) && test.result.as_deref() == Some("pending")
            };
            prop_assert!(added.iter().any(is_new), "{:?}", added);
        }
    }
}
