//! Roadmap, state and requirements agree after every verb that writes them: in the normal course, and when a phase is
//! reopened, inserted, completed twice or out of order, or STATE.md is lost.

use serde_json::Value;

use crate::kit::{Ran, TestContext};

const ROADMAP: &str = ".planning/ROADMAP.md";
const STATE: &str = ".planning/STATE.md";
const REQUIREMENTS: &str = ".planning/REQUIREMENTS.md";

fn run<const N: usize>(context: &TestContext, arguments: [&str; N]) -> Ran {
    context.gsd_with(
        arguments,
        &[("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1768500000000"), ("GSD_SESSION_KEY", "tests")],
        "",
    )
}

fn answer<const N: usize>(context: &TestContext, arguments: [&str; N]) -> Value {
    run(context, arguments).json()
}

fn line<'text>(text: &'text str, start: &str) -> &'text str {
    text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no `{start}` in {text}"))
}

fn git(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Three phases in all three places of the roadmap; the first two have plans and summaries on disk.
fn notebook() -> TestContext {
    let context = TestContext::new();
    context.write(
        ROADMAP,
        "# Roadmap\n\n- [ ] **Phase 1: Add and List** - a\n- [ ] **Phase 2: Search by Tag** - s\n- [ ] **Phase 3: Export** - e\n\n\
         ## Phase Details\n\n### Phase 1: Add and List\n\n**Goal**: g\n**Requirements**: [CLI-01]\n**Plans**: TBD\n\n\
         ### Phase 2: Search by Tag\n\n**Goal**: g\n**Plans**: TBD\n\n### Phase 3: Export\n\n**Goal**: g\n**Plans**: TBD\n\n---\n\n\
         ## Progress\n\n| Phase | Plans Complete | Status | Completed |\n|-------|----------------|--------|-----------|\n\
         | 1. Add and List | 0/TBD | Not started | - |\n| 2. Search by Tag | 0/TBD | Not started | - |\n| 3. Export | 0/TBD | Not started | - |\n",
    );
    context.write(
        REQUIREMENTS,
        "# R\n\n- [ ] **CLI-01**: add\n\n| Requirement | Phase | Status |\n|---|---|---|\n| CLI-01 | Phase 1 | Pending |\n",
    );
    context.write(
        STATE,
        "---\ngsd_state_version: \"1.0\"\n---\n\n# Project State\n\n## Project Reference\n\n**Current focus:** Phase 1 — Add and List\n\n\
         ## Current Position\n\nPhase: 1 of 3 (Add and List)\nPlan: Not started\nStatus: Ready to plan\nLast activity: 2026-01-01 — x\n\n\
         Progress: [░░░░░░░░░░] 0%\n\n## Performance Metrics\n\n- Total plans completed: 0\n\n**By Phase:**\n\n\
         | Phase | Plans | Total | Avg/Plan |\n|-------|-------|-------|----------|\n\n## Session Continuity\n\n\
         Last session: 2026-01-01\nStopped at: x\nResume file: None\n",
    );
    context.write(".planning/PROJECT.md", "# P\n\n## Core Value\n\nNotes never get lost.\n");
    context
}

fn plan(context: &TestContext, phase: &str, folder: &str, number: u32) {
    context.write(&format!(".planning/phases/{folder}/{phase}-0{number}-PLAN.md"), "---\nwave: 1\n---\n\n# Plan\n");
}

fn execute(context: &TestContext, phase: &str, folder: &str, number: u32) {
    let path = format!(".planning/phases/{folder}/{phase}-0{number}-SUMMARY.md");
    context.write(&path, "---\nstatus: complete\n---\n\n# Done\n");
}

fn verify(context: &TestContext, phase: &str, folder: &str) {
    context.write(&format!(".planning/phases/{folder}/{phase}-VERIFICATION.md"), "---\nstatus: passed\n---\n");
}

/// Phase 1 planned, executed, verified and completed.
fn first_phase_done() -> TestContext {
    let context = notebook();
    for number in [1, 2] {
        plan(&context, "01", "01-add-and-list", number);
        execute(&context, "01", "01-add-and-list", number);
    }
    verify(&context, "01", "01-add-and-list");
    assert_eq!(answer(&context, ["phase", "complete", "1"])["roadmap_updated"], true);
    context
}

fn with_roadmap(roadmap: &str) -> TestContext {
    let context = TestContext::new();
    context.write(ROADMAP, roadmap);
    context
}

#[test]
fn a_checklist_line_counts_whether_bold_or_named() {
    let roadmap = "# R\n\n- [ ] Phase 1: Base\n- [ ] **Phase 2**\n- [ ] Phase 3\n\n### Phase 1: Base\n\n**Goal**: g\n\n\
                   - [ ] Phase 7 of the moon is considered\n";
    let context = with_roadmap(roadmap);
    assert_eq!(answer(&context, ["phase", "add", "Next"])["phase_number"], 4);
    let context = with_roadmap(roadmap);
    for (number, phase) in [("1", "01"), ("2", "02"), ("3", "03")] {
        let folder = format!("{phase}-x");
        plan(&context, phase, &folder, 1);
        execute(&context, phase, &folder, 1);
        verify(&context, phase, &folder);
        assert_eq!(answer(&context, ["phase", "complete", number])["roadmap_updated"], true);
    }
    let text = context.read(ROADMAP);
    for done in ["- [x] Phase 1: Base (completed ", "- [x] **Phase 2** (completed ", "- [x] Phase 3 (completed "] {
        assert!(text.contains(done), "{text}");
    }
    let context =
        with_roadmap(&format!("{roadmap}\n| Phase | Plans Complete |\n|---|---|\n| 2. B | 0/1 |\n| 3. C | 0/1 |\n"));
    assert_eq!(answer(&context, ["phase", "remove", "2"])["roadmap_updated"], true);
    let text = context.read(ROADMAP);
    assert!(text.contains("- [ ] Phase 1: Base\n- [ ] Phase 2\n\n") && text.contains("| 2. C | 0/1 |"), "{text}");
}

#[test]
fn phases_of_an_open_block_and_of_the_named_milestone_count() {
    let block = |tag: &str, summary: &str| {
        format!(
            "# R\n\n{tag}\n<summary>{summary}</summary>\n\n- [ ] **Phase 1: A** - a\n- [ ] **Phase 2: B** - b\n\n\
             ### Phase 1: A\n\n**Plans:** 0 plans\n\n### Phase 2: B\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n\
             | 1. A | 0/1 | Not started | - |\n\n</details>\n"
        )
    };
    let open = with_roadmap(&block("<details open>", "v1.0 MVP"));
    let named = with_roadmap(&block("<details>", "✅ v1.0 MVP - SHIPPED"));
    for context in [&open, &named] {
        context
            .write(STATE, "---\nmilestone: v1.0\n---\n\n# S\n\n## Current Position\n\nPhase: 1 of 2 (A)\nStatus: x\n");
        plan(context, "01", "01-a", 1);
        execute(context, "01", "01-a", 1);
        verify(context, "01", "01-a");
        let analysis = answer(context, ["roadmap", "analyze"]);
        assert_eq!((&analysis["phase_count"], &analysis["scope"]), (&2.into(), &"complete".into()), "{analysis}");
        assert_eq!(analysis["next_phase"], "2");
        assert_eq!(answer(context, ["roadmap", "get-phase", "2"])["found"], true);
        assert_eq!(answer(context, ["state", "json"])["progress"]["total_phases"].to_string().trim_matches('"'), "2");
        let complete = answer(context, ["phase", "complete", "1"]);
        assert_eq!((&complete["is_last_phase"], &complete["next_phase"]), (&false.into(), &"2".into()), "{complete}");
        let text = context.read(ROADMAP);
        assert!(text.contains("- [x] **Phase 1: A**") && text.contains("| 1. A | 1/1 | Complete"), "{text}");
        assert!(text.contains("**Plans:** 1/1 plans complete"), "{text}");
    }
    let other = with_roadmap(&block("<details>", "✅ v1.0 MVP - SHIPPED"));
    other.write(STATE, "---\nmilestone: v1.1\n---\n\n# S\n");
    assert_eq!(answer(&other, ["roadmap", "analyze"])["phase_count"], 0, "a milestone before this one stays folded");
}

#[test]
fn an_open_phase_before_the_completed_one_is_next() {
    let context = notebook();
    plan(&context, "03", "03-export", 1);
    execute(&context, "03", "03-export", 1);
    verify(&context, "03", "03-export");
    context.write(STATE, &context.read(STATE).replace("Phase: 1 of 3 (Add and List)", "Phase: 3 of 3 (Export)"));
    let report = answer(&context, ["phase", "complete", "3"]);
    assert_eq!((&report["is_last_phase"], &report["next_phase"]), (&false.into(), &"1".into()), "{report}");
    assert_eq!(report["next_phase_name"], "Add and List");
    let state = context.read(STATE);
    assert_eq!(line(&state, "Phase:"), "Phase: 1 of 3 (Add and List) — READY TO PLAN");
    assert!(!state.contains("All phases complete"), "{state}");
}

#[test]
fn a_persons_text_after_the_count_of_plans_stays() {
    for (label, ending) in [("**Plans**:", "\n"), ("**Plans:**", "\r\n")] {
        let text = format!("# R\n\n### Phase 1: A\n\n{label} 1/2 plans executed (one waits for the API)\nx\n")
            .replace('\n', ending);
        let context = with_roadmap(&text);
        plan(&context, "01", "01-a", 1);
        plan(&context, "01", "01-a", 2);
        execute(&context, "01", "01-a", 1);
        execute(&context, "01", "01-a", 2);
        assert_eq!(answer(&context, ["roadmap", "update-plan-progress", "1"])["updated"], true);
        let after = context.read(ROADMAP);
        assert!(after.contains(&format!("{label} 2/2 plans executed (one waits for the API){ending}")), "{after}");
    }
}

#[test]
fn a_session_entry_gets_a_section_if_there_is_none() {
    for trace in ["| Last work | What |\n|---|---|\n| yesterday | x |\n", "## Last Work\n\n- when: yesterday\n"] {
        let context = TestContext::new();
        context.write(STATE, &format!("# S\n\n{trace}\n| Last session | yesterday |\n"));
        let arguments = ["state", "record-session", "--stopped-at", "Task 2", "--resume-file", "notes.md"];
        let report = answer(&context, arguments);
        assert_eq!((&report["recorded"], &report["created"]), (&true.into(), &true.into()), "{report}");
        let text = context.read(STATE);
        let section = text.split_once("## Session\n").unwrap_or_else(|| panic!("{text}")).1;
        assert!(section.contains("**Stopped at:** Task 2\n**Resume file:** notes.md"), "{text}");
        assert_eq!(answer(&context, ["state-snapshot"])["session"]["stopped_at"], "Task 2");
    }
}

#[test]
fn the_file_to_resume_from_is_given_relative_to_the_project() {
    let context = notebook();
    let file = context.project().join(".planning/phases/01-add-and-list/01-CONTEXT.md");
    answer(&context, ["state", "record-session", "--resume-file", &file.to_string_lossy()]);
    let state = context.read(STATE);
    assert_eq!(line(&state, "Resume file:"), "Resume file: .planning/phases/01-add-and-list/01-CONTEXT.md");
}

#[test]
fn a_subsection_of_the_position_belongs_to_the_user() {
    let notes = "### Notes\n\nPlan: ask Ada first\nStatus: waiting for Ada\n";
    let context = notebook();
    context.write(
        STATE,
        &format!(
            "# S\n\n## Current Position\n\nPhase: 1 of 3 (Add and List)\nLast activity: 2026-01-01\n\n{notes}\n## End\n"
        ),
    );
    plan(&context, "01", "01-add-and-list", 1);
    assert!(answer(&context, ["state", "begin-phase", "--phase", "1"])["updated"].is_array());
    let text = context.read(STATE);
    assert!(text.contains(notes), "{text}");
    let own = text.split_once("### Notes").unwrap().0;
    assert!(own.contains("\nPlan: 1 of 1\nStatus: Executing Phase 1\n"), "{text}");
}

#[test]
fn completing_an_earlier_phase_in_the_state_leaves_a_later_position() {
    let context = notebook();
    context.write(STATE, &context.read(STATE).replace("Phase: 1 of 3 (Add and List)", "Phase: 3 of 3 (Export)"));
    let before = context.read(STATE);
    let report = answer(&context, ["state", "complete-phase", "--phase", "2"]);
    assert_eq!((&report["updated"], &report["idempotent"]), (&Value::Array(vec![]), &true.into()), "{report}");
    assert!(report["note"].as_str().unwrap().contains('3'), "{report}");
    assert_eq!(context.read(STATE), before);
}

#[test]
fn a_status_set_by_the_user_keeps_a_requirement_unchanged() {
    for word in ["Blocked", "Deferred", "Out of Scope", "Waiting for legal"] {
        let context = first_phase_done();
        let text = context.read(REQUIREMENTS).replace("[x]", "[ ]").replace("Complete", word);
        context.write(REQUIREMENTS, &text);
        let report = answer(&context, ["requirements", "mark-complete", "CLI-01"]);
        assert_eq!((&report["updated"], &report["not_found"][0]), (&false.into(), &"CLI-01".into()), "{report}");
        assert_eq!(report["write_set_complete"], false);
        assert!(report["write_set"].as_array().unwrap().iter().all(|write| write["applied"] == false), "{report}");
        // Open again, so that it can be completed.
        context.write(ROADMAP, &context.read(ROADMAP).replace("- [x] **Phase 1", "- [ ] **Phase 1"));
        let report = answer(&context, ["phase", "complete", "1"]);
        assert_eq!(report["requirements_updated"], false, "{report}");
        assert_eq!(context.read(REQUIREMENTS), text);
    }
    let context = notebook();
    context.write(REQUIREMENTS, "# R\n\n- [ ] **CLI-01**: add\n");
    assert_eq!(answer(&context, ["requirements", "mark-complete", "CLI-01"])["marked_complete"][0], "CLI-01");
    assert!(context.read(REQUIREMENTS).contains("[x] **CLI-01**"));
}

#[test]
fn no_plan_in_a_cycle_or_after_a_halted_one_is_runnable() {
    let context = notebook();
    let write = |number: u32, depends_on: &str| {
        let text = format!("---\nwave: 1\ndepends_on: [{depends_on}]\n---\n\n# Plan\n");
        context.write(&format!(".planning/phases/01-add-and-list/01-0{number}-PLAN.md"), &text);
    };
    write(1, "");
    write(2, "\"01-01\"");
    write(3, "\"01-04\"");
    write(4, "\"01-03\"");
    write(5, "\"01-05\"");
    write(6, "");
    context.write(".planning/phases/01-add-and-list/01-01-SUMMARY.md", "---\nstatus: halted\n---\n");
    let report = answer(&context, ["init", "execute-phase", "1"]);
    assert_eq!(report["halted_plans"], serde_json::json!(["01-01-PLAN.md"]), "{report}");
    assert_eq!(report["blocked_by"]["01-02-PLAN.md"], serde_json::json!(["01-01"]));
    assert_eq!(report["runnable_plans"], serde_json::json!(["01-06-PLAN.md"]));
}

#[test]
fn a_halted_plan_keeps_its_phase_open_until_it_is_planned_again_or_superseded() {
    let context = notebook();
    context.write(".planning/config.json", r#"{"commit_docs": false}"#);
    let folder = ".planning/phases/01-add-and-list";
    for number in 1..=3 {
        plan(&context, "01", "01-add-and-list", number);
        let status = if number == 2 { "halted" } else { "complete" };
        context.write(&format!("{folder}/01-0{number}-SUMMARY.md"), &format!("---\nstatus: {status}\n---\n\n# Done\n"));
    }
    context.write(&format!("{folder}/01-VERIFICATION.md"), "---\nstatus: passed\n---\n");
    let recorded = answer(&context, ["plan", "record", "1"]);
    let done: Vec<bool> = (0..3).map(|at| recorded["plans"][at]["done"] == true).collect();
    assert_eq!(done, [true, false, true], "{recorded}");
    let closed = answer(&context, ["plan", "close", "01-03"]);
    assert_eq!(closed["next_plan"], serde_json::Value::Null, "nobody executes a halted plan as it is: {closed}");
    let roadmap = context.read(ROADMAP);
    assert!(roadmap.contains("- [ ] 01-02-PLAN.md") && roadmap.contains("- [x] 01-03-PLAN.md"), "{roadmap}");
    assert_eq!(line(&context.read(STATE), "Plan:"), "Plan: 2 of 3");
    let refused = context.gsd(["phase", "complete", "1"]).failure(1);
    assert!(refused.contains("1 plan halted according to the summary: 01-02-PLAN.md"), "{refused}");
    let bundle = answer(&context, ["init", "execute-phase", "1"]);
    assert_eq!(bundle["halted_plans"], serde_json::json!(["01-02-PLAN.md"]), "{bundle}");
    assert!(bundle["unclosed_plans"].is_null(), "{bundle}");
    let completeness = answer(&context, ["verify", "phase-completeness", "1"]);
    assert_eq!(completeness["errors"][0], "Plans halted by their summaries: 01-02-PLAN.md", "{completeness}");
    let superseded = context.read(&format!("{folder}/01-02-PLAN.md")).replace("wave: 1", "wave: 1\nstatus: superseded");
    context.write(&format!("{folder}/01-02-PLAN.md"), &superseded);
    assert_eq!(answer(&context, ["phase", "complete", "1"])["plans_executed"], "2/2");
}

#[test]
fn planning_a_gap_opens_a_closed_phase_again() {
    let context = first_phase_done();
    let requirements = context.read(REQUIREMENTS);
    assert!(requirements.contains("[x] **CLI-01**"));
    plan(&context, "01", "01-add-and-list", 3);
    let report =
        answer(&context, ["state", "planned-phase", "--phase", "01", "--name", "add-and-list", "--plans", "3"]);
    assert_eq!((&report["reopened"], &report["phase"]), (&true.into(), &"1".into()), "{report}");
    let roadmap = context.read(ROADMAP);
    assert!(roadmap.contains("- [ ] **Phase 1: Add and List** - a\n"), "{roadmap}");
    assert!(roadmap.contains("| 1. Add and List | 2/3 | In Progress|"), "{roadmap}");
    assert!(
        roadmap.contains("**Plans**: 2/3 plans executed\n") && roadmap.contains("- [ ] 01-03-PLAN.md"),
        "{roadmap}"
    );
    let state = context.read(STATE);
    assert_eq!(line(&state, "Phase:"), "Phase: 1 of 3 (Add and List) — READY TO EXECUTE");
    assert_eq!(line(&state, "Plan:"), "Plan: 3 of 3");
    assert!(
        state.contains("completed_phases: 0") && state.contains("**Current focus:** Phase 1 — Add and List\n"),
        "{state}"
    );
    assert_eq!(context.read(REQUIREMENTS), requirements, "what was met stays met");

    let begun = answer(&context, ["state", "begin-phase", "--phase", "01", "--name", "add-and-list", "--plans", "3"]);
    assert_eq!((&begun["phase"], &begun["phase_name"]), (&"1".into(), &"Add and List".into()));
    let state = context.read(STATE);
    assert_eq!(line(&state, "Phase:"), "Phase: 1 of 3 (Add and List) — EXECUTING");
    assert_eq!(line(&state, "Plan:"), "Plan: 3 of 3");
    execute(&context, "01", "01-add-and-list", 3);
    let advanced = answer(&context, ["state", "advance-plan"]);
    assert_eq!((&advanced["reason"], &advanced["current_plan"]), (&"last_plan".into(), &3.into()), "{advanced}");
    let state = context.read(STATE);
    assert_eq!(line(&state, "Phase:"), "Phase: 1 of 3 (Add and List) — READY FOR VERIFICATION");
    assert_eq!(line(&state, "Status:"), "Status: Phase complete — ready for verification");
    verify(&context, "01", "01-add-and-list");
    let report = answer(&context, ["phase", "complete", "1"]);
    assert_eq!(report["plans_executed"], "3/3");
    let roadmap = context.read(ROADMAP);
    assert!(roadmap.contains("- [x] **Phase 1: Add and List** - a (completed "), "{roadmap}");
    assert!(roadmap.contains("| 1. Add and List | 3/3 | Complete"), "{roadmap}");
    assert!(context.read(STATE).contains("completed_phases: 1"));
}

#[test]
fn a_plan_that_comes_later_unticks_its_phase() {
    let context = first_phase_done();
    plan(&context, "01", "01-add-and-list", 3);
    let report = answer(&context, ["roadmap", "update-plan-progress", "1"]);
    assert_eq!((&report["complete"], &report["status"]), (&false.into(), &"In Progress".into()));
    let roadmap = context.read(ROADMAP);
    assert!(roadmap.contains("- [ ] **Phase 1: Add and List** - a\n"), "{roadmap}");
    // With all plans done it stays closed, whatever file was touched since.
    let context = first_phase_done();
    context.write(
        ".planning/phases/01-add-and-list/01-VERIFICATION.md",
        "---\nstatus: passed\ncovered_files: [x]\ncovered_digest: gone\n---\n",
    );
    assert_eq!(answer(&context, ["roadmap", "update-plan-progress", "1"])["complete"], true);
    assert!(context.read(ROADMAP).contains("- [x] **Phase 1: Add and List**"));
}

#[test]
fn the_phase_line_has_one_shape_after_every_verb() {
    let context = notebook();
    let shape = regex::Regex::new(r"^Phase: \d of 3 \((Add and List|Search by Tag|Export)\) — [A-Z ]+$").unwrap();
    let check = |mark: &str| {
        let state = context.read(STATE);
        let phase = line(&state, "Phase:");
        assert!(shape.is_match(phase) && phase.ends_with(&format!("— {mark}")), "{phase}");
        let focus = line(&state, "**Current focus:**");
        let number = &phase["Phase: ".len().."Phase: 1".len()];
        assert!(focus.contains(&format!("Phase {number} — ")), "{focus} beside {phase}");
    };
    for number in [1, 2] {
        plan(&context, "01", "01-add-and-list", number);
    }
    answer(&context, ["state", "planned-phase", "--phase", "01", "--name", "add-and-list", "--plans", "2"]);
    check("READY TO EXECUTE");
    assert!(context.read(ROADMAP).contains("| 1. Add and List | 0/2 | Planned"), "{}", context.read(ROADMAP));
    answer(&context, ["state", "begin-phase", "--phase", "01", "--name", "add-and-list", "--plans", "2"]);
    check("EXECUTING");
    execute(&context, "01", "01-add-and-list", 1);
    answer(&context, ["state", "record-metric", "--phase", "1", "--plan", "1", "--duration", "15min"]);
    answer(&context, ["state", "advance-plan"]);
    check("EXECUTING");
    assert_eq!(line(&context.read(STATE), "Status:"), "Status: Executing Phase 1");
    execute(&context, "01", "01-add-and-list", 2);
    answer(&context, ["state", "record-metric", "--phase", "01", "--plan", "2", "--duration", "25min"]);
    answer(&context, ["state", "advance-plan"]);
    check("READY FOR VERIFICATION");
    answer(&context, ["state", "complete-phase", "--phase", "01"]);
    check("COMPLETE");
    verify(&context, "01", "01-add-and-list");
    let report = answer(&context, ["phase", "complete", "01"]);
    assert_eq!((&report["phase_name"], &report["next_phase_name"]), (&"Add and List".into(), &"Search by Tag".into()));
    check("READY TO PLAN");
    let state = context.read(STATE);
    assert!(state.contains("| 01 | 2 | 40min | 20min |"), "{state}");
}

#[test]
fn a_new_phase_is_in_all_places_and_completing_it_ticks_all_of_them() {
    let context = notebook();
    answer(&context, ["phase", "add", "Tag Cloud"]);
    let inserted = answer(&context, ["phase", "insert", "2", "Hot Fix"]);
    assert_eq!(
        (&inserted["phase_number"], &inserted["directory"]),
        (&"2.1".into(), &".planning/phases/02.1-hot-fix".into())
    );
    let roadmap = context.read(ROADMAP);
    assert!(roadmap.contains("- [ ] **Phase 3: Export** - e\n- [ ] **Phase 4: Tag Cloud**\n"), "{roadmap}");
    assert!(roadmap.contains("Tag** - s\n- [ ] **Phase 2.1: Hot Fix (INSERTED)**\n"), "{roadmap}");
    assert!(roadmap.contains("### Phase 4: Tag Cloud\n") && roadmap.contains("### Phase 2.1: Hot Fix (INSERTED)\n"));
    assert!(roadmap.contains("| 2. Search by Tag | 0/TBD | Not started | - |\n| 2.1. Hot Fix | 0/TBD"), "{roadmap}");
    assert!(roadmap.contains("| 3. Export | 0/TBD | Not started | - |\n| 4. Tag Cloud | 0/TBD"), "{roadmap}");
    assert_eq!(answer(&context, ["roadmap", "validate"])["mismatches"], Value::Array(vec![]));
    for (number, phase, folder) in [("2.1", "02.1", "02.1-hot-fix"), ("4", "04", "04-tag-cloud")] {
        plan(&context, phase, folder, 1);
        execute(&context, phase, folder, 1);
        verify(&context, phase, folder);
        answer(&context, ["phase", "complete", number]);
        let roadmap = context.read(ROADMAP);
        assert!(roadmap.contains(&format!("- [x] **Phase {number}: ")), "{roadmap}");
        let row = line(&roadmap, &format!("| {number}. "));
        assert!(row.contains("| 1/1 | Complete"), "{row}");
        assert!(!roadmap.contains(&format!("plan-phase {number} to")), "{roadmap}");
        assert!(roadmap.contains(&format!("- [x] {phase}-01-PLAN.md")), "{roadmap}");
    }
}

#[test]
fn completing_a_closed_phase_again_changes_nothing() {
    let context = first_phase_done();
    plan(&context, "02", "02-search-by-tag", 1);
    answer(&context, ["state", "begin-phase", "--phase", "2"]);
    let before = [ROADMAP, STATE, REQUIREMENTS].map(|path| context.read(path));
    let report = answer(&context, ["phase", "complete", "1"]);
    assert_eq!((&report["already_complete"], &report["updated"]), (&true.into(), &false.into()), "{report}");
    assert_eq!((&report["next_phase"], &report["state_updated"]), (&"2".into(), &false.into()));
    assert_eq!([ROADMAP, STATE, REQUIREMENTS].map(|path| context.read(path)), before);
    // A phase away from the position is completed, and the position stays.
    context.write(STATE, &context.read(STATE).replace("Phase: 2 of 3 (Search by Tag)", "Phase: 3 of 3 (Export)"));
    execute(&context, "02", "02-search-by-tag", 1);
    verify(&context, "02", "02-search-by-tag");
    assert_eq!(answer(&context, ["phase", "complete", "2"])["roadmap_updated"], true);
    assert_eq!(line(&context.read(STATE), "Phase:"), "Phase: 3 of 3 (Export) — EXECUTING");
}

#[test]
fn a_lost_state_is_made_from_roadmap_and_disk() {
    let context = first_phase_done();
    plan(&context, "02", "02-search-by-tag", 1);
    plan(&context, "02", "02-search-by-tag", 2);
    execute(&context, "02", "02-search-by-tag", 1);
    std::fs::remove_file(context.project().join(STATE)).unwrap();
    let told = answer(&context, ["state", "begin-phase", "--phase", "2"]);
    assert_eq!(told["error"], "STATE.md not found");
    assert!(told["hint"].as_str().unwrap().contains("gsd-tools state rebuild"), "{told}");
    let health = answer(&context, ["validate", "health"]);
    assert!(health["errors"].to_string().contains("gsd-tools state rebuild"), "{health}");
    assert_eq!(answer(&context, ["state", "rebuild", "--dry-run"])["created"], true);
    assert!(!context.project().join(STATE).exists());
    assert_eq!(answer(&context, ["state", "rebuild"])["created"], true);
    let state = context.read(STATE);
    assert!(!state.contains('{'), "{state}");
    assert_eq!(line(&state, "Phase:"), "Phase: 2 of 3 (Search by Tag) — EXECUTING");
    assert_eq!((line(&state, "Plan:"), line(&state, "Status:")), ("Plan: 2 of 2", "Status: Executing Phase 2"));
    assert!(state.contains("Notes never get lost.") && state.contains("completed_phases: 1"), "{state}");
    assert!(state.contains("| 01 | 2 |") && state.contains("- Total plans completed: 3\n"), "{state}");
    assert_eq!(answer(&context, ["state", "advance-plan"])["reason"], "plans_outstanding");
    assert_eq!(answer(&context, ["state", "rebuild"])["rebuilt"], false, "a second time there is nothing to do");
}

#[test]
fn a_position_that_names_no_phase_is_filled_in_and_the_rest_of_the_state_is_kept() {
    let context = first_phase_done();
    context.write(STATE, "# Project State\n\n## Accumulated Context\n\n### Decisions\n\n- Plain files\n");
    let validated = answer(&context, ["state", "validate"]);
    assert_eq!(validated["warnings"][0]["code"], "S002", "{validated}");
    assert!(validated.to_string().contains("gsd-tools state rebuild"), "{validated}");
    assert_eq!(answer(&context, ["state", "rebuild", "--dry-run"])["mutated"], true);
    assert_eq!(answer(&context, ["state", "rebuild"])["rebuilt"], true);
    let state = context.read(STATE);
    assert_eq!(line(&state, "Phase:"), "Phase: 2 of 3 (Search by Tag) — READY TO PLAN");
    assert!(state.contains("### Decisions\n\n- Plain files\n") && state.contains("position-filled-in"), "{state}");
    let validated = answer(&context, ["state", "validate"]);
    assert!(!validated.to_string().contains("S002"), "{validated}");
    assert_eq!(answer(&context, ["state", "rebuild"])["rebuilt"], false, "a second time there is nothing to do");
}

#[test]
fn a_garbled_state_is_refused_and_set_aside_on_request() {
    let garbled: [&[u8]; 3] = [b"U29tZSBnYXJiYWdlIGluIGJhc2U2NA==\n", b"# S\n\nStatus: \0\x01\n", b"# S\n\xff\xfe\n"];
    for bytes in garbled {
        let context = first_phase_done();
        std::fs::write(context.project().join(STATE), bytes).unwrap();
        for arguments in [["state", "begin-phase", "--phase", "2"], ["state", "update", "Status", "x"]] {
            let told = run(&context, arguments).failure(1);
            assert!(told.contains("gsd-tools state rebuild --set-aside"), "{told}");
        }
        let told = run(&context, ["state", "rebuild"]).failure(1);
        assert!(told.contains("--set-aside"), "{told}");
        assert_eq!(std::fs::read(context.project().join(STATE)).unwrap(), bytes, "nothing is written unasked");
        let health = answer(&context, ["validate", "health"]);
        assert_eq!(health["status"], "broken", "{health}");
        assert!(health["errors"].to_string().contains("--set-aside"), "{health}");
        let report = answer(&context, ["state", "rebuild", "--set-aside"]);
        let kept = report["set_aside"].as_str().unwrap();
        assert!(kept.starts_with(".planning/STATE.md.broken-"), "{kept}");
        assert_eq!(std::fs::read(context.project().join(kept)).unwrap(), bytes, "nothing of the user's is lost");
        assert_eq!(line(&context.read(STATE), "Phase:"), "Phase: 2 of 3 (Search by Tag) — READY TO PLAN");
    }
    let context = first_phase_done();
    context.write(STATE, &format!("{}\n<<<<<<< HEAD\nx\n=======\n>>>>>>> y\n", context.read(STATE)));
    assert!(answer(&context, ["validate", "health"])["errors"].to_string().contains("merge conflict"));
}

#[test]
fn the_places_of_the_roadmap_are_compared() {
    let context = notebook();
    let text = context
        .read(ROADMAP)
        .replace("### Phase 3: Export", "### Phase 3: Import")
        .replace("---\n\n## Progress", "### Phase 4: Alone\n\n---\n\n## Progress");
    context.write(ROADMAP, &text);
    let at = |start: &str| text.lines().position(|line| line.starts_with(start)).unwrap() + 1;
    let found = answer(&context, ["roadmap", "validate"])["mismatches"].as_array().unwrap().clone();
    let told = |phase: &str, line: usize, word: &str| {
        let fits = |found: &&Value| {
            found["phase"] == phase && found["line"] == line && found["message"].as_str().unwrap().contains(word)
        };
        assert_eq!(found.iter().filter(fits).count(), 1, "{phase} {line} {word}: {found:#?}");
    };
    told("3", at("- [ ] **Phase 3"), "`Import`");
    told("3", at("| 3. Export"), "`Import`");
    told("4", at("### Phase 4"), "checklist");
    told("4", at("### Phase 4"), "Progress table");
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|found| found["fix"].as_str().unwrap().contains("ROADMAP.md")));
    let warnings = answer(&context, ["validate", "consistency"])["warnings"].to_string();
    assert!(warnings.contains("Import") && warnings.contains("Progress table"), "{warnings}");
}

#[test]
fn a_fingerprint_that_cannot_be_taken_names_the_file() {
    let context = notebook();
    let fingerprint =
        |file: &str| run(&context, ["verification", "fingerprint", ".planning/phases/01-x", file]).failure(1);
    assert!(fingerprint("src/gone.rs").contains("`src/gone.rs` does not exist"));
    assert!(fingerprint("../other.rs").contains("`../other.rs` is outside the project"));
    assert!(fingerprint(".planning").contains("`.planning` is not a regular file"));
}

#[test]
fn a_missing_file_is_reported_by_commit() {
    let context = notebook();
    git(&context, &["init", "-q"]);
    let ran = run(&context, ["commit", "docs: x", "--files", "missing.md"]);
    assert!(ran.stderr.contains("`missing.md` does not exist"), "{}", ran.stderr);
    let report = ran.json();
    assert_eq!((&report["reason"], &report["skipped_files"][0]), (&"nothing_to_commit".into(), &"missing.md".into()));
}

#[test]
fn a_commit_waits_for_the_lock_of_another_git() {
    let context = notebook();
    git(&context, &["init", "-q"]);
    let lock = context.project().join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    let released = std::thread::spawn({
        let lock = lock.clone();
        move || {
            std::thread::sleep(std::time::Duration::from_millis(1500));
            std::fs::remove_file(lock).unwrap();
        }
    });
    let report = answer(&context, ["commit", "docs: state", "--files", STATE]);
    released.join().unwrap();
    assert_eq!(report["committed"], true, "{report}");
    assert_eq!(git(&context, &["log", "-1", "--format=%s"]).trim(), "docs: state");
}

#[test]
fn a_lock_of_another_git_that_is_never_released_is_a_failure() {
    let context = notebook();
    git(&context, &["init", "-q"]);
    let lock = context.project().join(".git/index.lock");
    context.write(STATE, &format!("{}\nmore\n", context.read(STATE)));
    std::fs::write(&lock, "").unwrap();
    let ran = run(&context, ["commit", "docs: more", "--files", STATE]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["committed"], &report["reason"]), (&false.into(), &"staging_failed".into()));
    assert!(report["error"].as_str().unwrap().contains("index.lock"), "{report}");
}

#[test]
fn a_claim_is_honoured_and_not_shown_by_git() {
    let context = notebook();
    git(&context, &["init", "-q"]);
    git(&context, &["add", "-A"]);
    git(&context, &["commit", "-q", "-m", "init"]);
    let begin = |session: &str, phase: &str| {
        let environment = [("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1768500000000"), ("GSD_SESSION_KEY", session)];
        context.gsd_with(["state", "begin-phase", "--phase", phase], &environment, "").json()
    };
    assert_eq!(begin("one", "1")["milestone_conflict"], Value::Null);
    let status = git(&context, &["status", "--porcelain", "--untracked-files=all", "--ignored"]);
    assert!(!status.contains("lock"), "{status}");
    let conflict = &begin("two", "2")["milestone_conflict"];
    assert_eq!(conflict["locked_phase"], "1", "{conflict}");
    // A claim that another program keeps in the tree counts too, and the next claim moves it out of the tree.
    let claim = |phase: &str, session: &str| {
        format!(
            "{{\"phase\": \"{phase}\", \"session\": \"gsd-session-key-{session}\", \"pid\": 1, \"updated_at\": 1768500000000}}"
        )
    };
    context.write(".planning/milestone.lock", &claim("3", "three"));
    assert_eq!(begin("one", "1")["milestone_conflict"]["locked_phase"], "3");
    context.write(".planning/milestone.lock", &claim("1", "one"));
    assert_eq!(begin("one", "1")["milestone_conflict"], Value::Null);
    assert!(!context.project().join(".planning/milestone.lock").exists());
    // Another project has its own claims.
    assert_eq!(begin("two", "2")["milestone_conflict"]["locked_phase"], "1");
}

#[test]
fn a_report_is_found_by_the_number_of_its_phase() {
    let context = notebook();
    let folder = ".planning/phases/01-add-and-list";
    context.write(&format!("{folder}/01-01-PLAN.md"), "---\nphase: 1\n---\n");
    context.write(&format!("{folder}/01-VERIFICATION.md"), "---\nstatus: human_needed\n---\n");
    for typed in ["1", "01", folder] {
        let told = answer(&context, ["verification", "status", typed]);
        assert_eq!(told["status"], "human_needed", "{typed}: {told}");
    }
    assert_eq!(answer(&context, ["verification", "status", "2"])["next_command"], "/gsd-plan-phase 2");
    assert!(run(&context, ["verification", "status", "9"]).failure(1).contains("no phase `9`"));
    // The report of a quick task is requested by its folder.
    context.write(".planning/quick/q1/q1-VERIFICATION.md", "---\nstatus: passed\n---\n");
    assert_eq!(answer(&context, ["verification", "status", ".planning/quick/q1"])["status"], "passed");
}

#[test]
fn a_phase_added_when_all_is_complete_becomes_the_position() {
    let context = notebook();
    let roadmap = context.read(ROADMAP).replace("- [ ]", "- [x]").replace("Not started |", "Complete |");
    context.write(ROADMAP, &roadmap);
    let state = context.read(STATE).replace("Status: Ready to plan", "Status: All phases complete");
    context.write(STATE, &state.replace("Phase: 1 of 3 (Add and List)", "Phase: 3 of 3 (Export) — COMPLETE"));
    run(&context, ["phase", "add", "Tag Cloud"]).success();
    let state = context.read(STATE);
    assert_eq!(line(&state, "Phase: "), "Phase: 4 of 4 (Tag Cloud) — READY TO PLAN");
    assert_eq!(line(&state, "Status: "), "Status: Ready to plan");
    assert_eq!(line(&state, "Plan: "), "Plan: Not started");
    assert!(line(&state, "**Current focus:**").contains("Tag Cloud"), "{state}");
    assert_eq!(answer(&context, ["roadmap", "analyze"])["current_phase"], "4");
    assert_eq!(answer(&context, ["state", "json"])["progress"]["completed_phases"], 3);
    // In the middle of a milestone the position stays.
    run(&context, ["phase", "add", "Sync"]).success();
    assert_eq!(line(&context.read(STATE), "Phase: "), "Phase: 4 of 5 (Tag Cloud) — READY TO PLAN");
}

#[test]
fn recording_a_gap_plan_returns_to_its_phase_in_every_line() {
    let context = notebook();
    let folder = ".planning/phases/01-add-and-list";
    context.write(&format!("{folder}/01-01-PLAN.md"), "---\nphase: 01-add-and-list\nplan: 01\nwave: 1\n---\n");
    context.write(&format!("{folder}/01-01-SUMMARY.md"), "---\nphase: 01-add-and-list\nplan: 01\n---\n");
    context.write(&format!("{folder}/01-VERIFICATION.md"), "---\nstatus: passed\n---\n");
    run(&context, ["phase", "complete", "1"]).success();
    assert!(line(&context.read(STATE), "**Current focus:**").contains("Search by Tag"));
    let gap =
        "---\nphase: 01-add-and-list\nplan: 02\nwave: 1\n---\n<objective>\nList what was added last\n</objective>\n";
    context.write(&format!("{folder}/01-02-PLAN.md"), gap);
    assert!(run(&context, ["plan", "record", "1"]).stdout.contains("01-02"));
    let state = context.read(STATE);
    assert!(line(&state, "**Current focus:**").contains("Add and List"), "{state}");
    assert_eq!(line(&state, "Phase: "), "Phase: 1 of 3 (Add and List) — READY TO EXECUTE");
    assert_eq!(line(&state, "Plan: "), "Plan: 2 of 2");
    let roadmap = context.read(ROADMAP);
    assert!(roadmap.contains("- [ ] 01-02-PLAN.md — List what was added last"), "{roadmap}");
    assert!(line(&roadmap, "- [ ] **Phase 1").contains("Add and List"), "{roadmap}");
}

#[test]
fn a_blocked_plan_is_still_to_be_done_for_every_verb() {
    let context = notebook();
    let folder = "01-add-and-list";
    let file = |name: &str| format!(".planning/phases/{folder}/01-{name}.md");
    for number in [1, 2] {
        let plan = "---\nwave: 1\nrequirements: [CLI-01]\n---\n\n# Plan\n";
        context.write(&file(&format!("0{number}-PLAN")), plan);
    }
    git(&context, &["init", "-q"]);
    run(&context, ["plan", "record", "1"]).success();
    context.write(&file("01-SUMMARY"), "---\nstatus: blocked\n---\n\n# Phase 1 Plan 1: Add Summary\n");
    context.write(&file("02-SUMMARY"), "---\nstatus: complete\n---\n\n# Phase 1 Plan 2: List Summary\n");
    let closed = answer(&context, ["plan", "close", "01-02"]);
    assert_eq!(closed["closed"][0]["requirements_waiting"], serde_json::json!(["CLI-01"]), "{closed}");
    assert_eq!(closed["next_plan"], "01-01");
    let (roadmap, state) = (context.read(ROADMAP), context.read(STATE));
    assert!(roadmap.contains("- [ ] 01-01-PLAN.md") && roadmap.contains("- [x] 01-02-PLAN.md"), "{roadmap}");
    assert!(roadmap.contains("**Plans**: 1/2 plans executed"), "{roadmap}");
    assert!(!state.contains("READY FOR VERIFICATION"), "{state}");
    assert_eq!(line(&state, "Plan:"), "Plan: 1 of 2");
    assert!(context.read(REQUIREMENTS).contains("- [ ] **CLI-01**"));
    let payload = answer(&context, ["init", "execute-phase", "1"]);
    assert_eq!(payload["unclosed_plans"], Value::Null, "{payload}");
    assert_eq!(
        payload["incomplete_plans"],
        answer(&context, ["verify", "phase-completeness", "1"])["incomplete_plans"]
    );
    assert_eq!(payload["incomplete_plans"], serde_json::json!(["01-01-PLAN.md"]));
    assert_eq!(answer(&context, ["phase-plan-index", "1"])["incomplete"], serde_json::json!(["01-01"]));
    verify(&context, "01", folder);
    let refused = run(&context, ["phase", "complete", "1"]).failure(1);
    assert!(refused.contains("1 plan blocked according to the summary: 01-01-PLAN.md"), "{refused}");
    assert!(context.read(ROADMAP).contains("- [ ] **Phase 1: Add and List**"));

    context.write(&file("01-SUMMARY"), "---\nstatus: complete\n---\n\n# Phase 1 Plan 1: Add Summary\n");
    assert_eq!(answer(&context, ["init", "execute-phase", "1"])["unclosed_plans"], serde_json::json!(["01-01"]));
    let closed = answer(&context, ["plan", "close", "01-01"]);
    assert_eq!(closed["closed"][0]["requirements_completed"], serde_json::json!(["CLI-01"]), "{closed}");
    assert!(context.read(STATE).contains("READY FOR VERIFICATION"));
    // The report covers the summary in its current state, however long the calls took.
    verify(&context, "01", folder);
    assert!(run(&context, ["phase", "complete", "1"]).success().contains("2/2"));
}

#[test]
fn the_position_is_at_the_first_plan_that_is_still_to_be_done() {
    let context = notebook();
    let folder = "01-add-and-list";
    (1..=3).for_each(|number| plan(&context, "01", folder, number));
    git(&context, &["init", "-q"]);
    run(&context, ["state", "begin-phase", "--phase", "1"]).success();
    for number in [2, 3] {
        execute(&context, "01", folder, number);
        let closed = answer(&context, ["plan", "close", &format!("01-0{number}")]);
        assert_eq!(closed["next_plan"], "01-01");
        assert_eq!(line(&context.read(STATE), "Plan:"), "Plan: 1 of 3");
        let done = number - 1;
        assert_eq!(line(&context.read(STATE), "- Total plans completed:"), format!("- Total plans completed: {done}"));
        assert_eq!(line(&context.read(STATE), "| 1 |"), format!("| 1 | {done} | - | - |"));
    }
    let row = &answer(&context, ["init", "progress"])["phases"][0];
    assert_eq!((&row["roadmap_number"], &row["roadmap_name"]), (&"1".into(), &"Add and List".into()), "{row}");
    run(&context, ["state", "begin-phase", "--phase", "1"]).success();
    assert_eq!(line(&context.read(STATE), "Plan:"), "Plan: 1 of 3");
    let advanced = answer(&context, ["state", "advance-plan"]);
    assert_eq!(advanced["outstanding_plans"], serde_json::json!(["01-01-PLAN.md"]), "{advanced}");
    assert_eq!(line(&context.read(STATE), "Plan:"), "Plan: 1 of 3");
    let text = context.read(STATE);
    context.write(STATE, &text.replace("Plan: 1 of 3", "Plan: 3 of 3"));
    run(&context, ["state", "begin-phase", "--phase", "1"]).success();
    assert_eq!(line(&context.read(STATE), "Plan:"), "Plan: 1 of 3", "plan 3 is done");
    std::fs::remove_file(context.project().join(STATE)).unwrap();
    run(&context, ["state", "rebuild"]).success();
    assert_eq!(line(&context.read(STATE), "Plan:"), "Plan: 1 of 3");
}

#[test]
fn every_check_knows_a_phase_of_the_folded_current_milestone() {
    let context = with_roadmap(
        "# R\n\n<details>\n<summary>v1.0 MVP</summary>\n\n- [ ] **Phase 3: C** - c\n\n### Phase 3: C\n\n**Goal**: g\n\n</details>\n",
    );
    context.write(STATE, "---\nmilestone: v1.0\n---\n\n# S\n\n## Current Position\n\nPhase: 3 of 3 (C)\nStatus: x\n");
    assert_eq!(answer(&context, ["roadmap", "get-phase", "3"])["found"], true);
    run(&context, ["check", "ui-plan-gate", "3"]).success();
    assert_eq!(answer(&context, ["verification", "status", "3"])["status"], "missing");
}

#[test]
fn a_closed_phase_is_not_forgotten_when_its_acceptance_test_failed() {
    let context = first_phase_done();
    let uat = "---\nstatus: complete\n---\n\n## Tests\n\n### 1. Add\nexpected: x\nresult: issue\n\n## Gaps\n\n\
               - gap_id: G-01-1\n  truth: \"Notes are added\"\n  status: failed\n  test: 1\n";
    let path = ".planning/phases/01-add-and-list/01-UAT.md";
    context.write(path, uat);
    let said = || {
        let payload = serde_json::json!({ "session_id": "s", "hook_event_name": "E", "cwd": context.project() });
        context.gsd_with(["hook", "standard", "session-start"], &[], &payload.to_string()).success()
    };
    assert!(
        said().contains(
            "Open: the acceptance test of phase 1 (1 gap) is not finished. Continue with `/gsd-verify-work 1`."
        ),
        "{}",
        said()
    );
    let entry = answer(&context, ["smart-entry", "--json"]);
    assert_eq!(entry["notice"], "the acceptance test of phase 1 is open", "{entry}");
    context.write(path, &uat.replace("complete", "testing").replace("result: issue", "result: [pending]"));
    assert!(
        said().contains(
            "Open: the acceptance test of phase 1 (1 test, 1 gap) is not finished. Continue with `/gsd-verify-work 1`."
        ),
        "{}",
        said()
    );
    context.write(path, &uat.replace("failed", "resolved"));
    assert_eq!(said(), "");
    assert_eq!(answer(&context, ["smart-entry", "--json"])["notice"], Value::Null);
}
