//! The files that git ignores, to the extent that search programs respect it, read without starting git.

use std::path::{Path, PathBuf};

use crate::disk;
use crate::text::shell::Spelling;

/// The lines of all files read so far. The last one that matches a path decides.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    rules: Vec<IgnoreRule>,
    /// Outside of repositories such files have no effect.
    is_repository: bool,
}

#[derive(Debug)]
struct IgnoreRule {
    /// The folder of the file with the line.
    folder: PathBuf,
    parts: Vec<Spelling>,
    /// Whether the pattern begins in that folder; otherwise it matches at any depth.
    is_anchored: bool,
    only_folders: bool,
    is_exception: bool,
}

impl Ignored {
    /// Reads the rules of the folders above `start`, up to the root of the repository.
    pub(super) fn above(start: &Path) -> Self {
        let mut ignored = Self::default();
        let Some(root) = start.ancestors().find(|folder| disk::exists(folder.join(".git"))) else { return ignored };
        ignored.is_repository = true;
        ignored.add(root, &root.join(".git").join("info").join("exclude"));
        let mut above: Vec<&Path> = start.ancestors().skip(1).take_while(|folder| folder.starts_with(root)).collect();
        above.reverse();
        for folder in above {
            ignored.read(folder);
        }
        ignored
    }

    /// Adds the rules of the files in a folder.
    pub(super) fn read(&mut self, folder: &Path) {
        if self.is_repository {
            for name in [".gitignore", ".ignore", ".rgignore"] {
                self.add(folder, &folder.join(name));
            }
        }
    }

    fn add(&mut self, folder: &Path, file: &Path) {
        /// Larger than in any project.
        const LONGEST: u64 = 256 * 1024;
        if !disk::is_file(file) || disk::size(file).is_none_or(|size| size > LONGEST) {
            return;
        }
        let text = disk::read_text(file).ok().flatten().unwrap_or_default();
        self.rules.extend(text.lines().filter_map(|line| IgnoreRule::of(folder, line)));
    }

    /// True if a path is ignored. Its folders must have been checked before.
    pub(super) fn has(&self, path: &Path, is_folder: bool) -> bool {
        let rule = self.rules.iter().rev().find(|rule| rule.fits(path, is_folder));
        rule.is_some_and(|rule| !rule.is_exception)
    }
}

impl IgnoreRule {
    fn of(folder: &Path, line: &str) -> Option<Self> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (line, is_exception) = line.strip_prefix('!').map_or((line, false), |line| (line, true));
        let (line, only_folders) = line.strip_suffix('/').map_or((line, false), |line| (line, true));
        let (line, anywhere) = line.strip_prefix("**/").map_or((line, false), |line| (line, true));
        let is_anchored = line.contains('/') && !anywhere;
        let line = line.strip_suffix("/**").unwrap_or(line);
        let parts = line.split('/').filter(|part| !part.is_empty()).map(Spelling::pattern).collect();
        Some(Self { folder: folder.to_path_buf(), parts, is_anchored, only_folders, is_exception })
    }

    fn fits(&self, path: &Path, is_folder: bool) -> bool {
        if self.only_folders && !is_folder {
            return false;
        }
        let Ok(inside) = path.strip_prefix(&self.folder) else { return false };
        let names: Vec<_> = inside.iter().map(|name| name.to_string_lossy()).collect();
        let wanted = self.parts.len();
        let is_long_enough = if self.is_anchored { names.len() == wanted } else { names.len() >= wanted };
        is_long_enough && self.parts.iter().zip(&names[names.len() - wanted..]).all(|(part, name)| part.fits(name))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    use super::*;

    #[test]
    fn ignore_lines_are_interpreted_as_git_does() {
        let temporary = crate::testing::folder();
        let root = temporary.path();
        std::fs::create_dir_all(root.join(".git/info")).unwrap();
        std::fs::create_dir_all(root.join("app")).unwrap();
        std::fs::write(root.join(".gitignore"), "# x\n.env*\n!.env.example\n/dist\nlogs/\n**/*.key\nconfig/*.local\n")
            .unwrap();
        std::fs::write(root.join("app/.gitignore"), "!.env.shared\n").unwrap();
        let mut ignored = Ignored::above(&root.join("app"));
        ignored.read(&root.join("app"));
        for path in [".env", "app/.env", "app/.env.local", "dist", "a/b.key", "config/a.local", "logs"] {
            assert!(ignored.has(&root.join(path), true), "{path}");
        }
        for path in [".env.example", "app/.env.shared", "app/dist", "a/config/a.local", "environment.ts"] {
            assert!(!ignored.has(&root.join(path), true), "{path}");
        }
        assert!(!ignored.has(&root.join("logs"), false));
        std::fs::remove_dir_all(root.join(".git")).unwrap();
        assert!(!Ignored::above(root).has(&root.join(".env"), false), "outside of repositories");
    }
}
