//! The repository that work lands in, and its target branch.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::error::LandingError;
use super::filters::Filters;
use super::git::{Git, own_folder};
use super::id::{Commit, GitPath, path_of};
use crate::disk::{self, AbsolutePath, Disk, DiskError, Faults, Holder, Scratch};
use crate::project::branch_name::is_branch_name;
use crate::project::head::Head;
use crate::project::repository::{repository_of, repository_of_others};
use crate::project::worktrees::{ListedWorktree, listed};
use crate::world::fence::Openings;
use crate::world::tree::Mark;
use crate::world::{World, WorldError, embedded_repository};

/// The oldest git that merges without a worktree.
const OLDEST: (u32, u32) = (2, 38);

/// Files and folders that git keeps while an operation waits for a person.
const OPERATIONS: &[(&str, &str)] = &[
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
];

/// The files in which git records the branch that it has detached from HEAD for a while.
const BORROWED: &[(&str, &str)] =
    &[("rebase-merge/head-name", "rebase"), ("rebase-apply/head-name", "rebase"), ("BISECT_START", "bisect")];

/// The pauses before git is asked again for its worktrees, in milliseconds.
const LIST_PAUSES: &[u64] = &[5, 20, 50, 100, 200];

/// The locks that git takes in a checkout when it moves a branch with its files.
pub(super) const LOCKS: &[&str] = &["HEAD.lock", "ORIG_HEAD.lock", "index.lock"];

/// How long a lock of another git is waited for, in milliseconds.
const LOCK_PAUSES: &[u64] = &[50, 200, 500, 1000];

/// How often the lock of the repository is tried, each time with the usual wait for locks.
const LOCK_ATTEMPTS: usize = 30;

/// A repository that work can land in.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    pub(super) git: Git,
    root: AbsolutePath,
    /// The folder in which git keeps everything that all worktrees share.
    common: AbsolutePath,
    target: TargetBranch,
    /// Whether the user signs commits.
    pub(super) signs: bool,
    /// The folder of documents, of which snapshots include every file, whatever git ignores.
    pub(super) documents: Option<&'static str>,
    /// The submodules of the last commit that was queried.
    pub(super) links: Arc<Mutex<Option<Links>>>,
}

/// The submodules of a commit.
pub(super) type Links = (Commit, Vec<GitPath>);

/// The branch that work is for, as it was when the repository was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TargetBranch {
    /// Such as `main`.
    pub(crate) branch: String,
    pub(crate) commit: Commit,
    /// The worktree in which it is checked out.
    pub(crate) checked_out: Option<AbsolutePath>,
}

impl TargetBranch {
    pub(super) fn reference(&self) -> String {
        reference_of(&self.branch)
    }
}

pub(super) fn reference_of(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

impl Repository {
    /// Opens the repository around `folder`. The branch that work is for is `target`, or else the one checked out
    /// there. Refuses everything that would make it impossible to land work.
    pub(crate) fn open(world: &World, folder: &AbsolutePath, target: Option<&str>) -> Result<Self, LandingError> {
        if let Some(embedded) = embedded_repository(folder.as_path()) {
            return Err(LandingError::World(WorldError::Embedded { folder: embedded }));
        }
        let git = Git::new(world, folder);
        check_version(&git)?;
        let root = match repository_of(folder) {
            Some(root) => disk::canonical(&root)?,
            None => return Err(no_worktree(&git, folder)),
        };
        if let Some(other) = repository_of_others(&root) {
            return Err(LandingError::OtherRepository { why: other.to_string(), hint: other.hint() });
        }
        let git = git.at(&root);
        let common = common_folder(&git, &root)?;
        let git = git.marked(Mark::of(&format!("git {common}")));
        check_operations(&root)?;
        let head = Head::branch_at(&root, |arguments| git.text(arguments).ok());
        let target = target.map(str::to_owned).or(head).ok_or_else(|| LandingError::Detached { root: root.clone() })?;
        if !is_branch_name(&target) {
            return Err(LandingError::BadBranch { name: target });
        }
        let commit = match git.commit_of(&reference_of(&target))? {
            Some(commit) => commit,
            None if git.text(["rev-list", "-n", "1", "--all"])?.is_empty() => {
                return Err(LandingError::NoCommit { root });
            }
            None => return Err(LandingError::NoBranch { name: target }),
        };
        // A folder is made there and removed, since permissions do not show everything that a file system allows.
        if Scratch::new(common.as_path()).is_err() {
            return Err(LandingError::ReadOnly { path: common });
        }
        let signs = git.run(["config", "--type=bool", "--get", "commit.gpgsign"])?.text() == "true";
        let target = TargetBranch { branch: target, commit, checked_out: None };
        let filters = Filters::of(&git.run(Filters::QUESTION)?.stdout, world, &common, (&[], &Openings::default()))?;
        let git = git.with_filters(filters);
        let mut repository = Self { git, root, common, target, signs, documents: None, links: Arc::default() };
        repository.target.checked_out = repository.checked_out(&repository.target.branch)?;
        Ok(repository)
    }

    /// Returns the same repository with snapshots that include every file of this folder, ignored or not, since readers
    /// of the documents read ignored files too.
    pub(crate) fn with_documents(self, folder: &'static str) -> Self {
        Self { documents: Some(folder), ..self }
    }

    /// Returns the same repository with filters that cannot read these places, and with what the user opens in their
    /// fence.
    pub(crate) fn hiding(
        self,
        world: &World,
        places: &[AbsolutePath],
        openings: &Openings,
    ) -> Result<Self, LandingError> {
        // The filters of the user, not those that this program has already fenced.
        let told = self.git.with_filters(Filters::default()).run(Filters::QUESTION)?.stdout;
        let filters = Filters::of(&told, world, &self.common, (places, openings))?;
        Ok(Self { git: self.git.with_filters(filters), ..self })
    }

    pub(crate) fn root(&self) -> &AbsolutePath {
        &self.root
    }

    /// The target as it was when the repository was opened.
    pub(crate) fn target(&self) -> &TargetBranch {
        &self.target
    }

    /// The current commit of the target.
    pub(crate) fn tip(&self) -> Result<Commit, LandingError> {
        let tip = self.git.commit_of(&self.target.reference())?;
        tip.ok_or_else(|| LandingError::NoBranch { name: self.target.branch.clone() })
    }

    /// True if two commits have a common ancestor.
    pub(crate) fn are_related(&self, one: &Commit, other: &Commit) -> Result<bool, LandingError> {
        Ok(self.git.run(["merge-base", one.as_str(), other.as_str()])?.success())
    }

    /// Returns the commit of a branch; `None` if the branch does not exist.
    pub(crate) fn branch(&self, name: &str) -> Result<Option<Commit>, LandingError> {
        self.git.commit_of(&reference_of(name))
    }

    /// Returns the mark of every git that works in this repository for the engine.
    pub(crate) fn mark(&self) -> Mark {
        Mark::of(&format!("git {}", self.common))
    }

    /// The folder in which git keeps everything that all worktrees share: commits, branches, settings.
    pub(crate) fn common(&self) -> &AbsolutePath {
        &self.common
    }

    /// Returns the worktrees of the repository, the main one first. Git fails while another git adds or removes one, so
    /// it is asked again; the remains of an engine git that was killed meanwhile are removed.
    pub(super) fn worktrees(&self) -> Result<Vec<ListedWorktree>, LandingError> {
        let mut pauses = LIST_PAUSES.iter();
        loop {
            match (self.git.ask(["worktree", "list", "--porcelain", "-z"]), pauses.next()) {
                (Ok(answer), _) => {
                    let mut found = listed(&String::from_utf8_lossy(&answer));
                    self.place_main(&mut found);
                    return Ok(found);
                }
                (Err(LandingError::Git { .. }), Some(pause)) => {
                    self.git.world().pause(Duration::from_millis(*pause));
                }
                (Err(LandingError::Git { .. }), None) if self.remove_half_made()? => {}
                (Err(error), _) => return Err(error),
            }
        }
    }

    /// Sets the path of the main worktree, which git lists as its git folder if that is stored elsewhere.
    fn place_main(&self, found: &mut [ListedWorktree]) {
        let common = self.common.to_string();
        let Some(main) = found.first_mut().filter(|main| main.path == common) else { return };
        if self.git.text(["rev-parse", "--absolute-git-dir"]).is_ok_and(|own| own == common) {
            main.path = self.root.to_string();
        }
    }

    /// Returns the worktree in which a branch is checked out. Refuses one that is missing, or in which a rebase has
    /// detached the branch for a while: moving the branch would surprise the person who continues there.
    pub(super) fn checked_out(&self, branch: &str) -> Result<Option<AbsolutePath>, LandingError> {
        let mut found: Option<AbsolutePath> = None;
        for worktree in self.worktrees()? {
            let Ok(folder) = AbsolutePath::parse(&worktree.path) else { continue };
            if worktree.branch.is_none() {
                if let Some(operation) = borrower(&folder, branch) {
                    return Err(LandingError::InProgress { operation, folder });
                }
                continue;
            }
            if worktree.branch.as_deref() != Some(branch) {
                continue;
            }
            if let Some(first) = found {
                return Err(LandingError::BranchInUse { branch: branch.to_owned(), folder: first.to_string() });
            }
            // The main worktree of a bare repository has no files.
            if !disk::is_folder(&folder) {
                return Err(LandingError::Missing { folder });
            }
            check_operations(&folder)?;
            found = Some(folder);
        }
        Ok(found)
    }

    /// Refuses what would keep every landing in the checkout of the target from happening, and that a person can see to
    /// before any work is done: no name for commits, a lock that stays, files with a conflict.
    pub(crate) fn check_landing(&self) -> Result<(), LandingError> {
        self.check_identity()?;
        let Some(folder) = &self.target.checked_out else { return Ok(()) };
        let own = self.kept_for(folder)?.unwrap_or_else(|| self.common.clone());
        let of_branch = self.common.resolve(format!("{}.lock", self.target.reference()));
        let locks = LOCKS.iter().map(|name| own.resolve(name)).chain([of_branch]);
        for lock in locks {
            let mut pauses = LOCK_PAUSES.iter();
            while disk::exists(&lock) {
                let Some(pause) = pauses.next() else { return Err(LandingError::Locked { lock: lock.to_string() }) };
                self.git.world().pause(Duration::from_millis(*pause));
            }
        }
        let unmerged = self.git.at(folder).ask(["ls-files", "--unmerged", "-z"])?;
        let first = unmerged.split(|byte| *byte == 0).find_map(|record| record.split(|byte| *byte == b'\t').nth(1));
        if let Some(path) = first {
            return Err(LandingError::Unmerged { folder: folder.clone(), path: GitPath::of(path) });
        }
        Ok(())
    }

    /// Runs `act` while no other call of this program lands or changes the worktrees of the repository. Must not be
    /// nested.
    pub(super) fn alone<R>(&self, act: impl FnOnce() -> Result<R, LandingError>) -> Result<R, LandingError> {
        let world = self.git.world();
        let since = world.now().to_string();
        let holder = Holder { process: world.process(), folder: self.root.as_path().to_path_buf(), since };
        let disk = Disk::new(world.lock_folders(), holder, Faults::default());
        let mut act = Some(act);
        let mut attempts = 0;
        loop {
            let locked = LandingError::Locked { lock: self.common.to_string() };
            let done = disk.transact([&self.common], |_, _| act.take().map_or(Err(locked), |act| act()));
            attempts += 1;
            match done {
                // The holder may be checking out a large tree.
                Err(LandingError::Disk(DiskError::Locked { .. })) if act.is_some() && attempts < LOCK_ATTEMPTS => {}
                done => return done,
            }
        }
    }
}

fn check_version(git: &Git) -> Result<(), LandingError> {
    let told = git.text(["version"])?;
    let number = told.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    let mut parts = number.unwrap_or_default().split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    let version = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if version >= OLDEST { Ok(()) } else { Err(LandingError::OldGit { found: number.unwrap_or("?").to_owned() }) }
}

/// Returns the error for a `folder` without a worktree around it: it is in a bare repository, or in none.
fn no_worktree(git: &Git, folder: &AbsolutePath) -> LandingError {
    let is_bare = git.text(["rev-parse", "--is-bare-repository"]).is_ok_and(|answer| answer == "true");
    let folder = folder.clone();
    if is_bare { LandingError::Bare { folder } } else { LandingError::NoRepository { folder } }
}

fn common_folder(git: &Git, root: &AbsolutePath) -> Result<AbsolutePath, LandingError> {
    let line = ["rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--git-common-dir"];
    let answer = git.ask(line)?;
    let answer = answer.strip_suffix(b"\n").unwrap_or(&answer);
    if let Some(path) = answer.strip_prefix(b"true\n") {
        return Ok(disk::canonical(&AbsolutePath::parse(path_of(path)).map_err(disk::DiskError::from)?)?);
    }
    Err(LandingError::Bare { folder: root.clone() })
}

/// Refuses a worktree in which an operation waits for a person.
fn check_operations(folder: &AbsolutePath) -> Result<(), LandingError> {
    let Some(own) = own_folder(folder.as_path()) else { return Ok(()) };
    let waiting = OPERATIONS.iter().find(|(file, _)| disk::exists(own.resolve(file)));
    match waiting {
        Some((_, operation)) => Err(LandingError::InProgress { operation, folder: folder.clone() }),
        None => Ok(()),
    }
}

/// Returns the operation that has detached the branch from HEAD of the worktree.
fn borrower(folder: &AbsolutePath, branch: &str) -> Option<&'static str> {
    let own = own_folder(folder.as_path())?;
    let is_borrowed = |file: &str| {
        let text = disk::read_text(own.resolve(file)).ok().flatten().unwrap_or_default();
        let name = text.trim();
        name == branch || name == reference_of(branch)
    };
    BORROWED.iter().find(|(file, _)| is_borrowed(file)).map(|(_, operation)| *operation)
}
