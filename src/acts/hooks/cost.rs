//! The time that each hook costs: runs every command that a host has registered with a sample event, and measures it.

use std::time::Duration;

use regex_lite::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use super::state::targets;
use crate::acts::Call;
use crate::disk::{AbsolutePath, Scratch};
use crate::failure::Failure;
use crate::hooks::sample;
use crate::install::{self, RegisteredHook, Target, UnknownHooks};
use crate::library::ToolSet;
use crate::world::{Program, World};

/// Longer than any host waits for a useful hook.
const LIMIT: Duration = Duration::from_secs(120);

/// The time that the hooks of hosts cost.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BenchReport {
    pub(crate) runs: u32,
    /// A shell that does nothing, which is included in every figure below.
    pub(crate) shell: Cost,
    pub(crate) hooks: Vec<HookCost>,
    /// Files that may have more hooks, which cannot be run separately.
    pub(crate) not_run: Vec<NotRun>,
}

/// Wall-clock milliseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cost {
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HookCost {
    pub(crate) runtime: String,
    pub(crate) scope: &'static str,
    /// The settings that register it.
    pub(crate) file: String,
    pub(crate) event: String,
    pub(crate) matcher: Option<String>,
    pub(crate) command: String,
    /// Whether it belongs to this program.
    pub(crate) ours: bool,
    #[serde(flatten)]
    pub(crate) cost: Cost,
    /// The exit codes seen, each once; empty if the runs were stopped or could not start.
    pub(crate) exit_codes: Vec<i32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NotRun {
    pub(crate) runtime: String,
    pub(crate) scope: &'static str,
    pub(crate) file: String,
    pub(crate) why: String,
}

/// The hooks that would be run, and what cannot be.
#[derive(Debug)]
pub(crate) struct FoundHooks {
    pub(crate) hooks: Vec<(Target, RegisteredHook)>,
    not_run: Vec<NotRun>,
    /// A file that may name our hooks cannot be read.
    pub(crate) is_unreadable: bool,
}

/// The hooks that hosts have registered; `ours` leaves out those of other programs.
pub(crate) fn find(call: &Call, host: Option<&str>, ours: bool) -> Result<FoundHooks, Failure> {
    let mut found = FoundHooks { hooks: Vec::new(), not_run: Vec::new(), is_unreadable: false };
    for target in targets(call, host)? {
        let registered = install::registered(&target)?;
        let (runtime, scope) = (target.descriptor.id.to_string(), target.scope.word());
        found.is_unreadable |= registered.unknown.iter().any(|file| file.may_be_ours);
        let untold = |file: UnknownHooks| NotRun { runtime: runtime.clone(), scope, file: file.file, why: file.why };
        found.not_run.extend(registered.unknown.into_iter().map(untold));
        let wanted = registered.hooks.into_iter().filter(|hook| hook.ours || !ours);
        found.hooks.extend(wanted.map(|hook| (target.clone(), hook)));
    }
    Ok(found)
}

impl FoundHooks {
    /// Runs each hook `runs` times.
    pub(crate) fn timed(self, call: &Call, runs: u32) -> Result<BenchReport, Failure> {
        let nothing = shell(":").folder(call.root().as_path()).timeout(LIMIT);
        let shell = time(call.world(), runs, || nothing.clone()).0;
        let scratch = Scratch::new(&call.world().temporary_folder())?;
        let state = scratch.path("state");
        let hooks = self.hooks.into_iter().map(|(target, hook)| measure(call, runs, &target, hook, &state)).collect();
        Ok(BenchReport { runs, shell, hooks, not_run: self.not_run })
    }
}

fn measure(call: &Call, runs: u32, target: &Target, hook: RegisteredHook, state: &AbsolutePath) -> HookCost {
    let program = sampled(call, target, &hook, shell(&hook.command)).timeout(LIMIT);
    // Another program has its own reasons for what it keeps in the state folder.
    let program = if hook.ours { apart(program, state) } else { program };
    let (cost, exit_codes) = time(call.world(), runs, || program.clone());
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

/// The program of a hook as the host calls it, in the project of this call and with a sample event.
pub(crate) fn sampled(call: &Call, target: &Target, hook: &RegisteredHook, program: Program) -> Program {
    let folder = call.root();
    let payload = sample(&hook.event, &folder.to_string(), tool(target, hook.matcher.as_deref()));
    // A sample does not ask the network for newer versions.
    let program = program.variable("GSD_UPDATE_CHECK", "off").folder(folder.as_path()).stdin(payload);
    match project_variable(target) {
        Some(name) => program.variable(name, folder.as_path()),
        None => program,
    }
}

/// The same with its own state folder below `state`: a run that the host did not ask for is not recorded as a call of the
/// host.
pub(crate) fn apart(program: Program, state: &AbsolutePath) -> Program {
    program.variable("XDG_STATE_HOME", state.as_path())
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
