//! From a finished version to the roadmap of the next: `/gsd-complete-milestone`, `/gsd-new-milestone`.

use serde_json::Value;

use super::Stage;
use super::agents::{Plan, Task};
use super::chain::TRACKING;
use super::plans::GOODBYE_PLAN;
use crate::play::actor::Actor;

const ROADMAP: &str = ".planning/ROADMAP.md";
const PROJECT: &str = ".planning/PROJECT.md";
const REQUIREMENTS: &str = ".planning/REQUIREMENTS.md";
const STATE: &str = ".planning/STATE.md";

const GOODBYE: Plan = Plan { requirements: &["FARE-01", "FARE-02", "FARE-03"], ..GOODBYE_PLAN };

const CROWDS: Plan = Plan {
    id: "02-01",
    wave: 1,
    depends_on: &[],
    requirements: &["CROWD-01"],
    objective: "Several people are greeted in one call",
    truth: "`python3 greet.py Ada Bob` greets both",
    tasks: &[Task {
        name: "Greet each",
        kind: "auto",
        files: &[(
            "crowds.py",
            "import greet\n\n\ndef all_of(names):\n    return [greet.greeting(name) for name in names]\n",
        )],
        check: "python3 -c 'import crowds'",
        commit: ("feat", "greet each of several people"),
    }],
    asks_a_person: false,
    closes: None,
};

/// Both phases of v1.0 are built and verified, and the milestone is audited. It is closed, and v1.1 begins.
pub(crate) fn milestone(stage: &mut Stage) {
    stage.has("greet");
    stage.context.write(".planning/config.json", "{}\n");
    stage.shell("git add -A && git commit --quiet -m 'chore: keep the defaults'");
    is_finished(stage, "01-say-goodbye", &GOODBYE);
    is_finished(stage, "02-greet-crowds", &CROWDS);
    stage.context.write(".planning/v1.0-MILESTONE-AUDIT.md", AUDIT);
    stage.shell("git add -A && git commit --quiet -m 'docs: audit milestone v1.0'");
    stage.types("complete-milestone", "v1.0", complete);
    expect_shipped(stage);
    stage.types("new-milestone", "v1.1 Parties", begin);
    stage.expect_tidy();
    stage.expect_agreement();
    let position = stage.context.read(STATE);
    for line in ["milestone: v1.1", "milestone_name: Parties", "Phase: 3 of 3 (Greet a Party)", "Status: Ready to plan"]
    {
        assert!(position.contains(line), "{line} is not in {position}");
    }
    assert!(!position.contains("Start the next milestone"), "what was done is still to be done: {position}");
    assert!(!position.contains("v1.0 complete"), "{position}");
    let roadmap = stage.context.read(ROADMAP);
    for line in [
        "✅ **v1.0 Greet**",
        "🚧 **v1.1 Parties**",
        "- [x] **Phase 2: Greet Crowds**",
        "- [ ] **Phase 3: Greet a Party**",
    ] {
        assert!(roadmap.contains(line), "{line} is not in {roadmap}");
    }
    let analyzed = stage.asks_program("roadmap analyze");
    assert_eq!(
        (&analyzed["phase_count"], &analyzed["current_phase"]),
        (&Value::from(1), &Value::from("3")),
        "{analyzed:#}"
    );
    let next = stage.asks_program("smart-entry --json");
    assert_eq!(next["actions"][0]["label"], "Advance to the next step (discuss phase 3)", "{next:#}");
    for check in ["state validate", "validate consistency", "roadmap validate", "validate health"] {
        let answer = stage.asks_program(check);
        assert_eq!(answer["warnings"], serde_json::json!([]), "{check}: {answer:#}");
    }
}

pub(super) const AUDIT: &str = "---\nmilestone: v1.0\naudited: 2099-01-06T12:00:00Z\nstatus: passed\nscores: {requirements: \"4/4\", phases: \"2/2\", \
    integration: \"1/1\", flows: \"1/1\"}\ngaps: {}\ntech_debt: []\n---\n\n# Milestone v1.0 Audit\n\n## Phases\n\n\
    | Phase | Verification | Nyquist | Notes |\n|---|---|---|---|\n| 1 | passed | - | - |\n| 2 | passed | - | - |\n";

/// Plans, executes, verifies and completes a phase of one plan, with the program's own calls.
fn is_finished(stage: &Stage, phase: &str, plan: &'static Plan) {
    let (folder, number) = (format!(".planning/phases/{phase}"), &plan.id[..2]);
    stage.is_planned(phase, &[plan]);
    let before = stage.shell("git rev-parse HEAD");
    for task in plan.tasks {
        for (path, text) in task.files {
            stage.context.write(path, text);
        }
        let (kind, subject) = task.commit;
        stage.shell(&format!("git add -A && git commit --quiet -m '{kind}({}): {subject}'", plan.id));
    }
    let hashes = [stage.shell("git rev-parse --short HEAD")];
    let summary = format!("{folder}/{}-SUMMARY.md", plan.id);
    stage.context.write(&summary, &plan.summary(phase, &before, &hashes));
    stage.asks_program(&format!("plan close {}", plan.id));
    let files = plan.files().join(" ");
    let print = stage
        .asks_program(&format!("verification fingerprint {folder} {folder}/{}-PLAN.md {summary} {files}", plan.id));
    let report = format!(
        "---\nphase: {phase}\nverified: 2026-01-06T10:00:00Z\nstatus: passed\nscore: 1/1 must-haves verified\ncovered_files: {}\n\
         covered_digest: {}\nbehavior_unverified: 0\noverrides_applied: 0\n---\n\n# Phase {number} Verification Report\n\n\
         **Status:** passed\n\n## Goal Achievement\n\n### Observable Truths\n| # | Truth | Status | Evidence |\n|---|---|---|---|\n\
         | 1 | {} | VERIFIED | test |\n\n**Score:** 1/1\n",
        print["covered_files"], print["covered_digest"], plan.truth,
    );
    stage.context.write(&format!("{folder}/{number}-VERIFICATION.md"), &report);
    stage.asks_program(&format!("phase complete {}", number.trim_start_matches('0')));
    stage.shell(&format!("git add -A && git commit --quiet -m 'docs(phase-{number}): complete phase execution'"));
}

/// Checks that v1.0 is archived, in git too, and that nothing is left over.
fn expect_shipped(stage: &Stage) {
    stage.expect_tidy();
    let archive = "MILESTONE-AUDIT.md REQUIREMENTS.md ROADMAP.md phases";
    let archived = stage.shell("cd .planning/milestones && ls -d v1.0-* | sed 's/^v1.0-//' | tr '\\n' ' '");
    assert_eq!(archived.trim(), archive);
    assert_eq!(stage.shell("ls .planning/milestones/v1.0-phases | wc -l").trim(), "2");
    assert_eq!(stage.shell("ls .planning/phases 2>/dev/null | wc -l").trim(), "0");
    assert_eq!(stage.shell("ls .planning/REQUIREMENTS.md .planning/*AUDIT.md 2>/dev/null | wc -l").trim(), "0");
    assert_eq!(stage.shell("git cat-file -t v1.0"), "tag");
    assert_eq!(
        stage.shell("git log -2 --format=%s"),
        "docs: update retrospective for v1.0\nchore: archive v1.0 milestone files"
    );
    let position = stage.context.read(STATE);
    for line in ["Status: Awaiting next milestone", "**Current focus:** Planning the next milestone"] {
        assert!(position.contains(line), "{line} is not in {position}");
    }
    let milestones = stage.context.read(".planning/MILESTONES.md");
    for line in ["## v1.0 Greet (Shipped: ", "closeout_type: verified_closeout", "2 phases, 2 plans, 2 tasks"] {
        assert!(milestones.contains(line), "{line} is not in {milestones}");
    }
    let project = stage.context.read(PROJECT);
    assert!(project.contains("- ✓ Saying goodbye - v1.0") && !project.contains("— Pending"), "{project}");
    assert_eq!(stage.asks_program("roadmap validate")["mismatches"], serde_json::json!([]));
}

/// What the milestone has when it is closed.
pub(super) struct Closing {
    pub(super) plans: usize,
    pub(super) tasks: usize,
    /// Lines of PROJECT.md, and those that replace them.
    pub(super) shipped: (&'static str, &'static str),
    /// What the last plan made true.
    pub(super) last: &'static str,
}

/// `/gsd-complete-milestone v1.0`.
fn complete(it: &mut Actor) -> String {
    let shipped = (
        "existing\n\n### Active\n\n- [ ] Saying goodbye\n- [ ] Greeting many people at once",
        "existing\n- ✓ Saying goodbye - v1.0\n- ✓ Greeting many people at once - v1.0\n\n### Active\n\n(None yet)",
    );
    complete_of(it, &Closing { plans: 2, tasks: 2, shipped, last: CROWDS.truth });
    "Next Up: /gsd-new-milestone".to_owned()
}

/// `workflows/complete-milestone.md`, in the chain too.
pub(super) fn complete_of(it: &mut Actor, closing: &Closing) {
    it.reads("references/ui.md").done();
    let loaded = it.runs("gsd-tools init complete-milestone", &[]).is("git_create_tag", true);
    loaded.is("foreign_tags", 0).is("tag.ask", false).done();
    let first = it.learns("since", "since");
    let included = it.field("section_manifest.included");
    let archive = it.field("archive_dir");
    let archive = archive.strip_prefix(&format!("{}/", it.project())).unwrap_or(&archive).to_owned();
    it.knows("archive_dir", &archive);
    it.runs("gsd-tools init manager", &[]).is("milestone_version", "v1.0").is("all_complete", true).done();
    it.learns("version", "milestone_version");
    it.learns("name", "milestone_name");
    it.runs("gsd-tools audit-open --json", &[]).is("has_open_items", false).done();
    it.runs("gsd-tools state get Status --raw", &[]).lacks("Awaiting").done();
    it.by("| `phases` of `init manager` |");
    it.by("`- [ ]` lines of REQUIREMENTS.md").reads_file(REQUIREMENTS).lacks("- [ ]").done();
    it.by("missing, `status: gaps_found`, or").reads_file(".planning/v1.0-MILESTONE-AUDIT.md").expects("passed").done();
    it.by("Nothing: `{closeout}` is `verified_closeout`");
    let shipped =
        it.runs("--name '{name}' --dry-run", &[]).is("stats.phases", 2).is("stats.tasks", closing.tasks).json();
    it.runs("git log -1 --format=%ad --date=short {since}", &[]).done();
    it.runs("git diff --shortstat {since} HEAD", &[]).expects("changed").done();
    it.runs("git ls-files | wc -l", &[]).done();
    it.by("Ask **Complete {version}**, **Adjust**").asks("1. Complete v1.0\n2. Adjust\n3. Cancel", "1. Complete v1.0");
    evolve(it, closing);
    archive_it(it, &shipped, &first, closing);
    retrospective(it);
    let none = it.runs("gsd-tools config-get git.branching_strategy --default none --raw", &[]);
    none.expects("none").done();
    assert!(included.contains("git-tag"), "{included}");
    it.reads("workflows/complete-milestone/steps/git-tag.md").done();
    it.even_if_it_fails().runs("git rev-parse -q --verify refs/tags/{version}", &[]).done();
    it.by("with the accomplishments as further `-m` paragraphs");
    it.runs_with("git tag -a {version} -m", &[], "-m 'The command line says goodbye'").done();
    it.runs("git remote", &[]).lacks("origin").done();
    it.by("Report what was archived, where, `{closeout}`, tag and branch");
}

/// Step 5: what the milestone changed in PROJECT.md.
fn evolve(it: &mut Actor, closing: &Closing) {
    it.by("Change what the milestone changed, section by section").reads_file(PROJECT).done();
    let (old, new) = closing.shipped;
    it.by("Active requirements that shipped → Validated").edits(PROJECT, old, new);
    it.by("Key Decisions: judge every `— Pending`").edits(PROJECT, "— Pending", "✓ Good");
    it.by("Footer `*Last updated: {date} after {version} milestone*`").edits(
        PROJECT,
        "*Last updated: 2026-01-05 after initialization*",
        "*Last updated: 2026-01-06 after v1.0 milestone*",
    );
}

/// Step 6: everything of the milestone goes to the archive, in one commit.
fn archive_it(it: &mut Actor, shipped: &Value, first: &str, closing: &Closing) {
    let done = it.runs("gsd-tools milestone complete {version} --name '{name}' --confirm", &[]);
    let done = done.is("archived.audit", true).is("archived.phases", true);
    done.is("preservation_warnings", serde_json::json!([])).done();
    let date = it.field("date");
    it.reads("templates/milestone.md").done();
    let milestones = ".planning/MILESTONES.md";
    it.by("bring the new entry, the first one, into its shape").edits(
        milestones,
        "**Key accomplishments:**",
        "**Delivered:** People are told goodbye, several at once\n\n**Key accomplishments:**",
    );
    let last = format!("- {}\n", closing.last);
    let range = format!(
        "{last}\n**Stats:** 8 commits, 9 files changed, 2 days\n\n**Git range:** `{first}` to `HEAD`\n\n**Closeout:** closeout_type: \
         verified_closeout\n\n**What's next:** to be decided\n"
    );
    it.by("bring the new entry, the first one, into its shape").edits(milestones, &last, &range);
    it.reads("templates/milestone-archive.md").done();
    let copy = it.field("archive_dir");
    let copy = format!("{copy}/v1.0-ROADMAP.md");
    it.by("Replace the copy's first heading by the head").edits(
        &copy,
        "# Roadmap: Greet\n",
        &format!(
            "# Milestone v1.0: Greet\n\n**Status:** ✅ SHIPPED {date}\n**Phases:** 1-2\n**Total plans:** {}\n",
            closing.plans
        ),
    );
    let row = copy_tail(it, &copy);
    it.by("the summary at the end").edits(
        &copy,
        &row,
        &format!("{row}\n## Milestone Summary\n\n**Inserted phases:** none\n\n---\n*Current work: [ROADMAP.md](../ROADMAP.md)*"),
    );
    it.reads("templates/roadmap.md").done();
    shorten_the_roadmap(it, &date);
    it.runs("gsd-tools roadmap validate", &[]).is("mismatches", serde_json::json!([])).done();
    it.runs("git diff {planning}/ROADMAP.md", &[]).lacks("-First goodbye").done();
    it.by("exists: delete REQUIREMENTS.md").shell(&format!("rm {REQUIREMENTS}")).done();
    it.runs("gsd-tools state update \"Current focus\"", &[]).is("updated", true).done();
    it.runs("gsd-tools state record-session --stopped-at \"Milestone", &[]).is("recorded", true).done();
    let phases = shipped["would_archive"]["phases"].as_array().unwrap();
    let phases = phases.iter().map(|phase| format!("'.planning/phases/{}'", phase.as_str().unwrap()));
    let moved: Vec<String> = std::iter::once("'.planning/v1.0-MILESTONE-AUDIT.md'".to_owned()).chain(phases).collect();
    it.runs("gsd-tools commit \"chore: archive {version} milestone files\"", &[("what moved", &moved.join(" "))])
        .is("committed", true)
        .done();
}

/// The last line of a file.
fn copy_tail(it: &Actor, path: &str) -> String {
    std::fs::read_to_string(it.here(path)).unwrap().lines().last().unwrap().to_owned()
}

/// Replaces the lines of ROADMAP.md about the milestone by the form for a shipped one.
fn shorten_the_roadmap(it: &mut Actor, date: &str) {
    let text = std::fs::read_to_string(it.here(ROADMAP)).unwrap();
    let between = |begin: &str, end: &str| {
        let from = text.find(begin).unwrap_or_else(|| panic!("{begin} is not in {text}"));
        text[from..from + text[from..].find(end).unwrap()].to_owned()
    };
    let list = between("### ✅ v1.0 Greet", "## Phase Details");
    let lines: Vec<&str> = list.lines().filter(|line| line.starts_with("- [x]")).collect();
    let folded = format!(
        "<details>\n<summary>✅ v1.0 Greet (Phases 1-2) - SHIPPED {date}</summary>\n\n{}\n\n</details>\n\n",
        lines.join("\n")
    );
    let line = "`<details>` and table columns of a shipped";
    it.by(line).edits(ROADMAP, &list, &folded);
    it.by("The sections of its phases under Phase Details go").edits(
        ROADMAP,
        &between("### Phase 1:", "---\n\n## Progress"),
        "",
    );
    let table = between("| Phase |", "| 1. ");
    let head = "| Phase | Milestone | Plans Complete | Status | Completed |\n|---|---|---|---|---|\n";
    it.by(line).edits(ROADMAP, &table, head);
    for name in ["1. Say Goodbye |", "2. Greet Crowds |"] {
        it.by(line).edits(ROADMAP, name, &format!("{name} v1.0 |"));
    }
}

/// Step 7.
fn retrospective(it: &mut Actor) {
    it.reads("templates/retrospective.md").done();
    let text = "# Retrospective\n\n## Milestone: v1.0 — Greet\n\n**Shipped:** 2026-01-06 | **Phases:** 2 | **Plans:** 2\n\n\
        ### What Was Built\n\n- Goodbyes and crowds\n\n---\n\n## Cross-Milestone Trends\n\n\
        ### Top Lessons (Verified Across Milestones)\n\n1. None yet\n";
    it.by("put this milestone's section into `{planning}/RETROSPECTIVE.md`").writes(".planning/RETROSPECTIVE.md", text);
    it.runs("gsd-tools commit \"docs: update retrospective for {version}\"", &[]).is("committed", true).done();
}

/// `/gsd-new-milestone v1.1 Parties`, without research.
fn begin(it: &mut Actor) -> String {
    it.reads("references/ui.md").done();
    let loaded = it.runs("gsd-tools init new-milestone", &[]).is("latest_completed_milestone", "v1.0");
    loaded.is("project_exists", true).is("phase_dir_count", 0).done();
    it.runs("gsd-tools roadmap analyze", &[]).is("open_phases", serde_json::json!([])).done();
    it.runs("gsd-tools state get Status --raw", &[]).expects("Awaiting next milestone").done();
    for field in ["project_path", "milestones_path"] {
        let path = it.field(field);
        it.by("Requirements of `project_path`, the newest section of `milestones_path`").reads_file(&path).done();
    }
    it.reads("references/questioning.md").done();
    it.by("ask in plain text what comes next").asks("What comes next?", "A party is greeted in one sentence.");
    it.runs("gsd-tools list-seeds dormant", &[]).done();
    it.runs("gsd-tools list-todos", &[]).expects("0").done();
    it.by("`{version}`: what the arguments say");
    it.knows("version", "v1.1");
    it.knows("name", "Parties");
    it.by("ask **Start it** or **Adjust**").asks("v1.1 Parties\n1. Start it\n2. Adjust", "1. Start it");
    let heading = "## Requirements\n\n### Validated";
    let goal = "## Current Milestone: v1.1 Parties\n\n**Goal:** A party is greeted in one sentence.\n\n**Target features:**\n\n\
        - One sentence for several names\n\n";
    it.by("`## Current Milestone: {version} {name}` after Core Value").edits(
        PROJECT,
        heading,
        &format!("{goal}{heading}"),
    );
    it.by("the features also under `### Active`").edits(PROJECT, "(None yet)", "- [ ] One sentence for several names");
    let footer = "*Last updated: 2026-01-06 after v1.0 milestone*";
    it.by("Footer `*Last updated: {date} after {version} start*`").edits(
        PROJECT,
        footer,
        "*Last updated: 2026-01-06 after v1.1 start*",
    );
    it.by("# only if phase_dir_count is not 0");
    it.runs("gsd-tools state milestone-switch --milestone {version}", &[]).is("switched", true).done();
    it.runs("gsd-tools commit 'docs: start milestone", &[("tracking", TRACKED), ("seeds", "")])
        .is("committed", true)
        .done();
    it.by("Recommended: None if the features extend what is").asks("Research?\n1. None\n2. Quick\n3. Full", "1. None");
    require(it);
    roadmap(it);
    it.runs("gsd-tools list-todos", &[]).expects("0").done();
    it.by("List version, goal, requirements, phases").by("Otherwise Next Up: `");
    "Next Up: /gsd-discuss-phase 3".to_owned()
}

/// `{tracking}` before requirements are written.
const TRACKED: &str = ".planning/STATE.md .planning/state.json .planning/ROADMAP.md";

fn requirements(with_phase: bool) -> String {
    let row = if with_phase { "| PARTY-01 | Phase 3 | Pending |\n" } else { "" };
    let mapped = u8::from(with_phase);
    format!(
        "# Requirements: Greet\n\n**Defined:** 2026-01-06\n**Core Value:** Whoever is named is greeted by name.\n\n\
         ## v1 Requirements\n\n### Parties\n\n- [ ] **PARTY-01**: User can greet a party in one sentence\n\n## Out of Scope\n\n\
         | Feature | Reason |\n|---------|--------|\n\n## Traceability\n\n| Requirement | Phase | Status |\n\
         |-------------|-------|--------|\n{row}\n**Coverage:**\n\n- v1 requirements: 1 total\n- Mapped to phases: {mapped}\n\
         - Unmapped: {}\n\n---\n*Last updated: 2026-01-06 after v1.1 start*\n",
        1 - mapped
    )
}

/// Step 5, following the section of `workflows/new-project.md`.
fn require(it: &mut Actor) {
    it.by("from \"Candidates come from\" to the end of its second paragraph: Read that");
    it.reads("workflows/new-project.md").done();
    it.by("Per category ask with multiple choice what belongs in v1").asks("Parties:\n1. One sentence\n2. Titles", "1");
    it.by("Then ask \"Additions?\"").asks("Additions?\n1. None\n2. Some", "1. None");
    it.by("Show the whole list with ids, ask **Yes**").asks("PARTY-01\n1. Yes\n2. Adjust", "1. Yes");
    it.reads("templates/requirements.md").done();
    it.by("write `requirements_path` by it, Traceability still without rows")
        .writes(REQUIREMENTS, &requirements(false));
    it.runs("gsd-tools commit \"docs: define milestone {version} requirements\"", &[]).is("committed", true).done();
}

/// Step 6: one phase, its number after those of the shipped milestone.
fn roadmap(it: &mut Actor) {
    it.by("one more than the highest whole phase number").reads_file(ROADMAP).expects("2. Greet Crowds").done();
    let (project, requirements, config) =
        (it.field("project_path"), it.field("requirements_path"), it.field("config_path"));
    let prompt = format!(
        "project: {project}\nrequirements: {requirements}\nconfig: {config}\nmode: standard\nmilestone: v1.1 Parties\n\
         start_phase: 3\nroadmap: {}\nstate: {}\nShipped milestones and backlog stay.",
        it.field("roadmap_path"),
        it.field("state_path"),
    );
    let spawn = it.by("Spawn `gsd-roadmapper` (model `roadmapper_model`) with").spawn_in_words(
        ("gsd-roadmapper", "roadmapper_model"),
        "Make the roadmap",
        &prompt,
        roadmapper,
    );
    it.sends(spawn).expects("## ROADMAP CREATED").done();
    let analyzed = it.runs("gsd-tools roadmap analyze", &[]).is("scope", "complete").is("phases.0.number", "3");
    analyzed.is("missing_phase_details", Value::Null).done();
    let roadmap = it.field("roadmap_path");
    it.runs("git diff {roadmap_path}", &[("roadmap_path", &roadmap)]).lacks("-- ✅").lacks("-| 1.").done();
    it.by("Ask \"Roadmap\": **Approve**").asks("Roadmap\n1. Approve\n2. Adjust\n3. Review full file", "1. Approve");
    it.runs("gsd-tools commit \"docs: create milestone {version} roadmap", &[("n", "1"), ("tracking", TRACKING)])
        .is("committed", true)
        .done();
}

/// gsd-roadmapper after a shipped milestone.
fn roadmapper(it: &mut Actor) -> String {
    for path in [PROJECT, REQUIREMENTS, ROADMAP, STATE, "CLAUDE.md"] {
        it.by("Read the files named, the project instruction file").reads_file(path).done();
    }
    it.reads("templates/roadmap.md").done();
    it.reads("templates/state.md").done();
    let line = "add your milestone beside them, keep every other line, continue the numbers at `start_phase`";
    let text = std::fs::read_to_string(it.here(ROADMAP)).unwrap();
    let shipped = text.lines().find(|line| line.starts_with("- ✅ **v1.0")).unwrap().to_owned();
    it.by(line).edits(ROADMAP, &shipped, &format!("{shipped}\n- 🚧 **v1.1 Parties** - Phase 3 (in progress)"));
    let details = "## Phase Details\n";
    let phase = "### Phase 3: Greet a Party\n\n**Goal**: A party is greeted in one sentence\n**Depends on**: Nothing (first phase)\n\
        **Requirements**: [PARTY-01]\n**Success Criteria** (what must be TRUE):\n\n\
        1. `python3 greet.py --party Ada Bob` prints `Hello, Ada and Bob!`\n2. One name is greeted as before\n\n**Plans**: TBD\n";
    it.by(line).edits(
        ROADMAP,
        details,
        &format!("### 🚧 v1.1 Parties (In Progress)\n\n- [ ] **Phase 3: Greet a Party** - one sentence for a party\n\n{details}\n{phase}"),
    );
    let row = copy_tail(it, ROADMAP);
    it.by(line).edits(ROADMAP, &row, &format!("{row}\n| 3. Greet a Party | v1.1 | 0/TBD | Not started | - |"));
    position(it);
    it.by("(one row per v1 requirement, status Pending)").writes(REQUIREMENTS, &requirements(true));
    let analyzed = it.runs("gsd-tools roadmap analyze", &[]).is("scope", "complete").is("phase_count", 1);
    analyzed.is("missing_phase_details", Value::Null).done();
    "## ROADMAP CREATED\n| phase | goal | requirements | criteria |\n|---|---|---|---|".to_owned()
}

/// Updates STATE.md for the new milestone; decisions, blockers, todos and deferred items stay.
fn position(it: &mut Actor) {
    let state = "A `state` file that is there: set Current focus, Current Position with its Progress line";
    let text = std::fs::read_to_string(it.here(STATE)).unwrap();
    let whole = |begin: &str| text.lines().find(|line| line.starts_with(begin)).unwrap().to_owned();
    let edits = [
        (whole("**Current focus:**"), "**Current focus:** Phase 3 — Greet a Party".to_owned()),
        (whole("Phase: "), "Phase: 3 of 3 (Greet a Party) — READY TO PLAN".to_owned()),
        (whole("Plan: "), "Plan: Not started".to_owned()),
        (whole("Status: "), "Status: Ready to plan".to_owned()),
        (
            whole("Last activity: "),
            "Last activity: 2026-01-06 — Roadmap created\n\nProgress: [░░░░░░░░░░] 0%".to_owned(),
        ),
        ("  total_phases: 0".to_owned(), "  total_phases: 1".to_owned()),
        (whole("Stopped at: "), "Stopped at: Roadmap of v1.1 created".to_owned()),
    ];
    for (old, new) in edits {
        it.by(state).edits(STATE, &old, &new);
    }
}
