//! Completes a phase: checks the gates, then updates roadmap, requirements and state in one change.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Failure, Reason};
use crate::operations::hints::{NO_ROADMAP, SPARE_FOLDERS};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::human_judgment;
use crate::project::noted::noted;
use crate::project::phase::{self, PhaseId};
use crate::project::requirements::{Open, Requirements, is_id};
use crate::project::review_report;
use crate::project::roadmap::{PhaseSection, Roadmap};
use crate::project::standing;
use crate::project::uat_report::UatReport;
use crate::project::unclosed::UnclearSummary;
use crate::project::verification::{self, Verification};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::shell::typed;
use crate::text::splice::Splices;

use crate::operations::documents::frontmatter;
use crate::operations::roadmap::analyze::completed_day;
use crate::operations::state::claim::{self, Conflict};
use crate::operations::state::position::{self, Transition};
use crate::operations::state::{self, Facts, Rule, StateEdit, mirror, prune};
use crate::operations::verification::human_checks;
use crate::project::deferred_checks::DeferredCheck;
use crate::text::screen::{Mark, Screen};

/// What `phase complete` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct CompleteReport {
    pub(crate) completed_phase: String,
    pub(crate) phase_name: String,
    pub(crate) plans_executed: String,
    pub(crate) next_phase: Option<String>,
    pub(crate) next_phase_name: Option<String>,
    pub(crate) is_last_phase: bool,
    pub(crate) date: String,
    pub(crate) roadmap_updated: bool,
    pub(crate) state_updated: bool,
    pub(crate) requirements_updated: bool,
    pub(crate) auto_pruned: bool,
    pub(crate) warnings: Vec<String>,
    pub(crate) has_warnings: bool,
    pub(crate) verification_stale_check_indeterminate: bool,
    pub(crate) milestone_conflict: Option<Conflict>,
    pub(crate) preservation_warnings: Vec<String>,
    /// Checks that wait for a person and are in the list of deferred items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) checks_deferred: Vec<DeferredCheck>,
    /// Present and true if the phase was already complete in the roadmap: nothing is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) already_complete: Option<bool>,
}

impl CompleteReport {
    /// The result for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let phase = format!("Phase {} ({})", self.completed_phase, self.phase_name);
        if self.already_complete == Some(true) {
            return format!("{phase} is complete already; nothing changed\n");
        }
        let mut page = format!("{phase} is complete\n");
        for warning in &self.warnings {
            page += &screen.item("", Mark::Warning, warning);
        }
        page + &match (&self.next_phase, &self.next_phase_name) {
            (Some(number), Some(name)) => format!("The next phase is {number} ({name})\n"),
            (Some(number), None) => format!("The next phase is {number}\n"),
            (None, _) => "That was the last phase of the milestone\n".to_owned(),
        }
    }
}

/// Completes `typed` if its plans are executed and its goal is verified. With `prunes`, entries of STATE.md about
/// phases long past are moved to its archive.
pub(crate) fn complete(
    view: &ProjectView,
    typed: &str,
    command_prefix: &str,
    prunes: bool,
    facts: &Facts,
) -> Edited<CompleteReport, Failure> {
    let folder = open_folder(view, typed)?;
    let closed = is_closed(view, typed)?;
    let earlier = view.closed_milestones_of(std::slice::from_ref(&folder))?.pop().flatten();
    if let Some(earlier) = earlier.filter(|_| !closed) {
        let (folder, version) = (folder.path, earlier.version);
        let message = format!(
            "`{folder}` is of milestone {version}, and no line of the roadmap that is read names phase {typed}"
        );
        return Err(Failure::new(Reason::PhaseNotFound, message)
            .hint("`gsd-tools roadmap validate` names lines that are not read"));
    }
    let plans = view.current_plans(&folder)?;
    refuse_open_plans(view, &folder, typed)?;
    let verification = verification::status(view, &folder)?;
    let label = view.label(typed)?;
    let next = next_phase(view, typed)?;
    let mut warnings = warnings(view, &folder)?;
    warnings.extend(requirement_warnings(view, typed)?);
    for review in review_report::open_critical(view, &folder)? {
        let open = review.findings.iter().map(|finding| format!("{}: open critical finding {finding}", review.file));
        warnings.extend(open);
    }
    if let Some(path) = folder.artifact_path("VERIFICATION") {
        let text = view.text(&path)?.unwrap_or_default();
        warnings.extend(frontmatter::unsound(&path, &text, |file| view.exists(file)));
    }
    if verification.indeterminate {
        warnings.push("git does not show which files changed since the verification".to_owned());
    }
    let scope = view.scope()?;
    warnings.extend(scope.fewer.as_ref().filter(|_| next.is_none()).map(|fewer| format!("{fewer}; {}", fewer.cure())));
    let report = CompleteReport {
        completed_phase: typed.to_owned(),
        phase_name: label.name.unwrap_or_else(|| folder.slug().to_owned()),
        plans_executed: format!("{0}/{0}", plans.len()),
        next_phase: next.as_ref().map(|next| next.number.clone()),
        next_phase_name: next.as_ref().and_then(|next| next.name.clone()),
        is_last_phase: next.is_none(),
        date: facts.today.clone(),
        has_warnings: !warnings.is_empty(),
        warnings,
        verification_stale_check_indeterminate: verification.indeterminate,
        checks_deferred: human_checks::all_deferred(view, &folder, &verification)?,
        ..CompleteReport::default()
    };
    // Later phases may change the files that a closed phase covers; it stays closed until it has a plan to execute.
    let waits = report.checks_deferred.is_empty();
    if !verification.passed() && waits && !(closed && verification.is_stale()) {
        return Err(not_verified(typed, &verification, command_prefix));
    }
    if view.roadmap()?.is_none() {
        let message = format!("there is no `{}` to record phase {typed} as complete in", view.layout().roadmap());
        return Err(Failure::new(Reason::Unknown, message).hint(NO_ROADMAP));
    }
    if let Some(unseen) = scope.unseen.filter(|unseen| next.is_none() || unseen.is_unreadable()) {
        let message = format!("phase {typed} cannot be completed, since it may not be the last one: {unseen}");
        return Err(Failure::new(Reason::ScopeUnknown, message).hint(unseen.cure()));
    }
    let mut edits = Edits::default();
    edit_roadmap(view, typed, &plans, &facts.today, &mut edits)?;
    let roadmap_updated = !edits.is_empty();
    let requirements_updated = edit_requirements(view, typed, &mut edits)?;
    if closed && edits.is_empty() && !is_position(view, typed)? {
        return Ok((CompleteReport { already_complete: Some(true), ..report }, edits));
    }
    let state_updated = edit_state(view, typed, plans.len(), next.as_ref(), facts, &mut edits)?;
    let auto_pruned = prunes && prune_state(view, facts, &mut edits)?;
    let milestone_conflict = claim::release(view, typed, facts, &mut edits)?;
    mirror::refresh(&mut edits, view, facts)?;
    let report = CompleteReport {
        roadmap_updated,
        state_updated,
        requirements_updated,
        auto_pruned,
        milestone_conflict,
        ..report
    };
    Ok((report, edits))
}

/// Refuses a phase with a plan that is not done: first for plans without a summary, then for blocked plans, which must
/// be executed again, then for plans whose file name is not read, then for plans with an unclear status, then for
/// halted ones.
fn refuse_open_plans(view: &ProjectView, folder: &PhaseFolder, typed: &str) -> Result<(), Failure> {
    let refused = |why: String, hint: &str| {
        let message = format!("phase {typed} cannot be completed: {why}");
        Err(Failure::new(Reason::PhasePlanCoverageIncomplete, message).hint(hint))
    };
    let marked = |plans: &[String], word: &str| {
        let why = format!("{} {word} according to the summary: {}", count(plans.len(), "plan"), plans.join(", "));
        refused(why, "resolve what the summary describes, then execute the plan again")
    };
    let to_do = view.plans_to_do(folder)?;
    let (blocked, open): (Vec<String>, _) = to_do.into_iter().partition(|plan| folder.summary_of(plan).is_some());
    if !open.is_empty() {
        let why = format!("{} without a summary: {}", count(open.len(), "plan"), open.join(", "));
        let call = typed!("gsd-tools phase-plan-index {}", typed);
        return refused(why, &format!("execute these plans first; `{call}` lists the plans"));
    }
    if !blocked.is_empty() {
        return marked(&blocked, "blocked");
    }
    if let Some(file) = folder.unread_plans().next() {
        let path = folder.join(file);
        let why = format!("`{path}` is not read, since the name of a plan is `NN-NN-PLAN.md`");
        return refused(why, "rename it, then execute it");
    }
    let unclear = view.unclear_summaries(folder)?.into_iter().find(|summary| summary.status.is_some());
    if let Some(summary) = unclear {
        return refused(summary.to_string(), UnclearSummary::CURE);
    }
    let halted = view.open_plans(folder)?;
    if halted.is_empty() { Ok(()) } else { marked(&halted, "halted") }
}

/// True if the roadmap marks a phase as complete.
fn is_closed(view: &ProjectView, typed: &str) -> Result<bool, FileError> {
    Ok(standing::is_closed(view.roadmap_or_empty()?, typed))
}

/// True if STATE.md is at this phase and does not say that everything is done.
fn is_position(view: &ProjectView, typed: &str) -> Result<bool, FileError> {
    let Some(state) = view.state()? else { return Ok(false) };
    Ok(!position::is_all_complete(state)
        && state.position().phase.is_some_and(|phase| PhaseId::new(typed).matches(phase)))
}

/// The phase's folder, not counting archived ones.
fn open_folder(view: &ProjectView, typed: &str) -> Result<PhaseFolder, Failure> {
    let lookup = view.find_phase(typed)?;
    if !lookup.ambiguous.is_empty() {
        let folders = lookup.ambiguous;
        let message = format!("{} folders match phase {typed}: {}", folders.len(), folders.join(", "));
        return Err(Failure::new(Reason::PhaseNotFound, message).hint(SPARE_FOLDERS));
    }
    lookup.folder.filter(|folder| folder.archived.is_none()).ok_or_else(|| {
        Failure::new(Reason::PhaseNotFound, format!("there is no phase `{typed}`"))
            .hint("`gsd-tools roadmap analyze` lists the phases; one without a folder has nothing to complete yet")
    })
}

fn not_verified(typed: &str, verification: &Verification, command_prefix: &str) -> Failure {
    let message = format!("phase {typed} is not verified: {}", verification.next_action());
    let command = verification.next_command(command_prefix);
    let hint = if command.is_empty() {
        format!("`{}` shows the report", typed!("gsd-tools verification status {}", typed))
    } else {
        format!("next: `{command}`")
    };
    Failure {
        stale_check_indeterminate: Some(verification.indeterminate),
        ..Failure::new(Reason::PhaseVerificationIncomplete, message).hint(hint)
    }
}

fn edit_roadmap(
    view: &ProjectView,
    typed: &str,
    plans: &[String],
    today: &str,
    edits: &mut Edits,
) -> Result<(), FileError> {
    let Some(roadmap) = view.roadmap()? else { return Ok(()) };
    let mut splices = Splices::default();
    roadmap.tick_phase(typed, today, &mut splices);
    if let Some(section) = roadmap.section(typed) {
        let done: Vec<&str> = plans.iter().map(String::as_str).collect();
        roadmap.tick_plans(section, &done, &mut splices);
        if roadmap.plan_bullets(section).iter().any(|bullet| bullet.text.starts_with("TBD")) {
            let lines: Vec<(&str, bool)> = done.iter().map(|plan| (*plan, true)).collect();
            roadmap.add_plans(section, &lines, &mut splices);
        }
        if counts_in_label(roadmap, section) {
            roadmap.set_plan_count(section, &format!("{0}/{0} plans complete", plans.len()), &mut splices);
        }
    }
    let day = completed_day(roadmap, typed).unwrap_or(today).to_owned();
    let cells = [
        ("plans", format!(" {0}/{0} ", plans.len())),
        ("status", " Complete    ".to_owned()),
        ("completed", format!(" {day} ")),
    ];
    roadmap.set_progress(typed, &cells, &mut splices);
    edits.write(view, &view.layout().roadmap(), splices.apply(roadmap.text()))
}

/// True if the field is written `**Plans:** n` or `Plans: n`, the spellings for counts; `**Plans**: n` is free text.
fn counts_in_label(roadmap: &Roadmap<'_>, section: &PhaseSection<'_>) -> bool {
    roadmap
        .plan_count_line(section)
        .is_some_and(|(line, _)| !roadmap.markdown().line(line).trim_start().starts_with("**Plans**"))
}

/// Marks the requirements of the phase as met. Returns true if anything changed.
fn edit_requirements(view: &ProjectView, typed: &str, edits: &mut Edits) -> Result<bool, FileError> {
    let (Some(roadmap), Some(text)) = (view.roadmap()?, view.text(&view.layout().requirements())?) else {
        return Ok(false);
    };
    let ids = roadmap.section(typed).map(|section| roadmap.requirement_ids(section)).unwrap_or_default();
    let requirements = Requirements::parse(&text);
    let mut splices = Splices::default();
    for id in &ids {
        requirements.complete(id, Open::Started, &mut splices);
    }
    let changed = !splices.is_empty();
    edits.write(view, &view.layout().requirements(), splices.apply(&text))?;
    Ok(changed)
}

/// The phase to continue with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NextPhase {
    number: String,
    name: Option<String>,
}

/// The next phase of the milestone once `typed` is complete, over the roadmap and the disk: the first earlier one with
/// an open checkbox, or else the first later one that is not ticked.
fn next_phase(view: &ProjectView, typed: &str) -> Result<Option<NextPhase>, FileError> {
    let current = PhaseId::new(typed);
    let roadmap = view.roadmap()?;
    let milestone = view.milestone()?;
    let folders = view.milestone_folders()?;
    let listed = roadmap.iter().flat_map(|roadmap| milestone.phase_ids(roadmap)).map(str::to_owned);
    let is_next = |id: &String| {
        let is_before = phase::compare(id, current.as_str()).is_lt();
        let said = roadmap.filter(|roadmap| standing::can_say_done(roadmap, id));
        let is_open = said.map_or(!is_before, |roadmap| !standing::is_closed(roadmap, id));
        !current.matches(id) && !PhaseId::new(id).is_sentinel() && is_open
    };
    let known = listed.chain(folders.iter().map(|folder| folder.token().to_owned()));
    let Some(id) = known.filter(is_next).min_by(|left, right| phase::compare(left, right)) else { return Ok(None) };
    let label = view.label(&id)?;
    let of_folder = || {
        let id = PhaseId::new(&id);
        folders.iter().find(|folder| folder.is_of(&id)).map(|folder| folder.slug().to_owned())
    };
    Ok(Some(NextPhase { name: label.name.or_else(of_folder), number: label.number }))
}

/// Moves STATE.md to the next phase. Returns false if STATE.md does not exist.
fn edit_state(
    view: &ProjectView,
    typed: &str,
    plans: usize,
    next: Option<&NextPhase>,
    facts: &Facts,
    edits: &mut Edits,
) -> Result<bool, Failure> {
    let after = view.after(edits);
    let Some(state) = state::open(&after)? else { return Ok(false) };
    let mut edit = StateEdit::new(state);
    let next = next.map(|next| (next.number.as_str(), next.name.as_deref()));
    position::move_on(&after, &mut edit, &Transition { completed: typed, plans, next }, facts)?;
    let written = state::close(&after, edit, Rule::Measure, facts)?;
    edits.write(view, &view.layout().state(), written.text)?;
    Ok(true)
}

/// Moves entries of STATE.md about phases long past to its archive. Returns true if there were any.
fn prune_state(view: &ProjectView, facts: &Facts, edits: &mut Edits) -> Result<bool, Failure> {
    let after = view.after(edits);
    let Some((report, pruned)) = prune::prune(&after, prune::KEPT, false, facts)? else { return Ok(false) };
    for (path, text) in pruned.texts {
        edits.write(view, &path, text)?;
    }
    Ok(report.found())
}

/// Warnings about requirements that are missing from a document: those of the body from the traceability table, those
/// that the roadmap assigns to the phase from REQUIREMENTS.md.
fn requirement_warnings(view: &ProjectView, typed: &str) -> Result<Vec<String>, FileError> {
    let Some(text) = view.text(&view.layout().requirements())? else { return Ok(Vec::new()) };
    let requirements = Requirements::parse(&text);
    let mut warnings = Vec::new();
    let untraced = requirements.untraced(view.milestone()?.version.as_deref());
    if !untraced.is_empty() {
        warnings.push(format!("REQUIREMENTS.md: no row in the traceability table for {}", untraced.join(", ")));
    }
    let roadmap = view.roadmap_or_empty()?;
    let cited = roadmap.section(typed).map(|section| roadmap.requirement_ids(section)).unwrap_or_default();
    let unknown: Vec<String> = cited.into_iter().filter(|id| is_id(id) && !requirements.knows(id)).collect();
    if !unknown.is_empty() {
        let ids = unknown.join(", ");
        warnings.push(format!("ROADMAP.md: phase {typed} cites {ids}, which REQUIREMENTS.md does not have"));
    }
    Ok(warnings)
}

/// Warnings about a phase that is complete.
fn warnings(view: &ProjectView, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
    let mut warnings = Vec::new();
    for file in folder.files.iter().filter(|file| file.ends_with("-UAT.md")) {
        let Some(text) = view.text(&folder.join(file))? else { continue };
        let report = UatReport::parse(&text);
        for result in open_results(&text, &report) {
            warnings.push(format!("{file}: has {result} tests"));
        }
        warnings.extend(report.gaps.iter().map(|gap| format!("{file}: has an open gap: {}", gap.truth)));
        warnings
            .extend(report.unread.iter().map(|title| format!("{file}: no result is read below the heading `{title}`")));
        let status = FrontMatter::parse(&text).and_then(|front| front.text("status"));
        if let Some(status) = status.filter(|status| {
            noted(status, &["partial", "testing", "diagnosed", "pending", "failed", "blocked", "in_progress"]).is_some()
        }) {
            warnings.push(format!("{file}: testing incomplete ({status})"));
        }
    }
    for file in folder.artifacts("VERIFICATION") {
        let report = view.uat_report(&folder.join(file))?;
        for gap in report.gaps.iter().filter(|_| report.status == "passed") {
            warnings.push(format!("{file}: passed, and has an open gap: {}", gap.truth));
        }
    }
    for summary in view.unclear_summaries(folder)? {
        warnings.push(summary.to_string());
    }
    for left in human_judgment::unchecked(view, folder)? {
        warnings.push(format!("{}: nobody checked what it leaves to a person: {}", left.file, left.description));
    }
    for file in folder.summaries() {
        let Some(text) = view.text(&folder.join(file))? else { continue };
        let Some(front) = FrontMatter::parse(&text) else { continue };
        let named = ["created", "modified"].into_iter().filter_map(|key| front.get_path(&["key-files", key]));
        let missing: Vec<String> = named
            .flat_map(|value| value.items().iter().filter_map(Value::as_text).map(str::to_owned).collect::<Vec<_>>())
            .filter(|path| !path.is_empty() && !view.exists(path))
            .collect();
        if !missing.is_empty() {
            warnings.push(format!("{file}: references {} file(s) not on disk: {}", missing.len(), missing.join(", ")));
        }
    }
    Ok(warnings)
}

/// The open results in a UAT file, each listed once: those of tests that neither passed nor were skipped, and those in
/// lines below other headings.
fn open_results(text: &str, report: &UatReport) -> Vec<String> {
    let in_lines = text.lines().filter_map(|line| line.trim().strip_prefix("result:"));
    let known = ["pending", "blocked", "issue", "failed"];
    let has = |result: &str| {
        let mut values = in_lines.clone();
        values.any(|value| noted(value, &[result]).is_some())
    };
    let tests = || report.tests.iter().filter(|test| test.is_open()).filter_map(|test| test.result.as_deref());
    let mut results: Vec<String> = known
        .into_iter()
        .filter(|result| has(result) || tests().any(|own| own == *result))
        .map(str::to_owned)
        .collect();
    for other in tests().filter(|result| !known.contains(result)) {
        if !results.iter().any(|known| known == other) {
            results.push(other.to_owned());
        }
    }
    results
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROADMAP: &str = "# R\n\n- [ ] **Phase 1: Base** - b\n- [ ] **Phase 2: Next (INSERTED)** - n\n\n### Phase 1: Base\n\
        **Requirements**: [A-1, A-2]\n**Plans:** 1 plan\n\nPlans:\n- [ ] 01-01-PLAN.md — x\n\n### Phase 2: Next (INSERTED)\n\n\
        | Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Base | 0/1 | In Progress | - |\n";

    fn view(verification: &str, summary: bool) -> ProjectView {
        let report = format!("---\nstatus: {verification}\n---\n");
        let mut files = vec![
            (".planning/ROADMAP.md", ROADMAP),
            (".planning/REQUIREMENTS.md", "- [ ] **A-1**: one\n- [x] **A-2**: two\n- [ ] **B-1**: three\n"),
            (
                ".planning/STATE.md",
                "---\nstatus: executing\n---\n\n# Project State\n\nPhase: 1 of 2 (Base)\nPlan: 1 of 1\nStatus: In progress\n",
            ),
            (".planning/phases/01-base/01-01-PLAN.md", "x"),
            (".planning/phases/01-base/01-VERIFICATION.md", report.as_str()),
        ];
        if summary {
            files.push((".planning/phases/01-base/01-01-SUMMARY.md", "x"));
        }
        ProjectView::of(files)
    }

    fn facts() -> Facts {
        Facts { now: "2026-01-02T03:04:05.000Z".into(), today: "2026-01-02".into(), ..Facts::default() }
    }

    #[test]
    fn requirements_missing_from_a_document_are_reported_once() {
        let files = [
            (".planning/ROADMAP.md", "### Phase 1: A\n**Requirements**: [A-1, Z-9, TBD] <!-- Y-8 -->\n"),
            (
                ".planning/REQUIREMENTS.md",
                "## v1 Requirements\n\n- [ ] **A-1**: x\n- [ ] **A-2**: x\n- [ ] **A-3**: x\n\n| Requirement | Status |\n|---|---|\n| A-1 | Pending |\n",
            ),
        ];
        let warnings = requirement_warnings(&ProjectView::of(files), "1").unwrap();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].ends_with("A-2, A-3") && warnings[1].contains("cites Z-9, which"), "{warnings:?}");
    }

    #[test]
    fn a_test_that_did_not_pass_is_a_warning_whatever_the_status_of_the_file() {
        let warned = |result: &str| {
            let uat = format!("---\nstatus: complete\n---\n\n### 1. Starts\nexpected: x\nresult: {result}\n");
            let view = ProjectView::of([(".planning/phases/01-a/01-UAT.md", uat.as_str())]);
            warnings(&view, &view.find_phase("1").unwrap().folder.unwrap()).unwrap().len()
        };
        assert_eq!(["pending", "blocked", "issue", "failed", "issue (see below)"].map(warned), [1; 5]);
        assert_eq!(["pass", "passed", "skipped"].map(warned), [0; 3]);
    }

    #[test]
    fn a_phase_that_any_place_marks_open_is_next_and_a_disputed_count_stays() {
        let files = |roadmap: &'static str, total: &'static str| {
            ProjectView::of([
                (".planning/ROADMAP.md", roadmap),
                (".planning/STATE.md", total),
                (".planning/phases/01-a/01-01-PLAN.md", "x"),
                (".planning/phases/01-a/01-01-SUMMARY.md", "x"),
                (".planning/phases/01-a/01-VERIFICATION.md", "---\nstatus: passed\n---\n"),
            ])
        };
        let row = "- [ ] **Phase 1: A**\n- [x] **Phase 2: B**\n\n### Phase 1: A\n### Phase 2: B\n\n\
                   | Phase | Plans Complete | Status |\n|---|---|---|\n| 2. B | 0/1 | Not started |\n";
        let state =
            "---\nstatus: executing\nprogress:\n  total_phases: 2\n  percent: 0\n---\n# S\n\nPhase: 1 of 2 (A)\n";
        let (report, _) = complete(&files(row, state), "1", "/gsd-", false, &facts()).unwrap();
        assert_eq!(report.next_phase.as_deref(), Some("2"), "its row says that it is open");
        let fewer = "- [ ] **Phase 1: A**\n\n### Phase 1: A\n";
        let (report, edits) = complete(&files(fewer, state), "1", "/gsd-", false, &facts()).unwrap();
        assert!(report.warnings.iter().any(|warning| warning.contains("counts 2 phases")), "{:?}", report.warnings);
        let written = &edits.texts[".planning/STATE.md"];
        assert!(written.contains("  total_phases: 2\n"), "{written}");
    }

    #[test]
    fn unreadable_plans_stop_completion() {
        let with = |path: &'static str, text: &'static str| {
            let view = view("passed", true);
            let mut more = Edits::default();
            more.texts.insert(format!(".planning/phases/01-base/{path}"), text.to_owned());
            complete(&view.after(&more), "1", "/gsd-", false, &facts()).unwrap_err().message
        };
        assert!(with("01-02-计划.md", "").contains("`.planning/phases/01-base/01-02-计划.md` is not read"));
        for status in ["status: 已暂停", "status: Angehalten", "Status: halted", "status：halted"] {
            let text: &'static str = format!("---\n{status}\n---\n").leak();
            let told = with("01-01-SUMMARY.md", text);
            assert!(told.contains("halted") || told.contains("not known"), "{status}: {told}");
        }
    }

    #[test]
    fn the_state_is_pruned_with_the_phase_if_the_project_requests_it() {
        let files = [
            (
                ".planning/ROADMAP.md",
                "- [ ] **Phase 5: A** - a\n- [ ] **Phase 6: B** - b\n\n### Phase 5: A\n### Phase 6: B\n",
            ),
            (
                ".planning/STATE.md",
                "---\nstatus: executing\n---\n# S\n\n## Current Position\n\nPhase: 5 of 6 (A)\nTotal Phases: 6\nCompleted Phases: 0\nStatus: x\n\n## Decisions\n\n- [Phase 1]: old\n- [Phase 5]: new\n",
            ),
            (".planning/phases/05-a/05-01-PLAN.md", "x"),
            (".planning/phases/05-a/05-01-SUMMARY.md", "x"),
            (".planning/phases/05-a/05-VERIFICATION.md", "---\nstatus: passed\n---\n"),
        ];
        let view = ProjectView::of(files);
        let (report, edits) = complete(&view, "5", "/gsd-", true, &facts()).unwrap();
        assert!(report.auto_pruned);
        let state = &edits.texts[".planning/STATE.md"];
        assert!(!state.contains("[Phase 1]") && state.contains("[Phase 5]: new"), "{state}");
        assert!(edits.texts[".planning/STATE-ARCHIVE.md"].contains("- [Phase 1]: old"));
        assert!(state.contains("Total Phases: 2\nCompleted Phases: 1\n"), "the body counts as the front matter does");
        let (report, edits) = complete(&view, "5", "/gsd-", false, &facts()).unwrap();
        assert!(!report.auto_pruned && !edits.texts.contains_key(".planning/STATE-ARCHIVE.md"));
    }

    #[test]
    fn all_documents_are_updated_together() {
        let view = view("passed", true);
        let (report, edits) = complete(&view, "1", "/gsd-", false, &facts()).unwrap();
        assert_eq!(report.next_phase.as_deref(), Some("2"));
        assert_eq!((report.phase_name.as_str(), report.next_phase_name.as_deref()), ("Base", Some("Next")));
        let roadmap = &edits.texts[".planning/ROADMAP.md"];
        let expected = ROADMAP
            .replace("- [ ] **Phase 1: Base** - b", "- [x] **Phase 1: Base** - b (completed 2026-01-02)")
            .replace("**Plans:** 1 plan\n", "**Plans:** 1/1 plans complete\n")
            .replace("- [ ] 01-01", "- [x] 01-01")
            .replace("| 0/1 | In Progress | - |", "| 1/1 | Complete    | 2026-01-02 |");
        assert_eq!(*roadmap, expected);
        assert_eq!(
            edits.texts[".planning/REQUIREMENTS.md"],
            "- [x] **A-1**: one\n- [x] **A-2**: two\n- [ ] **B-1**: three\n"
        );
        assert!(
            edits.texts[".planning/STATE.md"]
                .contains("Phase: 2 of 2 (Next) — READY TO PLAN\nPlan: Not started\nStatus: Ready to plan\n")
        );
        assert!(edits.texts.contains_key(".planning/state.json"));
    }

    #[test]
    fn an_open_plan_or_verification_stops_completion() {
        let facts = facts();
        let told = complete(&view("passed", false), "1", "/gsd-", false, &facts).unwrap_err();
        assert_eq!(told.message, "phase 1 cannot be completed: 1 plan without a summary: 01-01-PLAN.md");
        let told = complete(&view("human_needed", true), "01", "/gsd-", false, &facts).unwrap_err();
        assert!(told.message.starts_with("phase 01 is not verified: "), "{told:?}");
        assert_eq!(told.hints, ["next: `/gsd-verify-work 01`"]);
        let told = complete(&view("passed", true), "7", "/gsd-", false, &facts).unwrap_err();
        assert_eq!(told.message, "there is no phase `7`");
    }
}
