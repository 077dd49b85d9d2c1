//! A started program as a value: its output, whether it still runs, and its end.
//!
//! Every program is started here; `World::run` and similar functions wait for it. `World::start` returns a value: its
//! lines as they come, how long it has been idle, its end. Lines are cut at 4 MB, and a program whose lines are not
//! read waits at 16 MB of them, as at a full pipe. `Process::stop` sends `SIGTERM` or `SIGINT`, waits, and kills what
//! is left; a `Process` that is dropped is killed. Git without a time limit gets none of this: the caller waits for
//! it, and what it leaves running, such as `gc`, continues.

use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::fence::call;
use super::followed::{IsOver, follow};
use super::output::{Keep, Line, Output, Stream, Taken};
use super::program::Program;
use super::tree::{self, Mark, ProcessTree};
use super::{World, WorldError};

/// How long pipes are still read if another process keeps them open after the program has ended.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// Pauses between checks for the end of a program. Most close their streams when they end, which is noticed at once.
const PAUSES: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(20)];

/// A program that runs or has ended. If this is dropped before its end, the program and everything it started are
/// killed.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    name: String,
    tree: ProcessTree,
    output: Output,
    started: Instant,
    ended: Option<(Ended, Instant)>,
    /// Whether programs it leaves running are ended with it.
    leaves_nothing: bool,
    /// Whether it left something running when it ended without being stopped.
    has_left_running: bool,
    /// Sends messages to the program's input; `None` once the input is closed.
    telling: Option<SyncSender<Vec<u8>>>,
    /// Used if standard output is a file: whether the output is complete.
    is_over: IsOver,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Code(i32),
    Signal(i32),
    /// It was stopped after its time limit.
    OutOfTime,
}

/// What a program did next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Line(Line),
    /// It has ended, nothing it started still runs, and all its output was taken.
    Ended(Ended),
    /// Nothing happened in the given time.
    Nothing,
}

/// How a program is asked to end before it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// `SIGINT`, as Ctrl-C at a terminal sends it.
    Interrupt,
    /// `SIGTERM`.
    Terminate,
}

/// The result of stopping a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stopped {
    pub(crate) ended: Ended,
    /// The ids of processes it started that could not be ended.
    pub(crate) survivors: Vec<u32>,
}

/// Where the streams of a program lead, and whether programs it starts end with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartOptions {
    pub(super) stdin: StdinSource,
    pub(super) stdout: Sink,
    pub(super) stderr: Sink,
    /// Whether it leads its own process group: a signal to our group, as from Ctrl-C, does not reach it.
    pub(super) is_group: bool,
    pub(super) leaves_nothing: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StdinSource {
    Ours,
    /// The bytes of [`Program::stdin`], or nothing.
    Given,
    /// The same, followed by the messages of [`Process::tell`].
    Told,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sink {
    Ours,
    Nothing,
    Kept(Keep),
}

impl World {
    /// Starts a program in its own group, whose lines are read while it runs. When it ends, however it does, everything
    /// it started and left running is ended too. Programs ignore the signals that this process ignores;
    /// [`super::signals::Requests::watch`] stops that for the signals that request an end.
    pub(crate) fn start(&self, program: &Program) -> Result<Process, WorldError> {
        let lines = Sink::Kept(Keep::Lines);
        let manner = StartOptions {
            stdin: StdinSource::Given,
            stdout: lines,
            stderr: lines,
            is_group: true,
            leaves_nothing: true,
        };
        self.start_as(program, manner)
    }

    /// Like [`Self::start`], for a program that gets more input while it runs.
    pub(crate) fn start_talking(&self, program: &Program) -> Result<Process, WorldError> {
        let lines = Sink::Kept(Keep::Lines);
        let manner = StartOptions {
            stdin: StdinSource::Told,
            stdout: lines,
            stderr: lines,
            is_group: true,
            leaves_nothing: true,
        };
        self.start_as(program, manner)
    }

    pub(super) fn start_as(&self, program: &Program, manner: StartOptions) -> Result<Process, WorldError> {
        let tree = ProcessTree::of(program.mark.clone().unwrap_or_else(Mark::new));
        let mut command = self.command(program);
        command.env(tree::MARK, tree.value(self.variable(tree::MARK).as_deref()));
        let input = program.stdin.clone();
        command.stdin(match manner.stdin {
            StdinSource::Ours => Stdio::inherit(),
            StdinSource::Given if input.is_empty() => Stdio::null(),
            StdinSource::Given | StdinSource::Told => Stdio::piped(),
        });
        command.stdout(manner.stdout.stdio()).stderr(manner.stderr.stdio());
        let is_over = IsOver::default();
        let wants_file = program.writes_to_file && matches!(manner.stdout, Sink::Kept(_));
        let followed = if wants_file { follow(&is_over) } else { None };
        let followed = followed.map(|(written, followed)| {
            command.stdout(written);
            followed
        });
        if manner.is_group {
            lead_a_group(&mut command);
        }
        let mut child = spawn(&mut command, program)?;
        let output = Output::new();
        let telling = child.stdin.take().and_then(|pipe| write(pipe, input, manner.stdin == StdinSource::Told));
        if let (Some(pipe), Sink::Kept(keep)) = (child.stdout.take(), manner.stdout) {
            output.read(Stream::Stdout, pipe, keep);
        }
        if let (Some(followed), Sink::Kept(keep)) = (followed, manner.stdout) {
            output.read(Stream::Stdout, followed, keep);
        }
        if let (Some(pipe), Sink::Kept(keep)) = (child.stderr.take(), manner.stderr) {
            output.read(Stream::Stderr, pipe, keep);
        }
        let (name, leaves_nothing) = (program.to_string(), manner.leaves_nothing);
        let started = Instant::now();
        let has_left_running = false;
        Ok(Process {
            child,
            name,
            tree,
            output,
            started,
            ended: None,
            leaves_nothing,
            has_left_running,
            telling,
            is_over,
        })
    }
}

/// How many unread messages may wait for a program.
const MOST_MESSAGES: usize = 256;

/// Writes to a program on a separate thread. A program that does not read its input may close the pipe; that is not an
/// error here.
fn write(mut pipe: ChildStdin, input: Vec<u8>, is_told_more: bool) -> Option<SyncSender<Vec<u8>>> {
    use std::io::Write;
    let (sender, messages) = sync_channel::<Vec<u8>>(MOST_MESSAGES);
    thread::spawn(move || {
        let mut result = pipe.write_all(&input);
        while result.is_ok() && is_told_more {
            let Ok(message) = messages.recv() else { return };
            result = pipe.write_all(&message).and_then(|()| pipe.flush());
        }
    });
    is_told_more.then_some(sender)
}

/// Starts a program that is not waited for through a [`Process`].
pub(super) fn spawn(command: &mut Command, program: &Program) -> Result<Child, WorldError> {
    if let Some(folder) = &program.embedded {
        return Err(WorldError::Embedded { folder: folder.clone() });
    }
    if program.is_called_through_us() {
        call::check(command, &program.name, program.fence.is_some())?;
    }
    tree::spawn(command).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => WorldError::NoProgram { program: program.name.to_string_lossy().into_owned() },
        _ => WorldError::Start { program: program.to_string(), source },
    })
}

#[cfg(unix)]
pub(super) fn lead_a_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
pub(super) fn lead_a_group(_command: &mut Command) {}

impl Process {
    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The mark by which everything it starts can be found, even after this process has died.
    pub(crate) fn mark(&self) -> &Mark {
        &self.tree.mark
    }

    /// The time from its start to its end, or to now.
    pub(crate) fn ran_for(&self) -> Duration {
        self.ended.map_or_else(Instant::now, |(_, at)| at).duration_since(self.started)
    }

    /// Sends a message to the program's standard input. False if the program does not read it: it has closed the pipe,
    /// or too many messages are unread.
    pub(crate) fn tell(&mut self, message: Vec<u8>) -> bool {
        self.telling.as_ref().is_some_and(|telling| telling.try_send(message).is_ok())
    }

    /// Ends the program's standard input.
    pub(crate) fn fall_silent(&mut self) {
        self.telling = None;
    }

    /// The processor time that the program and everything it started have used so far, or waited for. Processes that
    /// ended without being waited for are not included. `None` if the system does not report it.
    pub(crate) fn processor_time(&self) -> Option<Duration> {
        self.tree.processor_time(self.child.id())
    }

    /// How long it has written nothing. Lines still waiting for room count as written.
    pub(crate) fn idle(&self) -> Duration {
        self.output.idle()
    }

    /// Waits until `until` for the next line or the end. Lines are in order within each stream. A program is paused if
    /// too many of its lines are not taken.
    pub(crate) fn next(&mut self, until: Instant) -> Result<Next, WorldError> {
        let mut pause = PAUSES[0];
        loop {
            let taken = self.output.take();
            if let Taken::Line(line) = taken {
                return Ok(Next::Line(line));
            }
            if let Some((ended, at)) = self.ended {
                if matches!(taken, Taken::Closed) || at.elapsed() >= GRACE {
                    return Ok(Next::Ended(ended));
                }
            } else if self.look()?.is_some() {
                continue;
            }
            let Some(longer) = self.rest(pause, Some(until)) else { return Ok(Next::Nothing) };
            pause = longer;
        }
    }

    /// Waits for the end of the program until `until`, or without a limit; `None` if it has not ended by then.
    pub(super) fn wait(&mut self, until: Option<Instant>) -> Result<Option<Ended>, WorldError> {
        let mut pause = PAUSES[0];
        loop {
            if let Some(ended) = self.look()? {
                return Ok(Some(ended));
            }
            let Some(longer) = self.rest(pause, until) else { return Ok(None) };
            pause = longer;
        }
    }

    /// Waits for `pause`, or less if something happens, and returns the next pause; `None` when the time is up.
    fn rest(&self, pause: Duration, until: Option<Instant>) -> Option<Duration> {
        let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
        if rest.is_some_and(|rest| rest.is_zero()) {
            return None;
        }
        let pause = pause.min(rest.unwrap_or(pause));
        if self.output.is_open() {
            self.output.wait(pause);
        } else {
            thread::sleep(pause);
        }
        Some((pause * 2).min(PAUSES[1]))
    }

    /// Checks whether the program has ended; if so, ends what it left running.
    fn look(&mut self) -> Result<Option<Ended>, WorldError> {
        if let Some((ended, _)) = self.ended {
            return Ok(Some(ended));
        }
        if !self.has_ended().map_err(|source| self.lost(source))? {
            return Ok(None);
        }
        let at = Instant::now();
        if self.leaves_nothing {
            self.has_left_running = self.tree.has_others(self.child.id());
            // On Linux this happens before the program is waited for, so its id cannot be reused yet. On other systems
            // it already was.
            self.tree.end(Some(self.child.id()));
        }
        self.reap(at).map(Some)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn has_ended(&mut self) -> std::io::Result<bool> {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(&self.child)), look)?.is_some())
    }

    /// Other systems report the end only to a wait, or report it for a stopped process too.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn has_ended(&mut self) -> std::io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    fn reap(&mut self, at: Instant) -> Result<Ended, WorldError> {
        let status = self.child.wait().map_err(|source| self.lost(source))?;
        tree::forget(self.child.id());
        let ended = Ended::of(status);
        self.ended = Some((ended, at));
        self.is_over.set();
        Ok(ended)
    }

    fn lost(&self, source: std::io::Error) -> WorldError {
        WorldError::Wait { program: self.name.clone(), source }
    }

    /// Asks the program to end, gives it time, and then kills it and everything it started. Its last output can be
    /// taken afterwards; if there were too many lines, only the last ones.
    pub(crate) fn stop(&mut self, ask: Ask, grace: Duration) -> Result<Stopped, WorldError> {
        // It must not wait for room instead of ending.
        self.output.let_go();
        if self.look()?.is_none() {
            self.tree.remember(self.child.id());
            self.ask(ask);
            self.wait(Some(Instant::now() + grace))?;
        }
        self.kill()
    }

    /// Kills the program and everything it started.
    pub(super) fn kill(&mut self) -> Result<Stopped, WorldError> {
        self.output.let_go();
        let root = self.ended.is_none().then(|| self.child.id());
        let at = Instant::now();
        if root.is_some() {
            // If nothing else can be found, at least this process can be killed.
            let _ = self.child.kill();
        }
        let survivors = self.tree.end(root);
        let ended = match self.ended {
            Some((ended, _)) => ended,
            None => self.reap(at)?,
        };
        Ok(Stopped { ended, survivors })
    }

    /// Signals its group too, if it leads one: a shell does not forward signals.
    #[cfg(unix)]
    fn ask(&self, ask: Ask) {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let signal = match ask {
            Ask::Interrupt => Signal::INT,
            Ask::Terminate => Signal::TERM,
        };
        let process = Pid::from_child(&self.child);
        // A process that is already gone needs no signal.
        if kill_process_group(process, signal).is_err() {
            let _ = kill_process(process, signal);
        }
    }

    /// Other systems have no way to ask.
    #[cfg(not(unix))]
    fn ask(&self, _ask: Ask) {}

    /// The bytes of standard output and standard error, if they are kept as bytes. A program left running may keep the
    /// pipes open, so reading stops after a while.
    pub(super) fn bytes(&self) -> (Vec<u8>, Vec<u8>) {
        let (_, at) = self.ended.unwrap_or((Ended::OutOfTime, Instant::now()));
        self.output.wait_for_end(at + GRACE);
        self.output.bytes()
    }

    /// True if something it started was still running when it ended without being stopped. Only set if such programs
    /// are ended with it.
    pub(crate) fn has_left_running(&self) -> bool {
        self.has_left_running
    }

    /// How many unread lines were dropped while the program was stopped.
    pub(crate) fn lost_lines(&self) -> u64 {
        self.output.lost()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.output.let_go();
        if self.ended.is_none() {
            // An error cannot be reported any more.
            let _ = self.kill();
        }
        self.is_over.set();
    }
}

impl Sink {
    fn stdio(self) -> Stdio {
        match self {
            Self::Ours => Stdio::inherit(),
            Self::Nothing => Stdio::null(),
            Self::Kept(_) => Stdio::piped(),
        }
    }
}

impl Ended {
    pub(super) fn of(status: std::process::ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        Self::Code(status.code().unwrap_or(1))
    }

    /// The exit code; `None` if a signal ended it.
    pub(super) fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) | Self::OutOfTime => None,
        }
    }

    /// The signal that ended it.
    pub(super) fn signal(self) -> Option<i32> {
        match self {
            Self::Signal(signal) => Some(signal),
            Self::Code(_) | Self::OutOfTime => None,
        }
    }
}
