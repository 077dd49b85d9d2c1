//! Messages and tools, and a `completion` or an `error` at the end.

use serde_json::Value;

use super::dialect::Read;
use super::look::{
    CAMEL, Input, SNAKE, all_text, amount, first_of, flag, owned, session_tokens, state_of, status, status_in, text,
    tool_call,
};
use crate::auto::runner::event::{ClientEvent, MoneyUnit, UsageScope};

#[derive(Debug, Default)]
pub(super) struct CompletionStream;

impl CompletionStream {
    fn completion(line: &Value, events: &mut Vec<ClientEvent>) {
        events.extend(first_of(line, &["/finalText", "/text"]).map(|text| ClientEvent::Text { text }));
        let used = |keys| session_tokens(line.get("usage"), keys, Input::Fresh);
        events.extend(used(&SNAKE).or_else(|| used(&CAMEL)));
        let credits = ["/usage/factory_credits", "/factory_credits"].iter().find_map(|path| amount(line, path));
        events.extend(credits.map(|amount| ClientEvent::Money {
            scope: UsageScope::Session,
            amount,
            unit: MoneyUnit::Credits,
        }));
        events.push(ClientEvent::success());
    }

    fn tool_result(line: &Value, events: &mut Vec<ClientEvent>) {
        let is_error = flag(line, "/isError") == Some(true) || flag(line, "/is_error") == Some(true);
        let state = state_of(is_error, || all_text(line));
        let name = first_of(line, &["/toolName", "/toolId", "/name"]).unwrap_or_else(|| "tool".to_owned());
        events.push(ClientEvent::Tool { id: first_of(line, &["/id", "/toolCallId"]), name, state });
    }
}

impl Read for CompletionStream {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        match text(line, "/type") {
            Some("system") => {
                events
                    .push(ClientEvent::started(first_of(line, &["/session_id", "/sessionId"]), owned(line, "/model")));
            }
            Some("message") if text(line, "/role") == Some("assistant") => {
                events.push(ClientEvent::ModelCall);
                events.extend(first_of(line, &["/text", "/content"]).map(|text| ClientEvent::Text { text }));
            }
            Some("tool_call") => {
                let name = first_of(line, &["/toolName", "/toolId", "/name"]).unwrap_or_else(|| "tool".to_owned());
                let arguments = line.get("parameters").or_else(|| line.get("input"));
                events.push(ClientEvent::ModelCall);
                tool_call(first_of(line, &["/id", "/toolCallId"]), &name, arguments, events);
            }
            Some("tool_result") => Self::tool_result(line, events),
            Some("completion") => Self::completion(line, events),
            Some("error") => {
                let text = first_of(line, &["/message", "/error/message", "/error"]).unwrap_or_default();
                let status = status(line, "/status").or_else(|| status_in(&text));
                let kind = first_of(line, &["/source", "/code", "/error/type"]);
                events.push(ClientEvent::failure(status, kind, text));
            }
            _ => {}
        }
    }
}
