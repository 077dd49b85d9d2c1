//! A project is set up from a written idea: `/gsd-new-project --auto`, and the chain that it starts.

use super::Stage;
use super::agents::{self, Plan};
use super::chain::{self, TRACKING};
use super::hooks::{Phase, hooks, hooks_of};
use super::plans::GOODBYE_PLAN;
use crate::forms::{NewPhase, NewProject};
use crate::play::actor::{Actor, DROPPED};

const IDEA: &str = "# Greet says goodbye\n\n`greet.py` greets one person. It should also say goodbye with `--goodbye`, and \
    later greet several people in one call. Plain Python, nothing to install. Other languages are out.\n";

/// PROJECT.md as it follows from the idea and the code.
const PROJECT: &str = include_str!("../fixtures/greet/.planning/PROJECT.md");

const GREET: NewProject = NewProject {
    name: "Greet",
    milestone: "Greet",
    core_value: "Whoever is named is greeted by name.",
    date: "2026-01-05",
    phases: &[
        NewPhase {
            name: "Say Goodbye",
            line: "the program can say goodbye",
            goal: "As a caller, I want to say goodbye, so that a visit ends politely.",
            mvp: true,
            requirements: &[("FARE-01", "say goodbye with `--goodbye`")],
            criteria: &["`python3 greet.py --goodbye Ada` prints `Goodbye, Ada!`", "The tests pass"],
        },
        NewPhase {
            name: "Greet Crowds",
            line: "several people at once",
            goal: "As a caller, I want to greet several people, so that one call is enough.",
            mvp: true,
            requirements: &[("CROWD-01", "greet several people in one call")],
            criteria: &["`python3 greet.py Ada Bob` greets both", "`python3 greet.py Ada` still greets one"],
        },
    ],
};

const RESEARCH: &str = "# Research Summary\n\n**Domain:** command-line greeters\n**Researched:** 2026-01-05\n\
    **Confidence:** MEDIUM\n\n## Executive Summary\n\nA small program; the standard library is enough.\n\n\
    ## Key Findings\n\n### Recommended Stack\n\nPython, standard library only: nothing to install.\n\n\
    ### Expected Features\n\n**Must have:** a switch for goodbye\n\n### Critical Pitfalls\n\n\
    1. **Names that look like switches**: take switches out first\n";

const PLANS: &[&Plan] = &[&GOODBYE_PLAN];

/// The note by which the hooks know that a change of the settings was ours.
const SETTINGS_NOTE: &str = "written-settings.json";

/// An existing repository and an idea document; the chain runs through the first phase.
pub(crate) fn new_project(stage: &mut Stage) {
    stage.has_code("greet");
    stage.context.write("idea.md", IDEA);
    stage.shell("git add -A && git commit --quiet -m 'docs: write the idea down'");
    stage.types("new-project", "--auto @idea.md", |it| {
        begin_auto(it);
        it.by("Read a document whole; it is the authority").reads_file("idea.md").done();
        look_over_the_code(it);
        it.by("Step 3 without a talk");
        describe(it, PROJECT);
        settings_in_auto(it);
        research(it);
        it.by("v1 is everything the document asks for plus the table stakes it needs");
        require(it);
        it.by("Recommend the first for a product people use");
        roadmap(it);
        instruction_file(it);
        it.reads("workflows/discuss-phase.md").done();
        discuss(it);
        let folder = plan(it);
        execute_inline(it, &folder);
        let next = chain::close_phase(it, "1", &folder, PLANS);
        it.by("After a context warning of the host or a hook, close instead");
        it.by("A stop in a text, the user's word to stop, and the end of the chain are stops in AUTO too");
        it.runs("gsd-tools yolo stop", &[]).is("active", false).done();
        format!("{next} --auto")
    });
    assert_eq!(stage.shell("python3 greet.py --goodbye Ada"), "Goodbye, Ada!");
    expect_a_sound_project(stage, &format!("auto-chain.json\n{SETTINGS_NOTE}"));
    let position = stage.shell("grep '^Phase: ' .planning/STATE.md");
    assert_eq!(position, "Phase: 2 of 2 (Greet Crowds) — READY TO PLAN");
    let requirements = stage.context.read(".planning/REQUIREMENTS.md");
    for line in [
        "- [x] **FARE-01**",
        "- [ ] **CROWD-01**",
        "| FARE-01 | Phase 1 | Complete |",
        "| CROWD-01 | Phase 2 | Pending |",
    ] {
        assert!(requirements.contains(line), "{line} in {requirements}");
    }
    let mirror: serde_json::Value = serde_json::from_str(&stage.context.read(".planning/state.json")).unwrap();
    let statuses: Vec<_> = mirror["phases"].as_array().unwrap().iter().map(|phase| &phase["status"]).collect();
    assert_eq!(statuses, ["complete", "pending"], "{mirror:#}");
    assert!(mirror["next"]["reason"].as_str().unwrap().contains("Phase 2 of 2"), "{mirror:#}");
    assert_eq!(stage.asks_program("check auto-mode")["active"], false);
}

/// An empty folder without git, and a person who answers; full research, settings from the user's global defaults.
pub(crate) fn greenfield(stage: &mut Stage) {
    stage.shell("rm -rf .git && git config --global init.defaultBranch main");
    stage.shell("mkdir ~/.gsd && echo '{\"granularity\": \"coarse\", \"mode\": \"yolo\"}' > ~/.gsd/defaults.json");
    stage.types("new-project", "", |it| {
        it.reads("references/ui.md").done();
        let loaded = it.runs("gsd-tools init new-project", &[]).is("has_git", false);
        loaded.is("project_exists", false).is("needs_codebase_map", false).done();
        it.by("`has_git` false and no `git_worktree_root`");
        it.runs("git init", &[]).done();
        it.reads("references/questioning.md").done();
        it.by("Ask in plain text what they want to build").asks("What do you want to build?", "A greeter in Python.");
        it.runs("config-get workflow.research_before_questions", &[]).expects("false").done();
        it.by("ask \"Ready?\"").asks("Ready?\n1. Create PROJECT.md\n2. Keep exploring", "1. Create PROJECT.md");
        describe(it, &PROJECT.replace("- ✓ Greeting one person - existing", "(None yet)"));
        it.by("`user_defaults` is not null: show its values")
            .asks("Defaults: coarse, yolo\n1. Use as is\n2. Modify\n3. Fresh", "1. Use as is");
        // The choices are `{}`.
        it.runs("gsd-tools config-new-project", &[("\"mode\"", "{}")]).is("created", true).done();
        commit_project(it);
        it.by("One question, \"Research?\"").asks("Research?\n1. Quick\n2. Full\n3. None", "2. Full");
        research_in_full(it);
        it.by("Per category ask with multiple choice what belongs in v1")
            .asks("Commands:\n1. Goodbye\n2. Crowds\n3. From a file", "1 and 2");
        it.by("Then ask \"Additions?\"").asks("Additions?\n1. None\n2. Some", "1. None");
        it.by("Show the whole list with ids, ask **Yes** or **Adjust**, loop")
            .asks("FARE-01, CROWD-01\n1. Yes\n2. Adjust", "1. Yes");
        require(it);
        it.by("Ask \"Structure\"").asks("Structure\n1. Vertical MVP\n2. Horizontal layers", "1. Vertical MVP");
        roadmap(it);
        it.by("Ask \"Roadmap\"").asks("Roadmap\n1. Approve\n2. Adjust\n3. Review full file", "1. Approve");
        instruction_file(it);
        it.by("Otherwise Next Up: `/gsd-discuss-phase 1`");
        "Next Up: /gsd-discuss-phase 1".to_owned()
    });
    expect_a_sound_project(stage, SETTINGS_NOTE);
    assert_eq!(stage.asks_program("config-get granularity"), "coarse");
    assert_eq!(stage.shell("git rev-list --count HEAD"), "5");
}

/// Checks that documents and verbs agree, that nothing is broken, and that this computer keeps only these notes.
fn expect_a_sound_project(stage: &Stage, notes: &str) {
    stage.expect_tidy();
    stage.expect_agreement();
    let health = stage.asks_program("validate health");
    assert_eq!(health["errors"], serde_json::json!([]), "{health:#}");
    assert_eq!(health["warnings"], serde_json::json!([]), "{health:#}");
    for check in ["state validate", "validate consistency", "roadmap validate"] {
        let answer = stage.asks_program(check);
        assert_eq!(answer["warnings"], serde_json::json!([]), "{check}: {answer:#}");
    }
    // Cached facts about documents and the history can be made again at any time.
    let kept = "cd ~/.local/state/gsd-tools/projects && find . -type f | sed 's:.*/::' | \
                grep -vE '^(told\\.bin|clean-[0-9a-f]+\\.json|[0-9a-f]{40}\\.json)$' | sort";
    assert_eq!(stage.shell(kept), notes, "another note is kept");
    let own_places = stage.shell("git grep -l \"$PWD\" || true");
    assert_eq!(own_places, "", "a committed file says where the project is on this computer");
}

/// Step 1, with what `--auto` adds.
fn begin_auto(it: &mut Actor) {
    it.reads("references/ui.md").done();
    it.by("add --auto if it is in the arguments");
    let loaded = it.runs_with("gsd-tools init new-project", &[], "--auto");
    loaded.is("project_exists", false).is("agents_installed", true).is("has_git", true).done();
    it.by("the first row that fits").by("| `--auto` or `--chain` |");
    it.runs("gsd-tools auto-chain start", &[]).is("active", true).done();
    it.reads("workflows/new-project/steps/auto-mode-detection.md").done();
}

/// Step 2 for a project with code but without a map.
fn look_over_the_code(it: &mut Actor) {
    it.reads("workflows/new-project/steps/codebase-map-offer.md").done();
    it.by("At every other gate take what is recommended").by("folder tree to depth two").shell("ls").done();
    it.by("the last twenty commits").shell("git log --oneline -20").done();
    for path in ["CLAUDE.md", "greet.py", "test_greet.py"] {
        it.by("entry points, routes or public interface").reads_file(path).done();
    }
}

/// Step 3: the project file.
fn describe(it: &mut Actor, text: &str) {
    it.reads("templates/project.md").expects("## Core Value").done();
    it.by("write `project_path` by it").writes(".planning/PROJECT.md", text);
}

/// Step 4: the user's defaults, otherwise the first options.
fn settings_in_auto(it: &mut Actor) {
    it.reads("workflows/new-project/steps/auto-mode-config.md").done();
    it.by("do not stop, take the first options and show them with a ⚡ line");
    it.runs("gsd-tools config-new-project '{\"mode\"", &[("interactive", "yolo")]).is("created", true).done();
    commit_project(it);
}

fn commit_project(it: &mut Actor) {
    it.runs("gsd-tools commit \"docs: initialize project\"", &[]).is("committed", true).done();
    it.runs("gsd-tools commit \"chore: add project config\"", &[]).is("committed", true).done();
}

/// Step 5, Quick.
fn research(it: &mut Actor) {
    it.by("- **Quick** (recommended for a small idea, a tool, a known stack; and in AUTO)");
    let (project, folder) = (it.field("project_path"), it.field("research_dir"));
    it.knows("research_dir", &folder);
    let prompt = format!(
        "research_type: overview\ndomain: command-line greeters\nmilestone: saying goodbye, added to the existing program\n\
         project: {project}\noutput: {folder}/SUMMARY.md\nWhat must be known before a roadmap of Greet: stack, expected \
         features, build order, pitfalls?"
    );
    let researcher = it.by("Quick: spawn one `gsd-project-researcher`").spawn_in_words(
        ("gsd-project-researcher", "researcher_model"),
        "Research the domain",
        &prompt,
        project_researcher,
    );
    it.sends(researcher).expects("## RESEARCH COMPLETE").done();
    it.by("Disk decides").shell(&format!("ls {folder}/SUMMARY.md")).done();
    it.runs("gsd-tools commit \"docs: complete project research\"", &[]).is("committed", true).done();
    it.by("Show stack, must-have features and worst pitfalls");
}

/// An agent reads the project instruction file, if there is one.
fn reads_instructions(it: &mut Actor) {
    it.by("the project instruction file (`CLAUDE.md`) if there is one");
    if std::path::Path::new(&it.here("CLAUDE.md")).is_file() {
        it.by("the project instruction file (`CLAUDE.md`) if there is one").reads_file("CLAUDE.md").done();
    }
}

/// gsd-project-researcher on `research_type: overview`.
fn project_researcher(it: &mut Actor) -> String {
    it.by("Read the files named").reads_file(".planning/PROJECT.md").done();
    reads_instructions(it);
    it.reads("templates/research-project/SUMMARY.md").done();
    agents::research(it, "SUMMARY", "what command-line greeters get wrong");
    it.by("use what is installed and remembered").shell("python3 --version").done();
    writes_summary(it, "write it to `output` with the Write tool before you return", RESEARCH);
    "## RESEARCH COMPLETE\n.planning/research/SUMMARY.md, MEDIUM".to_owned()
}

/// `workflows/new-project/steps/full-research.md`: four dimensions, then one summary.
fn research_in_full(it: &mut Actor) {
    it.reads("workflows/new-project/steps/full-research.md").done();
    let (project, folder) = (it.field("project_path"), it.field("research_dir"));
    let mut researchers = Vec::new();
    for kind in ["STACK", "FEATURES", "ARCHITECTURE", "PITFALLS"] {
        let word = kind.to_lowercase();
        let prompt = format!(
            "research_type: {word}\ndomain: command-line greeters\nmilestone: greenfield\nquestion: What must be known of \
             the {word} of Greet?\nproject: {project}\noutput: {folder}/{kind}.md"
        );
        researchers.push(it.by("Spawn four `gsd-project-researcher` in one message").spawn_in_words(
            ("gsd-project-researcher", "researcher_model"),
            &format!("Research {word}"),
            &prompt,
            move |it| dimension_researcher(it, kind),
        ));
    }
    for returned in it.sends_side_by_side(researchers) {
        returned.expects("## RESEARCH COMPLETE").done();
    }
    it.by("Wait for all four. Disk decides").shell(&format!("ls {folder}")).expects("STACK.md").done();
    let inputs = ["STACK", "FEATURES", "ARCHITECTURE", "PITFALLS"].map(|kind| format!("{folder}/{kind}.md")).join(", ");
    let prompt = format!("inputs: {inputs}\nproject: {project}\noutput: {folder}/SUMMARY.md");
    let synthesizer = it.by("(model `synthesizer_model`) with `inputs`").spawn_in_words(
        ("gsd-research-synthesizer", "synthesizer_model"),
        "Merge the research",
        &prompt,
        synthesizer,
    );
    it.sends(synthesizer).expects("## SYNTHESIS COMPLETE").done();
    it.by("Not on disk: write it from the return").shell(&format!("ls {folder}/SUMMARY.md")).done();
}

/// gsd-project-researcher on one dimension.
fn dimension_researcher(it: &mut Actor, kind: &str) -> String {
    it.by("Read the files named").reads_file(".planning/PROJECT.md").done();
    reads_instructions(it);
    it.reads(&format!("templates/research-project/{kind}.md")).done();
    agents::research(it, kind, &format!("{kind} of command-line greeters"));
    let text = format!("# {kind}\n\n**Domain:** command-line greeters\n**Confidence:** LOW\n\nPlain Python.\n");
    it.by("write it to `output` with the Write tool before you return")
        .writes(&format!(".planning/research/{kind}.md"), &text);
    format!("## RESEARCH COMPLETE\n.planning/research/{kind}.md, LOW")
}

/// gsd-research-synthesizer: merges, and commits.
fn synthesizer(it: &mut Actor) -> String {
    for kind in ["STACK", "FEATURES", "ARCHITECTURE", "PITFALLS"] {
        it.by("Read all of them").reads_file(&format!(".planning/research/{kind}.md")).done();
    }
    it.reads("templates/research-project/SUMMARY.md").done();
    writes_summary(it, "The file is the result, whatever the host says about reports", RESEARCH);
    it.runs("gsd-tools commit \"docs: complete project research\"", &[]).is("committed", true).done();
    "## SYNTHESIS COMPLETE\n.planning/research/SUMMARY.md, LOW".to_owned()
}

/// Writes the summary of all research; a client may refuse to let an agent write a file of that name.
fn writes_summary(it: &mut Actor, line: &str, text: &str) {
    let (draft, output) = (".planning/research/draft.md", ".planning/research/SUMMARY.md");
    if !it.by(line).tries_to_write(output, text) {
        it.by("A name that it refuses to you: write `draft.md` in the same folder").writes(draft, text);
        it.by("then `mv` it to `output`").shell(&format!("mv {draft} {output}")).done();
    }
}

/// Step 6, once the scope of v1 is clear.
fn require(it: &mut Actor) {
    it.reads("templates/requirements.md").done();
    it.by("write `requirements_path` by it, Traceability still without rows")
        .writes(".planning/REQUIREMENTS.md", &GREET.requirements(false));
    it.runs("gsd-tools commit \"docs: define v1 requirements\"", &[]).is("committed", true).done();
}

/// Step 7.
fn roadmap(it: &mut Actor) {
    let prompt = format!(
        "project: {}\nrequirements: {}\nresearch: {}/SUMMARY.md\nconfig: {}\nmode: mvp\nmilestone: v1.0 Greet\n\
         start_phase: 1\nroadmap: {}\nstate: .planning/STATE.md",
        it.field("project_path"),
        it.field("requirements_path"),
        it.field("research_dir"),
        it.field("config_path"),
        it.field("roadmap_path"),
    );
    let roadmapper = it.by("Spawn `gsd-roadmapper` (model `roadmapper_model`) with").spawn_in_words(
        ("gsd-roadmapper", "roadmapper_model"),
        "Make the roadmap",
        &prompt,
        roadmapper,
    );
    it.sends(roadmapper).expects("## ROADMAP CREATED").done();
    let analyzed = it.runs("gsd-tools roadmap analyze", &[]).is("scope", "complete").is("phase_count", 2);
    analyzed.is("missing_phase_details", serde_json::Value::Null).done();
    it.by("Show phase, goal and requirement ids as a table");
}

/// gsd-roadmapper on a first milestone.
fn roadmapper(it: &mut Actor) -> String {
    for path in ["PROJECT.md", "REQUIREMENTS.md", "research/SUMMARY.md", "config.json"] {
        it.by("Read the files named").reads_file(&format!(".planning/{path}")).done();
    }
    reads_instructions(it);
    it.reads("templates/roadmap.md").done();
    it.reads("templates/state.md").done();
    it.by("the roadmap, then the state file, then Traceability").writes(".planning/ROADMAP.md", &GREET.roadmap());
    it.by("Use the shapes of the two templates exactly").writes(".planning/STATE.md", &GREET.state());
    it.by("(one row per v1 requirement, status Pending)")
        .writes(".planning/REQUIREMENTS.md", &GREET.requirements(true));
    let analyzed = it.runs("gsd-tools roadmap analyze", &[]).is("scope", "complete").is("phase_count", 2);
    analyzed.is("missing_phase_details", serde_json::Value::Null).done();
    "## ROADMAP CREATED\n| phase | goal | requirements | criteria |\n|---|---|---|---|".to_owned()
}

/// Step 8.
fn instruction_file(it: &mut Actor) {
    let made = it.runs("gsd-tools generate-claude-md", &[]).json();
    if made["action"] == "skipped" {
        it.by("ask whether to add the parts (recommended), then the same with `--force`");
        it.runs_with("gsd-tools generate-claude-md", &[], "--force").lacks("skipped").done();
    }
    it.runs("gsd-tools commit \"docs: create roadmap", &[("N", "2")]).is("committed", true).done();
}

/// `workflows/discuss-phase.md` with `1 --auto`.
fn discuss(it: &mut Actor) {
    it.knows("phase", "1");
    it.runs("gsd-tools init discuss-phase", &[]).is("phase_found", true).is("has_context", false).done();
    it.runs("gsd-tools roadmap get-phase", &[]).expects("Say Goodbye").done();
    hooks(it, "discuss:pre");
    it.runs("gsd-tools auto-chain start", &[]).is("active", true).done();
    it.learns("N", "number");
    let number = it.learns("NN", "padded_phase");
    let folder = it.learns("dir", "expected_phase_dir");
    it.by("`mkdir -p` `expected_phase_dir` and take it").shell(&format!("mkdir -p {folder}")).done();
    it.reads("workflows/discuss-phase/steps/auto.md").done();
    it.by("The answer of `roadmap get-phase` has the texts of the requirements");
    it.runs("gsd-tools todo match-phase", &[]).is("matches", serde_json::json!([])).done();
    it.by("a few searches and at most five files").reads_file("greet.py").done();
    it.by("take the recommended one, print `⚡ {area}: {question} -> {choice}`");
    it.reads("templates/context.md").done();
    it.reads("templates/discussion-log.md").done();
    let context = "# Phase 1: Say Goodbye - Context\n\n**Gathered:** 2026-01-05\n**Status:** Ready for planning\n\n<domain>\n\
        ## Phase Boundary\n\nThe program says goodbye with `--goodbye`.\n</domain>\n\n<decisions>\n\
        ## Implementation Decisions\n\n### The switch\n- **D-01:** `--goodbye` may stand before or after the name — \
        **Reversibility:** reversible — one place in the code\n\n### Claude's Discretion\n- where the function lives\n\
        </decisions>\n\n<canonical_refs>\n## Canonical References\n\n**Read before planning or coding.**\n- `idea.md` — \
        what is wanted\n</canonical_refs>\n\n<code_context>\n## Existing Code Insights\n\n### Reusable Assets\n- `greet.py` \
        — the greeting\n\n### Established Patterns\n- plain functions\n\n### Integration Points\n- `greet.py` — `main`\n\
        </code_context>\n\n<specifics>\n## Specific Ideas\n\n- None\n</specifics>\n\n<deferred>\n## Deferred Ideas\n\n\
        - None\n</deferred>\n\n*Phase 1: Say Goodbye, context gathered 2026-01-05*\n";
    let log = "# Phase 1: Say Goodbye - Discussion Log\n\n**Date:** 2026-01-05\n**Mode:** auto\n**Areas:** The switch\n\n\
        ## The switch\n\n| Question | Options | Answer |\n|---|---|---|\n| Where may it stand? | anywhere / first | auto |\n";
    it.by("write `{dir}/{NN}-CONTEXT.md` and `{dir}/{NN}-DISCUSSION-LOG.md`")
        .writes(&format!("{folder}/{number}-CONTEXT.md"), context);
    it.by("write `{dir}/{NN}-CONTEXT.md` and `{dir}/{NN}-DISCUSSION-LOG.md`")
        .writes(&format!("{folder}/{number}-DISCUSSION-LOG.md"), log);
    it.by("# if it was written");
    it.runs("context gathered\" --resume-file", &[]).is("recorded", true).done();
    it.runs("capture phase context", &[("tracking", TRACKING)]).is("committed", true).done();
    hooks(it, "discuss:post");
    it.by("and follow it with `{N}` and the token");
    it.reads("workflows/plan-phase.md").done();
}

/// `workflows/plan-phase.md` with `1 --auto`, after a discussion; returns the phase's folder.
fn plan(it: &mut Actor) -> String {
    it.runs("gsd-tools init plan-phase", &[]).is("phase_found", true).is("has_context", true).done();
    it.runs("gsd-tools auto-chain start", &[]).is("active", true).done();
    it.learns("N", "number");
    it.learns("NN", "padded_phase");
    it.learns("name", "name");
    let folder = it.learns("dir", "phase_dir");
    it.by("MVP is `mvp_mode`, or `--mvp`").runs("gsd-tools phases list --type summaries", &[]).expects("0").done();
    it.by("| AUTO | spawn if `research_enabled`, else none |");
    assert_eq!(it.field("research_enabled"), "true");
    let into = folder.clone();
    let fills = [("security_enforcement", "true")];
    let researcher = it.spawn("=\"gsd-phase-researcher\"", &fills, move |it| phase_researcher(it, &into));
    it.sends(researcher).expects("## RESEARCH COMPLETE").done();
    let contributions = hooks_of(it, "plan:pre", &Phase::new(&folder, PLANS));
    let fills = [
        ("mode", "standard"),
        ("..", "true"),
        ("false with --no-tracer", "true"),
        ("false with --no-reversibility-gates", "true"),
        ("present | declined", "present"),
        ("none | add to | replace", "none"),
        ("settings", "{}"),
        ("if VALIDATE", ""),
        ("if any", ""),
        ("plans of step 4.2", DROPPED),
        ("those into the planner, of step 4", &contributions),
    ];
    let into = folder.clone();
    let planner = it.spawn("=\"gsd-planner\"", &fills, move |it| planner(it, &into));
    it.sends(planner).expects("## PLANNING COMPLETE").done();
    let listed: Vec<String> = PLANS.iter().map(|plan| format!("{folder}/{}-PLAN.md", plan.id)).collect();
    let fills = [
        ("mode", "standard"),
        ("n", "1"),
        ("VALIDATE", "true"),
        ("settings", "{}"),
        ("..", "true"),
        ("plans without SUMMARY", &listed.join(", ")),
        ("from round 2 on", DROPPED),
        ("YAML", ""),
    ];
    let into = folder.clone();
    let checker = it.spawn("=\"gsd-plan-checker\"", &fills, move |it| agents::plan_checker(it, &listed, &into));
    it.sends(checker).expects("## VERIFICATION PASSED").done();
    let sound = it.runs("gsd-tools plan lint {dir}", &[]).is("valid", true);
    sound.lacks("\"requirements_uncovered\": [ \"").lacks("\"decisions_uncovered\": [ \"").done();
    it.runs("gsd-tools plan record", &[]).expects("\"committed\": true").done();
    hooks(it, "plan:post");
    it.by("and follow it with `{N}` and the token, after `--gaps`");
    it.reads("workflows/execute-phase.md").done();
    folder
}

/// gsd-phase-researcher on a phase that needs nothing new.
fn phase_researcher(it: &mut Actor, folder: &str) -> String {
    let context = format!("{folder}/01-CONTEXT.md");
    for path in [".planning/REQUIREMENTS.md", ".planning/STATE.md", ".planning/ROADMAP.md", &context, "CLAUDE.md"] {
        it.by("Read every file the prompt lists").reads_file(path).done();
    }
    it.reads("templates/research.md").done();
    it.by("Manifest and lock files, existing patterns").shell("python3 -m unittest").expects("OK").done();
    agents::research(it, "01-RESEARCH", "how sys.argv is read");
    let text = "# Phase 1: Say Goodbye - Research\n\n**Researched:** 2026-01-05\n**Domain:** command line\n\
        **Confidence:** HIGH\n\n## User Constraints\n\n- **D-01:** `--goodbye` may stand before or after the name\n\n\
        ## Summary\n\nPlain functions and `sys.argv`. [VERIFIED: python3 -m unittest]\n\n\
        **Primary recommendation:** Take the switch out of the arguments first.\n\n## Open Questions\n\nNone\n\n\
        ## Phase Requirements\n\n| ID | Requirement | What research gives for it |\n|---|---|---|\n\
        | FARE-01 | say goodbye | a function of its own |\n\n## Validation Architecture\n\nunittest; quick and full \
        command: `python3 -m unittest`; FARE-01: `python3 -m unittest test_farewell`, to be written.\n\n\
        ## Security Domain\n\nNothing but output.\n";
    it.by("Write with the Write tool to the path in the prompt").writes(&format!("{folder}/01-RESEARCH.md"), text);
    "## RESEARCH COMPLETE\n01-RESEARCH.md, HIGH".to_owned()
}

/// gsd-planner on the first phase of an MVP: plan, skeleton and validation.
fn planner(it: &mut Actor, folder: &str) -> String {
    it.knows("phase_dir", folder);
    for path in [".planning/STATE.md", ".planning/ROADMAP.md", ".planning/REQUIREMENTS.md", ".planning/PROJECT.md"] {
        it.by("Read every file the prompt lists").reads_file(path).done();
    }
    for file in ["01-CONTEXT.md", "01-RESEARCH.md"] {
        it.by("Read every file the prompt lists").reads_file(&format!("{folder}/{file}")).done();
    }
    it.by("then the project instruction file").reads_file("CLAUDE.md").done();
    it.reads("templates/plan.md").done();
    it.runs("find {planning} -name SKELETON.md", &[]).lacks("denied").done();
    agents::recalls(it, true);
    it.by("`MVP_MODE` true: Read");
    it.reads("references/planner-mvp.md").done();
    for plan in PLANS {
        let path = format!("{folder}/{}-PLAN.md", plan.id);
        it.by("Write each plan with the Write tool").writes(&path, &plan.text("01-say-goodbye"));
    }
    let skeleton = "# Walking skeleton\n\n## Capability Proven\n\nGoodbye on the command line.\n\n\
        ## Architectural Decisions\n\n| decision | choice | reason |\n|---|---|---|\n| parsing | by hand | one switch |\n\n\
        ## Stack Touched\n\n| layer | what | file |\n|---|---|---|\n| output | main | greet.py |\n\n## Out of Scope\n\n\
        Crowds\n\n## Next Slices\n\nCrowds\n";
    it.by("Write `{phase_dir}/SKELETON.md`").writes(&format!("{folder}/SKELETON.md"), skeleton);
    it.by("If the prompt asks for it, write or complete `{NN}-VALIDATION.md`");
    it.reads("templates/validation.md").done();
    let validation = "---\nphase: 01\nslug: say-goodbye\nstatus: draft\nnyquist_compliant: true\nwave_0_complete: true\n\
        created: 2026-01-05\n---\n\n# Phase 1: Say Goodbye - Validation Strategy\n\n## Test Infrastructure\n\n\
        | Property | Value |\n|---|---|\n| Framework | unittest |\n| Quick command | `python3 -m unittest` |\n\
        | Full command | `python3 -m unittest` |\n\n## Per-Task Verification Map\n\n\
        | Task | Plan | Wave | Requirement | Threat | Behaviour | Command | File exists | Status |\n\
        |---|---|---|---|---|---|---|---|---|\n\
        | 01-01-1 | 01 | 1 | FARE-01 | - | says goodbye | `python3 -m unittest test_farewell` | yes | pending |\n";
    it.by("with one map row per task").writes(&format!("{folder}/01-VALIDATION.md"), validation);
    it.runs("gsd-tools plan lint {phase_dir}", &[]).is("valid", true).done();
    "## PLANNING COMPLETE\n\n- 01-01: The command line takes --goodbye (D-01)".to_owned()
}

/// `workflows/execute-phase.md` with `1 --auto`, up to the close: one small plan, without an executor.
fn execute_inline(it: &mut Actor, folder: &str) {
    let _ = chain::load_phase(it, "1", PLANS);
    it.runs("gsd-tools auto-chain start", &[]).is("active", true).done();
    chain::begin_phase(it);
    it.by(chain::INLINE);
    hooks(it, "execute:wave:pre");
    it.reads("workflows/execute-plan.md").done();
    let id = GOODBYE_PLAN.id;
    let plan_file = format!("{folder}/{id}-PLAN.md");
    it.by("Inline, without the executor agent: first Read the plan").reads_file(&plan_file).done();
    it.reads("references/commit-rules.md").done();
    it.reads("references/deviation-rules.md").done();
    let before = it.runs("git rev-parse HEAD", &[]).text.trim().to_owned();
    let hashes = agents::tasks(it, id, GOODBYE_PLAN.tasks);
    it.by("Run the plan's `<verification>`").shell("python3 -m unittest").expects("OK").done();
    it.reads("templates/summary.md").done();
    it.by("every commit is in `git log`").shell("git log --oneline -5").expects(&hashes[0]).done();
    let summary = GOODBYE_PLAN.summary("01-say-goodbye", &before, &hashes);
    it.by("write `{dir}/{id}-SUMMARY.md`").writes(&format!("{folder}/{id}-SUMMARY.md"), &summary);
    it.runs("gsd-tools plan close {id}", &[("id", id)]).lacks("\"committed\": false").done();
    it.by("go on at Judge").runs("gsd-tools plan check {id}", &[("id", id)]).is("finished", true).done();
    chain::gate(it, "build", "not_run");
    chain::gate(it, "test", "not_approved");
    it.reads("workflows/execute-phase/steps/approve-gate.md").done();
    let command = it.field("command");
    it.even_if_it_fails().runs("bash -c", &[("command", &command)]).done();
    it.by("the host refuses it, or nobody answers");
    chain::wave_is_green(it, folder, PLANS, false);
    it.reads("workflows/execute-phase/steps/close.md").expects("## 7. Verify the goal").done();
}
