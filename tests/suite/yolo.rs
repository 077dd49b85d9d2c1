//! The chain that runs all phases: what starts it, what each stop puts back, and a chain that broke off.

use serde_json::{Value, json};

use crate::auto::git;
use crate::kit::{Ran, TestContext, binary};

const CONFIG: &str = ".planning/config.json";

/// A project with an open phase 2 that phase 3 depends on, all of it committed.
fn project(config: &str) -> TestContext {
    let context = TestContext::new();
    context.write(CONFIG, config);
    context.write(".planning/STATE.md", "---\nmilestone: v1.0\ncurrent_phase: 2\nstatus: planning\n---\n\n# State\n");
    context.write(".planning/PROJECT.md", "# Shelf\n");
    context.write(
        ".planning/ROADMAP.md",
        "# Roadmap\n\n- [ ] **Phase 2: API** - a\n- [ ] **Phase 3: UI** - u\n\n### Phase 2: API\n**Goal**: g\n\n\
         ### Phase 3: UI\n**Goal**: g\n**Depends on**: Phase 2\n",
    );
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    context
}

/// Makes a call in a session of the host, so many hours after the first.
fn call(context: &TestContext, session: &str, hours: i64, words: &[&str]) -> Ran {
    let now = (1_790_000_000_000 + hours * 3_600_000).to_string();
    let variables = [("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", now.as_str()), ("CLAUDE_CODE_SESSION_ID", session)];
    context.gsd_with(words, &variables, "")
}

fn config(context: &TestContext) -> Value {
    serde_json::from_str(&context.read(CONFIG)).unwrap()
}

#[test]
fn every_stop_puts_back_what_the_start_changed_and_nothing_else_of_the_file_changes() {
    for before in [
        "{}\n",
        "{\n  \"mode\": \"interactive\",\n  \"workflow\": { \"auto_advance\": false, \"research\": true }\n}",
        "{\"mode\":\"yolo\",\"workflow\":{\"auto_advance\":true},  \"zzz\":  [1,2]}",
    ] {
        let context = project(before);
        let started = call(&context, "s-1", 0, &["yolo", "start"]).json();
        assert_eq!((&started["active"], &started["start_phase"]), (&true.into(), &"2".into()), "{started:#}");
        assert_eq!(started["command"], "discuss-phase 2 --auto");
        let running = config(&context);
        assert_eq!((&running["mode"], &running["workflow"]["auto_advance"]), (&"yolo".into(), &true.into()));
        assert_eq!(running["workflow"]["yolo"]["start_phase"], "2");
        assert_eq!(context.gsd(["check", "auto-mode", "--pick", "active"]).success(), "true");
        for reason in ["gaps_found", "user_stop"] {
            let stopped = call(&context, "s-1", 1, &["yolo", "stop", "--reason", reason]).json();
            assert_eq!((&stopped["active"], &stopped["stop_condition"]), (&false.into(), &reason.into()));
        }
        let mut after = config(&context);
        after["workflow"].as_object_mut().unwrap().remove("yolo");
        let mut wanted: Value = serde_json::from_str(before).unwrap();
        wanted.as_object_mut().unwrap().entry("workflow").or_insert(json!({}));
        assert_eq!(after, wanted);
        // A stop wins, whatever the file says.
        assert_eq!(context.gsd(["check", "auto-mode", "--pick", "source"]).success(), "stopped");
        // Bytes that are not ours are as they were.
        let text = context.read(CONFIG);
        for part in ["  \"zzz\":  [1,2]", "\"research\": true"].iter().filter(|part| before.contains(**part)) {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn a_mode_that_a_person_sets_meanwhile_stays() {
    let context = project("{\"mode\": \"yolo\"}\n");
    call(&context, "s-1", 0, &["yolo", "start"]).success();
    context.gsd(["config-set", "mode", "interactive"]).success();
    call(&context, "s-1", 1, &["yolo", "stop"]).success();
    assert_eq!(config(&context)["mode"], "interactive");
}

#[test]
fn what_prevents_a_start_is_named_with_its_cure_and_nothing_is_written() {
    let context = project("{}\n");
    let refused = call(&context, "s-1", 0, &["yolo", "start", "--from", "3"]);
    assert!(refused.failure(10).contains("depends on one that is not complete"));
    context.write(".planning/PROJECT.md", "# Shelf, edited\n");
    let refused = call(&context, "s-1", 0, &["yolo", "start"]).failure(10);
    assert!(refused.contains("uncommitted changes") && refused.contains("gsd-tools git uncommitted"), "{refused}");
    context.write(".planning/PROJECT.md", "# Shelf\n");
    std::fs::remove_file(context.project().join(".planning/ROADMAP.md")).unwrap();
    assert!(call(&context, "s-1", 0, &["yolo", "start"]).failure(10).contains("new-project"));
    assert_eq!(context.read(CONFIG), "{}\n");
    assert!(call(&context, "s-1", 0, &["yolo", "stop", "--reason", "bored"]).failure(2).contains("user_stop"));
}

#[test]
fn a_chain_of_another_session_holds_until_it_was_silent_for_long() {
    let context = project("{}\n");
    call(&context, "s-1", 0, &["yolo", "start"]).success();
    let stale =
        |session: &str, hours| call(&context, session, hours, &["init", "yolo"]).json()["yolo"]["stale"].clone();
    assert_eq!(
        (stale("s-2", 1), stale("s-2", 3), stale("s-1", 3), stale("s-1", 25)),
        (false.into(), true.into(), false.into(), true.into())
    );
    // Each workflow of the chain is heard.
    call(&context, "s-1", 2, &["auto-chain", "start"]).success();
    assert_eq!((stale("s-2", 3), stale("s-2", 5)), (false.into(), true.into()));
    let refused = call(&context, "s-2", 3, &["yolo", "start"]).failure(10);
    assert!(refused.contains("another session") && refused.contains("yolo stop --reason crash"), "{refused}");
    // Who knows that it is gone begins at the same phase, and the first values come back.
    call(&context, "s-2", 3, &["yolo", "stop", "--reason", "crash"]).success();
    assert_eq!(config(&context)["workflow"]["yolo"]["stop_condition"], "crash");
    git(&context, &["commit", "--all", "--quiet", "--message=stopped"]);
    let again = call(&context, "s-2", 3, &["yolo", "start", "--no-close"]).json();
    assert_eq!((&again["start_phase"], &again["closes_milestone"]), (&"2".into(), &false.into()));
    git(&context, &["commit", "--all", "--quiet", "--message=running"]);
    // A stale one is taken over by a start.
    assert_eq!(call(&context, "s-3", 9, &["yolo", "start"]).json()["active"], true);
    call(&context, "s-3", 9, &["yolo", "stop"]).success();
    assert!(config(&context).get("mode").is_none(), "{}", context.read(CONFIG));
    // What a person has set since the crash comes back too.
    git(&context, &["commit", "--all", "--quiet", "--message=stopped again"]);
    call(&context, "s-4", 10, &["yolo", "start"]).success();
    context.gsd(["config-set", "mode", "interactive"]).success();
    git(&context, &["commit", "--all", "--quiet", "--message=by hand"]);
    call(&context, "s-5", 20, &["yolo", "start"]).success();
    call(&context, "s-5", 20, &["yolo", "stop"]).success();
    assert_eq!(config(&context)["mode"], "interactive");
    assert_eq!(call(&context, "s-5", 20, &["yolo", "status"]).json()["stop_condition"], "user_stop");
}

#[test]
fn a_status_names_what_to_type_and_a_stop_leaves_nothing_that_prevents_the_next_start() {
    let context = project("{}\n");
    let status = |hours| call(&context, "s-1", hours, &["yolo", "status"]).json();
    assert_eq!(status(0)["next"], "yolo");
    call(&context, "s-1", 0, &["yolo", "start"]).success();
    let running = status(0);
    assert_eq!((&running["next"], &running["blockers"]), (&"yolo status".into(), &json!([])), "{running:#}");
    assert_eq!(running["stop_condition"], Value::Null, "{running:#}");
    // Settings that the chain itself has changed are not what a start could mix up.
    call(&context, "s-1", 0, &["yolo", "stop", "--reason", "gaps_found"]).success();
    let stopped = status(0);
    assert_eq!((&stopped["next"], &stopped["blockers"]), (&"yolo".into(), &json!([])), "{stopped:#}");
    // The reason of a chain that has stopped changes only if one is given.
    call(&context, "s-1", 1, &["yolo", "stop"]).success();
    assert_eq!(status(1)["stop_condition"], "gaps_found");
    call(&context, "s-1", 1, &["yolo", "stop", "--reason", "human_action"]).success();
    assert_eq!(status(1)["stop_condition"], "human_action");
    // A stale one is taken over, and is no longer stale then.
    call(&context, "s-1", 1, &["yolo", "start"]).success();
    let stale = call(&context, "s-2", 9, &["yolo", "status"]).json();
    assert_eq!((&stale["stale"], &stale["next"]), (&true.into(), &"yolo".into()), "{stale:#}");
    assert_eq!(call(&context, "s-2", 9, &["yolo", "start"]).json()["stale"], false);
    call(&context, "s-2", 9, &["yolo", "stop"]).success();
    // With all phases done only the close is left, and then the next milestone.
    context.write(".planning/ROADMAP.md", "# Roadmap\n\n- [x] **Phase 2: API** - a\n\n### Phase 2: API\n**Goal**: g\n");
    let done = call(&context, "s-1", 10, &["yolo", "status", "--text"]).stdout;
    assert!(done.contains("No phase remains: `/gsd-yolo` audits and closes the milestone."), "{done}");
    context.write(".planning/STATE.md", "---\nmilestone: v1.0\nstatus: Awaiting next milestone\n---\n\n# State\n");
    let closed = status(10);
    assert_eq!(closed["next"], "new-milestone", "{closed:#}");
    assert!(closed["blockers"].as_array().unwrap().contains(&"milestone_closed".into()), "{closed:#}");
    let refused = call(&context, "s-1", 10, &["yolo", "start"]).failure(10);
    assert!(refused.contains("the milestone is closed") && refused.contains("/gsd-new-milestone"), "{refused}");
}

#[test]
fn a_stop_puts_back_only_what_a_setting_may_be_and_of_starts_at_once_one_counts() {
    let context = project("{\"mode\": \"interactive\"}\n");
    call(&context, "s-1", 0, &["yolo", "start"]).success();
    // Others can write the file.
    let forged = context.read(CONFIG).replace("\"prev_mode\": \"interactive\"", "\"prev_mode\": \"rm -rf\"");
    assert!(forged.contains("rm -rf"), "{forged}");
    context.write(CONFIG, &forged);
    call(&context, "s-1", 0, &["yolo", "stop"]).success();
    assert!(!context.read(CONFIG).contains("rm -rf"), "{}", context.read(CONFIG));
    let context = project("{}\n");
    let started = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..6)
            .map(|session| {
                let mut command = context.command(binary());
                command.args(["yolo", "start"]).env("CLAUDE_CODE_SESSION_ID", format!("s-{session}"));
                scope.spawn(move || command.output().unwrap().status.success())
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).filter(|started| *started).count()
    });
    assert_eq!(started, 1, "of six starts at once");
}

#[test]
fn a_roadmap_in_which_no_phase_is_found_is_not_taken_to_be_done() {
    let context = project("{}\n");
    context.write(".planning/ROADMAP.md", "# Plan\n\n## Etappe eins\n\nGoodbye\n");
    let status = call(&context, "s-1", 0, &["yolo", "status"]).json();
    assert!(status["blockers"].as_array().unwrap().contains(&"no_phases".into()), "{status:#}");
    assert!(!status["blockers"].as_array().unwrap().contains(&"nothing_remaining".into()), "{status:#}");
    assert_eq!(status["next"], "health");
    let refused = call(&context, "s-1", 0, &["yolo", "start"]).failure(10);
    assert!(refused.contains("no phase is found in ROADMAP.md") && refused.contains("roadmap validate"), "{refused}");
}
