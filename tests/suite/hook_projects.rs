//! Hooks find a project and its documents just as the commands do: in sub-folders, worktrees and workstreams; and they
//! report interrupted work.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::kit::TestContext;

fn git(context: &TestContext, folder: &Path, arguments: &[&str]) {
    let mut command = context.command("git");
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The output of the hooks of an event for a session in `folder`.
fn said(context: &TestContext, folder: &Path, event: &str, more: &Value, environment: &[(&str, &str)]) -> String {
    let mut payload = json!({ "session_id": "s-1", "hook_event_name": "E", "cwd": folder });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let ran = context.gsd_with(["hook", "standard", event], environment, &payload.to_string());
    assert_eq!(ran.stderr, "");
    ran.success()
}

fn start(context: &TestContext) -> String {
    said(context, &context.project(), "session-start", &json!({}), &[])
}

/// A project with two workstreams; `api` is the active one, and has its own settings.
fn workstreams() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/config.json", r#"{"hooks": {"community": false, "context_critical_threshold": 10}}"#);
    context.write(".planning/STATE.md", "---\nstatus: old\ncurrent_phase: 9\n---\n");
    context.write(".planning/active-workstream", "api\n");
    let state = |phase: u8| format!("---\nstatus: busy\ncurrent_phase: {phase}\n---\n{}", "line\n".repeat(50));
    context.write(".planning/workstreams/api/STATE.md", &state(2));
    context.write(".planning/workstreams/web/STATE.md", &state(5));
    let own = r#"{"hooks": {"community": true, "context_critical_threshold": 60}}"#;
    context.write(".planning/workstreams/api/config.json", own);
    context
}

#[test]
fn hooks_use_the_active_workstream() {
    let context = workstreams();
    let here = context.project();
    let at_start = start(&context);
    assert!(at_start.contains(".planning/workstreams/api/STATE.md") && at_start.contains("phase 2"), "{at_start}");

    let line = |environment: &[(&str, &str)]| said(&context, &here, "status-line", &json!({}), environment);
    assert!(line(&[]).contains("Phase 2 · busy"));
    assert!(line(&[("GSD_WORKSTREAM", "web")]).contains("Phase 5 · busy"));

    let write =
        |path: &str, text: &str| json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": text } });
    let summary = write(".planning/workstreams/api/phases/01-a/01-01-SUMMARY.md", "x");
    let boundary = said(&context, &here, "after-tool", &summary, &[]);
    assert!(boundary.contains("PLANNING: `.planning/workstreams/api/phases/01-a/01-01-SUMMARY.md`"), "{boundary}");
    assert_eq!(said(&context, &here, "after-tool", &summary, &[("GSD_WORKSTREAM", "web")]), "");

    let little = json!({ "context_window": { "remaining_percentage": 50.0 } });
    assert_eq!(said(&context, &here, "after-tool", &little, &[("GSD_WORKSTREAM", "web")]), "");
    assert!(said(&context, &here, "after-tool", &little, &[]).contains("CONTEXT CRITICAL"));

    let short = write(".planning/workstreams/api/STATE.md", "x\n");
    assert!(said(&context, &here, "before-tool", &short, &[]).contains("PLANNING_SHRINK"));

    let own = ".planning/workstreams/api/config.json";
    context.write(own, r#"{"hooks": {"community": true}, "mode": "yolo"}"#);
    let told = said(&context, &here, "file-changed", &json!({ "file_path": here.join(own) }), &[]);
    let gone = "- hooks.context_critical_threshold: 10 (was 60)";
    assert!(told.contains("- mode: yolo") && told.contains(gone) && !told.contains("community"), "{told}");
}

#[test]
fn a_choice_for_one_session_applies_to_the_hooks_of_that_session() {
    let context = workstreams();
    let in_shell = [("CLAUDE_CODE_SESSION_ID", "s-1"), ("TMUX_PANE", "%1")];
    context.gsd_with(["workstream", "set", "web"], &in_shell, "").success();
    let line = |session: &str| {
        let of_session = json!({ "session_id": session });
        // Hosts that name the session in the event may not set the variable for hooks.
        said(&context, &context.project(), "status-line", &of_session, &[("TMUX_PANE", "%1")])
    };
    assert!(line("s-1").contains("Phase 5"));
    assert!(line("s-2").contains("Phase 2"));
}

/// The status of the project that verbs find in `folder`, and the output of the status line there.
fn statuses(context: &TestContext, folder: &Path) -> (Option<String>, String) {
    let verb = context.gsd_with(["--cwd", &folder.display().to_string(), "state", "get", "status", "--raw"], &[], "");
    let status = Some(verb.stdout).filter(|text| verb.code == 0 && text.starts_with("at-"));
    (status, said(context, folder, "status-line", &json!({}), &[]))
}

#[test]
fn hooks_and_verbs_find_the_same_project() {
    let context = TestContext::new();
    let folder = context.project();
    let project = |path: &str, status: &str| {
        let text = format!("---\nstatus: {status}\n---\n\n# Project State\n\nStatus: {status}\n");
        context.write(&format!("{path}.planning/STATE.md"), &text);
    };
    project("main/", "at-main");
    project("main/app/", "at-app");
    context.write("main/.gitignore", ".planning/\n");
    context.write("main/src/deep/a.rs", "x");
    context.write("main/app/src/a.rs", "x");
    let main = folder.join("main");
    git(&context, &main, &["init", "-q"]);
    git(&context, &main, &["add", "."]);
    git(&context, &main, &["commit", "-q", "-m", "begin"]);
    git(&context, &main, &["worktree", "add", "-q", "../beside"]);
    git(&context, &main, &["worktree", "add", "-q", ".trees/inside"]);
    context.write("main/vendor/x.rs", "x");
    git(&context, &folder.join("main/vendor"), &["init", "-q"]);
    project("plain/", "at-plain");
    context.write("plain/src/a.rs", "x");
    project("../home/", "at-home");
    context.write("../home/work/a.rs", "x");
    let places = [
        ("main", Some("at-main")),
        ("main/src/deep", Some("at-main")),
        ("main/app/src", Some("at-app")),
        ("beside", Some("at-main")),
        ("beside/src/deep", Some("at-main")),
        ("beside/app/src", Some("at-app")),
        ("main/.trees/inside", Some("at-main")),
        ("main/.trees/inside/app/src", Some("at-app")),
        ("main/vendor", None),
        ("plain", Some("at-plain")),
        ("plain/src", Some("at-plain")),
        ("../home/work", None),
    ];
    for (place, status) in places {
        let (verb, line) = statuses(&context, &folder.join(place).canonicalize().unwrap());
        assert_eq!(verb.as_deref().map(str::trim), status, "{place}: the verb");
        match status {
            Some(status) => assert!(line.contains(status), "{place}: {line}"),
            None => assert!(!line.contains("at-"), "{place}: {line}"),
        }
    }
    // A worktree with its own documents uses those.
    project("beside/", "at-beside");
    let (verb, line) = statuses(&context, &folder.join("beside/src"));
    assert_eq!((verb.as_deref().map(str::trim), line.contains("at-beside")), (Some("at-beside"), true));
}

/// A git project with a phase of three plans, of which the first has its SUMMARY.
fn in_execution() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/STATE.md", "---\nstatus: executing\ncurrent_phase: 2\n---\n\n# Project State\n");
    for plan in ["02-01", "02-02", "02-03"] {
        context.write(&format!(".planning/phases/02-notes/{plan}-PLAN.md"), "---\nphase: 02-notes\n---\n");
    }
    context.write(".planning/phases/02-notes/02-01-SUMMARY.md", "---\nphase: 02-notes\n---\n");
    git(&context, &context.project(), &["init", "-q"]);
    context
}

fn commit(context: &TestContext, subject: &str) {
    git(context, &context.project(), &["commit", "-q", "--allow-empty", "-m", subject]);
}

fn nowhere(context: &TestContext) -> PathBuf {
    let folder = context.home().join("no-programs");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_session_begins_with_the_plan_that_was_interrupted() {
    let context = in_execution();
    commit(&context, "chore: begin");
    commit(&context, "docs(02): create phase plan");
    commit(&context, "feat(02-01): read notes");
    assert_eq!(start(&context), "", "nothing is half done");
    commit(&context, "feat(02-02): write notes");
    let line = |what: &str| {
        let said: Value = serde_json::from_str(&start(&context)).unwrap();
        assert_eq!(said["hookSpecificOutput"]["additionalContext"], what);
    };
    line("Interrupted: 02-02 has no SUMMARY (1 commit). Continue with `/gsd-execute-phase 2`.");
    commit(&context, "test(02-02): write notes");
    commit(&context, "wip");
    line("Interrupted: 02-02 has no SUMMARY (2 commits). Continue with `/gsd-execute-phase 2`.");
    // This starts no program.
    let path = nowhere(&context);
    let without_git = [("PATH", path.to_str().unwrap())];
    assert!(
        said(&context, &context.project(), "session-start", &json!({}), &without_git)
            .contains("02-02 has no SUMMARY (2 commits)")
    );
    git(&context, &context.project(), &["reset", "-q", "--hard", "HEAD~2"]);
    line("Interrupted: 02-02 has no SUMMARY (1 commit). Continue with `/gsd-execute-phase 2`.");

    context.write(".planning/config.json", r#"{"hooks": {"community": true}}"#);
    let both = start(&context);
    assert!(both.contains("Status: executing") && both.contains("Interrupted: 02-02"), "{both}");
    context.write(".planning/config.json", "{}");
    context.write(".planning/phases/02-notes/02-02-SUMMARY.md", "---\nphase: 02-notes\n---\n");
    assert_eq!(start(&context), "");
}

#[test]
fn a_session_begins_with_the_uncommitted_changes() {
    let context = in_execution();
    let plan = "---\nphase: 02-notes\nfiles_modified: [src/notes.py, ./src/new.py]\n---\n";
    context.write(".planning/phases/02-notes/02-02-PLAN.md", plan);
    context.write("src/notes.py", "first\n");
    git(&context, &context.project(), &["add", "-A"]);
    commit(&context, "docs(02): create phase plan");
    assert_eq!(start(&context), "", "nothing is half done");
    context.write("src/notes.py", "second, and more\n");
    let path = nowhere(&context);
    let without_git = [("PATH", path.to_str().unwrap())];
    let line = |what: &str| {
        let said = said(&context, &context.project(), "session-start", &json!({}), &without_git);
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["hookSpecificOutput"]["additionalContext"], what);
    };
    line("Interrupted: 02-02 has no SUMMARY (1 changed file). Continue with `/gsd-execute-phase 2`.");
    commit(&context, "feat(02-02): write notes");
    context.write("src/new.py", "new\n");
    line("Interrupted: 02-02 has no SUMMARY (1 commit, 2 changed files). Continue with `/gsd-execute-phase 2`.");
    git(&context, &context.project(), &["commit", "-q", "-a", "-m", "feat(02-02): write more"]);
    std::fs::remove_file(context.project().join("src/new.py")).unwrap();
    line("Interrupted: 02-02 has no SUMMARY (2 commits). Continue with `/gsd-execute-phase 2`.");
    // Two plans may be about the same file.
    context.write(".planning/phases/02-notes/02-03-PLAN.md", plan);
    line("Interrupted: 02-02 has no SUMMARY (2 commits). Continue with `/gsd-execute-phase 2`.");
    // Changes that no plan of an active phase mentions are the user's.
    context.write("src/other.py", "mine\n");
    line("Interrupted: 02-02 has no SUMMARY (2 commits). Continue with `/gsd-execute-phase 2`.");
}

#[test]
fn commits_of_an_older_plan_with_the_same_number_are_not_an_interruption() {
    let context = in_execution();
    commit(&context, "feat(02-02): write notes, in an earlier milestone");
    let plan = context.project().join(".planning/phases/02-notes/02-02-PLAN.md");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::OpenOptions::new().append(true).open(&plan).unwrap().set_modified(later).unwrap();
    assert_eq!(start(&context), "");
}

#[test]
fn without_a_git_log_the_state_shows_what_was_interrupted() {
    let context = in_execution();
    std::fs::remove_dir_all(context.project().join(".git")).unwrap();
    assert!(start(&context).contains("Interrupted: 02-02 has no SUMMARY. Continue with `/gsd-execute-phase 2`."));
    context.write(".planning/STATE.md", "---\nstatus: verifying\ncurrent_phase: 2\n---\n");
    assert_eq!(start(&context), "");
    context.write(".planning/STATE.md", "---\nstatus: executing\ncurrent_phase: 2\n---\n");
    std::fs::remove_file(context.project().join(".planning/phases/02-notes/02-01-SUMMARY.md")).unwrap();
    assert_eq!(start(&context), "", "the phase may not have begun");
}

#[test]
fn settings_changed_by_a_command_of_the_session_are_not_reported_to_it() {
    let context = TestContext::new();
    context.write(".planning/config.json", r#"{"mode": "interactive", "workflow": {"research": true}}"#);
    let here = context.project();
    let changed = |session: &str| {
        let event = json!({ "session_id": session, "file_path": here.join(".planning/config.json") });
        said(&context, &here, "file-changed", &event, &[])
    };
    for session in ["s-1", "s-2"] {
        said(&context, &here, "session-start", &json!({ "session_id": session }), &[]);
    }
    let in_session = [("CLAUDE_CODE_SESSION_ID", "s-1")];
    context.gsd_with(["config-set", "workflow.research", "false"], &in_session, "").success();
    assert_eq!(changed("s-1"), "");
    let other = changed("s-2");
    assert!(other.contains("- workflow.research: false (was true)") && !other.contains("mode"), "{other}");

    let text = context.read(".planning/config.json").replace("interactive", "yolo");
    context.write(".planning/config.json", &text);
    let by_hand = changed("s-1");
    assert!(by_hand.contains("- mode: yolo (was interactive)") && !by_hand.contains("research"), "{by_hand}");
    context.gsd(["config-set", "mode", "interactive"]).success();
    assert!(changed("s-1").contains("- mode: interactive (was yolo)"), "the shell of nobody's session");
}

#[test]
fn a_full_context_changes_no_documents_and_names_a_command_that_works() {
    let context = in_execution();
    let state = "---\nstatus: executing\ncurrent_phase: 2\nstopped_at: Phase 02 complete, ready to plan Phase 3\n---\n\n\
                 # Project State\n\n## Session Continuity\n\nLast session: 2026-01-01\nStopped at: Phase 02 complete\n\
                 Resume file: None\n";
    context.write(".planning/STATE.md", state);
    let little = json!({ "context_window": { "remaining_percentage": 19.0 } });
    let line = said(&context, &context.project(), "status-line", &little, &[]);
    let note = said(&context, &context.project(), "after-tool", &little, &[]);
    assert!(line.contains("97% used") && note.contains("97 % used, 19 % of the window left"), "{line} {note}");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(context.read(".planning/STATE.md"), state);

    let note: Value = serde_json::from_str(&note).unwrap();
    let note = note["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    let command = note.split('`').nth(1).unwrap().replace("<plan and task>", "02-02, task 2");
    let ran = context.command("sh").args(["-c", &command]).output().unwrap();
    assert!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
    assert!(context.read(".planning/STATE.md").contains("02-02, task 2"));
}
