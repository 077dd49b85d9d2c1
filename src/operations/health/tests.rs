//! The checks on projects in memory.

use super::*;
use crate::project::files::MemoryFiles;
use crate::project::layout::Layout;
use crate::project::view::ProjectView;

fn view(files: &[(&str, &str)]) -> ProjectView {
    ProjectView::of(files.iter().copied())
}

fn facts() -> HealthFacts {
    HealthFacts { command_prefix: "/gsd-".into(), ..HealthFacts::default() }
}

fn told(findings: &[HealthFinding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect()
}

const PLAN: &str = "---\nwave: 1\n---\n";
const PROJECT: &str = "# P\n\n## What This Is\n\n## Core Value\n\n## Requirements\n";
const CONFIG: &str = "{\"workflow\": {\"nyquist_validation\": true, \"ai_integration_phase\": false}}";
const ROADMAP: &str = "## Phases\n- [x] **Phase 1: A** - a\n- [ ] **Phase 2: B** - b\n- [ ] **Phase 4: D** - d\n\n\
    ### Phase 1: A\n### Phase 2: B\n### Phase 3: C\n### Phase 4: D\n";

/// A project without findings, with some files replaced; an empty text removes the file.
fn project(changed: &[(&'static str, &'static str)]) -> ProjectView {
    let mut files = vec![
        (".planning/PROJECT.md", PROJECT),
        (".planning/ROADMAP.md", "- [ ] **Phase 1: A** - a\n\n### Phase 1: A\n"),
        (".planning/STATE.md", "---\nstatus: executing\n---\n## Current Position\nPhase: 1 of 1 (A)\n"),
        (".planning/config.json", CONFIG),
    ];
    for (path, text) in changed {
        files.retain(|(known, _)| known != path);
        if !text.is_empty() {
            files.push((path, text));
        }
    }
    view(&files)
}

#[test]
fn the_roadmap_and_the_disk_are_compared_by_phase_not_by_spelling() {
    let view = view(&[
        (".planning/ROADMAP.md", ROADMAP),
        (".planning/phases/1-a/1-01-PLAN.md", PLAN),
        (".planning/phases/02-b/02-01-PLAN.md", PLAN),
        (".planning/phases/02-twin/.gitkeep", "x"),
        (".planning/phases/02.1-fix/.gitkeep", "x"),
        (".planning/phases/999-later/.gitkeep", "x"),
        (".planning/phases/07-x/.gitkeep", "x"),
        (".planning/phases/notes/.gitkeep", "x"),
    ]);
    assert_eq!(
        told(&consistency(&view, true).unwrap().warnings),
        [
            "W006 Phase 3 is in ROADMAP.md but has no folder",
            "W007 Phase 02.1 has a folder but is not in ROADMAP.md",
            "W007 Phase 07 has a folder but is not in ROADMAP.md",
            "W007 Phase notes has a folder but is not in ROADMAP.md",
            "C005 Phase 3 is in the details (line 8) and missing in the checklist",
            "C001 Gap in phase numbering: 4 → 7",
        ]
    );
    assert_eq!(
        consistency(&view, false).unwrap().warning_count,
        Some(5),
        "phases with names of their own have no gaps"
    );
}

#[test]
fn a_phase_whose_folder_is_in_an_archive_does_not_lack_one() {
    let roadmap = "- [x] **Phase 1: A** - a\n- [x] **Phase 2: B** - b\n- [x] **Phase 3: C** - c\n\n\
        ### Phase 1: A\n### Phase 2: B\n### Phase 3: C\n";
    let view = view(&[
        (".planning/ROADMAP.md", roadmap),
        (".planning/milestones/v1.0-phases/01-a/.gitkeep", "x"),
        (".planning/milestones/v2.0-phases/ACME-02-b/.gitkeep", "x"),
    ]);
    let only_the_third = ["W006 Phase 3 is in ROADMAP.md but has no folder"];
    assert_eq!(told(&consistency(&view, true).unwrap().warnings), only_the_third);
    let health = check(&view, &facts()).unwrap().warnings;
    let of_folders: Vec<_> = health.into_iter().filter(|finding| finding.code == "W006").collect();
    assert_eq!(told(&of_folders), only_the_third);
}

#[test]
fn models_that_are_not_an_object_are_reported() {
    let told = |models: &str| {
        let config = format!(
            "{{\"models\": {models}, \"workflow\": {{\"nyquist_validation\": true, \"ai_integration_phase\": true}}}}"
        );
        let view = project(&[(".planning/config.json", Box::leak(config.into_boxed_str()))]);
        check(&view, &facts()).unwrap().warnings.iter().filter(|finding| finding.code == "W022").count()
    };
    for models in ["\"opus\"", "5", "true", "[\"opus\"]"] {
        assert_eq!(told(models), 1, "{models}");
    }
    assert_eq!(told("null") + told("{}"), 0);
}

#[test]
fn plans_have_numbers_without_gaps_summaries_and_waves() {
    let view = view(&[
        (".planning/ROADMAP.md", "### Phase 2-01: A\n"),
        (".planning/phases/02-01-a/02-01-01-PLAN.md", PLAN),
        (".planning/phases/02-01-a/02-01-02-words-PLAN.md", "no front matter"),
        (".planning/phases/02-01-a/plans/PLAN-03.md", PLAN),
        (".planning/phases/02-01-a/02-01-06-PLAN.md", "---\nphase: 1\n---\n"),
        (".planning/phases/02-01-a/02-01-01-SUMMARY.md", "x"),
        (".planning/phases/02-01-a/02-01-09-SUMMARY.md", "x"),
    ]);
    assert_eq!(
        told(&consistency(&view, true).unwrap().warnings),
        [
            "C002 Gap in plan numbering in 02-01-a: plan 3 → 6",
            "C003 02-01-09-SUMMARY.md in 02-01-a has no plan",
            "C004 02-01-a/02-01-02-words-PLAN.md has no `wave` in its front matter",
            "C004 02-01-a/02-01-06-PLAN.md has no `wave` in its front matter",
        ]
    );
}

#[test]
fn without_a_roadmap_nothing_is_consistent() {
    let report = consistency(&view(&[]), true).unwrap();
    assert_eq!((report.passed, report.errors, report.warning_count), (false, vec!["there is no ROADMAP.md"], None));
}

#[test]
fn a_complete_project_is_healthy() {
    let report = check(&project(&[]), &facts()).unwrap();
    assert_eq!((report.status, told(&report.warnings)), ("healthy", Vec::new()));
    assert_eq!(check(&view(&[]), &facts()).unwrap().errors[0].code, "E001");
}

#[test]
fn a_missing_or_invalid_document_is_an_error() {
    let missing = [".planning/PROJECT.md", ".planning/ROADMAP.md", ".planning/STATE.md", ".planning/config.json"];
    let report = check(&project(&missing.map(|path| (path, ""))), &facts());
    // Without any document the planning folder is missing too.
    assert_eq!(report.unwrap().errors[0].code, "E001");
    for (path, code) in missing.into_iter().zip(["E002", "E003", "E004"]) {
        let report = check(&project(&[(path, "")]), &facts()).unwrap();
        assert_eq!((report.status, report.errors[0].code), ("broken", code));
    }
    let report = check(&project(&[(".planning/config.json", "")]), &facts()).unwrap();
    assert_eq!((report.status, report.repairable_count), ("degraded", 1));
    let report = check(&project(&[(".planning/config.json", "{\"a\": ")]), &facts()).unwrap();
    assert_eq!((report.errors[0].code, report.repairable_count), ("E005", 0));
}

#[test]
fn commands_in_prose_and_comments_mention_no_phase() {
    for said in
        ["/gsd-execute-phase", "`/gsd:plan-phase", "$gsd-verify-phase", "gsd-tools find-phase", "get-phase", "x_phase"]
    {
        for number in ["7", "07", "2.1"] {
            let state = format!("Phase 1.\nNext: {said} {number}\n<!--\nPhase 8\n-->\n```\nPhase 9\n```\n");
            let state: &'static str = Box::leak(state.into_boxed_str());
            let found = told(&check(&project(&[(".planning/STATE.md", state)]), &facts()).unwrap().warnings);
            assert!(found.iter().all(|finding| !finding.starts_with("W002")), "{said}: {found:?}");
        }
    }
}

#[test]
fn a_phase_in_an_unreadable_form_is_reported_with_its_line() {
    let found = told(
        &check(&project(&[(".planning/ROADMAP.md", "### Phase 1: A\n\n### Phase 2 Beta\n")]), &facts())
            .unwrap()
            .warnings,
    );
    let expected = "W030 line 3 of ROADMAP.md names phase 2 in a form that is not read: `### Phase 2 Beta`";
    assert!(found.iter().any(|finding| finding == expected), "{found:?}");
}

#[test]
fn a_leftover_folder_with_a_number_in_use_is_reported() {
    let found = check(
        &project(&[
            (".planning/STATE.md", "---\nmilestone: v1.1\n---\n# S\n"),
            (".planning/ROADMAP.md", "## v1.1 New\n\n- [ ] **Phase 1: Cee**\n"),
            (".planning/milestones/v1.0-ROADMAP.md", "### Phase 1: Old\n"),
            (".planning/phases/01-old/01-01-PLAN.md", "---\nwave: 1\n---\n"),
        ]),
        &facts(),
    );
    let found = told(&found.unwrap().warnings);
    let expected =
        "W031 `.planning/phases/01-old` is of milestone v1.0, and the current milestone has another phase 01";
    assert!(found.iter().any(|finding| finding == expected), "{found:?}");
}

#[test]
fn a_roadmap_without_readable_phases_is_reported() {
    for (roadmap, said) in [
        ("\n", "W033 `.planning/ROADMAP.md` is empty"),
        (
            "# R\n\n<<<<<<< HEAD\n- [x] **Phase 1: A**\n=======\n>>>>>>> other\n",
            "W033 `.planning/ROADMAP.md` has a merge conflict in line 3",
        ),
    ] {
        let found = told(&check(&project(&[(".planning/ROADMAP.md", roadmap)]), &facts()).unwrap().warnings);
        assert!(found.iter().any(|finding| finding == said), "{found:?}");
    }
}

#[test]
fn a_plan_in_a_subfolder_of_its_phase_is_reported() {
    let found = check(&project(&[(".planning/phases/01-a/01-02-plan/PLAN.md", "x")]), &facts()).unwrap().warnings;
    let nested = told(&found).into_iter().find(|finding| finding.starts_with("W032"));
    assert!(
        nested.as_ref().is_some_and(|finding| finding.contains("01-a/01-02-plan/PLAN.md` is not read")),
        "{nested:?}"
    );
}

#[test]
fn each_document_is_compared_with_the_others() {
    let warnings =
        |changed: &[(&'static str, &'static str)]| told(&check(&project(changed), &facts()).unwrap().warnings);
    assert_eq!(
        warnings(&[(".planning/STATE.md", "Phase 1 and phase 1.\nPhase 3, Phases 4, PHASE 5, **Phase 2-01**.\n")]),
        [
            "W002 STATE.md mentions phase 3, but the phases are 1",
            "W002 STATE.md mentions phase 2, but the phases are 1"
        ]
    );
    assert_eq!(
        warnings(&[
            (".planning/ROADMAP.md", "- [x] **Phase 1: A** - a\n- [ ] **Phase 2: B** - b\n"),
            (".planning/STATE.md", "Phase: 1\nStatus: v1.0 milestone complete\n"),
            (".planning/phases/01-a/01-01-PLAN.md", PLAN)
        ]),
        [
            "W026 STATE.md says that the milestone is complete, but 1 phase(s) of ROADMAP.md were not started, such as phase 2"
        ]
    );
    assert_eq!(
        warnings(&[
            (".planning/ROADMAP.md", "- [x] **Phase 1: A** - a\n### Phase 1: A\n"),
            (".planning/phases/01-a/01-RESEARCH.md", "## Validation Architecture\n"),
            (".planning/phases/1-b/x", "x"),
            (".planning/ideas.md", "x"),
            (".planning/v1.0-MILESTONE-AUDIT.md", "x"),
            (".planning/milestones/v0.9-ROADMAP.md", "x")
        ]),
        [
            "W011 STATE.md is at phase 1 (status: executing), which ROADMAP.md shows as complete",
            "W005 Phase directory \"1-b\" doesn't follow NN-name format",
            "W023 several folders belong to phase 01: 01-a (Complete), 1-b (Complete)",
            "W009 Phase 01-a: has Validation Architecture in RESEARCH.md but no VALIDATION.md",
            "W018 MILESTONES.md lacks 1 archived milestone: v0.9",
            "W019 .planning/ has a file that no command uses: ideas.md",
        ]
    );
}

#[test]
fn invalid_values_of_the_configuration_are_reported() {
    let config = r#"{"model_profile": 3, "context_window": "x", "git": {"branching_strategy": "q", "phase_branch_template": "x"},
        "models": {"a": "opus", "planning": "zzz", "research": "opus"}, "workflow": {}}"#;
    let report = check(&project(&[(".planning/config.json", config)]), &facts()).unwrap();
    let codes: Vec<&str> = report.warnings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["W004", "W012", "W013", "W014", "W022", "W022", "W008", "W016"]);
    assert_eq!(report.repairable_count, 2);
}

#[test]
fn findings_from_outside_the_files_are_reported() {
    let worktree = |path: &str, minutes| Worktree { path: path.into(), minutes };
    let facts = HealthFacts {
        lost_agents: vec!["gsd-planner".into()],
        tracked_but_ignored: true,
        worktrees: vec![worktree("/gone", None), worktree("/old", Some(61)), worktree("/new", Some(60))],
        written_at: Some(WrittenAt { head: "0123456789".into(), commits: 20 }),
        ..facts()
    };
    let report = check(&project(&[]), &facts).unwrap();
    let codes: Vec<&str> = report.warnings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["W010", "W024", "W029", "W017", "W027"]);
    assert!(report.warnings[1].message.contains("20 commits ago (at 0123456)"), "{:?}", report.warnings[1]);
    let fresh = HealthFacts { written_at: Some(WrittenAt { head: "0123456789".into(), commits: 19 }), ..facts };
    assert!(!check(&project(&[]), &fresh).unwrap().has("W024"));
}

const BOTH: Repairs<'_> = Repairs { configuration: true, milestones: true, day: "2026-02-03" };

#[test]
fn a_repair_for_a_workstream_changes_the_file_that_was_checked() {
    const CONFIG: &str = "{\"workflow\": {}}";
    let repaired = |own: &[(&str, &str)]| {
        let files = [(".planning/config.json", CONFIG), (".planning/workstreams/api/STATE.md", "")];
        let files = MemoryFiles::new(files.iter().chain(own).copied());
        let view = ProjectView::new(Layout::new("/p", None, Some("api")), Box::new(files));
        let (_, edits) = repair(&view, &facts(), BOTH).unwrap();
        edits.texts.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(repaired(&[]), [".planning/config.json"]);
    let own = ".planning/workstreams/api/config.json";
    assert_eq!(repaired(&[(own, CONFIG)]), [own]);
}

#[test]
fn a_repair_adds_to_the_configuration_and_keeps_its_bytes() {
    let text = "{\r\n\t\"zzz\": 1,\r\n\t\"workflow\": {\"a\":true}\r\n}";
    let (report, edits) = repair(&project(&[(".planning/config.json", text)]), &facts(), BOTH).unwrap();
    let actions: Vec<&str> = report.repairs_performed.iter().flatten().map(|repair| repair.action).collect();
    assert_eq!(actions, ["addNyquistKey", "addAiIntegrationPhaseKey"]);
    assert_eq!(report.repairable_count, 2, "the findings are those from before");
    let left = report.remaining.as_ref().unwrap();
    assert_eq!((left.status, left.warnings, left.repairable_count), ("healthy", 0, 0));
    let page = report.shown(crate::text::screen::Screen { width: 80, color: false, signs: true });
    assert!(page.starts_with("The project is healthy\n") && page.contains("workflow.nyquist_validation"), "{page}");
    let written = &edits.texts[".planning/config.json"];
    assert!(written.starts_with("{\r\n\t\"zzz\": 1,\r\n\t\"workflow\": {\"a\":true"), "{written}");
    assert_eq!(check(&project(&[]).after(&edits), &facts()).unwrap().status, "healthy");
}

#[test]
fn a_repair_of_a_healthy_project_changes_nothing_and_says_so() {
    let (report, edits) = repair(&project(&[]), &facts(), BOTH).unwrap();
    assert!(edits.is_empty() && report.repairs_performed.is_none());
}

#[test]
fn a_file_written_by_a_person_is_never_replaced() {
    let damaged = [(".planning/config.json", "{bad"), (".planning/STATE.md", "")];
    let (report, edits) = repair(&project(&damaged), &facts(), BOTH).unwrap();
    let refused = report.repairs_performed.unwrap();
    assert_eq!(refused.iter().map(|repair| repair.action).collect::<Vec<_>>(), ["regenerateState", "resetConfig"]);
    assert!(refused.iter().all(|repair| !repair.success) && edits.is_empty());
}

#[test]
fn entries_of_milestones_go_under_the_title() {
    let archived = (".planning/milestones/v1.0-ROADMAP.md", "# Milestone v1.0: MVP\n");
    let (report, edits) = repair(
        &project(&[archived, (".planning/MILESTONES.md", "# Milestones\r\n\r\n## v0.9 Old\r\nkept  \r\n")]),
        &facts(),
        BOTH,
    )
    .unwrap();
    assert_eq!(report.repairs_performed.unwrap()[0].action, "backfillMilestones");
    let text = &edits.texts[".planning/MILESTONES.md"];
    assert!(text.starts_with("# Milestones\r\n\r\n## v1.0 MVP (Backfilled: 2026-02-03)\r\n\r\n**Note:**"), "{text}");
    assert!(text.ends_with("---\r\n\r\n## v0.9 Old\r\nkept  \r\n"), "{text}");
    for (before, after) in [("", "# Milestones\n\n## v1.0"), ("# M", "# M\n\n## v1.0"), ("words\n", "words\n\n## v1.0")]
    {
        let (_, edits) = repair(&project(&[archived, (".planning/MILESTONES.md", before)]), &facts(), BOTH).unwrap();
        assert!(edits.texts[".planning/MILESTONES.md"].starts_with(after), "{before:?}");
    }
}
