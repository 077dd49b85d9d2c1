//! The audits on projects in memory.

use super::*;
use crate::project::view::{Edits, ProjectView};
use crate::text::screen::Screen;

fn view(files: &[(&str, &str)]) -> ProjectView {
    ProjectView::of(files.iter().copied())
}

fn target(category: Category) -> AcknowledgedItem<'static> {
    AcknowledgedItem {
        category,
        milestone: "v1.0",
        day: "2026-02-03",
        slug: None,
        seed: None,
        folder: None,
        todo: None,
        phase: None,
        file: None,
        text: None,
        archived_milestone: None,
    }
}

const FILES: &[(&str, &str)] = &[
    (".planning/debug/crash.md", "---\nstatus: investigating\n---\n## Current Focus\nhypothesis: cache\n"),
    (".planning/debug/old.md", "---\nstatus: resolved\n---\n"),
    (".planning/debug/knowledge-base.md", "# Learnt\n"),
    (".planning/quick/260101-a/260101-PLAN.md", "x"),
    (".planning/quick/260102-b/260102-SUMMARY.md", "---\nstatus: complete\n---\n"),
    (".planning/threads/t.md", "---\nstatus: open\n---\n# Thread: T\n"),
    (".planning/todos/pending/a.md", "---\r\narea: ui  # x\r\n---\r\n\r\nfix it\r\n"),
    (".planning/seeds/SEED-1-x.md", "# Seed\n"),
    (".planning/seeds/SEED-2-y.md", "---\nstatus: harvested\n---\n"),
    (".planning/phases/02-b/02-UAT.md", "---\nstatus: partial\n---\n### 1. A\nresult: [pending]\n"),
    (
        ".planning/phases/02-b/02-VERIFICATION.md",
        "---\nstatus: gaps_found\ngaps:\n  - truth: T\n    status: failed\n---\n",
    ),
    (".planning/phases/02-b/02-REVIEW.md", "---\nstatus: issues_found\n---\n### CR-01: data is lost\n\n### WR-01: x\n"),
    (".planning/phases/02-b/02-CONTEXT.md", "# C\n\n## Open Questions\n\n- [x] old\n- q one\n- None\n"),
    (".planning/phases/02-b/deferred-items.md", "- one\n- two\n"),
    (".planning/milestones/v0.9-phases/01-a/01-UAT.md", "---\nstatus: testing\n---\n"),
];

fn with(edits: &Edits) -> ProjectView {
    view(FILES).after(edits)
}

fn acknowledged(target: AcknowledgedItem<'_>) -> Edits {
    acknowledge(&view(FILES), target).unwrap().1
}

#[test]
fn everything_open_is_counted_and_listed() {
    let report = open(&view(FILES), String::new()).unwrap();
    let counts: Vec<usize> = Category::ALL.map(|category| report.counts.of(category)).into();
    assert_eq!(counts, [1, 1, 1, 1, 1, 2, 1, 1, 1, 2]);
    assert_eq!((report.counts.total, report.acknowledged.total), (12, 0));
    let page = report.page();
    for line in [
        "🔴 Debug Sessions (1 open)\n   • crash [investigating] — hypothesis: cache\n",
        "🟡 Quick Tasks (1 incomplete)\n   • 260101-a [missing]\n",
        "   • a.md [ui]\n     fix it\n",
        "🔴 Critical Review Findings (1 reviews with open findings)\n   • Phase 02: 02-REVIEW.md\n     - CR-01: data is lost\n",
        "   • Phase 02: 02-CONTEXT.md (1 questions)\n     - q one\n",
        "   • Phase 01: 01-UAT.md [testing] — 0 pending scenarios (archived, v0.9)\n",
        "\n---\n\n**12 items require decisions before close.**",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    let page = open(&view(&[]), String::new()).unwrap().page();
    assert_eq!(page, "### Milestone Close: Open Artifact Audit\n\nAll artifact types clear. Safe to proceed.\n\n---");
}

#[test]
fn more_todos_than_fit_are_counted() {
    let files: Vec<(String, String)> =
        (0..8).map(|n| (format!(".planning/todos/pending/{n}.md"), "x".into())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let report = open(&view(&files), String::new()).unwrap();
    assert_eq!((report.counts.total, report.items.todos.len()), (8, 6));
    assert!(report.page().contains("   ... and 3 more\n"));
}

#[test]
fn an_acknowledged_artifact_is_suppressed_until_it_changes() {
    let phase = |category, file| AcknowledgedItem { phase: Some("2"), file: Some(file), ..target(category) };
    let targets = [
        AcknowledgedItem { slug: Some("crash"), ..target(Category::DebugSessions) },
        AcknowledgedItem { folder: Some("260101-a"), ..target(Category::QuickTasks) },
        AcknowledgedItem { slug: Some("t"), ..target(Category::Threads) },
        AcknowledgedItem { todo: Some("a.md"), ..target(Category::Todos) },
        AcknowledgedItem { seed: Some("SEED-1-x"), ..target(Category::Seeds) },
        phase(Category::UatGaps, "02-UAT.md"),
        phase(Category::VerificationGaps, "02-VERIFICATION.md"),
        phase(Category::ReviewFindings, "02-REVIEW.md"),
        phase(Category::ContextQuestions, "02-CONTEXT.md"),
        AcknowledgedItem { text: Some("one"), ..phase(Category::DeferredItems, "deferred-items.md") },
        AcknowledgedItem {
            archived_milestone: Some("v0.9"),
            phase: Some("01"),
            ..phase(Category::UatGaps, "01-UAT.md")
        },
    ];
    for wanted in targets {
        let report = open(&with(&acknowledged(wanted)), String::new()).unwrap();
        let category = wanted.category;
        assert_eq!((report.counts.total, report.acknowledged.of(category)), (11, 1), "{}", category.word());
    }
    let mut edits = acknowledged(targets[0]);
    let text = edits.texts.get_mut(".planning/debug/crash.md").unwrap();
    *text = text.replacen("status: investigating", "status: fixing", 1);
    assert_eq!(open(&with(&edits), String::new()).unwrap().counts.total, 12);
}

#[test]
fn a_note_goes_into_the_front_matter_and_nothing_else_changes() {
    let edits = acknowledged(AcknowledgedItem { todo: Some("a.md"), ..target(Category::Todos) });
    assert_eq!(
        edits.texts[".planning/todos/pending/a.md"],
        "---\r\narea: ui  # x\r\naudit_acknowledged:\r\n  milestone: v1.0\r\n  at: 2026-02-03\r\n---\r\n\r\nfix it\r\n"
    );
    let edits = acknowledged(AcknowledgedItem { seed: Some("SEED-1-x"), ..target(Category::Seeds) });
    assert!(edits.texts[".planning/seeds/SEED-1-x.md"].ends_with("  status: dormant\n---\n\n# Seed\n"));
    let again = AcknowledgedItem { todo: Some("a.md"), ..target(Category::Todos) };
    let noted = with(&acknowledged(again));
    assert!(acknowledge(&noted, again).unwrap().1.is_empty(), "the same note twice is no change");
}

#[test]
fn a_target_that_is_missing_or_leads_elsewhere_is_refused() {
    let refused = |target: AcknowledgedItem<'_>| acknowledge(&view(FILES), target).unwrap_err().to_string();
    assert_eq!(refused(target(Category::Todos)), "`--category todos` needs --filename");
    assert_eq!(
        refused(AcknowledgedItem { todo: Some("nope.md"), ..target(Category::Todos) }),
        "there is no file `todos/pending/nope.md`"
    );
    assert!(
        refused(AcknowledgedItem { todo: Some("../../STATE.md"), ..target(Category::Todos) })
            .contains("is not the name")
    );
    let missing = AcknowledgedItem { phase: Some("9"), file: Some("x.md"), ..target(Category::UatGaps) };
    assert_eq!(refused(missing), "phase 9 has no folder");
    let item = AcknowledgedItem { phase: Some("2"), text: Some("three"), ..target(Category::DeferredItems) };
    assert_eq!(refused(item), "no deferred item matches `three`");
    let broken = [(".planning/threads/t.md", "---\nstatus: open\nno end\n")];
    let wanted = AcknowledgedItem { slug: Some("t"), ..target(Category::Threads) };
    assert!(acknowledge(&view(&broken), wanted).unwrap_err().message.ends_with(" (line 1)"));
}

#[test]
fn tests_that_did_not_pass_have_a_category() {
    let uat_text = "---\nstatus: partial\n---\n### 1. A\nresult: skipped\nreason: Server not running\n\n### 2. B\nresult: blocked\n\
        blocked_by: physical-device\n\n### 3. C\nresult: pass\n\n### 4. D\n\n### 5. E\nresult: [pending]\nexpected: x\n";
    let report = uat(&view(&[(".planning/phases/01-a/01-UAT.md", uat_text)])).unwrap();
    let value = serde_json::to_value(&report).unwrap();
    let categories: Vec<_> =
        value["results"][0]["items"].as_array().unwrap().iter().map(|item| &item["category"]).collect();
    assert_eq!(categories, ["server_blocked", "device_needed", "pending"]);
    assert_eq!((&value["results"][0]["parse_gap"], &value["results"][0]["unparsed_blocks"]), (&true.into(), &1.into()));
    assert_eq!(value["summary"]["by_phase"]["01"], 3);
}

#[test]
fn a_waiting_verification_is_listed_even_if_it_gives_no_reason() {
    let report = uat(&view(FILES)).unwrap();
    let value = serde_json::to_value(&report).unwrap();
    assert_eq!(value["results"][1]["items"][0]["name"], "T");
    let silent = [(".planning/phases/01-a/01-VERIFICATION.md", "---\nstatus: human_needed\n---\n")];
    let value = serde_json::to_value(uat(&view(&silent)).unwrap()).unwrap();
    assert_eq!((&value["results"][0]["parse_gap"], &value["summary"]["total_files"]), (&true.into(), &1.into()));
}

#[test]
fn the_archives_are_searched_even_without_a_phases_folder() {
    let open = "### 1. T\nresult: pending\n";
    for (folder, files) in [(".planning/phases/01-a", 1), (".planning/milestones/v0.9-phases/01-a", 1), ("docs", 0)] {
        let path: &'static str = Box::leak(format!("{folder}/01-UAT.md").into_boxed_str());
        let value = serde_json::to_value(uat(&view(&[(path, open)])).unwrap()).unwrap();
        assert_eq!(value["summary"]["total_items"], files, "{folder}");
    }
}

#[test]
fn a_person_sees_titles_instead_of_headings_and_never_null() {
    let files = [
        (".planning/debug/crash.md", "---\nstatus: investigating\n---\n## Current Focus\nhypothesis: null\n"),
        (".planning/todos/pending/a.md", "---\narea: ui\n---\n\n## Problem\n\nIt crashes.\n"),
        (".planning/todos/pending/b.md", "---\ntitle: Fix it\n---\n\n## Problem\n"),
    ];
    let screen = Screen { width: 80, color: false, signs: true };
    let page = open(&view(&files), String::new()).unwrap().shown(screen);
    assert!(page.contains("It crashes.") && page.contains("Fix it"), "{page}");
    assert!(!page.contains("null") && !page.contains("Problem"), "{page}");
}

#[test]
fn a_deferred_check_is_open_only_in_the_uat() {
    let report = "---\nstatus: human_needed\nhuman_verification:\n  - test: Look at the page\n    expected: it is blue\n\
        \x20   why_human: colour\n  - test: Listen\n    expected: a sound\n    why_human: ears\n---\n";
    let uat_text = "### 1. Look at the page.\nexpected: it is blue\nresult: pending\n";
    let files = [(".planning/phases/01-a/01-VERIFICATION.md", report), (".planning/phases/01-a/01-UAT.md", uat_text)];
    let value = serde_json::to_value(uat(&view(&files)).unwrap()).unwrap();
    assert_eq!(value["summary"]["total_items"], 2, "{value}");
    let value = serde_json::to_value(uat(&view(&files[..1])).unwrap()).unwrap();
    assert_eq!(value["summary"]["total_items"], 2, "{value}");
}
