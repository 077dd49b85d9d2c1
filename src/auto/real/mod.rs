//! A run on a real project: its worktree, its repository, the user's client, and the log.
//!
//! `fences` says what a unit may write: its worktree, or only the planning folder in it if it plans; the folders of
//! the client (`own_folders` in `runners.toml`), a temporary folder of the unit, and caches of build tools. The user
//! adds to it with `fence` in `~/.gsd/PREFERENCES.md`. The repository, its other worktrees and the log are never part
//! of it. One exception: in a project in phases, whose workflows commit, git may write objects, the folder that it
//! keeps for the worktree, and the folder of references that only holds the branch of the run. Checks get the same
//! without the folders of the client.

mod checkout;
mod checks;
mod control;
mod environments;
mod evidence;
mod fences;
mod halts;
mod held_out;
mod hidden;
pub(crate) mod leftovers;
mod liveness;
mod messages;
mod needed;
pub(crate) mod orders;
mod plans;
mod proof;
mod ready;
mod request;
mod sessions;
mod unfenced;
mod unit_hooks;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;

use crate::disk::log::Log;
use crate::disk::{AbsolutePath, DiskError, Scratch};
use crate::failure::{Explain, Failure, Reason};
use crate::operations::state::Facts;
use crate::project::files::Files;
use crate::project::head::Head;
use crate::project::milestone_layout::messages::{MessageChannel, MessageSettings, MessageTopic};
use crate::project::self_running::SelfRunning;
use crate::project::view::ProjectView;
use crate::project::{self, Project};
use crate::world::World;
use crate::world::fence::Openings;
use crate::world::signals::Requests;
use crate::world::tree::Mark;

use super::caches::Caches;
use super::decided;
use super::engine::{
    ControlRequest, Earlier, Edit, Effects, EndedHook, EngineError, Identity, LandingOutcome, Merge, Prompted, Session,
};
use super::environments::Environments;
use super::event::{
    CheckedTree, Entry, HeldOutResult, KeptState, LastHeard, MessageDelivery, ProofKept, PullRequest, RequestPlace,
    RequestState, Run, SentMessage, Time, UnitEnded, UnitStarted,
};
use super::held_out::HeldOut;
use super::landing;
use super::landing::candidate::Merged;
use super::landing::checkpoint::Checkpoint;
use super::landing::commit::CommitMessage;
use super::landing::id::{Commit, Tree};
use super::landing::land::LandingRefusal;
use super::landing::proof::Proof;
use super::landing::release::Release;
use super::landing::repository::Repository;
use super::landing::worktree::Worktree;
use super::layout::Layout;
use super::memory::{Committing, LoggedCandidate, Memory, Operation};
use super::permit::{Permit, Rule};
use super::phases;
use super::preferences::Preferences;
use super::prompt::input::PromptInput;
use super::runner::table::{Profile, Runner};
use super::set_up::SetUp;
use super::slices::brief::{self, Around};
use super::slices::derive::Scope;
use super::slices::orders::Order;
use super::slices::reading::{self, Extent};
use super::stop::{Cause, Stop};
use super::unit::Unit;
use crate::gate::pins::Pins;
use crate::gate::secrets::SecretFound;

use crate::text::shell::typed;
pub(crate) use control::Control;
use control::RequestSources;
use messages::Mail;
pub(crate) use plans::checks_of_plan;

/// The variable with the unit of a session, for the programs that the session runs.
pub(crate) const UNIT_VARIABLE: &str = "GSD_UNIT_ID";

/// The folders in which a run keeps what is neither a document nor in the log.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The root of the worktree that the work is done in.
    pub(crate) worktree: AbsolutePath,
    /// The checkout of candidates.
    pub(crate) scratch: AbsolutePath,
    /// The checkout in which the checks of units run.
    pub(crate) checkout: AbsolutePath,
    /// The folder of this run among the notes on this computer.
    pub(crate) notes: AbsolutePath,
}

/// How sessions are run.
#[derive(Clone, Debug)]
pub(crate) struct Driver {
    pub(crate) runner: Runner,
    /// The program of the client, if it is not looked up by its names.
    pub(crate) program: Option<String>,
    pub(crate) profile: Profile,
    pub(crate) model: Option<String>,
    /// The calls of this program that run without asking in the profiles that do not allow everything: the list that an
    /// install gives hosts.
    pub(crate) calls: Vec<String>,
    /// Variables by which hosts recognize that they run inside themselves.
    pub(crate) without: Vec<String>,
    /// Whether sessions and checks are kept from writing elsewhere.
    pub(crate) is_fenced: bool,
    /// Whether the client must not read settings of the project.
    pub(crate) leaves_settings_out: bool,
}

pub(crate) use sessions::stream_of;

/// Receives the lines about the progress of a run.
pub(crate) type ProgressSink<'a> = &'a mut dyn FnMut(&str);

/// Reads the current state of a project.
pub(crate) type ViewOf = Box<dyn Fn() -> ProjectView>;

/// The effects of a run on a real project.
pub(crate) struct Real<'a> {
    parts: Parts<'a>,
    files: Box<dyn Files>,
    /// The files of the person's checkout that are copied into worktrees, once they are known.
    copied: OnceCell<BTreeSet<String>>,
    /// The caches of build tools, once they are needed.
    caches: OnceCell<Caches>,
    /// Whether it was reported that the client does not call the hooks of gsd-tools.
    is_unheard: bool,
    /// How many folders for temporary files were made.
    temporaries: Cell<u32>,
    /// What could not be brought to worktrees, to be reported.
    unsaid: RefCell<Vec<String>>,
    /// The messages to a person that are being sent.
    mail: Mail,
}

impl<'a> std::ops::Deref for Real<'a> {
    type Target = Parts<'a>;

    fn deref(&self) -> &Parts<'a> {
        &self.parts
    }
}

impl std::fmt::Debug for Real<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.parts.fmt(formatter)
    }
}

/// The parts of a run.
pub(crate) struct Parts<'a> {
    pub(crate) world: &'a World,
    pub(crate) log: Log<'a>,
    pub(crate) repository: Repository,
    pub(crate) worktree: Worktree,
    pub(crate) places: Places,
    pub(crate) driver: Driver,
    pub(crate) preferences: Preferences,
    pub(crate) set_up: SetUp,
    /// The installed packages that are brought to worktrees.
    pub(crate) environments: Environments,
    /// The files that run without being called.
    pub(crate) running: SelfRunning,
    /// The checks that a person approved, if checks run without a fence. Others do not run.
    pub(crate) approved: Option<BTreeSet<String>>,
    pub(crate) layout: Layout,
    /// The check that sessions cannot read.
    pub(crate) held_out: Option<HeldOut>,
    /// What the user opens in the fences of the run.
    pub(crate) openings: Openings,
    /// Reads the worktree as a project in phases.
    pub(crate) view: ViewOf,
    /// The name of the run, as used in references.
    pub(crate) run: String,
    /// The path and the text of the brief.
    pub(crate) brief: Option<(String, String)>,
    /// The signals that ask this process to end.
    pub(crate) signals: Option<Requests>,
    pub(crate) told: ProgressSink<'a>,
    /// Which messages a person wants, and how.
    pub(crate) messages: MessageSettings,
    /// Sends a control sequence to the terminal of the process.
    pub(crate) signal: fn(&str),
    /// Makes the report of the run, in Markdown.
    pub(crate) report: &'a dyn Fn() -> Result<String, Failure>,
}

impl std::fmt::Debug for Parts<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Parts").field("places", &self.places).finish_non_exhaustive()
    }
}

impl From<landing::error::LandingError> for EngineError {
    fn from(error: landing::error::LandingError) -> Self {
        let message = with_causes(&error);
        match halts::stop_of(&error, message.clone()) {
            Some(stop) => Self::Stopped(Box::new(stop)),
            None => failed(&error),
        }
    }
}

impl From<DiskError> for EngineError {
    fn from(error: DiskError) -> Self {
        failed(&error)
    }
}

/// Returns the failure of an effect, with its causes in the message.
pub(super) fn failed(error: &impl Explain) -> EngineError {
    let mut failure = Failure::new(Reason::Unknown, with_causes(error));
    failure.hints.extend(error.hint());
    failure.into()
}

/// Returns an error with its causes, such as the message of the system.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    joined(error.to_string(), causes.map(ToString::to_string))
}

pub(super) fn joined(text: String, causes: impl IntoIterator<Item = String>) -> String {
    causes.into_iter().fold(text, |text, cause| {
        // An error that only passes on another one has the same text.
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

impl<'a> Real<'a> {
    pub(crate) fn new(parts: Parts<'a>) -> Self {
        let layout = project::layout::Layout::new(parts.places.worktree.as_path(), None, None);
        let files = Project::new(layout, parts.world.state_folder()).files();
        Self {
            parts,
            files,
            copied: OnceCell::new(),
            caches: OnceCell::new(),
            is_unheard: false,
            temporaries: Cell::new(0),
            unsaid: RefCell::default(),
            mail: Mail::default(),
        }
    }

    /// Returns the input for the prompt of a unit of a milestone.
    fn prompt_input(&self, unit: &Unit, earlier: Earlier<'_>) -> Result<PromptInput, EngineError> {
        let scope = Scope { milestone: Some(unit.parts().0.to_owned()), slice: None };
        let snapshot = reading::snapshot(self.files.as_ref(), Extent::Active(&scope));
        let folder = self.places.worktree.to_string();
        let brief = self.brief.as_ref().map(|(path, text)| (path.as_str(), text.as_str()));
        let around = Around { folder: &folder, brief, earlier };
        Ok(brief::input(self.files.as_ref(), &snapshot, unit, &self.preferences, around)?)
    }

    /// Takes over the commits that a session made in its separate repository.
    fn reclaim(&mut self) -> Result<(), EngineError> {
        /// The most references that are named.
        const NAMED: usize = 5;
        if self.layout.lets_agents_commit() {
            for name in self.repository.reclaim(&self.worktree)?.iter().take(NAMED) {
                let name = crate::text::untrusted::line(name, 100);
                self.tell(&format!("  not taken over from the session: `{name}`"));
            }
        }
        Ok(())
    }

    /// Returns the sources of requests to the run.
    fn asked(&self) -> RequestSources {
        RequestSources { notes: self.places.notes.clone(), signals: self.signals.clone() }
    }

    pub(super) fn tell(&mut self, text: &str) {
        (self.parts.told)(text);
    }

    fn tree_named(name: &str) -> Result<Tree, EngineError> {
        Tree::parse(name).ok_or_else(|| named(name))
    }

    fn commit_named(name: &str) -> Result<Commit, EngineError> {
        Commit::parse(name).ok_or_else(|| named(name))
    }

    fn candidate_of(candidate: &LoggedCandidate) -> Result<landing::candidate::Candidate, EngineError> {
        Ok(landing::candidate::Candidate {
            base: Self::commit_named(&candidate.base)?,
            head: Self::commit_named(&candidate.head)?,
            tree: Self::tree_named(&candidate.tree)?,
            commit: Self::commit_named(&candidate.commit)?,
        })
    }
}

fn kept_at(checkpoint: Checkpoint) -> KeptState {
    KeptState { reference: checkpoint.reference, tree: checkpoint.tree.to_string() }
}

fn named(name: &str) -> EngineError {
    EngineError::new(format!("the log has `{name}` where a name of git should be"))
}

impl Effects for Real<'_> {
    fn now(&mut self) -> Time {
        Time { wall: self.world.now().milliseconds(), machine: self.world.uptime() }
    }

    fn append(&mut self, entry: &Entry) -> Result<(), EngineError> {
        self.parts.log.append(entry)?;
        if let Some(line) = super::story::line(&entry.event) {
            self.tell(&line);
        }
        Ok(())
    }

    fn channels(&self, topic: MessageTopic) -> Vec<MessageChannel> {
        self.channels_of(topic)
    }

    fn send(&mut self, sent: &SentMessage) {
        self.begin_to_send(sent);
    }

    fn deliveries(&mut self, patience: Duration) -> Vec<MessageDelivery> {
        self.deliveries_within(patience)
    }

    fn files(&self) -> &dyn Files {
        self.files.as_ref()
    }

    fn view(&self) -> ProjectView {
        (self.view)()
    }

    fn facts(&mut self) -> Facts {
        let now = self.world.now();
        Facts {
            now: now.to_string(),
            milliseconds: now.milliseconds(),
            today: self.world.today(),
            head: Head::commit_at(&self.places.worktree, |_| None),
            process: self.world.process(),
            ..Facts::default()
        }
    }

    fn strayed(&mut self, start: &str) -> Result<Option<String>, EngineError> {
        Ok(self.repository.strayed(&self.worktree, &Self::commit_named(start)?)?)
    }

    fn write(&mut self, edits: &[Edit]) -> Result<(), EngineError> {
        for edit in edits {
            let path = self.places.worktree.resolve(&edit.path);
            // An agent may have put a link here instead of a folder.
            crate::disk::stays_within(&path, &self.places.worktree)?;
            crate::disk::replace(&path, edit.text.as_bytes())?;
        }
        Ok(())
    }

    fn size(&self, path: &str) -> Option<u64> {
        crate::disk::size(self.places.worktree.resolve(path))
    }

    fn remove(&mut self, path: &str) -> Result<(), EngineError> {
        let path = self.places.worktree.resolve(path);
        crate::disk::stays_within(&path, &self.places.worktree)?;
        crate::disk::remove_note(&path)?;
        Ok(())
    }

    fn orders(&mut self) -> Result<Vec<(String, Order)>, EngineError> {
        orders::waiting(&self.places.notes)
    }

    fn forget_order(&mut self, id: &str) -> Result<(), EngineError> {
        orders::forget(&self.places.notes, id)
    }

    fn tree(&mut self) -> Result<String, EngineError> {
        Ok(self.repository.snapshot(&self.worktree)?.tree.to_string())
    }

    fn text_at(&mut self, commit: &str, path: &str) -> Result<Option<String>, EngineError> {
        let content = self.repository.content(commit, path)?;
        Ok(content.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn changed(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError> {
        let changes = self.repository.differences(before, after)?;
        Ok(changes.into_iter().map(|change| change.path.to_string()).collect())
    }

    fn added_secrets(&mut self, before: &str, after: &str) -> Result<Vec<SecretFound>, EngineError> {
        self.secrets_between(before, after)
    }

    fn take_back(&mut self, operation: u64, tree: &str, head: Option<&str>) -> Result<Option<KeptState>, EngineError> {
        let (tree, head) = (Self::tree_named(tree)?, head.map(Self::commit_named).transpose()?);
        let (run, now) = ((self.run.as_str(), operation), self.world.now().milliseconds());
        let kept = self.repository.take_back(&self.worktree, (&tree, head.as_ref()), run, now)?;
        Ok(kept.map(kept_at))
    }

    fn put_back(
        &mut self,
        before: &str,
        after: &str,
        paths: &[String],
    ) -> Result<(String, Option<KeptState>), EngineError> {
        let (before, after) = (Self::tree_named(before)?, Self::tree_named(after)?);
        let run = (self.run.as_str(), self.world.now().milliseconds());
        let (tree, kept) = self.repository.put_back(&self.worktree, (&before, &after), paths, run)?;
        Ok((tree.to_string(), Some(kept_at(kept))))
    }

    fn restore(&mut self, tree: &str) -> Result<(), EngineError> {
        let tree = Self::tree_named(tree)?;
        self.repository.restore(&self.worktree, &tree, &self.run, self.world.now().milliseconds())?;
        Ok(())
    }

    fn hook(&mut self, command: &str, mark: &str) -> Result<Option<EndedHook>, EngineError> {
        self.run_hook(command, mark)
    }

    fn end_marked(&mut self, mark: &str) -> Result<(), EngineError> {
        leftovers::end_all(Mark::parse(mark))
    }

    fn prepare(&mut self, unit: &Unit) -> Result<(), EngineError> {
        self.prepare_worktree()?;
        self.note_ignored(unit)
    }

    fn hidden_work(&mut self, unit: &Unit) -> Result<Option<String>, EngineError> {
        Self::hidden_work(self, unit)
    }

    fn identity(&mut self) -> Result<Identity, EngineError> {
        Ok(Identity { session: self.world.uuid(), mark: Mark::new().to_string() })
    }

    fn prompt(&mut self, unit: &Unit, attempt: u32, earlier: Earlier<'_>) -> Result<Prompted, EngineError> {
        let mut input = match &self.layout {
            Layout::Milestones => self.prompt_input(unit, earlier)?,
            Layout::Phases(settings) => {
                let worktree = self.places.worktree.to_string();
                phases::brief::input(&self.view(), unit, settings, &worktree, earlier)?
            }
        };
        if attempt > 1 {
            input.notes.push(("Attempt".to_owned(), attempt.to_string()));
        }
        let prompt = super::prompt::compose(&input).map_err(Failure::from)?;
        let hook = super::unit_hooks::of_session(&self.preferences, unit).and_then(|hook| hook.artifact.as_ref());
        let artifact = hook.map(|artifact| Permit::new(super::unit_hooks::filled(artifact, unit), Rule::Whole));
        let permits = prompt.permits.into_iter().chain(artifact).collect();
        Ok(Prompted { text: prompt.text, permits: self.layout.permits(permits) })
    }

    fn run(&mut self, session: &Session) -> Result<UnitEnded, EngineError> {
        let before = if self.driver.is_fenced { None } else { Some(self.repository.shared()?) };
        if self.layout.lets_agents_commit() {
            self.repository.lend(&self.worktree)?;
        }
        let ended = self.session(session);
        self.reclaim()?;
        let ended = ended?;
        if let Some(before) = before {
            self.look_at_shared(&before)?;
        }
        Ok(ended)
    }

    fn sweep(&mut self, start: &UnitStarted) -> Result<LastHeard, EngineError> {
        leftovers::end_all(Mark::parse(&start.mark))?;
        Scratch::forget_all(&self.world.temporary_folder(), &self.run)?;
        self.reclaim()?;
        Ok(self.last_heard(start))
    }

    fn pins(&mut self, unit: &Unit, tree: &str, memory: &Memory) -> Result<Option<Pins>, EngineError> {
        self.pins_of(unit, tree, memory)
    }

    fn baseline(&mut self, run: &Run) -> Result<Option<CheckedTree>, EngineError> {
        self.checks_of_base(run)
    }

    fn links_out(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError> {
        self.links_between(before, after)
    }

    fn running(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError> {
        self.running_between(before, after)
    }

    fn check(&mut self, operation: &Operation, memory: &Memory) -> Result<Option<CheckedTree>, EngineError> {
        self.checks(operation, memory)
    }

    fn head(&mut self) -> Result<String, EngineError> {
        Ok(self.repository.snapshot(&self.worktree)?.head.to_string())
    }

    fn commit(&mut self, commit: &Committing) -> Result<String, EngineError> {
        let message = CommitMessage::new(commit.message.clone(), commit.at);
        Ok(self.repository.commit(&self.worktree, &message, false)?.commit().to_string())
    }

    fn has_implementation(&mut self, milestone: &str) -> Result<Option<bool>, EngineError> {
        let (base, snapshot) = (self.repository.tip()?, self.repository.snapshot(&self.worktree)?);
        let planning = crate::project::milestone_layout::lookup::FOLDER;
        let changes = self.repository.differences(base.as_str(), snapshot.tree.as_str())?;
        if changes.iter().any(|change| !change.path.is_within(planning)) {
            return Ok(Some(true));
        }
        Ok(Some(self.repository.has_work_of(&base, milestone, planning)?))
    }

    fn target(&mut self) -> Result<String, EngineError> {
        Ok(self.repository.tip()?.to_string())
    }

    fn merged_as(&mut self, candidate: &LoggedCandidate) -> Result<Option<String>, EngineError> {
        let merged = self.repository.merged_as(&Self::candidate_of(candidate)?)?;
        Ok(merged.map(|commit| commit.to_string()))
    }

    fn request_place(&mut self) -> Result<Result<RequestPlace, Stop>, EngineError> {
        self.place_of_request()
    }

    fn push(
        &mut self,
        candidate: &LoggedCandidate,
        place: &RequestPlace,
        pushed: &BTreeSet<String>,
    ) -> Result<Option<Stop>, EngineError> {
        self.push_candidate(candidate, place, pushed)
    }

    fn open_request(&mut self, memory: &Memory, place: &RequestPlace) -> Result<PullRequest, EngineError> {
        self.request_opened(memory, place)
    }

    fn state_of(&mut self, request: &PullRequest) -> Result<RequestState, EngineError> {
        self.state_of_request(request)
    }

    fn make_candidate(&mut self, message: &str, at: i64) -> Result<Merge, EngineError> {
        let base = self.repository.tip()?;
        let head = self.repository.snapshot(&self.worktree)?.head;
        if !self.repository.are_related(&base, &head)? {
            let (branch, worktree) = (&self.repository.target().branch, &self.places.worktree);
            let text = format!(
                "`{branch}` was rewritten: it has no commit in common with the work any more; put it back, or merge it in `{worktree}`, \
                 commit, and run again"
            );
            let next = typed!("git -C {} merge --allow-unrelated-histories {}", worktree, branch);
            return Ok(Merge::Refused(Stop::new(Cause::TargetRewritten, text, next)));
        }
        let message = CommitMessage::new(message, at);
        let made = self.repository.candidate(&base, &head, &message)?;
        Ok(match made {
            Merged::Ready(candidate) => Merge::Made {
                base: candidate.base.to_string(),
                head: candidate.head.to_string(),
                tree: candidate.tree.to_string(),
                commit: candidate.commit.to_string(),
            },
            Merged::Nothing => Merge::Nothing { base: base.to_string() },
            Merged::Conflict { paths } => {
                let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
                let branch = &self.repository.target().branch;
                let text = format!(
                    "the work and `{branch}` change the same lines of {}; merge `{branch}` in `{}`, settle the conflict, commit, and run again",
                    paths.join(", "),
                    self.places.worktree
                );
                let next = typed!("git -C {} merge {}", self.places.worktree, branch);
                Merge::Refused(Stop::new(Cause::Conflict, text, next).shown(paths))
            }
        })
    }

    fn check_candidate(
        &mut self,
        candidate: &LoggedCandidate,
        memory: &Memory,
    ) -> Result<Option<CheckedTree>, EngineError> {
        let Some(evidence) = self.checks_of_candidate(candidate, memory)? else { return Ok(None) };
        Ok(Some(match &self.layout {
            Layout::Milestones => {
                let milestone = self.run.rsplit_once('-').map_or(self.run.as_str(), |(milestone, _)| milestone);
                decided::settled(self.files.as_ref(), milestone, evidence)?
            }
            Layout::Phases(_) => evidence,
        }))
    }

    fn halted(&self, error: EngineError) -> Result<Stop, EngineError> {
        self.stop_by(error)
    }

    fn has_variable(&self, name: &str) -> bool {
        self.world.variable(name).is_some_and(|value| !value.trim().is_empty())
    }

    fn has_held_out(&self) -> bool {
        self.held_out.is_some()
    }

    fn held_out(&mut self, commit: Option<&str>, mark: Option<&str>) -> Result<Option<HeldOutResult>, EngineError> {
        self.run_held_out(commit, mark)
    }

    fn land(&mut self, candidate: &LoggedCandidate) -> Result<LandingOutcome, EngineError> {
        let candidate = Self::candidate_of(candidate)?;
        Ok(match self.repository.land(&candidate)? {
            landing::land::Landing::Landed | landing::land::Landing::AlreadyLanded => LandingOutcome::Landed,
            landing::land::Landing::Refused(LandingRefusal::TargetMoved { now, .. }) => {
                LandingOutcome::Moved { target: now.to_string() }
            }
            landing::land::Landing::Refused(refusal) => {
                let next = "gsd-tools auto run";
                let hint = refusal.hint();
                LandingOutcome::Refused(Stop::new(Cause::DirtyOverlap, refusal.to_string(), next).shown(hint))
            }
        })
    }

    fn prove(&mut self, memory: &Memory) -> Result<Option<ProofKept>, EngineError> {
        self.proof_of(memory)
    }

    fn release(&mut self, landed: &str) -> Result<Option<Stop>, EngineError> {
        let (landed, now) = (Self::commit_named(landed)?, self.world.now().milliseconds());
        let Some(branch) = self.worktree.branch.clone() else { return Ok(None) };
        let Some(head) = self.repository.branch(&branch)? else { return Ok(None) };
        let Proof::Proved(proved) = self.repository.proof(&head, &landed)? else {
            let target = &self.repository.target().branch;
            let text = format!(
                "`{branch}` is not known to be part of `{target}`: put back there what landed, `{landed}`, then run again"
            );
            return Ok(Some(Stop::new(Cause::Unproved, text, "gsd-tools auto run")));
        };
        let name = branch.replace('/', "-");
        self.repository.retire_checkpoints(&self.run, now)?;
        self.remove_checkout()?;
        match self.repository.release(&self.worktree, &proved, &name, now)? {
            Release::Removed { .. } => Ok(None),
            Release::Held { left_out, .. } => {
                let left: Vec<String> = left_out.iter().map(|file| file.path.to_string()).collect();
                let text = format!("the worktree has ignored files that are too large to be kept: {}", left.join(", "));
                let next = typed!("git worktree remove --force --force {}", self.places.worktree);
                Ok(Some(Stop::new(Cause::Unproved, text, next)))
            }
        }
    }

    fn wait(&mut self, until: Time) -> Result<(), EngineError> {
        control::wait(self.world, &self.asked(), until)
    }

    fn urgent(&mut self) -> Result<Option<ControlRequest>, EngineError> {
        self.asked().at_once()
    }

    fn requested(&mut self) -> Result<Option<ControlRequest>, EngineError> {
        self.asked().at_all()
    }

    fn can_resume(&self) -> bool {
        self.driver.runner.can_resume() && self.driver.runner.resumes_after_crash
    }
}
