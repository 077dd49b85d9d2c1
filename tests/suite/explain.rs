//! `explain`: whose a file of a host is, and each key and line in it.

use std::path::Path;

use serde_json::{Value, json};

use crate::kit::TestContext;
use crate::lived::put;
use crate::tree::tree;

const MINE: &str = r#"{
  "model": "opus",
  "env": {
    "A": "1",
    "B": "2"
  },
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}]}
    ]
  }
}
"#;

fn explained(context: &TestContext, file: &Path) -> Value {
    context.gsd(["explain", "--json", file.to_str().unwrap()]).json()
}

/// The rows as `line key whose`.
fn rows(report: &Value) -> Vec<String> {
    let row =
        |row: &Value| format!("{} {} {}", row["line"], row["key"].as_str().unwrap(), row["whose"].as_str().unwrap());
    report["rows"].as_array().unwrap().iter().map(row).collect()
}

fn row<'a>(report: &'a Value, value: &str) -> &'a Value {
    let rows = report["rows"].as_array().unwrap();
    rows.iter().find(|row| row["value"].as_str().unwrap().contains(value)).unwrap_or_else(|| panic!("{report:#}"))
}

#[test]
fn each_key_of_settings_is_ours_yours_or_of_another_program() {
    let context = TestContext::new();
    let settings = context.home().join(".claude/settings.json");
    put(&settings, MINE);
    let before = rows(&explained(&context, &settings));
    assert_eq!(before[..3], ["2 model yours", "4 env.A yours", "5 env.B yours"]);
    assert_eq!(before[3..], ["9 hooks.PreToolUse[] yours"]);

    context.gsd(["install", "--claude", "--global"]).success();
    let theirs = format!("node {}/hooks/gsd-read-guard.js", settings.parent().unwrap().display());
    let theirs = json!({"matcher": "Write", "hooks": [{"type": "command", "command": theirs}]});
    let mine = r#"{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}]}"#;
    let text = std::fs::read_to_string(&settings).unwrap();
    put(&settings, &text.replacen(mine, &format!("{mine},\n      {theirs}"), 1));
    let home = tree(&context.home());
    let report = explained(&context, &settings);
    assert_eq!(tree(&context.home()), home, "it only reads");
    assert_eq!((&report["path"], &report["what"]), (&json!("~/.claude/settings.json"), &json!("settings")));
    assert_eq!(rows(&report)[..4], before[..]);
    let found = row(&report, "gsd-read-guard.js");
    assert_eq!((&found["whose"], &found["line"]), (&json!("another"), &json!(10)), "{found}");
    assert!(found["program"].as_str().unwrap().starts_with("GSD Core"), "{found}");
    let ours = row(&report, "hook standard");
    assert_eq!((&ours["whose"], &ours["since"]["call"]), (&json!("ours"), &json!(1)), "{ours}");
    assert_eq!(ours["since"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(row(&report, "\"command\"")["key"], "statusLine.type");
    assert_eq!(row(&report, "\"command\"")["whose"], "ours");

    let page = context.gsd(["explain", settings.to_str().unwrap()]).success();
    assert!(page.lines().count() < 40, "{page}");
    assert!(page.contains("2 values") && page.contains("call 1 of `gsd-tools history`"), "{page}");
    let all = context.gsd(["explain", "--verbose", settings.to_str().unwrap()]).success();
    assert!(all.contains("env.A") && !all.contains("2 values"), "{all}");
}

#[test]
fn what_came_with_an_update_is_ours_since_the_update() {
    let context = TestContext::new();
    let settings = context.home().join(".claude/settings.json");
    put(&settings, "{}\n");
    context.gsd(["install", "--claude", "--global", "--no-permissions"]).success();
    context.gsd(["install", "--claude", "--global", "--permissions"]).success();
    let report = explained(&context, &settings);
    assert_eq!(row(&report, "hook standard")["since"]["call"], 1);
    assert_eq!(row(&report, "Bash(")["since"]["call"], 2, "{report:#}");
    // Without the history, the manifest has the version.
    std::fs::remove_dir_all(context.home().join(".local/state/gsd-tools/history")).unwrap();
    let since = row(&explained(&context, &settings), "Bash(")["since"].clone();
    assert_eq!(since, json!({"version": env!("CARGO_PKG_VERSION")}));
}

#[test]
fn toml_and_text_are_explained_too() {
    let context = TestContext::new();
    let config = context.home().join(".codex/config.toml");
    put(&config, "model = \"gpt-5\" # mine\n\n[mcp_servers.docs]\nargs = [\n  \"--all\",\n]\n");
    let text = context.home().join(".copilot/copilot-instructions.md");
    put(&text, "# Mine\n\n- Be brief.\n");
    context.gsd(["install", "--codex", "--copilot", "--global"]).success();
    let report = explained(&context, &config);
    assert_eq!(rows(&report)[..2], ["1 model yours", "5 mcp_servers.docs.args[] yours"]);
    assert!(rows(&report).iter().any(|row| row.ends_with("features.hooks ours")), "{report:#}");

    let report = explained(&context, &text);
    assert_eq!(rows(&report), ["1  yours", "5  ours"]);
    assert_eq!((&report["rows"][0]["last_line"], &report["rows"][1]["since"]["call"]), (&json!(4), &json!(1)));
    put(&text, "# Mine <!-- gsd-tools -->\n");
    assert_eq!(rows(&explained(&context, &text)), ["1  yours"]);
}

#[test]
fn an_installed_file_belongs_to_its_install() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let root = context.home().join(".claude");
    let skill = root.join("skills/gsd-help/SKILL.md");
    let report = explained(&context, &skill);
    let of = |report: &Value| format!("{} {} {}", report["what"], report["whose"], report["since"]["call"]);
    assert_eq!(of(&report), r#""installed" "ours" 1"#);
    put(&skill, "mine");
    assert_eq!(explained(&context, &skill)["what"], "edited");
    std::fs::remove_file(&skill).unwrap();
    assert_eq!(explained(&context, &skill)["what"], "missing");
    put(&root.join("skills/own/SKILL.md"), "mine");
    let own = explained(&context, &root.join("skills/own/SKILL.md"));
    assert_eq!((&own["what"], &own["whose"]), (&json!("other"), &json!("yours")));
    assert_eq!(explained(&context, &root.join("gsd-file-manifest.json"))["what"], "manifest");
    context.gsd(["install", "--claude", "--global"]).success();
    put(&skill, "mine again");
    context.gsd(["install", "--claude", "--global"]).success();
    let saved = explained(&context, &root.join("gsd-local-patches/skills/gsd-help/SKILL.md"));
    assert_eq!((&saved["what"], &saved["whose"]), (&json!("set-aside"), &json!("yours")));
}

#[test]
fn a_file_of_no_host_and_one_that_does_not_parse_are_refused() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    put(&context.home().join("notes.md"), "mine");
    for (file, why) in [("notes.md", "is not a file of a host"), ("none.md", "does not exist")] {
        let message = context.gsd(["explain", context.home().join(file).to_str().unwrap()]).failure(1);
        assert!(message.contains(why) && message.contains("gsd-tools status"), "{message}");
    }
    let gone = context.gsd(["explain", context.home().join(".claude/none.md").to_str().unwrap()]).failure(1);
    assert!(gone.contains("does not exist"), "{gone}");
    let settings = context.home().join(".claude/settings.json");
    put(&settings, "{\n  \"model\": \"opus\"\n  \"env\": {}\n}\n");
    let message = context.gsd(["explain", settings.to_str().unwrap()]).failure(65);
    assert!(message.contains("`~/.claude/settings.json` does not parse: line 2"), "{message}");
}

#[test]
fn a_file_in_a_project_belongs_to_the_install_there() {
    let context = TestContext::new();
    put(&context.project().join(".claude/settings.local.json"), "{\"env\": {\"A\": \"1\"}}\n");
    put(&context.project().join(".planning/STATE.md"), "# State\n");
    context.gsd(["install", "--claude", "--local"]).success();
    let report = context.gsd(["explain", "--json", ".claude/settings.local.json"]).json();
    assert_eq!((&report["scope"], &report["path"]), (&json!("local"), &json!(".claude/settings.local.json")));
    assert_eq!(row(&report, "hook standard")["whose"], "ours");
    assert!(context.gsd(["explain", ".planning/STATE.md"]).failure(1).contains("is not a file of a host"));
}
