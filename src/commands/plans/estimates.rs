//! Estimates of plans compared with the tokens they used.

use crate::acts::writing::Target;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::plans::estimates;

verbs! {
    "Estimates";

    /// Record how far the estimates of plans were off
    ///
    /// Compares the estimated tokens of each plan with the actual tokens of its summary, and stores the samples in the
    /// planning folder, in `estimation-calibration.json`. The factor is used from three samples on. A plan with
    /// `estimate.raw_tokens` is compared by these. A file of samples that cannot be read is kept next to the new one.
    ///
    /// Example: `gsd-tools estimate-calibrate --pick factor`.
    "estimate-calibrate": writes json(estimates::CalibrateReport) = estimate_calibrate();

    /// Show the factor by which estimates are corrected
    ///
    /// Reads the samples that `gsd-tools estimate-calibrate` stored. The factor is 1 if there are fewer than three.
    ///
    /// Example: `gsd-tools estimate-calibration --pick factor`.
    "estimate-calibration": reads json(estimates::CalibrationReport) = estimate_calibration();

    /// Check an estimate against the budget of one context window
    ///
    /// The budget is `workflow.smart_zone_tokens` of the configuration.
    ///
    /// Example: `gsd-tools estimate-check --tokens 90000 --pick over_budget`.
    "estimate-check": reads json(estimates::CheckReport) = check(CheckArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The estimate, in tokens
    #[arg(long)]
    tokens: String,
    /// The estimate has the correction factor in it already: show it, and do not apply it again
    #[arg(long)]
    calibrated: bool,
}

fn estimate_calibrate(context: &mut Context) -> Result<(), Failure> {
    let report = context.write(Target::Project, |view| Ok(estimates::calibrate(view)?))?;
    match (&report.calibration.problem, &report.set_aside) {
        (Some(problem), Some(aside)) => context.warn(format!("{problem}; the old file is kept as `{aside}`")),
        (Some(problem), None) => context.warn(problem),
        (None, _) => {}
    }
    context.emit(&report)
}

fn estimate_calibration(context: &mut Context) -> Result<(), Failure> {
    let report = estimates::calibration(&context.view())?;
    if let Some(problem) = &report.problem {
        context.warn(problem);
    }
    context.emit(&report)
}

fn check(context: &mut Context, arguments: &CheckArgs) -> Result<(), Failure> {
    let typed = &arguments.tokens;
    let digits = typed.bytes().all(|byte| byte.is_ascii_digit());
    let tokens = typed.parse::<u64>().ok().filter(|tokens| digits && *tokens > 0).ok_or_else(|| {
        Failure::usage(format!("`{typed}` is not a number of tokens"))
            .hint("write a whole number from 1, such as `--tokens 90000`")
    })?;
    let config = context.config()?;
    let configured = config.written("workflow.smart_zone_tokens");
    let report = estimates::check(&context.view(), tokens, arguments.calibrated, configured)?;
    if let Some(problem) = &report.problem {
        context.warn(problem);
    }
    context.emit(&report)
}
