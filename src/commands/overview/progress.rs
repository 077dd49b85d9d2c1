//! `progress`, `stats` and `history-digest`: counts of the milestone as JSON, as a table, as a bar.

use crate::commands::frame::{CommandError, Context, verbs};
use crate::commands::state::entry;
use crate::operations::overview::dashboard::Dashboard;
use crate::operations::overview::history;
use crate::operations::overview::progress::{self, TableReport};
use crate::operations::overview::stats::{self, Commits};
use crate::world::Finished;

verbs! {
    "Progress";

    /// Show the progress of the milestone
    ///
    /// Counts plans with a summary, phase by phase. `percent` is null if the roadmap does not show which phases belong
    /// to the milestone. `gsd-tools stats` adds requirements and commits, `gsd-tools smart-entry` the next command.
    ///
    /// Example: `gsd-tools progress bar --raw` prints `[██████░░░░░░░░░░░░░░] 3/10 plans (30%)`.
    "progress": reads json( progress::ProgressReport, progress::BarReport, TableReport) = progress(ProgressArgs);

    /// Show counts of phases, plans, requirements and commits
    ///
    /// Asks git for the number of commits and the date of the first one.
    ///
    /// Example: `gsd-tools stats table --raw` prints the counts as Markdown.
    "stats": reads json(stats::StatsReport, TableReport) = stats(StatsArgs);

    /// Show what the phase summaries record: technology, decisions, patterns
    ///
    /// Reads every summary, archived phases included. `gsd-tools summary-extract` reads one.
    ///
    /// Example: `gsd-tools history-digest --pick tech_stack`.
    "history-digest": reads json(history::HistoryReport) = history_digest();
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatsArgs {
    /// `json` or `table`; any other word means `json`
    format: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressArgs {
    /// `json`, `table` or `bar`; any other word means `json`
    format: Option<String>,
}

fn history_digest(context: &mut Context) -> Result<(), CommandError> {
    context.emit(&history::history(&context.view())?)
}

/// Where the project is, for a person at a terminal.
pub(in crate::commands) fn dashboard(context: &Context) -> Result<String, CommandError> {
    let view = context.view();
    let stats = stats::stats(&view, Commits::default())?;
    let entry = entry(context, &view)?;
    let dashboard = Dashboard::of(&view, stats, entry, &context.root().name())?;
    Ok(dashboard.shown(context.screen()))
}

fn progress(context: &mut Context, arguments: &ProgressArgs) -> Result<(), CommandError> {
    let report = progress::progress(&context.view())?;
    match arguments.format.as_deref() {
        Some("bar") => {
            let bar = report.bar();
            let raw = bar.bar.clone();
            context.emit_raw(&bar, raw)
        }
        Some("table") => {
            let rendered = report.table();
            context.emit_raw(&TableReport { rendered: rendered.clone() }, rendered)
        }
        Some(_) => context.emit(&report),
        None if context.shows_to_a_person() && context.has_a_project() => {
            let page = dashboard(context)?;
            context.text(page);
            Ok(())
        }
        None => context.show(&report, |_| String::new()),
    }
}

fn stats(context: &mut Context, arguments: &StatsArgs) -> Result<(), CommandError> {
    let report = stats::stats(&context.view(), commits(context))?;
    if arguments.format.as_deref() == Some("table") {
        let rendered = report.table();
        return context.emit_raw(&TableReport { rendered: rendered.clone() }, rendered);
    }
    let title = context.view().project_title()?.unwrap_or_else(|| context.root().name());
    context.show(&report, |screen| report.shown(screen, &title))
}

/// How many commits led here, and the day of the first; none outside of a repository.
fn commits(context: &Context) -> Commits {
    let git = |arguments: &[&str]| {
        let finished = context.world().git(context.layout().root(), arguments).ok().filter(Finished::success)?;
        Some(finished.text())
    };
    let count = git(&["rev-list", "--count", "HEAD"]).and_then(|count| count.trim().parse().ok()).unwrap_or(0);
    let roots = git(&["log", "--max-parents=0", "--format=%as", "HEAD"]);
    let first = roots.as_deref().and_then(|roots| roots.lines().map(str::trim).filter(|day| !day.is_empty()).min());
    Commits { count, first: first.map(str::to_owned) }
}
