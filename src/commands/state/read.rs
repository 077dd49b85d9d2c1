//! Reads STATE.md: unchanged, as a record, or one field of it; and shows the next step.

use crate::acts::entry;
use crate::acts::facts;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::{DEGRADED, Failure};
use crate::frame::Context;
use crate::frame::context::emit_data;
use crate::operations::answers::token::{self, Seen};
use crate::operations::state::read::{self, StateValue};
use crate::operations::state::situation::Situation;
use crate::operations::state::{self, Facts, NO_STATE};
use crate::peer::answers::FailureReport;
use crate::project::config::LoadedConfig;

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct GetArgs {
    /// The label of a field, a key of the front matter, or the title of a section
    field: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct EntryArgs {
    /// Print all findings and possible commands as JSON
    #[arg(long)]
    json: bool,
}

/// The answer of `state load`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct LoadReport<'a> {
    #[schemars(with = "Map<String, Value>")]
    config: LoadedConfig<'a>,
    state_raw: &'a str,
    state_exists: bool,
    roadmap_exists: bool,
    config_exists: bool,
    debug_dir: String,
}

/// The keys of the configuration that the bare form of `state load` prints.
const LOAD_LINES: &[&str] = &[
    "model_profile",
    "commit_docs",
    "branching_strategy",
    "phase_branch_template",
    "milestone_branch_template",
    "parallelization",
    "research",
    "plan_checker",
    "verifier",
];

pub(in crate::commands) fn load(context: &mut Context) -> Result<(), Failure> {
    if context.shows_to_a_person() {
        context.refuses_a_person_without_a_project()?;
        return shown(context);
    }
    let config = context.config()?.clone();
    let view = context.view();
    let layout = view.layout();
    let state = view.state()?;
    let report = LoadReport {
        config: LoadedConfig(&config),
        state_raw: state.map(crate::project::state::State::text).unwrap_or_default(),
        state_exists: state.is_some(),
        roadmap_exists: view.exists(&layout.roadmap()),
        config_exists: view.exists(&layout.config()),
        debug_dir: layout.shown(&layout.debug()),
    };
    let values = serde_json::to_value(report.config)?;
    let bare = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut lines: Vec<String> = LOAD_LINES.iter().map(|key| format!("{key}={}", bare(&values[key]))).collect();
    lines.push(format!("config_exists={}", report.config_exists));
    lines.push(format!("roadmap_exists={}", report.roadmap_exists));
    lines.push(format!("state_exists={}", report.state_exists));
    if context.raw() {
        return context.emit_raw(&report, lines.join("\n"));
    }
    context.emit(&report)
}

/// Shows a person the content of STATE.md.
fn shown(context: &mut Context) -> Result<(), Failure> {
    let facts = facts::state_facts(context)?;
    let report = read::json(&context.view(), &facts)?;
    let report = report.ok_or_else(state::no_state)?;
    let page = report.shown(context.screen());
    context.text(page);
    Ok(())
}

pub(in crate::commands) fn json(context: &mut Context) -> Result<(), Failure> {
    let facts = Facts { runs: facts::runs(context, context.root()), ..facts::state_facts(context)? };
    let view = context.view();
    let report = read::json(&view, &facts)?;
    let milestone = view.milestone()?;
    if milestone.is_unmatched {
        let version = milestone.version.unwrap_or_default();
        context.warn(format_args!("no milestone of ROADMAP.md is {version}, so its phases are not counted again"));
    }
    let token = token::of(&view, Seen::State)?;
    drop(view);
    context.answer_for(token);
    match report {
        Some(report) => emit_data(context, &report),
        None => context.emit_raw(&FailureReport::from(state::no_state()), NO_STATE),
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ContentReport {
    content: String,
}

pub(in crate::commands) fn get(context: &mut Context, GetArgs { field }: &GetArgs) -> Result<(), Failure> {
    let field = field.as_deref();
    let found = read::get(&context.view(), field, &facts::moment(context))?;
    let name = field.unwrap_or_default();
    match found {
        StateValue::Everything(text) => {
            context.say(&ContentReport { content: text.clone() }, Some(&text), |_| text.trim_end().to_owned() + "\n")
        }
        StateValue::Value(value) => {
            let report = std::collections::BTreeMap::from([(name, value.as_str())]);
            context.say(&report, Some(&value), |_| value.trim_end().to_owned() + "\n")
        }
        StateValue::NoState => Err(state::no_state()),
        StateValue::Nothing if context.shows_to_a_person() => {
            let unknown = Failure::usage(format!("STATE.md has no field, key or section `{name}`")).exits(DEGRADED);
            Err(unknown.hint("`gsd-tools state get` prints STATE.md with its fields and sections"))
        }
        StateValue::Nothing => {
            context.emit_raw(&FailureReport::from(Failure::usage(format!("Section or field \"{name}\" not found"))), "")
        }
    }
}

pub(in crate::commands) fn snapshot(context: &mut Context) -> Result<(), Failure> {
    let report = read::snapshot(&context.view())?.ok_or_else(|| state::no_state().answered())?;
    context.emit(&report)
}

pub(in crate::commands) fn smart_entry(context: &mut Context, arguments: &EntryArgs) -> Result<(), Failure> {
    let report = entry::entry(context, &context.view())?;
    if arguments.json {
        return context.emit(&report);
    }
    if context.shows_to_a_person() {
        if !matches!(report.situation, Situation::Milestones | Situation::AutoRun) {
            context.refuses_a_person_without_a_project()?;
        }
        let page = report.shown(context.screen());
        context.text(page);
        return Ok(());
    }
    let next = report.recommended_action();
    context.text(format!("{}\nRecommended: {} → {}", report.summary, next.id, next.command));
    Ok(())
}
