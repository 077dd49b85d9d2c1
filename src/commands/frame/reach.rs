//! How far a call reaches: the folders that it names.

use super::CommandError;
use super::Context;
use crate::disk::AbsolutePath;

impl Context {
    /// Refuses a folder that a call names where it is outside of the project: to an agent any, and to everybody one that
    /// seems to be in the project and is not, since a link leads out.
    pub(in crate::commands) fn hold_to_project(&self, folder: &AbsolutePath) -> Result<(), CommandError> {
        let boundary = self.project().boundary()?;
        if boundary.is_about(folder) {
            return Ok(boundary.check(folder)?);
        }
        self.hold_agents_off(folder)
    }
}
