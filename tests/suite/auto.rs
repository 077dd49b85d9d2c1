//! A milestone from a brief to the branch it lands on, with a scripted agent instead of a client.

#[path = "../fake_agent/compile.rs"]
pub(crate) mod compile;

use std::path::Path;

use serde_json::Value;

use crate::kit::{Ran, TestContext, repository};

/// A repository with one commit and a brief.
pub(crate) fn project() -> TestContext {
    let context = TestContext::new();
    context.write("README.md", "# P\n");
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    std::fs::write(context.home().join("brief.md"), "Make a shelf of files.\n").unwrap();
    context
}

pub(crate) fn git(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes a call with an agent that behaves like this actor.
pub(crate) fn auto(context: &TestContext, words: &[&str], actor: &str) -> Ran {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = words.iter().map(|word| if *word == "BRIEF" { brief.clone() } else { (*word).to_owned() });
    let flags = ["--runner", "fake", "--runner-program", &agent].map(str::to_owned);
    let words: Vec<String> = words.chain(flags).collect();
    context.gsd_with(words, &[("FAKE_SHAPE", "2x2"), ("FAKE_ACTOR", actor)], "")
}

pub(crate) fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.stdout, ran.stderr))
}

#[test]
fn a_brief_becomes_a_milestone_that_lands_and_leaves_nothing_else() {
    let context = project();
    context.write("mine.txt", "not committed\n");
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "ideal");
    let report = report(&ran);
    assert_eq!((ran.code, &report["stop"]["cause"]), (0, &Value::from("complete")), "{report:#}\n{}", ran.stderr);
    assert_eq!(report["sessions"], 7);
    assert_eq!(git(&context, &["rev-parse", "main"]), report["landed"].as_str().unwrap());
    assert_eq!(git(&context, &["rev-list", "--count", "main"]), "2", "one commit");
    assert_eq!(git(&context, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&context, &["branch", "--list"]), "* main");
    assert_eq!(git(&context, &["status", "--porcelain"]), "?? mine.txt");
    assert!(context.read(".gsd/milestones/M001/M001-SUMMARY.md").contains("status: complete"));
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!((&status["phase"], &status["cost"]["sessions"]), (&Value::from("complete"), &Value::from(7)));
}

#[test]
fn a_run_stops_after_a_unit_and_continues_from_there() {
    let context = project();
    let first = auto(&context, &["auto", "next", "--brief", "BRIEF"], "ideal");
    assert_eq!((first.code, &report(&first)["stop"]["cause"]), (0, &Value::from("units-done")), "{}", first.stderr);
    assert!(context.gsd(["auto", "pause"]).failure(1).contains("no process runs"));
    let rules = context.gsd(["auto", "rules", "--explain"]).json();
    assert!(rules.as_array().unwrap().iter().any(|row| row["matched"] == true), "{rules:#}");
    let plan = context.gsd(["auto", "plan", "--shape", "2x2"]).json();
    assert_eq!(plan["sessions"], 6, "{plan:#}");
    let rest = auto(&context, &["auto", "run"], "ideal");
    assert_eq!((rest.code, &report(&rest)["sessions"]), (0, &Value::from(7)), "{}", rest.stderr);
    context.gsd(["auto", "stop"]).failure(1);
}

#[test]
fn an_agent_that_only_says_it_is_done_stops_the_run_and_nothing_lands() {
    for actor in ["lazy", "liar", "standby", "silent", "two-faced"] {
        let context = project();
        let before = git(&context, &["rev-parse", "main"]);
        let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], actor);
        let report = report(&ran);
        assert_ne!(report["stop"]["cause"], "complete", "{actor}: {report:#}");
        assert!([10, 11, 12].contains(&ran.code), "{actor}: {}", ran.code);
        assert_eq!(git(&context, &["rev-parse", "main"]), before, "{actor}");
    }
}

/// The key that the scripted agents leak.
const KEY: &str = concat!("ghp_", "0123456789abcdefABCDEF");

/// Everything that runs have written about themselves in the state folder.
fn written_about_runs(context: &TestContext) -> String {
    let mut folders = vec![context.home().join(".local/state")];
    let mut texts = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                texts += &String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap());
            }
        }
    }
    texts
}

#[test]
fn a_task_that_adds_a_key_is_refused_with_its_place_and_lands_without_it() {
    let context = project();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "leaker:1");
    let report = report(&ran);
    assert_eq!((ran.code, &report["stop"]["cause"]), (0, &Value::from("complete")), "{report:#}\n{}", ran.stderr);
    let refused = "does not count: src/settings.txt:2: this line holds what looks like a key (ghp_)";
    assert_eq!(ran.stderr.matches(refused).count(), 4, "once for each task: {}", ran.stderr);
    assert_eq!(git(&context, &["show", "main:src/settings.txt"]), "# Settings");
    assert!(git(&context, &["log", "--format=%H", "-S", KEY, "main"]).is_empty(), "in no commit that landed");
    let written = written_about_runs(&context);
    assert!(written.contains("this line holds what looks like a key") && !written.contains(KEY));
    assert!(!ran.stderr.contains(KEY) && !ran.stdout.contains(KEY));
}

#[test]
fn a_key_that_stays_stops_the_run_until_a_person_allows_its_file() {
    let context = project();
    let before = git(&context, &["rev-parse", "main"]);
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "leaker");
    let stopped = report(&ran);
    assert_eq!(ran.code, 12, "{stopped:#}");
    assert_eq!(git(&context, &["rev-parse", "main"]), before);
    let evidence = stopped["stop"]["evidence"].to_string();
    assert!(evidence.contains("src/settings.txt:2: this line holds what looks like a key (ghp_)"), "{evidence}");
    assert!(evidence.contains("if it is not a key: `gsd-tools auto run --allow-key src/settings.txt`"), "{evidence}");
    assert!(!stopped.to_string().contains(KEY), "{stopped:#}");
    // Allowed once, it stays allowed in the calls that continue the run, and when the run lands.
    let words = ["auto", "run", "--allow-key", "src/settings.txt", "--max-units", "1"];
    let allowed = auto(&context, &words, "leaker");
    assert_eq!(report(&allowed)["stop"]["cause"], "units-done", "{}", allowed.stderr);
    let rest = auto(&context, &["auto", "run"], "leaker");
    assert_eq!((rest.code, &report(&rest)["stop"]["cause"]), (0, &Value::from("complete")), "{}", rest.stderr);
    assert!(git(&context, &["show", "main:src/settings.txt"]).contains(KEY));
}

#[test]
fn a_plan_with_a_key_is_undone() {
    let context = project();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "note-taker");
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &Value::from("complete")), "{}", ran.stderr);
    assert!(ran.stderr.contains("-ROADMAP.md:1: this line holds what looks like a key (ghp_)"), "{}", ran.stderr);
    assert!(git(&context, &["log", "--format=%H", "-S", KEY, "main"]).is_empty(), "in no commit that landed");
}

#[test]
fn a_merge_with_a_key_does_not_land_even_if_a_person_wrote_it() {
    let context = project();
    let before = git(&context, &["rev-parse", "main"]);
    let first = auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "3"], "ideal");
    assert_eq!(report(&first)["stop"]["cause"], "units-done", "{}", first.stderr);
    // A person edits the worktree between two units.
    let settings = context.project().join(".gsd/worktrees/M001/settings.txt");
    std::fs::write(&settings, format!("token = {KEY}\n")).unwrap();
    let ran = auto(&context, &["auto", "run"], "ideal");
    let stopped = report(&ran);
    assert_eq!(
        (ran.code, &stopped["stop"]["cause"]),
        (12, &Value::from("secret-added")),
        "{stopped:#}\n{}",
        ran.stderr
    );
    assert!(stopped["stop"]["text"].as_str().unwrap().contains(".gsd/worktrees/M001"), "{stopped:#}");
    let evidence = stopped["stop"]["evidence"].to_string();
    assert!(evidence.contains("settings.txt:1: ") && evidence.contains("--allow-key settings.txt"), "{evidence}");
    assert!(!stopped.to_string().contains(KEY) && !ran.stderr.contains(KEY));
    assert_eq!(git(&context, &["rev-parse", "main"]), before);
    std::fs::write(&settings, "token = $TOKEN\n").unwrap();
    let rest = auto(&context, &["auto", "run"], "ideal");
    assert_eq!((rest.code, &report(&rest)["stop"]["cause"]), (0, &Value::from("complete")), "{}", rest.stderr);
    assert_eq!(git(&context, &["show", "main:settings.txt"]), "token = $TOKEN");
}

#[test]
fn the_content_of_a_worktree_is_kept_for_30_days_and_removed_by_the_first_run_after_that() {
    let context = project();
    auto(&context, &["auto", "run", "--brief", "BRIEF"], "ideal").success();
    let kept = || git(&context, &["for-each-ref", "--format=%(refname)", "refs/gsd/keep"]);
    let first = kept();
    assert!(first.contains("/milestone-M001/head-"), "{first}");
    std::fs::write(context.home().join("brief.md"), "Make a second shelf.\n").unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let after = |days: u64| {
        let agent = compile::fake_agent().to_string_lossy().into_owned();
        let brief = context.home().join("brief.md").to_string_lossy().into_owned();
        let words = ["auto", "next", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
        let then = ((now + days * 24 * 60 * 60) * 1000).to_string();
        let clock = [("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", then.as_str()), ("FAKE_ACTOR", "lazy")];
        context.gsd_with(words, &clock, "").stderr
    };
    let told = "Removed from `refs/gsd/keep/`, kept for 30 days: ";
    let early = after(29);
    assert!(!early.contains("refs/gsd/keep") && kept() == first, "{early}");
    let late = after(32);
    assert!(late.lines().any(|line| line.starts_with(told) && line.contains("milestone-M001")), "{late}");
    assert_eq!(kept(), "");
    let again = after(33);
    assert!(!again.contains("refs/gsd/keep"), "{again}");
}

#[test]
fn a_weakened_test_is_shown_with_how_to_allow_it() {
    let context = project();
    context.write("tests/test_a.py", "def test_a():\n    assert f(1) == 2\n");
    // The project's check has to run before the first session.
    context.write("pytest.py", "print('1 passed in 0.01s')\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=test"]);
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "cheater");
    let report = report(&ran);
    assert_eq!(ran.code, 12, "{report:#}\n{}", ran.stderr);
    let evidence = report["stop"]["evidence"].to_string();
    assert!(evidence.contains("tests/test_a.py:2: "), "{evidence}");
    assert!(evidence.contains("`Allowed test changes: tests/test_a.py (WHY)`"), "{evidence}");
    assert!(evidence.contains("gsd-tools auto verdict M001/S01/T01 pass"), "{evidence}");
}

#[test]
fn a_check_that_needs_a_shell_is_reported_with_what_to_do() {
    let context = project();
    context.write(".gsd/PREFERENCES.md", "---\nverification_commands:\n  - \"true | cat\"\n---\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=preferences"]);
    let ran = auto(&context, &["auto", "next", "--brief", "BRIEF"], "ideal");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = auto(&context, &["auto", "run"], "ideal");
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &Value::from("complete")), "{}", ran.stderr);
    let told =
        "`true | cat` is not run as a check: it has `|`, which needs a shell; put it into a script of the project";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn what_keeps_a_run_from_starting_is_reported_with_a_fix() {
    let context = TestContext::new();
    std::fs::write(context.home().join("brief.md"), "Make it.\n").unwrap();
    assert!(auto(&context, &["auto", "run", "--brief", "BRIEF"], "ideal").failure(1).contains("git init"));
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    assert!(auto(&context, &["auto", "run", "--brief", "BRIEF"], "ideal").failure(1).contains("commit"));
    let context = project();
    assert!(auto(&context, &["auto", "run"], "ideal").failure(1).contains("--brief"));
    context.write(".gsd/milestones/M001/M001-CONTEXT.md", "# M001: Shelf\n");
    assert!(auto(&context, &["auto", "run"], "ideal").failure(1).contains("not committed"));
    git(&context, &["checkout", "--quiet", "--detach"]);
    assert!(auto(&context, &["auto", "run", "--brief", "BRIEF"], "ideal").failure(1).contains("detached"));
}

#[test]
fn the_table_of_session_counts_has_the_published_counts_too() {
    let context = TestContext::new();
    let table = context.gsd(["auto", "sim", "--table"]).json();
    let row = &table["rows"][2];
    assert_eq!((&row["shape"], &row["simple"], &row["classic"][0]), (&"4x3".into(), &16.into(), &30.into()));
    assert_eq!(context.gsd(["auto", "sim", "--shape", "6x4", "--no-inline-s01"]).json()["sessions"], 31);
    assert_eq!(context.gsd(["auto", "rules", "--pipeline", "simple"]).json().as_array().unwrap().len(), 12);
    assert_eq!(context.gsd(["auto", "rules", "--pipeline", "classic"]).json().as_array().unwrap().len(), 20);
}

/// A repository with a copy of `tests/projects/shelf`, which has milestones at each step.
fn shelf() -> TestContext {
    let context = TestContext::new();
    copy(&repository().join("tests/projects/shelf"), &context.project());
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    context
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

#[test]
fn what_a_person_orders_is_written_to_the_deciding_documents() {
    let context = shelf();
    let phase = || context.gsd(["auto", "status"]).json()["phase"].as_str().unwrap().to_owned();
    assert_eq!(phase(), "summarizing");
    context.gsd(["auto", "verdict", "M001/S01/T02", "fail", "--rationale", "it hangs"]).success();
    assert!(context.read(".gsd/milestones/M001/slices/S01/tasks/T02-VERIFY.json").contains("it hangs"));
    assert_eq!(phase(), "executing");
    context.gsd(["auto", "verdict", "M001/S01/T02", "pass", "--rationale", "it does not"]).success();
    let closed = context.gsd(["auto", "complete-slice", "m001/s01"]).json();
    assert_eq!(closed["already_complete"], false, "{closed:#}");
    assert_eq!(context.gsd(["auto", "complete-slice", "M001/S01"]).json()["already_complete"], true);
    let next = context.gsd(["auto", "status", "--pick", "next.stop.next"]).success();
    assert_eq!((phase().as_str(), next.trim()), ("escalating-task", "gsd-tools auto answer M001/S02/T01 b"));
    assert!(context.gsd(["auto", "answer", "M001/S02/T01", "c"]).failure(1).contains("`a`, `b`"));
    context.gsd(["auto", "answer", "M001/S02/T01", "b"]).success();
    assert_eq!(phase(), "executing");
    context.write(".gsd/milestones/M001/slices/S02/tasks/T01-SUMMARY.md", "---\nid: T01\n---\n# T01: A\n\n**done**\n");
    let other = context.gsd(["auto", "answer", "M001/S02/T01", "a"]).failure(1);
    assert!(other.contains("is done with `b`") && other.contains("auto steer"), "{other}");
    std::fs::remove_file(context.project().join(".gsd/milestones/M001/slices/S02/tasks/T01-SUMMARY.md")).unwrap();
    let late = ["auto", "verdict", "M001/S01/T02", "fail", "--rationale", "it hangs"];
    assert!(context.gsd(late).failure(1).contains("auto steer"), "its slice is complete");
    context.gsd(["auto", "steer", "keep", "one", "file"]).success();
    assert_eq!(context.gsd(["auto", "status", "--pick", "next.unit_type"]).success().trim(), "rewrite-docs");
    context.gsd(["auto", "park", "M001", "--why", "later"]).success();
    assert_eq!(context.gsd(["auto", "status", "--pick", "active.milestone"]).success().trim(), "M002");
    context.gsd(["auto", "unpark", "M001"]).success();
    assert_eq!(context.gsd(["auto", "validate", "M002"]).code, 0);
    assert_eq!(context.gsd(["auto", "complete-milestone", "M003"]).json()["already_complete"], false);
    let known = context.gsd(["auto", "record", "knowledge", "rule", "One file", "--why", "asked for"]).json();
    assert_eq!(known["recorded"], true);
    // The agent of a unit may decide none of this.
    let call = ["auto", "verdict", "M002", "pass", "--rationale", "I say so"];
    let refused = context.gsd_with(call, &[("GSD_UNIT_ID", "M001/S01/T01")], "").failure(77);
    assert!(refused.contains("needs a person"), "{refused}");
    let empty = TestContext::new();
    assert!(empty.gsd(["auto", "steer", "x"]).failure(1).contains("--brief"));
    assert!(!empty.project().join(".gsd").exists());
}

#[test]
fn the_prompt_of_an_agent_can_be_shown_without_a_run() {
    let context = shelf();
    let prompt = context.gsd(["auto", "prompt", "execute", "M001/S02/T01"]).json();
    assert_eq!(prompt["unit"]["kind"], "execute-task");
    assert_eq!(prompt["expected"][0], ".gsd/milestones/M001/slices/S02/tasks/T01-SUMMARY.md", "{prompt:#}");
    assert!(prompt["bytes"].as_u64().unwrap() <= 12 * 1024);
    let text = context.gsd(["auto", "prompt", "plan-slice", "M001/S02", "--raw"]).success();
    assert!(text.contains("RB-REASSESS") && text.trim_end().ends_with("gsd-unit: plan-slice M001/S02"), "{text}");
    assert!(context.gsd(["auto", "prompt", "plan", "M009/S01"]).failure(1).contains("M009"));
    assert!(context.gsd(["auto", "prompt", "dance"]).failure(1).contains("auto dispatch"));
    let discuss = context.gsd(["auto", "discuss", "M004", "--raw"]).success();
    assert!(discuss.contains("The\nuser is here: ask."), "{discuss}");
    let section = context.gsd(["auto", "context", "M001/S02", "--section", "Success Criteria", "--raw"]).success();
    assert!(section.contains("a note that was kept is found again"), "{section}");
    assert!(context.gsd(["auto", "context", "M001/S02", "--section", "Nowhere"]).failure(1).contains("Slices"));
    let near = context.gsd(["auto", "context", "M001/S02", "--section", "Succes Criteria"]).failure(1);
    assert!(near.contains("did you mean `Success Criteria`?"), "{near}");
}

#[test]
fn a_requested_unit_runs_by_itself_and_is_in_the_log() {
    let context = project();
    auto(&context, &["auto", "next", "--brief", "BRIEF"], "ideal").success();
    auto(&context, &["auto", "next"], "ideal").success();
    let again = auto(&context, &["auto", "dispatch", "execute-task", "M001/S01/T01"], "ideal");
    assert_eq!((again.code, &report(&again)["stop"]["cause"]), (0, &Value::from("units-done")), "{}", again.stderr);
    let log = context.gsd(["auto", "log", "m001/s01/t01"]).json();
    let told: Vec<&str> = log["entries"].as_array().unwrap().iter().filter_map(|row| row["text"].as_str()).collect();
    assert!(told.contains(&"execute-task M001/S01/T01"), "{log:#}");
    let stream = log["activity"][0].as_str().unwrap();
    assert!(stream.ends_with("execute-task-M001-S01-T01.jsonl") && Path::new(stream).is_file(), "{log:#}");
    // An agent that only claims that it replanned does not count.
    let lazy = auto(&context, &["auto", "dispatch", "replan", "M001/S01"], "lazy");
    assert_ne!(lazy.code, 0, "{}", lazy.stdout);
}

#[test]
fn rules_explain_why_they_do_not_apply_and_change_nothing() {
    let context = project();
    auto(&context, &["auto", "next", "--brief", "BRIEF"], "ideal").success();
    let notes = context.home().join("state");
    let state = |folder: &std::path::Path| {
        let mut files = Vec::new();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
                // Git writes its index when asked for the status, which this test does.
                if entry.file_type().unwrap().is_dir() && entry.file_name() != ".git" {
                    folders.push(entry.path());
                } else if entry.file_name() != ".git" {
                    files.push((entry.path(), entry.metadata().unwrap().modified().unwrap()));
                }
            }
        }
        files.sort();
        files
    };
    let before = (state(&context.project()), state(&notes), git(&context, &["status", "--porcelain"]));
    for pipeline in ["simple", "classic"] {
        let rules = context.gsd(["auto", "rules", "--explain", "--pipeline", pipeline]).json();
        let rules = rules.as_array().unwrap();
        assert_eq!(rules.iter().filter(|row| row["matched"] == true).count(), 1, "{rules:#?}");
        for row in rules {
            assert!(row["matched"].is_boolean() && !row["why"].as_str().unwrap_or_default().is_empty(), "{row:#}");
        }
    }
    assert_eq!((state(&context.project()), state(&notes), git(&context, &["status", "--porcelain"])), before);
}

#[test]
fn of_eight_calls_at_once_one_starts_a_session() {
    use std::process::Stdio;
    let context = project();
    let agent = compile::fake_agent();
    let call = || {
        let mut command = context.command(crate::kit::binary());
        command.args(["auto", "next", "--brief"]).arg(context.home().join("brief.md"));
        command.args(["--runner", "fake", "--runner-program"]).arg(agent);
        command.env("FAKE_ACTOR", "hang").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut calls: Vec<_> = (0..8).map(|_| call()).collect();
    // The one that has the lock waits for its agent, which never ends.
    let mut codes = Vec::new();
    while codes.len() < 7 {
        let ended = calls.iter_mut().position(|call| call.try_wait().unwrap().is_some());
        match ended {
            Some(index) => codes.push(calls.remove(index).wait_with_output().unwrap()),
            None => std::thread::sleep(std::time::Duration::from_millis(20)),
        }
    }
    for ended in &codes {
        assert_eq!(ended.status.code(), Some(75), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let winner = calls.pop().unwrap();
    while context.gsd(["auto", "status"]).json()["cost"]["sessions"] != 1 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    context.gsd(["auto", "stop", "--now"]).success();
    assert_eq!(winner.wait_with_output().unwrap().status.code(), Some(11));
    assert_eq!(context.gsd(["auto", "status"]).json()["cost"]["sessions"], 1);
}

#[test]
fn an_order_for_the_first_milestone_is_followed_and_the_run_continues() {
    let context = project();
    let first = auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "3"], "ideal");
    assert_eq!(report(&first)["stop"]["cause"], "units-done", "{}", first.stderr);
    // Its documents are only in the worktree of the run.
    assert!(!context.project().join(".gsd/milestones").exists());
    let verdict = ["auto", "verdict", "M001/S01/T01", "pass", "--rationale", "looked at it"];
    assert_eq!(context.gsd(verdict).json()["updated"], true);
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!(
        (&status["session"]["lock"], &status["next"]["action"]),
        (&"free".into(), &"commit".into()),
        "{status:#}"
    );
    context.gsd(["auto", "log"]).success();
    let rest = auto(&context, &["auto", "run"], "ideal");
    assert_eq!((rest.code, &report(&rest)["stop"]["cause"]), (0, &Value::from("complete")), "{}", rest.stderr);
}

#[test]
fn the_status_of_a_run_shows_whether_a_process_runs_it() {
    let context = project();
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let mut run = context.command(crate::kit::binary());
    run.args(["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent]);
    run.env("FAKE_SHAPE", "2x2").env("FAKE_ACTOR", "ideal").env("FAKE_PAUSE_MS", "600000");
    run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut run = run.spawn().unwrap();
    let status = || context.gsd(["auto", "status"]).json();
    let began = std::time::Instant::now();
    while status()["next"]["action"] != "running" {
        assert!(began.elapsed().as_secs() < 120, "{:#}", status());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let seen = status();
    assert_eq!((&seen["session"]["lock"], &seen["session"]["pid"]), (&"held".into(), &run.id().into()), "{seen:#}");
    context.gsd(["auto", "pause", "--now"]).success();
    run.wait().unwrap();
    assert_eq!(status()["session"]["stop"]["cause"], "paused");
    // A session that a person ended does not end the next call too.
    let rest = auto(&context, &["auto", "run"], "ideal");
    assert_eq!((rest.code, &report(&rest)["stop"]["cause"]), (0, &Value::from("complete")), "{}", rest.stderr);
}

#[test]
fn a_task_that_finds_its_plan_untrue_has_the_slice_planned_again() {
    let context = project();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "untrue:S01/T01");
    let report = report(&ran);
    assert_eq!((ran.code, &report["stop"]["cause"]), (0, &Value::from("complete")), "{report:#}\n{}", ran.stderr);
    assert!(ran.stderr.contains("the task is blocked: The shelf has no room for"), "{}", ran.stderr);
    assert!(ran.stderr.contains("replan-slice M001/S01") && !ran.stderr.contains("does not count"), "{}", ran.stderr);
    assert!(!context.project().join("src/s01_t01.txt").exists());
    assert!(context.read(".gsd/milestones/M001/slices/S01/S01-REPLAN.md").contains("Replan"));
}

#[test]
fn a_slice_whose_last_task_is_blocked_is_planned_again_before_it_is_closed() {
    for actor in ["untrue:S01/T02", "blocker:S01/T02"] {
        let context = project();
        // The check of the project passes, whatever the task did.
        std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
        let own = "---\nverification_commands: [test -f README.md]\n---\n";
        std::fs::write(context.home().join(".gsd/PREFERENCES.md"), own).unwrap();
        let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], actor);
        let order = ["execute-task M001/S01/T02", "replan-slice M001/S01", "complete-slice"];
        let places: Vec<_> = order.iter().map(|words| ran.stderr.find(words)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{actor}: {places:?}\n{}", ran.stderr);
        assert!(git(&context, &["ls-files"]).contains("S01-REPLAN.md"), "{}", ran.stderr);
    }
}

#[test]
fn a_task_that_asks_stops_with_the_question_and_continues_with_the_answer() {
    let context = project();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "asks:S01/T01");
    let stop = &report(&ran)["stop"];
    assert_eq!((ran.code, stop["cause"].as_str()), (10, Some("escalation")), "{stop:#}\n{}", ran.stderr);
    assert!(ran.stderr.contains("  asks: Which store?") && !ran.stderr.contains("does not count"), "{}", ran.stderr);
    assert_eq!(stop["next"], "gsd-tools auto answer M001/S01/T01 a");
    context.gsd(["auto", "answer", "M001/S01/T01", "b", "--why", "we have it"]).success();
    let log = context.gsd(["auto", "log", "M001/S01/T01"]).success();
    assert!(log.contains("M001/S01/T01 is answered with `b`"), "{log}");
    let log = context.gsd(["auto", "log"]).success();
    assert!(log.contains("Stopped: M001/S01/T01 asks: Which store?"), "{log}");
    let rest = auto(&context, &["auto", "run"], "ideal");
    assert_eq!((rest.code, &report(&rest)["stop"]["cause"]), (0, &Value::from("complete")), "{}", rest.stderr);
    // A complete milestone needs no session, and cannot be steered.
    assert_eq!(context.gsd(["auto", "plan"]).json()["sessions"], 0);
    assert_eq!(context.gsd(["auto", "plan", "M001"]).json()["sessions"], 0);
    assert!(context.gsd(["auto", "steer", "use SQLite"]).failure(1).contains("no milestone is under way"));
    assert!(!context.project().join(".gsd/OVERRIDES.md").exists());
}

#[test]
fn a_project_in_both_layouts_runs_the_one_that_is_named() {
    let context = project();
    context
        .write(".planning/ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 1: Base** - x\n\n### Phase 1: Base\n**Goal**: x\n");
    context.write(".gsd/milestones/M001/M001-CONTEXT.md", "# M001: A shelf\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=documents"]);
    let refused = auto(&context, &["auto", "run"], "ideal");
    assert!(refused.stderr.contains("--layout milestones") && refused.code != 0, "{}", refused.stderr);
    let ran = auto(&context, &["auto", "run", "--layout", "milestones", "--max-units", "1"], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "units-done", "{}", ran.stderr);
    assert_eq!(report(&ran)["stop"]["text"], "1 unit done");
    // An unfinished run keeps its layout.
    let other = auto(&context, &["auto", "run", "--layout", "phases"], "ideal");
    assert!(other.stderr.contains("is in milestones, not in phases"), "{}", other.stderr);
    assert_eq!(auto(&context, &["auto", "run"], "ideal").code, 0);
}

#[test]
fn a_slice_is_planned_again_only_once() {
    let context = project();
    // Each task of the slice reports that it is blocked.
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "untrue:");
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.stderr.contains("replan-slice M001/S01"), "{}", ran.stderr);
    assert_eq!(git(&context, &["rev-list", "--count", "main"]), "1", "{}", ran.stderr);
}

#[test]
fn a_task_that_fixes_something_lands_with_a_test_that_fails_without_it() {
    let run = |actor: &str| {
        let context = project();
        let agent = compile::fake_agent().to_string_lossy().into_owned();
        let brief = context.home().join("brief.md").to_string_lossy().into_owned();
        let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
        let ran = context.gsd_with(words, &[("FAKE_SHAPE", "1x1"), ("FAKE_ACTOR", actor), ("FAKE_FIX", "1")], "");
        (ran.code, ran.stderr, git(&context, &["rev-list", "--count", "main"]))
    };
    let (code, stderr, commits) = run("ideal");
    assert_eq!((code, commits.as_str()), (0, "2"), "{stderr}");
    let (code, stderr, commits) = run("hollow");
    assert!(code != 0 && commits == "1", "{stderr}");
    assert!(stderr.contains("no check fails without the fix"), "{stderr}");
}

#[test]
fn nothing_lands_before_a_change_of_course_is_in_the_documents() {
    let context = project();
    // After seven units, all that remains needs no agent.
    let most = auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "7"], "ideal");
    assert_eq!(report(&most)["stop"]["cause"], "units-done", "{}", most.stderr);
    context.gsd(["auto", "steer", "use one file"]).success();
    let rest = auto(&context, &["auto", "run"], "ideal");
    assert_eq!((rest.code, &report(&rest)["stop"]["cause"]), (0, &Value::from("complete")), "{}", rest.stderr);
    assert!(rest.stderr.contains("rewrite-docs M001"), "{}", rest.stderr);
    assert!(!git(&context, &["show", "main:.gsd/OVERRIDES.md"]).contains("**Scope:** active"));
}
