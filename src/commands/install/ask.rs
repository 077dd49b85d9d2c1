//! The questions of an install at a terminal. Each of them has a flag; the answer is `None` if a person cancels.

use dialoguer::console::Term;
use dialoguer::{Confirm, MultiSelect, Select};

use crate::commands::frame::error::{CommandError, Reason};
use crate::install::Wish;
use crate::runtime::{Descriptor, Scope};
use crate::world::signals::while_asking;

/// Which hosts; those of `found` come first and are marked from the start.
pub(super) fn hosts(
    found: Vec<Descriptor>,
    others: Vec<Descriptor>,
    wish: Wish,
) -> Result<Option<Vec<Descriptor>>, CommandError> {
    let (question, why) = match wish {
        Wish::Install => ("Install for these hosts", "found"),
        Wish::Uninstall => ("Uninstall from these hosts", "installed"),
    };
    write("Space marks, a marks all, Enter continues, Esc cancels.\n");
    let marked = found.iter().map(|descriptor| (format!("{} ({why})", descriptor.name), true));
    let items: Vec<_> = marked.chain(others.iter().map(|descriptor| (descriptor.name.clone(), false))).collect();
    let mut prompt = question.to_owned();
    loop {
        // Without a report the question is cleared, and asked again in the same place.
        let select = MultiSelect::new().with_prompt(&prompt).items_checked(items.clone()).report(false);
        let Some(chosen) = asked(|| select.interact_opt())? else { return Ok(None) };
        if chosen.is_empty() {
            prompt = format!("Mark at least one. {question}");
            continue;
        }
        let chosen = found.into_iter().chain(others).enumerate().filter(|(index, _)| chosen.contains(index));
        let chosen: Vec<Descriptor> = chosen.map(|(_, descriptor)| descriptor).collect();
        let names: Vec<&str> = chosen.iter().map(|descriptor| descriptor.name.as_str()).collect();
        write(&format!("{question}: {}\n", names.join(", ")));
        return Ok(Some(chosen));
    }
}

/// For all projects or for this one.
pub(super) fn scope(wish: Wish) -> Result<Option<Scope>, CommandError> {
    let (question, all) = match wish {
        Wish::Install => ("Install for", "all projects (global, the default)"),
        Wish::Uninstall => ("Uninstall from", "all projects (global)"),
    };
    let question = Select::new().with_prompt(question).items([all, "this project only (local)"]);
    let chosen = asked(|| question.default(0).interact_opt())?;
    Ok(chosen.map(|chosen| if chosen == 0 { Scope::Global } else { Scope::Local }))
}

/// Whether to go on. A terminal whose cursor cannot be moved gets a question in one line, which needs its answer.
pub(super) fn proceed(moves: bool) -> Result<bool, CommandError> {
    if moves {
        let answer = asked(|| Confirm::new().with_prompt("Proceed?").default(true).interact_opt())?;
        return Ok(answer.unwrap_or(false));
    }
    write("Proceed? [y/n] ");
    let answer = Term::stderr().read_line().unwrap_or_default();
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Writes to the person. A terminal that is gone has nobody to read it.
fn write(text: &str) {
    let _ = Term::stderr().write_str(text);
}

/// Asks. Escape and Ctrl-C leave the question, and the terminal as it was.
fn asked<T>(ask: impl FnOnce() -> dialoguer::Result<Option<T>>) -> Result<Option<T>, CommandError> {
    let answer = while_asking(ask);
    // The question hides the cursor, and a question that was left does not show it again.
    write("\u{1b}[?25h");
    match answer {
        Ok(answer) => Ok(answer),
        Err(dialoguer::Error::IO(error)) if error.kind() != std::io::ErrorKind::Interrupted => {
            let error = CommandError::because(Reason::Usage, &error);
            Err(error.hint("name the hosts as flags: `gsd-tools install --help` lists them").exits(2))
        }
        Err(_) => Ok(None),
    }
}
