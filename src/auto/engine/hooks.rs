//! Runs the commands of hooks before and after units, between two sessions.

use super::drive::Drive;
use super::{Effects, EngineError};
use crate::auto::event::{Event, HookEnded, HookStarted};
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::{Unit, UnitKind};
use crate::auto::unit_hooks::{self, filled};
use crate::project::milestone_layout::preferences::PreferenceSource;
use crate::project::milestone_layout::unit_hooks::{HookAction, UnitHook};

/// How many lines of the output of a failed command are shown.
const SHOWN: usize = 20;

impl<E: Effects> Drive<'_, E> {
    /// Runs the command of a hook after the unit that was closed last, or ends what a process that died has left of one.
    pub(super) fn hook(&mut self) -> Result<Option<Stop>, EngineError> {
        if let Some(left) = self.memory.hooking.clone() {
            self.effects.end_marked(&left.mark)?;
            self.effects.restore(&left.tree)?;
            self.note(Event::HookEnded(HookEnded { hook: left.hook, ..HookEnded::default() }))?;
            return Ok(None);
        }
        let settings = self.settings;
        let Some((unit, hook)) = unit_hooks::due(&settings.preferences, &self.memory) else { return Ok(None) };
        let (unit, hook) = (unit.clone(), hook.clone());
        if self.skips(&hook, &unit)? { Ok(None) } else { self.command(&hook, &unit) }
    }

    /// Returns whether a session for a hook is not needed, since its artifact is there.
    pub(super) fn skips_session(&mut self, unit: &Unit) -> Result<bool, EngineError> {
        let settings = self.settings;
        let hook = unit_hooks::of_session(&settings.preferences, unit).filter(|_| unit.kind == UnitKind::Hook);
        match hook {
            Some(hook) => self.skips(hook, unit),
            None => Ok(false),
        }
    }

    /// Records that a hook is skipped if its artifact is there. The artifact of a command may be a file that git ignores.
    fn skips(&mut self, hook: &UnitHook, unit: &Unit) -> Result<bool, EngineError> {
        let Some(artifact) = &hook.artifact else { return Ok(false) };
        if !self.effects.files().exists(&filled(artifact, unit)) {
            return Ok(false);
        }
        let ended = HookEnded { hook: hook.name.clone(), is_skipped: true, ..HookEnded::default() };
        self.note(Event::HookEnded(ended))?;
        Ok(true)
    }

    /// Runs a command, and puts back what it changed in the worktree: no checks have seen that.
    pub(super) fn command(&mut self, hook: &UnitHook, unit: &Unit) -> Result<Option<Stop>, EngineError> {
        let HookAction::Command(command) = &hook.action else { return Ok(None) };
        let command = filled(command, unit);
        let (tree, mark) = (self.effects.tree()?, self.effects.identity()?.mark);
        let started =
            HookStarted { unit: unit.clone(), hook: hook.name.clone(), tree: tree.clone(), mark: mark.clone() };
        self.note(Event::HookStarted(started))?;
        let ran = self.effects.hook(&command, &mark)?;
        let after = self.effects.tree()?;
        let put_back = if after == tree { Vec::new() } else { self.effects.changed(&tree, &after)? };
        if after != tree {
            self.effects.restore(&tree)?;
        }
        let name = || hook.name.clone();
        let Some(ran) = ran else {
            let ended = HookEnded { hook: name(), is_before: hook.is_before, put_back, ..HookEnded::default() };
            return self.note(Event::HookEnded(ended)).map(|()| None);
        };
        self.note(Event::HookEnded(HookEnded {
            hook: name(),
            is_before: hook.is_before,
            passed: ran.passed,
            is_skipped: false,
            exit_code: Some(ran.exit_code),
            milliseconds: ran.milliseconds,
            put_back,
        }))?;
        if ran.passed {
            return Ok(None);
        }
        let when = if hook.is_before { "before" } else { "after" };
        let text = format!(
            "the hook `{}` {when} {unit} failed: `{command}` ended with exit code {}",
            hook.name, ran.exit_code
        );
        let lines: Vec<&str> = ran.tail.lines().collect();
        let tail = lines.iter().skip(lines.len().saturating_sub(SHOWN)).map(|line| (*line).to_owned());
        let run = self.memory.run.as_ref().map(|run| run.worktree.as_str()).unwrap_or_default();
        let file = match hook.source {
            // A run reads the project's preferences where it works.
            PreferenceSource::Project => format!("{run}/{}", hook.source.file()),
            PreferenceSource::Global => hook.source.file().to_owned(),
        };
        let cure = format!("correct what it says, or set its `enabled: false` in `{file}`; then run again");
        let stop = Stop::new(Cause::HookFailed, text, "gsd-tools auto run");
        self.stop(stop.shown(tail.chain([cure]))).map(Some)
    }
}
