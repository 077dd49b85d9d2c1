//! The right to write: a [`Disk`] knows the lock folders; a [`Hold`] has the locks, and applies changes.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use super::lock::{Holder, Lock, PeerLock};
use super::{AbsolutePath, DiskError, atomic};

/// How this call may write.
#[derive(Debug)]
pub(crate) struct Disk {
    lock_folders: Vec<PathBuf>,
    holder: Holder,
    patience: Duration,
    pub(super) faults: Faults,
    /// The number of the signal that asked this call to stop; 0 if none did.
    signal: Option<Arc<AtomicUsize>>,
}

impl Disk {
    /// `lock_folders` are the folders for lock files, best first; all of them are outside of every tree we write to.
    pub(crate) fn new(lock_folders: Vec<PathBuf>, holder: Holder, faults: Faults) -> Self {
        Self { lock_folders, holder, patience: Duration::from_secs(10), faults, signal: None }
    }

    /// The same, with a shorter wait for other writers.
    pub(crate) fn patient_for(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same, but a transaction that is under way is undone when `signal` is no longer 0.
    pub(crate) fn stopped_by(self, signal: Arc<AtomicUsize>) -> Self {
        Self { signal: Some(signal), ..self }
    }

    pub(super) fn is_interrupted(&self) -> Result<(), DiskError> {
        match self.signal.as_ref().map_or(0, |signal| signal.load(Ordering::SeqCst)) {
            0 => Ok(()),
            signal => Err(DiskError::Interrupted { signal }),
        }
    }

    /// Keeps writers out of the tree while several of its documents are read. Never writes. `None` if no call ever
    /// wrote there or the lock is not available; the caller then reads without it.
    pub(crate) fn share(&self, root: &AbsolutePath) -> Option<Lock> {
        Lock::share(&self.lock_folders, &atomic::canonical(root).ok()?, self.patience)
    }

    /// Takes the other program's lock of a state document, for the duration of a write.
    pub(crate) fn peer_state_lock(&self, state: &AbsolutePath) -> Result<PeerLock, DiskError> {
        PeerLock::of_state(state, &self.holder)
    }

    /// Takes the other program's lock of a planning folder, for the duration of a write.
    pub(crate) fn peer_planning_lock(&self, folder: &AbsolutePath) -> Result<PeerLock, DiskError> {
        PeerLock::of_planning(folder, &self.holder)
    }

    /// When the call began.
    pub(super) fn holder_since(&self) -> &str {
        &self.holder.since
    }

    pub(super) fn lock(&self, root: &AbsolutePath) -> Result<Lock, DiskError> {
        Lock::acquire(&self.lock_folders, root, &self.holder, self.patience)
    }
}

/// The locks on one or more trees.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    pub(super) disk: &'a Disk,
    /// Canonical, in path order.
    pub(super) roots: Vec<AbsolutePath>,
    pub(super) locks: Vec<Lock>,
    pub(super) recovered: Vec<AbsolutePath>,
}

impl Hold<'_> {
    /// The trees in which an unfinished transaction was found and finished.
    pub(crate) fn recovered(&self) -> &[AbsolutePath] {
        &self.recovered
    }

    /// Locks one more tree, for a transaction that spans it. Only use it if no other call can have that tree locked
    /// while it waits for one of these.
    pub(crate) fn include(&mut self, root: &AbsolutePath) -> Result<(), DiskError> {
        let root = atomic::canonical(root)?;
        if !self.roots.contains(&root) {
            self.locks.push(self.disk.lock(&root)?);
            self.roots.push(root);
        }
        Ok(())
    }

    pub(super) fn lock_of(&self, root: &AbsolutePath) -> Option<&Lock> {
        self.roots.iter().position(|held| held == root).map(|index| &self.locks[index])
    }
}

/// Steps at which a test makes this process fail or die. Debug builds only.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    stop_at: Option<u32>,
    kill_at: Option<u32>,
    pub(super) steps: Steps,
}

/// Counts the changes a call has made to the disk so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps(Arc<AtomicU32>);

impl Steps {
    /// The number of the next step.
    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn taken(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Faults {
    pub(crate) fn at(stop_at: Option<u32>, kill_at: Option<u32>) -> Self {
        let wanted = |step: Option<u32>| step.filter(|_| cfg!(debug_assertions));
        Self { stop_at: wanted(stop_at), kill_at: wanted(kill_at), steps: Steps::default() }
    }

    /// The same, with the step numbers continued from the call's other transactions.
    pub(crate) fn counted_by(self, steps: Steps) -> Self {
        Self { steps, ..self }
    }

    /// Must be called before each change to the disk.
    pub(super) fn step(&self) -> Result<(), DiskError> {
        let step = self.steps.next();
        if self.kill_at == Some(step) {
            std::process::abort();
        }
        if self.stop_at == Some(step) { Err(DiskError::Fault { step }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Digest;
    use super::*;

    #[test]
    fn changes_decided_under_the_locks_are_made_in_all_trees_or_none() {
        let temporary = crate::testing::folder();
        let folder = atomic::canonical(&AbsolutePath::parse(temporary.path()).unwrap()).unwrap();
        let (one, other) = (folder.resolve("one"), folder.resolve("other"));
        let holder = Holder { process: 1, folder: PathBuf::new(), since: String::new() };
        let disk = Disk::new(vec![folder.resolve("state/locks").as_path().to_path_buf()], holder, Faults::default());
        let write = |text: &'static str, fails: bool| {
            let (one, other) = (one.resolve("a"), other.resolve("b"));
            disk.transact([&folder.resolve("one"), &folder.resolve("other")], move |_, changes| {
                for path in [one, other] {
                    let before = Digest::of_file(&path)?;
                    changes.write(path, text, before);
                }
                if fails { Err(DiskError::Fault { step: 0 }) } else { Ok(text.len()) }
            })
        };
        assert_eq!(write("first", false).unwrap(), 5);
        assert!(write("second", true).is_err());
        for path in [one.resolve("a"), other.resolve("b")] {
            assert_eq!(crate::disk::read_text(&path).unwrap().as_deref(), Some("first"));
        }
        // The inputs of the decision are checked again before the first byte is written.
        let overtaken: Result<(), DiskError> = disk.transact([&one], |_, changes| {
            changes.expect(other.resolve("b"), Some(Digest::of(b"else")));
            changes.write(one.resolve("c"), "c", None);
            Ok(())
        });
        assert!(matches!(overtaken, Err(DiskError::Changed { .. })), "{overtaken:?}");
        assert_eq!(crate::disk::read_text(one.resolve("c")).unwrap(), None);
    }
}
