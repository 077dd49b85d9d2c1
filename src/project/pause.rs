//! Work that was paused on purpose, with a note that a session left for the next one.

use super::files::FileError;
use super::state::index::Sources;
use super::view::ProjectView;
use crate::text::front_matter::FrontMatter;

/// The prefix of files that describe where to continue.
const CONTINUE_HERE: &str = ".continue-here";

/// The status in the front matter of a note after its work was resumed.
pub(crate) const RESUMED: &str = "resumed";

/// A pause, and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// The file that records the pause, relative to the project's root.
    pub(crate) file: String,
    /// Where the work stopped or what comes next, quoted from that file.
    pub(crate) note: Option<String>,
    /// Whether the source is STATE.md and not a separate file.
    is_stated: bool,
}

impl Pause {
    /// The pause of the project: from a file that a session left, else from STATE.md.
    pub(crate) fn of(view: &ProjectView) -> Result<Option<Self>, FileError> {
        Ok(match Self::handed_on(view)? {
            Some(pause) => Some(pause),
            None => Self::stated(view)?,
        })
    }

    /// The file that a session left in the project, in its planning folder or in the folder of a phase.
    pub(crate) fn handed_on(view: &ProjectView) -> Result<Option<Self>, FileError> {
        let scope = view.layout().scope();
        let handoff = view.layout().handoff();
        if view.exists(&handoff) {
            let note = view.text(&handoff)?.as_deref().and_then(next_action);
            return Ok(Some(Self { file: handoff, note, is_stated: false }));
        }
        let is_note =
            |name: &str| name.strip_prefix(CONTINUE_HERE).is_some_and(|rest| rest.strip_suffix(".md").is_some());
        let mut notes: Vec<String> = Vec::new();
        for folder in [scope.as_str(), ""] {
            let names = view.file_names(folder)?.into_iter().filter(|name| is_note(name));
            notes.extend(names.map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") }));
        }
        for folder in view.phase_folders()?.iter().filter(|folder| folder.archived.is_none()) {
            notes.extend(folder.files.iter().filter(|name| is_note(name)).map(|name| folder.join(name)));
        }
        for file in notes {
            if !is_resumed(view.text(&file)?.as_deref().unwrap_or_default()) {
                return Ok(Some(Self { file, note: None, is_stated: false }));
            }
        }
        Ok(None)
    }

    /// The pause recorded in STATE.md.
    fn stated(view: &ProjectView) -> Result<Option<Self>, FileError> {
        let Some(state) = view.state()? else { return Ok(None) };
        let sources = Sources::of(state);
        let note = state.front_text("paused_at").or_else(|| sources.get("paused_at").map(str::to_owned));
        let status = state.front_text("status").filter(|status| status != "unknown");
        let status = status.as_deref().or(sources.get("status")).map(crate::project::state::normal_status);
        let is_paused = note.is_some() || status.is_some_and(|status| status.eq_ignore_ascii_case("paused"));
        Ok(is_paused.then(|| Self { file: view.layout().state(), note, is_stated: true }))
    }

    /// How a person ends the pause.
    pub(crate) fn end(&self) -> String {
        let file = &self.file;
        let name = file.rsplit('/').next().unwrap_or(file);
        if name.starts_with(CONTINUE_HERE) {
            return format!("do what it says, then write `status: {RESUMED}` into the front matter of `{file}`");
        }
        if self.is_stated {
            return format!("do what is open, then remove from `{file}` that it is paused");
        }
        format!("do what it says, then remove `{file}`")
    }

    /// A short statement that work is paused.
    pub(crate) fn why(&self) -> String {
        match &self.note {
            Some(note) => format!("Work is paused: {note}"),
            None => format!("Work is paused, see {}", self.file),
        }
    }
}

/// Whether the work in a note was resumed. The note stays, for its warnings.
fn is_resumed(note: &str) -> bool {
    FrontMatter::parse(note).and_then(|front| front.text("status")).is_some_and(|status| status == RESUMED)
}

/// The next step named in a handoff.
fn next_action(handoff: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(handoff).ok()?;
    let words = value.get("next_action")?.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(words).filter(|words| !words.is_empty())
}
