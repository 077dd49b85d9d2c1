//! `guide`: short pages about each command and about the method.

use crate::commands::frame::{CommandError, Context, verbs};
use crate::install::{self, Target};
use crate::library;
use crate::runtime::{Descriptor, Scope};
use crate::text::nearest::nearest;
use crate::text::screen;

/// What is before the name of a command in the pages.
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
    let asked = arguments.topic.as_deref().map(plain).filter(|topic| *topic != "help");
    let name = asked.unwrap_or(if arguments.full { "full" } else { "brief" });
    let page = library::guide_page(name).ok_or_else(|| unknown(name))?;
    let spelling = Spelling::of(context);
    // The pages are no Markdown: whatever looks like a call is one.
    let program = format!("{} ", context.program_word());
    let mut text = page.replace(CANONICAL, &spelling.prefix).replace("gsd-tools ", &program);
    if page.contains(CANONICAL) {
        let line =
            |(host, prefix): &(String, String)| format!("\nIn {host}, type {prefix} instead of {}.\n", spelling.prefix);
        let others: String = spelling.others.iter().map(line).collect();
        // The page ends with where there is more.
        let end = text.rfind("\nMore: ").unwrap_or(text.len());
        text.insert_str(end, &others);
    }
    let width = context.page().width;
    context.text(screen::paragraphs(&text, width));
    Ok(())
}

/// How people type commands.
struct Spelling {
    prefix: String,
    /// Hosts that have an install too, and how commands are typed there.
    others: Vec<(String, String)>,
}

impl Spelling {
    /// As the host of the call has it; where nothing names one, as the installed hosts have it. Help is given whatever
    /// state the project's settings are in.
    fn of(context: &Context) -> Self {
        let prefix = context.command_prefix().unwrap_or(CANONICAL).to_owned();
        if context.host_is_named().unwrap_or(false) {
            return Self { prefix, others: Vec::new() };
        }
        let installed = installed(context);
        let is_typed = |prefix: &str| installed.is_empty() || installed.iter().any(|(_, other)| other == prefix);
        let first = installed.first().map(|(_, first)| first.clone());
        let prefix = first.filter(|_| !is_typed(&prefix)).unwrap_or(prefix);
        let others = installed.into_iter().filter(|(_, other)| *other != prefix).collect();
        Self { prefix, others }
    }
}

/// The hosts that have an install, and what is before the name of a command there.
fn installed(context: &Context) -> Vec<(String, String)> {
    let hosts = context.registry().and_then(|registry| Ok(registry.all()?)).unwrap_or_default();
    let is_installed = |host: &Descriptor| {
        let target = |scope| Target::resolve(host.clone(), scope, context.root(), None, context.world());
        [Scope::Global, Scope::Local].into_iter().any(|scope| target(scope).is_ok_and(|it| install::is_installed(&it)))
    };
    let installed = hosts.into_iter().filter(is_installed);
    let spelled = |host: Descriptor| {
        let prefix = host.mention.command.split_once("{name}").map_or(CANONICAL, |(prefix, _)| prefix).to_owned();
        (host.name, prefix)
    };
    installed.map(spelled).collect()
}

/// A topic without the signs that hosts put before the names of commands.
fn plain(topic: &str) -> &str {
    let topic = topic.trim().trim_start_matches(['/', '$', '@']);
    topic.strip_prefix("gsd-").or_else(|| topic.strip_prefix("gsd:")).unwrap_or(topic)
}

/// The topics that have a page.
pub(super) fn topics() -> Vec<String> {
    let mut topics = library::guide_pages();
    topics.retain(|page| !OVERVIEWS.contains(&page.as_str()));
    topics.sort();
    topics
}

fn unknown(topic: &str) -> CommandError {
    let topics = topics();
    let error = CommandError::usage(format!("the guide has no page on `{topic}`")).exits(2);
    // The beginning of a topic, or a part of it, means that topic.
    let names = || topics.iter().map(String::as_str);
    let short = topic.len() < 3;
    let part = names().find(|name| name.starts_with(topic)).or_else(|| names().find(|name| name.contains(topic)));
    let near = part.filter(|_| !short).or_else(|| nearest(topic, names()));
    let error = match near {
        Some(near) => error.hint(format!("did you mean `gsd-tools guide {near}`?")),
        None => error,
    };
    error.hint(format!("the topics are {}", topics.join(", ")))
}
