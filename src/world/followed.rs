//! A file in memory instead of a pipe, for programs that end without waiting until a pipe has taken all their output.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The pause between two checks for more output.
const PAUSE: Duration = Duration::from_millis(10);

/// Whether the output is complete.
#[derive(Clone, Debug, Default)]
pub(super) struct IsOver(Arc<AtomicBool>);

impl IsOver {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Reads a file while another process writes it, up to its end once the output is complete.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "other systems have no file in memory"))]
pub(super) struct Followed {
    file: File,
    at: u64,
    is_over: IsOver,
}

/// Returns a file to write to, and a reader of it; `None` if the system has no files in memory.
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
            // Checked first, so that everything written before the end is seen.
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
        // Does not move the other process's write position.
        let count = std::os::unix::fs::FileExt::read_at(&self.file, piece, self.at)?;
        self.at += count as u64;
        Ok(count)
    }

    #[cfg(not(unix))]
    fn read_on(&mut self, _piece: &mut [u8]) -> std::io::Result<usize> {
        Ok(0)
    }
}
