//! The environment apart from files: variables, folders of the user, clock, terminal, other programs.
//!
//! Nothing else in the crate reads an environment variable, the time, the current folder, or starts a program. A test
//! builds its own [`World`] and so controls everything that can reach the code under test. Files belong to
//! [`crate::disk`].

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "this is the room of the environment, the clock, and programs"
)]

#[cfg(any(test, debug_assertions))]
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use directories::BaseDirs;

use crate::failure::Explain;

pub(crate) mod above;
pub(crate) mod fence;
mod fields;
mod followed;
mod gits;
pub(crate) mod output;
pub(crate) mod path;
pub(crate) mod process;
#[cfg(all(test, target_os = "linux"))]
pub(crate) mod process_tests;
mod program;
mod run;
pub(crate) mod signals;
pub(crate) mod tree;
pub(crate) mod web;

pub(crate) use process::Ended;
pub(crate) use program::{Program, embedded_repository, in_path_list, pathspec};
pub(crate) use run::{ApartProgram, Finished};

/// The variable set in sessions of `auto run` and all their children: the kind of their unit.
pub(crate) const UNIT: &str = "GSD_UNIT_KIND";

/// The variable that names the file in which a hook notes that a session's client has called it.
pub(crate) const HEARD: &str = "GSD_HOOKS_HEARD";

/// All inputs except arguments and files.
#[derive(Debug, Clone)]
pub(crate) struct World {
    environment: Environment,
    folder: Option<PathBuf>,
    terminal: Option<TerminalStreams>,
    executable: Option<PathBuf>,
}

#[derive(Debug, Clone)]
enum Environment {
    /// The environment of the process, read on demand: a call that needs one variable reads one variable.
    Inherited,
    /// Only these variables.
    #[cfg(any(test, debug_assertions))]
    Fixed(BTreeMap<OsString, OsString>),
}

impl World {
    /// The real world of this process.
    pub(crate) fn real() -> Self {
        Self { environment: Environment::Inherited, folder: None, terminal: None, executable: None }
    }

    /// A world with only these variables, in `folder`, without a terminal.
    #[cfg(test)]
    pub(crate) fn with<const N: usize>(variables: [(&str, &str); N], folder: &Path) -> Self {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self {
            environment: Environment::Fixed(variables),
            folder: Some(folder.to_path_buf()),
            terminal: Some(TerminalStreams::default()),
            executable: None,
        }
    }

    /// The world of a call that this process answers for another one: only these variables, in `folder`, without input.
    #[cfg(debug_assertions)]
    pub(crate) fn of_call(variables: BTreeMap<OsString, OsString>, folder: PathBuf) -> Self {
        let executable = std::env::current_exe().ok();
        Self { environment: Environment::Fixed(variables), folder: Some(folder), terminal: None, executable }
    }

    /// The variable's value; `None` if it is unset, empty or blank.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.raw_variable(name)
            .map(|value| value.to_string_lossy().into_owned())
            .filter(|value| !value.trim().is_empty())
    }

    /// True if this process belongs to a session of `auto run`.
    pub(crate) fn is_unit(&self) -> bool {
        self.variable(UNIT).is_some()
    }

    /// The kind of the unit in whose session this process is, even if it or an ancestor removed the variable. The world
    /// of a test only has its own variables.
    pub(crate) fn unit(&self) -> Option<String> {
        let own = self.raw_variable(UNIT).map(|kind| kind.to_string_lossy().into_owned());
        own.or_else(|| matches!(self.environment, Environment::Inherited).then(above::unit).flatten())
    }

    /// True if the process with this id is an ancestor of this one.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn is_below(&self, process: u32) -> bool {
        above::ancestors().contains(&process)
    }

    /// True if the variable is set, even to an empty value.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.raw_variable(name).is_some()
    }

    /// Like [`Self::variable`], for a value that is a path and need not be UTF-8.
    pub(crate) fn path_variable(&self, name: &str) -> Option<PathBuf> {
        self.raw_variable(name).filter(|value| !value.to_string_lossy().trim().is_empty()).map(PathBuf::from)
    }

    /// True if the variable is set to a word that means yes: `1`, `true`, `yes`, `on`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.variable(name)
            .is_some_and(|value| matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on"))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    fn raw_variable(&self, name: &str) -> Option<OsString> {
        match &self.environment {
            Environment::Inherited => std::env::var_os(name),
            #[cfg(any(test, debug_assertions))]
            Environment::Fixed(variables) => variables.get(std::ffi::OsStr::new(name)).cloned(),
        }
    }

    /// The user's home folder: from the variable, because the clients of hosts use it, otherwise from the system.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        let named = self.path_variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
        let known = || Some(self.known_folders()?.home_dir().to_path_buf());
        named.or_else(known).filter(|home| home.is_absolute())
    }

    /// The user's folders according to the system; `None` in a fixed world.
    fn known_folders(&self) -> Option<BaseDirs> {
        match self.environment {
            Environment::Inherited => BaseDirs::new(),
            #[cfg(any(test, debug_assertions))]
            Environment::Fixed(_) => None,
        }
    }

    /// A folder of a Windows user: from the variable, otherwise the known folder. `None` on other systems.
    fn windows_folder(&self, variable: &str, known: fn(&BaseDirs) -> &Path) -> Option<PathBuf> {
        let found = || Some(known(&self.known_folders()?).to_path_buf());
        cfg!(windows).then(|| self.path_variable(variable).or_else(found)).flatten()
    }

    /// The folder that contains `.gsd/`: `GSD_HOME`, otherwise the home folder.
    pub(crate) fn gsd_home(&self) -> Option<PathBuf> {
        self.path_variable("GSD_HOME").or_else(|| self.home())
    }

    /// An absolute path of the system, which all users share.
    pub(crate) fn system_path(&self, path: &str) -> PathBuf {
        // Tests cannot write to the folders of the system.
        let root = self.variable("GSD_SYSTEM_ROOT").filter(|_| cfg!(debug_assertions)).unwrap_or_default();
        PathBuf::from(root + path)
    }

    /// Where this program keeps its own data that must outlive a call: locks, kept before-images.
    pub(crate) fn state_folder(&self) -> Option<PathBuf> {
        let named = self.path_variable("XDG_STATE_HOME").filter(|folder| folder.is_absolute());
        let local = || self.windows_folder("LOCALAPPDATA", BaseDirs::data_local_dir);
        let base = named.or_else(local).or_else(|| Some(self.home()?.join(".local").join("state")))?;
        Some(base.join("gsd-tools"))
    }

    /// Where the user's settings for this program are.
    pub(crate) fn config_folder(&self) -> Option<PathBuf> {
        let named = self.path_variable("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
        let roaming = || self.windows_folder("APPDATA", BaseDirs::config_dir);
        let base = named.or_else(roaming).or_else(|| Some(self.home()?.join(".config")))?;
        Some(base.join("gsd-tools"))
    }

    /// A folder of the user that lasts as long as the session, if the system has one.
    pub(crate) fn runtime_folder(&self) -> Option<PathBuf> {
        let folder = self.path_variable("XDG_RUNTIME_DIR").filter(|folder| folder.is_absolute())?;
        Some(folder.join("gsd-tools"))
    }

    /// Folders for lock files, best first. Every call of the user uses the same one if it can be written to: two calls
    /// that use different folders do not see each other's locks.
    pub(crate) fn lock_folders(&self) -> Vec<PathBuf> {
        let folders = [self.state_folder(), self.runtime_folder(), Some(self.shared_temporary_folder())];
        folders.into_iter().flatten().map(|folder| folder.join("locks")).collect()
    }

    /// Where notes between the calls of one session are kept.
    pub(crate) fn private_temporary_folder(&self) -> PathBuf {
        self.runtime_folder().unwrap_or_else(|| self.shared_temporary_folder()).join("sessions")
    }

    /// This user's folder in the shared temporary folder; its name separates users.
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

    /// The path of the running program.
    pub(crate) fn executable(&self) -> Result<PathBuf, WorldError> {
        match &self.executable {
            Some(path) => Ok(path.clone()),
            None => std::env::current_exe().map_err(|source| WorldError::Executable { source }),
        }
    }

    /// The variable `PATH` for a program that must find this one by its name: its folder, then the others. `None` if it
    /// cannot be built.
    pub(crate) fn path_to_itself(&self) -> Option<String> {
        let own = self.executable().ok()?;
        let others = self.path_variable("PATH").unwrap_or_default();
        let folders = std::iter::once(own.parent()?.to_path_buf()).chain(std::env::split_paths(&others));
        std::env::join_paths(folders).ok()?.into_string().ok()
    }

    /// The id of this process.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn process(&self) -> u32 {
        std::process::id()
    }

    /// The operating system.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn system(&self) -> System {
        #[cfg(unix)]
        {
            let told = rustix::system::uname();
            let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
            System { name: text(told.sysname()), release: text(told.release()), machine: text(told.machine()) }
        }
        #[cfg(not(unix))]
        System {
            name: std::env::consts::OS.to_owned(),
            release: "unknown".to_owned(),
            machine: std::env::consts::ARCH.to_owned(),
        }
    }

    /// The name of the locale for characters: `C` if none is set, `other` if the value is not the name of a locale.
    pub(crate) fn locale(&self) -> String {
        let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| self.variable(name));
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_.-@".contains(letter);
        match set {
            None => "C".to_owned(),
            Some(locale) if locale.len() <= 32 && locale.chars().all(is_part) => locale,
            Some(_) => "other".to_owned(),
        }
    }

    /// True if this process runs as root.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn is_root(&self) -> bool {
        #[cfg(unix)]
        return rustix::process::geteuid().is_root();
        #[cfg(not(unix))]
        false
    }

    /// Milliseconds that only increase, even while the machine sleeps: since boot. On systems without such a clock,
    /// since the first call in this process.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn uptime(&self) -> u64 {
        #[cfg(unix)]
        {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            let clock = rustix::time::ClockId::Boottime;
            #[cfg(not(any(target_os = "linux", target_os = "android")))]
            let clock = rustix::time::ClockId::Monotonic;
            let now = rustix::time::clock_gettime(clock);
            let (seconds, rest) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
            seconds.unwrap_or_default().saturating_mul(1000) + rest.unwrap_or_default() / 1_000_000
        }
        #[cfg(not(unix))]
        {
            static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
            let start = START.get_or_init(std::time::Instant::now);
            u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
        }
    }

    /// A unique name: a UUID of version 4.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn uuid(&self) -> String {
        use std::hash::BuildHasher;
        let half = |salt: u64| std::hash::RandomState::new().hash_one((std::process::id(), salt));
        let (one, two) = (half(1), half(2));
        format!(
            "{:08x}-{:04x}-4{:03x}-{:x}{:03x}-{:012x}",
            one >> 32,
            (one >> 16) & 0xffff,
            one & 0xfff,
            8 + (two >> 62),
            (two >> 48) & 0xfff,
            two & 0xffff_ffff_ffff
        )
    }

    /// Reads standard input up to `limit` bytes; empty if it is a terminal.
    pub(crate) fn input(&self, limit: u64) -> std::io::Result<Vec<u8>> {
        use std::io::Read;
        let mut bytes = Vec::new();
        if matches!(self.environment, Environment::Inherited) && !std::io::stdin().is_terminal() {
            std::io::stdin().take(limit).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Waits this long.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    /// What the standard streams are connected to, and whether to use colour.
    pub(crate) fn terminal(&self) -> TerminalStreams {
        self.terminal.unwrap_or_else(|| {
            let is_dumb = self.variable("TERM").as_deref() == Some("dumb");
            let size = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
            let columns = || self.variable("COLUMNS")?.trim().parse().ok();
            TerminalStreams {
                stdin: std::io::stdin().is_terminal(),
                stdout: std::io::stdout().is_terminal(),
                stderr: std::io::stderr().is_terminal(),
                color: self.variable("NO_COLOR").is_none() && !is_dumb,
                signs: !is_dumb && self.shows_utf8(),
                moves: !is_dumb,
                width: size.or_else(columns).filter(|width| *width > 0).unwrap_or(80),
            }
        })
    }

    /// True if the locale has characters beyond ASCII, or if none is set.
    fn shows_utf8(&self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| self.variable(name));
        locale.is_none_or(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
    }

    /// The current time; with `GSD_TEST_MODE=1`, the time in `GSD_NOW_MS`.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    pub(crate) fn now(&self) -> Moment {
        let pinned = || self.variable("GSD_NOW_MS")?.trim().parse().ok();
        if let Some(milliseconds) = self.flag("GSD_TEST_MODE").then(pinned).flatten() {
            return Moment { milliseconds };
        }
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Moment { milliseconds: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
    }

    /// Today in the user's time zone, such as `2026-01-02`.
    pub(crate) fn today(&self) -> String {
        self.now().day_in(&self.time_zone())
    }

    /// The seconds since midnight in the user's time zone.
    pub(crate) fn second_of_day(&self) -> u32 {
        let time = self.now().timestamp().to_zoned(self.time_zone()).time();
        let part = |number: i8| u32::try_from(number).unwrap_or_default();
        part(time.hour()) * 3600 + part(time.minute()) * 60 + part(time.second())
    }

    fn time_zone(&self) -> jiff::tz::TimeZone {
        let Some(name) = self.variable("TZ") else { return jiff::tz::TimeZone::system() };
        let name = name.trim().trim_start_matches(':');
        if name == "UTC" {
            // For any other name, all known names would be searched.
            return jiff::tz::TimeZone::UTC;
        }
        jiff::tz::TimeZone::get(name)
            .or_else(|_| jiff::tz::TimeZone::posix(name))
            .unwrap_or_else(|_| jiff::tz::TimeZone::system())
    }
}

/// What the standard streams are connected to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TerminalStreams {
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    /// False if `NO_COLOR` is set or the terminal is dumb.
    pub(crate) color: bool,
    /// Whether characters beyond ASCII can be shown.
    pub(crate) signs: bool,
    /// Whether the cursor can be moved, as needed for questions with choices.
    pub(crate) moves: bool,
    /// In columns; 80 if unknown.
    pub(crate) width: usize,
}

/// An operating system, as it describes itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct System {
    /// For example `Linux`.
    pub(crate) name: String,
    /// The kernel release.
    pub(crate) release: String,
    /// For example `x86_64`.
    pub(crate) machine: String,
}

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    milliseconds: i64,
}

impl Moment {
    /// Milliseconds since the start of 1970.
    pub(crate) fn milliseconds(self) -> i64 {
        self.milliseconds
    }

    /// The day in UTC, such as `2026-01-02`.
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

/// UTC with milliseconds, such as `2026-01-02T03:04:05.678Z`.
impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.3}", self.timestamp())
    }
}

/// A request to the system or to another program failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorldError {
    #[error("the current folder cannot be read; it may have been removed")]
    Folder { source: std::io::Error },
    #[error("the running program's own file cannot be found")]
    Executable { source: std::io::Error },
    #[error("`{program}` is not installed or not in PATH")]
    NoProgram { program: String },
    #[error("`{server}` did not answer: {why}")]
    NoAnswer { server: String, why: String },
    #[error("git is not run in `{}`: its files look like a bare git repository, whose settings and hooks could run programs", folder.display())]
    Embedded { folder: PathBuf },
    #[error("`{program}` is not started: this system cannot limit where a program writes")]
    NoFence { program: String },
    #[error("cannot start `{program}`")]
    Start { program: String, source: std::io::Error },
    #[error("cannot wait for `{program}`")]
    Wait { program: String, source: std::io::Error },
    #[error("`{program}` did not end within {} s and was stopped", limit.as_secs_f32())]
    TimedOut { program: String, limit: Duration },
}

impl Explain for WorldError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Folder { .. } => Some("change to a folder that exists".to_owned()),
            Self::NoProgram { program } => Some(format!("install `{program}`, or check PATH")),
            Self::NoAnswer { .. } => Some("check the network connection, then run the command again".to_owned()),
            Self::Embedded { folder } => {
                Some(format!("if you did not create it, remove `HEAD` in `{}`", folder.display()))
            }
            Self::NoFence { .. } => {
                Some("use Linux 5.13 or later with Landlock, or macOS; or turn the fence off".to_owned())
            }
            Self::Start { .. } | Self::Wait { .. } | Self::Executable { .. } => None,
            Self::TimedOut { .. } => Some("run the command again, with more time if it has a limit".to_owned()),
        }
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
    fn a_fixed_world_has_only_folders_that_its_variables_name() {
        let nowhere = world([]);
        assert_eq!((nowhere.home(), nowhere.state_folder(), nowhere.config_folder()), (None, None, None));
        assert!(World::real().known_folders().is_some_and(|known| known.home_dir().is_absolute()));
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
}
