//! The content of VERIFICATION.md: its status, and the files it covers.

use super::folder::PhaseFolder;
use super::noted::noted;
use crate::text::front_matter::{FrontMatter, Value};

/// The states of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VerificationState {
    Passed,
    GapsFound,
    HumanNeeded,
    Stale,
    Missing,
    /// The report has an unknown status.
    Unknown(String),
}

/// The known statuses of a report.
const WORDS: &[&str] = &["passed", "gaps_found", "human_needed"];

/// The states that are remembered, by their numbers from 1.
const PLAIN: &[VerificationState] =
    &[VerificationState::Passed, VerificationState::GapsFound, VerificationState::HumanNeeded];

/// Whether the text after a status word is separated by a sign and contains none of the other words: `passed (again)`,
/// not `passed with gaps`.
fn is_note(behind: &str) -> bool {
    let is_apart = !behind.trim_start().starts_with(char::is_alphanumeric);
    is_apart && WORDS.iter().all(|word| !behind.to_lowercase().contains(word))
}

/// A verification report as read.
#[derive(Debug)]
pub(super) struct Report {
    path: String,
    pub(super) state: VerificationState,
    pub(super) fingerprint: Option<Fingerprint>,
}

impl Report {
    /// The report at `path`; `None` if it has no status.
    pub(super) fn parse(path: String, text: &str) -> Option<Self> {
        let front = FrontMatter::of_keys(text, &["status", FILES, DIGEST])?;
        let word = front.text("status")?;
        let state = match noted(&word, WORDS).filter(|(_, behind)| is_note(behind)) {
            Some(("passed", _)) => VerificationState::Passed,
            Some(("gaps_found", _)) => VerificationState::GapsFound,
            Some(("human_needed", _)) => VerificationState::HumanNeeded,
            _ => VerificationState::Unknown(word),
        };
        Some(Self { path, state, fingerprint: declared_fingerprint(&front) })
    }

    pub(super) fn without_fingerprint(path: String, state: VerificationState) -> Self {
        Self { path, state, fingerprint: None }
    }

    /// A number for a report that has a known status and no fingerprint; 0 for any other.
    pub(super) fn plainness(text: Option<&str>) -> u8 {
        let report =
            text.and_then(|text| Self::parse(String::new(), text)).filter(|report| report.fingerprint.is_none());
        let known = report.and_then(|report| PLAIN.iter().position(|state| *state == report.state));
        known.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0)
    }

    /// The state for a number from [`Self::plainness`].
    pub(super) fn plain(number: u8) -> Option<VerificationState> {
        PLAIN.get(usize::from(number).checked_sub(1)?).cloned()
    }

    pub(super) fn can_be_stale(&self) -> bool {
        matches!(self.state, VerificationState::Passed | VerificationState::HumanNeeded)
    }

    /// The report, and the summaries that must not be newer.
    pub(super) fn timed_paths(&self, folder: &PhaseFolder) -> Vec<String> {
        let summaries = folder.summaries().map(|summary| folder.join(summary));
        std::iter::once(self.path.clone()).chain(summaries).collect()
    }
}

/// The files that a report covers.
#[derive(Debug)]
pub(super) struct Fingerprint {
    pub(super) files: Vec<String>,
    pub(super) digest: Option<String>,
}

const FILES: &str = "covered_files";
const DIGEST: &str = "covered_digest";

/// The fingerprint that a report declares, well formed or not.
fn declared_fingerprint(front: &FrontMatter<'_>) -> Option<Fingerprint> {
    let files = front.get(FILES);
    let digest = front.get(DIGEST);
    if matches!(files, None | Some(Value::Empty)) && matches!(digest, None | Some(Value::Empty)) {
        return None;
    }
    let files = files.iter().flat_map(Value::texts).map(str::to_owned).collect();
    Some(Fingerprint { files, digest: digest.as_ref().and_then(Value::as_text).map(str::to_owned) })
}

impl Fingerprint {
    /// Whether a plan was executed after a report that covers the other plans: its gaps were worked on.
    pub(super) fn lacks_a_summary(&self, folder: &PhaseFolder) -> bool {
        let (covered, later): (Vec<String>, Vec<String>) =
            folder.summaries().map(|summary| folder.join(summary)).partition(|path| self.files.contains(path));
        !covered.is_empty() && !later.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remembered_report_equals_the_one_that_was_read() {
        for text in [
            "---\nstatus: passed\n---\n",
            "---\nstatus: gaps_found\n---\n",
            "---\nstatus: human_needed\n---\n",
            "---\nstatus: odd\n---\n",
            "---\nstatus: passed\ncovered_digest: abc\n---\n",
            "---\nphase: 1\n---\n",
            "",
        ] {
            let read = Report::parse(String::new(), text);
            match Report::plain(Report::plainness(Some(text))) {
                Some(state) => assert!(read.is_some_and(|read| read.state == state && read.fingerprint.is_none())),
                None => assert!(!read.is_some_and(|read| read.fingerprint.is_none() && PLAIN.contains(&read.state))),
            }
        }
        assert_eq!(Report::plainness(None), 0);
    }
}
