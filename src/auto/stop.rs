//! Why a run ends or waits: each cause with its exit code and a command to continue.

use crate::project::milestone_layout::captures::leading_id;
use crate::text::shell::Typed;
use crate::text::terminal::one_line;
use crate::text::words::read_words;

read_words! {
    /// Why a run stopped.
    #[derive(Hash, serde::Serialize, schemars::JsonSchema)]
    pub(crate) enum Cause {
        Complete = "complete",
        /// The requested number of units is done.
        UnitsDone = "units-done",
        NoMilestone = "no-milestone",
        NeedsDiscussion = "needs-discussion",
        NoContext = "no-context",
        SliceDiscussion = "slice-needs-discussion",
        Parked = "parked",
        Blocked = "blocked",
        NeedsAttention = "needs-attention",
        NeedsRemediation = "needs-remediation",
        MissingSummary = "missing-summary",
        NoImplementation = "no-implementation",
        NoOperationalEvidence = "no-operational-evidence",
        Escalation = "escalation",
        /// A capture asks for a person's decision.
        Captured = "captured",
        UatFailed = "uat-failed",
        UatExhausted = "uat-exhausted",
        GapsFound = "gaps-found",
        HumanNeeded = "human-needed",
        Conflict = "merge-conflict",
        DirtyOverlap = "dirty-overlap",
        /// The target no longer has a commit in common with the work.
        TargetRewritten = "target-rewritten",
        /// The worktree of the run was moved, removed or turned into another repository.
        WorktreeDamaged = "worktree-damaged",
        /// A git command of the run failed or was killed.
        GitFailed = "git-failed",
        /// A session without a fence changed the repository itself.
        RepositoryChanged = "repository-changed",
        CandidateRefused = "candidate-refused",
        /// What is to land waits until a person has looked at it.
        Review = "review",
        /// The pull request waits to be merged.
        PullRequest = "pull-request",
        /// The pull request was closed, and is not merged.
        RequestClosed = "request-closed",
        /// The branch of a pull request cannot be pushed.
        PushRefused = "push-refused",
        /// The things a repository brings that a run would execute are not approved.
        NotApproved = "not-approved",
        /// A check cannot run for want of something that is not in git.
        SetUpNeeded = "set-up-needed",
        /// A person did not want the run, or only wanted to see what it would do.
        NotWanted = "not-wanted",
        /// Another process runs it from here on.
        Detached = "detached",
        /// A worktree cannot be made ready for agents and checks.
        SetUpFailed = "set-up-failed",
        /// The command of a hook before or after a unit failed.
        HookFailed = "hook-failed",
        Unproved = "unproved",
        Denied = "denied",
        Auth = "auth",
        Question = "question",
        /// A variable that the work needs is not set.
        SecretsMissing = "secrets-missing",
        Stuck = "stuck",
        NoProgress = "no-progress",
        ChecksFailed = "checks-failed",
        NoChecks = "no-checks",
        /// The check that sessions cannot read failed.
        HeldOutFailed = "held-out-failed",
        /// What looks like a key would be committed.
        SecretAdded = "secret-added",
        Outside = "wrote-outside",
        Ceiling = "ceiling",
        Quota = "quota",
        Paused = "paused",
        Stopped = "stopped",
        Unhandled = "unhandled",
    }
}

impl Cause {
    /// True if the documents show the cause while it holds, so that an old stop means nothing now.
    pub(crate) fn is_in_documents(self) -> bool {
        matches!(
            self,
            Self::NoMilestone
                | Self::NeedsDiscussion
                | Self::NoContext
                | Self::SliceDiscussion
                | Self::Parked
                | Self::Blocked
                | Self::NeedsAttention
                | Self::NeedsRemediation
                | Self::MissingSummary
                | Self::NoImplementation
                | Self::NoOperationalEvidence
                | Self::Escalation
                | Self::UatFailed
                | Self::UatExhausted
                | Self::GapsFound
                | Self::HumanNeeded
        )
    }

    /// True if the work is done and waits to land.
    pub(crate) fn is_of_waiting_work(self) -> bool {
        matches!(self, Self::Review | Self::PullRequest | Self::RequestClosed | Self::PushRefused | Self::DirtyOverlap)
    }

    /// Returns the exit code: 0 done, 1 a defect, 10 a person is needed, 11 paused, 12 stuck, 13 a ceiling.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Complete | Self::UnitsDone | Self::Detached => 0,
            Self::Unhandled => 1,
            Self::Paused | Self::Stopped | Self::Quota | Self::NotWanted => 11,
            Self::Stuck
            | Self::GitFailed
            | Self::NoProgress
            | Self::ChecksFailed
            | Self::HeldOutFailed
            | Self::SecretAdded
            | Self::Outside => 12,
            Self::Ceiling => 13,
            _ => 10,
        }
    }
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Stop {
    pub(crate) cause: Cause,
    /// What happened, in a sentence.
    pub(crate) text: String,
    /// The evidence: files, commands, numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) evidence: Vec<String>,
    /// The command to continue.
    #[schemars(with = "String")]
    pub(crate) next: Typed,
}

impl Stop {
    /// A stop. Text from documents, paths and programs is put on one line.
    pub(crate) fn new(cause: Cause, text: impl AsRef<str>, next: impl Into<Typed>) -> Self {
        Self { cause, text: one_line(text.as_ref()), evidence: Vec::new(), next: next.into() }
    }

    /// The captures that the run stopped for.
    pub(crate) fn captures(&self) -> impl Iterator<Item = &str> {
        let is_for_captures = matches!(self.cause, Cause::Paused | Cause::Captured);
        self.evidence.iter().filter(move |_| is_for_captures).filter_map(|line| leading_id(line))
    }

    pub(crate) fn shown(self, evidence: impl IntoIterator<Item = String>) -> Self {
        Self { evidence: evidence.into_iter().map(|line| one_line(&line)).collect(), ..self }
    }
}
