//! Estimates: what plans took against what they were thought to take.

use crate::commands::frame::CommandError;
use crate::commands::frame::Context;
use crate::commands::frame::Family;
use crate::operations::plans::estimates;

#[derive(Debug, clap::Subcommand)]
#[expect(clippy::enum_variant_names, reason = "the names of the commands")]
pub(crate) enum Estimates {
    /// Learn from all plans and their summaries how far estimates are off
    ///
    /// Example: `gsd-tools estimate-calibrate --pick factor`.
    EstimateCalibrate,
    /// Tell what was learned
    ///
    /// Example: `gsd-tools estimate-calibration --pick factor`.
    EstimateCalibration,
    /// Hold an estimate against the budget of one context
    ///
    /// Example: `gsd-tools estimate-check --tokens 90000 --pick over_budget`.
    EstimateCheck(CheckArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The estimate, in tokens
    #[arg(long)]
    tokens: Option<String>,
    /// The estimate is calibrated already
    #[arg(long)]
    calibrated: bool,
}

impl Family for Estimates {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        match self {
            Self::EstimateCalibrate => {
                let report = context.update(|view| Ok(estimates::calibrate(view)?))?;
                context.emit(&report)
            }
            Self::EstimateCalibration => {
                let report = estimates::calibration(&context.view())?;
                context.emit(&report)
            }
            Self::EstimateCheck(arguments) => check(context, &arguments),
        }
    }
}

fn check(context: &mut Context, arguments: &CheckArgs) -> Result<(), CommandError> {
    let Some(typed) = &arguments.tokens else {
        return Err(CommandError::usage("Usage: estimate-check --tokens <positive integer> [--calibrated]"));
    };
    let digits = typed.bytes().all(|byte| byte.is_ascii_digit());
    let tokens = typed.parse::<u64>().ok().filter(|tokens| digits && *tokens > 0).ok_or_else(|| {
        CommandError::usage(format!("Invalid --tokens \"{typed}\". Must be a positive integer (token count)."))
    })?;
    let config = context.config()?;
    let configured = config.written("workflow.smart_zone_tokens");
    let report = estimates::check(&context.view(), tokens, arguments.calibrated, configured)?;
    context.emit(&report)
}
