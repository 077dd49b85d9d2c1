//! The commits of a phase, and what they did to which files: one answer for everything that looks at a phase's work.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::complaint;
use crate::commands::frame::{CommandError, Context};
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::plan_commits;
use crate::world::{Finished, Program, pathspec};

/// A commit of a phase.
#[derive(Clone, Debug)]
pub(in crate::commands) struct PhaseCommit {
    pub(in crate::commands) hash: String,
    /// The plan, or the phase where the commit is that of none.
    pub(in crate::commands) scope: String,
    /// The files that it changes outside of the planning folder, from the project's root.
    files: Vec<String>,
}

/// The work of a phase, as git has it.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct PhaseWork {
    /// The newest first. Those that another commit took back are left out.
    pub(in crate::commands) commits: Vec<PhaseCommit>,
    /// The commit before the first of them; without any, `None`.
    pub(in crate::commands) base: Option<String>,
}

impl PhaseWork {
    /// What git knows of the phase. Numbers may start over with a milestone: what came before its plans does not count.
    pub(in crate::commands) fn of(context: &Context, folder: &PhaseFolder) -> Result<Self, CommandError> {
        let git = |arguments: &[&str]| {
            let finished = context.world().git(context.root().as_path(), arguments)?;
            if finished.success() { Ok(finished) } else { Err(no_answer(&finished)) }
        };
        let range = Self::range(&git, folder)?;
        let undone = git(&["log", "--format=%B", "-E", "--grep", plan_commits::REVERTS, &range])?.text();
        let scopes: BTreeSet<&str> =
            folder.plans().map(plan_id).chain(folder.numbered()).chain([folder.token()]).collect();
        let patterns: Vec<String> =
            scopes.iter().map(|scope| format!("--grep={}", plan_commits::pattern(scope))).collect();
        let mut line = vec!["log", "--no-merges", "--topo-order", "--format=%x01%H%x02%s%x03", "-z", "--name-only"];
        line.extend(["--no-renames", "--relative", "-E"]);
        line.extend(patterns.iter().map(String::as_str));
        line.extend([range.as_str(), "--"]);
        let planning = format!("{}/", context.layout().planning());
        let told = git(&line)?;
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        let commit = |record: &str| {
            let (hash, rest) = record.split_once('\u{2}')?;
            let (subject, files) = rest.split_once('\u{3}')?;
            let scope = plan_commits::scope(subject).filter(|scope| scopes.contains(scope))?;
            let files = files.split('\0').map(|file| file.trim_start_matches('\n'));
            let files = files.filter(|file| !file.is_empty() && !file.starts_with(&planning)).map(str::to_owned);
            let is_undone = subject.starts_with("revert") || undone.contains(hash);
            let found = PhaseCommit { hash: hash.to_owned(), scope: scope.to_owned(), files: files.collect() };
            (!is_undone && !found.files.is_empty()).then_some(found)
        };
        let commits: Vec<PhaseCommit> = told.split('\u{1}').filter_map(commit).collect();
        let base = base_of(context, &commits)?;
        Ok(Self { commits, base })
    }

    /// Where the commits of a phase are looked for: since its first plan was committed, else since a milestone was archived.
    fn range(
        git: &impl Fn(&[&str]) -> Result<Finished, CommandError>,
        folder: &PhaseFolder,
    ) -> Result<String, CommandError> {
        if folder.archived.is_some() {
            return Ok("HEAD".to_owned());
        }
        let first = |line: &[&str]| Ok::<_, CommandError>(git(line)?.text());
        let written = match folder.named_plans().next() {
            Some(plan) => first(&["log", "-1", "--diff-filter=A", "--format=%H", "--", &pathspec(&folder.join(plan))])?,
            None => String::new(),
        };
        let since = if written.is_empty() {
            first(&["log", "-1", "--format=%H", "-E", "--grep", plan_commits::ARCHIVED])?
        } else {
            written
        };
        Ok(if since.is_empty() { "HEAD".to_owned() } else { format!("{since}..HEAD") })
    }

    /// The files that the commits changed, each with the scopes of those that did.
    pub(in crate::commands) fn files(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for commit in &self.commits {
            for file in &commit.files {
                files.entry(file).or_default().insert(&commit.scope);
            }
        }
        files
    }
}

/// Why git can say nothing about the work here; `None` where it can.
pub(in crate::commands) fn silent(context: &Context) -> Option<String> {
    match context.world().git(context.root().as_path(), ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) {
        Ok(finished) if finished.success() => None,
        Ok(_) => Some("there is no commit here, so that nothing could be looked at".to_owned()),
        Err(error) => Some(format!("nothing could be looked at: {error}")),
    }
}

/// Whether work of the phase came after these documents of it were last committed: what they say is not about all of it.
/// Documents that are in no commit, and a git that does not answer, say nothing.
pub(in crate::commands) fn came_after(
    context: &Context,
    folder: &PhaseFolder,
    documents: &[String],
) -> Result<bool, CommandError> {
    let mut line = vec!["log".to_owned(), "-1".to_owned(), "--format=%H".to_owned(), "--".to_owned()];
    line.extend(documents.iter().map(|path| pathspec(path)));
    let git = |line: &[String]| context.world().git(context.root().as_path(), line);
    let written = match git(&line) {
        Ok(finished) if finished.success() && !finished.text().is_empty() => finished.text(),
        _ => return Ok(false),
    };
    let later = git(&["rev-list".to_owned(), "--no-merges".to_owned(), format!("{written}..HEAD")])?;
    if !later.success() {
        return Err(no_answer(&later));
    }
    let later = later.text();
    let later: BTreeSet<&str> = later.lines().collect();
    if later.is_empty() {
        return Ok(false);
    }
    let work = PhaseWork::of(context, folder)?;
    Ok(work.commits.iter().any(|commit| later.contains(commit.hash.as_str())))
}

/// What all of the commits came after. Plans of one wave were made side by side, from the same commit.
fn base_of(context: &Context, commits: &[PhaseCommit]) -> Result<Option<String>, CommandError> {
    let Some(oldest) = commits.last() else { return Ok(None) };
    let git = |arguments: &[String]| context.world().git(context.root().as_path(), arguments);
    let before = |hash: &str| format!("{hash}^");
    let first = git(&["rev-parse".to_owned(), "--verify".to_owned(), "--quiet".to_owned(), before(&oldest.hash)])?;
    if !first.success() {
        // The first commit of all: before it there was no file.
        let empty = Program::git(context.root().as_path()).arguments(["hash-object", "-t", "tree", "--stdin"]);
        return Ok(Some(context.world().run(&empty.stdin(Vec::new()))?.text()));
    }
    let mut line = vec!["merge-base".to_owned(), "--octopus".to_owned()];
    line.extend(commits.iter().map(|commit| before(&commit.hash)));
    let common = git(&line)?;
    Ok(Some(if common.success() { common.text() } else { first.text() }))
}

/// A git that does not answer is no phase without work.
pub(super) fn no_answer(finished: &Finished) -> CommandError {
    CommandError::usage(format!("git does not answer: {}", complaint(finished)))
        .hint("run this in the project's repository; `git status` shows whether git can read it")
}
