//! Hooks that a person sets up before and after units: which are due, and what they run.
//!
//! A hook after a unit runs once its work is committed, so that it sees what counts. A hook by prompt is a unit with the
//! checks of other work. A command is for effects elsewhere: what it changes in the worktree is put back, since only
//! work that the checks have seen is committed.

use super::memory::Memory;
use super::permit::decides;
use super::preferences::Preferences;
use super::unit::{Unit, UnitKind};
use crate::gate::check::Check;
use crate::project::milestone_layout::preferences::PreferenceSource;
use crate::project::milestone_layout::unit_hooks::{HookAction, UnitHook, UnitHooks};
use crate::text::words::of_word;

/// Returns the hooks that a run cannot follow, one line each.
pub(crate) fn unmet(found: &UnitHooks, is_in_phases: bool) -> Vec<String> {
    let at = |source: PreferenceSource, line: usize, what: &str| format!("`{}` line {line}: {what}", source.file());
    let of_hook = |hook: &UnitHook| {
        let what = if is_in_phases { "hooks are for projects in milestones".to_owned() } else { wrong(hook)? };
        Some(at(hook.source, hook.line, &format!("in `{}`: hook `{}`: {what}", hook.key(), hook.name)))
    };
    let problems = found.problems.iter().map(|problem| at(problem.source, problem.line, &problem.what));
    problems.chain(found.hooks.iter().filter_map(of_hook)).collect()
}

/// Returns the hooks that a run can follow.
pub(crate) fn followed(found: &UnitHooks) -> Vec<UnitHook> {
    found.hooks.iter().filter(|hook| wrong(hook).is_none()).cloned().collect()
}

/// Returns what is wrong with the kinds, the command or the artifact of a hook.
fn wrong(hook: &UnitHook) -> Option<String> {
    let is_kind = |word: &&String| {
        let kind: Option<UnitKind> = of_word(word);
        kind.is_some_and(|kind| kind != UnitKind::Hook && !kind.is_of_phases())
    };
    if let Some(word) = hook.kinds.iter().find(|word| !is_kind(word)) {
        return Some(format!("`{}` is not a kind of unit", crate::text::untrusted::line(word, 60)));
    }
    if let HookAction::Command(command) = &hook.action
        && let Err(refused) = Check::parse(&filled(command, &Unit::new(UnitKind::ExecuteTask, "M001/S01/T01")))
    {
        // What cannot be run as a check cannot be run here either.
        return Some(refused.to_string().replacen("is not run as a check", "is not run", 1));
    }
    let path = filled(hook.artifact.as_deref()?, &Unit::new(UnitKind::ExecuteTask, "M001/S01/T01"));
    let leaves = path.starts_with('/') || path.split(['/', '\\']).any(|part| part == "..");
    if leaves {
        return Some("`artifact` leads out of the project".to_owned());
    }
    decides(&path).then(|| "`artifact` is a document that decides what is done".to_owned())
}

/// Replaces `{milestoneId}`, `{sliceId}` and `{taskId}` in a text by the parts of a unit.
pub(crate) fn filled(text: &str, unit: &Unit) -> String {
    let (milestone, slice, task) = unit.parts();
    let values = [("{milestoneId}", Some(milestone)), ("{sliceId}", slice), ("{taskId}", task)];
    values.into_iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value.unwrap_or_default()))
}

/// Returns the unit of a session for a hook.
pub(crate) fn session_of(hook: &UnitHook, unit: &Unit) -> Unit {
    Unit::new(UnitKind::Hook, format!("{}/{}", unit.id, hook.name))
}

/// Returns the hook of a session.
pub(crate) fn of_session<'a>(preferences: &'a Preferences, unit: &Unit) -> Option<&'a UnitHook> {
    let name = unit.hook()?;
    preferences.hooks.iter().find(|hook| !hook.is_before && hook.name == name)
}

fn is_for(hook: &UnitHook, unit: &Unit) -> bool {
    hook.kinds.iter().any(|word| word == unit.kind.word())
}

/// Returns the hooks after a unit that may still run for it.
fn after<'a>(preferences: &'a Preferences, memory: &'a Memory, unit: &'a Unit) -> impl Iterator<Item = &'a UnitHook> {
    let has_cycles = move |hook: &UnitHook| {
        let key = (unit.clone(), hook.name.clone());
        memory.hook_cycles.get(&key).copied().unwrap_or_default() < hook.most
    };
    let hooks = preferences.hooks.iter().filter(|hook| !hook.is_before);
    hooks.filter(move |hook| is_for(hook, unit) && has_cycles(hook))
}

/// Returns the next hook after the unit that was closed last.
pub(crate) fn due<'a>(preferences: &'a Preferences, memory: &'a Memory) -> Option<(&'a Unit, &'a UnitHook)> {
    let unit = memory.closed.as_ref()?;
    let hook = after(preferences, memory, unit).find(|hook| !memory.hooked.contains(&hook.name))?;
    Some((unit, hook))
}

/// True if hooks follow the unit in progress, so that nothing after it may be closed in its commit.
pub(crate) fn is_ahead(preferences: &Preferences, memory: &Memory, unit: &Unit) -> bool {
    if unit.kind != UnitKind::Hook {
        return after(preferences, memory, unit).next().is_some();
    }
    let name = unit.hook();
    let Some(closed) = &memory.closed else { return false };
    after(preferences, memory, closed)
        .any(|hook| Some(hook.name.as_str()) != name && !memory.hooked.contains(&hook.name))
}

/// Returns the next command before a unit that has not run.
pub(crate) fn command_before<'a>(preferences: &'a Preferences, memory: &Memory, unit: &Unit) -> Option<&'a UnitHook> {
    let is_command = |hook: &&UnitHook| matches!(hook.action, HookAction::Command(_));
    let hooks = preferences.hooks.iter().filter(|hook| hook.is_before && is_for(hook, unit)).filter(is_command);
    hooks.into_iter().find(|hook| !memory.readied.contains(&(unit.clone(), hook.name.clone())))
}

/// Returns the prompt of a unit with the texts that hooks add.
pub(crate) fn around(preferences: &Preferences, unit: &Unit, prompt: String) -> String {
    let hooks = preferences.hooks.iter().filter(|hook| hook.is_before && is_for(hook, unit));
    hooks.fold(prompt, |prompt, hook| {
        let HookAction::Text { prepend, append } = &hook.action else { return prompt };
        let part = |text: &str| filled(text, unit).trim().to_owned();
        let (first, last) = (part(prepend), part(append));
        let first = if first.is_empty() { first } else { format!("{first}\n\n") };
        let last = if last.is_empty() { last } else { format!("\n{last}\n") };
        format!("{first}{prompt}{last}")
    })
}
