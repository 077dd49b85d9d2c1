//! Events named `group.what` with their `data`, and a `result` with an exit code.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dialect::Read;
use super::look::{all_text, first_of, flag, is_refusal, number, owned, status, text, tool_call};
use crate::auto::runner::event::{Event, Failure, Terminal, ToolState};

#[derive(Debug, Default)]
pub(super) struct SessionEvents {
    /// The names of tools by the number of their call.
    tools: BTreeMap<String, String>,
    /// What the client said was wrong, after which its exit code counts for nothing.
    error: Option<Failure>,
}

impl SessionEvents {
    fn tool_start(&mut self, data: &Value, events: &mut Vec<Event>) {
        let name = text(data, "/toolName").unwrap_or("tool");
        let id = owned(data, "/toolCallId");
        if let Some(id) = &id {
            self.tools.insert(id.clone(), name.to_owned());
        }
        tool_call(id, name, data.get("arguments"), events);
    }

    fn tool_complete(&mut self, data: &Value, events: &mut Vec<Event>) {
        let id = owned(data, "/toolCallId");
        let name = id.as_ref().and_then(|id| self.tools.remove(id)).unwrap_or_else(|| "tool".to_owned());
        let error = data.get("error").map(all_text).unwrap_or_default();
        let is_denied = text(data, "/error/code") == Some("denied") || is_refusal(&error);
        let state = match flag(data, "/success") {
            Some(false) if is_denied => ToolState::Denied,
            Some(false) => ToolState::Failed,
            _ => ToolState::Finished,
        };
        events.push(Event::Tool { id, name, state });
    }

    fn call_final(data: &Value, events: &mut Vec<Event>) {
        let result = text(data, "/result").unwrap_or("success");
        if result != "success" {
            let status = result.strip_prefix("http_").and_then(|status| status.parse().ok());
            events.push(Event::Trouble { status, text: format!("the model did not answer: {result}") });
        }
    }

    fn session_error(&mut self, data: &Value, events: &mut Vec<Event>) {
        let failure = Failure {
            status: status(data, "/statusCode"),
            kind: owned(data, "/errorType"),
            text: owned(data, "/message").unwrap_or_else(|| "no reason given".to_owned()),
        };
        events.push(Event::Trouble { status: failure.status, text: failure.text.clone() });
        self.error = Some(failure);
    }

    fn result(&mut self, line: &Value, events: &mut Vec<Event>) {
        events.push(Event::Started { session: owned(line, "/sessionId"), model: None, purse: None });
        let code = line.get("exitCode").and_then(Value::as_i64);
        events.push(Event::Terminal(match (self.error.take(), code) {
            (None, Some(0)) => Terminal::Success,
            (Some(failure), _) => Terminal::Failure(failure),
            (None, code) => {
                let code = code.map_or_else(|| "without an exit code".to_owned(), |code| format!("exit code {code}"));
                Terminal::Failure(Failure { status: None, kind: None, text: code })
            }
        }));
    }
}

impl Read for SessionEvents {
    fn line(&mut self, line: &Value, events: &mut Vec<Event>) {
        let none = Value::Null;
        let data = line.get("data").unwrap_or(&none);
        let kind = text(line, "/type").unwrap_or_default();
        match kind {
            "session.start" | "session.started" => events.push(Event::Started {
                session: first_of(data, &["/sessionId", "/id"]),
                model: first_of(data, &["/selectedModel", "/model"]),
                purse: None,
            }),
            "session.tools_updated" => {
                events.push(Event::Started { session: None, model: owned(data, "/model"), purse: None });
            }
            "assistant.turn_start" => {
                self.error = None;
                events.push(Event::ModelCall);
            }
            "assistant.message" => events.extend(owned(data, "/content").map(|text| Event::Text { text })),
            "tool.execution_start" => self.tool_start(data, events),
            "tool.execution_complete" => self.tool_complete(data, events),
            "model.call_final_result" => Self::call_final(data, events),
            "session.error" => self.session_error(data, events),
            "session.warning" => {
                let text = owned(data, "/message").unwrap_or_default();
                events.push(Event::Trouble { status: status(data, "/statusCode"), text });
            }
            "result" => self.result(line, events),
            _ if kind.contains("retry") => events.push(Event::Retry {
                status: status(data, "/statusCode"),
                wait_seconds: number(data, "/delayMs").map(std::time::Duration::from_millis).map(|it| it.as_secs_f64()),
                why: first_of(data, &["/message", "/reason"]),
            }),
            _ => {}
        }
    }
}
