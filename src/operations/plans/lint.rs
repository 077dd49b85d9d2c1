//! Everything a program can find wrong with the plans of a phase before they are executed, in one report.

use schemars::JsonSchema;
use serde::Serialize;

use super::commands::{self, FolderFacts, SourceTree};
use super::directions;
use super::index::{self, PlanIndexError};
use super::structure;
use crate::operations::gates::coverage;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::plan::PhasePlan;
use crate::project::requirements::Requirements;
use crate::project::view::ProjectView;

/// What `plan lint` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LintReport {
    /// Whether there is nothing to repair; warnings are for judgement.
    pub(crate) valid: bool,
    /// How many plans were looked at: those that are still to be done.
    plans: usize,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    /// Requirements of the phase that no plan names.
    requirements_uncovered: Vec<String>,
    /// Decisions of CONTEXT.md that no plan cites.
    decisions_uncovered: Vec<String>,
}

/// One thing that is wrong, and in which plan; in none where it concerns several.
#[derive(Debug, Serialize, JsonSchema)]
struct Finding {
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    finding: String,
}

/// Checks the plans of `folder`; `disk` reports what the commands in them find.
pub(crate) fn lint(
    view: &ProjectView,
    folder: &PhaseFolder,
    root: &str,
    decisions_are_checked: bool,
    disk: &SourceTree<impl Fn(&str) -> FolderFacts, impl Fn(&str) -> bool>,
) -> Result<LintReport, FileError> {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    let listed = view.text(&view.layout().requirements())?;
    let requirements = listed.as_deref().map(Requirements::parse);
    let mut named: Vec<String> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for (file, text) in view.plan_texts(folder)? {
        let plan = PhasePlan::parse(&text);
        named.extend(plan.requirements());
        if view.is_settled(folder, &file)? {
            continue;
        }
        open.push(file.clone());
        let of = |finding: String| Finding { plan: Some(plan_id(&file).to_owned()), finding };
        let structure = structure::structure(&folder.join(&file), &text, requirements.as_ref());
        errors.extend(structure.errors.into_iter().map(of));
        warnings.extend(structure.warnings.into_iter().map(of));
    }
    let whole = |finding: String| Finding { plan: None, finding };
    match index::plan_index(view, folder.token()) {
        Ok(index) => warnings.extend(index.warnings.into_iter().chain(index.warning).chain(index.error).map(whole)),
        Err(PlanIndexError::Unreadable(error)) => return Err(error),
        Err(error @ (PlanIndexError::Cycle { .. } | PlanIndexError::SameName { .. })) => {
            errors.push(whole(error.to_string()));
        }
    }
    let commands = commands::paths(view, folder, root, disk)?.findings();
    let directions = directions::directions(view, folder)?.findings();
    // The checks of a plan that is done may name what later plans took away.
    let findings = commands.into_iter().chain(directions).filter(|(_, plan, _)| open.contains(plan));
    for (is_error, plan, finding) in findings {
        let finding = Finding { plan: Some(plan_id(&plan).to_owned()), finding };
        if is_error { errors.push(finding) } else { warnings.push(finding) }
    }
    let requirements_uncovered = uncovered(view, folder, &named)?;
    let context = folder.artifact_path("CONTEXT");
    let coverage = coverage::plans(view, Some(folder), context.as_deref(), decisions_are_checked)?;
    errors.extend(coverage.unreadable().map(whole));
    warnings.extend(coverage.warnings.iter().cloned().map(whole));
    Ok(LintReport {
        valid: errors.is_empty(),
        plans: open.len(),
        errors,
        warnings,
        requirements_uncovered,
        decisions_uncovered: coverage.uncovered_ids(),
    })
}

/// The requirements that the roadmap gives the phase and that `named` lacks.
fn uncovered(view: &ProjectView, folder: &PhaseFolder, named: &[String]) -> Result<Vec<String>, FileError> {
    let is_id = |id: &String| id.contains('-') && id.chars().any(|letter| letter.is_ascii_digit());
    let wanted = coverage::own_requirements(view, folder.token())?.into_iter().filter(is_id);
    Ok(wanted.filter(|id| !named.iter().any(|known| known.eq_ignore_ascii_case(id))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const PLAN: &str = "---\nphase: 01-a\nplan: 01\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: [a]\nautonomous: \
        true\nrequirements: [A-1]\nmust_haves:\n  truths: [x]\n---\n<task type=\"auto\"><name>N</name><files>a</files><action>does D-01\
        </action><verify><automated>ls</automated><fails_when>a is missing</fails_when></verify><done>d</done></task>\n";

    fn report(plan: &str, context: &str) -> LintReport {
        let files = [
            (".planning/ROADMAP.md", "### Phase 1: A\n**Requirements**: [A-1, A-2]\n"),
            (".planning/phases/01-a/01-01-PLAN.md", plan),
            (".planning/phases/01-a/01-CONTEXT.md", context),
        ];
        let view = ProjectView::of(files);
        let folder = view.find_phase("1").unwrap().folder.unwrap();
        let look = |path: &str| FolderFacts { absolute: path.to_owned(), found: None };
        lint(&view, &folder, "/p", true, &SourceTree { folder: look, is_file: |_: &str| false }).unwrap()
    }

    #[test]
    fn a_sound_plan_has_only_what_is_left_to_cover() {
        let report = report(PLAN, "<decisions>\n- **D-01:** one\n- **D-02:** two\n</decisions>\n");
        assert!(report.valid && report.plans == 1, "{report:?}");
        assert_eq!(report.requirements_uncovered, ["A-2"]);
        assert_eq!(report.decisions_uncovered, ["D-02"]);
    }

    #[test]
    fn a_plan_that_is_done_is_left_out_with_its_checks() {
        let gone = PLAN.replace("<automated>ls<", "<automated>node gone.js<");
        let linted = |more: &[(&str, &str)]| {
            let open = PLAN.replace("plan: 01", "plan: 02");
            let files = [
                (".planning/ROADMAP.md", "### Phase 1: A\n**Requirements**: [A-1]\n"),
                (".planning/phases/01-a/01-01-PLAN.md", gone.as_str()),
                (".planning/phases/01-a/01-02-PLAN.md", open.as_str()),
            ];
            let files = MemoryFiles::new(files.iter().chain(more).copied());
            let view = files.view();
            let folder = view.find_phase("1").unwrap().folder.unwrap();
            let look = |path: &str| FolderFacts { absolute: path.to_owned(), found: None };
            let report = lint(&view, &folder, "/p", true, &SourceTree { folder: look, is_file: |_: &str| false });
            let report = report.unwrap();
            (report.valid, report.plans, report.errors.len())
        };
        let summary = ".planning/phases/01-a/01-01-SUMMARY.md";
        assert_eq!(linted(&[]), (false, 2, 1));
        assert_eq!(linted(&[(summary, "---\nstatus: complete\n---\n")]), (true, 1, 0));
        assert_eq!(linted(&[(summary, "---\nstatus: blocked\n---\n")]), (false, 2, 1));
    }

    #[test]
    fn requirements_are_those_of_the_current_milestone_although_it_is_folded() {
        let files = [
            (".planning/STATE.md", "---\nmilestone: v1.0\n---\n\n# S\n"),
            (
                ".planning/ROADMAP.md",
                "<details>\n<summary>v1.0 MVP</summary>\n\n### Phase 1: A\n**Requirements**: [A-1, A-2]\n\n</details>\n",
            ),
            (".planning/phases/01-a/01-01-PLAN.md", PLAN),
        ];
        let view = ProjectView::of(files);
        let folder = view.find_phase("1").unwrap().folder.unwrap();
        assert_eq!(uncovered(&view, &folder, &["A-1".to_owned()]).unwrap(), ["A-2"]);
        assert!(view.phase_named("1").unwrap().is_some());
        let without = view.after(&{
            let mut edits = crate::project::view::Edits::default();
            edits.removals.push(".planning/phases/01-a/01-01-PLAN.md".to_owned());
            edits.emptied.push(".planning/phases/01-a".to_owned());
            edits
        });
        assert!(without.find_phase("1").unwrap().folder.is_none());
        assert!(without.phase_named("1").unwrap().is_some(), "the roadmap names it");
    }

    #[test]
    fn decisions_that_cannot_be_read_or_are_none_are_found() {
        let unreadable = report(PLAN, "<decisions>\n- **D-01:** one\n- D-02: two\n</decisions>\n");
        assert!(!unreadable.valid && unreadable.errors[0].finding.contains("line 3"), "{unreadable:?}");
        let asked = report(PLAN, "<decisions>\n- **D-01:** one or two?\n</decisions>\n");
        assert!(asked.valid && asked.warnings[0].finding.contains("D-01 is not decided"), "{asked:?}");
    }

    #[test]
    fn a_broken_plan_is_named_with_each_finding() {
        let report = report(&PLAN.replace("<name>N</name>", "").replace("depends_on: []", "depends_on: [01-01]"), "");
        assert!(!report.valid);
        assert_eq!(report.errors[0].plan.as_deref(), Some("01-01"));
        assert!(
            report.errors.iter().any(|error| error.finding.contains("depend on each other in a cycle")),
            "{report:?}"
        );
    }
}
