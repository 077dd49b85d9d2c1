//! `/gsd-yolo`: a milestone of two phases from its start to its archive, without questions; the client dies, a person
//! stops it from elsewhere, and a verification finds a gap.

use serde_json::Value;

use super::Stage;
use super::agents::{self, Plan, Task};
use super::chain::{self, TRACKING};
use super::hooks::{Phase, hooks, hooks_of};
use super::milestone::{self, Closing};
use super::plans::{FAREWELL_PLAN, README_PLAN, SWITCH_PLAN};
use crate::kit::binary;
use crate::play::actor::{Actor, Spawn};

const FAREWELL: Plan =
    Plan { requirements: &["FARE-01", "FARE-02"], objective: "A module says goodbye (D-01)", ..FAREWELL_PLAN };

/// What the verification misses: no command line calls the module yet.
const SWITCH: Plan = Plan { wave: 1, depends_on: &[], closes: Some(""), ..SWITCH_PLAN };

const BUILT: &[&Plan] = &[&FAREWELL, &README_PLAN];
const FIXES: &[&Plan] = &[&SWITCH];
const WITH_FIX: &[&Plan] = &[&FAREWELL, &README_PLAN, &SWITCH];

const CROWDS: &[&Plan] = &[&Plan {
    id: "02-01",
    wave: 1,
    depends_on: &[],
    requirements: &["CROWD-01"],
    objective: "Several people are greeted in one call (D-01)",
    truth: "`python3 crowds.py` offers a greeting for each name",
    tasks: &[Task {
        name: "Greet each",
        kind: "auto",
        files: &[
            (
                "crowds.py",
                "import greet\n\n\ndef all_of(names):\n    return [greet.greeting(name) for name in names]\n",
            ),
            (
                "test_crowds.py",
                "import unittest\n\nimport crowds\n\n\nclass Crowds(unittest.TestCase):\n    def test_each_is_greeted(self):\n        \
                 self.assertEqual(crowds.all_of([\"Ada\", \"Bob\"]), [\"Hello, Ada!\", \"Hello, Bob!\"])\n",
            ),
        ],
        check: "python3 -m unittest test_crowds",
        commit: ("feat", "greet each of several people"),
    }],
    asks_a_person: false,
    closes: None,
}];

const CONFIG: &str = ".planning/config.json";

/// Only the loop itself: other plays have the steps of capabilities.
const SETTINGS: &str = "{\n  \"mode\": \"interactive\",\n  \"workflow\": {\n    \"research\": false,\n    \"code_review\": false,\n    \
    \"nyquist_validation\": false,\n    \"security_enforcement\": false,\n    \"pattern_mapper\": false\n  }\n}\n";

/// Both phases and the milestone's end, in four sessions.
pub(crate) fn yolo(stage: &mut Stage) {
    is_ready(stage);
    stage.types_and_dies("yolo", "", |it| {
        begins(it);
        starts(it);
        step(it, "plan", "1", "DONE", |it| plan_phase(it, "1", BUILT, "standard"));
        step(it, "execute", "1", "", |it| {
            load_phase(it, "1", BUILT);
            chain::begin_phase(it);
            it.dies()
        });
        String::new()
    });
    let broken = stage.asks_program("init yolo");
    assert_eq!((&broken["yolo"]["active"], &broken["start_phase"]), (&true.into(), &"1".into()), "{broken:#}");
    assert_eq!(broken["start_step"], "execute", "{broken:#}");
    let mut stop = stage.context.command(binary());
    stop.args(["yolo", "stop"]);
    stage.types("yolo", "", move |it| {
        begins(it);
        comes_back(it);
        starts(it);
        step(it, "execute", "1", "STOPPED: gaps_found", |it| execute_phase(it, "1", BUILT, Ends::WithGap));
        is_next(it, "1", "verify");
        it.by("Once per phase:");
        sends(it, "plan-phase", "1 --gaps --auto", "DONE", |it| plan_phase(it, "1", FIXES, "gap_closure"));
        sends(it, "execute-phase", "1 --gaps-only --auto --no-transition", "DONE", |it| {
            execute_phase(it, "1", WITH_FIX, Ends::WithFix)
        });
        transition(it, "1", WITH_FIX);
        assert!(stop.output().unwrap().status.success(), "a person stops it at another terminal");
        it.runs("gsd-tools init yolo", &[]).is("yolo.active", false).done();
        it.by("`yolo.active` false: the user has stopped it elsewhere");
        "It was stopped. Next Up: /gsd-yolo".to_owned()
    });
    assert_eq!(stage.shell("python3 greet.py --goodbye Ada"), "Goodbye, Ada!");
    expect_settings_as_before(stage, "user_stop");
    stage.types("yolo", "", |it| {
        begins(it);
        // The stop has put settings back, which a person need not commit.
        it.runs("gsd-tools init yolo", &[]).is("start_phase", "2").done();
        starts(it);
        step(it, "discuss", "2", "DONE", |it| discuss_phase(it, "2"));
        step(it, "plan", "2", "DONE", |it| plan_phase(it, "2", CROWDS, "standard"));
        step(it, "execute", "2", "DONE", |it| execute_phase(it, "2", CROWDS, Ends::Passed));
        transition(it, "2", CROWDS);
        ends_the_milestone(it)
    });
    expect_settings_as_before(stage, "milestone_complete");
    stage.expect_tidy();
    stage.types("yolo", "status", |it| {
        it.reads("references/ui.md").done();
        let status = it.runs("gsd-tools yolo status", &[]).is("active", false).is("next", "new-milestone");
        status.is("stop_condition", "milestone_complete").done();
        "It does not run. Next Up: /gsd-new-milestone".to_owned()
    });
}

/// A gap that the one attempt to close it leaves: the chain stops, and the next phase is not touched.
pub(crate) fn yolo_gaps(stage: &mut Stage) {
    is_ready(stage);
    stage.types("yolo", "", |it| {
        begins(it);
        starts(it);
        step(it, "plan", "1", "DONE", |it| plan_phase(it, "1", BUILT, "standard"));
        step(it, "execute", "1", "STOPPED: gaps_found", |it| execute_phase(it, "1", BUILT, Ends::WithGap));
        is_next(it, "1", "verify");
        sends(it, "plan-phase", "1 --gaps --auto", "DONE", |it| plan_phase(it, "1", FIXES, "gap_closure"));
        sends(it, "execute-phase", "1 --gaps-only --auto --no-transition", "STOPPED: gaps_found", |it| {
            execute_phase(it, "1", WITH_FIX, Ends::WithGap)
        });
        it.by("Gaps again: step 4 with gaps_found");
        stops(it, "1", "gaps_found");
        "Next Up: /gsd-plan-phase 1 --gaps, then /gsd-yolo --from 1".to_owned()
    });
    expect_settings_as_before(stage, "gaps_found");
    stage.expect_clean();
    assert_eq!(stage.shell("ls .planning/phases"), "01-say-goodbye", "phase 2 was touched");
    let left = stage.asks_program("init yolo");
    assert_eq!((&left["start_phase"], &left["blockers"]), (&"1".into(), &serde_json::json!([])), "{left:#}");
    assert_eq!(stage.asks_program("check auto-mode")["active"], false);
}

fn is_ready(stage: &Stage) {
    stage.has("greet");
    stage.context.write(CONFIG, SETTINGS);
    stage.context.write(".planning/phases/01-say-goodbye/01-CONTEXT.md", &context("1", "Say Goodbye"));
    stage.shell("git add -A && git commit --quiet -m 'docs: keep what was decided'");
    stage.has_approved_gates();
}

/// The person's own settings, byte for byte, next to the keys of the chain.
fn expect_settings_as_before(stage: &Stage, reason: &str) {
    let text = stage.context.read(CONFIG);
    let mut after: Value = serde_json::from_str(&text).unwrap();
    let chain = after["workflow"].as_object_mut().unwrap().remove("yolo").unwrap();
    assert_eq!((&chain["active"], &chain["stop_condition"]), (&false.into(), &reason.into()), "{text}");
    assert_eq!(after, serde_json::from_str::<Value>(SETTINGS).unwrap(), "{text}");
    let lines = SETTINGS.lines().filter(|line| line.contains(": false,") || line.contains("\"mode\""));
    for line in lines {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

fn begins(it: &mut Actor) {
    // The list of uncommitted files has the same name.
    it.knows("planning", ".planning");
    it.reads("references/ui.md").done();
    it.by("and follow it with the same arguments");
    it.reads("workflows/autonomous.md").done();
}

/// Step 1, and its question.
fn starts(it: &mut Actor) {
    it.runs("gsd-tools init yolo", &[]).is("prerequisites_met", true).done();
    it.runs("gsd-tools init autonomous", &[]).done();
    it.by("ask **Start** (recommended) / **Stop**")
        .asks("Phases 1 and 2, then the archive\n1. Start\n2. Stop", "1. Start");
    it.runs("gsd-tools yolo start", &[]).is("active", true).done();
    it.by("AUTO is on from step 2 to the end");
    it.is_unattended();
}

/// The session before is gone: the person says so, and what it left is kept.
fn comes_back(it: &mut Actor) {
    it.runs("gsd-tools init yolo", &[]).is("yolo.active", true).is("prerequisites.no_active_session", false).done();
    it.by("it runs since `yolo.started_at`, perhaps in another session")
        .asks("It runs since a moment ago.\n1. It is gone\n2. Stop", "1. It is gone");
    it.runs("gsd-tools yolo stop --reason crash", &[]).is("active", false).done();
    let left = it.by("then this step again").runs("gsd-tools init yolo", &[]).json();
    assert_eq!(left["blockers"], serde_json::json!(["git_dirty"]), "{left:#}");
    keeps_planning_files(it);
}

fn keeps_planning_files(it: &mut Actor) {
    let dirty = it.runs("gsd-tools git uncommitted", &[]).is("files", serde_json::json!([])).json();
    let files = dirty["planning"].as_array().unwrap().iter();
    let files: Vec<String> = files.map(|file| format!("'{}'", file.as_str().unwrap())).collect();
    it.runs("docs: keep planning files", &[("those, each in single quotes", &files.join(" "))])
        .is("committed", true)
        .done();
}

/// Step 2: what comes next, and its work.
fn step(
    it: &mut Actor,
    kind: &str,
    phase: &str,
    returned: &str,
    script: impl FnOnce(&mut Actor) -> String + Send + 'static,
) {
    is_next(it, phase, kind);
    let (workflow, arguments) = match kind {
        "discuss" => ("discuss-phase", format!("{phase} --auto")),
        "plan" => ("plan-phase", format!("{phase} --auto")),
        _ => ("execute-phase", format!("{phase} --auto --no-transition")),
    };
    sends(it, workflow, &arguments, returned, script);
}

/// The row of the phase at work, and what is to be done about it.
fn is_next(it: &mut Actor, phase: &str, kind: &str) {
    let answer = it.runs("gsd-tools init yolo", &[]).is("yolo.active", true).json();
    let row = &answer["remaining_phases"][0];
    assert_eq!(
        (&row["number"], &row["next_step"], &row["deps_satisfied"]),
        (&phase.into(), &kind.into(), &true.into())
    );
    it.knows("N", phase);
}

/// A step by an agent with a fresh window, where agents of the host can start agents; else here.
fn sends(
    it: &mut Actor,
    workflow: &str,
    arguments: &str,
    returned: &str,
    script: impl FnOnce(&mut Actor) -> String + Send + 'static,
) {
    let path = it.path_of(&format!("workflows/{workflow}.md"));
    if it.field("agent_per_step") != "true" {
        it.by("where it stops or hands over, come back");
        let whole = format!("workflows/{workflow}.md");
        if !it.has_read(&whole) {
            it.reads(&whole).done();
        }
        let said = script(it);
        assert!(said.contains(returned), "{said}");
        return;
    }
    it.by("an agent of the host's general kind does the step in the foreground");
    let prompt = it.block("You cannot ask the user.", &[("path of that workflow", &path), ("arguments", arguments)]);
    let description = format!("{workflow} {arguments}");
    let whole = format!("workflows/{workflow}.md");
    let spawn = it.by("does the step in the foreground").spawn_in_words(
        ("general-purpose", "none"),
        &description,
        &prompt,
        move |it| {
            it.reads(&whole).done();
            let said = script(it);
            it.by("Your last line is DONE, or STOPPED");
            said
        },
    );
    let foreground = Some(("run_in_background".to_owned(), "false".to_owned()));
    it.sends(Spawn { argument: foreground, ..spawn }).expects(returned).done();
}

/// How every workflow of the chain begins.
fn in_the_chain(it: &mut Actor, phase: &str) {
    it.knows("phase", phase);
    if !it.has_read("references/ui.md") {
        it.reads("references/ui.md").done();
    }
    it.by("the first row that fits").by("| `--auto` or `--chain` |");
    it.runs("gsd-tools auto-chain start", &[]).is("active", true).done();
    it.is_unattended();
}

fn context(phase: &str, name: &str) -> String {
    format!(
        "# Phase {phase}: {name} - Context\n\n**Gathered:** 2026-01-05\n**Status:** Ready for planning\n\n<domain>\n\
         ## Phase Boundary\n\n{name}, and nothing beyond it.\n</domain>\n\n<decisions>\n## Implementation Decisions\n\n\
         ### Place\n- **D-01:** a module of its own — **Reversibility:** reversible — one file\n\n### Claude's Discretion\n- None\n\
         </decisions>\n\n<canonical_refs>\n## Canonical References\n\nNone: the decisions above say everything\n\
         </canonical_refs>\n\n<code_context>\n## Existing Code Insights\n\n### Integration Points\n- `greet.py` — main\n\
         </code_context>\n\n<specifics>\n## Specific Ideas\n\n- None\n</specifics>\n\n<deferred>\n## Deferred Ideas\n\n- None\n\
         </deferred>\n\n*Phase {phase}: {name}, context gathered 2026-01-05*\n"
    )
}

/// `workflows/discuss-phase.md` with `{phase} --auto`.
fn discuss_phase(it: &mut Actor, phase: &str) -> String {
    in_the_chain(it, phase);
    it.runs("gsd-tools init discuss-phase", &[]).is("phase_found", true).is("has_context", false).done();
    it.runs("gsd-tools roadmap get-phase {phase}", &[]).done();
    hooks(it, "discuss:pre");
    it.learns("N", "number");
    let number = it.learns("NN", "padded_phase");
    let name = it.field("name");
    let folder = chain::expected_folder(it);
    it.knows("dir", &folder);
    it.reads("workflows/discuss-phase/steps/auto.md").done();
    it.runs("gsd-tools todo match-phase {N}", &[]).is("matches", serde_json::json!([])).done();
    it.by("a few searches and at most five files").reads_file("greet.py").done();
    it.by("take the recommended one, print `⚡ {area}: {question} -> {choice}`");
    it.reads("templates/context.md").done();
    it.reads("templates/discussion-log.md").done();
    let log = format!(
        "# Phase {phase}: {name} - Discussion Log\n\n**Date:** 2026-01-05\n**Mode:** auto\n**Areas:** Place\n\n## Place\n\n\
         | Question | Options | Answer |\n|---|---|---|\n| Where? | a module / greet.py | auto |\n"
    );
    let both = "write `{dir}/{NN}-CONTEXT.md` and `{dir}/{NN}-DISCUSSION-LOG.md`";
    it.by(both).writes(&format!("{folder}/{number}-CONTEXT.md"), &context(phase, &name));
    it.by(both).writes(&format!("{folder}/{number}-DISCUSSION-LOG.md"), &log);
    it.runs("context gathered\" --resume-file", &[]).is("recorded", true).done();
    it.runs("capture phase context", &[("tracking", TRACKING)]).is("committed", true).done();
    hooks(it, "discuss:post");
    "DONE".to_owned()
}

/// `workflows/plan-phase.md` with `{phase} --auto`, also for gaps.
fn plan_phase(it: &mut Actor, phase: &str, plans: &'static [&'static Plan], mode: &'static str) -> String {
    in_the_chain(it, phase);
    it.runs("gsd-tools init plan-phase", &[]).is("phase_found", true).is("has_context", true).done();
    it.learns("N", "number");
    it.learns("NN", "padded_phase");
    it.learns("name", "name");
    let folder = it.learns("dir", "phase_dir");
    if mode == "standard" {
        it.by("| AUTO | spawn if `research_enabled`, else none |");
        assert_eq!(it.field("research_enabled"), "false");
    } else {
        it.by("| `--gaps`, `--reviews`, `--skip-research` | none |");
    }
    let contributions = hooks(it, "plan:pre");
    if mode != "standard" {
        it.by("`has_plans`:").runs("gsd-tools phase-plan-index {N}", &[]).done();
    }
    let into = folder.clone();
    let planner =
        chain::planner(it, &folder, plans, (mode, &contributions), move |it| agents::planner(it, plans, &into));
    it.sends(planner).expects("## PLANNING COMPLETE").done();
    let (listed, into) = (chain::documents(&folder, plans), folder.clone());
    let checker =
        chain::plan_checker(it, &folder, plans, (mode, ""), move |it| agents::plan_checker(it, &listed, &into));
    it.sends(checker).expects("## VERIFICATION PASSED").done();
    chain::record_plans(it);
    it.by("AUTO: Read `");
    "DONE".to_owned()
}

/// How the execution of a phase ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Passed,
    /// The verification misses the switch.
    WithGap,
    /// Only the plan that closes the gap runs, and it passes.
    WithFix,
}

fn load_phase(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) -> String {
    in_the_chain(it, phase);
    let folder = chain::load_phase(it, phase, plans);
    it.learns("name", "name");
    folder
}

/// `workflows/execute-phase.md` with `{phase} --auto --no-transition`.
fn execute_phase(it: &mut Actor, phase: &str, plans: &'static [&'static Plan], ends: Ends) -> String {
    let folder = load_phase(it, phase, plans);
    let open: Vec<&'static Plan> =
        plans.iter().copied().filter(|plan| !it.has_file(&format!("{folder}/{}-SUMMARY.md", plan.id))).collect();
    if open[0].closes.is_some() {
        it.runs("grep -l '^gap_closure: true'", &[]).expects(open[0].id).done();
    }
    chain::begin_phase(it);
    if open.len() == 1 && open[0].tasks.len() < 3 {
        it.by(chain::INLINE);
        agents::inline(it, open[0], &folder);
        it.by("go on at Judge");
        chain::judge(it, &[open[0].id]);
    } else {
        chain::run_wave(it, &folder, &open);
    }
    chain::after_wave(it, &folder, &open, false);
    it.reads("workflows/execute-phase/steps/close.md").done();
    let missing = (ends == Ends::WithGap).then_some(SWITCH.truth);
    let status = if missing.is_some() { "gaps_found" } else { "passed" };
    chain::verify_phase_with(it, phase, &folder, plans, missing);
    it.runs("gsd-tools verification status {dir} --pick status", &[]).expects(status).done();
    if missing.is_some() {
        it.reads("workflows/execute-phase/steps/not-passed.md").done();
        it.runs("gsd-tools requirements revert-phase", &[("ids of requirements", "FARE-02")]).done();
        it.runs("gsd-tools state record-session --stopped-at \"Phase", &[]).done();
        let map = format!("{folder}/{}-VALIDATION.md", agents::numbered(&folder).0);
        let files = [("tracking", TRACKING), (map.as_str(), "")];
        it.runs("verification found gaps\" --files", &files).is("committed", true).done();
        return "STOPPED: gaps_found, nobody can call it yet".to_owned();
    }
    hooks_of(it, "verify:post", &Phase::new(&folder, plans));
    chain::closed_phase(it, &folder);
    it.by("`--no-transition`: print `PHASE COMPLETE`");
    "DONE".to_owned()
}

/// `workflows/transition.md`, steps 1 to 3, once the phase has no row any more.
fn transition(it: &mut Actor, phase: &str, plans: &'static [&'static Plan]) {
    let answer = it.runs("gsd-tools init yolo", &[]).json();
    assert_ne!(answer["remaining_phases"][0]["number"], phase, "{answer:#}");
    it.by("The phase has no row any more");
    it.reads("workflows/transition.md").done();
    let folder = if phase == "1" { ".planning/phases/01-say-goodbye" } else { ".planning/phases/02-greet-crowds" };
    for (name, value) in [("N", phase), ("NN", &plans[0].id[..2]), ("dir", folder)] {
        it.knows(name, value);
    }
    let (old, new) = if phase == "1" {
        ("existing\n\n### Active\n\n- [ ] Saying goodbye", "existing\n- ✓ Saying goodbye - Phase 1\n\n### Active\n")
    } else {
        ("### Active\n\n- [ ] Greeting many people at once", "### Active\n\n(None yet)")
    };
    chain::evolve(it, folder, plans, old, new);
}

/// Step 5: nothing is put off; audit, archive, and the stop.
fn ends_the_milestone(it: &mut Actor) -> String {
    let done = it.runs("gsd-tools init yolo", &[]).is("remaining_count", 0);
    done.is("other_active_workstreams", serde_json::json!([])).done();
    it.runs("gsd-tools audit-uat", &[]).is("deferred_checks", serde_json::json!([])).done();
    audit(it);
    it.reads("workflows/complete-milestone.md").done();
    milestone::complete_of(
        it,
        &Closing {
            plans: 4,
            tasks: 6,
            shipped: (
                "- ✓ Saying goodbye - Phase 1",
                "- ✓ Saying goodbye - v1.0\n- ✓ Greeting many people at once - v1.0",
            ),
            last: CROWDS[0].truth,
        },
    );
    it.by("With milestone_complete the words are `Autonomous run finished`");
    stops_with(it, "2", "milestone_complete", ("Autonomous run finished", "docs: finish autonomous run"));
    "Next Up: /gsd-new-milestone".to_owned()
}

/// `workflows/audit-milestone.md`.
fn audit(it: &mut Actor) {
    it.reads("workflows/audit-milestone.md").done();
    it.runs("gsd-tools init audit-milestone", &[]).is("milestone_version", "v1.0").done();
    it.learns("version", "milestone_version");
    it.runs("gsd-tools init manager", &[]).is("all_complete", true).done();
    it.runs("gsd-tools phases list", &[]).done();
    it.runs("gsd-tools audit-uat", &[]).done();
    let phases =
        [(".planning/phases/01-say-goodbye", "01", WITH_FIX), (".planning/phases/02-greet-crowds", "02", CROWDS)];
    let mut summaries = Vec::new();
    for (folder, number, plans) in phases {
        let report = format!("{folder}/{number}-VERIFICATION.md");
        it.by("Read every `{dir}/*-VERIFICATION.md`").reads_file(&report).expects("status: passed").done();
        summaries.extend(plans.iter().map(|plan| format!("{folder}/{}-SUMMARY.md", plan.id)));
    }
    let reports = phases.map(|(folder, number, _)| format!("{folder}/{number}-VERIFICATION.md")).join(", ");
    let listed = summaries.join(", ");
    let fills = [
        ("number, name, goal", "1 Say Goodbye (FARE-01 to FARE-03), 2 Greet Crowds (CROWD-01)"),
        ("every SUMMARY.md of the milestone", listed.as_str()),
        ("every VERIFICATION.md", &reports),
        ("N", "1"),
    ];
    let first = summaries[0].clone();
    let checker = it.spawn("=\"gsd-integration-checker\"", &fills, move |it| {
        it.by("Read every path in the prompt").reads_file(&first).done();
        it.by("Search the source for each").reads_file("greet.py").expects("farewell").done();
        "## Integration Check Complete\nLinks: 2/2 connected   Flows: 1/1 complete".to_owned()
    });
    it.sends(checker).expects("## Integration Check Complete").done();
    it.by("Per v1 id of REQUIREMENTS.md, three sources").reads_file(".planning/REQUIREMENTS.md").lacks("- [ ]").done();
    for summary in &summaries {
        it.runs("gsd-tools summary-extract {SUMMARY} --fields requirements_completed", &[("SUMMARY", summary)]).done();
    }
    it.by("Status: `gaps_found` if a requirement is unsatisfied")
        .writes(".planning/v1.0-MILESTONE-AUDIT.md", milestone::AUDIT);
    it.runs("docs: audit milestone {version}", &[]).is("committed", true).done();
}

/// Step 4.
fn stops(it: &mut Actor, phase: &str, condition: &str) {
    let words = (
        format!("Autonomous stopped in phase {phase}: {condition}"),
        format!("docs: stop autonomous run in phase {phase}"),
    );
    stops_with(it, phase, condition, (&words.0, &words.1));
}

fn stops_with(it: &mut Actor, phase: &str, condition: &str, (said, message): (&str, &str)) {
    it.knows("N", phase);
    it.knows("condition", condition);
    it.by("Whatever stops the run");
    it.runs("gsd-tools yolo stop --reason '{condition}'", &[]).is("active", false).done();
    let stopped = format!("Autonomous stopped in phase {phase}: {condition}");
    it.runs("gsd-tools state record-session --stopped-at 'Autonomous", &[(&stopped, said)]).done();
    let tracking: Vec<&str> = TRACKING.split(' ').filter(|file| it.has_file(file)).collect();
    let stop = format!("docs: stop autonomous run in phase {phase}");
    it.runs("gsd-tools commit 'docs: stop autonomous run", &[(&stop, message), ("tracking", &tracking.join(" "))])
        .is("committed", true)
        .done();
}
