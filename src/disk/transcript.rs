//! Keeps the output of another program as it arrives: an append-only file with a size limit, which need not survive a
//! crash.

use std::fs::File;
use std::io::Write;

use super::path::AbsolutePath;
use super::{DiskError, act};

/// A file to which lines are added. Only the user can read it.
#[derive(Debug)]
pub(crate) struct Transcript {
    file: File,
    path: AbsolutePath,
    room: u64,
}

impl Transcript {
    /// Opens the file, making it and its folders if they are missing. Accepts `limit` more bytes, then nothing.
    pub(crate) fn open(path: &AbsolutePath, limit: u64) -> Result<Self, DiskError> {
        let missing =
            std::iter::successors(path.parent(), AbsolutePath::parent).take_while(|folder| !super::exists(folder));
        for folder in missing.collect::<Vec<_>>().iter().rev() {
            act::make_folder(folder)?;
        }
        let mut options = File::options();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path.as_path()).map_err(DiskError::io("open", path.as_path()))?;
        Ok(Self { file, path: path.clone(), room: limit })
    }

    /// Adds a line. False if there is not enough room; all later calls then return false too.
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<bool, DiskError> {
        let size = line.len() as u64 + 1;
        if size > self.room {
            self.room = 0;
            return Ok(false);
        }
        self.room -= size;
        let whole = [line, b"\n"].concat();
        self.file.write_all(&whole).map_err(DiskError::io("write", self.path.as_path()))?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_until_the_file_is_full() {
        let folder = crate::testing::folder();
        let path = AbsolutePath::parse(folder.path()).unwrap().resolve("a/b/c.jsonl");
        let mut transcript = Transcript::open(&path, 8).unwrap();
        assert!(transcript.line(b"one").unwrap());
        assert!(!transcript.line(b"three").unwrap());
        assert!(!transcript.line(b"").unwrap(), "nothing comes after a gap");
        assert!(Transcript::open(&path, 8).unwrap().line(b"two").unwrap());
        assert_eq!(std::fs::read_to_string(path.as_path()).unwrap(), "one\ntwo\n");
    }
}
