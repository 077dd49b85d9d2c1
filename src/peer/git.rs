//! Verbs about commits and worktrees that only other programs call, and the answers of worktrees.

use serde::Serialize;

use crate::acts::git::subrepo;
use crate::acts::worktree::{self, Record, Refusal, base};
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, rows};

rows! {
    /// Commit files in repositories inside the project
    ///
    /// Sorts the files by the repositories in `planning.sub_repos` and makes one commit in each.
    ///
    /// Example: `gsd-tools commit-to-subrepo "fix: parse dates" --files web/src/date.ts`.
    COMMIT_TO_SUBREPO = "commit-to-subrepo": acts json(subrepo::SubrepoReport) = commit_to_subrepo(SubrepoArgs);

    /// Add an existing worktree to the manifest of its wave
    ///
    /// The manifest is a JSON file that has to exist; an empty one is `{"worktrees": []}`.
    ///
    /// Example: `gsd-tools worktree record-agent --manifest wave.json --agent-id a1 --path ../a1 --branch agent-a1 --base 1f3c`.
    RECORD_AGENT = "worktree record-agent": acts [unasked] json(worktree::NotedReport, Refusal) = record_agent(RecordArgs);

    /// Check whether new worktrees would start from the current commit
    ///
    /// `shouldDegrade` is true if they would start from another commit; plans then run one after the other in the main
    /// tree.
    ///
    /// Example: `gsd-tools worktree base-check --pick shouldDegrade`.
    BASE_CHECK = "worktree base-check": reads json(crate::operations::agents::worktree::BaseReport) = base_check(BaseArgs);

    /// Set the host to start its worktrees from the current commit
    ///
    /// Edits the host's settings file in this project. A setting that has another value is not changed.
    ///
    /// Example: `gsd-tools worktree set-baseref --pick changed`.
    SET_BASE = "worktree set-baseref": acts json(base::BaseRefReport) = set_base();
}

#[derive(Debug, clap::Args)]
pub(crate) struct SubrepoArgs {
    /// The commit message
    message: NonBlank,
    /// The files to commit, relative to the project root
    #[arg(long, num_args = 1.., required = true)]
    files: Vec<String>,
}

fn commit_to_subrepo(context: &mut Context, arguments: &SubrepoArgs) -> Result<(), Failure> {
    let report = subrepo::commit(context, &arguments.message, &arguments.files)?;
    context.emit_raw(&report, report.raw())
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
pub(crate) struct BaseArgs {
    /// Who creates the worktrees: the host or gsd-tools
    #[arg(long, value_parser = [HARNESS, ORCHESTRATOR])]
    mode: Option<String>,
}

const HARNESS: &str = "harness-worktree";

const ORCHESTRATOR: &str = "orchestrator-worktree";

impl RecordArgs {
    pub(crate) fn record(&self) -> Record<'_> {
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

fn record_agent(context: &mut Context, arguments: &RecordArgs) -> Result<(), Failure> {
    let noted = worktree::record_agent(context, &arguments.record())?;
    answer(context, true, noted)
}

fn base_check(context: &mut Context, arguments: &BaseArgs) -> Result<(), Failure> {
    let report = base::check_base(context, arguments.mode.as_deref() == Some(ORCHESTRATOR))?;
    emit(context, true, &report)
}

fn set_base(context: &mut Context) -> Result<(), Failure> {
    let report = base::set_base(context)?;
    emit(context, true, &report)
}

/// Answers with a report, for which `ok` decides the exit code, or with a refusal.
pub(crate) fn answer(context: &mut Context, ok: bool, outcome: Result<impl Serialize, Refusal>) -> Result<(), Failure> {
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
pub(crate) fn emit(context: &mut Context, ok: bool, report: &impl Serialize) -> Result<(), Failure> {
    context.emit(report)?;
    context.text("\n");
    context.exit_with(u8::from(!ok));
    Ok(())
}
