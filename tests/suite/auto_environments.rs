//! Installed packages that are not in git: runs bring them to their worktrees, and stop before the first session where
//! checks cannot run.

use std::path::Path;

use serde_json::{Value, json};

use crate::auto::{git, report};
use crate::kit::{Ran, TestContext, not_run};
use crate::scripted;

const TASK: &str = "execute-task M001/S01/T01";
const BEGIN: [&str; 4] = ["auto", "run", "--brief", "BRIEF"];

/// A project on the disk: the fence lets programs write to shared memory, where others are.
fn project() -> TestContext {
    let context = TestContext::on_disk();
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    std::fs::write(context.home().join("brief.md"), "Make a shelf of files.\n").unwrap();
    commit(&context, &[("README.md", "# P\n")]);
    context
}

fn commit(context: &TestContext, files: &[(&str, &str)]) {
    for (path, text) in files {
        context.write(path, text);
    }
    git(context, &["add", "--all"]);
    git(context, &["commit", "--quiet", "--message=files"]);
}

/// A run of one slice with one task.
fn run(context: &TestContext, words: &[&str], rows: &[Value]) -> Ran {
    scripted::run(context, words, rows, &[("FAKE_SHAPE", "1x1")])
}

fn lands(context: &TestContext, ran: &Ran) {
    let found = report(ran);
    assert_eq!((ran.code, &found["stop"]["cause"]), (0, &json!("complete")), "{found:#}\n{}", ran.stderr);
    let files = git(context, &["ls-tree", "-r", "--name-only", "main"]);
    assert!(!files.contains("node_modules/") && !files.contains(".venv/"), "{files}");
    assert_eq!(git(context, &["worktree", "list"]).lines().count(), 1, "{}", ran.stderr);
    assert_eq!(git(context, &["status", "--porcelain"]), "", "{}", ran.stderr);
}

fn refusals(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.contains("does not count")).collect()
}

/// Every file and link of a folder, with its content and mode.
fn content(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.unwrap();
        let path = entry.path().display();
        let permissions = entry.path().symlink_metadata().unwrap().permissions();
        if entry.path_is_symlink() {
            found.push(format!("{path} -> {}", entry.path().read_link().unwrap().display()));
        } else if entry.file_type().is_file() && entry.metadata().unwrap().len() < 1 << 20 {
            let bytes = std::fs::read(entry.path()).unwrap();
            found.push(format!("{path} {permissions:?} {}", String::from_utf8_lossy(&bytes)));
        } else {
            found.push(format!("{path} {permissions:?}"));
        }
    }
    found
}

const PREFERENCES: &str = ".gsd/PREFERENCES.md";

fn checking(commands: &str) -> String {
    format!("---\nverification_commands: [{commands}]\n---\n")
}

/// Needs a package that is in no commit, and the package of the workspace that is in the same tree.
const CHECK_JS: &str = "const assert = require('assert'), fs = require('fs');\n\
    assert.equal(require('./node_modules/words'), 'words');\n\
    assert.equal(fs.realpathSync('node_modules/own'), fs.realpathSync('packages/own'));\n\
    assert.equal(require('own').name, 'own');\n\
    for (const file of fs.existsSync('src') ? fs.readdirSync('src') : []) assert.match(fs.readFileSync('src/' + file, 'utf8'), /ready|words/);\n";

/// A project with a package and a workspace in `node_modules`; its check needs both.
fn of_node(ignore: &str, more: &[(&str, &str)]) -> TestContext {
    let context = project();
    let (preferences, manifest) =
        (checking("\"node check.js\""), "{\"name\": \"p\", \"dependencies\": {\"words\": \"1\"}}\n");
    let files = [
        (".gitignore", ignore),
        ("package.json", manifest),
        ("package-lock.json", "one\n"),
        ("packages/own/package.json", "{\"name\": \"own\"}\n"),
        ("packages/own/index.js", "module.exports = { name: 'own' };\n"),
        ("check.js", CHECK_JS),
        (PREFERENCES, preferences.as_str()),
    ];
    commit(&context, &[&files[..], more].concat());
    context.write("node_modules/words/index.js", "module.exports = 'words';\n");
    context.write("node_modules/.cache/old", "cache\n");
    std::os::unix::fs::symlink("../packages/own", context.project().join("node_modules/own")).unwrap();
    context
}

/// Tries to change the packages of the person's checkout, there and through its own copy.
fn writes(context: &TestContext, folder: &str, file: &str) -> String {
    let place = context.project().join(folder);
    format!(
        "echo broken > {folder}/{file}; echo new > {folder}/new; echo broken > {0}/{file}; echo new > {0}/new; rm -rf {folder}/words/*; true",
        place.display()
    )
}

#[test]
fn a_milestone_whose_checks_need_node_modules_lands_without_a_preference() {
    for ignore in ["node_modules/\n", "/node_modules\n", "node_modules\n"] {
        let context = of_node(ignore, &[]);
        let before = content(&context.project().join("node_modules"));
        let looks = "test \"$(node -p \"require('./node_modules/words')\")\" = words && test ! -e node_modules/.cache";
        let writes = writes(&context, "node_modules", "words/index.js");
        let rows =
            [scripted::row(TASK, None, &[json!({ "sh": looks }), json!({ "ideal": true }), json!({ "sh": writes })])];
        let ran = run(&context, &[&BEGIN[..], &["--max-units", "2"]].concat(), &rows);
        assert_eq!((ran.code, refusals(&ran).len()), (0, 0), "{ignore}: {}", ran.stderr);
        let said = "Brought to the worktrees from your checkout: node_modules (copied)";
        assert_eq!(ran.stderr.matches(said).count(), 1, "{ignore}: {}", ran.stderr);
        let status = context.gsd(["auto", "status"]).json();
        let brought = json!([{ "path": "node_modules", "how": "copied" }]);
        assert_eq!(status["session"]["environments"]["brought"], brought, "{status:#}");
        let ran = run(&context, &["auto", "run"], &rows);
        lands(&context, &ran);
        assert_eq!(content(&context.project().join("node_modules")), before, "{ignore}");
    }
}

#[test]
fn a_large_environment_is_linked_and_cannot_be_written_through() {
    let context = of_node("node_modules/\n", &[]);
    // Without its bytes on the disk.
    std::fs::File::create(context.project().join("node_modules/words/big")).unwrap().set_len(400 << 20).unwrap();
    let before = content(&context.project().join("node_modules"));
    let rows = [scripted::also(TASK, None, &writes(&context, "node_modules", "words/index.js"))];
    let ran = run(&context, &BEGIN, &rows);
    // A file system that shares the bytes of copies has them copied.
    let is_said = ["linked", "copied"].iter().any(|how| ran.stderr.contains(&format!("node_modules ({how})")));
    assert!(is_said, "{}", ran.stderr);
    lands(&context, &ran);
    assert_eq!(content(&context.project().join("node_modules")), before);
}

#[test]
fn a_unit_that_has_git_see_what_was_brought_is_refused() {
    let context = of_node("node_modules/\n", &[]);
    let rows = [scripted::also(TASK, Some(1), "echo build/ > .gitignore")];
    let ran = run(&context, &BEGIN, &rows);
    let refused = refusals(&ran);
    assert!(refused.len() == 1 && refused[0].contains("git does not ignore `node_modules` any more"), "{}", ran.stderr);
    lands(&context, &ran);
}

#[test]
fn failed_checks_say_that_the_packages_are_older_than_the_lock_file_of_the_work() {
    let context = of_node("node_modules/\n", &[]);
    let script =
        "echo two > package-lock.json; echo \"require('./node_modules/more')\" >> check.js; echo bad > src/s01_t01.txt";
    let rows = [scripted::also(TASK, Some(1), script)];
    let ran = run(&context, &BEGIN, &rows);
    lands(&context, &ran);
    let log = context.gsd(["auto", "log", TASK.split(' ').next_back().unwrap()]).success();
    assert!(log.contains("the checks ran with `node_modules` as it is in the person's checkout"), "{log}");
}

/// The interpreter that `python3` starts, and its version; `None` if there is no Python.
fn python(context: &TestContext) -> Option<(String, String)> {
    let script = "import sys; print(sys.executable); print('%d.%d' % sys.version_info[:2])";
    let told = context.command("python3").args(["-c", script]).output().ok().filter(|told| told.status.success())?;
    let told = String::from_utf8(told.stdout).unwrap();
    let (program, version) = told.trim().split_once('\n')?;
    Some((std::fs::canonicalize(program).ok()?.display().to_string(), version.to_owned()))
}

/// Needs a package of the environment, and the project by its editable install: started by the interpreter and by a
/// script.
const CHECK_SH: &str = "set -e\n.venv/bin/python -c 'import dep, shelf, os, sys; assert shelf.__file__.startswith(os.getcwd() + \"/src/\"), shelf.__file__; assert sys.prefix == os.getcwd() + \"/.venv\", sys.prefix; assert shelf.VALUE == 1, shelf.VALUE'\n\
    test \"$(.venv/bin/tool)\" = \"$PWD/src/shelf.py\"\nfor file in src/*.txt; do test ! -e \"$file\" || grep -q ready \"$file\"; done\n";

/// A project with an environment in which it is installed as editable.
fn of_python() -> Option<TestContext> {
    let context = project();
    let (program, version) = python(&context)?;
    commit(
        &context,
        &[
            (".gitignore", ".venv/\n__pycache__/\n"),
            ("pyproject.toml", "[project]\nname = \"shelf\"\n"),
            ("src/shelf.py", "VALUE = 1\n"),
            ("check.sh", CHECK_SH),
            (PREFERENCES, &checking("\"sh check.sh\"")),
        ],
    );
    let (root, packages) =
        (context.project().canonicalize().unwrap(), format!(".venv/lib/python{version}/site-packages"));
    let root = root.display();
    let home = Path::new(&program).parent().unwrap().display().to_string();
    context.write(
        ".venv/pyvenv.cfg",
        &format!("home = {home}\ninclude-system-site-packages = false\nversion = {version}\n"),
    );
    context.write(&format!("{packages}/dep.py"), "");
    context.write(&format!("{packages}/__editable__.shelf-1.0.pth"), &format!("{root}/src\n"));
    context.write(".venv/bin/tool", &format!("#!{root}/.venv/bin/python\nimport shelf\nprint(shelf.__file__)\n"));
    let place = |name: &str| context.project().join(".venv/bin").join(name);
    std::os::unix::fs::symlink(&program, place("python")).unwrap();
    std::fs::set_permissions(place("tool"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    Some(context)
}

#[test]
fn an_editable_install_tests_the_work_and_not_the_checkout() {
    let Some(context) = of_python() else { return not_run("editable installs", "python3 is not installed") };
    let before = content(&context.project().join(".venv"));
    // The first attempt breaks what the person's checkout has right.
    let breaks = format!("echo 'VALUE = 2' > src/shelf.py; {}", writes(&context, ".venv", "pyvenv.cfg"));
    let rows =
        [scripted::also(TASK, Some(1), &breaks), scripted::also(TASK, Some(2), "echo 'VALUE = 1' > src/shelf.py")];
    let ran = run(&context, &BEGIN, &rows);
    assert!(ran.stderr.contains("Brought to the worktrees from your checkout: .venv (copied)"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("Red before the first session"), "{}", ran.stderr);
    let refused = refusals(&ran);
    assert!(refused.len() == 1 && refused[0].contains("sh check.sh"), "{}", ran.stderr);
    lands(&context, &ran);
    assert_eq!(content(&context.project().join(".venv")), before);
}

#[test]
fn a_check_that_cannot_run_stops_before_the_first_session_with_the_command_that_cures_it() {
    let context = project();
    if !context
        .command("python3")
        .args(["-c", "import venv, ensurepip"])
        .output()
        .is_ok_and(|told| told.status.success())
    {
        return not_run("the environment of a check", "python3 has no venv");
    }
    let check = ".venv/bin/python -B -m unittest discover -s t";
    commit(
        &context,
        &[
            (".gitignore", ".venv/\n"),
            ("t/test_a.py", "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"),
            (PREFERENCES, &checking(&format!("\"{check}\""))),
        ],
    );
    let ran = run(&context, &BEGIN, &[]);
    let found = report(&ran);
    let stop = &found["stop"];
    assert_eq!(
        (ran.code, &stop["cause"], &found["sessions"]),
        (10, &json!("set-up-needed"), &json!(0)),
        "{found:#}\n{}",
        ran.stderr
    );
    let text = stop["text"].as_str().unwrap();
    assert!(text.contains(check) && text.contains("it lacks `.venv/bin/python`"), "{text}");
    assert!(stop["evidence"].to_string().contains("`.venv` is not in your checkout"), "{stop:#}");
    let next = stop["next"].as_str().unwrap();
    assert_eq!(next, "python3 -m venv .venv", "{stop:#}");
    // Nothing has changed, so it is the same again.
    assert_eq!(report(&run(&context, &["auto", "run"], &[]))["stop"]["cause"], "set-up-needed");
    assert!(context.command("sh").args(["-c", next]).status().unwrap().success());
    lands(&context, &run(&context, &["auto", "run"], &[]));
}

#[test]
fn a_check_that_lacks_a_package_of_the_project_stops_and_one_that_fails_does_not() {
    let off = "---\ngit:\n  worktree_environments: false\nverification_commands: [\"node_modules/.bin/words\"]\n---\n";
    let context = of_node("node_modules/\n", &[(PREFERENCES, off)]);
    let ran = run(&context, &BEGIN, &[]);
    let stop = report(&ran)["stop"].clone();
    assert_eq!((ran.code, &stop["cause"]), (10, &json!("set-up-needed")), "{stop:#}\n{}", ran.stderr);
    let evidence = stop["evidence"].to_string();
    assert!(evidence.contains("`git.worktree_environments` must not be false"), "{stop:#}");
    assert!(evidence.contains("worktree_post_create: npm ci"), "{stop:#}");
    assert!(!ran.stderr.contains("Brought to"), "{}", ran.stderr);

    // A package that the manifest names, and a file that the work is to make.
    for (script, cause) in [("require('words-of-p/a')", "set-up-needed"), ("require('./made')", "complete")] {
        let context = project();
        let manifest = "{\"name\": \"p\", \"dependencies\": {\"words-of-p\": \"1\"}}\n";
        let preferences = checking("\"node check.js\"");
        commit(&context, &[("package.json", manifest), ("check.js", script), (PREFERENCES, &preferences)]);
        let rows = [scripted::also(TASK, None, "echo > made.js")];
        let ran = run(&context, &BEGIN, &rows);
        let stop = report(&ran)["stop"].clone();
        assert_eq!(stop["cause"], cause, "{script}: {stop:#}\n{}", ran.stderr);
        if cause == "set-up-needed" {
            assert_eq!(stop["next"], "npm install", "{stop:#}");
        }
    }
}

#[test]
fn sessions_set_ups_and_checks_get_the_same_slot() {
    let context = project();
    let check = "test \"$GSD_SLOT\" = 0 && test -d \"$GSD_CACHE_DIR\" && echo check > \"$GSD_CACHE_DIR/check\" && \
                 { ! test -e slot.txt || test \"$(cat slot.txt)\" = \"$GSD_PORT_BASE $GSD_DATABASE $GSD_CACHE_DIR\"; }\n";
    let preferences = "---\ngit:\n  worktree_post_create: test -n \"$GSD_PORT_BASE$GSD_DATABASE\" && test -d \"$GSD_CACHE_DIR\"\n\
                       verification_commands: [\"sh check.sh\"]\n---\n";
    commit(&context, &[("check.sh", check), (PREFERENCES, preferences)]);
    let script = "test -s \"$GSD_CACHE_DIR/check\" && echo session > \"$GSD_CACHE_DIR/session\" && \
                  echo \"$GSD_PORT_BASE $GSD_DATABASE $GSD_CACHE_DIR\" > slot.txt";
    let ran = run(&context, &BEGIN, &[scripted::also(TASK, None, script)]);
    lands(&context, &ran);
    let slot = git(&context, &["show", "main:slot.txt"]);
    let mut words = slot.split(' ');
    let port: u32 = words.next().unwrap().parse().unwrap();
    assert!((20_000..60_000).contains(&port) && port.is_multiple_of(20), "{slot}");
    assert!(words.next().unwrap().ends_with("_m001_0"), "{slot}");
}

#[test]
fn what_would_keep_every_landing_from_happening_is_refused_before_anything_is_made() {
    let context = project();
    commit(&context, &[("a.txt", "a\n")]);
    context.write(".git/index.lock", "");
    let ran = run(&context, &BEGIN, &[]);
    assert!(ran.code != 0 && ran.stderr.contains("another git holds the lock"), "{} {}", ran.code, ran.stderr);
    std::fs::remove_file(context.project().join(".git/index.lock")).unwrap();

    // A stash that did not apply leaves a conflict without a merge.
    context.write("a.txt", "mine\n");
    git(&context, &["stash", "--quiet"]);
    commit(&context, &[("a.txt", "other\n")]);
    assert!(!context.command("git").args(["stash", "pop", "--quiet"]).output().unwrap().status.success());
    let ran = run(&context, &BEGIN, &[]);
    assert!(ran.code != 0 && ran.stderr.contains("`a.txt` in"), "{} {}", ran.code, ran.stderr);
    assert!(ran.stderr.contains("has a conflict that is not settled"), "{}", ran.stderr);
    assert!(!context.project().join(".gsd/worktrees").exists());
    git(&context, &["checkout", "--quiet", "HEAD", "--", "a.txt"]);
    lands(&context, &run(&context, &BEGIN, &[]));
}
