//! `guide`: short pages about each command and about the method.

use crate::commands::frame::{CommandError, Context, verbs};
use crate::library;
use crate::text::nearest::nearest;

/// What stands before the name of a command in the pages.
const CANONICAL: &str = "/gsd-";

/// Pages that are overviews, not topics.
const OVERVIEWS: &[&str] = &["brief", "full"];

verbs! {
    "Guide" (own);

    /// Explain the workflow system, or one topic
    ///
    /// Without a topic, prints a short overview that lists the topics.
    ///
    /// Example: `gsd-tools guide plan-phase`.
    "guide": reads text("the page") = guide(GuideArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct GuideArgs {
    /// The topic: a command, or another topic of the overview
    topic: Option<String>,
    /// Print all topics on one page
    #[arg(long, conflicts_with = "topic")]
    full: bool,
}

fn guide(context: &mut Context, arguments: &GuideArgs) -> Result<(), CommandError> {
    let asked = arguments.topic.as_deref().map(plain);
    let name = asked.unwrap_or(if arguments.full { "full" } else { "brief" });
    let page = library::guide_page(name).ok_or_else(|| unknown(name))?;
    // Help is given whatever state the project's settings are in.
    let prefix = context.command_prefix().unwrap_or(CANONICAL).to_owned();
    // The pages are no Markdown: whatever looks like a call is one.
    let program = format!("{} ", context.program_word());
    context.text(page.replace(CANONICAL, &prefix).replace("gsd-tools ", &program));
    Ok(())
}

/// A topic without the signs that hosts put before the names of commands.
fn plain(topic: &str) -> &str {
    let topic = topic.trim().trim_start_matches(['/', '$', '@']);
    topic.strip_prefix("gsd-").or_else(|| topic.strip_prefix("gsd:")).unwrap_or(topic)
}

fn unknown(topic: &str) -> CommandError {
    let mut topics = library::guide_pages();
    topics.retain(|page| !OVERVIEWS.contains(&page.as_str()));
    topics.sort();
    let told = CommandError::usage(format!("no page of the guide on `{topic}`")).exits(2);
    let told = match nearest(topic, topics.iter().map(String::as_str)) {
        Some(near) => told.hint(format!("did you mean `{near}`?")),
        None => told,
    };
    told.hint(format!("there are pages on {}", topics.join(", ")))
}
