//! `planning inspect`: the whole project as data, with what is unknown and why.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::audit::uat::{Item, unresolved};
use crate::operations::roadmap::analyze::percent;
use crate::project::dependencies::dependencies;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::milestone::{Milestone, MilestoneScope};
use crate::project::phase::PhaseId;
use crate::project::plan::{PhasePlan, PhaseSummary, PlanTask};
use crate::project::requirements::Requirements;
use crate::project::roadmap::Roadmap;
use crate::project::standing::PhaseStanding;
use crate::project::verification;
use crate::project::view::ProjectView;

/// What `planning inspect` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InspectReport {
    pub(crate) schema_version: u32,
    pub(crate) generated_from: Origin,
    pub(crate) milestone: MilestoneIdentity,
    /// The current position of the work.
    pub(crate) active: Active,
    /// Phases of the milestone with a folder.
    pub(crate) phases: Vec<InspectedPhase>,
    /// Folders of phases that the milestone does not name.
    pub(crate) orphan_phase_dirs: Vec<String>,
    pub(crate) requirements: Vec<InspectedRequirement>,
    pub(crate) progress: InspectedProgress,
    /// What is unknown, and what is inconsistent.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Origin {
    pub(crate) cwd: String,
    /// Null if the planning folder does not exist.
    pub(crate) planning_root: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MilestoneIdentity {
    pub(crate) version: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) scope: MilestoneScope,
}

/// The fields of STATE.md.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Active {
    pub(crate) phase: Told<Option<String>>,
    pub(crate) plan: Told<Option<String>>,
    pub(crate) status: Told<Option<String>>,
}

/// A value, and whether it is complete.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Told<T> {
    pub(crate) value: T,
    pub(crate) scope: MilestoneScope,
}

/// One phase.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InspectedPhase {
    pub(crate) dir: String,
    pub(crate) phase_id: Option<String>,
    /// Closed in the roadmap, or executed and verified, and without an open plan.
    pub(crate) complete: bool,
    pub(crate) goal: Told<Option<String>>,
    /// The phases it depends on.
    pub(crate) dependencies: Told<Vec<String>>,
    pub(crate) verification: InspectedVerification,
    pub(crate) roadmap_acceptance: RoadmapAcceptance,
    pub(crate) uat: InspectedUat,
    pub(crate) plan_count: usize,
    pub(crate) summary_count: usize,
    pub(crate) plans: Vec<InspectedPlan>,
    pub(crate) scope: MilestoneScope,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InspectedVerification {
    pub(crate) status: String,
    /// What to do next, in a sentence.
    pub(crate) next_action: String,
}

/// The checkbox in the roadmap, and whether the roadmap marks the phase as done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RoadmapAcceptance {
    pub(crate) checkbox: Option<bool>,
    pub(crate) authoritative: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InspectedUat {
    /// Tests and gaps that are not settled.
    pub(crate) unresolved: Vec<Item>,
    pub(crate) scope: MilestoneScope,
}

/// One plan.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InspectedPlan {
    pub(crate) id: String,
    pub(crate) file: String,
    /// Another plan replaced it.
    pub(crate) superseded: bool,
    pub(crate) objective: Option<String>,
    pub(crate) wave: Option<i64>,
    pub(crate) depends_on: Vec<String>,
    pub(crate) autonomous: bool,
    pub(crate) agent_hint: Option<String>,
    pub(crate) planned_files: Vec<String>,
    /// The files named in its summary; null without a summary.
    pub(crate) changed_files: Option<Vec<String>>,
    pub(crate) has_summary: bool,
    pub(crate) tasks: Vec<InspectedTask>,
    pub(crate) scope: MilestoneScope,
}

/// One task of a plan.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InspectedTask {
    /// Counted from 1.
    pub(crate) index: usize,
    /// `auto` or `checkpoint`.
    pub(crate) kind: String,
    #[serde(rename = "type")]
    pub(crate) written_type: String,
    pub(crate) name: Option<String>,
    pub(crate) planned_files: Vec<String>,
    pub(crate) acceptance_criteria: Vec<String>,
    pub(crate) done: Option<String>,
    /// Always null: summaries name the files of plans, not of tasks.
    pub(crate) changed_files: Option<Vec<String>>,
    /// `plan_scoped` if there is a summary, else `absent`.
    pub(crate) provenance: &'static str,
    /// Whether planned and changed files are the same; always `unknown`.
    pub(crate) agreement: &'static str,
    /// `pending` without a summary; a summary does not report on single tasks.
    pub(crate) status: &'static str,
}

/// One requirement.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InspectedRequirement {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) complete: bool,
    /// The phases to which the traceability table maps it.
    pub(crate) mapped_phases: Vec<String>,
    /// Codes of diagnostics.
    pub(crate) diagnostics: Vec<&'static str>,
    pub(crate) scope: MilestoneScope,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InspectedProgress {
    pub(crate) accepted_phases: Share,
    pub(crate) completed_plans: Share,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Share {
    pub(crate) completed: usize,
    pub(crate) total: usize,
    /// Null if the roadmap does not show which phases belong to the milestone.
    pub(crate) percent: Option<usize>,
    pub(crate) scope: MilestoneScope,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Diagnostic {
    pub(crate) code: &'static str,
    /// The file, folder, plan or field concerned.
    pub(crate) subject: String,
    pub(crate) detail: String,
}

/// Collects the data of the whole project.
pub(crate) fn inspect(view: &ProjectView) -> Result<InspectReport, FileError> {
    let layout = view.layout();
    let mut diagnostics = Diagnostics::default();
    let milestone = view.milestone()?;
    let root = layout.shown(&layout.scope());
    let is_project = view.folder_exists(&layout.scope());
    if !is_project {
        diagnostics.add("planning_root_absent", &root, "there is no such folder, so there is nothing to report");
    }
    let identity = identity(&milestone);
    if identity != MilestoneScope::Complete {
        let subject = layout.shown(&layout.roadmap());
        diagnostics.add("roadmap_unscoped", subject, "the roadmap does not show which milestone this is");
    }
    let roadmap = view.roadmap_or_empty()?;
    let folders = view.milestone_folders()?;
    let all = view.phase_folders()?;
    let is_orphan = |folder: &&PhaseFolder| !folders.iter().any(|known| known.name == folder.name);
    let orphans: Vec<String> = all.iter().filter(is_orphan).map(|folder| folder.name.clone()).collect();
    for orphan in &orphans {
        diagnostics.add("orphan_phase_dir", orphan, "a folder of a phase that the milestone does not name");
    }
    verification::look_ahead(view, &folders)?;
    let mut phases = Vec::new();
    for folder in &folders {
        phases.push(phase(view, roadmap, folder, &mut diagnostics)?);
    }
    let requirements = requirements(view, &mut diagnostics)?;
    let plans = phases.iter().flat_map(|phase| &phase.plans).filter(|plan| !plan.superseded);
    let done = plans.clone().filter(|plan| plan.has_summary).count();
    let accepted = phases.iter().filter(|phase| phase.complete).count();
    let progress = InspectedProgress {
        accepted_phases: share("progress.accepted_phases", accepted, phases.len(), &milestone, &mut diagnostics),
        completed_plans: share("progress.completed_plans", done, plans.count(), &milestone, &mut diagnostics),
    };
    Ok(InspectReport {
        schema_version: 1,
        generated_from: Origin { cwd: layout.shown(""), planning_root: is_project.then_some(root) },
        active: active(view)?,
        milestone: MilestoneIdentity { version: milestone.version, name: milestone.name, scope: identity },
        phases,
        orphan_phase_dirs: orphans,
        requirements,
        progress,
        diagnostics: diagnostics.0,
    })
}

/// The diagnostics, in the order in which they were found.
#[derive(Debug, Default)]
struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    fn add(&mut self, code: &'static str, subject: impl Into<String>, detail: &str) {
        self.0.push(Diagnostic { code, subject: subject.into(), detail: detail.to_owned() });
    }
}

/// How reliably the milestone is identified.
fn identity(milestone: &Milestone) -> MilestoneScope {
    match (milestone.scope, &milestone.version) {
        (MilestoneScope::Complete | MilestoneScope::Unreadable, _) => milestone.scope,
        (_, Some(_)) => MilestoneScope::Truncated,
        (scope, None) => scope,
    }
}

fn active(view: &ProjectView) -> Result<Active, FileError> {
    let state = view.state()?;
    let scope = if state.is_some() { MilestoneScope::Complete } else { MilestoneScope::Unreadable };
    let field = |label: &str| state?.value(label).map(str::to_owned);
    let status = state.and_then(|state| state.front_text("status")).or_else(|| field("Status"));
    Ok(Active {
        phase: Told { value: field("Phase").or_else(|| field("Current Phase")), scope },
        plan: Told { value: field("Plan").or_else(|| field("Current Plan")), scope },
        status: Told { value: status, scope },
    })
}

fn phase(
    view: &ProjectView,
    roadmap: &Roadmap<'_>,
    folder: &PhaseFolder,
    diagnostics: &mut Diagnostics,
) -> Result<InspectedPhase, FileError> {
    let section = roadmap.section(folder.token());
    let field = |label: &str| section.and_then(|section| roadmap.field(section, label));
    let scope = if section.is_some() { MilestoneScope::Complete } else { MilestoneScope::Unscoped };
    let standing = PhaseStanding::of(view, folder.token(), Some(folder))?;
    let verification = &standing.verification;
    let plans = folder.plans().map(|file| plan(view, folder, file, diagnostics)).collect::<Result<Vec<_>, _>>()?;
    if folder.artifact("UAT").is_none() {
        diagnostics.add("uat_absent", &folder.name, "no UAT document; acceptance does not hang on it");
    }
    if section.is_none() {
        diagnostics.add(
            "roadmap_unscoped",
            &folder.name,
            "no section in ROADMAP.md: goal and dependencies are not known",
        );
        diagnostics.add("phase_scope_degraded", &folder.name, "not everything about this phase is known");
    }
    Ok(InspectedPhase {
        dir: folder.name.clone(),
        phase_id: folder.numbered().map(str::to_owned),
        complete: standing.is_complete(),
        goal: Told { value: field("Goal").map(str::to_owned), scope },
        dependencies: Told { value: field("Depends on").and_then(dependencies).unwrap_or_default(), scope },
        verification: InspectedVerification {
            status: verification.word().to_owned(),
            next_action: verification.next_action().into_owned(),
        },
        roadmap_acceptance: RoadmapAcceptance {
            checkbox: roadmap.bullet(folder.token()).map(|bullet| bullet.checked),
            authoritative: standing.work.is_closed_by_roadmap(),
        },
        uat: InspectedUat { unresolved: unresolved(view, folder)?, scope: MilestoneScope::Complete },
        plan_count: plans.iter().filter(|plan| !plan.superseded).count(),
        summary_count: folder.summaries().count(),
        plans,
        scope,
    })
}

fn plan(
    view: &ProjectView,
    folder: &PhaseFolder,
    file: &str,
    diagnostics: &mut Diagnostics,
) -> Result<InspectedPlan, FileError> {
    let text = view.text(&folder.join(file))?.unwrap_or_default();
    let plan = PhasePlan::parse(&text);
    let summary = folder.summary_of(file).map(|summary| view.text(&folder.join(summary))).transpose()?.flatten();
    let changed_files = summary.as_deref().map(changed_files);
    let tasks: Vec<InspectedTask> =
        (1..).zip(plan.tasks()).map(|(index, written)| task(index, &written, summary.is_some())).collect();
    for task in &tasks {
        let subject = format!("{file}#{}", task.index);
        if task.kind == "checkpoint" {
            let why = "a checkpoint is for a person: it needs neither files nor criteria";
            diagnostics.add("task_shape_checkpoint", &subject, why);
        }
        if summary.is_some() {
            diagnostics.add("task_changed_files_plan_scoped", subject, "the summary names the files of the whole plan");
        }
    }
    Ok(InspectedPlan {
        id: plan_id(file).to_owned(),
        file: file.to_owned(),
        superseded: plan.is_superseded(),
        objective: plan.objective(),
        wave: plan.wave(),
        depends_on: plan.depends_on(),
        autonomous: plan.is_autonomous(),
        agent_hint: plan.agent_hint(),
        planned_files: plan.files_modified(),
        changed_files,
        has_summary: summary.is_some(),
        tasks,
        scope: MilestoneScope::Complete,
    })
}

/// The created and modified files that a summary lists.
fn changed_files(text: &str) -> Vec<String> {
    let summary = PhaseSummary::parse(text);
    let Some(files) = summary.value("key-files") else { return Vec::new() };
    let lists = ["created", "modified"].into_iter().filter_map(|key| files.get(key));
    let mut found: Vec<String> = Vec::new();
    for file in lists.flat_map(|list| list.texts()) {
        if !found.iter().any(|known| known == file) {
            found.push(file.to_owned());
        }
    }
    found
}

fn task(index: usize, task: &PlanTask<'_>, has_summary: bool) -> InspectedTask {
    let is_checkpoint = task.checkpoint().is_some();
    let lines = |text: &str| {
        let lines = text.lines().map(|line| line.trim().trim_start_matches(['-', '*']).trim());
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    InspectedTask {
        index,
        kind: if is_checkpoint { "checkpoint".to_owned() } else { "auto".to_owned() },
        written_type: task.kind.to_owned(),
        name: task.name().map(str::to_owned),
        planned_files: task.files().into_iter().map(str::to_owned).collect(),
        acceptance_criteria: task.text("acceptance_criteria").map(lines).unwrap_or_default(),
        done: task.text("done").filter(|text| !text.is_empty()).map(str::to_owned),
        changed_files: None,
        provenance: if has_summary { "plan_scoped" } else { "absent" },
        agreement: "unknown",
        status: if has_summary { "unknown" } else { "pending" },
    }
}

fn requirements(view: &ProjectView, diagnostics: &mut Diagnostics) -> Result<Vec<InspectedRequirement>, FileError> {
    const UNKNOWN: &str = "requirement_phase_unknown";
    let layout = view.layout();
    let Some(text) = view.text(&layout.requirements())? else {
        let subject = layout.shown(&layout.requirements());
        diagnostics.add("requirements_absent", subject, "there is no REQUIREMENTS.md");
        return Ok(Vec::new());
    };
    let mut told = Vec::new();
    for entry in Requirements::parse(&text).entries() {
        let mut own = Vec::new();
        for id in &entry.phases {
            // A phase in the archive counts too.
            let lookup = view.find_phase(PhaseId::new(id).as_str())?;
            if lookup.folder.is_none() && lookup.ambiguous.is_empty() {
                diagnostics.add(UNKNOWN, format!("{}->{id}", entry.id), "the phase it is mapped to has no folder");
                if own.is_empty() {
                    own.push(UNKNOWN);
                }
            }
        }
        told.push(InspectedRequirement {
            id: entry.id.to_owned(),
            text: entry.text.to_owned(),
            complete: entry.ticked,
            mapped_phases: entry.phases.into_iter().map(str::to_owned).collect(),
            diagnostics: own,
            scope: MilestoneScope::Complete,
        });
    }
    Ok(told)
}

fn share(subject: &str, completed: usize, total: usize, milestone: &Milestone, diagnostics: &mut Diagnostics) -> Share {
    let is_known = milestone.scope == MilestoneScope::Complete;
    if !is_known {
        diagnostics.add("percent_withheld", subject, "the roadmap does not show which phases belong to the milestone");
    }
    Share { completed, total, percent: is_known.then(|| percent(completed, total)), scope: milestone.scope }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    #[test]
    fn a_project_is_reported_with_what_is_unknown() {
        let files = [
            (
                ".planning/ROADMAP.md",
                "- [x] **Phase 1: A** - a\n\n### Phase 1: A\n**Goal**: base\n**Depends on**: Nothing\n\n### Phase 2: B\n**Depends on**: Phase 1\n",
            ),
            (".planning/STATE.md", "---\nmilestone: v1.0\n---\n# S\n\nPhase: 2 of 2 (B)\nStatus: Executing\n"),
            (
                ".planning/REQUIREMENTS.md",
                "- [x] **A-1**: do it\n- [ ] **A-2**: more\n\n| Requirement | Phase | Status |\n|---|---|---|\n| A-1 | Phase 1 | Complete |\n| A-2 | Phase 9 | Pending |\n",
            ),
            (
                ".planning/phases/01-a/01-01-PLAN.md",
                "---\nwave: 1\nfiles_modified: [a.rs]\n---\n<task type=\"auto\"><name>N</name><files>a.rs</files><acceptance_criteria>\n- one\n- two\n</acceptance_criteria><done>d</done></task>\n<task type=\"checkpoint:decision\"></task>\n",
            ),
            (
                ".planning/phases/01-a/01-01-SUMMARY.md",
                "---\nkey-files:\n  created: [a.rs]\n  modified: [b.rs, a.rs]\n---\n",
            ),
            (".planning/phases/01-a/01-UAT.md", "## Tests\n\n### 1. Look\nexpected: x\nresult: [pending]\n"),
            (".planning/phases/999.1-later/x.md", ""),
        ];
        let view = ProjectView::of(files);
        let report = inspect(&view).unwrap();
        let phase = &report.phases[0];
        assert_eq!((phase.goal.value.as_deref(), phase.complete, phase.uat.unresolved.len()), (Some("base"), true, 1));
        let plan = &phase.plans[0];
        assert_eq!(plan.changed_files.as_deref(), Some(&["a.rs".to_owned(), "b.rs".to_owned()][..]));
        assert_eq!((plan.tasks[0].acceptance_criteria.len(), plan.tasks[1].kind.as_str()), (2, "checkpoint"));
        assert_eq!(report.requirements[1].diagnostics, ["requirement_phase_unknown"]);
        assert_eq!(report.progress.accepted_phases.percent, None);
        let codes: Vec<&str> = report.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(
            codes,
            [
                "roadmap_unscoped",
                "orphan_phase_dir",
                "task_changed_files_plan_scoped",
                "task_shape_checkpoint",
                "task_changed_files_plan_scoped",
                "requirement_phase_unknown",
                "percent_withheld",
                "percent_withheld",
            ]
        );
        let nothing = MemoryFiles::default().view();
        let report = inspect(&nothing).unwrap();
        assert!(report.phases.is_empty() && report.active.status.value.is_none());
        assert_eq!((report.generated_from.planning_root, report.diagnostics[0].code), (None, "planning_root_absent"));
    }
}
