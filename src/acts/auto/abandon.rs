//! Ending a run for good: its worktree and its branch are removed, and what they had is kept for 30 days. Removes in the
//! same way what an earlier run has left.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::leftover::{branches, folder_of, folders_at, milestone_of_branch, noted};
use super::place::{BEGINNING, RunPlace, log_error, refuses_sessions, refuses_units};
use super::start::opening::commit_of;
use super::start::places::{checkout_of, scratch_of};
use crate::acts::{Call, caller};
use crate::auto::event::{Entry, Event, Run, Time};
use crate::auto::landing::error::LandingError;
use crate::auto::landing::release::Release;
use crate::auto::landing::repository::Repository;
use crate::auto::landing::worktree::Worktree;
use crate::auto::memory::Memory;
use crate::auto::phases;
use crate::auto::real::{Control, leftovers, orders};
use crate::disk::log::{Log, LogError};
use crate::disk::{self, AbsolutePath, DiskError};
use crate::failure::Failure;
use crate::project::milestone_layout::lookup;
use crate::text::shell::{Typed, typed};

/// How long to wait for the lock of the log, as at the start of a run.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

const COMMAND: &str = "auto abandon";

/// What was abandoned.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AbandonReport {
    pub(crate) milestone: String,
    /// Whether an unfinished run was ended; false for what an earlier run had left.
    pub(crate) ended: bool,
    /// The folders and the branch that were removed; with `--dry-run` those that would be.
    pub(crate) removed: Vec<String>,
    /// The references that keep for 30 days what they had.
    pub(crate) kept: Vec<String>,
    /// What is still there, and why.
    pub(crate) left: Vec<String>,
    /// The command that brings the work back as a branch; omitted if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) restore: Option<Typed>,
    /// The command that shows the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) show: Option<Typed>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dry_run: bool,
    /// The command that begins again.
    #[schemars(with = "String")]
    pub(crate) next: Typed,
}

/// What a call is about.
struct Abandoning {
    milestone: String,
    branch: String,
    worktree: AbsolutePath,
    /// The run that made it; `None` if a call died before the run was in the log.
    run: Option<Run>,
    /// The state of an unfinished run.
    unfinished: Option<Memory>,
    /// Whether the run worked in another repository, which was here before.
    is_stranded: bool,
}

/// What is kept of a run.
#[derive(Default)]
struct KeptWork {
    references: Vec<String>,
    /// The reference with the work, and a name for a branch that brings it back.
    work: Option<(String, String)>,
}

/// Ends the unfinished run, or removes what the last run of another milestone has left.
pub(crate) fn abandon(call: &Call, milestone: Option<&str>, is_sure: bool) -> Result<AbandonReport, Failure> {
    caller::refuses_agents(call, COMMAND)?;
    refuses_units(call, COMMAND)?;
    let place = RunPlace::of_run(call)?;
    refuses_sessions(call, &place, &place.memory()?, COMMAND)?;
    let about = Abandoning::of(call, &place, milestone)?;
    if call.is_rehearsal() {
        if disk::is_file(place.log())
            && let Some(holder) = call.disk().patient_for(Duration::ZERO).log_holder(&place.log())?
        {
            return Err(active(&holder));
        }
        return about.report(call, &place, &[], None);
    }
    let disk = call.disk().patient_for(LOCK_PATIENCE);
    let mut log = disk.log(&place.log()).map_err(|error| match &error {
        LogError::Disk(DiskError::Locked { holder, .. }) => active(holder),
        _ => log_error(&error),
    })?;
    // While this call waited, the run may have continued.
    let about = Abandoning::of(call, &place, milestone)?;
    if about.unfinished.is_some() || !about.there(call, &place)?.is_empty() {
        confirm(call, &about, is_sure)?;
    }
    about.carry_out(call, &place, &mut log)
}

fn active(holder: &str) -> Failure {
    let message = format!("a run is active here, in {holder}");
    Failure::usage(message).exits(75).hint("end it first: `gsd-tools auto stop --now`")
}

fn confirm(call: &Call, about: &Abandoning, is_sure: bool) -> Result<(), Failure> {
    if is_sure {
        return Ok(());
    }
    let Abandoning { milestone, branch, .. } = about;
    let sure = typed!("gsd-tools auto abandon {} --yes", milestone);
    if !caller::can_confirm(call) {
        let message =
            format!("`auto abandon` removes the worktree and the branch of {milestone}, and nobody can be asked");
        return Err(Failure::usage(message).exits(64).hint(format!("run `{sure}`")));
    }
    let what = if about.unfinished.is_some() { "ends its run for good and " } else { "" };
    let question = format!(
        "Abandon {milestone}? This {what}removes its worktree and the branch `{branch}`; what they have is kept for 30 days"
    );
    if caller::confirms(call, &question)? {
        return Ok(());
    }
    Err(Failure::usage("nothing was changed").hint(format!("`{sure}` does it without this question")))
}

impl Abandoning {
    fn of(call: &Call, place: &RunPlace, asked: Option<&str>) -> Result<Self, Failure> {
        let is_it = |milestone: &str| asked.is_none_or(|asked| asked.eq_ignore_ascii_case(milestone));
        let stranded = place.stranded()?;
        let is_stranded = stranded.is_some();
        let memory = stranded.map_or_else(|| place.memory(), Ok)?;
        if let Some(run) = memory.run.clone().filter(|run| !memory.is_released && is_it(&run.milestone)) {
            return Self::of_run(run, Some(memory), is_stranded);
        }
        let noted = noted(place)?;
        if let Some(branch) = noted.filter(|branch| is_it(milestone_of_branch(branch))) {
            let (milestone, worktree) = (milestone_of_branch(&branch).to_owned(), folder_of(place, &branch));
            return Ok(Self { milestone, branch, worktree, run: None, unfinished: None, is_stranded: false });
        }
        let Some(asked) = asked else {
            return Err(Failure::usage("no run is unfinished here").hint(
                "`gsd-tools auto status` names what earlier runs have left; `gsd-tools auto abandon M001` removes it",
            ));
        };
        let entries = place.entries()?;
        let (runs, _) = place.runs_here(&entries)?;
        if let Some(run) = runs.iter().rev().find(|run| is_it(&run.run.milestone)) {
            return Self::of_run(run.run.clone(), None, false);
        }
        let of_others = branches(call.world(), place)?.into_iter().find(|branch| is_it(milestone_of_branch(branch)));
        Err(match of_others {
            Some(branch) => {
                let shown = typed!("git -C {} log --oneline -5 {}", place.root, branch);
                Failure::usage(format!("no run of this project made the branch `{branch}`, so it stays"))
                    .hint(format!("`{shown}` shows what it has"))
            }
            None => Failure::usage(format!("no run of this project was about `{asked}`"))
                .hint("`gsd-tools auto status` shows the run, and what earlier runs have left"),
        })
    }

    fn of_run(run: Run, unfinished: Option<Memory>, is_stranded: bool) -> Result<Self, Failure> {
        let worktree = AbsolutePath::parse(&run.worktree).map_err(DiskError::from)?;
        let (milestone, branch) = (run.milestone.clone(), run.branch.clone());
        Ok(Self { milestone, branch, worktree, run: Some(run), unfinished, is_stranded })
    }

    /// The name under which everything is kept.
    fn name(&self) -> String {
        self.run.as_ref().map_or_else(|| self.branch.replace('/', "-"), |run| run.id.clone())
    }

    /// What is there of it: folders, and the branch.
    fn there(&self, call: &Call, place: &RunPlace) -> Result<Vec<String>, Failure> {
        if self.is_stranded {
            return Ok(Vec::new());
        }
        let shown = |folder: AbsolutePath| {
            folder.relative_to(&place.root).map_or_else(|| folder.to_string(), |path| path.to_string())
        };
        let folders = folders_at(&self.worktree).into_iter().map(shown);
        let branches = branches(call.world(), place)?.into_iter().filter(|branch| *branch == self.branch);
        Ok(folders.chain(branches).collect())
    }

    fn carry_out(&self, call: &Call, place: &RunPlace, log: &mut Log<'_>) -> Result<AbandonReport, Failure> {
        if let Some(memory) = &self.unfinished {
            leftovers::end_programs(memory)?;
            leftovers::remove_temporary(call.world(), memory)?;
        }
        let before = self.there(call, place)?;
        let mut found = KeptWork::default();
        if !self.is_stranded && (!before.is_empty() || self.unfinished.is_some()) {
            found = self.removed(call, place)?;
        }
        let KeptWork { references: kept, work } = found;
        if self.unfinished.is_some() {
            let at = Time { wall: call.world().now().milliseconds(), machine: call.world().uptime() };
            let event = Event::Abandoned { milestone: self.milestone.clone(), kept: kept.clone() };
            log.append(&Entry::new(at, event))?;
            for (id, _) in orders::waiting(&place.folder())? {
                orders::forget(&place.folder(), &id)?;
            }
            Control::clear(&place.folder())?;
        }
        if self.run.is_none() || self.unfinished.is_some() {
            disk::remove_note(&place.folder().resolve(BEGINNING))?;
        }
        let after = self.there(call, place)?;
        let removed = before.into_iter().filter(|one| !after.contains(one)).collect();
        let restore = work.map(|(reference, branch)| (typed!("git branch {} {}", branch, reference), reference));
        let report = self.report(call, place, &after, restore)?;
        Ok(AbandonReport { removed, kept, ..report })
    }

    /// Removes worktree, checkouts and branch, and returns what is kept of them.
    fn removed(&self, call: &Call, place: &RunPlace) -> Result<KeptWork, Failure> {
        let (world, name) = (call.world(), self.name());
        let at = world.now().milliseconds();
        let target = self.run.as_ref().map(|run| run.target.as_str());
        let repository = match Repository::open(world, &place.root, target) {
            Err(LandingError::NoBranch { .. }) => Repository::open(world, &place.root, None)?,
            opened => opened?,
        };
        let is_in_phases = self.worktree.is_within(&place.root.resolve(phases::FOLDER));
        let repository = repository.with_documents(if is_in_phases { phases::FOLDER } else { lookup::FOLDER });
        let folders = [self.worktree.clone(), scratch_of(&self.worktree), checkout_of(&self.worktree)];
        folders.iter().try_for_each(|folder| repository.check_place(folder))?;
        leftovers::settle_git(world, &repository, (&self.worktree, &self.branch))?;
        leftovers::remove_files(&repository, &self.worktree, &place.folder())?;
        let worktree = Worktree { folder: self.worktree.clone(), branch: Some(self.branch.clone()) };
        if is_in_phases
            && disk::is_folder(&self.worktree)
            && let Err(error) = repository.reclaim(&worktree)
        {
            call.warn(format!("commits of the last session were not taken over: {error}"));
        }
        if let Some(run) = &self.run {
            repository.retire_checkpoints(&run.id, at)?;
        }
        repository.remove_checkout(&scratch_of(&self.worktree))?;
        repository.remove_checkout(&checkout_of(&self.worktree))?;
        let base = self.run.as_ref().map(|run| commit_of(&run.base)).transpose()?;
        let kept = match repository.give_up(&worktree, base.as_ref(), (&name, at))? {
            Release::Removed { kept, .. } => kept,
            Release::Held { left_out, .. } => {
                let left: Vec<String> = left_out.iter().map(|file| file.path.to_string()).collect();
                let message =
                    format!("the worktree has ignored files that are too large to be kept: {}", left.join(", "));
                let remove = typed!("git worktree remove --force --force {}", self.worktree);
                let again = typed!("gsd-tools auto abandon {}", self.milestone);
                let hint = format!("copy what you need of them, run `{remove}`, then `{again}`");
                return Err(Failure::usage(message).hint(hint));
            }
        };
        let all = repository.kept_under(&name)?;
        // A call that was killed may have kept it before. The commit of the files has the head as its parent.
        let made: Vec<&str> = kept.iter().map(|kept| kept.reference.as_str()).collect();
        let named = |part: &str, of: &[&str]| of.iter().find(|name| name.contains(part)).map(ToString::to_string);
        let listed: Vec<&str> = all.iter().rev().map(String::as_str).collect();
        let work = named("/files-", &listed).or_else(|| named("/head-", &made)).or_else(|| named("/head-", &listed));
        let free = |number: usize| match number {
            1 => format!("{}-kept", self.milestone),
            number => format!("{}-kept-{number}", self.milestone),
        };
        let mut branch = free(1);
        for number in 2..100 {
            if repository.branch(&branch)?.is_none() {
                break;
            }
            branch = free(number);
        }
        Ok(KeptWork { references: all, work: work.map(|reference| (reference, branch)) })
    }

    fn report(
        &self,
        call: &Call,
        place: &RunPlace,
        after: &[String],
        restore: Option<(Typed, String)>,
    ) -> Result<AbandonReport, Failure> {
        let mut left: Vec<String> =
            after.iter().map(|one| format!("`{one}` is not of a worktree of this repository any more")).collect();
        if self.is_stranded {
            left.extend(folders_at(&self.worktree).iter().map(|folder| {
                format!(
                    "`{folder}` is of the repository that was here before: there is nothing that could be kept of it"
                )
            }));
        }
        let (restore, show) = match restore {
            Some((restore, reference)) => (Some(restore), Some(typed!("git show --stat {}", reference))),
            None => (None, None),
        };
        Ok(AbandonReport {
            milestone: self.milestone.clone(),
            ended: self.unfinished.is_some() && !call.is_rehearsal(),
            removed: if call.is_rehearsal() { self.there(call, place)? } else { Vec::new() },
            kept: Vec::new(),
            left,
            restore,
            show,
            dry_run: call.is_rehearsal(),
            next: self.next(),
        })
    }

    /// The command that begins again.
    fn next(&self) -> Typed {
        let given = self.run.as_ref().and_then(|run| run.given.as_ref());
        match (given, self.run.as_ref().is_none_or(|run| run.brief.is_some())) {
            (Some(given), _) => typed!("gsd-tools auto run --brief {}", given.file),
            (None, true) if !self.branch.ends_with("/work") => Typed::from("gsd-tools auto run --brief BRIEF.md"),
            (None, _) => Typed::from("gsd-tools auto run"),
        }
    }
}
