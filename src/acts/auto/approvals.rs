//! What a person approves before a run may execute code from a repository: once at a terminal, or in advance by digest.

use crate::acts::caller;
use crate::acts::files;
use crate::acts::user;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::place::RunPlace;
use crate::acts::Call;
use crate::auto::brought::{APPROVED, Brought};
use crate::auto::stop::{Cause, Stop};
use crate::disk;
use crate::failure::Failure;
use crate::project::milestone_layout::preferences::Preferences;
use crate::project::repository;
use crate::text::shell::{Typed, typed};

/// The note with a person's approvals of a project.
const NOTE: &str = "approved.json";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Approvals {
    approved: Vec<Approval>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Approval {
    /// The identity of the repository: another one at the same path has no approval.
    repository: String,
    /// The digests of what was approved, or landed by a run of this computer.
    #[serde(default)]
    items: BTreeSet<String>,
    approved_at: String,
}

/// The context of the question about a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    /// The display name of the run's client.
    pub(crate) client: &'a str,
    /// Whether the client can be started without the settings of the project.
    pub(crate) can_leave_out: bool,
    /// The command that continues once it is approved.
    pub(crate) next: &'a Typed,
}

/// What is approved of a project on this computer.
pub(crate) fn known(place: &RunPlace) -> Result<BTreeSet<String>, Failure> {
    let known: Approvals = place.notes.read(NOTE)?.unwrap_or_default();
    let repository = repository::identity_of(&place.root);
    let own = known.approved.into_iter().filter(|approval| approval.repository == repository);
    Ok(own.flat_map(|approval| approval.items).collect())
}

/// Returns if a person approved all of this, or a run of this computer landed it; asks at a terminal about the rest,
/// and elsewhere stops with the command that approves it.
pub(crate) fn approve(
    call: &Call,
    place: &RunPlace,
    (brought, known, landed): (&Brought, &BTreeSet<String>, &BTreeSet<String>),
    question: Question<'_>,
) -> Result<Option<Stop>, Failure> {
    let pending = brought.without(known).without(landed);
    if !pending.is_empty() {
        let agent = call.agent_session()?;
        let digest = brought.digest().to_string();
        let ahead = call.world().variable(APPROVED).filter(|_| agent.is_none()).unwrap_or_default();
        let is_ahead =
            ahead.split([',', ' ', '\t']).any(|one| one == digest) || approved_by_user(call)?.contains(&digest);
        let what = if known.is_empty() {
            "This repository brings what a run would run on this computer:"
        } else {
            "New in this repository since it was approved, and a run would run it on this computer:"
        };
        if !is_ahead && agent.is_none() && caller::can_confirm(call) {
            let lines = pending.lines().iter().fold(String::new(), |text, line| text + "    " + line + "\n");
            call.tell(format_args!("{what}\n\n{lines}"));
            if !caller::confirms(call, "Allow it to run")? {
                let text = "what the repository brings is not approved; nothing was started";
                let stop = Stop::new(Cause::NotApproved, text, question.next.clone());
                return Ok(Some(stop.shown(without_settings(brought, &pending, question, ""))));
            }
        } else if !is_ahead {
            return Ok(Some(not_approved(call, (brought, &pending), question, agent.as_deref())));
        }
    }
    let items: BTreeSet<String> = brought.digests().filter(|digest| !known.contains(digest)).collect();
    if items.is_empty() {
        return Ok(None);
    }
    let repository = repository::identity_of(&place.root);
    let approval = Approval { repository, items, approved_at: call.world().now().to_string() };
    files::edit_note(call, &place.notes.file(NOTE), |text| {
        let mut approvals: Approvals = text.map(serde_json::from_str).transpose()?.unwrap_or_default();
        approvals.approved.push(approval.clone());
        Ok(((), Some(serde_json::to_string_pretty(&approvals)? + "\n")))
    })?;
    Ok(None)
}

/// The stop of a call that is not approved and that no person can be asked about.
fn not_approved(
    call: &Call,
    (brought, pending): (&Brought, &Brought),
    question: Question<'_>,
    agent: Option<&str>,
) -> Stop {
    let why = match agent {
        Some(name) => format!("an agent runs this call: {name} is set"),
        None => "this is not a terminal".to_owned(),
    };
    let text = format!("a person has to approve what this repository brings and a run would run, and {why}");
    let (digest, next) = (brought.digest(), question.next);
    let file = user::file(call.world(), "PREFERENCES.md").map_or_else(String::new, |file| file.display().to_string());
    let ahead = typed!("{}={} {}", Typed::from(APPROVED), digest, next);
    let way = format!(
        "read it, then run `{next}` in a terminal, or `{ahead}`, or add the line `approved: [{digest}]` between the lines \
         `---` of `{file}`"
    );
    if agent.is_some() {
        // An agent could write the digest where it approves, so only a person's own call shows it.
        let way = format!(
            "a person reads it and runs `{next}` in a terminal, which asks; without one it says how to approve it"
        );
        return Stop::new(Cause::NotApproved, text, next.clone()).shown(pending.lines().into_iter().chain([way]));
    }
    let (next, other) = (ahead, without_settings(brought, pending, question, "or, "));
    Stop::new(Cause::NotApproved, text, next).shown(pending.lines().into_iter().chain([way]).chain(other))
}

/// How to run without the repository's settings for the client.
fn without_settings(brought: &Brought, pending: &Brought, question: Question<'_>, or: &str) -> Option<String> {
    if !pending.has_client() {
        return None;
    }
    let (client, next) = (question.client, question.next);
    if !question.can_leave_out {
        return Some(format!(
            "how {client} is started without the settings of a project is not known: approve all of it, or take another client \
             with `--runner`"
        ));
    }
    let rest = brought.without_client();
    let next = next.clone().and(&Typed::from("--no-project-settings"));
    let next = if pending.without_client().is_empty() {
        next
    } else {
        typed!("{}={} {}", Typed::from(APPROVED), rest.digest(), next)
    };
    Some(format!("{or}without what is for {client}: `{next}`"))
}

/// The approvals in the user's own preferences. Those of a project approve nothing.
fn approved_by_user(call: &Call) -> Result<Vec<String>, Failure> {
    let personal = user::file(call.world(), "PREFERENCES.md").map(disk::read_config).transpose()?.flatten();
    Ok(Preferences::read(None, personal.as_deref()).0.approved)
}
