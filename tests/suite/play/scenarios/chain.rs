//! One phase from its plan to its acceptance: `/gsd-plan-phase`, `/gsd-execute-phase`, `/gsd-verify-work`.

use super::Stage;
use super::agents::{self, Plan};
use super::hooks::hooks;
use super::plans::{FAREWELL_PLAN, README_PLAN, SWITCH_PLAN};
use serde_json::Value;

use crate::play::actor::{Actor, DROPPED, Spawn};

pub(crate) const PLANS: &[&Plan] = &[&FAREWELL_PLAN, &README_PLAN, &SWITCH_PLAN];

/// The short loop: three plans in two waves, no question but those that are always asked.
pub(crate) fn chain(stage: &mut Stage) {
    stage.has("greet");
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
    it.learns("NN", "padded_phase");
    it.learns("name", "phase_name");
    let folder = it.learns("dir", "expected_phase_dir");
    it.by("if that is null, `mkdir -p` `expected_phase_dir`").shell(&format!("mkdir -p {folder}")).done();
    it.by("ask: *Discuss first*").asks("1. Discuss first\n2. Plan without", "2. Plan without");
    it.by("| `--gaps`, `--reviews`, `--skip-research` | none |");
    let contributions = hooks(it, "plan:pre");
    let fills = [
        ("mode", "standard"),
        ("..", "false"),
        ("false with --no-tracer", "true"),
        ("false with --no-reversibility-gates", "true"),
        ("present | declined", "declined"),
        ("none | add to | replace", "none"),
        ("settings", "{}"),
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
        ("settings", "{}"),
        ("..", "false"),
        ("plans without SUMMARY", &listed.join(", ")),
        ("from round 2 on", DROPPED),
        ("YAML", ""),
    ];
    let (plans_checked, into) = (listed.clone(), folder.clone());
    let spawn = it.spawn("=\"gsd-plan-checker\"", &fills, move |it| agents::plan_checker(it, &plans_checked, &into));
    it.sends(spawn).expects("## VERIFICATION PASSED").done();
    it.runs("gsd-tools plan lint {dir}", &[]).is("valid", true).lacks("\"requirements_uncovered\": [ \"").done();
    it.runs("gsd-tools plan record", &[]).expects("\"committed\": true").done();
    hooks(it, "plan:post");
    it.by("Next Up: `");
    "Next Up: /gsd-execute-phase 1".to_owned()
}

pub(crate) const TRACKING: &str =
    ".planning/STATE.md .planning/state.json .planning/ROADMAP.md .planning/REQUIREMENTS.md";

/// The first two steps of `/gsd-execute-phase N`; answers with the phase's folder.
pub(crate) fn load_phase(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) -> String {
    it.knows("phase", phase);
    if !it.has_read("references/ui.md") {
        it.reads("references/ui.md").done();
    }
    it.runs("gsd-tools init execute-phase", &[]).is("phase_found", true).done();
    it.learns("N", "phase_number");
    let folder = it.learns("dir", "phase_dir");
    it.knows("NN", &plans[0].id[..2]);
    it.runs("gsd-tools phase-plan-index", &[]).done();
    let open: Vec<&str> = plans.iter().map(|plan| plan.id).collect();
    it.runs("gsd-tools plan check {open plans}", &[("open plans", &open.join(" "))]).done();
    it.runs("git status --short", &[]).done();
    it.runs("git worktree list", &[]).done();
    folder
}

/// The branch and the position, before the first wave.
pub(crate) fn begin_phase(it: &mut Actor) {
    let branch = it.by("branching_strategy").shell("git branch --show-current").text.trim().to_owned();
    it.runs("gsd-tools git base-branch --is-protected", &[("current branch", &branch)]).done();
    it.runs("gsd-tools state begin-phase", &[]).done();
}

/// `/gsd-execute-phase N`: every wave, then close and transition.
pub(crate) fn execute_phase(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) -> String {
    let folder = load_phase(it, phase, plans);
    begin_phase(it);
    let waves = plans.iter().map(|plan| plan.wave).max().unwrap();
    for wave in 1..=waves {
        let of_wave: Vec<&'static Plan> = plans.iter().copied().filter(|plan| plan.wave == wave).collect();
        run_wave(it, &folder, &of_wave);
        after_wave(it, &folder, &of_wave, wave < waves);
    }
    it.reads("workflows/execute-phase/steps/close.md").expects("## 7. Verify the goal").done();
    close_phase(it, phase, &folder, plans)
}

/// What an executor does with its plan, in the phase's folder, in a worktree or not.
type Part = fn(&mut Actor, &'static Plan, &str, bool) -> String;

fn executor(it: &mut Actor, folder: &str, plan: &'static Plan, side: Option<&Side>, part: Part) -> Spawn {
    let argument = side.map_or("", |side| &side.argument);
    let prompt = side.map_or(DROPPED, |side| &side.prompt);
    let fills = [
        ("id", plan.id),
        ("argument", argument),
        ("its `prompt` line", prompt),
        ("the project instruction file", "CLAUDE.md"),
        ("only if context_window", DROPPED),
        ("only for an interrupted plan", DROPPED),
    ];
    let (folder, worktree) = (folder.to_owned(), side.is_some());
    it.spawn("=\"gsd-executor\"", &fills, move |it| part(it, plan, &folder, worktree))
}

/// How a plan is executed beside others, as `worktree create-wave` answered.
struct Side {
    plan: String,
    argument: String,
    prompt: String,
}

pub(crate) fn run_wave(it: &mut Actor, folder: &str, plans: &[&'static Plan]) {
    run_wave_with(it, folder, plans, agents::executor);
}

/// One wave, side by side where the program says so; `part` is what each executor does.
pub(crate) fn run_wave_with(it: &mut Actor, folder: &str, plans: &[&'static Plan], part: Part) {
    let ids: Vec<&str> = plans.iter().map(|plan| plan.id).collect();
    let wave = it.runs("gsd-tools worktree create-wave", &[("ids, with commas", &ids.join(","))]).is("ok", true).json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let sides: Vec<Side> = wave["side_by_side"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|side| Side {
            plan: text(&side["plan"]),
            argument: text(&side["argument"]),
            prompt: text(&side["prompt"]),
        })
        .collect();
    if !sides.is_empty() {
        it.by("First spawn all of `side_by_side` in one message");
        let mut spawns = Vec::new();
        for side in &sides {
            let plan = plans.iter().find(|plan| plan.id == side.plan).unwrap();
            spawns.push(executor(it, folder, plan, Some(side), part));
        }
        for returned in it.sends_side_by_side(spawns) {
            returned.expects("## PLAN COMPLETE").done();
        }
        let beside: Vec<&str> = sides.iter().map(|side| side.plan.as_str()).collect();
        it.runs("gsd-tools worktree cleanup-wave", &[]).is("ok", true).done();
        it.runs("gsd-tools plan check {id}", &[("id", &beside.join(" "))]).lacks("\"finished\": false").done();
        it.runs("gsd-tools plan close {ids of side_by_side}", &[("ids of side_by_side", &beside.join(" "))]).done();
    }
    for plan in plans.iter().filter(|plan| !sides.iter().any(|side| side.plan == plan.id)) {
        it.by("Then spawn `in_turn` one after the other");
        let spawn = executor(it, folder, plan, None, part);
        it.sends(spawn).expects("## PLAN COMPLETE").done();
        it.runs("gsd-tools plan check {id}", &[("id", plan.id)]).lacks("\"finished\": false").done();
    }
}

pub(crate) fn after_wave(it: &mut Actor, folder: &str, plans: &[&'static Plan], more: bool) {
    for gate in ["build", "test"] {
        let ran = it.even_if_it_fails().runs(&format!("gsd-tools gate run {gate}"), &[]);
        assert!(!ran.text.contains("\"failed\""), "the gate is red: {}", ran.text);
    }
    if more {
        for plan in plans {
            let plan = format!("{folder}/{}-PLAN.md", plan.id);
            it.runs("gsd-tools verify key-links {plan}", &[("plan", &plan)]).done();
        }
    }
    hooks(it, "execute:wave:post");
}

pub(crate) fn close_phase(it: &mut Actor, phase: &str, folder: &str, plans: &'static [&'static Plan]) -> String {
    hooks(it, "execute:post");
    let (number, into) = (phase.to_owned(), folder.to_owned());
    let fills = [
        ("goal", "A person can be told goodbye"),
        ("success_criteria", "both calls work"),
        ("only if context_window", DROPPED),
        ("none, or list", "none"),
    ];
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
    it.runs("gsd-tools state get Progress", &[]).done();
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
    hooks(it, "verify:pre");
    for plan in plans {
        let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
        it.runs("gsd-tools frontmatter get {SUMMARY}", &[("SUMMARY", &summary)]).done();
        let before = it.field("plan_head_before");
        it.runs("git log --format='%h %s' -E", &[("id", plan.id), ("plan_head_before", &before)])
            .expects(plan.id)
            .done();
    }
    for plan in plans {
        let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
        it.runs("gsd-tools uat classify-coverage", &[("SUMMARY", &summary)]).expects("auto_passed").done();
    }
    it.by("show the covered list and ask once Accept").asks("1. Accept\n2. Try some by hand", "1. Accept");
    it.reads("templates/uat.md").done();
    let uat = format!("{folder}/{padded}-UAT.md");
    it.by("write UAT.md by it").writes(&uat, &agents::uat(plans, &padded));
    it.runs("complete UAT", &[("passed", "3"), ("issues", "0")]).is("committed", true).done();
    hooks(it, "verify:post");
    it.runs("gsd-tools verification settle-human", &[]).is("status", "passed").done();
    it.by("`{closed}` is `roadmap_complete` of the phase").runs("gsd-tools roadmap analyze", &[]).done();
    it.runs("accept phase", &[("tracking", TRACKING)]).done();
    it.runs("gsd-tools audit-uat", &[]).done();
    it.by("the position is elsewhere and stays there");
    "Next Up: /gsd-progress --next".to_owned()
}
