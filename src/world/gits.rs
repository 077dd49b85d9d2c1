//! Git processes of any program that run in a folder now.

use std::path::Path;

use super::World;

impl World {
    /// True if a git process runs in or below one of these folders, or if that is unknown.
    #[expect(clippy::unused_self, reason = "what is asked of the world is asked through a value")]
    pub(crate) fn git_lives_in(&self, folders: &[&Path]) -> bool {
        let Ok(processes) = std::fs::read_dir("/proc") else { return true };
        let lives = |process: &Path| {
            let name = std::fs::read_to_string(process.join("comm")).unwrap_or_default();
            if !name.starts_with("git") {
                return false;
            }
            match std::fs::read_link(process.join("cwd")) {
                Ok(place) => folders.iter().any(|folder| place.starts_with(folder)),
                // `NotFound` means it has ended. A process that cannot be inspected may be anywhere.
                Err(error) => error.kind() != std::io::ErrorKind::NotFound,
            }
        };
        cfg!(not(target_os = "linux")) || processes.flatten().any(|entry| lives(&entry.path()))
    }
}
