//! A run on one page: the answer of `auto report`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::summary::{ChangedLines, RunSummary};
use super::{CheckAccount, LoggedMoment, PersonsDecision, RunAccount, Totals, UnitAccount};
use crate::auto::status::QuestionRow;
use crate::auto::stop::Stop;
use crate::auto::unit::UnitKind;

/// A run on one page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RunPage {
    pub(crate) summary: RunSummary,
    /// `landed`, `running`, `waiting`, `stopped`, `interrupted` or `abandoned`.
    pub(crate) state: &'static str,
    /// The client, and the version that it reported.
    pub(crate) client: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    pub(crate) profile: String,
    /// Whether sessions and checks were kept from writing elsewhere.
    pub(crate) fenced: bool,
    /// Why it stopped, and the command that continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop: Option<Stop>,
    /// Sessions of each kind of unit: forecast and actual.
    pub(crate) kinds: Vec<KindRow>,
    /// The slices or phases in the order of their first units, with what they took.
    pub(crate) slices: Vec<SliceAccount>,
    pub(crate) units: Vec<UnitPage>,
    pub(crate) timeline: Vec<LoggedMoment>,
    pub(crate) decisions: Vec<PersonsDecision>,
    /// Questions without an answer.
    pub(crate) questions: Vec<QuestionRow>,
    /// The checks of the commit that landed, or of the last candidate.
    pub(crate) checks: Vec<CheckAccount>,
    /// The check that no session can read, by place.
    pub(crate) held_out: Vec<HeldOutAccount>,
}

/// Sessions of one kind of unit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct KindRow {
    pub(crate) kind: UnitKind,
    /// As forecast when the run began; left out by older programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) forecast: Option<usize>,
    #[serde(flatten)]
    pub(crate) totals: Totals,
}

/// A slice or a phase, and what it took.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SliceAccount {
    /// Such as `S01`, `phase 2` or `milestone`.
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(flatten)]
    pub(crate) totals: Totals,
}

/// A unit, and what it changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct UnitPage {
    #[serde(flatten)]
    pub(crate) account: UnitAccount,
    /// The title of its task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// Its slice, as in `slices`.
    pub(crate) slice: String,
    /// How much its commit changes; left out while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<ChangedLines>,
    /// Its diff, cut after a number of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
}

/// A run of the check that no session can read.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct HeldOutAccount {
    pub(crate) place: String,
    pub(crate) passed: bool,
    pub(crate) milliseconds: u64,
}

/// Titles of slices, phases and tasks, by their identifiers in units.
pub(crate) type Titles = BTreeMap<String, String>;

impl RunPage {
    /// Returns the page of a run. Diffs are added by the caller.
    pub(crate) fn of(account: &RunAccount, summary: RunSummary, is_held: bool, titles: &Titles) -> Self {
        let (run, memory) = (&account.run, &account.memory);
        let candidate = memory.candidate.as_ref().and_then(|candidate| candidate.evidence.as_ref());
        let held_out = memory.gates.held_out.iter().map(|(place, result)| HeldOutAccount {
            place: place.clone(),
            passed: result.passed,
            milliseconds: result.milliseconds,
        });
        Self {
            state: state(account, is_held),
            client: run.runner.clone(),
            client_version: run.means.client.clone(),
            model: run.means.model.clone().or_else(|| model_of(account)),
            profile: run.profile.clone(),
            fenced: run.fenced,
            stop: memory.stop.clone(),
            kinds: kinds(account),
            slices: slices(account, titles),
            units: account.units.iter().map(|unit| page_of(unit, titles)).collect(),
            timeline: account.timeline.clone(),
            decisions: account.decisions.clone(),
            questions: Vec::new(),
            checks: candidate.map(CheckAccount::all_of).unwrap_or_default(),
            held_out: held_out.collect(),
            summary,
        }
    }
}

fn state(account: &RunAccount, is_held: bool) -> &'static str {
    let memory = &account.memory;
    if account.landing.is_some() {
        "landed"
    } else if account.is_abandoned {
        "abandoned"
    } else if memory.stop.is_some() {
        "stopped"
    } else if !is_held {
        "interrupted"
    } else if memory.hold.is_some() {
        "waiting"
    } else {
        "running"
    }
}

fn model_of(account: &RunAccount) -> Option<String> {
    let sessions = account.units.iter().flat_map(|unit| &unit.sessions);
    sessions.filter_map(|session| session.model.clone()).next_back()
}

fn kinds(account: &RunAccount) -> Vec<KindRow> {
    let expected = account.run.expected.as_ref();
    let mut totals: BTreeMap<UnitKind, Totals> =
        expected.iter().flat_map(|expected| expected.sessions.keys()).map(|kind| (*kind, Totals::default())).collect();
    for unit in &account.units {
        let sum = totals.entry(unit.unit.kind).or_default();
        *sum = sum.and(unit.totals());
    }
    let forecast = |kind: &UnitKind| expected.map(|expected| expected.sessions.get(kind).copied().unwrap_or_default());
    totals.into_iter().map(|(kind, totals)| KindRow { kind, forecast: forecast(&kind), totals }).collect()
}

/// The slice or phase of a unit: the key for its title, and its short name.
fn slice_of(unit: &UnitAccount) -> (String, String) {
    if unit.unit.kind.is_of_phases() {
        return (unit.unit.id.clone(), format!("phase {}", unit.unit.id));
    }
    match unit.unit.parts() {
        (milestone, Some(slice), _) => (format!("{milestone}/{slice}"), slice.to_owned()),
        (milestone, None, _) => (milestone.to_owned(), "milestone".to_owned()),
    }
}

fn slices(account: &RunAccount, titles: &Titles) -> Vec<SliceAccount> {
    let mut slices: Vec<SliceAccount> = Vec::new();
    for unit in &account.units {
        let (key, id) = slice_of(unit);
        let title = titles.get(&key).cloned();
        match slices.iter_mut().find(|slice| slice.id == id) {
            Some(slice) => slice.totals = slice.totals.and(unit.totals()),
            None => slices.push(SliceAccount { id, title, totals: unit.totals() }),
        }
    }
    slices
}

fn page_of(unit: &UnitAccount, titles: &Titles) -> UnitPage {
    UnitPage {
        title: titles.get(&unit.unit.id).cloned(),
        slice: slice_of(unit).1,
        changes: None,
        diff: None,
        account: unit.clone(),
    }
}
