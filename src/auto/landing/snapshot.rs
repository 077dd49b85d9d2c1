//! The tree of a worktree with its current files, and differences between trees.

use std::collections::BTreeMap;

use super::commit::{Audience, CommitMessage, index_as_committed};
use super::error::LandingError;
use super::git::Git;
use super::id::{Changed, Commit, FileState, GitPath, Side, Tree, records};
use super::repository::Repository;
use super::worktree::Worktree;
use crate::disk::{self, AbsolutePath};

/// The index for snapshots, in the folder that git keeps for the worktree. The worktree's index is not changed, and
/// settings in it, such as files marked "assume unchanged", hide nothing from a snapshot.
const INDEX: &str = "gsd-index";

/// In the same folder, marks that the index of the worktree is from an earlier commit.
pub(super) const STALE: &str = "gsd-stale";

/// All files of a worktree at one moment: tracked files, and files that are neither tracked nor ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorktreeSnapshot {
    pub(crate) tree: Tree,
    /// The commit that is checked out.
    pub(crate) head: Commit,
    /// The differences from that commit.
    pub(crate) changes: Vec<Changed>,
}

impl Worktree {
    /// Returns git in this worktree with the index for snapshots.
    pub(super) fn aside(&self, repository: &Repository) -> Result<Git, LandingError> {
        let own = repository.own_folder_of(&self.folder)?;
        Ok(repository.git.in_worktree(&self.folder, own.clone()).with_index(own.resolve(INDEX)))
    }
}

/// The nested repository that git refuses to add, since it has no commit.
fn without_commit(why: &str) -> Option<GitPath> {
    let (before, _) = why.split_once("' does not have a commit checked out")?;
    let (_, path) = before.rsplit_once('\'')?;
    Some(GitPath::of(path.trim_end_matches('/').as_bytes()))
}

impl Repository {
    /// Returns the tree of an engine worktree, with its content stored in the repository. Neither the worktree nor its
    /// index changes. Changed submodules and nested repositories are refused: git would store the name of a commit
    /// instead of their files.
    pub(crate) fn snapshot(&self, worktree: &Worktree) -> Result<WorktreeSnapshot, LandingError> {
        self.mend(&worktree.folder)?;
        let git = worktree.aside(self)?;
        let head = worktree.head(self)?;
        let has_submodules = self.check_submodules(worktree, &head)?;
        // Entries of the index that are not in the commit are dropped, so that the answer depends only on the files.
        let start = || git.ask(["read-tree", "--reset", head.as_str()]);
        match start() {
            // Each worktree has one writer, so this lock is from a git that was killed.
            Err(LandingError::Locked { lock }) if lock.ends_with(&format!("{INDEX}.lock")) => {
                disk::remove_note(&AbsolutePath::parse(&lock).map_err(disk::DiskError::from)?)?;
                start()?;
            }
            other => drop(other?),
        }
        git.ask(["add", "--all"]).map_err(|error| match &error {
            LandingError::Git { why, .. } => match without_commit(why) {
                Some(path) => LandingError::Embedded { folder: worktree.folder.clone(), path },
                None => error,
            },
            _ => error,
        })?;
        if let Some(documents) = self.documents.filter(|folder| is_real_folder(&worktree.folder.resolve(folder))) {
            // The claim of a milestone is a note for this computer only.
            git.ask(["add", "--all", "--force", "--", documents, &format!(":(exclude){documents}/milestone.lock")])?;
        }
        let line = ["diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
        let mut changes = raw(&git.ask(line.into_iter().chain([head.as_str(), "--"]))?);
        // Git looks into submodules, and would look into any other repository that is in the index now.
        if has_submodules && !changes.iter().any(Changed::is_about_submodule) {
            let line =
                ["status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=none"];
            changes = staged(&git.ask(line)?);
        }
        let folder = || worktree.folder.clone();
        if let Some(change) = changes.iter().find(|change| change.is_about_submodule()) {
            let path = change.path.clone();
            return Err(match &change.before {
                None => LandingError::Embedded { folder: folder(), path },
                Some(_) => LandingError::Submodule { folder: folder(), path },
            });
        }
        let tree = Tree::parse(&git.text(["write-tree"])?).ok_or(LandingError::Answer { command: "git write-tree" })?;
        if self.has_mark(&worktree.folder, STALE)? {
            self.renew_index(worktree, changes.is_empty())?;
        }
        Ok(WorktreeSnapshot { tree, head, changes })
    }

    /// Makes the index of a worktree match its commit. If nothing differs from the commit, the index for snapshots is
    /// copied.
    pub(super) fn renew_index(&self, worktree: &Worktree, is_as_committed: bool) -> Result<(), LandingError> {
        let own = self.own_folder_of(&worktree.folder)?;
        if is_as_committed {
            let copy = own.resolve("gsd-index-copy");
            disk::copy_as_old(&own.resolve(INDEX), &copy)?;
            disk::rename(&copy, &own.resolve("index"))?;
        } else {
            index_as_committed(&worktree.git(self)?)?;
        }
        Ok(disk::remove_note(&own.resolve(STALE))?)
    }

    /// Returns the tree `base` with these files as in `tree`, and with these `texts` in files of `base`. Uses the index
    /// for snapshots of this worktree, which the next snapshot fills again.
    pub(crate) fn tree_with(
        &self,
        worktree: &Worktree,
        base: &Tree,
        (tree, paths): (&Tree, &[&str]),
        texts: &[(String, String)],
    ) -> Result<Tree, LandingError> {
        let git = worktree.aside(self)?;
        git.ask(["read-tree", "--reset", base.as_str()])?;
        let mut lines = Vec::new();
        for change in self.differences(base.as_str(), tree.as_str())? {
            let path = change.path.to_string();
            let written = texts.iter().find(|(text, _)| *text == path);
            let (mode, id) = match (&change.before, &change.after, written) {
                (Some(before), _, Some((_, text))) => (before.mode.clone(), self.blob(text)?),
                (_, Some(after), _) if paths.contains(&path.as_str()) => (after.mode.clone(), after.id.clone()),
                (_, None, _) if paths.contains(&path.as_str()) => ("0".to_owned(), "0".repeat(base.as_str().len())),
                _ => continue,
            };
            lines.extend(format!("{mode} {id}\t").into_bytes());
            lines.extend(change.path.as_bytes());
            lines.push(0);
        }
        if !lines.is_empty() {
            git.tell(["update-index", "-z", "--index-info"], lines)?;
        }
        Tree::parse(&git.text(["write-tree"])?).ok_or(LandingError::Answer { command: "git write-tree" })
    }

    /// Stores a text as a file object in the repository, and returns its name.
    fn blob(&self, text: &str) -> Result<String, LandingError> {
        let answer = self.git.tell(["hash-object", "-w", "--stdin"], text.as_bytes().to_vec())?;
        Ok(String::from_utf8_lossy(&answer).trim_end().to_owned())
    }

    /// Returns the targets of all symbolic links of a tree or commit, by path.
    pub(crate) fn links(&self, tree: &str) -> Result<BTreeMap<String, String>, LandingError> {
        let answer = self.git.ask(["ls-tree", "-r", "-z", "--full-tree", tree])?;
        let mut links = BTreeMap::new();
        for record in records(&answer) {
            let Some(at) = record.iter().position(|byte| *byte == b'\t') else { continue };
            let (head, path) = (String::from_utf8_lossy(&record[..at]).into_owned(), &record[at + 1..]);
            let mut parts = head.split(' ');
            if let (Some(FileState::LINK), Some(_), Some(id)) = (parts.next(), parts.next(), parts.next()) {
                let text = self.git.ask(["cat-file", "blob", id])?;
                links.insert(GitPath::of(path).to_string(), String::from_utf8_lossy(&text).into_owned());
            }
        }
        Ok(links)
    }

    /// Returns the paths of all files of a tree or commit, and the targets of those that are links.
    pub(crate) fn paths_and_links(&self, tree: &str) -> Result<(Vec<String>, BTreeMap<String, String>), LandingError> {
        let answer = self.git.ask(["ls-tree", "-r", "-z", "--full-tree", tree])?;
        let (mut paths, mut links) = (Vec::new(), Vec::new());
        for record in records(&answer) {
            let Some(at) = record.iter().position(|byte| *byte == b'\t') else { continue };
            let path = GitPath::of(&record[at + 1..]).to_string();
            if record.starts_with(FileState::LINK.as_bytes()) {
                links.push(path.clone());
            }
            paths.push(path);
        }
        let texts = self.contents(tree, &links)?;
        let links = texts.into_iter().map(|(path, text)| (path, String::from_utf8_lossy(&text).into_owned()));
        Ok((paths, links.collect()))
    }

    /// Returns the bytes of these files of a tree or commit; files that it does not have are left out.
    pub(crate) fn contents(&self, tree: &str, paths: &[String]) -> Result<BTreeMap<String, Vec<u8>>, LandingError> {
        // Git reads one name per line.
        let (apart, together): (Vec<&String>, Vec<&String>) =
            paths.iter().partition(|path| path.contains(['\n', '\r']));
        let mut found = BTreeMap::new();
        for path in apart {
            found.extend(self.content(tree, path)?.map(|bytes| (path.clone(), bytes)));
        }
        if together.is_empty() {
            return Ok(found);
        }
        let asked: Vec<String> = together.iter().map(|path| format!("{tree}:{path}\n")).collect();
        let answer = self.git.tell(["cat-file", "--batch"], asked.concat().into_bytes())?;
        let mut rest = answer.as_slice();
        for path in together {
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { break };
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            // `NAME blob SIZE`, or `NAME missing`; a name may contain spaces.
            let mut words = head.rsplit(' ');
            let size = words.next().and_then(|word| word.parse::<usize>().ok());
            let Some(size) = size.filter(|size| *size < rest.len()) else { continue };
            if words.next() == Some("blob") {
                found.insert(path.clone(), rest[..size].to_vec());
            }
            rest = &rest[size + 1..];
        }
        Ok(found)
    }

    /// Returns the differences between two trees or commits.
    pub(crate) fn differences(&self, from: &str, to: &str) -> Result<Vec<Changed>, LandingError> {
        let line = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
        let answer = self.git.ask(line.into_iter().chain(["--end-of-options", from, to, "--"]))?;
        Ok(raw(&answer))
    }

    /// True if the history of a commit has work on a milestone outside `folder`, by the trailers that name it.
    pub(crate) fn has_work_of(&self, commit: &Commit, milestone: &str, folder: &str) -> Result<bool, LandingError> {
        let trailer = format!("--grep=^GSD-(Milestone|Task|Unit): {milestone}(/|$)");
        let outside = format!(":(exclude,top){folder}");
        let line = ["log", "--max-count=1", "--format=%H", "--extended-regexp", &trailer, commit.as_str()];
        Ok(!self.git.text(line.into_iter().chain(["--", ":(top)", &outside]))?.is_empty())
    }

    /// Returns the paths of all files of a tree.
    pub(crate) fn paths(&self, tree: &Tree) -> Result<Vec<String>, LandingError> {
        let answer = self.git.ask(["ls-tree", "-r", "--name-only", "-z", tree.as_str()])?;
        Ok(records(&answer).map(|path| GitPath::of(path).to_string()).collect())
    }

    /// Returns the bytes of a file of a tree or commit; `None` if it has no such file.
    pub(crate) fn content(&self, tree: &str, path: &str) -> Result<Option<Vec<u8>>, LandingError> {
        let finished = self.git.run(["cat-file", "blob", &format!("{tree}:{path}")])?;
        Ok(finished.success().then_some(finished.stdout))
    }

    /// Returns the content of a changed file, before or after. `None` for a missing file, or a commit of another
    /// repository.
    pub(crate) fn content_of(&self, change: &Changed, side: Side) -> Result<Option<Vec<u8>>, LandingError> {
        let state = match side {
            Side::Before => &change.before,
            Side::After => &change.after,
        };
        let Some(state) = state.as_ref().filter(|state| !state.is_submodule()) else { return Ok(None) };
        Ok(Some(self.git.ask(["cat-file", "blob", &state.id])?))
    }

    /// Makes a commit of a tree for callers that check it out. No reference names it.
    pub(crate) fn commit_of_tree(&self, tree: &Tree, at: i64) -> Result<Commit, LandingError> {
        self.commit_tree(tree, &[], &CommitMessage::new("gsd: an earlier state", at), Audience::Engine)
    }

    /// Returns the tree of a commit.
    pub(crate) fn tree_of(&self, commit: &Commit) -> Result<Tree, LandingError> {
        let tree = self.git.text(["rev-parse", "--verify", &format!("{commit}^{{tree}}")])?;
        Tree::parse(&tree).ok_or(LandingError::Answer { command: "git rev-parse" })
    }
}

fn is_real_folder(path: &AbsolutePath) -> bool {
    disk::is_folder(path) && !disk::is_link(path)
}

/// Parses the records of `git status --porcelain=v2 -z` about tracked files: between HEAD and the index. A submodule
/// with changed files differs from itself.
fn staged(answer: &[u8]) -> Vec<Changed> {
    let record = |record: &[u8]| {
        let record = record.strip_prefix(b"1 ")?;
        let mut fields = record.splitn(8, |byte| *byte == b' ');
        let mut field = || Some(String::from_utf8_lossy(fields.next()?).into_owned());
        let (_states, _submodule) = (field()?, field()?);
        let (before, after, _worktree) = (field()?, field()?, field()?);
        let (old, new) = (field()?, field()?);
        let path = GitPath::of(fields.next()?);
        Some(Changed::between(path, FileState::of(&before, &old), FileState::of(&after, &new)))
    };
    records(answer).filter_map(record).collect()
}

/// Parses the records of `git diff-tree --raw -z`.
pub(super) fn raw(answer: &[u8]) -> Vec<Changed> {
    let mut records = answer.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let Some(head) = records.next() {
        let Some(head) = head.strip_prefix(b":") else { continue };
        let head = String::from_utf8_lossy(head).into_owned();
        let fields: Vec<&str> = head.split(' ').collect();
        if let (&[before, after, old, new, _], Some(path)) = (fields.as_slice(), records.next()) {
            found.push(Changed::between(GitPath::of(path), FileState::of(before, old), FileState::of(after, new)));
        }
    }
    found
}

#[cfg(test)]
mod unit_tests {
    use proptest::prelude::*;

    use super::super::id::PathChange;
    use super::*;

    #[test]
    fn raw_records_are_read_with_any_path() {
        let zero = "0".repeat(40);
        let one = "1".repeat(40);
        let answer = format!(":000000 100644 {zero} {one} A\0a b\n\"c\0:100644 000000 {one} {zero} D\0d\0");
        let found = raw(answer.as_bytes());
        let told: Vec<(String, PathChange)> =
            found.iter().map(|found| (found.path.to_string(), found.status)).collect();
        assert_eq!(told, [("a b\n\"c".to_owned(), PathChange::Added), ("d".to_owned(), PathChange::Deleted)]);
    }

    proptest! {
        #[test]
        fn any_answer_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (raw(&bytes), staged(&bytes));
        }
    }
}
