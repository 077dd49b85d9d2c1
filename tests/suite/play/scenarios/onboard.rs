//! A repository with code joins the workflow: `/gsd-onboard`, and `/gsd-map-codebase`, which it requires.

use super::Stage;
use crate::kit::repository;
use crate::play::actor::{Actor, DROPPED};

/// The focuses of the mappers, with their documents.
const FOCUSES: &[(&str, &[&str])] = &[
    ("tech", &["STACK", "INTEGRATIONS"]),
    ("arch", &["ARCHITECTURE", "STRUCTURE"]),
    ("quality", &["CONVENTIONS", "TESTING"]),
    ("concerns", &["CONCERNS"]),
];

const DOCUMENTS: &[&str] =
    &["STACK", "INTEGRATIONS", "ARCHITECTURE", "STRUCTURE", "CONVENTIONS", "TESTING", "CONCERNS"];

/// The map first, then the project (which another play sets up), then the summary for later readers.
pub(crate) fn onboard(stage: &mut Stage) {
    stage.has_code("greet");
    stage.types("onboard", "", |it| {
        look(it, "map-codebase");
        it.by("ask \"Codebase\": *Map it*").asks("Codebase\n1. Map it\n2. Short map\n3. Without", "1. Map it");
        it.by("Also available, except for `ready`: `");
        format!("Next Up: {}", it.field("next_action.command"))
    });
    stage.expect_tidy();
    let mapped = stage.shell("git rev-parse HEAD");
    stage.types("map-codebase", "", map_codebase);
    stage.expect_tidy();
    for document in DOCUMENTS {
        let text = stage.context.read(&format!(".planning/codebase/{document}.md"));
        assert!(text.contains(&format!("last_mapped_commit: {mapped}")), "{document} has no stamp: {text}");
    }
    assert_eq!(stage.shell("git log -1 --format=%s"), "docs: map existing codebase");
    stage.types("onboard", "", |it| {
        look(it, "new-project");
        let command =
            it.by("| new-project | Next Up `handoff_commands.new_project` |").field("handoff_commands.new_project");
        assert_eq!(it.field("map_readiness"), "complete");
        format!("Next Up: {command}")
    });
    stage.expect_tidy();
    stage.has("greet");
    stage.types("onboard", "", |it| {
        look(it, "write-summary");
        summary(it)
    });
    stage.expect_tidy();
    let summary = stage.context.read(".planning/onboarding/SUMMARY.md");
    assert!(summary.lines().count() <= 80, "{summary}");
    for path in ["PROJECT.md", "codebase/STACK.md", "ROADMAP.md"] {
        assert!(summary.contains(path), "the summary does not lead to {path}: {summary}");
    }
    stage.types("onboard", "", |it| {
        look(it, "ready");
        it.by("| ready | say that the project is set up; Next Up `");
        "Next Up: /gsd-progress".to_owned()
    });
    stage.expect_tidy();
    stage.expect_agreement();
}

/// The first step of `/gsd-onboard`, which must report `next` as the next action.
fn look(it: &mut Actor, next: &str) {
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init onboard", &[]).is("next_action.kind", next).is("in_nested_subdir", false).done();
    it.by("By `next_action.kind`; `reason` says why").by(&format!("| {next} |"));
}

/// The third step of `/gsd-onboard`.
fn summary(it: &mut Actor) -> String {
    let path = it.field("project_path");
    it.by("Read What This Is, Core Value and Constraints of `project_path`").reads_file(&path).done();
    it.runs("gsd-tools roadmap analyze", &[]).done();
    it.runs("gsd-tools state json", &[]).done();
    let folder = it.field("codebase_dir");
    for document in ["STACK", "ARCHITECTURE", "STRUCTURE", "CONCERNS"] {
        it.by("STACK.md, ARCHITECTURE.md, STRUCTURE.md and CONCERNS.md, those that exist")
            .reads_file(&format!("{folder}/{document}.md"))
            .done();
    }
    let fills = [("project name", "Greet"), ("date", "2026-01-06")];
    let form = it.by("Write `onboarding_summary_path`, at most 80 lines").block("# Onboarding:", &fills);
    let facts = [
        ("## What This Is", "A command-line program that greets people (`.planning/PROJECT.md`)."),
        ("## How It Is Built", "Plain Python, one module (`.planning/codebase/STACK.md`)."),
        ("## Where Things Are", "`greet.py` (`.planning/codebase/STRUCTURE.md`)."),
        ("## How to Run and Test It", "`python3 -m unittest` (`.planning/codebase/STACK.md`)."),
        ("## Where the Work Is", "Phase 1 of 2 comes next (`.planning/ROADMAP.md`)."),
        ("## What to Be Careful With", "Nothing (`.planning/codebase/CONCERNS.md`)."),
    ];
    let text = facts.iter().fold(form, |text, (heading, fact)| {
        assert!(text.contains(heading), "the form no longer has {heading}");
        text.replace(heading, &format!("{heading}\n\n{fact}\n"))
    });
    let path = it.field("onboarding_summary_path");
    it.by("Facts from those files only, each with the path to read on").writes(&path, &text);
    it.runs("gsd-tools commit \"docs: create onboarding summary\"", &[]).is("committed", true).done();
    it.by("and Next Up `");
    "Next Up: /gsd-progress".to_owned()
}

/// `/gsd-map-codebase` without an existing map: four mappers at once.
fn map_codebase(it: &mut Actor) -> String {
    it.reads("references/ui.md").done();
    it.runs("gsd-tools init map-codebase", &[]).is("has_maps", false).is("parallelization", true).done();
    it.by("| `has_maps` false | all four, mode `new`");
    it.runs("mkdir -p .planning/codebase", &[]).done();
    it.by("One agent a focus, all in one message");
    let date = it.field("date");
    let mut mappers = Vec::new();
    for (focus, documents) in FOCUSES {
        assert!(it.is_ordered(&format!("| {focus} | {}.md", documents.join(".md, "))), "{focus} has other documents");
        let paths: Vec<String> = documents.iter().map(|name| format!(".planning/codebase/{name}.md")).collect();
        let paths = paths.join(", ");
        let fills = [
            ("focus", *focus),
            ("mode", "new"),
            ("paths of its documents", &paths),
            ("if any", DROPPED),
            ("search_gitignored", "what git tracks"),
            ("paths", ""),
            ("area", ""),
        ];
        let date = date.clone();
        mappers.push(it.spawn("=\"gsd-codebase-mapper\"", &fills, move |it| mapper(it, documents, &date)));
    }
    for returned in it.sends_side_by_side(mappers) {
        returned.expects(" lines").done();
    }
    let counted = it.by("Disk decides: every document is there").runs("wc -l .planning/codebase/*.md", &[]);
    for line in counted.text.lines().filter(|line| line.contains(".md")) {
        let lines: usize = line.split_whitespace().next().unwrap().parse().unwrap();
        assert!(lines > 20, "a document would be mapped again: {line}");
    }
    it.reads("references/secret-scan.md").done();
    let scanned = it.even_if_it_fails().runs("grep -rnIE", &[("files or folders", ".planning/codebase/")]);
    scanned.lacks(".planning/codebase/").done();
    it.by("Nothing found: continue");
    let names: Vec<String> = DOCUMENTS.iter().map(|name| format!("{name}.md")).collect();
    let stamp = it.runs("gsd-tools stamp-codebase-map", &[("names of the written", &names.join(","))]);
    stamp.is("failed", serde_json::json!([])).is("skipped", false).done();
    let paths: Vec<String> = names.iter().map(|name| format!("'.planning/codebase/{name}'")).collect();
    it.runs("gsd-tools commit \"docs: map existing codebase\"", &[("paths of the written", &paths.join(" "))])
        .is("committed", true)
        .done();
    it.by("without `.planning/PROJECT.md`, else `");
    "Next Up: /gsd-new-project".to_owned()
}

/// gsd-codebase-mapper on one focus.
fn mapper(it: &mut Actor, documents: &[&str], date: &str) -> String {
    it.by("Read the project instruction file").reads_file("CLAUDE.md").done();
    for name in documents {
        it.reads(&format!("templates/codebase/{name}.md")).expects("**Mapped:**").done();
    }
    it.by("Read real files until you can state the rule").reads_file("greet.py").done();
    it.by("Read real files until you can state the rule").reads_file("test_greet.py").done();
    let mut lines = Vec::new();
    for name in documents {
        let path = format!(".planning/codebase/{name}.md");
        let text = document(name, date);
        it.by("Write each document by its form").writes(&path, &text);
        lines.push(format!("{path}: {} lines", text.lines().count()));
    }
    it.by("At most ten lines, never contents");
    lines.join("\n")
}

/// A document of the map in its form: the facts for each heading, otherwise "None".
fn document(name: &str, date: &str) -> String {
    let form = std::fs::read_to_string(repository().join(format!("templates/codebase/{name}.md"))).unwrap();
    let headings = form.lines().filter(|line| line.starts_with("## "));
    let part = |heading: &str| {
        let fact = match heading {
            "## Languages" => "- Python 3: everything, `greet.py`",
            "## Commands" => "| To | Command |\n|---|---|\n| test | `python3 -m unittest` |",
            "## Entry Points" => {
                "| Entry | Path | Started by | Does |\n|---|---|---|---|\n| main | `greet.py` | a person | greets |"
            }
            "## Key Files" => "- `greet.py`: `greeting` and `main`",
            "## Where to Add New Code" => "- A new sentence is a function beside `greeting` in `greet.py`.",
            _ => "None",
        };
        format!("\n{heading}\n\n{fact}\n")
    };
    let title = form.lines().next().unwrap();
    format!("{title}\n\n**Mapped:** {date}\n{}", headings.map(part).collect::<String>())
}
