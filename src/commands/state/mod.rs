//! STATE.md: reading it, moving the position, noting what work left behind.

pub(crate) mod upkeep;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::commands::frame::CommandError;
use crate::commands::frame::Context;
use crate::commands::frame::Family;
use crate::commands::frame::error::Reason;
use crate::disk;
use crate::library;
use crate::operations::answers::token::{self, Seen};
use crate::operations::health::WrittenAt;
use crate::operations::state::advance;
use crate::operations::state::claim::Conflict;
use crate::operations::state::notes::{self, Metric, NoteReport};
use crate::operations::state::position::{self, PhaseRequest};
use crate::operations::state::read::{self, Found};
use crate::operations::state::situation::{self, Surroundings};
use crate::operations::state::update;
use crate::operations::state::{Commands, Facts, NO_STATE, NO_STATE_CURE, StateError};
use crate::project::config::LoadedConfig;
use crate::project::repository;
use crate::project::root;
use crate::project::state::State;
use crate::project::view::{Edits, ProjectView};
use crate::project::workstream;
use crate::world::Finished;
use upkeep::UpkeepCommand;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum States {
    /// Show and update STATE.md, which says where a project is
    ///
    /// Example: `gsd-tools state` prints the configuration and the text of STATE.md.
    State(StateArgs),
    /// Show STATE.md as one record
    ///
    /// Example: `gsd-tools state-snapshot --pick session.stopped_at`.
    StateSnapshot,
    /// Show the situation of the project and what to do next
    ///
    /// Example: `gsd-tools smart-entry --json --pick recommended`.
    SmartEntry(EntryArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct StateArgs {
    #[command(subcommand)]
    command: Option<StateCommand>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EntryArgs {
    /// Print all signals and actions as JSON instead of two lines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum StateCommand {
    /// Print configuration, STATE.md and which documents exist
    ///
    /// Example: `gsd-tools state load --pick config.model_profile`.
    Load,
    /// Print the front matter as body, disk and roadmap tell it now
    ///
    /// Example: `gsd-tools state json --pick progress.percent`.
    Json,
    /// Print a field, a key of the front matter, or a section
    ///
    /// Example: `gsd-tools state get "Current focus" --raw`.
    Get(GetArgs),
    /// Set one field
    ///
    /// Example: `gsd-tools state update "Last activity" "2026-01-02 — Fixed the build"`.
    Update(UpdateArgs),
    /// Set several fields at once
    ///
    /// Example: `gsd-tools state patch --Status Paused --"Resume file" .planning/notes.md`; or one JSON object:
    /// `gsd-tools state patch '{"Status": "Paused"}'`.
    Patch(PatchArgs),
    /// Set the position to the first open plan of a phase
    ///
    /// Example: `gsd-tools state begin-phase --phase 3 --name Sync --plans 2`.
    BeginPhase(PhaseArgs),
    /// Record that a phase is planned and ready to be executed
    ///
    /// Example: `gsd-tools state planned-phase --phase 3 --name Sync --plans 2`.
    PlannedPhase(PhaseArgs),
    /// Set the position to the next plan
    ///
    /// Example: `gsd-tools state advance-plan --raw` prints `false` behind the last plan.
    AdvancePlan,
    /// Record what a plan took
    ///
    /// Example: `gsd-tools state record-metric --phase 2 --plan 1 --duration 15min --tasks 3 --files 4`.
    RecordMetric(MetricArgs),
    /// Update the counts of plans and phases
    ///
    /// Example: `gsd-tools state update-progress --raw` prints `[████░░░░░░] 40%`.
    UpdateProgress,
    /// Add a decision
    ///
    /// Example: `gsd-tools state add-decision --phase 2 --summary "Use REST" --rationale "simple"`.
    AddDecision(DecisionArgs),
    /// Add a blocker
    ///
    /// Example: `gsd-tools state add-blocker --text "The API is down"`.
    AddBlocker(BlockerArgs),
    /// Remove the blockers that contain a text
    ///
    /// Example: `gsd-tools state resolve-blocker --text "API"`.
    ResolveBlocker(ResolveArgs),
    /// Record where work stopped and from which file it resumes
    ///
    /// Example: `gsd-tools state record-session --stopped-at "Completed 02-01-PLAN.md" --resume-file None`.
    RecordSession(SessionArgs),
    /// Record that a phase is complete, in STATE.md alone
    ///
    /// Example: `gsd-tools state complete-phase --phase 2`.
    CompletePhase(CompleteArgs),
    #[command(flatten)]
    Upkeep(UpkeepCommand),
}

#[derive(Debug, clap::Args)]
pub(crate) struct GetArgs {
    /// The label of a field, a key of the front matter, or the title of a section; everything without it
    field: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UpdateArgs {
    /// The label of a field, or a key of the front matter
    field: String,
    /// Its new value
    #[arg(allow_hyphen_values = true)]
    value: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PatchArgs {
    /// Pairs of `--<field> <value>`, or one JSON object
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    fields: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseArgs {
    /// The phase, such as `3` or `3.1`
    #[arg(long)]
    phase: String,
    /// Its name
    #[arg(long)]
    name: Option<String>,
    /// How many plans it has
    #[arg(long)]
    plans: Option<u64>,
}

impl PhaseArgs {
    fn request(&self) -> PhaseRequest<'_> {
        let name = self.name.as_deref().filter(|name| !name.trim().is_empty());
        PhaseRequest { phase: self.phase.trim(), name, plans: self.plans.filter(|plans| *plans > 0) }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct MetricArgs {
    /// The phase of the plan
    #[arg(long)]
    phase: Option<String>,
    /// The number of the plan
    #[arg(long)]
    plan: Option<String>,
    /// How long it took, such as `15min`
    #[arg(long)]
    duration: Option<String>,
    /// How many tasks it had
    #[arg(long)]
    tasks: Option<String>,
    /// How many files it changed
    #[arg(long)]
    files: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DecisionArgs {
    /// The phase it was made in; the phase at work without it
    #[arg(long)]
    phase: Option<String>,
    /// What was decided
    #[arg(long)]
    summary: Option<String>,
    /// A file with what was decided
    #[arg(long, conflicts_with = "summary")]
    summary_file: Option<String>,
    /// Why
    #[arg(long)]
    rationale: Option<String>,
    /// A file with the reason
    #[arg(long, conflicts_with = "rationale")]
    rationale_file: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BlockerArgs {
    /// What stands in the way
    #[arg(long)]
    text: Option<String>,
    /// A file with what stands in the way
    #[arg(long, conflicts_with = "text")]
    text_file: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResolveArgs {
    /// A part of the blocker's text, in any case
    #[arg(long)]
    text: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionArgs {
    /// Where work stopped
    #[arg(long)]
    stopped_at: Option<String>,
    /// The file to resume from; `None` if there is none
    #[arg(long)]
    resume_file: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompleteArgs {
    /// The phase; the phase at work without it
    #[arg(long = "phase", conflicts_with = "positional")]
    phase: Option<String>,
    /// The same, without the flag
    #[arg(value_name = "PHASE")]
    positional: Option<String>,
}

impl Family for States {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        match self {
            Self::State(arguments) => run_state(context, arguments.command.unwrap_or(StateCommand::Load)),
            Self::StateSnapshot => {
                let report = read::snapshot(&context.view())?;
                emit_found(context, report.as_ref())
            }
            Self::SmartEntry(arguments) => smart_entry(context, &arguments),
        }
    }
}

/// In a worktree, documents that git ignores are those of the main one, which is found only where both know each other.
fn refuse_moved_worktree(context: &Context) -> Result<(), CommandError> {
    if root::has_documents(context.root()) {
        return Ok(());
    }
    match repository::repository_of_others(context.root()).filter(repository::OtherRepository::is_moved_worktree) {
        Some(moved) => Err(CommandError::usage(format!("{NO_STATE}: {moved}")).hint(moved.hint())),
        None => Ok(()),
    }
}

fn run_state(context: &mut Context, command: StateCommand) -> Result<(), CommandError> {
    refuse_moved_worktree(context)?;
    match command {
        StateCommand::Load => load(context),
        StateCommand::Json => {
            let facts = facts(context)?;
            let view = context.view();
            let report = read::json(&view, &facts)?;
            let token = token::of(&view, Seen::State)?;
            drop(view);
            context.answer_for(token);
            match report {
                Some(report) => context.emit(&report),
                None => context.emit_raw(&FailureReport::of(NO_STATE), NO_STATE),
            }
        }
        StateCommand::Get(arguments) => get(context, arguments.field.as_deref()),
        StateCommand::Update(arguments) => {
            let report = write(context, |view, facts| update::update(view, &arguments.field, &arguments.value, facts))?;
            context.emit(&report)
        }
        StateCommand::Patch(arguments) => {
            let fields = pairs(&arguments.fields)?;
            needs_planning(context, NO_STATE)?;
            let report = write(context, |view, facts| update::patch(view, &fields, facts))?;
            context.emit_raw(&report, (!report.updated.is_empty()).to_string())
        }
        StateCommand::BeginPhase(arguments) => {
            let report = write_found(context, |view, facts| position::begin(view, arguments.request(), facts))?;
            warn_of(context, report.as_ref().and_then(|report| report.milestone_conflict.as_ref()));
            let raw = report.as_ref().is_some_and(|report| !report.updated.is_empty());
            emit_written(context, report.as_ref(), raw)
        }
        StateCommand::PlannedPhase(arguments) => {
            let report = write_found(context, |view, facts| position::planned(view, arguments.request(), facts))?;
            let raw = report.as_ref().is_some_and(|report| !report.updated.is_empty());
            emit_written(context, report.as_ref(), raw)
        }
        StateCommand::CompletePhase(arguments) => {
            complete_phase(context, arguments.phase.or(arguments.positional).as_deref())
        }
        StateCommand::AdvancePlan => advance_plan(context),
        StateCommand::UpdateProgress => {
            let report = write_found(context, notes::update_progress)?;
            if let Some(reason) = report.as_ref().and_then(|report| report.reason.as_deref()) {
                context.warn(format!("progress stays as it is: {reason}"));
            }
            match &report {
                Some(report) => {
                    let raw = report.bar.clone().unwrap_or_else(|| "false".to_owned());
                    context.emit_raw(report, raw)
                }
                None => emit_found::<()>(context, None),
            }
        }
        StateCommand::RecordMetric(arguments) => {
            let metric = Metric {
                phase: arguments.phase.as_deref(),
                plan: arguments.plan.as_deref(),
                duration: arguments.duration.as_deref(),
                tasks: arguments.tasks.as_deref(),
                files: arguments.files.as_deref(),
            };
            note(context, |view, facts| notes::record_metric(view, metric, facts))
        }
        StateCommand::AddDecision(arguments) => {
            let summary = text_or_file(context, arguments.summary, arguments.summary_file.as_deref())?;
            let rationale = text_or_file(context, arguments.rationale, arguments.rationale_file.as_deref())?;
            note(context, |view, facts| {
                let (phase, summary, rationale) =
                    (arguments.phase.as_deref(), summary.as_deref(), rationale.as_deref());
                notes::add_decision(view, phase, summary, rationale, facts)
            })
        }
        StateCommand::AddBlocker(arguments) => {
            let text = text_or_file(context, arguments.text, arguments.text_file.as_deref())?;
            note(context, |view, facts| notes::add_blocker(view, text.as_deref(), facts))
        }
        StateCommand::ResolveBlocker(arguments) => {
            note(context, |view, facts| notes::resolve_blocker(view, arguments.text.as_deref(), facts))
        }
        StateCommand::RecordSession(arguments) => {
            let is_told = |text: &&str| !text.trim().is_empty();
            let stopped_at = arguments.stopped_at.as_deref().filter(is_told);
            let resume_file = arguments.resume_file.as_deref().filter(is_told);
            if stopped_at.is_none() && resume_file.is_none() {
                return Err(CommandError::usage("`state record-session` needs --stopped-at or --resume-file"));
            }
            note(context, |view, facts| notes::record_session(view, stopped_at, resume_file, facts))
        }
        StateCommand::Upkeep(command) => upkeep::run(context, command),
    }
}

fn complete_phase(context: &mut Context, phase: Option<&str>) -> Result<(), CommandError> {
    let report = write_found(context, |view, facts| position::complete(view, phase, facts))?;
    match &report {
        Some(position::CompleteReport::Complete(complete)) => {
            context.emit_raw(&report, (!complete.updated.is_empty()).to_string())
        }
        report => emit_found(context, report.as_ref()),
    }
}

fn advance_plan(context: &mut Context) -> Result<(), CommandError> {
    let report = write_found(context, advance::advance)?;
    if let Some(advance::AdvanceReport::PlansLeft(report)) = &report {
        let plans = report.outstanding_plans.join(", ");
        context.warn(format!("the position stays: plans of {} have no summary: {plans}", report.phase_dir));
    }
    warn_of(context, report.as_ref().and_then(advance::AdvanceReport::conflict));
    let raw = report.as_ref().is_some_and(advance::AdvanceReport::advanced);
    emit_written(context, report.as_ref(), raw)
}

/// What `state load` answers.
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

fn load(context: &mut Context) -> Result<(), CommandError> {
    let config = context.config()?.clone();
    let view = context.view();
    let layout = view.layout();
    let state = view.state_text()?;
    let report = LoadReport {
        config: LoadedConfig(&config),
        state_raw: state.as_deref().unwrap_or_default(),
        state_exists: state.is_some(),
        roadmap_exists: view.exists(&layout.roadmap()),
        config_exists: view.exists(&layout.config()),
        debug_dir: layout.shown(&layout.scope_debug()),
    };
    let values = serde_json::to_value(report.config)?;
    let bare = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut lines: Vec<String> = LOAD_LINES.iter().map(|key| format!("{key}={}", bare(&values[key]))).collect();
    lines.push(format!("config_exists={}", report.config_exists));
    lines.push(format!("roadmap_exists={}", report.roadmap_exists));
    lines.push(format!("state_exists={}", report.state_exists));
    context.emit_raw(&report, lines.join("\n"))
}

/// An answer that is only a failure: the call itself was right.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct FailureReport {
    pub(in crate::commands) error: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) hint: Option<&'static str>,
}

impl FailureReport {
    pub(in crate::commands) fn of(error: impl Into<String>) -> Self {
        let error = error.into();
        Self { hint: (error == NO_STATE).then_some(NO_STATE_CURE), error }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ContentReport {
    content: String,
}

fn get(context: &mut Context, field: Option<&str>) -> Result<(), CommandError> {
    let found = read::get(&context.view(), field, &moment(context))?;
    let name = field.unwrap_or_default();
    match found {
        Found::Everything(text) => context.emit_raw(&ContentReport { content: text.clone() }, text),
        Found::Value(value) => {
            let report = std::collections::BTreeMap::from([(name, value.as_str())]);
            context.emit_raw(&report, &value)
        }
        Found::NoState => Err(CommandError::new(Reason::Unknown, NO_STATE).hint(NO_STATE_CURE)),
        Found::Nothing => context.emit_raw(&FailureReport::of(format!("Section or field \"{name}\" not found")), ""),
    }
}

fn smart_entry(context: &mut Context, arguments: &EntryArgs) -> Result<(), CommandError> {
    let view = context.view();
    let surroundings = surroundings(context, &view);
    let facts = Facts { commands: commands(context)?, ..moment(context) };
    let report = situation::smart_entry(&view, &surroundings, &facts)?;
    if arguments.json {
        return context.emit(&report);
    }
    let next = report.recommended_action();
    context.text(format!("{}\nRecommended: {} → {}", report.summary, next.id, next.command));
    Ok(())
}

/// What git says about the folder; one run of git, two where STATE.md names a commit.
fn surroundings(context: &Context, view: &ProjectView) -> Surroundings {
    let root = view.layout().root();
    let has_planning = disk::is_folder(view.layout().absolute(view.layout().planning()));
    let asked = context.world().git_differences(root, ["status", "--porcelain=v2", "--branch"]);
    let Some(status) = asked.ok().filter(Finished::success).map(|finished| finished.text()) else {
        return Surroundings { has_planning, ..Surroundings::default() };
    };
    let ahead = status.lines().find_map(|line| line.strip_prefix("# branch.ab +"));
    Surroundings {
        has_planning,
        has_git: true,
        dirty: status.lines().any(|line| !line.starts_with('#') && !line.is_empty()),
        unpushed: ahead.is_some_and(|ahead| !ahead.starts_with("0 ")),
        behind: written_at(context, view).map(|written| written.commits),
    }
}

/// The commit that STATE.md says it was written at, and how many came after it; one run of git where it says so.
pub(in crate::commands) fn written_at(context: &Context, view: &ProjectView) -> Option<WrittenAt> {
    let text = view.state_text().ok().flatten()?;
    let is_hash = |head: &String| head.len() >= 7 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    let head = State::parse(&text).front_text("state_head").filter(is_hash)?;
    let line = ["rev-list", "--count", &format!("{head}..HEAD")];
    let finished = context.world().git(view.layout().root(), line).ok().filter(Finished::success)?;
    Some(WrittenAt { commits: finished.text().trim().parse().ok()?, head })
}

/// The facts of a state operation that need neither another program nor the configuration.
fn moment(context: &Context) -> Facts {
    let world = context.world();
    let now = world.now();
    Facts {
        now: now.to_string(),
        milliseconds: now.milliseconds(),
        today: world.today(),
        head: None,
        session: workstream::session_key(|name| world.variable(name)),
        process: world.process(),
        commands: Commands::default(),
    }
}

/// The commands that the next step is told in.
fn commands(context: &Context) -> Result<Commands, CommandError> {
    Ok(Commands {
        prefix: context.command_prefix()?.to_owned(),
        installed: library::command_names().map(str::to_owned).collect(),
        skip_discussion: context.config()?.flag("workflow.skip_discuss"),
    })
}

/// As [`moment`], with the commands, and with the commit the work stands on, where the project is one repository of its own.
pub(in crate::commands) fn facts(context: &Context) -> Result<Facts, CommandError> {
    let root = context.layout().root();
    let own = disk::exists(root.join(".git")) && context.config()?.sub_repositories().is_empty();
    let head = own.then(|| context.world().git(root, ["rev-parse", "--verify", "--quiet", "HEAD"]).ok()).flatten();
    let head = head.filter(crate::world::Finished::success).map(|finished| finished.text().trim().to_owned());
    Ok(Facts { head, commands: commands(context)?, ..moment(context) })
}

pub(in crate::commands) fn write<R>(
    context: &Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<(R, Edits), StateError>,
) -> Result<R, CommandError> {
    let facts = facts(context)?;
    context.update(|view| operation(view, &facts).map_err(told))
}

/// As [`write`], for operations that have nothing to say without STATE.md.
pub(in crate::commands) fn write_found<R>(
    context: &Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<Option<(R, Edits)>, StateError>,
) -> Result<Option<R>, CommandError> {
    write(context, |view, facts| {
        Ok(match operation(view, facts)? {
            Some((report, edits)) => (Some(report), edits),
            None => (None, Edits::default()),
        })
    })
}

pub(in crate::commands) fn note(
    context: &mut Context,
    operation: impl FnOnce(&ProjectView, &Facts) -> Result<(NoteReport, Edits), StateError>,
) -> Result<(), CommandError> {
    let report = write(context, operation)?;
    if let Some(reason) = report.reason() {
        context.warn(format!("STATE.md stays as it is: {reason}"));
    }
    if let NoteReport::Refused(_) = &report {
        return context.emit(&report);
    }
    let raw = report.done().to_string();
    context.emit_raw(&report, raw)
}

/// Refuses a call that would make `.planning/` out of nothing.
pub(in crate::commands) fn needs_planning(context: &Context, message: &str) -> Result<(), CommandError> {
    if disk::is_folder(context.layout().absolute(context.layout().planning())) {
        return Ok(());
    }
    let prefix = context.command_prefix()?;
    let hint = format!("there is no `.planning/` here; {prefix}new-project makes one");
    Err(CommandError::new(Reason::Unknown, message).hint(hint))
}

/// What to do about a STATE.md of which nothing can be used.
const LOST: &str =
    "restore it from git, or keep it under another name and create a new one: gsd-tools state rebuild --set-aside";

/// A broken STATE.md is told with what to do about it.
fn told(error: StateError) -> CommandError {
    match error {
        StateError::Garbled { is_lost: false, .. } => {
            CommandError::from(error).hint("mend that line; nothing was written")
        }
        StateError::Garbled { .. } => CommandError::from(error).hint(LOST),
        StateError::File(error) => {
            let is_state = error.path.ends_with("STATE.md");
            let told = CommandError::from(error);
            if is_state { told.hint(LOST) } else { told }
        }
    }
}

pub(in crate::commands) fn emit_found<R: Serialize>(
    context: &mut Context,
    report: Option<&R>,
) -> Result<(), CommandError> {
    match report {
        Some(report) => context.emit(report),
        None => context.emit(&FailureReport::of(NO_STATE)),
    }
}

pub(in crate::commands) fn emit_written<R: Serialize>(
    context: &mut Context,
    report: Option<&R>,
    raw: bool,
) -> Result<(), CommandError> {
    match report {
        Some(report) => context.emit_raw(report, raw.to_string()),
        None => emit_found::<()>(context, None),
    }
}

fn warn_of(context: &Context, conflict: Option<&Conflict>) {
    if let Some(conflict) = conflict {
        let who = conflict.locked_session.as_deref().unwrap_or("a session without a name");
        context.warn(format!(
            "{who} claims phase {} of this milestone while this session moves to phase {}; STATE.md has one position for both",
            conflict.locked_phase, conflict.phase
        ));
    }
}

pub(in crate::commands) fn text_or_file(
    context: &Context,
    text: Option<String>,
    file: Option<&str>,
) -> Result<Option<String>, CommandError> {
    let Some(file) = file else { return Ok(text) };
    let path = context.here().resolve(file);
    match context.read(&path)? {
        Some(text) => Ok(Some(text)),
        None => Err(CommandError::usage(format!("there is no file `{path}`"))),
    }
}

/// The fields of `state patch`.
fn pairs(words: &[String]) -> Result<Vec<(String, String)>, CommandError> {
    if let [only] = words
        && only.trim_start().starts_with('{')
    {
        return object(only);
    }
    let mut pairs = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let field = word.strip_prefix("--").filter(|field| !field.is_empty());
        let field =
            field.ok_or_else(|| CommandError::usage(format!("`{word}` is no field: write `--<field> <value>`")))?;
        let value = words.next().filter(|value| !value.starts_with("--"));
        let value = value.ok_or_else(|| CommandError::usage(format!("`--{field}` needs a value")))?;
        // Of a field named twice the last value holds, as it does in an object.
        pairs.retain(|(known, _): &(String, String)| known != field);
        pairs.push((field.to_owned(), value.clone()));
    }
    Ok(pairs)
}

fn object(text: &str) -> Result<Vec<(String, String)>, CommandError> {
    let map: serde_json::Map<String, Value> = serde_json::from_str(text)
        .map_err(|error| CommandError::usage(format!("the fields are no JSON object: {error}")))?;
    let bare = |value: Value| match value {
        Value::String(text) => Some(text),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    map.into_iter()
        .map(|(field, value)| {
            let refused = CommandError::usage(format!("the value of `{field}` is no text"));
            bare(value).map(|value| (field, value)).ok_or(refused)
        })
        .collect()
}
