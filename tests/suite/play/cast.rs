//! The clients that play: how each is started, the names of its tools, how an agent's return reaches the parent.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::clients::exchange::ToolCall;
use crate::clients::install::Package;
use crate::clients::pointed::write_settings;
use crate::clients::{claude, codex, gemini, opencode, qwen};

/// A client in a play.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) package: &'static Package,
    pub(crate) hands: Hands,
    /// Prepares the user's home before our install: how to sign in, and what may run without asking.
    pub(crate) before_install: fn(home: &Path),
    /// Sets the command up for one line that the person types.
    pub(crate) run: fn(command: &mut Command, url: &str, typed: &Typed<'_>),
    /// True if an agent with a worktree starts in it, so that its calls begin there.
    pub(crate) isolates: bool,
    /// Words in a spawn's result which mean that the return comes later.
    pub(crate) launched: Option<&'static str>,
    /// Words in a spawn's result which mean that too many agents are running.
    pub(crate) full: Option<&'static str>,
    /// Finds an agent's return in later messages to the parent.
    pub(crate) returned: fn(news: &str, errand: &Errand) -> Option<String>,
}

/// What a person types.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Typed<'a> {
    /// One of our commands, such as `plan-phase`, in a fresh session.
    Command { name: &'a str, arguments: &'a str },
    /// An answer, in the session that asked.
    Answer(&'a str),
    /// One of our commands, in the session that ended its turn last.
    Next { name: &'a str, arguments: &'a str },
    /// Nothing yet: a person at a terminal types command and answers into the client's own screen.
    ByHand,
}

/// What an agent is started with.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(crate) agent: String,
    /// A concrete name, if the payload gives one.
    pub(crate) model: Option<String>,
    /// The argument of the call that makes the agent start in a worktree.
    pub(crate) argument: Option<(String, String)>,
    pub(crate) description: String,
    pub(crate) prompt: String,
}

/// A client's tools, in its own spelling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hands {
    pub(crate) shell: fn(command: &str) -> ToolCall,
    /// Takes the path as written in the text, and the full path.
    pub(crate) read: fn(written: &str, path: &str) -> ToolCall,
    pub(crate) write: fn(path: &str, text: &str) -> ToolCall,
    /// `None`: the file is written as a whole.
    pub(crate) edit: Option<fn(path: &str, old: &str, new: &str) -> ToolCall>,
    pub(crate) spawn: fn(errand: &Errand) -> ToolCall,
    /// Waits for agents that run in the background; `None` if the client wakes the parent.
    pub(crate) wait: Option<fn() -> ToolCall>,
    /// How an agent ends, if not by a plain message.
    pub(crate) finish: Option<fn(result: &str) -> ToolCall>,
}

/// The first JSON object in a tool's output; clients add a line or two around it.
pub(crate) fn json_within(text: &str) -> Option<Value> {
    text.match_indices('{').take(3).find_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next()?.ok().filter(Value::is_object)
    })
}

pub(crate) const CASTS: &[&Cast] = &[&CLAUDE, &CODEX, &OPENCODE, &GEMINI, &QWEN];

fn call(name: &'static str, arguments: Value) -> ToolCall {
    ToolCall { name, namespace: None, arguments }
}

fn write_home(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn never(_: &str, _: &Errand) -> Option<String> {
    None
}

const STEP: &str = "A step of the workflow";

pub(crate) const CLAUDE: Cast = Cast {
    package: &claude::CLIENT.package,
    hands: Hands {
        shell: |command| call("Bash", json!({"command": command, "description": STEP})),
        read: |_, path| call("Read", json!({"file_path": path})),
        write: |path, text| call("Write", json!({"file_path": path, "content": text})),
        edit: Some(|path, old, new| call("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))),
        spawn: |Errand { agent, model, argument, description, prompt }| {
            let mut arguments = json!({"subagent_type": agent, "description": description, "prompt": prompt});
            if let Some(model) = model {
                arguments["model"] = json!(model);
            }
            if let Some((name, value)) = argument {
                arguments[name.as_str()] = value.parse::<bool>().map_or_else(|_| json!(value), Value::from);
            }
            call("Agent", arguments)
        },
        wait: None,
        finish: None,
    },
    // The permissions of a user who lets this client work unattended: our install must allow the rest.
    before_install: |home| {
        let allowed = json!({"permissions": {"allow": ["Bash(git *)", "Bash(python3 *)"]}});
        write_home(home, ".claude/settings.json", &allowed.to_string());
    },
    run: |command, url, typed| {
        claude::prepare(command, url);
        match typed {
            Typed::Command { name, arguments } => command.args(["-p", format!("/gsd-{name} {arguments}").trim()]),
            Typed::Answer(answer) => command.args(["--continue", "-p", answer]),
            Typed::Next { name, arguments } => {
                command.args(["--continue", "-p", format!("/gsd-{name} {arguments}").trim()])
            }
            Typed::ByHand => command,
        };
        command.args(["--permission-mode", "acceptEdits"]);
    },
    isolates: true,
    launched: Some("Async agent launched"),
    full: None,
    returned: |news, errand| {
        let mut notes = news.split("<task-notification>").skip(1);
        let summary = format!("<summary>Agent \"{}\"", errand.description);
        let note = notes.find(|note| note.contains(&summary))?;
        Some(note.split_once("<result>")?.1.split("</result>").next()?.to_owned())
    },
};

pub(crate) const CODEX: Cast = Cast {
    package: &codex::CLIENT.package,
    hands: Hands {
        shell: |command| call("exec_command", json!({"cmd": command, "yield_time_ms": 30000})),
        read: |written, _| call("exec_command", json!({"cmd": format!("cat {written}"), "max_output_tokens": 20000})),
        write: |path, text| {
            let patch = |lines: &str| {
                let patch = json!(format!("*** Begin Patch\n{lines}\n*** End Patch\n"));
                format!("text(await tools.apply_patch({patch}));")
            };
            // A patch cannot add a file that exists.
            let delete = Path::new(path).is_file().then(|| patch(&format!("*** Delete File: {path}")));
            let lines: Vec<String> = text.lines().map(|line| format!("+{line}")).collect();
            let add = patch(&format!("*** Add File: {path}\n{}", lines.join("\n")));
            ToolCall {
                name: "exec",
                namespace: Some("functions"),
                arguments: json!(format!("{}{add}", delete.unwrap_or_default())),
            }
        },
        edit: Some(|path, old, new| {
            let before = std::fs::read_to_string(path).unwrap();
            let hunk = hunk(&before, &before.replacen(old, new, 1));
            let patch = json!(format!("*** Begin Patch\n*** Update File: {path}\n@@\n{hunk}*** End Patch\n"));
            ToolCall {
                name: "exec",
                namespace: Some("functions"),
                arguments: json!(format!("text(await tools.apply_patch({patch}));")),
            }
        }),
        spawn: |Errand { agent, model, description, prompt, .. }| {
            // Without `fork_turns` the agent inherits the whole conversation.
            let mut arguments = json!({
                "agent_type": agent, "task_name": task_name(description), "message": prompt, "fork_turns": "none",
            });
            if let Some(model) = model {
                arguments["model"] = json!(model);
            }
            ToolCall { name: "spawn_agent", namespace: Some("collaboration"), arguments }
        },
        wait: Some(|| ToolCall {
            name: "wait_agent",
            namespace: Some("collaboration"),
            arguments: json!({"timeout_ms": 60000}),
        }),
        finish: None,
    },
    before_install: |_| {},
    run: |command, url, typed| {
        command.env("SUITE_KEY", "none");
        match typed {
            Typed::Command { .. } => drop(command.args(["exec", "--json"])),
            Typed::Answer(_) | Typed::Next { .. } => drop(command.args(["exec", "resume", "--last", "--json"])),
            Typed::ByHand => {}
        }
        command.args(["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]);
        codex::provider(command, url);
        match typed {
            Typed::Command { name, arguments } | Typed::Next { name, arguments } => {
                command.arg(format!("$gsd-{name} {arguments}").trim())
            }
            Typed::Answer(answer) => command.arg(answer),
            Typed::ByHand => command,
        };
    },
    isolates: false,
    launched: Some("task_name"),
    full: Some("agent thread limit reached"),
    returned: |news, errand| {
        let name = task_name(&errand.description);
        news.contains(&name).then(|| news.to_owned())
    },
};

/// The single difference between two texts as a hunk of a patch, with three lines of context.
fn hunk(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let begin = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - begin;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - end, new.len() - end);
    let marked = |mark: char, lines: &[&str]| {
        lines.iter().fold(String::new(), |text, line| text + &mark.to_string() + line + "\n")
    };
    [
        marked(' ', &old[begin.saturating_sub(3)..begin]),
        marked('-', &old[begin..old_end]),
        marked('+', &new[begin..new_end]),
        marked(' ', &old[old_end..old.len().min(old_end + 3)]),
    ]
    .concat()
}

/// Task names are lower-case words joined by underscores.
fn task_name(description: &str) -> String {
    let word = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '_' };
    description.chars().map(word).collect()
}

pub(crate) const OPENCODE: Cast = Cast {
    package: &opencode::CLIENT.package,
    hands: Hands {
        shell: |command| call("bash", json!({"command": command, "description": STEP})),
        read: |_, path| call("read", json!({"filePath": path})),
        write: |path, text| call("write", json!({"filePath": path, "content": text})),
        edit: Some(|path, old, new| call("edit", json!({"filePath": path, "oldString": old, "newString": new}))),
        spawn: |Errand { agent, description, prompt, .. }| {
            call("task", json!({"subagent_type": agent, "description": description, "prompt": prompt}))
        },
        wait: None,
        finish: None,
    },
    before_install: |_| {},
    run: |command, url, typed| {
        opencode::prepare(command, url, "OPENCODE");
        match typed {
            Typed::Command { name, arguments } => {
                // Without `--`, arguments that begin with a dash would be read as options of the client.
                let rest = arguments.starts_with('-').then_some("--");
                command.args(["run", "--command", &format!("gsd-{name}")]).args(rest).arg(arguments);
            }
            Typed::Answer(answer) => {
                command.args(["run", "--continue", answer]);
            }
            Typed::Next { name, arguments } => {
                command.args(["run", "--continue", "--command", &format!("gsd-{name}"), arguments]);
            }
            Typed::ByHand => {}
        }
    },
    isolates: false,
    launched: None,
    full: None,
    returned: never,
};

pub(crate) const GEMINI: Cast = Cast {
    package: &gemini::CLIENT.package,
    hands: Hands {
        shell: |command| call("run_shell_command", json!({"command": command, "description": STEP})),
        // Its file tools do not leave the workspace; the shell does.
        read: |written, path| match written {
            written if written.contains("gsd-core/") => {
                call("run_shell_command", json!({"command": format!("cat {written}"), "description": STEP}))
            }
            _ => call("read_file", json!({"file_path": path})),
        },
        write: |path, text| call("write_file", json!({"file_path": path, "content": text})),
        edit: None,
        spawn: |Errand { agent, prompt, .. }| call("invoke_agent", json!({"agent_name": agent, "prompt": prompt})),
        wait: None,
        finish: Some(|result| call("complete_task", json!({"result": result}))),
    },
    before_install: |home| write_settings("gemini", home, ""),
    run: |command, url, typed| {
        gemini::prepare(command, url);
        command.args(gemini::MODEL).args(["--skip-trust", "--approval-mode", "yolo"]);
        match typed {
            Typed::Command { name, arguments } => command.args(["-p", format!("/gsd:{name} {arguments}").trim()]),
            Typed::Answer(answer) => command.args(["--resume", "latest", "-p", answer]),
            Typed::Next { name, arguments } => {
                command.args(["--resume", "latest", "-p", format!("/gsd:{name} {arguments}").trim()])
            }
            Typed::ByHand => command,
        };
    },
    isolates: false,
    launched: None,
    full: None,
    returned: never,
};

pub(crate) const QWEN: Cast = Cast {
    package: &qwen::CLIENT.package,
    hands: Hands {
        shell: |command| {
            call("run_shell_command", json!({"command": command, "description": STEP, "is_background": false}))
        },
        read: |_, path| call("read_file", json!({"file_path": path})),
        write: |path, text| call("write_file", json!({"file_path": path, "content": text})),
        edit: None,
        spawn: |Errand { agent, argument, description, prompt, .. }| {
            let mut arguments = json!({"subagent_type": agent, "description": description, "prompt": prompt});
            if let Some((name, value)) = argument {
                arguments[name.as_str()] = json!(value);
            }
            call("agent", arguments)
        },
        wait: None,
        finish: None,
    },
    before_install: |home| write_settings("qwen", home, ""),
    run: |command, url, typed| {
        qwen::prepare(command, url);
        match typed {
            Typed::Command { name, arguments } => command.args(["-p", format!("/gsd-{name} {arguments}").trim()]),
            Typed::Answer(answer) => command.args(["--continue", "-p", answer]),
            Typed::Next { name, arguments } => {
                command.args(["--continue", "-p", format!("/gsd-{name} {arguments}").trim()])
            }
            Typed::ByHand => command,
        };
        command.args(["--approval-mode", "yolo"]);
    },
    isolates: true,
    launched: None,
    full: None,
    returned: never,
};
