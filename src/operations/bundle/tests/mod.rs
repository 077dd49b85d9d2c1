use super::*;
use crate::operations::facts::{FactsCall, Host};
use crate::operations::state;
use crate::project::config::{Config, ConfigTexts};
use crate::project::files::MemoryFiles;
use crate::project::layout::Layout;
use crate::project::view::ProjectView;

/// The answer of a project to a call.
pub(super) fn told(files: &[(&str, &str)], call: FactsCall) -> Value {
    told_by(files, |_| call, BundleAnswer::of)
}

pub(super) fn told_by(
    files: &[(&str, &str)],
    call: impl FnOnce(&ProjectView) -> FactsCall,
    answer: fn(&Given<'_>) -> Result<BundleAnswer, FileError>,
) -> Value {
    let config = files.iter().find(|(path, _)| *path == ".planning/config.json").map(|(_, text)| *text);
    let (config, _) = Config::read(ConfigTexts { project: config, ..ConfigTexts::default() });
    let view = ProjectView::of(files.iter().copied());
    answer(&Given { view: &view, config: &config, host: &host(), call: call(&view) }).unwrap().0.into()
}

fn host() -> Host {
    let next = state::Facts {
        today: "2026-01-02".into(),
        now: "2026-01-02T03:04:05.678Z".into(),
        milliseconds: 1_000_000_000,
        ..state::Facts::default()
    };
    Host { runtime: "host".into(), command_prefix: "/gsd-".into(), next, second_of_day: 3, ..Host::default() }
}

fn of_phase(workflow: &str, typed: &str) -> FactsCall {
    FactsCall::of(workflow).phase(Some(typed))
}

mod manager;
mod others;
mod sections;

const CODE_MAP: &[&str] =
    &["STACK.md", "ARCHITECTURE.md", "STRUCTURE.md", "CONVENTIONS.md", "TESTING.md", "INTEGRATIONS.md", "CONCERNS.md"];

const ROADMAP: (&str, &str) = (
    ".planning/ROADMAP.md",
    "# R\n\n- [x] **Phase 1: Base** - b\n- [ ] **Phase 7: Only a line** - o\n\n### Phase 1: Base\n**Requirements**: [A-1, A-2]\n\
     \n### Phase 2: Nöte Core\n**Requirements**: TBD\n**Mode:** mvp\n\n### Phase 2.1: Fix (INSERTED)\n**Goal**: g\n",
);

fn phase_op(files: &[(&str, &str)], typed: &str) -> Value {
    told(files, of_phase("phase-op", typed))
}

#[test]
fn a_phase_with_a_folder_is_named_by_it() {
    let files =
        [ROADMAP, (".planning/phases/02-notes/02-CONTEXT.md", "c"), (".planning/phases/02-notes/02-01-PLAN.md", "")];
    let told = phase_op(&files, "2");
    assert_eq!(told["phase_number"], "02");
    assert_eq!(told["phase_name"], "notes");
    assert_eq!(told["phase_dir"], "/p/.planning/phases/02-notes");
    assert_eq!(told["context_path"], "/p/.planning/phases/02-notes/02-CONTEXT.md");
    assert_eq!(told["plan_count"], 1);
    assert!(told.get("research_path").is_none() && told["expected_phase_dir"].is_null());
    assert_eq!(phase_op(&files, "02-notes")["phase_number"], "02");
}

#[test]
fn a_phase_without_a_folder_is_named_by_the_roadmap() {
    let told = phase_op(&[ROADMAP], "2.1");
    assert_eq!(told["phase_number"], "2.1");
    assert_eq!(told["padded_phase"], "02.1");
    assert_eq!(told["phase_name"], "Fix (INSERTED)");
    assert_eq!(told["expected_phase_dir"], "/p/.planning/phases/02.1-fix-inserted");
    assert_eq!(phase_op(&[ROADMAP], "7")["phase_slug"], "only-a-line");
    assert_eq!(phase_op(&[ROADMAP], "9")["phase_found"], false);
}

#[test]
fn an_open_phase_wins_over_an_archived_folder_of_its_number() {
    let archived = (".planning/milestones/v1.0-phases/02-old/02-01-PLAN.md", "");
    let told = phase_op(&[ROADMAP, archived], "2");
    assert_eq!((&told["phase_dir"], &told["phase_name"]), (&Value::Null, &"Nöte Core".into()));
    let other = (".planning/milestones/v1.0-phases/03-old/03-01-PLAN.md", "");
    assert_eq!(phase_op(&[ROADMAP, other], "3")["phase_dir"], "/p/.planning/milestones/v1.0-phases/03-old");
}

#[test]
fn the_project_code_of_another_project_finds_nothing() {
    let config = (".planning/config.json", r#"{"project_code": "ACME"}"#);
    let files = [ROADMAP, config, (".planning/phases/ACME-01-base/01-01-PLAN.md", "")];
    assert_eq!(phase_op(&files, "ACME-1")["phase_number"], "ACME-01");
    assert_eq!(phase_op(&files, "ACME-2")["expected_phase_dir"], "/p/.planning/phases/ACME-02-note-core");
    assert_eq!(phase_op(&files, "OTHER-1")["phase_found"], false);
    assert_eq!(phase_op(&files, "OTHER-2")["phase_found"], false);
}

#[test]
fn the_first_of_two_folders_of_a_phase_counts() {
    let files = [(".planning/phases/02-b/x.md", ""), (".planning/phases/02-a/x.md", "")];
    assert_eq!(phase_op(&files, "2")["phase_name"], "a");
}

#[test]
fn every_answer_ends_with_the_same_fields() {
    let config = (".planning/config.json", r#"{"response_language": "German"}"#);
    let told = told(&[config, (".planning/PROJECT.md", "text\n# Acme\n")], FactsCall::of("phase-op"));
    assert_eq!(told["project_root"], "/p");
    assert_eq!(told["agent_runtime"], "host");
    assert_eq!(told["response_language"], "German");
    assert_eq!(told["project_title"], "Acme");
    assert!(told.get("project_code").is_none());
}

fn plan(commands: &[&str]) -> String {
    let task = |command: &&str| format!("<task><name>T</name><automated>{command}</automated></task>");
    commands.iter().map(task).collect::<Vec<_>>().join("\n")
}

#[test]
fn planning_gets_the_commands_of_the_nearest_phase_that_has_any() {
    let (one, two) = (plan(&["make one"]), plan(&["make two", "make all", "make two"]));
    let files = [
        (".planning/phases/01-a/01-01-PLAN.md", one.as_str()),
        (".planning/phases/02-b/02-01-PLAN.md", two.as_str()),
        (".planning/phases/03-c/03-01-PLAN.md", ""),
        (".planning/phases/10-e/10-01-PLAN.md", "<automated>late</automated>"),
        (".planning/ROADMAP.md", "### Phase 4: D\n"),
    ];
    let told = told(&files, of_phase("plan-phase", "4"));
    let commands: Vec<&str> = told["prior_verify_commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command["command"].as_str().unwrap())
        .collect();
    assert_eq!(commands, ["make two", "make all"]);
    assert_eq!(told["prior_verify_commands"][0]["phase"], "02");
    assert_eq!(told["phase_status"], "Pending");
}

#[test]
fn planning_reports_the_status_of_the_phase() {
    let status = |extra: &[(&str, &str)]| {
        let mut files = vec![(".planning/phases/01-a/01-01-PLAN.md", ""), (".planning/phases/01-a/01-02-PLAN.md", "")];
        files.extend(extra);
        told(&files, of_phase("plan-phase", "1"))["phase_status"].clone()
    };
    let first = (".planning/phases/01-a/01-01-SUMMARY.md", "");
    let second = (".planning/phases/01-a/01-02-SUMMARY.md", "");
    let report = |text| (".planning/phases/01-a/01-VERIFICATION.md", text);
    assert_eq!(status(&[]), "Planned");
    assert_eq!(status(&[first]), "In Progress");
    assert_eq!(status(&[first, second]), "Executed");
    assert_eq!(status(&[first, second, report("---\nstatus: human_needed\n---\n")]), "Needs Review");
    assert_eq!(status(&[first, second, report("---\nstatus: passed\n---\n")]), "Complete");
}

fn execute(files: &[(&str, &str)], typed: &str) -> Value {
    told(files, of_phase("execute-phase", typed))
}

#[test]
fn executing_reports_what_is_left() {
    let files = [
        ROADMAP,
        (".planning/phases/01-base/01-01-SUMMARY.md", ""),
        (".planning/phases/02-notes/02-01-PLAN.md", ""),
        (".planning/phases/02-notes/02-02-PLAN.md", "---\nstatus: superseded\n---\n"),
        (".planning/phases/02-notes/02-03-PLAN.md", "---\ngap_closure: true\n---\n"),
        (".planning/phases/02-notes/02-01-SUMMARY.md", ""),
    ];
    let told = execute(&files, "2");
    assert_eq!(told["phase_name"], "Nöte Core");
    assert_eq!(told["plans"], serde_json::json!(["02-01-PLAN.md", "02-03-PLAN.md"]));
    assert_eq!(told["incomplete_plans"], serde_json::json!(["02-03-PLAN.md"]));
    assert!(told["phase_req_ids"].is_null());
    let included = &told["section_manifest"]["included"];
    assert_eq!(*included, serde_json::json!(["gap-closure-artifacts", "regression-gate"]));
    assert_eq!(execute(&files, "1")["phase_req_ids"], "A-1, A-2");
}

#[test]
fn the_state_is_checked_against_the_disk_for_the_current_phase() {
    let files = |plan: &'static str| {
        [
            (".planning/STATE.md", plan),
            (".planning/phases/02-core/02-01-PLAN.md", "x"),
            (".planning/phases/02-core/02-02-PLAN.md", "x"),
            (".planning/phases/03-more/03-01-PLAN.md", "x"),
        ]
    };
    let warnings = |state: &'static str, phase: &str| {
        let told = told(&files(state), of_phase("execute-phase", phase).flag("validate", true));
        assert_eq!(told["state_validation_ran"], true);
        told["state_warnings"].as_array().unwrap().len()
    };
    let state = "# Project State\n\nPhase: 2 of 3 (Core)\nTotal Plans in Phase: 2\n";
    assert_eq!(warnings(state, "2"), 0);
    assert_eq!(warnings(state, "3"), 0, "the state counts the plans of phase 2");
    assert_eq!(warnings("# Project State\n\nPhase: 2 of 3 (Core)\nTotal Plans in Phase: 5\n", "02"), 1);
    assert!(execute(&files(state), "2").get("state_validation_ran").is_none(), "only on request");
}

#[test]
fn plans_after_a_halted_one_cannot_run() {
    let files = [
        (".planning/phases/01-a/01-01-PLAN.md", ""),
        (".planning/phases/01-a/01-01-SUMMARY.md", "---\nstatus: halted\n---\n"),
        (".planning/phases/01-a/01-02-PLAN.md", "---\ndepends_on: [01-01]\n---\n"),
        (".planning/phases/01-a/01-03-PLAN.md", ""),
    ];
    let told = execute(&files, "1");
    assert_eq!(told["halted_plans"], serde_json::json!(["01-01-PLAN.md"]));
    assert_eq!(told["blocked_by"], serde_json::json!({"01-02-PLAN.md": ["01-01"]}));
    assert_eq!(told["incomplete_plans"], serde_json::json!(["01-02-PLAN.md", "01-03-PLAN.md"]));
    assert_eq!(told["runnable_plans"], serde_json::json!(["01-03-PLAN.md"]));
    let cycle = [
        (".planning/phases/01-a/01-01-PLAN.md", "---\ndepends_on: [01-02]\n---\n"),
        (".planning/phases/01-a/01-02-PLAN.md", "---\ndepends_on: [01-01]\n---\n"),
    ];
    assert_eq!(execute(&cycle, "1")["runnable_count"], 0, "a circle has no beginning");
    let waits = serde_json::json!({"01-01-PLAN.md": ["01-02"], "01-02-PLAN.md": ["01-01"]});
    assert_eq!(execute(&cycle, "1")["blocked_by"], waits);
    let alone = [
        (".planning/phases/01-a/01-01-PLAN.md", "---\ndepends_on: [01-01]\n---\n"),
        (".planning/phases/01-a/01-02-PLAN.md", "---\ndepends_on: [01-01]\n---\n"),
        (".planning/phases/01-a/01-03-PLAN.md", ""),
    ];
    let waits = serde_json::json!({"01-01-PLAN.md": ["01-01"], "01-02-PLAN.md": ["01-01"]});
    assert_eq!(execute(&alone, "1")["blocked_by"], waits);
    assert_eq!(execute(&alone, "1")["runnable_plans"], serde_json::json!(["01-03-PLAN.md"]));
}

#[test]
fn branches_are_named_by_their_template() {
    let branch = |config: &str, typed: &str, folder: &str| {
        let config = format!("{{\"git\": {{{config}}}, \"project_code\": \"AC\"}}");
        let marked = (".planning/ROADMAP.md", "- 🚧 **v1.1 Big Sync** - x\n\n### v1.1 Big Sync\n\n#### Phase 2: B\n");
        let files = [(".planning/config.json", config.as_str()), marked, (folder, "")];
        execute(&files, typed)["branch_name"].clone()
    };
    let phase = r#""branching_strategy": "phase""#;
    assert_eq!(branch(phase, "2", ".planning/phases/2-notes/x.md"), "gsd/phase-02-notes");
    assert_eq!(branch(phase, "6", ".planning/phases/06/x.md"), "gsd/phase-06");
    assert_eq!(branch(phase, "9", "x"), Value::Null);
    let mine = r#""branching_strategy": "phase", "phase_branch_template": "{project}/{slug}""#;
    assert_eq!(branch(mine, "2", "x"), "AC/b");
    assert_eq!(branch(r#""branching_strategy": "milestone""#, "9", "x"), "gsd/v1.1-big-sync");
    assert_eq!(branch(r#""branching_strategy": "none""#, "2", "x"), Value::Null);
}

fn progress(files: &[(&str, &str)]) -> Value {
    told(files, FactsCall::of("progress"))
}

/// `number status` of each phase.
fn statuses(told: &Value) -> Vec<String> {
    let phases = told["phases"].as_array().unwrap();
    phases.iter().map(|row| format!("{} {}", row["number"], row["status"]).replace('"', "")).collect()
}

const PASSED: &str = "---\nstatus: passed\n---\n";

#[test]
fn progress_puts_folders_and_sections_in_one_order() {
    let roadmap = "### Phase 1: A\n### Phase 2: B\n### Phase 2.1: C (INSERTED)\n### Phase 3: D\n**Mode:** mvp\n### Phase 4: E\n\
        ### Phase 5: F\n### Phase 999.1: Shelf\n";
    let files = [
        (".planning/ROADMAP.md", roadmap),
        (".planning/phases/01-a/01-01-PLAN.md", ""),
        (".planning/phases/01-a/01-01-SUMMARY.md", ""),
        (".planning/phases/01-a/01-VERIFICATION.md", PASSED),
        (".planning/phases/02-b/02-01-PLAN.md", ""),
        (".planning/phases/02-b/02-01-SUMMARY.md", ""),
        (".planning/phases/03-d/03-01-PLAN.md", ""),
        (".planning/phases/04-e/04-RESEARCH.md", ""),
        (".planning/phases/05-f/notes.md", ""),
        (".planning/phases/999.1-shelf/999.1-01-PLAN.md", ""),
    ];
    // A phase with a checkbox is closed by ticking it, so that comes next; one without is closed by its report.
    let boxed = (".planning/ROADMAP.md", &*format!("- [ ] **Phase 1: A** - a\n\n{roadmap}"));
    let told = progress(&files);
    let expected = ["01 complete", "02 executed", "2.1 not_started", "03 in_progress", "04 researched", "05 pending"];
    assert_eq!(statuses(&told), expected);
    assert_eq!(told["phases"][2]["name"], "c");
    assert_eq!(told["phases"][2]["roadmap_complete"], false);
    assert_eq!(told["phases"][0]["roadmap_complete"], false, "every phase says it");
    assert_eq!((&told["current_phase"]["number"], &told["next_phase"]["number"]), (&"02".into(), &"2.1".into()));
    assert_eq!(progress(&[&files[..], &[boxed]].concat())["current_phase"]["number"], "01");
    assert_eq!((&told["completed_count"], &told["in_progress_count"]), (&1.into(), &2.into()));
    assert_eq!(told["phase_mvp_mode"], false);
    let command = &told["phases"][2]["verification_next_command"];
    assert_eq!(*command, "/gsd-plan-phase 2.1");
}

#[test]
fn the_mode_of_the_current_phase_is_found_however_its_number_is_written() {
    let told = progress(&[ROADMAP, (".planning/phases/02-notes/02-01-PLAN.md", "")]);
    assert_eq!(told["phase_mvp_mode"], true);
    assert_eq!(told["section_manifest"]["included"], serde_json::json!(["mvp-display"]));
}

#[test]
fn interrupted_work_reports_its_position() {
    let paused = |line: &str| {
        let state = format!("# Project State\n\n## Current Position\n\n{line}\n");
        progress(&[(".planning/STATE.md", state.as_str())])["paused_at"].clone()
    };
    assert_eq!(paused("**Paused At:** task 3"), "task 3");
    assert_eq!(paused("Paused At: task 3"), "task 3");
    assert_eq!(paused("Paused At: None"), Value::Null);
    assert_eq!(paused("Status: Executing"), Value::Null);
}

#[test]
fn a_phase_with_a_project_code_is_listed_once() {
    let config = (".planning/config.json", r#"{"project_code": "AC"}"#);
    let told = progress(&[ROADMAP, config, (".planning/phases/AC-01-base/01-01-PLAN.md", "")]);
    assert_eq!(statuses(&told), ["AC-01 in_progress", "2 not_started", "2.1 not_started", "7 not_started"]);
    assert_eq!(told["phases"][0]["name"], "base");
}

#[test]
fn a_ticked_phase_without_a_folder_is_not_next() {
    let roadmap = "- [x] **Phase 1: A** - a\n- [ ] **Phase 2: B** - b\n\n### Phase 1: A\n### Phase 2: B\n";
    assert_eq!(progress(&[(".planning/ROADMAP.md", roadmap)])["next_phase"]["number"], "2");
    assert!(progress(&[])["next_phase"].is_null());
}

fn verify_work(files: &[(&str, &str)]) -> Value {
    told(files, of_phase("verify-work", "1"))
}

#[test]
fn a_phase_is_ready_when_it_is_verified_and_accepted() {
    let plan = (".planning/phases/01-a/01-01-PLAN.md", "");
    let summary = (".planning/phases/01-a/01-01-SUMMARY.md", "");
    let report = (".planning/phases/01-a/01-VERIFICATION.md", PASSED);
    let accepted = (".planning/phases/01-a/01-UAT.md", "### 1. A\nresult: pass\n");
    let roadmap = (".planning/ROADMAP.md", "### Phase 1: A\n**Goal**: It works\n**Requirements**: A-1\n");
    let told = verify_work(&[plan, roadmap]);
    assert_eq!((&told["goal"], &told["phase_req_ids"]), (&"It works".into(), &"A-1".into()), "for a verifier: {told}");
    assert!(told["verifier_model"].is_string() && told["requirements_path"].is_null());
    let told = verify_work(&[plan, summary, report, accepted]);
    assert_eq!(told["phase_completion"]["ready_to_transition"], true);
    assert_eq!(told["phase_completion"]["completion_status"], "complete");
    let told = verify_work(&[plan, summary, accepted]);
    assert_eq!(told["phase_completion"]["ready_to_transition"], false);
    assert_eq!(told["phase_completion"]["completion_status"], "executed");
    assert_eq!(verify_work(&[plan])["phase_completion"]["completion_status"], "incomplete");
    assert_eq!(verify_work(&[])["phase_completion"]["verification_next_command"], "/gsd-plan-phase 1");
}

#[test]
fn user_interfaces_are_tested_if_a_phase_has_any() {
    let plan = (".planning/phases/01-a/01-01-PLAN.md", "");
    let sections =
        |roadmap: &str| verify_work(&[plan, (".planning/ROADMAP.md", roadmap)])["section_manifest"]["included"].clone();
    assert_eq!(sections("### Phase 1: A\n**UI hint**: yes\n"), serde_json::json!(["automated-ui-verification"]));
    assert_eq!(sections("### Phase 1: A\n**Goal**: a command line\n"), serde_json::json!([]));
}

fn milestone_op(files: &[(&str, &str)]) -> Value {
    told(files, FactsCall::of("milestone-op"))
}

fn resume(files: &[(&str, &str)]) -> Value {
    told(files, FactsCall::of("resume"))
}

#[test]
fn a_milestone_is_done_when_every_phase_is() {
    let told = |files: &[(&str, &str)]| {
        let told = milestone_op(files);
        (told["phase_count"].clone(), told["completed_phases"].clone(), told["all_phases_complete"].clone())
    };
    let roadmap = (".planning/ROADMAP.md", "### Phase 1: A\n### Phase 2: B\n");
    let half = [
        roadmap,
        (".planning/phases/01-a/01-01-PLAN.md", ""),
        (".planning/phases/01-a/01-01-SUMMARY.md", ""),
        (".planning/phases/02-b/02-01-PLAN.md", ""),
        (".planning/phases/02-b/02-02-PLAN.md", ""),
        (".planning/phases/02-b/02-01-SUMMARY.md", ""),
    ];
    assert_eq!(told(&half), (2.into(), 0.into(), false.into()), "begun is not done");
    let mut whole = half.to_vec();
    whole.push((".planning/phases/02-b/02-02-SUMMARY.md", ""));
    assert_eq!(told(&whole), (2.into(), 0.into(), false.into()), "executed is neither verified nor closed");
    whole.push((".planning/phases/01-a/01-VERIFICATION.md", PASSED));
    whole[0].1 = "- [x] **Phase 2: B** - b\n\n### Phase 1: A\n### Phase 2: B\n";
    assert_eq!(told(&whole), (2.into(), 2.into(), true.into()));
    assert_eq!(told(&[]), (0.into(), 0.into(), false.into()));
    assert_eq!(told(&half[1..]).0, 2, "without a roadmap the folders count");
}

#[test]
fn setup_is_incomplete_until_every_document_exists_or_a_milestone_was_closed() {
    let incomplete = |files: &[&str]| {
        let files: Vec<(String, &str)> = files.iter().map(|file| (format!(".planning/{file}"), "")).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), *text)).collect();
        resume(&files)["init_incomplete"].clone()
    };
    assert_eq!(incomplete(&[]), false);
    assert_eq!(incomplete(&["PROJECT.md"]), true);
    assert_eq!(incomplete(&["PROJECT.md", "REQUIREMENTS.md", "ROADMAP.md", "STATE.md"]), false);
    assert_eq!(incomplete(&["PROJECT.md", "MILESTONES.md"]), false);
}

#[test]
fn an_interrupted_session_names_its_agent() {
    let told = resume(&[(".planning/current-agent-id.txt", "abc\n")]);
    assert_eq!((&told["has_interrupted_agent"], &told["interrupted_agent_id"]), (&true.into(), &"abc".into()));
}

#[test]
fn existing_code_needs_a_map() {
    let code = facts::CodeFacts { has_package_file: true, ..facts::CodeFacts::default() };
    let wants = |files: &[(&str, &str)]| {
        let told = told(files, FactsCall::of("new-project").with(code.clone()));
        (told["needs_codebase_map"].clone(), told["section_manifest"]["included"].clone())
    };
    assert_eq!(wants(&[]), (true.into(), serde_json::json!(["codebase-map-offer"])));
    let map: Vec<String> = CODE_MAP.iter().map(|file| format!(".planning/codebase/{file}")).collect();
    let map: Vec<(&str, &str)> = map.iter().map(|file| (file.as_str(), "")).collect();
    assert_eq!(wants(&map).0, false);
    assert_eq!(wants(&map[1..]).0, true);
}

#[test]
fn a_new_project_starts_from_the_global_settings_of_the_user() {
    let defaults = |text: Option<&str>| {
        let code = facts::CodeFacts { user_defaults: text.map(str::to_owned), ..facts::CodeFacts::default() };
        told(&[], FactsCall::of("new-project").with(code.clone()))["user_defaults"].clone()
    };
    assert_eq!(defaults(None), serde_json::Value::Null);
    let text = r#"{"mode": "yolo", "brave_search": "a secret", "workflow": {"verifier": false, "x": 1}}"#;
    assert_eq!(defaults(Some(text)), serde_json::json!({"mode": "yolo", "workflow.verifier": false}));
    assert_eq!(defaults(Some("{")), serde_json::json!({}));
}

#[test]
fn a_small_task_gets_a_folder_and_a_branch() {
    let quick = |config: &str, description: Option<&str>| {
        let call = FactsCall::of("quick").text(description.map(str::to_owned)).flag("research", true);
        told(&[(".planning/config.json", config)], call)
    };
    let told = quick("{}", Some("Fix the login bug, which has been there for far too long"));
    assert_eq!(told["task_dir"], "/p/.planning/quick/260102-001-fix-the-login-bug-which-has-been-there-f");
    assert_eq!(told["section_manifest"]["included"], serde_json::json!(["research-phase"]));
    assert!(told["branch_name"].is_null());
    let template = r#"{"git": {"quick_branch_template": "gsd/{num}-{slug}"}}"#;
    assert_eq!(quick(template, Some("Fix it"))["branch_name"], "gsd/260102-001-fix-it");
    let unnamed = quick(template, None);
    assert_eq!((&unnamed["slug"], &unnamed["branch_name"]), (&Value::Null, &"gsd/260102-001-quick".into()));
    assert!(quick("{}", Some("!!!"))["task_dir"].as_str().is_some_and(|folder| folder.ends_with("-quick")));
}
