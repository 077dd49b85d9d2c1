//! Which conditional sections of a workflow run this time.
//!
//! A workflow lists its sections in its front matter, in the order in which they come, each with the word of its condition.
//! What a workflow starts from decides the conditions that it knows of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::library::{self, FrontMatter};
use crate::text::words;

/// What makes a section run, in the words of front matter. Some are decided that no workflow names: a section that needs
/// one of them is then text alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

/// What makes a section of a workflow run whose front matter says all that it starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// The flag was given.
    Flag(String),
    /// The setting is on.
    Setting(String),
    /// The phase has a document of this kind, such as `UI-SPEC`.
    Has(String),
    Lacks(String),
}

impl When {
    /// `flag fix`, `setting workflow.tdd_mode`, `has UI-SPEC` or `lacks UI-SPEC`.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (word, name) = text.split_once(' ')?;
        let make = match word {
            "flag" => Self::Flag,
            "setting" => Self::Setting,
            "has" => Self::Has,
            "lacks" => Self::Lacks,
            _ => return None,
        };
        Some(make(name.to_owned()))
    }
}

/// The sections of a workflow that run this time, those that do not, and the files to read.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct SectionManifest {
    workflow: String,
    included: Vec<String>,
    excluded: Vec<String>,
    /// As the installed workflows name them.
    read: Vec<String>,
}

impl SectionManifest {
    /// The manifest of a workflow, given which of its conditions hold.
    pub(super) fn of(workflow: &'static str, decided: &[(Condition, bool)]) -> Self {
        let front_matter = library::front_matter_of(&format!("workflows/{workflow}.md")).unwrap_or_default();
        // A test holds that no section has a condition that its workflow does not decide.
        Self::parted(workflow, &front_matter, |word| {
            let condition = words::of_word::<Condition>(word);
            decided.iter().find(|(known, _)| Some(*known) == condition).map(|(_, holds)| *holds)
        })
    }

    /// The manifest of a workflow whose front matter says when its sections run.
    pub(super) fn gathered(workflow: &str, front_matter: &FrontMatter, holds: impl Fn(&When) -> bool) -> Self {
        Self::parted(workflow, front_matter, |word| When::of(word).as_ref().map(&holds))
    }

    fn parted(workflow: &str, front_matter: &FrontMatter, decide: impl Fn(&str) -> Option<bool>) -> Self {
        let mut manifest =
            Self { workflow: workflow.to_owned(), included: Vec::new(), excluded: Vec::new(), read: Vec::new() };
        for (section, word) in front_matter.pairs("sections") {
            match decide(word) {
                Some(true) => {
                    manifest.included.push(section.clone());
                    manifest.read.push(format!("gsd-core/workflows/{workflow}/steps/{section}.md"));
                }
                Some(false) => manifest.excluded.push(section.clone()),
                None => {}
            }
        }
        manifest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{ItemKind, Library};

    #[test]
    fn every_condition_of_a_section_has_a_known_word() {
        for item in Library::embedded().unwrap().items() {
            for (section, word) in item.front_matter.pairs("sections") {
                assert!(
                    words::of_word::<Condition>(word).is_some() || When::of(word).is_some(),
                    "{}: {section}: no condition is called `{word}`",
                    item.path
                );
            }
        }
        assert_eq!(words::of_word::<Condition>("user-interface"), Some(Condition::UserInterface));
        assert_eq!(words::of_word::<Condition>("UserInterface"), None);
    }

    #[test]
    fn every_step_is_a_section_of_its_workflow_or_named_where_it_is_read() {
        let library = Library::embedded().unwrap();
        let mut faults = Vec::new();
        for item in library.of_kind(ItemKind::Workflow) {
            let sections = item.front_matter.pairs("sections");
            let file = |section: &str| format!("workflows/{}/steps/{section}.md", item.name);
            let missing = sections.iter().map(|(section, _)| file(section)).filter(|path| library.at(path).is_none());
            faults.extend(missing.map(|path| format!("{} lists {path}, which is not there", item.path)));
            let Some((workflow, step)) = item.name.as_str().split_once("/steps/") else { continue };
            let owner = library.at(&format!("workflows/{workflow}.md"));
            let is_listed = owner
                .is_some_and(|owner| owner.front_matter.pairs("sections").iter().any(|(section, _)| section == step));
            let is_named = || library.items().any(|other| other.path != item.path && other.body.contains(&item.path));
            if !is_listed && !is_named() {
                faults.push(format!("nothing reads {}", item.path));
            }
        }
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    }

    #[test]
    fn a_manifest_parts_the_sections_by_their_conditions() {
        let decided = [(Condition::UnmappedCode, false), (Condition::Auto, true)];
        let manifest = SectionManifest::of("new-project", &decided);
        assert_eq!(manifest.included, ["auto-mode-detection", "auto-mode-config"]);
        assert_eq!(manifest.excluded, ["codebase-map-offer"]);
        assert_eq!(manifest.read[0], "gsd-core/workflows/new-project/steps/auto-mode-detection.md");
        assert_eq!(SectionManifest::of("no-such", &decided).included, [""; 0]);
    }
}
