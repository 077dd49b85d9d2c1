//! Progress of the milestone, as JSON, as a table, as a bar.

use super::{CommandError, Context, Family};
use crate::operations::progress::{self, TableReport};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ProgressFamily {
    /// Tell how far the milestone is
    ///
    /// Example: `gsd-tools progress bar --raw` prints `[██████░░░░░░░░░░░░░░] 3/10 plans (30%)`.
    Progress(ProgressArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressArgs {
    /// `json`, `table` or `bar`; anything else means `json`
    format: Option<String>,
}

impl Family for ProgressFamily {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Progress(arguments) = self;
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
            _ => context.emit(&report),
        }
    }
}
