//! Help pages: the list of commands, and the page of one command, made of its doc comments.

use std::fmt::Write as _;

use super::Catalog;
use super::Family;
use super::tree;
use super::usage;

const FLAGS: &str = "\
Global flags:
  --raw                   Print a plain value instead of JSON, where a command has one
  --pick <field>          Print one field of the answer, for example `a.b[0].c`
  --cwd <folder>          Run as if started in this folder
  --project-dir <folder>  Use the project in this folder; do not search the folders above it
  --ws <name>             Use this workstream
  --json-errors           Print errors as one line of JSON
  --exit-contract=<v>     v1: exit 1 on failure; v2: exit with a code for each kind of failure
  -h, --help              Show help; after a command, the help of that command
";

/// Shown with commands that write documents.
const FLAGS_OF_WRITERS: &str = "\
More flags of this command:
  --dry-run               Show what would change without changing it; with --raw, as a diff
  --if-match <token>      Refuse if the project has changed since the answer that had this `token`

";

/// Shown with commands that act on other things than documents.
const FLAG_OF_ACTS: &str = "\
More flags of this command:
  --dry-run               Show what would be done without doing it; no git hooks are run

";

/// The page that `words` ask for: of the command they name, else of the whole program.
pub(in crate::commands) fn page(catalog: Catalog, words: &[String]) -> String {
    match words.first().and_then(|word| catalog.family(word)) {
        Some(row) => command_page(row, words),
        None => program_page(catalog),
    }
}

fn command_page(row: &Family, words: &[String]) -> String {
    let mut tree = tree(row);
    tree.build();
    let found = usage::leaf(&tree, words);
    let mut command = found.command.clone();
    format!("{}\n{}{FLAGS}", command.render_long_help(), flags_of(row, &found.path))
}

/// The flags that the verb at `path` has because of what it does, under a heading; none for a verb that only reads.
pub(in crate::commands) fn flags_of(row: &Family, path: &str) -> &'static str {
    match row.verb(path).map(|verb| verb.effect) {
        Some(effect) if effect.writes() => FLAGS_OF_WRITERS,
        Some(effect) if effect.rehearses() => FLAG_OF_ACTS,
        _ => "",
    }
}

fn program_page(catalog: Catalog) -> String {
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
    format!("{FLAGS}\n{FLAGS_OF_WRITERS}{FLAG_OF_ACTS}").trim_end().to_owned() + "\n"
}
