//! Worktrees of agents.

use serde::Serialize;

use crate::acts::git::repository::refuse_repository_of_others;
use crate::acts::worktree::noted::{self, Manner};
use crate::acts::worktree::{self, Record, Refusal, base, cleanup, create_wave, reap};
use crate::failure::Failure;
use crate::frame::{Context, verbs};

verbs! {
    "Worktrees";
    groups { "worktree": "Create, merge and remove the worktrees of agents"; }

    /// Create the worktrees of a wave and print how to start its plans
    ///
    /// For each plan, prints the argument for the call that starts its executor and a line for the executor's prompt.
    /// Plans run one after the other if worktrees are off or impossible, or if plans share files; the answer says why.
    /// Records the wave outside the project, for `worktree cleanup-wave`.
    ///
    /// Example: `gsd-tools worktree create-wave --phase 2 --plans 02-01,02-02`.
    "worktree create-wave": acts [unasked] json(create_wave::CreatedWave, Refusal)
        = create_wave(WaveArgs);

    /// Merge the worktrees of a wave and remove them
    ///
    /// Without `--manifest`, merges the wave that `create-wave` recorded, into the branch it started on. A worktree
    /// with uncommitted files, a running executor, another branch or base, or deletions that no plan declares is
    /// skipped. Exits with 1 if a worktree is left.
    ///
    /// Example: `gsd-tools worktree cleanup-wave --pick result.reason`.
    "worktree cleanup-wave": acts [unasked] json(Refusal, cleanup::WaveReport) = cleanup_wave(CleanupArgs);

    /// Add an existing worktree to the manifest of its wave
    ///
    /// The manifest is a JSON file that has to exist; an empty one is `{"worktrees": []}`.
    ///
    /// Example: `gsd-tools worktree record-agent --manifest wave.json --agent-id a1 --path ../a1 --branch agent-a1 --base 1f3c`.
    "worktree record-agent": acts [unasked] json(worktree::NotedReport, Refusal) = record_agent(RecordArgs);

    /// Remove worktrees left by dead processes if their work is merged
    ///
    /// Removes only worktrees locked by a process that no longer runs. Worktrees with uncommitted files or unmerged
    /// commits are kept, and so are all branches.
    ///
    /// Example: `gsd-tools worktree reap-orphans --pick reaped`.
    "worktree reap-orphans": acts json(reap::ReapReport) = reap_orphans();

    /// Check whether new worktrees would start from the current commit
    ///
    /// `shouldDegrade` is true if they would start from another commit; plans then run one after the other in the main
    /// tree.
    ///
    /// Example: `gsd-tools worktree base-check --pick shouldDegrade`.
    "worktree base-check": reads json(crate::operations::agents::worktree::BaseReport) = base_check(BaseArgs);

    /// Set the host to start its worktrees from the current commit
    ///
    /// Edits the host's settings file in this project. A setting that has another value is not changed.
    ///
    /// Example: `gsd-tools worktree set-baseref --pick changed`.
    "worktree set-baseref": acts json(base::BaseRefReport) = set_base();

    /// Create a worktree for an agent and add it to the manifest
    ///
    /// The manifest is a JSON file that has to exist; an empty one is `{"worktrees": []}`.
    ///
    /// Example: `gsd-tools worktree create --manifest wave.json --agent-id a1 --path trees/a1 --branch agent-a1 --base 1f3c --root .`.
    "worktree create": acts [unasked] json(worktree::NotedReport, Refusal) = create(CreateArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct CleanupArgs {
    /// The manifest of the wave (default: the wave that `create-wave` recorded)
    #[arg(long)]
    manifest: Option<String>,
    /// Commit the uncommitted work of interrupted executors and merge it too
    #[arg(long, conflicts_with = "manifest")]
    keep_work: bool,
    /// Merge a wave that another session started; use this only if that session has ended
    #[arg(long, conflicts_with = "manifest")]
    take_over: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// The manifest of the wave
    #[arg(long)]
    manifest: Option<String>,
    /// The identifier of the agent
    #[arg(long)]
    agent_id: Option<String>,
    /// The folder of the worktree
    #[arg(long)]
    path: Option<String>,
    /// The branch; its name starts with `agent-`, `worktree-agent-` or `worktree-wf_`
    #[arg(long)]
    branch: Option<String>,
    /// The commit the branch starts from
    #[arg(long)]
    base: Option<String>,
    /// The files the agent may change, separated by spaces
    #[arg(long)]
    files: Option<String>,
    /// The files the agent may remove, separated by spaces
    #[arg(long)]
    deletions: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    record: RecordArgs,
    /// The folder that must contain the worktree
    #[arg(long)]
    root: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BaseArgs {
    /// Who creates the worktrees: the host or gsd-tools
    #[arg(long, value_parser = [HARNESS, ORCHESTRATOR])]
    mode: Option<String>,
}

const HARNESS: &str = "harness-worktree";
const ORCHESTRATOR: &str = "orchestrator-worktree";

#[derive(Debug, clap::Args)]
pub(crate) struct WaveArgs {
    /// The phase, such as `2`
    #[arg(long)]
    phase: String,
    /// The plans of the wave, separated by commas
    #[arg(long, value_delimiter = ',', required = true)]
    plans: Vec<String>,
}

impl RecordArgs {
    fn record(&self) -> Record<'_> {
        Record {
            manifest: self.manifest.as_deref(),
            agent_id: self.agent_id.as_deref(),
            path: self.path.as_deref(),
            branch: self.branch.as_deref(),
            base: self.base.as_deref(),
            files: self.files.as_deref(),
            deletions: self.deletions.as_deref(),
        }
    }
}

fn create_wave(context: &mut Context, arguments: &WaveArgs) -> Result<(), Failure> {
    let created = create_wave::create_wave(context, &arguments.phase, &arguments.plans)?;
    answer(context, true, created)
}

fn cleanup_wave(context: &mut Context, arguments: &CleanupArgs) -> Result<(), Failure> {
    refuse_repository_of_others(context.here())?;
    let manner = Manner { keep_work: arguments.keep_work, take_over: arguments.take_over };
    let report = match &arguments.manifest {
        Some(manifest) => cleanup::cleanup_wave(context, manifest)?,
        None => noted::cleanup_noted_wave(context, manner)?,
    };
    answer(context, report.as_ref().is_ok_and(|report| report.ok), report)
}

fn record_agent(context: &mut Context, arguments: &RecordArgs) -> Result<(), Failure> {
    let noted = worktree::record_agent(context, &arguments.record())?;
    answer(context, true, noted)
}

fn reap_orphans(context: &mut Context) -> Result<(), Failure> {
    let report = reap::reap_orphans(context)?;
    emit(context, true, &report)
}

fn base_check(context: &mut Context, arguments: &BaseArgs) -> Result<(), Failure> {
    let report = base::check_base(context, arguments.mode.as_deref() == Some(ORCHESTRATOR))?;
    emit(context, true, &report)
}

fn set_base(context: &mut Context) -> Result<(), Failure> {
    let report = base::set_base(context)?;
    emit(context, true, &report)
}

fn create(context: &mut Context, arguments: &CreateArgs) -> Result<(), Failure> {
    let noted = worktree::create(context, &arguments.record.record(), arguments.root.as_deref())?;
    answer(context, true, noted)
}

/// Answers with a report, for which `ok` decides the exit code, or with a refusal.
fn answer(context: &mut Context, ok: bool, outcome: Result<impl Serialize, Refusal>) -> Result<(), Failure> {
    match outcome {
        Ok(report) => emit(context, ok, &report),
        Err(refusal) => {
            if let Some(why) = refusal.hint.as_ref().or(refusal.stderr.as_ref()) {
                context.warn(format!("{}: {why}", refusal.reason));
            }
            emit(context, false, &refusal)
        }
    }
}

/// Answers with one line end after the JSON, which scripts expect from these verbs.
fn emit(context: &mut Context, ok: bool, report: &impl Serialize) -> Result<(), Failure> {
    context.emit(report)?;
    context.text("\n");
    if !ok {
        context.exit_with(1);
    }
    Ok(())
}
