//! A program to be run: its arguments, where it runs, and which variables it gets.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    /// Whether it gets only what it needs: see [`Program::apart`].
    pub(super) is_apart: bool,
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

pub(super) fn is_for_lookups(name: &OsStr) -> bool {
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
    /// no repository can give it settings or code, unless a folder is named, and gets only the variables it needs.
    pub(crate) fn apart(name: impl AsRef<OsStr>) -> Self {
        Self { is_apart: true, ..Self::new(name) }
    }

    /// `git` in `folder`: it speaks of that folder's repository, and never waits for a password.
    pub(crate) fn git(folder: &Path) -> Self {
        // Neither a program that a repository's settings name is to run beside our questions, nor the index to be written.
        let quiet = ["core.fsmonitor=false", "diff.autoRefreshIndex=false", "log.showSignature=false"];
        let quiet = quiet.into_iter().flat_map(|setting| ["-c", setting]);
        let mut program = Self::new("git").folder(folder).arguments(quiet);
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
