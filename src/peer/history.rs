//! Collects what the summaries record for later phases, phase by phase, archived phases first.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::plan::PhaseSummary;
use crate::project::view::ProjectView;
use crate::text::front_matter::Value;

/// What `history-digest` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct HistoryReport {
    /// By the phase name in the summary, else by the folder.
    #[schemars(with = "BTreeMap<String, PhaseDigest>")]
    pub(crate) phases: PhaseMap,
    pub(crate) decisions: Vec<DecisionReport>,
    pub(crate) tech_stack: Vec<String>,
}

/// Phases in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct PhaseMap(Vec<(String, PhaseDigest)>);

impl Serialize for PhaseMap {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, digest)| (key, digest)))
    }
}

/// What one phase records for later ones.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PhaseDigest {
    pub(crate) name: String,
    pub(crate) provides: Vec<String>,
    pub(crate) affects: Vec<String>,
    pub(crate) patterns: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DecisionReport {
    pub(crate) phase: String,
    pub(crate) decision: String,
}

/// The digest of all summaries.
pub(crate) fn history(view: &ProjectView) -> Result<HistoryReport, FileError> {
    let mut report = HistoryReport::default();
    let mut archives = view.archives()?;
    archives.reverse();
    for (archive, label) in archives {
        for folder in view.read_folders(&archive, Some(&label))? {
            report.read(view, &folder)?;
        }
    }
    for folder in &view.all_phase_folders()? {
        report.read(view, folder)?;
    }
    let seen: BTreeSet<String> = report.tech_stack.drain(..).collect();
    report.tech_stack = seen.into_iter().collect();
    Ok(report)
}

impl HistoryReport {
    fn read(&mut self, view: &ProjectView, folder: &PhaseFolder) -> Result<(), FileError> {
        for file in folder.summaries() {
            let Some(text) = view.text(&folder.join(file))? else { continue };
            let summary = PhaseSummary::parse(&text);
            let named = summary.value("phase").and_then(|phase| phase.as_text().map(|text| text.trim().to_owned()));
            let key = named.filter(|name| !name.is_empty()).unwrap_or_else(|| folder.name.clone());
            let at = self.phases.0.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
                let digest = PhaseDigest { name: folder.slug().replace('-', " "), ..PhaseDigest::default() };
                self.phases.0.push((key.clone(), digest));
                self.phases.0.len() - 1
            });
            let graph = |name: &str| {
                let inside = summary.value("dependency-graph").and_then(|graph| graph.get(name).cloned());
                texts(inside.or_else(|| summary.value(name)))
            };
            let digest = &mut self.phases.0[at].1;
            extend(&mut digest.provides, graph("provides"));
            extend(&mut digest.affects, graph("affects"));
            extend(&mut digest.patterns, texts(summary.value("patterns-established")));
            let decisions = texts(summary.value("key-decisions"));
            self.decisions
                .extend(decisions.into_iter().map(|decision| DecisionReport { phase: key.clone(), decision }));
            let stack = summary.value("tech-stack").and_then(|stack| stack.get("added").cloned());
            self.tech_stack.extend(texts(stack));
        }
        Ok(())
    }
}

/// The items of a list, each on one line; a single text is a list of one.
fn texts(value: Option<Value>) -> Vec<String> {
    let Some(value) = value else { return Vec::new() };
    let texts = match value.as_text() {
        Some(text) => vec![text.trim().to_owned()],
        None => value.items().iter().map(Value::flat).collect(),
    };
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

fn extend(known: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        if !known.contains(&text) {
            known.push(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_summary_adds_to_its_phase() {
        let files = [
            (".planning/milestones/v1.0-phases/01-old-base/01-01-SUMMARY.md", "---\nprovides: one thing\n---\n"),
            (
                ".planning/phases/02-b/02-01-SUMMARY.md",
                "---\nphase: 02-b\nprovides: [x]\naffects: [y]\nkey-decisions:\n  - \"a: b\"\ntech-stack:\n  added: [z, a]\n---\n",
            ),
            (
                ".planning/phases/02-b/02-02-SUMMARY.md",
                "---\nphase: 02-b\ndependency-graph:\n  provides: [x, w]\n---\n",
            ),
            (".planning/phases/03-c/03-01-SUMMARY.md", "no front matter"),
        ];
        let view = ProjectView::of(files);
        let report = history(&view).unwrap();
        let phases: Vec<_> = report.phases.0.iter().map(|(key, digest)| (key.as_str(), digest)).collect();
        assert_eq!(phases[0].0, "01-old-base");
        assert_eq!((phases[0].1.name.as_str(), &phases[0].1.provides), ("old base", &vec!["one thing".to_owned()]));
        assert_eq!(
            (phases[1].0, phases[1].1.provides.len(), &phases[1].1.affects[..]),
            ("02-b", 2, &["y".to_owned()][..])
        );
        assert_eq!(phases[2].0, "03-c");
        assert_eq!(report.decisions, [DecisionReport { phase: "02-b".into(), decision: "a: b".into() }]);
        assert_eq!(report.tech_stack, ["a", "z"]);
    }
}
