//! Events named `group.what` with their `data`, and a `result` with an exit code.

use serde_json::Value;

use super::dialect::Read;
use super::look::{Tools, all_text, first_of, flag, is_refusal, owned, status, text, wait_seconds};
use crate::auto::runner::event::{ClientEvent, ClientFailure, Terminal, ToolState};

#[derive(Debug, Default)]
pub(super) struct SessionEvents {
    tools: Tools,
    /// The error that the client reported; after that its exit code does not count.
    error: Option<ClientFailure>,
}

impl SessionEvents {
    fn tool_complete(&mut self, data: &Value, events: &mut Vec<ClientEvent>) {
        let error = data.get("error").map(all_text).unwrap_or_default();
        let is_denied = text(data, "/error/code") == Some("denied") || is_refusal(&error);
        let state = match flag(data, "/success") {
            Some(false) if is_denied => ToolState::Denied,
            Some(false) => ToolState::Failed,
            _ => ToolState::Finished,
        };
        events.push(self.tools.ended(owned(data, "/toolCallId"), state));
    }

    fn call_final(data: &Value, events: &mut Vec<ClientEvent>) {
        let result = text(data, "/result").unwrap_or("success");
        if result != "success" {
            let status = result.strip_prefix("http_").and_then(|status| status.parse().ok());
            events.push(ClientEvent::Trouble { status, text: format!("the model did not answer: {result}") });
        }
    }

    fn session_error(&mut self, data: &Value, events: &mut Vec<ClientEvent>) {
        let failure = ClientFailure {
            status: status(data, "/statusCode"),
            kind: owned(data, "/errorType"),
            text: owned(data, "/message").unwrap_or_else(|| "no reason given".to_owned()),
        };
        events.push(ClientEvent::Trouble { status: failure.status, text: failure.text.clone() });
        self.error = Some(failure);
    }

    fn result(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        events.push(ClientEvent::started(owned(line, "/sessionId"), None));
        let code = line.get("exitCode").and_then(Value::as_i64);
        events.push(ClientEvent::Terminal(match (self.error.take(), code) {
            (None, Some(0)) => Terminal::Success,
            (Some(failure), _) => Terminal::Failure(failure),
            (None, code) => {
                let code = code.map_or_else(|| "without an exit code".to_owned(), |code| format!("exit code {code}"));
                Terminal::Failure(ClientFailure { status: None, kind: None, text: code })
            }
        }));
    }
}

impl Read for SessionEvents {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        let none = Value::Null;
        let data = line.get("data").unwrap_or(&none);
        let kind = text(line, "/type").unwrap_or_default();
        match kind {
            "session.start" | "session.started" => events.push(ClientEvent::started(
                first_of(data, &["/sessionId", "/id"]),
                first_of(data, &["/selectedModel", "/model"]),
            )),
            "session.tools_updated" => {
                events.push(ClientEvent::started(None, owned(data, "/model")));
            }
            "assistant.turn_start" => {
                self.error = None;
                events.push(ClientEvent::ModelCall);
            }
            "assistant.message" => events.extend(owned(data, "/content").map(|text| ClientEvent::Text { text })),
            "tool.execution_start" => {
                let name = text(data, "/toolName").unwrap_or("tool");
                self.tools.called(owned(data, "/toolCallId"), name, data.get("arguments"), events);
            }
            "tool.execution_complete" => self.tool_complete(data, events),
            "model.call_final_result" => Self::call_final(data, events),
            "session.error" => self.session_error(data, events),
            "session.warning" => {
                let text = owned(data, "/message").unwrap_or_default();
                events.push(ClientEvent::Trouble { status: status(data, "/statusCode"), text });
            }
            "result" => self.result(line, events),
            _ if kind.contains("retry") => events.push(ClientEvent::Retry {
                status: status(data, "/statusCode"),
                wait_seconds: wait_seconds(data, &["/delayMs"]),
                why: first_of(data, &["/message", "/reason"]),
            }),
            _ => {}
        }
    }
}
