//! Events as this program writes them: the output of a scripted agent.

use serde::Deserialize as _;
use serde_json::Value;

use super::dialect::Read;
use crate::auto::runner::event::ClientEvent;

#[derive(Debug, Default)]
pub(super) struct Scripted;

impl Read for Scripted {
    fn line(&mut self, line: &Value, events: &mut Vec<ClientEvent>) {
        events.extend(ClientEvent::deserialize(line).ok());
    }
}
