//! gsd-tools: an installer, a toolchain, hooks and a content library in one native program.
//!
//! The rooms, from the bottom up. `ARCHITECTURE.md` says what each keeps and which it may use;
//! `tests/suite/architecture.rs` holds the directions.
//! [`run`] is the only public item, so that an unused function anywhere is reported by the compiler.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_types,
        clippy::disallowed_methods,
        reason = "the doors are the program's; tests prepare trees by hand"
    )
)]

mod acts;
mod auto;
mod commands;
mod disk;
mod emit;
mod failure;
#[cfg(fuzzing)]
pub mod fuzzing;
#[cfg(all(test, not(fuzzing)))]
mod fuzzing;
mod gate;
mod hooks;
mod install;
mod library;
mod operations;
mod peer;
mod project;
mod runtime;
#[cfg(test)]
mod testing;
mod text;
mod world;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs one call of the program. `arguments` are those after the program's own name.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    // A host runs a hook at every step of its own: nothing is read or built before it.
    if let Some((first, rest)) = arguments.split_first()
        && first == "hook"
    {
        return hooks::run(rest);
    }
    if let Some(refused) = in_a_unit(&arguments) {
        return refused;
    }
    // This program on its way to become another one.
    if let Some((first, rest)) = arguments.split_first()
        && first == world::fence::CALL
    {
        return world::fence::run(rest);
    }
    if arguments.first().is_some_and(|first| first == auto::supervise::CALL) {
        return auto::supervise::call();
    }
    #[cfg(debug_assertions)]
    if arguments.first().is_some_and(|first| first == commands::served::CALL) {
        return commands::served::run();
    }
    if arguments.first().is_some_and(|first| first == auto::demo::agent::CALL) {
        return auto::demo::agent::call();
    }
    // A call that ends with the process that made it.
    if let Some((first, rest)) = arguments.split_first()
        && first == world::signals::CALL
    {
        world::signals::end_with_input();
        return commands::run(rest.to_vec());
    }
    commands::run(arguments)
}

/// The end of a call by which this program starts another one, where a process above it is in a session of `auto run`: the run itself
/// starts these, and is in none.
fn in_a_unit(arguments: &[OsString]) -> Option<ExitCode> {
    let first = arguments.first()?;
    let starts = [world::fence::CALL, auto::supervise::CALL];
    if !starts.iter().any(|call| first == call) {
        return None;
    }
    let kind = world::above::unit()?;
    Some(commands::refuses_a_unit(&first.to_string_lossy(), &kind))
}
