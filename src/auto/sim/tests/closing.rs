//! How slices and milestones are closed at the end of complete runs.

use super::*;
use crate::auto::engine::ControlRequest;
use crate::project::milestone_layout::milestone_summary::MilestoneSummary;
use crate::project::milestone_layout::preferences::InlineLevel;
use crate::project::milestone_layout::validation::{ValidatedBy, Validation};

const VALIDATION: &str = ".gsd/milestones/M001/M001-VALIDATION.md";
const SUMMARY: &str = ".gsd/milestones/M001/M001-SUMMARY.md";

fn begun(files: MemoryFiles, actor: impl Actor + 'static) -> Simulated {
    let mut simulated = Simulated::new(files, actor);
    simulated.begin(MILESTONE, false, 40, &Ceilings::default());
    simulated
}

/// Records that a person starts the run again.
fn resumed(simulated: &mut Simulated) {
    let at = simulated.now();
    let (runner, profile) = (String::new(), String::new());
    let event = Event::Resumed {
        engine: 1,
        process: 2,
        runner,
        profile,
        ceilings: Ceilings::default(),
        allowed_keys: Vec::new(),
        fenced: None,
        reviewed: None,
        means: crate::auto::event::Means::default(),
    };
    simulated.log.push(Entry { at, event });
}

#[test]
fn without_mechanical_steps_each_closing_takes_a_session() {
    let mut options = simple((1, 2));
    options.preferences.is_mechanical = false;
    let report = run(&options);
    let expected = [
        ("complete-milestone", 1),
        ("complete-slice", 1),
        ("execute-task", 2),
        ("plan-milestone", 1),
        ("validate-milestone", 1),
    ];
    assert_eq!(report.by_unit.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(report.mechanical.len(), 0);
}

#[test]
fn knowledge_stays_as_the_agents_left_it() {
    let mut files = project();
    let knowledge = "# Knowledge\n\n| # | Rule |\n|---|---|\n| K001 | Ask first |\n";
    files.texts.insert(".gsd/KNOWLEDGE.md".to_owned(), knowledge.to_owned());
    let mut simulated = begun(files, small().ideal());
    assert_eq!(simulated.go_on(&small().settings()).unwrap().cause, Cause::Complete);
    assert_eq!(simulated.landed_texts().unwrap()[".gsd/KNOWLEDGE.md"], knowledge);
}

#[test]
fn outcomes_of_requirements_count_from_the_start_of_the_run() {
    let requirements = "# Requirements\n\n## Active\n\n### R001 — Save\n- Status: active\n- Primary owning slice: M001/S01\n- \
                        Supporting slices: none\n- Validation: mapped\n\n## Validated\n\n### R002 — Open\n- Status: validated\n- \
                        Primary owning slice: M001/S01\n- Supporting slices: none\n- Validation: by hand\n";
    let mut files = project();
    files.texts.insert(".gsd/REQUIREMENTS.md".to_owned(), requirements.to_owned());
    let mut simulated = begun(files, small().ideal());
    assert_eq!(simulated.go_on(&small().settings()).unwrap().cause, Cause::Complete);
    let summary = MilestoneSummary::parse(&simulated.landed_texts().unwrap()[SUMMARY]);
    let outcomes: Vec<_> = summary
        .requirement_outcomes
        .iter()
        .map(|outcome| (outcome.id.as_str(), outcome.from_status.as_str(), outcome.to_status.as_str()))
        .collect();
    assert_eq!(outcomes, [("R001", "active", "validated")], "R002 was validated before");
}

#[test]
fn the_milestone_closes_after_its_last_acceptance_test() {
    for is_mechanical in [true, false] {
        let mut options = small();
        options.preferences.uat_dispatch = true;
        options.preferences.is_mechanical = is_mechanical;
        let (report, project) = simulate_with(&options, options.ideal()).unwrap();
        assert_eq!(report.stop.cause, Cause::Complete);
        let position = |unit: Unit| project.sessions.iter().position(|session| *session == unit).unwrap();
        let last = position(Unit::new(UnitKind::RunUat, "M001/S02"));
        assert!(position(Unit::new(UnitKind::ExecuteTask, "M001/S02/T02")) < last);
        let closed = project.log.iter().position(|entry| match &entry.event {
            Event::Mechanical { step, .. } => step.word() == "validate-milestone",
            Event::UnitStarted(start) => start.unit.kind == UnitKind::ValidateMilestone,
            _ => false,
        });
        let tested = project.log.iter().position(|entry| {
            matches!(&entry.event, Event::UnitStarted(start) if start.unit == Unit::new(UnitKind::RunUat, "M001/S02"))
        });
        assert!(tested < closed, "{tested:?} {closed:?}");
    }
}

/// Returns a run whose last acceptance test fails, or whose records are broken: it stops before the milestone is
/// closed.
fn stopped_at_validation(break_it: fn(&mut Simulated)) -> (Stop, Simulated) {
    let mut simulated = begun(project(), small().ideal());
    let settings = Settings { most_units: Some(5), ..small().settings() };
    simulated.go_on(&settings).unwrap();
    break_it(&mut simulated);
    resumed(&mut simulated);
    let stop = simulated.go_on(&small().settings()).unwrap();
    (stop, simulated)
}

#[test]
fn a_corrupt_record_stops_the_run_for_a_person() {
    let (stop, simulated) = stopped_at_validation(|simulated| {
        let path = ".gsd/milestones/M001/slices/S01/tasks/T01-VERIFY.json";
        simulated.files.texts.insert(path.to_owned(), "{\n\"passed\": tru".to_owned());
    });
    assert_eq!((stop.cause, stop.cause.code()), (Cause::NeedsAttention, 10), "{stop:?}");
    assert!(simulated.files.texts[VALIDATION].contains("T01-VERIFY.json` line 2: "));
    assert!(simulated.landed.is_empty());
}

#[test]
fn an_agent_validates_if_requested_and_its_verdict_stays() {
    let failed = "---\nverdict: FAIL\n---\n";
    let (stop, mut simulated) = stopped_at_validation(|simulated| {
        let path = ".gsd/milestones/M001/slices/S01/S01-UAT-RESULT.md";
        simulated.files.texts.insert(path.to_owned(), "---\nverdict: FAIL\n---\n".to_owned());
    });
    assert_eq!(stop.cause, Cause::NeedsAttention);
    assert_eq!(Validation::parse(&simulated.files.texts[VALIDATION]).validated_by, Some(ValidatedBy::Mechanical));
    let asked = Unit::new(UnitKind::ValidateMilestone, MILESTONE);
    let settings = Settings { asked: Some(asked.clone()), most_units: Some(1), ..small().settings() };
    resumed(&mut simulated);
    let stop = simulated.go_on(&settings).unwrap();
    assert_eq!((stop.cause, simulated.sessions.last()), (Cause::UnitsDone, Some(&asked)), "{stop:?}");
    assert_eq!(Validation::parse(&simulated.files.texts[VALIDATION]).validated_by, Some(ValidatedBy::Agent));
    // Its evidence still shows the failure, and no mechanical step overwrites the agent's verdict.
    assert_eq!(simulated.files.texts[".gsd/milestones/M001/slices/S01/S01-UAT-RESULT.md"], failed);
    resumed(&mut simulated);
    assert_eq!(simulated.go_on(&small().settings()).unwrap().cause, Cause::Complete);
    let landed = simulated.landed_texts().unwrap();
    assert_eq!(Validation::parse(&landed[VALIDATION]).validated_by, Some(ValidatedBy::Agent));
    assert!(landed.contains_key(SUMMARY));
}

#[test]
fn an_agent_that_keeps_the_mechanical_validation_has_not_validated() {
    let (_, mut simulated) = stopped_at_validation(|simulated| {
        let path = ".gsd/milestones/M001/slices/S01/S01-UAT-RESULT.md";
        simulated.files.texts.insert(path.to_owned(), "---\nverdict: FAIL\n---\n".to_owned());
    });
    simulated.actor = Box::new(Sometimes {
        ideal: small().ideal(),
        kind: UnitKind::ValidateMilestone,
        times: u32::MAX,
        act: SessionActs::done(Vec::new()),
    });
    let asked = Unit::new(UnitKind::ValidateMilestone, MILESTONE);
    resumed(&mut simulated);
    let stop = simulated.go_on(&Settings { asked: Some(asked), most_units: Some(1), ..small().settings() }).unwrap();
    assert_eq!(stop.cause, Cause::NoProgress, "{stop:?}");
    assert_eq!(stop.evidence.iter().filter(|line| line.contains("M001-VALIDATION.md")).count(), 2, "{stop:?}");
}

#[test]
fn evidence_that_changes_is_validated_again_in_the_same_run() {
    let (stop, mut simulated) = stopped_at_validation(|simulated| {
        let path = ".gsd/milestones/M001/slices/S01/S01-UAT-RESULT.md";
        simulated.files.texts.insert(path.to_owned(), "---\nverdict: FAIL\n---\n".to_owned());
    });
    assert_eq!(stop.cause, Cause::NeedsAttention);
    simulated
        .files
        .texts
        .insert(".gsd/milestones/M001/slices/S01/S01-UAT-RESULT.md".to_owned(), "---\nverdict: PASS\n---\n".to_owned());
    resumed(&mut simulated);
    assert_eq!(simulated.go_on(&small().settings()).unwrap().cause, Cause::Complete);
    let sessions = simulated.sessions.iter().filter(|unit| unit.kind == UnitKind::ValidateMilestone).count();
    assert_eq!(sessions, 0);
}

/// Returns an older project: it has the registers that agents read, each of a few kilobytes.
fn grown() -> MemoryFiles {
    let mut files = project();
    let entries = |line: fn(usize) -> String| (1..=25).map(line).collect::<String>();
    let registers = [
        (
            "PROJECT.md",
            "# Project\n\n",
            entries(|number| format!("Part {number} of the shelf holds recipes by their first letter.\n\n")),
        ),
        (
            "REQUIREMENTS.md",
            "# Requirements\n\n## Active\n\n",
            entries(|number| {
                format!(
                    "### R{number:03} — Shelf {number}\n- Class: core\n- Status: active\n- Description: a cook finds recipe {number}\n- Primary owning slice: M002/S01\n- Validation: mapped\n\n"
                )
            }),
        ),
        (
            "DECISIONS.md",
            "# Decisions\n\n| # | When | Scope | Decision | Choice | Rationale | Revisable? | Made By |\n|---|---|---|---|---|---|---|---|\n",
            entries(|number| {
                format!(
                    "| D{number:03} | M000 | S01 | Where shelf {number} is kept | a file | it is small | Yes | human |\n"
                )
            }),
        ),
    ];
    for (name, head, body) in registers {
        files.texts.insert(format!(".gsd/{name}"), format!("{head}{body}"));
    }
    files
}

#[test]
fn the_prompts_of_the_simple_pipeline_are_much_smaller() {
    // The classic pipeline puts the documents into its prompts, the simple one their paths.
    let prompts = |pipeline, inlining, files: MemoryFiles| {
        let preferences = Preferences { inlining, ..Preferences::of(pipeline, Profile::Quality) };
        let options = Options { preferences, ..simple((4, 3)) };
        let mut simulated = begun(files, options.ideal());
        assert_eq!(simulated.go_on(&options.settings()).unwrap().cause, Cause::Complete);
        simulated.prompt_characters
    };
    let both = |files: fn() -> MemoryFiles| {
        let simple = prompts(Pipeline::Simple, InlineLevel::Paths, files());
        (simple, prompts(Pipeline::Classic, InlineLevel::Full, files()))
    };
    let (simple, classic) = both(grown);
    assert!(simple * 100 < classic * 60, "{simple} of {classic}");
    // Without documents, the prompts consist almost only of the instructions.
    let (simple, classic) = both(project);
    assert!(simple * 100 < classic * 70, "{simple} of {classic}, in a project that has nothing yet");
}

#[test]
fn a_task_without_changes_counts_if_it_says_so_and_its_checks_pass() {
    let unit = Unit::new(UnitKind::ExecuteTask, "M001/S01/T01");
    let documents = |reason: &str| -> Vec<(String, String)> {
        let mut documents = small().ideal().documents(&unit, &BTreeMap::new());
        documents.retain(|(path, _)| path.starts_with(".gsd/"));
        for (_, text) in &mut documents {
            *text = text.replace("blocker_discovered: false\n", &format!("blocker_discovered: false\n{reason}"));
        }
        documents
    };
    let (report, _) =
        sometimes(UnitKind::ExecuteTask, 1, SessionActs::done(documents("no_change: \"it was there before\"\n")));
    assert_eq!((report.stop.cause, report.by_unit["execute-task"]), (Cause::Complete, 4));
    for reason in ["", "no_change: none\n", "no_change:\n"] {
        let (report, _) = sometimes(UnitKind::ExecuteTask, 1, SessionActs::done(documents(reason)));
        assert_eq!((report.stop.cause, report.by_unit["execute-task"]), (Cause::Complete, 5), "{reason:?}");
    }
}

#[test]
fn a_pause_between_two_units_loses_nothing() {
    let mut simulated = begun(project(), small().ideal());
    simulated.requests.push(ControlRequest::Pause);
    assert_eq!(simulated.go_on(&small().settings()).unwrap().cause, Cause::Paused);
    resumed(&mut simulated);
    assert_eq!(simulated.go_on(&small().settings()).unwrap().cause, Cause::Complete);
    assert_eq!(simulated.sessions.len(), 6);
}
