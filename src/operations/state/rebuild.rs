//! The tables of STATE.md made to agree with the disk, with a log of what was changed.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Facts, Rule, StateEdit, StateError, close, open};
use crate::project::state::State;
use crate::project::view::{Edits, ProjectView};

/// What `state rebuild` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RebuildReport {
    pub(crate) rebuilt: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dry_run: Option<bool>,
    pub(crate) mutations: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mutated: Option<bool>,
    pub(crate) phase_inventory_scan_failed: bool,
    pub(crate) note: &'static str,
    /// The lines of the log, for those who ask for them.
    #[serde(skip)]
    pub(crate) log: Vec<String>,
}

/// Brings the table of phases in line with the folders of the milestone: their rows, in their numbers of plans. What a
/// person wrote into the other cells stays, and rows of phases whose folder is archived. Shelved phases are no work and
/// get no row. `None` without STATE.md.
pub(crate) fn rebuild(
    view: &ProjectView,
    only_look: bool,
    facts: &Facts,
) -> Result<Option<(RebuildReport, Edits)>, StateError> {
    let Some(text) = open(view)? else { return Ok(None) };
    let mut phases: Vec<(String, usize)> = Vec::new();
    let mut kept: Vec<String> = Vec::new();
    for folder in view.phase_folders()?.iter() {
        if folder.id().is_sentinel() {
            kept.push(folder.id().to_string());
            continue;
        }
        let (number, _) = folder.number_and_name();
        if number.starts_with(|first: char| first.is_ascii_digit()) && !phases.iter().any(|(known, _)| known == number)
        {
            phases.push((number.to_owned(), view.current_plans(folder)?.len()));
        }
    }
    for (folder, version) in view.archives()? {
        kept.extend(view.read_folders(&folder, Some(&version))?.iter().map(|folder| folder.id().to_string()));
    }
    let is_gone = |label: &str| !kept.iter().any(|id| crate::project::phase::PhaseId::new(id).matches(label));
    let state = State::parse(&text);
    let mut edit = StateEdit::new(&state);
    let reconciled = (!phases.is_empty()).then(|| edit.reconcile_phase_rows(&phases, is_gone)).flatten();
    let Some(reconciled) = reconciled else {
        let report = RebuildReport {
            rebuilt: false,
            dry_run: only_look.then_some(true),
            mutations: 0,
            mutated: only_look.then_some(false),
            phase_inventory_scan_failed: false,
            note: "Nothing to rebuild",
            log: Vec::new(),
        };
        return Ok(Some((report, Edits::default())));
    };
    let log = vec![
        format!("- timestamp: {}", facts.now),
        "  kind: by-phase-table-reconciled".to_owned(),
        "  section: ## Performance Metrics".to_owned(),
        format!("  before: {}", reconciled.before.join(" \\n ")),
        format!("  after: {}", reconciled.after.join(" \\n ")),
        "  reason: the folders of phases tell which rows there are".to_owned(),
    ];
    let report = RebuildReport {
        rebuilt: !only_look,
        dry_run: only_look.then_some(true),
        mutations: 1,
        mutated: only_look.then_some(true),
        phase_inventory_scan_failed: false,
        note: if only_look {
            "Run without --dry-run to apply changes"
        } else {
            "STATE.md rebuilt; see ## Rebuild Log section for the audit trail"
        },
        log: log.clone(),
    };
    if only_look {
        return Ok(Some((report, Edits::default())));
    }
    edit.append_entry("Rebuild Log", &log);
    let edits = close(view, edit, Rule::Refresh, facts)?.edits(view)?;
    Ok(Some((report, edits)))
}
