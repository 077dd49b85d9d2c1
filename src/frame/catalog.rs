//! All families, and queries about their verbs for other code. The list is `CATALOG` in `commands/families.rs`.

use super::Family;
use super::verb::Verb;
use crate::acts::listing::Listed;

/// The families of the program, in the order of the help.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Catalog(pub(crate) &'static [Family]);

impl Catalog {
    /// The family for the first word of a call.
    pub(crate) fn family(self, word: &str) -> Option<&'static Family> {
        self.0.iter().find(|family| family.answers_to(word))
    }

    /// Every verb there is.
    pub(crate) fn verbs(self) -> impl Iterator<Item = &'static Verb> {
        self.0.iter().flat_map(|family| family.verbs)
    }

    /// The verb at `path`; `None` for a word that only leads to others.
    #[cfg(test)]
    pub(crate) fn verb(self, path: &str) -> Option<&'static Verb> {
        self.family(path.split(' ').next()?)?.verb(path)
    }

    /// Every verb as shown in a list.
    pub(crate) fn listing(self) -> Vec<Listed> {
        self.verbs().map(Verb::listed).collect()
    }
}
