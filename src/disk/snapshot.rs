//! What was on disk when we looked: the left-hand side of every plan.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use sha2::{Digest as _, Sha256};

use super::{AbsolutePath, DiskError, present};

/// The SHA-256 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a file of any size, without holding it; `None` if there is no such file.
    pub(crate) fn of_file(path: &AbsolutePath) -> Result<Option<Self>, DiskError> {
        let failed = |source| DiskError::Io { doing: "read", path: path.as_path().to_path_buf(), source };
        let Some((mut file, _)) = super::open(path.as_path())? else { return Ok(None) };
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = file.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                return Ok(Some(Self(hasher.finalize().into())));
            }
            hasher.update(&buffer[..read]);
        }
    }

    /// Parses 64 hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a SHA-256 has 64 hexadecimal digits"))
    }
}

/// What stands at a path. Links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Absent,
    File(FoundFile),
    Folder,
    /// A socket, a pipe, a device: never ours, never touched.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) digest: Digest,
    /// The bytes, where they were asked for.
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) executable: bool,
    /// Somebody took away the right to write to it.
    pub(crate) read_only: bool,
}

impl Found {
    /// The digest of what is there; `None` where there is no file.
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Self::File(file) => Some(file.digest),
            Self::Absent | Self::Folder | Self::Other => None,
        }
    }

    /// Keeps the bytes of a file where a `limit` for them is given.
    fn look(path: &AbsolutePath, limit: Option<u64>) -> Result<Self, DiskError> {
        let metadata = present(std::fs::metadata(path)).map_err(DiskError::io("look at", path.as_path()))?;
        let Some(metadata) = metadata else { return Ok(Self::Absent) };
        if metadata.is_dir() {
            return Ok(Self::Folder);
        }
        if !metadata.is_file() {
            return Ok(Self::Other);
        }
        let (executable, read_only) = (is_executable(&metadata), metadata.permissions().readonly());
        let file = match limit {
            Some(limit) => super::read_up_to(path, limit)?.map(|bytes| (Digest::of(&bytes), Some(bytes))),
            None => Digest::of_file(path)?.map(|digest| (digest, None)),
        };
        // A file that went away between the two looks is absent.
        Ok(file.map_or(Self::Absent, |(digest, bytes)| Self::File(FoundFile { digest, bytes, executable, read_only })))
    }
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &std::fs::Metadata) -> bool {
    false
}

/// What was found at each path that was looked at, at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    found: BTreeMap<AbsolutePath, Found>,
}

impl Snapshot {
    /// Looks at each path, for its digest only.
    #[cfg(test)]
    pub(crate) fn of<'a>(paths: impl IntoIterator<Item = &'a AbsolutePath>) -> Result<Self, DiskError> {
        let mut snapshot = Self::default();
        for path in paths {
            snapshot.look(path)?;
        }
        Ok(snapshot)
    }

    /// Looks at a path, for its digest only.
    pub(crate) fn look(&mut self, path: &AbsolutePath) -> Result<&Found, DiskError> {
        if !self.found.contains_key(path) {
            self.found.insert(path.clone(), Found::look(path, None)?);
        }
        Ok(&self.found[path])
    }

    /// Looks at a path and keeps its bytes.
    pub(crate) fn read(&mut self, path: &AbsolutePath) -> Result<Option<&[u8]>, DiskError> {
        self.read_up_to(path, super::DOCUMENT_LIMIT)
    }

    /// As [`Self::read`], for settings.
    pub(crate) fn read_settings(&mut self, path: &AbsolutePath) -> Result<Option<&[u8]>, DiskError> {
        self.read_up_to(path, super::SETTINGS_LIMIT)
    }

    fn read_up_to(&mut self, path: &AbsolutePath, limit: u64) -> Result<Option<&[u8]>, DiskError> {
        let known = matches!(self.found.get(path), Some(Found::File(FoundFile { bytes: Some(_), .. })));
        if !known {
            self.found.insert(path.clone(), Found::look(path, Some(limit))?);
        }
        Ok(self.bytes(path))
    }

    /// What was found; a path that was never looked at is absent.
    pub(crate) fn found(&self, path: &AbsolutePath) -> &Found {
        self.found.get(path).unwrap_or(&Found::Absent)
    }

    /// The bytes of a file that was [`Self::read`].
    pub(crate) fn bytes(&self, path: &AbsolutePath) -> Option<&[u8]> {
        match self.found(path) {
            Found::File(file) => file.bytes.as_deref(),
            Found::Absent | Found::Folder | Found::Other => None,
        }
    }

    pub(crate) fn digest(&self, path: &AbsolutePath) -> Option<Digest> {
        self.found(path).digest()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare files by hand")]
    use super::*;

    #[test]
    fn a_digest_is_the_usual_sha256_in_hexadecimal() {
        let digest = Digest::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(Digest::parse(text), Some(digest));
        assert_eq!(Digest::parse(&text[1..]), None);
        assert_eq!(Digest::parse(&text.replace('b', "é")), None);
    }

    #[test]
    fn a_snapshot_keeps_what_it_saw() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = AbsolutePath::parse(temporary.path()).unwrap();
        let path = folder.resolve("a");
        std::fs::write(&path, "one").unwrap();
        let mut snapshot = Snapshot::of([&path, &folder, &folder.resolve("b")]).unwrap();
        assert_eq!(snapshot.read(&path).unwrap(), Some(&b"one"[..]));
        std::fs::write(&path, "two").unwrap();
        assert_eq!(snapshot.digest(&path), Some(Digest::of(b"one")));
        assert_eq!(snapshot.found(&folder), &Found::Folder);
        assert_eq!(snapshot.found(&folder.resolve("b")), &Found::Absent);
    }
}
