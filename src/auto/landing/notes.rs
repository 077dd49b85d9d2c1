//! Notes on commits, as `git notes` stores them: made from trees, without a worktree.

use super::commit::{Audience, CommitMessage};
use super::error::LandingError;
use super::id::{Commit, Tree};
use super::repository::Repository;
use crate::disk::Scratch;

/// The reference of the notes about landings.
pub(crate) const NOTES: &str = "refs/notes/gsd";

/// How often writing notes is tried if another program changes them in the meantime.
const ATTEMPTS: usize = 5;

/// The most folder levels that git uses for the notes of a large repository.
const DEEPEST: usize = 6;

impl Repository {
    /// Adds a line to the note of a commit, unless `has_it` finds it there. The rest of the note stays.
    pub(crate) fn note(
        &self,
        commit: &Commit,
        line: &str,
        at: i64,
        has_it: impl Fn(&str) -> bool,
    ) -> Result<(), LandingError> {
        self.alone(|| {
            for _ in 0..ATTEMPTS {
                let tip = self.git.commit_of(NOTES)?;
                let found = tip.as_ref().map(|tip| self.entry(tip, commit)).transpose()?.flatten();
                let (path, before) = match found {
                    Some((path, blob)) => (path, self.git.ask(["cat-file", "blob", &blob])?),
                    None => (commit.to_string(), Vec::new()),
                };
                let before = String::from_utf8_lossy(&before).into_owned();
                if has_it(&before) {
                    return Ok(());
                }
                // As `git notes append` does.
                let gap = if before.trim_end().is_empty() { "" } else { "\n\n" };
                let text = format!("{}{gap}{line}\n", before.trim_end());
                let tree = self.notes_with(tip.as_ref(), &path, text)?;
                let message = CommitMessage::new(format!("gsd-tools auto: proof of {commit}"), at);
                let parents: Vec<&Commit> = tip.iter().collect();
                let made = self.commit_tree(&tree, &parents, &message, Audience::Engine)?;
                if self.git.swap(NOTES, tip.as_ref(), Some(&made), "gsd-tools auto: proof")?.is_ok() {
                    return Ok(());
                }
            }
            Err(LandingError::Moved { reference: NOTES.to_owned() })
        })
    }

    /// Returns the path and object name of the note for a commit: git uses folders of the first digits if there are
    /// many notes.
    fn entry(&self, tip: &Commit, commit: &Commit) -> Result<Option<(String, String)>, LandingError> {
        let paths = (0..=DEEPEST).filter_map(|depth| spread(commit.as_str(), depth));
        let line = ["ls-tree", "-z", "--full-tree", tip.as_str(), "--"].into_iter().map(str::to_owned);
        let answer = self.git.ask(line.chain(paths))?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let entry = |record: &str| {
            let (head, path) = record.split_once('\t')?;
            let blob = head.strip_prefix("100644 blob ")?;
            Some((path.to_owned(), blob.to_owned()))
        };
        Ok(answer.split('\0').find_map(entry))
    }

    /// Returns the tree of the notes with this text at `path`.
    fn notes_with(&self, tip: Option<&Commit>, path: &str, text: String) -> Result<Tree, LandingError> {
        let scratch = Scratch::new(self.common().as_path())?;
        let git = self.git.for_worktrees().with_index(scratch.path("index"));
        let blob = git.tell(["hash-object", "-w", "--stdin"], text.into_bytes())?;
        match tip {
            Some(tip) => git.ask(["read-tree", tip.as_str()])?,
            None => git.ask(["read-tree", "--empty"])?,
        };
        let blob = String::from_utf8_lossy(&blob).trim_end().to_owned();
        git.tell(["update-index", "-z", "--index-info"], format!("100644 {blob}\t{path}\0").into_bytes())?;
        Tree::parse(&git.text(["write-tree"])?).ok_or(LandingError::Answer { command: "git write-tree" })
    }
}

/// Returns a name with its first digits as this many folders.
fn spread(name: &str, folders: usize) -> Option<String> {
    let (head, rest) = name.split_at_checked(2 * folders)?;
    let head: String = head
        .chars()
        .enumerate()
        .flat_map(|(at, digit)| {
            let slash = (at % 2 == 1).then_some('/');
            [Some(digit), slash]
        })
        .flatten()
        .collect();
    (!rest.is_empty()).then(|| head + rest)
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn a_name_is_split_into_folders_as_git_does() {
        assert_eq!(spread("abcdef", 0).as_deref(), Some("abcdef"));
        assert_eq!(spread("abcdef", 1).as_deref(), Some("ab/cdef"));
        assert_eq!(spread("abcdef", 2).as_deref(), Some("ab/cd/ef"));
        assert_eq!((spread("abcdef", 3), spread("abcdef", 4)), (None, None));
    }
}
