//! Requests of a person to a run in another process.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::auto::engine::{ControlRequest, EngineError};
use crate::auto::event::Time;
use crate::disk::{self, AbsolutePath};
use crate::world::World;
use crate::world::signals::Requests;

/// The name of the note.
const NOTE: &str = "control.json";

/// How often a waiting run looks for requests.
const LOOK: Duration = Duration::from_millis(100);

/// A note for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Control {
    pub(crate) wish: ControlRequest,
    /// Whether the running session is ended, too.
    pub(crate) now: bool,
}

impl Control {
    fn path(notes: &AbsolutePath) -> AbsolutePath {
        notes.resolve(NOTE)
    }

    /// Reads the note; one that cannot be parsed is a request to stop, since a person asked for something.
    pub(crate) fn read(notes: &AbsolutePath) -> Result<Option<Self>, EngineError> {
        let Some(text) = disk::read_text(Self::path(notes))? else { return Ok(None) };
        Ok(Some(serde_json::from_str(&text).unwrap_or(Self { wish: ControlRequest::Stop, now: true })))
    }

    pub(crate) fn write(self, notes: &AbsolutePath) -> Result<(), EngineError> {
        let text = serde_json::to_string(&self)?;
        disk::make_private_folder(notes)?;
        disk::write_fleeting(&Self::path(notes), text.as_bytes())?;
        Ok(())
    }

    pub(crate) fn clear(notes: &AbsolutePath) -> Result<(), EngineError> {
        disk::remove_note(&Self::path(notes))?;
        Ok(())
    }
}

/// The sources of requests to a run: a signal to its process, or the note.
#[derive(Clone, Debug)]
pub(super) struct RequestSources {
    pub(super) notes: AbsolutePath,
    pub(super) signals: Option<Requests>,
}

impl RequestSources {
    fn is_signalled(&self) -> bool {
        self.signals.as_ref().is_some_and(|signals| signals.asked().is_some())
    }

    /// Returns an urgent request. A signal to the process is always urgent.
    pub(super) fn at_once(&self) -> Result<Option<ControlRequest>, EngineError> {
        if self.is_signalled() {
            return Ok(Some(ControlRequest::Pause));
        }
        Ok(Control::read(&self.notes)?.filter(|control| control.now).map(|control| control.wish))
    }

    /// Returns any request.
    pub(super) fn at_all(&self) -> Result<Option<ControlRequest>, EngineError> {
        if self.is_signalled() {
            return Ok(Some(ControlRequest::Pause));
        }
        Ok(Control::read(&self.notes)?.map(|control| control.wish))
    }
}

/// Waits until the time has come or there is a request. A machine that was suspended wakes up at a later time.
pub(super) fn wait(world: &World, asked: &RequestSources, until: Time) -> Result<(), EngineError> {
    let now = || Time { wall: world.now().milliseconds(), machine: world.uptime() };
    while !now().has_come_to(until) && asked.at_all()?.is_none() {
        let rest = u64::try_from(until.wall.saturating_sub(now().wall)).unwrap_or_default();
        world.pause(LOOK.min(Duration::from_millis(rest.max(1))));
    }
    Ok(())
}
