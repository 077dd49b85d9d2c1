//! Checks whether people accepted a phase: the results in its UAT files, and the verification that is also required.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::noted::noted;
use crate::project::scope::conflict_in;
use crate::project::uat_report::{UatReport, UatTest, is_pass};
use crate::project::verification::{self, VerificationState};
use crate::project::view::ProjectView;
use crate::text::front_matter::FrontMatter;

/// Values of `status` in a UAT file that mean it is not finished, whatever its tests say.
const UNFINISHED: &[&str] = &["partial", "diagnosed", "pending", "failed", "blocked", "in_progress"];

/// What `phase uat-passed` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AcceptanceReport {
    phase: String,
    pub(crate) passed: bool,
    uat_files: Vec<String>,
    verification_files: Vec<String>,
    checks: Vec<Check>,
    /// What blocks the phase, file by file.
    pub(crate) blockers: Vec<String>,
    /// No test was ever recorded.
    no_uat_artifacts: bool,
    policy: Policy,
    verification_stale_check_indeterminate: bool,
}

/// One test of a UAT file.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Check {
    file: String,
    test: u64,
    name: String,
    /// The first word of the result, in lower case; `missing` without a result.
    result: String,
    passing: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Policy {
    require_verification: bool,
}

/// Checks whether the tests of a phase all passed, and with `require_verification`, its verification too. A phase
/// without tests has not passed.
pub(crate) fn acceptance(
    view: &ProjectView,
    folder: &PhaseFolder,
    phase: &str,
    require_verification: bool,
) -> Result<AcceptanceReport, FileError> {
    let (mut checks, mut blockers) = (Vec::new(), Vec::new());
    let uat_files: Vec<String> = folder.artifacts("UAT").map(str::to_owned).collect();
    for file in &uat_files {
        let Some(text) = view.text(&folder.join(file))? else { continue };
        if let Some(status) = status_word(&text).filter(|status| noted(status, UNFINISHED).is_some()) {
            blockers.push(format!("{file}: frontmatter status={status}"));
        }
        if let Some(line) = conflict_in(&text) {
            blockers.push(format!("{file}: a merge conflict begins in line {}", line + 1));
        }
        let report = UatReport::parse(&text);
        blockers.extend(report.gaps.iter().map(|gap| format!("{file}: open gap: {}", gap.truth)));
        blockers.extend(report.unread.iter().map(|title| format!("{file}: no result is read below `{title}`")));
        for check in tests(file, report) {
            if !check.passing {
                blockers.push(format!("{file}: test {} ({})", check.test, check.result));
            }
            checks.push(check);
        }
    }
    let verification_files: Vec<String> = folder.artifacts("VERIFICATION").map(str::to_owned).collect();
    for file in &verification_files {
        let text = view.text(&folder.join(file))?;
        let status = text.as_deref().and_then(status_word);
        if let Some(status) = status.filter(|status| noted(status, &["gaps_found", "human_needed"]).is_some()) {
            blockers.push(format!("{file}: verification status={status}"));
        }
    }
    let mut indeterminate = false;
    if require_verification {
        let verification = verification::status(view, folder)?;
        indeterminate = verification.indeterminate;
        match verification.state {
            VerificationState::Passed => {}
            VerificationState::Stale => blockers.push("policy: verification status=stale".to_owned()),
            _ => blockers.push("policy: verification required but no passing *-VERIFICATION.md found".to_owned()),
        }
    }
    Ok(AcceptanceReport {
        phase: phase.to_owned(),
        passed: !checks.is_empty() && blockers.is_empty(),
        uat_files,
        verification_files,
        no_uat_artifacts: checks.is_empty(),
        checks,
        blockers,
        policy: Policy { require_verification },
        verification_stale_check_indeterminate: indeterminate,
    })
}

fn status_word(text: &str) -> Option<String> {
    Some(FrontMatter::parse(text)?.text("status")?.trim().to_lowercase())
}

/// The tests of a UAT file: headings `### 3. Name` with a `result:` line below.
fn tests(file: &str, report: UatReport) -> Vec<Check> {
    let check = |test: UatTest| {
        let result = test.result.as_deref().and_then(first_word).unwrap_or_else(|| "missing".to_owned());
        let passing = test.result.as_deref().is_some_and(is_pass);
        Check { file: file.to_owned(), test: test.number, name: test.name, result, passing }
    };
    report.tests.into_iter().map(check).collect()
}

/// `not` for `not yet`.
fn first_word(value: &str) -> Option<String> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    let bare = value.trim_start_matches(|letter: char| !is_of_word(letter));
    let end = bare.find(|letter: char| !is_of_word(letter)).unwrap_or(bare.len());
    (end > 0).then(|| bare[..end].to_owned())
}

#[cfg(test)]
mod unit_tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const PASSED: &str = "---\nstatus: complete\n---\n## Tests\n\n### 1. Sign up\nexpected: x\nresult: pass\n";

    fn report(files: &[(&str, &str)], require_verification: bool) -> AcceptanceReport {
        let paths: Vec<(String, &str)> =
            files.iter().map(|(file, text)| (format!(".planning/phases/01-a/{file}"), *text)).collect();
        let files = MemoryFiles::new(paths.iter().map(|(path, text)| (path.as_str(), *text)));
        let view = files.view();
        let folder = view.find_phase("1").unwrap().folder.unwrap();
        acceptance(&view, &folder, "1", require_verification).unwrap()
    }

    #[test]
    fn a_phase_is_accepted_when_every_test_passed() {
        assert!(report(&[("01-UAT.md", PASSED)], false).passed);
        let none = report(&[("01-UAT.md", "---\nstatus: complete\n---\n")], false);
        assert!(!none.passed && none.no_uat_artifacts && none.blockers.is_empty());
    }

    #[test]
    fn anything_not_readable_as_passed_blocks() {
        for more in [
            "\n### 测试二 读取\n结果：失败\n",
            "\n## Gaps\n\n- truth: It rings\n  status: failed\n",
            "\n<<<<<<< HEAD\nresult: pass\n=======\nresult: issue\n>>>>>>> other\n",
        ] {
            let report = report(&[("01-UAT.md", &format!("{PASSED}{more}"))], false);
            assert!(!report.passed && report.blockers.len() == 1, "{more}: {:?}", report.blockers);
        }
    }

    #[test]
    fn every_other_result_blocks() {
        let text = format!(
            "{PASSED}\n### 2. Log in\nresult: [pending]\n\n### 3. Mail\n\n### 4. Go\nresult: PASS (by hand)\n### x\n\n\
             ### 5. Or\nresult: pass | issue\n"
        );
        let blockers = report(&[("01-UAT.md", &text)], false).blockers;
        let expected = ["01-UAT.md: test 2 (pending)", "01-UAT.md: test 3 (missing)", "01-UAT.md: test 5 (pass)"];
        assert_eq!(blockers, expected);
        let text = PASSED.replace("complete", "diagnosed");
        assert_eq!(report(&[("01-UAT.md", &text)], false).blockers, ["01-UAT.md: frontmatter status=diagnosed"]);
    }

    #[test]
    fn verification_can_be_required_too() {
        let missing = report(&[("01-UAT.md", PASSED)], true);
        assert!(!missing.passed && missing.blockers.len() == 1);
        let gaps = ("01-VERIFICATION.md", "---\nstatus: gaps_found\n---\n");
        assert!(!report(&[("01-UAT.md", PASSED), gaps], false).passed);
        assert_eq!(report(&[("01-UAT.md", PASSED), gaps], true).blockers.len(), 2);
        let passed = ("01-VERIFICATION.md", "---\nstatus: passed\n---\n");
        assert!(report(&[("01-UAT.md", PASSED), passed], true).passed);
    }
}
