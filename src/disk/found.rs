//! What was found at a path.

use super::{Access, Digest, FileBytes};

/// What exists at a path. Links are followed.
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
    /// The bytes; `None` for a program or a file over the limit whose bytes were not asked for.
    pub(crate) bytes: Option<FileBytes>,
    pub(crate) executable: bool,
    /// True if its write permission was removed.
    pub(crate) read_only: bool,
    /// True if it is an executable image, judged by its first bytes: ELF, Mach-O, or Windows.
    pub(crate) program: bool,
    /// The access of a copy of it: the same mode.
    pub(crate) access: Access,
}

impl FoundFile {
    /// True if the file still has the bytes that were written. A git checkout may have changed the line ends to `\r
    /// `; that is not a person's edit.
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
    /// The digest of the file; `None` if no file was found.
    pub(crate) fn digest(&self) -> Option<Digest> {
        match self {
            Self::File(file) => Some(file.digest),
            Self::Absent | Self::Folder | Self::Other => None,
        }
    }
}

/// Which files to keep the bytes of when looking.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeptBytes {
    /// All except programs and files larger than [`super::DOCUMENT_LIMIT`].
    Documents,
    /// Every file; one larger than this is refused.
    UpTo(u64),
}

pub(super) fn is_image_of_program(bytes: &[u8]) -> bool {
    [b"\x7fELF".as_slice(), b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"]
        .iter()
        .any(|first| bytes.starts_with(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_with_other_line_ends_counts_as_unmodified() {
        let found = |bytes: &[u8]| FoundFile {
            digest: Digest::of(bytes),
            bytes: Some(bytes.to_vec().into()),
            executable: false,
            read_only: false,
            program: false,
            access: Access::Usual,
        };
        let written = Digest::of(b"a\nb\r\n".as_slice());
        assert!(found(b"a\nb\r\n").is_as_written(written));
        let written = Digest::of(b"a\rb\nc\n".as_slice());
        assert!(found(b"a\rb\r\nc\r\n").is_as_written(written));
        assert!(!found(b"a\r\rb\nc\n").is_as_written(written));
    }
}
