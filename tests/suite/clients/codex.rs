//! Codex: skills by `$name`, agent roles in TOML, in the home or in a trusted project.

use std::process::Command;

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Scope, Session, Typed};
use super::checks::Check;
use super::exchange::ToolCall;
use super::install::{Package, Source::Npm};
use super::library::{COMMAND, flat};
use super::obedient::Hands;
use super::pointed::pointed;

pub(crate) const CLIENT: Client = Client {
    package: Package { host: "codex", source: Npm("@openai/codex"), version: "0.169.0", program: "codex" },
    before_install: |_| {},
    check,
    greet: |bench| run(bench, "Hello"),
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| pointed("codex").shell.call(command),
    read: |file| ToolCall {
        name: "exec_command",
        namespace: None,
        arguments: json!({"cmd": format!("cat {}", file.written)}),
    },
    spawn: |agent, errand| ToolCall {
        name: "spawn_agent",
        namespace: Some("collaboration"),
        // Without `fork_turns` the agent inherits the whole conversation.
        arguments: json!({"agent_type": agent, "task_name": "errand", "message": errand, "fork_turns": "none"}),
    },
    // The tool takes a program; hooks do not recognise a patch that is sent by the shell.
    write: Some(|path, text| {
        let patch = json!(format!("*** Begin Patch\n*** Add File: {path}\n+{text}*** End Patch\n"));
        ToolCall {
            name: "exec",
            namespace: Some("functions"),
            arguments: json!(format!("text(await tools.apply_patch({patch}))")),
        }
    }),
    finish: None,
};

/// For agents that are texts.
const NAMELESS: Hands = Hands {
    spawn: |_, errand| ToolCall {
        name: "spawn_agent",
        namespace: Some("collaboration"),
        arguments: json!({"task_name": "errand", "message": errand, "fork_turns": "none"}),
    },
    ..HANDS
};

fn check(bench: &mut Bench<'_>) {
    let session = run(bench, &format!("$gsd-{COMMAND} 1"));
    bench.expect_loaded(&session, Typed::Expanded);
    if !session.finished.succeeded() {
        return;
    }
    bench.expect_listing(&session, COMMAND);
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SessionState, HookText::PromptGuard, HookText::SecretGuard, HookText::InjectionScanner],
    );
    bench.expect_no_complaint(&session.finished.stderr);
    let complaints: Vec<String> = session
        .events()
        .iter()
        .filter(|event| event["item"]["type"] == "error")
        .map(|event| event["item"]["message"].to_string())
        .collect();
    bench.expect_no_complaint(&complaints.join("\n"));

    // One line may name many skills: each must bring its text.
    let every = [bench.command_names("$gsd-"), bench.router_names("$gsd-")].concat().join(" ");
    expect_every(bench, &every);
}

fn expect_every(bench: &mut Bench<'_>, every: &str) {
    let text = run(bench, every).first_text().unwrap_or_default();
    for command in &bench.library.commands {
        bench.expect(Check::Known, text.contains(&flat(&command.phrase)), || {
            format!("the command `{}` brings no text of ours", command.stem)
        });
    }
}

/// The plugin, installed as its report says: listed, and every command and the hooks in use.
pub(crate) fn check_plugin(bench: &mut Bench<'_>) {
    let (_, load) = bench.package_ours(&CLIENT.package);
    for line in load {
        bench.run_line(HANDS, &line, &[], |_, _| {});
    }
    let listed = bench.run_line(HANDS, "codex plugin list", &[], |_, _| {});
    bench.expect(Check::Known, listed.contains("gsd@gsd-tools") && listed.contains("installed, enabled"), || {
        listed.clone()
    });
    let session = run_with(NAMELESS, bench, &format!("$gsd:{COMMAND} 1"));
    bench.expect_loaded_with_roles(&session, Typed::Expanded);
    bench.expect_listing(&session, COMMAND);
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SessionState, HookText::PromptGuard, HookText::SecretGuard, HookText::InjectionScanner],
    );
    bench.expect_no_complaint(&session.finished.stderr);
    let every = [bench.command_names("$gsd:"), bench.router_names("$gsd:")].concat().join(" ");
    expect_every(bench, &every);
}

fn run(bench: &Bench<'_>, prompt: &str) -> Session {
    run_with(HANDS, bench, prompt)
}

fn run_with(hands: Hands, bench: &Bench<'_>, prompt: &str) -> Session {
    bench.run(hands, |command, url| {
        command.env("SUITE_KEY", "none");
        command.args(["exec", "--json", "--strict-config"]);
        command.args(["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]);
        provider(command, url);
        if bench.scope == Scope::Local {
            command.arg("--trust");
        }
        command.arg(prompt);
    })
}

/// Points the client at the mock server.
pub(crate) fn provider(command: &mut Command, url: &str) {
    command.arg("-c").arg(format!(
        "model_providers.suite={{name=\"suite\",base_url=\"{url}/v1\",env_key=\"SUITE_KEY\",wire_api=\"responses\"}}"
    ));
    // The client's own choice of model: an unknown one gets other tools and shorter tool results.
    command.args(["-c", "model_provider=\"suite\""]);
}
