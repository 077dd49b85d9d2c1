//! Errors of commands, and how they are printed: a line for people, a line of JSON for programs, an exit code.

use std::error::Error;
use std::fmt::Write as _;

use crate::disk::DiskError;
use crate::install::InstallError;
use crate::project::ProjectError;
use crate::project::boundary::BoundaryError;

/// The closed set of reasons a command can fail for. Scripts read the snake-case name from the JSON envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the set is closed: scripts may match on each, whichever verbs there are")]
pub(crate) enum Reason {
    ConfigKeyNotFound,
    ConfigNoFile,
    ConfigParseFailed,
    ConfigInvalidKey,
    /// Our own fault, or the machine's: not something the caller wrote.
    SdkFailFast,
    SdkUnknownCommand,
    SdkMissingArg,
    PhaseNotFound,
    PhaseVerificationIncomplete,
    PhasePlanCoverageIncomplete,
    SummaryNoPlanning,
    WorkstreamModeNoneActive,
    WorkstreamModeMarkerUnresolved,
    GraphifyNoGraph,
    GraphifyInvalidQuery,
    EstimatePhasesUnreadable,
    HooksOptOut,
    CommitDocsGuardNotARepo,
    CommitDocsGuardForeignHook,
    CommitDocsGuardHooksPathSet,
    SecurityScanFailed,
    PickFieldAbsent,
    PickOutputNotJson,
    Usage,
    Unknown,
    /// Ours: somebody else wrote since the caller read.
    DocumentChanged,
}

impl Reason {
    /// The exit code under the second exit contract; the first knows only 1.
    fn distinct_code(self) -> u8 {
        match self {
            Self::ConfigInvalidKey
            | Self::SdkUnknownCommand
            | Self::SdkMissingArg
            | Self::GraphifyInvalidQuery
            | Self::Usage => 64,
            Self::ConfigKeyNotFound | Self::SummaryNoPlanning | Self::WorkstreamModeNoneActive => 66,
            Self::ConfigNoFile
            | Self::ConfigParseFailed
            | Self::PhaseNotFound
            | Self::PhaseVerificationIncomplete
            | Self::PhasePlanCoverageIncomplete
            | Self::WorkstreamModeMarkerUnresolved
            | Self::GraphifyNoGraph
            | Self::EstimatePhasesUnreadable
            | Self::CommitDocsGuardNotARepo
            | Self::CommitDocsGuardForeignHook
            | Self::CommitDocsGuardHooksPathSet
            | Self::PickFieldAbsent
            | Self::PickOutputNotJson => 69,
            Self::SdkFailFast | Self::SecurityScanFailed => 70,
            Self::DocumentChanged => 75,
            Self::HooksOptOut | Self::Unknown => 1,
        }
    }
}

/// Which exit codes the caller asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExitContract {
    /// 0 or 1; a payload that carries an `error` key is a success.
    #[default]
    V1,
    /// A code per kind of failure; a payload that carries an `error` key exits 80.
    V2,
}

/// How the caller wants failures told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    /// One line of JSON instead of text.
    pub(crate) json: bool,
    pub(crate) contract: ExitContract,
}

/// A failed command: what was being done, why it failed, and what to do about it.
#[derive(Debug)]
pub(crate) struct CommandError {
    reason: Reason,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
    exit_code: Option<u8>,
}

impl CommandError {
    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), causes: Vec::new(), hints: Vec::new(), exit_code: None }
    }

    /// The call itself is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Reason::Usage, message)
    }

    /// An error of one of the rooms, with its sources as causes.
    pub(crate) fn because(reason: Reason, error: &(dyn Error + 'static)) -> Self {
        let mut told = Self::new(reason, error.to_string());
        let hint = error.downcast_ref::<DiskError>().and_then(DiskError::hint);
        let hint = hint.or_else(|| error.downcast_ref::<BoundaryError>()?.hint());
        told.hints.extend(hint.or_else(|| error.downcast_ref::<ProjectError>()?.hint()));
        if let Some(error) = error.downcast_ref::<InstallError>() {
            told.hints.extend(error.hint());
            told.exit_code = Some(error.exit_code());
            if error.exit_code() == 2 {
                told.reason = Reason::Usage;
            }
        }
        let mut source = error.source();
        while let Some(cause) = source {
            told.causes.push(cause.to_string());
            source = cause.source();
        }
        told
    }

    /// Adds what the user can do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Spells the calls of this program in its hints with `program`.
    pub(in crate::commands) fn calling(mut self, program: &str) -> Self {
        for hint in &mut self.hints {
            *hint = crate::emit::with_program(hint, program);
        }
        self
    }

    /// Sets the exit code whatever the contract: for our own verbs, whose codes follow `sysexits`.
    pub(crate) fn exits(mut self, code: u8) -> Self {
        self.exit_code = Some(code);
        self
    }

    pub(crate) fn reason(&self) -> Reason {
        self.reason
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn exit_code(&self, contract: ExitContract) -> u8 {
        match (self.exit_code, contract) {
            (Some(code), _) => code,
            (None, ExitContract::V1) => 1,
            (None, ExitContract::V2) => self.reason.distinct_code(),
        }
    }

    /// What goes to standard error, final newline included.
    pub(crate) fn render(&self, manner: Manner) -> String {
        if manner.json { self.envelope() } else { self.text() }
    }

    fn text(&self) -> String {
        let mut text = format!("Error: {}\n", self.message);
        // Writing to a string cannot fail.
        for cause in &self.causes {
            let _ = writeln!(text, "  caused by: {cause}");
        }
        for hint in &self.hints {
            let _ = writeln!(text, "  hint: {hint}");
        }
        text
    }

    fn envelope(&self) -> String {
        let envelope = Envelope {
            ok: false,
            reason: self.reason,
            message: &self.message,
            causes: &self.causes,
            hints: &self.hints,
        };
        let mut line = serde_json::to_string(&envelope).unwrap_or_else(|_| self.text());
        line.push('\n');
        line
    }
}

/// Any error of a room becomes a failed command; where a reason matters, use [`CommandError::because`].
impl<E: Error + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self::because(Reason::Unknown, &error)
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Envelope<'a> {
    ok: bool,
    reason: Reason,
    message: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    causes: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hints: &'a [String],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read `STATE.md`")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn causes_and_hints_follow_the_message() {
        let error = CommandError::from(Outer(std::io::Error::other("disk on fire"))).hint("buy a disk");
        assert_eq!(
            error.render(Manner::default()),
            "Error: cannot read `STATE.md`\n  caused by: disk on fire\n  hint: buy a disk\n"
        );
        assert_eq!(
            error.render(Manner { json: true, ..Manner::default() }),
            "{\"ok\":false,\"reason\":\"unknown\",\"message\":\"cannot read `STATE.md`\",\
             \"causes\":[\"disk on fire\"],\"hints\":[\"buy a disk\"]}\n"
        );
    }

    #[test]
    fn the_contract_decides_the_code_unless_the_error_does() {
        let missing = || CommandError::new(Reason::ConfigKeyNotFound, "no key");
        assert_eq!(missing().exit_code(ExitContract::V1), 1);
        assert_eq!(missing().exit_code(ExitContract::V2), 66);
        assert_eq!(missing().exits(2).exit_code(ExitContract::V1), 2);
    }
}
