//! Answers many calls in one process, for tests that make thousands of calls: only in debug builds.
//!
//! Each line of standard input is a call, each line of standard output its answer, both in JSON. A call has its own
//! folder and variables, but no standard input. The start and the end of a process are not included, and neither are
//! hooks.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::families::finished;
use crate::frame::answer::Printed;
use crate::world::World;

/// The first argument of a program that should answer calls.
pub(crate) const CALL: &str = "__calls";

#[derive(Deserialize)]
struct ServedCall {
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    folder: PathBuf,
}

#[derive(Serialize)]
struct Answered {
    code: u8,
    stdout: String,
    stderr: String,
}

/// Answers calls until the input ends.
pub(crate) fn run() -> ExitCode {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(asked) = serde_json::from_str::<ServedCall>(&line) else { return ExitCode::FAILURE };
        let Ok(answer) = serde_json::to_string(&answered(asked)) else { return ExitCode::FAILURE };
        if writeln!(std::io::stdout(), "{answer}").is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn answered(asked: ServedCall) -> Answered {
    let variables = asked.environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    let arguments = asked.arguments.into_iter().map(Into::into).collect();
    let (answer, manner) = finished(arguments, &World::of_call(variables, asked.folder));
    let Printed { warnings, stdout, error, code } = answer.printed(manner, false);
    Answered { code, stdout, stderr: warnings + &error }
}
