//! `auto discuss`.

use crate::acts::auto::discuss::{Discussed, DiscussionClient, discussion, hold};
use crate::failure::Failure;
use crate::frame::Context;
use crate::frame::context::shows_at_a_terminal;
use crate::text::screen::{Cell, Mark, Screen, Tone};

#[derive(Debug, clap::Args)]
pub(super) struct DiscussArgs {
    /// The milestone or slice, such as `M001/S02`; without it, the active milestone, else a new one
    id: Option<String>,
    /// Discuss a new milestone
    #[arg(long, conflicts_with = "id")]
    new: bool,
    /// Print the text for the agent, and start no client
    #[arg(long)]
    print: bool,
    /// The client to talk to; without it, the one of the run, else the first that is installed
    #[arg(long)]
    runner: Option<String>,
    /// The program of the client, if it is not found by its name
    #[arg(long, value_name = "PROGRAM")]
    runner_program: Option<String>,
    /// The model, as the client names it
    #[arg(long)]
    model: Option<String>,
}

pub(super) fn discuss(context: &mut Context, arguments: &DiscussArgs) -> Result<(), Failure> {
    let found = discussion(context, arguments.id.as_deref(), arguments.new)?;
    if arguments.print || !shows_at_a_terminal(context) {
        let prompt = &found.prompt;
        return context.say(prompt, Some(&prompt.text), |_| prompt.text.clone());
    }
    let client = DiscussionClient {
        runner: arguments.runner.as_deref(),
        program: arguments.runner_program.as_deref(),
        model: arguments.model.as_deref(),
    };
    let discussed = hold(context, &found, client)?;
    if !discussed.is_written {
        context.exit_with(10);
    }
    let text = shown(&discussed, context.screen());
    context.text(text);
    Ok(())
}

fn shown(discussed: &Discussed, screen: Screen) -> String {
    let text = if discussed.is_written {
        screen.item("", Mark::Done, &format!("{} is there.", discussed.context))
    } else {
        let text = format!("{} ended, and {} was not written.", discussed.client, discussed.context);
        screen.item("", Mark::Warning, &text)
    };
    let rows: Vec<_> = discussed
        .next
        .iter()
        .enumerate()
        .map(|(index, next)| (if index == 0 { "Next" } else { "" }, Cell::new(Tone::Command, next.to_string())))
        .collect();
    text + "\n" + &screen.fields("", &rows)
}
