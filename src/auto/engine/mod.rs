//! The loop: read, derive, decide, do one thing, note it. What it does goes through [`Effects`], so that the same loop runs
//! on a real project and in memory.

pub(crate) mod drive;
mod perform;
mod unfit;
mod written;

use super::ceilings::UnitCeiling;
use super::event::{Entry, Evidence, HeldOutResult, Kept, LastHeard, ProofKept, Run, Time, UnitEnded, UnitStarted};
use super::memory::{Candidate, Committing, Memory, Operation};
use super::permit::Permit;
use super::slices::orders::Order;
use super::stop::Stop;
use super::unit::Unit;
use crate::failure::{Failure, Reason};
use crate::gate::pins::Pins;
use crate::gate::secrets::SecretFound;
use crate::operations::state::Facts;
use crate::project::files::{FileError, Files};
use crate::project::view::ProjectView;
use crate::text::words::words;

/// Why the loop cannot go on: not a stop, but a defect or a disk that does not do what it should.
#[derive(Debug)]
pub(crate) enum EngineError {
    Failed(Failure),
    /// Something that a person has to settle first. It ends the run, and nothing that was done is lost.
    Stopped(Box<Stop>),
    /// In memory only: the process died here.
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

/// A file that is to have this text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// From the root of the worktree.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A session that is to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Session {
    pub(crate) operation: u64,
    pub(crate) unit: Unit,
    pub(crate) attempt: u32,
    /// The identifier that the client is to give it.
    pub(crate) id: String,
    pub(crate) resumes: bool,
    pub(crate) mark: String,
    pub(crate) prompt: String,
    pub(crate) ceiling: UnitCeiling,
    /// What the run may still spend, in US dollars.
    pub(crate) budget: f64,
}

/// What an agent is told of earlier sessions for its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Earlier<'a> {
    /// Why the attempt before did not count.
    pub(crate) failure: Option<&'a str>,
    /// The reference that keeps what it left.
    pub(crate) kept: Option<&'a str>,
    /// What a session left that was interrupted and cannot go on.
    pub(crate) interrupted: Option<&'a str>,
}

/// What an agent is given, and what it may write for it below the planning folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompted {
    pub(crate) text: String,
    pub(crate) permits: Vec<Permit>,
}

/// What a new session is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) session: String,
    pub(crate) mark: String,
}

words! {
    /// What a person asked for while the run went on.
    #[derive(serde::Serialize)]
    pub(crate) enum Request {
        Pause = "pause",
        Stop = "stop",
    }
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Landing {
    Landed,
    /// The target is elsewhere by now.
    Moved {
        target: String,
    },
    Refused(Stop),
}

/// Whether a candidate could be made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Merge {
    Made {
        base: String,
        head: String,
        tree: String,
        commit: String,
    },
    /// The target has all of the work.
    Nothing {
        base: String,
    },
    Refused(Stop),
}

/// All that the loop does and asks.
pub(crate) trait Effects {
    fn now(&mut self) -> Time;

    /// Puts an entry into the log; it is there when this returns.
    fn append(&mut self, entry: &Entry) -> Result<(), EngineError>;

    /// The worktree that the work is done in.
    fn files(&self) -> &dyn Files;

    /// The same as a project in phases, at this moment.
    fn view(&self) -> ProjectView;

    /// What an operation on the documents needs to know beside them.
    fn facts(&mut self) -> Facts;

    fn write(&mut self, edits: &[Edit]) -> Result<(), EngineError>;

    /// What identifies all that is in the worktree.
    fn tree(&mut self) -> Result<String, EngineError>;

    /// The text of a file as it was in a commit.
    fn text_at(&mut self, commit: &str, path: &str) -> Result<Option<String>, EngineError>;

    /// The paths that differ between two trees or commits.
    fn changed(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError>;

    /// The lines that the second of two trees or commits adds to the first, and that hold what looks like a key.
    fn added_secrets(&mut self, before: &str, after: &str) -> Result<Vec<SecretFound>, EngineError>;

    /// One line for each symbolic link that leads out of the project, and that is in the second of two trees or commits and not in
    /// the first.
    fn links_out(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError>;

    /// One line for each file that runs by itself, and that differs between two trees or commits.
    fn running(&mut self, before: &str, after: &str) -> Result<Vec<String>, EngineError>;

    /// Takes back what the session of an operation left: the worktree is what `tree` was, on the commit `head` where agents
    /// commit. Gives where what was there is kept; the same when it is repeated after a crash.
    fn take_back(&mut self, operation: u64, tree: &str, head: Option<&str>) -> Result<Option<Kept>, EngineError>;

    /// Makes these files of the worktree what they were in `before`; all others are as in `after`. Gives the tree of the
    /// worktree then, and where what was there is kept.
    fn put_back(&mut self, before: &str, after: &str, paths: &[String]) -> Result<(String, Option<Kept>), EngineError>;

    /// Makes the worktree what `tree` was.
    fn restore(&mut self, tree: &str) -> Result<(), EngineError>;

    /// Makes the worktree ready for a session of the unit.
    fn prepare(&mut self, _unit: &Unit) -> Result<(), EngineError> {
        Ok(())
    }

    /// Why work of the unit would not be committed although its plan wants it.
    fn hidden_work(&mut self, _unit: &Unit) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    fn identity(&mut self) -> Result<Identity, EngineError>;

    /// The text that the agent is given.
    fn prompt(&mut self, unit: &Unit, attempt: u32, earlier: Earlier<'_>) -> Result<Prompted, EngineError>;

    /// Runs a session to its end, however that comes. `tree` and `changed` of the answer are filled in by the caller.
    fn run(&mut self, session: &Session) -> Result<UnitEnded, EngineError>;

    /// Ends all that the session left whose process died, and gives what the session had said that it used.
    fn sweep(&mut self, start: &UnitStarted) -> Result<LastHeard, EngineError>;

    /// What the checks of the unit rest on, and those that passed before it, before its first attempt; `tree` is the worktree.
    fn pins(&mut self, unit: &Unit, tree: &str, memory: &Memory) -> Result<Option<Pins>, EngineError>;

    /// Runs the checks that the project declares on what the run began with; `None` where an urgent request broke them off.
    fn baseline(&mut self, run: &Run) -> Result<Option<Evidence>, EngineError>;

    /// Runs the checks of the unit on the worktree, and compares with what `memory` has of earlier runs; `None` where an
    /// urgent request broke them off.
    fn check(&mut self, operation: &Operation, memory: &Memory) -> Result<Option<Evidence>, EngineError>;

    /// The commit that the worktree is on.
    fn head(&mut self) -> Result<String, EngineError>;

    /// What was done in the repository since `start`, the commit that a unit began with, which no unit may do.
    fn strayed(&mut self, start: &str) -> Result<Option<String>, EngineError>;

    /// Makes the commit, unless it was made already; gives its name.
    fn commit(&mut self, commit: &Committing) -> Result<String, EngineError>;

    /// Whether the milestone has changed anything outside the planning folder: on its branch, or in commits of the target
    /// that name it. `None` where nobody knows.
    fn has_implementation(&mut self, milestone: &str) -> Result<Option<bool>, EngineError>;

    /// The commit that is to land, for the target as it is now. `at` is its date, in milliseconds.
    fn make_candidate(&mut self, message: &str, at: i64) -> Result<Merge, EngineError>;

    /// As [`Effects::check`], on the commit that is to land.
    fn check_candidate(&mut self, candidate: &Candidate, memory: &Memory) -> Result<Option<Evidence>, EngineError>;

    /// The end that an error comes to, where somebody changed what the run works in; else the error.
    fn halted(&self, error: EngineError) -> Result<Stop, EngineError> {
        match error {
            EngineError::Stopped(stop) => Ok(*stop),
            error => Err(error),
        }
    }

    /// Whether sessions and checks have this variable, and it is not empty.
    fn has_variable(&self, _name: &str) -> bool {
        true
    }

    /// Whether there is a check that no session can read.
    fn has_held_out(&self) -> bool {
        false
    }

    /// Runs the check that no session can read on a commit, or on the worktree; all that it
    /// starts is found by `mark`. `None` where an urgent request broke it off.
    fn held_out(&mut self, _commit: Option<&str>, _mark: Option<&str>) -> Result<Option<HeldOutResult>, EngineError> {
        Ok(None)
    }

    fn land(&mut self, candidate: &Candidate) -> Result<Landing, EngineError>;

    /// Keeps a statement about the candidate that landed, unless it is kept already.
    fn prove(&mut self, memory: &Memory) -> Result<Option<ProofKept>, EngineError>;

    /// Removes the worktree; refused while anything of it is not kept elsewhere.
    fn release(&mut self, landed: &str) -> Result<Option<Stop>, EngineError>;

    /// Waits until the time has come by one of the clocks, or somebody asks for an end.
    fn wait(&mut self, until: Time) -> Result<(), EngineError>;

    /// What a person wants at once, whatever is going on.
    fn urgent(&mut self) -> Result<Option<Request>, EngineError> {
        Ok(None)
    }

    /// How many bytes a file of the worktree has.
    fn size(&self, path: &str) -> Option<u64> {
        self.files().read(path).ok().flatten().map(|text| text.len() as u64)
    }

    /// Removes a file of the worktree.
    fn remove(&mut self, path: &str) -> Result<(), EngineError>;

    /// Orders of a person that wait to be followed, each with its identifier, in the order they were given in.
    fn orders(&mut self) -> Result<Vec<(String, Order)>, EngineError>;

    /// The order was dealt with.
    fn forget_order(&mut self, id: &str) -> Result<(), EngineError>;

    /// What a person asked for.
    fn requested(&mut self) -> Result<Option<Request>, EngineError>;

    /// Whether a session that was killed can be continued.
    fn can_resume(&self) -> bool;
}
