//! The roadmap against the disk: one phase, all phases, and the progress written back.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::config::Config;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::milestone::{MilestoneScope, milestone_headings};
use crate::project::phase::{PhaseId, PhaseIndex};
use crate::project::roadmap::{PhaseSection, Roadmap, name_without_tag};
use crate::project::roadmap_edit::PlanBullet;
use crate::project::standing::{PhaseStanding, Stage, is_closed};
use crate::project::verification;
use crate::project::view::{Edits, ProjectView};
use crate::text::front_matter::{FrontMatter, Value, is_unclosed};
use crate::text::splice::Splices;

use super::state::Counts;

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
        /// The section's own bytes.
        section: String,
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

/// The section of one phase.
pub(crate) fn get_phase(view: &ProjectView, typed: &str) -> Result<GetPhaseReport, FileError> {
    let Some(text) = view.roadmap_text()? else {
        return Ok(GetPhaseReport::NoRoadmap { found: false, error: NO_ROADMAP });
    };
    let roadmap = view.parse_roadmap(&text);
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
            mode: owned(roadmap.field(section, "Mode")),
            success_criteria: roadmap.success_criteria(section).into_iter().map(str::to_owned).collect(),
            section: roadmap.section_text(section).to_owned(),
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
        None => GetPhaseReport::Absent { found: false, phase_number },
    })
}

const NO_ROADMAP: &str = "ROADMAP.md not found";

/// What `roadmap analyze` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnalyzeReport {
    pub(crate) milestones: Vec<MilestoneSummary>,
    pub(crate) phases: Vec<PhaseSummary>,
    pub(crate) phase_count: usize,
    pub(crate) completed_phases: usize,
    pub(crate) total_plans: usize,
    pub(crate) total_summaries: usize,
    /// How much of the milestone is done; none unless the milestone's scope is complete.
    pub(crate) progress_percent: Option<u64>,
    pub(crate) progress_scope: MilestoneScope,
    /// The first phase that is open.
    pub(crate) current_phase: Option<String>,
    /// The first open phase without plans.
    pub(crate) next_phase: Option<String>,
    /// The phases about which something is left to do: the roadmap does not call them done, or a plan has no summary.
    pub(crate) open_phases: Vec<String>,
    /// Phases with a checklist line and no section.
    pub(crate) missing_phase_details: Option<Vec<String>>,
    pub(crate) scope: MilestoneScope,
}

/// What `roadmap analyze` answers where there is no roadmap.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoRoadmapReport {
    pub(crate) error: &'static str,
    pub(crate) milestones: Vec<MilestoneSummary>,
    pub(crate) phases: Vec<PhaseSummary>,
    pub(crate) current_phase: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MilestoneSummary {
    pub(crate) heading: String,
    pub(crate) version: String,
}

/// One phase: what the roadmap says and what is on disk.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PhaseSummary {
    pub(crate) number: String,
    pub(crate) name: String,
    pub(crate) goal: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) depends_on: Option<String>,
    pub(crate) plan_count: usize,
    pub(crate) summary_count: usize,
    pub(crate) has_context: bool,
    pub(crate) has_research: bool,
    pub(crate) disk_status: DiskStatus,
    /// The roadmap says that the phase is done.
    pub(crate) roadmap_complete: bool,
    pub(crate) context_read_error: Option<String>,
    pub(crate) context_scope: MilestoneScope,
    #[serde(skip)]
    pub(crate) standing: PhaseStanding,
}

/// How far a phase is, in fewer words than its standing has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiskStatus {
    NoDirectory,
    Empty,
    Discussed,
    Researched,
    Planned,
    Partial,
    Complete,
}

impl DiskStatus {
    fn is_unplanned(self) -> bool {
        matches!(self, Self::NoDirectory | Self::Empty | Self::Discussed | Self::Researched)
    }

    fn of(stage: Stage) -> Self {
        match stage {
            Stage::NoDirectory => Self::NoDirectory,
            Stage::Empty => Self::Empty,
            Stage::Discussed => Self::Discussed,
            Stage::Researched => Self::Researched,
            Stage::Planned => Self::Planned,
            Stage::Partial | Stage::Executed => Self::Partial,
            Stage::Complete => Self::Complete,
        }
    }
}

/// Every phase of the current milestone, with what is on disk.
pub(crate) fn analyze(view: &ProjectView) -> Result<Result<AnalyzeReport, NoRoadmapReport>, FileError> {
    let Some(text) = view.roadmap_text()? else {
        return Ok(Err(NoRoadmapReport {
            error: NO_ROADMAP,
            milestones: Vec::new(),
            phases: Vec::new(),
            current_phase: None,
        }));
    };
    let roadmap = view.parse_roadmap(&text);
    let milestone = view.milestone_in(&roadmap)?;
    let folders = view.phase_folders()?;
    verification::look_ahead(view, &folders)?;
    let tokens = folders.iter().enumerate().filter_map(|(at, folder)| Some((at, folder.numbered()?)));
    let index = PhaseIndex::new(tokens);
    let standing = |id: &str| {
        let folder = index.find(id).map(|at| &folders[at]);
        PhaseStanding::of(view, Some(&roadmap), id, folder)
    };
    let mut phases = Vec::new();
    for section in analysed_sections(&roadmap).filter(|section| milestone.holds(section.heading_line)) {
        phases.push(PhaseSummary {
            goal: owned(roadmap.field(section, "Goal")),
            mode: owned(roadmap.field(section, "Mode")),
            depends_on: owned(roadmap.field(section, "Depends on")),
            ..PhaseSummary::of(section.id, name_without_tag(section.name), standing(section.id)?)
        });
    }
    for row in roadmap.rows().iter().filter(|row| row.lists && milestone.holds(row.line)) {
        let id = PhaseId::new(row.id);
        if id.is_sentinel() || phases.iter().any(|phase| id.matches(&phase.number)) {
            continue;
        }
        phases.push(PhaseSummary::of(row.id, row.name, standing(row.id)?));
    }
    let open = || phases.iter().filter(|phase| phase.standing.work.is_open());
    let open_phases: Vec<String> = open().map(|phase| phase.number.clone()).collect();
    let current_phase = open_phases.first().cloned();
    let next_phase = open().find(|phase| phase.disk_status.is_unplanned()).map(|phase| phase.number.clone());
    let total_plans: usize = phases.iter().map(|phase| phase.plan_count).sum();
    let total_summaries: usize = phases.iter().map(|phase| phase.summary_count).sum();
    let missing: Vec<String> = roadmap
        .bullets()
        .iter()
        .filter(|bullet| milestone.holds(bullet.line) && !bullet.is_sentinel() && roadmap.section(bullet.id).is_none())
        .map(|bullet| bullet.id.to_owned())
        .collect();
    let milestones = milestone_headings(&roadmap)
        .iter()
        .filter(|heading| milestone.holds(heading.heading.line))
        .filter_map(|heading| {
            Some(MilestoneSummary { heading: heading.heading.title.to_owned(), version: heading.version?.to_owned() })
        })
        .collect();
    Ok(Ok(AnalyzeReport {
        milestones,
        phase_count: phases.len(),
        completed_phases: phases.iter().filter(|phase| phase.disk_status == DiskStatus::Complete).count(),
        total_plans,
        total_summaries,
        progress_percent: if milestone.scope == MilestoneScope::Complete {
            Some(Counts::of(view)?.percent())
        } else {
            None
        },
        progress_scope: milestone.scope,
        current_phase,
        next_phase,
        open_phases,
        missing_phase_details: (!missing.is_empty()).then_some(missing),
        scope: milestone.scope,
        phases,
    }))
}

/// `done` per hundred of `total`, rounded, at most 100; none of nothing is 0.
pub(crate) fn percent(done: usize, total: usize) -> usize {
    if total == 0 { 0 } else { ((200 * done + total) / (2 * total)).min(100) }
}

/// The open sections whose identifier starts with a number and that are no shelves.
fn analysed_sections<'roadmap, 'text>(
    roadmap: &'roadmap Roadmap<'text>,
) -> impl Iterator<Item = &'roadmap PhaseSection<'text>> {
    roadmap.sections().iter().filter(|section| {
        !section.shipped
            && section.id.starts_with(|first: char| first.is_ascii_digit())
            && !PhaseId::new(section.id).is_sentinel()
    })
}

impl PhaseSummary {
    /// The phase `number` that stands so, without what its section tells.
    fn of(number: &str, name: &str, standing: PhaseStanding) -> Self {
        let work = &standing.work;
        Self {
            number: number.to_owned(),
            name: name.to_owned(),
            goal: None,
            mode: None,
            depends_on: None,
            plan_count: work.plans.len(),
            summary_count: work.summaries,
            has_context: work.has_context,
            has_research: work.has_research,
            disk_status: DiskStatus::of(standing.stage()),
            roadmap_complete: work.closed,
            context_read_error: None,
            context_scope: MilestoneScope::Complete,
            standing,
        }
    }
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

/// The phases of the current milestone.
pub(crate) fn milestone_scope(view: &ProjectView) -> Result<ScopeReport, FileError> {
    let milestone = view.milestone()?;
    let Some(text) = view.roadmap_text()? else {
        return Ok(ScopeReport { error: Some(NO_ROADMAP), scope: milestone.scope, phases: Vec::new(), phase_count: 0 });
    };
    let phases: Vec<String> = milestone.phase_ids(&view.parse_roadmap(&text)).into_iter().map(str::to_owned).collect();
    Ok(ScopeReport { error: None, scope: milestone.scope, phase_count: phases.len(), phases })
}

/// What `roadmap validate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ValidateReport {
    pub(crate) warnings: Vec<RoadmapFinding>,
    /// Phases of which the places of the roadmap say different things. They can be read all the same.
    pub(crate) mismatches: Vec<Mismatch>,
}

/// Two places of the roadmap that do not agree on a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Mismatch {
    pub(crate) code: &'static str,
    pub(crate) phase: String,
    /// From 1: the line to change, or the one that has what is missing elsewhere.
    pub(crate) line: usize,
    pub(crate) message: String,
    pub(crate) fix: String,
}

/// What one place of the roadmap says of a phase.
struct Told<'text> {
    place: &'static str,
    id: &'text str,
    name: &'text str,
    line: usize,
}

/// Compares the checklist, the details and the Progress table of the current milestone: which phases each lists, under
/// which number and name. A place that the document does not have at all is not missed.
pub(crate) fn mismatches(view: &ProjectView, roadmap: &Roadmap<'_>) -> Result<Vec<Mismatch>, FileError> {
    const PLACES: [&str; 3] = ["checklist", "details", "Progress table"];
    let milestone = view.milestone_in(roadmap)?;
    let own: Vec<PhaseId> = milestone.phase_ids(roadmap).into_iter().map(PhaseId::new).collect();
    let bullets = roadmap.bullets().iter().filter(|bullet| milestone.holds(bullet.line));
    let sections = roadmap.sections().iter().filter(|section| milestone.holds(section.heading_line));
    let rows = roadmap.rows().iter().filter(|row| !row.lists && !row.shipped);
    // The table may have rows of other milestones.
    let rows = rows.filter(|row| milestone.holds(row.line) || own.iter().any(|id| id.matches(row.id)));
    let told: Vec<Told<'_>> = bullets
        .map(|bullet| Told { place: PLACES[0], id: bullet.id, name: bullet.name, line: bullet.line })
        .chain(sections.map(|section| Told {
            place: PLACES[1],
            id: section.id,
            name: section.name,
            line: section.heading_line,
        }))
        .chain(rows.map(|row| Told { place: PLACES[2], id: row.id, name: row.name, line: row.line }))
        .filter(|told| !PhaseId::new(told.id).is_sentinel())
        .collect();
    let mut phases: Vec<PhaseId> = Vec::new();
    for told in &told {
        let id = PhaseId::new(told.id);
        if !phases.contains(&id) {
            phases.push(id);
        }
    }
    phases.sort_by(|left, right| crate::project::phase::compare(left.as_str(), right.as_str()));
    let in_use: Vec<&str> = PLACES.into_iter().filter(|place| told.iter().any(|told| told.place == *place)).collect();
    let mut found = Vec::new();
    for phase in &phases {
        let own: Vec<&Told<'_>> = told.iter().filter(|told| phase.matches(told.id)).collect();
        // The details say the most, so that the others follow them.
        let Some(leading) = own.iter().find(|told| told.place == PLACES[1]).or(own.first()) else { continue };
        let name = name_without_tag(leading.name);
        for place in in_use.iter().filter(|place| own.iter().all(|told| told.place != **place)) {
            found.push(Mismatch {
                code: "C005",
                phase: leading.id.to_owned(),
                line: leading.line + 1,
                message: format!(
                    "Phase {} is in the {} (line {}) and missing in the {place}",
                    leading.id,
                    leading.place,
                    leading.line + 1
                ),
                fix: format!("Add phase {} `{name}` to the {place} of ROADMAP.md, or remove it elsewhere", leading.id),
            });
        }
        for other in own.iter().filter(|told| told.line != leading.line) {
            if other.id != leading.id {
                found.push(Mismatch {
                    code: "C006",
                    phase: leading.id.to_owned(),
                    line: other.line + 1,
                    message: format!(
                        "Phase {} of the {} (line {}) is numbered `{}` in the {} (line {})",
                        leading.id,
                        leading.place,
                        leading.line + 1,
                        other.id,
                        other.place,
                        other.line + 1
                    ),
                    fix: format!("Write `{}` on line {} of ROADMAP.md", leading.id, other.line + 1),
                });
            }
            let other_name = name_without_tag(other.name);
            if !name.is_empty() && !other_name.is_empty() && plain_name(name) != plain_name(other_name) {
                found.push(Mismatch {
                    code: "C006",
                    phase: leading.id.to_owned(),
                    line: other.line + 1,
                    message: format!(
                        "Phase {} is called `{name}` in the {} (line {}) and `{other_name}` in the {} (line {})",
                        leading.id,
                        leading.place,
                        leading.line + 1,
                        other.place,
                        other.line + 1
                    ),
                    fix: format!(
                        "Write `{name}` on line {} of ROADMAP.md, or `{other_name}` on line {}",
                        other.line + 1,
                        leading.line + 1
                    ),
                });
            }
        }
    }
    Ok(found)
}

/// A name without emphasis, in lower case and with single blanks.
fn plain_name(name: &str) -> String {
    let bare = name.replace(['*', '`', '_'], "").replace("\\|", "|").to_lowercase();
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is wrong with the roadmap. Every finding keeps programs from reading it.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RoadmapFinding {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

/// Whether the roadmap can be read at all: it is there, says something, and lists phases. Where phases are to be called
/// after their milestone, one that is not is told as well.
pub(crate) fn validate(view: &ProjectView, config: &Config) -> ValidateReport {
    let finding = |code, message: &str| RoadmapFinding { code, message: message.to_owned() };
    let Ok(Some(text)) = view.roadmap_text() else {
        let warnings = vec![finding("V001", "ROADMAP.md not found or unreadable")];
        return ValidateReport { warnings, mismatches: Vec::new() };
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return ValidateReport { warnings: vec![finding("V002", "ROADMAP.md is empty")], mismatches: Vec::new() };
    }
    let mut warnings = Vec::new();
    if is_unclosed(&text) {
        warnings.push(finding("V003", "ROADMAP.md frontmatter is malformed (unterminated --- fence)"));
    }
    let roadmap = view.parse_roadmap(&text);
    if roadmap.sections().is_empty() && roadmap.bullets().is_empty() && roadmap.rows().is_empty() {
        let message =
            "ROADMAP.md contains no recognizable phase entries (no phase headings, bullet entries, or table rows)";
        warnings.push(finding("V004", message));
    }
    if config.text("phase_id_convention") == Some(super::upgrade::CONVENTION) {
        warnings.extend(not_prefixed(&roadmap).into_iter().map(|id| RoadmapFinding {
            code: "W021",
            message: format!(
                "Phase ID \"{id}\" is not in M-NN form, which `phase_id_convention` asks for; `gsd-tools roadmap upgrade` renames phases below headings like `## v1.0`"
            ),
        }));
    }
    // Without a STATE.md that can be read the milestone is not known; `state validate` reports that.
    let mismatches = mismatches(view, &roadmap).unwrap_or_default();
    ValidateReport { warnings, mismatches }
}

/// Phases below the first heading of a version that are not called after their milestone: `3` instead of `1-03`.
fn not_prefixed<'text>(roadmap: &Roadmap<'text>) -> Vec<&'text str> {
    let headings = milestone_headings(roadmap);
    let Some(first) = headings.iter().find(|heading| heading.version.is_some()) else { return Vec::new() };
    let below = roadmap.sections().iter().filter(|section| section.heading_line > first.heading.line);
    let open = below.filter(|section| !section.shipped).map(|section| section.id);
    open.filter(|id| {
        let id = PhaseId::new(id);
        !id.is_sentinel() && !id.as_str().contains('-')
    })
    .collect()
}

/// What `roadmap update-plan-progress` answers.
#[derive(Debug, Serialize, JsonSchema)]
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

/// Writes a phase's plan counts, ticks and status into the roadmap. `None` if there is no such phase on disk.
pub(crate) fn update_plan_progress(
    view: &ProjectView,
    typed: &str,
    today: &str,
) -> Result<Option<(ProgressReport, Edits)>, FileError> {
    let Some(folder) = view.find_phase(typed)?.folder else { return Ok(None) };
    let declined = |reason: &'static str, plans: usize, summaries: usize| ProgressReport {
        updated: false,
        phase: None,
        plan_count: plans,
        summary_count: summaries,
        status: None,
        complete: None,
        verification_stale_check_indeterminate: None,
        reason: Some(reason),
    };
    let plans = view.current_plans(&folder)?;
    if plans.is_empty() {
        return Ok(Some((declined("No plans found", 0, folder.summaries().count()), Edits::default())));
    }
    let done: Vec<&str> = plans.iter().map(String::as_str).filter(|plan| folder.summary_of(plan).is_some()).collect();
    let Some(text) = view.roadmap_text()? else {
        return Ok(Some((declined(NO_ROADMAP, plans.len(), done.len()), Edits::default())));
    };
    let roadmap = view.parse_roadmap(&text);
    let standing = PhaseStanding::of(view, Some(&roadmap), folder.token(), Some(&folder))?;
    let (complete, verification) = (standing.is_complete(), &standing.verification);
    let mut splices = Splices::default();
    let status = write_progress(&roadmap, typed, &plans, &done, complete, today, &mut splices);
    let is_named =
        roadmap.section(typed).is_some() || roadmap.bullet(typed).is_some() || roadmap.progress_row(typed).is_some();
    let mut edits = Edits::default();
    edits.write(view, &view.layout().roadmap(), splices.apply(&text))?;
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

/// Writes into all places of a phase how many of its plans are done. A phase with a plan to execute is open, whatever its
/// checklist line said. Gives the word for its status.
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

/// Writes the plans of a phase that was planned into the roadmap; where they are not on disk yet, their number. Says
/// whether the phase was closed and is open again.
pub(crate) fn note_planned(
    view: &ProjectView,
    typed: &str,
    announced: Option<u64>,
    today: &str,
    edits: &mut Edits,
) -> Result<bool, FileError> {
    let Some(text) = view.roadmap_text()? else { return Ok(false) };
    let roadmap = view.parse_roadmap(&text);
    let folder = view.find_phase(typed)?.folder.filter(|folder| folder.archived.is_none());
    let plans = folder.as_ref().map(|folder| view.current_plans(folder)).transpose()?.unwrap_or_default();
    let is_done = |plan: &&str| folder.as_ref().is_some_and(|folder| folder.summary_of(plan).is_some());
    let done: Vec<&str> = plans.iter().map(String::as_str).filter(is_done).collect();
    let all = if plans.is_empty() { announced.unwrap_or(0) } else { u64::try_from(plans.len()).unwrap_or(0) };
    let closed = is_closed(&roadmap, typed);
    let open = done.len() < plans.len();
    if all == 0 || !(open || plans.is_empty() && !closed) {
        return Ok(false);
    }
    let mut splices = Splices::default();
    if closed {
        write_progress(&roadmap, typed, &plans, &done, false, today, &mut splices);
    } else {
        let plural = if all == 1 { "" } else { "s" };
        let count = match done.len() {
            0 => format!("{all} plan{plural}"),
            done => format!("{done}/{all} plans executed"),
        };
        write_plans(&roadmap, typed, &plans, &done, &count, &mut splices);
        let status = if done.is_empty() { "Planned" } else { "In Progress" };
        let cells = [("plans", format!(" {}/{all} ", done.len())), ("status", format!(" {status} "))];
        // A cell that says so already keeps its padding.
        let row = roadmap.progress_row(typed);
        let says = |word: &str, text: &str| {
            row.and_then(|row| row.cell(word)).is_some_and(|cell| cell.eq_ignore_ascii_case(text.trim()))
        };
        let cells: Vec<(&str, String)> = cells.into_iter().filter(|(word, text)| !says(word, text)).collect();
        roadmap.set_progress(typed, &cells, &mut splices);
    }
    edits.write(view, &view.layout().roadmap(), splices.apply(&text))?;
    Ok(closed)
}

/// The day in the `Completed` cell of a phase's progress row.
pub(crate) fn completed_day<'roadmap>(roadmap: &'roadmap Roadmap<'_>, typed: &str) -> Option<&'roadmap str> {
    let day = roadmap.progress_row(typed)?.cells.iter().find(|(column, _)| column == "completed")?.1;
    day.starts_with(|first: char| first.is_ascii_digit()).then_some(day)
}

/// What `roadmap annotate-dependencies` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnnotateReport {
    pub(crate) updated: bool,
    pub(crate) phase: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waves: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cross_cutting_constraints: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Groups a phase's plan lines by wave and lists the truths that several of its plans share.
pub(crate) fn annotate_dependencies(
    view: &ProjectView,
    typed: &str,
    waves: &BTreeMap<String, u64>,
) -> Result<(AnnotateReport, Edits), FileError> {
    let declined = |reason: String| {
        let report = AnnotateReport {
            updated: false,
            phase: typed.to_owned(),
            waves: None,
            cross_cutting_constraints: None,
            reason: Some(reason),
        };
        Ok((report, Edits::default()))
    };
    let Some(folder) = view.find_phase(typed)?.folder else { return declined(format!("phase {typed} not found")) };
    let plans = view.current_plans(&folder)?;
    if plans.is_empty() {
        return declined(format!("phase {typed} has no plans"));
    }
    let Some(text) = view.roadmap_text()? else { return declined(NO_ROADMAP.to_owned()) };
    let roadmap = view.parse_roadmap(&text);
    let shared = shared_truths(view, &folder, &plans)?;
    let mut distinct: Vec<u64> = plans.iter().filter_map(|plan| waves.get(plan_id(plan)).copied()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let answer = |updated: bool, reason: Option<String>| AnnotateReport {
        updated,
        phase: typed.to_owned(),
        waves: Some(distinct.len()),
        cross_cutting_constraints: Some(shared.len()),
        reason,
    };
    let Some(section) = roadmap.section(typed) else {
        let reason = format!("phase {typed} has no section in the roadmap");
        return Ok((answer(false, Some(reason)), Edits::default()));
    };
    let bullets = roadmap.plan_bullets(section);
    let wave_of = |line: usize| {
        let bullet = bullets.iter().find(|bullet| bullet.line == line)?;
        let plan = plans.iter().find(|plan| bullet.is_about(plan))?;
        waves.get(plan_id(plan)).copied()
    };
    let mut splices = Splices::default();
    let newline = roadmap.markdown().newline();
    let body = |line: usize| roadmap.markdown().line(line).trim();
    let headings: Vec<(usize, u64)> =
        section.lines.clone().filter_map(|line| Some((line, wave_heading(body(line))?))).collect();
    let annotated = !headings.is_empty();
    let title = |wave: u64, before: Option<u64>| match before {
        Some(before) => format!("**Wave {wave}** *(blocked on Wave {before} completion)*"),
        None => format!("**Wave {wave}**"),
    };
    let mut known: Vec<u64> = Vec::new();
    // One wave is all there is; it needs no heading.
    if !annotated && distinct.len() > 1 {
        for bullet in &bullets {
            let Some(wave) = wave_of(bullet.line).filter(|wave| !known.contains(wave)) else { continue };
            let before = if known.is_empty() { String::new() } else { newline.to_owned() };
            let title = title(wave, known.last().copied());
            let start = roadmap.markdown().lines()[bullet.line].start;
            splices.insert(start, format!("{before}{title}{newline}{newline}"));
            known.push(wave);
        }
    }
    // A plan that came later stands behind the last line, whatever its wave is.
    let wave_above = |line: usize| headings.iter().rev().find(|(heading, _)| *heading < line).map(|(_, wave)| *wave);
    let misplaced = |line: usize| wave_of(line).filter(|wave| annotated && wave_above(line) != Some(*wave));
    let mut made: Vec<u64> = Vec::new();
    for bullet in &bullets {
        let Some(wave) = misplaced(bullet.line) else { continue };
        let span = roadmap.markdown().span(bullet.line..bullet.line + 1);
        let line = format!("{}{newline}", roadmap.markdown().line(bullet.line).trim_end());
        let stays = |other: &&PlanBullet<'_>| misplaced(other.line).is_none() && wave_above(other.line) == Some(wave);
        if let Some(last) = bullets.iter().rev().find(stays) {
            roadmap.insert_after(last.line, &line, &mut splices);
        } else if let Some(last) = bullets.last() {
            let before = distinct.iter().rev().find(|other| **other < wave).copied();
            let heading = format!("{newline}{}{newline}{newline}", title(wave, before));
            let heading = if made.contains(&wave) { String::new() } else { heading };
            made.push(wave);
            roadmap.insert_after(last.line, &format!("{heading}{line}"), &mut splices);
        }
        splices.remove(span);
    }
    let listed = section.lines.clone().any(|line| body(line).starts_with("**Cross-cutting constraints"));
    if let (false, false, Some(last)) = (listed, shared.is_empty(), bullets.last()) {
        let lines = shared.iter().flat_map(|truth| ["- ", truth, newline]).collect::<String>();
        roadmap.insert_after(
            last.line,
            &format!("{newline}**Cross-cutting constraints:**{newline}{newline}{lines}"),
            &mut splices,
        );
    }
    let mut edits = Edits::default();
    edits.write(view, &view.layout().roadmap(), splices.apply(&text))?;
    let reason = edits.is_empty().then(|| "the roadmap has all there is to note".to_owned());
    Ok((answer(!edits.is_empty(), reason), edits))
}

/// The number of a line such as `**Wave 2** *(blocked on Wave 1 completion)*`.
fn wave_heading(line: &str) -> Option<u64> {
    line.strip_prefix("**Wave ")?.split("**").next()?.trim().parse().ok()
}

/// The truths of `must_haves` that at least two plans name, in order of appearance.
fn shared_truths(view: &ProjectView, folder: &PhaseFolder, plans: &[String]) -> Result<Vec<String>, FileError> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for plan in plans {
        let Some(text) = view.text(&folder.join(plan))? else { continue };
        let truths = FrontMatter::parse(&text).and_then(|front| front.get_path(&["must_haves", "truths"]));
        let mut own: Vec<String> = Vec::new();
        for truth in truths.iter().flat_map(Value::items) {
            let words = truth.as_text().or_else(|| truth.get("statement").and_then(Value::as_text));
            if let Some(words) = words.filter(|words| !own.iter().any(|known| known == words)) {
                own.push(words.to_owned());
            }
        }
        for truth in own {
            match counted.iter_mut().find(|(known, _)| *known == truth) {
                Some((_, count)) => *count += 1,
                None => counted.push((truth, 1)),
            }
        }
    }
    Ok(counted.into_iter().filter(|(_, count)| *count > 1).map(|(truth, _)| truth).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;
    use crate::project::files::MemoryFiles;
    use crate::project::layout::Layout;

    #[test]
    fn what_keeps_a_roadmap_from_being_read_has_a_code() {
        let codes = |roadmap: Option<&str>| -> Vec<&'static str> {
            let files = MemoryFiles::new(roadmap.map(|text| (".planning/ROADMAP.md", text)));
            let view = ProjectView::new(Layout::new("/p", None, None), Box::new(files));
            validate(&view, &Config::default()).warnings.iter().map(|finding| finding.code).collect()
        };
        assert_eq!(codes(None), ["V001"]);
        assert_eq!(codes(Some("\u{feff} \r\n")), ["V002"]);
        assert_eq!(codes(Some("---\na: 1\n# R\n")), ["V003", "V004"]);
        assert_eq!(codes(Some("# R\n\ntext\n")), ["V004"]);
        for listed in ["### Phase 1: A\n", "- [ ] **Phase 1: A** - a\n", "| Phase | Name |\n|---|---|\n| 1 | A |\n"] {
            assert_eq!(codes(Some(listed)), [""; 0], "{listed}");
        }
    }

    #[test]
    fn phases_that_are_not_called_after_their_milestone_are_told_where_they_should_be() {
        let roadmap = "### Phase 1: A\n## v1.0 MVP\n### Phase 1-02: B\n### Phase 3: C\n### Phase 999.1: D\n## Milestone\n### Phase 2.1: E\n";
        let told = |config: &str, roadmap: &str| -> Vec<String> {
            let (config, _) = Config::read(ConfigTexts { project: Some(config), ..ConfigTexts::default() });
            let view = ProjectView::new(
                Layout::new("/p", None, None),
                Box::new(MemoryFiles::new([(".planning/ROADMAP.md", roadmap)])),
            );
            let found = validate(&view, &config).warnings.into_iter().filter(|finding| finding.code == "W021");
            found.map(|finding| finding.message.split('"').nth(1).unwrap().to_owned()).collect()
        };
        let asked_for = r#"{"phase_id_convention": "milestone-prefixed"}"#;
        assert_eq!(told(asked_for, roadmap), ["3", "2.1"]);
        assert_eq!(told(asked_for, &roadmap.replace("v1.0 ", "")), [""; 0], "no version, no first number");
        assert_eq!(told("{}", roadmap), [""; 0]);
    }

    #[test]
    fn one_wave_needs_no_heading() {
        let roadmap = "### Phase 1: A\n\nPlans:\n- [ ] 01-01-PLAN.md\n- [ ] 01-02-PLAN.md\n";
        let noted = |second: u64| {
            let files = [
                (".planning/ROADMAP.md", roadmap),
                (".planning/phases/01-a/01-01-PLAN.md", ""),
                (".planning/phases/01-a/01-02-PLAN.md", ""),
            ];
            let view = ProjectView::new(Layout::new("/p", None, None), Box::new(MemoryFiles::new(files)));
            let waves = BTreeMap::from([("01-01".to_owned(), 1), ("01-02".to_owned(), second)]);
            let (report, edits) = annotate_dependencies(&view, "1", &waves).unwrap();
            (report.updated, report.waves, edits.texts.values().any(|text| text.contains("**Wave 1**")))
        };
        assert_eq!(noted(1), (false, Some(1), false));
        assert_eq!(noted(2), (true, Some(2), true));
    }

    #[test]
    fn a_plan_that_came_later_stands_under_its_wave() {
        let roadmap = "### Phase 1: A\n\nPlans:\n**Wave 1**\n\n- [x] 01-01-PLAN.md\n\n\
            **Wave 2** *(blocked on Wave 1 completion)*\n\n- [x] 01-02-PLAN.md\n- [ ] 01-03-PLAN.md — gap\n\n### Phase 2: B\n";
        let noted = |wave: u64| {
            let plan = |id: &str| (format!(".planning/phases/01-a/{id}-PLAN.md"), String::new());
            let mut files = vec![plan("01-01"), plan("01-02"), plan("01-03")];
            files.push((".planning/ROADMAP.md".to_owned(), roadmap.to_owned()));
            let files = MemoryFiles::new(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
            let view = ProjectView::new(Layout::new("/p", None, None), Box::new(files));
            let waves = [("01-01", 1), ("01-02", 2), ("01-03", wave)].map(|(id, wave)| (id.to_owned(), wave));
            let (_, edits) = annotate_dependencies(&view, "1", &BTreeMap::from(waves)).unwrap();
            edits.texts.get(".planning/ROADMAP.md").cloned()
        };
        assert_eq!(noted(2), None);
        let moved = roadmap.replace("- [ ] 01-03-PLAN.md — gap\n", "");
        let first = moved.replace("01-01-PLAN.md\n", "01-01-PLAN.md\n- [ ] 01-03-PLAN.md — gap\n");
        assert_eq!(noted(1).unwrap(), first);
        let third = moved.replace(
            "01-02-PLAN.md\n",
            "01-02-PLAN.md\n\n**Wave 3** *(blocked on Wave 2 completion)*\n\n- [ ] 01-03-PLAN.md — gap\n",
        );
        assert_eq!(noted(3).unwrap(), third);
    }

    #[test]
    fn a_phase_of_which_no_plan_is_done_is_planned() {
        let row =
            "| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. A | 0/TBD | Not started | - |\n";
        let told = |others: &[(&str, &str)]| {
            let files = [(".planning/ROADMAP.md", row), (".planning/phases/01-a/01-01-PLAN.md", "")];
            let files = MemoryFiles::new(files.iter().chain(others).copied());
            let view = ProjectView::new(Layout::new("/p", None, None), Box::new(files));
            let (report, edits) = update_plan_progress(&view, "1", "2026-01-02").unwrap().unwrap();
            (report.status, edits.texts[".planning/ROADMAP.md"].lines().last().unwrap().to_owned())
        };
        assert_eq!(told(&[]), (Some("Planned"), "| 1. A | 0/1 | Planned    |  |".to_owned()));
        let summary = (".planning/phases/01-a/01-01-SUMMARY.md", "");
        assert_eq!(told(&[summary]), (Some("In Progress"), "| 1. A | 1/1 | In Progress|  |".to_owned()));
    }

    #[test]
    fn a_phase_that_the_roadmap_does_not_name_is_told() {
        let files = [(".planning/ROADMAP.md", "### Phase 2: B\n"), (".planning/phases/01-a/01-01-PLAN.md", "")];
        let view = ProjectView::new(Layout::new("/p", None, None), Box::new(MemoryFiles::new(files)));
        let (report, edits) = update_plan_progress(&view, "1", "2026-01-02").unwrap().unwrap();
        assert_eq!((report.updated, report.reason), (false, Some("missing_phase_details")));
        assert!(edits.is_empty());
    }
}
