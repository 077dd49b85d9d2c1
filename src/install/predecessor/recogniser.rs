//! Recognises what another program of the family wrote into a host's settings, whether it is still installed or not.

use super::facts::PredecessorFacts;
use super::settings::{self, Spellings};
use super::{InstallError, Target, facts, programs, spellings};
use crate::disk::Snapshot;
use crate::install::vouch;
use crate::runtime::HostFormat;
use crate::text::fragment::Marked;

/// The names by which such a program's entries are recognised in the folder of a host.
#[derive(Debug)]
pub(crate) struct Recogniser {
    facts: PredecessorFacts,
    spellings: Spellings,
    /// The program and its version, as a person would name it.
    pub(crate) program: String,
}

impl Recogniser {
    pub(crate) fn of(target: &Target, snapshot: &mut Snapshot) -> Result<Self, InstallError> {
        let program = programs::program_in(&programs::family()?, &target.root, snapshot)?;
        let manifest = vouch::read(target, &target.root, snapshot).map(|found| found.manifest).unwrap_or_default();
        let listed = manifest.foreign_text("version").map(str::to_owned).filter(|_| manifest.foreign_files().is_some());
        // Our install has a file with its version in the same place.
        let is_ours = !manifest.installs.is_empty();
        let version = listed.or_else(|| program.version(&target.root, snapshot).filter(|_| !is_ours));
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        let program = format!("{}{version}", program.title());
        Ok(Self { facts: facts()?, spellings: spellings(&target.root, target), program })
    }

    /// The text without what such a program wrote. A text that cannot be read is returned unchanged.
    pub(crate) fn without(&self, format: HostFormat, text: &str) -> String {
        let left = settings::clean(&self.facts, &self.spellings, format, text);
        left.map_or_else(|_| text.to_owned(), Option::unwrap_or_default)
    }

    /// The first and the last line of each block that such a program wrote into a text.
    pub(crate) fn blocks(&self, text: &str) -> Vec<(usize, usize)> {
        let blocks = self.facts.block.iter();
        blocks.flat_map(|block| Marked::new(block.open.as_str(), block.close.as_str()).ranges(text)).collect()
    }
}
