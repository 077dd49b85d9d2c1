//! WAITING.json: it shows other programs that a session in a host waits for an answer.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::operations::state::Facts;
use crate::project::view::{Edited, Edits, ProjectView};

/// What a session waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signal<'a> {
    pub(crate) kind: Option<&'a str>,
    pub(crate) question: Option<&'a str>,
    /// The possible answers, separated by `|`.
    pub(crate) options: Option<&'a str>,
    pub(crate) phase: Option<&'a str>,
}

/// The file's content.
#[derive(Debug, Serialize, JsonSchema)]
struct Waiting<'a> {
    status: &'static str,
    #[serde(rename = "type")]
    kind: &'a str,
    question: Option<&'a str>,
    options: Vec<&'a str>,
    since: &'a str,
    phase: Option<&'a str>,
}

/// What `state signal-waiting` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WaitingReport {
    pub(crate) signaled: bool,
    pub(crate) path: String,
}

/// Records that the work waits. It replaces an earlier signal: only one question is open at a time.
pub(crate) fn wait(view: &ProjectView, signal: Signal<'_>, facts: &Facts) -> Edited<WaitingReport, Failure> {
    let waiting = Waiting {
        status: "waiting",
        kind: signal.kind.unwrap_or("decision_point"),
        question: signal.question,
        options: signal.options.map(|options| options.split('|').map(str::trim).collect()).unwrap_or_default(),
        since: &facts.now,
        phase: signal.phase,
    };
    let path = view.layout().waiting();
    let mut edits = Edits::default();
    if let Ok(text) = serde_json::to_string_pretty(&waiting) {
        edits.write(view, &path, text + "\n")?;
    }
    Ok((WaitingReport { signaled: true, path: view.layout().shown(&path) }, edits))
}

/// What `state signal-resume` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResumeReport {
    pub(crate) resumed: bool,
    /// True if there was a signal.
    pub(crate) removed: bool,
}

/// Removes the signal.
pub(crate) fn resume(view: &ProjectView) -> (ResumeReport, Edits) {
    let path = view.layout().waiting();
    let removed = view.exists(&path);
    let removals = if removed { vec![path] } else { Vec::new() };
    (ResumeReport { resumed: true, removed }, Edits { removals, ..Edits::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;
    use crate::project::layout::Layout;

    #[test]
    fn a_signal_is_written_for_the_workstream_and_removed_again() {
        let layout = Layout::new("/p", None, Some("api"));
        let view = ProjectView::new(layout, Box::new(MemoryFiles::default()));
        let facts = Facts { now: "2026-01-02T03:04:05.678Z".into(), ..Facts::default() };
        let signal = Signal { options: Some("A | B"), question: Some("Which?"), ..Signal::default() };
        let (report, edits) = wait(&view, signal, &facts).unwrap();
        assert_eq!(report.path, "/p/.planning/workstreams/api/WAITING.json");
        let text = &edits.texts[".planning/workstreams/api/WAITING.json"];
        assert_eq!(
            text.replace(['\n', ' '], ""),
            r#"{"status":"waiting","type":"decision_point","question":"Which?","options":["A","B"],"since":"2026-01-02T03:04:05.678Z","phase":null}"#
        );
        assert!(!resume(&view).0.removed && resume(&view).1.is_empty());
        let (report, edits) = resume(&view.after(&edits));
        assert!(report.removed);
        assert_eq!(edits.removals, [".planning/workstreams/api/WAITING.json"]);
    }
}
