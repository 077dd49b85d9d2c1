//! The loop: read, derive, decide, do one thing, record it. All effects go through [`Effects`], so that the same loop
//! runs on a real project and in memory.

pub(crate) mod drive;
mod hooks;
mod messages;
mod perform;
mod request;
mod unfit;
mod written;

use std::collections::BTreeSet;
use std::time::Duration;

use super::ceilings::UnitCeiling;
use super::event::{
    CheckedTree, Entry, HeldOutResult, KeptState, LastHeard, MessageDelivery, ProofKept, PullRequest, RequestPlace,
    RequestState, Run, SentMessage, Time, UnitEnded, UnitStarted,
};
use super::memory::{Committing, LoggedCandidate, Memory, Operation};
use super::permit::Permit;
use super::slices::orders::Order;
use super::stop::{Cause, Stop};
use super::unit::Unit;
use crate::failure::{Failure, Reason};
use crate::gate::pins::Pins;
use crate::gate::secrets::SecretFound;
use crate::operations::state::Facts;
use crate::project::files::{FileError, Files};
use crate::project::milestone_layout::messages::{MessageChannel, MessageTopic};
use crate::project::view::ProjectView;
use crate::text::words::words;

/// The time limit of a channel for a message.
pub(crate) const TO_ARRIVE: Duration = Duration::from_secs(5);

/// Why the loop cannot continue: not a stop, but a defect or a failure of the disk.
#[derive(Debug)]
pub(crate) enum EngineError {
    Failed(Failure),
    /// A person has to fix something first. It ends the run, and no completed work is lost.
    Stopped(Box<Stop>),
    /// Only in memory: the process died here.
    Died,
}

impl EngineError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Failed(Failure::new(Reason::Unknown, message))
    }
}

impl From<serde_json::Error> for EngineError {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Failure> for EngineError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<FileError> for EngineError {
    fn from(error: FileError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Failed(failure) => failure,
            EngineError::Stopped(stop) => Self::new(Reason::Unknown, stop.text).hint(format!("run `{}`", stop.next)),
            EngineError::Died => Self::new(Reason::Unknown, "the process died"),
        }
    }
}

/// The new text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Relative to the root of the worktree.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A session to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Session {
    pub(crate) operation: u64,
    pub(crate) unit: Unit,
    pub(crate) attempt: u32,
    /// The identifier that the client must use for it.
    pub(crate) id: String,
    pub(crate) resumes: bool,
    pub(crate) mark: String,
    pub(crate) prompt: String,
    pub(crate) ceiling: UnitCeiling,
    /// What the run may still spend, in US dollars.
    pub(crate) budget: f64,
}

/// What an agent reads about earlier sessions for its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Earlier<'a> {
    /// Why the previous attempt did not count.
    pub(crate) failure: Option<&'a str>,
    /// The reference that keeps the work of that attempt.
    pub(crate) kept: Option<&'a str>,
    /// What an interrupted session left that cannot be continued.
    pub(crate) interrupted: Option<&'a str>,
}

/// The prompt of an agent, and what it may write below the planning folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompted {
    pub(crate) text: String,
    pub(crate) permits: Vec<Permit>,
}

/// The identifiers of a new session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) session: String,
    pub(crate) mark: String,
}

words! {
    /// What a person requested during the run.
    #[derive(serde::Serialize)]
    pub(crate) enum ControlRequest {
        Pause = "pause",
        Stop = "stop",
    }
}

/// The outcome of landing a candidate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LandingOutcome {
    Landed,
    /// The target has moved in the meantime.
    Moved {
        target: String,
    },
    Refused(Stop),
}

/// The outcome of making a candidate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Merge {
    Made {
        base: String,
        head: String,
        tree: String,
        commit: String,
    },
    /// The target already contains the work.
    Nothing {
        base: String,
    },
    Refused(Stop),
}

/// How the command of a hook ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndedHook {
    pub(crate) passed: bool,
    pub(crate) exit_code: i32,
    pub(crate) milliseconds: u64,
    /// The end of its output.
    pub(crate) tail: String,
}

/// The effects and queries of the loop.
pub(crate) trait Effects {
    fn now(&mut self) -> Time;

    /// Appends an entry to the log; it is on disk when this returns.
    fn append(&mut self, entry: &Entry) -> Result<(), EngineError>;

    /// The worktree in which the work is done.
    fn files(&self) -> &dyn Files;

    /// The worktree as a project in phases, at this moment.
    fn view(&self) -> ProjectView;

    /// The facts that operations on documents need in addition to the documents.
    fn facts(&mut self) -> Facts;

    fn write(&mut self, edits: &[Edit]) -> Result<(), EngineError>;

    /// Identifies the current content of the worktree.
    fn tree(&mut self) -> Result<String, EngineError>;

    /// Returns the text of a file in a commit.
    fn text_at(&mut self, commit: &str, path: &str) -> Result<Option<String>, EngineError>;

    /// Returns the paths that differ between two trees or commits.
    fn changed(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError>;

    /// Returns the lines with what looks like a key that the second of two trees or commits adds to the first.
    fn added_secrets(&mut self, before: &str, after: &str) -> Result<Vec<SecretFound>, EngineError>;

    /// Returns one line for each symbolic link out of the project that is new in the second of two trees or commits.
    fn links_out(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError>;

    /// Returns one line for each file that runs without being called and that differs between two trees or commits.
    fn running(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError>;

    /// Takes back the changes of an operation's session: the worktree gets the content of `tree`, and if agents commit,
    /// the commit `head`. Returns where the previous state is kept; the same if it is repeated after a crash.
    fn take_back(&mut self, operation: u64, tree: &str, head: Option<&str>) -> Result<Option<KeptState>, EngineError>;

    /// Restores these files of the worktree to their state in `before`; all others are as in `after`. Returns the new
    /// tree of the worktree, and where the previous state is kept.
    fn put_back(
        &mut self,
        before: &str,
        after: &str,
        paths: &[String],
    ) -> Result<(String, Option<KeptState>), EngineError>;

    /// Restores the worktree to `tree`.
    fn restore(&mut self, tree: &str) -> Result<(), EngineError>;

    /// Runs the command of a hook in the worktree; all processes that it starts are found by `mark`. `None` if an
    /// urgent request interrupted it.
    fn hook(&mut self, _command: &str, _mark: &str) -> Result<Option<EndedHook>, EngineError> {
        Ok(Some(EndedHook { passed: true, ..EndedHook::default() }))
    }

    /// Ends everything with this mark that a process which died has left.
    fn end_marked(&mut self, _mark: &str) -> Result<(), EngineError> {
        Ok(())
    }

    /// Prepares the worktree for a session of the unit.
    fn prepare(&mut self, _unit: &Unit) -> Result<(), EngineError> {
        Ok(())
    }

    /// Returns why work of the unit would not be committed although its plan names it.
    fn hidden_work(&mut self, _unit: &Unit) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// The channels through which a person wants messages about a topic.
    fn channels(&self, _topic: MessageTopic) -> Vec<MessageChannel> {
        Vec::new()
    }

    /// Begins to send a message, and does not wait for its end.
    fn send(&mut self, _sent: &SentMessage) {}

    /// Waits until every message arrived or failed, but no longer than this, and returns the outcomes since the
    /// last call.
    fn deliveries(&mut self, _patience: Duration) -> Vec<MessageDelivery> {
        Vec::new()
    }

    fn identity(&mut self) -> Result<Identity, EngineError>;

    /// Builds the prompt of the agent.
    fn prompt(&mut self, unit: &Unit, attempt: u32, earlier: Earlier<'_>) -> Result<Prompted, EngineError>;

    /// Runs a session to its end, whatever ends it. The caller fills in `tree` and `changed` of the answer.
    fn run(&mut self, session: &Session) -> Result<UnitEnded, EngineError>;

    /// Ends everything that a session left whose process died, and returns the usage that it had reported.
    fn sweep(&mut self, start: &UnitStarted) -> Result<LastHeard, EngineError>;

    /// Returns the files that the checks of the unit depend on, and the checks that passed before it, before its first
    /// attempt; `tree` is the worktree.
    fn pins(&mut self, unit: &Unit, tree: &str, memory: &Memory) -> Result<Option<Pins>, EngineError>;

    /// Runs the checks that the project declares on the commit that the run started from; `None` if an urgent request
    /// interrupted them.
    fn baseline(&mut self, run: &Run) -> Result<Option<CheckedTree>, EngineError>;

    /// Runs the checks of the unit on the worktree, and compares them with earlier runs in `memory`; `None` if an
    /// urgent request interrupted them.
    fn check(&mut self, operation: &Operation, memory: &Memory) -> Result<Option<CheckedTree>, EngineError>;

    /// Returns the commit that the worktree is on.
    fn head(&mut self) -> Result<String, EngineError>;

    /// Returns what was done in the repository since `start`, the commit that a unit began with, that no unit may do.
    fn strayed(&mut self, start: &str) -> Result<Option<String>, EngineError>;

    /// Makes the commit, unless it exists already, and returns its name.
    fn commit(&mut self, commit: &Committing) -> Result<String, EngineError>;

    /// Returns whether the milestone has changed anything outside the planning folder: on its branch, or in commits of
    /// the target that name it. `None` if unknown.
    fn has_implementation(&mut self, milestone: &str) -> Result<Option<bool>, EngineError>;

    /// Returns the current commit of the target.
    fn target(&mut self) -> Result<String, EngineError>;

    /// Returns the commit of the target that contains the candidate, if there is one: a person, or the place of a pull
    /// request, has merged it.
    fn merged_as(&mut self, _candidate: &LoggedCandidate) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// Returns where a pull request would be, or why there is no such place.
    fn request_place(&mut self) -> Result<Result<RequestPlace, Stop>, EngineError> {
        Ok(Err(Stop::new(Cause::PushRefused, "there is no remote", "gsd-tools auto run --land branch")))
    }

    /// Pushes a candidate to the branch of a pull request, which is only replaced if it is at one of the candidates that
    /// this run pushed. Returns why that was refused. Repeating the call after a crash is harmless.
    fn push(
        &mut self,
        _candidate: &LoggedCandidate,
        _place: &RequestPlace,
        _pushed: &BTreeSet<String>,
    ) -> Result<Option<Stop>, EngineError> {
        Ok(None)
    }

    /// Opens the pull request of a pushed candidate, or updates the one that is there.
    fn open_request(&mut self, memory: &Memory, place: &RequestPlace) -> Result<PullRequest, EngineError> {
        let commit = memory.candidate.as_ref().map(|candidate| candidate.commit.clone()).unwrap_or_default();
        Ok(PullRequest { commit, place: place.clone(), url: None, notes: Vec::new() })
    }

    /// Returns whether a pull request is open, merged or closed.
    fn state_of(&mut self, _request: &PullRequest) -> Result<RequestState, EngineError> {
        Ok(RequestState::Unknown)
    }

    /// Makes the commit that is to land on the target as it is now. `at` is its date, in milliseconds.
    fn make_candidate(&mut self, message: &str, at: i64) -> Result<Merge, EngineError>;

    /// As [`Effects::check`], on the commit that is to land.
    fn check_candidate(
        &mut self,
        candidate: &LoggedCandidate,
        memory: &Memory,
    ) -> Result<Option<CheckedTree>, EngineError>;

    /// Returns the stop for an error that is caused by changes to the worktree or repository; else the error.
    fn halted(&self, error: EngineError) -> Result<Stop, EngineError> {
        match error {
            EngineError::Stopped(stop) => Ok(*stop),
            error => Err(error),
        }
    }

    /// True if sessions and checks have this variable with a value that is not empty.
    fn has_variable(&self, _name: &str) -> bool {
        true
    }

    /// True if there is a check that sessions cannot read.
    fn has_held_out(&self) -> bool {
        false
    }

    /// Runs the check that sessions cannot read, on a commit or on the worktree; all processes that it starts are found
    /// by `mark`. `None` if an urgent request interrupted it.
    fn held_out(&mut self, _commit: Option<&str>, _mark: Option<&str>) -> Result<Option<HeldOutResult>, EngineError> {
        Ok(None)
    }

    fn land(&mut self, candidate: &LoggedCandidate) -> Result<LandingOutcome, EngineError>;

    /// Records a statement about the candidate that landed, unless it is recorded already.
    fn prove(&mut self, memory: &Memory) -> Result<Option<ProofKept>, EngineError>;

    /// Removes the worktree; refuses while anything in it is not kept elsewhere.
    fn release(&mut self, landed: &str) -> Result<Option<Stop>, EngineError>;

    /// Waits until this time on either clock, or until a person asks for an end.
    fn wait(&mut self, until: Time) -> Result<(), EngineError>;

    /// Returns an urgent request of a person, whatever the run is doing.
    fn urgent(&mut self) -> Result<Option<ControlRequest>, EngineError> {
        Ok(None)
    }

    /// Returns the size of a file in the worktree, in bytes.
    fn size(&self, path: &str) -> Option<u64> {
        self.files().read(path).ok().flatten().map(|text| text.len() as u64)
    }

    /// Removes a file of the worktree.
    fn remove(&mut self, path: &str) -> Result<(), EngineError>;

    /// Returns pending orders of a person with their identifiers, in the order in which they were given.
    fn orders(&mut self) -> Result<Vec<(String, Order)>, EngineError>;

    /// Removes an order that was handled.
    fn forget_order(&mut self, id: &str) -> Result<(), EngineError>;

    /// Returns the request of a person.
    fn requested(&mut self) -> Result<Option<ControlRequest>, EngineError>;

    /// True if a session that was killed can be continued.
    fn can_resume(&self) -> bool;
}
