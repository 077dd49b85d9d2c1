//! The checks that a verification left to a person and that were deferred. Each has a test in UAT.md and a row in the
//! table of deferred items of STATE.md.

use schemars::JsonSchema;
use serde::Serialize;

use super::files::FileError;
use super::folder::PhaseFolder;
use super::human_checks::same_name;
use super::human_judgment;
use super::state::State;
use super::state::deferred::DeferredRow;
use super::uat_report::{UatTest, is_pass};
use super::verification::{self, VerificationState};
use super::view::ProjectView;

/// A deferred check and its test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DeferredCheck {
    pub(crate) phase: String,
    /// Its number in UAT.md.
    pub(crate) test: Option<u64>,
    pub(crate) name: String,
    pub(crate) expected: String,
    /// The result in UAT.md; `None` if the test is not there yet.
    pub(crate) result: Option<String>,
}

impl DeferredCheck {
    pub(crate) fn passed(&self) -> bool {
        self.result.as_deref().is_some_and(is_pass)
    }

    pub(crate) fn failed(&self) -> bool {
        self.result.as_deref() == Some("issue")
    }
}

/// The category of the row for a check.
pub(crate) const CATEGORY: &str = "human check";
/// The status of an unsettled row.
pub(crate) const OPEN: &str = "open";

/// Every check of these folders that is on the list of deferred items and waits for a person.
pub(crate) fn deferred_in(view: &ProjectView, folders: &[PhaseFolder]) -> Result<Vec<DeferredCheck>, FileError> {
    let all = deferred_rows(view)?;
    let mut found = Vec::new();
    if all.is_empty() {
        return Ok(found);
    }
    for folder in folders.iter().filter(|folder| folder.archived.is_none()) {
        let Some(path) = folder.artifact_path("UAT") else { continue };
        let rows = rows_of(view, folder, all.clone())?;
        for test in &view.uat_report(&path)?.tests {
            let check = of_test(folder, &test.name, test.expected.clone().unwrap_or_default(), Some(test));
            if !check.passed() && is_listed(&rows, folder, &check.name) {
                found.push(check);
            }
        }
    }
    Ok(found)
}

/// Every check of these folders that waits for a person, deferred or forgotten, and every test of them that did not
/// pass and is not marked as known.
pub(crate) fn open_in(view: &ProjectView, folders: &[PhaseFolder]) -> Result<Vec<DeferredCheck>, FileError> {
    let mut open = deferred_in(view, folders)?;
    for folder in folders.iter().filter(|folder| folder.archived.is_none()) {
        for file in folder.artifacts("UAT") {
            let path = folder.join(file);
            let report = view.uat_report(&path)?;
            if report.is_known_in(&view.text(&path)?.unwrap_or_default()) {
                continue;
            }
            for gap in &report.gaps {
                let result = Some(format!("gap, {}", if gap.status.is_empty() { "open" } else { &gap.status }));
                open.push(DeferredCheck { result, ..of_test(folder, &gap.truth, String::new(), None) });
            }
            for test in report.tests.iter().filter(|test| test.is_open()) {
                let check = of_test(folder, &test.name, test.expected.clone().unwrap_or_default(), Some(test));
                if !open.contains(&check) {
                    open.push(check);
                }
            }
        }
        let state = verification::status(view, folder)?.state;
        let said = match state {
            VerificationState::GapsFound => Some("gaps_found"),
            VerificationState::HumanNeeded => Some("human_needed"),
            _ => None,
        };
        if let Some(said) = said {
            let result = Some(said.to_owned());
            open.push(DeferredCheck { result, ..of_test(folder, "verification", String::new(), None) });
        }
        for left in human_judgment::unchecked(view, folder)? {
            open.push(of_test(folder, &left.description, left.rationale.unwrap_or_default(), None));
        }
    }
    Ok(open)
}

pub(crate) fn of_test(folder: &PhaseFolder, name: &str, expected: String, test: Option<&UatTest>) -> DeferredCheck {
    DeferredCheck {
        phase: folder.token().to_owned(),
        test: test.map(|test| test.number),
        name: name.to_owned(),
        expected,
        result: test.and_then(|test| test.result.clone()),
    }
}

/// The text of a row's item: the phase and the check.
pub(crate) fn item(folder: &PhaseFolder, name: &str) -> String {
    format!("Phase {}: {name}", folder.token())
}

pub(crate) fn is_row_of(row: &DeferredRow, folder: &PhaseFolder, name: &str) -> bool {
    row.category == CATEGORY && same_name(&row.item, &item(folder, name))
}

/// Whether a check has an unsettled row on the list.
pub(crate) fn is_listed(rows: &[DeferredRow], folder: &PhaseFolder, name: &str) -> bool {
    rows.iter().any(|row| row.status.eq_ignore_ascii_case(OPEN) && is_row_of(row, folder, name))
}

/// The rows that can be of this phase. Milestones may start over with phase 1, so a row of another milestone is of
/// another phase. A phase left over from an earlier milestone keeps its rows.
pub(crate) fn rows_of(
    view: &ProjectView,
    folder: &PhaseFolder,
    mut rows: Vec<DeferredRow>,
) -> Result<Vec<DeferredRow>, FileError> {
    if rows.is_empty() {
        return Ok(rows);
    }
    let plain = |version: &str| version.trim().trim_start_matches(['v', 'V']).to_owned();
    let Some(current) = view.milestone()?.version.map(|version| plain(&version)) else { return Ok(rows) };
    if view.milestone_folders()?.iter().any(|known| known.path == folder.path) {
        rows.retain(|row| row.milestone.trim().is_empty() || plain(&row.milestone) == current);
    }
    Ok(rows)
}

pub(crate) fn deferred_rows(view: &ProjectView) -> Result<Vec<DeferredRow>, FileError> {
    Ok(view.state()?.map(State::deferred).unwrap_or_default())
}
