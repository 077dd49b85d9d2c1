//! One task of a plan.

use crate::acts::files;
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::operations::plans::task;

verbs! {
    "Tasks";
    groups { "task": "Check a task of a plan"; }

    /// Check whether a task adds behaviour, so that tests come first
    ///
    /// A task adds behaviour if it is marked as test-first, describes behaviour, and changes a source file that is not
    /// a test.
    ///
    /// Example: `gsd-tools task is-behavior-adding .planning/phases/01-a/01-01-PLAN.md --pick is_behavior_adding`.
    "task is-behavior-adding": reads json(task::BehaviorReport) = is_behavior_adding(BehaviorArgs);

    /// Check whether the content of a task is in a tracker, not in the plan
    ///
    /// This program stores no task content outside plans, so the text in the plan applies.
    ///
    /// Example: `gsd-tools task resolve-content --plan .planning/phases/01-a/01-01-PLAN.md --task-id A-1`.
    "task resolve-content": reads json(task::ResolveReport) = resolve_content(ResolveArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct BehaviorArgs {
    /// The plan, or a file that contains only the task
    #[arg(required = true)]
    file: Option<String>,
    /// The text of the task
    #[arg(long, conflicts_with = "file")]
    task_content: Option<NonBlank>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResolveArgs {
    /// The plan file
    #[arg(long)]
    plan: NonBlank,
    /// The `tracker-id` of the task
    #[arg(long)]
    task_id: NonBlank,
}

fn is_behavior_adding(context: &mut Context, arguments: &BehaviorArgs) -> Result<(), Failure> {
    if let Some(text) = &arguments.task_content {
        return context.emit(&task::is_behavior_adding(text));
    }
    let file = arguments.file.as_deref().unwrap_or_default();
    let text = files::text_from_root(context, file)?;
    let text = text.ok_or_else(|| no_file(file))?;
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("`{file}` is empty")).hint(
            "`--task-content` takes the text of a task \
                                                instead",
        ));
    }
    context.emit(&task::is_behavior_adding(&text))
}

fn no_file(path: &str) -> Failure {
    Failure::usage(format!("there is no file `{path}`")).hint(
        "check the path; a relative one starts at the \
                                 project's root",
    )
}

fn resolve_content(context: &mut Context, arguments: &ResolveArgs) -> Result<(), Failure> {
    let (plan, id): (&str, &str) = (&arguments.plan, &arguments.task_id);
    let text = files::text_from_root(context, plan)?;
    let text = text.ok_or_else(|| no_file(plan))?;
    let report = task::resolve_content(&text, id).ok_or_else(|| {
        Failure::usage(format!("`{plan}` has no task with the tracker-id `{id}`"))
            .hint("the tracker-id is an attribute of <task>, such as <task tracker-id=\"T-1\">")
    })?;
    context.emit(&report)
}
