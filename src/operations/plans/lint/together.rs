//! Problems between the plans of a phase: duplicate threat names, links to missing files, plans without a requirement.

use std::collections::{BTreeMap, BTreeSet};

use super::threats::threats;
use super::wording::is_code;
use crate::operations::plans::commands::{PlannedTree, bare};
use crate::operations::plans::found::{Found, Weight};
use crate::operations::plans::index::{Fault, FaultKind};
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::phase::short;
use crate::project::plan::{MustHave, PhasePlan};
use crate::project::view::ProjectView;

/// Reports a plan without requirements although the phase has some.
pub(super) fn serves_nothing(plan: &PhasePlan<'_>, of_phase: &[String]) -> Option<Found> {
    let is_empty = plan.requirements().iter().all(|id| id.trim().is_empty());
    (is_empty && !of_phase.is_empty() && !plan.closes_gaps()).then(|| {
        let sentence = format!(
            "`requirements` is empty, and the phase has {}: name those that the plan serves",
            of_phase.join(", ")
        );
        Found::warning(plan.line_of("requirements"), sentence)
    })
}

/// Reports links to files that neither exist nor are written by this plan or an earlier one.
pub(super) fn loose_links(plan: &PhasePlan<'_>, tree: &PlannedTree<'_>) -> Vec<Found> {
    let line = plan.line_of("key_links");
    let links = plan.must_have(MustHave::KeyLinks).unwrap_or_default();
    let artifacts = plan.must_have(MustHave::Artifacts).unwrap_or_default();
    let made: BTreeSet<String> =
        artifacts.iter().filter_map(|artifact| Some(bare(&artifact.get("path")?.flat()).to_owned())).collect();
    let mut found = Vec::new();
    for link in &links {
        for (end, weight) in [("from", Weight::Error), ("to", Weight::Warning)] {
            let Some(path) = link.get(end).map(|value| bare(&value.flat()).to_owned()) else { continue };
            let is_path = is_code(&path)
                && path.contains('/')
                && !path.starts_with('/')
                && path.chars().all(|letter| letter.is_alphanumeric() || "/._-@[]()+".contains(letter));
            if is_path && !tree.has(&path) && !made.contains(&path) {
                let sentence = format!(
                    "A link has `{end}: {path}`, which does not exist, and neither this plan nor an earlier one writes it"
                );
                found.push(Found::new(weight, line, sentence));
            }
        }
    }
    found
}

/// Reports threats of two plans that have the same name: the register of the phase has room for only one of them.
pub(super) fn same_threats(plans: &[(String, PhasePlan<'_>)]) -> Vec<Found> {
    let mut rows: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (file, plan) in plans {
        for threat in threats(plan) {
            rows.entry(threat.id).or_default().push((plan_id(file), threat.row));
        }
    }
    let mut found = Vec::new();
    for (id, rows) in rows {
        let of_plans: BTreeSet<&str> = rows.iter().map(|(plan, _)| *plan).collect();
        let is_one = rows.iter().all(|(_, row)| *row == rows[0].1);
        if of_plans.len() > 1 && !is_one {
            let named = of_plans.into_iter().collect::<Vec<_>>().join(" and ");
            let sentence = format!("Plans {named} each have a threat {id}, and they are not the same: number them on");
            found.push(Found::warning(None, sentence));
        }
    }
    found
}

/// The weight of a fault in the order of plans, and how to fix it.
pub(super) fn order(view: &ProjectView, fault: &Fault, plan: Option<&PhasePlan<'_>>) -> Result<Found, FileError> {
    let line = |key: &str| plan.and_then(|plan| plan.line_of(key));
    Ok(match &fault.kind {
        FaultKind::Unknown(token) if is_of_another_phase(view, token)? => {
            Found::warning(line("depends_on"), fault.sentence.clone())
        }
        FaultKind::Unknown(_) => Found::error(
            line("depends_on"),
            format!("{}: name a plan of the phase, such as `01-01`, or take it out", fault.sentence),
        ),
        FaultKind::TooEarly => Found::error(line("wave"), format!("{}: write that wave", fault.sentence)),
        FaultKind::TooLate => Found::warning(line("wave"), fault.sentence.clone()),
        FaultKind::Shared => Found::error(line("files_modified"), fault.sentence.clone()),
    })
}

/// True if a name means another phase, or a plan of another phase, which is executed before this one.
fn is_of_another_phase(view: &ProjectView, token: &str) -> Result<bool, FileError> {
    let name = token.rsplit('/').next().unwrap_or(token).trim_end_matches(".md").trim_end_matches("-PLAN");
    let name = name.trim_start_matches("Phase ").trim_start_matches("phase ").trim();
    let (phase, plan) = name.rsplit_once('-').unwrap_or((name, ""));
    let Some(folder) = view.find_phase(phase)?.folder else { return Ok(false) };
    Ok(plan.is_empty() || has_plan(&folder, name))
}

fn has_plan(folder: &PhaseFolder, name: &str) -> bool {
    let same =
        |file: &str| canonical_id(plan_id(file)).split('-').map(short).eq(canonical_id(name).split('-').map(short));
    folder.plans().any(same)
}
