//! The brief of a run: read from the file that the call names, compared with those of earlier runs, and stored with the
//! notes of the run.

use super::request::RunRequest;
use crate::acts::Call;
use crate::acts::auto::place::RunPlace;
use crate::auto::event::{GivenBrief, Run};
use crate::auto::memory::Memory;
use crate::auto::runs::LoggedRun;
use crate::auto::slices::record::subject_line;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::project::files::sha256;
use crate::text::shell::typed;

/// The brief that a call names. It is read once, since it may come from a pipe.
#[derive(Clone, Debug)]
pub(crate) struct BriefRead {
    pub(crate) given: GivenBrief,
    pub(crate) text: String,
}

/// The path under which the text of the brief is stored.
pub(crate) fn kept_brief(place: &RunPlace) -> AbsolutePath {
    place.folder().resolve("brief.md")
}

impl BriefRead {
    /// Reads the brief of a call.
    pub(crate) fn of(call: &Call, place: &RunPlace, file: &str) -> Result<Self, Failure> {
        let refused = |message: String| {
            let again = typed!("gsd-tools auto run --brief {}", file);
            Failure::usage(message).exits(64).hint(format!("describe the milestone in it, then run `{again}`"))
        };
        let path = call.here().resolve(file);
        let text = disk::read_input(&path).map_err(|error| refused(format!("`{file}` cannot be read: {error}")))?;
        let text = text.filter(|text| !text.trim().is_empty());
        let text = text.ok_or_else(|| refused(format!("`{file}` is not there, or empty")))?;
        let below = path.relative_to(&place.root).map(|path| path.to_string());
        let file = below.filter(|path| !path.is_empty()).unwrap_or_else(|| path.to_string());
        Ok(Self { given: GivenBrief { file, digest: sha256(text.as_bytes()) }, text })
    }

    /// Whether a run began with this text. `last` is the last run with a brief: the text of the brief that older
    /// programs did not record in the log is in the notes for that run only.
    fn is_of(&self, place: &RunPlace, run: &Run, last: Option<&Run>) -> Result<bool, Failure> {
        Ok(match (&run.given, &run.brief) {
            (Some(given), _) => given.digest == self.given.digest,
            (None, Some(_)) if last.is_none_or(|last| last.id == run.id) => {
                disk::read_text(kept_brief(place))?.as_deref() == Some(self.text.as_str())
            }
            (None, _) => false,
        })
    }

    /// Whether the current run of `memory` began with this text.
    pub(crate) fn is_of_run(&self, place: &RunPlace, memory: &Memory) -> Result<bool, Failure> {
        memory.run.as_ref().map_or(Ok(false), |run| self.is_of(place, run, None))
    }

    /// The last of these runs that landed a milestone with this brief.
    pub(crate) fn landed<'a>(
        &self,
        place: &RunPlace,
        runs: &[LoggedRun<'a>],
    ) -> Result<Option<LoggedRun<'a>>, Failure> {
        let last = runs.iter().rev().find(|run| run.run.brief.is_some()).map(|run| run.run);
        for run in runs.iter().rev().filter(|run| run.landing().is_some()) {
            if self.is_of(place, run.run, last)? {
                return Ok(Some(*run));
            }
        }
        Ok(None)
    }
}

/// Refuses a brief that is not that of the unfinished run: that run would continue with its own.
pub(crate) fn refuse_another_brief(
    place: &RunPlace,
    memory: &Memory,
    request: &RunRequest,
    brief: Option<&BriefRead>,
) -> Result<(), Failure> {
    let unfinished = memory.run.as_ref().filter(|_| !memory.is_released);
    let (Some(run), Some(brief)) = (unfinished, brief) else { return Ok(()) };
    let is_same = brief.is_of_run(place, memory)?;
    if is_same && !request.again {
        return Ok(());
    }
    let milestone = &run.milestone;
    let message = match (&run.given, &run.brief) {
        _ if is_same => format!("{milestone} is not finished, and was begun with this brief"),
        (Some(given), _) => {
            format!("{milestone} is not finished and was begun with another brief (`{}`)", given.file)
        }
        (None, Some(_)) => format!("{milestone} is not finished and was begun with another brief"),
        (None, None) => format!("{milestone} is not finished and was begun without a brief"),
    };
    Err(Failure::usage(message).exits(64).hint(continues_or_ends(milestone)))
}

/// The two ways on from an unfinished run.
pub(crate) fn continues_or_ends(milestone: &str) -> String {
    format!("`gsd-tools auto run` continues it, `{}` ends it", typed!("gsd-tools auto abandon {}", milestone))
}

/// The title of a brief: its first heading, else its first line.
pub(crate) fn title_of(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next()?;
    let heading = lines.find_map(|line| line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim()));
    Some(subject_line(heading.filter(|heading| !heading.is_empty()).unwrap_or(first)))
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
