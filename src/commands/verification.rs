//! Verification reports: their state, their file, and the fingerprint of what they cover.

use schemars::JsonSchema;
use serde::Serialize;

use super::{CommandError, Context, Family};
use crate::operations::verification::{self, Verification};
use crate::project::folder::PhaseFolder;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verifications {
    /// Look at the verification reports of phases
    #[command(subcommand)]
    Verification(VerificationCommand),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum VerificationCommand {
    /// Tell whether the work in a phase's folder is verified, and what to do next
    ///
    /// Example: `gsd-tools verification status .planning/phases/01-foundation --pick status`.
    Status(FolderArgs),
    /// Tell which file of a phase's folder is its verification report
    ///
    /// Example: `gsd-tools verification resolve-file .planning/phases/01-foundation`.
    ResolveFile(FolderArgs),
    /// Digest the files a report covers
    ///
    /// Example: `gsd-tools verification fingerprint .planning/phases/01-foundation src/a.ts src/b.ts`.
    Fingerprint(FingerprintArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct FolderArgs {
    /// The folder of the phase
    folder: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FingerprintArgs {
    /// The folder of the phase
    folder: Option<String>,
    /// The covered files, relative to the project
    files: Vec<String>,
}

impl Family for Verifications {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Verification(command) = self;
        match command {
            VerificationCommand::Status(arguments) => status(context, arguments.folder.as_deref()),
            VerificationCommand::ResolveFile(arguments) => resolve_file(context, arguments.folder.as_deref()),
            VerificationCommand::Fingerprint(arguments) => fingerprint(context, &arguments),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatusReport {
    status: &'static str,
    next_action: String,
    next_command: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    verification_stale_check_indeterminate: bool,
}

fn status(context: &mut Context, folder: Option<&str>) -> Result<(), CommandError> {
    let typed = required(folder)?;
    let verification = if let Some(folder) = phase_folder(context, typed)? {
        verification::status(&context.view(), &folder)?
    } else {
        let name = typed.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        Verification::missing(verification::phase_of_folder_name(name))
    };
    context.emit(&StatusReport {
        status: verification.word(),
        next_action: verification.next_action(),
        next_command: verification.next_command(context.command_prefix()?),
        verification_stale_check_indeterminate: verification.indeterminate,
    })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileReport {
    /// Empty where there is none.
    verification_file: String,
}

fn resolve_file(context: &mut Context, folder: Option<&str>) -> Result<(), CommandError> {
    let folder = phase_folder(context, required(folder)?)?;
    let path = folder.and_then(|folder| folder.artifact_path("VERIFICATION"));
    let verification_file = path.map(|path| context.layout().shown(&path)).unwrap_or_default();
    context.emit(&FileReport { verification_file })
}

fn fingerprint(context: &mut Context, arguments: &FingerprintArgs) -> Result<(), CommandError> {
    required(arguments.folder.as_deref())?;
    if arguments.files.is_empty() {
        return Err(CommandError::usage("no covered files given").hint("name the files that the report covers"));
    }
    let layout = context.layout();
    let files: Vec<String> = arguments.files.iter().map(|file| layout.relative(file)).collect();
    match verification::fingerprint(&context.view(), &files)? {
        Ok(report) => context.emit(&report),
        Err(why) => Err(CommandError::usage(why.to_string())
            .hint("name regular files inside the project; leave out files that are gone")),
    }
}

fn required(folder: Option<&str>) -> Result<&str, CommandError> {
    folder.ok_or_else(|| CommandError::usage("the folder of the phase is missing"))
}

/// The folder of a phase by its path, relative to the project or absolute; `None` if there is none.
fn phase_folder(context: &Context, typed: &str) -> Result<Option<PhaseFolder>, CommandError> {
    let path = context.layout().relative(typed.trim_end_matches('/'));
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let folders = context.view().read_folders(parent, None)?;
    Ok(folders.into_iter().find(|folder| folder.name == name))
}
