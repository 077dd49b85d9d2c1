//! `demo`: a milestone without an agent, in any folder, for any user, with nothing left over.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::Value;

use crate::kit::{Ran, TestContext, binary};

/// How long a test waits before it gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Everything in the folders that a call can write to, by path.
fn everything(context: &TestContext) -> BTreeSet<PathBuf> {
    let root = context.home().parent().unwrap().to_path_buf();
    walkdir::WalkDir::new(root).into_iter().map(|entry| entry.unwrap().into_path()).collect()
}

/// The temporary folder of the calls of a test.
fn temporary(context: &TestContext) -> PathBuf {
    context.home().parent().unwrap().join("tmp")
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Runs git in a folder, without any user's settings.
fn git(context: &TestContext, folder: &Path, arguments: &[&str]) -> String {
    let output = context.command("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn without_colours(text: &str) -> String {
    Regex::new("\u{1b}\\[[0-9;]*[A-Za-z]").unwrap().replace_all(text, "").replace('\r', "")
}

#[test]
fn a_demo_shows_a_milestone_that_lands_and_leaves_nothing() {
    let context = TestContext::new();
    let before = everything(&context);
    let ran = context.gsd(["demo"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(everything(&context), before);
    for told in [
        "gsd-tools auto run --brief BRIEF.md",
        "Lands on  `main`, as one commit",
        "Forecast  ",
        "      agent  plans two slices, and the first one in detail",
        "  gsd-tools  runs `sh tests/to-roman.sh`: passed",
        "  gsd-tools  runs `sh tests/to-number.sh` and `sh tests/to-roman.sh`: passed",
        "      agent  adds the way back, and takes out of the first test what fails now",
        "  gsd-tools  refuses it: tests/to-roman.sh:",
        "  gsd-tools  takes back what it left, and keeps it in ",
        "  gsd-tools  closes slice S02",
        "  gsd-tools  runs the checks again on the merged commit: passed",
    ] {
        assert!(ran.stderr.contains(told), "{told}\n{}", ran.stderr);
    }
    for told in [
        "landed on `main` as ",
        "Checks  ",
        "$ gsd-tools auto report --md\n",
        "Convert Roman numerals",
        "roman.sh, tests/to-number.sh, tests/to-roman.sh, and ",
        "$ sh roman.sh 2026\n  MMXXVI\n",
        "$ sh roman.sh MMXXVI\n  2026\n",
        "$ gsd-tools auto proof\n  {\n    \"commit\": ",
        "\"holds\": true",
        "gsd-tools demo --keep FOLDER",
        "gsd-tools auto run --brief FILE",
    ] {
        assert!(ran.stdout.contains(told), "{told}\n{}", ran.stdout);
    }
    let path = format!("`gsd-tools` is not in your PATH yet. This program is:\n  {}\n", binary().display());
    assert!(ran.stdout.ends_with(&path), "{}", ran.stdout);
    let landed = Regex::new("lands that commit on `main`: ([0-9a-f]{7})\n").unwrap();
    let landed = landed.captures(&ran.stderr).unwrap()[1].to_owned();
    assert!(ran.stdout.contains(&format!("landed on `main` as {landed}")), "{}", ran.stdout);
}

#[test]
fn the_agent_of_the_demo_is_neither_offered_nor_started_in_another_project() {
    let context = TestContext::new();
    context.write("BRIEF.md", "# Notes\n");
    let refused = context.gsd(["auto", "run", "--brief", "BRIEF.md", "--runner", "nope"]);
    assert!(refused.stderr.contains("choose one of ") && !refused.stderr.contains("demo"), "{}", refused.stderr);
    for step in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "Start"]] {
        git(&context, &context.project(), step);
    }
    let before = everything(&context);
    let refused = context.gsd(["auto", "run", "--brief", "BRIEF.md", "--runner", "demo"]);
    assert!(refused.code != 0 && refused.stderr.contains("run `gsd-tools demo`"), "{}", refused.stderr);
    assert!(!context.project().join(".gsd").exists(), "{:?}", everything(&context).difference(&before));
}

#[test]
fn with_json_the_answer_is_one_value_and_what_it_says_to_type_works() {
    let context = TestContext::new();
    let ran = context.gsd(["demo", "--json"]);
    assert!(ran.stderr.contains("closes slice S01"), "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(report["files"], serde_json::json!(["roman.sh", "tests/to-number.sh", "tests/to-roman.sh"]));
    assert_eq!((&report["sessions"], &report["branch"]), (&Value::from(6), &Value::from("main")));
    assert_eq!(report["shown"][0]["printed"], "MMXXVI");
    assert!(report.get("kept").is_none(), "{report:#}");
    for row in report["next"].as_array().unwrap() {
        let line = row["command"].as_str().unwrap();
        let words: Vec<&str> = line.strip_prefix("gsd-tools ").unwrap().split(' ').collect();
        if words.contains(&"FILE") {
            // Needs an agent: only checks that it can be typed.
            let flag = words.iter().find(|word| word.starts_with("--")).unwrap();
            let help = context.gsd_with([words[0], words[1], "--help"], &[], "").success();
            assert!(help.contains(flag), "{line}\n{help}");
        } else {
            context.gsd_with(words, &[], "").success();
        }
    }
}

#[test]
fn at_a_terminal_the_lines_fit_and_colour_can_be_turned_off() {
    let context = TestContext::new();
    let folder = context.home().join("kept folder");
    let calls = [("demo".to_owned(), ""), (format!("demo --keep '{}'", folder.display()), "1")];
    let colours = Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for (call, no_color) in calls {
        let output = context.at_a_terminal(&call, &[("NO_COLOR", no_color), ("LANG", "C")], "");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        assert_eq!(colours.is_match(&text), no_color.is_empty(), "{text:?}");
        for line in without_colours(&text).lines() {
            let has_path = line.contains("kept folder");
            assert!(line.chars().count() <= 80 || has_path, "{} columns: {line}", line.chars().count());
            assert!(!line.contains('…') && line.is_ascii(), "{line}");
        }
    }
}

#[test]
fn a_kept_project_is_complete_and_works_without_the_demo() {
    let context = TestContext::new();
    std::fs::create_dir(context.project().join("empty")).unwrap();
    for folder in ["a/new folder", "empty"] {
        let before = everything(&context);
        let report = context.gsd(["demo", "--json", "--keep", folder]).json();
        let kept = context.project().join(folder);
        assert_eq!(report["kept"], kept.to_str().unwrap());
        let new: Vec<PathBuf> = everything(&context).difference(&before).cloned().collect();
        let is_of_project = |path: &PathBuf| path.starts_with(&kept) || kept.starts_with(path);
        assert!(new.iter().all(is_of_project), "{new:#?}");
        assert_eq!(git(&context, &kept, &["status", "--porcelain"]), "");
        assert_eq!(git(&context, &kept, &["rev-parse", "main"]), report["commit"].as_str().unwrap());
        assert_eq!(git(&context, &kept, &["rev-list", "--count", "main"]), "2");
        assert_eq!(git(&context, &kept, &["worktree", "list"]).lines().count(), 1);
        assert_eq!(git(&context, &kept, &["branch", "--list"]), "* main");
        for test in ["tests/to-roman.sh", "tests/to-number.sh"] {
            assert!(context.command("sh").current_dir(&kept).arg(test).status().unwrap().success(), "{test}");
        }
        let summary = std::fs::read_to_string(kept.join(".gsd/milestones/M001/M001-SUMMARY.md")).unwrap();
        assert!(summary.contains("status: complete"), "{summary}");
        let status = context.gsd(["--cwd", kept.to_str().unwrap(), "auto", "status"]).json();
        assert_eq!(status["phase"], "complete", "{status:#}");
    }
}

#[test]
fn a_folder_that_is_not_empty_is_refused_before_anything_is_made() {
    let context = TestContext::new();
    context.write("full/mine.txt", "mine\n");
    context.write("file", "mine\n");
    std::os::unix::fs::symlink("nowhere", context.project().join("link")).unwrap();
    let before = everything(&context);
    let refused = "must be empty or not exist";
    for (folder, why) in [("full", refused), ("file", refused), ("link", refused), ("file/a/b", "is below a file")] {
        let told = context.gsd(["demo", "--keep", folder]).failure(2);
        assert!(told.starts_with("Error: `") && told.contains(why), "{folder}: {told}");
    }
    let told = context.gsd(["demo", "--keep", "/proc/nowhere/roman"]).failure(1);
    assert!(told.starts_with("Error: cannot make") && told.contains("hint: name another folder"), "{told}");
    assert_eq!(everything(&context), before);
}

#[test]
fn a_project_around_the_folder_is_not_touched() {
    let context = TestContext::new();
    context
        .write(".planning/ROADMAP.md", "# Roadmap\n\n- [ ] **Phase 1: Base** - x\n\n### Phase 1: Base\n**Goal**: x\n");
    context.write(".gsd/milestones/M001/M001-CONTEXT.md", "# M001: Mine\n");
    git(&context, &context.project(), &["init", "--quiet", "--initial-branch=trunk"]);
    git(&context, &context.project(), &["add", "--all"]);
    git(&context, &context.project(), &["commit", "--quiet", "--message=mine"]);
    let refs = || git(&context, &context.project(), &["for-each-ref"]);
    let before = refs();
    let report = context.gsd(["demo", "--json", "--keep", "sub/roman"]).json();
    assert_eq!(report["milestone"], "M001");
    assert_eq!(refs(), before);
    assert_eq!(git(&context, &context.project(), &["status", "--porcelain"]), "?? sub/");
    // The temporary folder may be inside a project too.
    let inside = context.project().join("tmp");
    std::fs::create_dir(&inside).unwrap();
    context.gsd_with(["demo"], &[("TMPDIR", inside.to_str().unwrap())], "").success();
    assert_eq!((refs(), entries(&inside)), (before, Vec::new()));
}

#[test]
fn settings_and_sessions_of_the_user_do_not_affect_it() {
    let context = TestContext::new();
    let hooks = context.home().join("hooks");
    std::fs::create_dir_all(hooks.join("template/hooks")).unwrap();
    for name in ["pre-commit", "commit-msg", "post-checkout", "template/hooks/pre-commit"] {
        let path = hooks.join(name);
        std::fs::write(&path, format!("#!/bin/sh\ntouch {}/ran\nexit 1\n", context.home().display())).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let settings = format!(
        "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n[core]\n\thooksPath = {0}\n\tautocrlf = true\n\
         \texcludesFile = {0}/ignored\n[init]\n\ttemplateDir = {0}/template\n\tdefaultBranch = trunk\n[user]\n\tuseConfigOnly = true\n",
        hooks.display()
    );
    std::fs::write(hooks.join("ignored"), "*\n").unwrap();
    std::fs::write(context.home().join(".gitconfig"), settings).unwrap();
    let before = everything(&context);
    let state = context.home().join("state");
    let config = context.home().join("hooks/git-of-others");
    let variables = [
        ("GIT_DIR", "/nowhere"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "commit.gpgSign"),
        ("GIT_CONFIG_VALUE_0", "true"),
        ("GIT_CONFIG_NOSYSTEM", "0"),
        ("XDG_STATE_HOME", state.to_str().unwrap()),
        ("XDG_CONFIG_HOME", config.to_str().unwrap()),
        ("CLAUDECODE", "1"),
        ("GSD_WORKSTREAM", "other"),
        ("GSD_FAULT_AT", "1"),
        ("LANG", "C"),
        ("LC_ALL", "de_DE.UTF-8"),
    ];
    let report = context.gsd_with(["demo", "--json"], &variables, "").json();
    assert_eq!(report["branch"], "main");
    let unit = [("GSD_UNIT_KIND", "execute-task"), ("GSD_UNIT_ID", "M001/S01/T01")];
    assert!(context.gsd_with(["demo"], &unit, "").failure(77).contains("M001/S01/T01"), "a run in a session of a run");
    assert_eq!(everything(&context), before);
}

#[test]
fn it_works_without_a_home_and_in_a_folder_that_cannot_be_written_to() {
    for home in [None, Some("/proc/nowhere"), Some("/dev/null")] {
        let context = TestContext::new();
        let mut command = context.command(binary());
        command.arg("demo").current_dir(if cfg!(target_os = "linux") { "/proc" } else { "/" });
        match home {
            Some(home) => command.env("HOME", home),
            None => command.env_remove("HOME"),
        };
        let ran = Ran::from(command.output().unwrap());
        assert_eq!(ran.code, 0, "{home:?}: {}", ran.stderr);
        assert_eq!(entries(&temporary(&context)), Vec::<String>::new());
    }
}

#[test]
fn a_missing_requirement_is_reported_with_a_fix() {
    let context = TestContext::new();
    let before = everything(&context);
    let programs = context.home().join("programs");
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink("/bin/sh", programs.join("sh")).unwrap();
    let told = context.gsd_with(["demo"], &[("PATH", programs.to_str().unwrap())], "").failure(1);
    assert!(told.contains("`git` is not installed or not in PATH") && told.contains("install `git`"), "{told}");
    std::fs::remove_dir_all(&programs).unwrap();
    for folder in ["/proc/nowhere", "/dev/null"] {
        let told = context.gsd_with(["demo"], &[("TMPDIR", folder)], "").failure(1);
        assert!(told.contains(folder) && told.contains("hint: set TMPDIR to a folder that you can write to"), "{told}");
    }
    assert_eq!(everything(&context), before);
}

/// A demo under way.
struct Demo {
    child: Child,
    told: PathBuf,
}

impl Demo {
    /// Starts a demo and waits until it has printed `line`.
    fn at(context: &TestContext, flags: &[&str], line: &str) -> Self {
        let told = context.home().join("told.txt");
        let file = std::fs::File::create(&told).unwrap();
        let mut command = context.command(binary());
        command.arg("demo").args(flags).stdout(file.try_clone().unwrap()).stderr(file);
        let demo = Self { child: command.spawn().unwrap(), told };
        let began = Instant::now();
        while !demo.told().contains(line) {
            assert!(began.elapsed() < PATIENCE, "{}", demo.told());
            std::thread::sleep(Duration::from_millis(2));
        }
        demo
    }

    fn told(&self) -> String {
        std::fs::read_to_string(&self.told).unwrap()
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Its exit code and everything it printed.
    fn end(mut self) -> (Option<i32>, String) {
        let ended = self.child.wait().unwrap();
        let told = self.told();
        std::fs::remove_file(&self.told).unwrap();
        (ended.code(), told)
    }
}

/// Waits until no process has the folders of the test in its environment.
#[cfg(target_os = "linux")]
fn await_no_process(context: &TestContext) {
    let root = context.home().parent().unwrap().to_string_lossy().into_owned();
    let began = Instant::now();
    loop {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let environments = processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
        if !environments.into_iter().any(|text| String::from_utf8_lossy(&text).contains(&root)) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "something of the demo still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_demo_that_is_interrupted_cleans_up_and_says_so() {
    let moments = ["gsd-tools auto run", "plans two slices", "closes slice S01", "on the merged commit"];
    for (line, (signal, code)) in moments.iter().zip([("INT", 130), ("TERM", 143), ("HUP", 143), ("INT", 130)]) {
        for keep in [None, Some("a/roman"), Some("empty")] {
            let context = TestContext::new();
            std::fs::create_dir(context.project().join("empty")).unwrap();
            let before = everything(&context);
            let flags: Vec<&str> = keep.iter().flat_map(|folder| ["--keep", folder]).collect();
            let demo = Demo::at(&context, &flags, line);
            demo.signal(signal);
            let (ended, told) = demo.end();
            // The last moment may be too late.
            if ended == Some(0) && *line == "on the merged commit" {
                continue;
            }
            assert_eq!(ended, Some(code), "{line}: {told}");
            assert!(told.ends_with("hint: run `gsd-tools demo` again\n"), "{told}");
            assert!(told.contains("Error: interrupted; nothing of the demo is left\n"), "{told}");
            await_no_process(&context);
            assert_eq!(everything(&context), before, "{line}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_demo_that_is_killed_leaves_one_folder_which_the_next_one_removes() {
    for line in ["gsd-tools auto run", "plans two slices", "closes slice S01"] {
        let context = TestContext::new();
        let mut demo = Demo::at(&context, &[], line);
        demo.child.kill().unwrap();
        demo.end();
        await_no_process(&context);
        let left = entries(&temporary(&context));
        assert_eq!(left.len(), 1, "{line}: {left:?}");
        assert_eq!((entries(&context.home()), entries(&context.project())), (Vec::new(), Vec::new()));
        context.gsd(["demo"]).success();
        assert_eq!(entries(&temporary(&context)), Vec::<String>::new());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_user_who_is_not_root_sees_the_same() {
    const NOBODY: u32 = 65534;
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    // Any other user has already run all the other tests without being root.
    if !is_root {
        return;
    }
    let folder = tempfile::Builder::new().prefix("gsd-suite-").tempdir().unwrap();
    let program = folder.path().join("gsd-tools");
    std::fs::copy(binary(), &program).unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let mut command = Command::new(&program);
    std::os::unix::process::CommandExt::gid(&mut command, NOBODY);
    std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.arg("demo").current_dir(folder.path()).env_clear().env("PATH", path).env("TMPDIR", folder.path());
    let ran = Ran::from(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("landed on `main`"), "{}", ran.stdout);
    assert_eq!(entries(folder.path()), ["gsd-tools"]);
}

#[test]
fn the_agent_of_the_demo_works_nowhere_else() {
    let context = TestContext::new();
    let unit = [("GSD_UNIT_KIND", "execute-task"), ("GSD_UNIT_ID", "M001/S01/T01")];
    let told = context.gsd_with(["__demo-agent"], &unit, "").failure(64);
    assert!(told.contains("works in no other project"), "{told}");
    assert_eq!(entries(&context.project()), Vec::<String>::new());
}
