//! A run in a separate process, which outlives the call and its terminal.

use std::time::Duration;

use super::request::RunRequest;
use super::run_report::{DetachedRun, RunReport, report};
use crate::acts::Call;
use crate::acts::auto::place::RunPlace;
use crate::auto::stop::{Cause, Stop};
use crate::disk::{self, AbsolutePath};
use crate::failure::{Failure, Reason};
use crate::text::shell::typed;
use crate::world::{ApartProgram, Ended, Program};

/// The file with what the process prints.
const OUTPUT: &str = "detached.txt";

/// How long the process may take to begin: the client may be slow to report its version.
const BEGINS_WITHIN: Duration = Duration::from_secs(60);

const LOOK: Duration = Duration::from_millis(50);

/// How much of the output of a process that did not begin is shown.
const TAIL: usize = 4000;

/// Starts the request in another process, and waits until its run has begun.
pub(super) fn start_detached(
    call: &Call,
    place: &RunPlace,
    (request, most_units): (&RunRequest, Option<u32>),
    milestone: &str,
) -> Result<RunReport, Failure> {
    let output = place.folder().resolve(OUTPUT);
    disk::make_folder(&place.folder())?;
    let before = disk::size(place.log());
    let units = most_units.into_iter().flat_map(|most| ["--max-units".to_owned(), most.to_string()]);
    let words = ["auto", "run"].map(str::to_owned).into_iter().chain(request.words()).chain(units);
    let program = Program::new(call.world().executable()?).arguments(words).folder(call.here().as_path()).detached();
    let mut started = call.world().start_apart(&program, output.as_path())?;
    let detached = DetachedRun { process: started.id(), output: output.to_string() };
    let has_ended = begun(call, place, (&mut started, before), &output)?;
    let (text, next) = if has_ended {
        (format!("the run of {milestone} was short and has ended"), "gsd-tools auto report")
    } else {
        (format!("{milestone} runs in process {}", detached.process), "gsd-tools auto watch")
    };
    let shown = ["`gsd-tools auto stop` ends it after its unit".to_owned(), format!("what it prints is in `{output}`")];
    let stop = Stop::new(Cause::Detached, text, next).shown(shown.into_iter().skip(usize::from(has_ended)));
    Ok(RunReport { detached: Some(detached), ..report(milestone, stop, &place.memory()?) })
}

/// Waits until the process has the run, and returns whether it has ended since; fails if it ended without one.
fn begun(
    call: &Call,
    place: &RunPlace,
    (started, before): (&mut ApartProgram, Option<u64>),
    output: &AbsolutePath,
) -> Result<bool, Failure> {
    let mut waited = Duration::ZERO;
    loop {
        let ended = started.ended()?;
        if disk::size(place.log()) != before {
            return Ok(ended.is_some());
        }
        if let Some(ended) = ended {
            let printed = disk::read_text(output)?.unwrap_or_default();
            let start = printed.len().saturating_sub(TAIL);
            let tail = (start..=printed.len()).find_map(|start| printed.get(start..)).unwrap_or_default().trim();
            let code = match ended {
                Ended::Code(code) => u8::try_from(code).ok().filter(|code| *code != 0).unwrap_or(1),
                _ => 1,
            };
            return Err(Failure::new(Reason::Unknown, format!("the run did not begin:\n{tail}")).exits(code));
        }
        if waited > BEGINS_WITHIN {
            let message = format!("process {} has begun no run for a minute", started.id());
            return Err(Failure::new(Reason::Unknown, message)
                .hint(format!("see what it prints: `{}`", typed!("tail -f {}", output.to_string()))));
        }
        call.world().pause(LOOK);
        waited += LOOK;
    }
}
