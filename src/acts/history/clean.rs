//! Which files differ from the last commit: remembered for as long as neither they nor git's index have changed.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::memory::{CLEAN, Memory};
use crate::disk::{self, Digest, Stamp};
use crate::project::layout::Layout;
use crate::project::repository::GitPlace;

/// The last look at a worktree.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Clean {
    /// The commit that is checked out.
    head: String,
    /// Git's index and settings.
    git: Vec<Option<Stamp>>,
    /// The files as they were, and whether they differ.
    files: BTreeMap<String, (Stamp, bool)>,
}

/// The files that differ, if known without git, and the present state of the others.
#[derive(Debug)]
pub(super) struct CleanLook {
    name: String,
    seen: Clean,
    now: Vec<(String, Option<Stamp>)>,
    git: Vec<Option<Stamp>>,
    /// The time of the look.
    at: i64,
}

impl CleanLook {
    /// Looks at `files` before git is used; `at` is the time in milliseconds since 1970.
    pub(super) fn at<'file>(
        memory: &Memory,
        layout: &Layout,
        place: &GitPlace,
        head: &str,
        files: impl Iterator<Item = &'file String>,
        at: i64,
    ) -> Self {
        let name = format!("{CLEAN}{}.json", &Digest::of(place.own.to_string().as_bytes()).to_string()[..16]);
        let settings =
            [place.own.resolve("index"), place.own.resolve("config.worktree"), place.common.resolve("config")];
        let git = settings.iter().map(disk::stamp).collect::<Vec<_>>();
        let seen = memory.read::<Clean>(&name).filter(|seen| seen.head == head && seen.git == git).unwrap_or_default();
        let now = files.map(|file| (file.clone(), disk::stamp(layout.absolute(file)))).collect();
        Self { name, seen, now, git, at }
    }

    /// The files that differ; `None` if git has to be asked.
    pub(super) fn differing(&self) -> Option<HashSet<String>> {
        // Without an index, git reports every file as deleted.
        self.git.first().copied().flatten()?;
        let mut differing = HashSet::new();
        for (file, stamp) in &self.now {
            let (known, differs) = self.seen.files.get(file)?;
            if Some(*known) != *stamp {
                return None;
            }
            if *differs {
                differing.insert(file.clone());
            }
        }
        Some(differing)
    }

    /// Stores git's answer since the look.
    pub(super) fn remember(self, memory: &Memory, head: &str, differing: &HashSet<String>) {
        let Self { name, mut seen, now, git, at } = self;
        let mut files = std::mem::take(&mut seen.files);
        for (file, stamp) in now {
            let differs = differing.contains(&file);
            match stamp.filter(|stamp| stamp.is_settled(at)) {
                Some(stamp) => drop(files.insert(file, (stamp, differs))),
                None => drop(files.remove(&file)),
            }
        }
        memory.write(&name, &Clean { head: head.to_owned(), git, files });
    }
}
