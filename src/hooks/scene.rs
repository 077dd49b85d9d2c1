//! The inputs of a hook: the event, its project, and files and settings, read on demand.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::payload::Payload;
use super::switch;
use crate::disk::{self, AbsolutePath};
use crate::library::Event;
use crate::project::Project;
use crate::project::auto_run::Runs;
use crate::project::boundary::Boundary;
use crate::project::config::{Config, ConfigTexts};
use crate::project::layout::Layout;
use crate::project::next::{Around, Next};
use crate::project::root;
use crate::project::view::ProjectView;
use crate::project::wave::WaveNote;
use crate::project::workstream::{self, Pointer};
use crate::runtime::{Descriptor, Registry};
use crate::text::shell::shell_word;
use crate::world::World;

/// The project an event happened in, found and read as the commands find and read it.
#[derive(Debug)]
pub(crate) struct HookProject {
    pub(crate) root: PathBuf,
    pub(crate) layout: Layout,
    boundary: Boundary,
    config: Config,
    state_folder: Option<PathBuf>,
    /// The user's `defaults.json`, and its contents once they are needed.
    user_file: Option<PathBuf>,
    user: OnceCell<Config>,
    view: OnceCell<ProjectView>,
}

impl HookProject {
    /// The project that contains `here`; `None` outside of projects.
    pub(super) fn find(here: &Path, world: &World, session: Option<&str>) -> Option<Self> {
        let root = root::discover(&AbsolutePath::parse(here).ok()?, world.home().as_deref());
        if !root::has_documents(&root) {
            return None;
        }
        // An invalid name is an error in a command's call; here it is ignored.
        let variable = |name: &str| world.variable(name);
        let sound = |name: &str| variable(name).filter(|value| !is_scope(name) || workstream::checked(value).is_ok());
        let stored = Pointer::of_event(&root.resolve(".planning"), &world.temporary_folder(), variable, session);
        let layout = Layout::of_call(&root, None, &stored, sound);
        let state_folder = world.state_folder();
        let boundary = Project::new(layout.clone(), state_folder.clone()).boundary().ok()?;
        // If the planning folder is a link out of the project, its documents do not belong to the project.
        boundary.check(layout.absolute(layout.planning())).ok()?;
        let config = config(&layout, &boundary, world);
        let user_file = world.gsd_home().map(|home| home.join(".gsd").join("defaults.json"));
        let (root, user, view) = (root.as_path().to_path_buf(), OnceCell::new(), OnceCell::new());
        Some(Self { root, layout, boundary, config, state_folder, user_file, user, view })
    }

    /// The project as the commands read it, one view for everything that an event needs. Commit times are left out,
    /// because reading them starts git.
    pub(crate) fn view(&self) -> &ProjectView {
        self.view.get_or_init(|| {
            let project = Project::new(self.layout.clone(), self.state_folder.clone());
            project.view(Box::new(|_, _| Box::new(HashMap::new)))
        })
    }

    /// The facts outside the documents that decide the next step.
    pub(crate) fn around(&self, world: &World) -> Around {
        let root = AbsolutePath::parse(&self.root).ok();
        Around {
            skips_discussion: self.flag("workflow.skip_discuss", false),
            runs: root.map(|root| runs(world, &root)).unwrap_or_default(),
        }
    }

    /// The text of one of the project's settings files.
    pub(crate) fn settings_text(&self, path: &str) -> Result<Option<String>, String> {
        let path = self.layout.absolute(path);
        self.boundary.check(&path).map_err(|error| error.to_string())?;
        disk::read_config(path).map_err(|error| error.to_string())
    }

    /// The user's own settings, whatever the project says. An unreadable file counts as empty.
    pub(crate) fn user(&self) -> &Config {
        self.user.get_or_init(|| {
            let text = self.user_file.as_ref().and_then(|file| disk::read_config(file).ok().flatten());
            Config::read(ConfigTexts { personal: text.as_deref(), ..ConfigTexts::default() }).0
        })
    }

    /// True if the user's own settings or the project's turn on a switch that makes a guard stricter. Settings that
    /// came with a repository may tighten a guard but not loosen one.
    pub(crate) fn tightens(&self, key: &str) -> bool {
        self.flag(key, false) || self.user().written(key).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A setting as written in a file, the active workstream's before the project's.
    pub(crate) fn setting(&self, key: &str) -> Option<&Value> {
        self.config.written(key)
    }

    pub(crate) fn flag(&self, key: &str, default: bool) -> bool {
        self.setting(key).and_then(Value::as_bool).unwrap_or(default)
    }

    pub(crate) fn number(&self, key: &str, default: f64) -> f64 {
        self.setting(key).and_then(Value::as_f64).unwrap_or(default)
    }

    /// The text of STATE.md.
    pub(crate) fn state(&self) -> Option<String> {
        self.text(&self.layout.state())
    }

    /// How long before `now` STATE.md was changed, in milliseconds.
    pub(super) fn state_age(&self, now: i64) -> Option<i64> {
        let path = self.layout.absolute(&self.layout.state());
        self.boundary.check(&path).ok()?;
        disk::modified(&path).map(|changed| now.saturating_sub(changed))
    }

    /// The text of a file, by its path below the root; `None` if it cannot be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let path = self.layout.absolute(path);
        self.boundary.check(&path).ok()?;
        disk::read_text(path).ok().flatten()
    }
}

/// The runs of `auto` in the project at `root`; a session of a run searches for none.
pub(super) fn runs(world: &World, root: &AbsolutePath) -> Runs {
    if world.is_unit() {
        return Runs::default();
    }
    Runs::of(world.state_folder().as_deref(), &world.lock_folders(), root)
}

/// The next step in the milestones of `auto` around `here`, and their runs, outside of planning folders; `None` without milestones. The
/// milestone of a first run is only in its worktree.
pub(super) fn next_of_milestones(here: &Path, world: &World) -> Option<(Next, Around)> {
    let here = AbsolutePath::parse(here).ok()?;
    let found = root::of_milestones(&here, world.home().as_deref());
    let is_found = found.is_some();
    let root = found.unwrap_or(here);
    let around = Around { skips_discussion: false, runs: runs(world, &root) };
    if !is_found && around.runs.unfinished.is_none() {
        return None;
    }
    let project = Project::new(Layout::new(root.as_path(), None, None), world.state_folder());
    let next = Next::of(&project.view(Box::new(|_, _| Box::new(HashMap::new))), &around).ok()?;
    Some((next, around))
}

/// True if the variable names a part of the project.
fn is_scope(variable: &str) -> bool {
    matches!(variable, "GSD_PROJECT" | "GSD_WORKSTREAM")
}

/// The project's configuration. Unreadable files are left out.
fn config(layout: &Layout, boundary: &Boundary, world: &World) -> Config {
    let read = |path: PathBuf| disk::read_config(path).ok().flatten();
    let read = |path: PathBuf| read(path.clone()).filter(|_| boundary.check(&path).is_ok());
    let project = read(layout.absolute(&layout.root_config()));
    let own = layout.workstream().and_then(|_| read(layout.absolute(&layout.config())));
    let has_file = project.is_some() || own.is_some();
    let home = world.gsd_home().filter(|_| !has_file);
    let personal = home.and_then(|home| read(home.join(".gsd").join("defaults.json")));
    let (project, workstream, personal) = (project.as_deref(), own.as_deref(), personal.as_deref());
    Config::read(ConfigTexts { project, workstream, personal, unreadable: false }).0
}

/// The descriptor of the host that called, read on demand and without the others. `None` if the program was not
/// installed for a host, or if the descriptor is unusable.
pub(super) fn host(world: &World) -> Option<Descriptor> {
    Registry::one(world.config_folder().as_deref(), &switch::host(world)?).ok()
}

/// A gsd command as a person types it in the host that called.
pub(super) fn command(world: &World, name: &str) -> String {
    let form = host(world).map_or_else(|| "/gsd-{name}".to_owned(), |host| host.mention.command);
    form.replace("{name}", name)
}

/// This program as one word of a shell, as the installed texts spell it.
fn program(world: &World, here: &Path) -> String {
    let Ok(path) = world.executable() else { return "gsd-tools".to_owned() };
    let home = world.home();
    let below = |folder: &Path| path.strip_prefix(folder).ok().map(|below| below.to_string_lossy().into_owned());
    let in_home = || below(home.as_deref()?).map(|below| format!("~/{below}"));
    let spelled = below(here).or_else(in_home).unwrap_or_else(|| path.to_string_lossy().into_owned());
    shell_word(&spelled)
}

/// A command of this program as a person can type it: by its path if it is not in `PATH`.
pub(super) fn typed_by_a_person(world: &World, here: &Path, command: &str) -> String {
    match command.strip_prefix("gsd-tools ") {
        Some(rest) if !world.finds("gsd-tools") => format!("{} {rest}", program(world, here)),
        _ => command.to_owned(),
    }
}

/// The context of one event.
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

    /// The decision of `worktree create-wave` about a wave that is not merged yet; also `None` if the note cannot be
    /// read.
    pub(super) fn wave(&self) -> Option<WaveNote> {
        let root = AbsolutePath::parse(&self.project.root).ok()?;
        WaveNote::of_project(&self.world.state_folder()?, &root)
    }

    /// A gsd command as a person types it in the host that called.
    pub(crate) fn command(&self, name: &str) -> String {
        command(self.world, name)
    }

    /// This program as one word of a shell, as the installed texts spell it, which is the only name that agents know.
    pub(crate) fn program(&self) -> String {
        program(self.world, self.here)
    }

    pub(crate) fn is_file(&self, name: &str) -> bool {
        disk::is_file(self.path(name))
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        self.world.now().milliseconds()
    }

    /// The note of `kind` that an earlier event of this session left.
    pub(crate) fn recall<T: serde::de::DeserializeOwned>(&self, kind: &str) -> Option<T> {
        recall(&session_file(self.world, self.payload, kind)?)
    }

    /// Leaves a note for later events of this session. A failure is ignored: the note is then missing.
    pub(crate) fn leave(&self, kind: &str, note: &impl serde::Serialize) {
        if let Some(file) = session_file(self.world, self.payload, kind) {
            leave(&file, note);
        }
    }
}

/// A small file of the event's session; `None` for a session name that could lead elsewhere.
pub(super) fn session_file(world: &World, payload: &Payload, kind: &str) -> Option<AbsolutePath> {
    let session = payload.session()?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if session.is_empty() || session.len() > 128 || !session.chars().all(plain) {
        return None;
    }
    let folder = world.private_temporary_folder();
    AbsolutePath::parse(folder.join(format!("{session}.{kind}.json"))).ok()
}

/// Reads a note. Notes in a folder that others could write to are ignored.
pub(super) fn recall<T: serde::de::DeserializeOwned>(file: &AbsolutePath) -> Option<T> {
    file.parent().filter(disk::is_private_folder)?;
    serde_json::from_str(&disk::read_text(file).ok().flatten()?).ok()
}

pub(super) fn leave(file: &AbsolutePath, note: &impl serde::Serialize) {
    let is_private = file.parent().is_some_and(|folder| disk::make_private_folder(&folder).is_ok());
    if let Some(text) = serde_json::to_string(note).ok().filter(|_| is_private) {
        let _ = disk::write_fleeting(file, text.as_bytes());
    }
}
