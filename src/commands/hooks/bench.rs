//! The time that each hook costs: runs every command that a host has registered with a sample event, and measures it.

use std::fmt::Write as _;
use std::time::Duration;

use dialoguer::Confirm;
use regex_lite::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use super::targets;
use crate::failure::Failure;
use crate::frame::Context;
use crate::hooks::sample;
use crate::install::{self, RegisteredHook, Target, UnknownHooks};
use crate::library::ToolSet;
use crate::world::{Program, World};

/// Longer than any host waits for a useful hook.
const LIMIT: Duration = Duration::from_secs(120);

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

/// The time that the hooks of hosts cost.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct BenchReport {
    runs: u32,
    /// A shell that does nothing, which is included in every figure below.
    shell: Cost,
    hooks: Vec<HookCost>,
    /// Files that may have more hooks, which cannot be run separately.
    not_run: Vec<NotRun>,
}

/// Wall-clock milliseconds.
#[derive(Debug, Serialize, JsonSchema)]
struct Cost {
    p50_ms: f64,
    p99_ms: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HookCost {
    runtime: String,
    scope: &'static str,
    /// The settings that register it.
    file: String,
    event: String,
    matcher: Option<String>,
    command: String,
    /// Whether it belongs to this program.
    ours: bool,
    #[serde(flatten)]
    cost: Cost,
    /// The exit codes seen, each once; empty if the runs were stopped or could not start.
    exit_codes: Vec<i32>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NotRun {
    runtime: String,
    scope: &'static str,
    file: String,
    why: String,
}

pub(super) fn bench(context: &mut Context, arguments: &BenchArgs) -> Result<(), Failure> {
    let mut hooks: Vec<(Target, RegisteredHook)> = Vec::new();
    let (mut not_run, mut unreadable) = (Vec::new(), false);
    for target in targets(context, arguments.host.as_deref())? {
        let registered = install::registered(&target)?;
        let (runtime, scope) = (target.descriptor.id.to_string(), target.scope.word());
        unreadable |= registered.unknown.iter().any(|file| file.may_be_ours);
        let untold = |file: UnknownHooks| NotRun { runtime: runtime.clone(), scope, file: file.file, why: file.why };
        not_run.extend(registered.unknown.into_iter().map(untold));
        let wanted = registered.hooks.into_iter().filter(|hook| hook.ours || !arguments.ours);
        hooks.extend(wanted.map(|hook| (target.clone(), hook)));
    }
    let others = hooks.iter().filter(|(_, hook)| !hook.ours).count();
    if others > 0 && !arguments.yes && !may_run(context, &hooks, others)? {
        return Err(Failure::usage("nothing was run")
            .hint("`gsd-tools hooks bench --ours` runs only our hooks")
            .exits(2));
    }
    if unreadable {
        context.exit_with(1);
    }
    let world = context.world();
    let nothing = shell(":").folder(context.root().as_path()).timeout(LIMIT);
    let shell = time(world, arguments.runs, || nothing.clone()).0;
    let mut report = BenchReport { runs: arguments.runs, shell, hooks: Vec::new(), not_run };
    for (target, hook) in hooks {
        report.hooks.push(measure(context, arguments.runs, &target, hook));
    }
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
    Ok(Confirm::new().with_prompt(question).default(false).interact_opt().ok().flatten().unwrap_or(false))
}

fn measure(context: &Context, runs: u32, target: &Target, hook: RegisteredHook) -> HookCost {
    let folder = context.root();
    let payload = sample(&hook.event, &folder.to_string(), tool(target, hook.matcher.as_deref()));
    // A measurement does not ask the network for newer versions.
    let program = shell(&hook.command).variable("GSD_UPDATE_CHECK", "off");
    let mut program = program.folder(folder.as_path()).stdin(payload).timeout(LIMIT);
    if let Some(name) = project_variable(target) {
        program = program.variable(name, folder.as_path());
    }
    let (cost, exit_codes) = time(context.world(), runs, || program.clone());
    HookCost {
        runtime: target.descriptor.id.to_string(),
        scope: target.scope.word(),
        ours: hook.ours,
        file: hook.file,
        event: hook.event,
        matcher: hook.matcher,
        command: hook.command,
        cost,
        exit_codes,
    }
}

/// The first tool that matches, and the host's name for it.
fn tool<'host>(target: &'host Target, matcher: Option<&str>) -> Option<(ToolSet, &'host str)> {
    let names = &target.descriptor.hooks.as_ref()?.tools;
    let matcher = matcher.filter(|matcher| !matcher.is_empty() && *matcher != "*");
    let matcher = matcher.and_then(|matcher| Regex::new(&format!("^(?:{matcher})$")).ok());
    let likely = [ToolSet::Write, ToolSet::Edit, ToolSet::Shell, ToolSet::Read, ToolSet::Search, ToolSet::Web];
    let sets = likely.into_iter().chain([ToolSet::Agent]);
    let mut all = sets.flat_map(|set| names.get(&set).into_iter().flatten().map(move |name| (set, name.as_str())));
    all.find(|(_, name)| matcher.as_ref().is_none_or(|matcher| matcher.is_match(name)))
}

/// The variable that gives the host's hooks the project folder.
fn project_variable(target: &Target) -> Option<String> {
    let word = target.descriptor.hooks.as_ref()?.project.as_ref()?;
    let (_, name) = word.split_once('$')?;
    Some(name.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect())
}

fn shell(command: &str) -> Program {
    if cfg!(windows) {
        Program::new("cmd").arguments(["/C", command])
    } else {
        Program::new("sh").arguments(["-c", command])
    }
}

fn time(world: &World, runs: u32, program: impl Fn() -> Program) -> (Cost, Vec<i32>) {
    let mut times = Vec::new();
    let mut codes: Vec<i32> = Vec::new();
    for _ in 0..runs {
        let (ended, time) = world.timed(&program());
        times.push(time);
        let code = ended.ok().and_then(|finished| finished.code);
        codes.extend(code.filter(|code| !codes.contains(code)));
    }
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part).div_ceil(100).clamp(1, times.len()) - 1];
    let milliseconds = |time: Duration| (time.as_secs_f64() * 100_000.0).round() / 100.0;
    (Cost { p50_ms: milliseconds(at(50)), p99_ms: milliseconds(at(99)) }, codes)
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
