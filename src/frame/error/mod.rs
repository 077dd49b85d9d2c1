//! Errors of commands, and how they are printed: a line for people, a line of JSON for programs, an exit code.

pub(crate) mod codes;

use crate::failure::{Failure, Reason};
use crate::text::screen::{Screen, Tone};
use crate::text::terminal;

/// How failures and warnings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    /// One line of JSON instead of text.
    pub(crate) json: bool,
    /// The terminal of a person who reads standard error.
    pub(crate) screen: Option<Screen>,
}

impl Manner {
    /// A line that begins with a word such as `hint:`; wrapped at a terminal, with the word in colour.
    pub(crate) fn line(self, indent: &str, word: &str, tone: Tone, text: &str) -> String {
        let Some(screen) = self.screen else { return format!("{indent}{word}: {text}\n") };
        let lines = screen.prose(&format!("{indent}{word}: "), &format!("{indent}  "), text);
        lines.replacen(&format!("{word}:"), &screen.paint(tone, &format!("{word}:")), 1)
    }
}

impl Failure {
    /// Spells the calls of this program in its hints with `program`.
    pub(crate) fn calling(mut self, program: &str) -> Self {
        for hint in &mut self.hints {
            *hint = crate::emit::with_program(hint, program);
        }
        self
    }

    /// The code that a call ends with that failed so.
    pub(crate) fn code(&self) -> u8 {
        self.exit_code.unwrap_or_else(|| self.reason.distinct_code())
    }

    /// The text for standard error, including the final newline.
    pub(crate) fn render(&self, manner: Manner) -> String {
        if manner.json { self.envelope() } else { self.text(manner) }
    }

    fn text(&self, manner: Manner) -> String {
        if let Some(text) = &self.shown {
            return text.to_string();
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

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Envelope<'a> {
    ok: bool,
    reason: Reason,
    message: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    causes: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hints: &'a [String],
    /// For `phase complete`: true if it is unknown whether files changed since the verification.
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_stale_check_indeterminate: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read `STATE.md`")]
    struct Outer(#[source] std::io::Error);

    crate::failure::unexplained!(Outer);

    #[test]
    fn causes_and_hints_follow_the_message() {
        let error = Failure::from(Outer(std::io::Error::other("disk on fire"))).hint("buy a disk");
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
        let error = Failure::usage("there is no project in `/a/long/path/of/a/folder` here").hint("make one");
        let text = error.render(Manner { screen: Some(screen), ..Manner::default() });
        assert_eq!(
            text,
            "\u{1b}[31mError:\u{1b}[0m there is no project in\n  `/a/long/path/of/a/folder` here\n  \
             \u{1b}[36mhint:\u{1b}[0m make one\n"
        );
    }

    #[test]
    fn the_reason_decides_the_code_unless_the_error_does() {
        let missing = || Failure::new(Reason::ConfigKeyNotFound, "no key");
        assert_eq!(missing().code(), 66);
        assert_eq!(missing().exits(2).code(), 2);
    }
}
