//! The brief of a run: read from the file that the call names, and stored with the notes of the run.

use crate::acts::Call;
use crate::acts::auto::place::RunPlace;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;

/// The path under which the text of the brief is stored.
pub(crate) fn kept_brief(place: &RunPlace) -> AbsolutePath {
    place.folder().resolve("brief.md")
}

/// The text of a brief.
pub(crate) fn brief_of(call: &Call, file: &str) -> Result<String, Failure> {
    let text = disk::read_input(call.here().resolve(file))?.filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| {
        Failure::usage(format!("`{file}` is not there, or empty")).hint("describe the milestone in it, then run again")
    })
}

/// Stores a brief with the notes of the run, since the file may change while it runs. Returns its path there, and its
/// text. A call that begins no run stores none, because the next one would look like the same call again.
pub(crate) fn keep_brief(place: &RunPlace, text: String) -> Result<(String, String), Failure> {
    let kept = kept_brief(place);
    disk::write_fleeting(&kept, text.as_bytes())?;
    Ok((kept.to_string(), text))
}

pub(crate) fn read_brief(place: &RunPlace, path: &str) -> Result<(String, String), Failure> {
    let text = disk::read_text(kept_brief(place))?.unwrap_or_default();
    Ok((path.to_owned(), text))
}
