//! The session counts of the pipelines, and the reactions of a run to agents that misbehave.

mod accounts;
mod captures;
mod closing;
mod crash;
mod invariants;
mod landing;
mod messages;
mod migration;
mod replanned;
mod unit_hooks;

use proptest::prelude::*;

use super::actor::{ActorEdit, Checks, Ideal, SessionActs};
use super::report::{MILESTONE, Options, SimReport, project, simulate, simulate_with, to_its_end};
use super::*;
use crate::auto::ceilings::Ceilings;
use crate::auto::event::{Death, Halt, SessionVerdict};
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
fn the_simple_pipeline_takes_one_session_per_task_and_one_per_slice() {
    let counts = [(4, 3), (1, 2), (2, 3), (6, 4), (10, 5)].map(|sizes| sessions(&simple(sizes)));
    assert_eq!(counts, [16, 3, 8, 30, 60]);
}

#[test]
fn a_first_slice_that_is_planned_separately_costs_a_session() {
    let apart = |sizes| sessions(&Options { skips_first_slice: true, ..simple(sizes) });
    assert_eq!([(6, 4), (1, 2)].map(apart), [31, 4]);
}

#[test]
fn the_classic_pipeline_counts_by_its_formulas() {
    let count = |sizes, profile| sessions(&classic(sizes, profile));
    let profiles = [Profile::Quality, Profile::Balanced, Profile::Budget];
    assert_eq!(profiles.map(|profile| count((4, 3), profile)), [30, 27, 22]);
    assert_eq!([(1, 2), (2, 3), (6, 4)].map(|sizes| count(sizes, Profile::Quality)), [8, 16, 50]);
    // What is neither a plan nor a task.
    assert_eq!(profiles.map(|profile| run(&classic((4, 3), profile)).ceremony), [13, 10, 5]);
    assert_eq!(run(&simple((4, 3))).ceremony, 0);
}

#[test]
fn the_published_column_assesses_after_the_last_slice_too() {
    let count = |sizes, profile| {
        let options = Options { reassesses_last: true, ..classic(sizes, profile) };
        simulate(&options).unwrap().sessions
    };
    assert_eq!(count((1, 2), Profile::Quality), 9);
    assert_eq!(count((2, 3), Profile::Quality), 17);
    assert_eq!(count((6, 4), Profile::Balanced), 46);
}

#[test]
fn profiles_do_not_change_the_simple_pipeline() {
    for profile in [Profile::Quality, Profile::Balanced, Profile::Budget] {
        let preferences = Preferences::of(Pipeline::Simple, profile);
        assert_eq!(sessions(&Options { preferences, ..simple((4, 3)) }), 16);
    }
}

#[test]
fn only_plans_and_tasks_take_sessions() {
    let report = run(&simple((4, 3)));
    let expected = [("execute-task", 12), ("plan-milestone", 1), ("plan-slice", 3)];
    assert_eq!(report.by_unit.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn slices_validation_and_milestone_are_closed_without_a_session() {
    let report = run(&simple((4, 3)));
    let expected = [("complete-milestone", 1), ("complete-slice", 4), ("validate-milestone", 1)];
    assert_eq!(report.mechanical.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn assessments_come_between_slices_only() {
    let mut options = simple((4, 3));
    options.preferences.reassess_after_slice = true;
    let report = run(&options);
    assert_eq!((report.sessions, report.by_unit["reassess-roadmap"]), (19, 3));
}

#[test]
fn every_slice_gets_its_acceptance_test() {
    let mut options = simple((4, 3));
    options.preferences.uat_dispatch = true;
    let report = run(&options);
    assert_eq!((report.sessions, report.by_unit["run-uat"]), (20, 4));
    options.last_slice_has_no_uat = true;
    let report = simulate(&options).unwrap();
    assert_eq!((report.sessions, report.by_unit["run-uat"]), (19, 3));
}

/// A run of two slices with two tasks each.
fn small() -> Options {
    simple((2, 2))
}

#[test]
fn thin_summaries_need_a_session_to_close_the_slice() {
    let report = simulate(&Options { is_thin: true, ..simple((1, 2)) }).unwrap();
    assert_eq!(report.by_unit["complete-slice"], 1);
    assert_eq!(report.stop.cause, Cause::Complete);
}

/// An agent whose first sessions for some units end differently.
#[derive(Debug)]
struct Sometimes {
    ideal: Ideal,
    /// The kind of unit, how often, and the session's actions then.
    kind: UnitKind,
    times: u32,
    act: SessionActs,
}

impl Actor for Sometimes {
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs {
        if session.unit.kind == self.kind && self.times > 0 {
            self.times -= 1;
            return self.act.clone();
        }
        self.ideal.act(session, files)
    }
}

fn sometimes(kind: UnitKind, times: u32, act: SessionActs) -> (SimReport, Simulated) {
    simulate_with(&small(), Sometimes { ideal: small().ideal(), kind, times, act }).unwrap()
}

#[test]
fn an_agent_that_writes_nothing_is_tried_again_until_nothing_changes() {
    let nothing = || SessionActs::done(Vec::new());
    let (report, _) = sometimes(UnitKind::ExecuteTask, 1, nothing());
    assert_eq!((report.stop.cause, report.sessions), (Cause::Complete, 7));
    let (report, project) = sometimes(UnitKind::ExecuteTask, u32::MAX, nothing());
    assert_eq!(report.stop.cause, Cause::NoProgress);
    assert_eq!(project.sessions.iter().filter(|unit| unit.kind == UnitKind::ExecuteTask).count(), 2);
    assert!(project.landed.is_empty());
}

#[test]
fn a_plan_that_writes_outside_the_planning_folder_is_taken_back() {
    let outside = SessionActs::done(vec![("src/x.txt".to_owned(), "x".to_owned())]);
    let (report, project) = sometimes(UnitKind::PlanSlice, 1, outside);
    assert_eq!(report.stop.cause, Cause::Complete);
    assert!(!project.landed_texts().unwrap().contains_key("src/x.txt"));
}

#[test]
fn an_attempt_with_a_key_does_not_count_and_a_merge_with_one_does_not_land() {
    const KEY: &str = "token = ghp_0123456789abcdefABCDEF\n";
    let mut work = made_task("S01", "T01");
    work.push(("src/settings.txt".to_owned(), KEY.to_owned()));
    let act = SessionActs::done(work);
    // The work of the first attempt is taken back, including the key.
    let (report, project) = sometimes(UnitKind::ExecuteTask, 1, act.clone());
    assert_eq!((report.stop.cause, report.sessions), (Cause::Complete, 7), "{:?}", report.stop);
    assert!(!project.landed_texts().unwrap().contains_key("src/settings.txt"));
    let (report, project) = sometimes(UnitKind::ExecuteTask, u32::MAX, act);
    assert_eq!((report.stop.cause, report.sessions), (Cause::SecretAdded, 3), "{:?}", report.stop);
    assert!(report.stop.evidence[0].starts_with("src/settings.txt:1: "), "{:?}", report.stop);
    assert!(project.landed.is_empty());
    let mut project = Simulated::new(super::report::project(), small().ideal());
    project.begin(MILESTONE, false, 20, &Ceilings::default());
    project.go_on(&Settings { most_units: Some(2), ..small().settings() }).unwrap();
    project.files.texts.insert("src/settings.txt".to_owned(), KEY.to_owned());
    let at = project.now();
    project.log.push(Entry { at, event: resumed(&[]) });
    let stop = project.go_on(&small().settings()).unwrap();
    assert_eq!(stop.cause, Cause::SecretAdded);
    assert!(project.landed.is_empty());
    let at = project.now();
    project.log.push(Entry { at, event: resumed(&["src/*"]) });
    assert_eq!(project.go_on(&small().settings()).unwrap().cause, Cause::Complete);
}

/// A person continues the run, and allows these files to contain keys.
fn resumed(allowed_keys: &[&str]) -> Event {
    let allowed_keys = allowed_keys.iter().map(|path| (*path).to_owned()).collect();
    let (runner, profile) = (String::new(), String::new());
    let (ceilings, means) = (Ceilings::default(), crate::auto::event::Means::default());
    Event::Resumed {
        engine: 1,
        process: 2,
        runner,
        profile,
        ceilings,
        allowed_keys,
        fenced: None,
        reviewed: None,
        means,
    }
}

#[test]
fn a_session_without_a_final_message_is_not_done_whatever_it_wrote() {
    let whole = made_task("S01", "T01");
    let act = SessionActs {
        verdict: SessionVerdict::NoSignal { exit: Some(0), signal: None, text: String::new() },
        ..SessionActs::done(whole)
    };
    let (report, project) = sometimes(UnitKind::ExecuteTask, 1, act);
    assert_eq!(report.stop.cause, Cause::Complete);
    let tried = project.sessions.iter().filter(|unit| unit.id == "M001/S01/T01").count();
    assert_eq!(tried, 2, "{:?}", project.sessions);
}

fn made_task(slice: &str, task: &str) -> Vec<(String, String)> {
    let unit = Unit::new(UnitKind::ExecuteTask, format!("{MILESTONE}/{slice}/{task}"));
    small().ideal().documents(&unit, &BTreeMap::new())
}

#[test]
fn a_quota_is_waited_for_and_costs_no_attempt() {
    let reset = 1_790_000_900_000;
    let dead = SessionVerdict::Dead { cause: Death::Quota, resets_at: Some(reset), text: "used up".to_owned() };
    let (report, project) = sometimes(UnitKind::ExecuteTask, 1, SessionActs::ended(dead));
    assert_eq!((report.stop.cause, report.sessions), (Cause::Complete, 7));
    let began = |entry: &&Entry| matches!(&entry.event, Event::UnitStarted(start) if start.attempt == 1);
    let after = project.log.iter().filter(began).filter(|entry| entry.at.wall > reset).count();
    assert!(after > 0);
    let late = project.log.iter().find(|entry| entry.event == Event::HoldEnded).unwrap().at.wall - reset;
    assert!((0..=60_000).contains(&late), "{late}");
}

#[test]
fn an_impossible_reset_time_is_not_waited_for_and_the_line_shows_the_wait() {
    for reset in [1, 1_790_000_900_000 + 30 * 86_400_000, i64::MAX] {
        let dead = SessionVerdict::Dead { cause: Death::Quota, resets_at: Some(reset), text: "used up".to_owned() };
        let (report, project) = sometimes(UnitKind::ExecuteTask, 1, SessionActs::ended(dead));
        assert_eq!((report.stop.cause, report.sessions), (Cause::Complete, 7), "{reset}");
        let held = project.log.iter().find(|entry| matches!(entry.event, Event::Held { .. })).unwrap();
        let Event::Held { until, why, .. } = &held.event else { unreachable!() };
        assert!((1..=600_000).contains(&(until - held.at.wall)), "{reset}: {until}");
        assert!(why.contains("which cannot be"), "{why}");
        let line = crate::auto::story::line(&held.event).unwrap();
        assert!(line.starts_with("Waiting until 20") && line.contains(" UTC: the quota is used up"), "{line}");
    }
}

#[test]
fn a_refused_login_and_a_ceiling_set_the_session_aside() {
    let auth = SessionVerdict::Dead { cause: Death::Auth, resets_at: None, text: "401".to_owned() };
    let (report, mut project) = sometimes(UnitKind::PlanMilestone, 1, SessionActs::ended(auth));
    assert_eq!(report.stop.cause, Cause::Auth);
    // The run continues after a person has logged in again.
    let at = project.now();
    project.log.push(Entry { at, event: resumed(&[]) });
    assert_eq!(project.go_on(&small().settings()).unwrap().cause, Cause::Complete);
    let ceiling = SessionVerdict::Halted { why: Halt::Ceiling, text: "30 minutes".to_owned() };
    let (report, _) = sometimes(UnitKind::ExecuteTask, 1, SessionActs::ended(ceiling));
    assert_eq!((report.stop.cause, report.exit), (Cause::Ceiling, 13));
}

/// Checks that fail in the first attempts at each task.
#[derive(Debug)]
struct Red {
    ideal: Ideal,
    attempts: u32,
    candidate: bool,
    runs: u32,
}

impl Actor for Red {
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs {
        let mut act = self.ideal.act(session, files);
        if session.unit.kind == UnitKind::ExecuteTask {
            // Each attempt differs.
            self.runs += 1;
            let text = Some(format!("{}", self.runs));
            act.edits.push(ActorEdit { path: "src/tries.txt".to_owned(), text });
        }
        act
    }

    fn checks(&mut self, _unit: &Unit, attempt: u32, _files: &BTreeMap<String, String>) -> Checks {
        if attempt <= self.attempts { Checks::failed("1 test failed") } else { Checks::passed() }
    }

    fn candidate_checks(&mut self) -> Checks {
        if self.candidate { Checks::failed("red together") } else { Checks::passed() }
    }
}

fn red(attempts: u32, candidate: bool) -> (SimReport, Simulated) {
    simulate_with(&small(), Red { ideal: small().ideal(), attempts, candidate, runs: 0 }).unwrap()
}

#[test]
fn a_task_whose_checks_fail_is_not_ticked_and_its_slice_not_closed() {
    let (report, project) = red(u32::MAX, false);
    assert_eq!((report.stop.cause, report.exit), (Cause::ChecksFailed, 12));
    assert_eq!(report.by_unit["execute-task"], 3);
    let texts = &project.files.texts;
    let roadmap = &texts[".gsd/milestones/M001/M001-ROADMAP.md"];
    assert!(roadmap.contains("- [ ] **S01"), "{roadmap}");
    assert!(texts[".gsd/milestones/M001/slices/S01/S01-PLAN.md"].contains("- [ ] **T01"));
    assert!(!texts.keys().any(|path| path.ends_with("S01-SUMMARY.md") || path.ends_with("S01-UAT.md")));
}

#[test]
fn a_repaired_task_counts_and_a_merge_with_failing_checks_does_not_land() {
    let (report, _) = red(1, false);
    assert_eq!((report.stop.cause, report.by_unit["execute-task"]), (Cause::Complete, 8));
    let (report, project) = red(0, true);
    assert_eq!(report.stop.cause, Cause::CandidateRefused);
    assert!(project.landed.is_empty());
}
