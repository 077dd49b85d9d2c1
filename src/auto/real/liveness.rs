//! Watches whether the files that a session works on change, for a client that works silently.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use crate::disk::{self, AbsolutePath, EntryKind};

/// The most files that are looked at.
const MOST: usize = 100_000;

/// The part of the time that may be spent on looking, as a divisor.
const SHARE: u32 = 20;

/// The files of a worktree, except those of git.
#[derive(Debug)]
pub(super) struct Liveness {
    folder: AbsolutePath,
    seen: Option<u64>,
    /// The time of the last look, and how long it took.
    looked: Option<(Instant, Duration)>,
}

impl Liveness {
    pub(super) fn of(folder: AbsolutePath) -> Self {
        Self { folder, seen: None, looked: None }
    }

    /// Returns a number that changes when a file is added, removed or changed. A large tree is looked at less often.
    pub(super) fn number(&mut self) -> Option<u64> {
        let now = Instant::now();
        if self.looked.is_none_or(|(at, took)| now.saturating_duration_since(at) >= took * SHARE) {
            self.seen = Some(self.look());
            self.looked = Some((now, now.elapsed()));
        }
        self.seen
    }

    fn look(&self) -> u64 {
        let (mut number, mut left, mut open) = (0_u64, MOST, vec![self.folder.as_path().to_path_buf()]);
        while let Some(folder) = open.pop() {
            // A folder that disappears during the look is a change too.
            for entry in disk::list(&folder).ok().flatten().unwrap_or_default() {
                left -= 1;
                if left == 0 {
                    return number;
                }
                let mut hasher = DefaultHasher::new();
                entry.path.hash(&mut hasher);
                match entry.kind {
                    EntryKind::Folder if entry.file_name() == b".git" => continue,
                    EntryKind::Folder => open.push(entry.path),
                    EntryKind::File => (disk::modified(&entry.path), disk::size(&entry.path)).hash(&mut hasher),
                    EntryKind::Link | EntryKind::Other => {}
                }
                number = number.wrapping_add(hasher.finish());
            }
        }
        number
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare files by hand")]
    use super::*;

    #[test]
    fn added_changed_and_removed_files_are_seen_and_changes_of_git_are_not() {
        let temporary = crate::testing::folder();
        let folder = AbsolutePath::parse(temporary.path()).unwrap();
        std::fs::create_dir_all(folder.resolve("src/deep")).unwrap();
        let look = || Liveness::of(folder.clone()).number().unwrap();
        let mut before = look();
        assert_eq!(before, look());
        let mut changes = |change: &dyn Fn()| {
            change();
            let now = look();
            (std::mem::replace(&mut before, now) != now).then_some(())
        };
        let file = folder.resolve("src/deep/a");
        assert!(changes(&|| std::fs::write(&file, "one").unwrap()).is_some());
        assert!(changes(&|| std::fs::write(&file, "more").unwrap()).is_some());
        assert!(changes(&|| ()).is_none());
        assert!(changes(&|| std::fs::rename(&file, folder.resolve("b")).unwrap()).is_some());
        assert!(changes(&|| std::fs::create_dir_all(folder.resolve(".git/objects")).unwrap()).is_none());
    }

    #[test]
    fn a_tree_is_not_looked_at_on_every_call() {
        let temporary = crate::testing::folder();
        let mut liveness = Liveness::of(AbsolutePath::parse(temporary.path()).unwrap());
        let before = liveness.number();
        liveness.looked = Some((Instant::now(), Duration::from_secs(60)));
        std::fs::write(temporary.path().join("a"), "a").unwrap();
        assert_eq!(liveness.number(), before);
        liveness.looked = None;
        assert_ne!(liveness.number(), before);
    }
}
