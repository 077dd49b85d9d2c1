//! What a person approves before a repository may have it run: once at a terminal, or ahead by its digest.

use serde::{Deserialize, Serialize};

use super::place::{Place, Preferred};
use crate::auto::set_up::{self, APPROVED, SetUp};
use crate::commands::frame::{CommandError, Context};
use crate::disk::{self, AbsolutePath, Digest};
use crate::project::local_state::LocalState;
use crate::project::milestone_layout::preferences::{Given, PreferenceSource, Preferences};
use crate::project::repository;
use crate::text::shell::shell_word;
use crate::text::untrusted;

/// The note with what a person approved of a project.
const NOTE: &str = "approved.json";

/// Something that a repository brings and a person has to approve.
#[derive(Clone, Debug)]
struct Brought {
    /// What it is, such as `the set-up of worktrees`.
    what: &'static str,
    /// All of it, a line each.
    shown: Vec<String>,
    digest: Digest,
    /// The command that goes on once it is approved.
    next: String,
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

/// What makes worktrees ready, once a person has approved what of it the repository brings: the command of the user's own
/// preferences is the user's.
pub(super) fn approved_set_up(
    context: &mut Context,
    place: &Place,
    preferred: &Preferred,
    brief: Option<&str>,
) -> Result<SetUp, CommandError> {
    let command = preferred.document.git.worktree_post_create.clone();
    let set_up = SetUp::new(command, disk::read_text(place.root.resolve(set_up::INCLUDE))?);
    let is_users = |given: &Given| given.key == set_up::COMMAND && given.source == PreferenceSource::Global;
    if set_up.is_empty() || (set_up.include.is_none() && preferred.given.iter().any(is_users)) {
        return Ok(set_up);
    }
    let command = set_up.command.iter().map(|command| format!("runs in each new worktree: {command}"));
    let copies = set_up.patterns().map(|pattern| format!("copies there, of your ignored files: {pattern}"));
    let brief = brief.map(shell_word);
    let brought = Brought {
        what: "the set-up of worktrees",
        shown: command.chain(copies).map(|line| untrusted::line(&line, 200)).collect(),
        digest: set_up.digest(),
        next: ["gsd-tools auto run".to_owned()].into_iter().chain(brief).collect::<Vec<_>>().join(" --brief "),
    };
    needs_approval(context, &place.notes, &place.root, &brought)?;
    Ok(set_up)
}

/// Goes on where a person approved this; asks at a terminal, and refuses with what approves it elsewhere.
fn needs_approval(
    context: &mut Context,
    state: &LocalState,
    root: &AbsolutePath,
    brought: &Brought,
) -> Result<(), CommandError> {
    let digest = brought.digest.to_string();
    let repository = repository::identity_of(root);
    let known: Approvals = state.read(NOTE)?.unwrap_or_default();
    let is_it = |approval: &Approval| approval.repository == repository && approval.digest == digest;
    if known.approved.iter().any(is_it) || approved_by_user(context)?.contains(&digest) {
        return Ok(());
    }
    let agent = context.agent_session()?;
    let ahead = context.world().variable(APPROVED).unwrap_or_default();
    let is_ahead = ahead.split([',', ' ', '\t']).any(|one| one == digest);
    let what = brought.what;
    if agent.is_none() && !is_ahead && context.can_confirm() {
        let lines = brought.shown.iter().fold(String::new(), |text, line| text + "    " + line + "\n");
        context.tell(format_args!("This repository brings {what}:\n\n{lines}"));
        if !Context::confirms("Allow it to run on this computer")? {
            return Err(CommandError::usage(format!("{what} is not approved; nothing was started")).exits(77));
        }
    } else if agent.is_some() || !is_ahead {
        return Err(not_approved(context, brought, agent.as_deref()));
    }
    let approval =
        Approval { what: what.to_owned(), repository, digest, approved_at: context.world().now().to_string() };
    context.edit_note(&state.file(NOTE), |text| {
        let mut approvals: Approvals = text.map(serde_json::from_str).transpose()?.unwrap_or_default();
        approvals.approved.push(approval.clone());
        Ok(((), Some(serde_json::to_string_pretty(&approvals)? + "\n")))
    })
}

fn not_approved(context: &Context, brought: &Brought, agent: Option<&str>) -> CommandError {
    let Brought { what, shown, digest, next } = brought;
    let why = match agent {
        Some(name) => format!("an agent runs this call: {name} is set"),
        None => "this is not a terminal".to_owned(),
    };
    let lines = shown.iter().fold(String::new(), |text, line| text + "\n  " + line);
    let message = format!("a person has to approve {what}, and {why}:{lines}");
    let file = context.personal_file("PREFERENCES.md").map_or_else(String::new, |file| file.display().to_string());
    CommandError::usage(message).exits(77).hint(format!(
        "read it, then run `{next}` in a terminal, or `{APPROVED}={digest} {next}`, or add the line `approved: [{digest}]` between \
         the lines `---` of `{file}`"
    ))
}

/// What the user's own preferences approve. Those of a project approve nothing.
fn approved_by_user(context: &Context) -> Result<Vec<String>, CommandError> {
    let personal = context.personal_file("PREFERENCES.md").map(disk::read_config).transpose()?.flatten();
    Ok(Preferences::read(None, personal.as_deref()).0.approved)
}
