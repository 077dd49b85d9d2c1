//! The answers of commands, as JSON Schemas. A test generates them from the types that the commands print and compares
//! them with the files of `schemas/`; the program contains those files.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::acts::listing::Listed;
use crate::failure::{Failure, Reason};
use crate::frame::context::emit_data;
use crate::frame::{Context, verbs};
use crate::text::nearest::nearest;

include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

verbs! {
    "Schemas" (own);

    /// Print the JSON Schema of a command's answer
    ///
    /// The schema describes every key that the answer can have: type, meaning, and whether it is always present.
    /// Without a command, lists all commands with their effect and whether an agent may call them without asking.
    ///
    /// Example: `gsd-tools schema init plan-phase`.
    "schema": reads json(CommandsReport, serde_json::Map<String, Value>) = schema(SchemaArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The command, such as `phase add`
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

/// Every command.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct CommandsReport {
    commands: Vec<Listed>,
}

fn schema(context: &mut Context, arguments: &SchemaArgs) -> Result<(), Failure> {
    if arguments.words.is_empty() {
        return emit_data(context, &CommandsReport { commands: context.verbs() });
    }
    let schema: Value = serde_json::from_str(schema_of(&context.verbs(), &arguments.words)?)
        .map_err(|error| Failure::because(Reason::SdkFailFast, &error))?;
    emit_data(context, &schema)
}

/// The schema of the command in the words. The first two words may be separated by a dot.
pub(in crate::commands) fn schema_of(verbs: &[Listed], words: &[String]) -> Result<&'static str, Failure> {
    // The words may come as one argument.
    let words: Vec<&str> = words.iter().flat_map(|word| word.split_whitespace()).collect();
    let words: Vec<&str> = match words.as_slice() {
        [dotted] => dotted.splitn(2, '.').collect(),
        words => words.to_vec(),
    };
    let typed = words.join(" ");
    if let Some((_, schema)) = SCHEMAS.iter().find(|(path, _)| *path == typed) {
        return Ok(schema);
    }
    let unknown = Failure::new(Reason::SdkUnknownCommand, format!("there is no command `{typed}`"));
    let below = |path: &str| -> Vec<&str> {
        let inner = verbs.iter().filter_map(|verb| verb.command.strip_prefix(path)?.strip_prefix(' '));
        let mut names: Vec<&str> = inner.map(|rest| rest.split(' ').next().unwrap_or(rest)).collect();
        names.dedup();
        names
    };
    for count in (1..=words.len()).rev() {
        let path = words[..count].join(" ");
        let names = below(&path);
        if !names.is_empty() {
            return Err(unknown.hint(format!("`{path}` has: {}", names.join(", "))));
        }
        if verbs.iter().any(|verb| verb.command == path) {
            return Err(unknown.hint(format!("there is `{path}`")));
        }
    }
    Err(match nearest(&typed, verbs.iter().map(|verb| verb.command)) {
        Some(near) => unknown.hint(format!("did you mean `{near}`?")),
        None => unknown.hint("`gsd-tools help --all` lists the commands"),
    })
}
