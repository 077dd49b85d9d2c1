//! Verbs about agents and hosts that only other programs call.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::agents::dispatch::{self, DispatchReport};
use crate::acts::{agents::instructions, hosts};
use crate::failure::Failure;
use crate::frame::named::JsonArgs;
use crate::frame::{Context, rows};
use crate::library;
use crate::operations::agents::failure::{FailureClass, classify_failure};
use crate::operations::agents::models::{self, ExecutionRequest};
use crate::runtime::Isolation;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};

rows! {
    /// Show the agent name to use when starting an agent on this host
    ///
    /// On a host that starts only built-in agents, prints the closest one.
    ///
    /// Example: `gsd-tools resolve-dispatch-type --requested gsd-planner`.
    RESOLVE_TYPE = "resolve-dispatch-type": reads json(TypeReport) = resolve_type(TypeArgs);

    /// Record who created the worktrees of agents
    ///
    /// Example: `gsd-tools record-dispatch-isolation --isolation none --phase 2`.
    RECORD_ISOLATION = "record-dispatch-isolation": acts [unasked] json(dispatch::RecordedReport) = record(DispatchRecordArgs);

    /// Show how many agents may run at once
    ///
    /// Reads `GSD_DISPATCH_MAX_CONCURRENCY`, then the limit of the host; 1 if neither is known.
    ///
    /// Example: `gsd-tools dispatch-capacity` prints a number.
    CAPACITY = "dispatch-capacity": reads json(dispatch::CapacityReport) = capacity(JsonArgs);

    /// Explain why an agent failed, from its output
    ///
    /// The class is `quota-exceeded`, `classify-handoff-bug` (a fault of the host after the work was done) or
    /// `unknown-failure`.
    ///
    /// Example: `gsd-tools agent classify-failure --text "429 Too Many Requests" --pick class`.
    CLASSIFY_FAILURE = "agent classify-failure": reads json(crate::operations::agents::failure::FailureReport) = classify(FailureArgs);

    /// Show whether agent teams are enabled on the host
    ///
    /// Example: `gsd-tools teams-status --active` exits with 1 if they are not.
    TEAMS = "teams-status": reads json(dispatch::TeamsReport) = teams(TeamsArgs);

    /// Show the model, effort and fast mode an agent runs with
    ///
    /// With `dynamic_routing.enabled`, each attempt after the first goes one tier and one level of effort up, at most
    /// `dynamic_routing.max_escalations` times (default 1). Work that failed with `quota-exceeded` goes along the models
    /// in `dynamic_routing.provider_escalation` instead.
    ///
    /// Example: `gsd-tools resolve-execution gsd-executor --attempt 1`.
    EXECUTION = "resolve-execution": reads json(models::ExecutionReport) = execution(ExecutionArgs);

    /// Show the granularity for a kind of phase
    ///
    /// Reads `granularities.<kind>`, then `granularity` in the configuration.
    ///
    /// Example: `gsd-tools resolve-granularity planning --raw` prints `standard`.
    GRANULARITY = "resolve-granularity": reads json(models::GranularityReport) = granularity(GranularityArgs);

    /// Print the instruction file that a host reads
    ///
    /// It is the file that `generate-claude-md` writes for that host. Without a host, takes the one that `GSD_RUNTIME`, the
    /// installation or the configuration names; without these, and for a host that is not known, prints `AGENTS.md`.
    ///
    /// Example: `gsd-tools project-instruction-file codex`.
    INSTRUCTION_FILE = "project-instruction-file": reads text("the host's instruction file")
        = instruction_file(InstructionArgs);

    /// List the agents installed for the host, and the missing ones
    ///
    /// Example: `gsd-tools validate agents --pick missing`.
    INSTALLED = "validate agents": reads json(AgentsReport) = agents();
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
pub(crate) struct DispatchRecordArgs {
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

fn classify(context: &mut Context, FailureArgs { words, text }: &FailureArgs) -> Result<(), Failure> {
    let report = match text {
        Some(text) => classify_failure(text),
        None => classify_failure(&words.join(" ")),
    };
    context.emit(&report)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TypeReport<'a> {
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
    context.emit_or_line(arguments.json, &report, resolved)
}

fn record(context: &mut Context, arguments: &DispatchRecordArgs) -> Result<(), Failure> {
    let flag = arguments.harness_flag.as_ref().filter(|flag| !flag.is_empty());
    let work = (arguments.phase.as_ref(), arguments.plan.as_ref());
    context.emit(&dispatch::note(context, arguments.isolation.into(), flag, work)?)
}

fn capacity(context: &mut Context, JsonArgs { json }: &JsonArgs) -> Result<(), Failure> {
    let report = dispatch::capacity_of_call(context)?;
    let line = report.capacity.to_string();
    context.emit_or_line(*json, &report, &line)
}

fn teams(context: &mut Context, arguments: &TeamsArgs) -> Result<(), Failure> {
    let report = dispatch::teams(context)?;
    if !arguments.active {
        return context.emit(&report);
    }
    context.exit_with(u8::from(!report.active));
    Ok(())
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExecutionArgs {
    /// The agent, such as `gsd-planner`
    agent: String,
    /// Use this effort instead of the configured one
    #[arg(long)]
    effort: Option<String>,
    /// Use fast mode, or not, instead of what is configured
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    fast_mode: Option<bool>,
    /// How often the same work was attempted before; later attempts may get a stronger model and more effort
    #[arg(long, default_value_t = 0)]
    attempt: usize,
    /// Why the last attempt failed, as `agent classify-failure` prints it
    #[arg(long, value_enum)]
    failure_class: Option<FailureClass>,
    /// The host (default: the one of the call); the answer also has the words that give its program the effort
    #[arg(long)]
    host: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GranularityArgs {
    /// The kind of phase, such as `planning`
    kind: String,
    /// Use this granularity instead of the configured one
    #[arg(long)]
    granularity: Option<String>,
}

fn execution(context: &mut Context, arguments: &ExecutionArgs) -> Result<(), Failure> {
    let host = hosts::host_of_models(context, arguments.host.as_deref())?;
    let request = ExecutionRequest {
        effort: arguments.effort.as_deref(),
        fast_mode: arguments.fast_mode,
        attempt: arguments.attempt,
        failure: arguments.failure_class,
        host: arguments.host.as_deref(),
    };
    let report = models::execution(context.config()?, &host, &arguments.agent, &request);
    context.emit_raw(&report, &report.effort_rendered)
}

fn granularity(context: &mut Context, arguments: &GranularityArgs) -> Result<(), Failure> {
    let report = models::granularity(context.config()?, &arguments.kind, arguments.granularity.as_deref());
    context.emit_raw(&report, &report.granularity)
}

/// The instruction file that most hosts read.
const COMMON_INSTRUCTIONS: &str = "AGENTS.md";

#[derive(Debug, clap::Args)]
pub(crate) struct InstructionArgs {
    /// The host, such as `codex`
    host: Option<String>,
    /// The host, as a flag
    #[arg(long, value_name = "HOST", num_args = 0..=1, default_missing_value = "", overrides_with = "host")]
    runtime: Option<String>,
}

fn instruction_file(context: &mut Context, arguments: &InstructionArgs) -> Result<(), Failure> {
    let named = arguments.runtime.as_ref().or(arguments.host.as_ref()).filter(|host| !host.trim().is_empty());
    let named = if named.is_some() { named.cloned() } else { hosts::host_word(context)? };
    let file = match named {
        None => COMMON_INSTRUCTIONS.to_owned(),
        Some(host) => {
            if let Some(descriptor) = hosts::host_if_known(context, &host)? {
                let file = instructions::file_of_host(context, Some(&descriptor.instruction_file))?;
                file.strip_prefix("./").unwrap_or(&file).to_owned()
            } else {
                context.warn(format!("unknown host `{host}`; the answer is the file that most hosts read"));
                COMMON_INSTRUCTIONS.to_owned()
            }
        }
    };
    context.text(file + "\n");
    Ok(())
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentsReport {
    agents_dir: Option<String>,
    agents_found: bool,
    installed: Vec<String>,
    missing: Vec<String>,
    /// Always empty: agents that are only partly installed. A file is written whole or not at all.
    incomplete: Vec<String>,
    expected: Vec<String>,
}

fn agents(context: &mut Context) -> Result<(), Failure> {
    let found = hosts::agents(context, context.host()?.descriptor.as_ref());
    let expected: Vec<String> = library::agent_names().map(|name| format!("gsd-{name}")).collect();
    let installed: Vec<String> = expected.iter().filter(|name| !found.missing.contains(name)).cloned().collect();
    let report = AgentsReport {
        agents_dir: found.folder.map(|folder| folder.to_string_lossy().replace('\\', "/")),
        agents_found: !installed.is_empty(),
        installed,
        missing: found.missing,
        incomplete: Vec::new(),
        expected,
    };
    if !context.shows_to_a_person() {
        return context.emit(&report);
    }
    let page = report.shown(context.screen());
    context.text(page);
    Ok(())
}

impl AgentsReport {
    /// The installed and the missing agents, for a person at a terminal.
    fn shown(&self, screen: Screen) -> String {
        let folder = self.agents_dir.as_deref().map(|folder| format!(" in {folder}")).unwrap_or_default();
        let count = format!("{} of {} installed{folder}", self.installed.len(), counted(self.expected.len(), "agent"));
        if self.missing.is_empty() {
            return screen.item("", Mark::Done, &count);
        }
        let missing = screen.prose("Missing: ", "  ", &self.missing.join(", "));
        let next = screen.fields("", &[("Next", Cell::new(Tone::Command, "gsd-tools install"))]);
        screen.item("", Mark::Warning, &count) + &missing + "\n" + &next
    }
}
