//! Worktrees of agents.

use crate::acts::worktree::noted::{self, Manner};
use crate::acts::worktree::{self, cleanup, create_wave, reap};
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::peer::git::{RecordArgs, answer, emit};

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
    "worktree create-wave": acts [unasked] json(create_wave::CreatedWave, worktree::Refusal)
        = create_wave(WaveArgs);

    /// Merge the worktrees of a wave and remove them
    ///
    /// Without `--manifest`, merges the wave that `create-wave` recorded, into the branch it started on. A worktree
    /// with uncommitted files, a running executor, another branch or base, or deletions that no plan declares is
    /// skipped. Exits with 1 if a worktree is left.
    ///
    /// Example: `gsd-tools worktree cleanup-wave --pick result.reason`.
    "worktree cleanup-wave": acts [unasked] json(worktree::Refusal, cleanup::WaveReport) = cleanup_wave(CleanupArgs);

    use crate::peer::git::RECORD_AGENT;

    /// Remove worktrees left by dead processes if their work is merged
    ///
    /// Removes only worktrees locked by a process that no longer runs. Worktrees with uncommitted files or unmerged
    /// commits are kept, and so are all branches.
    ///
    /// Example: `gsd-tools worktree reap-orphans --pick reaped`.
    "worktree reap-orphans": acts json(reap::ReapReport) = reap_orphans();

    use crate::peer::git::BASE_CHECK;

    use crate::peer::git::SET_BASE;

    /// Create a worktree for an agent and add it to the manifest
    ///
    /// The manifest is a JSON file that has to exist; an empty one is `{"worktrees": []}`.
    ///
    /// Example: `gsd-tools worktree create --manifest wave.json --agent-id a1 --path trees/a1 --branch agent-a1 --base 1f3c --root .`.
    "worktree create": acts [unasked] json(worktree::NotedReport, worktree::Refusal) = create(CreateArgs);
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
pub(crate) struct CreateArgs {
    #[command(flatten)]
    record: RecordArgs,
    /// The folder that must contain the worktree
    #[arg(long)]
    root: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WaveArgs {
    /// The phase, such as `2`
    #[arg(long)]
    phase: String,
    /// The plans of the wave, separated by commas
    #[arg(long, value_delimiter = ',', required = true)]
    plans: Vec<String>,
}

fn create_wave(context: &mut Context, arguments: &WaveArgs) -> Result<(), Failure> {
    let created = create_wave::create_wave(context, &arguments.phase, &arguments.plans)?;
    answer(context, true, created)
}

fn cleanup_wave(context: &mut Context, arguments: &CleanupArgs) -> Result<(), Failure> {
    let manner = Manner { keep_work: arguments.keep_work, take_over: arguments.take_over };
    let report = match &arguments.manifest {
        Some(manifest) => cleanup::cleanup_wave(context, manifest)?,
        None => noted::cleanup_noted_wave(context, manner)?,
    };
    answer(context, report.as_ref().is_ok_and(|report| report.ok), report)
}

fn reap_orphans(context: &mut Context) -> Result<(), Failure> {
    let report = reap::reap_orphans(context)?;
    emit(context, true, &report)
}

fn create(context: &mut Context, arguments: &CreateArgs) -> Result<(), Failure> {
    let noted = worktree::create(context, &arguments.record.record(), arguments.root.as_deref())?;
    answer(context, true, noted)
}
