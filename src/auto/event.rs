//! What the log of a project's runs holds. All that a run must remember is in it: the clock, numbers of sessions, and
//! what an agent answered come from here, so that the same log leads to the same decisions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ceilings::{Ceilings, Spend};
use super::permit::{Permit, Trespass};
use super::set_up::Named;
use super::slices::orders::Order;
use super::slices::replanned::Fixed;
use super::slices::snapshot::Problem;
use super::stop::Stop;
use super::unit::Unit;
use crate::gate::evidence::Counts;
use crate::gate::pins::Pins;
use crate::gate::secrets::SecretFound;
use crate::text::words::words;
use crate::world::System;

/// The version of the rules that made a decision. A log of an older one is gone on with, and says so; what a newer one meant
/// cannot be known.
pub(crate) const ENGINE: u32 = 2;

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) at: Time,
    #[serde(flatten)]
    pub(crate) event: Event,
}

/// A moment on both clocks, in milliseconds: that of the wall, which may jump, and that of the machine since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Time {
    pub(crate) wall: i64,
    pub(crate) machine: u64,
}

impl Time {
    /// Whether a moment has come by the clock that is first to say so.
    pub(crate) fn has_come_to(self, moment: Self) -> bool {
        self.wall >= moment.wall || self.machine >= moment.machine
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// A run began.
    Started(Run),
    /// Another process goes on with the run.
    Resumed {
        engine: u32,
        process: u32,
        runner: String,
        profile: String,
        ceilings: Ceilings,
        /// Files that a person allows to hold what looks like a key, from now on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        allowed_keys: Vec<String>,
        /// As in [`Run`]; programs before 2026-12 did not note it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fenced: Option<bool>,
        #[serde(flatten)]
        means: Means,
    },
    /// A session is about to be started. What it may use is reserved from here on.
    UnitStarted(UnitStarted),
    /// What the session of the operation left.
    UnitEnded(UnitEnded),
    /// The process that ran the session died before its end. What the session had said until then that it used is counted.
    Interrupted {
        operation: u64,
        #[serde(flatten)]
        heard: LastHeard,
    },
    /// The session of the operation ended, and is to be continued later.
    SetAside {
        operation: u64,
    },
    /// The session of the operation ended through no fault of its own, and is continued at once.
    CutShort {
        operation: u64,
    },
    /// The unit did what it was for, as far as its documents show. What it made of the slices of a roadmap is accepted with
    /// it: from here on the roadmap is compared with that.
    Accepted {
        operation: u64,
        /// What became of them, in one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        roadmap: Option<String>,
    },
    /// It did not. What its session left is to be taken back before anything else is read, unless it asked a question.
    Refused {
        operation: u64,
        why: Refusal,
        text: String,
        vector: Vector,
        /// Older programs left the work of a task where it was.
        #[serde(default)]
        takes_back: bool,
    },
    /// The worktree is again as it was before the operation.
    Restored {
        operation: u64,
        tree: String,
        /// Where what the session left is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Kept>,
    },
    /// Documents that the unit may not change are again as they were before its session; the rest of its work counts.
    PutBack {
        operation: u64,
        trespasses: Vec<Trespass>,
        /// The worktree without these changes.
        tree: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Kept>,
    },
    /// These files changed while no session ran: a person did that, so it counts.
    Edited {
        tree: String,
        paths: Vec<String>,
    },
    /// The checks that the project declares ran on what the run began with. What is red there is not the fault of the run.
    Baseline {
        evidence: Evidence,
    },
    /// The checks of a unit ran.
    Checked {
        operation: u64,
        evidence: Evidence,
    },
    /// The evidence is on record in the documents, and the task is ticked if it passed.
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
    /// It was made, or there was nothing to commit.
    Committed {
        #[serde(skip_serializing_if = "Option::is_none")]
        operation: Option<u64>,
        commit: String,
    },
    /// The commit that is to land, on a target that was at `base`.
    Candidate {
        milestone: String,
        base: String,
        head: String,
        tree: String,
        commit: String,
    },
    CandidateChecked {
        commit: String,
        evidence: Evidence,
    },
    /// The held-out check ran, at the end of a slice or phase or on a candidate.
    HeldOut(HeldOutRun),
    /// The target moved before the candidate landed: another one is needed.
    Outdated {
        commit: String,
        target: String,
    },
    Landed {
        milestone: String,
        commit: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof: Option<ProofKept>,
    },
    /// The worktree is gone, and all that was in it is reachable.
    Released {
        milestone: String,
    },
    /// Nothing is started until then.
    Held {
        until: i64,
        why: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        operation: Option<u64>,
    },
    /// The time of waiting is over, or somebody ended it.
    HoldEnded,
    /// A person ordered something while a run went on or stood still, and it is in the documents; or it could not be
    /// followed.
    Ordered {
        id: String,
        order: Order,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
    },
    Stopped(Stop),
}

/// What holds for a run from its beginning to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    #[serde(rename = "run")]
    pub(crate) id: String,
    pub(crate) engine: u32,
    pub(crate) process: u32,
    pub(crate) milestone: String,
    /// The branch that it is for.
    pub(crate) target: String,
    /// Where the target was.
    pub(crate) base: String,
    /// The branch that the work is on, and its worktree.
    pub(crate) branch: String,
    pub(crate) worktree: String,
    pub(crate) runner: String,
    pub(crate) profile: String,
    /// Whether the process that runs sessions keeps them from writing elsewhere.
    pub(crate) fenced: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) brief: Option<String>,
    /// How many sessions it should take.
    pub(crate) forecast: u32,
    pub(crate) ceilings: Ceilings,
    /// Files that a person allows to hold what looks like a key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) allowed_keys: Vec<String>,
    #[serde(flatten)]
    pub(crate) means: Means,
}

/// What else a call said of how the run is to go on, which holds until another call says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Means {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The program of the client, where it is not looked for by its names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// Whether the milestone may land without a change outside the planning folder.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) planning_only: bool,
    /// Whether the project is worked on although another program keeps its state of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) taken_over: bool,
    /// Whether the client reads no settings of the project.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) without_settings: bool,
    /// What makes worktrees ready, as a person approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) set_up: Option<Named>,
    /// What the client said of its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct UnitStarted {
    pub(crate) operation: u64,
    pub(crate) unit: Unit,
    /// Counted from 1; a session that a crash ended does not count.
    pub(crate) attempt: u32,
    /// The identifier the client is to give its session.
    pub(crate) session: String,
    /// Whether that session is continued.
    pub(crate) resumed: bool,
    /// What all that it starts is found by.
    pub(crate) mark: String,
    /// The worktree before it.
    pub(crate) tree: String,
    /// The commit that it began with, where the agent may commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<String>,
    pub(crate) reserved: Spend,
    /// The documents that it may write; `None` of older programs, which allowed all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) may_write: Option<Vec<Permit>>,
    /// What was planned or begun before it.
    #[serde(flatten)]
    pub(crate) fixed: Fixed,
    /// What its checks rest on; of the first attempt only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pins: Option<Pins>,
    /// The digest of the prompt, and its size in bytes.
    pub(crate) prompt: String,
    pub(crate) prompt_bytes: usize,
}

/// What a session had said when the process died that ran it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LastHeard {
    /// Whether the client had said anything: one that had not has no session that could go on.
    pub(crate) has_begun: bool,
    pub(crate) usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) money: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct UnitEnded {
    pub(crate) operation: u64,
    pub(crate) verdict: Verdict,
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
    /// Processes of it that could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) survivors: Vec<u32>,
    /// The worktree after it.
    pub(crate) tree: String,
    /// The files that differ from before.
    pub(crate) changed: Vec<String>,
    /// The model, as the client names it, or as it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Without what was read from or written to a cache.
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
}

/// How a session ended, by its own stream and never by its exit code alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// The client says that it is done. That is not yet success.
    Ran,
    /// It ended without saying how. `signal` is what ended it, where that is known.
    NoSignal {
        exit: Option<i32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// It could not talk to its model any more.
    Dead {
        cause: Death,
        #[serde(skip_serializing_if = "Option::is_none")]
        resets_at: Option<i64>,
        text: String,
    },
    /// We ended it.
    Halted { why: Halt, text: String },
}

impl Default for Verdict {
    fn default() -> Self {
        Self::NoSignal { exit: None, signal: None, text: String::new() }
    }
}

words! {
    /// Why a session died although nobody stopped it.
    #[derive(Serialize)]
    pub(crate) enum Death {
        /// The key or the login is refused.
        Auth = "auth",
        /// The account has no quota left, or may not ask so often.
        Quota = "quota",
        /// The server cannot answer now.
        Overload = "overload",
        /// The server cannot be reached, or stopped in the middle of an answer.
        Network = "network",
        /// The conversation is longer than the model takes.
        Context = "context",
        /// A limit of the client's own: turns, time, money.
        Limit = "limit",
        /// Anything else that the client says of its model or itself.
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
    /// What the run may spend is used up.
    Budget,
    /// The machine, or the process that ran it, stood still until its time was over.
    Slept,
    Idle,
    /// It only asked its model again and again.
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
    /// Files were changed that it may not change.
    Outside,
    /// What its plan wants is in files that git ignores.
    Hidden,
    /// Nothing was changed, and nothing proves that nothing had to be.
    NoChange,
    Checks,
    /// Checks were weakened.
    Tampered,
    /// A key would be committed.
    Secret,
    /// The check that no session can read failed.
    HeldOut,
    Denied,
    /// A person has to answer before it can be done.
    Question,
}

/// Where a state of the worktree is kept that a run does not go on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// A name that git knows, such as `refs/gsd/checkpoint/M001-1790000000000/attempt-7`.
    pub(crate) reference: String,
    pub(crate) tree: String,
}

/// What shows whether an attempt came further than the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Vector {
    pub(crate) tree: String,
    pub(crate) failing: Vec<String>,
    pub(crate) missing: Vec<String>,
}

/// Checks that were run on a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) tree: String,
    /// Where the commands come from.
    pub(crate) source: String,
    pub(crate) passed: bool,
    pub(crate) checks: Vec<CheckRun>,
    /// Why there was nothing to check, where that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) no_checks_reason: Option<String>,
    /// What the next attempt is told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) failure: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<Problem>,
    /// Lines that would be committed, and that hold what looks like a key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<SecretFound>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) notes: BTreeMap<String, String>,
    /// What the checks ran with; of a candidate only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) environment: Option<Environment>,
    /// Files that run by themselves and that would land changed, a line each; of a candidate only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) running: Vec<String>,
}

/// How the held-out check ended. Neither its command nor what it printed is kept: sessions can read the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldOutRun {
    /// Such as `slice S01`, `phase 2` or `candidate`.
    pub(crate) place: String,
    /// The unit at whose end it ran, if one is not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<u64>,
    #[serde(flatten)]
    pub(crate) result: HeldOutResult,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldOutResult {
    /// What it ran on.
    pub(crate) tree: String,
    pub(crate) passed: bool,
    pub(crate) exit_code: i32,
    pub(crate) milliseconds: u64,
    /// Of what it printed.
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
    /// The tests that failed, as far as the output names them; at most [`FAILING`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failing: Vec<String>,
}

/// How many failing tests of a check are remembered. One that is not counts as new when it fails.
pub(crate) const FAILING: usize = 1_000;

/// Tests, as the output of a check counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Tests {
    pub(crate) ran: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl From<Tests> for Counts {
    fn from(tests: Tests) -> Self {
        Self { ran: tests.ran, failed: tests.failed, skipped: tests.skipped, ..Self::default() }
    }
}

impl From<&Counts> for Tests {
    fn from(counts: &Counts) -> Self {
        Self { ran: counts.ran, failed: counts.failed, skipped: counts.skipped }
    }
}

/// What checks ran with. No value of a variable is among it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Environment {
    pub(crate) system: System,
    /// The name of the locale; `C` where none is set.
    pub(crate) locale: String,
    /// Whether the checks could write only where a fence lets them.
    pub(crate) fenced: bool,
    /// The programs that the commands of the checks name, each once, and git.
    pub(crate) tools: Vec<Tool>,
}

/// A program, and what it says is its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tool {
    pub(crate) program: String,
    pub(crate) version: String,
}

/// What is kept about a landing, for others to check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProofKept {
    /// A statement of this SHA-256, signed with the key of this fingerprint.
    Signed {
        digest: String,
        key: String,
    },
    Unsigned {
        digest: String,
        why: String,
    },
    /// None could be kept.
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
    /// The validation that a preference leaves out.
    PassValidation {
        milestone: String,
    },
    CompleteMilestone {
        milestone: String,
    },
    /// Changes of course that were tried often enough count as made.
    ResolveOverrides {
        milestone: String,
    },
    /// A phase that is planned without a discussion gets a CONTEXT.md that decides nothing.
    WriteContext {
        phase: String,
    },
    /// A phase that is verified is closed in roadmap, requirements and state.
    ClosePhase {
        phase: String,
    },
}

impl Mechanical {
    /// The unit that would do it with an agent.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::CompleteSlice { .. } => "complete-slice",
            Self::ValidateMilestone { .. } => "validate-milestone",
            Self::PassValidation { .. } => "pass-validation",
            Self::CompleteMilestone { .. } => "complete-milestone",
            Self::ResolveOverrides { .. } => "resolve-overrides",
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
    fn every_order_is_read_as_it_was_written() {
        let text = |word: &str| word.to_owned();
        let wishes = [
            Wish::Steer { change: text("use one file") },
            Wish::Answer { task: text("M001/S01/T01"), choice: text("a"), why: Some(text("simple")) },
            Wish::Verdict { id: text("M001"), passed: false, why: text("no") },
            Wish::Park { milestone: text("M001"), why: None },
            Wish::Unpark { milestone: text("M001") },
        ];
        for wish in wishes {
            let order = Order { at: text("2026-01-02T03:04:05.000Z"), wish };
            let event = Event::Ordered { id: text("1"), order, refused: Some(text("late")) };
            let entry = Entry { at: Time { wall: 1, machine: 2 }, event };
            let written = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<Entry>(&written).unwrap(), entry, "{written}");
        }
    }
}
