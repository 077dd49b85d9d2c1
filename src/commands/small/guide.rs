//! `guide`: short pages about each command and about the method.

use crate::acts::call::InstalledHost;
use crate::acts::hosts;
use crate::acts::program;
use std::collections::BTreeSet;
use std::fmt::Write;

use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::library::{self, Item, ItemKind, Library};
use crate::text::nearest::nearest;
use crate::text::screen;
use crate::text::shell::typed;

/// The prefix of command names in the pages.
const CANONICAL: &str = "/gsd-";

/// Pages that are overviews, not topics.
const OVERVIEWS: &[&str] = &["brief", "full"];

/// The topic that lists every command; it is generated from the commands.
const COMMANDS: &str = "commands";

/// Topics that are documents: hosts that this program does not know. They are printed unchanged, because they show text
/// to copy.
const DOCUMENTS: [(&str, &str); 1] = [("own-host", include_str!("../../../docs/own-host.md"))];

/// The groups of commands by task: a router leads to each group.
const TASKS: &[(&str, &str)] = &[
    ("ns-project", "Projects and milestones"),
    ("ns-workflow", "Phases and tasks"),
    ("ns-ideate", "Ideas"),
    ("ns-review", "Quality"),
    ("ns-context", "Knowledge and documents"),
    ("ns-manage", "Sessions, settings, shipping"),
];

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

fn guide(context: &mut Context, arguments: &GuideArgs) -> Result<(), Failure> {
    let asked = arguments.topic.as_deref().map(plain).filter(|topic| *topic != "help");
    let name = asked.unwrap_or(if arguments.full { "full" } else { "brief" });
    if let Some((_, text)) = DOCUMENTS.iter().find(|(topic, _)| *topic == name) {
        context.text(*text);
        return Ok(());
    }
    let page = match library::guide_page(name) {
        _ if name == COMMANDS => commands(&Library::embedded()?, Listing::Described),
        Some(page) if page.contains(COMMAND_LIST) => {
            page.replace(COMMAND_LIST, commands(&Library::embedded()?, Listing::Named).trim_end())
        }
        Some(page) => page.to_owned(),
        None => return Err(unknown(name)),
    };
    let spelling = CommandSpelling::of(context);
    // The pages are not Markdown: anything that looks like a call is a call.
    let program = format!("{} ", program::word_of(context));
    let mut text = page.replace(CANONICAL, &spelling.prefix).replace("gsd-tools ", &program);
    if page.contains(CANONICAL) {
        let line = |host: &InstalledHost| {
            format!("\nIn {}, type {} instead of {}.\n", host.name, host.prefix, spelling.prefix)
        };
        let others: String = spelling.others.iter().map(line).collect();
        // The end of the page points to more information.
        let end = text.rfind("\nMore: ").unwrap_or(text.len());
        text.insert_str(end, &others);
    }
    let width = context.page().width;
    context.text(screen::paragraphs(&text, width));
    Ok(())
}

/// A placeholder in a page for the list of commands.
const COMMAND_LIST: &str = "(commands)";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listing {
    Named,
    Described,
}

/// Every command by task. Its description comes from the first router that leads to it.
fn commands(library: &Library, listing: Listing) -> String {
    let mut page = String::new();
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    let router = |name: &str| library.of_kind(ItemKind::Router).find(|item| item.name.as_str() == name);
    let all = || library.of_kind(ItemKind::Command);
    for (name, task) in TASKS {
        let names = router(name).map(|item| item.front_matter.names("requires")).into_iter().flatten();
        let members: Vec<&Item> = names.filter_map(|name| all().find(|item| item.name.as_str() == name)).collect();
        let items: Vec<&Item> = members.into_iter().filter(|item| listed.insert(item.name.as_str())).collect();
        add_task(&mut page, task, &items, listing);
    }
    let others: Vec<&Item> = all().filter(|item| !listed.contains(item.name.as_str())).collect();
    add_task(&mut page, "Others", &others, listing);
    page
}

fn add_task(page: &mut String, task: &str, items: &[&Item], listing: Listing) {
    if items.is_empty() {
        return;
    }
    let names = items.iter().map(|item| item.name.as_str());
    if listing == Listing::Named {
        let names: Vec<&str> = names.collect();
        _ = writeln!(page, "  {task}\n{}", wrapped(&names));
        return;
    }
    let widest = names.map(str::len).max().unwrap_or_default();
    _ = writeln!(page, "{task}\n");
    for item in items {
        let about = item.front_matter.text("description").unwrap_or_default();
        _ = writeln!(page, "  {CANONICAL}{:widest$}  {about}", item.name.as_str());
    }
    page.push('\n');
}

/// Names in indented lines of at most 92 characters.
fn wrapped(names: &[&str]) -> String {
    let mut lines = vec!["   ".to_owned()];
    for name in names {
        if let Some(line) = lines.last_mut().filter(|line| line.len() + name.len() < 92) {
            line.push(' ');
            line.push_str(name);
        } else {
            lines.push(format!("    {name}"));
        }
    }
    lines.join("\n")
}

/// How people type commands.
struct CommandSpelling {
    prefix: String,
    /// Hosts that have an install too, and how commands are typed there.
    others: Vec<InstalledHost>,
}

impl CommandSpelling {
    /// The spelling of the current host; if the host is unknown, the other installed hosts are named too. The guide
    /// works even if the project's settings are invalid.
    fn of(context: &Context) -> Self {
        let prefix = context.command_prefix().unwrap_or(CANONICAL).to_owned();
        if hosts::host_word(context).is_ok_and(|word| word.is_some()) {
            return Self { prefix, others: Vec::new() };
        }
        let others = hosts::installed_hosts(context).iter().filter(|host| host.prefix != prefix).cloned().collect();
        Self { prefix, others }
    }
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
    topics.push(COMMANDS.to_owned());
    topics.extend(DOCUMENTS.map(|(topic, _)| topic.to_owned()));
    topics.sort();
    topics
}

fn unknown(topic: &str) -> Failure {
    let topics = topics();
    let error = Failure::usage(format!("the guide has no page on `{topic}`")).exits(2);
    // The beginning or a part of a topic's name selects that topic.
    let names = || topics.iter().map(String::as_str);
    let short = topic.len() < 3;
    let part = names().find(|name| name.starts_with(topic)).or_else(|| names().find(|name| name.contains(topic)));
    let near = part.filter(|_| !short).or_else(|| nearest(topic, names()));
    let error = match near {
        Some(near) => error.hint(format!("did you mean `{}`?", typed!("gsd-tools guide {}", near))),
        None => error,
    };
    error.hint(format!("the topics are {}", topics.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_listed_once_under_a_task() {
        let library = Library::embedded().unwrap();
        for listing in [Listing::Named, Listing::Described] {
            let page = commands(&library, listing);
            let words: Vec<&str> = page.split_whitespace().map(plain).collect();
            for item in library.of_kind(ItemKind::Command) {
                let times = words.iter().filter(|word| **word == item.name.as_str()).count();
                // A description may name a command's word too.
                assert!(times == 1 || listing == Listing::Described && times > 1, "{} {times}", item.name.as_str());
            }
        }
        assert!(library::guide_page("brief").unwrap().contains(COMMAND_LIST));
        // The page says that each is a topic.
        let lacks = |item: &&Item| item.name.as_str() != "help" && library::guide_page(item.name.as_str()).is_none();
        let lacking: Vec<_> = library.of_kind(ItemKind::Command).filter(lacks).map(|item| item.name.as_str()).collect();
        assert_eq!(lacking, [""; 0]);
    }

    #[test]
    fn names_are_broken_into_lines() {
        let names = vec!["a-long-name-of-a-command"; 8];
        let lines = wrapped(&names);
        assert!(lines.lines().count() == 3 && lines.lines().all(|line| line.len() <= 92), "{lines}");
    }
}
