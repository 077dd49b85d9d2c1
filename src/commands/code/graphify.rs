//! The graph of the code: how old it is, what surrounds a word, how it is built.

use crate::acts::facts;
use crate::acts::writing::Target;
use std::time::Duration;

use crate::commands::frame::named::NonBlank;
use crate::commands::frame::{Context, verbs};
use crate::disk;
use crate::failure::Failure;
use crate::operations::code::graph::{self, BuildFacts, BuildNote, BuildStatus, Builder};
use crate::text::time;
use crate::world::{Finished, Program};

/// The program that builds graphs, and the package it is part of.
const PROGRAM: &str = "graphify";
const PACKAGE: &str = "graphifyy";
/// How long the program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a build may take where nothing is configured, in seconds.
const USUAL_BUILD: u64 = 300;

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
        BuildNote,
        graph::SnapshotReport
    ) = build(BuildArgs);

    /// Search the code graph for a word and list what is connected to it
    ///
    /// Matches labels and descriptions, and includes everything up to two edges from a match.
    ///
    /// Example: `gsd-tools graphify query login --budget 500`.
    "graphify query": reads json(
        crate::operations::answers::disabled::DisabledReport,
        graph::QueryReport,
        graph::FailureReport
    ) = query(QueryArgs);

    /// Show how old the code graph is
    ///
    /// `stale` is true after 24 hours.
    ///
    /// Example: `gsd-tools graphify status --pick stale`.
    "graphify status": reads json(crate::operations::answers::disabled::DisabledReport, graph::StatusReport)
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
        Some("update") => update(context),
        Some(other) => Err(Failure::usage(format!("unknown build `{other}`"))
            .hint("use `gsd-tools graphify build`, `graphify build snapshot` or `graphify build update`")),
        None => {
            let seconds = context.config()?.number("graphify.build_timeout").unwrap_or(USUAL_BUILD);
            let report = graph::build(&context.view(), builder(context), seconds);
            context.emit(&report)
        }
    })
}

fn graphify_status(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |context| {
        let report = status(context);
        context.emit(&report)
    })
}

fn diff(context: &mut Context) -> Result<(), Failure> {
    where_enabled(context, |context| {
        let report = graph::diff(&context.view());
        context.emit(&report)
    })
}

/// Runs `answer` where the project asked for the graph.
fn where_enabled(
    context: &mut Context,
    answer: impl FnOnce(&mut Context) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if context.config()?.flag("graphify.enabled") { answer(context) } else { context.emit(&graph::disabled()) }
}

/// Runs the program that builds graphs, and notes before and after how that goes.
fn update(context: &mut Context) -> Result<(), Failure> {
    let seconds = context.config()?.number("graphify.build_timeout").unwrap_or(USUAL_BUILD);
    let root = context.root().as_path().to_path_buf();
    let started = context.world().now();
    let mut note = BuildNote {
        ts: started.to_string(),
        status: BuildStatus::Running,
        exit_code: None,
        duration_ms: None,
        head_at_build: facts::commit(context),
        graphify_version: None,
        started_at: started.milliseconds(),
    };
    if !context.is_rehearsal() {
        context.write(Target::Project, |view| Ok(((), graph::note_build(view, &note)?)))?;
        note.graphify_version = builder(context).and_then(|builder| builder.package.or(builder.version));
        // A project can switch this on for itself: it is the user's program, and no key of theirs is for what it reads.
        let program = Program::apart(PROGRAM).arguments(["update", "."]).folder(&root);
        let finished = context.world().run(&program.timeout(Duration::from_secs(seconds))).ok();
        let ended = context.world().now();
        note.ts = ended.to_string();
        note.exit_code = finished.as_ref().and_then(|finished| finished.code);
        note.duration_ms = Some(ended.milliseconds() - started.milliseconds());
    }
    note.status = if note.exit_code == Some(0) { BuildStatus::Ok } else { BuildStatus::Failed };
    context.write(Target::Project, |view| Ok(((), graph::note_build(view, &note)?)))?;
    context.emit(&note)
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

fn status(context: &Context) -> graph::StatusReport {
    let view = context.view();
    let root = context.root().as_path();
    let git = |arguments: &[&str]| {
        let finished = context.world().git(root, arguments).ok()?;
        finished.success().then(|| finished.text().trim().to_owned())
    };
    let built = disk::modified(view.layout().absolute(&graph::graph_path(&view)));
    let behind = |commit: String| git(&["rev-list", "--count", &format!("{commit}..HEAD"), "--"])?.parse().ok();
    let facts = BuildFacts {
        built,
        built_shown: built.and_then(time::shown),
        now: context.world().now().milliseconds(),
        current_commit: facts::commit(context),
        commits_behind: graph::built_at(&view).and_then(behind),
    };
    graph::status(&view, &facts)
}

/// The program that builds graphs, as it answers for itself; `None` where it does not answer.
fn builder(context: &Context) -> Option<Builder> {
    let ask = |program: &str, arguments: &[&str]| {
        let program = Program::apart(program).arguments(arguments).timeout(PATIENCE);
        let finished = context.world().run(&program).ok()?;
        finished.success().then(|| finished.text().trim().to_owned()).filter(|text| !text.is_empty())
    };
    let told = format!("from importlib.metadata import version; print(version({PACKAGE:?}))");
    let package = || ask("python3", &["-I", "-c", &told]);
    let program = Program::apart(PROGRAM).arguments(["--help"]).timeout(PATIENCE);
    context.world().run(&program).ok().filter(Finished::success)?;
    Some(Builder { version: ask(PROGRAM, &["--version"]), package: package() })
}
