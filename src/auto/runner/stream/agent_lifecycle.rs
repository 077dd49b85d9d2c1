//! Starts and ends of agent, turn and message: the stop reason of the model's last message is the verdict.

use serde_json::Value;

use super::dialect::Read;
use super::look::{
    Input, Keys, all_text, amount, first_of, flag, list, owned, state_of, status_in, text, tokens, tool_call,
    wait_seconds,
};
use crate::auto::runner::event::{ClientEvent, UsageScope};

const KEYS: Keys = Keys { input: "/input", output: "/output", read: "/cacheRead", written: "/cacheWrite" };

#[derive(Debug, Default)]
pub(super) struct AgentLifecycle {
    /// How many messages the model has ended.
    messages: u64,
    /// The stop reason of the last message, and its error.
    last: Option<(String, String)>,
}

impl AgentLifecycle {
    fn message(&mut self, message: &Value, events: &mut Vec<ClientEvent>) {
        if text(message, "/role") != Some("assistant") {
            return;
        }
        let reason = text(message, "/stopReason").unwrap_or_default().to_owned();
        let complaint = owned(message, "/errorMessage").unwrap_or_default();
        if complaint.is_empty() {
            events.push(ClientEvent::ModelCall);
        } else {
            events.push(ClientEvent::Trouble { status: leading_status(&complaint), text: complaint.clone() });
        }
        for piece in list(message, "/content").filter(|piece| text(piece, "/type") == Some("text")) {
            events.extend(owned(piece, "/text").map(|text| ClientEvent::Text { text }));
        }
        self.messages += 1;
        let name = self.messages.to_string();
        let used = message.get("usage").and_then(|usage| tokens(usage, &KEYS, Input::Fresh));
        events.extend(used.map(|tokens| ClientEvent::Usage { scope: UsageScope::Call(name.clone()), tokens }));
        events.extend(
            amount(message, "/usage/cost/total").map(|amount| ClientEvent::dollars(UsageScope::Call(name), amount)),
        );
        self.last = Some((reason, complaint));
    }

    fn end(&mut self, events: &mut Vec<ClientEvent>) {
        let (reason, text) = self.last.take().unwrap_or_default();
        events.push(if reason == "stop" {
            ClientEvent::success()
        } else {
            let text = if text.is_empty() { format!("the model stopped: {reason}") } else { text };
            ClientEvent::failure(leading_status(&text), Some(reason), text)
        });
    }
}

/// Returns the status at the start of an error, as in `401 Invalid API key`.
fn leading_status(text: &str) -> Option<u16> {
    let first = text.split_whitespace().next()?.trim_end_matches(':');
    first.parse().ok().filter(|status| (400..600).contains(status)).or_else(|| status_in(text))
}

impl Read for AgentLifecycle {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        let none = Value::Null;
        match text(line, "/type") {
            Some("session") => {
                events.push(ClientEvent::started(owned(line, "/id"), None));
            }
            Some("message_end") => self.message(line.get("message").unwrap_or(&none), events),
            Some("tool_execution_start") => {
                let name = text(line, "/toolName").unwrap_or("tool");
                tool_call(owned(line, "/toolCallId"), name, line.get("args"), events);
            }
            Some("tool_execution_end") => {
                let said = || line.get("result").map(all_text).unwrap_or_default();
                let state = state_of(flag(line, "/isError") == Some(true), said);
                let name = text(line, "/toolName").unwrap_or("tool").to_owned();
                events.push(ClientEvent::Tool { id: owned(line, "/toolCallId"), name, state });
            }
            Some("auto_retry_start") => {
                let why = first_of(line, &["/errorMessage", "/error", "/message"]);
                events.push(ClientEvent::Retry {
                    status: why.as_deref().and_then(leading_status),
                    wait_seconds: wait_seconds(line, &["/delayMs"]),
                    why,
                });
            }
            Some("agent_end") => self.end(events),
            _ => {}
        }
    }
}
