//! Informs the person at most once a day about a newer version, and starts a look-up once a day, in the background.
//!
//! A session never waits for a server: the hook starts this program with `update-check` and returns, and the result is
//! shown at a later start.

use serde::{Deserialize, Serialize};

use super::scene::Scene;
use super::verdict::Reaction;
use crate::disk::{self, AbsolutePath};
use crate::world::{Program, World};

/// The name under which this program is published; `None` as long as it is not. A look-up asks for no other name, since
/// anybody could publish something under it. Debug builds ask for a name that tests choose.
pub(crate) fn published_as(world: &World) -> Option<String> {
    world.variable("GSD_PUBLISHED_AS").filter(|_| cfg!(debug_assertions))
}

/// The variable that turns the look-up off, as the setting does.
const VARIABLE: &str = "GSD_UPDATE_CHECK";

/// Milliseconds between two look-ups.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// What is known about newer versions, between calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownVersions {
    /// The time of the last look-up, in milliseconds since 1970.
    #[serde(default)]
    pub(crate) looked_at: i64,
    /// The newest version that exists.
    #[serde(default)]
    pub(crate) latest: Option<String>,
    /// The day on which the person was last informed.
    #[serde(default)]
    told_on: Option<String>,
}

impl KnownVersions {
    /// What an earlier call left; an unreadable file counts as empty, and so does what was found under a name that is
    /// not ours.
    pub(crate) fn recall(world: &World) -> Self {
        let file = file(world).filter(|_| published_as(world).is_some());
        let text = file.and_then(|file| disk::read_text(file).ok().flatten());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Stores it for a later call. If that fails, it is looked up again.
    pub(crate) fn leave(&self, world: &World) {
        if let (Some(file), Ok(text)) = (file(world), serde_json::to_string(self)) {
            let _ = disk::write_fleeting(&file, text.as_bytes());
        }
    }

    /// The version to update to, if one is newer than this program.
    pub(crate) fn newer(&self) -> Option<&str> {
        self.latest.as_deref().filter(|latest| is_newer(latest, env!("CARGO_PKG_VERSION")))
    }
}

fn file(world: &World) -> Option<AbsolutePath> {
    AbsolutePath::parse(world.state_folder()?.join("versions.json")).ok()
}

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    let world = scene.world;
    if published_as(world).is_none() || !scene.project.flag("hooks.update_check", true) || is_off(world) {
        return Reaction::Nothing;
    }
    let mut known = KnownVersions::recall(world);
    if (scene.now() - known.looked_at).abs() > DAY {
        // Written first, so that sessions that start together look only once.
        known.looked_at = scene.now();
        known.leave(world);
        if let Ok(program) = world.executable() {
            // If the look-up cannot be started, it is made another day.
            let look = Program::new(program).arguments(["update-check"]);
            let _ = world.start_beside(&world.home().map_or(look.clone(), |home| look.folder(&home)));
        }
    }
    let Some(newer) = known.newer().map(str::to_owned) else { return Reaction::Nothing };
    let today = world.today();
    if known.told_on.as_ref() == Some(&today) {
        return Reaction::Nothing;
    }
    known.told_on = Some(today);
    known.leave(world);
    Reaction::Tell(note(&newer))
}

fn note(newer: &str) -> String {
    format!(
        "gsd-tools {newer} is available; this is {}. Install it the way this one was installed, then run \
         `gsd-tools install` for the same hosts.",
        env!("CARGO_PKG_VERSION")
    )
}

/// True if the user turned the look-up off, or if no person could be informed.
fn is_off(world: &World) -> bool {
    let setting = world.variable(VARIABLE);
    world.flag("CI") || setting.is_some_and(|setting| matches!(setting.trim(), "off" | "0" | "false" | "no"))
}

/// True if a version comes after another. A version that is not three numbers, such as a pre-release, never does.
pub(crate) fn is_newer(latest: &str, own: &str) -> bool {
    let numbers = |version: &str| -> Option<[u32; 3]> {
        let parts: Option<Vec<u32>> = version.trim().split('.').map(|part| part.parse().ok()).collect();
        parts?.try_into().ok()
    };
    let without_ending = own.split(['-', '+']).next().unwrap_or(own);
    matches!((numbers(latest), numbers(without_ending)), (Some(latest), Some(own)) if latest > own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_later_release_is_newer() {
        assert!(is_newer("1.10.0", "1.9.9") && is_newer("2.0.0", "1.9.9-beta.1"));
        for latest in ["1.9.9", "1.9.8", "2.0.0-beta.1", "", "x.y.z", "2", "99999999999.0.0"] {
            assert!(!is_newer(latest, "1.9.9"), "{latest}");
        }
    }
}
