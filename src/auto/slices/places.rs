//! The paths of the documents of a milestone, a slice and a task, whether or not they exist yet.

use crate::project::files::{FileError, Files};
use crate::project::milestone_layout::lookup;

/// Returns the folder of a milestone.
pub(crate) fn milestone(files: &dyn Files, milestone: &str) -> Result<String, FileError> {
    let entries = files.list(lookup::MILESTONES)?.unwrap_or_default();
    let name = lookup::folder(&entries, milestone).unwrap_or(milestone);
    Ok(format!("{}/{name}", lookup::MILESTONES))
}

/// Returns the folder of a slice. Older projects have no level between a milestone and its slices; new folders in them
/// do.
pub(crate) fn slice(files: &dyn Files, milestone: &str, slice: &str) -> Result<String, FileError> {
    let folder = self::milestone(files, milestone)?;
    let nested = format!("{folder}/slices");
    let below = files.list(&nested)?.unwrap_or_default();
    if let Some(name) = lookup::folder(&below, slice) {
        return Ok(format!("{nested}/{name}"));
    }
    let own = files.list(&folder)?.unwrap_or_default();
    Ok(lookup::folder(&own, slice).map_or_else(|| format!("{nested}/{slice}"), |name| format!("{folder}/{name}")))
}

/// Returns a document of a folder, with its path; `None` if it does not exist.
pub(crate) fn document(
    files: &dyn Files,
    folder: &str,
    id: &str,
    kind: &str,
) -> Result<Option<(String, String)>, FileError> {
    let entries = files.list(folder)?.unwrap_or_default();
    let Some(name) = lookup::file(&entries, id, kind) else { return Ok(None) };
    let path = format!("{folder}/{name}");
    Ok(files.read(&path)?.map(|text| (path, text)))
}

/// Returns a document in the planning folder itself.
pub(crate) fn root_document(files: &dyn Files, name: &str) -> Result<Option<(String, String)>, FileError> {
    let entries = files.list(lookup::FOLDER)?.unwrap_or_default();
    let Some(name) = lookup::root_file(&entries, name) else { return Ok(None) };
    let path = format!("{}/{name}", lookup::FOLDER);
    Ok(files.read(&path)?.map(|text| (path, text)))
}
