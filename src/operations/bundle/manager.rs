//! `init manager`: every phase of the milestone with its dependencies, and what can be done now in parallel.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::operations::answers::answer::answer;
use crate::operations::facts::listed::{self, PhaseFacts};
use crate::operations::facts::{FactBasis, Given, facts};
use crate::operations::roadmap::analyze;
use crate::project::dependencies::dependencies;
use crate::project::files::FileError;
use crate::project::folder::{FolderIndex, PhaseFolder};
use crate::project::phase::{PhaseId, PhaseIndex};
use crate::project::standing::{PhaseStanding, Stage};
use crate::project::view::ProjectView;
use crate::text::screen::counted;
use crate::text::time;

/// A phase counts as active for this many milliseconds after one of its files changed.
const ACTIVE: i64 = 5 * 60 * 1000;

/// The phases of the milestone, with the dependencies of each.
pub(super) struct Managed(pub(super) Vec<ManagerEntry>);

/// A phase that may be worked on.
#[derive(Clone, Debug)]
pub(super) struct ManagerEntry {
    pub(super) phase: PhaseFacts,
    /// When a file of the phase last changed, and whether that was just now.
    touched: Option<i64>,
    is_active: bool,
    /// The phases that it depends on, and whether all of them are complete.
    needs: Option<Vec<String>>,
    pub(super) is_unblocked: bool,
}

/// What the project's files add to the answer, and why parts of them were ignored.
struct Additions {
    /// The contents of WAITING.json.
    waiting: Option<Value>,
    flags: ManagerFlags,
    warnings: Vec<String>,
}

answer! {
    /// One phase.
    pub(super) struct ManagedPhase |task: ManagerEntry| with listed(&task.phase) {
        number, name, goal, depends_on, disk_status = stage, has_context, has_research, plan_count, summary_count,
        roadmap_complete,
        #[serde(flatten)]
        completion,
        /// When a file of the phase last changed.
        last_activity: Option<String> = task.touched.and_then(time::shown),
        /// The last change was in the last five minutes.
        is_active: bool = task.is_active,
        context_scope,
        /// The name, shortened to fit a narrow column.
        display_name: String = shortened(&task.phase.name),
        /// Every phase it depends on is complete, whether in this milestone or an earlier one.
        deps_satisfied: bool = task.is_unblocked,
        /// The phases named in `depends_on`.
        #[serde(skip_serializing_if = "Option::is_none")]
        dep_phases: Option<Vec<String>> = task.needs.clone(),
        /// The phases that `depends_on` names, as a column shows them.
        deps_display: String = match task.needs.as_deref() {
            None | Some([]) => "—".to_owned(),
            Some(phases) => phases.join(","),
        },
        /// Nothing has been done yet, and nothing blocks it.
        is_next_to_discuss: bool = task.is_next_to_discuss(),
    }
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
    managed_phases: Vec<ManagedPhase> = managed.0.iter().map(ManagedPhase::of).collect();
    /// The number of phases of the milestone.
    managed_phase_count: usize = managed.0.len();
    /// The number of complete phases.
    managed_completed_count: usize = managed.completed();
    /// The number of phases that are not complete and whose folder has contents.
    managed_in_progress_count: usize = managed.0.iter().filter(|task| is_in_progress(task.phase.stage())).count();
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

impl FactBasis for Managed {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let now = given.host.next.milliseconds;
        let folders = given.view.phase_folders()?;
        let Some(roadmap) = given.view.roadmap()? else { return Ok(Self(Vec::new())) };
        let folder_index = FolderIndex::new(&folders);
        let mut tasks = Vec::new();
        for phase in analyze::phases(given.view, roadmap, &given.view.milestone()?)? {
            let folder = folder_index.find(&PhaseId::new(&phase.number));
            let touched = folder.and_then(|folder| last_touch(given, folder));
            tasks.push(ManagerEntry {
                touched,
                is_active: touched.is_some_and(|touched| now.saturating_sub(touched) < ACTIVE),
                needs: phase.depends_on.as_deref().and_then(dependencies),
                is_unblocked: false,
                phase: PhaseFacts {
                    directory: folder.map(|folder| given.shown(&folder.path)),
                    command_prefix: given.host.command_prefix.clone(),
                    ..phase
                },
            });
        }
        let index = PhaseIndex::new(tasks.iter().map(|task| task.phase.number.as_str()).enumerate());
        let shipped = roadmap.sections().iter().filter(|section| section.shipped).map(|section| section.id);
        let shipped = PhaseIndex::new(shipped.enumerate());
        let is_done = |needed: &str| match index.find(needed) {
            Some(other) => Ok(tasks[other].phase.standing.is_complete()),
            None if shipped.find(needed).is_some() => Ok(true),
            None => is_done_elsewhere(given.view, needed),
        };
        let unblocked = tasks.iter().map(|task| are_done(task, is_done)).collect::<Result<Vec<_>, _>>()?;
        for (task, is_unblocked) in tasks.iter_mut().zip(unblocked) {
            task.is_unblocked = is_unblocked;
        }
        Ok(Self(tasks))
    }
}

impl Managed {
    pub(super) fn completed(&self) -> usize {
        self.0.iter().filter(|task| task.phase.standing.is_complete()).count()
    }
}

impl ManagerEntry {
    /// Nothing has been done yet, and nothing blocks it.
    fn is_next_to_discuss(&self) -> bool {
        self.is_unblocked && matches!(self.phase.stage(), Stage::NoDirectory | Stage::Empty)
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

fn actions(given: &Given<'_>, tasks: &[ManagerEntry]) -> Vec<Action> {
    let executing = |task: &&ManagerEntry| match task.phase.stage() {
        Stage::Partial => true,
        stage => stage == Stage::Planned && task.is_active,
    };
    let planning = |task: &&ManagerEntry| is_gathered(task.phase.stage()) && task.is_active;
    let needs = Needs::of(tasks);
    let clashes_with_executing = needs.clashes(tasks, executing);
    let clashes_with_planning = needs.clashes(tasks, planning);
    let mut actions = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        let PhaseFacts { number, name, standing, .. } = &task.phase;
        let (step, reason) = match task.phase.stage() {
            Stage::Executed => {
                (Step::Verify, format!("Implementation complete; verification {}", standing.verification.word()))
            }
            Stage::Planned if task.is_unblocked && !clashes_with_executing[at] => {
                (Step::Execute, format!("{} ready, dependencies met", counted(standing.work.plans.len(), "plan")))
            }
            stage if is_gathered(stage) && !clashes_with_planning[at] => {
                (Step::Plan, "Context gathered, ready for planning".to_owned())
            }
            _ if task.is_next_to_discuss() => (Step::Discuss, "Unblocked, ready to gather context".to_owned()),
            _ => continue,
        };
        actions.push(Action {
            phase: number.clone(),
            phase_name: name.clone(),
            action: step,
            reason,
            command: match step {
                Step::Verify => standing.verification_command(number, &given.host.command_prefix),
                step => given.command(&format!("{} {number}", step.command())),
            },
        });
    }
    actions
}

impl FactBasis for Additions {
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

fn are_done(task: &ManagerEntry, is_done: impl Fn(&str) -> Result<bool, FileError>) -> Result<bool, FileError> {
    for needed in task.needs.iter().flatten() {
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
    fn of(tasks: &[ManagerEntry]) -> Self {
        let index = PhaseIndex::new(tasks.iter().map(|task| task.phase.number.as_str()).enumerate());
        let first = |number: &str| index.find(number);
        let number_of = |place: usize| tasks.len() + place;
        let numbers =
            tasks.iter().enumerate().map(|(at, task)| number_of(first(&task.phase.number).unwrap_or(at))).collect();
        let mut forward = vec![Vec::new(); 2 * tasks.len()];
        let mut backward = forward.clone();
        let mut join = |from: usize, to: usize| {
            forward[from].push(to);
            backward[to].push(from);
        };
        for (at, task) in tasks.iter().enumerate() {
            for needed in task.needs.iter().flatten().filter_map(|needed| first(needed)) {
                join(at, number_of(needed));
            }
            if first(&task.phase.number) == Some(at) {
                join(number_of(at), at);
            }
        }
        Self { numbers, forward, backward }
    }

    /// For each phase: true if it depends on a `busy` phase with another number, or such a phase depends on it.
    fn clashes(&self, tasks: &[ManagerEntry], busy: impl Fn(&&ManagerEntry) -> bool) -> Vec<bool> {
        let busy = || tasks.iter().enumerate().filter(|(_, task)| busy(task));
        let below = spread(&self.forward, busy().map(|(at, task)| (at, task.phase.number.as_str())));
        let above = spread(&self.backward, busy().map(|(at, task)| (self.numbers[at], task.phase.number.as_str())));
        let others = |at: usize| below[self.numbers[at]].iter().chain(&above[at]).flatten();
        tasks.iter().enumerate().map(|(at, task)| others(at).any(|other| *other != task.phase.number)).collect()
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
