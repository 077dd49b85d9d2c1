//! Whether registered hooks answer: the installed program is run once for each event that the host calls it at.

use std::time::Duration;

use super::{CheckedArea, Examined};
use crate::acts::Call;
use crate::acts::hooks::cost::{apart, sampled};
use crate::disk::{AbsolutePath, Scratch};
use crate::failure::Failure;
use crate::hooks;
use crate::install::{self, RegisteredHook, Target};
use crate::operations::answers::finding::Finding;
use crate::text::screen::counted;
use crate::text::shell::typed;
use crate::world::{Program, World};

/// Longer than any of our hooks takes.
const LIMIT: Duration = Duration::from_secs(10);

/// How a guard that refuses a tool ends, besides 0.
const REFUSED: i32 = 2;

/// One hook that is run.
struct AskedHook<'a> {
    target: &'a Target,
    event: &'a str,
    program: Program,
    /// The state folder of the run, in which a hook that understood the call leaves a note.
    state: AbsolutePath,
}

/// Runs each of our registered hooks once with a sample event. Returns the installs without their program, too.
///
/// Settings may come with a repository, so no command line is run as it is registered: only the program of an install
/// that the user made is started, with the plain words after its name. The calls are not recorded as calls of the host.
pub(crate) fn answers(call: &Call, targets: &[Target]) -> Result<(Examined, Vec<Target>), Failure> {
    let (mut examined, mut broken) = (Examined::new(CheckedArea::Hooks), Vec::new());
    let scratch = Scratch::new(&call.world().temporary_folder())?;
    let mut questions = Vec::new();
    let mut registered = Vec::new();
    for target in targets.iter().filter(|target| install::is_installed(target)) {
        let mut hooks = install::registered(target)?.hooks;
        hooks.retain(|hook| hook.ours);
        let commands: Vec<String> = hooks.iter().map(|hook| hook.command.clone()).collect();
        let title = target.title();
        match install::program_fault(call.world(), target, &commands)? {
            Some(fault) => {
                let what = format!("the hooks of {title} do not run: {fault}");
                let fix = typed!("gsd-tools install {}", target.flags());
                examined.push_fixable(Finding::error("hooks-without-program", what).fix(fix));
                broken.push(target.clone());
            }
            None if !hooks.is_empty() => registered.push((target, hooks)),
            None => {}
        }
    }
    for (target, hooks) in &registered {
        for hook in hooks {
            let state = scratch.path(&format!("state-{}", questions.len()));
            questions.extend(question(call, target, hook, state));
        }
    }
    examined.looked_at.extend(
        registered.iter().map(|(target, hooks)| format!("{}: {}", target.title(), counted(hooks.len(), "hook"))),
    );
    for (target, event, fault) in ask(call.world(), &questions) {
        let what = format!("the hook of {} for {event} does not answer: {fault}", target.title());
        let fix = typed!("gsd-tools install {}", target.flags());
        examined.push(Finding::error("hook-without-answer", what).fix(fix));
    }
    Ok((examined, broken))
}

/// The run of a hook, if its command line is only our program and plain words.
fn question<'a>(
    call: &Call,
    target: &'a Target,
    hook: &'a RegisteredHook,
    state: AbsolutePath,
) -> Option<AskedHook<'a>> {
    let words = install::words_of_hook(&hook.command)?;
    let program = Program::new(target.program().as_path()).arguments(words);
    let program = apart(sampled(call, target, hook, program), &state).timeout(LIMIT);
    Some(AskedHook { target, event: &hook.event, program, state })
}

/// Runs them, two at a time, and returns what is wrong.
fn ask<'a>(world: &World, questions: &[AskedHook<'a>]) -> Vec<(&'a Target, &'a str, String)> {
    let half = questions.len().div_ceil(2);
    let (first, second) = questions.split_at(half);
    let all = |questions: &[AskedHook<'a>]| -> Vec<_> {
        questions.iter().filter_map(|asked| Some((asked.target, asked.event, fault(world, asked)?))).collect()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| all(second));
        let mut found = all(first);
        found.extend(other.join().unwrap_or_default());
        found
    })
}

fn fault(world: &World, asked: &AskedHook<'_>) -> Option<String> {
    let ended = match world.run(&asked.program) {
        Ok(ended) => ended,
        Err(error) => return Some(error.to_string()),
    };
    match ended.code {
        // A session of a run leaves its notes elsewhere.
        Some(0 | REFUSED) if world.is_unit() || hooks::was_called(&asked.state) => None,
        Some(0 | REFUSED) => Some("it does not know the call".to_owned()),
        Some(code) => Some(format!("it ends with exit code {code}")),
        None => Some("it was ended before it answered".to_owned()),
    }
}
