//! `CodeBuddy` Code: command files and agents, in the home or in the project. It lists what it found only at its second
//! start.

use std::process::Command;

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Session, Typed, strings};
use super::dialects::MODEL;
use super::exchange::ToolCall;
use super::install::{Package, Source::NpmAll};
use super::library::COMMAND;
use super::obedient::Hands;

pub(crate) const CLIENT: Client = Client {
    package: Package {
        host: "codebuddy",
        source: NpmAll(&["@tencent-ai/agent-sdk@0.3.201"]),
        version: "2.117.0",
        program: "@tencent-ai/agent-sdk/cli/bin/codebuddy",
    },
    before_install: |_| {},
    check,
    greet: |bench| run(bench, "Hello"),
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| ToolCall {
        name: "Bash",
        namespace: None,
        arguments: json!({"command": command, "description": "A step of the workflow"}),
    },
    read: |file| ToolCall { name: "Read", namespace: None, arguments: json!({"file_path": file.path}) },
    spawn: |agent, errand| ToolCall {
        name: "Agent",
        namespace: None,
        arguments: json!({"subagent_type": agent, "description": "An errand", "prompt": errand}),
    },
    write: Some(|path, text| ToolCall {
        name: "Write",
        namespace: None,
        arguments: json!({"file_path": path, "content": text}),
    }),
    finish: None,
};

fn check(bench: &mut Bench<'_>) {
    run(bench, "Hello");
    let session = run(bench, &format!("/gsd-{COMMAND} 1"));
    bench.expect_loaded(&session, Typed::Expanded);
    bench.expect_listing(&session, COMMAND);
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SessionState, HookText::SecretGuard, HookText::InjectionScanner],
    );
    bench.expect_unheard(&session, HookText::PromptGuard);
    let events = session.events();
    let start = events.iter().find(|event| event["type"] == "system" && event["subtype"] == "init");
    let known = start.map(|start| strings(&start["slash_commands"], "name")).unwrap_or_default();
    bench.expect_names("the slash command", bench.command_names("gsd-"), &known);
    bench.expect_no_complaint(&session.finished.stderr);
}

fn run(bench: &Bench<'_>, prompt: &str) -> Session {
    bench.run(HANDS, |command, url| {
        prepare(command, url);
        command.args(["-p", prompt, "--output-format", "stream-json", "--verbose"]);
        command.args(["--permission-mode", "acceptEdits"]);
    })
}

pub(crate) fn prepare(command: &mut Command, url: &str) {
    command
        .env("CODEBUDDY_BASE_URL", format!("{url}/v1"))
        .env("CODEBUDDY_API_KEY", "none")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_TELEMETRY", "1")
        // As root, the client skips permissions only if it believes that it is in a sandbox.
        .env("IS_SANDBOX", "1")
        .args(["--model", MODEL]);
}
