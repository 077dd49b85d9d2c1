//! Models: which one an agent runs on, its effort, and the granularity of a phase.

use crate::acts::hosts;
use crate::acts::writing::Target;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::commands::documents::config::with_new_file;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::agents::models;
use crate::operations::documents::configuration;
use crate::project::config::{PROFILES, Setting};

verbs! {
    "Models";

    /// Show which model an agent runs on
    ///
    /// Reads the configuration: a model set for the agent, else the model profile.
    ///
    /// Example: `gsd-tools resolve-model gsd-planner --raw` prints `opus`.
    "resolve-model": reads json(models::ModelReport) = model(AgentArgs);

    use crate::peer::agents::EXECUTION;

    use crate::peer::agents::GRANULARITY;

    /// Set the model profile, which maps each agent to a model
    ///
    /// Writes `model_profile` in `.planning/config.json` and prints the models of all agents.
    ///
    /// Example: `gsd-tools config-set-model-profile budget`.
    "config-set-model-profile": writes json(ProfileReport) = set_profile(ProfileArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// The agent, such as `gsd-planner`
    agent: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProfileArgs {
    /// The profile: `quality`, `balanced`, `budget`, `adaptive` or `inherit`
    profile: String,
}

fn model(context: &mut Context, arguments: &AgentArgs) -> Result<(), Failure> {
    let host = hosts::host_of_models(context, None)?;
    let report = models::model(context.config()?, &host, &arguments.agent);
    context.emit_raw(&report, &report.model)
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct ProfileReport {
    updated: bool,
    profile: String,
    previous_profile: String,
    #[schemars(with = "BTreeMap<String, String>")]
    agent_to_model_map: AgentMap,
}

/// Agents and their tiers, in the order of the answer.
#[derive(Debug)]
struct AgentMap(Vec<(String, &'static str)>);

impl Serialize for AgentMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (agent, tier) in &self.0 {
            map.serialize_entry(agent, tier)?;
        }
        map.end()
    }
}

fn set_profile(context: &mut Context, arguments: &ProfileArgs) -> Result<(), Failure> {
    let profile = arguments.profile.to_ascii_lowercase();
    if !PROFILES.contains(&profile.as_str()) {
        let known = PROFILES.join(", ");
        let refused = Failure::usage(format!("unknown model profile `{}`", arguments.profile));
        return Err(refused.hint(format!("use one of {known}")));
    }
    let setting = Setting::parse("model_profile", &profile)?;
    let set = with_new_file(context, None, |context, new| {
        context.write(Target::Project, |view| configuration::set_in_whole_file(view, &setting, new))
    })?;
    let previous = set.previous_value.as_ref().and_then(serde_json::Value::as_str).unwrap_or("balanced");
    let report = ProfileReport {
        updated: true,
        previous_profile: previous.to_owned(),
        agent_to_model_map: AgentMap(models::agents_under(&profile)),
        profile,
    };
    context.emit_raw(&report, table(&report))
}

fn table(report: &ProfileReport) -> String {
    let rows = &report.agent_to_model_map.0;
    let widths = rows.iter().fold((5, 5), |(agent, tier), row| (agent.max(row.0.len()), tier.max(row.1.len())));
    let mut table = format!(
        "✓ Model profile set to: {} (was: {})\n\nAgents will now use:\n\n",
        report.profile, report.previous_profile
    );
    // Writing to a string cannot fail.
    let _ = writeln!(table, " {:<1$} │ {2:<3$}", "Agent", widths.0, "Model", widths.1);
    let _ = writeln!(table, "{}┼{}", "─".repeat(widths.0 + 2), "─".repeat(widths.1 + 2));
    for (agent, tier) in rows {
        let _ = writeln!(table, " {:<1$} │ {2:<3$}", agent, widths.0, tier, widths.1);
    }
    table.push_str("\n\nNext spawned agents will use the new profile.");
    table
}
