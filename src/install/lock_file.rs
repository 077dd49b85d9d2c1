//! `gsd-tools.lock`: the version and the content of the installs of a project, for everyone who clones it.
//!
//! The lock names hosts, options and digests, and no file of one computer, so it is the same for all who write it with
//! one version of the program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::disk::{self, AbsolutePath, Digest, DiskError};
use crate::failure::{Explain, Reason};
use crate::library::CommandProfile;
use crate::runtime::RuntimeId;

/// Its name in the folder of the project.
pub(crate) const NAME: &str = "gsd-tools.lock";

/// What the lock of a project says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockFile {
    pub(super) format: u32,
    /// The version of the program that everyone uses.
    pub(crate) version: String,
    /// By the id of the host.
    pub(crate) hosts: BTreeMap<String, LockedHost>,
}

/// The pinned install of one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockedHost {
    /// Whether commands are below routers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) nested: bool,
    /// The commands that are installed; absent for all.
    #[serde(default, skip_serializing_if = "CommandProfile::is_full")]
    pub(crate) profile: CommandProfile,
    /// The digest of all files that only we own, with their paths.
    pub(crate) content: Digest,
}

/// Why a lock is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockFileError {
    #[error("`{NAME}`: {why}")]
    Broken { why: String },
    #[error("`{NAME}` pins version {pinned}, and this program is {own}")]
    OtherVersion { pinned: String, own: String },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Explain for LockFileError {
    fn reason(&self) -> Reason {
        Reason::Usage
    }

    fn exit_code(&self) -> Option<u8> {
        match self {
            Self::Broken { .. } => Some(65),
            Self::OtherVersion { .. } => Some(78),
            Self::Disk(error) => error.exit_code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Broken { .. } => {
                Some("take the file from the repository again: `git checkout -- gsd-tools.lock`".to_owned())
            }
            Self::OtherVersion { pinned, .. } => {
                Some(format!("use version {pinned}, or pin this one for all with `gsd-tools lock`"))
            }
            Self::Disk(error) => error.hint(),
        }
    }
}

impl LockFile {
    pub(super) const FORMAT: u32 = 1;

    /// The lock of a project, if it has one.
    pub(crate) fn read(project: &AbsolutePath) -> Result<Option<Self>, LockFileError> {
        let Some(text) = disk::read_text(project.resolve(NAME))? else { return Ok(None) };
        let broken = |why: String| LockFileError::Broken { why };
        let lock: Self = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        if lock.format != Self::FORMAT {
            return Err(broken(format!("format {} is not known to this version", lock.format)));
        }
        // It may have come with a repository, and it is shown in messages.
        let is_plain = |text: &str| {
            !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.+".contains(letter))
        };
        let names = lock.hosts.iter().flat_map(|(host, pin)| std::iter::once(host).chain(pin.profile.names()));
        if let Some(odd) = std::iter::once(&lock.version).chain(names).find(|text| !is_plain(text)) {
            return Err(broken(format!("{odd:?} is not a name or a version")));
        }
        if lock.hosts.is_empty() {
            return Err(broken("it lists no host".to_owned()));
        }
        Ok(Some(lock))
    }

    /// True if the lock of a project pins a local install of this host. One that cannot be used pins nothing.
    pub(crate) fn pins(project: &AbsolutePath, host: &RuntimeId) -> bool {
        let lock = Self::read(project).ok().flatten();
        lock.is_some_and(|lock| lock.hosts.contains_key(host.as_str()))
    }

    /// Refuses another version than the pinned one.
    pub(crate) fn must_be_for(&self, version: &str) -> Result<(), LockFileError> {
        if self.version == version {
            return Ok(());
        }
        Err(LockFileError::OtherVersion { pinned: self.version.clone(), own: version.to_owned() })
    }

    /// The text of the file.
    pub(crate) fn to_text(&self) -> String {
        // It has only texts and numbers.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
