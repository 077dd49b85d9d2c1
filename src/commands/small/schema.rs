//! What commands answer, as JSON Schemas. A test makes them of the very types that the commands print and holds the
//! files of `schemas/` equal to them; the program carries those files.

use serde_json::Value;

use crate::commands::families::FAMILIES;
use crate::commands::frame::Context;
use crate::commands::frame::Family;
use crate::commands::frame::catalog;
use crate::commands::frame::error::{CommandError, Reason};
use crate::commands::frame::tree;
use crate::commands::frame::usage;
use crate::text::nearest::nearest;

include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Schemas {
    /// Print the JSON Schema of what a command answers
    ///
    /// The schema tells every key that an answer may have: its type, whether it is always there, and what it says.
    ///
    /// Example: `gsd-tools schema init plan-phase`.
    Schema(SchemaArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The words of the command, such as `phase add`
    #[arg(required = true, value_name = "COMMAND")]
    words: Vec<String>,
}

impl Family for Schemas {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Schema(arguments) = self;
        let schema: Value = serde_json::from_str(schema_of(&arguments.words)?)
            .map_err(|error| CommandError::because(Reason::SdkFailFast, &error))?;
        context.emit(&schema)
    }
}

/// The schema of the command that the words name. A dot may stand between the first two words.
pub(in crate::commands) fn schema_of(words: &[String]) -> Result<&'static str, CommandError> {
    // The words may come as one argument.
    let words: Vec<&str> = words.iter().flat_map(|word| word.split_whitespace()).collect();
    let words: Vec<String> = match words.as_slice() {
        [dotted] => dotted.splitn(2, '.').map(str::to_owned).collect(),
        words => words.iter().map(|&word| word.to_owned()).collect(),
    };
    let typed = words.join(" ");
    let unknown = || CommandError::new(Reason::SdkUnknownCommand, format!("there is no command `{typed}`"));
    let Some(row) = words.first().and_then(|word| FAMILIES.iter().find(|row| row.words.contains(&word.as_str())))
    else {
        let commands = catalog::CATALOG.iter().map(|(path, _)| *path);
        return Err(match nearest(&typed, commands) {
            Some(near) => unknown().hint(format!("did you mean `{near}`?")),
            None => unknown().hint("`gsd-tools --help` lists the commands"),
        });
    };
    let tree = tree(row);
    let leaf = usage::leaf(&tree, &words);
    match SCHEMAS.iter().find(|(path, _)| *path == leaf.path) {
        Some((_, schema)) if leaf.path == typed => Ok(schema),
        _ => {
            let names: Vec<&str> = leaf.command.get_subcommands().map(clap::Command::get_name).collect();
            Err(if names.is_empty() {
                unknown().hint(format!("there is `{}`", leaf.path))
            } else {
                unknown().hint(format!("`{}` has: {}", leaf.path, names.join(", ")))
            })
        }
    }
}
