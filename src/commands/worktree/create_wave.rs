//! Deciding how the plans of a wave are executed, and making what that needs.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Git, Refusal, emit, make, refuse};
use crate::commands::dispatch::{CAPACITY_VARIABLE, answers};
use crate::commands::{CommandError, Context};
use crate::disk::{self, AbsolutePath};
use crate::operations::plan_index::{self, IndexedPlan};
use crate::operations::waves::{self, InTurn, SIDE_BY_SIDE, WaveFacts};
use crate::operations::worktree::FORK;
use crate::project::layout::Layout;
use crate::project::wave::{WAVE_NOTE, WaveEntry, WaveNote, WavePlan};
use crate::runtime::Isolation;
use crate::text::slug;

#[derive(Debug, clap::Args)]
pub(crate) struct WaveArgs {
    /// The phase, such as `2`
    #[arg(long)]
    phase: String,
    /// The plans of the wave, separated by commas
    #[arg(long, value_delimiter = ',', required = true)]
    plans: Vec<String>,
}

/// What `worktree create-wave` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct CreatedWave {
    ok: bool,
    isolation: Isolation,
    /// Plans to start together, each in a worktree.
    side_by_side: Vec<Side>,
    /// Plans to start in the main tree, one after the other, once the others are merged.
    in_turn: Vec<InTurn>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Side {
    plan: String,
    /// What the call that starts the agent has to say, such as `isolation="worktree"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    argument: Option<String>,
    /// The line that the agent's prompt has to carry.
    prompt: String,
}

pub(super) fn create_wave(context: &mut Context, arguments: &WaveArgs) -> Result<(), CommandError> {
    let note_path = context.local_state()?.file(WAVE_NOTE);
    if let Some(open) = unmerged(context, &note_path)? {
        let hint =
            format!("worktrees of an earlier wave are not merged yet: {open}; run `gsd-tools worktree cleanup-wave`");
        return refuse(context, &Refusal::because("wave_open", hint));
    }
    let index = plan_index::plan_index(&context.view(), &arguments.phase)
        .map_err(|error| CommandError::usage(error.to_string()).hint("change `depends_on` of one of them"))?;
    let mut plans: Vec<&IndexedPlan> = Vec::new();
    for name in &arguments.plans {
        let found = index.plans.iter().find(|plan| plan.id.eq_ignore_ascii_case(name.trim()));
        plans.push(found.ok_or_else(|| {
            CommandError::usage(format!("phase {} has no plan `{}`", arguments.phase, name.trim()))
                .hint(format!("list them with `gsd-tools phase-plan-index {}`", arguments.phase))
        })?);
    }
    let git = Git::here(context);
    let base = git.answer(&["rev-parse", "--verify", "--quiet", "HEAD"]);
    let host = context.host()?;
    let dispatch = host.descriptor.as_ref().and_then(|descriptor| descriptor.dispatch.clone());
    let of_host = answers::isolation(
        &host.id,
        dispatch.as_ref(),
        None,
        context.config()?.flag("workflow.use_worktrees"),
        answers::RunIn::default(),
    );
    let asked = context.world().variable(CAPACITY_VARIABLE);
    let capacity = answers::capacity(&host.id, dispatch.as_ref(), asked.as_deref());
    // A host that gives agents worktrees runs several of them, also where its maker names no number.
    let capacity = if capacity.is_known() { usize::try_from(capacity.capacity).unwrap_or(1) } else { SIDE_BY_SIDE };
    let facts = facts(context, &git, of_host.isolation, capacity, &plans)?;
    let decision = waves::decide(&plans, &facts);
    let isolation = if decision.side_by_side.is_empty() { Isolation::None } else { of_host.isolation };
    let flag = of_host.harness_flag.filter(|_| isolation == Isolation::HarnessWorktree);
    let start_in = dispatch.as_ref().and_then(|dispatch| dispatch.start_in.as_deref());
    let base = base.unwrap_or_default();
    if decision.side_by_side.is_empty() {
        // Nothing will be merged, so nothing would ever end the note.
        if !context.is_rehearsal() {
            disk::remove_note(&note_path)?;
        }
        let side_by_side = Vec::new();
        return emit(context, true, &CreatedWave { ok: true, isolation, side_by_side, in_turn: decision.in_turn });
    }
    let note = WaveNote {
        isolation: isolation.word().to_owned(),
        harness_flag: flag.clone(),
        phase: Some(index.phase.clone()),
        plan: None,
        written_at: context.world().now().milliseconds(),
        base: Some(base.clone()),
        plans: decision
            .side_by_side
            .iter()
            .map(|plan| WavePlan { id: plan.id.clone(), deletes: plan.files_deleted.clone() })
            .collect(),
        worktrees: Vec::new(),
    };
    let text = serde_json::to_string_pretty(&note)?;
    context.edit_file(&note_path, |_| Ok(((), Some(text))))?;
    let mut side_by_side = Vec::new();
    for plan in &decision.side_by_side {
        let (argument, place) = if isolation == Isolation::HarnessWorktree {
            let place =
                format!("yours is the folder you start in; first of all run `git merge --ff-only {base}` there.");
            (flag.clone(), place)
        } else {
            let folder = match make_worktree(context, &note_path, &plan.id, &base, plan)? {
                Ok(folder) => folder,
                Err(refusal) => return refuse(context, &refusal),
            };
            if let Some(argument) = start_in {
                (Some(argument.replace("{folder}", &folder)), format!("`{folder}`, the folder you start in."))
            } else {
                let place = format!(
                    "`{folder}`. Your shell does not stay in it: read and edit by paths below it, run \
                     `git -C {folder} ..`, `cd {folder} && {{test command}}`, `gsd-tools --cwd {folder} ..`."
                );
                (None, place)
            }
        };
        let prompt = format!(
            "Worktree: {place} Every path of this prompt that lies in the project means the same path in your worktree."
        );
        side_by_side.push(Side { plan: plan.id.clone(), argument, prompt });
    }
    emit(context, true, &CreatedWave { ok: true, isolation, side_by_side, in_turn: decision.in_turn })
}

/// The worktrees of the noted wave that still exist.
fn unmerged(context: &Context, note: &AbsolutePath) -> Result<Option<String>, CommandError> {
    if !disk::is_file(note) {
        return Ok(None);
    }
    let open: Vec<String> = super::cleanup::noted_entries(context, false)?
        .map(|(_, entries)| entries)
        .unwrap_or_default()
        .into_iter()
        .map(|entry| entry.worktree_path)
        .collect();
    Ok((!open.is_empty()).then(|| open.join(", ")))
}

fn facts(
    context: &Context,
    git: &Git,
    isolation: Isolation,
    capacity: usize,
    plans: &[&IndexedPlan],
) -> Result<WaveFacts, CommandError> {
    let config = context.config()?;
    let layout = context.layout();
    let ignored = git.answer(&["check-ignore", "--", layout.planning()]).is_some_and(|path| !path.trim().is_empty());
    let fork = git.answer(&["rev-parse", "--verify", "--quiet", FORK]);
    let contains_fork = fork.is_none_or(|fork| git.run(&["merge-base", "--is-ancestor", &fork, "HEAD"]).success());
    let wrong_base = (isolation == Isolation::HarnessWorktree && !contains_fork).then(|| {
        format!("the host starts its worktrees at {FORK}, which this branch does not contain; merge it, or push")
    });
    Ok(WaveFacts {
        use_worktrees: config.flag("workflow.use_worktrees"),
        parallelization: config.flag("parallelization"),
        host_can: isolation != Isolation::None,
        capacity,
        on_branch: git.answer(&["symbolic-ref", "-q", "HEAD"]).is_some()
            && git.answer(&["rev-parse", "--verify", "--quiet", "HEAD"]).is_some(),
        sub_repositories: !config.sub_repositories().is_empty(),
        program_is_local: context
            .world()
            .executable()
            .is_ok_and(|program| program.starts_with(context.root().as_path())),
        commits_documents: config.commit_docs() && !ignored,
        uncommitted: uncommitted(git, layout, plans),
        wrong_base,
    })
}

/// What a worktree made now would lack: changes of tracked files, and plans that are not committed. The documents that
/// track progress change in the main tree alone.
fn uncommitted(git: &Git, layout: &Layout, plans: &[&IndexedPlan]) -> Vec<String> {
    let status = git.run(&["--no-optional-locks", "status", "--porcelain", "-z", "--untracked-files=all"]);
    let tracking = [layout.state(), layout.state_mirror(), layout.roadmap(), layout.requirements(), layout.config()];
    let text = status.text();
    let mut fields = text.split('\0');
    let mut found = Vec::new();
    while let Some(field) = fields.next() {
        let Some((state, path)) = field.split_at_checked(3) else { continue };
        if state.starts_with(['R', 'C']) {
            fields.next();
        }
        let is_plan = plans.iter().any(|plan| path.ends_with(&format!("/{}-PLAN.md", plan.id)));
        let is_untracked = state.starts_with("??");
        if (!is_untracked || is_plan) && !tracking.iter().any(|document| path.ends_with(document.as_str())) {
            found.push(path.to_owned());
        }
    }
    found
}

/// Where worktrees of ours are made: in the project, so that a host lets agents write there, and ignored by git.
pub(super) fn folder_of_worktrees(layout: &Layout) -> String {
    format!("{}/worktrees", layout.planning())
}

fn make_worktree(
    context: &Context,
    note: &AbsolutePath,
    id: &str,
    base: &str,
    plan: &IndexedPlan,
) -> Result<Result<String, Refusal>, CommandError> {
    let root = context.root().clone();
    let place = folder_of_worktrees(context.layout());
    let folder = root.resolve(&place).resolve(slug(id));
    if context.is_rehearsal() {
        return Ok(Ok(folder.to_string()));
    }
    let ignore = root.resolve(&place).resolve(".gitignore");
    if !disk::exists(&ignore) {
        context.edit_file(&ignore, |_| Ok(((), Some("*\n".to_owned()))))?;
    }
    let name = slug(id);
    let entry = WaveEntry {
        agent_id: Some(id.to_owned()),
        worktree_path: folder.to_string(),
        branch: format!("agent-{name}-{}", base.get(..7).unwrap_or(base)),
        expected_base: base.to_owned(),
        files_modified: None,
        declared_deletions: Some(plan.files_deleted.clone()).filter(|files| !files.is_empty()),
    };
    let manifest = note.as_path().to_string_lossy().into_owned();
    make(context, &manifest, &entry, &root.to_string())
}
