//! Qwen Code: skills that are slash commands, agents, in the home or in the project.

use std::process::Command;

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Session, Typed, strings};
use super::exchange::ToolCall;
use super::install::{Package, Source::NpmAll};
use super::library::COMMAND;
use super::obedient::Hands;
use super::pointed::{pointed, write_settings};

pub(crate) const CLIENT: Client = Client {
    package: Package {
        host: "qwen",
        source: NpmAll(&["@qwen-code/qwen-code@0.24.4", "node@24.21.0"]),
        version: "0.24.4",
        program: "qwen",
    },
    before_install: |bench| write_settings("qwen", &bench.home(), ""),
    check,
    greet: |bench| run(bench, "Hello"),
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| pointed("qwen").shell.call(command),
    read: |file| ToolCall { name: "read_file", namespace: None, arguments: json!({"file_path": file.path}) },
    spawn: |agent, errand| ToolCall {
        name: "agent",
        namespace: None,
        arguments: json!({"subagent_type": agent, "description": "An errand", "prompt": errand}),
    },
    write: Some(|path, text| ToolCall {
        name: "write_file",
        namespace: None,
        arguments: json!({"file_path": path, "content": text}),
    }),
    finish: None,
};

fn check(bench: &mut Bench<'_>) {
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
    bench.expect_names("the slash command", bench.router_names("gsd-"), &known);
    bench.expect_no_complaint(&session.finished.stderr);
    let logs = walkdir::WalkDir::new(bench.home().join(".qwen/debug")).into_iter().flatten();
    let logs: Vec<String> = logs.filter_map(|log| std::fs::read_to_string(log.path()).ok()).collect();
    let complaints: Vec<&str> = logs
        .iter()
        .flat_map(|log| log.lines())
        .filter(|line| line.contains("WARN") || line.contains("ERROR"))
        .collect();
    bench.expect_no_complaint(&complaints.join("\n"));
}

fn run(bench: &Bench<'_>, prompt: &str) -> Session {
    bench.run(HANDS, |command, url| {
        prepare(command, url);
        // In print mode the model has no shell unless everything is allowed, whatever the rules say.
        command.args(["-p", prompt, "--output-format", "stream-json", "--approval-mode", "yolo"]);
    })
}

pub(crate) fn prepare(command: &mut Command, url: &str) {
    command
        .envs(pointed("qwen").variables(url))
        .env("QWEN_DEBUG_LOG_FILE", "1")
        .env("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1");
}
