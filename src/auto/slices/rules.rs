//! The next step as a table: the first rule that applies decides. Rules look and change nothing.

use super::artifact::PARALLEL_RESEARCH;
use super::derive::{Phase, State};
use super::guards;
use super::look::Look;
use super::snapshot::{Milestone, Slice};
use crate::auto::event::Mechanical;
use crate::auto::position::RuleResult;
use crate::auto::preferences::Pipeline;
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::{Unit, UnitKind};
use crate::text::shell::typed;

#[derive(Clone, Copy, Debug)]
pub(crate) struct LayoutRule {
    pub(crate) name: &'static str,
    pub(crate) simple: Listing,
    pub(crate) classic: Listing,
    apply: fn(&Look<'_>) -> RuleResult,
}

/// How a rule belongs to a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// It is one of the pipeline's rows.
    Row,
    /// It is off until a preference is set.
    Optional,
    /// It ends the table.
    Terminal,
    Absent,
}

/// The rules of both pipelines, in order.
pub(crate) const RULES: &[LayoutRule] = &[
    rule("escalating-task → pause-for-escalation", Listing::Optional, Listing::Optional, escalation),
    rule("rewrite-docs (override gate)", Listing::Row, Listing::Row, rewrite_docs),
    rule("summarizing → complete-slice", Listing::Row, Listing::Row, complete_slice),
    rule("run-uat (post-completion)", Listing::Row, Listing::Row, run_uat),
    rule("uat-verdict-gate (non-PASS blocks progression)", Listing::Optional, Listing::Row, uat_verdict),
    rule("reassess-roadmap (post-completion)", Listing::Optional, Listing::Row, reassess),
    rule("needs-discussion → discuss-milestone", Listing::Row, Listing::Row, needs_discussion),
    rule("pre-planning (no context) → discuss-milestone", Listing::Row, Listing::Row, no_context),
    rule("pre-planning (no research) → research-milestone", Listing::Optional, Listing::Row, research_milestone),
    rule("pre-planning (has research) → plan-milestone", Listing::Row, Listing::Row, plan_milestone),
    rule(
        "planning (require_slice_discussion) → pause for discussion",
        Listing::Optional,
        Listing::Row,
        slice_discussion,
    ),
    rule(
        "planning (multiple slices need research) → parallel-research-slices",
        Listing::Absent,
        Listing::Row,
        parallel_research,
    ),
    rule("planning (no research, not S01) → research-slice", Listing::Optional, Listing::Row, research_slice),
    rule("planning → plan-slice", Listing::Row, Listing::Row, plan_slice),
    rule("evaluating-gates → gate-evaluate", Listing::Optional, Listing::Row, gate_evaluate),
    rule("replanning-slice → replan-slice", Listing::Row, Listing::Row, replan_slice),
    rule("executing → reactive-execute (parallel dispatch)", Listing::Absent, Listing::Row, reactive),
    rule(
        "executing → execute-task (recover missing task plan → plan-slice)",
        Listing::Row,
        Listing::Row,
        missing_task_plan,
    ),
    rule("executing → execute-task", Listing::Row, Listing::Row, execute_task),
    rule("validating-milestone → validate-milestone", Listing::Row, Listing::Row, validate),
    rule("completing-milestone → complete-milestone", Listing::Row, Listing::Row, complete_milestone),
    rule("complete → stop", Listing::Terminal, Listing::Terminal, complete),
];

const fn rule(name: &'static str, simple: Listing, classic: Listing, apply: fn(&Look<'_>) -> RuleResult) -> LayoutRule {
    LayoutRule { name, simple, classic, apply }
}

impl LayoutRule {
    pub(crate) fn listing(&self, pipeline: Pipeline) -> Listing {
        match pipeline {
            Pipeline::Simple => self.simple,
            Pipeline::Classic => self.classic,
        }
    }

    pub(crate) fn apply(&self, look: &Look<'_>) -> RuleResult {
        match self.listing(look.preferences.pipeline) {
            Listing::Absent => RuleResult::No("this pipeline does not have it".to_owned()),
            Listing::Row | Listing::Optional | Listing::Terminal => (self.apply)(look),
        }
    }
}

/// Returns the first rule that applies, and what it finds.
pub(crate) fn first(look: &Look<'_>) -> Option<(&'static str, RuleResult)> {
    RULES.iter().find_map(|rule| match rule.apply(look) {
        RuleResult::No(_) => None,
        found => Some((rule.name, found)),
    })
}

fn no(why: impl Into<String>) -> RuleResult {
    RuleResult::No(why.into())
}

fn in_phase(look: &Look<'_>, phase: Phase) -> Result<(), RuleResult> {
    if look.state.phase == phase { Ok(()) } else { Err(no(format!("the phase is {}", look.state.phase.word()))) }
}

fn of_slice(look: &Look<'_>, phase: Phase, kind: UnitKind) -> RuleResult {
    match (in_phase(look, phase), look.slice_id()) {
        (Err(no), _) => no,
        (Ok(()), Some(id)) => RuleResult::Dispatch(Unit::new(kind, id)),
        (Ok(()), None) => no("no slice is active"),
    }
}

fn of_milestone(look: &Look<'_>, kind: UnitKind) -> RuleResult {
    match &look.state.milestone {
        Some(milestone) => RuleResult::Dispatch(Unit::new(kind, milestone.id.clone())),
        None => no("no milestone is active"),
    }
}

fn milestone_id(look: &Look<'_>) -> String {
    look.state.milestone.as_ref().map(|milestone| milestone.id.clone()).unwrap_or_default()
}

fn escalation(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::EscalatingTask) {
        return no;
    }
    let (milestone, slice) = (look.state.milestone.as_ref(), look.state.slice.as_ref());
    let detail = milestone.zip(slice).and_then(|(milestone, slice)| look.snapshot.detail(&milestone.id, &slice.id));
    let tasks = detail.and_then(|detail| detail.tasks.as_deref()).unwrap_or_default();
    let asked = tasks.iter().find_map(|task| Some((&task.id, task.waits_for()?)));
    let Some((task, question)) = asked else { return no("no question is open") };
    let id = format!("{}/{task}", look.slice_id().unwrap_or_default());
    let next = typed!("gsd-tools auto answer {} {}", id, question.recommended);
    let others = look.slices().iter().filter(|other| !other.done).flat_map(|other| {
        let detail = milestone.and_then(|milestone| look.snapshot.detail(&milestone.id, &other.id));
        let tasks = detail.and_then(|detail| detail.tasks.as_deref()).unwrap_or_default();
        let is_shown = slice.is_some_and(|slice| slice.id == other.id);
        tasks
            .iter()
            .filter(move |_| !is_shown)
            .filter_map(|task| Some(format!("{}/{} asks too: {}", other.id, task.id, task.waits_for()?.text)))
    });
    let shown = question.options.iter().cloned().chain(others);
    RuleResult::Stop(Stop::new(Cause::Escalation, format!("{id} asks: {}", question.text), next).shown(shown))
}

/// How often a session tries to write a change of course to the documents.
const REWRITES: u32 = 3;

/// True if a person's change of course is not in the documents yet: nothing lands without it.
pub(super) fn waits_for_rewrite(look: &Look<'_>) -> bool {
    !matches!(rewrite_docs(look), RuleResult::No(_))
}

fn rewrite_docs(look: &Look<'_>) -> RuleResult {
    if !look.snapshot.has_active_override {
        return no("no override is active");
    }
    // A milestone that is complete and has not landed counts as in work too.
    let in_work = || look.memory.run.as_ref().filter(|_| !look.memory.is_released).map(|run| run.milestone.clone());
    let active = look.state.milestone.as_ref().map(|milestone| milestone.id.clone());
    let Some(milestone) = active.or_else(in_work) else { return no("no milestone is in work") };
    if look.memory.rewrites >= REWRITES {
        let step = Mechanical::ResolveOverrides { milestone };
        let is_impossible = look.memory.fallbacks.contains_key(&step);
        return if is_impossible { no("the override cannot be resolved") } else { RuleResult::Mechanical(step) };
    }
    RuleResult::Dispatch(Unit::new(UnitKind::RewriteDocs, look.slice_id().unwrap_or(milestone)))
}

fn complete_slice(look: &Look<'_>) -> RuleResult {
    of_slice(look, Phase::Summarizing, UnitKind::CompleteSlice)
}

/// How often an acceptance test is run.
const UAT_RUNS: usize = 3;

fn run_uat(look: &Look<'_>) -> RuleResult {
    if !look.preferences.uat_dispatch {
        return no("`uat_dispatch` is off");
    }
    let Some(slice) = look.due_uat() else { return no("no acceptance test is due") };
    let id = format!("{}/{}", milestone_id(look), slice.id);
    let unit = Unit::new(UnitKind::RunUat, id.clone());
    if look.memory.attempts(&unit).refused.len() >= UAT_RUNS {
        let text = format!("the acceptance test of {id} was run {UAT_RUNS} times without a verdict");
        let next = typed!("gsd-tools auto verdict {} pass --rationale \"checked by hand\"", id);
        return RuleResult::Stop(Stop::new(Cause::UatExhausted, text, next));
    }
    RuleResult::Dispatch(unit)
}

fn uat_verdict(look: &Look<'_>) -> RuleResult {
    if !look.preferences.uat_dispatch {
        return no("`uat_dispatch` is off");
    }
    let milestone = milestone_id(look);
    let failed = look.slices().iter().filter(|slice| slice.done && !slice.skipped).find_map(|slice| {
        let uat = slice.uat.as_ref()?;
        let verdict = uat.verdict.as_deref()?;
        let partly = verdict == "partial"
            && look.preferences.uat_accept_partial
            && matches!(uat.mode.as_str(), "mixed" | "human-experience" | "live-runtime");
        (verdict != "pass" && !partly).then_some((slice, verdict))
    });
    let Some((slice, verdict)) = failed else { return no("no acceptance test has failed") };
    let id = format!("{milestone}/{}", slice.id);
    let text = format!("the acceptance test of {id} says `{verdict}`");
    let next = typed!("gsd-tools auto verdict {} pass --rationale \"checked by hand\"", id);
    RuleResult::Stop(Stop::new(Cause::UatFailed, text, next))
}

fn reassess(look: &Look<'_>) -> RuleResult {
    if !look.preferences.reassess_after_slice || look.preferences.skip_reassess {
        return no("`reassess_after_slice` is off");
    }
    let Some(slice) = look.last_done() else { return no("no slice is done") };
    let is_due = slice.has_summary && !slice.has_assessment;
    if !is_due || !(look.has_open_slice() || look.facts.reassesses_last) {
        return no("the roadmap needs no new assessment");
    }
    RuleResult::Dispatch(Unit::new(UnitKind::ReassessRoadmap, format!("{}/{}", milestone_id(look), slice.id)))
}

fn needs_discussion(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::NeedsDiscussion) {
        return no;
    }
    discuss(look, Cause::NeedsDiscussion, "has a draft of its context that nobody has discussed yet")
}

fn no_context(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::PrePlanning) {
        return no;
    }
    match look.milestone() {
        // For a milestone with a brief, the first step is its context.
        None => match look.memory.run.as_ref().filter(|_| look.facts.has_brief && look.state.registry.is_empty()) {
            Some(run) => RuleResult::Dispatch(Unit::new(UnitKind::DiscussMilestone, run.milestone.clone())),
            None => no("no milestone is active"),
        },
        Some(milestone) if milestone.has_context => no("the context is there"),
        Some(_) => discuss(look, Cause::NoContext, "has no CONTEXT.md, which says what it is to be"),
    }
}

fn discuss(look: &Look<'_>, cause: Cause, what: &str) -> RuleResult {
    if look.facts.has_brief {
        return of_milestone(look, UnitKind::DiscussMilestone);
    }
    let id = milestone_id(look);
    RuleResult::Stop(Stop::new(cause, format!("{id} {what}"), typed!("gsd-tools auto discuss {}", id)))
}

fn research_milestone(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::PrePlanning) {
        return no;
    }
    if look.preferences.skip_research {
        return no("`skip_research` is on");
    }
    match look.milestone() {
        Some(milestone) if !milestone.has_research => of_milestone(look, UnitKind::ResearchMilestone),
        _ => no("the research is there"),
    }
}

fn plan_milestone(look: &Look<'_>) -> RuleResult {
    match in_phase(look, Phase::PrePlanning) {
        Err(no) => no,
        Ok(()) => of_milestone(look, UnitKind::PlanMilestone),
    }
}

fn active_slice<'a>(look: &Look<'a>) -> Option<&'a Slice> {
    let id = &look.state.slice.as_ref()?.id;
    look.slices().iter().find(|slice| slice.id == *id)
}

fn slice_discussion(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::Planning) {
        return no;
    }
    if !look.preferences.require_slice_discussion {
        return no("`require_slice_discussion` is off");
    }
    match active_slice(look) {
        Some(slice) if !slice.has_context => {
            let id = look.slice_id().unwrap_or_default();
            let text = format!("{id} has no CONTEXT.md, and `require_slice_discussion` is on");
            RuleResult::Stop(Stop::new(Cause::SliceDiscussion, text, typed!("gsd-tools auto discuss {}", id)))
        }
        _ => no("the slice was discussed"),
    }
}

fn parallel_research(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::Planning) {
        return no;
    }
    if look.preferences.skip_slice_research {
        return no("`skip_slice_research` is on");
    }
    let milestone = look.milestone().filter(|milestone| !milestone.has_parallel_blocker);
    if milestone.into_iter().flat_map(Milestone::to_research).count() < 2 {
        return no("fewer than two slices can be researched now");
    }
    RuleResult::Dispatch(Unit::new(UnitKind::ResearchSlice, format!("{}/{PARALLEL_RESEARCH}", milestone_id(look))))
}

fn research_slice(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::Planning) {
        return no;
    }
    if look.preferences.skip_slice_research {
        return no("`skip_slice_research` is on");
    }
    match active_slice(look) {
        Some(slice) if look.milestone().is_some_and(|milestone| milestone.lacks_research(slice)) => {
            of_slice(look, Phase::Planning, UnitKind::ResearchSlice)
        }
        _ => no("the research is there"),
    }
}

fn plan_slice(look: &Look<'_>) -> RuleResult {
    if look.state.phase == Phase::Refining {
        return of_slice(look, Phase::Refining, UnitKind::PlanSlice);
    }
    of_slice(look, Phase::Planning, UnitKind::PlanSlice)
}

/// The answer to a gate's question is not in any document, so only a person can give it.
fn gate_evaluate(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::EvaluatingGates) {
        return no;
    }
    let id = look.slice_id().unwrap_or_default();
    let text = format!("{id} has open gates, which a person has to answer in its GATES.json, in the worktree");
    RuleResult::Stop(Stop::new(Cause::Escalation, text, "gsd-tools auto run"))
}

fn replan_slice(look: &Look<'_>) -> RuleResult {
    of_slice(look, Phase::ReplanningSlice, UnitKind::ReplanSlice)
}

fn reactive(_: &Look<'_>) -> RuleResult {
    no("several tasks are not run in one session")
}

fn missing_task_plan(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::Executing) {
        return no;
    }
    match active_task_has_plan(look) {
        Some(false) => of_slice(look, Phase::Executing, UnitKind::PlanSlice),
        _ => no("the task has its plan"),
    }
}

fn active_task_has_plan(look: &Look<'_>) -> Option<bool> {
    let State { milestone, slice, task, .. } = look.state;
    let found = look.snapshot.task(&milestone.as_ref()?.id, &slice.as_ref()?.id, &task.as_ref()?.id)?;
    Some(found.has_plan)
}

fn execute_task(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::Executing) {
        return no;
    }
    match (look.slice_id(), &look.state.task) {
        (Some(slice), Some(task)) => {
            RuleResult::Dispatch(Unit::new(UnitKind::ExecuteTask, format!("{slice}/{}", task.id)))
        }
        _ => no("no task is active"),
    }
}

fn validate(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::ValidatingMilestone) {
        return no;
    }
    if let Some(stop) = guards::missing_summaries(look) {
        return RuleResult::Stop(stop);
    }
    let step = Mechanical::PassValidation { milestone: milestone_id(look) };
    if look.preferences.skip_milestone_validation && !look.memory.fallbacks.contains_key(&step) {
        return RuleResult::Mechanical(step);
    }
    of_milestone(look, UnitKind::ValidateMilestone)
}

fn complete_milestone(look: &Look<'_>) -> RuleResult {
    if let Err(no) = in_phase(look, Phase::CompletingMilestone) {
        return no;
    }
    match guards::of_completion(look) {
        Some(stop) => RuleResult::Stop(stop),
        None => of_milestone(look, UnitKind::CompleteMilestone),
    }
}

fn complete(look: &Look<'_>) -> RuleResult {
    match in_phase(look, Phase::Complete) {
        Err(no) => no,
        Ok(()) => RuleResult::Stop(Stop::new(Cause::Complete, "all milestones are complete", "gsd-tools auto status")),
    }
}
