//! The answers of `auto status` and `auto next`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::account::summary::RunSummary;
use super::decide::Step;
use super::memory::{Memory, OperationStage};
use super::phases::{PhaseSettings, position};
use super::position::RuleResult;
use super::runner::table::Runners;
use super::slices::derive::{Phase, Share, Standing, State};
use super::slices::look::Look;
use super::slices::rules::{Listing, RULES};
use super::slices::snapshot::{SliceTask, Snapshot, TaskQuestion};
use super::stop::Stop;
use crate::operations::state;
use crate::project::files::{FileError, sha256};
use crate::project::milestone_layout::requirements::RequirementCounts;
use crate::project::standing::{PhaseStanding, PhaseWork};
use crate::project::up_next::UpNext;
use crate::project::view::ProjectView;
use crate::text::shell::Typed;
use crate::text::terminal::one_line;
use crate::text::time;

/// The state of the work, and what comes next.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct StatusReport {
    /// `gsd` for a project in milestones and slices, `planning` for one in phases.
    pub(crate) layout: &'static str,
    pub(crate) phase: &'static str,
    pub(crate) active: Active,
    pub(crate) next: NextReport,
    /// The next step in the project, the same in every answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<state::next::NextReport>,
    pub(crate) blockers: Vec<String>,
    /// Open questions of tasks in the active slice.
    pub(crate) questions: Vec<QuestionRow>,
    /// Captures that are not resolved; left out if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) captures: usize,
    pub(crate) progress: Progress,
    pub(crate) registry: Vec<RegistryRow>,
    pub(crate) requirements: RequirementCounts,
    /// The run of this project; left out if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<SessionReport>,
    pub(crate) counters: Counters,
    /// The last results of the checks of the run, by place.
    pub(crate) checks: ChecksReport,
    pub(crate) cost: Cost,
    /// The last run at a glance; left out if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<RunSummary>,
    /// Branches and worktrees that do not belong to the unfinished run.
    pub(crate) leftovers: Vec<LeftoverRow>,
    /// How many entries of the log are about another repository, which was in this folder before; left out if none is.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) entries_of_another_repository: usize,
    /// Identifies the state of the documents that were read.
    pub(crate) fingerprint: String,
}

#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Active {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) milestone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) slice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
}

/// What a run does next.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct NextReport {
    /// `dispatch`, `mechanical`, `hook`, `gate`, `commit`, `land`, `wait` or `stop`; `running` while a process works on a unit,
    /// and `recover` after that process died.
    pub(crate) action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mechanical: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop: Option<Stop>,
    /// What the run waits for before it continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wait: Option<WaitReport>,
}

/// A wait of a run for its model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct WaitReport {
    /// Such as `2026-01-02 03:04:05 UTC`; omitted if it is not a moment that a clock has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<String>,
    pub(crate) why: String,
}

impl WaitReport {
    fn of(until: i64, why: &str) -> Self {
        Self { until: time::in_words(until), why: one_line(why) }
    }
}

/// A question of a task, which `auto answer` answers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct QuestionRow {
    /// The task, as `M001/S01/T02`.
    pub(crate) task: String,
    pub(crate) text: String,
    /// Each as `a: description`.
    pub(crate) options: Vec<String>,
    pub(crate) recommended: String,
    /// Whether the task waits for an answer; else it continues with the recommended option.
    pub(crate) waits: bool,
}

/// Returns the open questions of all slices that were read.
pub(crate) fn questions_of(snapshot: &Snapshot) -> Vec<QuestionRow> {
    let mut rows = Vec::new();
    for milestone in &snapshot.milestones {
        for slice in milestone.roadmap.as_deref().unwrap_or_default() {
            let detail = snapshot.detail(&milestone.id, &slice.id);
            let tasks = detail.and_then(|detail| detail.tasks.as_deref()).unwrap_or_default();
            rows.extend(questions_in(&format!("{}/{}", milestone.id, slice.id), tasks));
        }
    }
    rows
}

fn questions(look: &Look<'_>) -> Vec<QuestionRow> {
    let Some(slice) = look.slice_id() else { return Vec::new() };
    let (milestone, id) = slice.split_once('/').unwrap_or_default();
    let tasks = look.snapshot.detail(milestone, id).and_then(|detail| detail.tasks.as_deref()).unwrap_or_default();
    questions_in(&slice, tasks)
}

fn questions_in(slice: &str, tasks: &[SliceTask]) -> Vec<QuestionRow> {
    let asked = tasks.iter().filter_map(|task| Some((&task.id, task.question.as_ref()?)));
    let row = |(task, question): (&String, &TaskQuestion)| QuestionRow {
        task: format!("{slice}/{task}"),
        text: question.text.clone(),
        options: question.options.clone(),
        recommended: question.recommended.to_string(),
        waits: question.waits,
    };
    asked.map(row).collect()
}

/// Counts of done and total.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Progress {
    pub(crate) milestones: [usize; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) slices: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tasks: Option<[usize; 2]>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RegistryRow {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) status: Standing,
    /// Milestones that it depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) depends_on: Vec<String>,
}

/// The run in the log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SessionReport {
    /// `held` while a process runs it, else `free`.
    pub(crate) lock: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    pub(crate) runner: String,
    /// The version that the client reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// A warning about that version, if a different one was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_warning: Option<String>,
    pub(crate) worktree: String,
    /// The set-up of its worktrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) set_up: Option<super::set_up::Named>,
    /// The installed packages of the person's checkout that it brings to its worktrees.
    #[serde(skip_serializing_if = "super::environments::Environments::is_empty")]
    pub(crate) environments: super::environments::Environments,
    /// The unit in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<u32>,
    /// The progress of that unit: `running`, `interrupted`, `ended`, `accepted`, `checked` or `settled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stage: Option<&'static str>,
    /// Why it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop: Option<Stop>,
}

#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Counters {
    pub(crate) rewrite: u32,
    /// Attempts that did not count, by unit.
    pub(crate) refused: BTreeMap<String, usize>,
    /// Sessions started, by unit.
    pub(crate) dispatch: BTreeMap<String, u32>,
}

#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Cost {
    /// In US dollars, as reported by the client; left out if it reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    /// Output tokens and uncached input.
    pub(crate) tokens: u64,
    pub(crate) sessions: u32,
    pub(crate) forecast: u32,
    pub(crate) most_sessions: u32,
}

/// One rule, and whether it applies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RuleRow {
    pub(crate) rule: &'static str,
    /// Whether it is off until a preference is set.
    pub(crate) optional: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) matched: Option<bool>,
    /// Why it does not apply, or what it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

/// The results of checks.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ChecksReport {
    /// The checks that sessions can read, by unit or `candidate`.
    pub(crate) visible: Vec<VisibleRow>,
    /// The check that they cannot read, by `slice S01`, `phase 2` or `candidate`; empty if none is configured.
    pub(crate) held_out: Vec<HeldOutRow>,
    /// The files that run without being called and that differ in the candidate, or in what has landed.
    pub(crate) running: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct VisibleRow {
    pub(crate) place: String,
    pub(crate) passed: bool,
    /// How many commands exited with 0, and how many ran.
    pub(crate) commands: [usize; 2],
    pub(crate) tree: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct HeldOutRow {
    pub(crate) place: String,
    pub(crate) passed: bool,
    pub(crate) exit_code: i32,
    pub(crate) milliseconds: u64,
    pub(crate) tree: String,
}

impl ChecksReport {
    fn of(memory: &Memory) -> Self {
        let visible = memory.gates.visible.iter().map(|(place, evidence)| VisibleRow {
            place: place.clone(),
            passed: evidence.passed,
            commands: [evidence.checks.iter().filter(|check| check.exit_code == 0).count(), evidence.checks.len()],
            tree: evidence.tree.clone(),
        });
        let held_out = memory.gates.held_out.iter().map(|(place, result)| HeldOutRow {
            place: place.clone(),
            passed: result.passed,
            exit_code: result.exit_code,
            milliseconds: result.milliseconds,
            tree: result.tree.clone(),
        });
        Self { visible: visible.collect(), held_out: held_out.collect(), running: memory.running().cloned().collect() }
    }
}

/// A branch of the form of those that runs make, with its worktrees, that does not belong to the unfinished run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LeftoverRow {
    pub(crate) milestone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// Worktrees and checkouts, relative to the project.
    pub(crate) folders: Vec<String>,
    /// Whether a run of this project made it. Nothing else is removed.
    pub(crate) ours: bool,
    /// The command that removes it; omitted if no run of this project made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) remove: Option<Typed>,
}

/// The lines about what earlier runs have left, and about branches that no run of this project made.
pub(crate) fn leftover_lines(rows: &[LeftoverRow]) -> Vec<String> {
    let listed = |ours: bool| {
        let rows = rows.iter().filter(|row| row.ours == ours);
        rows.map(|row| row.branch.clone().unwrap_or_else(|| row.folders.join(", "))).collect::<Vec<_>>().join(", ")
    };
    let (own, others) = (listed(true), listed(false));
    let mut lines = Vec::new();
    if !own.is_empty() {
        let remove: Vec<String> =
            rows.iter().filter_map(|row| row.remove.as_ref()).map(|command| format!("`{command}`")).collect();
        lines.push(one_line(&format!("Left by earlier runs: {own}; remove: {}", remove.join(", "))));
    }
    if !others.is_empty() {
        lines.push(one_line(&format!("Not made by a run of this project, and not touched: {others}")));
    }
    lines
}

/// The line about entries of another repository.
pub(crate) fn another_repository(entries: usize) -> Option<String> {
    (entries > 0).then(|| {
        let entries = if entries == 1 { "1 earlier entry".to_owned() } else { format!("{entries} earlier entries") };
        format!("Not shown: {entries} of the log about another repository, which was in this folder before.")
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn pair(share: Share) -> [usize; 2] {
    [share.done, share.total]
}

impl StatusReport {
    /// Returns what is known of the run in either layout; parts that come from the documents are left empty.
    fn of_run(memory: &Memory, step: &Step, rule: &'static str) -> Self {
        Self {
            layout: "",
            phase: "",
            active: Active::default(),
            next: NextReport::of(step, rule),
            step: None,
            blockers: Vec::new(),
            questions: Vec::new(),
            captures: 0,
            progress: Progress::default(),
            registry: Vec::new(),
            requirements: RequirementCounts::default(),
            session: SessionReport::of(memory, step),
            counters: Counters::of(memory),
            checks: ChecksReport::of(memory),
            cost: Cost::of(memory),
            run: None,
            leftovers: Vec::new(),
            entries_of_another_repository: 0,
            fingerprint: String::new(),
        }
    }

    pub(crate) fn of(look: &Look<'_>, step: &Step, rule: &'static str, fingerprint: String) -> Self {
        let State { phase, milestone, slice, task, blockers, registry, milestones, slices, tasks, .. } = look.state;
        let id = |named: &Option<super::slices::derive::TitledId>| named.as_ref().map(|named| named.id.clone());
        let paused = look.memory.stop.as_ref().is_some_and(|stop| stop.cause == super::stop::Cause::Paused);
        Self {
            layout: "gsd",
            phase: if paused { Phase::Paused.word() } else { phase.word() },
            active: Active { milestone: id(milestone), slice: id(slice), task: id(task) },
            blockers: blockers.iter().map(|blocker| one_line(blocker)).collect(),
            questions: questions(look),
            captures: look.snapshot.captures.iter().filter(|capture| !capture.is_resolved()).count(),
            progress: Progress { milestones: pair(*milestones), slices: slices.map(pair), tasks: tasks.map(pair) },
            registry: registry
                .iter()
                .map(|entry| RegistryRow {
                    id: entry.id.clone(),
                    title: entry.title.clone(),
                    status: entry.standing,
                    depends_on: entry.waits_for.clone(),
                })
                .collect(),
            requirements: look.snapshot.requirements,
            fingerprint,
            ..Self::of_run(look.memory, step, rule)
        }
    }
}

/// The input for the status of a project in phases.
#[derive(Debug)]
pub(crate) struct PhasesSeen<'a> {
    pub(crate) view: &'a ProjectView,
    pub(crate) memory: &'a Memory,
    pub(crate) settings: &'a PhaseSettings,
}

impl StatusReport {
    /// Returns the number of the next phase.
    pub(crate) fn active_phase(view: &ProjectView) -> Result<Option<String>, FileError> {
        Ok(UpNext::of(view, false)?.phase().map(|phase| phase.number.clone()))
    }

    /// Returns the status of a project in phases: phases take the role of slices, and plans that of tasks.
    pub(crate) fn of_phases(seen: &PhasesSeen<'_>, step: &Step, rule: &'static str) -> Result<Self, FileError> {
        let PhasesSeen { view, memory, .. } = seen;
        let milestone = view.milestone()?;
        let next = UpNext::of(view, false)?;
        let roadmap = view.roadmap_or_empty()?;
        let phases = milestone.phase_ids(roadmap);
        let mut done = 0;
        for id in &phases {
            let folder = view.find_phase(id)?.folder;
            done += usize::from(!PhaseWork::of(view, id, folder.as_ref())?.is_open());
        }
        let active = next.phase().map(|phase| phase.number.clone());
        let plans = match &active {
            Some(number) => {
                let folder = view.find_phase(number)?.folder;
                let work = PhaseStanding::of(view, number, folder.as_ref())?.work;
                Some([work.plans.len().saturating_sub(work.open_plans.len()), work.plans.len()])
            }
            None => None,
        };
        let is_done = !phases.is_empty() && done == phases.len();
        let paused = memory.stop.as_ref().is_some_and(|stop| stop.cause == super::stop::Cause::Paused);
        let fingerprint = sha256(
            format!("{:?} {:?} {:?}", roadmap.text(), view.state()?.map(crate::project::state::State::text), next)
                .as_bytes(),
        );
        Ok(Self {
            layout: "planning",
            phase: if paused { Phase::Paused.word() } else { position::word(&next) },
            active: Active { milestone: milestone.version.clone(), slice: active, task: None },
            progress: Progress {
                milestones: [usize::from(is_done), 1],
                slices: Some([done, phases.len()]),
                tasks: plans,
            },
            fingerprint,
            ..Self::of_run(memory, step, rule)
        })
    }
}

/// Returns the rules of a project in phases; if `is_explained`, with whether each applies.
pub(crate) fn phase_rules(seen: &PhasesSeen<'_>, is_explained: bool) -> Result<Vec<RuleRow>, FileError> {
    let applied = position::of(seen.view, seen.memory, seen.settings)?.rule;
    let row = |rule: &&'static str| RuleRow {
        rule,
        optional: false,
        matched: is_explained.then_some(*rule == applied),
        why: None,
    };
    Ok(position::RULES.iter().map(row).collect())
}

impl StatusReport {
    /// Returns the same while a process holds the run: its current action replaces the next one.
    pub(crate) fn held_by(mut self, holder: Option<u32>, memory: &Memory) -> Self {
        let Some(holder) = holder else { return self };
        if let Some(session) = &mut self.session {
            session.lock = "held";
            session.pid = Some(holder).filter(|holder| *holder > 0);
        }
        if let Some(operation) = &memory.current {
            let unit = &operation.start.unit;
            let next = NextReport::of(&Step::Sweep, "");
            self.next = NextReport {
                action: "running",
                wait: memory.hold.as_ref().map(|hold| WaitReport::of(hold.end().wall, &hold.why)),
                unit_type: Some(unit.kind.word()),
                unit_id: Some(unit.id.clone()),
                ..next
            };
        }
        self
    }
}

impl NextReport {
    pub(crate) fn of(step: &Step, rule: &'static str) -> Self {
        let bare = |action| Self {
            action,
            unit_type: None,
            unit_id: None,
            rule: None,
            mechanical: None,
            stop: None,
            wait: None,
        };
        match step {
            Step::Launch { unit, rule, .. } => Self {
                unit_type: Some(unit.kind.word()),
                unit_id: Some(unit.id.clone()),
                rule: Some(rule),
                ..bare("dispatch")
            },
            Step::Mechanical(step) => Self { mechanical: Some(step.word()), rule: Some(rule), ..bare("mechanical") },
            Step::Baseline
            | Step::Check
            | Step::Settle
            | Step::Refuse { .. }
            | Step::TakeBack(_)
            | Step::CheckCandidate
            | Step::HeldOut(_) => bare("gate"),
            Step::Hook => bare("hook"),
            Step::Commit => bare("commit"),
            Step::MakeCandidate | Step::Land | Step::Release | Step::LookAtRequest | Step::Propose => bare("land"),
            Step::Review => bare("stop"),
            Step::Wait { until, why } => Self { wait: Some(WaitReport::of(until.wall, why)), ..bare("wait") },
            Step::EndWait => bare("wait"),
            Step::Sweep | Step::Judge => bare("recover"),
            Step::Stop(end) => Self { stop: Some(end.clone()), ..bare("stop") },
        }
    }
}

/// Returns the warning about this version of a client, if any.
fn warning_on(runner: &str, said: &str) -> Option<String> {
    Runners::builtin().ok()?.find(runner).ok()?.warning_on(Some(said))
}

impl SessionReport {
    fn of(memory: &Memory, step: &Step) -> Option<Self> {
        let run = memory.run.as_ref()?;
        let current = memory.current.as_ref();
        // An answer, for example, ends what the documents show.
        let holds = |stop: &&Stop| !stop.cause.is_in_documents() || matches!(step, Step::Stop(_));
        Some(Self {
            lock: "free",
            pid: None,
            runner: run.runner.clone(),
            client: run.means.client.clone(),
            client_warning: run.means.client.as_deref().and_then(|said| warning_on(&run.runner, said)),
            worktree: run.worktree.clone(),
            set_up: run.means.set_up.clone(),
            environments: run.means.environments.clone(),
            unit: current.map(|operation| operation.start.unit.to_string()),
            attempt: current.map(|operation| operation.start.attempt),
            stage: current.map(|operation| operation.stage.word()),
            stop: memory.stop.as_ref().filter(holds).cloned(),
        })
    }
}

impl OperationStage {
    fn word(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Ended => "ended",
            Self::Accepted => "accepted",
            Self::Checked(_) => "checked",
            Self::Settled(_) => "settled",
        }
    }
}

impl Counters {
    fn of(memory: &Memory) -> Self {
        let attempts = memory.attempts.iter();
        let refused = attempts.clone().filter(|(_, attempts)| !attempts.refused.is_empty());
        Self {
            rewrite: memory.rewrites,
            refused: refused.map(|(unit, attempts)| (unit.to_string(), attempts.refused.len())).collect(),
            dispatch: attempts.map(|(unit, attempts)| (unit.to_string(), attempts.sessions)).collect(),
        }
    }
}

impl Cost {
    fn of(memory: &Memory) -> Self {
        let forecast = memory.forecast();
        Self {
            usd: memory.spent.money,
            tokens: memory.spent.tokens,
            sessions: memory.spent.sessions,
            forecast,
            most_sessions: memory.ceilings.most_sessions(forecast),
        }
    }
}

/// Returns the rules of the pipeline; if `is_explained`, with what each finds.
pub(crate) fn rules(look: &Look<'_>, is_explained: bool, with_optional: bool) -> Vec<RuleRow> {
    let mut is_decided = false;
    let mut rows = Vec::new();
    for rule in RULES {
        let listing = rule.listing(look.preferences.pipeline);
        let is_listed = match listing {
            Listing::Row => true,
            Listing::Optional | Listing::Terminal => with_optional || is_explained,
            Listing::Absent => false,
        };
        if !is_listed {
            continue;
        }
        let (matched, why) = match rule.apply(look) {
            _ if !is_explained => (None, None),
            _ if is_decided => (Some(false), Some("a rule above applies".to_owned())),
            RuleResult::No(why) => (Some(false), Some(why)),
            RuleResult::Dispatch(unit) => (Some(true), Some(unit.to_string())),
            RuleResult::Mechanical(step) => (Some(true), Some(step.word().to_owned())),
            RuleResult::Hook => (Some(true), Some("a hook".to_owned())),
            RuleResult::Stop(stop) => (Some(true), Some(stop.text)),
        };
        is_decided |= matched == Some(true);
        rows.push(RuleRow { rule: rule.name, optional: listing == Listing::Optional, matched, why });
    }
    rows
}
