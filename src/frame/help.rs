//! Help pages: the list of commands, and the page of one command, made from its doc comments.

use std::fmt::Write as _;

use serde::Serialize;

use crate::failure::Failure;
use crate::text::screen::{Cell, Screen, Tone};

use super::Catalog;
use super::Family;
use super::argv::{self, EXIT_CODES, Flag, Invocation, Lifted};
use super::error::codes;
use super::tree;
use super::usage;
use super::verb::Verb;
use crate::acts::call::InstalledHost;
use crate::acts::listing::Listed;

/// The part of a help page about the flags of every command.
fn global_flags() -> String {
    let lines = argv::GLOBAL.iter().map(Flag::line).collect::<String>();
    format!("Global flags:\n{lines}")
}

/// The line about the flags of every command, at the end of a command's page.
const GLOBAL_FLAGS: &str = "Every command also takes --json, --pick, --cwd and others: see `gsd-tools help`\n";

const MORE_FLAGS: &str = "More flags of this command:\n";
const DRY_RUN_OF_WRITERS: Flag =
    Flag::switch("dry-run", "Show what would change without changing it; with --raw, as a diff");
const DRY_RUN_OF_ACTS: Flag = Flag::switch("dry-run", "Show what would be done without doing it; no git hooks are run");
const YES: Flag = Flag::switch("yes", "Do it without asking at a terminal");
const IF_MATCH: Flag =
    Flag::valued("if-match", "token", "Refuse if the project has changed since the answer that had this `token`");

/// Help as data.
#[derive(Debug, Serialize)]
pub(crate) struct HelpReport {
    /// The commands that the page is about.
    commands: Vec<Listed>,
    page: String,
}

/// The version as data.
#[derive(Debug, Serialize)]
pub(crate) struct VersionReport {
    version: &'static str,
}

impl VersionReport {
    pub(crate) const OURS: Self = Self { version: env!("CARGO_PKG_VERSION") };
}

/// The requested page: for the command that `words` name, else for the whole program.
pub(crate) fn page(catalog: Catalog, call: &Invocation) -> Result<HelpReport, Failure> {
    let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
    let all = || catalog.listing();
    let (commands, page) = match *words.as_slice() {
        [EXIT_CODES] => (Vec::new(), codes::page()),
        ["version"] => (Vec::new(), format!("{VERSION_PAGE}\n{GLOBAL_FLAGS}")),
        ["hook", ..] => (Vec::new(), format!("{HOOK_PAGE}\n{GLOBAL_FLAGS}")),
        [] | ["help"] => (all(), short_page(catalog)),
        _ if words.contains(&"--all") => (all(), full_page(catalog)),
        [flag, ..] if flag.starts_with('-') => (all(), short_page(catalog)),
        _ => command_page(usage::family_of(catalog, call)?, &call.words)?,
    };
    Ok(HelpReport { commands, page })
}

impl HelpReport {
    pub(crate) fn text(self) -> String {
        self.page
    }
}

fn command_page(row: &'static Family, words: &[String]) -> Result<(Vec<Listed>, String), Failure> {
    let mut tree = tree(row);
    tree.build();
    let found = usage::leaf(&tree, words);
    usage::check_subcommand(row, &found)?;
    let flags = flags_of(row, &found.path, found.command);
    let below = format!("{} ", found.path);
    let is_meant = |verb: &&Verb| verb.path == found.path || verb.path.starts_with(&below);
    let commands = row.verbs.iter().filter(is_meant).map(Verb::listed).collect();
    Ok((commands, format!("{}\n{flags}{GLOBAL_FLAGS}", found.command.clone().render_long_help())))
}

/// The flags that a command has because of its effect, under a heading; empty for a command that only reads.
pub(crate) fn flags_of(row: &Family, path: &str, command: &clap::Command) -> String {
    let lines = lifted_flags(row, path, command).iter().map(Flag::line).collect::<String>();
    if lines.is_empty() { lines } else { format!("{MORE_FLAGS}{lines}\n") }
}

fn lifted_flags(row: &Family, path: &str, command: &clap::Command) -> Vec<Flag> {
    let Lifted { dry_run, if_match, yes } = usage::lifted(row, path, command);
    let rehearsal = if if_match { DRY_RUN_OF_WRITERS } else { DRY_RUN_OF_ACTS };
    [dry_run.then_some(rehearsal), yes.then_some(YES), if_match.then_some(IF_MATCH)].into_iter().flatten().collect()
}

/// Every command under one program name, with the flags that are read before clap. Used for shell completions and man
/// pages, not to read calls.
pub(crate) fn whole_tree(catalog: Catalog) -> clap::Command {
    let about = "Plan, build and verify software with AI coding agents";
    let program = clap::Command::new("gsd-tools")
        .version(env!("CARGO_PKG_VERSION"))
        .about(about)
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .subcommand_required(true);
    let program = catalog.0.iter().fold(program, |program, row| {
        let commands =
            tree(row).get_subcommands().map(|command| with_lifted_flags(row, "", command)).collect::<Vec<_>>();
        program.subcommands(commands)
    });
    with_flags(program, argv::GLOBAL)
}

/// Adds to a command, and to those below it, the flags that verbs have because of their effect.
fn with_lifted_flags(row: &Family, above: &str, command: &clap::Command) -> clap::Command {
    let path = format!("{above} {}", command.get_name()).trim_start().to_owned();
    let flags = lifted_flags(row, &path, command);
    let command = with_flags(command.clone(), &flags).disable_help_flag(true).disable_help_subcommand(true);
    command.mut_subcommands(|inner| with_lifted_flags(row, &path, &inner))
}

/// Adds the flags of every command to each command in the tree, except flags that a command defines itself.
pub(crate) fn with_global_flags(command: clap::Command) -> clap::Command {
    // Its arguments belong to another program.
    if command.get_name() == argv::VERBATIM {
        return command;
    }
    with_flags(command, argv::GLOBAL).mut_subcommands(with_global_flags)
}

fn with_flags(command: clap::Command, flags: &[Flag]) -> clap::Command {
    flags.iter().fold(command, |command, flag| {
        let is_there = command
            .get_arguments()
            .any(|argument| argument.get_long() == Some(flag.long) || argument.get_id() == flag.long);
        if is_there { command } else { command.arg(flag.argument()) }
    })
}

/// The commands for people, grouped by purpose. The rest is for workflows.
pub(crate) const FOR_PEOPLE: &[(&str, &[&str])] = &[
    ("Set up", &["install", "update", "undo", "uninstall", "status", "runtimes", "hooks", "guide", "demo"]),
    ("See where a project is", &["progress", "stats", "state", "roadmap", "list-todos", "audit-uat"]),
    ("Change a project", &["auto", "phase", "milestone", "workstream", "todo", "config-get", "config-set"]),
    ("Check and repair", &["validate", "gate", "trust", "doctor", "recover"]),
];

/// The page of `version`, which is answered before any command is read.
const VERSION_PAGE: &str = "\
Print the version of this program

Example: `gsd-tools version`.

Usage: gsd-tools version
";

/// The page of the call that hosts make; `hooks::run` answers it before anything else is read.
const HOOK_PAGE: &str = "\
Answer an event of a host

Your agent's settings call it at each event, with the event as JSON on standard input. It is not for people:
`gsd-tools hooks status` shows which hooks are registered, `gsd-tools hooks off` disables them.

Usage: gsd-tools hook <DIALECT> <EVENT>
";

/// How to see more of the help.
const MORE: &str = "
More:
  help <command>             Show the help of a command
  help --all                 List every command, also those that workflows call
  help exit-codes            List the exit codes
  version                    Print the version
";

/// Where to find the documentation. The address is the one in Cargo.toml, if it has one.
fn documentation() -> String {
    let guide = "`gsd-tools guide` explains the system, topic by topic.\n";
    match env!("CARGO_PKG_REPOSITORY") {
        "" => guide.to_owned(),
        address => format!("{guide}Documentation and bug reports: {address}\n"),
    }
}

/// The page for a person who calls the program outside a project.
pub(crate) fn welcome(screen: Screen, installed: &[InstalledHost]) -> String {
    let mut page = format!("{} {}\n", screen.paint(Tone::Strong, "gsd-tools"), env!("CARGO_PKG_VERSION"));
    let what = "Plan, build and verify software with AI coding agents. It adds commands, agents and hooks to the agent \
                you use, and keeps the plan of a project in files that you can read.";
    page += &screen.prose("", "", what);
    page += "\nThere is no project in this folder.\n\n";
    let mut ways: Vec<(String, String)> = Vec::new();
    for InstalledHost { name, prefix } in installed {
        let command = format!("{prefix}new-project");
        match ways.iter_mut().find(|(known, _)| *known == command) {
            Some((_, hosts)) => *hosts = format!("{hosts} or {name}"),
            None => ways.push((command, name.clone())),
        }
    }
    for (command, hosts) in &ways {
        let command = screen.paint(Tone::Command, command);
        page += &screen.prose("", "  ", &format!("Open {hosts} here and type {command}"));
    }
    if !ways.is_empty() {
        page.push('\n');
    }
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |call: &str, about: &str| rows.push((call.to_owned(), about.to_owned()));
    if installed.is_empty() {
        add("gsd-tools demo", "See a small milestone run, without an agent");
        add("gsd-tools install", "Install for the agents you use");
    } else {
        add("gsd-tools auto run --brief BRIEF.md", "Build what a file describes, unattended");
    }
    add("gsd-tools guide", "Read how it works");
    add("gsd-tools help", "List the commands");
    let row =
        |(call, about): &(String, String)| vec![Cell::new(Tone::Command, call.as_str()), Cell::from(about.as_str())];
    page += &screen.table("  ", &rows.iter().map(row).collect::<Vec<_>>());
    page
}

/// The commands for people.
fn short_page(catalog: Catalog) -> String {
    let mut page = String::from(
        "Usage: gsd-tools <command> [arguments] [flags]\n\n\
         Example: `gsd-tools install --detected`\n",
    );
    for (task, words) in FOR_PEOPLE {
        let _ = writeln!(page, "\n{task}:");
        for word in *words {
            let tree = catalog.family(word).map(tree);
            let about = tree.as_ref().and_then(|tree| tree.find_subcommand(word)).and_then(clap::Command::get_about);
            let _ = writeln!(page, "  {word:<26} {}", about.map(ToString::to_string).unwrap_or_default());
        }
    }
    page.push_str(MORE);
    let _ = write!(page, "\n{}\n{}", global_flags(), documentation());
    page
}

/// Every command, by family.
fn full_page(catalog: Catalog) -> String {
    let mut page = String::from("Usage: gsd-tools <command> [arguments] [flags]\n");
    for row in catalog.0 {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "\n{}:", row.title);
        for command in tree(row).get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(page, "  {:<26} {about}", command.get_name());
        }
    }
    let _ = write!(page, "\n{}", global_flags());
    page
}

/// The flags at the end of pages: those of every command, and those of some.
#[cfg(test)]
pub(crate) fn flags() -> String {
    let (global, if_match) = (global_flags(), IF_MATCH.line());
    let (writers, acts, yes) = (DRY_RUN_OF_WRITERS.line(), DRY_RUN_OF_ACTS.line(), YES.line());
    format!("{global}\n{MORE_FLAGS}{writers}{yes}{if_match}\n{MORE_FLAGS}{acts}")
}
