#!/bin/bash
# user.sh HOST SCOPE HOME PROJECT: a fresh home and project with files of the user's own for one host.
set -e
H=$1 S=$2 HO=$3 P=$4
mkdir -p "$HO" "$P"; [ -d "$P/.git" ] || git -C "$P" -c init.defaultBranch=main init -q
printf '# demo\n' > "$P/README.md"; printf '[user]\n\tname = U\n\temail = u@example.org\n' > "$HO/.gitconfig"
case $S in global)
 case $H in
  opencode|kilo) D=$HO/.config/$H;; windsurf) D=$HO/.codeium/windsurf;; antigravity) D=$HO/.gemini/antigravity; mkdir -p "$HO/.gemini/config";;
  pi) D=$HO/.pi/agent;; *) D=$HO/.$H;; esac;;
 local) case $H in copilot) D=$P/.github;; antigravity) D=$P/.agents; mkdir -p "$P/.agent";; *) D=$P/.$H;; esac;; esac
mkdir -p "$D"
j() { mkdir -p "$(dirname "$1")"; cat > "$1"; }
skill() { j "$D/skills/my-own/SKILL.md" <<'X'
---
name: my-own
description: A skill of the user's own
---
Mine.
X
}
agent() { j "$D/agents/my-agent.${1:-md}" <<'X'
---
name: my-agent
description: An agent of the user's own
---
Mine.
X
}
cmd() { j "$D/$1/mine.md" <<'X'
---
description: A command of the user's own
---
Mine.
X
}
claudelike='{
  "model": "sonnet",
  "env": {
    "FOO": "1"
  },
  "permissions": {
    "allow": ["Bash(make test:*)"],
    "deny": ["Read(./secrets/**)"]
  },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{ "type": "command", "command": "~/bin/my-own-check.sh" }]
      }
    ],
    "SessionStart": [
      { "hooks": [{ "type": "command", "command": "~/bin/hello.sh" }] }
    ]
  }
}
'
case $H in
 claude|qwen|codebuddy) printf '%s' "$claudelike" > "$D/settings.json"; skill; agent; cmd commands; j "$D/hooks/my-hook.sh" <<<'#!/bin/sh'; chmod 755 "$D/hooks/my-hook.sh"
   [ $S = local ] && [ $H != qwen ] && printf '{\n  "permissions": {\n    "allow": ["Bash(ls:*)"]\n  }\n}\n' > "$D/settings.local.json"
   [ $H = claude ] && printf '# My rules\n\nBe short.\n' > "$D/CLAUDE.md";;
 augment) printf '{\n  "model": "sonnet",\n  "hooks": {\n    "PreToolUse": [\n      { "matcher": "launch-process", "hooks": [{ "type": "command", "command": "/opt/mine.sh" }] }\n    ]\n  }\n}\n' > "$D/settings.json"; skill; agent; cmd commands;;
 gemini) printf '{\n  "general": { "vimMode": true },\n  "hooks": {\n    "BeforeTool": [\n      { "matcher": "run_shell_command", "hooks": [{ "type": "command", "command": "~/bin/mine.sh" }] }\n    ]\n  }\n}\n' > "$D/settings.json"; printf '# Mine\n' > "$D/GEMINI.md"; skill; agent;;
 antigravity) [ $S = global ] && printf '{\n  "general": { "vimMode": true }\n}\n' > "$HO/.gemini/settings.json"; skill;;
 codex) printf '# my settings\nmodel = "gpt-5"\napproval_policy = "on-request"\n\n[mcp_servers.mine]\ncommand = "/opt/mine"\n' > "$D/config.toml"
   printf '{\n  "hooks": {\n    "PreToolUse": [\n      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "/opt/mine.sh" }] }\n    ]\n  }\n}\n' > "$D/hooks.json"; printf '# Mine\n' > "$D/AGENTS.md"; skill; cmd prompts;;
 opencode) printf '{\n  "$schema": "https://opencode.ai/config.json",\n  "theme": "tokyonight",\n  "permission": {\n    "bash": { "make *": "allow" }\n  }\n}\n' > "$D/opencode.json"; skill; agent; cmd commands; cmd command;;
 kilo) printf '{\n  "model": "x/y",\n  "permission": {\n    "bash": { "make *": "allow" }\n  }\n}\n' > "$D/kilo.json"; skill; agent; cmd command;;
 copilot) printf '# My instructions\n\nBe short.\n' > "$D/copilot-instructions.md"; [ $S = global ] && printf '{\n  "theme": "dark"\n}\n' > "$D/settings.json"; skill; agent agent.md;;
 cursor) printf '{\n  "version": 1,\n  "hooks": {\n    "beforeShellExecution": [{ "command": "./hooks/mine.sh" }]\n  }\n}\n' > "$D/hooks.json"; j "$D/rules/mine.mdc" <<<'mine'; skill; agent; cmd commands;;
 windsurf) printf '{\n  "hooks": {\n    "pre_run_command": [{ "command": "/opt/mine.sh" }]\n  }\n}\n' > "$D/hooks.json"; j "$D/rules/mine.md" <<<'mine'; skill;;
 kimi|kimi-code) printf '# mine\ndefault_model = "k2"\n\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "Shell"\ncommand = "/opt/mine.sh"\n' > "$D/config.toml"; skill;;
 hermes) printf '# mine\nmodel: anthropic/x\nhooks:\n  pre_tool_call:\n    - command: /opt/mine.sh\n' > "$D/config.yaml"; skill;;
 cline) skill; cmd workflows; if [ $S = local ]; then mkdir -p "$P/.clinerules"; printf 'mine\n' > "$P/.clinerules/mine.md"; fi;;
 trae) j "$D/rules/mine.md" <<<'mine'; skill; agent;;
 zcode) printf '{\n  "theme": "dark"\n}\n' > "$D/settings.json"; skill; agent;;
 pi) printf '{\n  "theme": "dark",\n  "packages": []\n}\n' > "$D/settings.json"; skill; cmd prompts;;
esac
true
