//! The guide: short pages on every command and on the method, printed as they are.

use super::usage::nearest;
use super::{CommandError, Context, Family};
use crate::library;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Pages {
    /// Explain the system, or one topic of it
    ///
    /// Example: `gsd-tools guide plan-phase`.
    Guide(GuideArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct GuideArgs {
    /// A command or another topic; the short overview lists them
    topic: Option<String>,
    /// Everything on one page
    #[arg(long, conflicts_with = "topic")]
    full: bool,
}

impl Family for Pages {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Guide(arguments) = self;
        let asked = arguments.topic.as_deref().map(plain);
        let name = asked.unwrap_or(if arguments.full { "full" } else { "brief" });
        let page = library::guide_page(name).ok_or_else(|| unknown(name))?;
        context.text(page);
        Ok(())
    }
}

/// A topic without the signs that hosts put before the names of commands.
fn plain(topic: &str) -> &str {
    let topic = topic.trim().trim_start_matches(['/', '$', '@']);
    topic.strip_prefix("gsd-").or_else(|| topic.strip_prefix("gsd:")).unwrap_or(topic)
}

fn unknown(topic: &str) -> CommandError {
    let pages = library::guide_pages();
    let told = CommandError::usage(format!("no page of the guide on `{topic}`")).exits(2);
    match nearest(topic, pages.iter().map(String::as_str)) {
        Some(near) => told.hint(format!("did you mean `{near}`?")),
        None => told.hint(format!("there are pages on {}", pages.join(", "))),
    }
}
