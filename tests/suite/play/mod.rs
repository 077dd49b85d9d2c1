//! The play: a scripted model plays whole workflows in real clients, with our hooks on, as an obedient model would.
//!
//! It does what the installed texts order next, with the real program, real files, real commits, agents included. A
//! line that a text no longer has fails the play. `GSD_PLAYS=off` plays nothing, `GSD_PLAYS=all` everything,
//! `GSD_PLAYS=claude/quick,codex` what these name; unset, the short loop in two clients. A client that cannot be
//! installed is reported as not run, and is a failure if it was named. `SNAPSHOTS=overwrite` records in `docs/hosts.md`
//! what was played. Each play's journal is kept in `target/plays`, next to the table of costs; `GSD_PLAYS_KEEP=1` keeps
//! the home, the project and the requests of a play that failed; `GSD_PLAYS_BY_HAND=1` starts no client but prints how
//! to start it at a terminal, and what to type there.
//!
//! When a play breaks, its message names the missing line, or the call and its answer: read the journal, then change
//! the text, the program, or the scenario in [`scenarios`].

mod actor;
mod agreement;
pub(crate) mod cast;
mod costs;
mod engine;
mod errands;
mod heard;
mod printed;
mod scenarios;
mod script;
mod stage;
mod table;
mod tool_form;

use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::clients::install::{NotRun, program_of};

use cast::{CASTS, Cast};
use scenarios::{SCENARIOS, Scenario};
use stage::{Counts, Stage};

/// The plays that run by default.
const SHORT: &[(&str, &str)] = &[("claude", "chain"), ("codex", "chain")];

/// The plays that the environment asks for.
enum Chosen {
    Nothing,
    Short,
    All,
    Named(Vec<String>),
}

impl Chosen {
    fn from_environment() -> Self {
        match std::env::var("GSD_PLAYS") {
            // `GSD_CLIENTS=off` turns off the plays too.
            Err(_) if std::env::var("GSD_CLIENTS").is_ok_and(|clients| clients == "off") => Self::Nothing,
            Err(_) => Self::Short,
            Ok(word) if word == "off" => Self::Nothing,
            Ok(word) if word == "all" => Self::All,
            Ok(list) => Self::Named(list.split(',').map(|name| name.trim().to_owned()).collect()),
        }
    }

    fn includes(&self, host: &str, scenario: &Scenario) -> bool {
        match self {
            Self::Nothing => false,
            Self::Short => SHORT.contains(&(host, scenario.name)),
            Self::All => scenario.plays_in(host),
            Self::Named(names) => {
                let whole = format!("{host}/{}", scenario.name);
                names.iter().any(|name| *name == whole || (name == host && scenario.plays_in(host)))
            }
        }
    }

    /// Names that match no play.
    fn unknown(&self) -> Vec<String> {
        let Self::Named(names) = self else { return Vec::new() };
        let is_known = |name: &str| {
            CASTS.iter().any(|cast| {
                let host = cast.package.host;
                name == host || SCENARIOS.iter().any(|scenario| name == format!("{host}/{}", scenario.name))
            })
        };
        names.iter().filter(|name| !is_known(name)).cloned().collect()
    }

    fn must_be_had(&self) -> bool {
        matches!(self, Self::All | Self::Named(_))
    }
}

#[test]
#[ignore = "slow: a client"]
fn workflows_play_in_real_clients() {
    let chosen = Chosen::from_environment();
    assert_eq!(chosen.unknown(), Vec::<String>::new(), "GSD_PLAYS names what is not played");
    let (mut rows, mut failures, mut not_run) = (Vec::new(), Vec::new(), 0);
    for cast in CASTS {
        let host = cast.package.host;
        for scenario in SCENARIOS.iter().filter(|scenario| chosen.includes(host, scenario)) {
            let program = match program_of(cast.package) {
                Ok(program) => program,
                Err(NotRun(reason)) => {
                    say(&format!("plays: {host}/{}: not run ({reason})", scenario.name));
                    not_run += 1;
                    if chosen.must_be_had() {
                        failures.push(format!("{host}/{} cannot be played: {reason}", scenario.name));
                    }
                    continue;
                }
            };
            match play(cast, scenario, program) {
                Ok(counts) => rows.push((host, scenario.name, counts)),
                Err(reason) => failures.push(format!("{host}/{}: {reason}", scenario.name)),
            }
        }
    }
    let played: Vec<(&str, &str)> = rows.iter().map(|(host, scenario, _)| (*host, *scenario)).collect();
    table::note(&played);
    let table = costs(&rows);
    if !rows.is_empty() {
        say(&table);
        std::fs::write(folder().join("table.md"), table).unwrap();
    }
    say(&format!("plays: {} played, {} failed, {not_run} not run", rows.len(), failures.len()));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn play(cast: &'static Cast, scenario: &Scenario, program: PathBuf) -> Result<Counts, String> {
    let begin = Instant::now();
    let mut stage = Stage::new(cast, program);
    let played = catch_unwind(AssertUnwindSafe(|| (scenario.play)(&mut stage)));
    let name = format!("{}-{}", cast.package.host, scenario.name);
    std::fs::write(folder().join(format!("{name}.log")), stage.scene.engine.journal()).unwrap();
    std::fs::write(folder().join(format!("{name}.costs.md")), stage.costs()).unwrap();
    let seconds = begin.elapsed().as_secs_f32();
    let outcome = if played.is_ok() { "played" } else { "FAILED" };
    say(&format!("plays: {}/{} {outcome} in {seconds:.1} s", cast.package.host, scenario.name));
    match played {
        Ok(()) => Ok(Counts { seconds, ..stage.counts() }),
        Err(cause) => {
            let words = cause.downcast_ref::<String>().cloned();
            let words = words.or_else(|| cause.downcast_ref::<&str>().map(|words| (*words).to_owned()));
            if std::env::var_os("GSD_PLAYS_KEEP").is_some() {
                say(&format!("kept: {}", stage.keep().display()));
            }
            Err(words.unwrap_or_default())
        }
    }
}

fn costs(rows: &[(&str, &str, Counts)]) -> String {
    let mut table = String::from(
        "| client | scenario | agents | calls | answered, bytes | our texts read, bytes | seconds |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
    );
    for (host, scenario, counts) in rows {
        let Counts { calls, answered, read, agents, seconds, .. } = counts;
        writeln!(table, "| {host} | {scenario} | {agents} | {calls} | {answered} | {read} | {seconds:.0} |").unwrap();
    }
    table
}

/// The folder of journals and the table.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("plays");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Written past the test harness, which hides the output of passing tests.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
