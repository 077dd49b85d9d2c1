//! The output streams that clients write, each in its dialect.

use std::io::Write;

use crate::json::{Json, quoted};

/// An event to write to the stream.
#[derive(Clone, Debug)]
pub enum Say {
    Start,
    /// The model answers with this text.
    Text(String),
    /// A tool call that ends as `finished`, `failed` or `denied`.
    Tool {
        name: String,
        end: &'static str,
    },
    Retry {
        status: u16,
        wait_ms: u64,
    },
    /// The quota is used up until this second.
    Quota {
        resets_at: u64,
    },
    Question(String),
    Success,
    /// The model's server answered with this status.
    Failure {
        status: u16,
        text: String,
    },
}

pub struct Voice {
    pub dialect: String,
    pub session: String,
    pub input: u64,
    pub output: u64,
    calls: u64,
    denied: Vec<String>,
}

impl Voice {
    pub fn new(dialect: &str, session: &str) -> Voice {
        let (dialect, session) = (dialect.to_owned(), session.to_owned());
        Voice { dialect, session, input: 1000, output: 111, calls: 0, denied: Vec::new() }
    }

    /// Writes a line. Ignores a reader that is gone.
    pub fn line(&self, line: &str) {
        let mut stdout = std::io::stdout();
        let _ = stdout.write_all(line.as_bytes()).and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush());
    }

    pub fn say(&mut self, what: &Say) {
        if matches!(what, Say::Text(_) | Say::Tool { .. }) {
            self.calls += 1;
        }
        if let Say::Tool { name, end: "denied" } = what {
            self.denied.push(name.clone());
        }
        let lines = match self.dialect.as_str() {
            "result-envelope" => self.result_envelope(what),
            "thread-items" => self.thread_items(what),
            "status-result" => self.status_result(what),
            "step-parts" => self.step_parts(what),
            "session-events" => self.session_events(what),
            "run-result" => self.run_result(what),
            "role-lines" => self.role_lines(what),
            "agent-lifecycle" => self.agent_lifecycle(what),
            "completion" => self.completion(what),
            "client-protocol" => self.client_protocol(what),
            _ => self.scripted(what),
        };
        for line in lines {
            self.line(&line);
        }
    }

    fn total(&self) -> (u64, u64) {
        (self.input * self.calls, self.output * self.calls)
    }

    fn scripted(&self, what: &Say) -> Vec<String> {
        let (input, output) = self.total();
        let session = quoted(&self.session);
        let usage = format!(
            r#"{{"event":"usage","scope":"session","tokens":{{"input":{input},"output":{output},"cached":0}}}}"#
        );
        let money =
            format!(r#"{{"event":"money","scope":"session","amount":{},"unit":"dollars"}}"#, output as f64 / 1e5);
        match what {
            Say::Start => vec![format!(r#"{{"event":"started","session":{session},"model":"fake","purse":"none"}}"#)],
            Say::Text(text) => vec![
                r#"{"event":"model-call"}"#.to_owned(),
                format!(r#"{{"event":"text","text":{}}}"#, quoted(text)),
                usage,
            ],
            Say::Tool { name, end } => vec![
                r#"{"event":"model-call"}"#.to_owned(),
                format!(r#"{{"event":"tool","name":{},"state":"started"}}"#, quoted(name)),
                format!(r#"{{"event":"tool","name":{},"state":"{end}"}}"#, quoted(name)),
                usage,
            ],
            Say::Retry { status, wait_ms } => vec![format!(
                r#"{{"event":"retry","status":{status},"wait_seconds":{},"why":"status {status}"}}"#,
                *wait_ms as f64 / 1e3
            )],
            Say::Quota { resets_at } => {
                vec![format!(r#"{{"event":"quota","resets_at":{resets_at},"used":1.0,"status":"rejected"}}"#)]
            }
            Say::Question(text) => vec![format!(r#"{{"event":"question","text":{}}}"#, quoted(text))],
            Say::Success => vec![usage, money, r#"{"event":"terminal","success":null}"#.to_owned()],
            Say::Failure { status, text } => vec![
                usage,
                format!(r#"{{"event":"terminal","failure":{{"status":{status},"text":{}}}}}"#, quoted(text)),
            ],
        }
    }

    fn result_envelope(&self, what: &Say) -> Vec<String> {
        let (session, call) = (quoted(&self.session), self.calls);
        let usage = format!(r#"{{"input_tokens":{},"output_tokens":{}}}"#, self.input, self.output);
        let (input, output) = self.total();
        let total = format!(r#"{{"input_tokens":{input},"output_tokens":{output}}}"#);
        let assistant = |content: String| {
            format!(
                r#"{{"type":"assistant","session_id":{session},"message":{{"id":"msg_{call}","model":"fake","role":"assistant","content":[{content}],"usage":{usage}}}}}"#
            )
        };
        let denied: Vec<String> =
            self.denied.iter().map(|name| format!(r#"{{"tool_name":{},"tool_use_id":"x"}}"#, quoted(name))).collect();
        let denied = denied.join(",");
        match what {
            Say::Start => vec![format!(
                r#"{{"type":"system","subtype":"init","session_id":{session},"model":"fake","apiKeySource":"none"}}"#
            )],
            Say::Text(text) => vec![assistant(format!(r#"{{"type":"text","text":{}}}"#, quoted(text)))],
            Say::Tool { name, end } => {
                let is_error = *end != "finished";
                vec![
                    assistant(format!(
                        r#"{{"type":"tool_use","id":"t{call}","name":{},"input":{{"command":"x"}}}}"#,
                        quoted(name)
                    )),
                    format!(
                        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{call}","content":"Exit code","is_error":{is_error}}}]}}}}"#
                    ),
                ]
            }
            Say::Retry { status, wait_ms } => vec![format!(
                r#"{{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":{wait_ms},"error_status":{status},"error":"api_error"}}"#
            )],
            Say::Quota { resets_at } => vec![format!(
                r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{resets_at},"unifiedWindows":{{"five_hour":{{"utilization":1}}}}}}}}"#
            )],
            Say::Question(text) => vec![assistant(format!(
                r#"{{"type":"tool_use","id":"q{call}","name":"AskUserQuestion","input":{{"question":{}}}}}"#,
                quoted(text)
            ))],
            Say::Success => vec![format!(
                r#"{{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","api_error_status":null,"session_id":{session},"total_cost_usd":0.25,"usage":{total},"permission_denials":[{denied}],"result":"done"}}"#
            )],
            Say::Failure { status, text } => vec![format!(
                r#"{{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":{status},"session_id":{session},"usage":{total},"permission_denials":[],"result":{}}}"#,
                quoted(text)
            )],
        }
    }

    fn thread_items(&self, what: &Say) -> Vec<String> {
        let (input, output) = self.total();
        let item =
            |kind: &str, rest: String| format!(r#"{{"type":"item.{kind}","item":{{"id":"i{}",{rest}}}}}"#, self.calls);
        match what {
            Say::Start => vec![
                format!(r#"{{"type":"thread.started","thread_id":{}}}"#, quoted(&self.session)),
                r#"{"type":"turn.started"}"#.to_owned(),
            ],
            Say::Text(text) | Say::Question(text) => {
                vec![item("completed", format!(r#""type":"agent_message","text":{}"#, quoted(text)))]
            }
            Say::Tool { name, end } => {
                let status = match *end {
                    "finished" => "completed",
                    "denied" => "declined",
                    other => other,
                };
                let named = format!(r#""type":"mcp_tool_call","tool":{}"#, quoted(name));
                vec![
                    item("started", format!(r#"{named},"status":"in_progress""#)),
                    item("completed", format!(r#"{named},"status":"{status}""#)),
                ]
            }
            Say::Retry { status, .. } => {
                vec![format!(r#"{{"type":"error","message":"Reconnecting... 1/5 (unexpected status {status})"}}"#)]
            }
            Say::Quota { .. } => Vec::new(),
            Say::Success => vec![format!(
                r#"{{"type":"turn.completed","usage":{{"input_tokens":{input},"cached_input_tokens":0,"output_tokens":{output}}}}}"#
            )],
            Say::Failure { status, text } => vec![format!(
                r#"{{"type":"turn.failed","error":{{"message":{}}}}}"#,
                quoted(&format!("unexpected status {status}: {text}"))
            )],
        }
    }

    fn status_result(&self, what: &Say) -> Vec<String> {
        let (input, output) = self.total();
        let stats = format!(
            r#"{{"total_tokens":{},"input_tokens":{input},"output_tokens":{output},"cached":0}}"#,
            input + output
        );
        let call = self.calls;
        match what {
            Say::Start => {
                vec![format!(r#"{{"type":"init","session_id":{},"model":"fake"}}"#, quoted(&self.session))]
            }
            Say::Text(text) | Say::Question(text) => {
                vec![format!(r#"{{"type":"message","role":"assistant","content":{},"delta":true}}"#, quoted(text))]
            }
            Say::Tool { name, end } => {
                let status = if *end == "finished" { "success" } else { "error" };
                let said = if *end == "denied" { "denied by policy" } else { "" };
                vec![
                    format!(
                        r#"{{"type":"tool_use","tool_name":{},"tool_id":"t{call}","parameters":{{}}}}"#,
                        quoted(name)
                    ),
                    format!(r#"{{"type":"tool_result","tool_id":"t{call}","status":"{status}","output":"{said}"}}"#),
                ]
            }
            Say::Retry { status, .. } => {
                eprintln!("Attempt 1 failed with status {status}. Retrying with backoff...");
                Vec::new()
            }
            Say::Quota { .. } => Vec::new(),
            Say::Success => vec![format!(r#"{{"type":"result","status":"success","stats":{stats}}}"#)],
            Say::Failure { status, text } => vec![format!(
                r#"{{"type":"result","status":"error","error":{{"type":"unknown","message":{}}},"stats":{stats}}}"#,
                quoted(&format!("[API Error: {{\"code\":{status},\"message\":\"{text}\"}}]"))
            )],
        }
    }

    fn step_parts(&self, what: &Say) -> Vec<String> {
        let session = quoted(&self.session);
        let call = self.calls;
        let start = format!(r#"{{"type":"step_start","sessionID":{session},"part":{{"id":"s{call}"}}}}"#);
        let finish = |reason: &str| {
            format!(
                r#"{{"type":"step_finish","sessionID":{session},"part":{{"id":"f{call}","reason":"{reason}","tokens":{{"input":{},"output":{},"reasoning":0,"cache":{{"read":0,"write":0}}}},"cost":0.125}}}}"#,
                self.input, self.output
            )
        };
        match what {
            Say::Start | Say::Quota { .. } => Vec::new(),
            Say::Text(text) | Say::Question(text) => vec![
                start,
                format!(r#"{{"type":"text","sessionID":{session},"part":{{"text":{}}}}}"#, quoted(text)),
                finish("tool-calls"),
            ],
            Say::Tool { name, end } => {
                let state = match *end {
                    "finished" => r#"{"status":"completed","input":{},"output":""}"#,
                    "denied" => {
                        r#"{"status":"error","input":{},"error":"The user rejected permission to use this tool"}"#
                    }
                    _ => r#"{"status":"error","input":{},"error":"it failed"}"#,
                };
                vec![
                    start,
                    format!(
                        r#"{{"type":"tool_use","sessionID":{session},"part":{{"tool":{},"callID":"t{call}","state":{state}}}}}"#,
                        quoted(name)
                    ),
                    finish("tool-calls"),
                ]
            }
            Say::Retry { status, .. } => vec![format!(
                r#"{{"type":"retry","sessionID":{session},"part":{{"error":{{"data":{{"statusCode":{status},"message":"again"}}}}}}}}"#
            )],
            Say::Success => vec![start, finish("stop")],
            Say::Failure { status, text } => vec![format!(
                r#"{{"type":"error","sessionID":{session},"error":{{"name":"APIError","data":{{"message":{},"statusCode":{status}}}}}}}"#,
                quoted(text)
            )],
        }
    }

    fn session_events(&self, what: &Say) -> Vec<String> {
        let call = self.calls;
        let event = |kind: &str, data: String| format!(r#"{{"type":"{kind}","data":{{{data}}}}}"#);
        let turn = event("assistant.turn_start", format!(r#""turnId":"{call}""#));
        let result = |code: u8| {
            format!(r#"{{"type":"result","sessionId":{},"exitCode":{code},"usage":{{}}}}"#, quoted(&self.session))
        };
        match what {
            Say::Start => vec![event("session.tools_updated", r#""model":"fake""#.to_owned())],
            Say::Quota { .. } => Vec::new(),
            Say::Text(text) | Say::Question(text) => {
                vec![turn, event("assistant.message", format!(r#""content":{}"#, quoted(text)))]
            }
            Say::Tool { name, end } => {
                let rest = match *end {
                    "finished" => r#""success":true"#,
                    "denied" => r#""success":false,"error":{"code":"denied","message":"no"}"#,
                    _ => r#""success":false,"error":{"message":"it failed"}"#,
                };
                vec![
                    turn,
                    event("tool.execution_start", format!(r#""toolCallId":"t{call}","toolName":{}"#, quoted(name))),
                    event("tool.execution_complete", format!(r#""toolCallId":"t{call}",{rest}"#)),
                ]
            }
            Say::Retry { status, wait_ms } => {
                vec![event("model.call_retry", format!(r#""statusCode":{status},"delayMs":{wait_ms}"#))]
            }
            Say::Success => vec![result(0)],
            Say::Failure { status, text } => vec![
                event(
                    "session.error",
                    format!(r#""errorType":"query","message":{},"statusCode":{status}"#, quoted(text)),
                ),
                result(1),
            ],
        }
    }

    fn run_result(&self, what: &Say) -> Vec<String> {
        let (input, output) = self.total();
        let call = self.calls;
        let event = |rest: String| format!(r#"{{"type":"agent_event","event":{{{rest}}}}}"#);
        let start = event(format!(r#""type":"iteration_start","iteration":{call}"#));
        let result = |reason: &str, text: &str| {
            let usage = format!(r#"{{"inputTokens":{input},"outputTokens":{output},"totalCost":0.5}}"#);
            format!(
                r#"{{"type":"run_result","finishReason":"{reason}","usage":{usage},"aggregateUsage":{usage},"text":{}}}"#,
                quoted(text)
            )
        };
        match what {
            Say::Start => vec![format!(
                r#"{{"type":"hook_event","hookEventName":"agent_start","taskId":{}}}"#,
                quoted(&self.session)
            )],
            Say::Quota { .. } => Vec::new(),
            Say::Text(text) | Say::Question(text) => {
                let text = quoted(text);
                vec![start, event(format!(r#""type":"content_end","contentType":"text","text":{text}"#))]
            }
            Say::Tool { name, end } => {
                let named = format!(r#""contentType":"tool","toolName":{},"toolCallId":"t{call}""#, quoted(name));
                let rest = match *end {
                    "finished" => String::new(),
                    "denied" => r#","error":"denied by the user""#.to_owned(),
                    _ => r#","error":"it failed""#.to_owned(),
                };
                vec![
                    start,
                    event(format!(r#""type":"content_start",{named}"#)),
                    event(format!(r#""type":"content_end",{named}{rest}"#)),
                ]
            }
            Say::Retry { status, .. } => vec![event(format!(
                r#""type":"error","recoverable":true,"errorClass":"server","error":{{"message":"status {status}"}}"#
            ))],
            Say::Success => vec![result("completed", "done")],
            Say::Failure { status, text } => {
                vec![result("error", &format!("status {status}: {text}"))]
            }
        }
    }

    fn role_lines(&self, what: &Say) -> Vec<String> {
        let call = self.calls;
        match what {
            Say::Start => vec![r#"{"role":"meta","type":"system.version","version":"2.1.0"}"#.to_owned()],
            Say::Quota { .. } => Vec::new(),
            Say::Text(text) | Say::Question(text) => {
                vec![format!(r#"{{"role":"assistant","content":{}}}"#, quoted(text))]
            }
            Say::Tool { name, end } => {
                let said = if *end == "denied" { "denied by policy" } else { "ok" };
                vec![
                    format!(
                        r#"{{"role":"assistant","tool_calls":[{{"type":"function","id":"t{call}","function":{{"name":{},"arguments":"{{}}"}}}}]}}"#,
                        quoted(name)
                    ),
                    format!(r#"{{"role":"tool","tool_call_id":"t{call}","content":"{said}"}}"#),
                ]
            }
            Say::Retry { status, wait_ms } => vec![format!(
                r#"{{"role":"meta","type":"turn.step.retrying","status_code":{status},"delay_ms":{wait_ms}}}"#
            )],
            Say::Success => vec![format!(
                r#"{{"role":"meta","type":"session.resume_hint","session_id":{}}}"#,
                quoted(&self.session)
            )],
            Say::Failure { status, text } => {
                eprintln!("error: failed to run prompt: provider.error: {status} {text}");
                Vec::new()
            }
        }
    }

    fn agent_lifecycle(&self, what: &Say) -> Vec<String> {
        let call = self.calls;
        let message = |content: String, reason: &str, rest: &str| {
            format!(
                r#"{{"type":"message_end","message":{{"role":"assistant","content":[{content}],"usage":{{"input":{},"output":{},"cacheRead":0,"cacheWrite":0,"cost":{{"total":0.125}}}},"stopReason":"{reason}"{rest}}}}}"#,
                self.input, self.output
            )
        };
        match what {
            Say::Start => vec![format!(r#"{{"type":"session","id":{}}}"#, quoted(&self.session))],
            Say::Quota { .. } => Vec::new(),
            Say::Text(text) | Say::Question(text) => {
                vec![message(format!(r#"{{"type":"text","text":{}}}"#, quoted(text)), "stop", "")]
            }
            Say::Tool { name, end } => {
                let is_error = *end != "finished";
                let said = if *end == "denied" { "denied by policy" } else { "" };
                vec![
                    message(String::new(), "toolUse", ""),
                    format!(r#"{{"type":"tool_execution_start","toolCallId":"t{call}","toolName":{}}}"#, quoted(name)),
                    format!(
                        r#"{{"type":"tool_execution_end","toolCallId":"t{call}","toolName":{},"result":{{"content":[{{"type":"text","text":"{said}"}}]}},"isError":{is_error}}}"#,
                        quoted(name)
                    ),
                ]
            }
            Say::Retry { status, wait_ms } => {
                vec![format!(r#"{{"type":"auto_retry_start","delayMs":{wait_ms},"errorMessage":"{status} again"}}"#)]
            }
            Say::Success => vec![
                message(r#"{"type":"text","text":"done"}"#.to_owned(), "stop", ""),
                r#"{"type":"agent_end","messages":[]}"#.to_owned(),
            ],
            Say::Failure { status, text } => vec![
                message(String::new(), "error", &format!(r#","errorMessage":{}"#, quoted(&format!("{status} {text}")))),
                r#"{"type":"agent_end","messages":[]}"#.to_owned(),
            ],
        }
    }

    fn completion(&self, what: &Say) -> Vec<String> {
        let (input, output) = self.total();
        let call = self.calls;
        match what {
            Say::Start => vec![format!(
                r#"{{"type":"system","subtype":"init","session_id":{},"model":"fake"}}"#,
                quoted(&self.session)
            )],
            Say::Quota { .. } | Say::Retry { .. } => Vec::new(),
            Say::Text(text) | Say::Question(text) => {
                vec![format!(r#"{{"type":"message","role":"assistant","text":{}}}"#, quoted(text))]
            }
            Say::Tool { name, end } => {
                let is_error = *end != "finished";
                let said = if *end == "denied" { "denied by policy" } else { "" };
                vec![
                    format!(r#"{{"type":"tool_call","id":"t{call}","toolName":{},"parameters":{{}}}}"#, quoted(name)),
                    format!(
                        r#"{{"type":"tool_result","id":"t{call}","toolName":{},"isError":{is_error},"value":"{said}"}}"#,
                        quoted(name)
                    ),
                ]
            }
            Say::Success => vec![format!(
                r#"{{"type":"completion","finalText":"done","usage":{{"input_tokens":{input},"output_tokens":{output},"factory_credits":3}}}}"#
            )],
            Say::Failure { status, text } => {
                vec![format!(r#"{{"type":"error","source":"agent","status":{status},"message":{}}}"#, quoted(text))]
            }
        }
    }

    fn client_protocol(&self, what: &Say) -> Vec<String> {
        let (input, output) = self.total();
        let (session, call) = (quoted(&self.session), self.calls);
        let update = |rest: String| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":{session},"update":{{{rest}}}}}}}"#
            )
        };
        match what {
            Say::Start => {
                self.open();
                Vec::new()
            }
            Say::Quota { .. } | Say::Retry { .. } => Vec::new(),
            Say::Text(text) | Say::Question(text) => {
                let text = quoted(text);
                vec![update(format!(
                    r#""sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":{text}}}"#
                ))]
            }
            Say::Tool { name, end } => {
                let named = format!(r#""toolCallId":"t{call}","title":{}"#, quoted(name));
                self.line(&update(format!(r#""sessionUpdate":"tool_call",{named},"kind":"edit","status":"pending""#)));
                let is_allowed =
                    self.ask(&format!(r#"{{{named},"kind":"{}"}}"#, if *end == "denied" { "fetch" } else { "edit" }));
                let status = if is_allowed && *end == "finished" { "completed" } else { "failed" };
                vec![update(format!(
                    r#""sessionUpdate":"tool_call_update","toolCallId":"t{call}","status":"{status}""#
                ))]
            }
            Say::Success => vec![format!(
                r#"{{"jsonrpc":"2.0","id":3,"result":{{"stopReason":"end_turn","usage":{{"inputTokens":{input},"outputTokens":{output}}}}}}}"#
            )],
            Say::Failure { status, text } => vec![format!(
                r#"{{"jsonrpc":"2.0","id":3,"error":{{"code":-32603,"message":{}}}}}"#,
                quoted(&format!("status {status}: {text}"))
            )],
        }
    }

    /// Answers requests until the prompt has arrived.
    fn open(&self) {
        while let Some(message) = heard() {
            let id = message.get("id").map(Json::to_string).unwrap_or_default();
            let result = match message.field("method") {
                "initialize" => r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}"#.to_owned(),
                "session/new" => format!(r#"{{"sessionId":{}}}"#, quoted(&self.session)),
                "session/load" => "null".to_owned(),
                _ => return,
            };
            self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
    }

    /// Asks for permission to run a tool.
    fn ask(&self, tool: &str) -> bool {
        let options = r#"[{"optionId":"no","kind":"reject_once"},{"optionId":"yes","kind":"allow_once"}]"#;
        self.line(&format!(
            r#"{{"jsonrpc":"2.0","id":"ask-{}","method":"session/request_permission","params":{{"sessionId":{},"toolCall":{tool},"options":{options}}}}}"#,
            self.calls,
            quoted(&self.session)
        ));
        let answer = heard();
        let outcome = answer.as_ref().and_then(|answer| answer.get("result")?.get("outcome"));
        outcome.is_some_and(|outcome| outcome.field("optionId") == "yes")
    }
}

/// The next message on standard input.
fn heard() -> Option<Json> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).ok().filter(|count| *count > 0)?;
    Json::parse(&line).ok()
}
