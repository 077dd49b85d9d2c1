//! Scores of evaluations.

use crate::commands::frame::{CommandError, Context, verbs};
use crate::operations::verification::evaluation;

verbs! {
    "Evaluations";
    groups { "eval": "Score the evaluation of a feature"; }

    /// Score what is covered and what it runs on
    ///
    /// Example: `gsd-tools eval score --covered 4 --total 5 --infra ok,ok,partial,missing,ok --pick verdict`.
    "eval score": reads json(evaluation::ScoreReport) = score(ScoreArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ScoreArgs {
    /// How many dimensions are covered
    #[arg(long)]
    covered: String,
    /// How many dimensions there are
    #[arg(long)]
    total: String,
    /// How each of the five parts of the infrastructure stands: `ok`, `partial` or `missing`, parted by commas
    #[arg(long)]
    infra: String,
}

fn score(context: &mut Context, ScoreArgs { covered, total, infra }: &ScoreArgs) -> Result<(), CommandError> {
    let report = evaluation::score(covered, total, infra).map_err(|error| CommandError::usage(error.to_string()))?;
    let raw = serde_json::to_string(&report)?;
    context.emit_raw(&report, raw)
}
