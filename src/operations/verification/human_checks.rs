//! The checks that a verification leaves to a person, deferred until the end of a milestone: a pending test in UAT.md
//! for each check, and a row in the table of deferred items in STATE.md. Both are settled when a person has made the
//! tests.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Failure, Reason};
use crate::operations::hints::{self, PHASES};
use crate::operations::state::{self, Facts, Rule, StateEdit, mirror};
use crate::project::deferred_checks::{
    CATEGORY, DeferredCheck, OPEN, deferred_rows, is_listed, is_row_of, item, of_test, rows_of,
};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::human_checks::{self, HumanCheck};
use crate::project::state::deferred::DeferredRow;
use crate::project::uat_report::UatReport;
use crate::project::verification::{self, Verification, VerificationState};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::FrontMatter;

/// What `verification defer-human` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeferReport {
    pub(crate) phase: String,
    pub(crate) uat_file: String,
    /// The number of tests that were added to the file.
    pub(crate) added: usize,
    /// All checks that wait for a person and are in the list of deferred items.
    pub(crate) deferred: Vec<DeferredCheck>,
    /// Checks that a person made and that failed. They are not deferred.
    pub(crate) failed: Vec<DeferredCheck>,
}

/// What `verification settle-human` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SettleReport {
    pub(crate) phase: String,
    /// The status of the verification after this call.
    pub(crate) status: &'static str,
    /// The number of checks that passed.
    pub(crate) passed: usize,
    /// The checks that did not pass.
    pub(crate) open: Vec<DeferredCheck>,
    /// Why nothing was written, although something was to be settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

/// Writes a pending test for each check of the phase that has none. Unless `tests_only`, also adds the checks that are
/// not made yet to the list of deferred items.
pub(crate) fn defer(
    view: &ProjectView,
    typed: &str,
    tests_only: bool,
    command_prefix: &str,
    facts: &Facts,
) -> Edited<DeferReport, Failure> {
    let folder = open_folder(view, typed)?;
    let (report_path, checks) = waiting(view, &folder, typed, command_prefix)?;
    let mut edits = Edits::default();
    let (uat_file, added) = write_tests(view, &folder, &report_path, &checks, facts, &mut edits)?;
    let known = with_tests(&view.after(&edits), &folder, &checks)?;
    let (failed, rest): (Vec<_>, Vec<_>) = known.into_iter().partition(DeferredCheck::failed);
    let waiting: Vec<DeferredCheck> = rest.into_iter().filter(|check| !check.passed()).collect();
    let deferred = if tests_only { Vec::new() } else { waiting };
    write_rows(view, &folder, &deferred, facts, &mut edits)?;
    mirror::follow(&mut edits, view, facts)?;
    Ok((DeferReport { phase: folder.token().to_owned(), uat_file, added, deferred, failed }, edits))
}

/// Updates the verification and the list of deferred items from the results in UAT.md: a verification whose checks all
/// passed is passed.
pub(crate) fn settle(view: &ProjectView, typed: &str, facts: &Facts) -> Edited<SettleReport, Failure> {
    let folder = open_folder(view, typed)?;
    let verification = verification::status(view, &folder)?;
    let Some(path) = folder.artifact_path("VERIFICATION") else {
        return Err(not_waiting(typed, &verification, ""));
    };
    let text = view.text(&path)?.unwrap_or_default();
    let known = with_tests(view, &folder, &HumanCheck::all(&text))?;
    let mut edits = Edits::default();
    let (passed, open): (Vec<_>, Vec<_>) = known.into_iter().partition(DeferredCheck::passed);
    let mut status = verification.word();
    if verification.state == VerificationState::HumanNeeded && open.is_empty() && !passed.is_empty() {
        edits.write(view, &path, accepted(&path, &text, passed.len())?)?;
        status = "passed";
    }
    settle_rows(view, &folder, facts, &passed, &open, &mut edits)?;
    mirror::follow(&mut edits, view, facts)?;
    let reason = (verification.is_stale() && edits.is_empty()).then_some("the report is stale; nothing was changed");
    Ok((SettleReport { phase: folder.token().to_owned(), status, passed: passed.len(), open, reason }, edits))
}

/// The checks of a verification that waits for a person, if every one of them passed or is deferred; otherwise empty.
pub(crate) fn all_deferred(
    view: &ProjectView,
    folder: &PhaseFolder,
    verification: &Verification,
) -> Result<Vec<DeferredCheck>, Failure> {
    if verification.state != VerificationState::HumanNeeded {
        return Ok(Vec::new());
    }
    let Some(path) = folder.artifact_path("VERIFICATION") else { return Ok(Vec::new()) };
    let checks = HumanCheck::all(&view.text(&path)?.unwrap_or_default());
    let rows = rows_of(view, folder, deferred_rows(view)?)?;
    let known = with_tests(view, folder, &checks)?;
    let is_carried = |check: &DeferredCheck| {
        check.passed() || (check.test.is_some() && !check.failed() && is_listed(&rows, folder, &check.name))
    };
    if !known.iter().all(is_carried) {
        return Ok(Vec::new());
    }
    Ok(known.into_iter().filter(|check| !check.passed()).collect())
}

/// The phase's folder, not counting archived ones.
fn open_folder(view: &ProjectView, typed: &str) -> Result<PhaseFolder, Failure> {
    let folder = view.find_phase(typed)?.folder.filter(|folder| folder.archived.is_none());
    folder.ok_or_else(|| Failure::new(Reason::PhaseNotFound, format!("there is no phase `{typed}`")).hint(PHASES))
}

fn not_waiting(typed: &str, verification: &Verification, command: &str) -> Failure {
    let (status, action) = (verification.word(), verification.next_action());
    let failure = Failure::unknown(format!("the verification of phase {typed} is `{status}`: {action}"));
    if command.is_empty() {
        return failure.hint("only checks of a report with the status `human_needed` can be deferred");
    }
    failure.hint(format!("next: `{command}`"))
}

/// The path of the report and its checks, if it waits for a person.
fn waiting(
    view: &ProjectView,
    folder: &PhaseFolder,
    typed: &str,
    command_prefix: &str,
) -> Result<(String, Vec<HumanCheck>), Failure> {
    let verification = verification::status(view, folder)?;
    let path = folder.artifact_path("VERIFICATION");
    let (VerificationState::HumanNeeded, Some(path)) = (&verification.state, path) else {
        let command = verification.next_command(command_prefix);
        return Err(not_waiting(typed, &verification, &command));
    };
    let checks = HumanCheck::all(&view.text(&path)?.unwrap_or_default());
    if checks.is_empty() {
        let message = format!("`{path}` has the status `human_needed` but no entry under `human_verification`");
        return Err(Failure::unknown(message).hint("add an entry with `test` and `expected` to the report"));
    }
    Ok((path, checks))
}

/// Adds a test for each check that has none. Returns the path of UAT.md and the number of added tests.
fn write_tests(
    view: &ProjectView,
    folder: &PhaseFolder,
    report_path: &str,
    checks: &[HumanCheck],
    facts: &Facts,
    edits: &mut Edits,
) -> Result<(String, usize), Failure> {
    let path = uat_path(folder);
    let text = view.text(&path)?;
    let tests = text.as_deref().map(UatReport::parse).unwrap_or_default().tests;
    let mut missing: Vec<&HumanCheck> = Vec::new();
    for check in checks {
        let is_there = tests.iter().any(|test| check.is_named(&test.name));
        if !is_there && !missing.iter().any(|known| known.is_named(&check.name)) {
            missing.push(check);
        }
    }
    if missing.is_empty() {
        return Ok((path, 0));
    }
    let source = report_path.rsplit('/').next().unwrap_or(report_path);
    let written = match text.as_deref() {
        Some(text) => {
            if let Some(problem) = FrontMatter::parse(text).and_then(|front| front.problem()) {
                return Err(hints::uneditable_front_matter(&path, problem));
            }
            human_checks::with_tests(text, &facts.now, &missing)
        }
        None => human_checks::new_uat(&folder.name, source, &facts.now, &missing),
    };
    edits.write(view, &path, written)?;
    Ok((path, missing.len()))
}

/// The path of the existing or new UAT.md.
fn uat_path(folder: &PhaseFolder) -> String {
    folder.artifact_path("UAT").unwrap_or_else(|| folder.join(&format!("{}-UAT.md", folder.token())))
}

/// Each check with its test.
fn with_tests(
    view: &ProjectView,
    folder: &PhaseFolder,
    checks: &[HumanCheck],
) -> Result<Vec<DeferredCheck>, FileError> {
    let document = view.text(&uat_path(folder))?;
    let tests = document.as_deref().map(UatReport::parse).unwrap_or_default().tests;
    let of = |check: &HumanCheck| {
        let made = tests.iter().find(|test| check.is_named(&test.name));
        of_test(folder, &check.name, check.expected.clone(), made)
    };
    Ok(checks.iter().map(of).collect())
}

/// Adds the checks that are not in the list yet.
fn write_rows(
    view: &ProjectView,
    folder: &PhaseFolder,
    checks: &[DeferredCheck],
    facts: &Facts,
    edits: &mut Edits,
) -> Result<(), Failure> {
    if checks.is_empty() {
        return Ok(());
    }
    let state = state::open(view)?.ok_or_else(state::no_state)?;
    let known = rows_of(view, folder, state.deferred())?;
    let milestone = view.milestone()?.version.unwrap_or_default();
    let row =
        |check: &DeferredCheck| DeferredRow::new(CATEGORY, &item(folder, &check.name), OPEN, &facts.today, &milestone);
    let rows: Vec<DeferredRow> =
        checks.iter().filter(|check| !is_listed(&known, folder, &check.name)).map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let mut edit = StateEdit::new(state);
    edit.add_deferred(&rows);
    let written = state::close(view, edit, Rule::Keep, facts)?;
    edits.write(view, &view.layout().state(), written.text)?;
    Ok(())
}

/// Marks in the list which checks of the phase a person has made.
fn settle_rows(
    view: &ProjectView,
    folder: &PhaseFolder,
    facts: &Facts,
    passed: &[DeferredCheck],
    open: &[DeferredCheck],
    edits: &mut Edits,
) -> Result<(), Failure> {
    let Some(state) = state::open(view)? else { return Ok(()) };
    let own = rows_of(view, folder, state.deferred())?;
    let word = |row: &DeferredRow| {
        if !own.contains(row) {
            return None;
        }
        let is_of = |check: &&DeferredCheck| is_row_of(row, folder, &check.name);
        if passed.iter().any(|check| is_of(&check)) {
            Some("passed")
        } else {
            open.iter().any(|check| check.failed() && is_of(&check)).then_some("failed")
        }
    };
    let changes = |row: &DeferredRow| word(row).is_some_and(|word| row.status != word);
    if !state.deferred().iter().any(changes) {
        return Ok(());
    }
    let mut edit = StateEdit::new(state);
    edit.settle_deferred(word);
    let written = state::close(view, edit, Rule::Keep, facts)?;
    edits.write(view, &view.layout().state(), written.text)?;
    Ok(())
}

/// The report after a person has made all its `checks` and they passed.
fn accepted(path: &str, text: &str, checks: usize) -> Result<String, Failure> {
    let Some(front) = FrontMatter::parse(text) else { return Ok(text.to_owned()) };
    if let Some(problem) = front.problem() {
        return Err(hints::uneditable_front_matter(path, problem));
    }
    Ok(human_checks::accepted(text, &front, checks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::deferred_checks::deferred_in;

    const REPORT: &str = "---\nstatus: human_needed\nhuman_verification:\n  - test: Look at the page\n    expected: It is blue\n  - test: Listen\n    expected: A tone\n---\n# V\n";
    const STATE: &str = "---\nmilestone: v1.0\n---\n\n# Project State\n\n## Current Position\n\nPhase: 1 of 2 (Base)\n";
    const UAT: &str = ".planning/phases/01-base/01-UAT.md";
    const REPORT_PATH: &str = ".planning/phases/01-base/01-VERIFICATION.md";

    fn view(report: &str, more: &[(&str, &str)]) -> ProjectView {
        let mut files = vec![(REPORT_PATH, report), (".planning/STATE.md", STATE)];
        files.retain(|(path, _)| !more.iter().any(|(other, _)| other == path));
        files.extend(more);
        ProjectView::of(files)
    }

    fn facts() -> Facts {
        Facts { now: "2026-01-02T03:04:05.000Z".into(), today: "2026-01-02".into(), ..Facts::default() }
    }

    fn names(checks: &[DeferredCheck]) -> Vec<&str> {
        checks.iter().map(|check| check.name.as_str()).collect()
    }

    #[test]
    fn every_check_becomes_a_test_and_a_row_once() {
        let view = view(REPORT, &[]);
        let folder = view.find_phase("1").unwrap().folder.unwrap();
        let waits = verification::status(&view, &folder).unwrap();
        assert_eq!(all_deferred(&view, &folder, &waits).unwrap(), []);
        let (report, edits) = defer(&view, "1", false, "/gsd-", &facts()).unwrap();
        assert_eq!((report.added, names(&report.deferred)), (2, vec!["Look at the page", "Listen"]));
        assert!(
            edits.texts[".planning/STATE.md"].contains("| human check | Phase 01: Listen | open | 2026-01-02 | v1.0 |")
        );
        let after = view.after(&edits);
        let folder = after.find_phase("1").unwrap().folder.unwrap();
        assert_eq!(names(&all_deferred(&after, &folder, &waits).unwrap()), ["Look at the page", "Listen"]);
        let (again, edits) = defer(&after, "1", false, "/gsd-", &facts()).unwrap();
        assert!(again.added == 0 && again.deferred.len() == 2 && edits.is_empty());
    }

    #[test]
    fn a_check_of_another_milestone_defers_nothing_here() {
        let carried = |milestone: &str, word: &str| {
            let row =
                |check: &str| format!("| human check | Phase 01: {check} | {word} | 2026-01-01 | {milestone} |\n");
            let state = format!(
                "{STATE}\n## Deferred Items\n\n| Category | Item | Status | Deferred At | Milestone |\n|---|---|---|---|---|\n{}{}",
                row("Look at the page"),
                row("Listen")
            );
            let uat = "---\nstatus: testing\n---\n\n### 1. Look at the page\nresult: [pending]\n\n### 2. Listen\nresult: [pending]\n";
            let view = view(REPORT, &[(UAT, uat), (".planning/STATE.md", &state)]);
            let folder = view.find_phase("1").unwrap().folder.unwrap();
            let waits = verification::status(&view, &folder).unwrap();
            let all = all_deferred(&view, &folder, &waits).unwrap().len();
            (all, deferred_in(&view, &[folder]).unwrap().len())
        };
        assert_eq!(carried("v1.0", "open"), (2, 2));
        assert_eq!(carried("1.0", "Open"), (2, 2));
        assert_eq!(carried("", "open"), (2, 2));
        assert_eq!(carried("v0.9", "open"), (0, 0));
    }

    #[test]
    fn tests_only_defers_nothing() {
        let view = view(REPORT, &[]);
        let (report, edits) = defer(&view, "1", true, "/gsd-", &facts()).unwrap();
        assert!(report.added == 2 && report.deferred.is_empty());
        assert_eq!(edits.texts.keys().collect::<Vec<_>>(), [UAT]);
    }

    #[test]
    fn only_a_verification_that_waits_for_a_person_is_deferred() {
        for status in ["passed", "gaps_found", "odd"] {
            let refused = defer(&view(&REPORT.replace("human_needed", status), &[]), "1", false, "/gsd-", &facts());
            assert!(refused.unwrap_err().message.starts_with("the verification of phase 1 is "), "{status}");
        }
        let empty = defer(&view("---\nstatus: human_needed\n---\n", &[]), "1", false, "/gsd-", &facts());
        assert!(empty.unwrap_err().message.ends_with("no entry under `human_verification`"));
        let unknown = defer(&view(REPORT, &[]), "7", false, "/gsd-", &facts());
        assert_eq!(unknown.unwrap_err().message, "there is no phase `7`");
    }

    #[test]
    fn a_failed_check_is_not_deferred_and_a_passed_one_is_done() {
        let uat = "---\nstatus: partial\n---\n\n## Tests\n\n### 1. look at the page\nexpected: x\nresult: issue\n\n### 2. Listen\nexpected: y\nresult: pass\n";
        let view = view(REPORT, &[(UAT, uat)]);
        let (report, edits) = defer(&view, "1", false, "/gsd-", &facts()).unwrap();
        assert_eq!(
            (names(&report.failed), report.deferred.len(), edits.is_empty()),
            (vec!["Look at the page"], 0, true)
        );
        let folder = view.find_phase("1").unwrap().folder.unwrap();
        let waits = verification::status(&view, &folder).unwrap();
        assert_eq!(all_deferred(&view, &folder, &waits).unwrap(), []);
        let (settled, _) = settle(&view, "1", &facts()).unwrap();
        assert_eq!(
            (settled.status, settled.passed, names(&settled.open)),
            ("human_needed", 1, vec!["Look at the page"])
        );
    }

    #[test]
    fn nothing_of_a_stale_report_is_settled_and_the_answer_says_why() {
        let covers = "covered_files:\n  - gone.rs\ncovered_digest: v1:sha256:00\n---";
        let uat =
            "---\nstatus: complete\n---\n\n### 1. Look at the page\nresult: pass\n\n### 2. Listen\nresult: pass\n";
        let stale = REPORT.replacen("\n---", &format!("\n{covers}"), 1);
        let (report, edits) = settle(&view(&stale, &[(UAT, uat)]), "1", &facts()).unwrap();
        assert_eq!((report.status, report.reason), ("stale", Some("the report is stale; nothing was changed")));
        assert!(edits.is_empty());
    }

    #[test]
    fn verification_and_list_are_updated_when_every_test_passed() {
        let first = view(REPORT, &[]);
        let (_, edits) = defer(&first, "1", false, "/gsd-", &facts()).unwrap();
        let uat = edits.texts[UAT].replace("[pending]", "pass");
        let view = view(REPORT, &[(UAT, &uat), (".planning/STATE.md", &edits.texts[".planning/STATE.md"])]);
        let (report, edits) = settle(&view, "01", &facts()).unwrap();
        assert_eq!((report.status, report.passed, report.open.len()), ("passed", 2, 0));
        assert_eq!(edits.texts[REPORT_PATH], REPORT.replace("human_needed", "passed"));
        assert!(edits.texts[".planning/STATE.md"].contains("Phase 01: Listen | passed |"));
        let (again, edits) = settle(&view.after(&edits), "01", &facts()).unwrap();
        assert_eq!((again.status, edits.is_empty()), ("passed", true));
    }

    #[test]
    fn every_part_of_the_report_records_the_acceptance() {
        let accepted = |text: &str| accepted(REPORT_PATH, text, 2).unwrap();
        let report = "---\nstatus: human_needed\nscore: 3/5 must-haves verified\n---\n# V\n\n**Status:** human_needed\n\n**Score:** 3/5\n\n```\n**Status:** human_needed\n```\n";
        let expected = "---\nstatus: passed\nscore: 5/5 must-haves verified\n---\n# V\n\n**Status:** passed\n\n**Score:** 5/5\n\n```\n**Status:** human_needed\n```\n";
        assert_eq!(accepted(report), expected);
        // More is open than the person was asked about: the score stays that of the verifier.
        let more = report.replace("3/5", "2/5");
        assert_eq!(accepted(&more), expected.replace("5/5", "2/5"));
    }
}
