//! How a run begins and continues: what it remembers, what it refuses before it spends anything, and what it does not
//! touch.

use serde_json::{Value, json};

use crate::auto::{auto, compile, git, project, report};
use crate::kit::{Ran, TestContext};

/// A call without the flags of [`auto`], as a run prints it.
fn plain(context: &TestContext, words: &[&str], actor: &str) -> Ran {
    context.gsd_with(words.iter().copied(), &[("FAKE_SHAPE", "2x2"), ("FAKE_ACTOR", actor)], "")
}

fn entries(context: &TestContext, event: &str) -> Vec<Value> {
    let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
    let rows = log["entries"].as_array().unwrap().iter().map(|row| row["entry"].clone());
    rows.filter(|entry| entry["event"] == event).collect()
}

/// Commits files of the project.
fn commit(context: &TestContext, files: &[(&str, &str)]) {
    for (path, text) in files {
        context.write(path, text);
    }
    git(context, &["add", "--all", "--force"]);
    git(context, &["commit", "--quiet", "--message=files"]);
}

/// The refusal of a call that should begin a run, before it has created anything.
fn refused(context: &TestContext) -> Ran {
    let ran = auto(context, &["auto", "run", "--brief", "BRIEF"], "ideal");
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    assert!(!context.project().join(".gsd/worktrees").exists(), "{}", ran.stderr);
    assert!(entries(context, "started").is_empty());
    ran
}

#[test]
fn the_printed_command_continues_with_the_client_model_profile_and_fence_of_the_run() {
    let context = project();
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let begin = ["auto", "run", "--brief", &brief, "--max-units", "2", "--runner", "fake", "--runner-program", &agent];
    let how = ["--model", "m-1", "--profile", "safe", "--no-fence"];
    let first = plain(&context, &[&begin[..], &how].concat(), "ideal");
    assert_eq!(report(&first)["stop"]["next"], "gsd-tools auto run", "{}", first.stderr);
    let second = plain(&context, &["auto", "run", "--max-units", "1"], "ideal");
    assert_eq!(report(&second)["stop"]["cause"], "units-done", "{}", second.stderr);
    assert!(!second.stderr.contains("Changed for this run"), "{}", second.stderr);
    let third = plain(&context, &["auto", "run", "--profile", "unattended", "--model", "m-2", "--fence"], "ideal");
    assert_eq!(report(&third)["stop"]["cause"], "complete", "{}", third.stderr);
    for line in [
        "Changed for this run: the profile is `unattended`; it was `safe`.",
        "Changed for this run: the model is `m-2`; it was `m-1`.",
        "Changed for this run: the fence is on; it was off.",
    ] {
        assert!(third.stderr.contains(line), "{}", third.stderr);
    }
    let resumed = entries(&context, "resumed");
    let of =
        |entry: &Value| ["runner", "program", "model", "profile"].map(|key| entry[key].as_str().unwrap().to_owned());
    assert_eq!(of(&resumed[0]), ["fake", &agent, "m-1", "safe"]);
    assert_eq!(resumed[0]["fenced"], false);
    assert_eq!(of(&resumed[1]), ["fake", &agent, "m-2", "unattended"]);
    assert_eq!(resumed[1]["fenced"], true);
}

#[test]
fn a_preference_that_a_run_cannot_follow_keeps_it_from_starting_and_no_other_does() {
    let context = project();
    let text =
        "---\ngit:\n  isolation: worktree\n  auto_push: true\nslice_parallel:\n  enabled: true\nlanguage: de\n---\n";
    commit(&context, &[(".gsd/PREFERENCES.md", text)]);
    let ran = refused(&context);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    assert!(ran.stderr.contains("`.gsd/PREFERENCES.md` line 4: `git.auto_push` is `true`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`slice_parallel.enabled`") && !ran.stderr.contains("git.isolation"), "{}", ran.stderr);
    commit(&context, &[(".gsd/PREFERENCES.md", "---\nmode: solo\n[broken\n---\n")]);
    let broken = refused(&context);
    assert_eq!(broken.code, 64, "{}", broken.stderr);
    assert!(broken.stderr.contains("`.gsd/PREFERENCES.md` line 3: "), "{}", broken.stderr);
    let fine = "---\nmode: solo\nlanguage: de\nwidget_mode: full\nbugdet_ceiling: 3\nverification_commands: [\"true | tee log\"]\nbudget_ceiling: 2\n\
        per_unit_cost_cap_usd: 1\nauto_supervisor:\n  hard_timeout_minutes: 7\n  idle_timeout_minutes: 3\n---\n";
    commit(&context, &[(".gsd/PREFERENCES.md", fine)]);
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "1"], "ideal");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let first_unit = ran.stderr.find("discuss-milestone").unwrap();
    for line in [
        "without effect here: 1",
        "line 5: `bugdet_ceiling`; did you mean `budget_ceiling`?",
        "Not followed: `true | tee log` is not run as a check",
    ] {
        assert!(ran.stderr.find(line).is_some_and(|at| at < first_unit), "{line}: {}", ran.stderr);
    }
    let ceilings = &entries(&context, "started")[0]["ceilings"];
    let found = ["money", "unit_money", "unit_minutes", "idle_minutes"].map(|key| ceilings[key].as_f64());
    assert_eq!(found, [Some(2.0), Some(1.0), Some(7.0), Some(3.0)], "{ceilings:#}");
    // A run that has begun continues.
    let worktree = context.project().join(".gsd/worktrees/M001/.gsd/PREFERENCES.md");
    std::fs::write(worktree, text).unwrap();
    let rest = auto(&context, &["auto", "run", "--max-units", "1"], "ideal");
    assert_eq!(rest.code, 0, "{}", rest.stderr);
    assert!(rest.stderr.contains("Not followed: `.gsd/PREFERENCES.md` line 4: `git.auto_push`"), "{}", rest.stderr);
}

#[test]
fn a_session_over_its_budget_stops_with_a_command_that_continues() {
    let context = project();
    commit(&context, &[(".gsd/PREFERENCES.md", "---\nper_unit_cost_cap_usd: 2\n---\n")]);
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "spender");
    let stop = &report(&ran)["stop"];
    assert_eq!((ran.code, &stop["next"]), (13, &"gsd-tools auto run --unit-budget 4".into()), "{stop:#}");
    let rest = auto(&context, &["auto", "run", "--unit-budget", "4", "--max-units", "1"], "ideal");
    assert_eq!(rest.code, 0, "{}", rest.stderr);
}

#[test]
fn a_branch_a_tag_or_a_folder_that_no_run_made_is_left_alone() {
    let run_hint = |context: &TestContext, stderr: &str| {
        let calls = stderr.split('`').filter(|part| part.starts_with("git -C "));
        for call in calls {
            let words: Vec<&str> = call.split(' ').skip(1).collect();
            git(context, &words);
        }
    };
    let make: [(&str, &[&str]); 4] = [
        ("there is a branch `milestone/M001`", &["branch", "milestone/M001"]),
        ("the branch `milestone` keeps git from making", &["branch", "milestone"]),
        ("the branch `milestone/M001/old` keeps git from making", &["branch", "milestone/M001/old"]),
        ("there is a tag `milestone/M001`", &["tag", "milestone/M001"]),
    ];
    for (said, call) in make {
        let context = project();
        git(&context, call);
        let before = git(&context, &["for-each-ref", "--format=%(objectname)"]);
        let ran = refused(&context);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        run_hint(&context, &ran.stderr);
        assert_eq!(git(&context, &["for-each-ref", "--format=%(objectname)"]), before, "renamed: {}", ran.stderr);
        let ran = auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "1"], "ideal");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    for folder in ["M001", "M001-candidate"] {
        let context = project();
        let mine = context.project().join(".gsd/worktrees").join(folder);
        std::fs::create_dir_all(&mine).unwrap();
        std::fs::write(mine.join("mine.txt"), "mine\n").unwrap();
        let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "ideal");
        assert!(ran.code != 0 && ran.stderr.contains("already exists"), "{}", ran.stderr);
        assert_eq!(std::fs::read_to_string(mine.join("mine.txt")).unwrap(), "mine\n");
    }
}

#[test]
fn a_project_whose_documents_cannot_land_is_refused_with_a_fix() {
    let context = project();
    commit(&context, &[(".gitignore", "target\n.gsd/\n")]);
    let ran = refused(&context);
    assert!(ran.stderr.contains("remove line 2 of `.gitignore`"), "{}", ran.stderr);
    let context = project();
    commit(&context, &[("packages/app/.gsd/milestones/M001/M001-CONTEXT.md", "# M001: App\n")]);
    let below = context.project().join("packages/app").to_string_lossy().into_owned();
    let ran = auto(&context, &["auto", "run", "--cwd", &below], "ideal");
    assert!(ran.code != 0 && ran.stderr.contains("is below the root of its repository"), "{}", ran.stderr);
    let ran = auto(&context, &["auto", "run", "--cwd", &below, "--brief", "BRIEF"], "ideal");
    assert!(ran.code != 0 && ran.stderr.contains("is below the root of its repository"), "{}", ran.stderr);
    assert!(!context.project().join(".gsd").exists());
}

#[test]
#[cfg(unix)]
fn hooks_and_a_missing_filter_are_reported_before_the_first_session() {
    use std::os::unix::fs::PermissionsExt as _;
    let context = project();
    let hook = context.project().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "1"], "ideal");
    let said = ran.stderr.find("Hooks of this repository do not run here, the landing included: pre-commit");
    assert!(said.is_some_and(|at| at < ran.stderr.find("discuss-milestone").unwrap()), "{}", ran.stderr);
    // The folder that this creates in the checkout is readable by others too.
    let mode = std::fs::metadata(context.project().join(".gsd")).unwrap().permissions().mode();
    assert_eq!(mode & 0o700, 0o700);
    let usual = std::fs::metadata(context.project()).unwrap().permissions().mode();
    assert_eq!(mode & 0o055, usual & 0o055, "{mode:o}, and the project has {usual:o}");
    let context = project();
    commit(&context, &[(".gitattributes", "*.bin filter=large\n"), ("a.bin", "a\n")]);
    git(&context, &["config", "filter.large.process", "gsd-no-such-filter run"]);
    git(&context, &["config", "filter.large.required", "true"]);
    let ran = refused(&context);
    assert!(ran.stderr.contains("git needs `gsd-no-such-filter` for the filter `large`"), "{}", ran.stderr);
}

#[test]
fn an_order_while_the_milestone_is_about_to_land_lands_with_it() {
    let context = project();
    commit(&context, &[(".gsd/PREFERENCES.md", "---\nverification_commands: [\"sleep 2\"]\n---\n")]);
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
    let mut run = context.command(crate::kit::binary());
    run.args(words).env("GSD_APPROVED", context.approval(&words));
    run.env("FAKE_SHAPE", "1x1").env("FAKE_ACTOR", "ideal");
    run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let run = run.spawn().unwrap();
    let began = std::time::Instant::now();
    while entries(&context, "candidate").is_empty() {
        assert!(began.elapsed().as_secs() < 120);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let asked = std::time::Instant::now();
    let answer = context.gsd(["auto", "steer", "use one file"]).json();
    assert!(asked.elapsed().as_secs() < 9, "nobody waits for the lock");
    assert!(answer["updated"] != answer["waits"], "{answer:#}");
    let told = String::from_utf8_lossy(&run.wait_with_output().unwrap().stderr).into_owned();
    assert!(told.contains("Applied: from now on: use one file"), "{told}");
    let landed = git(&context, &["show", "main:.gsd/OVERRIDES.md"]);
    assert!(landed.contains("use one file") && !landed.contains("**Scope:** active"), "{landed}\n{told}");
    // Afterwards no milestone is under way, and nothing is written anywhere.
    let late = context.gsd(["auto", "steer", "use two files"]);
    assert!(late.failure(1).contains("no milestone is under way"));
    assert_eq!(git(&context, &["status", "--porcelain"]), "");
    assert_eq!(entries(&context, "stopped").len(), 1);
}

/// An order that arrives while a session works, or after an unfinished one, is not the work of that session: it is
/// neither judged nor undone with it.
#[test]
fn an_order_during_an_unfinished_unit_is_followed_and_not_counted_against_the_unit() {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let decides = "echo x > .gsd/PREFERENCES.md";
    for (steps, flag, refused) in [
        (json!([{ "tool": "Write" }, { "ideal": true }, { "sleep_ms": 3000 }, { "sh": decides }]), "--fence", 1),
        (json!([{ "tool": "Write" }, { "ideal": true }, null]), "--no-fence", 0),
    ] {
        let context = project();
        let pauses = flag == "--no-fence";
        let mut row = json!({ "match": { "unit": "execute-task M001/S01/T01", "attempt": 1 }, "steps": steps });
        if pauses {
            // Without a fence no unapproved check of a plan runs; the user's own checks need no approval.
            std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
            let own = "---\nverification_commands: [\"ls\"]\n---\n";
            std::fs::write(context.home().join(".gsd/PREFERENCES.md"), own).unwrap();
            let script = format!("{}; sleep 20", crate::scripted::meanwhile(&context, &["auto", "pause", "--now"]));
            row["steps"][2] = json!({ "sh": script });
        }
        let rows = json!([row, { "steps": [{ "tool": "Write" }, { "ideal": true }] }]);
        let script = context.home().join("script.json");
        std::fs::write(&script, rows.to_string()).unwrap();
        let brief = context.home().join("brief.md").to_string_lossy().into_owned();
        let run = |words: &[&str]| {
            let mut run = context.command(crate::kit::binary());
            run.args(words).args(["--runner", "fake", "--runner-program", &agent]);
            run.env("FAKE_SHAPE", "1x1").env("FAKE_SCRIPT", &script);
            run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
            run.spawn().unwrap()
        };
        let first = run(&["auto", "run", "--brief", &brief, flag]);
        let began = std::time::Instant::now();
        let awaited = if pauses { "stopped" } else { "unit-started" };
        while entries(&context, awaited).len() < if pauses { 1 } else { 3 } {
            assert!(began.elapsed().as_secs() < 120);
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let answer = context.gsd(["auto", "steer", "use one file"]).json();
        assert_eq!((&answer["updated"], &answer["waits"]), (&json!(false), &json!(true)), "{flag}: {answer:#}");
        let mut told = String::from_utf8_lossy(&first.wait_with_output().unwrap().stderr).into_owned();
        if pauses {
            assert_eq!(answer["next"], "gsd-tools auto run", "{answer:#}");
            let second = run(&["auto", "run"]);
            told += &String::from_utf8_lossy(&second.wait_with_output().unwrap().stderr);
        }
        assert_eq!(told.matches("does not count").count(), refused, "{flag}: {told}");
        assert!(told.contains("Applied: from now on: use one file"), "{flag}: {told}");
        let landed = git(&context, &["show", "main:.gsd/OVERRIDES.md"]);
        assert!(landed.contains("use one file") && !landed.contains("**Scope:** active"), "{landed}\n{told}");
    }
}

#[test]
fn an_empty_or_huge_document_does_not_count_and_the_next_attempt_continues() {
    let script = |step: &str| {
        format!(
            r#"[{{"match": {{"unit": "execute-task M001/S01/T01", "attempt": 1}}, "steps": [{{"tool": "Write"}}, {{"ideal": true}}, {{"say": "Done."}}, {step}]}}, {{"steps": [{{"tool": "Write"}}, {{"ideal": true}}, {{"say": "Done."}}]}}]"#
        )
    };
    let summary = ".gsd/milestones/M001/slices/S01/tasks/T01-SUMMARY.md";
    let huge = "x".repeat(17 << 20);
    for (content, said) in [
        ("", "T01-SUMMARY.md` is empty"),
        ("---\\nid: T01\\n---\\n", "missing: the text of T01-SUMMARY.md"),
        (huge.as_str(), "T01-SUMMARY.md` has 17 MB; a document has at most 16 MB"),
    ] {
        let context = project();
        let path = context.home().join("script.json");
        let step = format!(r#"{{"write": {{"path": "{summary}", "content": "{content}"}}}}"#);
        std::fs::write(&path, script(&step)).unwrap();
        let agent = compile::fake_agent().to_string_lossy().into_owned();
        let brief = context.home().join("brief.md").to_string_lossy().into_owned();
        let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
        let ran = context.gsd_with(words, &[("FAKE_SHAPE", "1x1"), ("FAKE_SCRIPT", &path.to_string_lossy())], "");
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
        assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &Value::from("complete")), "{said}: {}", ran.stderr);
    }
}

#[test]
fn the_commit_subject_has_the_summary_without_control_characters() {
    let context = project();
    let path = context.home().join("script.json");
    let summary = ".gsd/milestones/M001/slices/S01/tasks/T01-SUMMARY.md";
    let rows = format!(
        r#"[{{"match": {{"unit": "execute-task M001/S01/T01"}}, "steps": [{{"tool": "Write"}}, {{"ideal": true}}, {{"say": "Done."}},
            {{"edit": {{"path": "{summary}", "from": "**The shelf", "to": "**done \u001b[31m\u0007The shelf"}}}}]}}, {{"steps": [{{"tool": "Write"}}, {{"ideal": true}}, {{"say": "Done."}}]}}]"#
    );
    std::fs::write(&path, rows).unwrap();
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent, "--max-units", "3"];
    let ran = context.gsd_with(words, &[("FAKE_SHAPE", "1x2"), ("FAKE_SCRIPT", &path.to_string_lossy())], "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let subject = git(&context, &["log", "-1", "--format=%s", "milestone/M001"]);
    assert!(subject.starts_with("done The shelf"), "{subject:?}");
    let prompt = context.gsd(["auto", "prompt", "execute-task", "M001/S01/T02", "--raw"]).success();
    assert!(!prompt.contains('\u{1b}') && !prompt.contains('\u{7}'), "{prompt}");
}

#[test]
fn a_slice_plan_that_contradicts_its_row_is_refused_with_the_milestone_plan_too() {
    let context = project();
    let path = context.home().join("script.json");
    let plan = ".gsd/milestones/M001/slices/S01/S01-PLAN.md";
    let rows = format!(
        r#"[{{"match": {{"unit": "plan-milestone M001", "attempt": 1}}, "steps": [{{"tool": "Write"}}, {{"ideal": true}}, {{"say": "Done."}},
            {{"edit": {{"path": "{plan}", "from": "S01: Shelf 1", "to": "S01: Another"}}}}]}}, {{"steps": [{{"tool": "Write"}}, {{"ideal": true}}, {{"say": "Done."}}]}}]"#
    );
    std::fs::write(&path, rows).unwrap();
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
    let ran = context.gsd_with(words, &[("FAKE_SHAPE", "1x1"), ("FAKE_SCRIPT", &path.to_string_lossy())], "");
    assert!(ran.stderr.contains("does not count: missing: in S01-PLAN.md the line"), "{}", ran.stderr);
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &Value::from("complete")), "{}", ran.stderr);
}

#[test]
fn units_of_a_finished_slice_can_be_requested() {
    let context = project();
    let first = auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", "4"], "ideal");
    assert_eq!(report(&first)["stop"]["cause"], "units-done", "{}", first.stderr);
    for word in ["uat", "reassess", "replan"] {
        let ran = auto(&context, &["auto", "dispatch", word, "M001/S01"], "lazy");
        assert!(!ran.stderr.contains("there is no `M001/S01`"), "{word}: {}", ran.stderr);
        assert!(ran.stderr.contains(" M001/S01\n"), "a session of it began, {word}: {}", ran.stderr);
    }
    auto(&context, &["auto", "run"], "ideal").success();
    let late = auto(&context, &["auto", "dispatch", "uat", "M001/S01"], "ideal");
    assert!(late.code != 0 && late.stderr.contains("M001 is complete"), "{}", late.stderr);
}

#[test]
fn a_run_of_a_deleted_repository_does_not_continue_in_another_one() {
    let context = project();
    let words = ["auto", "run", "--brief", "BRIEF", "--max-units", "1"];
    assert_eq!(report(&auto(&context, &words, "ideal"))["stop"]["cause"], "units-done");
    std::fs::remove_dir_all(context.project().join(".git")).unwrap();
    std::fs::remove_dir_all(context.project().join(".gsd")).unwrap();
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    commit(&context, &[("other.txt", "another project\n")]);
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "ideal");
    assert!(ran.code != 0 && ran.stderr.contains("the run of M001 began in another repository"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`gsd-tools auto abandon M001`"), "{}", ran.stderr);
    context.gsd(["auto", "abandon", "M001", "--yes"]).success();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF"], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}", ran.stderr);
}
