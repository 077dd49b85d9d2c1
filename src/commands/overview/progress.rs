//! `progress`, `stats` and `history-digest`: counts of the milestone as JSON, as a table, as a bar.

use crate::acts::facts;
use crate::acts::project;
use crate::acts::workstreams;
use crate::failure::Failure;
use crate::frame::context::emit_data;
use crate::frame::{Context, verbs};
use crate::hooks::interrupted;
use crate::operations::overview::dashboard::Dashboard;
use crate::operations::overview::milestones;
use crate::operations::overview::progress::{self, BarReport, ProgressReport, TableReport};
use crate::operations::overview::stats::{self, Commits, StatsReport};
use crate::operations::state::Facts;
use crate::operations::state::next::NextReport;
use crate::text::nearest::nearest;

verbs! {
    "Progress";

    /// Show the progress of the milestone
    ///
    /// Counts plans with a summary, phase by phase. `percent` is null if the roadmap does not show which phases belong
    /// to the milestone. `gsd-tools stats` adds requirements and commits, `gsd-tools smart-entry` the next command.
    ///
    /// Example: `gsd-tools progress bar --raw` prints `[██████░░░░░░░░░░░░░░] 3/10 plans (30%)`.
    "progress": reads json(ProgressReport, BarReport, TableReport) = progress(ProgressArgs);

    /// Show counts of phases, plans, requirements and commits
    ///
    /// Asks git for the number of commits and the date of the first one.
    ///
    /// Example: `gsd-tools stats table --raw` prints the counts as Markdown.
    "stats": reads json(StatsReport, TableReport) = stats(StatsArgs);

    use crate::peer::phases::HISTORY_DIGEST;
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatsArgs {
    /// `json` or `table`; in a script any other word means `json`
    format: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressArgs {
    /// `json`, `table` or `bar`; in a script any other word means `json`
    format: Option<String>,
}

/// Refuses a person's word that is not one of the formats.
fn check_format(context: &Context, format: Option<&str>, formats: &[&str]) -> Result<(), Failure> {
    let Some(word) = format.filter(|word| !formats.contains(word) && context.is_for_a_person()) else {
        return Ok(());
    };
    let unknown = Failure::usage(format!("`{word}` is not a format"));
    let all = formats.join(", ");
    Err(match nearest(word, formats.iter().copied()) {
        Some(near) => unknown.hint(format!("did you mean `{near}`? The formats are {all}")),
        None => unknown.hint(format!("the formats are {all}")),
    })
}

/// The current state of the project, for a person at a terminal.
pub(in crate::commands) fn dashboard(context: &Context) -> Result<String, Failure> {
    let view = context.view();
    let stats = stats::stats(&view, Commits::default())?;
    let facts = facts::next_facts(context)?;
    let next = NextReport::in_project(&view, &facts)?;
    let unfinished = interrupted::found(&view, project::noted_wave(context).as_ref());
    let workstreams = if context.layout().workstream().is_none() { workstreams::names(context)? } else { Vec::new() };
    let dashboard = Dashboard::of(&view, stats, next, title(context)?, unfinished, workstreams)?;
    Ok(dashboard.with_unattended(&facts.commands).shown(context.screen()))
}

/// As [`dashboard`], for a project in milestones of `auto`; `None` outside such a project.
pub(in crate::commands) fn milestones(context: &Context) -> Result<Option<String>, Failure> {
    let Some((root, runs)) = project::milestones(context) else { return Ok(None) };
    let view = project::view_at(context, &root)();
    let facts = Facts { runs, ..facts::next_facts(context)? };
    let next = NextReport::in_project(&view, &facts)?;
    Ok(Some(milestones::page(&view, &root.name(), &next, context.screen())?))
}

/// The state of the project as data: the answer of `progress` for programs.
pub(in crate::commands) fn as_data(context: &mut Context) -> Result<(), Failure> {
    context.emit(&ProgressReport::of(&progress::progress(&context.view())?))
}

fn progress(context: &mut Context, arguments: &ProgressArgs) -> Result<(), Failure> {
    let format = arguments.format.as_deref();
    check_format(context, format, &["json", "table", "bar"])?;
    if context.shows_to_a_person() && format != Some("json") {
        if let Some(page) = milestones(context)? {
            context.text(page);
            return Ok(());
        }
        context.refuses_a_person_without_a_project()?;
        let page = match format {
            None => dashboard(context)?,
            Some(form) => counts(context, form == "bar")?,
        };
        context.text(page);
        return Ok(());
    }
    match format {
        Some("bar") => {
            let bar = BarReport::of(&progress::progress(&context.view())?);
            context.emit_raw(&bar, &bar.bar)
        }
        Some("table") => {
            let rendered = stats::stats(&context.view(), Commits::default())?.progress_table();
            context.emit_raw(&TableReport { rendered: rendered.clone() }, rendered)
        }
        _ => emit_data(context, &ProgressReport::of(&progress::progress(&context.view())?)),
    }
}

/// The progress bar for a person; unless only `bar` is wanted, also the phases below it.
fn counts(context: &Context, bar: bool) -> Result<String, Failure> {
    let stats = stats::stats(&context.view(), Commits::default())?;
    let screen = context.screen();
    Ok(if bar { stats.measure().shown(screen) } else { stats.head(screen, &title(context)?) + &stats.rows(screen) })
}

fn title(context: &Context) -> Result<String, Failure> {
    let title = context.view().project_title()?.unwrap_or_else(|| context.root().name());
    Ok(match context.layout().workstream() {
        Some(workstream) => format!("{title} ({workstream})"),
        None => title,
    })
}

fn stats(context: &mut Context, arguments: &StatsArgs) -> Result<(), Failure> {
    let format = arguments.format.as_deref();
    check_format(context, format, &["json", "table"])?;
    if context.shows_to_a_person()
        && format != Some("json")
        && let Some(page) = milestones(context)?
    {
        context.text(page);
        return Ok(());
    }
    let stats = stats::stats(&context.view(), facts::commits(context))?;
    match format {
        Some("table") if !context.shows_to_a_person() => {
            let rendered = stats.table();
            context.emit_raw(&TableReport { rendered: rendered.clone() }, rendered)
        }
        Some("json") => emit_data(context, &StatsReport::of(&stats)),
        _ => {
            let title = title(context)?;
            context.show(&StatsReport::of(&stats), |screen| stats.shown(screen, &title))
        }
    }
}
