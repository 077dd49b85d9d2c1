//! What all worktrees of a repository share, before and after a session without a fence.

use std::collections::{BTreeMap, BTreeSet};

use super::checkpoint::CHECKPOINT;
use super::error::LandingError;
use super::id::Commit;
use super::repository::{Repository, reference_of};
use super::worktree::Worktree;
use crate::disk::{self, Digest};
use crate::text::shell::typed;

/// References that people do not work with directly, or that others fetch.
const OTHERS: &[&str] = &["refs/gsd/", "refs/remotes/", "refs/notes/", "refs/prefetch/"];

/// References, settings and hooks at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    references: BTreeMap<String, String>,
    settings: Vec<String>,
    hooks: BTreeMap<String, Digest>,
}

/// The differences afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedChanges {
    /// Changes that a person may have made meanwhile and that are harmless.
    pub(crate) named: Vec<String>,
    /// Changes that the session certainly made and that were reverted.
    pub(crate) put_back: Vec<String>,
    /// Changes that a person has to look at.
    pub(crate) grave: Vec<String>,
}

impl Repository {
    /// Returns the current shared state of all worktrees.
    pub(crate) fn shared(&self) -> Result<Shared, LandingError> {
        let told = self.git.text(["for-each-ref", "--format=%(refname) %(objectname)"])?;
        let is_others = |name: &str| OTHERS.iter().any(|folder| name.starts_with(folder));
        let references = told.lines().filter_map(|line| line.split_once(' ')).filter(|(name, _)| !is_others(name));
        let settings = self.git.run(["config", "--local", "--null", "--list"])?.stdout;
        let settings = String::from_utf8_lossy(&settings).split('\0').map(str::to_owned).collect();
        let mut hooks = BTreeMap::new();
        for entry in disk::list(self.common().resolve("hooks"))?.unwrap_or_default() {
            if let Some(bytes) = disk::read_bytes(&entry.path).ok().flatten() {
                hooks.insert(entry.name, Digest::of(&bytes));
            }
        }
        let references = references.map(|(name, id)| (name.to_owned(), id.to_owned())).collect();
        Ok(Shared { references, settings, hooks })
    }

    /// Returns what changed since `before`, apart from the branch of the worktree. A branch that was moved onto the
    /// work of that branch is moved back, and its previous commit is kept as a checkpoint of the run.
    pub(crate) fn shared_since(
        &self,
        before: &Shared,
        worktree: &Worktree,
        run: &str,
    ) -> Result<SharedChanges, LandingError> {
        let now = self.shared()?;
        let mut changes = SharedChanges::default();
        let own = worktree.branch.as_deref().map(reference_of).unwrap_or_default();
        // If agents commit, the folder of this branch is checked separately.
        let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned() + "/";
        let is_own = |name: &str| name == own || (folder != "refs/heads/" && name.starts_with(&folder));
        let names: BTreeSet<&String> = before.references.keys().chain(now.references.keys()).collect();
        for name in names.into_iter().filter(|name| !is_own(name)) {
            match (before.references.get(name), now.references.get(name)) {
                (None, Some(_)) => changes.named.push(format!("`{name}` is new")),
                (Some(was), None) => {
                    changes.grave.push(format!(
                        "`{name}` is gone: `{}` puts it back",
                        typed!("git update-ref {} {}", name, was)
                    ));
                }
                (Some(was), Some(is)) if was != is => self.moved((name, was, is), (&own, run), &mut changes)?,
                _ => {}
            }
        }
        let key = |setting: &String| setting.split('\n').next().unwrap_or_default().to_owned();
        for (these, others, word) in
            [(&now.settings, &before.settings, "was set"), (&before.settings, &now.settings, "was removed or changed")]
        {
            let differs = these.iter().filter(|setting| !others.contains(setting)).map(key);
            changes.grave.extend(differs.map(|key| format!("the setting `{key}` of the repository {word}")));
        }
        let hooks: BTreeSet<&String> = before.hooks.keys().chain(now.hooks.keys()).collect();
        let differs = hooks.into_iter().filter(|name| before.hooks.get(*name) != now.hooks.get(*name));
        changes.grave.extend(differs.map(|name| format!("the hook `{name}` of the repository was changed")));
        Ok(changes)
    }

    fn moved(
        &self,
        (name, was, is): (&str, &str, &str),
        (own, run): (&str, &str),
        changes: &mut SharedChanges,
    ) -> Result<(), LandingError> {
        let undo = format!("`{}` puts it back", typed!("git update-ref {} {}", name, was));
        let (Some(before), Some(now)) = (Commit::parse(was), Commit::parse(is)) else {
            changes.grave.push(format!("`{name}` was moved; {undo}"));
            return Ok(());
        };
        if name.starts_with("refs/stash") {
            changes.named.push(format!("`{name}` has another entry"));
            return Ok(());
        }
        let is_commit = self.git.commit_of(name)?.is_some();
        if is_commit && self.has_work(own, &before, &now)? {
            let kept = format!("{CHECKPOINT}{run}/moved-{}", now.short());
            let _ = self.git.swap(&kept, None, Some(&now), "gsd-tools auto: checkpoint")?;
            if self.git.swap(name, Some(&now), Some(&before), "gsd-tools auto: put back")?.is_ok() {
                changes.put_back.push(format!(
                    "`{name}` was moved onto work that is not checked; it is at {} again",
                    before.short()
                ));
                return Ok(());
            }
        }
        if is_commit && self.git.is_ancestor(&before, &now)? {
            changes.named.push(format!("`{name}` has new commits"));
        } else {
            changes.grave.push(format!("`{name}` was moved from {} to {}; {undo}", before.short(), now.short()));
        }
        Ok(())
    }

    /// True if `now` has commits of the branch `own` that `before` does not have.
    fn has_work(&self, own: &str, before: &Commit, now: &Commit) -> Result<bool, LandingError> {
        let Some(head) = self.git.commit_of(own)? else { return Ok(false) };
        let (not_before, not_now) = (format!("^{before}"), format!("^{now}"));
        let of_work = |other: &str| self.git.text(["rev-list", "--count", head.as_str(), other, "--"]);
        let (new, missing) = (
            of_work(&not_before)?,
            self.git.text(["rev-list", "--count", head.as_str(), &not_before, &not_now, "--"])?,
        );
        // Fewer are missing from it than are new, so it contains some of them.
        Ok(new.parse::<u64>().unwrap_or(0) > missing.parse::<u64>().unwrap_or(0))
    }
}
