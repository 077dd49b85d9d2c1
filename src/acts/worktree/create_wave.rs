//! Decides how the plans of a wave are executed, and makes what that needs.

use crate::acts::files;
use crate::acts::program;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::noted::{NotedWave, forget_folders, host_branches, of_root, session_key};
use super::{Git, ManifestFile, RefusableResult, Refusal, make};
use crate::acts::Call;
use crate::acts::agents::dispatch;
use crate::acts::git::repository::refuse_repository_of_others;
use crate::disk::{self, AbsolutePath, DiskError, RelativePath};
use crate::failure::Failure;
use crate::operations::agents::worktree::FORK;
use crate::operations::plans::index::{self, IndexedPlan, PlanIndexReport};
use crate::operations::plans::waves::{self, InTurn, SIDE_BY_SIDE, WaveFacts};
use crate::project::folder::canonical_id;
use crate::project::layout::Layout;
use crate::project::repository;
use crate::project::wave::{WAVE_NOTE, WaveEntry, WaveNote, WavePlan};
use crate::runtime::Isolation;
use crate::text::shell::typed;
use crate::text::slug;

/// What `worktree create-wave` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedWave {
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
    /// An argument for the call that starts the agent, such as `isolation="worktree"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    argument: Option<String>,
    /// A line that the agent's prompt must contain.
    prompt: String,
}

pub(crate) fn create_wave(call: &Call, phase: &str, plans: &[String]) -> RefusableResult<CreatedWave> {
    refuse_repository_of_others(call.here())?;
    let note_path = call.local_state()?.file(WAVE_NOTE);
    if let Some(refusal) = open_wave(call)? {
        return Ok(Err(refusal));
    }
    let index = index::plan_index(&call.view(), phase)
        .map_err(|error| Failure::usage(error.to_string()).hint("change `depends_on` in one of these plans"))?;
    let plans = chosen(&index, phase, plans)?;
    let git = of_root(call);
    let (base, branch) = (git.commit(), git.branch());
    let host = call.host()?;
    let dispatch = dispatch::facts(call)?;
    let of_host = dispatch::isolation(
        &host.id,
        dispatch.as_ref(),
        None,
        call.config()?.flag("workflow.use_worktrees"),
        dispatch::RunIn::default(),
    );
    let capacity = dispatch::capacity_of_call(call)?;
    // A host that gives agents worktrees runs several of them, even if its vendor documents no number.
    let capacity = if capacity.is_known() { usize::try_from(capacity.capacity).unwrap_or(1) } else { SIDE_BY_SIDE };
    let on_branch = branch.is_some() && base.is_some();
    let facts = facts(call, (&git, on_branch), of_host.isolation, capacity, &plans)?;
    let decision = waves::decide(&plans, &facts);
    let isolation = if decision.side_by_side.is_empty() { Isolation::None } else { of_host.isolation };
    let flag = of_host.harness_flag.filter(|_| isolation == Isolation::HarnessWorktree);
    let start_in = dispatch.as_ref().and_then(|dispatch| dispatch.start_in.as_deref());
    let base = base.unwrap_or_default();
    if isolation == Isolation::OrchestratorWorktree {
        refuse_links(call, &decision.side_by_side, &base)?;
    }
    if decision.side_by_side.is_empty() {
        // Nothing will be merged, so the note would never be removed.
        if !call.is_rehearsal() {
            disk::remove_note(&note_path)?;
        }
        let side_by_side = Vec::new();
        return Ok(Ok(CreatedWave { ok: true, isolation, side_by_side, in_turn: decision.in_turn }));
    }
    let note = WaveNote {
        isolation: isolation.word().to_owned(),
        harness_flag: flag.clone(),
        phase: Some(index.phase.clone()),
        written_at: call.world().now().milliseconds(),
        base: Some(base.clone()),
        branch: branch.map(|branch| format!("refs/heads/{branch}")),
        root: Some(disk::canonical(call.root())?.to_string()),
        branch_start: host_branches(call)?.filter(|_| isolation == Isolation::HarnessWorktree),
        session: session_key(call),
        plans: decision
            .side_by_side
            .iter()
            .map(|plan| WavePlan { id: canonical_id(&plan.id).to_owned(), deletes: plan.files_deleted.clone() })
            .collect(),
        ..WaveNote::default()
    };
    let text = serde_json::to_string_pretty(&note)?;
    files::edit_note(call, &note_path, |_| Ok(((), Some(text))))?;
    let place = place_in_repository(call);
    let mut side_by_side = Vec::new();
    let mut made = Vec::new();
    for plan in &decision.side_by_side {
        let (argument, place) = if isolation == Isolation::HarnessWorktree {
            (flag.clone(), place_of_host(&base, place.as_ref()))
        } else {
            let entry = entry_of(call, plan, &base);
            match make_worktree(call, &note_path, &entry) {
                Ok(Ok(())) => made.push(entry.clone()),
                Ok(Err(refusal)) => {
                    take_back(call, &git, &note_path, &made)?;
                    return Ok(Err(refusal));
                }
                Err(error) => {
                    take_back(call, &git, &note_path, &made)?;
                    return Err(error);
                }
            }
            let folder = AbsolutePath::parse(&entry.worktree_path).map_err(DiskError::from)?;
            let folder = place.as_ref().map_or_else(|| folder.clone(), |place| folder.join(place)).to_string();
            if let Some(argument) = start_in {
                (Some(argument.replace("{folder}", &folder)), format!("`{folder}`, the folder you start in."))
            } else {
                let place = format!(
                    "`{folder}`. Your shell does not stay in it: read and edit by paths below it, run \
                     `{}`, `{}`, `{}`.",
                    typed!("git -C {} ..", folder),
                    typed!("cd {} && {{test command}}", folder),
                    typed!("gsd-tools --cwd {} ..", folder)
                );
                (None, place)
            }
        };
        let prompt = format!(
            "Worktree: {place} Every path of this prompt that lies in the project means the same path in your worktree."
        );
        side_by_side.push(Side { plan: plan.id.clone(), argument, prompt });
    }
    Ok(Ok(CreatedWave { ok: true, isolation, side_by_side, in_turn: decision.in_turn }))
}

/// The requested plans, each once, in the order of the index.
fn chosen<'a>(index: &'a PlanIndexReport, phase: &str, plans: &[String]) -> Result<Vec<&'a IndexedPlan>, Failure> {
    let mut wanted = BTreeSet::new();
    for name in plans.iter().map(|name| name.trim()) {
        let positions = |fits: &dyn Fn(&IndexedPlan) -> bool| -> Vec<usize> {
            (0..index.plans.len()).filter(|position| fits(&index.plans[*position])).collect()
        };
        let mut found = positions(&|plan| plan.id.eq_ignore_ascii_case(name));
        if found.is_empty() {
            found = positions(&|plan| canonical_id(&plan.id).eq_ignore_ascii_case(name));
        }
        let list = format!("`{}` lists the plans", typed!("gsd-tools phase-plan-index {}", phase));
        let [position] = found[..] else {
            let message = match found.len() {
                0 => format!("phase {phase} has no plan `{name}`"),
                count => format!("phase {phase} has {count} plans `{name}`"),
            };
            return Err(Failure::usage(message).hint(list));
        };
        if index.plans[position].has_summary {
            let message = format!("plan `{name}` was executed already: it has a SUMMARY");
            return Err(Failure::usage(message)
                .hint(format!("leave it out, or see `{}`", typed!("gsd-tools plan check {}", name))));
        }
        wanted.insert(position);
    }
    Ok(wanted.into_iter().map(|position| &index.plans[position]).collect())
}

/// The path of the project in its repository; `None` if it is the repository's root.
fn place_in_repository(call: &Call) -> Option<RelativePath> {
    call.root().relative_to(&repository::repository_of(call.root())?)
}

/// The text in a prompt about a worktree that the host makes.
fn place_of_host(base: &str, place: Option<&RelativePath>) -> String {
    let start = format!("first of all run `{}` there.", typed!("git merge --ff-only {}", base));
    let Some(place) = place else { return format!("yours is the folder you start in; {start}") };
    format!(
        "yours is the folder you start in, and the project is `{place}` in it; {start} Run `{}`, `{}`.",
        typed!("cd {} && {{test command}}", place),
        typed!("gsd-tools --cwd {} ..", place)
    )
}

/// Why an earlier recorded wave cannot be forgotten yet.
fn open_wave(call: &Call) -> Result<Option<Refusal>, Failure> {
    let Some(wave) = NotedWave::read(call, false)? else { return Ok(None) };
    let git = of_root(call);
    // A merged worktree that git would not remove does not keep the wave open.
    let open: Vec<&str> = wave
        .worktrees
        .iter()
        .filter(|worktree| !worktree.is_merged(&git, &wave.note))
        .map(|worktree| &worktree.entry)
        .map(|entry| if entry.worktree_path.is_empty() { entry.branch.as_str() } else { entry.worktree_path.as_str() })
        .collect();
    let hint = match (wave.in_use(call).and_then(|refusal| refusal.hint), open.is_empty()) {
        (None, true) => return Ok(None),
        (Some(used), _) => used,
        (None, false) => format!(
            "worktrees of an earlier wave are not merged yet: {}; run `{} worktree cleanup-wave`",
            open.join(", "),
            program::word_of(call)
        ),
    };
    Ok(Some(Refusal::because("wave_open", hint)))
}

fn facts(
    call: &Call,
    (git, on_branch): (&Git, bool),
    isolation: Isolation,
    capacity: usize,
    plans: &[&IndexedPlan],
) -> Result<WaveFacts, Failure> {
    let config = call.config()?;
    let layout = call.layout();
    let (uncommitted, unlisted) = match uncommitted(git, layout, plans) {
        Ok(files) => (files, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let ignored = git.answer(&["check-ignore", "--", layout.planning()]).is_some_and(|path| !path.trim().is_empty());
    let fork = git.answer(&["rev-parse", "--verify", "--quiet", FORK]);
    let contains_fork = fork.is_none_or(|fork| git.run(&["merge-base", "--is-ancestor", &fork, "HEAD"]).success());
    let wrong_base = (isolation == Isolation::HarnessWorktree && !contains_fork).then(|| {
        format!("the host starts its worktrees at {FORK}, which this branch does not contain; merge it, or push")
    });
    Ok(WaveFacts {
        use_worktrees: config.flag("workflow.use_worktrees"),
        is_unit: call.world().is_unit(),
        parallelization: config.flag("parallelization"),
        host_can: match isolation {
            Isolation::None => false,
            Isolation::OrchestratorWorktree => true,
            Isolation::HarnessWorktree => host_branches(call)?.is_some(),
        },
        capacity,
        on_branch,
        submodules: if disk::exists(call.root().resolve(".gitmodules")) { git.submodules() } else { Vec::new() },
        sub_repositories: !config.sub_repositories().is_empty(),
        program_is_local: call.world().executable().is_ok_and(|program| program.starts_with(call.root().as_path())),
        commits_documents: config.commit_docs() && !ignored,
        uncommitted,
        unlisted,
        wrong_base,
    })
}

/// What a worktree made now would lack: changes of tracked files, and plans that are not committed. The documents that
/// track progress change only in the main tree.
fn uncommitted(git: &Git, layout: &Layout, plans: &[&IndexedPlan]) -> Result<Vec<String>, String> {
    let tracking: Vec<String> = layout.tracking().into_iter().chain([layout.config()]).collect();
    let is_plan = |path: &str| plans.iter().any(|plan| path.ends_with(&format!("/{}-PLAN.md", plan.id)));
    let is_tracking = |path: &str| tracking.iter().any(|document| path.ends_with(document.as_str()));
    let changed = git.uncommitted()?.into_iter();
    let missing = changed.filter(|file| (!file.is_untracked || is_plan(&file.path)) && !is_tracking(&file.path));
    Ok(missing.map(|file| file.path).collect())
}

/// Refuses worktrees whose paths are below a link, because git follows every link.
fn refuse_links(call: &Call, plans: &[&IndexedPlan], base: &str) -> Result<(), Failure> {
    let (boundary, root) = (call.project().boundary()?, disk::canonical(call.root())?);
    let worktrees = root.resolve(call.layout().worktrees());
    for plan in plans {
        boundary.check(entry_of(call, plan, base).worktree_path)?;
        disk::passes_no_link(&worktrees.resolve(slug(&plan.id)), &root)?;
    }
    Ok(disk::passes_no_link(&worktrees.resolve(".gitignore"), &root)?)
}

/// The worktree that a plan is to get.
fn entry_of(call: &Call, plan: &IndexedPlan, base: &str) -> WaveEntry {
    let name = slug(&plan.id);
    WaveEntry {
        agent_id: Some(canonical_id(&plan.id).to_owned()),
        worktree_path: call.root().resolve(call.layout().worktrees()).resolve(&name).to_string(),
        branch: format!("agent-{name}-{}", base.get(..7).unwrap_or(base)),
        expected_base: base.to_owned(),
        files_modified: None,
        declared_deletions: Some(plan.files_deleted.clone()).filter(|files| !files.is_empty()),
    }
}

fn make_worktree(call: &Call, note: &AbsolutePath, entry: &WaveEntry) -> RefusableResult<()> {
    if call.is_rehearsal() {
        return Ok(Ok(()));
    }
    let ignore = call.root().resolve(call.layout().worktrees()).resolve(".gitignore");
    if !disk::exists(&ignore) {
        files::edit(call, &ignore, |_| Ok(((), Some("*\n".to_owned()))))?;
    }
    let made = match ManifestFile::note_at(note) {
        Ok(file) => make(call, &file, entry)?,
        Err(refusal) => Err(refusal),
    };
    Ok(made.map(drop).map_err(|refusal| Refusal {
        hint: Some(format!(
            "cannot create the worktree of plan {}: {}; `{}` removes its branch if it is merged",
            entry.agent_id.as_deref().unwrap_or_default(),
            refusal.hint.as_ref().or(refusal.stderr.as_ref()).cloned().unwrap_or_default(),
            typed!("git branch -d {}", entry.branch)
        )),
        ..refusal
    }))
}

/// Removes the worktrees that this call made, and the note: a wave is made as a whole or not at all.
fn take_back(call: &Call, git: &Git, note: &AbsolutePath, made: &[WaveEntry]) -> Result<(), Failure> {
    let remove = |entry: &WaveEntry| {
        git.remove_worktree(&entry.worktree_path).success() && git.remove_merged_branch(&entry.branch).success()
    };
    // Worktrees that git will not remove stay in the note.
    if made.iter().filter(|entry| !remove(entry)).count() == 0 {
        disk::remove_note(note)?;
    }
    forget_folders(call, &[]);
    Ok(())
}
