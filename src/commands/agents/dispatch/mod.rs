//! How agents are started on the host of the call.

pub(in crate::commands) mod answers;

use crate::acts::files;
use crate::acts::hosts;
use crate::acts::program;
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use crate::auto::runner::table::Runners;
use crate::auto::runner::version::{major_of, version_of};
use crate::commands::frame::{Context, verbs};
use crate::disk;
use crate::disk::AbsolutePath;
use crate::failure::{Failure, Reason};
use crate::operations::agents::failure::classify_failure;
use crate::project::wave::{WAVE_NOTE, WaveNote};
use crate::runtime::{Dispatch, Isolation};
use answers::{DispatchReport, IsolationReport, RunIn};

/// Says how many agents may run at once.
pub(in crate::commands) const CAPACITY_VARIABLE: &str = "GSD_DISPATCH_MAX_CONCURRENCY";

/// The agent that does what no agent of its own is there for.
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
    "dispatch-isolation": runs [unasked] json(answers::IsolationReport) = isolation(IsolationArgs);

    /// Show who would create the worktrees of agents; records nothing
    ///
    /// Example: `gsd-tools inspect-dispatch-isolation --json`.
    "inspect-dispatch-isolation": reads json(answers::IsolationReport) = inspect(JsonArgs);

    /// Record who created the worktrees of agents
    ///
    /// Example: `gsd-tools record-dispatch-isolation --isolation none --phase 2`.
    "record-dispatch-isolation": acts [unasked] json(RecordedReport) = record(RecordArgs);

    /// Show how many agents may run at once
    ///
    /// Reads `GSD_DISPATCH_MAX_CONCURRENCY`, then the limit of the host; 1 if neither is known.
    ///
    /// Example: `gsd-tools dispatch-capacity` prints a number.
    "dispatch-capacity": reads json(answers::CapacityReport) = capacity(JsonArgs);

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
    "teams-status": reads json(TeamsReport) = teams(TeamsArgs);
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
    let report = answers::isolation(&context.host()?.id, facts(context)?.as_ref(), None, true, RunIn::default());
    tell_isolation(context, &report, *json)
}

fn classify(context: &mut Context, FailureArgs { words, text }: &FailureArgs) -> Result<(), Failure> {
    let report = match text {
        Some(text) => classify_failure(text),
        None => classify_failure(&words.join(" ")),
    };
    context.emit(&report)
}

/// What is known of how the host of the call runs agents.
fn facts(context: &Context) -> Result<Option<Dispatch>, Failure> {
    Ok(context.host()?.descriptor.as_ref().and_then(|descriptor| descriptor.dispatch.clone()))
}

/// Answers with JSON where that is asked for, else with a line.
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
    let facts = facts(context)?;
    let requested = arguments.requested.as_deref().unwrap_or_default();
    let resolved = answers::agent_type(facts.as_ref(), requested);
    let dispatch = facts.as_ref().map(DispatchReport::from);
    let report = TypeReport { runtime: &runtime, requested, resolved, dispatch };
    tell(context, arguments.json, &report, resolved)
}

fn tell_isolation(context: &mut Context, report: &IsolationReport, json: bool) -> Result<(), Failure> {
    tell(context, json, report, report.isolation.word())
}

fn isolation(context: &mut Context, arguments: &IsolationArgs) -> Result<(), Failure> {
    let use_worktrees = context.config()?.flag("workflow.use_worktrees");
    let word = arguments.force_isolation.as_deref();
    let asked = word.and_then(|word| IsolationWord::from_str(word, true).ok()).map(Isolation::from);
    if let (Some(word), None) = (word, asked) {
        context.warn(format!(
            "ignored `--force-isolation {word}`: it takes harness-worktree, orchestrator-worktree or none"
        ));
    }
    let facts = facts(context)?;
    let (folder, prompt) = (arguments.cwd_target.as_deref(), arguments.prompt.as_deref());
    let has_majors = facts.as_ref().filter(|facts| folder.is_some() && !facts.run_in_majors.is_empty());
    let program = has_majors.and_then(|facts| facts.run_in.as_ref()?.first());
    let runners = Runners::builtin().map_err(|error| Failure::because(Reason::Unknown, &error))?;
    let runner = program.and_then(|program| runners.iter().find(|runner| runner.programs.contains(program)));
    let major = program.and_then(|program| major_of(&version_of(context.world(), runner, program)?));
    let run_in = RunIn { folder, prompt, major };
    let report = answers::isolation(&context.host()?.id, facts.as_ref(), asked, use_worktrees, run_in);
    if asked.is_some_and(|asked| asked != report.isolation) {
        context.warn("ignored `--force-isolation`: `workflow.use_worktrees` is off");
    }
    note(context, report.isolation, report.harness_flag.as_ref(), (arguments.phase.as_ref(), arguments.plan.as_ref()))?;
    tell_isolation(context, &report, arguments.json)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct RecordedReport {
    recorded: bool,
    path: String,
}

fn record(context: &mut Context, arguments: &RecordArgs) -> Result<(), Failure> {
    let (path, noted) = note(
        context,
        arguments.isolation.into(),
        arguments.harness_flag.as_ref().filter(|flag| !flag.is_empty()),
        (arguments.phase.as_ref(), arguments.plan.as_ref()),
    )?;
    context.emit(&RecordedReport { recorded: noted && !context.is_rehearsal(), path: path.to_string() })
}

/// Notes who gives executors their worktrees, outside the project's tree. The note of a wave that is not merged stays
/// as it is: it says what is to be merged, and how its executors are started. Gives its place, and whether it was
/// written.
fn note(
    context: &Context,
    isolation: Isolation,
    flag: Option<&String>,
    (phase, plan): (Option<&String>, Option<&String>),
) -> Result<(AbsolutePath, bool), Failure> {
    let path = context.local_state()?.file(WAVE_NOTE);
    let written_at = context.world().now().milliseconds();
    let noted = files::edit_note(context, &path, |text| {
        // A note that does not parse may be all that is known of some worktrees.
        let known = text.map(serde_json::from_str::<WaveNote>).transpose().map_err(|error| {
            Failure::usage(format!("`{path}` is not valid JSON: {error}"))
                .hint("correct the file; or merge the worktrees that `git worktree list` shows, then delete it")
        })?;
        if known.is_some_and(|note| note.is_open()) {
            return Ok((false, None));
        }
        let note = WaveNote {
            isolation: isolation.word().to_owned(),
            harness_flag: flag.cloned(),
            phase: phase.cloned(),
            plan: plan.cloned(),
            written_at,
            ..WaveNote::default()
        };
        Ok((true, Some(serde_json::to_string(&note)?)))
    })?;
    if !noted {
        context.warn(format_args!(
            "nothing was recorded: an earlier wave is not merged yet; run `{} worktree cleanup-wave`",
            program::word_of(context)
        ));
    }
    Ok((path, noted))
}

fn capacity(context: &mut Context, JsonArgs { json }: &JsonArgs) -> Result<(), Failure> {
    let asked = context.world().variable(CAPACITY_VARIABLE);
    let report = answers::capacity(&context.host()?.id, facts(context)?.as_ref(), asked.as_deref());
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
    let facts = facts(context)?;
    let should_flatten = answers::should_flatten(facts.as_ref());
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
    let there = context.config()?.flag("workflow.agent_hint_routing")
        && !requested.is_empty()
        && !requested.contains(['/', '\\'])
        && hosts::agent_files(context, requested).iter().any(disk::is_file);
    let resolved = if there { requested } else { FALLBACK_AGENT };
    let report = AgentReport { runtime: &runtime, requested, resolved, fallback: !there };
    tell(context, arguments.json, &report, resolved)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TeamsReport {
    active: bool,
    runtime: String,
    env_present: bool,
    source: String,
}

/// Few hosts have teams, and only where their environment says so.
fn teams(context: &mut Context, arguments: &TeamsArgs) -> Result<(), Failure> {
    let runtime = context.host()?.id.clone();
    let variable_of = |dispatch: Option<Dispatch>| dispatch.and_then(|dispatch| dispatch.teams_variable);
    let of_call = context.host()?.descriptor.clone();
    let hosts = of_call.into_iter().chain(context.registry()?.all()?);
    let with_teams = hosts.into_iter().find_map(|host| Some((host.id, variable_of(host.dispatch)?)));
    let set = |name: &str| context.world().flag(name);
    let env_present = with_teams.as_ref().is_some_and(|(_, variable)| set(variable));
    let source = match &with_teams {
        Some((host, _)) if host.as_str() != runtime => format!("off: non-{host}"),
        _ if env_present => "on: env".to_owned(),
        _ => "off: flag absent".to_owned(),
    };
    let active = source.starts_with("on");
    if arguments.active {
        if !active {
            context.exit_with(1);
        }
        return Ok(());
    }
    context.emit(&TeamsReport { active, runtime, env_present, source })
}
