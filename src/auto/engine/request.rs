//! Landing by way of a person: a review here, or a pull request.

use super::drive::Drive;
use super::{Effects, EngineError};
use crate::auto::decide;
use crate::auto::event::Event;
use crate::auto::stop::Stop;

impl<E: Effects> Drive<'_, E> {
    /// Stops, so that a person looks at the candidate.
    pub(super) fn review(&mut self) -> Result<Option<Stop>, EngineError> {
        let Some(candidate) = self.memory.candidate.clone() else { return Ok(None) };
        let files = self.effects.changed(&candidate.base, &candidate.commit)?.len();
        self.stop(decide::review(&self.memory, &candidate, files)).map(Some)
    }

    /// Pushes the candidate, and opens or updates its pull request.
    pub(super) fn propose(&mut self) -> Result<Option<Stop>, EngineError> {
        let Some(candidate) = self.memory.candidate.clone() else { return Ok(None) };
        let target = self.effects.target()?;
        if target != candidate.base {
            self.note(Event::Outdated { commit: candidate.commit, target })?;
            return Ok(None);
        }
        let place = match self.effects.request_place()? {
            Ok(place) => place,
            Err(stop) => return self.stop(stop).map(Some),
        };
        if !self.memory.pushed.contains(&candidate.commit) {
            self.note(Event::Pushing { commit: candidate.commit.clone(), place: place.clone() })?;
        }
        let pushed = self.memory.pushed.clone();
        if let Some(stop) = self.effects.push(&candidate, &place, &pushed)? {
            return self.stop(stop).map(Some);
        }
        let request = self.effects.open_request(&self.memory, &place)?;
        self.note(Event::Requested(request))?;
        Ok(None)
    }

    pub(super) fn look_at_request(&mut self) -> Result<(), EngineError> {
        let Some(request) = self.memory.request.clone() else { return Ok(()) };
        let state = self.effects.state_of(&request)?;
        self.note(Event::RequestSeen { state })
    }

    /// Takes up the candidate that waited for a person when the run stopped, with its checks: it is part of the target
    /// now, or neither the target nor the work has changed. Returns whether it did.
    pub(super) fn takes_up_waiting(&mut self, milestone: &str) -> Result<bool, EngineError> {
        let Some(waiting) = self.memory.waiting.clone() else { return Ok(false) };
        if self.effects.head()? != waiting.head {
            return Ok(false);
        }
        if let Some(commit) = self.effects.merged_as(&waiting)? {
            self.note(Event::Landed { milestone: milestone.to_owned(), commit, proof: None })?;
            return Ok(true);
        }
        if self.effects.target()? != waiting.base {
            return Ok(false);
        }
        self.note(Event::TakenUp { commit: waiting.commit })?;
        Ok(true)
    }
}
