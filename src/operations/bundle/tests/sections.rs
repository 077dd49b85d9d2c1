//! Tests of the conditions of sections.

use super::*;
use crate::library::{ItemKind, Library};
use crate::operations::bundle::sections::When;
use crate::operations::bundle::workflow::WorkflowTable;

/// The flags of verbs that a condition can ask for.
const FLAGS: &[&str] = &[
    "auto",
    "converge",
    "discuss",
    "fix",
    "forensic",
    "ingest",
    "next",
    "prd",
    "research",
    "research-phase",
    "reset-phase-numbers",
    "reviews",
    "validate",
    "wave",
];

#[test]
fn every_section_is_decided_by_the_answer_of_its_workflow() {
    let library = Library::embedded().unwrap();
    let mut listed = 0;
    for item in library.of_kind(ItemKind::Workflow) {
        let sections = item.front_matter.pairs("sections");
        if sections.is_empty() || WorkflowTable::of(item.name.as_str()).is_some() {
            continue;
        }
        let manifest = told(&[], of_phase(item.name.as_str(), "1"))["section_manifest"].clone();
        let count = |key: &str| manifest[key].as_array().map_or(0, Vec::len);
        assert_eq!(count("included") + count("excluded"), sections.len(), "{}", item.path);
        for (section, word) in sections {
            listed += 1;
            if let Some(When::Flag(flag)) = When::of(word) {
                assert!(FLAGS.contains(&flag.as_str()), "{}: {section}: no verb gives `{word}`", item.path);
            }
        }
    }
    assert!(listed > 10, "{listed}");
}
