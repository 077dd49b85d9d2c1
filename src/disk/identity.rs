//! Distinguishes a folder from one made later at the same path.

use std::time::UNIX_EPOCH;

use super::AbsolutePath;

/// Returns an identifier of the folder at `path`. A folder that replaces it has a different one, and so does a copy.
/// Empty if the folder does not exist.
pub(crate) fn identity(path: &AbsolutePath) -> String {
    let Ok(metadata) = std::fs::metadata(path) else { return String::new() };
    let made = metadata.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    format!("{} {}", number(&metadata), made.unwrap_or_default().as_nanos())
}

#[cfg(unix)]
fn number(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_metadata: &std::fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    use super::*;

    #[test]
    fn a_folder_keeps_its_identity_when_it_moves_and_no_other_gets_it() {
        let temporary = crate::testing::folder();
        let path = |name: &str| AbsolutePath::parse(temporary.path().join(name)).unwrap();
        assert_eq!(identity(&path("a")), "");
        std::fs::create_dir(path("a")).unwrap();
        let first = identity(&path("a"));
        std::fs::write(path("a").resolve("file"), "").unwrap();
        std::fs::rename(path("a"), path("b")).unwrap();
        assert_eq!(identity(&path("b")), first);
        std::fs::create_dir(path("a")).unwrap();
        assert_ne!(identity(&path("a")), first);
    }
}
