//! Whether a phase's goal is verified: the result in its VERIFICATION.md, and whether that is still valid.
//!
//! A report that passed, or waits for a person, is stale once the work it covers has changed: by its fingerprint if it
//! has one, else by the times of the summaries in the same folder. A report with gaps is only stale if its fingerprint
//! shows that a plan was executed after it; otherwise the gaps are valid until a new report.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::verification_report::{Fingerprint, Report};
use crate::project::view::ProjectView;

pub(crate) use crate::project::verification_report::VerificationState;

/// The verification of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verification {
    pub(crate) state: VerificationState,
    /// It is unknown whether the report is stale.
    pub(crate) indeterminate: bool,
    /// The phase as written in the follow-up command; empty if the folder's name has no number.
    pub(crate) phase: String,
    /// The phase has neither a plan nor a summary: there is nothing to verify yet.
    pub(crate) is_unplanned: bool,
    /// The phase has a plan without a summary: the report came too early.
    pub(crate) has_open_plan: bool,
}

impl Verification {
    /// The verification without a report; it is unknown whether the phase has plans.
    pub(crate) fn missing(phase: impl Into<String>) -> Self {
        Self {
            state: VerificationState::Missing,
            indeterminate: false,
            phase: phase.into(),
            is_unplanned: false,
            has_open_plan: false,
        }
    }

    /// Whether a plan must be executed before anything is done about the report.
    fn is_early(&self) -> bool {
        use VerificationState::{GapsFound, HumanNeeded, Stale};
        self.has_open_plan && matches!(self.state, GapsFound | HumanNeeded | Stale)
    }

    pub(crate) fn passed(&self) -> bool {
        self.state == VerificationState::Passed
    }

    /// The report passed, but the work it covers has changed since.
    pub(crate) fn is_stale(&self) -> bool {
        self.state == VerificationState::Stale
    }

    /// The word for the state in payloads.
    pub(crate) fn word(&self) -> &'static str {
        match self.state {
            VerificationState::Passed => "passed",
            VerificationState::GapsFound => "gaps_found",
            VerificationState::HumanNeeded => "human_needed",
            VerificationState::Stale => "stale",
            VerificationState::Missing => "missing",
            VerificationState::Unknown(_) => "unknown",
        }
    }

    /// The next action, in a sentence.
    pub(crate) fn next_action(&self) -> Cow<'static, str> {
        match &self.state {
            _ if self.is_early() => "The phase has a plan to execute: execute it, then verify.".into(),
            VerificationState::Passed => "Verification passed — continue.".into(),
            VerificationState::GapsFound => "The report lists gaps: plan their fixes, execute them, verify again.".into(),
            VerificationState::HumanNeeded => "Some checks need a person: run the acceptance test.".into(),
            VerificationState::Stale => {
                "What the report covers has changed since. Executing the phase verifies it again; plans with a summary are not executed again.".into()
            }
            VerificationState::Missing if self.is_unplanned => "The phase has no plan yet: plan it first.".into(),
            VerificationState::Missing => {
                "There is no verification report with a `status`. Executing the phase makes one; plans with a summary are not executed again.".into()
            }
            VerificationState::Unknown(status) => format!(
                "The report has the unknown status `{status}`; it takes passed, gaps_found or human_needed. Verify again."
            )
            .into(),
        }
    }

    /// The command for that action, in `spelling` (a prefix such as `/gsd-`); empty if nothing is left to do.
    pub(crate) fn next_command(&self, spelling: &str) -> String {
        self.next_command_for(&self.phase, spelling)
    }

    /// As [`Self::next_command`], with the phase as `number`.
    pub(super) fn next_command_for(&self, number: &str, spelling: &str) -> String {
        let (word, flag) = match self.state {
            _ if self.is_early() => ("execute-phase", ""),
            VerificationState::Passed => return String::new(),
            VerificationState::GapsFound => ("plan-phase", " --gaps"),
            VerificationState::HumanNeeded => ("verify-work", ""),
            VerificationState::Missing if self.is_unplanned => ("plan-phase", ""),
            VerificationState::Stale | VerificationState::Missing | VerificationState::Unknown(_) => {
                ("execute-phase", "")
            }
        };
        let blank = if number.is_empty() { "" } else { " " };
        [spelling, word, blank, number, flag].concat()
    }
}

/// The state of the verification of a phase.
pub(crate) fn status(view: &ProjectView, folder: &PhaseFolder) -> Result<Verification, FileError> {
    let phase = phase_of_folder_name(&folder.name);
    let is_unplanned = folder.summaries().next().is_none() && view.current_plans(folder)?.is_empty();
    let has_open_plan = !view.open_plans(folder)?.is_empty();
    let facts = view.facts_of(folder);
    let Some(report) = view.report_in(folder, &facts)? else {
        return Ok(Verification { is_unplanned, has_open_plan, ..Verification::missing(phase) });
    };
    let staleness = staleness(report, view, folder)?;
    let state = if staleness == Staleness::Stale { VerificationState::Stale } else { report.state.clone() };
    Ok(Verification { state, indeterminate: staleness == Staleness::Unknown, phase, is_unplanned, has_open_plan })
}

/// Asks once for all the times that [`status`] of these folders needs. Finding times runs git, so callers that check
/// many phases should look ahead.
pub(crate) fn look_ahead<'folder>(
    view: &ProjectView,
    folders: impl IntoIterator<Item = &'folder PhaseFolder> + Clone,
) -> Result<(), FileError> {
    let mut paths = Vec::new();
    for folder in folders.clone() {
        if let Some(report) = view.report_in(folder, &view.facts_of(folder))?
            && report.can_be_stale()
            && report.fingerprint.is_none()
        {
            paths.extend(report.timed_paths(folder));
        }
    }
    view.ask_changed(&paths);
    // Callers that check the standing of phases also need their plans, which can be read while git runs.
    for folder in folders {
        view.read_plans(folder)?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Staleness {
    Fresh,
    Stale,
    Unknown,
}

/// Whether a report is still valid.
fn staleness(report: &Report, view: &ProjectView, folder: &PhaseFolder) -> Result<Staleness, FileError> {
    if report.state == VerificationState::GapsFound {
        let worked_on = report.fingerprint.as_ref().is_some_and(|fingerprint| fingerprint.lacks_a_summary(folder));
        return Ok(if worked_on { Staleness::Stale } else { Staleness::Fresh });
    }
    if !report.can_be_stale() {
        return Ok(Staleness::Fresh);
    }
    match &report.fingerprint {
        Some(fingerprint) => check(fingerprint, view, folder),
        None => Ok(by_times(view, &report.timed_paths(folder))),
    }
}

fn check(declared: &Fingerprint, view: &ProjectView, folder: &PhaseFolder) -> Result<Staleness, FileError> {
    let covers = |path: &str| declared.files.iter().any(|file| file == path);
    let current = view.current_plans(folder)?;
    let work = current.iter().map(String::as_str).chain(folder.summaries());
    if !work.map(|file| folder.join(file)).all(|path| covers(&path)) {
        return Ok(Staleness::Stale);
    }
    let same = match (&declared.digest, fingerprint(view, &declared.files)?) {
        (Some(declared), Ok(actual)) => *declared == actual.covered_digest,
        _ => false,
    };
    Ok(if same { Staleness::Fresh } else { Staleness::Stale })
}

/// Whether any of the paths after the first one is newer than the first.
fn by_times(view: &ProjectView, paths: &[String]) -> Staleness {
    if paths.len() == 1 {
        return Staleness::Fresh;
    }
    let times = view.changed_at(paths);
    let Some(verified) = times[0] else { return Staleness::Unknown };
    if times[1..].iter().flatten().any(|changed| *changed > verified) {
        return Staleness::Stale;
    }
    if times.contains(&None) { Staleness::Unknown } else { Staleness::Fresh }
}

/// The answer of `verification fingerprint`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FingerprintReport {
    /// Relative to the project's root, sorted, without repeats.
    pub(crate) covered_files: Vec<String>,
    /// `v1:sha256:` and the digest over the paths and their digests.
    pub(crate) covered_digest: String,
}

/// Why a digest of some files cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotCovered {
    #[error("no covered files given")]
    Nothing,
    #[error("covered file `{path}` is outside the project")]
    Outside { path: String },
    #[error("covered file `{path}` does not exist")]
    Missing { path: String },
    #[error("covered file `{path}` is not a regular file inside the project")]
    NoFile { path: String },
}

/// The digest of `files` (relative to the project's root).
pub(crate) fn fingerprint(
    view: &ProjectView,
    files: &[String],
) -> Result<Result<FingerprintReport, NotCovered>, FileError> {
    let mut covered = Vec::new();
    for file in files {
        match plain_path(file) {
            Some(path) => covered.push(path),
            None => return Ok(Err(NotCovered::Outside { path: file.clone() })),
        }
    }
    if covered.is_empty() {
        return Ok(Err(NotCovered::Nothing));
    }
    covered.sort();
    covered.dedup();
    let mut listed = String::from("v1\n");
    for path in &covered {
        let Some(digest) = view.digest(path)? else {
            let path = path.clone();
            let why = if view.exists(&path) { NotCovered::NoFile { path } } else { NotCovered::Missing { path } };
            return Ok(Err(why));
        };
        listed.push_str(path);
        listed.push('\n');
        listed.push_str(&digest);
        listed.push('\n');
    }
    let covered_digest = format!("v1:sha256:{}", crate::project::files::sha256(listed.as_bytes()));
    Ok(Ok(FingerprintReport { covered_files: covered, covered_digest }))
}

/// A relative path without `.` parts; `None` if it leaves the root.
fn plain_path(path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// `02.1` for `02.1-search`; empty if the name does not start with a complete number.
pub(crate) fn phase_of_folder_name(name: &str) -> String {
    let length = name.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number = &name[..length];
    let rest = &name[length..];
    let ends = rest.is_empty() || rest.starts_with('-');
    let well_formed = !number.is_empty() && number.split('.').all(|part| !part.is_empty());
    if ends && well_formed { number.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const FOLDER: &str = ".planning/phases/01-base";

    #[test]
    fn a_note_after_the_word_of_a_status_does_not_change_it() {
        for note in ["", " (re-verified 2026-08-21)", " — 5/5", ", by hand", ": see below"] {
            for (word, expected) in [
                ("passed", VerificationState::Passed),
                ("**PASSED**", VerificationState::Passed),
                ("✅ passed", VerificationState::Passed),
                ("gaps_found", VerificationState::GapsFound),
                ("Human_Needed", VerificationState::HumanNeeded),
            ] {
                assert_eq!(check(&format!("'{word}{note}'"), "", &[]).state, expected, "{word}{note}");
            }
        }
        for word in [
            "passed with gaps",
            "passed, then gaps_found",
            "passed | gaps_found",
            "passed?",
            "passed 3/5",
            "not passed",
        ] {
            let state = check(&format!("'{word}'"), "", &[]).state;
            assert_eq!(state, VerificationState::Unknown(word.to_owned()), "{word}");
        }
    }

    fn check(status: &str, extra: &str, changed: &[(&str, i64)]) -> Verification {
        let report = format!("---\nstatus: {status}\n{extra}---\n");
        let mut files = MemoryFiles::new([
            (".planning/phases/01-base/01-01-PLAN.md", "plan"),
            (".planning/phases/01-base/01-01-SUMMARY.md", "summary"),
            (".planning/phases/01-base/01-VERIFICATION.md", report.as_str()),
            ("src/a.rs", "code"),
        ]);
        files.changed = changed.iter().map(|(name, time)| (format!("{FOLDER}/{name}"), *time)).collect();
        let view = files.view();
        let folder = view.find_phase("1").unwrap().folder.unwrap();
        super::status(&view, &folder).unwrap()
    }

    #[test]
    fn a_summary_changed_after_the_report_makes_it_stale() {
        assert!(check("passed", "", &[("01-VERIFICATION.md", 5), ("01-01-SUMMARY.md", 5)]).passed());
        let stale = check("passed", "", &[("01-VERIFICATION.md", 5), ("01-01-SUMMARY.md", 6)]);
        assert_eq!(stale.state, VerificationState::Stale);
        assert_eq!(stale.next_command("/gsd-"), "/gsd-execute-phase 01", "executing an executed phase verifies it");
        let gaps = check("gaps_found", "", &[("01-VERIFICATION.md", 5), ("01-01-SUMMARY.md", 6)]);
        assert_eq!(gaps.next_command("/gsd-"), "/gsd-plan-phase 01 --gaps");
    }

    #[test]
    fn a_fingerprint_decides_regardless_of_the_times() {
        let files = [FOLDER.to_owned() + "/01-01-PLAN.md", FOLDER.to_owned() + "/01-01-SUMMARY.md", "src/a.rs".into()];
        let memory = MemoryFiles::new([
            (".planning/phases/01-base/01-01-PLAN.md", "plan"),
            (".planning/phases/01-base/01-01-SUMMARY.md", "summary"),
            ("src/a.rs", "code"),
        ]);
        let view = memory.view();
        let digest = fingerprint(&view, &files).unwrap().unwrap().covered_digest;
        let declared = format!("covered_files:\n  - {}\ncovered_digest: {digest}\n", files.join("\n  - "));
        let later = [("01-VERIFICATION.md", 5), ("01-01-SUMMARY.md", 9)];
        assert!(check("passed", &declared, &later).passed());
        let uncovered = declared.replace(&format!("  - {}\n", files[0]), "");
        assert_eq!(check("passed", &uncovered, &later).state, VerificationState::Stale);
        let other = declared.replace("v1:sha256:", "v1:sha256:0");
        assert_eq!(check("passed", &other, &later).state, VerificationState::Stale);
    }

    #[test]
    fn gaps_that_a_plan_closed_are_verified_again() {
        let report = format!("---\nstatus: gaps_found\ncovered_files:\n  - {FOLDER}/01-01-SUMMARY.md\n---\n");
        let state = |summaries: &[&str]| {
            let mut files = vec![(format!("{FOLDER}/01-VERIFICATION.md"), report.clone())];
            files.extend(summaries.iter().map(|name| (format!("{FOLDER}/{name}-SUMMARY.md"), String::new())));
            let files = MemoryFiles::new(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
            let view = files.view();
            status(&view, &view.find_phase("1").unwrap().folder.unwrap()).unwrap().state
        };
        assert_eq!(state(&["01-01"]), VerificationState::GapsFound);
        assert_eq!(state(&["01-01", "01-02"]), VerificationState::Stale);
    }

    #[test]
    fn follow_ups_name_the_phase_of_the_folder() {
        for (name, phase) in
            [("02-notes", "02"), ("2.1", "2.1"), ("12A-x", ""), ("nope", ""), ("02-01-x", "02"), ("99", "99")]
        {
            assert_eq!(phase_of_folder_name(name), phase, "{name}");
        }
    }
}
