//! pi: prompt files that are typed, skills, roles for another run of the program, a module for hooks; in the home or in
//! the project.

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Session, Typed, in_shell, strings};
use super::dialects::MODEL;
use super::exchange::ToolCall;
use super::install::{Package, Source::Npm};
use super::library::COMMAND;
use super::obedient::Hands;

pub(crate) const CLIENT: Client = Client {
    package: Package { host: "pi", source: Npm("@mariozechner/pi-coding-agent"), version: "0.73.1", program: "pi" },
    before_install: |bench| bench.write_home(".pi/agent/settings.json", SETTINGS),
    check,
    greet: |bench| run(bench, "Hello"),
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| ToolCall { name: "bash", namespace: None, arguments: json!({"command": command}) },
    read: |file| ToolCall { name: "read", namespace: None, arguments: json!({"path": file.path}) },
    // It has no tool for agents: the shell runs the program again.
    spawn: |_, errand| ToolCall {
        name: "bash",
        namespace: None,
        arguments: json!({"command": format!("pi -p '{errand}'")}),
    },
    write: Some(|path, text| ToolCall {
        name: "write",
        namespace: None,
        arguments: json!({"path": path, "content": text}),
    }),
    finish: None,
};

/// The settings of a user who chose their own model.
pub(crate) const SETTINGS: &str = r#"{"defaultProvider": "suite", "defaultModel": "suite-model"}"#;

/// Asks for the list of commands.
const ASKED: &str = r#"printf '{"type":"get_commands"}\n' | "$SUITE_PROGRAM" --mode rpc"#;

fn check(bench: &mut Bench<'_>) {
    let session = run(bench, &format!("/gsd-{COMMAND} 1"));
    bench.expect_loaded_with_roles(&session, Typed::Expanded);
    bench.expect_listing(&session, COMMAND);
    bench.expect_hooks(
        &session,
        &["session-start", "before-tool", "after-tool"],
        &[HookText::SessionState, HookText::PromptGuard, HookText::SecretGuard, HookText::InjectionScanner],
    );
    bench.expect_no_complaint(&session.finished.stderr);

    let asked = bench.run(HANDS, |command, _| *command = in_shell(command, ASKED));
    let answers = asked.events();
    let known = answers.iter().find(|answer| answer["command"] == "get_commands");
    let known = known.map(|answer| strings(&answer["data"]["commands"], "name")).unwrap_or_default();
    bench.expect_names("the command", bench.command_names("gsd-"), &known);
    bench.expect_names("the skill", bench.router_names("skill:gsd-"), &known);
    bench.expect_no_complaint(&asked.finished.stderr);
}

fn run(bench: &Bench<'_>, prompt: &str) -> Session {
    bench.run(HANDS, |command, url| {
        let provider = json!({
            "baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "none", "models": [{"id": MODEL}],
        });
        bench.write_home(".pi/agent/models.json", &json!({"providers": {"suite": provider}}).to_string());
        command.args(["-p", prompt]);
    })
}
