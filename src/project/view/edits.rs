//! The changes that an operation requests, and the project after they are made.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Bound;

use super::ProjectView;
use crate::project::files::{FileError, Files, FolderEntry, sha256};
use crate::project::scope::conflict_in;

/// The result of an operation that writes: its report, and the edits.
pub(crate) type Edited<R, E = FileError> = Result<(R, Edits), E>;

/// The changes that an operation requests, by path relative to the root. They become one transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    /// The new text of a file.
    pub(crate) texts: BTreeMap<String, String>,
    /// Folders to create, with a placeholder file so that git keeps them.
    pub(crate) folders: Vec<String>,
    /// Files to remove.
    pub(crate) removals: Vec<String>,
    /// Files to move, whatever their bytes: the old path by the new one.
    pub(crate) moves: BTreeMap<String, String>,
    /// Folders to create without a placeholder file.
    pub(crate) bare_folders: Vec<String>,
    /// Folders to remove if they are empty.
    pub(crate) emptied: Vec<String>,
}

impl Edits {
    /// Sets the text of `path`, unless the file already has it. A file with both sides of a merge is an error: a person
    /// must resolve it.
    pub(crate) fn write(&mut self, view: &ProjectView, path: &str, text: String) -> Result<(), FileError> {
        let known = view.text(path)?;
        if known.as_deref() == Some(text.as_str()) {
            self.texts.remove(path);
            return Ok(());
        }
        if let Some(line) = known.as_deref().filter(|known| known.contains("<<<<<<< ")).and_then(conflict_in) {
            return Err(FileError {
                path: path.to_owned(),
                reason: format!("line {} begins a merge conflict", line + 1),
                hint: Some("resolve the conflict, then call it again".to_owned()),
            });
        }
        self.texts.insert(path.to_owned(), text);
        Ok(())
    }

    /// Moves a folder with everything in it.
    pub(crate) fn move_folder(&mut self, view: &ProjectView, from: &str, to: &str) -> Result<(), FileError> {
        self.move_folder_as(view, from, to, &str::to_owned)
    }

    /// As [`Self::move_folder`]; `renamed` gives each file its new name.
    pub(crate) fn move_folder_as(
        &mut self,
        view: &ProjectView,
        from: &str,
        to: &str,
        renamed: &dyn Fn(&str) -> String,
    ) -> Result<(), FileError> {
        let entries = view.files.list(from)?.unwrap_or_default();
        if entries.is_empty() {
            self.bare_folders.push(to.to_owned());
        }
        for entry in entries {
            let old = format!("{from}/{}", entry.name);
            if entry.is_folder {
                self.move_folder_as(view, &old, &format!("{to}/{}", entry.name), renamed)?;
            } else {
                self.moves.insert(format!("{to}/{}", renamed(&entry.name)), old);
            }
        }
        self.emptied.push(from.to_owned());
        Ok(())
    }

    /// Removes a folder with everything in it.
    pub(crate) fn remove_folder(&mut self, view: &ProjectView, path: &str) -> Result<(), FileError> {
        for entry in view.files.list(path)?.unwrap_or_default() {
            let inside = format!("{path}/{}", entry.name);
            if entry.is_folder {
                self.remove_folder(view, &inside)?;
            } else {
                self.removals.push(inside);
            }
        }
        self.emptied.push(path.to_owned());
        Ok(())
    }

    /// Adds the edits of a later step, made on the project [after](ProjectView::after) these.
    pub(crate) fn follow(&mut self, later: Self) {
        self.texts.extend(later.texts);
        self.folders.extend(later.folders);
        self.removals.extend(later.removals);
        self.moves.extend(later.moves);
        self.bare_folders.extend(later.bare_folders);
        self.emptied.extend(later.emptied);
    }

    /// Whether the current file at `path` leaves it.
    pub(crate) fn leaves(&self, path: &str) -> bool {
        self.removals.iter().chain(self.moves.values()).any(|gone| gone == path)
    }

    /// Whether a new file arrives at `path`.
    pub(crate) fn arrives(&self, path: &str) -> bool {
        self.texts.contains_key(path) || self.moves.contains_key(path)
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The files of a project with edits applied on top.
#[derive(Debug)]
pub(super) struct EditedFiles {
    base: ProjectView,
    edits: Edits,
    /// The files that are not at their old paths any more.
    gone: BTreeSet<String>,
    emptied: HashSet<String>,
}

impl EditedFiles {
    pub(super) fn new(base: &ProjectView, edits: &Edits) -> Self {
        let gone = edits.removals.iter().chain(edits.moves.values()).cloned().collect();
        let emptied = edits.emptied.iter().cloned().collect();
        Self { base: base.clone(), edits: edits.clone(), gone, emptied }
    }

    fn is_removed(&self, path: &str) -> bool {
        self.gone.contains(path) && !self.edits.arrives(path)
    }

    /// Whether a file that is gone was below `folder`.
    fn has_lost(&self, folder: &str) -> bool {
        let below = format!("{folder}/");
        self.gone.range::<str, _>(from(&below)).next().is_some_and(|gone| gone.starts_with(&below))
    }

    /// Whether every file in a folder of the base is removed.
    fn is_emptied(&self, folder: &str) -> Result<bool, FileError> {
        for entry in self.base.files.list(folder)?.unwrap_or_default() {
            let path = format!("{folder}/{}", entry.name);
            let gone = if entry.is_folder { self.is_emptied(&path)? } else { self.is_removed(&path) };
            if !gone {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The entry in `folder` for a new file or folder at `path`.
    fn entry_in(folder: &str, path: &str, is_folder: bool) -> Option<FolderEntry> {
        let inside = if folder.is_empty() { path } else { path.strip_prefix(folder)?.strip_prefix('/')? };
        Some(match inside.split_once('/') {
            Some((name, _)) => FolderEntry { name: name.to_owned(), is_folder: true },
            None => FolderEntry { name: inside.to_owned(), is_folder },
        })
    }
}

/// The paths below `folder`.
fn below<'edits>(paths: &'edits BTreeMap<String, String>, folder: &str) -> impl Iterator<Item = &'edits String> {
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let paths = paths.range::<str, _>(from(&prefix)).map(|(path, _)| path);
    paths.take_while(move |path| path.starts_with(&prefix))
}

fn from(prefix: &str) -> (Bound<&str>, Bound<&str>) {
    (Bound::Included(prefix), Bound::Unbounded)
}

impl Files for EditedFiles {
    fn read(&self, path: &str) -> Result<Option<String>, FileError> {
        if let Some(text) = self.edits.texts.get(path) {
            return Ok(Some(text.clone()));
        }
        if let Some(from) = self.edits.moves.get(path) {
            return Ok(self.base.text(from)?.map(|text| text.as_ref().to_owned()));
        }
        if self.is_removed(path) {
            return Ok(None);
        }
        Ok(self.base.text(path)?.map(|text| text.as_ref().to_owned()))
    }

    fn list(&self, path: &str) -> Result<Option<Vec<FolderEntry>>, FileError> {
        let mut entries = BTreeSet::new();
        for entry in self.base.files.list(path)?.unwrap_or_default() {
            let inside = if path.is_empty() { entry.name.clone() } else { format!("{path}/{}", entry.name) };
            let gone = if entry.is_folder {
                (self.emptied.contains(&inside) || self.has_lost(&inside)) && self.is_emptied(&inside)?
            } else {
                self.is_removed(&inside)
            };
            if !gone {
                entries.insert(entry);
            }
        }
        entries.extend(below(&self.edits.texts, path).filter_map(|text| Self::entry_in(path, text, false)));
        entries.extend(below(&self.edits.moves, path).filter_map(|file| Self::entry_in(path, file, false)));
        let mut made = self.edits.folders.iter().chain(&self.edits.bare_folders);
        entries.extend(made.clone().filter_map(|folder| Self::entry_in(path, folder, true)));
        let made = made.any(|folder| folder == path);
        Ok((made || !entries.is_empty()).then(|| entries.into_iter().collect()))
    }

    /// Files that are about to be written count as the newest.
    fn changed_at(&self, paths: &[String]) -> Vec<Option<i64>> {
        let written = |path: &String| self.edits.texts.contains_key(path);
        let origin = |path: &String| match self.edits.moves.get(path) {
            _ if written(path) => None,
            Some(from) => Some(from.clone()),
            None => Some(path.clone()).filter(|path| !self.is_removed(path)),
        };
        // Every question costs two runs of git, so all files are asked about at once.
        let origins: Vec<Option<String>> = paths.iter().map(origin).collect();
        let asked: Vec<String> = origins.iter().flatten().cloned().collect();
        let mut times = self.base.changed_at(&asked).into_iter();
        let time = |(path, origin): (&String, Option<String>)| match origin {
            _ if written(path) => Some(i64::MAX),
            Some(_) => times.next().flatten(),
            None => None,
        };
        paths.iter().zip(origins).map(time).collect()
    }

    fn touched_at(&self, path: &str) -> Option<i64> {
        if self.edits.texts.contains_key(path) {
            return Some(i64::MAX);
        }
        match self.edits.moves.get(path) {
            Some(from) => self.base.touched_at(from),
            None if self.is_removed(path) => None,
            None => self.base.touched_at(path),
        }
    }

    fn digest(&self, path: &str) -> Result<Option<String>, FileError> {
        match self.edits.texts.get(path) {
            Some(text) => Ok(Some(sha256(text.as_bytes()))),
            None => match self.edits.moves.get(path) {
                Some(from) => self.base.digest(from),
                None if self.is_removed(path) => Ok(None),
                None => self.base.digest(path),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::of(files.iter().copied())
    }

    #[test]
    fn the_view_after_edits_shows_the_result() {
        let view = view(&[(".planning/phases/01-a/x.md", "old"), (".planning/phases/02-b/y.md", "")]);
        let mut edits = Edits::default();
        edits.write(&view, ".planning/phases/01-a/x.md", "new".into()).unwrap();
        edits.write(&view, ".planning/phases/03-c/z.md", String::new()).unwrap();
        edits.removals.push(".planning/phases/02-b/y.md".into());
        edits.folders.push(".planning/phases/04-d".into());
        let after = view.after(&edits);
        assert_eq!(after.text(".planning/phases/01-a/x.md").unwrap().as_deref(), Some("new"));
        assert_eq!(after.text(".planning/phases/02-b/y.md").unwrap(), None);
        assert_eq!(after.folder_names(".planning/phases").unwrap(), ["01-a", "03-c", "04-d"]);
        assert!(after.exists(".planning/phases/03-c/z.md") && !after.exists(".planning/phases/02-b"));
        assert_eq!(view.text(".planning/phases/01-a/x.md").unwrap().as_deref(), Some("old"));
    }

    #[test]
    fn a_moved_folder_is_seen_at_its_new_path() {
        let view = view(&[("a/x/one.md", "1"), ("a/two.md", "2"), ("b/three.md", "3")]);
        let mut edits = Edits::default();
        edits.move_folder(&view, "a", "b/a").unwrap();
        assert_eq!(edits.emptied, ["a/x", "a"]);
        let after = view.after(&edits);
        assert_eq!(after.text("b/a/x/one.md").unwrap().as_deref(), Some("1"));
        assert_eq!(after.text("a/x/one.md").unwrap(), None);
        assert_eq!(after.names("b").unwrap(), ["a", "three.md"]);
        assert_eq!(after.names("").unwrap(), ["b"]);
        assert_eq!(after.digest("b/a/two.md").unwrap(), view.digest("a/two.md").unwrap());
    }

    #[test]
    fn a_file_may_move_to_the_path_of_one_that_moves_away() {
        let view =
            view(&[("02-b/a.md", "two"), ("03-b/a.md", "three"), ("03-b/deep/x.md", "x"), ("04-c/gone.md", "four")]);
        let mut edits = Edits::default();
        edits.move_folder(&view, "02-b", "01-b").unwrap();
        edits.move_folder_as(&view, "03-b", "02-b", &str::to_uppercase).unwrap();
        edits.remove_folder(&view, "04-c").unwrap();
        let after = view.after(&edits);
        assert_eq!(after.folder_names("").unwrap(), ["01-b", "02-b"]);
        assert_eq!(after.text("01-b/a.md").unwrap().as_deref(), Some("two"));
        assert_eq!(after.text("02-b/a.md").unwrap(), None);
        assert_eq!(after.text("02-b/A.MD").unwrap().as_deref(), Some("three"));
        assert_eq!(after.text("02-b/deep/X.MD").unwrap().as_deref(), Some("x"));
    }
}
