//! The checks of a unit and of a candidate, and what their evidence is worth.

use super::fences::Temporary;
use super::{Real, leftovers};
use crate::auto::engine::EngineError;
use crate::auto::event::{CheckRun, Evidence, Tests};
use crate::auto::gate;
use crate::auto::gate::check::{Refused, Source};
use crate::auto::gate::discovery::{Discovery, Wanted, discover};
use crate::auto::gate::evidence::Evidence as GateEvidence;
use crate::auto::gate::no_checks::{NoChecks, NoChecksError};
use crate::auto::gate::pins::{Pins, Planned};
use crate::auto::gate::run::{Place, run_checks};
use crate::auto::gate::secrets::{SecretFound, added_secrets, holds_key};
use crate::auto::gate::tamper::{FileChange, Finding, Work, inspect};
use crate::auto::gate::verdict::{Case, Claim, GateVerdict, Outcome, judge};
use crate::auto::landing::id::{Commit, Side, Status, Tree};
use crate::auto::layout::Layout;
use crate::auto::memory::{Attempts, Candidate, Operation};
use crate::auto::slices::places;
use crate::auto::slices::snapshot::Problem;
use crate::auto::unit::Unit;
use crate::disk::AbsolutePath;
use crate::project::files::Files;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::summary::Summary;
use crate::project::milestone_layout::task_plan::TaskPlan;
use crate::project::plan::PhasePlan;
use crate::project::{self, Project};
use crate::world::Program;
use crate::world::tree::Mark;

/// A file of a unit's diff, before and after.
struct Contents {
    path: String,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
}

impl Contents {
    fn change(&self) -> FileChange<'_> {
        FileChange { path: &self.path, before: self.before.as_deref(), after: self.after.as_deref() }
    }
}

impl Real<'_> {
    /// What the checks of a unit rest on, before it runs.
    pub(super) fn pins_of(&self, unit: &Unit, tree: &str) -> Result<Option<Pins>, EngineError> {
        if !unit.kind.is_gated() {
            return Ok(None);
        }
        let tree = Self::tree_named(tree)?;
        let plan = self.plan_of(unit)?;
        let discovery = self.discovered(self.files.as_ref(), plan.verify.as_deref())?;
        let paths = self.repository.paths(&tree)?;
        let planned = Planned {
            discovery: &discovery,
            paths: &paths,
            expected: &plan.expected,
            plan: &plan.text,
            is_fix: plan.is_fix,
        };
        Ok(Some(Pins::of(self.files.as_ref(), planned)?))
    }

    pub(super) fn discovered(&self, files: &dyn Files, verify: Option<&str>) -> Result<Discovery, EngineError> {
        let wanted = Wanted { preference: &self.preferences.verification_commands, verify };
        Ok(discover(files, wanted)?)
    }

    /// What the plans say about the task of a unit.
    pub(super) fn plan_of(&self, unit: &Unit) -> Result<TaskPlans, EngineError> {
        let files = self.files.as_ref();
        let (milestone, Some(slice), Some(task)) = unit.parts() else { return Ok(TaskPlans::default()) };
        let folder = places::slice(files, milestone, slice)?;
        let mut found = TaskPlans::default();
        if let Some((_, text)) = places::document(files, &folder, slice, "PLAN")?
            && let Some(row) = SlicePlan::parse(&text).task(task)
        {
            found.verify.clone_from(&row.verify);
            found.expected.extend(row.files.iter().cloned());
        }
        if let Some((_, text)) = places::document(files, &format!("{folder}/tasks"), task, "PLAN")? {
            let plan = TaskPlan::parse(&text, task);
            found.expected.extend(plan.outputs);
            found.is_fix = plan.is_fix;
            found.text = text;
        }
        Ok(found)
    }

    /// Runs the checks of a unit on the worktree, and looks whether it made any of them weaker. `None` where somebody broke
    /// them off.
    pub(super) fn checks(
        &mut self,
        operation: &Operation,
        attempts: &Attempts,
    ) -> Result<Option<Evidence>, EngineError> {
        if let Some(ended) = operation.ended.as_ref().filter(|_| operation.is_cut_off) {
            self.tidied(&Self::tree_named(&ended.tree)?)?;
        }
        let mark = Mark::parse(&operation.start.mark);
        let tree = self.repository.snapshot(&self.worktree)?.tree;
        let Some(pins) = attempts.pins.clone() else {
            return Ok(Some(Evidence { tree: tree.to_string(), ..Evidence::default() }));
        };
        let base = attempts.base.clone().unwrap_or_else(|| operation.start.tree.clone());
        let changes = self.contents(&base, tree.as_str())?;
        let is_outside = |file: &Contents| !self.is_planning(&file.path);
        if !changes.iter().any(is_outside)
            && let Some(why) = self.blocker_of(&operation.start.unit)?
        {
            // Nothing was made that a check could show; the slice is planned again.
            let no_checks_reason = Some(format!("the task is blocked: {why}"));
            return Ok(Some(Evidence {
                tree: tree.to_string(),
                passed: true,
                no_checks_reason,
                ..Evidence::default()
            }));
        }
        let diff: Vec<FileChange<'_>> = changes.iter().map(Contents::change).collect();
        let plan = self.plan_of(&operation.start.unit)?;
        let now = self.discovered(self.files.as_ref(), plan.verify.as_deref())?;
        let inspection = inspect(Work { pins: &pins, changes: &diff, now: Some(&now), runs: None });
        let folder = self.places.worktree.clone();
        let found = self.ran(&folder, &pins.checks, (pins.source, tree.as_str()), mark.as_ref())?;
        let no_checks = self.no_checks(&pins.checks, changes.iter().map(|file| file.path.as_str()), "unit");
        let without =
            if pins.is_fix { self.without_fix((&base, &tree), &pins, &changes, mark.as_ref())? } else { None };
        let of_work = without.as_ref().map_or(Claim::Work, |without| Claim::Fix { without });
        let claim = no_checks.as_ref().and_then(|checked| checked.as_ref().ok()).map_or(of_work, Claim::Documents);
        let mut verdict = judge(Case {
            tree: tree.as_str(),
            folder: &folder.to_string(),
            claim,
            before: None,
            evidence: &found,
            findings: &inspection.findings,
        });
        // Only what fails is worth another look: whether it failed before the unit too.
        if verdict.outcome == Outcome::Failed && found.checks.iter().any(gate::evidence::CheckRun::failed) {
            let before = self.on_tree(&base, &pins, mark.as_ref())?;
            verdict = judge(Case {
                tree: tree.as_str(),
                folder: &folder.to_string(),
                claim,
                before: Some(&before),
                evidence: &found,
                findings: &inspection.findings,
            });
        }
        self.tidied(&tree)?;
        if self.is_broken_off()? {
            return Ok(None);
        }
        let why =
            Why { findings: &inspection.findings, unit: &operation.start.unit.id, refused: &pins.refused, no_checks };
        Ok(Some(evidence(&found, &verdict, why)))
    }

    /// What keeps the task of a unit from being done as planned, by its summary. A slice is planned again once: after that,
    /// its tasks pass their checks.
    fn blocker_of(&self, unit: &Unit) -> Result<Option<String>, EngineError> {
        let files = self.files.as_ref();
        let (milestone, Some(slice), Some(task)) = unit.parts() else { return Ok(None) };
        let folder = places::slice(files, milestone, slice)?;
        if places::document(files, &folder, slice, "REPLAN")?.is_some() {
            return Ok(None);
        }
        let found = places::document(files, &format!("{folder}/tasks"), task, "SUMMARY")?;
        let summary = found.map(|(_, text)| Summary::parse(&text)).filter(|summary| summary.blocker_discovered);
        Ok(summary.map(|summary| summary.one_liner.unwrap_or_else(|| "its summary says how".to_owned())))
    }

    /// What checks leave in the worktree is not the unit's work.
    fn tidied(&mut self, tree: &Tree) -> Result<(), EngineError> {
        let now = self.world.now().milliseconds();
        self.repository.restore(&self.worktree, tree, &self.run, now)?;
        Ok(())
    }

    /// Whether somebody wants an end at once: what checks said then says nothing.
    fn is_broken_off(&self) -> Result<bool, EngineError> {
        Ok(self.asked().at_once()?.is_some())
    }

    /// Whether there may be no checks. `None` where there are some.
    fn no_checks<'a>(
        &self,
        checks: &[gate::check::Check],
        changed: impl IntoIterator<Item = &'a str>,
        what: &str,
    ) -> Option<Result<NoChecks, NoChecksError>> {
        let outside = changed.into_iter().filter(|path| !self.is_planning(path));
        let reason = format!("the {what} changes only documents, and the project declares no check");
        checks.is_empty().then(|| NoChecks::allowed(&reason, outside))
    }

    fn ran(
        &self,
        folder: &AbsolutePath,
        checks: &[gate::check::Check],
        (source, tree): (Source, &str),
        mark: Option<&Mark>,
    ) -> Result<GateEvidence, EngineError> {
        self.in_place(folder, mark, |place| run_checks(self.world, checks, source, tree, place, None))
    }

    /// Does something where the checks of `folder` run, and as they do.
    pub(super) fn in_place<R>(
        &self,
        folder: &AbsolutePath,
        mark: Option<&Mark>,
        act: impl FnOnce(&Place<'_>) -> R,
    ) -> Result<R, EngineError> {
        let temporary = self.temporary()?;
        let fence = temporary.as_ref().map(|temporary| self.fence_of_checks(folder, temporary)).transpose()?;
        let variables = temporary.as_ref().map(Temporary::variables).unwrap_or_default();
        // Who goes on after this process has died finds by the mark what it left.
        let around = |program: Program| {
            let program = mark.map_or_else(|| program.clone(), |mark| program.clone().marked(mark.clone()));
            fence.as_ref().map_or_else(|| program.clone(), |fence| program.clone().fenced(fence))
        };
        let asked = self.asked();
        let is_over = || !matches!(asked.at_once(), Ok(None));
        let place = Place {
            fence: Some(&around),
            is_over: Some(&is_over),
            variables: &variables,
            ..Place::new(folder.as_path())
        };
        Ok(act(&place))
    }

    /// The checks on the tree a unit started from, with the tests of the unit in it: what they say without its fix. `None`
    /// where there is nothing that could be left out.
    fn without_fix(
        &mut self,
        (base, tree): (&str, &Tree),
        pins: &Pins,
        changes: &[Contents],
        mark: Option<&Mark>,
    ) -> Result<Option<GateEvidence>, EngineError> {
        let (tests, work): (Vec<&Contents>, Vec<&Contents>) =
            changes.iter().partition(|change| pins.shows_work(&change.path, change.before.is_none()));
        if work.is_empty() {
            return Ok(None);
        }
        let tests: Vec<&str> = tests.iter().map(|change| change.path.as_str()).collect();
        let mixed = self.repository.tree_with(&self.worktree, &Self::tree_named(base)?, tree, &tests)?;
        Ok(Some(self.on_tree(mixed.as_str(), pins, mark)?))
    }

    /// The same checks on an earlier tree.
    fn on_tree(&mut self, tree: &str, pins: &Pins, mark: Option<&Mark>) -> Result<GateEvidence, EngineError> {
        let commit = self.repository.commit_of_tree(&Self::tree_named(tree)?, self.world.now().milliseconds())?;
        let scratch = self.repository.scratch(&self.places.scratch, &commit, "checks of an earlier state")?;
        let found = self.ran(&scratch.folder, &pins.checks, (pins.source, tree), mark)?;
        self.repository.remove_scratch(&scratch)?;
        Ok(found)
    }

    /// Runs the checks of the project on the commit that is to land.
    pub(super) fn checks_of_candidate(&mut self, candidate: &Candidate) -> Result<Option<Evidence>, EngineError> {
        let mark = leftovers::mark_of_candidate(&candidate.commit);
        let commit = Commit::parse(&candidate.commit).ok_or_else(|| super::named(&candidate.commit))?;
        let scratch = self.repository.scratch(&self.places.scratch, &commit, "checks of a candidate")?;
        let files =
            Project::new(project::layout::Layout::new(scratch.folder.as_path(), None, None), self.world.state_folder())
                .files();
        let Discovery { source, checks, refused } =
            self.wanted_by_milestone(files.as_ref(), &candidate.base, &candidate.commit)?;
        let found = self.ran(&scratch.folder, &checks, (source, &candidate.tree), mark.as_ref())?;
        let environment = self.environment(&scratch.folder, &checks, mark.as_ref())?;
        let changes = self.repository.differences(&candidate.base, &candidate.commit)?;
        let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
        let no_checks = self.no_checks(&checks, paths.iter().map(String::as_str), "milestone");
        let claim = no_checks.as_ref().and_then(|checked| checked.as_ref().ok()).map_or(Claim::Work, Claim::Documents);
        let folder = scratch.folder.to_string();
        let case =
            |before| Case { tree: &candidate.tree, folder: &folder, claim, before, evidence: &found, findings: &[] };
        let mut verdict = judge(case(None));
        if verdict.outcome == Outcome::Failed {
            // What is red on the target already is not the fault of the milestone.
            let base = Commit::parse(&candidate.base).ok_or_else(|| super::named(&candidate.base))?;
            let tree = self.repository.tree_of(&base)?;
            let target = self.repository.scratch(&self.places.scratch, &base, "checks of the target")?;
            let before = self.ran(&target.folder, &checks, (source, tree.as_str()), mark.as_ref())?;
            verdict = judge(case(Some(&before)));
        }
        self.repository.remove_scratch(&scratch)?;
        if self.is_broken_off()? {
            return Ok(None);
        }
        let why = Why { findings: &[], unit: "", refused: &refused, no_checks };
        Ok(Some(Evidence { environment: Some(environment), ..evidence(&found, &verdict, why) }))
    }

    /// The checks of the project, or those of all tasks of the milestone where the project declares none.
    fn wanted_by_milestone(&self, files: &dyn Files, base: &str, commit: &str) -> Result<Discovery, EngineError> {
        let Discovery { mut source, mut checks, mut refused } = self.discovered(files, None)?;
        for change in self.repository.differences(base, commit)? {
            let path = change.path.to_string();
            if !self.is_planning(&path) || !path.ends_with("-PLAN.md") || path.contains("/tasks/") {
                continue;
            }
            let Some(text) = files.read(&path)? else { continue };
            for verify in self.planned_checks(files, &path, &text)? {
                let planned = self.discovered(files, Some(&verify))?;
                let new = planned.refused.into_iter().filter(|why| !refused.contains(why)).collect::<Vec<_>>();
                refused.extend(new);
                if planned.source != Source::TaskPlan {
                    continue;
                }
                source = if checks.is_empty() { planned.source } else { source };
                let new = planned.checks.into_iter().filter(|check| !checks.contains(check)).collect::<Vec<_>>();
                checks.extend(new);
            }
        }
        Ok(Discovery { source, checks, refused })
    }

    /// The commands by which a plan says that its tasks are checked. A task that was blocked made nothing that its own could
    /// show.
    fn planned_checks(&self, files: &dyn Files, path: &str, text: &str) -> Result<Vec<String>, EngineError> {
        Ok(match &self.layout {
            Layout::Milestones => {
                let plan = SlicePlan::parse(text);
                let tasks = format!("{}/tasks", path.rsplit_once('/').map_or("", |(folder, _)| folder));
                let mut commands = Vec::new();
                for task in plan.tasks {
                    let summary = places::document(files, &tasks, &task.id, "SUMMARY")?;
                    if !summary.is_some_and(|(_, text)| Summary::parse(&text).blocker_discovered) {
                        commands.extend(task.verify);
                    }
                }
                commands.extend(plan.verification.iter().filter_map(|entry| command_of(entry)));
                commands
            }
            Layout::Phases(_) => {
                PhasePlan::parse(text).checks().into_iter().filter_map(|check| check.command).collect()
            }
        })
    }

    /// The lines with keys that the second of two trees or commits adds, in documents too.
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
        suspects.extend(changes.iter().filter(|change| change.status == Status::Deleted).map(|change| (change, None)));
        let mut contents = Vec::new();
        for (change, after) in suspects {
            let before = self.repository.content_of(change, Side::Before)?;
            contents.push(Contents { path: change.path.to_string(), before, after });
        }
        Ok(added_secrets(&contents.iter().map(Contents::change).collect::<Vec<_>>()))
    }

    fn is_planning(&self, path: &str) -> bool {
        path.strip_prefix(self.layout.folder()).is_some_and(|rest| rest.starts_with('/'))
    }

    fn contents(&self, before: &str, after: &str) -> Result<Vec<Contents>, EngineError> {
        let changes = self.repository.differences(before, after)?;
        let mut found = Vec::new();
        for change in changes {
            let path = change.path.to_string();
            if self.is_planning(&path) {
                continue;
            }
            let (before, after) = (self.repository.content(before, &path)?, self.repository.content(after, &path)?);
            found.push(Contents { path, before, after });
        }
        Ok(found)
    }
}

#[derive(Debug, Default)]
pub(super) struct TaskPlans {
    pub(super) verify: Option<String>,
    expected: Vec<String>,
    is_fix: bool,
    text: String,
}

/// The command of an entry that is one, between backticks; what is written as a sentence is for people.
fn command_of(entry: &str) -> Option<String> {
    let inside = entry.trim().strip_prefix('`')?.strip_suffix('`')?;
    (!inside.is_empty() && !inside.contains('`')).then(|| inside.to_owned())
}

/// What a person and the next attempt are told of a verdict, beside it.
struct Why<'a> {
    findings: &'a [Finding],
    /// The identifier of the unit; empty of a candidate.
    unit: &'a str,
    /// Commands that were named as checks, and that are not run.
    refused: &'a [Refused],
    /// Whether there may be no checks.
    no_checks: Option<Result<NoChecks, NoChecksError>>,
}

impl Why<'_> {
    /// What is to be done for the checks to pass, a line each.
    fn ways_on(&self, outcome: Outcome) -> Vec<String> {
        /// The most lines of a kind.
        const LISTED: usize = 5;
        let mut lines: Vec<String> = Vec::new();
        for finding in self.findings {
            let way = finding.way_on(self.unit);
            if lines.len() < LISTED && !lines.contains(&way) {
                lines.push(way);
            }
        }
        if outcome == Outcome::NoEvidence {
            lines.extend(self.refused.iter().map(not_run).take(LISTED));
        }
        if let Some(Err(error)) = &self.no_checks {
            lines.push(error.to_string());
        }
        lines
    }
}

/// Why a command is not run as a check, and what to do.
fn not_run(refused: &Refused) -> String {
    match refused.hint() {
        Some(hint) => format!("{refused}; {hint}"),
        None => refused.to_string(),
    }
}

fn evidence(found: &GateEvidence, verdict: &GateVerdict, why: Why<'_>) -> Evidence {
    let check = |run: &gate::evidence::CheckRun| CheckRun {
        command: run.command.clone(),
        exit_code: run.exit_code,
        milliseconds: run.duration_ms,
        digest: run.digest.to_string(),
        passed: run.passed() || verdict.red_before.contains(&run.command),
        tests: run.counts.as_ref().map(Tests::from),
    };
    // Sentences are for people.
    let commands = why.refused.iter().filter(|refused| !refused.is_sentence());
    let left_out: Vec<String> = commands.map(not_run).collect();
    let notes = [("red before", &verdict.red_before), ("flaky", &verdict.flaky), ("not run", &left_out)];
    let notes = notes.into_iter().filter(|(_, commands)| !commands.is_empty());
    let failure = verdict.failure.as_ref().map(|failure| {
        let ways_on = why.ways_on(verdict.outcome);
        if ways_on.is_empty() { failure.text.clone() } else { format!("{}\n\n{}", failure.text, ways_on.join("\n")) }
    });
    Evidence {
        tree: verdict.tree.clone(),
        source: found.source.word().to_owned(),
        passed: verdict.passed(),
        checks: found.checks.iter().map(check).collect(),
        no_checks_reason: why.no_checks.and_then(Result::ok).map(|no_checks| no_checks.reason),
        failure: failure.unwrap_or_default(),
        findings: why
            .findings
            .iter()
            .map(|finding| Problem {
                path: finding.path.clone(),
                line: Some(finding.line).filter(|line| *line > 0),
                what: finding.what.clone(),
            })
            .collect(),
        secrets: Vec::new(),
        notes: notes.map(|(name, commands)| (name.to_owned(), commands.join("; "))).collect(),
        environment: None,
    }
}
