//! Why git work of the pipeline fails, and what a person can do about it.

use super::id::GitPath;
use crate::disk::{AbsolutePath, DiskError, MAKE_ROOM};
use crate::failure::Explain;
use crate::text::shell::typed;
use crate::world::WorldError;

/// System messages for a full disk or an exhausted quota (`strerror` in glibc, musl and macOS). Git names no reason if
/// it could create a file and not fill it.
const FULL: [&str; 6] = [
    "No space left on device",
    "Disk quota exceeded",
    "Disc quota exceeded",
    "Quota exceeded",
    "File too large",
    "unable to write file",
];

/// Git's message for a missing object that it would have fetched in a partial clone.
const NOT_FETCHED: &str = "lazy fetching disabled";

/// Why something was refused or failed. Nothing is lost in any of these cases.
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
    #[error("`{path}` in `{folder}` has a conflict that is not settled")]
    Unmerged { folder: AbsolutePath, path: GitPath },
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
    #[error("`{folder}` has the work of a run whose log is gone, on branch `{branch}`")]
    LogGone { root: AbsolutePath, folder: AbsolutePath, branch: String, free: String },
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

/// How the work of a run whose log is gone is kept, and makes room for another.
fn make_room(root: &AbsolutePath, folder: &AbsolutePath, (branch, free): (&str, &str)) -> String {
    format!(
        "keep its commits under another name, and remove its folder, with what is not committed there: `{}`, then `{}`",
        typed!("git -C {} branch -m {} {}", root, branch, free),
        typed!("git -C {} worktree remove --force --force {}", root, folder)
    )
}

impl Explain for LandingError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::OldGit { .. } => "install git 2.38 or later; `git version` shows which one is used".to_owned(),
            Self::NoRepository { folder } => format!("run `{}`, then commit the files", typed!("git init {}", folder)),
            Self::Bare { folder } => {
                format!("run `{}`, then work in FOLDER", typed!("git -C {} worktree add FOLDER", folder))
            }
            Self::OtherRepository { hint, .. } => hint.clone(),
            Self::NoCommit { root } => {
                format!(
                    "run `{}`, then `{}`",
                    typed!("git -C {} add -A", root),
                    typed!("git -C {} commit -m \"chore: start\"", root)
                )
            }
            Self::Detached { root } => {
                format!("run `{}`, or name the target branch", typed!("git -C {} switch BRANCH", root))
            }
            Self::NoBranch { name } => {
                format!("run `{}`, or name another; `git branch` lists them", typed!("git branch {}", name))
            }
            Self::BadBranch { .. } => "use letters, digits, `-`, `_`, `.` and `/`".to_owned(),
            Self::InProgress { operation: "bisect", folder } => {
                format!("finish it: `{}`", typed!("git -C {} bisect reset", folder))
            }
            Self::InProgress { operation, folder } => {
                format!(
                    "finish it: `{}`, or undo it: `{}`",
                    typed!("git -C {} {} --continue", folder, operation),
                    typed!("git -C {} {} --abort", folder, operation)
                )
            }
            Self::Unmerged { folder, path } => {
                format!("settle it, then run `{}`", typed!("git -C {} add -- {}", folder, path))
            }
            Self::ReadOnly { path } => format!("`{}` shows its owner and mode", typed!("ls -ld {}", path)),
            Self::Occupied { folder } => {
                format!(
                    "check what `{folder}` is, then move it: `{}`",
                    typed!("mv {} {}", folder, format!("{folder}.old"))
                )
            }
            Self::Missing { folder } => format!(
                "if you moved it, run `git worktree repair NEW_FOLDER`; if you removed it, run `{}`, then \
                 `git worktree prune`: the branch has everything that was committed",
                typed!("git worktree unlock {}", folder)
            ),
            Self::Replaced { folder } => {
                format!("if its history is not needed, run `{}`", typed!("rm -r {}", format!("{folder}/.git")))
            }
            Self::BranchInUse { folder, .. } => {
                format!("run `{}`, then the command again", typed!("git -C {} switch --detach", folder))
            }
            Self::BranchOfOthers { root, branch, free } | Self::BranchBlocked { root, blocker: branch, free, .. } => {
                format!("rename it: `{}`", typed!("git -C {} branch -m {} {}", root, branch, free))
            }
            Self::LogGone { root, folder, branch, free } => make_room(root, folder, (branch, free)),
            Self::TagOfThatName { root, name } => {
                let free = name.replace('/', "-");
                format!(
                    "rename it: `{}`, then `{}`",
                    typed!("git -C {} tag {} {}", root, free, name),
                    typed!("git -C {} tag -d {}", root, name)
                )
            }
            Self::BelowRoot { root, .. } => format!(
                "run it there: `{}`; a milestone that is planned has to be in `.gsd/` of the root",
                typed!("gsd-tools auto run --cwd {} --brief FILE", root)
            ),
            Self::FilterMissing { program, .. } => format!("install `{program}`, then run the command again"),
            Self::NotOurs { folder } => {
                format!("if you do not need it, run `{}`", typed!("git worktree remove {}", folder))
            }
            Self::BranchLeft { folder, expected, .. } => {
                format!("run `{}`", typed!("git -C {} switch {}", folder, expected))
            }
            Self::Submodule { folder, path } => format!(
                "commit in the submodule yourself, or undo it: `{}`",
                typed!("git -C {} submodule update --init --force -- {}", folder, path)
            ),
            Self::Embedded { folder, path } => format!(
                "if its history is not needed, run `{}`; or add the folder to `.gitignore`",
                typed!("rm -r {}", format!("{folder}/{path}/.git"))
            ),
            Self::NoIdentity { .. } => {
                "run `git config --global user.name NAME` and `git config --global user.email EMAIL`".to_owned()
            }
            Self::Unsigned { .. } => "unlock the signing key, or run `git config commit.gpgsign false`".to_owned(),
            Self::Moved { .. } | Self::Unrestored { .. } => "run the command again".to_owned(),
            Self::GitKilled { .. } => {
                "run `gsd-tools auto run` to continue; if that happens again, check whether memory is short".to_owned()
            }
            Self::Locked { lock } => format!("if no git is running, run `{}`", typed!("rm {}", lock)),
            Self::World(error) => return error.hint(),
            Self::Disk(error) => return error.hint(),
            Self::Git { why, .. } if why.contains(NOT_FETCHED) => {
                "this clone lacks objects, and none are fetched here; run `git fetch --refetch --no-filter`".to_owned()
            }
            // Git passes on the message of the system.
            Self::Git { why, .. } if FULL.iter().any(|words| why.contains(words)) => MAKE_ROOM.to_owned(),
            Self::Git { .. } | Self::Answer { .. } => return None,
        })
    }
}
