//! Sends messages about transitions of a run. Each is recorded first, so that it is sent at most once.

use std::time::Duration;

use super::drive::Drive;
use super::{Effects, EngineError};
use crate::auto::event::{Event, MESSAGE_LOST, MessageDelivery, SentMessage};
use crate::auto::messages;
use crate::failure::Failure;

/// How long a run waits for the channels in its course, so that their answers are recorded before a session begins.
const IN_PASSING: Duration = Duration::from_secs(2);

impl<E: Effects> Drive<'_, E> {
    /// Sends the message about the last transition, if a channel wants it.
    pub(super) fn announce(&mut self) -> Result<(), EngineError> {
        let Some(message) = self.memory.owed.clone() else { return Ok(()) };
        let channels = self.effects.channels(message.topic);
        if channels.is_empty() {
            return Ok(());
        }
        let sent = SentMessage { number: self.memory.announced + 1, message, channels };
        self.record(Event::Announced(sent.clone()))?;
        self.effects.send(&sent);
        self.record_deliveries(IN_PASSING)
    }

    /// Sends a message about a failure that ends the run without a stop. A second failure changes nothing.
    pub(super) fn announce_failure(&mut self, failure: &Failure) {
        self.memory.owed = self.memory.run.as_ref().map(|run| messages::about_failure(run, failure));
        let _ = self.announce();
    }

    pub(super) fn record_deliveries(&mut self, patience: Duration) -> Result<(), EngineError> {
        if self.memory.sending.is_empty() {
            return Ok(());
        }
        for delivery in self.effects.deliveries(patience) {
            self.record(Event::Delivered(delivery))?;
        }
        Ok(())
    }

    /// Records the messages that an earlier process was sending when it died.
    pub(super) fn name_lost_messages(&mut self) -> Result<(), EngineError> {
        for (number, channel) in self.memory.sending.clone() {
            let problem = Some(MESSAGE_LOST.to_owned());
            self.record(Event::Delivered(MessageDelivery { number, channel, problem }))?;
        }
        Ok(())
    }
}
