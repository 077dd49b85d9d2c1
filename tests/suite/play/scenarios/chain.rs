//! One phase from its plan to its acceptance: `/gsd-plan-phase`, `/gsd-execute-phase`, `/gsd-verify-work`.

use super::Stage;
use super::agents::{self, Plan};
use super::hooks::hooks;
use super::plans::{FAREWELL_PLAN, README_PLAN, SWITCH_PLAN};
use crate::play::actor::{Actor, DROPPED, Spawn};

const PLANS: &[&Plan] = &[&FAREWELL_PLAN, &README_PLAN, &SWITCH_PLAN];

/// The short loop: three plans in two waves, no question but those that are always asked.
pub(crate) fn chain(stage: &mut Stage) {
    stage.has("greet");
    stage.works_in_one_tree();
    stage.types("plan-phase", "1 --skip-research", |it| plan_phase(it, "1", PLANS));
    stage.expect_clean();
    stage.types("execute-phase", "1", |it| execute_phase(it, "1", PLANS));
    stage.expect_clean();
    assert_eq!(stage.shell("python3 greet.py --goodbye Ada"), "Goodbye, Ada!");
    stage.expect_agreement();
    stage.types("verify-work", "1", |it| verify_work(it, "1", PLANS));
    stage.expect_tidy();
    stage.expect_agreement();
}

/// `/gsd-plan-phase N --skip-research` without a talk before it.
pub(crate) fn plan_phase(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) -> String {
    it.knows("phase", phase);
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init plan-phase", &[]).is("phase_found", true).done();
    it.learns("N", "phase_number");
    let padded = it.learns("NN", "padded_phase");
    it.runs("gsd-tools roadmap get-phase", &[]).done();
    it.learns("name", "phase_name");
    let folder = it.learns("dir", "expected_phase_dir");
    it.by("if that is null, `mkdir -p` `expected_phase_dir`").shell(&format!("mkdir -p {folder}")).done();
    it.runs("gsd-tools phase mvp-mode", &[]).expects("false").done();
    it.by("ask: *Discuss first*").asks("1. Discuss first\n2. Plan without", "2. Plan without");
    it.by("| `--gaps`, `--reviews`, `--skip-research` | none |");
    let contributions = hooks(it, "plan:pre", &folder);
    let fills = [
        ("mode", "standard"),
        ("..", "false"),
        ("false with --no-tracer", "true"),
        ("false with --no-reversibility-gates", "true"),
        ("present | declined", "declined"),
        ("none | add to | replace", "none"),
        ("if VALIDATE and the file is missing", DROPPED),
        ("if any", ""),
        ("texts from step 4", &contributions),
    ];
    let into = folder.clone();
    let planner = it.spawn("=\"gsd-planner\"", &fills, move |it| agents::planner(it, plans, &into));
    it.sends(planner).expects("## PLANNING COMPLETE").done();
    let listed: Vec<String> = plans.iter().map(|plan| format!("{folder}/{}-PLAN.md", plan.id)).collect();
    let fills = [
        ("mode", "standard"),
        ("n", "1"),
        ("VALIDATE", "false"),
        ("..", "false"),
        ("plans without SUMMARY", &listed.join(", ")),
        ("from round 2 on", DROPPED),
        ("YAML", ""),
    ];
    let (checked, into) = (listed.clone(), folder.clone());
    let checker = it.spawn("=\"gsd-plan-checker\"", &fills, move |it| agents::plan_checker(it, &checked, &into));
    it.sends(checker).expects("## VERIFICATION PASSED").done();
    it.runs("gsd-tools config-get workflow.plan_bounce --default", &[]).expects("false").done();
    for plan in &listed {
        it.runs("gsd-tools frontmatter get {plan} --field requirements", &[("plan", plan)]).expects("FARE-").done();
    }
    let count = plans.len().to_string();
    it.runs("gsd-tools state planned-phase", &[("count of plans", &count)]).done();
    it.runs("gsd-tools roadmap annotate-dependencies", &[]).done();
    let commit = "create phase plan\" --files {dir}";
    it.runs(commit, &[("tracking", TRACKING)]).is("committed", true).done();
    assert!(!padded.is_empty());
    hooks(it, "plan:post", &folder);
    it.runs("gsd-tools phase-plan-index", &[]).done();
    it.by("Next Up: `");
    "Next Up: /gsd-execute-phase 1".to_owned()
}

pub(crate) const TRACKING: &str =
    ".planning/STATE.md .planning/state.json .planning/ROADMAP.md .planning/REQUIREMENTS.md";

/// `/gsd-execute-phase N`: every wave, then close and transition.
pub(crate) fn execute_phase(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) -> String {
    it.knows("phase", phase);
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init execute-phase", &[]).is("phase_found", true).done();
    it.learns("N", "phase_number");
    let folder = it.learns("dir", "phase_dir");
    it.knows("NN", &plans[0].id[..2]);
    it.runs("gsd-tools phase-plan-index", &[]).done();
    it.runs("gsd-tools config-get workflow", &[]).done();
    it.runs("gsd-tools check auto-mode", &[]).done();
    let branch = it.by("branching_strategy").shell("git branch --show-current").text.trim().to_owned();
    it.runs("gsd-tools git base-branch --is-protected", &[("current branch", &branch)]).done();
    it.runs("gsd-tools state begin-phase", &[]).done();
    let waves = plans.iter().map(|plan| plan.wave).max().unwrap();
    for wave in 1..=waves {
        let of_wave: Vec<&'static Plan> = plans.iter().copied().filter(|plan| plan.wave == wave).collect();
        run_wave(it, &folder, &of_wave);
        after_wave(it, &folder, wave, &of_wave, wave < waves);
    }
    it.reads("workflows/execute-phase/steps/close.md").expects("## 7. Verify the goal").done();
    close_phase(it, phase, &folder, plans)
}

fn executor(it: &mut Actor, folder: &str, plan: &'static Plan, beside: &str) -> Spawn {
    let fills = [
        ("id", plan.id),
        ("ids running side by side", beside),
        ("the project instruction file", "CLAUDE.md"),
        ("only if context_window", DROPPED),
        ("only for an interrupted plan", DROPPED),
    ];
    let folder = folder.to_owned();
    it.spawn("=\"gsd-executor\"", &fills, move |it| agents::executor(it, plan, &folder))
}

fn run_wave(it: &mut Actor, folder: &str, plans: &[&'static Plan]) {
    it.by("Side by side, at most 3 at a time, only if all hold");
    let ids: Vec<&str> = plans.iter().map(|plan| plan.id).collect();
    let mut spawns = Vec::new();
    for plan in plans {
        let beside = if plans.len() > 1 { ids.join(", ") } else { "nobody".to_owned() };
        spawns.push(executor(it, folder, plan, &beside));
    }
    for returned in it.sends_side_by_side(spawns) {
        returned.expects("## PLAN COMPLETE").done();
    }
    for plan in plans {
        let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
        it.runs("gsd-tools summary-extract {SUMMARY} --fields key_files", &[("SUMMARY", &summary)])
            .expects(plan.files()[0])
            .done();
        it.runs("git log --format='%h %cI %s' -E --grep", &[("id", plan.id)]).expects(plan.id).done();
    }
}

fn after_wave(it: &mut Actor, folder: &str, wave: u32, plans: &[&'static Plan], more: bool) {
    it.by("No command: \"not run\", never \"passed\"");
    if more {
        for plan in plans {
            let plan = format!("{folder}/{}-PLAN.md", plan.id);
            it.runs("gsd-tools verify key-links {plan}", &[("plan", &plan)]).done();
        }
    }
    hooks(it, "execute:wave:post", folder);
    let fills = [("a", wave.to_string()), ("tracking", TRACKING.to_owned())];
    let fills: Vec<_> = fills.iter().map(|(name, value)| (*name, value.as_str())).collect();
    it.runs("update tracking after wave", &fills).done();
}

fn close_phase(it: &mut Actor, phase: &str, folder: &str, plans: &'static [&'static Plan]) -> String {
    hooks(it, "execute:post", folder);
    let (number, into) = (phase.to_owned(), folder.to_owned());
    let fills = [("only if context_window", DROPPED), ("none, or list", "none")];
    let verifier = it.spawn("=\"gsd-verifier\"", &fills, move |it| agents::verifier(it, &number, plans, &into));
    it.sends(verifier).expects("## Verification Complete").done();
    it.runs("gsd-tools verification status {dir} --pick status", &[]).expects("passed").done();
    it.runs("gsd-tools phase complete", &[]).done();
    it.even_if_it_fails().runs("grep -l '^resolves_phase:'", &[]).done();
    let report = [("tracking", TRACKING)];
    it.runs("complete phase execution", &report).is("committed", true).done();
    it.reads("workflows/transition.md").done();
    transition(it, phase, folder, plans)
}

/// `workflows/transition.md`, after `phase complete`.
fn transition(it: &mut Actor, phase: &str, folder: &str, plans: &'static [&'static Plan]) -> String {
    for plan in plans {
        let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
        it.runs("gsd-tools summary-extract {SUMMARY} --fields one_liner", &[("SUMMARY", &summary)])
            .expects(plan.truth)
            .done();
    }
    it.by("Active requirements that work now").edits(
        ".planning/PROJECT.md",
        "- ✓ Greeting one person - existing\n\n### Active\n\n- [ ] Saying goodbye",
        &format!("- ✓ Greeting one person - existing\n- ✓ Saying goodbye - Phase {phase}\n\n### Active\n"),
    );
    it.runs("gsd-tools state record-session --stopped-at \"Phase", &[]).done();
    it.runs("evolve PROJECT.md after phase", &[("tracking", TRACKING)]).is("committed", true).done();
    it.runs("gsd-tools progress bar", &[]).done();
    let next = it.field("next_phase");
    it.runs("gsd-tools init phase-op", &[("M", &next)]).expects("false").done();
    it.by("discuss-phase {M}`");
    format!("Next Up: /gsd-discuss-phase {next}")
}

/// `/gsd-verify-work N` where every test is covered by a check: the person accepts.
pub(crate) fn verify_work(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) -> String {
    it.knows("phase", phase);
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init verify-work", &[]).is("phase_found", true).done();
    it.learns("N", "phase_number");
    let folder = it.learns("dir", "phase_dir");
    let padded = plans[0].id[..2].to_owned();
    it.knows("NN", &padded);
    it.even_if_it_fails().runs("grep -H -E '^(status|updated):'", &[]).done();
    hooks(it, "verify:pre", &folder);
    for plan in plans {
        let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
        it.runs("gsd-tools frontmatter get {SUMMARY}", &[("SUMMARY", &summary)]).done();
        let before = it.field("plan_head_before");
        it.runs("git log --format='%h %s' -E", &[("id", plan.id), ("plan_head_before", &before)])
            .expects(plan.id)
            .done();
    }
    it.by("show the covered list and ask once Accept").asks("1. Accept\n2. Try some by hand", "1. Accept");
    it.reads("templates/uat.md").done();
    let uat = format!("{folder}/{padded}-UAT.md");
    it.by("write UAT.md by it").writes(&uat, &agents::uat(plans, &padded));
    it.runs("complete UAT", &[("passed", "3"), ("issues", "0")]).is("committed", true).done();
    hooks(it, "verify:post", &folder);
    it.runs("gsd-tools verification status {dir}", &[]).is("status", "passed").done();
    accepted(it, phase, &folder, plans)
}

/// What follows once nothing failed and the verification passed.
fn accepted(it: &mut Actor, phase: &str, folder: &str, plans: &'static [&'static Plan]) -> String {
    let _ = (phase, folder, plans);
    it.runs("gsd-tools phase complete", &[]).done();
    it.runs("complete phase after acceptance", &[("tracking", TRACKING)]).is("committed", true).done();
    it.reads("workflows/transition.md").done();
    "Accepted.".to_owned()
}
