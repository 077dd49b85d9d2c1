//! Runs the checks of a unit and of a candidate, and judges their evidence.

use super::evidence::{VerdictReasons, evidence};
use super::{Real, leftovers};
use crate::auto::brought::APPROVED;
use crate::auto::engine::EngineError;
use crate::auto::event::{CheckedTree, Run};
use crate::auto::landing::id::{Changed, PathChange, Side, Tree};
use crate::auto::memory::{LoggedCandidate, Memory, Operation};
use crate::auto::slices::places;
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::{Unit, UnitKind};
use crate::disk::AbsolutePath;
use crate::gate;
use crate::gate::cannot_fail::cannot_fail;
use crate::gate::check::{Check, Source};
use crate::gate::discovery::Discovery;
use crate::gate::evidence::Evidence as GateEvidence;
use crate::gate::links::leads_out;
use crate::gate::no_checks::{NoChecks, NoChecksError};
use crate::gate::pins::{Pins, Planned};
use crate::gate::run::{CheckPlace, run_checks};
use crate::gate::secrets::{SecretFound, added_secrets, holds_key};
use crate::gate::tamper::{FileChange, Finding, Restoration, Work, inspect, that_run};
use crate::gate::verdict::{Case, Outcome, WorkClaim, asks_for_before, judge};
use crate::project::check_files::{Role, role_of};
use crate::project::milestone_layout::summary::Summary;
use crate::project::{self, Project};
use crate::text::terminal::plain;
use crate::text::untrusted::line;
use crate::world::Program;
use crate::world::tree::Mark;

/// The most characters that are shown of a file that runs without being called.
const SHOWN: usize = 240;

/// A file in a unit's diff, before and after.
struct FileContents {
    path: String,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
}

impl FileContents {
    fn change(&self) -> FileChange<'_> {
        FileChange { path: &self.path, before: self.before.as_deref(), after: self.after.as_deref() }
    }
}

impl Real<'_> {
    /// Returns the files that the checks of a unit depend on, and the checks that pass before it.
    pub(super) fn pins_of(&self, unit: &Unit, tree: &str, memory: &Memory) -> Result<Option<Pins>, EngineError> {
        if !unit.kind.is_gated() {
            return Ok(None);
        }
        let tree = Self::tree_named(tree)?;
        let plan = self.plans_of(unit)?;
        let discovery = self.discovered(self.files.as_ref(), &plan.verify)?;
        self.are_approved(&discovery.checks)?;
        let paths = self.repository.paths(&tree)?;
        let passed = memory.shown.iter().filter(|(_, shown)| shown.was_green);
        let earlier: Vec<Check> = passed.flat_map(|(command, _)| Check::all_of(command)).flatten().collect();
        let planned = Planned {
            discovery: &discovery,
            earlier: &earlier,
            paths: &paths,
            expected: &plan.expected,
            plan: &plan.text,
            is_fix: plan.is_fix,
        };
        Ok(Some(Pins::of(self.files.as_ref(), planned)?))
    }

    /// Runs the checks that the project declares on the commit that the run started from. `None` if they were
    /// interrupted.
    pub(super) fn checks_of_base(&mut self, run: &Run) -> Result<Option<CheckedTree>, EngineError> {
        let base = Self::commit_named(&run.base)?;
        let tree = self.repository.tree_of(&base)?;
        let Discovery { source, checks, refused } = self.discovered(self.files.as_ref(), &[])?;
        let commands = Commands { source, checks: &checks };
        let found = if checks.is_empty() {
            GateEvidence { tree: tree.to_string(), source, checks: Vec::new() }
        } else {
            self.tell("Running the checks of the project as they are before the work");
            self.checks_before(&tree, commands, Some(&self.mark_of_commit(&run.base)))?
        };
        self.say_unsaid();
        if self.is_broken_off()? {
            return Ok(None);
        }
        if let Some(stop) = self.set_up_needed(&checks, &found, &tree)? {
            return Err(EngineError::Stopped(Box::new(stop)));
        }
        let case = Case {
            tree: tree.as_str(),
            folder: "",
            claim: WorkClaim::Work,
            before: None,
            evidence: &found,
            findings: &[],
        };
        let why = VerdictReasons { findings: &[], unit: "", refused: &refused, no_checks: None };
        Ok(Some(evidence(&found, &judge(case), why)))
    }

    /// Runs the checks of a unit on a checkout of its work, and looks for checks that it weakened. `None` if they were
    /// interrupted.
    pub(super) fn checks(
        &mut self,
        operation: &Operation,
        memory: &Memory,
    ) -> Result<Option<CheckedTree>, EngineError> {
        if let Some(ended) = operation.ended.as_ref().filter(|_| operation.is_cut_off) {
            self.tidied(&Self::tree_named(&ended.tree)?)?;
        }
        let unit = &operation.start.unit;
        let attempts = memory.attempts(unit);
        let mark = Mark::parse(&operation.start.mark);
        let tree = self.repository.snapshot(&self.worktree)?.tree;
        let Some(pins) = attempts.pins.clone() else {
            let why = "an older gsd-tools began this unit and pinned no checks; the checks on the merge hold for it";
            return Ok(Some(unchecked(&tree, why.to_owned())));
        };
        let base = attempts.base.clone().unwrap_or_else(|| operation.start.tree.clone());
        let changes = self.contents(&base, tree.as_str())?;
        if changes.is_empty()
            && let Some(why) = self.blocker_of(unit)?
        {
            // A check could not show anything, since nothing was made; the slice is planned again.
            return Ok(Some(unchecked(&tree, format!("the task is blocked: {why}"))));
        }
        let diff: Vec<FileChange<'_>> = changes.iter().map(FileContents::change).collect();
        let now = self.discovered(self.files.as_ref(), &self.plans_of(unit)?.verify)?;
        let is_file = |path: &&String| !path.contains('*') && !path.ends_with('/');
        let absent: Vec<String> =
            pins.expected.iter().filter(is_file).filter(|path| !self.files.exists(path)).cloned().collect();
        let work = Work { pins: &pins, changes: &diff, now: Some(&now), absent: &absent, running: &self.running };
        let mut inspection = inspect(work);
        let made;
        let commands = if pins.checks.is_empty() {
            // If the project had no checks before, the first ones are those that the unit made.
            made = self.that_can_fail(&now.checks)?;
            Commands { source: now.source, checks: &made }
        } else {
            Commands { source: pins.source, checks: &pins.checks }
        };
        if commands.checks.is_empty() && inspection.findings.is_empty() && self.layout.lets_agents_commit() {
            let why = "no plan of the phase names a command that can be run, and the project declares none; the milestone \
                       does not land without one";
            return Ok(Some(unchecked(&tree, why.to_owned())));
        }
        let folder = self.places.checkout.clone();
        let base_tree = Self::tree_named(&base)?;
        let restoration = inspection.restoration(work);
        // The result of the pinned checks on work that weakened them is useful, though it does not count.
        let checked =
            if restoration.is_empty() { tree.clone() } else { self.restored((&base_tree, &tree), &restoration)? };
        let (found, written) = self.checks_on((&checked, &base_tree), commands, mark.as_ref())?;
        inspection.findings.extend(Finding::written_by_checks(&written));
        let earlier = self.earlier_runs((memory, &base_tree), &found, &changes, commands, mark.as_ref())?;
        inspection.compare_runs(&earlier, &found);
        let no_checks = self.no_checks(commands.checks, changes.iter().map(|file| file.path.as_str()), "unit");
        let without =
            if pins.is_fix { self.without_fix((&base, &tree), &pins, &changes, mark.as_ref())? } else { None };
        let of_work = without.as_ref().map_or(WorkClaim::Work, |without| WorkClaim::Fix { without });
        let claim = no_checks.as_ref().and_then(|checked| checked.as_ref().ok()).map_or(of_work, WorkClaim::Documents);
        let folder = folder.to_string();
        let case = |before| Case {
            tree: tree.as_str(),
            folder: &folder,
            claim,
            before,
            evidence: &found,
            findings: &inspection.findings,
        };
        let mut verdict = judge(case(None));
        // Only failures need another look, at whether they failed before the unit too; and checks that only look at
        // existing files, at whether they passed before.
        let has_failed =
            verdict.outcome == Outcome::Failed && found.checks.iter().any(gate::evidence::CheckRun::failed);
        if has_failed || verdict.outcome == Outcome::Passed && asks_for_before(&found) {
            let before = self.checks_before(&base_tree, commands, mark.as_ref())?;
            verdict = judge(case(Some(&before)));
        }
        self.tidied(&tree)?;
        if self.is_broken_off()? {
            return Ok(None);
        }
        self.blame_ignored(unit, &mut verdict)?;
        if let Some(failure) = &mut verdict.failure {
            let paths: Vec<&str> = changes.iter().map(|file| file.path.as_str()).collect();
            let lines = self.outdated(&paths);
            failure.text = lines.into_iter().fold(failure.text.clone(), |text, line| text + "\n\n" + &line);
        }
        let why = VerdictReasons { findings: &inspection.findings, unit: &unit.id, refused: &pins.refused, no_checks };
        Ok(Some(evidence(&found, &verdict, why)))
    }

    /// Returns the checks, without those known to pass whatever the work is.
    fn that_can_fail(&self, checks: &[Check]) -> Result<Vec<Check>, EngineError> {
        let mut kept = Vec::new();
        for check in checks {
            if cannot_fail(check, self.files.as_ref())?.is_none() {
                kept.push(check.clone());
            }
        }
        Ok(kept)
    }

    /// Returns the tree of a unit with the pinned tests and settings.
    fn restored(&self, (base, tree): (&Tree, &Tree), restoration: &Restoration) -> Result<Tree, EngineError> {
        let paths = restoration.from_before.iter().chain(&restoration.without).map(String::as_str);
        let paths: Vec<&str> = paths.collect();
        Ok(self.repository.tree_with(&self.worktree, tree, (base, &paths), &restoration.rewritten)?)
    }

    /// Returns how many tests the passing checks ran before the unit: as counted in earlier runs, or else on the tree
    /// that the unit started from, if it changed files that tests depend on.
    fn earlier_runs(
        &mut self,
        (memory, base): (&Memory, &Tree),
        found: &GateEvidence,
        changes: &[FileContents],
        commands: Commands<'_>,
        mark: Option<&Mark>,
    ) -> Result<GateEvidence, EngineError> {
        let known = |command: &str| memory.shown.get(command).and_then(|shown| shown.tests);
        let passed = |check: &&Check| found.of(check.command()).is_some_and(gate::evidence::CheckRun::passed);
        let touches =
            |file: &FileContents| role_of(&file.path).is_some_and(|role| role != Role::Test || file.before.is_some());
        let unknown = commands.checks.iter().filter(passed).filter(|check| known(check.command()).is_none());
        let unknown: Vec<Check> = unknown.cloned().collect();
        let mut earlier = if unknown.is_empty() || !changes.iter().any(touches) {
            GateEvidence { tree: base.to_string(), source: commands.source, checks: Vec::new() }
        } else {
            self.checks_before(base, Commands { checks: &unknown, ..commands }, mark)?
        };
        for check in commands.checks {
            let counted = known(check.command()).map(|tests| (check.command(), tests));
            earlier
                .checks
                .extend(counted.map(|(command, tests)| gate::evidence::CheckRun::counted(command, tests.into())));
        }
        Ok(earlier)
    }

    /// Returns why the task of a unit cannot be done as planned, from its summary. A slice is planned again only once:
    /// after that, its tasks have to pass their checks.
    fn blocker_of(&self, unit: &Unit) -> Result<Option<String>, EngineError> {
        let files = self.files.as_ref();
        let (milestone, Some(slice), Some(task)) = unit.parts() else { return Ok(None) };
        if unit.kind != UnitKind::ExecuteTask {
            return Ok(None);
        }
        let folder = places::slice(files, milestone, slice)?;
        if places::document(files, &folder, slice, "REPLAN")?.is_some() {
            return Ok(None);
        }
        let found = places::document(files, &format!("{folder}/tasks"), task, "SUMMARY")?;
        let summary = found.map(|(_, text)| Summary::parse(&text)).filter(|summary| summary.blocker_discovered);
        Ok(summary.map(|summary| summary.one_liner.unwrap_or_else(|| "its summary says how".to_owned())))
    }

    /// Removes what checks left in the worktree, since it is not the unit's work.
    fn tidied(&mut self, tree: &Tree) -> Result<(), EngineError> {
        let now = self.world.now().milliseconds();
        self.repository.restore(&self.worktree, tree, &self.run, now)?;
        Ok(())
    }

    /// Returns the mark for checks of this run on a commit outside of units.
    pub(super) fn mark_of_commit(&self, commit: &str) -> Mark {
        leftovers::mark_of_commit(&self.worktree.folder.to_string(), commit)
    }

    /// True if a person wants an end at once: results of checks mean nothing then.
    pub(super) fn is_broken_off(&self) -> Result<bool, EngineError> {
        Ok(self.asked().at_once()?.is_some())
    }

    /// Decides whether missing checks are allowed. `None` if there are checks.
    fn no_checks<'a>(
        &self,
        checks: &[Check],
        changed: impl IntoIterator<Item = &'a str>,
        what: &str,
    ) -> Option<Result<NoChecks, NoChecksError>> {
        let outside = changed.into_iter().filter(|path| !self.is_planning(path));
        let reason = format!("the {what} changes only documents, and the project declares no check");
        checks.is_empty().then(|| NoChecks::allowed(&reason, outside))
    }

    pub(super) fn ran(
        &self,
        folder: &AbsolutePath,
        commands: Commands<'_>,
        tree: &str,
        mark: Option<&Mark>,
    ) -> Result<GateEvidence, EngineError> {
        let Commands { source, checks } = commands;
        self.are_approved(checks)?;
        self.in_place(folder, mark, |place| run_checks(self.world, checks, source, tree, place, None))
    }

    /// Ends the run before a check without approval, if no fence would be around it.
    fn are_approved(&self, checks: &[Check]) -> Result<(), EngineError> {
        let Some(approved) = &self.approved else { return Ok(()) };
        let unknown = checks.iter().map(Check::command).filter(|command| !approved.contains(*command));
        let shown: Vec<String> = unknown.map(|command| format!("check: {}", line(command, SHOWN))).collect();
        if shown.is_empty() {
            return Ok(());
        }
        let text = "a check that nobody approved would run without a fence; run again to approve it";
        let stop = Stop::new(Cause::NotApproved, text, "gsd-tools auto run").shown(shown);
        Err(EngineError::Stopped(Box::new(stop)))
    }

    /// Runs an action in the environment of the checks of `folder`.
    pub(super) fn in_place<R>(
        &self,
        folder: &AbsolutePath,
        mark: Option<&Mark>,
        act: impl FnOnce(&CheckPlace<'_>) -> R,
    ) -> Result<R, EngineError> {
        let temporary = self.temporary()?;
        let fence = temporary.as_ref().map(|temporary| self.fence_of_checks(folder, temporary.folder()));
        let fence = fence.transpose()?;
        let of_caches = self.caches()?.map(|caches| caches.variables.as_slice()).unwrap_or_default();
        let variables = [&self.slot(true)?, of_caches].concat();
        // If this process dies, the next one finds its remains by the mark.
        let around = |program: Program| {
            let program = program.without([APPROVED]);
            let program = mark.map_or_else(|| program.clone(), |mark| program.clone().marked(mark.clone()));
            fence.as_ref().map_or_else(|| program.clone().detached(), |fence| program.clone().fenced(fence))
        };
        let asked = self.asked();
        let is_over = || !matches!(asked.at_once(), Ok(None));
        let place = CheckPlace {
            fence: Some(&around),
            is_over: Some(&is_over),
            variables: &variables,
            ..CheckPlace::new(folder.as_path())
        };
        Ok(act(&place))
    }

    /// Runs the checks on the tree a unit started from, with the tests of the unit: the result without its fix. `None`
    /// if there is nothing to leave out.
    fn without_fix(
        &mut self,
        (base, tree): (&str, &Tree),
        pins: &Pins,
        changes: &[FileContents],
        mark: Option<&Mark>,
    ) -> Result<Option<GateEvidence>, EngineError> {
        let (tests, work): (Vec<&FileContents>, Vec<&FileContents>) =
            changes.iter().partition(|change| pins.shows_work(&change.path, change.before.is_none()));
        if work.is_empty() {
            return Ok(None);
        }
        let tests: Vec<&str> = tests.iter().map(|change| change.path.as_str()).collect();
        let before = Self::tree_named(base)?;
        let mixed = self.repository.tree_with(&self.worktree, &before, (tree, &tests), &[])?;
        let commands = Commands { source: pins.source, checks: &pins.checks };
        Ok(Some(self.checks_before(&mixed, commands, mark)?))
    }

    /// Runs the checks of the project and of the milestone's plans on the commit that is to land.
    pub(super) fn checks_of_candidate(
        &mut self,
        candidate: &LoggedCandidate,
        memory: &Memory,
    ) -> Result<Option<CheckedTree>, EngineError> {
        let mark = Some(self.mark_of_commit(&candidate.commit));
        let commit = Self::commit_named(&candidate.commit)?;
        let tree = Self::tree_named(&candidate.tree)?;
        let checked = self.on_fresh((&commit, &tree), "checks of a candidate", mark.as_ref(), |folder| {
            let layout = project::layout::Layout::new(folder.as_path(), None, None);
            let files = Project::new(layout, self.world.state_folder()).files();
            let (wanted, declared) = self.wanted_by_milestone(files.as_ref(), candidate, memory)?;
            let commands = Commands { source: wanted.source, checks: &wanted.checks };
            let (found, written) = self.ran_and_wrote(folder, commands, &tree, mark.as_ref())?;
            let environment = self.environment(folder, &wanted.checks, mark.as_ref())?;
            Ok((wanted, declared, (found, written), Some(environment)))
        })?;
        let (Discovery { source, checks, refused }, declared, (found, mut written), environment) = match checked {
            Ok(checked) => checked,
            Err(failed) => {
                let (wanted, found) = self.without_set_up(candidate, failed, mark.as_ref())?;
                (wanted, 0, (found, Vec::new()), None)
            }
        };
        if !written.is_empty() {
            let usual = self.written_on_target(candidate, Commands { source, checks: &checks }, mark.as_ref())?;
            written.retain(|path| !usual.contains(path));
        }
        let findings = Finding::written_by_checks(&written);
        let changes = self.repository.differences(&candidate.base, &candidate.commit)?;
        let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
        let no_checks = self.no_checks(&checks, paths.iter().map(String::as_str), "milestone");
        let claim =
            no_checks.as_ref().and_then(|checked| checked.as_ref().ok()).map_or(WorkClaim::Work, WorkClaim::Documents);
        let folder = self.places.scratch.to_string();
        let case = |before| Case {
            tree: &candidate.tree,
            folder: &folder,
            claim,
            before,
            evidence: &found,
            findings: &findings,
        };
        let mut verdict = judge(case(None));
        if verdict.outcome == Outcome::Failed {
            // A check that already fails on the target is not the fault of the milestone, unless the milestone added
            // the check or it passed once.
            let is_open = |check: &&Check| {
                let was_green = memory.shown.get(check.command()).is_some_and(|shown| shown.was_green);
                !was_green && found.of(check.command()).is_some_and(gate::evidence::CheckRun::failed)
            };
            let open: Vec<Check> = checks.iter().filter(is_open).cloned().collect();
            if !open.is_empty() {
                let base = Self::commit_named(&candidate.base)?;
                let tree = self.repository.tree_of(&base)?;
                let commands = Commands { source, checks: &open };
                let run = |folder: &AbsolutePath| self.ran(folder, commands, tree.as_str(), mark.as_ref());
                if let Ok(mut before) = self.on_fresh((&base, &tree), "checks of the target", mark.as_ref(), run)? {
                    let declared = |command: &str| checks.iter().take(declared).any(|check| check.command() == command);
                    before.checks.retain_mut(|run| memory.excuses(run, declared(&run.command)));
                    verdict = judge(case(Some(&before)));
                }
            }
        }
        if self.is_broken_off()? {
            return Ok(None);
        }
        if let Some(failure) = &mut verdict.failure {
            failure.text = self
                .ignored_in(&failure.text)?
                .into_iter()
                .chain(self.outdated(&paths.iter().map(String::as_str).collect::<Vec<_>>()))
                .fold(failure.text.clone(), |text, line| text + "\n" + &line);
        }
        let why = VerdictReasons { findings: &findings, unit: "", refused: &refused, no_checks };
        let running = self.running_between(&candidate.base, &candidate.commit)?;
        Ok(Some(CheckedTree { environment, running, ..evidence(&found, &verdict, why) }))
    }

    /// Returns the files that the checks change on the target as well as on the candidate.
    fn written_on_target(
        &self,
        candidate: &LoggedCandidate,
        commands: Commands<'_>,
        mark: Option<&Mark>,
    ) -> Result<Vec<String>, EngineError> {
        let base = Self::commit_named(&candidate.base)?;
        let tree = self.repository.tree_of(&base)?;
        let run = |folder: &AbsolutePath| self.ran_and_wrote(folder, commands, &tree, mark);
        Ok(self
            .on_fresh((&base, &tree), "checks of the target", mark, run)?
            .map(|(_, usual)| usual)
            .unwrap_or_default())
    }

    /// Returns the symbolic links out of the project that the second of two trees or commits adds. A link that was only
    /// moved does not count.
    pub(super) fn links_between(&self, before: &str, after: &str) -> Result<Vec<String>, EngineError> {
        let changes = self.repository.differences(before, after)?;
        if !changes.iter().any(Changed::is_link) {
            return Ok(Vec::new());
        }
        let (earlier, links) = (self.repository.links(before)?, self.repository.links(after)?);
        let mut found = Vec::new();
        for path in changes.iter().filter(|change| change.is_link()).map(|change| change.path.to_string()) {
            let Some(target) = links.get(&path).filter(|target| !earlier.values().any(|other| other == *target)) else {
                continue;
            };
            if leads_out(&path, target, |at| links.get(at).cloned()) {
                let (path, target) = (plain(&path), plain(target));
                found.push(format!("`{path}` is a link that leads out of the project, to `{target}`"));
            }
        }
        Ok(found)
    }

    /// Returns the files that run without being called and that differ between two trees or commits.
    pub(super) fn running_between(&self, before: &str, after: &str) -> Result<Vec<String>, EngineError> {
        let found = self.contents(before, after)?;
        let changes: Vec<FileChange<'_>> = found.iter().map(FileContents::change).collect();
        Ok(that_run(&self.running, &changes).iter().map(|finding| line(&finding.to_string(), SHOWN)).collect())
    }

    /// Returns the lines with keys that the second of two trees or commits adds, including documents.
    pub(super) fn secrets_between(&self, before: &str, after: &str) -> Result<Vec<SecretFound>, EngineError> {
        let changes = self.repository.differences(before, after)?;
        let mut suspects = Vec::new();
        for change in &changes {
            if let Some(after) = self.repository.content_of(change, Side::After)?.filter(|after| holds_key(after)) {
                suspects.push((change, Some(after)));
            }
        }
        if suspects.is_empty() {
            return Ok(Vec::new());
        }
        suspects
            .extend(changes.iter().filter(|change| change.status == PathChange::Deleted).map(|change| (change, None)));
        let mut contents = Vec::new();
        for (change, after) in suspects {
            let before = self.repository.content_of(change, Side::Before)?;
            contents.push(FileContents { path: change.path.to_string(), before, after });
        }
        Ok(added_secrets(&contents.iter().map(FileContents::change).collect::<Vec<_>>()))
    }

    pub(super) fn is_planning(&self, path: &str) -> bool {
        path.strip_prefix(self.layout.folder()).is_some_and(|rest| rest.starts_with('/'))
    }

    fn contents(&self, before: &str, after: &str) -> Result<Vec<FileContents>, EngineError> {
        let changes = self.repository.differences(before, after)?;
        let mut found = Vec::new();
        for change in changes {
            let path = change.path.to_string();
            if self.is_planning(&path) {
                continue;
            }
            let (before, after) = (self.repository.content(before, &path)?, self.repository.content(after, &path)?);
            found.push(FileContents { path, before, after });
        }
        Ok(found)
    }
}

/// Commands, and the source that names them as checks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Commands<'a> {
    pub(super) source: Source,
    pub(super) checks: &'a [Check],
}

/// Returns the evidence of a unit that counts without checks.
fn unchecked(tree: &Tree, why: String) -> CheckedTree {
    CheckedTree { tree: tree.to_string(), passed: true, no_checks_reason: Some(why), ..CheckedTree::default() }
}
