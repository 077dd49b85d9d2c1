//! Closes an executed plan: carries everything in its SUMMARY into STATE.md, ROADMAP.md and REQUIREMENTS.md at once.

use schemars::JsonSchema;
use serde::Serialize;

use super::index;
use super::summary_check::{self, SelfCheck};
use crate::failure::Failure;
use crate::operations::documents::requirements::{self, MarkReport};
use crate::operations::roadmap::analyze;
use crate::operations::roadmap::waves;
use crate::operations::state::notes::{self, Metric};
use crate::operations::state::position::PhaseRequest;
use crate::operations::state::{Facts, NO_STATE, NO_STATE_CURE, Rule, advance, mirror, position};
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::plan::{PhasePlan, PhaseSummary};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::Markdown;

/// A plan and its location.
#[derive(Clone, Debug)]
pub(crate) struct PlanPlace {
    pub(crate) folder: PhaseFolder,
    /// The name of the plan's file in the folder.
    pub(crate) file: String,
}

impl PlanPlace {
    /// Finds the plan `typed`, such as `02-01`, `2-1` or the name of its file. `None` if no phase has it.
    pub(crate) fn find(view: &ProjectView, typed: &str) -> Result<Option<Self>, FileError> {
        let name = typed.rsplit('/').next().unwrap_or(typed);
        let wanted = plan_id(name.strip_suffix("-SUMMARY.md").unwrap_or(name));
        let mut by_number = None;
        for folder in view.phase_folders()?.iter() {
            for plan in folder.named_plans() {
                let id = plan_id(plan);
                let place = || Self { folder: folder.clone(), file: plan.to_owned() };
                if id.eq_ignore_ascii_case(wanted) {
                    return Ok(Some(place()));
                }
                if by_number.is_none() && numbers(canonical_id(id)) == numbers(wanted) && numbers(wanted).is_some() {
                    by_number = Some(place());
                }
            }
        }
        Ok(by_number)
    }

    pub(crate) fn id(&self) -> &str {
        canonical_id(plan_id(&self.file))
    }

    pub(crate) fn folder(&self) -> &PhaseFolder {
        &self.folder
    }

    pub(crate) fn path(&self) -> String {
        self.folder.join(&self.file)
    }

    /// The path of the SUMMARY, if there is one.
    pub(crate) fn summary(&self) -> Option<String> {
        self.folder.summary_of(&self.file).map(|file| self.folder.join(file))
    }

    /// The current or future path of the SUMMARY.
    pub(crate) fn summary_path(&self) -> String {
        self.summary().unwrap_or_else(|| self.folder.join(&self.file.replacen("PLAN", "SUMMARY", 1)))
    }

    /// The number of the plan in its phase: `01` of `02-01`.
    fn number(&self) -> &str {
        let id = self.id();
        id.strip_prefix(self.folder.token()).map_or(id, |rest| rest.trim_start_matches('-'))
    }
}

/// The numbers in an identifier such as `02-01`, so that `2-1` is the same plan. A phase number may end with a letter.
fn numbers(id: &str) -> Option<Vec<String>> {
    let is_number = |part: &str| {
        let digits = part.trim_end_matches(|last: char| last.is_ascii_alphabetic());
        !digits.is_empty() && part.len() - digits.len() <= 1 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts: Vec<&str> = id.split(['-', '.']).collect();
    let plain = |part: &&str| part.trim_start_matches('0').to_ascii_uppercase();
    (parts.len() > 1 && parts.iter().all(|part| is_number(part))).then(|| parts.iter().map(plain).collect())
}

/// How a plan ended, according to its SUMMARY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlanEnd {
    Complete,
    /// It did not reach its goal; plans that depend on it wait.
    Halted,
    /// It could not start or continue, and still has to be done.
    Blocked,
}

impl PlanEnd {
    pub(crate) fn of(summary: &PhaseSummary<'_>) -> Self {
        if summary.is_halted() {
            Self::Halted
        } else if summary.is_blocked() {
            Self::Blocked
        } else {
            Self::Complete
        }
    }
}

/// The result of closing one plan.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClosedPlan {
    pub(crate) plan: String,
    pub(crate) status: PlanEnd,
    pub(crate) requirements_completed: Vec<String>,
    /// Requirements that another unfinished plan of the phase still has to deliver.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) requirements_waiting: Vec<String>,
    /// The number of decisions added to STATE.md.
    pub(crate) decisions: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

impl ClosedPlan {
    /// A plan without any records yet.
    pub(crate) fn unrecorded(plan: &str, status: PlanEnd) -> Self {
        Self {
            plan: plan.to_owned(),
            status,
            requirements_completed: Vec::new(),
            requirements_waiting: Vec::new(),
            decisions: 0,
            warnings: Vec::new(),
        }
    }
}

/// The name of a plan, from the heading of its SUMMARY: `Note Store` in `# Phase 2 Plan 1: Note Store Summary` and in
/// `# Phase 2 Plan 1 Summary: Note Store`.
pub(crate) fn title(summary: &str) -> Option<String> {
    let markdown = Markdown::parse(summary);
    let heading = markdown.headings().find(|heading| heading.title.to_ascii_lowercase().contains("summary"))?;
    let name = heading.title.split_once(": ").map_or(heading.title, |(_, name)| name).trim();
    let last = name.rsplit_once(char::is_whitespace).map_or(name, |(_, last)| last);
    let name = if last.eq_ignore_ascii_case("summary") { name[..name.len() - last.len()].trim_end() } else { name };
    (!name.is_empty() && !name.contains(['`', '{'])).then(|| name.to_owned())
}

/// What the caller adds to the SUMMARY.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CloseRequest<'a> {
    /// What is still open and blocks later work.
    pub(crate) blockers: &'a [String],
}

/// Carries the SUMMARY of the plan at `place` into the project's documents. Closing a plan again changes nothing.
pub(crate) fn close(
    view: &ProjectView,
    place: &PlanPlace,
    summary: &str,
    request: CloseRequest<'_>,
    facts: &Facts,
) -> Edited<ClosedPlan, Failure> {
    let read = PhaseSummary::parse(summary);
    let end = PlanEnd::of(&read);
    let plan = view.text(&place.path())?.unwrap_or_default();
    let plan = PhasePlan::parse(&plan);
    let mut steps = Steps { base: view, edits: Edits::default() };
    let mut warnings = Vec::new();
    let phase = place.folder.token();

    if end != PlanEnd::Blocked {
        if let Some((report, edits)) = analyze::update_plan_progress(&steps.view(), phase, &facts.today)? {
            steps.add(edits);
            if let Some(reason) = report.reason {
                warnings.push(format!("ROADMAP.md has no lines of phase {phase} to update: {reason}"));
            }
        }
        steps.note(advance::follow_plans(&steps.view(), &place.folder, facts)?);
    }
    let decisions = add_decisions(&mut steps, &read, phase, facts)?;
    if view.state()?.is_none() {
        warnings.push(format!("{NO_STATE}: position, decisions and metrics are not recorded; {NO_STATE_CURE}"));
    }
    for blocker in request.blockers {
        if blocker.trim().is_empty() || notes::has_blocker(&steps.view(), blocker)? {
            continue;
        }
        steps.note(notes::add_blocker(&steps.view(), Some(blocker), facts)?);
    }
    if let Some(duration) = read.value("duration").map(|value| value.flat()).filter(|text| !text.trim().is_empty()) {
        let tasks = Some(read.task_count()).filter(|count| *count > 0).unwrap_or_else(|| plan.task_count()).to_string();
        let files = changed_files(&read).to_string();
        let metric = Metric {
            phase: Some(phase),
            plan: Some(place.number()),
            duration: Some(&duration),
            tasks: Some(&tasks),
            files: Some(&files),
        };
        steps.note(notes::record_metric(&steps.view(), metric, facts)?);
    }
    if end != PlanEnd::Blocked {
        steps.note(advance::count_plans(&steps.view(), &place.folder, facts)?);
    }
    let (mut completed, mut waiting) = (Vec::new(), Vec::new());
    let missing: Vec<String> =
        summary_check::listed_files(summary).into_iter().filter(|file| !view.exists(file)).collect();
    if !missing.is_empty() {
        warnings.push(format!("its SUMMARY names files that are not there: {}", missing.join(", ")));
    }
    if let Some(status) = read.unknown_status() {
        warnings.push(format!("the status of its SUMMARY is not known and counts as halted: {status}"));
    }
    let self_check_failed = summary_check::self_check(summary) == SelfCheck::Failed;
    if self_check_failed {
        warnings.push("its self-check failed, so no requirement was marked complete".to_owned());
    }
    if end == PlanEnd::Complete && !self_check_failed {
        let ready = requirements::ready(&steps.view(), &place.path(), plan.requirements())?;
        waiting = ready.blocked;
        if !ready.ready.is_empty() {
            let (report, edits) = requirements::mark_complete(&steps.view(), ready.ready)?;
            steps.add(edits);
            match report {
                MarkReport::Marked { marked_complete, not_found, .. } => {
                    completed = marked_complete;
                    if !not_found.is_empty() {
                        warnings.push(format!("not marked in REQUIREMENTS.md: {}", not_found.join(", ")));
                    }
                }
                MarkReport::NoDocument { reason, .. } => warnings.push(reason.to_owned()),
            }
        }
    }
    let stopped_at = match end {
        PlanEnd::Complete => format!("Completed {}-PLAN.md", place.id()),
        PlanEnd::Halted => format!("Halted {}-PLAN.md", place.id()),
        PlanEnd::Blocked => format!("Blocked in {}-PLAN.md", place.id()),
    };
    // Changes of only the session time and the index at the top of STATE.md are not written: closing a plan again
    // leaves everything as it is.
    if only_the_index_changes(view, &steps.edits)? {
        steps.edits = Edits::default();
    } else {
        steps.note(notes::record_session(&steps.view(), Some(&stopped_at), Some("None"), facts)?);
        if let Some((_, edits)) = notes::progress_by(&steps.view(), Rule::Measure, facts)? {
            steps.add(edits);
        }
        mirror::refresh(&mut steps.edits, view, facts)?;
    }
    let report = ClosedPlan {
        plan: place.id().to_owned(),
        status: end,
        requirements_completed: completed,
        requirements_waiting: waiting,
        decisions,
        warnings,
    };
    Ok((report, steps.edits))
}

/// True if only the front matter of STATE.md and its mirror change.
fn only_the_index_changes(view: &ProjectView, edits: &Edits) -> Result<bool, FileError> {
    let layout = view.layout();
    let body = |text: &str| FrontMatter::parse(text).map_or_else(|| text.to_owned(), |front| front.body().to_owned());
    for (path, text) in &edits.texts {
        let is_index = *path == layout.state_mirror()
            || *path == layout.state() && view.text(path)?.is_some_and(|before| body(&before) == body(text));
        if !is_index {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Records that `folder` is planned: position, counts and plan lines of the roadmap, and the waves of its plans.
pub(crate) fn planned(view: &ProjectView, folder: &PhaseFolder, facts: &Facts) -> Result<Edits, Failure> {
    let mut steps = Steps { base: view, edits: Edits::default() };
    let phase = folder.token();
    let waves = index::listed_waves(view, folder)?;
    let mut objectives = Vec::new();
    for (file, text) in view.plan_texts(folder)? {
        objectives.extend(PhasePlan::parse(&text).objective().map(|objective| (file, objective)));
    }
    let name = view.label(phase)?.name;
    let plans = u64::try_from(waves.len()).ok();
    let request = PhaseRequest { phase, name: name.as_deref(), plans };
    // This comes first, since it checks whether the phase was closed.
    steps.note(position::planned(&steps.view(), request, facts)?);
    if let Some((_, edits)) = analyze::update_plan_progress(&steps.view(), phase, &facts.today)? {
        steps.add(edits);
    }
    // A new line has only the file name; people want to read the objective of the plan.
    if let Some(text) = steps.edits.texts.get_mut(&view.layout().roadmap()) {
        for (file, objective) in &objectives {
            *text = with_objective(text, file, objective);
        }
    }
    steps.add(waves::annotate_dependencies(&steps.view(), phase, &waves)?.1);
    if only_the_index_changes(view, &steps.edits)? {
        return Ok(Edits::default());
    }
    let stopped_at = format!("Phase {} planned", view.label(phase)?.number);
    steps.note(notes::record_session(&steps.view(), Some(&stopped_at), Some("None"), facts)?);
    mirror::refresh(&mut steps.edits, view, facts)?;
    Ok(steps.edits)
}

/// The roadmap with the objective added to the line of a plan that has none.
fn with_objective(roadmap: &str, file: &str, objective: &str) -> String {
    let mut text = String::with_capacity(roadmap.len() + objective.len());
    for line in roadmap.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        text.push_str(bare);
        if bare.trim_start().starts_with("- [") && bare.ends_with(&format!("] {file}")) {
            text.push_str(" — ");
            text.push_str(objective.trim_end_matches('.'));
        }
        text.push_str(&line[bare.len()..]);
    }
    text
}

/// Edits that are made one after another, each on the result of the earlier ones.
struct Steps<'view> {
    base: &'view ProjectView,
    edits: Edits,
}

impl Steps<'_> {
    fn view(&self) -> ProjectView {
        self.base.after(&self.edits)
    }

    fn add(&mut self, later: Edits) {
        self.edits.follow(later);
    }

    fn note<R>(&mut self, done: Option<(R, Edits)>) {
        if let Some((_, edits)) = done {
            self.add(edits);
        }
    }
}

/// Adds the key decisions that STATE.md does not have yet; returns their number.
fn add_decisions(
    steps: &mut Steps<'_>,
    summary: &PhaseSummary<'_>,
    phase: &str,
    facts: &Facts,
) -> Result<usize, Failure> {
    let mut added = 0;
    for (what, why) in summary.decisions() {
        if what.trim().is_empty() || what.eq_ignore_ascii_case("none") {
            continue;
        }
        let view = steps.view();
        if notes::has_decision(&view, phase, &what, why.as_deref())? {
            continue;
        }
        if let Some((_, edits)) = notes::add_decision(&view, Some(phase), Some(&what), why.as_deref(), facts)? {
            added += usize::from(!edits.is_empty());
            steps.add(edits);
        }
    }
    Ok(added)
}

/// The number of created and modified files that the SUMMARY lists.
fn changed_files(summary: &PhaseSummary<'_>) -> usize {
    let files = summary.value("key-files");
    let count = |key: &str| files.as_ref().and_then(|files| files.get(key)).map_or(0, |list| Value::items(list).len());
    count("created") + count("modified")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    #[test]
    fn the_name_of_a_plan_is_its_heading_without_the_word_summary() {
        let title = |heading: &str| title(&format!("# {heading}\n\nText\n"));
        for heading in [
            "Phase 2 Plan 1: Note Store Summary",
            "Phase 2 Plan 01 Summary: Note Store",
            "Summary of Plan 02-01: Note Store",
            "Phase 2 Plan 1: Note Store SUMMARY",
        ] {
            assert_eq!(title(heading).as_deref(), Some("Note Store"), "{heading}");
        }
        assert_eq!(title("Summary"), None);
        assert_eq!(title("Phase 2 Plan 1: {name} Summary"), None);
    }

    #[test]
    fn a_plan_is_found_by_its_numbers_however_they_are_written() {
        let files = MemoryFiles::new([
            (".planning/phases/02-a/02-01-PLAN.md", ""),
            (".planning/phases/02-a/02-02-user-PLAN.md", ""),
            (".planning/phases/12A-b/12A-01-PLAN.md", ""),
        ]);
        let view = files.view();
        let found = |typed: &str| PlanPlace::find(&view, typed).unwrap().map(|place| place.id().to_owned());
        for (typed, id) in [("2-1", "02-01"), ("02-2", "02-02"), ("12A-1", "12A-01"), ("12a-01-PLAN.md", "12A-01")] {
            assert_eq!(found(typed).as_deref(), Some(id), "{typed}");
        }
        assert_eq!(found("12-1"), None);
        assert_eq!(found("2A-1"), None);
    }
}
