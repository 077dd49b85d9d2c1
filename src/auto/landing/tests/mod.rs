//! Tests of landing in real git repositories.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests prepare repositories by hand"
)]

mod cheats;
mod checkout;
mod edges;
mod locks;
mod merge_backs;
mod notes;
mod opening;
mod quarantine;
mod red_pairs;
mod work;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;

use super::*;
use crate::disk::AbsolutePath;
use crate::world::World;

/// 2026-11-23 in milliseconds.
pub(super) const NOW: i64 = 1_795_392_000_000;

/// Finds a commit of the target that contains the work of `head`.
pub(super) fn landed_by(repository: &Repository, head: &Commit) -> Proof {
    let line = ["log", "--first-parent", "--max-count=64", "--format=%H", repository.target().branch.as_str()];
    let commits = repository.git.text(line).unwrap();
    let proofs = commits.lines().map(|commit| repository.proof(head, &Commit::parse(commit).unwrap()).unwrap());
    proofs.into_iter().find(|proof| *proof != Proof::Unproved).unwrap_or(Proof::Unproved)
}

/// Keeps the state of a worktree as a checkpoint.
pub(super) fn kept_state(
    repository: &Repository,
    worktree: &Worktree,
    (run, number): (&str, u32),
    at: i64,
) -> Checkpoint {
    let snapshot = repository.snapshot(worktree).unwrap();
    repository.store(&snapshot, run, &number.to_string(), at).unwrap()
}

/// A folder with a repository `r` in it, and a user with settings.
pub(super) struct Bench {
    _temporary: tempfile::TempDir,
    pub(super) base: AbsolutePath,
    pub(super) world: World,
}

impl Bench {
    /// Makes a repository with one commit on `main`.
    pub(super) fn new() -> Self {
        let bench = Self::empty();
        bench.git("", &["init", "--quiet", "-b", "main", "r"]);
        bench.write("r/a.txt", "one\n");
        bench.write("r/.gitignore", "*.log\n/.gsd/\n");
        bench.commit_all("r", "start");
        bench
    }

    pub(super) fn empty() -> Self {
        let temporary = crate::testing::folder();
        let base = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir(base.resolve("home")).unwrap();
        let settings = base.resolve("home/.gitconfig");
        std::fs::write(&settings, "[user]\n\tname = U\n\temail = u@x.invalid\n[protocol \"file\"]\n\tallow = always\n")
            .unwrap();
        let path = std::env::var("PATH").unwrap();
        let home = base.resolve("home").to_string();
        let variables = [
            ("PATH", path.as_str()),
            ("HOME", &home),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CEILING_DIRECTORIES", base.as_path().parent().unwrap().to_str().unwrap()),
        ];
        let world = World::with(variables, base.as_path());
        Self { _temporary: temporary, base, world }
    }

    pub(super) fn path(&self, path: &str) -> AbsolutePath {
        self.base.resolve(path)
    }

    pub(super) fn command(&self, program: &str, folder: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path(folder).as_path()).env_clear();
        for name in ["PATH", "HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"] {
            command.env(name, self.world.variable(name).unwrap());
        }
        command
    }

    /// Returns whether git succeeded, and its output.
    pub(super) fn try_git(&self, folder: &str, arguments: &[&str]) -> (bool, Vec<u8>) {
        let output = self.command("git", folder).args(arguments).output().unwrap();
        (output.status.success(), [output.stdout, output.stderr].concat())
    }

    pub(super) fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let (success, told) = self.try_git(folder, arguments);
        let told = String::from_utf8_lossy(&told).trim_end().to_owned();
        assert!(success, "git {arguments:?} in {folder}: {told}");
        told
    }

    pub(super) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.as_path().parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> Option<String> {
        std::fs::read(self.path(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn commit_all(&self, folder: &str, message: &str) -> Commit {
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "-m", message]);
        self.head(folder)
    }

    pub(super) fn head(&self, folder: &str) -> Commit {
        Commit::parse(&self.git(folder, &["rev-parse", "HEAD"])).unwrap()
    }

    pub(super) fn open(&self) -> Repository {
        self.open_at("r", None).unwrap()
    }

    pub(super) fn open_at(&self, folder: &str, target: Option<&str>) -> Result<Repository, LandingError> {
        Repository::open(&self.world, &self.path(folder), target)
    }

    /// Enters the worktree of milestone `id`.
    pub(super) fn enter(&self, repository: &Repository, id: &str) -> Entered {
        let folder = self.path(&format!("r/.gsd/worktrees/{id}"));
        repository.enter(&folder, &format!("milestone/{id}"), &repository.tip().unwrap(), id).unwrap()
    }

    /// Returns everything in a folder except `.git` and the worktrees of the engine, with the index.
    pub(super) fn seen(&self, folder: &str) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        let root = self.path(folder);
        let is_ours = |path: &Path| path.file_name().is_some_and(|name| name == ".git" || name == ".gsd");
        let walk = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter();
        for entry in walk.filter_entry(|entry| !is_ours(entry.path())).map(Result::unwrap) {
            let name = entry.path().strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            let bytes = if entry.path_is_symlink() {
                std::fs::read_link(entry.path()).unwrap().to_string_lossy().into_owned().into_bytes()
            } else if entry.file_type().is_file() {
                std::fs::read(entry.path()).unwrap()
            } else {
                continue;
            };
            found.push((name, bytes));
        }
        found
    }
}

/// Returns how many times `act` started git.
pub(super) fn calls<R>(repository: &Repository, act: impl FnOnce() -> R) -> (R, usize) {
    let before = repository.git.calls.load(Ordering::Relaxed);
    let done = act();
    (done, repository.git.calls.load(Ordering::Relaxed) - before)
}

pub(super) fn message(text: &str) -> CommitMessage {
    CommitMessage::new(text, NOW)
}

/// Returns the candidate of a merge that must succeed.
pub(super) fn ready(merged: Merged) -> Candidate {
    match merged {
        Merged::Ready(candidate) => candidate,
        other => panic!("{other:?}"),
    }
}

pub(super) fn proved(proof: Proof) -> Proved {
    match proof {
        Proof::Proved(proved) => proved,
        Proof::Unproved => panic!("not proved"),
    }
}
