//! New documents, seeds, and small decisions: words and flags reach what they name.

use crate::kit::TestContext;

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 3: Sync\n");
    context.write(".planning/phases/03-sync/.gitkeep", "");
    context
}

#[test]
fn a_document_is_created_once_and_never_overwrites_another() {
    let context = project();
    let path = ".planning/phases/03-sync/03-CONTEXT.md";
    assert_eq!(context.gsd(["scaffold", "context", "--phase", "3", "--raw"]).success(), path);
    context.write(path, "mine\r\n");
    let again = context.gsd(["scaffold", "context", "--phase", "3"]).json();
    assert_eq!((&again["created"], &again["reason"]), (&false.into(), &"already_exists".into()));
    assert_eq!(context.read(path), "mine\r\n");
    let folder = context.gsd(["scaffold", "phase-dir", "--phase", "4", "--name", "UI Polish"]).json();
    assert_eq!(folder["directory"], ".planning/phases/04-ui-polish");
    assert!(context.project().join(".planning/phases/04-ui-polish/.gitkeep").exists());
}

#[test]
fn wrong_calls_are_refused() {
    let context = project();
    context.gsd(["scaffold"]).failure(1);
    assert!(context.gsd(["scaffold", "zzz", "--phase", "1"]).failure(1).contains("cannot create `zzz`"));
    assert!(context.gsd(["scaffold", "uat", "--phase", "9"]).failure(1).contains("phase 9 has no folder"));
    context.gsd(["scaffold", "uat"]).failure(1);
    context.gsd(["scaffold", "phase-dir", "--phase", "../x", "--name", "y"]).failure(1);
    context.gsd(["drift-guard", "severity", "--status", "zzz"]).failure(1);
    context.gsd(["uat", "classify-coverage", "--summary", "nope.md"]).failure(1);
}

#[test]
fn small_answers_have_a_bare_form() {
    let context = project();
    context.write(".planning/seeds/SEED-001-x.md", "---\nstatus: dormant\n---\n# X\n");
    assert_eq!(context.gsd(["list-seeds", "--raw"]).success(), "1");
    assert_eq!(context.gsd(["list-seeds", "active"]).json()["count"], 0);
    assert_eq!(context.gsd(["windows", "status"]).json()["ledger"]["total_count"], 0);
    context.write(".planning/WINDOWS.md", "---\nopen_count: 1\n---\n\n```json\n[{]\n```\n");
    let refused = context.gsd(["windows", "status"]).failure(1);
    assert!(refused.contains("WINDOWS.md` line 6") && refused.contains("hint"), "{refused}");
    assert_eq!(context.gsd(["drift-guard", "authority", "--raw"]).success(), "grep");
    context.write(".planning/config.json", "{\"plan_review\": {\"source_grounding_authority\": \"zzz\"}}");
    assert!(context.gsd(["drift-guard", "authority"]).failure(1).contains("treesitter"));
}
