//! The points of the loop, where features add their work.
//!
//! `loop enter POINT PHASE` runs every active gate of a point and returns steps and texts. A gate is active only if
//! the command that resolves it is installed. `gate run build|test` runs exactly the command that a person approved;
//! approvals are local notes too.

pub(crate) mod auto_chain;
pub(crate) mod capability;
mod installed;

use crate::acts::hosts;
use crate::acts::named;
use crate::acts::program;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::acts::features::features;
use crate::acts::features::shown;
use crate::acts::git::phase_work;
use crate::commands::checks::check::{self, Verdict};
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::capability::features::Features;
use crate::operations::capability::hooks::{ActiveHook, Check, InactiveHook, Reference};
use crate::operations::capability::{HookKind, OnError, POINTS, Subject};
use crate::operations::gates::artifact;
use crate::project::phase;
use crate::project::view::NamedPhase;
use crate::text::front_matter::FrontMatter;
use capability::HostFlags;

verbs! {
    "Loop";
    groups { "loop": "Show the gates and work of features at a point of the loop"; }

    /// Check the gates at a point of the loop and print the work to do
    ///
    /// Changes nothing: the calling workflow runs the steps. If `block` is true, a gate stops the loop.
    ///
    /// Example: `gsd-tools loop enter plan:pre 3 --pick block`.
    "loop enter": reads json(EnterReport<'static>) = loop_enter(EnterArgs);

    /// Show which features have work at a point of the loop
    ///
    /// Example: `gsd-tools loop render-hooks plan:pre`.
    "loop render-hooks": reads json(crate::operations::capability::hooks::PointReport<'static>) = render(RenderArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct EnterArgs {
    /// The point, such as `plan:pre`
    point: String,
    /// The phase, such as `3`, or its folder; without it, gates are not checked
    phase: Option<String>,
    #[command(flatten)]
    host: HostFlags,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RenderArgs {
    /// The point, such as `plan:pre`
    point: String,
    #[command(flatten)]
    host: HostFlags,
    /// Print only `true` or `false`: whether this feature has work there
    #[arg(long, value_name = "FEATURE")]
    active_cap: Option<String>,
}

fn loop_enter(context: &mut Context, arguments: &EnterArgs) -> Result<(), Failure> {
    let features = features(context)?;
    let report = enter(context, arguments, &features)?;
    context.emit(&report)
}

fn point(typed: &str) -> Result<&'static str, Failure> {
    POINTS.iter().find(|point| **point == typed).copied().ok_or_else(|| {
        let unknown = Failure::usage(format!("unknown point `{typed}` of the loop"));
        unknown.hint(format!("use one of {}", POINTS.join(", ")))
    })
}

fn render(context: &mut Context, arguments: &RenderArgs) -> Result<(), Failure> {
    let features = features(context)?;
    let report = shown::at(context, point(&arguments.point)?, &features, arguments.host.choice())?;
    match &arguments.active_cap {
        None => context.emit(&report),
        Some(feature) => {
            let wants = report.active_hooks.iter().any(|hook| hook.cap_id == feature);
            context.text(format!("{wants}\n"));
            Ok(())
        }
    }
}

/// The work to do at a point, after its gates were checked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct EnterReport<'a> {
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
pub(in crate::commands) struct GateResult {
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
pub(in crate::commands) struct StepWork<'a> {
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

/// Who does a step.
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

fn enter<'a>(context: &Context, arguments: &EnterArgs, features: &'a Features) -> Result<EnterReport<'a>, Failure> {
    let point = point(&arguments.point)?;
    let wanted = shown::at(context, point, features, arguments.host.choice())?;
    let view = context.view();
    let typed = arguments.phase.as_deref();
    let phase = typed.map(|typed| named::phase_named(context, &view, typed)).transpose()?;
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
                    let result = gate(context, &hook, typed);
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
            HookKind::Step => match not_needed(context, (point, &hook), phase.as_ref())? {
                Some(reason) => drop(report.inactive.insert(hook.id(), reason)),
                None => report.steps.extend(step(context, hook, phase.as_ref(), text)),
            },
        }
    }
    Ok(report)
}

/// The result of a gate; `None` if it passes.
fn gate(context: &Context, hook: &ActiveHook<'_>, typed: &str) -> Option<GateResult> {
    let answer = match hook.check? {
        Check::Query(query) => check::ask(context, query, typed),
        Check::Predicate(condition) => check::ask_predicate(context, condition, typed),
    };
    let blocking = hook.blocking == Some(true);
    let (stops, message, cure) = match answer {
        Ok(answer) if answer.verdict == Verdict::Pass => return None,
        Ok(answer) => {
            let declared = || match hook.cure? {
                Reference::Skill(name) => hosts::installed_command(context, name).ok()?,
                Reference::Agent(name) | Reference::Command(name) => Some(name.to_owned()),
            };
            (blocking && answer.verdict == Verdict::Block, answer.message, answer.cure.or_else(declared))
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
    context: &Context,
    (point, hook): (&str, &ActiveHook<'_>),
    phase: Option<&NamedPhase>,
) -> Result<Option<String>, Failure> {
    if let (Some(subject), Some(phase)) = (hook.about, phase) {
        let view = context.view();
        let (is_about, what) = match subject {
            Subject::Sight => (artifact::is_about_sight(&view, phase)?, "a user interface"),
            Subject::Models => (artifact::is_about_models(&view, phase)?, "a language model"),
        };
        if !is_about {
            return Ok(Some(format!("phase {} does not mention {what}", phase.number)));
        }
    }
    Ok(made_already(context, (point, hook), phase)?.map(|files| format!("{files} already exists")))
}

/// The files of a step in the folder of the phase, if all of them exist and are marked as done.
fn made_already(
    context: &Context,
    (point, hook): (&str, &ActiveHook<'_>),
    phase: Option<&NamedPhase>,
) -> Result<Option<String>, Failure> {
    let Some(folder) = phase.and_then(|phase| phase.folder.as_ref()) else { return Ok(None) };
    let kinds = hook.produces.iter().map(|file| file.strip_suffix(".md").filter(|kind| !kind.contains('/')));
    let files: Option<Vec<&str>> = kinds.map(|kind| folder.artifact(kind?)).collect();
    let Some(files) = files.filter(|files| !files.is_empty()) else { return Ok(None) };
    if let Some(done) = hook.done {
        let view = context.view();
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
        if phase_work::came_after(context, folder, &documents)? {
            return Ok(None);
        }
    }
    Ok(Some(files.join(", ")))
}

/// The points after the work of a phase, or of a wave.
const AFTER_WORK: [&str; 3] = ["execute:wave:post", "execute:post", "verify:post"];

fn step<'a>(
    context: &Context,
    hook: ActiveHook<'a>,
    phase: Option<&NamedPhase>,
    text: Option<String>,
) -> Option<StepWork<'a>> {
    let work = match hook.reference? {
        Reference::Skill(name) => StepReference::Skill(name),
        Reference::Agent(name) => StepReference::Agent(name),
        Reference::Command(path) => StepReference::Run(format!("{} {path}", program::word_of(context))),
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
