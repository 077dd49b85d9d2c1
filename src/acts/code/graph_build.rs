//! The graph of the code: how old it is, and how the program that builds it ran.

use crate::acts::Call;
use crate::acts::facts;
use crate::acts::writing::Target;
use crate::disk;
use crate::failure::Failure;
use crate::operations::code::graph::{self, BuildFacts, BuildNote, BuildStatus, Builder};
use crate::text::time;
use crate::world::{Finished, Program};
use std::time::Duration;

/// The program that builds graphs, and the package it is part of.
const PROGRAM: &str = "graphify";

const PACKAGE: &str = "graphifyy";

/// How long the program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a build may take if nothing is configured, in seconds.
pub(crate) const USUAL_BUILD: u64 = 300;

pub(crate) fn status(call: &Call) -> graph::GraphStatusReport {
    let view = call.view();
    let root = call.root().as_path();
    let git = |arguments: &[&str]| {
        let finished = call.world().git(root, arguments).ok()?;
        finished.success().then(|| finished.text().trim().to_owned())
    };
    let built = disk::modified(view.layout().absolute(&graph::graph_path(&view)));
    let behind = |commit: String| git(&["rev-list", "--count", &format!("{commit}..HEAD"), "--"])?.parse().ok();
    let facts = BuildFacts {
        built,
        built_shown: built.and_then(time::shown),
        now: call.world().now().milliseconds(),
        current_commit: facts::commit(call),
        commits_behind: graph::built_at(&view).and_then(behind),
    };
    graph::status(&view, &facts)
}

/// The facts that the program that builds graphs reports about itself; `None` if it does not answer.
pub(crate) fn builder(call: &Call) -> Option<Builder> {
    let ask = |program: &str, arguments: &[&str]| {
        let program = Program::apart(program).arguments(arguments).timeout(PATIENCE);
        let finished = call.world().run(&program).ok()?;
        finished.success().then(|| finished.text().trim().to_owned()).filter(|text| !text.is_empty())
    };
    let told = format!("from importlib.metadata import version; print(version({PACKAGE:?}))");
    let package = || ask("python3", &["-I", "-c", &told]);
    let program = Program::apart(PROGRAM).arguments(["--help"]).timeout(PATIENCE);
    call.world().run(&program).ok().filter(Finished::success)?;
    Some(Builder { version: ask(PROGRAM, &["--version"]), package: package() })
}

/// Runs the program that builds graphs, and records the progress before and after.
pub(crate) fn update(call: &Call) -> Result<BuildNote, Failure> {
    let seconds = call.config()?.number("graphify.build_timeout").unwrap_or(USUAL_BUILD);
    let root = call.root().as_path().to_path_buf();
    let started = call.world().now();
    let mut note = BuildNote {
        ts: started.to_string(),
        status: BuildStatus::Running,
        exit_code: None,
        duration_ms: None,
        head_at_build: facts::commit(call),
        graphify_version: None,
        started_at: started.milliseconds(),
    };
    if !call.is_rehearsal() {
        call.write(Target::Project, |view| Ok(((), graph::note_build(view, &note)?)))?;
        note.graphify_version = builder(call).and_then(|builder| builder.package.or(builder.version));
        // A project can turn this on itself, so the user's program runs without the user's keys.
        let program = Program::apart(PROGRAM).arguments(["update", "."]).folder(&root);
        let finished = call.world().run(&program.timeout(Duration::from_secs(seconds))).ok();
        let ended = call.world().now();
        note.ts = ended.to_string();
        note.exit_code = finished.as_ref().and_then(|finished| finished.code);
        note.duration_ms = Some(ended.milliseconds() - started.milliseconds());
    }
    note.status = if note.exit_code == Some(0) { BuildStatus::Ok } else { BuildStatus::Failed };
    call.write(Target::Project, |view| Ok(((), graph::note_build(view, &note)?)))?;
    Ok(note)
}
