//! The hosts that can be named, and whether one of them runs this call.

use std::cell::OnceCell;

use crate::failure::Failure;
use crate::install::InstallError;
use crate::runtime::Registry;
use crate::world::World;

/// The hosts that can be named; their files are read the first time that one is asked for.
pub(in crate::commands) fn opened<'a>(hosts: &'a OnceCell<Registry>, world: &World) -> Result<&'a Registry, Failure> {
    if let Some(registry) = hosts.get() {
        return Ok(registry);
    }
    let registry = Registry::open(world.config_folder().as_deref()).map_err(InstallError::from)?;
    Ok(hosts.get_or_init(|| registry))
}

/// The variable by which a host shows that one of its agents runs this call; `None` if no host does.
pub(in crate::commands) fn agent_session(world: &World, hosts: &OnceCell<Registry>) -> Result<Option<String>, Failure> {
    let may_be_variable = |word: &str| word.starts_with(|first: char| first.is_ascii_uppercase() || first == '_');
    let hosts = opened(hosts, world)?.all_with(|word| may_be_variable(word) && world.is_set(word))?;
    let mut names = hosts.into_iter().flat_map(|host| host.shell_variables.into_iter().chain(host.session_variables));
    Ok(names.find(|name| world.is_set(name)))
}

/// The variables by which hosts say that an agent of theirs runs a program: a client that is to start anew does not get
/// them.
pub(in crate::commands) fn session_variables(
    world: &World,
    hosts: &OnceCell<Registry>,
) -> Result<Vec<String>, Failure> {
    let hosts = opened(hosts, world)?.all()?;
    Ok(hosts.into_iter().flat_map(|host| host.shell_variables.into_iter().chain(host.session_variables)).collect())
}

/// Whether a person reads the answer at a terminal. Hosts run programs of agents in one too.
pub(in crate::commands) fn is_for_a_person(world: &World, hosts: &OnceCell<Registry>) -> bool {
    let terminal = world.terminal();
    terminal.stdin && terminal.stdout && agent_session(world, hosts).is_ok_and(|session| session.is_none())
}
