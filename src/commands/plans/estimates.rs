//! Estimates: what plans took against what they were thought to take.

use crate::commands::frame::{CommandError, Context, verbs};
use crate::operations::plans::estimates;

verbs! {
    "Estimates";

    /// Learn from all plans and their summaries how far estimates are off
    ///
    /// Example: `gsd-tools estimate-calibrate --pick factor`.
    "estimate-calibrate": writes json(estimates::CalibrateReport) = estimate_calibrate();

    /// Tell what was learned
    ///
    /// Example: `gsd-tools estimate-calibration --pick factor`.
    "estimate-calibration": reads json(estimates::CalibrationReport) = estimate_calibration();

    /// Hold an estimate against the budget of one context
    ///
    /// Example: `gsd-tools estimate-check --tokens 90000 --pick over_budget`.
    "estimate-check": reads json(estimates::CheckReport) = check(CheckArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The estimate, in tokens
    #[arg(long)]
    tokens: String,
    /// The estimate is calibrated already
    #[arg(long)]
    calibrated: bool,
}

fn estimate_calibrate(context: &mut Context) -> Result<(), CommandError> {
    context.emit(&context.update(|view| Ok(estimates::calibrate(view)?))?)
}

fn estimate_calibration(context: &mut Context) -> Result<(), CommandError> {
    context.emit(&estimates::calibration(&context.view())?)
}

fn check(context: &mut Context, arguments: &CheckArgs) -> Result<(), CommandError> {
    let typed = &arguments.tokens;
    let digits = typed.bytes().all(|byte| byte.is_ascii_digit());
    let tokens = typed.parse::<u64>().ok().filter(|tokens| digits && *tokens > 0).ok_or_else(|| {
        CommandError::usage(format!("Invalid --tokens \"{typed}\". Must be a positive integer (token count)."))
    })?;
    let config = context.config()?;
    let configured = config.written("workflow.smart_zone_tokens");
    context.emit(&estimates::check(&context.view(), tokens, arguments.calibrated, configured)?)
}
