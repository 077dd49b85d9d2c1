//! Undoes an executed plan: the documents mark it as not done again.

use super::close::{self, PlanPlace};
use crate::failure::Failure;
use crate::operations::documents::requirements;
use crate::operations::state::Facts;
use crate::project::plan::PhasePlan;
use crate::project::view::{Edits, ProjectView};
use crate::text::splice::Splices;

/// The changes to the documents after the SUMMARY of the plan at `place` was removed, and the requirements that are
/// open again. Requirements that another executed plan also covers stay as they are.
pub(crate) fn undo(view: &ProjectView, place: &PlanPlace, facts: &Facts) -> Result<(Vec<String>, Edits), Failure> {
    let mut edits = Edits::default();
    let mut folder = place.folder.clone();
    if let Some(summary) = place.summary() {
        let is_left = |file: &&String| folder_path(&place.folder.path, file) != summary;
        folder.files = folder.files.iter().filter(is_left).cloned().collect();
        edits.removals.push(summary);
    }
    let after = view.after(&edits);
    if let Some(roadmap) = after.roadmap()? {
        let mut splices = Splices::default();
        if let Some(section) = roadmap.section(place.folder.token()) {
            roadmap.untick_plan(section, &place.file, &mut splices);
        }
        edits.write(view, &view.layout().roadmap(), splices.apply(roadmap.text()))?;
    }
    let own = PhasePlan::parse(&view.text(&place.path())?.unwrap_or_default()).requirements();
    let mut covered = Vec::new();
    for (file, text) in view.plan_texts(&folder)? {
        if file != place.file && folder.summary_of(&file).is_some() {
            covered.extend(PhasePlan::parse(&text).requirements());
        }
    }
    let ids = own.into_iter().filter(|id| !covered.contains(id)).collect();
    let (reopened, later) = requirements::reopen(&view.after(&edits), ids)?;
    edits.follow(later);
    let later = close::planned(&view.after(&edits), &folder, facts)?;
    edits.follow(later);
    Ok((reopened.reverted, edits))
}

fn folder_path(folder: &str, file: &str) -> String {
    format!("{folder}/{file}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undone_plan_is_open_in_every_document() {
        let files = [
            (
                ".planning/ROADMAP.md",
                "# Roadmap\n\n- [x] **Phase 1: A** - a (completed 2026-01-02)\n\n### Phase 1: A\n**Plans**: 2/2 plans complete\n\n\
                 Plans:\n- [x] 01-01-PLAN.md\n- [x] 01-02-PLAN.md\n",
            ),
            (".planning/REQUIREMENTS.md", "- [x] **A-1**: one\n- [x] **A-2**: both\n"),
            (
                ".planning/STATE.md",
                "---\nstatus: completed\n---\n\n# Project State\n\n## Current Position\n\nPhase: 1 of 1 (A) — COMPLETE\nPlan: 2 of 2\nStatus: All phases complete\n",
            ),
            (".planning/phases/01-a/01-01-PLAN.md", "---\nrequirements: [A-2]\n---\n"),
            (".planning/phases/01-a/01-01-SUMMARY.md", "---\nstatus: complete\n---\n"),
            (".planning/phases/01-a/01-02-PLAN.md", "---\nrequirements: [A-1, A-2]\n---\n"),
            (".planning/phases/01-a/01-02-SUMMARY.md", "---\nstatus: complete\n---\n"),
        ];
        let view = ProjectView::of(files);
        let place = PlanPlace::find(&view, "1-2").unwrap().unwrap();
        let facts = Facts { now: "2026-01-03T00:00:00.000Z".into(), today: "2026-01-03".into(), ..Facts::default() };
        let (reopened, edits) = undo(&view, &place, &facts).unwrap();
        assert_eq!(reopened, ["A-1"], "the other one is what 01-01 did too");
        let after = view.after(&edits);
        let text = |path: &str| after.text(path).unwrap().unwrap_or_default().to_string();
        let roadmap = text(".planning/ROADMAP.md");
        assert!(roadmap.contains("- [x] 01-01-PLAN.md") && roadmap.contains("- [ ] 01-02-PLAN.md"), "{roadmap}");
        assert!(roadmap.contains("- [ ] **Phase 1: A**"), "{roadmap}");
        assert!(text(".planning/REQUIREMENTS.md").starts_with("- [ ] **A-1**: one\n- [x] **A-2**"));
        let state = text(".planning/STATE.md");
        assert!(state.contains("Phase: 1 of 1 (A) — READY TO EXECUTE") && state.contains("Plan: 2 of 2"), "{state}");
        assert!(!after.exists(".planning/phases/01-a/01-02-SUMMARY.md"));
    }
}
