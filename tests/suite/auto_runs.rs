//! How a run begins and goes on: what it remembers, what it refuses before it spends anything, and what it leaves alone.

use serde_json::Value;

use crate::auto::{auto, compile, git, project, report};
use crate::kit::{Ran, TestContext};

/// A call without the flags of [`auto`], as a run prints it.
fn plain(context: &TestContext, words: &[&str], actor: &str) -> Ran {
    context.gsd_with(words.iter().copied(), &[("FAKE_SHAPE", "2x2"), ("FAKE_ACTOR", actor)], "")
}

fn entries(context: &TestContext, event: &str) -> Vec<Value> {
    let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
    let rows = log["entries"].as_array().unwrap().iter().map(|row| row["entry"].clone());
    rows.filter(|entry| entry["event"] == event).collect()
}

/// Commits files of the project.
fn commit(context: &TestContext, files: &[(&str, &str)]) {
    for (path, text) in files {
        context.write(path, text);
    }
    git(context, &["add", "--all", "--force"]);
    git(context, &["commit", "--quiet", "--message=files"]);
}

/// The refusal of a call that is to begin a run, before anything is made.
fn refused(context: &TestContext) -> Ran {
    let ran = auto(context, &["auto", "run", "--brief", "BRIEF"], "ideal");
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    assert!(!context.project().join(".gsd/worktrees").exists(), "{}", ran.stderr);
    assert!(entries(context, "started").is_empty());
    ran
}

#[test]
fn the_printed_command_goes_on_with_the_client_model_profile_and_fence_of_the_run() {
    let context = project();
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let begin = ["auto", "run", "--brief", &brief, "--max-units", "2", "--runner", "fake", "--runner-program", &agent];
    let how = ["--model", "m-1", "--profile", "safe", "--no-fence"];
    let first = plain(&context, &[&begin[..], &how].concat(), "ideal");
    assert_eq!(report(&first)["stop"]["next"], "gsd-tools auto run", "{}", first.stderr);
    let second = plain(&context, &["auto", "run", "--max-units", "1"], "ideal");
    assert_eq!(report(&second)["stop"]["cause"], "units-done", "{}", second.stderr);
    assert!(!second.stderr.contains("Changed for this run"), "{}", second.stderr);
    let third = plain(&context, &["auto", "run", "--profile", "unattended", "--model", "m-2", "--fence"], "ideal");
    assert_eq!(report(&third)["stop"]["cause"], "complete", "{}", third.stderr);
    for line in [
        "Changed for this run: the profile is `unattended`; it was `safe`.",
        "Changed for this run: the model is `m-2`; it was `m-1`.",
        "Changed for this run: the fence is on; it was off.",
    ] {
        assert!(third.stderr.contains(line), "{}", third.stderr);
    }
    let resumed = entries(&context, "resumed");
    let of =
        |entry: &Value| ["runner", "program", "model", "profile"].map(|key| entry[key].as_str().unwrap().to_owned());
    assert_eq!(of(&resumed[0]), ["fake", &agent, "m-1", "safe"]);
    assert_eq!(resumed[0]["fenced"], false);
    assert_eq!(of(&resumed[1]), ["fake", &agent, "m-2", "unattended"]);
    assert_eq!(resumed[1]["fenced"], true);
}
