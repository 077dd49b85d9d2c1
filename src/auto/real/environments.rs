//! Brings installed packages of the person's checkout to a worktree. Each worktree gets its own folder, so that git
//! ignores it by any rule that it has for folders, and so that no unit changes what others use.

use std::fmt::Write as _;

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::environments::{Bringing, BroughtEnvironment, kind_of};
use crate::auto::landing::ignored::{BROUGHT, brought_in};
use crate::auto::landing::worktree::Worktree;
use crate::disk::{self, AbsolutePath, Digest, DiskError, Duplicate};
use crate::failure::{Explain, Failure, Reason};
use crate::project::check_files::fits;
use crate::text::untrusted::line;

/// The stamp of a folder that is being brought: a process that dies leaves part of it.
const UNDER_WAY: &str = "under-way";

/// The most characters of a path that are shown.
const SHOWN: usize = 200;

impl Real<'_> {
    /// Brings the environments of the run to a worktree that lacks them, or has them as they were before the person
    /// changed them. What a set-up or a unit made there itself stays.
    pub(super) fn bring(&self, worktree: &Worktree) -> Result<(), EngineError> {
        if self.environments.brought.is_empty() {
            return Ok(());
        }
        let included = self.included()?;
        let note = self.repository.note_of_worktree(worktree, BROUGHT)?.unwrap_or_default();
        let mut known: Vec<(String, String)> =
            brought_in(&note).map(|(stamp, path)| (path.to_owned(), stamp.to_owned())).collect();
        for one in &self.environments.brought {
            let (from, to) = (self.repository.root().resolve(&one.path), worktree.folder.resolve(&one.path));
            let is_there = disk::is_folder(&to) || disk::is_link(&to);
            let before = known.iter().find(|(path, _)| *path == one.path).map(|(_, stamp)| stamp.clone());
            let stays = before.is_none() && is_there;
            let folder = kind_of(&one.path).and_then(|kind| one.path.strip_suffix(kind.name)).unwrap_or_default();
            let has_place = disk::is_folder(worktree.folder.resolve(folder));
            let is_named =
                included.iter().any(|path| path.strip_prefix(&one.path).is_some_and(|rest| rest.starts_with('/')));
            if stays || !has_place || is_named || !disk::is_folder(&from) {
                continue;
            }
            let stamp = stamp(&from, one)?;
            if before.as_ref() == Some(&stamp) && disk::is_folder(&to) && !disk::is_link(&to) {
                continue;
            }
            self.note_brought(worktree, &mut known, (&one.path, UNDER_WAY))?;
            self.make(worktree, one)?;
            if self.repository.shows(worktree, &one.path)? {
                disk::loosen(&to)?;
                disk::remove_folder(&to)?;
                known.retain(|(path, _)| *path != one.path);
                self.note_brought(worktree, &mut known, ("", ""))?;
                let text = format!(
                    "Not brought to `{}`: git does not ignore {} there",
                    worktree.folder,
                    line(&one.path, SHOWN)
                );
                self.unsaid.borrow_mut().push(text);
                continue;
            }
            self.note_brought(worktree, &mut known, (&one.path, &stamp))?;
        }
        Ok(())
    }

    /// Says what could not be brought.
    pub(super) fn say_unsaid(&mut self) {
        for text in self.unsaid.take() {
            self.tell(&text);
        }
    }

    fn note_brought(
        &self,
        worktree: &Worktree,
        known: &mut Vec<(String, String)>,
        (path, stamp): (&str, &str),
    ) -> Result<(), EngineError> {
        known.retain(|(known, _)| known != path);
        if !path.is_empty() {
            known.push((path.to_owned(), stamp.to_owned()));
        }
        let text = known.iter().fold(String::new(), |text, (path, stamp)| format!("{text}{stamp} {path}\n"));
        Ok(self.repository.set_note_of_worktree(worktree, BROUGHT, Some(&text))?)
    }

    /// Makes the folder of an environment in a worktree, instead of what is there.
    fn make(&self, worktree: &Worktree, one: &BroughtEnvironment) -> Result<(), EngineError> {
        let (root, to) = (self.repository.root(), worktree.folder.resolve(&one.path));
        let made = (|| {
            if let Some(folder) = to.parent() {
                // An earlier unit may have put a link there.
                disk::stays_within(&folder, &worktree.folder)?;
            }
            if disk::is_link(&to) || disk::is_file(&to) {
                disk::remove_note(&to)?;
            }
            if disk::is_folder(&to) {
                disk::loosen(&to)?;
                disk::remove_folder(&to)?;
            }
            let kind = kind_of(&one.path);
            Duplicate {
                trees: (root, &worktree.folder),
                aliases: &aliases(root, &one.path),
                is_whole: one.how == Bringing::Copied,
                opened: kind.map(|kind| kind.opened).unwrap_or_default(),
                left_out: kind.map(|kind| kind.left_out).unwrap_or_default(),
                rewritten: kind.map(|kind| kind.rewritten).unwrap_or_default(),
            }
            .make(&one.path)
        })();
        made.map_err(|error: DiskError| {
            let text = format!(
                "`{}` of your checkout cannot be brought to a worktree: {}",
                one.path,
                super::with_causes(&error)
            );
            let off = format!(
                "or do without: `worktree_environments: false` below `git:` in `{}/.gsd/PREFERENCES.md`; `gsd-tools config explain \
                 git.worktree_environments` shows how",
                self.places.worktree
            );
            error.hint().into_iter().fold(Failure::new(Reason::Unknown, text), Failure::hint).hint(off).into()
        })
    }

    /// Returns an environment that git would commit in the worktree of the units, and has it brought again.
    pub(super) fn shown_environment(&self) -> Result<Option<String>, EngineError> {
        let note = self.repository.note_of_worktree(&self.worktree, BROUGHT)?.unwrap_or_default();
        for (_, path) in brought_in(&note) {
            if disk::exists(self.worktree.folder.resolve(path)) && self.repository.shows(&self.worktree, path)? {
                let again = note.lines().map(|line| line.split_once(' ').map_or("", |(_, path)| path));
                let again = again.fold(String::new(), |text, path| format!("{text}{UNDER_WAY} {path}\n"));
                self.repository.set_note_of_worktree(&self.worktree, BROUGHT, Some(&again))?;
                return Ok(Some(path.to_owned()));
            }
        }
        Ok(None)
    }

    /// Returns one line for each environment of checks that is older than the work asks for: lock files that decide
    /// what is in it are among these changed paths.
    pub(super) fn outdated(&self, changed: &[&str]) -> Vec<String> {
        // A set-up runs again when a lock file changed.
        if self.set_up.command.is_some() {
            return Vec::new();
        }
        let line = |one: &BroughtEnvironment| {
            let kind = kind_of(&one.path)?;
            let folder = one.path.strip_suffix(kind.name)?;
            let decides = |path: &&str| {
                let (place, name) = path.rsplit_once('/').unwrap_or(("", path));
                let is_above = place.is_empty() || folder.strip_prefix(place).is_some_and(|rest| rest.starts_with('/'));
                is_above && kind.locks.iter().any(|lock| fits(lock, name))
            };
            let lock = changed.iter().copied().find(decides)?;
            Some(format!(
                "`{}` was changed, and the checks ran with `{}` as it is in the person's checkout: a package that the new file adds \
                 is not in it, unless the person installs it there or sets `git.worktree_post_create` to the command that installs",
                line(lock, SHOWN),
                line(&one.path, SHOWN)
            ))
        };
        self.environments.brought.iter().filter_map(line).collect()
    }
}

/// Identifies what is installed in an environment, without its files: package managers make a folder again to change
/// what is in it.
fn stamp(folder: &AbsolutePath, one: &BroughtEnvironment) -> Result<String, EngineError> {
    let opened = kind_of(&one.path).map(|kind| kind.opened).unwrap_or_default();
    let is_opened = |path: &str| {
        opened.iter().any(|pattern| pattern.matches('/').count() == path.matches('/').count() && fits(pattern, path))
    };
    let mut text = one.how.word().to_owned();
    let mut open = vec![(folder.as_path().to_path_buf(), String::new())];
    while let Some((folder, below)) = open.pop() {
        for entry in disk::list(&folder)?.unwrap_or_default() {
            let path = if below.is_empty() { entry.name.clone() } else { format!("{below}/{}", entry.name) };
            let changed = if entry.kind == disk::EntryKind::Link { None } else { disk::modified(&entry.path) };
            // A cache that changes all the time says nothing about what is installed.
            let changed = changed.filter(|_| entry.name != "__pycache__" && !entry.name.starts_with(".cache"));
            let _ = write!(text, "\0{path}\0{}", changed.unwrap_or_default());
            if entry.kind == disk::EntryKind::Folder && is_opened(&path) {
                open.push((entry.path, path));
            }
        }
    }
    Ok(Digest::of(text.as_bytes()).to_string())
}

/// Returns other names of the root by which the scripts of an environment name it: it may have been made through a
/// link.
fn aliases(root: &AbsolutePath, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["bin", "Scripts"] {
        for entry in disk::list(root.resolve(path).resolve(folder)).ok().flatten().unwrap_or_default() {
            let head = disk::read_up_to(&entry.path, SCRIPT).ok().flatten().unwrap_or_default();
            let text = String::from_utf8_lossy(&head).into_owned();
            let Some((before, _)) = text.split_once(&format!("/{path}/{folder}/")) else { continue };
            let alias = before.rsplit(['"', '\'', '!', ' ', '\n', '=']).next().unwrap_or_default();
            let Ok(place) = AbsolutePath::parse(alias) else { continue };
            let is_other = place != *root && disk::canonical(&place).is_ok_and(|real| real == *root);
            if is_other && !found.iter().any(|known| known == alias) {
                found.push(alias.to_owned());
            }
        }
    }
    found
}

/// The largest script that is looked at.
const SCRIPT: u64 = 64 << 10;
