//! Captures in memory: their sessions, what follows from them, and processes that die meanwhile.

use super::*;
use crate::project::milestone_layout::captures::{self, CaptureStatus};
use crate::project::milestone_layout::slice_plan::SlicePlan;

const PATH: &str = ".gsd/CAPTURES.md";
const TEXTS: [&str; 5] =
    ["inject: a third part", "one quick change", "note: nice", "defer: sort it", "replan: parts first"];

/// A milestone whose documents have these captures from the start.
fn begun(texts: &[&str]) -> Simulated {
    let mut files = project();
    let mut document = String::new();
    for (number, text) in texts.iter().enumerate() {
        document = captures::append(&document, &format!("CAP-0000000{number}"), "2026-01-02T03:04:05Z", text);
    }
    files.texts.insert(PATH.to_owned(), document);
    let mut simulated = Simulated::new(files, simple((1, 2)).ideal());
    simulated.begin(MILESTONE, false, 20, &Ceilings::default());
    simulated
}

/// Returns what landed, without times.
fn landed(project: &Simulated) -> BTreeMap<String, String> {
    let texts = project.landed_texts().expect("something has landed").iter();
    let timeless = texts.filter(|(path, _)| !path.ends_with("-VERIFY.json"));
    let is_time =
        |line: &&str| ["**Resolved:", "**Executed:", "**Triggered:"].iter().any(|label| line.starts_with(label));
    let without = |text: &str| text.lines().filter(|line| !is_time(line)).collect::<Vec<_>>().join("\n");
    timeless.map(|(path, text)| (path.clone(), without(text))).collect()
}

fn units(simulated: &Simulated, kind: UnitKind) -> usize {
    simulated.sessions.iter().filter(|unit| unit.kind == kind).count()
}

#[test]
fn each_class_is_carried_out_once_wherever_the_process_dies() {
    let settings = simple((1, 2)).settings();
    let mut whole = begun(&TEXTS);
    assert_eq!(whole.go_on(&settings).unwrap().cause, Cause::Complete);
    let kinds = [UnitKind::TriageCaptures, UnitKind::QuickTask, UnitKind::ReplanSlice];
    assert_eq!(kinds.map(|kind| units(&whole, kind)), [1, 1, 1]);
    let files = landed(&whole);
    let found = captures::read(&files[PATH]);
    assert!(found.iter().all(|capture| capture.status == CaptureStatus::Resolved), "{}", files[PATH]);
    let plan = SlicePlan::parse(&files[".gsd/milestones/M001/slices/S01/S01-PLAN.md"]);
    assert_eq!(plan.tasks.len(), 3, "{plan:?}");
    assert!(plan.task("T03").is_some_and(|task| task.done && task.title == "inject: a third part"), "{plan:?}");
    for effect in 1..=whole.effects {
        let mut simulated = begun(&TEXTS);
        simulated.dies_at = Some(effect);
        let stop = to_its_end(&mut simulated, &settings).unwrap();
        assert_eq!(stop.cause, Cause::Complete, "effect {effect}: {stop:?}");
        assert!(simulated.sessions.len() <= whole.sessions.len() + 1, "effect {effect}: {:?}", simulated.sessions);
        assert!(landed(&simulated) == files, "effect {effect}: {}", simulated.files.texts[PATH]);
        let memory = Memory::of(&simulated.log);
        assert_eq!(memory.accepted.get(&UnitKind::QuickTask), Some(&1), "effect {effect}");
    }
}

#[test]
fn without_captures_nothing_changes_and_resolved_ones_are_left_alone() {
    let report = run(&simple((1, 2)));
    let mut simulated = begun(&["note: x"]);
    let text = simulated.files.texts[PATH].replace("pending", "resolved");
    simulated.files.texts.insert(PATH.to_owned(), text.clone());
    assert_eq!(simulated.go_on(&simple((1, 2)).settings()).unwrap().cause, Cause::Complete);
    assert_eq!(simulated.sessions.len(), report.sessions);
    assert_eq!(simulated.landed_texts().unwrap()[PATH], text);
}

#[test]
fn the_attempts_of_a_triage_do_not_count_for_the_next_one() {
    let mut simulated = begun(&["note: first"]);
    simulated.actor = Box::new(Sometimes {
        ideal: small().ideal(),
        kind: UnitKind::TriageCaptures,
        times: 2,
        act: SessionActs::done(vec![(PATH.to_owned(), "changed\n".to_owned())]),
    });
    let settings = Settings { most_units: Some(2), ..small().settings() };
    let stop = simulated.go_on(&settings).unwrap();
    assert_eq!(stop.cause, Cause::NoProgress, "{stop:?}");
    let refused = |event: &Event| matches!(event, Event::Refused { text, .. } if text.contains("may not change"));
    assert_eq!(simulated.log.iter().filter(|entry| refused(&entry.event)).count(), 2);
    assert!(simulated.files.texts[PATH].contains("note: first"), "the document is put back");
}
