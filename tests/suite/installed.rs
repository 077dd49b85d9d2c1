//! What a person sees of an installation: `status`, `hooks status`, `runtimes`, the guide, and what an uninstall
//! leaves.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::kit::{TestContext, binary};
use crate::lived::put;

fn json_of(context: &TestContext, words: &str) -> Value {
    let ran = context.gsd_with(words.split(' '), &[], "");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", ran.stdout, ran.stderr))
}

fn told(context: &TestContext, words: &str) -> String {
    let ran = context.gsd_with(words.split(' '), &[], "");
    assert!(ran.code < 2, "`{words}`: {} {}", ran.stdout, ran.stderr);
    ran.stdout
}

fn seen(context: &TestContext, call: &str, columns: usize) -> String {
    let output = context.at_a_terminal_of(columns, call, &[("NO_COLOR", "1")], "");
    String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
}

fn codes(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

fn claude(context: &TestContext) -> std::path::PathBuf {
    context.home().join(".claude")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Two hosts in all scopes, one install damaged, one old, and some files edited.
fn eventful() -> TestContext {
    let context = TestContext::new();
    for words in ["install --claude --global", "install --claude --local", "install --codex --config-dir ~/elsewhere"] {
        context.gsd_with(words.split(' '), &[], "").success();
    }
    put(&claude(&context).join("gsd-core/VERSION"), "mine");
    context.gsd(["install", "--claude", "--global"]).success();
    put(&claude(&context).join("skills/gsd-quick/SKILL.md"), "mine too");
    std::fs::remove_dir_all(claude(&context).join("gsd-core/workflows")).unwrap();
    let manifest = context.home().join("elsewhere/gsd-file-manifest.json");
    put(&manifest, &read(&manifest).replace(env!("CARGO_PKG_VERSION"), "0.0.9"));
    context
}

#[test]
fn a_status_fits_every_terminal() {
    let context = eventful();
    for columns in [60, 80, 120, 200] {
        for call in ["status", "hooks status", "runtimes", "runtimes claude", "guide", "guide hooks", "guide install"] {
            let page = seen(&context, call, columns);
            assert!(!page.contains('{'), "`{call}` is JSON: {page}");
            // A path is one word, and is not broken.
            let fits = |line: &str| line.width() <= columns || !line.trim().contains(' ');
            assert!(page.lines().all(fits), "`{call}` at {columns} columns:\n{page}");
        }
    }
}

#[test]
fn missing_files_are_one_line_with_the_command_that_restores_them() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    std::fs::remove_dir_all(claude(&context).join("gsd-core/workflows")).unwrap();
    let status = context.gsd(["status"]);
    assert_eq!(status.code, 1);
    let text = status.stdout;
    assert!(text.lines().count() < 10, "{text}");
    assert!(text.contains(" missing: `gsd-tools install --claude --global` restores them"), "{text}");
    assert!(text.contains("more; `gsd-tools status --verbose` lists all"), "{text}");
    let all = context.gsd(["status", "--verbose"]).stdout;
    assert!(all.contains("~/.claude/gsd-core/workflows/progress.md") && !all.contains("more;"), "{all}");
    let report = json_of(&context, "status --claude --global --json");
    let missing = codes(&report["installs"][0]);
    assert!(missing.len() > 10 && missing.iter().all(|code| *code == "file-missing"), "{missing:?}");
}

#[test]
fn settings_that_the_host_does_not_load_are_named() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let settings = claude(&context).join("settings.json");
    put(&settings, &read(&settings).replacen('{', "{\n  // mine", 1));
    let status = context.gsd(["status"]).success();
    assert!(status.contains("`~/.claude/settings.json` has a comment at line 2"), "{status}");
    assert_eq!(codes(&json_of(&context, "status --json")["installs"][0]), ["settings-not-loaded"]);
}

#[test]
fn another_version_is_named_with_the_command_that_updates_it() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let manifest = claude(&context).join("gsd-file-manifest.json");
    let own = env!("CARGO_PKG_VERSION");
    let text = read(&manifest);
    put(&manifest, &text.replace(own, "0.0.9"));
    let status = context.gsd(["status"]).success();
    let old = format!("installed by version 0.0.9, this program is {own}; run `gsd-tools update --claude --global`");
    assert!(status.contains(&old), "{status}");
    put(&manifest, &text.replace(own, "99.0.0"));
    let status = context.gsd(["status"]).success();
    assert!(status.contains("use the newer program") && !status.contains("run `gsd-tools update"), "{status}");
}

#[test]
fn an_install_in_a_chosen_folder_is_remembered_until_it_is_gone() {
    let context = TestContext::new();
    let before = crate::tree::tree(&context.home());
    context.gsd(["install", "--claude", "--config-dir", "~/elsewhere"]).success();
    let status = context.gsd(["status"]).success();
    assert!(status.contains("~/elsewhere"), "{status}");
    assert!(status.contains("`gsd-tools uninstall --claude --config-dir ~/elsewhere`"), "{status}");
    assert!(context.gsd(["hooks", "status"]).success().contains("in ~/elsewhere"));
    assert_eq!(
        json_of(&context, "install --claude --config-dir ~/elsewhere --json")["hosts"][0]["outcome"],
        "unchanged"
    );

    std::fs::rename(context.home().join("elsewhere"), context.home().join("moved")).unwrap();
    assert!(context.gsd(["status"]).success().contains("Nothing is installed"), "a folder that is gone");
    std::fs::rename(context.home().join("moved"), context.home().join("elsewhere")).unwrap();
    context.gsd(["uninstall", "--claude", "--config-dir", "~/elsewhere"]).success();
    assert!(context.gsd(["status"]).success().contains("Nothing is installed"));
    let lasting = |line: &&String| !line.contains("gsd-tools/locks") && !line.contains("gsd-tools/history");
    let difference = crate::tree::difference(&before, &crate::tree::tree(&context.home()));
    let changed: Vec<_> = difference.iter().filter(lasting).collect();
    assert!(changed.iter().all(|line| !line.contains("roots") && !line.contains("elsewhere")), "{changed:?}");
}

#[test]
fn an_edited_file_is_moved_out_of_the_host_by_an_uninstall() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let skill = claude(&context).join("skills/gsd-quick/SKILL.md");
    put(&skill, "mine");
    let rehearsal = json_of(&context, "uninstall --claude --global --dry-run --json");
    assert_eq!(rehearsal["hosts"][0]["set_aside"][0]["path"], "~/.claude/skills/gsd-quick/SKILL.md");
    assert_eq!(read(&skill), "mine", "a dry run moves nothing");
    let report = context.gsd(["uninstall", "--claude", "--global"]).success();
    assert!(!skill.exists(), "the host would still read it");
    assert_eq!(read(&claude(&context).join("gsd-local-patches/skills/gsd-quick/SKILL.md")), "mine");
    assert!(report.contains("~/.claude/gsd-local-patches/skills/gsd-quick/SKILL.md"), "{report}");
    assert!(report.contains("`rm -r ~/.claude/gsd-local-patches`"), "{report}");

    let status = context.gsd(["status"]).success();
    assert!(status.contains("Nothing is installed") && status.contains("Left by an earlier install"), "{status}");
    assert!(status.contains("`rm -r ~/.claude/gsd-local-patches`"), "{status}");
    std::fs::remove_dir_all(claude(&context).join("gsd-local-patches")).unwrap();
    assert!(!context.gsd(["status"]).success().contains("gsd-local-patches"));
}

#[test]
fn files_that_were_set_aside_are_listed_while_the_host_is_installed() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    put(&claude(&context).join("gsd-core/VERSION"), "mine");
    context.gsd(["install", "--claude", "--global"]).success();
    put(&claude(&context).join("gsd-user-files-backup/agents/gsd-mine.md"), "mine");
    let status = context.gsd(["status"]).success();
    assert!(status.contains("1 file you had edited, saved in ~/.claude/gsd-local-patches"), "{status}");
    assert!(status.contains("`gsd-tools restore-custom-files --apply --config-dir ~/.claude`"), "{status}");
    let report = json_of(&context, "status --json");
    assert_eq!(report["installs"][0]["set_aside"][0]["holds"], json!("edited-files"));
}

#[test]
fn a_host_that_is_installed_globally_and_locally_is_named_with_the_command_that_removes_one() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    assert!(!context.gsd(["status"]).success().contains("registered twice"));
    context.gsd(["install", "--claude", "--local"]).success();
    let status = context.gsd(["status"]).success();
    assert!(
        status.contains("every command and hook is registered twice; run `gsd-tools uninstall --claude --local`"),
        "{status}"
    );
}

#[test]
fn a_status_without_installs_names_the_hosts_on_the_machine() {
    let context = TestContext::new();
    let status = context.gsd(["status"]).success();
    assert!(status.contains("No host was found here") && status.contains("gsd-tools runtimes"), "{status}");
    std::fs::create_dir(context.home().join(".codex")).unwrap();
    let status = context.gsd(["status"]).success();
    assert!(status.contains("`gsd-tools install --codex --global`"), "{status}");
}

#[test]
fn hooks_missing_from_the_settings_are_not_reported_as_enabled() {
    let context = TestContext::new();
    let nothing = context.gsd(["hooks", "status"]).success();
    assert!(nothing.contains("Nothing is installed"), "{nothing}");
    context.gsd(["install", "--claude", "--global"]).success();
    let status = context.gsd(["hooks", "status"]).success();
    assert!(status.contains("Claude Code (global): registered for "), "{status}");

    put(&claude(&context).join("settings.json"), "{}\n");
    let status = context.gsd(["hooks", "status"]).success();
    let cure =
        "Claude Code (global): installed, but no hooks registered. Register: `gsd-tools install --claude --global`";
    assert!(status.contains(cure), "{status}");
    assert_eq!(codes(&json_of(&context, "hooks status --json")), ["hooks-not-registered"]);
    assert!(told(&context, "status").contains("hooks not registered"));
    assert_eq!(json_of(&context, "status --json")["installs"][0]["hooks"], "not-registered");
}

/// What happens to the program of an install.
type Harm = fn(&Path);

#[test]
fn hooks_whose_program_is_missing_or_replaced_are_not_said_to_run() {
    for scope in ["--global", "--local"] {
        let context = TestContext::new();
        context.gsd(["install", "--claude", scope]).success();
        let root = if scope == "--global" { claude(&context) } else { context.project().join(".claude") };
        let program = root.join("gsd-core/bin/gsd-tools");
        let harms: [(Harm, &str); 3] = [
            (|program| std::fs::remove_file(program).unwrap(), "which is missing"),
            (|program| put(program, "#!/bin/sh\nexit 0\n"), "which cannot be run"),
            (
                |program| std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap(),
                "which is not the program that was installed",
            ),
        ];
        for (harm, why) in harms {
            harm(&program);
            let ran = context.gsd(["hooks", "status"]);
            assert_eq!(ran.code, 1, "{why}: {}", ran.stdout);
            assert!(ran.stdout.starts_with("Hooks are enabled, but not every host can run them."), "{}", ran.stdout);
            let plain = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(plain.contains(why), "{why}: {plain}");
            let report: Value = serde_json::from_str(&context.gsd(["hooks", "status", "--json"]).stdout).unwrap();
            assert_eq!(codes(&report), ["hooks-without-program"], "{why}: {report:#}");
        }
        std::fs::remove_file(&program).unwrap();
        let report: Value = serde_json::from_str(&context.gsd(["hooks", "status", "--json"]).stdout).unwrap();
        let cure = report["findings"][0]["fix"].as_str().unwrap().to_owned();
        let words: Vec<&str> = cure.strip_prefix("gsd-tools ").unwrap().split(' ').collect();
        let words: [&str; 3] = words.try_into().unwrap();
        context.gsd(words).success();
        context.gsd(["hooks", "status"]).success();
    }
}

#[test]
fn disabled_hooks_are_named_by_status_and_by_the_next_install() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    context.gsd(["hooks", "off"]).success();
    let cure = "hooks are disabled for all hosts; run `gsd-tools hooks on`";
    let status = context.gsd(["status"]).success();
    assert!(status.contains(cure) && status.contains("registered, but disabled"), "{status}");
    assert!(context.gsd(["hooks", "status"]).success().contains("registered, but disabled: SessionStart"));
    context.gsd(["uninstall", "--claude", "--global"]).success();
    assert!(context.gsd(["status"]).success().contains(cure), "the mark is the user's, and stays");
    let install = context.gsd(["install", "--claude", "--global"]);
    assert!(install.stderr.contains(cure), "{}", install.stderr);
    context.gsd(["hooks", "on"]).success();
    assert!(!context.gsd(["install", "--claude", "--global"]).stderr.contains("disabled"));
}

#[test]
fn one_hook_of_another_program_is_reported_in_the_singular() {
    let context = TestContext::new();
    let hooks = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}});
    put(&claude(&context).join("settings.json"), &hooks.to_string());
    let refused = context.gsd(["hooks", "bench"]).failure(2);
    assert!(refused.contains("1 hook belongs to another program") && refused.contains("--yes"), "{refused}");
}

#[test]
fn hosts_are_listed_in_words_on_a_narrow_terminal() {
    let context = TestContext::new();
    let narrow = seen(&context, "runtimes", 60);
    let words = narrow.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in ["features supported", "not supported:", "Verified with client 2.", "From vendor docs, untested"] {
        assert!(words.contains(wanted), "{wanted}: {narrow}");
    }
    let wide = seen(&context, "runtimes", 120);
    assert!(wide.contains("\nclaude      yes  yes"), "{wide}");
    assert_eq!(wide, context.gsd(["runtimes"]).success());
}

#[test]
fn the_guide_spells_commands_as_the_installed_host_does() {
    let context = TestContext::new();
    context.gsd(["install", "--codex", "--global"]).success();
    let guide = context.gsd(["guide"]).success();
    assert!(guide.contains("$gsd-plan-phase N") && !guide.contains("/gsd-"), "{guide}");
    assert!(guide.trim_end().ends_with("gsd-tools guide --full") && guide.contains("gsd-tools guide TOPIC"), "{guide}");
    context.gsd(["install", "--claude", "--global"]).success();
    let guide = context.gsd(["guide"]).success();
    assert!(
        guide.contains("/gsd-plan-phase N") && guide.contains("In OpenAI Codex CLI, type $gsd- instead of /gsd-."),
        "{guide}"
    );
    assert!(!context.gsd_with(["guide"], &[("GSD_RUNTIME", "claude")], "").success().contains("instead of"));
}

#[test]
fn the_guide_guesses_a_part_of_a_topic() {
    let context = TestContext::new();
    for (typed, meant) in
        [("plan", "plan-phase"), ("verify", "verify-work"), ("trouble", "troubleshooting"), ("gti", "git")]
    {
        let refused = context.gsd(["guide", typed]).failure(2);
        assert!(refused.contains(&format!("did you mean `gsd-tools guide {meant}`?")), "{typed}: {refused}");
    }
    assert_eq!(context.gsd(["guide", "help"]).success(), context.gsd(["guide"]).success());
    for topic in ["install", "uninstall", "hooks", "troubleshooting", "toolchain"] {
        let page = context.gsd(["guide", topic]).success();
        assert!(page.lines().all(|line| line.width() <= 80), "{page}");
    }
}

/// No user can create a folder below `/proc`, not even root.
#[cfg(target_os = "linux")]
#[test]
fn a_missing_home_folder_is_named() {
    let context = TestContext::new();
    let mut command = context.command(binary());
    let output = command.args(["install", "--claude", "--global"]).env("HOME", "/proc/nobody").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(73), "{told}");
    assert!(
        told.contains("the home folder `/proc/nobody` does not exist") && told.contains("hint: set HOME"),
        "{told}"
    );
}

/// The files of the home except the state folder, with their content.
fn home_files(context: &TestContext) -> std::collections::BTreeMap<String, String> {
    let files = walkdir::WalkDir::new(context.home()).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    let shown = |entry: &walkdir::DirEntry| {
        let path = entry.path().strip_prefix(context.home()).unwrap().to_string_lossy().into_owned();
        (path, String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned())
    };
    files.map(|entry| shown(&entry)).filter(|(path, _)| !path.starts_with(".local/")).collect()
}

const MINE: &str = "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\"]\n  }\n}\n";

#[test]
fn an_install_without_its_manifest_is_reported_repaired_and_removed_to_the_last_byte() {
    without_its_manifest(&["claude", "codex"]);
}

#[test]
#[ignore = "slow: minutes"]
fn an_install_without_its_manifest_is_removed_to_the_last_byte_from_further_hosts() {
    without_its_manifest(&["gemini", "opencode", "cursor", "copilot", "hermes", "windsurf"]);
}

fn without_its_manifest(hosts: &[&str]) {
    for host in hosts {
        let flag = format!("--{host}");
        let context = TestContext::new();
        put(&claude(&context).join("settings.json"), MINE);
        let before = home_files(&context);
        let install = || context.gsd(["install", flag.as_str(), "--global", "--json"]).json();
        let root = std::path::PathBuf::from(install()["hosts"][0]["root"].as_str().unwrap());
        let forget = || std::fs::remove_file(root.join("gsd-file-manifest.json")).unwrap();
        let uninstall = || {
            let told = context.gsd(["uninstall", flag.as_str(), "--global"]).success();
            let left = home_files(&context);
            // A switch or a version of the host, which anyone may have set, is not certain to be ours.
            let names_us = |path: &String, text: &String| before.contains_key(path) || text.contains("gsd");
            let left: Vec<&String> =
                left.iter().filter(|(path, text)| names_us(path, text)).map(|(path, _)| path).collect();
            assert_eq!(left, before.keys().collect::<Vec<_>>(), "{host}: {told}");
            told
        };
        forget();
        let status = context.gsd(["status"]);
        let (code, status) = (status.code, status.stdout);
        assert!(code == 1 && status.contains("the manifest is missing, but "), "{host}: {status}");
        assert!(status.contains(&format!("`gsd-tools uninstall {flag} --global`")), "{host}: {status}");
        let again = install();
        let files = again["hosts"][0]["files"].as_u64().unwrap();
        assert_eq!(again["hosts"][0]["unlisted"]["files"].as_u64(), Some(files), "{host}: {again}");
        assert!(context.gsd(["status"]).success().contains(&format!("{files} files")), "{host}");
        let told = uninstall();
        assert!(!told.contains("manifest"), "{host}: {told}");

        install();
        forget();
        let told = uninstall();
        assert!(told.contains("the manifest was missing: removed what is certainly ours"), "{host}: {told}");
        assert!(context.gsd(["status"]).success().contains("Nothing is installed"), "{host}");
        assert_eq!(home_files(&context)[".claude/settings.json"], MINE, "{host}");
    }
}

#[test]
fn a_manifest_that_does_not_parse_is_renamed_and_the_hooks_can_still_be_removed() {
    let context = TestContext::new();
    put(&claude(&context).join("settings.json"), MINE);
    context.gsd(["install", "--claude", "--global"]).success();
    let manifest = claude(&context).join("gsd-file-manifest.json");
    put(&manifest, "{");
    let told = context.gsd(["install", "--claude", "--global"]).failure(65);
    assert!(told.contains("or rename it and run the command again"), "{told}");
    std::fs::rename(&manifest, claude(&context).join("renamed.json")).unwrap();
    context.gsd(["install", "--claude", "--global"]).success();
    context.gsd(["uninstall", "--claude", "--global"]).success();
    assert_eq!(read(&claude(&context).join("settings.json")), MINE);
}

#[test]
fn without_a_manifest_uncertain_entries_stay_and_are_named() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    std::fs::remove_file(claude(&context).join("gsd-file-manifest.json")).unwrap();
    let skill = claude(&context).join("skills/gsd-quick/SKILL.md");
    put(&skill, "mine");
    let settings = claude(&context).join("settings.json");
    let program = claude(&context).join("gsd-core/bin/gsd-tools").display().to_string();
    let mut value: Value = serde_json::from_str(&read(&settings)).unwrap();
    let entry = |command: String| json!({"hooks": [{"type": "command", "command": command}]});
    let stop = vec![
        entry("say done".to_owned()),
        // As an earlier version may have registered it.
        entry(format!("{program} hook standard stop")),
        json!({"hooks": [{"type": "command", "command": format!("{program} hook standard stop")},
            {"type": "command", "command": "say both"}]}),
    ];
    value["hooks"]["Stop"] = Value::Array(stop.clone());
    let allowed = value["permissions"]["allow"].as_array_mut().unwrap();
    allowed.push(json!(format!("Bash({program} phase remove *)")));
    put(&settings, &serde_json::to_string_pretty(&value).unwrap());
    let told = context.gsd(["uninstall", "--claude", "--global"]).success();
    assert!(told.contains("not certain to be ours, so left unchanged: "), "{told}");
    assert!(told.contains("~/.claude/settings.json") && told.contains("~/.claude/skills/gsd-quick/SKILL.md"), "{told}");
    assert_eq!(read(&skill), "mine");
    let left: Value = serde_json::from_str(&read(&settings)).unwrap();
    let expected = json!({
        "hooks": {"Stop": [stop[0], stop[2]]},
        "permissions": {"allow": [format!("Bash({program} phase remove *)")]},
    });
    assert_eq!(left, expected);
}

#[test]
fn an_install_in_a_shared_folder_does_not_count_as_another_host_without_a_manifest() {
    let context = TestContext::new();
    context.gsd(["install", "--codex", "--global"]).success();
    let installed = home_files(&context);
    for host in ["--amp", "--gemini", "--claude", "--zcode", "--antigravity"] {
        let ran = context.gsd(["uninstall", host, "--global"]);
        assert!(!ran.stdout.contains("manifest"), "{host}: {}", ran.stdout);
    }
    assert_eq!(home_files(&context), installed);
    assert!(!context.gsd(["status"]).success().contains("manifest"));
}

#[test]
fn hooks_in_settings_that_the_host_does_not_load_are_not_said_to_run() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    assert!(told(&context, "hooks status").starts_with("Hooks are enabled.\n"));
    let settings = claude(&context).join("settings.json");
    put(&settings, &read(&settings).replacen('{', "{\n  // mine", 1));
    let text = told(&context, "hooks status");
    assert!(text.starts_with("Hooks are enabled, but not every host loads them."), "{text}");
    assert!(text.contains("Claude Code (global): registered, but not loaded: SessionStart"), "{text}");
    assert!(
        text.contains("`~/.claude/settings.json` has a comment at line 2") && text.contains("remove the comment"),
        "{text}"
    );
    assert_eq!(codes(&json_of(&context, "hooks status --json")), ["settings-not-loaded"]);
    assert!(told(&context, "status").contains("hooks registered, but not loaded"));
}

#[test]
fn a_local_install_in_a_subfolder_applies_to_the_whole_project() {
    for marker in [".planning", ".git"] {
        let context = TestContext::new();
        let project = context.project();
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::create_dir_all(project.join(marker)).unwrap();
        std::fs::create_dir_all(project.join("src/deep")).unwrap();
        let below = |words: &str| {
            let mut command = context.command(binary());
            let output = command.args(words.split(' ')).current_dir(project.join("src/deep")).output().unwrap();
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        let (code, report) = below("install --claude --local --json");
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(report["hosts"][0]["root"], project.join(".claude").to_str().unwrap(), "{marker}");
        assert!(project.join(".claude/gsd-core").is_dir() && !project.join("src/deep/.claude").exists());
        for words in ["status --json", "status --local --json"] {
            let installs = &serde_json::from_str::<Value>(&below(words).1).unwrap()["installs"];
            assert_eq!(installs[0]["root"], report["hosts"][0]["root"], "{words}: {installs}");
        }
        assert!(below("hooks status").1.contains("Claude Code (local): registered"));
        assert_eq!(below("uninstall --claude --local").0, Some(0));
        assert!(!project.join(".claude/gsd-core").exists(), "{marker}");
    }
}

#[test]
fn the_last_uninstall_reports_what_is_kept_and_how_to_remove_it() {
    let context = TestContext::new();
    let flags = ["--claude", "--codex"];
    for flag in flags {
        context.gsd(["install", flag, "--global"]).success();
    }
    let [first, last] = flags.map(|flag| context.gsd(["uninstall", flag, "--global"]).success());
    assert!(!first.contains("history"), "{first}");
    let folder = "~/.local/state/gsd-tools/history";
    assert!(last.contains("Nothing is installed any longer.") && last.contains(&format!("`rm -r {folder}`")), "{last}");
    assert!(context.gsd(["status"]).success().contains(folder));
    std::fs::remove_dir_all(context.home().join(".local/state/gsd-tools/history")).unwrap();
    assert!(!context.gsd(["status"]).success().contains("history"));
}

#[test]
fn a_session_whose_host_calls_no_hook_gets_a_warning() {
    let context = TestContext::new();
    put(&context.project().join(".planning/PROJECT.md"), "# A project\n");
    context.gsd(["install", "--claude", "--global"]).success();
    let calls = context.home().join(".local/state/gsd-tools/hooks-called");
    let installed = |words: &str, variables: &[(&str, &str)], input: &str| {
        let mut command = context.command(claude(&context).join("gsd-core/bin/gsd-tools"));
        command.args(words.split(' ')).envs(variables.iter().copied()).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap()
    };
    let (agent, warning) = ([("CLAUDECODE", "1")], "has called none of our hooks in this session");
    assert!(told(&context, "hooks status").contains("; never called yet\n"));
    assert!(installed("init progress", &agent, "").contains(warning));
    let switch = context.home().join(".config/gsd-tools/hooks-off");
    std::fs::create_dir_all(&switch).unwrap();
    assert_eq!(installed("init progress", &agent, ""), "", "what keeps hooks silent keeps no workflow from starting");
    std::fs::remove_dir(&switch).unwrap();
    // A person, a session of a run, and a session of another host.
    for variables in [&[][..], &[("CLAUDECODE", "1"), ("GSD_UNIT_KIND", "execute-task")], &[("CODEX_THREAD_ID", "1")]] {
        assert!(!installed("init progress", variables, "").contains(warning), "{variables:?}");
    }
    let event = json!({"cwd": context.project(), "tool_name": "Bash", "tool_input": {"command": "ls"}}).to_string();
    installed("hook standard before-tool", &[("GSD_UNIT_KIND", "execute-task")], &event);
    assert!(!calls.exists(), "a session of a run writes nothing among the user's files");
    installed("hook standard before-tool", &agent, &event);
    assert!(!installed("init progress", &agent, "").contains(warning));
    assert!(told(&context, "hooks status").contains("; last called just now\n"));
    assert!(json_of(&context, "hooks status --json")["installs"][0]["last_called"].is_string());
    for file in std::fs::read_dir(&calls).unwrap() {
        let file = std::fs::File::options().write(true).open(file.unwrap().path()).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 3600)).unwrap();
    }
    assert!(installed("init progress", &agent, "").contains(warning), "it was another session");
    context.gsd(["uninstall", "--claude", "--global"]).success();
    assert!(!calls.exists());
}
