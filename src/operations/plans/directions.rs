//! Checks what makes the checks of a phase's plans fail, according to the plans: a check that cannot fail proves
//! nothing.

use schemars::JsonSchema;
use serde::Serialize;

use super::commands::{CheckCounts, Severity, checks, is_sentinel};
use super::found::{Found, quoted};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::plan::PlanCheck;
use crate::project::view::ProjectView;
use crate::text::words::word_list;

/// What `check verify-failure-directions` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DirectionsReport {
    status: DirectionsStatus,
    commands: Vec<Direction>,
    counts: CheckCounts,
    /// Why the plans could not be read.
    #[serde(rename = "readError")]
    read_error: Option<String>,
}

/// The problem with the statement of what makes a check fail, for the linter.
pub(super) fn finding(check: &PlanCheck, line: usize) -> Option<Found> {
    let command = check.command.as_deref().unwrap_or_default();
    match direction(check) {
        DirectionStatus::Ok | DirectionStatus::Sentinel => None,
        DirectionStatus::Orphan => {
            Some(Found::warning(line, format!("task `{}` has <fails_when> without a command", check.task)))
        }
        DirectionStatus::Missing | DirectionStatus::Empty => {
            Some(Found::error(line, format!("`{command}` has no <fails_when>: describe when it fails")))
        }
        DirectionStatus::Placeholder => {
            let said = quoted(check.fails_when.as_deref().unwrap_or_default());
            let sentence = format!(
                "`{command}` has a <fails_when> that says nothing (`{said}`): describe the broken state in which it fails"
            );
            Some(Found::error(line, sentence))
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DirectionsStatus {
    Ok,
    Blocked,
    Unresolvable,
}

/// One command, and the statement of what makes it fail.
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
    /// A placeholder instead of a statement.
    Placeholder,
    /// A statement without a command before it.
    Orphan,
    /// The command does not exist yet.
    Sentinel,
}

/// The report with that message.
pub(crate) fn unresolved(why: String) -> DirectionsReport {
    let counts = CheckCounts::default();
    DirectionsReport { status: DirectionsStatus::Unresolvable, commands: Vec::new(), counts, read_error: Some(why) }
}

/// Checks whether the plans of a phase state what makes their commands fail.
pub(crate) fn directions(view: &ProjectView, folder: &PhaseFolder) -> Result<DirectionsReport, FileError> {
    let mut commands = Vec::new();
    for (plan, check) in checks(view, folder)? {
        let status = direction(&check);
        let severity = match status {
            DirectionStatus::Ok | DirectionStatus::Sentinel => Severity::None,
            DirectionStatus::Orphan => Severity::Warning,
            DirectionStatus::Missing | DirectionStatus::Empty | DirectionStatus::Placeholder => Severity::Blocker,
        };
        let PlanCheck { command, fails_when, task, .. } = check;
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
        Some(statement) if is_hollow(statement, command) => DirectionStatus::Placeholder,
        Some(_) => DirectionStatus::Ok,
    }
}

/// Placeholders that are used instead of a statement.
const NO_STATEMENTS: &[&str] = &[
    "todo",
    "tbd",
    "na",
    "none",
    "unknown",
    "fixme",
    "placeholder",
    "null",
    "xxx",
    "never",
    "always",
    "not applicable",
];

/// Subjects of statements that say only that the check fails.
const SUBJECTS: &[&str] = word_list!(
    "it this command check test tests task build script verification verify assertion assertions code implementation
     something anything one work suite automated any feature functionality requirement requirements der die befehl"
);

/// Words that mean failing.
const FAILURES: &[&str] = word_list!(
    "fail fails failed failing failure failures error errors errored exit exits exited broken break breaks wrong
     incorrect nonzero non zero code red bad unsuccessful missing incomplete done implemented work works working pass
     passes passing correct succeed succeeds ok status returns return 1 0 met fulfilled satisfied schlägt schlagen fehl
     scheitert"
);

/// Words that connect these.
const LINKS: &[&str] = &[
    "the", "a", "an", "is", "are", "was", "if", "when", "does", "do", "not", "doesnt", "isnt", "dont", "with", "and",
    "or", "has", "have", "there", "of", "to", "on", "in", "any", "occur", "occurs", "happen", "happens", "arise",
    "thrown", "reported", "goes", "than", "other", "anything",
];

/// True if a statement says only that something fails: `it fails`, `the command exits non-zero`.
fn stands_for_nothing(statement: &str) -> bool {
    let words: Vec<String> = words_of(statement).collect();
    NO_STATEMENTS.contains(&words.concat().as_str())
        || NO_STATEMENTS.contains(&words.join(" ").as_str())
        || words
            .iter()
            .map(String::as_str)
            .all(|word| [SUBJECTS, FAILURES, LINKS].iter().any(|known| known.contains(&word)))
}

fn is_hollow(statement: &str, command: &str) -> bool {
    let bare = statement.trim();
    let is_blank = bare.starts_with('{') && bare.ends_with('}') && bare.contains(' ');
    let in_other_words = ["测试失败", "命令失败", "失败", "报错"].contains(&bare.trim_end_matches(['。', '.']));
    is_blank
        || in_other_words
        || stands_for_nothing(statement)
        || is_same(statement, command)
        || only_names_the_check(statement, command)
}

/// True if a statement says only that the program the command runs fails: `vitest fails`, `an assertion in a.test.ts
/// fails`.
fn only_names_the_check(statement: &str, command: &str) -> bool {
    let of_command: Vec<String> = words_of(command).collect();
    let says_that = words_of(statement).any(|word| {
        matches!(word.as_str(), "fail" | "fails" | "failed" | "failing" | "red" | "error" | "errors" | "exits" | "fehl")
    });
    let is_known = |word: String| {
        of_command.contains(&word) || [SUBJECTS, FAILURES, LINKS].iter().any(|known| known.contains(&word.as_str()))
    };
    says_that && words_of(statement).all(is_known)
}

/// True if two texts have the same words.
fn is_same(statement: &str, command: &str) -> bool {
    let without_failure = |word: &String| !FAILURES.contains(&word.as_str()) && !LINKS.contains(&word.as_str());
    let said: Vec<String> = words_of(statement).filter(without_failure).collect();
    !said.is_empty() && said == words_of(command).filter(without_failure).collect::<Vec<_>>()
}

/// The words of a text in lower case, without punctuation.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '\u{2019}');
    words.map(|word| word.replace(['\'', '\u{2019}'], "").to_lowercase()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::plans::commands::tests::with_plan;

    #[test]
    fn each_command_states_what_makes_it_fail() {
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
        for hollow in [
            "it fails",
            "The command fails.",
            "error",
            "any test fails",
            "The check exits with a non-zero exit code",
            "the implementation is wrong",
            "the work is not done",
            "N/A",
            "something is broken",
            "npm test -- notes",
            "`npm test -- notes` fails",
            "notes fails",
            "a test of notes fails",
            "the feature is missing",
            "requirements are not met",
            "errors occur",
            "{the broken state in which this command fails}",
            "der Test schlägt fehl",
            "测试失败",
        ] {
            let check = format!("<automated>npm test -- notes</automated><fails_when>{hollow}</fails_when>");
            assert_eq!(told(&check), (DirectionsStatus::Blocked, vec![Placeholder]), "{hollow}");
        }
        for sound in [
            "src/a.ts is missing",
            "the behaviour is missing",
            "a note without a title is stored",
            "x",
            "notes are missing",
            "the notes fail to load",
            "{} is stored as a note",
            "der Titel wird nicht geprüft",
            "the route answers 500",
        ] {
            let check = format!("<automated>npm test -- notes</automated><fails_when>{sound}</fails_when>");
            assert_eq!(told(&check), (DirectionsStatus::Ok, vec![Ok]), "{sound}");
        }
        assert_eq!(told("<automated>MISSING — later</automated>"), (DirectionsStatus::Ok, vec![Sentinel]));
        assert_eq!(told("<automated>a</automated><fails_when></fails_when>"), (DirectionsStatus::Blocked, vec![Empty]));
    }
}
