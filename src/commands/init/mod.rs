//! `init`: the context that a workflow needs at its start. It starts nothing and writes nothing.

mod arguments;

use crate::acts::bundle;
use crate::acts::bundle::code;
use crate::acts::bundle::milestone;
use crate::acts::workspaces;
use crate::acts::workstreams;
use crate::acts::yolo;
use arguments::{
    AutoArgs, AutonomousArgs, CodeReviewArgs, ContextPhaseArg, DebugArgs, ExecutePhaseArgs, InitProgressArgs,
    InitUpdateArgs, NewMilestoneArgs, OnboardArgs, PlanPhaseArgs, QuickArgs, QuickBatchArgs, TodosArgs, WorkflowArgs,
    WorkspaceArgs, YoloArgs,
};

use crate::disk;
use crate::failure::{Failure, Reason};
use crate::frame::context::emit_data;
use crate::frame::named::OptionalPhaseArgs;
use crate::frame::{Context, verbs};
use crate::library;
use crate::operations::bundle::workflow::{WorkflowError, WorkflowTable};
use crate::operations::bundle::{BundleAnswer, FoundDocuments};
use crate::operations::facts::{FactsCall, Given};
use crate::project::files::FileError;
use crate::project::view::ProjectView;
use crate::text::nearest::nearest;

verbs! {
    "Context for workflows";
    groups { "init": "Print what a workflow needs at its start (does not start a project)"; }

    /// Print the context for executing a phase: plans, models, branch
    ///
    /// Used by the execute-phase workflow. Reads the plans and summaries of the phase, ROADMAP.md and the
    /// configuration, and names the plans that can run now and those that are blocked.
    ///
    /// Example: `gsd-tools init execute-phase 2 --pick runnable_plans`.
    "init execute-phase": reads bundle("execute-phase") = execute_phase(ExecutePhaseArgs);

    /// Print the context for planning a phase: documents, models, settings
    ///
    /// Used by the plan-phase workflow. Reads ROADMAP.md, the documents of the phase and the configuration, and lists
    /// the commands that verified an earlier phase.
    ///
    /// Example: `gsd-tools init plan-phase 2 --pick has_context`.
    "init plan-phase": reads bundle("plan-phase") = plan_phase(PlanPhaseArgs);

    /// Print the context for starting a project: code and documents found
    ///
    /// Used by the new-project workflow. Starts nothing and writes nothing.
    ///
    /// Example: `gsd-tools init new-project --pick is_brownfield`.
    "init new-project": reads bundle("new-project") = new_project(AutoArgs);

    /// Print the context for starting a milestone: the last one, paths
    ///
    /// Example: `gsd-tools init new-milestone --pick latest_completed_milestone`.
    "init new-milestone": reads bundle("new-milestone") = new_milestone(NewMilestoneArgs);

    /// Print the context for adopting an existing project, with the next step
    ///
    /// Searches for source files, a code map, decision records, requirements and specifications, and names the first
    /// step that is not done yet.
    ///
    /// Example: `gsd-tools init onboard --pick next_action.command`.
    "init onboard": reads bundle("onboard") = onboard(OnboardArgs);

    /// Print the context for a small task: identifier, folder, branch
    ///
    /// Used by the quick workflow. The folder is not created.
    ///
    /// Example: `gsd-tools init quick "Fix the login" --research --pick task_dir`.
    "init quick": reads bundle("quick") = quick(QuickArgs);

    /// Print the context for several small tasks: models and folders
    ///
    /// Example: `gsd-tools init quick-batch --research --pick quick_batches_dir`.
    "init quick-batch": reads bundle("quick-batch") = quick_batch(QuickBatchArgs);

    /// Print the context for importing existing documents: target paths
    ///
    /// Example: `gsd-tools init ingest-docs --pick conflicts_path`.
    "init ingest-docs": reads bundle("ingest-docs") = ingest_docs();

    /// Print the context for resuming interrupted work
    ///
    /// Example: `gsd-tools init resume --pick interrupted_agent_id`.
    "init resume": reads bundle("resume") = resume();

    /// Print the context for accepting a phase: verification and test results
    ///
    /// Used by the verify-work workflow. Reads the summaries, the verification report and the UAT files of the phase.
    ///
    /// Example: `gsd-tools init verify-work 2 --pick phase_completion.ready_to_transition`.
    "init verify-work": reads bundle("verify-work") = verify_work(ContextPhaseArg);

    use crate::peer::init::PHASE_OP;

    /// Print the context for reviewing the code of a phase
    ///
    /// Example: `gsd-tools init code-review 2 --fix --pick phase_dir`.
    "init code-review": reads bundle("code-review") = code_review(CodeReviewArgs);

    /// Print the context for a review of plans by other hosts
    ///
    /// Example: `gsd-tools init review 2 --pick phase_dir`.
    "init review": reads bundle("review") = review(OptionalPhaseArgs);

    use crate::peer::init::DISCUSS_PHASE_ASSUMPTIONS;

    /// Print the context for working on todos: the pending ones
    ///
    /// Example: `gsd-tools init todos api --pick todo_count`.
    "init todos": reads bundle("todos") = todos(TodosArgs);

    use crate::peer::init::MILESTONE_OP;

    /// Print the context for mapping existing code: models, maps found
    ///
    /// Example: `gsd-tools init map-codebase --pick existing_maps`.
    "init map-codebase": reads bundle("map-codebase") = map_codebase();

    /// Print the context for a progress report: all phases, current and next
    ///
    /// Used by the progress workflow. For people, `gsd-tools progress` and `gsd-tools stats` print less.
    ///
    /// Example: `gsd-tools init progress --pick next_phase.number`.
    "init progress": reads bundle("progress") = progress(InitProgressArgs);

    /// Print the context for the dashboard: phases, dependencies, actions
    ///
    /// Example: `gsd-tools init manager --pick recommended_actions`.
    "init manager": reads bundle("manager") = manager();

    /// Print the context for running phases unattended, and what prevents it
    ///
    /// Example: `gsd-tools init yolo --from 3 --pick prerequisites_met`.
    "init yolo": reads bundle("yolo") = yolo(YoloArgs);

    /// Print the context for completing a milestone: paths, tag setting
    ///
    /// Example: `gsd-tools init complete-milestone --pick git_create_tag`.
    "init complete-milestone": reads bundle("complete-milestone") = complete_milestone();

    /// Print the context for working through all phases
    ///
    /// Example: `gsd-tools init autonomous --converge`.
    "init autonomous": reads bundle("autonomous") = autonomous(AutonomousArgs);

    use crate::peer::init::DOCS_UPDATE;

    /// Print the context for updating gsd-tools
    ///
    /// Example: `gsd-tools init update --next --pick next_channel`.
    "init update": reads bundle("update") = update(InitUpdateArgs);

    use crate::peer::init::TRANSITION;

    /// Print the context for debugging: folder, model, mode
    ///
    /// Example: `gsd-tools init debug --diagnose --pick debug_dir`.
    "init debug": reads bundle("debug") = debug(DebugArgs);

    /// Print the context of a workflow, as its own text asks for it
    ///
    /// The word `workflow` may be left out: `gsd-tools init ui-review 2`. The front matter of the workflow names what is
    /// printed (phase, milestone, todos, code maps, models of agents, settings), and which flags choose its steps.
    ///
    /// Example: `gsd-tools init workflow ui-review 2 --pick phase_dir`.
    "init workflow": reads bundle("workflow") = workflow(WorkflowArgs);

    /// Print the context for creating a workspace: repositories found
    ///
    /// A workspace is a folder outside the project with worktrees or clones of several repositories.
    ///
    /// Example: `gsd-tools init new-workspace --pick child_repo_count`.
    "init new-workspace": reads bundle("new-workspace") = new_workspace();

    /// List the workspaces
    ///
    /// Example: `gsd-tools init list-workspaces --pick workspace_count`.
    "init list-workspaces": reads json(crate::operations::bundle::workspaces::WorkspacesReport) = list_workspaces();

    /// Print the context for removing a workspace: uncommitted changes
    ///
    /// Example: `gsd-tools init remove-workspace feature-x --pick has_dirty_repos`.
    "init remove-workspace": reads bundle("remove-workspace") = remove_workspace(WorkspaceArgs);
}

/// Gathers the inputs of the facts, and answers with those that the workflow of `call` asks for.
fn answer(context: &mut Context, call: FactsCall) -> Result<(), Failure> {
    answer_by(context, |_| Ok(call), BundleAnswer::of)
}

/// As [`answer`], with a call that depends on the project.
fn answer_by(
    context: &mut Context,
    call: impl FnOnce(&ProjectView) -> Result<FactsCall, Failure>,
    answer: fn(&Given<'_>) -> Result<BundleAnswer, FileError>,
) -> Result<(), Failure> {
    let (report, token) = bundle::answer(context, call, answer)?;
    context.answer_for(token);
    emit_data(context, &report)
}

/// Answers `docs-init`, which has the form of a workflow's context.
pub(super) fn docs_init(context: &mut Context) -> Result<(), Failure> {
    answer(context, FactsCall::of("docs-init"))
}

fn execute_phase(context: &mut Context, arguments: &ExecutePhaseArgs) -> Result<(), Failure> {
    let call = FactsCall::of("execute-phase").phase(Some(&arguments.phase));
    let call = call.flag("wave", arguments.wave.is_some()).flag("tdd", arguments.tdd);
    answer(context, call.flag("validate", arguments.validate))
}

fn plan_phase(context: &mut Context, arguments: &PlanPhaseArgs) -> Result<(), Failure> {
    // Workflows pass these flags on with any value, even an empty one.
    let is_given = |value: &Option<String>| value.as_deref().is_some_and(|value| !value.trim().is_empty());
    let call = FactsCall::of("plan-phase").phase(Some(&arguments.phase)).text(arguments.granularity.clone());
    let call = call.flag("prd", is_given(&arguments.prd)).flag("ingest", is_given(&arguments.ingest));
    let call = call.flag("research-phase", is_given(&arguments.research_phase)).flag("tdd", arguments.tdd);
    let call = call.flag("validate", arguments.validate).flag("reviews", arguments.reviews);
    answer(context, call.flag("chunked", arguments.chunked))
}

fn verify_work(context: &mut Context, phase: &ContextPhaseArg) -> Result<(), Failure> {
    answer(context, FactsCall::of("verify-work").phase(Some(phase)))
}

fn code_review(context: &mut Context, arguments: &CodeReviewArgs) -> Result<(), Failure> {
    answer(context, FactsCall::of("code-review").phase(arguments.phase.phase()).flag("fix", arguments.fix))
}

fn review(context: &mut Context, arguments: &OptionalPhaseArgs) -> Result<(), Failure> {
    answer(context, FactsCall::of("review").phase(arguments.phase()))
}

fn new_project(context: &mut Context, arguments: &AutoArgs) -> Result<(), Failure> {
    let code = code::code_facts(context)?;
    answer(context, FactsCall::of("new-project").flag("auto", arguments.auto).with(code))
}

fn new_milestone(context: &mut Context, arguments: &NewMilestoneArgs) -> Result<(), Failure> {
    answer(context, FactsCall::of("new-milestone").flag("reset-phase-numbers", arguments.reset_phase_numbers))
}

fn complete_milestone(context: &mut Context) -> Result<(), Failure> {
    let history = milestone::milestone_history(context)?;
    answer(context, FactsCall::of("complete-milestone").with(history))
}

fn resume(context: &mut Context) -> Result<(), Failure> {
    answer(context, FactsCall::of("resume"))
}

fn autonomous(context: &mut Context, arguments: &AutonomousArgs) -> Result<(), Failure> {
    answer(context, FactsCall::of("autonomous").flag("converge", arguments.converge || arguments.cross_ai))
}

fn quick(context: &mut Context, arguments: &QuickArgs) -> Result<(), Failure> {
    let mut words = arguments.words.clone();
    // Unknown flags, and words after them, belong to the task; our own flags do not.
    let mut lift = |flag: &str| {
        let before = words.len();
        words.retain(|word| word != flag);
        words.len() < before
    };
    let discuss = lift("--discuss") || arguments.discuss;
    let research = lift("--research") || arguments.research;
    let validate = lift("--validate") || arguments.validate;
    let full = lift("--full") || arguments.full;
    let call = FactsCall::of("quick").flag("discuss", full || discuss).flag("research", full || research);
    let call = call.flag("validate", full || validate);
    answer(context, call.text((!words.is_empty()).then(|| words.join(" "))))
}

fn quick_batch(context: &mut Context, arguments: &QuickBatchArgs) -> Result<(), Failure> {
    let call = FactsCall::of("quick-batch").flag("research", arguments.research);
    answer(context, call.flag("validate", arguments.validate))
}

fn todos(context: &mut Context, arguments: &TodosArgs) -> Result<(), Failure> {
    answer(context, FactsCall::of("todos").text(arguments.area.clone()))
}

fn map_codebase(context: &mut Context) -> Result<(), Failure> {
    answer(context, FactsCall::of("map-codebase"))
}

fn ingest_docs(context: &mut Context) -> Result<(), Failure> {
    let code = code::code_facts(context)?;
    answer(context, FactsCall::of("ingest-docs").with(code))
}

fn onboard(context: &mut Context, arguments: &OnboardArgs) -> Result<(), Failure> {
    let (code, documents) = (code::code_facts(context)?, code::documents_to_take_in(context)?);
    let call = FactsCall::of("onboard").flag("fast", arguments.fast).flag("text", arguments.text);
    answer(context, call.with(code).with(FoundDocuments(documents)))
}

fn update(context: &mut Context, arguments: &InitUpdateArgs) -> Result<(), Failure> {
    answer(context, FactsCall::of("update").flag("next", arguments.next || arguments.rc))
}

fn debug(context: &mut Context, arguments: &DebugArgs) -> Result<(), Failure> {
    answer(context, FactsCall::of("debug").flag("diagnose", arguments.diagnose))
}

fn progress(context: &mut Context, arguments: &InitProgressArgs) -> Result<(), Failure> {
    workstreams::needs_one(context, "init progress")?;
    answer(context, FactsCall::of("progress").flag("forensic", arguments.forensic))
}

fn workflow(context: &mut Context, arguments: &WorkflowArgs) -> Result<(), Failure> {
    let Some(table) = WorkflowTable::of(&arguments.name) else {
        let error = Failure::usage(format!("no workflow `{}` asks for a context", &*arguments.name));
        let near = nearest(&arguments.name, library::workflow_names());
        return Err(match near {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("`gsd-tools init --help` lists what there is"),
        });
    };
    let call = |view: &ProjectView| table.call(&arguments.words, view).map_err(refusal);
    answer_by(context, call, BundleAnswer::of_workflow)
}

/// The error of a call, with a list of the workflow's flags.
fn refusal(error: WorkflowError) -> Failure {
    let text = error.to_string();
    match error {
        WorkflowError::Flag { known, .. } if known.is_empty() => Failure::usage(text).hint("it has no flags"),
        WorkflowError::Flag { known, .. } => {
            let known: Vec<String> = known.iter().map(|flag| format!("`--{flag}`")).collect();
            Failure::usage(text).hint(format!("it takes {}", known.join(", ")))
        }
        WorkflowError::Words { .. } => {
            Failure::usage(text).hint("leave the other words out; the workflow itself works with them")
        }
        WorkflowError::File(error) => error.into(),
    }
}

fn manager(context: &mut Context) -> Result<(), Failure> {
    let layout = context.layout();
    let missing = [("ROADMAP.md", layout.roadmap()), ("STATE.md", layout.state())]
        .into_iter()
        .find(|(_, path)| !disk::exists(layout.absolute(path)));
    if let Some((name, _)) = missing {
        let command = format!("{}new-project", context.command_prefix()?);
        return Err(Failure::new(Reason::Usage, format!("there is no {name}")).hint(format!("start with {command}")));
    }
    answer(context, FactsCall::of("manager"))
}

fn yolo(context: &mut Context, arguments: &YoloArgs) -> Result<(), Failure> {
    let call = yolo::facts_call(context, arguments.from.clone())?.flag("strict-context", arguments.strict_context);
    answer(context, call)
}

fn new_workspace(context: &mut Context) -> Result<(), Failure> {
    let new = workspaces::new(context)?;
    answer(context, FactsCall::of("new-workspace").with(new))
}

fn list_workspaces(context: &mut Context) -> Result<(), Failure> {
    context.emit(&workspaces::list(context)?)
}

fn remove_workspace(context: &mut Context, arguments: &WorkspaceArgs) -> Result<(), Failure> {
    let old = workspaces::remove(context, &arguments.name)?;
    answer(context, FactsCall::of("remove-workspace").with(old))
}
