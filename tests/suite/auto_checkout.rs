//! What is checked is what is committed: checks run on a checkout of the tree, not in the worktree of the unit.

use serde_json::{Value, json};

use crate::auto::{git, project, report};
use crate::kit::{Ran, TestContext, binary};
use crate::scripted;

const TASK: &str = "execute-task M001/S01/T01";
const CHECKS: &str = ".gsd/worktrees/M001-checks";

/// Commits files of the project.
fn commit(context: &TestContext, files: &[(&str, &str)]) {
    for (path, text) in files {
        context.write(path, text);
    }
    git(context, &["add", "--all", "--force"]);
    git(context, &["commit", "--quiet", "--message=files"]);
}

fn run(context: &TestContext, words: &[&str], rows: &[Value], variables: &[(&str, &str)]) -> Ran {
    scripted::run(context, words, rows, &[&[("FAKE_SHAPE", "2x1")], variables].concat())
}

const BEGIN: [&str; 4] = ["auto", "run", "--brief", "BRIEF"];

/// A session that runs a script before its work and another one after it.
fn session(unit: &str, attempt: Option<u32>, (before, after): (&str, &str)) -> Value {
    scripted::row(unit, attempt, &[json!({ "sh": before }), json!({ "ideal": true }), json!({ "sh": after })])
}

fn refusals(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.contains("does not count")).collect()
}

#[test]
fn work_that_git_ignores_is_refused_with_the_rule_and_a_fix() {
    let hide = "echo src/s01_t01.txt >> .gitignore";
    // The check needs a file that no plan names.
    let lean = "mkdir helper; mv src/s01_t01.txt helper/words.txt; echo 'helper/' > .gitignore; echo x > src/s01_t01.txt; \
                printf 'grep -q ready helper/words.txt\\n' > checks/s01_t01.sh";
    let table = [
        (
            "",
            hide,
            "",
            "the plan names `src/s01_t01.txt`, and git ignores it by `src/s01_t01.txt` (`.gitignore` line 1)",
        ),
        ("", lean, "", "the checks did not see `helper/words.txt`: git ignores it by `helper/` (`.gitignore` line 1)"),
        ("src/\n", "true", "echo '!src/' > .gitignore", "add the line `!src/` to `.gitignore`"),
    ];
    for (exclude, script, cure, said) in table {
        let context = project();
        context.write(".git/info/exclude", exclude);
        let rows = [session(TASK, Some(1), ("true", script)), session(TASK, Some(2), (cure, "true"))];
        let ran = run(&context, &BEGIN, &rows, &[]);
        let found = report(&ran);
        assert_eq!((ran.code, &found["stop"]["cause"]), (0, &json!("complete")), "{said}: {found:#}\n{}", ran.stderr);
        let refused = refusals(&ran);
        assert!(refused.len() == 1 && refused[0].contains(said), "{said}: {refused:?}\n{}", ran.stderr);
        let files = git(&context, &["ls-tree", "-r", "--name-only", "main"]);
        assert!(files.contains("src/s01_t01.txt") && files.contains("src/s02_t01.txt"), "{said}: {files}");
        assert_eq!(git(&context, &["worktree", "list"]).lines().count(), 1, "{said}: nothing is left");
    }
}

/// A project of one phase, with the workflows installed for the user.
#[cfg(unix)]
fn phased(files: &[(&str, &str)]) -> TestContext {
    let context = TestContext::on_disk();
    let roadmap = "# Roadmap\n\n## v1.0 Shelf\n\n- [ ] **Phase 1: Base** - the first file\n\n### Phase 1: Base\n**Goal**: one file\n";
    let state = "---\nmilestone: v1.0\n---\n# State\n\n## Current Position\n\nPhase: 1 of 1 (Base)\n";
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    let own = [("README.md", "# P\n"), (".planning/ROADMAP.md", roadmap), (".planning/STATE.md", state)];
    commit(&context, &[&own[..], files].concat());
    context.gsd(["install", "--global", "--claude"]).success();
    context
}

#[cfg(unix)]
#[test]
fn a_phase_whose_plan_names_what_git_ignores_is_refused_too() {
    let context = phased(&[]);
    context.write(".git/info/exclude", "src/\n");
    let program = binary().to_string_lossy().into_owned();
    let cured = session("execute-phase 1", Some(2), ("echo '!src/' > .gitignore", "true"));
    let ran = run(&context, &["auto", "run"], &[cured], &[("FAKE_GSD_TOOLS", &program)]);
    let found = report(&ran);
    assert_eq!((ran.code, &found["stop"]["cause"]), (0, &json!("complete")), "{found:#}\n{}", ran.stderr);
    let refused = refusals(&ran);
    assert!(refused.len() == 1 && refused[0].contains("git ignores it by `src/`"), "{refused:?}\n{}", ran.stderr);
    assert!(git(&context, &["ls-tree", "-r", "--name-only", "main"]).contains("src/p01_01.txt"));
    assert_eq!(git(&context, &["worktree", "list"]).lines().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_phase_whose_checks_need_packages_lands_with_a_set_up() {
    let set_up = "---\ngit:\n  worktree_post_create: mkdir -p node_modules && echo one > node_modules/installed\n---\n";
    let context = phased(&[(".gitignore", "node_modules/\n"), (".gsd/PREFERENCES.md", set_up)]);
    let program = binary().to_string_lossy().into_owned();
    let needs = "test -s node_modules/installed && echo 'test -s node_modules/installed' >> checks/p01_01.sh";
    let rows = [session("execute-phase 1", None, ("true", needs))];
    let call = |variables: &[(&str, &str)]| run(&context, &["auto", "run"], &rows, variables);
    let approved = digest(&call(NOTHING));
    let ran = call(&[("GSD_APPROVED", &approved), ("FAKE_GSD_TOOLS", &program)]);
    let found = report(&ran);
    assert_eq!((ran.code, &found["stop"]["cause"]), (0, &json!("complete")), "{found:#}\n{}", ran.stderr);
    assert!(ran.stderr.contains("checks passed: 1"), "{}", ran.stderr);
}

/// A project whose check leaves a file that git ignores, and fails if a unit has left one.
fn building() -> TestContext {
    let context = project();
    let check = "mkdir -p build && echo built >> build/count && test ! -e build/own && grep -q ready src/*.txt\n";
    commit(
        &context,
        &[
            (".gitignore", "build/\n"),
            ("build.sh", check),
            (".gsd/PREFERENCES.md", "---\nverification_commands: [\"sh build.sh\"]\n---\n"),
        ],
    );
    context
}

#[test]
fn build_output_stays_from_tree_to_tree_and_leftovers_of_the_unit_stay_out() {
    let context = building();
    let own = session("execute-task M001/*", None, ("true", "mkdir -p build; echo own > build/own"));
    let ran = run(&context, &BEGIN, std::slice::from_ref(&own), &[]);
    assert_eq!((ran.code, refusals(&ran).len()), (0, 0), "{}", ran.stderr);
    let context = building();
    let ran = run(&context, &[&BEGIN[..], &["--max-units", "3"]].concat(), std::slice::from_ref(&own), &[]);
    assert_eq!((ran.code, refusals(&ran).len()), (0, 0), "{}", ran.stderr);
    let count = || std::fs::read_to_string(context.project().join(CHECKS).join("build/count")).unwrap_or_default();
    let first = count().lines().count();
    assert!(first > 0, "{}", ran.stderr);
    let ran = run(&context, &["auto", "run", "--max-units", "2"], &[own], &[]);
    assert_eq!((ran.code, refusals(&ran).len()), (0, 0), "{}", ran.stderr);
    assert!(count().lines().count() > first, "what the first unit built is still there: {}", ran.stderr);
}

#[test]
fn a_checkout_left_by_a_dead_process_is_made_again() {
    let context = building();
    let ran = run(&context, &[&BEGIN[..], &["--max-units", "3"]].concat(), &[], &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // The state after `kill -9` while git was moving it.
    context.write(".git/worktrees/M001-checks/gsd-busy", "");
    context.write(".git/worktrees/M001-checks/index.lock", "");
    context.write(&format!("{CHECKS}/build/own"), "half made\n");
    let ran = run(&context, &["auto", "run"], &[], &[]);
    assert_eq!((ran.code, refusals(&ran).len()), (0, 0), "{}", ran.stderr);
    assert_eq!(git(&context, &["worktree", "list"]).lines().count(), 1);
}

const SETTING_UP: &str =
    "---\ngit:\n  worktree_post_create: sh setup.sh\nverification_commands: [\"sh check.sh\"]\n---\n";

/// Installs what the lock file lists, and counts how often.
const SETUP: &str = "echo installing; ! grep -q broken package-lock.json || exit 3\nmkdir -p node_modules\n\
                     cat package-lock.json >> node_modules/installed\ntest -d \"$SOURCE_DIR/.git\" && test \"$WORKTREE_DIR\" = \"$PWD\"\n";

/// Fails unless the packages are installed and the approval is not in the environment.
const CHECK: &str = "test -s node_modules/installed && test -z \"$GSD_APPROVED\" && grep -q ready src/*.txt\n";

/// A project whose checks need packages that are not in git.
fn packaged(more: &[(&str, &str)]) -> TestContext {
    let context = project();
    let files = [
        (".gitignore", "node_modules/\n"),
        (".gsd/PREFERENCES.md", SETTING_UP),
        ("setup.sh", SETUP),
        ("check.sh", CHECK),
        ("package-lock.json", "one\n"),
    ];
    commit(&context, &[&files[..], more].concat());
    context
}

/// The variables of a call that approves nothing.
const NOTHING: &[(&str, &str)] = &[("GSD_APPROVED", "")];

/// The digest in the answer of a call without an approval.
fn digest(ran: &Ran) -> String {
    let stop = report(ran)["stop"].clone();
    assert_eq!((ran.code, &stop["cause"]), (10, &json!("not-approved")), "{stop:#}\n{}", ran.stderr);
    let next = stop["next"].as_str().unwrap();
    next.strip_prefix("GSD_APPROVED=").unwrap_or_else(|| panic!("{next}")).split(' ').next().unwrap().to_owned()
}

#[test]
fn the_set_up_of_a_repository_runs_once_a_person_approved_it() {
    let context = packaged(&[]);
    let nothing_made = || assert!(!context.project().join(".gsd/worktrees").exists());
    let refused = run(&context, &BEGIN, &[], NOTHING);
    let approved = digest(&refused);
    assert!(approved.len() == 64 && refused.stdout.contains("in each new worktree: sh setup.sh"), "{}", refused.stdout);
    assert!(refused.stdout.contains(&format!("`approved: [{approved}]`")), "{}", refused.stdout);
    let again = format!("`GSD_APPROVED={approved} gsd-tools auto run --brief ");
    assert!(refused.stdout.contains(&again), "{}", refused.stdout);
    nothing_made();
    let other = "0".repeat(64);
    for (variables, why) in [
        (vec![("GSD_APPROVED", other.as_str())], "not a terminal"),
        (vec![("GSD_APPROVED", "yes")], "not a terminal"),
        (vec![("GSD_APPROVED", approved.as_str()), ("CLAUDECODE", "1")], "CLAUDECODE is set"),
        (vec![("GSD_APPROVED", approved.as_str()), ("CLAUDECODE", "")], "CLAUDECODE is set"),
    ] {
        let ran = run(&context, &BEGIN, &[], &variables);
        let stop = report(&ran)["stop"].clone();
        assert_eq!((ran.code, &stop["cause"]), (10, &json!("not-approved")), "{variables:?}: {stop:#}");
        assert!(stop["text"].as_str().unwrap().contains(why), "{variables:?}: {stop:#}");
        nothing_made();
    }
    // A session sees what was installed, and not the approval.
    let looks =
        session("execute-task M001/*", None, ("test -s node_modules/installed && test -z \"$GSD_APPROVED\"", "true"));
    let begin = [&BEGIN[..], &["--max-units", "3"]].concat();
    let both = format!("{other}, {approved}");
    let ran = run(&context, &begin, std::slice::from_ref(&looks), &[("GSD_APPROVED", &both)]);
    assert_eq!((ran.code, refusals(&ran).len()), (0, 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("Set-up of worktrees: `sh setup.sh`"), "{}", ran.stderr);
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!(status["session"]["set_up"]["command"], "sh setup.sh", "{status:#}");
    // The approval is remembered, but does not cover another command.
    let preferences = ".gsd/worktrees/M001/.gsd/PREFERENCES.md";
    context.write(preferences, &SETTING_UP.replace("sh setup.sh", "sh setup.sh; true"));
    assert_ne!(digest(&run(&context, &["auto", "run"], &[], NOTHING)), approved);
    context.write(preferences, SETTING_UP);
    let ran = run(&context, &["auto", "run"], &[looks], &[]);
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &json!("complete")), "{}", ran.stderr);
    assert!(!git(&context, &["ls-tree", "-r", "--name-only", "main"]).contains("node_modules"));
}

#[test]
fn the_preferences_of_the_user_approve_and_those_of_a_project_do_not() {
    let context = packaged(&[]);
    let approved = digest(&run(&context, &BEGIN, &[], NOTHING));
    let said = format!("approved: [{approved}]\n");
    commit(&context, &[(".gsd/PREFERENCES.md", &SETTING_UP.replace("git:", &format!("{said}git:")))]);
    let refused = run(&context, &BEGIN, &[], NOTHING);
    assert!(refused.code == 64 && refused.stderr.contains("which no project writes"), "{}", refused.stderr);
    commit(&context, &[(".gsd/PREFERENCES.md", SETTING_UP)]);
    std::fs::create_dir_all(context.home().join(".gsd")).unwrap();
    std::fs::write(context.home().join(".gsd/PREFERENCES.md"), format!("---\n{said}---\n")).unwrap();
    let ran = run(&context, &BEGIN, &[], NOTHING);
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &json!("complete")), "{}", ran.stderr);
}

/// What the set-up installed in the kept checkout, one line for each time.
fn installed(context: &TestContext) -> Vec<String> {
    let text = std::fs::read_to_string(context.project().join(CHECKS).join("node_modules/installed"));
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Approves the set-up of a project, and runs so many units.
fn approved(context: &TestContext, rows: &[Value], more: &[&str]) -> Ran {
    let approved = digest(&run(context, &BEGIN, rows, NOTHING));
    run(context, &[&BEGIN[..], more].concat(), rows, &[("GSD_APPROVED", &approved)])
}

#[test]
fn a_set_up_runs_again_when_a_lock_file_changed() {
    for (script, expected) in [("true", vec!["one"]), ("echo two > package-lock.json", vec!["one", "two"])] {
        let context = packaged(&[]);
        let rows = [session("execute-task M001/S02/T01", None, (script, "true"))];
        let ran = approved(&context, &rows, &["--max-units", "3"]);
        assert_eq!((ran.code, refusals(&ran).len()), (0, 0), "{}", ran.stderr);
        assert_eq!(installed(&context), ["one"], "{}", ran.stderr);
        let ran = run(&context, &["auto", "run", "--max-units", "2"], &rows, &[]);
        assert_eq!((ran.code, refusals(&ran).len()), (0, 0), "{}", ran.stderr);
        assert_eq!(installed(&context), expected, "{}", ran.stderr);
    }
}

#[test]
fn a_set_up_that_fails_stops_the_run_and_one_that_a_unit_broke_is_a_check_that_failed() {
    let context = packaged(&[("package-lock.json", "broken\n")]);
    let ran = approved(&context, &[], &[]);
    let stop = report(&ran)["stop"].clone();
    assert_eq!((ran.code, &stop["cause"]), (10, &json!("set-up-failed")), "{stop:#}\n{}", ran.stderr);
    assert!(stop["text"].as_str().unwrap().contains("`sh setup.sh` ended with exit code 3"), "{stop:#}");
    assert!(stop["evidence"].to_string().contains("installing"), "{stop:#}");
    assert_eq!(report(&ran)["sessions"], 0, "before anything is paid");
    context.write(".gsd/worktrees/M001/package-lock.json", "one\n");
    let ran = run(&context, &["auto", "run"], &[], &[]);
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &json!("complete")), "{}", ran.stderr);

    let context = packaged(&[]);
    let rows = [session(TASK, Some(1), ("echo broken > package-lock.json", "true"))];
    let ran = approved(&context, &rows, &[]);
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &json!("complete")), "{}", ran.stderr);
    let refused = refusals(&ran);
    assert!(refused.len() == 1 && refused[0].contains("`sh setup.sh` failed with exit code 3"), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn listed_files_that_git_ignores_are_copied_and_never_committed() {
    let context = project();
    let outside = context.home().join("outside.txt");
    std::fs::write(&outside, "outside\n").unwrap();
    let check = "grep -q mine .env && grep -q mine config/a.local && test ! -e open.txt && test ! -e config/link.local && \
                 test ! -e other.log && grep -q ready src/*.txt\n";
    commit(
        &context,
        &[
            (".gitignore", ".env\n*.local\n*.log\n"),
            (".worktreeinclude", "# of this computer\n.env\nconfig/*.local\nopen.txt\n"),
            (".gsd/PREFERENCES.md", "---\nverification_commands: [\"sh check.sh\"]\n---\n"),
            ("check.sh", check),
        ],
    );
    for path in [".env", "config/a.local", "open.txt", "other.log"] {
        context.write(path, "mine\n");
    }
    std::os::unix::fs::symlink(&outside, context.project().join("config/link.local")).unwrap();
    // The second attempt does not change the rule.
    let rows = [session(TASK, Some(1), ("grep -q mine .env && echo '*.log' > .gitignore", "true"))];
    let ran = approved(&context, &rows, &[]);
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &json!("complete")), "{}", ran.stderr);
    let refused = refusals(&ran);
    assert!(refused.len() == 1 && refused[0].contains("git does not ignore `.env` any more"), "{refused:?}");
    assert!(ran.stderr.contains("copies of .env, config/*.local, open.txt"), "{}", ran.stderr);
    let files = git(&context, &["ls-tree", "-r", "--name-only", "main"]);
    assert!(!["\n.env", "a.local", "open.txt"].iter().any(|name| files.contains(name)), "{files}");
    assert_eq!(std::fs::read_to_string(context.project().join(".env")).unwrap(), "mine\n");
}
