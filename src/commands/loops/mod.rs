//! The points of the loop, where features add their work.

pub(crate) mod auto_chain;
pub(crate) mod capability;
mod installed;
pub(crate) mod yolo;

use crate::acts::loops;

use crate::acts::features::features;
use crate::failure::Failure;
use crate::frame::named::HostFlags;
use crate::frame::{Context, verbs};

verbs! {
    "Loop";
    groups { "loop": "Show the gates and work of features at a point of the loop"; }

    /// Check the gates at a point of the loop and print the work to do
    ///
    /// Changes nothing: the calling workflow runs the steps. If `block` is true, a gate stops the loop.
    ///
    /// Example: `gsd-tools loop enter plan:pre 3 --pick block`.
    "loop enter": reads json(loops::EnterReport<'static>) = loop_enter(EnterArgs);

    use crate::peer::small::RENDER_HOOKS;
}

#[derive(Debug, clap::Args)]
pub(crate) struct EnterArgs {
    /// The point, such as `plan:pre`
    point: String,
    /// The phase, such as `3`, or its folder; without it, gates are not checked
    phase: Option<String>,
    #[command(flatten)]
    host: HostFlags,
}

fn loop_enter(context: &mut Context, arguments: &EnterArgs) -> Result<(), Failure> {
    let features = features(context)?;
    let report =
        loops::enter(context, &arguments.point, arguments.phase.as_deref(), arguments.host.choice(), &features)?;
    context.emit(&report)
}
