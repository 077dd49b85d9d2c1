//! A run that a person can see: the question before it, its figures while it works, and its report.

use std::process::Stdio;

use serde_json::Value;

use crate::auto::{auto, compile, git, project, report};
use crate::kit::{Ran, TestContext, binary};

/// The flags of the scripted agent.
fn agent() -> String {
    format!("--runner fake --runner-program {}", compile::fake_agent().display())
}

const SHAPE: (&str, &str) = ("FAKE_SHAPE", "2x2");

fn at_a_terminal(context: &TestContext, call: &str, columns: usize, keys: &str) -> String {
    let output = context.at_a_terminal_of(columns, call, &[SHAPE, ("FAKE_ACTOR", "ideal")], keys);
    let shown = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    plain(&shown)
}

/// The text without colours and movements of the cursor.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.push(letter);
            continue;
        }
        if letters.next() == Some('[') {
            letters.by_ref().find(char::is_ascii_alphabetic);
        }
    }
    plain
}

fn landed() -> (TestContext, Value) {
    let context = project();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "ideal");
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let answer = report(&ran);
    (context, answer)
}

fn json(context: &TestContext, words: &[&str]) -> Value {
    context.gsd_with(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), &[], "").json()
}

#[test]
fn a_run_at_a_terminal_shows_what_it_would_do_and_starts_only_with_a_yes() {
    let context = project();
    let brief = context.home().join("brief.md").display().to_string();
    let call = format!("auto run --brief {brief} {}", agent());
    let shown = at_a_terminal(&context, &call, 80, "n");
    for part in
        ["Lands on", "`main`", "Scripted agent", "Paid by", "17 sessions", "no runs", "29 sessions, $25.00", "Stop"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains("nothing was started") && shown.contains("gsd-tools auto run --brief"), "{shown}");
    assert!(!context.project().join(".gsd").exists(), "{shown}");
    assert_eq!(git(&context, &["branch", "--list"]), "* main");
    let shown = at_a_terminal(&context, &call, 80, "y");
    assert!(shown.contains("landed on `main` as"), "{shown}");
    // `--yes` answers the question, and the card is shown all the same.
    let (other, brief) = (project(), brief);
    let shown = at_a_terminal(&other, &format!("auto run --yes --brief {brief} {}", agent()), 80, "");
    assert!(shown.contains("Lands on") && shown.contains("landed on `main` as"), "{shown}");
    assert!(!shown.contains("Proceed"), "{shown}");
}

#[test]
fn a_dry_run_shows_the_same_and_changes_nothing() {
    let context = project();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF", "--dry-run"], "ideal");
    let answer = report(&ran);
    assert_eq!((ran.code, &answer["dry_run"]), (0, &Value::from(true)), "{answer:#}\n{}", ran.stderr);
    let card = &answer["card"];
    assert_eq!((&card["target"], &card["sessions"], &card["most_sessions"]), (&"main".into(), &17.into(), &29.into()));
    assert_eq!((&card["title"], &card["assumed"]), (&"Make a shelf of files".into(), &true.into()), "{card:#}");
    assert!(card["estimate"].is_null() && !context.project().join(".gsd").exists(), "{card:#}");
    let next = answer["stop"]["next"].as_str().unwrap();
    assert!(next.starts_with("gsd-tools auto run --brief"), "{next}");
}

#[test]
fn a_dry_run_of_an_unfinished_run_starts_nothing_either() {
    let context = project();
    auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "2"], "ideal").success();
    let log = || json(&context, &["auto", "log", "--all"])["entries"].as_array().unwrap().len();
    let (before, head) = (log(), git(&context, &["rev-parse", "milestone/M001"]));
    for words in [&["auto", "run", "--dry-run"][..], &["auto", "dispatch", "plan-slice", "M001/S01", "--dry-run"]] {
        let ran = auto(&context, words, "ideal");
        let answer = report(&ran);
        assert_eq!((ran.code, &answer["dry_run"]), (0, &Value::from(true)), "{answer:#}\n{}", ran.stderr);
        assert_eq!(answer["card"]["sessions"], 6, "two tasks that are planned, a plan, and three assumed: {answer:#}");
        assert_eq!((log(), git(&context, &["rev-parse", "milestone/M001"])), (before, head.clone()));
    }
}

#[test]
fn a_dry_run_shows_what_a_repository_brings_and_approves_nothing() {
    let context = project();
    context.write("package.json", r#"{"name": "p", "scripts": {"test": "touch ran"}}"#);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=check"]);
    let brief = context.home().join("brief.md").display().to_string();
    let flags = agent();
    let call = |more: &str| format!("auto run --brief {brief} {flags} {more}");
    let words = |call: &str| call.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let shown = context.gsd_unapproved(words(&call("--dry-run")), &[SHAPE], "");
    assert!(report(&shown)["card"]["runs"].to_string().contains("npm"), "{}\n{}", shown.stdout, shown.stderr);
    let started = context.gsd_unapproved(words(&call("")), &[SHAPE], "");
    assert_eq!(report(&started)["stop"]["cause"], "not-approved", "{}", started.stdout);
    assert!(!context.project().join("ran").exists());
}

#[test]
fn nothing_is_said_about_runs_of_a_repository_that_is_gone() {
    let (context, _) = landed();
    std::fs::remove_dir_all(context.project().join(".git")).unwrap();
    std::fs::remove_dir_all(context.project().join(".gsd")).unwrap();
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=another"]);
    let status = json(&context, &["auto", "status"]);
    assert!(status.get("run").is_none() && status["entries_of_another_repository"] != 0, "{status:#}");
    let report = context.gsd(["auto", "report"]);
    assert!(report.code != 0 && report.stderr.contains("no run was started"), "{}", report.stderr);
}

#[test]
fn the_end_of_a_run_shows_what_landed_and_what_it_took() {
    let (context, answer) = landed();
    let summary = &answer["summary"];
    assert_eq!(summary["closed"], serde_json::json!({"tasks": 4, "phases": 0, "others": 3}), "{summary:#}");
    assert_eq!((&summary["units"], &summary["sessions"]), (&7.into(), &7.into()));
    let landing = &summary["landing"];
    assert_eq!(landing["commit"], answer["landed"]);
    assert!(
        landing["changes"]["files"].as_u64() > Some(4) && landing["checks"] == serde_json::json!([4, 4]),
        "{landing:#}"
    );
    let message = git(&context, &["log", "-1", "--format=%B"]);
    for part in ["- S01: ", "  - T01: ", "  - T02: ", "- S02: ", "GSD-Milestone: M001"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let status = at_a_terminal(&context, "auto status", 80, "");
    assert!(status.contains("landed on `main` as") && status.contains("7 sessions"), "{status}");
}

#[test]
fn a_run_that_stopped_says_what_it_took_and_where_its_work_is() {
    let context = project();
    let brief = context.home().join("brief.md").display().to_string();
    let call = format!("auto run --yes --max-units 3 --brief {brief} {}", agent());
    let shown = at_a_terminal(&context, &call, 80, "");
    for part in
        ["3 units done", "1 task, 2 other units", "3 sessions", "branch `milestone/M001`", "Next  gsd-tools auto run"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_report_has_every_unit_and_loads_nothing() {
    let (context, answer) = landed();
    let page = json(&context, &["auto", "report", "M001"]);
    assert_eq!((&page["state"], page["units"].as_array().unwrap().len()), (&"landed".into(), 7), "{page:#}");
    let ids: Vec<&str> = page["slices"].as_array().unwrap().iter().map(|slice| slice["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["milestone", "S01", "S02"]);
    assert_eq!(page["kinds"][0]["forecast"], 1, "{page:#}");
    let commit = answer["landed"].as_str().unwrap();
    let html = context.gsd(["auto", "report", "--html"]).success();
    assert!(html.contains(&commit[..12]) && html.contains("execute-task"), "{html}");
    for request in ["http://", "https://", "<script", "<img", "@import", "url("] {
        assert!(!html.contains(request), "{request}");
    }
    let markdown = context.gsd(["auto", "report", "--md"]).success();
    assert!(markdown.starts_with("# ") && markdown.contains("M001/S02/T02"), "{markdown}");
    let missing = context.gsd(["auto", "report", "M009"]);
    assert!(missing.code != 0 && missing.stderr.contains("the runs here are M001-"), "{}", missing.stderr);
    let none = project().gsd(["auto", "report"]);
    assert!(none.code != 0 && none.stderr.contains("gsd-tools auto run --brief"), "{}", none.stderr);
}

#[test]
fn a_unit_can_be_explained_compared_and_shown_again() {
    let context = project();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "flaky:1");
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let why = json(&context, &["auto", "why", "m001/s01/t01"]);
    let outcomes: Vec<&str> =
        why["sessions"].as_array().unwrap().iter().map(|session| session["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["refused", "counted"], "{why:#}");
    assert!(why["sessions"][0]["why"].as_str().is_some_and(|why| !why.is_empty()) && why["commit"].is_string());
    let diff = json(&context, &["auto", "diff", "M001/S01"]);
    assert!(diff["diff"].as_str().unwrap().contains("src/s01_t02.txt"), "{diff:#}");
    let raw = context.gsd(["auto", "diff", "M001/S01/T01", "--raw"]).success();
    assert!(raw.starts_with("diff --git ") && !raw.contains("s01_t02"), "{raw}");
    let unknown = context.gsd(["auto", "why", "M001/S09"]);
    assert!(unknown.code != 0 && unknown.stderr.contains("M001/S01/T01"), "{}", unknown.stderr);
    let replay = json(&context, &["auto", "replay"]);
    assert!(
        replay.as_array().unwrap().len() > 20 && replay[0]["text"].as_str().unwrap().contains("on main"),
        "{replay:#}"
    );
    let shown = at_a_terminal(&context, "auto replay --seconds 0", 80, "");
    assert!(shown.contains("does not count") && shown.contains("landed as"), "{shown}");
}

#[test]
fn another_process_follows_a_run_to_its_end() {
    let context = project();
    let none = context.gsd(["auto", "watch", "--once"]);
    assert!(none.code != 0 && none.stderr.contains("no run was started"), "{}", none.stderr);
    let brief = context.home().join("brief.md").display().to_string();
    let flags = agent();
    let mut run = context.command(binary());
    let words = ["auto", "run", "--brief", &brief].into_iter().chain(flags.split(' '));
    run.args(words).env("FAKE_SHAPE", "2x2").env("FAKE_ACTOR", "ideal");
    let mut run = run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The run has begun when its log is there.
    while context.gsd(["auto", "watch", "--once"]).code != 0 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let ran: Ran = context.gsd(["auto", "watch"]);
    assert!(run.wait().unwrap().success());
    let seen = report(&ran);
    assert_eq!(seen["standing"]["stopped"]["cause"], "complete", "{seen:#}");
    assert!(ran.stderr.contains("execute-task M001/S01/T01") && ran.stderr.contains("landed as"), "{}", ran.stderr);
    assert_eq!(seen["units"], serde_json::json!([7, 7]), "{seen:#}");
}

#[test]
fn a_detached_run_outlives_its_call_and_is_watched_by_the_printed_command() {
    let context = project();
    let begun = auto(&context, &["auto", "run", "--brief", "BRIEF", "--detach", "--max-sessions", "9"], "sleeper:300");
    let answer = report(&begun);
    assert_eq!((begun.code, &answer["stop"]["cause"]), (0, &Value::from("detached")), "{answer:#}\n{}", begun.stderr);
    assert_eq!(answer["stop"]["next"], "gsd-tools auto watch", "{answer:#}");
    let status = json(&context, &["auto", "status"]);
    assert_eq!(status["session"]["pid"], answer["detached"]["process"], "{status:#}");
    assert_eq!(status["cost"]["most_sessions"], 9, "its options are those of the call: {status:#}");
    let watched = json(&context, &["auto", "watch"]);
    assert_eq!(watched["standing"]["stopped"]["cause"], "complete", "{watched:#}");
    let output = std::fs::read_to_string(answer["detached"]["output"].as_str().unwrap()).unwrap();
    assert!(output.contains("landed"), "{output}");
    assert_eq!(git(&context, &["rev-list", "--count", "main"]), "2");
}

#[test]
fn an_unfinished_run_continues_detached_without_a_question() {
    let context = project();
    auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "2"], "ideal").success();
    let call = format!("auto run --detach {}", agent());
    let shown = at_a_terminal(&context, &call, 80, "");
    assert!(shown.contains("gsd-tools auto watch") || shown.contains("gsd-tools auto report"), "{shown}");
    assert!(!shown.contains("Proceed"), "{shown}");
    let watched = json(&context, &["auto", "watch"]);
    assert_eq!(watched["standing"]["stopped"]["cause"], "complete", "{watched:#}");
}

#[test]
fn what_sessions_do_and_the_log_are_shown_line_by_line_on_request() {
    let begin = |more: &'static str| {
        let ran = auto(&project(), &["auto", "run", "--brief", "BRIEF", "--max-units", "2", more], "ideal");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr
    };
    let verbose = begin("--verbose");
    assert!(verbose.contains("  tool ") && !verbose.contains("  log: {"), "{verbose}");
    let debug = begin("--debug");
    for part in ["  tool ", "  log: {", "\"event\":\"unit-started\"", "\"event\":\"stopped\""] {
        assert!(debug.contains(part), "{part}: {debug}");
    }
}
