//! `roadmap`: reads, checks and updates ROADMAP.md.

use crate::acts::facts;
use crate::acts::hosts;
use crate::acts::named::no_phase;
use crate::acts::writing::Target;
use crate::failure::{Failure, Reason};
use crate::frame::named::{NonBlank, PhaseArg};
use crate::frame::{Context, verbs};
use crate::operations::roadmap::analyze;
use crate::operations::roadmap::check;
use crate::operations::roadmap::upgrade;

verbs! {
    "Roadmap";
    groups { "roadmap": "Show, check and update ROADMAP.md"; }

    /// Show the section of a phase in ROADMAP.md
    ///
    /// Example: `gsd-tools roadmap get-phase 2 --pick goal`.
    "roadmap get-phase": reads json(analyze::GetPhaseReport) = get_phase(PhaseArg);

    /// Show the phases of the milestone with their plans and status
    ///
    /// Compares ROADMAP.md with the phase folders. `next_phase` is the first open phase without plans.
    ///
    /// Example: `gsd-tools roadmap analyze --pick next_phase`.
    "roadmap analyze": reads json(analyze::AnalyzeReport, analyze::NoRoadmapReport) = analyze();

    /// List the phases of the current milestone
    ///
    /// Example: `gsd-tools roadmap milestone-scope --pick scope`.
    "roadmap milestone-scope": reads json(analyze::ScopeReport) = milestone_scope();

    /// Update a phase's plan counts and status in ROADMAP.md
    ///
    /// Counts the plans and summaries in the phase folder.
    ///
    /// Example: `gsd-tools roadmap update-plan-progress 2 --raw` prints `1/3 In Progress`.
    "roadmap update-plan-progress": writes json(analyze::ProgressReport) = update_plan_progress(ProgressArgs);

    use crate::peer::phases::ANNOTATE_DEPENDENCIES;

    /// Rename phases to `<milestone>-<number>`
    ///
    /// The third phase below `## v1.0` becomes `1-03`, in ROADMAP.md, STATE.md, the names of its folder and files, and
    /// wherever plans and requirements refer to it.
    ///
    /// Example: `gsd-tools roadmap upgrade` shows the changes; `gsd-tools roadmap upgrade --apply` makes them.
    "roadmap upgrade": writes json(upgrade::UpgradeReport) = upgrade(UpgradeArgs);

    /// Check that ROADMAP.md can be read and its parts agree
    ///
    /// Compares checklist, details and Progress table: phases, numbers, names. Differences are listed in `mismatches`
    /// with line and fix. Exits 1 if the roadmap cannot be read.
    ///
    /// Example: `gsd-tools roadmap validate --pick mismatches`.
    "roadmap validate": reads json(check::ValidateReport) = validate();
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgressArgs {
    /// The phase, such as `3` or `3.1`
    phase: NonBlank,
    /// Ignored: the counts come from the phase folder
    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UpgradeArgs {
    /// Make the changes
    #[arg(long)]
    apply: bool,
    /// The convention for phase numbers; only `milestone-prefixed` is supported
    #[arg(long)]
    convention: Option<String>,
}

fn analyze(context: &mut Context) -> Result<(), Failure> {
    match analyze::analyze(&context.view())? {
        Ok(analysis) => context.show(&analyze::AnalyzeReport::of(&analysis), |screen| analysis.shown(screen)),
        Err(_) if context.shows_to_a_person() => {
            context.refuses_a_person_without_a_project()?;
            let missing = Failure::new(Reason::Unknown, "this project has no ROADMAP.md");
            Err(match hosts::installed_command(context, "new-project")? {
                Some(start) => missing.hint(format!("`{start}` in your agent creates it")),
                None => missing,
            })
        }
        Err(report) => context.emit(&report),
    }
}

fn milestone_scope(context: &mut Context) -> Result<(), Failure> {
    context.emit(&analyze::milestone_scope(&context.view())?)
}

fn validate(context: &mut Context) -> Result<(), Failure> {
    let report = check::validate(&context.view(), context.config()?);
    context.exit_with(u8::from(!report.warnings.is_empty()));
    context.show(&report, |screen| report.shown(screen))
}

fn get_phase(context: &mut Context, phase: &PhaseArg) -> Result<(), Failure> {
    let report = analyze::get_phase(&context.view(), phase)?;
    if context.shows_to_a_person() && matches!(report, analyze::GetPhaseReport::Absent { .. }) {
        context.refuses_a_person_without_a_project()?;
        return Err(no_phase(phase));
    }
    let raw = match &report {
        analyze::GetPhaseReport::Found { section, .. } => section.clone(),
        _ => String::new(),
    };
    if matches!(report, analyze::GetPhaseReport::Found { .. }) {
        return context.say(&report, Some(&raw), |screen| report.shown(screen));
    }
    context.emit_raw(&report, raw)
}

fn update_plan_progress(context: &mut Context, arguments: &ProgressArgs) -> Result<(), Failure> {
    let phase: &str = &arguments.phase;
    let today = context.world().today();
    let report = context.write(Target::Project, |view| {
        analyze::update_plan_progress(view, phase, &today)?.ok_or_else(|| no_phase(phase))
    })?;
    if let Some(reason) = report.reason {
        context.warn(format_args!("ROADMAP.md was not changed: {reason}"));
    }
    let raw = match report.status {
        Some(status) => format!("{}/{} {status}", report.summary_count, report.plan_count),
        None => "false".to_owned(),
    };
    context.emit_raw(&report, raw)
}

fn upgrade(context: &mut Context, arguments: &UpgradeArgs) -> Result<(), Failure> {
    if arguments.convention.as_deref().is_some_and(|wanted| wanted != upgrade::CONVENTION) {
        return Err(Failure::usage("`--convention` takes only `milestone-prefixed`").hint("leave it out"));
    }
    let convention = check::convention(context.view().roadmap_or_empty()?.text(), context.config()?);
    let facts = facts::state_facts(context)?;
    if !arguments.apply && !context.is_rehearsal() {
        let (report, _) = upgrade::upgrade(&context.view(), convention.as_deref(), &facts)?;
        return context.emit(&report);
    }
    context.emit(&context.write(Target::Project, |view| upgrade::upgrade(view, convention.as_deref(), &facts))?)
}
