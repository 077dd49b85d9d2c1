//! The call `__fence`, through which this program becomes another one inside a fence; and whether this system has
//! fences.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

use super::value::Fence;
use super::variables;
use crate::world::{World, WorldError};

/// The word that starts this program as the first step of a program inside a fence.
pub(crate) const CALL: &str = "__fence";

/// The exit code if the fence could not be set up; the next two are for a program that could not be started. As in
/// `env`.
const UNFENCED: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// How well this system can enforce a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fencing {
    Full,
    /// Files outside can be emptied, or nothing can be moved between folders inside: Linux before 6.2.
    Partial,
    Unavailable,
}

impl Fence {
    /// Wraps `command` in this fence, by a call of this program.
    pub(in crate::world) fn put_around(&self, command: &Command, this_program: &Path) -> Command {
        let mut fenced = Command::new(this_program);
        let program = std::iter::once(command.get_program()).chain(command.get_args());
        fenced.arg(CALL).args(self.words(program));
        fenced
    }
}

impl World {
    /// How well this system can enforce a fence.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn fencing(&self) -> Fencing {
        system::fencing()
    }

    /// True if a fence can limit the ports that a program connects to.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn fences_ports(&self) -> bool {
        system::limits_ports()
    }

    /// Returns a shell line that runs `line` within `fence`; words after it become its parameters. It works as long as
    /// this process lives. `None` if the system has no fence.
    pub(crate) fn fenced_line(&self, fence: &Fence, line: &str) -> Option<String> {
        let this_program = self.file_for_others()?;
        if system::fencing() == Fencing::Unavailable {
            return None;
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", line]);
        let command = fence.put_around(&shell, &this_program);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        // A path that is not UTF-8 cannot be written in the line.
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let words = words.map(|word| word.to_str().map(quoted)).collect::<Option<Vec<_>>>()?;
        Some(words.join(" "))
    }
}

/// Checks that the system can fence a program and that the program exists: inside the fence it would be too late to
/// report it.
pub(in crate::world) fn check(command: &Command, program: &OsStr, is_limited: bool) -> Result<(), WorldError> {
    let (name, shown) = (Path::new(program), || program.to_string_lossy().into_owned());
    if is_limited && system::fencing() == Fencing::Unavailable {
        return Err(WorldError::NoFence { program: shown() });
    }
    let given = command.get_envs().find(|(name, _)| *name == "PATH").map(|(_, value)| value.map(OsStr::to_owned));
    let path = given.unwrap_or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let is_there = if name.components().count() > 1 || name.is_absolute() {
        command.get_current_dir().unwrap_or(Path::new("")).join(name).is_file()
    } else {
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    if is_there { Ok(()) } else { Err(WorldError::NoProgram { program: shown() }) }
}

/// Runs the call [`CALL`]: becomes the program within the fence, and returns only if that failed.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let (fence, program) = match Fence::read(arguments) {
        Ok(read) => read,
        Err(why) => return failed(UNFENCED, &why),
    };
    let Some((name, arguments)) = program.split_first() else { return failed(UNFENCED, "no program is named") };
    if let Err(why) = leave_terminal() {
        return failed(UNFENCED, &why);
    }
    keep_streams_alone();
    let mut command = Command::new(name);
    command.args(arguments);
    if !fence.is_open {
        set_variables(&mut command, &fence);
        if let Err(why) = system::restrict(&fence, &mut command) {
            return failed(UNFENCED, &why);
        }
    }
    let error = become_program(command);
    let code = if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN };
    failed(code, &format!("cannot run `{}`: {error}", name.to_string_lossy()))
}

fn failed(code: u8, why: &str) -> ExitCode {
    // If standard error is closed, the message cannot be reported.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("Error: fence: {why}\n").as_bytes());
    code.into()
}

/// Removes the variables that lead out of the fence, and sets those for temporary files.
fn set_variables(command: &mut Command, fence: &Fence) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if variables::is_known(&text) && !fence.keeps(&text) {
            command.env_remove(&name);
        }
    }
    if let Some(folder) = &fence.temporary {
        for name in ["TMPDIR", "TMP", "TEMP"] {
            command.env(name, folder);
        }
    }
}

/// Starts a session without a terminal: the program cannot type into the user's terminal, and Ctrl-C there does not
/// reach it. The process keeps its id and leads a group, like one that was started in its own group.
#[cfg(unix)]
fn leave_terminal() -> Result<(), String> {
    use rustix::process::setsid;
    if setsid().is_ok() {
        return Ok(());
    }
    if leads_session() {
        // Another program began this session for it. Without a terminal, the session cannot be the user's.
        let has_terminal = std::fs::File::open("/dev/tty").is_ok();
        return if has_terminal { Err("it leads the session of a terminal".to_owned()) } else { Ok(()) };
    }
    // A group leader cannot begin a session, so it moves to another group first.
    let went = go_to_group_of_parent() || go_to_group_of_child();
    let left = if went { setsid().map(drop) } else { Err(rustix::io::Errno::PERM) };
    left.map_err(|error| format!("it cannot leave the terminal: {error}"))
}

/// The group and session of a process, as numbered here. Anything outside of the pid namespace, such as the group and
/// session of the process that started a container, has the number 0, which is not a valid id.
#[cfg(target_os = "linux")]
fn group_and_session(process: impl std::fmt::Display) -> Option<(i32, i32)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may contain anything, even brackets.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(unix)]
fn leads_session() -> bool {
    use rustix::process::getpid;
    #[cfg(target_os = "linux")]
    let session = group_and_session("self").map(|(_, session)| session);
    #[cfg(not(target_os = "linux"))]
    let session = rustix::process::getsid(None).ok().map(|session| session.as_raw_nonzero().get());
    session == Some(getpid().as_raw_nonzero().get())
}

#[cfg(unix)]
fn go_to_group_of_parent() -> bool {
    use rustix::process::{Pid, getppid, setpgid};
    #[cfg(target_os = "linux")]
    let group = |parent: Pid| Pid::from_raw(group_and_session(parent)?.0);
    #[cfg(not(target_os = "linux"))]
    let group = |parent: Pid| rustix::process::getpgid(Some(parent)).ok();
    getppid().and_then(group).is_some_and(|group| setpgid(None, Some(group)).is_ok())
}

/// A group led by a child exists until the child is waited for, even after it has ended.
#[cfg(unix)]
fn go_to_group_of_child() -> bool {
    use rustix::process::{Pid, setpgid};
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::Stdio;
    let programs = std::env::current_exe().into_iter().chain([PathBuf::from("/bin/sh")]);
    let start = |program: PathBuf| {
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.arg("--version").process_group(0).spawn().ok()
    };
    let Some(mut child) = programs.into_iter().find_map(start) else { return false };
    let went = setpgid(None, Some(Pid::from_child(&child))).is_ok();
    let _ = child.kill();
    let _ = child.wait();
    went
}

#[cfg(not(unix))]
fn leave_terminal() -> Result<(), String> {
    Ok(())
}

/// Closes everything except the three standard streams when the program starts: other files that a shell left open are
/// not limited by the fence, and may be the terminal.
#[cfg(unix)]
fn keep_streams_alone() {
    close_fds::set_fds_cloexec(3, &[]);
}

#[cfg(not(unix))]
fn keep_streams_alone() {}

#[cfg(unix)]
fn become_program(mut command: Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(&mut command)
}

#[cfg(not(unix))]
fn become_program(_command: Command) -> std::io::Error {
    std::io::ErrorKind::Unsupported.into()
}

#[cfg(target_os = "linux")]
mod system {
    use std::process::Command;

    use super::super::kernel;
    use super::{Fence, Fencing};

    pub(super) use kernel::limits_ports;

    pub(super) fn fencing() -> Fencing {
        match kernel::limits_files() {
            (true, _) => Fencing::Full,
            (false, true) => Fencing::Partial,
            (false, false) => Fencing::Unavailable,
        }
    }

    pub(super) fn restrict(fence: &Fence, _command: &mut Command) -> Result<(), String> {
        kernel::restrict(fence)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::process::Command;

    use super::{Fence, Fencing};

    const SANDBOX: &str = "/usr/bin/sandbox-exec";

    pub(super) fn fencing() -> Fencing {
        let is_there = cfg!(target_os = "macos") && std::path::Path::new(SANDBOX).is_file();
        if is_there { Fencing::Full } else { Fencing::Unavailable }
    }

    pub(super) fn limits_ports() -> bool {
        false
    }

    /// Uses another program to limit it: `command` becomes the call of that program.
    pub(super) fn restrict(fence: &Fence, command: &mut Command) -> Result<(), String> {
        if fencing() == Fencing::Unavailable {
            return Err("this system has no fence".to_owned());
        }
        if fence.ports.is_some() {
            return Err("this system cannot limit the network".to_owned());
        }
        let mut limited = Command::new(SANDBOX);
        limited.arg("-p").arg(fence.profile()).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        *command = limited;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Program;

    #[test]
    fn a_program_in_a_fence_keeps_its_words_folder_and_variables() {
        let world = World::with([("PATH", "/nowhere:/bin")], Path::new("/"));
        let program = Program::new("sh")
            .arguments(["run", "x"])
            .variable("A", "b")
            .fenced(&Fence::around(["/w"]).hiding(["/h"]).sealed());
        assert_eq!(program.to_string(), "sh run");
        let command = world.command(&program);
        let words: Vec<&OsStr> = command.get_args().collect();
        assert_eq!(words, ["__fence", "--write", "/w", "--hide", "/h", "--sealed", "--", "sh", "run", "x"]);
        assert_eq!(command.get_current_dir(), Some(Path::new("/")));
        let variables: Vec<_> = command.get_envs().filter_map(|(name, value)| Some((name, value?))).collect();
        assert!(variables.contains(&(OsStr::new("A"), OsStr::new("b"))), "{variables:?}");
        assert!(variables.contains(&(OsStr::new("PATH"), OsStr::new("/nowhere:/bin"))), "{variables:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_line_in_a_fence_is_a_single_line_for_a_shell() {
        let mut world = World::with([], Path::new("/"));
        assert_eq!(world.fenced_line(&Fence::around(["/w"]), "true"), None, "the program of tests is another one");
        world.executable = Some("/bin/echo".into());
        let Some(line) = world.fenced_line(&Fence::around(["/it's"]), "echo 'a  b' \"$1\"") else {
            assert_eq!(world.fencing(), Fencing::Unavailable);
            return;
        };
        let said = World::real().run(&Program::new("sh").arguments(["-c", &format!("{line} x")])).unwrap().text();
        assert_eq!(said, "__fence --write /it's -- sh -c echo 'a  b' \"$1\" x");
    }

    #[test]
    fn a_program_that_cannot_be_started_is_reported_before_its_fence_is_made() {
        let world = World::real();
        for name in ["gsd-no-such-program", "./gsd-no-such-program", "/gsd-no-such-program"] {
            let program = Program::new(name).fenced(&Fence::around(["/w"]));
            let error = world.start(&program).unwrap_err();
            match world.fencing() {
                Fencing::Unavailable => assert!(matches!(error, WorldError::NoFence { program } if program == name)),
                _ => assert!(matches!(error, WorldError::NoProgram { program } if program == name)),
            }
        }
    }
}
