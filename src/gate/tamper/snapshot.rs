//! Recorded answers and data of tests: entries may be added; existing ones are what the tests expect.

use serde_json::Value;

use super::Text;
use super::finding::{Finding, Weakening};
use super::lexer::Language;
use super::lines;
use crate::project::check_files::{Role, role_of};

pub(super) fn changed(text: &Text<'_>, all: &[Text<'_>]) -> Vec<Finding> {
    let is_data = match role_of(text.path) {
        Some(Role::Snapshot) => true,
        Some(Role::Test) => Language::of(text.path).is_none() && !is_described(text.path),
        _ => false,
    };
    if is_data { of_data(text, all) } else { Vec::new() }
}

/// Entries of a data file that are gone or changed.
pub(super) fn of_data(text: &Text<'_>, all: &[Text<'_>]) -> Vec<Finding> {
    let Some(before) = text.before.as_deref().filter(|before| !before.trim().is_empty()) else { return Vec::new() };
    let Some(after) = text.after.as_deref() else {
        // A moved file exists under another name.
        let has_moved = all.iter().any(|other| other.before.is_none() && other.after.as_deref() == Some(before));
        let what = "recorded answers or data of a test are gone";
        return if has_moved { Vec::new() } else { vec![Finding::new(text.path, 0, Weakening::DeletedTests, what)] };
    };
    let (added, gone) = lines::differing(before, after);
    if gone == 0 || text.path.to_lowercase().ends_with(".json") && only_grew(before, after) {
        return Vec::new();
    }
    let lines = before.lines().filter(|line| !line.trim().is_empty()).count();
    let line = added.first().copied().unwrap_or_default();
    let how = if gone * 2 > lines { "rewritten as a whole: " } else { "" };
    let what = format!("{how}{gone} of {lines} recorded lines are other ones now");
    vec![text.finding(line, Weakening::ChangedSnapshot, what)]
}

/// True if a JSON object has everything it had, and perhaps more.
fn only_grew(before: &str, after: &str) -> bool {
    fn has(then: &Value, now: &Value) -> bool {
        match (then, now) {
            (Value::Object(then), Value::Object(now)) => {
                then.iter().all(|(key, value)| now.get(key).is_some_and(|other| has(value, other)))
            }
            (then, now) => then == now,
        }
    }
    let read = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    matches!((read(before), read(after)), (Some(then), Some(now)) if has(&then, &now))
}

/// True if a file among the tests is only there for people.
fn is_described(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("README"))
}
