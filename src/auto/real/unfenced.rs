//! What a session did to the repository itself that no fence kept away from it.

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::landing::shared::Shared;
use crate::auto::stop::{Cause, Stop};

impl Real<'_> {
    /// Compares what all worktrees have in common with what it was before the session. What is certain and safe to undo is
    /// undone, what harms nothing is named, and the run ends for the rest.
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
