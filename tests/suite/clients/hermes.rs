//! Hermes Agent: skills below `skills/gsd`, roles for its nameless agents, hooks in its YAML. It accepts commands only
//! on its screen, so the line is typed as a person would.

use std::process::Command;

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Session, Typed, in_shell};
use super::exchange::ToolCall;
use super::install::{Package, Source::PyPi};
use super::library::COMMAND;
use super::obedient::Hands;

pub(crate) const CLIENT: Client = Client {
    package: Package { host: "hermes", source: PyPi("hermes-agent", 12), version: "0.19.0", program: "hermes" },
    before_install: |bench| bench.write_home(".hermes/config.yaml", CONFIG),
    check,
    greet: |bench| {
        bench.run(HANDS, |command, url| {
            at(command, url).args(["chat", "--query", "Hello", "--quiet"]);
        })
    },
};

const HANDS: Hands = Hands {
    shell: |command| ToolCall { name: "terminal", namespace: None, arguments: json!({"command": command}) },
    read: |file| ToolCall { name: "read_file", namespace: None, arguments: json!({"path": file.path}) },
    spawn: |_, errand| ToolCall { name: "delegate_task", namespace: None, arguments: json!({"goal": errand}) },
    write: Some(|path, text| ToolCall {
        name: "write_file",
        namespace: None,
        arguments: json!({"path": path, "content": text}),
    }),
    finish: None,
};

/// The configuration of a user who chose their own model.
const CONFIG: &str = "\
# mine
model:
  provider: custom
  base_url: ${SUITE_URL}
  api_key: none
  default: suite-model
hooks: {}
";

/// Types the line, waits until the model has written its last file, and leaves as a person does.
const TYPED: &str = r#"
    type() {
        printf '%s\n' "$SUITE_LINE"
        turn=0
        while [ $turn -lt 300 ] && [ ! -e .planning/note.md ]; do sleep 0.2; turn=$((turn + 1)); done
        sleep 2
        printf '/exit\n'
    }
    type | "$SUITE_PROGRAM" chat --accept-hooks --yolo
"#;

fn check(bench: &mut Bench<'_>) {
    let session = run(bench, &format!("/gsd-{COMMAND} 1"));
    bench.expect_loaded_with_roles(&session, Typed::Expanded);
    bench.expect_listing(&session, COMMAND);
    bench.expect_hooks(&session, &["before-tool"], &[HookText::SecretGuard]);
    bench.expect_unheard(&session, HookText::PromptGuard);
    bench.expect_no_complaint(&session.finished.stderr);
    let log = std::fs::read_to_string(bench.home().join(".hermes/logs/agent.log")).unwrap_or_default();
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("WARNING") || line.contains("ERROR")).collect();
    bench.expect_no_complaint(&complaints.join("\n"));
}

fn run(bench: &Bench<'_>, line: &str) -> Session {
    bench.run(HANDS, |command, url| {
        at(command, url).env("SUITE_LINE", line);
        *command = in_shell(command, TYPED);
    })
}

fn at<'a>(command: &'a mut Command, url: &str) -> &'a mut Command {
    command.env("SUITE_URL", format!("{url}/v1"))
}
