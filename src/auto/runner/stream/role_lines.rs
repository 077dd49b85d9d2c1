//! A line for each message with its `role`; lines of the role `meta` are the client's own, and the hint how to resume the
//! session is the last one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dialect::Read;
use super::look::{all_text, amount, first_of, is_refusal, list, owned, status, status_in, text, tool_call};
use crate::auto::runner::event::{Event, Terminal, ToolState};

#[derive(Debug, Default)]
pub(super) struct RoleLines {
    /// The names of tools by the number of their call.
    tools: BTreeMap<String, String>,
}

impl RoleLines {
    fn meta(line: &Value, events: &mut Vec<Event>) {
        match text(line, "/type") {
            Some("session.resume_hint") => {
                events.push(Event::Started { session: owned(line, "/session_id"), model: None, purse: None });
                events.push(Event::Terminal(Terminal::Success));
            }
            Some("turn.step.retrying") => {
                let why = first_of(line, &["/error_message", "/message", "/content", "/error"]);
                let given = ["/status_code", "/error_status", "/status"];
                let status = given.iter().find_map(|path| status(line, path));
                let wait = ["/delay_ms", "/wait_ms", "/retry_delay_ms"].iter().find_map(|path| amount(line, path));
                events.push(Event::Retry {
                    status: status.or_else(|| why.as_deref().and_then(status_in)),
                    wait_seconds: wait.map(|wait| wait / 1e3),
                    why,
                });
            }
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Value, events: &mut Vec<Event>) {
        events.push(Event::ModelCall);
        let said = line.get("content").map(|content| match content {
            Value::String(text) => text.clone(),
            other => all_text(other),
        });
        events.extend(said.filter(|text| !text.is_empty()).map(|text| Event::Text { text }));
        for call in list(line, "/tool_calls") {
            let name = text(call, "/function/name").unwrap_or("tool");
            let id = owned(call, "/id");
            if let Some(id) = &id {
                self.tools.insert(id.clone(), name.to_owned());
            }
            tool_call(id, name, call.pointer("/function/arguments"), events);
        }
    }

    fn tool(&mut self, line: &Value, events: &mut Vec<Event>) {
        let id = owned(line, "/tool_call_id");
        let name = id.as_ref().and_then(|id| self.tools.remove(id)).unwrap_or_else(|| "tool".to_owned());
        let said = line.get("content").map(all_text).unwrap_or_default();
        // There is no mark of a failure: what the tool said is for the model.
        let state = if is_refusal(&said) { ToolState::Denied } else { ToolState::Finished };
        events.push(Event::Tool { id, name, state });
    }
}

impl Read for RoleLines {
    fn line(&mut self, line: &Value, events: &mut Vec<Event>) {
        match text(line, "/role") {
            Some("meta") => Self::meta(line, events),
            Some("assistant") => self.assistant(line, events),
            Some("tool") => self.tool(line, events),
            _ => {}
        }
    }
}
