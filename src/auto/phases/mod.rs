//! Projects in phases, below `.planning/`: a unit is a whole workflow of a phase, and what comes next is what every view
//! of the project shows as next.

pub(crate) mod brief;
pub(crate) mod forecast;
pub(crate) mod permit;
pub(crate) mod position;
pub(crate) mod record;

use std::collections::BTreeMap;

use super::unit::UnitKind;

/// The folder of the documents.
pub(crate) const FOLDER: &str = ".planning";

/// What a run in phases goes by, beside the documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhaseSettings {
    /// A phase without a CONTEXT.md gets an empty one and is planned.
    pub(crate) skips_discussion: bool,
    /// How often a discussion is tried at most.
    pub(crate) discuss_passes: Option<usize>,
    /// What STATE.md says of phases long past goes to its archive when a phase is closed.
    pub(crate) prunes: bool,
    /// What stands before the name of a command, such as `/gsd-`.
    pub(crate) command_prefix: String,
    /// Where the workflow of each kind of unit is installed.
    pub(crate) workflows: BTreeMap<UnitKind, String>,
}
