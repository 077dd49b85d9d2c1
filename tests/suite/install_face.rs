//! What a person sees during an install: the summary, the question, the dry run, and the warnings.

use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use unicode_width::UnicodeWidthStr as _;

use crate::kit::{TestContext, binary};

/// The output of a call on a terminal with this many columns, and the exit code.
fn seen(context: &TestContext, columns: usize, call: &str, variables: &[(&str, &str)]) -> (String, i32) {
    answered(context, columns, call, variables, &[])
}

/// As [`seen`]; each of `answers` is typed once its question is shown. A terminal drops what is typed before.
fn answered(
    context: &TestContext,
    columns: usize,
    call: &str,
    variables: &[(&str, &str)],
    answers: &[(&str, &str)],
) -> (String, i32) {
    let line = format!("stty cols {columns} rows 40; '{}' {call}", binary().display());
    let mut command = context.command("script");
    command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").envs(variables.iter().copied());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (sender, receiver) = mpsc::channel();
    let mut output = child.stdout.take().unwrap();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    let (mut seen, mut from) = (Vec::new(), 0);
    let mut keyboard = child.stdin.take();
    let mut answers = answers.iter().peekable();
    loop {
        match receiver.recv_timeout(Duration::from_secs(60)) {
            Ok(bytes) => seen.extend(bytes),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                panic!("`{call}` waits: {}", String::from_utf8_lossy(&seen));
            }
        }
        let text = String::from_utf8_lossy(&seen[from..]).into_owned();
        if answers.peek().is_some_and(|(question, _)| text.contains(question)) {
            from = seen.len();
            // The question is read key by key once it has been written.
            std::thread::sleep(Duration::from_millis(300));
            let (_, keys) = answers.next().unwrap();
            keyboard.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
        }
    }
    drop(keyboard);
    let text = String::from_utf8(seen).unwrap().replace("\r\n", "\n");
    (text, child.wait().unwrap().code().unwrap_or(-1))
}

/// The text without colours and cursor movements.
fn plain(text: &str) -> String {
    let codes = regex::Regex::new("\u{1b}\\[[0-9;?]*[A-Za-z]").unwrap();
    codes.replace_all(text, "").into_owned()
}

fn with_folders(folders: &[&str]) -> TestContext {
    let context = TestContext::new();
    for folder in folders {
        std::fs::create_dir_all(context.home().join(folder)).unwrap();
    }
    context
}

fn settings(context: &TestContext) -> std::path::PathBuf {
    context.home().join(".claude/settings.json")
}

fn is_installed(context: &TestContext) -> bool {
    context.home().join(".claude/gsd-core").exists()
}

#[test]
fn the_summary_names_hooks_permissions_and_the_status_line() {
    let context = TestContext::new();
    let report = context.gsd(["install", "--claude", "--global", "--dry-run", "--json"]).json();
    let host = &report["hosts"][0];
    let told = context.gsd(["install", "--claude", "--global"]).success();
    let facts = format!("~/.claude  {} files, {} hooks, status line\n", host["files"], host["hooks"]);
    assert!(told.contains(&facts), "{facts}{told}");
    assert!(
        told.contains("~/.claude/settings.json: agents may run `gsd-tools` without asking (`--no-permissions`"),
        "{told}"
    );
    assert!(told.starts_with("Open a new session and type /gsd-help, then /gsd-new-project"), "{told}");
    assert!(told.contains("Undo: `gsd-tools undo`. Uninstall: `gsd-tools uninstall --claude --global`"), "{told}");
    assert!(told.lines().count() <= 5, "{told}");

    let keys = host["plan"]["settings"].as_array().unwrap().iter();
    let registered = keys.filter(|row| row["key"].as_str().unwrap().starts_with("hooks.")).count();
    assert_eq!(host["hooks"], registered, "{host}");

    let without = TestContext::new();
    let told = without.gsd(["install", "--claude", "--global", "--no-permissions"]).success();
    assert!(!told.contains("without asking") && told.contains("edited: ~/.claude/settings.json"), "{told}");
}

#[test]
fn a_persons_status_line_is_kept_and_the_summary_says_so() {
    let context = with_folders(&[".claude"]);
    std::fs::write(settings(&context), "{\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}}\n").unwrap();
    for scope in ["--global", "--local"] {
        let told = context.gsd(["install", "--claude", scope]).success();
        context.gsd(["uninstall", "--claude", scope]).success();
        assert!(told.contains("your own status line is unchanged") && !told.contains(", status line"), "{told}");
    }
    assert!(std::fs::read_to_string(settings(&context)).unwrap().contains("\"mine\""));
}

#[test]
fn a_person_is_asked_before_anything_is_written() {
    for call in ["install --claude", "--claude", "install --detected"] {
        for (keys, cancels) in [("n", true), ("\u{1b}", true), ("\u{3}", true), ("y", false), ("\r", false)] {
            let context = with_folders(&[".claude"]);
            let (text, code) = answered(&context, 80, call, &[], &[("Proceed?", keys)]);
            assert!(text.contains("Proceed?") && text.contains("Scope: global"), "`{call}` {keys:?}: {text}");
            assert!(text.contains("will be installed") && text.contains("without asking"), "`{call}`: {text}");
            assert_eq!(is_installed(&context), !cancels, "`{call}` {keys:?}: {text}");
            assert_eq!(code, if cancels { 130 } else { 0 }, "`{call}` {keys:?}: {text}");
            assert_eq!(text.contains("Cancelled; nothing was changed"), cancels, "`{call}` {keys:?}: {text}");
            let shown = text.rfind("\u{1b}[?25h").unwrap();
            assert!(text.rfind("\u{1b}[?25l").is_none_or(|hidden| hidden < shown), "the cursor is back: {text:?}");
        }
    }
}

#[test]
fn a_call_without_a_terminal_or_with_yes_asks_no_question() {
    let calls: &[(&str, &[(&str, &str)])] = &[
        ("install --claude --yes", &[]),
        ("--claude -y", &[]),
        ("install --claude --no-input", &[]),
        ("install --claude --json", &[]),
        ("install --claude", &[("CI", "1")]),
        ("install --claude", &[("CI", "true")]),
        ("install --claude", &[("CLAUDECODE", "1")]),
    ];
    for (call, variables) in calls {
        let context = TestContext::new();
        let (text, code) = seen(&context, 80, call, variables);
        assert!(code == 0 && !text.contains("Proceed?") && is_installed(&context), "`{call}` {variables:?}: {text}");
        let (text, _) = seen(&context, 80, call, variables);
        assert!(!text.contains("Proceed?"), "nothing is left to do: {text}");
    }
    for (call, variables) in [("install --no-input", &[][..]), ("install", &[("CI", "1")])] {
        let (text, code) = seen(&TestContext::new(), 80, call, variables);
        assert!(code == 2 && text.contains("no host given") && text.contains("--detected"), "`{call}`: {text}");
    }
    let dumb = with_folders(&[]);
    let (text, code) = answered(&dumb, 80, "install --claude", &[("TERM", "dumb")], &[("[y/n]", "n\n")]);
    assert!(code == 130 && text.contains("Proceed? [y/n]") && !is_installed(&dumb), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn an_uninstall_shows_what_it_removes_and_asks() {
    let context = TestContext::new();
    let (text, code) = seen(&context, 80, "uninstall", &[]);
    assert!(code == 0 && text.contains("Nothing is installed"), "{text}");
    context.gsd(["install", "--claude", "--global"]).success();
    let (text, code) = answered(&context, 80, "uninstall --claude", &[], &[("Proceed?", "n")]);
    assert!(code == 130 && is_installed(&context), "{text}");
    assert!(text.contains("will be uninstalled") && text.contains("our entries in ~/.claude/settings.json"), "{text}");
    let (text, _) = answered(&context, 80, "uninstall", &[], &[("(installed)", "\u{1b}")]);
    assert!(text.contains("Claude Code (installed)") && !text.contains("[ ]"), "only what is installed: {text}");
    let (text, code) = answered(&context, 80, "uninstall --claude", &[], &[("Proceed?", "y")]);
    assert!(code == 0 && !is_installed(&context) && text.contains("removed"), "{text}");
}

#[test]
fn an_empty_choice_of_hosts_is_asked_again_in_place() {
    let context = with_folders(&[".claude"]);
    // Found hosts are marked, and the space bar unmarks the first one. The second question shows the marks as they were
    // left.
    let (text, code) = answered(
        &context,
        80,
        "install",
        &[],
        &[
            ("ZCode", " "),
            ("ZCode", "\r"),
            ("Mark at least", "\r"),
            ("Mark at least", " "),
            ("[x]", "\r"),
            ("default", "\r"),
            ("Proceed?", "y"),
        ],
    );
    let text = plain(&text);
    assert!(text.contains("Mark at least one."), "{text}");
    assert!(text.contains("Claude Code (found)") && text.contains("global, the default"), "{text}");
    assert!(code == 0 && is_installed(&context), "{text}");
}

#[test]
fn detected_means_the_hosts_that_are_on_this_machine() {
    let context = with_folders(&[".claude", ".codex"]);
    let ids = |report: &serde_json::Value| {
        let hosts = report["hosts"].as_array().unwrap().iter();
        hosts.map(|host| host["runtime"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let report = context.gsd(["install", "--detected", "--json"]).json();
    assert_eq!(ids(&report), ["claude", "codex"]);
    let local = context.gsd(["install", "--detected", "--local", "--dry-run", "--json"]).json();
    assert_eq!(ids(&local), ["claude", "codex"], "a project has no folders of them yet");
    std::fs::create_dir_all(context.home().join(".gemini")).unwrap();
    let report = context.gsd(["uninstall", "--detected", "--json"]).json();
    assert_eq!(ids(&report), ["claude", "codex"], "what is installed");
    let nobody = TestContext::new();
    let told = nobody.gsd(["install", "--detected"]).failure(2);
    assert!(told.contains("no host was found") && told.contains("gsd-tools runtimes"), "{told}");
    assert!(nobody.gsd(["uninstall", "--detected"]).success().contains("Nothing is installed"));
}

#[test]
fn a_dry_run_is_grouped_and_lists_every_file_when_asked() {
    let context = with_folders(&[".claude"]);
    std::fs::write(settings(&context), "{\n  \"model\": \"opus\"\n}\n").unwrap();
    let short = context.gsd(["install", "--claude", "--global", "--dry-run"]).success();
    assert!(short.lines().count() < 30, "{short}");
    assert!(short.contains("commands, ") && short.contains(" agents, ") && short.contains("workflow files"), "{short}");
    assert!(short.contains("+ hooks.SessionStart[]: .../gsd-tools hook standard session-start\n"), "{short}");
    assert!(short.contains("+ permissions.allow[]: ") && short.contains(" entries, such as "), "{short}");
    assert!(short.contains("Nothing was written. `--verbose` lists each file."), "{short}");
    assert!(short.lines().all(|line| line.width() <= 130), "{short}");
    let long = context.gsd(["install", "--claude", "--global", "--dry-run", "-v"]).success();
    assert!(long.contains("+ ~/.claude/gsd-core/VERSION\n") && long.contains("+++ ~/.claude/settings.json"), "{long}");
    let json = context.gsd(["install", "--claude", "--global", "--dry-run", "--json"]).json();
    let plan = &json["hosts"][0]["plan"];
    let settings_and_files = 1 + json["hosts"][0]["files"].as_u64().unwrap();
    assert_eq!(plan["steps"].as_array().unwrap().len() as u64, settings_and_files, "each file, and the settings");
    assert!(plan["settings"].as_array().unwrap().len() > 100, "each key");
    assert!(!is_installed(&context));
}

#[test]
fn an_upgrade_says_from_which_version_to_which() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let path = context.home().join(".claude/gsd-file-manifest.json");
    let version = env!("CARGO_PKG_VERSION");
    let older = std::fs::read_to_string(&path).unwrap().replacen(&format!("\"{version}\""), "\"0.0.9\"", 1);
    std::fs::write(&path, older).unwrap();
    let rehearsed = context.gsd(["install", "--claude", "--global", "--dry-run", "--json"]).json();
    assert_eq!(
        (&rehearsed["hosts"][0]["from_version"], &rehearsed["hosts"][0]["version"]),
        (&"0.0.9".into(), &version.into())
    );
    let told = context.gsd(["install", "--claude", "--global"]).success();
    assert!(told.contains(&format!("updated 0.0.9 -> {version}")), "{told}");
    let again = context.gsd(["install", "--claude", "--global"]).success();
    assert!(again.contains(&format!("already up to date ({version})")), "{again}");
}

#[test]
fn install_status_and_uninstall_count_the_same_files() {
    for (host, scope) in
        [("--claude", "--global"), ("--claude", "--local"), ("--codex", "--global"), ("--gemini", "--global")]
    {
        let context = TestContext::new();
        let count = |ran: crate::kit::Ran, list: &str, key: &str| ran.json()[list][0][key].as_u64().unwrap();
        let rehearsed = count(context.gsd(["install", host, scope, "--dry-run", "--json"]), "hosts", "created");
        let installed = count(context.gsd(["install", host, scope, "--json"]), "hosts", "created");
        let known = count(context.gsd(["install", host, scope, "--json"]), "hosts", "files");
        let status = count(context.gsd(["status", host, scope, "--json"]), "installs", "files");
        let removed = count(context.gsd(["uninstall", host, scope, "--json"]), "hosts", "removed");
        assert_eq!([rehearsed, installed, known, status, removed], [installed; 5], "{host} {scope}");
    }
}

#[test]
fn an_install_in_both_scopes_gets_a_warning_with_the_command_that_removes_one() {
    let context = TestContext::new();
    assert!(!context.gsd(["install", "--claude", "--global"]).success().contains("twice"));
    let told = context.gsd(["install", "--claude", "--local"]).success();
    assert!(told.contains("also installed globally (~/.claude): every command and hook is registered twice"), "{told}");
    assert!(told.contains("`gsd-tools uninstall --claude --global`"), "{told}");
    assert!(!told.contains("your own status line"), "the global one is ours: {told}");
    let told = context.gsd(["install", "--claude", "--global"]).success();
    assert!(told.contains("in this project (.claude)") || told.contains("in this project ("), "{told}");
    assert!(told.contains("`gsd-tools uninstall --claude --local`"), "{told}");
    let report = context.gsd(["install", "--claude", "--global", "--json"]).json();
    assert!(report["hosts"][0]["other_scope"].as_str().unwrap().ends_with("project/.claude"), "{report}");
    context.gsd(["uninstall", "--claude", "--local"]).success();
    assert!(!context.gsd(["install", "--claude", "--global"]).success().contains("twice"));
}

#[test]
fn a_settings_file_that_the_host_does_not_load_is_named_at_install() {
    for (host, file, text, line) in [
        ("--claude", ".claude/settings.json", "{\n  // mine\n  \"model\": \"opus\"\n}\n", Some(2)),
        ("--gemini", ".gemini/settings.json", "{\n  // mine\n  \"model\": {}\n}\n", None),
        ("--opencode", ".config/opencode/opencode.json", "{\n  // mine\n  \"model\": \"x\",\n}\n", None),
        ("--codebuddy", ".codebuddy/settings.json", "{\n  // mine\n  \"model\": \"x\"\n}\n", None),
    ] {
        let context = TestContext::new();
        let path = context.home().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        for call in [&["install", host, "--global", "--dry-run"][..], &["install", host, "--global"]] {
            let told = context.gsd_with(call, &[], "").success();
            let warned = line.map(|line| format!("`~/{file}` has a comment at line {line}: "));
            match warned {
                Some(warning) => assert!(told.contains(&warning) && told.contains("hooks will not run"), "{told}"),
                None => assert!(!told.contains("does not load"), "{host}: {told}"),
            }
        }
        let report = context.gsd(["install", host, "--global", "--json"]).json();
        assert_eq!(report["hosts"][0]["not_loaded"][0]["line"].as_u64(), line, "{report}");
    }
}

#[test]
fn every_screen_of_an_install_fits_the_terminal() {
    for columns in [60, 80, 120, 200] {
        let context = with_folders(&[".claude", ".codex"]);
        std::fs::write(settings(&context), "{\n  // mine\n  \"model\": \"opus\"\n}\n").unwrap();
        for (call, answers) in [
            ("install --detected --dry-run", &[][..]),
            ("install --detected", &[("Proceed?", "n")]),
            ("install --detected --yes", &[]),
            ("install --claude --local --yes", &[]),
            ("install --detected --yes", &[]),
            ("uninstall --detected --global", &[("Proceed?", "n")]),
            ("uninstall --detected --global --yes", &[]),
        ] {
            let (page, _) = answered(&context, columns, call, &[], answers);
            let page = plain(&page);
            let fits = |line: &str| line.trim_end().width() <= columns || !line.trim().contains(' ');
            assert!(page.lines().all(fits), "`{call}` at {columns} columns:\n{page}");
        }
    }
    let context = TestContext::new();
    let (colored, _) = seen(&context, 80, "install --claude --yes", &[]);
    assert!(colored.contains("\u{1b}[32m✓\u{1b}[0m"), "{colored:?}");
    for variables in [[("NO_COLOR", "1")], [("TERM", "dumb")]] {
        let (text, _) = seen(&context, 80, "install --claude --yes", &variables);
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    let (text, _) = seen(&context, 80, "install --claude --yes --color never", &[]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn an_older_program_says_that_it_replaces_a_newer_version_and_asks() {
    let context = TestContext::new();
    context.gsd(["install", "--claude", "--global"]).success();
    let path = context.home().join(".claude/gsd-file-manifest.json");
    let own = env!("CARGO_PKG_VERSION");
    let written = std::fs::read_to_string(&path).unwrap();
    let newer = || std::fs::write(&path, written.replacen(&format!("\"{own}\""), "\"99.0.0\"", 1)).unwrap();
    newer();
    let what = format!("version 99.0.0 is installed there, and this program is the older {own}");
    let rehearsed = context.gsd(["install", "--claude", "--global", "--dry-run"]).success();
    assert!(rehearsed.contains(&format!("downgrades 99.0.0 -> {own}")) && rehearsed.contains(&what), "{rehearsed}");
    // Enter by itself means no.
    let (text, code) = answered(&context, 100, "install --claude --global", &[], &[("Proceed? [y/N]", "\r")]);
    assert!(code == 130 && text.contains("99.0.0 is installed there"), "{text}");
    // A script that pins a version continues, and gets a message.
    let told = context.gsd(["install", "--claude", "--global"]).success();
    assert!(told.contains(&format!("downgraded 99.0.0 -> {own}")) && told.contains(&what), "{told}");
    newer();
    let ran = context.gsd(["install", "--claude", "--global", "--json"]);
    assert!(ran.stderr.contains(&what), "{}", ran.stderr);
    assert_eq!(ran.json()["hosts"][0]["downgrade"], true);
    assert!(context.gsd(["install", "--claude", "--global", "--json"]).json()["hosts"][0]["downgrade"].is_null());
}

#[test]
fn a_dry_run_ends_with_what_would_be_done() {
    let context = with_folders(&[".claude", ".codex"]);
    let end = |words: &[&str]| context.gsd_with(words, &[], "").stdout.lines().last().unwrap_or_default().to_owned();
    let install = ["install", "--claude", "--global", "--dry-run"];
    assert!(
        end(&install).starts_with("Dry run: would write ") && end(&install).contains(" files, edit 1 settings file")
    );
    context.gsd(["install", "--claude", "--global"]).success();
    assert_eq!(end(&install), "Dry run: nothing to do. Nothing was written.");
    assert!(end(&["uninstall", "--claude", "--dry-run"]).starts_with("Dry run: would remove "));
    let path = context.home().join(".claude/gsd-file-manifest.json");
    let written = std::fs::read_to_string(&path).unwrap();
    let own = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    std::fs::write(&path, written.replacen(&own, "\"0.0.1\"", 1)).unwrap();
    assert!(end(&install).starts_with("Dry run: would update the manifest."), "{}", end(&install));
    std::fs::write(settings(&context), "{").unwrap();
    assert_eq!(end(&install), "Dry run: nothing can be done; 1 host would fail. Nothing was written.");
    let both = end(&["install", "--claude", "--codex", "--dry-run"]);
    assert!(both.contains("would write ") && both.contains("; 1 host would fail"), "{both}");
}

#[test]
fn yes_takes_the_hosts_that_are_found_and_the_global_scope() {
    let context = with_folders(&[".claude", ".codex"]);
    let (text, code) = seen(&context, 80, "install --yes", &[]);
    assert!(code == 0 && is_installed(&context) && context.home().join(".codex/gsd-core").exists(), "{text}");
    assert!(!context.project().join(".claude").exists() && !text.contains("Enter continues"), "{text}");
    let (text, code) = seen(&context, 80, "uninstall --yes", &[]);
    assert!(code == 2 && is_installed(&context), "what to remove is for a person to name: {text}");
    let told = context.gsd(["uninstall", "--yes"]).failure(2);
    assert!(told.contains("`--detected`") && told.contains("`gsd-tools uninstall --claude`"), "{told}");
    let nobody = TestContext::new().gsd(["install", "--yes"]).failure(2);
    assert!(nobody.contains("no host was found"), "{nobody}");
}

#[test]
fn a_call_that_is_refused_says_what_to_type() {
    let context = TestContext::new();
    for (call, expected) in [
        ("install --host", "`gsd-tools runtimes` lists the hosts"),
        ("install --skills", "it takes flat, nested"),
        ("install --global --local", "leave out `--global` or `--local`"),
        ("uninstall", "nothing is installed"),
        ("hooks off --claude", "name a host with `--host NAME`"),
        ("hooks off claude", "name a host with `--host NAME`"),
        ("install --claude --codex --config-dir x", "`--config-dir` works with one host only"),
    ] {
        let ran = context.gsd_with(call.split(' '), &[], "");
        assert!(ran.code != 0 && ran.stderr.contains(expected), "`{call}`: {}", ran.stderr);
    }
    for verb in ["uninstall", "status"] {
        assert!(!context.gsd([verb, "--help"]).success().contains("create folders"), "{verb}");
    }
}

#[test]
fn many_keys_of_one_object_are_three_rows_unless_verbose() {
    let context = TestContext::new();
    let short = context.gsd(["install", "--opencode", "--global", "--dry-run"]).success();
    assert!(short.contains("more of `permission.bash`; `--verbose` lists them"), "{short}");
    assert!(short.lines().count() < 40, "{short}");
    let long = context.gsd(["install", "--opencode", "--global", "--dry-run", "--verbose"]).success();
    assert!(!long.contains("more of `"), "{long}");
}

#[test]
fn the_key_help_of_a_list_fits_the_terminal_and_a_cancelled_question_ends_its_line() {
    let context = with_folders(&[".claude"]);
    for columns in [30, 60, 80] {
        let (text, code) = answered(&context, columns, "install", &[], &[("(found)", "\u{1b}")]);
        let text = plain(&text);
        assert!(code == 130 && text.contains("Esc") && text.contains("cancels."), "{text}");
        assert!(text.lines().all(|line| line.trim_matches('\r').trim_end().width() <= columns), "{columns}: {text}");
    }
    let (text, _) = answered(&context, 80, "install --claude", &[], &[("Proceed?", "\u{3}")]);
    let last = plain(&text);
    assert!(last.lines().any(|line| line == "Cancelled; nothing was changed"), "{last}");
}
