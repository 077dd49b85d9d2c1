//! What there is to do at a point of the loop, its gates asked.
//!
//! `loop enter POINT PHASE` runs every active gate of a point and returns steps and texts. A gate is active only if
//! the command that resolves it is installed. `gate run build|test` runs exactly the command that a person approved;
//! approvals are local notes too.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::checks::gates::{self, CheckLevel};
use super::features::shown::{self, HostChoice};
use super::git::phase_work;
use super::{Call, hosts, named, program};
use crate::failure::Failure;
use crate::operations::capability::features::Features;
use crate::operations::capability::hooks::{ActiveHook, GateQuestion, InactiveHook, Reference};
use crate::operations::capability::{HookKind, OnError, Subject};
use crate::operations::gates::artifact;
use crate::project::phase;
use crate::project::view::NamedPhase;
use crate::text::front_matter::FrontMatter;

/// The work to do at a point, after its gates were checked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnterReport<'a> {
    point: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    /// A gate stops the loop.
    block: bool,
    /// The gates that did not simply pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gates: Vec<GateResult>,
    /// Work that the workflow runs, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<StepWork<'a>>,
    /// Texts for the prompts of agents, by the role that gets them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    contributions: BTreeMap<&'a str, Vec<String>>,
    /// Work that is wanted but not done here, with the reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    inactive: BTreeMap<String, String>,
}

/// A gate that did not simply pass.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GateResult {
    gate: String,
    status: GateStatus,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum GateStatus {
    /// The loop stops.
    Block,
    /// The loop continues; the message is shown.
    Warn,
}

/// One piece of work for the workflow.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepWork<'a> {
    /// Who does the work.
    #[serde(flatten)]
    work: StepReference<'a>,
    /// The file with the skill, if an installed feature brings it.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Instructions for the agent or workflow that does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Files that the work creates; they show whether it succeeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    produces: Vec<String>,
    /// Files to read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    consumes: Vec<String>,
    /// What to do if the work cannot be done.
    on_error: OnError,
    /// Settings that affect the work.
    #[serde(skip_serializing_if = "Map::is_empty")]
    settings: Map<String, Value>,
}

/// The skill or agent that does a step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StepReference<'a> {
    /// The workflow of this name.
    Skill(&'a str),
    /// An agent of this name.
    Agent(&'a str),
    /// This command line.
    Run(String),
}

/// What is to be done at the point `typed`; without a phase, gates are not asked.
pub(crate) fn enter<'a>(
    call: &Call,
    point: &str,
    typed: Option<&str>,
    host: HostChoice<'_>,
    features: &'a Features,
) -> Result<EnterReport<'a>, Failure> {
    let point = shown::point(point)?;
    let wanted = shown::at(call, point, features, host)?;
    let view = call.view();
    let phase = typed.map(|typed| named::phase_named(call, &view, typed)).transpose()?;
    drop(view);
    let mut report = EnterReport {
        point,
        phase: phase.as_ref().map(|phase| phase.number.clone()),
        block: false,
        gates: Vec::new(),
        steps: Vec::new(),
        contributions: BTreeMap::new(),
        inactive: wanted.inactive.into_iter().map(|InactiveHook { id, reason }| (id, reason)).collect(),
    };
    for hook in wanted.active_hooks {
        let text = hook.fragment.as_ref().map(|fragment| filled(&fragment.inline, phase.as_ref()));
        match hook.kind {
            HookKind::Gate => match typed {
                Some(typed) => {
                    let result = gate(call, &hook, typed);
                    report.block |= result.as_ref().is_some_and(|result| result.status == GateStatus::Block);
                    report.gates.extend(result);
                }
                None => drop(report.inactive.insert(hook.id(), "no phase given".to_owned())),
            },
            HookKind::Contribution if phase.is_none() && text.as_deref().is_some_and(is_about_a_phase) => {
                drop(report.inactive.insert(hook.cap_id.to_owned(), "no phase given".to_owned()));
            }
            HookKind::Contribution => report
                .contributions
                .entry(hook.into.unwrap_or("orchestrator"))
                .or_default()
                .push(text.unwrap_or_default()),
            HookKind::Step if hook.built_in => {}
            HookKind::Step => match not_needed(call, (point, &hook), phase.as_ref())? {
                Some(reason) => drop(report.inactive.insert(hook.id(), reason)),
                None => report.steps.extend(step(call, hook, phase.as_ref(), text)),
            },
        }
    }
    Ok(report)
}

/// The result of a gate; `None` if it passes.
fn gate(call: &Call, hook: &ActiveHook<'_>, typed: &str) -> Option<GateResult> {
    let answer = match hook.check? {
        GateQuestion::Query(query) => gates::ask(call, query, typed),
        GateQuestion::Predicate(condition) => gates::ask_predicate(call, condition, typed),
    };
    let blocking = hook.blocking == Some(true);
    let (stops, message, cure) = match answer {
        Ok(answer) if answer.verdict == CheckLevel::Pass => return None,
        Ok(answer) => {
            let declared = || match hook.cure? {
                Reference::Skill(name) => hosts::installed_command(call, name).ok()?,
                Reference::Agent(name) | Reference::Command(name) => Some(name.to_owned()),
            };
            (blocking && answer.verdict == CheckLevel::Block, answer.message, answer.cure.or_else(declared))
        }
        Err(error) => {
            let halts = hook.on_error.map_or(blocking, |on_error| on_error == OnError::Halt);
            (halts, format!("the check failed: {}", error.message), None)
        }
    };
    let status = if stops { GateStatus::Block } else { GateStatus::Warn };
    Some(GateResult { gate: hook.id(), status, message, cure })
}

/// Why a phase does not need a step: the phase has another subject, or the step's files exist.
fn not_needed(
    call: &Call,
    (point, hook): (&str, &ActiveHook<'_>),
    phase: Option<&NamedPhase>,
) -> Result<Option<String>, Failure> {
    if let (Some(subject), Some(phase)) = (hook.about, phase) {
        let view = call.view();
        let (is_about, what) = match subject {
            Subject::Sight => (artifact::is_about_sight(&view, phase)?, "a user interface"),
            Subject::Models => (artifact::is_about_models(&view, phase)?, "a language model"),
        };
        if !is_about {
            return Ok(Some(format!("phase {} does not mention {what}", phase.number)));
        }
    }
    Ok(made_already(call, (point, hook), phase)?.map(|files| format!("{files} already exists")))
}

/// The files of a step in the folder of the phase, if all of them exist and are marked as done.
fn made_already(
    call: &Call,
    (point, hook): (&str, &ActiveHook<'_>),
    phase: Option<&NamedPhase>,
) -> Result<Option<String>, Failure> {
    let Some(folder) = phase.and_then(|phase| phase.folder.as_ref()) else { return Ok(None) };
    let kinds = hook.produces.iter().map(|file| file.strip_suffix(".md").filter(|kind| !kind.contains('/')));
    let files: Option<Vec<&str>> = kinds.map(|kind| folder.artifact(kind?)).collect();
    let Some(files) = files.filter(|files| !files.is_empty()) else { return Ok(None) };
    if let Some(done) = hook.done {
        let view = call.view();
        for file in &files {
            let text = view.text(&folder.join(file))?.unwrap_or_default();
            let said = FrontMatter::parse(&text).and_then(|front| front.text(&done.field));
            if said.as_ref() != Some(&done.value) {
                return Ok(None);
            }
        }
    }
    // A document about the work of the phase is made again after more work; a report of repairs belongs to it.
    if AFTER_WORK.contains(&point) {
        let repairs =
            hook.produces.iter().filter_map(|file| folder.artifact(&format!("{}-FIX", file.strip_suffix(".md")?)));
        let documents: Vec<String> = files.iter().copied().chain(repairs).map(|file| folder.join(file)).collect();
        if phase_work::came_after(call, folder, &documents)? {
            return Ok(None);
        }
    }
    Ok(Some(files.join(", ")))
}

/// The points after the work of a phase, or of a wave.
const AFTER_WORK: [&str; 3] = ["execute:wave:post", "execute:post", "verify:post"];

fn step<'a>(
    call: &Call,
    hook: ActiveHook<'a>,
    phase: Option<&NamedPhase>,
    text: Option<String>,
) -> Option<StepWork<'a>> {
    let work = match hook.reference? {
        Reference::Skill(name) => StepReference::Skill(name),
        Reference::Agent(name) => StepReference::Agent(name),
        Reference::Command(path) => StepReference::Run(format!("{} {path}", program::word_of(call))),
    };
    let files = |files: &[String]| files.iter().map(|file| in_folder(file, phase)).collect();
    Some(StepWork {
        work,
        file: hook.file,
        text,
        produces: files(hook.produces),
        consumes: files(hook.consumes),
        on_error: hook.on_error.unwrap_or(OnError::Skip),
        settings: hook.config_values,
    })
}

/// The path of a phase document, such as `.planning/phases/02-core/02-REVIEW.md` for `REVIEW.md`.
fn in_folder(file: &str, phase: Option<&NamedPhase>) -> String {
    match phase.and_then(|phase| phase.folder.as_ref()) {
        Some(folder) if !file.contains('/') && !matches!(file, "PLAN.md" | "SUMMARY.md") => {
            let there = folder.artifact_path(file.trim_end_matches(".md"));
            there.unwrap_or_else(|| folder.join(&format!("{}-{file}", folder.token())))
        }
        _ => file.to_owned(),
    }
}

/// Whether a text only makes sense with the number of a phase inserted.
fn is_about_a_phase(text: &str) -> bool {
    text.contains("{N}") || text.contains("{NN}")
}

/// A text with the number of the phase inserted.
fn filled(text: &str, phase: Option<&NamedPhase>) -> String {
    let Some(phase) = phase else { return text.to_owned() };
    let padded = phase.folder.as_ref().map_or_else(|| phase::pad(&phase.number), |folder| folder.token().to_owned());
    text.replace("{NN}", &padded).replace("{N}", &phase.number)
}
