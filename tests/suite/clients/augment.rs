//! Augment's CLI: commands, skills, an agent tool for each agent; its own protocol.

use std::process::Command;

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Typed};
use super::checks::Check;
use super::exchange::ToolCall;
use super::install::{Package, Source::Npm};
use super::library::COMMAND;
use super::obedient::Hands;

pub(crate) const CLIENT: Client = Client {
    package: Package { host: "augment", source: Npm("@augmentcode/auggie"), version: "0.36.0", program: "auggie" },
    before_install: |_| {},
    check,
    greet: |bench| {
        bench.run(HANDS, |command, url| {
            prepare(command, url);
            command.args(["--print", "Hello"]);
        })
    },
};

const HANDS: Hands = Hands {
    shell: |command| ToolCall {
        name: "launch-process",
        namespace: None,
        arguments: json!({"command": command, "wait": true, "max_wait_seconds": 30, "cwd": "."}),
    },
    read: |file| ToolCall { name: "view", namespace: None, arguments: json!({"type": "file", "path": file.written}) },
    // The tool has the agent's name; the kit spawns only one agent.
    spawn: |_, errand| ToolCall {
        name: "sub-agent-gsd-planner",
        namespace: None,
        arguments: json!({"action": "run", "name": "errand", "instruction": errand}),
    },
    write: Some(|path, text| ToolCall {
        name: "save-file",
        namespace: None,
        arguments: json!({"instructions_reminder": "", "path": path, "file_content": text,
                          "add_last_line_newline": true}),
    }),
    finish: None,
};

fn check(bench: &mut Bench<'_>) {
    let session = bench.run(HANDS, |command, url| {
        prepare(command, url);
        command.args(["--print", &format!("/gsd-{COMMAND} 1")]);
    });
    bench.expect_loaded(&session, Typed::Expanded);
    bench.expect_listing(&session, COMMAND);
    // In this mode, only the output of after-tool hooks reaches the model.
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SecretGuard, HookText::InjectionScanner],
    );
    bench.expect_no_complaint(&session.finished.stderr);
    bench.expect(Check::Quiet, !session.finished.stderr.contains("unsupported configuration"), || {
        "the client does not know a hook of ours".to_owned()
    });

    let listing = bench.run(HANDS, |command, url| {
        prepare(command, url);
        command.args(["command", "list"]);
    });
    let listed: Vec<String> = (listing.finished.stdout.lines().chain(listing.finished.stderr.lines()))
        .filter_map(|line| line.split_whitespace().next().filter(|word| word.starts_with("gsd-")))
        .map(str::to_owned)
        .collect();
    bench.expect_names("the command", bench.command_names("gsd-"), &listed);
    bench.expect_names("the skill", bench.router_names("gsd-"), &listed);
}

fn prepare(command: &mut Command, url: &str) {
    let session = json!({"accessToken": "none", "tenantURL": format!("{url}/"), "scopes": ["read", "write"]});
    command.env("AUGMENT_SESSION_AUTH", session.to_string());
}
