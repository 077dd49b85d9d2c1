//! Steps and the parts of each: the step that stops is the end, and usage is counted per step.

use serde_json::Value;

use super::dialect::Read;
use super::look::{Input, Keys, all_text, amount, first_of, owned, state_of, status, text, tokens, tool_call};
use crate::auto::runner::event::{ClientEvent, UsageScope};

const KEYS: Keys = Keys { input: "/input", output: "/output", read: "/cache/read", written: "/cache/write" };

#[derive(Debug, Default)]
pub(super) struct StepParts {
    session: Option<String>,
    has_failed: bool,
}

impl StepParts {
    fn session(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        if let Some(session) = text(line, "/sessionID").filter(|_| self.session.is_none()) {
            self.session = Some(session.to_owned());
            events.push(ClientEvent::started(self.session.clone(), None));
        }
    }

    fn tool(part: &Value, events: &mut Vec<ClientEvent>) {
        let name = text(part, "/tool").unwrap_or("tool");
        let id = owned(part, "/callID");
        // It is reported once, when it has ended.
        tool_call(id.clone(), name, part.pointer("/state/input"), events);
        let status = text(part, "/state/status");
        if matches!(status, Some("pending" | "running")) {
            return;
        }
        let state = state_of(status == Some("error"), || part.get("state").map(all_text).unwrap_or_default());
        events.push(ClientEvent::Tool { id, name: name.to_owned(), state });
    }

    fn finish(&mut self, part: &Value, events: &mut Vec<ClientEvent>) {
        let id = first_of(part, &["/id", "/messageID"]).unwrap_or_default();
        let used = part.get("tokens").and_then(|used| tokens(used, &KEYS, Input::Fresh));
        let used = used.map(|mut used| {
            used.output = used.output.saturating_add(super::look::number(part, "/tokens/reasoning").unwrap_or(0));
            used
        });
        events.extend(used.map(|tokens| ClientEvent::Usage { scope: UsageScope::Call(id.clone()), tokens }));
        events.extend(amount(part, "/cost").map(|amount| ClientEvent::dollars(UsageScope::Call(id), amount)));
        let reason = text(part, "/reason").unwrap_or_default();
        if self.has_failed || reason == "tool-calls" {
            return;
        }
        events.push(if reason == "stop" {
            ClientEvent::success()
        } else {
            let kind = Some(reason.to_owned());
            ClientEvent::failure(None, kind, format!("the model stopped: {reason}"))
        });
    }

    fn error(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        self.has_failed = true;
        let said = first_of(line, &["/error/data/message", "/error/message", "/message", "/error"]);
        events.push(ClientEvent::failure(
            status(line, "/error/data/statusCode"),
            owned(line, "/error/name"),
            said.unwrap_or_else(|| "no reason given".to_owned()),
        ));
    }
}

impl Read for StepParts {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        self.session(line, events);
        let none = Value::Null;
        let part = line.get("part").unwrap_or(&none);
        match text(line, "/type") {
            Some("step_start") => {
                self.has_failed = false;
                events.push(ClientEvent::ModelCall);
            }
            Some("text") => events.extend(owned(part, "/text").map(|text| ClientEvent::Text { text })),
            Some("tool_use") => Self::tool(part, events),
            Some("step_finish") => self.finish(part, events),
            Some("error") => self.error(line, events),
            Some("retry") => events.push(ClientEvent::Retry {
                status: status(part, "/error/data/statusCode"),
                wait_seconds: None,
                why: first_of(part, &["/error/data/message", "/error/message"]),
            }),
            _ => {}
        }
    }
}
