//! A limit on where a program, and all it starts, may write.
//!
//! On Linux the program is this one first, called as `__fence`, which has the kernel limit it (Landlock) and then becomes
//! the program: same process, same streams, same environment. Nothing can be taken back, by nobody below it. What is
//! limited is to create, change, rename, link and remove files, and to signal processes outside. The network is not, nor are
//! modes and times of files, sockets, and files that were opened before; reading is, where something is hidden. A program inside gains no
//! rights by being set-user-ID, as `sudo` is. On macOS `sandbox-exec` does the same from a profile.
//!
//! Rules only add: nothing below a folder that may be written to can be kept from it, and what is hidden is what is left
//! when all else may be read, see [`super::readable`]. The folders that it is in cannot be listed then. The `.git` of a linked worktree is a
//! file that names a folder elsewhere, so that the repository is out of reach, and only the file can be changed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::{World, WorldError};

/// The word by which this program is called to become a program within a fence.
pub(crate) const CALL: &str = "__fence";

/// Before a folder that may be written to, before what may not be read, for [`Fence::sealed`], and before the program.
const WRITE: &str = "--write";
const HIDE: &str = "--hide";
const SEALED: &str = "--sealed";
const PROGRAM: &str = "--";

/// How a call ends that could not set up its fence, or not start its program: as `env` does.
const UNFENCED: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// What every program may write to: devices that keep nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What a program may write to that is not sealed in: terminals, and memory that programs share.
const SHARED: &[&str] = &["/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

/// Where build tools keep what they fetched, below the home folder. Programs that are run from the search path are in none
/// of them.
const CACHES: &[&str] = &[
    ".bun/install/cache",
    ".cache",
    ".cargo/.global-cache",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/native",
    ".ivy2/cache",
    ".local/share/pnpm/store",
    ".m2/repository",
    ".npm",
    ".nuget/packages",
    ".pnpm-store",
    ".yarn/berry",
    "Library/Caches",
    "go/pkg/mod",
];

/// The folders and files that a program may write to, with all below them, and those that it cannot read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fence {
    writable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    is_sealed: bool,
}

/// How far this system can hold a program to a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fencing {
    Full,
    /// A file outside can be emptied, or nothing can be moved from folder to folder inside: Linux before 6.2.
    Partial,
    Unavailable,
}

impl Fence {
    /// A fence around these. What is not there when the program starts is left out.
    pub(crate) fn around<P: Into<PathBuf>>(writable: impl IntoIterator<Item = P>) -> Self {
        Self { writable: writable.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// The same, with these out of reach: what is in them can neither be read nor run. They are real paths, and in nothing
    /// that may be written to.
    pub(crate) fn hiding<P: Into<PathBuf>>(mut self, hidden: impl IntoIterator<Item = P>) -> Self {
        self.hidden.extend(hidden.into_iter().map(Into::into));
        self
    }

    /// The same without terminals and memory that programs share: by these, what runs in it could leave something.
    pub(crate) fn sealed(self) -> Self {
        Self { is_sealed: true, ..self }
    }

    fn devices(&self) -> impl Iterator<Item = &'static str> {
        DEVICES.iter().chain(SHARED.iter().filter(|_| !self.is_sealed)).copied()
    }

    /// `command` within this fence.
    pub(super) fn put_around(&self, command: &Command, this_program: &Path) -> Command {
        let mut fenced = if cfg!(target_os = "macos") {
            let mut fenced = Command::new("/usr/bin/sandbox-exec");
            fenced.arg("-p").arg(self.profile());
            fenced
        } else {
            let mut fenced = Command::new(this_program);
            let named = |name: &'static str, paths: &'_ [PathBuf]| -> Vec<OsString> {
                paths.iter().flat_map(|path| [name.into(), path.as_os_str().to_owned()]).collect()
            };
            fenced.arg(CALL).args(named(WRITE, &self.writable)).args(named(HIDE, &self.hidden));
            fenced.args(self.is_sealed.then_some(SEALED)).arg(PROGRAM);
            fenced
        };
        fenced.arg(command.get_program()).args(command.get_args());
        fenced
    }

    /// The profile of `sandbox-exec`. Links have to be followed before. The last rule that fits counts.
    fn profile(&self) -> OsString {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let writable: Vec<PathBuf> = self.writable.iter().map(real).collect();
        let mut profile = OsString::from("(version 1)\n(allow default)\n(deny file-write*)\n(allow file-write*");
        let add = |profile: &mut OsString, path: &Path| {
            // A path that is not UTF-8 cannot be written down, and is left out.
            if let Some(path) = path.to_str() {
                profile.push(format!("\n  (subpath \"{}\")", path.replace('\\', "\\\\").replace('"', "\\\"")));
            }
        };
        for device in self.devices() {
            add(&mut profile, Path::new(device));
        }
        for path in &writable {
            add(&mut profile, path);
        }
        profile.push(")\n");
        if !self.hidden.is_empty() {
            profile.push("(deny file-read* file-write* process-exec*");
            for path in &self.hidden {
                add(&mut profile, path);
            }
            profile.push(")\n");
        }
        profile
    }
}

impl World {
    /// How far this system can hold a program to a fence.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn fencing(&self) -> Fencing {
        system::fencing()
    }

    /// A line for a shell that runs `line` within `fence`, with words behind it as its parameters. It can be run for as long as
    /// this process lives; `None` where the system has no fence.
    pub(crate) fn fenced_line(&self, fence: &Fence, line: &str) -> Option<String> {
        let this_program = self.file_for_others()?;
        if system::fencing() == Fencing::Unavailable {
            return None;
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", line]);
        let command = fence.put_around(&shell, &this_program);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        // A path that is not UTF-8 cannot be written down.
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let words = words.map(|word| word.to_str().map(quoted)).collect::<Option<Vec<_>>>()?;
        Some(words.join(" "))
    }

    /// The folders in which build tools of this user keep what they fetched, those that are there.
    pub(crate) fn build_caches(&self) -> Vec<PathBuf> {
        let of_home = self.home().into_iter().flat_map(|home| CACHES.iter().map(move |cache| home.join(cache)));
        let named = ["CARGO_TARGET_DIR", "GOCACHE", "GOMODCACHE", "NPM_CONFIG_CACHE", "PIP_CACHE_DIR", "UV_CACHE_DIR"];
        let named = named.into_iter().chain(["XDG_CACHE_HOME"]).filter_map(|name| self.path_variable(name));
        named.chain(of_home).filter(|path| path.is_absolute() && path.symlink_metadata().is_ok()).collect()
    }
}

/// Whether the system can fence a program, and the program is there: within the fence it would be too late to say so.
pub(super) fn check(command: &Command, program: &OsStr) -> Result<(), WorldError> {
    let (name, shown) = (Path::new(program), || program.to_string_lossy().into_owned());
    if system::fencing() == Fencing::Unavailable {
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

/// The call [`CALL`]: becomes the program within the fence, and returns only where that failed.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut rest = arguments.iter();
    let mut fence = Fence::default();
    loop {
        match rest.next().map(|word| (word, word.to_str())) {
            Some((_, Some(WRITE))) => fence.writable.extend(rest.next().map(PathBuf::from)),
            Some((_, Some(HIDE))) => fence.hidden.extend(rest.next().map(PathBuf::from)),
            Some((_, Some(SEALED))) => fence.is_sealed = true,
            Some((_, Some(PROGRAM))) => break,
            Some((word, _)) => return failed(UNFENCED, &format!("`{}` is not known here", word.to_string_lossy())),
            None => return failed(UNFENCED, "no program is named"),
        }
    }
    let Some(name) = rest.next() else { return failed(UNFENCED, "no program is named") };
    if let Err(why) = system::restrict(&fence) {
        return failed(UNFENCED, &why);
    }
    let error = system::become_program(name, rest.as_slice());
    let code = if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN };
    failed(code, &format!("cannot run `{}`: {error}", name.to_string_lossy()))
}

fn failed(code: u8, why: &str) -> ExitCode {
    // Where standard error is closed there is nobody left to be told.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("Error: fence: {why}\n").as_bytes());
    code.into()
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::OsString;
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::Command;

    use landlock::{
        ABI, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
        RulesetStatus, Scope, path_beneath_rules,
    };

    use super::super::readable::readable_beside;
    use super::{Fence, Fencing};

    /// What a fence limits, in the terms of the first kernel that knows all of it, 6.2. Later ones could limit what
    /// devices are told, which would also hold for a terminal.
    const WHOLE: ABI = ABI::V3;

    pub(super) fn fencing() -> Fencing {
        let knows = |version| {
            let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            ruleset.handle_access(AccessFs::from_write(version)).and_then(Ruleset::create).is_ok()
        };
        match (knows(WHOLE), knows(ABI::V1)) {
            (true, _) => Fencing::Full,
            (false, true) => Fencing::Partial,
            (false, false) => Fencing::Unavailable,
        }
    }

    pub(super) fn restrict(fence: &Fence) -> Result<(), String> {
        let readable = readable_beside(&fence.hidden, &fence.writable)?;
        match apply(fence, &readable) {
            Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => Ok(()),
            Ok(RulesetStatus::NotEnforced) => Err("this kernel has no Landlock".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn apply(fence: &Fence, readable: &[PathBuf]) -> Result<RulesetStatus, RulesetError> {
        let writes = AccessFs::from_write(WHOLE);
        // What every kernel with a fence knows.
        let reads = if fence.hidden.is_empty() { BitFlags::EMPTY } else { AccessFs::from_read(ABI::V1) };
        let ruleset = Ruleset::default().handle_access(writes | reads)?.scope(Scope::Signal)?.create()?;
        let ruleset = ruleset.add_rules(path_beneath_rules(fence.devices(), writes | reads))?;
        let ruleset = ruleset.add_rules(path_beneath_rules(&fence.writable, writes | reads))?;
        let ruleset = ruleset.add_rules(path_beneath_rules(readable, reads))?;
        Ok(ruleset.restrict_self()?.ruleset)
    }

    #[expect(clippy::disallowed_methods, reason = "the room that starts programs, in whose place this one is")]
    pub(super) fn become_program(name: &OsString, arguments: &[OsString]) -> std::io::Error {
        Command::new(name).args(arguments).exec()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::ffi::OsString;

    use super::{Fence, Fencing};

    pub(super) fn fencing() -> Fencing {
        let is_there = cfg!(target_os = "macos") && std::path::Path::new("/usr/bin/sandbox-exec").is_file();
        if is_there { Fencing::Full } else { Fencing::Unavailable }
    }

    pub(super) fn restrict(_fence: &Fence) -> Result<(), String> {
        Err("only Linux is fenced in this way".to_owned())
    }

    pub(super) fn become_program(_name: &OsString, _arguments: &[OsString]) -> std::io::Error {
        std::io::ErrorKind::Unsupported.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Program;

    #[test]
    fn a_profile_lets_write_to_what_is_named_and_to_devices_alone() {
        let fence = Fence::around(["/w/one", "/w/t\"w\\o"]);
        let text = fence.profile().into_string().unwrap();
        assert!(text.starts_with("(version 1)\n(allow default)\n(deny file-write*)\n(allow file-write*\n"), "{text}");
        assert!(text.ends_with("\n  (subpath \"/w/one\")\n  (subpath \"/w/t\\\"w\\\\o\"))\n"), "{text}");
        assert!(text.contains("\n  (subpath \"/dev/null\")\n"), "{text}");
        assert_eq!(text.matches("(allow").count(), 2);
        let hiding = fence.hiding(["/held"]).sealed().profile().into_string().unwrap();
        assert!(
            hiding.ends_with(")\n(deny file-read* file-write* process-exec*\n  (subpath \"/held\"))\n"),
            "{hiding}"
        );
        assert!(!hiding.contains("/dev/shm") && text.contains("/dev/shm"), "{hiding}");
    }

    #[cfg(target_os = "linux")]
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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_line_in_a_fence_is_one_line_for_a_shell() {
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
    fn what_cannot_be_started_in_a_fence_is_named_before_it_is_made() {
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

    #[test]
    fn only_caches_that_are_there_are_named() {
        let home = crate::testing::folder();
        std::fs::create_dir_all(home.path().join(".cargo/registry")).unwrap();
        let at = home.path().to_string_lossy().into_owned();
        let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let world = World::with([(variable, &at), ("GOCACHE", &at), ("UV_CACHE_DIR", "relative")], home.path());
        assert_eq!(world.build_caches(), [home.path().to_path_buf(), home.path().join(".cargo/registry")]);
    }
}
