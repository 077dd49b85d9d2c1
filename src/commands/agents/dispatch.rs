//! How agents are started on the current host.

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::agents::dispatch::{self, DispatchReport, IsolationReport, RunIn};
use crate::failure::Failure;
use crate::frame::named::JsonArgs;
use crate::frame::{Context, verbs};

/// The agent for work that no specific agent exists for.
const FALLBACK_AGENT: &str = "gsd-executor";

verbs! {
    "Agents";
    groups { "agent": "Explain why agents failed"; }

    use crate::peer::agents::RESOLVE_TYPE;

    /// Record who creates the worktrees of agents, and print it
    ///
    /// Reads what the host supports and `workflow.use_worktrees`. Writes the result for `worktree cleanup-wave`,
    /// outside the project. `harness-worktree`: the host creates them; `orchestrator-worktree`: gsd-tools does; `none`:
    /// agents work in the main tree.
    ///
    /// Example: `gsd-tools dispatch-isolation --phase 2` prints `harness-worktree`, `orchestrator-worktree` or `none`.
    "dispatch-isolation": runs [unasked] json(dispatch::IsolationReport) = isolation(IsolationArgs);

    /// Show who would create the worktrees of agents; records nothing
    ///
    /// Example: `gsd-tools inspect-dispatch-isolation --json`.
    "inspect-dispatch-isolation": reads json(dispatch::IsolationReport) = inspect(JsonArgs);

    use crate::peer::agents::RECORD_ISOLATION;

    use crate::peer::agents::CAPACITY;

    /// Show whether agents must be started one by one, without nesting
    ///
    /// `true` unless the host lets background agents start other agents.
    ///
    /// Example: `gsd-tools dispatch-should-flatten` prints `true` or `false`.
    "dispatch-should-flatten": reads json(FlattenReport) = should_flatten(JsonArgs);

    /// Show the agent to use: the named one if installed, or `gsd-executor`
    ///
    /// With `workflow.agent_hint_routing` off it is always `gsd-executor`.
    ///
    /// Example: `gsd-tools resolve-agent --name gsd-code-fixer`.
    "resolve-agent": reads json(AgentReport) = resolve_agent(AgentArgs);

    use crate::peer::agents::CLASSIFY_FAILURE;

    use crate::peer::agents::TEAMS;
}

#[derive(Debug, clap::Args)]
pub(crate) struct IsolationArgs {
    /// Print the full report as JSON
    #[arg(long)]
    json: bool,
    /// The phase the agents work on
    #[arg(long)]
    phase: Option<String>,
    /// The plan the agents work on
    #[arg(long)]
    plan: Option<String>,
    /// Use this instead of what the host supports: `harness-worktree`, `orchestrator-worktree` or `none`
    #[arg(long)]
    force_isolation: Option<String>,
    /// Print how to start an agent in this worktree
    #[arg(long, value_name = "FOLDER")]
    cwd_target: Option<String>,
    /// The prompt for that agent
    #[arg(long, requires = "cwd_target")]
    prompt: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// The agent, such as `gsd-planner`
    #[arg(long)]
    name: Option<String>,
    /// Print the full report as JSON
    #[arg(long)]
    json: bool,
}

fn inspect(context: &mut Context, JsonArgs { json }: &JsonArgs) -> Result<(), Failure> {
    let report =
        dispatch::isolation(&context.host()?.id, dispatch::facts(context)?.as_ref(), None, true, RunIn::default());
    tell_isolation(context, &report, *json)
}

fn tell_isolation(context: &mut Context, report: &IsolationReport, json: bool) -> Result<(), Failure> {
    context.emit_or_line(json, report, report.isolation.word())
}

fn isolation(context: &mut Context, arguments: &IsolationArgs) -> Result<(), Failure> {
    let (folder, prompt) = (arguments.cwd_target.as_deref(), arguments.prompt.as_deref());
    let report = dispatch::isolation_of_call(context, arguments.force_isolation.as_deref(), folder, prompt)?;
    let work = (arguments.phase.as_ref(), arguments.plan.as_ref());
    dispatch::note(context, report.isolation, report.harness_flag.as_ref(), work)?;
    tell_isolation(context, &report, arguments.json)
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct FlattenReport<'a> {
    runtime: &'a str,
    should_flatten: bool,
    dispatch: Option<DispatchReport>,
}

fn should_flatten(context: &mut Context, JsonArgs { json }: &JsonArgs) -> Result<(), Failure> {
    let runtime = context.host()?.id.clone();
    let facts = dispatch::facts(context)?;
    let should_flatten = dispatch::should_flatten(facts.as_ref());
    let dispatch = facts.as_ref().map(DispatchReport::from);
    let report = FlattenReport { runtime: &runtime, should_flatten, dispatch };
    context.emit_or_line(*json, &report, if should_flatten { "true" } else { "false" })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct AgentReport<'a> {
    runtime: &'a str,
    requested: &'a str,
    resolved: &'a str,
    fallback: bool,
}

fn resolve_agent(context: &mut Context, arguments: &AgentArgs) -> Result<(), Failure> {
    let runtime = context.host()?.id.clone();
    let requested = arguments.name.as_deref().unwrap_or_default();
    let there = dispatch::has_agent(context, requested)?;
    let resolved = if there { requested } else { FALLBACK_AGENT };
    let report = AgentReport { runtime: &runtime, requested, resolved, fallback: !there };
    context.emit_or_line(arguments.json, &report, resolved)
}
