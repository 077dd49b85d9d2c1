//! The time that each hook costs: runs every command that a host has registered with a sample event, and measures it.

use std::fmt::Write as _;

use crate::acts::hooks::cost::{self, BenchReport, Cost};
use crate::failure::Failure;
use crate::frame::Context;
use crate::install::{RegisteredHook, Target};

/// The length of a command line in the table: together with the other columns it fits into 100 columns.
const SHOWN: usize = 46;

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Only the hooks of this host
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Run each hook this many times
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Run only our hooks
    #[arg(long)]
    ours: bool,
    /// Run hooks of other programs without asking
    #[arg(long)]
    yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn bench(context: &mut Context, arguments: &BenchArgs) -> Result<(), Failure> {
    let found = cost::find(context, arguments.host.as_deref(), arguments.ours)?;
    let others = found.hooks.iter().filter(|(_, hook)| !hook.ours).count();
    if others > 0 && !arguments.yes && !may_run(context, &found.hooks, others)? {
        return Err(Failure::usage("nothing was run")
            .hint("`gsd-tools hooks bench --ours` runs only our hooks")
            .exits(2));
    }
    context.exit_with(u8::from(found.is_unreadable));
    let report = found.timed(context, arguments.runs);
    if arguments.json {
        return context.emit(&report);
    }
    context.text(table(&report));
    Ok(())
}

/// Asks a person at a terminal. Without a terminal no question is asked, and nothing is run.
fn may_run(context: &Context, hooks: &[(Target, RegisteredHook)], others: usize) -> Result<bool, Failure> {
    let terminal = context.world().terminal();
    if !terminal.stdin || !terminal.stderr {
        let message = match others {
            1 => "1 hook belongs to another program, and measuring runs it".to_owned(),
            _ => format!("{others} hooks belong to other programs, and measuring runs them"),
        };
        return Err(Failure::usage(message).hint("add --yes to run them, or --ours to leave them out").exits(2));
    }
    for (_, hook) in hooks.iter().filter(|(_, hook)| !hook.ours) {
        context.tell(format!("{}: {}", hook.event, shortened(&hook.command)));
    }
    let question = match others {
        1 => "Run this hook of another program, with a sample event?".to_owned(),
        _ => format!("Run these {others} hooks of other programs, with sample events?"),
    };
    Context::confirms(&question)
}

fn table(report: &BenchReport) -> String {
    let mut text = format!("{:24} {:>9} {:>9}  {:6} {}\n", "event", "p50 ms", "p99 ms", "whose", "command");
    let mut row = |event: &str, cost: &Cost, whose: &str, command: &str| {
        let _ = writeln!(text, "{event:24} {:9.2} {:9.2}  {whose:6} {command}", cost.p50_ms, cost.p99_ms);
    };
    row("-", &report.shell, "", "a shell that does nothing");
    for hook in &report.hooks {
        let event = format!("{} {}", hook.runtime, hook.event);
        row(&event, &hook.cost, if hook.ours { "ours" } else { "other" }, &shortened(&hook.command));
    }
    if report.hooks.is_empty() {
        text.push_str("No hooks are registered.\n");
    }
    for file in &report.not_run {
        let _ = writeln!(text, "not run: hooks of {} in `{}`: {}", file.runtime, file.file, file.why);
    }
    text
}

/// A command line shortened to its end: the beginning is the same in all of them.
fn shortened(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters = line.chars().count();
    if letters <= SHOWN {
        return line;
    }
    let end: String = line.chars().skip(letters - SHOWN + 1).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_shows_its_end() {
        assert_eq!(shortened("a  b\nc"), "a b c");
        let long = format!("{} the end", "x".repeat(100));
        assert!(shortened(&long).starts_with('…') && shortened(&long).ends_with(" the end"));
        assert_eq!(shortened(&long).chars().count(), SHOWN);
    }
}
