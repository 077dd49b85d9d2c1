//! Checks whether the plans of a phase cover its requirements and decisions.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::decisions::{Decided, Decision, decided, names};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::requirements::{self, Requirements};
use crate::project::view::ProjectView;
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;

/// What `check decision-coverage-plan` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct PlanCoverage {
    passed: bool,
    skipped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    total: usize,
    covered: usize,
    uncovered: Vec<Decision>,
    message: String,
    /// Decisions that end in a question: a plan would have to guess the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

impl PlanCoverage {
    /// The message about decisions that cannot be read, if there are any.
    pub(crate) fn unreadable(&self) -> Option<String> {
        (self.reason == Some(UNREADABLE)).then(|| self.message.clone())
    }

    /// The identifiers of the decisions that no plan cites.
    pub(crate) fn uncovered_ids(&self) -> Vec<String> {
        self.uncovered.iter().map(|decision| decision.id.clone()).collect()
    }
}

/// What `check decision-coverage-verify` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
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

/// The reason if a decision cannot be read.
const UNREADABLE: &str = "could-not-parse";

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
            Self::Disabled => "The decision coverage gate is disabled in the configuration.",
            Self::NoPath => "The gate needs the path of CONTEXT.md as its second argument.",
            Self::NoContext => "No CONTEXT.md - nothing to check.",
            Self::NoDecisions => "No trackable decisions in CONTEXT.md.",
        }
    }
}

/// The decisions of a context; `Err` if there is nothing to compare.
fn trackable(view: &ProjectView, enabled: bool, context: Option<&str>) -> Result<Result<Decided, Nothing>, FileError> {
    if !enabled {
        return Ok(Err(Nothing::Disabled));
    }
    let Some(path) = context.filter(|path| !path.trim().is_empty()) else { return Ok(Err(Nothing::NoPath)) };
    let Some(text) = view.text(path)? else { return Ok(Err(Nothing::NoContext)) };
    let found = decided(&text);
    let is_empty = found.decisions.is_empty() && found.unreadable.is_empty();
    Ok(if is_empty { Err(Nothing::NoDecisions) } else { Ok(found) })
}

/// A message that says where a context cannot be read and how to write a decision.
fn unreadable(context: Option<&str>, lines: &[usize]) -> Option<String> {
    let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
    let (path, lines) = (context.unwrap_or_default(), lines.join(", "));
    (!lines.is_empty()).then(|| {
        format!("`{path}` holds decisions that cannot be read (line {lines}). Write each as `- **D-01:** text`.")
    })
}

/// Checks whether each decision is cited in the parts of the plans that an executor reads.
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
            return Ok(PlanCoverage { passed, skipped: passed, reason, message, ..PlanCoverage::default() });
        }
    };
    let unreadable = unreadable(context, &trackable.unreadable);
    let trackable = trackable.decisions;
    let warnings = undecided(&trackable);
    let mut binding = String::new();
    for (_, text) in folder.map(|folder| view.plan_texts(folder)).transpose()?.unwrap_or_default() {
        binding.push_str(&binding_text(&text));
    }
    let total = trackable.len();
    let uncovered: Vec<Decision> = trackable.into_iter().filter(|decision| !decision.is_cited_in(&binding)).collect();
    let message = if let Some(message) = &unreadable {
        message.clone()
    } else if uncovered.is_empty() {
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
    Ok(PlanCoverage {
        passed: uncovered.is_empty() && unreadable.is_none(),
        skipped: false,
        reason: unreadable.map(|_| UNREADABLE),
        total,
        covered,
        uncovered,
        message,
        warnings,
    })
}

/// Checks whether each decision is cited in the plans or summaries of a phase. Never blocks.
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
            return Ok(WorkCoverage { skipped, reason, message, ..WorkCoverage::default() });
        }
    };
    let unreadable = unreadable(context, &trackable.unreadable);
    let trackable = trackable.decisions;
    let mut told = String::new();
    if let Some(folder) = folder {
        for file in folder.plans().chain(folder.summaries()) {
            told.push_str(&view.text(&folder.join(file))?.unwrap_or_default());
            told.push('\n');
        }
    }
    let total = trackable.len();
    let not_honored: Vec<Decision> = trackable.into_iter().filter(|decision| !decision.is_cited_in(&told)).collect();
    let message = if let Some(message) = &unreadable {
        message.clone()
    } else if not_honored.is_empty() {
        "Plans and SUMMARYs name all trackable CONTEXT.md decisions; whether the code keeps to them was not looked at."
            .to_owned()
    } else {
        format!(
            "### Decision Coverage (warning)\n\n{} decision(s) not found in the delivered files:\n\n{}\nThis is a \
             warning; the verification status is unchanged.",
            not_honored.len(),
            listed(&not_honored)
        )
    };
    let honored = total - not_honored.len();
    let reason = unreadable.map(|_| UNREADABLE);
    Ok(WorkCoverage { skipped: false, blocking: false, reason, total, honored, not_honored, message })
}

/// The decisions that are questions: their text, without remarks after it, ends in a question mark.
fn undecided(decisions: &[Decision]) -> Vec<String> {
    let asks = |decision: &&Decision| {
        // Text after a dash, or in brackets at the end, is a remark on the decision.
        let text = decision.text.split(" — ").next().unwrap_or_default();
        text.trim_end_matches([')', '"', '\'', '*', '_', '`', '.', ' ']).ends_with('?')
    };
    let said = |decision: &Decision| format!("{} is not decided yet: {}", decision.id, decision.text);
    decisions.iter().filter(asks).map(said).collect()
}

fn listed(decisions: &[Decision]) -> String {
    let mut lines = String::new();
    for Decision { id, text, category } in decisions {
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "- **{id}** ({category}): {text}");
    }
    lines
}

/// The parts of a plan that bind its executor: fields, sections and elements. Other parts do not.
fn binding_text(plan: &str) -> String {
    const FIELDS: &[&str] = &["must_haves", "truths", "objective"];
    const SECTIONS: &[&str] = &["must_haves", "truths", "tasks", "objective"];
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
    let binds = |title: &str| SECTIONS.contains(&title.trim().to_lowercase().replace(['-', ' '], "_").as_str());
    for heading in markdown.headings().filter(|heading| binds(heading.title)) {
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
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct GapReport {
    pub(crate) enabled: bool,
    pub(crate) rows: Vec<GapRow>,
    pub(crate) table: String,
    pub(crate) summary: String,
    pub(crate) counts: GapCounts,
    /// Where CONTEXT.md has decisions that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unreadable: Option<String>,
    /// Why the plans could not be read.
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
        let open = self.rows.iter().filter(|row| row.status != COVERED && row.status != NOT_READABLE);
        open.map(|row| row.item.as_str())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct GapCounts {
    total: usize,
    covered: usize,
    pub(crate) uncovered: usize,
}

const COVERED: &str = "Covered";

const UNLISTED: &str = "Missing from REQUIREMENTS.md";

const NOT_READABLE: &str = "Not readable";

/// The requirements that the roadmap assigns to a phase. If its section has no line for them, those that the
/// traceability table maps to it.
pub(crate) fn own_requirements(view: &ProjectView, phase: &str) -> Result<Vec<String>, FileError> {
    let roadmap = view.roadmap_or_empty()?;
    let section = roadmap.section(phase);
    if let Some(section) = section.filter(|section| roadmap.field(section, "Requirements").is_some()) {
        return Ok(roadmap.requirement_ids(section));
    }
    let listed = view.text(&view.layout().requirements())?.unwrap_or_default();
    Ok(Requirements::parse(&listed).of_phase(phase).into_iter().map(str::to_owned).collect())
}

/// The requirements in a list from a person or a workflow; empty if the list says that they are still open.
pub(crate) fn handed_over(list: &str) -> Vec<String> {
    requirements::typed_ids(&[list]).into_iter().filter(|word| !requirements::is_open_word(word)).collect()
}

/// Reports which requirements and decisions of the phase its plans cite. The requirements are those in `own`, or else
/// all of the project.
pub(crate) fn gaps(
    view: &ProjectView,
    path: &str,
    folder: Option<&PhaseFolder>,
    enabled: bool,
    own: Option<&[String]>,
) -> Result<GapReport, FileError> {
    let mut report = GapReport {
        enabled,
        summary: "skipped: `workflow.post_planning_gaps` is off".to_owned(),
        phase_dir_scope: "complete",
        ..GapReport::default()
    };
    if !enabled {
        return Ok(report);
    }
    let mut plans = String::new();
    let (mut items, mut unlisted, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
    let mut unassigned = 0;
    let text = view.text(&view.layout().requirements())?;
    if text.is_some() || own.is_some() {
        let text = text.unwrap_or_default();
        let requirements = Requirements::parse(&text);
        let listed = requirements.ids();
        let spelled =
            |id: &String| listed.iter().find(|listed| listed.eq_ignore_ascii_case(id)).unwrap_or(id).to_owned();
        let mut wanted: Vec<String> = own.map_or_else(|| listed.clone(), |own| own.iter().map(spelled).collect());
        // Other words around the identifiers are remarks.
        wanted.retain(|id| requirements::is_id(id) || listed.contains(id));
        wanted.sort_by(|left, right| requirements::by_number(left, right));
        wanted.dedup();
        unlisted.extend(wanted.iter().filter(|id| !requirements.knows(id) && !listed.contains(id)).cloned());
        unassigned = if wanted.is_empty() { listed.len() } else { 0 };
        items.extend(wanted.into_iter().map(|id| ("REQUIREMENTS.md", id)));
    }
    if let Some(folder) = folder {
        for (_, text) in view.plan_texts(folder)? {
            plans.push_str(&text);
            plans.push('\n');
        }
        let context = folder.artifact_path("CONTEXT");
        let text = context.as_deref().map(|path| view.text(path)).transpose()?.flatten();
        let Decided { mut decisions, unreadable: lines } = text.as_deref().map(decided).unwrap_or_default();
        decisions.sort_by(|left, right| requirements::by_number(&left.id, &right.id));
        items.extend(decisions.into_iter().map(|decision| ("CONTEXT.md", decision.id)));
        report.unreadable = self::unreadable(context.as_deref(), &lines);
        unreadable.extend(lines.into_iter().map(|line| GapRow {
            source: "CONTEXT.md",
            item: format!("line {line}"),
            status: NOT_READABLE,
        }));
    } else {
        report.phase_dir_read_error = Some(format!("there is no folder `{path}`"));
        report.phase_dir_scope = "none";
    }
    report.rows = items
        .into_iter()
        .map(|(source, item)| {
            let status = match source {
                "REQUIREMENTS.md" if unlisted.contains(&item) => UNLISTED,
                _ if names(&plans, &item) => COVERED,
                _ => "Not covered",
            };
            GapRow { source, item, status }
        })
        .chain(unreadable)
        .collect();
    let (total, covered) = (report.rows.len(), report.rows.iter().filter(|row| row.status == COVERED).count());
    report.counts = GapCounts { total, covered, uncovered: total - covered };
    report.table.push_str("## Post-Planning Gap Analysis\n\n");
    let unchecked = match unassigned {
        0 => String::new(),
        1 => "; 1 requirement of the project is assigned to no phase here and was not checked".to_owned(),
        many => {
            format!("; {many} requirements of the project are assigned to other phases or none and were not checked")
        }
    };
    if total == 0 {
        report.summary = format!("no requirements or decisions to check{unchecked}");
        let _ = writeln!(report.table, "No requirements or decisions to check{unchecked}.");
        return Ok(report);
    }
    report.summary = match report.counts.uncovered {
        0 => format!("✓ All {total} items covered by plans{unchecked}"),
        open => format!("⚠ {open} of {total} items not covered by any plan{unchecked}"),
    };
    report.table.push_str("| Source | Item | Status |\n|--------|------|--------|\n");
    for GapRow { source, item, status } in &report.rows {
        let mark = match *status {
            COVERED => "✓",
            UNLISTED | NOT_READABLE => "⚠",
            _ => "✗",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(report.table, "| {source} | {item} | {mark} {status} |");
    }
    let _ = write!(report.table, "\n{}\n", report.summary);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: &str = "<decisions>\n### S\n- **D-01:** a\n- **D-02:** b\n</decisions>\n";
    const PATH: &str = ".planning/phases/02-b/02-CONTEXT.md";

    fn view(plan: &str) -> ProjectView {
        let files = [
            (PATH, CONTEXT),
            (".planning/phases/02-b/02-01-PLAN.md", plan),
            (".planning/phases/02-b/02-01-SUMMARY.md", "as D-02 says\n"),
            (".planning/REQUIREMENTS.md", "- [ ] **A-1**: x\n- [x] **A-2**: y\n- **B-1**: later\n"),
        ];
        ProjectView::of(files)
    }

    fn folder(view: &ProjectView) -> PhaseFolder {
        view.phase_folders().unwrap()[0].clone()
    }

    #[test]
    fn a_decision_counts_only_in_binding_parts() {
        for (plan, covered) in [
            ("<task><done>D-01 and D-02</done></task>", 2),
            ("---\nmust_haves:\n  truths:\n    - per D-01\n---\nD-02 in passing\n", 1),
            ("## Tasks\nD-02\n", 1),
            ("## Must Haves\nD-01\n### More\nD-02\n", 2),
            ("## Must-Haves\nD-01\n", 1),
            ("## Must Have Been\nD-01\n", 0),
            ("<objective>D-011</objective> <!-- D-01 -->", 0),
        ] {
            let view = view(plan);
            let report = plans(&view, Some(&folder(&view)), Some(PATH), true).unwrap();
            assert_eq!((report.covered, report.passed), (covered, covered == 2), "{plan}");
        }
    }

    #[test]
    fn nothing_to_compare_is_reported_and_a_missing_argument_does_not_pass() {
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
    fn a_decision_that_cannot_be_read_is_not_skipped() {
        let report = |context: &str| {
            let plan = "<task><done>D-01</done></task>";
            let files = [(PATH, context), (".planning/phases/02-b/02-01-PLAN.md", plan)];
            let view = ProjectView::of(files);
            let folder = folder(&view);
            let work = work(&view, Some(&folder), Some(PATH), true).unwrap();
            (plans(&view, Some(&folder), Some(PATH), true).unwrap(), work)
        };
        for (context, total, line) in [
            ("<decisions>\n- **D-01:** a\n- D-02: b\n</decisions>\n", 1, "line 3"),
            ("<decisions>\n- Use SQLite\n</decisions>\n", 0, "line 2"),
            ("# Notes\n\n- **D-01:** a\n", 0, "line 3"),
        ] {
            let (plans, work) = report(context);
            assert_eq!(
                (plans.passed, plans.skipped, plans.reason, plans.total),
                (false, false, Some("could-not-parse"), total),
                "{context}"
            );
            assert!(plans.message.contains(line), "{}", plans.message);
            assert_eq!((work.reason, work.skipped, work.total), (Some("could-not-parse"), false, total));
        }
    }

    #[test]
    fn a_decision_that_ends_in_a_question_is_a_warning() {
        let text = |text: &str| vec![Decision { id: "D-01".into(), text: text.into(), category: String::new() }];
        for asked in ["before or after the sub-command?", "which? — **Reversibility:** costly", "(one or two?)"] {
            assert_eq!(undecided(&text(asked)).len(), 1, "{asked}");
        }
        for settled in ["one (why two? no need)", "a `?` in a query", "both"] {
            assert_eq!(undecided(&text(settled)), Vec::<String>::new(), "{settled}");
        }
    }

    #[test]
    fn work_covers_the_decisions_that_its_plans_and_summaries_cite() {
        let view = view("");
        let report = work(&view, Some(&folder(&view)), Some(PATH), true).unwrap();
        assert_eq!((report.honored, report.not_honored[0].id.as_str(), report.blocking), (1, "D-01", false));
    }

    #[test]
    fn gaps_are_requirements_and_decisions_that_no_plan_cites() {
        let view = view("requirements: [A-1]\nD-02\n");
        let report = gaps(&view, "", Some(&folder(&view)), true, None).unwrap();
        let rows: Vec<_> = report.rows.iter().map(|row| (row.item.as_str(), row.status)).collect();
        assert_eq!(rows, [("A-1", "Covered"), ("A-2", "Not covered"), ("D-01", "Not covered"), ("D-02", "Covered")]);
        assert!(report.table.contains("| CONTEXT.md | D-02 | ✓ Covered |\n\n⚠ 2 of 4 items not covered by any plan\n"));
        let of_phase =
            gaps(&view, "", Some(&folder(&view)), true, Some(&["A-1".to_owned(), "B-1".to_owned()])).unwrap();
        assert_eq!(of_phase.uncovered().collect::<Vec<_>>(), ["B-1", "D-01"], "A-2 belongs to another phase");
        let missing = gaps(&view, "x/y", None, true, None).unwrap();
        assert_eq!(
            (missing.counts.uncovered, missing.phase_dir_scope),
            (2, "none"),
            "a folder that is not there is told"
        );
        assert!(missing.phase_dir_read_error.unwrap().contains("x/y"));
    }

    #[test]
    fn a_phase_without_a_requirements_line_has_those_of_the_traceability_table() {
        let own = |roadmap: &str| {
            let rows = "| Requirement | Phase | Status |\n|---|---|---|\n| REQ-1 | Phase 1 | Pending |\n| REQ-2 | Phase 2 | Pending |\n\
                | REQ-3 | Phase 2, Phase 1 | Pending |\n| REQ-4 | Phase 12 | Pending |\n";
            let view = ProjectView::of([(".planning/ROADMAP.md", roadmap), (".planning/REQUIREMENTS.md", rows)]);
            own_requirements(&view, "1").unwrap()
        };
        assert_eq!(own("### Phase 1: A\n**Goal**: x\n"), ["REQ-1", "REQ-3"]);
        assert_eq!(own("### Phase 1: A\n**Requirements**: REQ-9\n"), ["REQ-9"]);
        assert_eq!(own("### Phase 1: A\n**Requirements**: TBD\n"), [""; 0]);
        let view = view("D-01 D-02");
        let report = gaps(&view, "", Some(&folder(&view)), true, Some(&[])).unwrap();
        assert!(report.summary.contains("2 requirements"), "what was not checked is counted: {}", report.summary);
    }

    #[test]
    fn a_decision_that_cannot_be_read_is_in_the_table_and_is_not_covered() {
        for (context, total) in
            [("<decisions>\n- **D-01 open\n</decisions>\n", 1), ("1. **D-01:** x\n2. **D-02:** y\n", 1)]
        {
            let view = ProjectView::of([(PATH, context), (".planning/phases/02-b/02-01-PLAN.md", "D-01")]);
            let report = gaps(&view, "", Some(&folder(&view)), true, Some(&[])).unwrap();
            assert_eq!((report.counts.total, report.counts.uncovered), (total, total), "{context}");
            assert!(report.table.contains("| CONTEXT.md | line ") && report.unreadable.is_some(), "{}", report.table);
            assert!(report.summary.starts_with('⚠'), "{}", report.summary);
        }
    }

    #[test]
    fn requirements_in_the_call_win_over_those_of_the_roadmap() {
        let view = view("requirements: [A-1]\nD-02\n");
        let rows = |list: &str| {
            let report = gaps(&view, "", Some(&folder(&view)), true, Some(&handed_over(list))).unwrap();
            let rows = report.rows.iter().filter(|row| row.source == "REQUIREMENTS.md");
            rows.map(|row| format!("{} {}", row.item, row.status)).collect::<Vec<_>>()
        };
        let all = ["A-1 Covered", "A-2 Not covered"];
        for list in ["A-1,A-2", "[A-2, A-1]", "[\"A-1\",\"A-2\"]", "A-1..A-2", "a-1\nA-2 A-1"] {
            assert_eq!(rows(list), all, "{list}");
        }
        assert_eq!(rows("Z-10 Z-9"), ["Z-9 Missing from REQUIREMENTS.md", "Z-10 Missing from REQUIREMENTS.md"]);
        assert_eq!(rows("B-1"), ["B-1 Not covered"], "a line without a checkbox names it too");
        for none in ["TBD", "null", "", "[]", "none yet"] {
            assert_eq!(rows(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn a_phase_is_checked_only_for_its_own_requirements() {
        let view = view("requirements: [A-1]\nD-02\n");
        let own_of = |roadmap: &str, phase: &str| {
            own_requirements(&ProjectView::of([(".planning/ROADMAP.md", roadmap)]), phase).unwrap()
        };
        let roadmap = "### Phase 1: A\n**Requirements**: A-2\n\n### Phase 2: B\n**Requirements**: [A-1, Z-9]\n";
        let own = own_of(roadmap, "02");
        assert_eq!(own, ["A-1", "Z-9"]);
        let report = gaps(&view, "", Some(&folder(&view)), true, Some(&own)).unwrap();
        let rows: Vec<_> = report.rows.iter().map(|row| (row.item.as_str(), row.status)).collect();
        assert_eq!(
            rows,
            [("A-1", "Covered"), ("Z-9", "Missing from REQUIREMENTS.md"), ("D-01", "Not covered"), ("D-02", "Covered")]
        );
        assert_eq!(report.uncovered().collect::<Vec<_>>(), ["Z-9", "D-01"]);
        assert_eq!(own_of("### Phase 2: B\n**Requirements**: TBD\n", "2"), [""; 0]);
        assert_eq!(own_of(roadmap, "7"), [""; 0]);
    }
}
