//! The statement about a landing: in-toto, version 1, <https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md>.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::auto::decided::DECIDED;
use crate::auto::event::{CheckRun, CheckedTree, Environment, HeldOutResult, Tests};
use crate::auto::memory::Memory;

const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// The type of the predicate, with the version of its form. It is not a URL: `docs/proof.md` describes the predicate.
/// The predicate `test-result` of in-toto does not fit: it is about one call of a test suite and requires its
/// configuration, and a reader of only its `result` would mistake a landing without checks for passed tests.
pub(crate) const PREDICATE: &str = "urn:uuid:5b7f4c1e-9a0d-4e53-8c5d-2f1e6a90b7d4#landing-v1";

/// Replaces the source and the command of a check that sessions cannot read.
const HELD_OUT: &str = "held-out";

/// What no statement proves.
const NEVER_PROVED: &[&str] = &[
    "That the work is right: the checks say nothing about what they do not test.",
    "That the checks were not written for the work to pass: the agent may have written some of them in this milestone.",
    "That the checks pass elsewhere: only the programs that their commands name are recorded, not what these start, nor data, services or hardware.",
    "That the results were recorded truthfully: whoever controls the computer of the run can record anything. Run the checks again.",
    "Which client and model did the work: they are recorded as the client names them.",
];
const HELD_OUT_UNKNOWN: &str = "What the held-out check looks at: its command and its files are recorded nowhere, so that no session can read them.";
const NOT_HELD_OUT: &str = "That the work passes checks that the agent could not see: no held-out checks were run.";
const NOT_SIGNED: &str = "Who made this statement, and that nobody changed it: it is not signed.";
const NOT_CHECKED: &str = "Anything about the files that landed: there was no check to run.";

/// A statement about a commit. Fields are in the order in which they are written, so that the same landing gives the
/// same text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Statement {
    #[serde(rename = "_type")]
    pub(super) kind: String,
    pub(super) subject: Vec<StatementSubject>,
    #[serde(rename = "predicateType")]
    pub(super) predicate_type: String,
    pub(crate) predicate: Predicate,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StatementSubject {
    name: String,
    digest: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Predicate {
    pub(crate) landing: LandedWork,
    pub(crate) checks: Checks,
    /// The result of checks that the agent could not see; `null` without such checks.
    pub(crate) held_out: Option<Checks>,
    pub(crate) environment: Option<Environment>,
    pub(crate) run: RecordedRun,
    pub(crate) made_by: Maker,
    pub(crate) does_not_prove: Vec<String>,
    /// Why it is not signed; left out of a statement that was made to be signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unsigned: Option<String>,
}

/// What landed, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LandedWork {
    pub(crate) milestone: String,
    /// The branch.
    pub(crate) target: String,
    /// The previous commit of the branch: the only parent of the commit.
    pub(crate) base: String,
    /// The last commit of the work, which was merged into the base.
    pub(crate) work: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checks {
    /// The source of the commands, such as `cargo` or `preference`.
    pub(crate) source: String,
    /// The tree that they ran on.
    pub(crate) tree: String,
    pub(crate) passed: bool,
    pub(crate) commands: Vec<Recorded>,
    /// Why there were no checks.
    #[serde(rename = "noChecks")]
    pub(crate) why_none: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Recorded {
    pub(crate) command: String,
    pub(crate) exit_code: i32,
    /// Whether it counts as passed; also true if it fails as it did before the work.
    pub(crate) passed: bool,
    /// Whether it failed, and a person decided that the work counts nevertheless.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) decided: bool,
    /// Whether it had another result when it was run again on the same tree.
    pub(crate) flaky: bool,
    /// The test counts in its output; `null` if it has none.
    pub(crate) tests: Option<Tests>,
    /// The digest of its output: the SHA-256 of two lines, that of standard output and that of standard error.
    pub(crate) output: BTreeMap<String, String>,
    pub(crate) milliseconds: u64,
}

/// The run that did the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordedRun {
    pub(crate) id: String,
    pub(crate) units: Vec<UnitDone>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct UnitDone {
    /// Such as `execute-task M001/S01/T01`.
    pub(crate) unit: String,
    pub(crate) client: String,
    pub(crate) models: Vec<String>,
    pub(crate) sessions: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Maker {
    pub(crate) program: String,
    pub(crate) version: String,
}

impl Statement {
    /// Returns the statement about the candidate of a run, which has landed; `None` if the log has no checked
    /// candidate. `unsigned` is the reason why it will not be signed.
    pub(crate) fn of(memory: &Memory, unsigned: Option<String>) -> Option<Self> {
        let (run, candidate) = (memory.run.as_ref()?, memory.candidate.as_ref()?);
        let evidence = candidate.evidence.as_ref()?;
        let subject = |name: &str, algorithm: &str, digest: &str| StatementSubject {
            name: name.to_owned(),
            digest: [(algorithm.to_owned(), digest.to_owned())].into(),
        };
        let units = memory.worked.iter().map(|worked| UnitDone {
            unit: worked.unit.to_string(),
            client: worked.client.clone(),
            models: worked.models.iter().cloned().collect(),
            sessions: worked.sessions,
        });
        let mut does_not_prove: Vec<String> = NEVER_PROVED.iter().map(|&sentence| sentence.to_owned()).collect();
        does_not_prove.push(if candidate.held_out.is_some() { HELD_OUT_UNKNOWN } else { NOT_HELD_OUT }.to_owned());
        does_not_prove.extend(evidence.notes.get(DECIDED).map(|which| {
            format!("That all checks pass: some failed, and a person decided that the work counts: {which}.")
        }));
        let running = evidence.running.join("; ");
        does_not_prove.extend(
            (!running.is_empty())
                .then(|| format!("That what it changed and what runs on its own does no harm: {running}.")),
        );
        does_not_prove.extend(evidence.checks.is_empty().then(|| NOT_CHECKED.to_owned()));
        does_not_prove.extend(unsigned.is_some().then(|| NOT_SIGNED.to_owned()));
        Some(Self {
            kind: STATEMENT.to_owned(),
            subject: vec![
                subject("commit", "gitCommit", &candidate.commit),
                subject("tree", "gitTree", &candidate.tree),
            ],
            predicate_type: PREDICATE.to_owned(),
            predicate: Predicate {
                landing: LandedWork {
                    milestone: run.milestone.clone(),
                    target: run.target.clone(),
                    base: candidate.base.clone(),
                    work: candidate.head.clone(),
                },
                checks: Checks::of(evidence),
                held_out: candidate.held_out.as_ref().map(Checks::of_held_out),
                environment: evidence.environment.clone(),
                run: RecordedRun { id: run.id.clone(), units: units.collect() },
                made_by: Maker {
                    program: env!("CARGO_PKG_NAME").to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                },
                does_not_prove,
                unsigned,
            },
        })
    }

    /// Parses the statement in a payload; `None` if it has another type or is not a statement. Unknown fields are
    /// ignored, as in-toto requires.
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let statement: Self = serde_json::from_slice(payload).ok()?;
        (statement.kind == STATEMENT && statement.predicate_type == PREDICATE).then_some(statement)
    }

    pub(crate) fn payload(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Returns the digest of a subject with this algorithm.
    pub(super) fn digest(&self, algorithm: &str) -> Option<&str> {
        self.subject.iter().find_map(|subject| subject.digest.get(algorithm)).map(String::as_str)
    }
}

impl Checks {
    /// Returns the one check that sessions cannot read, without its command.
    fn of_held_out(result: &HeldOutResult) -> Self {
        let recorded = Recorded {
            command: HELD_OUT.to_owned(),
            exit_code: result.exit_code,
            passed: result.passed,
            decided: false,
            flaky: false,
            tests: None,
            output: [("sha256".to_owned(), result.digest.clone())].into(),
            milliseconds: result.milliseconds,
        };
        Self {
            source: HELD_OUT.to_owned(),
            tree: result.tree.clone(),
            passed: result.passed,
            commands: vec![recorded],
            why_none: None,
        }
    }

    fn of(evidence: &CheckedTree) -> Self {
        let flaky: Vec<&str> = evidence.notes.get("flaky").map(|note| note.split("; ").collect()).unwrap_or_default();
        let command = |check: &CheckRun| Recorded {
            command: check.command.clone(),
            exit_code: check.exit_code,
            passed: check.passed,
            decided: !check.passed && evidence.passed,
            flaky: flaky.contains(&check.command.as_str()),
            tests: check.tests,
            output: [("sha256".to_owned(), check.digest.clone())].into(),
            milliseconds: check.milliseconds,
        };
        Self {
            source: evidence.source.clone(),
            tree: evidence.tree.clone(),
            passed: evidence.passed,
            commands: evidence.checks.iter().map(command).collect(),
            why_none: evidence.no_checks_reason.clone(),
        }
    }
}
