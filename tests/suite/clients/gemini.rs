//! Gemini CLI: commands in TOML under `/gsd:`, agents in Markdown.

use serde_json::json;

use super::bench::Bench;
use super::install::Package;
use super::library::COMMAND;
use super::obedient::Hands;
use super::server::ToolCall;

pub(crate) const PACKAGE: Package =
    Package { host: "gemini", npm: "@google/gemini-cli", version: "0.61.0", program: "gemini" };

const HANDS: Hands = Hands {
    shell: |command| ToolCall {
        name: "run_shell_command",
        namespace: None,
        arguments: json!({"command": command, "description": "A step of the workflow"}),
    },
    // Its file tools do not leave the workspace; the shell does, where a policy of ours lets it.
    read: |file| ToolCall {
        name: "run_shell_command",
        namespace: None,
        arguments: json!({"command": format!("cat {}", file.written)}),
    },
    spawn: |agent, errand| ToolCall {
        name: "invoke_agent",
        namespace: None,
        arguments: json!({"agent_name": agent, "prompt": errand}),
    },
    finish: Some(|result| ToolCall { name: "complete_task", namespace: None, arguments: json!({"result": result}) }),
};

/// What a user has who signed in by key. Without it the client asks how to sign in, and ends.
const SETTINGS: &str = r#"{
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false }
}
"#;

pub(crate) fn check(bench: &mut Bench<'_>) {
    bench.write_home(".gemini/settings.json", SETTINGS);
    bench.install_ours(&PACKAGE);
    let session = bench.run(HANDS, |command, url| {
        command.env("GOOGLE_GEMINI_BASE_URL", url).env("GEMINI_API_KEY", "none");
        // A named model: the automatic choice asks a model first, in a shape of its own.
        command.args(["--skip-trust", "-m", "gemini-2.5-flash"]);
        command.args(["-p", &format!("/gsd:{COMMAND} 1")]);
    });
    bench.expect_loaded(&session);
    bench.expect_listing(&session, COMMAND);
    bench.expect_no_complaint(&session.finished.stderr);
}
