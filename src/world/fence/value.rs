//! The limits of a fence, as a value and as arguments of a call.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::secrets;
use crate::world::World;

/// Options with a value, once for each path or name.
const WRITE: &str = "--write";
const READ: &str = "--read";
const HIDE: &str = "--hide";
const SECRET: &str = "--secret";
const TEMPORARY: &str = "--temporary";
const KEEP: &str = "--keep";
const PORT: &str = "--port";
/// Options without a value.
const SEALED: &str = "--sealed";
const TERMINALS: &str = "--terminals";
const NETWORK: &str = "--network";
const OPEN: &str = "--open";
/// Comes before the program.
const PROGRAM: &str = "--";

/// Means every variable where a name is expected.
const ALL: &str = "*";

/// Writable by every program: devices that store nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Memory that programs share; not writable in a sealed fence.
const SHARED: &[&str] = &["/dev/shm"];

/// True if every program in a fence may write there.
pub(crate) fn is_shared(path: &Path) -> bool {
    SHARED.iter().any(|shared| path.starts_with(shared))
}

/// Where pseudo-terminals are, both those a program makes and those of the user.
const PSEUDO_TERMINALS: &[&str] = &["/dev/tty", "/dev/ptmx", "/dev/pts"];

/// The folders and files that a program may write to, with everything below them, and what it may not access.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(super) writable: Vec<PathBuf>,
    /// Never readable.
    pub(super) hidden: Vec<PathBuf>,
    /// Not readable, except where writing is allowed.
    pub(super) secret: Vec<PathBuf>,
    /// Readable even inside something secret.
    pub(super) readable: Vec<PathBuf>,
    /// The folder for temporary files. The variables for it are set.
    pub(super) temporary: Option<PathBuf>,
    /// Variables that the program gets even though they lead out of the fence.
    pub(super) kept: Vec<String>,
    /// The only TCP ports it may connect to, on any host.
    pub(super) ports: Option<Vec<u16>>,
    pub(super) has_terminals: bool,
    pub(super) is_sealed: bool,
    /// Nothing is limited; the program only leaves the terminal.
    pub(super) is_open: bool,
}

/// What a person opens in all fences, in their preferences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Openings {
    /// Paths that are otherwise secret.
    pub(crate) read: Vec<PathBuf>,
    /// Variables that lead to programs outside the fence.
    pub(crate) sockets: Vec<String>,
    /// The only TCP ports that may be connected to.
    pub(crate) ports: Option<Vec<u16>>,
    /// Whether programs may make pseudo-terminals. They can then also write to those of the user.
    pub(crate) terminals: bool,
}

impl Fence {
    /// A fence that allows writing to these paths. Paths that do not exist when the program starts are ignored.
    pub(crate) fn around<P: Into<PathBuf>>(writable: impl IntoIterator<Item = P>) -> Self {
        Self { writable: writable.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// A fence without limits: the program only leaves the terminal of the user.
    pub(in crate::world) fn open() -> Self {
        Self { is_open: true, ..Self::default() }
    }

    /// Also hides these paths: what is in them can neither be read nor run. They must be real paths, outside of
    /// everything that may be written to.
    pub(crate) fn hiding<P: Into<PathBuf>>(mut self, hidden: impl IntoIterator<Item = P>) -> Self {
        self.hidden.extend(hidden.into_iter().map(Into::into));
        self
    }

    /// Also denies memory that programs share, in which a program could leave data for others.
    pub(crate) fn sealed(self) -> Self {
        Self { is_sealed: true, ..self }
    }

    /// Also sets a folder for temporary files.
    pub(crate) fn with_temporary(self, folder: impl Into<PathBuf>) -> Self {
        Self { temporary: Some(folder.into()), ..self }
    }

    /// Also protects the secrets in the user's folders, and applies the user's openings. `client` is the name of the
    /// runner, which may read its own login.
    pub(crate) fn for_user(mut self, world: &World, client: Option<&str>, openings: &Openings) -> Self {
        let real = |path: &PathBuf| path.canonicalize().ok();
        let opened: Vec<PathBuf> = openings.read.iter().filter_map(real).collect();
        let is_opened = |place: &PathBuf| opened.iter().any(|opened| place.starts_with(opened));
        let secret = secrets::places(world, client).into_iter().filter(|place| !is_opened(place));
        self.secret.extend(secret);
        self.readable.extend(opened);
        self.kept.extend(openings.sockets.iter().cloned());
        self.ports.clone_from(&openings.ports);
        self.has_terminals |= openings.terminals;
        self
    }

    /// Also keeps the variables that lead to programs outside.
    pub(crate) fn with_sockets(mut self) -> Self {
        self.kept.push(ALL.to_owned());
        self
    }

    /// True if the program gets this variable even though it leads out of the fence.
    pub(super) fn keeps(&self, variable: &str) -> bool {
        self.kept.iter().any(|kept| kept == variable || kept == ALL)
    }

    /// Everything that may be written to, including devices.
    pub(super) fn all_writable(&self) -> impl Iterator<Item = &Path> {
        let shared = SHARED.iter().filter(|_| !self.is_sealed);
        let terminals = PSEUDO_TERMINALS.iter().filter(|_| self.has_terminals);
        let devices = DEVICES.iter().chain(shared).chain(terminals).map(Path::new);
        devices.chain(self.writable.iter().chain(&self.temporary).map(PathBuf::as_path))
    }

    /// The arguments of the call that starts `program` in this fence.
    pub(super) fn words<'a>(&self, program: impl Iterator<Item = &'a OsStr>) -> Vec<OsString> {
        let mut words = Vec::new();
        let mut add = |name: &str, value: &OsStr| words.extend([name.into(), value.to_owned()]);
        let named = [(WRITE, &self.writable), (READ, &self.readable), (HIDE, &self.hidden), (SECRET, &self.secret)];
        for (name, paths) in named {
            for path in paths {
                add(name, path.as_os_str());
            }
        }
        self.temporary.iter().for_each(|path| add(TEMPORARY, path.as_os_str()));
        self.kept.iter().for_each(|name| add(KEEP, name.as_ref()));
        self.ports.iter().flatten().for_each(|port| add(PORT, port.to_string().as_ref()));
        let flags = [
            (SEALED, self.is_sealed),
            (TERMINALS, self.has_terminals),
            (NETWORK, self.ports.is_some()),
            (OPEN, self.is_open),
        ];
        words.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name.into()));
        words.push(PROGRAM.into());
        words.extend(program.map(OsStr::to_owned));
        words
    }

    /// Parses the arguments of a call into the fence and the program with its arguments.
    pub(super) fn read(words: &[OsString]) -> Result<(Self, &[OsString]), String> {
        let mut fence = Self::default();
        let mut rest = words.iter();
        let nothing = || "no program is named".to_owned();
        loop {
            let word = rest.next().ok_or_else(nothing)?;
            let mut value = || rest.next().cloned().ok_or_else(nothing);
            match word.to_str() {
                Some(WRITE) => fence.writable.push(value()?.into()),
                Some(READ) => fence.readable.push(value()?.into()),
                Some(HIDE) => fence.hidden.push(value()?.into()),
                Some(SECRET) => fence.secret.push(value()?.into()),
                Some(TEMPORARY) => fence.temporary = Some(value()?.into()),
                Some(KEEP) => fence.kept.push(value()?.to_string_lossy().into_owned()),
                Some(PORT) => {
                    let text = value()?.to_string_lossy().into_owned();
                    let port = text.parse().map_err(|_| format!("`{text}` is not a port"))?;
                    fence.ports.get_or_insert_default().push(port);
                }
                Some(NETWORK) => {
                    fence.ports.get_or_insert_default();
                }
                Some(SEALED) => fence.is_sealed = true,
                Some(TERMINALS) => fence.has_terminals = true,
                Some(OPEN) => fence.is_open = true,
                Some(PROGRAM) => break,
                _ => return Err(format!("`{}` is not known here", word.to_string_lossy())),
            }
        }
        if rest.as_slice().is_empty() { Err(nothing()) } else { Ok((fence, rest.as_slice())) }
    }

    /// The profile for `sandbox-exec`. Links must be resolved first. The last matching rule applies.
    #[cfg_attr(
        all(not(test), target_os = "linux"),
        expect(dead_code, reason = "other systems than Linux have no Landlock")
    )]
    pub(super) fn profile(&self) -> OsString {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let mut profile = OsString::from("(version 1)\n(allow default)\n");
        let mut rule = |head: &str, paths: Vec<PathBuf>| {
            // A path that is not UTF-8 cannot be written in the profile, and is left out.
            let paths: Vec<&str> = paths.iter().filter_map(|path| path.to_str()).collect();
            if !paths.is_empty() {
                profile.push(head);
                for path in paths {
                    profile.push(format!("\n  (subpath \"{}\")", path.replace('\\', "\\\\").replace('"', "\\\"")));
                }
                profile.push(")\n");
            }
        };
        rule("(deny file-write*)\n(allow file-write*", self.all_writable().map(real).collect());
        rule("(deny file-read* process-exec*", self.secret.clone());
        rule(
            "(allow file-read* process-exec*",
            self.writable.iter().chain(&self.readable).map(|path| real(path)).collect(),
        );
        rule("(deny file-read* file-write* process-exec*", self.hidden.clone());
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_allows_writing_only_to_named_paths_and_devices() {
        let fence = Fence::around(["/w/one", "/w/t\"w\\o"]);
        let text = fence.profile().into_string().unwrap();
        assert!(text.starts_with("(version 1)\n(allow default)\n(deny file-write*)\n(allow file-write*\n"), "{text}");
        assert!(text.contains("\n  (subpath \"/w/one\")\n  (subpath \"/w/t\\\"w\\\\o\"))\n"), "{text}");
        assert!(text.contains("\n  (subpath \"/dev/null\")\n") && !text.contains("/dev/tty"), "{text}");
        let secret = Fence { secret: vec!["/s".into()], readable: vec!["/s/r".into()], ..fence.clone() };
        let secret = secret.profile().into_string().unwrap();
        let order = ["(deny file-read* process-exec*\n  (subpath \"/s\"))", "(subpath \"/s/r\"))"];
        assert!(secret.find(order[0]).unwrap() < secret.find(order[1]).unwrap(), "{secret}");
        let hiding = fence.hiding(["/held"]).sealed().profile().into_string().unwrap();
        assert!(
            hiding.ends_with(")\n(deny file-read* file-write* process-exec*\n  (subpath \"/held\"))\n"),
            "{hiding}"
        );
        assert!(!hiding.contains("/dev/shm") && text.contains("/dev/shm"), "{hiding}");
    }

    #[test]
    fn a_fence_is_parsed_as_it_was_written() {
        let all = Fence {
            writable: vec!["/w".into(), "/x".into()],
            hidden: vec!["/h".into()],
            secret: vec!["/s".into()],
            readable: vec!["/s/r".into()],
            temporary: Some("/t".into()),
            kept: vec!["TMUX".into()],
            ports: Some(vec![443, 80]),
            has_terminals: true,
            is_sealed: true,
            is_open: true,
        };
        for fence in [all, Fence::around(["/w"]), Fence { ports: Some(Vec::new()), ..Fence::default() }] {
            let program = ["sh", "--write", "x"].map(OsString::from);
            let words = fence.words(program.iter().map(OsString::as_os_str));
            assert_eq!(Fence::read(&words), Ok((fence, &program[..])));
        }
        let fails = |words: &[&str]| Fence::read(&words.iter().map(OsString::from).collect::<Vec<_>>()).unwrap_err();
        assert_eq!(fails(&["--port", "x", "--", "true"]), "`x` is not a port");
    }

    #[test]
    fn paths_opened_by_the_user_are_not_secret() {
        let home = crate::testing::folder();
        let at = home.path().canonicalize().unwrap();
        for folder in [".ssh", ".aws"] {
            std::fs::create_dir_all(at.join(folder)).unwrap();
        }
        std::fs::write(at.join(".ssh/known_hosts"), "").unwrap();
        let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let world = World::with([(variable, at.to_str().unwrap())], &at);
        let closed = Fence::around(["/w"]).for_user(&world, None, &Openings::default());
        assert_eq!(closed.secret, [at.join(".ssh"), at.join(".aws")]);
        let openings = Openings {
            read: vec![at.join(".aws"), at.join(".ssh/known_hosts"), at.join("none")],
            sockets: vec!["TMUX".to_owned()],
            ports: Some(vec![443]),
            terminals: true,
        };
        let opened = Fence::around(["/w"]).for_user(&world, None, &openings);
        assert_eq!(opened.secret, [at.join(".ssh")]);
        assert_eq!(opened.readable, [at.join(".aws"), at.join(".ssh/known_hosts")]);
        assert!(opened.has_terminals && opened.kept == ["TMUX"] && opened.ports == Some(vec![443]));
    }
}
