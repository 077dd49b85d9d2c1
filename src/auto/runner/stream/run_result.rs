//! Events of an agent and of its hooks, and a `run_result` with the reason of the end.

use serde_json::Value;

use super::dialect::Read;
use super::look::{CAMEL, Input, all_text, amount, first_of, flag, is_refusal, list, number, owned, status_in, text};
use super::look::{tokens, tool_call};
use crate::auto::runner::event::{Event, Failure, Scope, Terminal, Tokens, ToolState, Unit};

#[derive(Debug, Default)]
pub(super) struct RunResult {
    session: Option<String>,
    /// The client's own word for what was wrong last.
    kind: Option<String>,
}

impl RunResult {
    fn hook(&mut self, line: &Value, events: &mut Vec<Event>) {
        if let Some(session) = text(line, "/taskId").filter(|_| self.session.is_none()) {
            self.session = Some(session.to_owned());
            events.push(Event::Started { session: self.session.clone(), model: None, purse: None });
        }
    }

    fn agent(&mut self, event: &Value, events: &mut Vec<Event>) {
        let is_tool = text(event, "/contentType") == Some("tool");
        match text(event, "/type") {
            Some("iteration_start") => events.push(Event::ModelCall),
            Some("content_start") if is_tool => {
                let name = text(event, "/toolName").unwrap_or("tool");
                tool_call(owned(event, "/toolCallId"), name, event.get("input"), events);
            }
            Some("content_end") if is_tool => events.push(Self::tool_end(event)),
            Some("content_end") => events.extend(owned(event, "/text").map(|text| Event::Text { text })),
            Some("usage") => {
                let count = |path| number(event, path).unwrap_or(0);
                let tokens = Tokens {
                    input: count("/totalInputTokens"),
                    output: count("/totalOutputTokens"),
                    cached: count("/totalCacheReadTokens"),
                };
                events.push(Event::Usage { scope: Scope::Session, tokens });
            }
            Some("error") => {
                self.kind = owned(event, "/errorClass");
                let text = first_of(event, &["/error/message", "/message"]).unwrap_or_default();
                let status = status_in(&text);
                events.push(if flag(event, "/recoverable") == Some(true) {
                    Event::Retry { status, wait_seconds: None, why: Some(text) }
                } else {
                    Event::Trouble { status, text }
                });
            }
            Some("notice") => Self::notice(event, events),
            _ => {}
        }
    }

    fn notice(event: &Value, events: &mut Vec<Event>) {
        let kind = first_of(event, &["/metadata/kind", "/reason", "/noticeType"]).unwrap_or_default();
        if kind.contains("retry") {
            let why = owned(event, "/message");
            let milliseconds = ["/metadata/delayMs", "/metadata/retryDelayMs", "/metadata/waitMs"];
            let wait = milliseconds.iter().find_map(|path| amount(event, path));
            let status = why.as_deref().and_then(status_in);
            events.push(Event::Retry { status, wait_seconds: wait.map(|wait| wait / 1e3), why });
        }
    }

    fn tool_end(event: &Value) -> Event {
        let has_failed = event.get("error").is_some_and(|error| !error.is_null())
            || list(event, "/output").any(|output| flag(output, "/success") == Some(false));
        let said = if has_failed { all_text(event) } else { String::new() };
        let state = match has_failed {
            true if is_refusal(&said) => ToolState::Denied,
            true => ToolState::Failed,
            false => ToolState::Finished,
        };
        let name = text(event, "/toolName").unwrap_or("tool").to_owned();
        Event::Tool { id: owned(event, "/toolCallId"), name, state }
    }

    fn result(&mut self, line: &Value, events: &mut Vec<Event>) {
        let used = line.get("aggregateUsage").or_else(|| line.get("usage"));
        let counted = used.and_then(|used| tokens(used, &CAMEL, Input::Fresh));
        events.extend(counted.map(|tokens| Event::Usage { scope: Scope::Session, tokens }));
        events.extend(used.and_then(|used| amount(used, "/totalCost")).map(|amount| Event::Money {
            scope: Scope::Session,
            amount,
            unit: Unit::Dollars,
        }));
        let reason = text(line, "/finishReason").unwrap_or_default();
        events.push(Event::Terminal(if reason == "completed" {
            Terminal::Success
        } else {
            let said = owned(line, "/text").unwrap_or_else(|| reason.to_owned());
            let kind = self.kind.take().or_else(|| Some(reason.to_owned()));
            Terminal::Failure(Failure { status: status_in(&said), kind, text: said })
        }));
    }
}

impl Read for RunResult {
    fn line(&mut self, line: &Value, events: &mut Vec<Event>) {
        let none = Value::Null;
        match text(line, "/type") {
            Some("hook_event") => self.hook(line, events),
            Some("agent_event") => self.agent(line.get("event").unwrap_or(&none), events),
            Some("run_result") => self.result(line, events),
            Some("error") => {
                let text = owned(line, "/message").unwrap_or_default();
                events.push(Event::Trouble { status: status_in(&text), text });
            }
            _ => {}
        }
    }
}
