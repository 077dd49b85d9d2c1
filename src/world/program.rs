//! A program to be run: its arguments, its folder, and which variables it gets.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::tree::Mark;

use super::fence::Fence;

/// A program to run, and how.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(super) name: OsString,
    pub(super) arguments: Vec<OsString>,
    pub(super) folder: Option<PathBuf>,
    pub(super) stdin: Vec<u8>,
    pub(super) timeout: Option<Duration>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) removed: Vec<OsString>,
    /// The mark for finding everything it starts; a new one is made if this is `None`.
    pub(super) mark: Option<Mark>,
    /// Whether it gets only what it needs: see [`Program::apart`].
    pub(super) is_apart: bool,
    /// For git: an untrusted repository that it would find, see [`embedded_repository`]. It is not started there.
    pub(super) embedded: Option<PathBuf>,
    /// The fence that limits where it may write.
    pub(super) fence: Option<Fence>,
    /// See [`Program::detached`].
    pub(super) is_detached: bool,
    /// See [`Program::through_file`].
    pub(super) writes_to_file: bool,
}

/// The variables for programs that look something up: how to be found, the user's settings, how to reach the network.
/// They do not get the rest of the environment, above all keys.
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

/// Prefixes of such variables: locales, folders of the user, and the managers that often start `npm` and `python3`. Of
/// npm's own settings only those that name the location of others: the rest may contain a key.
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

pub(super) fn is_for_lookups(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    FOR_LOOKUPS.contains(&name.as_str()) || FOR_LOOKUPS_BY_START.iter().any(|start| name.starts_with(start))
}

/// Variables with which a git process passes its repository on to its children (hooks, aliases). If they were kept, our
/// own calls would use that repository instead of the folder they are given. The list also has the variables that
/// change the meaning of a path, see [`pathspec`].
const GIT_LOCATION: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// For a git that must not start a remote helper: a list of allowed protocols that matches no protocol.
const NO_PROTOCOL: &str = "none";

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
            mark: None,
            is_apart: false,
            embedded: None,
            fence: None,
            is_detached: false,
            writes_to_file: false,
        }
    }

    /// A program that looks something up and is unrelated to the project. It runs in the user's home folder, where no
    /// repository can give it settings or code, unless a folder is named, and gets only the variables it needs.
    pub(crate) fn apart(name: impl AsRef<OsStr>) -> Self {
        Self { is_apart: true, ..Self::new(name) }
    }

    /// `git` for the repository of `folder`; it never waits for a password.
    pub(crate) fn git(folder: &Path) -> Self {
        // Our queries must not run a program named in a repository's settings, and must not write the index.
        let quiet = ["core.fsmonitor=false", "diff.autoRefreshIndex=false", "log.showSignature=false"];
        let quiet = quiet.into_iter().flat_map(|setting| ["-c", setting]);
        let mut program = Self::new("git").folder(folder).arguments(quiet);
        match around(folder) {
            RepositoryKind::Nothing => {}
            // Git has this rule since 2.38.
            RepositoryKind::WorkingTree => program = program.arguments(["-c", "safe.bareRepository=explicit"]),
            RepositoryKind::Embedded(place) => program.embedded = Some(place),
        }
        program = program.variable("GIT_TERMINAL_PROMPT", "0").variable("GIT_OPTIONAL_LOCKS", "0");
        program.removed.extend(GIT_LOCATION.iter().map(OsString::from));
        program
    }

    /// Git that fetches nothing on demand: in a clone without all objects it would ask the remote for a missing one,
    /// with a program that the repository's settings name.
    pub(crate) fn without_remotes(self) -> Self {
        self.variable("GIT_NO_LAZY_FETCH", "1").variable("GIT_ALLOW_PROTOCOL", NO_PROTOCOL)
    }

    pub(crate) fn arguments<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_path_buf());
        self
    }

    /// Sets the bytes the program reads on its standard input.
    pub(crate) fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.stdin = input.into();
        self
    }

    /// Sets the mark for finding everything it starts, even from another process that has the mark from a note.
    pub(crate) fn marked(mut self, mark: Mark) -> Self {
        self.mark = Some(mark);
        self
    }

    /// Kills the program if it has not ended after `limit`.
    pub(crate) fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Removes these variables from the program's environment.
    pub(crate) fn without<S: AsRef<OsStr>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.removed.extend(names.into_iter().map(|name| name.as_ref().to_owned()));
        self
    }

    /// Limits where the program and everything it starts may write. It is not started if the system cannot enforce
    /// that, see [`super::World::fencing`].
    pub(crate) fn fenced(mut self, fence: &Fence) -> Self {
        self.fence = Some(fence.clone());
        self
    }

    /// Runs it without the user's terminal, in a new session, even without a fence: programs that ask at a terminal
    /// then fail instead of waiting forever.
    pub(crate) fn detached(mut self) -> Self {
        self.is_detached = true;
        self
    }

    /// True if this program is started first and then becomes it. The test binary cannot do that.
    pub(super) fn is_called_through_us(&self) -> bool {
        self.fence.is_some() || self.is_detached && cfg!(unix) && !cfg!(test)
    }

    /// Uses a file instead of a pipe for its standard output, if that is read, so that it can end before all of it is
    /// taken.
    pub(crate) fn through_file(mut self) -> Self {
        self.writes_to_file = true;
        self
    }

    pub(crate) fn variable(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }
}

/// Quotes a path for a git variable with several paths, because a colon would end it.
pub(crate) fn in_path_list(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A git pathspec for exactly the file or folder at `path`: a bare path could be a pattern, or `:/`, which means
/// everything.
pub(crate) fn pathspec(path: &str) -> String {
    format!(":(literal){path}")
}

/// The folder at or above `folder` that git treats as a bare repository although it is in the working tree of another
/// one. A clone can bring such a folder as ordinary files, and with it settings and hooks that name programs. A bare
/// repository outside of every working tree was made by a person.
pub(crate) fn embedded_repository(folder: &Path) -> Option<PathBuf> {
    match around(folder) {
        RepositoryKind::Embedded(place) => Some(place),
        RepositoryKind::Nothing | RepositoryKind::WorkingTree => None,
    }
}

/// What git finds when it looks for a repository in a folder and its parents.
enum RepositoryKind {
    /// No working tree.
    Nothing,
    WorkingTree,
    /// A bare repository in a working tree.
    Embedded(PathBuf),
}

fn around(folder: &Path) -> RepositoryKind {
    let is_there = |path: PathBuf| path.symlink_metadata().is_ok();
    // Like git, which looks for `.git` first in each folder, and ignores it if it is not a repository folder.
    let is_root = |folder: &Path| folder.join(".git").is_file() || is_there(folder.join(".git/HEAD"));
    let is_bare = |folder: &Path| {
        is_there(folder.join("HEAD")) && (is_there(folder.join("refs")) || is_there(folder.join("commondir")))
    };
    let Ok(folder) = folder.canonicalize() else { return RepositoryKind::Nothing };
    let mut bare = None;
    for folder in folder.ancestors() {
        if is_root(folder) {
            return bare
                .map_or(RepositoryKind::WorkingTree, |bare: &Path| RepositoryKind::Embedded(bare.to_path_buf()));
        }
        // A clone cannot bring a folder with this name.
        if folder.file_name().is_some_and(|name| name == ".git") {
            return RepositoryKind::Nothing;
        }
        if bare.is_none() && is_bare(folder) {
            bare = Some(folder);
        }
    }
    RepositoryKind::Nothing
}

/// The program and its first argument: enough to recognise the call.
impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.name.to_string_lossy())?;
        let mut words = self.arguments.iter();
        // Skips git settings.
        while let Some(word) = words.as_slice().first() {
            if word == "-c" {
                words.nth(1);
            } else if word.as_encoded_bytes().starts_with(b"--config-env=") {
                words.next();
            } else {
                break;
            }
        }
        words.next().map_or(Ok(()), |first| write!(formatter, " {}", first.to_string_lossy()))
    }
}
