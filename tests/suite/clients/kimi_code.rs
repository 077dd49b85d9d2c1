//! Kimi Code: skills and agents, hooks in its TOML. Its print mode sends a typed skill unchanged.

use std::process::Command;

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Scope, Session, Typed};
use super::dialects::MODEL;
use super::exchange::ToolCall;
use super::install::{Package, Source::NpmAll};
use super::library::COMMAND;
use super::obedient::Hands;

pub(crate) const CLIENT: Client = Client {
    package: Package {
        host: "kimi-code",
        source: NpmAll(&["@moonshot-ai/kimi-code@2.1.0", "node@24.21.0"]),
        version: "2.1.0",
        program: "kimi",
    },
    before_install: |_| {},
    check,
    greet: |bench| run(bench, "Hello"),
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| ToolCall { name: "Bash", namespace: None, arguments: json!({"command": command}) },
    read: |file| ToolCall { name: "Read", namespace: None, arguments: json!({"path": file.path}) },
    spawn: |agent, errand| ToolCall {
        name: "Agent",
        namespace: None,
        arguments: json!({"subagent_type": agent, "description": "An errand", "prompt": errand}),
    },
    write: Some(|path, text| ToolCall {
        name: "Write",
        namespace: None,
        arguments: json!({"path": path, "content": text}),
    }),
    finish: None,
};

fn check(bench: &mut Bench<'_>) {
    let session = run(bench, &format!("/skill:gsd-{COMMAND} 1"));
    bench.expect_loaded(&session, Typed::SentAsTyped);
    bench.expect_listing(&session, "");
    match bench.scope {
        Scope::Global => {
            bench.expect_hooks(&session, &["session-start", "before-tool", "after-tool"], &[HookText::SecretGuard]);
        }
        Scope::Local => bench.expect_no_hooks(),
    }
    for text in [HookText::SessionState, HookText::PromptGuard, HookText::InjectionScanner] {
        bench.expect_unheard(&session, text);
    }
    let (talk, requests) = bench.run_in_editor(HANDS, &format!("/skill:gsd-{COMMAND} 1"), |command, url| {
        prepare(command, url);
        command.arg("acp");
    });
    bench.expect_typed_in_editor(&talk, &requests, "skill:gsd-");
    bench.expect_no_complaint(&session.finished.stderr);
    for log in walkdir::WalkDir::new(bench.home().join(".kimi-code/logs")).into_iter().flatten() {
        let text = std::fs::read_to_string(log.path()).unwrap_or_default();
        let complaints: Vec<&str> =
            text.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).collect();
        bench.expect_no_complaint(&complaints.join("\n"));
    }
}

fn run(bench: &Bench<'_>, prompt: &str) -> Session {
    bench.run(HANDS, |command, url| {
        prepare(command, url);
        command.args(["-p", prompt, "--output-format", "stream-json"]);
    })
}

pub(crate) fn prepare(command: &mut Command, url: &str) {
    command
        .env("KIMI_MODEL_NAME", MODEL)
        .env("KIMI_MODEL_PROVIDER_TYPE", "openai")
        .env("KIMI_MODEL_BASE_URL", format!("{url}/v1"))
        .env("KIMI_MODEL_API_KEY", "none")
        .env("KIMI_DISABLE_TELEMETRY", "1")
        .env("KIMI_CODE_NO_AUTO_UPDATE", "1");
}
