//! Configuration and models, as typed on the command line.

use crate::kit::TestContext;

const FILE: &str = ".planning/config.json";

fn project(config: &str) -> TestContext {
    let context = TestContext::new();
    context.write(FILE, config);
    context
}

#[test]
fn a_key_is_set_and_read_back_and_the_rest_of_the_file_keeps_its_bytes() {
    let context = project("{\r\n\t\"mode\":  \"interactive\",\r\n\t\"zzz\": {}\r\n}");
    let report = context.gsd(["config-set", "mode", "yolo"]).json();
    assert_eq!(report["previousValue"], "interactive");
    assert_eq!(context.read(FILE), "{\r\n\t\"mode\":  \"yolo\",\r\n\t\"zzz\": {}\r\n}");
    assert_eq!(context.gsd(["config-get", "mode", "--raw"]).success(), "yolo");
    assert_eq!(context.gsd(["config-get", "mode"]).success(), "\"yolo\"");
    assert_eq!(context.gsd(["config-set", "mode", "null", "--raw"]).success(), "mode unset");
    assert_eq!(context.read(FILE), "{\r\n\t\"zzz\": {}\r\n}");
}

#[test]
fn a_dry_run_changes_nothing() {
    let context = project("{}");
    assert_eq!(context.gsd(["config-set", "mode", "yolo", "--dry-run"]).json()["would_update"], true);
    assert_eq!(context.read(FILE), "{}");
}

#[test]
fn a_broken_file_is_reported_and_left_alone() {
    let context = project("{broken");
    let told = context.gsd(["config-set", "mode", "yolo", "--json-errors"]).failure(1);
    assert!(told.contains("config_parse_failed"), "{told}");
    assert_eq!(context.read(FILE), "{broken");
    let ran = context.gsd(["resolve-model", "gsd-planner", "--pick", "model"]);
    assert!(ran.stderr.contains("warning: ") && ran.stderr.contains("config.json"), "{}", ran.stderr);
    assert_eq!(ran.success(), "opus");
}

#[test]
fn an_unknown_key_suggests_the_known_one() {
    let context = project("{}");
    let told = context.gsd(["config-set", "workflow.reserch", "false"]).failure(1);
    assert!(told.contains("did you mean `workflow.res"), "{told}");
    assert!(!context.gsd(["config-set", "nope", "1", "--exit-contract=v2"]).failure(64).is_empty());
    assert!(!context.gsd(["config-get", "nope", "--exit-contract=v2"]).failure(66).is_empty());
}

#[test]
fn a_secret_is_stored_in_full_and_shown_in_part() {
    let context = project("{}");
    let told = context.gsd(["config-set", "brave_search", "sk-0123456789"]).success();
    assert!(told.contains("****6789") && !told.contains("sk-0123"), "{told}");
    assert!(context.read(FILE).contains("sk-0123456789"));
    assert_eq!(context.gsd(["config-get", "brave_search", "--raw"]).success(), "****6789");
}

#[test]
fn a_workstreams_file_overrides_the_projects() {
    let context = project(r#"{"mode":"interactive","runtime":"x"}"#);
    context.write(".planning/workstreams/api/STATE.md", "");
    assert!(context.gsd(["config-set", "mode", "yolo", "--ws", "api"]).success().contains("yolo"));
    assert_eq!(context.read(".planning/workstreams/api/config.json"), "{\n  \"mode\": \"yolo\"\n}\n");
    assert_eq!(context.gsd(["--ws", "api", "config-get", "mode", "--raw"]).success(), "yolo");
    assert_eq!(context.gsd(["--ws", "api", "config-get", "runtime", "--raw"]).success(), "x");
    let environment = [("GSD_WORKSTREAM", "api")];
    assert_eq!(context.gsd_with(["config-get", "mode", "--raw"], &environment, "").success(), "yolo");
    assert_eq!(context.gsd(["config-get", "mode", "--raw"]).success(), "interactive");
    assert!(context.gsd(["config-get", "mode", "--ws", "../api"]).failure(1).contains("../api"));
}

#[test]
fn a_new_file_takes_the_users_defaults_and_found_services() {
    let context = TestContext::new();
    std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
    std::fs::write(context.home().join(".gsd/defaults.json"), r#"{"model_profile":"quality"}"#).unwrap();
    std::fs::write(context.home().join(".gsd/jina_api_key"), "k").unwrap();
    let choices = r#"{"mode":"yolo"}"#;
    let made = context.gsd_with(["config-new-project", choices], &[("EXA_API_KEY", "k")], "").json();
    assert_eq!(made["path"], FILE);
    let file: serde_json::Value = serde_json::from_str(&context.read(FILE)).unwrap();
    assert_eq!((&file["model_profile"], &file["mode"]), (&"quality".into(), &"yolo".into()));
    assert_eq!((&file["jina"], &file["exa_search"], &file["firecrawl"]), (&true.into(), &true.into(), &false.into()));
    assert_eq!(context.gsd(["config-ensure-section"]).json()["reason"], "already_exists");
}

#[test]
fn an_existing_file_keeps_its_values_and_gets_the_missing_ones() {
    let context =
        project("{\n  \"mode\": \"yolo\",\n  \"depth\": \"quick\",\n  \"workflow\": { \"research\": false }\n}\n");
    let choices = r#"{"mode":"interactive","model_profile":"quality","workflow":{"verifier":false}}"#;
    let made = context.gsd(["config-new-project", choices]).json();
    assert_eq!(
        (&made["created"], &made["path"], &made["kept"]),
        (&false.into(), &FILE.into(), &serde_json::json!(["mode"]))
    );
    let added: Vec<&str> = made["added"].as_array().unwrap().iter().filter_map(|key| key.as_str()).collect();
    assert!(added.contains(&"model_profile") && added.contains(&"workflow.verifier"), "{added:?}");
    assert!(!added.contains(&"workflow.research") && !added.contains(&"granularity"), "{added:?}");
    let text = context.read(FILE);
    assert!(text.starts_with("{\n  \"mode\": \"yolo\",\n  \"depth\": \"quick\",\n"), "{text}");
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&file["model_profile"], &file["workflow"]["verifier"]), (&"quality".into(), &false.into()));
    assert_eq!((&file["workflow"]["research"], &file["workflow"]["plan_check"]), (&false.into(), &true.into()));
    let again = context.gsd(["config-new-project", choices]).json();
    assert_eq!((&again["reason"], again.get("added")), (&"already_exists".into(), None));
    assert_eq!(context.read(FILE), text);
    context.write(FILE, "{ broken");
    assert!(context.gsd(["config-new-project", choices]).failure(1).contains("not valid JSON"));
    assert_eq!(context.read(FILE), "{ broken");
}

#[test]
fn the_host_decides_which_models_a_profile_means() {
    let context = project("{}");
    let environment = [("GSD_RUNTIME", "qwen")];
    assert_eq!(
        context.gsd_with(["resolve-model", "gsd-executor", "--raw"], &environment, "").success(),
        "qwen3-coder-plus"
    );
    let table = context.gsd(["config-set-model-profile", "Quality", "--raw"]).success();
    assert!(table.contains(" gsd-executor              │ opus  \n"), "{table}");
    assert_eq!(context.gsd(["resolve-model", "gsd-executor", "--raw"]).success(), "opus");
    assert!(context.gsd(["config-set-model-profile", "best"]).failure(1).contains("balanced"));
    let execution = context.gsd(["resolve-execution", "gsd-verifier", "--effort", "low"]).json();
    assert_eq!((&execution["effort"], &execution["effort_effective_source"]), (&"low".into(), &"flag".into()));
    assert_eq!(context.gsd(["resolve-granularity", "planning", "--raw"]).success(), "standard");
}

#[test]
fn a_project_is_found_from_a_folder_inside_it() {
    let context = project(r#"{"mode":"yolo"}"#);
    context.write("src/deep/a.txt", "");
    let init = context.command("git").args(["init", "-q"]).status().unwrap();
    assert!(init.success());
    assert_eq!(context.gsd(["--cwd", "src/deep", "config-get", "mode", "--raw"]).success(), "yolo");
}

#[test]
fn no_answer_shows_the_key_of_a_service_in_full() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    for service in ["brave_search", "exa_search", "firecrawl", "jina", "perplexity", "ref_search", "tavily_search"] {
        let set = context.gsd(["config-set", service, "sk-abcdefghijkl"]).success();
        assert!(set.contains("****ijkl") && !set.contains("abcdefgh"), "{set}");
        assert_eq!(context.gsd(["config-get", service, "--raw"]).success(), "****ijkl");
    }
    for call in ["state load", "state load --raw", "init new-project", "config-set mode yolo --dry-run"] {
        let ran = context.gsd_with(call.split(' '), &[], "");
        assert!(!ran.stdout.contains("abcdefgh") && !ran.stderr.contains("abcdefgh"), "{call}: {}", ran.stdout);
    }
    assert!(context.read(".planning/config.json").contains("sk-abcdefghijkl"), "the file keeps it");
}

#[test]
fn a_value_that_a_key_does_not_take_is_refused_and_nothing_is_written() {
    let context = project(r#"{"mode":"interactive"}"#);
    for (key, value, takes) in [
        ("mode", "yollo", "`interactive` or `yolo`"),
        ("workflow.research", "maybe", "`true` or `false`"),
        ("context_window", "big", "a whole number"),
    ] {
        let error = context.gsd(["config-set", key, value]).failure(1);
        assert!(error.contains(&format!("`{key}` cannot be `{value}`; it takes {takes}")), "{error}");
        assert!(error.contains("hint: "), "{error}");
    }
    let choices = context.gsd(["config-new-project", r#"{"workflow": {"verifier": "no"}}"#]).failure(1);
    assert!(choices.contains("`workflow.verifier` cannot be `no`"), "{choices}");
    assert_eq!(context.read(".planning/config.json"), r#"{"mode":"interactive"}"#);
}

#[test]
fn the_host_of_a_project_has_to_be_known() {
    let context = project("{}");
    let ran = context.gsd(["config-set", "runtime", "codx"]);
    assert!(
        ran.code != 0 && ran.stderr.contains("codex") && ran.stderr.contains("gsd-tools runtimes"),
        "{}",
        ran.stderr
    );
    assert_eq!(context.read(FILE), "{}");
    context.gsd(["config-set", "runtime", "codex"]).success();
    context.gsd(["config-set", "runtime", "null"]).success();
}

#[test]
fn no_setting_starts_a_project() {
    let context = TestContext::new();
    for call in [&["config-set", "mode", "yolo"][..], &["config-set", "mode", "yolo", "--dry-run"]] {
        let error = context.gsd_with(call.iter().copied(), &[], "").failure(1);
        assert!(error.contains("there is no project in") && error.contains("hint: "), "{error}");
    }
    assert!(!context.project().join(".planning").exists());
}

#[test]
fn keys_are_listed_with_where_they_are_set() {
    let context = project("{\"mode\": \"yolo\", \"workflow\": {\"research\": false}}\n");
    let listed = context.gsd(["config", "list"]).json();
    let rows = listed["keys"].as_array().unwrap();
    let told: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["key"].as_str().unwrap(), row["source"].as_str().unwrap())).collect();
    assert_eq!(told, [("mode", "project"), ("workflow.research", "project")]);
    let all = context.gsd(["config", "list", "--all"]).json();
    assert!(all["keys"].as_array().unwrap().len() > 150, "{all}");
}

#[test]
fn a_key_is_explained_in_a_project_or_outside_of_one() {
    let context = TestContext::new();
    let told = context.gsd(["config", "explain", "mode"]).json();
    assert_eq!(told["value"], "interactive");
    assert_eq!((&told["source"], &told["accepts"]), (&"default".into(), &"`interactive` or `yolo`".into()));
    let wrong = context.gsd(["config", "explain", "workflow.reserch"]).failure(1);
    assert!(wrong.contains("did you mean `workflow.research`?") && wrong.contains("config list --all"), "{wrong}");
    let refused = context.gsd(["config-set", "mode", "yollo"]).failure(1);
    assert!(refused.contains("`gsd-tools config explain mode`"), "{refused}");
}

#[test]
fn a_person_sees_keys_as_a_table_and_one_as_a_page() {
    let context = project("{\"mode\": \"yolo\"}\n");
    let seen = |call: &str| {
        let output = context.at_a_terminal(call, &[], "");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
    };
    let table = seen("config list --color never");
    assert!(table.contains("key   value  source\nmode  yolo   project\n"), "{table}");
    let page = seen("config explain mode --color never");
    assert!(
        page.contains("accepts  `interactive` or `yolo`") && page.contains("yolo (from .planning/config.json)"),
        "{page}"
    );
}

#[test]
fn defaults_that_callers_use_are_reported_if_no_file_has_the_key() {
    for context in [TestContext::new(), project("{}")] {
        for (key, value) in [
            ("executor.stall_detect_interval_minutes", "5"),
            ("planner.stall_threshold_minutes", "10"),
            ("git.create_tag", "true"),
            ("workflow.smart_zone_tokens", "100000"),
            ("hooks.context_warning_threshold", "35"),
            ("hooks.context_critical_threshold", "25"),
            ("planning.pr_strict", "false"),
            ("workflow.inline_plan_threshold", "2"),
        ] {
            assert_eq!(context.gsd(["config-get", key, "--raw"]).success(), value, "{key}");
        }
        assert_eq!(context.gsd(["config-get", "workflow.verifier"]).code, 1);
    }
}

#[test]
fn a_configuration_that_is_a_folder_is_reported_and_the_defaults_apply() {
    let context = TestContext::new();
    context.write(".planning/config.json/x", "");
    let ran = context.gsd(["resolve-model", "gsd-planner", "--pick", "model"]);
    assert!(ran.stderr.contains("`.planning/config.json` cannot be read and is ignored"), "{}", ran.stderr);
    assert_eq!(ran.success(), "opus");
    assert_eq!(context.gsd(["config-set", "mode", "yolo"]).code, 1);
    for call in ["init progress", "init plan-phase 1", "init new-project", "state load", "smart-entry"] {
        assert_eq!(context.gsd_with(call.split(' '), &[], "").code, 0, "{call}");
    }
    assert!(context.gsd(["validate", "health"]).stdout.contains("config.json cannot be read"));
    assert_eq!(context.gsd(["config", "list"]).json()["keys"].as_array().unwrap().len(), 0);
}

#[test]
fn the_users_default_host_is_not_copied_into_a_project() {
    let context = TestContext::new();
    std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
    std::fs::write(context.home().join(".gsd/defaults.json"), r#"{"runtime": "codex", "mode": "yolo"}"#).unwrap();
    assert_eq!(context.gsd(["config-ensure-section"]).json()["created"], true);
    let file: serde_json::Value = serde_json::from_str(&context.read(FILE)).unwrap();
    assert_eq!((&file["mode"], file.get("runtime")), (&"yolo".into(), None));
}

#[test]
fn a_mistaken_name_suggests_the_intended_key() {
    let context = project("{}");
    for (typed, meant) in [("plan_checker", "workflow.plan_check"), ("sub_repos", "planning.sub_repos")] {
        let told = context.gsd(["config-set", typed, "true"]).failure(1);
        assert!(told.contains(&format!("did you mean `{meant}`")), "{told}");
    }
    for unset in ["agent_skills.constructor", "__proto__"] {
        assert_eq!(context.gsd(["config-set", unset, "null"]).code, 1, "{unset}");
    }
    assert_eq!(context.read(FILE), "{}");
}

#[test]
fn choices_of_a_new_project_are_checked_like_single_values() {
    let context = TestContext::new();
    let sections = r#"{"ship": {"pr_body_sections": [{"heading": "X", "source": "PLAN.md"}]}}"#;
    let told = context.gsd(["config-new-project", sections]).failure(1);
    assert!(told.contains("`ship.pr_body_sections` cannot be"), "{told}");
    assert!(!context.project().join(FILE).exists());
    let reviewers = r#"{"review": {"default_reviewers": ["Gemini", "gemini"]}}"#;
    assert_eq!(context.gsd(["config-new-project", reviewers]).json()["created"], true);
    assert_eq!(context.gsd(["config-get", "review.default_reviewers"]).json(), serde_json::json!(["gemini"]));
}

const PREFERENCES: &str = ".gsd/PREFERENCES.md";

/// A project with preferences, one of the user's own, and no `.planning`.
fn preferring(project: &str, own: &str) -> TestContext {
    let context = TestContext::new();
    context.write(PREFERENCES, project);
    std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
    std::fs::write(context.home().join(PREFERENCES), own).unwrap();
    context
}

#[test]
fn preferences_of_runs_are_listed_with_their_places_and_what_is_wrong_with_them() {
    let project =
        "---\nverification_comands: [make]\nbudget_ceiling: much\ngit:\n  auto_push: true\nuat_dispatch: true\n---\n";
    let context = preferring(project, "---\nbudget_ceiling: 9\n---\n");
    let listed = context.gsd(["config", "list"]).json();
    assert_eq!(listed["keys"], serde_json::json!([]));
    let rows = listed["preferences"].as_array().unwrap();
    let row = |key: &str| rows.iter().find(|row| row["key"] == key).unwrap_or_else(|| panic!("{key}: {rows:#?}"));
    let budget = row("budget_ceiling");
    assert_eq!((&budget["value"], &budget["source"]), (&9.0.into(), &"personal".into()));
    assert_eq!((&budget["file"], &budget["line"]), (&"~/.gsd/PREFERENCES.md".into(), &2.into()));
    for (key, why) in [
        ("budget_ceiling", "`.gsd/PREFERENCES.md` line 3: `budget_ceiling` is `much`, not an amount"),
        ("verification_comands", "perhaps `verification_commands` is meant"),
        ("git.auto_push", "a run pushes nothing"),
    ] {
        assert!(row(key)["problem"].as_str().unwrap().contains(why), "{:#}", row(key));
    }
    assert_eq!((&row("uat_dispatch")["value"], row("uat_dispatch").get("problem")), (&true.into(), None));
    assert_eq!(rows.len(), 4, "{rows:#?}");
    let group = context.gsd(["config", "list", "phases", "--all"]).json();
    assert_eq!(group["preferences"][0]["key"], "phases.skip_research", "{group:#}");
    let shown = context.at_a_terminal("config list --color never", &[], "");
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("uat_dispatch") && shown.contains(".gsd/PREFERENCES.md line 6"), "{shown}");
    let missing = context.gsd(["config", "list", "nothing"]).failure(1);
    assert!(missing.contains("unknown config key `nothing`"), "{missing}");
}

#[test]
fn a_preference_is_explained_with_how_to_write_it_and_one_name_can_have_two_meanings() {
    let context = preferring("---\nmode: team\n---\n", "---\nfence:\n  terminals: 3\n---\n");
    let told = context.gsd(["config", "explain", "verification_commands"]).json();
    let preference = &told["preference"];
    assert_eq!((&preference["value"], &preference["source"]), (&serde_json::Value::Null, &"default".into()));
    assert_eq!(
        preference["known"]["example"], "---\nverification_commands: [cargo test, npm run lint]\n---\n",
        "{told:#}"
    );
    assert!(told.get("key").is_none(), "{told:#}");
    let both = context.gsd(["config", "explain", "mode"]).json();
    assert_eq!((&both["value"], &both["preference"]["value"]), (&"interactive".into(), &"team".into()));
    assert!(both["preference"]["problem"].as_str().unwrap().contains("a run is for one person"), "{both:#}");
    let fence = context.gsd(["config", "explain", "fence.terminals"]).json();
    assert!(fence["preference"]["problem"].as_str().unwrap().contains("is `true` or `false`"), "{fence:#}");
    let page = context.at_a_terminal("config explain git.worktree_post_create --color never", &[], "");
    let page = String::from_utf8(page.stdout).unwrap().replace("\r\n", "\n");
    assert!(page.contains("  ---\n  git:\n    worktree_post_create: npm ci\n  ---\n"), "{page}");
    let without = TestContext::new();
    assert!(without.gsd(["config", "explain", "mode"]).json().get("preference").is_none());
    assert!(without.gsd(["config", "list", "--all"]).json().get("preferences").is_none());
}

#[test]
fn getting_or_setting_a_preference_points_to_its_file() {
    let context = project("{}");
    for call in [&["config-get", "verification_commands"][..], &["config-set", "verification_commands", "make"]] {
        let error = context.gsd_with(call.iter().copied(), &[], "").failure(1);
        assert!(
            error.contains("`verification_commands` is a preference of `auto run`, written in .gsd/PREF"),
            "{error}"
        );
        assert!(error.contains("`gsd-tools config explain verification_commands`"), "{error}");
    }
    let fenced = context.gsd(["config-set", "fence.terminals", "true"]).failure(1);
    assert!(fenced.contains("written in ~/.gsd/PREFERENCES.md"), "{fenced}");
    assert_eq!(context.read(FILE), "{}");
}
