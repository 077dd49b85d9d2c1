//! The loop's points, where features put work of their own.

use super::capability::{self, HostFlags};
use super::{CommandError, Context, Family};
use crate::operations::capability::POINTS;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Loop {
    /// Look at the points of the loop where features put work of their own
    #[command(subcommand)]
    Loop(LoopCommand),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum LoopCommand {
    /// Tell what features want done at a point
    ///
    /// Example: `gsd-tools loop render-hooks plan:pre`.
    RenderHooks(RenderArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RenderArgs {
    /// The point, such as `plan:pre`
    point: String,
    #[command(flatten)]
    host: HostFlags,
    /// Tell only whether this feature wants something
    #[arg(long, value_name = "FEATURE")]
    active_cap: Option<String>,
}

impl Family for Loop {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Loop(LoopCommand::RenderHooks(arguments)) = self;
        let Some(point) = POINTS.iter().find(|point| **point == arguments.point) else {
            let told = CommandError::usage(format!("the loop has no point `{}`", arguments.point));
            return Err(told.hint(format!("its points are {}", POINTS.join(", "))));
        };
        let report = capability::at(context, point, &arguments.host)?;
        match arguments.active_cap {
            None => context.emit(&report),
            Some(feature) => {
                let wants = report.active_hooks.iter().any(|hook| hook.cap_id == feature);
                context.text(format!("{wants}\n"));
                Ok(())
            }
        }
    }
}
