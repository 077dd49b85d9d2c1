//! Prompts that must fit into a budget: made from files, written to a file.

use crate::acts::files;
use std::collections::BTreeSet;
use std::path::Path;

use crate::acts::files::file_not_found;
use crate::disk::{AbsolutePath, Digest};
use crate::failure::{Failure, Reason};
use crate::frame::{Context, verbs};
use crate::operations::agents::prompt_budget::{self, Material};

/// The exit code if the required parts do not fit.
const TOO_LARGE: u8 = 2;

verbs! {
    "Prompts";

    /// Create a prompt from files that fits into a token budget
    ///
    /// Writes the prompt to one file and what was cut to another. Shortens the project description first, then leaves
    /// out context, research and requirements, and shortens plans. Exits with 2 if the required parts do not fit; the
    /// prompt is then empty.
    ///
    /// Example: `gsd-tools prompt-budget --budget 8000 --instructions-file ask.md --roadmap-file roadmap.md --plan-file 02-01-PLAN.md --output-prompt prompt.md --output-metadata prompt.json`.
    "prompt-budget": runs text("nothing; the file of `--output-metadata` lists what was cut")
        = prompt_budget(BudgetArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct BudgetArgs {
    /// The token budget
    #[arg(long)]
    budget: std::num::NonZeroUsize,
    /// The file with the instructions
    #[arg(long, value_name = "FILE")]
    instructions_file: String,
    /// The file with the roadmap, or the part of it that matters
    #[arg(long, value_name = "FILE")]
    roadmap_file: String,
    /// The file with a plan; can be repeated
    #[arg(long, value_name = "FILE", required = true)]
    plan_file: Vec<String>,
    /// The file with the project description; shortened to its first lines if needed
    #[arg(long, value_name = "FILE")]
    project_file: Option<String>,
    /// The file with the phase's context; left out first
    #[arg(long, value_name = "FILE")]
    context_file: Option<String>,
    /// The file with the phase's research; left out second
    #[arg(long, value_name = "FILE")]
    research_file: Option<String>,
    /// The file with the phase's requirements; left out last
    #[arg(long, value_name = "FILE")]
    requirements_file: Option<String>,
    /// Write the prompt to this file
    #[arg(long, value_name = "FILE")]
    output_prompt: String,
    /// Write a JSON report of what was cut to this file
    #[arg(long, value_name = "FILE")]
    output_metadata: String,
}

fn prompt_budget(context: &mut Context, arguments: &BudgetArgs) -> Result<(), Failure> {
    let (prompt, report) = prompt_budget::fit(&material(context, arguments)?, arguments.budget.get());
    let metadata =
        serde_json::to_string_pretty(&report).map_err(|error| Failure::because(Reason::SdkFailFast, &error))?;
    write(context, [(&arguments.output_prompt, prompt), (&arguments.output_metadata, metadata + "\n")])?;
    if report.hard_failed {
        context.warn("the required parts do not fit into the budget; the prompt is empty");
        context.exit_with(TOO_LARGE);
    }
    Ok(())
}

fn material(context: &Context, arguments: &BudgetArgs) -> Result<Material, Failure> {
    let optional = |file: Option<&String>| -> Result<Option<String>, Failure> {
        match file {
            Some(file) => files::text_from_here(context, file),
            None => Ok(None),
        }
    };
    let required = |file: &String| {
        optional(Some(file))?.ok_or_else(|| file_not_found(&context.here().resolve(file), context.here()))
    };
    let name = |file: &String| {
        Path::new(file).file_name().map_or_else(|| file.clone(), |name| name.to_string_lossy().into_owned())
    };
    let plan = |file: &String| Ok((name(file), required(file)?));
    Ok(Material {
        instructions: required(&arguments.instructions_file)?,
        roadmap: required(&arguments.roadmap_file)?,
        project: optional(arguments.project_file.as_ref())?,
        plans: arguments.plan_file.iter().map(plan).collect::<Result<_, Failure>>()?,
        context: optional(arguments.context_file.as_ref())?,
        research: optional(arguments.research_file.as_ref())?,
        requirements: optional(arguments.requirements_file.as_ref())?,
    })
}

/// Writes both files, or neither.
fn write(context: &Context, files: [(&String, String); 2]) -> Result<(), Failure> {
    let place = |(file, text): (&String, String)| Ok((files::output(context, context.here().resolve(file))?, text));
    let files: Vec<(AbsolutePath, String)> = files.into_iter().map(place).collect::<Result<_, Failure>>()?;
    let folders: BTreeSet<AbsolutePath> = files.iter().filter_map(|(path, _)| path.parent()).collect();
    context.disk().transact(folders, |_, changes| {
        for (path, text) in files {
            let before = Digest::of_file(&path)?;
            changes.write(path, text, before);
        }
        Ok(())
    })
}
