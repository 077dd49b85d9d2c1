//! What every form of stream has in common.

use serde_json::Value;

use crate::auto::runner::event::Event;

/// Reads the lines of one session in one form. It may remember what came before, and never fails.
pub(crate) trait Read: std::fmt::Debug {
    /// Adds what a line says.
    fn line(&mut self, line: &Value, events: &mut Vec<Event>);

    /// What the client is told next on its standard input, line by line.
    fn answers(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// The same where the session is to be given up.
    fn cancel(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// What differs between clients whose streams have the same form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The only `terminal_reason` of a success, where the client always says one.
    pub(crate) terminal_reason: Option<String>,
    /// Whether the input that the client counts has in it what a cache gave.
    pub(crate) input_includes_cached: bool,
}
