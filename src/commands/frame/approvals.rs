//! What a person approves before a repository may have it run: once at a terminal, or ahead by its digest.

use serde::{Deserialize, Serialize};

use super::{CommandError, Context};
use crate::auto::set_up::APPROVED;
use crate::disk::{self, AbsolutePath, Digest};
use crate::project::local_state::LocalState;
use crate::project::milestone_layout::preferences::Preferences;
use crate::project::repository;

/// The note with what a person approved of a project.
const NOTE: &str = "approved.json";

/// Something that a repository brings and a person has to approve.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Brought {
    /// What it is, such as `the set-up of worktrees`.
    pub(in crate::commands) what: &'static str,
    /// All of it, a line each.
    pub(in crate::commands) shown: Vec<String>,
    pub(in crate::commands) digest: Digest,
    /// The command that goes on once it is approved.
    pub(in crate::commands) next: &'static str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Approvals {
    approved: Vec<Approval>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Approval {
    what: String,
    /// Of the repository too: another one at the same path has no approval.
    repository: String,
    digest: String,
    approved_at: String,
}

/// Distinguishes the repository of a project from another one at the same path.
pub(in crate::commands) fn repository_at(root: &AbsolutePath) -> String {
    let main = repository::main_place(root).unwrap_or_else(|| root.clone());
    let git = repository::repository_of(&main).map(|root| root.resolve(".git"));
    disk::identity(&git.unwrap_or(main))
}

impl Context {
    /// Goes on where a person approved this; asks at a terminal, and refuses with what approves it elsewhere.
    pub(in crate::commands) fn needs_approval(
        &mut self,
        state: &LocalState,
        root: &AbsolutePath,
        brought: &Brought,
    ) -> Result<(), CommandError> {
        let digest = brought.digest.to_string();
        let repository = repository_at(root);
        let known: Approvals = state.read(NOTE)?.unwrap_or_default();
        let is_it = |approval: &Approval| approval.repository == repository && approval.digest == digest;
        if known.approved.iter().any(is_it) || self.approved_by_user()?.contains(&digest) {
            return Ok(());
        }
        let agent = self.agent_session()?;
        let ahead = self.world().variable(APPROVED).unwrap_or_default();
        let is_ahead = ahead.split([',', ' ', '\t']).any(|one| one == digest);
        let what = brought.what;
        if agent.is_none() && !is_ahead && self.can_confirm() {
            let lines = brought.shown.iter().fold(String::new(), |text, line| text + "    " + line + "\n");
            self.tell(format_args!("This repository brings {what}:\n\n{lines}"));
            if !Self::confirms("Allow it to run on this computer")? {
                return Err(CommandError::usage(format!("{what} is not approved; nothing was started")).exits(77));
            }
        } else if agent.is_some() || !is_ahead {
            return Err(self.not_approved(brought, agent.as_deref()));
        }
        let approval =
            Approval { what: what.to_owned(), repository, digest, approved_at: self.world().now().to_string() };
        self.edit_note(&state.file(NOTE), |text| {
            let mut approvals: Approvals = text.map(serde_json::from_str).transpose()?.unwrap_or_default();
            approvals.approved.push(approval.clone());
            Ok(((), Some(serde_json::to_string_pretty(&approvals)? + "\n")))
        })
    }

    fn not_approved(&self, brought: &Brought, agent: Option<&str>) -> CommandError {
        let Brought { what, shown, digest, next } = brought;
        let why = match agent {
            Some(name) => format!("an agent runs this call: {name} is set"),
            None => "this is not a terminal".to_owned(),
        };
        let lines = shown.iter().fold(String::new(), |text, line| text + "\n  " + line);
        let message = format!("a person has to approve {what}, and {why}:{lines}");
        let file = self.personal_file("PREFERENCES.md").map_or_else(String::new, |file| file.display().to_string());
        CommandError::usage(message).exits(77).hint(format!(
            "read it, then run `{next}` in a terminal, or `{APPROVED}={digest} {next}`, or add the line `approved: [{digest}]` between \
             the lines `---` of `{file}`"
        ))
    }

    /// What the user's own preferences approve. Those of a project approve nothing.
    fn approved_by_user(&self) -> Result<Vec<String>, CommandError> {
        let personal = self.personal_file("PREFERENCES.md").map(disk::read_config).transpose()?.flatten();
        Ok(Preferences::read(None, personal.as_deref()).0.approved)
    }
}
