//! One phase from its plan to its acceptance: `/gsd-plan-phase`, `/gsd-execute-phase`, `/gsd-verify-work`.

use super::Stage;
use super::agents::{self, Plan, numbered};
use super::hooks::{Phase, hooks, hooks_of};
use super::plans::{FAREWELL_PLAN, README_PLAN, SECOND_SWITCH_PLAN, SWITCH_PLAN};
use serde_json::Value;

use crate::play::actor::{Actor, DROPPED, Spawn};

pub(crate) const PLANS: &[&Plan] = &[&FAREWELL_PLAN, &README_PLAN, &SWITCH_PLAN];

/// Two plans, one after the other.
const PAIR: &[&Plan] = &[&FAREWELL_PLAN, &SECOND_SWITCH_PLAN];

/// What a phase of two plans may cost from its plan to its acceptance, and what the steps of capabilities may add.
const CALLS_OF_PAIR: usize = 60;
const BYTES_OF_PAIR: usize = 40_000;
const CALLS_OF_STEPS: usize = 18;
const BYTES_OF_STEPS: usize = 12_000;

/// What a phase of three plans may cost, including the steps of capabilities, and how much of our texts it reads.
const CALLS_OF_THREE: usize = 80;
const BYTES_OF_THREE: usize = 60_000;
const TEXTS_OF_THREE: usize = 165_000;

/// The short loop: three plans in two waves, without questions except those that are always asked.
pub(crate) fn chain(stage: &mut Stage) {
    one_phase(stage, PLANS);
    let counts = stage.counts();
    assert!(counts.calls <= CALLS_OF_THREE, "{} calls", counts.calls);
    assert!(counts.answered <= BYTES_OF_THREE, "{} bytes answered", counts.answered);
    assert!(counts.read <= TEXTS_OF_THREE, "{} bytes of our texts", counts.read);
}

/// A phase of two plans, within its cost limits.
pub(crate) fn pair(stage: &mut Stage) {
    one_phase(stage, PAIR);
    let counts = stage.counts();
    let (calls, answered) = (counts.calls - counts.calls_of_steps, counts.answered - counts.answered_steps);
    assert!(calls <= CALLS_OF_PAIR, "{calls} calls");
    assert!(answered <= BYTES_OF_PAIR, "{answered} bytes answered");
    assert!(counts.calls_of_steps <= CALLS_OF_STEPS, "{} calls of steps", counts.calls_of_steps);
    assert!(counts.answered_steps <= BYTES_OF_STEPS, "{} bytes answered to steps", counts.answered_steps);
}

fn one_phase(stage: &mut Stage, plans: &'static [&'static Plan]) {
    stage.has("greet");
    stage.has_approved_gates();
    stage.types("plan-phase", "1 --skip-research", move |it| {
        let folder = begin_planning(it, "1");
        it.by("ask: *Discuss first*").asks("1. Discuss first\n2. Plan without", "2. Plan without");
        it.by("| `--gaps`, `--reviews`, `--skip-research` | none |");
        plan_phase(it, &folder, plans)
    });
    stage.expect_tidy();
    stage.types("execute-phase", "1", move |it| execute_phase(it, "1", plans));
    stage.expect_tidy();
    assert_eq!(stage.shell("python3 greet.py --goodbye Ada"), "Goodbye, Ada!");
    stage.expect_agreement();
    stage.types("verify-work", "1", move |it| verify_work(it, "1", plans));
    stage.expect_tidy();
    stage.expect_agreement();
}

/// The first step of `/gsd-plan-phase N`; returns the phase's folder.
pub(crate) fn begin_planning(it: &mut Actor, phase: &str) -> String {
    it.knows("phase", phase);
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init plan-phase", &[]).is("phase_found", true).done();
    it.learns("N", "number");
    it.learns("NN", "padded_phase");
    it.learns("name", "name");
    let folder = expected_folder(it);
    it.knows("dir", &folder);
    folder
}

/// The phase's folder, created if missing.
pub(crate) fn expected_folder(it: &mut Actor) -> String {
    it.field_if_any("phase_dir").unwrap_or_else(|| {
        let folder = it.field("expected_phase_dir");
        it.by("if that is null, `mkdir -p` `expected_phase_dir`").shell(&format!("mkdir -p {folder}")).done();
        folder
    })
}

/// `/gsd-plan-phase N` from its fourth step on, in mode standard.
pub(crate) fn plan_phase(it: &mut Actor, folder: &str, plans: &'static [&'static Plan]) -> String {
    let contributions = hooks_of(it, "plan:pre", &Phase::new(folder, plans));
    let into = folder.to_owned();
    let planner = planner(it, folder, plans, ("standard", &contributions), move |it| agents::planner(it, plans, &into));
    it.sends(planner).expects("## PLANNING COMPLETE").done();
    let (listed, into) = (documents(folder, plans), folder.to_owned());
    let checker = plan_checker(it, folder, plans, ("standard", ""), move |it| agents::plan_checker(it, &listed, &into));
    it.sends(checker).expects("## VERIFICATION PASSED").done();
    record_plans(it);
    it.by("Next Up: `");
    "Next Up: /gsd-execute-phase 1".to_owned()
}

/// The plans that a checker reads.
pub(crate) fn documents(folder: &str, plans: &[&Plan]) -> Vec<String> {
    plans.iter().map(|plan| format!("{folder}/{}-PLAN.md", plan.id)).collect()
}

fn is_researched(it: &Actor, folder: &str) -> bool {
    it.has_file(&format!("{folder}/{}-RESEARCH.md", numbered(folder).0))
}

/// The planner of step 5, in a mode and with contributions.
pub(crate) fn planner(
    it: &mut Actor,
    folder: &str,
    plans: &'static [&'static Plan],
    (mode, contributions): (&str, &str),
    script: impl FnOnce(&mut Actor) -> String + Send + 'static,
) -> Spawn {
    let research = is_researched(it, folder);
    let is_added_to = plans.iter().any(|plan| plan.closes.is_some());
    let fills = [
        ("mode", mode),
        ("..", "false"),
        ("false with --no-tracer", "true"),
        ("false with --no-reversibility-gates", "true"),
        ("present | declined", if research { "present" } else { "declined" }),
        ("none | add to | replace", if is_added_to { "add to" } else { "none" }),
        ("settings", "{}"),
        ("if VALIDATE", if research { "" } else { DROPPED }),
        ("if any", ""),
        ("plans of step 4.2", DROPPED),
        ("those into the planner, of step 4", contributions),
    ];
    it.spawn("=\"gsd-planner\"", &fills, script)
}

/// The checker of step 6, in a mode; from its second round on with the issues of the first.
pub(crate) fn plan_checker(
    it: &mut Actor,
    folder: &str,
    plans: &'static [&'static Plan],
    (mode, issues): (&str, &str),
    script: impl FnOnce(&mut Actor) -> String + Send + 'static,
) -> Spawn {
    let (round, again) = if issues.is_empty() { ("1", DROPPED) } else { ("2", "") };
    let fills = [
        ("mode", mode),
        ("n", round),
        ("VALIDATE", if is_researched(it, folder) { "true" } else { "false" }),
        ("settings", "{}"),
        ("..", "false"),
        ("plans without SUMMARY", &documents(folder, plans).join(", ")),
        ("from round 2 on", again),
        ("YAML", issues),
    ];
    it.spawn("=\"gsd-plan-checker\"", &fills, script)
}

/// Steps 7 and 8: the plans pass, and are recorded.
pub(crate) fn record_plans(it: &mut Actor) {
    let lint = it.runs("gsd-tools plan lint {dir}", &[]).is("valid", true);
    lint.lacks("\"requirements_uncovered\": [ \"").lacks("\"decisions_uncovered\": [ \"").done();
    it.runs("gsd-tools plan record", &[]).expects("\"committed\": true").done();
    hooks(it, "plan:post");
}

pub(crate) const TRACKING: &str =
    ".planning/STATE.md .planning/state.json .planning/ROADMAP.md .planning/REQUIREMENTS.md";

/// The first two steps of `/gsd-execute-phase N`; returns the phase's folder.
pub(crate) fn load_phase(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) -> String {
    it.knows("phase", phase);
    if !it.has_read("references/ui.md") {
        it.reads("references/ui.md").done();
    }
    it.runs("gsd-tools init execute-phase", &[]).is("phase_found", true).done();
    it.learns("N", "number");
    let folder = it.learns("dir", "phase_dir");
    it.knows("NN", &plans[0].id[..2]);
    it.runs("gsd-tools phase-plan-index", &[]).done();
    let is_open = |plan: &&&Plan| !it.has_file(&format!("{folder}/{}-SUMMARY.md", plan.id));
    let open: Vec<&str> = plans.iter().filter(is_open).map(|plan| plan.id).collect();
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
    hooks(it, "execute:pre");
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

/// What an executor does with its plan, in the phase's folder, with or without a worktree.
pub(crate) type Part = fn(&mut Actor, &'static Plan, &str, bool) -> String;

pub(crate) fn executor(it: &mut Actor, folder: &str, plan: &'static Plan, side: Option<&Side>, part: Part) -> Spawn {
    let (folder, worktree) = (folder.to_owned(), side.is_some());
    executor_with(it, plan, side, "", move |it| part(it, plan, &folder, worktree))
}

/// An executor that runs `script`; `done` lists the commits that an interrupted one made before.
pub(crate) fn executor_with(
    it: &mut Actor,
    plan: &Plan,
    side: Option<&Side>,
    done: &str,
    script: impl FnOnce(&mut Actor) -> String + Send + 'static,
) -> Spawn {
    let argument = side.map_or("", |side| &side.argument);
    let prompt = side.map_or(DROPPED, |side| &side.prompt);
    let fills = [
        ("id", plan.id),
        ("argument", argument),
        ("its `prompt` line", prompt),
        ("the project instruction file", "CLAUDE.md"),
        ("only if context_window", DROPPED),
        ("if any", DROPPED),
        ("those into the executor", ""),
        ("only for an interrupted plan", if done.is_empty() { DROPPED } else { done }),
    ];
    it.spawn("=\"gsd-executor\"", &fills, script)
}

/// How a plan is executed in parallel with others, as `worktree create-wave` answered.
pub(crate) struct Side {
    plan: String,
    argument: String,
    prompt: String,
}

pub(crate) fn run_wave(it: &mut Actor, folder: &str, plans: &[&'static Plan]) {
    run_wave_with(it, folder, plans, agents::executor);
}

/// Runs one wave, in parallel if the program says so; `part` is what each executor does.
pub(crate) fn run_wave_with(it: &mut Actor, folder: &str, plans: &[&'static Plan], part: Part) {
    let sides = begin_wave(it, folder, plans);
    if !sides.is_empty() {
        // The actor repeats a failed spawn itself.
        it.by("a spawn that fails in the host itself, not by a hook, is sent once more");
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
        judge(it, &beside);
        it.runs("gsd-tools plan close {the finished", &[("the finished", &beside.join(" "))]).done();
    }
    for plan in plans.iter().filter(|plan| !sides.iter().any(|side| side.plan == plan.id)) {
        it.by("Then spawn `in_turn` one after the other");
        let spawn = executor(it, folder, plan, None, part);
        it.sends(spawn).expects("## PLAN COMPLETE").done();
        judge(it, &[plan.id]);
    }
}

/// Checks whether plans are finished, from the files they left.
pub(crate) fn judge(it: &mut Actor, ids: &[&str]) {
    it.runs("gsd-tools plan check {id}", &[("id", &ids.join(" "))]).lacks("\"finished\": false").done();
}

/// The plan that the orchestrator executes itself.
pub(crate) const INLINE: &str =
    "a single open plan in the phase without `agent_hint`, its `task_count` up to `inline_plan_threshold`";

/// Begins a wave; returns the plans that run in parallel.
pub(crate) fn begin_wave(it: &mut Actor, folder: &str, plans: &[&'static Plan]) -> Vec<Side> {
    let phase = numbered(folder).0;
    let ids = (1..10).map(|number| format!("{folder}/{phase}-{number:02}"));
    let is_open = |id: &String| it.has_file(&format!("{id}-PLAN.md")) && !it.has_file(&format!("{id}-SUMMARY.md"));
    let is_single = ids.filter(is_open).count() == 1;
    assert!(it.is_ordered(INLINE) && (!is_single || plans[0].tasks.len() > 2), "this plan is for the orchestrator");
    let ids: Vec<&str> = plans.iter().map(|plan| plan.id).collect();
    let wave = it.runs("gsd-tools worktree create-wave", &[("ids, with commas", &ids.join(","))]).is("ok", true).json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    hooks(it, "execute:wave:pre");
    let sides = wave["side_by_side"].as_array().into_iter().flatten();
    let side = |side: &Value| Side {
        plan: text(&side["plan"]),
        argument: text(&side["argument"]),
        prompt: text(&side["prompt"]),
    };
    sides.map(side).collect()
}

/// Runs a gate, which must answer with `status`.
pub(crate) fn gate(it: &mut Actor, gate: &str, status: &str) {
    if status != "passed" {
        it.even_if_it_fails();
    }
    it.runs(&format!("gsd-tools gate run {gate}"), &[]).is("status", status).done();
}

pub(crate) fn after_wave(it: &mut Actor, folder: &str, plans: &[&'static Plan], more: bool) {
    gate(it, "build", "passed");
    gate(it, "test", "passed");
    wave_is_green(it, folder, plans, more);
}

/// Continues after the gates of a wave; `more`: another wave builds on it.
pub(crate) fn wave_is_green(it: &mut Actor, folder: &str, plans: &[&'static Plan], more: bool) {
    if more {
        for plan in plans {
            let plan = format!("{folder}/{}-PLAN.md", plan.id);
            it.runs("gsd-tools verify key-links {plan}", &[("plan", &plan)]).is("all_verified", true).done();
        }
    }
    hooks(it, "execute:wave:post");
}

pub(crate) fn close_phase(it: &mut Actor, phase: &str, folder: &str, plans: &'static [&'static Plan]) -> String {
    verify_phase(it, phase, folder, plans);
    complete_phase(it, folder);
    evolve(
        it,
        folder,
        plans,
        "- ✓ Greeting one person - existing\n\n### Active\n\n- [ ] Saying goodbye",
        &format!("- ✓ Greeting one person - existing\n- ✓ Saying goodbye - Phase {phase}\n\n### Active\n"),
    );
    route_on(it)
}

/// Steps 6 and 7 of the workflow: the verifier passes the phase.
pub(crate) fn verify_phase(it: &mut Actor, phase: &str, folder: &str, plans: &'static [&'static Plan]) {
    verify_phase_with(it, phase, folder, plans, None);
    it.runs("gsd-tools verification status {dir} --pick status", &[]).expects("passed").done();
}

/// As [`verify_phase`], before its result is looked at; the verifier may miss a truth.
pub(crate) fn verify_phase_with(
    it: &mut Actor,
    phase: &str,
    folder: &str,
    plans: &'static [&'static Plan],
    missing: Option<&'static str>,
) {
    it.runs("gsd-tools verify tests --phase {N}", &[]).is("clean", true).done();
    hooks_of(it, "execute:post", &Phase::new(folder, plans));
    let (number, into) = (phase.to_owned(), folder.to_owned());
    let fills = [
        ("goal", "A person can be told goodbye"),
        ("success_criteria", "both calls work"),
        ("only if context_window", DROPPED),
        ("none, or list", "none"),
        ("seen, or none", "none"),
        ("security_block_on", "high"),
        ("of the executors' returns", "none"),
        ("if any", DROPPED),
        ("those into the verifier", ""),
    ];
    let verifier =
        it.spawn("=\"gsd-verifier\"", &fills, move |it| agents::verifier(it, &number, plans, &into, missing));
    it.sends(verifier).expects("## Verification Complete").done();
}

/// Step 8: the phase is closed, in one commit, and its transition begins.
pub(crate) fn complete_phase(it: &mut Actor, folder: &str) {
    closed_phase(it, folder);
    it.reads("workflows/transition.md").done();
}

/// Step 8 up to its commit.
pub(crate) fn closed_phase(it: &mut Actor, folder: &str) {
    it.runs("gsd-tools phase complete", &[]).done();
    it.even_if_it_fails().runs("grep -l '^resolves_phase:'", &[]).done();
    let map = format!("{folder}/{}-VALIDATION.md", numbered(folder).0);
    let files = [("tracking", TRACKING), (&map, if it.has_file(&map) { &map } else { "" })];
    it.runs("complete phase execution", &files).is("committed", true).done();
}

/// `workflows/transition.md`, after `phase complete`, up to its fourth step.
pub(crate) fn evolve(it: &mut Actor, folder: &str, plans: &'static [&'static Plan], old: &str, new: &str) {
    for plan in plans {
        let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
        it.runs("gsd-tools summary-extract {SUMMARY} --fields one_liner", &[("SUMMARY", &summary)])
            .expects(plan.truth)
            .done();
    }
    it.by("Change only what the phase changed").edits(".planning/PROJECT.md", old, new);
    it.runs("gsd-tools state record-session --resume-file None", &[]).done();
    it.runs("evolve PROJECT.md after phase", &[("tracking", TRACKING)]).is("committed", true).done();
    it.runs("gsd-tools state get Progress", &[]).done();
}

/// The last step of `workflows/transition.md`: the next phase has no context.
pub(crate) fn route_on(it: &mut Actor) -> String {
    let next = it.field("next_phase");
    it.runs("gsd-tools smart-entry --json --pick next", &[])
        .is("workflow", "discuss-phase")
        .is("phase", next.as_str())
        .done();
    it.by("close with Next Up");
    format!("Next Up: /gsd-discuss-phase {next}")
}

/// `/gsd-verify-work N` if every test is covered by a check: the person accepts.
pub(crate) fn verify_work(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) -> String {
    let folder = begin_verify(it, phase, plans);
    hooks(it, "verify:pre");
    look_at_history(it, &folder, plans);
    for plan in plans {
        let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
        it.runs("gsd-tools uat classify-coverage", &[("SUMMARY", &summary)]).expects("auto_passed").done();
    }
    it.by("show the covered list and ask once Accept").asks("1. Accept\n2. Try some by hand", "1. Accept");
    it.reads("templates/uat.md").done();
    let padded = &plans[0].id[..2];
    let uat = format!("{folder}/{padded}-UAT.md");
    it.by("write UAT.md by it").writes(&uat, &agents::uat(plans, padded, &agents::ACCEPTED));
    it.runs("complete UAT", &[("passed", &plans.len().to_string()), ("issues", "0")]).is("committed", true).done();
    accept(it, &Phase::new(&folder, plans))
}

/// The first step of `/gsd-verify-work N`; returns the phase's folder.
pub(crate) fn begin_verify(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) -> String {
    it.knows("phase", phase);
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init verify-work", &[]).is("phase_found", true).done();
    it.learns("N", "number");
    it.knows("NN", &plans[0].id[..2]);
    it.even_if_it_fails().runs("grep -H -E '^(status|updated):'", &[]).done();
    it.learns("dir", "phase_dir")
}

/// Checks that the history has what the summaries report.
pub(crate) fn look_at_history(it: &mut Actor, folder: &str, plans: &'static [&'static Plan]) {
    for plan in plans {
        let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
        it.runs("gsd-tools frontmatter get {SUMMARY}", &[("SUMMARY", &summary)]).done();
        let before = it.field("plan_head_before");
        it.runs("git log --format='%h %s' -E", &[("id", plan.id), ("plan_head_before", &before)])
            .expects(plan.id)
            .done();
    }
}

/// Nothing failed, and the roadmap has closed the phase.
pub(crate) fn accept(it: &mut Actor, phase: &Phase) -> String {
    hooks_of(it, "verify:post", phase);
    let folder = &phase.folder;
    it.runs("gsd-tools verification settle-human", &[]).is("status", "passed").done();
    it.by("`{closed}` is `roadmap_complete` of the phase").runs("gsd-tools roadmap analyze", &[]).done();
    let map = format!("{folder}/{}-VALIDATION.md", numbered(folder).0);
    let files = [("tracking", TRACKING), (map.as_str(), if it.has_file(&map) { &map } else { "" })];
    it.runs("accept phase", &files).done();
    it.runs("gsd-tools audit-uat", &[]).done();
    it.by("the position is elsewhere and stays there");
    "Next Up: /gsd-progress --next".to_owned()
}
