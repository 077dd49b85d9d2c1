//! The result of a call, and how it is printed.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use super::error::Manner;
use crate::failure::{DEGRADED, Failure};
use crate::text::screen::Tone;
use crate::text::terminal;

/// The result of a call: text for standard output, warnings for the caller, and an exit code or the failure.
pub(crate) struct Answer {
    pub(crate) stdout: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) outcome: Result<u8, Failure>,
    /// Standard output says what failed, or that nothing changed.
    pub(crate) is_degraded: bool,
}

impl Answer {
    pub(crate) fn text(stdout: String) -> Self {
        Self { stdout, warnings: Vec::new(), outcome: Ok(0), is_degraded: false }
    }

    pub(crate) fn failed(error: Failure) -> Self {
        Self { outcome: Err(error), ..Self::text(String::new()) }
    }

    /// The answer as it is printed; `is_shown` means that standard output is a terminal.
    pub(crate) fn printed(self, manner: Manner, is_shown: bool) -> Printed {
        let line = |warning: &String| terminal::shown(&manner.line("", "warning", Tone::Warning, warning));
        let warnings = self.warnings.iter().map(line).collect();
        // A program that reads the answer gets the unchanged bytes of a document; a terminal would interpret some of
        // them.
        let stdout = if is_shown { on_a_line(terminal::shown(&self.stdout)) } else { self.stdout };
        let (error, code) = match self.outcome {
            Ok(0) if self.is_degraded => (String::new(), DEGRADED),
            Ok(code) => (String::new(), code),
            Err(error) => (terminal::shown(&error.render(manner)), error.code()),
        };
        Printed { warnings, stdout, error, code }
    }

    /// Prints the answer. A reader that went away is not a failure of the command.
    #[must_use]
    pub(crate) fn deliver(self, manner: Manner) -> ExitCode {
        let Printed { warnings, stdout, error, mut code } = self.printed(manner, std::io::stdout().is_terminal());
        // If standard error is closed, the failure cannot be reported.
        let _ = std::io::stderr().write_all(warnings.as_bytes());
        let written = std::io::stdout().write_all(stdout.as_bytes()).and_then(|()| std::io::stdout().flush());
        let _ = std::io::stderr().write_all(error.as_bytes());
        if let Err(error) = written
            && error.kind() != ErrorKind::BrokenPipe
        {
            let _ = writeln!(std::io::stderr(), "Error: cannot write to standard output: {error}");
            code = 74;
        }
        ExitCode::from(code)
    }
}

/// An answer as text: warnings and then the error go to standard error.
pub(crate) struct Printed {
    pub(crate) warnings: String,
    pub(crate) stdout: String,
    pub(crate) error: String,
    pub(crate) code: u8,
}

/// Adds the line break that a shell prompt needs before it.
fn on_a_line(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
