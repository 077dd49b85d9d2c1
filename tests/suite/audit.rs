//! Audits: what an acknowledgement writes, and what wrong calls come to.

use crate::kit::TestContext;

const TODO: &str = "---\r\ntitle: \"A\"   # kept\r\narea: ui\r\n---\r\n\r\nfix it  \r\n";

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 1: A\n");
    context.write(".planning/todos/pending/a.md", TODO);
    context
}

#[test]
fn an_acknowledgement_adds_its_lines_and_the_page_counts_it() {
    let context = project();
    assert!(context.gsd(["audit-open"]).success().contains("**1 item require decisions before close.**"));
    let call = [
        "audit-open",
        "acknowledge",
        "--category",
        "todos",
        "--milestone",
        "v1.0",
        "--filename",
        "a.md",
        "--at",
        "2026-02-03",
    ];
    assert_eq!(context.gsd(call).json()["acknowledged"], true);
    let noted = "audit_acknowledged:\r\n  milestone: v1.0\r\n  at: 2026-02-03\r\n---\r\n\r\nfix it  \r\n";
    assert_eq!(context.read(".planning/todos/pending/a.md"), TODO.replacen("---\r\n\r\nfix it  \r\n", noted, 1));
    let report = context.gsd(["audit-open", "--json"]).json();
    assert_eq!((&report["counts"]["total"], &report["acknowledged"]["todos"]), (&0.into(), &1.into()));
}

#[test]
fn wrong_calls_are_refused_and_write_nothing() {
    let context = project();
    context.gsd(["audit-open", "zzz"]).failure(1);
    context.gsd(["audit-open", "acknowledge"]).failure(1);
    let told = context.gsd(["audit-open", "acknowledge", "--category", "zzz", "--milestone", "v1"]).failure(1);
    assert!(told.contains("deferred_items"), "{told}");
    let outside = ["audit-open", "acknowledge", "--category", "todos", "--milestone", "v1", "--filename", "../a.md"];
    context.gsd(outside).failure(1);
    context.write(".planning/todos/pending/a.md", "---\ntitle: never closed\n");
    let broken = ["audit-open", "acknowledge", "--category", "todos", "--milestone", "v1", "--filename", "a.md"];
    assert!(context.gsd(broken).failure(1).contains("line 1"));
    assert_eq!(context.read(".planning/todos/pending/a.md"), "---\ntitle: never closed\n");
    assert!(context.gsd(["audit-uat"]).failure(1).contains("No phases directory"));
}
