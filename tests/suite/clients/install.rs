//! Unmodified clients from npm and from Python's index, one folder per client and version, kept between runs.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::process::run_bounded;

const INSTALL_LIMIT: Duration = Duration::from_secs(240);
const START_LIMIT: Duration = Duration::from_secs(60);

/// A client, pinned.
#[derive(Debug)]
pub(crate) struct Package {
    /// The flag of our installer, without dashes, and the name in the report.
    pub(crate) host: &'static str,
    pub(crate) source: Source,
    /// Its answer to `--version`.
    pub(crate) version: &'static str,
    /// Its program, in `node_modules/.bin` or Python's `bin`; or with its path in `node_modules`.
    pub(crate) program: &'static str,
}

/// Where a client comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// By its name; the package has the version of the client.
    Npm(&'static str),
    /// Several packages with their versions, such as a client and the Node it needs.
    NpmAll(&'static [&'static str]),
    /// By its name, for Python 3 of at least this minor version.
    PyPi(&'static str, u32),
}

/// Why a client was not run; never a failure, never a pass.
#[derive(Debug)]
pub(crate) struct NotRun(pub(crate) String);

/// The program of `package`, installed first if necessary.
pub(crate) fn program_of(package: &Package) -> Result<PathBuf, NotRun> {
    let name = format!("{}-{}", package.host, package.version);
    let folder = cache().join(&name);
    let programs = match package.source {
        Source::PyPi(..) => "python/bin",
        Source::Npm(_) | Source::NpmAll(_) if package.program.contains('/') => "node_modules",
        Source::Npm(_) | Source::NpmAll(_) => "node_modules/.bin",
    };
    let program = folder.join(programs).join(package.program);
    std::fs::create_dir_all(cache()).unwrap();
    let lock = File::create(cache().join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let complete = folder.join("complete");
    if !complete.exists() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        match package.source {
            Source::Npm(name) => install_with_npm(&[format!("{name}@{}", package.version)], &folder)?,
            Source::NpmAll(packages) => install_with_npm(packages, &folder)?,
            Source::PyPi(name, minor) => install_with_pip(&format!("{name}=={}", package.version), minor, &folder)?,
        }
        starts(package, &program, &folder)?;
        std::fs::write(complete, "").unwrap();
    }
    Ok(program)
}

/// The search path for `program`, with what was installed next to it first.
pub(crate) fn search_path(program: &Path) -> OsString {
    let modules = program.ancestors().find(|folder| folder.ends_with("node_modules"));
    let beside = modules.map_or_else(|| program.parent().unwrap().to_owned(), |modules| modules.join(".bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(beside).chain(std::env::split_paths(&path))).unwrap()
}

fn install_with_npm(packages: &[impl AsRef<str>], folder: &Path) -> Result<(), NotRun> {
    // The environment and the user's npm settings stay: they say which registry to use.
    let mut command = Command::new("npm");
    command
        .current_dir(folder)
        .args(["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix"])
        .arg(folder)
        .args(packages.iter().map(AsRef::as_ref))
        // npm's own waits between attempts, 10 seconds and more, would only delay the report of a missing network.
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
    Err(NotRun(format!("npm cannot install {}: {}", packages[0].as_ref(), code.trim())))
}

fn install_with_pip(package: &str, minor: u32, folder: &Path) -> Result<(), NotRun> {
    let python = python(minor, folder).ok_or_else(|| NotRun(format!("there is no Python 3.{minor} or newer")))?;
    let place = folder.join("python");
    let made = run_bounded(Command::new(python).args(["-m", "venv"]).arg(&place), INSTALL_LIMIT, folder);
    if !made.succeeded() {
        return Err(NotRun("Python cannot make a virtual environment".to_owned()));
    }
    let mut command = Command::new(place.join("bin/pip"));
    command.args(["install", "--quiet", "--disable-pip-version-check", "--retries", "1", package]);
    let finished = run_bounded(&mut command, INSTALL_LIMIT, folder);
    if finished.succeeded() { Ok(()) } else { Err(NotRun(format!("pip cannot install {package}"))) }
}

/// A recent enough Python: on the search path, or in pyenv.
fn python(minor: u32, folder: &Path) -> Option<PathBuf> {
    let named = (minor..minor + 4).map(|minor| PathBuf::from(format!("python3.{minor}")));
    let kept = std::env::home_dir().map(|home| home.join(".pyenv/versions")).and_then(|kept| kept.read_dir().ok());
    let kept = kept.into_iter().flatten().flatten().map(|version| version.path().join("bin/python3"));
    let is_new_enough = |python: &PathBuf| {
        let question = format!("import sys, venv; sys.exit(sys.version_info < (3, {minor}))");
        (python.is_file() || on_path(&python.to_string_lossy()))
            && run_bounded(Command::new(python).args(["-c", &question]), START_LIMIT, folder).succeeded()
    };
    named.chain([PathBuf::from("python3")]).chain(kept).find(is_new_enough)
}

fn starts(package: &Package, program: &Path, folder: &Path) -> Result<(), NotRun> {
    let home = folder.join("first-start");
    std::fs::create_dir_all(&home).unwrap();
    if !program.exists() {
        return Err(NotRun("the package has no program for this machine".to_owned()));
    }
    let mut command = Command::new(program);
    command.current_dir(&home).env("HOME", &home).env("PATH", search_path(program)).arg("--version");
    let finished = run_bounded(&mut command, START_LIMIT, folder);
    // Some clients print their version on standard error.
    let answered = finished.stdout.contains(package.version) || finished.stderr.contains(package.version);
    if finished.succeeded() && answered {
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
