//! Which folder is the project: the one with `.planning`, seen from where the user stands.

use std::path::Path;

use crate::disk::{self, AbsolutePath};

use super::boundary::Boundary;
use super::config;

/// The folder that holds `.planning` for work started in `start`; `start` itself where none is found.
///
/// A folder above counts only if it has to do with `start`: it lies in the same repository, or names the repository in
/// between as its own. The search never reaches `home`. Inside a linked worktree that has no documents, where git is told
/// to ignore them, it goes on at the same place of the main worktree and does not leave that.
pub(crate) fn discover(start: &AbsolutePath, home: Option<&Path>) -> AbsolutePath {
    here_or_above(start, home).or_else(|| in_main_worktree(start, home)).unwrap_or_else(|| start.clone())
}

fn here_or_above(start: &AbsolutePath, home: Option<&Path>) -> Option<AbsolutePath> {
    if has_documents(start) { Some(start.clone()) } else { above(start, home) }
}

fn in_main_worktree(start: &AbsolutePath, home: Option<&Path>) -> Option<AbsolutePath> {
    let (main, same_place) = (main_worktree(start)?, main_place(start)?);
    here_or_above(&same_place, home).filter(|root| root.is_within(&main))
}

/// Whether `folder` has a planning folder.
pub(crate) fn has_documents(folder: &AbsolutePath) -> bool {
    disk::is_folder(folder.as_path().join(".planning"))
}

fn above(start: &AbsolutePath, home: Option<&Path>) -> Option<AbsolutePath> {
    let mut repository_below = is_repository(start);
    let mut folder = start.clone();
    loop {
        folder = folder.parent()?;
        if home.is_some_and(|home| home.starts_with(&folder)) {
            return None;
        }
        if has_documents(&folder) && adopts(&folder, start, repository_below) {
            return Some(folder);
        }
        repository_below |= is_repository(&folder);
    }
}

/// Whether the project at `folder` takes `start` for a part of itself. `repository_below`: a repository begins between
/// the two.
fn adopts(folder: &AbsolutePath, start: &AbsolutePath, repository_below: bool) -> bool {
    let inside_repository = repository_of(folder).is_some();
    if inside_repository && !repository_below {
        return true;
    }
    // A file that cannot be read declares nothing.
    let planning = folder.as_path().join(".planning");
    let file = planning.join("config.json");
    let boundary = Boundary::of(folder.as_path(), &planning, None);
    let is_inside = boundary.is_ok_and(|boundary| boundary.check(&file).is_ok());
    let text = if is_inside { disk::read_config(file).ok().flatten() } else { None };
    let (config, _) = config::Config::read(config::ConfigTexts { project: text.as_deref(), ..Default::default() });
    let inside = start.relative_to(folder);
    let first = inside.as_ref().and_then(|path| path.segments().next());
    let declared =
        first.is_some_and(|first| config.sub_repositories().iter().any(|name| name.trim_matches(['.', '/']) == first));
    declared || (config.adopts_repositories() && (repository_below || inside_repository))
}

/// Whether `folder` itself is such a root.
pub(crate) fn is_repository(folder: &AbsolutePath) -> bool {
    folder.as_path().join(".git").exists()
}

/// The folder at or above `folder` that is the root of a repository or of a worktree of one.
pub(crate) fn repository_of(folder: &AbsolutePath) -> Option<AbsolutePath> {
    let mut folder = folder.clone();
    while !is_repository(&folder) {
        folder = folder.parent()?;
    }
    Some(folder)
}

/// The main worktree, seen from inside a linked one, whose `.git` is a file that names
/// `<main>/.git/worktrees/<name>`.
pub(crate) fn main_worktree(start: &AbsolutePath) -> Option<AbsolutePath> {
    let linked = repository_of(start)?;
    let text = disk::read_text(linked.as_path().join(".git")).ok()??;
    let place = linked.resolve(text.strip_prefix("gitdir:")?.trim());
    let worktrees = place.parent().filter(|folder| folder.name() == "worktrees")?;
    let main = worktrees.parent().filter(|folder| folder.name() == ".git")?;
    // An archive can bring a file that names anybody's repository, and with it what a person trusts that one to do: the
    // repository has to name this place too.
    let known = disk::read_text(place.as_path().join("gitdir")).ok()??;
    let own = disk::real(&linked.resolve(".git")).ok()?;
    if disk::real(&place.resolve(known.trim())).ok()? != own {
        return None;
    }
    main.parent()
}

/// The git folder that `.git` of the repository around `folder` leads to although it is another repository's: an archive
/// can bring a file or a link that names any. A folder of git that stands apart from every worktree is nobody else's.
pub(crate) fn repository_of_others(folder: &AbsolutePath) -> Option<AbsolutePath> {
    let root = repository_of(folder)?;
    let place = git_folder(&root)?;
    (!is_own(&root, &place)).then_some(place)
}

/// Where git keeps the repository or worktree whose root this is.
fn git_folder(root: &AbsolutePath) -> Option<AbsolutePath> {
    let own = root.resolve(".git");
    if disk::is_folder(&own) {
        return disk::real(&own).ok();
    }
    let text = disk::read_text(&own).ok()??;
    disk::real(&root.resolve(text.strip_prefix("gitdir:")?.trim())).ok()
}

fn is_own(root: &AbsolutePath, place: &AbsolutePath) -> bool {
    let mut folders = std::iter::successors(Some(place.clone()), AbsolutePath::parent);
    let Some(git) = folders.find(|folder| folder.name() == ".git") else { return true };
    if place.relative_to(&git).is_some_and(|below| below.segments().any(|part| part == "modules")) {
        // A submodule: the repository around it keeps it.
        let around = root.parent().and_then(|folder| git_folder(&repository_of(&folder)?));
        return around.is_some_and(|around| place.is_within(&around.resolve("modules")));
    }
    let beside = disk::real(root).is_ok_and(|root| git.parent() == Some(root));
    (*place == git && beside) || main_worktree(root).is_some()
}

/// The same place as `folder` in the main worktree, seen from inside a linked one.
pub(crate) fn main_place(folder: &AbsolutePath) -> Option<AbsolutePath> {
    let main = main_worktree(folder)?;
    let below = folder.relative_to(&repository_of(folder)?);
    Some(below.map_or_else(|| main.clone(), |below| main.join(&below)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    use super::*;

    /// Makes folders and files (text after `=`), and tells where `start` finds its project.
    fn found(things: &[&str], start: &str) -> String {
        let temporary = tempfile::tempdir().unwrap();
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
        let root = discover(&base.resolve(start), Some(base.resolve("home").as_path()));
        root.relative_to(&base).map(|path| path.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_folder_of_the_same_repository_finds_its_project() {
        assert_eq!(found(&["a/.planning", "a/.git", "a/src/deep"], "a/src/deep"), "a");
        assert_eq!(found(&["a/.planning", "a/src"], "a/src"), "a/src", "nothing ties the two together");
        let deep = "a/1/2/3/4/5/6/7/8/9/10/11/12";
        assert_eq!(found(&["a/.planning", "a/.git", deep], deep), "a");
    }

    #[test]
    fn a_repository_in_between_must_be_declared() {
        let tree = ["a/.planning", "a/.git", "a/lib/.git", "a/lib/src"];
        assert_eq!(found(&tree, "a/lib/src"), "a/lib/src");
        let listed = ["a/.planning/config.json={\"planning\":{\"sub_repos\":[\"lib\"]}}", "a/lib/.git", "a/lib/src"];
        assert_eq!(found(&listed, "a/lib/src"), "a");
        let adopting = ["a/.planning/config.json={\"multiRepo\":true}", "a/lib/.git", "a/lib/src"];
        assert_eq!(found(&adopting, "a/lib/src"), "a");
    }

    #[test]
    fn home_is_no_project_of_what_is_below_it() {
        assert_eq!(found(&["home/.planning", "home/.git", "home/x"], "home/x"), "home/x");
        assert_eq!(found(&[".planning", ".git", "home/x"], "home/x"), "home/x");
        assert_eq!(found(&["home/x/.planning", "home/x/.git", "home/x/y"], "home/x/y"), "home/x");
    }

    #[test]
    fn a_linked_worktree_uses_the_documents_of_the_main_one() {
        let tree = [
            "m/.planning",
            "m/.git/worktrees/w/gitdir=BASE/w/.git\n",
            "w/.git=gitdir: BASE/m/.git/worktrees/w\n",
            "w/src",
        ];
        assert_eq!(found(&tree, "w/src"), "m");
        let own = [&tree[..], &["w/.planning"]].concat();
        assert_eq!(found(&own, "w/src"), "w");
    }

    #[test]
    fn a_repository_of_others_is_told_from_ones_own() {
        let of_others = |things: &[&str], start: &str| {
            let temporary = tempfile::tempdir().unwrap();
            let base = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
            for thing in things {
                let (path, text) = thing.split_once('=').map_or((*thing, None), |(path, text)| (path, Some(text)));
                let path = base.resolve(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                match text {
                    None => std::fs::create_dir_all(&path).unwrap(),
                    Some(text) => std::fs::write(&path, text.replace("BASE", &base.to_string())).unwrap(),
                }
            }
            repository_of_others(&base.resolve(start)).is_some()
        };
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
    }

    #[test]
    fn a_linked_worktree_finds_a_project_in_a_folder_of_the_main_one_and_nothing_above_it() {
        let git = [
            "m/.git/worktrees/w/gitdir=BASE/w/.git\n",
            "w/.git=gitdir: BASE/m/.git/worktrees/w\n",
            "w/app/src",
            "w/lib",
        ];
        let tree = [&git[..], &["m/app/.planning"]].concat();
        assert_eq!(found(&tree, "w/app/src"), "m/app");
        assert_eq!(found(&tree, "w/lib"), "w/lib");
        let elsewhere = [
            "all/.planning/config.json={\"multiRepo\":true}",
            "all/m/.git/worktrees/w/gitdir=BASE/w/.git\n",
            "w/.git=gitdir: BASE/all/m/.git/worktrees/w\n",
            "w/lib",
        ];
        assert_eq!(found(&elsewhere, "w/lib"), "w/lib");
    }
}
