//! Functions that became too branched: proposed, decided, not proposed again.

use crate::kit::TestContext;

fn commit(context: &TestContext, message: &str) {
    for arguments in [&["add", "."][..], &["commit", "-qm", message]] {
        assert!(context.command("git").args(arguments).status().unwrap().success());
    }
}

#[test]
fn a_function_that_a_phase_made_too_branched_is_proposed_once() {
    let context = TestContext::new();
    context.write(".planning/phases/02-core/02-01-PLAN.md", "# plan\n");
    context.write(".planning/config.json", "{}");
    for call in
        [&["refactor", "evaluate"][..], &["refactor", "status"], &["refactor", "accept"], &["refactor", "decline"]]
    {
        assert_eq!(context.gsd_with(call, &[], "").json()["disabled"], true, "{call:?}");
    }
    context.write(".planning/config.json", r#"{"refactor":{"trigger_enabled":true}}"#);
    assert!(context.gsd(["refactor", "evaluate"]).failure(1).contains("--phase"));
    let evaluate = || context.gsd(["refactor", "evaluate", "--phase", "2"]).json();
    assert_eq!(evaluate()["reason"], "refactor_git_unavailable");
    assert!(context.command("git").args(["init", "-q", "-b", "main"]).status().unwrap().success());
    commit(&context, "first");
    assert_eq!(evaluate()["reason"], "refactor_no_touched_files");
    context.write("src/hot.js", &format!("function hot(a) {{ {} }}\n", "if (a) {} ".repeat(20)));
    commit(&context, "feat(02-01): hot");
    let report = evaluate();
    assert_eq!((&report["verdict"], &report["target"]["score"]), (&"triggered".into(), &21.into()));
    assert!(context.read(".planning/phases/02-core/02-REFACTOR.md").contains("target_function: hot\n"));
    assert_eq!(context.gsd(["refactor", "status"]).json()["proposals"][0]["status"], "proposed");
    let undecided = || context.gsd(["check", "refactor-undecided", "2"]).json();
    assert!(undecided()["cure"].is_string() && undecided()["block"] == false, "{}", undecided());
    assert!(context.gsd(["refactor", "decline", "--phase", "2"]).failure(1).contains("--reason"));
    let declined = context.gsd(["refactor", "decline", "--phase", "2", "--reason", "later: yes"]).json();
    assert_eq!((&declined["status"], &declined["reanchored_to"]), (&"declined".into(), &21.into()));
    assert!(undecided()["cure"].is_null());
    let again = evaluate();
    assert_eq!((&again["decided"], &again["artifact_written"]), (&"declined".into(), &false.into()));
    let one = context.gsd(["refactor", "status", "--phase", "2"]).json();
    assert_eq!(one["proposal"]["reason"], "later: yes");
    assert_eq!(context.gsd(["refactor", "accept", "--phase", "2"]).json()["status"], "accepted");
    assert!(context.gsd(["refactor", "accept", "--phase", "7"]).failure(1).contains("phase 7"));
    assert_eq!(context.gsd(["refactor", "evaluate", "--phase", "9"]).json()["reason"], "refactor_invalid_phase");
    let call = ["refactor", "evaluate", "--phase", "2", "--since", "nope"];
    assert_eq!(context.gsd(call).json()["reason"], "refactor_git_unavailable");
}
