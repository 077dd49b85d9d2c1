//! What bundles tell that stands in no document of the project: the host, its agents, what git is told.

use std::path::{Path, PathBuf};

use crate::commands::frame::CommandError;
use crate::commands::frame::Context;
use crate::disk;
use crate::library;
use crate::operations::bundle::Facts;
use crate::runtime::{Descriptor, Home, Place, PlaceAnchor, PlaceItem, Scope, Surroundings};

impl Context {
    /// The facts of this call.
    pub(super) fn facts(&self) -> Result<Facts, CommandError> {
        let host = self.host()?;
        let agents = self.agents(host.descriptor.as_ref());
        Ok(Facts {
            runtime: host.id.clone(),
            command_prefix: self.command_prefix()?.to_owned(),
            agents_folder: agents.folder.map(|folder| folder.to_string_lossy().replace('\\', "/")),
            missing_agents: agents.missing,
            documents_ignored: self.documents_ignored()?,
            auto: self.auto_mode()?,
        })
    }

    /// Whether git is told to leave the project's documents out. Asked only where the configuration leaves it open.
    fn documents_ignored(&self) -> Result<bool, CommandError> {
        let config = self.config()?;
        let says = ["commit_docs", "planning.commit_docs"].iter().any(|key| config.written(key).is_some());
        if says || !config.has_file() {
            return Ok(false);
        }
        let ignored = self.world().git(self.root().as_path(), ["check-ignore", "-q", ".planning/"]);
        // Without git, or outside a repository, nothing is ignored.
        Ok(ignored.is_ok_and(|finished| finished.success()))
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
