//! Projects in phases, below `.planning/`: a unit is an entire workflow of a phase, and the next step is the one that
//! every view of the project shows as next.

pub(crate) mod brief;
pub(crate) mod forecast;
pub(crate) mod permit;
pub(crate) mod position;
pub(crate) mod record;

use std::collections::BTreeMap;

use super::unit::UnitKind;

/// The folder of the documents.
pub(crate) const FOLDER: &str = ".planning";

/// The settings of a run in phases, apart from the documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhaseSettings {
    /// Whether a phase without a CONTEXT.md gets an empty one and is planned.
    pub(crate) skips_discussion: bool,
    /// The most attempts at a discussion.
    pub(crate) discuss_passes: Option<usize>,
    /// Whether entries of STATE.md about old phases are moved to its archive when a phase is closed.
    pub(crate) prunes: bool,
    /// The prefix of a command name, such as `/gsd-`.
    pub(crate) command_prefix: String,
    /// The installed workflow of each kind of unit.
    pub(crate) workflows: BTreeMap<UnitKind, String>,
}
