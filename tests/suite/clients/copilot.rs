//! Copilot CLI: skills and agents. Its print mode sends a slash command as typed.

use std::path::PathBuf;

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Scope, Session, Typed, strings};
use super::checks::Check;
use super::exchange::ToolCall;
use super::install::{Package, Source::Npm};
use super::library::COMMAND;
use super::obedient::Hands;
use super::pointed::pointed;

pub(crate) const CLIENT: Client = Client {
    package: Package { host: "copilot", source: Npm("@github/copilot"), version: "1.0.102", program: "copilot" },
    before_install: |_| {},
    check,
    greet: |bench| run(bench, "Hello"),
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| pointed("copilot").shell.call(command),
    // Its file tools ask before reading outside the working folder; our text says to use the shell.
    read: |file| ToolCall {
        name: "bash",
        namespace: None,
        arguments: json!({"command": format!("cat {}", file.written), "description": "A file", "mode": "sync",
                          "shellId": "suite"}),
    },
    spawn: |agent, errand| ToolCall {
        name: "task",
        namespace: None,
        arguments: json!({"agent_type": agent, "name": "errand", "description": "An errand", "prompt": errand,
                          "mode": "sync"}),
    },
    write: Some(|path, text| ToolCall {
        name: "create",
        namespace: None,
        arguments: json!({"path": path, "file_text": text}),
    }),
    finish: None,
};

fn check(bench: &mut Bench<'_>) {
    if bench.scope == Scope::Local {
        // What the client writes when the user trusts a folder; without it a project's hooks do not run.
        let trusted = json!({"trusted_folders": [bench.project()]});
        bench.write_home(".copilot/config.json", &trusted.to_string());
    }
    let session = run(bench, &format!("/gsd-{COMMAND} 1"));
    bench.expect_loaded(&session, Typed::SentAsTyped);
    bench.expect_listing(&session, "");
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SessionState, HookText::PromptGuard, HookText::SecretGuard, HookText::InjectionScanner],
    );
    let events = session.events();
    let loaded = events.iter().find(|event| event["type"] == "session.skills_loaded");
    let names = loaded.map(|event| strings(&event["data"]["skills"], "name")).unwrap_or_default();
    bench.expect_names("the skill", bench.command_names("gsd-"), &names);
    bench.expect_names("the skill", bench.router_names("gsd-"), &names);
    bench.expect_no_complaint(&session.finished.stderr);
    for log in std::fs::read_dir(logs(bench)).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(log.path()).unwrap_or_default();
        let complaints: Vec<&str> =
            text.lines().filter(|line| line.contains("[WARNING]") || line.contains("[ERROR]")).collect();
        bench.expect_no_complaint(&complaints.join("\n"));
    }
}

/// The plugin, installed as its report says: listed, and every command, the agents and the hooks in use.
pub(crate) fn check_plugin(bench: &mut Bench<'_>) {
    let (_, load) = bench.package_ours(&CLIENT.package);
    for line in load {
        bench.run_line(HANDS, &line, &[], |_, _| {});
    }
    let listed = bench.run_line(HANDS, "copilot plugin list", &[], |_, _| {});
    bench.expect(Check::Known, listed.contains("gsd@gsd-tools") && listed.contains("(enabled)"), || listed.clone());
    let session = run(bench, &format!("/gsd:{COMMAND} 1"));
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SessionState, HookText::PromptGuard, HookText::SecretGuard, HookText::InjectionScanner],
    );
    bench.expect_agents(&session);
    let events = session.events();
    let loaded = events.iter().find(|event| event["type"] == "session.skills_loaded");
    let names = loaded.map(|event| strings(&event["data"]["skills"], "commandName")).unwrap_or_default();
    bench.expect_names("the command", bench.command_names("gsd:"), &names);
    bench.expect_names("the command", bench.router_names("gsd:"), &names);
    bench.expect_no_complaint(&session.finished.stderr);
}

fn run(bench: &Bench<'_>, prompt: &str) -> Session {
    bench.run(HANDS, |command, url| {
        command.envs(pointed("copilot").variables(url));
        command.args(["-p", prompt, "--allow-all-tools", "--output-format", "json", "--log-level", "debug"]);
        command.arg("--log-dir").arg(logs(bench));
    })
}

fn logs(bench: &Bench<'_>) -> PathBuf {
    bench.home().join("logs")
}
