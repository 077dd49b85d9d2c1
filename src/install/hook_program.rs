//! The program that registered hooks call: whether it is there, and is the one that was installed.

use super::registered::runs_our_program;
use super::status::{self, Drift};
use super::target::PROGRAM;
use super::{InstallError, Target};
use crate::disk;
use crate::world::World;
use crate::world::path::can_be_run;

/// Returns what is wrong with the program that our hooks call: one below the host's folder that is not there, cannot
/// be run, or is not the one that was installed; or one that is not in `PATH`.
pub(crate) fn program_fault(
    world: &World,
    target: &Target,
    commands: &[String],
) -> Result<Option<String>, InstallError> {
    if !commands.iter().any(|command| runs_our_program(command)) {
        // Our module for a host, or a script of a person, may call anything.
        let is_bare =
            |command: &String| command.strip_prefix("gsd-tools").is_some_and(|rest| rest.starts_with(" hook "));
        let is_lost = commands.iter().any(is_bare) && !world.finds("gsd-tools");
        return Ok(is_lost.then(|| "they call `gsd-tools`, which is not in `PATH`".to_owned()));
    }
    let program = target.program();
    let shown = target.shown(&program);
    if !disk::exists(&program) {
        return Ok(Some(format!("they call `{shown}`, which is missing")));
    }
    if !can_be_run(program.as_path()) {
        return Ok(Some(format!("they call `{shown}`, which cannot be run")));
    }
    let is_it = |drift: &Drift| matches!(drift, Drift::Edited { path } if path.contains(PROGRAM));
    let is_another = status::status(target)?.drift.iter().any(is_it);
    Ok(is_another.then(|| format!("they call `{shown}`, which is not the program that was installed")))
}
