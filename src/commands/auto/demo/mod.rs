//! `demo`: a milestone from its brief to a landed commit, in a separate project, with a script instead of an agent.
//!
//! `demo` runs `auto run` in a process that has its own home, state and temporary folder (`stage`) and ends with its
//! caller (`__with-caller`). The client is this program too (`__demo-agent`). What it does and what is shown is data
//! in `templates/demo`; a line of the story is made from an entry of the log.

mod told;

use super::card;
use super::live::{Detail, Drawn};
use crate::acts::auto::demo::{DemoReport, Stage, is_fenced};
use crate::auto::demo::{DemoCommand, Script};
use crate::auto::event::{Entry, Event};
use crate::auto::memory::Memory;
use crate::failure::Failure;
use crate::frame::Context;
use crate::project::milestone_layout::lookup;
use crate::text::screen::{Cell, Screen, Tone};
use crate::text::shell::typed;

#[derive(Debug, clap::Args)]
pub(super) struct DemoArgs {
    /// Keep the project in this folder, which must be empty or not exist
    #[arg(long, value_name = "FOLDER")]
    keep: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn demo(context: &mut Context, arguments: &DemoArgs) -> Result<(), Failure> {
    let script = Script::builtin()?;
    let progress = progress_screen(context);
    let tell = |who, text: &str| context.tell(told::line(progress, who, text));
    let stage = Stage::new(context, arguments.keep.as_deref())?;
    for paragraph in &script.opening {
        context.tell(progress.commands(&progress.prose("", "", paragraph)));
    }
    context.tell(format!("  $ gsd-tools auto run --brief {}\n", script.brief));
    stage.prepare(&script)?;
    if !arguments.json {
        context.tell(card::shown(&stage.card(&script)?, progress));
    }
    let place = stage.place()?;
    let drawn = (!arguments.json).then(|| Drawn::at(context, place, Detail::Progress));
    let mut memory = Memory::default();
    stage.run(&script, &mut |entry: &Entry| {
        memory.add(entry);
        if let Some((who, text)) = told::story(&script, &memory, &entry.event) {
            tell(who, &text);
        }
        if matches!(entry.event, Event::Started(_)) {
            tell(told::Who::Program, if is_fenced(context) { FENCED } else { NOT_FENCED });
        }
    })?;
    drop(drawn);
    let report = DemoReport::of(context, &script, &stage, &memory)?;
    let summary = stage.summary(context)?;
    let kept = stage.keep().map(|folder| folder.to_string());
    let report = DemoReport { kept, ..report };
    if arguments.json {
        return context.emit(&report);
    }
    context.tell("");
    let end = summary.map(|summary| card::of_landing(&summary, context.page())).unwrap_or_default();
    let mut page = format!("{end}\n{}", page(&report, &script, context.page()));
    page += &not_in_path(context);
    context.text(page);
    Ok(())
}

const FENCED: &str = "fences the agent: it can write only there and in a temporary folder";
const NOT_FENCED: &str = "cannot fence the agent: this system cannot limit where a program writes";

/// The screen for standard error, which shows the progress.
fn progress_screen(context: &Context) -> Screen {
    let screen = context.page();
    Screen { color: screen.color && context.world().terminal().stderr, ..screen }
}

/// The sign of what is done, which not every terminal can show.
const DONE: &str = "✓";

/// The maximum number of lines shown from the output of a command.
const SHOWN: usize = 5;

/// The answer for a person.
fn page(report: &DemoReport, script: &Script, screen: Screen) -> String {
    let prose = |text: &str| screen.commands(&screen.prose("", "", text));
    let typed = |line: &str| "  ".to_owned() + &screen.paint(Tone::Command, line) + "\n";
    let files = format!("{}, and {} documents in {}/", report.files.join(", "), report.documents, lookup::FOLDER);
    let shown = report.shown.iter().map(|shown| {
        let plain = |line: &str| if screen.signs { line.to_owned() } else { line.replace(DONE, "+") };
        let lines = shown.printed.lines().take(SHOWN).map(|line| screen.prose("  ", "    ", &plain(line)));
        let more = (shown.printed.lines().count() > SHOWN).then(|| "  ...\n".to_owned());
        format!("  $ {}\n{}", shown.command, lines.chain(more).collect::<String>())
    });
    let shown: String = shown.collect();
    let place = if let Some(folder) = &report.kept {
        let enter = typed(typed!("cd {}", folder).as_str());
        prose("To look around in the project:") + &enter + &rows(screen, &script.look)
    } else {
        prose("The temporary project is gone. To keep it and look around:") + &typed("gsd-tools demo --keep FOLDER")
    };
    let files = screen.prose("", "  ", &files);
    let (yours, next) = (prose(&script.yours), screen.paint(Tone::Strong, "Next"));
    format!("{files}\n{shown}\n{yours}\n{place}\n{next}\n{}", rows(screen, &script.next))
}

/// How to type the commands if the program was built but is not installed.
fn not_in_path(context: &Context) -> String {
    let Some(program) = context.world().executable().ok().filter(|_| !context.world().finds("gsd-tools")) else {
        return String::new();
    };
    let screen = context.page();
    let why = screen.commands(&screen.prose("", "", "`gsd-tools` is not in your PATH yet. This program is:"));
    format!("\n{why}  {}\n", screen.paint(Tone::Command, typed!("{}", program.to_string_lossy()).as_str()))
}

fn rows(screen: Screen, rows: &[DemoCommand]) -> String {
    let row = |row: &DemoCommand| vec![Cell::new(Tone::Command, &row.command), Cell::from(row.about.as_str())];
    screen.table("  ", &rows.iter().map(row).collect::<Vec<_>>())
}
