//! Reviews by single reviewers, which only other programs request.

use std::fmt::Write as _;

use crate::acts::review::{self, Invocation, ReviewPlanReport, reviewers, selected};
use crate::failure::Failure;
use crate::frame::{Context, rows};

rows! {
    /// List reviewers with their heading, token limit and prompt file
    ///
    /// Reads the `review` settings. A reviewer that cannot be asked has `ok: false` and the reason; the call then exits
    /// with 1. Does not check what is installed.
    ///
    /// Example: `gsd-tools review-lane plan --selected gemini,codex --run-dir /tmp/review`.
    PLAN = "review-lane plan": reads json(Vec<ReviewPlanReport>) = plan(PlanArgs);

    /// Print the name and the heading of each reviewer
    ///
    /// Example: `gsd-tools review-lane sections --selected gemini,codex`.
    SECTIONS = "review-lane sections": reads text("a line for each reviewer: its name, a tab, the heading of its review")
        = sections(SectionsArgs);

    /// Run one reviewer and write its review to a file
    ///
    /// Sends `gsd-review-prompt.md` of the run directory and writes `gsd-review-NAME.md` and `gsd-review-NAME.err`
    /// there. Where the system allows it, the reviewer cannot write to the project. Without a review, the file says why
    /// and the call exits with 1.
    ///
    /// Example: `gsd-tools review-lane invoke --slug gemini --run-dir /tmp/review`.
    INVOKE = "review-lane invoke": runs json(review::run::InvokeReport) = invoke(InvokeArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// The reviewers, separated by commas (default: all that are built in)
    #[arg(long, value_name = "NAMES")]
    selected: Option<String>,
    /// The directory of the prompt and the reviews
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    run_dir: String,
    /// The repository under review; not used here
    #[arg(long, value_name = "FOLDER", hide = true)]
    repo_root: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SectionsArgs {
    /// The reviewers, separated by commas (default: all that are built in)
    #[arg(long, value_name = "NAMES")]
    selected: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InvokeArgs {
    /// The reviewer, or an instance from `review.reviewer_instances`
    #[arg(long, value_name = "NAME")]
    slug: String,
    /// The directory of the prompt and the reviews
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    run_dir: String,
    /// The repository under review (default: the project root)
    #[arg(long, value_name = "FOLDER")]
    repo_root: Option<String>,
    /// Send this prompt instead of `gsd-review-prompt.md`
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<String>,
    /// Use this model instead of the configured one
    #[arg(long)]
    model: Option<String>,
    /// Use this agent of the reviewer
    #[arg(long)]
    agent: Option<String>,
    /// Name the files of the review after this instead of the reviewer
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Also print a warning if the review is missing
    #[arg(long)]
    explicit: bool,
}

fn plan(context: &mut Context, arguments: &PlanArgs) -> Result<(), Failure> {
    let report = review::plan(context, arguments.selected.as_deref(), &arguments.run_dir)?;
    let is_refused = |row: &ReviewPlanReport| matches!(row, ReviewPlanReport::Refused { .. });
    context.exit_with(u8::from(report.iter().any(is_refused)));
    context.emit(&report)
}

fn sections(context: &mut Context, arguments: &SectionsArgs) -> Result<(), Failure> {
    let reviewers = reviewers()?;
    let mut text = String::new();
    for (name, lane) in selected(context, &reviewers, arguments.selected.as_deref())? {
        let lane = lane.map_err(|error| Failure::usage(error.message).hint(error.hint))?;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}\t{}", lane.section());
    }
    context.text(text);
    Ok(())
}

fn invoke(context: &mut Context, arguments: &InvokeArgs) -> Result<(), Failure> {
    let report = review::invoke(
        context,
        Invocation {
            slug: &arguments.slug,
            run: &arguments.run_dir,
            repository: arguments.repo_root.as_deref(),
            prompt: arguments.prompt_file.as_deref(),
            model: arguments.model.as_deref(),
            agent: arguments.agent.as_deref(),
            name: arguments.name.as_deref(),
        },
    )?;
    if arguments.explicit
        && let Some(detail) = &report.detail
    {
        context.warn(format!("there is no review by `{}`: {detail}", arguments.slug));
    }
    context.exit_with(u8::from(!report.ok));
    context.emit(&report)
}
