//! The commits of a phase, and what they did to which files: one answer for everything that looks at a phase's work.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::complaint;
use crate::acts::Call;
use crate::failure::Failure;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::plan_commits;
use crate::world::{Finished, Program, pathspec};

/// A commit of a phase, or one of none.
#[derive(Clone, Debug)]
pub(crate) struct PhaseCommit {
    pub(crate) hash: String,
    subject: String,
    /// The plans, or the phase where the commit is that of none.
    scopes: Vec<String>,
    /// The files that it changes outside of the planning folder, from the project's root.
    files: Vec<String>,
}

/// The work of a phase, as git has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseWork {
    /// The newest first. Those that another commit took back are left out.
    pub(crate) commits: Vec<PhaseCommit>,
    /// Commits since the base and before the end of the work that have the scope of no phase.
    unscoped: Vec<PhaseCommit>,
    /// The commit before the first of them; without any, `None`.
    pub(crate) base: Option<String>,
}

impl PhaseWork {
    /// What git knows of the phase. Numbers may start over with a milestone: what came before its plans does not count.
    pub(crate) fn of(call: &Call, folder: &PhaseFolder) -> Result<Self, Failure> {
        let git = |arguments: &[&str]| {
            let finished = call.world().git(call.root().as_path(), arguments)?;
            if finished.success() { Ok(finished) } else { Err(no_answer(&finished)) }
        };
        let range = Self::range(&git, folder)?;
        let scopes: BTreeSet<&str> =
            folder.plans().map(plan_id).chain(folder.numbered()).chain([folder.token()]).collect();
        // Of a merge the files that neither side has so.
        let mut line = vec!["log", "-c", "--topo-order", "--format=%x01%H%x02%s%x03", "-z", "--name-only"];
        line.extend(["--no-renames", "--relative"]);
        // Of an old phase only its own commits are looked for, in all that there is.
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
        // What came after the last commit of the phase is none of its work.
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
        // Before the first commit of all there is only a tree.
        let since = since.unwrap_or_default();
        let since: BTreeSet<&str> = since.lines().collect();
        let is_of_none =
            |commit: &PhaseCommit| !plan_commits::has_number(&commit.subject) && since.contains(commit.hash.as_str());
        Ok(Self { commits, unscoped: unscoped.into_iter().filter(is_of_none).collect(), base })
    }

    /// The files that commits without the scope of any phase changed while the phase was worked on, each with the last of those
    /// commits.
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

    /// Where the commits of a phase are looked for: since its first plan was committed, else since a milestone was archived.
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

    /// The files that the commits changed, each with the scopes of those that did.
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

/// Why git can say nothing about the work here; `None` where it can.
pub(crate) fn silent(call: &Call) -> Option<String> {
    match call.world().git(call.root().as_path(), ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) {
        Ok(finished) if finished.success() => None,
        Ok(_) => Some("there is no commit here, so that nothing could be looked at".to_owned()),
        Err(error) => Some(format!("nothing could be looked at: {error}")),
    }
}

/// Whether work of the phase came after these documents of it were last committed: what they say is not about all of it.
/// Documents that are in no commit, and a git that does not answer, say nothing.
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

/// The commits that another one took back which was not taken back itself.
fn undone(git: &impl Fn(&[&str]) -> Result<Finished, Failure>, range: &str) -> Result<BTreeSet<String>, Failure> {
    let line = ["log", "--topo-order", "--format=%x01%H%x02%B", "-E", "--grep", plan_commits::REVERTS, range];
    let told = git(&line)?.text();
    let mut undone = BTreeSet::new();
    // The newest first.
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

/// What all of the commits came after. Plans of one wave were made side by side, from the same commit. Commits before that
/// which have no scope belong to what is looked at, back to the one that wrote the first plan.
fn base_of(call: &Call, folder: &PhaseFolder, commits: &[PhaseCommit]) -> Result<Option<String>, Failure> {
    let Some(oldest) = commits.last() else { return Ok(None) };
    let git = |arguments: &[String]| call.world().git(call.root().as_path(), arguments);
    let before = |hash: &str| format!("{hash}^");
    let first = git(&["rev-parse".to_owned(), "--verify".to_owned(), "--quiet".to_owned(), before(&oldest.hash)])?;
    if !first.success() {
        // The first commit of all: before it there was no file.
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

/// A git that does not answer is no phase without work.
pub(crate) fn no_answer(finished: &Finished) -> Failure {
    Failure::usage(format!("git does not answer: {}", complaint(finished)))
        .hint("run this in the project's repository; `git status` shows whether git can read it")
}
