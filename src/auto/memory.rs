//! The folded log: the run, what it spends, and the operation in progress.

use std::collections::{BTreeMap, BTreeSet};

use super::ceilings::{Ceilings, Spend};
use super::event::{
    CheckRun, CheckedTree, Entry, Event, HeldOutResult, HeldOutRun, HookEnded, HookStarted, KeptState, LandingMode,
    Mechanical, PullRequest, Refusal, RequestState, Run, RunMessage, Tests, Time, UnitEnded, UnitStarted, Usage,
    Vector,
};
use super::hold::Hold;
use super::messages;
use super::stop::Stop;
use super::unit::{Class, Unit, UnitKind};
use crate::gate::{self, pins::Pins};
use crate::project::milestone_layout::messages::{MessageChannel, MessageTopic};

/// The memory of a project's current run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Memory {
    pub(crate) run: Option<Run>,
    pub(crate) ceilings: Ceilings,
    /// Files that a person allows to contain what looks like a key.
    pub(crate) allowed_keys: Vec<String>,
    /// The number of the last operation.
    pub(crate) operations: u64,
    pub(crate) current: Option<Operation>,
    pub(crate) spent: Spend,
    pub(crate) attempts: BTreeMap<Unit, Attempts>,
    /// Sessions whose work was accepted, by kind of unit.
    pub(crate) accepted: BTreeMap<UnitKind, u32>,
    /// Counts of steps done without an agent.
    pub(crate) mechanical: BTreeMap<&'static str, u32>,
    /// Steps that could not be done without an agent, with the reason.
    pub(crate) fallbacks: BTreeMap<Mechanical, String>,
    /// Sessions that should have written a change of course to the documents, since one last did.
    pub(crate) rewrites: u32,
    /// Captures that the run stopped for. A person who continues it has seen them.
    pub(crate) halted: BTreeSet<String>,
    /// The unit that was closed last, without sessions of hooks.
    pub(crate) closed: Option<Unit>,
    /// The hooks after it that ended.
    pub(crate) hooked: BTreeSet<String>,
    /// How often each hook ran for each unit.
    pub(crate) hook_cycles: BTreeMap<(Unit, String), u32>,
    /// The commands before a unit that ran since the last session began.
    pub(crate) readied: BTreeSet<(Unit, String)>,
    /// The command of a hook in progress.
    pub(crate) hooking: Option<HookStarted>,
    /// The orders of a person that were handled.
    pub(crate) orders: BTreeSet<String>,
    /// Whether the run itself wrote something that is in no commit yet.
    pub(crate) is_uncommitted: bool,
    /// The worktree according to the log, between two units. A person made any difference from it.
    pub(crate) known: Option<String>,
    /// The session whose work is to be taken back before anything else is read.
    pub(crate) taking_back: Option<UnitStarted>,
    /// The commit that is being made.
    pub(crate) committing: Option<Committing>,
    pub(crate) candidate: Option<LoggedCandidate>,
    /// The candidate that passed its checks and waited for a person when the run stopped.
    pub(crate) waiting: Option<LoggedCandidate>,
    /// The candidate that a person wants to land.
    pub(crate) reviewed: Option<String>,
    /// The candidates that were pushed, or were about to be.
    pub(crate) pushed: BTreeSet<String>,
    pub(crate) request: Option<PullRequest>,
    /// Its state, as this process saw it.
    pub(crate) request_state: Option<RequestState>,
    /// The results of the held-out check on the current work, by the place where it ran.
    pub(crate) held_out: BTreeMap<String, HeldOutResult>,
    /// The results of checks at each place, in the order of their last runs.
    pub(crate) gates: Gates,
    pub(crate) landed: Option<String>,
    pub(crate) is_released: bool,
    pub(crate) hold: Option<Hold>,
    pub(crate) stop: Option<Stop>,
    /// The versions of the rules that made the decisions of the run.
    pub(crate) engines: BTreeSet<u32>,
    /// The clients that worked on its units, in the order of their first sessions.
    pub(crate) worked: Vec<Worked>,
    /// Whether the checks of the project ran on the commit that the run started from.
    pub(crate) has_baseline: bool,
    /// The results of each check there and in the work that counts, by its command.
    pub(crate) shown: BTreeMap<String, Shown>,
    /// The message about the last transition, until it is about to be sent.
    pub(crate) owed: Option<RunMessage>,
    /// The number of messages that were sent.
    pub(crate) announced: u32,
    /// The messages that were sent and are not known to have arrived, with the channel of each.
    pub(crate) sending: BTreeSet<(u32, MessageChannel)>,
    /// Whether there was a message about a ceiling.
    pub(crate) has_warned: bool,
}

/// The results of a check so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Whether it passed at least once.
    pub(crate) was_green: bool,
    /// The tests that failed in every run that named failing tests; `None` if no run did.
    pub(crate) always_failing: Option<BTreeSet<String>>,
    /// How many tests the last run had. `None` if that is not known, or a person has changed the files since.
    pub(crate) tests: Option<Tests>,
}

impl Shown {
    fn add(&mut self, run: &CheckRun) {
        self.was_green |= run.exit_code == 0;
        self.tests = run.tests;
        if run.failing.is_empty() {
            return;
        }
        let failing: BTreeSet<String> = run.failing.iter().cloned().collect();
        self.always_failing = Some(match self.always_failing.take() {
            Some(before) => before.intersection(&failing).cloned().collect(),
            None => failing,
        });
    }
}

/// The sessions of a client for a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Worked {
    pub(crate) unit: Unit,
    pub(crate) client: String,
    pub(crate) models: BTreeSet<String>,
    pub(crate) sessions: u32,
}

/// A session and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    pub(crate) start: UnitStarted,
    pub(crate) at: Time,
    pub(crate) stage: OperationStage,
    pub(crate) ended: Option<UnitEnded>,
    /// Whether the client has a session that can be continued.
    pub(crate) has_begun: bool,
    /// Whether the process that ran its checks may have died and left files.
    pub(crate) is_cut_off: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OperationStage {
    /// A session runs, or the process that ran it died.
    Running,
    /// That process died, and no process of the session is left.
    Interrupted,
    Ended,
    Accepted,
    Checked(CheckedTree),
    /// The results of the checks are in the documents.
    Settled(CheckedTree),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Attempts {
    /// Sessions started for the unit.
    pub(crate) sessions: u32,
    /// Attempts that did not count.
    pub(crate) refused: Vec<RefusedAttempt>,
    /// The worktree before the first attempt, and the files that its checks depended on then.
    pub(crate) base: Option<String>,
    pub(crate) pins: Option<Pins>,
    /// Sessions that a crash ended.
    pub(crate) interrupted: u32,
    /// Sessions that ended because the model could not be reached.
    pub(crate) held: u32,
    /// The output of the sessions of the current attempt, in tokens.
    pub(crate) output: u64,
    /// Where the last attempt that did not count is kept.
    pub(crate) kept: Option<KeptState>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RefusedAttempt {
    pub(crate) why: Refusal,
    pub(crate) text: String,
    pub(crate) vector: Vector,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Committing {
    pub(crate) operation: Option<u64>,
    pub(crate) parent: String,
    pub(crate) tree: String,
    pub(crate) message: String,
    /// When it was started, in milliseconds: the date of the commit.
    pub(crate) at: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoggedCandidate {
    pub(crate) base: String,
    pub(crate) head: String,
    pub(crate) tree: String,
    pub(crate) commit: String,
    pub(crate) evidence: Option<CheckedTree>,
    pub(crate) held_out: Option<HeldOutResult>,
}

impl LoggedCandidate {
    /// True if everything that was run on it passed.
    pub(crate) fn passed(&self) -> bool {
        let held_out = self.held_out.as_ref().is_none_or(|result| result.passed);
        self.evidence.as_ref().is_some_and(|evidence| evidence.passed) && held_out
    }
}

/// The results of checks at each place: those that sessions can read, and the one that they cannot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Gates {
    pub(crate) visible: Vec<(String, CheckedTree)>,
    pub(crate) held_out: Vec<(String, HeldOutResult)>,
}

/// Moves a place to the end of the list, with its newest result.
fn put<T>(results: &mut Vec<(String, T)>, place: &str, result: T) {
    results.retain(|(known, _)| known != place);
    results.push((place.to_owned(), result));
}

/// The name of the place for checks on the commit that is to land.
pub(crate) const CANDIDATE: &str = "candidate";

impl Memory {
    pub(crate) fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut memory = Self::default();
        for entry in entries {
            memory.add(entry);
        }
        memory
    }

    /// How the work gets to its target; `None` if it lands without waiting for a person.
    pub(crate) fn mode(&self) -> Option<LandingMode> {
        let mode = self.run.as_ref().map(|run| run.means.landing);
        mode.filter(|mode| *mode != LandingMode::Branch)
    }

    /// The forecast of the run, in sessions.
    pub(crate) fn forecast(&self) -> u32 {
        self.run.as_ref().map_or(0, |run| run.forecast)
    }

    /// Returns where the last attempt at a task is kept, if it was taken back and no other attempt followed.
    pub(crate) fn kept_of_task(&self, id: &str) -> Option<&KeptState> {
        self.attempts.get(&Unit::new(UnitKind::ExecuteTask, id))?.kept.as_ref()
    }

    /// True if a failed run of a check on the target can excuse its failure in the work; removes tests that cannot
    /// excuse it from `then`. A test that once passed in the work must pass. For a check that only a plan names, the
    /// failing tests must be known: it is meant to fail on a commit without the work.
    pub(crate) fn excuses(&self, then: &mut gate::evidence::CheckRun, is_declared: bool) -> bool {
        let shown = self.shown.get(&then.command);
        if shown.is_some_and(|shown| shown.was_green) || !is_declared && !then.names_failures() {
            return false;
        }
        let Some(failing) = shown.and_then(|shown| shown.always_failing.as_ref()) else { return true };
        let Some(counts) = then.counts.as_mut().filter(|counts| !counts.failing.is_empty()) else { return true };
        counts.failing.retain(|name| failing.contains(name));
        !counts.failing.is_empty()
    }

    pub(crate) fn attempts(&self, unit: &Unit) -> Attempts {
        self.attempts.get(unit).cloned().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, entry: &Entry) {
        let hold = self.hold.clone();
        self.fold(entry);
        let Some(run) = &self.run else { return };
        let message = messages::about(run, &entry.event, self.hold.as_ref().or(hold.as_ref())).or_else(|| {
            let is_spent =
                matches!(entry.event, Event::UnitStarted(_) | Event::UnitEnded(_) | Event::Interrupted { .. });
            let warns = is_spent && !self.has_warned;
            warns.then(|| messages::about_ceiling(run, &self.ceilings, &self.spent)).flatten()
        });
        self.has_warned |= message.as_ref().is_some_and(|message| message.topic == MessageTopic::Ceiling);
        self.owed = message.or(self.owed.take());
    }

    fn fold(&mut self, entry: &Entry) {
        match &entry.event {
            Event::Started(run) => self.begin(run),
            Event::Resumed { engine, ceilings, allowed_keys, runner, profile, fenced, reviewed, means, .. } => {
                (self.reviewed, self.request_state) = (reviewed.clone(), None);
                if let Some(run) = &mut self.run {
                    (run.runner, run.profile) = (runner.clone(), profile.clone());
                    run.fenced = fenced.unwrap_or(run.fenced);
                    run.means = means.clone();
                }
                self.allowed_keys.extend(allowed_keys.iter().cloned());
                self.resume(*engine, *ceilings);
            }
            Event::UnitStarted(start) => self.unit_started(entry, start),
            Event::UnitEnded(ended) => self.unit_ended(ended),
            Event::Interrupted { operation, heard } => {
                self.spend(heard.usage, heard.money);
                if let Some(operation) = self.operation(*operation) {
                    operation.has_begun |= heard.has_begun;
                }
                self.interrupted(*operation);
            }
            Event::Accepted { operation, .. } => self.advance(*operation, OperationStage::Accepted),
            Event::Refused { operation, why, text, vector, takes_back } => {
                let refused = RefusedAttempt { why: *why, text: text.clone(), vector: vector.clone() };
                self.refused(*operation, refused, *takes_back);
            }
            Event::Restored { operation, kept, .. } => self.taken_back(*operation, kept.as_ref()),
            Event::PutBack { operation, trespasses, tree, .. } => {
                if let Some(ended) = self.operation(*operation).and_then(|operation| operation.ended.as_mut()) {
                    ended.tree.clone_from(tree);
                    ended.changed.retain(|path| !trespasses.iter().any(|trespass| trespass.path == *path));
                }
            }
            Event::Edited { tree, .. } => {
                self.known = Some(tree.clone());
                self.shown.values_mut().for_each(|shown| shown.tests = None);
                self.held_out.clear();
            }
            Event::Baseline { evidence } => {
                self.has_baseline = true;
                self.show(evidence);
            }
            Event::Checked { operation, evidence } => {
                if let Some(unit) = self.unit().map(|unit| unit.id.clone()) {
                    put(&mut self.gates.visible, &unit, evidence.clone());
                }
                self.advance(*operation, OperationStage::Checked(evidence.clone()));
            }
            Event::HeldOut(run) => self.held_out_ran(run),
            Event::Settled { operation } => self.settled(*operation),
            Event::Mechanical { step, fallback } => self.done_without_agent(step, fallback.as_ref()),
            Event::Committing { operation, parent, tree, message } => {
                let (parent, tree, message) = (parent.clone(), tree.clone(), message.clone());
                self.committing = Some(Committing { operation: *operation, parent, tree, message, at: entry.at.wall });
            }
            Event::Committed { operation, .. } => self.committed(*operation),
            Event::Candidate { .. }
            | Event::CandidateChecked { .. }
            | Event::TakenUp { .. }
            | Event::Outdated { .. }
            | Event::Pushing { .. }
            | Event::Requested(_)
            | Event::RequestSeen { .. }
            | Event::Landed { .. }
            | Event::Released { .. } => self.fold_landing(&entry.event),
            // As before the first run, but no number of an operation is used twice.
            Event::Abandoned { .. } => *self = Self { operations: self.operations, ..Self::default() },
            Event::Held { until, why, operation } => {
                self.hold = Some(Hold { until: *until, why: why.clone(), since: entry.at });
                self.held(*operation);
            }
            Event::SetAside { operation } => self.advance(*operation, OperationStage::Interrupted),
            Event::CutShort { operation } => self.interrupted(*operation),
            Event::HoldEnded => self.hold = None,
            Event::Ordered { id, refused, .. } => {
                self.orders.insert(id.clone());
                if refused.is_none() {
                    self.is_uncommitted = true;
                    // The candidate does not include this change.
                    self.candidate = None;
                    self.held_out.clear();
                }
            }
            Event::HookStarted(started) => self.hooking = Some(started.clone()),
            Event::HookEnded(ended) => self.hook_ended(ended),
            Event::Announced(sent) => {
                (self.owed, self.announced) = (None, sent.number);
                self.sending.extend(sent.channels.iter().map(|channel| (sent.number, *channel)));
            }
            Event::Delivered(delivery) => {
                self.sending.remove(&(delivery.number, delivery.channel));
            }
            Event::Stopped(stop) => {
                self.halted.extend(stop.captures().map(str::to_owned));
                self.stop = Some(stop.clone());
                if let Some(candidate) = &self.candidate {
                    self.waiting = Some(candidate.clone()).filter(|it| self.mode().is_some() && it.passed());
                }
            }
        }
    }

    /// Adds an event between the end of the work and the removal of its worktree.
    fn fold_landing(&mut self, event: &Event) {
        match event {
            Event::Candidate { base, head, tree, commit, .. } => {
                let (base, head, tree, commit) = (base.clone(), head.clone(), tree.clone(), commit.clone());
                self.candidate = Some(LoggedCandidate { base, head, tree, commit, evidence: None, held_out: None });
            }
            Event::CandidateChecked { commit, evidence } => {
                put(&mut self.gates.visible, CANDIDATE, evidence.clone());
                let candidate = self.candidate.as_mut().filter(|candidate| candidate.commit == *commit);
                if let Some(candidate) = candidate {
                    candidate.evidence = Some(evidence.clone());
                }
            }
            Event::TakenUp { commit } => {
                self.candidate = self.waiting.clone().filter(|waiting| waiting.commit == *commit);
            }
            Event::Outdated { .. } => self.candidate = None,
            Event::Pushing { commit, .. } => {
                self.pushed.insert(commit.clone());
            }
            Event::Requested(request) => {
                (self.request, self.request_state) = (Some(request.clone()), Some(RequestState::Open));
            }
            Event::RequestSeen { state } => self.request_state = Some(*state),
            Event::Landed { commit, .. } => self.landed = Some(commit.clone()),
            Event::Released { .. } => self.is_released = true,
            _ => {}
        }
    }

    /// The unit in progress.
    pub(crate) fn unit(&self) -> Option<&Unit> {
        self.current.as_ref().map(|operation| &operation.start.unit)
    }

    fn begin(&mut self, run: &Run) {
        *self = Self {
            operations: self.operations,
            run: Some(run.clone()),
            ceilings: run.ceilings,
            allowed_keys: run.allowed_keys.clone(),
            ..Self::default()
        };
        self.engines.insert(run.engine);
    }

    /// Continues a stopped run. A person who starts it again has looked at why it stopped, so the counts of attempts
    /// start at zero. What was spent stays spent.
    fn resume(&mut self, engine: u32, ceilings: Ceilings) {
        self.engines.insert(engine);
        // The person who continues it knows why it stopped.
        let is_known = |message: &RunMessage| matches!(message.topic, MessageTopic::NeedsYou | MessageTopic::Stopped);
        self.owed = self.owed.take().filter(|message| !is_known(message));
        self.has_warned &= self.ceilings == ceilings;
        self.ceilings = ceilings;
        if self.stop.take().is_some() {
            for attempts in self.attempts.values_mut() {
                (attempts.refused, attempts.interrupted, attempts.held, attempts.output) = (Vec::new(), 0, 0, 0);
            }
            self.candidate = None;
            self.held_out.clear();
        } else if let Some(operation) = &mut self.current {
            operation.is_cut_off |= matches!(operation.stage, OperationStage::Accepted);
        }
    }

    fn unit_started(&mut self, entry: &Entry, start: &UnitStarted) {
        self.operations = self.operations.max(start.operation);
        self.spent.sessions += 1;
        let attempts = self.attempts.entry(start.unit.clone()).or_default();
        attempts.sessions += 1;
        attempts.base.get_or_insert_with(|| start.tree.clone());
        self.known = None;
        self.readied.clear();
        if start.unit.kind.class() == Class::Work {
            self.held_out.clear();
        }
        if attempts.pins.is_none() {
            attempts.pins.clone_from(&start.pins);
        }
        self.rewrites += u32::from(start.unit.kind == UnitKind::RewriteDocs);
        self.worked_on(&start.unit).sessions += 1;
        self.current = Some(Operation {
            start: start.clone(),
            at: entry.at,
            stage: OperationStage::Running,
            ended: None,
            has_begun: start.resumed,
            is_cut_off: false,
        });
    }

    /// The files that run without being called and that differ in the candidate, or in what has landed.
    pub(crate) fn running(&self) -> impl Iterator<Item = &String> {
        self.candidate.iter().flat_map(|candidate| &candidate.evidence).flat_map(|evidence| &evidence.running)
    }

    /// Returns the record of the current client's work on a unit.
    fn worked_on(&mut self, unit: &Unit) -> &mut Worked {
        let client = self.run.as_ref().map(|run| run.runner.clone()).unwrap_or_default();
        let is_it = |worked: &Worked| worked.unit == *unit && worked.client == client;
        let number = self.worked.iter().position(is_it).unwrap_or_else(|| {
            let unit = unit.clone();
            self.worked.push(Worked { unit, client, models: BTreeSet::new(), sessions: 0 });
            self.worked.len() - 1
        });
        &mut self.worked[number]
    }

    fn unit_ended(&mut self, ended: &UnitEnded) {
        self.spend(ended.usage, ended.money);
        if let (Some(model), Some(unit)) = (&ended.model, self.unit().cloned()) {
            self.worked_on(&unit).models.insert(model.clone());
        }
        if let Some(operation) = self.operation(ended.operation) {
            operation.has_begun |= ended.session.is_some() || ended.model_calls + ended.tool_calls > 0;
            operation.ended = Some(ended.clone());
            operation.stage = OperationStage::Ended;
        }
    }

    fn spend(&mut self, usage: Usage, money: Option<f64>) {
        self.spent.tokens += usage.input + usage.output;
        if let Some(operation) = &self.current {
            self.attempts.entry(operation.start.unit.clone()).or_default().output += usage.output;
        }
        if let Some(money) = money {
            self.spent.money = Some(self.spent.money.unwrap_or(0.0) + money);
        }
    }

    fn interrupted(&mut self, number: u64) {
        let Some(operation) = self.operation(number) else { return };
        operation.stage = OperationStage::Interrupted;
        let unit = operation.start.unit.clone();
        self.attempts.entry(unit).or_default().interrupted += 1;
    }

    /// Records that the session ended because the model was not available: it is continued, and no attempt is lost.
    fn held(&mut self, number: Option<u64>) {
        let Some(operation) = number.and_then(|number| self.operation(number)) else { return };
        operation.stage = OperationStage::Interrupted;
        let unit = operation.start.unit.clone();
        self.attempts.entry(unit).or_default().held += 1;
    }

    fn held_out_ran(&mut self, run: &HeldOutRun) {
        put(&mut self.gates.held_out, &run.place, run.result.clone());
        if run.place != CANDIDATE {
            self.held_out.insert(run.place.clone(), run.result.clone());
        } else if let Some(candidate) = &mut self.candidate {
            candidate.held_out = Some(run.result.clone());
        }
    }

    fn refused(&mut self, number: u64, refused: RefusedAttempt, takes_back: bool) {
        let Some(operation) = self.current.take_if(|operation| operation.start.operation == number) else { return };
        let attempts = self.attempts.entry(operation.start.unit.clone()).or_default();
        attempts.refused.push(refused);
        self.held_out.clear();
        attempts.output = 0;
        if takes_back {
            // The next attempt starts from the state at that time, which a person may have changed.
            (attempts.base, attempts.pins, attempts.kept) = (None, None, None);
            self.taking_back = Some(operation.start);
        } else {
            self.known = operation.ended.map(|ended| ended.tree);
        }
    }

    fn taken_back(&mut self, number: u64, kept: Option<&KeptState>) {
        if let Some(start) = self.taking_back.take_if(|start| start.operation == number) {
            self.known = Some(start.tree);
            self.attempts.entry(start.unit).or_default().kept = kept.cloned();
        }
    }

    fn settled(&mut self, number: u64) {
        if let Some(operation) = self.operation(number)
            && let OperationStage::Checked(evidence) = &operation.stage
        {
            let evidence = evidence.clone();
            operation.stage = OperationStage::Settled(evidence.clone());
            if evidence.passed {
                self.show(&evidence);
            }
        }
    }

    fn show(&mut self, evidence: &CheckedTree) {
        for run in &evidence.checks {
            self.shown.entry(run.command.clone()).or_default().add(run);
        }
    }

    fn done_without_agent(&mut self, step: &Mechanical, fallback: Option<&String>) {
        if let Some(why) = fallback {
            self.fallbacks.insert(step.clone(), why.clone());
            return;
        }
        if matches!(step, Mechanical::ResolveOverrides { .. }) {
            self.rewrites = 0;
        }
        *self.mechanical.entry(step.word()).or_default() += 1;
        self.is_uncommitted = true;
    }

    fn committed(&mut self, number: Option<u64>) {
        self.known = self.committing.take().map(|committing| committing.tree);
        self.is_uncommitted = false;
        // Attempts kept before this commit no longer apply.
        self.attempts.values_mut().for_each(|attempts| attempts.kept = None);
        if number.is_some()
            && let Some(operation) = self.current.take_if(|operation| Some(operation.start.operation) == number)
        {
            let kind = operation.start.unit.kind;
            *self.accepted.entry(kind).or_default() += 1;
            if kind == UnitKind::RewriteDocs {
                self.rewrites = 0;
            }
            // Later captures are triaged in a unit of the same name, with attempts that are counted separately.
            if matches!(kind, UnitKind::TriageCaptures | UnitKind::Hook) {
                self.attempts.remove(&operation.start.unit);
            }
            if let Some(name) = operation.start.unit.hook() {
                self.hook_ran(name.to_owned());
            } else {
                (self.closed, self.hooked) = (Some(operation.start.unit), BTreeSet::new());
            }
        }
    }

    fn hook_ended(&mut self, ended: &HookEnded) {
        let hooking = self.hooking.take();
        if ended.is_before && ended.passed {
            self.readied.extend(hooking.map(|hooking| (hooking.unit, ended.hook.clone())));
        } else if ended.is_skipped {
            self.hooked.insert(ended.hook.clone());
        } else if ended.passed {
            self.hook_ran(ended.hook.clone());
        }
    }

    /// Records that a hook ran after the unit that was closed last.
    fn hook_ran(&mut self, name: String) {
        if let Some(unit) = &self.closed {
            *self.hook_cycles.entry((unit.clone(), name.clone())).or_default() += 1;
        }
        self.hooked.insert(name);
    }

    fn advance(&mut self, number: u64, stage: OperationStage) {
        if let Some(operation) = self.operation(number) {
            operation.stage = stage;
        }
    }

    fn operation(&mut self, number: u64) -> Option<&mut Operation> {
        self.current.as_mut().filter(|operation| operation.start.operation == number)
    }
}
