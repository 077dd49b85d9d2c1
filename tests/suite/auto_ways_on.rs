//! Each stop prints a command that goes on: here it is carried out, and the run comes to its end.

use serde_json::{Value, json};

use crate::auto::{compile, git, project, report};
use crate::kit::{Ran, TestContext};

/// Runs with sessions that do the work of their unit, and what the first row says that fits.
fn run(context: &TestContext, words: &[&str], rows: &[Value]) -> Ran {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let script = context.home().join("script.json");
    let mut rows = rows.to_vec();
    rows.push(json!({ "steps": [{ "ideal": true }] }));
    for row in &mut rows {
        row["steps"].as_array_mut().unwrap().push(json!({ "tool": "Write" }));
    }
    std::fs::write(&script, Value::from(rows).to_string()).unwrap();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = words.iter().map(|word| if *word == "BRIEF" { brief.clone() } else { (*word).to_owned() });
    let words: Vec<String> = words.chain(["--runner", "fake", "--runner-program", &agent].map(str::to_owned)).collect();
    context.gsd_with(words, &[("FAKE_SHAPE", "2x2"), ("FAKE_SCRIPT", &script.to_string_lossy())], "")
}

fn also(unit: &str, script: &str) -> Value {
    json!({ "match": { "unit": unit }, "steps": [{ "ideal": true }, { "sh": script }] })
}

const TASK: &str = "execute-task M001/S01/T02";
const BEGIN: &[&str] = &["auto", "run", "--brief", "BRIEF"];

/// The words of a command line, with those in quotes as one.
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

/// Carries out what stops print, with honest sessions, until the milestone has landed. Gives the causes on the way.
fn goes_on(context: &TestContext, stop: &Value) -> Vec<String> {
    let mut stop = stop.clone();
    let mut causes = Vec::new();
    for _ in 0..5 {
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
            let ran = run(context, &line, &[]);
            stop = report(&ran)["stop"].clone();
            continue;
        }
        if line[0] == "gsd-tools" {
            let _ = context.gsd_with(&line[1..], &[], "").success();
        } else {
            let output = context.command("sh").args(["-c", next]).output().unwrap();
            assert!(output.status.success(), "{next}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let ran = run(context, &["auto", "run"], &[]);
        stop = report(&ran)["stop"].clone();
    }
    panic!("{causes:?} {stop:#}");
}

fn stopped(ran: &Ran, cause: &str) -> Value {
    let report = report(ran);
    assert_eq!(report["stop"]["cause"], cause, "{report:#}\n{}", ran.stderr);
    report["stop"].clone()
}

/// What sessions do to what they work in, the cause that the run stops with, and flags of the call.
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
fn what_a_session_does_to_the_worktree_or_the_repository_is_a_stop_with_a_way_on() {
    for (script, cause, flags) in DAMAGE {
        let context = project();
        git(&context, &["tag", "mine"]);
        let before = git(&context, &["rev-parse", "main"]);
        // Only once: the command that goes on leads to the same unit.
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
fn a_replaced_git_file_of_the_worktree_does_not_keep_a_milestone_from_landing_or_stops_with_a_way_on() {
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
fn without_a_fence_what_a_session_does_to_references_is_named_and_unchecked_work_is_taken_off_the_branch() {
    let context = project();
    let before = git(&context, &["rev-parse", "main"]);
    let script = "git add --all; git update-ref refs/heads/main $(git commit-tree -p HEAD -m evil $(git write-tree)); git tag theirs; \
                  git branch side; git stash --quiet --include-untracked && git stash apply --quiet";
    let ran = run(&context, &[BEGIN, &["--no-fence", "--max-units", "4"]].concat(), &[also(TASK, script)]);
    stopped(&ran, "units-done");
    assert!(ran.stderr.contains("put back in the repository: `refs/heads/main` was moved onto work"), "{}", ran.stderr);
    for name in ["refs/tags/theirs", "refs/heads/side", "refs/stash"] {
        let line = format!("changed in the repository during the session: `{name}` is new");
        assert!(ran.stderr.contains(&line), "{name}: {}", ran.stderr);
    }
    assert_eq!(git(&context, &["rev-parse", "main"]), before);
    assert_eq!(git(&context, &["status", "--porcelain"]), "");
    assert!(git(&context, &["for-each-ref", "refs/gsd/checkpoint"]).contains("/moved-"));
    // What a person does meanwhile stays.
    let script = "git -C ../../.. commit --quiet --allow-empty -m mine";
    let ran = run(&context, &["auto", "run"], &[also("execute-task M001/S02/T01", script)]);
    stopped(&ran, "complete");
    assert!(ran.stderr.contains("`refs/heads/main` has new commits"), "{}", ran.stderr);
    assert!(git(&context, &["log", "--format=%s", "main"]).contains("mine"));
}

#[test]
fn a_target_that_was_rewritten_stops_with_a_way_on() {
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
fn a_task_that_never_ran_is_run_and_not_signed_for() {
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
fn a_person_s_verdict_on_a_task_holds_on_the_merge_and_is_named() {
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
    assert!(validation.contains("| every check passes | the checks of its slices alone |"), "{validation}");
    let proof = context.gsd(["auto", "proof"]).json().to_string();
    assert!(
        proof.contains("some failed, and a person decided that the work counts: `sh checks/s01_t02.sh`"),
        "{proof}"
    );
    // Another check that fails is not settled by it.
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
fn a_milestone_that_waits_for_another_says_which_one_to_run() {
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

/// A session, or a person, and the stop that it leads to.
#[test]
fn the_command_of_each_stop_of_a_session_goes_on() {
    let rows: Vec<(&str, Value, &str, &[&str])> = vec![
        ("checks-failed", also(TASK, "echo \"$GSD_UNIT_ATTEMPT\" > src/s01_t02.txt"), TASK, &[]),
        ("no-progress", also(TASK, "echo no > src/s01_t02.txt"), TASK, &[]),
        ("wrote-outside", also("plan-milestone M001", "echo \"$GSD_UNIT_ATTEMPT\" > src.txt"), "", &["--no-fence"]),
        (
            "stuck",
            json!({ "match": { "unit": TASK }, "steps": [{ "sh": "echo \"$GSD_UNIT_ATTEMPT\" > x" }] }),
            TASK,
            &[],
        ),
        ("units-done", json!({ "steps": [{ "ideal": true }] }), "", &["--max-units", "1"]),
        ("ceiling", json!({ "steps": [{ "ideal": true }] }), "", &["--max-sessions", "2"]),
    ];
    for (cause, row, _, flags) in rows {
        let context = project();
        let ran = run(&context, &[BEGIN, flags].concat(), &[row]);
        let stop = stopped(&ran, cause);
        goes_on(&context, &stop);
    }
}

#[test]
fn orders_print_what_goes_on() {
    let context = project();
    let first = run(&context, &[BEGIN, &["--max-units", "2"]].concat(), &[]);
    stopped(&first, "units-done");
    let park = context.gsd(["auto", "park", "M001"]).json();
    assert!(park["updated"] == true && park.get("next").is_none(), "{park:#}");
    let stop = stopped(&run(&context, &["auto", "run"], &[]), "parked");
    assert_eq!(stop["next"], "gsd-tools auto unpark M001", "{stop:#}");
    let unpark = context.gsd(["auto", "unpark", "M001"]).json();
    assert_eq!(unpark["next"], "gsd-tools auto run", "{unpark:#}");
    goes_on(&context, &json!({ "cause": "units-done", "next": unpark["next"] }));
}
