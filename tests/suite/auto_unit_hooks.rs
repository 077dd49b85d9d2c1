//! Hooks before and after units: what runs, how often, and what keeps a run from starting.

use serde_json::{Value, json};

use crate::auto::{compile, git, project, report};
use crate::auto_ways_on::{BEGIN, follow, run, stopped};
use crate::kit::{TestContext, binary};
use crate::scripted;

/// Writes the user's own preferences, whose hooks need no approval.
fn own(context: &TestContext, keys: &str) {
    std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
    std::fs::write(context.home().join(".gsd/PREFERENCES.md"), format!("---\n{keys}---\n")).unwrap();
}

/// Commits the preferences of the project.
fn of_project(context: &TestContext, keys: &str) {
    context.write(".gsd/PREFERENCES.md", &format!("---\n{keys}---\n"));
    git(context, &["add", "--all", "--force"]);
    git(context, &["commit", "--quiet", "--message=preferences"]);
}

fn entries(context: &TestContext, event: &str) -> Vec<Value> {
    let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
    let rows = log["entries"].as_array().unwrap().iter().map(|row| row["entry"].clone());
    rows.filter(|entry| entry["event"] == event).collect()
}

fn sessions(context: &TestContext, kind: &str) -> Vec<String> {
    let started = entries(context, "unit-started").into_iter().filter(|entry| entry["unit"]["kind"] == kind);
    started.map(|entry| entry["unit"]["id"].as_str().unwrap().to_owned()).collect()
}

const BOTH: &str = "post_unit_hooks:\n  - name: review\n    after: [execute-task]\n    prompt: Look at {milestoneId}/{sliceId}/{taskId} again.\n  \
    - name: notify\n    after: [execute-task]\n    command: touch made-{taskId}.txt\n";

#[test]
fn hooks_after_a_unit_run_once_and_what_a_command_changes_is_put_back() {
    let context = project();
    own(&context, BOTH);
    let review = scripted::row("hook *", None, &[json!({ "sh": "echo reviewed >> src/reviews.txt" })]);
    let ran = run(&context, BEGIN, &[review]);
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}\n{}", ran.stdout, ran.stderr);
    let expected = ["M001/S01/T01", "M001/S01/T02", "M001/S02/T01", "M001/S02/T02"];
    assert_eq!(sessions(&context, "hook"), expected.map(|task| format!("{task}/review")));
    let ended = entries(&context, "hook-ended");
    assert_eq!(ended.len(), 4, "{ended:?}");
    assert!(ended.iter().all(|entry| entry["passed"] == true), "{ended:?}");
    let put_back: Vec<&str> = ended.iter().filter_map(|entry| entry["put_back"][0].as_str()).collect();
    assert_eq!(put_back, ["made-T01.txt", "made-T02.txt", "made-T01.txt", "made-T02.txt"]);
    assert_eq!(git(&context, &["show", "main:src/reviews.txt"]).lines().count(), 4);
    assert!(!git(&context, &["ls-tree", "-r", "--name-only", "main"]).contains("made-"));
    // The work of the hook went through the checks of its slice.
    let checked = entries(&context, "checked");
    assert_eq!(checked.len(), 8, "each task, and each session of the hook");
    assert!(checked.iter().all(|entry| entry["evidence"]["passed"] == true), "{checked:#?}");
    assert!(ran.stderr.contains("hook `notify`: passed; put back: made-T01.txt"), "{}", ran.stderr);
}

#[test]
fn sessions_of_hooks_are_forecast_and_a_hook_that_never_runs_is_named() {
    let context = project();
    let late = "  - name: late\n    after: [complete-slice, complete-milestone]\n    prompt: Look.\n";
    own(&context, &format!("{BOTH}{late}"));
    let words = [BEGIN, &["--dry-run", "--shape", "4x3"]].concat();
    let ran = scripted::run(&context, &words, &[], &[("FAKE_SHAPE", "4x3")]);
    let card = report(&ran)["card"].clone();
    assert_eq!(card["sessions"], 17 + 12, "{card:#}");
    assert!(card["most_sessions"].as_u64().unwrap() > 40, "{card:#}");
    let named = ran.stderr.contains("hook `late`; its units are done without a session");
    assert!(named && !ran.stderr.contains("`review`"), "{}", ran.stderr);
}

#[test]
fn a_hook_whose_work_breaks_a_check_does_not_count_and_an_artifact_skips_it() {
    let context = project();
    own(
        &context,
        "post_unit_hooks:\n  - name: review\n    after: [execute-task]\n    prompt: Look.\n    artifact: docs/{taskId}.md\n",
    );
    let breaks =
        scripted::row("hook M001/S01/T01/review", Some(1), &[json!({ "sh": "echo broken > src/s01_t01.txt" })]);
    let writes = scripted::row(
        "hook *",
        None,
        &[json!({ "sh": "mkdir -p docs; echo fine > docs/$(basename $(dirname $GSD_UNIT_ID)).md" })],
    );
    let ran = run(&context, BEGIN, &[breaks, writes]);
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(entries(&context, "refused").len(), 1, "{}", ran.stderr);
    assert_eq!(git(&context, &["show", "main:src/s01_t01.txt"]), "S01 T01 ready");
    // Both slices have the same names of tasks, so the artifacts of the second one were there.
    let done = sessions(&context, "hook");
    assert_eq!(done, ["M001/S01/T01/review", "M001/S01/T01/review", "M001/S01/T02/review"]);
    assert_eq!(entries(&context, "hook-ended").iter().filter(|entry| entry["skipped"] == true).count(), 2);
}

#[test]
fn a_command_that_fails_stops_the_run_and_the_printed_command_continues() {
    for (key, kind, list) in
        [("after", "execute-task", "post_unit_hooks"), ("before", "execute-task", "pre_dispatch_hooks")]
    {
        let context = project();
        own(&context, &format!("{list}:\n  - name: gate\n    {key}: [{kind}]\n    command: sh -c \"cat ready.txt\"\n"));
        let ran = run(&context, BEGIN, &[]);
        let stop = stopped(&ran, "hook-failed");
        assert!(ran.code == 10 && stop["text"].as_str().unwrap().contains("ended with exit code 1"), "{stop:#}");
        assert!(stop["evidence"].to_string().contains("ready.txt: No such file"), "{stop:#}");
        std::fs::write(context.project().join(".gsd/worktrees/M001/ready.txt"), "yes\n").unwrap();
        let causes = follow(&context, &stop, |line| run(&context, line, &[]));
        assert_eq!(causes, ["hook-failed"], "{key}");
        let ended = entries(&context, "hook-ended");
        assert_eq!(ended.iter().filter(|entry| entry["passed"] == true).count(), 4, "{key}: {ended:#?}");
        assert_eq!(ended.len(), 5, "{key}");
    }
}

#[test]
fn text_is_added_to_the_prompt_of_its_units_only() {
    let context = project();
    own(
        &context,
        "pre_dispatch_hooks:\n  - name: style\n    before: [plan-milestone]\n    action: modify\n    prepend: Read first.\n    append: Plan {milestoneId} small.\n",
    );
    let ran = run(&context, &[BEGIN, &["--max-units", "2"]].concat(), &[]);
    stopped(&ran, "units-done");
    let started = entries(&context, "unit-started");
    let size = |kind: &str| {
        let found = started.iter().find(|entry| entry["unit"]["kind"] == kind).unwrap();
        found["prompt_bytes"].as_u64().unwrap()
    };
    assert!(size("plan-milestone") > 0 && size("discuss-milestone") > 0);
    let bare = project();
    stopped(&run(&bare, &[BEGIN, &["--max-units", "2"]].concat(), &[]), "units-done");
    let plain = entries(&bare, "unit-started");
    let of = |kind: &str| {
        plain.iter().find(|entry| entry["unit"]["kind"] == kind).unwrap()["prompt_bytes"].as_u64().unwrap()
    };
    // The folders of the two projects have names of the same length.
    assert_eq!(size("discuss-milestone"), of("discuss-milestone"));
    assert_eq!(size("plan-milestone") - of("plan-milestone"), "Read first.\n\n\nPlan M001 small.\n".len() as u64);
}

#[test]
fn hooks_that_cannot_be_followed_keep_a_run_from_starting() {
    let context = project();
    of_project(
        &context,
        "post_unit_hooks:\n  - name: a\n    after: [execute-task]\n    prompt: x\n    command: y\n  - after: [execute-task]\n    prompt: x\n  \
         - name: c\n    after: [sing]\n    prompt: x\n  - name: d\n    after: [execute-task]\n    command: a | b\npre_dispatch_hooks:\n  - name: e\n    \
         before: [plan-slice]\n    action: skip\n",
    );
    let ran = run(&context, BEGIN, &[]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    for line in [
        "`.gsd/PREFERENCES.md` line 3: in `post_unit_hooks`: hook `a`: exactly one of `prompt` and `command`",
        "line 7: in `post_unit_hooks`: a hook has no `name`",
        "line 9: in `post_unit_hooks`: hook `c`: `sing` is not a kind of unit",
        "line 12: in `post_unit_hooks`: hook `d`: ",
        "line 16: in `pre_dispatch_hooks`: hook `e`: `action: skip` is not followed, since a unit that does not run is not proved",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    for (key, why) in
        [("model: big", "all sessions"), ("agent: x", "without agents"), ("retry_on: A.md", "not taken back")]
    {
        own(&context, "");
        of_project(
            &context,
            &format!("post_unit_hooks:\n  - name: a\n    after: [execute-task]\n    prompt: x\n    {key}\n"),
        );
        let ran = run(&context, BEGIN, &[]);
        assert!(ran.code == 64 && ran.stderr.contains(why), "{key}: {}", ran.stderr);
    }
    assert!(entries(&context, "started").is_empty());
}

#[test]
fn hooks_of_a_project_run_only_with_an_approval() {
    let context = project();
    let command = "post_unit_hooks:\n  - name: notify\n    after: [plan-milestone]\n    command: sh tools/notify.sh\n";
    of_project(&context, command);
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
    let mut call = context.command(binary());
    call.args(words).env("FAKE_SHAPE", "1x1").env("FAKE_ACTOR", "ideal").env_remove("GSD_APPROVED");
    let output = call.output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["stop"]["cause"], "not-approved", "{said:#}");
    let listed = "hook notify after plan-milestone: sh tools/notify.sh";
    assert!(said["stop"]["evidence"].to_string().contains(listed), "{said:#}");
    assert!(entries(&context, "started").is_empty());
    let dry = run(&context, &[BEGIN, &["--dry-run"]].concat(), &[]);
    assert!(dry.stdout.contains(listed) || dry.stderr.contains(listed), "{}\n{}", dry.stdout, dry.stderr);
}

#[test]
fn a_hook_that_was_killed_runs_again_and_one_that_ended_does_not() {
    let context = project();
    let (marker, script) = (context.temporary().join("marker"), context.temporary().join("wait.sh"));
    std::fs::write(&script, format!("test -e {} || sleep 60\n", marker.display())).unwrap();
    own(
        &context,
        &format!(
            "post_unit_hooks:\n  - name: first\n    after: [plan-milestone]\n    command: touch left.txt\n  - name: second\n    after: \
         [plan-milestone]\n    command: sh {}\n",
            script.display()
        ),
    );
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
    let mut first = context.command(binary());
    first.args(words).env("FAKE_SHAPE", "1x1").env("FAKE_ACTOR", "ideal");
    first.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut first = first.spawn().unwrap();
    let began = std::time::Instant::now();
    while entries(&context, "hook-started").len() < 2 {
        assert!(began.elapsed().as_secs() < 120);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    std::fs::write(&marker, "").unwrap();
    std::fs::write(context.project().join(".gsd/worktrees/M001/half.txt"), "of the command\n").unwrap();
    let ran = run(&context, &["auto", "run"], &[]);
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}\n{}", ran.stdout, ran.stderr);
    let ended = entries(&context, "hook-ended");
    let passed = |name: &str| ended.iter().filter(|entry| entry["hook"] == name && entry["passed"] == true).count();
    assert_eq!((passed("first"), passed("second")), (1, 1), "{ended:#?}");
    assert!(!git(&context, &["ls-tree", "-r", "--name-only", "main"]).contains("half.txt"), "it is put back");
}
