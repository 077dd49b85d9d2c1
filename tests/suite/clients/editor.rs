//! The protocol by which editors drive agents (JSON-RPC, one message a line): some clients accept a typed command there
//! but not in print mode, and list their commands.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::bench::strings;

/// The result of a prompt.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    /// True if the client completed the prompt.
    pub(crate) ended: bool,
    /// The names of the commands that the client lists to an editor.
    pub(crate) commands: Vec<String>,
}

/// What the person answers when the client asks whether a tool may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
}

/// Starts a session in the project, types `prompt`, and answers every question about a tool. Some clients end their
/// turn at a no, so the prompt is typed again as long as there is `more` to do.
pub(crate) fn talk(
    command: &mut Command,
    project: &str,
    prompt: &str,
    answer: Answer,
    more: &dyn Fn() -> bool,
    limit: Duration,
) -> Talk {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the client starts");
    let mut editor = Editor::of(&mut child, answer, limit);
    let told = editor.converse(project, prompt, more);
    drop(editor.input);
    let _ = child.kill();
    let _ = child.wait();
    Talk { ended: told.is_some(), commands: editor.commands }
}

struct Editor {
    input: ChildStdin,
    lines: Receiver<Value>,
    end: Instant,
    answer: Answer,
    commands: Vec<String>,
}

impl Editor {
    fn of(child: &mut Child, answer: Answer, limit: Duration) -> Self {
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Ok(message) = serde_json::from_str(&line)
                    && sender.send(message).is_err()
                {
                    return;
                }
            }
        });
        Self { input: child.stdin.take().unwrap(), lines, end: Instant::now() + limit, answer, commands: Vec::new() }
    }

    fn converse(&mut self, project: &str, prompt: &str, more: &dyn Fn() -> bool) -> Option<Value> {
        self.ask(1, "initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}))?;
        let session = self.ask(2, "session/new", &json!({"cwd": project, "mcpServers": []}))?;
        let text = json!([{"type": "text", "text": prompt}]);
        let mut id = 3;
        loop {
            let end = self.ask(id, "session/prompt", &json!({"sessionId": session["sessionId"], "prompt": text}))?;
            if !more() {
                return Some(end);
            }
            id += 1;
        }
    }

    /// Returns the result of a request; meanwhile records the client's notifications and answers its questions.
    fn ask(&mut self, id: u32, method: &str, parameters: &Value) -> Option<Value> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}))?;
        loop {
            let left = self.end.checked_duration_since(Instant::now())?;
            let message = self.lines.recv_timeout(left).ok()?;
            match (message["method"].as_str(), message.get("id")) {
                (None, Some(answered)) if *answered == json!(id) => return message.get("result").cloned(),
                (Some("session/request_permission"), Some(asked)) => {
                    let options = &message["params"]["options"];
                    let option = match self.answer {
                        Answer::Yes => &options[0]["optionId"],
                        Answer::No => {
                            let mut options = options.as_array().into_iter().flatten();
                            &options.find(|option| option["kind"] == "reject_once").expect("a way to say no")["optionId"]
                        }
                    };
                    let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
                    self.send(&json!({"jsonrpc": "2.0", "id": asked, "result": outcome}))?;
                }
                (Some("session/update"), None) => {
                    let update = &message["params"]["update"];
                    if update["sessionUpdate"] == "available_commands_update" {
                        self.commands = strings(&update["availableCommands"], "name");
                    }
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, message: &Value) -> Option<()> {
        writeln!(self.input, "{message}").ok()
    }
}
