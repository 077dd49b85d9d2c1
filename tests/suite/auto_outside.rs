//! What is around a run: an agent of a host that passes words of its user on, preferences that a run would not read, and
//! the work of a run whose log is gone.

use serde_json::{Value, json};

use crate::auto::{auto, git, project, report};
use crate::auto_ways_on::{BEGIN, run, stopped};
use crate::kit::{Ran, TestContext};
use crate::scripted;

const PREFERENCES: &str = ".gsd/PREFERENCES.md";
const CHECK: &str = "---\nverification_commands: [test -f README.md]\n---\n";

/// A call by an agent of a host, outside of a run.
fn by_an_agent(context: &TestContext, words: &[&str]) -> Ran {
    context.gsd_with(words.iter().copied(), &[("CLAUDECODE", "1")], "")
}

fn refused(context: &TestContext, words: &[&str], said: &str) {
    let ran = auto(context, words, "ideal");
    assert!(ran.code == 64 && ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
}

#[test]
fn an_agent_passes_on_what_its_user_says_and_accepts_no_work() {
    let context = project();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "asks:S01/T01");
    assert_eq!(report(&ran)["stop"]["cause"], "escalation", "{}", ran.stderr);
    let answered = by_an_agent(&context, &["auto", "answer", "M001/S01/T01", "a", "--why", "we have it"]).json();
    assert_eq!(answered["updated"], true, "{answered:#}");
    // The question is no longer why it does not run.
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!((&status["session"]["stop"], &status["questions"]), (&Value::Null, &json!([])), "{status:#}");
    by_an_agent(&context, &["auto", "capture", "sort the shelf"]).success();
    by_an_agent(&context, &["auto", "steer", "use one file"]).success();
    let log = context.gsd(["auto", "log"]).success();
    for words in
        ["is answered with `a` (passed on by an agent)", "captured: sort the shelf (passed on", "use one file ("]
    {
        assert!(log.contains(words), "{words}: {log}");
    }
    // The printed command is whole, and a person can type it.
    let call = ["auto", "verdict", "M001/S01/T01", "pass", "--rationale", "seen by hand; it's fine"];
    let told = by_an_agent(&context, &call).failure(77);
    assert!(told.contains("auto verdict M001/S01/T01 pass --rationale \"seen by hand; it's fine\"`"), "{told}");
    for call in [&["auto", "park", "M001"][..], &["auto", "land"], &["auto", "abandon", "M001"]] {
        by_an_agent(&context, call).failure(77);
    }
}

#[test]
fn an_agent_starts_no_run_without_a_fence_and_lets_no_key_in() {
    let context = project();
    let brief = context.home().join("brief.md").display().to_string();
    for flags in [&["--no-fence"][..], &["--allow-key", "src/key.txt"]] {
        let call = [&["auto", "run", "--brief", &brief, "--yes", "--runner", "fake"][..], flags].concat();
        let told = by_an_agent(&context, &call).failure(77);
        assert!(told.contains(flags[0]) && told.contains("needs a person"), "{told}");
    }
}

#[test]
fn a_run_begins_only_with_the_preferences_that_its_card_shows() {
    // Not committed, ignored, changed since, and deleted since: the worktree would have others.
    let context = project();
    context.write(PREFERENCES, CHECK);
    refused(&context, BEGIN, "differs from the commit that the run would begin with");
    refused(&context, &["auto", "run", "--brief", "BRIEF", "--dry-run"], "git add .gsd/PREFERENCES.md");
    context.write(".gitignore", ".gsd/PREFERENCES.md\n");
    git(&context, &["add", ".gitignore"]);
    git(&context, &["commit", "--quiet", "--message=ignore"]);
    refused(&context, BEGIN, "what is only for you goes into `~/.gsd/PREFERENCES.md`");
    git(&context, &["add", "--force", PREFERENCES]);
    git(&context, &["commit", "--quiet", "--message=preferences"]);
    context.write(PREFERENCES, "---\nverification_commands: [test -f other]\n---\n");
    refused(&context, BEGIN, "differs from");
    std::fs::remove_file(context.project().join(PREFERENCES)).unwrap();
    refused(&context, BEGIN, "is missing, unlike in the commit");
    git(&context, &["checkout", "--", PREFERENCES]);
    // Under its other name too.
    let other = ".gsd/preferences.md";
    git(&context, &["mv", PREFERENCES, other]);
    git(&context, &["commit", "--quiet", "--message=another name"]);
    std::fs::remove_file(context.project().join(other)).unwrap();
    refused(&context, BEGIN, "`.gsd/preferences.md` is missing, unlike in the commit");
    git(&context, &["checkout", "--", other]);
    git(&context, &["mv", other, PREFERENCES]);
    git(&context, &["commit", "--quiet", "--message=its name again"]);
    // An unfinished run reads its own, and says so.
    stopped(&run(&context, &[BEGIN, &["--max-units", "1"]].concat(), &[]), "units-done");
    context.write(PREFERENCES, "---\nverification_commands: [test -f other]\n---\n");
    let ran = run(&context, &["auto", "run", "--max-units", "1"], &[]);
    let line = ran.stderr.lines().find(|line| line.contains("Not read by this run"));
    assert!(line.is_some_and(|line| line.contains(".gsd/worktrees/M001/.gsd/PREFERENCES.md")), "{}", ran.stderr);
}

#[test]
fn what_was_looked_at_lands_or_nothing_does_and_no_session_starts_for_it() {
    let context = project();
    stopped(&run(&context, &[BEGIN, &["--land", "ask"]].concat(), &[]), "review");
    let shown = context.gsd(["auto", "diff"]).json();
    let files: Vec<&str> = shown["files"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(files[0], "checks/s01_t01.sh", "those of the project come first: {files:?}");
    assert!(files.last().unwrap().starts_with(".gsd/"), "{files:?}");
    context.gsd(["auto", "steer", "use one file"]).success();
    let sessions = |context: &TestContext| context.gsd(["auto", "status"]).json()["run"]["sessions"].clone();
    let before = sessions(&context);
    let ran = context.gsd(["auto", "land", "--yes"]);
    let stop = stopped(&ran, "review");
    assert!(stop["text"].as_str().unwrap().contains("does not land: rewrite-docs"), "{stop:#}");
    assert_eq!((sessions(&context), stop["next"].as_str()), (before, Some("gsd-tools auto run")));
    assert_eq!(git(&context, &["rev-list", "--count", "main"]), "1");
    // The order is followed, and what came of it waits again.
    stopped(&run(&context, &["auto", "run"], &[]), "review");
    let landed = context.gsd(["auto", "land", "--yes"]).json();
    assert_eq!(landed["stop"]["cause"], "complete", "{landed:#}");
}

#[test]
fn the_card_names_the_checks_that_run() {
    let context = project();
    let test = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n";
    context.write("test_a.py", test);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=a test"]);
    let words = [BEGIN, &["--dry-run"]].concat();
    let card = report(&run(&context, &words, &[]))["card"].clone();
    assert_eq!(card["runs"], json!(["check: python3 -m unittest discover (python-project)"]), "{card:#}");
}

#[test]
fn the_work_of_a_run_whose_log_is_gone_does_not_land_under_another_brief() {
    let context = project();
    stopped(&run(&context, &[BEGIN, &["--max-units", "2"]].concat(), &[]), "units-done");
    let work = git(&context, &["rev-parse", "milestone/M001"]);
    std::fs::remove_dir_all(context.home().join(".local/state")).unwrap();
    std::fs::write(context.home().join("brief.md"), "Make another thing.\n").unwrap();
    let ran = run(&context, BEGIN, &[]);
    assert!(ran.code != 0 && ran.stderr.contains("a run whose log is gone"), "{}", ran.stderr);
    assert_eq!(git(&context, &["rev-list", "--count", "main"]), "1");
    // The printed commands make room, and keep the work.
    let hint = ran.stderr.lines().find(|line| line.contains("branch -m")).unwrap_or_else(|| panic!("{}", ran.stderr));
    for command in hint.split('`').skip(1).step_by(2) {
        let done = context.command("sh").args(["-c", command]).output().unwrap();
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let ran = run(&context, BEGIN, &[]);
    assert_eq!(report(&ran)["stop"]["cause"], Value::from("complete"), "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(git(&context, &["rev-parse", "milestone-M001-mine"]), work);
}

#[test]
fn a_run_that_could_not_commit_ends_before_its_first_session() {
    let context = project();
    let ran = scripted::run(&context, BEGIN, &[], &[("FAKE_SHAPE", "2x2"), ("GIT_COMMITTER_NAME", "")]);
    assert!(ran.code != 0 && ran.stderr.contains("git does not know who you are"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("plan-milestone") && !ran.stderr.contains("Please tell me"), "{}", ran.stderr);
    assert_eq!(git(&context, &["branch", "--list"]), "* main");
}
