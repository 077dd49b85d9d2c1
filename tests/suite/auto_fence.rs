//! What an agent and the checks of a run can reach in the fence, tested by an agent that tries everything.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::auto::compile;
use crate::kit::{Ran, TestContext, binary};
use crate::notes::Notes;

/// True if the kernel has a fence; prints a message if not.
pub(crate) fn has_fence(context: &TestContext) -> bool {
    let probe = context.command(binary()).args(["__fence", "--", "true"]).output().unwrap();
    if !probe.status.success() {
        let _ = writeln!(std::io::stderr(), "fence: not run ({})", String::from_utf8_lossy(&probe.stderr).trim());
    }
    probe.status.success()
}

pub(crate) fn git(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository with one commit and a brief; its git folder is in the project or elsewhere.
pub(crate) fn project(is_apart: bool) -> TestContext {
    let context = TestContext::on_disk();
    context.write("README.md", "# P\n");
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    if is_apart {
        let place = context.home().join("apart.git").display().to_string();
        git(&context, &["init", "--quiet", "--separate-git-dir", &place]);
    }
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    std::fs::write(context.home().join("brief.md"), "Make a shelf of files.\n").unwrap();
    context
}

/// Runs a milestone with an agent that first runs `script` in the worktree, and then works as it should.
fn run(context: &TestContext, script: &str) -> Value {
    run_with_notes(context, &Notes::new(), script)
}

/// As [`run`], with notes that the script sends with `note`.
fn run_with_notes(context: &TestContext, notes: &Notes, script: &str) -> Value {
    let ran = ran(context, notes, script, &[]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.stdout, ran.stderr))
}

fn ran(context: &TestContext, notes: &Notes, script: &str, more: &[(&str, &str)]) -> Ran {
    let program = context.home().join("agent");
    let agent = compile::fake_agent();
    let text = format!("#!/bin/bash\nexec 3>&1 1>&2\n{NOTE}\n{script}\nexec {} \"$@\" 1>&3\n", agent.display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let (home, project) = (context.home().display().to_string(), context.project().display().to_string());
    let brief = context.home().join("brief.md").display().to_string();
    let program = program.display().to_string();
    let words = ["auto", "run", "--brief", &brief, "--runner", "fake", "--runner-program", &program];
    let port = notes.port();
    let variables =
        [("FAKE_SHAPE", "1x1"), ("FAKE_ACTOR", "ideal"), ("OUT", &*home), ("ROOT", &*project), ("NOTES", &*port)];
    context.gsd_with(words, &[&variables[..], more].concat(), "")
}

/// Sends a note to the test: nothing that a session may write to outlives its run.
const NOTE: &str = r#"note() { echo "$*" > /dev/tcp/127.0.0.1/$NOTES; }"#;

/// Tries one thing after the other, and reports which succeeded.
const TRIES: &str = r#"
try() { if bash -c "$2" 2>/dev/null; then note "$GSD_UNIT_KIND $1 yes"; else note "$GSD_UNIT_KIND $1 no"; fi; }
common=$(git rev-parse --path-format=absolute --git-common-dir); own=$(git rev-parse --absolute-git-dir)
try worktree 'echo x > tried && rm tried'
try planning 'echo x > .gsd/tried && rm .gsd/tried'
try temporary 'at=$(mktemp) && rm $at'
try home 'echo x > $OUT/tried'
try hidden 'mkdir -p $OUT/.tried'
log=$(find "$OUT" -path '*gsd-tools*' -name '*.jsonl' | head -1)
try seeing-the-log "test -n '$log'"
try log "echo x >> '$log'"
try root 'echo x > $ROOT/tried'
try readme 'echo x >> $ROOT/README.md'
try neighbour 'mkdir $ROOT/.gsd/worktrees/tried'
try hook "echo exit > $common/hooks/pre-commit"
try setting 'git config core.fsmonitor true'
try config "echo x >> $common/config"
try objects "echo x > $common/objects/tried"
try references "echo x > $common/refs/heads/tried"
try index "echo x > $own/tried"
try stage 'git add --all'
try commit 'git commit --quiet --allow-empty -m x'
try branch 'git branch tried'
try reading 'git log -1 --quiet && git status --short && git diff'
"#;

/// What the units of a run could do, by their kind and the attempted action.
fn tries(notes: &Notes) -> BTreeMap<(String, String), bool> {
    let text = notes.told();
    let line = |line: &str| {
        let [kind, what, answer] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        ((kind.to_owned(), what.to_owned()), answer == "yes")
    };
    text.lines().map(line).collect()
}

#[test]
fn a_unit_writes_in_its_worktree_or_only_in_its_planning_folder_and_never_in_the_repository() {
    for is_apart in [false, true] {
        let context = project(is_apart);
        if !has_fence(&context) {
            return;
        }
        let notes = Notes::new();
        let report = run_with_notes(&context, &notes, TRIES);
        assert_eq!(report["stop"]["cause"], "complete", "{report:#}");
        let tries = tries(&notes);
        let could = |kind: &str| -> Vec<&str> {
            let of_kind = tries.iter().filter(|((of, _), could)| of == kind && **could);
            of_kind.map(|((_, what), _)| what.as_str()).collect()
        };
        assert_eq!(could("plan-milestone"), ["planning", "reading", "seeing-the-log", "temporary"], "{tries:?}");
        assert_eq!(
            could("execute-task"),
            ["planning", "reading", "seeing-the-log", "temporary", "worktree"],
            "{tries:?}"
        );
        for kind in ["discuss-milestone", "plan-slice"] {
            assert!(tries.keys().all(|(of, _)| of != kind) || could(kind) == could("plan-milestone"), "{tries:?}");
        }
        assert!(tries.len() > 2 * 15, "{tries:?}");
    }
}

/// At the first task, makes everything that could make git run a program of the agent. Each would write the proof,
/// which a fenced program cannot.
const CHEAT: &str = r#"
if [ "$GSD_UNIT_KIND" = execute-task ]; then
  stays="$FAKE_AGENT_HOME/sessions"
  mkdir -p "$stays"
  evil="$stays/evil"
  printf '#!/bin/sh\necho "$0 $*" >> "%s"\ncat\n' "$OUT/proof" > "$stays/evil.sh"
  mkdir -p "$stays/hooks"
  for hook in pre-commit post-checkout post-index-change post-merge reference-transaction; do cp "$stays/evil.sh" "$stays/hooks/$hook"; done
  chmod -R +x "$stays/evil.sh" "$stays/hooks"
  git init --quiet --initial-branch=milestone/${GSD_UNIT_ID%%/*} "$evil"
  git -C "$evil" commit --quiet --allow-empty -m evil
  for setting in core.fsmonitor filter.tree.clean filter.tree.smudge diff.external gpg.program; do git -C "$evil" config $setting "$stays/evil.sh"; done
  git -C "$evil" config core.hooksPath "$stays/hooks"
  echo "gitdir: $evil/.git" > .git
  cp "$stays/evil.sh" a/clean.sh
  cp "$stays/evil.sh" a/smudge.sh
fi
"#;

#[test]
fn an_agent_that_cheats_with_git_gets_no_program_run_outside_of_the_fence() {
    let context = project(false);
    if !has_fence(&context) {
        return;
    }
    // A filter whose program is in the tree.
    context.write(".gitattributes", "*.up filter=tree\n");
    context.write("a/clean.sh", "tr a-z A-Z\n");
    context.write("a/smudge.sh", "tr A-Z a-z\n");
    git(&context, &["config", "filter.tree.clean", "sh a/clean.sh %f"]);
    git(&context, &["config", "filter.tree.smudge", "sh a/smudge.sh"]);
    git(&context, &["config", "filter.tree.required", "true"]);
    context.write("it's a $name.up", "shelf\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=filter"]);
    assert_eq!(git(&context, &["show", "HEAD:it's a $name.up"]), "SHELF");

    let report = run(&context, "if [ $GSD_UNIT_KIND = execute-task ]; then echo books > \"two  'b'.up\"; fi");
    assert_eq!(report["stop"]["cause"], "complete", "{report:#}");
    assert_eq!(git(&context, &["show", "HEAD:two  'b'.up"]), "BOOKS", "filters work in the fence");
    assert_eq!(context.read("two  'b'.up"), "books\n");

    std::fs::write(context.home().join("brief.md"), "Make another shelf.\n").unwrap();
    let report = run(&context, CHEAT);
    let proof = std::fs::read_to_string(context.home().join("proof"));
    assert!(proof.is_err(), "{proof:?}\n{report:#}");
    assert_eq!(report["stop"]["cause"], "complete", "{report:#}");
    let landed = context.read("a/clean.sh");
    assert!(landed.contains("proof"), "it landed, as anything that passes the checks does: {landed}");
    assert_eq!(git(&context, &["worktree", "list"]).lines().count(), 1);
}

/// At the first task, makes repositories within the project whose settings name programs.
const NESTED: &str = r#"
if [ "$GSD_UNIT_KIND" = execute-task ]; then
  stays="$FAKE_AGENT_HOME/sessions"; mkdir -p "$stays/hooks"
  printf '#!/bin/sh\necho "$0 $*" >> "%s"\ncat\n' "$OUT/proof" > "$stays/evil.sh"; chmod +x "$stays/evil.sh"
  for hook in pre-commit post-checkout post-index-change reference-transaction; do cp "$stays/evil.sh" "$stays/hooks/$hook"; done
  for at in $NESTED; do
    mkdir -p $at && git init --quiet $at && echo one > $at/file && git -C $at add file && git -C $at commit --quiet -m one
    for setting in core.fsmonitor filter.x.clean filter.x.smudge filter.x.process diff.external diff.x.textconv core.pager; do
      git -C $at config $setting "$stays/evil.sh"
    done
    git -C $at config core.hooksPath "$stays/hooks"
    echo '* filter=x diff=x' > $at/.git/info/attributes
    sleep 0.1; echo two > $at/file
    printf '[submodule "%s"]\n\tpath = %s\n\turl = ./%s\n\tupdate = !%s\n' $at $at $at "$stays/evil.sh" >> .gitmodules
  done
fi
"#;

#[test]
fn a_repository_that_a_unit_makes_within_the_project_gets_no_program_run() {
    for nested in ["nested", "a/nested a/deep/nested"] {
        let context = project(false);
        if !has_fence(&context) {
            return;
        }
        let ran = ran(&context, &Notes::new(), &format!("NESTED='{nested}'\n{NESTED}"), &[]);
        assert!(ran.stdout.contains("\"stop\""), "{}\n{}", ran.stdout, ran.stderr);
        let proof = std::fs::read_to_string(context.home().join("proof"));
        assert!(proof.is_err(), "{proof:?}\n{}\n{}", ran.stdout, ran.stderr);
    }
}

/// Git needs `--` if a name is both a revision and a file.
#[test]
fn files_named_like_revisions_are_taken_as_files() {
    let context = project(false);
    let start = git(&context, &["rev-parse", "HEAD"]);
    let names = format!("HEAD main refs FETCH_HEAD {start}");
    let report =
        run(&context, &format!("[ $GSD_UNIT_KIND = execute-task ] && for name in {names}; do echo x > $name; done"));
    assert_eq!(report["stop"]["cause"], "complete", "{report:#}");
    assert_eq!(context.read("HEAD"), "x\n");
    assert!(context.read(".git/HEAD").starts_with("ref: "));
}

/// What a search path with a relative folder would find in a worktree.
#[test]
fn a_program_that_a_unit_replaces_runs_only_in_the_fence() {
    const MAKES: &str = r#"
        [ $GSD_UNIT_KIND = execute-task ] && for name in git sh env ssh-keygen; do
          real=$(PATH="${PATH#.:}" command -v $name)
          printf '#!/bin/bash\necho "$0 $*" >> "%s"\nexec %s "$@"\n' "$OUT/proof" "$real" > $name; chmod +x $name
        done"#;
    let context = project(false);
    if !has_fence(&context) {
        return;
    }
    let path = format!(".:{}:", std::env::var("PATH").unwrap());
    let ran = ran(&context, &Notes::new(), MAKES, &[("PATH", &path)]);
    let proof = std::fs::read_to_string(context.home().join("proof"));
    assert!(proof.is_err() && ran.stdout.contains("\"stop\""), "{proof:?}\n{}\n{}", ran.stdout, ran.stderr);
}

#[test]
fn a_link_left_by_a_unit_redirects_no_write_of_this_program() {
    let links = [
        ("plan-milestone", "mkdir -p .gsd && rm -f .gsd/STATE.md && ln -s \"$OUT/victim\" .gsd/STATE.md"),
        ("plan-milestone", "rm -rf .gsd/milestones && ln -s \"$OUT/folder\" .gsd/milestones"),
        ("execute-task", "rm -rf .gsd && ln -s \"$OUT/folder\" .gsd"),
    ];
    for (unit, link) in links {
        let context = project(false);
        let (victim, folder) = (context.home().join("victim"), context.home().join("folder"));
        std::fs::write(&victim, "mine\n").unwrap();
        std::fs::create_dir(&folder).unwrap();
        let ran = ran(&context, &Notes::new(), &format!("[ $GSD_UNIT_KIND = {unit} ] && {{ {link}; }}"), &[]);
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine\n", "{link}: {}", ran.stderr);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{link}: {}", ran.stderr);
    }
}

/// Files of a client's user, which each unit tries to change.
const MINE: &[&str] = &[
    ".fake-agent.json",
    ".fake-agent/settings.json",
    ".fake-agent/INSTRUCTIONS.md",
    ".fake-agent/hooks/start.sh",
    ".fake-agent/commands/go.md",
    ".fake-agent/skills/one/SKILL.md",
    ".fake-agent/agents/one.md",
    ".fake-agent/plugins/one/plugin.js",
    ".fake-agent/gsd-core/bin/gsd-tools",
];

/// Changes each of these in place, through another file, and in the session's view of it.
const PERSISTS: &str = r#"
for file in $MINE; do
  at="$OUT/$file"
  { echo evil >> "$at"; } 2>/dev/null
  { echo evil > "$at.new" && mv "$at.new" "$at"; } 2>/dev/null
  rm -f "$at" 2>/dev/null
  seen="$FAKE_AGENT_HOME/${file#.fake-agent/}"
  test -e "$seen" || note "unseen $file"
  grep -q evil "$seen" && note "stayed $file, in $GSD_UNIT_KIND"
  { echo evil >> "$seen"; } 2>/dev/null
  { rm -rf "$seen" && echo evil > "$seen"; } 2>/dev/null
done
mkdir -p "$OUT/.fake-agent/hooks/new" "$OUT/.another" 2>/dev/null
{ echo "alias ls=evil" >> "$OUT/.bashrc"; } 2>/dev/null
mkdir -p "$FAKE_AGENT_HOME/sessions" && for file in $(ls "$FAKE_AGENT_HOME/sessions"); do note "session $file"; done
echo x > "$FAKE_AGENT_HOME/sessions/$GSD_UNIT_KIND"
echo '{"account": {"token": "new"}}' > "$FAKE_AGENT_HOME/next" && mv "$FAKE_AGENT_HOME/next" "$FAKE_AGENT_HOME/login.json"
"#;

#[test]
fn nothing_that_runs_later_is_changed_by_a_unit_and_a_refreshed_login_is_the_users() {
    let context = project(false);
    if !has_fence(&context) {
        return;
    }
    let write = |path: &str, text: &str| {
        let path = context.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for path in MINE {
        write(path, &format!("mine: {path}\n"));
    }
    write(".fake-agent/login.json", r#"{"account": {"token": "old"}}"#);
    write(".fake-agent/sessions/of-mine", "private\n");
    write(".bashrc", "mine\n");
    let files = || {
        let entries = walkdir::WalkDir::new(context.home().join(".fake-agent")).into_iter().flatten();
        entries.map(|entry| entry.path().to_path_buf()).collect::<Vec<_>>()
    };
    let before = files();
    let notes = Notes::new();
    let report = run_with_notes(&context, &notes, &format!("MINE='{}'\n{PERSISTS}", MINE.join(" ")));
    assert_eq!(report["stop"]["cause"], "complete", "{report:#}");
    for path in MINE {
        assert_eq!(std::fs::read_to_string(context.home().join(path)).unwrap(), format!("mine: {path}\n"));
    }
    assert_eq!(files(), before);
    assert_eq!(std::fs::read_to_string(context.home().join(".bashrc")).unwrap(), "mine\n");
    assert!(!context.home().join(".another").exists());
    let login = std::fs::read_to_string(context.home().join(".fake-agent/login.json")).unwrap();
    assert_eq!(login, "{\"account\": {\"token\": \"new\"}}\n");

    let told = notes.told();
    let left = |kind: &str| told.lines().filter(|line| line.starts_with(kind)).collect::<Vec<_>>();
    assert_eq!(left("unseen "), [""; 0], "the client sees what is its user's");
    assert_eq!(left("stayed "), [""; 0], "the next session sees what the last one did to it");
    let sessions = left("session ");
    assert!(sessions.contains(&"session discuss-milestone") && !sessions.contains(&"session of-mine"), "{sessions:?}");
}

#[test]
fn a_link_instead_of_a_client_file_brings_nothing_in_or_out() {
    let context = project(false);
    if !has_fence(&context) {
        return;
    }
    let write = |path: &str, text: &str| {
        let path = context.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let (own, other) = (r#"{"account": {"token": "own"}}"#, r#"{"account": {"token": "of another"}}"#);
    write(".fake-agent/login.json", own);
    write("victim/login.json", other);
    write("victim/deep/kept", "kept\n");
    // Logins are checked every second.
    let links = r#"if [ $GSD_UNIT_KIND = plan-milestone ]; then rm -rf "$FAKE_AGENT_HOME"; ln -s "$OUT/victim" "$FAKE_AGENT_HOME"; sleep 1.5; fi
        if [ $GSD_UNIT_KIND = execute-task ]; then ln -sf "$OUT/victim/login.json" "$FAKE_AGENT_HOME/login.json"; sleep 1.5; fi"#;
    let report = run(&context, links);
    assert_eq!(report["stop"]["cause"], "complete", "{report:#}");
    let read = |path: &str| std::fs::read_to_string(context.home().join(path)).unwrap();
    assert_eq!((read(".fake-agent/login.json").as_str(), read("victim/login.json").as_str()), (own, other));
    assert_eq!(read("victim/deep/kept"), "kept\n");
}

#[test]
fn a_client_whose_folders_are_unknown_runs_only_without_a_fence() {
    let context = project(false);
    if !has_fence(&context) {
        return;
    }
    for runner in ["cursor", "antigravity", "augment", "acp"] {
        let brief = context.home().join("brief.md").display().to_string();
        let words = ["auto", "run", "--brief", &brief, "--runner", runner, "--runner-program", "true"];
        let said = context.gsd_with(words, &[("GSD_EXIT_CONTRACT", "v2")], "").failure(64);
        assert!(said.contains("which folders of yours it writes to is not known"), "{said}");
        assert!(said.contains("--no-fence"), "{said}");
        assert_eq!(git(&context, &["worktree", "list"]).lines().count(), 1);
    }
}

/// A client of another major version than the tested one: it prints its version, and reports its arguments and its
/// working directory.
const SECOND: &str = r#"#!/bin/bash
if [ "$1" = --version ]; then echo v2.0.20; exit; fi
{ echo "<$*>"; echo "told $PWD, in $(pwd -P)"; env | grep '^OLDPWD='; } > /dev/tcp/127.0.0.1/$NOTES
exit 1
"#;

#[test]
fn a_client_of_another_major_version_is_called_in_its_own_way_and_its_user_is_warned() {
    let context = project(false);
    if !has_fence(&context) {
        return;
    }
    let program = context.home().join("agent");
    std::fs::write(&program, SECOND).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let (brief, program) = (context.home().join("brief.md").display().to_string(), program.display().to_string());
    let words = ["auto", "run", "--brief", &brief, "--runner", "opencode", "--runner-program", &program];
    let notes = Notes::new();
    let ran = context.gsd_with(words, &[("PWD", "/"), ("OLDPWD", "/usr"), ("NOTES", &notes.port())], "");
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.stderr.contains("`v2.0.20`; gsd-tools was tried with 1."), "{}", ran.stderr);
    let called = notes.told();
    let worktree = context.project().canonicalize().unwrap().join(".gsd/worktrees/M001");
    let place = format!("told {0}, in {0}\n", worktree.display());
    assert!(called.contains("<run --standalone --format json --auto>\n") && called.contains(&place), "{called}");
    assert!(!called.contains("OLDPWD=") && !called.contains("--dir"), "{called}");
    let status = context.gsd(["auto", "status", "--json"]).json();
    assert!(status["session"]["client_warning"].as_str().unwrap().contains("gsd-tools auto probe"), "{status:#}");
}
