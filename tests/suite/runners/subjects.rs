//! The clients that get units, each with the settings that make it ask the suite's model.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::clients::dialects::MODEL;
use crate::clients::exchange::ToolCall;
use crate::clients::install::{self, NotRun, Package, Source};
use crate::clients::obedient::{Hands, NamedFile};
use crate::clients::pointed::{pointed, write_settings};
use crate::clients::{claude, cline, codebuddy, codex, copilot, gemini, kilo, kimi_code, opencode, pi, qwen};
use crate::kit::TestContext;

/// A client that gets units.
pub(crate) struct Subject {
    /// The name of its runner.
    pub(crate) name: &'static str,
    pub(crate) package: &'static Package,
    pub(crate) hands: Hands,
    /// The model to name, if its settings do not name one.
    pub(crate) model: Option<&'static str>,
    /// Writes the user's settings below the home folder, and adds the variables to the command.
    set_up: fn(&mut Command, &TestContext, &str),
    /// How to make it end after two turns, if possible.
    pub(crate) two_turns: Option<TwoTurns>,
    /// The arguments of a manual use that leaves a daemon, which takes over the work of the next one.
    pub(crate) daemon: &'static [&'static str],
    /// Its stream does not report the tokens used.
    pub(crate) is_silent_on_tokens: bool,
}

/// A limit of two turns, in the user's settings or by words on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwoTurns {
    pub(crate) setting: fn(&TestContext),
    pub(crate) words: &'static [&'static str],
}

const BY_WORDS: TwoTurns = TwoTurns { setting: |_| {}, words: &["--max-turns", "2"] };

impl Subject {
    /// Prepares the home of `context`, and `command` so that what it starts asks the model at `url`.
    pub(crate) fn set_up(&self, command: &mut Command, context: &TestContext, url: &str, program: &Path) {
        command.env("PATH", install::search_path(program));
        // Requests that would leave the machine go to the mock server, which refuses them.
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            command.env(proxy, url);
        }
        command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
        (self.set_up)(command, context, url);
    }

    pub(crate) fn program(&self) -> Result<std::path::PathBuf, NotRun> {
        install::program_of(self.package)
    }
}

fn write_home(context: &TestContext, path: &str, text: &str) {
    let path = context.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Applies the facts of `gsd-tools auto probe` about the client.
fn as_probed(client: &str, command: &mut Command, context: &TestContext, url: &str) {
    write_settings(client, &context.home(), url);
    command.envs(pointed(client).variables(url));
}

/// The variables that `prepare` gives a command of the client itself.
fn variables_of(command: &mut Command, prepare: impl FnOnce(&mut Command)) {
    let mut own = Command::new("client");
    prepare(&mut own);
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
}

pub(crate) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "claude",
        package: &claude::CLIENT.package,
        hands: claude::HANDS,
        model: None,
        set_up: |command, context, url| as_probed("claude", command, context, url),
        two_turns: Some(BY_WORDS),
        daemon: &[],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "codex",
        package: &codex::CLIENT.package,
        hands: codex::HANDS,
        model: None,
        set_up: |command, context, url| as_probed("codex", command, context, url),
        two_turns: None,
        daemon: &[],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "gemini",
        package: &gemini::CLIENT.package,
        hands: gemini::HANDS,
        model: None,
        set_up: |command, context, url| as_probed("gemini", command, context, url),
        two_turns: Some(TwoTurns { setting: |context| with_setting(context, ".gemini/settings.json"), words: &[] }),
        daemon: &[],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "qwen",
        package: &qwen::CLIENT.package,
        hands: qwen::HANDS,
        model: None,
        set_up: |command, context, url| as_probed("qwen", command, context, url),
        two_turns: Some(TwoTurns { setting: |context| with_setting(context, ".qwen/settings.json"), words: &[] }),
        daemon: &[],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "opencode",
        package: &opencode::CLIENT.package,
        hands: opencode::HANDS,
        model: None,
        set_up: |command, context, url| as_probed("opencode", command, context, url),
        two_turns: None,
        daemon: &[],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "copilot",
        package: &copilot::CLIENT.package,
        hands: copilot::HANDS,
        model: None,
        set_up: |command, context, url| as_probed("copilot", command, context, url),
        two_turns: None,
        daemon: &[],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "codebuddy",
        package: &codebuddy::CLIENT.package,
        hands: codebuddy::HANDS,
        model: Some(MODEL),
        set_up: |command, _, url| variables_of(command, |own| codebuddy::prepare(own, url)),
        two_turns: Some(BY_WORDS),
        daemon: &[],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "cline",
        package: &cline::CLIENT.package,
        hands: cline::HANDS,
        model: None,
        set_up: |command, context, url| {
            // As a person signs in, once.
            let mut own = context.command("cline");
            own.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            own.args(["auth", "openai-compatible", "--apikey", "none", "--modelid", MODEL]);
            own.args(["--baseurl", &format!("{url}/v1")]);
            let signed_in = own.output().unwrap();
            assert!(signed_in.status.success(), "{}", String::from_utf8_lossy(&signed_in.stderr));
        },
        two_turns: None,
        daemon: &["--json", "Hello there"],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "kimi",
        package: &kimi_code::CLIENT.package,
        hands: kimi_code::HANDS,
        model: None,
        set_up: |command, _, url| variables_of(command, |own| kimi_code::prepare(own, url)),
        two_turns: None,
        daemon: &[],
        is_silent_on_tokens: true,
    },
    Subject {
        name: "pi",
        package: &pi::CLIENT.package,
        hands: pi::HANDS,
        model: None,
        set_up: |_, context, url| {
            let provider = json!({
                "baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "none", "models": [{"id": MODEL}],
            });
            write_home(context, ".pi/agent/settings.json", pi::SETTINGS);
            write_home(context, ".pi/agent/models.json", &json!({"providers": {"suite": provider}}).to_string());
        },
        two_turns: None,
        daemon: &[],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "droid",
        package: &DROID,
        hands: DROID_HANDS,
        model: Some("custom:suite"),
        set_up: |command, context, url| {
            let model = json!({
                "model": MODEL, "id": "custom:suite", "displayName": "suite", "baseUrl": format!("{url}/v1"),
                "apiKey": "none", "provider": "generic-chat-completion-api", "maxOutputTokens": 4000,
            });
            write_home(context, ".factory/settings.json", &json!({"customModels": [model]}).to_string());
            command.env("FACTORY_API_KEY", "fk-suite");
        },
        two_turns: None,
        daemon: &[],
        is_silent_on_tokens: false,
    },
    Subject {
        name: "kilo",
        package: &kilo::CLIENT.package,
        hands: opencode::HANDS,
        model: None,
        set_up: |command, _, url| variables_of(command, |own| opencode::prepare(own, url, "KILO")),
        two_turns: None,
        daemon: &[],
        is_silent_on_tokens: false,
    },
];

/// Sets the limit of turns in the user's settings, before the existing text.
fn with_setting(context: &TestContext, path: &str) {
    let path = context.home().join(path);
    let settings = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, settings.replacen('{', r#"{ "model": { "maxSessionTurns": 2 },"#, 1)).unwrap();
}

/// Not one of our hosts: it is only driven.
const DROID: Package = Package { host: "droid", source: Source::Npm("droid"), version: "0.215.0", program: "droid" };

const DROID_HANDS: Hands = Hands {
    shell: |command| ToolCall {
        name: "Execute",
        namespace: None,
        arguments: json!({"command": command, "timeout": 120, "riskLevel": "low", "riskLevelReason": "a step"}),
    },
    read: |file: &NamedFile<'_>| ToolCall { name: "Read", namespace: None, arguments: json!({"file_path": file.path}) },
    spawn: |_, errand| ToolCall { name: "Task", namespace: None, arguments: json!({"prompt": errand}) },
    write: Some(|path, text| ToolCall {
        name: "Create",
        namespace: None,
        arguments: json!({"file_path": path, "content": text}),
    }),
    finish: None,
};
