//! Unfinished acceptance tests of closed phases: a person still has to run a test, or found a gap that is not fixed
//! yet. A phase can be closed before that, and the documents of the next phase do not mention it.

use super::deferred_checks;
use super::files::FileError;
use super::folder::PhaseFolder;
use super::plan::PhasePlan;
use super::standing;
use super::uat_report::{Gap, UatReport, UatTest, is_pass};
use super::view::ProjectView;
use crate::text::screen::counted;

/// The open part of one phase's acceptance test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenAcceptance {
    /// The phase as the roadmap numbers it.
    pub(crate) phase: String,
    /// How many tests wait for a person.
    pub(crate) tests: usize,
    /// How many gaps no executed plan closes.
    pub(crate) gaps: usize,
    /// Every waiting test was deferred, and the report has no gaps: it waits until the milestone is done.
    pub(crate) is_deferred: bool,
}

impl OpenAcceptance {
    /// `2 tests, 1 gap`; `None` if the report has neither.
    pub(crate) fn counts(&self) -> Option<String> {
        let counts = [(self.tests, "test"), (self.gaps, "gap")].into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, noun)| counted(count, noun)).collect();
        (!counts.is_empty()).then(|| counts.join(", "))
    }
}

/// The statuses of a report that is not finished.
const UNFINISHED: &[&str] = &["testing", "partial", "diagnosed"];

/// Whether a report has nothing open, whatever the plans of its phase say.
fn is_surely_finished(text: &str) -> bool {
    let report = UatReport::parse(text);
    let is_failed = |gap: &Gap| gap.status == "failed";
    report.is_known_in(text) || !report.gaps.iter().any(is_failed) && !UNFINISHED.contains(&report.status.as_str())
}

impl ProjectView {
    /// The closed phases whose UAT.md is not finished, or is finished but has failed gaps that no executed plan closes.
    pub(crate) fn open_acceptances(&self) -> Result<Vec<OpenAcceptance>, FileError> {
        let Some(roadmap) = self.roadmap()? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for folder in self.phase_folders()?.iter() {
            if folder.archived.is_none() && standing::is_closed(roadmap, folder.token()) {
                found.extend(self.open_acceptance(folder)?);
            }
        }
        Ok(found)
    }

    /// Finds the open part of a phase's acceptance test, whether the phase is closed or not.
    pub(crate) fn open_acceptance(&self, folder: &PhaseFolder) -> Result<Option<OpenAcceptance>, FileError> {
        let Some(path) = folder.artifact_path("UAT") else { return Ok(None) };
        if self.told(b'u', &path, |text| u8::from(is_surely_finished(text.unwrap_or_default())))? > 0 {
            return Ok(None);
        }
        let report = self.uat_report(&path)?;
        let text = self.text(&path)?.unwrap_or_default();
        if report.is_known_in(&text) {
            return Ok(None);
        }
        let gaps = self.gaps_to_close(folder, &report)?;
        if gaps == 0 && !UNFINISHED.contains(&report.status.as_str()) {
            return Ok(None);
        }
        let phase = self.label(folder.token())?.number;
        let tests = report.pending();
        let is_deferred = gaps == 0 && self.is_put_off(folder, &report)?;
        Ok(Some(OpenAcceptance { phase, tests, gaps, is_deferred }))
    }

    /// True if the report has tests that did not pass yet, and all of them were deferred.
    fn is_put_off(&self, folder: &PhaseFolder, report: &UatReport) -> Result<bool, FileError> {
        let put_off = deferred_checks::deferred_in(self, std::slice::from_ref(folder))?;
        let waits = |number: u64| put_off.iter().any(|check| check.test == Some(number) && !check.failed());
        let has_passed = |test: &&UatTest| test.result.as_deref().is_some_and(is_pass);
        let mut open = report.tests.iter().filter(|test| !has_passed(test)).peekable();
        Ok(open.peek().is_some() && open.all(|test| waits(test.number)))
    }

    /// How many failed gaps of a report no executed plan of the phase closes. A plan that closes gaps without naming
    /// them closes all of them.
    fn gaps_to_close(&self, folder: &PhaseFolder, report: &UatReport) -> Result<usize, FileError> {
        let mut failed: Vec<&Gap> = report.gaps.iter().filter(|gap| gap.status == "failed").collect();
        if failed.is_empty() {
            return Ok(0);
        }
        for (file, text) in self.plan_texts(folder)? {
            let plan = PhasePlan::parse(&text);
            if plan.closes_gaps() && self.is_done(folder, &file)? {
                let ids = plan.gap_ids();
                let is_closed = |gap: &Gap| match &gap.id {
                    Some(id) if !ids.is_empty() => ids.iter().any(|known| known.eq_ignore_ascii_case(id)),
                    _ => true,
                };
                failed.retain(|gap| !is_closed(gap));
            }
        }
        Ok(failed.len())
    }
}

#[cfg(test)]
mod tests {

    use crate::project::files::MemoryFiles;

    const GAPS: &str = "\n## Gaps\n\n- gap_id: G-01-1\n  truth: \"Mail arrives\"\n  status: failed\n- gap_id: G-01-2\n  truth: \"It \
        rings\"\n  status: resolved\n";

    fn open(uat: &str, more: &[(&str, &str)]) -> Vec<(String, usize, usize)> {
        let files = [
            (".planning/ROADMAP.md", "- [x] **Phase 1: A** - a\n- [ ] **Phase 2: B** - b\n"),
            (".planning/phases/01-a/01-01-PLAN.md", "---\nwave: 1\n---\n"),
            (".planning/phases/01-a/01-01-SUMMARY.md", "---\nstatus: complete\n---\n"),
            (".planning/phases/01-a/01-UAT.md", uat),
            (".planning/phases/02-b/02-UAT.md", "---\nstatus: testing\n---\n"),
        ];
        let files = MemoryFiles::new(files.iter().chain(more).copied());
        let view = files.view();
        let found = view.open_acceptances().unwrap().into_iter();
        found.map(|open| (open.phase, open.tests, open.gaps)).collect()
    }

    #[test]
    fn an_unfixed_gap_keeps_a_finished_test_open() {
        let uat =
            |status: &str| format!("---\nstatus: {status}\n---\n\n## Tests\n\n### 1. Mail\nresult: issue\n{GAPS}");
        let one = |tests: usize, gaps: usize| vec![("1".to_owned(), tests, gaps)];
        assert_eq!(open(&uat("complete"), &[]), one(0, 1));
        assert_eq!(open(&uat("diagnosed"), &[]), one(0, 1));
        assert_eq!(open(&uat("testing").replace("result: issue", "result: [pending]"), &[]), one(1, 1));
        assert_eq!(open(&uat("complete").replace("status: failed", "status: resolved"), &[]), []);
        assert_eq!(open("---\nstatus: complete\n---\n", &[]), []);
        let known = "status: diagnosed\naudit_acknowledged:\n  gap_snapshot: \"diagnosed::scenarios=0\"";
        assert_eq!(open(&uat("diagnosed").replace("status: diagnosed", known), &[]), []);
    }

    #[test]
    fn an_executed_plan_closes_the_gaps_that_it_names() {
        let uat = format!("---\nstatus: complete\n---\n{GAPS}");
        let with = |plan: &str, summary: &str| {
            open(
                &uat,
                &[(".planning/phases/01-a/01-02-PLAN.md", plan), (".planning/phases/01-a/01-02-SUMMARY.md", summary)],
            )
            .len()
        };
        let named = "---\ngap_closure: true\ngap_ids: [G-01-1]\n---\n";
        assert_eq!(with(named, "---\nstatus: complete\n---\n"), 0);
        assert_eq!(with("---\ngap_closure: true\n---\n", ""), 0);
        assert_eq!(with("---\ngap_closure: true\ngap_ids: [G-01-7]\n---\n", ""), 1);
        assert_eq!(with(named, "---\nstatus: blocked\n---\n"), 1);
        assert_eq!(with("---\nwave: 1\n---\n", ""), 1);
    }
}
