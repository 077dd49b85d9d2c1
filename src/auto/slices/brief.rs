//! The input for the prompt of a unit: reads every document that could be useful to it. The prompt code decides how
//! each is used.

use super::places;
use super::snapshot::Snapshot;
use crate::auto::engine::Earlier;
use crate::auto::preferences::Preferences;
use crate::auto::prompt::input::{DocumentKind, PromptInput, UnitFolders};
use crate::auto::unit::{Unit, UnitKind};
use crate::auto::unit_hooks;
use crate::project::files::{FileError, Files};
use crate::project::milestone_layout::captures::{self, Capture};
use crate::project::milestone_layout::escalation::Escalation;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::unit_hooks::HookAction;
use crate::project::milestone_layout::{lookup, summary::Summary};

/// What a unit needs to know in addition to the documents.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around<'a> {
    /// The working directory of the session.
    pub(crate) folder: &'a str,
    /// The path and the text of a brief.
    pub(crate) brief: Option<(&'a str, &'a str)>,
    pub(crate) earlier: Earlier<'a>,
}

/// The documents in the planning folder itself.
const ROOT: &[(DocumentKind, &str)] = &[
    (DocumentKind::Project, "PROJECT.md"),
    (DocumentKind::Requirements, "REQUIREMENTS.md"),
    (DocumentKind::Decisions, "DECISIONS.md"),
    (DocumentKind::Knowledge, "KNOWLEDGE.md"),
    (DocumentKind::Runtime, "RUNTIME.md"),
];

const OF_MILESTONE: &[(DocumentKind, &str)] = &[
    (DocumentKind::Context, "CONTEXT"),
    (DocumentKind::ContextDraft, "CONTEXT-DRAFT"),
    (DocumentKind::MilestoneResearch, "RESEARCH"),
    (DocumentKind::Roadmap, "ROADMAP"),
    (DocumentKind::Validation, "VALIDATION"),
];

const OF_SLICE: &[(DocumentKind, &str)] = &[
    (DocumentKind::SliceContext, "CONTEXT"),
    (DocumentKind::SliceResearch, "RESEARCH"),
    (DocumentKind::SlicePlan, "PLAN"),
    (DocumentKind::Uat, "UAT"),
    (DocumentKind::UatResult, "UAT-RESULT"),
    (DocumentKind::ReplanTrigger, "REPLAN-TRIGGER"),
    (DocumentKind::Continue, "CONTINUE"),
];

/// Returns the input for the prompt of `unit`.
pub(crate) fn input(
    files: &dyn Files,
    snapshot: &Snapshot,
    unit: &Unit,
    preferences: &Preferences,
    around: Around<'_>,
) -> Result<PromptInput, FileError> {
    let (milestone, slice, task) = unit.parts();
    let milestone_folder = places::milestone(files, milestone)?;
    let slice_folder = slice.map(|slice| places::slice(files, milestone, slice)).transpose()?;
    let place = UnitFolders::Milestone {
        root: lookup::FOLDER.to_owned(),
        milestone: milestone_folder.clone(),
        slice: slice_folder.clone(),
    };
    let mut input = PromptInput::new(unit.kind, &unit.id, &title(snapshot, unit), around.folder, place);
    input.level = preferences.inlining;
    input.plans_first_slice = preferences.plans_first_slice;
    let Earlier { failure, kept, interrupted } = around.earlier;
    input.failure = failure.map(str::to_owned);
    input.kept = kept.map(str::to_owned);
    input.crash = interrupted.map(str::to_owned);
    input.row = slice.and_then(|slice| Some(snapshot.slice(milestone, slice)?.row.clone()));
    if let Some((path, text)) = around.brief {
        input = input.with(DocumentKind::Brief, path, text);
    }
    for (kind, name) in ROOT {
        input = with(input, *kind, places::root_document(files, name)?);
    }
    if snapshot.has_active_override {
        input = with(input, DocumentKind::Overrides, places::root_document(files, "OVERRIDES.md")?);
    }
    input = captured(hook(input, unit, preferences), files, snapshot, unit)?;
    for (kind, name) in OF_MILESTONE {
        input = with(input, *kind, places::document(files, &milestone_folder, milestone, name)?);
    }
    input = earlier_milestone(input, files, snapshot, milestone)?;
    input = slice_summaries(input, files, snapshot, unit)?;
    if let (Some(slice), Some(folder)) = (slice, &slice_folder) {
        for (kind, name) in OF_SLICE {
            input = with(input, *kind, places::document(files, folder, slice, name)?);
        }
        input = tasks(input, files, snapshot, unit, folder, task)?;
    }
    if unit.kind == UnitKind::ExecuteTask {
        input.notes.extend(verify(&input, task, preferences).map(|commands| ("Verify".to_owned(), commands)));
    }
    Ok(input)
}

fn with(input: PromptInput, kind: DocumentKind, found: Option<(String, String)>) -> PromptInput {
    match found {
        Some((path, text)) => input.with(kind, &path, &text),
        None => input,
    }
}

/// Adds the captures that the unit is about, or that were put off.
fn captured(
    mut input: PromptInput,
    files: &dyn Files,
    snapshot: &Snapshot,
    unit: &Unit,
) -> Result<PromptInput, FileError> {
    let (_, _, task) = unit.parts();
    if matches!(unit.kind, UnitKind::TriageCaptures | UnitKind::QuickTask) {
        let all = || snapshot.captures.iter();
        let mut wanted: Vec<&Capture> = match task {
            Some(task) => all().filter(|capture| task.eq_ignore_ascii_case(&capture.id)).collect(),
            None => all().filter(|capture| capture.needs_triage()).collect(),
        };
        if wanted.is_empty() {
            // An interrupted session has classified all of them.
            wanted = all().filter(|capture| !capture.is_resolved()).collect();
        }
        let gone = || (format!("{}/{}", lookup::FOLDER, captures::FILE), String::new());
        let (path, text) = places::root_document(files, captures::FILE)?.unwrap_or_else(gone);
        let blocks = wanted.iter().filter_map(|capture| captures::block(&text, &capture.id)).map(str::trim_end);
        input = input.with(DocumentKind::Captures, &path, &(blocks.collect::<Vec<_>>().join("\n\n") + "\n"));
    }
    Ok(deferred(input, snapshot, unit))
}

/// Adds the instruction of a hook, and where it leaves its result.
fn hook(mut input: PromptInput, unit: &Unit, preferences: &Preferences) -> PromptInput {
    let Some(hook) = unit_hooks::of_session(preferences, unit) else { return input };
    if let HookAction::Prompt(text) = &hook.action {
        let path = hook.source.file();
        input =
            input.with(DocumentKind::HookText, path, &(unit_hooks::filled(text, unit).trim_end().to_owned() + "\n"));
    }
    let artifact = hook.artifact.as_ref().map(|path| ("Artifact".to_owned(), unit_hooks::filled(path, unit)));
    input.notes.extend(artifact);
    input
}

/// Adds the captures that were put off, for those who plan.
fn deferred(mut input: PromptInput, snapshot: &Snapshot, unit: &Unit) -> PromptInput {
    if matches!(unit.kind, UnitKind::PlanSlice | UnitKind::ReassessRoadmap) {
        let deferred = super::captures::deferred(snapshot, unit.parts().0);
        let name = "Put off by the user until a slice fits it";
        input.notes.extend(deferred.into_iter().map(|line| (name.to_owned(), line)));
    }
    input
}

fn title(snapshot: &Snapshot, unit: &Unit) -> String {
    let (milestone, slice, task) = unit.parts();
    let found = match (slice, task) {
        (Some(slice), Some(task)) => {
            snapshot.task(milestone, slice, task).map(|task| task.title.clone()).or_else(|| {
                let captured = snapshot.captures.iter().find(|capture| capture.id.eq_ignore_ascii_case(task));
                captured.map(|capture| capture.text.clone())
            })
        }
        (Some(slice), None) => snapshot.slice(milestone, slice).map(|slice| slice.title.clone()),
        _ => snapshot.milestone(milestone).map(|milestone| milestone.title.clone()),
    };
    found.unwrap_or_else(|| unit.id.clone())
}

/// Adds the summary of the last milestone that was completed before this one.
fn earlier_milestone(
    input: PromptInput,
    files: &dyn Files,
    snapshot: &Snapshot,
    milestone: &str,
) -> Result<PromptInput, FileError> {
    let before = snapshot.milestones.iter().take_while(|found| !found.id.eq_ignore_ascii_case(milestone));
    let Some(last) = before.filter(|found| found.summary.is_some()).last() else { return Ok(input) };
    let folder = places::milestone(files, &last.id)?;
    Ok(with(input, DocumentKind::MilestoneSummary, places::document(files, &folder, &last.id, "SUMMARY")?))
}

/// Adds the summaries of the slices that this one depends on; for units that close the milestone, of all slices.
fn slice_summaries(
    mut input: PromptInput,
    files: &dyn Files,
    snapshot: &Snapshot,
    unit: &Unit,
) -> Result<PromptInput, FileError> {
    let (milestone, slice, _) = unit.parts();
    let rows = snapshot.milestone(milestone).and_then(|found| found.roadmap.as_deref()).unwrap_or_default();
    let own = slice.and_then(|slice| rows.iter().find(|row| row.id.eq_ignore_ascii_case(slice)));
    let is_own = matches!(unit.kind, UnitKind::RunUat | UnitKind::ReassessRoadmap);
    let wanted = |row: &&super::snapshot::Slice| match own {
        Some(own) if is_own => row.id == own.id,
        Some(own) => own.depends.iter().any(|id| id.eq_ignore_ascii_case(&row.id)),
        None => true,
    };
    for row in rows.iter().filter(|row| row.has_summary).filter(wanted) {
        let folder = places::slice(files, milestone, &row.id)?;
        input = with(input, DocumentKind::SliceSummary, places::document(files, &folder, &row.id, "SUMMARY")?);
    }
    Ok(input)
}

/// Returns a person's answer to the question of the task, or what applies until there is an answer.
fn answer(files: &dyn Files, folder: &str, task: &str) -> Result<Option<(String, String)>, FileError> {
    let entries = files.list(folder)?.unwrap_or_default();
    let Some(name) = lookup::record(&entries, task, "ESCALATION") else { return Ok(None) };
    let text = files.read(&format!("{folder}/{name}"))?.unwrap_or_default();
    let Ok(asked) = serde_json::from_str::<Escalation>(&text) else { return Ok(None) };
    let (choice, name) = match &asked.user_choice {
        Some(choice) => (choice, "Answer to your question"),
        None if asked.continue_with_default => (&asked.recommendation, "Until your question is answered"),
        None => return Ok(None),
    };
    let option = asked.options.iter().find(|option| option.id == *choice);
    let label = option.map(|option| format!(": {}", option.label)).unwrap_or_default();
    let why = asked.user_rationale.as_deref().filter(|_| asked.user_choice.is_some());
    let why = why.map(|why| format!(", because: {why}")).unwrap_or_default();
    Ok(Some((name.to_owned(), format!("{} \u{2192} {choice}{label}{why}", asked.question))))
}

/// Returns the commands that check the task.
fn verify(input: &PromptInput, task: Option<&str>, preferences: &Preferences) -> Option<String> {
    if !preferences.verification_commands.is_empty() {
        return Some(preferences.verification_commands.join(" && "));
    }
    let plan = SlicePlan::parse(&input.first(DocumentKind::SlicePlan)?.text);
    plan.task(task?)?.verify.clone()
}

/// Adds the plan of the task, and the summaries of earlier tasks of the slice.
fn tasks(
    mut input: PromptInput,
    files: &dyn Files,
    snapshot: &Snapshot,
    unit: &Unit,
    folder: &str,
    task: Option<&str>,
) -> Result<PromptInput, FileError> {
    let (milestone, slice, _) = unit.parts();
    let tasks_folder = format!("{folder}/tasks");
    let detail = snapshot.detail(milestone, slice.unwrap_or_default());
    let tasks = detail.and_then(|detail| detail.tasks.as_deref()).unwrap_or_default();
    for row in tasks {
        if task.is_some_and(|task| task.eq_ignore_ascii_case(&row.id)) {
            break;
        }
        if let Some((path, text)) = places::document(files, &tasks_folder, &row.id, "SUMMARY")? {
            let is_blocker = Summary::parse(&text).blocker_discovered;
            let kind = if is_blocker { DocumentKind::Blocker } else { DocumentKind::TaskSummary };
            input = input.with(kind, &path, &text);
        }
    }
    if let Some(task) = task {
        if let Some(at) = tasks.iter().position(|row| task.eq_ignore_ascii_case(&row.id)) {
            let last = if at + 1 == tasks.len() { ", the last" } else { "" };
            input.notes.push(("Task".to_owned(), format!("{} of {} of its slice{last}", at + 1, tasks.len())));
        }
        input = with(input, DocumentKind::TaskPlan, places::document(files, &tasks_folder, task, "PLAN")?);
        input.notes.extend(answer(files, &tasks_folder, task)?);
    }
    Ok(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    #[test]
    fn an_answered_question_is_shown_with_its_choice_and_an_open_one_with_its_default() {
        let record = |more: &str| {
            format!(
                r#"{{"question": "Which store?", "options": [{{"id": "a", "label": "a file"}}, {{"id": "b", "label": "SQLite"}}],
                "recommendation": "a", {more}}}"#
            )
        };
        let told = |more: &str| {
            let text = record(more);
            answer(&MemoryFiles::new([("t/T01-ESCALATION.json", text.as_str())]), "t", "T01").unwrap()
        };
        let pair = |name: &str, text: &str| Some((name.to_owned(), text.to_owned()));
        let answered = told(r#""userChoice": "b", "userRationale": "we have it""#);
        assert_eq!(answered, pair("Answer to your question", "Which store? \u{2192} b: SQLite, because: we have it"));
        let default = told(r#""continueWithDefault": true"#);
        assert_eq!(default, pair("Until your question is answered", "Which store? \u{2192} a: a file"));
        assert_eq!(told(r#""continueWithDefault": false"#), None);
        assert_eq!(answer(&MemoryFiles::new([("t/T02-PLAN.md", "x")]), "t", "T01").unwrap(), None);
    }
}
