//! Runs of `auto` whose sessions follow a script: rows for units, the first match counts.

use serde_json::{Value, json};

use crate::auto::compile;
use crate::kit::{Ran, TestContext, binary};

/// A call that a person makes while a session works: returns the script that the session runs, which waits until the
/// call is over. In a session itself, a call that needs a person is refused.
pub(crate) fn meanwhile(context: &TestContext, call: &[&str]) -> String {
    let (marker, mut command) = (context.home().join("meanwhile"), context.command(binary()));
    command.args(call).stdout(std::process::Stdio::null());
    let done = marker.with_extension("done");
    let script = format!(
        "[ -e {1} ] || {{ touch {0}; for i in $(seq 600); do [ -e {1} ] && break; sleep 0.1; done; }}",
        marker.display(),
        done.display()
    );
    std::thread::spawn(move || {
        let began = std::time::Instant::now();
        while !marker.exists() {
            assert!(began.elapsed().as_secs() < 120, "no session wants it");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let status = command.status().unwrap();
        std::fs::write(done, "").unwrap();
        assert!(status.success());
    });
    script
}

/// Makes a call, with `BRIEF` for the brief of the project. Units without a row are done as they should be.
pub(crate) fn run(context: &TestContext, words: &[&str], rows: &[Value], variables: &[(&str, &str)]) -> Ran {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let (script, brief) = (context.home().join("script.json"), context.home().join("brief.md"));
    let mut rows = rows.to_vec();
    rows.push(json!({ "steps": [{ "ideal": true }] }));
    for row in &mut rows {
        // A session without text and tool calls does not count, whatever it did.
        row["steps"].as_array_mut().unwrap().push(json!({ "tool": "Write" }));
    }
    std::fs::write(&script, Value::from(rows).to_string()).unwrap();
    let (script, brief) = (script.to_string_lossy().into_owned(), brief.to_string_lossy().into_owned());
    let words = words.iter().map(|word| if *word == "BRIEF" { brief.clone() } else { (*word).to_owned() });
    let words: Vec<String> = words.chain(["--runner", "fake", "--runner-program", &agent].map(str::to_owned)).collect();
    context.gsd_with(words, &[&[("FAKE_SCRIPT", script.as_str())], variables].concat(), "")
}

/// A row for a unit, or for one attempt at it.
pub(crate) fn row(unit: &str, attempt: Option<u32>, steps: &[Value]) -> Value {
    let mut wanted = json!({ "unit": unit });
    if let Some(attempt) = attempt {
        wanted["attempt"] = attempt.into();
    }
    json!({ "match": wanted, "steps": steps })
}

/// A session that does its work and then runs this script.
pub(crate) fn also(unit: &str, attempt: Option<u32>, script: &str) -> Value {
    row(unit, attempt, &[json!({ "ideal": true }), json!({ "sh": script })])
}
