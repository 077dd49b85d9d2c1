//! Which workstream is active: the one named in the call, in the environment, or stored before.
//!
//! A choice is stored for the session of the host that made it, else for everybody in the project.

use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};

use crate::disk::{self, AbsolutePath};
use crate::failure::{Explain, Reason};
use crate::text::is_mark;

/// The variable in which a person names the session; it takes precedence over those of hosts.
const OWN_SESSION: &str = "GSD_SESSION_KEY";

// HOST_SESSIONS: the variables in which hosts name their session, from their descriptors.
include!(concat!(env!("OUT_DIR"), "/host_sessions.rs"));

/// Variables in which terminals name their session; they come after those of hosts.
const TERMINAL_SESSIONS: &[&str] = &["TERM_SESSION_ID", "WT_SESSION", "TMUX_PANE", "ZELLIJ_SESSION_NAME"];

/// Longest part of a session's name in a file name.
const LONGEST_SESSION: usize = 160;

/// A name that cannot be the name of a workstream folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot name a workstream: use letters, digits, `-`, `_` and `.`")]
pub(crate) struct WorkstreamNameError {
    pub(crate) name: String,
}

impl Explain for WorkstreamNameError {
    fn reason(&self) -> Reason {
        Reason::Usage
    }

    fn hint(&self) -> Option<String> {
        Some("`gsd-tools workstream list` lists the workstreams".to_owned())
    }
}

/// Checks that a name can be used for a workstream.
pub(crate) fn checked(name: &str) -> Result<&str, WorkstreamNameError> {
    let sound = |letter: char| letter.is_alphanumeric() || is_mark(letter) || matches!(letter, '-' | '_' | '.');
    if !name.is_empty() && name.chars().all(sound) && name.chars().any(|letter| letter != '.') && !name.contains("..") {
        return Ok(name);
    }
    Err(WorkstreamNameError { name: name.to_owned() })
}

/// The files that store which workstream is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// The real path of the planning folder.
    planning: PathBuf,
    workstreams: PathBuf,
    /// For this session only, if the session has a name.
    pub(crate) session: Option<PathBuf>,
    /// For everybody.
    pub(crate) shared: PathBuf,
}

/// A file that should store a name, or be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PointerEdit {
    pub(crate) file: PathBuf,
    pub(crate) name: Option<String>,
}

impl Pointer {
    /// The files for the project whose planning folder is `planning`.
    pub(crate) fn new(planning: &AbsolutePath, temporary: &Path, variable: impl Fn(&str) -> Option<String>) -> Self {
        // If the folder cannot be resolved, nothing is stored for it either.
        let real = disk::canonical(planning).unwrap_or_else(|_| planning.clone()).as_path().to_path_buf();
        let planning = planning.as_path();
        let session = session_key(variable).map(|key| {
            let digest = Sha1::digest(real.to_string_lossy().as_bytes());
            // The first eight bytes, as hexadecimal digits.
            let start = digest.iter().take(8).fold(0_u64, |start, byte| start << 8 | u64::from(*byte));
            let project = format!("{start:016x}");
            temporary.join("gsd-workstream-sessions").join(project).join(key)
        });
        let (workstreams, shared) = (planning.join("workstreams"), planning.join("active-workstream"));
        Self { planning: real, workstreams, session, shared }
    }

    /// The content of a file. A file in the project that is a link out of it counts as empty.
    fn text(&self, file: &Path) -> Option<String> {
        let is_own = || {
            let (file, folder) = (AbsolutePath::parse(file).ok()?, AbsolutePath::parse(&self.planning).ok()?);
            disk::stays_within(&file, &folder).ok()
        };
        if file == self.shared && is_own().is_none() {
            return None;
        }
        disk::read_text(file).ok().flatten()
    }

    /// As [`Self::new`], for a hook: the event names the session, while the host may set the variable with its name only
    /// for the commands of a shell.
    pub(crate) fn of_event(
        planning: &AbsolutePath,
        temporary: &Path,
        variable: impl Fn(&str) -> Option<String>,
        session: Option<&str>,
    ) -> Self {
        let named = variable(OWN_SESSION).is_some();
        let pointer = Self::new(planning, temporary, variable);
        let chooses = !named && disk::is_folder(&pointer.workstreams);
        let Some(session) = session.filter(|_| chooses) else { return pointer };
        let mut by_name = HOST_SESSIONS
            .iter()
            .chain(TERMINAL_SESSIONS)
            .map(|other| Self::new(planning, temporary, |name| (name == *other).then(|| session.to_owned())));
        by_name.find(|other| other.session.as_ref().is_some_and(disk::is_file)).unwrap_or(pointer)
    }

    /// The first stored name, whether or not that workstream exists.
    pub(crate) fn stored(&self) -> Option<String> {
        let texts = self.session.iter().chain([&self.shared]).filter_map(|file| self.text(file));
        texts.map(|text| text.trim().to_owned()).find(|name| !name.is_empty())
    }

    /// The edits that make `name` active: for the session if it has a name, else for everybody.
    pub(crate) fn choosing(&self, name: &str) -> Vec<PointerEdit> {
        let file = self.session.as_ref().unwrap_or(&self.shared).clone();
        vec![PointerEdit { file, name: Some(name.to_owned()) }]
    }

    /// The edits that remove the choice in effect.
    pub(crate) fn clearing(&self) -> Vec<PointerEdit> {
        let stored = self.session.iter().chain([&self.shared]).find(|file| disk::is_file(file));
        stored.map(|file| PointerEdit { file: file.clone(), name: None }).into_iter().collect()
    }

    /// The edits that remove every choice of `name`.
    pub(crate) fn forgetting(&self, name: &str) -> Vec<PointerEdit> {
        let names = |file: &&PathBuf| self.text(file).is_some_and(|text| text.trim() == name);
        let stored = self.session.iter().chain([&self.shared]).filter(names);
        stored.map(|file| PointerEdit { file: file.clone(), name: None }).collect()
    }

    /// The stored workstream; one that does not exist any more does not count.
    pub(crate) fn active(&self) -> Option<String> {
        self.session.iter().chain([&self.shared]).find_map(|file| {
            let text = self.text(file)?;
            let name = checked(text.trim()).ok()?;
            disk::is_folder(self.workstreams.join(name)).then(|| name.to_owned())
        })
    }
}

/// The name of the session, safe as a file name: the variable and its value.
pub(crate) fn session_key(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut variables = [OWN_SESSION].iter().chain(HOST_SESSIONS).chain(TERMINAL_SESSIONS);
    let named = variables.find_map(|name| Some((*name, variable(name)?)));
    let (name, value) = match named {
        Some((name, value)) => (name.to_ascii_lowercase().replace('_', "-"), value),
        None => ("tty".to_owned(), variable("TTY").or_else(|| variable("SSH_TTY"))?),
    };
    let token = token(value.trim());
    (!token.is_empty()).then(|| format!("{name}-{token}"))
}

/// Whether a [`session_key`] belongs to the session with the name `session` in the host.
pub(crate) fn names_session(key: &str, session: &str) -> bool {
    let token = token(session.trim());
    !token.is_empty() && key.strip_suffix(&token).is_some_and(|variable| variable.ends_with('-'))
}

fn token(value: &str) -> String {
    let mut token = String::new();
    for letter in value.chars() {
        if letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-') {
            token.push(letter);
        } else if !token.ends_with('_') {
            token.push('_');
        }
    }
    token.truncate(LONGEST_SESSION);
    token
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare files by hand")]
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["", "..", "a/b", "a\\b", "ä/b", "a b", "."] {
            assert!(checked(name).is_err(), "{name:?}");
        }
        for name in ["api-2.x_y", "ä", "检索", "हिन्दी"] {
            assert_eq!(checked(name), Ok(name));
        }
    }

    #[test]
    fn the_session_name_comes_from_the_person_then_the_host_then_the_terminal() {
        let key = |set: &[&str]| session_key(|name| set.contains(&name).then(|| "w0 t1/p2".to_owned()));
        let host = HOST_SESSIONS[0];
        let spelled = |name: &str| Some(format!("{}-w0_t1_p2", name.to_lowercase().replace('_', "-")));
        assert_eq!(key(&["TMUX_PANE", host]), spelled(host));
        assert_eq!(key(&["TMUX_PANE", host, OWN_SESSION]), spelled(OWN_SESSION));
        assert_eq!(key(&["TMUX_PANE"]), spelled("TMUX_PANE"));
        assert_eq!(key(&["NOBODYS"]), None);
    }

    #[test]
    fn the_choice_of_a_session_comes_before_the_shared_one() {
        let temporary = crate::testing::folder();
        let planning = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap().resolve(".planning");
        std::fs::create_dir_all(planning.as_path().join("workstreams/api")).unwrap();
        std::fs::create_dir_all(planning.as_path().join("workstreams/web")).unwrap();
        let session = |name: &str| (name == "TERM_SESSION_ID").then(|| "w0 t1/p2".to_owned());
        let pointer = Pointer::new(&planning, temporary.path(), session);
        let file = pointer.session.clone().unwrap();
        assert!(file.ends_with("term-session-id-w0_t1_p2"), "{file:?}");
        assert_eq!(pointer.active(), None);
        std::fs::write(&pointer.shared, "web\n").unwrap();
        assert_eq!(pointer.active().as_deref(), Some("web"));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "api\n").unwrap();
        assert_eq!(pointer.active().as_deref(), Some("api"));
        assert_eq!(pointer.forgetting("web"), [PointerEdit { file: pointer.shared.clone(), name: None }]);
        assert_eq!(pointer.clearing(), [PointerEdit { file: file.clone(), name: None }]);
        assert_eq!(pointer.choosing("x"), [PointerEdit { file: file.clone(), name: Some("x".into()) }]);
        std::fs::write(&file, "gone\n").unwrap();
        assert_eq!(pointer.active().as_deref(), Some("web"));
        assert_eq!(pointer.stored().as_deref(), Some("gone"));
        assert_eq!(Pointer::new(&planning, temporary.path(), |_| None).session, None);
    }
}
