//! The plans of a phase in execution order: waves, what is done, what can run, what waits.
//!
//! The wave of a plan follows from its dependencies: one after the last of them. The declared wave is checked against
//! it.

use std::fmt::Write as _;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::phase::{PhaseId, short};
use crate::project::plan::{PhasePlan, PhaseSummary};
use crate::project::view::ProjectView;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};

/// What `phase-plan-index` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct PlanIndexReport {
    pub(crate) phase: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ambiguous_matches: Vec<String>,
    pub(crate) plans: Vec<IndexedPlan>,
    /// The plans of each wave.
    pub(crate) waves: BTreeMap<i64, Vec<String>>,
    /// Plans without a summary.
    pub(crate) incomplete: Vec<String>,
    /// Incomplete plans with no halted plan before them.
    pub(crate) runnable: Vec<String>,
    pub(crate) has_checkpoints: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// The warnings, with the plans concerned.
    #[serde(skip)]
    pub(super) faults: Vec<Fault>,
}

/// A problem with the order of plans.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// The plans concerned.
    pub(super) plans: Vec<String>,
    pub(super) kind: FaultKind,
    pub(super) sentence: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// It depends on something that is not a plan of the phase.
    Unknown(String),
    /// Its wave comes before one of its dependencies is done.
    TooEarly,
    /// It waits longer than necessary.
    TooLate,
    /// Plans of one wave write the same file.
    Shared,
}

/// A plan with the data that the executor needs.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct IndexedPlan {
    pub(crate) id: String,
    pub(crate) wave: i64,
    pub(crate) depends_on: Vec<String>,
    pub(crate) autonomous: bool,
    pub(crate) objective: Option<String>,
    pub(crate) files_modified: Vec<String>,
    pub(crate) files_deleted: Vec<String>,
    pub(crate) agent_hint: Option<String>,
    pub(crate) task_count: usize,
    pub(crate) has_summary: bool,
    pub(crate) halted: bool,
    /// Halted plans that this one depends on, nearest first.
    pub(crate) blocked_by: Vec<String>,
}

impl PlanIndexReport {
    /// The plans, wave by wave, for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let phase = short(&self.phase);
        if let Some(error) = &self.error {
            return screen.prose("", "", error);
        }
        if self.plans.is_empty() {
            return format!("Phase {phase} has no plans yet\n");
        }
        let done = self.plans.len() - self.incomplete.len();
        let title = format!("Phase {phase}  {done} of {} done", counted(self.plans.len(), "plan"));
        let mut page = screen.paint(Tone::Strong, &title) + "\n";
        let begun = self.plans.iter().filter(|plan| !plan.has_summary && plan.blocked_by.is_empty());
        let begun = begun.map(|plan| plan.wave).min();
        for wave in self.waves.keys() {
            // Writing to a string cannot fail.
            let _ = writeln!(page, "\n  Wave {wave}");
            let plans = self.plans.iter().filter(|plan| plan.wave == *wave);
            page += &screen.table("  ", &plans.map(|plan| Self::row(screen, plan, begun)).collect::<Vec<_>>());
        }
        for warning in &self.warnings {
            page += &screen.item("", Mark::Warning, warning);
        }
        page
    }

    /// The row of a plan; `begun` is the wave that is executed first.
    fn row(screen: Screen, plan: &IndexedPlan, begun: Option<i64>) -> Vec<Cell> {
        let (mark, word) = match () {
            () if plan.halted => (Mark::Failed, "halted".to_owned()),
            () if plan.has_summary => (Mark::Done, "done".to_owned()),
            () if !plan.blocked_by.is_empty() => (Mark::Warning, format!("blocked by {}", plan.blocked_by.join(", "))),
            () => match begun.filter(|wave| *wave < plan.wave) {
                Some(wave) => (Mark::Open, format!("waits for wave {wave}")),
                None => (Mark::Current, "ready".to_owned()),
            },
        };
        let objective = plan.objective.as_deref().unwrap_or_default();
        vec![screen.mark(mark), Cell::from(plan.id.as_str()), Cell::from(objective), Cell::new(Tone::Faint, word)]
    }
}

/// The plans of an open phase with their waves.
pub(crate) fn plan_index(view: &ProjectView, typed: &str) -> Result<PlanIndexReport, Failure> {
    let phase = PhaseId::new(typed).to_string();
    let lookup = view.find_phase(typed)?;
    if !lookup.ambiguous.is_empty() {
        let names = lookup.ambiguous.iter().map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
        let names: Vec<String> = names.collect();
        let (count, quoted) = (names.len(), names.join("\", \""));
        return Ok(PlanIndexReport {
            error: Some(format!("Phase {phase} is ambiguous: {count} directories match (\"{quoted}\").")),
            ambiguous_matches: names,
            phase,
            ..PlanIndexReport::default()
        });
    }
    let Some(folder) = lookup.folder.filter(|folder| folder.archived.is_none()) else {
        return Ok(PlanIndexReport { phase, error: Some("Phase not found".into()), ..PlanIndexReport::default() });
    };
    let (mut plans, declared) = read_plans(view, &folder)?;
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    for plan in &plans {
        if let Some(other) = names.insert(plan.id.to_lowercase(), &plan.id) {
            let message =
                format!("the plans {other} and {} of phase {phase} differ only in upper and lower case", plan.id);
            let hint = format!("rename {} and its summary, or remove one of them", plan.id);
            return Err(Failure::unknown(message).hint(hint));
        }
    }
    let graph = Graph::of(&plans);
    graph.set_waves(&mut plans, &declared).map_err(|left| {
        let plans: Vec<&str> = left.into_iter().map(|index| &*plans[index].id).collect();
        let plans = plans.join(", ");
        Failure::unknown(format!("the plans of phase {phase} depend on each other in a cycle: {plans}"))
            .hint("change `depends_on` of one of them")
    })?;
    let mut faults: Vec<Fault> = Vec::new();
    for (index, token) in &graph.dropped {
        let IndexedPlan { id, wave, .. } = &plans[*index];
        let kept = declared[*index].filter(|declared| declared == wave && *wave > 1);
        let kept = kept.map(|wave| format!("; it stays in wave {wave}, which it declares")).unwrap_or_default();
        faults.push(Fault {
            plans: vec![id.clone()],
            kind: FaultKind::Unknown(token.clone()),
            sentence: format!("Plan {id}: depends_on `{token}` is not a plan of this phase and is ignored{kept}"),
        });
    }
    for (index, declared) in declared.iter().enumerate() {
        let IndexedPlan { id, wave, .. } = &plans[index];
        let Some(declared) = declared.filter(|declared| declared != wave) else { continue };
        if graph.dropped.iter().all(|(of, _)| *of != index) {
            faults.push(Fault {
                plans: vec![id.clone()],
                kind: if declared < *wave { FaultKind::TooEarly } else { FaultKind::TooLate },
                sentence: format!("Plan {id}: `wave` is {declared}, but its dependencies put it in wave {wave}"),
            });
        }
    }
    faults.extend(shared_files(&plans));
    for index in 0..plans.len() {
        plans[index].blocked_by = graph.halted_before(index, &plans);
    }
    let warnings = faults.iter().map(|fault| fault.sentence.clone()).collect();
    Ok(PlanIndexReport { phase, warning: folder.told_misnamed(), warnings, faults, ..report(plans) })
}

/// The wave of each current plan of a folder for the roadmap: the declared one, or the one from its dependencies if
/// that is later. If the plans form a cycle, only the declared waves are used.
pub(crate) fn listed_waves(view: &ProjectView, folder: &PhaseFolder) -> Result<BTreeMap<String, u64>, FileError> {
    let (mut plans, declared) = read_plans(view, folder)?;
    let is_ordered = Graph::of(&plans).set_waves(&mut plans, &declared).is_ok();
    let waves = plans.into_iter().zip(declared).map(|(plan, declared)| {
        let computed = Some(plan.wave).filter(|_| is_ordered);
        (plan.id, computed.max(declared).and_then(|wave| u64::try_from(wave).ok()).unwrap_or(1))
    });
    Ok(waves.collect())
}

/// What blocks plans of a folder from being executed.
#[derive(Debug, Default)]
pub(crate) struct Obstacles {
    /// Abandoned plans, by identifier.
    pub(crate) halted: Vec<String>,
    /// Plans that wait for halted plans or for plans of a cycle, and those plans.
    pub(crate) blocked_by: BTreeMap<String, Vec<String>>,
}

impl Obstacles {
    /// Computes the obstacles of the current plans of a folder. Unlike in [`plan_index`], a cycle is not an error.
    pub(crate) fn of(view: &ProjectView, folder: &PhaseFolder) -> Result<Self, FileError> {
        let (plans, _) = read_plans(view, folder)?;
        let graph = Graph::of(&plans);
        // Plans that wait for each other or for themselves, and plans that wait for such plans.
        let circular = graph.order().err().unwrap_or_default();
        let before = (0..plans.len()).map(|index| {
            let mut before = graph.halted_before(index, &plans);
            if circular.contains(&index) {
                let waits_for = graph.edges[index].iter().filter(|on| circular.contains(on));
                before.extend(waits_for.map(|on| plans[*on].id.clone()));
                before.sort_unstable();
                before.dedup();
            }
            (plans[index].id.clone(), before)
        });
        Ok(Self {
            halted: plans.iter().filter(|plan| plan.halted).map(|plan| plan.id.clone()).collect(),
            blocked_by: before.filter(|(_, before)| !before.is_empty()).collect(),
        })
    }
}

/// The files that several open plans of one wave write: run in parallel, one would overwrite the other.
fn shared_files(plans: &[IndexedPlan]) -> Vec<Fault> {
    let mut writers: BTreeMap<(i64, &str), Vec<&str>> = BTreeMap::new();
    for plan in plans.iter().filter(|plan| !plan.has_summary) {
        for file in plan.files_modified.iter().chain(&plan.files_deleted) {
            let file = file.trim_start_matches("./");
            let ids = writers.entry((plan.wave, file)).or_default();
            if !ids.contains(&plan.id.as_str()) {
                ids.push(&plan.id);
            }
        }
    }
    let shared = writers.into_iter().filter(|(_, ids)| ids.len() > 1);
    shared
        .map(|((wave, file), ids)| Fault {
            sentence: format!(
                "Plans {} of wave {wave} all write `{file}`; let one depend on the other",
                ids.join(", ")
            ),
            plans: ids.into_iter().map(str::to_owned).collect(),
            kind: FaultKind::Shared,
        })
        .collect()
}

fn report(plans: Vec<IndexedPlan>) -> PlanIndexReport {
    let ids = |fits: &dyn Fn(&IndexedPlan) -> bool| {
        plans.iter().filter(|plan| fits(plan)).map(|plan| plan.id.clone()).collect::<Vec<_>>()
    };
    let mut waves: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for plan in &plans {
        waves.entry(plan.wave).or_default().push(plan.id.clone());
    }
    PlanIndexReport {
        incomplete: ids(&|plan| !plan.has_summary),
        runnable: ids(&|plan| !plan.has_summary && plan.blocked_by.is_empty()),
        has_checkpoints: plans.iter().any(|plan| !plan.autonomous),
        waves,
        plans,
        ..PlanIndexReport::default()
    }
}

/// Reads the current plans of a folder and the wave that each declares.
fn read_plans(view: &ProjectView, folder: &PhaseFolder) -> Result<(Vec<IndexedPlan>, Vec<Option<i64>>), FileError> {
    let mut plans = Vec::new();
    let mut declared = Vec::new();
    for file in folder.named_plans() {
        let text = view.text(&folder.join(file))?.unwrap_or_default();
        let plan = PhasePlan::parse(&text);
        if plan.is_superseded() {
            continue;
        }
        let summary = folder.summary_of(file).map(|summary| view.text(&folder.join(summary))).transpose()?.flatten();
        let summary = summary.as_deref().map(PhaseSummary::parse);
        let is_settled = view.is_settled(folder, file)?;
        declared.push(plan.wave());
        plans.push(IndexedPlan {
            id: plan_id(file).to_owned(),
            wave: 0,
            depends_on: plan.depends_on(),
            autonomous: plan.is_autonomous(),
            objective: plan.objective(),
            files_modified: plan.files_modified(),
            files_deleted: plan.files_deleted(),
            agent_hint: plan.agent_hint(),
            task_count: plan.task_count(),
            has_summary: is_settled,
            halted: summary.as_ref().is_some_and(PhaseSummary::is_halted),
            blocked_by: Vec::new(),
        });
    }
    let ids: Vec<String> = plans.iter().map(|plan: &IndexedPlan| plan.id.clone()).collect();
    for token in plans.iter_mut().flat_map(|plan| &mut plan.depends_on) {
        if let Some(id) = ids.iter().find(|id| id.eq_ignore_ascii_case(token)) {
            token.clone_from(id);
        }
    }
    Ok((plans, declared))
}

/// Which plan waits for which, by index.
struct Graph {
    edges: Vec<Vec<usize>>,
    /// Dependencies that name no plan of the phase: the index of the plan that has it, and the text.
    dropped: Vec<(usize, String)>,
}

impl Graph {
    fn of(plans: &[IndexedPlan]) -> Self {
        let mut graph = Self { edges: vec![Vec::new(); plans.len()], dropped: Vec::new() };
        for (index, plan) in plans.iter().enumerate() {
            for token in plan.depends_on.iter().flat_map(|token| named_in(token)) {
                match resolve(token, index, plans) {
                    Some(on) => graph.edges[index].push(on),
                    None => graph.dropped.push((index, token.to_owned())),
                }
            }
        }
        graph
    }

    /// Sets the wave of each plan; returns the plans of a cycle as an error.
    fn set_waves(&self, plans: &mut [IndexedPlan], declared: &[Option<i64>]) -> Result<(), Vec<usize>> {
        // If one wave is counted from zero, all are.
        let first = i64::from(!declared.contains(&Some(0)));
        for index in self.order()? {
            let after = self.edges[index].iter().map(|on| plans[*on].wave + 1).max();
            // A dependency that cannot be read may be a plan: the plan does not run before its declared wave.
            let is_unread = self.dropped.iter().any(|(of, _)| *of == index);
            let declared = declared.get(index).copied().flatten().filter(|_| is_unread);
            plans[index].wave = after.max(declared).unwrap_or(first).max(first);
        }
        Ok(())
    }

    /// The plans ordered so that each comes after its dependencies; the plans that cannot be ordered if there is a
    /// cycle.
    fn order(&self) -> Result<Vec<usize>, Vec<usize>> {
        let mut order: Vec<usize> = Vec::new();
        let mut left: BTreeSet<usize> = (0..self.edges.len()).collect();
        while !left.is_empty() {
            let free: Vec<usize> =
                left.iter().copied().filter(|index| self.edges[*index].iter().all(|on| !left.contains(on))).collect();
            if free.is_empty() {
                return Err(left.into_iter().collect());
            }
            left.retain(|index| !free.contains(index));
            order.extend(free);
        }
        Ok(order)
    }

    /// The halted plans for which the plan at `index` waits, directly or through others.
    fn halted_before(&self, index: usize, plans: &[IndexedPlan]) -> Vec<String> {
        let mut halted = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = self.edges[index].iter().rev().copied().collect();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                if plans[next].halted {
                    halted.push(plans[next].id.clone());
                }
                open.extend(self.edges[next].iter().rev());
            }
        }
        halted
    }
}

/// The dependencies in one text: `02-01, 02-02`, `02-01 and 02-02`. Words such as `none` give no dependency.
fn named_in(token: &str) -> impl Iterator<Item = &str> {
    const NONE: &[&str] = &["", "none", "nothing", "n/a", "null", "-", "—"];
    let parts = token.split([',', ';', '&']).flat_map(|part| part.split(" and "));
    let bare = parts.map(|part| part.trim().trim_matches(['"', '\'', '`', '[', ']', '*']).trim());
    bare.filter(|part| !NONE.contains(&part.to_lowercase().as_str()))
}

/// The plan that an entry of `depends_on` means: its identifier, its file, the numbers in it, or only the number of the
/// plan.
fn resolve(token: &str, own: usize, plans: &[IndexedPlan]) -> Option<usize> {
    let name = token.rsplit(['/', '\\']).next().unwrap_or(token);
    let name = without_end(name, ".md");
    let name = without_end(name, "-PLAN");
    let name = name.rsplit(' ').next().unwrap_or(name).trim_start_matches('#');
    let number = |id: &str| canonical_id(id).rsplit_once('-').map(|(_, number)| number.to_owned());
    let position = |fits: &dyn Fn(&str) -> bool| plans.iter().position(|plan| fits(&plan.id));
    let is_number = |number: &str| same_number(number, name);
    position(&|id| id.eq_ignore_ascii_case(name))
        .or_else(|| position(&|id| canonical_id(id).eq_ignore_ascii_case(name)))
        .or_else(|| position(&|id| number(id).as_deref() == Some(name)))
        .or_else(|| position(&|id| canonical_id(id).split('-').map(short).eq(name.split('-').map(short))))
        // A number that would make the plan wait for itself must mean something else.
        .or_else(|| position(&|id| number(id).as_deref().is_some_and(is_number)).filter(|found| *found != own))
}

/// A text without an ending, ignoring case.
fn without_end<'text>(text: &'text str, end: &str) -> &'text str {
    let at = text.len().saturating_sub(end.len());
    if text.get(at..).is_some_and(|tail| tail.eq_ignore_ascii_case(end)) { &text[..at] } else { text }
}

/// True if two texts are the same number: `2` and `02`.
fn same_number(one: &str, other: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number(one) && is_number(other) && short(one) == short(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    /// The index of phase 2 with these plans (number, front matter) and summaries (number, status).
    fn index(plans: &[(&str, &str)], summaries: &[(&str, &str)]) -> Result<PlanIndexReport, Failure> {
        let mut files = MemoryFiles::default();
        let at = |name: String| format!(".planning/phases/02-core/{name}");
        for (number, front) in plans {
            files.texts.insert(at(format!("02-{number}-PLAN.md")), format!("---\n{front}\n---\n"));
        }
        for (number, status) in summaries {
            files.texts.insert(at(format!("02-{number}-SUMMARY.md")), format!("---\nstatus: {status}\n---\n"));
        }
        plan_index(&files.view(), "2")
    }

    fn waves(report: &PlanIndexReport) -> Vec<(i64, String)> {
        report.waves.iter().map(|(wave, plans)| (*wave, plans.join(" "))).collect()
    }

    #[test]
    fn plans_whose_names_differ_only_in_case_are_refused() {
        let refused = index(&[("01-api", ""), ("01-API", "")], &[]).unwrap_err().to_string();
        assert!(refused.contains("02-01-API") && refused.contains("02-01-api"), "{refused}");
    }

    #[test]
    fn waves_follow_dependencies_however_they_are_written() {
        let report = index(
            &[
                ("01", "wave: 1"),
                ("02-api", "wave: 2\ndepends_on: [\"01\"]"),
                ("03", "wave: 2\ndepends_on:\n  - 02-02"),
                ("04", "depends_on: [02-01-PLAN.md, 01-09]\nwave: 4"),
                ("05", "wave: x\ndepends_on: []"),
            ],
            &[],
        )
        .unwrap();
        assert_eq!(
            waves(&report),
            [(1, "02-01 02-05".into()), (2, "02-02-api".into()), (3, "02-03".into()), (4, "02-04".into())]
        );
        assert_eq!(report.warnings.len(), 2, "{:?}", report.warnings);
        assert_eq!(report.warnings[1], "Plan 02-03: `wave` is 2, but its dependencies put it in wave 3");
    }

    #[test]
    fn a_plan_never_runs_before_its_dependencies_or_its_declared_wave() {
        for name in [
            "02-02",
            "02-02-api",
            "2",
            "02",
            "2-2",
            "02-02-PLAN.md",
            "02-02-api-PLAN.md",
            "02-02-plan",
            "Plan 02",
            "plan 2",
            "phases/02-core/02-02-api-PLAN.md",
            "\"`02-02`\"",
            "#2",
        ] {
            for list in [
                format!("[{name}]"),
                format!("\n  - {name}"),
                name.trim_matches('"').to_owned(),
                format!("[\"02-01\", {name}]"),
                format!("{}, 02-01", name.trim_matches('"').replace('#', "")),
                format!("02-01 and {}", name.trim_matches('"').replace('#', "")),
            ] {
                for wave in ["", "wave: 1\n", "wave: 3\n"] {
                    let front = format!("{wave}depends_on: {list}");
                    let plans = [("01", "wave: 1"), ("02-api", "depends_on: [02-01]"), ("03", front.as_str())];
                    let report = index(&plans, &[]).unwrap();
                    assert_eq!(report.plans[2].wave, 3, "{front} {:?}", report.warnings);
                }
            }
        }
        for unread in ["[01-09]", "the importer", "[07, x]", "03-01-PLAN.md"] {
            for declared in 1..4 {
                let front = format!("wave: {declared}\ndepends_on: {unread}");
                let report = index(&[("01", ""), ("02", &front), ("03", "depends_on: [2]")], &[]).unwrap();
                assert_eq!((report.plans[1].wave, report.plans[2].wave), (declared, declared + 1), "{front}");
                assert!(report.warnings[0].starts_with("Plan 02-02: depends_on `"), "{front}");
            }
        }
        let none = index(&[("01", "depends_on: none"), ("02", "depends_on: [\"-\"]")], &[]).unwrap();
        assert!(none.warnings.is_empty(), "{:?}", none.warnings);
    }

    #[test]
    fn open_plans_of_one_wave_that_write_the_same_file_are_a_warning() {
        let plans = [
            ("01", "files_modified: [a.rs, b.rs]"),
            ("02", "files_modified: [./a.rs]\nfiles_deleted: [a.rs]"),
            ("03", "files_modified: [b.rs]\ndepends_on: [02-01]"),
        ];
        let report = index(&plans, &[]).unwrap();
        assert_eq!(report.warnings, ["Plans 02-01, 02-02 of wave 1 all write `a.rs`; let one depend on the other"]);
        assert!(index(&plans, &[("01", "complete")]).unwrap().warnings.is_empty(), "what is done is not written again");
    }

    #[test]
    fn a_person_sees_which_plans_wait_for_an_earlier_wave() {
        let plans = [("01", "wave: 1"), ("02", "wave: 2\ndepends_on: [02-01]")];
        let screen = Screen { width: 80, color: false, signs: true };
        let before = index(&plans, &[]).unwrap().shown(screen);
        assert!(before.contains("02-01    ready") && before.contains("02-02    waits for wave 1"), "{before}");
        let after = index(&plans, &[("01", "complete")]).unwrap().shown(screen);
        assert!(after.contains("02-02    ready"), "{after}");
    }

    #[test]
    fn the_roadmap_lists_a_plan_in_the_wave_of_its_dependencies() {
        let files = [
            (".planning/phases/02-b/02-01-PLAN.md", "---\nwave: 1\n---\n"),
            (".planning/phases/02-b/02-02-PLAN.md", "---\ndepends_on: [02-01]\ngap_closure: true\n---\n"),
            (".planning/phases/02-b/02-03-PLAN.md", "---\nwave: 3\n---\n"),
        ];
        let view = MemoryFiles::new(files).view();
        let folder = view.find_phase("2").unwrap().folder.unwrap();
        let waves = listed_waves(&view, &folder).unwrap();
        assert_eq!(waves.into_values().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn counting_from_zero_is_kept() {
        let report = index(&[("01", "wave: 0"), ("02", "wave: 1\ndepends_on: 02-01")], &[]).unwrap();
        assert_eq!(waves(&report), [(0, "02-01".into()), (1, "02-02".into())]);
        assert!(report.warnings.is_empty());
    }

    #[test]
    fn a_cycle_is_an_error_that_names_its_plans() {
        let plans = [("01", "depends_on: [02-02]"), ("02", "depends_on: [02-01]"), ("03", "")];
        let error = index(&plans, &[]).unwrap_err().to_string();
        assert!(error.contains("02-01, 02-02") && !error.contains("02-03"), "{error}");
        assert!(index(&[("01", "depends_on: 02-01")], &[]).is_err());
    }

    #[test]
    fn a_halted_plan_blocks_all_plans_that_depend_on_it() {
        let report = index(
            &[("01", ""), ("02", "depends_on: 02-01"), ("03", "depends_on: [02-02, 02-04]"), ("04", ""), ("05", "")],
            &[("01", "halted"), ("04", "Halted"), ("05", "blocked")],
        )
        .unwrap();
        assert_eq!(report.plans[2].blocked_by, ["02-01", "02-04"]);
        assert!(report.plans[0].halted && report.plans[0].has_summary);
        assert_eq!(report.incomplete, ["02-02", "02-03", "02-05"]);
        assert_eq!(report.runnable, ["02-05"]);
    }

    #[test]
    fn superseded_plans_are_left_out_and_checkpoints_are_shown() {
        let report = index(&[("01", "status: superseded\nautonomous: false"), ("02", "")], &[]).unwrap();
        assert_eq!(report.plans.len(), 1);
        assert!(!report.has_checkpoints);
        assert!(index(&[("01", "autonomous: false")], &[]).unwrap().has_checkpoints);
    }

    #[test]
    fn a_missing_phase_is_reported_in_the_answer() {
        let view = MemoryFiles::default().view();
        assert_eq!(plan_index(&view, "7").unwrap().error.as_deref(), Some("Phase not found"));
        let twice = MemoryFiles::new([(".planning/phases/02-a/x", ""), (".planning/phases/02-b/x", "")]);
        let view = twice.view();
        assert_eq!(plan_index(&view, "2").unwrap().ambiguous_matches, ["02-a", "02-b"]);
    }
}
