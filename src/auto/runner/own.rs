//! What of the user's home a client may write to when it is fenced: its sessions, its caches, its login.

use std::path::PathBuf;

use super::table::Runner;
use crate::disk::{self, AbsolutePath, DiskError};
use crate::world::World;

/// Folders of the home folder that the user can move, all together.
const MOVED: &[(&str, &str)] = &[
    (".config", "XDG_CONFIG_HOME"),
    (".local/share", "XDG_DATA_HOME"),
    (".local/state", "XDG_STATE_HOME"),
    (".cache", "XDG_CACHE_HOME"),
];

impl Runner {
    /// The folders and files of the user's that belong to this client. Folders are made: a fence is around what is there
    /// when the client starts. Where nobody knows which they are, it is whatever is hidden in the home folder. Nothing of
    /// `kept` is among them, nor what it is in.
    pub(crate) fn own_places(&self, world: &World, kept: &[AbsolutePath]) -> Result<Vec<PathBuf>, DiskError> {
        let home = world.home().and_then(|home| AbsolutePath::parse(home).ok());
        let mut found = Vec::new();
        let Some(folders) = &self.own_folders else {
            for entry in home.map(disk::list).transpose()?.flatten().unwrap_or_default() {
                if entry.file_name().starts_with(b".") {
                    all_but(kept, entry.path, &mut found)?;
                }
            }
            return Ok(found);
        };
        let moved = self.own_folder_variables.iter().filter_map(|name| world.path_variable(name));
        let moved = moved.filter_map(|path| AbsolutePath::parse(path).ok());
        let usual = folders.iter().filter_map(|folder| place(world, home.as_ref(), folder));
        for folder in usual.chain(moved) {
            disk::make_folder(&folder)?;
            all_but(kept, folder.as_path().to_path_buf(), &mut found)?;
        }
        let files = self.own_files.iter().filter_map(|file| Some(home.as_ref()?.resolve(file)));
        found.extend(files.filter(|file| disk::is_file(file)).map(|file| file.as_path().to_path_buf()));
        Ok(found)
    }
}

/// A folder that is usually at `path` below the home folder.
fn place(world: &World, home: Option<&AbsolutePath>, path: &str) -> Option<AbsolutePath> {
    let moved = MOVED.iter().find_map(|(usual, variable)| {
        let rest = path.strip_prefix(usual).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        let base = AbsolutePath::parse(world.path_variable(variable)?).ok()?;
        Some(base.resolve(rest.trim_start_matches('/')))
    });
    moved.or_else(|| Some(home?.resolve(path)))
}

/// Adds `path` without what is to be kept: where that is within it, what lies beside it.
pub(crate) fn all_but(kept: &[AbsolutePath], path: PathBuf, found: &mut Vec<PathBuf>) -> Result<(), DiskError> {
    let real = disk::real(&AbsolutePath::parse(&path)?)?;
    if kept.iter().any(|kept| real.is_within(kept)) {
        return Ok(());
    }
    if !kept.iter().any(|kept| kept.is_within(&real)) {
        found.push(path);
        return Ok(());
    }
    for entry in disk::list(&real)?.unwrap_or_default() {
        all_but(kept, entry.path, found)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    use super::super::table::Runners;
    use super::*;

    struct Home {
        _temporary: tempfile::TempDir,
        at: AbsolutePath,
    }

    impl Home {
        fn new(folders: &[&str]) -> Self {
            let temporary = crate::testing::folder();
            let at = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
            for folder in folders {
                std::fs::create_dir_all(at.resolve(folder)).unwrap();
            }
            Self { _temporary: temporary, at }
        }

        /// The places of a client below the home folder, with `kept` and these variables.
        fn places(&self, runner: &str, kept: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
            let runner = Runners::builtin().unwrap().find(runner).unwrap().clone();
            let at = self.at.to_string();
            let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
            let variables: Vec<(&str, String)> =
                variables.iter().map(|(name, path)| (*name, self.at.resolve(path).to_string())).collect();
            let named = |number: usize| {
                variables.get(number).map_or((home, at.as_str()), |(name, path)| (*name, path.as_str()))
            };
            let world = World::with([named(0), named(1), (home, &at)], self.at.as_path());
            let kept: Vec<AbsolutePath> = kept.iter().map(|path| self.at.resolve(path)).collect();
            let found = runner.own_places(&world, &kept).unwrap();
            let mut found: Vec<String> = found
                .into_iter()
                .map(|path| AbsolutePath::parse(path).unwrap().relative_to(&self.at).unwrap().to_string())
                .collect();
            found.sort();
            found
        }
    }

    #[test]
    fn a_client_may_write_to_its_own_folders_which_are_made_and_to_its_own_files_that_are_there() {
        let home = Home::new(&["work"]);
        assert_eq!(home.places("claude", &[], &[]), [".claude"]);
        assert!(home.at.resolve(".claude").as_path().is_dir());
        std::fs::write(home.at.resolve(".claude.json"), "{}").unwrap();
        assert_eq!(home.places("claude", &[], &[]), [".claude", ".claude.json"]);
        assert_eq!(home.places("fake", &[], &[]), [""; 0]);
    }

    #[test]
    fn a_folder_that_its_user_has_moved_is_writable_where_it_is() {
        let home = Home::new(&[]);
        assert_eq!(home.places("codex", &[], &[("CODEX_HOME", "elsewhere")]), [".codex", "elsewhere"]);
        let places = home.places("opencode", &[], &[("XDG_CONFIG_HOME", "c"), ("XDG_CACHE_HOME", "k")]);
        assert_eq!(places, [".local/share/opencode", ".local/state/opencode", "c/opencode", "k/opencode"]);
        assert_eq!(home.places("copilot", &[], &[("XDG_CACHE_HOME", "k")]), [".copilot", "k"]);
    }

    #[test]
    fn where_nobody_knows_it_is_what_is_hidden_in_the_home_folder_and_never_what_is_to_be_kept() {
        let home = Home::new(&[".a/b", ".local/state/gsd-tools", ".local/share", "work/.git", ".dotfiles/.git"]);
        let kept = [".local/state/gsd-tools", "work", ".dotfiles"];
        assert_eq!(home.places("cursor", &kept, &[]), [".a", ".local/share"]);
        assert_eq!(home.places("cursor", &[""], &[]), [""; 0], "the home folder itself is the repository");
        assert_eq!(home.places("claude", &[".claude/projects"], &[]), [""; 0]);
        std::fs::create_dir_all(home.at.resolve(".claude/other")).unwrap();
        assert_eq!(home.places("claude", &[".claude/projects"], &[]), [".claude/other"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_to_what_is_to_be_kept() {
        let home = Home::new(&["work/.git", "other"]);
        std::os::unix::fs::symlink(home.at.resolve("work"), home.at.resolve(".work")).unwrap();
        std::os::unix::fs::symlink(home.at.resolve("other"), home.at.resolve(".other")).unwrap();
        assert_eq!(home.places("cursor", &["work"], &[]), [".other"]);
    }
}
