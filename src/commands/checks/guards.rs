//! Small judgements of plans: the form of a story, what a difference weighs, whether documents agree.

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::frame::named::PhaseArg;
use crate::commands::frame::{CommandError, Context, error::Reason, verbs};
use crate::operations::gates::assumptions::{self, Terms};
use crate::operations::gates::drift_guard::{self, Grounding};
use crate::operations::gates::user_story;

verbs! {
    "Guards";
    groups { "drift-guard": "Weigh where plans, documents and source differ"; "user-story": "Look at user stories"; "assumption-delta": "Look for what a phase no longer takes for granted"; }

    /// Tell by what the source is searched for what a plan names
    ///
    /// Example: `gsd-tools drift-guard authority --raw` prints `grep`.
    "drift-guard authority": reads json(String) = authority();

    /// Tell how bad it is that something was not found
    ///
    /// Example: `gsd-tools drift-guard severity --status MISSING --pick severity`.
    "drift-guard severity": reads json(SeverityReport) = severity(SeverityArgs);

    /// Compare what STATE.md and the roadmap say of a phase
    ///
    /// Example: `gsd-tools drift-guard phase-status --phase 2 --pick verdict`.
    "drift-guard phase-status": reads json(drift_guard::StatusReport) = phase_status(PhaseStatusArgs);

    /// Tell whether a story has its three parts
    ///
    /// Example: `gsd-tools user-story validate --story 'As a user, I want to log in, so that I can work.'`.
    "user-story validate": reads json(user_story::StoryReport) = validate(StoryArgs);

    /// Tell by its words whether a phase changes what the code takes for granted
    ///
    /// Example: `gsd-tools assumption-delta scan 2 --pick detected`.
    "assumption-delta scan": reads json(assumptions::ScanReport, assumptions::SkippedScan) = scan(ScanArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    phase: PhaseArg,
    /// Words for many of a kind, with commas between them, instead of the usual ones
    #[arg(long, num_args = 0..=1, default_missing_value = "")]
    terms: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SeverityArgs {
    /// `VERIFIED`, `MISSING`, `AMBIGUOUS` or `UNCHECKABLE`
    #[arg(long)]
    status: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseStatusArgs {
    /// The phase, where it is not the one at work
    #[arg(long)]
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StoryArgs {
    /// The story
    #[arg(long, default_value = "")]
    story: String,
}

fn phase_status(context: &mut Context, arguments: &PhaseStatusArgs) -> Result<(), CommandError> {
    context.emit(&drift_guard::phase_status(&context.view(), arguments.phase.as_deref())?)
}

fn validate(context: &mut Context, arguments: &StoryArgs) -> Result<(), CommandError> {
    context.emit(&user_story::validate(&arguments.story))
}

fn scan(context: &mut Context, arguments: &ScanArgs) -> Result<(), CommandError> {
    let terms = Terms::of(arguments.terms.as_deref());
    match assumptions::scan(&context.view(), &arguments.phase, &terms)? {
        Some(report) => context.emit(&report),
        None => context.emit(&assumptions::unresolved()),
    }
}

fn authority(context: &mut Context) -> Result<(), CommandError> {
    const KEY: &str = "plan_review.source_grounding_authority";
    const KNOWN: &[&str] = &["grep", "intel", "treesitter", "lsp", "scip"];
    let chosen = context.config()?.text(KEY).unwrap_or("grep").to_owned();
    if !KNOWN.contains(&chosen.as_str()) {
        let message = format!("`{KEY}` is `{chosen}`, which is none of: {}", KNOWN.join(", "));
        return Err(CommandError::new(Reason::ConfigInvalidKey, message));
    }
    context.emit_raw(&chosen, &chosen)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct SeverityReport {
    severity: &'static str,
    #[serde(rename = "hardBlock")]
    hard_block: bool,
}

fn severity(context: &mut Context, arguments: &SeverityArgs) -> Result<(), CommandError> {
    let status = &arguments.status;
    let severity = match Grounding::named(status) {
        Some(Grounding::Verified) => "none",
        Some(Grounding::Missing) => "needs-acknowledgement",
        Some(Grounding::Ambiguous) => "MEDIUM",
        Some(Grounding::Uncheckable) => "INFO",
        None => {
            let known = "VERIFIED, MISSING, AMBIGUOUS, UNCHECKABLE";
            return Err(CommandError::usage(format!("Unknown status: \"{status}\". Valid values: {known}")));
        }
    };
    context.emit(&SeverityReport { severity, hard_block: false })
}
