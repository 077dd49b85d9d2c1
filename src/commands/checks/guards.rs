//! Small checks of plans: the form of a story, the severity of a difference, whether documents agree.

use crate::failure::{Failure, Reason};
use crate::frame::named::PhaseArg;
use crate::frame::{Context, verbs};
use crate::operations::gates::assumptions::{self, Terms};
use crate::operations::gates::drift_guard::{self, Authority, Grounding};
use crate::operations::gates::user_story;
use crate::text::shell::typed;

verbs! {
    "Guards";
    groups { "drift-guard": "Check plans against the source, and STATE.md against ROADMAP.md"; "user-story": "Check user stories"; "assumption-delta": "Find assumptions that a phase may break"; }

    /// Show which tool looks up a plan's symbols in the source
    ///
    /// Reads `plan_review.source_grounding_authority`: `grep` (default), `intel`, `treesitter`, `lsp` or `scip`. With
    /// `intel.enabled`, `intel` takes the place of `grep`.
    ///
    /// Example: `gsd-tools drift-guard authority --raw` prints `grep`.
    "drift-guard authority": reads json(String) = authority();

    /// Show how severe the result of a symbol lookup is
    ///
    /// What `lsp` or `scip` do not find is not there: `hardBlock` is true. Another authority may have missed it.
    ///
    /// Example: `gsd-tools drift-guard severity --status MISSING --pick severity`.
    "drift-guard severity": reads json(drift_guard::SeverityReport) = severity(SeverityArgs);

    /// Compare the status of a phase in STATE.md and ROADMAP.md
    ///
    /// The verdict is `consistent`, `lag` (the roadmap is updated last), `drifted` or `uncheckable`.
    ///
    /// Example: `gsd-tools drift-guard phase-status --phase 2 --pick verdict`.
    "drift-guard phase-status": reads json(drift_guard::PhaseDriftReport) = phase_status(PhaseStatusArgs);

    /// Check that a user story has a role, a capability and an outcome
    ///
    /// The form is `As a [role], I want to [capability], so that [outcome].`
    ///
    /// Example: `gsd-tools user-story validate --story 'As a user, I want to log in, so that I can work.'`.
    "user-story validate": reads json(user_story::StoryReport) = validate(StoryArgs);

    /// Find words in a phase that suggest it breaks an assumption
    ///
    /// Reads the phase's section of ROADMAP.md for words such as `second`, `optional` or `configurable`: one of a kind
    /// may become many, or something fixed a choice.
    ///
    /// Example: `gsd-tools assumption-delta scan 2 --pick detected`.
    "assumption-delta scan": reads json(assumptions::ScanReport, assumptions::SkippedScan) = scan(ScanArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    phase: PhaseArg,
    /// Search for these words, separated by commas, instead of the default words for plurals
    #[arg(long, num_args = 0..=1, default_missing_value = "")]
    terms: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SeverityArgs {
    /// The result of the lookup: `VERIFIED`, `MISSING`, `AMBIGUOUS` or `UNCHECKABLE`
    #[arg(long)]
    status: String,
    /// What looked it up: `grep`, `intel`, `treesitter`, `lsp` or `scip`
    #[arg(long, default_value = "grep")]
    authority: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseStatusArgs {
    /// The phase (default: the current one)
    #[arg(long)]
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StoryArgs {
    /// The text of the story
    #[arg(long, default_value = "")]
    story: String,
}

fn phase_status(context: &mut Context, arguments: &PhaseStatusArgs) -> Result<(), Failure> {
    context.emit(&drift_guard::phase_status(&context.view(), arguments.phase.as_deref())?)
}

fn validate(context: &mut Context, arguments: &StoryArgs) -> Result<(), Failure> {
    context.emit(&user_story::validate(&arguments.story))
}

fn scan(context: &mut Context, arguments: &ScanArgs) -> Result<(), Failure> {
    let terms = Terms::of(arguments.terms.as_deref());
    match assumptions::scan(&context.view(), &arguments.phase, &terms)? {
        Some(report) => context.emit(&report),
        None => context.emit(&assumptions::unresolved()),
    }
}

fn authority(context: &mut Context) -> Result<(), Failure> {
    const KEY: &str = "plan_review.source_grounding_authority";
    let config = context.config()?;
    let chosen = config.text(KEY).unwrap_or("grep").to_owned();
    let Some(authority) = Authority::named(&chosen) else {
        let message = format!("`{KEY}` is `{chosen}`; it has to be one of {}", Authority::listed());
        return Err(Failure::new(Reason::ConfigInvalidKey, message)
            .hint(format!("set it: `{}`", typed!("gsd-tools config-set {} grep", KEY))));
    };
    let authority = if config.flag("intel.enabled") { authority.with_index() } else { authority };
    context.emit_raw(&authority.word(), authority.word())
}

fn severity(context: &mut Context, arguments: &SeverityArgs) -> Result<(), Failure> {
    let SeverityArgs { status, authority } = arguments;
    let unknown = |what: &str, word: &str, known: &str| {
        Failure::usage(format!("unknown {what} `{word}`")).hint(format!("use one of {known}"))
    };
    let found = Grounding::named(status)
        .ok_or_else(|| unknown("status", status, "VERIFIED, MISSING, AMBIGUOUS, UNCHECKABLE"))?;
    let authority = Authority::named(authority).ok_or_else(|| unknown("authority", authority, &Authority::listed()))?;
    context.emit(&found.severity(authority))
}
