//! Units of work with each real client, whatever goes wrong: the verdict, the processes, the fence.
//!
//! Clients and model are those of the client kit. `GSD_CLIENTS` selects clients as there. `GSD_RUNNERS=all` runs
//! everything for the selected clients, `GSD_RUNNERS=off` nothing, and the heading of a row of `docs/runners.md` only
//! that row; unset, a small part is run, with two clients. What is not run is reported, never passed.

mod drive;
mod fenced;
mod probed;
mod processes;
mod script;
pub(crate) mod subjects;
pub(crate) mod table;
mod verdicts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Instant;

pub(crate) use crate::clients::install::NotRun;
use crate::clients::{Chosen, say};
use subjects::{SUBJECTS, Subject};

/// How many clients run at a time.
const WORKERS: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    All,
    Row(String),
    Few,
    Nothing,
}

impl Wish {
    /// True if this row is tried; `is_of_few` if it belongs to the small part.
    pub(crate) fn has(&self, row: &str, is_of_few: bool) -> bool {
        match self {
            Self::All => true,
            Self::Row(wanted) => wanted == row,
            Self::Few => is_of_few,
            Self::Nothing => false,
        }
    }
}

/// How much the environment asks for.
pub(crate) fn wish() -> Wish {
    match std::env::var("GSD_RUNNERS") {
        Ok(wish) if wish == "all" => Wish::All,
        Ok(wish) if wish == "off" => Wish::Nothing,
        Ok(row) if !row.is_empty() => Wish::Row(row),
        _ => Wish::Few,
    }
}

/// Tries each selected client that can be installed; only those of `few` unless everything is requested. Returns the
/// failures.
pub(crate) fn each_subject(
    what: &str,
    few: &[&str],
    try_it: impl Fn(&Subject) -> Result<(), NotRun> + Sync,
) -> Vec<String> {
    let (chosen, wish) = (Chosen::from_environment(), wish());
    let queue = Mutex::new(SUBJECTS.iter());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let Some(subject) = queue.lock().unwrap().next() else { return };
                    let begin = Instant::now();
                    let outcome = match &wish {
                        Wish::Nothing => Ok(Err(NotRun("GSD_RUNNERS=off".to_owned()))),
                        _ if !chosen.includes(subject.package) => {
                            Ok(Err(NotRun("GSD_CLIENTS leaves it out".to_owned())))
                        }
                        Wish::Few if !few.contains(&subject.name) => {
                            Ok(Err(NotRun("GSD_RUNNERS=all runs it".to_owned())))
                        }
                        Wish::Few | Wish::Row(_) | Wish::All => catch_unwind(AssertUnwindSafe(|| try_it(subject))),
                    };
                    let said = match outcome {
                        Ok(Ok(())) => format!("held in {:.1} s", begin.elapsed().as_secs_f32()),
                        Ok(Err(NotRun(why))) => format!("not run ({why})"),
                        Err(why) => {
                            let why = why.downcast_ref::<String>().cloned();
                            let why = why.unwrap_or_else(|| "it panicked".to_owned());
                            failures.lock().unwrap().push(format!("{}: {why}", subject.name));
                            "FAILED".to_owned()
                        }
                    };
                    say(&format!("runners: {what}, {}: {said}", subject.name));
                }
            });
        }
    });
    failures.into_inner().unwrap()
}
