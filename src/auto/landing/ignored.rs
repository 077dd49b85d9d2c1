//! The files of a worktree that git ignores, and the rules that apply.

use super::error::LandingError;
use super::git::Git;
use super::id::{GitPath, records};
use super::repository::Repository;
use super::worktree::Worktree;
use crate::disk::AbsolutePath;

/// The note in the folder that git keeps for a worktree, with what was brought there from the person's checkout.
pub(crate) const BROUGHT: &str = "gsd-environments";

/// Returns the folders in such a note, each after its stamp.
pub(crate) fn brought_in(note: &str) -> impl Iterator<Item = (&str, &str)> {
    note.lines().filter_map(|line| line.split_once(' '))
}

/// A file that git ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IgnoredFile {
    pub(crate) path: String,
    /// The file with the rule, as git names it, and the line; empty if the rule is in no file.
    pub(crate) source: String,
    pub(crate) line: String,
    pub(crate) pattern: String,
}

impl Repository {
    /// Returns the files of a worktree that git ignores, except those in folders that programs can regenerate.
    pub(crate) fn ignored_files(&self, worktree: &Worktree) -> Result<Vec<String>, LandingError> {
        let found = self.ignored(worktree)?;
        let left_out = found.left_out.into_iter().map(|left| left.path);
        let mut paths: Vec<String> = found.files.into_iter().chain(left_out).map(|path| path.to_string()).collect();
        paths.sort();
        Ok(paths)
    }

    /// Returns the files of the person's checkout that git ignores and that a list in the syntax of `.gitignore` names.
    pub(crate) fn ignored_by_both(&self, list: &AbsolutePath) -> Result<Vec<String>, LandingError> {
        let from = format!("--exclude-from={list}");
        let answer = self.git.ask(["ls-files", "--others", "--ignored", "-z", &from])?;
        let paths: Vec<String> = records(&answer).map(|path| GitPath::of(path).to_string()).collect();
        let ignored = self.rules(&self.git, &paths)?;
        Ok(ignored.into_iter().map(|ignored| ignored.path).filter(|path| !path.ends_with('/')).collect())
    }

    /// Returns the paths that git ignores in the person's checkout and does not track there.
    pub(crate) fn ignoring_here(&self, paths: &[String]) -> Result<Vec<IgnoredFile>, LandingError> {
        self.rules(&self.git, paths)
    }

    /// True if git would commit something of a folder in a worktree that it does not track.
    pub(crate) fn shows(&self, worktree: &Worktree, path: &str) -> Result<bool, LandingError> {
        let line = ["ls-files", "--others", "--exclude-standard", "--directory", "-z", "--"];
        let answer = worktree.git(self)?.ask(line.into_iter().chain([format!(":(top,literal){path}").as_str()]))?;
        Ok(!answer.is_empty())
    }

    /// Returns the paths that git ignores in a worktree and does not track there.
    pub(crate) fn ignoring(&self, worktree: &Worktree, paths: &[String]) -> Result<Vec<IgnoredFile>, LandingError> {
        self.rules(&worktree.git(self)?, paths)
    }

    #[expect(clippy::unused_self, reason = "what git ignores is asked of the repository")]
    fn rules(&self, git: &Git, paths: &[String]) -> Result<Vec<IgnoredFile>, LandingError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let input = paths.iter().flat_map(|path| path.bytes().chain([0])).collect();
        let answer = git.told(["check-ignore", "--verbose", "-z", "--stdin"], input)?;
        let fields: Vec<String> = records(&answer.stdout).map(|field| GitPath::of(field).to_string()).collect();
        let ignored = fields.chunks_exact(4).filter_map(|found| match found {
            // A rule that negates another one.
            [_, _, pattern, _] if pattern.starts_with('!') => None,
            [source, line, pattern, path] => Some(IgnoredFile {
                path: path.clone(),
                source: source.clone(),
                line: line.clone(),
                pattern: pattern.clone(),
            }),
            _ => None,
        });
        Ok(ignored.collect())
    }
}
