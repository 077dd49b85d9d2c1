//! `workstream`: creates, switches and archives workstreams.

use crate::acts::writing::{Target, Writes};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};
use crate::operations::workstream::{self, CreateReport, CreateRequest, Mode, WorkstreamCompleteReport};
use crate::project::view::Edits;
use crate::project::workstream::checked;

/// The output of `get` and `set` with `--raw` if no workstream is active.
const NONE: &str = "none";

verbs! {
    "Workstreams";
    groups { "workstream": "Create, switch and archive workstreams (separate roadmaps)"; }

    /// Create a workstream and switch to it
    ///
    /// If the project has no workstreams yet, its roadmap, state and phases move to a workstream too; see
    /// `--migrate-name` and `--no-migrate`.
    ///
    /// Example: `gsd-tools workstream create web --migrate-name api`.
    "workstream create": writes json(CreateReport) = create(CreateArgs);

    /// List the workstreams, the active one first
    ///
    /// Example: `gsd-tools workstream list --pick count`.
    "workstream list": reads json(workstream::RowsReport<workstream::ListRow>) = list();

    /// Show one workstream: documents, phases and progress
    ///
    /// Example: `gsd-tools workstream status web --pick current_phase`.
    "workstream status": reads json(workstream::WorkstreamStatusReport) = status(NameArgs);

    /// Archive a workstream under the milestones
    ///
    /// Moves its folder to `milestones/`, unchanged. After the last one is archived, the project has no workstreams.
    ///
    /// Example: `gsd-tools workstream complete web --pick archived_to`.
    "workstream complete" or "archive": destroys [asked] json(WorkstreamCompleteReport) = complete(NameArgs);

    /// Switch to a workstream
    ///
    /// In a session that a host or terminal identifies, only this session switches; otherwise all sessions do.
    ///
    /// Example: `gsd-tools workstream set web --raw` prints `web`.
    "workstream set" or "switch": writes json(ActiveReport) = workstream_set(SetArgs);

    /// Show the active workstream
    ///
    /// Example: `gsd-tools workstream get --raw` prints its name or `none`.
    "workstream get": reads json(ActiveReport) = get();

    /// Show the progress of all workstreams
    ///
    /// Example: `gsd-tools workstream progress`.
    "workstream progress": reads json(workstream::RowsReport<workstream::ProgressRow>) = progress();
}

#[derive(Debug, clap::Args)]
pub(crate) struct CreateArgs {
    /// The name of the workstream
    name: NonBlank,
    /// The workstream that the existing work moves to
    #[arg(long, value_name = "NAME")]
    migrate_name: Option<String>,
    /// Do not move the existing work to a workstream
    #[arg(long)]
    no_migrate: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NameArgs {
    /// The name of the workstream
    name: NonBlank,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SetArgs {
    /// The name of the workstream
    #[arg(required = true)]
    name: Option<NonBlank>,
    /// Clear the active workstream
    #[arg(long, conflicts_with = "name")]
    clear: bool,
}

fn list(context: &mut Context) -> Result<(), Failure> {
    let active = context.workstream_pointer().active();
    let report = workstream::list(&context.view().scoped(None), active.as_deref())?;
    context.show(&report, |screen| report.shown(screen))
}

fn status(context: &mut Context, arguments: &NameArgs) -> Result<(), Failure> {
    context.emit(&workstream::status(&context.view().scoped(None), checked(&arguments.name)?)?)
}

fn workstream_set(context: &mut Context, arguments: &SetArgs) -> Result<(), Failure> {
    match &arguments.name {
        Some(name) => set(context, name),
        None => clear(context),
    }
}

fn progress(context: &mut Context) -> Result<(), Failure> {
    let active = context.workstream_pointer().active();
    context.emit(&workstream::progress(&context.view().scoped(None), active.as_deref())?)
}

fn create(context: &mut Context, arguments: &CreateArgs) -> Result<(), Failure> {
    if !context.has_a_project() {
        let prefix = context.command_prefix()?;
        let told = Failure::usage("there is no project here (no .planning folder)");
        return Err(told.hint(format!("{prefix}new-project creates one")));
    }
    let today = context.world().today();
    let pointer = context.workstream_pointer();
    let report = context.write(Target::Workstreams, |view| {
        let (migrate_name, no_migration) = (arguments.migrate_name.as_deref(), arguments.no_migrate);
        let request = CreateRequest { name: &arguments.name, migrate_name, no_migration, today: &today };
        let (report, edits) = workstream::create(view, request)?;
        let chosen = match &report {
            CreateReport::Created { workstream, .. } => pointer.choosing(workstream),
            CreateReport::Refused { .. } => Vec::new(),
        };
        Ok((report, Writes::with_pointer(edits, chosen)?))
    })?;
    context.emit(&report)
}

fn complete(context: &mut Context, arguments: &NameArgs) -> Result<(), Failure> {
    let name = checked(&arguments.name)?;
    let today = context.world().today();
    let pointer = context.workstream_pointer();
    let report = context.write(Target::Workstreams, |view| {
        let (report, edits) = workstream::complete(view, name, &today)?;
        let forgotten = match &report {
            WorkstreamCompleteReport::Completed { .. } => pointer.forgetting(name),
            WorkstreamCompleteReport::Absent { .. } => Vec::new(),
        };
        Ok((report, Writes::with_pointer(edits, forgotten)?))
    })?;
    if matches!(report, WorkstreamCompleteReport::Absent { .. }) {
        context.refuses_a_person_a_missing_workstream(name)?;
    }
    context.emit(&report)
}

/// The answer of `workstream get`, `set` and `set --clear`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::commands) enum ActiveReport {
    Set { active: String, set: bool },
    Absent { active: Option<String>, error: &'static str, workstream: String },
    Wrong { active: Option<String>, error: &'static str, message: &'static str },
    Cleared { active: Option<String>, cleared: bool, previous: Option<String> },
    Told { active: Option<String>, mode: Mode },
}

fn set(context: &mut Context, name: &str) -> Result<(), Failure> {
    if checked(name).is_err() {
        let message = "use letters, digits, `-`, `_` and `.`";
        return context.emit(&ActiveReport::Wrong { active: None, error: "invalid_name", message });
    }
    let pointer = context.workstream_pointer();
    let report = context.write(Target::Workstreams, |view| {
        if workstream::is_there(view, name)? {
            let report = ActiveReport::Set { active: name.to_owned(), set: true };
            return Ok((report, Writes::with_pointer(Edits::default(), pointer.choosing(name))?));
        }
        let report = ActiveReport::Absent { active: None, error: "not_found", workstream: name.to_owned() };
        Ok((report, Edits::default().into()))
    })?;
    if matches!(report, ActiveReport::Absent { .. }) {
        context.refuses_a_person_a_missing_workstream(name)?;
    }
    match report {
        ActiveReport::Set { .. } => context.emit_raw(&report, name),
        _ => context.emit(&report),
    }
}

/// After a session clears its own choice, the shared one is active again, and the answer reports it.
fn clear(context: &mut Context) -> Result<(), Failure> {
    let pointer = context.workstream_pointer();
    let previous = pointer.active();
    context.write(Target::Workstreams, |_| Ok(((), Writes::with_pointer(Edits::default(), pointer.clearing())?)))?;
    let active = pointer.active();
    context.emit(&ActiveReport::Cleared { active, cleared: true, previous })
}

fn get(context: &mut Context) -> Result<(), Failure> {
    let mode = workstream::mode(&context.view().scoped(None));
    let active = context.workstream_pointer().active();
    let raw = active.clone().unwrap_or_else(|| NONE.to_owned());
    context.emit_raw(&ActiveReport::Told { active, mode }, raw)
}
