//! Work that somebody put down on purpose: what a session left for the next one to go on with.

use super::files::FileError;
use super::state::State;
use super::state::index::Sources;
use super::view::ProjectView;
use crate::text::front_matter::FrontMatter;

/// How the names of files begin that say where to continue.
const CONTINUE_HERE: &str = ".continue-here";

/// What the front matter of a note says once somebody has gone on with its work.
pub(crate) const RESUMED: &str = "resumed";

/// That work is paused, and where that is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// The file that says so, relative to the project's root.
    pub(crate) file: String,
    /// Where the work stopped or what comes next, in the words of that file.
    pub(crate) note: Option<String>,
    /// Whether it is STATE.md that says so, and no file of its own.
    is_stated: bool,
}

impl Pause {
    /// The pause of the project: a file that a session left, or what STATE.md says.
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

    /// What STATE.md says of a pause.
    fn stated(view: &ProjectView) -> Result<Option<Self>, FileError> {
        let Some(text) = view.state_text()? else { return Ok(None) };
        let state = State::parse(&text);
        let sources = Sources::of(&state);
        let note = state.front_text("paused_at").or_else(|| sources.get("paused_at").map(str::to_owned));
        let status = state.front_text("status").filter(|status| status != "unknown");
        let status = status.as_deref().or(sources.get("status")).map(crate::project::state::normal_status);
        let is_paused = note.is_some() || status.is_some_and(|status| status.eq_ignore_ascii_case("paused"));
        Ok(is_paused.then(|| Self { file: view.layout().state(), note, is_stated: true }))
    }

    /// What a person does to end it.
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

    /// That work is paused, in a few words.
    pub(crate) fn why(&self) -> String {
        match &self.note {
            Some(note) => format!("Work is paused: {note}"),
            None => format!("Work is paused, see {}", self.file),
        }
    }
}

/// Whether somebody has gone on with the work of a note. The note stays, for what it warns of.
fn is_resumed(note: &str) -> bool {
    FrontMatter::parse(note).and_then(|front| front.text("status")).is_some_and(|status| status == RESUMED)
}

/// What a handoff says comes next.
fn next_action(handoff: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(handoff).ok()?;
    let words = value.get("next_action")?.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(words).filter(|words| !words.is_empty())
}
