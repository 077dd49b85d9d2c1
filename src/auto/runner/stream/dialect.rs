//! What all forms of stream have in common.

use serde_json::Value;

use crate::auto::runner::event::ClientEvent;

/// Reads the lines of one session in one form. It may keep state, and never fails.
pub(crate) trait Read: std::fmt::Debug + Send {
    /// Adds the events of a line.
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>);

    /// Returns the next messages for the client's standard input, one per line.
    fn answers(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Returns the messages that cancel the session.
    fn cancel(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// Differences between clients whose streams have the same form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamFacts {
    /// The only `terminal_reason` of a success, if the client always reports one.
    pub(crate) terminal_reason: Option<String>,
    /// Whether the client's count of input includes cached tokens.
    pub(crate) input_includes_cached: bool,
}
