//! Why git work of the pipeline cannot be done, and what a person can do about it.

use super::id::GitPath;
use crate::disk::{AbsolutePath, DiskError, MAKE_ROOM};
use crate::text::shell::shell_word;
use crate::world::WorldError;

/// How the system says that a disk is full or a quota of space is used up (`strerror` in glibc, musl and macOS).
const FULL: [&str; 5] =
    ["No space left on device", "Disk quota exceeded", "Disc quota exceeded", "Quota exceeded", "File too large"];

/// Why something was refused or failed. Nothing was lost in any case.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LandingError {
    #[error("git {found} is too old: 2.38 or later is needed")]
    OldGit { found: String },
    #[error("`{folder}` is not in a git repository")]
    NoRepository { folder: AbsolutePath },
    #[error("`{folder}` is a bare repository, which has no files to work on")]
    Bare { folder: AbsolutePath },
    #[error("{why}")]
    OtherRepository { why: String, hint: String },
    #[error("the repository `{root}` has no commit yet")]
    NoCommit { root: AbsolutePath },
    #[error("no branch is checked out in `{root}`: HEAD is detached, and no target branch was named")]
    Detached { root: AbsolutePath },
    #[error("there is no branch `{name}`")]
    NoBranch { name: String },
    #[error("`{name}` is not a name for a branch")]
    BadBranch { name: String },
    #[error("a {operation} is in progress in `{folder}`")]
    InProgress { operation: &'static str, folder: AbsolutePath },
    #[error("the repository folder `{path}` cannot be written to")]
    ReadOnly { path: AbsolutePath },
    #[error("`{folder}` already exists and is not a worktree of this repository")]
    Occupied { folder: AbsolutePath },
    #[error("the worktree `{folder}` is missing: it was moved or removed")]
    Missing { folder: AbsolutePath },
    #[error("`.git` of the worktree `{folder}` was replaced by another repository")]
    Replaced { folder: AbsolutePath },
    #[error("branch `{branch}` is checked out in `{folder}`")]
    BranchInUse { branch: String, folder: String },
    #[error("there is a branch `{branch}`, and no run made it")]
    BranchOfOthers { root: AbsolutePath, branch: String, free: String },
    #[error("the branch `{blocker}` keeps git from making the branch `{branch}`")]
    BranchBlocked { root: AbsolutePath, branch: String, blocker: String, free: String },
    #[error("there is a tag `{name}`, which has the name of the branch that the run would make")]
    TagOfThatName { root: AbsolutePath, name: String },
    #[error("the project `{project}` is below the root of its repository, `{root}`; a run works at the root")]
    BelowRoot { project: AbsolutePath, root: AbsolutePath },
    #[error("git needs `{program}` for the filter `{name}` of this repository, and it is not installed")]
    FilterMissing { name: String, program: String },
    #[error("`{folder}` is a worktree that another program or person created")]
    NotOurs { folder: AbsolutePath },
    #[error("the worktree `{folder}` should be on branch `{expected}`, but {}", found.as_ref().map_or_else(|| "no branch is checked out there".to_owned(), |found| format!("`{found}` is checked out there")))]
    BranchLeft { folder: AbsolutePath, expected: String, found: Option<String> },
    #[error("the repository keeps settings for each worktree, which agents that commit could change")]
    OwnSettings,
    #[error("the submodule `{path}` in `{folder}` was changed; this program does not commit submodules")]
    Submodule { folder: AbsolutePath, path: GitPath },
    #[error("`{path}` in `{folder}` is a git repository inside the worktree; git would not store its files")]
    Embedded { folder: AbsolutePath, path: GitPath },
    #[error("git does not know who you are, so it cannot commit: {why}")]
    NoIdentity { why: String },
    #[error("git could not sign the commit: {why}")]
    Unsigned { why: String },
    #[error("`{reference}` was moved by another program")]
    Moved { reference: String },
    #[error("the worktree `{folder}` could not be restored: {why}")]
    Unrestored { folder: AbsolutePath, why: String },
    #[error("another git holds the lock `{lock}`")]
    Locked { lock: String },
    #[error("`{command}` failed: {why}")]
    Git { command: String, why: String },
    #[error("`{command}` was ended by signal {signal}")]
    GitKilled { command: String, signal: i32 },
    #[error("`{command}` gave an answer that this program does not understand")]
    Answer { command: &'static str },
    #[error(transparent)]
    World(#[from] WorldError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl LandingError {
    /// What a person can do about it, where there is something.
    pub(crate) fn hint(&self) -> Option<String> {
        let at = |folder: &AbsolutePath| shell_word(&folder.to_string());
        let below = |folder: &AbsolutePath, path: &GitPath| shell_word(&format!("{folder}/{path}"));
        Some(match self {
            Self::OldGit { .. } => "install git 2.38 or later; `git version` shows which one is used".to_owned(),
            Self::NoRepository { folder } => format!("run `git init {}`, then commit the files", at(folder)),
            Self::Bare { folder } => format!("run `git -C {} worktree add FOLDER`, then work in FOLDER", at(folder)),
            Self::OtherRepository { hint, .. } => hint.clone(),
            Self::NoCommit { root } => {
                format!("run `git -C {0} add -A`, then `git -C {0} commit -m \"chore: start\"`", at(root))
            }
            Self::Detached { root } => format!("run `git -C {} switch BRANCH`, or name the target branch", at(root)),
            Self::NoBranch { name } => {
                format!("run `git branch {}`, or name another; `git branch` lists them", shell_word(name))
            }
            Self::BadBranch { .. } => "use letters, digits, `-`, `_`, `.` and `/`".to_owned(),
            Self::InProgress { operation: "bisect", folder } => {
                format!("finish it: `git -C {} bisect reset`", at(folder))
            }
            Self::InProgress { operation, folder } => {
                format!(
                    "finish it: `git -C {0} {operation} --continue`, or undo it: `git -C {0} {operation} --abort`",
                    at(folder)
                )
            }
            Self::ReadOnly { path } => format!("`ls -ld {}` shows its owner and mode", at(path)),
            Self::Occupied { folder } => {
                format!("check what `{folder}` is, then move it: `mv {0} {0}.old`", at(folder))
            }
            Self::Missing { folder } => format!(
                "if you moved it, run `git worktree repair NEW_FOLDER`; if you removed it, run `git worktree unlock {}`, then \
                 `git worktree prune`: the branch has everything that was committed",
                at(folder)
            ),
            Self::Replaced { folder } => format!("if its history is not needed, run `rm -r {}/.git`", at(folder)),
            Self::BranchInUse { folder, .. } => {
                format!("run `git -C {} switch --detach`, then the command again", shell_word(folder))
            }
            Self::BranchOfOthers { root, branch, free } | Self::BranchBlocked { root, blocker: branch, free, .. } => {
                format!("rename it: `git -C {} branch -m {} {}`", at(root), shell_word(branch), shell_word(free))
            }
            Self::TagOfThatName { root, name } => {
                let (root, name, free) = (at(root), shell_word(name), shell_word(&name.replace('/', "-")));
                format!("rename it: `git -C {root} tag {free} {name}`, then `git -C {root} tag -d {name}`")
            }
            Self::BelowRoot { root, .. } => format!(
                "run it there: `gsd-tools auto run --cwd {0} --brief FILE`; a milestone that is planned has to be in `.gsd/` of the root",
                at(root)
            ),
            Self::FilterMissing { program, .. } => format!("install `{program}`, then run the command again"),
            Self::NotOurs { folder } => {
                format!("if you do not need it, run `git worktree remove {}`", at(folder))
            }
            Self::BranchLeft { folder, expected, .. } => {
                format!("run `git -C {} switch {}`", at(folder), shell_word(expected))
            }
            Self::OwnSettings => {
                "run `git config --unset extensions.worktreeConfig`, if no worktree needs it".to_owned()
            }
            Self::Submodule { folder, path } => format!(
                "commit in the submodule yourself, or undo it: `git -C {} submodule update --init --force -- {}`",
                at(folder),
                shell_word(&path.to_string())
            ),
            Self::Embedded { folder, path } => format!(
                "if its history is not needed, run `rm -r {}/.git`; or add the folder to `.gitignore`",
                below(folder, path)
            ),
            Self::NoIdentity { .. } => {
                "run `git config --global user.name NAME` and `git config --global user.email EMAIL`".to_owned()
            }
            Self::Unsigned { .. } => "unlock the signing key, or run `git config commit.gpgsign false`".to_owned(),
            Self::Moved { .. } | Self::Unrestored { .. } => "run the command again".to_owned(),
            Self::GitKilled { .. } => {
                "run `gsd-tools auto run` to continue; if that happens again, check whether memory is short".to_owned()
            }
            Self::Locked { lock } => format!("if no git is running, run `rm {}`", shell_word(lock)),
            Self::World(error) => return error.hint(),
            Self::Disk(error) => return error.hint(),
            // Git passes the system's words on.
            Self::Git { why, .. } if FULL.iter().any(|words| why.contains(words)) => MAKE_ROOM.to_owned(),
            Self::Git { .. } | Self::Answer { .. } => return None,
        })
    }
}
