//! Repairs that cannot lose anything: a missing configuration, missing switches, missing milestone entries. Existing
//! files only get additions; a file that does not parse stays as it is.

use super::RepairReport;
use super::check::{HealthFacts, HealthReport, Remaining, archived_without_entry, check};
use crate::failure::Failure;
use crate::operations::documents::configuration::{self, NewFile};
use crate::project::config::Setting;
use crate::project::files::FileError;
use crate::project::milestones;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::markdown::Markdown;
use crate::text::screen::counted;

/// What to repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repairs<'text> {
    /// The configuration.
    pub(crate) configuration: bool,
    /// The entries of archived milestones.
    pub(crate) milestones: bool,
    pub(crate) day: &'text str,
}

/// Checks, and repairs what `repairs` asks for. The findings are those before the repair; `remaining` has those after
/// it.
pub(crate) fn repair(view: &ProjectView, facts: &HealthFacts, repairs: Repairs<'_>) -> Edited<HealthReport, Failure> {
    let mut report = check(view, facts)?;
    let mut done = Vec::new();
    let mut edits = Edits::default();
    if repairs.configuration {
        if report.has("E004") {
            done.push(RepairReport::refused("regenerateState"));
        }
        if report.has("E005") {
            done.push(RepairReport::refused("resetConfig"));
        }
        if report.has("W003") {
            edits = configuration::create(view, NewFile::default())?.1;
            done.push(RepairReport::done("createConfig", "config.json"));
        }
        let switches = [
            ("W008", "addNyquistKey", "workflow.nyquist_validation"),
            ("W016", "addAiIntegrationPhaseKey", "workflow.ai_integration_phase"),
        ];
        // The file that was checked: the workstream's own, or else the project's.
        let has_own = view.after(&edits).exists(&view.layout().config());
        let looked_at = view.scoped(view.layout().workstream().filter(|_| has_own));
        for (_, action, key) in switches.into_iter().filter(|(code, ..)| report.has(code)) {
            let setting = Setting::parse(key, "true")?;
            let (_, edit) = configuration::set(&looked_at.after(&edits), &setting)?;
            edits.texts.extend(edit.texts);
            done.push(RepairReport::done(action, "config.json"));
        }
    }
    if repairs.milestones {
        let unlisted = archived_without_entry(view)?;
        if !unlisted.is_empty() {
            let path = view.layout().milestones();
            let text = view.text(&path)?;
            let listed = with_entries(view, text.as_deref().unwrap_or_default(), &unlisted, repairs.day)?;
            edits.write(view, &path, listed)?;
            done.push(RepairReport {
                action: "backfillMilestones",
                success: true,
                path: None,
                detail: Some(format!("Backfilled {} into MILESTONES.md", counted(unlisted.len(), "milestone"))),
                error: None,
            });
        }
    }
    report.remaining = Some(Remaining::of(check(&view.after(&edits), facts)?)).filter(|_| !done.is_empty());
    report.repairs_performed = (!done.is_empty()).then_some(done);
    Ok((report, edits))
}

/// MILESTONES.md with an entry added for each version.
fn with_entries(view: &ProjectView, text: &str, versions: &[String], day: &str) -> Result<String, FileError> {
    let mut lines = Vec::new();
    for version in versions {
        let archived = view.text(&format!("{}/{version}-ROADMAP.md", view.layout().milestones_folder()))?;
        let title = archived.as_deref().and_then(|text| milestone_title(text, version)).unwrap_or_default();
        let heading = format!("## {version} {title}");
        lines.extend([
            format!("{} (Backfilled: {day})", heading.trim_end()),
            String::new(),
            format!("**Note:** Made from the archived roadmap of {version}; the completion date is unknown."),
            String::new(),
            "---".to_owned(),
            String::new(),
        ]);
    }
    Ok(milestones::with_entries(text, &lines))
}

/// `MVP` in `# Milestone v1.0: MVP`.
fn milestone_title(text: &str, version: &str) -> Option<String> {
    let markdown = Markdown::parse(text);
    let title = markdown.headings().find(|heading| heading.level == 1)?.title;
    let (_, name) = title.split_once(version)?;
    Some(name.trim_start_matches([' ', ':', '-', '—', '–']).trim().to_owned())
}
