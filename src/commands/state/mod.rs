//! `state`: reads STATE.md, moves the position, and records metrics, decisions, blockers and sessions.

pub(in crate::commands) mod answer;
mod notes;
mod position;
mod read;
mod upkeep;

use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::state::NO_STATE;
use crate::project::{repository, root};

verbs! {
    "State", after refuse_moved_worktree;

    /// Show and update STATE.md, the current position of the project
    ///
    /// Without a subcommand, shows milestone, phase and status at a terminal; to programs it prints the same as
    /// `gsd-tools state load`.
    ///
    /// Example: `gsd-tools state` shows where the project is.
    "state": reads json(read::LoadReport) = read::load();

    /// Print the configuration, STATE.md and which documents exist
    ///
    /// With `--raw`, prints the main settings as `key=value` lines.
    ///
    /// Example: `gsd-tools state load --pick config.model_profile`.
    "state load": reads json(read::LoadReport) = read::load();

    /// Print the front matter of STATE.md, computed from the current files
    ///
    /// Reads STATE.md, ROADMAP.md and the phase folders. The front matter in the file itself may be out of date.
    ///
    /// Example: `gsd-tools state json --pick progress.percent`.
    "state json": reads seen(crate::peer::answers::FailureReport, crate::operations::state::read::IndexReport) = read::json();

    /// Print a field, a front matter key or a section of STATE.md
    ///
    /// Searches in that order. Without a name, prints the whole file.
    ///
    /// Example: `gsd-tools state get "Current focus" --raw`.
    "state get": reads json(std::collections::BTreeMap<String, String>, read::ContentReport, crate::peer::answers::FailureReport)
        = read::get(read::GetArgs);

    /// Set one field of STATE.md
    ///
    /// Sets a field of the body, or else a key of the front matter. Keys that are computed from the roadmap, the body
    /// or the files cannot be set.
    ///
    /// Example: `gsd-tools state update "Last activity" "2026-01-02 — Fixed the build"`.
    "state update": writes json(crate::operations::state::update::UpdateReport)
        = position::update(position::UpdateArgs);

    use crate::peer::state::PATCH;

    /// Set the position to the first open plan of a phase
    ///
    /// Writes STATE.md, and records which session works on the milestone, so that a second session is warned. A phase
    /// that was begun before keeps its current plan.
    ///
    /// Example: `gsd-tools state begin-phase --phase 3 --name Sync --plans 2`.
    "state begin-phase": writes json(crate::peer::answers::FailureReport, crate::operations::state::position::BeginReport)
        = position::begin(position::PhaseArgs);

    /// Record that a phase is planned and ready to be executed
    ///
    /// Writes STATE.md and ROADMAP.md. A completed phase that has a new plan is open again.
    ///
    /// Example: `gsd-tools state planned-phase --phase 3 --name Sync --plans 2`.
    "state planned-phase": writes json(crate::peer::answers::FailureReport, crate::operations::state::position::PlannedReport)
        = position::planned(position::PhaseArgs);

    use crate::peer::state::ADVANCE_PLAN;

    use crate::peer::state::RECORD_METRIC;

    use crate::peer::state::UPDATE_PROGRESS;

    use crate::peer::state::ADD_DECISION;

    /// Add a blocker to STATE.md
    ///
    /// Example: `gsd-tools state add-blocker --text "The API is down"`.
    "state add-blocker": writes json(crate::peer::answers::FailureReport, crate::operations::state::notes::NoteReport)
        = notes::add_blocker(notes::BlockerArgs);

    /// Remove the blockers that contain a text
    ///
    /// Example: `gsd-tools state resolve-blocker --text "API"`.
    "state resolve-blocker": writes json(crate::peer::answers::FailureReport, crate::operations::state::notes::NoteReport)
        = notes::resolve_blocker(notes::ResolveArgs);

    /// Record where work stopped and which file to resume from
    ///
    /// Needs at least one of the two flags.
    ///
    /// Example: `gsd-tools state record-session --stopped-at "Completed 02-01-PLAN.md" --resume-file None`.
    "state record-session": writes json(crate::peer::answers::FailureReport, crate::operations::state::notes::NoteReport)
        = notes::record_session(notes::SessionArgs);

    /// Record in STATE.md that a phase is complete
    ///
    /// Does not check the plans or change ROADMAP.md: use `gsd-tools phase complete` for that. A position at a later
    /// phase does not move back.
    ///
    /// Example: `gsd-tools state complete-phase --phase 2`.
    "state complete-phase": writes json(crate::peer::answers::FailureReport, crate::operations::state::position::Completed)
        = position::complete(position::CompleteArgs);

    /// Start a milestone in STATE.md: reset the position and the counts
    ///
    /// Decisions and blockers are kept. Creates STATE.md if it is missing.
    ///
    /// Example: `gsd-tools state milestone-switch --milestone v2.0 --name Teams`.
    "state milestone-switch": writes json(crate::peer::answers::FailureReport, crate::operations::state::switch::SwitchReport)
        = upkeep::milestone_switch(upkeep::SwitchArgs);

    /// Record how the roadmap changed
    ///
    /// Adds a line to STATE.md. A change that is recorded already is not added again.
    ///
    /// Example: `gsd-tools state add-roadmap-evolution --phase 5 --action inserted --after 4 --note "Hot fix"
    /// --urgent`.
    "state add-roadmap-evolution": writes json(
        crate::peer::answers::FailureReport,
        crate::operations::state::notes::NoteReport,
    )
        = notes::add_evolution(notes::EvolutionArgs);

    use crate::peer::state::SIGNAL_WAITING;

    use crate::peer::state::SIGNAL_RESUME;

    /// Check STATE.md against the files
    ///
    /// Compares the position and its counts with the folder of the current phase. Changes nothing; each finding has a
    /// code and a fix. Exits 0 unless `--strict` is given.
    ///
    /// Example: `gsd-tools state validate --strict` exits 1 if something differs.
    "state validate": reads json(crate::peer::answers::FailureReport, crate::operations::state::validate::ValidateReport)
        = upkeep::validate(upkeep::ValidateArgs);

    /// Update the counts and the last activity in STATE.md
    ///
    /// Counts the plans and summaries on disk. Lists each change, and what cannot be counted.
    ///
    /// Example: `gsd-tools state sync --verify` lists the changes without making them.
    "state sync": writes json(crate::peer::answers::FailureReport, crate::operations::state::sync::SyncReport)
        = upkeep::sync(upkeep::SyncArgs);

    use crate::peer::state::PRUNE;

    /// Create a missing STATE.md, or update its table of phases
    ///
    /// A missing STATE.md is created from ROADMAP.md and the phase folders. In an existing one, the table of phases is
    /// updated, and an empty position is filled in. With `--set-aside`, a STATE.md that cannot be read or parsed is
    /// renamed first.
    ///
    /// Example: `gsd-tools state rebuild --dry-run --verbose`.
    "state rebuild": writes json(crate::peer::answers::FailureReport, crate::operations::state::rebuild::RebuildReport)
        = upkeep::rebuild(upkeep::RebuildArgs);

    /// Print STATE.md as JSON: position, decisions, blockers, session
    ///
    /// Example: `gsd-tools state-snapshot --pick session.stopped_at`.
    "state-snapshot": reads json(
        crate::peer::answers::FailureReport,
        crate::operations::state::read::SnapshotReport,
    ) = read::snapshot();

    /// Show where the project is and the next command
    ///
    /// Reads STATE.md, ROADMAP.md, the phase folders and `git status`.
    ///
    /// Example: `gsd-tools smart-entry --json --pick recommended`.
    "smart-entry": reads json(crate::operations::state::situation::EntryReport) = read::smart_entry(read::EntryArgs);
}

/// In a worktree, documents that git ignores are those of the main worktree, which is only found if both know each
/// other.
fn refuse_moved_worktree(context: &Context) -> Result<(), Failure> {
    if root::has_documents(context.root()) {
        return Ok(());
    }
    match repository::repository_of_others(context.root()).filter(repository::OtherRepository::is_moved_worktree) {
        Some(moved) => Err(Failure::usage(format!("{NO_STATE}: {moved}")).hint(moved.hint())),
        None => Ok(()),
    }
}
