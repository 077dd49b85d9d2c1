//! The criteria for these steps, over projects in memory.

use proptest::prelude::*;

use super::validation::{evidence_hash, is_stale};
use super::*;
use crate::auto::engine::Edit;
use crate::auto::preferences::Preferences;
use crate::failure::Failure;
use crate::project::files::MemoryFiles;
use crate::project::milestone_layout::milestone_summary::{Ending, MilestoneSummary};
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::summary::Summary;
use crate::project::milestone_layout::uat::UatMode;
use crate::project::milestone_layout::validation::{Validation, ValidationVerdict, proves_operational};

const FOLDER: &str = ".gsd/milestones/M001";

fn in_slice(slice: &str, file: &str) -> String {
    format!("{FOLDER}/slices/{slice}/{file}")
}

fn verify(passed: bool, more: &str) -> String {
    let code = i32::from(!passed);
    let verdict = if passed { "pass" } else { "fail" };
    format!(
        "{{\"schemaVersion\":1,\"passed\":{passed},\"discoverySource\":\"task-plan\",\"checks\":[{{\"command\":\"cargo test \
         index\",\"exitCode\":{code},\"durationMs\":1,\"verdict\":\"{verdict}\"}}]{more}}}"
    )
}

fn task_summary(slice: &str, task: &str, keys: &str) -> String {
    format!(
        "---\nid: {task}\nparent: {slice}\nmilestone: M001\n{keys}duration: 40m\nverification_result: passed\n---\n# {task}: Index on \
         write\n\n**Writes update the index in the same transaction as the store**\n\n## What Happened\n\nThe store calls the index before \
         it commits.\n\n## Deviations\n\nNone.\n"
    )
}

/// A milestone with two slices: the tasks of the first are done, the second is open.
fn project() -> MemoryFiles {
    let roadmap = "# M001: Recipe store\n\n**Vision:** keep and find recipes\n\n## Success Criteria\n\n- a cook can save a recipe\n- S02 finds \
        it again\n\n## Verification Classes\n\n- Contract verification: tests\n- Operational verification: none\n\n## Slices\n\n- [ ] **S01: \
        Storage** `risk:high` `depends:[]`\n  > After this: recipes survive a restart\n- [ ] **S02: Search** `depends:[S01]`\n";
    let plan = "# S01: Storage\n\n**Goal:** store  **Demo:** `recipes add` works\n\n## Verification\n\n- `cargo test store`\n- `cargo test \
        index`\n\n## Tasks\n\n- [x] **T02: Query** `est:1h`\n- [x] **T01: Index** `est:1h`\n";
    let requirements = "# Requirements\n\n## Active\n\n### R001 — Save\n- Class: core\n- Status: active\n- Primary owning slice: M001/S01\n- \
        Supporting slices: none\n- Validation: mapped\n- Notes: x\n\n### R002 — Find\n- Status: active\n- Primary owning slice: M001/S01\n- \
        Supporting slices: M001/S02\n- Validation: mapped\n\n### R003 — All\n- Status: active\n- Primary owning slice: M001\n- Validation: \
        mapped\n\n## Validated\n\n## Coverage Summary\n\n- Active requirements: 3\n- Validated: 0\n";
    let decisions = "# Decisions\n\n| # | When | Scope | Decision | Choice | Rationale | Revisable? | Made By |\n|---|---|---|---|---|---|---|---|\n\
        | D004 | M001 | S01 | Engine | Use SQLite | small | Yes | human |\n";
    let mut files = MemoryFiles::new([
        (".gsd/REQUIREMENTS.md", requirements),
        (".gsd/DECISIONS.md", decisions),
        (".gsd/KNOWLEDGE.md", "# Knowledge\n"),
    ]);
    files.texts.insert(format!("{FOLDER}/M001-ROADMAP.md"), roadmap.to_owned());
    files.texts.insert(in_slice("S01", "S01-PLAN.md"), plan.to_owned());
    let first = "provides: [store API, index API]\nrequires:\n  - slice: S01\n    provides: itself\n  - slice: S00\n    provides: \
        config\nkey_files: [src/store.rs]\nkey_decisions: [\"use sqlite!\", index on write]\ncompleted_at: 2026-11-20T12:00:00Z\n";
    let second = "provides: [index API, query]\nkey_files: [src/query.rs, src/store.rs]\npatterns_established: one writer\ncompleted_at: \
        2026-11-20T10:00:00Z\n";
    for (task, keys) in [("T01", first), ("T02", second)] {
        files.texts.insert(in_slice("S01", &format!("tasks/{task}-SUMMARY.md")), task_summary("S01", task, keys));
        files.texts.insert(in_slice("S01", &format!("tasks/{task}-VERIFY.json")), verify(true, ""));
    }
    files
}

/// The project with the second slice planned and its one task done too.
fn with_second(mut files: MemoryFiles) -> MemoryFiles {
    let plan = "# S02: Search\n\n## Verification\n\n- look at the list\n\n## Tasks\n\n- [x] **T01: Find**\n";
    files.texts.insert(in_slice("S02", "S02-PLAN.md"), plan.to_owned());
    let keys = "provides: [search]\nkey_files: [src/find.rs]\ncompleted_at: 2026-11-21T10:00:00Z\n";
    files.texts.insert(in_slice("S02", "tasks/T01-SUMMARY.md"), task_summary("S02", "T01", keys));
    files.texts.insert(in_slice("S02", "tasks/T01-VERIFY.json"), verify(true, ""));
    files
}

fn complete(files: &MemoryFiles, slice: &str) -> Result<Vec<Edit>, Failure> {
    complete_slice(&slice_records(files, "M001", slice).unwrap(), &Preferences::default())
}

fn write(files: &mut MemoryFiles, edits: &[Edit]) {
    for edit in edits {
        files.texts.insert(edit.path.clone(), edit.text.clone());
    }
}

fn text(files: &MemoryFiles, path: &str) -> String {
    files.texts.get(path).cloned().unwrap_or_else(|| panic!("{path} in {:?}", files.texts.keys()))
}

/// The project with both slices closed.
fn closed() -> MemoryFiles {
    let mut files = with_second(project());
    for slice in ["S01", "S02"] {
        let edits = complete(&files, slice).unwrap();
        write(&mut files, &edits);
    }
    files
}

fn validate(files: &MemoryFiles, limits: &Preferences) -> Result<Option<Edit>, Failure> {
    validate_milestone(&milestone_records(files, "M001", None).unwrap(), limits, false)
}

fn validation(files: &MemoryFiles) -> (Validation, String) {
    let edit = validate(files, &Preferences::default()).unwrap().unwrap();
    (Validation::parse(&edit.text), edit.text)
}

fn finish(files: &MemoryFiles) -> Result<Vec<Edit>, Failure> {
    complete_milestone(&milestone_records(files, "M001", None).unwrap(), &Preferences::default())
}

fn validated() -> MemoryFiles {
    let mut files = closed();
    let edit = validate(&files, &Preferences::default()).unwrap().unwrap();
    write(&mut files, &[edit]);
    files
}

#[test]
fn a_slice_is_closed_by_five_documents() {
    let mut files = project();
    let done = complete(&files, "S01").unwrap();
    let paths: Vec<&str> = done.iter().map(|edit| edit.path.rsplit('/').next().unwrap()).collect();
    assert_eq!(paths, ["S01-SUMMARY.md", "S01-UAT.md", "DECISIONS.md", "REQUIREMENTS.md", "M001-ROADMAP.md"]);
    write(&mut files, &done);
    let roadmap = text(&files, &format!("{FOLDER}/M001-ROADMAP.md"));
    assert_eq!(roadmap.lines().filter(|line| line.starts_with("- [x] **S01:")).count(), 1);
    assert!(roadmap.contains("- [ ] **S02: Search**"));
}

#[test]
fn the_front_matter_is_the_union_of_the_tasks_in_their_order() {
    let mut files = project();
    let edits = complete(&files, "S01").unwrap();
    write(&mut files, &edits);
    let written = text(&files, &in_slice("S01", "S01-SUMMARY.md"));
    let summary = Summary::parse(&written);
    assert_eq!(summary.provides, ["store API", "index API", "query"]);
    assert_eq!(summary.key_files, ["src/store.rs", "src/query.rs"]);
    assert_eq!(summary.requires.iter().map(|required| required.slice.as_str()).collect::<Vec<_>>(), ["S00"]);
    assert_eq!(summary.patterns_established, ["one writer"]);
    let tasks = ["T01", "T02"].map(|task| in_slice("S01", &format!("tasks/{task}-SUMMARY.md")));
    assert_eq!(summary.drill_down_paths, tasks);
    assert_eq!(
        (summary.duration.as_deref(), summary.completed_at.as_deref()),
        (Some("1h 20m"), Some("2026-11-20T12:00:00Z"))
    );
    assert_eq!(
        (summary.verification_result.as_str(), summary.id.as_str(), summary.parent.as_str()),
        ("passed", "S01", "M001")
    );
    assert_eq!(summary.one_liner.as_deref(), Some("recipes survive a restart"));
    files.texts.insert(in_slice("S01", "tasks/T02-VERIFY.json"), verify(false, ""));
    let failed = complete(&project_without_box(files.clone()), "S01").unwrap();
    assert_eq!(Summary::parse(&failed[0].text).verification_result, "failed");
    files.texts.remove(&in_slice("S01", "tasks/T02-VERIFY.json"));
    let untested = complete(&project_without_box(files), "S01").unwrap();
    assert_eq!(Summary::parse(&untested[0].text).verification_result, "untested");
}

/// Undoes the last edit.
fn project_without_box(mut files: MemoryFiles) -> MemoryFiles {
    let path = format!("{FOLDER}/M001-ROADMAP.md");
    let roadmap = text(&files, &path).replace("- [x] **S01", "- [ ] **S01");
    files.texts.insert(path, roadmap);
    files
}

#[test]
fn the_acceptance_test_is_the_verification_of_the_plan() {
    let edits = complete(&project(), "S01").unwrap();
    assert_eq!(UatMode::of(&edits[1].text), UatMode::ArtifactDriven);
    assert!(edits[1].text.contains("### 1. `cargo test store`") && edits[1].text.contains("### 2. `cargo test index`"));
    assert!(edits[1].text.contains("## Smoke Test\n\n`recipes add` works\n"));
    let edits = complete(&with_second(project()), "S02").unwrap();
    assert_eq!(UatMode::of(&edits[1].text), UatMode::Mixed);
}

#[test]
fn an_interrupted_step_ends_in_the_same_files() {
    let mut whole = project();
    let edits = complete(&whole, "S01").unwrap();
    write(&mut whole, &edits);
    assert!(edits.last().is_some_and(|edit| edit.path.ends_with("M001-ROADMAP.md")));
    for written in 0..edits.len() {
        let mut files = project();
        write(&mut files, &edits[..written]);
        let rest = complete(&files, "S01").unwrap();
        assert_eq!(rest, edits[written..], "after {written} edits");
        write(&mut files, &rest);
        assert_eq!(files.texts, whole.texts);
    }
}

#[test]
fn a_closed_slice_is_unchanged() {
    let mut files = project();
    let edits = complete(&files, "S01").unwrap();
    write(&mut files, &edits);
    assert_eq!(complete(&files, "S01"), Ok(Vec::new()));
}

#[test]
fn a_summary_with_too_little_is_left_to_an_agent() {
    let thin = |files: &MemoryFiles, least: usize| {
        let limits = Preferences { min_summary_characters: least, ..Preferences::default() };
        complete_slice(&slice_records(files, "M001", "S01").unwrap(), &limits)
    };
    assert!(thin(&project(), 5_000).is_err_and(|error| error.message.ends_with("of the 5000 it needs")));
    assert!(thin(&project(), 0).is_ok());
    let mut silent = project();
    silent.texts.insert(in_slice("S01", "tasks/T02-SUMMARY.md"), "---\nid: T02\n---\n# T02: Step\n".to_owned());
    let error = thin(&silent, 0).unwrap_err();
    assert!(error.message.starts_with("the summaries of `T02` in `S01` name nothing"));
    let mut missing = project();
    missing.texts.remove(&in_slice("S01", "tasks/T01-SUMMARY.md"));
    assert!(thin(&missing, 0).is_err_and(|error| error.message == "the tasks `T01` of `S01` have no summary"));
    let mut short = project();
    for task in ["T01", "T02"] {
        let summary = format!("---\nid: {task}\nprovides: [a]\n---\n# {task}: b\n");
        short.texts.insert(in_slice("S01", &format!("tasks/{task}-SUMMARY.md")), summary);
    }
    let error = thin(&short, 200).unwrap_err();
    assert!(error.message.ends_with("of the 200 it needs"), "headings are no content");
}

#[test]
fn a_roadmap_without_the_row_is_not_changed() {
    let mut files = project();
    files.texts.insert(format!("{FOLDER}/M001-ROADMAP.md"), "# M001\n\nS01 comes first.\n".to_owned());
    assert!(complete(&files, "S01").is_err_and(|error| error.message.starts_with("the roadmap cannot be ticked: ")));
    let table = "## Slices\n\n| ID | Title | Status |\n|---|---|---|\n| S01 | Storage | open |\n";
    files.texts.insert(format!("{FOLDER}/M001-ROADMAP.md"), table.to_owned());
    let edits = complete(&files, "S01").unwrap();
    assert_eq!(edits.last().map(|edit| edit.text.clone()), Some(table.replace("open", "done")));
}

#[test]
fn a_requirement_is_validated_only_by_its_owner_with_every_check() {
    let find =
        |edits: &[Edit]| edits.iter().find(|edit| edit.path.ends_with("REQUIREMENTS.md")).map(|edit| edit.text.clone());
    let after = find(&complete(&project(), "S01").unwrap()).unwrap();
    let moved = "## Validated\n\n### R001 — Save\n- Class: core\n- Status: validated\n- Primary owning slice: M001/S01\n- Supporting slices: \
        none\n- Validation: validated by M001/S01: 2 checks in 2 tasks passed\n- Notes: x\n";
    assert!(after.contains(moved), "{after}");
    assert!(after.contains("- Supporting slices: M001/S02\n- Validation: partial\n"), "{after}");
    assert!(after.contains("- Primary owning slice: M001\n- Validation: mapped\n"), "another slice is open: {after}");
    assert!(after.ends_with("- Active requirements: 2\n- Validated: 1\n"), "{after}");
    let mut unproved = project();
    unproved.texts.remove(&in_slice("S01", "tasks/T02-VERIFY.json"));
    let after = find(&complete(&unproved, "S01").unwrap()).unwrap();
    assert!(!after.contains("Status: validated") && after.matches("Validation: partial").count() == 2, "{after}");
    let whole = text(&closed(), ".gsd/REQUIREMENTS.md");
    assert!(whole.contains("validated by M001/S02: 1 check in 1 task passed"), "the last slice of its owner: {whole}");
    let mut absent = project();
    absent.texts.remove(".gsd/REQUIREMENTS.md");
    assert_eq!(find(&complete(&absent, "S01").unwrap()), None);
}

#[test]
fn new_decisions_are_recorded_once() {
    let mut files = project();
    let edits = complete(&files, "S01").unwrap();
    write(&mut files, &edits);
    let decisions = text(&files, ".gsd/DECISIONS.md");
    assert!(decisions.ends_with("| D005 | M001 | S01 | index on write |  |  | Yes | agent |\n"), "{decisions}");
    let again = complete(&project_without_box(files), "S01").unwrap();
    assert_eq!(again.len(), 1, "{again:?}");
}

#[test]
fn knowledge_is_left_to_agents() {
    let edits = complete(&project(), "S01").unwrap();
    assert!(edits.iter().all(|edit| !edit.path.contains("KNOWLEDGE")));
}

#[test]
fn documents_of_other_authors_stay() {
    let mut files = project();
    files.texts.insert(in_slice("S01", "S01-UAT.md"), "# Mine\n".to_owned());
    files.texts.insert(in_slice("S01", "S01-SUMMARY.md"), "# Mine too\n".to_owned());
    let edits = complete(&files, "S01").unwrap();
    assert!(edits.iter().all(|edit| !edit.path.contains("/S01-")), "{edits:?}");
}

#[test]
fn the_summary_has_criteria_slices_and_outcomes() {
    let mut files = validated();
    let before = project().texts[".gsd/REQUIREMENTS.md"].clone();
    let records = milestone_records(&files, "M001", Some(before)).unwrap();
    let done = complete_milestone(&records, &Preferences::default()).unwrap();
    assert_eq!(done.len(), 1);
    write(&mut files, &done);
    let written = text(&files, &format!("{FOLDER}/M001-SUMMARY.md"));
    let summary = MilestoneSummary::parse(&written);
    assert_eq!((summary.status.as_str(), summary.completed_at.as_deref()), ("complete", Some("2026-11-21T10:00:00Z")));
    assert_eq!(summary.key_decisions, ["use sqlite!", "index on write"]);
    let outcomes: Vec<_> =
        summary.requirement_outcomes.iter().map(|outcome| (outcome.id.as_str(), outcome.to_status.as_str())).collect();
    assert_eq!(outcomes, [("R001", "validated"), ("R003", "validated")]);
    for line in [
        "- [x] a cook can save a recipe — pass",
        "- [x] S02 finds it again — pass",
        "| S02 | Search | 2026-11-21T10:00:00Z | passed |",
    ] {
        assert!(written.contains(line), "{written}");
    }
    assert_eq!(Ending::of(&written), Ending::Success);
    assert!(finish(&files).unwrap().is_empty());
    assert!(finish(&closed()).is_err_and(|error| error.message.ends_with("says nothing, not `pass`")));
}

#[test]
fn a_done_slice_without_summary_is_named() {
    let mut files = validated();
    files.texts.remove(&in_slice("S01", "S01-SUMMARY.md"));
    let error = finish(&files).unwrap_err();
    assert_eq!(error.message, "the slices `S01` of `M001` are done and have no summary");
    assert_eq!(validate(&files, &Preferences::default()), Err(error));
    let roadmap = text(&files, &format!("{FOLDER}/M001-ROADMAP.md")).replace("`risk:high`", "`status:skipped`");
    files.texts.insert(format!("{FOLDER}/M001-ROADMAP.md"), roadmap);
    assert!(finish(&files).is_ok_and(|done| done[0].text.contains("| S01 | Storage | skipped |  |")));
}

#[test]
fn two_runs_give_the_same_bytes() {
    let (one, other) = (validated(), validated());
    assert_eq!(one.texts, other.texts);
    assert_eq!(finish(&one), finish(&other));
}

#[test]
fn one_failing_check_needs_attention_and_is_named() {
    let mut files = closed();
    assert_eq!(validation(&files).0.verdict, Some(ValidationVerdict::Pass));
    files.texts.insert(in_slice("S01", "tasks/T02-VERIFY.json"), verify(false, ""));
    let (read, written) = validation(&files);
    assert_eq!(read.verdict, Some(ValidationVerdict::NeedsAttention));
    assert!(written.contains("| M001/S01/T02 | fail | `cargo test index`: exit code 1 | passed |"), "{written}");
    assert!(
        written.contains("| a cook can save a recipe | nothing |\n| S02 finds it again | the checks of its slices |"),
        "{written}"
    );
}

#[test]
fn a_blocking_error_needs_attention() {
    let mut files = closed();
    let error =
        ",\"runtimeErrors\":[{\"source\":\"bg-shell\",\"severity\":\"crash\",\"message\":\"gone\",\"blocking\":true}]";
    files.texts.insert(in_slice("S01", "tasks/T02-VERIFY.json"), verify(true, error).replacen("true", "false", 1));
    let (read, written) = validation(&files);
    assert_eq!(read.verdict, Some(ValidationVerdict::NeedsAttention));
    assert!(written.contains("bg-shell crash: gone"), "{written}");
}

#[test]
fn a_task_without_a_record_needs_attention_unless_none_is_required() {
    let mut files = closed();
    files.texts.remove(&in_slice("S01", "tasks/T02-VERIFY.json"));
    let (read, written) = validation(&files);
    assert_eq!(read.verdict, Some(ValidationVerdict::NeedsAttention));
    assert!(written.contains("| M001/S01/T02 | unverified | there is no VERIFY record | passed |"), "{written}");
    let lenient = Preferences { requires_evidence: false, ..Preferences::default() };
    let edit = validate(&files, &lenient).unwrap().unwrap();
    assert_eq!(Validation::parse(&edit.text).verdict, Some(ValidationVerdict::Pass));
}

#[test]
fn a_task_without_checks_counts_only_with_a_reason_next_to_a_checked_task() {
    let none = "{\"passed\":true,\"discoverySource\":\"none\",\"checks\":[]";
    let declared = format!("{none},\"noChecksReason\":\"documents alone\"}}");
    let mut files = closed();
    files.texts.insert(in_slice("S01", "tasks/T02-VERIFY.json"), declared.clone());
    let (read, written) = validation(&files);
    assert_eq!(read.verdict, Some(ValidationVerdict::Pass));
    assert!(written.contains("| M001/S01/T02 | no host checks | documents alone |"), "{written}");
    files.texts.insert(in_slice("S01", "tasks/T01-VERIFY.json"), declared);
    assert_eq!(validation(&files).0.verdict, Some(ValidationVerdict::NeedsAttention));
    let mut files = closed();
    files.texts.insert(in_slice("S01", "tasks/T02-VERIFY.json"), format!("{none}}}"));
    assert_eq!(validation(&files).0.verdict, Some(ValidationVerdict::NeedsAttention));
}

#[test]
fn a_failed_acceptance_test_needs_attention_and_prose_does_not() {
    let mut files = closed();
    let mut result = |text: &str| {
        files.texts.insert(in_slice("S01", "S01-UAT-RESULT.md"), text.to_owned());
        validation(&files).0.verdict
    };
    assert_eq!(result("---\nverdict: FAIL\n---\n"), Some(ValidationVerdict::NeedsAttention));
    assert_eq!(result("---\nverdict: PASS\n---\n0 FAIL, no FAILURE signals ❌\n"), Some(ValidationVerdict::Pass));
    assert_eq!(result("---\nverdict: PARTIAL\n---\n"), Some(ValidationVerdict::NeedsAttention));
    let wanting = Preferences { uat_dispatch: true, ..Preferences::default() };
    let edit = validate(&closed(), &wanting).unwrap().unwrap();
    assert_eq!(Validation::parse(&edit.text).verdict, Some(ValidationVerdict::NeedsAttention));
}

#[test]
fn a_corrupt_record_is_reported() {
    let mut files = closed();
    files.texts.insert(in_slice("S01", "tasks/T02-VERIFY.json"), "{\n\"passed\": tru".to_owned());
    let (read, written) = validation(&files);
    assert_eq!(read.verdict, Some(ValidationVerdict::NeedsAttention));
    assert!(written.contains("T02-VERIFY.json` line 2: "), "{written}");
}

#[test]
fn records_do_not_prove_what_can_only_be_seen_in_operation() {
    let mut files = closed();
    let path = format!("{FOLDER}/M001-ROADMAP.md");
    assert!(proves_operational(&validation(&files).1), "nothing is planned");
    let planned = text(&files, &path)
        .replace("Operational verification: none", "Operational verification: load is met and satisfied");
    files.texts.insert(path, planned);
    let (read, written) = validation(&files);
    assert_eq!(read.verdict, Some(ValidationVerdict::Pass));
    assert_eq!(read.human_required, ["operational verification: load is met and satisfied"]);
    assert!(!proves_operational(&written), "{written}");
}

#[test]
fn a_skipped_validation_says_so_and_is_written_all_the_same() {
    let mut files = closed();
    let skipped = |files: &MemoryFiles| {
        let records = milestone_records(files, "M001", None).unwrap();
        let edit = validate_milestone(&records, &Preferences::default(), true).unwrap().unwrap();
        Validation::parse(&edit.text)
    };
    assert_eq!(
        (skipped(&files).skipped.as_deref(), skipped(&files).verdict),
        (Some("preference"), Some(ValidationVerdict::Pass))
    );
    files.texts.insert(in_slice("S01", "tasks/T02-VERIFY.json"), verify(false, ""));
    assert_eq!(skipped(&files).verdict, Some(ValidationVerdict::NeedsAttention));
}

#[test]
fn the_validation_of_an_agent_is_kept() {
    let mut files = closed();
    let path = format!("{FOLDER}/M001-VALIDATION.md");
    for by in ["validated_by: agent\n", ""] {
        files.texts.insert(path.clone(), format!("---\nverdict: needs-remediation\n{by}---\n"));
        assert_eq!(validate(&files, &Preferences::default()), Ok(None));
    }
    files.texts.insert(path, "# Looks good\n".to_owned());
    let error = validate(&files, &Preferences::default()).unwrap_err();
    assert_eq!(error.message, "the validation of `M001` is an agent's and has no verdict");
    assert!(error.hints[0].contains("auto dispatch validate M001"));
}

#[test]
fn a_validation_follows_its_evidence() {
    let mut files = validated();
    let stale = |files: &MemoryFiles| is_stale(&milestone_records(files, "M001", None).unwrap());
    let hash = |files: &MemoryFiles| evidence_hash(&milestone_records(files, "M001", None).unwrap());
    assert_eq!((validate(&files, &Preferences::default()), stale(&files)), (Ok(None), false));
    let before = hash(&files);
    assert_eq!(
        Validation::parse(&text(&files, &format!("{FOLDER}/M001-VALIDATION.md"))).evidence_hash,
        Some(before.clone())
    );
    files.texts.insert(in_slice("S02", "S02-UAT-RESULT.md"), "---\nverdict: PASS\n---\n".to_owned());
    assert!(stale(&files) && hash(&files) != before);
    let edit = validate(&files, &Preferences::default()).unwrap().unwrap();
    write(&mut files, &[edit]);
    assert!(!stale(&files));
    let again = verify(true, ",\"timestamp\":1790000000000").replace("\"durationMs\":1,", "\"durationMs\":9,");
    files.texts.insert(in_slice("S02", "tasks/T01-VERIFY.json"), again);
    assert!(!stale(&files), "the same checks with the same result");
    let path = format!("{FOLDER}/M001-VALIDATION.md");
    let by_agent = text(&files, &path).replace("validated_by: mechanical", "validated_by: agent");
    files.texts.insert(path, by_agent);
    files.texts.insert(in_slice("S02", "S02-UAT-RESULT.md"), "---\nverdict: FAIL\n---\n".to_owned());
    assert!(!stale(&files), "an agent's validation is never recomputed");
}

#[test]
fn an_override_of_a_person_counts_and_is_shown() {
    let mut files = closed();
    let decided = verify(false, ",\"override\":{\"rationale\":\"flaky network\"}");
    files.texts.insert(in_slice("S01", "tasks/T02-VERIFY.json"), decided);
    let (read, written) = validation(&files);
    assert_eq!(read.verdict, Some(ValidationVerdict::Pass));
    assert!(written.contains("| M001/S01/T02 | overridden | flaky network |"), "{written}");
}

proptest! {
    #[test]
    fn steps_are_idempotent_and_slices_independent(
        files in proptest::sample::subsequence(vec!["T01", "T02"], 0..=2), first in "S0[12]", cut in 0_usize..6,
    ) {
        let mut files_now = with_second(project());
        for task in files {
            files_now.texts.remove(&in_slice("S01", &format!("tasks/{task}-VERIFY.json")));
        }
        let second = if first == "S01" { "S02" } else { "S01" };
        for slice in [first.as_str(), second] {
            let edits = complete(&files_now, slice).unwrap();
            write(&mut files_now, &edits[..cut.min(edits.len())]);
            let rest = complete(&files_now, slice).unwrap();
            write(&mut files_now, &rest);
            prop_assert!(complete(&files_now, slice).unwrap().is_empty());
        }
        let roadmap = Roadmap::parse(&text(&files_now, &format!("{FOLDER}/M001-ROADMAP.md")));
        prop_assert!(!roadmap.slices.is_empty() && roadmap.slices.iter().all(|slice| slice.done));
        // A box that this module ticked has its summary and its acceptance test.
        for slice in ["S01", "S02"] {
            let written = ["SUMMARY", "UAT"].map(|kind| in_slice(slice, &format!("{slice}-{kind}.md")));
            prop_assert!(written.iter().all(|path| files_now.texts.contains_key(path)), "{:?}", written);
        }
    }

    #[test]
    fn any_documents_are_closed_or_refused(
        summary in "(---\n|provides: |key_files: |\\[|\\]|\\*\\*|# |## What Happened\n|## Deviations\n|\n|[a-z|`é]{0,6}){0,16}",
        roadmap in "(## Slices\n|- \\[ \\] \\*\\*S01: A\\*\\*|\\| S01 \\||\\|---\\|\n|\n|[a-z]{0,4}){0,10}",
        evidence in "[{}\":,a-z\\[\\]]{0,20}",
    ) {
        let mut files = project();
        files.texts.insert(in_slice("S01", "tasks/T01-SUMMARY.md"), summary);
        files.texts.insert(format!("{FOLDER}/M001-ROADMAP.md"), roadmap);
        files.texts.insert(in_slice("S01", "tasks/T01-VERIFY.json"), evidence);
        if let Ok(done) = complete(&files, "S01") {
            write(&mut files, &done);
            prop_assert!(complete(&files, "S01").unwrap().is_empty());
        }
        let _ = (validate(&files, &Preferences::default()), finish(&files));
    }
}
