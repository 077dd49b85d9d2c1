//! OpenCode: command files, agents, a module for hooks, in the configuration folder or in the project. Related clients
//! take the same settings from variables with their own prefix.

use std::process::Command;

use serde_json::{Value, json};

use super::Client;
use super::bench::{Bench, HookText, Session, Typed};
use super::exchange::ToolCall;
use super::install::{Package, Source::Npm};
use super::library::COMMAND;
use super::obedient::Hands;
use super::pointed::pointed;

pub(crate) const CLIENT: Client = Client {
    package: Package { host: "opencode", source: Npm("opencode-ai"), version: "1.18.33", program: "opencode" },
    before_install: |_| {},
    check: |bench| check(bench, "OPENCODE"),
    greet: |bench| greet(bench, "OPENCODE"),
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| pointed("opencode").shell.call(command),
    read: |file| ToolCall { name: "read", namespace: None, arguments: json!({"filePath": file.path}) },
    spawn: |agent, errand| ToolCall {
        name: "task",
        namespace: None,
        arguments: json!({"subagent_type": agent, "description": "An errand", "prompt": errand}),
    },
    write: Some(|path, text| ToolCall {
        name: "write",
        namespace: None,
        arguments: json!({"filePath": path, "content": text}),
    }),
    finish: None,
};

/// `variables` begin with the client's name.
pub(crate) fn check(bench: &mut Bench<'_>, variables: &str) {
    let session = bench.run(HANDS, |command, url| {
        prepare(command, url, variables);
        command.args(["run", "--command", &format!("gsd-{COMMAND}"), "1"]);
    });
    bench.expect_loaded(&session, Typed::Expanded);
    bench.expect_listing(&session, COMMAND);
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SessionState, HookText::PromptGuard, HookText::SecretGuard, HookText::InjectionScanner],
    );
    bench.expect_no_complaint(&session.finished.stderr);

    let configuration = bench.run(HANDS, |command, url| {
        prepare(command, url, variables);
        command.args(["debug", "config"]);
    });
    let known: Value = serde_json::from_str(&configuration.finished.stdout).unwrap_or_default();
    let names = |key: &str| known[key].as_object().map_or_else(Vec::new, |map| map.keys().cloned().collect());
    bench.expect_names("the command", bench.command_names("gsd-"), &names("command"));
    bench.expect_names("the agent", bench.agent_names(), &names("agent"));
    bench.expect_no_complaint(&configuration.finished.stderr);
}

pub(crate) fn greet(bench: &Bench<'_>, variables: &str) -> Session {
    bench.run(HANDS, |command, url| {
        prepare(command, url, variables);
        command.args(["run", "Hello"]);
    })
}

pub(crate) fn prepare(command: &mut Command, url: &str, variables: &str) {
    for (name, value) in pointed("opencode").variables(url) {
        command.env(name.replace("OPENCODE", variables), value);
    }
}
