//! The lock that other programs keep on one of their files: a folder, made by the program that changes the file and
//! removed afterwards. The holder touches it to show that it is alive.

use std::time::{Duration, Instant};

use super::AbsolutePath;

/// How long to wait for the lock: a holder that changes a login has to ask a server.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 5 });

/// The age at which an untouched lock counts as abandoned.
const STALE: Duration = Duration::from_secs(10);

const PAUSE: Duration = Duration::from_millis(20);

/// A lock that lasts as long as this value.
#[derive(Debug)]
pub(crate) struct FolderLock {
    /// `None` if another program did not release the lock in time: replacing a whole file is safe without it too.
    at: Option<AbsolutePath>,
}

impl FolderLock {
    /// Takes the lock, waiting while another program has it.
    pub(crate) fn wait(at: &AbsolutePath) -> Self {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match std::fs::create_dir(at) {
                Ok(()) => return Self { at: Some(at.clone()) },
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    let touched = std::fs::metadata(at).and_then(|found| found.modified()).ok();
                    if touched.and_then(|touched| touched.elapsed().ok()).is_some_and(|age| age > STALE) {
                        let _ = std::fs::remove_dir(at);
                    }
                }
                Err(_) => break,
            }
            std::thread::sleep(PAUSE);
        }
        Self { at: None }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        if let Some(at) = &self.at {
            let _ = std::fs::remove_dir(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_waited_for_taken_from_the_dead_and_released() {
        let temporary = crate::testing::folder();
        let at = AbsolutePath::parse(temporary.path().join("x.lock")).unwrap();
        let held = FolderLock::wait(&at);
        assert!(at.as_path().is_dir());
        let other = std::thread::spawn({
            let at = at.clone();
            move || FolderLock::wait(&at).at.is_some()
        });
        std::thread::sleep(PAUSE);
        drop(held);
        assert!(other.join().unwrap());
        assert!(!at.as_path().is_dir());
        std::fs::create_dir(&at).unwrap();
        assert!(FolderLock::wait(&at).at.is_none(), "its holder lives");
        assert!(at.as_path().is_dir());
    }
}
