//! Running other programs: to their end, beside us, on our own streams.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::program::{Program, is_for_lookups};
use super::{Environment, World, WorldError};

/// How long a program that is asked to end may take over it.
const GRACE: Duration = Duration::from_secs(2);

impl World {
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
        let stdout = Output::of(child.stdout.take(), usize::MAX);
        let stderr = Output::of(child.stderr.take(), usize::MAX);
        let code = wait(&mut child, program)?;
        let patience = Instant::now() + GRACE;
        Ok(Finished { code, stdout: stdout.until(patience), stderr: stderr.until(patience) })
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
        let output = Output::of(child.stdout.take(), most);
        let ended = self.end_in_time(&mut child, program, cfg!(unix))?;
        let took = started.elapsed();
        Ok(Ran { ended, output: output.until(Instant::now() + GRACE), took })
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

    /// As [`Self::git`], to ask which files differ from what is committed. To compare a file, git runs it through the filter
    /// that is set for it. A filter of the user's is used; one of the repository's own settings came with it, and is not. A
    /// submodule has settings of its own: it differs where another commit is checked out in it, and no file of it is
    /// compared. A git that does not say where its settings come from, as before 2.26, is not asked: it has failed.
    pub(crate) fn git_differences<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Finished, WorldError> {
        let settings = ["config", "--show-scope", "--null", "--get-regexp", r"^filter\..*\.(clean|process|required)$"];
        let told = self.git(folder, settings)?;
        // 1: there is none.
        if !matches!(told.code, Some(0 | 1)) {
            return Ok(told);
        }
        let told = String::from_utf8_lossy(&told.stdout);
        let settings = filters_of_the_user(&told);
        // Every git knows `-c`, which ends a key at its first `=`.
        if let Some(key) = settings.keys().find(|key| key.contains('=')) {
            let why = format!("git is not asked: the settings of this repository have a filter of the name `{key}`");
            return Ok(Finished { code: None, stdout: Vec::new(), stderr: why.into_bytes() });
        }
        let settings = settings.iter().flat_map(|(key, value)| ["-c".to_owned(), format!("{key}={value}")]);
        let mut arguments: Vec<OsString> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let verb = arguments.iter().position(|argument| !argument.as_encoded_bytes().starts_with(b"-"));
        let behind_verb = verb.map_or(arguments.len(), |verb| verb + 1);
        arguments.insert(behind_verb, "--ignore-submodules=dirty".into());
        self.run(&Program::git(folder).arguments(settings).arguments(arguments))
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
        let folder = program.folder.clone().or_else(|| program.is_apart.then(apart));
        if let Some(folder) = folder.or_else(|| self.folder.clone()) {
            command.current_dir(folder);
        }
        command
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

/// The settings of filters that the repository makes, as the user's own settings have them, or without effect. `told` is
/// what git tells of all of them: scope, key and value, the last one counts.
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

fn start(command: &mut Command, program: &Program) -> Result<Child, WorldError> {
    if let Some(folder) = &program.embedded {
        return Err(WorldError::Embedded { folder: folder.clone() });
    }
    command.spawn().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => WorldError::NoProgram { program: program.name.to_string_lossy().into_owned() },
        _ => WorldError::Start { program: program.to_string(), source },
    })
}

/// What a program writes to a pipe, read on a thread of its own, so that no full pipe stops the program.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    closed: mpsc::Receiver<()>,
}

impl Output {
    /// Begins to read, and keeps the last `most` bytes.
    fn of(pipe: Option<impl Read + Send + 'static>, most: usize) -> Self {
        let (sender, closed) = mpsc::channel();
        let kept = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut pipe) = pipe {
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
                sender.send(())
            });
        }
        Self { kept, closed }
    }

    /// What was written by the end of the pipe, or until `patience` ends: what the program started and left running may
    /// hold the pipe for as long as it likes.
    fn until(self, patience: Instant) -> Vec<u8> {
        let _ = self.closed.recv_timeout(patience.saturating_duration_since(Instant::now()));
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
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

    #[cfg(unix)]
    #[test]
    fn a_program_with_a_limit_is_not_waited_for_by_what_it_left_running() {
        let started = Instant::now();
        let program = Program::new("sh").arguments(["-c", "sleep 30 & echo out; echo err >&2; exit 3"]);
        let finished = World::real().run(&program.timeout(Duration::from_secs(20))).unwrap();
        assert_eq!((finished.code, finished.text(), finished.error_text()), (Some(3), "out".into(), "err".into()));
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }

    #[test]
    fn filters_of_the_repository_give_way_to_those_of_the_user() {
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
