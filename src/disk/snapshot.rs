//! What was on disk when we looked: the left-hand side of every plan.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use super::tree::Tree;
use super::{AbsolutePath, DOCUMENT_LIMIT, DiskError, Entry, SETTINGS_LIMIT};

/// The SHA-256 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a file of any size, without holding it; `None` if there is no such file.
    pub(crate) fn of_file(path: &AbsolutePath) -> Result<Option<Self>, DiskError> {
        let Some((file, _)) = super::open(path.as_path())? else { return Ok(None) };
        Self::of_rest(&[], file).map(Some).map_err(DiskError::io("read", path.as_path()))
    }

    /// The digest of what was read of a file, and of the rest of it.
    pub(super) fn of_rest(read: &[u8], mut rest: impl Read) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        hasher.update(read);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = rest.read(&mut buffer)?;
            if read == 0 {
                return Ok(Self(hasher.finalize().into()));
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
    /// The bytes; missing where nobody asked for those of a program or of a file over the limit.
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) executable: bool,
    /// Somebody took away the right to write to it.
    pub(crate) read_only: bool,
    /// Whether it is the image of a program, by its first bytes: ELF, Mach-O, or Windows.
    pub(crate) program: bool,
}

impl FoundFile {
    /// Whether the file is as these bytes were written. A checkout of git's may have changed the ends of its lines to
    /// `\r\n`; no person did.
    pub(crate) fn is_as_written(&self, written: Digest) -> bool {
        let with_newlines = || {
            let bytes = self.bytes.as_deref()?;
            if !bytes.windows(2).any(|pair| pair == b"\r\n") {
                return None;
            }
            let mut next = bytes.iter().skip(1).chain(&[0]);
            let is_kept = |byte: &&u8| next.next() != Some(&b'\n') || **byte != b'\r';
            Some(Digest::of(&bytes.iter().filter(is_kept).copied().collect::<Vec<u8>>()))
        };
        self.digest == written || with_newlines() == Some(written)
    }
}

impl Found {
    /// The digest of what is there; `None` where there is no file.
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Self::File(file) => Some(file.digest),
            Self::Absent | Self::Folder | Self::Other => None,
        }
    }
}

/// Of which files a look keeps the bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// Of all but programs and what is larger than [`DOCUMENT_LIMIT`].
    Documents,
    /// Of every file; one that is larger than this is refused.
    UpTo(u64),
}

/// What was found at each path that was looked at, at one moment. No file is opened twice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    tree: Tree,
    found: BTreeMap<AbsolutePath, Found>,
}

impl Snapshot {
    /// Looks at a tree that is not on disk.
    #[cfg(test)]
    pub(crate) fn in_memory(tree: super::MemoryTree) -> Self {
        Self { tree: Tree::Memory(tree), found: BTreeMap::new() }
    }

    /// Looks at each path.
    #[cfg(test)]
    pub(crate) fn of<'a>(paths: impl IntoIterator<Item = &'a AbsolutePath>) -> Result<Self, DiskError> {
        let mut snapshot = Self::default();
        for path in paths {
            snapshot.look(path)?;
        }
        Ok(snapshot)
    }

    /// Looks at a path, and keeps the bytes of a document.
    pub(crate) fn look(&mut self, path: &AbsolutePath) -> Result<&Found, DiskError> {
        if !self.found.contains_key(path) {
            self.found.insert(path.clone(), self.tree.look(path, Keep::Documents)?);
        }
        Ok(&self.found[path])
    }

    /// Looks at a path and keeps its bytes, whatever they are.
    pub(crate) fn read(&mut self, path: &AbsolutePath) -> Result<Option<&[u8]>, DiskError> {
        self.read_up_to(path, DOCUMENT_LIMIT)
    }

    /// As [`Self::read`], for settings.
    pub(crate) fn read_settings(&mut self, path: &AbsolutePath) -> Result<Option<&[u8]>, DiskError> {
        self.read_up_to(path, SETTINGS_LIMIT)
    }

    /// The text of a document; `None` if there is no such file. What is there and is no file is an error.
    pub(crate) fn read_text(&mut self, path: &AbsolutePath) -> Result<Option<String>, DiskError> {
        self.read(path)?;
        match self.found(path) {
            Found::Absent => Ok(None),
            Found::File(file) => super::text(path.as_path(), file.bytes.clone().unwrap_or_default()).map(Some),
            Found::Folder => Err(DiskError::io("read", path.as_path())(io::ErrorKind::IsADirectory.into())),
            Found::Other => Err(DiskError::NotAFile { path: path.as_path().to_path_buf() }),
        }
    }

    fn read_up_to(&mut self, path: &AbsolutePath, limit: u64) -> Result<Option<&[u8]>, DiskError> {
        match self.found.get(path) {
            Some(Found::File(FoundFile { bytes: Some(bytes), .. })) if bytes.len() as u64 > limit => {
                return Err(DiskError::TooLarge { path: path.as_path().to_path_buf(), limit });
            }
            None | Some(Found::File(FoundFile { bytes: None, .. })) => {
                self.found.insert(path.clone(), self.tree.look(path, Keep::UpTo(limit))?);
            }
            Some(_) => {}
        }
        Ok(self.bytes(path))
    }

    /// What was found; a path that was never looked at is absent.
    pub(crate) fn found(&self, path: &AbsolutePath) -> &Found {
        self.found.get(path).unwrap_or(&Found::Absent)
    }

    /// The file at a path that was looked at.
    pub(crate) fn file(&self, path: &AbsolutePath) -> Option<&FoundFile> {
        match self.found(path) {
            Found::File(file) => Some(file),
            Found::Absent | Found::Folder | Found::Other => None,
        }
    }

    /// The bytes of a file that was [`Self::read`].
    pub(crate) fn bytes(&self, path: &AbsolutePath) -> Option<&[u8]> {
        self.file(path)?.bytes.as_deref()
    }

    pub(crate) fn digest(&self, path: &AbsolutePath) -> Option<Digest> {
        self.found(path).digest()
    }

    /// What a folder holds, by name; `None` if there is no such folder.
    pub(crate) fn list(&self, folder: &AbsolutePath) -> Result<Option<Vec<Entry>>, DiskError> {
        self.tree.list(folder)
    }

    /// Whether a file, or a link to one, is at `path`. Does not open it.
    pub(crate) fn is_file(&self, path: &AbsolutePath) -> bool {
        self.found.get(path).map_or_else(|| self.tree.is_file(path), |found| matches!(found, Found::File(_)))
    }

    /// Whether a folder, or a link to one, is at `path`.
    pub(crate) fn is_folder(&self, path: &AbsolutePath) -> bool {
        self.tree.is_folder(path)
    }

    /// Whether `path`, followed through links, is inside `folder`.
    pub(crate) fn is_inside(&self, path: &AbsolutePath, folder: &AbsolutePath) -> bool {
        self.tree.is_inside(path, folder)
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

    #[test]
    fn a_look_keeps_the_bytes_of_documents_and_a_read_those_of_programs_too() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = AbsolutePath::parse(temporary.path()).unwrap();
        let (text, program) = (folder.resolve("a"), folder.resolve("b"));
        std::fs::write(&text, "MU").unwrap();
        std::fs::write(&program, b"\x7fELF and more").unwrap();
        let mut snapshot = Snapshot::of([&text, &program]).unwrap();
        assert_eq!(snapshot.bytes(&text), Some(&b"MU"[..]));
        assert_eq!((snapshot.bytes(&program), snapshot.digest(&program)), (None, Some(Digest::of(b"\x7fELF and more"))));
        assert!(snapshot.file(&program).unwrap().program && !snapshot.file(&text).unwrap().program);
        assert_eq!(snapshot.read(&program).unwrap(), Some(&b"\x7fELF and more"[..]));
        assert!(snapshot.read_text(&folder).is_err(), "a folder is not an absent text");
    }

    #[test]
    fn line_ends_of_a_checkout_are_as_written() {
        let found = |bytes: &[u8]| FoundFile {
            digest: Digest::of(bytes),
            bytes: Some(bytes.to_vec()),
            executable: false,
            read_only: false,
            program: false,
        };
        let written = Digest::of(b"a\nb\r\n".as_slice());
        assert!(found(b"a\nb\r\n").is_as_written(written));
        let written = Digest::of(b"a\rb\nc\n".as_slice());
        assert!(found(b"a\rb\r\nc\r\n").is_as_written(written));
        assert!(!found(b"a\r\rb\nc\n").is_as_written(written));
    }
}
