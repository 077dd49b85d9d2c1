//! Git's index of a checkout: the state of files when git last looked, read without starting git.

use std::path::Path;

use crate::disk;

/// The state of a file of the index when git last looked at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IndexStat {
    /// When it was written: seconds since 1970, and nanoseconds, which are zero if unknown.
    seconds: u32,
    nanoseconds: u32,
    size: u32,
    /// Git skips it (`assume-unchanged`, `skip-worktree`).
    skipped: bool,
}

impl IndexStat {
    /// True if the file is unchanged, by its size and time, which git itself checks first.
    fn holds(self, file: &Path) -> bool {
        let (Some(size), Some(time)) = (disk::size(file), disk::modified(file)) else { return self.skipped };
        let (seconds, milliseconds) = (time.div_euclid(1000), time.rem_euclid(1000));
        let is_then = seconds == i64::from(self.seconds)
            && (self.nanoseconds == 0 || milliseconds == i64::from(self.nanoseconds / 1_000_000));
        // The index stores the lowest 32 bits of a size.
        self.skipped || is_then && size & u64::from(u32::MAX) == u64::from(self.size)
    }
}

/// The bytes of an index.
#[derive(Debug)]
pub(super) struct GitIndex(Vec<u8>);

impl GitIndex {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The files among `paths`, relative to the checkout, that are changed, deleted, or unknown to git. `None` if the
    /// index cannot be read. A staged file counts as known.
    pub(super) fn changed<'path>(&self, root: &Path, paths: &'path [String]) -> Option<Vec<&'path str>> {
        // The length of an object's name is not in the index: try that of SHA-1, then that of SHA-256.
        let seen = [20, 32].into_iter().find_map(|name_length| self.seen(name_length, paths))?;
        let is_changed = |(path, seen): (&'path String, Option<IndexStat>)| {
            let file = root.join(path);
            let is_changed = match seen {
                Some(seen) => !seen.holds(&file),
                None => disk::is_file(&file),
            };
            is_changed.then_some(path.as_str())
        };
        Some(paths.iter().zip(seen).filter_map(is_changed).collect())
    }

    /// The entry of each of `paths` in the index.
    fn seen(&self, name_length: usize, paths: &[String]) -> Option<Vec<Option<IndexStat>>> {
        let mut found = vec![None; paths.len()];
        let mut reader = IndexReader(&self.0);
        if reader.take(4)? != b"DIRC" {
            return None;
        }
        let version = reader.number()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let count = reader.number()?;
        // A path of version 4 begins with the prefix that it shares with the one before it.
        let mut shared: Vec<u8> = Vec::new();
        for _ in 0..count {
            let before = reader.0.len();
            reader.take(8)?;
            let (seconds, nanoseconds) = (reader.number()?, reader.number()?);
            reader.take(20)?;
            let size = reader.number()?;
            reader.take(name_length)?;
            let flags = reader.short()?;
            let more = if version > 2 && flags & 0x4000 != 0 { reader.short()? } else { 0 };
            // The flags contain the length of the path, up to their maximum; a mismatch means another kind of index.
            let told = usize::from(flags & 0xfff);
            let path: &[u8] = if version == 4 {
                shared.truncate(shared.len().checked_sub(reader.offset()?)?);
                shared.extend(reader.until_zero()?);
                &shared
            } else {
                let path = if told < 0xfff { reader.take(told)? } else { reader.until_zero()? };
                let ended = if told < 0xfff { reader.take(1)? } else { &[0] };
                // One zero byte ends the path; more pad it to a multiple of eight.
                let length = before - reader.0.len();
                reader.take(length.next_multiple_of(8) - length)?;
                if ended == [0] { path } else { return None }
            };
            if told != path.len().min(0xfff) {
                return None;
            }
            let skipped = flags & 0x8000 != 0 || more & 0x4000 != 0;
            for (wanted, seen) in paths.iter().zip(&mut found) {
                if wanted.as_bytes() == path {
                    *seen = Some(IndexStat { seconds, nanoseconds, size, skipped });
                }
            }
        }
        // A split index has the rest of its entries in another file.
        (reader.take(4).is_none_or(|extension| extension != b"link")).then_some(found)
    }
}

/// The remaining bytes.
struct IndexReader<'bytes>(&'bytes [u8]);

impl<'bytes> IndexReader<'bytes> {
    fn take(&mut self, length: usize) -> Option<&'bytes [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// A number in groups of seven bits; all but the last group have the highest bit set and add one.
    fn offset(&mut self) -> Option<usize> {
        let mut value = 0usize;
        loop {
            let byte = *self.take(1)?.first()?;
            value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }

    fn until_zero(&mut self) -> Option<&'bytes [u8]> {
        let length = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(length)?;
        self.take(1)?;
        Some(text)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "git is started by hand, to compare with")]
mod tests {
    use super::*;

    /// The changed files according to git, and according to its index.
    fn both(options: &[&str]) -> (Vec<String>, Vec<String>) {
        let folder = crate::testing::folder();
        let root = folder.path();
        let git = |arguments: &[&str]| {
            let own = ["-c", "user.name=A", "-c", "user.email=a@b", "-C", root.to_str().unwrap()];
            let output = std::process::Command::new("git").args(own).args(arguments).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        };
        git(&[&["init", "--quiet"], &options[..1]].concat());
        for option in &options[1..] {
            let (key, value) = option.split_once('=').unwrap();
            git(&["config", key, value]);
        }
        let long = format!("src/{}.rs", "a".repeat(90));
        let known = ["README.md", "src/kept.rs", "src/changed.rs", "src/gone.rs", "src/grün.rs", long.as_str()];
        for path in known {
            write(path, "text\n");
        }
        git(&["add", "-A"]);
        git(&["commit", "--quiet", "-m", "x"]);
        write("src/changed.rs", "another text\n");
        write("src/new.rs", "text\n");
        std::fs::remove_file(root.join("src/gone.rs")).unwrap();
        let listed = git(&["-c", "core.quotePath=false", "status", "--porcelain", "--untracked-files=all"]);
        let listed = listed.lines().map(|line| line[3..].to_owned()).collect();
        let paths: Vec<String> = known.into_iter().chain(["src/new.rs", "src/none.rs"]).map(str::to_owned).collect();
        let index = GitIndex::new(std::fs::read(root.join(".git/index")).unwrap());
        let mut changed: Vec<String> = index.changed(root, &paths).unwrap().into_iter().map(str::to_owned).collect();
        changed.sort();
        (listed, changed)
    }

    #[test]
    fn changed_files_are_those_that_git_reports() {
        for options in [
            &["--object-format=sha1"][..],
            &["--object-format=sha256"],
            &["--object-format=sha1", "index.version=4"],
            &["--object-format=sha256", "index.version=4"],
        ] {
            let (mut listed, changed) = both(options);
            listed.sort();
            assert_eq!(changed, ["src/changed.rs", "src/gone.rs", "src/new.rs"], "{options:?}");
            assert_eq!(changed, listed, "{options:?}");
        }
    }

    #[test]
    fn an_invalid_index_gives_no_result() {
        let paths = ["a".to_owned()];
        for bytes in [&b""[..], b"DIRC", b"DIRC\0\0\0\x09\0\0\0\0", b"DIRC\0\0\0\x02\xff\xff\xff\xff", b"what else"] {
            assert_eq!(GitIndex::new(bytes.to_vec()).changed(Path::new("/"), &paths), None, "{bytes:?}");
        }
    }
}
