//! Errors of commands, and how they are printed: a line for people, a line of JSON for programs, an exit code.

pub(in crate::commands) mod codes;
mod reasons;
pub(in crate::commands) mod refused;

use std::error::Error;

pub(crate) use codes::Reason;

use crate::auto;
use crate::disk::DiskError;
use crate::install::InstallError;
use crate::operations;
use crate::project::ProjectError;
use crate::project::boundary::BoundaryError;
use crate::project::local_state::LocalStateError;
use crate::runtime::RegistryError;
use crate::text::screen::{Screen, Tone};
use crate::text::terminal;
use crate::world::WorldError;

/// Which exit codes the caller asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExitContract {
    /// 0 or 1; a payload that carries an `error` key is a success.
    #[default]
    V1,
    /// A code per kind of failure; a payload that carries an `error` key exits 80.
    V2,
}

/// How failures and warnings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    /// One line of JSON instead of text.
    pub(crate) json: bool,
    pub(crate) contract: ExitContract,
    /// The terminal of a person who reads standard error.
    pub(crate) screen: Option<Screen>,
}

impl Manner {
    /// A line that begins with a word such as `hint:`; at a terminal in lines that fit, with the word in colour.
    pub(in crate::commands) fn line(self, indent: &str, word: &str, tone: Tone, text: &str) -> String {
        let Some(screen) = self.screen else { return format!("{indent}{word}: {text}\n") };
        let lines = screen.prose(&format!("{indent}{word}: "), &format!("{indent}  "), text);
        lines.replacen(&format!("{word}:"), &screen.paint(tone, &format!("{word}:")), 1)
    }
}

/// A failed command: what was being done, why it failed, and what to do about it.
#[derive(Debug)]
pub(crate) struct CommandError {
    reason: Reason,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
    exit_code: Option<u8>,
    /// The text of the error, where it is not made of the rest.
    shown: Option<String>,
    /// Of a verification: whether it could not be told that files changed since.
    stale_check_indeterminate: Option<bool>,
}

impl CommandError {
    pub(crate) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            causes: Vec::new(),
            hints: Vec::new(),
            exit_code: None,
            shown: None,
            stale_check_indeterminate: None,
        }
    }

    /// The call itself is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Reason::Usage, message)
    }

    /// An error of one of the rooms, with its sources as causes.
    pub(crate) fn because(reason: Reason, error: &(dyn Error + 'static)) -> Self {
        let reason = match reason {
            Reason::Unknown => reasons::reason_of(error).unwrap_or(reason),
            known => known,
        };
        let mut told = Self::new(reason, error.to_string());
        told.hints.extend(hint_of(error));
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

    /// Adds what was seen.
    pub(in crate::commands) fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// With other words for the hints that `better` knows better.
    pub(in crate::commands) fn rehinted(mut self, better: impl Fn(&str) -> Option<String>) -> Self {
        for hint in &mut self.hints {
            if let Some(better) = better(hint) {
                *hint = better;
            }
        }
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

    /// Sets the text for people; programs that ask for JSON get the message and the hints.
    pub(crate) fn shown_as(mut self, text: impl Into<String>) -> Self {
        self.shown = Some(text.into());
        self
    }

    /// Tells programs whether it could not be told that files changed since a verification.
    pub(in crate::commands) fn with_stale_check(mut self, indeterminate: bool) -> Self {
        self.stale_check_indeterminate = Some(indeterminate);
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
        if manner.json { self.envelope() } else { self.text(manner) }
    }

    fn text(&self, manner: Manner) -> String {
        if let Some(text) = &self.shown {
            return text.clone();
        }
        let mut text = manner.line("", "Error", Tone::Bad, &self.message);
        text.extend(self.causes.iter().map(|cause| manner.line("  ", "caused by", Tone::Plain, cause)));
        text.extend(self.hints.iter().map(|hint| manner.line("  ", "hint", Tone::Command, hint)));
        text
    }

    fn envelope(&self) -> String {
        let envelope = Envelope {
            ok: false,
            reason: self.reason,
            message: &self.message,
            causes: &self.causes,
            hints: &self.hints,
            verification_stale_check_indeterminate: self.stale_check_indeterminate,
        };
        let line = serde_json::to_string(&envelope).map(terminal::in_json);
        let mut line = line.unwrap_or_else(|_| self.text(Manner::default()));
        line.push('\n');
        line
    }
}

/// The hint that the room of an error has for it.
fn hint_of(error: &(dyn Error + 'static)) -> Option<String> {
    let hint = error.downcast_ref::<DiskError>().and_then(DiskError::hint);
    let hint = hint.or_else(|| error.downcast_ref::<BoundaryError>()?.hint());
    let hint = hint.or_else(|| error.downcast_ref::<ProjectError>()?.hint());
    let hint = hint.or_else(|| error.downcast_ref::<WorldError>()?.hint());
    let hint = hint.or_else(|| Some(error.downcast_ref::<RegistryError>()?.hint().to_owned()));
    let hint = hint.or_else(|| match error.downcast_ref::<LocalStateError>()? {
        LocalStateError::Malformed { .. } => Some("correct the file, or delete it".to_owned()),
        LocalStateError::Disk(error) => error.hint(),
    });
    let hint = hint.or_else(|| auto::hint_of(error));
    hint.or_else(|| operations::hints::hint_of(error))
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
    /// Of `phase complete`: whether it could not be told that files changed since the verification.
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_stale_check_indeterminate: Option<bool>,
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
    fn at_a_terminal_lines_fit() {
        let screen = Screen { width: 40, color: true, signs: true };
        let error = CommandError::usage("there is no project in `/a/long/path/of/a/folder` here").hint("make one");
        let text = error.render(Manner { screen: Some(screen), ..Manner::default() });
        assert_eq!(
            text,
            "\u{1b}[31mError:\u{1b}[0m there is no project in\n  `/a/long/path/of/a/folder` here\n  \
             \u{1b}[36mhint:\u{1b}[0m make one\n"
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
