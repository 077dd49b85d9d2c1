//! An install that no manifest lists: the parts that are certainly ours, as found by [`super::recognised`].

use std::collections::{BTreeMap, BTreeSet};

use super::Target;
use super::manifest::{Holdings, Section};
use crate::disk::AbsolutePath;
use crate::emit::Anchor;

/// An install that no manifest lists, in the form of the missing manifest section.
#[derive(Debug)]
pub(crate) struct Adopted {
    pub(super) section: Section,
    /// What it owns in folders of the home that several hosts share.
    pub(super) homes: BTreeMap<String, Holdings>,
    /// What looks like ours but may not be: files with our names and other bytes, settings with entries that may be the
    /// person's.
    pub(super) uncertain: BTreeSet<AbsolutePath>,
}

/// How much was found of an install that no manifest lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unlisted {
    /// How many files are certainly ours.
    pub(crate) files: usize,
    /// The settings files that contain our entries.
    pub(crate) settings: Vec<AbsolutePath>,
    /// Files that look like ours but stay.
    pub(crate) uncertain: Vec<AbsolutePath>,
}

impl Adopted {
    /// What it owns below the anchor.
    pub(super) fn holdings(&self, anchor: &Anchor) -> Option<&Holdings> {
        match anchor {
            Anchor::Root => Some(&self.section.holdings),
            Anchor::Project => Some(&self.section.project),
            Anchor::Home(home) => self.homes.get(home),
        }
    }

    /// A summary in numbers and names; `None` if nothing was recognised.
    pub(super) fn found(&self, target: &Target) -> Option<Unlisted> {
        let mut found = Unlisted { uncertain: self.uncertain.iter().cloned().collect(), ..Unlisted::default() };
        let homes = self.homes.iter().map(|(home, holdings)| (Anchor::Home(home.clone()), holdings));
        let own = [(Anchor::Root, &self.section.holdings), (Anchor::Project, &self.section.project)];
        for (anchor, holdings) in own.into_iter().chain(homes) {
            found.files += holdings.files.len();
            found.settings.extend(holdings.shared.keys().map(|path| target.folder(&anchor).join(path)));
        }
        (found.files > 0 || !found.settings.is_empty()).then_some(found)
    }

    pub(super) fn holdings_mut(&mut self, anchor: &Anchor) -> &mut Holdings {
        match anchor {
            Anchor::Root => &mut self.section.holdings,
            Anchor::Project => &mut self.section.project,
            Anchor::Home(home) => {
                self.section.homes.insert(home.clone());
                self.homes.entry(home.clone()).or_default()
            }
        }
    }
}
