//! The host of a call: its descriptor, how its commands are typed, and where its agents are.

use std::path::{Path, PathBuf};

use super::context::{Host, InstalledHost};
use super::hosts::opened;
use super::{Context, program};
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::install::{self, InstallError, Target};
use crate::library;
use crate::operations::agents::models;
use crate::runtime::{
    Descriptor, Home, Place, PlaceAnchor, PlaceItem, Registry, RegistryError, Scope, Surroundings, installed_for,
};

impl Context {
    /// The host of the call: the one the environment names, else the one this program was installed for, else the configured
    /// one, else the usual one.
    pub(crate) fn host(&self) -> Result<&Host, Failure> {
        if let Some(host) = self.host.get() {
            return Ok(host);
        }
        let (id, descriptor) = self.host_called(self.host_word()?.as_deref())?;
        Ok(self.host.get_or_init(|| Host { id, descriptor }))
    }

    /// What says which host the call is for: the environment, the installation that this program is part of, or the
    /// configuration. The installation comes before the configuration, which a project's hosts share.
    pub(in crate::commands) fn host_word(&self) -> Result<Option<String>, Failure> {
        let named = self.world().variable("GSD_RUNTIME").or_else(|| self.installed_for());
        Ok(if named.is_some() { named } else { self.config()?.runtime().map(str::to_owned) })
    }

    /// The id of the host with this name, or else of the usual host, and its descriptor if we know it.
    fn host_called(&self, named: Option<&str>) -> Result<(String, Option<Descriptor>), Failure> {
        let name = named.unwrap_or_else(|| models::usual_runtime());
        Ok(match self.host_if_known(name)? {
            Some(descriptor) => (descriptor.id.to_string(), Some(descriptor)),
            // Its name is all that is known of it.
            None => (name.to_owned(), None),
        })
    }

    /// The id of the host whose models count: of the one that is named, else of the host of the call.
    pub(in crate::commands) fn host_of_models(&self, named: Option<&str>) -> Result<String, Failure> {
        match named {
            Some(named) => Ok(self.host_called(Some(named))?.0),
            None => Ok(self.host()?.id.clone()),
        }
    }

    /// The hosts that can be named: ours and those the user described.
    pub(crate) fn registry(&self) -> Result<&Registry, Failure> {
        opened(&self.registry, self.world())
    }

    /// The host that a person calls `name`, if we know one.
    pub(in crate::commands) fn host_if_known(&self, name: &str) -> Result<Option<Descriptor>, Failure> {
        match self.registry()?.find(name) {
            Ok(descriptor) => Ok(Some(descriptor)),
            Err(RegistryError::Unknown { .. }) => Ok(None),
            Err(error @ RegistryError::Broken { .. }) => Err(unusable_host(error)),
        }
    }

    /// The host that a person calls `name`.
    pub(crate) fn host_named(&self, name: &str) -> Result<Descriptor, Failure> {
        self.registry()?.find(name).map_err(unusable_host)
    }

    /// The host whose folder this program is in, as its installation noted beside it.
    fn installed_for(&self) -> Option<String> {
        installed_for(&self.world().executable().ok()?)
    }

    /// How a text that a model reads calls this program: by the path of its installation, as the installed content does,
    /// and by its bare name where it is none.
    pub(in crate::commands) fn program_word(&self) -> String {
        program::word(self.world(), self.root().as_path())
    }

    /// What is before the name of a command where people type it, such as `/gsd-`: as the host of the call has it; where
    /// nothing names one, as an installed host has it.
    pub(crate) fn command_prefix(&self) -> Result<&str, Failure> {
        if let Some(prefix) = self.prefix.get() {
            return Ok(prefix);
        }
        let prefix = prefix_of(self.host()?.descriptor.as_ref());
        let prefix = if self.host_word()?.is_some() {
            prefix
        } else {
            let installed = self.installed_hosts();
            let is_typed = installed.is_empty() || installed.iter().any(|host| host.prefix == prefix);
            installed.first().filter(|_| !is_typed).map_or(prefix, |first| first.prefix.clone())
        };
        Ok(self.prefix.get_or_init(|| prefix))
    }

    /// The hosts that have an install, for the user or in this project. Help is given whatever state they are in.
    pub(in crate::commands) fn installed_hosts(&self) -> &[InstalledHost] {
        self.installed.get_or_init(|| {
            let (world, root, user) = (self.world(), self.root(), self.world().home());
            // Most hosts have neither a folder here nor a variable: to parse their descriptors takes longer than most calls.
            let may_be_here = |word: &str| {
                let below_home = |path| user.as_ref().is_some_and(|user| disk::exists(user.join(path)));
                word.strip_prefix("~/").is_some_and(below_home)
                    || (word.starts_with('.') && disk::exists(root.resolve(word)))
                    || (word.starts_with(|first: char| first.is_ascii_uppercase()) && world.is_set(word))
            };
            let hosts = self.registry().and_then(|registry| Ok(registry.all_with(may_be_here)?)).unwrap_or_default();
            let is_installed = |host: &Descriptor| {
                let target = |scope| Target::resolve(host.clone(), scope, self.root(), None, self.world());
                let mut targets = [Scope::Global, Scope::Local].into_iter().map(target);
                targets.any(|target| target.is_ok_and(|target| install::is_installed(&target)))
            };
            let named = |host: Descriptor| InstalledHost { prefix: prefix_of(Some(&host)), name: host.name };
            hosts.into_iter().filter(is_installed).map(named).collect()
        })
    }

    /// Where the host's agents of ours are: the folder that has most of them, in the project or for the user.
    pub(in crate::commands) fn agents(&self, descriptor: Option<&Descriptor>) -> Agents {
        let folders = match (self.world().path_variable("GSD_AGENTS_DIR"), descriptor) {
            (Some(folder), Some(descriptor)) => {
                let file = descriptor.place(PlaceItem::Agent, Scope::Global).and_then(file_form);
                file.map(|file| (folder, file)).into_iter().collect()
            }
            (_, Some(descriptor)) => self.agent_folders(descriptor),
            (_, None) => Vec::new(),
        };
        let found = folders.into_iter().map(|(folder, file)| Agents::in_folder(folder, &file));
        found.min_by_key(|agents| agents.missing.len()).unwrap_or_else(|| Agents {
            folder: None,
            missing: library::agent_names().map(|name| format!("gsd-{name}")).collect(),
        })
    }

    /// Where a host keeps the user's own agents if its folder is the chosen one.
    pub(in crate::commands) fn agents_folder_in(&self, descriptor: &Descriptor, chosen: &str) -> Option<PathBuf> {
        let user = self.world().home()?;
        let environment = |name: &str| self.world().variable(name);
        let surroundings = Surroundings {
            environment: &environment,
            user: &user,
            project: self.here().as_path(),
            chosen: Some(chosen),
        };
        let home = Home::resolve(descriptor, Scope::Global, surroundings).ok()?;
        Some(anchored(descriptor.place(PlaceItem::Agent, Scope::Global)?, &home))
    }

    /// Where the file of the agent `name` could be, for the host of the call.
    pub(in crate::commands) fn agent_files(&self, name: &str) -> Vec<PathBuf> {
        let descriptor = self.host().ok().and_then(|host| host.descriptor.as_ref());
        let Some(descriptor) = descriptor else { return Vec::new() };
        let folders = match self.world().path_variable("GSD_AGENTS_DIR") {
            Some(folder) => {
                let file = descriptor.place(PlaceItem::Agent, Scope::Global).and_then(file_form);
                file.map(|file| (folder, file)).into_iter().collect()
            }
            None => self.agent_folders(descriptor),
        };
        // An agent of the user's own has a file of the same form without our prefix.
        folders.into_iter().map(|(folder, file)| folder.join(file.replace("gsd-{name}", name))).collect()
    }

    /// The folders in which a host looks for agents, the user's own first, with the form of a file's name.
    fn agent_folders(&self, descriptor: &Descriptor) -> Vec<(PathBuf, String)> {
        let Some(user) = self.world().home() else { return Vec::new() };
        let environment = |name: &str| self.world().variable(name);
        let surroundings =
            Surroundings { environment: &environment, user: &user, project: self.root().as_path(), chosen: None };
        let folder = |scope| {
            let place = descriptor.place(PlaceItem::Agent, scope)?;
            let home = Home::resolve(descriptor, scope, surroundings).ok()?;
            Some((anchored(place, &home), file_form(place)?))
        };
        [Scope::Global, Scope::Local].into_iter().filter_map(folder).collect()
    }
}

/// What is before the name of a command in a host; in one that we do not know, what is usual.
fn prefix_of(host: Option<&Descriptor>) -> String {
    let form = host.map_or("/gsd-{name}", |host| &host.mention.command);
    form.split_once("{name}").map_or(form, |(prefix, _)| prefix).to_owned()
}

/// The agents of ours in one folder.
pub(in crate::commands) struct Agents {
    pub(in crate::commands) folder: Option<PathBuf>,
    pub(in crate::commands) missing: Vec<String>,
}

impl Agents {
    fn in_folder(folder: PathBuf, file: &str) -> Self {
        // A folder that cannot be read has none, as far as we can tell.
        let there = disk::list(&folder).ok().flatten().unwrap_or_default();
        let missing = library::agent_names()
            .filter(|name| {
                let file = file.replace("{name}", name);
                !there.iter().any(|entry| entry.name == file)
            })
            .map(|name| format!("gsd-{name}"))
            .collect();
        Self { folder: Some(folder), missing }
    }
}

/// The folder of a place.
fn anchored(place: &Place, home: &Home) -> PathBuf {
    let anchor = match &place.anchor {
        PlaceAnchor::Root => home.root.clone(),
        PlaceAnchor::Project => home.project.clone(),
        PlaceAnchor::Home(folder) => home.user.join(folder),
    };
    match Path::new(&place.path).parent() {
        Some(parent) => anchor.join(parent),
        None => anchor,
    }
}

/// The name of a file in a place, with `{name}` for that of the item.
fn file_form(place: &Place) -> Option<String> {
    Path::new(&place.path).file_name()?.to_str().map(str::to_owned)
}

/// Why a host cannot be used; a file of the user's is named with its line and a cure.
fn unusable_host(error: RegistryError) -> Failure {
    match error {
        RegistryError::Unknown { .. } => Failure::because(Reason::Usage, &error),
        RegistryError::Broken { .. } => InstallError::from(error).into(),
    }
}
