//! Points clients at the model server, with the facts that `gsd-tools auto probe` has about them.

use std::path::Path;

use super::facts::{self, ClientFacts};

pub(crate) fn pointed(client: &str) -> &'static ClientFacts {
    &facts::all().unwrap()[client]
}

/// Writes the settings that its user has in the home folder.
pub(crate) fn write_settings(client: &str, home: &Path, url: &str) {
    for (path, text) in pointed(client).files(url) {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}
