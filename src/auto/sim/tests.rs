//! The counts of the pipelines, and what a run does with agents that do not do what they should.

use proptest::prelude::*;

use super::actor::{Act, Change, Checks, Ideal};
use super::report::{MILESTONE, Options, SimReport, project, simulate, simulate_with};
use super::*;
use crate::auto::ceilings::Ceilings;
use crate::auto::event::{Death, Halt, Verdict};
use crate::auto::preferences::{Pipeline, Preferences, Profile};
use crate::auto::slices::forecast::Shape;
use crate::auto::stop::Cause;
use crate::auto::unit::UnitKind;

fn shape((slices, tasks): (usize, usize)) -> Shape {
    Shape { slices, tasks }
}

fn simple(sizes: (usize, usize)) -> Options {
    Options::new(shape(sizes))
}

fn classic(sizes: (usize, usize), profile: Profile) -> Options {
    Options { preferences: Preferences::of(Pipeline::Classic, profile), ..simple(sizes) }
}

fn run(options: &Options) -> SimReport {
    let report = simulate(options).unwrap();
    assert_eq!(report.stop.cause, Cause::Complete, "{:?}", report.stop);
    assert_eq!(report.forecast, report.sessions - usize::from(options.skips_first_slice), "{:?}", report.by_unit);
    report
}

fn sessions(options: &Options) -> usize {
    run(options).sessions
}

#[test]
fn criterion_4_2_1_the_simple_pipeline_takes_a_session_a_task_and_one_a_slice() {
    let counts = [(4, 3), (1, 2), (2, 3), (6, 4), (10, 5)].map(|sizes| sessions(&simple(sizes)));
    assert_eq!(counts, [16, 3, 8, 30, 60]);
}

#[test]
fn criterion_4_2_2_a_first_slice_that_is_planned_apart_costs_a_session() {
    let apart = |sizes| sessions(&Options { skips_first_slice: true, ..simple(sizes) });
    assert_eq!([(6, 4), (1, 2)].map(apart), [31, 4]);
}

#[test]
fn criterion_4_2_3_the_classic_pipeline_counts_by_its_formulas() {
    let count = |sizes, profile| sessions(&classic(sizes, profile));
    let profiles = [Profile::Quality, Profile::Balanced, Profile::Budget];
    assert_eq!(profiles.map(|profile| count((4, 3), profile)), [30, 27, 22]);
    assert_eq!([(1, 2), (2, 3), (6, 4)].map(|sizes| count(sizes, Profile::Quality)), [8, 16, 50]);
}

#[test]
fn criterion_4_2_4_the_published_column_assesses_after_the_last_slice_too() {
    let count = |sizes, profile| {
        let options = Options { reassesses_last: true, ..classic(sizes, profile) };
        simulate(&options).unwrap().sessions
    };
    assert_eq!(count((1, 2), Profile::Quality), 9);
    assert_eq!(count((2, 3), Profile::Quality), 17);
    assert_eq!(count((6, 4), Profile::Balanced), 46);
}

#[test]
fn criterion_4_2_5_profiles_do_not_change_the_simple_pipeline() {
    for profile in [Profile::Quality, Profile::Balanced, Profile::Budget] {
        let preferences = Preferences::of(Pipeline::Simple, profile);
        assert_eq!(sessions(&Options { preferences, ..simple((4, 3)) }), 16);
    }
}

#[test]
fn criterion_4_2_6_only_plans_and_tasks_take_sessions() {
    let report = run(&simple((4, 3)));
    let expected = [("execute-task", 12), ("plan-milestone", 1), ("plan-slice", 3)];
    assert_eq!(report.by_unit.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn criterion_4_2_7_slices_validation_and_milestone_are_closed_without_a_session() {
    let report = run(&simple((4, 3)));
    let expected = [("complete-milestone", 1), ("complete-slice", 4), ("validate-milestone", 1)];
    assert_eq!(report.mechanical.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn criterion_4_2_8_assessments_come_between_slices_only() {
    let mut options = simple((4, 3));
    options.preferences.reassess_after_slice = true;
    let report = run(&options);
    assert_eq!((report.sessions, report.by_unit["reassess-roadmap"]), (19, 3));
}

#[test]
fn criterion_4_2_9_every_slice_gets_its_acceptance_test() {
    let mut options = simple((4, 3));
    options.preferences.uat_dispatch = true;
    let report = run(&options);
    assert_eq!((report.sessions, report.by_unit["run-uat"]), (20, 4));
    options.last_slice_has_no_uat = true;
    let report = simulate(&options).unwrap();
    assert_eq!((report.sessions, report.by_unit["run-uat"]), (19, 3));
}
