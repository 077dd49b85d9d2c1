//! Checks that fail on the merge although a person decided that their task counts.

use super::event::{CheckRun, CheckedTree};
use super::slices::places;
use crate::project::files::{FileError, Files};
use crate::project::milestone_layout::evidence::TaskEvidence;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::{lookup, record};
use crate::text::untrusted::line;

/// The key of the evidence note that names such checks, with who decided what.
pub(crate) const DECIDED: &str = "decided by a person";

/// How much of a reason is quoted.
const REASON: usize = 200;

/// A task that counts by a person's decision, with the checks that failed at that time.
struct DecidedTask {
    task: String,
    why: String,
    failed: Vec<(String, i64)>,
}

impl DecidedTask {
    /// True if the decision is about exactly this check with the same exit code.
    fn settles(&self, check: &CheckRun) -> bool {
        self.failed.iter().any(|(command, code)| *command == check.command && *code == i64::from(check.exit_code))
    }
}

/// Returns the evidence of a candidate. It passes if a person decided on each failing check; each is named.
pub(crate) fn settled(files: &dyn Files, milestone: &str, mut evidence: CheckedTree) -> Result<CheckedTree, FileError> {
    let failing: Vec<&CheckRun> = evidence.checks.iter().filter(|check| !check.passed).collect();
    if evidence.passed || failing.is_empty() || !evidence.findings.is_empty() || !evidence.secrets.is_empty() {
        return Ok(evidence);
    }
    let decisions = decisions(files, milestone)?;
    let named = failing.iter().map(|check| {
        let decision = decisions.iter().find(|decision| decision.settles(check))?;
        Some(format!("`{}` ({}: {})", check.command, decision.task, decision.why))
    });
    if let Some(named) = named.collect::<Option<Vec<_>>>() {
        evidence.notes.insert(DECIDED.to_owned(), named.join("; "));
        (evidence.passed, evidence.failure) = (true, String::new());
    }
    Ok(evidence)
}

fn decisions(files: &dyn Files, milestone: &str) -> Result<Vec<DecidedTask>, FileError> {
    let mut found = Vec::new();
    let folder = places::milestone(files, milestone)?;
    let entries = files.list(&format!("{folder}/slices"))?.unwrap_or_default();
    for slice in entries.iter().map(|entry| entry.name.as_str()) {
        let id = slice.split('-').next().unwrap_or(slice);
        let folder = format!("{folder}/slices/{slice}");
        let Some((_, plan)) = places::document(files, &folder, id, "PLAN")? else { continue };
        let tasks = format!("{folder}/tasks");
        let records = files.list(&tasks)?.unwrap_or_default();
        for task in SlicePlan::parse(&plan).tasks {
            let Some(name) = lookup::record(&records, &task.id, "VERIFY") else { continue };
            let path = format!("{tasks}/{name}");
            let text = files.read(&path)?.unwrap_or_default();
            let Ok(evidence) = record::read::<TaskEvidence>(&path, &text) else { continue };
            let Some(why) = evidence.decision() else { continue };
            let failed = evidence.checks.iter().filter(|check| check.exit_code.is_some_and(|code| code != 0));
            found.push(DecidedTask {
                task: format!("{milestone}/{id}/{}", task.id),
                why: line(why, REASON),
                failed: failed.map(|check| (check.command.clone(), check.exit_code.unwrap_or_default())).collect(),
            });
        }
    }
    Ok(found)
}
