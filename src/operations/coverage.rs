//! Whether the plans of a phase carry out what was asked and decided.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::decisions::{Decision, decisions, names};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::requirements::Requirements;
use crate::project::view::ProjectView;
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;

/// What `check decision-coverage-plan` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlanCoverage {
    passed: bool,
    skipped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    total: usize,
    covered: usize,
    uncovered: Vec<Decision>,
    message: String,
}

/// What `check decision-coverage-verify` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WorkCoverage {
    skipped: bool,
    blocking: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    total: usize,
    honored: usize,
    not_honored: Vec<Decision>,
    message: String,
}

/// Why there is nothing to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nothing {
    Disabled,
    NoPath,
    NoContext,
    NoDecisions,
}

impl Nothing {
    fn reason(self) -> &'static str {
        match self {
            Self::Disabled => "workflow.context_coverage_gate is false",
            Self::NoPath => "missing context path argument",
            Self::NoContext => "CONTEXT.md missing",
            Self::NoDecisions => "no trackable decisions",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Disabled => "Decision coverage gate disabled by config.",
            Self::NoPath => "The gate needs the path of CONTEXT.md as its second argument.",
            Self::NoContext => "No CONTEXT.md - nothing to check.",
            Self::NoDecisions => "No trackable decisions in CONTEXT.md.",
        }
    }
}

/// The decisions of a context; `Err` where there is nothing to compare.
fn trackable(
    view: &ProjectView,
    enabled: bool,
    context: Option<&str>,
) -> Result<Result<Vec<Decision>, Nothing>, FileError> {
    if !enabled {
        return Ok(Err(Nothing::Disabled));
    }
    let Some(path) = context.filter(|path| !path.trim().is_empty()) else { return Ok(Err(Nothing::NoPath)) };
    let Some(text) = view.text(path)? else { return Ok(Err(Nothing::NoContext)) };
    let found = decisions(&text);
    Ok(if found.is_empty() { Err(Nothing::NoDecisions) } else { Ok(found) })
}

/// Whether each decision is named where an executor reads it.
pub(crate) fn plans(
    view: &ProjectView,
    folder: Option<&PhaseFolder>,
    context: Option<&str>,
    enabled: bool,
) -> Result<PlanCoverage, FileError> {
    let trackable = match trackable(view, enabled, context)? {
        Ok(found) => found,
        Err(nothing) => {
            let passed = nothing != Nothing::NoPath;
            let (reason, message) = (Some(nothing.reason()), nothing.message().to_owned());
            return Ok(PlanCoverage {
                passed,
                skipped: passed,
                reason,
                total: 0,
                covered: 0,
                uncovered: Vec::new(),
                message,
            });
        }
    };
    let mut binding = String::new();
    for plan in folder.map(|folder| view.current_plans(folder)).transpose()?.unwrap_or_default() {
        let path = folder.map(|folder| folder.join(&plan)).unwrap_or_default();
        binding.push_str(&binding_text(&view.text(&path)?.unwrap_or_default()));
    }
    let total = trackable.len();
    let uncovered: Vec<Decision> = trackable.into_iter().filter(|decision| !decision.is_cited_in(&binding)).collect();
    let message = if uncovered.is_empty() {
        "All trackable CONTEXT.md decisions are covered by plans.".to_owned()
    } else {
        format!(
            "## Decision Coverage Gap\n\n{} CONTEXT.md decision(s) are not covered by any plan:\n\n{}\nName each as `D-NN` in a task, the \
             objective or the must-haves of a plan, or mark it `[informational]`.",
            uncovered.len(),
            listed(&uncovered)
        )
    };
    let covered = total - uncovered.len();
    Ok(PlanCoverage { passed: uncovered.is_empty(), skipped: false, reason: None, total, covered, uncovered, message })
}

/// Whether each decision is named in the plans or summaries of a phase. Never blocks.
pub(crate) fn work(
    view: &ProjectView,
    folder: Option<&PhaseFolder>,
    context: Option<&str>,
    enabled: bool,
) -> Result<WorkCoverage, FileError> {
    let trackable = match trackable(view, enabled, context)? {
        Ok(found) => found,
        Err(nothing) => {
            let (reason, message) = (Some(nothing.reason()), nothing.message().to_owned());
            let skipped = nothing != Nothing::NoPath;
            return Ok(WorkCoverage {
                skipped,
                blocking: false,
                reason,
                total: 0,
                honored: 0,
                not_honored: Vec::new(),
                message,
            });
        }
    };
    let mut told = String::new();
    if let Some(folder) = folder {
        for file in folder.plans().chain(folder.summaries()) {
            told.push_str(&view.text(&folder.join(file))?.unwrap_or_default());
            told.push('\n');
        }
    }
    let total = trackable.len();
    let not_honored: Vec<Decision> = trackable.into_iter().filter(|decision| !decision.is_cited_in(&told)).collect();
    let message = if not_honored.is_empty() {
        "All trackable CONTEXT.md decisions are honored by shipped artifacts.".to_owned()
    } else {
        format!(
            "### Decision Coverage (warning)\n\n{} decision(s) not found in shipped artifacts:\n\n{}\nThis is a soft warning - \
             verification status is unchanged.",
            not_honored.len(),
            listed(&not_honored)
        )
    };
    let honored = total - not_honored.len();
    Ok(WorkCoverage { skipped: false, blocking: false, reason: None, total, honored, not_honored, message })
}

fn listed(decisions: &[Decision]) -> String {
    let mut lines = String::new();
    for Decision { id, text, category } in decisions {
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "- **{id}** ({category}): {text}");
    }
    lines
}

/// The parts of a plan that bind its executor: fields, sections and elements. Remarks elsewhere do not.
fn binding_text(plan: &str) -> String {
    const FIELDS: &[&str] = &["must_haves", "truths", "objective"];
    const SECTIONS: &[&str] = &["must_haves", "must-haves", "truths", "tasks", "objective"];
    const ELEMENTS: &[&str] =
        &["objective", "tasks", "task", "action", "read_first", "behavior", "verify", "acceptance_criteria", "done"];
    let markdown = Markdown::parse(plan);
    let mut told = String::new();
    let mut add = |text: &str| {
        told.push_str(text);
        told.push('\n');
    };
    if let Some(front) = FrontMatter::of(&markdown) {
        for value in FIELDS.iter().filter_map(|field| front.get(field)) {
            add(&value.flat());
        }
    }
    for heading in markdown.headings().filter(|heading| SECTIONS.contains(&heading.title.to_lowercase().as_str())) {
        add(&plan[markdown.span(markdown.section(&heading))]);
    }
    for element in ELEMENTS {
        let (open, close) = (format!("<{element}"), format!("</{element}>"));
        let mut rest = plan;
        while let Some(at) = rest.find(&open) {
            rest = &rest[at + open.len()..];
            if !rest.starts_with(|next: char| next == '>' || next.is_whitespace()) {
                continue;
            }
            let Some(end) = rest.find(&close) else { break };
            add(&rest[..end]);
            rest = &rest[end..];
        }
    }
    told
}

/// What `gap-analysis` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GapReport {
    pub(crate) enabled: bool,
    pub(crate) rows: Vec<GapRow>,
    pub(crate) table: String,
    pub(crate) summary: String,
    pub(crate) counts: GapCounts,
    /// Why no plan could be looked at.
    phase_dir_read_error: Option<String>,
    phase_dir_scope: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GapRow {
    source: &'static str,
    item: String,
    status: &'static str,
}

impl GapReport {
    /// The requirements and decisions that no plan names.
    pub(crate) fn uncovered(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|row| row.status != COVERED).map(|row| row.item.as_str())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct GapCounts {
    total: usize,
    covered: usize,
    pub(crate) uncovered: usize,
}

const COVERED: &str = "Covered";

/// Which requirements and decisions a plan of the phase names: the requirements that `assigned` names, all of the
/// project without it, and the decisions of the phase.
pub(crate) fn gaps(
    view: &ProjectView,
    path: &str,
    folder: Option<&PhaseFolder>,
    assigned: Option<&str>,
    enabled: bool,
) -> Result<GapReport, FileError> {
    let mut report = GapReport {
        enabled,
        rows: Vec::new(),
        table: String::new(),
        summary: "workflow.post_planning_gaps disabled — skipping post-planning gap analysis".to_owned(),
        counts: GapCounts::default(),
        phase_dir_read_error: None,
        phase_dir_scope: "complete",
    };
    if !enabled {
        return Ok(report);
    }
    let mut plans = String::new();
    let mut items = Vec::new();
    if let Some(text) = view.text(&view.layout().requirements())? {
        let ids = Requirements::parse(&text).ids().into_iter();
        let wanted = ids.filter(|id| assigned.is_none_or(|assigned| names(assigned, id)));
        items.extend(wanted.map(|id| ("REQUIREMENTS.md", id)));
    }
    if let Some(folder) = folder {
        for plan in view.current_plans(folder)? {
            plans.push_str(&view.text(&folder.join(&plan))?.unwrap_or_default());
            plans.push('\n');
        }
        let context = folder.artifact_path("CONTEXT").map(|path| view.text(&path)).transpose()?.flatten();
        let decided = context.as_deref().map(decisions).unwrap_or_default();
        items.extend(decided.into_iter().map(|decision| ("CONTEXT.md", decision.id)));
    } else {
        report.phase_dir_read_error = Some(format!("there is no folder `{path}`"));
        report.phase_dir_scope = "none";
    }
    report.rows = items
        .into_iter()
        .map(|(source, item)| {
            let status = if names(&plans, &item) { COVERED } else { "Not covered" };
            GapRow { source, item, status }
        })
        .collect();
    let (total, covered) = (report.rows.len(), report.rows.iter().filter(|row| row.status == COVERED).count());
    report.counts = GapCounts { total, covered, uncovered: total - covered };
    report.table.push_str("## Post-Planning Gap Analysis\n\n");
    if total == 0 {
        report.summary = String::from("no requirements or decisions to check");
        report.table.push_str("No requirements or decisions to check.\n");
        return Ok(report);
    }
    report.summary = match report.counts.uncovered {
        0 => format!("✓ All {total} items covered by plans"),
        open => format!("⚠ {open} of {total} items not covered by any plan"),
    };
    report.table.push_str("| Source | Item | Status |\n|--------|------|--------|\n");
    for GapRow { source, item, status } in &report.rows {
        let mark = if *status == COVERED { "✓" } else { "✗" };
        // Writing to a string cannot fail.
        let _ = writeln!(report.table, "| {source} | {item} | {mark} {status} |");
    }
    let _ = write!(report.table, "\n{}\n", report.summary);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;
    use crate::project::layout::Layout;

    const CONTEXT: &str = "<decisions>\n### S\n- **D-01:** a\n- **D-02:** b\n</decisions>\n";
    const PATH: &str = ".planning/phases/02-b/02-CONTEXT.md";

    fn view(plan: &str) -> ProjectView {
        let files = [
            (PATH, CONTEXT),
            (".planning/phases/02-b/02-01-PLAN.md", plan),
            (".planning/phases/02-b/02-01-SUMMARY.md", "as D-02 says\n"),
            (".planning/REQUIREMENTS.md", "- [ ] **A-1**: x\n- [x] **A-2**: y\n- **B-1**: later\n"),
        ];
        ProjectView::new(Layout::new("/p", None, None), Box::new(MemoryFiles::new(files)))
    }

    fn folder(view: &ProjectView) -> PhaseFolder {
        view.phase_folders().unwrap()[0].clone()
    }

    #[test]
    fn a_decision_counts_where_it_binds() {
        for (plan, covered) in [
            ("<task><done>D-01 and D-02</done></task>", 2),
            ("---\nmust_haves:\n  truths:\n    - per D-01\n---\nD-02 in passing\n", 1),
            ("## Tasks\nD-02\n", 1),
            ("<objective>D-011</objective> <!-- D-01 -->", 0),
        ] {
            let view = view(plan);
            let report = plans(&view, Some(&folder(&view)), Some(PATH), true).unwrap();
            assert_eq!((report.covered, report.passed), (covered, covered == 2), "{plan}");
        }
    }

    #[test]
    fn nothing_to_compare_is_said_and_a_missing_argument_does_not_pass() {
        let view = view("");
        let passes = |context, enabled| {
            let report = plans(&view, Some(&folder(&view)), context, enabled).unwrap();
            (report.passed, report.reason.unwrap())
        };
        assert_eq!(passes(Some(PATH), false), (true, "workflow.context_coverage_gate is false"));
        assert_eq!(passes(Some("nope.md"), true), (true, "CONTEXT.md missing"));
        assert_eq!(passes(None, true), (false, "missing context path argument"));
        assert_eq!(passes(Some(".planning/REQUIREMENTS.md"), true), (true, "no trackable decisions"));
    }

    #[test]
    fn work_honors_what_its_plans_and_summaries_name() {
        let view = view("");
        let report = work(&view, Some(&folder(&view)), Some(PATH), true).unwrap();
        assert_eq!((report.honored, report.not_honored[0].id.as_str(), report.blocking), (1, "D-01", false));
    }

    #[test]
    fn gaps_are_requirements_and_decisions_that_no_plan_names() {
        let view = view("requirements: [A-1]\nD-02\n");
        let report = gaps(&view, "", Some(&folder(&view)), None, true).unwrap();
        let rows: Vec<_> = report.rows.iter().map(|row| (row.item.as_str(), row.status)).collect();
        assert_eq!(rows, [("A-1", "Covered"), ("A-2", "Not covered"), ("D-01", "Not covered"), ("D-02", "Covered")]);
        assert!(report.table.contains("| CONTEXT.md | D-02 | ✓ Covered |\n\n⚠ 2 of 4 items not covered by any plan\n"));
        let of_phase = gaps(&view, "", Some(&folder(&view)), Some("A-1, B-1"), true).unwrap();
        assert_eq!(of_phase.uncovered().collect::<Vec<_>>(), ["D-01"], "A-2 belongs to another phase");
        let missing = gaps(&view, "x/y", None, None, true).unwrap();
        assert_eq!(
            (missing.counts.uncovered, missing.phase_dir_scope),
            (2, "none"),
            "a folder that is not there is told"
        );
        assert!(missing.phase_dir_read_error.unwrap().contains("x/y"));
    }
}
