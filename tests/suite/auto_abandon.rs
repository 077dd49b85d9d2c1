//! A run that is ended for good: what is removed, what is kept, and what begins afterwards; what earlier runs have left;
//! and orders whose printed command works.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::auto::{auto, compile, git, project, report};
use crate::auto_briefs::{clear, printed};
use crate::auto_phases::whole_project;
use crate::auto_ways_on::{BEGIN, TASK, run, stopped};
use crate::kit::{Ran, TestContext, binary};
use crate::scripted;

const WORKTREE: &str = ".gsd/worktrees/M001";

/// A project with a run that has done so many units.
fn begun(units: &str) -> TestContext {
    let context = project();
    let ran = auto(&context, &["auto", "run", "--brief", "BRIEF", "--max-units", units], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "units-done", "{}", ran.stderr);
    context
}

fn abandon(context: &TestContext, words: &[&str]) -> Value {
    let ran = context.gsd_with([&["auto", "abandon"], words, &["--yes"]].concat(), &[], "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Nothing of a run is left, and the next one begins afresh and lands.
fn is_gone(context: &TestContext) {
    assert_eq!(git(context, &["branch", "--list"]), "* main");
    assert_eq!(git(context, &["worktree", "list"]).lines().count(), 1);
    assert!(!context.project().join(".gsd/worktrees").exists());
    assert!(git(context, &["for-each-ref", "refs/gsd/checkpoint/"]).is_empty());
    let status = context.gsd(["auto", "status"]).json();
    assert!(status["session"].is_null() && status["leftovers"] == json!([]), "{status:#}");
}

fn lands(context: &TestContext) {
    let ran = auto(context, &["auto", "run", "--brief", "BRIEF"], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}", ran.stderr);
    assert!(ran.stderr.contains("discuss-milestone M001"), "it begins afresh: {}", ran.stderr);
}

/// Runs a printed command of git.
fn shell(context: &TestContext, command: &Value) -> String {
    let command = command.as_str().unwrap();
    assert!(command.starts_with("git "), "{command}");
    let output = context.command("sh").args(["-c", command]).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_abandoned_run_leaves_nothing_but_what_is_kept_of_its_work() {
    let context = begun("4");
    let head = git(&context, &["rev-parse", "milestone/M001"]);
    let worktree = context.project().join(WORKTREE);
    std::fs::write(worktree.join("half.txt"), "half\n").unwrap();
    // Without a terminal there is no person to ask.
    let unsure = context.gsd(["auto", "abandon"]);
    let hint = unsure.failure(64);
    assert_eq!(printed(&hint, "gsd-tools auto abandon"), ["auto", "abandon", "M001", "--yes"]);
    let rehearsed = context.gsd(["auto", "abandon", "M001", "--dry-run"]).json();
    assert_eq!(
        rehearsed["removed"],
        json!([WORKTREE, format!("{WORKTREE}-checks"), "milestone/M001"]),
        "{rehearsed:#}"
    );
    assert!(worktree.join("half.txt").exists() && rehearsed["ended"] == false, "{rehearsed:#}");
    let report = abandon(&context, &[]);
    assert_eq!((&report["milestone"], &report["ended"]), (&"M001".into(), &true.into()), "{report:#}");
    assert_eq!(report["removed"], rehearsed["removed"], "{report:#}");
    is_gone(&context);
    let kept = report["kept"].to_string();
    for kind in ["head", "files"] {
        assert!(kept.contains(&format!("/{kind}-")), "{kind}: {report:#}");
    }
    assert!(shell(&context, &report["show"]).contains("half.txt"), "{report:#}");
    shell(&context, &report["restore"]);
    assert_eq!(git(&context, &["show", "M001-kept:half.txt"]), "half");
    assert_eq!(git(&context, &["rev-parse", "M001-kept^"]), head, "with the commits of the run");
    git(&context, &["branch", "--quiet", "-D", "M001-kept"]);
    // Once more, nothing is left to do.
    let again = abandon(&context, &["M001"]);
    assert_eq!((&again["ended"], &again["removed"]), (&false.into(), &json!([])), "{again:#}");
    let none = context.gsd(["auto", "abandon", "--yes"]);
    assert!(none.failure(1).contains("no run is unfinished here"));
    let other = context.gsd(["auto", "abandon", "M009", "--yes"]);
    assert!(other.failure(1).contains("no run of this project was about `M009`"));
    let log = context.gsd(["auto", "log"]).json().to_string();
    assert!(log.contains("M001 abandoned; what it had is kept in refs/gsd/keep/"), "{log}");
    lands(&context);
}

#[test]
fn a_terminal_asks_before_a_run_is_abandoned() {
    let context = begun("1");
    let refused = context.at_a_terminal("auto abandon", &[], "n");
    let said = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(
        !refused.status.success() && said.contains("Abandon M001?") && said.contains("nothing was changed"),
        "{said}"
    );
    assert!(context.project().join(WORKTREE).exists());
    let done = context.at_a_terminal("auto abandon", &[], "y");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && said.contains("The run of M001 has ended for good."), "{said}");
    for line in
        ["Kept for 30 days:", "Look at it:    git show --stat refs/gsd/keep/", "Bring it back: git branch M001-kept"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
    is_gone(&context);
    lands(&context);
}

#[test]
fn a_run_in_any_state_can_be_abandoned() {
    let damages: [(&str, &[&str]); 6] = [
        ("the worktree was deleted", &["rm -rf .gsd/worktrees/M001"]),
        (
            "worktree and branch were removed",
            &["git worktree remove -f -f .gsd/worktrees/M001", "git branch -q -D milestone/M001"],
        ),
        ("the worktree was unlocked", &["git worktree unlock .gsd/worktrees/M001"]),
        ("another branch is checked out there", &["git -C .gsd/worktrees/M001 switch -q -c aside"]),
        (
            "a commit was made on no branch",
            &[
                "git -C .gsd/worktrees/M001 switch -q --detach",
                "git -C .gsd/worktrees/M001 commit -q --allow-empty -m detached",
            ],
        ),
        ("the branch was deleted", &["git update-ref -d refs/heads/milestone/M001"]),
    ];
    for (what, commands) in damages {
        let context = begun("3");
        let path = context.project().join(WORKTREE).join("half.txt");
        std::fs::write(path, "half\n").unwrap();
        for command in commands {
            let status = context.command("sh").args(["-c", command]).status().unwrap();
            assert!(status.success(), "{what}");
        }
        let report = abandon(&context, &["m001"]);
        assert_eq!(report["ended"], true, "{what}: {report:#}");
        if what.starts_with("another") {
            git(&context, &["branch", "--quiet", "-D", "aside"]);
        }
        is_gone(&context);
        let has_files = !what.starts_with("the worktree was deleted") && !what.starts_with("worktree and branch");
        assert_eq!(report["kept"].to_string().contains("/files-"), has_files, "{what}: {report:#}");
        lands(&context);
    }
    let context = begun("3");
    git(&context, &["worktree", "unlock", WORKTREE]);
    git(&context, &["worktree", "remove", "--force", WORKTREE]);
    git(&context, &["switch", "--quiet", "milestone/M001"]);
    let ran = context.gsd(["auto", "abandon", "--yes"]);
    let hint = ran.failure(1);
    assert!(hint.contains("branch `milestone/M001` is checked out in"), "{hint}");
    let words: Vec<String> = printed(&hint, "git -C");
    git(&context, &words.iter().map(String::as_str).collect::<Vec<_>>());
    abandon(&context, &[]);
    git(&context, &["switch", "--quiet", "main"]);
    is_gone(&context);
    lands(&context);
}

/// Kills a call with a fault at each step, and finishes it with a second call.
#[test]
fn an_abandonment_that_was_killed_is_finished_by_the_next_call() {
    let mut killed = 0;
    for step in 1.. {
        let context = begun("2");
        let text = step.to_string();
        let ran = context.gsd_with(["auto", "abandon", "--yes"], &[("GSD_KILL_AT", &text)], "");
        if ran.code == 0 {
            break;
        }
        killed += 1;
        let report = abandon(&context, &["M001"]);
        assert!(!report["kept"].as_array().unwrap().is_empty() || report["ended"] == false, "{step}: {report:#}");
        is_gone(&context);
        if step == 1 {
            lands(&context);
        }
        assert!(step < 40);
    }
    assert!(killed > 0);
}

#[test]
fn an_active_run_is_not_abandoned_and_the_printed_command_stops_it() {
    let context = project();
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let script = context.home().join("script.json");
    let rows = json!([{ "match": { "unit": TASK }, "steps": [{ "sh": "sleep 60.0625 & sleep 60.0625" }] }, { "steps": [{ "tool": "Write" }, { "ideal": true }] }]);
    std::fs::write(&script, rows.to_string()).unwrap();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &agent];
    let mut command = context.command(binary());
    command.args(words).env("FAKE_SHAPE", "2x2").env("FAKE_SCRIPT", &script);
    let mut active = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let unit = || context.gsd(["auto", "status"]).json()["session"]["unit"].clone();
    while unit() != TASK {
        assert!(began.elapsed().as_secs() < 120);
        std::thread::sleep(Duration::from_millis(100));
    }
    for words in [&["auto", "abandon", "--yes"][..], &["auto", "abandon", "--dry-run"]] {
        let refused = context.gsd_with(words, &[], "").failure(75);
        assert_eq!(printed(&refused, "gsd-tools auto stop"), ["auto", "stop", "--now"]);
    }
    // An order is recorded at once, and that is not a failure.
    let asked = Instant::now();
    let steered = context.at_a_terminal("auto steer use one file", &[], "");
    let said = String::from_utf8_lossy(&steered.stdout).into_owned();
    assert_eq!(steered.status.code(), Some(0), "{said}");
    assert!(said.contains("Recorded; the run follows it after its unit.") && asked.elapsed().as_secs() < 9, "{said}");
    context.gsd(["auto", "stop", "--now"]).success();
    active.wait().unwrap();
    abandon(&context, &[]);
    is_gone(&context);
    let left = context.command("pgrep").args(["-f", "^sleep 60.0625$"]).output().unwrap();
    let left = String::from_utf8_lossy(&left.stdout).lines().count();
    assert_eq!(left, 0, "what the session left running has ended");
    lands(&context);
}

#[test]
fn agents_and_sessions_do_not_abandon_a_run() {
    let context = begun("1");
    for variable in ["CLAUDECODE", "GSD_UNIT_ID"] {
        let ran = context.gsd_with(["auto", "abandon", "--yes"], &[(variable, "1")], "");
        assert_eq!(ran.code, 77, "{variable}: {}", ran.stderr);
    }
    assert!(context.project().join(WORKTREE).exists());
}

#[test]
fn a_run_in_phases_is_abandoned_with_the_commits_of_its_sessions() {
    let context = whole_project();
    let ran = auto(&context, &["auto", "run", "--max-units", "2"], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "units-done", "{}", ran.stderr);
    let head = git(&context, &["rev-parse", "milestone/v1.0/work"]);
    for (words, cure) in [
        (&["auto", "steer", "use one file"][..], "change the plans in `"),
        (&["auto", "park", "v1.0"], "gsd-tools auto abandon v1.0"),
    ] {
        let refused = context.gsd_with(words, &[], "").failure(1);
        assert!(refused.contains("this project is in phases") && refused.contains(cure), "{refused}");
        assert!(!refused.contains("--brief"), "{refused}");
    }
    let report = abandon(&context, &["v1.0"]);
    assert_eq!((&report["ended"], &report["next"]), (&true.into(), &"gsd-tools auto run".into()), "{report:#}");
    shell(&context, &report["restore"]);
    assert_eq!(git(&context, &["rev-parse", "v1.0-kept"]), head);
    git(&context, &["branch", "--quiet", "-D", "v1.0-kept"]);
    assert_eq!(git(&context, &["branch", "--list"]), "* main");
    assert!(!context.project().join(".planning/worktrees").exists());
    let ran = auto(&context, &["auto", "run"], "ideal");
    assert_eq!((ran.code, &self::report(&ran)["sessions"]), (0, &Value::from(6)), "{}", ran.stderr);
}

/// Runs what a call prints as next, and returns where that leads: the causes of stops, until the milestone lands.
fn next_of(ran: &Ran) -> Vec<String> {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}\n{}", ran.stdout, ran.stderr));
    let next = answer.pointer("/stop/next").or_else(|| answer.get("next")).unwrap();
    next.as_str().unwrap().split(' ').skip(1).map(str::to_owned).collect()
}

#[test]
fn what_is_printed_after_parking_does_not_lead_in_a_circle() {
    for is_in_unit in [false, true] {
        let context = project();
        if is_in_unit {
            // The session is ended in the middle of its unit.
            let script = format!("{}; sleep 20", scripted::meanwhile(&context, &["auto", "stop", "--now"]));
            let row = scripted::row(TASK, Some(1), &[json!({ "sh": script })]);
            stopped(&run(&context, &[BEGIN, &["--no-fence"]].concat(), &[row]), "stopped");
        } else {
            stopped(&run(&context, &[BEGIN, &["--max-units", "2"]].concat(), &[]), "units-done");
        }
        let parked = context.gsd(["auto", "park", "M001"]);
        let answer: Value = serde_json::from_str(&parked.stdout).unwrap();
        assert_eq!(answer["next"], "gsd-tools auto unpark M001", "{answer:#}");
        assert_eq!(answer["end"], "gsd-tools auto abandon M001", "{answer:#}");
        let mut words = next_of(&parked);
        let mut seen = vec![vec!["auto".to_owned(), "park".to_owned(), "M001".to_owned()]];
        while words[1] != "run" {
            assert!(!seen.contains(&words), "{seen:?} leads to {words:?}");
            let ran = context.gsd_with(&words, &[], "");
            assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
            seen.push(words);
            words = next_of(&ran);
        }
        let again = context.gsd(["auto", "park", "M001"]);
        assert_eq!(again.code, 0, "{}", again.stderr);
        if !is_in_unit {
            let stop = stopped(&run(&context, &["auto", "run"], &[]), "parked");
            assert_eq!(stop["next"], "gsd-tools auto unpark M001", "{stop:#}");
            assert!(
                stop["evidence"].to_string().contains("`gsd-tools auto abandon M001` ends its run for good"),
                "{stop:#}"
            );
        }
        abandon(&context, &["M001"]);
        is_gone(&context);
        lands(&context);
    }
}

#[test]
fn what_earlier_runs_have_left_is_named_and_removed_and_nothing_else() {
    let context = project();
    for file in ["one.md", "two.md"] {
        context.write(file, &format!("Make {file}.\n"));
    }
    let ran = auto(&context, &["auto", "run", "--brief", "one.md"], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}", ran.stderr);
    clear(&context);
    // As a landing that was cut short long ago would leave it.
    git(&context, &["worktree", "add", "--quiet", "-b", "milestone/M001", WORKTREE]);
    std::fs::write(context.project().join(WORKTREE).join("late.txt"), "late\n").unwrap();
    git(&context, &["-C", WORKTREE, "add", "late.txt"]);
    git(&context, &["-C", WORKTREE, "commit", "--quiet", "--message=late"]);
    let head = git(&context, &["rev-parse", "milestone/M001"]);
    git(&context, &["worktree", "remove", WORKTREE]);
    git(&context, &["branch", "milestone/M008"]);
    let status = context.gsd(["auto", "status"]).json();
    let expected = json!([
        { "milestone": "M001", "branch": "milestone/M001", "folders": [], "ours": true, "remove": "gsd-tools auto abandon M001" },
        { "milestone": "M008", "branch": "milestone/M008", "folders": [], "ours": false },
    ]);
    assert_eq!(status["leftovers"], expected, "{status:#}");
    let seen = context.at_a_terminal("auto status", &[], "");
    let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
    assert!(seen.contains("Left by earlier runs: milestone/M001; remove: `gsd-tools auto abandon M001`"), "{seen}");
    assert!(seen.contains("Not made by a run of this project, and not touched: milestone/M008"), "{seen}");
    let ran = auto(&context, &["auto", "run", "--brief", "two.md", "--max-units", "1"], "ideal");
    let named = ran.stderr.find("Left by earlier runs: milestone/M001; remove: `gsd-tools auto abandon M001`");
    assert!(named.is_some_and(|at| at < ran.stderr.find("discuss-milestone").unwrap()), "{}", ran.stderr);
    let report = abandon(
        &context,
        &printed(&ran.stderr, "gsd-tools auto abandon").iter().skip(2).map(String::as_str).collect::<Vec<_>>(),
    );
    assert_eq!((&report["ended"], &report["removed"]), (&false.into(), &json!(["milestone/M001"])), "{report:#}");
    shell(&context, &report["restore"]);
    assert_eq!(git(&context, &["rev-parse", "M001-kept"]), head);
    // The unfinished run is not among it, and continues.
    let refused = context.gsd(["auto", "abandon", "M008", "--yes"]).failure(1);
    assert!(refused.contains("no run of this project made the branch `milestone/M008`"), "{refused}");
    let words = printed(&refused, "git -C");
    git(&context, &words.iter().map(String::as_str).collect::<Vec<_>>());
    let rest = auto(&context, &["auto", "run"], "ideal");
    assert_eq!(self::report(&rest)["stop"]["cause"], "complete", "{}", rest.stderr);
    assert!(git(&context, &["branch", "--list"]).contains("milestone/M008"));
}

#[test]
fn a_run_that_is_started_in_its_own_worktree_ends_as_elsewhere() {
    let context = begun("2");
    let worktree = context.project().join(WORKTREE);
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let words = ["auto", "run", "--runner", "fake", "--runner-program", &agent];
    let mut command = context.command(binary());
    command.current_dir(&worktree).args(words).env("FAKE_SHAPE", "2x2").env("FAKE_ACTOR", "ideal");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = Ran::from(command.output().unwrap());
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &Value::from("complete")), "{}", ran.stderr);
    assert!(ran.stderr.contains("landed as ") && !ran.stderr.contains("Error"), "{}", ran.stderr);
    assert!(!worktree.exists());
    is_gone_but_landed(&context);
}

fn is_gone_but_landed(context: &TestContext) {
    assert_eq!(git(context, &["branch", "--list"]), "* main");
    assert_eq!(git(context, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_client_without_its_login_or_program_is_named_with_what_to_do() {
    // The program of the run signs in; the known ones have a command for it.
    let context = project();
    let row = json!({ "match": { "unit": TASK }, "steps": [], "terminal": { "status": 401, "text": "invalid x-api-key" }, "exit": 1 });
    let stop = stopped(&run(&context, BEGIN, &[row]), "auth");
    assert_eq!(stop["next"], compile::fake_agent().to_string_lossy().as_ref(), "{stop:#}");
    assert_eq!(stop["evidence"], json!(["sign in, then run `gsd-tools auto run`"]), "{stop:#}");
    let rest = run(&context, &["auto", "run"], &[]);
    assert_eq!(report(&rest)["stop"]["cause"], "complete", "{}", rest.stderr);
    for client in ["fake", "acp"] {
        let context = project();
        let brief = context.home().join("brief.md").to_string_lossy().into_owned();
        let ran = context.gsd(["auto", "run", "--brief", &brief, "--runner", client]);
        let said = ran.failure(1);
        assert!(said.contains(&format!("`{client}` needs a program, and none is named")), "{said}");
        assert!(!context.project().join(".gsd").exists(), "{said}");
        let unknown = context.gsd(["auto", "run", "--brief", &brief, "--runner", "nope-nope"]);
        let said = unknown.stderr.clone();
        assert!(
            unknown.code != 0 && said.contains("claude") && !said.contains("fake") && !said.contains("acp,"),
            "{said}"
        );
        let none = context.gsd_with(["auto", "run", "--brief", &brief], &[("PATH", "/usr/bin:/bin")], "");
        assert!(none.stderr.contains("Claude Code (`claude`)") && !none.stderr.contains("NAME"), "{}", none.stderr);
    }
}

#[test]
fn yes_answers_and_does_not_name_a_brief() {
    let context = project();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let ran = auto(&context, &["auto", "run", "-y", "--yolo", &brief, "--max-units", "1"], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "units-done", "{}", ran.stderr);
    let ran = auto(&context, &["auto", "next", "--yes"], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "units-done", "{}", ran.stderr);
}
