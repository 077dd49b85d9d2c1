//! Quick tasks in STATE.md: adds one to the table, and converts an old table to the current form.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::operations::state::NO_STATE_CURE;
use crate::operations::state::{self, Facts, NO_STATE, Rule, StateEdit};
use crate::project::state::quick::{Migrated, QuickRow, QuickTableError, QuickVariant};
use crate::project::view::{Edited, Edits, ProjectView};

/// What `quick-tasks-append` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AppendReport {
    pub(crate) ok: bool,
    /// The new row.
    pub(crate) row: String,
    pub(crate) variant: QuickVariant,
}

/// What `quick-tasks-migrate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MigrateReport {
    pub(crate) ok: bool,
    /// The table had another form and was converted.
    pub(crate) migrated: bool,
    /// The columns it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<usize>,
    /// Why nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

/// Adds a row to the table of quick tasks.
pub(crate) fn append(view: &ProjectView, row: &QuickRow<'_>, facts: &Facts) -> Edited<AppendReport, Failure> {
    let state = state::open(view)?.ok_or_else(|| Failure::unknown("there is no STATE.md").hint(NO_STATE_CURE))?;
    let mut edit = StateEdit::new(state);
    let added = edit.push_quick_row(row);
    let (row, variant) = added?;
    let edits = state::close(view, edit, Rule::Keep, facts)?.edits(view)?;
    Ok((AppendReport { ok: true, row, variant }, edits))
}

/// Converts the table of quick tasks to the form to which rows are added.
pub(crate) fn migrate(view: &ProjectView, facts: &Facts) -> Edited<MigrateReport, Failure> {
    let unchanged = |reason| MigrateReport { ok: true, migrated: false, from: None, rows: None, reason: Some(reason) };
    let Some(state) = state::open(view)? else { return Ok((unchanged(NO_STATE), Edits::default())) };
    let mut edit = StateEdit::new(state);
    let Migrated { from, rows } = match edit.migrate_quick_table() {
        Ok(Some(migrated)) => migrated,
        Ok(None) => return Ok((unchanged("the table has the current columns"), Edits::default())),
        Err(QuickTableError::NoSection) => return Ok((unchanged("there is no table"), Edits::default())),
        Err(error) => return Err(error.into()),
    };
    let edits = state::close(view, edit, Rule::Keep, facts)?.edits(view)?;
    let report = MigrateReport { ok: true, migrated: true, from: Some(from), rows: Some(rows), reason: None };
    Ok((report, edits))
}
