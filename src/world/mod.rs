//! The world outside that is not a file: environment, folders of the user, clock, terminal, other programs.
//!
//! Nothing else in the crate reads an environment variable, the time, the current folder, or starts a program;
//! a test builds a [`World`] of its own and knows everything that can reach the code under it.
//! Files are the [`crate::disk`] room's.

#[cfg(test)]
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) mod web;

/// How long a program that is asked to end may take over it.
const GRACE: Duration = Duration::from_secs(2);

/// Everything that is neither an argument nor a file.
#[derive(Debug, Clone)]
pub(crate) struct World {
    environment: Environment,
    folder: Option<PathBuf>,
    terminal: Option<Terminal>,
    executable: Option<PathBuf>,
}

#[derive(Debug, Clone)]
enum Environment {
    /// The process's own, read when asked, so that a call that needs one variable reads one variable.
    Inherited,
    /// These and no others.
    #[cfg(test)]
    Fixed(BTreeMap<OsString, OsString>),
}

impl World {
    /// The world this process runs in.
    pub(crate) fn real() -> Self {
        Self { environment: Environment::Inherited, folder: None, terminal: None, executable: None }
    }

    /// A world with these variables and no others, in `folder`, without a terminal.
    #[cfg(test)]
    pub(crate) fn with<const N: usize>(variables: [(&str, &str); N], folder: &Path) -> Self {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self {
            environment: Environment::Fixed(variables),
            folder: Some(folder.to_path_buf()),
            terminal: Some(Terminal::default()),
            executable: None,
        }
    }

    /// The variable's value; one that is unset, empty or blank is `None`.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.raw_variable(name)
            .map(|value| value.to_string_lossy().into_owned())
            .filter(|value| !value.trim().is_empty())
    }

    /// As [`Self::variable`], for a value that is a path and need not be UTF-8.
    pub(crate) fn path_variable(&self, name: &str) -> Option<PathBuf> {
        self.raw_variable(name).filter(|value| !value.to_string_lossy().trim().is_empty()).map(PathBuf::from)
    }

    /// Whether the variable is set to a word that means yes: `1`, `true`, `yes`, `on`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.variable(name)
            .is_some_and(|value| matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on"))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    fn raw_variable(&self, name: &str) -> Option<OsString> {
        match &self.environment {
            Environment::Inherited => std::env::var_os(name),
            #[cfg(test)]
            Environment::Fixed(variables) => variables.get(OsStr::new(name)).cloned(),
        }
    }

    /// The user's home folder.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        let named = self.path_variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
        let known = || match self.environment {
            Environment::Inherited => std::env::home_dir(),
            #[cfg(test)]
            Environment::Fixed(_) => None,
        };
        named.or_else(known).filter(|home| home.is_absolute())
    }

    /// The folder that holds `.gsd/`: `GSD_HOME`, else the home folder.
    pub(crate) fn gsd_home(&self) -> Option<PathBuf> {
        self.path_variable("GSD_HOME").or_else(|| self.home())
    }

    /// Where this program keeps what must outlive a call and is nobody's document: locks, kept before-images.
    pub(crate) fn state_folder(&self) -> Option<PathBuf> {
        let named = self.path_variable("XDG_STATE_HOME").filter(|folder| folder.is_absolute());
        let local = || self.path_variable("LOCALAPPDATA").filter(|_| cfg!(windows));
        let base = named.or_else(local).or_else(|| Some(self.home()?.join(".local").join("state")))?;
        Some(base.join("gsd-tools"))
    }

    /// Where the user keeps what they tell this program.
    pub(crate) fn config_folder(&self) -> Option<PathBuf> {
        let named = self.path_variable("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
        let roaming = || self.path_variable("APPDATA").filter(|_| cfg!(windows));
        let base = named.or_else(roaming).or_else(|| Some(self.home()?.join(".config")))?;
        Some(base.join("gsd-tools"))
    }

    /// A folder of the user's that does not outlive the session, where the system has one.
    pub(crate) fn runtime_folder(&self) -> Option<PathBuf> {
        let folder = self.path_variable("XDG_RUNTIME_DIR").filter(|folder| folder.is_absolute())?;
        Some(folder.join("gsd-tools"))
    }

    /// Where lock files may stand, best first. The same folder for every call of the user if it can be written to:
    /// two calls that look in different places do not see each other.
    pub(crate) fn lock_folders(&self) -> Vec<PathBuf> {
        let folders = [self.state_folder(), self.runtime_folder(), Some(self.shared_temporary_folder())];
        folders.into_iter().flatten().map(|folder| folder.join("locks")).collect()
    }

    /// Where notes between the calls of one session stand.
    pub(crate) fn private_temporary_folder(&self) -> PathBuf {
        self.runtime_folder().unwrap_or_else(|| self.shared_temporary_folder()).join("sessions")
    }

    /// A folder of this user's in the temporary folder, which is everybody's: the name keeps users apart.
    fn shared_temporary_folder(&self) -> PathBuf {
        let mut hasher = std::hash::DefaultHasher::new();
        self.home().hash(&mut hasher);
        self.temporary_folder().join(format!("gsd-tools-{:016x}", hasher.finish()))
    }

    /// The system's folder for temporary files.
    pub(crate) fn temporary_folder(&self) -> PathBuf {
        let names: &[&str] = if cfg!(windows) { &["TMP", "TEMP"] } else { &["TMPDIR"] };
        names.iter().find_map(|name| self.path_variable(name)).unwrap_or_else(std::env::temp_dir)
    }

    /// The current folder.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks for the current folder")]
    pub(crate) fn folder(&self) -> Result<PathBuf, WorldError> {
        match &self.folder {
            Some(folder) => Ok(folder.clone()),
            None => std::env::current_dir().map_err(|source| WorldError::Folder { source }),
        }
    }

    /// The running program's own file.
    pub(crate) fn executable(&self) -> Result<PathBuf, WorldError> {
        match &self.executable {
            Some(path) => Ok(path.clone()),
            None => std::env::current_exe().map_err(|source| WorldError::Executable { source }),
        }
    }

    /// What the standard streams are connected to, and whether colour is welcome.
    pub(crate) fn terminal(&self) -> Terminal {
        self.terminal.unwrap_or_else(|| Terminal {
            stdin: std::io::stdin().is_terminal(),
            stdout: std::io::stdout().is_terminal(),
            stderr: std::io::stderr().is_terminal(),
            color: self.variable("NO_COLOR").is_none() && self.variable("TERM").as_deref() != Some("dumb"),
        })
    }

    /// The present moment; with `GSD_TEST_MODE=1`, the one in `GSD_NOW_MS`.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    pub(crate) fn now(&self) -> Moment {
        let pinned = || self.variable("GSD_NOW_MS")?.trim().parse().ok();
        if let Some(milliseconds) = self.flag("GSD_TEST_MODE").then(pinned).flatten() {
            return Moment { milliseconds };
        }
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Moment { milliseconds: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
    }

    /// Today where the user is, as `2026-01-02`.
    pub(crate) fn today(&self) -> String {
        self.now().day_in(&self.time_zone())
    }

    /// The seconds since midnight where the user is.
    pub(crate) fn second_of_day(&self) -> u32 {
        let time = self.now().timestamp().to_zoned(self.time_zone()).time();
        let part = |number: i8| u32::try_from(number).unwrap_or_default();
        part(time.hour()) * 3600 + part(time.minute()) * 60 + part(time.second())
    }

    fn time_zone(&self) -> jiff::tz::TimeZone {
        let Some(name) = self.variable("TZ") else { return jiff::tz::TimeZone::system() };
        let name = name.trim().trim_start_matches(':');
        jiff::tz::TimeZone::get(name)
            .or_else(|_| jiff::tz::TimeZone::posix(name))
            .unwrap_or_else(|_| jiff::tz::TimeZone::system())
    }

    /// Runs another program to its end and gives what it said.
    pub(crate) fn run(&self, program: &Program) -> Result<Finished, WorldError> {
        self.run_watched(program, |_| {})
    }

    fn run_watched(&self, program: &Program, watch: impl FnOnce(&Child)) -> Result<Finished, WorldError> {
        let input = program.stdin.clone();
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        let mut command = self.command(program);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = start(&mut command, program)?;
        watch(&child);
        if let Some(mut pipe) = child.stdin.take() {
            // A program that does not read its input closes the pipe; what it then says is its own matter.
            thread::spawn(move || pipe.write_all(&input));
        }
        if program.timeout.is_none() {
            let output =
                child.wait_with_output().map_err(|source| WorldError::Wait { program: program.to_string(), source })?;
            return Ok(Finished { code: output.status.code(), stdout: output.stdout, stderr: output.stderr });
        }
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let status = wait(&mut child, program)?;
        Ok(Finished {
            code: status,
            stdout: stdout.recv().unwrap_or_default(),
            stderr: stderr.recv().unwrap_or_default(),
        })
    }

    /// As [`Self::run`], with the time it took on the clock, to the moment of its end.
    pub(crate) fn timed(&self, program: &Program) -> (Result<Finished, WorldError>, Duration) {
        // Looking now and then whether it has ended would be in the figure: it is waited for, and somebody else watches
        // its time.
        let unlimited = Program { timeout: None, ..program.clone() };
        let started = Instant::now();
        let (ended, waiting) = mpsc::channel::<()>();
        let finished = self.run_watched(&unlimited, |child| {
            let (world, limit, process) = (self.clone(), program.timeout, child.id());
            thread::spawn(move || {
                let limit = limit.unwrap_or(Duration::MAX);
                if waiting.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                    // One that is gone already needs no signal.
                    let _ = world.run(&Program::new("kill").arguments(["-KILL", &process.to_string()]));
                }
            });
        });
        let took = started.elapsed();
        drop(ended);
        (finished, took)
    }

    /// Starts a program that goes on by itself: nobody hears it, waits for it, or stops it with us.
    pub(crate) fn start_beside(&self, program: &Program) -> Result<(), WorldError> {
        let mut command = self.command(program);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        start(&mut command, program).map(drop)
    }

    /// Runs another program on this process's own streams. When its time is up it is stopped, with all it started.
    pub(crate) fn hand_over(&self, program: &Program) -> Result<Ended, WorldError> {
        let mut command = self.command(program);
        // A group of its own can be stopped whole. At a terminal the program stays in ours: there the person stops it.
        let grouped = cfg!(unix) && !std::io::stdin().is_terminal();
        #[cfg(unix)]
        if grouped {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        let mut child = start(&mut command, program)?;
        self.end_in_time(&mut child, program, grouped)
    }

    /// As [`Self::hand_over`], in a group of its own and without input, and gives the last `most` bytes of what it wrote
    /// to standard output, and the time it took.
    pub(crate) fn run_for_tail(&self, program: &Program, most: usize) -> Result<Ran, WorldError> {
        let mut command = self.command(program);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started = Instant::now();
        let mut child = start(&mut command, program)?;
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (closed, waiting) = mpsc::channel();
        if let Some(mut pipe) = child.stdout.take() {
            let kept = Arc::clone(&kept);
            thread::spawn(move || {
                let mut piece = [0; 8192];
                // A pipe that breaks gave what it gave.
                while let Ok(count @ 1..) = pipe.read(&mut piece) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(&piece[..count]);
                    let surplus = kept.len().saturating_sub(most);
                    kept.drain(..surplus);
                }
                closed.send(())
            });
        }
        let ended = self.end_in_time(&mut child, program, cfg!(unix))?;
        let took = started.elapsed();
        // What it started and left running may hold the pipe for as long as it likes.
        let _ = waiting.recv_timeout(GRACE);
        let output = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Ran { ended, output, took })
    }

    /// Waits for a program; when its time is up it is stopped, where it has a group of its own with all it started.
    fn end_in_time(&self, child: &mut Child, program: &Program, grouped: bool) -> Result<Ended, WorldError> {
        let failed = |source| WorldError::Wait { program: program.to_string(), source };
        if let Some(status) = status_within(child, program.timeout).map_err(failed)? {
            return Ok(Ended::of(status));
        }
        if grouped {
            self.signal_group("-TERM", child.id());
            let _ = status_within(child, Some(GRACE)).map_err(failed)?;
            self.signal_group("-KILL", child.id());
        }
        // It may have ended in between; either way it is gone after the wait.
        let _ = child.kill();
        child.wait().map_err(failed)?;
        Ok(Ended::OutOfTime)
    }

    /// A group that is gone already needs no signal, and one that cannot be signalled has its leader killed.
    fn signal_group(&self, signal: &str, group: u32) {
        let _ = self.run(&Program::new("kill").arguments([signal, "--", &format!("-{group}")]));
    }

    /// Runs `git` in `folder`.
    pub(crate) fn git<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Finished, WorldError> {
        self.run(&Program::git(folder).arguments(arguments))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts programs")]
    fn command(&self, program: &Program) -> Command {
        let mut command = Command::new(&program.name);
        command.args(&program.arguments);
        match &self.environment {
            Environment::Inherited if program.is_apart => {
                command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_for_lookups(name)));
            }
            Environment::Inherited => {}
            #[cfg(test)]
            Environment::Fixed(variables) => {
                let given = |name: &OsStr| !program.is_apart || is_for_lookups(name);
                command.env_clear().envs(variables.iter().filter(|(name, _)| given(name.as_ref())));
            }
        }
        for name in &program.removed {
            command.env_remove(name);
        }
        command.envs(program.variables.iter().map(|(name, value)| (name, value)));
        let apart = || self.home().filter(|home| home.is_dir()).unwrap_or_else(std::env::temp_dir);
        let folder = if program.is_apart { Some(apart()) } else { program.folder.clone() };
        if let Some(folder) = folder.or_else(|| self.folder.clone()) {
            command.current_dir(folder);
        }
        command
    }
}

/// What the standard streams are connected to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts")]
pub(crate) struct Terminal {
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    /// Neither `NO_COLOR` nor a dumb terminal forbids colour.
    pub(crate) color: bool,
}

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    milliseconds: i64,
}

impl Moment {
    /// Milliseconds since 1970 began.
    pub(crate) fn milliseconds(self) -> i64 {
        self.milliseconds
    }

    /// The day in UTC, as `2026-01-02`.
    pub(crate) fn utc_day(self) -> String {
        self.day_in(&jiff::tz::TimeZone::UTC)
    }

    fn day_in(self, zone: &jiff::tz::TimeZone) -> String {
        self.timestamp().to_zoned(zone.clone()).date().to_string()
    }

    fn timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.milliseconds).unwrap_or(jiff::Timestamp::MAX)
    }
}

/// UTC with milliseconds, as `2026-01-02T03:04:05.678Z`.
impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.3}", self.timestamp())
    }
}

/// A program to run, and how.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    name: OsString,
    arguments: Vec<OsString>,
    folder: Option<PathBuf>,
    stdin: Vec<u8>,
    timeout: Option<Duration>,
    variables: Vec<(OsString, OsString)>,
    removed: Vec<OsString>,
    /// Whether it has nothing to do with the project: see [`Program::apart`].
    is_apart: bool,
}

/// The variables that programs get which look something up: how to be found, where the user's own settings are, how the
/// network is reached. What else is in the environment, keys above all, is not theirs.
const FOR_LOOKUPS: &[&str] = &[
    "ALL_PROXY",
    "APPDATA",
    "COMSPEC",
    "CURL_CA_BUNDLE",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LOCALAPPDATA",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// What names of such variables may begin with: locales, folders of the user, and the managers that `npm` and `python3`
/// are often started by. Of npm's own settings only those that say where others are: a key may be among the rest.
const FOR_LOOKUPS_BY_START: &[&str] = &[
    "ASDF_",
    "FNM_",
    "LC_",
    "MISE_",
    "NPM_CONFIG_GLOBALCONFIG",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_USERCONFIG",
    "NVM_",
    "PYENV_",
    "VOLTA_",
    "XDG_",
];

fn is_for_lookups(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    FOR_LOOKUPS.contains(&name.as_str()) || FOR_LOOKUPS_BY_START.iter().any(|start| name.starts_with(start))
}

/// Variables with which a git process tells its children (hooks, aliases) which repository they belong to.
/// Left in place, our own calls would talk about that repository rather than about the folder they are given.
const GIT_LOCATION: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

impl Program {
    pub(crate) fn new(name: impl AsRef<OsStr>) -> Self {
        Self {
            name: name.as_ref().to_owned(),
            arguments: Vec::new(),
            folder: None,
            stdin: Vec::new(),
            timeout: None,
            variables: Vec::new(),
            removed: Vec::new(),
            is_apart: false,
        }
    }

    /// A program that looks something up and has nothing to do with the project: it runs in the user's home folder, where
    /// no repository can give it settings or code, and gets only the variables it needs.
    pub(crate) fn apart(name: impl AsRef<OsStr>) -> Self {
        Self { is_apart: true, ..Self::new(name) }
    }

    /// `git` in `folder`: it speaks of that folder's repository, and never waits for a password.
    pub(crate) fn git(folder: &Path) -> Self {
        // Neither a program that a repository's settings name is to run beside our questions, nor the index to be written.
        let mut program = Self::new("git").folder(folder).arguments(["-c", "core.fsmonitor=false"]);
        program = program.variable("GIT_TERMINAL_PROMPT", "0").variable("GIT_OPTIONAL_LOCKS", "0");
        program.removed.extend(GIT_LOCATION.iter().map(OsString::from));
        program
    }

    pub(crate) fn arguments<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_path_buf());
        self
    }

    /// What the program reads on its standard input.
    pub(crate) fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.stdin = input.into();
        self
    }

    /// Kills the program when it has not ended after `limit`.
    pub(crate) fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    pub(crate) fn variable(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }
}

/// The program and its first argument, enough to know which call it was.
impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.name.to_string_lossy())?;
        let mut words = self.arguments.iter();
        while words.as_slice().first().is_some_and(|word| word == "-c") {
            words.nth(1);
        }
        words.next().map_or(Ok(()), |first| write!(formatter, " {}", first.to_string_lossy()))
    }
}

/// What a program left when it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Finished {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Finished {
    pub(crate) fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// Standard output as text, without the line end that closes it.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches(['\n', '\r']).to_owned()
    }

    /// Standard error as text, without the line end that closes it.
    pub(crate) fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end_matches(['\n', '\r']).to_owned()
    }
}

/// What a program left of which only the end of its output is of interest.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) ended: Ended,
    /// The end of its standard output.
    pub(crate) output: Vec<u8>,
    pub(crate) took: Duration,
}

/// How a program that had our streams ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Code(i32),
    Signal(i32),
    OutOfTime,
}

impl Ended {
    fn of(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        Self::Code(status.code().unwrap_or(1))
    }
}

/// The world did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorldError {
    #[error("the current folder cannot be read; it may have been removed")]
    Folder { source: std::io::Error },
    #[error("the running program's own file cannot be found")]
    Executable { source: std::io::Error },
    #[error("`{program}` is not installed or not on the PATH")]
    NoProgram { program: String },
    #[error("`{server}` does not answer: {why}")]
    NoAnswer { server: String, why: String },
    #[error("cannot start `{program}`")]
    Start { program: String, source: std::io::Error },
    #[error("cannot wait for `{program}`")]
    Wait { program: String, source: std::io::Error },
    #[error("`{program}` did not end within {} s and was stopped", limit.as_secs_f32())]
    TimedOut { program: String, limit: Duration },
}

fn start(command: &mut Command, program: &Program) -> Result<Child, WorldError> {
    command.spawn().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => WorldError::NoProgram { program: program.name.to_string_lossy().into_owned() },
        _ => WorldError::Start { program: program.to_string(), source },
    })
}

/// Reads a pipe to its end on a thread of its own, so that no full pipe stops the program.
fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A pipe that breaks gives what it gave.
            let _ = pipe.read_to_end(&mut bytes);
        }
        sender.send(bytes)
    });
    receiver
}

fn wait(child: &mut Child, program: &Program) -> Result<Option<i32>, WorldError> {
    let failed = |source| WorldError::Wait { program: program.to_string(), source };
    if let Some(status) = status_within(child, program.timeout).map_err(failed)? {
        return Ok(status.code());
    }
    // It may have ended in between; either way it is gone after the wait.
    let _ = child.kill();
    child.wait().map_err(failed)?;
    Err(WorldError::TimedOut { program: program.to_string(), limit: program.timeout.unwrap_or_default() })
}

/// How the program ended; `None` where it has not within `limit`.
fn status_within(child: &mut Child, limit: Option<Duration>) -> std::io::Result<Option<ExitStatus>> {
    let Some(limit) = limit else { return child.wait().map(Some) };
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= limit {
            return Ok(None);
        }
        thread::sleep(pause.min(limit.saturating_sub(started.elapsed())));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world<const N: usize>(variables: [(&str, &str); N]) -> World {
        World::with(variables, &std::env::temp_dir())
    }

    #[test]
    fn a_blank_variable_is_unset() {
        let world = world([("EMPTY", ""), ("BLANK", " \t"), ("SET", " x ")]);
        assert_eq!(world.variable("EMPTY"), None);
        assert_eq!(world.variable("BLANK"), None);
        assert_eq!(world.variable("ABSENT"), None);
        assert_eq!(world.variable("SET").as_deref(), Some(" x "));
    }

    #[test]
    fn the_clock_is_pinned_only_in_test_mode() {
        let pinned = world([("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1767323045678")]).now();
        assert_eq!(pinned.to_string(), "2026-01-02T03:04:05.678Z");
        assert_eq!(pinned.utc_day(), "2026-01-02");
        assert!(world([("GSD_NOW_MS", "5")]).now().milliseconds() > 5);
    }

    #[test]
    fn a_whole_second_still_shows_its_milliseconds() {
        assert_eq!(Moment { milliseconds: 0 }.to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn today_is_the_day_where_the_user_is() {
        let late = |zone| world([("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1767323045678"), ("TZ", zone)]).today();
        assert_eq!(late("UTC"), "2026-01-02");
        assert_eq!(late("XYZ8"), "2026-01-01", "eight hours behind UTC it is still the evening before");
        let second =
            |zone| world([("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1767323045678"), ("TZ", zone)]).second_of_day();
        assert_eq!((second("UTC"), second("XYZ8")), (3 * 3600 + 4 * 60 + 5, 19 * 3600 + 4 * 60 + 5));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_gets_its_input_and_gives_its_output_and_code() {
        let program = Program::new("sh").arguments(["-c", "cat; echo oops >&2; exit 3"]).stdin("hello\n");
        let finished = World::real().run(&program).unwrap();
        assert_eq!(finished.text(), "hello");
        assert_eq!(finished.error_text(), "oops");
        assert_eq!(finished.code, Some(3));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let program = Program::new("sleep").arguments(["60"]).timeout(Duration::from_millis(30));
        assert!(matches!(World::real().run(&program), Err(WorldError::TimedOut { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_with_our_streams_tells_how_it_ended() {
        let shell = |line: &str| Program::new("sh").arguments(["-c", line]);
        let world = World::real();
        assert_eq!(world.hand_over(&shell("exit 7")).unwrap(), Ended::Code(7));
        assert_eq!(world.hand_over(&shell("kill -9 $$")).unwrap(), Ended::Signal(9));
        let endless = shell("sleep 60 & sleep 60").timeout(Duration::from_millis(30));
        assert_eq!(world.hand_over(&endless).unwrap(), Ended::OutOfTime);
    }

    #[cfg(unix)]
    #[test]
    fn the_end_of_an_output_is_kept_and_nothing_left_running_is_waited_for() {
        let shell = |line: &str| Program::new("sh").arguments(["-c", line]).timeout(Duration::from_secs(20));
        let ran = World::real().run_for_tail(&shell("printf 0123456789; sleep 60 & exit 3"), 4).unwrap();
        assert_eq!((ran.ended, ran.output.as_slice()), (Ended::Code(3), &b"6789"[..]));
        let endless = shell("echo x; sleep 60 & sleep 60").timeout(Duration::from_millis(300));
        let ran = World::real().run_for_tail(&endless, 100).unwrap();
        assert_eq!((ran.ended, ran.output.as_slice()), (Ended::OutOfTime, &b"x\n"[..]));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = World::real().run(&Program::new("gsd-no-such-program")).unwrap_err();
        assert_eq!(error.to_string(), "`gsd-no-such-program` is not installed or not on the PATH");
    }

    #[cfg(unix)]
    #[test]
    fn git_is_not_told_of_a_repository_by_the_environment() {
        let path = World::real().variable("PATH").unwrap_or_default();
        let world = world([("PATH", &path), ("GIT_DIR", "/nowhere"), ("GIT_AUTHOR_NAME", "Kept")]);
        let mut program = Program::git(&std::env::temp_dir());
        (program.name, program.arguments) = ("sh".into(), vec!["-c".into(), "env".into()]);
        let seen = world.run(&program).unwrap().text();
        assert!(!seen.contains("GIT_DIR="), "{seen}");
        assert!(seen.contains("GIT_AUTHOR_NAME=Kept"), "{seen}");
    }
}
