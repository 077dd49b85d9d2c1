//! Each stop prints a command that continues the run: the tests here run it, and the run reaches its end.

use serde_json::{Value, json};

use crate::auto::{compile, git, project, report};
use crate::kit::{Ran, TestContext};
use crate::scripted;

pub(crate) fn run(context: &TestContext, words: &[&str], rows: &[Value]) -> Ran {
    scripted::run(context, words, rows, &[("FAKE_SHAPE", "2x2")])
}

pub(crate) fn also(unit: &str, script: &str) -> Value {
    scripted::also(unit, None, script)
}

pub(crate) const TASK: &str = "execute-task M001/S01/T02";
pub(crate) const BEGIN: &[&str] = &["auto", "run", "--brief", "BRIEF"];

/// Splits a command line into words; a quoted part is one word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('"').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Runs the commands that stops print, with honest sessions, until the milestone has landed. Returns the causes on the
/// way.
pub(crate) fn goes_on(context: &TestContext, stop: &Value) -> Vec<String> {
    follow(context, stop, |line| run(context, line, &[]))
}

/// The same, with the sessions of `run`.
pub(crate) fn follow(context: &TestContext, stop: &Value, run: impl Fn(&[&str]) -> Ran) -> Vec<String> {
    let mut stop = stop.clone();
    let mut causes = Vec::new();
    for _ in 0..8 {
        let cause = stop["cause"].as_str().unwrap().to_owned();
        if cause == "complete" {
            return causes;
        }
        causes.push(cause);
        let next = stop["next"].as_str().unwrap();
        let line = words(next);
        let is_run = line[0] == "gsd-tools" && ["run", "dispatch", "next"].contains(&line[2].as_str());
        if is_run {
            let line: Vec<&str> = line[1..].iter().map(String::as_str).collect();
            stop = report(&run(&line))["stop"].clone();
            continue;
        }
        if line[0] == "gsd-tools" {
            let _ = context.gsd_with(&line[1..], &[], "").success();
        } else {
            let output = context.command("sh").args(["-c", next]).output().unwrap();
            assert!(output.status.success(), "{next}: {}", String::from_utf8_lossy(&output.stderr));
        }
        stop = report(&run(&["auto", "run"]))["stop"].clone();
    }
    panic!("{causes:?} {stop:#}");
}

pub(crate) fn stopped(ran: &Ran, cause: &str) -> Value {
    let report = report(ran);
    assert_eq!(report["stop"]["cause"], cause, "{report:#}\n{}", ran.stderr);
    report["stop"].clone()
}

/// What sessions do to their worktree or repository, the cause with which the run stops, and flags of the call.
const DAMAGE: &[(&str, &str, &[&str])] = &[
    (
        "mkdir -p sub && cd sub && git init --quiet && git -c user.name=x -c user.email=x@y commit --quiet --allow-empty -m x",
        "worktree-damaged",
        &[],
    ),
    (
        "git init --quiet sub && echo x > sub/f && git -C sub add f && git -C sub commit --quiet -m x",
        "worktree-damaged",
        &[],
    ),
    ("W=$PWD; cd /; rm -rf $W", "worktree-damaged", &["--no-fence"]),
    ("git checkout --quiet --detach", "worktree-damaged", &["--no-fence"]),
    ("git config core.hooksPath /tmp/evil", "repository-changed", &["--no-fence"]),
    (
        "git update-ref refs/heads/other HEAD~1 2>/dev/null; git update-ref -d refs/tags/mine",
        "repository-changed",
        &["--no-fence"],
    ),
    ("printf 'exit 1\\n' > $(git rev-parse --git-common-dir)/hooks/pre-commit", "repository-changed", &["--no-fence"]),
];

#[test]
fn damage_to_the_worktree_or_the_repository_stops_the_run_with_a_way_on() {
    for (script, cause, flags) in DAMAGE {
        let context = project();
        git(&context, &["tag", "mine"]);
        let before = git(&context, &["rev-parse", "main"]);
        // Only once: the command that continues leads to the same unit.
        let script = format!("test -e {0}/once || {{ touch {0}/once; {script}; }}", context.temporary().display());
        let ran = run(&context, &[BEGIN, flags].concat(), &[also(TASK, &script)]);
        let stop = stopped(&ran, cause);
        assert!([10, 12].contains(&ran.code) && !stop["text"].as_str().unwrap().is_empty(), "{script}: {stop:#}");
        assert_eq!(git(&context, &["rev-parse", "main"]), before, "{script}");
        if script.contains("hooksPath") {
            assert!(stop["evidence"].to_string().contains("`core.hookspath` of the repository was set"), "{stop:#}");
            git(&context, &["config", "--unset", "core.hooksPath"]);
        }
        goes_on(&context, &stop);
    }
}

#[test]
fn a_milestone_lands_although_the_git_file_of_its_worktree_was_replaced() {
    let context = project();
    let script = format!(
        "test -e {0}/once || {{ touch {0}/once; rm .git && git init --quiet && git add --all && git commit --quiet -m x; }}",
        context.temporary().display()
    );
    let ran = run(&context, BEGIN, &[also(TASK, &script)]);
    goes_on(&context, &report(&ran)["stop"]);
    assert_eq!(git(&context, &["rev-list", "--count", "main"]), "2", "one commit");
}

#[test]
fn without_a_fence_changed_references_are_reported_and_unchecked_work_is_removed_from_the_branch() {
    let context = project();
    let before = git(&context, &["rev-parse", "main"]);
    let script = "git add --all; git update-ref refs/heads/main $(git commit-tree -p HEAD -m evil $(git write-tree)); git tag theirs; \
                  git branch side; git stash --quiet --include-untracked && git stash apply --quiet";
    stopped(&run(&context, &[BEGIN, &["--max-units", "1"]].concat(), &[]), "units-done");
    let ran = run(&context, &["auto", "run", "--no-fence", "--max-units", "3"], &[also(TASK, script)]);
    stopped(&ran, "units-done");
    assert!(ran.stderr.contains("put back in the repository: `refs/heads/main` was moved onto work"), "{}", ran.stderr);
    for name in ["refs/tags/theirs", "refs/heads/side", "refs/stash"] {
        let line = format!("changed in the repository during the session: `{name}` is new");
        assert!(ran.stderr.contains(&line), "{name}: {}", ran.stderr);
    }
    assert_eq!(git(&context, &["rev-parse", "main"]), before);
    assert_eq!(git(&context, &["status", "--porcelain"]), "");
    assert!(git(&context, &["for-each-ref", "refs/gsd/checkpoint"]).contains("/moved-"));
    // Commits that a person makes meanwhile stay.
    let script = "git -C ../../.. commit --quiet --allow-empty -m mine";
    let ran = run(&context, &["auto", "run"], &[also("execute-task M001/S02/T01", script)]);
    stopped(&ran, "complete");
    assert!(ran.stderr.contains("`refs/heads/main` has new commits"), "{}", ran.stderr);
    assert!(git(&context, &["log", "--format=%s", "main"]).contains("mine"));
}

#[test]
fn a_rewritten_target_stops_the_run_with_a_way_on() {
    let context = project();
    let first = run(&context, &[BEGIN, &["--max-units", "2"]].concat(), &[]);
    stopped(&first, "units-done");
    let other = git(&context, &["commit-tree", "-m", "another history", "HEAD^{tree}"]);
    git(&context, &["reset", "--quiet", "--hard", &other]);
    let ran = run(&context, &["auto", "run"], &[]);
    let stop = stopped(&ran, "target-rewritten");
    goes_on(&context, &stop);
    let parents = git(&context, &["rev-list", "--parents", "-n", "1", "main"]);
    assert_eq!(parents.split(' ').nth(1), Some(other.as_str()), "{parents}");
}

#[test]
fn a_killed_git_stops_the_run_and_the_run_continues() {
    let context = project();
    let folder = context.temporary().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let path = std::env::var("PATH").unwrap();
    // The second commit of the run: the one with the plan.
    let script = format!(
        "#!/bin/bash\nexport PATH='{path}'\ncase \" $* \" in *\" commit-tree \"*) echo x >> '{0}/calls'\n\
         [ $(wc -l < '{0}/calls') = 2 ] && kill -KILL $$;; esac\nexec git \"$@\"\n",
        context.temporary().display()
    );
    std::fs::write(folder.join("git"), script).unwrap();
    std::fs::set_permissions(folder.join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
    let before = format!("{}:{path}", folder.display());
    let variables = [("FAKE_SHAPE", "2x2"), ("FAKE_ACTOR", "ideal"), ("PATH", &before)];
    let ran = context.gsd_with(words, &variables, "");
    let stop = stopped(&ran, "git-failed");
    assert_eq!(ran.code, 12, "{stop:#}");
    assert!(stop["text"].as_str().unwrap().contains("was ended by signal 9"), "{stop:#}");
    assert_eq!(goes_on(&context, &stop), ["git-failed"]);
}

#[test]
fn a_task_that_is_ticked_but_never_ran_is_run() {
    let context = project();
    let first = run(&context, &[BEGIN, &["--max-units", "3"]].concat(), &[]);
    stopped(&first, "units-done");
    let plan = context.project().join(".gsd/worktrees/M001/.gsd/milestones/M001/slices/S01/S01-PLAN.md");
    let text = std::fs::read_to_string(&plan).unwrap();
    std::fs::write(&plan, text.replace("- [ ] **T02", "- [x] **T02")).unwrap();
    let ran = run(&context, &["auto", "run"], &[]);
    let stop = stopped(&ran, "needs-attention");
    assert_eq!(stop["next"], "gsd-tools auto dispatch execute-task M001/S01/T02", "{stop:#}");
    let causes = goes_on(&context, &stop);
    assert_eq!(causes, ["needs-attention", "units-done"]);
    assert!(git(&context, &["ls-tree", "-r", "--name-only", "main"]).contains("S01/tasks/T02-VERIFY.json"));
}

#[test]
fn a_persons_verdict_on_a_task_applies_to_the_merge_and_is_reported() {
    let context = project();
    let wrong = also(TASK, "echo \"wrong $GSD_UNIT_ATTEMPT\" > src/s01_t02.txt");
    let ran = run(&context, BEGIN, &[wrong]);
    stopped(&ran, "checks-failed");
    let verdict = ["auto", "verdict", "M001/S01/T02", "pass", "--rationale", "the words do not matter"];
    let said = context.gsd(verdict).json();
    assert_eq!(said["next"], "gsd-tools auto run", "{said:#}");
    let ran = run(&context, &["auto", "run"], &[]);
    stopped(&ran, "complete");
    let line = "checks passed: 3; failed, and decided by a person: `sh checks/s01_t02.sh` (M001/S01/T02: the words do not matter)";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
    let validation = git(&context, &["show", "main:.gsd/milestones/M001/M001-VALIDATION.md"]);
    assert!(validation.contains("| M001/S01/T02 | overridden | the words do not matter |"), "{validation}");
    assert!(validation.contains("| every check passes | the checks of its slices |"), "{validation}");
    let proof = context.gsd(["auto", "proof"]).json().to_string();
    assert!(
        proof.contains("some failed, and a person decided that the work counts: `sh checks/s01_t02.sh`"),
        "{proof}"
    );
    // The verdict does not cover another check that fails.
    let context = project();
    let wrong = also(TASK, "echo \"wrong $GSD_UNIT_ATTEMPT\" > src/s01_t02.txt");
    stopped(&run(&context, BEGIN, &[wrong]), "checks-failed");
    context.gsd(verdict).success();
    let breaks = also("execute-task M001/S02/T02", "echo broken > src/s01_t01.txt");
    let ran = run(&context, &["auto", "run"], &[breaks]);
    let stop = stopped(&ran, "candidate-refused");
    assert!(stop["evidence"][0].as_str().unwrap().contains("checks/s01_t01.sh"), "{stop:#}");
}

#[test]
fn a_milestone_that_waits_for_another_names_the_one_to_run() {
    let context = project();
    for (id, depends) in [("M001", "[M002]"), ("M002", "[]")] {
        let text = format!("---\ndepends_on: {depends}\n---\n\n# {id}: A shelf\n\nFiles.\n");
        context.write(&format!(".gsd/milestones/{id}/{id}-CONTEXT.md"), &text);
    }
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=plan"]);
    let ran = run(&context, &["auto", "run", "M001"], &[]);
    let stop = stopped(&ran, "blocked");
    assert_eq!(stop["next"], "gsd-tools auto run M002", "{stop:#}");
    goes_on(&context, &stop);
    assert!(git(&context, &["ls-tree", "-r", "--name-only", "main"]).contains("M002-SUMMARY.md"));
}

/// Causes that one session cannot produce, with the test that covers each.
const ELSEWHERE: &[(&str, &str)] = &[
    ("complete", "it is the end of all"),
    ("worktree-damaged", "damage_to_the_worktree_or_the_repository_stops_the_run_with_a_way_on"),
    ("repository-changed", "damage_to_the_worktree_or_the_repository_stops_the_run_with_a_way_on"),
    ("git-failed", "a_killed_git_stops_the_run_and_the_run_continues"),
    ("target-rewritten", "a_rewritten_target_stops_the_run_with_a_way_on"),
    ("needs-attention", "a_task_that_is_ticked_but_never_ran_is_run"),
    ("blocked", "a_milestone_that_waits_for_another_names_the_one_to_run"),
    ("parked", "orders_print_the_command_that_continues"),
    ("hook-failed", "auto_unit_hooks: a_command_that_fails_stops_the_run_and_the_printed_command_continues"),
    ("captured", "auto_captures: a_stop_by_triage_asks_the_person_and_the_printed_command_continues"),
    ("held-out-failed", "auto_held_out: attempts_at_a_slice_end_and_the_printed_command_continues"),
    ("secrets-missing", "auto_secrets: a_variable_that_the_work_needs_stops_the_run_before_the_session_that_needs_it"),
    ("not-approved", "brought: the printed commands go on"),
    ("not-wanted", "auto_seen: a_run_at_a_terminal_shows_what_it_would_do_and_starts_only_with_a_yes"),
    (
        "set-up-failed",
        "auto_checkout: a_set_up_that_fails_stops_the_run_and_one_that_a_unit_broke_is_a_check_that_failed",
    ),
    (
        "set-up-needed",
        "auto_environments: a_check_that_cannot_run_stops_before_the_first_session_with_the_command_that_cures_it",
    ),
    ("candidate-refused", "a_merge_that_a_person_has_to_settle_continues"),
    ("merge-conflict", "a_merge_that_a_person_has_to_settle_continues"),
    ("dirty-overlap", "a_merge_that_a_person_has_to_settle_continues"),
    ("review", "auto_landing: work_that_waits_for_a_review_lands_as_exactly_the_commit_that_was_shown"),
    (
        "pull-request",
        "auto_landing: a_pull_request_is_opened_with_the_report_and_the_statement_and_ends_the_run_once_it_is_merged",
    ),
    ("request-closed", "auto_landing: a_pull_request_that_was_closed_stops_the_run_until_a_person_decides"),
    ("push-refused", "auto_landing: a_push_that_is_refused_stops_the_run_and_overwrites_nothing"),
    ("detached", "seen: a_detached_run_outlives_its_call_and_is_watched_by_the_printed_command"),
    ("no-milestone", "by hand: without_a_milestone_the_printed_command_begins_with_the_brief"),
    ("needs-discussion", "by hand: a_milestone_without_a_context_continues_once_it_was_discussed"),
    ("no-context", "by hand: a_milestone_without_a_context_continues_once_it_was_discussed"),
    ("slice-needs-discussion", "by hand: a_slice_that_needs_discussion_continues_once_its_context_is_written"),
    ("needs-remediation", "by hand: a_validation_that_asks_for_more_continues_with_the_printed_command"),
    ("missing-summary", "by hand: a_slice_ticked_by_a_person_is_closed_and_its_tasks_still_run"),
    ("no-implementation", "by hand: a_milestone_that_built_nothing_lands_when_a_person_allows_it"),
    ("no-operational-evidence", "by hand: a_validation_without_the_planned_evidence_is_repeated_and_passes"),
    ("uat-failed", "by hand: a_failed_or_undecided_acceptance_test_continues_with_a_verdict"),
    ("uat-exhausted", "by hand: a_failed_or_undecided_acceptance_test_continues_with_a_verdict"),
    ("auth", "by hand: a_client_without_its_model_or_a_tool_continues_later"),
    ("denied", "by hand: a_client_without_its_model_or_a_tool_continues_later"),
    (
        "paused",
        "by hand: a_run_that_a_person_paused_or_stopped_continues; phases: a_wait_for_a_person_ends_with_the_edit",
    ),
    ("stopped", "by hand: a_run_that_a_person_paused_or_stopped_continues"),
    ("unproved", "by hand: files_too_large_to_keep_stay_until_the_printed_command_removes_them"),
    ("gaps-found", "phases: gaps_are_planned_and_executed_by_the_printed_command"),
    ("human-needed", "phases: a_wait_for_a_person_ends_with_the_edit"),
];

/// Causes that no test produces.
const NOT_HERE: &[(&str, &str)] = &[
    ("question", "only in logs of older programs: a question is an escalation, or an attempt that does not count"),
    ("quota", "only in logs of older programs: a run waits until the quota is there again"),
    ("no-checks", "no code leads to it"),
    ("unhandled", "a defect of the rules, which no documents are known to lead to"),
];

/// Sessions that lead to a stop, with flags of the call.
fn of_sessions() -> Vec<(&'static str, Value, &'static [&'static str])> {
    let secret = format!("printf 'k=%s%s\\n' ghp_ 0123456789abcdefABCD$GSD_UNIT_ATTEMPT > src/key{}", ".txt");
    let asks = r#"{"version": 1, "taskId": "T02", "sliceId": "S01", "milestoneId": "M001", "question": "Which?",
        "options": [{"id": "a", "label": "one"}, {"id": "b", "label": "two"}], "recommendation": "a",
        "continueWithDefault": false, "createdAt": "2026-01-05T10:00:00Z"}"#;
    let path = ".gsd/milestones/M001/slices/S01/tasks/T02-ESCALATION.json";
    vec![
        ("checks-failed", also(TASK, "echo \"$GSD_UNIT_ATTEMPT\" > src/s01_t02.txt"), &[]),
        ("no-progress", also(TASK, "echo no > src/s01_t02.txt"), &[]),
        ("wrote-outside", also("plan-milestone M001", "echo \"$GSD_UNIT_ATTEMPT\" > src.txt"), &["--no-fence"]),
        ("stuck", json!({ "match": { "unit": TASK }, "steps": [{ "sh": "echo \"$GSD_UNIT_ATTEMPT\" > x" }] }), &[]),
        ("secret-added", also(TASK, &secret), &[]),
        (
            "escalation",
            json!({ "match": { "unit": TASK }, "steps": [{ "write": { "path": path, "content": asks } }] }),
            &[],
        ),
        ("units-done", json!({ "steps": [{ "ideal": true }] }), &["--max-units", "1"]),
        ("ceiling", json!({ "steps": [{ "ideal": true }] }), &["--max-sessions", "2"]),
    ]
}

#[test]
fn the_command_of_each_stop_by_a_session_continues() {
    for (cause, row, flags) in of_sessions() {
        let context = project();
        let ran = run(&context, &[BEGIN, flags].concat(), &[row]);
        let stop = stopped(&ran, cause);
        goes_on(&context, &stop);
    }
}

#[test]
fn each_cause_has_a_test_or_a_reason_why_not() {
    let schema = std::fs::read_to_string(crate::kit::repository().join("schemas/auto.run.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let words = |value: &Value| -> Vec<String> {
        let listed = value["enum"].as_array().cloned().unwrap_or_default();
        let texts = listed.into_iter().chain([value["const"].clone()]);
        texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let mut all: Vec<String> = schema["$defs"]["Cause"]["oneOf"].as_array().unwrap().iter().flat_map(words).collect();
    let sessions = of_sessions();
    let named = sessions.iter().map(|(cause, ..)| *cause);
    let named = named.chain(ELSEWHERE.iter().chain(NOT_HERE).map(|(cause, _)| *cause));
    let mut named: Vec<String> = named.map(str::to_owned).collect();
    all.sort_unstable();
    named.sort_unstable();
    assert_eq!(named, all);
}

#[test]
fn a_merge_that_a_person_has_to_settle_continues() {
    // Both sides change the same lines.
    let context = project();
    stopped(&run(&context, &[BEGIN, &["--max-units", "3"]].concat(), &[]), "units-done");
    context.write("src/s01_t01.txt", "S01 T01 ready\nmine\n");
    git(&context, &["add", "--all", "src"]);
    git(&context, &["commit", "--quiet", "--message=mine"]);
    let stop = stopped(&run(&context, &["auto", "run"], &[]), "merge-conflict");
    let merge = context.command("sh").args(["-c", stop["next"].as_str().unwrap()]).output().unwrap();
    assert!(!merge.status.success(), "it leaves the conflict to the person");
    let worktree = context.project().join(".gsd/worktrees/M001");
    std::fs::write(worktree.join("src/s01_t01.txt"), "S01 T01 ready\nmine\n").unwrap();
    let at = worktree.display().to_string();
    git(&context, &["-C", &at, "add", "--all"]);
    git(&context, &["-C", &at, "commit", "--quiet", "--no-edit"]);
    stopped(&run(&context, &["auto", "run"], &[]), "complete");
    // A file that the person has changed but not committed.
    let context = project();
    stopped(&run(&context, &[BEGIN, &["--max-units", "3"]].concat(), &[]), "units-done");
    context.write("src/s01_t01.txt", "mine\n");
    let stop = stopped(&run(&context, &["auto", "run"], &[]), "dirty-overlap");
    assert_eq!(context.read("src/s01_t01.txt"), "mine\n");
    std::fs::remove_file(context.project().join("src/s01_t01.txt")).unwrap();
    goes_on(&context, &stop);
    // Each side passes by itself, both together fail.
    let context = project();
    let breaks = also("execute-task M001/S02/T02", "echo broken > src/s01_t01.txt");
    let stop = stopped(&run(&context, BEGIN, &[breaks]), "candidate-refused");
    std::fs::write(context.project().join(".gsd/worktrees/M001/src/s01_t01.txt"), "S01 T01 ready\n").unwrap();
    goes_on(&context, &stop);
}

#[test]
fn orders_print_the_command_that_continues() {
    let context = project();
    let first = run(&context, &[BEGIN, &["--max-units", "2"]].concat(), &[]);
    stopped(&first, "units-done");
    let park = context.gsd(["auto", "park", "M001"]).json();
    assert!(park["updated"] == true && park["next"] == "gsd-tools auto unpark M001", "{park:#}");
    assert_eq!(park["end"], "gsd-tools auto abandon M001", "{park:#}");
    let stop = stopped(&run(&context, &["auto", "run"], &[]), "parked");
    assert_eq!(stop["next"], "gsd-tools auto unpark M001", "{stop:#}");
    let unpark = context.gsd(["auto", "unpark", "M001"]).json();
    assert_eq!(unpark["next"], "gsd-tools auto run", "{unpark:#}");
    goes_on(&context, &json!({ "cause": "units-done", "next": unpark["next"] }));
}
