//! gsd-tools: an installer, a toolchain, hooks and a content library in one native program.
//!
//! The modules, from the bottom up. `ARCHITECTURE.md` describes what each contains and which it may use;
//! `tests/suite/architecture.rs` enforces the directions. [`run`] is the only public item, so that the compiler reports
//! any unused function.

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
mod frame;
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
    // A host runs a hook at every step: nothing is read or built before it.
    if let Some((first, rest)) = arguments.split_first()
        && first == "hook"
    {
        return hooks::run(rest);
    }
    if let Some(refused) = in_a_unit(&arguments) {
        return refused;
    }
    // Enters a fence, and replaces this process with another program.
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
    // A call that ends with its parent process.
    if let Some((first, rest)) = arguments.split_first()
        && first == world::signals::CALL
    {
        world::signals::end_with_input();
        return commands::run(rest.to_vec());
    }
    commands::run(arguments)
}

/// Refuses a call by which this program starts another one if an ancestor process is in a session of `auto run`: only
/// the run itself makes these calls, and it is not in a session.
fn in_a_unit(arguments: &[OsString]) -> Option<ExitCode> {
    let first = arguments.first()?;
    let starts = [world::fence::CALL, auto::supervise::CALL];
    if !starts.iter().any(|call| first == call) {
        return None;
    }
    let kind = world::above::unit()?;
    Some(commands::refuses_a_unit(&first.to_string_lossy(), &kind))
}
