//! The time that each hook costs: runs every command that a host has registered with a sample event, and measures it.

use crate::acts::hooks::cost::{self, BenchReport, Cost, NotRun};
use crate::emit::with_short_program;
use crate::failure::Failure;
use crate::frame::Context;
use crate::install::{RegisteredHook, Target};
use crate::text::screen::{Cell, Screen, Tone};

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
    let report = found.timed(context, arguments.runs)?;
    if arguments.json {
        return context.emit(&report);
    }
    let text = report.text(context.page());
    context.text(text);
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
        context.tell(format!("{}: {}", hook.event, line(&hook.command)));
    }
    let question = match others {
        1 => "Run this hook of another program, with a sample event?".to_owned(),
        _ => format!("Run these {others} hooks of other programs, with sample events?"),
    };
    Context::confirms(&question)
}

impl BenchReport {
    fn text(&self, screen: Screen) -> String {
        let row = |event: &str, cost: &Cost, whose: &str, command: String| {
            let [p50, p99] = [cost.p50_ms, cost.p99_ms].map(|time| Cell::from(format!("{time:7.2}")));
            vec![Cell::from(event), p50, p99, Cell::from(whose), Cell::with_its_end(Tone::Plain, command)]
        };
        let heading = ["event", " p50 ms", " p99 ms", "whose", "command"].map(|title| Cell::new(Tone::Strong, title));
        let mut rows = vec![heading.to_vec(), row("-", &self.shell, "", "a shell that does nothing".to_owned())];
        rows.extend(self.hooks.iter().map(|hook| {
            let event = format!("{} {}", hook.runtime, hook.event);
            row(&event, &hook.cost, if hook.ours { "ours" } else { "other" }, line(&hook.command))
        }));
        let mut text = screen.table("", &rows);
        if self.hooks.is_empty() {
            text.push_str("No hooks are registered.\n");
        }
        for NotRun { runtime, file, why, .. } in &self.not_run {
            text += &screen.prose("", "  ", &format!("not run: hooks of {runtime} in `{file}`: {why}"));
        }
        text
    }
}

/// A command as one line, with the path of our program shortened.
fn line(command: &str) -> String {
    with_short_program(command.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acts::hooks::cost::HookCost;
    use crate::text::screen::width_of;

    #[test]
    fn a_table_fits_the_terminal_and_shows_the_end_of_each_command() {
        let cost = || Cost { p50_ms: 1.5, p99_ms: 1234.25 };
        let hook = |event: &str, command: &str, ours| HookCost {
            runtime: "claude".to_owned(),
            scope: "global",
            file: "~/.claude/settings.json".to_owned(),
            event: event.to_owned(),
            matcher: None,
            command: command.to_owned(),
            ours,
            cost: cost(),
            exit_codes: vec![0],
        };
        let own = "\"/home/somebody/a/long/way/.claude/gsd-core/bin/gsd-tools\" hook standard before-tool";
        let other = "node /home/somebody/a/long/way/.claude/hooks/of-another-program-that-is-long.js";
        let report = BenchReport {
            runs: 1,
            shell: cost(),
            hooks: vec![hook("PreToolUse", own, true), hook("UserPromptSubmit", other, false)],
            not_run: Vec::new(),
        };
        let screen = Screen { width: 80, color: false, signs: true };
        let text = report.text(screen);
        assert!(text.lines().all(|line| width_of(line) <= 80), "{text}");
        assert!(text.contains("hook standard before-tool\n") && text.contains("that-is-long.js\n"), "{text}");
        let whole = report.text(screen.unwrapped());
        assert!(whole.contains("  \".../gsd-tools\" hook standard before-tool\n") && whole.contains(other), "{whole}");
    }
}
