//! The questions of an install at a terminal. Every one of them has a flag.

use dialoguer::console::Term;
use dialoguer::{MultiSelect, Select};

use crate::commands::frame::error::{CommandError, Reason};
use crate::install::Wish;
use crate::runtime::{Descriptor, Scope};
use crate::world::signals::while_asking;

/// Exit code of a question that was left, as of a program that Ctrl-C ended.
const LEFT: u8 = 130;

/// Which hosts; those that `likely` says come first and are marked from the start.
pub(super) fn hosts(
    known: Vec<Descriptor>,
    likely: impl Fn(&Descriptor) -> bool,
    wish: Wish,
) -> Result<Vec<Descriptor>, CommandError> {
    let (question, found) = match wish {
        Wish::Install => ("Install for which hosts? (space marks, a marks all, enter continues)", "found here"),
        Wish::Uninstall => ("Uninstall from which hosts? (space marks, a marks all, enter continues)", "installed"),
    };
    let (first, others): (Vec<_>, Vec<_>) = known.into_iter().partition(likely);
    let marked = first.iter().map(|descriptor| (format!("{} ({found})", descriptor.name), true));
    let items: Vec<_> = marked.chain(others.iter().map(|descriptor| (descriptor.name.clone(), false))).collect();
    let question = MultiSelect::new().with_prompt(question).items_checked(items);
    let chosen = asked(|| question.interact_opt())?;
    if chosen.is_empty() {
        return Err(CommandError::usage("no host chosen")
            .hint("mark hosts with the space bar, or name them: `gsd-tools install --help` lists the flags")
            .exits(2));
    }
    let chosen = first.into_iter().chain(others).enumerate().filter(|(index, _)| chosen.contains(index));
    Ok(chosen.map(|(_, descriptor)| descriptor).collect())
}

/// For all projects or for this one.
pub(super) fn scope(wish: Wish) -> Result<Scope, CommandError> {
    let question = match wish {
        Wish::Install => "Install for",
        Wish::Uninstall => "Uninstall from",
    };
    let question = Select::new().with_prompt(question).items(["all projects (global)", "this project (local)"]);
    let chosen = asked(|| question.default(0).interact_opt())?;
    Ok(if chosen == 0 { Scope::Global } else { Scope::Local })
}

/// Asks. Escape and Ctrl-C leave the question, and the terminal as it was.
fn asked<T>(ask: impl FnOnce() -> dialoguer::Result<Option<T>>) -> Result<T, CommandError> {
    let answer = while_asking(ask);
    // The question hides the cursor, and a question that was left does not show it again.
    let _ = Term::stderr().write_str("\u{1b}[?25h");
    match answer {
        Ok(Some(chosen)) => Ok(chosen),
        Err(dialoguer::Error::IO(error)) if error.kind() != std::io::ErrorKind::Interrupted => {
            let error = CommandError::because(Reason::Usage, &error);
            Err(error.hint("name the hosts as flags: `gsd-tools install --help` lists them").exits(2))
        }
        Ok(None) | Err(_) => Err(CommandError::new(Reason::Unknown, "cancelled; nothing was changed").exits(LEFT)),
    }
}
