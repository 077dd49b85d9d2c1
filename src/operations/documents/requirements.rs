//! Requirements across documents: completes and reopens them, and lists those of a plan that are ready to complete.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::plans::summary_check::{self, SelfCheck};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::plan::PhasePlan;
use crate::project::requirements::{Open, PlaceChange, Requirements};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::splice::Splices;

/// The message of commands if the document is missing.
pub(crate) const NO_REQUIREMENTS: &str = "REQUIREMENTS.md not found";

/// What `requirements mark-complete` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum MarkReport {
    Marked {
        updated: bool,
        marked_complete: Vec<String>,
        already_complete: Vec<String>,
        not_found: Vec<String>,
        /// Requirements without a row in the traceability table.
        table_unmatched: Vec<String>,
        total: usize,
        write_set: Vec<RequirementWriteReport>,
        write_set_complete: bool,
        /// Why nothing was marked.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    NoDocument {
        updated: bool,
        reason: &'static str,
        ids: Vec<String>,
    },
}

/// Whether one place of a requirement was changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RequirementWriteReport {
    pub(crate) requirement: String,
    pub(crate) surface: Surface,
    pub(crate) applied: bool,
}

/// The two places that record a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Surface {
    Checkbox,
    Traceability,
}

/// Marks requirements as complete.
pub(crate) fn mark_complete(view: &ProjectView, ids: Vec<String>) -> Edited<MarkReport> {
    let path = view.layout().requirements();
    let Some(text) = view.text(&path)? else {
        return Ok((MarkReport::NoDocument { updated: false, reason: NO_REQUIREMENTS, ids }, Edits::default()));
    };
    let requirements = Requirements::parse(&text);
    let mut splices = Splices::default();
    let (mut marked, mut already, mut not_found, mut unmatched) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut write_set = Vec::new();
    for (index, id) in ids.iter().enumerate() {
        // If an id is given twice, it is already complete the second time.
        let again = ids[..index].iter().any(|earlier| earlier.eq_ignore_ascii_case(id));
        let mut unused = Splices::default();
        let outcome = if again {
            requirements.complete(id, Open::Pending, &mut unused).again()
        } else {
            requirements.complete(id, Open::Pending, &mut splices)
        };
        let lacks_row =
            requirements.has_table() && outcome.checkbox != PlaceChange::Absent && outcome.row == PlaceChange::Absent;
        match (outcome.is_found(), outcome.is_changed()) {
            (false, _) => not_found.push(id.clone()),
            (true, true) => marked.push(id.clone()),
            // A requirement without a row in the table is not complete everywhere.
            (true, false) if lacks_row => {}
            (true, false) => already.push(id.clone()),
        }
        if lacks_row {
            unmatched.push(id.clone());
        }
        let written = |surface, place| RequirementWriteReport {
            requirement: id.clone(),
            surface,
            applied: place == PlaceChange::Changed,
        };
        write_set.push(written(Surface::Checkbox, outcome.checkbox));
        if requirements.has_table() {
            write_set.push(written(Surface::Traceability, outcome.row));
        }
    }
    let mut edits = Edits::default();
    edits.write(view, &path, splices.apply(&text))?;
    let reason = (marked.is_empty() && !not_found.is_empty()).then(|| {
        let listed = not_found.join(", ");
        format!("{listed}: no checkbox, and no row with an open status, in REQUIREMENTS.md")
    });
    let report = MarkReport::Marked {
        reason,
        updated: !marked.is_empty(),
        marked_complete: marked,
        already_complete: already,
        not_found,
        table_unmatched: unmatched,
        total: ids.len(),
        write_set_complete: write_set.iter().all(|write| write.applied),
        write_set,
    };
    Ok((report, edits))
}

/// What `requirements revert-phase` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RevertReport {
    pub(crate) reverted: Vec<String>,
    pub(crate) unchanged: Vec<String>,
    pub(crate) total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

/// Reopens completed requirements.
pub(crate) fn reopen(view: &ProjectView, ids: Vec<String>) -> Edited<RevertReport> {
    let path = view.layout().requirements();
    let total = ids.len();
    let Some(text) = view.text(&path)? else {
        let reason = Some(NO_REQUIREMENTS);
        return Ok((RevertReport { reverted: Vec::new(), unchanged: ids, total, reason }, Edits::default()));
    };
    let requirements = Requirements::parse(&text);
    let mut splices = Splices::default();
    let (reverted, unchanged) = ids.into_iter().partition(|id| requirements.reopen(id, &mut splices).is_changed());
    let mut edits = Edits::default();
    edits.write(view, &path, splices.apply(&text))?;
    Ok((RevertReport { reverted, unchanged, total, reason: None }, edits))
}

/// What `requirements ready-ids` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReadyReport {
    pub(crate) ready: Vec<String>,
    /// Requirements that another plan of the phase still has to deliver.
    pub(crate) blocked: Vec<String>,
    pub(crate) total: usize,
}

/// Lists the requirements that are met once the plan at `path` is done: those not named by any other unfinished plan of
/// its folder.
pub(crate) fn ready(view: &ProjectView, path: &str, ids: Vec<String>) -> Result<ReadyReport, FileError> {
    let (parent, own) = match path.rsplit_once("/plans/") {
        Some((parent, _)) => (parent, &path[parent.len() + 1..]),
        None => path.rsplit_once('/').unwrap_or(("", path)),
    };
    let mut unfinished = Vec::new();
    if let Some(folder) = view.folder_at(parent, None)? {
        for plan in view.current_plans(&folder)? {
            if plan != own && !has_reached_its_goal(view, &folder, &plan)? {
                let text = view.text(&folder.join(&plan))?.unwrap_or_default();
                unfinished.extend(PhasePlan::parse(&text).requirements());
            }
        }
    }
    let total = ids.len();
    let is_open = |id: &String| unfinished.iter().any(|open| open.eq_ignore_ascii_case(id));
    let (blocked, ready) = ids.into_iter().partition(is_open);
    Ok(ReadyReport { ready, blocked, total })
}

/// True if a plan reached its goal. Requirements stay open after a halted plan, and after a plan whose self-check
/// failed.
fn has_reached_its_goal(view: &ProjectView, folder: &PhaseFolder, plan: &str) -> Result<bool, FileError> {
    let summary = folder.summary_of(plan).map(|file| view.text(&folder.join(file))).transpose()?.flatten();
    let Some(summary) = summary else { return Ok(false) };
    Ok(view.is_done(folder, plan)? && summary_check::self_check(&summary) != SelfCheck::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::of(files.iter().copied())
    }

    fn ids(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_answer_lists_each_place() {
        let text = "- [ ] **A-1**: a\n- [x] **A-2**: b\n- [ ] **A-3**: c\n\n| Requirement | Status |\n|-|-|\n\
            | A-1 | Gaps Found |\n| A-2 | Complete |\n";
        let (report, edits) =
            mark_complete(&view(&[(".planning/REQUIREMENTS.md", text)]), ids("A-1 A-2 A-3 Z-9 a-1")).unwrap();
        let MarkReport::Marked { marked_complete, already_complete, not_found, table_unmatched, write_set, .. } =
            report
        else {
            panic!("{report:?}")
        };
        assert_eq!((marked_complete, already_complete), (ids("A-1 A-3"), ids("A-2 a-1")));
        assert_eq!((not_found, table_unmatched), (ids("Z-9"), ids("A-3")));
        assert_eq!(write_set.iter().filter(|write| write.applied).count(), 3);
        let after = &edits.texts[".planning/REQUIREMENTS.md"];
        assert_eq!(*after, text.replace("[ ]", "[x]").replace("Gaps Found", "Complete"));
    }

    #[test]
    fn a_ticked_requirement_without_a_row_is_not_complete_everywhere() {
        let text = "- [x] **A-1**: a\n\n| Requirement | Status |\n|-|-|\n| A-2 | Pending |\n";
        let told =
            |text: &str| match mark_complete(&view(&[(".planning/REQUIREMENTS.md", text)]), ids("A-1")).unwrap().0 {
                MarkReport::Marked { already_complete, table_unmatched, .. } => {
                    (already_complete.len(), table_unmatched.len())
                }
                MarkReport::NoDocument { .. } => panic!("there is one"),
            };
        assert_eq!(told(text), (0, 1));
        assert_eq!(told("- [x] **A-1**: a\n"), (1, 0), "without a table the box is all there is");
    }

    #[test]
    fn without_a_document_nothing_is_created() {
        let (report, edits) = mark_complete(&view(&[]), ids("A-1")).unwrap();
        assert!(matches!(report, MarkReport::NoDocument { updated: false, .. }) && edits.is_empty());
        assert_eq!(reopen(&view(&[]), ids("A-1")).unwrap().0.unchanged, ids("A-1"));
    }

    #[test]
    fn a_requirement_waits_for_every_plan_that_names_it() {
        let plan = "---\nrequirements: [A-1, A-2]\n---\n";
        let view = view(&[
            ("p/02-x/02-01-PLAN.md", plan),
            ("p/02-x/02-02-PLAN.md", "---\nrequirements: A-2\n---\n"),
            ("p/02-x/02-03-PLAN.md", "---\nrequirements: [A-1]\nstatus: superseded\n---\n"),
            ("p/02-x/02-04-PLAN.md", plan),
            ("p/02-x/02-04-SUMMARY.md", ""),
            ("p/02-x/plans/PLAN-05-y.md", "---\nrequirements: [A-5]\n---\n"),
        ]);
        let report = ready(&view, "p/02-x/02-01-PLAN.md", ids("A-1 a-2 Z-9 A-5")).unwrap();
        assert_eq!((report.ready, report.blocked, report.total), (ids("A-1 Z-9"), ids("a-2 A-5"), 4));
        assert_eq!(ready(&view, "p/02-x/plans/PLAN-05-y.md", ids("A-5")).unwrap().ready, ids("A-5"));
        assert_eq!(ready(&view, "nowhere.md", ids("A-1")).unwrap().ready, ids("A-1"));
    }

    #[test]
    fn a_requirement_waits_for_a_plan_that_did_not_reach_its_goal() {
        let plan = "---\nrequirements: [A-1]\n---\n";
        let waits = |summary: &str| {
            let view = view(&[
                ("p/02-x/02-01-PLAN.md", plan),
                ("p/02-x/02-02-PLAN.md", plan),
                ("p/02-x/02-02-SUMMARY.md", summary),
            ]);
            !ready(&view, "p/02-x/02-01-PLAN.md", ids("A-1")).unwrap().blocked.is_empty()
        };
        assert!(!waits("---\nstatus: complete\n---\n\n## Self-Check: PASSED\n") && !waits("# It was blocked once\n"));
        assert!(waits("---\nstatus: blocked\n---\n") && waits("---\nstatus: Blocked\n---\n"));
        assert!(waits("---\nstatus: halted\n---\n"));
        assert!(waits("---\nstatus: complete\n---\n\n## Self-Check: FAILED\n"));
    }
}
