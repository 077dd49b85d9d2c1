//! Events of an agent and of its hooks, and a `run_result` with the reason of the end.

use serde_json::Value;

use super::dialect::Read;
use super::look::{
    CAMEL, Input, all_text, amount, first_of, flag, list, number, owned, session_tokens, state_of, status_in, text,
    tool_call, trouble, wait_seconds,
};
use crate::auto::runner::event::{ClientEvent, Tokens, UsageScope};

#[derive(Debug, Default)]
pub(super) struct RunResult {
    session: Option<String>,
    /// The client's word for the last error.
    kind: Option<String>,
}

impl RunResult {
    fn hook(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        if let Some(session) = text(line, "/taskId").filter(|_| self.session.is_none()) {
            self.session = Some(session.to_owned());
            events.push(ClientEvent::started(self.session.clone(), None));
        }
    }

    fn agent(&mut self, event: &Value, events: &mut Vec<ClientEvent>) {
        let is_tool = text(event, "/contentType") == Some("tool");
        match text(event, "/type") {
            Some("iteration_start") => events.push(ClientEvent::ModelCall),
            Some("content_start") if is_tool => {
                let name = text(event, "/toolName").unwrap_or("tool");
                tool_call(owned(event, "/toolCallId"), name, event.get("input"), events);
            }
            Some("content_end") if is_tool => events.push(Self::tool_end(event)),
            Some("content_end") => events.extend(owned(event, "/text").map(|text| ClientEvent::Text { text })),
            Some("usage") => {
                let count = |path| number(event, path).unwrap_or(0);
                let tokens = Tokens {
                    input: count("/totalInputTokens"),
                    output: count("/totalOutputTokens"),
                    cached: count("/totalCacheReadTokens"),
                };
                events.push(ClientEvent::Usage { scope: UsageScope::Session, tokens });
            }
            Some("error") => {
                self.kind = owned(event, "/errorClass");
                let text = first_of(event, &["/error/message", "/message"]).unwrap_or_default();
                let status = status_in(&text);
                events.push(if flag(event, "/recoverable") == Some(true) {
                    ClientEvent::Retry { status, wait_seconds: None, why: Some(text) }
                } else {
                    ClientEvent::Trouble { status, text }
                });
            }
            Some("notice") => Self::notice(event, events),
            _ => {}
        }
    }

    fn notice(event: &Value, events: &mut Vec<ClientEvent>) {
        let kind = first_of(event, &["/metadata/kind", "/reason", "/noticeType"]).unwrap_or_default();
        if kind.contains("retry") {
            let why = owned(event, "/message");
            let wait_seconds =
                wait_seconds(event, &["/metadata/delayMs", "/metadata/retryDelayMs", "/metadata/waitMs"]);
            let status = why.as_deref().and_then(status_in);
            events.push(ClientEvent::Retry { status, wait_seconds, why });
        }
    }

    fn tool_end(event: &Value) -> ClientEvent {
        let has_failed = event.get("error").is_some_and(|error| !error.is_null())
            || list(event, "/output").any(|output| flag(output, "/success") == Some(false));
        let state = state_of(has_failed, || all_text(event));
        let name = text(event, "/toolName").unwrap_or("tool").to_owned();
        ClientEvent::Tool { id: owned(event, "/toolCallId"), name, state }
    }

    fn result(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        let used = line.get("aggregateUsage").or_else(|| line.get("usage"));
        events.extend(session_tokens(used, &CAMEL, Input::Fresh));
        events.extend(
            used.and_then(|used| amount(used, "/totalCost"))
                .map(|amount| ClientEvent::dollars(UsageScope::Session, amount)),
        );
        let reason = text(line, "/finishReason").unwrap_or_default();
        events.push(if reason == "completed" {
            ClientEvent::success()
        } else {
            let said = owned(line, "/text").unwrap_or_else(|| reason.to_owned());
            let kind = self.kind.take().or_else(|| Some(reason.to_owned()));
            ClientEvent::failure(status_in(&said), kind, said)
        });
    }
}

impl Read for RunResult {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        let none = Value::Null;
        match text(line, "/type") {
            Some("hook_event") => self.hook(line, events),
            Some("agent_event") => self.agent(line.get("event").unwrap_or(&none), events),
            Some("run_result") => self.result(line, events),
            Some("error") => events.push(trouble(owned(line, "/message").unwrap_or_default())),
            _ => {}
        }
    }
}
