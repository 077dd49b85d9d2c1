//! Selects the conditional sections of a workflow that run this time.
//!
//! A workflow lists its sections in its front matter in order, each with its condition.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::find;
use crate::operations::facts::{AskedPhase, FactBasis, Given, facts};
use crate::project::files::FileError;

/// The condition of a section of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// The flag was given.
    Flag(String),
    /// The setting is on.
    Setting(String),
    /// The fact is true.
    Fact(String),
    /// The phase has a document of this kind, such as `UI-SPEC`.
    Has(String),
    Lacks(String),
}

impl When {
    /// Parses `flag fix`, `setting workflow.tdd_mode`, `fact mvp_mode`, `has UI-SPEC` or `lacks UI-SPEC`.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (word, name) = text.split_once(' ')?;
        let make = match word {
            "flag" => Self::Flag,
            "setting" => Self::Setting,
            "fact" => Self::Fact,
            "has" => Self::Has,
            "lacks" => Self::Lacks,
            _ => return None,
        };
        Some(make(name.to_owned()))
    }

    fn holds(&self, given: &Given<'_>) -> Result<bool, FileError> {
        let has = |kind: &str| Ok(given.part::<AskedPhase>()?.artifact(given, kind).is_some());
        match self {
            Self::Flag(flag) => Ok(given.asked(flag)),
            Self::Setting(key) => Ok(given.flag(key)),
            Self::Has(kind) => has(kind),
            Self::Lacks(kind) => has(kind).map(|has| !has),
            Self::Fact(name) => match find(name) {
                Some(fact) => Ok((fact.value)(given)? == Some(Value::Bool(true))),
                None => Ok(false),
            },
        }
    }
}

/// The sections of a workflow that run this time, those that do not run, and the files to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct SectionManifest {
    workflow: String,
    included: Vec<String>,
    excluded: Vec<String>,
    /// The files, as the installed workflows name them.
    read: Vec<String>,
}

impl FactBasis for SectionManifest {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let workflow = &given.call.workflow;
        let mut manifest =
            Self { workflow: workflow.clone(), included: Vec::new(), excluded: Vec::new(), read: Vec::new() };
        for (section, word) in given.call.front_matter.pairs("sections") {
            // A test checks that every section has a condition.
            let Some(when) = When::of(word) else { continue };
            if when.holds(given)? {
                manifest.included.push(section.clone());
                manifest.read.push(format!("gsd-core/workflows/{workflow}/steps/{section}.md"));
            } else {
                manifest.excluded.push(section.clone());
            }
        }
        Ok(manifest)
    }
}

facts! { |given|
    /// The workflow that this context is for.
    workflow: String = given.call.workflow.clone();
    /// The sections of the workflow that run this time, those that do not run, and the files to read.
    section_manifest: SectionManifest = (*given.part::<SectionManifest>()?).clone();
    /// Null: the workflow has no conditional sections.
    no_section_manifest: Option<SectionManifest> = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{ItemKind, Library};
    use crate::operations::facts::{FactsCall, Host};
    use crate::project::config::Config;
    use crate::project::view::ProjectView;

    #[test]
    fn every_section_has_a_condition() {
        for item in Library::embedded().unwrap().items() {
            for (section, word) in item.front_matter.pairs("sections") {
                assert!(When::of(word).is_some(), "{}: {section}: no condition has the form `{word}`", item.path);
            }
        }
        assert_eq!(When::of("fact mvp_mode"), Some(When::Fact("mvp_mode".to_owned())));
        assert_eq!((When::of("mvp"), When::of("given fix")), (None, None));
    }

    #[test]
    fn every_step_is_a_section_of_its_workflow_or_named_in_a_text() {
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
    fn a_manifest_splits_the_sections_by_their_conditions() {
        let manifest = |workflow: &str| {
            let (view, config, host) = (ProjectView::of([]), Config::default(), Host::default());
            let call = FactsCall::of(workflow).flag("auto", true);
            let given = Given { view: &view, config: &config, host: &host, call };
            (*given.part::<SectionManifest>().unwrap()).clone()
        };
        let told = manifest("new-project");
        assert_eq!(told.included, ["auto-mode-detection", "auto-mode-config"]);
        assert_eq!(told.excluded, ["codebase-map-offer"]);
        assert_eq!(told.read[0], "gsd-core/workflows/new-project/steps/auto-mode-detection.md");
        assert_eq!(manifest("no-such").included, [""; 0]);
    }
}
