//! `init manager`: every phase of the milestone with what it waits for, and what can be done now, side by side.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::operations::roadmap::analyze;
use crate::project::dependencies::dependencies;
use crate::project::files::FileError;
use crate::project::folder::{FolderIndex, PhaseFolder};
use crate::project::milestone::MilestoneScope;
use crate::project::phase::{PhaseId, PhaseIndex};
use crate::project::roadmap::Roadmap;
use crate::project::standing::{PhaseStanding, Stage};

use crate::text::screen::counted;
use crate::text::time;

use super::completion::Completion;
use super::{Bundle, Complete};

/// Work counts as going on for so many milliseconds after a file of its phase changed.
const ACTIVE: i64 = 5 * 60 * 1000;

/// What `init manager` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ManagerBundle {
    milestone_version: Option<String>,
    milestone_name: Option<String>,
    phases: Vec<ManagedPhase>,
    phase_count: usize,
    completed_count: usize,
    /// Phases with a folder that has something in it and that are not complete.
    in_progress_count: usize,
    /// What can be done now, in the order of phases.
    recommended_actions: Vec<Action>,
    /// What WAITING.json says.
    waiting_signal: Option<Value>,
    all_complete: bool,
    project_exists: bool,
    roadmap_exists: bool,
    state_exists: bool,
    /// Flags that the project adds to each step.
    manager_flags: ManagerFlags,
    state_path: String,
    roadmap_path: String,
    archive_dir: String,
    /// What may hide phases of the milestone, and so makes the counts uncertain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
    /// What was left out of this answer, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// One phase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct ManagedPhase {
    pub(super) number: String,
    pub(super) name: String,
    goal: Option<String>,
    depends_on: Option<String>,
    pub(super) disk_status: Stage,
    pub(super) has_context: bool,
    pub(super) has_research: bool,
    pub(super) plan_count: usize,
    pub(super) summary_count: usize,
    /// The roadmap says that the phase is done.
    roadmap_complete: bool,
    #[serde(flatten)]
    pub(super) completion: Completion,
    /// When a file of the phase last changed.
    last_activity: Option<String>,
    /// That was just now.
    is_active: bool,
    context_scope: MilestoneScope,
    /// The name, cut to what a narrow column holds.
    display_name: String,
    /// Every phase it depends on is complete, in this milestone or an earlier one.
    pub(super) deps_satisfied: bool,
    /// The phases that `depends_on` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    dep_phases: Option<Vec<String>>,
    deps_display: String,
    /// Nothing was done yet, and nothing stands in the way.
    is_next_to_discuss: bool,
}

/// Something that can be done now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "fields of the answer")]
struct Action {
    phase: String,
    phase_name: String,
    action: Step,
    reason: String,
    command: String,
}

/// What is done to a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Discuss,
    Plan,
    Execute,
    Verify,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct ManagerFlags {
    discuss: String,
    plan: String,
    execute: String,
}

impl Bundle<'_> {
    /// Every phase, and what can be done now; `now` is in milliseconds since 1970.
    pub(crate) fn manager(&self, now: i64) -> Result<Complete<ManagerBundle>, FileError> {
        let layout = self.view.layout();
        let milestone = self.milestone()?;
        let phases = self.managed_phases(now)?;
        let mut warnings = Vec::new();
        let waiting_signal = self.waiting_signal(&mut warnings)?;
        let completed_count = phases.iter().filter(|phase| phase.disk_status == Stage::Complete).count();
        let documents = self.documents();
        let problems = self.view.problems()?;
        let report = ManagerBundle {
            milestone_version: milestone.version,
            milestone_name: milestone.name,
            phase_count: phases.len(),
            completed_count,
            in_progress_count: phases.iter().filter(|phase| is_in_progress(phase.disk_status)).count(),
            recommended_actions: self.actions(&phases),
            waiting_signal,
            all_complete: !phases.is_empty() && completed_count == phases.len() && problems.is_empty(),
            phases,
            project_exists: documents.project,
            roadmap_exists: documents.roadmap,
            state_exists: documents.state,
            manager_flags: self.manager_flags(&mut warnings),
            state_path: self.shown(&layout.state()),
            roadmap_path: self.shown(&layout.roadmap()),
            archive_dir: self.shown(&layout.milestones_folder()),
            problems,
            warnings,
        };
        self.complete(report)
    }

    /// The phases of the milestone, with what each waits for.
    pub(super) fn managed_phases(&self, now: i64) -> Result<Vec<ManagedPhase>, FileError> {
        let folders = self.view.phase_folders()?;
        let Ok(analysis) = analyze::analyze(self.view)? else { return Ok(Vec::new()) };
        let folder_index = FolderIndex::new(&folders);
        let mut phases = Vec::new();
        for summary in analysis.phases {
            let folder = folder_index.find(&PhaseId::new(&summary.number));
            let completion = Completion::of(&summary.standing, &summary.number, &self.facts.command_prefix);
            let status = summary.standing.stage();
            let touched = folder.and_then(|folder| self.last_touch(folder));
            let dep_phases = summary.depends_on.as_deref().and_then(dependencies);
            phases.push(ManagedPhase {
                display_name: shortened(&summary.name),
                number: summary.number,
                name: summary.name,
                goal: summary.goal,
                depends_on: summary.depends_on,
                disk_status: status,
                has_context: summary.has_context,
                has_research: summary.has_research,
                plan_count: summary.plan_count,
                summary_count: summary.summary_count,
                roadmap_complete: summary.roadmap_complete,
                completion,
                last_activity: touched.and_then(time::shown),
                is_active: touched.is_some_and(|touched| now.saturating_sub(touched) < ACTIVE),
                context_scope: summary.context_scope,
                deps_satisfied: false,
                deps_display: match dep_phases.as_deref() {
                    None | Some([]) => "—".to_owned(),
                    Some(phases) => phases.join(","),
                },
                dep_phases,
                is_next_to_discuss: false,
            });
        }
        let index = PhaseIndex::new(phases.iter().map(|phase| phase.number.as_str()).enumerate());
        let text = self.view.roadmap_text()?.unwrap_or_default();
        let roadmap = self.view.parse_roadmap(&text);
        let shipped = roadmap.sections().iter().filter(|section| section.shipped).map(|section| section.id);
        let shipped = PhaseIndex::new(shipped.enumerate());
        let is_done = |needed: &str| match index.find(needed) {
            Some(other) => Ok(phases[other].disk_status == Stage::Complete),
            None if shipped.find(needed).is_some() => Ok(true),
            None => self.is_done_elsewhere(needed, &roadmap),
        };
        let satisfied = phases.iter().map(|phase| is_unblocked(phase, is_done)).collect::<Result<Vec<_>, _>>()?;
        for (phase, satisfied) in phases.iter_mut().zip(satisfied) {
            phase.deps_satisfied = satisfied;
            phase.is_next_to_discuss = satisfied && matches!(phase.disk_status, Stage::NoDirectory | Stage::Empty);
        }
        Ok(phases)
    }

    /// When somebody last wrote to a file of the folder, in milliseconds since 1970.
    fn last_touch(&self, folder: &PhaseFolder) -> Option<i64> {
        folder.files.iter().filter_map(|file| self.view.touched_at(&folder.join(file))).max()
    }

    /// Whether a phase of another milestone is complete: archived or verified.
    fn is_done_elsewhere(&self, typed: &str, roadmap: &Roadmap<'_>) -> Result<bool, FileError> {
        Ok(match self.view.find_phase(typed)?.folder {
            Some(folder) if folder.archived.is_some() => true,
            Some(folder) => PhaseStanding::of(self.view, Some(roadmap), folder.token(), Some(&folder))?.is_complete(),
            None => false,
        })
    }

    fn actions(&self, phases: &[ManagedPhase]) -> Vec<Action> {
        let executing = |phase: &&ManagedPhase| {
            phase.disk_status == Stage::Partial || (phase.disk_status == Stage::Planned && phase.is_active)
        };
        let planning = |phase: &&ManagedPhase| is_gathered(phase.disk_status) && phase.is_active;
        let needs = Needs::of(phases);
        let clashes_with_executing = needs.clashes(phases, executing);
        let clashes_with_planning = needs.clashes(phases, planning);
        let mut actions = Vec::new();
        for (at, phase) in phases.iter().enumerate() {
            let completion = &phase.completion;
            let (step, reason) = match phase.disk_status {
                Stage::Executed => {
                    (Step::Verify, format!("Implementation complete; verification {}", completion.verification_status))
                }
                Stage::Planned if phase.deps_satisfied && !clashes_with_executing[at] => {
                    (Step::Execute, format!("{} ready, dependencies met", counted(phase.plan_count, "plan")))
                }
                stage if is_gathered(stage) && !clashes_with_planning[at] => {
                    (Step::Plan, "Context gathered, ready for planning".to_owned())
                }
                _ if phase.is_next_to_discuss => (Step::Discuss, "Unblocked, ready to gather context".to_owned()),
                _ => continue,
            };
            let prefix = &self.facts.command_prefix;
            actions.push(Action {
                phase: phase.number.clone(),
                phase_name: phase.name.clone(),
                action: step,
                reason,
                command: match step {
                    Step::Verify => completion.verification_next_command.clone(),
                    step => format!("{prefix}{} {}", step.command(), phase.number),
                },
            });
        }
        actions
    }

    /// What the work waits for, where a person was asked something.
    fn waiting_signal(&self, warnings: &mut Vec<String>) -> Result<Option<Value>, FileError> {
        let path = self.view.layout().waiting();
        let Some(text) = self.view.text(&path)? else { return Ok(None) };
        match serde_json::from_str(&text) {
            Ok(signal) => Ok(Some(signal)),
            Err(error) => {
                warnings.push(format!("`{path}` is not valid JSON: {error}"));
                Ok(None)
            }
        }
    }

    fn manager_flags(&self, warnings: &mut Vec<String>) -> ManagerFlags {
        let mut flags = |step: &str| match self.config.text(&format!("manager.flags.{step}")) {
            Some(text) if text.split_whitespace().all(is_flag_or_value) => text.trim().to_owned(),
            Some(text) => {
                warnings.push(format!("manager.flags.{step} is ignored, because it is not a list of flags: {text}"));
                String::new()
            }
            None => String::new(),
        };
        ManagerFlags { discuss: flags("discuss"), plan: flags("plan"), execute: flags("execute") }
    }
}

fn is_unblocked(phase: &ManagedPhase, is_done: impl Fn(&str) -> Result<bool, FileError>) -> Result<bool, FileError> {
    for needed in phase.dep_phases.iter().flatten() {
        if !is_done(needed)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_in_progress(stage: Stage) -> bool {
    !matches!(stage, Stage::NoDirectory | Stage::Empty | Stage::Complete)
}

/// There is what a plan is made of, and no plan.
fn is_gathered(stage: Stage) -> bool {
    matches!(stage, Stage::Discussed | Stage::Researched)
}

impl Step {
    /// The command of the step without what stands before commands.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Discuss => "discuss-phase",
            Self::Plan => "plan-phase",
            Self::Execute => "execute-phase",
            Self::Verify => "verify-work",
        }
    }
}

/// Which phases depend on which, over any number of phases between them.
///
/// A phase and its number are two nodes, as several phases may have one number: a phase leads to the numbers it depends
/// on, and a number to the first phase that has it.
struct Needs {
    /// The node of the number of each phase; the node of a phase is its place in the list.
    numbers: Vec<usize>,
    forward: Vec<Vec<usize>>,
    backward: Vec<Vec<usize>>,
}

impl Needs {
    fn of(phases: &[ManagedPhase]) -> Self {
        let index = PhaseIndex::new(phases.iter().map(|phase| phase.number.as_str()).enumerate());
        let first = |number: &str| index.find(number);
        let number_of = |place: usize| phases.len() + place;
        let numbers =
            phases.iter().enumerate().map(|(at, phase)| number_of(first(&phase.number).unwrap_or(at))).collect();
        let mut forward = vec![Vec::new(); 2 * phases.len()];
        let mut backward = forward.clone();
        let mut join = |from: usize, to: usize| {
            forward[from].push(to);
            backward[to].push(from);
        };
        for (at, phase) in phases.iter().enumerate() {
            for needed in phase.dep_phases.iter().flatten().filter_map(|needed| first(needed)) {
                join(at, number_of(needed));
            }
            if first(&phase.number) == Some(at) {
                join(number_of(at), at);
            }
        }
        Self { numbers, forward, backward }
    }

    /// Per phase: whether it depends on one of another number that is `busy`, or such a one depends on it.
    fn clashes(&self, phases: &[ManagedPhase], busy: impl Fn(&&ManagedPhase) -> bool) -> Vec<bool> {
        let busy = || phases.iter().enumerate().filter(|(_, phase)| busy(phase));
        let below = spread(&self.forward, busy().map(|(at, phase)| (at, phase.number.as_str())));
        let above = spread(&self.backward, busy().map(|(at, phase)| (self.numbers[at], phase.number.as_str())));
        let others = |at: usize| below[self.numbers[at]].iter().chain(&above[at]).flatten();
        phases.iter().enumerate().map(|(at, phase)| others(at).any(|other| *other != phase.number)).collect()
    }
}

/// Per node: two of the names that come to it along the edges. Two tell whether one of them is another's.
fn spread<'name>(
    edges: &[Vec<usize>],
    sources: impl Iterator<Item = (usize, &'name str)>,
) -> Vec<[Option<&'name str>; 2]> {
    let mut names = vec![[None; 2]; edges.len()];
    let mut open: Vec<(usize, &str)> =
        sources.flat_map(|(at, name)| edges[at].iter().map(move |to| (*to, name))).collect();
    while let Some((at, name)) = open.pop() {
        if names[at].contains(&Some(name)) {
            continue;
        }
        if let Some(free) = names[at].iter_mut().find(|slot| slot.is_none()) {
            *free = Some(name);
            open.extend(edges[at].iter().map(|to| (*to, name)));
        }
    }
    names
}

/// The name in at most twenty letters.
fn shortened(name: &str) -> String {
    const WIDTH: usize = 20;
    match name.char_indices().nth(WIDTH) {
        None => name.to_owned(),
        Some(_) => name.chars().take(WIDTH - 1).chain(['…']).collect(),
    }
}

/// A flag such as `--auto`, or a plain value behind one; nothing that a shell would make more of.
fn is_flag_or_value(word: &str) -> bool {
    let name = word.strip_prefix("--").unwrap_or(word);
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.'))
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_letters() {
        assert_eq!(shortened("Search Hotfix"), "Search Hotfix");
        assert_eq!(shortened("Ünïcödé — “smart” & emoji 🚀"), "Ünïcödé — “smart” &…");
    }

    #[test]
    fn only_flags_go_into_commands() {
        for word in ["--auto", "3", "b.c", "--Text"] {
            assert!(is_flag_or_value(word), "{word}");
        }
        for word in ["--x=1", "-a", "$(b)", "a;b", "'b'", "--", "fine/x"] {
            assert!(!is_flag_or_value(word), "{word}");
        }
    }
}
