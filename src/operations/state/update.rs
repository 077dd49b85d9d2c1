//! Sets fields by name: `state update`, `state patch`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Facts, NO_STATE, Rule, StateEdit, close, open};
use crate::failure::Failure;
use crate::project::phase::PhaseId;
use crate::project::state::edit::{Set, one_line, shown_percent};
use crate::project::state::index::{KEYS, Progress};
use crate::project::state::{Position, State};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::Value;

/// What `state update` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UpdateReport {
    pub(crate) updated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The keys of the front matter that were updated with it.
    pub(crate) preserved: Vec<String>,
    /// True if the field cannot be set. If false and nothing changed, the field already had the value.
    #[serde(skip)]
    pub(crate) is_refused: bool,
}

/// Sets one field.
pub(crate) fn update(view: &ProjectView, field: &str, value: &str, facts: &Facts) -> Edited<UpdateReport, Failure> {
    let unchanged = |reason: String, is_refused: bool| {
        let report = UpdateReport { updated: false, reason: Some(reason), preserved: Vec::new(), is_refused };
        (report, Edits::default())
    };
    let refused = |reason: String| unchanged(reason, true);
    let Some(state) = open(view)? else { return Ok(refused(NO_STATE.to_owned())) };
    let mut edit = StateEdit::new(state);
    match set(&mut edit, field, value) {
        Set::Absent => return Ok(refused(format!("STATE.md has no field `{field}`"))),
        Set::Same => return Ok(unchanged(format!("`{field}` already has this value"), false)),
        Set::Changed => {}
    }
    let written = close(view, edit, Rule::Keep, facts)?;
    if !labels(field).iter().any(|label| state.field(label).is_some())
        && State::parse(&written.text).front_text(&key_of(field)).as_deref() != Some(one_line(value).as_str())
    {
        return Ok(refused(format!("`{field}` is derived and cannot be set; edit the body field or the roadmap")));
    }
    let edits = written.edits(view)?;
    let preserved = written.followed.into_iter().filter(|name| key_of(name) != key_of(field)).collect();
    Ok((UpdateReport { updated: true, reason: None, preserved, is_refused: false }, edits))
}

/// What `state patch` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PatchReport {
    pub(crate) updated: Vec<String>,
    /// Fields that do not exist.
    pub(crate) failed: Vec<String>,
    /// Fields that already had the value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unchanged: Vec<String>,
}

/// Sets several fields; missing ones are reported, the others are set. Without STATE.md all are missing.
pub(crate) fn patch(view: &ProjectView, fields: &[(String, String)], facts: &Facts) -> Edited<PatchReport, Failure> {
    let Some(state) = open(view)? else {
        let failed = fields.iter().map(|(field, _)| field.clone()).collect();
        return Ok((PatchReport { updated: Vec::new(), failed, unchanged: Vec::new() }, Edits::default()));
    };
    let mut edit = StateEdit::new(state);
    let (mut failed, mut unchanged) = (Vec::new(), Vec::new());
    for (field, value) in fields {
        match set(&mut edit, field, value) {
            Set::Absent => failed.push(field.clone()),
            Set::Same => unchanged.push(field.clone()),
            Set::Changed => edit.note(field),
        }
    }
    if edit.updated.is_empty() {
        return Ok((PatchReport { updated: Vec::new(), failed, unchanged }, Edits::default()));
    }
    let written = close(view, edit, Rule::Keep, facts)?;
    let edits = written.edits(view)?;
    Ok((PatchReport { updated: written.updated, failed, unchanged }, edits))
}

/// Sets a field of the body, or else a key of the front matter that exists or is a known key.
fn set(edit: &mut StateEdit<'_, '_>, field: &str, value: &str) -> Set {
    for label in &labels(field) {
        let set = edit.set(label, value);
        if set != Set::Absent {
            if label.eq_ignore_ascii_case("progress") {
                set_percent(edit, value);
            }
            if set == Set::Changed && label.eq_ignore_ascii_case("phase") {
                set_phase_elsewhere(edit, value);
            }
            return set;
        }
    }
    set_key(edit, &key_of(field), value)
}

/// Also sets the fields of older files with the number and name of the phase; otherwise they would override this one.
fn set_phase_elsewhere(edit: &mut StateEdit<'_, '_>, value: &str) {
    let Some(position) = Position::parse(value) else { return };
    if let Some(phase) = position.phase {
        edit.set("Current Phase", phase);
    }
    let is_other = |known: &str| position.phase.is_some_and(|phase| !PhaseId::new(phase).matches(known));
    let name = position.name.or_else(|| edit.state().position().phase.is_some_and(is_other).then_some("—"));
    if let Some(name) = name {
        edit.set("Current Phase Name", name);
    }
}

/// A field as typed, and in the form of a label.
fn labels(field: &str) -> [String; 2] {
    [field.to_owned(), field.replace('_', " ")]
}

/// A field in the form of a front matter key.
fn key_of(field: &str) -> String {
    field.trim().to_lowercase().replace(' ', "_")
}

/// Sets a scalar key of the front matter. `progress` is counted and cannot be set.
fn set_key(edit: &mut StateEdit<'_, '_>, key: &str, value: &str) -> Set {
    let Some(front) = edit.state().front() else { return Set::Absent };
    let settable = match front.get(key) {
        Some(known) => matches!(known, Value::Text(_) | Value::Empty),
        None => KEYS.iter().any(|known| known.name == key) && key != "progress",
    };
    if settable { edit.set_front(key, value) } else { Set::Absent }
}

/// A bar that was set by hand also becomes the percentage of the front matter.
fn set_percent(edit: &mut StateEdit<'_, '_>, value: &str) {
    if let Some((_, percent)) = shown_percent(value)
        && Progress::written(edit.state()).is_some()
    {
        edit.set_front_inner("progress", "percent", &percent.min(100).to_string());
    }
}
