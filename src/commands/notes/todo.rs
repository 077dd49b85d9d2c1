//! Todos and seeds: work that is not in the roadmap, and ideas that wait for their moment.

use crate::acts::writing::Target;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::frame::named::PhaseArg;
use crate::frame::{Context, verbs};
use crate::operations::notes::seeds;
use crate::operations::notes::todos::{self, COMPLETED, Completion};

verbs! {
    "Todos and seeds";
    groups {
        "todo": "Complete todos, and list those that fit a phase";
        "windows": "Show the ledger of small defects";
    }

    /// List pending todos
    ///
    /// Reads `.planning/todos/pending/`.
    ///
    /// Example: `gsd-tools list-todos api --raw` prints how many todos the area `api` has.
    "list-todos": reads json(todos::TodosReport) = list(ListArgs);

    /// List seeds: ideas for later, with the condition that triggers them
    ///
    /// Reads `.planning/seeds/`.
    ///
    /// Example: `gsd-tools list-seeds dormant --raw` prints how many seeds are dormant.
    "list-seeds": reads json(seeds::SeedsReport) = list_seeds(SeedsArgs);

    /// Complete a pending todo
    ///
    /// Moves its file to `.planning/todos/completed/` and adds the date.
    ///
    /// Example: `gsd-tools todo complete 2026-01-05-add-tags.md`.
    "todo complete": writes json(TodoCompleteReport, TodoRehearsalReport) = todo_complete(TodoCompleteArgs);

    /// List pending todos that fit a phase
    ///
    /// Compares words, area and files of each todo with the phase's section of ROADMAP.md and the files of its plans.
    ///
    /// Example: `gsd-tools todo match-phase 2 --pick matches[0].file`.
    "todo match-phase": reads json(todos::MatchReport) = match_phase(PhaseArg);

    use crate::peer::phases::WINDOWS_STATUS;
}

#[derive(Debug, clap::Args)]
pub(crate) struct TodoCompleteArgs {
    /// The name of the file in `.planning/todos/pending/`
    file: String,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// List only the todos of this area
    area: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SeedsArgs {
    /// List only the seeds with this status, such as `dormant`
    status: Option<String>,
}

fn list_seeds(context: &mut Context, arguments: &SeedsArgs) -> Result<(), Failure> {
    let report = seeds::list(&context.view(), arguments.status.as_deref())?;
    context.emit_raw(&report, report.count.to_string())
}

fn todo_complete(context: &mut Context, arguments: &TodoCompleteArgs) -> Result<(), Failure> {
    if arguments.dry_run {
        return rehearse(context, &arguments.file);
    }
    complete(context, &arguments.file)
}

fn match_phase(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    context.emit(&todos::match_phase(&context.view(), phase)?)
}

fn list(context: &mut Context, arguments: &ListArgs) -> Result<(), Failure> {
    let area = arguments.area.as_deref();
    let report = todos::list(&context.view(), area)?;
    if context.raw() {
        return context.emit_raw(&report, report.count.to_string());
    }
    context.show(&report, |screen| report.shown(screen))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TodoCompleteReport<'a> {
    completed: bool,
    file: &'a str,
    date: String,
}

fn complete(context: &mut Context, file: &str) -> Result<(), Failure> {
    let date = context.world().today();
    context.write(Target::Project, |view| Ok(((), todos::complete(view, file, &date)?.edits)))?;
    let said = format!("Completed {file}\n");
    context.say(&TodoCompleteReport { completed: true, file, date }, Some(COMPLETED), |_| said)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TodoRehearsalReport<'a> {
    dry_run: bool,
    would_complete: bool,
    file: &'a str,
    date: &'a str,
    would_move: Move,
    would_set: Fields<'a>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Move {
    source: String,
    target: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Fields<'a> {
    completed: &'a str,
    status: &'static str,
}

fn rehearse(context: &mut Context, file: &str) -> Result<(), Failure> {
    let date = context.world().today();
    let Completion { source, target, .. } = todos::complete(&context.view(), file, &date)?;
    context.emit(&TodoRehearsalReport {
        dry_run: true,
        would_complete: true,
        file,
        date: &date,
        would_move: Move { source, target },
        would_set: Fields { completed: &date, status: COMPLETED },
    })
}
