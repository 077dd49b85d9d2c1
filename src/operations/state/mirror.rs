//! `state.json`: where the project stands, for other programs. Derived from STATE.md and the roadmap, never read by us.
//!
//! A file that stands there keeps keys that are not ours and the bytes of what does not change; one that does not parse
//! is left alone.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::listed::{ListedPhase, listed_phases};
use super::situation::{self, Surroundings};
use super::{Facts, StateError};
use crate::project::files::FileError;
use crate::project::standing::Stage;
use crate::project::view::{Edits, ProjectView};
use crate::text::edit::JsonDialect;
use crate::text::json::{JsonDocument, JsonEdit};

/// The file's content.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Mirror {
    contract: &'static str,
    flavor: &'static str,
    milestone: Option<String>,
    phases: Vec<MirrorPhase>,
    next: Next,
    updated_at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct MirrorPhase {
    number: String,
    name: String,
    status: PhaseStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PhaseStatus {
    Complete,
    InProgress,
    Pending,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Next {
    command: String,
    label: String,
    reason: String,
}

/// Adds to `edits` the mirror of the project as they leave it.
pub(crate) fn refresh(edits: &mut Edits, view: &ProjectView, facts: &Facts) -> Result<(), StateError> {
    let after = view.after(edits);
    let mirror = mirror(&after, facts)?;
    let Ok(Value::Object(wanted)) = serde_json::to_value(&mirror) else { return Ok(()) };
    let path = view.layout().state_mirror();
    let standing = view.text(&path)?;
    let text = match standing.as_deref() {
        None => serde_json::to_string_pretty(&wanted).ok().map(|text| text + "\n"),
        Some(standing) => JsonDocument::parse(standing, JsonDialect::Strict).ok().and_then(|mut document| {
            for (key, value) in wanted {
                document.apply(&JsonEdit::Set { path: vec![key], value }).ok()?;
            }
            Some(document.to_string())
        }),
    };
    if let Some(text) = text {
        edits.write(view, &path, text)?;
    }
    Ok(())
}

fn mirror(view: &ProjectView, facts: &Facts) -> Result<Mirror, FileError> {
    let milestone = view.milestone()?;
    let name = milestone.name.as_deref();
    let label = milestone.version.as_deref().map(|version| match name {
        Some(name) => format!("{version} — {name}"),
        None => version.to_owned(),
    });
    let entry = situation::smart_entry(view, &Surroundings::just_written(), facts)?;
    let next = entry.recommended_action();
    let phases = listed_phases(view)?;
    Ok(Mirror {
        contract: "1.0.0",
        flavor: "core",
        milestone: label,
        phases: phases.into_iter().map(MirrorPhase::of).collect(),
        next: Next { command: next.command.clone(), label: next.label.clone(), reason: entry.reason().to_owned() },
        updated_at: facts.now.clone(),
    })
}

impl MirrorPhase {
    fn of(phase: ListedPhase) -> Self {
        let status = match phase.standing.stage() {
            Stage::Complete => PhaseStatus::Complete,
            Stage::Partial | Stage::Executed => PhaseStatus::InProgress,
            _ => PhaseStatus::Pending,
        };
        Self { number: phase.number, name: phase.name, status }
    }
}
