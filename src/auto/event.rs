//! The events in the log of a project's runs. The log holds everything that a run must remember: the clock, session
//! numbers and answers of agents come from it, so that the same log leads to the same decisions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ceilings::{Ceilings, Spend};
use super::environments::Environments;
use super::expected::Expected;
use super::permit::{Permit, Trespass};
use super::set_up::Named;
use super::slices::orders::Order;
use super::slices::replanned::Fixed;
use super::slices::snapshot::FileProblem;
use super::stop::Stop;
use super::unit::Unit;
use crate::gate::evidence::TestCounts;
use crate::gate::pins::Pins;
use crate::gate::secrets::SecretFound;
use crate::project::milestone_layout::messages::{MessageChannel, MessageTopic};
use crate::text::shell::Typed;
use crate::text::words::words;
use crate::world::System;

/// The version of the rules that made a decision. A run continues with an older log and says so; a newer log cannot be
/// interpreted.
pub(crate) const ENGINE: u32 = 5;

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) at: Time,
    #[serde(flatten)]
    pub(crate) event: Event,
}

/// A moment in milliseconds on both clocks: the wall clock, which may jump, and the machine's clock since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Time {
    pub(crate) wall: i64,
    pub(crate) machine: u64,
}

impl Time {
    /// True if either clock has reached the moment.
    pub(crate) fn has_come_to(self, moment: Self) -> bool {
        self.wall >= moment.wall || self.machine >= moment.machine
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// A run began.
    Started(Run),
    /// Another process continues the run.
    Resumed {
        engine: u32,
        process: u32,
        runner: String,
        profile: String,
        ceilings: Ceilings,
        /// Files that a person allows to contain what looks like a key, from now on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        allowed_keys: Vec<String>,
        /// As in [`Run`]; programs before 2026-12 did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fenced: Option<bool>,
        /// The candidate that a person has looked at and wants to land.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reviewed: Option<String>,
        #[serde(flatten)]
        means: Means,
    },
    /// A session is about to start. What it may use is reserved from here on.
    UnitStarted(UnitStarted),
    /// The session of the operation ended; records what it left.
    UnitEnded(UnitEnded),
    /// The process that ran the session died before the session ended. The usage that the session had reported until
    /// then is counted.
    Interrupted {
        operation: u64,
        #[serde(flatten)]
        heard: LastHeard,
    },
    /// The session of the operation ended and will be continued later.
    SetAside {
        operation: u64,
    },
    /// The session of the operation ended through no fault of the agent, and is continued at once.
    CutShort {
        operation: u64,
    },
    /// The unit did its job, judging by its documents. Its changes to the slices of a roadmap are accepted with it:
    /// from here on the roadmap is compared with that state.
    Accepted {
        operation: u64,
        /// What happened to the slices, in one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        roadmap: Option<String>,
    },
    /// The unit does not count. What its session left must be taken back before anything else is read, unless it asked
    /// a question.
    Refused {
        operation: u64,
        why: Refusal,
        text: String,
        vector: Vector,
        /// False for older programs, which left the work of a task where it was.
        #[serde(default)]
        takes_back: bool,
    },
    /// The worktree is back in its state before the operation.
    Restored {
        operation: u64,
        tree: String,
        /// Where the changes of the session are kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<KeptState>,
    },
    /// Documents that the unit may not change were restored to their state before its session; the rest of its work
    /// counts.
    PutBack {
        operation: u64,
        trespasses: Vec<Trespass>,
        /// The worktree after the restore.
        tree: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<KeptState>,
    },
    /// These files changed while no session ran: a person changed them, so the changes count.
    Edited {
        tree: String,
        paths: Vec<String>,
    },
    /// The checks that the project declares ran on the commit that the run started from. A check that fails there is
    /// not the fault of the run.
    Baseline {
        evidence: CheckedTree,
    },
    /// The checks of a unit ran.
    Checked {
        operation: u64,
        evidence: CheckedTree,
    },
    /// The evidence is recorded in the documents, and the task is ticked if it passed.
    Settled {
        operation: u64,
    },
    /// Something was done without an agent.
    Mechanical {
        step: Mechanical,
        #[serde(skip_serializing_if = "Option::is_none")]
        fallback: Option<String>,
    },
    /// A commit is about to be made; `operation` is the unit it closes.
    Committing {
        #[serde(skip_serializing_if = "Option::is_none")]
        operation: Option<u64>,
        parent: String,
        tree: String,
        message: String,
    },
    /// The commit was made, or there was nothing to commit.
    Committed {
        #[serde(skip_serializing_if = "Option::is_none")]
        operation: Option<u64>,
        commit: String,
    },
    /// The commit that is to land, merged with a target at `base`.
    Candidate {
        milestone: String,
        base: String,
        head: String,
        tree: String,
        commit: String,
    },
    CandidateChecked {
        commit: String,
        evidence: CheckedTree,
    },
    /// The candidate that waited for a person is taken up again, with its checks: nothing has changed since.
    TakenUp {
        commit: String,
    },
    /// The held-out check ran at the end of a slice or phase, or on a candidate.
    HeldOut(HeldOutRun),
    /// The target moved before the candidate landed: a new candidate is needed.
    Outdated {
        commit: String,
        target: String,
    },
    /// The candidate is about to be pushed to this branch of a remote.
    Pushing {
        commit: String,
        #[serde(flatten)]
        place: RequestPlace,
    },
    /// The branch was pushed, and its pull request shows the candidate, or a person opens it.
    Requested(PullRequest),
    /// The pull request was looked at.
    RequestSeen {
        state: RequestState,
    },
    Landed {
        milestone: String,
        commit: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof: Option<ProofKept>,
    },
    /// The worktree was removed, and everything in it is reachable.
    Released {
        milestone: String,
    },
    /// A person ended the run for good: its worktree and branch were removed, and what they had is kept.
    Abandoned {
        milestone: String,
        /// The references that keep it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
    },
    /// Nothing is started until this time.
    Held {
        until: i64,
        why: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        operation: Option<u64>,
    },
    /// The wait is over, or a person ended it.
    HoldEnded,
    /// An order of a person, given during a run or between runs. It is in the documents, or it was refused.
    Ordered {
        id: String,
        order: Order,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
    },
    /// The command of a hook is about to run.
    HookStarted(HookStarted),
    /// The command of a hook ended, was interrupted, or was not needed.
    HookEnded(HookEnded),
    /// A message to a person is about to be sent. It is not sent again, whatever happens to this process.
    Announced(SentMessage),
    /// A channel took a message, or did not.
    Delivered(MessageDelivery),
    Stopped(Stop),
}

words! {
    /// How work that is done and checked gets to its target.
    #[derive(Default, Hash, Serialize, JsonSchema)]
    pub(crate) enum LandingMode {
        /// It lands on the branch here.
        #[default]
        Branch = "branch",
        /// It waits until a person has looked at it.
        Ask = "ask",
        /// It is pushed, and a pull request asks for it.
        Request = "pr",
    }
}

impl LandingMode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_branch(&self) -> bool {
        *self == Self::Branch
    }
}

/// The branch of a remote that a pull request is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestPlace {
    pub(crate) remote: String,
    /// The branch with the work, there.
    #[serde(rename = "pushed")]
    pub(crate) branch: String,
    /// The branch that the work is for, there.
    #[serde(rename = "into")]
    pub(crate) base: String,
}

/// A pull request, or the branch for one that a person opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PullRequest {
    /// The candidate that it shows.
    pub(crate) commit: String,
    #[serde(flatten)]
    pub(crate) place: RequestPlace,
    /// Its address; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// What a person has to know or do about it, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

words! {
    /// The state of a pull request.
    #[derive(Serialize)]
    pub(crate) enum RequestState {
        Open = "open",
        Closed = "closed",
        /// It is part of its branch at the remote.
        Merged = "merged",
        /// Nothing here can look at it.
        Unknown = "unknown",
    }
}

/// What is recorded about a message that was being sent when its process died.
pub(crate) const MESSAGE_LOST: &str =
    "the process that sent it died; whether it arrived is not known, and it is not sent again";

/// A message to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunMessage {
    pub(crate) topic: MessageTopic,
    /// What happened, on one line.
    pub(crate) text: String,
    /// The command that a person would type next.
    pub(crate) next: Typed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentMessage {
    /// Counts from one in each run.
    #[serde(rename = "message")]
    pub(crate) number: u32,
    #[serde(flatten)]
    pub(crate) message: RunMessage,
    pub(crate) channels: Vec<MessageChannel>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessageDelivery {
    #[serde(rename = "message")]
    pub(crate) number: u32,
    pub(crate) channel: MessageChannel,
    /// Why it did not arrive, or why that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HookStarted {
    /// The unit that it comes before or after.
    pub(crate) unit: Unit,
    pub(crate) hook: String,
    /// The worktree before it.
    pub(crate) tree: String,
    /// The mark by which all processes that it starts are found.
    pub(crate) mark: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HookEnded {
    pub(crate) hook: String,
    /// Whether it comes before the unit.
    #[serde(rename = "before")]
    pub(crate) is_before: bool,
    pub(crate) passed: bool,
    /// Whether its artifact was there, so that it did not run.
    #[serde(rename = "skipped", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_skipped: bool,
    /// `None` if it did not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    pub(crate) milliseconds: u64,
    /// What it changed in the worktree, which was put back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) put_back: Vec<String>,
}

/// The settings of a run that hold from its beginning to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    #[serde(rename = "run")]
    pub(crate) id: String,
    pub(crate) engine: u32,
    pub(crate) process: u32,
    pub(crate) milestone: String,
    /// The branch that the run is for.
    pub(crate) target: String,
    /// The commit that the target was at.
    pub(crate) base: String,
    /// The branch with the work, and its worktree.
    pub(crate) branch: String,
    pub(crate) worktree: String,
    pub(crate) runner: String,
    pub(crate) profile: String,
    /// Whether the process that runs sessions keeps them from writing elsewhere.
    pub(crate) fenced: bool,
    /// Where the text of the brief is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) brief: Option<String>,
    /// The brief as a person gave it; programs before 2026-12 did not record it.
    #[serde(default, rename = "brief_given", skip_serializing_if = "Option::is_none")]
    pub(crate) given: Option<GivenBrief>,
    /// The forecast number of sessions.
    pub(crate) forecast: u32,
    /// What else was forecast; programs before 2026-12 did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expected: Option<Expected>,
    pub(crate) ceilings: Ceilings,
    /// Files that a person allows to contain what looks like a key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowed_keys: Vec<String>,
    #[serde(flatten)]
    pub(crate) means: Means,
}

impl Run {
    /// True if it works on a project in phases, whose branches are in a separate folder of references.
    pub(crate) fn is_in_phases(&self) -> bool {
        self.branch == format!("milestone/{}/work", self.milestone)
    }
}

/// The brief of a run, as the call that began it named it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GivenBrief {
    /// The path of the file, relative to the root of the project if it is inside it.
    pub(crate) file: String,
    /// The digest of its text.
    pub(crate) digest: String,
}

/// Further settings of a call for the run, in effect until another call changes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Means {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The program of the client, if it is not looked up by its names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// Whether the milestone may land without a change outside the planning folder.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) planning_only: bool,
    /// Whether the run works on the project although another program keeps state for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) taken_over: bool,
    /// Whether the client reads no settings of the project.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) without_settings: bool,
    /// The set-up of worktrees, as a person approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) set_up: Option<Named>,
    /// The installed packages of the person's checkout that are brought to worktrees.
    #[serde(skip_serializing_if = "Environments::is_empty")]
    pub(crate) environments: Environments,
    /// The version that the client reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// How the work gets to its target.
    #[serde(skip_serializing_if = "LandingMode::is_branch")]
    pub(crate) landing: LandingMode,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct UnitStarted {
    pub(crate) operation: u64,
    pub(crate) unit: Unit,
    /// Counted from 1; sessions that a crash ended do not count.
    pub(crate) attempt: u32,
    /// The identifier that the client must use for its session.
    pub(crate) session: String,
    /// Whether the session with that identifier is continued.
    pub(crate) resumed: bool,
    /// The mark by which all processes that it starts are found.
    pub(crate) mark: String,
    /// The tree of the worktree before it.
    pub(crate) tree: String,
    /// The commit that it started from, if agents may commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<String>,
    pub(crate) reserved: Spend,
    /// The documents that it may write; `None` from older programs, which allowed all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) may_write: Option<Vec<Permit>>,
    /// What was planned or begun before it.
    #[serde(flatten)]
    pub(crate) fixed: Fixed,
    /// The files that its checks depend on; only in the first attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pins: Option<Pins>,
    /// The digest of the prompt, and its size in bytes.
    pub(crate) prompt: String,
    pub(crate) prompt_bytes: usize,
}

/// What a session had reported when the process that ran it died.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LastHeard {
    /// Whether the client had reported anything: otherwise no session can be continued.
    pub(crate) has_begun: bool,
    pub(crate) usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) money: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct UnitEnded {
    pub(crate) operation: u64,
    pub(crate) verdict: SessionVerdict,
    pub(crate) usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) money: Option<f64>,
    pub(crate) model_calls: u32,
    pub(crate) tool_calls: u32,
    /// Tools that the client did not let the agent use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) denied: Vec<String>,
    pub(crate) milliseconds: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// Its processes that could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) survivors: Vec<u32>,
    /// The tree of the worktree after it.
    pub(crate) tree: String,
    /// The files that it changed.
    pub(crate) changed: Vec<String>,
    /// The model as the client names it, or as it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
}

/// Tokens used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Without tokens that were read from or written to a cache.
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
}

/// How a session ended, by its own stream and never only by its exit code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SessionVerdict {
    /// The client reports that it is done. That is not success yet.
    Ran,
    /// It ended without saying how. `signal` is the signal that ended it, if known.
    NoSignal {
        exit: Option<i32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// It could no longer reach its model.
    Dead {
        cause: Death,
        #[serde(skip_serializing_if = "Option::is_none")]
        resets_at: Option<i64>,
        text: String,
    },
    /// This program ended it.
    Halted { why: Halt, text: String },
}

impl Default for SessionVerdict {
    fn default() -> Self {
        Self::NoSignal { exit: None, signal: None, text: String::new() }
    }
}

words! {
    /// Why a session died although it was not stopped.
    #[derive(Serialize)]
    pub(crate) enum Death {
        /// The key or the login is refused.
        Auth = "auth",
        /// The account has no quota left, or sends requests too often.
        Quota = "quota",
        /// The server cannot answer now.
        Overload = "overload",
        /// The server cannot be reached, or stopped in the middle of an answer.
        Network = "network",
        /// The conversation is longer than the model accepts.
        Context = "context",
        /// A limit of the client: turns, time, money.
        Limit = "limit",
        /// Any other problem that the client reports about its model or itself.
        Model = "model",
        /// The client could not be started.
        Start = "start",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Halt {
    Pause,
    Stop,
    /// Its share of time or tokens is used up.
    Ceiling,
    /// The budget of the run is used up.
    Budget,
    /// The machine, or the process that ran it, was suspended until its time was over.
    Slept,
    Idle,
    /// It only retried its model again and again.
    Retries,
    Question,
}

/// Why a unit that ended did not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Refusal {
    /// The session did not end well.
    Session,
    /// A document is missing or incomplete.
    Artifact,
    /// It changed files that it may not change.
    Outside,
    /// Work that its plan names is in files that git ignores.
    Hidden,
    /// Nothing was changed, and nothing proves that no change was needed.
    NoChange,
    Checks,
    /// Checks were weakened.
    Tampered,
    /// A key would be committed.
    Secret,
    /// The check that sessions cannot read failed.
    HeldOut,
    Denied,
    /// A person has to answer before it can be done.
    Question,
}

/// Where a state of the worktree is kept that the run does not continue from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptState {
    /// A git reference, such as `refs/gsd/checkpoint/M001-1790000000000/attempt-7`.
    pub(crate) reference: String,
    pub(crate) tree: String,
}

/// Shows whether an attempt got further than the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Vector {
    pub(crate) tree: String,
    pub(crate) failing: Vec<String>,
    pub(crate) missing: Vec<String>,
}

/// Checks that were run on a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CheckedTree {
    pub(crate) tree: String,
    /// The source of the commands.
    pub(crate) source: String,
    pub(crate) passed: bool,
    pub(crate) checks: Vec<CheckRun>,
    /// Why there was nothing to check, if that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) no_checks_reason: Option<String>,
    /// The failure as the next attempt reads it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) failure: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<FileProblem>,
    /// Lines to be committed that contain what looks like a key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<SecretFound>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) notes: BTreeMap<String, String>,
    /// The environment that the checks ran in; only for a candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) environment: Option<Environment>,
    /// Files that run without being called and that would change with the landing, one line each; only for a candidate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) running: Vec<String>,
}

/// How the held-out check ended. Neither its command nor its output is kept, since sessions can read the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldOutRun {
    /// Such as `slice S01`, `phase 2` or `candidate`.
    pub(crate) place: String,
    /// The unit at whose end it ran, if a unit was in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<u64>,
    #[serde(flatten)]
    pub(crate) result: HeldOutResult,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldOutResult {
    /// The tree that it ran on.
    pub(crate) tree: String,
    pub(crate) passed: bool,
    pub(crate) exit_code: i32,
    pub(crate) milliseconds: u64,
    /// The digest of its output.
    pub(crate) digest: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckRun {
    pub(crate) command: String,
    pub(crate) exit_code: i32,
    pub(crate) milliseconds: u64,
    pub(crate) digest: String,
    pub(crate) passed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tests: Option<Tests>,
    /// The failed tests that the output names, at most [`FAILING`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failing: Vec<String>,
}

/// How many failing tests of a check are recorded. A test outside the list counts as new when it fails.
pub(crate) const FAILING: usize = 1_000;

/// Test counts from the output of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Tests {
    pub(crate) ran: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl From<Tests> for TestCounts {
    fn from(tests: Tests) -> Self {
        Self { ran: tests.ran, failed: tests.failed, skipped: tests.skipped, ..Self::default() }
    }
}

impl From<&TestCounts> for Tests {
    fn from(counts: &TestCounts) -> Self {
        Self { ran: counts.ran, failed: counts.failed, skipped: counts.skipped }
    }
}

/// The environment that checks ran in. It contains no value of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Environment {
    pub(crate) system: System,
    /// The name of the locale; `C` if none is set.
    pub(crate) locale: String,
    /// Whether a fence limited where the checks could write.
    pub(crate) fenced: bool,
    /// The programs in the commands of the checks, each once, and git.
    pub(crate) tools: Vec<ToolVersion>,
}

/// A program, and the version that it reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToolVersion {
    pub(crate) program: String,
    pub(crate) version: String,
}

/// The record of a landing, for others to verify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProofKept {
    /// A statement with this SHA-256, signed with the key of this fingerprint.
    Signed {
        digest: String,
        key: String,
    },
    Unsigned {
        digest: String,
        why: String,
    },
    /// No record could be kept.
    Missing {
        why: String,
    },
}

/// A step that needs no agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub(crate) enum Mechanical {
    CompleteSlice {
        milestone: String,
        slice: String,
    },
    ValidateMilestone {
        milestone: String,
    },
    /// Passes a validation that a preference skips.
    PassValidation {
        milestone: String,
    },
    CompleteMilestone {
        milestone: String,
    },
    /// Marks changes of course as made after enough attempts.
    ResolveOverrides {
        milestone: String,
    },
    /// Does what the class of a capture asks for.
    CarryOutCapture {
        milestone: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slice: Option<String>,
        capture: String,
    },
    /// Writes a CONTEXT.md without decisions, for a phase that is planned without a discussion.
    WriteContext {
        phase: String,
    },
    /// Closes a verified phase in roadmap, requirements and state.
    ClosePhase {
        phase: String,
    },
}

impl Mechanical {
    /// The word for the unit that would do it with an agent.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::CompleteSlice { .. } => "complete-slice",
            Self::ValidateMilestone { .. } => "validate-milestone",
            Self::PassValidation { .. } => "pass-validation",
            Self::CompleteMilestone { .. } => "complete-milestone",
            Self::ResolveOverrides { .. } => "resolve-overrides",
            Self::CarryOutCapture { .. } => "carry-out-capture",
            Self::WriteContext { .. } => "write-context",
            Self::ClosePhase { .. } => "close-phase",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::slices::orders::Wish;

    #[test]
    fn a_run_of_an_older_program_is_read_without_the_file_of_its_brief() {
        let old = r#"{"at":{"wall":1,"machine":2},"event":"started","run":"M001-1","engine":2,"process":1,"milestone":"M001","target":"main",
            "base":"b","branch":"milestone/M001","worktree":"/w","runner":"r","profile":"safe","fenced":true,"brief":"/notes/brief.md",
            "forecast":7,"ceilings":CEILINGS}"#;
        let old = old.replace("CEILINGS", &serde_json::to_string(&Ceilings::default()).unwrap());
        let entry: Entry = serde_json::from_str(&old).unwrap();
        let Event::Started(run) = entry.event else { panic!("{entry:?}") };
        assert_eq!((run.brief.as_deref(), run.given), (Some("/notes/brief.md"), None));
    }

    #[test]
    fn every_order_is_read_as_it_was_written() {
        let text = |word: &str| word.to_owned();
        let wishes = [
            Wish::Steer { change: text("use one file") },
            Wish::Capture { text: text("the page is slow") },
            Wish::Answer { task: text("M001/S01/T01"), choice: text("a"), why: Some(text("simple")) },
            Wish::Verdict { id: text("M001"), passed: false, why: text("no") },
            Wish::Park { milestone: text("M001"), why: None },
            Wish::Unpark { milestone: text("M001") },
        ];
        for wish in wishes {
            let order = Order { at: text("2026-01-02T03:04:05.000Z"), passed_on: false, wish };
            let event = Event::Ordered { id: text("1"), order, refused: Some(text("late")) };
            let entry = Entry { at: Time { wall: 1, machine: 2 }, event };
            let written = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<Entry>(&written).unwrap(), entry, "{written}");
        }
    }
}
