//! Facts that several views show: each view shows the same one.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::answers::project;
use crate::kit::{TestContext, binary};

/// The output of a call at a terminal without colours.
fn seen(context: &TestContext, call: &str) -> String {
    let output = context.at_a_terminal_of(120, call, &[("NO_COLOR", "1")], "");
    String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
}

/// The exit code of a person's call.
fn code(context: &TestContext, call: &str) -> i32 {
    context.at_a_terminal_of(120, call, &[("NO_COLOR", "1")], "").status.code().unwrap()
}

/// The command in the `Next` line.
fn next(page: &str) -> &str {
    page.lines().find_map(|line| line.strip_prefix("Next")).map_or("", str::trim)
}

/// The next step in the answer of a call.
fn step_in(context: &TestContext, call: &[&str], place: &str) -> Value {
    let ran = context.gsd_with(call, &[], "");
    let answer: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{call:?}: {}{}", ran.stdout, ran.stderr));
    answer.pointer(place).unwrap_or_else(|| panic!("{call:?} has no {place}: {answer:#}")).clone()
}

/// The next command of the dashboard, after checking that the other views name the same one.
fn agreed(context: &TestContext) -> String {
    agreed_in(context, binary())
}

/// The output of a hook for an event.
fn hook(context: &TestContext, program: &Path, event: &str, payload: &str) -> String {
    let mut command = context.command(program);
    command.args(["hook", "standard", event]).env("NO_COLOR", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = command.spawn().unwrap();
    running.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    String::from_utf8(running.wait_with_output().unwrap().stdout).unwrap()
}

/// The same, with hooks that call this program.
fn agreed_in(context: &TestContext, program: &Path) -> String {
    let has_documents = context.project().join(".planning").is_dir();
    if has_documents {
        let config = context.project().join(".planning/config.json");
        let text = fs::read_to_string(&config).unwrap_or_else(|_| "{}".to_owned());
        let mut settings: Value = serde_json::from_str(&text).unwrap();
        settings["hooks"]["community"] = true.into();
        fs::write(&config, settings.to_string()).unwrap();
    }
    let dashboard = seen(context, "");
    let shown = next(&dashboard).to_owned();
    assert_eq!(next(&seen(context, "smart-entry")), shown, "{dashboard}");
    let entry = context.gsd(["smart-entry", "--json"]).json();
    assert_eq!(entry["next"]["command"], shown, "{dashboard}");
    let recommended = entry["actions"][0]["command"].as_str().unwrap();
    let takes_it = recommended.ends_with("progress --next") && entry["next"]["phase"].is_string();
    assert!(recommended == shown || takes_it, "{entry:#}");
    assert_eq!(step_in(context, &["auto", "status"], "/step/command"), shown, "{dashboard}");
    if context.project().join(".planning/STATE.md").is_file() {
        assert_eq!(step_in(context, &["state", "json"], "/next/command"), shown, "{dashboard}");
    }
    if has_documents {
        let init = context.gsd_with(["init", "progress"], &[], "");
        let found = if init.code == 0 { init.stdout } else { init.stderr };
        assert!(
            found.contains(&format!("\"command\": \"{shown}\"")) || found.contains(&format!("`{shown}`")),
            "{found}"
        );
    }
    let payload = serde_json::json!({ "session_id": "s", "hook_event_name": "Status", "cwd": context.project(),
        "workspace": { "current_dir": context.project(), "project_dir": context.project() } });
    let line = hook(context, program, "status-line", &payload.to_string());
    assert!(line.contains(&format!("→ {shown} ")), "{line} against {dashboard}");
    let start = hook(context, program, "session-start", &payload.to_string());
    assert!(start.contains(&shown), "{start} against {dashboard}");
    shown
}

/// A project in a state, and the next step there.
struct Row {
    what: &'static str,
    files: &'static [(&'static str, &'static str)],
    next: &'static str,
}

const PROJECT: (&str, &str) = (".planning/PROJECT.md", "# P\n");
const ROADMAP: (&str, &str) = (
    ".planning/ROADMAP.md",
    "# R\n\n## v1.0 A\n\n- [x] **Phase 1: Base** - b\n- [ ] **Phase 2: More** - m\n\n### Phase 1: Base\n**Goal**: g\n\n### Phase 2: More\n**Goal**: g\n",
);
const CLOSED: (&str, &str) = (
    ".planning/ROADMAP.md",
    "# R\n\n## v1.0 A\n\n- [x] **Phase 1: Base** - b\n- [x] **Phase 2: More** - m\n\n### Phase 1: Base\n**Goal**: g\n\n### Phase 2: More\n**Goal**: g\n",
);
const STATE: (&str, &str) = (
    ".planning/STATE.md",
    "---\nmilestone: v1.0\n---\n# S\n\n## Current Position\n\nPhase: 2 of 2 (More)\nStatus: Ready to plan\n",
);
const DONE: (&str, &str) = (
    ".planning/STATE.md",
    "---\nmilestone: v1.0\n---\n# S\n\n## Current Position\n\nPhase: 2 of 2 (More)\nStatus: Milestone complete\n",
);
const DEFERRED: (&str, &str) = (
    ".planning/STATE.md",
    "---\nmilestone: v1.0\n---\n# S\n\n## Current Position\n\nPhase: 2 of 2 (More)\nStatus: Ready to plan\n\n## Deferred Items\n\n\
     | Category | Item | Status | Deferred At | Milestone |\n|---|---|---|---|---|\n\
     | human check | Phase 01: Look | open | 2026-01-01 | |\n",
);
const UAT: (&str, &str) = (
    ".planning/phases/01-base/01-UAT.md",
    "---\nstatus: testing\n---\n\n## Tests\n\n### 1. Look\nexpected: blue\nresult: [pending]\n",
);
const AUDIT: (&str, &str) =
    (".planning/v1.0-MILESTONE-AUDIT.md", "---\nmilestone: v1.0\nstatus: passed\n---\n# Audit\n");
const CONTEXT: (&str, &str) = (".planning/phases/02-more/02-CONTEXT.md", "# C\n");
const PLAN: (&str, &str) = (".planning/phases/02-more/02-01-PLAN.md", "---\nphase: 02-more\nwave: 1\n---\n");
const SLICES: (&str, &str) = (
    ".gsd/milestones/M001/M001-ROADMAP.md",
    "# M001: Small functions\n\n## Slices\n\n- [x] **S01: Add**\n- [ ] **S02: Sub**\n",
);

const ROWS: &[Row] = &[
    Row { what: "a phase that nobody discussed", files: &[PROJECT, ROADMAP, STATE], next: "discuss-phase 2" },
    Row { what: "a phase with a context", files: &[PROJECT, ROADMAP, STATE, CONTEXT], next: "plan-phase 2" },
    Row {
        what: "a phase without a discussion, where none is wanted",
        files: &[PROJECT, ROADMAP, STATE, (".planning/config.json", "{\"workflow\": {\"skip_discuss\": true}}")],
        next: "plan-phase 2",
    },
    Row { what: "a phase with a plan", files: &[PROJECT, ROADMAP, STATE, PLAN], next: "execute-phase 2" },
    Row {
        what: "a plan, and a test of another phase that waits",
        files: &[PROJECT, ROADMAP, STATE, PLAN, UAT],
        next: "execute-phase 2",
    },
    Row { what: "an acceptance test that is open", files: &[PROJECT, ROADMAP, STATE, UAT], next: "verify-work 1" },
    Row { what: "a check that was put off", files: &[PROJECT, ROADMAP, DEFERRED, UAT], next: "discuss-phase 2" },
    Row { what: "only a check that was put off", files: &[PROJECT, CLOSED, DEFERRED, UAT], next: "verify-work 1" },
    Row { what: "all phases done, a test open", files: &[PROJECT, CLOSED, DONE, UAT], next: "verify-work 1" },
    Row { what: "all phases done, no audit", files: &[PROJECT, CLOSED, DONE], next: "audit-milestone" },
    Row { what: "all phases done, STATE.md is late", files: &[PROJECT, CLOSED, STATE], next: "audit-milestone" },
    Row { what: "all phases done and audited", files: &[PROJECT, CLOSED, DONE, AUDIT], next: "complete-milestone" },
    Row {
        what: "an archived milestone",
        files: &[PROJECT, CLOSED, DONE, (".planning/milestones/v1.0-ROADMAP.md", "# R\n")],
        next: "new-milestone",
    },
    Row {
        what: "an archived milestone whose roadmap is gone",
        files: &[PROJECT, DONE, (".planning/milestones/v1.0-ROADMAP.md", "# R\n")],
        next: "new-milestone",
    },
    Row { what: "no documents but PROJECT.md", files: &[PROJECT], next: "new-project" },
    Row { what: "no STATE.md", files: &[PROJECT, ROADMAP], next: "gsd-tools state rebuild" },
    Row {
        what: "a new workstream",
        files: &[PROJECT, (".planning/workstreams/api/STATE.md", "# S\n"), (".planning/active-workstream", "api\n")],
        next: "new-milestone",
    },
    Row {
        what: "workstreams, none active",
        files: &[PROJECT, (".planning/workstreams/default/ROADMAP.md", ROADMAP.1)],
        next: "gsd-tools workstream set default",
    },
    Row {
        what: "a phase that is no number",
        files: &[
            PROJECT,
            ROADMAP,
            PLAN,
            (
                ".planning/STATE.md",
                "---\nmilestone: v1.0\ncurrent_phase: two\n---\n# S\n\n## Current Position\n\nPhase: 2 of 2 (More)\nStatus: Executing\n",
            ),
        ],
        next: "execute-phase 2",
    },
    Row {
        what: "a second milestone whose phases go on counting",
        files: &[
            PROJECT,
            (
                ".planning/ROADMAP.md",
                "# R\n\n- ✅ **v1.0 A** - Phases 1-2\n- 🚧 **v1.1 B** - Phases 3-4\n\n## v1.1 B\n\n- [ ] **Phase 3: C** - c\n\
                 - [ ] **Phase 4: D** - d\n\n### Phase 3: C\n**Goal**: g\n\n### Phase 4: D\n**Goal**: g\n",
            ),
            (
                ".planning/STATE.md",
                "---\nmilestone: v1.1\n---\n# S\n\n## Current Position\n\nPhase: 3 of 4 (C)\nStatus: Ready to plan\n",
            ),
        ],
        next: "discuss-phase 3",
    },
    Row { what: "milestones of auto", files: &[SLICES], next: "gsd-tools auto run" },
    Row {
        what: "a milestone of auto that has only a draft",
        files: &[(".gsd/milestones/M005/M005-CONTEXT-DRAFT.md", "# M005: Draft\n")],
        next: "gsd-tools auto discuss M005",
    },
    Row {
        what: "milestones of auto that are over",
        files: &[SLICES, (".gsd/milestones/M001/M001-SUMMARY.md", "---\nstatus: complete\n---\n# M001\n")],
        next: "gsd-tools auto run --brief BRIEF.md",
    },
    Row {
        what: "a milestone of auto that is set aside",
        files: &[SLICES, (".gsd/milestones/M001/M001-PARKED.md", "later\n")],
        next: "gsd-tools auto unpark M001",
    },
];

fn made(row: &Row) -> TestContext {
    let context = TestContext::new();
    for (path, text) in row.files {
        context.write(path, text);
    }
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "first"]] {
        assert!(context.command("git").args(arguments).status().unwrap().success());
    }
    context
}

#[test]
fn every_state_has_one_next_step_in_every_view() {
    for row in ROWS {
        let expected =
            if row.next.starts_with("gsd-tools ") { row.next.to_owned() } else { format!("/gsd-{}", row.next) };
        eprintln!("{}", row.what);
        assert_eq!(agreed(&made(row)), expected, "{}", row.what);
    }
}

#[test]
fn a_phase_that_is_not_a_number_is_reported_and_corrected_by_the_next_write() {
    let row = ROWS.iter().find(|row| row.what == "a phase that is no number").unwrap();
    let context = made(row);
    let findings = context.gsd(["state", "validate"]).json();
    assert!(findings["warnings"].as_array().unwrap().iter().any(|found| found["code"] == "S009"), "{findings:#}");
    context.gsd(["state", "update", "Last activity", "2026-01-02"]).success();
    assert!(
        context.read(".planning/STATE.md").contains("current_phase: 2\n"),
        "{}",
        context.read(".planning/STATE.md")
    );
    let findings = context.gsd(["state", "validate"]).json();
    assert!(!findings.to_string().contains("S009"), "{findings:#}");
}

#[test]
fn a_run_of_auto_is_the_next_step_of_every_view() {
    let context = crate::auto::project();
    let (begun, done) = (context.home().join("begun"), context.home().join("done"));
    let script = format!(
        "touch {}; for i in $(seq 1200); do [ -e {} ] && break; sleep 0.1; done",
        begun.display(),
        done.display()
    );
    let shape = [("FAKE_SHAPE", "1x1")];
    std::thread::scope(|scope| {
        let rows = [crate::scripted::also("discuss-milestone M001", None, &script)];
        let words = ["auto", "run", "--brief", "BRIEF", "--max-units", "1"];
        let run = scope.spawn({
            let context = &context;
            move || crate::scripted::run(context, &words, &rows, &shape)
        });
        let started = std::time::Instant::now();
        while !begun.exists() && started.elapsed().as_secs() < 120 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        assert_eq!(agreed(&context), "gsd-tools auto status");
        assert!(seen(&context, "").contains("A run is active: M001, discuss-milestone M001"), "{}", seen(&context, ""));
        let entry = context.gsd(["smart-entry", "--json"]).json();
        assert_eq!(entry["actions"].as_array().unwrap().len(), 1, "nothing else is offered: {entry:#}");
        fs::write(&done, "").unwrap();
        assert_eq!(run.join().unwrap().code, 0);
    });
    assert_eq!(agreed(&context), "gsd-tools auto run");
    assert!(seen(&context, "").contains("The run of M001 stopped"));
    crate::scripted::run(&context, &["auto", "run"], &[], &shape).success();
    assert_eq!(agreed(&context), "gsd-tools auto run --brief BRIEF.md");
    for call in ["", "progress", "stats", "smart-entry"] {
        assert!(seen(&context, call).contains("has landed as"), "{call}: {}", seen(&context, call));
    }
}

#[test]
fn commands_are_spelled_for_the_only_installed_host() {
    let context = project("pocket");
    context.gsd(["install", "--global", "--codex"]).success();
    let program = context.home().join(".codex/gsd-core/bin/gsd-tools");
    assert_eq!(agreed_in(&context, &program), "$gsd-plan-phase 2");
    assert!(context.gsd(["guide"]).success().contains("$gsd-plan-phase"), "the guide goes by the same rule");
    let health = context.gsd(["validate", "health"]).success();
    assert!(!health.contains("/gsd-"), "{health}");
    let empty = TestContext::new();
    assert!(seen(&empty, "").contains("gsd-tools install"));
    empty.gsd(["install", "--global", "--codex"]).success();
    let welcome = seen(&empty, "");
    assert!(welcome.contains("Open OpenAI Codex CLI here and type $gsd-new-project"), "{welcome}");
    assert!(welcome.contains("gsd-tools auto run --brief") && !welcome.contains("gsd-tools install"), "{welcome}");
}

#[test]
fn a_roadmap_in_a_workstream_is_not_reported_as_missing() {
    let context = project("pocket");
    context.gsd(["workstream", "create", "api"]).success();
    context.gsd(["workstream", "complete", "api"]).success();
    let set = "gsd-tools workstream set first-light";
    assert_eq!(agreed(&context), set, "it is named after the milestone");
    assert!(context.gsd_with(["validate", "health"], &[], "").stdout.contains(set));
    let refused = context.gsd_with(["milestone", "complete", "v1.0", "--confirm"], &[], "");
    assert!(refused.stderr.contains(set) && refused.code != 0, "{}", refused.stderr);
    context.gsd(["workstream", "set", "first-light"]).success();
    assert_eq!(agreed(&context), "/gsd-plan-phase 2");
}

#[test]
fn no_rebuild_is_suggested_for_a_state_that_cannot_be_rebuilt() {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# P\n");
    for call in
        [&["state", "json"][..], &["state", "validate"], &["state", "get", "Status"], &["state", "advance-plan"]]
    {
        let ran = context.gsd_with(call, &[], "");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains("state rebuild") && said.contains("/gsd-new-project"), "{call:?}: {said}");
    }
}

#[test]
fn every_view_names_one_next_command() {
    assert_eq!(agreed(&project("clinic")), "/gsd-verify-work 1");
    assert_eq!(agreed(&project("ledger")), "/gsd-execute-phase 1");
    let notes = project("notes");
    assert_eq!(agreed(&notes), "/gsd-verify-work 2", "its acceptance test is begun");
    assert!(seen(&notes, "").contains("The acceptance test of phase 2 (Core) is not finished: 1 test"));
    fs::remove_file(notes.project().join(".planning/STATE.md")).unwrap();
    assert_eq!(agreed(&notes), "gsd-tools state rebuild");
    fs::remove_file(notes.project().join(".planning/ROADMAP.md")).unwrap();
    agreed(&notes);
    let empty = TestContext::new();
    empty.write(".planning/config.json", "{}");
    assert_eq!(agreed(&empty), "/gsd-new-project");
    assert!(empty.gsd(["smart-entry"]).success().contains("/gsd-new-project"), "an agent learns the same");
}

#[test]
fn every_view_shows_work_that_a_session_handed_off() {
    for (file, text) in [
        (".planning/HANDOFF.json", "{\"next_action\": \"Write the second test\"}"),
        (".planning/phases/02-writing-notes/.continue-here.md", "# Here\n"),
    ] {
        let context = project("pocket");
        context.write(file, text);
        agreed(&context);
        let page = seen(&context, "");
        assert!(page.contains("Work is paused"), "{page}");
        let payload = serde_json::json!({ "session_id": "s", "hook_event_name": "E", "cwd": context.project() });
        let note = context.gsd_with(["hook", "standard", "session-start"], &[], &payload.to_string()).success();
        assert!(note.contains("Paused: `") && note.contains(file), "{note}");
    }
}

#[test]
fn a_verified_phase_counts_once_it_is_closed() {
    let context = project("pocket");
    let folder = ".planning/phases/02-writing-notes/02";
    context.write(&format!("{folder}-01-PLAN.md"), "---\nphase: 02-writing-notes\nwave: 1\n---\n");
    context.write(&format!("{folder}-01-SUMMARY.md"), "---\nstatus: complete\n---\n");
    context.write(&format!("{folder}-VERIFICATION.md"), "---\nstatus: passed\n---\n");
    let page = seen(&context, "");
    assert!(page.contains("verified, not closed yet") && page.contains("1/3 phases") && page.contains("33%"), "{page}");
    assert!(seen(&context, "phase complete 2").starts_with("Phase 2 (Writing Notes) is complete\n"));
    assert!(seen(&context, "phase complete 2").contains("nothing changed"));
    assert!(seen(&context, "").contains("2/3 phases"));
}

#[test]
fn a_completed_milestone_is_complete_in_every_view() {
    let context = project("pocket");
    for (phase, folder) in [("2", "02-writing-notes/02"), ("3", "03-sync/03")] {
        let folder = format!(".planning/phases/{folder}");
        context.write(&format!("{folder}-01-PLAN.md"), "---\nwave: 1\n---\n");
        context.write(&format!("{folder}-01-SUMMARY.md"), "---\nstatus: complete\n---\n");
        context.write(&format!("{folder}-VERIFICATION.md"), "---\nstatus: passed\n---\n");
        context.gsd(["phase", "complete", phase]).success();
    }
    assert!(seen(&context, "").contains("All phases are complete: audit milestone v1.0"));
    context.gsd(["milestone", "complete", "v1.0", "--confirm"]).success();
    let roadmap = context.read(".planning/ROADMAP.md");
    assert!(!roadmap.to_lowercase().contains("in progress") && roadmap.contains("✅ v1.0 First light"), "{roadmap}");
    agreed(&context);
    assert!(seen(&context, "").contains("Milestone v1.0 is complete and archived"));
}

#[test]
fn open_tests_are_counted_once() {
    let context = project("workshop");
    assert!(seen(&context, "").contains("1 open test · 1 deferred item"));
    assert!(seen(&context, "audit-uat").starts_with("1 open test, 1 deferred item\n"));
    let clinic = project("clinic");
    let page = seen(&clinic, "audit-uat");
    assert!(page.starts_with("2 open tests\n") && page.contains("○  Open the list"), "{page}");
    assert!(!page.contains("test: ") && seen(&clinic, "").contains("2 open tests"), "{page}");
}

#[test]
fn a_phase_has_one_mark_in_every_view() {
    for name in ["clinic", "workshop", "pocket", "notes", "garden"] {
        let context = project(name);
        let marks = |call: &str| -> String {
            let page = seen(&context, call);
            page.lines()
                .filter_map(|line| line.trim_start().chars().next())
                .filter(|sign| "✓▸○".contains(*sign))
                .collect()
        };
        let shown = marks("");
        assert!(!shown.is_empty());
        for call in ["stats", "progress", "roadmap analyze"] {
            assert_eq!(marks(call), shown, "{name}: {call}");
        }
    }
}

#[test]
fn a_person_gets_plain_lines_and_a_program_gets_json() {
    let context = project("pocket");
    for (call, said) in [
        ("config-set mode yolo", "mode is now yolo\n"),
        ("config-get mode", "yolo\n"),
        ("config-get granularity", "standard"),
        ("state update \"Stopped at\" Here", "Stopped at is now Here\n"),
        ("state validate", "STATE.md"),
        ("state rebuild", "STATE.md"),
        ("roadmap validate", "ROADMAP.md"),
        ("gate list", "build"),
        ("workstream list", "This project has no workstreams\n"),
        ("recover", "nothing to recover"),
        ("phase add Search", "Added phase 04: Search\n"),
    ] {
        let page = seen(&context, call);
        assert!(page.contains(said) && !page.contains('{'), "`{call}`: {page}");
    }
    assert!(context.gsd(["workstream", "list"]).success().starts_with('{'));
    assert_eq!(code(&context, "state rebuild --dry-run"), 0, "a rehearsal is no failure");
}

#[test]
fn a_person_without_a_project_gets_one_message() {
    let context = TestContext::new();
    for call in
        ["phase add x", "state update Status x", "todo complete x", "config list", "config-get mode", "workstream list"]
    {
        let told = seen(&context, call);
        assert!(told.contains("Error: there is no project in `") && told.contains("hint:"), "`{call}`: {told}");
        assert_eq!(code(&context, call), 64, "{call}");
    }
}

#[test]
fn a_missing_or_invalid_roadmap_is_refused() {
    let context = project("pocket");
    context.write(".planning/ROADMAP.md", "\njust words\n");
    let told = context.gsd(["phase", "add", "Search"]).failure(1);
    assert!(told.contains(".planning/ROADMAP.md`, line 2") && told.contains("hint:"), "{told}");
    fs::remove_file(context.project().join(".planning/ROADMAP.md")).unwrap();
    let state = context.read(".planning/STATE.md");
    assert!(context.gsd(["phase", "complete", "1"]).failure(1).contains("there is no `.planning/ROADMAP.md`"));
    assert_eq!(context.read(".planning/STATE.md"), state);
}

#[test]
fn an_area_without_todos_is_named_with_those_that_have_some() {
    let page = seen(&project("workshop"), "list-todos nope");
    assert!(page.contains("the area `nope`; the areas are code, ui"), "{page}");
}

#[test]
fn a_repair_is_reported_in_plain_words() {
    let context = project("pocket");
    context.write(".planning/config.json", "{ broken");
    let page = seen(&context, "validate health --repair");
    assert!(page.contains("config.json was not changed") && !page.contains("resetConfig"), "{page}");
    assert_eq!(code(&context, "validate health --repair"), 1);
}
