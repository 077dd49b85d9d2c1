//! The questions of an install at a terminal. Each of them has a flag; the answer is `None` if a person cancels.

use dialoguer::console::Term;
use dialoguer::{Confirm, MultiSelect, Select};

use crate::failure::{Failure, Reason};
use crate::install::Wish;
use crate::runtime::{Descriptor, Scope};
use crate::text::screen::Screen;
use crate::world::signals::while_asking;

/// Asks for the hosts; those of `found` come first, each with its reason, and are marked from the start.
pub(super) fn hosts(
    found: Vec<(String, Descriptor)>,
    others: Vec<Descriptor>,
    wish: Wish,
) -> Result<Option<Vec<Descriptor>>, Failure> {
    let question = match wish {
        Wish::Install | Wish::Update => "Install for these hosts",
        Wish::Uninstall => "Uninstall from these hosts",
    };
    let rows = found.iter().map(|(why, descriptor)| format!("{} ({why})", descriptor.name));
    let rows: Vec<String> = rows.chain(others.iter().map(|descriptor| descriptor.name.clone())).collect();
    // When the list is drawn again, a row that the terminal wraps would be counted as one.
    let room = at_this_terminal().width.saturating_sub("> [x] ".len() + 1);
    let rows: Vec<String> = rows.iter().map(|row| at_this_terminal().fitted(row, room)).collect();
    let mut marked = found.len();
    let mut prompt = prompt_of(question);
    loop {
        // Without a report, the question is cleared and asked again in the same place.
        let items = rows.iter().enumerate().map(|(number, row)| (row, number < marked));
        let select = MultiSelect::new().with_prompt(&prompt).items_checked(items).report(false);
        // The keys and the question stay visible above a page of the list.
        let select = select.max_length(rows_below(&prompt));
        let Some(chosen) = asked(Ends::InNewLine, || select.interact_opt())? else { return Ok(None) };
        if chosen.is_empty() {
            // Nothing is marked, as the person left it.
            marked = 0;
            prompt = prompt_of(&format!("Mark at least one. {question}"));
            continue;
        }
        let all = found.into_iter().map(|(_, descriptor)| descriptor).chain(others).enumerate();
        let chosen: Vec<Descriptor> =
            all.filter(|(index, _)| chosen.contains(index)).map(|(_, descriptor)| descriptor).collect();
        let names: Vec<&str> = chosen.iter().map(|descriptor| descriptor.name.as_str()).collect();
        write(&at_this_terminal().prose("", "  ", &format!("{question}: {}", names.join(", "))));
        return Ok(Some(chosen));
    }
}

/// Asks for the scope: all projects or this one.
pub(super) fn scope(wish: Wish) -> Result<Option<Scope>, Failure> {
    let (question, all) = match wish {
        Wish::Install | Wish::Update => ("Install for", "all projects (global, the default)"),
        Wish::Uninstall => ("Uninstall from", "all projects (global)"),
    };
    let question = Select::new().with_prompt(question).items([all, "this project only (local)"]);
    let chosen = asked(Ends::InNewLine, || question.default(0).interact_opt())?;
    Ok(chosen.map(|chosen| if chosen == 0 { Scope::Global } else { Scope::Local }))
}

/// Asks whether to proceed; `likely` is the answer that Enter gives. A terminal without cursor movement gets a one-line
/// question, which needs a typed answer.
pub(super) fn proceed(moves: bool, likely: bool) -> Result<bool, Failure> {
    if moves {
        let answer = asked(Ends::InItsLine, || Confirm::new().with_prompt("Proceed?").default(likely).interact_opt())?;
        return Ok(answer.unwrap_or(false));
    }
    write("Proceed? [y/n] ");
    let answer = Term::stderr().read_line().unwrap_or_default();
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Writes to the person. A terminal that is gone is ignored.
fn write(text: &str) {
    let _ = Term::stderr().write_str(text);
}

/// The keys, and below them the question, wrapped to the screen: the list counts these lines when it draws itself
/// again.
fn prompt_of(question: &str) -> String {
    let screen = at_this_terminal();
    // The page number is appended to the question.
    let narrow = Screen { width: screen.width.saturating_sub(" [Page 1/2] ".len()), ..screen };
    let keys = screen.prose("", "", "Space marks, a marks all, Enter continues, Esc cancels.");
    keys + narrow.prose("", "", question).trim_end()
}

/// How many rows of a list fit below the prompt.
fn rows_below(prompt: &str) -> usize {
    let (rows, _) = Term::stderr().size();
    usize::from(rows).saturating_sub(prompt.lines().count() + 1).max(1)
}

fn at_this_terminal() -> Screen {
    let (_, columns) = Term::stderr().size();
    Screen { width: usize::from(columns), color: false, signs: false }
}

/// The place of the cursor when a question is left with Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    InItsLine,
    InNewLine,
}

/// Asks a question. After Escape and Ctrl-C, the terminal is as it was before.
fn asked<T>(ends: Ends, ask: impl FnOnce() -> dialoguer::Result<Option<T>>) -> Result<Option<T>, Failure> {
    let answer = while_asking(ask);
    // A question hides the cursor and does not show it again when it is left.
    write("\u{1b}[?25h");
    match answer {
        Ok(answer) => Ok(answer),
        Err(dialoguer::Error::IO(error)) if error.kind() != std::io::ErrorKind::Interrupted => {
            let error = Failure::because(Reason::Usage, &error);
            Err(error.hint("name the hosts as flags: `gsd-tools install --help` lists them").exits(2))
        }
        Err(_) => {
            if ends == Ends::InItsLine {
                write("\n");
            }
            Ok(None)
        }
    }
}
