//! The forms in prompts can be parsed by the readers of the documents.

use super::super::citation;
use super::fixture::{prompt, unit};
use crate::auto::unit::UnitKind;
use crate::project::milestone_layout::assessment::{Assessment, slice_verdict};
use crate::project::milestone_layout::context::Context;
use crate::project::milestone_layout::escalation::Escalation;
use crate::project::milestone_layout::milestone_summary::{Ending, MilestoneSummary};
use crate::project::milestone_layout::overrides;
use crate::project::milestone_layout::requirements::Requirements;
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::summary::Summary;
use crate::project::milestone_layout::task_plan::TaskPlan;
use crate::project::milestone_layout::uat::UatMode;
use crate::project::milestone_layout::validation::{Validation, proves_operational};

/// Returns the form in the stable part of a unit's prompt with this first heading, filled in.
fn form(kind: UnitKind, heading: &str) -> String {
    let text = prompt(&unit(kind, 2, 1)).text;
    let (stable, _) = text.split_once("\n# Unit\n").unwrap();
    let forms =
        stable.split("\n```markdown\n").skip(1).map(|rest| rest.split("\n```\n").next().unwrap().to_owned() + "\n");
    filled(&forms.into_iter().find(|form| form.lines().any(|line| line == heading)).unwrap())
}

/// Replaces each placeholder with something.
fn filled(form: &str) -> String {
    let mut out = String::new();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap();
        out.push_str(before);
        out.push_str(match name {
            "path" => "src/a.rs",
            "command" => "cargo test a",
            _ => "words",
        });
        rest = after;
    }
    out + rest
}

#[test]
fn a_roadmap_in_the_prompts_form_is_parsed() {
    let roadmap = Roadmap::parse(&form(UnitKind::PlanMilestone, "# M001: {title}"));
    assert_eq!(roadmap.problems, []);
    assert_eq!((roadmap.title.as_deref(), roadmap.vision.as_deref()), (Some("words"), Some("words")));
    let rows: Vec<_> =
        roadmap.slices.iter().map(|row| (row.id.as_str(), row.risk.as_str(), row.depends.join(","))).collect();
    assert_eq!(rows, [("S01", "high", String::new()), ("S02", "medium", "S01".to_owned())]);
    assert!(
        roadmap.slices.iter().all(|row| !row.done && row.title == "words" && row.after.as_deref() == Some("words"))
    );
    let classes: Vec<&str> = roadmap.verification.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(classes, ["Contract", "Integration", "Operational", "UAT"]);
    assert_eq!(roadmap.success_criteria, ["words"]);
}

#[test]
fn a_slice_plan_in_the_prompts_form_is_parsed_and_cites_its_row() {
    let text = form(UnitKind::PlanSlice, "# S02: {title}");
    let plan = SlicePlan::parse(&text);
    assert_eq!(
        (plan.title.as_deref(), plan.goal.as_deref(), plan.demo.as_deref()),
        (Some("words"), Some("words"), Some("words"))
    );
    let tasks: Vec<_> =
        plan.tasks.iter().map(|task| (task.id.as_str(), task.estimate_minutes, task.verify.as_deref())).collect();
    let verify = [Some("cargo test a"), Some("cargo test a && cargo test a")];
    assert_eq!(tasks, [("T01", Some(45), verify[0]), ("T02", Some(60), verify[1])]);
    assert_eq!(plan.tasks[0].files, ["src/a.rs", "src/a.rs"]);
    assert_eq!(plan.verification.len(), 1);
    let roadmap = Roadmap::parse(&form(UnitKind::PlanMilestone, "# M001: {title}"));
    assert_eq!(citation::missing(roadmap.slice("S02").unwrap(), &text), None);
}

#[test]
fn a_task_plan_in_the_prompts_form_is_parsed() {
    let plan = TaskPlan::parse(&form(UnitKind::PlanSlice, "# T01: {verb and thing}"));
    assert_eq!(plan.outputs, ["src/a.rs"]);
}

#[test]
fn summaries_in_the_prompts_forms_are_parsed() {
    for (kind, heading, id) in
        [(UnitKind::ExecuteTask, "# T01: {title}", "T01"), (UnitKind::CompleteSlice, "# S02: {title}", "S02")]
    {
        let text = form(kind, heading);
        let summary = Summary::parse(&text);
        assert_eq!((summary.id.as_str(), summary.milestone.as_str()), (id, "M001"));
        assert_eq!((summary.title.as_deref(), summary.one_liner.as_deref()), (Some("words"), Some("words")));
        assert_eq!((summary.verification_result.as_str(), summary.blocker_discovered), ("passed", false));
        assert!(summary.minutes().is_some() && summary.completed_at.is_some());
        let keys: Vec<&str> = text
            .lines()
            .skip(1)
            .take_while(|line| *line != "---")
            .filter_map(|line| Some(line.split_once(':')?.0))
            .collect();
        assert_eq!(
            keys.join(" "),
            "id parent milestone provides requires affects key_files key_decisions patterns_established drill_down_paths \
             observability_surfaces duration verification_result completed_at blocker_discovered"
        );
    }
    let text = form(UnitKind::CompleteMilestone, "# M001: {title}");
    assert_eq!(Ending::of(&text), Ending::Success);
    let summary = MilestoneSummary::parse(&text);
    assert_eq!((summary.id.as_str(), summary.requirement_outcomes.len()), ("M001", 1));
}

/// An executor's report about another slice, and that it changed nothing.
#[test]
fn front_matter_as_described_in_the_prompt_is_parsed() {
    let text = form(UnitKind::ExecuteTask, "# T01: {title}");
    let text = text.replace("requires: []", "requires: [{slice: S01, provides: \"an index\"}]");
    let summary = Summary::parse(&text);
    assert_eq!((summary.requires[0].slice.as_str(), summary.requires[0].provides.as_str()), ("S01", "an index"));
}

#[test]
fn a_context_and_requirements_in_the_prompts_forms_are_parsed() {
    let context = Context::parse(&form(UnitKind::DiscussMilestone, "# M001: {title}"), "M001");
    assert_eq!(context.title.as_deref(), Some("words"));
    let requirements = Requirements::parse(&form(UnitKind::DiscussMilestone, "# Requirements"));
    let counts = requirements.counts();
    assert_eq!((counts.active, counts.total, counts.blocked), (1, 1, 0));
    assert_eq!(
        (requirements.entries[0].id.as_str(), requirements.entries[0].validation.as_str()),
        ("R001", "unmapped")
    );
}

#[test]
fn verdicts_in_the_prompts_forms_are_parsed() {
    let script = form(UnitKind::CompleteSlice, "# S02: UAT");
    assert_eq!(UatMode::of(&script), UatMode::ArtifactDriven);
    let result = form(UnitKind::RunUat, "# S02: UAT result");
    assert_eq!(slice_verdict(Some(&result), None, Some(&script)).unwrap().word(), "pass");
    let assessment = Assessment::parse(&form(UnitKind::ReassessRoadmap, "# S01: Assessment"));
    assert!(matches!(assessment, Assessment::Roadmap), "{assessment:?}");
    let text = form(UnitKind::ValidateMilestone, "# M001: Validation");
    let validation = Validation::parse(&text);
    assert!(validation.is_terminal() && validation.verdict.is_some());
    assert!(validation.validated_by.is_some() && validation.validated_at.is_some());
    assert!(proves_operational(&text));
}

#[test]
fn an_escalation_in_the_prompts_form_waits_for_an_answer() {
    let text = prompt(&unit(UnitKind::ExecuteTask, 2, 1)).text;
    let (_, json) = text.split_once("\n```json\n").unwrap();
    let escalation: Escalation = serde_json::from_str(json.split("\n```\n").next().unwrap()).unwrap();
    assert_eq!((escalation.options.len(), escalation.is_waiting()), (2, true));
}

#[test]
fn a_resolved_override_is_not_active() {
    let text = "## Override: 2026-01-02T10:00:00Z\n**Change:** x\n**Scope:** resolved\n**Applied-at:** S01\n---\n";
    assert!(overrides::read(text).iter().all(|block| !block.is_active));
}
