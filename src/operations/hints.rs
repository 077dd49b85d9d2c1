//! What a person can do about an error of an operation. The command that fails adds it to the message.

use std::error::Error;

use super::agents::instructions::InstructionsError;
use super::answers::token::BadToken;
use super::audit::acknowledge::AcknowledgeError;
use super::code::refactor::RefactorError;
use super::documents::configuration::ConfigurationError;
use super::documents::frontmatter::FrontMatterError;
use super::import::gsd2::ImportError;
use super::milestones::archive::ArchiveError;
use super::milestones::complete::MilestoneError;
use super::notes::handoff::HandoffError;
use super::notes::quick_tasks::QuickTaskError;
use super::notes::todos::TodoError;
use super::notes::windows::WindowsError;
use super::phases::add::AddError;
use super::phases::complete::Incomplete;
use super::phases::remove::RemoveError;
use super::phases::scaffold::ScaffoldError;
use super::plans::index::PlanIndexError;
use super::roadmap::upgrade::UpgradeError;
use super::state::{NO_STATE_CURE, StateError};
use super::verification::human_checks::HumanCheckError;
use super::workstream::CreateError;
use crate::project::files::FileError;
use crate::project::state::quick::QuickTableError;
use crate::project::unclosed::UnclearSummary;
use crate::project::workstream::WorkstreamNameError;
use crate::text::NameError;
use crate::text::shell::typed;

const PHASES: &str = "`gsd-tools roadmap analyze` lists the phases";
/// What to do about a roadmap that is not there.
pub(crate) const NO_ROADMAP: &str = "restore `.planning/ROADMAP.md` from git, or write it; `gsd-tools guide new-project` describes how a project starts";
const CORRECT_LINE: &str = "correct that line; nothing was written";

/// The hint for `error`, where one of these rooms made it.
pub(crate) fn hint_of(error: &(dyn Error + 'static)) -> Option<String> {
    of(error, FileError::hint)
        .or_else(|| of(error, of_state))
        .or_else(|| of(error, of_add))
        .or_else(|| of(error, of_complete))
        .or_else(|| of(error, of_remove))
        .or_else(|| of(error, of_scaffold))
        .or_else(|| of(error, of_milestone))
        .or_else(|| of(error, of_archive))
        .or_else(|| of(error, of_upgrade))
        .or_else(|| of(error, of_human_check))
        .or_else(|| of(error, of_quick_task))
        .or_else(|| of(error, of_todo))
        .or_else(|| of(error, WindowsError::hint))
        .or_else(|| of(error, of_handoff))
        .or_else(|| of(error, of_workstream))
        .or_else(|| of(error, of_import))
        .or_else(|| of(error, of_configuration))
        .or_else(|| of(error, of_front_matter))
        .or_else(|| of(error, of_instructions))
        .or_else(|| of(error, of_plans))
        .or_else(|| of(error, of_acknowledge))
        .or_else(|| of(error, of_refactor))
        .or_else(|| of(error, |_: &BadToken| own("`gsd-tools state json --pick token` prints a token")))
        .or_else(|| of(error, |_: &WorkstreamNameError| own("`gsd-tools workstream list` lists the workstreams")))
}

fn of<E: Error + 'static>(error: &(dyn Error + 'static), hint: impl FnOnce(&E) -> Option<String>) -> Option<String> {
    hint(error.downcast_ref::<E>()?)
}

#[expect(clippy::unnecessary_wraps, reason = "most hints are one arm among others that give none")]
fn own(hint: &str) -> Option<String> {
    Some(hint.to_owned())
}

fn of_state(error: &StateError) -> Option<String> {
    match error {
        StateError::Garbled { is_lost: false, .. } => own(CORRECT_LINE),
        StateError::Garbled { .. } => {
            own("restore it from git, or set it aside and create a new one: `gsd-tools state rebuild --set-aside`")
        }
        StateError::File(error) => error.hint(),
    }
}

fn of_add(error: &AddError) -> Option<String> {
    match error {
        AddError::File(error) => error.hint(),
        AddError::NoRoadmap | AddError::NotARoadmap { .. } => own(NO_ROADMAP),
        AddError::NoTarget { .. } => own(PHASES),
        AddError::NoSection { .. } => own("add the section first; `gsd-tools roadmap validate` lists what is missing"),
        AddError::Taken { .. } => own("choose another identifier, or leave out `--id` to use the next number"),
        AddError::Name(error) => of_name(error),
        AddError::NoName => own("describe the phase in words, such as `gsd-tools phase add \"Search\"`"),
    }
}

fn of_complete(error: &Incomplete) -> Option<String> {
    match error {
        Incomplete::NotFound { .. } => {
            own("`gsd-tools roadmap analyze` lists the phases; one without a folder has nothing to complete yet")
        }
        Incomplete::NoRoadmap { .. } => own(NO_ROADMAP),
        Incomplete::Ambiguous { .. } => own("rename or remove the folders that do not belong to the phase"),
        Incomplete::PlansOpen { phase, .. } => Some(format!(
            "execute these plans first; `{}` lists the plans",
            typed!("gsd-tools phase-plan-index {}", phase)
        )),
        Incomplete::PlansBlocked { .. } | Incomplete::PlansHalted { .. } => {
            own("resolve what the summary describes, then execute the plan again")
        }
        Incomplete::Earlier { .. } => own("`gsd-tools roadmap validate` names lines that are not read"),
        Incomplete::PlanUnread { .. } => own("rename it, then execute it"),
        Incomplete::PlanUnclear { .. } => Some(UnclearSummary::CURE.to_owned()),
        Incomplete::NotVerified { command, phase, .. } if command.is_empty() => {
            Some(format!("`{}` shows the report", typed!("gsd-tools verification status {}", phase)))
        }
        Incomplete::NotVerified { command, .. } => Some(format!("next: `{command}`")),
        Incomplete::ScopeUnknown { unseen, .. } => Some(unseen.cure()),
        Incomplete::File(error) => error.hint(),
        Incomplete::State(error) => of_state(error),
    }
}

fn of_remove(error: &RemoveError) -> Option<String> {
    match error {
        RemoveError::File(error) => error.hint(),
        RemoveError::State(error) => of_state(error),
        RemoveError::NoRoadmap => own(NO_ROADMAP),
        RemoveError::NotFound { .. } => own(PHASES),
        RemoveError::Ambiguous { .. } => own("rename or remove the folders that do not belong to the phase"),
        RemoveError::Shipped { .. } => {
            Some("its phases are history; `--force` takes the phase out of it all the same".to_owned())
        }
        RemoveError::Executed { phase, .. } => {
            Some(format!("`{}` removes it with its summaries", typed!("gsd-tools phase remove {} --force", phase)))
        }
    }
}

fn of_scaffold(error: &ScaffoldError) -> Option<String> {
    match error {
        ScaffoldError::File(error) => error.hint(),
        ScaffoldError::NoPhase { phase } => {
            Some(format!("create it: `{}`", typed!("gsd-tools scaffold phase-dir --phase {} --name NAME", phase)))
        }
        ScaffoldError::NoName => own("`gsd-tools scaffold phase-dir --phase 3 --name \"Search\"`"),
        ScaffoldError::NotAPhase { .. } => own("write it as `3` or `3.1`"),
        ScaffoldError::Name(error) => of_name(error),
    }
}

fn of_milestone(error: &MilestoneError) -> Option<String> {
    match error {
        MilestoneError::File(error) => error.hint(),
        MilestoneError::State(error) => of_state(error),
        MilestoneError::Label(error) => of_archive(error),
        MilestoneError::NoRoadmap => own(NO_ROADMAP),
        MilestoneError::NoPhases { .. } => own(PHASES),
        MilestoneError::Folded { .. } => own("`gsd-tools progress` shows the current milestone"),
        MilestoneError::Archived { archive, .. } => Some(format!("to complete it again, move `{archive}` away first")),
        MilestoneError::Unstarted { .. } | MilestoneError::Open { .. } => {
            own("finish or remove these phases, or pass `--force`")
        }
        MilestoneError::ScopeUnknown { unseen, .. } => Some(format!("{}, or pass `--force`", unseen.cure())),
    }
}

fn of_archive(error: &ArchiveError) -> Option<String> {
    match error {
        ArchiveError::File(error) => error.hint(),
        ArchiveError::Label { .. } => own("write it as ROADMAP.md does, such as `v1.0`"),
        ArchiveError::Taken { owner, .. } => {
            let call = typed!("gsd-tools phases clear --confirm --archive-version {}", owner);
            Some(format!("archive them under their own: `{call}`; or pass --force to mix the two"))
        }
        ArchiveError::Open { .. } => own("finish them, or pass --force to archive them as they are"),
        ArchiveError::Unreadable { unseen } => Some(format!("{}; or pass `--archive-version v1.0`", unseen.cure())),
        ArchiveError::NotConfirmed { .. } => own("pass --confirm to do it, or --dry-run to see what would move"),
    }
}

fn of_upgrade(error: &UpgradeError) -> Option<String> {
    match error {
        UpgradeError::File(error) => error.hint(),
        UpgradeError::State(error) => of_state(error),
        UpgradeError::Configuration(error) => of_configuration(error),
        UpgradeError::NoRoadmap => own(NO_ROADMAP),
        UpgradeError::Twice { .. } => own("move the phase below one of the milestones; nothing was changed"),
        UpgradeError::Zero { .. } => own("give the milestone a number from 1; nothing was changed"),
        UpgradeError::Taken { .. } => own("rename that folder; nothing was changed"),
    }
}

fn of_human_check(error: &HumanCheckError) -> Option<String> {
    match error {
        HumanCheckError::NotFound { .. } => own(PHASES),
        HumanCheckError::NotWaiting { command, .. } if !command.is_empty() => Some(format!("next: `{command}`")),
        HumanCheckError::NotWaiting { .. } => {
            own("only checks of a report with the status `human_needed` can be deferred")
        }
        HumanCheckError::NoEntry { .. } => own("add an entry with `test` and `expected` to the report"),
        HumanCheckError::NoState => own(NO_STATE_CURE),
        HumanCheckError::FrontMatter { .. } => own(CORRECT_LINE),
        HumanCheckError::File(error) => error.hint(),
        HumanCheckError::State(error) => of_state(error),
    }
}

fn of_quick_task(error: &QuickTaskError) -> Option<String> {
    match error {
        QuickTaskError::State(error) => of_state(error),
        QuickTaskError::NoState => own(NO_STATE_CURE),
        QuickTaskError::Table { reason: QuickTableError::Schema { .. }, .. } => {
            own("`gsd-tools quick-tasks-migrate` converts older tables; rename other columns by hand")
        }
        QuickTaskError::Table { .. } => own(
            "add the section `### Quick Tasks Completed` with a table to STATE.md, or run `gsd-tools state rebuild`",
        ),
    }
}

fn of_todo(error: &TodoError) -> Option<String> {
    match error {
        TodoError::Unreadable(error) | TodoError::FrontMatter(FrontMatterError::Unreadable(error)) => error.hint(),
        TodoError::FrontMatter(_) => own(CORRECT_LINE),
        TodoError::NotAName { .. } | TodoError::Missing { .. } => own("`gsd-tools list-todos` lists the todos"),
        TodoError::Taken { .. } => own("rename one of the two files"),
    }
}

fn of_handoff(error: &HandoffError) -> Option<String> {
    match error {
        HandoffError::Unreadable(error) | HandoffError::FrontMatter(FrontMatterError::Unreadable(error)) => {
            error.hint()
        }
        HandoffError::FrontMatter(_) => own(CORRECT_LINE),
        HandoffError::Missing { .. } | HandoffError::Elsewhere { .. } => {
            own("write it first, in the folder of the phase; `gsd-tools handoff write --help` shows an example")
        }
        HandoffError::Empty { .. } => own("fill the block in; nothing was written"),
    }
}

fn of_workstream(error: &CreateError) -> Option<String> {
    match error {
        CreateError::File(error) => error.hint(),
        CreateError::Name(error) => of_name(error),
        CreateError::Nameless(_) => own("name it with letters or digits, such as `billing`"),
        CreateError::SameName(_) => own("`gsd-tools workstream create --help` shows an example"),
    }
}

fn of_name(error: &NameError) -> Option<String> {
    match error {
        NameError::Control { .. } => own("write the name in one line; details belong into the section of the phase"),
        NameError::TooLong { .. } => own("give a short name; details belong into the section of the phase"),
    }
}

fn of_import(error: &ImportError) -> Option<String> {
    match error {
        ImportError::File(error) => error.hint(),
        ImportError::State(error) => of_state(error),
        ImportError::Configuration(error) => of_configuration(error),
    }
}

fn of_configuration(error: &ConfigurationError) -> Option<String> {
    match error {
        ConfigurationError::Unreadable(error) => error.hint(),
        _ => None,
    }
}

/// Commands that change front matter add what becomes of the file.
fn of_front_matter(error: &FrontMatterError) -> Option<String> {
    match error {
        FrontMatterError::Unreadable(error) => error.hint(),
        FrontMatterError::Key { .. } => own("name it with letters, digits, `_` and `-`"),
        _ => None,
    }
}

fn of_acknowledge(error: &AcknowledgeError) -> Option<String> {
    match error {
        AcknowledgeError::File(error) => error.hint(),
        _ => None,
    }
}

fn of_instructions(error: &InstructionsError) -> Option<String> {
    match error {
        InstructionsError::File(error) => error.hint(),
        _ => None,
    }
}

fn of_plans(error: &PlanIndexError) -> Option<String> {
    match error {
        PlanIndexError::Unreadable(error) => error.hint(),
        PlanIndexError::Cycle { .. } => None,
        PlanIndexError::SameName { other, .. } => {
            Some(format!("rename {other} and its summary, or remove one of them"))
        }
    }
}

fn of_refactor(error: &RefactorError) -> Option<String> {
    match error {
        RefactorError::File(error) => error.hint(),
        RefactorError::Baseline { .. } => own("correct the file, or move it away"),
        RefactorError::NoProposal { phase } => {
            Some(format!("look for one: `{}`", typed!("gsd-tools refactor evaluate --phase {}", phase)))
        }
        RefactorError::Broken { .. } => own("correct the front matter"),
    }
}
