//! STATE.md: reading it, moving the position, noting what work left behind.

pub(in crate::commands) mod answer;
mod notes;
mod position;
mod read;
mod upkeep;

pub(in crate::commands) use read::entry;

use crate::commands::frame::{CommandError, Context, verbs};
use crate::operations::state::NO_STATE;
use crate::project::{repository, root};

verbs! {
    "State", after refuse_moved_worktree;

    /// Show and update STATE.md, which says where a project is
    ///
    /// Example: `gsd-tools state` prints the configuration and the text of STATE.md.
    "state": reads json(read::LoadReport) = read::load();

    /// Print configuration, STATE.md and which documents exist
    ///
    /// Example: `gsd-tools state load --pick config.model_profile`.
    "state load": reads json(read::LoadReport) = read::load();

    /// Print the front matter as body, disk and roadmap tell it now
    ///
    /// Example: `gsd-tools state json --pick progress.percent`.
    "state json": reads seen(answer::FailureReport, crate::operations::state::read::IndexReport) = read::json();

    /// Print a field, a key of the front matter, or a section
    ///
    /// Example: `gsd-tools state get "Current focus" --raw`.
    "state get": reads json(std::collections::BTreeMap<String, String>, read::ContentReport, answer::FailureReport)
        = read::get(read::GetArgs);

    /// Set one field
    ///
    /// Example: `gsd-tools state update "Last activity" "2026-01-02 — Fixed the build"`.
    "state update": writes json(crate::operations::state::update::UpdateReport)
        = position::update(position::UpdateArgs);

    /// Set several fields at once
    ///
    /// Example: `gsd-tools state patch --Status Paused --"Resume file" .planning/notes.md`; or one JSON object:
    /// `gsd-tools state patch '{"Status": "Paused"}'`.
    "state patch": writes json(answer::FailureReport, crate::operations::state::update::PatchReport)
        = position::patch(position::PatchArgs);

    /// Set the position to the first open plan of a phase
    ///
    /// Example: `gsd-tools state begin-phase --phase 3 --name Sync --plans 2`.
    "state begin-phase": writes json(answer::FailureReport, crate::operations::state::position::BeginReport)
        = position::begin(position::PhaseArgs);

    /// Record that a phase is planned and ready to be executed
    ///
    /// Example: `gsd-tools state planned-phase --phase 3 --name Sync --plans 2`.
    "state planned-phase": writes json(answer::FailureReport, crate::operations::state::position::PlannedReport)
        = position::planned(position::PhaseArgs);

    /// Set the position to the next plan
    ///
    /// Example: `gsd-tools state advance-plan --raw` prints `false` behind the last plan.
    "state advance-plan": writes json(answer::FailureReport, crate::operations::state::advance::AdvanceReport)
        = position::advance();

    /// Record what a plan took
    ///
    /// Example: `gsd-tools state record-metric --phase 2 --plan 1 --duration 15min --tasks 3 --files 4`.
    "state record-metric": writes json(crate::operations::state::notes::NoteReport)
        = notes::record_metric(notes::MetricArgs);

    /// Update the counts of plans and phases
    ///
    /// Example: `gsd-tools state update-progress --raw` prints `[████░░░░░░] 40%`.
    "state update-progress": writes json(answer::FailureReport, crate::operations::state::notes::ProgressUpdate)
        = notes::update_progress();

    /// Add a decision
    ///
    /// Example: `gsd-tools state add-decision --phase 2 --summary "Use REST" --rationale "simple"`.
    "state add-decision": writes json(crate::operations::state::notes::NoteReport)
        = notes::add_decision(notes::DecisionArgs);

    /// Add a blocker
    ///
    /// Example: `gsd-tools state add-blocker --text "The API is down"`.
    "state add-blocker": writes json(crate::operations::state::notes::NoteReport)
        = notes::add_blocker(notes::BlockerArgs);

    /// Remove the blockers that contain a text
    ///
    /// Example: `gsd-tools state resolve-blocker --text "API"`.
    "state resolve-blocker": writes json(crate::operations::state::notes::NoteReport)
        = notes::resolve_blocker(notes::ResolveArgs);

    /// Record where work stopped and from which file it resumes
    ///
    /// Example: `gsd-tools state record-session --stopped-at "Completed 02-01-PLAN.md" --resume-file None`.
    "state record-session": writes json(crate::operations::state::notes::NoteReport)
        = notes::record_session(notes::SessionArgs);

    /// Record that a phase is complete, in STATE.md alone
    ///
    /// Example: `gsd-tools state complete-phase --phase 2`.
    "state complete-phase": writes json(answer::FailureReport, crate::operations::state::position::CompleteReport)
        = position::complete(position::CompleteArgs);

    /// Switch to a milestone: position and counters start over
    ///
    /// Example: `gsd-tools state milestone-switch --milestone v2.0 --name Teams`.
    "state milestone-switch": writes json(answer::FailureReport, crate::operations::state::switch::SwitchReport)
        = upkeep::milestone_switch(upkeep::SwitchArgs);

    /// Record how the roadmap changed
    ///
    /// Example: `gsd-tools state add-roadmap-evolution --phase 5 --action inserted --after 4 --note "Hot fix" --urgent`.
    "state add-roadmap-evolution": writes json(crate::operations::state::notes::NoteReport)
        = notes::add_evolution(notes::EvolutionArgs);

    /// Record that the work waits for an answer
    ///
    /// Example: `gsd-tools state signal-waiting --type decision_point --question "Which?" --options "A|B" --phase 2`.
    "state signal-waiting": writes json(crate::operations::state::signal::WaitingReport)
        = upkeep::signal_waiting(upkeep::WaitingArgs);

    /// Record that the work no longer waits
    ///
    /// Example: `gsd-tools state signal-resume --pick removed`.
    "state signal-resume": writes json(crate::operations::state::signal::ResumeReport) = upkeep::signal_resume();

    /// Check STATE.md against the disk
    ///
    /// Example: `gsd-tools state validate --strict` exits 1 where something does not agree.
    "state validate": reads json(answer::FailureReport, crate::operations::state::validate::ValidateReport)
        = upkeep::validate(upkeep::ValidateArgs);

    /// Update the counts in STATE.md
    ///
    /// Example: `gsd-tools state sync --verify` only tells what would change.
    "state sync": writes json(answer::FailureReport, crate::operations::state::sync::SyncReport)
        = upkeep::sync(upkeep::SyncArgs);

    /// Archive entries of old phases in STATE-ARCHIVE.md
    ///
    /// Example: `gsd-tools state prune --keep-recent 3 --dry-run`.
    "state prune": writes json(answer::FailureReport, crate::operations::state::prune::PruneReport)
        = upkeep::prune(upkeep::PruneArgs);

    /// Create a missing STATE.md, or update its table of phases from the disk
    ///
    /// A missing STATE.md is created from ROADMAP.md and the phase folders. In one that is there, the table of phases is
    /// updated, and a position that names no phase is filled in, with a log. With `--set-aside`, a STATE.md that cannot be
    /// read or parsed is kept under another name first.
    ///
    /// Example: `gsd-tools state rebuild --dry-run --verbose`.
    "state rebuild": writes json(answer::FailureReport, crate::operations::state::rebuild::RebuildReport)
        = upkeep::rebuild(upkeep::RebuildArgs);

    /// Show STATE.md as one record
    ///
    /// Example: `gsd-tools state-snapshot --pick session.stopped_at`.
    "state-snapshot": reads json(answer::FailureReport, crate::operations::state::read::SnapshotReport) = read::snapshot();

    /// Show the situation of the project and what to do next
    ///
    /// Example: `gsd-tools smart-entry --json --pick recommended`.
    "smart-entry": reads json(crate::operations::state::situation::EntryReport) = read::smart_entry(read::EntryArgs);
}

/// In a worktree, documents that git ignores are those of the main one, which is found only where both know each other.
fn refuse_moved_worktree(context: &Context) -> Result<(), CommandError> {
    if root::has_documents(context.root()) {
        return Ok(());
    }
    match repository::repository_of_others(context.root()).filter(repository::OtherRepository::is_moved_worktree) {
        Some(moved) => Err(CommandError::usage(format!("{NO_STATE}: {moved}")).hint(moved.hint())),
        None => Ok(()),
    }
}
