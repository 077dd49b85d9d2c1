//! `T01-VERIFY.json`: the checks after a task, and their results.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The verdict of a check that succeeded.
pub(crate) const PASS: &str = "pass";

/// The field that is set if a person decided against the checks.
pub(crate) const OVERRIDE: &str = "override";

/// The results of the gate after a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskEvidence {
    #[serde(default)]
    pub(crate) schema_version: u64,
    #[serde(default)]
    pub(crate) task_id: String,
    #[serde(default)]
    pub(crate) unit_id: String,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub(crate) timestamp: i64,
    #[serde(default)]
    pub(crate) passed: bool,
    /// The source of the checks: `preference`, `task-plan`, ..., `none`.
    #[serde(default)]
    pub(crate) discovery_source: String,
    #[serde(default)]
    pub(crate) checks: Vec<CheckRecord>,
    /// The git tree that the checks ran on: they count for that tree only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<String>,
    /// Why there is nothing to check, if that was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) no_checks_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_attempt: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_retries: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) runtime_errors: Vec<RuntimeError>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) audit_warnings: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) pre_execution_checks: Vec<PlanCheck>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) post_execution_checks: Vec<PlanCheck>,
    /// Fields that other programs wrote.
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// A command that was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckRecord {
    #[serde(default)]
    pub(crate) command: String,
    /// `None` if it did not exit on its own.
    #[serde(default)]
    pub(crate) exit_code: Option<i64>,
    #[serde(default)]
    pub(crate) duration_ms: u64,
    #[serde(default)]
    pub(crate) verdict: String,
    /// The SHA-256 of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output_digest: Option<String>,
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// An error while the program ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuntimeError {
    #[serde(default)]
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) severity: String,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) blocking: bool,
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// A fact about a plan that was looked up before or after its execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanCheck {
    /// `package`, `file`, `tool`, `endpoint`, `schema`; `import`, `signature`, `pattern`.
    #[serde(default)]
    pub(crate) category: String,
    #[serde(default)]
    pub(crate) target: String,
    #[serde(default)]
    pub(crate) passed: bool,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blocking: Option<bool>,
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

impl CheckRecord {
    /// Whether it succeeded: the verdict is not enough, the exit code must be 0 too.
    pub(crate) fn is_pass(&self) -> bool {
        self.verdict.eq_ignore_ascii_case(PASS) && self.exit_code == Some(0)
    }
}

impl TaskEvidence {
    /// Why it does not pass, one reason per line; empty if it does.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = Vec::new();
        for check in self.checks.iter().filter(|check| !check.is_pass()) {
            let code = check.exit_code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
            faults.push(format!("`{}`: {code}", check.command));
        }
        for error in self.runtime_errors.iter().filter(|error| error.blocking) {
            faults.push(format!("{} {}: {}", error.source, error.severity, error.message));
        }
        let planned = self.pre_execution_checks.iter().chain(&self.post_execution_checks);
        for check in planned.filter(|check| !check.passed && check.blocking == Some(true)) {
            faults.push(format!("{} `{}`: {}", check.category, check.target, check.message));
        }
        if faults.is_empty() && !self.passed {
            faults.push("the record says `passed: false`".to_owned());
        }
        faults
    }

    pub(crate) fn is_pass(&self) -> bool {
        self.faults().is_empty()
    }

    /// Why a person decided that the task is done in spite of its checks, if a person did.
    pub(crate) fn decision(&self) -> Option<&str> {
        let decision = self.others.get(OVERRIDE)?;
        let reason = decision.as_str().or_else(|| decision.get("rationale")?.as_str());
        Some(reason.unwrap_or("no reason given"))
    }

    /// Whether no check was run.
    pub(crate) fn has_no_checks(&self) -> bool {
        self.checks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::project::milestone_layout::record::{read, render};

    const TEXT: &str = "\u{feff}{\"schemaVersion\":1,\"taskId\":\"T01\",\"unitId\":\"M001/S02/T01\",\"timestamp\":1790000000000,\"passed\":true,\
        \"discoverySource\":\"task-plan\",\"checks\":[{\"command\":\"cargo test index\",\"exitCode\":0,\"durationMs\":8123,\"verdict\":\"pass\",\
        \"tool\":\"x\"}],\"retryAttempt\":1,\"maxRetries\":2,\"runtimeErrors\":[{\"source\":\"bg-shell\",\"severity\":\"crash\",\"message\":\"m\",\
        \"blocking\":true}],\"browser\":{\"a\":[1]}}";

    #[test]
    fn fields_of_other_programs_are_kept() {
        let evidence: TaskEvidence = read("x", TEXT).unwrap();
        assert_eq!((evidence.timestamp, evidence.checks.len()), (1_790_000_000_000, 1));
        let again = render(&evidence);
        assert!(
            again.contains("\"browser\"") && again.contains("\"tool\": \"x\"") && !again.contains("\"tree\""),
            "{again}"
        );
        assert_eq!(read::<TaskEvidence>("x", &again), Ok(evidence));
    }

    #[test]
    fn a_blocking_error_fails_even_if_every_check_passes() {
        let evidence: TaskEvidence = read("x", TEXT).unwrap();
        assert_eq!(evidence.faults(), ["bg-shell crash: m"]);
        let quiet = TaskEvidence { runtime_errors: Vec::new(), ..evidence };
        assert!(quiet.is_pass());
        let denied = TaskEvidence { passed: false, ..quiet.clone() };
        assert!(!denied.is_pass());
        let mut failed = quiet;
        failed.checks[0].exit_code = Some(101);
        assert_eq!(failed.faults(), ["`cargo test index`: exit code 101"]);
    }

    #[test]
    fn a_corrupt_record_is_an_error_with_its_line() {
        let error = read::<TaskEvidence>("a/T01-VERIFY.json", "{\n  \"passed\": tru\n}").unwrap_err();
        assert_eq!((error.line, error.path.as_str()), (2, "a/T01-VERIFY.json"));
        assert!(error.to_string().starts_with("`a/T01-VERIFY.json` line 2: "), "{error}");
        assert!(error.hint().contains("`git checkout -- a/T01-VERIFY.json`"));
        for text in ["", "[]", "{\"checks\": 1}", "{\"passed\": \"yes\"}", "{"] {
            assert!(read::<TaskEvidence>("x", text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[{}\\[\\]\":,a-z0-9\n]{0,40}") {
            let _ = read::<TaskEvidence>("x", &text);
        }
    }
}
