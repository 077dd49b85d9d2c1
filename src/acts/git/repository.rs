//! The repository of a project, and those inside it, accessed through git itself.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::scratch::GitScratch;
use crate::acts::Call;
use crate::disk::AbsolutePath;
use crate::failure::{Failure, Reason};
use crate::project::config::Config;
use crate::project::head::Head;
use crate::project::repository;
use crate::world::{Finished, Program, World, WorldError, embedded_repository, pathspec};

/// How long git may take: hooks run inside it, and it may wait for a lock.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a remote may take to answer one question about itself.
const REMOTE_PATIENCE: Duration = Duration::from_secs(10);

/// Names of a base branch if nothing gives one.
const USUAL_BASES: &[&str] = &["main", "master", "trunk", "develop"];

/// Refuses to change a repository if `folder` only pretends to be one.
pub(crate) fn refuse_repository_of_others(folder: &AbsolutePath) -> Result<(), Failure> {
    if let Some(folder) = embedded_repository(folder.as_path()) {
        let hint = format!(
            "if you did not create it, remove `HEAD` in `{}`; to make the folder a repository, run `git init` there",
            folder.display()
        );
        return Err(Failure::because(Reason::Usage, &WorldError::Embedded { folder }).hint(hint));
    }
    let Some(other) = repository::repository_of_others(folder) else { return Ok(()) };
    Err(Failure::usage(other.to_string()).hint(other.hint()))
}

/// A git command line for these paths, taken literally, or for everything if `paths` is empty.
pub(crate) fn about<S: AsRef<str>>(line: &[&str], paths: &[S]) -> Vec<String> {
    let paths = paths.iter().map(|path| pathspec(path.as_ref()));
    line.iter().map(|word| (*word).to_owned()).chain(["--".to_owned()]).chain(paths).collect()
}

/// Git's complaint, in the caller's words: without the marks of [`pathspec`].
pub(crate) fn complaint(finished: &Finished) -> String {
    let error = finished.error_text();
    let told = if error.is_empty() { finished.text() } else { error };
    told.replace(&pathspec(""), "")
}

/// Git verbs that answer from settings and names only.
const ASKING: [&str; 2] = ["config", "rev-parse"];

/// Git in one folder.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    world: World,
    folder: AbsolutePath,
    patience: Duration,
    /// Git before its verb, in a rehearsal.
    still: Option<Arc<Program>>,
    /// Where git writes instead of the repository.
    scratch: Option<Arc<GitScratch>>,
}

impl Repository {
    /// The repository of the project's root.
    pub(crate) fn of(call: &Call) -> Self {
        Self::at(call, call.root().clone(), PATIENCE)
    }

    pub(crate) fn at(call: &Call, folder: AbsolutePath, patience: Duration) -> Self {
        let still = call.is_rehearsal().then(|| Arc::new(call.world().still_git(folder.as_path())));
        Self { world: call.world().clone(), folder, patience, still, scratch: None }
    }

    /// The same, to stage and commit in. In a rehearsal, changes are staged outside the repository.
    pub(crate) fn for_writing(self, call: &Call) -> Result<Self, Failure> {
        refuse_repository_of_others(&self.folder)?;
        if call.is_rehearsal() { self.aside(call) } else { Ok(self) }
    }

    /// The same, with what git makes made beside the repository.
    pub(crate) fn aside(self, call: &Call) -> Result<Self, Failure> {
        Ok(Self { scratch: Some(Arc::new(GitScratch::beside(call, &self.folder)?)), ..self })
    }

    /// Git in another folder.
    pub(crate) fn elsewhere(&self, folder: impl AsRef<Path>) -> Self {
        let folder = self.folder.resolve(folder);
        let still = self.still.as_ref().map(|_| Arc::new(self.world.still_git(folder.as_path())));
        Self { world: self.world.clone(), folder, still, scratch: None, ..*self }
    }

    pub(crate) fn folder(&self) -> &AbsolutePath {
        &self.folder
    }

    pub(crate) fn git<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Finished, WorldError> {
        self.world.run(&self.program(arguments))
    }

    /// As [`Self::git`]; one that cannot be run has failed with that as its complaint.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Finished {
        let cannot = |error: WorldError| Finished { stderr: error.to_string().into_bytes(), ..Finished::default() };
        self.git(arguments).unwrap_or_else(cannot)
    }

    /// As [`Self::git`]; if another git has locked the repository, retries for a while.
    pub(crate) fn git_in_turn<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Finished, WorldError> {
        self.world.git_in_turn(&self.program(arguments))
    }

    fn program<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Program {
        // A query of the user's settings has to see them.
        let asks = arguments.first().is_some_and(|verb| ASKING.iter().any(|asking| *asking == verb.as_ref()));
        let still = self.still.as_deref().filter(|_| !asks).cloned();
        let program = still.unwrap_or_else(|| Program::git(self.folder.as_path()));
        let program = program.arguments(arguments).timeout(self.patience);
        match &self.scratch {
            Some(scratch) => scratch.divert(program),
            None => program,
        }
    }

    /// True if git succeeds. A missing git counts as failure.
    fn agrees(&self, arguments: &[&str]) -> bool {
        self.git(arguments).is_ok_and(|finished| finished.success())
    }

    /// Git's output, if it succeeds and is not empty.
    pub(crate) fn answer<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Option<String> {
        let finished = self.git(arguments).ok().filter(Finished::success)?;
        Some(finished.text()).filter(|text| !text.is_empty())
    }

    /// The staged paths, relative to the repository, both paths of a renamed file; with `paths`, those among them.
    pub(crate) fn staged<S: AsRef<str>>(&self, paths: &[S]) -> Vec<String> {
        let arguments = about(&["diff", "--cached", "--name-only", "--no-renames", "-z"], paths);
        let names = self.answer(&arguments).unwrap_or_default();
        names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// True if one of `paths` has something staged.
    pub(crate) fn has_staged<S: AsRef<str>>(&self, paths: &[S]) -> bool {
        self.git(&about(&["diff", "--cached", "--quiet"], paths)).is_ok_and(|finished| finished.code == Some(1))
    }

    /// Those of `paths` that git ignores: a tracked file is not ignored.
    pub(crate) fn ignored(&self, paths: &[&str]) -> Vec<String> {
        let is_ignored = |path: &&&str| self.agrees(&["check-ignore", "-q", "--", path]);
        // If none is ignored, one query is enough for all.
        let line: Vec<&str> = ["check-ignore", "--"].into_iter().chain(paths.iter().copied()).collect();
        if paths.is_empty() || !self.agrees(&line) {
            return Vec::new();
        }
        paths.iter().filter(is_ignored).map(|path| (*path).to_owned()).collect()
    }

    /// True if a rule of the repository ignores the planning folder. It shows what is wanted from now on, also for
    /// files that were tracked before.
    pub(crate) fn ignores_planning(&self) -> bool {
        self.agrees(&["check-ignore", "-q", "--no-index", "--", ".planning"])
    }

    /// True if a merge, a cherry-pick or a revert waits for its own commit.
    pub(crate) fn is_amid_another_commit(&self) -> bool {
        let heads = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
        heads.iter().any(|head| self.agrees(&["rev-parse", "-q", "--verify", head]))
    }

    /// The current branch; `None` if HEAD is detached.
    pub(crate) fn branch(&self) -> Option<String> {
        Head::branch_at(&self.folder, |arguments| self.answer(arguments))
    }

    pub(crate) fn has_branch(&self, name: &str) -> bool {
        self.has_ref(&format!("refs/heads/{name}"))
    }

    fn has_ref(&self, name: &str) -> bool {
        self.agrees(&["show-ref", "--verify", "--quiet", name])
    }

    /// True if a commit has touched `path`.
    pub(crate) fn has_history(&self, path: &str) -> bool {
        self.answer(&about(&["log", "-1", "--format=%H"], &[path])).is_some()
    }

    /// Git's objection to a commit by this user.
    pub(crate) fn complaint_of_author(&self) -> Option<String> {
        let idents = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"];
        idents.iter().find_map(|ident| match self.git(&["var", ident]) {
            Ok(finished) if finished.success() => None,
            Ok(finished) => Some(finished.error_text()),
            Err(error) => Some(error.to_string()),
        })
    }

    /// The first seven digits of the current commit.
    pub(crate) fn short_hash(&self) -> Option<String> {
        self.answer(&["rev-parse", "--short=7", "HEAD"])
    }

    /// The branch that work starts from: configured, the remote's default, or the first usual name that exists, here or
    /// among what was fetched. If none of these is known, the remote is asked; the last resort is `init.defaultBranch`,
    /// else `main`.
    pub(crate) fn base_branch(&self, config: &Config) -> String {
        let configured = config.text("git.base_branch").map(str::to_owned);
        let of_remote = || {
            let head = self.answer(&["symbolic-ref", "--short", "-q", "refs/remotes/origin/HEAD"])?;
            head.strip_prefix("origin/").map(str::to_owned)
        };
        let usual = |is_there: &dyn Fn(&str) -> bool| {
            USUAL_BASES.iter().find(|name| is_there(name)).map(|name| (*name).to_owned())
        };
        let local = || usual(&|name| self.has_branch(name));
        let fetched = || usual(&|name| self.has_ref(&format!("refs/remotes/origin/{name}")));
        let initial = || self.answer(&["config", "init.defaultBranch"]);
        let known = configured.or_else(of_remote).or_else(local).or_else(fetched);
        known.or_else(|| self.base_at_remote()).or_else(initial).unwrap_or_else(|| USUAL_BASES[0].to_owned())
    }

    /// The remote's default branch, if it answers. It is contacted by its address, so that nothing in this repository's
    /// settings is run for a query.
    fn base_at_remote(&self) -> Option<String> {
        let url = self.answer(&["config", "remote.origin.url"])?;
        let is_remote = url.contains("://") || url.split('/').next().is_some_and(|host| host.contains(':'));
        let address = if is_remote { url } else { self.folder.resolve(&url).to_string() };
        let program = Program::apart("git")
            .arguments(["ls-remote", "--symref", "--", &address, "HEAD"])
            .variable("GIT_TERMINAL_PROMPT", "0")
            .timeout(REMOTE_PATIENCE);
        let told = self.world.run(&program).ok().filter(Finished::success)?.text();
        let head = told.lines().find_map(|line| line.strip_prefix("ref: refs/heads/"))?;
        head.split_whitespace().next().map(str::to_owned)
    }
}
