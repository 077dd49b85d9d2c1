//! Tests before code: whether the commits of a phase's plans show it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::plan::PhasePlan;
use crate::project::view::ProjectView;

/// What `check tdd-review-checkpoint` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewReport {
    pub(crate) block: bool,
    passed: bool,
    #[serde(rename = "tddPlans")]
    tdd_plans: usize,
    violations: usize,
    table: String,
    rows: Vec<ReviewRow>,
    pub(crate) message: String,
    /// What to do in the next plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<&'static str>,
}

/// One plan with tests first, and its commits that show it.
#[derive(Debug, Serialize, JsonSchema)]
struct ReviewRow {
    #[serde(rename = "planId")]
    plan_id: String,
    /// A failing test was committed.
    red: bool,
    /// The code was committed.
    green: bool,
    refactor: bool,
    status: &'static str,
    missing: Vec<&'static str>,
}

/// Checks which plans of a phase put tests first, and whether their commits show it. `subjects` are those of all
/// commits.
pub(crate) fn review(
    view: &ProjectView,
    typed: &str,
    folder: Option<&PhaseFolder>,
    subjects: impl FnOnce() -> Vec<String>,
) -> Result<ReviewReport, FileError> {
    let mut plans = Vec::new();
    if let Some(folder) = folder {
        for (plan, text) in view.plan_texts(folder)? {
            let kind = PhasePlan::parse(&text).list("type").join(" ");
            if kind.trim() == "tdd" {
                plans.push(canonical_id(plan_id(&plan)).to_owned());
            }
        }
    }
    if plans.is_empty() {
        let message = format!("No type:tdd plans found in phase {typed}. TDD review skipped.");
        return Ok(ReviewReport {
            block: false,
            passed: true,
            tdd_plans: 0,
            violations: 0,
            table: String::new(),
            rows: Vec::new(),
            message,
            cure: None,
        });
    }
    let subjects = subjects();
    let rows: Vec<ReviewRow> = plans.into_iter().map(|plan| reviewed(plan, &subjects)).collect();
    let violations = rows.iter().filter(|row| !row.missing.is_empty()).count();
    let table = table(typed, &rows, violations);
    Ok(ReviewReport {
        block: violations > 0,
        passed: true,
        tdd_plans: rows.len(),
        violations,
        message: table.clone(),
        table,
        rows,
        cure: (violations > 0).then_some(
            "commit the failing test as `test({plan}): ...` before the code as `feat({plan}): ...`; name these plans in VERIFICATION.md",
        ),
    })
}

fn reviewed(plan_id: String, subjects: &[String]) -> ReviewRow {
    let has = |kind: &str| {
        let begin = format!("{kind}({plan_id})");
        subjects.iter().any(|subject| {
            subject.strip_prefix(&begin).is_some_and(|rest| rest.starts_with(':') || rest.starts_with("!:"))
        })
    };
    let (red, green, refactor) = (has("test"), has("feat"), has("refactor"));
    let missing: Vec<&str> =
        [(red, "RED"), (green, "GREEN")].into_iter().filter(|(there, _)| !there).map(|(_, name)| name).collect();
    let status = if missing.is_empty() { "Pass" } else { "FAIL" };
    ReviewRow { plan_id, red, green, refactor, status, missing }
}

fn table(typed: &str, rows: &[ReviewRow], violations: usize) -> String {
    let mut lines = vec![
        format!("### TDD REVIEW — Phase {typed}"),
        String::new(),
        format!("TDD Plans: {} | Gate violations: {violations}", rows.len()),
        String::new(),
        "| Plan | RED | GREEN | REFACTOR | Status |".to_owned(),
        "|------|-----|-------|----------|--------|".to_owned(),
    ];
    let mark = |there: bool, none: &'static str| if there { "✓" } else { none };
    for row in rows {
        lines.push(format!(
            "| {} |  {}  |   {}   |    {}     | {:<6} |",
            row.plan_id,
            mark(row.red, "✗"),
            mark(row.green, "✗"),
            mark(row.refactor, "—"),
            row.status
        ));
    }
    if violations > 0 {
        lines.push(String::new());
    }
    for row in rows.iter().filter(|row| !row.missing.is_empty()) {
        let id = &row.plan_id;
        let missing = row.missing.join(", ");
        lines.push(format!("{id} lacks {missing}: commits `test({id}): …`, then `feat({id}): …`"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_with_tests_first_is_checked_by_its_commits() {
        let files = [
            (".planning/phases/02-a/02-01-PLAN.md", "---\ntype: tdd\n---\n"),
            (".planning/phases/02-a/02-02-PLAN.md", "---\ntype: execute\n---\n"),
            (".planning/phases/02-a/02-03-PLAN.md", "---\ntype: tdd\n---\n"),
        ];
        let view = ProjectView::of(files);
        let folder = view.find_phase("2").unwrap().folder;
        let subjects = ["test(02-01): x", "feat(02-01)!: y", "refactor(02-01): z", "feat(02-03): y", "test(02-030): n"];
        let subjects = || subjects.map(str::to_owned).to_vec();
        let report = review(&view, "2", folder.as_ref(), subjects).unwrap();
        assert_eq!((report.tdd_plans, report.violations, report.block), (2, 1, true));
        assert_eq!(report.rows[1].missing, ["RED"]);
        assert!(report.table.contains("| 02-01 |  ✓  |   ✓   |    ✓     | Pass   |"), "{}", report.table);
        assert!(!review(&view, "9", None, Vec::new).unwrap().block);
    }
}
