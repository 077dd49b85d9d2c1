//! Scores for evaluations.

use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::verification::evaluation;

verbs! {
    "Evaluations";
    groups { "eval": "Score the evaluation of an AI feature"; }

    /// Score how complete the evaluation of an AI feature is
    ///
    /// Three fifths of the score come from covered dimensions, two fifths from infrastructure. Reads no files.
    ///
    /// Example: `gsd-tools eval score --covered 4 --total 5 --infra ok,ok,partial,missing,ok --pick verdict`.
    "eval score": reads json(evaluation::ScoreReport) = score(ScoreArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ScoreArgs {
    /// The number of dimensions that are covered
    #[arg(long)]
    covered: String,
    /// The number of dimensions in total
    #[arg(long)]
    total: String,
    /// The state of each of the five infrastructure parts: `ok`, `partial` or `missing`, separated by commas
    #[arg(long)]
    infra: String,
}

fn score(context: &mut Context, ScoreArgs { covered, total, infra }: &ScoreArgs) -> Result<(), Failure> {
    let report = evaluation::score(covered, total, infra)?;
    context.emit_raw(&report, serde_json::to_string(&report)?)
}
