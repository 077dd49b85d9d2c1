//! `auto sim`: a milestone in memory.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::views::{profile, shape};
use crate::acts::auto::seen::pipeline;
use crate::auto::preferences::{Pipeline, Preferences, Profile};
use crate::auto::sim::report::{Options, SimReport, simulate};
use crate::auto::slices::forecast::Shape;
use crate::failure::Failure;
use crate::frame::Context;
use crate::text::screen::counted;

#[derive(Debug, clap::Args)]
pub(super) struct SimArgs {
    /// Slices, and tasks in each, such as `4x3`
    #[arg(long, value_parser = shape)]
    shape: Option<Shape>,
    /// `simple` or `classic`
    #[arg(long, default_value = "simple")]
    pipeline: String,
    /// `budget`, `balanced`, `quality` or `burn-max`
    #[arg(long, default_value = "balanced")]
    profile: String,
    /// Plan the first slice in a separate session
    #[arg(long)]
    no_inline_s01: bool,
    /// Assess the roadmap after the last slice as well
    #[arg(long)]
    reassess_last: bool,
    /// Run no acceptance test for the last slice
    #[arg(long)]
    compat_uat: bool,
    /// Write summaries that say too little to be put together without a session
    #[arg(long)]
    thin_summaries: bool,
    /// Set a preference, such as `uat_dispatch=true`
    #[arg(long = "pref", value_name = "KEY=VALUE")]
    preferences: Vec<String>,
    /// Compare the counts with the published ones
    #[arg(long)]
    table: bool,
}

/// Our counts and the published ones.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TableReport {
    rows: Vec<TableRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TableRow {
    shape: String,
    /// Sessions of the classic pipeline: quality, balanced, budget.
    classic: [usize; 3],
    simple: usize,
    /// If the first slice is planned in a separate session.
    simple_apart: usize,
    /// The published numbers, before and after.
    published: &'static str,
    /// The assumptions that lead to the published numbers.
    assumption: &'static str,
}

/// The shapes, the published numbers, and the assumptions that explain them.
const PUBLISHED: &[((usize, usize), &str, &str)] = &[
    ((1, 2), "9, 3", "quality, and an assessment after the last slice (8 + 1)"),
    ((2, 3), "17, 8", "quality, and an assessment after the last slice (16 + 1)"),
    ((4, 3), "30, 16", "quality, as the formula has it; balanced is 27, budget 22"),
    ((6, 4), "46, 31", "balanced, and an assessment after the last slice (45 + 1); first slice planned apart (30 + 1)"),
    ((10, 5), "none", "none"),
];

pub(super) fn sim(context: &mut Context, arguments: &SimArgs) -> Result<(), Failure> {
    if arguments.table {
        return table(context);
    }
    let mut preferences = Preferences::of(pipeline(&arguments.pipeline)?, profile(&arguments.profile)?);
    for given in &arguments.preferences {
        set(&mut preferences, given)?;
    }
    let options = Options {
        preferences,
        skips_first_slice: arguments.no_inline_s01,
        reassesses_last: arguments.reassess_last,
        last_slice_has_no_uat: arguments.compat_uat,
        is_thin: arguments.thin_summaries,
        ..Options::new(arguments.shape.unwrap_or_default())
    };
    let report = run(&options)?;
    context.exit_with(report.exit);
    context.say(&report, None, |_| {
        let sessions = report.by_unit.iter().map(|(kind, count)| format!("  {count:>3}  {kind}\n"));
        let sessions: String = sessions.collect();
        let without = report.mechanical.iter().map(|(kind, count)| format!("  {count:>3}  {kind}\n"));
        let without: String = without.collect();
        let [slices, tasks] = report.shape;
        let size = format!("{} with {} each", counted(slices, "slice"), counted(tasks, "task"));
        let count = counted(report.sessions, "session");
        format!("An invented milestone of {size} takes {count}:\n{sessions}without a session\n{without}")
    })
}

fn run(options: &Options) -> Result<SimReport, Failure> {
    Ok(simulate(options)?)
}

fn set(preferences: &mut Preferences, given: &str) -> Result<(), Failure> {
    let wrong = || {
        Failure::usage(format!("`{given}` is not a preference that the simulation takes"))
            .hint("write it as `uat_dispatch=true`")
            .hint(
                "it takes `uat_dispatch`, `mechanical.enabled`, `plan.inline_s01`, and of `phases.` `skip_research`, \
                 `skip_slice_research`, `skip_reassess`, `reassess_after_slice`, `skip_milestone_validation`, \
                 `require_slice_discussion`",
            )
    };
    let (key, value) = given.split_once('=').ok_or_else(wrong)?;
    let value: bool = value.parse().map_err(|_| wrong())?;
    let place = match key.strip_prefix("phases.").unwrap_or(key) {
        "skip_research" => &mut preferences.skip_research,
        "skip_slice_research" => &mut preferences.skip_slice_research,
        "skip_reassess" => &mut preferences.skip_reassess,
        "reassess_after_slice" => &mut preferences.reassess_after_slice,
        "skip_milestone_validation" => &mut preferences.skip_milestone_validation,
        "require_slice_discussion" => &mut preferences.require_slice_discussion,
        "uat_dispatch" => &mut preferences.uat_dispatch,
        "mechanical.enabled" => &mut preferences.is_mechanical,
        "plan.inline_s01" => &mut preferences.plans_first_slice,
        _ => return Err(wrong()),
    };
    *place = value;
    Ok(())
}

fn table(context: &mut Context) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for ((slices, tasks), published, assumption) in PUBLISHED {
        let shape = Shape { slices: *slices, tasks: *tasks };
        let sessions = |pipeline, profile, skips_first_slice| -> Result<usize, Failure> {
            let preferences = Preferences::of(pipeline, profile);
            Ok(run(&Options { preferences, skips_first_slice, ..Options::new(shape) })?.sessions)
        };
        rows.push(TableRow {
            shape: format!("{slices}x{tasks}"),
            classic: [
                sessions(Pipeline::Classic, Profile::Quality, false)?,
                sessions(Pipeline::Classic, Profile::Balanced, false)?,
                sessions(Pipeline::Classic, Profile::Budget, false)?,
            ],
            simple: sessions(Pipeline::Simple, Profile::Balanced, false)?,
            simple_apart: sessions(Pipeline::Simple, Profile::Balanced, true)?,
            published,
            assumption,
        });
    }
    let report = TableReport { rows };
    context.say(&report, None, |_| {
        let mut text = String::from("shape  classic (quality/balanced/budget)  simple  apart  published  assumption\n");
        for row in &report.rows {
            let [quality, balanced, budget] = row.classic;
            let _ = writeln!(
                text,
                "{:<7}{:<33}{:<8}{:<7}{:<11}{}",
                row.shape,
                format!("{quality} / {balanced} / {budget}"),
                row.simple,
                row.simple_apart,
                row.published,
                row.assumption
            );
        }
        text
    })
}
