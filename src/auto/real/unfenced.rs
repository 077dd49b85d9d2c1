//! What a session without a fence did to the repository itself.

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::landing::shared::Shared;
use crate::auto::stop::{Cause, Stop};

impl Real<'_> {
    /// Compares what all worktrees share with its state before the session. Changes that are certain and safe to undo
    /// are undone, harmless ones are reported, and the rest ends the run.
    pub(super) fn look_at_shared(&mut self, before: &Shared) -> Result<(), EngineError> {
        let changes = self.repository.shared_since(before, &self.worktree, &self.run)?;
        for line in &changes.named {
            self.tell(&format!("  changed in the repository during the session: {line}"));
        }
        for line in &changes.put_back {
            self.tell(&format!("  put back in the repository: {line}"));
        }
        if changes.grave.is_empty() {
            return Ok(());
        }
        let text = "the repository itself was changed while a session ran without a fence; undo it if it was not you, then run again";
        let stop = Stop::new(Cause::RepositoryChanged, text, "gsd-tools auto run").shown(changes.grave);
        Err(EngineError::Stopped(Box::new(stop)))
    }
}
