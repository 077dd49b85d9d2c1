//! A milestone from a brief to the branch it lands on, with a scripted agent in the place of a client.

#[path = "../fake_agent/compile.rs"]
mod compile;

use serde_json::Value;

use crate::kit::{Ran, TestContext};

/// A repository with one commit and a brief.
fn project() -> TestContext {
    let context = TestContext::new();
    context.write("README.md", "# P\n");
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    std::fs::write(context.home().join("brief.md"), "Make a shelf of files.\n").unwrap();
    context
}

fn git(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes a call with an agent that behaves in this way.
fn auto(context: &TestContext, words: &[&str], actor: &str) -> Ran {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = words.iter().map(|word| if *word == "BRIEF" { brief.clone() } else { (*word).to_owned() });
    let flags = ["--runner", "fake", "--runner-program", &agent].map(str::to_owned);
    let words: Vec<String> = words.chain(flags).collect();
    context.gsd_with(words, &[("FAKE_SHAPE", "2x2"), ("FAKE_ACTOR", actor)], "")
}

fn report(ran: &Ran) -> Value {
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
fn a_run_stops_after_a_unit_and_goes_on_where_it_was() {
    let context = project();
    let first = auto(&context, &["auto", "next", "--brief", "BRIEF"], "ideal");
    assert_eq!((first.code, &report(&first)["stop"]["cause"]), (0, &Value::from("units-done")), "{}", first.stderr);
    context.gsd(["auto", "pause"]).success();
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

#[test]
fn what_keeps_a_run_from_starting_is_said_with_its_cure() {
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
fn the_table_of_counts_stands_beside_the_published_ones() {
    let context = TestContext::new();
    let table = context.gsd(["auto", "sim", "--table"]).json();
    let row = &table["rows"][2];
    assert_eq!((&row["shape"], &row["simple"], &row["classic"][0]), (&"4x3".into(), &16.into(), &30.into()));
    assert_eq!(context.gsd(["auto", "sim", "--shape", "6x4", "--no-inline-s01"]).json()["sessions"], 31);
    assert_eq!(context.gsd(["auto", "rules", "--pipeline", "simple"]).json().as_array().unwrap().len(), 12);
    assert_eq!(context.gsd(["auto", "rules", "--pipeline", "classic"]).json().as_array().unwrap().len(), 20);
}

#[test]
fn criterion_4_2_11_rules_say_why_they_do_not_apply_and_change_nothing() {
    let context = project();
    auto(&context, &["auto", "next", "--brief", "BRIEF"], "ideal").success();
    let notes = context.home().join("state");
    let state = |folder: &std::path::Path| {
        let mut files = Vec::new();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
                // Git writes its index when it is asked for the status, which this test does.
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
fn invariant_13_of_eight_calls_at_once_one_starts_a_session() {
    use std::process::Stdio;
    let context = project();
    let agent = compile::fake_agent();
    let call = || {
        let mut command = context.command(crate::kit::binary());
        command.args(["auto", "next", "--brief"]).arg(context.home().join("brief.md"));
        command.args(["--runner", "fake", "--runner-program"]).arg(&agent);
        command.env("FAKE_ACTOR", "hang").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut calls: Vec<_> = (0..8).map(|_| call()).collect();
    // The one that has the log waits for its agent, which never ends.
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
