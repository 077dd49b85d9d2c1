//! A project in memory with a function as its agent: runs the same loop as on a real project, in milliseconds.

pub(crate) mod actor;
pub(crate) mod made;
pub(crate) mod report;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::engine::drive::{Drive, Settings};
use super::engine::{
    ControlRequest, Earlier, Edit, Effects, EngineError, Identity, LandingOutcome, Merge, Prompted, Session,
};
use super::event::{
    CheckRun, CheckedTree, Entry, Event, KeptState, LastHeard, Means, MessageDelivery, ProofKept, PullRequest,
    RequestPlace, Run, SentMessage, Time, UnitEnded, UnitStarted, Usage,
};
use super::memory::{Committing, LoggedCandidate, Memory, Operation};
use super::preferences::Preferences;
use super::slices::brief::{self, Around};
use super::slices::derive::Scope;
use super::slices::orders::Order;
use super::slices::reading::{self, Extent};
use super::stop::{Cause, Stop};
use super::unit::Unit;
use crate::failure::Failure;
use crate::gate::pins::Pins;
use crate::gate::secrets::{SecretFound, added_secrets};
use crate::gate::tamper::FileChange;
use crate::operations::state::Facts;
use crate::project::files::{Files, MemoryFiles, sha256};
use crate::project::layout::Layout;
use crate::project::milestone_layout::messages::{MessageChannel, MessageTopic};
use crate::project::view::ProjectView;
use actor::Actor;

type FileTexts = BTreeMap<String, String>;

/// The state that outlives a process: the worktree, the repository, the log, and the actions of the agent.
#[derive(Debug)]
pub(crate) struct Simulated {
    pub(crate) files: MemoryFiles,
    pub(crate) log: Vec<Entry>,
    trees: BTreeMap<String, FileTexts>,
    /// The tree and the parent of each commit.
    commits: BTreeMap<String, (String, String)>,
    pub(crate) head: String,
    pub(crate) target: String,
    pub(crate) landed: Vec<String>,
    pub(crate) is_released: bool,
    clock: i64,
    /// Orders that a person has given.
    pub(crate) orders: BTreeMap<String, Order>,
    pub(crate) actor: Box<dyn Actor>,
    /// The sessions that were started, in order.
    pub(crate) sessions: Vec<Unit>,
    pub(crate) prompt_characters: usize,
    /// The process dies at this effect, counted from now.
    pub(crate) dies_at: Option<u64>,
    /// Effects so far.
    pub(crate) effects: u64,
    pub(crate) requests: Vec<ControlRequest>,
    pub(crate) resumes: bool,
    /// Whether earlier commits of the target belong to the milestone.
    pub(crate) has_history: bool,
    /// The worktree at each effect, if requested.
    pub(crate) states: Option<Vec<MemoryFiles>>,
    identities: u64,
    /// The work of attempts that did not count.
    kept: BTreeMap<u64, KeptState>,
    preferences: Preferences,
    brief: Option<(String, String)>,
    /// Whether a person wants messages.
    pub(crate) has_channel: bool,
    /// The messages that were sent.
    pub(crate) sent: Vec<SentMessage>,
    /// The commit that was pushed for a pull request.
    pub(crate) pushed: Option<String>,
}

impl Simulated {
    /// Returns a project with these files, all of them committed.
    pub(crate) fn new(files: MemoryFiles, actor: impl Actor + 'static) -> Self {
        let mut simulated = Self {
            files,
            log: Vec::new(),
            trees: BTreeMap::new(),
            commits: BTreeMap::new(),
            head: String::new(),
            target: String::new(),
            landed: Vec::new(),
            is_released: false,
            clock: 1_790_000_000_000,
            orders: BTreeMap::new(),
            actor: Box::new(actor),
            sessions: Vec::new(),
            prompt_characters: 0,
            dies_at: None,
            effects: 0,
            requests: Vec::new(),
            resumes: false,
            has_history: false,
            states: None,
            identities: 0,
            kept: BTreeMap::new(),
            preferences: Preferences::default(),
            brief: None,
            has_channel: false,
            sent: Vec::new(),
            pushed: None,
        };
        let tree = simulated.keep_tree();
        let root = simulated.add_commit(&tree, "", "start");
        (simulated.head, simulated.target) = (root.clone(), root);
        simulated
    }

    /// Starts a run of the milestone in the log.
    pub(crate) fn begin(&mut self, milestone: &str, brief: bool, forecast: u32, settings: &super::ceilings::Ceilings) {
        self.brief = brief.then(|| ("BRIEF.md".to_owned(), "Something that works.\n".to_owned()));
        let run = Run {
            id: "run-1".to_owned(),
            engine: super::event::ENGINE,
            process: 1,
            milestone: milestone.to_owned(),
            target: "main".to_owned(),
            base: self.target.clone(),
            branch: format!("milestone/{milestone}"),
            worktree: String::new(),
            runner: "simulated".to_owned(),
            profile: "safe".to_owned(),
            fenced: false,
            means: Means::default(),
            brief: brief.then(|| "BRIEF.md".to_owned()),
            given: None,
            forecast,
            expected: None,
            ceilings: *settings,
            allowed_keys: Vec::new(),
        };
        let at = self.now();
        self.log.push(Entry { at, event: Event::Started(run) });
    }

    /// Continues the run in a new process until it stops or dies.
    pub(crate) fn go_on(&mut self, settings: &Settings) -> Result<Stop, EngineError> {
        let memory = Memory::of(&self.log);
        self.preferences = settings.preferences.clone();
        Drive::new(self, memory, settings).run()
    }

    /// Returns all files of the last landing.
    #[cfg(test)]
    pub(crate) fn landed_texts(&self) -> Option<&FileTexts> {
        let (tree, _) = self.commits.get(self.landed.last()?)?;
        self.trees.get(tree)
    }

    /// Returns their identifier.
    pub(crate) fn landed_hash(&self) -> Option<String> {
        let (tree, _) = self.commits.get(self.landed.last()?)?;
        Some(tree.clone())
    }

    fn step(&mut self) -> Result<(), EngineError> {
        self.effects += 1;
        if let Some(states) = &mut self.states
            && states.last().is_none_or(|last| last.texts != self.files.texts)
        {
            states.push(self.files.clone());
        }
        if self.dies_at == Some(self.effects) { Err(EngineError::Died) } else { Ok(()) }
    }

    fn keep_tree(&mut self) -> String {
        let mut text = String::new();
        for (path, content) in &self.files.texts {
            text.push_str(path);
            text.push('\0');
            text.push_str(&sha256(content.as_bytes()));
            text.push('\n');
        }
        let tree = sha256(text.as_bytes());
        if !self.trees.contains_key(&tree) {
            self.trees.insert(tree.clone(), self.files.texts.clone());
        }
        tree
    }

    fn add_commit(&mut self, tree: &str, parent: &str, message: &str) -> String {
        let commit = sha256(format!("{tree} {parent} {message}").as_bytes());
        self.commits.insert(commit.clone(), (tree.to_owned(), parent.to_owned()));
        commit
    }

    /// Returns the files of a tree or a commit.
    fn texts(&self, name: &str) -> FileTexts {
        let tree = self.commits.get(name).map_or(name, |(tree, _)| tree);
        self.trees.get(tree).cloned().unwrap_or_default()
    }

    fn tree_of(&self, commit: &str) -> String {
        self.commits.get(commit).map(|(tree, _)| tree.clone()).unwrap_or_default()
    }

    fn evidence(tree: String, verdict: &actor::Checks) -> CheckedTree {
        let check = |command: &String| CheckRun {
            command: command.clone(),
            exit_code: i32::from(!verdict.passed),
            milliseconds: 1,
            digest: sha256(verdict.output.as_bytes()),
            passed: verdict.passed,
            tests: None,
            failing: Vec::new(),
        };
        CheckedTree {
            tree,
            source: "task-plan".to_owned(),
            passed: verdict.passed,
            checks: verdict.commands.iter().map(check).collect(),
            failure: if verdict.passed { String::new() } else { verdict.output.clone() },
            ..CheckedTree::default()
        }
    }
}

impl Effects for Simulated {
    fn now(&mut self) -> Time {
        self.clock += 1;
        Time { wall: self.clock, machine: self.clock.unsigned_abs() }
    }

    fn append(&mut self, entry: &Entry) -> Result<(), EngineError> {
        self.step()?;
        self.log.push(entry.clone());
        self.step()
    }

    fn channels(&self, _topic: MessageTopic) -> Vec<MessageChannel> {
        if self.has_channel { vec![MessageChannel::Webhook] } else { Vec::new() }
    }

    fn send(&mut self, sent: &SentMessage) {
        self.sent.push(sent.clone());
    }

    fn deliveries(&mut self, _patience: Duration) -> Vec<MessageDelivery> {
        let last = self.sent.last();
        let delivery = |sent: &SentMessage| MessageDelivery {
            number: sent.number,
            channel: MessageChannel::Webhook,
            problem: None,
        };
        last.map(delivery).into_iter().collect()
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn view(&self) -> ProjectView {
        ProjectView::new(Layout::new("/p", None, None), Box::new(self.files.clone()))
    }

    fn facts(&mut self) -> Facts {
        Facts { milliseconds: self.clock, ..Facts::default() }
    }

    fn strayed(&mut self, _start: &str) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    fn write(&mut self, edits: &[Edit]) -> Result<(), EngineError> {
        self.step()?;
        for edit in edits {
            self.files.texts.insert(edit.path.clone(), edit.text.clone());
        }
        self.step()
    }

    fn remove(&mut self, path: &str) -> Result<(), EngineError> {
        self.step()?;
        self.files.texts.remove(path);
        self.step()
    }

    fn orders(&mut self) -> Result<Vec<(String, Order)>, EngineError> {
        Ok(self.orders.iter().map(|(id, order)| (id.clone(), order.clone())).collect())
    }

    fn forget_order(&mut self, id: &str) -> Result<(), EngineError> {
        self.step()?;
        self.orders.remove(id);
        self.step()
    }

    fn tree(&mut self) -> Result<String, EngineError> {
        Ok(self.keep_tree())
    }

    fn text_at(&mut self, commit: &str, path: &str) -> Result<Option<String>, EngineError> {
        Ok(self.texts(commit).remove(path))
    }

    fn changed(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError> {
        let (before, after) = (self.texts(before), self.texts(after));
        let paths: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        Ok(paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect())
    }

    fn added_secrets(&mut self, before: &str, after: &str) -> Result<Vec<SecretFound>, EngineError> {
        let paths = self.changed(before, after)?;
        let (before, after) = (self.texts(before), self.texts(after));
        let change = |path| FileChange {
            path,
            before: before.get(path).map(String::as_bytes),
            after: after.get(path).map(String::as_bytes),
        };
        let changes: Vec<FileChange<'_>> = paths.iter().map(String::as_str).map(change).collect();
        Ok(added_secrets(&changes))
    }

    fn take_back(&mut self, operation: u64, tree: &str, _head: Option<&str>) -> Result<Option<KeptState>, EngineError> {
        let kept = KeptState { reference: format!("attempt-{operation}"), tree: self.keep_tree() };
        let kept = self.kept.entry(operation).or_insert(kept).clone();
        self.restore(tree)?;
        Ok(Some(kept))
    }

    fn put_back(
        &mut self,
        before: &str,
        after: &str,
        paths: &[String],
    ) -> Result<(String, Option<KeptState>), EngineError> {
        let (before, mut wanted) = (self.texts(before), self.texts(after));
        for path in paths {
            match before.get(path) {
                Some(text) => wanted.insert(path.clone(), text.clone()),
                None => wanted.remove(path),
            };
        }
        self.step()?;
        self.files.texts = wanted;
        self.step()?;
        Ok((self.keep_tree(), Some(KeptState { reference: format!("before-{after}"), tree: after.to_owned() })))
    }

    fn restore(&mut self, tree: &str) -> Result<(), EngineError> {
        self.step()?;
        self.files.texts = self.texts(tree);
        self.step()
    }

    fn identity(&mut self) -> Result<Identity, EngineError> {
        self.identities += 1;
        Ok(Identity { session: format!("session-{}", self.identities), mark: format!("{:016x}", self.identities) })
    }

    fn prompt(&mut self, unit: &Unit, _attempt: u32, earlier: Earlier<'_>) -> Result<Prompted, EngineError> {
        let scope = Scope { milestone: Some(unit.parts().0.to_owned()), slice: None };
        let snapshot = reading::snapshot(&self.files, Extent::Active(&scope));
        let brief = self.brief.as_ref().map(|(path, text)| (path.as_str(), text.as_str()));
        let around = Around { folder: "/simulated", brief, earlier };
        let input = brief::input(&self.files, &snapshot, unit, &self.preferences, around)?;
        let prompt = super::prompt::compose(&input).map_err(Failure::from)?;
        Ok(Prompted { text: prompt.text, permits: crate::auto::layout::Layout::Milestones.permits(prompt.permits) })
    }

    fn run(&mut self, session: &Session) -> Result<UnitEnded, EngineError> {
        self.sessions.push(session.unit.clone());
        self.prompt_characters += session.prompt.len();
        let act = self.actor.act(session, &self.files.texts);
        for edit in &act.edits {
            self.step()?;
            match &edit.text {
                Some(text) => self.files.texts.insert(edit.path.clone(), text.clone()),
                None => self.files.texts.remove(&edit.path),
            };
        }
        self.step()?;
        self.clock += act.milliseconds;
        Ok(UnitEnded {
            operation: session.operation,
            verdict: act.verdict,
            usage: Usage { input: 1_000, output: act.output_tokens, cache_read: 0, cache_write: 0 },
            money: act.money,
            model_calls: 1,
            tool_calls: u32::try_from(act.edits.len()).unwrap_or(u32::MAX),
            denied: act.denied,
            milliseconds: act.milliseconds.unsigned_abs(),
            session: Some(session.id.clone()),
            ..UnitEnded::default()
        })
    }

    fn sweep(&mut self, _start: &UnitStarted) -> Result<LastHeard, EngineError> {
        self.step()?;
        Ok(LastHeard { has_begun: true, ..LastHeard::default() })
    }

    fn pins(&mut self, _unit: &Unit, _tree: &str, _memory: &Memory) -> Result<Option<Pins>, EngineError> {
        Ok(None)
    }

    fn baseline(&mut self, _run: &Run) -> Result<Option<CheckedTree>, EngineError> {
        self.step()?;
        Ok(Some(CheckedTree::default()))
    }

    fn links_out(&mut self, _before: &str, _after: &str) -> Result<Vec<String>, EngineError> {
        // A simulated project has only text files.
        Ok(Vec::new())
    }

    fn running(&mut self, _before: &str, _after: &str) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }

    fn check(&mut self, operation: &Operation, _memory: &Memory) -> Result<Option<CheckedTree>, EngineError> {
        self.step()?;
        let tree = self.keep_tree();
        let verdict = self.actor.checks(&operation.start.unit, operation.start.attempt, &self.files.texts);
        Ok(Some(Self::evidence(tree, &verdict)))
    }

    fn head(&mut self) -> Result<String, EngineError> {
        Ok(self.head.clone())
    }

    fn commit(&mut self, commit: &Committing) -> Result<String, EngineError> {
        self.step()?;
        let made = sha256(format!("{} {} {}", commit.tree, commit.parent, commit.message).as_bytes());
        if self.head != made && self.tree_of(&commit.parent) != commit.tree {
            let made = self.add_commit(&commit.tree, &commit.parent, &commit.message);
            self.head = made;
        }
        self.step()?;
        Ok(self.head.clone())
    }

    fn has_implementation(&mut self, _milestone: &str) -> Result<Option<bool>, EngineError> {
        let (target, current) = (self.tree_of(&self.target.clone()), self.keep_tree());
        let changed = self.changed(&target, &current)?;
        Ok(Some(self.has_history || changed.iter().any(|path| !path.starts_with(".gsd/"))))
    }

    fn target(&mut self) -> Result<String, EngineError> {
        Ok(self.target.clone())
    }

    fn request_place(&mut self) -> Result<Result<RequestPlace, Stop>, EngineError> {
        let [remote, branch, base] = ["origin", "milestone/M001", "main"].map(str::to_owned);
        Ok(Ok(RequestPlace { remote, branch, base }))
    }

    fn push(
        &mut self,
        candidate: &LoggedCandidate,
        _place: &RequestPlace,
        pushed: &BTreeSet<String>,
    ) -> Result<Option<Stop>, EngineError> {
        self.step()?;
        if self.pushed.as_ref().is_some_and(|there| !pushed.contains(there)) {
            return Ok(Some(Stop::new(Cause::PushRefused, "it is not ours", "gsd-tools auto run")));
        }
        self.pushed = Some(candidate.commit.clone());
        self.step()?;
        Ok(None)
    }

    fn open_request(&mut self, memory: &Memory, place: &RequestPlace) -> Result<PullRequest, EngineError> {
        self.step()?;
        let commit = memory.candidate.as_ref().map(|candidate| candidate.commit.clone()).unwrap_or_default();
        let url = Some("https://forge.example/7".to_owned());
        Ok(PullRequest { commit, place: place.clone(), url, notes: Vec::new() })
    }

    fn make_candidate(&mut self, message: &str, _at: i64) -> Result<Merge, EngineError> {
        self.step()?;
        let (base, head) = (self.target.clone(), self.head.clone());
        let tree = self.tree_of(&head);
        let commit = self.add_commit(&tree, &base, message);
        Ok(Merge::Made { base, head, tree, commit })
    }

    fn check_candidate(
        &mut self,
        candidate: &LoggedCandidate,
        _memory: &Memory,
    ) -> Result<Option<CheckedTree>, EngineError> {
        self.step()?;
        let verdict = self.actor.candidate_checks();
        Ok(Some(Self::evidence(candidate.tree.clone(), &verdict)))
    }

    fn land(&mut self, candidate: &LoggedCandidate) -> Result<LandingOutcome, EngineError> {
        self.step()?;
        if self.target == candidate.commit {
            return Ok(LandingOutcome::Landed);
        }
        if self.target != candidate.base {
            return Ok(LandingOutcome::Moved { target: self.target.clone() });
        }
        self.target.clone_from(&candidate.commit);
        self.landed.push(candidate.commit.clone());
        self.step()?;
        Ok(LandingOutcome::Landed)
    }

    fn prove(&mut self, _memory: &Memory) -> Result<Option<ProofKept>, EngineError> {
        self.step()?;
        Ok(None)
    }

    fn release(&mut self, _landed: &str) -> Result<Option<Stop>, EngineError> {
        self.step()?;
        self.is_released = true;
        Ok(None)
    }

    fn wait(&mut self, until: Time) -> Result<(), EngineError> {
        self.step()?;
        self.clock = self.clock.max(until.wall);
        Ok(())
    }

    fn requested(&mut self) -> Result<Option<ControlRequest>, EngineError> {
        Ok(self.requests.pop())
    }

    fn can_resume(&self) -> bool {
        self.resumes
    }
}
