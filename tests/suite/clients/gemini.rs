//! Gemini CLI: commands in TOML under `/gsd:`, agents in Markdown.

use std::process::Command;

use serde_json::{Map, json};
use sha2::{Digest, Sha256};

use super::Client;
use super::bench::{Bench, HookText, Scope, Session, Typed};
use super::checks::Check;
use super::exchange::ToolCall;
use super::install::{Package, Source::Npm};
use super::library::COMMAND;
use super::obedient::Hands;
use super::pointed::{pointed, write_settings};

pub(crate) const CLIENT: Client = Client {
    package: Package { host: "gemini", source: Npm("@google/gemini-cli"), version: "0.61.0", program: "gemini" },
    before_install: |bench| write_settings("gemini", &bench.home(), ""),
    check,
    greet: |bench| run(bench, "Hello"),
};

pub(crate) const HANDS: Hands = Hands {
    shell: |command| pointed("gemini").shell.call(command),
    // Its file tools do not leave the workspace; the shell does, if our policy allows it.
    read: |file| match file.written {
        written if written.contains("gsd-core/") => ToolCall {
            name: "run_shell_command",
            namespace: None,
            arguments: json!({"command": format!("cat {written}")}),
        },
        _ => ToolCall { name: "read_file", namespace: None, arguments: json!({"file_path": file.path}) },
    },
    spawn: |agent, errand| ToolCall {
        name: "invoke_agent",
        namespace: None,
        arguments: json!({"agent_name": agent, "prompt": errand}),
    },
    write: Some(|path, text| ToolCall {
        name: "write_file",
        namespace: None,
        arguments: json!({"file_path": path, "content": text}),
    }),
    finish: Some(|result| ToolCall { name: "complete_task", namespace: None, arguments: json!({"result": result}) }),
};

fn check(bench: &mut Bench<'_>) {
    if bench.scope == Scope::Local {
        trust(bench);
    }
    let session = run(bench, &format!("/gsd:{COMMAND} 1"));
    bench.expect_loaded(&session, Typed::Expanded);
    bench.expect_listing(&session, COMMAND);
    // This client shows the output of a before-tool hook to the user, not to the model.
    bench.expect_hooks(&session, &["before-tool", "after-tool"], &[HookText::SecretGuard, HookText::InjectionScanner]);
    bench.expect_no_complaint(&session.finished.stderr);
}

/// The extension, installed as its report says: validated, listed, and a command, the agents and the hooks in use.
pub(crate) fn check_plugin(bench: &mut Bench<'_>) {
    let (folder, load) = bench.package_ours(&CLIENT.package);
    bench.write_home(".gemini/trustedFolders.json", &json!({folder.to_string_lossy(): "TRUST_FOLDER"}).to_string());
    let validate = format!("gemini extensions validate {}", folder.display());
    let validated = bench.run_line(HANDS, &validate, &[], prepare);
    bench.expect(Check::Quiet, validated.contains("successfully validated"), || validated.clone());
    for line in load {
        bench.run_line(HANDS, &line, &["--consent"], prepare);
    }
    let listed = bench.run_line(HANDS, "gemini extensions list", &[], prepare);
    bench.expect_no_complaint(&listed);
    bench.expect(Check::Known, listed.contains(&format!("gsd ({})", env!("CARGO_PKG_VERSION"))), || listed.clone());
    let session = bench.run(HANDS, |command, url| {
        prepare(command, url);
        // What an extension cannot do: allow our program.
        command.args(MODEL).args(["--skip-trust", "--approval-mode", "yolo", "-p", &format!("/gsd:{COMMAND} 1")]);
    });
    bench.expect_loaded(&session, Typed::Expanded);
    bench.expect_listing(&session, COMMAND);
    bench.expect_hooks(&session, &["before-tool", "after-tool"], &[HookText::SecretGuard, HookText::InjectionScanner]);
    bench.expect_no_complaint(&session.finished.stderr);
}

pub(crate) fn prepare(command: &mut Command, url: &str) {
    command.envs(pointed("gemini").variables(url));
}

/// A named model: the automatic choice asks a model first, in a different form.
pub(crate) const MODEL: [&str; 2] = ["-m", "gemini-2.5-flash"];

fn run(bench: &Bench<'_>, prompt: &str) -> Session {
    bench.run(HANDS, |command, url| {
        prepare(command, url);
        command.args(MODEL);
        match bench.scope {
            Scope::Global => command.args(["--skip-trust", "--approval-mode", "auto_edit"]),
            // A project's policies are not read, so the model may not call our binary unasked.
            Scope::Local => command.args(["--approval-mode", "yolo"]),
        };
        command.args(["-p", prompt]);
    })
}

/// What the client writes when the user trusts a project and acknowledges each of its agents.
fn trust(bench: &Bench<'_>) {
    let project = bench.project().to_string_lossy().into_owned();
    bench.write_home(".gemini/trustedFolders.json", &json!({&project: "TRUST_FOLDER"}).to_string());
    let agents: Map<_, _> = bench
        .agent_names()
        .into_iter()
        .filter_map(|name| {
            let text = std::fs::read(bench.project().join(format!(".gemini/agents/{name}.md"))).ok()?;
            let digest: String =
                Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
            Some((name, json!(digest)))
        })
        .collect();
    bench.write_home(".gemini/acknowledgments/agents.json", &json!({&project: agents}).to_string());
}
