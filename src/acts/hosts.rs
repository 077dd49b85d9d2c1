//! The host of a call: its descriptor, how its commands are typed, and where its agents are.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use super::Call;
use super::call::{Host, InstalledHost};
use crate::disk;
use crate::emit::{CONTENT_FOLDER, PROFILE_FILE};
use crate::failure::{Failure, Reason};
use crate::install::{self, InstallError, Target};
use crate::library::{self, Library};
use crate::operations::agents::models;
use crate::runtime::{
    Descriptor, Home, Place, PlaceAnchor, PlaceItem, Registry, RegistryError, Scope, Surroundings, installed_for,
};
use crate::world::World;

impl Call {
    /// The host of the call: the one that the environment names, else the one this program was installed for, else the
    /// configured one, else the usual one.
    pub(crate) fn host(&self) -> Result<&Host, Failure> {
        if let Some(host) = self.host.get() {
            return Ok(host);
        }
        let (id, descriptor) = host_called(self, host_word(self)?.as_deref())?;
        Ok(self.host.get_or_init(|| Host { id, descriptor }))
    }

    /// The hosts that can be named: the built-in ones and those the user described.
    pub(crate) fn registry(&self) -> Result<&Registry, Failure> {
        opened(&self.registry, self.world())
    }

    /// The prefix of command names as people type them, such as `/gsd-`: that of the call's host; if nothing names one,
    /// that of an installed host.
    pub(crate) fn command_prefix(&self) -> Result<&str, Failure> {
        if let Some(prefix) = self.prefix.get() {
            return Ok(prefix);
        }
        let prefix = prefix_of(self.host()?.descriptor.as_ref());
        let prefix = if host_word(self)?.is_some() {
            prefix
        } else {
            let installed = installed_hosts(self);
            let is_typed = installed.is_empty() || installed.iter().any(|host| host.prefix == prefix);
            installed.first().filter(|_| !is_typed).map_or(prefix, |first| first.prefix.clone())
        };
        Ok(self.prefix.get_or_init(|| prefix))
    }
}

/// The name of the call's host, from the environment, from the installation that this program is part of, or from the
/// configuration. The installation takes precedence over the configuration, which a project's hosts share.
pub(crate) fn host_word(call: &Call) -> Result<Option<String>, Failure> {
    let named = call
        .world()
        .variable("GSD_RUNTIME")
        .or_else(|| call.world().executable().ok().and_then(|program| installed_for(&program)));
    Ok(if named.is_some() { named } else { call.config()?.runtime().map(str::to_owned) })
}

/// The id of the host with this name, or else of the usual host, and its descriptor if it is known.
fn host_called(call: &Call, named: Option<&str>) -> Result<(String, Option<Descriptor>), Failure> {
    let name = named.unwrap_or_else(|| models::usual_runtime());
    Ok(match host_if_known(call, name)? {
        Some(descriptor) => (descriptor.id.to_string(), Some(descriptor)),
        // Only its name is known.
        None => (name.to_owned(), None),
    })
}

/// The id of the host whose models are used: the named one, else the host of the call.
pub(crate) fn host_of_models(call: &Call, named: Option<&str>) -> Result<String, Failure> {
    match named {
        Some(named) => Ok(host_called(call, Some(named))?.0),
        None => Ok(call.host()?.id.clone()),
    }
}

/// The host that a person calls `name`, if it is known.
pub(crate) fn host_if_known(call: &Call, name: &str) -> Result<Option<Descriptor>, Failure> {
    match call.registry()?.find(name) {
        Ok(descriptor) => Ok(Some(descriptor)),
        Err(RegistryError::Unknown { .. }) => Ok(None),
        Err(error @ RegistryError::Broken { .. }) => Err(unusable_host(error)),
    }
}

/// The host that a person calls `name`.
pub(crate) fn host_named(call: &Call, name: &str) -> Result<Descriptor, Failure> {
    call.registry()?.find(name).map_err(unusable_host)
}

/// The hosts with an install, for the user or in this project. Help is given whatever state they are in.
pub(crate) fn installed_hosts(call: &Call) -> &[InstalledHost] {
    call.installed.get_or_init(|| {
        let (world, root, user) = (call.world(), call.root(), call.world().home());
        // Most hosts have neither a folder here nor a variable, and parsing their descriptors takes longer than most
        // calls.
        let may_be_here = |word: &str| {
            let below_home = |path| user.as_ref().is_some_and(|user| disk::exists(user.join(path)));
            word.strip_prefix("~/").is_some_and(below_home)
                || (word.starts_with('.') && disk::exists(root.resolve(word)))
                || (word.starts_with(|first: char| first.is_ascii_uppercase()) && world.is_set(word))
        };
        let hosts = call.registry().and_then(|registry| Ok(registry.all_with(may_be_here)?)).unwrap_or_default();
        let is_installed = |host: &Descriptor| {
            let target = |scope| Target::resolve(host.clone(), scope, call.root(), None, call.world());
            let mut targets = [Scope::Global, Scope::Local].into_iter().map(target);
            targets.any(|target| target.is_ok_and(|target| install::is_installed(&target)))
        };
        let named = |host: Descriptor| InstalledHost { prefix: prefix_of(Some(&host)), name: host.name };
        hosts.into_iter().filter(is_installed).map(named).collect()
    })
}

/// The folder of our agents on the host: the one with most of them, in the project or for the user.
pub(crate) fn agents(call: &Call, descriptor: Option<&Descriptor>) -> Agents {
    let folders = match (call.world().path_variable("GSD_AGENTS_DIR"), descriptor) {
        (Some(folder), Some(descriptor)) => {
            let file = descriptor.place(PlaceItem::Agent, Scope::Global).and_then(file_form);
            file.map(|file| AgentFolder { folder, file, left_out: Vec::new() }).into_iter().collect()
        }
        (_, Some(descriptor)) => agent_folders(call, descriptor),
        (_, None) => Vec::new(),
    };
    let found = folders.into_iter().map(Agents::in_folder);
    found.min_by_key(|agents| agents.missing.len()).unwrap_or_else(|| Agents {
        folder: None,
        missing: library::agent_names().map(|name| format!("gsd-{name}")).collect(),
    })
}

/// The folder of the user's own agents if the host's folder is the chosen one.
pub(crate) fn agents_folder_in(call: &Call, descriptor: &Descriptor, chosen: &str) -> Option<PathBuf> {
    let user = call.world().home()?;
    let environment = |name: &str| call.world().variable(name);
    let surroundings =
        Surroundings { environment: &environment, user: &user, project: call.here().as_path(), chosen: Some(chosen) };
    let home = Home::resolve(descriptor, Scope::Global, surroundings).ok()?;
    Some(anchored(descriptor.place(PlaceItem::Agent, Scope::Global)?, &home))
}

/// The paths at which the file of the agent `name` could be, for the host of the call.
pub(crate) fn agent_files(call: &Call, name: &str) -> Vec<PathBuf> {
    let descriptor = call.host().ok().and_then(|host| host.descriptor.as_ref());
    let Some(descriptor) = descriptor else { return Vec::new() };
    let folders = match call.world().path_variable("GSD_AGENTS_DIR") {
        Some(folder) => {
            let file = descriptor.place(PlaceItem::Agent, Scope::Global).and_then(file_form);
            file.map(|file| AgentFolder { folder, file, left_out: Vec::new() }).into_iter().collect()
        }
        None => agent_folders(call, descriptor),
    };
    // An agent of the user's has a file of the same form without our prefix.
    folders.into_iter().map(|it| it.folder.join(it.file.replace("gsd-{name}", name))).collect()
}

/// The folders of the host of the call, for the user.
pub(crate) fn home(call: &Call) -> Result<Home, Failure> {
    let host = call.host()?;
    let home = host.descriptor.as_ref().map(|descriptor| home_of(call, descriptor)).transpose()?.flatten();
    home.ok_or_else(|| {
        Failure::usage(format!("the config directory of `{}` is unknown", host.id))
            .hint("`gsd-tools runtimes` lists the supported hosts; `GSD_RUNTIME` names the one to use")
    })
}

/// The folders of a host, for the user; `None` for a user without a home.
pub(crate) fn home_of(call: &Call, descriptor: &Descriptor) -> Result<Option<Home>, Failure> {
    let Some(user) = call.world().home() else { return Ok(None) };
    let environment = |name: &str| call.world().variable(name);
    let surroundings =
        Surroundings { environment: &environment, user: &user, project: call.root().as_path(), chosen: None };
    Ok(Some(Home::resolve(descriptor, Scope::Global, surroundings)?))
}

/// The folder above a host's skills, for the user; `None` if it has no skills.
pub(crate) fn skills_folder(call: &Call, descriptor: &Descriptor) -> Result<Option<String>, Failure> {
    if let (Some(skills), Some(user)) = (&descriptor.home.skills, call.world().home()) {
        return Ok(Some(skills.replacen('~', &user.to_string_lossy(), 1)));
    }
    let place =
        descriptor.places.iter().find(|place| place.scopes.contains(&Scope::Global) && place.path.contains("skills/"));
    let (Some(place), Some(user)) = (place, call.world().home()) else { return Ok(None) };
    let environment = |name: &str| call.world().variable(name);
    let surroundings =
        Surroundings { environment: &environment, user: &user, project: call.here().as_path(), chosen: None };
    let home = Home::resolve(descriptor, Scope::Global, surroundings)?;
    let start = match &place.anchor {
        PlaceAnchor::Root => home.root,
        PlaceAnchor::Project => home.project,
        PlaceAnchor::Home(folder) => home.user.join(folder),
    };
    let below = place.path.split("skills/").next().unwrap_or_default();
    Ok(Some(format!("{}/{below}skills", start.to_string_lossy())))
}

/// The folders in which a host looks for agents, the user's own first, with the form of a file's name.
fn agent_folders(call: &Call, descriptor: &Descriptor) -> Vec<AgentFolder> {
    let Some(user) = call.world().home() else { return Vec::new() };
    let environment = |name: &str| call.world().variable(name);
    let surroundings =
        Surroundings { environment: &environment, user: &user, project: call.root().as_path(), chosen: None };
    let folder = |scope| {
        let place = descriptor.place(PlaceItem::Agent, scope)?;
        let home = Home::resolve(descriptor, scope, surroundings).ok()?;
        let left_out = AbsentCommands::read(&home.root.join(CONTENT_FOLDER));
        let left_out = left_out.map(|left_out| left_out.agents).unwrap_or_default();
        Some(AgentFolder { folder: anchored(place, &home), file: file_form(place)?, left_out })
    };
    [Scope::Global, Scope::Local].into_iter().filter_map(folder).collect()
}

/// The prefix of command names in a host; the usual one for an unknown host.
fn prefix_of(host: Option<&Descriptor>) -> String {
    let form = host.map_or("/gsd-{name}", |host| &host.mention.command);
    form.split_once("{name}").map_or(form, |(prefix, _)| prefix).to_owned()
}

/// A folder in which a host looks for agents.
struct AgentFolder {
    folder: PathBuf,
    /// The name of a file, with `{name}` for that of the agent.
    file: String,
    /// The agents that the profile of the install there leaves out.
    left_out: Vec<String>,
}

/// What the profile of an install leaves out.
pub(crate) struct AbsentCommands {
    /// The names of the profile.
    pub(crate) profile: String,
    /// The flags that select the install.
    pub(crate) flags: String,
    pub(crate) commands: Vec<String>,
    agents: Vec<String>,
}

impl AbsentCommands {
    /// Reads what is noted in the folder of an install's content; `None` if it has everything. The folder may have come
    /// with a repository: names and flags that are not plain words are not used.
    pub(crate) fn read(content: &Path) -> Option<Self> {
        let text = disk::read_text(content.join(PROFILE_FILE)).ok()??;
        let (mut lines, rest) = (text.lines(), text.lines().skip(2));
        let of = |folder: &str| {
            let names = rest.clone().filter_map(|path| path.strip_prefix(folder)?.strip_suffix(".md"));
            names.map(str::to_owned).collect()
        };
        let (commands, agents) = (of("commands/"), of("agents/"));
        let is_plain =
            |text: &&str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_,./~ ".contains(letter));
        let mut line = || lines.next().filter(is_plain).map(str::to_owned);
        Some(Self { profile: line()?, flags: line()?, commands, agents })
    }

    /// The same for the install that this program is part of, or else for that of the call's host.
    pub(crate) fn of_call(call: &Call) -> Option<Self> {
        let program = call.world().executable().ok()?;
        match program.parent().and_then(Path::parent).filter(|folder| folder.ends_with(CONTENT_FOLDER)) {
            Some(content) => Self::read(content),
            None => Self::read(&home(call).ok()?.root.join(CONTENT_FOLDER)),
        }
    }
}

/// Our agents in one folder.
pub(crate) struct Agents {
    pub(crate) folder: Option<PathBuf>,
    pub(crate) missing: Vec<String>,
}

impl Agents {
    fn in_folder(AgentFolder { folder, file, left_out }: AgentFolder) -> Self {
        // A folder that cannot be read counts as empty.
        let there = disk::list(&folder).ok().flatten().unwrap_or_default();
        let missing = library::agent_names()
            .filter(|name| !left_out.iter().any(|left| left == name))
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

/// The name of a file in a place, with `{name}` for the item's name.
fn file_form(place: &Place) -> Option<String> {
    Path::new(&place.path).file_name()?.to_str().map(str::to_owned)
}

/// Why a host cannot be used; for a file of the user's, with its line and a fix.
fn unusable_host(error: RegistryError) -> Failure {
    match error {
        RegistryError::Unknown { .. } => Failure::because(Reason::Usage, &error),
        RegistryError::Broken { .. } => InstallError::from(error).into(),
    }
}

/// The hosts that can be named; their files are read when one is first needed.
pub(crate) fn opened<'a>(hosts: &'a OnceCell<Registry>, world: &World) -> Result<&'a Registry, Failure> {
    if let Some(registry) = hosts.get() {
        return Ok(registry);
    }
    let registry = Registry::open(world.config_folder().as_deref()).map_err(InstallError::from)?;
    Ok(hosts.get_or_init(|| registry))
}

/// The command with which a person starts a workflow here, such as `/gsd-plan-phase`; `None` if it is not installed.
pub(crate) fn installed_command(call: &Call, workflow: &str) -> Result<Option<String>, Failure> {
    let there = Library::embedded()?.at(&format!("workflows/{workflow}.md")).is_some();
    Ok(if there { Some(format!("{}{workflow}", call.command_prefix()?)) } else { None })
}
