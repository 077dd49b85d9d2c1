//! From an idea to a phase: `/gsd-capture --backlog` keeps it, `/gsd-review-backlog` turns it into a phase.

use super::Stage;
use super::chain::TRACKING;
use crate::play::actor::Actor;

const IDEA: &str = "Greet by the time of day";
const ROADMAP: &str = ".planning/ROADMAP.md";
const REQUIREMENTS: &str = ".planning/REQUIREMENTS.md";

/// What the person says the idea is for, once it becomes a phase.
const DETAILS: &str = "**Goal:** A greeting fits the time of day\n**Requirements**: [DAY-01]\n**Depends on:** Phase 2\n\
    **Success Criteria** (what must be TRUE):\n\n1. `python3 greet.py Ada` at 9 in the morning prints `Good morning, Ada!`\n\
    2. At other times it greets as before\n\n";

pub(crate) fn capture(stage: &mut Stage) {
    stage.has("greet");
    stage.types("capture", &format!("--backlog {IDEA}"), keep);
    stage.expect_tidy();
    // The milestone does not count kept ideas.
    stage.expect_agreement();
    assert_eq!(stage.asks_program("roadmap analyze")["phases"].as_array().unwrap().len(), 2);
    stage.types("review-backlog", "", promote);
    let roadmap = stage.context.read(ROADMAP);
    assert!(roadmap.contains("Phases 1-3") && !roadmap.contains("999."), "{roadmap}");
    let phase = stage.asks_program("roadmap get-phase 3");
    assert_eq!(phase["goal"], "A greeting fits the time of day", "{phase:#}");
    assert_eq!(stage.shell("ls .planning/phases"), "03-greet-by-the-time-of-day");
    assert!(stage.context.read(REQUIREMENTS).contains("| DAY-01 | Phase 3 | Pending |"));
    let position = stage.context.read(".planning/STATE.md");
    assert!(position.contains("- Phase 3 added: promoted from backlog 999.1"), "{position}");
    assert!(position.contains("Phase: 1 of 3 (Say Goodbye)"), "{position}");
    for check in ["state validate", "validate consistency", "roadmap validate"] {
        let answer = stage.asks_program(check);
        assert_eq!(answer["warnings"], serde_json::json!([]), "{check}: {answer:#}");
    }
    stage.expect_tidy();
    stage.expect_agreement();
}

/// `/gsd-capture --backlog TEXT`.
fn keep(it: &mut Actor) -> String {
    it.by("With a flag, Read its workflow and follow only that").by("| `--backlog TEXT` |");
    it.reads("workflows/add-backlog.md").expects("# Add a backlog item").done();
    it.reads("references/ui.md").done();
    it.knows("text", IDEA);
    it.runs("gsd-tools init add-backlog", &[]).is("roadmap_exists", true).done();
    let number = it.runs("gsd-tools phase next-decimal 999 --raw", &[]).text.trim().to_owned();
    let slug = it.runs("gsd-tools generate-slug", &[]).text.trim().to_owned();
    it.knows("number", &number);
    let folder = format!(".planning/phases/{number}-{slug}");
    let section = it.by("at the end of `## Backlog`").block("(BACKLOG)", &[]);
    let last = "| 2. Greet Crowds | 0/TBD | Not started | - |\n";
    it.by("a missing section goes at the end of the file").edits(
        ROADMAP,
        last,
        &format!("{last}\n## Backlog\n\n{section}\n"),
    );
    let make = format!("mkdir -p {folder}");
    it.by("Then the folder, with an empty `.gitkeep` in it").shell(&make).done();
    it.by("Then the folder, with an empty `.gitkeep` in it").shell(&format!("touch {folder}/.gitkeep")).done();
    it.runs("gsd-tools commit 'docs: add backlog item", &[("folder", &folder)]).is("committed", true).done();
    it.by("Answer: number and folder").by("takes it into a milestone");
    format!("{number} in {folder}. /gsd-review-backlog takes it into a milestone.")
}

/// `/gsd-review-backlog`: the only idea becomes a phase.
fn promote(it: &mut Actor) -> String {
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init review-backlog", &[]).is("milestone_version", "v1.0").done();
    it.by("Read the `### Phase 999.x` sections of ROADMAP.md").reads_file(ROADMAP).expects("(BACKLOG)").done();
    let listed = it.by("and what is in their folders").shell("ls -A .planning/phases/999.1-greet-by-the-time-of-day");
    listed.expects(".gitkeep").done();
    let folder = ".planning/phases/999.1-greet-by-the-time-of-day";
    it.runs("git log -1 --format=%as", &[("folder", folder)]).done();
    it.by("Then ask for each, at most four in one call")
        .asks(&format!("999.1 {IDEA}\n1. Promote\n2. Keep\n3. Remove"), "1. Promote");
    it.by("Show what was decided, ask **Do it** or **Change**")
        .asks("999.1 becomes a phase.\n1. Do it\n2. Change", "1. Do it");
    it.runs("gsd-tools state get Status --raw", &[]).lacks("Awaiting next milestone").done();
    it.runs("gsd-tools phase add", &[("name", IDEA)]).is("phase_number", 3).done();
    it.learns("N", "phase_number");
    let directory = it.learns("directory", "directory");
    it.runs("gsd-tools state add-roadmap-evolution", &[("999.x", "999.1")]).is("added", true).done();
    it.by("# if it has more than .gitkeep");
    it.reads("workflows/add-phase.md").done();
    it.by("Settle with the user what the phase is for").asks("What is it for?", "A greeting in the morning says so.");
    let made = "**Goal:** [To be planned]\n**Requirements**: TBD\n**Depends on:** Phase 2\n";
    it.by("in the section the call made and in the form of the others").edits(ROADMAP, made, DETAILS);
    it.by("the one-line text of its checklist line").edits(
        ROADMAP,
        "- [ ] **Phase 3: Greet by the time of day**",
        "- [ ] **Phase 3: Greet by the time of day** - a greeting fits the hour",
    );
    it.by("the milestone's phase range in ROADMAP.md follow").edits(ROADMAP, "Phases 1-2", "Phases 1-3");
    it.by("Requirements that do not exist yet also become lines and rows").edits(
        REQUIREMENTS,
        "\n## Traceability",
        "\n### Day\n\n- [ ] **DAY-01**: User is greeted by the time of day\n\n## Traceability",
    );
    let row = "| CROWD-01 | Phase 2 | Pending |\n";
    it.by("Requirements that do not exist yet also become lines and rows").edits(
        REQUIREMENTS,
        row,
        &format!("{row}| DAY-01 | Phase 3 | Pending |\n"),
    );
    it.by("Coverage and the milestone's phase range").edits(
        REQUIREMENTS,
        "4 total\n- Mapped to phases: 4",
        "5 total\n- Mapped to phases: 5",
    );
    let section = format!(
        "\n## Backlog\n\n### Phase 999.1: {IDEA} (BACKLOG)\n\n**Goal**: [Captured for future planning]\n\
         **Requirements**: TBD\n**Plans**: 0\n"
    );
    it.by("Then the backlog section and its folder").edits(ROADMAP, &section, "");
    it.by("Then the backlog section and its folder").shell(&format!("rm -r {folder}")).done();
    let sound = it.runs("gsd-tools roadmap validate", &[]).is("mismatches", serde_json::json!([]));
    sound.is("warnings", serde_json::json!([])).done();
    let fills = [
        ("promoted", "1"),
        ("removed", "0"),
        ("tracking", TRACKING),
        ("directories", &format!("'{directory}'")),
        ("999.x folders", &format!("'{folder}'")),
    ];
    it.runs("gsd-tools commit 'docs: review backlog", &fills).is("committed", true).done();
    it.by("Report what was promoted to which number, kept, removed").by("{first promoted}`, else");
    "Next Up: /gsd-discuss-phase 3".to_owned()
}
