//! The gates that features declare, and what each says about a phase.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{drift, source};
use crate::acts::{Call, facts, hosts, named};
use crate::failure::{Failure, Reason};
use crate::operations::code::refactor;
use crate::operations::gates::artifact::{self, Predicate, UiPlanReport, UiSafetyReport};
use crate::operations::gates::coverage::{self, GapCounts};
use crate::operations::gates::outside_apis::{self, ApiCoverageReport};
use crate::operations::gates::test_first::{self, ReviewReport};

pub(crate) fn undecided(call: &Call, typed: &str) -> Result<refactor::UndecidedReport, Failure> {
    let strict = call.config()?.flag("refactor.trigger_strict");
    let view = call.view();
    let phase = named::phase_named(call, &view, typed)?;
    Ok(refactor::undecided(&view, phase.folder.as_ref(), strict)?)
}

/// The parts of a gate's answer that the loop uses.
#[derive(Debug)]
pub(crate) struct GateAnswer {
    pub(crate) verdict: CheckLevel,
    pub(crate) message: String,
    pub(crate) cure: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckLevel {
    Pass,
    Warn,
    Block,
}

impl CheckLevel {
    fn block(blocks: bool) -> Self {
        if blocks { Self::Block } else { Self::Pass }
    }

    fn warn(warns: bool) -> Self {
        if warns { Self::Warn } else { Self::Pass }
    }
}

/// Asks the gate that a feature declares under the name `query`.
pub(crate) fn ask(call: &Call, query: &str, typed: &str) -> Result<GateAnswer, Failure> {
    let (verdict, message, cure) = match query {
        "api-coverage.verify-pre" => {
            let report = api_coverage(call, typed)?;
            (CheckLevel::block(report.block), report.message, report.cure)
        }
        "gap-analysis.plan-post" => {
            let report = gap_gate(call, typed, None)?;
            (CheckLevel::warn(report.cure.is_some()), report.message, report.cure)
        }
        "refactor.undecided" => {
            let report = undecided(call, typed)?;
            let verdict = if report.block { CheckLevel::Block } else { CheckLevel::warn(report.cure.is_some()) };
            (verdict, report.message, report.cure)
        }
        "tdd.review-checkpoint" => {
            let report = test_first_review(call, typed)?;
            (CheckLevel::block(report.block), report.message, report.cure.map(str::to_owned))
        }
        "ui.plan-gate" => {
            let report = ui_plan(call, typed)?;
            (CheckLevel::block(report.block), report.message.unwrap_or_default(), report.cure)
        }
        "ui.safety-gate" => {
            let report = ui_safety(call, typed)?;
            (CheckLevel::block(report.block), report.message.unwrap_or_default(), report.cure)
        }
        "verify.codebase-drift" => {
            let report = drift::codebase_report(call)?;
            (CheckLevel::block(report.block), report.message.unwrap_or_default(), report.cure)
        }
        "verify.context-drift" => {
            let report = drift::context_report(call, typed)?;
            let verdict = if report.block { CheckLevel::Block } else { CheckLevel::warn(report.cure.is_some()) };
            (verdict, report.message, report.cure)
        }
        "verify.schema-drift" => {
            let report = drift::schema_report(call, typed, false)?;
            (CheckLevel::block(report.block), report.message, report.cure)
        }
        _ => {
            return Err(
                Failure::usage(format!("unknown gate `{query}`")).hint("`gsd-tools check --help` lists the gates")
            );
        }
    };
    Ok(GateAnswer { verdict, message, cure })
}

/// Asks whether a document of the phase meets the condition of a feature.
pub(crate) fn ask_predicate(call: &Call, wanted: &Value, typed: &str) -> Result<GateAnswer, Failure> {
    let wanted = Predicate::parse(&wanted.to_string())?;
    let view = call.view();
    let folder = named::phase_named(call, &view, typed)?.folder.map(|folder| folder.path).unwrap_or_default();
    let report = artifact::predicate(&view, call.config()?, &wanted, &folder)?;
    Ok(GateAnswer { verdict: CheckLevel::block(report.block), message: report.message, cure: None })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GapGateReport {
    block: bool,
    passed: bool,
    enabled: bool,
    message: String,
    table: String,
    summary: String,
    counts: GapCounts,
    /// How to plan the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<String>,
}

/// Runs the gate. `ids` are the requirements that count, if the caller names them.
pub(crate) fn gap_gate(call: &Call, typed: &str, ids: Option<&str>) -> Result<GapGateReport, Failure> {
    let enabled = call.config()?.flag("workflow.post_planning_gaps");
    let view = call.view();
    let phase = named::phase_named(call, &view, typed)?;
    // Requirements of other phases need not be covered here.
    let own = match ids {
        Some(list) => coverage::handed_over(list),
        // A project without a list of requirements lacks none of them.
        None if view.text(&view.layout().requirements())?.is_none() => Vec::new(),
        None => coverage::own_requirements(&view, &phase.number)?,
    };
    let report = coverage::gaps(&view, typed, phase.folder.as_ref(), enabled, Some(&own))?;
    let uncovered: Vec<&str> = report.uncovered().collect();
    let mut message = report.summary.clone();
    let mut cure = report.unreadable.as_ref().map(|_| "write each decision as `- **D-01:** text`".to_owned());
    if !uncovered.is_empty() {
        message = format!("No plan of phase {} names {}", phase.number, uncovered.join(", "));
        cure = Some(format!("{}plan-phase {}", call.command_prefix()?, phase.number));
    }
    if let Some(unreadable) = &report.unreadable {
        message = format!("{message}. {unreadable}");
    }
    Ok(GapGateReport {
        block: false,
        passed: true,
        enabled,
        message,
        table: report.table,
        summary: report.summary,
        counts: report.counts,
        cure,
    })
}

pub(crate) fn ui_plan(call: &Call, typed: &str) -> Result<UiPlanReport, Failure> {
    let config = call.config()?;
    let wanted = config.flag("workflow.ui_phase") && config.flag("workflow.ui_safety_gate");
    let view = call.view();
    let phase = named::phase_named(call, &view, typed)?;
    let designer = hosts::installed_command(call, "ui-phase")?;
    Ok(artifact::ui_plan(&view, &phase, source::has_frontend(call)?, wanted, designer.as_deref())?)
}

pub(crate) fn ui_safety(call: &Call, typed: &str) -> Result<UiSafetyReport, Failure> {
    let view = call.view();
    let phase = named::phase_named(call, &view, typed)?;
    let changed = source::changed_files(call, phase.folder.as_ref());
    let designer = hosts::installed_command(call, "ui-phase")?;
    Ok(artifact::ui_safety(&view, &phase, &changed, designer.as_deref())?)
}

pub(crate) fn api_coverage(call: &Call, typed: &str) -> Result<ApiCoverageReport, Failure> {
    let view = call.view();
    let phase = match named::phase_named(call, &view, typed) {
        Err(error) if error.reason == Reason::PhaseNotFound => {
            return Ok(outside_apis::no_phase(&view, error.message.clone()));
        }
        phase => phase?,
    };
    let planner = format!("{}plan-phase", call.command_prefix()?);
    Ok(outside_apis::verify_pre(&view, &phase, &planner)?)
}

pub(crate) fn test_first_review(call: &Call, typed: &str) -> Result<ReviewReport, Failure> {
    let view = call.view();
    let phase = named::phase_named(call, &view, typed)?;
    let subjects = || facts::subjects(call);
    Ok(test_first::review(&view, &phase.number, phase.folder.as_ref(), subjects)?)
}
