//! Context bundles: their flags, their facts from outside the project, and their low cost.

use serde_json::{Value, json};

use crate::kit::{TestContext, repository};

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# Acme\n");
    context.write(".planning/ROADMAP.md", "# R\n\n### Phase 1: Base\n\n### Phase 2: Notes\n**Requirements**: N-1\n");
    context.write(".planning/config.json", "{\"commit_docs\": true}");
    context.write(".planning/phases/02-notes/02-01-PLAN.md", "---\nplan: 01\n---\n");
    context
}

fn path(context: &TestContext, path: &str) -> Value {
    Value::from(format!("{}/{path}", context.project().display()))
}

#[test]
fn a_bundle_reports_the_current_position() {
    let context = project();
    let told = context.gsd(["init", "phase-op", "2"]).json();
    assert_eq!(told["phase_dir"], path(&context, ".planning/phases/02-notes"));
    assert_eq!(told["project_title"], "Acme");
    assert_eq!(told["state_path"], Value::Null);
    assert_eq!(context.gsd(["init", "phase-op", "--phase", "2"]).json(), told);
    assert_eq!(context.gsd(["init.phase-op", "1", "--pick", "phase_name"]).success(), "Base");
    assert_eq!(context.gsd(["init", "phase-op"]).json()["phase_found"], false);
}

#[test]
fn workflows_about_a_phase_need_one() {
    let context = project();
    for workflow in ["plan-phase", "execute-phase"] {
        let told = context.gsd(["init", workflow]).failure(1);
        assert!(told.contains(&format!("`init {workflow}` needs <PHASE>")), "{told}");
    }
    assert!(context.gsd(["init", "phase-op", "2", "--phase", "3"]).failure(1).contains("--phase"));
}

#[test]
fn wrong_flags_and_surplus_words_are_refused() {
    let context = project();
    for arguments in
        [["init", "phase-op", "2", "3"], ["init", "plan-phase", "2", "--wave"], ["init", "execute-phase", "2", "--prd"]]
    {
        let refused = context.gsd_with(arguments, &[("GSD_EXIT_CONTRACT", "v2")], "").failure(64);
        assert!(refused.starts_with("Error: "), "{refused}");
    }
    assert!(context.gsd(["init", "nope"]).failure(1).contains("plan-phase"));
    assert!(context.gsd(["init"]).failure(1).contains("phase-op"));
}

#[test]
fn flags_of_planning_choose_its_sections() {
    let context = project();
    let told =
        context.gsd(["init", "plan-phase", "2", "--reviews", "--chunked", "--granularity", "fine", "--tdd"]).json();
    assert_eq!(told["section_manifest"]["included"], json!(["reviews-prerequisite", "chunked-planning-mode"]));
    assert_eq!(told["granularity"], "fine");
    assert_eq!(told["tdd_mode"], true);
    let told = context.gsd(["init", "plan-phase", "2", "--prd", "p.md", "--research-phase", "2"]).json();
    let included = json!(["prd-express-gate", "research-only-modifiers", "research-only-early-exit"]);
    assert_eq!(told["section_manifest"]["included"], included);
}

#[test]
fn a_wave_may_be_named_or_not() {
    let context = project();
    for flags in [&["--wave"][..], &["--wave", "2"], &["--wave", "2", "--tdd"]] {
        let arguments = ["init", "execute-phase", "2"].iter().chain(flags).copied();
        let told = context.gsd_with(arguments, &[], "").json();
        assert_eq!(told["section_manifest"]["included"], json!(["partial-wave"]));
    }
}

#[test]
fn agents_are_looked_for_in_the_folders_of_the_host() {
    let context = project();
    let told = context.gsd(["init", "phase-op"]).json();
    assert_eq!(told["agent_runtime"], "claude");
    assert_eq!(told["agents_dir"], format!("{}/.claude/agents", context.home().display()));
    let missing = told["missing_agents"].as_array().unwrap().len();
    assert!(missing > 0 && told["agents_installed"] == false);
    for agent in std::fs::read_dir(repository().join("agents")).unwrap() {
        let name = agent.unwrap().file_name();
        context.write(&format!(".claude/agents/gsd-{}", name.to_string_lossy()), "");
    }
    let told = context.gsd(["init", "phase-op"]).json();
    assert_eq!((&told["agents_installed"], &told["missing_agents"]), (&json!(true), &json!([])));
    assert_eq!(told["agents_dir"], path(&context, ".claude/agents"));
    let other = context.gsd_with(["init", "phase-op"], &[("GSD_RUNTIME", "codex")], "").json();
    assert_eq!((&other["agent_runtime"], &other["agents_installed"]), (&json!("codex"), &json!(false)));
    let unknown = context.gsd_with(["init", "phase-op"], &[("GSD_RUNTIME", "nobody")], "").json();
    assert_eq!((&unknown["agent_runtime"], &unknown["agents_dir"]), (&json!("nobody"), &Value::Null));
}

#[test]
fn documents_that_git_ignores_are_not_committed_unless_the_project_says_so() {
    let context = project();
    assert!(context.command("git").args(["init", "-q"]).status().unwrap().success());
    context.write(".gitignore", ".planning/\n");
    let commits = || context.gsd(["init", "phase-op", "--pick", "commit_docs"]).success();
    assert_eq!(commits(), "true");
    context.write(".planning/config.json", "{}");
    assert_eq!(commits(), "false");
    context.write(".gitignore", "target/\n");
    assert_eq!(commits(), "true");
}

#[test]
fn a_task_may_be_many_words_with_flags_among_them() {
    let context = project();
    let told = context.gsd(["init", "quick", "Fix", "--full", "the", "--bogus", "--discuss", "flag"]).json();
    assert_eq!(told["description"], "Fix the --bogus flag");
    let sections = ["discussion-phase", "research-phase", "plan-checker-loop", "quick-verification"];
    assert_eq!(told["section_manifest"]["included"], json!(sections));
    let discussed = context.gsd(["init", "quick", "-- x", "--discuss"]).json();
    assert_eq!(discussed["section_manifest"]["included"], json!(["discussion-phase"]));
}

#[test]
fn a_small_task_is_named_after_the_users_local_time() {
    let context = project();
    let clock = [("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1767323045678")];
    let told = context.gsd_with(["init", "quick", "Fix it"], &clock, "").json();
    assert_eq!(told["task_dir"], path(&context, ".planning/quick/260102-49e-fix-it"));
    assert_eq!((&told["date"], &told["timestamp"]), (&json!("2026-01-02"), &json!("2026-01-02T03:04:05.678Z")));
}

#[test]
fn code_and_repository_are_seen() {
    let context = TestContext::new();
    let told = context.gsd(["init", "new-project"]).json();
    assert_eq!((&told["is_brownfield"], &told["has_git"]), (&json!(false), &json!(false)));
    assert_eq!(told["git_worktree_root"], Value::Null);
    context.write("node_modules/x/index.js", "");
    context.write("a/b/c/d/deep.rs", "");
    assert_eq!(context.gsd(["init", "new-project", "--pick", "has_existing_code"]).success(), "false");
    context.write("a/b/c/found.rs", "");
    context.write("lib/.git/HEAD", "");
    assert!(context.command("git").args(["init", "-q"]).status().unwrap().success());
    let told = context.gsd_with(["init", "new-project", "--auto"], &[("BRAVE_API_KEY", "k")], "").json();
    assert_eq!((&told["has_existing_code"], &told["has_package_file"]), (&json!(true), &json!(false)));
    assert_eq!(told["git_worktree_root"], Value::from(context.project().display().to_string()));
    assert_eq!(told["sub_repos_detected"], json!(["lib"]));
    assert_eq!((&told["brave_search_available"], &told["exa_search_available"]), (&json!(true), &json!(false)));
    let nested = context.gsd(["--cwd", "a/b", "init", "new-project"]).json();
    assert_eq!(nested["in_nested_subdir"], true);
}

#[test]
fn progress_of_workstreams_needs_one() {
    let context = TestContext::new();
    context.write(".planning/workstreams/api/ROADMAP.md", "### Phase 1: A\n");
    context.write(".planning/workstreams/web/ROADMAP.md", "### Phase 1: W\n");
    let told = context.gsd(["init", "progress", "--json-errors"]).failure(1);
    assert!(told.contains("workstream_mode_none_active") && told.contains("api, web"), "{told}");
    let told = context.gsd(["phase", "complete", "1", "--json-errors"]).failure(1);
    assert!(told.contains("workstream_mode_none_active"), "{told}");
    context.write(".planning/active-workstream", "gone\n");
    let told = context.gsd(["init", "progress", "--json-errors"]).failure(1);
    assert!(told.contains("workstream_mode_marker_unresolved") && told.contains("`gone`"), "{told}");
    let told = context.gsd(["init", "progress", "--ws", "web"]).json();
    assert_eq!(told["phases"][0]["name"], "w");
}

#[test]
fn commands_are_spelled_as_the_host_spells_them() {
    let context = project();
    let command = ["init", "verify-work", "2", "--pick", "phase_completion.verification_next_command"];
    assert_eq!(context.gsd(command).success(), "/gsd-execute-phase 02");
    assert_eq!(context.gsd_with(command, &[("GSD_RUNTIME", "codex")], "").success(), "$gsd-execute-phase 02");
}

#[test]
fn acceptance_of_a_phase_is_reported() {
    let context = project();
    context.write(".planning/phases/02-notes/02-UAT.md", "---\nstatus: complete\n---\n### 1. A\nresult: pass\n");
    assert_eq!(context.gsd(["phase", "uat-passed", "2", "--pick", "passed"]).success(), "true");
    let told = context.gsd(["phase", "uat-passed", "2", "--require-verification"]).json();
    assert_eq!((&told["passed"], &told["policy"]["require_verification"]), (&json!(false), &json!(true)));
    assert!(context.gsd(["phase", "uat-passed", "9"]).failure(1).contains("`9`"));
}

#[test]
fn workspaces_are_read_from_the_home() {
    let context = TestContext::new();
    assert_eq!(context.gsd(["init", "list-workspaces"]).json()["workspace_count"], 0);
    let base = context.home().join("gsd-workspaces");
    let manifest = "# Workspace: feat\n\nStrategy: worktree\n\n| Repo | Source | Branch | Strategy |\n|---|---|---|---|\n\
        | a | /src/a | b | worktree |\n";
    std::fs::create_dir_all(base.join("feat/a")).unwrap();
    std::fs::create_dir_all(base.join("plain")).unwrap();
    std::fs::write(base.join("feat/WORKSPACE.md"), manifest).unwrap();
    let told = context.gsd(["init", "list-workspaces"]).json();
    assert_eq!(told["workspaces"][0]["name"], "feat");
    assert_eq!((&told["workspace_count"], &told["workspaces"][0]["repo_count"]), (&json!(1), &json!(1)));
    let clean = context.gsd(["init", "remove-workspace", "feat"]).json();
    assert_eq!((&clean["has_manifest"], &clean["dirty_repos"]), (&json!(true), &json!([])));
    assert!(context.command("git").args(["init", "-q"]).current_dir(base.join("feat/a")).status().unwrap().success());
    std::fs::write(base.join("feat/a/new.txt"), "x").unwrap();
    assert_eq!(context.gsd(["init", "remove-workspace", "feat"]).json()["dirty_repos"], json!(["a"]));
    assert_eq!(context.gsd(["init", "remove-workspace", "plain"]).json()["strategy"], "unknown");
    for name in ["nope", "../project", "feat/a"] {
        assert!(context.gsd(["init", "remove-workspace", name]).failure(1).contains(name));
    }
    assert!(context.gsd(["init", "remove-workspace"]).failure(1).contains("needs <NAME>"));
}

#[test]
fn a_new_workspace_is_offered_the_repositories_found_there() {
    let context = TestContext::new();
    context.write("lib/a.txt", "x");
    assert!(context.command("git").args(["init", "-q", "lib"]).status().unwrap().success());
    let told = context.gsd(["init", "new-workspace"]).json();
    assert_eq!((&told["child_repo_count"], &told["is_git_repo"]), (&json!(1), &json!(false)));
    assert_eq!(told["child_repos"][0]["has_uncommitted"], true);
    assert_eq!(told["cwd_repo_name"], "project");
}

#[test]
fn documents_to_import_are_recognised_by_their_names() {
    let context = TestContext::new();
    let documents = [
        "SPEC.md",
        "adr/deep/why.md",
        "docs/REQUIREMENTS.md",
        "docs/a/my prd.v2.md",
        "docs/adr/0001-x.md",
        "docs/rfcs/in/any.md",
    ];
    let others = [
        ".hidden/prd.md",
        "docs/adr/x.txt",
        "docs/guide.md",
        "docs/more-requirements.md",
        "docs/special.md",
        "node_modules/x/rfc.md",
        "prd.txt",
        "src/prd.md",
    ];
    for file in documents.iter().chain(&others) {
        context.write(file, "x");
    }
    let told = context.gsd(["init", "onboard"]).json();
    assert_eq!(told["doc_candidates"], json!(documents));
    assert_eq!(told["next_action"]["kind"], "ingest-docs");
}

#[test]
fn every_workflow_with_sections_reports_which_run() {
    let context = TestContext::new();
    assert!(context.gsd(["init", "docs-update"]).json().get("section_manifest").is_some());
    for flags in [
        &["update", "--rc"][..],
        &["autonomous", "--cross-ai"],
        &["debug", "--diagnose"],
        &["quick-batch", "--research"],
    ] {
        let arguments = std::iter::once("init").chain(flags.iter().copied());
        assert!(context.gsd_with(arguments, &[], "").json().get("section_manifest").is_some());
    }
    assert_eq!(context.gsd(["init", "update", "--next", "--pick", "next_channel"]).success(), "true");
    assert_eq!(context.gsd(["init", "autonomous", "--pick", "plan_strategy_converge"]).success(), "false");
}

#[test]
fn the_dashboard_needs_a_project_and_the_chain_reports_what_is_missing() {
    let context = project();
    assert!(context.gsd(["init", "manager"]).failure(1).contains("there is no STATE.md"));
    let told = context.gsd(["init", "yolo"]).json();
    assert_eq!(told["blockers"], json!(["no_state", "no_repository"]));
    context.write(".planning/STATE.md", "# S\n");
    let told = context.gsd(["init", "manager"]).json();
    // Without commits, the times of the files decide.
    assert_eq!((&told["phases"][1]["is_active"], &told["in_progress_count"]), (&json!(true), &json!(1)));
    assert_eq!(context.gsd(["init", "yolo", "--from", "2", "--pick", "start_step"]).success(), "execute");
    assert_eq!(context.gsd(["config-set", "workflow.yolo.active", "true", "--pick", "updated"]).success(), "true");
    context.gsd(["config-set", "workflow.yolo.pid", "4194303", "--pick", "updated"]).success();
    assert_eq!(context.gsd(["init", "yolo", "--pick", "yolo.stale"]).success(), "true");
}

#[test]
fn a_workflow_of_the_library_is_answered_from_its_front_matter() {
    let context = TestContext::new();
    context
        .write(".planning/ROADMAP.md", "# R\n\n- [ ] **Phase 1: Base** - b\n\n### Phase 1: Base\n**Goal**: a page\n");
    context.write(".planning/phases/01-base/01-UI-SPEC.md", "x");
    let report = context.gsd(["init", "ui-phase", "1"]).json();
    assert_eq!(report["workflow"], "ui-phase");
    assert!(report["documents"]["UI-SPEC"].as_str().unwrap().ends_with("01-base/01-UI-SPEC.md"), "{report}");
    assert!(report["models"]["ui-researcher"].is_string(), "{report}");
    assert_eq!(context.gsd(["init", "workflow", "ui-phase", "1"]).json()["phase_dir"], report["phase_dir"]);
    assert!(context.gsd(["init", "ui-phase", "1", "--nonsense"]).failure(1).contains("no flag `--nonsense`"));
    assert!(context.gsd(["init", "workflow", "ui-phas"]).failure(1).contains("did you mean `ui-phase`?"));
}

/// Agents read the page that this names, so a clone must not choose the path.
#[test]
fn only_our_own_pages_are_named_as_context() {
    let context = TestContext::new();
    for (value, told) in [("dev", json!("dev")), ("../../evil", Value::Null), ("DEV", Value::Null)] {
        context.write(".planning/config.json", &format!("{{\"context\": \"{value}\"}}\n"));
        assert_eq!(context.gsd(["init", "progress"]).json()["context"], told, "{value}");
    }
}

#[test]
fn chunked_planning_can_be_set_in_the_configuration() {
    let context = project();
    let included = |flags: &[&str]| {
        let call = ["init", "plan-phase", "1"].iter().chain(flags).copied();
        context.gsd_with(call, &[], "").json()["section_manifest"]["included"].clone()
    };
    let with = included(&["--chunked"]);
    assert_ne!(with, included(&[]));
    context.write(".planning/config.json", r#"{"workflow": {"plan_chunked": true}}"#);
    assert_eq!(included(&[]), with);
}

#[test]
fn fast_onboarding_accepts_a_partial_map_and_continues_what_was_begun() {
    let context = TestContext::new();
    context.write("a.py", "x");
    for file in ["STACK", "INTEGRATIONS", "ARCHITECTURE", "STRUCTURE"] {
        context.write(&format!(".planning/codebase/{file}.md"), "x");
    }
    let next = |fast: bool| {
        let call = if fast { &["init", "onboard", "--fast"][..] } else { &["init", "onboard"] };
        context.gsd_with(call, &[], "").json()["next_action"].clone()
    };
    assert_eq!(next(true)["kind"], "complete-map-before-new-project");
    context.write(".planning/PROJECT.md", "x");
    let begun = next(true);
    assert_eq!(begun["kind"], "partial-planning");
    assert_eq!(begun["missing"], json!(["REQUIREMENTS.md", "ROADMAP.md", "STATE.md"]));
    assert_eq!(next(false)["kind"], "map-codebase");
    for file in ["REQUIREMENTS", "ROADMAP", "STATE"] {
        context.write(&format!(".planning/{file}.md"), "x");
    }
    let summary = next(true);
    assert_eq!(summary["kind"], "write-summary");
    assert!(summary["summary_path"].as_str().unwrap().ends_with(".planning/onboarding/SUMMARY.md"));
}

#[test]
fn a_numbered_record_at_the_root_is_a_document_to_import() {
    let context = TestContext::new();
    for file in ["0007-use-sqlite.md", "2026-01-02-notes.md", "0007.md", "7-x.md", "src/0008-x.md"] {
        context.write(file, "x");
    }
    assert_eq!(context.gsd(["init", "onboard"]).json()["doc_candidates"], json!(["0007-use-sqlite.md"]));
}

#[test]
fn a_phase_of_white_space_counts_as_missing() {
    let context = project();
    for verb in ["execute-phase", "plan-phase", "verify-work"] {
        assert_eq!(context.gsd(["init", verb, "  "]).json()["phase_found"], false, "{verb}");
        assert_eq!(context.gsd(["init", verb, ""]).code, 1, "{verb}");
    }
}

#[test]
fn a_todo_has_a_severity_only_if_its_file_gives_one() {
    let context = project();
    context.write(".planning/todos/pending/a.md", "---\ntitle: A\nseverity: Very High\n---\n");
    context.write(".planning/todos/pending/b.md", "---\ntitle: B\n---\n");
    for call in [&["list-todos"][..], &["init", "todos"]] {
        let told = context.gsd_with(call, &[], "").json();
        assert_eq!((&told["todos"][0]["severity"], told["todos"][1].get("severity")), (&json!("Very High"), None));
    }
}
