//! Runs git for the pipeline.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use super::error::LandingError;
use super::filters::Filters;
use super::id::Commit;
use crate::disk::{self, AbsolutePath};
use crate::text::shell::typed;
use crate::world::tree::Mark;
use crate::world::{Finished, Program, World};

/// The timeout of a call: it may check out a large tree, and run filters and signing programs.
const PATIENCE: Duration = Duration::from_secs(600);

/// The timeout of a call that reaches a remote.
const REMOTE_PATIENCE: Duration = Duration::from_secs(120);

const MOMENT: Duration = Duration::from_millis(100);

/// Settings of each call, whatever the repository sets.
const SETTINGS: &[&str] = &[
    // A folder without hooks.
    "core.hooksPath=/dev/null",
    "core.safecrlf=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.commitEncoding=UTF-8",
    "advice.addEmbeddedRepo=false",
];

/// Additional settings in worktrees that only the engine uses: they contain the whole tree.
const WHOLE: &[&str] = &["core.sparseCheckout=false", "index.sparse=false", "core.splitIndex=false"];

/// Git in one folder.
#[derive(Clone, Debug)]
pub(super) struct Git {
    world: World,
    folder: AbsolutePath,
    /// Whether the folder is a worktree of the engine.
    is_whole: bool,
    /// The folder that the repository keeps for that worktree. It is passed to git, since `.git` in the worktree is a
    /// file that an agent can write, and could lead to a repository whose settings name programs.
    own: Option<AbsolutePath>,
    filters: Filters,
    /// The index to use instead of the worktree's.
    index: Option<AbsolutePath>,
    variables: Vec<(&'static str, OsString)>,
    mark: Option<Mark>,
    /// Whether it may reach remotes.
    reaches: bool,
    #[cfg(test)]
    pub(super) calls: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl Git {
    pub(super) fn new(world: &World, folder: &AbsolutePath) -> Self {
        Self {
            world: world.clone(),
            folder: folder.clone(),
            is_whole: false,
            own: None,
            filters: Filters::default(),
            index: None,
            variables: Vec::new(),
            mark: None,
            reaches: false,
            #[cfg(test)]
            calls: std::sync::Arc::default(),
        }
    }

    /// Returns the same git, with a mark by which its processes are found.
    pub(super) fn marked(self, mark: Mark) -> Self {
        Self { mark: Some(mark), ..self }
    }

    /// Returns the same git in a worktree of the engine, for which the repository keeps the folder `own`.
    pub(super) fn in_worktree(&self, folder: &AbsolutePath, own: AbsolutePath) -> Self {
        Self { folder: folder.clone(), is_whole: true, own: Some(own), ..self.clone() }
    }

    /// Returns the same git with the settings for worktrees of the engine, to create one.
    pub(super) fn for_worktrees(&self) -> Self {
        Self { is_whole: true, ..self.clone() }
    }

    /// Returns the same git with these filters.
    pub(super) fn with_filters(&self, filters: Filters) -> Self {
        Self { filters, ..self.clone() }
    }

    /// Returns the same git in another folder.
    pub(super) fn at(&self, folder: &AbsolutePath) -> Self {
        Self { folder: folder.clone(), ..self.clone() }
    }

    /// Returns the same git with another index.
    pub(super) fn with_index(&self, index: AbsolutePath) -> Self {
        Self { index: Some(index), ..self.clone() }
    }

    /// Returns the same git with one more variable.
    pub(super) fn with(&self, name: &'static str, value: impl Into<OsString>) -> Self {
        let mut with = self.clone();
        with.variables.push((name, value.into()));
        with
    }

    /// Returns the same git, which may reach remotes. It has no terminal to ask for a password in.
    pub(super) fn reaching(&self) -> Self {
        Self { reaches: true, ..self.clone() }
    }

    pub(super) fn world(&self) -> &World {
        &self.world
    }

    fn program<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Program {
        let whole = if self.is_whole { WHOLE } else { &[] };
        let settings = SETTINGS.iter().chain(whole).flat_map(|setting| ["-c", setting]);
        let mut program = self.filters.set(Program::git(self.folder.as_path()).arguments(settings));
        program = program.arguments(arguments);
        program = if self.reaches {
            program.timeout(REMOTE_PATIENCE).detached()
        } else {
            program.timeout(PATIENCE).without_remotes()
        };
        if let Some(own) = &self.own {
            program = program.variable("GIT_DIR", own.as_path()).variable("GIT_WORK_TREE", self.folder.as_path());
            // A file in that folder has the same content, but an agent that commits can write it.
            if let Some(common) = own.parent().and_then(|worktrees| worktrees.parent()) {
                program = program.variable("GIT_COMMON_DIR", common.as_path());
            }
        }
        if let Some(index) = &self.index {
            program = program.variable("GIT_INDEX_FILE", index.as_path());
        }
        if let Some(mark) = &self.mark {
            program = program.marked(mark.clone());
        }
        for (name, value) in &self.variables {
            program = program.variable(name, value);
        }
        #[cfg(test)]
        self.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        program
    }

    /// Runs git and returns how it ended. Waits for the lock of another git.
    pub(super) fn run<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Finished, LandingError> {
        Ok(self.world.git_in_turn(&self.program(arguments))?)
    }

    /// Returns the output of git; a failure of git is an error.
    pub(super) fn ask<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<Vec<u8>, LandingError> {
        self.tell(arguments, Vec::new())
    }

    /// Like [`Self::ask`], with standard input for git.
    pub(super) fn tell<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: Vec<u8>,
    ) -> Result<Vec<u8>, LandingError> {
        let program = self.reading(arguments, input);
        let finished = self.world.git_in_turn(&program)?;
        if finished.success() { Ok(finished.stdout) } else { Err(failed(&self.world, &program, &finished)) }
    }

    /// Like [`Self::run`], with standard input for git.
    pub(super) fn told<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: Vec<u8>,
    ) -> Result<Finished, LandingError> {
        Ok(self.world.git_in_turn(&self.reading(arguments, input))?)
    }

    fn reading<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>, input: Vec<u8>) -> Program {
        let program = self.program(arguments);
        if input.is_empty() { program } else { program.stdin(input) }
    }

    /// Like [`Self::ask`], as text without the final newline.
    pub(super) fn text<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<String, LandingError> {
        let answer = self.ask(arguments)?;
        Ok(String::from_utf8_lossy(&answer).trim_end_matches(['\n', '\r']).to_owned())
    }

    /// Returns the commit of a reference; `None` if it does not exist.
    pub(super) fn commit_of(&self, reference: &str) -> Result<Option<Commit>, LandingError> {
        let finished = self.run(["rev-parse", "--verify", "--quiet", &format!("{reference}^{{commit}}")])?;
        match finished.code {
            Some(0) => Ok(Commit::parse(&finished.text())),
            Some(1) => Ok(None),
            _ => Err(LandingError::Git {
                command: typed!("git rev-parse {}", reference).to_string(),
                why: finished.error_text(),
            }),
        }
    }

    /// True if the first commit is the second one or in its history.
    pub(super) fn is_ancestor(&self, commit: &Commit, of: &Commit) -> Result<bool, LandingError> {
        let finished = self.run(["merge-base", "--is-ancestor", commit.as_str(), of.as_str()])?;
        match finished.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(LandingError::Git { command: "git merge-base".to_owned(), why: finished.error_text() }),
        }
    }

    /// Moves a reference from one commit to another; `None` means that it does not exist. The inner `Err` has its
    /// current commit if that is not `from`.
    pub(super) fn swap(
        &self,
        reference: &str,
        from: Option<&Commit>,
        to: Option<&Commit>,
        why: &str,
    ) -> Result<Result<(), Option<Commit>>, LandingError> {
        // Git reads an empty value as a reference that does not exist.
        let old = from.map_or("", Commit::as_str);
        let line: Vec<&str> = match to {
            Some(to) => vec!["update-ref", "-m", why, reference, to.as_str(), old],
            None => vec!["update-ref", "-m", why, "-d", reference, old],
        };
        let program = self.program(line);
        // Git also reports `cannot lock` for a reference that moved, and waiting does not help then.
        if self.world.run(&program)?.success() {
            return Ok(Ok(()));
        }
        let now = self.commit_of(reference)?;
        if now.as_ref() == to {
            return Ok(Ok(()));
        }
        if now.as_ref() != from {
            return Ok(Err(now));
        }
        let finished = self.world.git_in_turn(&program)?;
        if finished.success() { Ok(Ok(())) } else { Err(failed(&self.world, &program, &finished)) }
    }
}

fn failed(world: &World, program: &Program, finished: &Finished) -> LandingError {
    if let Some(signal) = finished.signal {
        // The cause that ended git may be a request to this process too, such as Ctrl-C; the note of it can arrive a
        // moment later.
        world.pause(MOMENT);
        return LandingError::GitKilled { command: program.to_string(), signal };
    }
    let told = finished.error_text();
    let why = if told.is_empty() { finished.text() } else { told };
    match locked(&why) {
        Some(lock) => LandingError::Locked { lock },
        None => LandingError::Git { command: program.to_string(), why },
    }
}

/// Returns the lock file of git that an error message is about, if any.
pub(super) fn locked(why: &str) -> Option<String> {
    let (_, rest) = why.split_once("Unable to create '")?;
    let (lock, rest) = rest.split_once('\'')?;
    (lock.contains(".lock") && rest.contains("exists")).then(|| lock.to_owned())
}

/// Returns the folder in which git keeps the data of the worktree at `folder`, according to its `.git`.
pub(super) fn own_folder(folder: &Path) -> Option<AbsolutePath> {
    let folder = AbsolutePath::parse(folder).ok()?;
    let mark = folder.resolve(".git");
    if disk::is_folder(&mark) {
        return Some(mark);
    }
    let text = disk::read_text(&mark).ok()??;
    Some(folder.resolve(text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Explain;

    #[test]
    fn a_killed_git_is_reported_with_its_signal_and_a_hint() {
        let finished = Finished { signal: Some(9), ..Finished::default() };
        let error = failed(&World::real(), &Program::git(Path::new("/p")).arguments(["read-tree"]), &finished);
        assert!(error.to_string().ends_with("` was ended by signal 9"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("`gsd-tools auto run`")));
    }
}
