//! Undoes and finishes transactions: of this call when it fails, of an earlier call that died.
//!
//! Every step checks what exists before it acts, and may itself be interrupted: repeating it from the start gives the
//! same result. A file that was modified since is left unchanged.
//!
//! A root that did not exist appears and disappears in one rename, through a folder next to it
//! (`NAME.gsd-transaction`): a crash can never leave an empty root.

use std::path::Path;

use super::act::{digest_of, exists, make_folder, move_over, remove_folder_if_empty, remove_tree};
use super::journal::{self, Act, Journal, JournalEntry, JournalPath};
use super::{AbsolutePath, Disk, DiskError, Hold, atomic, list};

impl Disk {
    /// Locks these trees, in path order so that two calls cannot wait for each other, and finishes what a call that
    /// died left unfinished in them.
    pub(crate) fn hold<P: AsRef<Path>>(&self, roots: impl IntoIterator<Item = P>) -> Result<Hold<'_>, DiskError> {
        let roots: Result<Vec<_>, DiskError> =
            roots.into_iter().map(|root| atomic::canonical(&AbsolutePath::parse(root)?)).collect();
        let mut roots = roots?;
        roots.sort();
        roots.dedup();
        let locks: Result<Vec<_>, DiskError> = roots.iter().map(|root| self.lock(root)).collect();
        let mut hold = Hold { disk: self, roots, locks: locks?, recovered: Vec::new() };
        all(&mut hold)?;
        Ok(hold)
    }
}

/// Finishes all unfinished transactions in the locked trees and in the other trees that took part.
fn all(hold: &mut Hold) -> Result<(), DiskError> {
    let mut index = 0;
    // A journal may add further roots, which are then checked too.
    while let Some(root) = hold.roots.get(index).cloned() {
        one(hold, &root)?;
        index += 1;
    }
    Ok(())
}

/// True if the tree has an unfinished transaction. Changes nothing.
pub(crate) fn is_unfinished(root: &AbsolutePath) -> Result<bool, DiskError> {
    let root = atomic::canonical(root)?;
    Ok(exists(&root.resolve(journal::FOLDER))? || !leftovers(&root)?.is_empty())
}

fn one(hold: &mut Hold, root: &AbsolutePath) -> Result<(), DiskError> {
    let leftovers = leftovers(root)?;
    let folder = root.resolve(journal::FOLDER);
    let found = exists(&folder)?;
    if found || !leftovers.is_empty() {
        hold.recovered.push(root.clone());
    }
    for top in leftovers {
        clear(hold, &top, root)?;
    }
    if !found {
        return Ok(());
    }
    let committed = Journal::read(root, journal::DONE)?;
    let Some(journal) = committed.map_or_else(|| Journal::read(root, journal::JOURNAL), |done| Ok(Some(done)))? else {
        // Nothing was put in place yet.
        return vanish(hold, root, &journal::read_made(root)?);
    };
    if !journal.roots.iter().any(|known| known.path.0 == *root) {
        // It was copied or moved here with the tree it belonged to: its paths refer to another location.
        let path = folder.as_path().to_path_buf();
        return Err(DiskError::BadJournal { path, reason: "it belongs to a folder at another place".to_owned() });
    }
    if !hold.lock_of(root).is_some_and(|lock| lock.notes(&journal.id)) {
        // It may have come with a repository: only the note that this computer wrote outside the tree proves that it is
        // ours.
        return Err(DiskError::NotOurs { path: folder.as_path().to_path_buf() });
    }
    for root in &journal.roots {
        hold.include(&root.path.0)?;
    }
    let leader = journal.roots[0].path.0.clone();
    let of_leader = |name| Ok::<_, DiskError>(Journal::read(&leader, name)?.filter(|of| of.id == journal.id));
    if let Some(done) = of_leader(journal::DONE)? {
        return clean_up(hold, &carried(done)?);
    }
    let journal = of_leader(journal::JOURNAL)?.unwrap_or(journal);
    roll_back(hold, &carried(journal)?)
}

/// The journal limited to the roots that have a copy of it. In the others nothing was done, nothing is left to do, or
/// they never took part.
fn carried(mut journal: Journal) -> Result<Journal, DiskError> {
    let mut kept = Vec::new();
    for root in &journal.roots {
        let has = |name| Ok::<_, DiskError>(Journal::read(&root.path.0, name)?.is_some_and(|own| own.id == journal.id));
        kept.push(has(journal::JOURNAL)? || has(journal::DONE)?);
    }
    // Entries keep their numbers, which name their files; those of absent roots are skipped.
    for (root, kept) in journal.roots.iter_mut().zip(&kept) {
        if !kept {
            root.made.clear();
            root.leave.clear();
        }
    }
    journal.absent = kept.iter().map(|kept| !kept).collect();
    Ok(journal)
}

/// Restores everything to the state before the transaction.
pub(super) fn roll_back(hold: &Hold, journal: &Journal) -> Result<(), DiskError> {
    for entry in journal.entries.iter().rev().filter(|entry| !journal.is_absent(entry.root)) {
        undo(hold, journal, entry)?;
    }
    // The leader last: while it has the journal, the state of the others can still be determined.
    for index in (0..journal.roots.len()).rev().filter(|index| !journal.is_absent(*index)) {
        let root = &journal.roots[index];
        for top in leftovers(&root.path.0)? {
            clear(hold, &top, &root.path.0)?;
        }
        vanish(hold, &root.path.0, &root.made)?;
    }
    Ok(())
}

/// Removes the files of a committed transaction, and the folders it leaves.
pub(super) fn clean_up(hold: &Hold, journal: &Journal) -> Result<(), DiskError> {
    for index in (0..journal.roots.len()).rev().filter(|index| !journal.is_absent(*index)) {
        vanish(hold, &journal.roots[index].path.0, &journal.roots[index].leave)?;
    }
    Ok(())
}

fn undo(hold: &Hold, journal: &Journal, entry: &JournalEntry) -> Result<(), DiskError> {
    let (path, backup) = (&entry.path.0, journal.backup(entry));
    if atomic::real(path)? != *path {
        return Err(DiskError::LeadsOut {
            path: path.as_path().to_path_buf(),
            to: atomic::real(path)?.as_path().into(),
        });
    }
    let step = || hold.disk.faults.step();
    match &entry.act {
        Act::MakeFolder { .. } => {
            step()?;
            remove_folder_if_empty(path).map(drop)
        }
        Act::Write { before, after, .. } => {
            // Bytes from another file system that were not moved into place.
            atomic::remove_file(&journal.beside(path))?;
            let found = digest_of(path)?;
            match before {
                None if found == Some(*after) => {
                    step()?;
                    atomic::remove_file(path)
                }
                Some(_) if (found.is_none() || found == Some(*after)) && exists(&backup)? => {
                    step()?;
                    move_over(&backup, path, &journal.beside(path))
                }
                _ => Ok(()),
            }
        }
        Act::Remove { .. } => {
            atomic::remove_file(&journal.beside(&backup))?;
            if digest_of(path)?.is_none() && exists(&backup)? {
                step()?;
                move_over(&backup, path, &journal.beside(path))?;
            }
            Ok(())
        }
        Act::RemoveFolder { mode } => {
            if !exists(path)? {
                step()?;
                make_folder(path)?;
                set_mode(path, *mode)?;
            }
            Ok(())
        }
    }
}

#[cfg(unix)]
pub(super) fn set_mode(path: &AbsolutePath, mode: Option<u32>) -> Result<(), DiskError> {
    use std::os::unix::fs::PermissionsExt;
    let Some(mode) = mode else { return Ok(()) };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .map_err(DiskError::io("restore the mode of", path.as_path()))
}

#[cfg(not(unix))]
pub(super) fn set_mode(_path: &AbsolutePath, _mode: Option<u32>) -> Result<(), DiskError> {
    Ok(())
}

/// Makes a root that does not exist, with its `.gsd-transaction/`, in one rename.
pub(super) fn make_root(hold: &Hold, root: &AbsolutePath, made: &[JournalPath]) -> Result<(), DiskError> {
    let Some(JournalPath(top)) = made.first() else { return Ok(()) };
    let aside = aside(top);
    let step = || hold.disk.faults.step();
    let mut folder = aside.clone();
    step()?;
    make_folder(&folder)?;
    for segment in below(root, top).components() {
        folder = folder.resolve(segment);
        step()?;
        make_folder(&folder)?;
    }
    let folder = folder.resolve(journal::FOLDER);
    step()?;
    make_folder(&folder)?;
    let bytes = serde_json::to_vec(made).map_err(|source| DiskError::Unwritable { source })?;
    step()?;
    journal::write_durably(&folder.resolve(journal::MADE), &bytes)?;
    step()?;
    atomic::rename(&aside, top)
}

/// Removes the root's `.gsd-transaction/`, and with it the outermost of `folders` that has no other contents.
fn vanish(hold: &Hold, root: &AbsolutePath, folders: &[JournalPath]) -> Result<(), DiskError> {
    for JournalPath(top) in folders {
        if exists(top)? && holds_nothing_but(top, root)? {
            hold.disk.faults.step()?;
            match atomic::rename(top, &aside(top)) {
                // The folder around it cannot be written any longer: then an empty folder is left in it.
                Err(error) if error.is_denied() => break,
                outcome => outcome?,
            }
            return clear(hold, top, root);
        }
    }
    hold.disk.faults.step()?;
    discard(&root.resolve(journal::FOLDER))
}

/// Removes the folder of a transaction; refuses one that contains anything a transaction does not make.
fn discard(folder: &AbsolutePath) -> Result<(), DiskError> {
    let is_numbered = |name: &str| name.trim_start_matches('.').starts_with(|first: char| first.is_ascii_digit());
    for entry in list(folder)?.unwrap_or_default() {
        let is_ours = match entry.name.as_str() {
            journal::NEW | journal::BACKUP if entry.is_folder() => {
                let files = list(&entry.path)?.unwrap_or_default();
                files.iter().all(|file| file.is_file() && is_numbered(&file.name))
            }
            // A file that was being written when the process died has the intended name inside its own name.
            name => [journal::JOURNAL, journal::DONE, journal::MADE].iter().any(|ours| name.contains(ours)),
        };
        if !is_ours {
            return Err(DiskError::NotOurs { path: entry.path });
        }
    }
    remove_tree(folder)
}

/// True if `top` contains only the way to `root`, and `root` only a `.gsd-transaction/`.
fn holds_nothing_but(top: &AbsolutePath, root: &AbsolutePath) -> Result<bool, DiskError> {
    let mut folder = top.clone();
    for segment in below(root, top).components() {
        let entries = list(&folder)?.unwrap_or_default();
        folder = folder.resolve(segment);
        if entries.len() != 1 || entries[0].path != folder.as_path() {
            return Ok(false);
        }
    }
    Ok(list(&folder)?.unwrap_or_default().iter().all(|entry| entry.name == journal::FOLDER))
}

/// Removes the temporary neighbour of `top`. If anything else got into it, it is renamed to `top` instead.
fn clear(hold: &Hold, top: &AbsolutePath, root: &AbsolutePath) -> Result<(), DiskError> {
    let aside = aside(top);
    let mut folder = aside.resolve(below(root, top));
    hold.disk.faults.step()?;
    discard(&folder.resolve(journal::FOLDER))?;
    loop {
        hold.disk.faults.step()?;
        if exists(&folder)? && !remove_folder_if_empty(&folder)? {
            return if exists(top)? { Ok(()) } else { atomic::rename(&aside, top) };
        }
        if folder == aside {
            return atomic::sync_folder(&aside);
        }
        let Some(parent) = folder.parent() else { return Ok(()) };
        folder = parent;
    }
}

/// The folders on the way to `root` that have a temporary neighbour: left by a call that died while making or removing
/// them.
fn leftovers(root: &AbsolutePath) -> Result<Vec<AbsolutePath>, DiskError> {
    let mut found = Vec::new();
    let mut folder = Some(root.clone());
    while let Some(candidate) = folder.filter(|folder| folder.parent().is_some()) {
        if exists(&aside(&candidate))? {
            found.push(candidate.clone());
        }
        folder = candidate.parent();
    }
    Ok(found)
}

fn aside(folder: &AbsolutePath) -> AbsolutePath {
    folder.beside(&format!("{}{}", folder.name(), journal::FOLDER))
}

fn below<'a>(root: &'a AbsolutePath, top: &AbsolutePath) -> &'a Path {
    root.as_path().strip_prefix(top).unwrap_or(Path::new(""))
}
