//! Where a run begins or continues: its repository, its worktree, and what a person has to approve first.

use crate::acts::user;
use std::collections::BTreeSet;

use super::brief::{BriefRead, continues_or_ends, keep_brief, read_brief};
use super::card::{CardSubject, Consent, Consenting, StartCard, card};
use super::how::How;
use super::places::{check_places, checkout_of, scratch_of};
use super::planned::{milestone_in_phases, milestone_of, planning_is_committed};
use super::preferred::{check_preferences, preferences_are_committed, tell_of_others};
use super::queue;
use super::request::{RunRequest, unfinished};
use crate::acts::Call;
use crate::acts::auto::approvals::{Question, approve, known};
use crate::acts::auto::brought::RunQuestion;
use crate::acts::auto::held_out;
use crate::acts::auto::phases::SeenPhases;
use crate::acts::auto::place::{BEGINNING, Preferred, RunPlace};
use crate::acts::auto::seen::Seen;
use crate::acts::user::shown;
use crate::auto::asked::StartFacts;
use crate::auto::brought::Brought;
use crate::auto::ceilings::Ceilings;
use crate::auto::environments::Environments;
use crate::auto::event::{ENGINE, Event, Means, Run};
use crate::auto::expected::Expected;
use crate::auto::held_out::HeldOut;
use crate::auto::landing::error::LandingError;
use crate::auto::landing::id::Commit;
use crate::auto::landing::repository::Repository;
use crate::auto::landing::worktree::Worktree;
use crate::auto::layout::Layout as DocumentLayout;
use crate::auto::memory::Memory;
use crate::auto::real::leftovers;
use crate::auto::set_up::SetUp;
use crate::auto::slices::derive::Scope;
use crate::auto::slices::forecast;
use crate::auto::slices::reading::{self, Extent};
use crate::auto::stop::{Cause, Stop};
use crate::disk::{self, AbsolutePath, DiskError};
use crate::failure::Failure;
use crate::project::self_running::SelfRunning;
use crate::text::shell::typed;
use crate::world::World;
use crate::world::fence::Openings;

/// Where a run works, and for which milestone.
pub(crate) struct Start {
    pub(crate) milestone: String,
    pub(crate) repository: Repository,
    pub(crate) worktree: Worktree,
    pub(crate) brief: Option<(String, String)>,
    pub(crate) held_out: Option<HeldOut>,
    pub(crate) openings: Openings,
    /// The checks that run without a fence; `None` if there is one.
    pub(crate) approved: Option<BTreeSet<String>>,
    /// The installed packages that are brought to worktrees.
    pub(crate) environments: Environments,
    /// The first entry of a new run.
    pub(crate) run: Option<Run>,
}

/// The result of beginning a run.
pub(crate) enum Begun {
    Started(Box<Start>),
    /// What the repository brings for this milestone is not approved.
    NotApproved(String, Stop),
    /// A person did not want the run.
    NotWanted(Box<StartCard>, Consent),
    /// Another process is to run this milestone.
    Elsewhere(String),
}

/// The input for beginning or continuing a run.
pub(crate) struct Opening<'a> {
    pub(crate) place: &'a RunPlace,
    pub(crate) memory: &'a Memory,
    pub(crate) request: &'a RunRequest,
    pub(crate) brief: Option<&'a BriefRead>,
    pub(crate) layout: &'a DocumentLayout,
    pub(crate) how: &'a How,
    pub(crate) ceilings: Ceilings,
    pub(crate) preferred: &'a Preferred,
    pub(crate) set_up: &'a SetUp,
    pub(crate) running: &'a SelfRunning,
    pub(crate) consenting: Consenting<'a>,
}

/// What a person approved, or approves by starting the run.
pub(crate) struct Approved {
    /// The checks that run without a fence; `None` if there is one.
    pub(crate) unfenced: Option<BTreeSet<String>>,
    /// What of the repository will run, one line each.
    pub(crate) runs: Vec<String>,
}

impl Opening<'_> {
    /// The log entry for a run that begins or continues.
    pub(crate) fn event(&self, start: &Start, world: &World) -> Event {
        let how = self.how;
        match &start.run {
            Some(run) => Event::Started(run.clone()),
            None => Event::Resumed {
                engine: ENGINE,
                process: world.process(),
                runner: how.driver.runner.name.clone(),
                profile: how.driver.profile.word().to_owned(),
                ceilings: self.ceilings,
                allowed_keys: self.request.how.allow_key.clone(),
                fenced: Some(how.wants_fence),
                reviewed: self.request.how.reviewed.clone(),
                means: Means { environments: start.environments.clone(), ..how.means.clone() },
            },
        }
    }

    /// Returns the installed packages that are brought to the worktrees of a run whose work is at `commit`.
    fn environments(&self, repository: &Repository, commit: &Commit) -> Result<Environments, Failure> {
        if !self.preferred.document.worktree_environments {
            return Ok(Environments::default());
        }
        let tracked = repository.paths(&repository.tree_of(commit)?)?;
        Ok(Environments::of(repository, &tracked, self.set_up, self.how.driver.is_fenced)?)
    }

    /// Has a person approve what the repository brings for a run that begins, or began, with the commit `base`.
    pub(crate) fn approved(
        &self,
        call: &Call,
        repository: &Repository,
        (milestone, base): (&str, &str),
    ) -> Result<Result<Approved, Stop>, Failure> {
        let (runner, is_fenced) = (&self.how.driver.runner, self.how.driver.is_fenced);
        let asking = RunQuestion {
            repository,
            layout: self.layout,
            milestone,
            preferred: self.preferred,
            set_up: self.set_up,
            runner,
            running: self.running,
            leaves_settings_out: self.how.means.without_settings,
        };
        let mut items = asking.in_commit(base)?;
        let has_begun = unfinished(self.memory).is_some();
        if !is_fenced && has_begun {
            // Also what its planners wrote, and what the target has now.
            let documents = self.place.documents(self.memory);
            items.extend(asking.in_worktree(RunPlace::files_at(call, &documents).as_ref())?);
            let tip = repository.tip()?.to_string();
            if tip != base {
                items.extend(asking.in_commit(&tip)?);
            }
        }
        let (brought, known) = (Brought::new(items), known(self.place)?);
        // What the earlier run landed needs no approval.
        let before = self.memory.candidate.as_ref().filter(|_| self.memory.landed.is_some() && !has_begun);
        let landed = match before.filter(|_| !brought.without(&known).is_empty()) {
            Some(candidate) => {
                let earlier: BTreeSet<String> = Brought::new(asking.in_commit(&candidate.base)?).digests().collect();
                Brought::new(asking.in_commit(&candidate.commit)?).without(&earlier).digests().collect()
            }
            None => BTreeSet::new(),
        };
        let next = self.request.command();
        let can_leave_out = !runner.without_project_settings.is_empty();
        let question = Question { client: &runner.title, can_leave_out, next: &next };
        let stop = if self.request.how.only_shows {
            None
        } else {
            approve(call, self.place, (&brought, &known, &landed), question)?
        };
        Ok(match stop {
            Some(stop) => Err(stop),
            None => {
                Ok(Approved { unfenced: (!is_fenced).then(|| asking.approved_checks(&brought)), runs: brought.lines() })
            }
        })
    }
}

/// Enters the worktree of the unfinished run, or of a new one.
pub(crate) fn started(call: &Call, opening: &Opening<'_>) -> Result<Begun, Failure> {
    let Opening { place, memory, request, layout, how, preferred, .. } = *opening;
    let world = &call.world().clone();
    let unfinished = unfinished(memory);
    let asked = request.milestone.as_deref();
    if let (Some(run), Some(asked)) = (unfinished, asked)
        && !run.milestone.eq_ignore_ascii_case(asked)
    {
        let message = format!("the run of {} is not finished", run.milestone);
        return Err(Failure::usage(message).hint(continues_or_ends(&run.milestone)));
    }
    let target = request.how.target.as_deref().or(unfinished.map(|run| run.target.as_str()));
    let repository = Repository::open(world, &place.root, target)?.with_documents(layout.folder());
    let is_in_phases = matches!(layout, DocumentLayout::Phases(_));
    let (target, model) = (repository.target().branch.as_str(), how.means.model.as_deref());
    check_preferences(call, preferred, StartFacts { target, model, is_in_phases }, unfinished.is_some())?;
    if unfinished.is_some() && memory.landed.is_none() {
        tell_of_others(call, place, memory)?;
    }
    let held_out = held_out::of(call, &repository, preferred, &how.driver)?;
    let hidden = held_out.as_ref().map(HeldOut::hidden);
    let openings = user::openings(call.world())?;
    if let Some(opened) = shown(&openings).filter(|_| how.driver.is_fenced) {
        call.tell(format!("Your preferences open in the fence: {opened}"));
    }
    let hidden = hidden.as_ref().map(<[_; 2]>::as_slice).unwrap_or_default();
    let repository = repository.hiding(world, hidden, &openings)?;
    match unfinished {
        Some(run) => continued(call, opening, run, (repository, held_out, openings)),
        None => begun(call, opening, (repository, held_out, openings)),
    }
}

/// Enters the worktree of the unfinished run.
pub(crate) fn continued(
    call: &Call,
    opening: &Opening<'_>,
    run: &Run,
    (repository, held_out, openings): (Repository, Option<HeldOut>, Openings),
) -> Result<Begun, Failure> {
    let Opening { place, memory, .. } = *opening;
    let start = commit_of(&run.base)?;
    if repository.tree_of(&start).is_err() {
        return Err(of_another_repository(run));
    }
    // A landed run only has to be cleaned up.
    let mut approved = None;
    if memory.landed.is_none() {
        match opening.approved(call, &repository, (&run.milestone, &run.base))? {
            Ok(found) if opening.request.how.only_shows => {
                if let Err((card, consent)) = expected(call, opening, (&run.milestone, &repository), found.runs)? {
                    return Ok(Begun::NotWanted(card, consent));
                }
            }
            Ok(_) if opening.request.how.detaches => return Ok(Begun::Elsewhere(run.milestone.clone())),
            Ok(found) => approved = found.unfenced,
            Err(stop) => return Ok(Begun::NotApproved(run.milestone.clone(), stop)),
        }
    }
    let folder = AbsolutePath::parse(&run.worktree).map_err(DiskError::from)?;
    check_places(&repository, &folder)?;
    if memory.stop.as_ref().is_none_or(|stop| stop.cause == Cause::GitFailed) {
        leftovers::settle_git(call.world(), &repository, (&folder, &run.branch))?;
    }
    leftovers::remove_files(&repository, &folder, &place.folder())?;
    let worktree = if memory.landed.is_some() {
        // It only has to be removed, which may be half done.
        Worktree { folder, branch: Some(run.branch.clone()) }
    } else {
        repository.enter(&folder, &run.branch, &start, &run.milestone)?.worktree
    };
    let brief = run.brief.clone().map(|path| read_brief(place, &path)).transpose()?;
    let milestone = run.milestone.clone();
    let head = repository.branch(&run.branch)?.unwrap_or(start);
    let environments = opening.environments(&repository, &head)?;
    let run = None;
    Ok(Begun::Started(Box::new(Start {
        milestone,
        repository,
        worktree,
        brief,
        held_out,
        openings,
        approved,
        environments,
        run,
    })))
}

/// Enters a worktree for a new run.
pub(crate) fn begun(
    call: &Call,
    opening: &Opening<'_>,
    (repository, held_out, openings): (Repository, Option<HeldOut>, Openings),
) -> Result<Begun, Failure> {
    let Opening { place, request, layout, how, .. } = *opening;
    let world = &call.world().clone();
    let note = place.folder().resolve(BEGINNING);
    let asked = request.milestone.as_deref();
    if disk::canonical(&place.root)? != *repository.root() {
        let (project, root) = (place.root.clone(), repository.root().clone());
        return Err(LandingError::BelowRoot { project, root }.into());
    }
    repository.check_filters()?;
    repository.check_landing()?;
    let given = opening.brief;
    let milestone = match layout {
        DocumentLayout::Milestones => milestone_of(&Seen::of(call)?, asked, given.is_some())?,
        DocumentLayout::Phases(_) => milestone_in_phases(call, place, asked, given.is_some())?,
    };
    planning_is_committed(call, &repository, layout)?;
    let folder = repository.root().resolve(format!("{}/worktrees/{milestone}", layout.folder()));
    check_places(&repository, &folder)?;
    let branch = layout.branch(&milestone);
    if !request.how.only_shows {
        leftovers::settle_git(world, &repository, (&folder, &branch))?;
        leftovers::remove_files(&repository, &folder, &place.folder())?;
    }
    let is_noted = disk::read_text(&note)?.is_some_and(|noted| noted == branch);
    repository.check_names(&branch, &[folder.clone(), scratch_of(&folder), checkout_of(&folder)], is_noted)?;
    let hooks = repository.idle_hooks()?;
    if !hooks.is_empty() {
        call.tell(format!("Hooks of this repository do not run here, the landing included: {}", hooks.join(", ")));
    }
    let base = repository.tip()?;
    preferences_are_committed(call, &repository, &base)?;
    let approved = match opening.approved(call, &repository, (&milestone, base.as_str()))? {
        Ok(approved) => approved,
        Err(stop) => return Ok(Begun::NotApproved(milestone, stop)),
    };
    let (expected, sessions) = match expected(call, opening, (&milestone, &repository), approved.runs)? {
        Ok(found) => found,
        Err((card, consent)) => return Ok(Begun::NotWanted(card, consent)),
    };
    if request.how.detaches {
        return Ok(Begun::Elsewhere(milestone));
    }
    let approved = approved.unfenced;
    let brief = given.map(|brief| keep_brief(place, brief.text.clone())).transpose()?;
    disk::write_fleeting(&note, branch.as_bytes())?;
    let entered = repository.enter(&folder, &branch, &base, &milestone)?;
    let environments = opening.environments(&repository, &base)?;
    let run = Run {
        id: format!("{milestone}-{}", world.now().milliseconds()),
        engine: ENGINE,
        process: world.process(),
        milestone: milestone.clone(),
        target: repository.target().branch.clone(),
        base: base.to_string(),
        branch,
        worktree: folder.to_string(),
        runner: how.driver.runner.name.clone(),
        profile: how.driver.profile.word().to_owned(),
        fenced: how.wants_fence,
        means: Means { environments: environments.clone(), ..how.means.clone() },
        brief: brief.as_ref().map(|(path, _)| path.clone()),
        given: given.map(|brief| brief.given.clone()),
        forecast: u32::try_from(sessions).unwrap_or(u32::MAX),
        expected: Some(expected),
        ceilings: opening.ceilings,
        allowed_keys: request.how.allow_key.clone(),
    };
    let worktree = entered.worktree;
    let run = Some(run);
    Ok(Begun::Started(Box::new(Start {
        milestone,
        repository,
        worktree,
        brief,
        held_out,
        openings,
        approved,
        environments,
        run,
    })))
}

/// The card of a run that a person does not want, or only wants to see.
type Unwanted = (Box<StartCard>, Consent);

/// What is expected of a run, with the number of its sessions; its card if a person does not want it.
fn expected(
    call: &Call,
    opening: &Opening<'_>,
    (milestone, repository): (&str, &Repository),
    runs: Vec<String>,
) -> Result<Result<(Expected, usize), Unwanted>, Failure> {
    let Opening { place, memory, request, layout, how, ceilings, .. } = *opening;
    let (forecast, queued) = match layout {
        DocumentLayout::Milestones => {
            let scope = Scope { milestone: Some(milestone.to_owned()), slice: None };
            let documents = unfinished(memory).map_or_else(|| place.root.clone(), |_| place.documents(memory));
            let snapshot = reading::snapshot(RunPlace::files_at(call, &documents).as_ref(), Extent::Active(&scope));
            let shape = request.how.shape.unwrap_or_default();
            let seen = Seen::of(call)?;
            (forecast::of(&snapshot, milestone, &seen.preferences, shape), queue::waiting(&seen, milestone))
        }
        DocumentLayout::Phases(_) => (SeenPhases::of(call, place)?.forecast()?, Vec::new()),
    };
    let title = title(call, place, layout, milestone)?;
    let brief = opening.brief.map(|brief| brief.text.as_str());
    let target = &repository.target().branch;
    if !request.how.only_shows {
        // A card shows them only to a person.
        for waiting in queued.iter().filter(|waiting| waiting.needs_discussion) {
            call.tell(format!("Queued: {}", waiting.line));
        }
    }
    let queued = queued.into_iter().map(|waiting| waiting.line).collect();
    let forecast = &forecast;
    let channels = opening.preferred.messages.channels();
    let messages = channels.into_iter().map(|channel| format!("`{}`", channel.word())).collect();
    let subject = CardSubject {
        place,
        request,
        layout,
        how,
        ceilings,
        milestone,
        title,
        brief,
        target,
        forecast,
        messages,
        queued,
    };
    let (expected, card) = card(call, &subject, runs)?;
    Ok(match (opening.consenting)(&card)? {
        Consent::Given => Ok((expected, forecast.sessions())),
        consent => Err((Box::new(card), consent)),
    })
}

/// The title of a milestone in its documents.
fn title(call: &Call, place: &RunPlace, layout: &DocumentLayout, milestone: &str) -> Result<Option<String>, Failure> {
    Ok(match layout {
        DocumentLayout::Milestones => {
            let seen = Seen::of(call)?;
            let found = seen.snapshot.milestone(milestone).map(|milestone| milestone.title.clone());
            found.filter(|title| !title.is_empty() && title != milestone)
        }
        DocumentLayout::Phases(_) => SeenPhases::of(call, place)?.view.milestone()?.name,
    })
}

pub(crate) fn commit_of(name: &str) -> Result<crate::auto::landing::id::Commit, Failure> {
    let commit = crate::auto::landing::id::Commit::parse(name);
    commit.ok_or_else(|| Failure::usage(format!("the log has `{name}` where a commit should be")))
}

/// The refusal of a run whose repository was removed and replaced by another one.
pub(crate) fn of_another_repository(run: &Run) -> Failure {
    let base = run.base.get(..12).unwrap_or(&run.base);
    let message = format!("the run of {} began in another repository: this one has no commit {base}", run.milestone);
    let end = typed!("gsd-tools auto abandon {}", run.milestone);
    Failure::usage(message).hint(format!("if that repository is gone, end its run: `{end}`"))
}
