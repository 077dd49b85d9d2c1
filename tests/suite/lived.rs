//! Homes and projects as people have them before they install us: settings with comments and unusual formatting, hooks,
//! agents, links.

use std::path::{Path, PathBuf};

use crate::kit::{Ran, TestContext};
use crate::tree::{Tree, tree};

/// A host as its user set it up.
pub(crate) struct Host {
    pub(crate) flag: &'static str,
    /// Below the home folder, and below the project; empty if the host has no folder in a project.
    pub(crate) global: &'static str,
    pub(crate) local: &'static str,
    /// Files below either of them.
    files: &'static [(&'static str, &'static str)],
    /// One of `files`, which is a link into a dotfiles folder.
    linked: &'static str,
}

pub(crate) const HOSTS: &[Host] = &[
    Host {
        flag: "--claude",
        global: ".claude",
        local: ".claude",
        files: &[
            (
                "settings.json",
                "{\n\t// tabs and comments\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \
                 \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"mine.sh\" }] }\n\t\t]\n\t}\n}",
            ),
            ("settings.local.json", "{\"permissions\":{\"allow\":[\"Bash(ls:*)\"]}}"),
            ("agents/reviewer.md", "---\nname: reviewer\n---\nMine.\n"),
            ("skills/own/SKILL.md", "---\nname: own\n---\n"),
            ("CLAUDE.md", "# Mine\r\n"),
        ],
        linked: "settings.json",
    },
    Host {
        flag: "--codex",
        global: ".codex",
        local: ".codex",
        files: &[
            (
                "config.toml",
                "# my settings\r\nmodel   = \"gpt-5\" # the big one\r\n\r\n[features]\r\nweb_search = true\r\n\r\n\
                 [mcp_servers.docs]\r\ncommand = \"docs\"\r\nargs = [\r\n  \"--all\",\r\n]\r\n",
            ),
            (
                "hooks.json",
                "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"hello\"}]}]}}",
            ),
            ("agents/own.toml", "name = \"own\"\n"),
            ("AGENTS.md", "# Mine"),
        ],
        linked: "config.toml",
    },
    Host {
        flag: "--gemini",
        global: ".gemini",
        local: ".gemini",
        files: &[
            (
                "settings.json",
                "\u{feff}{\n    /* four spaces */\n    \"theme\": \"GitHub\",\n    \"mcpServers\": {},\n    \"hooks\": \
                 {\"SessionStart\": []}\n}\n\n",
            ),
            ("commands/own.toml", "prompt = \"mine\"\n"),
            ("GEMINI.md", "mine\n"),
        ],
        linked: "settings.json",
    },
    Host {
        flag: "--opencode",
        global: ".config/opencode",
        local: ".opencode",
        files: &[
            (
                "opencode.jsonc",
                "{\n  // the schema\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"permission\": {\n    \
                 \"read\": { \"*.env\": \"deny\", },\n  },\n  \"mcp\": {} // none yet\n}\n",
            ),
            ("commands/own.md", "mine\n"),
        ],
        linked: "opencode.jsonc",
    },
    Host {
        flag: "--copilot",
        global: ".copilot",
        local: ".github",
        files: &[
            ("copilot-instructions.md", "# House rules\n\n- Be brief."),
            ("workflows/ci.yml", "on: push\n"),
            ("agents/own.agent.md", "---\nname: own\n---\n"),
        ],
        linked: "copilot-instructions.md",
    },
    Host {
        flag: "--qwen",
        global: ".qwen",
        local: ".qwen",
        files: &[
            (
                "settings.json",
                "{\n  // by key\n  \"security\": { \"auth\": { \"selectedType\": \"openai\" } },\n  \"ui\": { \"theme\": \
                 \"GitHub\" },\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"mine.sh\" \
                 }] }]\n  }\n}",
            ),
            ("agents/own.md", "---\nname: own\ndescription: mine\n---\nMine, all mine.\n"),
            ("QWEN.md", "mine\r\n"),
        ],
        linked: "settings.json",
    },
    Host {
        flag: "--codebuddy",
        global: ".codebuddy",
        local: ".codebuddy",
        files: &[
            (
                "settings.json",
                "{\"model\":\"mine\",\"statusLine\":{\"type\":\"command\",\"command\":\"mine.sh\"},\"permissions\":{\"allow\":[]}}",
            ),
            ("settings.local.json", "{\r\n    \"permissions\": { \"deny\": [ \"Read(./.env)\" ] }\r\n}\r\n"),
            ("commands/own.md", "Mine: $1\n"),
        ],
        linked: "settings.local.json",
    },
    Host {
        flag: "--kimi",
        global: ".kimi",
        local: ".kimi",
        files: &[
            (
                "config.toml",
                "# my settings\r\ndefault_model = \"mine\"\r\n\r\n[models.mine]  # the only one\r\nprovider = \
                 \"mine\"\r\nmodel = \"m\"\r\nmax_context_size = 1000\r\n\r\n[[hooks]]\r\nevent = \"Stop\"\r\ncommand = \
                 \"mine.sh\" # rings\r\n\r\n[loop_control]\r\nmax_steps_per_turn = 5",
            ),
            ("skills/own/SKILL.md", "---\nname: own\ndescription: mine\n---\n"),
        ],
        linked: "config.toml",
    },
    Host {
        flag: "--kimi-code",
        global: ".kimi-code",
        local: ".kimi-code",
        files: &[
            ("config.toml", "hooks = [{ event = \"Stop\", command = \"mine.sh\" }]\n\n[experimental]\nx = true\n"),
            ("AGENTS.md", "# Mine\n"),
            ("agents/own.md", "---\nname: own\ndescription: mine\n---\nMine.\n"),
        ],
        linked: "AGENTS.md",
    },
    Host {
        flag: "--cursor",
        global: ".cursor",
        local: ".cursor",
        files: &[
            (
                "hooks.json",
                "{ \"version\": 1,\n  \"hooks\": { \"sessionStart\": [ { \"command\": \"mine.sh\" } ] } }\n",
            ),
            ("rules/own.mdc", "mine\n"),
        ],
        linked: "hooks.json",
    },
    Host {
        flag: "--hermes",
        global: ".hermes",
        local: "",
        files: &[
            (
                "config.yaml",
                "# Hermes\r\nmodel:\r\n  default: \"big # one\" # the big one\r\n\r\nhooks: # mine\r\n  pre_tool_call:\r\n  \
                 - command: ~/mine.sh\r\n    matcher: terminal\r\n    # not yet: timeout\r\n  on_session_end: []\r\n\
                 personality: |\r\n  hooks:\r\n    - are fine\r\n\r\n# ── end ──",
            ),
            ("skills/own/SKILL.md", "---\nname: own\n---\n"),
            ("SOUL.md", "mine\n"),
        ],
        linked: "config.yaml",
    },
    Host {
        flag: "--windsurf",
        global: ".codeium/windsurf",
        local: ".windsurf",
        files: &[
            (
                "hooks.json",
                "{\"hooks\":{\"pre_run_command\":[{\"command\":\"python3 mine.py\",\"show_output\":true}]}}\n",
            ),
            ("skills/own/SKILL.md", "---\nname: own\n---\n"),
            ("rules/own.md", "mine\n"),
        ],
        linked: "hooks.json",
    },
    Host {
        flag: "--antigravity",
        global: ".gemini/config",
        local: ".agents",
        files: &[
            ("hooks.json", "{\"own\": {\"PreToolUse\": []}}\n"),
            ("mcp_config.json", "{}"),
            ("skills/own/SKILL.md", "---\nname: own\n---\n"),
        ],
        linked: "hooks.json",
    },
    Host {
        flag: "--trae",
        global: ".trae",
        local: ".trae",
        files: &[("user_rules.md", "mine\n"), ("skills/own/SKILL.md", "---\nname: own\n---\n")],
        linked: "user_rules.md",
    },
    Host {
        flag: "--zcode",
        global: ".zcode",
        local: ".zcode",
        files: &[("config.json", "{}\n"), ("skills/own/SKILL.md", "---\nname: own\n---\n")],
        linked: "config.json",
    },
    Host {
        flag: "--kilo",
        global: ".config/kilo",
        local: ".kilo",
        files: &[
            // One answer for all shell commands leaves no room for ours.
            (
                "kilo.json",
                "{\n    \"permission\": {\"bash\": \"ask\",\n                   \"edit\": {\"*\": \"ask\",},},\n}",
            ),
            ("command/own.md", "mine\n"),
            ("plugins/own.js", "export const Own = async () => ({})\n"),
        ],
        linked: "kilo.json",
    },
    Host {
        flag: "--augment",
        global: ".augment",
        local: ".augment",
        files: &[
            (
                "settings.json",
                "{\n  \"hooks\": {\"PreToolUse\": [{\"matcher\": \"view\", \"hooks\": \
                 [{\"type\": \"command\", \"command\": \"mine.sh\"}]}]}\n}\n",
            ),
            ("settings.local.json", "{\"toolPermissions\":[]}"),
            ("agents/own.md", "---\nname: own\n---\nMine.\n"),
            ("commands/own.md", "mine\n"),
        ],
        linked: "settings.json",
    },
    Host {
        flag: "--pi",
        global: ".pi/agent",
        local: ".pi",
        files: &[
            ("settings.json", "{\"theme\": \"dark\"}"),
            ("extensions/own.ts", "export default function () {}\n"),
            ("prompts/own.md", "mine\n"),
        ],
        linked: "settings.json",
    },
    Host {
        flag: "--cline",
        global: ".cline",
        local: ".cline",
        files: &[
            // A hook of the user has the name that ours would have.
            ("hooks/PreToolUse", "#!/bin/sh\necho '{}'\n"),
            ("workflows/own.md", "mine\n"),
            ("rules/own.md", "mine\n"),
            ("mcp.json", "{}\n"),
        ],
        linked: "mcp.json",
    },
];

impl Host {
    /// The flags of the scopes that it supports.
    pub(crate) fn scopes(&self) -> &'static [&'static str] {
        if self.local.is_empty() { &["--global"] } else { &["--global", "--local"] }
    }

    /// The text of one of its files.
    pub(crate) fn text(&self, path: &str) -> &'static str {
        self.files.iter().find(|(name, _)| *name == path).unwrap().1
    }
}

/// A home and a project in which every host was used before.
pub(crate) struct Lived {
    pub(crate) context: TestContext,
}

impl Lived {
    pub(crate) fn new() -> Self {
        Self::within(TestContext::new())
    }

    /// As [`Self::new`], on the disk.
    pub(crate) fn on_disk() -> Self {
        Self::within(TestContext::on_disk())
    }

    pub(crate) fn within(context: TestContext) -> Self {
        let lived = Self { context };
        for host in HOSTS {
            for scope in host.scopes() {
                lived.lay(host, scope);
            }
        }
        lived
    }

    /// The folder that contains everything of the user: home, project, dotfiles.
    pub(crate) fn everything(&self) -> PathBuf {
        self.context.home().parent().unwrap().to_path_buf()
    }

    pub(crate) fn root(&self, host: &Host, scope: &str) -> PathBuf {
        match scope {
            "--global" => self.context.home().join(host.global),
            _ => self.context.project().join(host.local),
        }
    }

    fn lay(&self, host: &Host, scope: &str) {
        let root = self.root(host, scope);
        for (path, text) in host.files {
            let path = if *path == host.linked { self.behind_the_link(host, scope) } else { root.join(path) };
            put(&path, text);
        }
        let dotfile = self.behind_the_link(host, scope);
        std::fs::create_dir_all(&root).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&dotfile, std::fs::Permissions::from_mode(0o640)).unwrap();
            std::os::unix::fs::symlink(&dotfile, root.join(host.linked)).unwrap();
        }
        #[cfg(not(unix))]
        std::fs::rename(&dotfile, root.join(host.linked)).unwrap();
    }

    fn behind_the_link(&self, host: &Host, scope: &str) -> PathBuf {
        // In a project a link must stay inside it.
        let folder = if scope == "--global" { self.everything() } else { self.context.project() };
        folder.join("dotfiles").join(host.flag).join(host.linked)
    }

    pub(crate) fn gsd<const N: usize>(&self, arguments: [&str; N]) -> Ran {
        self.gsd_with(&arguments, &[])
    }

    /// Runs the program with its state outside what [`Self::tree`] reads.
    pub(crate) fn gsd_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let state = self.state();
        let mut environment = environment.to_vec();
        environment.push(("XDG_STATE_HOME", state.to_str().unwrap()));
        self.context.gsd_with(arguments, &environment, "")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.everything().join("tmp/state")
    }

    /// Home, project and dotfiles.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = tree(&self.everything());
        tree.retain(|path, _| !path.starts_with("/tmp"));
        tree
    }
}

pub(crate) fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
