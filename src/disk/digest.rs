//! The SHA-256 of bytes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use super::{AbsolutePath, DiskError};

/// The SHA-256 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a file of any size, without loading it; `None` if the file does not exist.
    pub(crate) fn of_file(path: &AbsolutePath) -> Result<Option<Self>, DiskError> {
        let Some((file, _)) = super::open(path.as_path())? else { return Ok(None) };
        Self::of_rest(&[], file).map(Some).map_err(DiskError::io("read", path.as_path()))
    }

    /// The digest of a file from the bytes already read and the rest of it.
    pub(super) fn of_rest(read: &[u8], mut rest: File) -> io::Result<Self> {
        let state = FileStamp::of(&rest);
        if let Some(known) = state.and_then(FileStamp::known) {
            return Ok(known);
        }
        let mut hasher = Sha256::new();
        hasher.update(read);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = rest.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
        }
        let digest = Self(hasher.finalize().into());
        if let Some(state) = state.filter(|state| FileStamp::of(&rest) == Some(*state)) {
            state.remember(digest);
        }
        Ok(digest)
    }

    /// Parses 64 hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        // Only in the spelling that we write: two different texts are never the same digest.
        if text.len() != 64 || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// The metadata that shows whether a file still has the bytes that were read.
///
/// Each step of an install checks the installed program, which takes longer to read than all other files together.
/// `ctime` is left out because hosts share the program through hard links, and each new link changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: SystemTime,
}

/// The digests of large files that this process has read.
static KNOWN: Mutex<BTreeMap<FileStamp, Digest>> = Mutex::new(BTreeMap::new());

impl FileStamp {
    /// Reading a smaller file is faster than looking it up.
    const LEAST: u64 = 1 << 20;

    /// Two changes within one tick of the system's clock have the same time.
    const STEP: Duration = Duration::from_millis(100);

    #[cfg(unix)]
    fn of(file: &File) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = file.metadata().ok().filter(|metadata| metadata.len() >= Self::LEAST)?;
        let modified = metadata.modified().ok()?;
        let state = Self { device: metadata.dev(), inode: metadata.ino(), size: metadata.len(), modified };
        let age = modified.elapsed().ok()?;
        (age > Self::STEP).then_some(state)
    }

    #[cfg(not(unix))]
    fn of(_: &File) -> Option<Self> {
        None
    }

    fn known(self) -> Option<Digest> {
        KNOWN.lock().ok()?.get(&self).copied()
    }

    fn remember(self, digest: Digest) {
        if let Ok(mut known) = KNOWN.lock() {
            known.insert(self, digest);
        }
    }
}

/// Computes the SHA-256 of bytes that arrive in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Digester(Sha256);

impl Digester {
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn digest(self) -> Digest {
        Digest(self.0.finalize().into())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_usual_sha256_in_hexadecimal() {
        let digest = Digest::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(Digest::parse(text), Some(digest));
        let mut digester = Digester::default();
        for part in [&b"a"[..], b"", b"bc"] {
            digester.take(part);
        }
        assert_eq!(digester.digest(), digest);
        assert_eq!(Digest::parse(&text[1..]), None);
        assert_eq!(Digest::parse(&text.replace('b', "é")), None);
    }

    #[test]
    fn a_large_file_has_a_new_digest_after_a_change() {
        let folder = crate::testing::folder();
        let path = folder.path().join("program");
        let mut bytes = vec![7; 2 << 20];
        let place = AbsolutePath::parse(path.to_str().unwrap()).unwrap();
        for at in [0, 1 << 20, (2 << 20) - 1] {
            bytes[at] += 1;
            std::fs::write(&path, &bytes).unwrap();
            for _ in 0..2 {
                assert_eq!(Digest::of_file(&place).unwrap(), Some(Digest::of(&bytes)));
                std::thread::sleep(FileStamp::STEP * 2);
            }
        }
    }
}
