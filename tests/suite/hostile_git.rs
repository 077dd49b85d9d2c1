//! A clone is not the user, from git's point of view: which repository a call works on, what git starts there, and how
//! far a call of an agent reaches.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kit::{Ran, TestContext, outside};
use crate::waves;

const AGENT: &[(&str, &str)] = &[("CLAUDECODE", "1")];

fn git(context: &TestContext, folder: &str, words: &[&str]) -> String {
    waves::git(context, folder, words)
}

fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A program of a clone, and the file that shows that it ran.
fn program(context: &TestContext, path: &Path) -> PathBuf {
    let pwned = context.home().join("pwned");
    script(path, &format!("touch '{}'\ncat", pwned.display()));
    pwned
}

/// A path with a `git` before all others, which runs `text` and then the real git.
fn path_with_git(context: &TestContext, text: &str) -> String {
    let path = std::env::var("PATH").unwrap();
    let is_git = |folder: &PathBuf| folder.join("git").is_file();
    let real = std::env::split_paths(&path).find(is_git).expect("git is needed").join("git");
    script(&context.home().join("bin/git"), &format!("{text}\nexec '{}' \"$@\"", real.display()));
    format!("{}:{path}", context.home().join("bin").display())
}

#[test]
fn files_of_a_clone_that_look_like_a_repository_are_not_used_as_one() {
    let context = waves::project();
    for folder in ["objects", "refs", "hooks", ".planning"] {
        std::fs::create_dir_all(context.project().join("evil").join(folder)).unwrap();
    }
    let all = walkdir::WalkDir::new(context.project().join(".planning")).into_iter().flatten();
    for file in all.filter(|entry| entry.file_type().is_file()) {
        let to = context.project().join("evil").join(file.path().strip_prefix(context.project()).unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(file.path(), to).unwrap();
    }
    let hook = context.project().join("evil/hooks/pre-commit");
    let pwned = program(&context, &hook);
    for name in ["post-commit", "reference-transaction", "post-index-change", "prepare-commit-msg", "post-checkout"] {
        std::fs::copy(&hook, hook.with_file_name(name)).unwrap();
    }
    context.write("evil/HEAD", "ref: refs/heads/main\n");
    context.write("evil/.gitattributes", "* filter=x\n");
    let filter = format!("[filter \"x\"]\n\tclean = {0}\n\tsmudge = {0}\n", hook.display());
    context.write("evil/config", &format!("[core]\n\tbare = false\n\tworktree = .\n{filter}"));
    for file in ["objects", "refs"] {
        context.write(&format!("evil/{file}/.keep"), "");
    }
    git(&context, "", &["add", "."]);
    git(&context, "", &["commit", "-qm", "chore: a folder"]);
    // Git itself finds it: this is what we must prevent.
    assert!(git(&context, "evil", &["rev-parse", "--git-dir"]).ends_with('.'));
    // A git before 2.38 does not know the option that we pass.
    let older = "for word; do shift; test \"$word\" = safe.bareRepository=explicit && word=core.pager=; set -- \"$@\" \
                 \"$word\"; done";
    let path = path_with_git(&context, older);
    for folder in ["evil", "evil/.planning/phases"] {
        for call in [
            &["commit", "docs: x", "--no-verify"][..],
            &["commit", "docs: x", "--dry-run"],
            &["plan", "record", "1"],
            &["plan", "close", "01-01"],
            &["worktree", "create-wave", "--phase", "1", "--plans", "01-01"],
            &["worktree", "reap-orphans"],
            &["commit-docs-guard", "enable"],
            &["smart-entry", "--json"],
            &["init", "execute-phase", "1"],
            &["init", "progress"],
            &["refactor-check", "1"],
            &["phase", "remove", "2", "--force"],
            &["state", "json"],
        ] {
            let words: Vec<&str> = ["--cwd", folder].iter().chain(call).copied().collect();
            let ran = context.gsd_with(words, &[("GSD_RUNTIME", "codex"), ("PATH", &path)], "");
            assert!(!pwned.exists(), "{folder}: {call:?}");
            if call[0] == "commit" {
                let told = ran.failure(1);
                assert!(
                    told.contains("look like a bare git repository") && told.contains("git init"),
                    "{call:?}: {told}"
                );
            }
        }
    }
    assert_eq!(git(&context, "", &["log", "--format=%s"]).lines().count(), 2);
}

#[test]
fn a_bare_repository_of_the_users_keeps_its_worktrees() {
    for (bare, tree) in [("repo.git", "main"), ("repo.git", "repo.git/main"), ("all/.bare", "all/main")] {
        let context = TestContext::new();
        git(&context, "", &["init", "-q", "--bare", "-b", "start", bare]);
        let empty = git(&context, bare, &["hash-object", "-t", "tree", "-w", "/dev/null"]);
        let commit = git(&context, bare, &["commit-tree", "-m", "start", &empty]);
        git(&context, bare, &["update-ref", "refs/heads/start", &commit]);
        if bare.starts_with("all/") {
            context.write("all/.git", "gitdir: ./.bare\n");
        }
        let place = context.project().join(tree);
        git(&context, bare, &["worktree", "add", "-q", "-b", "main", place.to_str().unwrap(), "start"]);
        context.write(&format!("{tree}/.planning/STATE.md"), "one\n");
        let report = context.gsd(["--cwd", tree, "commit", "docs: x", "--files", ".planning/STATE.md"]).json();
        assert_eq!(report["committed"], true, "{tree}: {report:#}");
        assert_eq!(git(&context, tree, &["log", "-1", "--format=%s"]), "docs: x");
    }
}

#[test]
fn a_git_folder_that_shares_the_commits_of_another_commits_nothing_there() {
    let context = TestContext::new();
    context.write("victim/a.txt", "a\n");
    git(&context, "", &["init", "-q", "-b", "main", "victim"]);
    git(&context, "victim", &["add", "."]);
    git(&context, "victim", &["commit", "-qm", "start"]);
    context.write("att/.planning/STATE.md", "x\n");
    context.write("att/.git/HEAD", "ref: refs/heads/main\n");
    context.write("att/.git/commondir", &format!("{}\n", context.project().join("victim/.git").display()));
    let refused = context.gsd(["--cwd", "att", "commit", "docs: x", "--files", ".planning/STATE.md"]).failure(1);
    assert!(refused.contains("repository of another folder") && refused.contains("commondir"), "{refused}");
    assert_eq!(git(&context, "victim", &["log", "--format=%s"]), "start");
}

/// A project that contains a repository as a submodule, whose own settings would start a filter.
#[test]
fn git_queries_start_no_filter_of_a_submodule() {
    let context = TestContext::new();
    context.write(".planning/STATE.md", "# Project State\n");
    git(&context, "", &["init", "-q", "-b", "main"]);
    git(&context, "", &["init", "-q", "-b", "main", "lib"]);
    context.write("lib/.gitattributes", "* filter=x\n");
    context.write("lib/a.txt", "a\n");
    git(&context, "lib", &["add", "."]);
    git(&context, "lib", &["commit", "-qm", "start"]);
    // The settings of a clone may ask for it too.
    context.write(".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = ./lib\n\tignore = none\n");
    git(&context, "", &["-c", "advice.addEmbeddedRepo=false", "add", "."]);
    git(&context, "", &["commit", "-qm", "start"]);
    let filter = context.home().join("filter");
    let pwned = program(&context, &filter);
    git(&context, "lib", &["config", "filter.x.clean", filter.to_str().unwrap()]);
    let look = || {
        // The file is newer than the index, so git has to read it.
        context.write("lib/a.txt", "b\n");
        let _ = context.gsd(["smart-entry", "--json"]);
        let _ = context.gsd(["init", "new-project"]);
        let _ = context.gsd(["init", "progress"]);
    };
    look();
    assert!(!pwned.exists());
    git(&context, "", &["status", "--porcelain"]);
    assert!(pwned.exists(), "the filter would not have run anyway");
}

#[test]
fn an_older_git_starts_no_filter_of_the_repository_either() {
    let context = TestContext::new();
    context.write(".planning/STATE.md", "# Project State\n");
    context.write(".gitattributes", "* filter=x\n");
    git(&context, "", &["init", "-q", "-b", "main"]);
    git(&context, "", &["add", "."]);
    git(&context, "", &["commit", "-qm", "start"]);
    let filter = context.home().join("filter");
    let pwned = program(&context, &filter);
    git(&context, "", &["config", "filter.x.clean", filter.to_str().unwrap()]);
    // 2.25 does not know the option, and 2.30 does not know the variables.
    let without_variables = "unset GIT_CONFIG_COUNT";
    let without_option = "case \" $* \" in *' --show-scope '*) echo unknown option >&2; exit 129;; esac";
    for (old, has_git) in [(without_variables, true), (without_option, false)] {
        let path = path_with_git(&context, old);
        context.write(".planning/STATE.md", "# Another state\n");
        let entry = context.gsd_with(["smart-entry", "--json"], &[("PATH", &path)], "").json();
        assert!(!pwned.exists(), "{old}");
        let signals = &entry["signals"];
        assert_eq!((&signals["has_git"], &signals["git_dirty"]), (&has_git.into(), &has_git.into()), "{entry:#}");
    }
    git(&context, "", &["config", "filter.a=b.clean", filter.to_str().unwrap()]);
    context.write(".gitattributes", "* filter=a=b\n");
    let _ = context.gsd(["smart-entry", "--json"]);
    assert!(!pwned.exists(), "a name with `=`");
}

#[test]
fn a_moved_worktree_is_reported_with_how_to_repair_it() {
    let context = TestContext::new();
    context.write("m/a.txt", "a\n");
    git(&context, "", &["init", "-q", "-b", "main", "m"]);
    git(&context, "m", &["add", "."]);
    git(&context, "m", &["commit", "-qm", "start"]);
    context.write("m/.planning/STATE.md", "# Project State\n\n## Current Position\n\nStatus: Planning\n");
    for name in ["modules", "worktrees", "w"] {
        let place = context.project().join(name);
        git(&context, "m", &["worktree", "add", "-q", "-b", name, place.to_str().unwrap()]);
        context.gsd(["--cwd", name, "state", "get", "Status"]).success();
        context.gsd(["--cwd", name, "worktree", "reap-orphans"]).success();
    }
    std::fs::rename(context.project().join("w"), context.project().join("moved")).unwrap();
    let repair = format!("git -C {} worktree repair", context.project().join("moved").display());
    for call in [&["state", "get", "Status"][..], &["state", "rebuild"], &["commit", "docs: x", "--files", "a.txt"]] {
        let words: Vec<&str> = ["--cwd", "moved"].iter().chain(call).copied().collect();
        let refused = context.gsd_with(words, &[], "").failure(1);
        assert!(refused.contains(&repair) && !refused.contains("git init"), "{call:?}: {refused}");
    }
    assert!(context.command("sh").args(["-c", &repair]).status().unwrap().success());
    context.gsd(["--cwd", "moved", "state", "get", "Status"]).success();
}

#[test]
fn a_separate_git_folder_is_accepted_once_its_settings_name_the_worktree() {
    let context = TestContext::new();
    std::fs::create_dir(context.project().join("apart")).unwrap();
    git(&context, "", &["init", "-q", "-b", "main", "--separate-git-dir=apart/.git", "sep"]);
    context.write("sep/.planning/STATE.md", "x\n");
    let commit = || context.gsd(["--cwd", "sep", "commit", "docs: x", "--files", ".planning/STATE.md"]);
    let refused = commit().failure(1);
    let place = context.project().join("sep");
    let cure = format!("git -C {0} config core.worktree {0}", place.display());
    assert!(refused.contains(&cure) && !refused.contains("remove"), "{refused}");
    assert!(context.command("sh").args(["-c", &cure]).status().unwrap().success());
    assert_eq!(commit().json()["committed"], true);
}

/// The reason why no worktree was created.
fn refused(ran: &Ran) -> String {
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    report["reason"].as_str().map_or_else(|| format!("{} {}", ran.code, ran.stderr), str::to_owned)
}

#[test]
fn an_agent_makes_worktrees_only_in_its_project() {
    let context = waves::project();
    context.write("wave.json", "{\"worktrees\": []}\n");
    let outside = outside();
    let make = |path: &str, root: &str, branch: &str, agent: &[(&str, &str)]| {
        let call = ["worktree", "create", "--manifest", "wave.json", "--agent-id", branch, "--branch", branch];
        let call = call.into_iter().chain(["--base", "HEAD", "--path", path, "--root", root]);
        context.gsd_with(call, agent, "")
    };
    let far = outside.path().join("git");
    let far = far.to_str().unwrap();
    let told = refused(&make(far, "/", "agent-a", AGENT));
    assert!(told.starts_with("77 ") && told.contains("outside the project"), "{told}");
    symlink(outside.path(), context.project().join("lnk")).unwrap();
    for agent in [AGENT, &[]] {
        assert_eq!(refused(&make("lnk/git", ".", "agent-a", agent)), "path_outside_root");
        for place in [".git/hooks", ".git/x", ".GIT/x"] {
            assert_eq!(refused(&make(place, ".", "agent-a", agent)), "path_outside_root", "{place}");
        }
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(git(&context, "", &["branch", "--format=%(refname:short)"]), "main");
    make("trees/a", ".", "agent-a", AGENT).success();
    let temporary = context.temporary().join("b");
    make(temporary.to_str().unwrap(), "/", "agent-b", AGENT).success();
    make(far, "/", "agent-c", &[]).success();
    git(&context, "", &["worktree", "remove", far]);
}

#[test]
fn no_worktree_of_a_wave_is_made_where_a_link_leads_out() {
    let context = waves::project();
    let outside = context.home().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join(".gitignore"), "*\n").unwrap();
    let wave = || waves::on(&context, "codex", &["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"]);
    let nothing = || {
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(git(&context, "", &["branch", "--format=%(refname:short)"]), "main");
    };
    let folder = context.project().join(".planning/worktrees");
    symlink(&outside, &folder).unwrap();
    let told = wave().failure(1);
    assert!(told.contains("leads out"), "{told}");
    nothing();
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    symlink(outside.join("tree"), folder.join("01-02")).unwrap();
    assert!(wave().failure(1).contains("leads out"));
    nothing();
    std::fs::remove_file(folder.join("01-02")).unwrap();
    assert_eq!(wave().json()["side_by_side"].as_array().unwrap().len(), 2);
}

#[test]
fn an_agent_makes_a_wave_although_its_note_is_in_the_users_home() {
    let context = waves::project();
    let home = outside();
    let call = ["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"];
    let variables = [("GSD_RUNTIME", "codex"), ("CODEX_THREAD_ID", "x"), ("HOME", home.path().to_str().unwrap())];
    let wave = context.gsd_with(call, &variables, "").json();
    assert_eq!(wave["side_by_side"].as_array().unwrap().len(), 2, "{wave:#}");
}

#[test]
fn an_agent_imports_and_lists_only_files_of_its_project() {
    let context = TestContext::new();
    context.write(".planning/STATE.md", "# Project State\n");
    context.write("old/.gsd/PROJECT.md", "# Old\n");
    context.write("skills/own/SKILL.md", "---\nname: own\ndescription: ours\n---\n");
    let outside = outside();
    for (path, text) in [(".gsd/PROJECT.md", "# Private\n"), ("s/SKILL.md", "---\nname: s\ndescription: SECRET\n---\n")]
    {
        let path = outside.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let place = outside.path().to_str().unwrap();
    for call in [&["from-gsd2", "--path", place][..], &["skill-manifest", "--skills-dir", place]] {
        let refused = context.gsd_with(call, AGENT, "").failure(77);
        assert!(refused.contains("outside the project") && !refused.contains("SECRET"), "{call:?}: {refused}");
    }
    assert!(!outside.path().join(".planning").exists());
    // Links of a clone do not lead out of the project.
    symlink(outside.path(), context.project().join("lnk")).unwrap();
    symlink(outside.path().join("s"), context.project().join("skills/lnk")).unwrap();
    assert!(context.gsd(["from-gsd2", "--path", "lnk"]).failure(1).contains("leads out"));
    assert!(context.gsd(["skill-manifest", "--skills-dir", "lnk"]).failure(1).contains("leads out"));
    let listed = context.gsd_with(["skill-manifest", "--skills-dir", "skills"], AGENT, "");
    assert!(listed.stderr.contains("leads out"), "{}", listed.stderr);
    let listed = listed.success();
    assert!(listed.contains("ours") && !listed.contains("SECRET"), "{listed}");

    context.gsd_with(["from-gsd2", "--path", "old"], AGENT, "").success();
    assert!(context.project().join("old/.planning").exists());
    assert!(context.gsd(["skill-manifest", "--skills-dir", place]).success().contains("SECRET"));
    context.gsd(["from-gsd2", "--path", place]).success();
    assert!(outside.path().join(".planning").exists());
}

#[test]
fn an_agent_cannot_skip_hooks_of_the_repository() {
    let context = waves::project();
    context.write(".planning/STATE.md", "# Project State\n");
    let commit = |agent| context.gsd_with(["commit", "docs: x", "--no-verify"], agent, "");
    let told = commit(AGENT).failure(77);
    assert!(told.contains("--no-verify") && told.contains("CLAUDECODE"), "{told}");
    assert_eq!(commit(&[]).json()["committed"], true);
}

#[test]
fn a_path_means_only_the_file_of_that_name() {
    let context = waves::project();
    for path in [":/own.txt", "[k]eep.txt", "key/a.txt"] {
        context.write(path, "new\n");
    }
    context.write("keep.txt", "changed\n");
    context.write("secret.txt", "new\n");
    let names = || git(&context, "", &["show", "--name-only", "--format=", "HEAD"]);
    let commit_with = |words: &[&str], variables: &[(&str, &str)]| {
        let words: Vec<&str> = ["commit", "docs: x"].iter().chain(words).copied().collect();
        context.gsd_with(words, variables, "").json()
    };
    let commit = |words: &[&str]| commit_with(words, &[]);
    assert_eq!(commit(&["--files", ":/"])["committed"], true);
    assert_eq!(names(), ":/own.txt");
    assert_eq!(commit(&["--files", "[k]eep.txt"])["committed"], true);
    assert_eq!(names(), "[k]eep.txt");
    let absolute = context.project().join("key/a.txt");
    let literal = [("GIT_LITERAL_PATHSPECS", "1")];
    assert_eq!(commit_with(&["--files", absolute.to_str().unwrap()], &literal)["committed"], true);
    assert_eq!(names(), "key/a.txt");
    assert_eq!(commit(&["--files-removed", "*.txt"])["reason"], "nothing_to_commit");
    assert_eq!(git(&context, "", &["status", "--porcelain"]), "M keep.txt\n?? secret.txt");
    context.write(".gitignore", "ignored.txt\n");
    context.write("ignored.txt", "x\n");
    let ran = context.gsd(["commit", "docs: x", "--files", "ignored.txt"]);
    assert!(!ran.stdout.contains("(literal)") && ran.stdout.contains("ignored.txt"), "{}", ran.stdout);
}

/// A project with this many phases, the first half of which is verified.
fn phases(count: usize) -> TestContext {
    let context = TestContext::new();
    let (mut list, mut details) = (String::new(), String::new());
    for number in 1..=count {
        let done = number <= count.div_ceil(2);
        let mark = if done { "x" } else { " " };
        list.extend(["- [", mark, &format!("] **Phase {number}: Part {number}** - part\n")]);
        details.extend([format!("### Phase {number}: Part {number}\n**Goal**: works\n**Plans**: 1 plans\n\n")]);
        let folder = format!(".planning/phases/{number:02}-part-{number}");
        context.write(&format!("{folder}/{number:02}-01-PLAN.md"), "---\nwave: 1\n---\n");
        context.write(&format!("{folder}/{number:02}-01-SUMMARY.md"), "---\nstatus: complete\n---\n");
        context.write(&format!("{folder}/{number:02}-VERIFICATION.md"), "---\nstatus: passed\n---\n");
    }
    context.write(".planning/ROADMAP.md", &format!("# Roadmap\n\n## Phases\n\n{list}\n## Phase Details\n\n{details}"));
    context.write(".planning/STATE.md", "# Project State\n\n## Current Position\n\nPhase: 1 of 3\nStatus: Planning\n");
    git(&context, "", &["init", "-q", "-b", "main"]);
    git(&context, "", &["add", "."]);
    git(&context, "", &["commit", "-qm", "start"]);
    context
}

#[test]
fn removing_a_phase_runs_git_equally_often_for_any_number_of_phases() {
    let runs = |count: usize| {
        let context = phases(count);
        let log = context.home().join("log");
        let path = path_with_git(&context, &format!("echo \"$@\" >> '{}'", log.display()));
        context.gsd_with(["phase", "remove", "2", "--force"], &[("PATH", &path)], "").success();
        assert!(context.project().join(".planning/phases/02-part-3").is_dir());
        std::fs::read_to_string(log).unwrap()
    };
    let (few, many) = (runs(3), runs(30));
    assert_eq!(few.lines().count(), many.lines().count(), "{few}\n{many}");
}

#[test]
fn a_hook_that_leaves_a_process_running_does_not_delay_a_commit() {
    let context = waves::project();
    script(&context.project().join(".git/hooks/post-commit"), "sleep 300 &\necho done");
    context.write(".planning/STATE.md", "# Project State\n");
    let begin = Instant::now();
    assert_eq!(context.gsd(["commit", "docs: x"]).json()["committed"], true);
    assert!(begin.elapsed() < Duration::from_secs(120), "{:?}", begin.elapsed());
}
