//! Finds the repository that a folder belongs to, and whether it is the user's own.

use std::fmt;
use std::path::{Component, Path};

use crate::disk::{self, AbsolutePath, Digest};
use crate::text::shell::typed;

/// The name of a session's repository, in the folder that git keeps for the worktree of the run.
pub(crate) const OF_SESSION: &str = "gsd-git";

/// The folder that git keeps for a worktree, if `place` is a session's repository in it.
fn around_session(place: &AbsolutePath) -> Option<AbsolutePath> {
    place.parent().filter(|_| place.name() == OF_SESSION)
}

/// Whether `folder` itself is the root of a repository.
pub(crate) fn is_repository(folder: &AbsolutePath) -> bool {
    disk::exists(folder.resolve(".git"))
}

/// The folder at or above `folder` that is the root of a repository or of a worktree of one.
pub(crate) fn repository_of(folder: &AbsolutePath) -> Option<AbsolutePath> {
    let mut folder = folder.clone();
    while !is_repository(&folder) {
        folder = folder.parent()?;
    }
    Some(folder)
}

/// The main worktree for a path inside a linked one, whose `.git` is a file that names `<main>/.git/worktrees/<name>`.
pub(crate) fn main_worktree(start: &AbsolutePath) -> Option<AbsolutePath> {
    let linked = repository_of(start)?;
    let place = named_folder(&linked).ok()??;
    let place = around_session(&place).unwrap_or(place);
    let worktrees = place.parent().filter(|folder| folder.name() == "worktrees")?;
    let main = worktrees.parent().filter(|folder| folder.name() == ".git")?;
    // An archive can contain a `.git` file that names any repository, and so claim what a person trusts that repository
    // to do: the repository must name this worktree too.
    is_worktree_of(&linked, &disk::real(&place).ok()?)?.then_some(())?;
    main.parent()
}

/// A repository of another folder that this folder's `.git` leads to: an archive can contain a file or a link to any
/// repository.
#[derive(Debug)]
pub(crate) struct OtherRepository {
    root: AbsolutePath,
    /// The git folder that `.git` is or leads to.
    place: AbsolutePath,
    way: Way,
}

/// How `.git` leads to another repository.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    /// It is a git folder whose `commondir` names another.
    CommonFolder,
    Link,
    /// It is a file that names a git folder, which does not name it back.
    File,
    /// As [`Self::File`], but the git folder belongs to a worktree at another path.
    Worktree,
}

impl OtherRepository {
    /// Whether the folder may be a worktree that was moved without its repository noticing.
    pub(crate) fn is_moved_worktree(&self) -> bool {
        self.way == Way::Worktree
    }

    /// How a person can fix it. The hint does not touch what they may have set up this way on purpose.
    pub(crate) fn hint(&self) -> String {
        let around = self.place.parent().filter(|_| self.place.name() == ".git");
        let elsewhere = around.map(|around| format!("work in `{around}`, or, ")).unwrap_or_default();
        match self.way {
            Way::CommonFolder => format!("if you did not put `{}/.git/commondir` there, remove it", self.root),
            Way::Link => format!("{elsewhere}if you did not put the link there, remove it"),
            Way::File => {
                format!(
                    "{elsewhere}if this is where its files belong, run `{}`",
                    typed!("git -C {} config core.worktree {}", self.root, self.root)
                )
            }
            Way::Worktree => {
                format!("if you moved this worktree, run `{}`", typed!("git -C {} worktree repair", self.root))
            }
        }
    }
}

impl fmt::Display for OtherRepository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { root, place, way } = self;
        match way {
            Way::Worktree => {
                write!(
                    formatter,
                    "`.git` of `{root}` leads to `{place}`, which belongs to a worktree in another folder"
                )
            }
            Way::CommonFolder => {
                write!(formatter, "`{place}/commondir` makes `{root}` commit to the repository of another folder")
            }
            _ => write!(formatter, "`.git` of `{root}` leads to `{place}`, which is the repository of another folder"),
        }
    }
}

/// The foreign repository that git would use in `folder`. A separate git folder that is not in a worktree and names
/// none is not foreign.
pub(crate) fn repository_of_others(folder: &AbsolutePath) -> Option<OtherRepository> {
    let root = disk::canonical(&repository_of(folder)?).ok()?;
    let own = root.resolve(".git");
    let other = |place: &AbsolutePath, way| Some(OtherRepository { root: root.clone(), place: place.clone(), way });
    // A file that cannot be read here may still be readable by git.
    if !disk::is_folder(&own) && named_folder(&root).is_err() {
        return other(&own, Way::File);
    }
    let place = git_folder(&root)?;
    let common = common_folder(&place);
    if place == own {
        return if common.as_ref() == Some(&place) { None } else { other(&place, Way::CommonFolder) };
    }
    let unknown = if disk::is_link(&own) { Way::Link } else { Way::File };
    if around_session(&place).is_some_and(|around| is_worktree_of(&root, &around) == Some(true)) {
        return if common.as_ref() == Some(&place) { None } else { other(&place, Way::CommonFolder) };
    }
    match is_worktree_of(&root, &place) {
        Some(true) => return None,
        Some(false) if unknown == Way::File => return other(&place, Way::Worktree),
        None if common.as_ref() == Some(&place) && (is_submodule(&root, &place) || is_set_up_for(&root, &place)) => {
            return None;
        }
        _ => {}
    }
    other(&place, unknown)
}

/// The git folder of the repository or worktree with this root.
pub(super) fn git_folder(root: &AbsolutePath) -> Option<AbsolutePath> {
    let own = root.resolve(".git");
    if disk::is_folder(&own) {
        return disk::real(&own).ok();
    }
    disk::real(&named_folder(root).ok()??).ok()
}

/// A git file that cannot be read the way git reads it.
struct Unreadable;

/// The git folder named in the file `.git` of `root`.
fn named_folder(root: &AbsolutePath) -> Result<Option<AbsolutePath>, Unreadable> {
    let text = disk::read_text(root.resolve(".git")).map_err(|_| Unreadable)?;
    let named = text.as_deref().and_then(|text| text.strip_prefix("gitdir: "));
    named.map(|named| named_in(root, named).ok_or(Unreadable)).transpose()
}

/// The path named in a git file in `folder`, read like git does: a space at its end counts. `None` if the path has `..`
/// after a name, which may be a link, so that the path may lead elsewhere than it seems.
fn named_in(folder: &AbsolutePath, text: &str) -> Option<AbsolutePath> {
    let path = Path::new(text.trim_end_matches(['\n', '\r']));
    let below = path.components().skip_while(|part| !matches!(part, Component::Normal(_)));
    if below.into_iter().any(|part| part == Component::ParentDir) {
        return None;
    }
    Some(disk::canonical(folder).ok()?.resolve(path))
}

/// The folder that the repository at `place` shares with its other worktrees: commits, branches, settings. `None` if it
/// cannot be read.
pub(super) fn common_folder(place: &AbsolutePath) -> Option<AbsolutePath> {
    match disk::read_text(place.resolve("commondir")).ok()? {
        Some(text) => disk::real(&named_in(place, &text)?).ok(),
        None => Some(place.clone()),
    }
}

/// Whether the git folder at `place` of a linked worktree names the worktree at `root` and the repository that contains
/// it. `None` if it is not the git folder of a linked worktree.
fn is_worktree_of(root: &AbsolutePath, place: &AbsolutePath) -> Option<bool> {
    let known = disk::read_text(place.resolve("gitdir")).ok()??;
    let same = |one: &AbsolutePath, other: &AbsolutePath| match (disk::real(one), disk::real(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    };
    let common = common_folder(place)?;
    let around = place.parent().filter(|folder| folder.name() == "worktrees").and_then(|folder| folder.parent());
    let is_within = common == *place || around.is_some_and(|around| same(&common, &around));
    Some(is_within && same(&place.resolve(known.trim()), &root.resolve(".git")))
}

/// Whether `place` is the git folder of a submodule in the repository around `root`.
fn is_submodule(root: &AbsolutePath, place: &AbsolutePath) -> bool {
    let Some(around) = root.parent().and_then(|folder| repository_of(&folder)) else { return false };
    let kept = git_folder(&around).is_some_and(|around| place.is_within(&around.resolve("modules")));
    kept && repository_of_others(&around).is_none()
}

/// Whether the git folder at `place` has its files at `root` by its own settings, or does not name a place and is not
/// inside a `.git` of another folder.
fn is_set_up_for(root: &AbsolutePath, place: &AbsolutePath) -> bool {
    match named_worktree(place) {
        Some(worktree) => disk::real(&place.resolve(worktree)).is_ok_and(|worktree| worktree == *root),
        None => !place.as_path().iter().any(|part| part == ".git"),
    }
}

/// The setting `core.worktree` of a git folder.
fn named_worktree(place: &AbsolutePath) -> Option<String> {
    let mut found = None;
    for file in ["config", "config.worktree"] {
        // Unreadable settings count as empty; git does not work with them either.
        let text = disk::read_text(place.resolve(file)).ok().flatten().unwrap_or_default();
        let mut is_core = false;
        for line in text.lines() {
            let mut line = line.trim();
            if let Some((section, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
                is_core = section.trim().eq_ignore_ascii_case("core");
                line = rest.trim();
            }
            let setting =
                line.split_once('=').filter(|(key, _)| is_core && key.trim().eq_ignore_ascii_case("worktree"));
            found = setting.map(|(_, value)| value.trim().trim_matches('"').replace("\\\\", "\\")).or(found);
        }
    }
    found
}

/// The same place as `folder` in the main worktree, if `folder` is in a linked one.
pub(crate) fn main_place(folder: &AbsolutePath) -> Option<AbsolutePath> {
    let main = main_worktree(folder)?;
    let below = folder.relative_to(&repository_of(folder)?);
    Some(below.map_or_else(|| main.clone(), |below| main.join(&below)))
}

/// Where git keeps the repository of a folder, and what it reads from there in addition to the commits.
#[derive(Debug)]
pub(crate) struct GitPlace {
    /// The git folder of this worktree.
    pub(crate) own: AbsolutePath,
    /// The git folder shared by all worktrees.
    pub(crate) common: AbsolutePath,
}

impl GitPlace {
    /// The git folders of the repository with the root `root`; `None` if the repository belongs to another folder or
    /// cannot be read.
    pub(crate) fn of(root: &AbsolutePath) -> Option<Self> {
        let root = disk::canonical(root).ok()?;
        if repository_of_others(&root).is_some() {
            return None;
        }
        let own = git_folder(&root)?;
        let common = common_folder(&own)?;
        Some(Self { own, common })
    }

    /// A mark that changes whenever commits get other parents than recorded: the history of a shallow clone ends early,
    /// and grafts change it. `None` if that cannot be read.
    pub(crate) fn history_mark(&self) -> Option<String> {
        const MOST: u64 = 4 << 20;
        let mut marks = Vec::new();
        for name in ["shallow", "info/grafts"] {
            if let Some(bytes) = disk::read_up_to(self.common.resolve(name), MOST).ok()? {
                marks.extend_from_slice(name.as_bytes());
                marks.extend_from_slice(&bytes);
            }
        }
        Some(if marks.is_empty() { String::new() } else { Digest::of(&marks).to_string() })
    }
}

/// Distinguishes the repository of a project from a later one at the same path, for approvals given by a person.
pub(crate) fn identity_of(project: &AbsolutePath) -> String {
    let main = main_place(project).unwrap_or_else(|| project.clone());
    let git = repository_of(&main).map(|root| root.resolve(".git"));
    disk::identity(&git.unwrap_or(main))
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    use super::*;

    /// Creates folders and files (text after `=`) in a temporary folder.
    pub(in crate::project) fn made(things: &[&str]) -> (tempfile::TempDir, AbsolutePath) {
        let temporary = crate::testing::folder();
        let base = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        for thing in things {
            let (path, text) = thing.split_once('=').map_or((*thing, None), |(path, text)| (path, Some(text)));
            let path = base.resolve(path);
            match text {
                None => std::fs::create_dir_all(&path).unwrap(),
                Some(text) => {
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(&path, text.replace("BASE", &base.to_string())).unwrap();
                }
            }
        }
        (temporary, base)
    }

    /// The foreign repository that `start` leads to, if any.
    fn whose(things: &[&str], start: &str) -> Option<OtherRepository> {
        let (_temporary, base) = made(things);
        repository_of_others(&base.resolve(start))
    }

    #[test]
    fn a_foreign_repository_is_distinguished_from_an_own_one() {
        let of_others = |things: &[&str], start: &str| whose(things, start).is_some();
        assert!(!of_others(&["a/.git/objects", "a/src"], "a/src"));
        assert!(!of_others(&["a/src"], "a/src"), "there is none");
        let worktree = ["m/.git/worktrees/w/gitdir=BASE/w/.git\n", "w/.git=gitdir: BASE/m/.git/worktrees/w\n"];
        assert!(!of_others(&worktree, "w"));
        assert!(!of_others(&["apart.git/objects", "a/.git=gitdir: BASE/apart.git\n"], "a"));
        assert!(!of_others(&["s/.git/modules/x/HEAD=", "s/lib/x/.git=gitdir: ../../.git/modules/x\n"], "s/lib/x"));
        let nested = [
            "m/.git/worktrees/w/gitdir=BASE/w/.git\n",
            "m/.git/worktrees/w/modules/x/HEAD=",
            "w/.git=gitdir: BASE/m/.git/worktrees/w\n",
            "w/x/.git=gitdir: BASE/m/.git/worktrees/w/modules/x\n",
        ];
        assert!(!of_others(&nested, "w/x"));
        assert!(of_others(&["m/.git/objects", "a/.git=gitdir: BASE/m/.git\n"], "a"));
        assert!(of_others(&["m/.git/modules/x/HEAD=", "a/.git=gitdir: BASE/m/.git/modules/x\n"], "a"));
        assert!(of_others(&[worktree[0], "a/.git=gitdir: BASE/m/.git/worktrees/w\n"], "a"));
        let session = ["m/.git/worktrees/w/gsd-git/HEAD=", "w/.git=gitdir: BASE/m/.git/worktrees/w/gsd-git\n"];
        assert!(!of_others(&[worktree[0], session[0], session[1]], "w"));
        assert!(of_others(&session, "w"), "no worktree of that repository");
        let shared = "m/.git/worktrees/w/gsd-git/commondir=../../..\n";
        assert!(of_others(&[worktree[0], session[0], session[1], shared], "w"));
        // The shared part of a git folder decides whose it is, wherever the folder is.
        assert!(of_others(&["m/.git/objects", "a/.git/HEAD=", "a/.git/commondir=BASE/m/.git\n"], "a"));
        let claimed = ["v/.git/objects", "m/.git/worktrees/w/commondir=BASE/v/.git\n"];
        assert!(of_others(&[&worktree[..], &claimed].concat(), "w"));
        assert!(!of_others(&[&worktree[..], &["m/.git/worktrees/w/commondir=../..\n"]].concat(), "w"));
        // Git reads names that are not text, and a space at the end is part of a name.
        let space =
            ["own.git/HEAD=", "own.git /commondir=BASE/m/.git\n", "m/.git/HEAD=", "a/.git=gitdir: ../own.git \n"];
        assert!(of_others(&space, "a"));
        let dots = ["a/x/own.git/HEAD=", "a/.git=gitdir: lnk/../x/own.git\n"];
        assert!(of_others(&dots, "a"), "`lnk` may be a link");
        for file in [".git", ".git/commondir"] {
            let (_temporary, base) = made(&["m/.git/HEAD=", "a/"]);
            let file = base.resolve("a").resolve(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, b"gitdir: ../m\xff/.git\n").unwrap();
            assert!(repository_of_others(&base.resolve("a")).is_some(), "{file}");
        }
        // The repository around a submodule must be an own one as well.
        let around =
            ["m/.git/modules/x/HEAD=", "a/.git=gitdir: BASE/m/.git\n", "a/x/.git=gitdir: BASE/m/.git/modules/x\n"];
        assert!(of_others(&around, "a/x"));
    }

    #[test]
    fn a_worktree_of_any_name_in_any_repository_is_an_own_one() {
        for place in [
            "m/.git/worktrees/modules",
            "m/.git/modules/lib/worktrees/w",
            "m/.git/worktrees/w/modules/lib/worktrees/x",
            "bare.git/worktrees/w",
        ] {
            let gitdir = format!("{place}/gitdir=BASE/w/.git\n");
            let tree =
                [gitdir.as_str(), &format!("{place}/commondir=../..\n"), &format!("w/.git=gitdir: BASE/{place}\n")];
            assert!(whose(&tree, "w").is_none(), "{place}");
            let other = whose(&[tree[0], tree[1], &format!("a/.git=gitdir: BASE/{place}\n")], "a").unwrap();
            assert!(other.is_moved_worktree() && other.hint().contains("worktree repair"), "{place}: {}", other.hint());
        }
    }

    #[test]
    fn the_settings_of_a_git_folder_can_name_its_worktree() {
        let tree = |setting: &str| {
            let config = format!("g/.git/config=[user]\n\tworktree = /x\n[core]\n\tbare = false\n{setting}\n");
            whose(&[&config, "g/.git/objects", "a/.git=gitdir: ../g/.git\n"], "a")
        };
        assert!(tree("\tworktree = BASE/a").is_none());
        assert!(tree("[core] WorkTree = \"../../a\"").is_none());
        assert!(tree("\tworktree = BASE/b").is_some());
        let other = tree("").unwrap();
        assert!(other.hint().contains("config core.worktree") && !other.hint().contains("remove"), "{}", other.hint());
        let apart = |setting: &str| {
            let config = format!("g.git/config=[core]\n{setting}\n");
            whose(&[&config, "a/.git=gitdir: ../g.git\n"], "a").is_some()
        };
        assert!(!apart("") && !apart("worktree = ../a") && apart("worktree = ../b"));
    }
}
