//! What a run records of secrets, and what it does if secrets that the work needs are missing.

use serde_json::Value;

use crate::auto::{auto, git, project, report};

/// A text that looks like a key.
const KEY: &str = concat!("sk-ant-", "api03-0123456789abcdefABCDEF");

#[test]
fn no_text_of_the_log_has_a_key() {
    let context = project();
    let rows = serde_json::json!([
        { "match": { "unit": "plan-milestone *", "attempt": 1 }, "steps": [{ "tool": "Write" }],
          "terminal": { "status": 400, "text": format!("bad key {KEY}") } },
        { "match": { "unit": "execute-task M001/S01/T01" }, "steps": [
            { "ideal": true },
            { "sh": "printf 'k=sk-ant-; echo bad ${k}api03-0123456789abcdefABCDEF; exit 1\\n' > checks/s01_t01.sh" },
            { "tool": "Write" }
        ] },
        { "steps": [{ "ideal": true }, { "tool": "Write" }] }
    ]);
    let script = context.home().join("script.json");
    std::fs::write(&script, rows.to_string()).unwrap();
    let agent = crate::auto::compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
    let variables = [("FAKE_SHAPE", "2x2"), ("FAKE_SCRIPT", script.to_str().unwrap())];
    let ran = context.gsd_with(words, &variables, "");
    assert_eq!(report(&ran)["stop"]["cause"], "no-progress", "{}", ran.stderr);
    context.gsd(["auto", "steer", &format!("use {KEY}")]).success();
    let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
    let text = std::fs::read_to_string(log["log"].as_str().unwrap()).unwrap();
    assert!(!text.contains(KEY), "{text}");
    assert!(text.contains("bad key [REDACTED]") && text.contains("bad [REDACTED]"), "{text}");
    assert!(!ran.stderr.contains(KEY) && !ran.stdout.contains(KEY), "{}", ran.stderr);
}

#[test]
fn a_variable_that_the_work_needs_stops_the_run_before_the_session_that_needs_it() {
    let context = project();
    let first = auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "2"], "ideal");
    assert_eq!(report(&first)["stop"]["cause"], "units-done", "{}", first.stderr);
    let secrets =
        "# Secrets\n\n- `SHELF_KEY`: from the shop; first needed by S02\n- `SHELF_USER`: yours; first needed by S02\n";
    let path = context.project().join(".gsd/worktrees/M001/.gsd/milestones/M001/M001-SECRETS.md");
    std::fs::write(path, secrets).unwrap();
    let agent = crate::auto::compile::fake_agent().to_string_lossy().into_owned();
    let run = |variables: &[(&str, &str)]| {
        let shape = [("FAKE_SHAPE", "2x2"), ("FAKE_ACTOR", "ideal")];
        let words = ["auto", "run", "--runner", "fake", "--runner-program", &agent];
        context.gsd_with(words, &[&shape[..], variables].concat(), "")
    };
    let ran = run(&[("SHELF_USER", "me")]);
    let stop = report(&ran)["stop"].clone();
    assert_eq!((ran.code, &stop["cause"]), (10, &Value::from("secrets-missing")), "{stop:#}\n{}", ran.stderr);
    let text = stop["text"].as_str().unwrap();
    assert!(text.starts_with("execute-task M001/S02/T01 needs `SHELF_KEY`, which"), "{text}");
    assert_eq!((&stop["evidence"], &stop["next"]), (&serde_json::json!(["SHELF_KEY"]), &"gsd-tools auto run".into()));
    assert!(ran.stderr.contains("execute-task M001/S01/T02") && !ran.stderr.contains("execute-task M001/S02"));
    let empty = run(&[("SHELF_USER", "me"), ("SHELF_KEY", " ")]);
    assert_eq!(report(&empty)["stop"]["cause"], "secrets-missing", "{}", empty.stderr);
    let rest = run(&[("SHELF_USER", "me"), ("SHELF_KEY", "a value of its own")]);
    assert_eq!(report(&rest)["stop"]["cause"], "complete", "{}", rest.stderr);
    let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).stdout;
    assert!(!log.contains("a value of its own"));
    assert!(git(&context, &["show", "main:.gsd/milestones/M001/M001-SECRETS.md"]).contains("SHELF_KEY"));
}
