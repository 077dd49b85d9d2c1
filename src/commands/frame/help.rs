//! Help pages: the list of commands, and the page of one command, made of its doc comments.

use std::fmt::Write as _;

use crate::text::screen::{Cell, Screen, Tone};

use super::Catalog;
use super::Family;
use super::argv::Lifted;
use super::tree;
use super::usage;

const FLAGS: &str = "\
Global flags:
  --json                  Print JSON, at a terminal too
  --raw                   Print a plain value instead of JSON, where a command has one
  --pick <field>          Print one field of the answer, for example `a.b[0].c`
  --cwd <folder>          Run as if started in this folder
  --project-dir <folder>  Use the project in this folder; do not search the folders above it
  --ws <name>             Use this workstream
  --json-errors           Print errors as one line of JSON
  --color <when>          Use colour: auto, always or never
  --exit-contract=<v>     v1: exit 1 on failure; v2: exit with a code for each kind of failure
  -h, --help              Show help; after a command, the help of that command
";

const MORE_FLAGS: &str = "More flags of this command:\n";
const DRY_RUN_OF_WRITERS: &str =
    "  --dry-run               Show what would change without changing it; with --raw, as a diff\n";
const DRY_RUN_OF_ACTS: &str =
    "  --dry-run               Show what would be done without doing it; no git hooks are run\n";
const IF_MATCH: &str =
    "  --if-match <token>      Refuse if the project has changed since the answer that had this `token`\n";

/// The page that `words` ask for: of the command they name, else of the whole program.
pub(in crate::commands) fn page(catalog: Catalog, words: &[String]) -> String {
    match words.first().and_then(|word| catalog.family(word)) {
        Some(row) => command_page(row, words),
        None if words.iter().any(|word| word == "--all") => full_page(catalog),
        None => short_page(catalog),
    }
}

fn command_page(row: &Family, words: &[String]) -> String {
    let mut tree = tree(row);
    tree.build();
    let found = usage::leaf(&tree, words);
    let flags = flags_of(row, &found.path, found.command);
    format!("{}\n{flags}{FLAGS}", found.command.clone().render_long_help())
}

/// The flags that a command has because of what it does, under a heading; none for one that only reads.
pub(in crate::commands) fn flags_of(row: &Family, path: &str, command: &clap::Command) -> String {
    let Lifted { dry_run, if_match } = usage::lifted(row, path, command);
    let dry_run = match (dry_run, if_match) {
        (true, true) => DRY_RUN_OF_WRITERS,
        (true, false) => DRY_RUN_OF_ACTS,
        (false, _) => "",
    };
    let if_match = if if_match { IF_MATCH } else { "" };
    if dry_run.len() + if_match.len() == 0 { String::new() } else { format!("{MORE_FLAGS}{dry_run}{if_match}\n") }
}

/// What people call, by what they want to do. The rest is for workflows.
pub(in crate::commands) const FOR_PEOPLE: &[(&str, &[&str])] = &[
    ("Set up", &["install", "uninstall", "status", "runtimes", "hooks", "guide"]),
    ("See where a project is", &["progress", "stats", "state", "smart-entry", "roadmap", "list-todos", "audit-uat"]),
    ("Change a project", &["phase", "milestone", "workstream", "todo", "config-get", "config-set"]),
    ("Check and repair", &["validate", "verify", "gate", "trust", "recover"]),
];

/// How to see more of the help.
const MORE: &str = "
More:
  help <command>             Show the help of a command
  help --all                 List every command, also those that workflows call
";

/// Where the documentation is.
const DOCUMENTATION: &str = "`gsd-tools guide` explains the system, topic by topic.";

/// What a person sees who calls the program outside of a project.
pub(in crate::commands) fn welcome(screen: Screen) -> String {
    let mut page = format!("{} {}\n", screen.paint(Tone::Strong, "gsd-tools"), env!("CARGO_PKG_VERSION"));
    let what = "Plan, build and verify software with AI coding agents. It adds commands, agents and hooks to the agent \
                you use, and keeps the plan of a project in files that you can read.";
    page += &screen.prose("", "", what);
    page += "\nThere is no project in this folder.\n\n";
    let rows = [
        ("gsd-tools install", "Install for the agents you use"),
        ("gsd-tools guide", "Read how it works"),
        ("gsd-tools help", "List the commands"),
    ];
    let row = |(call, about): &(&str, &str)| vec![Cell::new(Tone::Command, *call), Cell::from(*about)];
    page += &screen.table("  ", &rows.iter().map(row).collect::<Vec<_>>());
    page
}

/// The commands for people.
fn short_page(catalog: Catalog) -> String {
    let mut page = String::from(
        "Usage: gsd-tools <command> [arguments] [flags]\n\n\
         Example: `gsd-tools install --all --global`\n",
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
    let _ = write!(page, "\n{FLAGS}\n{DOCUMENTATION}\n");
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
    let _ = write!(page, "\n{FLAGS}");
    page
}

/// The flags that pages end with, those of every command and those of some.
#[cfg(test)]
pub(in crate::commands) fn flags() -> String {
    format!("{FLAGS}\n{MORE_FLAGS}{DRY_RUN_OF_WRITERS}{IF_MATCH}\n{MORE_FLAGS}{DRY_RUN_OF_ACTS}")
}
