//! Sections in front matter, and what decides whether they run.

use std::collections::BTreeSet;

use super::*;
use crate::library::{ItemKind, Library};
use crate::operations::bundle::sections::When;
use crate::operations::bundle::workflow::WorkflowTable;

/// The sections of a workflow that a bundle has decided about.
fn decided(bundle: &Value) -> Option<(String, BTreeSet<String>)> {
    let manifest = bundle.get("section_manifest")?;
    let names = ["included", "excluded"].into_iter().flat_map(|key| manifest[key].as_array().unwrap());
    Some((manifest["workflow"].as_str()?.to_owned(), names.map(|name| name.as_str().unwrap().to_owned()).collect()))
}

#[test]
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the path of the method has one lifetime, the closure any"
)]
fn every_section_is_decided_by_what_its_workflow_starts_from() {
    let bundles = [
        told(&[], |bundle| bundle.execute_phase("1", &ExecutePhaseRequest::default())),
        told(&[], |bundle| bundle.plan_phase("1", &PlanPhaseRequest::default())),
        told(&[], |bundle| bundle.verify_work("1")),
        told(&[], |bundle| bundle.new_project(false, &CodeFacts::default())),
        told(&[], |bundle| bundle.quick(&QuickRequest::default())),
        told(&[], |bundle| bundle.progress(false)),
        told(&[], |bundle| bundle.autonomous(false)),
        told(&[], |bundle| bundle.quick_batch(false, false)),
        told(&[], |bundle| bundle.update(false)),
        told(&[], |bundle| bundle.new_milestone(false)),
        told(&[], |bundle| bundle.complete_milestone(&MilestoneHistory::default())),
        told(&[], |bundle| bundle.transition()),
        told(&[], |bundle| bundle.docs_update()),
        told(&[], |bundle| bundle.code_review(Some("1"), false)),
        told(&[], |bundle| bundle.review(None)),
        told(&[], |bundle| bundle.assumptions(None, false)),
    ];
    let decided: BTreeMap<String, BTreeSet<String>> = bundles.iter().filter_map(decided).collect();
    assert_eq!(decided.len(), bundles.len());
    let library = Library::embedded().unwrap();
    let mut listed = 0;
    for item in library.of_kind(ItemKind::Workflow) {
        for (section, word) in item.front_matter.pairs("sections") {
            listed += 1;
            if WorkflowTable::of(item.name.as_str()).is_some() && When::of(word).is_some() {
                continue;
            }
            let is_decided = decided.get(item.name.as_str()).is_some_and(|sections| sections.contains(section));
            assert!(is_decided, "{}: `init {}` does not decide `{word}` of {section}", item.path, item.name);
        }
    }
    assert!(listed > 10, "{listed}");
}
