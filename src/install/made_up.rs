//! Installs as an earlier version would make them, for tests of updates in debug builds.

use crate::emit::{Artifact, Contents};
use crate::world::World;

/// The version to install: this program's. In debug builds, tests choose another one.
pub(crate) fn version(world: &World) -> String {
    let chosen = world.variable("GSD_AS_VERSION").filter(|_| cfg!(debug_assertions));
    chosen.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}

/// Changes the last line of every text, as an update does in some.
pub(super) fn of_another_version(artifacts: &mut [Artifact], version: &str) {
    for artifact in artifacts {
        let is_markdown = artifact.path.strip_suffix(".md").is_some();
        if let (Contents::Whole(text), true) = (&mut artifact.contents, is_markdown) {
            text.extend(["<!-- ", version, " -->\n"]);
        }
    }
}
