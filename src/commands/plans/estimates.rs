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

    use crate::peer::plans::ESTIMATE_CHECK;
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
