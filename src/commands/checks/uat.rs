//! User acceptance tests: the next question for a person.

use crate::acts::files;
use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::files::file_not_found;
use crate::disk;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::verification::uat_coverage::{self, Proofs};
use crate::project::plan::PhasePlan;
use crate::project::uat::CurrentTest;
use crate::text::untrusted;

verbs! {
    "User acceptance";
    groups { "uat": "Show user acceptance tests"; }

    /// Show the next open acceptance test as a question for the person
    ///
    /// Example: `gsd-tools uat render-checkpoint --file .planning/phases/01-base/01-UAT.md --raw`.
    "uat render-checkpoint": reads json(CheckpointReport) = render_checkpoint(CheckpointArgs);

    /// Show which deliverables of a summary a person still has to test
    ///
    /// A deliverable with a passed test needs no person if each `ref` names a file of the project or a command that checks
    /// the plan or the project. `all_auto_covered` is true if nothing is left.
    ///
    /// Example: `gsd-tools uat classify-coverage --summary .planning/phases/01-base/01-01-SUMMARY.md --pick all_auto_covered`.
    "uat classify-coverage": reads json(uat_coverage::CoverageReport) = classify_coverage(CoverageArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct CoverageArgs {
    /// The summary, relative to the project root
    #[arg(long)]
    summary: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckpointArgs {
    /// The UAT file, relative to the project root
    #[arg(long)]
    file: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct CheckpointReport {
    file_path: String,
    test_number: u64,
    test_name: String,
    checkpoint: String,
}

fn render_checkpoint(context: &mut Context, arguments: &CheckpointArgs) -> Result<(), Failure> {
    let file = &arguments.file;
    let Some(path) = context.layout().inside(file) else {
        return Err(Failure::usage(format!("`{file}` is outside the project"))
            .hint(format!("name a file below `{}`", context.root())));
    };
    let Some(text) = files::text_from_root(context, &path)? else {
        return Err(file_not_found(&context.root().resolve(&path), context.root()));
    };
    let current = CurrentTest::next(&text)
        .map_err(|error| Failure::from(error).hint(format!("see the section `Current Test` of `{path}`")))?;
    let name = untrusted::without_headers(&current.name);
    let checkpoint = format!(
        "### CHECKPOINT: Verification Required\n\n**Test {}: {name}**\n\n{}\n\n---\n\n**Type `pass` or describe what's wrong.**",
        current.number,
        untrusted::without_headers(&current.expected),
    );
    let report = CheckpointReport { file_path: path, test_number: current.number, test_name: name, checkpoint };
    context.emit_raw(&report, &report.checkpoint)
}

fn classify_coverage(context: &mut Context, arguments: &CoverageArgs) -> Result<(), Failure> {
    let file = &arguments.summary;
    let Some(text) = files::text_from_root(context, file)? else {
        return Err(file_not_found(&context.root().resolve(file), context.root()));
    };
    let plan = files::text_from_root(context, &file.replace("SUMMARY.md", "PLAN.md"))?.unwrap_or_default();
    let mut commands: Vec<String> =
        PhasePlan::parse(&plan).checks().into_iter().filter_map(|check| check.command).collect();
    let config = context.config()?;
    commands.extend(
        ["workflow.test_command", "workflow.build_command"]
            .into_iter()
            .filter_map(|key| config.text(key))
            .map(str::to_owned),
    );
    let is_there = |path: &str, test: Option<&str>| {
        let Some(path) = context.layout().inside(path) else { return false };
        let has =
            |test: &str| files::text_from_root(context, &path).ok().flatten().is_none_or(|text| text.contains(test));
        disk::exists(context.root().resolve(&path).as_path()) && test.is_none_or(has)
    };
    context.emit(&uat_coverage::classify(file, &text, &Proofs { is_there: &is_there, commands }))
}
