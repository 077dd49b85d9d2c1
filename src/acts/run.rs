//! Running a program of the caller's in the place of this one.

use std::io::ErrorKind;
use std::time::Duration;

use super::Call;
use crate::failure::{Failure, Reason};
use crate::world::{Ended, Program, WorldError};

/// Runs the program that the first of `words` names, with our streams, until it ends or its time is over.
pub(crate) fn hand_over(call: &Call, words: &[String], limit: Option<Duration>) -> Result<Ended, Failure> {
    let Some((name, arguments)) = words.split_first() else { return Ok(Ended::Code(0)) };
    let program = Program::new(name).arguments(arguments).folder(call.here().as_path());
    let program = limit.into_iter().fold(program, Program::timeout);
    call.world().hand_over(&program).map_err(|error| not_started(&error))
}

/// A program that did not start, with the codes that shells give.
fn not_started(error: &WorldError) -> Failure {
    let code = match error {
        WorldError::NoProgram { .. } => 127,
        WorldError::Start { source, .. } if source.kind() == ErrorKind::PermissionDenied => 126,
        _ => 125,
    };
    Failure::because(Reason::Unknown, error).exits(code)
}
