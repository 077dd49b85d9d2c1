//! Cline: workflow files, skills, a tool for each agent, an executable for each event, in the home or in the project.
//! Each run leaves its own hub process running.

use serde_json::{Value, json};

use super::Client;
use super::bench::{Bench, HookText, Session, Typed, in_shell, strings};
use super::checks::Check;
use super::dialects::MODEL;
use super::exchange::ToolCall;
use super::install::{Package, Source::Npm};
use super::library::{COMMAND, flat};
use super::obedient::Hands;

pub(crate) const CLIENT: Client = Client {
    package: Package { host: "cline", source: Npm("cline"), version: "3.0.65", program: "cline" },
    before_install: |_| {},
    check,
    // The client reads a single word as the name of a command.
    greet: |bench| run(bench, "Hello there"),
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| ToolCall { name: "run_commands", namespace: None, arguments: json!({"commands": [command]}) },
    read: |file| ToolCall { name: "read_files", namespace: None, arguments: json!({"files": in_pieces(file.path)}) },
    // The tool has the agent's name; the kit spawns only one agent.
    spawn: |_, errand| ToolCall { name: "subagent_gsd_planner", namespace: None, arguments: json!({"prompt": errand}) },
    write: Some(|path, text| ToolCall {
        name: "editor",
        namespace: None,
        arguments: json!({"path": path, "new_text": text}),
    }),
    finish: None,
};

/// The file, a few lines at a time: the model sees only 8,000 characters of each result, and the middle of a longer one
/// is cut.
fn in_pieces(path: &str) -> Vec<Value> {
    const LINES: usize = 50;
    let lines = std::fs::read_to_string(path).unwrap_or_default().lines().count().max(1);
    let piece = |from: usize| json!({"path": path, "start_line": from, "end_line": (from + LINES - 1).min(lines)});
    (1..=lines).step_by(LINES).map(piece).collect()
}

/// Signs in with a key, as a person does once, and runs the line.
const SIGNED_IN: &str = r#"
    "$SUITE_PROGRAM" auth openai-compatible --baseurl "$SUITE_URL" --apikey none --modelid "$SUITE_MODEL" >/dev/null &&
    exec "$SUITE_PROGRAM" --json "$SUITE_LINE"
"#;

fn check(bench: &mut Bench<'_>) {
    let session = run(bench, &format!("/gsd-{COMMAND} 1"));
    bench.expect_loaded(&session, Typed::Expanded);
    expect_names_alone(bench, &session);
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::PromptGuard, HookText::SecretGuard, HookText::InjectionScanner],
    );
    bench.expect_unheard(&session, HookText::SessionState);
    bench.expect_no_complaint(&session.finished.stderr);
    for log in walkdir::WalkDir::new(bench.home().join(".cline/data/logs")).into_iter().flatten() {
        let text = std::fs::read_to_string(log.path()).unwrap_or_default();
        let complaints: Vec<&str> = text.lines().filter(|line| is_complaint(line)).collect();
        bench.expect_no_complaint(&complaints.join("\n"));
    }

    for (kind, wanted) in [
        ("workflows", bench.command_names("gsd-")),
        ("skills", bench.router_names("gsd-")),
        ("agents", bench.agent_names()),
    ] {
        let listing = bench.run(HANDS, |command, _| {
            command.args(["config", kind, "--json"]);
        });
        let known: Value = serde_json::from_str(&listing.finished.stdout).unwrap_or_default();
        bench.expect_names(kind, wanted, &strings(&known, "name"));
        bench.expect_no_complaint(&listing.finished.stderr);
    }
}

/// The model gets the names of the skills, without descriptions.
fn expect_names_alone(bench: &mut Bench<'_>, session: &Session) {
    let first = session.first_text().unwrap_or_default();
    for name in bench.router_names("gsd-") {
        bench.expect_lack(Check::Listing, first.contains(&name), || format!("`{name}` is not listed to the model"));
    }
    let described = bench.library.commands.iter().any(|page| first.contains(&flat(&page.description)));
    bench.expect_lack(Check::Listing, !described, || "skills are described: KNOWN.md is out of date".to_owned());
}

/// True if a line of the log is a warning or worse.
fn is_complaint(line: &str) -> bool {
    let entry: Value = serde_json::from_str(line).unwrap_or_default();
    entry["level"].as_u64().is_none_or(|level| level >= 40)
}

fn run(bench: &Bench<'_>, line: &str) -> Session {
    bench.run(HANDS, |command, url| {
        command.env("SUITE_LINE", line).env("SUITE_URL", format!("{url}/v1")).env("SUITE_MODEL", MODEL);
        *command = in_shell(command, SIGNED_IN);
    })
}
