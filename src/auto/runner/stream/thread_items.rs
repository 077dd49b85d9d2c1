//! A thread of items: each is started, updated and completed, and their turn is completed or has failed.

use serde_json::Value;

use super::dialect::Read;
use super::look::{
    Input, Keys, all_text, first_of, owned, session_tokens, state_of, status_in, text, tool_call, trouble,
};
use crate::auto::runner::event::{ClientEvent, ToolState};

const KEYS: Keys = Keys {
    input: "/input_tokens",
    output: "/output_tokens",
    read: "/cached_input_tokens",
    written: "/cache_write_input_tokens",
};

/// Kinds of items that are not tools.
const WORDS: &[&str] = &["agent_message", "reasoning", "error", "todo_list", "user_message", "plan"];

#[derive(Debug, Default)]
pub(super) struct ThreadItems;

impl ThreadItems {
    fn item(line: &Value, is_complete: bool, events: &mut Vec<ClientEvent>) {
        let Some(item) = line.get("item") else { return };
        let kind = text(item, "/type").unwrap_or_default();
        match kind {
            "agent_message" if is_complete => {
                events.push(ClientEvent::ModelCall);
                events.extend(owned(item, "/text").map(|text| ClientEvent::Text { text }));
            }
            "error" => {
                let text = first_of(item, &["/message", "/text"]).unwrap_or_default();
                events.push(ClientEvent::Trouble { status: None, text });
            }
            _ if kind.is_empty() || WORDS.contains(&kind) => {}
            _ => Self::tool(item, kind, is_complete, events),
        }
    }

    fn tool(item: &Value, kind: &str, is_complete: bool, events: &mut Vec<ClientEvent>) {
        let id = owned(item, "/id");
        let name = first_of(item, &["/tool", "/name"]).unwrap_or_else(|| kind.to_owned());
        if !is_complete {
            events.push(ClientEvent::ModelCall);
            tool_call(id, &name, item.get("arguments"), events);
            return;
        }
        let state = match text(item, "/status") {
            Some("declined" | "denied" | "rejected") => ToolState::Denied,
            status => state_of(status == Some("failed"), || all_text(item)),
        };
        events.push(ClientEvent::Tool { id, name, state });
    }
}

/// True if the client reports a retry.
fn is_retry(text: &str) -> bool {
    let text = text.trim_start().to_ascii_lowercase();
    text.starts_with("reconnecting") || text.starts_with("retrying")
}

impl Read for ThreadItems {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        match text(line, "/type") {
            Some("thread.started") => {
                events.push(ClientEvent::started(owned(line, "/thread_id"), None));
            }
            Some("item.started") => Self::item(line, false, events),
            Some("item.completed") => Self::item(line, true, events),
            Some("error") => {
                let text = first_of(line, &["/message", "/error/message"]).unwrap_or_default();
                events.push(if is_retry(&text) {
                    ClientEvent::Retry { status: status_in(&text), wait_seconds: None, why: Some(text) }
                } else {
                    trouble(text)
                });
            }
            Some("turn.completed") => {
                events.extend(session_tokens(line.get("usage"), &KEYS, Input::Whole));
                events.push(ClientEvent::success());
            }
            Some("turn.failed") => {
                let text = first_of(line, &["/error/message", "/message"]).unwrap_or_default();
                let status = status_in(&text);
                events.push(ClientEvent::failure(status, None, text));
            }
            _ => {}
        }
    }
}
