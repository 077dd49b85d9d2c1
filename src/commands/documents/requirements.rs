//! Requirements: completes and reopens them, and shows which are ready.

use crate::acts::writing::Target;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::documents::requirements::{self, MarkReport};
use crate::project::requirements::typed_ids;

verbs! {
    "Requirements";
    groups { "requirements": "Show and update REQUIREMENTS.md"; }

    /// Complete requirements in REQUIREMENTS.md
    ///
    /// Ticks them in the list and updates the traceability table.
    ///
    /// Example: `gsd-tools requirements mark-complete AUTH-01,AUTH-02 --raw`.
    "requirements mark-complete": writes json(MarkReport) = mark_complete(IdsArgs);

    /// Show which requirements are complete once a plan is done
    ///
    /// A requirement is not ready while another unfinished plan of the same phase covers it.
    ///
    /// Example: `gsd-tools requirements ready-ids .planning/phases/02-core/02-01-PLAN.md AUTH-01 --pick ready`.
    "requirements ready-ids": reads json(requirements::ReadyReport) = ready(ReadyArgs);

    /// Set completed requirements back to open
    ///
    /// For requirements whose work turned out to have gaps. Updates the list and the traceability table.
    ///
    /// Example: `gsd-tools requirements revert-phase AUTH-02`.
    "requirements revert-phase": writes json(requirements::RevertReport) = reopen(IdsArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct IdsArgs {
    /// The requirements, separated by commas or spaces, such as `AUTH-01,AUTH-02`; brackets are ignored
    ids: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReadyArgs {
    /// The plan, relative to the project root
    plan: String,
    /// The requirements, separated by commas or spaces, such as `AUTH-01,AUTH-02`; brackets are ignored
    ids: Vec<String>,
}

fn mark_complete(context: &mut Context, arguments: &IdsArgs) -> Result<(), Failure> {
    let ids = &arguments.ids;
    let ids = typed_ids(ids);
    if ids.is_empty() {
        return Err(Failure::usage("`requirements mark-complete` needs a requirement")
            .hint("`gsd-tools requirements mark-complete AUTH-01,AUTH-02`"));
    }
    let report = context.write(Target::Project, |view| Ok(requirements::mark_complete(view, ids)?))?;
    match &report {
        MarkReport::Marked { marked_complete, total, .. } => {
            let raw = format!("{}/{total} requirements marked complete", marked_complete.len());
            context.emit_raw(&report, raw)
        }
        MarkReport::NoDocument { .. } => context.emit_raw(&report, "no requirements file"),
    }
}

fn ready(context: &mut Context, arguments: &ReadyArgs) -> Result<(), Failure> {
    let plan = context.layout().relative(&arguments.plan);
    let report = requirements::ready(&context.view(), &plan, typed_ids(&arguments.ids))?;
    let raw = format!("{}/{} requirement(s) ready to mark complete", report.ready.len(), report.total);
    context.emit_raw(&report, raw)
}

fn reopen(context: &mut Context, arguments: &IdsArgs) -> Result<(), Failure> {
    let ids = &arguments.ids;
    let report = context.write(Target::Project, |view| Ok(requirements::reopen(view, typed_ids(ids))?))?;
    let raw = format!("{}/{} requirement(s) reverted from Complete", report.reverted.len(), report.total);
    context.emit_raw(&report, raw)
}
