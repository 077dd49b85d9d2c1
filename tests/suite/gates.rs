//! Gates and drift: what they ask git and the disk, and that a wrong call never passes.

use crate::kit::TestContext;

fn git(context: &TestContext, arguments: &[&str]) -> String {
    let ran =
        context.command("git").args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_source_outgrows_its_map() {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", "### Phase 1: A\n");
    assert_eq!(context.gsd(["verify", "codebase-drift"]).json()["reason"], "no-structure-md");
    git(&context, &["init", "-q"]);
    git(&context, &["add", "-A"]);
    git(&context, &["commit", "-qm", "a"]);
    let commit = git(&context, &["rev-parse", "HEAD"]);
    context.write(".planning/codebase/STRUCTURE.md", &format!("---\nlast_mapped_commit: {commit}\n---\n- src/\n"));
    for file in ["lib/a.ts", "app/é.ts", "web/c.ts", "src/d.ts"] {
        context.write(file, "x");
    }
    git(&context, &["add", "-A"]);
    git(&context, &["commit", "-qm", "b"]);
    let drift = context.gsd(["check", "verify-codebase-drift", "2"]).json();
    assert_eq!((&drift["block"], &drift["elements"][0]["path"]), (&true.into(), &"app/é.ts".into()));
    context.write(".planning/codebase/STRUCTURE.md", "---\nlast_mapped_commit: --output=x\n---\n");
    assert_eq!(context.gsd(["verify", "codebase-drift"]).json()["reason"], "unresolvable-mapped-commit");
    assert!(!context.project().join("x").exists());
}

#[test]
fn a_gate_that_is_called_wrongly_fails() {
    let context = TestContext::new();
    context.write(".planning/phases/01-a/01-SECURITY.md", "---\nthreats_open: 0\n---\n");
    let wanted = r#"{"kind":"artifact-frontmatter-equals","artifact":"SECURITY.md","field":"threats_open","equals":0}"#;
    let ran = context.gsd(["check", "predicate", "--predicate", wanted, "--phase-dir", ".planning/phases/01-a"]).json();
    assert_eq!(ran["block"], false);
    context.gsd(["check", "predicate", "--predicate", wanted, "--phase-dir", "../.."]).failure(1);
    context.gsd(["check", "predicate", "--predicate", "{bad"]).failure(1);
    context.gsd(["check", "predicate"]).failure(1);
    context.gsd(["check", "zzz"]).failure(1);
    context.gsd(["check", "ui-plan-gate"]).failure(1);
    context.gsd(["check", "gap-analysis-plan-post", "99"]).failure(1);
    assert_eq!(context.gsd(["check", "decision-coverage-plan"]).json()["passed"], false);
}
