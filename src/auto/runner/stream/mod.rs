//! Parses the output of clients, line by line: one reader for each form of stream, named by its shape.
//!
//! A reader accepts any input: a line that is not JSON is skipped, an unknown one is a sign of life, and a missing
//! field is left out. Only the specific final line of its dialect is a success.

mod agent_lifecycle;
mod completion;
mod dialect;
mod look;
mod protocol;
mod result_envelope;
mod role_lines;
mod run_result;
mod scripted;
mod session_events;
mod status_result;
mod step_parts;
#[cfg(test)]
mod tests;
mod thread_items;

use serde_json::Value;

use super::event::ClientEvent;
use crate::text::words::read_words;

pub(crate) use dialect::{Read, StreamFacts};
pub(crate) use protocol::{Opening, Permission};

read_words! {
    /// The form of a stream.
    pub(crate) enum StreamForm {
        ResultEnvelope = "result-envelope",
        ThreadItems = "thread-items",
        StatusResult = "status-result",
        StepParts = "step-parts",
        SessionEvents = "session-events",
        RunResult = "run-result",
        RoleLines = "role-lines",
        AgentLifecycle = "agent-lifecycle",
        Completion = "completion",
        /// JSON-RPC on both streams, as in the Agent Client Protocol.
        ClientProtocol = "client-protocol",
        Scripted = "scripted",
    }
}

impl StreamForm {
    /// True if the client gets its orders on standard input.
    pub(crate) const fn is_conversation(self) -> bool {
        matches!(self, Self::ClientProtocol)
    }

    /// Returns a reader for a new session. `opening` is the start of a conversation.
    pub(crate) fn reader(self, facts: &StreamFacts, opening: Opening) -> Reader {
        let read: Box<dyn Read> = match self {
            Self::ResultEnvelope => Box::new(result_envelope::ResultEnvelope::new(facts.clone())),
            Self::ThreadItems => Box::new(thread_items::ThreadItems),
            Self::StatusResult => Box::new(status_result::StatusResult::default()),
            Self::StepParts => Box::new(step_parts::StepParts::default()),
            Self::SessionEvents => Box::new(session_events::SessionEvents::default()),
            Self::RunResult => Box::new(run_result::RunResult::default()),
            Self::RoleLines => Box::new(role_lines::RoleLines::default()),
            Self::AgentLifecycle => Box::new(agent_lifecycle::AgentLifecycle::default()),
            Self::Completion => Box::new(completion::CompletionStream),
            Self::ClientProtocol => Box::new(protocol::Conversation::new(opening)),
            Self::Scripted => Box::new(scripted::Scripted),
        };
        Reader { read }
    }
}

/// Reads the stream of one session.
#[derive(Debug)]
pub(crate) struct Reader {
    read: Box<dyn Read>,
}

impl Reader {
    /// Returns the events of a line on standard output; none if it is not a JSON object, such as output of other
    /// programs.
    pub(crate) fn line(&mut self, bytes: &[u8]) -> Vec<ClientEvent> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
        if !bytes.starts_with(b"{") {
            return Vec::new();
        }
        let Ok(line) = serde_json::from_slice::<Value>(bytes) else { return Vec::new() };
        let mut events = Vec::new();
        self.read.line(&line, &mut events);
        if events.is_empty() {
            events.push(ClientEvent::SignOfLife);
        }
        events
    }

    /// Returns the event in a line of standard error: some clients report retries only there.
    pub(crate) fn complaint(bytes: &[u8]) -> Option<ClientEvent> {
        let line = String::from_utf8_lossy(bytes.get(..bytes.len().min(LONGEST_COMPLAINT)).unwrap_or_default());
        let lower = line.to_ascii_lowercase();
        let is_retry = lower.contains("retrying") && lower.contains("attempt");
        is_retry.then(|| ClientEvent::Retry {
            status: look::status_in(&lower),
            wait_seconds: None,
            why: Some(line.into_owned()),
        })
    }

    pub(crate) fn answers(&mut self) -> Vec<Vec<u8>> {
        self.read.answers()
    }

    pub(crate) fn cancel(&mut self) -> Vec<Vec<u8>> {
        self.read.cancel()
    }
}

/// The most bytes of a line that are looked at.
const LONGEST_COMPLAINT: usize = 4096;
