//! The ledger of broken windows: small known defects that are not fixed yet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::project::view::ProjectView;
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;

/// The schema version of the ledger.
const SCHEMA: u32 = 1;

/// The state of a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WindowStatus {
    Open,
    /// Accepted as it is, for a reason.
    Waived,
    Fixed,
}

/// One defect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Window {
    id: u64,
    kind: String,
    phase: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    line: Option<u64>,
    description: String,
    status: WindowStatus,
    /// Why it was waived.
    #[serde(default)]
    reason: String,
    recorded_at: String,
    #[serde(default)]
    resolved_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    milestone: Option<String>,
}

/// What `windows status` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct WindowsReport {
    ok: bool,
    ledger: WindowLedger,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct WindowLedger {
    schema_version: u32,
    open_count: usize,
    waived_count: usize,
    fixed_count: usize,
    total_count: usize,
    /// For a project without a ledger, the current time.
    last_updated: String,
    entries: Vec<Window>,
}

/// The ledger of the project; an empty one if it has none. `now` is the time of the call.
pub(crate) fn status(view: &ProjectView, now: &str) -> Result<WindowsReport, Failure> {
    let path = view.layout().windows();
    let (entries, last_updated) = match view.text(&path)? {
        Some(text) => read(&path, &text)?,
        None => (Vec::new(), None),
    };
    let count = |status| entries.iter().filter(|window| window.status == status).count();
    let ledger = WindowLedger {
        schema_version: SCHEMA,
        open_count: count(WindowStatus::Open),
        waived_count: count(WindowStatus::Waived),
        fixed_count: count(WindowStatus::Fixed),
        total_count: entries.len(),
        last_updated: last_updated.unwrap_or_else(|| now.to_owned()),
        entries,
    };
    Ok(WindowsReport { ok: true, ledger })
}

/// The entries of the ledger. Only they count: the front matter and the table repeat them for people.
fn read(path: &str, text: &str) -> Result<(Vec<Window>, Option<String>), Failure> {
    let unreadable = |why: &str| {
        Failure::unknown(format!("`{path}` {why}"))
            .hint("correct that line, or take the file from git: `git log -- .planning/WINDOWS.md`")
    };
    let markdown = Markdown::parse(text);
    let front = FrontMatter::of(&markdown).ok_or_else(|| unreadable("has no front matter"))?;
    let mut lines = text.lines().enumerate();
    let fence = lines.find_map(|(number, line)| {
        let ticks = line.len() - line.trim_start_matches('`').len();
        (ticks >= 3 && line.get(ticks..).is_some_and(|rest| rest.trim() == "json")).then_some((number, ticks))
    });
    let (opening, ticks) = fence.ok_or_else(|| unreadable("has no list of entries in a fence of JSON"))?;
    let is_end = |line: &str| line.len() >= ticks && line.trim_end().bytes().all(|letter| letter == b'`');
    let body: Vec<&str> = lines.map(|(_, line)| line).take_while(|line| !is_end(line)).collect();
    let entries = serde_json::from_str(&body.join("\n"))
        .map_err(|error| unreadable(&format!("line {}: {error}", opening + 1 + error.line())))?;
    Ok((entries, front.text("last_updated")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-02T03:04:05.000Z";

    fn ledger(entries: &str) -> String {
        format!("---\nopen_count: 9\nlast_updated: 2026-01-01\n---\n\n# Ledger\n\n````json\n{entries}\n````\n")
    }

    fn seen(text: &str) -> Result<WindowsReport, Failure> {
        status(&ProjectView::of([(".planning/WINDOWS.md", text)]), NOW)
    }

    #[test]
    fn entries_are_counted_by_their_status() {
        let entry = |id: u32, status: &str| {
            format!(
                r#"{{"id": {id}, "kind": "stub", "phase": "1", "file": "a.ts", "line": 3, "description": "```x",
                "status": "{status}", "reason": "", "recorded_at": "2026-01-01", "resolved_at": null}}"#
            )
        };
        let text = ledger(&format!("[{}, {}, {}]", entry(1, "open"), entry(2, "waived"), entry(3, "open")));
        let ledger = seen(&text).unwrap().ledger;
        assert_eq!((ledger.open_count, ledger.waived_count, ledger.fixed_count, ledger.total_count), (2, 1, 0, 3));
        assert_eq!((ledger.last_updated.as_str(), ledger.entries[1].line), ("2026-01-01", Some(3)));
    }

    #[test]
    fn a_project_without_a_ledger_has_an_empty_one() {
        let report = status(&ProjectView::of([]), NOW).unwrap();
        assert_eq!((report.ledger.total_count, report.ledger.last_updated.as_str()), (0, NOW));
    }

    #[test]
    fn a_ledger_that_cannot_be_read_is_an_error() {
        assert!(seen("# x\n").unwrap_err().message.ends_with("has no front matter"));
        assert!(seen("---\na: 1\n---\n").unwrap_err().message.contains("has no list of entries"));
        for wrong in ["[{\"id\": 1}]", "[", "[{\"id\": 1, \"status\": \"lost\"}]"] {
            let error = seen(&ledger(wrong)).unwrap_err();
            assert!(error.message.contains(" line 9: ") && !error.hints.is_empty(), "{wrong}: {error:?}");
        }
    }
}
