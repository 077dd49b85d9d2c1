//! `init manager`: every phase of the milestone with its dependencies, and what can be done now in parallel.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::operations::roadmap::analyze;
use crate::project::dependencies::dependencies;
use crate::project::files::FileError;
use crate::project::folder::{FolderIndex, PhaseFolder};
use crate::project::milestone::MilestoneScope;
use crate::project::phase::{PhaseId, PhaseIndex};
use crate::project::standing::{PhaseStanding, Stage};
use crate::project::view::ProjectView;

use crate::text::screen::counted;
use crate::text::time;

use crate::operations::facts::{Completion, Given, Part, facts};

/// A phase counts as active for this many milliseconds after one of its files changed.
const ACTIVE: i64 = 5 * 60 * 1000;

/// The phases of the milestone, with the dependencies of each.
pub(super) struct Managed(pub(super) Vec<ManagedPhase>);

/// What the project's files add to the answer, and why parts of them were ignored.
struct Additions {
    /// The contents of WAITING.json.
    waiting: Option<Value>,
    flags: ManagerFlags,
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
    /// The roadmap marks the phase as done.
    roadmap_complete: bool,
    #[serde(flatten)]
    pub(super) completion: Completion,
    /// When a file of the phase last changed.
    last_activity: Option<String>,
    /// The last change was in the last five minutes.
    is_active: bool,
    context_scope: MilestoneScope,
    /// The name, shortened to fit a narrow column.
    display_name: String,
    /// Every phase it depends on is complete, whether in this milestone or an earlier one.
    pub(super) deps_satisfied: bool,
    /// The phases named in `depends_on`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dep_phases: Option<Vec<String>>,
    deps_display: String,
    /// Nothing has been done yet, and nothing blocks it.
    is_next_to_discuss: bool,
}

/// A step that can be done now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "fields of the answer")]
struct Action {
    phase: String,
    phase_name: String,
    action: Step,
    reason: String,
    command: String,
}

/// A step of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Discuss,
    Plan,
    Execute,
    Verify,
}

/// Flags that the project adds to each step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct ManagerFlags {
    discuss: String,
    plan: String,
    execute: String,
}

facts! { |given, managed: Managed|
    /// The phases of the milestone, with the dependencies of each.
    managed_phases: Vec<ManagedPhase> = managed.0.clone();
    /// The number of phases of the milestone.
    managed_phase_count: usize = managed.0.len();
    /// The number of complete phases.
    managed_completed_count: usize = managed.completed();
    /// The number of phases that are not complete and whose folder has contents.
    managed_in_progress_count: usize = managed.0.iter().filter(|phase| is_in_progress(phase.disk_status)).count();
    /// The steps that can be done now, in the order of phases.
    recommended_actions: Vec<Action> = actions(given, &managed.0);
    /// True if every phase is complete and no problem hides others.
    all_complete: bool =
        !managed.0.is_empty() && managed.completed() == managed.0.len() && given.view.problems()?.is_empty();
    /// The contents of WAITING.json.
    waiting_signal: Option<Value> = given.part::<Additions>()?.waiting.clone();
    /// Flags that the project adds to each step.
    manager_flags: ManagerFlags = given.part::<Additions>()?.flags.clone();
    /// What was left out of this answer, and why.
    manager_warnings: Vec<String>, if any =
        Some(given.part::<Additions>()?.warnings.clone()).filter(|warnings| !warnings.is_empty());
}

impl Part for Managed {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let now = given.host.next.milliseconds;
        let folders = given.view.phase_folders()?;
        let Ok(analysis) = analyze::analyze(given.view)? else { return Ok(Self(Vec::new())) };
        let folder_index = FolderIndex::new(&folders);
        let mut phases = Vec::new();
        for summary in analysis.phases {
            let folder = folder_index.find(&PhaseId::new(&summary.number));
            let completion = Completion::of(&summary.standing, &summary.number, &given.host.command_prefix);
            let status = summary.standing.stage();
            let touched = folder.and_then(|folder| last_touch(given, folder));
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
        let roadmap = given.view.roadmap_or_empty()?;
        let shipped = roadmap.sections().iter().filter(|section| section.shipped).map(|section| section.id);
        let shipped = PhaseIndex::new(shipped.enumerate());
        let is_done = |needed: &str| match index.find(needed) {
            Some(other) => Ok(phases[other].disk_status == Stage::Complete),
            None if shipped.find(needed).is_some() => Ok(true),
            None => is_done_elsewhere(given.view, needed),
        };
        let satisfied = phases.iter().map(|phase| is_unblocked(phase, is_done)).collect::<Result<Vec<_>, _>>()?;
        for (phase, satisfied) in phases.iter_mut().zip(satisfied) {
            phase.deps_satisfied = satisfied;
            phase.is_next_to_discuss = satisfied && matches!(phase.disk_status, Stage::NoDirectory | Stage::Empty);
        }
        Ok(Self(phases))
    }
}

impl Managed {
    pub(super) fn completed(&self) -> usize {
        self.0.iter().filter(|phase| phase.disk_status == Stage::Complete).count()
    }
}

/// When a file of the folder was last written, in milliseconds since 1970.
fn last_touch(given: &Given<'_>, folder: &PhaseFolder) -> Option<i64> {
    folder.files.iter().filter_map(|file| given.view.touched_at(&folder.join(file))).max()
}

/// True if a phase of another milestone is complete: archived or verified.
fn is_done_elsewhere(view: &ProjectView, typed: &str) -> Result<bool, FileError> {
    Ok(match view.find_phase(typed)?.folder {
        Some(folder) if folder.archived.is_some() => true,
        Some(folder) => PhaseStanding::of(view, folder.token(), Some(&folder))?.is_complete(),
        None => false,
    })
}

fn actions(given: &Given<'_>, phases: &[ManagedPhase]) -> Vec<Action> {
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
        actions.push(Action {
            phase: phase.number.clone(),
            phase_name: phase.name.clone(),
            action: step,
            reason,
            command: match step {
                Step::Verify => completion.verification_next_command.clone(),
                step => given.command(&format!("{} {}", step.command(), phase.number)),
            },
        });
    }
    actions
}

impl Part for Additions {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let mut warnings = Vec::new();
        let path = given.view.layout().waiting();
        let waiting = given.view.text(&path)?.and_then(|text| {
            let signal = serde_json::from_str(&text);
            signal.map_err(|error| warnings.push(format!("`{path}` is not valid JSON: {error}"))).ok()
        });
        let mut flags = |step: &str| match given.text(&format!("manager.flags.{step}")) {
            Some(text) if text.split_whitespace().all(is_flag_or_value) => text.trim().to_owned(),
            Some(text) => {
                warnings.push(format!("manager.flags.{step} is ignored, because it is not a list of flags: {text}"));
                String::new()
            }
            None => String::new(),
        };
        let flags = ManagerFlags { discuss: flags("discuss"), plan: flags("plan"), execute: flags("execute") };
        Ok(Self { waiting, flags, warnings })
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

/// True if the phase has the material for a plan but no plan.
fn is_gathered(stage: Stage) -> bool {
    matches!(stage, Stage::Discussed | Stage::Researched)
}

impl Step {
    /// The command of the step, without the prefix of commands.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Discuss => "discuss-phase",
            Self::Plan => "plan-phase",
            Self::Execute => "execute-phase",
            Self::Verify => "verify-work",
        }
    }
}

/// Which phases depend on which, directly or through other phases.
///
/// A phase and its number are separate nodes, as several phases may have the same number: a phase leads to the numbers
/// it depends on, and a number leads to the first phase that has it.
struct Needs {
    /// The node of each phase's number. The node of a phase is its index in the list.
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

    /// For each phase: true if it depends on a `busy` phase with another number, or such a phase depends on it.
    fn clashes(&self, phases: &[ManagedPhase], busy: impl Fn(&&ManagedPhase) -> bool) -> Vec<bool> {
        let busy = || phases.iter().enumerate().filter(|(_, phase)| busy(phase));
        let below = spread(&self.forward, busy().map(|(at, phase)| (at, phase.number.as_str())));
        let above = spread(&self.backward, busy().map(|(at, phase)| (self.numbers[at], phase.number.as_str())));
        let others = |at: usize| below[self.numbers[at]].iter().chain(&above[at]).flatten();
        phases.iter().enumerate().map(|(at, phase)| others(at).any(|other| *other != phase.number)).collect()
    }
}

/// Up to two names that reach each node along the edges: enough to see whether one differs from the node's own.
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

/// The name, cut to twenty letters.
fn shortened(name: &str) -> String {
    const WIDTH: usize = 20;
    match name.char_indices().nth(WIDTH) {
        None => name.to_owned(),
        Some(_) => name.chars().take(WIDTH - 1).chain(['…']).collect(),
    }
}

/// True for a flag such as `--auto`, or a plain value after a flag, without characters that are special to a shell.
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
