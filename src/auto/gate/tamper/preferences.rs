//! Preferences of the pipeline: which commands check the work is for a person to say, and no unit changes it.

use serde_json::Value;

use super::Text;
use super::finding::{Finding, Weakening};
use crate::text::front_matter::FrontMatter;

/// The keys that say how work is checked. Of one with `.`, the part of a map.
const KEYS: &[&str] = &[
    "verification_commands",
    "verification_max_retries",
    "verification.require_evidence",
    "verification_auto_fix",
    "uat_dispatch",
    "uat_accept_partial",
    "phases.skip_milestone_validation",
    "phases.skip_verification",
    "gate_evaluation.enabled",
    "mechanical.min_summary_chars",
    "workflow.build_command",
    "workflow.test_command",
    "workflow.verifier",
    "workflow.nyquist_validation",
    "workflow.plan_check",
    "workflow.security_enforcement",
];

/// Changes of how the pipeline checks work.
pub(super) fn changed(text: &Text<'_>) -> Vec<Finding> {
    let read: fn(&str, &str) -> Option<String> = match text.path {
        ".gsd/PREFERENCES.md" | ".gsd/preferences.md" => in_front_matter,
        ".planning/config.json" => in_json,
        _ => return Vec::new(),
    };
    let value = |side: &Option<String>, key: &str| side.as_deref().and_then(|side| read(side, key));
    let mut found = Vec::new();
    for key in KEYS {
        let (then, now) = (value(&text.before, key), value(&text.after, key));
        if then == now {
            continue;
        }
        let what = match now {
            Some(now) => format!("`{key}` says how work is checked, and is `{}` now", now.replace('`', "'")),
            None => format!("`{key}`, which says how work is checked, is gone"),
        };
        let last = key.rsplit('.').next().unwrap_or(key);
        let after = text.after.as_deref().unwrap_or_default();
        let line = after.lines().position(|line| line.contains(last)).map_or(0, |line| line + 1);
        found.push(Finding::new(text.path, line, Weakening::ChangedCommand, what));
    }
    found
}

fn in_front_matter(text: &str, key: &str) -> Option<String> {
    let parts: Vec<&str> = key.split('.').collect();
    FrontMatter::parse(text)?.get_path(&parts).map(|value| value.flat())
}

fn in_json(text: &str, key: &str) -> Option<String> {
    let root: Value = serde_json::from_str(text).ok()?;
    key.split('.').try_fold(&root, |value, part| value.get(part)).map(Value::to_string)
}
