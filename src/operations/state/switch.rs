//! Starts or ships a milestone in STATE.md: the position starts over, the recorded knowledge stays.

use schemars::JsonSchema;
use serde::Serialize;

use super::resync::as_progress;
use super::{Facts, Rule, StateEdit, close, mirror, open};
use crate::failure::Failure;
use crate::project::figures::MilestoneCounts;
use crate::project::milestone::Milestone;
use crate::project::roadmap::Roadmap;
use crate::project::state::edit::{one_line, progress_bar};
use crate::project::state::index::{Index, KEYS, Progress};
use crate::project::state::{AWAITING_MILESTONE, DEFINING, NEXT_STEPS, State};
use crate::project::view::{Edited, Edits, ProjectView};

/// What `state milestone-switch` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SwitchReport {
    pub(crate) switched: bool,
    pub(crate) version: String,
    pub(crate) name: String,
    pub(crate) status: &'static str,
}

/// The beginning of the next step that shipping a milestone leaves to people and that the next milestone removes.
const START_NEXT: &str = "Start the next milestone";

/// Fields about a phase of the previous milestone.
const OVER: &[&str] = &[
    "Current Phase",
    "Current Phase Name",
    "Current Plan",
    "Total Phases",
    "Total Plans in Phase",
    "Last Activity Description",
    "Paused At",
];

/// Moves the position before the first phase of the milestone `version`. A missing STATE.md is created.
pub(crate) fn switch(
    view: &ProjectView,
    version: &str,
    name: Option<&str>,
    facts: &Facts,
) -> Edited<SwitchReport, Failure> {
    let version = one_line(version);
    let in_roadmap = || {
        let text = view.text(&view.layout().roadmap())?;
        Ok::<_, Failure>(
            text.and_then(|text| Milestone::find(&Roadmap::parse_for(&text, Some(&version)), Some(&version)).name),
        )
    };
    let name = match name.map(one_line).filter(|name| !name.is_empty()) {
        Some(name) => name,
        None => in_roadmap()?.unwrap_or_else(|| "milestone".to_owned()),
    };
    let written = open(view)?.map(State::text).filter(|text| !text.trim().is_empty());
    let state = State::parse(written.unwrap_or("# Project State\n"));
    let mut edit = StateEdit::new(&state);
    edit.put("Phase", "Not started (defining requirements)");
    edit.put("Plan", "—");
    edit.put("Status", DEFINING);
    edit.put("Last activity", &format!("{} — Milestone {version} started", facts.today));
    for label in OVER {
        clear(&mut edit, label, "—");
    }
    clear(&mut edit, "Progress", &progress_bar(0));
    edit.withdraw_items(NEXT_STEPS, START_NEXT);
    let written = index(&state, &version, &name, facts).write_to(&edit.finish());
    let mut edits = Edits::default();
    edits.write(view, &view.layout().state(), written)?;
    mirror::refresh(&mut edits, view, facts)?;
    Ok((SwitchReport { switched: true, version, name, status: "planning" }, edits))
}

/// What shipping a milestone did to STATE.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shipped {
    pub(crate) text: String,
    /// The counts of completed work stayed higher than those on disk.
    pub(crate) kept_progress: bool,
}

/// Moves the position after the milestone `version`. The counters are those of `view`, in which its phases still exist.
pub(crate) fn ship(
    view: &ProjectView,
    mut edit: StateEdit<'_, '_>,
    version: &str,
    next_command: Option<&str>,
    facts: &Facts,
) -> Result<Shipped, Failure> {
    edit.put("Phase", &format!("Milestone {version} complete"));
    edit.put("Plan", "—");
    edit.put("Status", AWAITING_MILESTONE);
    edit.put("Last activity", &format!("{} — Milestone {version} completed and archived", facts.today));
    for label in OVER {
        clear(&mut edit, label, "—");
    }
    edit.remove_field("Progress");
    let how = next_command.map(|command| format!(" with {command}")).unwrap_or_default();
    let step = format!("{START_NEXT}{how}");
    if !edit.has_item(&[NEXT_STEPS], &step) {
        edit.append_entry(NEXT_STEPS, &[format!("- {step}")]);
    }
    let written = close(view, edit, Rule::Measure, facts)?;
    let progress = Progress::written(&State::parse(&written.text)).unwrap_or_default();
    let counts = MilestoneCounts::of(view)?;
    let more = |told: Option<u64>, found: u64| told.is_some_and(|told| told > found);
    let kept_progress = more(progress.completed_phases, counts.completed_phases)
        || more(progress.completed_plans, counts.completed_plans);
    Ok(Shipped { text: written.text, kept_progress })
}

/// Removes a field; in a table, where rows are fixed, its value becomes `nothing`.
fn clear(edit: &mut StateEdit<'_, '_>, label: &str, nothing: &str) {
    match edit.state().field(label) {
        Some(field) if field.in_table => {
            edit.set(label, nothing);
        }
        Some(_) => edit.remove_field(label),
        None => {}
    }
}

fn index(state: &State<'_>, version: &str, name: &str, facts: &Facts) -> Index {
    let mut index = Index::default();
    for key in KEYS.iter().map(|key| key.name).filter(|key| *key != "progress") {
        let value = match key {
            "gsd_state_version" => state.front_text(key).or_else(|| Some("1.0".to_owned())),
            "milestone" => Some(version.to_owned()),
            "milestone_name" => Some(name.to_owned()),
            "status" => Some("planning".to_owned()),
            "last_updated" => Some(facts.now.clone()),
            "last_activity" => Some(facts.today.clone()),
            _ => None,
        };
        index.set(key, value);
    }
    index.progress = Some(as_progress(MilestoneCounts::default(), true));
    index
}
