//! The roadmap: reading phases, writing progress.

use std::collections::BTreeMap;

use crate::commands::frame::CommandError;
use crate::commands::frame::Context;
use crate::commands::frame::Family;
use crate::commands::state;
use crate::operations::roadmap::analyze;
use crate::operations::roadmap::check;
use crate::operations::roadmap::upgrade;
use crate::operations::roadmap::waves;
use crate::project::folder::plan_id;
use crate::text::front_matter::FrontMatter;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Roadmaps {
    /// Show the roadmap and update progress in it
    #[command(subcommand)]
    Roadmap(RoadmapCommand),
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum RoadmapCommand {
    /// Show the section of a phase
    ///
    /// Example: `gsd-tools roadmap get-phase 2 --pick goal`.
    GetPhase(PhaseArgs),
    /// Show every phase of the milestone and what is on disk
    ///
    /// Example: `gsd-tools roadmap analyze --pick next_phase`.
    Analyze,
    /// List the phases of the current milestone
    ///
    /// Example: `gsd-tools roadmap milestone-scope --pick scope`.
    MilestoneScope,
    /// Update a phase's plan counts and status in the roadmap
    ///
    /// Example: `gsd-tools roadmap update-plan-progress 2 --raw` prints `1/3 In Progress`.
    UpdatePlanProgress(ProgressArgs),
    /// Add waves and shared constraints to a phase's plans
    ///
    /// Example: `gsd-tools roadmap annotate-dependencies 2`.
    AnnotateDependencies(PhaseArgs),
    /// Update phase numbers to `<milestone>-<number>`
    ///
    /// The third phase below `## v1.0` becomes `1-03`, with its folder and its files.
    ///
    /// Example: `gsd-tools roadmap upgrade` shows what would change; `--apply` does it.
    Upgrade(UpgradeArgs),
    /// Check that the roadmap can be read and that its places agree
    ///
    /// Compares checklist, details and Progress table: phases, numbers, names. Exits 1 if the roadmap cannot be read; places
    /// that disagree are listed in `mismatches` with line and fix.
    ///
    /// Example: `gsd-tools roadmap validate --pick mismatches`.
    Validate,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseArgs {
    /// The phase, such as `3` or `3.1`
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressArgs {
    /// The phase, such as `3` or `3.1`
    phase: Option<String>,
    /// Further words, such as a plan and its state; the disk decides, not they
    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UpgradeArgs {
    /// Do it
    #[arg(long)]
    apply: bool,
    /// What phases are to be called like: `milestone-prefixed`
    #[arg(long)]
    convention: Option<String>,
}

impl Family for Roadmaps {
    fn run(self, context: &mut Context) -> Result<(), CommandError> {
        let Self::Roadmap(command) = self;
        match command {
            RoadmapCommand::GetPhase(arguments) => get_phase(context, arguments.phase.as_deref()),
            RoadmapCommand::Analyze => match analyze::analyze(&context.view())? {
                Ok(report) => context.emit(&report),
                Err(report) => context.emit(&report),
            },
            RoadmapCommand::MilestoneScope => {
                let report = analyze::milestone_scope(&context.view())?;
                context.emit(&report)
            }
            RoadmapCommand::UpdatePlanProgress(arguments) => update_plan_progress(context, arguments.phase.as_deref()),
            RoadmapCommand::AnnotateDependencies(arguments) => {
                annotate_dependencies(context, arguments.phase.as_deref())
            }
            RoadmapCommand::Upgrade(arguments) => upgrade(context, &arguments),
            RoadmapCommand::Validate => {
                let report = check::validate(&context.view(), context.config()?);
                if !report.warnings.is_empty() {
                    context.exit_with(1);
                }
                context.emit(&report)
            }
        }
    }
}

fn get_phase(context: &mut Context, phase: Option<&str>) -> Result<(), CommandError> {
    let report = analyze::get_phase(&context.view(), required(phase)?)?;
    let raw = match &report {
        analyze::GetPhaseReport::Found { section, .. } => section.clone(),
        _ => String::new(),
    };
    context.emit_raw(&report, raw)
}

fn update_plan_progress(context: &mut Context, phase: Option<&str>) -> Result<(), CommandError> {
    let phase = required(phase)?;
    let today = context.world().today();
    let report = context.update(|view| {
        analyze::update_plan_progress(view, phase, &today)?.ok_or_else(|| {
            CommandError::new(crate::commands::frame::error::Reason::PhaseNotFound, format!("Phase {phase} not found"))
        })
    })?;
    if let Some(reason) = report.reason {
        context.warn(format_args!("the roadmap is unchanged: {reason}"));
    }
    let raw = match report.status {
        Some(status) => format!("{}/{} {status}", report.summary_count, report.plan_count),
        None => "false".to_owned(),
    };
    context.emit_raw(&report, raw)
}

fn annotate_dependencies(context: &mut Context, phase: Option<&str>) -> Result<(), CommandError> {
    let phase = required(phase)?;
    let report = context.update(|view| {
        let mut waves = BTreeMap::new();
        if let Some(folder) = view.find_phase(phase)?.folder {
            for plan in view.current_plans(&folder)? {
                let text = view.text(&folder.join(&plan))?;
                let wave = text.as_deref().and_then(|text| FrontMatter::parse(text)?.text("wave")?.trim().parse().ok());
                waves.insert(plan_id(&plan).to_owned(), wave.unwrap_or(1));
            }
        }
        Ok(waves::annotate_dependencies(view, phase, &waves)?)
    })?;
    context.emit(&report)
}

fn upgrade(context: &mut Context, arguments: &UpgradeArgs) -> Result<(), CommandError> {
    if arguments.convention.as_deref().is_some_and(|wanted| wanted != upgrade::CONVENTION) {
        return Err(CommandError::usage("Only --convention milestone-prefixed is supported"));
    }
    let convention = context.config()?.text("phase_id_convention").map(str::to_owned);
    let facts = state::facts(context)?;
    if !arguments.apply && !context.is_rehearsal() {
        let (report, _) = upgrade::upgrade(&context.view(), convention.as_deref(), &facts)?;
        return context.emit(&report);
    }
    let report = context.update(|view| Ok(upgrade::upgrade(view, convention.as_deref(), &facts)?))?;
    context.emit(&report)
}

fn required(phase: Option<&str>) -> Result<&str, CommandError> {
    phase.ok_or_else(|| CommandError::usage("phase identifier required"))
}
