//! What runs did: a run on one page, why a unit is where it is, and what it changed.

use schemars::JsonSchema;
use serde::Serialize;

use super::accounts::{changed_lines, of_place, summary};
use super::place::RunPlace;
use crate::acts::{Call, project};
use crate::auto::account::page::{RunPage, Titles, UnitPage};
use crate::auto::account::summary::ChangedLines;
use crate::auto::account::{LoggedMoment, RunAccount, UnitAccount};
use crate::auto::report::markdown;
use crate::auto::slices::outline::MilestoneOutline;
use crate::auto::slices::reading::{self, Extent};
use crate::auto::slices::snapshot::Snapshot;
use crate::auto::status::questions_of;
use crate::failure::{Failure, Reason};
use crate::text::shell::typed;
use crate::text::terminal::one_line;

/// How many lines of the diff of a unit are on a page.
const LINES: usize = 400;

/// What a unit changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UnitDiffReport {
    /// The unit, or what has several of them.
    pub(crate) unit: String,
    /// The commits between which it is.
    pub(crate) base: String,
    pub(crate) commit: String,
    pub(crate) changes: ChangedLines,
    /// The paths that differ, those of the project before those of the planning folder.
    pub(crate) files: Vec<String>,
    pub(crate) diff: String,
}

/// Why a unit is where it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WhyReport {
    #[serde(flatten)]
    pub(crate) page: UnitPage,
    /// What the log has about it, in order.
    pub(crate) timeline: Vec<LoggedMoment>,
    /// The command that continues the run, if it is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// The run that a call means: the last one, or the last one of a milestone, or the one with this identifier.
pub(crate) fn account_of(place: &RunPlace, asked: Option<&str>) -> Result<RunAccount, Failure> {
    let mut accounts = of_place(place)?;
    let is_it = |account: &RunAccount| {
        asked.is_none_or(|asked| {
            account.run.id.eq_ignore_ascii_case(asked) || account.run.milestone.eq_ignore_ascii_case(asked)
        })
    };
    if let Some(found) = accounts.iter().rposition(is_it) {
        return Ok(accounts.swap_remove(found));
    }
    let runs: Vec<&str> = accounts.iter().map(|account| account.run.id.as_str()).collect();
    Err(match asked {
        Some(asked) if !runs.is_empty() => {
            Failure::new(Reason::Usage, format!("there is no run `{}`", one_line(asked)))
                .hint(format!("the runs here are {}", runs.join(", ")))
        }
        _ => Failure::new(Reason::Usage, "no run was started in this project")
            .hint("start one: `gsd-tools auto run --brief FILE`"),
    })
}

/// A run on one page.
pub(crate) fn page(call: &Call, asked: Option<&str>, with_diffs: bool) -> Result<RunPage, Failure> {
    let place = RunPlace::of(call)?;
    let account = account_of(&place, asked)?;
    let is_held = place.holder(call.disk(), &account.memory)?.is_some();
    let titles = titles(call, &place, &account)?;
    let mut page = RunPage::of(&account, summary(call, &place, &account)?, is_held, &titles);
    for unit in page.units.iter_mut().filter(|_| with_diffs) {
        if let Some(commit) = &unit.account.commit {
            let base = format!("{commit}^");
            unit.changes = changed_lines(call, &place, &base, commit)?;
            unit.diff = diff_between(call, &place, &base, commit)?.map(|diff| cut(&diff));
        }
    }
    if !account.is_over() && !account.run.is_in_phases() {
        page.questions = questions_of(&snapshot(call, &place, &account));
    }
    Ok(page)
}

/// The run on one page for its pull request, in Markdown. Folders of this computer are not named in it.
pub(crate) fn of_request(call: &Call, run: &str) -> Result<String, Failure> {
    let place = RunPlace::of(call)?;
    let mut page = page(call, Some(run), false)?;
    (page.state, page.stop) = ("proposed", None);
    let home = call.world().home().map(|home| home.to_string_lossy().into_owned());
    let places = [(Some(place.root.to_string()), "./"), (home, "~/")];
    let hidden = |text: String, (folder, short): (Option<String>, &str)| match folder {
        Some(folder) if folder.len() > 1 => text.replace(&format!("{}/", folder.trim_end_matches('/')), short),
        _ => text,
    };
    Ok(places.into_iter().fold(markdown::page(&page), hidden))
}

/// Why a unit is where it is.
pub(crate) fn why(call: &Call, unit: &str) -> Result<WhyReport, Failure> {
    let place = RunPlace::of(call)?;
    let account = account_of(&place, None)?;
    let found = one_unit(&account, unit)?;
    let titles = titles(call, &place, &account)?;
    let page = RunPage::of(&account, summary(call, &place, &account)?, false, &titles);
    let page = page.units.into_iter().rfind(|page| page.account.unit == found.unit);
    let page = page.ok_or_else(|| no_unit(&account, unit))?;
    let end = found.sessions.iter().map(|session| session.began).max().unwrap_or(found.began);
    let after = account.units.iter().map(|unit| unit.began).filter(|began| *began > end).min().unwrap_or(i64::MAX);
    let timeline = account.timeline.iter().filter(|moment| (found.began..after).contains(&moment.at));
    let stop = account.memory.stop.as_ref().filter(|_| !account.is_over());
    Ok(WhyReport { timeline: timeline.cloned().collect(), next: stop.map(|stop| stop.next.to_string()), page })
}

/// What a unit changed, or all units below it; without one, what waits to land, or all that the run has changed.
pub(crate) fn diff(call: &Call, unit: Option<&str>) -> Result<UnitDiffReport, Failure> {
    let place = RunPlace::of(call)?;
    let account = account_of(&place, None)?;
    let memory = &account.memory;
    if let (None, Some(candidate)) = (unit, memory.candidate.as_ref().or(memory.waiting.as_ref())) {
        let (base, commit) = (candidate.base.clone(), candidate.commit.clone());
        if let Some(diff) = diff_between(call, &place, &base, &commit)? {
            let changes = changed_lines(call, &place, &base, &commit)?.unwrap_or_default();
            let files = files_between(call, &place, &base, &commit)?;
            return Ok(UnitDiffReport { unit: account.run.milestone.clone(), base, commit, changes, files, diff });
        }
    }
    let (found, unit) = match unit {
        Some(unit) => (units(&account, unit), unit),
        None => (account.units.iter().collect(), account.run.milestone.as_str()),
    };
    if found.is_empty() {
        return Err(no_unit(&account, unit));
    }
    let commits: Vec<&String> = found.iter().filter_map(|unit| unit.commit.as_ref()).collect();
    let (Some(first), Some(last)) = (commits.first(), commits.last()) else {
        let path = &account.run.worktree;
        return Err(Failure::new(Reason::Usage, format!("nothing of `{}` is committed yet", one_line(unit))).hint(
            format!("its work so far is in `{path}`; `{}` shows its attempts", typed!("gsd-tools auto why {}", unit)),
        ));
    };
    let base = format!("{first}^");
    let gone = || {
        Failure::new(Reason::Usage, format!("this repository no longer has the commit `{last}`"))
            .hint("commits of units are kept for 30 days after the landing; `gsd-tools auto report` shows what landed")
    };
    let changes = changed_lines(call, &place, &base, last)?.ok_or_else(gone)?;
    let diff = diff_between(call, &place, &base, last)?.ok_or_else(gone)?;
    let files = files_between(call, &place, &base, last)?;
    Ok(UnitDiffReport { unit: unit.to_owned(), base, commit: (*last).clone(), changes, files, diff })
}

/// The units of a run that words mean: `execute-task M001/S01/T01`, its identifier, or what has it.
fn units<'a>(account: &'a RunAccount, asked: &str) -> Vec<&'a UnitAccount> {
    let id = asked.rsplit(' ').next().unwrap_or(asked);
    let kind = asked.split_once(' ').map(|(kind, _)| kind);
    let is_it = |unit: &&UnitAccount| {
        let own = &unit.unit.id;
        let is_below = own.len() > id.len()
            && own.get(..id.len()).is_some_and(|start| start.eq_ignore_ascii_case(id))
            && own.get(id.len()..).is_some_and(|rest| rest.starts_with('/'));
        (own.eq_ignore_ascii_case(id) || is_below) && kind.is_none_or(|kind| kind == unit.unit.kind.word())
    };
    account.units.iter().filter(is_it).collect()
}

fn one_unit<'a>(account: &'a RunAccount, asked: &str) -> Result<&'a UnitAccount, Failure> {
    let id = asked.rsplit(' ').next().unwrap_or(asked);
    let found = units(account, asked);
    let exact = found.iter().rfind(|unit| unit.unit.id.eq_ignore_ascii_case(id)).or(found.last());
    exact.copied().ok_or_else(|| no_unit(account, asked))
}

fn no_unit(account: &RunAccount, asked: &str) -> Failure {
    let known: Vec<String> = account.units.iter().map(|unit| format!("`{}`", unit.unit)).collect();
    let failure = Failure::new(Reason::Usage, format!("the run has no unit `{}`", one_line(asked)));
    match known.len() {
        0 => failure.hint("no unit was begun; `gsd-tools auto status` shows what is next"),
        1..=20 => failure.hint(format!("its units are {}", known.join(", "))),
        _ => failure.hint("`gsd-tools auto report` lists its units"),
    }
}

/// The diff between two commits; `None` if the repository does not have them.
fn diff_between(call: &Call, place: &RunPlace, base: &str, commit: &str) -> Result<Option<String>, Failure> {
    let line = ["diff-tree", "-r", "--patch", "--no-ext-diff", "--no-textconv", "--end-of-options", base, commit];
    let answer = call.world().git(place.root.as_path(), line)?;
    Ok(answer.success().then(|| answer.text()))
}

fn files_between(call: &Call, place: &RunPlace, base: &str, commit: &str) -> Result<Vec<String>, Failure> {
    let line = ["diff-tree", "-r", "--name-only", "-z", "--end-of-options", base, commit];
    let answer = call.world().git(place.root.as_path(), line)?;
    let paths = answer.text();
    let mut files: Vec<String> = paths.split('\0').filter(|path| !path.is_empty()).map(one_line).collect();
    files.sort_by_key(|path| path.starts_with('.'));
    Ok(files)
}

fn cut(diff: &str) -> String {
    let mut lines: Vec<&str> = diff.lines().take(LINES + 1).collect();
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("... more lines");
    }
    lines.join("\n") + "\n"
}

fn snapshot(call: &Call, place: &RunPlace, account: &RunAccount) -> Snapshot {
    let files = RunPlace::files_at(call, &place.documents(&account.memory));
    reading::snapshot(files.as_ref(), Extent::All)
}

/// The titles of the run's slices, phases and tasks.
fn titles(call: &Call, place: &RunPlace, account: &RunAccount) -> Result<Titles, Failure> {
    let mut titles = Titles::new();
    if account.run.is_in_phases() {
        let view = project::view_at(call, &place.documents(&account.memory))();
        for unit in &account.units {
            titles.extend(view.label(&unit.unit.id)?.name.map(|name| (unit.unit.id.clone(), name)));
        }
        return Ok(titles);
    }
    let milestone = &account.run.milestone;
    let files = RunPlace::files_at(call, &place.documents(&account.memory));
    for slice in MilestoneOutline::read(files.as_ref(), milestone)?.slices {
        let id = format!("{milestone}/{}", slice.id);
        titles.extend(slice.tasks.iter().map(|task| (format!("{id}/{}", task.id), one_line(&task.title))));
        titles.insert(id, one_line(&slice.title));
    }
    Ok(titles)
}
