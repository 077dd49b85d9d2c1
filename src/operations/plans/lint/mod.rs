//! All automatic checks of the plans of a phase before they are executed, in one report.

mod checks;
mod content;
mod later;
mod limits;
mod looks;
mod missing;
mod modules;
mod needed;
mod open;
mod scripts;
mod sentences;
mod targets;
mod thin;
mod threats;
mod together;
mod vague;
mod wording;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::limits::PlanLimits;
use super::commands::{FolderFacts, Planned, PlannedTree, SourceTree, written_by};
use super::found::{Found, Weight};
use super::index;
use super::structure::{self, StructureReport};
use crate::failure::Failure;
use crate::operations::gates::coverage;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::layout::Layout;
use crate::project::plan::PhasePlan;
use crate::project::requirements::Requirements;
use crate::project::view::ProjectView;

/// What `plan lint` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LintReport {
    /// True if there is nothing to fix; warnings need a person's judgement.
    pub(crate) valid: bool,
    /// The number of plans that were checked: those still to be done.
    plans: usize,
    errors: Vec<LintFinding>,
    warnings: Vec<LintFinding>,
    /// Requirements of the phase that no plan covers.
    requirements_uncovered: Vec<String>,
    /// Decisions of CONTEXT.md that no plan cites.
    decisions_uncovered: Vec<String>,
}

/// One problem, and the plan that has it; no plan if it concerns several.
#[derive(Debug, Serialize, JsonSchema)]
struct LintFinding {
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    /// The line in the plan, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(rename = "finding")]
    sentence: String,
}

/// The findings of a report: errors and warnings, in the order of plans.
#[derive(Debug, Default)]
struct Findings {
    errors: Vec<LintFinding>,
    warnings: Vec<LintFinding>,
}

impl Findings {
    fn add(&mut self, plan: Option<&str>, found: Found) {
        let is_error = found.is_error();
        let finding = LintFinding { plan: plan.map(str::to_owned), line: found.line, sentence: found.sentence };
        if is_error { self.errors.push(finding) } else { self.warnings.push(finding) }
    }
}

/// Checks the plans of `folder`; `disk` gives access to the files that their commands need.
pub(crate) fn lint(
    view: &ProjectView,
    folder: &PhaseFolder,
    limits: &PlanLimits,
    disk: &SourceTree<impl Fn(&str) -> FolderFacts, impl Fn(&str) -> bool>,
) -> Result<LintReport, Failure> {
    let mut findings = Findings::default();
    let listed = view.text(&view.layout().requirements())?;
    let requirements = listed.as_deref().map(Requirements::parse);
    let of_phase = requirements_of(view, folder)?;
    let planned = Planned::read(view, folder)?;
    let texts = view.plan_texts(folder)?;
    let plans: Vec<(String, PhasePlan<'_>)> =
        texts.iter().map(|(file, text)| (file.clone(), PhasePlan::parse(text))).collect();
    let mut named: Vec<String> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (file, plan) in &plans {
        named.extend(plan.requirements());
        // The checks of a finished plan may name files that later plans removed.
        if view.is_settled(folder, file)? {
            continue;
        }
        let id = plan_id(file);
        open.push(id);
        let files = planned.before(file);
        let tree = PlannedTree::new(disk, view.files(), &files);
        let mut found = structure::findings(&folder.join(file), plan, requirements.as_ref(), view.files())?;
        found.extend(of_text(plan, limits, &tree)?);
        if limits.needs_threats {
            found.extend(threats::findings(plan, &plan.tasks(), limits.block_on));
        }
        found.extend(together::serves_nothing(plan, &of_phase));
        found.extend(together::loose_links(plan, &tree));
        for found in found {
            findings.add(Some(id), found);
        }
    }
    if plans.is_empty() {
        findings.add(None, Found::error(None, format!("there is no plan in `{}`", folder.path)));
    } else if open.is_empty() {
        findings.add(None, Found::warning(None, "every plan here is done: none was looked at".to_owned()));
    }
    order(view, folder, &plans, &open, &mut findings)?;
    for found in together::same_threats(&plans) {
        findings.add(None, found);
    }
    let context = folder.artifact_path("CONTEXT");
    let coverage = coverage::plans(view, Some(folder), context.as_deref(), limits.decisions_are_checked)?;
    if let Some(error) = coverage.unreadable() {
        findings.add(None, Found::error(None, error));
    }
    for warning in &coverage.warnings {
        findings.add(None, Found::warning(None, warning.clone()));
    }
    Ok(LintReport {
        valid: findings.errors.is_empty(),
        plans: open.len(),
        errors: findings.errors,
        warnings: findings.warnings,
        requirements_uncovered: of_phase
            .into_iter()
            .filter(|id| !named.iter().any(|known| known.eq_ignore_ascii_case(id)))
            .collect(),
        decisions_uncovered: coverage.uncovered_ids(),
    })
}

/// True if the path is that of a quick task's plan.
pub(crate) fn is_quick(layout: &Layout, path: &str) -> bool {
    let inside = layout.inside(path).unwrap_or_default();
    let below = inside.strip_prefix(layout.planning()).and_then(|rest| rest.strip_prefix('/'));
    below.is_some_and(|below| below.rsplit('/').skip(1).any(|part| part == "quick"))
}

/// Like [`structure::structure`], with everything that [`lint`] checks in the text, for a plan that belongs to no
/// phase.
pub(crate) fn quick(
    view: &ProjectView,
    path: &str,
    text: &str,
    limits: &PlanLimits,
    disk: &SourceTree<impl Fn(&str) -> FolderFacts, impl Fn(&str) -> bool>,
) -> Result<StructureReport, FileError> {
    let plan = PhasePlan::parse(text);
    let listed = view.text(&view.layout().requirements())?;
    let requirements = listed.as_deref().map(Requirements::parse);
    let files: BTreeSet<String> = written_by(&plan);
    let tree = PlannedTree::new(disk, view.files(), &files);
    let mut found = structure::findings(path, &plan, requirements.as_ref(), view.files())?;
    found.extend(of_text(&plan, limits, &tree)?);
    let told = found.into_iter().map(|mut found| {
        if let Some(line) = found.line {
            found.sentence = format!("line {line}: {}", found.sentence);
        }
        found
    });
    let (errors, warnings) = told.partition(Found::is_error);
    Ok(structure::report(&plan, errors, warnings))
}

/// The problems in the text of one plan and in its commands, apart from its structure.
fn of_text(plan: &PhasePlan<'_>, limits: &PlanLimits, tree: &PlannedTree<'_>) -> Result<Vec<Found>, FileError> {
    let mut found = content::findings(plan, limits);
    found.extend(checks::findings(plan, tree)?);
    Ok(found)
}

/// Checks the order of the plans: their dependencies, their waves, and files that they share.
fn order(
    view: &ProjectView,
    folder: &PhaseFolder,
    plans: &[(String, PhasePlan<'_>)],
    open: &[&str],
    findings: &mut Findings,
) -> Result<(), Failure> {
    match index::plan_index(view, folder.token()) {
        Ok(index) => {
            for fault in
                index.faults.iter().filter(|fault| fault.plans.iter().any(|plan| open.contains(&plan.as_str())))
            {
                let only = match fault.plans.as_slice() {
                    [only] => Some(only.as_str()),
                    _ => None,
                };
                let plan = plans.iter().find(|(file, _)| Some(plan_id(file)) == only).map(|(_, plan)| plan);
                findings.add(only, together::order(view, fault, plan)?);
            }
            for warning in index.warning.into_iter().chain(index.error) {
                findings.add(None, Found::warning(None, warning));
            }
        }
        Err(failure) if failure.unread.is_some() => return Err(failure),
        Err(failure) => findings.add(None, Found::new(Weight::Error, None, failure.message)),
    }
    Ok(())
}

/// The requirements that the roadmap assigns to the phase.
fn requirements_of(view: &ProjectView, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
    let is_id = |id: &String| id.contains('-') && id.chars().any(|letter| letter.is_ascii_digit());
    Ok(coverage::own_requirements(view, folder.token())?.into_iter().filter(is_id).collect())
}

#[cfg(test)]
mod tests;
