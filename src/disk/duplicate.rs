//! A folder of one tree made in another tree of the same project: its files are copied, or its entries lead to the
//! originals. Nothing that is done in the new folder changes the files of the first one, unless a link is written
//! through.

use std::path::{Path, PathBuf};

use super::overlay::{copy, is_among, link};
use super::{AbsolutePath, DiskError, EntryKind, act, atomic, list};

/// The largest file that is copied although the folders next to it are linked, and the largest one whose text is
/// changed.
const SMALL: u64 = 1 << 20;

/// The most characters that systems read of the first line of a script that names its interpreter (Linux before 5.1).
const FIRST_LINE: usize = 127;

/// How a folder is made in another tree. In the lists of paths, `*` matches any part of one name, as in
/// [`super::Overlay`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplicate<'a> {
    /// The tree that has the folder, with links resolved, and the tree in which it is made.
    pub(crate) trees: (&'a AbsolutePath, &'a AbsolutePath),
    /// Other names of the first tree that files may contain.
    pub(crate) aliases: &'a [String],
    /// Whether everything is copied. Otherwise only small files in opened folders are, and other entries are linked.
    pub(crate) is_whole: bool,
    pub(crate) opened: &'a [&'a str],
    pub(crate) left_out: &'a [&'a str],
    /// Files that name places in the first tree: they get the same places in the other tree.
    pub(crate) rewritten: &'a [&'a str],
}

/// How much there is in a folder, up to a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FolderSize {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Duplicate<'_> {
    /// Makes the folder at the path `path` of both trees. Nothing may be there in the second tree.
    pub(crate) fn make(&self, path: &str) -> Result<(), DiskError> {
        let (from, to) = (self.trees.0.resolve(path), self.trees.1.resolve(path));
        atomic::make_folder(&to)?;
        self.make_below(&from, &to, "")
    }

    fn make_below(&self, from: &AbsolutePath, to: &AbsolutePath, below: &str) -> Result<(), DiskError> {
        for entry in list(from)?.unwrap_or_default() {
            let path = if below.is_empty() { entry.name.clone() } else { format!("{below}/{}", entry.name) };
            let Some(name) = entry.path.file_name().filter(|_| !is_among(self.left_out, &path)) else { continue };
            let (place, original) = (to.resolve(name), AbsolutePath::parse(&entry.path)?);
            match entry.kind {
                EntryKind::Folder if self.is_whole || is_among(self.opened, &path) => {
                    act::make_folder(&place)?;
                    self.make_below(&original, &place, &path)?;
                }
                EntryKind::File if is_among(self.rewritten, &path) && super::size(&original).unwrap_or(0) <= SMALL => {
                    copy(original.as_path(), &place)?;
                    self.rewrite(&place)?;
                }
                EntryKind::File if self.is_whole || super::size(&original).unwrap_or(0) <= SMALL => {
                    copy(original.as_path(), &place)?;
                }
                EntryKind::Folder | EntryKind::File => made_link(original.as_path(), &place)?,
                EntryKind::Link => made_link(&self.target(&original, from)?, &place)?,
                EntryKind::Other => {}
            }
        }
        Ok(())
    }

    /// Where the copy of a link leads: to the same place of the other tree if the link stays in the first one.
    fn target(&self, at: &AbsolutePath, folder: &AbsolutePath) -> Result<PathBuf, DiskError> {
        let to = at.as_path().read_link().map_err(DiskError::io("read", at.as_path()))?;
        let place = folder.resolve(&to);
        let names = std::iter::once(self.trees.0.as_path()).chain(self.aliases.iter().map(Path::new));
        let rest = names.into_iter().find_map(|name| place.as_path().strip_prefix(name).ok());
        Ok(match rest {
            Some(_) if to.is_relative() => to,
            Some(rest) => self.trees.1.resolve(rest).as_path().to_path_buf(),
            None => place.as_path().to_path_buf(),
        })
    }

    /// Replaces the places of the first tree in a copied text.
    fn rewrite(&self, file: &AbsolutePath) -> Result<(), DiskError> {
        let Some(bytes) = super::read_bytes(file)? else { return Ok(()) };
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        if text.contains('\0') {
            return Ok(());
        }
        let (own, to) = (self.trees.0.to_string(), self.trees.1.to_string());
        let names = std::iter::once(&own).chain(self.aliases);
        let moved = names.fold(text.clone(), |text, name| moved(&text, name, &to));
        if moved == text {
            return Ok(());
        }
        let failed = || DiskError::io("write", file.as_path());
        let modified = std::fs::metadata(file).and_then(|found| found.modified()).map_err(failed())?;
        // The file is a copy, and stays executable.
        act::let_user_change_file(file)?;
        std::fs::write(file, started_by_shell(moved)).map_err(failed())?;
        let opened = std::fs::OpenOptions::new().append(true).open(file);
        opened.and_then(|opened| opened.set_modified(modified)).map_err(failed())
    }
}

/// Makes a link; a system without links does without.
fn made_link(to: &Path, at: &AbsolutePath) -> Result<(), DiskError> {
    match link(to, at) {
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(()),
        made => made.map_err(DiskError::io("link", at.as_path())),
    }
}

/// Replaces the path `from` in a text, wherever it is a whole path or the beginning of one.
fn moved(text: &str, from: &str, to: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let (mut moved, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(from).filter(|_| !from.is_empty()) {
        let (before, found) = rest.split_at(at);
        let after = &found[from.len()..];
        moved.push_str(before);
        let is_whole = !moved.ends_with(is_part) && !after.starts_with(is_part);
        moved.push_str(if is_whole { to } else { from });
        rest = after;
    }
    moved + rest
}

/// Has a shell start a script whose first line is longer than systems read, as pip does.
fn started_by_shell(text: String) -> String {
    let Some((first, rest)) = text.split_once('\n') else { return text };
    let Some(program) = first.strip_prefix("#!").filter(|program| first.len() > FIRST_LINE && !program.contains(' '))
    else {
        return text;
    };
    format!("#!/bin/sh\n'''exec' \"{program}\" \"$0\" \"$@\"\n' '''\n{rest}")
}

/// Counts the files of a folder and their bytes, without what these patterns leave out. Ends at `most`.
pub(crate) fn folder_size(folder: &AbsolutePath, left_out: &[&str], most: FolderSize) -> Result<FolderSize, DiskError> {
    let mut size = FolderSize::default();
    let mut open = vec![(folder.as_path().to_path_buf(), String::new())];
    while let Some((folder, below)) = open.pop() {
        for entry in list(&folder)?.unwrap_or_default() {
            let path = if below.is_empty() { entry.name.clone() } else { format!("{below}/{}", entry.name) };
            if is_among(left_out, &path) {
                continue;
            }
            size.files += 1;
            match entry.kind {
                EntryKind::Folder => open.push((entry.path, path)),
                EntryKind::File => size.bytes += super::size(&entry.path).unwrap_or_default(),
                EntryKind::Link | EntryKind::Other => {}
            }
            if size.files > most.files || size.bytes > most.bytes {
                return Ok(size);
            }
        }
    }
    Ok(size)
}

/// True if the file system of a folder can copy one of its files without copying its bytes.
pub(crate) fn shares_bytes(file: &AbsolutePath, folder: &AbsolutePath) -> bool {
    #[cfg(target_os = "linux")]
    {
        let Ok(scratch) = super::Scratch::new(folder.as_path()) else { return false };
        let copy = std::fs::File::create_new(scratch.path("copy"));
        let Ok((from, to)) = std::fs::File::open(file).and_then(|from| Ok((from, copy?))) else { return false };
        rustix::fs::ioctl_ficlone(to, from).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file, folder);
        false
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    struct TwoTrees {
        _temporary: tempfile::TempDir,
        one: AbsolutePath,
        other: AbsolutePath,
    }

    impl TwoTrees {
        fn new(files: &[(&str, &str)]) -> Self {
            let temporary = crate::testing::folder();
            let at = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
            let one = at.resolve("shop");
            // The other tree is inside of the first one, as the worktree of a run is.
            let trees = Self { _temporary: temporary, other: one.resolve("w/M1"), one };
            for (path, text) in files {
                atomic::write_fleeting(
                    &trees.one.resolve(path),
                    text.replace("ROOT", &trees.one.to_string()).as_bytes(),
                )
                .unwrap();
            }
            trees
        }

        fn make(&self, path: &str, is_whole: bool) {
            let duplicate = Duplicate {
                trees: (&self.one, &self.other),
                aliases: &[],
                is_whole,
                opened: &["@*", "bin"],
                left_out: &[".cache"],
                rewritten: &["bin/*", "*.pth"],
            };
            duplicate.make(path).unwrap();
        }

        fn link(&self, at: &str, to: &str) {
            link(Path::new(&to.replace("ROOT", &self.one.to_string())), &self.one.resolve(at)).unwrap();
        }
    }

    const FILES: &[(&str, &str)] = &[
        ("m/a/index.js", "a"),
        ("m/@s/b/index.js", "b"),
        ("m/.cache/x", "x"),
        ("m/bin/tool", "#!ROOT/m/bin/python\nROOT-old ROOT"),
        ("m/e.pth", "ROOT/src\n/opt/lib\n"),
        ("packages/c/index.js", "c"),
    ];

    #[test]
    fn a_copy_is_apart_from_its_original_and_its_links_lead_into_its_own_tree() {
        let trees = TwoTrees::new(FILES);
        trees.link("m/c", "../packages/c");
        trees.link("m/d", "ROOT/packages/c");
        trees.link("m/out", "../../elsewhere");
        for (is_whole, folder) in [(true, false), (false, true)] {
            trees.make("m", is_whole);
            let place = |path: &str| trees.other.resolve("m").resolve(path);
            assert_eq!(super::super::is_link(place("a")), folder);
            assert_eq!(super::super::is_link(place("@s/b")), folder);
            assert!(!super::super::is_link(place("@s")) && !super::super::exists(place(".cache")));
            assert_eq!(place("c").as_path().read_link().unwrap(), Path::new("../packages/c"));
            assert_eq!(place("d").as_path().read_link().unwrap(), trees.other.resolve("packages/c").as_path());
            assert_eq!(place("out").as_path().read_link().unwrap(), trees.one.beside("elsewhere").as_path());
            let text = |path: &str| super::super::read_text(place(path)).unwrap().unwrap();
            let (one, other) = (trees.one.to_string(), trees.other.to_string());
            assert_eq!(text("e.pth"), format!("{other}/src\n/opt/lib\n"));
            assert!(text("bin/tool").ends_with(&format!("{one}-old {other}")), "{}", text("bin/tool"));
            assert_eq!(text("a/index.js"), "a");
            super::super::remove_folder(&trees.other).unwrap();
        }
        let size =
            folder_size(&trees.one.resolve("m"), &[".cache"], FolderSize { files: 100, bytes: 1 << 20 }).unwrap();
        assert_eq!(size.files, 11);
    }

    #[test]
    fn a_path_is_replaced_where_it_is_whole_and_a_long_first_line_is_started_by_a_shell() {
        assert_eq!(moved("/p /p/x x/p /pq '/p'", "/p", "/p/w"), "/p/w /p/w/x x/p /pq '/p/w'");
        let long = format!("#!/{}/python\nimport x\n", "a".repeat(150));
        let started = started_by_shell(long.clone());
        assert!(started.starts_with("#!/bin/sh\n'''exec' \"/aaa") && started.ends_with("\nimport x\n"), "{started}");
        assert_eq!(started_by_shell("#!/bin/sh\nx\n".to_owned()), "#!/bin/sh\nx\n");
    }
}
