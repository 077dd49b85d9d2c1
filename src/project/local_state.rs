//! Notes of this computer about a project, kept in the user's state folder: decisions that must not show up in
//! `git status`, travel with a clone, or be believed because they came with one.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{repository, workstream};
use crate::disk::{self, AbsolutePath, Digest, DiskError};
use crate::failure::Explain;

/// The folder of one project below the user's state folder. All worktrees of a repository share it; projects in other
/// folders of the repository have their own.
#[derive(Clone, Debug)]
pub(crate) struct LocalState {
    folder: AbsolutePath,
}

impl LocalState {
    /// `state_folder` is [`crate::world::World::state_folder`], `project` the root of a project.
    pub(crate) fn of(state_folder: &Path, project: &AbsolutePath) -> Result<Self, DiskError> {
        let main = repository::main_place(project).unwrap_or_else(|| project.clone());
        let main = disk::canonical(&main)?;
        let key = Digest::of(main.to_string().as_bytes()).to_string();
        let name = format!("{}-{}", main.name(), &key[..16]);
        let folder = AbsolutePath::parse(state_folder.join("projects").join(name)).map_err(DiskError::from)?;
        Ok(Self { folder })
    }

    /// The paths of the note `name` of all projects of this computer that have one.
    pub(crate) fn all(state_folder: &Path, name: &str) -> Result<Vec<AbsolutePath>, DiskError> {
        let folder = AbsolutePath::parse(state_folder.join("projects")).map_err(DiskError::from)?;
        let entries = disk::list(&folder)?.unwrap_or_default();
        let notes = entries.into_iter().map(|entry| folder.resolve(entry.name).resolve(name));
        Ok(notes.filter(|note| disk::is_file(note)).collect())
    }

    /// The path of the note `name`, such as `wave.json`.
    pub(crate) fn file(&self, name: &str) -> AbsolutePath {
        self.folder.resolve(name)
    }

    /// Reads the note `name`; `None` if it does not exist. A note that does not parse is an error: it must not be
    /// missed.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, LocalStateError> {
        let path = self.file(name);
        let Some(text) = disk::read_text(&path)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|source| LocalStateError::Malformed { path, source })
    }
}

/// The settings as a command last wrote them, and the session that called it: hooks in that session need not report the
/// change.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WrittenSettings {
    digest: String,
    session: Option<String>,
}

impl WrittenSettings {
    /// The name of the note.
    pub(crate) const NOTE: &str = "written-settings.json";

    /// Records the written `text`. `session` is a [`workstream::session_key`].
    pub(crate) fn new(text: &str, session: Option<String>) -> Self {
        Self { digest: Digest::of(text.as_bytes()).to_string(), session }
    }

    /// Whether the command was called in the session with this name in the host.
    pub(crate) fn is_of(&self, session: &str) -> bool {
        self.session.as_deref().is_some_and(|key| workstream::names_session(key, session))
    }

    /// Whether `text` is what was written.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.digest == Digest::of(text.as_bytes()).to_string()
    }
}

/// Why a note cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LocalStateError {
    #[error("`{path}` does not parse: {source}")]
    Malformed { path: AbsolutePath, source: serde_json::Error },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Explain for LocalStateError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Malformed { .. } => Some("correct the file, or delete it".to_owned()),
            Self::Disk(error) => error.hint(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
mod tests {
    use super::*;

    #[test]
    fn worktrees_of_a_repository_share_one_folder_and_projects_do_not() {
        let temporary = crate::testing::folder();
        let base = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        for folder in ["main/.git/worktrees/w", "main/app", "main/lib", "w/app", "w/lib", "other/.git", "state"] {
            std::fs::create_dir_all(base.resolve(folder)).unwrap();
        }
        std::fs::write(base.resolve("main/.git/worktrees/w/gitdir"), format!("{base}/w/.git\n")).unwrap();
        std::fs::write(base.resolve("w/.git"), format!("gitdir: {base}/main/.git/worktrees/w\n")).unwrap();
        let state = base.resolve("state");
        let of = |project: &str| {
            LocalState::of(state.as_path(), &base.resolve(project)).unwrap().file("wave.json").to_string()
        };
        assert_eq!(of("main"), of("w"));
        assert_eq!(of("main/app"), of("w/app"));
        assert_ne!(of("main/app"), of("main/lib"));
        assert_ne!(of("w/app"), of("w/lib"));
        assert_ne!(of("main"), of("other"));
        assert!(of("main").contains("/projects/main-"), "{}", of("main"));
    }

    #[test]
    fn a_note_that_does_not_parse_is_an_error() {
        let temporary = crate::testing::folder();
        let base = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        let state = LocalState::of(base.as_path(), &base).unwrap();
        assert!(state.read::<Vec<String>>("a.json").unwrap().is_none());
        std::fs::create_dir_all(state.file("a.json").parent().unwrap()).unwrap();
        std::fs::write(state.file("a.json"), "[1").unwrap();
        assert!(state.read::<Vec<String>>("a.json").is_err());
    }
}
