//! A folder through which another folder can be read but not changed: entries of the other folder are linked or copied,
//! and what is made here stays here. A program that may write to this folder but not to the other cannot change the
//! other's contents.

use std::io;
use std::path::Path;

use super::{AbsolutePath, DiskError, Entry, EntryKind, act, atomic, list};

/// Which parts of a folder are shown, and how. In these lists, `*` matches any part of one name, and `**` at the end of
/// a path matches everything below. A folder with an at sign inside its name is a version of something, and is never
/// opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overlay<'a> {
    /// Folders that may get new entries: their entries are linked one by one, not the folder itself.
    pub(crate) opened: &'a [String],
    /// Paths that are not shown.
    pub(crate) left_out: &'a [String],
    /// Files of at most this many bytes are copied, so that they can be changed here.
    pub(crate) copied: u64,
    /// Which files these are; all of them if the list is empty.
    pub(crate) changed: &'a [String],
}

impl Overlay<'_> {
    /// Shows the contents of `folder` in the folder `at`, next to what is there already.
    pub(crate) fn show(&self, folder: &AbsolutePath, at: &AbsolutePath) -> Result<(), DiskError> {
        self.show_below(folder.as_path(), at, "")
    }

    fn show_below(&self, folder: &Path, at: &AbsolutePath, below: &str) -> Result<(), DiskError> {
        make_real_folder(at)?;
        for entry in list(at)?.unwrap_or_default() {
            is_taken(&AbsolutePath::parse(&entry.path)?)?;
        }
        for entry in list(folder)?.unwrap_or_default() {
            let path = if below.is_empty() { entry.name.clone() } else { format!("{below}/{}", entry.name) };
            if entry.kind == EntryKind::Other || is_among(self.left_out, &path) {
                continue;
            }
            let Some(name) = entry.path.file_name() else { continue };
            let place = at.resolve(name);
            let is_version = entry.name.find('@').is_some_and(|at| at > 0);
            if entry.is_folder() && !is_version && is_among(self.opened, &path) {
                self.show_below(&entry.path, &place, &path)?;
            } else if !is_taken(&place)? {
                self.show_entry(&entry, &place, &path)?;
            }
        }
        Ok(())
    }

    fn show_entry(&self, entry: &Entry, place: &AbsolutePath, path: &str) -> Result<(), DiskError> {
        let may_change = entry.is_file() && (self.changed.is_empty() || is_among(self.changed, path));
        let size = may_change.then(|| super::size(&entry.path)).flatten();
        if size.is_some_and(|size| size <= self.copied && self.copied > 0) {
            return copy(&entry.path, place);
        }
        link(&entry.path, place).map_err(DiskError::io("link", place.as_path()))
    }
}

/// Copies a file with its mode and modification time.
pub(super) fn copy(from: &Path, to: &AbsolutePath) -> Result<(), DiskError> {
    let failed = DiskError::io("copy", from);
    (|| {
        let changed = std::fs::metadata(from)?.modified()?;
        std::fs::copy(from, to)?;
        // A read-only copy keeps its new time.
        let copy = std::fs::OpenOptions::new().append(true).open(to).ok();
        copy.map_or(Ok(()), |copy| copy.set_modified(changed))
    })()
    .map_err(failed)
}

/// Removes everything in the folder `at`, except entries at these paths that are not links. If `at` is a link, removes
/// the link.
pub(crate) fn clear(at: &AbsolutePath, except: &[String]) -> Result<(), DiskError> {
    if super::is_link(at) {
        return atomic::remove_note(at);
    }
    clear_below(at, except, "")
}

fn clear_below(at: &AbsolutePath, except: &[String], below: &str) -> Result<(), DiskError> {
    for entry in list(at)?.unwrap_or_default() {
        let place = AbsolutePath::parse(&entry.path)?;
        let path = if below.is_empty() { entry.name.clone() } else { format!("{below}/{}", entry.name) };
        let is_kept = is_among(except, &path);
        let holds_kept = except.iter().any(|kept| kept.strip_prefix(&path).is_some_and(|rest| rest.starts_with('/')));
        match entry.kind {
            EntryKind::Folder | EntryKind::File if is_kept => {}
            EntryKind::Folder if holds_kept => clear_below(&place, except, &path)?,
            EntryKind::Folder => {
                let _ = super::loosen(&place);
                act::remove_tree(&place)?;
            }
            _ => atomic::remove_note(&place)?,
        }
    }
    Ok(())
}

/// True if something exists at `place`. Removes a link that leads nowhere, since its target is gone.
fn is_taken(place: &AbsolutePath) -> Result<bool, DiskError> {
    if super::is_link(place) && !super::exists(place) {
        atomic::remove_note(place)?;
        return Ok(false);
    }
    Ok(super::exists(place))
}

/// Makes a folder, replacing a link or file if one is there: nothing must be made where a link leads.
fn make_real_folder(at: &AbsolutePath) -> Result<(), DiskError> {
    if super::is_link(at) || super::is_file(at) {
        atomic::remove_note(at)?;
    }
    atomic::make_folder(at)
}

#[cfg(unix)]
pub(super) fn link(to: &Path, at: &AbsolutePath) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
pub(super) fn link(_to: &Path, _at: &AbsolutePath) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// True if one of `patterns` matches `path`.
pub(super) fn is_among(patterns: &[impl AsRef<str>], path: &str) -> bool {
    let fits = |pattern: &str| {
        let mut names = path.split('/');
        for part in pattern.split('/') {
            match names.next() {
                _ if part == "**" => return true,
                Some(name) if fits_name(part, name) => {}
                _ => return false,
            }
        }
        names.next().is_none()
    };
    patterns.iter().any(|pattern| fits(pattern.as_ref()))
}

/// True if `pattern` matches `name`; one `*` in it matches any text.
fn fits_name(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn patterns(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    struct OverlayStage {
        _temporary: tempfile::TempDir,
        from: AbsolutePath,
        to: AbsolutePath,
    }

    impl OverlayStage {
        fn new(files: &[(&str, &str)]) -> Self {
            let temporary = crate::testing::folder();
            let at = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
            let stage = Self { _temporary: temporary, from: at.resolve("from"), to: at.resolve("to") };
            for (path, text) in files {
                atomic::write_fleeting(&stage.from.resolve(path), text.as_bytes()).unwrap();
            }
            stage
        }

        fn read(&self, path: &str) -> Option<String> {
            super::super::read_text(self.to.resolve(path)).unwrap()
        }
    }

    #[test]
    fn files_are_copied_folders_are_linked_and_opened_ones_take_more() {
        let stage = OverlayStage::new(&[
            ("set.json", "1"),
            ("large", "12345"),
            ("skills/a/S", "a"),
            ("open/b/B", "b"),
            ("no", ""),
        ]);
        let (opened, left_out) = (patterns(&["open"]), patterns(&["n*"]));
        let overlay = Overlay { opened: &opened, left_out: &left_out, copied: 4, changed: &[] };
        overlay.show(&stage.from, &stage.to).unwrap();
        assert_eq!(stage.read("set.json").unwrap(), "1");
        assert!(!crate::disk::is_link(stage.to.resolve("set.json")));
        assert!(crate::disk::is_link(stage.to.resolve("large")) && crate::disk::is_link(stage.to.resolve("skills")));
        assert!(!crate::disk::is_link(stage.to.resolve("open")) && crate::disk::is_link(stage.to.resolve("open/b")));
        assert_eq!((stage.read("skills/a/S"), stage.read("no")), (Some("a".to_owned()), None));
        let changed = |path: &AbsolutePath| crate::disk::modified(path).unwrap();
        assert_eq!(changed(&stage.from.resolve("set.json")), changed(&stage.to.resolve("set.json")));
    }

    #[test]
    fn only_named_files_are_copied_if_any_are_named() {
        let stage = OverlayStage::new(&[("index/a/b", "1"), ("content/a", "2")]);
        let (opened, changed) = (patterns(&["**"]), patterns(&["index/**"]));
        Overlay { opened: &opened, changed: &changed, copied: 4, ..Overlay::default() }
            .show(&stage.from, &stage.to)
            .unwrap();
        assert!(!crate::disk::is_link(stage.to.resolve("index/a/b")));
        assert!(
            crate::disk::is_link(stage.to.resolve("content/a")) && !crate::disk::is_link(stage.to.resolve("content"))
        );
    }

    #[test]
    fn a_link_at_an_opened_folder_is_not_followed_and_a_dangling_one_is_replaced() {
        let stage = OverlayStage::new(&[("open/b", "b"), ("other", "x")]);
        let victim = stage.to.beside("victim");
        atomic::make_folder(&victim).unwrap();
        atomic::make_folder(&stage.to).unwrap();
        link(victim.as_path(), &stage.to.resolve("open")).unwrap();
        link(&victim.as_path().join("gone"), &stage.to.resolve("other")).unwrap();
        let opened = patterns(&["open"]);
        Overlay { opened: &opened, ..Overlay::default() }.show(&stage.from, &stage.to).unwrap();
        assert!(list(&victim).unwrap().unwrap().is_empty());
        assert_eq!((stage.read("open/b").unwrap(), stage.read("other").unwrap()), ("b".to_owned(), "x".to_owned()));
    }

    #[test]
    fn clearing_keeps_the_excepted_paths_unless_they_are_links() {
        let stage = OverlayStage::new(&[("victim/v", "v")]);
        for path in ["keep/a", "keep.db", "gone/b", "gone.json", "data/kept/a", "data/gone"] {
            atomic::write_fleeting(&stage.to.resolve(path), b"x").unwrap();
        }
        link(stage.from.resolve("victim").as_path(), &stage.to.resolve("keep2")).unwrap();
        clear(&stage.to, &patterns(&["keep*", "data/kept"])).unwrap();
        let names = |folder: &AbsolutePath| -> Vec<String> {
            list(folder).unwrap().unwrap().into_iter().map(|entry| entry.name).collect()
        };
        assert_eq!(names(&stage.to), ["data", "keep", "keep.db"]);
        assert_eq!(names(&stage.to.resolve("data")), ["kept"]);
        assert!(crate::disk::exists(stage.from.resolve("victim/v")));
    }

    #[test]
    fn a_pattern_matches_part_of_a_name_or_everything_below() {
        let list = patterns(&["a/*", "cache/**", "wheels-*/x"]);
        for path in ["a/b", "cache", "cache/b/c", "wheels-v5/x"] {
            assert!(is_among(&list, path), "{path}");
        }
        for path in ["a", "a/b/c", "cached", "wheels-v5/y", "wheels/x"] {
            assert!(!is_among(&list, path), "{path}");
        }
    }
}
