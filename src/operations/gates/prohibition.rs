//! Checks whether a prohibition in a plan is enforced. Without evidence it never passes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A prohibition, and the check that is claimed to enforce it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ProhibitionRequest {
    #[serde(default)]
    prohibition: Prohibition,
    #[serde(default)]
    check: Enforcement,
}

#[derive(Debug, Default, Deserialize)]
struct Prohibition {
    /// `test`, or `judgment`.
    #[serde(default)]
    verification: Option<String>,
}

/// The check that enforces it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Enforcement {
    /// The kind of check, such as `test` or `lint`.
    #[serde(default)]
    kind: Option<String>,
    /// The file with the check.
    #[serde(default)]
    path: Option<String>,
    /// The check ran and passed.
    #[serde(default)]
    passed: Option<bool>,
    /// What was observed.
    #[serde(default)]
    evidence: Vec<String>,
}

/// What `check prohibition-enforcement` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProhibitionReport {
    status: ProhibitionStatus,
    /// A person has to review it.
    flagged: bool,
    tier: Option<Tier>,
    reason: &'static str,
    /// The file with the check exists.
    located: bool,
    kind: Option<String>,
    evidence: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ProhibitionStatus {
    Enforced,
    Violated,
    Unverified,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tier {
    Test,
    Judgment,
}

/// Judges the request; `is_file` reports whether a file of the project exists.
pub(crate) fn judge(request: ProhibitionRequest, is_file: impl FnOnce(&str) -> bool) -> ProhibitionReport {
    let ProhibitionRequest { prohibition, check } = request;
    let tier = match prohibition.verification.as_deref().map(str::trim) {
        Some("test") => Some(Tier::Test),
        Some("judgment") => Some(Tier::Judgment),
        _ => None,
    };
    let located = check.path.as_deref().is_some_and(is_file);
    let evidence: Vec<String> = check.evidence.into_iter().filter(|line| !line.trim().is_empty()).collect();
    let held = match tier {
        Some(Tier::Test) => located,
        Some(Tier::Judgment) => !evidence.is_empty(),
        None => false,
    };
    let (status, reason) = match (tier, check.passed) {
        (Some(_), Some(false)) => (ProhibitionStatus::Violated, "the check that enforces it ran and failed"),
        (Some(_), Some(true)) if held => {
            (ProhibitionStatus::Enforced, "a check enforces it and was seen to fail when it should")
        }
        (Some(Tier::Test), _) => (ProhibitionStatus::Unverified, "no existing test was seen to enforce it"),
        (Some(Tier::Judgment), _) => (ProhibitionStatus::Unverified, "no result of a check is recorded"),
        (None, _) => (ProhibitionStatus::Unverified, "how it is verified is not described"),
    };
    let flagged = status != ProhibitionStatus::Enforced;
    ProhibitionReport { status, flagged, tier, reason, located, kind: check.kind.filter(|_| located), evidence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prohibition_without_evidence_never_passes() {
        use ProhibitionStatus::{Enforced, Unverified, Violated};
        let told = |text: &str| judge(serde_json::from_str(text).unwrap(), |path| path == "tests/a.rs").status;
        for (text, status) in [
            ("{}", Unverified),
            (r#"{"prohibition": {"verification": "test"}, "check": {}}"#, Unverified),
            (r#"{"prohibition": {"verification": "test"}, "check": {"passed": true}}"#, Unverified),
            (r#"{"prohibition": {"verification": "test"}, "check": {"passed": true, "path": "gone.rs"}}"#, Unverified),
            (r#"{"prohibition": {"verification": "test"}, "check": {"passed": true, "path": "tests/a.rs"}}"#, Enforced),
            (
                r#"{"prohibition": {"verification": "test"}, "check": {"passed": false, "path": "tests/a.rs"}}"#,
                Violated,
            ),
            (
                r#"{"prohibition": {"verification": "judgment"}, "check": {"passed": true, "evidence": [" "]}}"#,
                Unverified,
            ),
            (
                r#"{"prohibition": {"verification": "judgment"}, "check": {"passed": true, "evidence": ["read it"]}}"#,
                Enforced,
            ),
            (r#"{"prohibition": {}, "check": {"passed": true, "path": "tests/a.rs"}}"#, Unverified),
        ] {
            assert_eq!(told(text), status, "{text}");
        }
    }
}
