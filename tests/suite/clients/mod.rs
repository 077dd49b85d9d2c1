//! Real, unmodified agent clients prove that our install is loaded: each runs offline against a mock model server.
//!
//! The model server is the one of `gsd-tools auto probe`: its files are compiled here too. A client that cannot be
//! installed (no npm, no registry, no program for this machine) is reported as not run, never as passed; the last line
//! counts both. A client that runs and does not show our commands fails the test. `GSD_CLIENTS=off` runs none,
//! `GSD_CLIENTS=claude,codex` only these; `GSD_CLIENTS_CACHE` is the folder in which clients are kept,
//! `GSD_CLIENTS_PROGRAM` another `gsd-tools` to test.

pub(crate) mod augment;
pub(crate) mod bench;
pub(crate) mod checks;
pub(crate) mod claude;
pub(crate) mod cline;
pub(crate) mod codebuddy;
pub(crate) mod codex;
pub(crate) mod copilot;
#[path = "../../../src/auto/probe/dialects.rs"]
pub(crate) mod dialects;
mod editor;
#[path = "../../../src/auto/probe/exchange.rs"]
pub(crate) mod exchange;
#[expect(dead_code, reason = "what is compared with them is the program's own matter")]
#[path = "../../../src/auto/probe/facts.rs"]
pub(crate) mod facts;
#[path = "../../../src/auto/probe/faults.rs"]
pub(crate) mod faults;
mod footprint;
pub(crate) mod gemini;
mod hermes;
pub(crate) mod install;
pub(crate) mod kilo;
mod kimi;
pub(crate) mod kimi_code;
pub(crate) mod library;
pub(crate) mod obedient;
pub(crate) mod opencode;
pub(crate) mod pi;
mod plugin;
pub(crate) mod pointed;
pub(crate) mod process;
pub(crate) mod qwen;
#[path = "../../../src/auto/probe/server.rs"]
pub(crate) mod server;
mod spellings;
mod table;
pub(crate) mod witness;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use bench::{Bench, Results, Scope, Session};
use checks::Check;
use install::{NotRun, Package};
use library::Library;

/// How many clients run at a time: installing waits for the network, running for the processor.
const WORKERS: usize = 2;

/// A client and how to test it.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) package: Package,
    /// Sets up what a user of this client has before our install.
    before_install: fn(&Bench<'_>),
    check: fn(&mut Bench<'_>),
    /// Runs the client with a line that is not a command.
    greet: fn(&Bench<'_>) -> Session,
}

type Trial = (&'static Client, Scope);

/// The tested hosts and scopes.
fn tried() -> impl Iterator<Item = (&'static str, Scope)> {
    TRIALS.iter().map(|(client, scope)| (client.package.host, *scope))
}

const TRIALS: &[Trial] = &[
    (&claude::CLIENT, Scope::Global),
    (&opencode::CLIENT, Scope::Global),
    (&codex::CLIENT, Scope::Global),
    (&gemini::CLIENT, Scope::Global),
    (&copilot::CLIENT, Scope::Global),
    (&qwen::CLIENT, Scope::Global),
    (&kimi::CLIENT, Scope::Global),
    (&codebuddy::CLIENT, Scope::Global),
    (&kimi_code::CLIENT, Scope::Global),
    (&opencode::CLIENT, Scope::Local),
    (&claude::CLIENT, Scope::Local),
    (&codex::CLIENT, Scope::Local),
    (&gemini::CLIENT, Scope::Local),
    (&copilot::CLIENT, Scope::Local),
    (&hermes::CLIENT, Scope::Global),
    (&kilo::CLIENT, Scope::Global),
    (&augment::CLIENT, Scope::Global),
    (&kilo::CLIENT, Scope::Local),
    (&augment::CLIENT, Scope::Local),
    (&qwen::CLIENT, Scope::Local),
    (&kimi::CLIENT, Scope::Local),
    (&codebuddy::CLIENT, Scope::Local),
    (&kimi_code::CLIENT, Scope::Local),
    (&cline::CLIENT, Scope::Global),
    (&pi::CLIENT, Scope::Global),
    (&cline::CLIENT, Scope::Local),
    (&pi::CLIENT, Scope::Local),
];

#[derive(Debug)]
enum Verdict {
    /// With the findings.
    Run(Results),
    NotRun(String),
}

#[test]
#[ignore = "slow: a client"]
fn real_clients_load_what_we_install() {
    let chosen = Chosen::from_environment();
    let queue = Mutex::new(TRIALS.iter());
    let verdicts = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let Some(check) = queue.lock().unwrap().next() else { return };
                    let begin = Instant::now();
                    let verdict = judge(check, &chosen);
                    report(check, &verdict, begin);
                    verdicts.lock().unwrap().push((check, verdict));
                }
            });
        }
    });
    let verdicts = verdicts.into_inner().unwrap();
    let not_run = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::NotRun(_))).count();
    say(&format!("clients: {} checked, {not_run} not run", verdicts.len() - not_run));
    let run: Vec<(&Trial, &Results)> = verdicts
        .iter()
        .filter_map(|(check, verdict)| match verdict {
            Verdict::Run(results) => Some((*check, results)),
            Verdict::NotRun(_) => None,
        })
        .collect();
    let failures: Vec<String> = run
        .iter()
        .map(|((client, scope), results)| (client, scope, results.values().flatten().cloned().collect::<Vec<_>>()))
        .filter(|(_, _, findings)| !findings.is_empty())
        .map(|(client, scope, findings)| {
            format!("{} {}:\n  {}", client.package.host, scope.flag(), findings.join("\n  "))
        })
        .collect();
    let rows: Vec<table::Row> =
        run.iter().map(|((client, scope), results)| table::Row::new(&client.package, *scope, results)).collect();
    say(&table::text(&rows));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    table::expect_in_documents(&rows);
}

/// The clients that the environment asks for.
pub(crate) struct Chosen(Option<Vec<String>>);

impl Chosen {
    pub(crate) fn from_environment() -> Self {
        Self(std::env::var("GSD_CLIENTS").ok().map(|list| list.split(',').map(|name| name.trim().to_owned()).collect()))
    }

    pub(crate) fn includes(&self, package: &Package) -> bool {
        self.0.as_ref().is_none_or(|names| names.iter().any(|name| name == package.host))
    }
}

fn judge((client, scope): &Trial, chosen: &Chosen) -> Verdict {
    let package = &client.package;
    let (library, program) = match ready(package, chosen) {
        Ok(ready) => ready,
        Err(NotRun(reason)) => return Verdict::NotRun(reason),
    };
    let mut bench = Bench::new(&library, program, *scope);
    let whole = catch_unwind(AssertUnwindSafe(|| {
        (client.before_install)(&bench);
        bench.install_ours(package);
        (client.check)(&mut bench);
        bench.uninstall_ours(package);
        let session = (client.greet)(&bench);
        bench.expect_untouched(&session);
    }));
    bench.expect(Check::Starts, whole.is_ok(), || "the check itself broke, see above".to_owned());
    Verdict::Run(bench.into_results())
}

/// The library and the client's program, unless that client was not requested or cannot be installed here.
fn ready(package: &Package, chosen: &Chosen) -> Result<(Library, PathBuf), NotRun> {
    if !chosen.includes(package) {
        return Err(NotRun("GSD_CLIENTS leaves it out".to_owned()));
    }
    match install::program_of(package) {
        Ok(program) => Ok((Library::read(), program)),
        // A client requested by name must run: a missing one is an error.
        Err(NotRun(reason)) if chosen.0.is_some() => panic!("{} cannot be run: {reason}", package.host),
        Err(not_run) => Err(not_run),
    }
}

fn report((client, scope): &Trial, verdict: &Verdict, begin: Instant) {
    let package = &client.package;
    let (host, version, seconds) = (package.host, package.version, begin.elapsed().as_secs_f32());
    let scope = scope.flag().trim_start_matches('-');
    match verdict {
        Verdict::Run(results) => {
            let findings: usize = results.values().map(Vec::len).sum();
            let outcome = if findings == 0 { "checked".to_owned() } else { format!("{findings} findings") };
            say(&format!("clients: {host} {version}, {scope}: {outcome} in {seconds:.1} s"));
        }
        Verdict::NotRun(reason) => say(&format!("clients: {host}, {scope}: not run ({reason})")),
    }
}

/// Written past the test harness, which hides the output of passing tests.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
