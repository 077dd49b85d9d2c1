//! Checks of the whole project: its documents, its configuration, its agents, the context.

use crate::acts::health::health_facts;
use crate::acts::writing::Target;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::health::{self, Repairs};

verbs! {
    "Health";
    groups { "validate": "Check the documents, agents and context of the project"; }

    /// Check ROADMAP.md against the folders of phases and their plans
    ///
    /// Example: `gsd-tools validate consistency --raw` prints `passed`.
    "validate consistency": reads json(health::consistency::ConsistencyReport) = consistency();

    /// Check every document in `.planning/` and list problems
    ///
    /// Prints errors, warnings and notes, each with a code and a fix. Changes nothing without `--repair` or
    /// `--backfill`.
    ///
    /// Example: `gsd-tools validate health --repair --pick status`.
    "validate health": writes json(health::check::HealthReport) = health(HealthArgs);

    use crate::peer::agents::INSTALLED;

    /// Show how full the context window of a conversation is
    ///
    /// The state is `healthy` below 60 %, `warning` below 70 % and `critical` from there on.
    ///
    /// Example: `gsd-tools validate context --tokens-used 90000 --context-window 200000`.
    "validate context": reads json(ContextReport) = fullness(ContextArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct HealthArgs {
    /// Create `config.json` or add the keys it lacks
    #[arg(long)]
    repair: bool,
    /// Add archived milestones that are missing from MILESTONES.md
    #[arg(long)]
    backfill: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ContextArgs {
    /// The number of tokens in use
    #[arg(long)]
    tokens_used: u64,
    /// The size of the context window in tokens
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    context_window: u64,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

fn consistency(context: &mut Context) -> Result<(), Failure> {
    let numbered = context.config()?.text("phase_naming") != Some("custom");
    let report = health::consistency(&context.view(), numbered)?;
    if context.raw() {
        return context.emit_raw(&report, if report.passed { "passed" } else { "failed" });
    }
    context.show(&report, |screen| report.shown(screen))
}

/// Why a home folder is not checked.
#[derive(Debug, Serialize, JsonSchema)]
struct HomeReport {
    status: &'static str,
    errors: Vec<HomeFinding>,
    warnings: Vec<HomeFinding>,
    info: Vec<HomeFinding>,
    repairable_count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HomeFinding {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'static str>,
}

fn health(context: &mut Context, arguments: &HealthArgs) -> Result<(), Failure> {
    if context.world().home().is_some_and(|home| home == context.root().as_path()) {
        let message = format!("CWD is home directory ({})", context.root());
        let fix = Some("cd into your project directory and retry");
        let resolved = format!("Resolved CWD: {}", context.root());
        return context.emit(&HomeReport {
            status: "error",
            errors: vec![HomeFinding { code: "E010", message, fix }],
            warnings: Vec::new(),
            info: vec![HomeFinding { code: "I010", message: resolved, fix: None }],
            repairable_count: 0,
        });
    }
    let facts = health_facts(context)?;
    let report = if arguments.repair || arguments.backfill {
        let day = context.world().today();
        let repairs = Repairs { configuration: arguments.repair, milestones: arguments.backfill, day: &day };
        let report = context.write(Target::Project, |view| health::repair(view, &facts, repairs))?;
        if context.is_rehearsal() { report.rehearsed() } else { report }
    } else {
        health::check(&context.view(), &facts)?
    };
    if context.shows_to_a_person() && report.repairs_performed.iter().flatten().any(|repair| !repair.success) {
        context.exit_with(1);
    }
    context.show(&report, |screen| report.shown(screen))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ContextReport {
    percent: u64,
    state: &'static str,
    recommendation: Option<String>,
}

fn fullness(context: &mut Context, arguments: &ContextArgs) -> Result<(), Failure> {
    let (used, window) = (u128::from(arguments.tokens_used), u128::from(arguments.context_window));
    let hundredfold = used * 100;
    let percent = u64::try_from(((hundredfold * 2 + window) / (window * 2)).min(100)).unwrap_or(100);
    let advice = |fullness: &str| {
        Some(format!(
            "{fullness}: save your position with `gsd-tools state record-session`, then start a new conversation"
        ))
    };
    let (state, recommendation) = if hundredfold >= window * 70 {
        ("critical", advice("The context is nearly full"))
    } else if hundredfold >= window * 60 {
        ("warning", advice("The context is filling up"))
    } else {
        ("healthy", None)
    };
    let report = ContextReport { percent, state, recommendation };
    if arguments.json {
        return context.emit(&report);
    }
    let mut text = format!("Context utilization: {percent}% ({state})");
    if let Some(recommendation) = &report.recommendation {
        text.push('\n');
        text.push_str(recommendation);
    }
    context.text(text);
    Ok(())
}
