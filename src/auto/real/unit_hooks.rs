//! Runs the command of a hook in the worktree, inside the fence of checks.

use std::time::Duration;

use super::Real;
use crate::auto::engine::{EndedHook, EngineError};
use crate::gate::check::Check;
use crate::gate::run::{CheckPlace, Limits, run_check};
use crate::world::tree::Mark;

/// The time limit of a command.
const TIME: Duration = Duration::from_secs(900);

impl Real<'_> {
    /// Runs a command; `None` if it was interrupted.
    pub(super) fn run_hook(&mut self, command: &str, mark: &str) -> Result<Option<EndedHook>, EngineError> {
        let check = match Check::parse(command) {
            Ok(check) => check,
            Err(refused) => return Ok(Some(EndedHook { tail: refused.to_string(), ..EndedHook::default() })),
        };
        let folder = self.places.worktree.clone();
        let run = self.in_place(&folder, Mark::parse(mark).as_ref(), |place| {
            let limits = Limits { time: TIME, ..place.limits };
            run_check(self.world, &check, &CheckPlace { limits, ..*place })
        })?;
        if self.is_broken_off()? {
            return Ok(None);
        }
        Ok(Some(EndedHook {
            passed: run.passed(),
            exit_code: run.exit_code,
            milliseconds: run.duration_ms,
            tail: run.tail,
        }))
    }
}
