//! `--detected`: hosts are found by their folders and by their programs in `PATH`, and on a machine without any the
//! answer says what to type.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::kit::{Ran, TestContext, binary};

/// A folder for `PATH`, below the project's parent so that it is removed with the test.
fn bin(context: &TestContext) -> PathBuf {
    let folder = context.home().parent().unwrap().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[cfg(unix)]
fn put(path: &Path, text: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A program that leaves a file when it is started: nothing here may start it.
const WITNESS: &str = "#!/bin/sh\ntouch \"$HOME/started\"\n";

fn gsd(context: &TestContext, path: &str, call: &str) -> Ran {
    let ran = context.gsd_with(call.split(' '), &[("PATH", path)], "");
    assert!(!context.home().join("started").exists(), "`{call}` started a program of a host");
    ran
}

/// The hosts of a report, each with what it was detected by.
fn detected(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let hosts = report["hosts"].as_array().unwrap().iter();
    hosts.map(|host| (text(&host["runtime"]), text(&host["detected"]["by"]))).collect()
}

#[cfg(unix)]
#[test]
fn a_program_in_path_is_enough() {
    let context = TestContext::new();
    let bin = bin(&context);
    let path = bin.to_str().unwrap();
    put(&bin.join("claude"), WITNESS, 0o755);
    std::fs::create_dir_all(context.home().join(".codex")).unwrap();
    let status = gsd(&context, path, "status").success();
    assert!(status.contains("Claude Code (`--claude`, claude in PATH), OpenAI Codex CLI (`--codex`)"), "{status}");
    let shown = gsd(&context, path, "install --detected --dry-run").success();
    assert!(shown.contains(&format!("detected: claude is in PATH ({path}/claude)")), "{shown}");
    assert!(shown.contains("detected: ~/.codex exists"), "{shown}");
    assert!(!context.home().join(".claude").exists());
    let report = gsd(&context, path, "install --detected --dry-run --json").json();
    let program = json!({"by": "program", "path": bin.join("claude")});
    assert_eq!(report["hosts"][0]["detected"], program);
    let report = gsd(&context, path, "install --detected --local --json").json();
    let both = [("claude", "program"), ("codex", "folder")].map(|(id, by)| (id.to_owned(), by.to_owned()));
    assert_eq!(detected(&report), both);
    let report = gsd(&context, path, "install --yes --json").json();
    assert_eq!(detected(&report), both);
    assert!(context.home().join(".claude/gsd-file-manifest.json").exists());
    let named = gsd(&context, path, "install --claude --global --json").json();
    assert_eq!(named["hosts"][0]["detected"], Value::Null, "nobody detected what was named");
}

#[cfg(unix)]
#[test]
fn an_uninstall_depends_on_what_is_installed() {
    let context = TestContext::new();
    let bin = bin(&context);
    let path = bin.to_str().unwrap();
    put(&bin.join("claude"), WITNESS, 0o755);
    put(&bin.join("gemini"), WITNESS, 0o755);
    gsd(&context, path, "install --claude --global").success();
    let report = gsd(&context, path, "uninstall --detected --dry-run --json").json();
    assert_eq!(detected(&report), [("claude".to_owned(), String::new())]);
    // The client is gone, its installed files are not.
    std::fs::remove_file(bin.join("claude")).unwrap();
    let report = gsd(&context, path, "uninstall --detected --json").json();
    assert_eq!(detected(&report), [("claude".to_owned(), String::new())]);
    assert!(gsd(&context, path, "uninstall --detected").success().contains("Nothing is installed"));
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_run_is_not_a_client() {
    use std::os::unix::fs::symlink;
    let context = TestContext::new();
    let bin = bin(&context);
    std::fs::create_dir_all(bin.join("claude")).unwrap();
    put(&bin.join("codex"), WITNESS, 0o644);
    symlink(bin.join("nowhere"), bin.join("gemini")).unwrap();
    symlink(bin.join("qwen"), bin.join("qwen")).unwrap();
    put(&context.home().join("apps/opencode-1.2/opencode"), WITNESS, 0o755);
    symlink(context.home().join("apps/opencode-1.2/opencode"), bin.join("opencode")).unwrap();
    let path = format!("{0}:{0}/none::{0}", bin.display());
    let report = gsd(&context, &path, "install --detected --dry-run --json").json();
    assert_eq!(detected(&report), [("opencode".to_owned(), "program".to_owned())]);
    let found = &report["hosts"][0]["detected"]["path"];
    assert_eq!(*found, json!(bin.join("opencode")), "as the user calls it");
}

#[cfg(unix)]
#[test]
fn a_program_that_came_with_a_project_is_not_installed() {
    let context = TestContext::new();
    put(&context.project().join("claude"), WITNESS, 0o755);
    put(&context.project().join("node_modules/.bin/codex"), WITNESS, 0o755);
    for path in [":", ".", "./node_modules/.bin", ""] {
        let told = gsd(&context, path, "install --detected").failure(2);
        assert!(told.contains("no host was found"), "PATH={path}: {told}");
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_other_programs_have_too_is_not_enough() {
    use std::os::unix::fs::symlink;
    let context = TestContext::new();
    let bin = bin(&context);
    let path = bin.to_str().unwrap().to_owned();
    let shared = ["pi", "kilo", "hermes", "agent", "kimi", "copilot"];
    for name in shared {
        put(&bin.join(name), WITNESS, 0o755);
    }
    gsd(&context, &path, "install --detected").failure(2);
    for name in shared {
        std::fs::remove_file(bin.join(name)).unwrap();
    }
    // npm links to the file of the package; pip writes a script that names the module.
    let package = context.home().join("lib/node_modules/@earendil-works/pi-coding-agent/dist/cli.js");
    put(&package, WITNESS, 0o755);
    symlink(&package, bin.join("pi")).unwrap();
    put(&bin.join("kimi"), "#!/usr/bin/python3\nfrom kimi_cli.__main__ import main\n", 0o755);
    let report = gsd(&context, &path, "install --detected --dry-run --json").json();
    let ids: Vec<String> = detected(&report).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["kimi", "pi"], "and not the other client that is called `kimi`");
}

#[test]
fn on_a_bare_machine_the_answer_says_what_was_looked_for_and_what_to_type() {
    let context = TestContext::new();
    let path = bin(&context);
    let path = path.to_str().unwrap();
    let told = gsd(&context, path, "install --detected").failure(2);
    assert!(told.contains("none of these folders exists: ") && told.contains("~/.claude, "), "{told}");
    assert!(told.contains("none of these programs is in PATH: ") && told.contains(" claude, "), "{told}");
    assert!(told.contains("`gsd-tools install --claude --global`"), "{told}");
    let folder = context.home().join("elsewhere");
    let variables = [("PATH", path), ("CLAUDE_CONFIG_DIR", folder.to_str().unwrap())];
    let told = context.gsd_with(["install", "--detected"], &variables, "").failure(2);
    assert!(told.contains("~/elsewhere, "), "the folder that a variable names: {told}");
    let local = gsd(&context, path, "install --detected --local").failure(2);
    assert!(local.contains("`gsd-tools install --claude --local`"), "{local}");
    for call in ["install --detected --dry-run", "install --yes"] {
        gsd(&context, path, call).failure(2);
    }
    let line = gsd(&context, path, "install --detected --json-errors").failure(2);
    let error: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(error["causes"].as_array().unwrap().len(), 2, "{line}");
    let status = gsd(&context, path, "status").success();
    assert!(status.contains("`gsd-tools install --claude --global`"), "{status}");
    // And nothing more is needed.
    gsd(&context, path, "install --claude --global").success();
    gsd(&context, path, "status").success();
}

#[test]
fn the_answer_on_a_bare_machine_fits_a_terminal() {
    let context = TestContext::new();
    let output = context.at_a_terminal("install --detected", &[], "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}");
    assert!(text.contains("no host was found") && text.lines().count() < 15, "{text}");
    let plain = regex::Regex::new("\u{1b}\\[[0-9;?]*[a-zA-Z]").unwrap().replace_all(&text, "").into_owned();
    assert!(plain.lines().all(|line| line.trim_end().chars().count() <= 80), "{plain}");
}

#[cfg(unix)]
#[test]
fn without_a_variable_the_home_folder_is_the_one_of_the_user() {
    let context = TestContext::new();
    let id = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let home = fields.into_iter().find(|fields| fields.get(2) == Some(&id.as_str())).map(|fields| fields[5].to_owned());
    let Some(home) = home else { return };
    let state = context.home().join("state");
    let root = |call: &mut std::process::Command| {
        call.args(["status", "--claude", "--global", "--json"]).env("XDG_STATE_HOME", &state);
        let output = call.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["installs"][0]["root"].as_str().unwrap().to_owned()
    };
    let known = std::path::Path::new(&home).canonicalize().unwrap_or_else(|_| home.clone().into()).join(".claude");
    assert_eq!(root(context.command(binary()).env_remove("HOME")), known.to_str().unwrap());
    assert_eq!(root(context.command(binary()).env("HOME", "")), known.to_str().unwrap());
    assert_eq!(root(&mut context.command(binary())), context.home().join(".claude").to_str().unwrap());
}
