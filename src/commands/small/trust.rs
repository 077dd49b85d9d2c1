//! `trust`: folders outside the project that a person must approve, since a repository could have named them.

use crate::acts::caller;
use crate::acts::files;
use schemars::JsonSchema;
use serde::Serialize;

use crate::disk::{self, DiskError};
use crate::failure::{Failure, Reason};
use crate::frame::{Context, verbs};
use crate::project::boundary::TRUSTED_PLANNING;

verbs! {
    "Trust" (own);
    groups { "trust": "Approve folders outside the project"; }

    /// Approve a `.planning` link that leads out of the project
    ///
    /// A repository can contain a `.planning` that is a link to some other folder. Commands refuse to read or write
    /// there until a person confirms the folder at a terminal. The approval is stored on this computer, for this
    /// project and this folder only.
    ///
    /// Example: `gsd-tools trust planning`.
    "trust planning": runs json(TrustReport) = planning(PlanningArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlanningArgs {
    /// Withdraw the approval
    #[arg(long)]
    revoke: bool,
}

/// The answer of `trust planning`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TrustReport {
    /// The planning folder.
    path: String,
    /// The target of the link.
    to: String,
    trusted: bool,
}

fn planning(context: &mut Context, PlanningArgs { revoke }: &PlanningArgs) -> Result<(), Failure> {
    let planning = context.root().resolve(".planning");
    let to = disk::real(&planning)?;
    let note = context.local_state()?.file(TRUSTED_PLANNING);
    let report = |trusted| TrustReport { path: planning.to_string(), to: to.to_string(), trusted };
    if *revoke {
        files::edit_note(context, &note, |text| Ok(((), text.map(|_| "null\n".to_owned()))))?;
        let report = report(false);
        return context.say(&report, None, |_| format!("`{}` is no longer trusted\n", report.to));
    }
    caller::needs_a_person(context, "trust planning")?;
    if to.is_within(&disk::canonical(context.root())?) {
        return Err(Failure::usage(format!("`{planning}` does not lead out of the project: nothing to trust")));
    }
    if !disk::is_folder(&to) {
        return Err(Failure::from(DiskError::NotAFolder { path: to.as_path().to_path_buf() }));
    }
    context.tell(format_args!("{planning}\n  leads to {to}\n"));
    let question = "Keep the documents of this project there";
    if !Context::confirms(question)? {
        return Err(Failure::new(Reason::Unknown, "not trusted; nothing was changed"));
    }
    let text = serde_json::to_string(to.as_path())? + "\n";
    files::edit_note(context, &note, |_| Ok(((), Some(text))))?;
    let report = report(true);
    context.say(&report, None, |_| format!("`{}` is trusted for this project\n", report.to))
}
