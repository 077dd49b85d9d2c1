//! One line for each message with its `role`; lines of the role `meta` are from the client itself, and the last one is
//! the hint how to resume the session.

use serde_json::Value;

use super::dialect::Read;
use super::look::{Tools, all_text, first_of, is_refusal, list, owned, status, status_in, text, wait_seconds};
use crate::auto::runner::event::{ClientEvent, ToolState};

#[derive(Debug, Default)]
pub(super) struct RoleLines {
    tools: Tools,
}

impl RoleLines {
    fn meta(line: &Value, events: &mut Vec<ClientEvent>) {
        match text(line, "/type") {
            Some("session.resume_hint") => {
                events.push(ClientEvent::started(owned(line, "/session_id"), None));
                events.push(ClientEvent::success());
            }
            Some("turn.step.retrying") => {
                let why = first_of(line, &["/error_message", "/message", "/content", "/error"]);
                let given = ["/status_code", "/error_status", "/status"];
                let status = given.iter().find_map(|path| status(line, path));
                events.push(ClientEvent::Retry {
                    status: status.or_else(|| why.as_deref().and_then(status_in)),
                    wait_seconds: wait_seconds(line, &["/delay_ms", "/wait_ms", "/retry_delay_ms"]),
                    why,
                });
            }
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        events.push(ClientEvent::ModelCall);
        let said = line.get("content").map(|content| match content {
            Value::String(text) => text.clone(),
            other => all_text(other),
        });
        events.extend(said.filter(|text| !text.is_empty()).map(|text| ClientEvent::Text { text }));
        for call in list(line, "/tool_calls") {
            let name = text(call, "/function/name").unwrap_or("tool");
            self.tools.called(owned(call, "/id"), name, call.pointer("/function/arguments"), events);
        }
    }

    fn tool(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        let said = line.get("content").map(all_text).unwrap_or_default();
        // Failures are not marked: the tool's output is addressed to the model.
        let state = if is_refusal(&said) { ToolState::Denied } else { ToolState::Finished };
        events.push(self.tools.ended(owned(line, "/tool_call_id"), state));
    }
}

impl Read for RoleLines {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        match text(line, "/role") {
            Some("meta") => Self::meta(line, events),
            Some("assistant") => self.assistant(line, events),
            Some("tool") => self.tool(line, events),
            _ => {}
        }
    }
}
