//! `find-phase`, `phases` and `phase`: find, list, add, complete and remove phases.

use crate::acts::facts;
use crate::acts::git::uncommitted;
use crate::acts::named;
use crate::acts::workstreams;
use crate::acts::writing::Target;
use crate::failure::Failure;
use crate::frame::named::{NonBlank, PhaseArg};
use crate::frame::{Context, verbs};
use crate::operations::milestones::archive;
use crate::operations::phases::add::{self, AddRequest};
use crate::operations::phases::complete;
use crate::operations::phases::find::{self, ListRequest, PhaseFileKind};
use crate::operations::phases::remove;
use crate::operations::state::position;
use crate::project::up_next::is_shipped;

verbs! {
    "Phases";
    groups { "phases": "List and archive phases"; "phase": "Add, complete, check and remove phases"; }

    /// Show the folder of a phase, with its plans and summaries
    ///
    /// Example: `gsd-tools find-phase 2.1 --raw` prints `.planning/phases/02.1-search-hotfix`.
    "find-phase": reads json(find::FindPhaseReport) = find_phase(PhaseArg);

    /// List the phase folders of the milestone, or their files
    ///
    /// Example: `gsd-tools phases list --type plans --phase 2`.
    "phases list": reads json(find::PhaseListReport) = list(ListArgs);

    /// Archive the folders of all phases
    ///
    /// Moves them to `milestones/` in the planning folder. Nothing is deleted. Without `--confirm`, refuses if there
    /// are phases; without `--force`, if one of them is open.
    ///
    /// Example: `gsd-tools phases clear --confirm --archive-version v1.0`.
    "phases clear": destroys [asked] json(archive::ClearReport) = clear(ClearArgs);

    /// Show the next free decimal number of a phase
    ///
    /// Example: `gsd-tools phase next-decimal 2 --raw` prints `02.1`.
    "phase next-decimal": reads json(add::DecimalReport) = next_decimal(PhaseArg);

    /// Add a phase at the end of the milestone
    ///
    /// Adds the phase to ROADMAP.md and creates its folder.
    ///
    /// Example: `gsd-tools phase add "Team sharing" --raw` prints its number.
    "phase add": writes json(add::AddReport) = add(AddArgs);

    /// Add a decimal phase after another phase
    ///
    /// Adds the phase to ROADMAP.md and creates its folder. No other phase is renumbered.
    ///
    /// Example: `gsd-tools phase insert 2 "Hot fix" --raw` prints `02.1`.
    "phase insert": writes json(add::InsertReport) = insert(InsertArgs);

    /// Complete a phase in ROADMAP.md, REQUIREMENTS.md and STATE.md
    ///
    /// Refuses a phase that has open plans or is not verified. Moves the position to the next phase.
    ///
    /// Example: `gsd-tools phase complete 2 --pick next_phase`.
    "phase complete": writes json(complete::CompleteReport) = complete_phase(PhaseArg);

    /// Check whether a phase is planned as a vertical slice (MVP mode)
    ///
    /// Checks the flag, the `**Mode:**` field of the phase in ROADMAP.md, and `workflow.mvp_mode`; `source` says which
    /// of them applies.
    ///
    /// Example: `gsd-tools phase mvp-mode 2 --pick active`.
    "phase mvp-mode": reads json(add::MvpReport) = mvp_mode(MvpArgs);

    use crate::peer::phases::UAT_PASSED;

    /// Add several phases at the end of the milestone
    ///
    /// Adds all of them or none.
    ///
    /// Example: `gsd-tools phase add-batch "Team sharing" Billing`, or `gsd-tools phase add-batch --descriptions
    /// '["Team sharing", "Billing"]'`.
    "phase add-batch": writes json(add::BatchReport) = add_batch(BatchArgs);

    /// Remove a phase and its folder, and renumber the phases after it
    ///
    /// Updates ROADMAP.md, REQUIREMENTS.md, STATE.md, and the names of the folders and files of the later phases. Refuses a
    /// phase with executed plans, and in a repository one with files that git does not have, unless `--force` is given.
    ///
    /// Example: `gsd-tools phase remove 4 --dry-run` shows what would change.
    "phase remove": destroys [asked] json(remove::RemoveReport) = remove(RemoveArgs);

    use crate::peer::phases::LIST_PLANS;

    use crate::peer::phases::TDD_APPLICABLE;
}

#[derive(Debug, clap::Args)]
pub(crate) struct ClearArgs {
    /// Confirm: archive the folders
    #[arg(long)]
    confirm: bool,
    /// Archive them even if phases are open, git reports changes in them, or the archive is another milestone's
    #[arg(long)]
    force: bool,
    /// The milestone to archive them under; default: the one each folder belongs to, or the date
    #[arg(long)]
    archive_version: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BatchArgs {
    /// The names of the phases
    #[arg(required = true, value_name = "NAME")]
    words: Vec<String>,
    /// The names of the phases as a JSON array
    #[arg(long, conflicts_with = "words")]
    descriptions: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    phase: PhaseArg,
    /// Remove it even if plans were executed, or git reports changes in its folder
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// The name of the phase
    #[arg(required = true, value_name = "NAME")]
    words: Vec<NonBlank>,
    /// Use this identifier instead of the next number
    #[arg(long)]
    id: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InsertArgs {
    /// The phase to insert it after
    after: NonBlank,
    /// The name of the phase
    #[arg(required = true, value_name = "NAME")]
    words: Vec<NonBlank>,
    /// Number it on the same level as the phase: 2.2 after 2.1, not 2.1.1
    #[arg(long)]
    sibling: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MvpArgs {
    #[command(flatten)]
    phase: PhaseArg,
    /// Answer as if the user requested it on the command line
    #[arg(long)]
    cli_flag: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// List files instead of folders: `plans`, `summaries` or `all`
    #[arg(long = "type")]
    kind: Option<String>,
    /// Only this phase
    #[arg(long)]
    phase: Option<String>,
    /// Include phases of completed milestones
    #[arg(long)]
    include_archived: bool,
}

fn find_phase(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    let report = find::find_phase(&context.view(), phase)?;
    if context.raw() {
        let raw = report.directory.clone().unwrap_or_default();
        return context.emit_raw(&report, raw);
    }
    if context.shows_to_a_person() {
        context.refuses_a_person_without_a_project()?;
        // The error for a person says why the phase was not found.
        named::phase_named(context, &context.view(), phase)?;
    }
    context.show(&report, |screen| report.shown(screen))
}

fn list(context: &mut Context, arguments: &ListArgs) -> Result<(), Failure> {
    let kind = match arguments.kind.as_deref() {
        None => None,
        Some("plans") => Some(PhaseFileKind::Plans),
        Some("summaries") => Some(PhaseFileKind::Summaries),
        Some("all") => Some(PhaseFileKind::All),
        Some(other) => {
            let told = Failure::usage(format!("phases have no files of the type `{other}`"));
            return Err(told.hint("the types are plans, summaries, all"));
        }
    };
    let request = ListRequest { kind, phase: arguments.phase.as_deref(), archived: arguments.include_archived };
    let report = find::list_phases(&context.view(), request)?;
    context.emit_raw(&report, report.names().join("\n"))
}

fn next_decimal(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    let report = add::next_decimal(&context.view(), phase)?;
    context.emit_raw(&report, &report.next)
}

fn add(context: &mut Context, arguments: &AddArgs) -> Result<(), Failure> {
    warn_of_shipped(context)?;
    let description = joined(&arguments.words);
    let facts = facts::state_facts(context)?;
    let report = context.write(Target::Project, |view| {
        let request = AddRequest { id: arguments.id.as_deref(), ..request(context, &description)? };
        let (report, mut edits) = add::add(view, request)?;
        position::go_on(view, &mut edits, &facts)?;
        Ok((report, edits))
    })?;
    let raw = report.padded.clone();
    let said = format!("Added phase {}: {}\nIts folder is {}\n", report.padded, report.name, report.directory);
    context.say(&report, Some(&raw), |_| said)
}

/// Warns if the milestone was shipped: a phase added to it is probably in the wrong place.
fn warn_of_shipped(context: &Context) -> Result<(), Failure> {
    let view = context.view();
    if is_shipped(&view)? {
        let milestone = view.milestone()?.version.unwrap_or_else(|| "of STATE.md".to_owned());
        context.warn(format_args!("milestone {milestone} is complete; start the next one before you add phases to it"));
    }
    Ok(())
}

/// Words as one text.
fn joined(words: &[NonBlank]) -> String {
    words.iter().map(|word| &**word).collect::<Vec<_>>().join(" ")
}

fn insert(context: &mut Context, arguments: &InsertArgs) -> Result<(), Failure> {
    warn_of_shipped(context)?;
    let description = joined(&arguments.words);
    let facts = facts::state_facts(context)?;
    let report = context.write(Target::Project, |view| {
        let (report, mut edits) =
            add::insert(view, &arguments.after, arguments.sibling, request(context, &description)?)?;
        position::go_on(view, &mut edits, &facts)?;
        Ok((report, edits))
    })?;
    let said = format!(
        "Inserted phase {} after phase {}: {}\nIts folder is {}\n",
        report.phase_number, report.after_phase, report.name, report.directory
    );
    context.say(&report, Some(&report.phase_number), |_| said)
}

const BATCH: &str = "`gsd-tools phase add-batch \"Search\" \"Sync\"`";

fn add_batch(context: &mut Context, arguments: &BatchArgs) -> Result<(), Failure> {
    let descriptions = match &arguments.descriptions {
        Some(list) => serde_json::from_str::<Vec<String>>(list).map_err(|error| {
            Failure::usage(format!(
                "`--descriptions` is not a JSON list of texts: \
                                                          {error}"
            ))
            .hint(BATCH)
        })?,
        None => arguments.words.clone(),
    };
    if descriptions.is_empty() {
        return Err(Failure::usage("`--descriptions` is an empty list").hint(BATCH));
    }
    warn_of_shipped(context)?;
    let facts = facts::state_facts(context)?;
    let report = context.write(Target::Project, |view| {
        let (report, mut edits) = add::add_batch(view, &descriptions, request(context, "")?)?;
        position::go_on(view, &mut edits, &facts)?;
        Ok((report, edits))
    })?;
    context.emit(&report)
}

fn remove(context: &mut Context, arguments: &RemoveArgs) -> Result<(), Failure> {
    let facts = facts::state_facts(context)?;
    let code = context.config()?.project_code().map(str::to_owned);
    if !arguments.force
        && let Some(folder) =
            context.view().find_phase(&arguments.phase)?.folder.filter(|found| found.archived.is_none())
    {
        uncommitted::refuse_uncommitted(context, &folder.path, "removed", "--ignored=matching")?;
    }
    let report = context.write(Target::Project, |view| {
        remove::remove(view, &arguments.phase, arguments.force, code.as_deref(), &facts)
    })?;
    context.say(&report, None, |screen| report.shown(screen))
}

fn clear(context: &mut Context, arguments: &ClearArgs) -> Result<(), Failure> {
    let today = context.world().today();
    let label = arguments.archive_version.as_deref();
    if arguments.confirm && !arguments.force {
        let phases = context.layout().phases();
        uncommitted::refuse_uncommitted(context, &phases, "archived", "--ignored=no")?;
    }
    let ClearArgs { confirm: confirmed, force, .. } = *arguments;
    let request = archive::ClearRequest { label, confirmed, force, today: &today };
    let report = context.write(Target::Project, |view| archive::clear(view, request))?;
    let raw = format!("{} phase directories cleared", report.cleared);
    context.emit_raw(&report, raw)
}

fn complete_phase(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    workstreams::needs_one(context, "phase complete")?;
    let facts = facts::state_facts(context)?;
    let prefix = context.command_prefix()?;
    let prunes = context.config()?.flag("workflow.auto_prune_state");
    let report = context.write(Target::Project, |view| complete::complete(view, phase, prefix, prunes, &facts))?;
    context.say(&report, None, |screen| report.shown(screen))
}

fn request<'text>(context: &'text Context, description: &'text str) -> Result<AddRequest<'text>, Failure> {
    let config = context.config()?;
    Ok(AddRequest {
        description,
        id: None,
        project_code: config.project_code(),
        naming: config.text("phase_naming").unwrap_or("sequential"),
        command_prefix: context.command_prefix()?,
    })
}

fn mvp_mode(context: &mut Context, arguments: &MvpArgs) -> Result<(), Failure> {
    let configured = context.config()?.flag("workflow.mvp_mode");
    context.emit(&add::mvp_mode(&context.view(), &arguments.phase, arguments.cli_flag, configured)?)
}
