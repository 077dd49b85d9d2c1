//! Places that a person trusts although a repository could have named them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::frame::{CommandError, Context, error::Reason, verbs};
use crate::disk::{self, DiskError};
use crate::project::boundary::TRUSTED_PLANNING;

verbs! {
    "Trust" (own);
    groups { "trust": "Trust a planning folder outside the project"; }

    /// Keep the planning folder outside the project
    ///
    /// A clone could bring a `.planning` that is a link to somewhere else, so nothing there is read or written until a
    /// person at a terminal confirms the place. The answer is kept on this computer, for this project and that place.
    ///
    /// Example: `gsd-tools trust planning`.
    "trust planning": runs json(TrustReport) = planning(PlanningArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlanningArgs {
    /// Stop trusting the place
    #[arg(long)]
    revoke: bool,
}

/// What `trust planning` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TrustReport {
    /// The planning folder.
    path: String,
    /// The folder it is a link to.
    to: String,
    trusted: bool,
}

fn planning(context: &mut Context, PlanningArgs { revoke }: &PlanningArgs) -> Result<(), CommandError> {
    let planning = context.root().resolve(".planning");
    let to = disk::real(&planning)?;
    let note = context.local_state()?.file(TRUSTED_PLANNING);
    let report = |trusted| TrustReport { path: planning.to_string(), to: to.to_string(), trusted };
    if *revoke {
        context.edit_note(&note, |text| Ok(((), text.map(|_| "null\n".to_owned()))))?;
        return context.emit(&report(false));
    }
    context.needs_a_person("trust planning")?;
    if to.is_within(&disk::canonical(context.root())?) {
        return Err(CommandError::usage(format!("`{planning}` does not lead out of the project: nothing to trust")));
    }
    if !disk::is_folder(&to) {
        return Err(CommandError::from(DiskError::NotAFolder { path: to.as_path().to_path_buf() }));
    }
    context.tell(format_args!("{planning}\n  leads to {to}\n"));
    let question = "Keep the documents of this project there";
    let answer = dialoguer::Confirm::new().with_prompt(question).default(false).interact_opt();
    if answer.map_err(|error| CommandError::because(Reason::Usage, &error))? != Some(true) {
        return Err(CommandError::new(Reason::Unknown, "not trusted; nothing was changed"));
    }
    let text = serde_json::to_string(to.as_path())? + "\n";
    context.edit_note(&note, |_| Ok(((), Some(text))))?;
    context.emit(&report(true))
}
