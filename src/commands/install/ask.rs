//! The questions of an install on a terminal. Every one of them has a flag.

use dialoguer::{MultiSelect, Select};

use crate::commands::frame::error::{CommandError, Reason};
use crate::install::Wish;
use crate::runtime::{Descriptor, Scope};

/// Which hosts; those that `likely` says are marked from the start.
pub(super) fn hosts(
    known: Vec<Descriptor>,
    likely: impl Fn(&Descriptor) -> bool,
    wish: Wish,
) -> Result<Vec<Descriptor>, CommandError> {
    let question = match wish {
        Wish::Install => "Install for which hosts (space marks, enter goes on)",
        Wish::Uninstall => "Uninstall from which hosts (space marks, enter goes on)",
    };
    let items = known.iter().map(|descriptor| (descriptor.name.as_str(), likely(descriptor)));
    let asked = MultiSelect::new().with_prompt(question).items_checked(items);
    let chosen = asked.interact_opt().map_err(|error| unanswered(&error))?;
    let chosen = chosen.unwrap_or_default();
    if chosen.is_empty() {
        return Err(CommandError::usage("no host chosen").exits(2));
    }
    let chosen = known.into_iter().enumerate().filter(|(index, _)| chosen.contains(index));
    Ok(chosen.map(|(_, descriptor)| descriptor).collect())
}

/// For all projects or for this one.
pub(super) fn scope() -> Result<Scope, CommandError> {
    let places = ["For you, in all projects", "For this project alone"];
    let chosen = Select::new()
        .with_prompt("Where")
        .items(places)
        .default(0)
        .interact_opt()
        .map_err(|error| unanswered(&error))?;
    match chosen {
        Some(0) => Ok(Scope::Global),
        Some(_) => Ok(Scope::Local),
        None => Err(CommandError::usage("no place chosen").exits(2)),
    }
}

fn unanswered(error: &dialoguer::Error) -> CommandError {
    CommandError::because(Reason::Usage, error).hint("name the hosts as flags instead").exits(2)
}
