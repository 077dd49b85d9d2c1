//! A file in memory in the place of a pipe, for programs that do not wait for a pipe to take all they wrote before they end.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two looks whether there is more.
const PAUSE: Duration = Duration::from_millis(10);

/// Whether nothing more will be written.
#[derive(Clone, Debug, Default)]
pub(super) struct IsOver(Arc<AtomicBool>);

impl IsOver {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Reads a file that another process writes, to where it ends once it is over.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "other systems have no file in memory"))]
pub(super) struct Followed {
    file: File,
    at: u64,
    is_over: IsOver,
}

/// A file to write to, and the same to be read; `None` where the system has no file in memory.
#[cfg(target_os = "linux")]
pub(super) fn follow(is_over: &IsOver) -> Option<(Stdio, Followed)> {
    let file = rustix::fs::memfd_create("gsd-tools-output", rustix::fs::MemfdFlags::CLOEXEC).ok().map(File::from)?;
    let written = file.try_clone().ok()?;
    Some((written.into(), Followed { file, at: 0, is_over: is_over.clone() }))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn follow(_is_over: &IsOver) -> Option<(Stdio, Followed)> {
    None
}

impl Read for Followed {
    fn read(&mut self, piece: &mut [u8]) -> std::io::Result<usize> {
        loop {
            // Asked first: what was written before it was over is then there.
            let is_over = self.is_over.0.load(Ordering::Acquire);
            let count = self.read_on(piece)?;
            if count > 0 || is_over {
                return Ok(count);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

impl Followed {
    #[cfg(unix)]
    fn read_on(&mut self, piece: &mut [u8]) -> std::io::Result<usize> {
        // The place at which the other process writes is not moved.
        let count = std::os::unix::fs::FileExt::read_at(&self.file, piece, self.at)?;
        self.at += count as u64;
        Ok(count)
    }

    #[cfg(not(unix))]
    fn read_on(&mut self, _piece: &mut [u8]) -> std::io::Result<usize> {
        Ok(0)
    }
}
