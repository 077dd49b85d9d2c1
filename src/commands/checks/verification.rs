//! Verification reports: their state, their file, and the fingerprint of the files they cover.

use crate::acts::facts;
use crate::acts::named::{Subject, subject};
use crate::acts::writing::Target;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::frame::named::{NonBlank, PhaseArg, PhaseFolderArg};
use crate::frame::{Context, verbs};
use crate::operations::verification::human_checks;
use crate::project::standing::PhaseStanding;
use crate::project::verification;

verbs! {
    "Verification";
    groups { "verification": "Show and update the verification reports of phases"; }

    /// Show whether a phase is verified and what to do next
    ///
    /// Example: `gsd-tools verification status .planning/phases/01-foundation --pick status`.
    "verification status": reads json(VerificationStatusReport) = status(PhaseFolderArg);

    use crate::peer::phases::VERIFICATION_FILE;

    /// Print a digest of the files that a verification report covers
    ///
    /// Saved in a report, it shows later whether a file has changed since the phase was verified.
    ///
    /// Example: `gsd-tools verification fingerprint .planning/phases/01-foundation src/a.ts src/b.ts`.
    "verification fingerprint": reads json(verification::FingerprintReport) = fingerprint(FingerprintArgs);

    /// Add the manual checks of a phase to the deferred items
    ///
    /// For each entry of `human_verification`, adds a pending test to UAT.md and a row to the deferred items in
    /// STATE.md. Keeps existing entries. Afterwards `phase complete` accepts the phase and lists the checks.
    ///
    /// Example: `gsd-tools verification defer-human 2 --pick added`.
    "verification defer-human": writes json(human_checks::DeferReport) = defer_human(DeferArgs);

    /// Update a verification with the results of manual tests
    ///
    /// Reads UAT.md. If every manual check passed, sets the report to `passed`; also updates the rows in STATE.md.
    ///
    /// Example: `gsd-tools verification settle-human 2 --pick status`.
    "verification settle-human": writes json(human_checks::SettleReport) = settle_human(PhaseArg);
}

#[derive(Debug, clap::Args)]
pub(crate) struct DeferArgs {
    #[command(flatten)]
    phase: PhaseArg,
    /// Add the tests to UAT.md only, not the deferred items
    #[arg(long)]
    tests_only: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FingerprintArgs {
    /// The phase: its number, such as `2`, or its folder
    phase: NonBlank,
    /// The covered files, relative to the project root
    #[arg(required = true)]
    files: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct VerificationStatusReport {
    status: &'static str,
    next_action: String,
    next_command: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    verification_stale_check_indeterminate: bool,
}

fn status(context: &mut Context, arguments: &PhaseFolderArg) -> Result<(), Failure> {
    let typed: &str = &arguments.phase;
    let view = context.view();
    let standing = match subject(context, typed)? {
        Subject::Folder(folder) => PhaseStanding::of_folder(&view, &folder)?,
        Subject::Phase(phase) => PhaseStanding::of(&view, &phase.number, phase.folder.as_ref())?,
    };
    // The command for a folder contains the phase as in the folder's name.
    let number = if typed.contains(['/', '\\']) { standing.verification.phase.as_str() } else { typed };
    let report = VerificationStatusReport {
        status: standing.verification.word(),
        next_action: standing.verification_action().into_owned(),
        next_command: standing.verification_command(number, context.command_prefix()?),
        verification_stale_check_indeterminate: standing.verification.indeterminate,
    };
    drop(view);
    context.emit(&report)
}

fn fingerprint(context: &mut Context, arguments: &FingerprintArgs) -> Result<(), Failure> {
    let layout = context.layout();
    let files: Vec<String> = arguments.files.iter().map(|file| layout.relative(file)).collect();
    match verification::fingerprint(&context.view(), &files)? {
        Ok(report) => context.emit(&report),
        Err(why) => {
            Err(Failure::usage(why.to_string())
                .hint("name regular files inside the project, and leave out deleted ones"))
        }
    }
}

fn defer_human(context: &mut Context, arguments: &DeferArgs) -> Result<(), Failure> {
    let facts = facts::state_facts(context)?;
    let prefix = context.command_prefix()?;
    let (typed, tests_only) = (&arguments.phase, arguments.tests_only);
    let report = context.write(Target::Project, |view| human_checks::defer(view, typed, tests_only, prefix, &facts))?;
    context.emit(&report)
}

fn settle_human(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    let facts = facts::state_facts(context)?;
    context.emit(&context.write(Target::Project, |view| human_checks::settle(view, phase, &facts))?)
}
