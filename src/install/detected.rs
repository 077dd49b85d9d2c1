//! Why a host counts as used on this machine: its folder exists, or its program is in `PATH`.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::Target;
use crate::disk;
use crate::runtime::Descriptor;
use crate::world::World;

/// Why a host was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Detected {
    by: DetectedBy,
    /// The folder or the program.
    path: String,
    /// The folder as a person would name it, or the name of the program.
    #[serde(skip)]
    shown: String,
}

/// How a host was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum DetectedBy {
    /// Its config directory exists.
    Folder,
    /// Its program is in `PATH`.
    Program,
}

impl Detected {
    /// Detects the host of this target by its folder.
    pub(crate) fn by_folder(target: &Target) -> Option<Self> {
        let found =
            || Self { by: DetectedBy::Folder, path: target.root.to_string(), shown: target.shown(&target.root) };
        disk::is_folder(&target.root).then(found)
    }

    /// Detects the host by one of its programs in `PATH`.
    pub(crate) fn by_program(host: &Descriptor, world: &World) -> Option<Self> {
        let programs = host.programs.as_ref()?;
        let found = world.program_of(&programs.names, &programs.marks)?;
        Some(Self { by: DetectedBy::Program, path: found.path.display().to_string(), shown: found.name })
    }

    /// A description in two or three words.
    pub(crate) fn short(&self) -> String {
        match self.by {
            DetectedBy::Folder => "found".to_owned(),
            DetectedBy::Program => format!("{} in PATH", self.shown),
        }
    }
}

impl fmt::Display for Detected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.by {
            DetectedBy::Folder => write!(formatter, "detected: {} exists", self.shown),
            DetectedBy::Program => write!(formatter, "detected: {} is in PATH ({})", self.shown, self.path),
        }
    }
}
