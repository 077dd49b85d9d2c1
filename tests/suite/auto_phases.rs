//! A project in phases, from its first CONTEXT to closed phases on the branch it lands on, with a scripted agent
//! instead of a client; and what comes next in each state.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::auto::compile;
use crate::kit::{Ran, TestContext, binary};
use crate::notes::Notes;

pub(crate) const ROADMAP: &str = "# Roadmap\n\n## v1.0 Shelf\n\n- [ ] **Phase 1: Base** - the first file\n- [ ] **Phase 2: Top** - the second file\n\n\
                       ### Phase 1: Base\n**Goal**: one file\n\n### Phase 2: Top\n**Goal**: another file\n";
pub(crate) const STATE: &str = "---\nmilestone: v1.0\n---\n# State\n\n## Current Position\n\nPhase: 1 of 2 (Base)\n";
pub(crate) const BASE: &str = ".planning/phases/01-base";
pub(crate) const PASSED: &str = "---\nphase: 01\nstatus: passed\nscore: 1/1\n---\n\n# Verified\n";

fn git(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository with these documents, and with the workflows installed for the user.
pub(crate) fn project(files: &[(&str, &str)]) -> TestContext {
    let context = TestContext::on_disk();
    context.write("README.md", "# P\n");
    for (path, text) in files {
        context.write(path, text);
    }
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    context
}

pub(crate) fn whole_project() -> TestContext {
    let context = project(&[(".planning/ROADMAP.md", ROADMAP), (".planning/STATE.md", STATE)]);
    context.gsd(["install", "--global", "--claude"]).success();
    context
}

/// Makes a call with an agent that behaves like this actor.
fn auto(context: &TestContext, words: &[&str], actor: &str) -> Ran {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let flags = ["--runner", "fake", "--runner-program", &agent].map(str::to_owned);
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).chain(flags).collect();
    let program = binary().to_string_lossy().into_owned();
    context.gsd_with(words, &[("FAKE_ACTOR", actor), ("FAKE_GSD_TOOLS", &program)], "")
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.stdout, ran.stderr))
}

/// All files on the branch with their content, except those that record when something was done.
fn landed_files(context: &TestContext) -> String {
    let all = git(context, &["ls-tree", "-r", "main"]);
    let is_timeless = |line: &&str| !line.ends_with("/STATE.md") && !line.ends_with("/state.json");
    all.lines().filter(is_timeless).collect::<Vec<_>>().join("\n")
}

pub(crate) fn is_closed(context: &TestContext) {
    assert_eq!(git(context, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(context, &["branch", "--list"]), "* main");
    let roadmap = git(context, &["show", "main:.planning/ROADMAP.md"]);
    assert!(roadmap.contains("[x] **Phase 1") && roadmap.contains("[x] **Phase 2"), "{roadmap}");
    let files = landed_files(context);
    for phase in ["01", "02"] {
        for kind in ["CONTEXT", "01-PLAN", "01-SUMMARY", "VERIFICATION"] {
            assert!(files.contains(&format!("/{phase}-{kind}.md")), "{phase} {kind}: {files}");
        }
    }
}

#[test]
fn two_phases_are_closed_on_the_branch_and_nothing_else_is_left() {
    let context = whole_project();
    context.write("mine.txt", "not committed\n");
    let ran = auto(&context, &["auto", "run"], "ideal");
    let report = report(&ran);
    assert_eq!((ran.code, &report["stop"]["cause"]), (0, &Value::from("complete")), "{report:#}\n{}", ran.stderr);
    assert_eq!(report["sessions"], 6, "discussed, planned and executed, twice");
    assert_eq!(git(&context, &["rev-parse", "main"]), report["landed"].as_str().unwrap());
    assert_eq!(git(&context, &["rev-list", "--count", "main"]), "2", "one commit");
    assert_eq!(git(&context, &["status", "--porcelain"]), "?? mine.txt");
    is_closed(&context);
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!((&status["layout"], &status["phase"]), (&"planning".into(), &"complete".into()), "{status:#}");
    assert_eq!(status["progress"]["slices"], serde_json::json!([2, 2]));
}

#[test]
fn a_discussion_is_attempted_as_often_as_the_project_configures() {
    let context = whole_project();
    context.write(".planning/config.json", "{\"workflow\": {\"max_discuss_passes\": 1}}\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=settings"]);
    let ran = auto(&context, &["auto", "run"], "lazy");
    let report = report(&ran);
    assert_eq!((ran.code, &report["sessions"]), (12, &Value::from(1)), "{report:#}");
    assert!(report["stop"]["text"].as_str().unwrap().starts_with("discuss-phase 1 was tried 1 time: "), "{report:#}");
}

#[test]
fn a_phase_that_adds_a_key_does_not_count_until_the_key_is_gone() {
    let context = whole_project();
    let ran = auto(&context, &["auto", "run"], "leaker:1");
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &Value::from("complete")), "{}", ran.stderr);
    let refused = "does not count: src/settings.txt:2: this line holds what looks like a key (ghp_)";
    assert_eq!(ran.stderr.matches(refused).count(), 2, "once for each phase: {}", ran.stderr);
    assert_eq!(git(&context, &["show", "main:src/settings.txt"]), "# Settings");
    is_closed(&context);
}

#[test]
fn a_run_that_ends_between_any_two_units_lands_the_same() {
    let once = whole_project();
    assert_eq!(auto(&once, &["auto", "run"], "ideal").code, 0);
    let context = whole_project();
    for unit in 1..=6 {
        let ran = auto(&context, &["auto", "next"], "ideal");
        assert_eq!((ran.code, &report(&ran)["sessions"]), (0, &Value::from(unit)), "{}", ran.stderr);
    }
    let last = auto(&context, &["auto", "run"], "ideal");
    assert_eq!((last.code, &report(&last)["sessions"]), (0, &Value::from(6)), "{}", last.stderr);
    is_closed(&context);
    assert_eq!(landed_files(&context), landed_files(&once));
}

#[test]
fn a_run_that_is_killed_at_any_document_lands_the_same_once_it_continues() {
    let once = whole_project();
    assert_eq!(auto(&once, &["auto", "run"], "ideal").code, 0);
    for document in ["01-shelf/01-CONTEXT.md", "01-shelf/01-VERIFICATION.md", "02-shelf/02-01-PLAN.md"] {
        let context = whole_project();
        let agent = compile::fake_agent();
        let mut run = context.command(binary());
        run.args(["auto", "run", "--runner", "fake", "--runner-program"]).arg(agent).env("FAKE_ACTOR", "ideal");
        run.env("FAKE_GSD_TOOLS", binary());
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let place = context.project().join(".planning/worktrees/v1.0/.planning/phases").join(document);
        let until = Instant::now() + Duration::from_secs(60);
        while !place.exists() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        assert!(place.exists(), "{document} was never there");
        assert_eq!(git(&context, &["rev-list", "--count", "main"]), "1", "killed before anything landed");
        let rest = auto(&context, &["auto", "run"], "ideal");
        assert_eq!(rest.code, 0, "{document}: {}\n{}", rest.stdout, rest.stderr);
        is_closed(&context);
        assert_eq!(landed_files(&context), landed_files(&once), "{document}");
    }
}

/// Tries one thing after the other, and reports which succeeded.
const TRIES: &str = r#"
try() { if bash -c "$2" 2>/dev/null; then echo "$1 yes" > /dev/tcp/127.0.0.1/$NOTES; else echo "$1 no" > /dev/tcp/127.0.0.1/$NOTES; fi; }
export user="git --git-dir=$ROOT/.git" common="$ROOT/.git" own="$ROOT/.git/worktrees/v1.0"
try commit 'git commit --quiet --allow-empty --message=x'
try repositories-of-tests 'd=$(mktemp -d) && git init -q $d && cd $d && echo x > f && git add f && git commit -qm x && git clone -q . second && git -C second commit -q --allow-empty -m y && git -C second push -q origin HEAD:other && [ "$(git rev-list --count other)" = 2 ]'
try own-branch 'git branch -f tried && git tag -f tried && git update-ref refs/heads/main HEAD && git config core.fsmonitor false'
try main '$user commit-tree -m x HEAD^{tree} | xargs $user update-ref refs/heads/main'
try main-by-hand 'git rev-parse HEAD > $common/refs/heads/main'
try branch '$user branch tried'
try work '$user update-ref refs/heads/milestone/v1.0/work main'
try tag '$user tag tried'
try setting '$user config core.fsmonitor true'
try hook 'echo exit > $common/hooks/pre-commit'
try packed 'echo x >> $common/packed-refs'
try object 'echo x > $common/objects/tried'
try loose 'rm -f $(find $common/objects -type f | head -1)'
try commondir 'echo /nowhere > $own/commondir'
try gitdir 'echo /nowhere > $own/gitdir'
try head 'echo x > $own/HEAD'
try worktree-config 'echo "[core]" > $own/config.worktree'
try index 'rm -f $own/index'
try root 'echo x >> $ROOT/README.md'
"#;

/// The content of a person's repository, except objects that were added and what belongs to the run.
fn repository(context: &TestContext) -> Vec<(String, Vec<u8>)> {
    let root = context.project().join(".git");
    let files = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().map(Result::unwrap);
    let name = |path: &std::path::Path| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
    let files = files.filter(|entry| entry.file_type().is_file()).map(|entry| (name(entry.path()), entry.into_path()));
    let is_kept = |(name, _): &(String, _)| {
        !["worktrees/", "objects/", "refs/gsd/", "refs/notes/", "logs/"].iter().any(|start| name.starts_with(start))
            && !name.contains("heads/milestone/")
    };
    files.filter(is_kept).map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

/// True if the kernel has a fence; prints a message if not.
fn has_fence(context: &TestContext) -> bool {
    let probe = context.command(binary()).args(["__fence", "--", "true"]).output().unwrap();
    if !probe.status.success() {
        crate::kit::not_run("auto_phases: the fence", String::from_utf8_lossy(&probe.stderr).trim());
    }
    probe.status.success()
}

#[test]
fn a_session_that_may_commit_reaches_only_the_branch_of_the_run() {
    let context = whole_project();
    if !has_fence(&context) {
        return;
    }
    let program = context.home().join("agent");
    let agent = compile::fake_agent();
    std::fs::write(&program, format!("#!/bin/bash\nexec 3>&1 1>&2\n{TRIES}\nexec {} \"$@\" 1>&3\n", agent.display()))
        .unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    let root = context.project().display().to_string();
    let words = |max: &'static str| {
        ["auto", "run", "--max-units", max, "--runner", "fake", "--runner-program", &program].map(str::to_owned)
    };
    let before = repository(&context);
    let notes = Notes::new();
    let port = notes.port();
    let variables = [("FAKE_ACTOR", "ideal"), ("ROOT", &*root), ("NOTES", &*port)];
    let ran = context.gsd_with(words("5"), &variables, "");
    assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &Value::from("units-done")), "{}", ran.stderr);
    assert_eq!(repository(&context), before);
    git(&context, &["fsck", "--strict", "--no-dangling"]);
    assert!(ran.stderr.contains("not taken over from the session: `refs/tags/tried`"), "{}", ran.stderr);
    let ran = context.gsd_with(words("50"), &variables, "");
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let tries = notes.told();
    let could: Vec<&str> = tries.lines().filter(|line| line.ends_with("yes")).collect();
    assert_eq!((could.len(), tries.lines().count()), (18, 6 * 19), "{tries}");
    assert!(
        could.iter().all(|line| ["commit yes", "repositories-of-tests yes", "own-branch yes"].contains(line)),
        "{tries}"
    );
    assert_eq!(git(&context, &["tag", "--list"]), "");
    is_closed(&context);
}

/// What a session plants so that another user's git could find it, with programs in an ignored folder that stays.
const PLANTED: &str = r#"
at=$PWD/kept; mkdir -p $at/hooks; evil=$at/evil.sh; q=$(git rev-parse --absolute-git-dir)
printf '#!/bin/sh\necho "$0 $*" >> "%s"\ncat\n' "$PROOF" > $evil; chmod +x $evil
for s in core.fsmonitor core.editor core.pager diff.external filter.x.clean filter.x.smudge; do git config $s $evil; done
git config core.hooksPath $at/hooks
for h in post-index-change pre-commit post-checkout reference-transaction; do cp $evil $at/hooks/$h; done
echo '* filter=x' > $q/info/attributes; cp -r $q $at/other; echo $at/other > $q/commondir
for f in commondir gitdir HEAD config.worktree; do echo $at/other > $ROOT/.git/worktrees/v1.0/$f; done
rm -f .git; echo "gitdir: $at/other" > .git
true
"#;

#[test]
fn git_in_the_worktree_of_a_run_that_stopped_runs_nothing_that_a_session_planted() {
    let context = whole_project();
    if !has_fence(&context) {
        return;
    }
    context.write(".gitignore", "kept/\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=ignored"]);
    let (proof, root) = (context.home().join("proof"), context.project().display().to_string());
    let before = repository(&context);
    let variables = [("PROOF", proof.to_str().unwrap()), ("ROOT", &*root)];
    let ran = scripted_with(
        &context,
        "execute-phase 1",
        PLANTED,
        &serde_json::json!({ "exit": 1 }),
        &variables,
        &["--max-units", "3"],
    );
    let stop = &report(&ran)["stop"];
    assert_eq!(stop["cause"], "units-done", "{stop:#}\n{}", ran.stderr);
    let worktree = context.project().join(".planning/worktrees/v1.0").display().to_string();
    for words in
        [&["status", "--short"][..], &["diff"], &["log", "-1"], &["add", "--all", "--dry-run"], &["stash", "list"]]
    {
        git(&context, &[&["-C", &worktree][..], words].concat());
    }
    assert_eq!(git(&context, &["-C", &worktree, "rev-parse", "--abbrev-ref", "HEAD"]), "milestone/v1.0/work");
    assert!(!proof.exists(), "{:?}", std::fs::read_to_string(&proof));
    assert!(context.project().join(".planning/worktrees/v1.0/kept/evil.sh").exists(), "what was planted is there");
    assert_eq!(repository(&context), before);
    let rest = auto(&context, &["auto", "run"], "ideal");
    assert_eq!(rest.code, 0, "{}", rest.stderr);
    assert!(!proof.exists());
    is_closed(&context);
}

#[test]
fn gaps_stop_the_run_and_the_printed_command_plans_them() {
    let context = whole_project();
    let ran = auto(&context, &["auto", "run"], "gaps");
    let report = report(&ran);
    assert_eq!((ran.code, &report["stop"]["cause"]), (10, &Value::from("gaps-found")), "{report:#}\n{}", ran.stderr);
    assert_eq!(report["stop"]["next"], "gsd-tools auto dispatch plan-phase 1");
    assert_eq!(git(&context, &["rev-list", "--count", "main"]), "1", "nothing lands");
    let prompt = context.gsd(["auto", "prompt", "plan-phase", "1"]).json();
    assert!(prompt["text"].as_str().unwrap().contains("Arguments: `1 --gaps --auto`"), "{prompt:#}");
}

#[test]
fn a_session_that_rewrites_commits_does_not_count() {
    let context = whole_project();
    let ran = auto(&context, &["auto", "next"], "rewriter");
    let report = report(&ran);
    assert_eq!(ran.code, 12, "{report:#}\n{}", ran.stderr);
    assert!(report["stop"].to_string().contains("has lost commits"), "{report:#}");
}

/// What a run does next in a project with these documents: the action, the unit or step, and the cause of a stop.
fn next(files: &[(&str, &str)]) -> [String; 3] {
    let context = project(files);
    let status = context.gsd(["auto", "status"]).json();
    let next = &status["next"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let unit = format!("{} {}", text(&next["unit_type"]), text(&next["unit_id"]));
    let what = if next["mechanical"].is_string() { text(&next["mechanical"]) } else { unit.trim().to_owned() };
    let found = [text(&next["action"]), what, text(&next["stop"]["cause"])];
    if found[0] == "stop" {
        context.gsd(["install", "--global", "--claude"]).success();
        let ran = auto(&context, &["auto", "next"], "ideal");
        assert_eq!(report(&ran)["stop"]["cause"], next["stop"]["cause"], "both say the same: {}", ran.stderr);
        assert_eq!(git(&context, &["branch", "--list"]), "* main", "nothing is begun");
    }
    found
}

#[test]
fn each_state_of_a_phase_has_its_next_step() {
    let (roadmap, state) = ((".planning/ROADMAP.md", ROADMAP), (".planning/STATE.md", STATE));
    let of = |name: &str| format!("{BASE}/01-{name}.md");
    let (context, plan, summary, verification) = (of("CONTEXT"), of("01-PLAN"), of("01-SUMMARY"), of("VERIFICATION"));
    let context = (context.as_str(), "# Context\n");
    let plan = (plan.as_str(), "---\nphase: 01\nplan: 01\nwave: 1\n---\n\n<objective>\nX\n</objective>\n");
    let summary = (summary.as_str(), "---\nphase: 01\nplan: 01\nstatus: complete\n---\n\n# Summary\n");
    let verified = |text: &'static str| (verification.as_str(), text);
    let skip = (".planning/config.json", "{\"workflow\": {\"skip_discuss\": true}}\n");
    let said = |[action, what, cause]: [String; 3]| [action, what, cause].join(" ").trim().to_owned();
    assert_eq!(said(next(&[roadmap])), "stop  blocked");
    let paused = (".planning/HANDOFF.json", "{\"next_action\": \"Mend the test\"}");
    assert_eq!(said(next(&[roadmap, state, paused])), "stop  paused");
    assert_eq!(said(next(&[roadmap, state, skip])), "mechanical write-context");
    assert_eq!(said(next(&[roadmap, state])), "dispatch discuss-phase 1");
    assert_eq!(said(next(&[roadmap, state, context])), "dispatch plan-phase 1");
    assert_eq!(said(next(&[roadmap, state, context, plan])), "dispatch execute-phase 1");
    assert_eq!(said(next(&[roadmap, state, context, plan, summary])), "dispatch execute-phase 1");
    let gaps = verified("---\nphase: 01\nstatus: gaps_found\nscore: 0/1\n---\n");
    assert_eq!(said(next(&[roadmap, state, context, plan, summary, gaps])), "stop  gaps-found");
    let human = verified("---\nphase: 01\nstatus: human_needed\nscore: 0/1\n---\n");
    assert_eq!(said(next(&[roadmap, state, context, plan, summary, human])), "stop  human-needed");
    let checked = verified(PASSED);
    assert_eq!(said(next(&[roadmap, state, context, plan, summary, checked])), "mechanical close-phase");
    let closed = ROADMAP.replace("- [ ]", "- [x]");
    assert_eq!(said(next(&[(".planning/ROADMAP.md", &closed), state])), "stop  complete");
}

#[test]
fn what_keeps_a_run_in_phases_from_starting_is_reported_with_a_fix() {
    let context = project(&[(".planning/STATE.md", STATE)]);
    assert!(
        auto(&context, &["auto", "run"], "ideal").failure(1).contains("--brief"),
        "without a roadmap there are no phases"
    );
    let context = project(&[(".planning/ROADMAP.md", ROADMAP), (".planning/STATE.md", STATE)]);
    assert!(auto(&context, &["auto", "run"], "ideal").failure(1).contains("gsd-tools install"));
    let context = whole_project();
    context.write(".planning/STATE.md", &STATE.replace("Base", "Bases"));
    assert!(auto(&context, &["auto", "run"], "ideal").failure(1).contains("not committed"));
    assert_eq!(context.gsd(["auto", "plan"]).json()["sessions"], 6);
    let rules = context.gsd(["auto", "rules", "--explain"]).json();
    assert_eq!(rules.as_array().unwrap().iter().filter(|row| row["matched"] == true).count(), 1, "{rules:#}");
}

#[test]
fn without_a_discussion_the_run_writes_the_context_itself() {
    let skip = "{\"workflow\": {\"skip_discuss\": true}}\n";
    let files = [(".planning/ROADMAP.md", ROADMAP), (".planning/STATE.md", STATE), (".planning/config.json", skip)];
    let context = project(&files);
    context.gsd(["install", "--global", "--claude"]).success();
    let ran = auto(&context, &["auto", "run"], "ideal");
    let report = report(&ran);
    assert_eq!((ran.code, &report["sessions"]), (0, &Value::from(4)), "{report:#}\n{}", ran.stderr);
    is_closed(&context);
}

/// Runs with sessions that do the work of their unit, and then what the first matching row says.
fn scripted(context: &TestContext, unit: &str, script: &str, end: &serde_json::Value) -> Ran {
    scripted_with(context, unit, script, end, &[], &[])
}

/// The same with more variables and words of the call.
fn scripted_with(
    context: &TestContext,
    unit: &str,
    script: &str,
    end: &serde_json::Value,
    variables: &[(&str, &str)],
    words: &[&str],
) -> Ran {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let place = context.home().join("script.json");
    let mut cheat = serde_json::json!({ "match": { "unit": unit, "attempt": 1 }, "steps": [{ "ideal": true }, { "sh": script }, { "tool": "Write" }] });
    cheat.as_object_mut().unwrap().extend(end.as_object().cloned().unwrap_or_default());
    let rows = serde_json::json!([cheat, { "steps": [{ "ideal": true }, { "tool": "Write" }] }]);
    std::fs::write(&place, rows.to_string()).unwrap();
    let (program, place) = (binary().to_string_lossy().into_owned(), place.to_string_lossy().into_owned());
    let call = ["auto", "run", "--runner", "fake", "--runner-program", &agent]
        .into_iter()
        .chain(words.iter().copied())
        .map(str::to_owned);
    let own = [("FAKE_SCRIPT", &*place), ("FAKE_GSD_TOOLS", &*program)];
    context.gsd_with(call.collect::<Vec<_>>(), &[&own, variables].concat(), "")
}

#[test]
fn what_a_refused_session_wrote_closes_no_phase() {
    let rows = [
        // Makes another phase look done.
        ("mkdir -p $P/02-top && cp $P/01-*/01-VERIFICATION.md $P/02-top/02-VERIFICATION.md", "may not change", "{}"),
        ("sed -i 's/- \\[ \\] \\*\\*Phase 2/- [x] **Phase 2/' .planning/ROADMAP.md", "another phase is ticked", "{}"),
        ("sed -i '/Phase 2/,$d' .planning/ROADMAP.md", "another phase is ticked, added or gone", "{}"),
        ("echo '{}' > .planning/config.json", ".planning/config.json", "{}"),
        ("echo '*' > $P/.gitignore; mkdir -p $P/02-top; echo x > $P/02-top/02-01-SUMMARY.md", "may not change", "{}"),
        // Exits with an error, removes commits, or makes branches.
        ("true", "exit code 1", "{\"exit\": 1}"),
        ("git commit -q --amend -m other --allow-empty && git reset -q --hard HEAD~2", "has lost commits", "{}"),
        ("git branch milestone/v1.0/other", "made the branch `milestone/v1.0/other`", "{}"),
    ];
    for (script, named, end) in rows {
        let context = whole_project();
        let script = format!("P=.planning/phases; {script}");
        let ran = scripted(&context, "execute-phase 1", &script, &serde_json::from_str(end).unwrap());
        let report = report(&ran);
        assert_eq!(
            (ran.code, &report["stop"]["cause"]),
            (0, &Value::from("complete")),
            "{script}: {report:#}\n{}",
            ran.stderr
        );
        let refused: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("does not count")).collect();
        assert!(refused.len() == 1 && refused[0].contains(named), "{script}: {refused:?}\n{}", ran.stderr);
        assert_eq!(
            ran.stderr.lines().filter(|line| line.starts_with("execute-phase 2")).count(),
            1,
            "{script}: {}",
            ran.stderr
        );
        is_closed(&context);
    }
}

#[test]
fn an_open_acceptance_test_stops_a_run_before_a_session_and_status_predicts_it() {
    let roadmap = ROADMAP.replace("- [ ] **Phase 1", "- [x] **Phase 1");
    let state = STATE.replace("1 of 2 (Base)", "2 of 2 (Top)");
    let plan = "---\nphase: 02-top\nplan: 01\nwave: 1\n---\n\n# Plan\n";
    let context = project(&[
        (".planning/ROADMAP.md", &roadmap),
        (".planning/STATE.md", &state),
        (&format!("{BASE}/01-01-PLAN.md"), "---\nwave: 1\n---\n"),
        (&format!("{BASE}/01-01-SUMMARY.md"), "---\nstatus: complete\n---\n"),
        (&format!("{BASE}/01-VERIFICATION.md"), PASSED),
        (&format!("{BASE}/01-UAT.md"), "---\nstatus: testing\n---\n"),
        (".planning/phases/02-top/02-CONTEXT.md", "# Top\n"),
        (".planning/phases/02-top/02-01-PLAN.md", plan),
    ]);
    context.gsd(["install", "--global", "--claude"]).success();
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!((&status["next"]["action"], &status["next"]["stop"]["cause"]), (&"stop".into(), &"human-needed".into()));
    let ran = auto(&context, &["auto", "run"], "ideal");
    let report = report(&ran);
    assert_eq!((ran.code, &report["sessions"]), (10, &0.into()), "{report:#}\n{}", ran.stderr);
    assert!(report["stop"]["text"].as_str().unwrap().contains("The acceptance test of phase 1"), "{report:#}");
}
