//! One way to fail: a message, the causes, and what to do about it.
//!
//! A module whose callers inspect its errors has a type for them and gives hints with [`Explain`]; everything else
//! creates a [`Failure`] directly.

use std::error::Error;
use std::fmt;

/// Defines the reasons and the exit code of each under the second contract, so that no table can miss one.
macro_rules! reasons {
    ($($(#[$about:meta])* $name:ident = $code:literal,)+) => {
        /// The closed set of reasons for which a command can fail. Scripts read the snake-case name from the JSON
        /// envelope.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum Reason {
            $($(#[$about])* $name,)+
        }

        impl Reason {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the exit code under the second exit contract; the first contract always uses 1.
            pub(crate) fn distinct_code(self) -> u8 {
                match self {
                    $(Self::$name => $code,)+
                }
            }
        }
    };
}

reasons! {
    HooksOptOut = 1,
    Unknown = 1,
    ConfigInvalidKey = 64,
    SdkUnknownCommand = 64,
    GraphifyInvalidQuery = 64,
    Usage = 64,
    ConfigKeyNotFound = 66,
    SummaryNoPlanning = 66,
    WorkstreamModeNoneActive = 66,
    ConfigNoFile = 69,
    ConfigParseFailed = 69,
    PhaseNotFound = 69,
    PhaseVerificationIncomplete = 69,
    PhasePlanCoverageIncomplete = 69,
    WorkstreamModeMarkerUnresolved = 69,
    GraphifyNoGraph = 69,
    EstimatePhasesUnreadable = 69,
    CommitDocsGuardNotARepo = 69,
    CommitDocsGuardForeignHook = 69,
    CommitDocsGuardHooksPathSet = 69,
    PickFieldAbsent = 69,
    PickOutputNotJson = 69,
    /// Only in gsd-tools: the phases of the milestone cannot be read.
    ScopeUnknown = 69,
    /// A defect of gsd-tools or a problem of the machine: not caused by the caller's input.
    SdkFailFast = 70,
    SecurityScanFailed = 70,
    /// Only in gsd-tools: a file or folder cannot be created, or may not be replaced.
    CannotWrite = 73,
    /// Only in gsd-tools: another call wrote since the caller read.
    DocumentChanged = 75,
}

impl Reason {
    /// The reason that goes with an exit code of an install, if there is one.
    pub(crate) fn of_install(code: u8) -> Self {
        match code {
            2 => Self::Usage,
            73 => Self::CannotWrite,
            _ => Self::Unknown,
        }
    }
}

/// The exit code of an answer that reports a failure.
pub(crate) const DEGRADED: u8 = 80;

/// What the type of an error adds to its message.
pub(crate) trait Explain: Error + 'static {
    fn reason(&self) -> Reason {
        Reason::Unknown
    }

    /// What a person can do about it, if anything.
    fn hint(&self) -> Option<String> {
        None
    }

    /// The exit code, if it is the same under both contracts.
    fn exit_code(&self) -> Option<u8> {
        None
    }

    /// The file that cannot be read, if that is the cause.
    fn unread(&self) -> Option<&str> {
        None
    }
}

/// Errors with only a message and sources.
macro_rules! unexplained {
    ($($error:ty),+ $(,)?) => {
        $(impl $crate::failure::Explain for $error {})+
    };
}
pub(crate) use unexplained;

unexplained!(std::io::Error, serde_json::Error, toml_edit::de::Error, dialoguer::Error);

/// What a failure is to programs that read it as an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// Its message and its first hint.
    Plain,
    /// An older message, and the path, plan, phase or field that it is about.
    About { error: String, key: &'static str, name: String },
}

/// Why a call failed: what was being done, what went wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) reason: Reason,
    pub(crate) message: String,
    pub(crate) causes: Vec<String>,
    pub(crate) hints: Vec<String>,
    /// The exit code, if it is the same under both contracts.
    pub(crate) exit_code: Option<u8>,
    /// The text of the error, if it is not made from the other fields.
    pub(crate) shown: Option<Box<str>>,
    /// How programs read it as an answer, as the older contract has it.
    pub(crate) answer: Option<Box<Answered>>,
    /// The file that cannot be read, if that is the cause.
    pub(crate) unread: Option<Box<str>>,
    /// Only for a verification: whether it could not be determined that files changed since.
    pub(crate) stale_check_indeterminate: Option<bool>,
}

impl Failure {
    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            causes: Vec::new(),
            hints: Vec::new(),
            exit_code: None,
            shown: None,
            answer: None,
            unread: None,
            stale_check_indeterminate: None,
        }
    }

    /// A failure without a reason that scripts know.
    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::new(Reason::Unknown, message)
    }

    /// A failure because the call itself is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Reason::Usage, message)
    }

    /// A refusal that programs read as an answer.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::usage(message).exits(DEGRADED).answered()
    }

    /// Converts an error of a module, with its sources as causes; for `reason`, unless that is unknown.
    pub(crate) fn because(reason: Reason, error: &impl Explain) -> Self {
        let mut failure = Self::new(if reason == Reason::Unknown { error.reason() } else { reason }, error.to_string());
        failure.hints.extend(error.hint());
        failure.exit_code = error.exit_code();
        failure.unread = error.unread().map(Box::from);
        let mut source = error.source();
        while let Some(cause) = source {
            failure.causes.push(cause.to_string());
            source = cause.source();
        }
        failure
    }

    /// Adds what the user can do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds what was observed.
    pub(crate) fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Replaces the hints for which `better` returns a better text.
    pub(crate) fn rehinted(mut self, better: impl Fn(&str) -> Option<String>) -> Self {
        for hint in &mut self.hints {
            if let Some(better) = better(hint) {
                *hint = better;
            }
        }
        self
    }

    /// Sets the exit code for both contracts: for verbs of gsd-tools, whose codes follow `sysexits`.
    pub(crate) fn exits(mut self, code: u8) -> Self {
        self.exit_code = Some(code);
        self
    }

    /// Marks it as an answer that programs read.
    pub(crate) fn answered(mut self) -> Self {
        self.answer = Some(Box::new(Answered::Plain));
        self
    }

    /// Programs read it as an answer about one thing: `error` in its place, and the thing under its key.
    pub(crate) fn answered_about(mut self, error: impl Into<String>, key: &'static str, name: &str) -> Self {
        self.answer = Some(Box::new(Answered::About { error: error.into(), key, name: name.into() }));
        self.exits(DEGRADED)
    }

    /// Sets the text for people; programs that ask for JSON get the message and the hints.
    pub(crate) fn shown_as(mut self, text: impl Into<String>) -> Self {
        self.shown = Some(text.into().into_boxed_str());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// Converts any error of a module; if a reason matters, use [`Failure::because`].
impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::because(Reason::Unknown, &error)
    }
}
