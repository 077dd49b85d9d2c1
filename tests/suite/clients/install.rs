//! Unmodified clients from npm, one folder per client and version, kept between runs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::process::run_bounded;

const INSTALL_LIMIT: Duration = Duration::from_secs(240);
const START_LIMIT: Duration = Duration::from_secs(60);

/// A client as npm knows it, pinned.
#[derive(Debug)]
pub(crate) struct Package {
    /// The flag of our installer, without dashes, and the name in the report.
    pub(crate) host: &'static str,
    pub(crate) npm: &'static str,
    pub(crate) version: &'static str,
    /// Its program in `node_modules/.bin`, or with its place in `node_modules`.
    pub(crate) program: &'static str,
}

/// Why a client was not run; never a failure, never a pass.
#[derive(Debug)]
pub(crate) struct NotRun(pub(crate) String);

/// The program of `package`, installed first if need be.
pub(crate) fn program_of(package: &Package) -> Result<PathBuf, NotRun> {
    let name = format!("{}-{}", package.host, package.version);
    let folder = cache().join(&name);
    let programs = if package.program.contains('/') { "node_modules" } else { "node_modules/.bin" };
    let program = folder.join(programs).join(package.program);
    std::fs::create_dir_all(cache()).unwrap();
    let lock = File::create(cache().join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let complete = folder.join("complete");
    if !complete.exists() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        install(package, &folder)?;
        starts(package, &program, &folder)?;
        std::fs::write(complete, "").unwrap();
    }
    Ok(program)
}

fn install(package: &Package, folder: &Path) -> Result<(), NotRun> {
    // The environment and the user's npm settings stay: they say which registry to use.
    let mut command = Command::new("npm");
    command
        .current_dir(folder)
        .args(["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix"])
        .arg(folder)
        .arg(format!("{}@{}", package.npm, package.version))
        // npm's own waits between tries, 10 seconds and more, would only delay the news that there is no network.
        .args(["--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"]);
    if !on_path("npm") || !on_path("node") {
        return Err(NotRun("npm is not installed".to_owned()));
    }
    let finished = run_bounded(&mut command, INSTALL_LIMIT, folder);
    if finished.succeeded() {
        return Ok(());
    }
    // Only npm's error code: its other lines name hosts and folders of the machine.
    let code = finished.stderr.lines().find_map(|line| line.strip_prefix("npm error code ")).unwrap_or("no answer");
    Err(NotRun(format!("npm cannot install {}@{}: {}", package.npm, package.version, code.trim())))
}

fn starts(package: &Package, program: &Path, folder: &Path) -> Result<(), NotRun> {
    let home = folder.join("first-start");
    std::fs::create_dir_all(&home).unwrap();
    if !program.exists() {
        return Err(NotRun("the package has no program for this machine".to_owned()));
    }
    let mut command = Command::new(program);
    command.current_dir(&home).env("HOME", &home).arg("--version");
    let finished = run_bounded(&mut command, START_LIMIT, folder);
    if finished.succeeded() && finished.stdout.contains(package.version) {
        return Ok(());
    }
    Err(NotRun(format!(
        "`{} --version` does not answer {}: {}",
        package.program,
        package.version,
        finished.stdout.lines().chain(finished.stderr.lines()).next().unwrap_or("nothing")
    )))
}

/// `target/clients`, or the folder that `GSD_CLIENTS_CACHE` names.
fn cache() -> PathBuf {
    std::env::var_os("GSD_CLIENTS_CACHE")
        .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("clients"), PathBuf::from)
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).exists()))
}
