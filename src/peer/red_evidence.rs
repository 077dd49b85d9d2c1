//! Whether a test was seen to fail before the code that passes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::test_output::TestOutput;

/// What was run and observed before code was written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    command: String,
    exit_code: i64,
    /// The name of the test that should fail.
    target_test: String,
    /// What the command printed.
    #[serde(default)]
    output: String,
}

/// What `check tdd-red-evidence` answers for a record that could be read.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RedReport {
    passed: bool,
    block: bool,
    verdict: RedVerdict,
    reason: RedReason,
    evidence: RedEvidence,
    record: RedRecord,
    message: String,
}

/// What `check tdd-red-evidence` answers for a record that could not be read.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RedUnreadable {
    passed: bool,
    block: bool,
    verdict: RedVerdict,
    reason: RedReason,
    /// The path of the record.
    record: String,
    #[serde(rename = "readError")]
    read_error: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum RedVerdict {
    RedEvidenceOk,
    InvalidRed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RedReason {
    TargetTestFailed,
    UnreadableRecord,
    /// A key is missing or of another kind.
    InvalidRecord,
    /// The command succeeded.
    UnexpectedGreen,
    /// The output shows no test.
    ZeroTestsDiscovered,
    NonzeroExitWithoutTestFailure,
    /// Another test failed.
    NoTargetTestFailure,
}

/// The evidence in the output.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct RedEvidence {
    command: String,
    exit_code: Option<i64>,
    target_test: String,
    tests: u64,
    pass: u64,
    fail: u64,
    failing_tests: Vec<String>,
}

/// The parts of the record that are kept.
#[derive(Debug, Serialize, JsonSchema)]
struct RedRecord {
    command: String,
    exit_code: Option<i64>,
    failing_test: Option<String>,
    target_test: String,
    expected: Option<String>,
    actual: Option<String>,
    verdict: RedVerdict,
    reason: RedReason,
}

/// The answer for a record that is missing or is not JSON.
pub(crate) fn unreadable(path: &str, why: &str) -> RedUnreadable {
    RedUnreadable {
        passed: false,
        block: true,
        verdict: RedVerdict::InvalidRed,
        reason: RedReason::UnreadableRecord,
        record: path.to_owned(),
        read_error: format!("{why}: {path}"),
    }
}

/// Checks whether the record shows that its test failed before the code was written.
pub(crate) fn red_evidence(value: &serde_json::Value) -> RedReport {
    let record: Option<Record> = serde_json::from_value(value.clone()).ok();
    let record = record.filter(|record| !record.command.trim().is_empty() && !record.target_test.trim().is_empty());
    let text = |key: &str| value.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
    let (evidence, reason) = match record {
        None => {
            let command = text("command").unwrap_or_default();
            (RedEvidence { command, ..RedEvidence::default() }, RedReason::InvalidRecord)
        }
        Some(record) => {
            let seen = TestOutput::read(&record.output);
            let reason = judged(&record, &seen);
            let Record { command, exit_code, target_test, .. } = record;
            let TestOutput { tests, pass, fail, failing, .. } = seen;
            let exit_code = Some(exit_code);
            (RedEvidence { command, exit_code, target_test, tests, pass, fail, failing_tests: failing }, reason)
        }
    };
    let passed = reason == RedReason::TargetTestFailed;
    let verdict = if passed { RedVerdict::RedEvidenceOk } else { RedVerdict::InvalidRed };
    let target = evidence.target_test.clone();
    let failing_test = evidence.failing_tests.iter().find(|name| **name == target).or(evidence.failing_tests.first());
    RedReport {
        passed,
        block: !passed,
        verdict,
        reason,
        record: RedRecord {
            command: evidence.command.clone(),
            exit_code: evidence.exit_code,
            failing_test: failing_test.cloned(),
            target_test: target.clone(),
            expected: text("expected"),
            actual: text("actual"),
            verdict,
            reason,
        },
        evidence,
        message: message(reason, &target),
    }
}

fn judged(record: &Record, seen: &TestOutput) -> RedReason {
    if record.exit_code == 0 {
        return RedReason::UnexpectedGreen;
    }
    if seen.tests == 0 {
        return RedReason::ZeroTestsDiscovered;
    }
    if seen.fail == 0 || seen.failing.is_empty() {
        return RedReason::NonzeroExitWithoutTestFailure;
    }
    if seen.failing.iter().any(|name| names(name, &record.target_test)) {
        RedReason::TargetTestFailed
    } else {
        RedReason::NoTargetTestFailure
    }
}

/// True if a failing test is the target: by its whole name, or by the last part of a path of names.
fn names(failing: &str, target: &str) -> bool {
    let target = target.trim();
    failing == target
        || ["::", " > ", " › "].iter().any(|mark| failing.strip_suffix(target).is_some_and(|path| path.ends_with(mark)))
}

fn message(reason: RedReason, target: &str) -> String {
    match reason {
        RedReason::TargetTestFailed => format!("`{target}` failed before the code was written: write the code"),
        RedReason::UnexpectedGreen => {
            format!("the command succeeded, so `{target}` requires nothing new: make the test stricter")
        }
        RedReason::ZeroTestsDiscovered => {
            "the output mentions no test: run the test itself, and keep all of its output".to_owned()
        }
        RedReason::NonzeroExitWithoutTestFailure => {
            "the command failed, but no test did: fix the setup first".to_owned()
        }
        RedReason::NoTargetTestFailure => format!("`{target}` is not among the tests that failed"),
        RedReason::UnreadableRecord | RedReason::InvalidRecord => {
            "the record needs `command`, `exitCode` (a number), `targetTest` and `output`".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged_as(exit_code: i64, target: &str, output: &str) -> RedReason {
        let record = format!(
            r#"{{"command": "run", "exitCode": {exit_code}, "targetTest": {target:?}, "output": {}}}"#,
            serde_json::to_string(output).unwrap()
        );
        red_evidence(&serde_json::from_str(&record).unwrap()).reason
    }

    #[test]
    fn only_the_failure_of_the_target_test_is_evidence() {
        use RedReason::{
            InvalidRecord, NoTargetTestFailure, NonzeroExitWithoutTestFailure, TargetTestFailed, UnexpectedGreen,
            ZeroTestsDiscovered,
        };
        let tap = |line: &str, fail: u8| format!("{line}\n# tests 1\n# pass 0\n# fail {fail}\n");
        assert_eq!(judged_as(1, "adds", &tap("not ok 1 - adds", 1)), TargetTestFailed);
        assert_eq!(judged_as(0, "adds", &tap("not ok 1 - adds", 1)), UnexpectedGreen);
        assert_eq!(judged_as(1, "add", &tap("not ok 1 - adds", 1)), NoTargetTestFailure);
        assert_eq!(judged_as(1, "adds", &tap("not ok 1 - adds # TODO later", 1)), NonzeroExitWithoutTestFailure);
        assert_eq!(judged_as(1, "adds", &tap("not ok 1 - adds", 0)), NonzeroExitWithoutTestFailure);
        assert_eq!(judged_as(1, "adds", ""), ZeroTestsDiscovered);
        assert_eq!(judged_as(1, "adds", "SyntaxError: adds"), ZeroTestsDiscovered);
        assert_eq!(judged_as(1, " ", "x"), InvalidRecord);
    }

    #[test]
    fn the_output_of_other_programs_is_understood() {
        for (target, output) in [
            ("adds", "# Subtest: math\n    not ok 1 - adds\nnot ok 1 - math\n# tests 1\n# fail 1\n"),
            ("adds", "✖ adds (1.2ms)\nℹ tests 1\nℹ pass 0\nℹ fail 1\n"),
            ("math::adds", "test math::adds ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n"),
            ("adds", "test math::adds ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 0 ignored\n"),
            ("adds", "FAILED test_a.py::adds - assert 2 == 3\n=== 1 failed, 2 passed in 0.10s ===\n"),
            ("adds", " FAIL  src/a.test.ts > math > adds\n      Tests  1 failed | 2 passed (3)\n"),
            ("adds", "--- PASS: subs (0.00s)\n--- FAIL: adds (0.00s)\nFAIL\n"),
            ("adds", "  ✕ adds (3 ms)\nTests:       1 failed, 1 total\n"),
        ] {
            assert_eq!(judged_as(1, target, output), RedReason::TargetTestFailed, "{output}");
        }
    }

    #[test]
    fn an_incomplete_record_is_not_evidence() {
        for text in ["{}", "[]", "null", "3", r#"{"command": "x", "exitCode": "1", "targetTest": "a"}"#] {
            let report = red_evidence(&serde_json::from_str(text).unwrap());
            assert_eq!((report.reason, report.block), (RedReason::InvalidRecord, true), "{text}");
        }
    }
}
