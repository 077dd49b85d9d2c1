//! The evidence of checks as it is written to the log, with explanations for a person and for the next attempt.

use crate::auto::event::{CheckRun, CheckedTree, FAILING, Tests};
use crate::auto::slices::snapshot::FileProblem;
use crate::failure::Explain;
use crate::gate;
use crate::gate::check::Refused;
use crate::gate::evidence::Evidence as GateEvidence;
use crate::gate::no_checks::{NoChecks, NoChecksError};
use crate::gate::tamper::Finding;
use crate::gate::verdict::{GateVerdict, Outcome};

/// The explanations of a verdict for a person and for the next attempt.
pub(super) struct VerdictReasons<'a> {
    pub(super) findings: &'a [Finding],
    /// The identifier of the unit; empty for a candidate.
    pub(super) unit: &'a str,
    /// Commands that were named as checks and are not run.
    pub(super) refused: &'a [Refused],
    /// Whether missing checks are allowed.
    pub(super) no_checks: Option<Result<NoChecks, NoChecksError>>,
}

impl VerdictReasons<'_> {
    /// Returns what to do to make the checks pass, one line each.
    fn ways_on(&self, outcome: Outcome) -> Vec<String> {
        /// The most lines of a kind.
        const LISTED: usize = 5;
        let mut lines: Vec<String> = Vec::new();
        for finding in self.findings {
            let way = finding.way_on(self.unit);
            if lines.len() < LISTED && !lines.contains(&way) {
                lines.push(way);
            }
        }
        if outcome == Outcome::NoEvidence {
            lines.extend(self.refused.iter().map(not_run).take(LISTED));
        }
        if let Some(Err(error)) = &self.no_checks {
            lines.push(error.to_string());
        }
        lines
    }
}

/// Returns why a command is not run as a check, and what to do.
fn not_run(refused: &Refused) -> String {
    match refused.hint() {
        Some(hint) => format!("{refused}; {hint}"),
        None => refused.to_string(),
    }
}

pub(super) fn evidence(found: &GateEvidence, verdict: &GateVerdict, why: VerdictReasons<'_>) -> CheckedTree {
    let check = |run: &gate::evidence::CheckRun| CheckRun {
        command: run.command.clone(),
        exit_code: run.exit_code,
        milliseconds: run.duration_ms,
        digest: run.digest.to_string(),
        passed: run.passed() || verdict.red_before.contains(&run.command),
        tests: run.counts.as_ref().map(Tests::from),
        failing: run.counts.iter().flat_map(|counts| &counts.failing).take(FAILING).cloned().collect(),
    };
    // Sentences are addressed to people.
    let commands = why.refused.iter().filter(|refused| !refused.is_sentence());
    let left_out: Vec<String> = commands.map(not_run).collect();
    let notes = [("red before", &verdict.red_before), ("flaky", &verdict.flaky), ("not run", &left_out)];
    let notes = notes.into_iter().filter(|(_, commands)| !commands.is_empty());
    let failure = verdict.failure.as_ref().map(|failure| {
        let ways_on = why.ways_on(verdict.outcome);
        if ways_on.is_empty() { failure.text.clone() } else { format!("{}\n\n{}", failure.text, ways_on.join("\n")) }
    });
    CheckedTree {
        tree: verdict.tree.clone(),
        source: found.source.word().to_owned(),
        passed: verdict.passed(),
        checks: found.checks.iter().map(check).collect(),
        no_checks_reason: why.no_checks.and_then(Result::ok).map(|no_checks| no_checks.reason),
        failure: failure.unwrap_or_default(),
        findings: why
            .findings
            .iter()
            .map(|finding| FileProblem {
                path: finding.path.clone(),
                line: Some(finding.line).filter(|line| *line > 0),
                what: finding.what.clone(),
            })
            .collect(),
        secrets: Vec::new(),
        notes: notes.map(|(name, commands)| (name.to_owned(), commands.join("; "))).collect(),
        environment: None,
        running: Vec::new(),
    }
}
