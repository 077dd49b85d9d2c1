//! Runs the check that sessions cannot read on a checkout that it cannot change.
//!
//! It executes code of an agent, which could then read the check: so it may write to one temporary folder only, and its
//! output is not kept.

use std::time::Duration;

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::event::HeldOutResult;
use crate::auto::held_out::{HeldOut, VARIABLE};
use crate::disk::AbsolutePath;
use crate::gate::run::{CheckPlace, Limits, run_program};
use crate::world::Program;
use crate::world::tree::Mark;

/// The time limit of the check.
const TIME: Duration = Duration::from_secs(600);

impl Real<'_> {
    /// Runs the check on a commit, or on the current worktree; `None` if it was interrupted.
    pub(super) fn run_held_out(
        &mut self,
        commit: Option<&str>,
        mark: Option<&str>,
    ) -> Result<Option<HeldOutResult>, EngineError> {
        let Some(held_out) = self.held_out.clone() else { return Ok(None) };
        let commit = if let Some(commit) = commit {
            Self::commit_named(commit)?
        } else {
            let tree = self.repository.snapshot(&self.worktree)?.tree;
            self.repository.commit_of_tree(&tree, self.world.now().milliseconds())?
        };
        let tree = self.repository.tree_of(&commit)?;
        let mark = mark.and_then(Mark::parse).or_else(|| Some(self.mark_of_commit(commit.as_str())));
        let run = |folder: &AbsolutePath| self.run_in(folder, &held_out, mark.as_ref());
        let result = match self.on_fresh((&commit, &tree), "held-out check", mark.as_ref(), run)? {
            Ok(result) => result,
            Err(failed) => return Err(self.set_up_failed(&failed)),
        };
        let is_over = self.asked().at_once()?.is_some();
        Ok((!is_over).then_some(HeldOutResult { tree: tree.to_string(), ..result }))
    }

    fn run_in(
        &self,
        folder: &AbsolutePath,
        held_out: &HeldOut,
        mark: Option<&Mark>,
    ) -> Result<HeldOutResult, EngineError> {
        let temporary = self.new_temporary()?;
        let mut program = Program::new("sh").arguments(["-c", &held_out.command]).folder(folder.as_path());
        program = program.variable(VARIABLE, held_out.folder.to_string()).variable("CI", "1");
        program = program.fenced(&self.fence_of_held_out(temporary.folder()));
        if let Some(mark) = mark {
            program = program.marked(mark.clone());
        }
        let asked = self.asked();
        let is_over = || !matches!(asked.at_once(), Ok(None));
        let limits = Limits { time: TIME, ..Limits::default() };
        let place = CheckPlace { is_over: Some(&is_over), limits, ..CheckPlace::new(folder.as_path()) };
        let run = run_program(self.world, &held_out.command, &program, &place);
        Ok(HeldOutResult {
            tree: String::new(),
            passed: run.passed(),
            exit_code: run.exit_code,
            milliseconds: run.duration_ms,
            digest: run.digest.to_string(),
        })
    }
}
