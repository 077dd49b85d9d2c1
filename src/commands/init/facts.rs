//! What bundles say that no document of the project does: the host, its agents, what git ignores.

use crate::commands::agents::hosts;
use crate::commands::frame::Context;
use crate::disk;
use crate::failure::Failure;
use crate::operations::bundle::Facts;

impl Context {
    /// The facts of this call.
    pub(super) fn facts(&self) -> Result<Facts, Failure> {
        let host = self.host()?;
        let agents = self.agents(host.descriptor.as_ref());
        Ok(Facts {
            runtime: host.id.clone(),
            command_prefix: self.command_prefix()?.to_owned(),
            agents_folder: agents.folder.map(|folder| folder.to_string_lossy().replace('\\', "/")),
            user_profile: self.user_profile(),
            missing_agents: agents.missing,
            documents_ignored: self.documents_ignored()?,
            auto: self.auto_mode()?,
            next: self.next_facts()?,
        })
    }

    /// The profile that `write-profile` has written for this host; where the host has no known folder there is none.
    fn user_profile(&self) -> Option<String> {
        let path = hosts::home(self).ok()?.root.join("gsd-core").join("USER-PROFILE.md");
        disk::is_file(&path).then(|| path.to_string_lossy().replace('\\', "/"))
    }

    /// Whether git is told to leave the project's documents out. Asked only where the configuration leaves it open.
    fn documents_ignored(&self) -> Result<bool, Failure> {
        let config = self.config()?;
        let says = ["commit_docs", "planning.commit_docs"].iter().any(|key| config.written(key).is_some());
        if says || !config.has_file() {
            return Ok(false);
        }
        let ignored = self.world().git(self.root().as_path(), ["check-ignore", "-q", ".planning/"]);
        // Without git, or outside a repository, nothing is ignored.
        Ok(ignored.is_ok_and(|finished| finished.success()))
    }
}
