//! Gits of anybody that work in a folder now.

use std::path::Path;

use super::World;

impl World {
    /// Whether a git works in one of these folders, or below one. True where that cannot be told.
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
                // It has ended; one that cannot be looked at may be anywhere.
                Err(error) => error.kind() != std::io::ErrorKind::NotFound,
            }
        };
        cfg!(not(target_os = "linux")) || processes.flatten().any(|entry| lives(&entry.path()))
    }
}
