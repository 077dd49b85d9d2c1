//! Sets up a worktree: brings installed packages of the person (`environments`), and does what a person approved:
//! copies files of the person into it, and runs a command in it. The command
//! runs like a check and inside the same fence, because it may execute the work of a unit.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Real, leftovers};
use crate::auto::engine::EngineError;
use crate::auto::landing::id::Tree;
use crate::auto::landing::worktree::Worktree;
use crate::auto::set_up::{COMMAND, INCLUDE};
use crate::auto::stop::{Cause, Stop};
use crate::disk::{self, AbsolutePath};
use crate::gate::check::Check;
use crate::gate::evidence::CheckRun;
use crate::gate::run::{CheckPlace, Limits, run_check};
use crate::project::lock_files::is_lock_file;
use crate::world::tree::Mark;

/// The time limit of the command, which may fetch packages.
const TIME: Duration = Duration::from_secs(900);

/// The variables that pass the person's own checkout and the worktree to the command.
const SOURCE: &str = "SOURCE_DIR";
const WORKTREE: &str = "WORKTREE_DIR";

/// The note in the folder that git keeps for a worktree, with the set-up that was run and its tree.
const NOTE: &str = "gsd-set-up";

/// How many lines of the output of a failed set-up are shown.
const SHOWN: usize = 20;

/// How a worktree was set up.
#[derive(Clone, Debug)]
pub(super) enum Readied {
    /// Nothing had to be run.
    As,
    /// The command was run.
    Run,
    Failed(Box<CheckRun>),
}

impl Real<'_> {
    /// Sets up the worktree of the units before a session starts in it.
    pub(super) fn prepare_worktree(&mut self) -> Result<(), EngineError> {
        if self.set_up.is_empty() && self.environments.brought.is_empty() {
            return Ok(());
        }
        let mark = leftovers::mark_of_set_up(&self.worktree.folder.to_string(), &self.run);
        let (worktree, tree) = (self.worktree.clone(), self.repository.snapshot(&self.worktree)?.tree);
        match self.readied(&worktree, &tree, Some(&mark))? {
            Readied::As => {
                self.say_unsaid();
                return Ok(());
            }
            Readied::Run => self.say_unsaid(),
            Readied::Failed(run) => return Err(self.set_up_failed(&run)),
        }
        let after = self.repository.snapshot(&worktree)?.tree;
        if after != tree {
            let changed = self.repository.differences(tree.as_str(), after.as_str())?;
            let paths: Vec<String> = changed.iter().take(5).map(|change| change.path.to_string()).collect();
            self.tell(&format!("Put back after the set-up, since git does not ignore it: {}", paths.join(", ")));
            self.repository.restore(&worktree, &tree, &self.run, self.world.now().milliseconds())?;
        }
        Ok(())
    }

    /// Sets up a worktree with the files of `tree`. The command runs again when it, the list of files or a lock file
    /// changed.
    pub(super) fn readied(
        &self,
        worktree: &Worktree,
        tree: &Tree,
        mark: Option<&Mark>,
    ) -> Result<Readied, EngineError> {
        self.bring(worktree)?;
        self.include(worktree)?;
        let Some(command) = &self.set_up.command else { return Ok(Readied::As) };
        let digest = self.set_up.digest().to_string();
        if let Some(note) = self.repository.note_of_worktree(worktree, NOTE)?
            && let Some((by, before)) = note.split_once(' ')
            && by == digest
            && self.has_same_locks(before, tree)
        {
            return Ok(Readied::As);
        }
        self.repository.set_note_of_worktree(worktree, NOTE, None)?;
        let run = self.run_set_up(command, &worktree.folder, mark)?;
        if !run.passed() {
            return Ok(Readied::Failed(Box::new(run)));
        }
        self.repository.set_note_of_worktree(worktree, NOTE, Some(&format!("{digest} {tree}")))?;
        Ok(Readied::Run)
    }

    /// True if the lock files of two trees are the same. False if the earlier tree no longer exists, since its lock
    /// files may have differed.
    fn has_same_locks(&self, before: &str, tree: &Tree) -> bool {
        let changes = self.repository.differences(before, tree.as_str());
        changes.is_ok_and(|changes| !changes.iter().any(|change| is_lock_file(&change.path.to_string())))
    }

    fn run_set_up(&self, command: &str, folder: &AbsolutePath, mark: Option<&Mark>) -> Result<CheckRun, EngineError> {
        let check = Check::of_shell(command);
        let root = self.repository.root().to_string();
        self.in_place(folder, mark, |place| {
            let own = [(SOURCE.to_owned(), root), (WORKTREE.to_owned(), folder.to_string())];
            let variables = [place.variables, &own].concat();
            let limits = Limits { time: TIME, ..place.limits };
            run_check(self.world, &check, &CheckPlace { variables: &variables, limits, ..*place })
        })
    }

    /// Returns the files of the person's checkout that the list names and git ignores.
    pub(super) fn included(&self) -> Result<&BTreeSet<String>, EngineError> {
        if let Some(known) = self.copied.get() {
            return Ok(known);
        }
        let found = self.listed()?;
        Ok(self.copied.get_or_init(|| found))
    }

    fn listed(&self) -> Result<BTreeSet<String>, EngineError> {
        let Some(list) = &self.set_up.include else { return Ok(BTreeSet::new()) };
        let kept = self.places.notes.resolve("worktreeinclude");
        disk::make_folder(&self.places.notes)?;
        disk::write_fleeting(&kept, list.as_bytes())?;
        Ok(self.repository.ignored_by_both(&kept)?.into_iter().filter(|path| !self.is_planning(path)).collect())
    }

    /// Copies the listed files into a worktree if git ignores them there too, so that they are not committed. Links are
    /// not followed, neither to read nor to write.
    fn include(&self, worktree: &Worktree) -> Result<(), EngineError> {
        let root = self.repository.root();
        let wanted: Vec<String> = self.included()?.iter().cloned().collect();
        let ignored = self.repository.ignoring(worktree, &wanted)?;
        for path in ignored.into_iter().map(|ignored| ignored.path) {
            let (from, to) = (root.resolve(&path), worktree.folder.resolve(&path));
            let is_plain =
                |place: &AbsolutePath, within| !disk::is_link(place) && disk::stays_within(place, within).is_ok();
            if is_plain(&from, root) && disk::is_file(&from) && disk::stays_within(&to, &worktree.folder).is_ok() {
                disk::copy_over(&from, &to)?;
            }
        }
        Ok(())
    }

    /// Returns the end of a run whose set-up fails, whatever the units did.
    pub(super) fn set_up_failed(&self, run: &CheckRun) -> EngineError {
        let text = format!("the set-up of worktrees fails: `{}` ended with exit code {}", run.command, run.exit_code);
        let lines: Vec<&str> = run.tail.lines().collect();
        let tail = lines.iter().skip(lines.len().saturating_sub(SHOWN)).map(|line| (*line).to_owned());
        let fence =
            "it writes in the worktree, to temporary files and to caches of build tools; the network is open to it";
        let cure = format!(
            "correct what it says, or `{COMMAND}` where it is set, `{}/.gsd/PREFERENCES.md` or `~/.gsd/PREFERENCES.md`; files that \
             it needs can be listed in `{INCLUDE}`",
            self.places.worktree
        );
        let fence = self.driver.is_fenced.then(|| fence.to_owned());
        let stop = Stop::new(Cause::SetUpFailed, text, "gsd-tools auto run");
        EngineError::Stopped(Box::new(stop.shown(tail.chain(fence).chain([cure]))))
    }
}
