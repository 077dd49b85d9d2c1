//! Forms of calls and files that scripts of the peer program rely on: commits, models, skills, front matter, estimates.

use std::fs;

use crate::kit::{Ran, TestContext};

const AGENT: &str = "---\nname: x\ndescription: y\n---\n";

fn project(config: &str) -> TestContext {
    let context = TestContext::new();
    context.write(".planning/config.json", config);
    context.write(".planning/STATE.md", "# State\n\nStatus: one\n");
    context
}

fn repository(config: &str) -> TestContext {
    let context = project(config);
    for line in ["init -q -b main", "add -A", "commit -qm init"] {
        git(&context, line);
    }
    context
}

fn git(context: &TestContext, line: &str) -> String {
    let output = context.command("git").args(line.split(' ')).output().unwrap();
    assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn at(context: &TestContext, call: &str, variables: &[(&str, &str)]) -> Ran {
    context.gsd_with(call.split(' '), variables, "")
}

#[test]
fn tracked_planning_files_that_are_ignored_now_are_not_committed() {
    let context = repository(r#"{"commit_docs": true}"#);
    context.write(".gitignore", ".planning/\n");
    git(&context, "add .gitignore");
    git(&context, "commit -qm ignore");
    context.write(".planning/STATE.md", "# State\n\nStatus: two\n");
    for call in ["commit docs", "commit docs --files .planning/STATE.md"] {
        let report = at(&context, call, &[]).json();
        assert_eq!((&report["skipped"], &report["reason"]), (&true.into(), &"skipped_gitignored".into()), "{call}");
    }
    assert_eq!(git(&context, "log --format=%s -1"), "ignore");
}

#[test]
fn a_commit_that_names_no_file_takes_everything_staged() {
    let context = repository("{}");
    context.write("code.txt", "a\n");
    context.write("loose.txt", "b\n");
    context.write(".planning/STATE.md", "# State\n\nStatus: two\n");
    git(&context, "add code.txt");
    let rehearsed = at(&context, "commit docs --dry-run", &[]).json();
    assert_eq!(rehearsed["would_commit"]["files"], serde_json::json!([".planning/STATE.md", "code.txt"]));
    assert_eq!(at(&context, "commit docs", &[]).json()["committed"], true);
    assert_eq!(git(&context, "show --name-only --format= HEAD"), ".planning/STATE.md\ncode.txt");
    assert_eq!(git(&context, "status --porcelain"), "?? loose.txt");
    // A person finishes their own merge.
    git(&context, "checkout -q -b side HEAD~1");
    context.write("side.txt", "c\n");
    git(&context, "add side.txt");
    git(&context, "commit -qm side");
    git(&context, "merge -q --no-commit --no-ff main");
    context.write(".planning/new.md", "new\n");
    let amid = at(&context, "commit docs", &[]);
    assert_eq!((amid.code, git(&context, "log --format=%s -1").as_str()), (1, "side"), "{}", amid.stdout);
}

#[test]
fn the_base_branch_comes_from_the_remote_if_nothing_local_names_one() {
    let context = repository("{}");
    git(&context, "branch -m work");
    git(&context, "init -q --bare -b strange up.git");
    git(&context, "push -q up.git work:strange work:side");
    git(&context, "remote add origin up.git");
    assert_eq!(at(&context, "git base-branch", &[]).success(), "strange\n");
    git(&context, "push -q up.git work:master");
    git(&context, "fetch -q origin");
    assert_eq!(at(&context, "git base-branch", &[]).success(), "master\n", "a usual name among what was fetched");
    git(&context, "remote set-url origin nowhere.git");
    git(&context, "update-ref -d refs/remotes/origin/master");
    assert_eq!(at(&context, "git base-branch", &[]).success(), "main\n");
}

#[test]
fn a_time_limit_may_have_a_unit_or_be_zero_for_none() {
    let context = project("{}");
    assert_eq!(at(&context, "run-with-timeout 5s echo hi", &[]).success(), "hi\n");
    assert_eq!(at(&context, "run-with-timeout 0 echo hi", &[]).success(), "hi\n");
    assert_eq!(at(&context, "run-with-timeout 0.2s sleep 9", &[]).code, 124);
    for wrong in ["5m", "-1", "x", "s", ""] {
        assert_eq!(context.gsd(["run-with-timeout", wrong, "echo", "hi"]).code, 2, "{wrong}");
    }
}

#[test]
fn an_agent_is_resolved_with_the_attempt_and_the_host_of_the_call() {
    let routing =
        r#""enabled": true, "provider_escalation": ["m1"], "tier_models": {"standard": "sonnet", "heavy": "opus"}"#;
    let context = project(&format!("{{\"dynamic_routing\": {{{routing}}}}}"));
    let ask = |rest: &str| at(&context, format!("resolve-execution gsd-executor {rest}").trim_end(), &[]);
    let told = ask("--failure-class=quota-exceeded --attempt 2").json();
    assert_eq!((&told["model"], &told["escalation"]["exhausted"]), (&"m1".into(), &true.into()), "{told}");
    assert_eq!(told["escalation"]["attempted"], serde_json::json!(["sonnet", "m1"]));
    assert_eq!((&ask("--attempt 1").json()["model"], &ask("").json()["model"]), (&"opus".into(), &"sonnet".into()));
    assert!(ask("").json().get("escalation").is_none());
    for wrong in ["--failure-class nonsense", "--attempt -1", "--attempt x", "--fast-mode maybe"] {
        assert_ne!(ask(wrong).code, 0, "{wrong}");
    }
    assert_eq!(ask("--fast-mode true").json()["fast_mode"], true);
    assert_eq!(ask("--fast-mode").json()["fast_mode"], true);
    assert_eq!(ask("--fast-mode false").json()["fast_mode"], false);
    let surface = ask("--host codex --effort low").json();
    assert_eq!(surface["effort_argv"], serde_json::json!(["-c", "model_reasoning_effort=low"]), "{surface}");
    assert_eq!((&surface["effort_surface"], &surface["effort_argv_value"]), (&"argv".into(), &"low".into()));
    for host in ["nobody", "$(touch x)", "../.."] {
        let told = context.gsd(["resolve-execution", "gsd-executor", "--host", host]).json();
        assert_eq!((&told["effort_surface"], &told["effort_argv"]), (&"none".into(), &serde_json::json!([])), "{host}");
        assert_eq!((&told["host"], &told["effort_argv_value"]), (&host.into(), &serde_json::Value::Null));
    }
    let lowest = ask("--host claude --effort minimal").json();
    assert_eq!((&lowest["effort_argv_string"], &lowest["effort_clamped"]), (&"--effort low".into(), &true.into()));
}

#[test]
fn the_instruction_file_of_a_host_is_requested_by_flag_or_word() {
    let context = project("{}");
    for (rest, told) in [
        ("claude", ".claude/CLAUDE.md\n"),
        ("--runtime claude", ".claude/CLAUDE.md\n"),
        ("--runtime=claude", ".claude/CLAUDE.md\n"),
        ("claude --runtime codex", "AGENTS.md\n"),
        ("--runtime nobody", "AGENTS.md\n"),
        ("nobody", "AGENTS.md\n"),
        ("--runtime", "AGENTS.md\n"),
    ] {
        assert_eq!(at(&context, &format!("project-instruction-file {rest}"), &[]).success(), told, "{rest}");
    }
    assert_eq!(context.gsd(["project-instruction-file", "--runtime", ""]).success(), "AGENTS.md\n");
}

#[test]
fn skills_of_the_user_need_no_trust_and_omissions_are_reported() {
    let context = project(
        r#"{"agent_skills": {"a": ["global:mine", "skills/here", "global:vendor:name", "mine"], "none": [], "lost": ["x", "y"]}}"#,
    );
    context.write("skills/here/SKILL.md", AGENT);
    let mine = context.home().join(".claude/skills/mine");
    fs::create_dir_all(&mine).unwrap();
    fs::write(mine.join("SKILL.md"), AGENT).unwrap();
    let ran = at(&context, "agent-skills a --json", &[("GSD_RUNTIME", "claude")]);
    assert!(ran.stderr.contains("`global:mine`"), "{}", ran.stderr);
    let report = ran.json();
    let block = report["block"].as_str().unwrap();
    let lines: Vec<&str> = block.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 3, "{block}");
    assert!(lines[0].ends_with(".claude/skills/mine/SKILL.md") && lines[1] == "- @skills/here/SKILL.md", "{block}");
    assert!(lines[2].contains("`vendor:name`") && lines[2].contains("Skill tool"), "{block}");
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1, "{report}");
    let other = at(&context, "agent-skills a", &[("GSD_RUNTIME", "opencode")]);
    assert!(!other.stdout.contains("vendor") && !other.stdout.contains("mine"), "{}", other.stdout);
    assert!(at(&context, "agent-skills none", &[]).stderr.contains("has no skills"));
    let lost = at(&context, "agent-skills lost", &[]);
    assert!(lost.stderr.contains("none of the 2 skills in `agent_skills.lost`"), "{}", lost.stderr);
}

#[cfg(unix)]
#[test]
fn a_skill_that_leads_out_of_the_folder_of_skills_needs_trust() {
    let config = |trusted: &str| {
        let trusted = format!("\"agent_skills_security\": {{\"trusted_global_roots\": [{trusted}]}}");
        format!("{{\"runtime\": \"claude\", \"agent_skills\": {{\"a\": \"global:linked\"}}, {trusted}}}")
    };
    let context = project(&config(""));
    let (skills, apart) = (context.home().join(".claude/skills"), context.home().join("apart/linked"));
    fs::create_dir_all(&skills).unwrap();
    fs::create_dir_all(&apart).unwrap();
    fs::write(apart.join("SKILL.md"), AGENT).unwrap();
    std::os::unix::fs::symlink(&apart, skills.join("linked")).unwrap();
    let refused = at(&context, "agent-skills a --json", &[]).json();
    assert_eq!((&refused["block"], &refused["reason"]), (&"".into(), &"configured_unresolved".into()));
    context.write(".planning/config.json", &config("\"~/apart\""));
    let ran = at(&context, "agent-skills a", &[]);
    assert!(ran.stdout.contains("/linked/SKILL.md") && ran.stderr.contains("in a trusted folder"), "{}", ran.stderr);
}

#[test]
fn a_person_may_change_the_front_matter_of_any_file_and_an_agent_only_in_the_project() {
    let context = project("{}");
    let page = context.home().join("my pages/a b.md");
    fs::create_dir_all(page.parent().unwrap()).unwrap();
    fs::write(&page, "---\na: 1\n---\nx\n").unwrap();
    let file = page.to_str().unwrap();
    let set = context.gsd(["frontmatter", "set", file, "--field", "a", "--value", "2"]).json();
    assert_eq!(set["updated"], true, "{set}");
    assert_eq!(fs::read_to_string(&page).unwrap(), "---\na: 2\n---\nx\n");
    let again = context.gsd(["frontmatter", "set", file, "--field", "a", "--value", "2"]).json();
    assert_eq!(again["updated"], false, "{again}");
    let merged = context.gsd(["frontmatter", "merge", "../home/my pages/a b.md", "--data", "{\"b\": 3}"]).json();
    assert_eq!(merged["merged"], true, "{merged}");
    assert_eq!(fs::read_to_string(&page).unwrap(), "---\na: 2\nb: 3\n---\nx\n");
    let dry = context.gsd(["frontmatter", "set", file, "--field", "a", "--value", "9", "--dry-run"]).success();
    assert!(dry.contains("a: 9"), "{dry}");
    let call = ["frontmatter", "set", file, "--field", "a", "--value", "9"];
    let agent = context.gsd_with(call, &[("CLAUDECODE", "1")], "");
    assert_eq!(agent.code, 77, "{}", agent.stdout);
    assert_eq!(fs::read_to_string(&page).unwrap(), "---\na: 2\nb: 3\n---\nx\n");
}

#[test]
fn a_missing_file_is_reported_whatever_value_it_should_get() {
    let context = project("{}");
    let away = context.home().join("none.md");
    for file in ["none.md", away.to_str().unwrap(), "/nowhere/none.md"] {
        let merged = context.gsd(["frontmatter", "merge", file, "--data", "{bad"]).json();
        assert_eq!((&merged["error"], &merged["path"]), (&"File not found".into(), &file.into()), "{merged}");
        let set = context.gsd(["frontmatter", "set", file, "--field", "a", "--value", "1"]).json();
        assert_eq!((&set["error"], &set["path"]), (&"File not found".into(), &file.into()), "{set}");
    }
    context.write("open.md", "---\na: 1\nb: 2\n");
    let open = context.gsd(["frontmatter", "get", "open.md"]);
    assert!(open.stdout.trim() == "{}" && open.stderr.contains("never closed"), "{} {}", open.stdout, open.stderr);
}

#[test]
fn the_samples_of_estimates_match_those_of_other_programs() {
    let context = project("{}");
    let sample = |took: u64| serde_json::json!({"estimateTokens": 300, "actualTokens": took});
    let file = serde_json::json!({"schema_version": 1, "samples": [sample(400), sample(400), sample(400)]});
    context.write(".planning/estimation-calibration.json", &file.to_string());
    let told = context.gsd(["estimate-calibration"]).json();
    assert_eq!((&told["factor"], &told["confidence"]), (&(4.0_f64 / 3.0).into(), &"med".into()), "{told}");
    assert_eq!(context.gsd(["estimate-check", "--tokens", "90000"]).json()["calibrated_tokens"], 120_000);
    let as_is = context.gsd(["estimate-check", "--tokens", "90000", "--calibrated"]).json();
    assert_eq!((&as_is["calibrated_tokens"], &as_is["calibration_factor"]), (&90_000.into(), &told["factor"]));
    assert_eq!(as_is["calibration_applied"], true);
    context.write(".planning/estimation-calibration.json", "{bad");
    let none = context.gsd(["estimate-calibration"]);
    assert!(none.stderr.contains("estimation-calibration.json"), "{}", none.stderr);
    assert_eq!(none.json()["factor"], 1);
    let ran = context.gsd(["estimate-calibrate"]);
    assert!(ran.stderr.contains("estimation-calibration.json.unreadable"), "{}", ran.stderr);
    assert_eq!(ran.json()["written"], true);
    assert_eq!(context.read(".planning/estimation-calibration.json.unreadable"), "{bad");
    assert!(context.read(".planning/estimation-calibration.json").contains("\"samples\": []"));
}

#[test]
fn a_host_gets_the_instruction_file_that_it_reads_unless_the_call_names_one() {
    let context = project(r#"{"claude_md_path": "./docs/CLAUDE.md"}"#);
    context.write(".planning/PROJECT.md", "# P\n\n## What This Is\n\nA thing.\n");
    let codex = [("GSD_RUNTIME", "codex")];
    let path = |ran: Ran| ran.json()["claude_md_path"].as_str().unwrap().replace('\\', "/");
    assert!(path(at(&context, "generate-claude-md", &codex)).ends_with("project/AGENTS.md"));
    assert!(path(at(&context, "generate-claude-md", &[("GSD_RUNTIME", "claude")])).ends_with("docs/CLAUDE.md"));
    assert!(path(at(&context, "generate-claude-md --output x/CLAUDE.md", &codex)).ends_with("x/CLAUDE.md"));
    let analysis = context.gsd(["profile-questionnaire", "--answers", "a,b,c,d,a,b,c,d"]).success();
    context.write("analysis.json", &analysis);
    let profile = at(&context, "generate-claude-profile --analysis analysis.json", &codex);
    assert!(path(profile).ends_with("project/AGENTS.md"));
}

#[test]
fn acceptance_is_audited_if_the_roadmap_has_the_phase() {
    let context = project("{}");
    context.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: Base** - b\n\n### Phase 1: Base\n**Goal**: stand\n**Plans**: TBD\n",
    );
    let uat = "---\nstatus: testing\n---\n\n## Current Test\n\n[testing paused]\n\n## Tests\n\n### 1. A\nexpected: e\nresult: pending\n";
    context.write(".planning/phases/01-base/01-UAT.md", uat);
    context.write(".planning/phases/07-old/07-UAT.md", uat);
    context.write(
        ".planning/phases/01-base/01-VERIFICATION.md",
        "---\nstatus: human_needed\n---\n\n## Human Verification\n\n| # | Check | Result |\n|---|---|---|\n| 1 | Look | passed |\n",
    );
    let report = context.gsd(["audit-uat", "--json"]).json();
    let files: Vec<&str> =
        report["results"].as_array().unwrap().iter().map(|file| file["file"].as_str().unwrap()).collect();
    assert_eq!((files, &report["unlisted"]), (vec!["01-UAT.md"], &serde_json::json!(["07-old"])), "{report}");
    let checkpoint = context.gsd(["uat", "render-checkpoint", "--file", ".planning/phases/01-base/01-UAT.md"]).json();
    assert_eq!((&checkpoint["test_number"], &checkpoint["test_name"]), (&1.into(), &"A".into()));
}

#[test]
fn a_seed_with_several_states_waits() {
    let context = project("{}");
    context.write(".planning/seeds/SEED-001-a.md", "---\nstatus: [active, harvested]\n---\n# T\n");
    let report = context.gsd(["list-seeds"]).json();
    assert_eq!(report["seeds"][0]["status"], "dormant", "{report}");
}

#[test]
fn a_renamed_file_is_reported_with_both_names() {
    let context = repository("{}");
    git(&context, "init -q -b main web");
    context.write("web/a.txt", "one\n");
    for line in
        ["-C web add a.txt", "-C web commit -qm first", "init -q --bare up.git", "-C web remote add origin ../up.git"]
    {
        git(&context, line);
    }
    git(&context, "-C web mv a.txt b.txt");
    let report = context.gsd(["pr-subrepo", "feat: x", "--repo", "web", "--branch", "feat/x"]).json();
    assert_eq!(report["files"], serde_json::json!(["a.txt", "b.txt"]), "{report}");
}

#[test]
fn a_worktree_with_a_missing_field_is_refused_in_the_form_scripts_read() {
    let context = repository("{}");
    context.write("wave.json", "{\"worktrees\": []}");
    for (rest, flag) in [
        ("--agent-id a --path t --branch agent-t", "--base"),
        ("--agent-id a --branch agent-t --base HEAD", "--path"),
        ("--path t --branch agent-t --base HEAD", "--agent-id"),
    ] {
        let ran = at(&context, &format!("worktree record-agent --manifest wave.json {rest}"), &[]);
        let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, &told["ok"], &told["reason"]), (1, &false.into(), &"missing_field".into()), "{told}");
        assert!(told["hint"].as_str().unwrap().contains(flag), "{told}");
    }
    assert_eq!(context.read("wave.json"), "{\"worktrees\": []}");
}

#[test]
fn the_isolation_of_agents_is_recorded_whatever_else_the_call_says() {
    let context = repository("{}");
    let ran = at(&context, "dispatch-isolation --force-isolation bogus --json", &[("GSD_RUNTIME", "claude")]);
    assert!(ran.stderr.contains("ignored `--force-isolation bogus`"), "{}", ran.stderr);
    assert_eq!(ran.json()["isolation"], "harness-worktree");
    let recorded = at(&context, "record-dispatch-isolation --isolation none --harness-flag --phase 2", &[]).json();
    assert_eq!(recorded["recorded"], true, "{recorded}");
    let note: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(recorded["path"].as_str().unwrap()).unwrap()).unwrap();
    assert!(note.get("harness_flag").is_none_or(serde_json::Value::is_null) && note["phase"] == "2", "{note}");
}

#[test]
fn workstreams_are_listed_in_order_with_the_state_of_their_archive() {
    let context = project("{}");
    let rows = |second: &str| {
        format!(
            "# Roadmap\n\n## Progress\n\n| Phase | Plans | Status | Completed |\n|---|---|---|---|\n\
             | 1. A | 1/1 | Complete | 2026-01-01 |\n| 2. B | {second} |\n"
        )
    };
    let (done, open) = (rows("1/1 | Complete | 2026-01-02"), rows("0/1 | Not started | -"));
    for (name, roadmap, archived) in [("aa", &done, true), ("bb", &open, true), ("cc", &done, false)] {
        let folder = format!(".planning/workstreams/{name}");
        context.write(&format!("{folder}/STATE.md"), "# State\n\n**Milestone:** v1.0\n**Status:** Executing\n");
        context.write(&format!("{folder}/ROADMAP.md"), roadmap);
        if archived {
            context.write(&format!("{folder}/milestones/v1.0-ROADMAP.md"), roadmap);
        }
    }
    at(&context, "workstream set cc", &[]).success();
    let report = at(&context, "workstream list", &[]).json();
    let rows: Vec<(&str, &str, bool, u64)> = (report["workstreams"].as_array().unwrap().iter())
        .map(|row| {
            let text = |key: &str| row[key].as_str().unwrap();
            let unverified = row["milestone_shipped_unverified"].as_bool().unwrap();
            (text("name"), text("status"), unverified, row["phase_count"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(rows[0], ("cc", "Executing", false, rows[0].3), "{report}");
    assert_eq!(rows[1], ("aa", "milestone complete", false, 2), "{report}");
    assert_eq!((rows[2].0, rows[2].1, rows[2].2), ("bb", "Executing", true), "{report}");
}

#[test]
fn a_change_of_a_feature_prints_all_features_if_a_script_asks() {
    let context = project("{}");
    let raw = |call: &str| at(&context, &format!("{call} --raw"), &[("GSD_RUNTIME", "claude")]);
    let done = raw("capability disable ui").json();
    let ui = done["capabilities"].as_array().unwrap().iter().find(|row| row["id"] == "ui").unwrap().clone();
    assert_eq!((&ui["enabled"], &done["errors"]), (&false.into(), &serde_json::json!([])), "{done}");
    let refused = raw("capability enable nothing");
    let told: serde_json::Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!((refused.code, told["errors"].as_array().unwrap().len()), (1, 1), "{}", refused.stderr);
    assert!(told["capabilities"].as_array().unwrap().len() > 5);
    assert_eq!(at(&context, "capability enable nothing", &[]).stdout, "");
}

#[test]
fn features_are_listed_by_scope_and_an_update_without_installed_features_does_nothing() {
    let context = project("{}");
    for call in ["capability list --scope global", "capability outdated --scope project"] {
        let ran = at(&context, call, &[]);
        assert!(ran.code == 0 && ran.stderr.is_empty(), "{call}: {}", ran.stderr);
    }
    let updated = at(&context, "capability update --all", &[]).json();
    assert_eq!((&updated["scope"], &updated["updated"]), (&"global".into(), &serde_json::json!([])));
    assert_eq!(at(&context, "capability update --all --scope project", &[]).json()["scope"], "project");
    assert_ne!(at(&context, "capability list --scope bogus", &[]).code, 0);
    assert_eq!(at(&context, "capability update ui", &[]).code, 1);
}

#[test]
fn sessions_contain_what_a_person_typed_and_an_empty_folder_has_none() {
    let context = project("{}");
    fs::create_dir_all(context.project().join("empty")).unwrap();
    let claude = [("GSD_RUNTIME", "claude")];
    assert_eq!(at(&context, "scan-sessions --path empty --json", &claude).success(), "[]");
    assert_eq!(at(&context, "scan-sessions --path empty", &claude).code, 0);
    assert_eq!(at(&context, "scan-sessions --path none", &claude).code, 1);
    let line = |content: &str, more: &str| {
        format!("{{\"type\":\"user\",\"userType\":\"external\",{more}\"message\":{{\"content\":\"{content}\"}}}}\n")
    };
    let lines = [
        line("typed", "\"timestamp\":1767225600000,"),
        line("<local-command>x", ""),
        line("<task-notification>x", ""),
        line("meta", "\"isMeta\":true,"),
        line("  ", ""),
    ];
    context.write("sessions/-a-web/s1.jsonl", &lines.concat());
    let report = at(&context, "extract-messages web --path sessions", &claude).json();
    let kept = fs::read_to_string(report["output_file"].as_str().unwrap()).unwrap();
    let messages: Vec<serde_json::Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((messages.len(), &messages[0]["timestamp"]), (1, &1_767_225_600_000_u64.into()), "{kept}");
}

#[test]
fn a_skill_in_several_folders_is_listed_once() {
    let context = project("{}");
    context.write(".planning/PROJECT.md", "# P\n\n## What This Is\n\nA thing.\n");
    for folder in [".claude/skills/one", ".agents/skills/one"] {
        context.write(&format!("{folder}/SKILL.md"), "---\nname: one\ndescription: d\n---\n");
    }
    context.gsd(["generate-claude-md", "--output", "RULES.md"]).success();
    let rules = context.read("RULES.md");
    assert_eq!((rules.matches("| one |").count(), rules.contains(".claude/skills/one")), (1, true), "{rules}");
}

#[test]
fn skills_are_found_in_a_moved_host_folder_and_inside_routers() {
    let context = project("{}");
    let moved = context.home().join("moved");
    for folder in ["skills/one", "skills/gsd-ns-a/skills/inner"] {
        fs::create_dir_all(moved.join(folder)).unwrap();
        fs::write(moved.join(folder).join("SKILL.md"), "").unwrap();
    }
    let variables = [("CLAUDE_CONFIG_DIR", moved.to_str().unwrap())];
    let report = context.gsd_with(["skill-manifest"], &variables, "").json();
    let told: Vec<(&str, &str)> = (report["skills"].as_array().unwrap().iter())
        .map(|skill| (skill["name"].as_str().unwrap(), skill["root"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("inner", "~/.claude/skills"), ("one", "~/.claude/skills")], "{report}");
}

#[test]
fn the_installation_of_the_named_folder_is_reported() {
    let context = project("{}");
    let folder = context.home().join("host");
    fs::create_dir_all(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    let call = ["update-context", "--config-dir", folder, "--runtime", "claude", "--json"];
    let told = context.gsd(call).json();
    let row = ["installedVersion", "scope", "runtime", "gsdDir"].map(|key| told[key].as_str().unwrap().to_owned());
    assert_eq!(row, ["0.0.0", "GLOBAL", "claude", folder]);
    let none = context.gsd(["update-context", "--config-dir", "/nowhere", "--runtime", "claude"]).json();
    assert_eq!(none["scope"], "UNKNOWN");
}

#[test]
fn restored_files_report_missing_references_and_a_failed_copy_does_not_stop_the_others() {
    let context = project("{}");
    let backup = "host/gsd-user-files-backup";
    let page = "---\nname: a\ndescription: d\n---\n@~/.x/gsd-core/workflows/gone.md /gsd-no-such and /gsd-plan-phase\n";
    context.write(&format!("{backup}/agents/gsd-mine.md"), page);
    context.write("host/gsd-file-manifest.json", "{\"version\": \"1.0\", \"files\": []}");
    // The names that the person's file refers to are missing, and the report says so.
    let words = ["restore-custom-files", "--config-dir", "host"];
    let quoted = context.command(crate::kit::binary()).args(words).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&quoted.stdout).unwrap();
    assert_eq!(report["manifest_found"], false, "{report}");
    let warnings = report["entries"][0]["warnings"].as_array().unwrap().clone();
    let codes: Vec<&str> = warnings.iter().map(|warning| warning["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["missing_referenced_command", "missing_referenced_path"], "{report}");
    // A file is at the path that the second one needs as a folder.
    context.write("host/hooks", "mine\n");
    context.write(&format!("{backup}/hooks/gsd-mine.sh"), "x\n");
    let applied = context.command(crate::kit::binary()).args(words).arg("--apply").output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&applied.stdout).unwrap();
    let outcomes: Vec<&str> =
        report["entries"].as_array().unwrap().iter().map(|entry| entry["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["restored", "skipped_copy_failed"], "{report}");
    assert_eq!(
        (context.read("host/agents/gsd-mine.md").as_str(), context.read("host/hooks").as_str()),
        (page, "mine\n")
    );
}
