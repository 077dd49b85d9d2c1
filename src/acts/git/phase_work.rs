//! The commits of a phase and the files they changed: one answer for everything that examines a phase's work.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::complaint;
use crate::acts::Call;
use crate::failure::Failure;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::plan_commits;
use crate::world::{Finished, Program, pathspec};

/// A commit of a phase, or one without a phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseCommit {
    pub(crate) hash: String,
    subject: String,
    /// The plans that the commit names, or the phase if it does not name a plan.
    scopes: Vec<String>,
    /// The files that it changes outside of the planning folder, relative to the project's root.
    files: Vec<String>,
}

/// The work of a phase, as git has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseWork {
    /// Newest first. Those that another commit reverted are left out.
    pub(crate) commits: Vec<PhaseCommit>,
    /// Commits since the base and before the end of the work without the scope of any phase.
    unscoped: Vec<PhaseCommit>,
    /// The commit before the first of them; `None` without commits.
    pub(crate) base: Option<String>,
}

impl PhaseWork {
    /// Reads the work of the phase from git. Numbers may start over with a milestone: commits before its plans do not
    /// count.
    pub(crate) fn of(call: &Call, folder: &PhaseFolder) -> Result<Self, Failure> {
        let git = |arguments: &[&str]| {
            let finished = call.world().git(call.root().as_path(), arguments)?;
            if finished.success() { Ok(finished) } else { Err(no_answer(&finished)) }
        };
        let range = Self::range(&git, folder)?;
        let scopes: BTreeSet<&str> =
            folder.plans().map(plan_id).chain(folder.numbered()).chain([folder.token()]).collect();
        // For a merge, only the files that differ from both sides.
        let mut line = vec!["log", "-c", "--topo-order", "--format=%x01%H%x02%s%x03", "-z", "--name-only"];
        line.extend(["--no-renames", "--relative"]);
        // For an old phase, only its own commits are searched for, in the whole history.
        let patterns: Vec<String> =
            scopes.iter().map(|scope| format!("--grep={}", plan_commits::loose_pattern(scope))).collect();
        if range == "HEAD" {
            line.extend(["-E", "-i"]);
            line.extend(patterns.iter().map(String::as_str));
        }
        line.extend([range.as_str(), "--"]);
        let planning = format!("{}/", call.layout().planning());
        let told = git(&line)?;
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        let undone = undone(&git, &range)?;
        let commit = |record: &str| {
            let (hash, rest) = record.split_once('\u{2}')?;
            let (subject, files) = rest.split_once('\u{3}')?;
            let files = files.split('\0').map(|file| file.trim_start_matches('\n'));
            let files = files.filter(|file| !file.is_empty() && !file.starts_with(&planning)).map(str::to_owned);
            let of = plan_commits::scopes_among(subject, scopes.iter().copied());
            Some(PhaseCommit {
                hash: hash.to_owned(),
                subject: subject.to_owned(),
                scopes: of.into_iter().map(str::to_owned).collect(),
                files: files.collect(),
            })
        };
        let all: Vec<PhaseCommit> = told.split('\u{1}').filter_map(commit).collect();
        // Commits after the last one of the phase do not belong to its work.
        let end = all.iter().position(|commit| !commit.scopes.is_empty()).unwrap_or(all.len());
        let is_work = |commit: &PhaseCommit| {
            !commit.subject.starts_with("revert") && !undone.contains(&commit.hash) && !commit.files.is_empty()
        };
        let (commits, unscoped): (Vec<PhaseCommit>, Vec<PhaseCommit>) =
            all.into_iter().skip(end).filter(is_work).partition(|commit| !commit.scopes.is_empty());
        let base = base_of(call, folder, &commits)?;
        let since = match &base {
            Some(base) if range != "HEAD" => git(&["rev-list", &format!("{base}..HEAD")]).map(|found| found.text()),
            _ => Ok(String::new()),
        };
        // Before the very first commit there is only a tree.
        let since = since.unwrap_or_default();
        let since: BTreeSet<&str> = since.lines().collect();
        let is_of_none =
            |commit: &PhaseCommit| !plan_commits::has_number(&commit.subject) && since.contains(commit.hash.as_str());
        Ok(Self { commits, unscoped: unscoped.into_iter().filter(is_of_none).collect(), base })
    }

    /// The files that commits without the scope of any phase changed while the phase was worked on, each with the last
    /// of those commits.
    pub(crate) fn unscoped(&self) -> BTreeMap<&str, String> {
        let mut files = BTreeMap::new();
        for commit in &self.unscoped {
            let shown = || format!("{} {}", commit.hash.get(..8).unwrap_or(&commit.hash), commit.subject);
            for file in &commit.files {
                files.entry(file.as_str()).or_insert_with(shown);
            }
        }
        files
    }

    /// The range in which the commits of a phase are searched for: since its first plan was committed, else since a
    /// milestone was archived.
    fn range(git: &impl Fn(&[&str]) -> Result<Finished, Failure>, folder: &PhaseFolder) -> Result<String, Failure> {
        if folder.archived.is_some() {
            return Ok("HEAD".to_owned());
        }
        let first = |line: &[&str]| Ok::<_, Failure>(git(line)?.text());
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

    /// The files that the commits changed, each with the scopes of those commits.
    pub(crate) fn files(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for commit in &self.commits {
            for file in &commit.files {
                files.entry(file).or_default().extend(commit.scopes.iter().map(String::as_str));
            }
        }
        files
    }
}

/// Why git gives no information about the work here; `None` if it does.
pub(crate) fn silent(call: &Call) -> Option<String> {
    match call.world().git(call.root().as_path(), ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) {
        Ok(finished) if finished.success() => None,
        Ok(_) => Some("there is no commit here, so that nothing could be looked at".to_owned()),
        Err(error) => Some(format!("nothing could be looked at: {error}")),
    }
}

/// True if work of the phase came after the last commit of these documents: they do not cover all of it. False if the
/// documents are not committed, or if git fails.
pub(crate) fn came_after(call: &Call, folder: &PhaseFolder, documents: &[String]) -> Result<bool, Failure> {
    let mut line = vec!["log".to_owned(), "-1".to_owned(), "--format=%H".to_owned(), "--".to_owned()];
    line.extend(documents.iter().map(|path| pathspec(path)));
    let git = |line: &[String]| call.world().git(call.root().as_path(), line);
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
    let work = PhaseWork::of(call, folder)?;
    Ok(work.commits.iter().any(|commit| later.contains(commit.hash.as_str())))
}

/// The commits that were reverted by a commit that was not reverted itself.
fn undone(git: &impl Fn(&[&str]) -> Result<Finished, Failure>, range: &str) -> Result<BTreeSet<String>, Failure> {
    let line = ["log", "--topo-order", "--format=%x01%H%x02%B", "-E", "--grep", plan_commits::REVERTS, range];
    let told = git(&line)?.text();
    let mut undone = BTreeSet::new();
    // Newest first.
    for (hash, text) in told.split('\u{1}').filter_map(|record| record.split_once('\u{2}')) {
        if undone.contains(hash) {
            continue;
        }
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("This reverts commit ").or_else(|| line.strip_prefix("Reverts: ")));
        let named = lines.flat_map(|line| line.split(|letter: char| !letter.is_ascii_hexdigit()));
        undone.extend(named.filter(|word| word.len() == 40).map(str::to_owned));
    }
    Ok(undone)
}

/// The commit before all of these. Plans of one wave were made in parallel, from the same commit. Earlier commits
/// without a scope are included, back to the one that added the first plan.
fn base_of(call: &Call, folder: &PhaseFolder, commits: &[PhaseCommit]) -> Result<Option<String>, Failure> {
    let Some(oldest) = commits.last() else { return Ok(None) };
    let git = |arguments: &[String]| call.world().git(call.root().as_path(), arguments);
    let before = |hash: &str| format!("{hash}^");
    let first = git(&["rev-parse".to_owned(), "--verify".to_owned(), "--quiet".to_owned(), before(&oldest.hash)])?;
    if !first.success() {
        // For the very first commit: before it there was no file.
        let empty = Program::git(call.root().as_path()).arguments(["hash-object", "-t", "tree", "--stdin"]);
        return Ok(Some(call.world().run(&empty.stdin(Vec::new()))?.text()));
    }
    let mut line = vec!["merge-base".to_owned(), "--octopus".to_owned()];
    line.extend(commits.iter().map(|commit| before(&commit.hash)));
    let common = git(&line)?;
    let common = if common.success() { common.text() } else { first.text() };
    let Some(plan) = folder.named_plans().next().filter(|_| folder.archived.is_none()) else { return Ok(Some(common)) };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let written = git(&words(&["log", "-1", "--format=%H", &common, "--", &pathspec(&folder.join(plan))]))?.text();
    if written.is_empty() {
        return Ok(Some(common));
    }
    let range = format!("{written}..{common}");
    let between = git(&words(&["log", "--first-parent", "--format=%H%x02%P%x02%s", &range]))?.text();
    for line in between.lines() {
        let mut parts = line.split('\u{2}');
        let (hash, parents, subject) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
        let is_merge = parents.is_some_and(|parents| parents.contains(' '));
        if plan_commits::has_number(subject) || is_merge {
            return Ok(hash.map(str::to_owned));
        }
    }
    Ok(Some(written))
}

/// The error if git fails, which does not mean a phase without work.
pub(crate) fn no_answer(finished: &Finished) -> Failure {
    Failure::usage(format!("git does not answer: {}", complaint(finished)))
        .hint("run this in the project's repository; `git status` shows whether git can read it")
}
