//! The right answers of every verb for a drawn tree: derived from the truth, not from the look of its documents.

use std::cmp::Ordering;

use serde_json::Value;

use super::model::{Model, Phase, Stage};

/// The truth about the current milestone.
#[derive(Debug)]
pub(crate) struct Truth {
    pub(crate) total: usize,
    /// Closed, or verified.
    pub(crate) complete: usize,
    pub(crate) closed: usize,
    pub(crate) plans: usize,
    pub(crate) summaries: usize,
    /// The open phases, in the order of their numbers.
    pub(crate) open: Vec<String>,
    /// The next phase; `None` if no phase is open.
    pub(crate) current: Option<String>,
    /// STATE.md names a phase.
    is_stated: bool,
    /// There is a roadmap.
    is_listed: bool,
}

impl Truth {
    pub(crate) fn of(model: &Model) -> Self {
        let count = |is: &dyn Fn(&Phase) -> bool| model.phases.iter().filter(|phase| is(phase)).count();
        let here = |of: &dyn Fn(&Phase) -> usize| {
            model.phases.iter().filter(|phase| phase.has_folder && !phase.is_put_away).map(of).sum()
        };
        let mut open: Vec<String> =
            model.phases.iter().filter(|phase| model.is_open(phase)).map(|phase| phase.id.clone()).collect();
        open.sort_by(|left, right| in_order(left, right));
        let stated = model.stated.clone().filter(|stated| open.contains(stated));
        Self {
            total: model.phases.len(),
            complete: count(&|phase| phase.stage >= Stage::Verified),
            closed: count(&|phase| !model.is_open(phase)),
            plans: here(&|phase| phase.plans),
            summaries: here(&Phase::summaries),
            current: stated.or_else(|| open.first().cloned()),
            open,
            is_stated: model.stated.is_some(),
            is_listed: model.has_roadmap,
        }
    }
}

fn in_order(left: &str, right: &str) -> Ordering {
    let parts = |id: &str| id.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u64>>();
    parts(left).cmp(&parts(right))
}

/// The answers of verbs, by their call.
pub(crate) struct Answers(pub(crate) Vec<(&'static str, Value)>);

impl Answers {
    pub(crate) fn of(&self, call: &str) -> &Value {
        &self.0.iter().find(|(known, _)| *known == call).unwrap_or_else(|| panic!("{call} was not asked")).1
    }

    fn number(&self, call: &str, pointer: &str) -> Option<usize> {
        self.of(call).pointer(pointer)?.as_u64().and_then(|number| usize::try_from(number).ok())
    }

    fn phase(&self, call: &str, pointer: &str) -> Option<String> {
        let found = self.of(call).pointer(pointer)?;
        found.as_str().map(|id| id.trim_start_matches('0').to_owned()).filter(|id| !id.is_empty())
    }

    pub(crate) fn page(&self, call: &str) -> &str {
        self.of(call).as_str().unwrap_or_default()
    }
}

/// The wrong answers about a tree whose documents are complete.
pub(crate) fn disagreements(truth: &Truth, answers: &Answers) -> Vec<String> {
    let mut wrong = Vec::new();
    for (call, pointer, right) in [
        ("stats json", "/phases_total", truth.total),
        ("stats json", "/phases_completed", truth.complete),
        ("stats json", "/total_plans", truth.plans),
        ("roadmap analyze", "/phase_count", truth.total),
        ("roadmap analyze", "/completed_phases", truth.complete),
        ("roadmap analyze", "/total_plans", truth.plans),
        ("roadmap analyze", "/total_summaries", truth.summaries),
        ("state json", "/progress/total_phases", truth.total),
        ("state json", "/progress/completed_phases", truth.complete),
        ("init progress", "/phase_count", truth.total),
        ("init progress", "/completed_count", truth.complete),
        ("init manager", "/phase_count", truth.total),
        ("init manager", "/completed_count", truth.complete),
        ("smart-entry --json", "/signals/roadmap_total_phases", truth.total),
        ("smart-entry --json", "/signals/roadmap_completed_phases", truth.closed),
        ("auto status --json", "/progress/slices/0", truth.closed),
        ("auto status --json", "/progress/slices/1", truth.total),
    ] {
        let said = answers.number(call, pointer);
        // Without a progress table, smart-entry gives no figures; without a roadmap, others give none.
        if said != Some(right) && (said.is_some() || (call != "smart-entry --json" && truth.is_listed)) {
            wrong.push(format!("{call} {pointer}: {said:?}, not {right}"));
        }
    }
    for (call, pointer) in [
        ("state json", "/current_phase"),
        ("init progress", "/current_phase/roadmap_number"),
        ("roadmap analyze", "/current_phase"),
        ("smart-entry --json", "/signals/current_phase"),
        ("auto status --json", "/active/slice"),
    ] {
        let said = answers.phase(call, pointer);
        if truth.current.is_some() && said != truth.current && (said.is_some() || truth.is_stated && truth.is_listed) {
            wrong.push(format!("{call} {pointer}: {said:?}, not {:?}", truth.current));
        }
    }
    let counted = format!("{}/{} phases", truth.closed, truth.total);
    if truth.total > 1 && !answers.page("dashboard").contains(&counted) {
        wrong.push(format!("dashboard: no {counted:?}"));
    }
    wrong
}

/// The answers that report the milestone as complete. Counts treat a verified phase as complete; a next step closes it
/// first.
pub(crate) fn calls_complete(truth: &Truth, answers: &Answers) -> Vec<String> {
    let percent = |call: &str, pointer: &str| answers.number(call, pointer) == Some(100);
    let progress = answers.of("init progress");
    let figures = [
        ("progress json", percent("progress json", "/percent")),
        ("stats json", percent("stats json", "/percent")),
        ("roadmap analyze", percent("roadmap analyze", "/progress_percent")),
        ("state json", percent("state json", "/progress/percent")),
        ("init manager", answers.of("init manager")["all_complete"] == true),
        ("init progress", progress["completed_count"] == progress["phase_count"] && progress["problems"].is_null()),
    ];
    let steps = ["dashboard", "smart-entry", "status line", "session start"].map(|call| {
        let page = answers.page(call);
        (call, page.contains("complete-milestone") || page.contains("new-milestone") || page.contains("re complete"))
    });
    let auto = ("auto status --json", answers.of("auto status --json")["phase"] == "complete");
    let is_complete = truth.complete == truth.total;
    let is_closed = truth.open.is_empty();
    let figures = figures.into_iter().filter(|_| !is_complete);
    let said = figures.chain(steps.into_iter().chain([auto]).filter(|_| !is_closed));
    said.filter(|(_, is)| *is).map(|(call, _)| format!("{call}: complete")).collect()
}
