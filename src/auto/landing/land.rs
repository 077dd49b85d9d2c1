//! Landing: the target moves to a commit that passed the gate, or nothing happens.

use super::candidate::Candidate;
use super::error::LandingError;
use super::git::{Git, locked};
use super::id::{Changed, Commit, GitPath};
use super::overlap::{Overlap, is_in_place, overlap, write_whole};
use super::repository::{LOCKS, Repository};
use crate::disk::{self, AbsolutePath};
use crate::failure::Explain;
use crate::text::shell::typed;

/// The outcome of landing a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    Landed,
    /// The target has this commit in its history.
    AlreadyLanded,
    /// Nothing was changed.
    Refused(LandingRefusal),
}

/// Why a candidate did not land.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LandingRefusal {
    #[error("`{branch}` moved to {} since the candidate was made", now.short())]
    TargetMoved { branch: String, now: Commit },
    #[error("{} in `{folder}` {} uncommitted changes, and the candidate changes {}", listed(paths), if paths.len() == 1 { "has" } else { "have" }, if paths.len() == 1 { "it" } else { "them" })]
    DirtyOverlap { folder: AbsolutePath, paths: Vec<GitPath> },
    #[error("{} in `{folder}` {} not tracked by git, and the candidate has {} of the same name", listed(paths), if paths.len() == 1 { "is" } else { "are" }, if paths.len() == 1 { "a file" } else { "files" })]
    UntrackedClash { folder: AbsolutePath, paths: Vec<GitPath> },
    #[error("git refused to change `{folder}`: {why}")]
    GitRefused { folder: AbsolutePath, why: String },
}

impl Explain for LandingRefusal {
    fn hint(&self) -> Option<String> {
        match self {
            Self::TargetMoved { .. } => None,
            Self::DirtyOverlap { folder, .. } => Some(format!(
                "commit your changes, or set them aside with `{}`; get them back with `{}`",
                typed!("git -C {} stash", folder),
                typed!("git -C {} stash pop", folder)
            )),
            Self::UntrackedClash { folder, paths } => {
                let first = paths.first().map(|path| format!("{folder}/{path}")).unwrap_or_default();
                Some(format!(
                    "rename your files, for example: `{}`",
                    typed!("mv {} {}", first, format!("{first}.mine"))
                ))
            }
            Self::GitRefused { folder, .. } => Some(format!("run `{}`", typed!("git -C {} status", folder))),
        }
    }
}

/// Returns the first few paths and how many more there are.
fn listed(paths: &[GitPath]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = paths.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
    let rest = match paths.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{rest}", shown.join(", "))
}

impl Repository {
    /// Moves the target to the commit of `candidate`, if it is still at its base. If the target is checked out, the
    /// files there change with it, unless a person has changed the same ones; all other changes stay as they are.
    /// Repeating the call finishes one that was killed.
    pub(crate) fn land(&self, candidate: &Candidate) -> Result<Landing, LandingError> {
        self.alone(|| self.land_alone(candidate))
    }

    fn land_alone(&self, candidate: &Candidate) -> Result<Landing, LandingError> {
        let tip = self.tip()?;
        let branch = &self.target().branch;
        let moved = |now| Ok(Landing::Refused(LandingRefusal::TargetMoved { branch: branch.clone(), now }));
        if tip != candidate.base {
            if !self.has(&tip, candidate)? {
                return moved(tip);
            }
            if let Some(folder) = self.checked_out(branch)? {
                let begun = LandingNote::at(self, &folder, candidate)?;
                begun.remove_locks(self)?;
                begun.end()?;
            }
            return Ok(Landing::AlreadyLanded);
        }
        if let Some(folder) = self.checked_out(branch)? {
            return self.land_in(&folder, candidate);
        }
        let (from, to) = (Some(&candidate.base), Some(&candidate.commit));
        match self.git.swap(&self.target().reference(), from, to, "gsd-tools auto: land")? {
            Ok(()) => Ok(Landing::Landed),
            Err(Some(now)) => moved(now),
            Err(None) => Err(LandingError::NoBranch { name: branch.clone() }),
        }
    }

    /// True if the target at `tip` contains the candidate.
    fn has(&self, tip: &Commit, candidate: &Candidate) -> Result<bool, LandingError> {
        Ok(tip == &candidate.commit || self.git.is_ancestor(&candidate.commit, tip)?)
    }

    fn land_in(&self, folder: &AbsolutePath, candidate: &Candidate) -> Result<Landing, LandingError> {
        let git = self.git.at(folder);
        let changes = self.differences(candidate.base.as_str(), candidate.commit.as_str())?;
        let begun = LandingNote::at(self, folder, candidate)?;
        begun.remove_locks(self)?;
        let found = overlap(&git, folder, &changes, begun.is_noted()?)?;
        if let Some(refusal) = refusal(folder, &found) {
            return Ok(Landing::Refused(refusal));
        }
        begun.note()?;
        let landing = self.write_in(&git, folder, candidate, &changes, found)?;
        begun.end()?;
        Ok(landing)
    }

    fn write_in(
        &self,
        git: &Git,
        folder: &AbsolutePath,
        candidate: &Candidate,
        changes: &[Changed],
        found: Overlap,
    ) -> Result<Landing, LandingError> {
        write_whole(git, &candidate.commit, &found.half)?;
        index_as_landed(git, &[found.same, found.half].concat())?;
        let merged = fast_forward(git, &candidate.commit)?;
        let now = self.tip()?;
        if self.has(&now, candidate)? {
            return Ok(Landing::Landed);
        }
        // The files changed and the branch did not: it moved in the meantime, or is locked.
        if is_in_place(git, changes)? {
            git.ask(["read-tree", "-m", "-u", candidate.commit.as_str(), candidate.base.as_str()])?;
        }
        if now != candidate.base {
            let branch = self.target().branch.clone();
            return Ok(Landing::Refused(LandingRefusal::TargetMoved { branch, now }));
        }
        if let Some(lock) = locked(&merged) {
            return Err(LandingError::Locked { lock });
        }
        let found = overlap(git, folder, changes, false)?;
        let refusal = refusal(folder, &found);
        Ok(Landing::Refused(refusal.unwrap_or(LandingRefusal::GitRefused { folder: folder.clone(), why: merged })))
    }
}

/// The note that a candidate is being landed in a checkout, in the folder that git keeps for the checkout: git is
/// killed with this process, and files that it left half-written then do not count as a person's.
#[derive(Debug)]
struct LandingNote {
    note: AbsolutePath,
    text: String,
}

impl LandingNote {
    fn at(repository: &Repository, folder: &AbsolutePath, candidate: &Candidate) -> Result<Self, LandingError> {
        let own = repository.kept_for(folder)?;
        let note = own.as_ref().unwrap_or_else(|| repository.common()).resolve("gsd-landing");
        Ok(Self { note, text: format!("{}\n", candidate.commit) })
    }

    /// True if a killed call had started to land the same candidate.
    fn is_noted(&self) -> Result<bool, LandingError> {
        Ok(disk::read_text(&self.note)?.is_some_and(|text| text == self.text))
    }

    fn note(&self) -> Result<(), LandingError> {
        Ok(disk::write_fleeting(&self.note, self.text.as_bytes())?)
    }

    /// Removes the locks of a git that was killed in this landing: those that are newer than its note, if no git runs
    /// that could own them.
    fn remove_locks(&self, repository: &Repository) -> Result<(), LandingError> {
        let Some(since) = disk::modified(&self.note).filter(|_| self.is_noted().unwrap_or(false)) else {
            return Ok(());
        };
        let own = self.note.parent().unwrap_or_else(|| repository.common().clone());
        let of_own = LOCKS.iter().map(|name| own.resolve(name));
        let of_branch = repository.common().resolve(format!("{}.lock", repository.target().reference()));
        let left = of_own.chain([of_branch]).filter(|lock| disk::modified(lock).is_some_and(|made| made >= since));
        let left: Vec<AbsolutePath> = left.collect();
        let places = [repository.root().as_path(), repository.common().as_path()];
        if left.is_empty() || repository.mark().is_in_use() || repository.git.world().git_lives_in(&places) {
            return Ok(());
        }
        left.iter().try_for_each(|lock| Ok(disk::remove_note(lock)?))
    }

    fn end(&self) -> Result<(), LandingError> {
        Ok(disk::remove_note(&self.note)?)
    }
}

fn refusal(folder: &AbsolutePath, found: &Overlap) -> Option<LandingRefusal> {
    let folder = || folder.clone();
    match (found.dirty.is_empty(), found.untracked.is_empty()) {
        (false, _) => Some(LandingRefusal::DirtyOverlap { folder: folder(), paths: found.dirty.clone() }),
        (true, false) => Some(LandingRefusal::UntrackedClash { folder: folder(), paths: found.untracked.clone() }),
        (true, true) => None,
    }
}

/// Updates the index for files that already have their new content, so that it matches the commit.
fn index_as_landed(git: &Git, same: &[Changed]) -> Result<(), LandingError> {
    if same.is_empty() {
        return Ok(());
    }
    let entry = |change: &Changed| {
        let (mode, id) = match (&change.after, &change.before) {
            (Some(state), _) => (state.mode.clone(), state.id.clone()),
            (None, Some(state)) => ("0".to_owned(), "0".repeat(state.id.len())),
            (None, None) => return Vec::new(),
        };
        [format!("{mode} {id}\t").as_bytes(), change.path.as_bytes(), b"\0"].concat()
    };
    git.tell(["update-index", "-z", "--index-info"], same.iter().flat_map(entry).collect())?;
    git.run(["update-index", "-q", "--refresh"]).map(drop)
}

/// Moves the checked-out branch to `commit`, with the files, and returns the error of git. The branch's and user's
/// settings for merges do not count: they are for merges of a person.
fn fast_forward(git: &Git, commit: &Commit) -> Result<String, LandingError> {
    let line =
        ["merge", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-squash", "--commit", "--no-stat"];
    let line = line.into_iter().chain(["--no-verify-signatures", "--quiet", commit.as_str()]);
    let finished = git.with("GIT_REFLOG_ACTION", "gsd-tools auto: land").run(line)?;
    let told = finished.error_text();
    Ok(if told.is_empty() { finished.text() } else { told })
}
