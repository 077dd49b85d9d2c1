//! What a hook may look at: the event, the project it happened in, and files and settings read when they are asked for.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::checkout::Checkout;
use super::payload::Payload;
use crate::disk::{self, AbsolutePath};
use crate::library::Event;
use crate::project::config;
use crate::world::World;

/// The project an event happened in.
#[derive(Debug)]
pub(crate) struct HookProject {
    pub(crate) root: PathBuf,
    config: Option<Map<String, Value>>,
}

impl HookProject {
    /// Looks for `.planning` in `here` and above it, never in or above the home folder. A worktree has none of its own
    /// where git is told to ignore it; the repository's first checkout has it then.
    pub(super) fn find(here: &Path, world: &World) -> Option<Self> {
        let home = world.home();
        let above = |here: &Path| {
            let inside = |folder: &&Path| Some(*folder) != home.as_deref() || *folder == here;
            let mut folders = here.ancestors().take(10).take_while(inside);
            folders.find(|folder| disk::is_folder(folder.join(".planning"))).map(Path::to_path_buf)
        };
        let in_first = || {
            let checkout = Checkout::of(here).filter(|checkout| checkout.is_linked)?;
            let first = checkout.first()?;
            above(&first.join(here.strip_prefix(&checkout.root).ok()?)).filter(|root| root.starts_with(&first))
        };
        let root = above(here).or_else(in_first)?;
        let config = match disk::read_text(root.join(".planning").join("config.json")) {
            Ok(text) => config::parse(text.as_deref().unwrap_or("{}")).ok(),
            Err(_) => None,
        };
        Some(Self { root, config })
    }

    /// A setting as it stands in the project's file.
    pub(crate) fn setting(&self, key: &str) -> Option<&Value> {
        config::at(self.config.as_ref()?, key)
    }

    pub(crate) fn flag(&self, key: &str, default: bool) -> bool {
        self.setting(key).and_then(Value::as_bool).unwrap_or(default)
    }

    pub(crate) fn number(&self, key: &str, default: f64) -> f64 {
        self.setting(key).and_then(Value::as_f64).unwrap_or(default)
    }

    pub(crate) fn state(&self) -> Option<String> {
        disk::read_text(self.root.join(".planning").join("STATE.md")).ok().flatten()
    }
}

/// Everything one event is about.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) world: &'a World,
    pub(crate) event: Event,
    pub(crate) payload: &'a Payload,
    /// The folder the host works in.
    pub(crate) here: &'a Path,
    pub(crate) project: &'a HookProject,
}

impl Scene<'_> {
    /// The file that the host means by `name`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let mut path = self.here.to_path_buf();
        for part in Path::new(name).components() {
            match part {
                std::path::Component::CurDir => {}
                std::path::Component::ParentDir => drop(path.pop()),
                other => path.push(other),
            }
        }
        path
    }

    pub(crate) fn is_file(&self, name: &str) -> bool {
        disk::is_file(self.path(name))
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.world.now().milliseconds()
    }

    /// What an earlier event of this session left under `kind`.
    pub(crate) fn recall<T: serde::de::DeserializeOwned>(&self, kind: &str) -> Option<T> {
        recall(&session_file(self.world, self.payload, kind)?)
    }

    /// Leaves a note for later events of this session. That it could not be left only means that nobody finds it.
    pub(crate) fn leave(&self, kind: &str, note: &impl serde::Serialize) {
        if let Some(file) = session_file(self.world, self.payload, kind) {
            leave(&file, note);
        }
    }
}

/// A small file of the event's session; none for a session name that could lead elsewhere.
pub(super) fn session_file(world: &World, payload: &Payload, kind: &str) -> Option<AbsolutePath> {
    let session = payload.session()?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if session.is_empty() || session.len() > 128 || !session.chars().all(plain) {
        return None;
    }
    let folder = world.private_temporary_folder();
    AbsolutePath::parse(folder.join(format!("{session}.{kind}.json"))).ok()
}

pub(super) fn recall<T: serde::de::DeserializeOwned>(file: &AbsolutePath) -> Option<T> {
    serde_json::from_str(&disk::read_text(file).ok().flatten()?).ok()
}

pub(super) fn leave(file: &AbsolutePath, note: &impl serde::Serialize) {
    if let Ok(text) = serde_json::to_string(note) {
        let _ = disk::write_fleeting(file, text.as_bytes());
    }
}
