//! Properties of every project.

use proptest::prelude::*;

use super::super::artifact;
use super::super::derive::{Phase, Scope};
use super::super::look::OutsideFacts;
use super::super::reading::Extent;
use super::forest::forest;
use super::{DerivedProject, path};
use crate::auto::memory::Memory;
use crate::auto::position::RuleResult;
use crate::auto::preferences::Preferences;
use crate::auto::unit::{Unit, UnitKind};
use crate::project::files::MemoryFiles;

fn found(files: &MemoryFiles, preferences: &Preferences) -> DerivedProject {
    DerivedProject::with(files, preferences, &Memory::default(), OutsideFacts::default())
}

/// Returns why a unit may not be started here; `None` if it may.
fn fault(found: &DerivedProject, unit: &Unit) -> Option<String> {
    let snapshot = &found.snapshot;
    let (milestone, slice, task) = unit.parts();
    let row = slice.and_then(|slice| snapshot.slice(milestone, slice));
    let rows = snapshot.milestone(milestone).and_then(|found| found.roadmap.as_deref()).unwrap_or_default();
    let is_done = |id: &String| rows.iter().any(|row| row.done && row.id.eq_ignore_ascii_case(id));
    let is_work = matches!(unit.kind, UnitKind::PlanSlice | UnitKind::ReplanSlice | UnitKind::ExecuteTask);
    if let Some(row) = row.filter(|_| is_work)
        && (row.done || row.deferred || !row.depends.iter().all(is_done))
    {
        return Some(format!("{} is not to be worked on", row.id));
    }
    let Some(task) = task else {
        return artifact::missing(unit, snapshot).is_empty().then(|| format!("{unit} is done"));
    };
    let tasks = snapshot.detail(milestone, slice?).and_then(|detail| detail.tasks.clone()).unwrap_or_default();
    let before = tasks.iter().take_while(|row| row.id != task).find(|row| !row.is_done());
    let own = tasks.iter().find(|row| row.id == task);
    match (before, own) {
        (Some(before), _) => Some(format!("{} is open", before.id)),
        (None, Some(own)) => own.is_done().then(|| format!("{unit} is done")),
        (None, None) => Some(format!("there is no {unit}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_state_is_derived_from_the_documents_only(
        (files, preferences) in forest(), noise in "[ -~\n]{0,200}", moment in any::<i64>(),
    ) {
        let one = found(&files, &preferences);
        let mut other = files.clone();
        for name in [
            "STATE.md", "CAPTURES.md", "KNOWLEDGE.md", "metrics.json", "completed-units.json", "auto.lock",
            "runtime/paused-session.json", "runtime/units/execute-task-M001-S01-T01.json", "activity/001-x.jsonl",
            "journal/2026-01-02.jsonl", "reports/x.html",
        ] {
            other.texts.insert(path(name), noise.clone());
        }
        other.changed = other.texts.keys().map(|path| (path.clone(), moment)).collect();
        let two = found(&other, &preferences);
        prop_assert_eq!(&one.snapshot, &two.snapshot);
        prop_assert_eq!(&one.state, &two.state);
        prop_assert_eq!(&one.position, &two.position);
        prop_assert_eq!(&one.state, &found(&files, &preferences).state);
        prop_assert!(one.snapshot.problems.is_empty(), "{:?}", one.snapshot.problems);
    }

    #[test]
    fn a_unit_starts_only_if_its_work_is_open_and_due((files, preferences) in forest()) {
        let found = found(&files, &preferences);
        if let RuleResult::Dispatch(unit) = &found.position.finding
            && found.position.blocked.is_none()
            && found.position.mechanical.is_none()
        {
            prop_assert_eq!(fault(&found, unit), None, "{}", found.shown());
        }
        // Every state has a rule.
        let is_known = !matches!(&found.position.finding, RuleResult::Stop(stop) if stop.cause == crate::auto::stop::Cause::Unhandled);
        prop_assert!(is_known || found.position.blocked.is_some() || found.state.registry.is_empty(), "{}", found.shown());
    }

    #[test]
    fn reading_only_what_a_decision_needs_gives_the_same_decision((files, preferences) in forest()) {
        let lazy = found(&files, &preferences);
        let full = DerivedProject::read(&files, Extent::All, &preferences, &Memory::default(), OutsideFacts::default());
        prop_assert_eq!(&lazy.state, &full.state);
        prop_assert_eq!(&lazy.position, &full.position);
        // The same for a run of one milestone among others.
        for milestone in &lazy.snapshot.milestones {
            let scope = Scope { milestone: Some(milestone.id.clone()), slice: None };
            let state = |extent| {
                let snapshot = super::super::reading::snapshot(&files, extent);
                super::super::derive::derive(&snapshot, &scope, &preferences)
            };
            prop_assert_eq!(state(Extent::Active(&scope)), state(Extent::All));
        }
    }
}

/// The generator reaches every phase that documents can lead to; otherwise the properties above would mean little.
#[test]
fn generated_projects_reach_every_phase() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..1500 {
        let (files, preferences) = forest().new_tree(&mut runner).unwrap().current();
        seen.insert(found(&files, &preferences).state.phase.word());
    }
    let expected = [
        Phase::PrePlanning,
        Phase::NeedsDiscussion,
        Phase::Planning,
        Phase::Refining,
        Phase::EvaluatingGates,
        Phase::Executing,
        Phase::Summarizing,
        Phase::ValidatingMilestone,
        Phase::CompletingMilestone,
        Phase::ReplanningSlice,
        Phase::EscalatingTask,
        Phase::Complete,
        Phase::Blocked,
    ];
    assert_eq!(seen, expected.into_iter().map(Phase::word).collect());
}
