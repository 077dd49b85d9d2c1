//! Events as this program writes them: the output of a scripted agent.

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
