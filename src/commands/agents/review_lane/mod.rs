//! `review-lane`: reviews by the agents of other hosts and by servers of models. The command lines are facts of ours; a
//! project only chooses among the reviewers.

mod changes;
mod run;

use crate::acts::files;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::frame::{Context, verbs};
use crate::disk::{self, AbsolutePath};
use crate::failure::{Failure, Reason};
use crate::operations::agents::reviewers::{Lane, LaneError, Reviewers, Transport};

use changes::DispatchArgs;
use run::{InvokeReport, Place};

verbs! {
    "Reviews";
    groups { "review-lane": "Run reviews by other programs and local models"; }

    /// List reviewers with their heading, token limit and prompt file
    ///
    /// Reads the `review` settings. A reviewer that cannot be asked has `ok: false` and the reason; the call then exits
    /// with 1. Does not check what is installed.
    ///
    /// Example: `gsd-tools review-lane plan --selected gemini,codex --run-dir /tmp/review`.
    "review-lane plan": reads json(Vec<PlanReport>) = plan(PlanArgs);

    /// Print the name and the heading of each reviewer
    ///
    /// Example: `gsd-tools review-lane sections --selected gemini,codex`.
    "review-lane sections": reads text("a line for each reviewer: its name, a tab, the heading of its review")
        = sections(SectionsArgs);

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

    /// Run one reviewer and write its review to a file
    ///
    /// Sends `gsd-review-prompt.md` of the run directory and writes `gsd-review-NAME.md` and `gsd-review-NAME.err`
    /// there. Where the system allows it, the reviewer cannot write to the project. If there is no review, the file says
    /// why and the call exits with 1.
    ///
    /// Example: `gsd-tools review-lane invoke --slug gemini --run-dir /tmp/review`.
    "review-lane invoke": runs json(InvokeReport) = invoke(InvokeArgs);

    /// Run the reviewers of a code review on the changed files
    ///
    /// Reads the paths of the files from standard input, one a line. Asks only reviewers that `--explicit` names, and only
    /// if the feature uses reviewers at that point. Exits with 1 if a review is missing.
    ///
    /// Example: `gsd-tools review-lane dispatch-step --cap-id code-review --point execute:post --explicit gemini --base-sha main --run-dir /tmp/review`.
    "review-lane dispatch-step": runs json(changes::DispatchReport) = dispatch_step(DispatchArgs);
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
    /// Also print a warning if there is no review
    #[arg(long)]
    explicit: bool,
}

/// A reviewer in `review-lane plan`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::commands) enum PlanReport {
    #[serde(rename_all = "camelCase")]
    Lane {
        slug: String,
        ok: bool,
        section: String,
        transport: Transport,
        /// The most tokens of its prompt; null for no limit.
        prompt_budget: Option<u64>,
        /// The file that is sent; null where the reviewer reads it itself, or takes none.
        prompt_path: Option<String>,
    },
    Refused {
        slug: String,
        ok: bool,
        reason: &'static str,
        detail: String,
        hint: String,
    },
}

/// The file with the prompt, in the directory of a run.
const PROMPT: &str = "gsd-review-prompt.md";

fn reviewers() -> Result<Reviewers, Failure> {
    Reviewers::builtin().map_err(|error| Failure::because(Reason::Unknown, &error))
}

/// The names in a list separated by commas.
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// A name, and the reviewer that it means.
type Named<'a> = (String, Result<Lane<'a>, LaneError>);

/// The reviewers that are listed; all that are built in where none is.
fn selected<'a>(context: &Context, reviewers: &'a Reviewers, list: Option<&str>) -> Result<Vec<Named<'a>>, Failure> {
    let config = context.config()?;
    let mut chosen: Vec<String> = names(list.unwrap_or_default()).map(str::to_owned).collect();
    if chosen.is_empty() {
        chosen = reviewers.iter().map(|reviewer| reviewer.slug.clone()).collect();
    }
    Ok(chosen.into_iter().map(|name| (name.clone(), reviewers.lane(&name, config))).collect())
}

fn plan(context: &mut Context, arguments: &PlanArgs) -> Result<(), Failure> {
    let reviewers = reviewers()?;
    let config = context.config()?;
    let report = |(slug, lane): Named<'_>| match lane {
        Ok(lane) => PlanReport::Lane {
            slug,
            ok: true,
            section: lane.section(),
            transport: lane.reviewer.transport,
            prompt_budget: lane.budget(config),
            prompt_path: lane.reviewer.is_sent_the_prompt().then(|| format!("{}/{PROMPT}", arguments.run_dir)),
        },
        Err(error) => {
            PlanReport::Refused { slug, ok: false, reason: error.reason, detail: error.message, hint: error.hint }
        }
    };
    let lanes = selected(context, &reviewers, arguments.selected.as_deref())?;
    let report: Vec<PlanReport> = lanes.into_iter().map(report).collect();
    let is_refused = |row: &PlanReport| matches!(row, PlanReport::Refused { .. });
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

fn invoke(context: &mut Context, arguments: &InvokeArgs) -> Result<(), Failure> {
    let reviewers = reviewers()?;
    let lane = reviewers
        .lane(&arguments.slug, context.config()?)
        .and_then(|lane| lane.called(arguments.name.as_deref(), arguments.model.as_deref()))
        .and_then(|lane| lane.with_agent(arguments.agent.clone()));
    let mut report = match lane {
        Err(error) => InvokeReport::refused(&arguments.slug, error),
        Ok(lane) => {
            let run = run_folder(context, &arguments.run_dir)?;
            let prompt = arguments.prompt_file.as_ref().map(|file| context.here().resolve(file));
            let prompt = prompt.unwrap_or_else(|| run.resolve(PROMPT));
            let repository = repository(context, arguments.repo_root.as_deref())?;
            let place = Place { prompt, run, repository };
            let work = run::prepare(context, lane, &place)?;
            let outcome = work.run(context.world());
            run::finish(context, &work, outcome, &place)?
        }
    };
    arguments.slug.clone_into(&mut report.slug);
    if arguments.explicit
        && let Some(detail) = &report.detail
    {
        context.warn(format!("there is no review by `{}`: {detail}", arguments.slug));
    }
    context.exit_with(u8::from(!report.ok));
    context.emit(&report)
}

fn dispatch_step(context: &mut Context, arguments: &DispatchArgs) -> Result<(), Failure> {
    let report = changes::dispatch(context, arguments)?;
    context.exit_with(u8::from(!report.ok));
    context.emit(&report)
}

/// The directory of a run: in the project, or where anybody may write.
fn run_folder(context: &Context, typed: &str) -> Result<AbsolutePath, Failure> {
    let folder = context.here().resolve(typed);
    if !disk::is_folder(&folder) {
        return Err(Failure::usage(format!("the run directory `{folder}` does not exist"))
            .hint(format!("create it, and write the prompt to `{PROMPT}` in it")));
    }
    let boundary = context.project().boundary()?;
    if boundary.is_about(&folder) {
        boundary.check(&folder)?;
    } else {
        files::hold_agents_off(context, &folder)?;
    }
    Ok(folder)
}

fn repository(context: &Context, typed: Option<&str>) -> Result<AbsolutePath, Failure> {
    let Some(typed) = typed else { return Ok(context.root().clone()) };
    let folder = context.here().resolve(typed);
    if disk::is_folder(&folder) {
        return Ok(folder);
    }
    Err(Failure::usage(format!("`{folder}` is not a folder"))
        .hint("set `--repo-root` to the folder of the repository, or leave it out"))
}
