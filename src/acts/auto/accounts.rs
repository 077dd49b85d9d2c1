//! The accounts of runs on this computer: of a project, and of all projects for a forecast.

use super::place::RunPlace;
use crate::acts::Call;
use crate::auto::account::summary::{ChangedLines, RunSummary};
use crate::auto::account::{RunAccount, accounts};
use crate::auto::event::Entry;
use crate::auto::slices::derive::Scope;
use crate::auto::slices::reading::{self, Extent};
use crate::disk;
use crate::disk::log::read_log;
use crate::failure::Failure;
use crate::project::auto_run::LOG;
use crate::project::local_state::LocalState;
use crate::text::terminal::plain;

/// How many landed runs a forecast is made from, the newest ones.
const MOST: usize = 12;

/// How many landed runs of a project make those of other projects unnecessary.
const ENOUGH: usize = 3;

/// The most bytes of another project's log that are read for a forecast.
const LARGEST: u64 = 32 << 20;

/// The runs in the log of a project that worked in the repository that is here, the oldest first.
pub(crate) fn of_place(place: &RunPlace) -> Result<Vec<RunAccount>, Failure> {
    of_entries(place, &place.entries()?)
}

/// As [`of_place`], from the entries of the log.
pub(crate) fn of_entries(place: &RunPlace, entries: &[Entry]) -> Result<Vec<RunAccount>, Failure> {
    let mut accounts = accounts(entries);
    let landed = |account: &'_ RunAccount| account.landing.as_ref().map(|landing| landing.commit.clone());
    let landings: Vec<Option<String>> = accounts.iter().map(landed).collect();
    let runs: Vec<_> =
        accounts.iter().zip(&landings).map(|(account, landed)| (&account.run, landed.as_deref())).collect();
    let here = place.is_here(&runs)?;
    accounts.retain(|account| here.contains(&account.run.id));
    Ok(accounts)
}

/// Earlier runs for a forecast.
#[derive(Debug, Default)]
pub(crate) struct EarlierRuns {
    pub(crate) accounts: Vec<RunAccount>,
    /// Whether all of them are of this project.
    pub(crate) of_project: bool,
}

/// The newest landed runs with this client and model: of the project if it has a few, else of all projects.
pub(crate) fn earlier(
    call: &Call,
    place: &RunPlace,
    client: &str,
    model: Option<&str>,
) -> Result<EarlierRuns, Failure> {
    let is_like = |account: &RunAccount| {
        let run = &account.run;
        account.landing.is_some() && run.runner == client && run.means.model.as_deref() == model
    };
    let mut own: Vec<RunAccount> = of_place(place)?.into_iter().filter(is_like).collect();
    if own.len() >= ENOUGH {
        own.drain(..own.len().saturating_sub(MOST));
        return Ok(EarlierRuns { accounts: own, of_project: true });
    }
    let mut all = own;
    let own_log = place.log();
    for log in call.world().state_folder().map(|folder| LocalState::all(&folder, LOG)).transpose()?.unwrap_or_default()
    {
        if log == own_log || disk::size(&log).is_none_or(|size| size > LARGEST) {
            continue;
        }
        // A log that cannot be read is the concern of its project.
        let Ok(Some(found)) = read_log::<Entry>(&log) else { continue };
        all.extend(accounts(&found.entries).into_iter().filter(is_like));
    }
    all.sort_by_key(|account| account.latest);
    all.drain(..all.len().saturating_sub(MOST));
    Ok(EarlierRuns { accounts: all, of_project: false })
}

/// A run at a glance, with what git knows of its landing.
pub(crate) fn summary(call: &Call, place: &RunPlace, account: &RunAccount) -> Result<RunSummary, Failure> {
    titled(call, place, account, title(call, place, account))
}

/// As [`summary`], with the title of its milestone.
pub(crate) fn titled(
    call: &Call,
    place: &RunPlace,
    account: &RunAccount,
    title: Option<String>,
) -> Result<RunSummary, Failure> {
    let mut summary = RunSummary::of(account, title);
    if let Some(landing) = &mut summary.landing {
        let base = account.memory.candidate.as_ref().map_or(&account.run.base, |candidate| &candidate.base);
        landing.subject = subject(call, place, &landing.commit)?;
        landing.changes = changed_lines(call, place, base, &landing.commit)?;
    }
    Ok(summary)
}

/// The title of the milestone in the documents of its run, which a plan may have changed.
fn title(call: &Call, place: &RunPlace, account: &RunAccount) -> Option<String> {
    let milestone = &account.run.milestone;
    if account.run.is_in_phases() {
        return None;
    }
    let files = RunPlace::files_at(call, &place.documents(&account.memory));
    let scope = Scope { milestone: Some(milestone.clone()), slice: None };
    let snapshot = reading::snapshot(files.as_ref(), Extent::Active(&scope));
    let title = snapshot.milestone(milestone).map(|found| found.title.clone());
    title.filter(|title| !title.is_empty() && title != milestone)
}

/// The subject of a commit; `None` if the repository does not have it.
pub(crate) fn subject(call: &Call, place: &RunPlace, commit: &str) -> Result<Option<String>, Failure> {
    let line = ["show", "--no-patch", "--no-show-signature", "--format=%s", "--end-of-options", commit];
    let answer = call.world().git(place.root.as_path(), line)?;
    Ok(answer.success().then(|| plain(answer.text().trim())).filter(|subject| !subject.is_empty()))
}

/// How much changed between two commits; `None` if the repository does not have them.
pub(crate) fn changed_lines(
    call: &Call,
    place: &RunPlace,
    base: &str,
    commit: &str,
) -> Result<Option<ChangedLines>, Failure> {
    let line = ["diff-tree", "-r", "--numstat", "--no-renames", "--no-ext-diff", "--end-of-options", base, commit];
    let answer = call.world().git(place.root.as_path(), line)?;
    Ok(answer.success().then(|| ChangedLines::of_numstat(&answer.text())))
}
