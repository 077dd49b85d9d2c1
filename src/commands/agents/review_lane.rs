//! `review-lane`: reviews by the agents of other hosts and by model servers. We define the command lines; a project
//! only chooses among the reviewers.

use crate::acts::review::changes::{self, ReviewStep};
use crate::acts::review::reviewers;
use crate::failure::Failure;
use crate::frame::{Context, verbs};

verbs! {
    "Reviews";
    groups { "review-lane": "Run reviews by other programs and local models"; }

    use crate::peer::review::PLAN;

    use crate::peer::review::SECTIONS;

    /// List the flags that ask for a reviewer
    ///
    /// With `--selected`, those of the reviewers it names; names that are not known are skipped.
    ///
    /// Example: `gsd-tools review-lane flags --selected gemini,codex`.
    "review-lane flags": reads text("the flags, one a line") = flags(FlagsArgs);

    /// Print the reviewers whose flags are among the arguments
    ///
    /// Put `--` before the arguments. Other words are skipped.
    ///
    /// Example: `gsd-tools review-lane explicit-from-argv -- 4 --gemini --codex` prints `codex,gemini`.
    "review-lane explicit-from-argv": reads text("the names, separated by commas") = explicit_from_argv(ArgvArgs);

    use crate::peer::review::INVOKE;

    /// Run the reviewers of a code review on the changed files
    ///
    /// Reads the paths of the files from standard input, one a line. Asks only reviewers that `--explicit` names, and only
    /// if the feature uses reviewers at that point. Exits with 1 if a review is missing.
    ///
    /// Example: `gsd-tools review-lane dispatch-step --cap-id code-review --point execute:post --explicit gemini --base-sha main --run-dir /tmp/review`.
    "review-lane dispatch-step": runs json(changes::DispatchReport) = dispatch_step(DispatchArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct FlagsArgs {
    /// The reviewers, separated by commas (default: all that are built in)
    #[arg(long, value_name = "NAMES", num_args = 0..=1, default_missing_value = "")]
    selected: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ArgvArgs {
    /// The arguments of the workflow
    #[arg(last = true)]
    arguments: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DispatchArgs {
    /// The feature whose step this is, such as `code-review`
    #[arg(long, value_name = "FEATURE")]
    cap_id: Option<String>,
    /// The point of the loop, such as `execute:post`
    #[arg(long)]
    point: Option<String>,
    /// The reviewers, separated by commas
    #[arg(long, value_name = "NAMES")]
    explicit: Option<String>,
    /// The commit before the changes
    #[arg(long, value_name = "COMMIT")]
    base_sha: Option<String>,
    /// How thorough: quick, standard or deep (default: `workflow.code_review_depth`)
    #[arg(long)]
    depth: Option<String>,
    /// The directory for the prompt and the reviews
    #[arg(long, value_name = "FOLDER")]
    run_dir: Option<String>,
    /// The repository under review (default: the project root)
    #[arg(long, value_name = "FOLDER")]
    repo_root: Option<String>,
}

fn flags(context: &mut Context, arguments: &FlagsArgs) -> Result<(), Failure> {
    let reviewers = reviewers()?;
    let names: Vec<&str> = arguments.selected.iter().flat_map(|names| names.split(',')).map(str::trim).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let known = names.iter().filter_map(|name| reviewers.iter().find(|reviewer| reviewer.slug == *name));
    let chosen = if names.is_empty() { reviewers.iter().collect::<Vec<_>>() } else { known.collect() };
    for flag in chosen.into_iter().flat_map(|reviewer| &reviewer.flags) {
        context.text(format!("{flag}\n"));
    }
    Ok(())
}

fn explicit_from_argv(context: &mut Context, arguments: &ArgvArgs) -> Result<(), Failure> {
    let reviewers = reviewers()?;
    context.text(reviewers.asked_for(arguments.arguments.iter().map(String::as_str)).join(","));
    Ok(())
}

fn dispatch_step(context: &mut Context, arguments: &DispatchArgs) -> Result<(), Failure> {
    let step = ReviewStep {
        feature: arguments.cap_id.as_deref(),
        point: arguments.point.as_deref(),
        explicit: arguments.explicit.as_deref(),
        base: arguments.base_sha.as_deref(),
        depth: arguments.depth.as_deref(),
        run: arguments.run_dir.as_deref(),
        repository: arguments.repo_root.as_deref(),
    };
    let report = changes::dispatch(context, step)?;
    context.exit_with(u8::from(!report.ok));
    context.emit(&report)
}
