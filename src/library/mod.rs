//! The content library, embedded: commands, workflows, agents, references, templates and the hook table.
//!
//! Nothing here is read at program start; a [`Library`] is made when something is installed.
//! That every item parses and every reference resolves is held by the tests of this room.

mod front_matter;
mod item;

pub(crate) use front_matter::{FrontMatter, FrontMatterError, Value};
pub(crate) use item::{Item, ItemKind, ItemName, NameError};
