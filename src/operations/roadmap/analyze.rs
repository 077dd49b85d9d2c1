//! Compares the roadmap with the disk, for one phase or all phases, and writes progress back.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::brief::Brief;
use crate::operations::answers::answer::answer;
use crate::operations::facts::listed::{self, PhaseFacts};
use crate::operations::overview::figures::{self, Overview};
use crate::operations::overview::measure::mark;
use crate::project::files::FileError;
use crate::project::milestone::{Milestone, MilestoneScope, milestone_headings};
use crate::project::phase::{self, PhaseId, PhaseIndex, normal_key};
use crate::project::roadmap::{PhaseSection, Roadmap, name_without_tag};
use crate::project::standing::{PhaseStanding, Stage, is_closed};
use crate::project::up_next;
use crate::project::verification;
use crate::project::view::{Edits, ProjectView};
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::splice::Splices;

/// What `roadmap get-phase` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum GetPhaseReport {
    Found {
        found: bool,
        phase_number: String,
        phase_name: String,
        goal: Option<String>,
        mode: Option<String>,
        success_criteria: Vec<String>,
        /// The section, byte for byte.
        section: String,
        #[serde(flatten)]
        brief: Box<Brief>,
    },
    /// The phase has a checklist line but no section.
    Malformed {
        found: bool,
        phase_number: String,
        phase_name: String,
        error: &'static str,
        message: String,
    },
    Absent {
        found: bool,
        phase_number: String,
    },
    NoRoadmap {
        found: bool,
        error: &'static str,
    },
}

impl GetPhaseReport {
    /// The section of the phase for a person, with its requirements.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        match self {
            Self::Found { section, brief, .. } => screen.lines("", section) + &brief.shown(screen),
            // Those are failures.
            Self::Malformed { .. } | Self::Absent { .. } | Self::NoRoadmap { .. } => String::new(),
        }
    }
}

/// Gets the section of one phase.
pub(crate) fn get_phase(view: &ProjectView, typed: &str) -> Result<GetPhaseReport, FileError> {
    let Some(roadmap) = view.roadmap()? else {
        return Ok(GetPhaseReport::NoRoadmap { found: false, error: NO_ROADMAP });
    };
    let phase_number = typed.to_owned();
    if PhaseId::new(typed).is_sentinel() {
        return Ok(GetPhaseReport::Absent { found: false, phase_number });
    }
    if let Some(section) = roadmap.section(typed) {
        return Ok(GetPhaseReport::Found {
            found: true,
            phase_number,
            phase_name: section.name.to_owned(),
            goal: owned(roadmap.field(section, "Goal")),
            mode: roadmap.mode(section),
            success_criteria: roadmap.success_criteria(section),
            section: roadmap.section_text(section).to_owned(),
            brief: Box::new(Brief::of(view, roadmap, section)?),
        });
    }
    Ok(match roadmap.bullet(typed) {
        Some(bullet) => GetPhaseReport::Malformed {
            found: false,
            phase_number,
            phase_name: bullet.name.to_owned(),
            error: "malformed_roadmap",
            message: format!(
                "phase {typed} is listed on line {} but has no section; add a heading `### Phase {typed}: {}`",
                bullet.line + 1,
                bullet.name
            ),
        },
        None => match roadmap.unread_phases().into_iter().find(|unread| PhaseId::new(typed).matches(unread.id)) {
            Some(unread) => GetPhaseReport::Malformed {
                found: false,
                phase_number,
                phase_name: String::new(),
                error: "malformed_roadmap",
                message: format!("{}. {}", unread.message(), unread.cure()),
            },
            None => GetPhaseReport::Absent { found: false, phase_number },
        },
    })
}

pub(super) const NO_ROADMAP: &str = "ROADMAP.md not found";

/// The number of phases shown to a person.
const SHOWN: usize = 20;
const DETAIL: usize = 240;

/// The milestone in the roadmap and on disk.
#[derive(Debug)]
pub(crate) struct Analysis {
    overview: Overview,
    milestones: Vec<MilestoneSummary>,
    /// Phases with a checklist line but no section.
    missing: Vec<String>,
    /// The current phase.
    current: Option<String>,
}

answer! {
    /// What `roadmap analyze` answers.
    pub(crate) struct AnalyzeReport |analysis: Analysis| with figures(&analysis.overview) {
        milestones: Vec<MilestoneSummary> = analysis.milestones.clone(),
        phases: Vec<PhaseSummary> = analysis.overview.phases.iter().map(PhaseSummary::of).collect(),
        phase_count, completed_phases, total_plans, total_summaries,
        progress_percent = percent, progress_scope = phase_scope,
        /// The current phase, or else the first one that is open.
        current_phase: Option<String> = analysis.current_phase(),
        /// The first open phase without plans.
        next_phase: Option<String> = analysis.open().find(|phase| is_unplanned(phase)).map(|phase| phase.number.clone()),
        /// The phases with something left to do: the roadmap does not mark them as done, or a plan has no summary.
        open_phases: Vec<String> = analysis.open().map(|phase| phase.number.clone()).collect(),
        /// Phases with a checklist line but no section.
        missing_phase_details: Option<Vec<String>> =
            Some(analysis.missing.clone()).filter(|missing| !missing.is_empty()),
        scope = phase_scope,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        problems,
    }
}

answer! {
    /// One phase: what the roadmap says and what is on disk.
    pub(crate) struct PhaseSummary |phase: PhaseFacts| with listed(phase) {
        number, name, goal, mode, depends_on, plan_count, summary_count, has_context, has_research, disk_status,
        roadmap_complete,
        /// Always null: a folder that cannot be read is an error.
        context_read_error: Option<String> = None,
        context_scope,
    }
}

impl Analysis {
    fn open(&self) -> impl Iterator<Item = &PhaseFacts> {
        self.overview.phases.iter().filter(|phase| phase.is_open())
    }

    fn current_phase(&self) -> Option<String> {
        let at_work = self.current.as_deref().map(PhaseId::new);
        let is_at_work = |phase: &&PhaseFacts| at_work.as_ref().is_some_and(|at| at.matches(&phase.number));
        self.open().find(is_at_work).or_else(|| self.open().next()).map(|phase| phase.number.clone())
    }

    /// The phases with their goals for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let milestones: Vec<&str> = self.milestones.iter().map(|milestone| milestone.heading.as_str()).collect();
        let mut page = String::new();
        if !milestones.is_empty() {
            page += &screen.paint_lines(Tone::Strong, &screen.prose("", "  ", &milestones.join(", ")));
        }
        page += &self.overview.measure().shown(screen);
        let phases = &self.overview.phases;
        for phase in phases.iter().take(SHOWN) {
            let is_current = self.current.as_ref().is_some_and(|at| phase::compare(at, &phase.number).is_eq());
            let (plans, summaries) = (phase.standing.work.plans.len(), phase.standing.work.summaries);
            let mark = mark(phase.is_closed(), is_current, summaries > 0);
            let plans = match plans {
                0 => Cell::default(),
                count => Cell::from(format!("{summaries}/{}", counted(count, "plan"))),
            };
            let name = Cell::new(Tone::Strong, phase.name.as_str());
            page += "\n";
            page += &screen.table("", &[vec![screen.mark(mark), Cell::from(phase.number.as_str()), name, plans]]);
            let details = [("Goal", &phase.goal), ("Depends on", &phase.depends_on)];
            for (label, text) in details.into_iter().filter_map(|(label, text)| Some((label, text.as_deref()?))) {
                let text = screen.fitted(&format!("{label}: {text}"), DETAIL);
                page += &screen.prose("   ", "     ", &text);
            }
        }
        if let Some(more) = phases.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            let rest = format!("and {more} more: `gsd-tools roadmap analyze --json` lists them all");
            page += &screen.prose("\n", "", &rest);
        }
        for number in &self.missing {
            let what = format!("Phase {number} is in the checklist and has no section `### Phase {number}: ...`");
            page += &screen.item("", Mark::Warning, &what);
        }
        page
    }
}

/// There is no plan yet, nor a summary.
fn is_unplanned(phase: &PhaseFacts) -> bool {
    matches!(phase.stage(), Stage::NoDirectory | Stage::Empty | Stage::Discussed | Stage::Researched)
}

/// What `roadmap analyze` answers without a roadmap.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct NoRoadmapReport {
    pub(crate) error: &'static str,
    pub(crate) milestones: Vec<MilestoneSummary>,
    pub(crate) phases: Vec<PhaseSummary>,
    pub(crate) current_phase: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct MilestoneSummary {
    pub(crate) heading: String,
    pub(crate) version: String,
}

/// Analyzes every phase of the current milestone and its files on disk.
pub(crate) fn analyze(view: &ProjectView) -> Result<Result<Analysis, NoRoadmapReport>, FileError> {
    let Some(roadmap) = view.roadmap()? else {
        return Ok(Err(NoRoadmapReport { error: NO_ROADMAP, ..NoRoadmapReport::default() }));
    };
    let milestone = view.milestone()?;
    let phases = phases(view, roadmap, &milestone)?;
    let headings = milestone_headings(roadmap).into_iter().filter(|heading| milestone.holds(heading.heading.line));
    let milestones = headings.filter_map(|heading| {
        Some(MilestoneSummary { heading: heading.heading.title.to_owned(), version: heading.version?.to_owned() })
    });
    Ok(Ok(Analysis {
        milestones: milestones.collect(),
        missing: without_section(view, roadmap, &milestone)?,
        current: up_next::current_phase(view)?,
        overview: Overview::new(view, milestone, phases)?,
    }))
}

/// The phases of the current milestone: those with a section, and those that it lists otherwise.
pub(crate) fn phases(
    view: &ProjectView,
    roadmap: &Roadmap<'_>,
    milestone: &Milestone,
) -> Result<Vec<PhaseFacts>, FileError> {
    let folders = view.phase_folders()?;
    verification::look_ahead(view, folders.iter())?;
    let tokens = folders.iter().enumerate().filter_map(|(at, folder)| Some((at, folder.numbered()?)));
    let index = PhaseIndex::new(tokens);
    let mut phases: Vec<PhaseFacts> = Vec::new();
    // The standing is computed once for each number, for its first phase.
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut standing = |id, phases: &[PhaseFacts]| match first.entry(id) {
        Entry::Occupied(known) => Ok(phases[*known.get()].standing.clone()),
        Entry::Vacant(new) => {
            new.insert(phases.len());
            let folder = index.find(id).map(|at| &folders[at]);
            PhaseStanding::of(view, id, folder)
        }
    };
    for section in analysed_sections(roadmap).filter(|section| milestone.holds(section.heading_line)) {
        phases.push(PhaseFacts {
            goal: owned(roadmap.field(section, "Goal")),
            mode: roadmap.mode(section),
            depends_on: owned(roadmap.field(section, "Depends on")),
            ..PhaseFacts::new(section.id, name_without_tag(section.name), standing(section.id, &phases)?)
        });
    }
    let mut known: HashSet<String> = phases.iter().map(|phase| normal_key(&phase.number)).collect();
    for listed in milestone.phases(roadmap) {
        if known.insert(normal_key(listed.id)) {
            let name = name_without_tag(listed.name);
            phases.push(PhaseFacts::new(listed.id, name, standing(listed.id, &phases)?));
        }
    }
    Ok(phases)
}

/// The phases of the checklist without a section. For an archived milestone, the sections in the archive count.
fn without_section(view: &ProjectView, roadmap: &Roadmap<'_>, milestone: &Milestone) -> Result<Vec<String>, FileError> {
    let mut missing = Vec::new();
    for bullet in roadmap.bullets() {
        let is_work = !bullet.is_sentinel() && !bullet.is_retired;
        if !milestone.holds(bullet.line) || !is_work || roadmap.section(bullet.id).is_some() {
            continue;
        }
        let folder = if bullet.checked { view.find_phase(bullet.id)?.folder } else { None };
        if folder.is_none_or(|folder| folder.archived.is_none()) {
            missing.push(bullet.id.to_owned());
        }
    }
    Ok(missing)
}

/// `done` as a percentage of `total`, rounded, at most 100; 0 if `total` is 0.
pub(crate) fn percent(done: usize, total: usize) -> usize {
    if total == 0 { 0 } else { ((200 * done + total) / (2 * total)).min(100) }
}

/// The open sections whose identifier starts with a number, without shelved and abandoned ones.
fn analysed_sections<'roadmap, 'text>(
    roadmap: &'roadmap Roadmap<'text>,
) -> impl Iterator<Item = &'roadmap PhaseSection<'text>> {
    roadmap.sections().iter().filter(|section| {
        !section.shipped
            && section.id.starts_with(|first: char| first.is_ascii_digit())
            && !PhaseId::names_sentinel(section.id)
            && !roadmap.is_retired(section.id)
    })
}

fn owned(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// What `roadmap milestone-scope` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScopeReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'static str>,
    pub(crate) scope: MilestoneScope,
    pub(crate) phases: Vec<String>,
    pub(crate) phase_count: usize,
}

/// Lists the phases of the current milestone.
pub(crate) fn milestone_scope(view: &ProjectView) -> Result<ScopeReport, FileError> {
    let milestone = view.milestone()?;
    let Some(roadmap) = view.roadmap()? else {
        return Ok(ScopeReport { error: Some(NO_ROADMAP), scope: milestone.scope, phases: Vec::new(), phase_count: 0 });
    };
    let phases: Vec<String> = milestone.phase_ids(roadmap).into_iter().map(str::to_owned).collect();
    Ok(ScopeReport { error: None, scope: milestone.scope, phase_count: phases.len(), phases })
}

/// What `roadmap update-plan-progress` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ProgressReport {
    pub(crate) updated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<String>,
    pub(crate) plan_count: usize,
    pub(crate) summary_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verification_stale_check_indeterminate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

/// Writes a phase's plan counts, ticks and status into the roadmap. `None` if the phase is not on disk.
pub(crate) fn update_plan_progress(
    view: &ProjectView,
    typed: &str,
    today: &str,
) -> Result<Option<(ProgressReport, Edits)>, FileError> {
    let Some(folder) = view.find_phase(typed)?.folder else { return Ok(None) };
    let declined = |reason: &'static str, plans: usize, summaries: usize| ProgressReport {
        plan_count: plans,
        summary_count: summaries,
        reason: Some(reason),
        ..ProgressReport::default()
    };
    let plans = view.current_plans(&folder)?;
    if plans.is_empty() {
        return Ok(Some((declined("No plans found", 0, folder.summaries().count()), Edits::default())));
    }
    let open = view.open_plans(&folder)?;
    let done: Vec<&str> = plans.iter().filter(|plan| !open.contains(plan)).map(String::as_str).collect();
    let Some(roadmap) = view.roadmap()? else {
        return Ok(Some((declined(NO_ROADMAP, plans.len(), done.len()), Edits::default())));
    };
    let standing = PhaseStanding::of(view, folder.token(), Some(&folder))?;
    let (complete, verification) = (standing.is_complete(), &standing.verification);
    let mut splices = Splices::default();
    let status = write_progress(roadmap, typed, &plans, &done, complete, today, &mut splices);
    let is_named =
        roadmap.section(typed).is_some() || roadmap.bullet(typed).is_some() || roadmap.progress_row(typed).is_some();
    let mut edits = Edits::default();
    edits.write(view, &view.layout().roadmap(), splices.apply(roadmap.text()))?;
    let report = ProgressReport {
        updated: is_named,
        phase: Some(typed.to_owned()),
        plan_count: plans.len(),
        summary_count: done.len(),
        status: Some(status),
        complete: Some(complete),
        verification_stale_check_indeterminate: Some(verification.indeterminate),
        reason: (!is_named).then_some("missing_phase_details"),
    };
    Ok(Some((report, edits)))
}

/// Writes the number of finished plans to all places of a phase. A phase with a plan to execute is open, whatever its
/// checklist line says. Returns the word for its status.
fn write_progress(
    roadmap: &Roadmap<'_>,
    typed: &str,
    plans: &[String],
    done: &[&str],
    complete: bool,
    today: &str,
    splices: &mut Splices,
) -> &'static str {
    let state = if complete { "complete" } else { "executed" };
    write_plans(roadmap, typed, plans, done, &format!("{}/{} plans {state}", done.len(), plans.len()), splices);
    let counts = format!(" {}/{} ", done.len(), plans.len());
    let (status, completed) = if complete {
        roadmap.tick_phase(typed, today, splices);
        ("Complete", format!(" {} ", completed_day(roadmap, typed).unwrap_or(today)))
    } else {
        if done.len() < plans.len() {
            roadmap.untick_phase(typed, splices);
        }
        (if done.is_empty() { "Planned" } else { "In Progress" }, "  ".to_owned())
    };
    let cells = [("plans", counts), ("status", format!(" {status:<11}")), ("completed", completed)];
    roadmap.set_progress(typed, &cells, splices);
    status
}

/// Writes the plans of a phase into its section: their count, and a line for each.
fn write_plans(
    roadmap: &Roadmap<'_>,
    typed: &str,
    plans: &[String],
    done: &[&str],
    count: &str,
    splices: &mut Splices,
) {
    let Some(section) = roadmap.section(typed) else { return };
    roadmap.set_plan_count(section, count, splices);
    roadmap.tick_plans(section, done, splices);
    let lines: Vec<(&str, bool)> = plans.iter().map(|plan| (plan.as_str(), done.contains(&plan.as_str()))).collect();
    roadmap.add_plans(section, &lines, splices);
}

/// Writes the plans of a newly planned phase into the roadmap, or their number if they are not on disk yet. Returns
/// true if the phase was closed and is now reopened.
pub(crate) fn note_planned(
    view: &ProjectView,
    typed: &str,
    announced: Option<u64>,
    today: &str,
    edits: &mut Edits,
) -> Result<bool, FileError> {
    let Some(roadmap) = view.roadmap()? else { return Ok(false) };
    let folder = view.find_phase(typed)?.folder.filter(|folder| folder.archived.is_none());
    let plans = folder.as_ref().map(|folder| view.current_plans(folder)).transpose()?.unwrap_or_default();
    let to_do = folder.as_ref().map(|folder| view.open_plans(folder)).transpose()?.unwrap_or_default();
    let done: Vec<&str> = plans.iter().filter(|plan| !to_do.contains(plan)).map(String::as_str).collect();
    let all = if plans.is_empty() { announced.unwrap_or(0) } else { u64::try_from(plans.len()).unwrap_or(0) };
    let closed = is_closed(roadmap, typed);
    let open = done.len() < plans.len();
    if all == 0 || !(open || plans.is_empty() && !closed) {
        return Ok(false);
    }
    let mut splices = Splices::default();
    if closed {
        write_progress(roadmap, typed, &plans, &done, false, today, &mut splices);
    } else {
        let plural = if all == 1 { "" } else { "s" };
        let count = match done.len() {
            0 => format!("{all} plan{plural}"),
            done => format!("{done}/{all} plans executed"),
        };
        write_plans(roadmap, typed, &plans, &done, &count, &mut splices);
        let status = if done.is_empty() { "Planned" } else { "In Progress" };
        let cells = [("plans", format!(" {}/{all} ", done.len())), ("status", format!(" {status} "))];
        // A cell that already has the value keeps its padding.
        let row = roadmap.progress_row(typed);
        let says = |word: &str, text: &str| {
            row.and_then(|row| row.cell(word)).is_some_and(|cell| cell.eq_ignore_ascii_case(text.trim()))
        };
        let cells: Vec<(&str, String)> = cells.into_iter().filter(|(word, text)| !says(word, text)).collect();
        roadmap.set_progress(typed, &cells, &mut splices);
    }
    edits.write(view, &view.layout().roadmap(), splices.apply(roadmap.text()))?;
    Ok(closed)
}

/// The date in the `Completed` cell of a phase's progress row.
pub(crate) fn completed_day<'roadmap>(roadmap: &'roadmap Roadmap<'_>, typed: &str) -> Option<&'roadmap str> {
    let day = roadmap.progress_row(typed)?.cells.iter().find(|(column, _)| &**column == "completed")?.1;
    day.starts_with(|first: char| first.is_ascii_digit()).then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::figures::MilestoneCounts;
    use crate::project::files::MemoryFiles;

    #[test]
    fn an_abandoned_phase_counts_nowhere() {
        let told = |second: &str| {
            let roadmap = format!(
                "- [x] **Phase 1: A** - a\n- [ ] {second} - b\n\n### Phase 1: A\n**Mode:** MVP \n### Phase 2: B\n"
            );
            let view = ProjectView::of([
                (".planning/ROADMAP.md", roadmap.as_str()),
                (".planning/phases/ACME-02-b/02-01-PLAN.md", ""),
            ]);
            let analysis = analyze(&view).unwrap().unwrap();
            let (report, counts) = (AnalyzeReport::of(&analysis), analysis.overview.measured.counts);
            assert_eq!(report.phases[0].mode.as_deref(), Some("mvp"));
            (report.phase_count, report.open_phases.len(), counts.total_phases, counts.percent())
        };
        assert_eq!(told("**Phase 2: B**"), (2, 1, 2, 0));
        assert_eq!(told("~~**Phase 2: B**~~"), (1, 0, 1, 100));
        let all = ProjectView::of([
            (".planning/ROADMAP.md", "- [ ] ~~**Phase 2: B**~~ - b\n"),
            (".planning/phases/02-b/02-01-PLAN.md", ""),
        ]);
        assert_eq!(MilestoneCounts::of(&all).unwrap().total_phases, 0, "all of them");
    }

    #[test]
    fn a_plan_line_in_bold_without_a_file_name_is_ticked() {
        let roadmap = "### Phase 1: A\n**Plans**: 1 plan\n\n- [ ] **01-01**: text\n";
        let files = [
            (".planning/ROADMAP.md", roadmap),
            (".planning/phases/01-a/01-01-PLAN.md", ""),
            (".planning/phases/01-a/01-01-SUMMARY.md", ""),
        ];
        let (_, edits) = update_plan_progress(&ProjectView::of(files), "1", "2026-01-02").unwrap().unwrap();
        let text = &edits.texts[".planning/ROADMAP.md"];
        assert!(text.contains("- [x] **01-01**: text\n") && text.matches("01-01").count() == 1, "{text}");
    }

    #[test]
    fn a_phase_without_a_finished_plan_is_planned() {
        let row =
            "| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. A | 0/TBD | Not started | - |\n";
        let told = |others: &[(&str, &str)]| {
            let files = [(".planning/ROADMAP.md", row), (".planning/phases/01-a/01-01-PLAN.md", "")];
            let files = MemoryFiles::new(files.iter().chain(others).copied());
            let view = files.view();
            let (report, edits) = update_plan_progress(&view, "1", "2026-01-02").unwrap().unwrap();
            (report.status, edits.texts[".planning/ROADMAP.md"].lines().last().unwrap().to_owned())
        };
        assert_eq!(told(&[]), (Some("Planned"), "| 1. A | 0/1 | Planned    |  |".to_owned()));
        let summary = (".planning/phases/01-a/01-01-SUMMARY.md", "");
        assert_eq!(told(&[summary]), (Some("In Progress"), "| 1. A | 1/1 | In Progress|  |".to_owned()));
    }

    #[test]
    fn an_archived_phase_has_its_section_in_the_archive() {
        let files = [
            (".planning/ROADMAP.md", "- [x] **Phase 1: A** - a\n- [x] **Phase 2: B** - b\n- [ ] **Phase 3: C** - c\n"),
            (".planning/milestones/v1.0-phases/01-a/01-01-PLAN.md", ""),
            (".planning/milestones/v1.0-phases/03-old/03-01-PLAN.md", ""),
        ];
        let analysis = analyze(&ProjectView::of(files)).unwrap().unwrap();
        assert_eq!(analysis.missing, ["2", "3"], "numbers may start over");
    }

    #[test]
    fn a_phase_that_the_roadmap_does_not_name_is_reported() {
        let files = [(".planning/ROADMAP.md", "### Phase 2: B\n"), (".planning/phases/01-a/01-01-PLAN.md", "")];
        let view = ProjectView::of(files);
        let (report, edits) = update_plan_progress(&view, "1", "2026-01-02").unwrap().unwrap();
        assert_eq!((report.updated, report.reason), (false, Some("missing_phase_details")));
        assert!(edits.is_empty());
    }
}
