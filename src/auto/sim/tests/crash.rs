//! Processes that die, and the state that a person finds then.

use std::collections::BTreeSet;

use super::*;
use crate::auto::memory::Memory;
use crate::project::milestone_layout::evidence::TaskEvidence;
use crate::project::milestone_layout::milestone_summary::Ending;
use crate::project::milestone_layout::record;
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::validation::{Validation, ValidationVerdict};

/// Continues until the run stops; the process dies this many effects after its start, once for each number. `look` is
/// called with the project as each of them left it.
fn with_deaths(simulated: &mut Simulated, options: &Options, deaths: &[u64], look: &mut dyn FnMut(&Simulated)) -> Stop {
    let settings = options.settings();
    let mut deaths = deaths.iter();
    simulated.dies_at = deaths.next().copied();
    loop {
        match simulated.go_on(&settings) {
            Ok(stop) => return stop,
            Err(EngineError::Died) => {
                look(simulated);
                simulated.dies_at = deaths.next().map(|more| simulated.effects + more);
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn begun(files: MemoryFiles, actor: impl Actor + 'static) -> Simulated {
    let mut simulated = Simulated::new(files, actor);
    simulated.begin(MILESTONE, false, 20, &Ceilings::default());
    simulated
}

/// Returns what landed, without the records of checks, which contain times.
fn landed(project: &Simulated) -> BTreeMap<String, String> {
    let texts = project.landed_texts().expect("something has landed").iter();
    let timeless = texts.filter(|(path, _)| !path.ends_with("-VERIFY.json"));
    timeless.map(|(path, text)| (path.clone(), text.clone())).collect()
}

#[test]
fn a_process_that_dies_at_any_effect_ends_in_the_same_files() {
    let mut whole = begun(project(), small().ideal());
    with_deaths(&mut whole, &small(), &[], &mut |_| {});
    assert!(whole.effects > 50, "{}", whole.effects);
    let mut between = BTreeSet::new();
    for effect in 1..=whole.effects {
        let mut simulated = begun(project(), small().ideal());
        let stop = with_deaths(&mut simulated, &small(), &[effect], &mut |dead| {
            let texts = &dead.files.texts;
            let has = |kind: &str| texts.keys().any(|path| path.ends_with(&format!("S01-{kind}.md")));
            let roadmap = texts.get(".gsd/milestones/M001/M001-ROADMAP.md");
            let is_ticked = roadmap.is_some_and(|text| text.contains("- [x] **S01:"));
            between.insert((has("SUMMARY"), has("UAT"), is_ticked));
        });
        assert_eq!(stop.cause, Cause::Complete, "effect {effect}: {stop:?}");
        assert!(simulated.sessions.len() <= whole.sessions.len() + 1, "effect {effect}: {:?}", simulated.sessions);
        assert_eq!(simulated.landed.len(), 1, "effect {effect}");
        assert_eq!(landed(&simulated), landed(&whole), "effect {effect}");
    }
    let expected = [(false, false, false), (true, false, false), (true, true, false), (true, true, true)];
    assert_eq!(between, expected.into(), "it dies between the documents of a slice, and the box comes last");
}

/// Returns faults that must never be in a project, however the run was interrupted.
fn faults(files: &MemoryFiles) -> Vec<String> {
    let text = |path: &str| files.texts.get(path).map(String::as_str).unwrap_or_default();
    let folder = ".gsd/milestones/M001";
    let mut faults = Vec::new();
    for row in &Roadmap::parse(text(&format!("{folder}/M001-ROADMAP.md"))).slices {
        let here = format!("{folder}/slices/{0}/{0}", row.id);
        if row.done && (text(&format!("{here}-SUMMARY.md")).is_empty() || text(&format!("{here}-UAT.md")).is_empty()) {
            faults.push(format!("{} is ticked without its documents", row.id));
        }
        for task in SlicePlan::parse(text(&format!("{here}-PLAN.md"))).tasks {
            let path = format!("{folder}/slices/{}/tasks/{}-VERIFY.json", row.id, task.id);
            let evidence = record::read::<TaskEvidence>(&path, text(&path)).ok();
            if task.done && !evidence.is_some_and(|evidence| evidence.is_pass()) {
                faults.push(format!("{} of {} is ticked without a check that passed", task.id, row.id));
            }
        }
    }
    let summary = text(&format!("{folder}/M001-SUMMARY.md"));
    let validation = Validation::parse(text(&format!("{folder}/M001-VALIDATION.md")));
    if !summary.is_empty() && Ending::of(summary).is_terminal() && validation.verdict != Some(ValidationVerdict::Pass) {
        faults.push("the milestone is summarized without a validation that passed".to_owned());
    }
    faults
}

/// Asserts that no state at any effect has a fault: a process may die at each of them.
fn assert_no_fault_anywhere(options: &Options, actor: impl Actor + 'static) {
    let mut simulated = begun(project(), actor);
    simulated.states = Some(Vec::new());
    with_deaths(&mut simulated, options, &[], &mut |_| {});
    let states = simulated.states.unwrap();
    assert!(states.len() > 10, "{}", states.len());
    for (index, files) in states.iter().enumerate() {
        assert_eq!(faults(files), [""; 0], "state {index}");
    }
}

#[test]
fn no_task_is_ticked_before_its_checks_have_passed() {
    let red = |attempts| Red { ideal: small().ideal(), attempts, candidate: false, runs: 0 };
    assert_no_fault_anywhere(&small(), red(1));
    assert_no_fault_anywhere(&small(), red(u32::MAX));
    let mut by_agents = small();
    by_agents.preferences.is_mechanical = false;
    assert_no_fault_anywhere(&by_agents, red(1));
}

#[test]
fn closed_slices_and_milestones_have_their_documents_and_validation() {
    let mut tested = small();
    tested.preferences.uat_dispatch = true;
    for options in [small(), tested, Options { is_thin: true, ..small() }] {
        assert_no_fault_anywhere(&options, options.ideal());
    }
}

/// The options of a small run of any kind.
fn any_options() -> impl Strategy<Value = Options> {
    let flags = proptest::collection::vec(any::<bool>(), 5);
    (1_usize..3, 1_usize..3, flags).prop_map(|(slices, tasks, flags)| {
        let pipeline = if flags[0] { Pipeline::Classic } else { Pipeline::Simple };
        let mut preferences = Preferences::of(pipeline, Profile::Quality);
        preferences.uat_dispatch = flags[1];
        preferences.reassess_after_slice |= flags[2];
        Options { preferences, is_thin: flags[3], skips_first_slice: flags[4], ..simple((slices, tasks)) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_run_ends_in_the_same_files_however_often_it_dies(
        options in any_options(), deaths in proptest::collection::vec(1_u64..80, 0..5),
    ) {
        let mut whole = begun(project(), options.ideal());
        with_deaths(&mut whole, &options, &[], &mut |_| {});
        let mut died = 0;
        let mut simulated = begun(project(), options.ideal());
        let stop = with_deaths(&mut simulated, &options, &deaths, &mut |_| died += 1);
        prop_assert_eq!(stop.cause, Cause::Complete, "{:?}", stop);
        prop_assert_eq!(landed(&simulated), landed(&whole));
        prop_assert!(simulated.sessions.len() <= whole.sessions.len() + died, "{:?}", simulated.sessions);
        prop_assert_eq!((simulated.landed.len(), simulated.is_released), (1, true));
    }

    #[test]
    fn spending_is_the_sum_of_the_sessions_and_only_grows(
        options in any_options(), deaths in proptest::collection::vec(1_u64..80, 0..5),
    ) {
        let mut simulated = begun(project(), options.ideal());
        with_deaths(&mut simulated, &options, &deaths, &mut |_| {});
        let (mut sessions, mut tokens, mut money) = (0, 0, 0.0);
        let (mut operations, mut ends) = (Vec::new(), BTreeSet::new());
        let mut memory = Memory::default();
        for entry in &simulated.log {
            let before = memory.spent;
            memory.add(entry);
            prop_assert!(memory.spent.sessions >= before.sessions && memory.spent.tokens >= before.tokens);
            prop_assert!(memory.spent.money.unwrap_or(0.0) >= before.money.unwrap_or(0.0));
            match &entry.event {
                Event::UnitStarted(start) => {
                    sessions += 1;
                    prop_assert!(operations.last().is_none_or(|last| *last < start.operation), "{:?}", start);
                    operations.push(start.operation);
                }
                Event::UnitEnded(ended) => {
                    tokens += ended.usage.input + ended.usage.output;
                    money += ended.money.unwrap_or(0.0);
                    prop_assert!(ends.insert(ended.operation), "operation {} ends twice", ended.operation);
                }
                _ => {}
            }
        }
        prop_assert_eq!((memory.spent.sessions, memory.spent.tokens), (sessions, tokens));
        prop_assert!((memory.spent.money.unwrap_or(0.0) - money).abs() < 1e-9);
        prop_assert_eq!(memory.attempts.values().map(|attempts| attempts.sessions).sum::<u32>(), sessions);
        // A session is counted before it is started, and the process may die in between.
        let (started, counted) = (simulated.sessions.len(), usize::try_from(sessions).unwrap());
        prop_assert!(started <= counted && counted <= started + deaths.len(), "{started} of {counted}");
    }
}
