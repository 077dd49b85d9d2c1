//! The loop's points, where features put work of their own.

use schemars::JsonSchema;
use serde::Serialize;

use super::{CommandError, Context, Family};

/// The points, in the order of the loop.
const POINTS: &[&str] = &[
    "discuss:pre",
    "discuss:post",
    "plan:pre",
    "plan:post",
    "execute:pre",
    "execute:wave:pre",
    "execute:wave:post",
    "execute:post",
    "verify:pre",
    "verify:post",
    "ship:pre",
    "ship:post",
];

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
    /// The host's own folder
    #[arg(long)]
    config_dir: Option<String>,
    /// The host
    #[arg(long)]
    runtime: Option<String>,
    /// Tell only whether this feature wants something
    #[arg(long, value_name = "FEATURE")]
    active_cap: Option<String>,
}

/// What features want at a point.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PointReport {
    point: &'static str,
    active_hooks: [&'static str; 0],
    rendered: String,
}

impl Family for Loop {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Loop(LoopCommand::RenderHooks(arguments)) = self;
        let Some(point) = POINTS.iter().find(|point| **point == arguments.point) else {
            let told = CommandError::usage(format!("the loop has no point `{}`", arguments.point));
            return Err(told.hint(format!("its points are {}", POINTS.join(", "))));
        };
        if arguments.active_cap.is_some() {
            context.text("false");
            return Ok(());
        }
        let rendered = format!("_No active hooks at {point}._");
        context.emit(&PointReport { point, active_hooks: [], rendered })
    }
}
