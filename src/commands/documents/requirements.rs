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

    use crate::peer::phases::READY_IDS;

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

fn reopen(context: &mut Context, arguments: &IdsArgs) -> Result<(), Failure> {
    let ids = &arguments.ids;
    let report = context.write(Target::Project, |view| Ok(requirements::reopen(view, typed_ids(ids))?))?;
    let raw = format!("{}/{} requirement(s) reverted from Complete", report.reverted.len(), report.total);
    context.emit_raw(&report, raw)
}
