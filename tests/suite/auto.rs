//! A milestone from a brief to the branch it lands on, with a scripted agent in the place of a client.

#[path = "../fake_agent/compile.rs"]
pub(crate) mod compile;

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
