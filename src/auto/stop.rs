//! Why a run ends or waits: each cause with its exit code, and with a command that goes on.

use crate::text::shell::Typed;
use crate::text::terminal::one_line;
use crate::text::words::read_words;

read_words! {
    /// Why a run stopped.
    #[derive(Hash, serde::Serialize, schemars::JsonSchema)]
    pub(crate) enum Cause {
        Complete = "complete",
        /// The number of units that was asked for is done.
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
        UatFailed = "uat-failed",
        UatExhausted = "uat-exhausted",
        GapsFound = "gaps-found",
        HumanNeeded = "human-needed",
        Conflict = "merge-conflict",
        DirtyOverlap = "dirty-overlap",
        /// The target has no commit in common with the work any more.
        TargetRewritten = "target-rewritten",
        /// The worktree of the run was moved, removed or made another repository.
        WorktreeDamaged = "worktree-damaged",
        /// A git of the run failed or was killed.
        GitFailed = "git-failed",
        /// A session without a fence changed the repository itself.
        RepositoryChanged = "repository-changed",
        CandidateRefused = "candidate-refused",
        /// Nobody approved what the repository brings and a run would run.
        NotApproved = "not-approved",
        /// A worktree cannot be made ready for agents and checks.
        SetUpFailed = "set-up-failed",
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
        /// The check that no session can read failed.
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
    /// Whether the documents say so as long as it holds, so that a stop of the past says nothing about now.
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

    /// The exit code: 0 done, 1 a defect, 10 a person is needed, 11 paused, 12 stuck, 13 a ceiling.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Complete | Self::UnitsDone => 0,
            Self::Unhandled => 1,
            Self::Paused | Self::Stopped | Self::Quota => 11,
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
    /// What shows it: files, commands, numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) evidence: Vec<String>,
    /// The command that goes on.
    #[schemars(with = "String")]
    pub(crate) next: Typed,
}

impl Stop {
    /// What the text takes from documents, paths and programs is one line of it.
    pub(crate) fn new(cause: Cause, text: impl AsRef<str>, next: impl Into<Typed>) -> Self {
        Self { cause, text: one_line(text.as_ref()), evidence: Vec::new(), next: next.into() }
    }

    pub(crate) fn shown(self, evidence: impl IntoIterator<Item = String>) -> Self {
        Self { evidence: evidence.into_iter().map(|line| one_line(&line)).collect(), ..self }
    }
}
