//! The graph of the code: its age, the surroundings of a word, its build.

use crate::acts::code::graph_build::{self, USUAL_BUILD};
use crate::acts::writing::Target;

use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::operations::code::graph;

verbs! {
    "Code graph";
    groups { "graphify": "Build, search and compare the code graph"; }

    /// Run a build of the code graph, save a snapshot, or explain how to build
    ///
    /// Without an argument, prints instructions for the agent that builds the graph. `update` runs `graphify`, a
    /// separate program, and records the result. `snapshot` saves the current graph for `graphify diff`. Requires
    /// `graphify.enabled`.
    ///
    /// Example: `gsd-tools graphify build update`.
    "graphify build": writes json(
        crate::operations::answers::disabled::DisabledReport,
        graph::BuildReport,
        graph::BuildNote,
        graph::GraphSnapshotReport
    ) = build(BuildArgs);

    /// Search the code graph for a word and list what is connected to it
    ///
    /// Matches labels and descriptions, and includes everything up to two edges from a match.
    ///
    /// Example: `gsd-tools graphify query login --budget 500`.
    "graphify query": reads json(
        crate::operations::answers::disabled::DisabledReport,
        graph::QueryReport,
        graph::GraphFailureReport
    ) = query(QueryArgs);

    /// Show how old the code graph is
    ///
    /// `stale` is true after 24 hours.
    ///
    /// Example: `gsd-tools graphify status --pick stale`.
    "graphify status": reads json(crate::operations::answers::disabled::DisabledReport, graph::GraphStatusReport)
        = graphify_status();

    /// Show how the code graph changed since the last snapshot
    ///
    /// Example: `gsd-tools graphify diff --pick nodes.added`.
    "graphify diff": reads json(crate::operations::answers::disabled::DisabledReport, graph::DiffReport) = diff();
}

#[derive(Debug, clap::Args)]
pub(crate) struct BuildArgs {
    /// `update` builds the graph again, `snapshot` saves the current one
    what: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct QueryArgs {
    /// The word to search for; case does not matter
    term: NonBlank,
    /// The approximate size limit of the answer in tokens
    #[arg(long)]
    budget: Option<usize>,
}

fn build(context: &mut Context, arguments: &BuildArgs) -> Result<(), Failure> {
    where_enabled(context, |context| match arguments.what.as_deref() {
        Some("snapshot") => {
            let timestamp = context.world().now().to_string();
            context.emit(&context.write(Target::Project, |view| Ok(graph::snapshot(view, &timestamp)?))?)
        }
        Some("update") => {
            let note = graph_build::update(context)?;
            context.emit(&note)
        }
        Some(other) => Err(Failure::usage(format!("unknown build `{other}`"))
            .hint("use `gsd-tools graphify build`, `graphify build snapshot` or `graphify build update`")),
        None => {
            let seconds = context.config()?.number("graphify.build_timeout").unwrap_or(USUAL_BUILD);
            let report = graph::build(&context.view(), graph_build::builder(context), seconds);
            context.emit(&report)
        }
    })
}

fn graphify_status(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |context| {
        let report = graph_build::status(context);
        context.emit(&report)
    })
}

fn diff(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |context| {
        let report = graph::diff(&context.view());
        context.emit(&report)
    })
}

/// Runs `answer` if the project has the graph enabled.
fn where_enabled(
    context: &mut Context,
    answer: impl FnOnce(&mut Context) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if context.config()?.flag("graphify.enabled") { answer(context) } else { context.emit(&graph::disabled()) }
}

fn query(context: &mut Context, arguments: &QueryArgs) -> Result<(), Failure> {
    where_enabled(context, |context| {
        let answer = graph::query(&context.view(), &arguments.term, arguments.budget);
        match answer {
            Ok(report) => context.emit(&report),
            Err(failure) => context.emit(&failure),
        }
    })
}
