//! Claude Code: skills that are slash commands, agents, in the home or in the project.

use std::process::Command;

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Typed, strings};
use super::checks::Check;
use super::exchange::ToolCall;
use super::install::{Package, Source::Npm};
use super::library::COMMAND;
use super::obedient::Hands;
use super::pointed::pointed;

pub(crate) const CLIENT: Client = Client {
    package: Package {
        host: "claude",
        source: Npm("@anthropic-ai/claude-code"),
        version: "2.1.330",
        program: "claude",
    },
    before_install: |_| {},
    check,
    greet: |bench| {
        bench.run(HANDS, |command, url| {
            prepare(command, url);
            command.args(["-p", "Hello"]);
        })
    },
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| pointed("claude").shell.call(command),
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
    let log = bench.home().join("debug.log");
    let session = bench.run(HANDS, |command, url| {
        prepare(command, url);
        command.args(["-p", &format!("/gsd-{COMMAND} 1"), "--output-format", "stream-json", "--verbose"]);
        command.args(["--permission-mode", "acceptEdits"]).arg("--debug-file").arg(&log);
    });
    bench.expect_loaded(&session, Typed::Expanded);
    bench.expect_listing(&session, "");
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SessionState, HookText::PromptGuard, HookText::SecretGuard, HookText::InjectionScanner],
    );
    let events = session.events();
    let Some(start) = events.iter().find(|event| event["type"] == "system" && event["subtype"] == "init") else {
        bench.expect(Check::Known, false, || "the client did not say what it loaded".to_owned());
        return;
    };
    let known = strings(&start["slash_commands"], "name");
    bench.expect_names("the slash command", bench.command_names("gsd-"), &known);
    bench.expect_names("the slash command", bench.router_names("gsd-"), &known);
    bench.expect_names("the agent", bench.agent_names(), &strings(&start["agents"], "name"));
    bench.expect_no_complaint(&session.finished.stderr);
    let log = std::fs::read_to_string(&log).unwrap_or_default();
    let complaints: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("[WARN]") || line.contains("[ERROR]") || line.contains("uplicate"))
        .collect();
    bench.expect_no_complaint(&complaints.join("\n"));
}

/// The plugin, installed as its report says: validated, listed, and every command, agent and hook in use.
pub(crate) fn check_plugin(bench: &mut Bench<'_>) {
    let (folder, load) = bench.package_ours(&CLIENT.package);
    let validated = bench.run_line(HANDS, &format!("claude plugin validate {}", folder.display()), &[], prepare);
    bench.expect(Check::Quiet, validated.contains("Validation passed"), || validated.clone());
    for line in load {
        bench.run_line(HANDS, &line, &[], prepare);
    }
    let listed = bench.run_line(HANDS, "claude plugin list", &[], prepare);
    bench.expect(Check::Known, listed.contains("gsd@gsd-tools") && listed.contains("enabled"), || listed.clone());
    let session = bench.run(HANDS, |command, url| {
        prepare(command, url);
        command.args(["-p", &format!("/gsd:{COMMAND} 1"), "--output-format", "stream-json", "--verbose"]);
        // What a plugin cannot do: allow our program, and files outside the project.
        command.args(["--dangerously-skip-permissions"]);
    });
    bench.expect_loaded(&session, Typed::Expanded);
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SessionState, HookText::PromptGuard, HookText::SecretGuard, HookText::InjectionScanner],
    );
    let events = session.events();
    let start = events.iter().find(|event| event["subtype"] == "init").cloned().unwrap_or_default();
    let known = strings(&start["slash_commands"], "name");
    bench.expect_names("the slash command", bench.command_names("gsd:"), &known);
    bench.expect_names("the slash command", bench.router_names("gsd:"), &known);
    let agents = bench.agent_names().into_iter().map(|name| format!("gsd:{name}")).collect();
    bench.expect_names("the agent", agents, &strings(&start["agents"], "name"));
    bench.expect_no_complaint(&session.finished.stderr);
}

pub(crate) fn prepare(command: &mut Command, url: &str) {
    command
        .envs(pointed("claude").variables(url))
        // As root, the client skips permissions only if it believes that it is in a sandbox.
        .env("IS_SANDBOX", "1")
        .env("DISABLE_AUTOUPDATER", "1");
}
