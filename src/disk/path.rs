//! Paths that are checked once, so that other code need not check again.
//!
//! An [`AbsolutePath`] is a location on this machine; a [`RelativePath`] is what we write into documents and manifests:
//! `/` on every system, never leading outside.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf, Prefix};

use crate::failure::unexplained;

/// A path from the root of the file system, without `.` and `..`.
///
/// The dots are resolved as text, before links are followed: the path means what the user typed. Its parts are separated
/// by one separator each, so that paths can be compared by their bytes: an install plans thousands of them.
#[derive(Debug, Clone)]
pub(crate) struct AbsolutePath(PathBuf);

impl AbsolutePath {
    /// Accepts `path` if it is absolute.
    pub(crate) fn parse(path: impl AsRef<Path>) -> Result<Self, PathError> {
        let path = path.as_ref();
        if !path.is_absolute() {
            return Err(PathError::NotAbsolute { path: path.to_path_buf() });
        }
        Ok(Self(without_dots(path)))
    }

    /// `path` as seen from this folder: `path` itself if it is absolute, otherwise below this folder; `..` may lead up.
    pub(crate) fn resolve(&self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        if path.has_root() || matches!(path.components().next(), Some(Component::Prefix(_))) {
            return Self(without_dots(&self.0.join(path)));
        }
        let mut whole = self.0.clone();
        push_parts(&mut whole, path);
        Self(whole)
    }

    pub(crate) fn join(&self, path: &RelativePath) -> Self {
        if MAIN_SEPARATOR == '/' {
            return Self(self.0.join(&path.0));
        }
        Self(path.segments().fold(self.0.clone(), |whole, segment| whole.join(segment)))
    }

    pub(crate) fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.to_path_buf()))
    }

    /// The last segment; empty for the root of the file system.
    pub(crate) fn name(&self) -> String {
        self.0.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// A path with another name in the same folder.
    pub(crate) fn beside(&self, name: &str) -> Self {
        Self(self.0.with_file_name(name))
    }

    pub(crate) fn is_within(&self, folder: &Self) -> bool {
        let below = self.bytes().strip_prefix(folder.bytes());
        below.is_some_and(|below| {
            below.is_empty() || is_separator(below[0]) || folder.bytes().last().copied().is_some_and(is_separator)
        })
    }

    /// This path relative to `folder`; `None` if it is not below it or not UTF-8.
    pub(crate) fn relative_to(&self, folder: &Self) -> Option<RelativePath> {
        if MAIN_SEPARATOR == '/' {
            let rest = std::str::from_utf8(self.bytes().strip_prefix(folder.bytes())?).ok()?;
            let rest = if folder.bytes() == b"/" { rest } else { rest.strip_prefix('/')? };
            return RelativePath::parse(rest).ok();
        }
        let rest = self.0.strip_prefix(&folder.0).ok()?;
        let segments: Option<Vec<&str>> = rest.components().map(|part| part.as_os_str().to_str()).collect();
        RelativePath::parse(&segments?.join("/")).ok()
    }

    pub(crate) fn as_path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> &[u8] {
        self.0.as_os_str().as_encoded_bytes()
    }
}

fn is_separator(byte: u8) -> bool {
    std::path::is_separator(char::from(byte))
}

impl PartialEq for AbsolutePath {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for AbsolutePath {}

impl Hash for AbsolutePath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl PartialOrd for AbsolutePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for AbsolutePath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

impl AsRef<Path> for AbsolutePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for AbsolutePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(formatter)
    }
}

fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    push_parts(&mut clean, path);
    clean
}

/// Adds the parts of `path`; `..` leads up.
fn push_parts(clean: &mut PathBuf, path: &Path) {
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            // Windows reads the letter of a drive without regard to its case.
            Component::Prefix(prefix) => match prefix.kind() {
                Prefix::Disk(letter) => clean.push(format!("{}:", char::from(letter).to_ascii_uppercase())),
                _ => clean.push(part),
            },
            Component::RootDir | Component::Normal(_) => clean.push(part),
        }
    }
}

/// A path below some folder, with `/` between its segments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub(crate) struct RelativePath(String);

impl RelativePath {
    /// Parses `text`; refuses absolute paths, `.`, `..`, `\`, drive letters, NUL and empty segments.
    pub(crate) fn parse(text: &str) -> Result<Self, PathError> {
        let drive = text.as_bytes().get(1) == Some(&b':') && text.starts_with(|c: char| c.is_ascii_alphabetic());
        let sound = |segment: &str| !segment.is_empty() && segment != "." && segment != "..";
        if drive || text.contains(['\\', '\0']) || !text.split('/').all(sound) {
            return Err(PathError::NotRelative { text: text.to_owned() });
        }
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for RelativePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::parse(text)
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl<'de> serde::Deserialize<'de> for RelativePath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A path of the wrong kind.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum PathError {
    #[error("`{}` is not an absolute path", path.display())]
    NotAbsolute { path: PathBuf },
    #[error("`{text}` is not a path below a folder: no leading `/`, no `.` or `..`, no `\\`, no empty segment")]
    NotRelative { text: String },
}

unexplained!(PathError);

#[cfg(test)]
mod tests {
    use super::*;

    fn absolute(text: &str) -> AbsolutePath {
        AbsolutePath::parse(text).unwrap()
    }

    #[test]
    fn paths_that_lead_outside_are_refused() {
        for text in ["", "/a", "../a", "a/../b", "a//b", "./a", "a/.", "a\\b", "C:/a", "c:a", "a\0b", "a/"] {
            assert!(RelativePath::parse(text).is_err(), "{text:?}");
        }
        for text in ["a", "a/b.md", ".hidden/..twice", "a b/ç"] {
            assert_eq!(RelativePath::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn dots_are_resolved_as_text() {
        assert_eq!(absolute("/a/./b/../c").as_path(), Path::new("/a/c"));
        assert_eq!(absolute("/../a").as_path(), Path::new("/a"));
        assert_eq!(absolute("/a/b").resolve("../c").as_path(), Path::new("/a/c"));
        assert_eq!(absolute("/a/b").resolve("/c/./d").as_path(), Path::new("/c/d"));
        assert_eq!(absolute("/a").resolve("../../b/").as_path(), Path::new("/b"));
        assert!(AbsolutePath::parse("a/b").is_err());
    }

    #[test]
    fn paths_of_the_same_place_are_equal_and_whole_folders_contain_them() {
        assert_eq!(absolute("/a//b/"), absolute("/a/b"));
        for (path, folder, is_within) in [
            ("/a/b", "/a", true),
            ("/a", "/a", true),
            ("/a", "/", true),
            ("/ab", "/a", false),
            ("/a-b/c", "/a", false),
            ("/a", "/a/b", false),
        ] {
            assert_eq!(absolute(path).is_within(&absolute(folder)), is_within, "{path} {folder}");
        }
    }

    #[test]
    fn relative_to_is_the_inverse_of_join() {
        let path = RelativePath::parse("skills/x/SKILL.md").unwrap();
        let root = absolute("/home/u");
        assert_eq!(root.join(&path).relative_to(&root), Some(path));
        assert_eq!(absolute("/home/user2").relative_to(&root), None);
        assert_eq!(root.relative_to(&root), None);
    }
}
