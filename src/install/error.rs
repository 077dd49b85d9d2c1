//! Errors that stop an install, with the file and a hint.

use crate::disk::{AbsolutePath, DiskError, PathError};
use crate::failure::{Explain, Reason};
use crate::library::{LibraryError, ProfileError};
use crate::runtime::{HomeError, RegistryError};
use crate::text::edit::ParseError;
use crate::text::shell::{Typed, typed};
use crate::world::WorldError;

use super::lock_file::LockFileError;
use super::manifest::ManifestProblem;
use super::shared::SharedError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    #[error("the home folder is unknown")]
    NoHome,
    #[error("the home folder `{path}` does not exist, and cannot be created")]
    HomeIsMissing { path: AbsolutePath },
    #[error("cannot find the config directory of {name}: {source}")]
    Home { name: String, source: HomeError },
    #[error("{name} cannot be installed in a project: {why}")]
    NoLocal { name: String, why: String },
    #[error("`{path}` is your home folder, not a project")]
    ProjectIsHome { path: AbsolutePath },
    #[error("the running program `{path}` was deleted")]
    NoProgram { path: AbsolutePath },
    #[error("`{path}` does not parse: {source}")]
    Unparsable { path: AbsolutePath, source: ParseError },
    #[error("`{path}` is not UTF-8 text: line {line}")]
    NotText { path: AbsolutePath, line: usize },
    #[error("`{path}` cannot be edited: {source}")]
    Refused { path: AbsolutePath, source: SharedError },
    #[error("the manifest `{path}` cannot be used: {source}")]
    Manifest { path: AbsolutePath, source: ManifestProblem },
    #[error("`{path}` is not a file")]
    InTheWay { path: AbsolutePath },
    #[error("the built-in facts about gsd-core are invalid")]
    Facts(#[source] Box<toml_edit::de::Error>),
    #[error("the built-in content has an invalid path")]
    Content(#[source] PathError),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error(transparent)]
    World(#[from] WorldError),
    #[error("the profile of this install cannot be used: {source}")]
    Profile { source: ProfileError, flags: Typed },
    #[error("something changed after the plan was compared")]
    PlanChanged,
    #[error(transparent)]
    Lock(#[from] LockFileError),
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The same error in words that name files below the home as `~/`.
    #[error("{message}")]
    Named { message: String, error: Box<InstallError> },
}

impl InstallError {
    pub(super) fn shared(path: &AbsolutePath, source: SharedError) -> Self {
        let path = path.clone();
        match source {
            SharedError::Parse(source) => Self::Unparsable { path, source },
            source => Self::Refused { path, source },
        }
    }

    /// The bytes of a settings file as text.
    pub(super) fn text<'bytes>(path: &AbsolutePath, bytes: &'bytes [u8]) -> Result<&'bytes str, Self> {
        std::str::from_utf8(bytes).map_err(|error| {
            let readable = &bytes[..error.valid_up_to()];
            let line = String::from_utf8_lossy(readable).matches('\n').count() + 1;
            Self::NotText { path: path.clone(), line }
        })
    }

    /// The same error with `~/` for the home folder.
    pub(super) fn named_below(self, home: &AbsolutePath) -> Self {
        let (before, message) = (format!("`{home}/"), self.to_string());
        if !message.contains(&before) {
            return self;
        }
        Self::Named { message: message.replace(&before, "`~/"), error: Box::new(self) }
    }

    /// True if something was written anyway and could not be undone.
    pub(crate) fn is_half_way(&self) -> bool {
        match self {
            Self::Named { error, .. } => error.is_half_way(),
            error => matches!(error, Self::Disk(DiskError::Unfinished { .. })),
        }
    }

    /// The exit code that shows a script which kind of failure this is.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Named { error, .. } => error.code(),
            Self::Home { .. }
            | Self::NoLocal { .. }
            | Self::ProjectIsHome { .. }
            | Self::Profile { .. }
            | Self::Registry(RegistryError::Unknown { .. }) => 2,
            Self::Registry(RegistryError::Broken { .. })
            | Self::Unparsable { .. }
            | Self::NotText { .. }
            | Self::Refused { .. }
            | Self::Manifest { .. } => 65,
            Self::InTheWay { .. } | Self::HomeIsMissing { .. } => 73,
            Self::NoHome | Self::NoProgram { .. } | Self::Path(_) | Self::World(_) => 1,
            Self::PlanChanged => 75,
            Self::Lock(error) => error.exit_code().unwrap_or(1),
            Self::Content(_) | Self::Facts(_) | Self::Library(_) => 70,
            Self::Disk(error) => match error {
                DiskError::Io { .. } | DiskError::Unfinished { .. } => 74,
                DiskError::NotText { .. } | DiskError::BadJournal { .. } | DiskError::TooLarge { .. } => 65,
                DiskError::LinksTurnInCircles { .. }
                | DiskError::LeadsOut { .. }
                | DiskError::Link { .. }
                | DiskError::NotAFile { .. }
                | DiskError::NotAFolder { .. }
                | DiskError::NotOurs { .. }
                | DiskError::Protected { .. }
                | DiskError::NotPrivate { .. }
                | DiskError::NoLockFolder { .. }
                | DiskError::ReadOnly { .. } => 73,
                DiskError::Locked { .. } | DiskError::Changed { .. } => 75,
                DiskError::Path(_)
                | DiskError::TwoChanges { .. }
                | DiskError::Unwritable { .. }
                | DiskError::Fault { .. } => 70,
                DiskError::Interrupted { signal } => u8::try_from(128 + signal).unwrap_or(130),
            },
        }
    }
}

impl Explain for InstallError {
    fn reason(&self) -> Reason {
        Reason::of_install(self.code())
    }

    fn exit_code(&self) -> Option<u8> {
        Some(self.code())
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Lock(error) => error.hint(),
            Self::Profile { flags, .. } => {
                Some(format!("`{}` installs everything", typed!("gsd-tools install {} --profile=full", flags)))
            }
            Self::Named { error, .. } => error.hint(),
            Self::ProjectIsHome { .. } => Some("leave out `--local`, or change to a project folder first".to_owned()),
            Self::NoLocal { .. } => Some("leave out `--local` to install it for all your projects".to_owned()),
            Self::Unparsable { source, .. } => {
                Some(format!("correct line {} of the file, then run the command again", source.line))
            }
            Self::NotText { .. } => Some("save the file as UTF-8, then run the command again".to_owned()),
            Self::Refused { source, .. } => {
                source.cure().map(|cure| format!("{cure}, then run the command again"))
            }
            Self::Manifest { source: ManifestProblem::Newer { .. }, .. } => {
                Some("use the newer gsd-tools that wrote it".to_owned())
            }
            Self::Manifest { source: ManifestProblem::Broken(_), .. } => {
                Some("restore the file, or rename it and run the command again: what is certainly ours is recognised without it".to_owned())
            }
            Self::HomeIsMissing { .. } => Some("set HOME to the folder of your user, or create it".to_owned()),
            Self::InTheWay { .. } => Some("rename or remove it, then run the command again".to_owned()),
            Self::Disk(error) => error.hint(),
            Self::Registry(error) => error.hint(),
            Self::NoHome => Some("set HOME to your home folder".to_owned()),
            Self::Home { .. } => Some("name the folder with `--config-dir`".to_owned()),
            Self::NoProgram { .. } => Some("install gsd-tools again, then run the command again".to_owned()),
            Self::World(error) => error.hint(),
            Self::PlanChanged => Some("run the command again".to_owned()),
            Self::Content(_) | Self::Facts(_) | Self::Library(_) | Self::Path(_) => None,
        }
    }
}
