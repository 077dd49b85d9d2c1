//! `run-with-timeout`: runs another program with a time limit. It inherits our streams, and we exit with its code.

use std::time::Duration;

use crate::acts::run;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::world::Ended;

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
    /// The time limit in seconds, such as `120`, `0.5` or `5s`; `0` for none
    seconds: Seconds,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<String>,
}

/// A duration as a person writes it: `120`, `0.5`, `5s`; 0 means no limit.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct Seconds(Duration);

impl Seconds {
    pub(in crate::commands) fn span(self) -> Duration {
        self.0
    }

    pub(in crate::commands) fn limit(self) -> Option<Duration> {
        Some(self.0).filter(|span| !span.is_zero())
    }
}

impl std::str::FromStr for Seconds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix('s').unwrap_or(text);
        let seconds: f64 = number.parse().map_err(|_| "it is not a number of seconds")?;
        Ok(Self(Duration::try_from_secs_f64(seconds).map_err(|_| "it is not a time span")?))
    }
}

fn run_with_timeout(context: &mut Context, arguments: &LimitArgs) -> Result<(), Failure> {
    let limit = arguments.seconds.limit();
    let code = match run::hand_over(context, &arguments.program, limit)? {
        Ended::Code(code) => u8::try_from(code & 0xff).unwrap_or(1),
        Ended::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        Ended::OutOfTime => {
            let seconds = limit.unwrap_or_default().as_secs_f64();
            context.warn(format!("`{}` did not end within {seconds} s and was stopped", arguments.program[0]));
            124
        }
    };
    context.exit_with(code);
    Ok(())
}
