//! Where a command runs: what its names lead to, and which secret files a search through a folder would reach.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::{Component, Path, PathBuf};

use super::ignored::Ignored;
use super::names::GuardedNames;
use crate::disk::{self, AbsolutePath, EntryKind};
use crate::text::shell::Spelling;

/// A folder on this machine that names are relative to.
#[derive(Clone, Debug)]
pub(super) struct WorkingFolder {
    here: PathBuf,
    home: Option<PathBuf>,
}

/// The scope of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// Also names that begin with a dot.
    pub(super) hidden: bool,
    /// Also files that git ignores.
    pub(super) ignored: bool,
}

/// Longer files are not examined.
const LONGEST: u64 = 256 * 1024;

/// The most folder entries examined for one event, and the greatest depth: secrets are near the root of a project.
pub(super) const MOST_ENTRIES: usize = 3_000;
const DEEPEST: usize = 8;

/// Folders with files of others, or with files that can be made again.
const SKIPPED: &[&str] = &[".git", "node_modules", "target", ".venv", "venv", "vendor", "dist", "build", "__pycache__"];

impl WorkingFolder {
    pub(super) fn new(here: &Path, home: Option<PathBuf>) -> Self {
        Self { here: here.to_path_buf(), home }
    }

    /// The place after `cd`.
    pub(super) fn moved(&self, to: &str) -> Option<Self> {
        let here = self.path(to)?;
        Some(Self { here, home: self.home.clone() })
    }

    /// The path that a name leads to.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        let home = || self.home.clone();
        let named = match name {
            "~" => home()?,
            _ => match name.strip_prefix("~/").or_else(|| name.strip_prefix("$HOME/")) {
                Some(below) => home()?.join(below),
                None => PathBuf::from(name),
            },
        };
        let mut path = self.here.clone();
        for part in named.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => drop(path.pop()),
                other => path.push(other),
            }
        }
        Some(path)
    }

    /// The text of a file that is short enough; each byte that is not text counts as a space.
    pub(super) fn content(&self, name: &str) -> Option<String> {
        content(&self.path(name)?)
    }

    /// The name of the file that a link leads to.
    pub(super) fn behind_link(&self, name: &str) -> Option<String> {
        let path = self.path(name).filter(|path| disk::is_link(path))?;
        let real = disk::canonical(&AbsolutePath::parse(path).ok()?).ok()?;
        Some(real.to_string())
    }

    /// The files that the last part of a pattern matches in its folder; `None` if the folder is unknown, or if no
    /// entries are `left` to examine.
    pub(super) fn expanded(&self, pattern: &Spelling, left: &Cell<usize>) -> Option<Vec<String>> {
        let text = pattern.text();
        let (folder, _) = text.rsplit_once('/').unwrap_or((".", ""));
        if folder.contains(['*', '?', '[', crate::text::shell::UNKNOWN]) {
            return None;
        }
        let (folder, file) = (if folder.is_empty() { "/" } else { folder }, pattern.file_name());
        left.get().checked_sub(1)?;
        let entries = disk::list(self.path(folder)?).ok()??;
        left.set(left.get().saturating_sub(entries.len() + 1));
        let found = entries.into_iter().take(MOST_ENTRIES).map(|entry| entry.name);
        let found = found.filter(|name| (file.starts_with(".") || !name.starts_with('.')) && file.fits(name));
        Some(found.map(|name| format!("{folder}/{name}")).collect())
    }

    pub(super) fn is_folder(&self, name: &str) -> bool {
        self.path(name).is_some_and(disk::is_folder)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.path(name).is_some_and(disk::is_file)
    }

    /// The secret files below a folder that a search reaches, the nearest first, with paths relative to here. `left` is
    /// how many entries may still be examined.
    pub(super) fn secrets_below(
        &self,
        folder: &str,
        reach: Reach,
        names: &GuardedNames,
        left: &Cell<usize>,
    ) -> Vec<(String, String)> {
        if left.get() == 0 {
            return Vec::new();
        }
        let Some(start) = self.path(folder) else { return Vec::new() };
        let mut ignored = if reach.ignored { Ignored::default() } else { Ignored::above(&start) };
        let mut found = Vec::new();
        let mut open = VecDeque::from([(start.clone(), 0)]);
        while let Some((folder, depth)) = open.pop_front() {
            if !reach.ignored {
                ignored.read(&folder);
            }
            for entry in disk::list(&folder).ok().flatten().unwrap_or_default() {
                if left.get() == 0 {
                    return found;
                }
                left.set(left.get() - 1);
                let is_hidden = entry.name.starts_with('.') && !reach.hidden;
                let is_folder = entry.kind == EntryKind::Folder;
                if is_hidden || ignored.has(&entry.path, is_folder) {
                    continue;
                }
                if is_folder && depth < DEEPEST && !SKIPPED.contains(&entry.name.as_str()) {
                    open.push_back((entry.path, depth + 1));
                } else if entry.kind == EntryKind::File
                    && let Some(row) = names.row(&entry.path.to_string_lossy())
                {
                    let text = content(&entry.path).unwrap_or_default();
                    if row.is_secret(&text) {
                        let name = entry.path.strip_prefix(&self.here).unwrap_or(&entry.path);
                        found.push((name.to_string_lossy().into_owned(), text));
                    }
                }
            }
        }
        found
    }
}

fn content(path: &Path) -> Option<String> {
    if !disk::is_file(path) || disk::size(path)? > LONGEST {
        return None;
    }
    let bytes = disk::read_bytes(path).ok()??;
    Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
