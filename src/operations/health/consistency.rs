//! Compares the roadmap with the folders of phases, and the plans of a folder with their numbers.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::{HealthFinding, listed, warning};
use crate::operations::answers::finding::Finding;
use crate::operations::roadmap::check::mismatches;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::phase::{self, PhaseId, PhaseIndex};
use crate::project::plan::PhasePlan;
use crate::project::roadmap::Roadmap;
use crate::project::view::ProjectView;
use crate::text::screen::{Mark, Screen, Tone, counted};

/// What `validate consistency` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConsistencyReport {
    pub(crate) passed: bool,
    pub(crate) errors: Vec<&'static str>,
    pub(crate) warnings: Vec<HealthFinding>,
    /// Absent if there was nothing to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning_count: Option<usize>,
}

impl ConsistencyReport {
    /// The findings for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        if self.errors.is_empty() && self.warnings.is_empty() {
            return screen.paint_lines(Tone::Good, &screen.prose("", "", "The roadmap and the folders agree"));
        }
        let mut page: String = self.errors.iter().map(|error| screen.item("", Mark::Failed, error)).collect();
        if !self.warnings.is_empty() {
            page += &screen.paint(Tone::Warning, &counted(self.warnings.len(), "warning"));
            page += "\n";
        }
        page + &listed(&self.warnings, screen, Mark::Warning, "gsd-tools validate consistency --json")
    }
}

/// Compares the roadmap with the folders, and reports gaps and orphans. `numbered` is true if phases are numbered in
/// sequence.
pub(crate) fn consistency(view: &ProjectView, numbered: bool) -> Result<ConsistencyReport, FileError> {
    let Some(roadmap) = view.roadmap()? else {
        let errors = vec!["there is no ROADMAP.md"];
        return Ok(ConsistencyReport { passed: false, errors, warnings: Vec::new(), warning_count: None });
    };
    let folders = view.phase_folders()?;
    let mut warnings = roadmap_and_disk(roadmap, &folders, &archived_phases(view)?);
    let mismatches = mismatches(view, roadmap)?.into_iter();
    warnings.extend(mismatches.map(|found| warning(found.code, found.message, found.fix)));
    if numbered {
        warnings.extend(phase_gaps(&folders, roadmap));
    }
    warnings.extend(folders.iter().flat_map(plan_gaps));
    warnings.extend(folders.iter().flat_map(orphan_summaries));
    for folder in folders.iter() {
        for plan in folder.plans() {
            let text = view.text(&folder.join(plan))?.unwrap_or_default();
            if !PhasePlan::parse(&text).has("wave") {
                let message = format!("{}/{plan} has no `wave` in its front matter", folder.name);
                warnings.push(warning("C004", message, "Add `wave` to the front matter of the plan"));
            }
        }
    }
    let warnings: Vec<HealthFinding> = warnings.into_iter().map(HealthFinding::from).collect();
    let warning_count = Some(warnings.len());
    Ok(ConsistencyReport { passed: true, errors: Vec::new(), warnings, warning_count })
}

/// Phases of the roadmap without a folder, and folders without a phase of the roadmap.
///
/// A phase whose checkbox is not ticked need not have a folder yet, and a phase's folder may be in an archive.
pub(super) fn roadmap_and_disk(roadmap: &Roadmap<'_>, folders: &[PhaseFolder], archived: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let tokens = folders.iter().map(PhaseFolder::token).chain(archived.iter().map(String::as_str));
    let on_disk = PhaseIndex::new(tokens.enumerate());
    let sections = roadmap.sections().iter().filter(|section| !section.shipped);
    let bullets = roadmap.bullets().iter().filter(|bullet| !bullet.shipped);
    let mut known = BTreeSet::new();
    for id in sections.map(|section| section.id).chain(bullets.map(|bullet| bullet.id)) {
        let normal = PhaseId::new(id);
        let is_open = roadmap.bullet(id).is_some_and(|bullet| bullet.mark.is_some() && !bullet.checked);
        if !known.insert(normal.as_str().to_ascii_lowercase()) || normal.is_sentinel() || is_open {
            continue;
        }
        if on_disk.find(id).is_none() {
            let message = format!("Phase {id} is in ROADMAP.md but has no folder");
            findings.push(warning("W006", message, "Create the folder, or remove the phase from ROADMAP.md"));
        }
    }
    let sections = roadmap.sections().iter().map(|section| section.id);
    let ids = sections.chain(roadmap.bullets().iter().map(|bullet| bullet.id));
    let in_roadmap = PhaseIndex::new(ids.chain(roadmap.rows().iter().map(|row| row.id)).enumerate());
    let mut tokens: Vec<&str> = folders.iter().map(PhaseFolder::token).collect();
    tokens.sort_unstable();
    for token in tokens {
        if in_roadmap.find(token).is_none() && !PhaseId::new(token).is_sentinel() {
            let message = format!("Phase {token} has a folder but is not in ROADMAP.md");
            findings.push(warning("W007", message, "Add it to ROADMAP.md, or remove the folder"));
        }
    }
    findings
}

/// The phases whose folders are in an archive, as the folders name them.
pub(super) fn archived_phases(view: &ProjectView) -> Result<Vec<String>, FileError> {
    let mut archived = Vec::new();
    for (folder, version) in view.archives()? {
        let folders = view.read_folders(&folder, Some(&version))?;
        archived.extend(folders.iter().map(|folder| folder.token().to_owned()));
    }
    Ok(archived)
}

/// Gaps between the whole numbers of folders. Decimals come between phases, and ids with a code need not be in
/// sequence.
fn phase_gaps(folders: &[PhaseFolder], roadmap: &Roadmap<'_>) -> Vec<Finding> {
    // A phase that was just added does not have a folder with a document yet.
    let tokens = folders.iter().map(PhaseFolder::token).chain(roadmap.named_phases());
    let counting = tokens.filter(|token| phase::without_code(token) == *token).map(PhaseId::new);
    let numbers: BTreeSet<u64> =
        counting.filter(|id| !id.is_decimal() && !id.is_sentinel()).filter_map(|id| id.integer()).collect();
    gaps(numbers)
        .map(|(before, after)| {
            let message = format!("Gap in phase numbering: {before} → {after}");
            warning("C001", message, "Add the missing phase, or renumber the phases")
        })
        .collect()
}

fn plan_gaps(folder: &PhaseFolder) -> Vec<Finding> {
    let numbers: BTreeSet<u64> = folder.plans().filter_map(|plan| plan_number(plan, folder.token())).collect();
    gaps(numbers)
        .map(|(before, after)| {
            let message = format!("Gap in plan numbering in {}: plan {before} → {after}", folder.name);
            warning("C002", message, "Add the missing plan, or renumber the plans")
        })
        .collect()
}

/// Neighbours that differ by more than one.
fn gaps(numbers: BTreeSet<u64>) -> impl Iterator<Item = (u64, u64)> {
    let next = numbers.clone().into_iter().skip(1);
    numbers.into_iter().zip(next).filter(|(before, after)| after - before > 1)
}

/// The number of a plan within its phase: 3 of `02-03-PLAN.md`, of `02-03-model-PLAN.md` and of `plans/PLAN-03.md`.
fn plan_number(plan: &str, token: &str) -> Option<u64> {
    if let Some(nested) = plan.strip_prefix("plans/") {
        return phase::leading_integer(nested.split_once("PLAN-")?.1);
    }
    let id = canonical_id(plan_id(plan));
    let (phase, number) = id.rsplit_once('-')?;
    PhaseId::new(token).matches(phase).then(|| number.parse().ok())?
}

fn orphan_summaries(folder: &PhaseFolder) -> Vec<Finding> {
    let planned: BTreeSet<&str> = folder.plans().filter_map(|plan| folder.summary_of(plan)).collect();
    let orphans = folder.summaries().filter(|summary| !planned.contains(summary));
    orphans
        .map(|summary| {
            let message = format!("{summary} in {} has no plan", folder.name);
            warning("C003", message, "Add the plan, or remove the summary")
        })
        .collect()
}
