//! The claim on a milestone: it records which session works on which phase.
//!
//! STATE.md has only one position. A claim does not stop a second session from moving it, but warns that session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Facts;
use crate::failure::Failure;
use crate::project::phase::PhaseId;
use crate::project::view::{Edits, ProjectView};

/// How long a claim is valid without renewal: four hours.
const LIFETIME: i64 = 4 * 60 * 60 * 1000;

/// The contents of the claim file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
struct Claim {
    phase: String,
    session: Option<String>,
    pid: u32,
    /// Milliseconds since 1970.
    updated_at: i64,
}

/// Another session works on another phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Conflict {
    pub(crate) locked_phase: String,
    pub(crate) locked_session: Option<String>,
    pub(crate) phase: String,
    pub(crate) session: Option<String>,
}

/// The result of a request for a claim. The claim of another session is never changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) conflict: Option<Conflict>,
    text: Option<String>,
}

impl Claimed {
    pub(crate) fn edit(&self, view: &ProjectView, edits: &mut Edits) -> Result<(), Failure> {
        if let Some(text) = &self.text {
            edits.write(view, &view.layout().milestone_claim(), text.clone())?;
        }
        Ok(())
    }
}

/// Claims the milestone for work on `phase`.
pub(crate) fn take(view: &ProjectView, phase: &str, facts: &Facts) -> Result<Claimed, Failure> {
    ask(view, phase, facts, true)
}

/// Like [`take`], but only if there is already a claim.
pub(crate) fn renew(view: &ProjectView, phase: &str, facts: &Facts) -> Result<Claimed, Failure> {
    ask(view, phase, facts, false)
}

/// Releases the claim on `phase` when it is complete. Returns the conflict if another session has a claim on another
/// phase.
pub(crate) fn release(
    view: &ProjectView,
    phase: &str,
    facts: &Facts,
    edits: &mut Edits,
) -> Result<Option<Conflict>, Failure> {
    if facts.is_unit {
        return Ok(None);
    }
    let path = view.layout().milestone_claim();
    let Some(text) = view.text(&path)? else { return Ok(None) };
    let conflict = conflict(&text, phase, facts);
    if conflict.is_none() {
        edits.removals.push(path);
    }
    Ok(conflict)
}

fn ask(view: &ProjectView, phase: &str, facts: &Facts, is_new: bool) -> Result<Claimed, Failure> {
    // The claim of the run's process covers its sessions, and they cannot write to the claim file.
    if facts.is_unit {
        return Ok(Claimed::default());
    }
    let standing = view.text(&view.layout().milestone_claim())?;
    if let Some(conflict) = standing.as_deref().and_then(|text| conflict(text, phase, facts)) {
        return Ok(Claimed { conflict: Some(conflict), text: None });
    }
    if standing.is_none() && !is_new {
        return Ok(Claimed::default());
    }
    let claim = Claim {
        phase: phase.to_owned(),
        session: facts.session.clone(),
        pid: facts.process,
        updated_at: facts.milliseconds,
    };
    Ok(Claimed { conflict: None, text: serde_json::to_string_pretty(&claim).ok().map(|text| text + "\n") })
}

/// The conflict with a valid claim: another phase by another session. An invalid file is not a claim.
fn conflict(text: &str, phase: &str, facts: &Facts) -> Option<Conflict> {
    let claim: Claim = serde_json::from_str(text).ok()?;
    let is_valid = (0..LIFETIME).contains(&(facts.milliseconds - claim.updated_at));
    let other = !PhaseId::new(&claim.phase).matches(phase) && claim.session != facts.session;
    (is_valid && other).then(|| Conflict {
        locked_phase: claim.phase,
        locked_session: claim.session,
        phase: phase.to_owned(),
        session: facts.session.clone(),
    })
}
