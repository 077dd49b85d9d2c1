//! Verbs about phases and the roadmap that only other programs call.

use schemars::JsonSchema;
use serde::Serialize;

use super::{history, inspect, windows};
use crate::acts::named::{self, Subject};
use crate::acts::writing::Target;
use crate::acts::{facts, files};
use crate::failure::{Failure, Reason};
use crate::frame::named::{NonBlank, PhaseArg, PhaseFolderArg};
use crate::frame::{Context, rows};
use crate::operations::documents::requirements;
use crate::operations::phases::add;
use crate::operations::plans::index::listed_waves;
use crate::operations::roadmap::waves;
use crate::operations::verification::acceptance::acceptance;
use crate::project::requirements::typed_ids;

rows! {
    /// List the plans of a phase, archived phases included
    ///
    /// Example: `gsd-tools phase list-plans 2 --pick plan_count`.
    LIST_PLANS = "phase list-plans": reads json(add::PlanListReport) = list_plans(PhaseArg);

    /// Check whether a plan is executed test-first (TDD)
    ///
    /// Checks the flag, the type of the plan, its tasks, and `workflow.tdd_mode`; `source` says which of them applies.
    ///
    /// Example: `gsd-tools phase tdd-applicable .planning/phases/01-foundation/01-01-PLAN.md --pick applicable`.
    TDD_APPLICABLE = "phase tdd-applicable": reads json(add::TddReport) = tdd_applicable(TddArgs);

    /// Check whether every acceptance test of a phase passed
    ///
    /// Reads the UAT files of the phase. A phase without tests has not passed. Exits 0 whether they passed or not.
    ///
    /// Example: `gsd-tools phase uat-passed 2 --require-verification --pick blockers`.
    UAT_PASSED = "phase uat-passed": reads json(crate::operations::verification::acceptance::AcceptanceReport) = uat_passed(UatArgs);

    /// Add waves and shared constraints to a phase's plans in ROADMAP.md
    ///
    /// Groups the plans of the phase by wave, and lists the `truths` that several of its plans share.
    ///
    /// Example: `gsd-tools roadmap annotate-dependencies 2`.
    ANNOTATE_DEPENDENCIES = "roadmap annotate-dependencies": writes json(waves::AnnotateReport) = annotate_dependencies(PhaseArg);

    /// Show which requirements are complete once a plan is done
    ///
    /// A requirement is not ready while another unfinished plan of the same phase covers it.
    ///
    /// Example: `gsd-tools requirements ready-ids .planning/phases/02-core/02-01-PLAN.md AUTH-01 --pick ready`.
    READY_IDS = "requirements ready-ids": reads json(requirements::ReadyReport) = ready(ReadyArgs);

    /// Show the path of a phase's verification report
    ///
    /// Empty if the phase has none.
    ///
    /// Example: `gsd-tools verification resolve-file .planning/phases/01-foundation`.
    VERIFICATION_FILE = "verification resolve-file": reads json(FileReport) = resolve_file(PhaseFolderArg);

    /// Show what the phase summaries record: technology, decisions, patterns
    ///
    /// Reads every summary, archived phases included. `gsd-tools summary-extract` reads one.
    ///
    /// Example: `gsd-tools history-digest --pick tech_stack`.
    HISTORY_DIGEST = "history-digest": reads json(history::HistoryReport) = history_digest();

    /// Show phases, plans, tasks, requirements and progress as one answer
    ///
    /// Reads all documents of the project. What cannot be determined is listed with the reason, instead of being
    /// guessed.
    ///
    /// Example: `gsd-tools planning inspect --pick progress.accepted_phases.completed`.
    INSPECT = "planning inspect": reads json(inspect::InspectReport) = inspect();

    /// Show the ledger of small defects: those that are open, waived and fixed
    ///
    /// Reads the entries in `.planning/WINDOWS.md`. The gate before shipping refuses while one is open, if
    /// `workflow.windows_enforce` is on.
    ///
    /// Example: `gsd-tools windows status --pick ledger.open_count`.
    WINDOWS_STATUS = "windows status": reads json(windows::WindowsReport) = windows_status();
}

#[derive(Debug, clap::Args)]
pub(crate) struct TddArgs {
    /// The plan file
    plan: NonBlank,
    /// Answer as if the user requested it on the command line
    #[arg(long)]
    cli_flag: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UatArgs {
    #[command(flatten)]
    phase: PhaseArg,
    /// Require a passed verification report too
    #[arg(long)]
    require_verification: bool,
}

fn list_plans(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    context.emit(&add::list_plans(&context.view(), phase)?)
}

fn tdd_applicable(context: &mut Context, arguments: &TddArgs) -> Result<(), Failure> {
    let plan: &str = &arguments.plan;
    let text = files::needed_from_root(context, plan)?;
    let configured = context.config()?.flag("workflow.tdd_mode");
    context.emit(&add::tdd_applicable(&text, arguments.cli_flag, configured))
}

fn uat_passed(context: &mut Context, arguments: &UatArgs) -> Result<(), Failure> {
    let typed: &str = &arguments.phase;
    let view = context.view();
    let folder = view.find_phase(typed)?.folder;
    let folder = folder.ok_or_else(|| {
        let hint = "`gsd-tools phases list` lists the phase folders";
        Failure::new(Reason::PhaseNotFound, format!("phase `{typed}` has no folder")).hint(hint)
    })?;
    context.emit(&acceptance(&view, &folder, typed, arguments.require_verification)?)
}

fn annotate_dependencies(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    let report = context.write(Target::Project, |view| {
        let folder = view.find_phase(phase)?.folder;
        let waves = folder.map(|folder| listed_waves(view, &folder)).transpose()?.unwrap_or_default();
        Ok(waves::annotate_dependencies(view, phase, &waves)?)
    })?;
    context.emit(&report)
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReadyArgs {
    /// The plan, relative to the project root
    plan: String,
    /// The requirements, separated by commas or spaces, such as `AUTH-01,AUTH-02`; brackets are ignored
    ids: Vec<String>,
}

fn ready(context: &mut Context, arguments: &ReadyArgs) -> Result<(), Failure> {
    let plan = context.layout().relative(&arguments.plan);
    let report = requirements::ready(&context.view(), &plan, typed_ids(&arguments.ids))?;
    let raw = format!("{}/{} requirement(s) ready to mark complete", report.ready.len(), report.total);
    context.emit_raw(&report, raw)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileReport {
    /// Empty if the file does not exist.
    verification_file: String,
}

fn resolve_file(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    let folder = match named::subject(context, &arguments.phase)? {
        Subject::Folder(folder) => Some(folder),
        Subject::Phase(phase) => phase.folder,
    };
    let path = folder.and_then(|folder| folder.artifact_path("VERIFICATION"));
    let verification_file = path.map(|path| context.layout().shown(&path)).unwrap_or_default();
    context.emit(&FileReport { verification_file })
}

fn history_digest(context: &mut Context) -> Result<(), Failure> {
    context.emit(&history::history(&context.view())?)
}

fn inspect(context: &mut Context) -> Result<(), Failure> {
    context.emit(&inspect::inspect(&context.view())?)
}

fn windows_status(context: &mut Context) -> Result<(), Failure> {
    let now = facts::moment(context).now;
    let report = windows::status(&context.view(), &now)?;
    context.emit(&report)
}
