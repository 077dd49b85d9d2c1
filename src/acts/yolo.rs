//! The chain that runs all remaining phases unattended: `yolo start`, `yolo stop`, `yolo status`.
//!
//! A start sets `mode` and `workflow.auto_advance` and remembers what they were; each stop puts that back.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::agents::dispatch;
use super::git::uncommitted;
use super::writing::{Beside, Target, Writes};
use super::{Call, auto_chain, bundle};
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::operations::bundle::{Blocker, ChainFacts, ChainPlan};
use crate::operations::documents::configuration::{own, put};
use crate::operations::facts::{FactsCall, Given};
use crate::project::auto_chain::{ChainNote, NOTE};
use crate::project::config;
use crate::project::view::ProjectView;
use crate::project::workstream;
use crate::text::time;

/// The exit code of a start that something prevents: a person is needed.
const BLOCKED: u8 = 10;

const ACTIVE: &str = "workflow.yolo.active";
const STARTED_AT: &str = "workflow.yolo.started_at";
const STOP_CONDITION: &str = "workflow.yolo.stop_condition";

/// The settings that a start changes, the value that it sets, and the key with the earlier value.
const CHANGED: &[(&str, &str, &str)] = &[
    ("mode", "\"yolo\"", "workflow.yolo.prev_mode"),
    ("workflow.auto_advance", "true", "workflow.yolo.prev_auto_advance"),
];

/// The chain as it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct YoloReport {
    /// A person started it, and it was not stopped.
    pub(crate) active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<String>,
    /// Why it last stopped; not while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop_condition: Option<String>,
    /// What a person types next, without the prefix of commands.
    pub(crate) next: &'static str,
    /// Whether the milestone is closed at its end.
    pub(crate) closes_milestone: bool,
    /// When a workflow of the chain last began on this computer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) heard_at: Option<String>,
    #[serde(flatten)]
    pub(crate) plan: ChainPlan,
}

/// The call for the facts about the chain that would begin with this phase, else with the first that remains.
pub(crate) fn facts_call(call: &Call, from: Option<String>) -> Result<FactsCall, Failure> {
    let config = call.config()?;
    let process = config.number("workflow.yolo.pid").and_then(|pid| u32::try_from(pid).ok());
    let heard = auto_chain::chain_note(call)?.and_then(|note| time::milliseconds(&note.since));
    let (theirs, ours) = (config.text("workflow.yolo.session"), session(call));
    let facts = ChainFacts {
        git_clean: uncommitted::is_clean(call),
        session_gone: process.is_some_and(|pid| !disk::process_lives(pid)),
        heard,
        is_of_another: theirs.is_some_and(|theirs| ours.is_some_and(|ours| ours != theirs)),
        agents_start_agents: dispatch::agents_start_agents(dispatch::facts(call)?.as_ref()),
    };
    Ok(FactsCall::of("yolo").text(from).with(facts))
}

fn session(call: &Call) -> Option<String> {
    workstream::session_key(|name| call.world().variable(name))
}

fn plan(call: &Call, from: Option<String>) -> Result<ChainPlan, Failure> {
    let (view, host) = (call.view(), bundle::facts(call)?);
    Ok(ChainPlan::of(&Given { view: &view, config: call.config()?, host: &host, call: facts_call(call, from)? })?)
}

/// The chain as it is.
/// Whether the chain is marked as active although its session is gone, or was not heard of for long.
pub(crate) fn is_forgotten(call: &Call) -> Result<bool, Failure> {
    if !is_active(&call.view())? {
        return Ok(false);
    }
    Ok(report(call)?.plan.stale)
}

pub(crate) fn report(call: &Call) -> Result<YoloReport, Failure> {
    report_of(call, &call.view(), plan(call, None)?)
}

fn report_of(call: &Call, view: &ProjectView, mut plan: ChainPlan) -> Result<YoloReport, Failure> {
    let text = |key: &str| -> Result<Option<String>, Failure> {
        Ok(own(view, key)?.as_ref().and_then(Value::as_str).map(str::to_owned))
    };
    let active = is_active(view)?;
    let runs = active && !plan.stale;
    if runs {
        // They are about another start.
        plan.blockers.clear();
    }
    let has = |blocker| plan.blockers.contains(&blocker);
    let next = match () {
        () if runs => "yolo status",
        () if has(Blocker::NoPlanning) || has(Blocker::NoRoadmap) => "new-project",
        () if has(Blocker::NoPhases) => "health",
        () if has(Blocker::MilestoneClosed) => "new-milestone",
        () => "yolo",
    };
    Ok(YoloReport {
        active,
        started_at: text(STARTED_AT)?,
        stop_condition: if active { None } else { text(STOP_CONDITION)? },
        next,
        closes_milestone: own(view, "workflow.yolo.close_milestone")? != Some(Value::Bool(false)),
        heard_at: auto_chain::chain_note(call)?.map(|note| note.since),
        plan,
    })
}

fn is_active(view: &ProjectView) -> Result<bool, Failure> {
    Ok(own(view, ACTIVE)? == Some(Value::Bool(true)))
}

/// Starts the chain, unless something prevents it.
pub(crate) fn start(call: &Call, from: Option<String>, closes: bool) -> Result<YoloReport, Failure> {
    let plan = plan(call, from)?;
    let prefix = call.command_prefix()?;
    if !plan.blockers.is_empty() {
        return Err(prevented(&plan.blockers, prefix));
    }
    let now = call.world().now().to_string();
    let mut values = vec![
        (ACTIVE, Some(Value::Bool(true))),
        (STARTED_AT, Some(Value::from(now.clone()))),
        ("workflow.yolo.updated_at", Some(Value::from(now))),
        ("workflow.yolo.start_phase", plan.start_phase.clone().map(Value::from)),
        (STOP_CONDITION, Some(Value::from("milestone_complete"))),
        ("workflow.yolo.session", session(call).map(Value::from)),
        ("workflow.yolo.close_milestone", Some(Value::Bool(closes))),
    ];
    write(call, true, |view| {
        let was_active = is_active(view)?;
        if was_active && !plan.stale {
            // Another call has started it meanwhile.
            return Err(prevented(&[Blocker::ActiveSession], prefix));
        }
        for (key, value, earlier) in CHANGED {
            let (now, ours) = (own(view, key)?, serde_json::from_str(value).ok());
            // After a crash the earlier value is already there, unless a person has set another one since.
            if !was_active || now != ours {
                values.push((earlier, now));
            }
            values.push((key, ours));
        }
        Ok(values)
    })?;
    report_of(call, &call.view(), ChainPlan { stale: false, ..plan })
}

fn prevented(blockers: &[Blocker], prefix: &str) -> Failure {
    let (what, cures): (Vec<_>, Vec<_>) = blockers.iter().map(|blocker| blocker.said(prefix)).unzip();
    let failure = Failure::new(Reason::Unknown, format!("the chain cannot begin: {}", what.join("; ")));
    cures.into_iter().fold(failure.exits(BLOCKED), Failure::hint)
}

/// Stops the chain, and puts back what its start changed. The reason is that the user wanted it, unless another is
/// given; that of one that has already stopped changes only if one is given.
pub(crate) fn stop(call: &Call, reason: Option<&str>) -> Result<YoloReport, Failure> {
    let now = call.world().now().to_string();
    write(call, false, |view| {
        let mut values = Vec::new();
        let is_active = is_active(view)?;
        let reason = reason.or(is_active.then_some("user_stop"));
        if own(view, STARTED_AT)?.is_some() {
            values.extend(reason.map(|reason| (STOP_CONDITION, Some(Value::from(reason)))));
        }
        if is_active {
            values.push((ACTIVE, Some(Value::Bool(false))));
            values.push(("workflow.yolo.updated_at", Some(Value::from(now))));
            values.push(("workflow.yolo.session", None));
            for (key, value, earlier) in CHANGED {
                // A value that a person has set meanwhile stays.
                if own(view, key)? == serde_json::from_str(value).ok() {
                    // Only what the key may be: the file can be written by others.
                    let before = own(view, earlier)?.filter(|before| config::may_be(key, before));
                    values.push((key, before));
                }
                values.push((earlier, None));
            }
        }
        Ok(values)
    })?;
    report(call)
}

type Settings = Vec<(&'static str, Option<Value>)>;

/// Writes these settings, and whether the chain runs, as one change.
fn write(
    call: &Call,
    active: bool,
    settings: impl FnOnce(&ProjectView) -> Result<Settings, Failure>,
) -> Result<(), Failure> {
    let local = call.local_state()?;
    let path = local.file(NOTE);
    let note = ChainNote { active, since: call.world().now().to_string(), session: session(call) };
    let after = Some(format!("{}\n", serde_json::to_string(&note)?));
    call.write(Target::Beside(path.parent()), |view| {
        let edits = put(view, &settings(view)?)?;
        let beside = vec![Beside { before: disk::read_text(&path)?, path, after }];
        Ok(((), Writes { edits, beside }))
    })
}
