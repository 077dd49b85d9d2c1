//! Lines that are events as this program writes them: what a scripted agent speaks.

use serde::Deserialize as _;
use serde_json::Value;

use super::dialect::Read;
use crate::auto::runner::event::Event;

#[derive(Debug, Default)]
pub(super) struct Scripted;

impl Read for Scripted {
    fn line(&mut self, line: &Value, events: &mut Vec<Event>) {
        events.extend(Event::deserialize(line).ok());
    }
}
