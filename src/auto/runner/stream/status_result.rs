//! Messages and tools, and a `result` with a `status`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dialect::Read;
use super::look::{
    Input, Keys, all_text, first_of, is_refusal, number, owned, status, status_in, text, tokens, tool_call,
};
use crate::auto::runner::event::{Event, Failure, Scope, Terminal, ToolState};

const KEYS: Keys = Keys { input: "/input_tokens", output: "/output_tokens", read: "/cached", written: "/cache_write" };

#[derive(Debug, Default)]
pub(super) struct StatusResult {
    /// The names of tools by the number of their call.
    tools: BTreeMap<String, String>,
    /// Whether the last line was a piece of an answer of the model.
    speaks: bool,
}

impl StatusResult {
    fn message(&mut self, line: &Value, events: &mut Vec<Event>) {
        if text(line, "/role") == Some("user") {
            return;
        }
        // An answer comes in pieces.
        if !std::mem::replace(&mut self.speaks, true) {
            events.push(Event::ModelCall);
        }
        events.extend(first_of(line, &["/content", "/text"]).map(|text| Event::Text { text }));
    }

    fn tool_use(&mut self, line: &Value, events: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.speaks, true) {
            events.push(Event::ModelCall);
        }
        let name = first_of(line, &["/tool_name", "/name"]).unwrap_or_else(|| "tool".to_owned());
        let id = first_of(line, &["/tool_id", "/id"]);
        if let Some(id) = &id {
            self.tools.insert(id.clone(), name.clone());
        }
        tool_call(id, &name, line.get("parameters"), events);
    }

    fn tool_result(&mut self, line: &Value, events: &mut Vec<Event>) {
        self.speaks = false;
        let id = first_of(line, &["/tool_id", "/id"]);
        let name = id.as_ref().and_then(|id| self.tools.remove(id)).unwrap_or_else(|| "tool".to_owned());
        let state = match text(line, "/status") {
            Some("success") | None => ToolState::Finished,
            Some(_) if is_refusal(&all_text(line)) => ToolState::Denied,
            Some(_) => ToolState::Failed,
        };
        events.push(Event::Tool { id, name, state });
    }

    fn result(line: &Value, events: &mut Vec<Event>) {
        let used = line.get("stats").and_then(|stats| tokens(stats, &KEYS, Input::Whole));
        // Before the first answer there is nothing to count.
        let used = used.filter(|_| number(line, "/stats/total_tokens") != Some(0));
        events.extend(used.map(|tokens| Event::Usage { scope: Scope::Session, tokens }));
        let word = text(line, "/status").unwrap_or_default();
        events.push(Event::Terminal(if word.eq_ignore_ascii_case("success") {
            Terminal::Success
        } else {
            let said = first_of(line, &["/error/message", "/error", "/message"]).unwrap_or_default();
            let status = status(line, "/error/code").or_else(|| code_in(&said)).or_else(|| status_in(&said));
            let kind = owned(line, "/error/type").filter(|kind| kind != "unknown");
            Terminal::Failure(Failure { status, kind, text: said })
        }));
    }
}

/// The code of an answer in JSON that is quoted in prose.
fn code_in(prose: &str) -> Option<u16> {
    let rest = prose.split_once("\"code\":")?.1.trim_start();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|code| (100..600).contains(code))
}

impl Read for StatusResult {
    fn line(&mut self, line: &Value, events: &mut Vec<Event>) {
        match text(line, "/type") {
            Some("init") => events.push(Event::Started {
                session: first_of(line, &["/session_id", "/conversation_id"]),
                model: owned(line, "/model"),
                purse: None,
            }),
            Some("message" | "step_update") => self.message(line, events),
            Some("tool_use") => self.tool_use(line, events),
            Some("tool_result") => self.tool_result(line, events),
            Some("error") => {
                let text = first_of(line, &["/message", "/error/message"]).unwrap_or_default();
                events.push(Event::Trouble { status: status_in(&text), text });
            }
            Some("result") => Self::result(line, events),
            _ => {}
        }
    }
}
