//! Which conditional sections of a workflow run this time.

use schemars::JsonSchema;
use serde::Serialize;

/// What makes a section run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(dead_code, reason = "the table holds only sections the library has; some conditions wait for theirs")]
pub(super) enum Condition {
    /// One wave is executed, not all.
    PartialWave,
    /// The phase has plans that close gaps, or is an insertion.
    ClosesGaps,
    /// An earlier phase has results that could break.
    EarlierResults,
    Reviews,
    RequirementsDocument,
    DecisionRecords,
    ResearchOnly,
    Chunked,
    /// No questions are asked.
    Auto,
    /// There is code, and no map of it.
    UnmappedCode,
    Discuss,
    Research,
    Validate,
    /// The phase has a user interface to look at.
    UserInterface,
    /// The phase is a slice of the product that a user can use.
    Mvp,
    Forensic,
    /// Code is looked over by a program first.
    StructuralPass,
    Fix,
    ReviewerInstances,
    /// The project's own documents are written, not those of a workstream.
    OwnProject,
    ResetNumbers,
    Tag,
    OtherWorkstreams,
    SeveralPackages,
    Converge,
    NextChannel,
}

/// Workflow, section, condition; in the order in which the sections come.
const SECTIONS: &[(&str, &str, Condition)] = &[
    ("execute-phase", "partial-wave", Condition::PartialWave),
    ("execute-phase", "gap-closure-artifacts", Condition::ClosesGaps),
    ("execute-phase", "regression-gate", Condition::EarlierResults),
    ("plan-phase", "reviews-prerequisite", Condition::Reviews),
    ("plan-phase", "prd-express-gate", Condition::RequirementsDocument),
    ("plan-phase", "adr-ingest-express-path", Condition::DecisionRecords),
    ("plan-phase", "research-only-modifiers", Condition::ResearchOnly),
    ("plan-phase", "research-only-early-exit", Condition::ResearchOnly),
    ("plan-phase", "chunked-planning-mode", Condition::Chunked),
    ("new-project", "auto-mode-detection", Condition::Auto),
    ("new-project", "codebase-map-offer", Condition::UnmappedCode),
    ("new-project", "auto-mode-config", Condition::Auto),
    ("quick", "discussion-phase", Condition::Discuss),
    ("quick", "research-phase", Condition::Research),
    ("quick", "plan-checker-loop", Condition::Validate),
    ("quick", "quick-verification", Condition::Validate),
    ("verify-work", "automated-ui-verification", Condition::UserInterface),
    ("verify-work", "mvp-uat-framing", Condition::Mvp),
    ("progress", "mvp-display", Condition::Mvp),
    ("progress", "forensic-audit", Condition::Forensic),
];

/// The sections of a workflow that run this time, those that do not, and the files to read.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct SectionManifest {
    workflow: &'static str,
    included: Vec<&'static str>,
    excluded: Vec<&'static str>,
    /// As the installed workflows name them.
    read: Vec<String>,
}

impl SectionManifest {
    /// The manifest of a workflow, given which conditions hold.
    pub(super) fn of(workflow: &'static str, holds: impl Fn(Condition) -> bool) -> Self {
        let rows = SECTIONS.iter().filter(|(of, ..)| *of == workflow);
        let (included, excluded): (Vec<_>, Vec<_>) = rows.partition(|(.., condition)| holds(*condition));
        let names = |rows: &[&(&str, &'static str, Condition)]| rows.iter().map(|(_, section, _)| *section).collect();
        let included: Vec<&'static str> = names(&included);
        let path = |section: &&str| format!("gsd-core/workflows/{workflow}/steps/{section}.md");
        Self { workflow, excluded: names(&excluded), read: included.iter().map(path).collect(), included }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_section_is_a_file_of_the_library() {
        for (workflow, section, _) in SECTIONS {
            let file = format!("{}/workflows/{workflow}/steps/{section}.md", env!("CARGO_MANIFEST_DIR"));
            assert!(Path::new(&file).is_file(), "no {file}");
        }
    }

    #[test]
    fn a_manifest_parts_the_sections_by_their_conditions() {
        let manifest = SectionManifest::of("new-project", |condition| condition == Condition::Auto);
        assert_eq!(manifest.included, ["auto-mode-detection", "auto-mode-config"]);
        assert_eq!(manifest.excluded, ["codebase-map-offer"]);
        assert_eq!(manifest.read[0], "gsd-core/workflows/new-project/steps/auto-mode-detection.md");
        assert_eq!(SectionManifest::of("no-such", |_| true).included, [""; 0]);
    }
}
