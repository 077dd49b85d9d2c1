//! Kimi CLI: skills that are typed as `/skill:`, roles for its own agents, hooks in its TOML.

use serde_json::json;

use super::Client;
use super::bench::{Bench, HookText, Scope, Session, Typed};
use super::exchange::ToolCall;
use super::install::{Package, Source::PyPi};
use super::library::COMMAND;
use super::obedient::Hands;

pub(crate) const CLIENT: Client = Client {
    package: Package { host: "kimi", source: PyPi("kimi-cli", 13), version: "1.51.0", program: "kimi" },
    before_install: |bench| bench.write_home(".kimi/config.toml", CONFIG),
    check,
    greet: |bench| run(bench, "Hello"),
};

const HANDS: Hands = Hands {
    shell: |command| ToolCall { name: "Shell", namespace: None, arguments: json!({"command": command}) },
    read: |file| ToolCall { name: "ReadFile", namespace: None, arguments: json!({"path": file.path}) },
    // It has only its own agents; the errand says which file is the role.
    spawn: |_, errand| ToolCall {
        name: "Agent",
        namespace: None,
        arguments: json!({"subagent_type": "coder", "description": "An errand", "prompt": errand}),
    },
    write: Some(|path, text| ToolCall {
        name: "WriteFile",
        namespace: None,
        arguments: json!({"path": path, "content": text}),
    }),
    finish: None,
};

/// The configuration of a user who chose their own model; the environment says where the model is.
const CONFIG: &str = r#"# mine
default_model = "suite"

[providers.suite]
type = "openai_legacy"
base_url = "http://127.0.0.1:9/v1"
api_key = "none"

[models.suite]
provider = "suite"
model = "suite-model"
max_context_size = 200000
"#;

fn check(bench: &mut Bench<'_>) {
    let session = run(bench, &format!("/skill:gsd-{COMMAND} 1"));
    bench.expect_loaded_with_roles(&session, Typed::Expanded);
    bench.expect_all_listed(&session);
    match bench.scope {
        Scope::Global => {
            bench.expect_hooks(&session, &["session-start", "before-tool", "after-tool"], &[HookText::SecretGuard]);
        }
        Scope::Local => bench.expect_no_hooks(),
    }
    for text in [HookText::SessionState, HookText::PromptGuard, HookText::InjectionScanner] {
        bench.expect_unheard(&session, text);
    }
    bench.expect_no_complaint(&session.finished.stderr);
    let log = std::fs::read_to_string(bench.home().join(".kimi/logs/kimi.log")).unwrap_or_default();
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("WARNING") || line.contains("ERROR")).collect();
    bench.expect_no_complaint(&complaints.join("\n"));
}

fn run(bench: &Bench<'_>, prompt: &str) -> Session {
    bench.run(HANDS, |command, url| {
        command
            .env("OPENAI_BASE_URL", format!("{url}/v1"))
            .env("OPENAI_API_KEY", "none")
            .env("KIMI_CLI_NO_AUTO_UPDATE", "1");
        command.args(["--print", "--prompt", prompt]);
    })
}
