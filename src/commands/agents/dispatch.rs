//! How agents are started on the current host.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::agents::dispatch::{self, DispatchReport, IsolationReport, RunIn};
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::agents::failure::classify_failure;
use crate::runtime::Isolation;

/// The agent for work that no specific agent exists for.
const FALLBACK_AGENT: &str = "gsd-executor";

verbs! {
    "Agents";
    groups { "agent": "Explain why agents failed"; }

    /// Show the agent name to use when starting an agent on this host
    ///
    /// On a host that starts only built-in agents, prints the closest one.
    ///
    /// Example: `gsd-tools resolve-dispatch-type --requested gsd-planner`.
    "resolve-dispatch-type": reads json(TypeReport) = resolve_type(TypeArgs);

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

    /// Record who created the worktrees of agents
    ///
    /// Example: `gsd-tools record-dispatch-isolation --isolation none --phase 2`.
    "record-dispatch-isolation": acts [unasked] json(dispatch::RecordedReport) = record(RecordArgs);

    /// Show how many agents may run at once
    ///
    /// Reads `GSD_DISPATCH_MAX_CONCURRENCY`, then the limit of the host; 1 if neither is known.
    ///
    /// Example: `gsd-tools dispatch-capacity` prints a number.
    "dispatch-capacity": reads json(dispatch::CapacityReport) = capacity(JsonArgs);

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

    /// Explain why an agent failed, from its output
    ///
    /// The class is `quota-exceeded`, `classify-handoff-bug` (a fault of the host after the work was done) or
    /// `unknown-failure`.
    ///
    /// Example: `gsd-tools agent classify-failure --text "429 Too Many Requests" --pick class`.
    "agent classify-failure": reads json(crate::operations::agents::failure::FailureReport) = classify(FailureArgs);

    /// Show whether agent teams are enabled on the host
    ///
    /// Example: `gsd-tools teams-status --active` exits with 1 if they are not.
    "teams-status": reads json(dispatch::TeamsReport) = teams(TeamsArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct TypeArgs {
    /// The agent, such as `gsd-planner`
    #[arg(long)]
    requested: Option<String>,
    /// Print the full report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct JsonArgs {
    /// Print the full report as JSON
    #[arg(long)]
    json: bool,
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
pub(crate) struct RecordArgs {
    /// Who created the worktrees
    #[arg(long)]
    isolation: IsolationWord,
    /// The argument that made the host create them, if there was one
    #[arg(long, num_args = 0..=1, default_missing_value = "")]
    harness_flag: Option<String>,
    /// The phase the agents worked on
    #[arg(long)]
    phase: Option<String>,
    /// The plan the agents worked on
    #[arg(long)]
    plan: Option<String>,
}

/// [`Isolation`] as a person types it.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum IsolationWord {
    HarnessWorktree,
    OrchestratorWorktree,
    None,
}

impl From<IsolationWord> for Isolation {
    fn from(word: IsolationWord) -> Self {
        match word {
            IsolationWord::HarnessWorktree => Self::HarnessWorktree,
            IsolationWord::OrchestratorWorktree => Self::OrchestratorWorktree,
            IsolationWord::None => Self::None,
        }
    }
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

#[derive(Debug, clap::Args)]
pub(crate) struct FailureArgs {
    /// The output of the agent
    words: Vec<String>,
    /// The output of the agent, as a flag
    #[arg(long)]
    text: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TeamsArgs {
    /// Print nothing; exit 0 if teams are enabled, 1 if not
    #[arg(long)]
    active: bool,
    /// Print the full report (default)
    #[arg(long, hide = true)]
    json: bool,
}

fn inspect(context: &mut Context, JsonArgs { json }: &JsonArgs) -> Result<(), Failure> {
    let report =
        dispatch::isolation(&context.host()?.id, dispatch::facts(context)?.as_ref(), None, true, RunIn::default());
    tell_isolation(context, &report, *json)
}

fn classify(context: &mut Context, FailureArgs { words, text }: &FailureArgs) -> Result<(), Failure> {
    let report = match text {
        Some(text) => classify_failure(text),
        None => classify_failure(&words.join(" ")),
    };
    context.emit(&report)
}

/// Answers with JSON if it was requested, else with one line.
fn tell(context: &mut Context, json: bool, report: &impl Serialize, line: &str) -> Result<(), Failure> {
    if json {
        context.emit(report)?;
    } else {
        context.text(line);
    }
    context.text("\n");
    Ok(())
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TypeReport<'a> {
    runtime: &'a str,
    requested: &'a str,
    resolved: &'a str,
    dispatch: Option<DispatchReport>,
}

fn resolve_type(context: &mut Context, arguments: &TypeArgs) -> Result<(), Failure> {
    let runtime = context.host()?.id.clone();
    let facts = dispatch::facts(context)?;
    let requested = arguments.requested.as_deref().unwrap_or_default();
    let resolved = dispatch::agent_type(facts.as_ref(), requested);
    let dispatch = facts.as_ref().map(DispatchReport::from);
    let report = TypeReport { runtime: &runtime, requested, resolved, dispatch };
    tell(context, arguments.json, &report, resolved)
}

fn tell_isolation(context: &mut Context, report: &IsolationReport, json: bool) -> Result<(), Failure> {
    tell(context, json, report, report.isolation.word())
}

fn isolation(context: &mut Context, arguments: &IsolationArgs) -> Result<(), Failure> {
    let (folder, prompt) = (arguments.cwd_target.as_deref(), arguments.prompt.as_deref());
    let report = dispatch::isolation_of_call(context, arguments.force_isolation.as_deref(), folder, prompt)?;
    let work = (arguments.phase.as_ref(), arguments.plan.as_ref());
    dispatch::note(context, report.isolation, report.harness_flag.as_ref(), work)?;
    tell_isolation(context, &report, arguments.json)
}

fn record(context: &mut Context, arguments: &RecordArgs) -> Result<(), Failure> {
    let flag = arguments.harness_flag.as_ref().filter(|flag| !flag.is_empty());
    let work = (arguments.phase.as_ref(), arguments.plan.as_ref());
    context.emit(&dispatch::note(context, arguments.isolation.into(), flag, work)?)
}

fn capacity(context: &mut Context, JsonArgs { json }: &JsonArgs) -> Result<(), Failure> {
    let report = dispatch::capacity_of_call(context)?;
    let line = report.capacity.to_string();
    tell(context, *json, &report, &line)
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
    tell(context, *json, &report, if should_flatten { "true" } else { "false" })
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
    tell(context, arguments.json, &report, resolved)
}

fn teams(context: &mut Context, arguments: &TeamsArgs) -> Result<(), Failure> {
    let report = dispatch::teams(context)?;
    if !arguments.active {
        return context.emit(&report);
    }
    if !report.active {
        context.exit_with(1);
    }
    Ok(())
}
