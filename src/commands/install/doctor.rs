//! `doctor`: every check of what we installed and of the project, and `--fix`, which repairs what can be repaired.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::job::{Asking, CANCELLED, installer, report_settled};
use super::{Which, ask, look};
use crate::acts::caller;
use crate::acts::doctor::{self, Ailment, CheckedArea, Examined};
use crate::acts::hooks::state::is_about_disabled;
use crate::acts::project;
use crate::disk::{Disk, PeerLock};
use crate::failure::Failure;
use crate::frame::Context;
use crate::install::{self, Along, CallVerb, InstallError, InstallPlan, Installer, Target, Together, Wish};
use crate::library::Library;
use crate::operations::answers::finding::{Finding, Severity};
use crate::runtime::Descriptor;
use crate::text::screen::{Mark, Screen, Tone, counted};
use crate::world::signals::Requests;

/// The findings about installs that an update repairs without touching a person's edits.
const REPAIRED: &[&str] =
    &["edit-missing", "file-missing", "hooks-not-registered", "manifest-missing", "other-version", "write-unfinished"];

/// What to check.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Repair what can be repaired without losing anything
    #[arg(long)]
    fix: bool,
    /// Check the installs of all projects and folders
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    asking: Asking,
    /// With `--fix`, show what would be repaired without repairing it
    #[arg(long, requires = "fix")]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The result of `doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct DoctorReport {
    areas: Vec<Examined>,
    /// How many findings are errors: something does not work.
    errors: usize,
    warnings: usize,
    /// How many findings `--fix` repairs.
    fixable: usize,
    /// With `--fix`: the findings that were repaired; with `--dry-run`, those that would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<Vec<Ailment>>,
    dry_run: bool,
}

pub(super) fn doctor(context: &mut Context, arguments: &DoctorArgs) -> Result<(), Failure> {
    let (mut report, targets) = DoctorReport::examine(context, arguments.all)?;
    if arguments.fix {
        if arguments.dry_run || report.fixable == 0 {
            report.fixed = Some(report.fixable().cloned().collect());
            report.dry_run = arguments.dry_run;
        } else {
            if arguments.asking.confirms() && caller::can_confirm(context) && !arguments.json {
                context.tell(report.proposal(context.page()).trim_end());
                if !ask::proceed(context.can_ask(), true)? {
                    context.tell("Cancelled; nothing was changed");
                    context.exit_with(CANCELLED);
                    return Ok(());
                }
            }
            fix(context, &targets)?;
            let (after, _) = DoctorReport::examine(context, arguments.all)?;
            let is_left = |ailment: &&Ailment| after.findings().any(|left| left.finding == ailment.finding);
            let fixed = report.fixable().filter(|ailment| !is_left(ailment)).cloned().collect();
            report = DoctorReport { fixed: Some(fixed), ..after };
        }
    }
    context.exit_with(u8::from(report.errors > 0));
    if arguments.json {
        return context.emit(&report);
    }
    let screen = context.page();
    context.text(screen.commands(&report.text(screen)));
    Ok(())
}

impl DoctorReport {
    /// Makes all checks; returns the installs that `--fix` repairs too.
    fn examine(context: &Context, all: bool) -> Result<(Self, Vec<Target>), Failure> {
        let (mut installs, targets, mut broken) = installs(context, all)?;
        let mut hosts: Vec<&Descriptor> = Vec::new();
        for target in &targets {
            if !hosts.iter().any(|known| known.id == target.descriptor.id) {
                hosts.push(&target.descriptor);
            }
        }
        let (mut hooks, without_program) = doctor::answers(context, &targets)?;
        hooks.findings.extend(installs.findings.extract_if(.., |ailment| is_about_disabled(&ailment.finding)));
        let is_known = |target: &Target| broken.iter().any(|known| known.root == target.root);
        let more: Vec<Target> = without_program.into_iter().filter(|target| !is_known(target)).collect();
        broken.extend(more);
        let areas = vec![
            installs,
            hooks,
            Examined::of(CheckedArea::Clients, doctor::clients(context, &hosts)),
            Examined::of(CheckedArea::Project, doctor::project(context)),
            Examined::of(CheckedArea::Runs, doctor::runs(context)),
        ];
        let count = |severity| {
            let findings = areas.iter().flat_map(|area| &area.findings);
            findings.filter(|ailment| ailment.finding.severity == severity).count()
        };
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        let fixable = areas.iter().flat_map(|area| &area.findings).filter(|ailment| ailment.fixable).count();
        Ok((Self { areas, errors, warnings, fixable, fixed: None, dry_run: false }, broken))
    }

    fn findings(&self) -> impl Iterator<Item = &Ailment> {
        self.areas.iter().flat_map(|area| &area.findings)
    }

    fn fixable(&self) -> impl Iterator<Item = &Ailment> {
        self.findings().filter(|ailment| ailment.fixable)
    }

    /// What `--fix` will repair, for the question.
    fn proposal(&self, screen: Screen) -> String {
        let findings = self.fixable().map(|ailment| screen.item("  ", Mark::Open, &ailment.finding.line()));
        screen.paint(Tone::Strong, "These findings will be repaired:") + "\n" + &findings.collect::<String>()
    }

    /// With `--fix`, why nothing was repaired.
    fn nothing_fixed(&self) -> Option<String> {
        self.fixed.as_ref().filter(|fixed| fixed.is_empty())?;
        let done = if self.dry_run { "would be repaired" } else { "was repaired" };
        let has_cure = |ailment: &Ailment| ailment.finding.cure.is_some() || ailment.finding.fix.is_some();
        Some(match self.findings().count() {
            0 => format!("Nothing {done}: there is no finding."),
            _ if self.fixable > 0 => format!("Nothing {done}: `--fix` could not repair these findings."),
            _ if self.findings().all(has_cure) => {
                format!("Nothing {done}: `--fix` repairs none of these findings. Each names its cure.")
            }
            _ => format!("Nothing {done}: `--fix` repairs none of these findings."),
        })
    }

    fn text(&self, screen: Screen) -> String {
        let mut text = String::new();
        for area in &self.areas {
            let worst =
                area.findings.iter().map(|ailment| ailment.finding.severity).min_by_key(|severity| match severity {
                    Severity::Error => 0,
                    Severity::Warning => 1,
                    Severity::Note => 2,
                });
            let mark = match worst {
                Some(Severity::Error) => Mark::Failed,
                Some(Severity::Warning) => Mark::Warning,
                // Hooks that are disabled answer, and do nothing in a session.
                Some(Severity::Note) if area.area == CheckedArea::Hooks => Mark::Open,
                _ if area.looked_at.is_empty() => Mark::Open,
                _ => Mark::Done,
            };
            let looked_at =
                if area.looked_at.is_empty() { "nothing here to check".to_owned() } else { area.looked_at.join(", ") };
            let title = screen.paint(Tone::Strong, title(area.area));
            text += &screen.item("", mark, &format!("{title}: {looked_at}"));
            for Ailment { finding, .. } in &area.findings {
                text += &screen.item("    ", finding.mark(), &finding.line());
            }
        }
        text.push('\n');
        if let Some(fixed) = self.fixed.as_ref().filter(|fixed| !fixed.is_empty()) {
            let done = if self.dry_run { "Would repair" } else { "Repaired" };
            text += &screen.prose("", "", &format!("{done} {}:", counted(fixed.len(), "finding")));
            let mark = if self.dry_run { Mark::Open } else { Mark::Done };
            let whats = fixed.iter().map(|ailment| screen.item("    ", mark, &ailment.finding.named()));
            text += &whats.collect::<String>();
            if !self.dry_run {
                text += &screen.prose("", "", "`gsd-tools undo` takes changes of installs back.");
            }
        }
        text += &self.nothing_fixed().map(|said| screen.prose("", "", &said)).unwrap_or_default();
        let counts = match (self.errors, self.warnings) {
            (0, 0) => "No problem was found in what is listed above.".to_owned(),
            (errors, warnings) => format!("{}, {}.", counted(errors, "error"), counted(warnings, "warning")),
        };
        let cure = match (self.fixable, &self.fixed) {
            (0, _) | (_, Some(_)) => String::new(),
            (1, None) => " `gsd-tools doctor --fix` repairs 1 of them.".to_owned(),
            (many, None) => format!(" `gsd-tools doctor --fix` repairs {many} of them."),
        };
        text + &screen.prose("", "", &format!("{counts}{cure}"))
    }
}

fn title(area: CheckedArea) -> &'static str {
    match area {
        CheckedArea::Installs => "Installs",
        CheckedArea::Hooks => "Hooks",
        CheckedArea::Clients => "Clients",
        CheckedArea::Project => "Project",
        CheckedArea::Runs => "Runs of auto",
    }
}

/// Checks the installs as `status` does. Returns them, and those that an update repairs.
fn installs(context: &Context, all: bool) -> Result<(Examined, Vec<Target>, Vec<Target>), Failure> {
    let which = Which { hosts: Vec::new(), global: false, local: false, config_dir: None, json: true };
    let report = look(context, &which, all)?;
    let mut examined = Examined::new(CheckedArea::Installs);
    let (mut targets, mut broken) = (Vec::new(), Vec::new());
    for (target, is_installed, findings) in report.examined() {
        examined.looked_at.push(target.title());
        let mut is_broken = false;
        for finding in findings {
            let is_repaired = REPAIRED.contains(&finding.code) && finding.has_cure();
            is_broken |= is_repaired;
            let named = Finding { what: format!("{}: {}", target.title(), finding.what), ..finding };
            if is_repaired { examined.push_fixable(named) } else { examined.push(named) }
        }
        if is_broken {
            broken.push(target.clone());
        }
        if is_installed {
            targets.push(target.clone());
        }
    }
    examined.looked_at.extend(report.placed());
    for other in report.other_programs() {
        examined.push(Finding::warning("other-program", other));
    }
    report.general().iter().for_each(|finding| examined.push(finding.clone()));
    for error in install::past_calls(context.world())?.1 {
        let what = format!("the history of installs: {error}");
        examined.push(Finding::warning("history-unreadable", what).cure("`gsd-tools history` shows the rest"));
    }
    Ok((examined, targets, broken))
}

/// Finishes interrupted writes, then updates these installs and repairs the documents of the project in one transaction.
fn fix(context: &mut Context, broken: &[Target]) -> Result<(), Failure> {
    let registry = context.registry()?.clone();
    let library = Library::embedded().map_err(InstallError::from)?;
    let signal = Arc::default();
    let disk: Disk = context.disk().stopped_by(Arc::clone(&signal));
    let _ = Requests::note_in(&signal);
    project::recover(context)?;
    let installer = installer(context, &disk, &registry, &library)?;
    for target in broken {
        report_settled(context, &installer.settle(target)?);
    }
    let (planned, errors) = plan(&installer, broken);
    for error in errors {
        context.warn(error);
    }
    let (mut along, mut locks): (Along, Vec<PeerLock>) = Default::default();
    match doctor::repair(context) {
        Ok(Some(repair)) => {
            along = Along { trees: vec![repair.tree], changes: repair.changes, verb: None };
            locks = repair.locks;
        }
        Ok(None) => {}
        // It is among the findings; installs are repaired all the same.
        Err(failure) => context.warn(format!("the project was not repaired: {}", failure.message)),
    }
    along.verb = Some(CallVerb::Fix);
    if planned.is_empty() && !along.changes.is_empty() {
        disk.transact(along.trees.clone(), |_, changes| {
            *changes = along.changes;
            Ok::<_, Failure>(())
        })?;
    } else {
        installer.perform(Wish::Update, planned, &along)?;
    }
    drop(locks);
    Ok(())
}

/// The plans of those installs that can be planned, and why others cannot.
fn plan(installer: &Installer<'_>, broken: &[Target]) -> (Vec<(Target, InstallPlan)>, Vec<String>) {
    let (mut together, mut planned, mut errors) = (Together::default(), Vec::new(), Vec::new());
    for target in broken {
        match installer.plan(Wish::Update, target, &mut together) {
            Ok(plan) => planned.push((target.clone(), plan)),
            Err(error) => errors.push(format!("{}: {}", target.title(), target.explain(error))),
        }
    }
    (planned, errors)
}
