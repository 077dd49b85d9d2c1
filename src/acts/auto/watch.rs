//! What a view of a run needs to know besides the run: whether a process works on it, and how a person wants to see it.

use super::place::RunPlace;
use crate::acts::auto::place::Preferred;
use crate::acts::{Call, files};
use crate::auto::memory::Memory;
use crate::disk::{self, AbsolutePath, DiskError};
use crate::failure::Failure;
use crate::project::milestone_layout::preferences::WidgetMode;
use crate::text::words::of_word;

/// The mode that follows when a person asks for another one.
pub(crate) fn next_mode(mode: WidgetMode) -> WidgetMode {
    match mode {
        WidgetMode::Full => WidgetMode::Small,
        WidgetMode::Small => WidgetMode::Min,
        WidgetMode::Min => WidgetMode::Off,
        WidgetMode::Off => WidgetMode::Full,
    }
}

/// The note with the mode that a person used last, below the state folder.
const NOTE: &str = "watch-mode";

fn note(call: &Call) -> Result<Option<AbsolutePath>, Failure> {
    let folder = call.world().state_folder();
    Ok(folder.map(|folder| AbsolutePath::parse(folder.join(NOTE))).transpose().map_err(DiskError::from)?)
}

/// The mode that a person used last, else the one of the preferences, else `full`.
pub(crate) fn mode(call: &Call, place: &RunPlace) -> Result<WidgetMode, Failure> {
    let kept = note(call)?.map(disk::read_text).transpose()?.flatten();
    if let Some(mode) = kept.and_then(|text| of_word(text.trim())) {
        return Ok(mode);
    }
    let preferred = Preferred::read(RunPlace::files_at(call, &place.root).as_ref(), call.world())?;
    Ok(preferred.document.widget_mode.unwrap_or(WidgetMode::Full))
}

/// Remembers the mode for the next view, of any project.
pub(crate) fn keep_mode(call: &Call, mode: WidgetMode) -> Result<(), Failure> {
    let Some(note) = note(call)? else { return Ok(()) };
    files::edit_note(call, &note, |_| Ok(((), Some(mode.word().to_owned() + "\n"))))
}

/// True if a process works on the run that the log remembers.
pub(crate) fn is_worked_on(call: &Call, place: &RunPlace, memory: &Memory) -> Result<bool, Failure> {
    Ok(place.holder(call.disk(), memory)?.is_some())
}
