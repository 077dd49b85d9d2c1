//! The table of rules: its rows, and what they find.

use super::super::look::OutsideFacts;
use super::super::rules::{Listing, RULES};
use super::{DerivedProject, tree};
use crate::auto::event::{Mechanical, Refusal, Vector};
use crate::auto::memory::{Attempts, Memory, RefusedAttempt};
use crate::auto::position::RuleResult;
use crate::auto::preferences::{Pipeline, Preferences, Profile};
use crate::auto::stop::Cause;
use crate::auto::unit::{Unit, UnitKind};
use crate::project::files::MemoryFiles;

fn rows(pipeline: Pipeline, listing: Listing) -> Vec<&'static str> {
    RULES.iter().filter(|rule| rule.listing(pipeline) == listing).map(|rule| rule.name).collect()
}

#[test]
fn the_pipelines_have_twelve_and_twenty_rows() {
    let classic = [
        "rewrite-docs (override gate)",
        "summarizing → complete-slice",
        "run-uat (post-completion)",
        "uat-verdict-gate (non-PASS blocks progression)",
        "reassess-roadmap (post-completion)",
        "needs-discussion → discuss-milestone",
        "pre-planning (no context) → discuss-milestone",
        "pre-planning (no research) → research-milestone",
        "pre-planning (has research) → plan-milestone",
        "planning (require_slice_discussion) → pause for discussion",
        "planning (multiple slices need research) → parallel-research-slices",
        "planning (no research, not S01) → research-slice",
        "planning → plan-slice",
        "evaluating-gates → gate-evaluate",
        "replanning-slice → replan-slice",
        "executing → reactive-execute (parallel dispatch)",
        "executing → execute-task (recover missing task plan → plan-slice)",
        "executing → execute-task",
        "validating-milestone → validate-milestone",
        "completing-milestone → complete-milestone",
    ];
    assert_eq!(rows(Pipeline::Classic, Listing::Row), classic);
    let without = [3, 4, 7, 9, 10, 11, 13, 15];
    let simple: Vec<&str> =
        classic.iter().enumerate().filter(|(index, _)| !without.contains(index)).map(|(_, name)| *name).collect();
    assert_eq!(rows(Pipeline::Simple, Listing::Row), simple);
    assert_eq!(simple.len(), 12);
    for pipeline in [Pipeline::Simple, Pipeline::Classic] {
        assert_eq!(rows(pipeline, Listing::Terminal), ["complete → stop"]);
    }
}

const OPEN: &str = "# M001: Shelf\n\n## Slices\n\n- [x] **S01: A**\n- [ ] **S02: B** `depends:[S01]`\n";
const DONE: &str = "# M001: Shelf\n\n## Slices\n\n- [x] **S01: A**\n- [x] **S02: B** `depends:[S01]`\n";
const SUMMARY: &str = "---\nid: S01\n---\n# S01: A\n\n**It works.**\n";
const UAT: &str = "# S01: UAT\n\n## UAT Type\n\n- UAT mode: artifact-driven\n";

/// A milestone of two slices, of which the first is done.
fn between() -> MemoryFiles {
    tree(&[
        ("M001/CONTEXT", "# M001: Shelf\n"),
        ("M001/ROADMAP", OPEN),
        ("M001/S01/SUMMARY", SUMMARY),
        ("M001/S01/UAT", UAT),
    ])
}

/// The same with both slices done.
fn built() -> MemoryFiles {
    with(between(), &[("M001/ROADMAP", DONE), ("M001/S02/SUMMARY", SUMMARY), ("M001/S02/UAT", UAT)])
}

fn with(mut files: MemoryFiles, documents: &[(&str, &str)]) -> MemoryFiles {
    files.texts.extend(tree(documents).texts);
    files
}

fn without(mut files: MemoryFiles, name: &str) -> MemoryFiles {
    files.texts.remove(&super::path(name));
    files
}

fn next(files: &MemoryFiles, preferences: &Preferences) -> String {
    DerivedProject::with(files, preferences, &Memory::default(), OutsideFacts::default()).next()
}

fn by_agents() -> Preferences {
    Preferences { is_mechanical: false, ..Preferences::default() }
}

#[test]
fn research_runs_only_if_requested() {
    let begun = tree(&[("M001/CONTEXT", "# M001: Shelf\n")]);
    assert_eq!(next(&begun, &Preferences::default()), "plan-milestone M001");
    let wanted = Preferences { skip_research: false, skip_slice_research: false, ..Preferences::default() };
    assert_eq!(next(&begun, &wanted), "research-milestone M001");
    assert_eq!(next(&between(), &Preferences::default()), "plan-slice M001/S02");
    assert_eq!(next(&between(), &wanted), "research-slice M001/S02");
    let covered = "# M001\n\n## Slices\n\n- [ ] **S01: A**\n- [ ] **S02: B** `depends:[S01]`\n";
    let covered = tree(&[("M001/CONTEXT", "# M001\n"), ("M001/RESEARCH", "# R\n"), ("M001/ROADMAP", covered)]);
    assert_eq!(next(&covered, &wanted), "plan-slice M001/S01", "the research of the milestone covers its first slice");
}

#[test]
fn without_mechanical_steps_agents_close_everything() {
    let plan = "# S02: B\n\n**Roadmap:** S02: B `risk:low` `depends:[S01]`\n\n## Tasks\n\n- [x] **T01: One**\n";
    let summarizing = with(
        between(),
        &[
            ("M001/S02/PLAN", plan),
            ("M001/S02/T01/PLAN", "# T01\n"),
            ("M001/S02/T01/SUMMARY", "---\nprovides: [b]\n---\n# T01: One\n\n**It works.**\n"),
        ],
    );
    let validated = with(built(), &[("M001/VALIDATION", "---\nverdict: pass\n---\n")]);
    let steps = [
        (summarizing, "mechanical complete-slice", "complete-slice M001/S02"),
        (built(), "mechanical validate-milestone", "validate-milestone M001"),
        (validated, "mechanical complete-milestone", "complete-milestone M001"),
    ];
    for (files, mechanical, unit) in steps {
        assert_eq!(next(&files, &Preferences::default()), mechanical);
        assert_eq!(next(&files, &by_agents()), unit);
    }
}

#[test]
fn closing_waits_for_the_last_acceptance_test_and_no_assessment_follows_it() {
    let tested = Preferences { uat_dispatch: true, ..Preferences::default() };
    let first = with(built(), &[("M001/S01/UAT-RESULT", "---\nverdict: PASS\n---\n")]);
    assert_eq!(next(&first, &tested), "run-uat M001/S02");
    let both = with(first, &[("M001/S02/UAT-RESULT", "---\nverdict: PASS\n---\n")]);
    assert_eq!(next(&both, &tested), "mechanical validate-milestone");
    let assessed = Preferences { reassess_after_slice: true, ..by_agents() };
    assert_eq!(next(&between(), &assessed), "reassess-roadmap M001/S01");
    assert_eq!(next(&built(), &assessed), "validate-milestone M001");
}

#[test]
fn the_acceptance_test_of_a_slice_done_out_of_order_is_due_too() {
    let tested = Preferences { uat_dispatch: true, ..Preferences::default() };
    let roadmap = "## Slices\n\n- [x] **S01: A** `depends:[S02]`\n- [x] **S02: B**\n- [ ] **S03: C**\n";
    let files = with(built(), &[("M001/ROADMAP", roadmap), ("M001/S02/UAT-RESULT", "---\nverdict: PASS\n---\n")]);
    assert_eq!(next(&files, &tested), "run-uat M001/S01");
}

#[test]
fn a_skipped_validation_says_so_in_both_pipelines() {
    for is_mechanical in [true, false] {
        let preferences = Preferences { skip_milestone_validation: true, is_mechanical, ..Preferences::default() };
        assert_eq!(next(&built(), &preferences), "mechanical pass-validation");
        // A validation by an agent that cannot be parsed is not overwritten: an agent has to fix it.
        let unclear = with(built(), &[("M001/VALIDATION", "# Looks good\n")]);
        let step = Mechanical::PassValidation { milestone: "M001".to_owned() };
        let memory = Memory { fallbacks: [(step, "unclear".to_owned())].into(), ..Memory::default() };
        let found = DerivedProject::with(&unclear, &preferences, &memory, OutsideFacts::default());
        assert_eq!(found.next(), "validate-milestone M001");
    }
}

#[test]
fn a_mechanical_validation_is_repeated_when_its_evidence_changes() {
    let verify = "{\"passed\":true,\"discoverySource\":\"task-plan\",\"checks\":[{\"command\":\"x\",\"exitCode\":0,\"durationMs\":1,\"verdict\":\"pass\"}]}";
    let mut files = built();
    for slice in ["S01", "S02"] {
        let plan = format!("# {slice}: A\n\n## Tasks\n\n- [x] **T01: One**\n");
        files =
            with(files, &[(&format!("M001/{slice}/PLAN"), &plan), (&format!("M001/{slice}/T01/VERIFY.json"), verify)]);
    }
    let step = Mechanical::ValidateMilestone { milestone: "M001".to_owned() };
    let made = super::super::record::mechanical(&files, &step, &Preferences::default(), None, 0).unwrap().unwrap();
    files.texts.insert(made[0].path.clone(), made[0].text.clone());
    assert_eq!(next(&files, &Preferences::default()), "mechanical complete-milestone");
    let result = ("M001/S02/UAT-RESULT", "---\nverdict: FAIL\n---\n");
    let changed = with(files.clone(), &[result]);
    assert_eq!(next(&changed, &Preferences::default()), "mechanical validate-milestone");
    let failed = super::super::record::mechanical(&changed, &step, &Preferences::default(), None, 0).unwrap().unwrap();
    let parked = with(changed, &[("M001/VALIDATION", failed[0].text.as_str())]);
    assert_eq!(next(&parked, &Preferences::default()), "stop needs-attention");
    let mended = with(parked, &[("M001/S02/UAT-RESULT", "---\nverdict: PASS\n---\n")]);
    assert_eq!(next(&mended, &Preferences::default()), "mechanical validate-milestone");
    for by in ["validated_by: agent\n", ""] {
        let text = format!("---\nverdict: pass\n{by}evidence_hash: 0\n---\n");
        let agents = with(mended.clone(), &[("M001/VALIDATION", &text)]);
        assert_eq!(next(&agents, &Preferences::default()), "mechanical complete-milestone", "{by}");
    }
}

#[test]
fn the_roadmap_is_assessed_only_if_requested_and_due() {
    let off = Preferences::default();
    let on = Preferences { reassess_after_slice: true, ..Preferences::default() };
    let skipped = Preferences { skip_reassess: true, ..on.clone() };
    assert_eq!(next(&between(), &off), "plan-slice M001/S02");
    assert_eq!(next(&between(), &on), "reassess-roadmap M001/S01");
    assert_eq!(next(&between(), &skipped), "plan-slice M001/S02");
    let assessed = with(between(), &[("M001/S01/ASSESSMENT", "---\nverdict: no-change\n---\n")]);
    assert_eq!(next(&assessed, &on), "plan-slice M001/S02");
    assert_eq!(next(&without(between(), "M001/S01/SUMMARY"), &on), "plan-slice M001/S02");
    assert_eq!(next(&built(), &on), "mechanical validate-milestone");
}

/// Returns the cause of the stop.
fn cause(files: &MemoryFiles, preferences: &Preferences, memory: &Memory, facts: OutsideFacts) -> Option<Cause> {
    match DerivedProject::with(files, preferences, memory, facts).position {
        crate::auto::position::Position { mechanical: Some(_), .. } => None,
        crate::auto::position::Position { blocked: Some(stop), .. }
        | crate::auto::position::Position { finding: RuleResult::Stop(stop), .. } => Some(stop.cause),
        _ => None,
    }
}

#[test]
fn four_guards_keep_a_milestone_from_being_closed() {
    let passed = with(built(), &[("M001/VALIDATION", "---\nverdict: pass\n---\n# V\n")]);
    let nowhere = OutsideFacts { has_implementation: Some(false), ..OutsideFacts::default() };
    let everywhere = OutsideFacts { has_implementation: Some(true), ..OutsideFacts::default() };
    let planned = DONE.replace("## Slices", "## Verification Classes\n\n- Operational verification: load\n\n## Slices");
    let operated = with(passed.clone(), &[("M001/ROADMAP", &planned)]);
    let table = "---\nverdict: pass\n---\n| Class | Shown by |\n|---|---|\n| Operational | MET |\n";
    for is_mechanical in [true, false] {
        let preferences = Preferences { is_mechanical, ..Preferences::default() };
        let cause = |files: &MemoryFiles, facts| cause(files, &preferences, &Memory::default(), facts);
        assert_eq!(cause(&passed, everywhere), None);
        // The first guard, before and after the validation.
        assert_eq!(cause(&without(built(), "M001/S01/SUMMARY"), everywhere), Some(Cause::MissingSummary));
        assert_eq!(cause(&without(passed.clone(), "M001/S01/SUMMARY"), everywhere), Some(Cause::MissingSummary));
        let skipped = DONE.replace("**S01: A**", "**S01: A** `status:skipped`");
        let skipped = with(passed.clone(), &[("M001/ROADMAP", &skipped)]);
        assert_eq!(cause(&without(skipped, "M001/S01/SUMMARY"), everywhere), None);
        // The second.
        for (verdict, expected) in
            [("needs-remediation", Cause::NeedsRemediation), ("needs-attention", Cause::NeedsAttention)]
        {
            let text = format!("---\nverdict: {verdict}\n---\n");
            assert_eq!(cause(&with(built(), &[("M001/VALIDATION", &text)]), everywhere), Some(expected));
        }
        // The third.
        assert_eq!(cause(&passed, nowhere), Some(Cause::NoImplementation));
        assert_eq!(cause(&passed, OutsideFacts::default()), None, "nobody knows");
        let documents = with(passed.clone(), &[("M001/CONTEXT", "---\nplanning_only: true\n---\n# M001: Shelf\n")]);
        assert_eq!(cause(&documents, nowhere), None);
        // The fourth.
        assert_eq!(cause(&operated, everywhere), Some(Cause::NoOperationalEvidence));
        assert_eq!(cause(&with(operated.clone(), &[("M001/VALIDATION", table)]), everywhere), None);
        let skipped = "---\nverdict: pass\nskip_validation: true\nskip_validation_reason: preference\n---\n";
        assert_eq!(cause(&with(operated.clone(), &[("M001/VALIDATION", skipped)]), everywhere), None);
    }
}

#[test]
fn an_acceptance_test_is_run_three_times_and_only_a_pass_continues() {
    let tested = Preferences { uat_dispatch: true, ..Preferences::default() };
    let unit = Unit::new(UnitKind::RunUat, "M001/S01");
    let refused = RefusedAttempt { why: Refusal::Artifact, text: "no verdict".to_owned(), vector: Vector::default() };
    let memory = |unit: &Unit, refused: Vec<RefusedAttempt>, sessions: u32| {
        let attempts = Attempts { sessions, refused, ..Attempts::default() };
        Memory { attempts: [(unit.clone(), attempts)].into(), ..Memory::default() }
    };
    let cause = |memory: &Memory| cause(&between(), &tested, memory, OutsideFacts::default());
    assert_eq!(
        cause(&memory(&unit, vec![refused.clone(); 2], 9)),
        None,
        "sessions that crashed or waited do not count"
    );
    assert_eq!(cause(&memory(&unit, vec![refused.clone(); 3], 3)), Some(Cause::UatExhausted));
    let other = Unit::new(UnitKind::RunUat, "M001/S010");
    assert_eq!(cause(&memory(&other, vec![refused; 3], 3)), None, "that is another slice");
    for (verdict, preferences, expected) in [
        ("PASS", tested.clone(), "plan-slice M001/S02"),
        ("passed", tested.clone(), "plan-slice M001/S02"),
        ("FAIL", tested.clone(), "stop uat-failed"),
        ("PARTIAL", tested.clone(), "stop uat-failed"),
        ("PARTIAL", Preferences { uat_accept_partial: true, ..tested.clone() }, "stop uat-failed"),
        ("FAIL", Preferences::default(), "plan-slice M001/S02"),
    ] {
        let files = with(between(), &[("M001/S01/UAT-RESULT", &format!("---\nverdict: {verdict}\n---\n"))]);
        assert_eq!(next(&files, &preferences), expected, "{verdict}");
    }
    let by_people = with(
        between(),
        &[
            ("M001/S01/UAT", "## UAT Type\n\n- UAT mode: human-experience\n"),
            ("M001/S01/UAT-RESULT", "---\nverdict: PARTIAL\n---\n"),
        ],
    );
    assert_eq!(next(&by_people, &tested), "stop uat-failed");
    let lenient = Preferences { uat_accept_partial: true, ..tested };
    assert_eq!(next(&by_people, &lenient), "plan-slice M001/S02");
}

#[test]
fn several_slices_are_researched_at_once_until_all_have_research() {
    let quality = Preferences::of(Pipeline::Classic, Profile::Quality);
    let roadmap =
        "## Slices\n\n- [ ] **S01: A**\n- [ ] **S02: B**\n- [ ] **S03: C**\n- [ ] **S04: D** `depends:[S03]`\n";
    let files = tree(&[("M001/CONTEXT", "# M001\n"), ("M001/RESEARCH", "# R\n"), ("M001/ROADMAP", roadmap)]);
    let unit = Unit::new(UnitKind::ResearchSlice, "M001/parallel-research");
    assert_eq!(next(&files, &quality), unit.to_string());
    let missing = |files: &MemoryFiles| super::super::artifact::missing(&unit, &DerivedProject::of(files).snapshot);
    assert_eq!(missing(&files), ["S02-RESEARCH.md", "S03-RESEARCH.md"]);
    let blocked = with(files.clone(), &[("M001/PARALLEL-BLOCKER", "# Why not\n")]);
    assert_eq!((missing(&blocked).len(), next(&blocked, &quality).as_str()), (0, "plan-slice M001/S01"));
    let done = with(files, &[("M001/S02/RESEARCH", "# R\n"), ("M001/S03/RESEARCH", "# R\n")]);
    assert_eq!((missing(&done).len(), next(&done, &quality).as_str()), (0, "plan-slice M001/S01"));
}

#[test]
fn a_parked_milestone_is_named_with_the_command_to_continue() {
    let found = DerivedProject::of(&tree(&[("M001/PARKED", "later\n")]));
    let stop = found.position.blocked.unwrap();
    assert_eq!((stop.cause, stop.next.as_str()), (Cause::Parked, "gsd-tools auto unpark M001"));
}
