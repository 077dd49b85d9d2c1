//! Finds the project folder: the one with `.planning`, starting from the user's current folder.

use std::path::Path;

use crate::disk::{self, AbsolutePath};

use super::boundary::Boundary;
use super::config;
use super::milestone_layout::lookup::MILESTONES;
use super::repository::{is_repository, main_place, main_worktree, repository_of};

/// The folder that contains `.planning` for work started in `start`; `start` itself if none is found.
///
/// A folder above counts unless a repository between the two is not declared as part of the project. Outside
/// repositories, a folder in which everybody can create files does not count, because anybody could have put a project
/// there. The search never reaches `home`. In a linked worktree without documents, which git may be set to ignore, the
/// search continues at the same place in the main worktree and does not leave it.
pub(crate) fn discover(start: &AbsolutePath, home: Option<&Path>) -> AbsolutePath {
    here_or_above(start, home).or_else(|| in_main_worktree(start, home)).unwrap_or_else(|| start.clone())
}

/// The folder with milestones of `auto` for work started in `start`: the nearest one up to the root of its repository.
/// `None` without one, or if a planning folder comes first.
pub(crate) fn of_milestones(start: &AbsolutePath, home: Option<&Path>) -> Option<AbsolutePath> {
    let mut folder = start.clone();
    loop {
        if has_documents(&folder) || home.is_some_and(|home| home.starts_with(&folder)) {
            return None;
        }
        if disk::is_folder(folder.as_path().join(MILESTONES)) {
            return Some(folder);
        }
        if is_repository(&folder) || repository_of(&folder).is_none() {
            return None;
        }
        folder = folder.parent()?;
    }
}

/// The folder for a local install: the nearest with `.planning`, else the repository, else `start`. Unlike the
/// documents, it is always in the worktree in which the host is started.
pub(crate) fn of_install(start: &AbsolutePath, home: Option<&Path>) -> AbsolutePath {
    let is_below_home = |folder: &AbsolutePath| home.is_none_or(|home| !home.starts_with(folder));
    let repository = || repository_of(start).filter(is_below_home);
    here_or_above(start, home).or_else(repository).unwrap_or_else(|| start.clone())
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

/// Whether the project at `folder` includes `start`. `repository_below`: a repository begins between the two.
fn adopts(folder: &AbsolutePath, start: &AbsolutePath, repository_below: bool) -> bool {
    let inside_repository = repository_of(folder).is_some();
    if !repository_below {
        return inside_repository || !disk::is_everybodys(folder);
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
    declared || config.adopts_repositories()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    use super::super::repository::tests::made;
    use super::*;

    #[test]
    fn milestones_are_found_up_to_the_root_of_the_repository() {
        let found = |things: &[&str], start: &str| {
            let (_temporary, base) = made(things);
            let root = of_milestones(&base.resolve(start), Some(base.resolve("home").as_path()))?;
            root.relative_to(&base).map(|path| path.to_string())
        };
        let repository = ["a/.git", "a/.gsd/milestones", "a/src/deep"];
        assert_eq!(found(&repository, "a/src/deep").as_deref(), Some("a"));
        assert_eq!(found(&["a/.gsd/milestones", "a/b/.git", "a/b/src"], "a/b/src"), None);
        assert_eq!(found(&["a/.gsd/milestones", "a/src"], "a/src"), None, "anybody could have put it there");
        assert_eq!(found(&["a/.gsd/milestones"], "a").as_deref(), Some("a"));
        assert_eq!(found(&["a/.git", "a/.gsd/milestones", "a/.planning"], "a"), None);
    }

    /// The project that is found from `start` among these folders and files.
    fn found(things: &[&str], start: &str) -> String {
        let (_temporary, base) = made(things);
        let root = discover(&base.resolve(start), Some(base.resolve("home").as_path()));
        root.relative_to(&base).map(|path| path.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_folder_below_a_project_finds_it() {
        assert_eq!(found(&["a/.planning", "a/.git", "a/src/deep"], "a/src/deep"), "a");
        assert_eq!(found(&["a/.planning", "a/src/deep"], "a/src/deep"), "a", "without any repository");
        assert_eq!(found(&["a/.planning", "a/b/.planning", "a/b/src"], "a/b/src"), "a/b", "the nearest");
        let deep = "a/1/2/3/4/5/6/7/8/9/10/11/12";
        assert_eq!(found(&["a/.planning", "a/.git", deep], deep), "a");
    }

    #[test]
    fn an_install_goes_to_the_project_else_to_the_repository_and_never_to_the_home() {
        let found = |things: &[&str], start: &str| {
            let (_temporary, base) = made(things);
            let root = of_install(&base.resolve(start), Some(base.resolve("home").as_path()));
            root.relative_to(&base).map(|path| path.to_string()).unwrap_or_default()
        };
        assert_eq!(found(&["a/.git", "a/src/deep"], "a/src/deep"), "a");
        assert_eq!(found(&["a/.git", "a/app/.planning", "a/app/src"], "a/app/src"), "a/app");
        assert_eq!(found(&["a/src"], "a/src"), "a/src");
        assert_eq!(found(&["home/.git", "home/x"], "home/x"), "home/x");
        assert_eq!(found(&[".git", "home/x"], "home/x"), "home/x");
        let tree = [
            "m/.planning",
            "m/.git/worktrees/w/gitdir=BASE/w/.git\n",
            "w/.git=gitdir: BASE/m/.git/worktrees/w\n",
            "w/src",
        ];
        assert_eq!(found(&tree, "w/src"), "w", "a host that is started in a worktree reads the settings there");
    }

    #[cfg(unix)]
    #[test]
    fn a_project_in_a_shared_folder_is_only_found_inside_its_repository() {
        use std::os::unix::fs::PermissionsExt;
        let found = |things: &[&str]| {
            let (_temporary, base) = made(things);
            std::fs::set_permissions(base.resolve("a"), std::fs::Permissions::from_mode(0o1777)).unwrap();
            discover(&base.resolve("a/src"), None).relative_to(&base).unwrap().to_string()
        };
        assert_eq!(found(&["a/.planning", "a/src"]), "a/src");
        assert_eq!(found(&["a/.planning", "a/.git", "a/src"]), "a");
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
    fn home_is_not_the_project_of_folders_below_it() {
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
