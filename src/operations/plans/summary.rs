//! The parts of a summary: its line, files, technology, patterns, decisions, requirements.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::plan::PhaseSummary;
use crate::text::front_matter::{self, Value};

/// What `summary-extract` answers: all parts, or the requested ones.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExtractReport {
    pub(crate) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) one_liner: Option<OneLiner>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key_files: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tech_added: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) patterns: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decisions: Option<Vec<DecisionReport>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requirements_completed: Option<Value>,
    /// Present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coverage: Option<serde_json::Value>,
}

/// The one-line summary; null if the summary has none.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct OneLiner(Option<String>);

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DecisionReport {
    pub(crate) summary: String,
    pub(crate) rationale: Option<String>,
}

/// The parts of the summary `text`; only those named in `fields`, if given.
pub(crate) fn extract(path: &str, text: &str, fields: Option<&[String]>) -> ExtractReport {
    let summary = PhaseSummary::parse(text);
    let wants = |field: &str| fields.is_none_or(|fields| fields.iter().any(|wanted| wanted == field));
    let value = |key: &str| summary.value(key).unwrap_or_else(nothing);
    let added = || {
        let stack = summary.value("tech-stack")?;
        stack.get("added").cloned()
    };
    let decisions = || {
        let decisions = summary.decisions().into_iter();
        decisions.map(|(summary, rationale)| DecisionReport { summary, rationale }).collect()
    };
    ExtractReport {
        path: path.to_owned(),
        one_liner: wants("one_liner").then(|| OneLiner(summary.one_liner())),
        key_files: wants("key_files").then(|| value("key-files")),
        tech_added: wants("tech_added").then(|| added().unwrap_or_else(nothing)),
        patterns: wants("patterns").then(|| value("patterns-established")),
        decisions: wants("decisions").then(decisions),
        requirements_completed: wants("requirements_completed").then(|| value("requirements-completed")),
        coverage: (fields.is_some() && wants("coverage")).then(|| nested(&summary.quoted("coverage"))),
    }
}

/// A value as JSON: lists and maps are kept, a plain `true` or `false` is a boolean, everything else is text, without
/// surrounding quotes.
fn nested(value: &Value) -> serde_json::Value {
    match value {
        Value::Empty => serde_json::Value::Null,
        Value::Text(text) => match text.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            _ => front_matter::without_quotes(text).into(),
        },
        Value::List(items) => items.iter().map(nested).collect(),
        Value::Map(entries) => entries.iter().map(|(key, value)| (key.clone(), nested(value))).collect(),
    }
}

fn nothing() -> Value {
    Value::List(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "---\ntech-stack:\n  added: x\nkey-decisions:\n  - \"A: b\"\n---\n# S Summary\n\n**Line**\n";

    #[test]
    fn every_part_has_a_value() {
        let told = serde_json::to_value(extract("a.md", TEXT, None)).unwrap();
        assert_eq!(told["one_liner"], "Line");
        assert_eq!(told["tech_added"], "x");
        assert_eq!(told["key_files"].as_array().map(Vec::len), Some(0));
        assert_eq!(told["decisions"][0]["rationale"], "b");
        assert_eq!(told.as_object().unwrap().len(), 7);
        assert!(serde_json::to_value(extract("a.md", "", None)).unwrap()["one_liner"].is_null());
    }

    #[test]
    fn coverage_keeps_its_entries_and_lists() {
        let text = "---\ncoverage:\n  - id: D1\n    description: \"a, b: c\"\n    human_judgment: false\n    verification:\n\
            \x20     - kind: unit\n        ref: t#x\n        status: pass\n  - {id: D2, human_judgment: \"true\"}\n---\n";
        let told = serde_json::to_value(extract("a.md", text, Some(&["coverage".into()]))).unwrap();
        let expected = r#"{"path":"a.md","coverage":[{"id":"D1","description":"a, b: c","human_judgment":false,
            "verification":[{"kind":"unit","ref":"t#x","status":"pass"}]},{"id":"D2","human_judgment":"true"}]}"#;
        assert_eq!(told, serde_json::from_str::<serde_json::Value>(expected).unwrap());
        let none = serde_json::to_value(extract("a.md", TEXT, Some(&["coverage".into()]))).unwrap();
        assert_eq!(none["coverage"].as_array().map(Vec::len), Some(0));
    }

    #[test]
    fn only_the_requested_parts_are_given() {
        let told = serde_json::to_string(&extract("a.md", TEXT, Some(&["patterns".into(), "zzz".into()]))).unwrap();
        assert_eq!(told, r#"{"path":"a.md","patterns":[]}"#);
    }
}
