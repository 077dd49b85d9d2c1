//! Judges the evidence: whether a unit may land, and what its next attempt is given to read.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::cannot_fail::only_looks;
use super::check::Source;
use super::evidence::{CheckRun, CheckVerdict, Evidence};
use super::no_checks::NoChecks;
use super::tamper::Finding;
use crate::disk::Digest;
use crate::text::terminal::last;
use crate::text::words::read_words;

/// How much of a check's output the next attempt is given, and how much in all, in bytes.
const OF_A_CHECK: usize = 2_000;
const OF_ALL: usize = 10_000;

read_words! {
    #[derive(Serialize, Hash)]
    pub(crate) enum Outcome {
        Passed = "passed",
        Failed = "failed",
        /// A check was made weaker, and nothing allows it.
        Weakened = "weakened",
        /// No check shows anything about this tree.
        NoEvidence = "no-evidence",
        /// The unit changes only documents, and has none.
        NoChecks = "no-checks",
    }
}

/// What a unit claims to have done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WorkClaim<'a> {
    Work,
    /// Something that was broken works. The evidence is that of the earlier tree with the tests of the unit added.
    Fix {
        without: &'a Evidence,
    },
    /// Only documents changed.
    Documents(&'a NoChecks),
}

/// The input of a verdict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    /// The tree that is to land.
    pub(crate) tree: &'a str,
    /// The folder in which the checks ran; its name does not make a failure a different one.
    pub(crate) folder: &'a str,
    pub(crate) claim: WorkClaim<'a>,
    /// The evidence of the tree that the unit started from.
    pub(crate) before: Option<&'a Evidence>,
    pub(crate) evidence: &'a Evidence,
    /// Weakened checks that nothing allows.
    pub(crate) findings: &'a [Finding],
}

/// Whether a unit may land.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GateVerdict {
    pub(crate) outcome: Outcome,
    pub(crate) tree: String,
    /// Commands that also failed before the unit, and are not its fault.
    pub(crate) red_before: Vec<String>,
    /// Commands that did not end the same way each time on the same tree.
    pub(crate) flaky: Vec<String>,
    /// Why the unit has no checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) no_checks: Option<NoChecks>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<GateFailure>,
}

/// Why a unit may not land, for its next attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GateFailure {
    pub(crate) text: String,
    /// The same failure has the same hash.
    pub(crate) hash: Digest,
}

impl GateVerdict {
    pub(crate) fn passed(&self) -> bool {
        matches!(self.outcome, Outcome::Passed | Outcome::NoChecks)
    }
}

/// Decides whether a unit may land.
pub(crate) fn judge(case: Case<'_>) -> GateVerdict {
    let Case { tree, evidence, before, .. } = case;
    let commands = |runs: &[&CheckRun]| runs.iter().map(|run| run.command.clone()).collect::<Vec<_>>();
    let (red, failing): (Vec<_>, Vec<_>) =
        evidence.checks.iter().filter(|run| run.failed()).partition(|run| was_as_red(run, evidence.source, before));
    let flaky: Vec<_> = evidence.checks.iter().filter(|run| run.verdict == CheckVerdict::Flaky).collect();
    let mut verdict = GateVerdict {
        outcome: Outcome::Passed,
        tree: tree.to_owned(),
        red_before: commands(&red),
        flaky: commands(&flaky),
        no_checks: None,
        failure: None,
    };
    let mut report = Report::default();
    if !case.findings.is_empty() {
        verdict.outcome = Outcome::Weakened;
        for finding in case.findings {
            report.fact(finding.to_string());
        }
    }
    if let WorkClaim::Documents(why) = case.claim
        && case.findings.is_empty()
    {
        (verdict.outcome, verdict.no_checks) = (Outcome::NoChecks, Some(why.clone()));
        return verdict;
    }
    if !failing.is_empty() {
        verdict.outcome = if case.findings.is_empty() { Outcome::Failed } else { Outcome::Weakened };
        for run in failing {
            report.check(run, before, case.folder);
        }
    }
    if verdict.outcome == Outcome::Passed
        && let Some((outcome, why)) = shows_nothing(case, &verdict)
    {
        verdict.outcome = outcome;
        report.fact(why);
        // The unit is not blamed for them, but the next attempt needs their output.
        for run in red {
            report.check(run, before, case.folder);
        }
    }
    if verdict.outcome != Outcome::Passed {
        verdict.failure = Some(report.failure());
    }
    verdict
}

/// Returns why checks that all passed do not show that the work is right.
fn shows_nothing(case: Case<'_>, verdict: &GateVerdict) -> Option<(Outcome, String)> {
    let Case { tree, evidence, before, .. } = case;
    let list =
        |commands: &[String]| commands.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>().join(", ");
    if evidence.tree != tree {
        let why = format!("the checks ran on the tree {}, and {tree} is to land: run them again", evidence.tree);
        return Some((Outcome::NoEvidence, why));
    }
    if !evidence.checks.iter().any(CheckRun::passed) {
        let why = if evidence.checks.is_empty() {
            "no check was run: name one in the plan (`Verify: COMMAND`)".to_owned()
        } else if verdict.red_before.is_empty() {
            format!("the only evidence is flaky: {}", list(&verdict.flaky))
        } else {
            let commands = list(&verdict.red_before);
            format!("every check failed before this unit and still fails, so that none shows its work: {commands}")
        };
        return Some((Outcome::NoEvidence, why));
    }
    // Each check that a plan names has to show its work; of those that a project declares, any one is enough.
    let silent: Vec<&CheckRun> = evidence.checks.iter().filter(|run| run.shows_nothing()).collect();
    let shows = evidence.checks.iter().any(|run| run.passed() && !run.shows_nothing());
    if !silent.is_empty() && (!shows || evidence.source == Source::TaskPlan) {
        let commands = list(&silent.iter().map(|run| run.command.clone()).collect::<Vec<_>>());
        let why = format!("no test was run, so that passing shows nothing: {commands}");
        return Some((Outcome::NoEvidence, why));
    }
    let was_red = |run: &&CheckRun| before.is_some_and(|before| before.of(&run.command).is_some_and(CheckRun::failed));
    let turned_green = || evidence.checks.iter().filter(|run| run.passed()).any(|run| was_red(&run));
    if evidence.source == Source::TaskPlan && !verdict.red_before.is_empty() && !turned_green() {
        let commands = list(&verdict.red_before);
        let why = format!(
            "the checks that pass passed before this unit, and these failed before it and still fail: {commands}"
        );
        return Some((Outcome::NoEvidence, why));
    }
    if is_as_before(evidence, before) {
        let commands = list(&evidence.checks.iter().map(|run| run.command.clone()).collect::<Vec<_>>());
        let why = format!(
            "the checks of the plan run no test and passed before this unit as well, so that passing shows nothing of its \
             work: {commands}"
        );
        return Some((Outcome::NoEvidence, why));
    }
    if let WorkClaim::Fix { without } = case.claim {
        let was_red = |run: &&CheckRun| without.of(&run.command).is_some_and(CheckRun::failed);
        if !evidence.checks.iter().filter(|run| run.passed()).any(|run| was_red(&run)) {
            let why = "the plan says this task fixes something, and no check fails without the fix: add a test that fails before \
                       the fix and passes after it";
            return Some((Outcome::Failed, why.to_owned()));
        }
    }
    None
}

/// True if the plan's checks only look at existing files, so that it matters whether they passed before.
pub(crate) fn asks_for_before(evidence: &Evidence) -> bool {
    let mut passed = evidence.checks.iter().filter(|run| run.passed()).peekable();
    evidence.source == Source::TaskPlan
        && passed.peek().is_some()
        && passed.all(|run| run.counts.is_none() && only_looks(&run.command))
}

fn is_as_before(evidence: &Evidence, before: Option<&Evidence>) -> bool {
    let was_green = |run: &CheckRun| before.and_then(|before| before.of(&run.command)).is_some_and(CheckRun::passed);
    asks_for_before(evidence) && evidence.checks.iter().filter(|run| run.passed()).all(was_green)
}

/// True if a check already failed before in the same way: every test that fails now failed then. The checks of a plan
/// are meant to fail before its work: if they do not name the failing tests, or could not load them, an earlier failure
/// is not an excuse.
fn was_as_red(run: &CheckRun, source: Source, before: Option<&Evidence>) -> bool {
    let Some(then) = before.and_then(|before| before.of(&run.command)).filter(|then| then.failed()) else {
        return false;
    };
    let can_be_compared = run.names_failures() && then.names_failures();
    (can_be_compared || source != Source::TaskPlan) && new_failures(run, then).is_empty()
}

/// The tests that fail now and did not before, if both outputs name them.
fn new_failures<'a>(run: &'a CheckRun, then: &CheckRun) -> Vec<&'a str> {
    let (Some(now), Some(then)) = (&run.counts, &then.counts) else { return Vec::new() };
    if then.failing.is_empty() {
        return Vec::new();
    }
    now.failing.iter().filter(|name| !then.failing.contains(name)).map(String::as_str).collect()
}

/// The text for the next attempt.
#[derive(Debug, Default)]
struct Report {
    parts: Vec<String>,
    /// The input of the hash.
    keys: Vec<String>,
}

impl Report {
    fn fact(&mut self, text: String) {
        self.keys.push(text.clone());
        self.parts.push(text);
    }

    fn check(&mut self, run: &CheckRun, before: Option<&Evidence>, folder: &str) {
        self.keys.push(run.failure(folder).to_string());
        let mut head = match run.verdict {
            CheckVerdict::TimedOut => {
                format!("`{}` did not end within {} s and was stopped", run.command, run.duration_ms / 1000)
            }
            CheckVerdict::NotStarted => format!("`{}` could not be started", run.command),
            _ => format!("`{}` failed with exit code {}", run.command, run.exit_code),
        };
        let then = before.and_then(|before| before.of(&run.command));
        let new = then.map(|then| new_failures(run, then)).unwrap_or_default();
        if then.is_some_and(CheckRun::failed) && !new.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(head, "; it was red before, and these failures are new: {}", new.join(", "));
        }
        let head = beginning(&head, OF_A_CHECK / 2);
        let tail = last(run.tail.trim_end(), OF_A_CHECK.saturating_sub(head.len() + 2));
        self.parts.push(format!("{head}\n\n{tail}").trim_end().to_owned());
    }

    fn failure(mut self) -> GateFailure {
        self.keys.sort_unstable();
        let hash = Digest::of(self.keys.join("\n").as_bytes());
        let text = self.parts.join("\n\n");
        GateFailure { text: beginning(&text, OF_ALL).to_owned(), hash }
    }
}

/// The first `bytes` of a text, to the end of a character.
fn beginning(text: &str, bytes: usize) -> &str {
    let to = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..to]
}

#[cfg(test)]
mod tests {
    use super::CheckVerdict::{Fail, Flaky, NotStarted, Pass, TimedOut};
    use super::*;
    use crate::gate::evidence::TestCounts;

    fn run(command: &str, verdict: CheckVerdict, tail: &str) -> CheckRun {
        CheckRun {
            command: command.to_owned(),
            exit_code: i32::from(verdict != CheckVerdict::Pass),
            duration_ms: 1,
            digest: Digest::of(tail.as_bytes()),
            tail: tail.to_owned(),
            verdict,
            runs: 1,
            counts: TestCounts::of(tail),
            survivors: Vec::new(),
        }
    }

    fn evidence(tree: &str, checks: Vec<CheckRun>) -> Evidence {
        Evidence { tree: tree.to_owned(), source: Source::Cargo, checks }
    }

    fn planned(tree: &str, checks: Vec<CheckRun>) -> Evidence {
        Evidence { source: Source::TaskPlan, ..evidence(tree, checks) }
    }

    fn judged(claim: WorkClaim<'_>, before: Option<&Evidence>, evidence: &Evidence) -> GateVerdict {
        judge(Case { tree: "new", folder: "/w", claim, before, evidence, findings: &[] })
    }

    #[test]
    fn a_check_that_only_looks_and_passed_before_shows_nothing() {
        let looks = planned("new", vec![run("grep -q mul a.py", Pass, "")]);
        let then = |verdict| planned("old", vec![run("grep -q mul a.py", verdict, "")]);
        assert_eq!(judged(WorkClaim::Work, Some(&then(Pass)), &looks).outcome, Outcome::NoEvidence);
        assert_eq!(judged(WorkClaim::Work, Some(&then(Fail)), &looks).outcome, Outcome::Passed);
        assert_eq!(judged(WorkClaim::Work, None, &looks).outcome, Outcome::Passed);
        assert!(asks_for_before(&looks) && !asks_for_before(&evidence("new", vec![run("cat a", Pass, "")])));
        let both = planned("new", vec![run("cat a", Pass, ""), run("make test", Pass, "")]);
        assert!(!asks_for_before(&both));
    }

    #[test]
    fn no_unit_passes_without_a_check_that_ran_on_its_tree() {
        let outcome =
            |tree: &str, checks: Vec<CheckRun>| judged(WorkClaim::Work, None, &evidence(tree, checks)).outcome;
        assert_eq!(outcome("new", vec![run("a", Pass, "")]), Outcome::Passed);
        assert_eq!(outcome("old", vec![run("a", Pass, "")]), Outcome::NoEvidence);
        assert_eq!(outcome("new", vec![]), Outcome::NoEvidence);
        assert_eq!(outcome("new", vec![run("a", Flaky, "")]), Outcome::NoEvidence);
        assert_eq!(outcome("new", vec![run("a", Flaky, ""), run("b", Pass, "")]), Outcome::Passed);
        for verdict in [Fail, NotStarted, TimedOut] {
            assert_eq!(outcome("new", vec![run("a", Pass, ""), run("b", verdict, "")]), Outcome::Failed, "{verdict:?}");
        }
        let reason = NoChecks { reason: "wording".to_owned() };
        let verdict = judged(WorkClaim::Documents(&reason), None, &evidence("new", vec![]));
        assert!(verdict.outcome == Outcome::NoChecks && verdict.passed() && verdict.no_checks == Some(reason));
    }

    #[test]
    fn a_check_that_failed_before_is_named_and_not_blamed_unless_it_became_worse() {
        let before = evidence("old", vec![run("a", Fail, "not ok 1 - x\n# tests 1\n# fail 1\n"), run("b", Pass, "")]);
        let now = |tail: &str| evidence("new", vec![run("a", Fail, tail), run("b", Pass, "")]);
        let same = judged(WorkClaim::Work, Some(&before), &now("not ok 1 - x\n# tests 1\n# fail 1\n"));
        assert_eq!((same.outcome, same.red_before.as_slice()), (Outcome::Passed, &["a".to_owned()][..]));
        let worse = judged(WorkClaim::Work, Some(&before), &now("not ok 1 - x\nnot ok 2 - y\n# tests 2\n# fail 2\n"));
        assert_eq!(worse.outcome, Outcome::Failed);
        assert!(worse.failure.unwrap().text.contains("these failures are new: y"));
        let alone = judged(WorkClaim::Work, Some(&before), &evidence("new", vec![run("a", Fail, "")]));
        assert_eq!(alone.outcome, Outcome::NoEvidence);
        assert!(alone.failure.unwrap().text.contains("every check failed before this unit"));
    }

    #[test]
    fn an_earlier_failure_of_a_planned_check_excuses_nothing() {
        let outcome = |before: Vec<CheckRun>, now: Vec<CheckRun>| {
            let verdict = judged(WorkClaim::Work, Some(&planned("old", before)), &planned("new", now));
            (verdict.outcome, verdict.failure.map(|failure| failure.text).unwrap_or_default())
        };
        let green = || run("lint", Pass, "");
        let (silent, named) =
            (|| run("t", Fail, "no such file"), || run("t", Fail, "not ok 1 - x\n# tests 1\n# fail 1\n"));
        let (failed, text) = outcome(vec![silent(), green()], vec![silent(), green()]);
        assert!(failed == Outcome::Failed && text.contains("no such file"), "{text}");
        let (shown, text) = outcome(vec![named(), green()], vec![named(), green()]);
        assert!(
            shown == Outcome::NoEvidence && text.contains("still fail: `t`") && text.contains("not ok 1"),
            "{text}"
        );
        // Another test failed before, and is not part of this task.
        let other = || run("all", Fail, "not ok 2 - y\n# tests 1\n# fail 1\n");
        assert_eq!(outcome(vec![named(), other()], vec![run("t", Pass, ""), other()]).0, Outcome::Passed);
    }

    #[test]
    fn a_test_runner_that_ran_no_test_is_not_evidence() {
        let none = || run("python3 -m unittest tests.a", Pass, "Ran 0 tests in 0.0s\n\nOK\n");
        let outcome = |evidence: Evidence| {
            let verdict = judged(WorkClaim::Work, None, &evidence);
            (verdict.outcome, verdict.failure.map(|failure| failure.text).unwrap_or_default())
        };
        let (alone, text) = outcome(evidence("new", vec![none()]));
        assert!(alone == Outcome::NoEvidence && text.contains("no test was run") && text.contains("tests.a"), "{text}");
        assert_eq!(outcome(evidence("new", vec![none(), run("lint", Pass, "")])).0, Outcome::Passed);
        assert_eq!(outcome(planned("new", vec![none(), run("lint", Pass, "")])).0, Outcome::NoEvidence);
        let ran = run("python3 -m unittest tests.a", Pass, "Ran 1 test in 0.0s\n\nOK\n");
        assert_eq!(outcome(planned("new", vec![ran])).0, Outcome::Passed);
    }

    #[test]
    fn a_fix_has_to_turn_a_check_from_red_to_green() {
        let (green, red) = (evidence("new", vec![run("a", Pass, "")]), evidence("old", vec![run("a", Fail, "")]));
        let was_green = evidence("old", vec![run("a", Pass, "")]);
        let outcome = |without| judged(WorkClaim::Fix { without }, None, &green).outcome;
        assert_eq!(outcome(&red), Outcome::Passed, "the tests of the fix fail without it");
        assert_eq!(outcome(&was_green), Outcome::Failed);
        assert_eq!(judged(WorkClaim::Fix { without: &red }, Some(&red), &red).outcome, Outcome::NoEvidence);
    }

    #[test]
    fn a_failure_is_summarised_and_recognised_when_it_repeats() {
        let long = "é failed\n".repeat(3000);
        let checks = |tail: &str| (0..9).map(|number| run(&format!("c{number}"), Fail, tail)).collect();
        let failure = judged(WorkClaim::Work, None, &evidence("new", checks(&long))).failure.unwrap();
        assert!(failure.text.len() <= OF_ALL && failure.text.len() > OF_ALL - 10);
        let one = judged(WorkClaim::Work, None, &evidence("new", vec![run("c", Fail, &long)])).failure.unwrap();
        assert!(one.text.len() <= OF_A_CHECK && one.text.starts_with("`c` failed with exit code 1\n\n"));
        let hash = |tail: &str| judged(WorkClaim::Work, None, &evidence("new", checks(tail))).failure.unwrap().hash;
        assert_eq!(hash("x in 3ms"), hash("x in 5ms"));
        assert_ne!(hash("x"), hash("y"));
    }
}
