//! `loop` and the gates it runs: each refuses what it must, passes the rest, and never passes if it found nothing to
//! check.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::kit::{TestContext, repository};

const FOLDER: &str = ".planning/phases/01-core";
const ROADMAP: &str = "# Roadmap\n\n### Phase 1: Core\n\n**Goal**: Two screens\n**Requirements**: A-1\n\
                       **UI hint**: yes\n\n### Phase 2: More\n\n**Goal**: x\n**Requirements**: B-1\n";

/// A gate, the state in which it must refuse or warn, and the change after which it passes.
struct Case {
    query: &'static str,
    refused: fn(&TestContext),
    cured: fn(&TestContext),
    /// The value of `block` that `check` answers in the first state.
    block: bool,
}

const CASES: &[Case] = &[
    Case {
        query: "verify.schema-drift",
        refused: |context| {
            plan(context, "files_modified: [prisma/schema.prisma]\n", "");
            context.write(&format!("{FOLDER}/01-01-SUMMARY.md"), "not run: `npx prisma db push`\n");
        },
        cured: |context| context.write(&format!("{FOLDER}/01-01-SUMMARY.md"), "ran `npx prisma db push`\n"),
        block: true,
    },
    Case {
        query: "verify.context-drift",
        refused: |context| {
            context.write(".planning/config.json", r#"{"workflow": {"context_drift_action": "block"}}"#);
            commit(context, &format!("{FOLDER}/01-RESEARCH.md"), "2026-01-01T00:00:00Z", "docs: research");
            commit(context, &format!("{FOLDER}/01-CONTEXT.md"), "2026-01-02T00:00:00Z", "docs: context");
        },
        cured: |context| {
            commit(context, &format!("{FOLDER}/01-RESEARCH.md"), "2026-01-03T00:00:00Z", "docs: research again");
        },
        block: true,
    },
    Case {
        query: "verify.codebase-drift",
        refused: |context| {
            commit(context, "src/a.rs", "2026-01-01T00:00:00Z", "feat: a");
            map(context);
            for file in ["lib/a.rs", "app/b.rs", "web/c.rs"] {
                commit(context, file, "2026-01-02T00:00:00Z", "feat: more");
            }
        },
        cured: map,
        block: true,
    },
    Case {
        query: "ui.plan-gate",
        refused: |context| context.write("package.json", r#"{"dependencies": {"react": "19"}}"#),
        cured: |context| context.write(&format!("{FOLDER}/01-UI-SPEC.md"), "x"),
        block: true,
    },
    Case {
        query: "ui.safety-gate",
        refused: |context| {
            commit(context, "README.md", "2026-01-01T00:00:00Z", "docs: readme");
            commit(context, "src/App.tsx", "2026-01-02T00:00:00Z", "feat(01-01): the app");
        },
        cured: |context| context.write(&format!("{FOLDER}/01-UI-SPEC.md"), "x"),
        block: true,
    },
    Case {
        query: "api-coverage.verify-pre",
        refused: |context| plan(context, "", "Integrate the Stripe API.\n"),
        cured: |context| {
            let decided = "| Capability | Decision | Reason |\n|---|---|---|\n| pay | INTEGRATE | |\n";
            context.write(&format!("{FOLDER}/01-COVERAGE.md"), decided);
        },
        block: true,
    },
    Case {
        query: "gap-analysis.plan-post",
        refused: |context| {
            context.write(".planning/REQUIREMENTS.md", "- [ ] **A-1**: x\n- [ ] **B-1**: y\n");
            plan(context, "", "");
        },
        cured: |context| plan(context, "requirements: [A-1]\n", ""),
        block: false,
    },
    Case {
        query: "refactor.undecided",
        refused: |context| {
            context.write(".planning/config.json", r#"{"refactor": {"trigger_strict": true}}"#);
            proposal(context, "proposed");
        },
        cured: |context| proposal(context, "declined"),
        block: true,
    },
    Case {
        query: "tdd.review-checkpoint",
        refused: |context| plan(context, "type: tdd\n", ""),
        cured: |context| {
            commit(context, "tests/a.rs", "2026-01-01T00:00:00Z", "test(01-01): red");
            commit(context, "src/a.rs", "2026-01-02T00:00:00Z", "feat(01-01): green");
        },
        block: true,
    },
];

fn project() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/ROADMAP.md", ROADMAP);
    context.write(&format!("{FOLDER}/01-01-PLAN.md"), "---\nphase: 1\nplan: 1\n---\n");
    context
}

fn plan(context: &TestContext, front: &str, body: &str) {
    context.write(&format!("{FOLDER}/01-01-PLAN.md"), &format!("---\nphase: 1\nplan: 1\n{front}---\n{body}"));
}

fn proposal(context: &TestContext, status: &str) {
    let front = format!("phase: 1\ntarget_file: src/a.rs\ntarget_function: sort\nstatus: {status}\n");
    context.write(&format!("{FOLDER}/01-REFACTOR.md"), &format!("---\n{front}---\n"));
}

fn git(context: &TestContext, arguments: &[&str], date: &str) -> String {
    let ran = context.command("git").env("GIT_COMMITTER_DATE", date).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

/// Commits a change of one file.
fn commit(context: &TestContext, file: &str, date: &str, subject: &str) {
    if !context.project().join(".git").exists() {
        git(context, &["init", "-q"], date);
    }
    context.write(file, date);
    git(context, &["add", file], date);
    git(context, &["commit", "-qm", subject], date);
}

/// Maps the source as committed now.
fn map(context: &TestContext) {
    let commit = git(context, &["rev-parse", "HEAD"], "");
    let map = format!("---\nlast_mapped_commit: {commit}\n---\n- src/\n");
    context.write(".planning/codebase/STRUCTURE.md", &map);
}

/// The gates that features declare.
fn declared() -> BTreeSet<String> {
    let folder = repository().join("src/operations/capability/declarations");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    texts.lines().filter_map(|line| Some(line.strip_prefix("query = \"")?.trim_end_matches('"').to_owned())).collect()
}

#[test]
fn each_declared_gate_refuses_and_passes_however_the_phase_is_named() {
    let known: BTreeSet<String> = CASES.iter().map(|case| case.query.to_owned()).collect();
    assert_eq!(known, declared());
    for case in CASES {
        let context = project();
        (case.refused)(&context);
        let absolute = context.project().join(FOLDER);
        let forms = ["1", "01", "01-core", FOLDER, &format!("{FOLDER}/"), absolute.to_str().unwrap()];
        for form in forms {
            let answer = context.gsd(["check", case.query, form, "--raw"]).json();
            assert_eq!(answer["block"], case.block, "{} {form}: {answer}", case.query);
            for key in ["message", "cure"] {
                assert!(answer[key].as_str().is_some_and(|text| !text.is_empty()), "{} {key}: {answer}", case.query);
            }
        }
        (case.cured)(&context);
        for form in forms {
            let answer = context.gsd(["check", case.query, form, "--raw"]).json();
            assert_eq!((&answer["block"], &answer["cure"]), (&json!(false), &Value::Null), "{} {form}", case.query);
        }
        if case.query != "verify.codebase-drift" {
            for nowhere in ["9", ".planning/phases/09-none", "/", "../..", ""] {
                if case.query == "api-coverage.verify-pre" && !nowhere.is_empty() {
                    let answer = context.gsd(["check", case.query, nowhere]).json();
                    assert_eq!((&answer["block"], &answer["phase_lookup_failed"]), (&json!(true), &json!(true)));
                    assert!(answer["message"].as_str().unwrap().contains("no phase"), "{answer}");
                    continue;
                }
                let refused = context.gsd(["check", case.query, nowhere]).failure(1);
                assert!(refused.contains("hint:"), "{} {nowhere}: {refused}", case.query);
            }
        }
    }
}

#[test]
fn a_path_is_resolved_from_the_callers_folder_and_through_links() {
    let context = project();
    plan(&context, "files_modified: [prisma/schema.prisma]\n", "");
    context.write(&format!("{FOLDER}/01-01-SUMMARY.md"), "done\n");
    let mut call = context.command(crate::kit::binary());
    call.current_dir(context.project().join(".planning/phases")).args(["check", "verify.schema-drift", "./01-core"]);
    let answer: Value = serde_json::from_slice(&call.output().unwrap().stdout).unwrap();
    assert_eq!(answer["block"], true);
    context.write(".planning/phases/01-other/01-01-PLAN.md", "x");
    assert!(context.gsd(["check", "verify.schema-drift", "1"]).failure(1).contains("several phase folders"));
}

#[test]
fn entering_a_point_answers_with_the_gates_that_have_findings() {
    let context = project();
    plan(&context, "files_modified: [prisma/schema.prisma]\n", "");
    let enter = |point: &str, phase: &str| context.gsd(["loop", "enter", point, phase]).json();
    assert_eq!(enter("execute:wave:post", "1")["block"], false, "nothing is done yet");
    context.write(&format!("{FOLDER}/01-01-SUMMARY.md"), "done\n");
    for phase in ["1", FOLDER] {
        let answer = enter("execute:wave:post", phase);
        assert_eq!((&answer["block"], &answer["gates"][0]["status"]), (&json!(true), &json!("block")), "{answer}");
        assert_eq!(answer["gates"][0]["gate"], "verify.schema-drift");
        assert!(answer["gates"][0]["cure"].as_str().unwrap().contains("npx prisma db push"), "{answer}");
        assert_eq!(answer["gates"].as_array().unwrap().len(), 1);
    }
    context.write(&format!("{FOLDER}/01-01-SUMMARY.md"), "npx prisma db push\n");
    let passed = enter("execute:wave:post", "1");
    assert_eq!((&passed["block"], &passed["gates"]), (&json!(false), &Value::Null), "{passed}");
    assert!(context.gsd(["loop", "enter", "execute:wave:post", "9"]).failure(1).contains("no phase `9`"));
    assert!(context.gsd(["loop", "enter", "plan:mid", "1"]).failure(1).contains("plan:pre"));
}

#[test]
fn a_finding_that_may_not_block_is_a_warning() {
    let context = project();
    context.write(".planning/REQUIREMENTS.md", "- [ ] **A-1**: x\n- [ ] **B-1**: y\n");
    let gate = |point: &str| {
        let answer = context.gsd(["loop", "enter", point, "1"]).json();
        assert_eq!(answer["block"], false, "{answer}");
        answer["gates"][0].clone()
    };
    let gap = gate("plan:post");
    assert_eq!((&gap["status"], &gap["cure"]), (&json!("warn"), &json!("/gsd-plan-phase 1")));
    assert_eq!(gap["message"], "No plan of phase 1 names A-1", "requirements of other phases are no gap of this one");
    commit(&context, &format!("{FOLDER}/01-RESEARCH.md"), "2026-01-01T00:00:00Z", "docs: research");
    commit(&context, &format!("{FOLDER}/01-CONTEXT.md"), "2026-01-02T00:00:00Z", "docs: context");
    let stale = gate("plan:pre");
    assert_eq!((&stale["gate"], &stale["status"]), (&json!("verify.context-drift"), &json!("warn")));
    context.write(".planning/config.json", r#"{"workflow": {"context_drift_action": "block"}}"#);
    let answer = context.gsd(["loop", "enter", "plan:pre", "1"]).json();
    assert_eq!((&answer["block"], &answer["gates"][0]["status"]), (&json!(true), &json!("block")));
}

#[test]
fn drift_of_the_codebase_names_the_command_that_maps_the_new_folders() {
    let context = project();
    commit(&context, "src/a.rs", "2026-01-01T00:00:00Z", "feat: a");
    map(&context);
    for file in ["lib/a.rs", "app/b.rs", "web/c.rs"] {
        commit(&context, file, "2026-01-02T00:00:00Z", "feat: more");
    }
    for point in ["plan:pre", "execute:post"] {
        let answer = context.gsd(["loop", "enter", point, "1"]).json();
        let gate = answer["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == "verify.codebase-drift");
        let gate = gate.unwrap_or_else(|| panic!("{point}: {answer}"));
        assert_eq!((&answer["block"], &gate["status"]), (&json!(false), &json!("warn")), "{point}: {answer}");
        assert_eq!(gate["cure"], "/gsd-map-codebase --paths app,lib,web", "{point}: {answer}");
    }
}

#[test]
fn a_schema_change_planned_for_another_wave_does_not_block_and_a_committed_one_does() {
    let context = project();
    context
        .write(&format!("{FOLDER}/01-02-PLAN.md"), "---\nphase: 1\nplan: 2\nfiles_modified: [prisma/b.prisma]\n---\n");
    commit(&context, "src/a.rs", "2026-01-01T00:00:00Z", "feat(01-01): a");
    context.write(&format!("{FOLDER}/01-01-SUMMARY.md"), "done\n");
    let block = || context.gsd(["loop", "enter", "execute:wave:post", "1"]).json()["block"].clone();
    assert_eq!(block(), false);
    // The plan does not mention it.
    commit(&context, "prisma/schema.prisma", "2026-01-02T00:00:00Z", "feat(01-01): b");
    assert_eq!(block(), true);
    context.write(&format!("{FOLDER}/01-01-SUMMARY.md"), "Pushed with `npx prisma db push`.\n");
    assert_eq!(block(), false);
}

#[test]
fn a_gate_blocks_and_the_step_that_fixes_it_is_offered() {
    let context = project();
    context.write("package.json", r#"{"dependencies": {"react": "19"}}"#);
    let enter = || context.gsd(["loop", "enter", "plan:pre", "1"]).json();
    let step = |answer: &Value| answer["steps"].to_string().contains("\"ui-phase\"");
    let answer = enter();
    assert_eq!((&answer["block"], &answer["gates"][0]["cure"]), (&json!(true), &json!("/gsd-ui-phase 1")), "{answer}");
    assert!(step(&answer), "{answer}");
    context.write(&format!("{FOLDER}/01-UI-SPEC.md"), "---\nstatus: skipped\n---\n");
    let answer = enter();
    assert_eq!((&answer["block"], &answer["gates"]), (&json!(false), &Value::Null), "{answer}");
    assert!(!step(&answer), "{answer}");
}

#[test]
fn a_step_about_a_subject_is_left_out_of_a_phase_that_does_not_mention_it() {
    let context = project();
    context.gsd(["install", "--claude", "--global"]).success();
    let steps = |goal: &str| {
        context.write(".planning/ROADMAP.md", &format!("# R\n\n### Phase 1: Core\n**Goal**: {goal}\n"));
        let answer = context.gsd(["loop", "enter", "plan:pre", "1"]).json();
        let steps = answer["steps"].as_array().cloned().unwrap_or_default();
        let skills: Vec<Value> = steps.into_iter().map(|step| step["skill"].clone()).filter(Value::is_string).collect();
        (skills, answer["inactive"]["ui-phase"].clone())
    };
    assert_eq!(steps("a store for notes"), (vec![], json!("phase 1 does not mention a user interface")));
    assert_eq!(steps("a page of notes"), (vec![json!("ui-phase")], Value::Null));
    assert_eq!(steps("notes summed up by an LLM").0, [json!("ai-integration-phase")]);
}

#[test]
fn texts_are_ready_for_a_prompt_and_answers_stay_small() {
    let context = project();
    let entered = context.gsd(["loop", "enter", "plan:pre", "1"]).success();
    let answer: Value = serde_json::from_str(&entered).unwrap();
    let texts = answer["contributions"]["planner"].as_array().unwrap();
    assert_eq!(texts.len(), 4, "{answer}");
    let all = answer["contributions"].to_string();
    assert!(all.contains("`01-COVERAGE.md`") && all.contains("assumption-delta scan 1`"), "{all}");
    assert!(!all.contains('{') || !all.contains("{N"), "{all}");
    let steps: Vec<&Value> = answer["steps"].as_array().unwrap().iter().map(|step| &step["agent"]).collect();
    let steps: Vec<&Value> = steps.into_iter().filter(|agent| agent.is_string()).collect();
    assert_eq!(steps, ["gsd-pattern-mapper"], "the workflow runs its researcher itself: {answer}");
    let without = context.gsd(["loop", "enter", "plan:pre"]).json();
    assert_eq!(without["inactive"]["verify.context-drift"], "no phase given");
    assert_eq!(without["inactive"]["assumption-delta"], "no phase given", "{without}");
    assert!(!without["contributions"].to_string().contains("{N"), "{without}");
    assert!(!without["contributions"]["planner"].as_array().unwrap().is_empty(), "{without}");
    let rendered = context.gsd(["loop", "render-hooks", "plan:pre"]).success();
    assert!(entered.len() <= 3072, "{} bytes: {entered}", entered.len());
    assert!(rendered.len() <= 5632, "{} bytes: {rendered}", rendered.len());
}

#[test]
fn a_command_is_given_as_a_line_until_its_file_exists() {
    let context = project();
    let config = r#"{"refactor": {"trigger_enabled": true}, "workflow": {"code_review": false}}"#;
    context.write(".planning/config.json", config);
    let enter = || context.gsd(["loop", "enter", "execute:post", FOLDER]).json();
    let answer = enter();
    assert_eq!(answer["steps"][0]["run"], "gsd-tools refactor evaluate", "{answer}");
    assert_eq!(answer["steps"][0]["produces"], json!([format!("{FOLDER}/01-REFACTOR.md")]));
    context.write(&format!("{FOLDER}/01-REFACTOR.md"), "x");
    let again = enter();
    assert_eq!(again["steps"], Value::Null);
    assert_eq!(again["inactive"]["refactor evaluate"], "01-REFACTOR.md already exists");
}

#[test]
fn a_step_whose_document_is_not_marked_as_done_is_repeated() {
    let context = project();
    context.gsd(["install", "--claude", "--global"]).success();
    let step = |skill: &str| {
        let answer = context.gsd(["loop", "enter", "verify:post", FOLDER]).json();
        let steps = answer["steps"].as_array().cloned().unwrap_or_default();
        steps.iter().any(|step| step["skill"] == skill)
    };
    for (skill, file, open, done) in [
        ("validate-phase", "01-VALIDATION.md", "status: verified", "status: validated"),
        ("secure-phase", "01-SECURITY.md", "threats_open: 1", "threats_open: 0"),
    ] {
        assert!(step(skill), "{skill}");
        context.write(&format!("{FOLDER}/{file}"), &format!("---\n{open}\n---\n"));
        assert!(step(skill), "{skill} with {open}");
        context.write(&format!("{FOLDER}/{file}"), &format!("---\n{done}\n---\n"));
        assert!(!step(skill), "{skill} with {done}");
    }
}

#[test]
fn an_installed_program_is_called_by_its_path() {
    let context = project();
    context.gsd(["install", "--claude", "--global"]).success();
    let program = context.home().join(".claude/gsd-core/bin/gsd-tools");
    let ran = context.command(&program).args(["loop", "enter", "plan:pre", "1"]).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.contains(&format!("`{} assumption-delta scan 1`", program.display())), "{text}");
    context.gsd(["install", "--claude", "--local"]).success();
    let program = context.project().join(".claude/gsd-core/bin/gsd-tools");
    let ran = context.command(&program).args(["loop", "render-hooks", "plan:pre"]).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.contains("`.claude/gsd-core/bin/gsd-tools assumption-delta scan {N}`"), "{text}");
}
