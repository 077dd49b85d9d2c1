//! Runs other programs: to their end, in the background, on our own streams.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::fence::Fence;
use super::output::Keep;
use super::process::{Ask, Ended, GRACE, Process, Sink, StartOptions, StdinSource, lead_a_group, spawn};
use super::program::{Program, is_for_lookups};
use super::{Environment, World, WorldError, tree};

/// How long to wait for another git's lock.
const LOCK_PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 10 });

/// True if git stopped at a lock of another git: on the index, or on a reference.
fn is_lock_of_another(error: &str) -> bool {
    let is_taken = error.contains(".lock") && error.contains("File exists");
    is_taken || error.contains("cannot lock ref")
}

/// A program that keeps running after this process.
#[derive(Debug)]
pub(crate) struct ApartProgram {
    child: std::process::Child,
    shown: String,
}

impl ApartProgram {
    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended; `None` while it runs.
    pub(crate) fn ended(&mut self) -> Result<Option<Ended>, WorldError> {
        let status = self.child.try_wait();
        let status = status.map_err(|source| WorldError::Wait { program: self.shown.clone(), source })?;
        Ok(status.map(|status| {
            tree::forget(self.child.id());
            Ended::of(status)
        }))
    }
}

impl World {
    /// Runs another program to its end and returns its output. After its time limit it is killed, with everything it
    /// started.
    pub(crate) fn run(&self, program: &Program) -> Result<Finished, WorldError> {
        if program.timeout.is_none() && program.stdin.is_empty() {
            return self.run_unwatched(program);
        }
        self.run_in_time(program, Instant::now()).0
    }

    /// Like [`Self::run`], with the elapsed time until its end.
    pub(crate) fn timed(&self, program: &Program) -> (Result<Finished, WorldError>, Duration) {
        self.run_in_time(program, Instant::now())
    }

    /// A program without input and limit needs no extra threads. Git is called often.
    fn run_unwatched(&self, program: &Program) -> Result<Finished, WorldError> {
        let mut command = self.command(program);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = spawn(&mut command, program)?;
        let id = child.id();
        let output = child.wait_with_output();
        tree::forget(id);
        let output = output.map_err(|source| WorldError::Wait { program: program.to_string(), source })?;
        let (code, signal) = (output.status.code(), Ended::of(output.status).signal());
        Ok(Finished { code, signal, stdout: output.stdout, stderr: output.stderr })
    }

    fn run_in_time(&self, program: &Program, started: Instant) -> (Result<Finished, WorldError>, Duration) {
        let all = Sink::Kept(Keep::Bytes(usize::MAX));
        let manner = StartOptions {
            stdin: StdinSource::Given,
            stdout: all,
            stderr: all,
            is_group: false,
            leaves_nothing: false,
        };
        let mut process = match self.start_as(program, manner) {
            Ok(process) => process,
            Err(error) => return (Err(error), started.elapsed()),
        };
        let ended = end_in_time(&mut process, program, Duration::ZERO);
        let took = process.ran_for();
        let finished = ended.and_then(|ended| match (ended, program.timeout) {
            (Ended::OutOfTime, limit) => {
                Err(WorldError::TimedOut { program: program.to_string(), limit: limit.unwrap_or_default() })
            }
            (ended, _) => {
                let (stdout, stderr) = process.bytes();
                Ok(Finished { code: ended.code(), signal: ended.signal(), stdout, stderr })
            }
        });
        (finished, took)
    }

    /// Starts a program in the background: its output is ignored, it is not waited for, and it is not stopped with us.
    pub(crate) fn start_beside(&self, program: &Program) -> Result<(), WorldError> {
        let mut command = self.command(program);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        lead_a_group(&mut command);
        spawn(&mut command, program).map(drop)
    }

    /// Starts a program that keeps running after this process: in a session without a terminal, with its output in a
    /// file that is made or emptied.
    pub(crate) fn start_apart(&self, program: &Program, output: &Path) -> Result<ApartProgram, WorldError> {
        let shown = program.to_string();
        let failed = |source| WorldError::Start { program: shown.clone(), source };
        let file = File::create(output).map_err(failed)?;
        let errors = file.try_clone().map_err(failed)?;
        let mut command = self.command(program);
        command.stdin(Stdio::null()).stdout(file).stderr(errors);
        lead_a_group(&mut command);
        Ok(ApartProgram { child: spawn(&mut command, program)?, shown })
    }

    /// Runs another program on this process's own streams. After its time limit it is stopped, with everything it
    /// started.
    pub(crate) fn hand_over(&self, program: &Program) -> Result<Ended, WorldError> {
        // A separate group can be signalled as a whole. At a terminal the program stays in ours, so that the person can
        // stop it.
        let is_group = cfg!(unix) && !std::io::stdin().is_terminal();
        let (stdin, ours) = (StdinSource::Ours, Sink::Ours);
        let manner = StartOptions { stdin, stdout: ours, stderr: ours, is_group, leaves_nothing: false };
        end_in_time(&mut self.start_as(program, manner)?, program, GRACE)
    }

    /// Like [`Self::hand_over`], in a separate group and without input. Returns the last `most` bytes of its standard
    /// output, and the time it took.
    pub(crate) fn run_for_tail(&self, program: &Program, most: usize) -> Result<Ran, WorldError> {
        let (stdin, stdout) = (StdinSource::Given, Sink::Kept(Keep::Bytes(most)));
        let manner = StartOptions { stdin, stdout, stderr: Sink::Nothing, is_group: true, leaves_nothing: false };
        self.run_as(program, manner)
    }

    /// Like [`Self::run_for_tail`], with the end of both streams. What the program leaves running is ended.
    pub(crate) fn run_for_both_tails(&self, program: &Program, most: usize) -> Result<Ran, WorldError> {
        let kept = Sink::Kept(Keep::Bytes(most));
        let manner = StartOptions {
            stdin: StdinSource::Given,
            stdout: kept,
            stderr: kept,
            is_group: true,
            leaves_nothing: true,
        };
        self.run_as(program, manner)
    }

    fn run_as(&self, program: &Program, manner: StartOptions) -> Result<Ran, WorldError> {
        let mut process = self.start_as(program, manner)?;
        let ended = end_in_time(&mut process, program, GRACE)?;
        let (output, errors) = process.bytes();
        Ok(Ran { ended, output, errors, took: process.ran_for() })
    }

    /// Runs `git` in `folder`.
    pub(crate) fn git<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Finished, WorldError> {
        self.run(&Program::git(folder).arguments(arguments))
    }

    /// `git` in `folder` for a rehearsal: it starts no filter, no hook and no remote helper, whatever the settings
    /// name.
    pub(crate) fn still_git(&self, folder: &Path) -> Program {
        let names =
            ["config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$"];
        let told = self.git(folder, names).map(|finished| finished.stdout).unwrap_or_default();
        let told = String::from_utf8_lossy(&told).into_owned();
        let mut git = Program::git(folder).without_remotes().arguments(["-c", "core.hooksPath=/dev/null"]);
        for key in told.split('\0').filter(|key| !key.is_empty()) {
            let value = if key.ends_with(".required") { "false" } else { "" };
            git = if key.contains('=') {
                // `-c` ends a key at its first `=`.
                let variable = format!("GSD_GIT_FILTER_{}", value.len());
                git.arguments([format!("--config-env={key}={variable}")]).variable(variable, value)
            } else {
                git.arguments(["-c".to_owned(), format!("{key}={value}")])
            };
        }
        git
    }

    /// Runs `git`; if another git has a lock of the repository, tries again for a while.
    pub(crate) fn git_in_turn(&self, program: &Program) -> Result<Finished, WorldError> {
        let mut waited = Duration::ZERO;
        // Several calls that wait for the same lock should retry at different times.
        let mut seed = u64::from(self.process()) ^ self.now().milliseconds().unsigned_abs();
        loop {
            let finished = self.run(program)?;
            if finished.success() || !is_lock_of_another(&finished.error_text()) || waited >= LOCK_PATIENCE {
                return Ok(finished);
            }
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pause = Duration::from_millis(50 + (seed >> 33) % 200);
            self.pause(pause);
            waited += pause;
        }
    }

    /// Like [`Self::git`], to ask which files differ from what is committed. To compare a file, git runs it through the
    /// filter set for it. A filter of the user is used; one from the repository's own settings came with it and is not.
    /// A submodule has its own settings: it differs if another commit is checked out in it, and its files are not
    /// compared. A git that does not report where its settings come from (before 2.26) is not used; the call fails.
    /// `names_no_filter` returns true for a folder whose repository certainly sets no filter; git is then not asked for
    /// the settings.
    pub(crate) fn git_differences<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        names_no_filter: impl Fn(&Path) -> bool,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Finished, WorldError> {
        let mut told = String::new();
        if !names_no_filter(folder) {
            let keys = r"^filter\..*\.(clean|process|required)$";
            let asked = self.git(folder, ["config", "--show-scope", "--null", "--get-regexp", keys])?;
            // 1: no filter is set.
            if !matches!(asked.code, Some(0 | 1)) {
                return Ok(asked);
            }
            told = String::from_utf8_lossy(&asked.stdout).into_owned();
        }
        let settings = filters_of_the_user(&told);
        // Every git supports `-c`, which ends a key at its first `=`.
        if let Some(key) = settings.keys().find(|key| key.contains('=')) {
            let why = format!("git is not run: the settings of this repository define the filter `{key}`");
            return Ok(Finished { stderr: why.into_bytes(), ..Finished::default() });
        }
        let settings = settings.iter().flat_map(|(key, value)| ["-c".to_owned(), format!("{key}={value}")]);
        let settings = settings.chain(one_by_one(folder));
        let mut arguments: Vec<OsString> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let verb = arguments.iter().position(|argument| !argument.as_encoded_bytes().starts_with(b"-"));
        let behind_verb = verb.map_or(arguments.len(), |verb| verb + 1);
        arguments.insert(behind_verb, "--ignore-submodules=dirty".into());
        self.run(&Program::git(folder).arguments(settings).arguments(arguments))
    }

    /// The file of this program as it runs: the file on the disk may have been replaced.
    fn own_file(&self) -> PathBuf {
        let running = || cfg!(target_os = "linux").then(|| PathBuf::from("/proc/self/exe"));
        let named = || self.executable.clone().or_else(running).map_or_else(|| self.executable(), Ok);
        named().unwrap_or_else(|_| "gsd-tools".into())
    }

    /// Like [`Self::own_file`], under a name that other processes can use too. `None` in tests, which are another
    /// program.
    #[cfg_attr(not(any(test, debug_assertions)), expect(clippy::unnecessary_wraps, reason = "in tests there is none"))]
    pub(super) fn file_for_others(&self) -> Option<PathBuf> {
        match &self.environment {
            Environment::Inherited if cfg!(target_os = "linux") => Some(format!("/proc/{}/exe", self.process()).into()),
            Environment::Inherited => Some(self.own_file()),
            #[cfg(any(test, debug_assertions))]
            Environment::Fixed(_) => self.executable.clone(),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts programs")]
    pub(super) fn command(&self, program: &Program) -> Command {
        let mut command = Command::new(&program.name);
        command.args(&program.arguments);
        if program.is_called_through_us() {
            let fence = program.fence.clone().unwrap_or_else(Fence::open);
            command = fence.put_around(&command, &self.own_file());
        }
        match &self.environment {
            Environment::Inherited if program.is_apart => {
                command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_for_lookups(name)));
            }
            Environment::Inherited => {}
            #[cfg(any(test, debug_assertions))]
            Environment::Fixed(variables) => {
                let given = |name: &OsStr| !program.is_apart || is_for_lookups(name);
                command.env_clear().envs(variables.iter().filter(|(name, _)| given(name.as_ref())));
            }
        }
        for name in &program.removed {
            command.env_remove(name);
        }
        command.envs(program.variables.iter().map(|(name, value)| (name, value)));
        if !program.is_called_through_us() {
            self.look_in_fixed_folders(&mut command);
        }
        if let Some(mark) = tree::left_alone(|| self.variable(tree::MARK)) {
            command.env(tree::MARK, mark);
        }
        let apart = || self.home().filter(|home| home.is_dir()).unwrap_or_else(std::env::temp_dir);
        let folder = program.folder.clone().or_else(|| program.is_apart.then(apart));
        if let Some(folder) = folder.or_else(|| self.folder.clone()) {
            // Some programs trust `PWD` more than the system: they would work in our caller's folder.
            command.env("PWD", &folder).env_remove("OLDPWD").current_dir(folder);
        }
        command
    }
}

impl World {
    /// Removes folders from `PATH` that are not absolute. They depend on where a program is started, which may be a
    /// folder that others can write to: a `git` there would be run. Fenced programs may still find such programs.
    fn look_in_fixed_folders(&self, command: &mut Command) {
        let given = command.get_envs().find(|(name, _)| *name == "PATH").map(|(_, value)| value.map(OsStr::to_owned));
        let Some(path) = given.unwrap_or_else(|| self.path_variable("PATH").map(PathBuf::into_os_string)) else {
            return;
        };
        let fixed: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        if fixed.len() == std::env::split_paths(&path).count() {
            return;
        }
        match std::env::join_paths(&fixed) {
            Ok(path) if !fixed.is_empty() => command.env("PATH", path),
            // An empty value would mean the folder of the program.
            _ => command.env_remove("PATH"),
        };
    }
}

/// The result of a program that ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Finished {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// The signal that ended it, if known.
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Finished {
    pub(crate) fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// Standard output as text, without the line breaks at its end.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches(['\n', '\r']).to_owned()
    }

    /// Standard error as text, without the line breaks at its end.
    pub(crate) fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end_matches(['\n', '\r']).to_owned()
    }
}

/// The result of a program for which only the end of its output matters.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) ended: Ended,
    /// The end of its standard output.
    pub(crate) output: Vec<u8>,
    /// The end of its standard error, if asked for.
    pub(crate) errors: Vec<u8>,
    pub(crate) took: Duration,
}

/// Makes git check files one after the other: from a thousand files on it starts threads that cost half as much again.
/// They only pay off with many files.
fn one_by_one(folder: &Path) -> impl Iterator<Item = String> {
    const LARGE: u64 = 2_000_000;
    let is_small = folder.join(".git/index").metadata().is_ok_and(|index| index.len() < LARGE);
    ["-c", "core.preloadIndex=false"].into_iter().filter(move |_| is_small).map(str::to_owned)
}

/// The filter settings of the repository, replaced by the user's own values or made ineffective. The text is git's list
/// of all of them: scope, key and value; the last one counts.
fn filters_of_the_user(told: &str) -> BTreeMap<&str, &str> {
    let mut fields = told.split('\0');
    let mut settings = Vec::new();
    while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
        let (key, value) = setting.split_once('\n').unwrap_or((setting, ""));
        settings.push((matches!(scope, "local" | "worktree"), key, value));
    }
    let of_repository = settings.iter().filter(|(is_of_repository, ..)| *is_of_repository);
    let of_user = |wanted: &str| {
        let own = settings.iter().rfind(|(is_of_repository, key, _)| !is_of_repository && *key == wanted);
        own.map_or(if wanted.ends_with(".required") { "false" } else { "" }, |(_, _, value)| *value)
    };
    of_repository.map(|(_, key, _)| (*key, of_user(key))).collect()
}

/// Returns how the program ended, or that it was stopped when its time was up.
fn end_in_time(process: &mut Process, program: &Program, grace: Duration) -> Result<Ended, WorldError> {
    let until = program.timeout.and_then(|limit| Instant::now().checked_add(limit));
    if let Some(ended) = process.wait(until)? {
        return Ok(ended);
    }
    if grace.is_zero() { process.kill() } else { process.stop(Ask::Terminate, grace) }?;
    Ok(Ended::OutOfTime)
}

#[cfg(test)]
mod tests {
    use super::super::fence::Fence;
    use super::*;

    fn world<const N: usize>(variables: [(&str, &str); N]) -> World {
        World::with(variables, &std::env::temp_dir())
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
    fn a_program_with_our_streams_reports_how_it_ended() {
        let shell = |line: &str| Program::new("sh").arguments(["-c", line]);
        let world = World::real();
        assert_eq!(world.hand_over(&shell("exit 7")).unwrap(), Ended::Code(7));
        assert_eq!(world.hand_over(&shell("kill -9 $$")).unwrap(), Ended::Signal(9));
        let endless = shell("sleep 60 & sleep 60").timeout(Duration::from_millis(30));
        assert_eq!(world.hand_over(&endless).unwrap(), Ended::OutOfTime);
    }

    #[cfg(unix)]
    #[test]
    fn the_end_of_an_output_is_kept_and_programs_left_running_are_not_waited_for() {
        let shell = |line: &str| Program::new("sh").arguments(["-c", line]).timeout(Duration::from_secs(20));
        let ran = World::real().run_for_tail(&shell("printf 0123456789; sleep 60 & exit 3"), 4).unwrap();
        assert_eq!((ran.ended, ran.output.as_slice()), (Ended::Code(3), &b"6789"[..]));
        let endless = shell("echo x; sleep 60 & sleep 60").timeout(Duration::from_millis(300));
        let ran = World::real().run_for_tail(&endless, 100).unwrap();
        assert_eq!((ran.ended, ran.output.as_slice()), (Ended::OutOfTime, &b"x\n"[..]));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_with_a_limit_returns_before_programs_it_left_running() {
        let started = Instant::now();
        let program = Program::new("sh").arguments(["-c", "sleep 300 & echo out; echo err >&2; exit 3"]);
        let finished = World::real().run(&program.timeout(Duration::from_secs(200))).unwrap();
        assert_eq!((finished.code, finished.text(), finished.error_text()), (Some(3), "out".into(), "err".into()));
        assert!(started.elapsed() < Duration::from_secs(100), "{:?}", started.elapsed());
    }

    #[test]
    fn filters_of_the_repository_are_replaced_by_those_of_the_user() {
        let told = "global\0filter.lfs.clean\ngit-lfs clean\0global\0filter.lfs.required\ntrue\0local\0filter.lfs.clean\nevil\0\
                    local\0filter.a=b.process\nevil\nagain\0worktree\0filter.c.required\0";
        let settings = filters_of_the_user(told).into_iter().collect::<Vec<_>>();
        let expected =
            [("filter.a=b.process", ""), ("filter.c.required", "false"), ("filter.lfs.clean", "git-lfs clean")];
        assert_eq!(settings, expected);
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = World::real().run(&Program::new("gsd-no-such-program")).unwrap_err();
        assert_eq!(error.to_string(), "`gsd-no-such-program` is not installed or not in PATH");
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_not_looked_up_in_its_start_folder_unless_it_is_fenced() {
        let temporary = crate::testing::folder();
        for (path, wanted) in [
            (".:/usr/bin:./node_modules/.bin:/bin:", Some("/usr/bin:/bin")),
            (":/usr/bin", Some("/usr/bin")),
            ("/usr/bin:/bin", Some("/usr/bin:/bin")),
            (".", None),
        ] {
            let world = world([("PATH", path), ("A", "b")]);
            let of = |program: &Program| {
                let command = world.command(program);
                let found = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
                found.map(|path| path.to_str().unwrap().to_owned())
            };
            let mut program = Program::new("git").folder(temporary.path());
            assert_eq!(of(&program).as_deref(), wanted, "{path}");
            program.fence = Some(Fence::around([temporary.path()]));
            assert_eq!(of(&program).as_deref(), Some(path));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_gets_only_the_folder_it_is_started_in() {
        let temporary = crate::testing::folder();
        let path = World::real().variable("PATH").unwrap_or_default();
        let world = world([("PATH", &path), ("PWD", "/nowhere"), ("OLDPWD", "/elsewhere")]);
        for fence in [None, Some(Fence::around([temporary.path()]))] {
            let mut program = Program::new("env").folder(temporary.path());
            program.fence = fence;
            let seen = world.command(&program);
            let of = |name: &str| seen.get_envs().find(|(it, _)| *it == name).and_then(|(_, value)| value);
            assert_eq!(of("PWD"), Some(temporary.path().as_os_str()));
            assert_eq!(of("OLDPWD"), None);
        }
        let seen = world.run(&Program::new("env").folder(temporary.path())).unwrap().text();
        assert!(seen.lines().any(|line| line == format!("PWD={}", temporary.path().display())), "{seen}");
        assert!(!seen.contains("OLDPWD="), "{seen}");
    }

    #[cfg(unix)]
    #[test]
    fn git_does_not_get_a_repository_from_the_environment() {
        let path = World::real().variable("PATH").unwrap_or_default();
        let world = world([("PATH", &path), ("GIT_DIR", "/nowhere"), ("GIT_AUTHOR_NAME", "Kept")]);
        let mut program = Program::git(&std::env::temp_dir());
        (program.name, program.arguments) = ("sh".into(), vec!["-c".into(), "env".into()]);
        let seen = world.run(&program).unwrap().text();
        assert!(!seen.contains("GIT_DIR="), "{seen}");
        assert!(seen.contains("GIT_AUTHOR_NAME=Kept"), "{seen}");
    }
}
