//! What is said to make the checks of a phase's plans fail: a check that nothing can turn red proves nothing.

use schemars::JsonSchema;
use serde::Serialize;

use super::commands::{CheckCounts, Severity, checks, is_sentinel};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::plan::PlanCheck;
use crate::project::view::ProjectView;

/// What `check verify-failure-directions` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DirectionsReport {
    status: DirectionsStatus,
    commands: Vec<Direction>,
    counts: CheckCounts,
    /// Why the plans could not be looked at.
    #[serde(rename = "readError")]
    read_error: Option<String>,
}

impl DirectionsReport {
    /// What is wrong: whether it must be repaired, the plan, and a sentence.
    pub(crate) fn findings(&self) -> Vec<(bool, String, String)> {
        let wrong = self.commands.iter().filter(|command| command.severity != Severity::None);
        wrong
            .map(|command| {
                let sentence = match command.status {
                    DirectionStatus::Orphan => format!("task `{}` has <fails_when> without a command", command.task),
                    _ => format!("`{}` has no <fails_when>: describe when it fails", command.command),
                };
                (command.severity == Severity::Blocker, command.plan.clone(), sentence)
            })
            .collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DirectionsStatus {
    Ok,
    Blocked,
    Unresolvable,
}

/// One command and what is said to make it fail.
#[derive(Debug, Serialize, JsonSchema)]
struct Direction {
    command: String,
    statement: Option<String>,
    status: DirectionStatus,
    severity: Severity,
    plan: String,
    task: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DirectionStatus {
    Ok,
    Missing,
    Empty,
    /// Words that stand for a statement and are none.
    Placeholder,
    /// A statement without a command before it.
    Orphan,
    /// The command is still to be made.
    Sentinel,
}

/// The report that says so.
pub(crate) fn unresolved(why: String) -> DirectionsReport {
    let counts = CheckCounts::default();
    DirectionsReport { status: DirectionsStatus::Unresolvable, commands: Vec::new(), counts, read_error: Some(why) }
}

/// Whether the commands of a phase's plans say what makes them fail.
pub(crate) fn directions(view: &ProjectView, folder: &PhaseFolder) -> Result<DirectionsReport, FileError> {
    let mut commands = Vec::new();
    for (plan, check) in checks(view, folder)? {
        let status = direction(&check);
        let severity = match status {
            DirectionStatus::Ok | DirectionStatus::Sentinel => Severity::None,
            DirectionStatus::Orphan => Severity::Warning,
            DirectionStatus::Missing | DirectionStatus::Empty | DirectionStatus::Placeholder => Severity::Blocker,
        };
        let PlanCheck { command, fails_when, task } = check;
        commands.push(Direction {
            command: command.unwrap_or_default(),
            statement: fails_when,
            status,
            severity,
            plan,
            task,
        });
    }
    let counts = CheckCounts::of(commands.iter().map(|command| command.severity));
    let status = if counts.blocker > 0 { DirectionsStatus::Blocked } else { DirectionsStatus::Ok };
    Ok(DirectionsReport { status, commands, counts, read_error: None })
}

fn direction(check: &PlanCheck) -> DirectionStatus {
    let Some(command) = &check.command else { return DirectionStatus::Orphan };
    if is_sentinel(command) {
        return DirectionStatus::Sentinel;
    }
    match check.fails_when.as_deref() {
        None => DirectionStatus::Missing,
        Some("") => DirectionStatus::Empty,
        Some(statement) if stands_for_nothing(statement) => DirectionStatus::Placeholder,
        Some(_) => DirectionStatus::Ok,
    }
}

fn stands_for_nothing(statement: &str) -> bool {
    let word: String = statement.chars().filter(|letter| letter.is_alphanumeric()).collect();
    word.is_empty()
        || ["todo", "tbd", "na", "none", "unknown", "fixme", "placeholder", "null", "xxx"]
            .contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::plans::commands::tests::with_plan;

    #[test]
    fn each_command_says_what_makes_it_fail() {
        use DirectionStatus::{Empty, Missing, Ok, Orphan, Placeholder, Sentinel};
        let told = |checks: &str| {
            with_plan(checks, |view, folder| {
                let report = directions(view, folder).unwrap();
                let each = report.commands.iter().map(|direction| direction.status).collect::<Vec<_>>();
                (report.status, each)
            })
        };
        assert_eq!(
            told("<automated>a</automated><fails_when>the table is gone</fails_when>"),
            (DirectionsStatus::Ok, vec![Ok])
        );
        assert_eq!(
            told(
                "<fails_when>x</fails_when><automated>a</automated><automated>b</automated><fails_when> TBD. </fails_when>"
            ),
            (DirectionsStatus::Blocked, vec![Orphan, Missing, Placeholder])
        );
        assert_eq!(told("<automated>MISSING — later</automated>"), (DirectionsStatus::Ok, vec![Sentinel]));
        assert_eq!(told("<automated>a</automated><fails_when></fails_when>"), (DirectionsStatus::Blocked, vec![Empty]));
    }
}
