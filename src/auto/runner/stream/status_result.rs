//! Messages and tools, and a `result` with a `status`.

use serde_json::Value;

use super::dialect::Read;
use super::look::{
    Input, Keys, Tools, all_text, first_of, number, owned, session_tokens, state_of, status, status_in, text, trouble,
};
use crate::auto::runner::event::ClientEvent;

const KEYS: Keys = Keys { input: "/input_tokens", output: "/output_tokens", read: "/cached", written: "/cache_write" };

#[derive(Debug, Default)]
pub(super) struct StatusResult {
    tools: Tools,
    /// Whether the last line was a piece of an answer of the model.
    speaks: bool,
}

impl StatusResult {
    fn message(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        if text(line, "/role") == Some("user") {
            return;
        }
        self.speak(events);
        events.extend(first_of(line, &["/content", "/text"]).map(|text| ClientEvent::Text { text }));
    }

    /// Records the start of an answer, which arrives in pieces.
    fn speak(&mut self, events: &mut Vec<ClientEvent>) {
        if !std::mem::replace(&mut self.speaks, true) {
            events.push(ClientEvent::ModelCall);
        }
    }

    fn tool_use(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        self.speak(events);
        let name = first_of(line, &["/tool_name", "/name"]).unwrap_or_else(|| "tool".to_owned());
        self.tools.called(first_of(line, &["/tool_id", "/id"]), &name, line.get("parameters"), events);
    }

    fn tool_result(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        self.speaks = false;
        let has_failed = text(line, "/status").is_some_and(|status| status != "success");
        let state = state_of(has_failed, || all_text(line));
        events.push(self.tools.ended(first_of(line, &["/tool_id", "/id"]), state));
    }

    fn result(line: &Value, events: &mut Vec<ClientEvent>) {
        // Before the first answer there is nothing to count.
        let stats = line.get("stats").filter(|_| number(line, "/stats/total_tokens") != Some(0));
        events.extend(session_tokens(stats, &KEYS, Input::Whole));
        let word = text(line, "/status").unwrap_or_default();
        events.push(if word.eq_ignore_ascii_case("success") {
            ClientEvent::success()
        } else {
            let said = first_of(line, &["/error/message", "/error", "/message"]).unwrap_or_default();
            let code = status(line, "/error/code").or_else(|| code_in(&said)).or_else(|| status_in(&said));
            let kind = owned(line, "/error/type").filter(|kind| kind != "unknown");
            ClientEvent::failure(code, kind, said)
        });
    }
}

/// Returns the code in a JSON answer that is quoted in prose.
fn code_in(prose: &str) -> Option<u16> {
    let rest = prose.split_once("\"code\":")?.1.trim_start();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|code| (100..600).contains(code))
}

impl Read for StatusResult {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        match text(line, "/type") {
            Some("init") => {
                events.push(ClientEvent::started(
                    first_of(line, &["/session_id", "/conversation_id"]),
                    owned(line, "/model"),
                ));
            }
            Some("message" | "step_update") => self.message(line, events),
            Some("tool_use") => self.tool_use(line, events),
            Some("tool_result") => self.tool_result(line, events),
            Some("error") => {
                events.push(trouble(first_of(line, &["/message", "/error/message"]).unwrap_or_default()));
            }
            Some("result") => Self::result(line, events),
            _ => {}
        }
    }
}
