//! Tests before code: whether a test was seen to fail before the code that makes it pass, and whether the commits of a
//! phase's plans show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::plan::PhasePlan;
use crate::project::view::ProjectView;
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

/// What `check tdd-review-checkpoint` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewReport {
    pub(crate) block: bool,
    passed: bool,
    #[serde(rename = "tddPlans")]
    tdd_plans: usize,
    violations: usize,
    table: String,
    rows: Vec<ReviewRow>,
    pub(crate) message: String,
    /// What to do in the next plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<&'static str>,
}

/// One plan with tests first, and its commits that show it.
#[derive(Debug, Serialize, JsonSchema)]
struct ReviewRow {
    #[serde(rename = "planId")]
    plan_id: String,
    /// A failing test was committed.
    red: bool,
    /// The code was committed.
    green: bool,
    refactor: bool,
    status: &'static str,
    missing: Vec<&'static str>,
}

/// Checks which plans of a phase put tests first, and whether their commits show it. `subjects` are those of all
/// commits.
pub(crate) fn review(
    view: &ProjectView,
    typed: &str,
    folder: Option<&PhaseFolder>,
    subjects: impl FnOnce() -> Vec<String>,
) -> Result<ReviewReport, FileError> {
    let mut plans = Vec::new();
    if let Some(folder) = folder {
        for (plan, text) in view.plan_texts(folder)? {
            let kind = PhasePlan::parse(&text).list("type").join(" ");
            if kind.trim() == "tdd" {
                plans.push(canonical_id(plan_id(&plan)).to_owned());
            }
        }
    }
    if plans.is_empty() {
        let message = format!("No type:tdd plans found in phase {typed}. TDD review skipped.");
        return Ok(ReviewReport {
            block: false,
            passed: true,
            tdd_plans: 0,
            violations: 0,
            table: String::new(),
            rows: Vec::new(),
            message,
            cure: None,
        });
    }
    let subjects = subjects();
    let rows: Vec<ReviewRow> = plans.into_iter().map(|plan| reviewed(plan, &subjects)).collect();
    let violations = rows.iter().filter(|row| !row.missing.is_empty()).count();
    let table = table(typed, &rows, violations);
    Ok(ReviewReport {
        block: violations > 0,
        passed: true,
        tdd_plans: rows.len(),
        violations,
        message: table.clone(),
        table,
        rows,
        cure: (violations > 0).then_some(
            "commit the failing test as `test({plan}): ...` before the code as `feat({plan}): ...`; name these plans in VERIFICATION.md",
        ),
    })
}

fn reviewed(plan_id: String, subjects: &[String]) -> ReviewRow {
    let has = |kind: &str| {
        let begin = format!("{kind}({plan_id})");
        subjects.iter().any(|subject| {
            subject.strip_prefix(&begin).is_some_and(|rest| rest.starts_with(':') || rest.starts_with("!:"))
        })
    };
    let (red, green, refactor) = (has("test"), has("feat"), has("refactor"));
    let missing: Vec<&str> =
        [(red, "RED"), (green, "GREEN")].into_iter().filter(|(there, _)| !there).map(|(_, name)| name).collect();
    let status = if missing.is_empty() { "Pass" } else { "FAIL" };
    ReviewRow { plan_id, red, green, refactor, status, missing }
}

fn table(typed: &str, rows: &[ReviewRow], violations: usize) -> String {
    let mut lines = vec![
        format!("### TDD REVIEW — Phase {typed}"),
        String::new(),
        format!("TDD Plans: {} | Gate violations: {violations}", rows.len()),
        String::new(),
        "| Plan | RED | GREEN | REFACTOR | Status |".to_owned(),
        "|------|-----|-------|----------|--------|".to_owned(),
    ];
    let mark = |there: bool, none: &'static str| if there { "✓" } else { none };
    for row in rows {
        lines.push(format!(
            "| {} |  {}  |   {}   |    {}     | {:<6} |",
            row.plan_id,
            mark(row.red, "✗"),
            mark(row.green, "✗"),
            mark(row.refactor, "—"),
            row.status
        ));
    }
    if violations > 0 {
        lines.push(String::new());
    }
    for row in rows.iter().filter(|row| !row.missing.is_empty()) {
        let id = &row.plan_id;
        let missing = row.missing.join(", ");
        lines.push(format!("{id} lacks {missing}: commits `test({id}): …`, then `feat({id}): …`"));
    }
    lines.join("\n")
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

    #[test]
    fn a_plan_with_tests_first_is_checked_by_its_commits() {
        let files = [
            (".planning/phases/02-a/02-01-PLAN.md", "---\ntype: tdd\n---\n"),
            (".planning/phases/02-a/02-02-PLAN.md", "---\ntype: execute\n---\n"),
            (".planning/phases/02-a/02-03-PLAN.md", "---\ntype: tdd\n---\n"),
        ];
        let view = ProjectView::of(files);
        let folder = view.find_phase("2").unwrap().folder;
        let subjects = ["test(02-01): x", "feat(02-01)!: y", "refactor(02-01): z", "feat(02-03): y", "test(02-030): n"];
        let subjects = || subjects.map(str::to_owned).to_vec();
        let report = review(&view, "2", folder.as_ref(), subjects).unwrap();
        assert_eq!((report.tdd_plans, report.violations, report.block), (2, 1, true));
        assert_eq!(report.rows[1].missing, ["RED"]);
        assert!(report.table.contains("| 02-01 |  ✓  |   ✓   |    ✓     | Pass   |"), "{}", report.table);
        assert!(!review(&view, "9", None, Vec::new).unwrap().block);
    }
}
