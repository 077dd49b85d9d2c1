//! Warns the agent that starts a workflow if its host has called none of our hooks: guards that were not loaded are
//! silent.

use crate::acts::Call;
use crate::acts::hooks::state::Off;
use crate::acts::hosts;
use crate::acts::project;
use crate::hooks;
use crate::install::{self, Target};
use crate::runtime::{Scope, installed_for};

/// The maximum age of the last hook call in milliseconds. Each tool call brings one, and a person may be asked in
/// between.
const RECENT: i64 = 60 * 60 * 1000;

/// Warns if an agent makes this call, but the host has called no hook of the install that this program belongs to.
pub(super) fn tell(call: &Call) {
    let world = call.world();
    // The driver of a unit's session makes sure that its hooks are called.
    let Some(program) = world.executable().ok().filter(|_| !world.is_unit()) else { return };
    // A program that an administrator placed keeps no notes of calls.
    let Some(root) = hooks::root_of(&program).filter(|root| !hooks::is_managed(root, world)) else { return };
    let called = hooks::last_called(world, root);
    if called.is_some_and(|at| (world.now().milliseconds() - at).abs() < RECENT) {
        return;
    }
    let host = installed_for(&program).and_then(|host| hosts::host_if_known(call, &host).ok().flatten());
    let Some(host) = host.filter(|host| host.hooks.is_some()) else { return };
    // A person at a terminal has no session, and other hosts call no hooks of this one.
    let of_host = host.shell_variables.iter().chain(&host.session_variables);
    // An unreadable switch disables hooks, and `hooks status` reports what is wrong with it.
    let is_off = Off::read(world).map_or(true, |off| off.is_off(host.id.as_str()));
    if is_off || !of_host.into_iter().any(|name| world.is_set(name)) {
        return;
    }
    let name = host.name.clone();
    let (folder, chosen) = (project::install_folder(call), root.to_string_lossy());
    // `hooks status` reports places that cannot be checked.
    let global = Target::resolve(host.clone(), Scope::Global, &folder, Some(&chosen), world).ok();
    let local = Target::resolve(host, Scope::Local, &folder, None, world).ok();
    let target = local.filter(|local| local.root.as_path() == root).or(global);
    let registered = target.and_then(|target| install::registered(&target).ok());
    if registered.is_some_and(|registered| registered.hooks.iter().any(|hook| hook.ours)) {
        call.warn(format!(
            "{name} has called none of our hooks in this session, though they are registered, so its guards may not be \
             loaded; report this to the user and name `gsd-tools hooks status`"
        ));
    }
}
