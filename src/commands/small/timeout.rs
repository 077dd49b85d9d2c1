//! `run-with-timeout`: runs another program with a time limit. It inherits our streams, and we exit with its code.

use std::time::Duration;

use crate::commands::frame::{CommandError, Context, verbs};
use crate::world::{Ended, Program, WorldError};

verbs! {
    "Running programs" (own);

    /// Run a program and stop it after a time limit
    ///
    /// Exits with the code of the program, or with: 124 if the time limit was reached, 126 if the program is not
    /// executable, 127 if it was not found, 128 plus the signal number if a signal ended it.
    ///
    /// Example: `gsd-tools run-with-timeout 120 -- npm test`.
    "run-with-timeout": runs text("what the program prints") = run_with_timeout(LimitArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// The time limit in seconds, such as `120` or `0.5`
    seconds: Seconds,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<String>,
}

/// A span of time as a person writes it: `120`, `0.5`.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct Seconds(Duration);

impl Seconds {
    pub(in crate::commands) fn span(self) -> Duration {
        self.0
    }
}

impl std::str::FromStr for Seconds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let seconds: f64 = text.parse().map_err(|_| "it is not a number of seconds")?;
        let span = Duration::try_from_secs_f64(seconds).map_err(|_| "it is not a time span")?;
        if span.is_zero() { Err("it is 0") } else { Ok(Self(span)) }
    }
}

fn run_with_timeout(context: &mut Context, arguments: &LimitArgs) -> Result<(), CommandError> {
    let limit = arguments.seconds.span();
    let Some((name, arguments)) = arguments.program.split_first() else { return Ok(()) };
    let program = Program::new(name).arguments(arguments).folder(context.here().as_path()).timeout(limit);
    let code = match context.world().hand_over(&program) {
        Ok(Ended::Code(code)) => u8::try_from(code & 0xff).unwrap_or(1),
        Ok(Ended::Signal(signal)) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        Ok(Ended::OutOfTime) => {
            context.warn(format!("`{name}` did not end within {} s and was stopped", limit.as_secs_f64()));
            124
        }
        Err(error) => return Err(CommandError::from_start(&error)),
    };
    context.exit_with(code);
    Ok(())
}

impl CommandError {
    /// A program that did not start, with the codes that shells give.
    fn from_start(error: &WorldError) -> Self {
        let code = match error {
            WorldError::NoProgram { .. } => 127,
            WorldError::Start { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => 126,
            _ => 125,
        };
        Self::because(crate::commands::frame::error::Reason::Unknown, error).exits(code)
    }
}
