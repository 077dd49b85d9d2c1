//! Real, unmodified agent clients prove that our install is loaded: each runs offline against a mock model server.
//!
//! A client that cannot be had (no npm, no registry, no program for this machine) is reported as not run, never as
//! passed; the last line counts both. A client that runs and does not show our commands fails the test.
//! `GSD_CLIENTS=off` runs none, `GSD_CLIENTS=claude,codex` only these; `GSD_CLIENTS_CACHE` is where clients are kept,
//! `GSD_CLIENTS_PROGRAM` another `gsd-tools` to try.

mod bench;
mod claude;
mod codex;
mod copilot;
mod dialects;
mod footprint;
mod gemini;
mod install;
mod library;
mod obedient;
mod opencode;
mod process;
mod server;
mod witness;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

use bench::{Bench, Scope};
use install::{NotRun, Package};
use library::Library;

use crate::kit::repository;

/// How many clients run at a time: installing waits for the network, running for the processor.
const WORKERS: usize = 2;

/// A client and how it is tried.
#[derive(Debug)]
struct Client {
    package: Package,
    /// What a user of this client has before our install.
    before_install: fn(&Bench<'_>),
    check: fn(&mut Bench<'_>),
}

type Check = (&'static Client, Scope);

const CHECKS: &[Check] = &[
    (&claude::CLIENT, Scope::Global),
    (&opencode::CLIENT, Scope::Global),
    (&codex::CLIENT, Scope::Global),
    (&gemini::CLIENT, Scope::Global),
    (&copilot::CLIENT, Scope::Global),
    (&opencode::CLIENT, Scope::Local),
    (&claude::CLIENT, Scope::Local),
    (&codex::CLIENT, Scope::Local),
    (&gemini::CLIENT, Scope::Local),
    (&copilot::CLIENT, Scope::Local),
];

#[derive(Debug)]
enum Verdict {
    /// With what could not be looked at.
    Checked(Vec<&'static str>),
    Failed(Vec<String>),
    NotRun(String),
}

#[test]
fn real_clients_load_what_we_install() {
    let chosen = Chosen::from_environment();
    let queue = Mutex::new(CHECKS.iter());
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
    let failures: Vec<String> = verdicts
        .iter()
        .filter_map(|((client, scope), verdict)| match verdict {
            Verdict::Failed(findings) => {
                Some(format!("{} {}:\n  {}", client.package.host, scope.flag(), findings.join("\n  ")))
            }
            _ => None,
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Which clients the environment asks for.
struct Chosen(Option<Vec<String>>);

impl Chosen {
    fn from_environment() -> Self {
        Self(std::env::var("GSD_CLIENTS").ok().map(|list| list.split(',').map(|name| name.trim().to_owned()).collect()))
    }

    fn includes(&self, package: &Package) -> bool {
        self.0.as_ref().is_none_or(|names| names.iter().any(|name| name == package.host))
    }
}

fn judge((client, scope): &Check, chosen: &Chosen) -> Verdict {
    let package = &client.package;
    let library = match ready(package, chosen) {
        Ok(library) => library,
        Err(NotRun(reason)) => return Verdict::NotRun(reason),
    };
    let program = match install::program_of(package) {
        Ok(program) => program,
        Err(NotRun(reason)) => return Verdict::NotRun(reason),
    };
    let mut bench = Bench::new(&library, program, *scope);
    let whole = catch_unwind(AssertUnwindSafe(|| {
        (client.before_install)(&bench);
        bench.install_ours(package);
        (client.check)(&mut bench);
        bench.uninstall_ours(package);
    }));
    let Ok(()) = whole else { return Verdict::Failed(vec!["the check itself broke, see above".to_owned()]) };
    let (findings, notes) = bench.into_results();
    if findings.is_empty() { Verdict::Checked(notes) } else { Verdict::Failed(findings) }
}

/// What must be there before a client is worth installing.
fn ready(package: &Package, chosen: &Chosen) -> Result<Library, NotRun> {
    if !chosen.includes(package) {
        return Err(NotRun("GSD_CLIENTS leaves it out".to_owned()));
    }
    let another = std::env::var_os("GSD_CLIENTS_PROGRAM").is_some();
    if !another && !repository().join(format!("src/runtime/descriptors/{}.toml", package.host)).exists() {
        return Err(NotRun("gsd-tools does not know this host yet".to_owned()));
    }
    let help = Command::new(bench::installer()).args(["install", "--help"]).stdin(Stdio::null()).output().unwrap();
    let answers = help.status.success() && String::from_utf8_lossy(&help.stdout).contains("--global");
    if !answers {
        return Err(NotRun("gsd-tools has no `install` yet".to_owned()));
    }
    Library::read()
}

fn report((client, scope): &Check, verdict: &Verdict, begin: Instant) {
    let package = &client.package;
    let (host, version, seconds) = (package.host, package.version, begin.elapsed().as_secs_f32());
    let scope = scope.flag().trim_start_matches('-');
    match verdict {
        Verdict::Checked(notes) => {
            let notes: String = notes.iter().map(|note| format!("; {note}")).collect::<Vec<_>>().concat();
            say(&format!("clients: {host} {version}, {scope}: checked in {seconds:.1} s{notes}"));
        }
        Verdict::Failed(findings) => {
            say(&format!("clients: {host} {version}, {scope}: {} findings in {seconds:.1} s", findings.len()));
        }
        Verdict::NotRun(reason) => say(&format!("clients: {host}, {scope}: not run ({reason})")),
    }
}

/// Written past the test harness, which keeps the output of passing tests to itself.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
